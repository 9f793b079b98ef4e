/* `policyc learn`: what is done in which order.
 *
 * Inputs that some policy admits already are left alone; the others are observed, and what they need is joined with what the file's
 * block had.  The text that comes of it is compiled in memory and decides every input again before anything is written.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../compiler/intern.h"
#include "learn_block.h"
#include "policy_file.h"
#include "today.h"
#include "stderr_sink.h"

enum { NAME_ROOM = 64, DATE_ROOM = 16 };

/* The file that is merged into, or that the result is for. */
struct target {
    struct policy_file file;
    char *folder;
    bool exists, writes; /* else it is printed */
    struct text text;
    struct learn_block block;
    struct learn_policy policy; /* as it was */
};

static enum cli_exit out_of_memory(const struct learn *l) {
    cli_complain(&l->cli, "out of memory");
    return CLI_IO;
}

static enum cli_exit too_many_names(struct diag *d) {
    diag_error_nowhere(d, P_TOO_MANY, "the pickles name more than %d classes and functions",
                       LEARN_MOST_NAMES);
    diag_hint(d, "learn from fewer of them, or from each kind into a file of its own");
    return CLI_USAGE;
}

static enum cli_exit not_observed(const struct learn *l, struct diag *d) {
    if (l->rows.count > LEARN_MOST_NAMES) return too_many_names(d);
    return l->mem.failed || d->mem.failed || diag_error_count(d) == 0 ? out_of_memory(l) : CLI_USAGE;
}

/* ---- the policies that are there */

static char *folder_of(const char *path) {
    const char *const slash = strrchr(path, '/');
    const size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    char *const folder = malloc(len + 2);
    if (!folder) return NULL;
    memcpy(folder, len ? path : ".", len ? len : 1);
    folder[len ? len : 1] = '\0';
    return folder;
}

/* Of the policy that is added to: what it denies of names without a row gets none. */
static void set_aside(struct learn *l, const struct upk_policy *p, enum learn_fate fate) {
    struct upk_error err;
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        if (in->fate != LEARN_OPEN) continue;
        if (learn_admits(l, p, in, &err)) {
            in->fate = fate;
        } else if (fate == LEARN_KNOWN && learn_denies(l, p, in, &err)) {
            in->fate = LEARN_REFUSED;
            in->err = err;
        }
    }
}

static struct learn_source source_of(const struct target *t, struct text text) {
    return (struct learn_source){
        .path = t->file.path, .folder = t->folder, .text = text, .channel = t->file.channel};
}

/* A file that is empty, or that is not there and may be made, is no policy yet. */
static enum cli_exit target_read(struct learn *l, struct target *t, const char *name, enum learn_fate fate,
                                 struct diag *d) {
    const bool may_be_new = t->writes;
    int error = 0;
    if (!policy_file_name(name, &t->file) || !(t->folder = folder_of(t->file.path))) return out_of_memory(l);
    const enum source_fault fault = source_read(&d->mem, t->file.path, &t->text, &error);
    t->exists = fault == SOURCE_GOOD;
    if (!t->exists && !(may_be_new && fault == SOURCE_NOT_READ && error == ENOENT)) {
        diag_error_nowhere(d, P_NOT_READ, "%s: %s", diag_quote(d, text_of(t->file.path)),
                           source_fault_text(fault, error));
        return fault == SOURCE_NOT_READ || fault == SOURCE_NOT_FILE ? CLI_IO : CLI_USAGE;
    }
    if (!t->exists) t->text = (struct text){"", 0};
    learn_block_find(t->text, &t->block);
    if (t->text.len == 0) {
        if (!t->file.channel) return CLI_ACCEPTED;
        diag_error_nowhere(d, P_USAGE, "a policy that is made anew has no channel");
        return CLI_USAGE;
    }
    const struct learn_source source = source_of(t, t->text);
    if (!learn_compile(l, &source, d, &t->policy) || !learn_block_read(&l->mem, d, t->file.path, &t->block))
        return CLI_USAGE;
    set_aside(l, t->policy.policy, fate);
    return CLI_ACCEPTED;
}

