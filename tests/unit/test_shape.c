/* Matching: what each type takes and refuses, cycles, and cost.
 *
 * Layer: tests of runtime/shape*.c over tables and documents built by hand.
 */
#include <math.h>

#include "matching.h"

/* ---- single values */

static void scalars_fit_their_own_types(void **state) {
    (void)state;
    const struct upk_value values[] = {v_none(),     v_bool(true), v_bool(false),   v_int(1),
                                       v_float(1.0), v_str(""),    v_bytes("abcd"), v_float(NAN)};
    const enum upk_type_kind kinds[] = {UPK_TYPE_NONE,  UPK_TYPE_BOOL,  UPK_TYPE_TRUE,   UPK_TYPE_FALSE,
                                        UPK_TYPE_INT,   UPK_TYPE_FLOAT, UPK_TYPE_FINITE, UPK_TYPE_STR,
                                        UPK_TYPE_BYTES, UPK_TYPE_ANY,   UPK_TYPE_NEVER};
    const char *const want[] = {
        "x........x.", /* none */
        ".xx......x.", /* true: neither int nor the literal 1 */
        ".x.x.....x.", /* false */
        "....x....x.", /* 1 */
        ".....xx..x.", /* 1.0 */
        ".......x.x.", /* "" */
        "........xx.", /* b"abcd" */
        ".....x...x.", /* nan */
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint32_t type = t_plain(&table, kinds[k]);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            assert_int_equal(fits(values[i], type), want[i][k] == 'x');
    }
    assert_not(v_bool(true), t_int_is(&table, 1));
}

static void ints_are_bounded(void **state) {
    (void)state;
    static const uint8_t big[17] = {[8] = 1}; /* 2^64 */
    struct upk_value wide = int_from_bytes(big, sizeof big);
    uint32_t small = t_int(&table, -255, 255), open = t_int(&table, 1, 0), below = t_int(&table, 0, -1);
    table.bounds[table.types[open].a].open = 2;
    table.bounds[table.types[below].a].open = 1;
    assert_fits(v_int(-255), small);
    assert_fits(v_int(255), small);
    assert_not(v_int(-256), small);
    assert_not(v_int(256), small);
    assert_not(wide, small);
    assert_fits(wide, open);
    assert_fits(v_int(1), open);
    assert_not(v_int(0), open);
    assert_fits(v_int(INT64_MIN), below);
    assert_not(v_int(0), below);
    uint32_t mask = t_of(&table, UPK_TYPE_INT, 0, 1 + t_bound(&table, 6, 6));
    assert_fits(v_int(0), mask);
    assert_fits(v_int(4), mask);
    assert_not(v_int(5), mask);
    assert_not(v_int(-2), mask);
    uint32_t literal = t_int_is(&table, -7);
    assert_fits(v_int(-7), literal);
    assert_not(v_int(7), literal);
    assert_not(wide, t_int_is(&table, 0));
}

/* Where 64 bits end, bounds and values become wide. */
static void bounds_of_64_bits_are_compared_as_wider_ones(void **state) {
    (void)state;
    static const uint8_t above[9] = {[7] = 0x80}; /* 2^63 */
    static const uint8_t under[9] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff};
    const struct upk_value values[] = {v_data(UPK_BIGINT, under, 9),
                                       v_int(INT64_MIN),
                                       v_int(INT64_MIN + 1),
                                       v_int(-1),
                                       v_int(0),
                                       v_int(INT64_MAX),
                                       v_data(UPK_BIGINT, above, 9)};
    static const struct upk_bound bounds[] = {
        {.lo = {UINT64_C(1) << 63, UINT64_MAX}, .hi = {INT64_MAX, 0}, .negative = 1},
        {.lo = {INT64_MAX, UINT64_MAX}, .hi = {UINT64_C(1) << 63, UINT64_MAX}, .negative = 3},
        {.lo = {INT64_MAX, 0}, .hi = {UINT64_C(1) << 63, 0}},
        {.lo = {UINT64_MAX, UINT64_MAX}, .hi = {0, 0}, .negative = 1},
    };
    static const char *const want[] = {".xxxxx.", "xx.....", ".....xx", "...xx.."};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const uint32_t type = t_int(&table, 0, 0);
        table.bounds[table.types[type].a] = bounds[i];
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            assert_int_equal(fits(values[k], type), want[i][k] == 'x');
    }
}

