/* What the fragments that ship with policyc are called and which classes they grant: for hints alone, so that
 * nothing is read for them.
 *
 * Layer: data, beside suggest.
 */
#ifndef COMPILER_SHIPPED_H
#define COMPILER_SHIPPED_H

#include "mem.h"

struct shipped {
    const char *file, *name; /* "std/datetime.policy", "std.datetime" */
};

struct shipped_class {
    const char *module, *name, *file;
};

/* In the order of the fragments; a class that two fragments grant is there twice. */
size_t shipped_class_count(void);
const struct shipped_class *shipped_class_at(size_t i);

const struct shipped *shipped_fragment(const struct shipped_class *class);

/* The n-th fragment, from 0, that this one must stand beside; NULL: there are no more. */
const struct shipped *shipped_need(const struct shipped *s, size_t n);

/* NULL: none is it. */
const struct shipped *shipped_of_class(struct text module, struct text name);
/* The same, of what has a row of that name: classes, functions and consts, but no class that only a function makes. */
const struct shipped *shipped_of_row(struct text module, struct text name);
/* The next one of those, behind `before`. */
const struct shipped *shipped_next_of_row(struct text module, struct text name, const struct shipped *before);
/* The class of that name, whatever its module. */
const struct shipped_class *shipped_named(struct text name);
/* By a name that may be its own: `datetime', `std.datetime', `std/datetime.policy'. */
const struct shipped *shipped_of_name(struct text name);
/* The same, where the name is misspelt. */
const struct shipped *shipped_near(struct text name);
/* Is the file in a folder of shipped fragments, so that it never comes from anywhere else? */
bool shipped_owns(struct text file);

#endif
