/* One call: what the policy gives the child, where it may run, its reply.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

struct run {
    struct held held;
    const struct upk_run_options *options;
    struct upk_env *env; /* what the policy gives */
    struct words vars;   /* and with the numbers of descriptors */
    struct words words;  /* of the command line */
    struct program program;
    struct child child;
    struct waiting waiting;
    bool resumed; /* there is a state, and it is of these policies */
};

static const char *const variables[] = {
#define UPK_X(name, variable) variable,
    UPK_RUN_FORMS(UPK_X)
#undef UPK_X
};

/* ---- options */

static bool misuse(struct upk_error *err, const char *why) {
    return run_fail(err, UPK_ERR_MISUSE, "%s", why);
}

/* What a child may be shown: not the root, by whatever name. */
static bool may_be_shown(const char *path, const char *what, struct upk_error *err) {
    struct stat s, root;
    if (*path != '/') return run_fail(err, UPK_ERR_RUN_START, "%s %.90s is not absolute", what, path);
    if (stat(path, &s) != 0 || stat("/", &root) != 0)
        return run_fail(err, UPK_ERR_RUN_START, "%s %.90s: %s", what, path, strerror(errno));
    if (s.st_dev == root.st_dev && s.st_ino == root.st_ino)
        return run_fail(err, UPK_ERR_RUN_START, "%s cannot be /: the child would see all of it", what);
    return true;
}

/* Absolute, and no other path by what is in its folders. */
static bool is_plain(const char *path) {
    if (*path != '/') return false;
    while (*path) {
        path += strspn(path, "/");
        const size_t n = strcspn(path, "/");
        if ((n == 1 || n == 2) && strncmp(path, "..", n) == 0) return false;
        path += n;
    }
    return true;
}

/* INVARIANT: it is absolute, for in the current folder may stand what a child or a stranger put there. */
static bool bubblewrap_check(const char *path, struct upk_error *err) {
    if (!path || *path == '/') return true;
    return run_fail(err, UPK_ERR_RUN_START, "the bubblewrap %.90s is not absolute", path);
}

static bool is_folder(const char *path, struct upk_error *err) {
    struct stat s;
    if (!may_be_shown(path, "the folder", err)) return false;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return true;
    return run_fail(err, UPK_ERR_RUN_START, "the folder %.90s: %s", path, strerror(ENOTDIR));
}

static bool options_check(const struct run *r, struct upk_error *err) {
    const struct upk_run_options *const o = r->options;
    if (!r->held.policy || !o || !o->command || !o->command[0] || !o->folder)
        return misuse(err, "a policy, a command and a folder are needed");
    if (!*o->command[0]) return run_fail(err, UPK_ERR_RUN_START, "the command's name is empty");
    if (!is_folder(o->folder, err)) return false;
    if (o->home && !is_plain(o->home))
        return run_fail(err, UPK_ERR_RUN_START, "the home %.90s is not absolute, or has . or .. in it",
                        o->home);
    if (!bubblewrap_check(o->bubblewrap, err)) return false;
    for (size_t i = 0; o->visible && o->visible[i]; i++)
        if (!may_be_shown(o->visible[i], "the visible path", err)) return false;
    return true;
}

static bool tables_check(const struct upk_policy *policy, struct upk_error *err) {
    return upk_policy_is_of_this_version(policy) || run_fail(err, UPK_ERR_TABLE, "%s", "");
}

static unsigned forms_offered(const struct upk_run_options *o) {
    return 1u << UPK_RUN_RESULT | (o->exception ? 1u << UPK_RUN_EXCEPTION : 0u) |
           (o->descriptor ? 1u << UPK_RUN_DESCRIPTOR : 0u);
}

/* ---- what the child is given */

static bool warn(const struct run *r, const char *line, struct upk_error *err) {
    if (!r->options->warn || r->options->warn(r->options->warn_ctx, line)) return true;
    return run_fail(err, UPK_ERR_RUN_STOPPED, "before it was started");
}

static bool warn_left(const struct run *r, struct upk_error *err) {
    for (size_t i = 0; i < r->env->left_count; i++) {
        const struct upk_env_left *const left = &r->env->left[i];
        char line[400];
        if (left->reason == UPK_ENV_LEFT_TWICE)
            (void)snprintf(line, sizeof line, "%.200s is left out: the environment has it several times",
                           left->name);
        else
            (void)snprintf(line, sizeof line, "%.200s is left out: its value is none of the kind `%s'",
                           left->name, upk_env_rule_word(left->rule));
        if (!warn(r, line, err)) return false;
    }
    return true;
}

