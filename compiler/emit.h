/* Generated C: the tables of all channels as constant data, and a header with their symbols.
 *
 * Layer: top of the back end.  What is written depends on the tables alone: no dates, no paths.
 */
#ifndef COMPILER_EMIT_H
#define COMPILER_EMIT_H

#include "channels.h"
#include "output.h"

enum { EMIT_MOST_BYTES = 1 << 30 }; /* of all texts of a policy */

/* The first line of each C file. */
void emit_banner(const struct channels *all, struct output *o);
/* Both texts of all channels, in the arenas of the outputs.  false: out of memory. */
bool emit_texts(const struct channels *all, struct output *source, struct output *header);

/* Lowers every channel and writes PATH and, beside it, PATH with `.h` in the place of `.c`, and with `depfile`
 * also with `.d`; with `path` NULL all of it but the writing.  false: the reasons are errors in `d`; d->io says
 * whether a file could not be written. */
bool emit_files(const struct compiled *c, struct diag *d, const char *path, bool depfile);

#endif
