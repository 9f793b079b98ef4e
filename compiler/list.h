/* A listing: what a compiled policy grants, line by line, to be read and diffed.
 *
 * It is made of the table alone, so that it says what the runtime does and nothing else.  Lines are sorted and
 * stand for themselves; types are those of the language.
 *
 * Layer: above list_type.
 */
#ifndef COMPILER_LIST_H
#define COMPILER_LIST_H

#include "../runtime/upk_tables.h"
#include "output.h"

/* Appends the listing of a channel; with `spellings` also how streams may write each name that is granted.
 * false: out of memory. */
bool list_policy(const struct upk_policy *p, bool spellings, struct output *o);

#endif
