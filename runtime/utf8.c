/* UTF-8 as pickle has it: strict, but lone surrogates stand as three bytes (Python's surrogatepass).
 *
 * Layer: runtime, over doc.h alone.
 */
#include <string.h>

#include "doc.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* The length of the sequence that starts at p, 0 if it is malformed.  Table 3-7 of the Unicode Standard,
 * with ED A0..BF let in. */
static size_t sequence_length(const uint8_t *p, size_t left) {
    uint8_t c = p[0];
    if (c < 0x80) return 1;
    if (c < 0xc2 || left < 2) return 0;
    uint8_t d = p[1];
    if (c < 0xe0) return (d & 0xc0) == 0x80 ? 2 : 0;
    if (left < 3 || (d & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80) return 0;
    if (c < 0xf0) return c == 0xe0 && d < 0xa0 ? 0 : 3;
    if (left < 4 || (p[3] & 0xc0) != 0x80) return 0;
    if (c > 0xf4 || (c == 0xf0 && d < 0x90) || (c == 0xf4 && d > 0x8f)) return 0;
    return 4;
}

/* How many bytes at the start are ASCII, or at least some of them. */
static size_t ascii_prefix(const uint8_t *p, size_t n) {
    size_t i = 0;
    uint64_t w[2];
    for (; n - i >= 16; i += 16) {
        memcpy(w, p + i, 16);
        if ((w[0] | w[1]) & HIGH_BITS) return i;
    }
    if (n >= 16) { /* the last sixteen, some of them again */
        memcpy(w, p + n - 16, 16);
        return (w[0] | w[1]) & HIGH_BITS ? i : n;
    }
    while (i < n && p[i] < 0x80) i++;
    return i;
}

/* Text of at most 64 bytes, all of it ASCII: both ends of it, which meet or overlap, in a third of the instructions that a loop takes. */
static inline bool is_short_ascii(const uint8_t *p, size_t n) {
    if (n > 64) return false;
    if (n <= 16) return !((text_word(p, n) | (n > 8 ? text_word(p + n - 8, 8) : 0)) & HIGH_BITS);
    bytes_vector v = vector_at(p) | vector_at(p + n - 16);
    if (n > 32) v |= vector_at(p + 16) | vector_at(p + n - 32);
    return !((v[0] | v[1]) & HIGH_BITS);
}

/* Apart, so that short text needs nothing of what is saved for it. */
__attribute__((noinline)) static bool check_any(const uint8_t *p, size_t n, bool *ascii) {
    enum { FAST = 64 }; /* bytes from which the fast way pays */
    size_t skip = ascii_prefix(p, n);
    bool valid;
    *ascii = skip == n;
    if (n - skip >= FAST && utf8_check_fast(p + skip, n - skip, &valid)) return valid;
    for (;;) {
        p += skip;
        n -= skip;
        if (n == 0) return true;
        /* Text of one script seldom goes back to ASCII for sixteen bytes: do as many before looking again. */
        const uint8_t *again = p + (n < 16 ? n : 16);
        while (p < again) {
            size_t len = sequence_length(p, n);
            if (len == 0) return false;
            p += len;
            n -= len;
        }
        skip = ascii_prefix(p, n);
    }
}

bool utf8_check(const uint8_t *p, size_t n, bool *ascii) {
    *ascii = is_short_ascii(p, n);
    return *ascii || check_any(p, n, ascii);
}

bool utf8_has_surrogate(const uint8_t *p, size_t n) {
    const uint8_t *const end = p + n;
    while (p < end && (p = memchr(p, 0xed, (size_t)(end - p)))) { /* ED A0..BF */
        if (p[1] >= 0xa0) return true;
        p += 3;
    }
    return false;
}

bool utf8_to_latin1(const uint8_t *p, size_t n, uint8_t *to, size_t *written) {
    const size_t done = utf8_to_latin1_fast(p, n, to, written);
    const uint8_t *const end = p + n;
    uint8_t *const out = to;
    p += done;
    to += *written;
    while (p < end) {
        if (*p < 0x80) {
            *to++ = *p++;
        } else if (*p == 0xc2 || *p == 0xc3) {
            *to++ = (uint8_t)((p[0] & 3) << 6 | (p[1] & 0x3f));
            p += 2;
        } else {
            return false;
        }
    }
    *written = (size_t)(to - out);
    return true;
}

size_t utf8_count(const uint8_t *p, size_t n) {
    size_t follow = 0, i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t w;
        memcpy(&w, p + i, 8);
        /* bit 7 set and bit 6 clear; the bytes of the product's sum are at most 8 */
        uint64_t is_follow = (w & ~(w << 1) & HIGH_BITS) >> 7;
        follow += (size_t)((is_follow * UINT64_C(0x0101010101010101)) >> 56);
    }
    for (; i < n; i++) follow += (p[i] & 0xc0) == 0x80;
    return n - follow;
}

uint32_t utf8_next(const uint8_t **at) {
    const uint8_t *p = *at;
    uint32_t c = p[0];
    if (c < 0x80) {
        *at = p + 1;
        return c;
    }
    if (c < 0xe0) {
        *at = p + 2;
        return (c & 0x1f) << 6 | (p[1] & 0x3fu);
    }
    if (c < 0xf0) {
        *at = p + 3;
        return (c & 0x0f) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    }
    *at = p + 4;
    return (c & 0x07) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}

unsigned utf8_encode(uint32_t c, uint8_t out[4]) {
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}
