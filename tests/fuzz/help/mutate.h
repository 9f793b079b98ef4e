/* Mutations of pickles for libFuzzer, which calls LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver by their names.
 *
 * Layer: tests only.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that is being made: cut off at `cap`. */
struct made {
    uint8_t *at;
    size_t len, cap;
};

void made_add(struct made *to, const void *bytes, size_t len);
void made_byte(struct made *to, unsigned byte);

/* xorshift: a seed gives one sequence. */
struct dice {
    uint64_t state;
};

uint32_t dice_roll(struct dice *d, size_t sides); /* 0 .. sides - 1; sides > 0 */

/* One opcode with its argument; `op` is 0 for bytes that are none. */
struct piece {
    const uint8_t *at;
    size_t len;
    uint8_t op;
};

/* Cuts a stream into at most `most` pieces; returns their number.  Every byte belongs to a piece, until `most` is reached. */
size_t pieces_cut(const uint8_t *data, size_t size, struct piece *pieces, size_t most);
/* Of the first PROTO, or 0. */
unsigned pieces_protocol(const struct piece *pieces, size_t count);

/* Writes the pieces as a stream that the machine can run: what would fail for want of a fitting stack, mark, memo entry or
 * protocol is left out, frames are made anew, and one value is left at STOP. */
void pieces_mend(const struct piece *pieces, size_t count, struct dice *d, struct made *out);

/* Opcodes that push one value of any kind, of at most this protocol. */
void value_make(struct dice *d, unsigned protocol, unsigned depth, struct made *out);
/* An argument of the same opcode; the piece as it was where it has none. */
void argument_make(struct dice *d, const struct piece *piece, struct made *out);

#endif
