/* Text in the making: a growing buffer with printf, and files written from it.
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
/* At most some 500 bytes at a time. */
void output_print(struct output *o, const char *format, ...) DIAG_PRINTF(2, 3);

/* Writes a whole file; false: the reason is an error in `d`, d->io is set, and no half file is left. */
bool output_write(const struct output *o, const char *path, struct diag *d);

#endif
