/* Numbers: two's complement, decimal text both ways, bounds of 129 bits, floats from text.
 *
 * Layer: tests of runtime/number.c.
 */
#define _XOPEN_SOURCE 700 /* setenv */
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "cells.h"
#include "folder.h"

static struct mem mem;

static int set_up(void **state) {
    (void)state;
    mem_init(&mem, NULL, UINT64_C(1) << 30);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mem_free(&mem);
    return 0;
}

/* ---- integers */

static struct upk_value from_text(const char *text) {
    struct upk_value v;
    assert_true(int_from_decimal(&mem, (const uint8_t *)text, strlen(text), &v));
    return v;
}

static void assert_text(struct upk_value v, const char *want) {
    const char *text;
    size_t len;
    assert_true(int_to_decimal(&mem, v, &text, &len));
    if (len != strlen(want) || memcmp(text, want, len) != 0) fail_msg("%.*s is not %s", (int)len, text, want);
}

static void bytes_become_the_least_form(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        enum upk_kind kind;
        uint32_t len;
        int64_t i;
    } cases[] = {
        {"", 0, UPK_INT, 0, 0},
        {"\xff", 1, UPK_INT, 0, -1},
        {"\xff\x00", 2, UPK_INT, 0, 255},
        {"\x00\x00\x00\x00\x00\x00\x00\x80", 8, UPK_INT, 0, INT64_MIN},
        {"\xff\xff\xff\xff\xff\xff\xff\x7f", 8, UPK_INT, 0, INT64_MAX},
        {"\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00", 11, UPK_INT, 0, INT64_MAX},
        {"\x00\x00\x00\x00\x00\x00\x00\x80\xff\xff", 10, UPK_INT, 0, INT64_MIN},
        {"\x00\x00\x00\x00\x00\x00\x00\x80\x00", 9, UPK_BIGINT, 9, 0},
        {"\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00", 12, UPK_BIGINT, 9, 0},
        {"\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff", 10, UPK_BIGINT, 9, 0},
        {"\x01\x00\x00\x00\x00\x00\x00\x00\x00\xff", 10, UPK_BIGINT, 10, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct upk_value v = int_from_bytes((const uint8_t *)cases[i].bytes, cases[i].n);
        assert_int_equal(v.kind, cases[i].kind);
        assert_int_equal(v.len, cases[i].len);
        if (v.kind == UPK_INT) assert_true(v.as.i == cases[i].i);
    }
}

static void decimal_text_comes_back(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "7",
                                        "-1",
                                        "999999999999999999",
                                        "1000000000000000000",
                                        "-1000000000000000000",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "-18446744073709551616",
                                        "340282366920938463463374607431768211455",
                                        "340282366920938463463374607431768211456",
                                        "-340282366920938463463374607431768211456",
                                        "-340282366920938463463374607431768211457",
                                        "1000000000000000000000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_text(from_text(texts[i]), texts[i]);
    assert_int_equal(from_text("9223372036854775807").kind, UPK_INT);
    assert_int_equal(from_text("-9223372036854775808").kind, UPK_INT);
    assert_int_equal(from_text("9223372036854775808").kind, UPK_BIGINT);
    assert_int_equal(from_text("-9223372036854775809").kind, UPK_BIGINT);
    assert_text(from_text("-0"), "0");
    assert_text(from_text("000000000000000000000000000000000000000012"), "12");
}

/* 2^k by doubling its text, against 2^k written as bytes. */
static void powers_of_two_agree_with_their_bytes(void **state) {
    (void)state;
    enum { DIGITS = 700, POWERS = 2200 };
    static char digits[DIGITS + 2];
    static uint8_t bytes[POWERS / 8 + 2];
    size_t from = DIGITS;
    digits[DIGITS] = '1';
    for (unsigned k = 0; k < POWERS; k++) {
        memset(bytes, 0, sizeof bytes);
        bytes[k / 8] = (uint8_t)(1 << k % 8);
        struct upk_value a = int_from_bytes(bytes, sizeof bytes), b = from_text(digits + from);
        assert_int_equal(a.kind, b.kind);
        assert_int_equal(a.len, b.len);
        if (a.kind == UPK_INT)
            assert_true(a.as.i == b.as.i);
        else
            assert_memory_equal(a.as.bytes, b.as.bytes, a.len);
        assert_text(a, digits + from);
        int carry = 0;
        for (size_t i = DIGITS + 1; i-- > from;) {
            int d = (digits[i] - '0') * 2 + carry;
            digits[i] = (char)('0' + d % 10);
            carry = d / 10;
        }
        if (carry) digits[--from] = '1';
    }
}

