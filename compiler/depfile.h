/* Dependency files for make: `policyc -MD`.
 *
 * Layer: beside main.c.
 */
#ifndef COMPILER_DEPFILE_H
#define COMPILER_DEPFILE_H

#include "compile.h"

/* Writes, beside PATH, PATH with `.d` in the place of `.c`: PATH and its header depend on every file that
 * was read.  false: the reasons are errors in `d`. */
bool depfile_write(const struct compiled *c, struct diag *d, const char *path);

#endif
