/* The day that `fail_open` blocks are held against.
 *
 * Layer: a part of the programs policyc and upk-run, over the compiler.
 */
#ifndef TOOLS_TODAY_H
#define TOOLS_TODAY_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

/* YYYYMMDD of `given`, the value of --today; NULL: of the clock, in UTC.  false: it is no date. */
bool today_read(const char *given, uint32_t *today);
/* The same, and an error in `d` where it is none. */
bool today_find(const char *given, struct diag *d, uint32_t *today);

#endif