static void random_texts_come_back(void **state) {
    (void)state;
    char text[400];
    random_state = 3;
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + random_below(390), at = 0;
        if (random_below(2)) text[at++] = '-';
        text[at++] = (char)('1' + random_below(9));
        while (at < n) text[at++] = (char)(random_below(3) ? '0' + random_below(10) : '0');
        text[at] = 0;
        assert_text(from_text(text), text);
    }
}

static void failing_memory_is_reported(void **state) {
    (void)state;
    static const char text[] = "123456789012345678901234567890";
    struct upk_value v = from_text(text);
    struct counting counting = {.fail_at = 1};
    const struct upk_allocator failing = {.resize = counting_resize, .ctx = &counting};
    struct mem none;
    const char *out;
    size_t len;
    mem_init(&none, &failing, UINT64_MAX);
    assert_false(int_from_decimal(&none, (const uint8_t *)text, sizeof text - 1, &v));
    for (uint64_t at = 1; at <= 2; at++) {
        counting.calls = 0;
        counting.fail_at = at;
        assert_false(int_to_decimal(&none, v, &out, &len));
        mem_free(&none);
        assert_int_equal(counting.bytes, 0);
    }
}

/* ---- bounds */

static void numbers_compare_with_bounds(void **state) {
    (void)state;
    /* in ascending order, with the words and sign of struct upk_bound */
    static const struct {
        const char *text;
        uint64_t lo, hi;
        bool negative;
    } all[] = {
        {"-340282366920938463463374607431768211456", 0, 0, true},
        {"-340282366920938463463374607431768211455", 1, 0, true},
        {"-170141183460469231731687303715884105728", 0, UINT64_C(1) << 63, true},
        {"-18446744073709551617", UINT64_MAX, UINT64_MAX - 1, true},
        {"-18446744073709551616", 0, UINT64_MAX, true},
        {"-9223372036854775809", UINT64_C(0x7fffffffffffffff), UINT64_MAX, true},
        {"-9223372036854775808", UINT64_C(1) << 63, UINT64_MAX, true},
        {"-1", UINT64_MAX, UINT64_MAX, true},
        {"0", 0, 0, false},
        {"1", 1, 0, false},
        {"9223372036854775807", UINT64_C(0x7fffffffffffffff), 0, false},
        {"9223372036854775808", UINT64_C(1) << 63, 0, false},
        {"18446744073709551615", UINT64_MAX, 0, false},
        {"18446744073709551616", 0, 1, false},
        {"170141183460469231731687303715884105728", 0, UINT64_C(1) << 63, false},
        {"340282366920938463463374607431768211455", UINT64_MAX, UINT64_MAX, false},
    };
    const size_t n = sizeof all / sizeof *all;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            const uint64_t words[2] = {all[k].lo, all[k].hi};
            assert_int_equal(int_compare(from_text(all[i].text), words, all[k].negative), (i > k) - (i < k));
        }
    }
    struct upk_value beyond = from_text("340282366920938463463374607431768211456");
    struct upk_value below = from_text("-340282366920938463463374607431768211457");
    struct upk_value far =
        from_text("1000000000000000000000000000000000000000000000000000000000000000000000000000");
    for (size_t k = 0; k < n; k++) {
        const uint64_t words[2] = {all[k].lo, all[k].hi};
        assert_int_equal(int_compare(beyond, words, all[k].negative), 1);
        assert_int_equal(int_compare(below, words, all[k].negative), -1);
        assert_int_equal(int_compare(far, words, all[k].negative), 1);
    }
}

