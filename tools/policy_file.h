/* A policy file as the command line names it, with or without a channel, and its compilation.
 *
 * Layer: parts of the program policyc, over the compiler.
 */
#ifndef TOOLS_POLICY_FILE_H
#define TOOLS_POLICY_FILE_H

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

#endif
