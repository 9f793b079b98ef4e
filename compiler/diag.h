/* Messages of the compiler: errors with a permanent code and an underlined excerpt, notes at a second
 * place, one hint.
 *
 * Messages are collected while passes run and written in source order by diag_flush, so that passes are
 * free to find mistakes in any order.  The writer is a callback; nothing here touches stdio.
 *
 * Layer: above source.
 */
#ifndef COMPILER_DIAG_H
#define COMPILER_DIAG_H

#include <stdbool.h>

#include "codes.h"
#include "source.h"

enum { DIAG_MOST_ERRORS = 20 };

struct diag_sink {
    void (*write)(void *context, const char *bytes, size_t len); /* NULL: messages are counted only */
    /* Not NULL: told of each error as it is found, also of those beyond the cap.  The message lives as long as the diag; NULL: no
     * memory for it. */
    void (*see)(void *context, struct span at, enum diag_code code, const char *message);
    void *context;
    bool colour;
    const char *program; /* whose messages without a place are; NULL: policyc */
    bool json;           /* a JSON object a line (diag_json.h), without colour and excerpts */
};

struct diag_record;

struct diag {
    struct diag_sink sink;
    struct mem mem; /* of the messages and of the sources, which outlive a failed compile */
    struct source *sources;
    size_t source_count, source_room;
    struct diag_record *records;
    size_t record_count, record_room;
    size_t error_count; /* also of errors beyond the cap, which are not kept */
    bool last_kept;     /* notes and hints of a dropped error are dropped too */
    bool io;            /* some error was that a file could not be read */
};

void diag_init(struct diag *d, struct diag_sink sink);
void diag_free(struct diag *d);

/* Adds a source that the spans' `file` then names; returns its index, or UINT32_MAX without memory. */
uint32_t diag_add_source(struct diag *d, const struct source *s);

#if defined(__GNUC__)
#define DIAG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DIAG_PRINTF(text, first)
#endif

void diag_error(struct diag *d, struct span at, enum diag_code code, const char *format, ...)
    DIAG_PRINTF(4, 5);
/* Without a place: no file, out of memory. */
void diag_error_nowhere(struct diag *d, enum diag_code code, const char *format, ...) DIAG_PRINTF(3, 4);
/* Both belong to the error before them. */
void diag_note(struct diag *d, struct span at, const char *format, ...) DIAG_PRINTF(3, 4);
void diag_hint(struct diag *d, const char *format, ...) DIAG_PRINTF(2, 3);

size_t diag_error_count(const struct diag *d);

/* Writes all messages, sorted by file and place, and forgets them; the count stays. */
void diag_flush(struct diag *d);

/* Text of a file as it may be printed: what is not legible (unicode.h) and broken UTF-8 escaped, cut at some
 * 80 characters. The result lives in the diag's arena and ends in NUL. */
const char *diag_quote(struct diag *d, struct text t);

#endif