static void lengths_of_str_are_in_code_points(void **state) {
    (void)state;
    static const char mixed[] = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x"; /* 4 in 10 bytes */
    assert_fits(v_str(mixed), t_sized(&table, UPK_TYPE_STR, 0, 0, 4, 4));
    assert_not(v_str(mixed), t_sized(&table, UPK_TYPE_STR, 0, 0, 5, 20));
    assert_not(v_str(mixed), t_sized(&table, UPK_TYPE_STR, 0, 0, 0, 3));
    assert_fits(v_str("abc"), t_sized(&table, UPK_TYPE_STR, 0, 0, 3, 3));
    assert_not(v_str("abc"), t_sized(&table, UPK_TYPE_STR, 0, 0, 4, UINT64_MAX));
    assert_fits(v_bytes("abc"), t_sized(&table, UPK_TYPE_BYTES, 0, 0, 0, 3));
    assert_not(v_bytes("abc"), t_sized(&table, UPK_TYPE_BYTES, 0, 0, 0, 2));
    assert_fits(v_bytearray(&doc, "abc"), t_sized(&table, UPK_TYPE_BYTEARRAY, 0, 0, 3, 3));
    assert_not(v_bytearray(&doc, "abc"), t_sized(&table, UPK_TYPE_BYTEARRAY, 0, 0, 4, 9));
    assert_not(v_bytearray(&doc, "abc"), t_plain(&table, UPK_TYPE_BYTES));
}

static void characters_are_those_of_the_set(void **state) {
    (void)state;
    /* a-c, é, U+1F600..U+1F64F */
    table.ranges[0] = (struct upk_range){'a', 'c'};
    table.ranges[1] = (struct upk_range){0xe9, 0xe9};
    table.ranges[2] = (struct upk_range){0x1f600, 0x1f64f};
    table.charsets[1] = (struct upk_charset){.ascii = {0, UINT64_C(0xe) << 32}, .first = 0, .count = 3};
    uint32_t type = t_plain(&table, UPK_TYPE_STR);
    table.types[type].a = 1;
    assert_fits(v_str(""), type);
    assert_fits(v_str("abc\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x99\x8f"), type);
    assert_not(v_str("abcd"), type);
    assert_not(v_str("A"), type);
    assert_not(v_str("a\xc3\xa8"), type);
    assert_not(v_str("\xf0\x9f\x99\x90"), type);
}

/* Each ASCII character alone and at either end of a text, against the set of it alone. */
static void each_ascii_character_is_looked_up(void **state) {
    (void)state;
    const uint32_t type = t_plain(&table, UPK_TYPE_STR);
    table.types[type].a = 1;
    for (unsigned c = 0; c < 128; c++) {
        table.charsets[1] = (struct upk_charset){
            .ascii = {c < 64 ? UINT64_C(1) << c : 0, c < 64 ? 0 : UINT64_C(1) << (c - 64)}};
        for (unsigned other = 0; other < 128; other++) {
            const char first[] = {(char)other, (char)c, (char)c}, last[] = {(char)c, (char)c, (char)other};
            assert_int_equal(fits(v_data(UPK_STR, first, 3), type), other == c);
            assert_int_equal(fits(v_data(UPK_STR, last, 3), type), other == c);
        }
    }
}