static void target_free(struct target *t) {
    learn_policy_free(&t->policy);
    policy_file_free(&t->file);
    free(t->folder);
}

/* ---- the text */

static void settle_all(struct learn *l) {
    for (size_t i = 0; i < l->rows.count; i++) {
        for (int k = 0; k < LEARN_FORMS; k++) {
            const struct learn_form *const f = &l->rows.items[i]->forms[k];
            struct shape *const shapes[] = {f->args, f->kw, f->state, f->items, f->key, f->value, f->adds};
            for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) shape_settle(&l->mem, shapes[n]);
        }
        struct shape *const value = learn_row_member_value(&l->rows, l->rows.items[i]);
        if (value) value->as_mask = true;
    }
    shape_settle(&l->mem, l->root);
}

static size_t count_fate(const struct learn *l, enum learn_fate fate) {
    size_t n = 0;
    for (size_t i = 0; i < l->input_count; i++) n += l->inputs[i].fate == fate;
    return n;
}

/* `learned.` and the file's name without its ending, as far as it is made of plain letters. */
static struct text policy_name(const struct target *t, char room[NAME_ROOM]) {
    const char *const path = t->file.path ? t->file.path : "data";
    const char *const slash = strrchr(path, '/'), *const from = slash ? slash + 1 : path;
    static const char head[] = "learned.";
    size_t n = sizeof head - 1;
    memcpy(room, head, n);
    for (const char *c = from; *c && *c != '.' && n + 1 < NAME_ROOM; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        const bool digit = *c >= '0' && *c <= '9' && n >= sizeof head;
        room[n++] = letter || digit ? *c : '_';
    }
    if (n == sizeof head - 1) room[n++] = '_';
    return (struct text){room, n};
}

static bool put_text(struct learn *l, const struct target *t, enum learn_looseness looseness, struct diag *d,
                     struct output *file) {
    char name[NAME_ROOM], date[DATE_ROOM];
    const time_t now = time(NULL);
    struct tm day;
    if (!gmtime_r(&now, &day) || strftime(date, sizeof date, "%Y-%m-%d", &day) == 0) date[0] = '\0';
    struct learn_output w = {
        .learn = l,
        .outer = &t->block.outer,
        .former = {t->block.file.at + t->block.body, t->block.body_to - t->block.body},
        .looseness = looseness,
        .name = policy_name(t, name),
        .revision = t->policy.policy ? (uint64_t)t->policy.policy->revision + 1 : 1,
    };
    if (t->policy.policy && !t->block.outer.has_header)
        w.name = policy_text(t->policy.policy, t->policy.policy->name);
    output_init(file, &l->mem);
    return learn_block_put(&w, &t->block, date, count_fate(l, LEARN_SEEN), d, file);
}

/* ---- the proof */

/* How many of the inputs that it has to admit the policy refuses; `settle`: those are refused for good. */
static size_t count_refused(struct learn *l, const struct upk_policy *p, enum learn_fate fate, bool settle) {
    struct upk_error err;
    size_t refused = 0;
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        if (in->fate != fate || learn_admits(l, p, in, &err)) continue;
        refused++;
        if (!settle) continue;
        in->fate = LEARN_REFUSED;
        in->err = err;
        l->refused_late = true;
    }
    return refused;
}

/* Tries one way to write it.  true: it compiles, and *refused says how many inputs it does not admit. */
static bool try_text(struct learn *l, const struct target *t, enum learn_looseness looseness, bool settle,
                     struct diag *d, struct output *file, size_t *refused) {
    struct learn_policy made;
    if (!put_text(l, t, looseness, d, file)) return false;
    const struct learn_source source = source_of(t, (struct text){file->bytes, file->len});
    if (!learn_compile(l, &source, d, &made)) return false;
    /* What was admitted stays so: nothing of what was there is taken back. */
    const bool good = !t->policy.policy || count_refused(l, made.policy, LEARN_KNOWN, false) == 0;
    if (!good)
        diag_error_nowhere(d, P_USAGE, "the new policy would refuse what the former one admits: not written");
    *refused = count_refused(l, made.policy, LEARN_SEEN, settle);
    learn_policy_free(&made);
    return good;
}

