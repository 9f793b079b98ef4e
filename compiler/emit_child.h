/* What emit.c and emit_child.c share: the blocks about a child, and key tables.
 *
 * Layer: private to them.
 */
#ifndef COMPILER_EMIT_CHILD_H
#define COMPILER_EMIT_CHILD_H

#include "../runtime/upk_tables.h"
#include "output.h"

/* Once for all channels of a file: nothing where the policy has no such blocks. */
void emit_child(struct output *o, const struct upk_policy *p);
/* The members of a struct upk_policy that lead there. */
void emit_child_members(struct output *o, const struct upk_policy *p);

/* emit.c.  Tables are named upk_`prefix`_..., the struct upk_keys upk_`prefix`_`name`; their pool is upk_`prefix`_pool. */
void emit_key_tables(struct output *o, const char *prefix, const struct upk_keys *k);
void emit_keys(struct output *o, const char *prefix, const char *name, const struct upk_keys *k);

#endif