static void text_has_neither_surrogates_nor_nul(void **state) {
    (void)state;
    uint32_t text = t_plain(&table, UPK_TYPE_TEXT), str = t_plain(&table, UPK_TYPE_STR);
    const struct upk_value bad[] = {v_data(UPK_STR, "a\0b", 3), v_str("x\xed\xa0\x80"),
                                    v_str("\xed\x9f\xbf\xed\xbf\xbf")};
    for (size_t i = 0; i < 3; i++) {
        assert_fits(bad[i], str);
        assert_not(bad[i], text);
    }
    assert_fits(v_str("\xed\x9f\xbf\xee\x80\x80 plain"), text);
}

static void literals_are_compared_whole(void **state) {
    (void)state;
    uint32_t str = t_literal(&table, UPK_TYPE_STR_IS, "b\xc3\xa9"),
             bytes = t_literal(&table, UPK_TYPE_BYTES_IS, "b");
    assert_fits(v_str("b\xc3\xa9"), str);
    assert_not(v_str("b"), str);
    assert_not(v_str("b\xc3\xa9x"), str);
    assert_not(v_data(UPK_STR8, "b\xc3\xa9", 3), str);
    assert_fits(v_bytes("b"), bytes);
    assert_not(v_str("b"), bytes);
    assert_not(v_bytes("c"), bytes);
    assert_fits(v_str(""), t_literal(&table, UPK_TYPE_STR_IS, ""));
}

static void python2_strings_are_str_or_bytes(void **state) {
    (void)state;
    struct upk_value ascii = v_data(UPK_STR8, "abc", 3), high = v_data(UPK_STR8, "\xff\xfe", 2);
    uint32_t str = t_plain(&table, UPK_TYPE_STR), bytes = t_plain(&table, UPK_TYPE_BYTES);
    assert_fits(ascii, str);
    assert_fits(ascii, bytes);
    assert_fits(ascii, t_plain(&table, UPK_TYPE_TEXT));
    assert_fits(ascii, t_literal(&table, UPK_TYPE_STR_IS, "abc"));
    assert_fits(ascii, t_literal(&table, UPK_TYPE_BYTES_IS, "abc"));
    assert_not(high, str);
    assert_fits(high, bytes);
    assert_fits(high, t_literal(&table, UPK_TYPE_BYTES_IS, "\xff\xfe"));
    assert_fits(high, t_plain(&table, UPK_TYPE_ANY));
    assert_not(ascii, t_plain(&table, UPK_TYPE_BYTEARRAY));
    /* too long for the str alternative: then it is bytes */
    assert_fits(ascii, T_UNION(&table, t_sized(&table, UPK_TYPE_STR, 0, 0, 0, 2), bytes));
    assert_fits(V_OF(&doc, UPK_DICT, ascii, v_int(1)),
                T_RECORD(&table, 0, {"abc", t_plain(&table, UPK_TYPE_INT), false}));
}

static void buffers_fit_buffer_alone(void **state) {
    (void)state;
    static const struct upk_bytes buffers[] = {{"abcde", 5}};
    struct upk_value v = {.kind = UPK_BUFFER};
    doc.buffers = buffers;
    doc.buffer_count = 1;
    assert_fits(v, t_sized(&table, UPK_TYPE_BUFFER, 0, 0, 5, 5));
    assert_not(v, t_sized(&table, UPK_TYPE_BUFFER, 0, 0, 6, 9));
    assert_not(v, t_plain(&table, UPK_TYPE_BYTES));
    assert_not(v, t_plain(&table, UPK_TYPE_ANY));
    assert_not(V_OF(&doc, UPK_LIST, v), t_plain(&table, UPK_TYPE_ANY));
}

/* ---- compounds */