/* The tightest text that admits all that was observed; else the loosest one, and what it refuses is said. */
static bool make_text(struct learn *l, const struct target *t, struct diag *d, struct output *file) {
    size_t refused = 0;
    for (unsigned i = LEARN_TIGHT; i <= LEARN_LOOSEST; i++) {
        const bool last = i == LEARN_LOOSEST;
        struct diag quiet;
        diag_init(&quiet, (struct diag_sink){.write = NULL});
        const bool good = try_text(l, t, (enum learn_looseness)i, last, last ? d : &quiet, file, &refused);
        diag_free(&quiet);
        if (good && refused == 0) return true;
        if (last) return good;
    }
    return false;
}

/* What people's part of the file stands in the way of, as comments. */
static void propose(struct learn *l, const struct target *t) {
    for (size_t i = 0; i < l->input_count; i++) {
        const struct learn_input *const in = &l->inputs[i];
        if (in->fate != LEARN_REFUSED) continue;
        l->root_proposed = l->root_proposed || in->err.code == UPK_ERR_ROOT;
        l->use_proposed =
            l->use_proposed || ((in->err.code == UPK_ERR_GLOBAL || in->err.code == UPK_ERR_NOT_LOADED) &&
                                t->block.outer.has_channels);
        const struct model_name name = {text_of(in->err.module), text_of(in->err.name)};
        struct learn_row *const r = in->err.rule[0] ? learn_row_find(&l->rows, name) : NULL;
        if (r && r->keep_out && learn_row_is_made(r)) r->proposed = true;
    }
    struct learn_output w = {.learn = l, .outer = &t->block.outer};
    l->proposals = learn_proposals(&w);
}

/* Nothing is known any more but what became of each input, and what was proposed. */
static void forget(struct learn *l) {
    for (size_t i = 0; i < l->input_count; i++) {
        if (l->inputs[i].fate == LEARN_SEEN) l->inputs[i].fate = LEARN_OPEN;
    }
    l->rows = (struct learn_rows){.mem = &l->mem};
    l->fragment_count = l->avoided_count = 0;
    l->settings = (struct learn_settings){.protocol_min = 5};
    l->see_again = false;
    l->root = shape_new(&l->mem);
    l->elsewhere = shape_new(&l->mem);
    shape_tie(&l->mem, l->elsewhere);
}

/* ---- the result */

static enum cli_exit deliver(struct learn *l, const struct target *t, const struct output *file,
                             struct diag *d) {
    const struct text made = {file->bytes, file->len};
    if (!t->writes) {
        struct learn_block block;
        learn_block_find(made, &block);
        const char *const from = t->exists ? made.at + block.from : made.at;
        const size_t len = t->exists ? block.to - block.from : made.len;
        if (fwrite(from, 1, len, stdout) == len && fflush(stdout) == 0) return CLI_ACCEPTED;
        cli_complain(&l->cli, "cannot write to standard output");
        return CLI_IO;
    }
    if (t->exists && learn_block_same(t->text, made)) return CLI_ACCEPTED;
    return learn_save(t->file.path, t->exists, file, d) ? CLI_ACCEPTED : d->io ? CLI_IO : CLI_USAGE;
}

/* What came of it, for people. */
static void say_counts(const struct learn *l) {
    fprintf(stderr, "policyc learn: %zu of %zu pickles learned, %zu admitted already, %zu not admitted\n",
            count_fate(l, LEARN_SEEN), l->input_count,
            count_fate(l, LEARN_KNOWN) + count_fate(l, LEARN_ELSEWHERE), count_fate(l, LEARN_REFUSED));
}

