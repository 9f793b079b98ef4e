/* Inclusion between two compiled policies: does `y` take every value that `x` takes?
 *
 * What is said is sound and not complete: true is proved, false means that it could not be shown.  A question is a pair of types.
 * Pairs are written down as a graph and refuted along its edges, as values are matched by the runtime (shape_cyclic.c): a pair
 * that nothing refutes holds, so recursive types need no end, and neither do they need to be the same ones.  The work is linear
 * in the edges, and those are bounded.
 *
 *   inclusion.c        the graph, and types that hold types
 *   inclusion_leaf.c   types of single values
 *   inclusion_form.c   ways to make an object, and rows
 *   inclusion_alike.c  what is tried first
 *
 * Where it is not complete: an alternative of a union must be within one alternative of the other, or, where it takes single
 * values, within the ranges of several put together; containers of two alternatives are never put together.  No type is
 * seen to be empty, except by its own bounds.
 *
 * Objects and names are taken as the runtime takes them: an object is of a class if a row makes it so, whatever it holds.  So what is
 * said of types holds for documents whose rows are within those of `y`, too, which is asked by itself (inclusion_form).
 *
 * Layer: above intern, over upk_tables.h.
 */
#ifndef COMPILER_INCLUSION_H
#define COMPILER_INCLUSION_H

#include "../runtime/upk_tables.h"
#include "intern.h"

struct inclusion {
    const struct upk_policy *x, *y; /* borrowed */
    struct mem *mem;
    const uint64_t *x_alike, *y_alike; /* by type: inclusion_alike */
    uint32_t *classes, *rows;          /* by class and row of x: that of the same name of y; 0: none */
    struct array nodes, edges, fallen;
    struct intern ids;
    size_t expanded;
    uint64_t work;
    bool exhausted; /* too much was asked: from then on nothing can be shown */
};

/* false: out of memory. */
bool inclusion_init(struct inclusion *i, const struct upk_policy *x, const struct upk_policy *y,
                    struct mem *m);

/* A type of x in one of y. */
bool inclusion_type(struct inclusion *i, uint32_t x, uint32_t y);

/* How many members a container has. */
struct inclusion_counts {
    uint64_t lo, hi;
};
struct inclusion_counts inclusion_counts(const struct upk_policy *p, const struct upk_type *t);
/* Type of a member of what is no dict; 0: there is none in this place. */
uint32_t inclusion_member_at(const struct upk_policy *p, const struct upk_type *t, uint32_t place);

/* ---- inclusion_form.c */

/* Parts of a form that are types; 0 where it has none. */
enum inclusion_part {
    INCLUSION_ARGS,
    INCLUSION_KW,
    INCLUSION_STATE,
    INCLUSION_ITEMS,
    INCLUSION_KEY,
    INCLUSION_VALUE,
    INCLUSION_ADDS,
    INCLUSION_PARTS /* how many there are */
};
uint32_t inclusion_part_of(const struct upk_form *f, enum inclusion_part part);

/* Whatever is made by x's form with such a part is made by y's, as far as this part goes. */
bool inclusion_part(struct inclusion *i, const struct upk_form *x, const struct upk_form *y,
                    enum inclusion_part part);
/* The checks of x's form suffice for y's. */
bool inclusion_check(const struct upk_form *x, const struct upk_form *y);
/* Does the result have the same name? */
bool inclusion_result(const struct inclusion *i, const struct upk_form *x, const struct upk_form *y);
/* The value of a member of an enum: keys of dicts that are equal under y must be so under x. */
bool inclusion_value(const struct inclusion *i, const struct upk_form *x, const struct upk_form *y);

/* Is all that x's form makes made by some form of a row of y, with no more hooks, and is the class the same? */
bool inclusion_form(struct inclusion *i, uint32_t form, uint32_t row);
/* A row of x in one of y: what the forms do not say, in what they have in common. */
bool inclusion_frozen(const struct inclusion *i, uint32_t x,
                      uint32_t y); /* what dicts look at in their keys */
bool inclusion_calls(const struct inclusion *i, uint32_t x, uint32_t y); /* budget of calls */

/* ---- private to the parts above */

/* A number for each type; types of the same number may be the same.  NULL: out of memory. */
const uint64_t *inclusion_alike(const struct upk_policy *p, struct mem *m);

/* Takes from what may be done; false: there is none left. */
bool inclusion_spend(struct inclusion *i, size_t n);

/* Kinds of which values hold no others.  Those of objects are among them: proofs stop there. */
bool inclusion_is_leaf(const struct upk_type *t);
/* Such a type, with indices of x, in any type of y. */
bool inclusion_leaf(struct inclusion *i, const struct upk_type *t, uint32_t y);

#endif
