/* Which shipped fragment grants a class: for hints alone, so that nothing is read for them.
 *
 * Layer: data, beside suggest.
 */
#ifndef COMPILER_SHIPPED_H
#define COMPILER_SHIPPED_H

#include "mem.h"

struct shipped {
    const char *file, *name; /* "std/datetime.policy", "std.datetime" */
};

/* NULL: none is it. */
const struct shipped *shipped_of_class(struct text module, struct text name);
/* By a name that may be its own: `datetime', `std.datetime', `std/datetime.policy'. */
const struct shipped *shipped_of_name(struct text name);
/* The same, where the name is misspelt. */
const struct shipped *shipped_near(struct text name);

#endif
