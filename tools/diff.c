/* `policyc diff`: compile two versions of a policy in memory and print what the second one grants more and less.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "diff.h"

#include <stdio.h>

#include "../compiler/channels.h"
#include "../compiler/diff.h"
#include "policy_file.h"
#include "stderr_sink.h"

static const struct cli as_cli = {.program = "policyc diff"};

struct version { /* zeros: nothing is owned yet */
    struct policy_file file;
    struct compiled *compiled;
    struct channels all;
    size_t first, count; /* of `all`: those that are named */
};

static void version_free(struct version *v) {
    channels_free(&v->all);
    compiled_free(v->compiled);
    policy_file_free(&v->file);
}

static bool has_channel(const struct compiled *c, const char *channel) {
    for (size_t i = 0; i < c->model_count; i++) {
        if (text_is(c->models[i].channel, channel)) return true;
    }
    return false;
}

static bool has_channels(const struct compiled *c) { return c->models[0].channel.len != 0; }

/* Compiles it all, whatever is named of it. */
static enum cli_exit version_compile(struct version *v, const struct compile_options *options,
                                     const char *name, bool json) {
    struct compile_options own = *options;
    struct diag d;
    if (!policy_file_name(name, &v->file)) {
        cli_complain(&as_cli, "out of memory");
        return CLI_IO;
    }
    own.path = v->file.path;
    diag_init(&d, stderr_sink(json));
    enum cli_exit status = CLI_USAGE;
    if (policy_compile(&own, &d, &v->compiled)) {
        const struct model *const models = policy_file_models(&v->file, v->compiled, &d, &v->count);
        if (models && channels_build(v->compiled, &d, &v->all)) {
            v->first = (size_t)(models - v->compiled->models);
            status = CLI_ACCEPTED;
        }
    } else if (d.io) {
        status = CLI_IO;
    }
    diag_flush(&d);
    diag_free(&d);
    return status;
}

/* Where one side names a channel, the other is that channel too, or all of a policy that has none. */
static void narrow_to(struct version *v, const struct version *other) {
    if (v->file.channel || !other->file.channel || !has_channels(v->compiled)) return;
    v->count = has_channel(v->compiled, other->file.channel);
    while (v->count != 0 && !text_is(v->compiled->models[v->first].channel, other->file.channel)) v->first++;
}

static const struct upk_policy *policy_at(const struct version *v, size_t i) {
    return &v->all.tables[v->first + i].policy;
}

/* Channels go by name; two that are named on the command line go together.  `count`: there is none. */
static size_t partner(const struct version *v, size_t i, const struct version *other) {
    if ((v->file.channel || other->file.channel) && other->count == 1) return 0;
    for (size_t k = 0; k < other->count; k++) {
        if (text_equal(v->compiled->models[v->first + i].channel,
                       other->compiled->models[other->first + k].channel))
            return k;
    }
    return other->count;
}

static bool compare(const struct version *old, const struct version *new, struct output *o, bool *widened) {
    struct diff_verdict verdict;
    *widened = false;
    for (size_t i = 0; i < new->count; i++) {
        const size_t k = partner(new, i, old);
        if (!diff_channel(k < old->count ? policy_at(old, k) : NULL, policy_at(new, i), o, &verdict))
            return false;
        *widened = *widened || verdict.widened;
    }
    for (size_t k = 0; k < old->count; k++) {
        if (partner(old, k, new) < new->count) continue;
        if (!diff_channel(policy_at(old, k), NULL, o, &verdict)) return false;
    }
    return true;
}

/* All or nothing: it is printed when it is complete. */
static enum cli_exit print_comparison(const struct version *old, const struct version *new) {
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

enum cli_exit diff_run(const struct compile_options *options, const char *new, bool json) {
    struct version a = {0}, b = {0};
    const enum cli_exit first = version_compile(&a, options, options->path, json),
                        second = version_compile(&b, options, new, json);
    enum cli_exit status = first > second ? first : second;
    if (status == CLI_ACCEPTED) {
        narrow_to(&a, &b);
        narrow_to(&b, &a);
        status = print_comparison(&a, &b);
    }
    version_free(&a);
    version_free(&b);
    return status;
}
