/* Numbers: integers of any size as little-endian two's complement, decimal text, floats from text without a
 * locale.
 *
 * Layer: runtime, over doc.h alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"

enum {
    DIGITS_A_WORD = 18, /* decimal digits done at once */
    /* A double and the midpoint of two doubles have at most 768 significant digits; what follows can only
     * say "a bit more". */
    FLOAT_DIGITS = 800,
    FLOAT_EXPONENT = 100000 /* far beyond what 801 digits can bring back into range */
};

#define WORD_POWER UINT64_C(1000000000000000000)

__extension__ typedef unsigned __int128 wide; /* of GNU C */

/* ---- two's complement */

static struct upk_value small_int(int64_t i) { return (struct upk_value){.kind = UPK_INT, .as = {.i = i}}; }

struct upk_value int_from_bytes(const uint8_t *p, size_t n) {
    if (n == 0) return small_int(0);
    uint8_t fill = p[n - 1] & 0x80 ? 0xff : 0;
    while (n > 8 && p[n - 1] == fill && ((p[n - 2] ^ fill) & 0x80) == 0) n--;
    if (n > 8) return (struct upk_value){.kind = UPK_BIGINT, .len = (uint32_t)n, .as = {.bytes = p}};
    uint64_t u = fill ? UINT64_MAX : 0;
    for (size_t i = n; i-- > 0;) u = u << 8 | p[i];
    int64_t i;
    memcpy(&i, &u, 8);
    return small_int(i);
}

/* Word k of v in two's complement, the sign going on forever. */
static uint64_t int_word(struct upk_value v, size_t k) {
    if (v.kind == UPK_INT) {
        if (k == 0) return (uint64_t)v.as.i;
        return v.as.i < 0 ? UINT64_MAX : 0;
    }
    const uint8_t *p = v.as.bytes;
    if (8 * k + 8 <= v.len) return le64(p + 8 * k);
    uint64_t u = p[v.len - 1] & 0x80 ? UINT64_MAX : 0;
    for (size_t at = v.len; at > 8 * k; at--) u = u << 8 | p[at - 1];
    return u;
}

int int_compare(struct upk_value v, const uint64_t bound[2], bool bound_negative) {
    bool negative = v.kind == UPK_INT ? v.as.i < 0 : (v.as.bytes[v.len - 1] & 0x80) != 0;
    if (negative != bound_negative) return negative ? -1 : 1;
    if (v.kind == UPK_BIGINT && v.len > 17) /* of least length, so beyond any 129 bits */
        return negative ? -1 : 1;
    /* The same sign: then the words of the two's complements are in the order of the numbers.  Bit 128
     * tells -2^128 from 0. */
    const uint64_t words[3] = {bound[0], bound[1], bound_negative ? UINT64_MAX : 0};
    for (size_t k = 3; k-- > 0;) {
        uint64_t mine = int_word(v, k);
        if (mine != words[k]) return mine < words[k] ? -1 : 1;
    }
    return 0;
}

bool int_within_mask(struct upk_value v, const uint64_t mask[2]) {
    static const uint64_t zero[2] = {0, 0};
    if (int_compare(v, zero, false) < 0 || (v.kind == UPK_BIGINT && v.len > 17)) return false;
    return (int_word(v, 0) & ~mask[0]) == 0 && (int_word(v, 1) & ~mask[1]) == 0 && int_word(v, 2) == 0;
}

/* ---- decimal text.  Quadratic in the length; the budgets `digits` and `long` bound that. */

static uint64_t digits_value(const uint8_t *p, size_t n) {
    uint64_t u = 0;
    for (size_t i = 0; i < n; i++) u = u * 10 + (uint64_t)(p[i] - '0');
    return u;
}

