/* A run as seen by its host: other copies of the host, children that somebody else waits for, what it is asked and told meanwhile.
 *
 * This program's fork() and kill() stand before those of the C library.  What a child sees tests/test_upk_run.py looks at.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../runtime/upk_run.h"
#include "compiled.h"

#define NOWHERE "/nonexistent/bwrap"

static const char six_seconds[] = "policy p 1; root any; environment p { inherit PATH; }\n"
                                  "confinement { linux opt_in; budget wall 6, processes 16; }";
static const char replies[] = "printf 'I1\\n.' >&$UPK_RESULT_FD";

/* ---- this host */

static bool copies;    /* beside every process another one is started that keeps all descriptors */
static pid_t copy = 0; /* the last of these */
static int strays;     /* signals that were sent by a number that is no child's */

static pid_t clone_alone(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

pid_t fork(void) {
    const pid_t pid = clone_alone();
    if (pid <= 0 || !copies) return pid;
    copy = clone_alone();
    if (copy == 0) {
        for (int i = 0; i < 20; i++) (void)sleep(1);
        _exit(0);
    }
    return pid;
}

int kill(pid_t pid, int number) {
    siginfo_t info;
    if (waitid(P_PID, (id_t)(pid < 0 ? -pid : pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) strays++;
    return (int)syscall(SYS_kill, pid, number);
}

static void end_copy(void) {
    (void)syscall(SYS_kill, copy, SIGKILL);
    (void)waitpid(copy, NULL, 0);
    copies = false;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int answer_of(void *ctx) { return *(const int *)ctx; }

static void hear(void *ctx, const char *bytes, size_t len) {
    char *const heard = ctx;
    (void)snprintf(heard + strlen(heard), 200 - strlen(heard), "%.*s", (int)len, bytes);
}

/* ---- runs */

static bool run_program(const struct upk_policy *p, struct upk_run_options *o, const char *const *words,
                        struct upk_error *err) {
    struct upk_run_reply reply;
    char *const env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL};
    o->command = words;
    if (!o->folder) o->folder = "/usr";
    o->host_env = env;
    o->flags |= UPK_RUN_ALLOW_UNCONFINED;
    const bool good = upk_run(p, o, &reply, err);
    if (good) upk_run_reply_free(&reply);
    return good;
}

static bool run_shell(const struct upk_policy *p, struct upk_run_options *o, const char *text,
                      struct upk_error *err) {
    const char *const words[] = {"/bin/sh", "-c", text, NULL};
    return run_program(p, o, words, err);
}

/* A program of this text, in a file; its name, until the next one. */
static const char *program_of(const char *text) {
    static char path[64];
    (void)snprintf(path, sizeof path, "/tmp/upk-run-%d", (int)getpid());
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static const char *const bubblewraps[] = {NULL, NOWHERE};

/* A copy of the host that another thread makes at that moment has the child's descriptors, and lives on. */
static void copies_hold_nothing_up(void **state) {
    const struct upk_policy *const p = trial_policy(*state, six_seconds);
    for (size_t i = 0; i < 2; i++) {
        struct upk_run_options o = {.bubblewrap = bubblewraps[i]};
        struct upk_error err = {0};
        const double began = now();
        copies = true;
        const bool good = run_shell(p, &o, replies, &err);
        end_copy();
        if (!good) print_error("%s\n", err.detail);
        assert_true(good);
        assert_true(now() - began < 5);
    }
}

static void programs_that_are_none_are_said(void **state) {
    const struct upk_policy *const p = trial_policy(*state, six_seconds);
    struct upk_run_options o = {.bubblewrap = NOWHERE};
    const char *const path = program_of("no program\n");
    const char *const words[] = {path, NULL};
    struct upk_error err;
    const double began = now();
    copies = true;
    const bool good = run_program(p, &o, words, &err);
    end_copy();
    assert_false(good);
    assert_int_equal(err.code, UPK_ERR_RUN_START);
    assert_non_null(strstr(err.detail, path));
    assert_true(now() - began < 5);
    o.bubblewrap = path;
    assert_false(run_shell(p, &o, replies, &err));
    assert_int_equal(err.code, UPK_ERR_RUN_START);
    (void)unlink(path);
}

/* Somebody else has it reaped, and its number may be another process's by then. */
static void reaped_children_are_not_signalled(void **state) {
    const struct upk_policy *const p = trial_policy(*state, six_seconds);
    (void)signal(SIGCHLD, SIG_IGN);
    strays = 0;
    for (size_t i = 0; i < 2; i++) {
        struct upk_run_options o = {.bubblewrap = bubblewraps[i]};
        struct upk_error err;
        assert_false(run_shell(p, &o, replies, &err));
        assert_int_equal(err.code, UPK_ERR_RUN_CHILD);
        assert_non_null(strstr(err.detail, "SIGCHLD"));
    }
    (void)signal(SIGCHLD, SIG_DFL);
    assert_int_equal(strays, 0);
}

/* Also as long as bubblewrap makes its namespaces. */
static void hosts_are_asked_from_the_beginning(void **state) {
    const struct upk_policy *const p = trial_policy(*state, six_seconds);
    static const int answers[] = {-1, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        int answer = answers[i];
        struct upk_run_options o = {
            .bubblewrap = program_of("#!/bin/sh\nsleep 30\n"), .ask = answer_of, .ask_ctx = &answer};
        struct upk_error err;
        const double began = now();
        assert_false(run_shell(p, &o, replies, &err));
        assert_int_equal(err.code, UPK_ERR_RUN_STOPPED);
        assert_string_equal(err.detail, i ? "signal 15" : "");
        assert_true(now() - began < 3);
        (void)unlink(o.bubblewrap);
    }
}

static void what_bubblewrap_says_is_heard(void **state) {
    const struct upk_policy *const p = trial_policy(*state, six_seconds);
    char heard[200] = "";
    struct upk_run_options o = {.said = hear, .said_ctx = heard};
    struct upk_error err;
    if (!upk_run_can_confine(NULL, &err)) skip();
    o.bubblewrap = program_of("#!/bin/sh\necho early >&2\nsleep 0.3\nexec /usr/bin/bwrap \"$@\"\n");
    assert_true(run_shell(p, &o, "echo late >&2; printf 'I1\\n.' >&$UPK_RESULT_FD", &err));
    assert_string_equal(heard, "early\nlate\n");
    (void)unlink(o.bubblewrap);
}

/* With its remedy, which is none that this call could take. */
static void what_cannot_confine_is_said(void **state) {
    struct upk_error err;
    (void)state;
    assert_false(upk_run_can_confine(NOWHERE, &err));
    assert_int_equal(err.code, UPK_ERR_RUN_UNCONFINED);
    assert_non_null(strstr(err.change, "bubblewrap"));
    assert_null(strstr(err.change, "ALLOW_UNCONFINED"));
    assert_false(upk_run_can_confine(NOWHERE, NULL));
}

static void folders_are_folders(void **state) {
    const struct upk_policy *const p = trial_policy(*state, six_seconds);
    struct upk_run_options o = {.folder = "/etc/passwd"};
    struct upk_error err;
    assert_false(run_shell(p, &o, replies, &err));
    assert_int_equal(err.code, UPK_ERR_RUN_START);
    assert_non_null(strstr(err.detail, "/etc/passwd"));
    assert_non_null(strstr(err.detail, "directory"));
    const char *const visible[] = {"/etc/passwd", NULL};
    struct upk_run_options with = {.visible = visible};
    const bool good = run_shell(p, &with, replies, &err);
    if (!good) print_error("%s\n", err.detail);
    assert_true(good);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(copies_hold_nothing_up),
        TEST(programs_that_are_none_are_said),
        TEST(reaped_children_are_not_signalled),
        TEST(hosts_are_asked_from_the_beginning),
        TEST(what_bubblewrap_says_is_heard),
        TEST(what_cannot_confine_is_said),
        TEST(folders_are_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
