/* Native checks: what holds and what does not, at the edges of each relation; by both provers and early.
 *
 * Layer: tests of runtime/check*.c over tables and documents built by hand.
 */
#include "matching.h"

enum { DIGITS = 40 };

/* An object of a row whose one form takes any arguments and has this check, alone in the document. */
static struct object *checked(enum upk_check check, struct upk_value args) {
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    t_form(&table, UPK_VERB_CALL, t_class(&table, "m", "C"), T_TUPLE(&table, 0, true, any))->check = check;
    table.policy.budgets[UPK_BUDGET_MATCHES] = 1000000;
    table.policy.budgets[UPK_BUDGET_DIGITS] = DIGITS;
    table.policy.root = any;
    doc.objects = NULL;
    return new_object(&doc, row, UPK_VERB_CALL, args);
}

static bool holds(enum upk_check check, struct upk_value args) {
    table_clear(&table);
    struct object *o = checked(check, args);
    bool whole = fits(value_of_cell(&o->cell), table.policy.root);
    if (!whole) {
        assert_int_equal(why.code, UPK_ERR_NATIVE);
        assert_ptr_equal(why.object, o);
        assert_int_equal(why.form, table.policy.form_count - 1);
        assert_true(why.detail[0] != '\0');
    }
    o->cell.cap = 0;
    doc.unjudged = 1;
    assert_true(match_early(&doc, o));
    assert_int_equal(o->cell.cap != 0, whole);
    assert_int_equal(doc.unjudged, !whole);
    match_free(&doc);
    return whole;
}

