/* Generated C: the tables of all channels as constant data, and a header with their symbols.
 *
 * Layer: top of the back end.  What is written depends on the tables alone: no dates, no paths.
 */
#ifndef COMPILER_EMIT_H
#define COMPILER_EMIT_H

#include "output.h"
#include "tables.h"

/* Both texts of `count` tables, in the arena of the outputs.  false: the reasons are errors in `d`. */
bool emit_texts(const struct compiled *c, const struct tables *tables, size_t count, struct diag *d,
                struct output *source, struct output *header);

/* Lowers every channel and writes PATH and, beside it, PATH with `.h` in the place of `.c`, and with `depfile`
 * also with `.d`; with `path` NULL all of it but the writing.  false: the reasons are errors in `d`; d->io says
 * whether a file could not be written. */
bool emit_files(const struct compiled *c, struct diag *d, const char *path, bool depfile);

#endif
