/* Dependency files for make: `policyc -MD`.
 *
 * Layer: below emit.h, over output.h.
 */
#ifndef COMPILER_DEPFILE_H
#define COMPILER_DEPFILE_H

#include "compile.h"
#include "output.h"

/* The text for PATH: PATH and its header depend on every file that was read.  false: the reasons are errors in
 * `d`, or no memory (o->mem->failed). */
bool depfile_text(const struct compiled *c, struct diag *d, const char *path, struct output *o);

#endif
