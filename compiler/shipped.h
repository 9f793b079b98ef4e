/* Which shipped fragment grants a module: for hints alone, so that nothing is read for them.
 *
 * Layer: data, beside suggest.
 */
#ifndef COMPILER_SHIPPED_H
#define COMPILER_SHIPPED_H

#include "mem.h"

/* The last part of the fragment's name: "datetime" of std.datetime in std/datetime.policy.  NULL: none is it. */
const char *shipped_of_module(struct text module);
/* The same, of a name that may be its own: `datetime', `std.datetime'. */
const char *shipped_of_name(struct text name);

#endif