static void containers_fit_by_members_and_length(void **state) {
    (void)state;
    const enum upk_kind kinds[] = {UPK_LIST, UPK_SET, UPK_FROZENSET};
    const enum upk_type_kind types[] = {UPK_TYPE_LIST, UPK_TYPE_SET, UPK_TYPE_FROZENSET};
    uint32_t item = t_plain(&table, UPK_TYPE_INT);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < 3; i++) {
            uint32_t type = t_sized(&table, types[i], item, 0, 1, 2);
            assert_int_equal(fits(V_OF(&doc, kinds[k], v_int(1), v_int(2)), type), i == k);
            assert_not(V_OF(&doc, kinds[k], v_int(1), v_none()), type);
            assert_not(v_empty(&doc, kinds[k]), type);
            assert_not(V_OF(&doc, kinds[k], v_int(1), v_int(2), v_int(3)), type);
        }
    }
    uint32_t dict = t_sized(&table, UPK_TYPE_DICT, t_plain(&table, UPK_TYPE_STR), item, 0, 2);
    assert_fits(v_empty(&doc, UPK_DICT), dict);
    assert_fits(V_OF(&doc, UPK_DICT, v_str("a"), v_int(1), v_str("b"), v_int(2)), dict);
    assert_not(V_OF(&doc, UPK_DICT, v_int(1), v_int(1)), dict);
    assert_not(V_OF(&doc, UPK_DICT, v_str("a"), v_str("b")), dict);
    assert_not(V_OF(&doc, UPK_DICT, v_str("a"), v_int(1), v_str("b"), v_int(2), v_str("c"), v_int(3)), dict);
}

static void tuples_have_optional_and_repeated_elements(void **state) {
    (void)state;
    uint32_t i = t_plain(&table, UPK_TYPE_INT), s = t_plain(&table, UPK_TYPE_STR),
             n = t_plain(&table, UPK_TYPE_NONE);
    uint32_t none = t_no_args(&table), exact = T_TUPLE(&table, 0, false, i, s),
             optional = T_TUPLE(&table, 1, false, i, s);
    uint32_t repeats = T_TUPLE(&table, 0, true, i), all = T_TUPLE(&table, 1, true, i, s, n);
    struct upk_value v0 = v_empty(&doc, UPK_TUPLE), v1 = V_OF(&doc, UPK_TUPLE, v_int(1));
    struct upk_value v2 = V_OF(&doc, UPK_TUPLE, v_int(1), v_str("")),
                     v3 = V_OF(&doc, UPK_TUPLE, v_int(1), v_str(""), v_none());
    struct upk_value v5 = V_OF(&doc, UPK_TUPLE, v_int(1), v_str(""), v_none(), v_none(), v_none());
    const struct upk_value values[] = {v0, v1, v2, v3, v5};
    const uint32_t types[] = {none, exact, optional, repeats, all};
    const char *const want[] = {"x....", "..x..", ".xx..", "xx...", ".xxxx"};
    for (size_t t = 0; t < 5; t++) {
        for (size_t k = 0; k < 5; k++) assert_int_equal(fits(values[k], types[t]), want[t][k] == 'x');
    }
    assert_not(V_OF(&doc, UPK_TUPLE, v_int(1), v_none()),
               all); /* an optional one is not left out in the middle */
    assert_fits(V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2), v_int(3)), repeats);
    assert_not(V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2), v_str("")), repeats);
    table.types[repeats].hi = 2;
    assert_not(V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2), v_int(3)), repeats);
    assert_not(V_OF(&doc, UPK_LIST, v_int(1), v_str("")), exact);
}