bool int_from_decimal(struct mem *m, const uint8_t *p, size_t n, struct upk_value *out) {
    bool negative = n > 0 && *p == '-';
    if (negative) {
        p++;
        n--;
    }
    while (n > 1 && *p == '0') {
        p++;
        n--;
    }
    if (n <= DIGITS_A_WORD) {
        int64_t i = (int64_t)digits_value(p, n);
        *out = small_int(negative ? -i : i);
        return true;
    }
    /* A digit takes less than 10/3 bits; one word more keeps room for the sign. */
    size_t room = n / 19 + 2, count = 0;
    uint64_t *words = mem_alloc(m, room * sizeof *words);
    if (!words) return false;
    size_t first = n % DIGITS_A_WORD;
    for (size_t at = 0; at < n;) {
        size_t take = at == 0 && first ? first : DIGITS_A_WORD;
        uint64_t carry = digits_value(p + at, take);
        for (size_t i = 0; i < count; i++) {
            wide t = (wide)words[i] * WORD_POWER + carry;
            words[i] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        if (carry) words[count++] = carry;
        at += take;
    }
    words[count++] = 0;
    uint64_t carry = negative;
    uint8_t *bytes = (uint8_t *)words; /* written over the words, each after it was read */
    for (size_t i = 0; i < count; i++) {
        uint64_t u = words[i];
        if (negative) {
            u = ~u + carry;
            carry = carry && u == 0;
        }
        for (size_t k = 0; k < 8; k++) bytes[8 * i + k] = (uint8_t)(u >> 8 * k);
    }
    *out = int_from_bytes(bytes, 8 * count);
    return true;
}

static size_t unsigned_text(uint64_t u, char *end) {
    char *p = end;
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    return (size_t)(end - p);
}

static bool small_to_decimal(struct mem *m, int64_t i, const char **text, size_t *len) {
    char buf[24];
    char *end = buf + sizeof buf;
    size_t n = unsigned_text(i < 0 ? 0 - (uint64_t)i : (uint64_t)i, end);
    if (i < 0) end[-(ptrdiff_t)++n] = '-';
    char *to = mem_alloc(m, n);
    if (!to) return false;
    memcpy(to, end - n, n);
    *text = to;
    *len = n;
    return true;
}

bool int_to_decimal(struct mem *m, struct upk_value v, const char **text, size_t *len) {
    if (v.kind == UPK_INT) return small_to_decimal(m, v.as.i, text, len);
    bool negative = (v.as.bytes[v.len - 1] & 0x80) != 0;
    size_t count = v.len / 8 + 1;
    size_t room = (size_t)v.len * 5 / 2 + DIGITS_A_WORD + 2; /* a byte takes less than 2.41 digits */
    uint64_t *words = mem_resize(m, NULL, 0, count * sizeof *words);
    if (!words) return false;
    char *out = mem_alloc(m, room);
    if (!out) {
        (void)mem_resize(m, words, count * sizeof *words, 0);
        return false;
    }
    uint64_t carry = 1;
    for (size_t i = 0; i < count; i++) {
        words[i] = int_word(v, i);
        if (negative) {
            words[i] = ~words[i] + carry;
            carry = carry && words[i] == 0;
        }
    }
    char *p = out + room;
    size_t left = count;
    while (left > 0) {
        uint64_t rest = 0;
        for (size_t i = left; i-- > 0;) {
            wide t = (wide)rest << 64 | words[i];
            words[i] = (uint64_t)(t / WORD_POWER);
            rest = (uint64_t)(t % WORD_POWER);
        }
        while (left > 0 && words[left - 1] == 0) left--;
        size_t n = unsigned_text(rest, p);
        p -= n;
        for (; left > 0 && n < DIGITS_A_WORD; n++) *--p = '0';
    }
    (void)mem_resize(m, words, count * sizeof *words, 0);
    if (negative) *--p = '-';
    *text = p;
    *len = (size_t)(out + room - p);
    return true;
}

/* ---- floats */

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* The significant digits of a text, without the point. */
struct significant {
    char digits[FLOAT_DIGITS + 32]; /* and behind them the exponent */
    size_t len;
    int64_t exponent; /* of ten, behind the last digit kept */
    bool more;        /* a dropped digit is not 0 */
};

static void significant_add(struct significant *s, uint8_t digit, bool fraction) {
    if (s->len == 0 && digit == '0') { /* a leading zero */
        s->exponent -= fraction;
    } else if (s->len < FLOAT_DIGITS) {
        s->digits[s->len++] = (char)digit;
        s->exponent -= fraction;
    } else {
        s->more = s->more || digit != '0';
        s->exponent += !fraction;
    }
}

/* The rest of a text behind its `e`; false: malformed.  Saturates. */
static bool read_exponent(const uint8_t *p, const uint8_t *end, int64_t *out) {
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    int64_t e = 0;
    for (; p < end; p++) {
        if (!is_digit(*p)) return false;
        if (e < INT64_C(1) << 40) e = e * 10 + (*p - '0');
    }
    *out = negative ? -e : e;
    return true;
}

/* strtod rounds correctly, but reads the locale's decimal point: it is given digits and an exponent, and no
 * point. */
static double significant_value(struct significant *s) {
    if (s->len == 0) return 0;
    if (s->more) {
        s->digits[s->len++] = '1';
        s->exponent--;
    }
    int64_t e = s->exponent;
    e = e > FLOAT_EXPONENT ? FLOAT_EXPONENT : e < -FLOAT_EXPONENT ? -FLOAT_EXPONENT : e;
    char *p = s->digits + s->len, number[24];
    *p++ = 'e';
    if (e < 0) *p++ = '-';
    size_t n = unsigned_text((uint64_t)(e < 0 ? -e : e), number + sizeof number);
    memcpy(p, number + sizeof number - n, n);
    p[n] = 0;
    return strtod(s->digits, NULL);
}

bool float_from_text(const uint8_t *p, size_t n, double *out) {
    bool negative = n > 0 && *p == '-';
    if (bytes_are(p, n, "nan")) {
        *out = NAN;
        return true;
    }
    if (bytes_are(p + negative, n - negative, "inf")) {
        *out = negative ? -INFINITY : INFINITY;
        return true;
    }
    const uint8_t *end = p + n;
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return false;
    struct significant s;
    s.len = 0;
    s.exponent = 0;
    s.more = false;
    for (; p < end && is_digit(*p); p++) significant_add(&s, *p, false);
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) significant_add(&s, *p, true);
    }
    if (p < end) {
        int64_t exponent;
        if ((*p != 'e' && *p != 'E') || !read_exponent(p + 1, end, &exponent)) return false;
        s.exponent += exponent;
    }
    double d = significant_value(&s);
    if (isinf(d)) return false;
    *out = negative ? -d : d;
    return true;
}
