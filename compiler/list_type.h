/* Types of a table in the language of policies, for the listing.
 *
 * A type is written out where it stands, unless it is recursive, nested deep, or long and used more than once:
 * then it has a name, and one line says what the name means.  So the text of all types grows with the table,
 * however much of it is shared, and writing nests as deep as a small constant.
 *
 * Layer: above notation, below list.c.
 */
#ifndef COMPILER_LIST_TYPE_H
#define COMPILER_LIST_TYPE_H

#include "../runtime/upk_tables.h"
#include "output.h"

struct type_note;

/* The i-th type that `type` holds directly; false: it holds no more. */
bool type_part(const struct upk_policy *p, uint32_t type, uint32_t i, uint32_t *part);

struct type_lines {
    struct mem *mem;
    const struct upk_policy *policy; /* borrowed */
    struct type_note *notes;         /* by type */
    uint32_t *stamps;                /* by class: the number of the union that last wrote it */
    uint32_t stamp;                  /* the last such number; stamps of notes are others */
    uint32_t *named;                 /* types with a name, in the order of the names */
    uint32_t named_count;
};

/* Looks at all types that root and grants reach.  false: out of memory. */
bool type_lines_init(struct type_lines *l, const struct upk_policy *p, struct mem *m);

struct text type_name(const struct type_lines *l, uint32_t type); /* empty: none */
/* What the name of a type means. */
void type_put_meaning(struct type_lines *l, struct output *o, uint32_t type);

void type_put(struct type_lines *l, struct output *o, uint32_t type);
/* Where no union may stand bare. */
void type_put_atom(struct type_lines *l, struct output *o, uint32_t type);
/* What stands between the parentheses of call, new and func. */
void type_put_arguments(struct type_lines *l, struct output *o, uint32_t tuple);
void type_put_record(struct type_lines *l, struct output *o, uint32_t record);
/* `module::Name` */
void type_put_qualified(struct output *o, const struct upk_policy *p, struct upk_text module,
                        struct upk_text qualname);

#endif
