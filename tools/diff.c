/* `policyc diff`: compile two versions of a policy in memory and print what the second one grants more and less.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "diff.h"

#include <stdio.h>

#include "../compiler/diff.h"
#include "policy_file.h"
#include "stderr_sink.h"

static const struct cli as_cli = {.program = "policyc diff"};

static bool has_channel(const struct compiled *c, const char *channel) {
    for (size_t i = 0; i < c->model_count; i++) {
        if (text_is(c->models[i].channel, channel)) return true;
    }
    return false;
}

static bool has_channels(const struct compiled *c) { return c->models[0].channel.len != 0; }

/* Where one side names a channel, the other is that channel too, or all of a policy that has none. */
static void narrow_to(struct policy_tables *v, const struct policy_tables *other) {
    if (v->file.channel || !other->file.channel || !has_channels(v->compiled)) return;
    v->count = has_channel(v->compiled, other->file.channel);
    while (v->count != 0 && !text_is(v->compiled->models[v->first].channel, other->file.channel)) v->first++;
}

/* Channels go by name; two that are named on the command line go together.  `count`: there is none. */
static size_t partner(const struct policy_tables *v, size_t i, const struct policy_tables *other) {
    if ((v->file.channel || other->file.channel) && other->count == 1) return 0;
    for (size_t k = 0; k < other->count; k++) {
        if (text_equal(v->compiled->models[v->first + i].channel,
                       other->compiled->models[other->first + k].channel))
            return k;
    }
    return other->count;
}

static bool compare(const struct policy_tables *old, const struct policy_tables *new, struct output *o,
                    bool *widened) {
    struct diff_verdict verdict;
    *widened = false;
    for (size_t i = 0; i < new->count; i++) {
        const size_t k = partner(new, i, old);
        if (!diff_channel(k < old->count ? policy_tables_at(old, k) : NULL, policy_tables_at(new, i), o,
                          &verdict))
            return false;
        *widened = *widened || verdict.widened;
    }
    for (size_t k = 0; k < old->count; k++) {
        if (partner(old, k, new) < new->count) continue;
        if (!diff_channel(policy_tables_at(old, k), NULL, o, &verdict)) return false;
    }
    if (old->count == 0 || new->count == 0) return true;
    if (!diff_child(policy_tables_at(old, 0), policy_tables_at(new, 0), o, &verdict)) return false;
    *widened = *widened || verdict.widened;
    return true;
}

/* All or nothing: it is printed when it is complete. */
static enum cli_exit print_comparison(const struct policy_tables *old, const struct policy_tables *new) {
    enum { MOST_BYTES = INT32_MAX };
    struct mem m;
    struct output o;
    bool widened;
    mem_init(&m, MOST_BYTES);
    output_init(&o, &m);
    enum cli_exit status;
    if (!compare(old, new, &o, &widened)) {
        cli_complain(&as_cli, "out of memory");
        status = CLI_IO;
    } else if (fwrite(o.bytes, 1, o.len, stdout) != o.len || fflush(stdout) != 0) {
        cli_complain(&as_cli, "cannot write to standard output");
        status = CLI_IO;
    } else {
        status = widened ? CLI_REFUSED : CLI_ACCEPTED;
    }
    mem_free(&m);
    return status;
}

static enum cli_exit compile(struct policy_tables *t, const struct compile_options *options, const char *name,
                             bool json) {
    struct diag d;
    diag_init(&d, stderr_sink(json));
    const enum cli_exit status = policy_tables_compile(t, options, name, &as_cli, &d);
    diag_flush(&d);
    diag_free(&d);
    return status;
}

enum cli_exit diff_run(const struct compile_options *options, const char *new, bool json) {
    struct policy_tables a = {0}, b = {0};
    const enum cli_exit first = compile(&a, options, options->path, json),
                        second = compile(&b, options, new, json);
    enum cli_exit status = first > second ? first : second;
    if (status == CLI_ACCEPTED) {
        narrow_to(&a, &b);
        narrow_to(&b, &a);
        status = print_comparison(&a, &b);
    }
    policy_tables_free(&a);
    policy_tables_free(&b);
    return status;
}
