/* The shipped policies, compiled into a program.
 *
 * Layer: hosts; over cli.h.
 */
#ifndef TOOLS_SHIPPED_POLICIES_H
#define TOOLS_SHIPPED_POLICIES_H

#include "cli.h"

/* Prints their names, POLICY[:CHANNEL], one a line. */
void shipped_policies_list(void);

/* Is it the name of a file (FILE.policy, or with a slash), with or without a channel? */
bool shipped_policies_is_file(const char *name);

/* `name` or `name:channel`; the name alone stands for the only channel there is.  NULL: there is none, or several; said for `c`. */
const struct upk_policy *shipped_policies_find(const struct cli *c, const char *name);

/* The channel of this name beside `policy`; NULL: none. */
const struct upk_policy *shipped_policies_beside(const struct upk_policy *policy, const char *channel);

#endif
