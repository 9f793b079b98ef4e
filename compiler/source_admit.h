/* Layer: between diag and syntax; see source_admit.c. */
#ifndef COMPILER_SOURCE_ADMIT_H
#define COMPILER_SOURCE_ADMIT_H

#include "diag.h"

/* Gives the source, which is complete but for its lines, to the diag, under *index (UINT32_MAX: there was no memory), and
 * reports what keeps it from being parsed.  false: something does. */
bool source_admit(struct diag *d, struct source *source, uint32_t *index);

#endif