static void masks_admit_their_bits_alone(void **state) {
    (void)state;
    const uint64_t low[2] = {0x0f, 0}, high[2] = {0, UINT64_C(1) << 63}, all[2] = {UINT64_MAX, UINT64_MAX};
    assert_true(int_within_mask(v_int(0), low));
    assert_true(int_within_mask(v_int(15), low));
    assert_false(int_within_mask(v_int(16), low));
    assert_false(int_within_mask(v_int(-1), low));
    assert_false(int_within_mask(v_int(-1), all));
    assert_true(int_within_mask(from_text("170141183460469231731687303715884105728"), high));
    assert_false(int_within_mask(from_text("170141183460469231731687303715884105729"), high));
    assert_true(int_within_mask(from_text("340282366920938463463374607431768211455"), all));
    assert_false(int_within_mask(from_text("340282366920938463463374607431768211456"), all));
    assert_false(int_within_mask(from_text("-340282366920938463463374607431768211456"), all));
}

/* ---- floats */

static uint64_t bits_of(double d) {
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

static bool parse(const char *text, double *out) {
    return float_from_text((const uint8_t *)text, strlen(text), out);
}

static void assert_float(const char *text, double want) {
    double d;
    if (!parse(text, &d)) fail_msg("%s is refused", text);
    if (bits_of(d) != bits_of(want)) fail_msg("%.40s is %a, not %a", text, d, want);
}

static void floats_are_read(void **state) {
    (void)state;
    assert_float("0", 0.0);
    assert_float("-0", -0.0);
    assert_float("-0.000e99999999999999999999", -0.0);
    assert_float("1.", 1.0);
    assert_float("+1.5", 1.5);
    assert_float("-12.5E-1", -1.25);
    assert_float("00012e+001", 120.0);
    assert_float("0.1", 0.1);
    assert_float("1e22", 1e22);
    assert_float("1e23", 1e23);
    assert_float("8.5e-323", 8.5e-323);
    assert_float("4.9406564584124654e-324", 4.9406564584124654e-324);
    assert_float("2.4703282292062327e-324", 0.0);
    assert_float("2.4703282292062328e-324", 4.9406564584124654e-324);
    assert_float("2.2250738585072011e-308", 2.2250738585072011e-308);
    assert_float("1.7976931348623157e308", 1.7976931348623157e308);
    assert_float("1.7976931348623158e308", 1.7976931348623157e308);
    assert_float("1e-999999999999999999999999", 0.0);
    assert_float("9007199254740993", 9007199254740992.0);
    assert_float("9007199254740993.0000000000000000000000000000000001", 9007199254740994.0);
    double d;
    assert_true(parse("nan", &d) && isnan(d));
    assert_true(parse("inf", &d) && isinf(d) && d > 0);
    assert_true(parse("-inf", &d) && isinf(d) && d < 0);
}

static void other_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "+",
                                        ".",
                                        ".5",
                                        "1e",
                                        "1e+",
                                        "1e-",
                                        "1.e",
                                        "e5",
                                        "1.5.5",
                                        "1_0",
                                        " 1",
                                        "1 ",
                                        "0x10",
                                        "1e5.",
                                        "+inf",
                                        "-nan",
                                        "+nan",
                                        "Inf",
                                        "NaN",
                                        "infi",
                                        "1e400",
                                        "-1e400",
                                        "--1",
                                        "+-1",
                                        "1,5",
                                        "1f",
                                        "nan(1)",
                                        "infinity",
                                        "1.7976931348623159e308",
                                        "1e999999999999999999999999"};
    double d = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (parse(texts[i], &d)) fail_msg("`%s` is taken as %g", texts[i], d);
    }
}

