/* Native checks ndarray, frombuffer and npscalar: shape, dtype and data, at their edges and under attack.
 *
 * Layer: tests of runtime/check_ndarray.c over tables and documents built by hand.
 */
#include <stdio.h>

#include "numpy.h"

/* ---- arrays */

static void data_are_as_long_as_shape_and_dtype_say(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const struct spec d = plain(codes[i]);
        const bool empty = !strcmp(codes[i], "S0") || !strcmp(codes[i], "U0"),
                   object = !strcmp(codes[i], "O8");
        const size_t n = d.itemsize > 0 ? (size_t)d.itemsize : (size_t)atoi(codes[i] + 1);
        for (size_t len = 0; len < 8 * n + 2; len++) {
            const struct upk_value type = dtype(d);
            assert_int_equal(verdict(array_with(SHAPE(2, 3), type, zero(len))) == MATCH_OK,
                             !empty && !object && len == 6 * n);
        }
        const struct upk_value type = dtype(d);
        assert_int_equal(verdict(array_with(v_empty(&doc, UPK_TUPLE), type, zero(n))) == MATCH_OK,
                         !empty && !object);
    }
    good(array_with(SHAPE(0, 5), F4, zero(0)));
    good(array_with(SHAPE(INT64_C(1) << 60, 0), F4, zero(0)));
    bad(array_with(SHAPE(1000), dtype_of("f8"), zero(8)),
        "array: 1000 items of 8 bytes, and 8 bytes of data");
    bad(array_with(SHAPE(INT64_C(1) << 40), dtype_of("S0"), zero(0)), "array: its items have no size");
#define NO_SHAPE "array: its shape is no tuple of sizes, has too many of them, or is larger than memory"
    bad(array_with(SHAPE(INT64_MAX, INT64_MAX), F4, zero(4)), NO_SHAPE);
    bad(array_with(SHAPE(INT64_C(1) << 32, INT64_C(1) << 32), dtype_of("b1"), zero(0)), NO_SHAPE);
    bad(array_with(SHAPE(INT64_C(1) << 62), F4, zero(0)), NO_SHAPE); /* times 4 it is 2^64 */
    bad(array_with(SHAPE(INT64_C(1) << 62, 4, 0), F4, zero(0)), NO_SHAPE);
    bad(array_with(SHAPE(-1), F4, zero(4)), NO_SHAPE);
    bad(array_with(SHAPE(-2, -2), F4, zero(16)), NO_SHAPE);
    bad(array_with(V_OF(&doc, UPK_TUPLE, v_bool(true)), F4, zero(4)), NO_SHAPE);
    bad(array_with(v_int(1), F4, zero(4)), "array: its shape is no tuple");
    struct upk_value deep = v_empty(&doc, UPK_TUPLE);
    for (int i = 0; i < 64; i++) add(&doc, deep.as.cell, v_int(1));
    good(array_with(deep, F4, zero(4)));
    add(&doc, deep.as.cell, v_int(1));
    bad(array_with(deep, F4, zero(4)), NO_SHAPE);
    bad(array_with(SHAPE(1), F4, v_str("abcd")), "array: its data are no bytes");
    bad(array_with(SHAPE(4), F4, V_OF(&doc, UPK_LIST, v_int(1))), "array: its data are no bytes");
    good(array_with(SHAPE(1), F4, v_data(UPK_STR8, "abcd", 4)));
    good(array_with(SHAPE(1), F4, v_bytearray(&doc, "abcd")));
    bad(array_with(SHAPE(1), dtype(subarray("V8", F4, SHAPE(2), 4, 0)), zero(8)),
        "array: its dtype is a sub-array");
}

static void arrays_prove_a_dtype_that_its_row_did_not(void **state) {
    (void)state;
    struct spec d = plain("O8");
    d.row = UNCHECKED_ROW, d.flags = 0;
    bad(array_with(SHAPE(1), dtype(d), zero(8)), "dtype: flags 0 where 63 belong");
    d = plain("f8"), d.row = UNCHECKED_ROW;
    good(array_with(SHAPE(1), dtype(d), zero(8)));
    bad(array_with(SHAPE(1), v_str("f8"), zero(8)), "dtype: not made by a call");
    /* The dtype's own check failed: nothing of it may be believed, the reason stays the first one. */
    d = RECORD("V8", {"u", dtype_of("U2"), 1 << 30, NULL});
    d.flags = 24;
    bad(array_with(SHAPE(1), dtype(d), zero(8)), "dtype: a field of 8 bytes at 1073741824 in an item of 8");
    /* One that was proved is not proved again, however many arrays have it. */
    struct spec large = record_of("V4", 0, NULL);
    static char names[200][8];
    const struct upk_value f = V_OF(&doc, UPK_TUPLE, F4, v_int(0));
    for (size_t i = 0; i < 200; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%zu", i);
        add(&doc, large.names.as.cell, v_str(names[i]));
        add_key(&large, names[i], f);
    }
    const struct upk_value type = dtype(large);
    struct upk_value all = v_empty(&doc, UPK_LIST);
    for (int i = 0; i < 1000; i++) add(&doc, all.as.cell, array_with(SHAPE(1), type, zero(4)));
    good(all);
    assert_in_range(pairs, 1, 200000);
}

