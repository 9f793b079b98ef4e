/* Channels that are said to be within another: `within OTHER;` in a channel asserts that OTHER accepts all that this one does.
 *
 * It is proved as `policyc diff` proves that a new version is no wider than an old one, out of the tables (diff.h): grants with all
 * their parts, opcodes, protocols, spellings, budgets, the root.  What cannot be shown is an error for each thing that is lost.
 *
 * Layer: above diff and tables, under channels.
 */
#ifndef COMPILER_WITHIN_H
#define COMPILER_WITHIN_H

#include "tables.h"

/* `tables` of all models.  false: the reasons are errors in `d`. */
bool withins_prove(const struct compiled *c, const struct tables *tables, struct diag *d);

#endif