#define HOLDS(check, ...) assert_true(holds(UPK_CHECK_##check, V_OF(&doc, UPK_TUPLE, __VA_ARGS__)))
#define FAILS(check, words, ...)                                                    \
    do {                                                                            \
        assert_false(holds(UPK_CHECK_##check, V_OF(&doc, UPK_TUPLE, __VA_ARGS__))); \
        if (*(words)) assert_string_equal(why.detail, words);                       \
    } while (0)
#define PACKED(literal) v_data(UPK_BYTES, literal, sizeof(literal) - 1)

static void packed_dates_exist(void **state) {
    (void)state;
    HOLDS(DATETIME_BYTES, PACKED("\x00\x01\x01\x01"));
    HOLDS(DATETIME_BYTES, PACKED("\x27\x0f\x0c\x1f")); /* 9999-12-31 */
    FAILS(DATETIME_BYTES, "date bytes: year 0", PACKED("\x00\x00\x01\x01"));
    FAILS(DATETIME_BYTES, "date bytes: year 10000", PACKED("\x27\x10\x01\x01"));
    FAILS(DATETIME_BYTES, "date bytes: month 0", PACKED("\x07\xe8\x00\x01"));
    FAILS(DATETIME_BYTES, "date bytes: month 13", PACKED("\x07\xe8\x0d\x01"));
    FAILS(DATETIME_BYTES, "date bytes: month 129", PACKED("\x07\xe8\x81\x01")); /* a date has no fold */
    static const uint8_t days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (uint8_t month = 1; month <= 12; month++) {
        for (unsigned day = 0; day < 256; day++) {
            const uint8_t bytes[] = {0x07, 0xe8, month, (uint8_t)day}; /* 2024 */
            bool want = day >= 1 && day <= days[month - 1];
            assert_int_equal(
                holds(UPK_CHECK_DATETIME_BYTES, V_OF(&doc, UPK_TUPLE, v_data(UPK_BYTES, bytes, 4))), want);
        }
    }
    const struct {
        unsigned year;
        bool leap;
    } years[] = {{1900, false}, {2000, true}, {2023, false}, {2024, true}, {4, true}, {100, false}};
    for (size_t i = 0; i < sizeof years / sizeof *years; i++) {
        const uint8_t bytes[] = {(uint8_t)(years[i].year >> 8), (uint8_t)years[i].year, 2, 29};
        assert_int_equal(holds(UPK_CHECK_DATETIME_BYTES, V_OF(&doc, UPK_TUPLE, v_data(UPK_BYTES, bytes, 4))),
                         years[i].leap);
    }
    FAILS(DATETIME_BYTES, "date bytes: day 31 of month 4 of year 2024", PACKED("\x07\xe8\x04\x1f"));
}

static void packed_times_exist(void **state) {
    (void)state;
    HOLDS(DATETIME_BYTES, PACKED("\x00\x00\x00\x00\x00\x00"));
    HOLDS(DATETIME_BYTES, PACKED("\x17\x3b\x3b\x0f\x42\x3f"));
    HOLDS(DATETIME_BYTES, PACKED("\x97\x3b\x3b\x0f\x42\x3f"), v_none()); /* with fold, and a time zone */
    FAILS(DATETIME_BYTES, "time bytes: hour 24", PACKED("\x18\x00\x00\x00\x00\x00"));
    FAILS(DATETIME_BYTES, "time bytes: hour 24", PACKED("\x98\x00\x00\x00\x00\x00"));
    FAILS(DATETIME_BYTES, "time bytes: minute 60", PACKED("\x17\x3c\x00\x00\x00\x00"));
    FAILS(DATETIME_BYTES, "time bytes: second 60", PACKED("\x17\x00\x3c\x00\x00\x00"));
    FAILS(DATETIME_BYTES, "time bytes: microsecond 1000000", PACKED("\x17\x00\x00\x0f\x42\x40"));
    HOLDS(DATETIME_BYTES, PACKED("\x07\xe8\x02\x1d\x17\x3b\x3b\x0f\x42\x3f"));
    HOLDS(DATETIME_BYTES, PACKED("\x07\xe8\x82\x1d\x17\x3b\x3b\x0f\x42\x3f")); /* fold */
    FAILS(DATETIME_BYTES, "date bytes: month 13", PACKED("\x07\xe8\x8d\x1d\x17\x3b\x3b\x0f\x42\x3f"));
    FAILS(DATETIME_BYTES, "time bytes: hour 151", PACKED("\x07\xe8\x02\x1d\x97\x3b\x3b\x0f\x42\x3f"));
    FAILS(DATETIME_BYTES, "date bytes: day 30 of month 2 of year 2024",
          PACKED("\x07\xe8\x02\x1e\x17\x3b\x3b\x0f\x42\x3f"));
    for (size_t len = 0; len < 16; len++) {
        static const uint8_t bytes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        bool want = len == 4 || len == 6 || len == 10;
        struct upk_value v = V_OF(&doc, UPK_TUPLE, v_data(UPK_BYTES, bytes, len));
        assert_int_equal(holds(UPK_CHECK_DATETIME_BYTES, v), want);
    }
    HOLDS(DATETIME_BYTES, v_data(UPK_STR8, "\x07\xe8\x02\x1d", 4)); /* Python 2 */
    FAILS(DATETIME_BYTES, "argument 1 is no bytes", v_str("\x01\x01\x01\x01"));
}

static void decimals_are_numbers(void **state) {
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "+1",
                                       "12.340",
                                       "1.",
                                       ".5",
                                       "0E+5",
                                       "1E+3",
                                       "1.5E-10",
                                       "1e+3",
                                       "1E3",
                                       "Inf",
                                       "-Inf",
                                       "Infinity",
                                       "NaN",
                                       "-NaN0012",
                                       "sNaN",
                                       "-sNaN0012",
                                       "+0.00",
                                       "00012",
                                       "1E+0000000000000000000001",
                                       "0.0000000000000000000000000000000000001"};
    static const char *const bad[] = {"",      "-",     "+",     ".",        "-.",        "E5",   ".E5",
                                      "1E",    "1E+",   "1E+-5", "1.2.3",    "--1",       "+-1",  "1 ",
                                      " 1",    "1_0",   "1E5.0", "nan",      "inf",       "INF",  "Infini",
                                      "NaN-1", "NaN1.", "qNaN",  "snan",     "Inf1",      "0x10", "1E+5E",
                                      "1e",    "1-",    "sInf",  "\xd9\xa1", "1\xc2\xa0", "N",    "sNa"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!holds(UPK_CHECK_DECIMAL, V_OF(&doc, UPK_TUPLE, v_str(good[i]))))
            fail_msg("%s: %s", good[i], why.detail);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (holds(UPK_CHECK_DECIMAL, V_OF(&doc, UPK_TUPLE, v_str(bad[i])))) fail_msg("`%s' holds", bad[i]);
    }
    FAILS(DECIMAL, "decimal: no number from byte 1 on", v_data(UPK_STR, "1\0", 2));
    HOLDS(DECIMAL, v_data(UPK_STR8, "1.5", 3));
    FAILS(DECIMAL, "argument 1 is no str", v_data(UPK_STR8, "1\xff", 2));
}

