/* Messages as JSON.  Layer: see diag_json.h.
 *
 * Lines are plain ASCII: whatever bytes a policy or a file name holds, the output is JSON and harmless on a
 * terminal.
 */
#include "diag_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag_record.h"
#include "output.h"

/* Bytes that are no UTF-8 as `\xHH`: file names, and messages that were cut within a character. */
static json_t *text_value(struct diag *d, struct text t) {
    struct output out;
    output_init(&out, &d->mem);
    for (size_t i = 0; i < t.len;) {
        uint32_t code;
        const size_t len = utf8_decode(t.at + i, t.len - i, &code);
        if (len != 0)
            output_bytes(&out, t.at + i, len);
        else
            output_print(&out, "\\x%02X", (unsigned)(unsigned char)t.at[i]);
        i += len != 0 ? len : 1;
    }
    return out.len != 0 ? json_stringn(out.bytes, out.len) : json_string("");
}

static json_t *string_value(struct diag *d, const char *text) {
    return text != NULL ? text_value(d, text_of(text)) : json_null();
}

/* json_object_set_new frees the value where it cannot keep it. */
static bool add(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, value) == 0;
}

/* Both ends of the span; the second is the place behind it. */
static bool add_place(struct diag *d, json_t *object, struct span at) {
    static const char *const keys[] = {"file",       "line",   "column",    "end_line",
                                       "end_column", "offset", "end_offset"};
    enum { KEYS = sizeof keys / sizeof *keys };
    if (at.file >= d->source_count) {
        bool good = true;
        for (size_t i = 0; i < KEYS; i++) good = add(object, keys[i], json_null()) && good;
        return good;
    }
    const struct source *const s = &d->sources[at.file];
    const uint32_t end = at.to > at.from ? at.to : at.from;
    const struct place from = source_place(s, at.from), to = source_place(s, end);
    const uint32_t numbers[] = {from.line, from.column, to.line, to.column, at.from, end};
    bool good = add(object, keys[0], text_value(d, s->name));
    for (size_t i = 1; i < KEYS; i++) good = add(object, keys[i], json_integer(numbers[i - 1])) && good;
    return good;
}

static json_t *note_value(struct diag *d, const struct diag_note_record *n) {
    json_t *const object = json_object();
    if (object == NULL || !add(object, "message", string_value(d, n->message)) ||
        !add_place(d, object, n->at)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *notes_value(struct diag *d, const struct diag_record *r) {
    json_t *const notes = json_array();
    bool good = notes != NULL;
    for (const struct diag_note_record *n = r->notes; good && n != NULL; n = n->next) {
        good = json_array_append_new(notes, note_value(d, n)) == 0;
    }
    if (!good) {
        json_decref(notes);
        return NULL;
    }
    return notes;
}

static json_t *record_value(struct diag *d, const struct diag_record *r) {
    char code[16];
    json_t *const object = json_object();
    snprintf(code, sizeof code, "P%04d", (int)r->code);
    if (object == NULL || !add(object, "severity", json_string("error")) ||
        !add(object, "code", json_string(code)) || !add(object, "message", string_value(d, r->message)) ||
        !add_place(d, object, r->at) || !add(object, "notes", notes_value(d, r)) ||
        !add(object, "hint", string_value(d, r->hint))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* What is not said for want of memory must not pass for no error. */
static void write_line(struct diag *d, json_t *object) {
    static const char no_memory[] =
        "{\"severity\":\"error\",\"code\":\"P0003\",\"message\":\"out of memory\","
        "\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,"
        "\"end_column\":null,\"offset\":null,\"end_offset\":null,\"notes\":[],\"hint\":null}";
    char *const line = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    const char *const text = line != NULL ? line : no_memory;
    d->sink.write(d->sink.context, text, strlen(text));
    d->sink.write(d->sink.context, "\n", 1);
    free(line);
    json_decref(object);
}

void diag_json_write(struct diag *d) {
    for (size_t i = 0; i < d->record_count; i++) write_line(d, record_value(d, &d->records[i]));
    if (d->error_count > d->record_count) {
        const json_int_t more = (json_int_t)(d->error_count - d->record_count);
        write_line(d, json_pack("{s:s, s:I}", "severity", "more", "errors", more));
    }
}
