/* Names of the generated C: one symbol for each channel, one enum constant for each granted row.
 *
 * A policy's text never reaches generated C as it is: identifiers are made here, of [A-Za-z0-9_] alone.  Where two rows would
 * have one, each escapes what tells it from the other, so that neither has the plain one; channels that fall together are an
 * error.
 *
 * Layer: between tables and emit.
 */
#ifndef COMPILER_SYMBOLS_H
#define COMPILER_SYMBOLS_H

#include "tables.h"

struct channel_symbols {
    struct text symbol;     /* of the struct upk_policy */
    struct text find_class; /* of its look-up functions: from protocol 3 on, and below */
    struct text find_class_old;
    struct text *rows; /* enum constants by row id; empty: not granted */
};

/* One entry for each of the `count` tables, in the arena.  false: names that clash or that C keeps for
 * itself are reported, or no memory (mem.failed). */
bool symbols_make(struct mem *m, const struct compiled *c, const struct tables *tables, size_t count,
                  struct diag *d, struct channel_symbols **out);

#endif
