/* The blocks about a child as tables of the runtime: the same for all channels of a policy.
 *
 * Layer: private to tables.c; emit_child.c writes them as C.
 */
#ifndef COMPILER_TABLES_CHILD_H
#define COMPILER_TABLES_CHILD_H

#include "tables.h"

/* Fills out->environment, out->confinement, what belongs to them, and those members of out->policy, whose digest is there.  Names are
 * looked up as in `other` where it is not NULL: another channel of the same compile.  false: no memory (out->mem.failed), or gperf
 * failed: *status and *error say how. */
bool tables_child(const struct compiled *c, const struct tables *other, struct tables *out,
                  enum perfect_status *status, int *error);

#endif
