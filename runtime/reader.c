/* Text arguments of protocols 0 and 1: INT, LONG, FLOAT, STRING, UNICODE, PERSID, PUT, GET.
 *
 * Stricter than CPython where CPython's own picklers never write otherwise: no blanks, underscores, signs or prefixes that
 * int() and float() would take.  Sources: Lib/pickletools.py (decimalnl, stringnl, unicodestringnl), Objects/bytesobject.c
 * (escapes), Objects/unicodeobject.c (raw-unicode-escape).
 * Layer: runtime, under machine.c.
 */
#include <string.h>

#include "machine.h"

static bool all_digits(const uint8_t *p, size_t n) {
    if (n == 0) return false;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
    }
    return true;
}

static bool fail_text(struct machine *m, unsigned code, const uint8_t *p, size_t n) {
    char text[48];
    error_copy(text, sizeof text, p, n);
    return machine_fail_detail(m, code, "`%s'", text);
}

static bool digits_fit(struct machine *m, size_t n) {
    if (n > m->most_digits) m->most_digits = n;
    return fail_over(m, UPK_BUDGET_DIGITS, n);
}

bool read_int_text(struct machine *m, const uint8_t *p, size_t n, bool is_long, struct upk_value *out) {
    if (!is_long && n == 2 && p[0] == '0' && (p[1] == '0' || p[1] == '1')) {
        *out = (struct upk_value){.kind = UPK_BOOL, .as = {.i = p[1] - '0'}};
        return true;
    }
    size_t body = n;
    if (is_long && body && p[body - 1] == 'L') body--;
    size_t sign = body && p[0] == '-';
    if (!all_digits(p + sign, body - sign)) return fail_text(m, UPK_ERR_NUMBER, p, n);
    /* CPython reads INT with base 0: 010 would be eight there, and 09 or LONG 007 an error.  INT -0, of two characters, is False
     * there; no pickler writes it, of either opcode. */
    if (p[sign] == '0' && body > 1) return fail_text(m, UPK_ERR_NUMBER, p, n);
    if (!digits_fit(m, body - sign)) return false;
    if (body - sign <= 18) {
        int64_t v = 0;
        for (size_t i = sign; i < body; i++) v = v * 10 + (p[i] - '0');
        *out = (struct upk_value){.kind = UPK_INT, .as = {.i = sign ? -v : v}};
        return true;
    }
    return int_from_decimal(&m->doc->mem, p, body, out) || machine_fail_memory(m);
}

bool read_key_text(struct machine *m, const uint8_t *p, size_t n, uint64_t *out) {
    if (!all_digits(p, n)) return fail_text(m, UPK_ERR_NUMBER, p, n);
    if (!digits_fit(m, n)) return false;
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v = v > UINT64_MAX / 10 - 1 ? UINT64_MAX : v * 10 + (uint64_t)(p[i] - '0');
    *out = v;
    return true;
}

bool read_float_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out) {
    double d;
    if (!digits_fit(m, n)) return false;
    if (!float_from_text(p, n, &d)) return fail_text(m, UPK_ERR_NUMBER, p, n);
    *out = (struct upk_value){.kind = UPK_FLOAT, .as = {.f = d}};
    return true;
}

bool read_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out) {
    bool ascii = false;
    (void)utf8_check(p, n, &ascii);
    if (!ascii) return machine_fail(m, UPK_ERR_PERSID_ASCII);
    if (!fail_over(m, UPK_BUDGET_STRING, n)) return false;
    *out = (struct upk_value){.kind = UPK_STR, .flags = VALUE_ASCII, .len = (uint32_t)n, .as = {.bytes = p}};
    return true;
}

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* n hex digits at p; false: too few before `end`, or no digits. */
static bool hex_digits(const uint8_t *p, const uint8_t *end, size_t n, uint32_t *out) {
    if (n > (size_t)(end - p)) return false;
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++) {
        int d = hex_digit(p[i]);
        if (d < 0) return false;
        v = v << 4 | (uint32_t)d;
    }
    *out = v;
    return true;
}

