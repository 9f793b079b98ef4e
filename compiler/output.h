/* Text in the making: a growing buffer with printf.
 *
 * Layer: above mem.  A failed allocation sticks in the arena.
 */
#ifndef COMPILER_OUTPUT_H
#define COMPILER_OUTPUT_H

#include "diag.h"

struct output {
    struct mem *mem;
    char *bytes;
    size_t len, room;
};

void output_init(struct output *o, struct mem *m);
void output_bytes(struct output *o, const char *bytes, size_t len);
void output_text(struct output *o, const char *text);
/* At most some 500 bytes at a time. */
void output_print(struct output *o, const char *format, ...) DIAG_PRINTF(2, 3);

/* The bytes as a C string literal over several lines, each byte an escape of three octal digits: no text can end it. */
void output_literal(struct output *o, const char *bytes, size_t len);

/* PATH with `ending` in the place of `.c`, or behind it where it does not end so; in the arena.  NULL: no
 * memory. */
char *output_beside(struct mem *m, const char *path, const char *ending);

#endif
