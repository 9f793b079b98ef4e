/* UTF-8 sixteen bytes at once, where the processor has SSSE3: is it valid, and what is it as Latin-1.
 *
 * Source: J. Keiser, D. Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte" (2021).  What is wrong with two bytes
 * that follow each other shows in three halves of them: a table for each half says which faults it leaves possible, and what
 * all three leave is a fault.  Only that a second and third byte must follow is seen from further back.  Surrogates pass.
 * Layer: runtime, beside utf8.c.
 */
#include "doc.h"

#ifdef __x86_64__

#include <string.h>
#include <tmmintrin.h>

enum {
    TOO_FEW = 1,         /* 11...... and no 10...... behind it */
    TOO_MANY = 2,        /* 0....... and 10...... behind it */
    OVERLONG_2 = 4,      /* C0, C1 */
    OVERLONG_3 = 8,      /* E0 and 80..9F */
    OVERLONG_4 = 16,     /* F0 and 80..8F; the same bit as the next, no byte has both */
    TOO_LARGE_LOW = 16,  /* F5..FF and 80..8F */
    TOO_LARGE_HIGH = 32, /* F4..FF and 90..BF */
    TWO_FOLLOW = 128,    /* 10...... twice: right behind a lead of three or four bytes, and nowhere else */
    ALWAYS = TOO_FEW | TOO_MANY | TWO_FOLLOW,
    BIG = TOO_LARGE_LOW | TOO_LARGE_HIGH,
    FOLLOWS = TOO_MANY | OVERLONG_2 | TWO_FOLLOW
};

/* By the upper half of the first byte, by its lower half, by the upper half of the second. */
static const uint8_t first_upper[16] = {TOO_MANY,
                                        TOO_MANY,
                                        TOO_MANY,
                                        TOO_MANY,
                                        TOO_MANY,
                                        TOO_MANY,
                                        TOO_MANY,
                                        TOO_MANY,
                                        TWO_FOLLOW,
                                        TWO_FOLLOW,
                                        TWO_FOLLOW,
                                        TWO_FOLLOW,
                                        TOO_FEW | OVERLONG_2,
                                        TOO_FEW,
                                        TOO_FEW | OVERLONG_3,
                                        TOO_FEW | BIG};
static const uint8_t first_lower[16] = {ALWAYS | OVERLONG_2 | OVERLONG_3 | OVERLONG_4,
                                        ALWAYS | OVERLONG_2,
                                        ALWAYS,
                                        ALWAYS,
                                        ALWAYS | TOO_LARGE_HIGH,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG,
                                        ALWAYS | BIG};
static const uint8_t second_upper[16] = {TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         FOLLOWS | OVERLONG_3 | TOO_LARGE_LOW,
                                         FOLLOWS | OVERLONG_3 | TOO_LARGE_HIGH,
                                         FOLLOWS | TOO_LARGE_HIGH,
                                         FOLLOWS | TOO_LARGE_HIGH,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW,
                                         TOO_FEW};

#define SSSE3 __attribute__((target("ssse3")))

SSSE3 static inline __m128i load(const uint8_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The faults of sixteen bytes behind sixteen others. */
SSSE3 static inline __m128i faults(__m128i before, __m128i bytes) {
    const __m128i half = _mm_set1_epi8(0x0f);
    const __m128i first = _mm_alignr_epi8(bytes, before, 15);
    const __m128i pair = _mm_and_si128(
        _mm_and_si128(_mm_shuffle_epi8(load(first_upper), _mm_and_si128(_mm_srli_epi16(first, 4), half)),
                      _mm_shuffle_epi8(load(first_lower), _mm_and_si128(first, half))),
        _mm_shuffle_epi8(load(second_upper), _mm_and_si128(_mm_srli_epi16(bytes, 4), half)));
    /* Bit 7 stays where the byte two before is E0 or more, or the one three before F0 or more. */
    const __m128i third = _mm_subs_epu8(_mm_alignr_epi8(bytes, before, 14), _mm_set1_epi8(0xe0 - 0x80));
    const __m128i fourth = _mm_subs_epu8(_mm_alignr_epi8(bytes, before, 13), _mm_set1_epi8(0xf0 - 0x80));
    const __m128i must_follow = _mm_and_si128(_mm_or_si128(third, fourth), _mm_set1_epi8((char)0x80));
    return _mm_xor_si128(pair, must_follow);
}

SSSE3 static bool check(const uint8_t *p, size_t n) {
    __m128i before = _mm_setzero_si128(), wrong = before;
    for (; n >= 16; p += 16, n -= 16) {
        const __m128i bytes = load(p);
        wrong = _mm_or_si128(wrong, faults(before, bytes));
        before = bytes;
    }
    /* What is left, and zeros: where bytes are wanting, they do not follow. */
    uint8_t rest[16] = {0};
    memcpy(rest, p, n);
    wrong = _mm_or_si128(wrong, faults(before, load(rest)));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(wrong, _mm_setzero_si128())) == 0xffff;
}