static void records_are_closed_and_complete(void **state) {
    (void)state;
    uint32_t i = t_plain(&table, UPK_TYPE_INT), s = t_plain(&table, UPK_TYPE_STR);
    uint32_t closed = T_RECORD(&table, 0, {"a", i, false}, {"ab", s, true}, {"b", i, false});
    uint32_t open = T_RECORD(&table, s, {"a", i, false});
    struct upk_value a = v_str("a"), b = v_str("b"), ab = v_str("ab"), x = v_str("x");
    assert_fits(V_OF(&doc, UPK_DICT, b, v_int(2), a, v_int(1)), closed);
    assert_fits(V_OF(&doc, UPK_DICT, b, v_int(2), ab, v_str(""), a, v_int(1)), closed);
    assert_not(V_OF(&doc, UPK_DICT, a, v_int(1)), closed);
    assert_not(V_OF(&doc, UPK_DICT, a, v_int(1), ab, v_str("")), closed);
    assert_not(V_OF(&doc, UPK_DICT, a, v_int(1), b, v_str("")), closed);
    assert_not(V_OF(&doc, UPK_DICT, a, v_int(1), b, v_int(2), x, v_int(3)), closed);
    assert_not(V_OF(&doc, UPK_DICT, a, v_int(1), b, v_int(2), v_int(0), v_int(3)), closed);
    assert_not(V_OF(&doc, UPK_DICT, v_bytes("a"), v_int(1), b, v_int(2)), closed);
    assert_not(v_empty(&doc, UPK_DICT), closed);
    assert_fits(V_OF(&doc, UPK_DICT, x, v_str(""), a, v_int(1), v_str("y"), v_str("")), open);
    assert_not(V_OF(&doc, UPK_DICT, x, v_int(1), a, v_int(1)), open);
    assert_not(V_OF(&doc, UPK_DICT, x, v_str("")), open);
    assert_fits(v_empty(&doc, UPK_DICT), t_record(&table, 0, NULL, 0));
    /* the same key bytes at another length are another key, also where they start at the same place */
    const char *shared = "ab";
    assert_fits(V_OF(&doc, UPK_DICT, v_data(UPK_STR, shared, 2), v_str(""), v_data(UPK_STR, shared, 1),
                     v_int(1), v_data(UPK_STR, shared + 1, 1), v_int(1)),
                closed);
}

static void a_union_takes_what_an_alternative_takes(void **state) {
    (void)state;
    uint32_t i = t_plain(&table, UPK_TYPE_INT), s = t_plain(&table, UPK_TYPE_STR);
    uint32_t li = t_of(&table, UPK_TYPE_LIST, i, 0), ls = t_of(&table, UPK_TYPE_LIST, s, 0);
    uint32_t u = T_UNION(&table, s, li, ls);
    assert_fits(v_str(""), u);
    assert_fits(V_OF(&doc, UPK_LIST, v_int(1)), u);
    assert_fits(V_OF(&doc, UPK_LIST, v_str("a"), v_str("b")), u);
    assert_not(V_OF(&doc, UPK_LIST, v_str("a"), v_int(1)), u);
    assert_not(v_int(1), u);
}

static void persistent_ids_fit_persid_alone(void **state) {
    (void)state;
    struct upk_value v = V_OF(&doc, UPK_PERSID, v_str("id"));
    assert_fits(v, t_of(&table, UPK_TYPE_PERSID, t_plain(&table, UPK_TYPE_STR), 0));
    assert_not(v, t_of(&table, UPK_TYPE_PERSID, t_plain(&table, UPK_TYPE_INT), 0));
    assert_not(v, t_plain(&table, UPK_TYPE_ANY));
    assert_not(V_OF(&doc, UPK_TUPLE, V_OF(&doc, UPK_LIST, v)), t_plain(&table, UPK_TYPE_ANY));
}

static void any_takes_data_consts_and_no_names(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY);
    uint32_t class = t_row(&table, "m", "C", UPK_ROW_CLASS | UPK_ROW_REF, 0);
    t_form(&table, UPK_VERB_REF, 0, 0);
    uint32_t constant = t_row(&table, "m", "K", UPK_ROW_CONST, 0);
    t_form(&table, UPK_VERB_CONST, 0, 0);
    assert_fits(V_OF(&doc, UPK_LIST, V_OF(&doc, UPK_DICT, v_none(), v_int(1)), v_bytearray(&doc, "x")), any);
    assert_fits(v_global(&doc, constant), any);
    assert_fits(V_OF(&doc, UPK_LIST, v_int(1), V_OF(&doc, UPK_TUPLE, v_global(&doc, constant))), any);
    assert_not(v_global(&doc, class), any);
    assert_not(V_OF(&doc, UPK_LIST, v_int(1), V_OF(&doc, UPK_TUPLE, v_global(&doc, class))), any);
    assert_fits(v_global(&doc, class), t_of(&table, UPK_TYPE_REF, class, 0));
    assert_not(v_global(&doc, constant), t_of(&table, UPK_TYPE_REF, class, 0));
    assert_not(v_str("C"), t_of(&table, UPK_TYPE_REF, class, 0));
}

