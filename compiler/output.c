/* Text in the making.  Layer: see output.h. */
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void output_init(struct output *o, struct mem *m) { *o = (struct output){.mem = m}; }

static bool output_room(struct output *o, size_t count) {
    if (count <= o->room - o->len) return true;
    const size_t room = (o->len + count) * 2 + 4096;
    char *const bytes = mem_alloc(o->mem, room, 1);
    if (!bytes) return false;
    if (o->len) memcpy(bytes, o->bytes, o->len);
    o->bytes = bytes;
    o->room = room;
    return true;
}

void output_bytes(struct output *o, const char *bytes, size_t len) {
    if (len == 0 || !output_room(o, len)) return;
    memcpy(o->bytes + o->len, bytes, len);
    o->len += len;
}

void output_text(struct output *o, const char *text) { output_bytes(o, text, strlen(text)); }

void output_print(struct output *o, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int len = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof line)
        o->mem->failed = true;
    else
        output_bytes(o, line, (size_t)len);
}

void output_literal(struct output *o, const char *bytes, size_t len) {
    enum { CHARS_PER_LINE = 24 };
    for (size_t i = 0; i < len; i++) {
        const unsigned c = (unsigned char)bytes[i];
        const char escape[4] = {'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
                                (char)('0' + (c & 7))};
        if (i % CHARS_PER_LINE == 0) output_text(o, i == 0 ? "\n    \"" : "\"\n    \"");
        output_bytes(o, escape, sizeof escape);
    }
    output_text(o, len == 0 ? "\"\"" : "\"");
}

char *output_beside(struct mem *m, const char *path, const char *ending) {
    const size_t len = strlen(path), more = strlen(ending) + 1;
    const size_t stem = len > 2 && memcmp(path + len - 2, ".c", 2) == 0 ? len - 2 : len;
    char *const out = mem_alloc(m, stem + more, 1);
    if (!out) return NULL;
    memcpy(out, path, stem);
    memcpy(out + stem, ending, more);
    return out;
}
