/* Collecting and writing of messages.
 *
 * Layer: above source.
 */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag_json.h"
#include "diag_record.h"
#include "unicode.h"

enum { MESSAGE_BYTES = 640, QUOTE_CHARS = 80, EXCERPT_CHARS = 100, NOWHERE = UINT32_MAX };

static const size_t DIAG_MEMORY = (size_t)512 << 20;

void diag_init(struct diag *d, struct diag_sink sink) {
    *d = (struct diag){.sink = sink};
    mem_init(&d->mem, DIAG_MEMORY);
}

void diag_free(struct diag *d) {
    mem_free(&d->mem);
    *d = (struct diag){.sink = d->sink, .error_count = d->error_count, .io = d->io};
}

uint32_t diag_add_source(struct diag *d, const struct source *s) {
    struct source *grown = mem_grow(&d->mem, d->sources, d->source_count, &d->source_room, sizeof *s);
    if (grown == NULL || d->source_count >= UINT32_MAX - 1) {
        return UINT32_MAX;
    }
    d->sources = grown;
    d->sources[d->source_count] = *s;
    return (uint32_t)d->source_count++;
}

size_t diag_error_count(const struct diag *d) { return d->error_count; }

static bool has_reader(const struct diag *d) { return d->sink.write != NULL || d->sink.see != NULL; }

const char *diag_quote(struct diag *d, struct text t) {
    enum { WORST = 10 }; /* \u{10FFFF} */
    if (!has_reader(d)) {
        return "";
    }
    char *out = mem_alloc(&d->mem, QUOTE_CHARS + 1, WORST);
    if (out == NULL) {
        return "?";
    }
    size_t n = 0, chars = 0;
    for (size_t i = 0; i < t.len && chars < QUOTE_CHARS; chars++) {
        uint32_t code = 0;
        size_t len = utf8_decode(t.at + i, t.len - i, &code);
        if (chars == QUOTE_CHARS - 1 && i + (len == 0 ? 1 : len) < t.len) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        if (len == 0) {
            n += (size_t)snprintf(out + n, WORST + 1, "\\x%02X", (unsigned)(unsigned char)t.at[i]);
            i++;
        } else if (!code_is_legible(code)) {
            /* Unlike a byte that is no character. */
            n += (size_t)snprintf(out + n, WORST + 1, code < 0x80 ? "\\x%02X" : "\\u{%X}", (unsigned)code);
            i += len;
        } else {
            memcpy(out + n, t.at + i, len);
            n += len;
            i += len;
        }
    }
    out[n] = '\0';
    return out;
}

/* NULL where there is no room or nobody reads. */
static const char *format_message(struct diag *d, const char *format, va_list args) {
    char line[MESSAGE_BYTES];
    if (!has_reader(d)) {
        return NULL;
    }
    int n = vsnprintf(line, sizeof line, format, args);
    struct text copy;
    if (n < 0 || !mem_text(&d->mem, line, strlen(line), &copy)) {
        return NULL;
    }
    return copy.at;
}

static void error_add(struct diag *d, struct span at, enum diag_code code, const char *format, va_list args) {
    d->error_count++;
    d->last_kept = false;
    const bool kept = d->record_count < DIAG_MOST_ERRORS && d->sink.write != NULL;
    const char *const message = kept || d->sink.see != NULL ? format_message(d, format, args) : NULL;
    if (d->sink.see != NULL) {
        d->sink.see(d->sink.context, at, code, message);
    }
    if (!kept) {
        return;
    }
    struct diag_record *grown =
        mem_grow(&d->mem, d->records, d->record_count, &d->record_room, sizeof *grown);
    if (grown == NULL) {
        return;
    }
    d->records = grown;
    struct diag_record *r = &d->records[d->record_count];
    *r = (struct diag_record){.at = at, .code = code, .order = d->record_count};
    d->record_count++;
    r->message = message;
    d->last_kept = true;
}

void diag_error(struct diag *d, struct span at, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_add(d, at, code, format, args);
    va_end(args);
}

void diag_error_nowhere(struct diag *d, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_add(d, (struct span){NOWHERE, 0, 0}, code, format, args);
    va_end(args);
}

void diag_note(struct diag *d, struct span at, const char *format, ...) {
    struct diag_note_record *note = d->last_kept ? mem_alloc(&d->mem, 1, sizeof *note) : NULL;
    if (note == NULL) {
        return;
    }
    va_list args;
    va_start(args, format);
    note->at = at;
    note->message = format_message(d, format, args);
    va_end(args);
    struct diag_record *r = &d->records[d->record_count - 1];
    if (r->notes == NULL) {
        r->notes = note;
    } else {
        r->last_note->next = note;
    }
    r->last_note = note;
}

void diag_hint(struct diag *d, const char *format, ...) {
    if (!d->last_kept) {
        return;
    }
    va_list args;
    va_start(args, format);
    d->records[d->record_count - 1].hint = format_message(d, format, args);
    va_end(args);
}

/* Writing */

static void put_bytes(struct diag *d, const char *at, size_t len) { d->sink.write(d->sink.context, at, len); }