bool utf8_check_fast(const uint8_t *p, size_t n, bool *valid) {
    if (!__builtin_cpu_supports("ssse3")) return false;
    *valid = check(p, n);
    return true;
}

/* ---- Latin-1 */

/* For four flags: the places of those that are set, lowest first, a byte each; and how many. */
static const uint32_t places_of[16] = {0,      0,        0x01,     0x0100,    0x02,   0x0200,
                                       0x0201, 0x020100, 0x03,     0x0300,    0x0301, 0x030100,
                                       0x0302, 0x030200, 0x030201, 0x03020100};
static const uint8_t count_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* Store those of the lower eight bytes whose flags are set; eight bytes are written. */
SSSE3 static inline uint8_t *keep(uint8_t *to, __m128i bytes, unsigned flags) {
    const unsigned low = flags & 15, high = flags >> 4 & 15;
    const uint64_t places = places_of[low] | (uint64_t)(places_of[high] + 0x04040404)
                                                 << (8 * (unsigned)count_of[low]);
    const __m128i order = _mm_cvtsi64_si128((long long)places);
    _mm_storel_epi64((__m128i *)(void *)to, _mm_shuffle_epi8(bytes, order));
    return to + count_of[low] + count_of[high];
}

SSSE3 static size_t to_latin1(const uint8_t *p, size_t n, uint8_t *to, size_t *written) {
    const uint8_t *const start = p, *const out = to, *const end = p + n;
    for (; end - p > 16; p += 16) {
        const __m128i bytes = load(p), next = load(p + 1);
        const __m128i follows = _mm_cmplt_epi8(bytes, _mm_set1_epi8(-64)); /* 80..BF, as signed numbers */
        const __m128i leads = _mm_andnot_si128(follows, _mm_cmplt_epi8(bytes, _mm_setzero_si128()));
        const __m128i large =
            _mm_and_si128(leads, _mm_and_si128(bytes, _mm_set1_epi8(0x3c))); /* C4 and more */
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(large, _mm_setzero_si128())) != 0xffff) break;
        const __m128i upper = _mm_slli_epi16(_mm_and_si128(bytes, _mm_set1_epi8(3)), 6);
        const __m128i both = _mm_or_si128(upper, _mm_and_si128(next, _mm_set1_epi8(0x3f)));
        const __m128i made = _mm_or_si128(_mm_andnot_si128(leads, bytes), _mm_and_si128(leads, both));
        const unsigned flags = ~(unsigned)_mm_movemask_epi8(follows);
        to = keep(to, made, flags & 0xff);
        to = keep(to, _mm_srli_si128(made, 8), flags >> 8 & 0xff);
    }
    *written = (size_t)(to - out);
    /* The first byte that is left may follow one that is done. */
    return (size_t)(p - start) + (p < end && (*p & 0xc0) == 0x80);
}

size_t utf8_to_latin1_fast(const uint8_t *p, size_t n, uint8_t *to, size_t *written) {
    *written = 0;
    return __builtin_cpu_supports("ssse3") ? to_latin1(p, n, to, written) : 0;
}

#else

size_t utf8_to_latin1_fast(const uint8_t *p, size_t n, uint8_t *to, size_t *written) {
    (void)p, (void)n, (void)to;
    *written = 0;
    return 0;
}

bool utf8_check_fast(const uint8_t *p, size_t n, bool *valid) {
    (void)p, (void)n, (void)valid;
    return false;
}

#endif