static void objects_come_as_a_list(void **state) {
    (void)state;
    struct upk_value three = V_OF(&doc, UPK_LIST, v_int(1), v_none(), v_str("x"));
    good(array_with(SHAPE(3), dtype_of("O8"), three));
    good(array_with(SHAPE(3, 1), dtype_of("O8"), three));
    good(array_with(SHAPE(0), dtype_of("O8"), v_empty(&doc, UPK_LIST)));
    bad(array_with(SHAPE(2), dtype_of("O8"), three), "array: 2 items, and a list of 3");
    bad(array_with(SHAPE(4), dtype_of("O8"), three), "array: 4 items, and a list of 3");
    bad(array_with(SHAPE(1), dtype_of("O8"), zero(8)), "array: objects that are no list");
    bad(array_with(SHAPE(1), dtype_of("O8"), V_OF(&doc, UPK_TUPLE, v_int(1))),
        "array: objects that are no list");
    bad(func(BUFFER_ROW, V_OF(&doc, UPK_TUPLE, zero(8), dtype_of("O8"), SHAPE(1), v_str("C"))),
        "array: objects as bytes");
    bad(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, dtype_of("O8"), zero(8))), "array: objects as bytes");
}

static void no_array_holds_itself(void **state) {
    (void)state;
    struct upk_value list = V_OF(&doc, UPK_LIST, v_none()),
                     array = array_with(SHAPE(1), dtype_of("O8"), list);
    close_cycle(list, 0, array);
    bad(array, "array: it holds itself");
    /* from the list's side, and through the fill value of a masked one */
    list = V_OF(&doc, UPK_LIST, v_none()), array = array_with(SHAPE(1), dtype_of("O8"), list);
    close_cycle(list, 0, array);
    bad(list, "array: it holds itself");
    array = masked(SHAPE(1), F4, zero(4), zero(1));
    close_cycle(as_object(array.as.cell)->state, 6, array);
    bad(array, "array: it holds itself");
}

/* ---- data of str */

/* `size` bytes of zeros, and a word that is no code point, or the last one, at `at`. */
static struct upk_value words(size_t size, size_t at, bool big, uint32_t word) {
    uint8_t *const p = mem_alloc(&doc.mem, size);
    memset(p, 0, size);
    for (size_t i = 0; i < 4; i++) p[at + (big ? 3 - i : i)] = (uint8_t)(word >> 8 * i);
    return v_data(UPK_BYTES, p, size);
}

static struct upk_value text_type(const char *code, bool big) {
    struct spec d = plain(code);
    if (big) d.order = v_str(">");
    return dtype(d);
}

/* {a: i4, u: U2, s: [{v: U1, w: i2}] * 2} * 2 items: where the code points stand */
static struct upk_value nested_text(bool big) {
    struct spec inner = RECORD("V6", {"v", text_type("U1", big), 0, NULL}, {"w", dtype_of("i2"), 4, NULL});
    inner.flags = 24;
    const struct upk_value pair = dtype(subarray("V12", dtype(inner), SHAPE(2), 1, 24));
    struct spec d = RECORD("V24", {"a", dtype_of("i4"), 0, NULL}, {"u", text_type("U2", big), 4, NULL},
                           {"s", pair, 12, NULL});
    d.flags = 24;
    return dtype(d);
}

static void text_is_code_points(void **state) {
    (void)state;
    static const size_t texts[] = {4, 8, 12, 18};
    for (int big = 0; big < 2; big++) {
        for (size_t at = 0; at <= 44; at += 2) {
            bool text = false;
            for (size_t i = 0; i < 4; i++) text |= at % 24 == texts[i];
            const bool split = at % 24 == 2 || at % 24 == 6 || at % 24 == 10 || at % 24 == 14 ||
                               at % 24 == 16 || at % 24 == 20;
            if (split) continue; /* the word lies across two */
            const struct upk_value v = array_with(SHAPE(2), nested_text(big), words(48, at, big, 0x110000));
            assert_int_equal(verdict(v) == MATCH_OK, !text);
            good(array_with(SHAPE(2), nested_text(big), words(48, at, big, 0x10ffff)));
        }
        for (size_t at = 0; at < 24; at += 4) {
            char expected[60];
            (void)snprintf(expected, sizeof expected, "array: no code point at byte %zu", at);
            bad(array_with(SHAPE(2), text_type("U3", big), words(24, at, big, 0x110000)), expected);
            bad(array_with(SHAPE(2), text_type("U3", big), words(24, at, big, UINT32_MAX)), expected);
            good(array_with(SHAPE(2), text_type("U3", big), words(24, at, big, 0xd800)));
        }
        bad(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, text_type("U1", big), words(4, 0, big, 0x110000))),
            "array: no code point at byte 0");
        bad(func(BUFFER_ROW, V_OF(&doc, UPK_TUPLE, words(4, 0, big, 0x110000), text_type("U1", big), SHAPE(1),
                                  v_str("C"))),
            "array: no code point at byte 0");
    }
}