/* One escape of a STRING behind its backslash; *p moves behind it.  Returns the number of bytes it stands for (1 or 2), or -1. */
static int string_escape(const uint8_t **p, const uint8_t *end, uint8_t out[2]) {
    static const char from[] = "\\'\"bftnrva", to[] = "\\'\"\b\f\t\n\r\v\a";
    if (*p == end) return -1;
    uint8_t c = *(*p)++;
    const char *simple = memchr(from, c, sizeof from - 1);
    if (simple) {
        out[0] = (uint8_t)to[simple - from];
        return 1;
    }
    if (c >= '0' && c <= '7') {
        unsigned v = c - '0';
        for (int i = 0; i < 2 && *p < end && **p >= '0' && **p <= '7'; i++)
            v = v * 8 + (unsigned)(*(*p)++ - '0');
        out[0] = (uint8_t)v; /* above 0377 CPython keeps the low byte */
        return 1;
    }
    if (c == 'x') {
        uint32_t v;
        if (!hex_digits(*p, end, 2, &v)) return -1;
        *p += 2;
        out[0] = (uint8_t)v;
        return 1;
    }
    out[0] = '\\';
    out[1] = c;
    return 2;
}

bool read_string_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out) {
    if (n < 2 || (p[0] != '\'' && p[0] != '"') || p[n - 1] != p[0]) return machine_fail(m, UPK_ERR_QUOTES);
    const uint8_t *end = p + n - 1;
    p++;
    n -= 2;
    if (n > m->most_string) m->most_string = n;
    if (!fail_over(m, UPK_BUDGET_STRING, n)) return false;
    struct upk_value v = {.kind = UPK_STR8, .len = (uint32_t)n, .as = {.bytes = p}};
    if (memchr(p, '\\', n)) { /* an escape is never longer than what it stands for */
        uint8_t *to = mem_alloc(&m->doc->mem, n);
        if (!to) return machine_fail_memory(m);
        v.as.bytes = to;
        while (p < end) {
            if (*p != '\\') {
                *to++ = *p++;
                continue;
            }
            p++;
            uint8_t bytes[2];
            int k = string_escape(&p, end, bytes);
            if (k < 0) return machine_fail(m, UPK_ERR_ESCAPE);
            memcpy(to, bytes, (size_t)k);
            to += k;
        }
        v.len = (uint32_t)(to - v.as.bytes);
    }
    bool ascii = false;
    (void)utf8_check(v.as.bytes, v.len, &ascii);
    if (ascii) v.flags = VALUE_ASCII;
    *out = v;
    return true;
}

bool read_unicode_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out) {
    if (n > m->most_string) m->most_string = n;
    if (!fail_over(m, UPK_BUDGET_STRING, n)) return false;
    bool ascii = false;
    (void)utf8_check(p, n, &ascii);
    struct upk_value v = {.kind = UPK_STR, .flags = VALUE_ASCII, .len = (uint32_t)n, .as = {.bytes = p}};
    if (!ascii || memchr(p, '\\', n)) {
        /* A byte is a Latin-1 character of up to two bytes of UTF-8; an escape of 6 or 10 bytes makes at most 4. */
        if (n > UINT32_MAX / 2) return machine_fail_budget(m, UPK_BUDGET_STRING, n);
        uint8_t *to = mem_alloc(&m->doc->mem, 2 * n);
        if (!to) return machine_fail_memory(m);
        v.as.bytes = to;
        const uint8_t *end = p + n;
        while (p < end) {
            uint32_t c = *p++;
            if (c == '\\' && p < end) {
                uint8_t letter = *p++;
                if (letter == 'u' || letter == 'U') {
                    size_t digits = letter == 'u' ? 4 : 8;
                    if (!hex_digits(p, end, digits, &c) || c > 0x10ffff)
                        return machine_fail(m, UPK_ERR_ESCAPE);
                    p += digits;
                } else {
                    *to++ = '\\';
                    c = letter;
                }
            }
            to += utf8_encode(c, to);
        }
        v.len = (uint32_t)(to - v.as.bytes);
        (void)utf8_check(v.as.bytes, v.len, &ascii);
        if (!ascii) v.flags = 0;
    }
    *out = v;
    return true;
}