/* ---- cycles */

static bool cyclic_fits(struct upk_value root, uint32_t type) {
    doc.cyclic = doc.stale = true;
    enum match_status status = match(root, type);
    assert_true(status == MATCH_OK || status == MATCH_REFUSED);
    return status == MATCH_OK;
}

static void a_value_that_holds_itself_has_a_recursive_type(void **state) {
    (void)state;
    uint32_t list = t_of(&table, UPK_TYPE_LIST, 0, 0);
    table.types[list].a = list;
    struct upk_value v = v_empty(&doc, UPK_LIST);
    add(&doc, v.as.cell, v);
    assert_true(cyclic_fits(v, list));
    assert_true(cyclic_fits(v, t_plain(&table, UPK_TYPE_ANY)));
    assert_false(cyclic_fits(v, t_of(&table, UPK_TYPE_LIST, t_of(&table, UPK_TYPE_LIST, int_type(), 0), 0)));
    add(&doc, v.as.cell, v_int(1));
    assert_false(cyclic_fits(v, list));
    assert_true(cyclic_fits(v, t_plain(&table, UPK_TYPE_ANY)));
}

/* A = {x: B, y: int}; B = {back: A}; root tuple<A | dict<str, any>, B>.  The first element is no A, as its
 * y is a str, so the second is no B, although it was one under the assumption. */
static void what_was_proved_under_an_assumption_falls_with_it(void **state) {
    (void)state;
    uint32_t i = int_type(), s = t_plain(&table, UPK_TYPE_STR);
    uint32_t a = T_RECORD(&table, 0, {"x", 0, false}, {"y", i, false}),
             b = T_RECORD(&table, 0, {"back", a, false});
    table.fields[table.types[a].a].type = b;
    uint32_t dict = t_of(&table, UPK_TYPE_DICT, s, t_plain(&table, UPK_TYPE_ANY));
    uint32_t root = T_TUPLE(&table, 0, false, T_UNION(&table, a, dict), b);
    struct upk_value va = v_empty(&doc, UPK_DICT), vb = V_OF(&doc, UPK_DICT, v_str("back"), va);
    add(&doc, va.as.cell, v_str("x"));
    add(&doc, va.as.cell, vb);
    add(&doc, va.as.cell, v_str("y"));
    add(&doc, va.as.cell, v_str("no int"));
    assert_false(cyclic_fits(V_OF(&doc, UPK_TUPLE, va, vb), root));
    va.as.cell->items[3] = v_int(1);
    assert_true(cyclic_fits(V_OF(&doc, UPK_TUPLE, va, vb), root));
}

/* P = {a: list<P>, b: int} | {a: list<P>, b: str}; n = {a: [n], b: "x"} */
static void alternatives_do_not_prove_each_other(void **state) {
    (void)state;
    uint32_t list = t_of(&table, UPK_TYPE_LIST, 0, 0);
    uint32_t first = T_RECORD(&table, 0, {"a", list, false}, {"b", int_type(), false});
    uint32_t second = T_RECORD(&table, 0, {"a", list, false}, {"b", t_plain(&table, UPK_TYPE_STR), false});
    struct upk_value n = v_empty(&doc, UPK_DICT), members = V_OF(&doc, UPK_LIST, n);
    add(&doc, n.as.cell, v_str("a"));
    add(&doc, n.as.cell, members);
    add(&doc, n.as.cell, v_str("b"));
    add(&doc, n.as.cell, v_str("x"));
    table.types[list].a = first;
    assert_false(cyclic_fits(n, first));
    table.types[list].a = second;
    assert_true(cyclic_fits(n, second));
    table.types[list].a = T_UNION(&table, first, second);
    assert_true(cyclic_fits(n, table.types[list].a));
    n.as.cell->items[3] = v_none();
    assert_false(cyclic_fits(n, table.types[list].a));
}

