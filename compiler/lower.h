/* The state of one lowering: a channel's model becomes the tables of a struct upk_policy.
 *
 * Layer: private to tables.c, lower.c and lower_types.c; above intern and names.
 */
#ifndef COMPILER_LOWER_H
#define COMPILER_LOWER_H

#include "compile.h"
#include "intern.h"
#include "names.h"

/* A row in the making. */
struct lower_row {
    struct model_name name;        /* canonical */
    const struct model_row *grant; /* NULL: known without being granted */
    enum upk_special special;
    struct model_name target; /* UPK_SPECIAL_NEW_OF: the class */
    bool prefix;              /* a dotted name goes through it */
};

struct lower {
    struct mem *mem; /* of the tables */
    const struct compiled *compiled;
    const struct model *model;
    struct diag *diag;
    struct names names;
    struct pool pool;

    struct array plan;   /* struct lower_row, sorted, each name once; row id = index + 1 */
    struct array places; /* struct span, of each row; zeros: it is not granted */
    struct array rows, forms, types, elems, fields, alts, ranges;
    struct array classes; /* struct upk_class; in order of use until classes_sort */
    struct unique bounds;
    struct array charsets;
    struct array keys; /* struct upk_key */
    struct array opens, denies;

    struct intern class_ids, type_ids, key_ids;
    struct array visits; /* of types: lower_types.c */
};

/* rows, forms and everything below them.  false: mistakes are reported, or no memory. */
bool lower_rows(struct lower *l);
bool lower_keys(struct lower *l);
/* After lower_rows. */
void lower_opens(struct lower *l);

/* Row id of a canonical name, 0: none. */
uint32_t lower_row_id(const struct lower *l, struct model_name name);
/* The canonical name of what the policy writes. */
struct model_name lower_name(struct lower *l, struct model_name name);
uint32_t lower_class(struct lower *l, struct model_name name);

/* Index of a type's table entry; NULL: 0. */
uint32_t lower_type(struct lower *l, struct model_type *type);
/* Numbers classes in sorted order, everywhere. */
void lower_sort_classes(struct lower *l);
/* Around all calls of lower_type; the end takes back the marks that it left in the model. */
void lower_types_start(struct lower *l);
void lower_types_end(struct lower *l);

#endif
