/* Bytes as numbers, as words, and their order.
 *
 * Layer: lowest of the runtime; includes nothing of it.
 */
#ifndef UPK_BYTES_H
#define UPK_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- numbers of a stream; compilers make one load of each */

static inline uint32_t le32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t le64(const uint8_t *p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

static inline uint64_t be64(const uint8_t *p) {
    return (uint64_t)p[7] | (uint64_t)p[6] << 8 | (uint64_t)p[5] << 16 | (uint64_t)p[4] << 24 |
           (uint64_t)p[3] << 32 | (uint64_t)p[2] << 40 | (uint64_t)p[1] << 48 | (uint64_t)p[0] << 56;
}

/* ---- text */

/* The first eight of n bytes as a word; all of them where they are fewer, told apart together with n. */
static inline uint64_t text_word(const uint8_t *p, size_t n) {
    uint64_t w = 0;
    if (n >= 8) {
        memcpy(&w, p, 8);
    } else if (n >= 4) {
        uint32_t lo, hi;
        memcpy(&lo, p, 4);
        memcpy(&hi, p + n - 4, 4);
        w = lo | (uint64_t)hi << 32;
    } else if (n) {
        w = p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16;
    }
    return w;
}

/* Six bits of a text that its length and its ends give. */
static inline unsigned text_sign(const uint8_t *p, uint32_t n) {
    if (n == 0) return 0;
    return (n * 9 + p[0] * 5u + p[n - 1]) & 63;
}

/* Are n bytes the same?  In line for names and keys, most of which are short. */
static inline bool text_same(const uint8_t *a, const uint8_t *b, size_t n) {
    if (n > 16) return memcmp(a, b, n) == 0;
    return text_word(a, n) == text_word(b, n) &&
           (n <= 8 || text_word(a + n - 8, 8) == text_word(b + n - 8, 8));
}

typedef uint64_t bytes_vector __attribute__((vector_size(16)));
static inline bytes_vector vector_at(const uint8_t *p) {
    bytes_vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Are these n bytes ASCII?  Sure when it says yes; long text, and what stands at the stream's end, is left to utf8_check.  The
 * lengths of keys and words are random to a branch predictor: there is no branch on them below 32. */
__attribute__((always_inline)) static inline bool ascii_short(const uint8_t *p, size_t n,
                                                              const uint8_t *end) {
#define HIGH 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
    static const uint8_t window[64] = {HIGH, HIGH, HIGH, HIGH}; /* from 32 - n: the high bits of n bytes */
#undef HIGH
    if (n > 32 || end - p < 32) return false;
    const uint8_t *const mask = window + 32 - n;
    const bytes_vector high = (vector_at(p) & vector_at(mask)) | (vector_at(p + 16) & vector_at(mask + 16));
    return !(high[0] | high[1]);
}

/* n bytes are this word. */
static inline bool bytes_are(const uint8_t *p, size_t n, const char *word) {
    return n == strlen(word) && (n == 0 || memcmp(p, word, n) == 0);
}

/* Bytewise order, a prefix first; negative, 0 or positive. */
static inline int bytes_compare(const void *a, size_t a_len, const void *b, size_t b_len) {
    const size_t least = a_len < b_len ? a_len : b_len;
    const int order = least ? memcmp(a, b, least) : 0;
    return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

#endif