static void objects_may_hold_each_other(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    struct upk_form *f = t_form(&table, UPK_VERB_NEW, class, t_no_args(&table));
    f->state = T_RECORD(&table, 0, {"next", t_of(&table, UPK_TYPE_OBJECT, class, 0), false});
    struct object *a = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    struct object *b = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    set_state(a, V_OF(&doc, UPK_DICT, v_str("next"), value_of_cell(&b->cell)));
    set_state(b, V_OF(&doc, UPK_DICT, v_str("next"), value_of_cell(&a->cell)));
    assert_true(cyclic_fits(value_of_cell(&a->cell), any));
    assert_int_equal(b->cell.cap, 1);
    b->state.as.cell->items[1] = v_int(1);
    assert_false(cyclic_fits(value_of_cell(&a->cell), any));
    assert_ptr_equal(why.object, b);
}

/* ---- cost */

static void any_is_decided_without_a_look(void **state) {
    (void)state;
    struct upk_value v = v_empty(&doc, UPK_LIST);
    for (int i = 0; i < 1000; i++) add(&doc, v.as.cell, V_OF(&doc, UPK_LIST, v_int(i)));
    assert_int_equal(match(v, t_plain(&table, UPK_TYPE_ANY)), MATCH_OK);
    assert_int_equal(pairs, 1);
    doc.stale = true;
    assert_int_equal(match(v, t_plain(&table, UPK_TYPE_ANY)), MATCH_OK);
    assert_int_equal(pairs, 2001);
}

static void sharing_costs_nothing(void **state) {
    (void)state;
    uint32_t pair = T_TUPLE(&table, 0, false, 0, 0), node = T_UNION(&table, int_type(), pair);
    table.elems[table.types[pair].a].type = table.elems[table.types[pair].a + 1].type = node;
    struct upk_value v = v_int(0);
    for (int i = 0; i < 60; i++) v = V_OF(&doc, UPK_TUPLE, v, v);
    assert_fits(v, node);
    assert_true(pairs < 500);
}

/* Each level has two alternatives that both must be followed to the bottom. */
static void nested_unions_cost_no_more_than_their_pairs(void **state) {
    (void)state;
    uint32_t a = t_of(&table, UPK_TYPE_LIST, 0, 0), b = t_of(&table, UPK_TYPE_LIST, 0, 0);
    uint32_t u = T_UNION(&table, a, b, int_type());
    table.types[a].a = table.types[b].a = u;
    struct upk_value v = v_str("at the bottom");
    for (int i = 0; i < 100; i++) v = V_OF(&doc, UPK_LIST, v);
    assert_int_equal(match(v, u), MATCH_REFUSED);
    doc.cyclic = doc.stale = true;
    assert_int_equal(match(v, u), MATCH_REFUSED);
    doc.cyclic = doc.stale = false;
    uint64_t budget = 2000;
    assert_int_equal(match_document(&doc, budget, &pairs, &why), MATCH_REFUSED);
}

static void looking_through_long_strings_counts(void **state) {
    (void)state;
    static char text[64000];
    memset(text, 'a', sizeof text);
    memcpy(text, "\xc3\xa9", 2);
    struct upk_value s = v_data(UPK_STR, text, sizeof text);
    struct upk_value v = V_OF(&doc, UPK_LIST, s, s, s);
    uint32_t type = t_of(&table, UPK_TYPE_LIST, t_sized(&table, UPK_TYPE_STR, 0, 0, 0, 63999), 0);
    assert_int_equal(match(v, type), MATCH_OK);
    assert_int_equal(pairs, 1 + 3 + 3 * 1000);
}

