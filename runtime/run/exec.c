/* What a new process does before it becomes another program: descriptors, limits, a session and keys of its own.
 *
 * INVARIANT: it may be a copy of one thread of a program with many, so only what is safe in a signal handler is called here.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run.h"

/* ---- descriptors */

enum { ABOVE = 64 };

/* Behind those that it is to have, out of each other's way. */
static bool ends_lift(int ends[CHILD_DESCRIPTORS]) {
    for (int i = 0; i < CHILD_DESCRIPTORS; i++) {
        if (ends[i] < 0) continue;
        ends[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, ABOVE);
        if (ends[i] < 0) return false;
    }
    return true;
}

/* dup2 makes them stay open in the new program; the last one must not. */
static bool ends_place(const int ends[CHILD_DESCRIPTORS]) {
    for (int i = 0; i < CHILD_DESCRIPTORS; i++) {
        if (ends[i] < 0)
            (void)close(i);
        else if (dup2(ends[i], i) < 0)
            return false;
    }
    return fcntl(CHILD_EXEC, F_SETFD, FD_CLOEXEC) == 0;
}

static void close_above(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)CHILD_DESCRIPTORS, ~0u, 0u) == 0) return;
#endif
    /* Kernels before 5.9.  A limit may have been lowered since descriptors were opened; the hard one rarely is. */
    struct rlimit files;
    const rlim_t most = 1 << 20;
    rlim_t end = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max : most;
    if (end > most) end = most;
    for (rlim_t i = CHILD_DESCRIPTORS; i < end; i++) (void)close((int)i);
}

/* ---- limits */

/* INVARIANT: no more than what is there, so that nobody needs a privilege. */
bool exec_limit(pid_t pid, const uint64_t *budgets, unsigned others) {
    const struct {
        __rlimit_resource_t resource;
        uint64_t most;
    } limits[] = {{RLIMIT_CORE, 0},
                  {RLIMIT_NOFILE, budgets[UPK_RUN_BUDGET_FILES]},
                  {RLIMIT_NPROC, budgets[UPK_RUN_BUDGET_PROCESSES] + others},
                  {RLIMIT_AS, budgets[UPK_RUN_BUDGET_MEMORY]}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now;
        if (prlimit(pid, limits[i].resource, NULL, &now) != 0) return false;
        if (now.rlim_max > limits[i].most) now.rlim_max = limits[i].most;
        now.rlim_cur = now.rlim_max;
        if (prlimit(pid, limits[i].resource, &now, NULL) != 0) return false;
    }
    return true;
}

/* ---- signals */

/* As if the new program had been started by a shell: what a host ignores or blocks is its own affair. */
static void signals_reset(void) {
    for (int i = 1; i < NSIG; i++) {
        if (i != SIGKILL && i != SIGSTOP) (void)signal(i, SIG_DFL);
    }
}

static void signals_let(void) {
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* It ends with its parent, also where that ended before this was asked for. */
static bool end_with_parent(pid_t parent) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* ---- keys */

/* Those of the host's session are not the new program's, nor does it add to them.  Where nobody may ask for keys it has none. */
static bool keys_leave(void) {
    return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS || errno == EPERM;
}

/* ---- devices */

/* Written to they can be all the same.  What mount refuses stays as it was: a place that is none, or one without rights to mount. */
static void make_read_only(const char *path) {
    const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC;
    if (mount(path, path, NULL, MS_BIND, NULL) == 0) (void)mount(NULL, path, NULL, flags, NULL);
}

/* The nodes that bubblewrap shows are those of the host.  A child that root started is their owner, capabilities or not, and could
 * change their modes and times; of bubblewrap's own options, those that hinder it close the devices.  Others own none of them. */
static void devices_keep(void) {
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0) return;
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) make_read_only(devices[i]);
}

/* ---- all of it */

static bool prepare(const struct launch *l) {
    if (setsid() < 0 || !end_with_parent(l->parent) || !keys_leave()) return false;
    if (!l->budgets) devices_keep();
    signals_reset();
    if (!supervise_begin()) return false;
    if (l->budgets && !(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && chdir(l->folder) == 0 &&
                        exec_limit(0, l->budgets, 0)))
        return false;
    signals_let();
    return true;
}

void exec_launch(const struct launch *l) {
    int ends[CHILD_DESCRIPTORS];
    for (int i = 0; i < CHILD_DESCRIPTORS; i++) ends[i] = l->ends[i];
    int report = l->ends[CHILD_EXEC];
    if (ends_lift(ends)) {
        report = ends[CHILD_EXEC];
        if (ends_place(ends)) {
            report = CHILD_EXEC;
            close_above();
            if (prepare(l)) (void)execve(l->program, l->argv, l->env);
        }
    }
    const int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(127);
}