/* Observes the open inputs and makes a text that admits them.  *file is empty where there are none. */
static enum cli_exit learn_once(struct learn *l, const struct target *t, struct diag *d,
                                struct output *file) {
    output_init(file, &l->mem);
    do {
        forget(l);
        if (t->policy.policy) learn_prefer(l, t->policy.policy);
        if (!learn_observe(l, d)) return not_observed(l, d);
    } while (l->see_again);
    if (count_fate(l, LEARN_SEEN) == 0 && l->proposals.len == 0) return CLI_ACCEPTED;
    if (t->policy.policy && !learn_old(l, &t->block, t->policy.policy)) {
        if (l->mem.failed) return out_of_memory(l);
        diag_error_nowhere(d, P_USAGE, "%s: its learned part was not written by this program",
                           diag_quote(d, text_of(t->file.path)));
        return CLI_USAGE;
    }
    settle_all(l);
    if (make_text(l, t, d, file)) return CLI_ACCEPTED;
    return l->mem.failed || d->mem.failed ? out_of_memory(l) : CLI_USAGE;
}

/* Where people's rows stand in the way of some inputs, it is begun anew without those, so that nothing is granted for them. */
static enum cli_exit learn_into(struct learn *l, struct target *t, struct diag *d) {
    struct output file;
    learn_scan(l);
    enum cli_exit status = learn_once(l, t, d, &file);
    if (status == CLI_ACCEPTED && file.len != 0 && l->refused_late) {
        propose(l, t);
        status = learn_once(l, t, d, &file);
    }
    return status == CLI_ACCEPTED && file.len != 0 ? deliver(l, t, &file, d) : status;
}

static struct target target_new(bool writes) {
    return (struct target){.writes = writes, .text = {"", 0}, .block = {.file = {"", 0}}};
}

static enum cli_exit act(struct learn *l, struct diag *d) {
    const bool writes = l->cli.into != NULL;
    struct target base = target_new(false), t = target_new(writes);
    const char *const name = writes ? l->cli.into : l->cli.policy;
    if (!learn_read(l)) return CLI_IO;
    enum cli_exit status = today_find(l->cli.today, d, &l->today) ? CLI_ACCEPTED : CLI_USAGE;
    if (status == CLI_ACCEPTED && writes && l->cli.policy)
        status = target_read(l, &base, l->cli.policy, LEARN_ELSEWHERE, d);
    if (status == CLI_ACCEPTED && name) status = target_read(l, &t, name, LEARN_KNOWN, d);
    if (status == CLI_ACCEPTED) status = learn_into(l, &t, d);
    if (status == CLI_ACCEPTED) {
        learn_report(l);
        say_counts(l);
        status = count_fate(l, LEARN_REFUSED) != 0 ? CLI_REFUSED : CLI_ACCEPTED;
    }
    diag_flush(d); /* messages borrow the names of the files */
    target_free(&base);
    target_free(&t);
    return status;
}

static enum cli_exit run(struct learn *l) {
    enum { MOST_BYTES = 2000000000 };
    struct diag d;
    if (l->cli.help || l->cli.version) return CLI_ACCEPTED;
    mem_init(&l->mem, MOST_BYTES);
    diag_init(&d, stderr_sink(l->cli.json));
    const enum cli_exit status = act(l, &d);
    diag_free(&d);
    learn_inputs_free(l);
    mem_free(&l->mem);
    return status;
}

int learn_main(int argc, char **argv) {
    struct learn l = {.cli = {.program = "policyc learn",
                              .learn = true,
                              .complain = stderr_asked_json(argc, argv) ? stderr_json_usage : NULL}};
    enum cli_exit status = cli_parse(&l.cli, argc > 0 ? argc - 1 : 0, argv + 1);
    l.cli.complain = NULL;
    if (status == CLI_ACCEPTED) status = run(&l);
    cli_free(&l.cli);
    return (int)status;
}
