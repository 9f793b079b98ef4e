/* A listing: what a compiled policy grants, line by line, to be read and diffed.
 *
 * It is made of the table alone, so that it says what the runtime does and nothing else.  Lines are sorted and
 * stand for themselves; types are those of the language.
 *
 * Layer: above list_type.
 */
#ifndef COMPILER_LIST_H
#define COMPILER_LIST_H

#include "list_type.h"

/* Appends the listing of a channel; with `spellings` also how streams may write each name that is granted.
 * false: out of memory. */
bool list_policy(const struct upk_policy *p, bool spellings, struct output *o);

/* Where a grant stands, as a comment behind it; nothing where line is 0. */
void list_put_source(struct output *o, const struct upk_policy *p, uint32_t number, uint32_t line);

/* Appends one way to make an object as a line of the listing has it: maker and steps. */
void list_put_form(struct type_lines *types, struct output *o, const struct upk_row *row,
                   const struct upk_form *f);

#endif