/* Written out, a number has at most DIGITS digits: those before the point and those behind it. */
static void decimals_are_within_the_budget(void **state) {
    (void)state;
    HOLDS(DECIMAL, v_str("1E+39"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40", v_str("1E+40"));
    HOLDS(DECIMAL, v_str("-12E+38"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40", v_str("12E+39"));
    HOLDS(DECIMAL, v_str("1.5E+39"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40", v_str("1.5E+40"));
    HOLDS(DECIMAL, v_str("1E-39"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40", v_str("1E-40"));
    HOLDS(DECIMAL, v_str("12.5E-38"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40", v_str("12.5E-39"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40", v_str("0E+40"));
    HOLDS(DECIMAL, v_str("NaN1234567890123456789012345678901234567890"));
    FAILS(DECIMAL, "decimal: 41 digits when written out, budget digits is 40",
          v_str("NaN12345678901234567890123456789012345678901"));
    HOLDS(DECIMAL, v_str("1234567890123456789012345678901234567890"));
    HOLDS(DECIMAL, v_str("12345678901234567890.12345678901234567890"));
    FAILS(DECIMAL, "", v_str("12345678901234567890.123456789012345678901"));
    FAILS(DECIMAL, "", v_str("12345678901234567890123456789012345678901"));
    FAILS(DECIMAL, "", v_str("1E+999999999"));
    FAILS(DECIMAL, "", v_str("1E-999999999"));
    FAILS(DECIMAL, "", v_str("1E+9223372036854775807"));
    FAILS(DECIMAL, "", v_str("1E+99999999999999999999999999999999999999"));
    FAILS(DECIMAL, "", v_str("1E-99999999999999999999999999999999999999"));
}

/* Which machine formats a type code may come in, and how long its items are. */
static void packed_arrays_have_whole_items_of_their_type(void **state) {
    (void)state;
    static const struct {
        char code;
        uint8_t first, last;
    } ranges[] = {{'b', 1, 1},   {'B', 0, 0},   {'h', 4, 5},   {'H', 2, 3},   {'i', 8, 9},   {'I', 6, 7},
                  {'l', 8, 9},   {'l', 12, 13}, {'L', 6, 7},   {'L', 10, 11}, {'q', 12, 13}, {'Q', 10, 11},
                  {'f', 14, 15}, {'d', 16, 17}, {'u', 18, 19}, {'u', 20, 21}, {'w', 20, 21}};
    static const uint8_t sizes[] = {1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 4, 4, 8, 8, 2, 2, 4, 4};
    static const uint8_t zeros[16] = {0};
    for (int code = 0; code < 0x80; code++) {
        const char text[] = {(char)code};
        const struct upk_value typecode = v_data(UPK_STR, text, 1);
        for (int64_t format = -1; format <= 22; format++) {
            bool known = false;
            for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
                known |= ranges[i].code == code && format >= ranges[i].first && format <= ranges[i].last;
            for (size_t len = 0; len <= 16; len += known ? 1 : 8) {
                struct upk_value args =
                    V_OF(&doc, UPK_TUPLE, v_none(), typecode, v_int(format), v_data(UPK_BYTES, zeros, len));
                assert_int_equal(holds(UPK_CHECK_ARRAY, args), known && len % sizes[format] == 0);
            }
        }
    }
    FAILS(ARRAY, "array: machine format 22", v_none(), v_str("b"), v_int(22), v_bytes(""));
    FAILS(ARRAY, "array: machine format 16 for type code `i'", v_none(), v_str("i"), v_int(16), v_bytes(""));
    FAILS(ARRAY, "array: 3 bytes of items of 2", v_none(), v_str("h"), v_int(4), v_bytes("abc"));
    FAILS(ARRAY, "array: unknown type code", v_none(), v_str("c"), v_int(1), v_bytes(""));
    FAILS(ARRAY, "array: unknown type code", v_none(), v_str("bb"), v_int(1), v_bytes(""));
    FAILS(ARRAY, "array: unknown type code", v_none(), v_str(""), v_int(1), v_bytes(""));
    HOLDS(ARRAY, v_none(), v_str("w"), v_int(20), PACKED("a\0\0\0\xff\xff\x10\0"));
    FAILS(ARRAY, "array: item 1 is 0x110000, no code point", v_none(), v_str("u"), v_int(20),
          PACKED("a\0\0\0\0\0\x11\0"));
    HOLDS(ARRAY, v_none(), v_str("u"), v_int(21), PACKED("\0\x10\xff\xff\0\0\xd8\0"));
    FAILS(ARRAY, "array: item 0 is 0x110000, no code point", v_none(), v_str("u"), v_int(21),
          PACKED("\0\x11\0\0"));
    FAILS(ARRAY, "array: item 0 is 0x80000000, no code point", v_none(), v_str("u"), v_int(21),
          PACKED("\x80\0\0\0"));
    HOLDS(ARRAY, v_none(), v_str("u"), v_int(18), PACKED("\xff\xff\0\xd8"));
}

static struct upk_value array_of(const char *code, struct upk_value item) {
    return V_OF(&doc, UPK_TUPLE, v_str(code), V_OF(&doc, UPK_LIST, item));
}

static void listed_arrays_have_items_of_their_type(void **state) {
    (void)state;
    static const struct {
        const char *code;
        int64_t lo, hi;
    } ints[] = {{"b", -128, 127},
                {"B", 0, 255},
                {"h", -32768, 32767},
                {"H", 0, 65535},
                {"i", INT32_MIN, INT32_MAX},
                {"I", 0, UINT32_MAX}};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        const char *code = ints[i].code;
        assert_true(holds(UPK_CHECK_ARRAY, array_of(code, v_int(ints[i].lo))));
        assert_true(holds(UPK_CHECK_ARRAY, array_of(code, v_int(ints[i].hi))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(code, v_int(ints[i].lo - 1))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(code, v_int(ints[i].hi + 1))));
    }
    /* 2^63, 2^64 - 1, 2^64, -2^63 - 1; an int of 128 bytes and one of 129 */
    static uint8_t huge[129];
    huge[127] = 0x7f;
    const struct upk_value two_63 = v_data(UPK_BIGINT, "\0\0\0\0\0\0\0\x80\0", 9),
                           most = v_data(UPK_BIGINT, "\xff\xff\xff\xff\xff\xff\xff\xff\0", 9),
                           two_64 = v_data(UPK_BIGINT, "\0\0\0\0\0\0\0\0\1", 9),
                           below = v_data(UPK_BIGINT, "\xff\xff\xff\xff\xff\xff\xff\x7f\xff", 9),
                           large = v_data(UPK_BIGINT, huge, 128), too_large = v_data(UPK_BIGINT, huge, 129);
    static const char *const wide[] = {"l", "q", "L", "Q"};
    for (size_t i = 0; i < 4; i++) {
        const bool is_signed = i < 2;
        assert_true(holds(UPK_CHECK_ARRAY, array_of(wide[i], v_int(INT64_MAX))));
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(wide[i], v_int(INT64_MIN))), is_signed);
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(wide[i], v_int(-1))), is_signed);
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(wide[i], two_63)), !is_signed);
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(wide[i], most)), !is_signed);
        assert_false(holds(UPK_CHECK_ARRAY, array_of(wide[i], two_64)));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(wide[i], below)));
    }
    static const char *const codes[] = {"b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "u", "w"};
    for (size_t i = 0; i < 14; i++) {
        const bool is_float = i == 10 || i == 11, is_text = i > 11;
        assert_true(holds(UPK_CHECK_ARRAY, V_OF(&doc, UPK_TUPLE, v_str(codes[i]), v_empty(&doc, UPK_LIST))));
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_int(1))), !is_text);
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_float(0.5))), is_float);
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(codes[i], large)), is_float);
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], too_large)));
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_str("\xf4\x8f\xbf\xbf"))), is_text);
        assert_int_equal(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_data(UPK_STR, "\0", 1))), is_text);
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_str(""))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_str("ab"))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_str("\xc3\xa9\xc3\xa9"))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_bytes("a"))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_bool(true))));
        assert_false(holds(UPK_CHECK_ARRAY, array_of(codes[i], v_none())));
    }
    FAILS(ARRAY, "array: item 2 does not fit type code `B'", v_str("B"),
          V_OF(&doc, UPK_LIST, v_int(0), v_int(255), v_int(256), v_int(-1)));
}

