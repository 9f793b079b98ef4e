/* A message as it is kept until it is written.
 *
 * Layer: private to diag.c, which collects, and diag_json.c.
 */
#ifndef COMPILER_DIAG_RECORD_H
#define COMPILER_DIAG_RECORD_H

#include "diag.h"

struct diag_note_record {
    struct diag_note_record *next;
    struct span at;
    const char *message; /* NULL: there was no memory for it; of all messages */
};

struct diag_record {
    struct span at; /* of no source: without a place */
    enum diag_code code;
    size_t order; /* keeps the sort stable */
    const char *message, *hint;
    struct diag_note_record *notes, *last_note;
};

#endif
