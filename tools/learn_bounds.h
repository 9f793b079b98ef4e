/* Readable bounds: what `policyc learn` rounds ints and lengths to, outward.
 *
 * Layer: parts of the program policyc; data.
 */
#ifndef TOOLS_LEARN_BOUNDS_H
#define TOOLS_LEARN_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../compiler/output.h"

/* Of ints.  A step is 1 or more; the last one is no bound at all. */
unsigned bounds_int_step(const uint8_t *bytes,
                         size_t len); /* of the magnitude: little-endian two's complement */
/* The same bytes as 128 bits of two's complement, low word first.  false: they are more. */
bool bounds_int_words(const uint8_t *bytes, size_t len, uint64_t word[2]);
/* The least step that takes a bound of a table: 128 bits of two's complement, low word first. */
unsigned bounds_int_step_of(const uint64_t word[2], bool negative, bool open);
/* `int[low..high]`; 0: none was met on that side. */
void bounds_put_int(struct output *o, unsigned low, unsigned high);

/* Of lengths: characters, bytes or members. */
enum bounds_of { BOUNDS_CHARS, BOUNDS_BYTES, BOUNDS_MEMBERS };
unsigned bounds_step(enum bounds_of of, uint64_t length);
void bounds_put(struct output *o, enum bounds_of of, unsigned step); /* `[..1_000]` */

/* Of budgets: a round figure of `least` or more, of 1, 2 and 5 times a power of ten, or a power of two in bytes. */
uint64_t bounds_round(uint64_t least);
uint64_t bounds_round_size(uint64_t least);

#endif