static bool warn_passed(const struct run *r, struct upk_error *err) {
    char line[400];
    if (!r->program.passed) return true;
    (void)snprintf(line, sizeof line,
                   "the program is %.150s: %.150s comes first, but the confined child does not see it",
                   r->program.path, r->program.passed);
    return warn(r, line, err);
}

static bool is_variable(const char *var, const char *name) {
    const size_t n = strlen(name);
    return strncmp(var, name, n) == 0 && var[n] == '=';
}

static bool is_ours(const char *var) {
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++)
        if (is_variable(var, variables[i])) return true;
    return false;
}

static bool environment_make(struct run *r, struct upk_error *err) {
    const struct upk_run_options *const o = r->options;
    if (!upk_env_filter(r->held.rules, o->host_env, o->manifest, o->home ? o->home : o->folder, NULL, &r->env,
                        err))
        return false;
    if (!warn_left(r, err)) return false;
    for (size_t i = 0; i < r->env->count; i++)
        if (!is_ours(r->env->vars[i])) words_add(&r->vars, r->env->vars[i]);
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++) {
        char number[40];
        if (!(forms_offered(o) & 1u << i) || (i == UPK_RUN_RESULT && o->flags & UPK_RUN_STDOUT)) continue;
        (void)snprintf(number, sizeof number, "=%d", CHILD_FORMS + i);
        words_join(&r->vars, variables[i], number);
    }
    return !r->vars.failed || run_fail_memory(err);
}

static bool command_add(struct run *r, struct upk_error *err) {
    for (size_t i = 1; r->options->command[i]; i++) words_add(&r->words, r->options->command[i]);
    return !r->words.failed || run_fail_memory(err);
}

/* ---- the state */

/* INVARIANT: nothing of the command runs before the state is written; and it stays whatever comes of that, for another call may hold
 * to it by then. */
static bool hold(struct run *r, struct upk_error *err) {
    if (!r->options->state || r->resumed) return true;
    r->resumed = state_write(r->options->state, &r->held, err);
    return r->resumed;
}

/* ---- starting */

static char *const no_variables[] = {NULL};

static const char *bubblewrap_of(const char *given) { return given ? given : RUN_BUBBLEWRAP; }

static bool is_there(const char *bubblewrap, struct upk_error *err) {
    if (access(bubblewrap, X_OK) == 0) return true;
    return run_fail(err, UPK_ERR_RUN_UNCONFINED, "%.100s: %s", bubblewrap, strerror(errno));
}

static bool can_confine(const char *given, struct waiting *w, struct upk_error *err) {
    const char *const bubblewrap = bubblewrap_of(given);
    struct words words = {0};
    struct child child;
    struct launch l = {.program = bubblewrap, .env = no_variables};
    if (!bubblewrap_check(given, err) || !is_there(bubblewrap, err)) return false;
    bubblewrap_words_bare(&words);
    l.argv = words.at;
    bool good = !words.failed || run_fail_memory(err);
    if (good) {
        good = child_start(&child, &l, 0, false, true, err);
        if (good) {
            good = child_confirm(&child, NULL, w, err) && child_go(&child, w, err);
            child_end(&child);
        }
    }
    words_free(&words);
    return good;
}

bool upk_run_can_confine(const char *bubblewrap, struct upk_error *err) {
    struct waiting w = {.until = INT64_MAX};
    struct upk_error reason;
    if (can_confine(bubblewrap, &w, &reason)) return true;
    if (reason.code == UPK_ERR_RUN_UNCONFINED) gate_remedy(&reason);
    if (err) *err = reason;
    return false;
}

