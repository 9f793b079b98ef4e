/* Short texts for people.
 *
 * Layer: private to the runtime, over doc.h alone.
 */
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEY_ROOM = 48 };

void error_copy(char *to, size_t size, const uint8_t *from, size_t len) {
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        bool plain = from[i] >= 0x20 && from[i] < 0x7f && from[i] != '\\';
        size_t want = plain ? 1 : 4;
        size_t rest = i + 1 < len ? 3 : 0; /* room for "..." unless this is the end */
        if (want + rest > size - 1 - n) {
            for (int dot = 0; dot < 3 && n < size - 1; dot++) to[n++] = '.';
            break;
        }
        if (plain) {
            to[n++] = (char)from[i];
        } else {
            to[n++] = '\\';
            to[n++] = 'x';
            to[n++] = hex[from[i] >> 4];
            to[n++] = hex[from[i] & 15];
        }
    }
    to[n] = 0;
}

struct text text_in(char *at, size_t size) {
    struct text t = {.at = at, .size = size};
    if (size > 0) at[0] = 0;
    return t;
}

/* The text is full; its first `kept` bytes may stay. */
static void mark_cut(struct text *t, size_t kept) {
    if (!t->bare && t->size > 4) memcpy(t->at + (kept < t->size - 4 ? kept : t->size - 4), "...", 4);
}

void text_add(struct text *t, const char *format, ...) {
    const bool full = t->len >= t->size;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(full ? NULL : t->at + t->len, full ? 0 : t->size - t->len, format, args);
    va_end(args);
    if (n < 0) return;
    t->len += (size_t)n;
    if (!full && t->len >= t->size) mark_cut(t, t->size);
}

void text_add_whole(struct text *t, const char *piece) {
    const size_t n = strlen(piece), at = t->len;
    t->len += n;
    if (at >= t->size) return;
    if (n < t->size - at) {
        memcpy(t->at + at, piece, n + 1);
    } else {
        mark_cut(t, at);
        if (t->len < t->size) t->len = t->size;
    }
}

bool name_is_plain(const uint8_t *p, size_t n) {
    bool start = true;
    for (size_t i = 0; i < n; i++) {
        bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') || p[i] == '_';
        bool digit = p[i] >= '0' && p[i] <= '9';
        if (p[i] == '.' ? start : !letter && !(digit && !start)) return false;
        start = p[i] == '.';
    }
    return !start;
}

/* error_copy has escaped backslashes, so a quote behind one can be nothing else. */
static void add_quoted_key(struct text *t, const char *name) {
    char quoted[2 * KEY_ROOM + 8];
    size_t n = 0;
    quoted[n++] = '[';
    quoted[n++] = '"';
    for (; *name; name++) {
        if (*name == '"') quoted[n++] = '\\';
        quoted[n++] = *name;
    }
    memcpy(quoted + n, "\"]", 3);
    text_add_whole(t, quoted);
}

void text_add_key(struct text *t, struct upk_value key) {
    char name[KEY_ROOM], piece[KEY_ROOM + 8];
    key = value_resolve(key);
    switch (key.kind) {
    case UPK_STR:
    case UPK_STR8:
        error_copy(name, sizeof name, key.as.bytes, key.len);
        if (key.len >= KEY_ROOM || !name_is_plain(key.as.bytes, key.len) ||
            memchr(key.as.bytes, '.', key.len)) {
            add_quoted_key(t, name);
            return;
        }
        (void)snprintf(piece, sizeof piece, ".%s", name);
        break;
    case UPK_INT: (void)snprintf(piece, sizeof piece, "[%" PRId64 "]", key.as.i); break;
    default: (void)snprintf(piece, sizeof piece, "[?]"); break;
    }
    text_add_whole(t, piece);
}

void text_add_key_itself(struct text *t, size_t i) {
    char piece[32];
    (void)snprintf(piece, sizeof piece, ".keys[%zu]", i);
    text_add_whole(t, piece);
}

void text_add_index(struct text *t, size_t i) {
    char piece[32];
    (void)snprintf(piece, sizeof piece, "[%zu]", i);
    text_add_whole(t, piece);
}