static void unicode_errors_lie_within_their_object(void **state) {
    (void)state;
    const struct upk_value reason = v_str("bad"), codec = v_str("utf-8");
    const struct upk_value objects[] = {v_str("abc"), v_str("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
                                        v_bytes("\xff\xff\xff"), v_data(UPK_STR8, "\xff\xff\xff", 3),
                                        v_data(UPK_STR8, "abc", 3)};
    for (size_t i = 0; i < 5; i++) { /* of length 3 each, in code points or in bytes */
        for (int64_t start = -1; start <= 4; start++) {
            for (int64_t end = -1; end <= 4; end++) {
                const bool want = 0 <= start && start <= end && end <= 3;
                struct upk_value five =
                    V_OF(&doc, UPK_TUPLE, codec, objects[i], v_int(start), v_int(end), reason);
                struct upk_value four = V_OF(&doc, UPK_TUPLE, objects[i], v_int(start), v_int(end), reason);
                const bool is_str = i < 2 || i == 4;
                assert_int_equal(holds(UPK_CHECK_UNICODE_ERROR, five), want);
                assert_int_equal(holds(UPK_CHECK_UNICODE_ERROR, four), want && is_str);
            }
        }
    }
    FAILS(UNICODE_ERROR, "unicode error: start -1, end 1 of an object of length 2", v_str("ab"), v_int(-1),
          v_int(1), reason);
    FAILS(UNICODE_ERROR, "unicode error: start 0, end 3 of an object of length 2", codec, v_str("ab"),
          v_int(0), v_int(3), reason);
    FAILS(UNICODE_ERROR, "argument 3 is no int of 64 bits", codec, v_str("ab"),
          v_data(UPK_BIGINT, "\0\0\0\0\0\0\0\0\1", 9), v_int(1), reason);
    FAILS(UNICODE_ERROR, "", v_str(""), v_int(INT64_MIN), v_int(INT64_MAX), reason);
    HOLDS(UNICODE_ERROR, v_str(""), v_int(0), v_int(0), reason);
}

static void zones_have_names_in_parts(void **state) {
    (void)state;
    static const char *const good[] = {"UTC",
                                       "Europe/Paris",
                                       "America/Argentina/Buenos_Aires",
                                       "Etc/GMT+12",
                                       "Etc/GMT-14",
                                       "a/b/c",
                                       "0123456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {"",
                                      "/",
                                      "/UTC",
                                      "UTC/",
                                      "a//b",
                                      ".",
                                      "..",
                                      "../UTC",
                                      "a/../b",
                                      "a/.",
                                      "UTC ",
                                      "a\\b",
                                      "C:/x",
                                      "a\nb",
                                      "caf\xc3\xa9",
                                      "~",
                                      "01234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) HOLDS(ZONEINFO, v_str(good[i]), v_int(1));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) FAILS(ZONEINFO, "", v_str(bad[i]), v_int(1));
    FAILS(ZONEINFO, "zone key: nothing before the `/' at 2", v_str("a//b"));
    FAILS(ZONEINFO, "zone key: the byte at 2 is in no zone's name", v_str("a/.."));
    FAILS(ZONEINFO, "", v_data(UPK_STR, "UTC\0", 4));
}

/* A table may give a check to any form: arguments of any number and kind are read or refused. */
static void what_a_check_does_not_read_does_not_hold(void **state) {
    (void)state;
    random_state = 1;
    for (unsigned round = 0; round < 4000; round++) {
        struct upk_value args = v_empty(&doc, UPK_TUPLE);
        const uint32_t n = random_below(7);
        for (uint32_t i = 0; i < n; i++) {
            const struct upk_value values[] = {v_none(),
                                               v_bool(true),
                                               v_int(2),
                                               v_float(0.5),
                                               v_bytes(""),
                                               v_str("\xc3\xa9"),
                                               v_empty(&doc, UPK_LIST),
                                               v_empty(&doc, UPK_DICT),
                                               v_bytearray(&doc, "1234"),
                                               V_OF(&doc, UPK_LIST, v_empty(&doc, UPK_TUPLE)),
                                               v_data(UPK_BIGINT, "\0\0\0\0\0\0\0\0\1", 9)};
            add(&doc, args.as.cell, values[random_below(sizeof values / sizeof *values)]);
        }
        doc.stale = false;
        assert_false(holds(1 + random_below(UPK_CHECK_COUNT - 1), args));
    }
}

/* The form that took the tuple apart has its members as arguments; spelled bytes are bytes. */
static void checks_read_what_spellings_mean(void **state) {
    (void)state;
    for (unsigned cyclic = 0; cyclic < 2; cyclic++) {
        for (unsigned bad = 0; bad < 2; bad++) {
            table_clear(&table);
            doc.objects = NULL;
            doc.cyclic = doc.stale = cyclic;
            uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
            struct upk_value inner = V_OF(&doc, UPK_TUPLE, v_str(bad ? "x" : "1.5"));
            t_form(&table, UPK_VERB_NEW, t_class(&table, "m", "C"),
                   T_TUPLE(&table, 0, false, t_plain(&table, UPK_TYPE_STR)))
                ->check = UPK_CHECK_DECIMAL;
            table.policy.budgets[UPK_BUDGET_DIGITS] = DIGITS;
            struct object *o = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
            more_of(&doc, o)->args = V_OF(&doc, UPK_TUPLE, inner).as.cell;
            o->cell.flags |= CELL_SPREAD;
            assert_int_equal(match(v_none(), t_plain(&table, UPK_TYPE_ANY)), bad ? MATCH_REFUSED : MATCH_OK);
            if (bad) assert_int_equal(why.code, UPK_ERR_NATIVE);
        }
    }
    doc.cyclic = doc.stale = false;
    struct object *spelled = new_object(&doc, 0, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    spelled->cell.flags |= CELL_NORMAL;
    more_of(&doc, spelled)->value = PACKED("\x07\xe8\x02\x1d");
    HOLDS(DATETIME_BYTES, value_of_cell(&spelled->cell));
    more_of(&doc, spelled)->value = PACKED("\x07\xe8\x02\x1e");
    FAILS(DATETIME_BYTES, "date bytes: day 30 of month 2 of year 2024", value_of_cell(&spelled->cell));
}

/* The first form whose types fit has the last word, and an earlier object is refused before a later one. */
static void a_check_that_fails_refuses_the_document(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    uint32_t class = t_class(&table, "m", "C"),
             args = T_TUPLE(&table, 0, false, t_plain(&table, UPK_TYPE_STR));
    t_form(&table, UPK_VERB_CALL, class, args)->check = UPK_CHECK_ZONEINFO;
    t_form(&table, UPK_VERB_CALL, class, args);
    struct upk_value good = object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_str("UTC")));
    struct upk_value bad = object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_str(".")));
    struct upk_value both = V_OF(&doc, UPK_LIST, good, bad);
    assert_not(both, any);
    assert_int_equal(why.code, UPK_ERR_NATIVE);
    assert_ptr_equal(why.object, as_object(bad.as.cell));
    assert_int_equal(why.form, table.rows[row].first_form);
    assert_not(v_none(), any); /* popped, and judged all the same */
}