static void the_budget_is_exact(void **state) {
    (void)state;
    uint32_t item = T_UNION(&table, t_of(&table, UPK_TYPE_LIST, int_type(), 0),
                            t_of(&table, UPK_TYPE_LIST, t_plain(&table, UPK_TYPE_STR), 0));
    uint32_t list = t_of(&table, UPK_TYPE_LIST, item, 0), row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    t_form(&table, UPK_VERB_CALL, t_class(&table, "m", "C"), T_TUPLE(&table, 0, false, list));
    struct upk_value v =
        V_OF(&doc, UPK_LIST, V_OF(&doc, UPK_LIST, v_int(1)), V_OF(&doc, UPK_LIST, v_str("x"), v_str("y")));
    (void)object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v));
    for (int cyclic = 0; cyclic < 2; cyclic++) {
        doc.cyclic = doc.stale = cyclic;
        assert_int_equal(match(v, list), MATCH_OK);
        uint64_t n = pairs;
        assert_true(n > 10);
        for (uint64_t budget = 0; budget <= n; budget++) {
            enum match_status want = budget == n ? MATCH_OK : MATCH_BUDGET;
            assert_int_equal(match_document(&doc, budget, &pairs, &why), want);
            assert_true(want == MATCH_OK || pairs > budget);
        }
    }
    doc.cyclic = doc.stale = false;
}

static void failing_memory_is_reported_and_given_back(void **state) {
    (void)state;
    uint32_t a = t_of(&table, UPK_TYPE_LIST, 0, 0), b = t_of(&table, UPK_TYPE_LIST, 0, 0);
    uint32_t u = T_UNION(&table, a, b, int_type());
    table.types[a].a = table.types[b].a = u;
    struct upk_value v = v_int(1);
    for (int i = 0; i < 50; i++) v = V_OF(&doc, UPK_LIST, v, v);
    struct counting counting = {0};
    const struct upk_allocator failing = {.resize = counting_resize, .ctx = &counting};
    struct upk_doc head = doc;
    head.root = v;
    table.policy.root = u;
    for (int cyclic = 0; cyclic < 2; cyclic++) {
        head.cyclic = head.stale = cyclic;
        for (uint64_t at = 1;; at++) {
            mem_init(&head.mem, &failing, UINT64_MAX);
            counting.calls = 0;
            counting.fail_at = at;
            enum match_status status = match_document(&head, UINT64_MAX, &pairs, &why);
            assert_int_equal(counting.bytes, 0);
            assert_int_equal(status, counting.calls < at ? MATCH_OK : MATCH_MEMORY);
            if (status == MATCH_OK) break;
            assert_true(at < 100);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(scalars_fit_their_own_types),
        TEST(ints_are_bounded),
        TEST(bounds_of_64_bits_are_compared_as_wider_ones),
        TEST(lengths_of_str_are_in_code_points),
        TEST(characters_are_those_of_the_set),
        TEST(each_ascii_character_is_looked_up),
        TEST(text_has_neither_surrogates_nor_nul),
        TEST(literals_are_compared_whole),
        TEST(python2_strings_are_str_or_bytes),
        TEST(buffers_fit_buffer_alone),
        TEST(containers_fit_by_members_and_length),
        TEST(tuples_have_optional_and_repeated_elements),
        TEST(records_are_closed_and_complete),
        TEST(a_union_takes_what_an_alternative_takes),
        TEST(persistent_ids_fit_persid_alone),
        TEST(any_takes_data_consts_and_no_names),
        TEST(a_value_that_holds_itself_has_a_recursive_type),
        TEST(what_was_proved_under_an_assumption_falls_with_it),
        TEST(alternatives_do_not_prove_each_other),
        TEST(objects_may_hold_each_other),
        TEST(any_is_decided_without_a_look),
        TEST(sharing_costs_nothing),
        TEST(nested_unions_cost_no_more_than_their_pairs),
        TEST(looking_through_long_strings_counts),
        TEST(the_budget_is_exact),
        TEST(failing_memory_is_reported_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
