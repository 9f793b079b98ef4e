/* A policy file as the command line names it, with or without a channel, and its compilation.
 *
 * Layer: parts of the program policyc, over the compiler.
 */
#ifndef TOOLS_POLICY_FILE_H
#define TOOLS_POLICY_FILE_H

#include "../compiler/channels.h"
#include "../compiler/compile.h"
#include "cli.h"

/* FILE or FILE:CHANNEL. */
struct policy_file {
    char *path;          /* owned: policy_file_free */
    const char *channel; /* within the same memory; NULL: none is named */
};

/* false: out of memory. */
bool policy_file_name(const char *name, struct policy_file *f);
void policy_file_free(struct policy_file *f);

/* The models of the channel that is named, or of all; *count is their number.  NULL: there is none of that name,
 * which is an error in `d`. */
const struct model *policy_file_models(const struct policy_file *f, const struct compiled *compiled,
                                       struct diag *d, size_t *count);

/* The one model that is named, or the only one.  NULL: as above, or there are several. */
const struct model *policy_file_model(const struct policy_file *f, const struct compiled *compiled,
                                      struct diag *d);

/* A policy in memory, with all its channels. */
struct policy_tables { /* zeros: nothing is owned yet */
    struct policy_file file;
    struct compiled *compiled;
    struct channels all;
    size_t first, count; /* of `all`: those that are named */
};

/* Compiles FILE or FILE:CHANNEL, whatever is named of it; errors are in `d`, and what else is to be said is said for `as`.
 * policy_tables_free is due in any case. */
enum cli_exit policy_tables_compile(struct policy_tables *t, const struct compile_options *options,
                                    const char *name, const struct cli *as, struct diag *d);
void policy_tables_free(struct policy_tables *t);
/* Of those that are named. */
const struct upk_policy *policy_tables_at(const struct policy_tables *t, size_t i);

#endif
