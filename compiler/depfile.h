/* Dependency files for make: `policyc -MD`.
 *
 * Layer: below emit.h, over files.h.
 */
#ifndef COMPILER_DEPFILE_H
#define COMPILER_DEPFILE_H

#include "files.h"

/* The text: each of `count` outputs depends on every file that was read.  false: the reasons are errors in `d`, or no memory
 * (o->mem->failed). */
bool depfile_text(const struct compiled *c, struct diag *d, const struct out_file *outputs, size_t count,
                  struct output *o);

#endif