static void text_is_paid_for(void **state) {
    (void)state;
    budget = 100;
    assert_int_equal(verdict(array_with(SHAPE(1024), text_type("U1", false), zero(4096))), MATCH_BUDGET);
    /* What holds no text is not looked through. */
    struct spec d = RECORD("V1004", {"u", dtype_of("U1"), 0, NULL},
                           {"n", dtype(subarray("V1000", dtype_of("b1"), SHAPE(1000), 1, 0)), 4, NULL});
    d.flags = 24;
    good(array_with(SHAPE(4), dtype(d), zero(4016)));
}

/* ---- masks, buffers, scalars */

static void a_mask_has_a_byte_for_each_value(void **state) {
    (void)state;
    good(masked(SHAPE(2, 2), F4, zero(16), zero(4)));
    bad(masked(SHAPE(2, 2), F4, zero(16), zero(3)), "array: its mask is of another length");
    bad(masked(SHAPE(2, 2), F4, zero(16), zero(5)), "array: its mask is of another length");
    bad(masked(SHAPE(2, 2), F4, zero(16), v_none()), "array: its mask is no bytes");
    good(masked(SHAPE(2), dtype_of("O8"), V_OF(&doc, UPK_LIST, v_int(1), v_int(2)), zero(2)));
    for (size_t len = 0; len < 16; len++) { /* 1 + 2 + 2 * (1 + 1) values in each of two items */
        const struct upk_value type = nested_text(false);
        assert_int_equal(verdict(masked(SHAPE(2), type, zero(48), zero(len))) == MATCH_OK, len == 12);
    }
    struct upk_value long_state = masked(SHAPE(1), F4, zero(4), zero(1));
    add(&doc, as_object(long_state.as.cell)->state.as.cell, v_none());
    bad(long_state, "array: its state is no tuple of 5 or 7");
    bad(func(ARRAY_ROW, v_empty(&doc, UPK_TUPLE)), "array: its state is no tuple of 5 or 7");
}

static void buffers_have_a_length(void **state) {
    (void)state;
    const struct upk_bytes given = {zeros, 8};
    const struct upk_value buffer = {.kind = UPK_BUFFER, .as = {.i = 0}};
#define FROM(data) func(BUFFER_ROW, V_OF(&doc, UPK_TUPLE, data, F4, SHAPE(2), v_str("F")))
    assert_int_equal(verdict(FROM(buffer)), MATCH_REFUSED);
    doc.buffers = &given;
    doc.buffer_count = 1;
    good(FROM(buffer));
    doc.buffers = NULL;
    doc.buffer_count = 0;
    good(FROM(zero(8)));
    good(FROM(v_bytearray(&doc, "12345678")));
    bad(FROM(zero(7)), "array: 2 items of 4 bytes, and 7 bytes of data");
    bad(func(BUFFER_ROW, V_OF(&doc, UPK_TUPLE, zero(8), F4, SHAPE(2))),
        "array: not made of data, dtype, shape and order");
}

static void scalars_have_the_data_of_one_item(void **state) {
    (void)state;
    good(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, F4, zero(4))));
    good(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, dtype_of("U0"), zero(0))));
    bad(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, F4, zero(3))),
        "array: 1 items of 4 bytes, and 3 bytes of data");
    bad(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, dtype_of("V900000000"), zero(0))),
        "array: 1 items of 900000000 bytes, and 0 bytes of data");
    bad(func(SCALAR_ROW, V_OF(&doc, UPK_TUPLE, dtype_of("V900000000"))),
        "array: a scalar not made of dtype and data");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        NUMPY_TEST(data_are_as_long_as_shape_and_dtype_say),
        NUMPY_TEST(arrays_prove_a_dtype_that_its_row_did_not),
        NUMPY_TEST(objects_come_as_a_list),
        NUMPY_TEST(no_array_holds_itself),
        NUMPY_TEST(text_is_code_points),
        NUMPY_TEST(text_is_paid_for),
        NUMPY_TEST(a_mask_has_a_byte_for_each_value),
        NUMPY_TEST(buffers_have_a_length),
        NUMPY_TEST(scalars_have_the_data_of_one_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
