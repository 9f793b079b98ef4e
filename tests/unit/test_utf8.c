/* UTF-8: everything that is text is taken, everything else is refused, at every place of a buffer.
 *
 * Layer: tests of runtime/utf8.c.
 */
#include "cells.h"

enum { LAST_CODE = 0x10ffff };

/* Straight from the definition: the shortest form of a code point up to U+10FFFF. */
static bool oracle(const uint8_t *p, size_t n) {
    size_t i = 0;
    while (i < n) {
        size_t len = p[i] < 0x80   ? 1
                     : p[i] < 0xc0 ? 0
                     : p[i] < 0xe0 ? 2
                     : p[i] < 0xf0 ? 3
                     : p[i] < 0xf8 ? 4
                                   : 0;
        if (len == 0 || len > n - i) return false;
        uint32_t c = len == 1 ? p[i] : p[i] & (0x7fu >> len);
        for (size_t k = 1; k < len; k++) {
            if ((p[i + k] & 0xc0) != 0x80) return false;
            c = c << 6 | (p[i + k] & 0x3fu);
        }
        const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
        if (c < least[len] || c > LAST_CODE) return false;
        i += len;
    }
    return true;
}

static void every_code_point_survives(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= LAST_CODE; c++) {
        uint8_t text[4];
        unsigned n = utf8_encode(c, text);
        bool ascii;
        assert_true(utf8_check(text, n, &ascii));
        assert_int_equal(ascii, c < 0x80);
        assert_int_equal(utf8_count(text, n), 1);
        const uint8_t *p = text;
        assert_int_equal(utf8_next(&p), c);
        assert_ptr_equal(p, text + n);
    }
}

static void check(const uint8_t *p, size_t n) {
    bool ascii;
    if (utf8_check(p, n, &ascii) != oracle(p, n))
        fail_msg("%zu bytes %02x %02x %02x %02x", n, p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0,
                 n > 3 ? p[3] : 0);
}

static void every_short_sequence_is_judged_as_defined(void **state) {
    (void)state;
    static const uint8_t edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                    0xa0, 0xbf, 0xc0, 0xc2, 0xed, 0xf4, 0xff};
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            check((const uint8_t[]){(uint8_t)a}, 1);
            check((const uint8_t[]){(uint8_t)a, (uint8_t)b}, 2);
            for (size_t i = 0; i < sizeof edges; i++) {
                check((const uint8_t[]){(uint8_t)a, (uint8_t)b, edges[i]}, 3);
                for (size_t k = 0; k < sizeof edges; k++)
                    check((const uint8_t[]){(uint8_t)a, (uint8_t)b, edges[i], edges[k]}, 4);
            }
        }
    }
}

/* Long text is read by vectors where the machine has them. */
static void check_inside(const uint8_t *p, size_t n, size_t at) {
    uint8_t text[96];
    memset(text, 'x', sizeof text);
    memcpy(text, "\xc3\xa9", 2);
    memcpy(text + at, p, n);
    check(text, sizeof text);
}

static void every_sequence_is_judged_alike_inside_long_text(void **state) {
    (void)state;
    static const uint8_t edges[] = {0x41, 0x80, 0x8f, 0x90, 0x9f, 0xbf, 0xc2, 0xf4};
    for (unsigned a = 0x80; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            const size_t at = 40 + (a + b) % 16;
            for (size_t i = 0; i < sizeof edges; i++) {
                check_inside((const uint8_t[]){(uint8_t)a, (uint8_t)b, edges[i]}, 3, at);
                for (size_t k = 0; a >= 0xe0 && k < sizeof edges; k++)
                    check_inside((const uint8_t[]){(uint8_t)a, (uint8_t)b, edges[i], edges[k]}, 4, at);
            }
        }
    }
}

static void latin1_is_what_has_no_larger_character(void **state) {
    (void)state;
    uint32_t random = 1;
    for (size_t chars = 0; chars < 120; chars++) {
        for (size_t large = 0; large <= chars; large++) { /* one at `large` of U+0100, none at the end */
            uint8_t text[300], want[120], got[300];
            size_t n = 0, written;
            for (size_t i = 0; i < chars; i++) {
                random = random * 1103515245 + 12345;
                want[i] = (uint8_t)(random >> 16);
                n += utf8_encode(i == large ? 0x100 : want[i], text + n);
            }
            const bool fits = utf8_to_latin1(text, n, got, &written);
            assert_int_equal(fits, large == chars);
            if (!fits) continue;
            assert_int_equal(written, chars);
            assert_memory_equal(got, want, chars);
        }
    }
}

/* In a block of exactly its size, so that a sanitizer sees a read behind it. */
static void a_sequence_is_judged_alike_wherever_it_stands(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } samples[] = {{"\xc3\xa9", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4}, {"\xed\xa0\x80", 3},
                   {"\xc0\x80", 2}, {"\xe0\x9f\xbf", 3}, {"\xf4\x90\x80\x80", 4}, {"\x80", 1},
                   {"\xc3", 1},     {"\xf0\x9f", 2}};
    for (size_t before = 0; before < 40; before++) {
        for (size_t after = 0; after < 20; after++) {
            for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
                size_t n = before + samples[s].n + after;
                uint8_t *p = malloc(n);
                assert_non_null(p);
                memset(p, 'x', n);
                memcpy(p + before, samples[s].bytes, samples[s].n);
                bool ascii, fits = oracle(p, n);
                assert_int_equal(utf8_check(p, n, &ascii), fits);
                if (fits) {
                    assert_false(ascii);
                    assert_int_equal(utf8_count(p, n), before + 1 + after);
                }
                free(p);
            }
        }
    }
}

static void no_text_is_ascii(void **state) {
    (void)state;
    bool ascii = false;
    assert_true(utf8_check((const uint8_t *)"", 0, &ascii));
    assert_true(ascii);
    assert_int_equal(utf8_count((const uint8_t *)"", 0), 0);
}

static void long_texts_are_counted(void **state) {
    (void)state;
    uint8_t text[4000];
    random_state = 7;
    for (int round = 0; round < 200; round++) {
        size_t n = 0, count = 0, want = random_below(900);
        while (count < want) {
            uint32_t c = random_below(4) ? random_below(0x80) : random_below(LAST_CODE + 1);
            n += utf8_encode(c, text + n);
            count++;
        }
        bool ascii;
        assert_true(utf8_check(text, n, &ascii));
        assert_int_equal(utf8_count(text, n), count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_survives),
        cmocka_unit_test(every_short_sequence_is_judged_as_defined),
        cmocka_unit_test(a_sequence_is_judged_alike_wherever_it_stands),
        cmocka_unit_test(every_sequence_is_judged_alike_inside_long_text),
        cmocka_unit_test(latin1_is_what_has_no_larger_character),
        cmocka_unit_test(no_text_is_ascii),
        cmocka_unit_test(long_texts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