/* false and UPK_ERR_RUN_UNCONFINED: nothing confines a child here, whatever this one is. */
static bool start_confined(struct run *r, struct upk_error *err) {
    const char *const bubblewrap = bubblewrap_of(r->options->bubblewrap);
    const uint64_t *const budgets = gate_budgets(&r->held);
    struct upk_error reason;
    struct launch l = {.program = bubblewrap,
                       .env = no_variables,
                       .settings = r->vars.at ? r->vars.at : no_variables,
                       .network = gate_network(&r->held)};
    if (!is_there(bubblewrap, err)) return false;
    if (!program_find(&r->program, r->options, r->env->vars, true, err) || !warn_passed(r, err)) return false;
    bubblewrap_words(&r->words, r->options, l.network, budgets[UPK_RUN_BUDGET_MEMORY]);
    words_add(&r->words, r->program.path);
    if (!command_add(r, err)) return false;
    l.argv = r->words.at;
    if (!child_start(&r->child, &l, forms_offered(r->options), r->options->flags & UPK_RUN_STDOUT, true, err))
        return false;
    if (child_confirm(&r->child, budgets, &r->waiting, &reason) && hold(r, &reason) &&
        child_go(&r->child, &r->waiting, &reason))
        return true;
    child_end(&r->child);
    /* Was it this call, or could none be confined? */
    struct upk_error none;
    if (reason.code == UPK_ERR_RUN_UNCONFINED) {
        if (can_confine(r->options->bubblewrap, &r->waiting, &none))
            return run_fail(err, UPK_ERR_RUN_START, "%s", reason.detail);
        if (none.code == UPK_ERR_RUN_STOPPED) reason = none;
    }
    if (err) *err = reason;
    return false;
}

static bool start_unconfined(struct run *r, struct upk_error *err) {
    struct launch l = {.env = r->vars.at, .folder = r->options->folder, .budgets = gate_budgets(&r->held)};
    program_free(&r->program);
    if (!program_find(&r->program, r->options, r->env->vars, false, err)) return false;
    words_free(&r->words);
    words_add(&r->words, r->options->command[0]);
    if (!command_add(r, err) || !hold(r, err)) return false;
    l.program = r->program.path;
    l.argv = r->words.at;
    return child_start(&r->child, &l, forms_offered(r->options), r->options->flags & UPK_RUN_STDOUT, false,
                       err);
}

static bool warn_unconfined(const struct run *r, const struct upk_error *reason, struct upk_error *err) {
    char line[400];
    (void)snprintf(line, sizeof line,
                   "not confining the child, as the caller allows it: %s.  It reads what this user may read, "
                   "the environment of "
                   "its parent too",
                   reason->detail);
    return warn(r, line, err);
}

static bool start(struct run *r, bool *confined, struct upk_error *err) {
    struct upk_error reason;
    *confined = start_confined(r, &reason);
    if (*confined) return true;
    if (reason.code == UPK_ERR_RUN_UNCONFINED && gate_unconfined(&r->held, r->options, &reason)) {
        return warn_unconfined(r, &reason, err) && start_unconfined(r, err);
    }
    if (err) *err = reason;
    return false;
}

/* ---- the call */

static uint64_t most_of(const struct upk_policy *channel) {
    return channel ? channel->budgets[UPK_BUDGET_BYTES] : 0;
}

static bool reply_collect(struct run *r, struct upk_run_reply *reply, struct upk_error *err) {
    const struct collect k = {
        .waiting = &r->waiting,
        .most = {most_of(r->held.policy), most_of(r->options->exception), most_of(r->options->descriptor)},
        .wall = gate_budgets(&r->held)[UPK_RUN_BUDGET_WALL],
    };
    return collect_reply(&r->child, &k, reply, err);
}

static bool run(struct run *r, struct upk_run_reply *reply, struct upk_error *err) {
    if (r->options->state && !state_read(r->options->state, &r->held, &r->resumed, err)) return false;
    if (!environment_make(r, err) || !start(r, &reply->confined, err)) return false;
    const bool good = reply_collect(r, reply, err);
    child_end(&r->child);
    return good;
}

bool upk_run(const struct upk_policy *policy, const struct upk_run_options *options,
             struct upk_run_reply *reply, struct upk_error *err) {
    struct run r = {.held = {policy, NULL}, .options = options};
    struct upk_run_reply made = {.confined = false};
    if (!options_check(&r, err)) return false;
    r.held.rules = options->rules ? options->rules : policy;
    if (!tables_check(policy, err) || !tables_check(r.held.rules, err)) return false;
    r.waiting.options = options;
    r.waiting.until = run_now() + (int64_t)gate_budgets(&r.held)[UPK_RUN_BUDGET_WALL] * 1000;
    const bool good = run(&r, &made, err);
    upk_env_free(r.env);
    words_free(&r.vars);
    words_free(&r.words);
    program_free(&r.program);
    if (good)
        *reply = made;
    else
        upk_run_reply_free(&made);
    return good;
}

void upk_run_reply_free(struct upk_run_reply *reply) {
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++) {
        free(reply->forms[i].data);
        reply->forms[i].data = NULL;
        reply->forms[i].len = 0;
    }
}
