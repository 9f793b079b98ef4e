/* The pickles that are learned from: reading, scanning, deciding, reporting.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/upk_tables.h"
#include "learn.h"

static const uint64_t most_read = UINT64_C(1) << 30; /* what is longer is mapped */

static bool read_one(const struct learn *l, const char *name, struct cli_bytes *out) {
    int error = 0;
    if (cli_read(name, most_read, out, &error)) return true;
    cli_complain(&l->cli, "%s: %s", cli_show(name).text, strerror(error));
    return false;
}

static bool read_buffers(struct learn *l) {
    const struct cli_names *const names = &l->cli.buffers;
    l->buffers = calloc(names->count + 1, sizeof *l->buffers);
    l->buffer_views = calloc(names->count + 1, sizeof *l->buffer_views);
    if (!l->buffers || !l->buffer_views) {
        cli_complain(&l->cli, "out of memory");
        return false;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (!read_one(l, names->at[i], &l->buffers[i])) return false;
        l->buffer_views[i] = (struct upk_bytes){l->buffers[i].data, l->buffers[i].len};
    }
    return true;
}

bool learn_read(struct learn *l) {
    const struct cli_names *const names = &l->cli.files;
    bool good = read_buffers(l), had_stdin = false;
    l->inputs = good ? calloc(names->count + 1, sizeof *l->inputs) : NULL;
    if (good && !l->inputs) cli_complain(&l->cli, "out of memory");
    for (size_t i = 0; l->inputs && i < names->count; i++) {
        struct learn_input *const in = &l->inputs[l->input_count];
        const bool is_stdin = strcmp(names->at[i], "-") == 0;
        in->name = names->at[i];
        if (is_stdin && had_stdin) {
            cli_complain(&l->cli, "-: standard input was read already");
            good = false;
        } else if (read_one(l, in->name, &in->bytes)) {
            l->input_count++;
        } else {
            good = false;
        }
        had_stdin = had_stdin || is_stdin;
    }
    return good && l->inputs;
}

void learn_inputs_free(struct learn *l) {
    for (size_t i = 0; i < l->input_count; i++) {
        cli_bytes_free(&l->inputs[i].bytes);
        upk_scan_free(l->inputs[i].scan);
    }
    for (size_t i = 0; l->buffers && i < l->cli.buffers.count; i++) cli_bytes_free(&l->buffers[i]);
    free(l->inputs);
    free(l->buffers);
    free(l->buffer_views);
}

static struct upk_options options_of(const struct learn *l) {
    return (struct upk_options){.buffers = l->buffer_views, .buffer_count = l->cli.buffers.count};
}

/* Nothing counts as loaded: only rows that say a name admit it, whatever is open to it. */
static bool know_nothing(void *ctx, const struct upk_question *question, struct upk_answer *answer) {
    (void)ctx, (void)question;
    answer->found = UPK_FOUND_NO_MODULE;
    return true;
}

/* Every name is a class, so that of all names those that are denied are met. */
static bool know_all(void *ctx, const struct upk_question *question, struct upk_answer *answer) {
    (void)ctx;
    answer->found = UPK_FOUND_CLASS;
    answer->base = question->policy->opens[1].kind == UPK_OPEN_SUBCLASSES;
    return true;
}

static struct upk_options options_of_policy(const struct learn *l, upk_resolve_fn resolve) {
    struct upk_options options = options_of(l);
    options.resolve = resolve;
    if (l->cli.allow_fail_open) options.flags = UPK_ALLOW_FAIL_OPEN;
    return options;
}

void learn_scan(struct learn *l) {
    const struct upk_options options = options_of(l);
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        if (in->fate == LEARN_OPEN && !in->scan &&
            !upk_scan(in->bytes.data, in->bytes.len, &options, &in->scan, &in->err))
            in->fate = LEARN_REFUSED;
    }
}

bool learn_decode(const struct learn *l, const struct upk_policy *p, const struct learn_input *in,
                  struct upk_doc **doc, struct upk_error *err) {
    const struct upk_options options = options_of_policy(l, know_nothing);
    return upk_decode(p, in->bytes.data, in->bytes.len, &options, doc, err);
}

bool learn_inspect(const struct learn *l, const struct learn_input *in, struct upk_doc **doc) {
    struct upk_options options = options_of(l);
    options.flags = UPK_FAMILY_FLAGS;
    options.families = (1u << UPK_FAMILY_COUNT) - 1;
    return upk_inspect(in->bytes.data, in->bytes.len, &options, doc, NULL);
}

bool learn_admits(const struct learn *l, const struct upk_policy *p, const struct learn_input *in,
                  struct upk_error *err) {
    const struct upk_options options = options_of_policy(l, know_nothing);
    return upk_check(p, in->bytes.data, in->bytes.len, &options, err);
}

bool learn_denies(const struct learn *l, const struct upk_policy *p, const struct learn_input *in,
                  struct upk_error *err) {
    const struct upk_options options = options_of_policy(l, know_all);
    return !upk_check(p, in->bytes.data, in->bytes.len, &options, err) && err->code == UPK_ERR_DENIED;
}

void learn_report(const struct learn *l) {
    for (size_t i = 0; i < l->input_count; i++) {
        const struct learn_input *const in = &l->inputs[i];
        if (in->fate != LEARN_REFUSED) continue;
        fprintf(stderr, "%s: not learned: ", cli_show(in->name).text);
        if (in->looks) {
            fprintf(stderr,
                    "what it shares stands at so many places that there are more than %" PRIu64
                    " values to look at [P0004]\n",
                    in->looks);
            continue;
        }
        (in->unadvised ? upk_error_write_bare : upk_error_write)(&in->err, stderr);
    }
}