/* A look at many bytes is paid for before it is made. */
static void checks_keep_to_the_budget(void **state) {
    (void)state;
    enum { LEN = 160000 };
    static char digits[LEN];
    memset(digits, '1', LEN);
    struct upk_value list = v_empty(&doc, UPK_LIST);
    for (uint32_t i = 0; i < 1000; i++) add(&doc, list.as.cell, v_int(1));
    const struct {
        enum upk_check check;
        struct upk_value args;
        uint64_t cost;
    } cases[] = {
        {UPK_CHECK_DECIMAL, V_OF(&doc, UPK_TUPLE, v_data(UPK_STR, digits, LEN)), LEN / 16},
        {UPK_CHECK_ARRAY, V_OF(&doc, UPK_TUPLE, v_str("b"), list), 1000},
        {UPK_CHECK_ARRAY,
         V_OF(&doc, UPK_TUPLE, v_none(), v_str("u"), v_int(20), v_data(UPK_BYTES, digits, LEN)), LEN / 64},
        {UPK_CHECK_UNICODE_ERROR,
         V_OF(&doc, UPK_TUPLE, v_data(UPK_STR, digits, LEN), v_int(0), v_int(1), v_str("")), LEN / 64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned cyclic = 0; cyclic < 2; cyclic++) {
            table_clear(&table);
            struct object *o = checked(cases[i].check, cases[i].args);
            if (i == 3) o->args->items[0].flags = 0; /* as if it were not ASCII: it is counted */
            doc.root = v_none();
            doc.cyclic = doc.stale = cyclic;
            assert_int_equal(match_document(&doc, cases[i].cost, &pairs, &why), MATCH_BUDGET);
            doc.cyclic = doc.stale = false;
            table.policy.budgets[UPK_BUDGET_MATCHES] = cases[i].cost;
            o->cell.cap = 0;
            doc.unjudged = 1;
            assert_true(match_early(&doc, o));
            assert_int_equal(o->cell.cap, 0);
            assert_int_equal(match_document(&doc, cases[i].cost, &pairs, &why), MATCH_BUDGET);
            match_free(&doc);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(packed_dates_exist),
        TEST(packed_times_exist),
        TEST(decimals_are_numbers),
        TEST(decimals_are_within_the_budget),
        TEST(packed_arrays_have_whole_items_of_their_type),
        TEST(listed_arrays_have_items_of_their_type),
        TEST(unicode_errors_lie_within_their_object),
        TEST(zones_have_names_in_parts),
        TEST(what_a_check_does_not_read_does_not_hold),
        TEST(checks_read_what_spellings_mean),
        TEST(a_check_that_fails_refuses_the_document),
        TEST(checks_keep_to_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
