/* upk-run: run a command with the environment that a policy gives it, confined, and decide the pickle that it replies.
 *
 * Layer: a program, over runtime/run, the compiler and cli.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../compiler/channels.h"
#include "../runtime/upk_run.h"
#include "../runtime/upk_tables.h"
#include "cli.h"
#include "policy_file.h"
#include "run_said.h"
#include "shipped_policies.h"
#include "stderr_sink.h"
#include "today.h"

enum { EXIT_CHILD = 4, EXIT_TIME = 5, EXIT_GATE = 6 };

/* ---- signals that end a program are the child's first */

static volatile sig_atomic_t signal_met;

static void meet_signal(int number) { signal_met = number; }

static void meet_signals(void) {
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = meet_signal}, old;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* What was ignored when this began stays so: nohup. */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
    }
    (void)signal(SIGCHLD, SIG_DFL); /* else nobody knows how a child ended */
}

static int ask(void *ctx) {
    (void)ctx;
    return signal_met;
}

/* As it would have ended without a handler. */
static void end_by_signal(void) {
    if (!signal_met) return;
    (void)signal(signal_met, SIG_DFL);
    (void)raise(signal_met);
}

static bool warn(void *ctx, const char *line) {
    cli_complain(ctx, "warning: %s", line);
    return true;
}

/* ---- policies */

struct policies {
    struct policy_tables tables; /* of a file; else zeros */
    const struct upk_policy *own, *exception, *descriptor, *rules;
};

static const struct upk_policy *beside(const struct policies *p, const char *channel) {
    if (!p->tables.compiled) return shipped_policies_beside(p->own, channel);
    for (size_t i = 0; i < p->tables.all.count; i++) {
        const struct upk_policy *const one = &p->tables.all.tables[i].policy;
        if (one->channel.len == strlen(channel) &&
            memcmp(one->pool + one->channel.at, channel, one->channel.len) == 0)
            return one;
    }
    return NULL;
}

static enum cli_exit compile(const struct cli *c, struct policies *p, struct diag *d) {
    struct compile_options options = {
        .policy_dir = c->policy_dir ? c->policy_dir : POLICY_DIR,
        .include_dirs = c->includes.at,
        .include_dir_count = c->includes.count,
        .allow_fail_open = c->allow_fail_open,
    };
    if (!today_find(c->today, d, &options.today)) return CLI_USAGE;
    const enum cli_exit status = policy_tables_compile(&p->tables, &options, c->policy, c, d);
    if (status == CLI_ACCEPTED && p->tables.count > 1) {
        diag_error_nowhere(d, P_USAGE, "the policy has several channels: name one as FILE:CHANNEL");
        return CLI_USAGE;
    }
    if (status == CLI_ACCEPTED) p->own = policy_tables_at(&p->tables, 0);
    return status;
}

static enum cli_exit policies_find(const struct cli *c, struct policies *p) {
    enum cli_exit status = CLI_ACCEPTED;
    if (shipped_policies_is_file(c->policy)) {
        struct diag d;
        struct diag_sink sink = stderr_sink(c->json);
        sink.program = c->program;
        diag_init(&d, sink);
        status = compile(c, p, &d);
        diag_flush(&d);
        diag_free(&d);
    } else {
        p->own = shipped_policies_find(c, c->policy);
    }
    if (!p->own) return status == CLI_ACCEPTED ? CLI_USAGE : status;
    p->exception = beside(p, "exception");
    p->descriptor = beside(p, "descriptor");
    p->rules = p->own->environment ? p->own : shipped_policies_find(c, "environment");
    return p->rules ? CLI_ACCEPTED : CLI_USAGE;
}

/* ---- the manifest */

/* NAME=TEXT as it stands: what is wrong with it the filter says. */
static void entry_read(struct upk_env_entry *e, const char *text, bool from_host) {
    const char *const equals = strchr(text, '=');
    const size_t n = equals ? (size_t)(equals - text) : strlen(text);
    const char *const value = equals ? equals + 1 : "";
    *e = (struct upk_env_entry){{text, n}, {value, strlen(value)}, from_host};
}

static bool manifest_make(const struct cli *c, struct upk_env_entry **entries, struct upk_manifest *m) {
    m->count = c->sets.count + c->asks.count;
    m->entries = *entries = calloc(m->count + 1, sizeof **entries);
    if (!*entries) return false;
    for (size_t i = 0; i < c->sets.count; i++) entry_read(&(*entries)[i], c->sets.at[i], false);
    for (size_t i = 0; i < c->asks.count; i++)
        entry_read(&(*entries)[c->sets.count + i], c->asks.at[i], true);
    return true;
}

/* ---- what is said of the end */

static int exit_of(unsigned code) {
    switch (code) {
    case UPK_ERR_RUN_UNCONFINED:
    case UPK_ERR_RUN_STATE: return EXIT_GATE;
    case UPK_ERR_RUN_TIME: return EXIT_TIME;
    case UPK_ERR_RUN_CHILD:
    case UPK_ERR_RUN_EMPTY:
    case UPK_ERR_RUN_STOPPED: return EXIT_CHILD;
    case UPK_ERR_RUN_START:
    case UPK_ERR_MEMORY: return CLI_IO;
    }
    return CLI_REFUSED;
}

