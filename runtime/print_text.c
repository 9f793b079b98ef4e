/* The text of single values and names, for all printers.
 *
 * Layer: private to the runtime, over print_walk.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print_walk.h"
#include "sort.h"

static const char hex_digits[] = "0123456789abcdef";

void print_hex(struct print *p, const uint8_t *bytes, size_t len) {
    char text[512];
    for (size_t i = 0; i < len && !p->failed;) {
        size_t n = 0;
        for (; i < len && n < sizeof text; i++) {
            text[n++] = hex_digits[bytes[i] >> 4];
            text[n++] = hex_digits[bytes[i] & 15];
        }
        print_bytes(p, text, n);
    }
}

void print_uuid(struct print *p, const uint8_t bytes[16]) {
    static const uint8_t ends[] = {4, 6, 8, 10, 16};
    for (size_t i = 0, at = 0; i < sizeof ends; at = ends[i++]) {
        if (at > 0) print_char(p, '-');
        print_hex(p, bytes + at, ends[i] - at);
    }
}

void print_base64(struct print *p, const uint8_t *bytes, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[512];
    size_t n = 0;
    for (size_t i = 0; i < len && !p->failed; i += 3) {
        size_t left = len - i;
        uint32_t three = (uint32_t)bytes[i] << 16;
        if (left > 1) three |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2) three |= bytes[i + 2];
        text[n++] = digits[three >> 18];
        text[n++] = digits[three >> 12 & 63];
        text[n++] = left > 1 ? digits[three >> 6 & 63] : '=';
        text[n++] = left > 2 ? digits[three & 63] : '=';
        if (n == sizeof text || left <= 3) {
            print_bytes(p, text, n);
            n = 0;
        }
    }
}

void print_unsigned(struct print *p, uint64_t n) {
    char text[24];
    print_bytes(p, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, n));
}

/* \uXXXX */
static size_t put_escape(char *to, uint32_t c) {
    to[0] = '\\';
    to[1] = 'u';
    for (unsigned i = 0; i < 4; i++) to[2 + i] = hex_digits[c >> (12 - 4 * i) & 15];
    return 6;
}

void print_json_text(struct print *p, const uint8_t *text, size_t len) {
    const uint8_t *at = text, *end = text + len;
    char out[512];
    size_t n = 0;
    while (at < end && !p->failed) {
        if (n > sizeof out - 12) {
            print_bytes(p, out, n);
            n = 0;
        }
        uint32_t c = *at < 0x80 ? *at++ : utf8_next(&at);
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c >= 0x20 && c < 0x7f) {
            out[n++] = (char)c;
        } else if (c < 0x10000) {
            n += put_escape(out + n, c);
        } else {
            c -= 0x10000;
            n += put_escape(out + n, 0xd800 + (c >> 10));
            n += put_escape(out + n, 0xdc00 + (c & 0x3ff));
        }
    }
    print_bytes(p, out, n);
}

void print_json_string(struct print *p, const uint8_t *text, size_t len) {
    print_char(p, '"');
    print_json_text(p, text, len);
    print_char(p, '"');
}

/* ---- floats */

/* A decimal number: 0.d1d2d3... times 10 to `point`. */
struct decimal {
    char digits[20];
    int count, point;
};

/* `count` correctly rounded digits.  printf may write the locale's decimal point: whatever is no digit is
 * skipped. */
static void decimal_round(double d, int count, struct decimal *out) {
    char text[48];
    snprintf(text, sizeof text, "%.*e", count - 1, d);
    const char *at = text;
    out->count = 0;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9') out->digits[out->count++] = *at;
    }
    out->point = atoi(at + 1) + 1;
}

/* Written as an integer with an exponent, so that no locale matters to strtod. */
static bool decimal_reads_as(const struct decimal *n, double d) {
    char text[48];
    snprintf(text, sizeof text, "%.*se%d", n->count, n->digits, n->point - n->count);
    return strtod(text, NULL) == d;
}

static void decimal_next(struct decimal *n) {
    int i = n->count - 1;
    while (i >= 0 && n->digits[i] == '9') n->digits[i--] = '0';
    if (i >= 0) {
        n->digits[i]++;
    } else {
        n->digits[0] = '1';
        n->point++;
    }
}

/* The shortest decimal that reads back as d, and of those the nearest to it (d > 0).  Any 15 digits survive a
 * double, so the search starts there but for denormals, which hold fewer.  At a power of two the gap below is
 * half the gap above: the rounded number may miss where its upper neighbour hits. */
static void decimal_shortest(double d, struct decimal *n) {
    int exponent;
    bool power = frexp(d, &exponent) == 0.5;
    for (int count = d < 2.3e-308 ? 1 : 15; count <= 17; count++) {
        decimal_round(d, count, n);
        if (decimal_reads_as(n, d)) break;
        if (power) {
            decimal_next(n);
            if (decimal_reads_as(n, d)) break;
        }
    }
    while (n->count > 1 && n->digits[n->count - 1] == '0') n->count--;
}

size_t float_shortest(double d, char out[32]) {
    struct decimal n = {{'0'}, 1, 1};
    size_t at = 0;
    if (signbit(d)) out[at++] = '-';
    if (d != 0) decimal_shortest(fabs(d), &n);
    if (n.point <= -4 || n.point > 16) { /* as Python's repr: exponents below -4 and from 16 on */
        out[at++] = n.digits[0];
        if (n.count > 1) {
            out[at++] = '.';
            memcpy(out + at, n.digits + 1, (size_t)n.count - 1);
            at += (size_t)n.count - 1;
        }
        return at + (size_t)snprintf(out + at, 32 - at, "e%c%02d", n.point > 0 ? '+' : '-', abs(n.point - 1));
    }
    int i = 0;
    if (n.point <= 0) {
        out[at++] = '0';
    } else {
        for (; i < n.point; i++) out[at++] = i < n.count ? n.digits[i] : '0';
    }
    out[at++] = '.';
    for (int zero = n.point; zero < 0; zero++) out[at++] = '0';
    if (i >= n.count) out[at++] = '0';
    for (; i < n.count; i++) out[at++] = n.digits[i];
    return at;
}

void print_float(struct print *p, double d) {
    char text[32];
    print_bytes(p, text, float_shortest(d, text));
}

/* ---- names */

struct upk_compat print_written_name(const struct upk_cell *global) {
    return global_name((const struct global *)(const void *)global);
}

struct upk_compat print_modern_name(const struct print *p, const struct upk_cell *global) {
    if (p->doc->policy && global->len != 0) return cell_name(p->doc->policy, global);
    return print_written_name(global);
}

bool print_object_name(const struct print *p, const struct object *o, struct upk_compat *name) {
    if (p->doc->policy && o->cell.len != 0) {
        *name = cell_name(p->doc->policy, &o->cell);
        return true;
    }
    struct upk_value callee = value_of_cell(o->callee);
    if (!p->form->raw) callee = value_resolve(callee);
    if (callee.kind != UPK_GLOBAL) return false;
    *name = print_modern_name(p, callee.as.cell);
    return true;
}

/* ---- order */

static bool is_less(const void *a, const void *b, const void *ctx) {
    const struct upk_bytes *const x = a, *const y = b;
    (void)ctx;
    return bytes_compare(x->data, x->len, y->data, y->len) < 0;
}

void bytes_sort(struct upk_bytes *a, size_t n) { heap_sort(a, n, sizeof *a, is_less, NULL); }