/* Between two neighbours lies a number of up to 768 digits; one more digit, however far behind, decides. */
static void the_last_of_many_digits_decides(void **state) {
    (void)state;
    enum { ROOM = 4000 };
    static char text[ROOM];
    random_state = 11;
    for (int round = 0; round < 300; round++) {
        uint64_t u = ((uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX)) &
                     UINT64_C(0x000fffffffffffff);
        /* small ones, whose last digits are far behind the point; even, so that a tie goes down */
        u = (u & ~UINT64_C(1)) | (uint64_t)random_below(1000) << 52;
        double d, up;
        memcpy(&d, &u, 8);
        up = nextafter(d, INFINITY);
        /* the midpoint, exactly: the sum of the two halves' texts would need more than a double has, so
         * take long double */
        long double mid = (long double)d + ((long double)up - (long double)d) / 2;
        int n = snprintf(text, ROOM, "%.1100Lf", mid);
        assert_true(n > 0 && n < ROOM - 100);
        assert_float(text, d);
        memset(text + n, '0', 50);
        text[n + 50] = 0;
        assert_float(text, d);
        text[n + 50] = '1';
        text[n + 51] = 0;
        assert_float(text, up);
    }
}

static void random_texts_are_read_as_strtod_does(void **state) {
    (void)state;
    char text[80];
    random_state = 5;
    for (int round = 0; round < 50000; round++) {
        size_t n = 0, digits = 1 + random_below(25);
        if (random_below(2)) text[n++] = '-';
        for (size_t i = 0; i < digits; i++) text[n++] = (char)('0' + random_below(10));
        if (random_below(2)) {
            text[n++] = '.';
            for (size_t i = random_below(25); i > 0; i--) text[n++] = (char)('0' + random_below(10));
        }
        text[n] = 0;
        if (random_below(3)) (void)snprintf(text + n, sizeof text - n, "e%d", (int)random_below(700) - 350);
        double want = strtod(text, NULL), d;
        if (isinf(want))
            assert_false(parse(text, &d));
        else
            assert_float(text, want);
    }
}

static void a_million_digits_are_read_at_once(void **state) {
    (void)state;
    enum { N = 1000000 };
    char *text = malloc(N + 20);
    assert_non_null(text);
    memset(text, '9', N);
    strcpy(text + N, "e-999999");
    assert_float(text, 10.0);
    memset(text, '0', N);
    text[1] = '.';
    strcpy(text + N, "1e999999");
    assert_float(text, 1.0);
    free(text);
}

/* A locale whose decimal point is a comma, made on the spot: a machine need not have one. */
static bool set_comma_locale(const char *folder) {
    static const char make[] =
        "cd '%s' && printf 'LC_NUMERIC\\ndecimal_point \"<U002C>\"\\nthousands_sep \"<U002E>\"\\n"
        "grouping 3;3\\nEND LC_NUMERIC\\n' >source && localedef -c -i source ./comma >log 2>&1";
    char command[FOLDER_ROOM + 400];
    (void)snprintf(command, sizeof command, make, folder);
    (void)!system(command); /* 1 is a warning: such a locale lacks the rest */
    return setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_NUMERIC, "comma") &&
           strcmp(localeconv()->decimal_point, ",") == 0;
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    char folder[FOLDER_ROOM], command[FOLDER_ROOM + 20];
    folder_make(folder);
    bool set = set_comma_locale(folder);
    if (set) {
        double d;
        assert_float("1.5", 1.5);
        assert_float("-2.5e1", -25.0);
        assert_false(parse("1,5", &d));
        (void)setlocale(LC_NUMERIC, "C");
    }
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    assert_true(set); /* tools/need.sh sees to what localedef needs */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_the_least_form),
        cmocka_unit_test(decimal_text_comes_back),
        cmocka_unit_test(powers_of_two_agree_with_their_bytes),
        cmocka_unit_test(random_texts_come_back),
        cmocka_unit_test(failing_memory_is_reported),
        cmocka_unit_test(numbers_compare_with_bounds),
        cmocka_unit_test(masks_admit_their_bits_alone),
        cmocka_unit_test(floats_are_read),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(the_last_of_many_digits_decides),
        cmocka_unit_test(random_texts_are_read_as_strtod_does),
        cmocka_unit_test(a_million_digits_are_read_at_once),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
