/* From the (file, line) that tables carry back to a span for messages.
 *
 * Layer: above diag and compile.h.
 */
#ifndef COMPILER_PLACE_H
#define COMPILER_PLACE_H

#include "compile.h"

/* First word of a line; `file` is an index in compiled.files, `line` counts from 1. */
struct span place_of_line(const struct compiled *c, const struct diag *d, uint32_t file, uint32_t line);

#endif