static bool would_be_accepted(const struct cli *c, const struct upk_policy *policy, const uint8_t *data,
                              size_t len) {
    const struct upk_options options = {.flags = UPK_INERT_NAMES |
                                                 (c->allow_fail_open ? (uint32_t)UPK_ALLOW_FAIL_OPEN : 0u)};
    return policy && len && upk_check(policy, data, len, &options, NULL);
}

/* By the first form if that can be had, else in words. */
static int say_exception(const struct cli *c, const struct policies *p, const struct upk_run_reply *r) {
    const bool rich = would_be_accepted(c, p->exception, r->forms[UPK_RUN_EXCEPTION].data,
                                        r->forms[UPK_RUN_EXCEPTION].len) ||
                      !r->forms[UPK_RUN_DESCRIPTOR].len;
    const int form = rich ? UPK_RUN_EXCEPTION : UPK_RUN_DESCRIPTOR;
    const enum cli_exit status =
        cli_run_bytes(c, rich ? p->exception : p->descriptor, r->forms[form].data, r->forms[form].len);
    if (status != CLI_ACCEPTED) return (int)status;
    cli_complain(c, "the command raised this exception");
    return EXIT_CHILD;
}

static int say_reply(const struct cli *c, const struct policies *p, const struct upk_run_reply *r) {
    if (r->forms[UPK_RUN_EXCEPTION].len || r->forms[UPK_RUN_DESCRIPTOR].len) return say_exception(c, p, r);
    return (int)cli_run_bytes(c, p->own, r->forms[UPK_RUN_RESULT].data, r->forms[UPK_RUN_RESULT].len);
}

/* ---- the run */

static bool names_end(const struct cli *c, struct cli_names *names, const char *const **list) {
    const char **const at = realloc(names->at, (names->count + 1) * sizeof *at);
    if (!at) {
        cli_complain(c, "out of memory");
        return false;
    }
    at[names->count] = NULL;
    names->at = at;
    *list = at;
    return true;
}

static int run(struct cli *c, const struct policies *p, struct upk_run_options *o) {
    struct upk_run_reply reply;
    struct upk_error err;
    struct run_said said = {.to = stderr};
    o->said_ctx = &said;
    meet_signals();
    const bool good = upk_run(p->own, o, &reply, &err);
    run_said_end(&said);
    if (!good) {
        upk_error_write(&err, stderr);
        end_by_signal();
        return exit_of(err.code);
    }
    const int status = say_reply(c, p, &reply);
    upk_run_reply_free(&reply);
    end_by_signal();
    return status;
}

/* `path` where it is absolute, else below `here`: owned. */
static char *absolute(const char *here, const char *path) {
    char *made = NULL;
    if (!path) return strdup(here);
    if (*path == '/') return strdup(path);
    return asprintf(&made, "%s/%s", here, path) < 0 ? NULL : made;
}

static int run_in(struct cli *c, const struct policies *p, const char *here) {
    struct upk_env_entry *entries = NULL;
    struct upk_manifest manifest = {0};
    char *const folder = absolute(here, c->folder), *const home = absolute(folder ? folder : here, c->home);
    struct upk_run_options o = {
        .folder = folder,
        .home = home,
        .host_env = environ,
        .manifest = &manifest,
        .state = c->state,
        .rules = p->rules,
        .exception = p->exception,
        .descriptor = p->descriptor,
        .bubblewrap = c->bubblewrap,
        .flags = (c->allow_unconfined ? (uint32_t)UPK_RUN_ALLOW_UNCONFINED : 0u) |
                 (c->by_stdout ? (uint32_t)UPK_RUN_STDOUT : 0u),
        .ask = ask,
        .said = run_said_write,
        .warn = warn,
        .warn_ctx = c,
    };
    int status = CLI_IO;
    if (!folder || !home || !manifest_make(c, &entries, &manifest))
        cli_complain(c, "out of memory");
    else if (names_end(c, &c->files, &o.command) && names_end(c, &c->visible, &o.visible))
        status = run(c, p, &o);
    free(entries);
    free(folder);
    free(home);
    return status;
}

static int act(struct cli *c) {
    if (c->help || c->version) return CLI_ACCEPTED;
    if (c->list_policies) {
        shipped_policies_list();
        return CLI_ACCEPTED;
    }
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) {
        cli_complain(c, "the current folder: %s", strerror(errno));
        return CLI_IO;
    }
    struct policies p = {.own = NULL};
    const enum cli_exit found = policies_find(c, &p);
    const int status = found == CLI_ACCEPTED ? run_in(c, &p, here) : (int)found;
    policy_tables_free(&p.tables);
    return status;
}

int main(int argc, char **argv) {
    struct cli c = {.program = "upk-run", .run = true};
    int status = (int)cli_parse(&c, argc > 0 ? argc - 1 : 0, argv + 1);
    if (status == CLI_ACCEPTED) status = act(&c);
    cli_free(&c);
    return status;
}