static void put(struct diag *d, const char *text) { put_bytes(d, text, strlen(text)); }

static void put_colour(struct diag *d, const char *code) {
    if (d->sink.colour) {
        put(d, code);
    }
}

static void put_repeated(struct diag *d, char c, size_t count) {
    for (; count > 0; count--) {
        put_bytes(d, &c, 1);
    }
}

/* The line with the span underlined; of a long line only a part around the span. */
static void put_excerpt(struct diag *d, const struct source *s, struct span at, char mark,
                        const char *colour) {
    struct place place = source_place(s, at.from);
    struct text line = source_line(s, place.line);
    size_t from = (size_t)(s->bytes.at + at.from - line.at);
    if (from > line.len) {
        from = line.len;
    }
    size_t to = at.to > at.from ? from + (at.to - at.from) : from;
    if (to > line.len) {
        to = line.len;
    }
    size_t before = utf8_length(line.at, from), under = utf8_length(line.at + from, to - from);
    size_t skip = before > EXCERPT_CHARS * 3 / 4 ? before - EXCERPT_CHARS / 2 : 0;
    char gutter[32];
    snprintf(gutter, sizeof gutter, "%5lu | ", (unsigned long)place.line);
    put(d, gutter);
    if (skip != 0) {
        put(d, "...");
    }
    size_t chars = 0;
    bool cut = false;
    for (size_t i = 0; i < line.len; chars++) {
        uint32_t code = 0;
        size_t len = utf8_decode(line.at + i, line.len - i, &code);
        if (len == 0) {
            len = 1;
        }
        if (chars >= skip + EXCERPT_CHARS) {
            cut = true;
            break;
        }
        if (chars >= skip) {
            put_bytes(d, code == '\t' ? " " : line.at + i, code == '\t' ? 1 : len);
        }
        i += len;
    }
    put(d, cut ? "...\n" : "\n");
    snprintf(gutter, sizeof gutter, "%5s | ", "");
    put(d, gutter);
    put_repeated(d, ' ', before - skip + (skip != 0 ? 3 : 0));
    put_colour(d, colour);
    size_t room = skip + EXCERPT_CHARS - before;
    under = under > room ? room : under;
    put_bytes(d, &mark, 1);
    put_repeated(d, mark == '^' ? '~' : mark, under > 1 ? under - 1 : 0);
    put_colour(d, "\033[0m");
    put(d, "\n");
}

static void put_place(struct diag *d, struct span at) {
    if (at.file >= d->source_count) {
        put(d, d->sink.program ? d->sink.program : "policyc");
        put(d, ": ");
        return;
    }
    const struct source *s = &d->sources[at.file];
    struct place place = source_place(s, at.from);
    char numbers[48];
    snprintf(numbers, sizeof numbers, ":%lu:%lu: ", (unsigned long)place.line, (unsigned long)place.column);
    put(d, diag_quote(d, s->name));
    put(d, numbers);
}

static void put_message(struct diag *d, struct span at, const char *kind, const char *colour,
                        const char *message, int code) {
    put_place(d, at);
    put_colour(d, colour);
    put(d, kind);
    put_colour(d, "\033[0m");
    put(d, message == NULL ? "(no memory for the message)" : message);
    if (code != 0) {
        char tail[24];
        snprintf(tail, sizeof tail, " [P%04d]", code);
        put(d, tail);
    }
    put(d, "\n");
    if (at.file < d->source_count && d->sources[at.file].quotable) {
        put_excerpt(d, &d->sources[at.file], at, code != 0 ? '^' : '~', colour);
    }
}

static int compare_records(const void *left, const void *right) {
    const struct diag_record *a = left, *b = right;
    /* NOWHERE comes first. */
    uint32_t file_a = a->at.file + 1, file_b = b->at.file + 1;
    if (file_a != file_b) {
        return file_a < file_b ? -1 : 1;
    }
    if (a->at.from != b->at.from) {
        return a->at.from < b->at.from ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static void write_text(struct diag *d) {
    for (size_t i = 0; i < d->record_count; i++) {
        const struct diag_record *r = &d->records[i];
        put_message(d, r->at, "error: ", "\033[1;31m", r->message, (int)r->code);
        for (const struct diag_note_record *n = r->notes; n != NULL; n = n->next) {
            put_message(d, n->at, "note: ", "\033[1;36m", n->message, 0);
        }
        if (r->hint != NULL) {
            put(d, "      = hint: ");
            put(d, r->hint);
            put(d, "\n");
        }
    }
    if (d->error_count > d->record_count) {
        char tail[64];
        snprintf(tail, sizeof tail, "policyc: %lu more errors are not shown\n",
                 (unsigned long)(d->error_count - d->record_count));
        put(d, tail);
    }
}

void diag_flush(struct diag *d) {
    if (d->sink.write == NULL || d->error_count == 0) {
        return;
    }
    if (d->record_count != 0) {
        qsort(d->records, d->record_count, sizeof *d->records, compare_records);
    }
    if (d->sink.json) {
        diag_json_write(d);
    } else {
        write_text(d);
    }
    d->record_count = 0;
    d->last_kept = false;
}
