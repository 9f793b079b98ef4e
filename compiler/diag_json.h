/* Messages for programs: one JSON object a line (docs/errors.md says what is in it).
 *
 * Layer: beside diag.c, which calls it; over jansson.
 */
#ifndef COMPILER_DIAG_JSON_H
#define COMPILER_DIAG_JSON_H

#include "diag.h"

/* Writes the sorted messages, and how many there were beyond them. */
void diag_json_write(struct diag *d);

#endif
