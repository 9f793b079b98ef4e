/* Native check npdtype: each relation of a dtype, at its edges and under attack.
 *
 * Layer: tests of runtime/npy.c and check_npdtype.c over tables and documents built by hand.
 */
#include <stdio.h>

#include "numpy.h"

#define GOOD(d)       good(dtype(d))
#define BAD(d, words) bad(dtype(d), "dtype: " words)

static inline bool dtype_holds(struct spec d) { return verdict(dtype(d)) == MATCH_OK; }

/* ---- dtypes by themselves */

static void every_code_has_one_state(void **state) {
    (void)state;
    static const int64_t numbers[] = {-104, -2, -1, 0,  1,   4,   5,         7,        8,
                                      12,   16, 24, 63, 144, 255, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const struct spec right = plain(codes[i]);
        struct spec d = right;
        const bool ordered = upk_str_is(right.order, "<");
        GOOD(right);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            const int64_t n = numbers[k];
            d = right, d.itemsize = n;
            assert_int_equal(dtype_holds(d), n == right.itemsize);
            d = right, d.align = n;
            assert_int_equal(dtype_holds(d), n == right.align);
            d = right, d.flags = n;
            assert_int_equal(dtype_holds(d), n == right.flags);
        }
        d = right, d.order = v_str(">");
        assert_int_equal(dtype_holds(d), ordered);
        d = right, d.order = v_str("<");
        assert_int_equal(dtype_holds(d), ordered);
        d = right, d.order = v_str("|");
        assert_int_equal(dtype_holds(d), !ordered);
        static const char *const orders[] = {"=", "", "<<", "x"};
        for (size_t k = 0; k < 4; k++) {
            d = right, d.order = v_str(orders[k]);
            assert_false(dtype_holds(d));
        }
    }
}

static void codes_are_a_closed_list(void **state) {
    (void)state;
    static const char *const others[] = {"",
                                         "f",
                                         "8",
                                         "f3",
                                         "f 8",
                                         "<f8",
                                         "O",
                                         "O4",
                                         "O16",
                                         "object",
                                         "i16",
                                         "a5",
                                         "S",
                                         "S01",
                                         "S-1",
                                         "S+1",
                                         "S 1",
                                         "S1 ",
                                         "S1.0",
                                         "U1x",
                                         "V99999999999",
                                         "V18446744073709551616",
                                         "T",
                                         "M8[ns]",
                                         "b8",
                                         "?",
                                         "g",
                                         "p",
                                         "W3"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct spec d = plain("V1");
        d.code = v_str(others[i]);
        BAD(d, "its code");
    }
    GOOD(plain("V2147483647"));
    struct spec d = plain("V2147483648");
    BAD(d, "items larger than 2 GiB");
    d = plain("U536870911");
    d.itemsize = INT64_C(536870911) * 4;
    GOOD(d);
    d = plain("U536870912");
    d.itemsize = INT64_C(536870912) * 4;
    BAD(d, "items larger than 2 GiB");
    d = plain("f8"), d.code = v_bytes("f8");
    BAD(d, "its code");
    d = plain("f8"), d.code = v_data(UPK_STR8, "f8", 2), d.order = v_data(UPK_STR8, "<", 1); /* Python 2 */
    GOOD(d);
}

static void states_have_their_form(void **state) {
    (void)state;
    struct object *o;
    const struct upk_value any_code = V_OF(&doc, UPK_TUPLE, v_str("f8"), v_bool(false), v_bool(true));
    bad(func(DTYPE_ROW, v_empty(&doc, UPK_TUPLE)), "dtype: no code");
    bad(func(DTYPE_ROW, any_code), "dtype: its state is no tuple of 8 or 9");
    for (size_t len = 0; len < 12; len++) {
        struct upk_value s = v_empty(&doc, UPK_TUPLE);
        for (size_t i = 0; i < len; i++) add(&doc, s.as.cell, v_int(3));
        o = new_object(&doc, DTYPE_ROW, UPK_VERB_CALL, any_code);
        set_state(o, s);
        assert_int_equal(verdict(value_of_cell(&o->cell)), MATCH_REFUSED);
    }
    struct spec d = plain("f8");
    o = made(&d);
    o->state.as.cell->items[0] = v_int(4);
    bad(value_of_cell(&o->cell), "dtype: the version of its state");
    o = made(&d);
    o->state.as.cell->items[5] = v_data(UPK_BIGINT, zeros, 9);
    bad(value_of_cell(&o->cell), "dtype: item size, alignment or flags");
    d = plain("f8"), d.names = V_OF(&doc, UPK_TUPLE, v_str("a"));
    BAD(d, "its fields are no dict with a tuple of names");
    d = plain("f8"), d.base = v_int(1);
    BAD(d, "its sub-array is no pair");
    d = RECORD("V4", {"a", dtype_of("i4"), 0, NULL});
    d.names = V_OF(&doc, UPK_LIST, v_str("a"));
    BAD(d, "its fields are no dict with a tuple of names");
}

static void times_have_a_known_unit(void **state) {
    (void)state;
    static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                        "ms", "us", "ns", "ps", "fs", "as", "generic"};
    struct spec d = plain("M8");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        d.metadata = unit(units[i], 25);
        GOOD(d);
    }
    static const char *const others[] = {"", "y", "B", "n", "nsx", "x"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        d.metadata = unit(others[i], 1);
        BAD(d, "metadata");
    }
    d.metadata = unit("ns", 0);
    BAD(d, "metadata");
    d.metadata = unit("ns", INT64_C(1) << 31);
    BAD(d, "metadata");
    d.metadata = unit("ns", 1);
    add(&doc, d.metadata.as.cell->items[0].as.cell, v_str("k")),
        add(&doc, d.metadata.as.cell->items[0].as.cell, v_int(1));
    BAD(d, "metadata");
    d.metadata.kind = UPK_INVALID;
    BAD(d, "metadata");
    d = plain("f8"), d.metadata = unit("ns", 1);
    BAD(d, "metadata");
    d = plain("f8"), d.metadata = v_none();
    BAD(d, "metadata");
    d = RECORD("V4", {"a", dtype_of("i4"), 0, NULL});
    d.metadata = unit("ns", 1);
    BAD(d, "metadata");
}

/* ---- sub-arrays and records */

static void subarrays_are_as_large_as_their_items(void **state) {
    (void)state;
    GOOD(subarray("V8", dtype_of("f4"), SHAPE(2), 4, 0));
    GOOD(subarray("V48", dtype_of("U2"), SHAPE(3, 2), 4, 8));
    GOOD(subarray("V5", dtype_of("S5"), SHAPE(1), 1, 0));
    BAD(subarray("V9", dtype_of("f4"), SHAPE(2), 4, 0), "a sub-array of another size than its item");
    BAD(subarray("V8", dtype_of("f4"), SHAPE(2), 1, 0), "alignment is not that of its parts");
    BAD(subarray("V8", dtype_of("f4"), SHAPE(2), 0, 0), "alignment");
    BAD(subarray("V8", dtype_of("f4"), SHAPE(2), 4, 8), "flags 8 where 0 belong");
    BAD(subarray("V8", dtype_of("U2"), SHAPE(1), 4, 0), "flags 0 where 8 belong");
    BAD(subarray("V4", dtype_of("f4"), v_empty(&doc, UPK_TUPLE), 4, 0), "its sub-array has no dimension");
    BAD(subarray("V4", dtype_of("f4"), SHAPE(0), 4, 0), "a sub-array of another size than its item");
    BAD(subarray("V0", dtype_of("f4"), SHAPE(0), 4, 0), "item size is not that of its code, or none");
    BAD(subarray("V4", dtype_of("f4"), SHAPE(-1), 4, 0), "the shape of a sub-array");
    BAD(subarray("V4", dtype_of("f4"), V_OF(&doc, UPK_TUPLE, v_bool(true)), 4, 0),
        "the shape of a sub-array");
    BAD(subarray("V4", dtype_of("f4"), V_OF(&doc, UPK_LIST, v_int(1)), 4, 0),
        "the shape of its sub-array is no tuple");
    BAD(subarray("V8", dtype_of("f4"), SHAPE(INT64_MAX, 2), 4, 0), "the shape of a sub-array");
    BAD(subarray("V8", dtype_of("f8"), SHAPE(INT64_C(1) << 61, 8), 8, 0), "the shape of a sub-array");
    BAD(subarray("V8", dtype_of("S0"), SHAPE(INT64_MAX), 1, 0), "a part of no size");
    BAD(subarray("V8", dtype_of("O8"), SHAPE(1), 8, 63), "objects within a record or sub-array");
    BAD(subarray("V8", v_str("f8"), SHAPE(1), 8, 0), "not made by a call");
    BAD(subarray("S8", dtype_of("f8"), SHAPE(1), 8, 0), "fields or a sub-array in another type than void");
    BAD(subarray("O8", dtype_of("f8"), SHAPE(1), -1, 63), "fields or a sub-array in another type than void");
    struct upk_value deep = v_empty(&doc, UPK_TUPLE);
    for (int i = 0; i < 64; i++) add(&doc, deep.as.cell, v_int(1));
    GOOD(subarray("V4", dtype_of("f4"), deep, 4, 0));
    add(&doc, deep.as.cell, v_int(1));
    BAD(subarray("V4", dtype_of("f4"), deep, 4, 0), "the shape of a sub-array");
}

static void fields_lie_within_their_record(void **state) {
    (void)state;
    GOOD(RECORD("V8", {"a", F4, 0, NULL}, {"b", F4, 4, NULL}));
    GOOD(RECORD("V5", {"a", F4, 1, NULL}));
    GOOD(RECORD("V4", {"a", F4, 0, NULL}, {"b", dtype_of("i2"), 2, NULL})); /* they may overlap */
    BAD(RECORD("V4", {"a", F4, 1, NULL}), "a field of 4 bytes at 1 in an item of 4");
    BAD(RECORD("V8", {"a", F4, 1 << 20, NULL}), "a field of 4 bytes at 1048576 in an item of 8");
    BAD(RECORD("V8", {"a", F4, INT64_MAX, NULL}),
        "a field of 4 bytes at 9223372036854775807 in an item of 8");
    BAD(RECORD("V8", {"a", F4, -1, NULL}), "a name without field");
    BAD(RECORD("V8", {"a", dtype_of("S0"), 0, NULL}), "a part of no size");
    BAD(RECORD("V8", {"a", dtype_of("O8"), 0, NULL}), "objects within a record or sub-array");
    BAD(RECORD("V8", {"a", v_none(), 0, NULL}), "not made by a call");
    struct spec d = RECORD("V8", {"a", dtype(subarray("V8", F4, SHAPE(2), 4, 0)), 0, NULL});
    GOOD(d);
    d = RECORD("V8", {"a", dtype(subarray("V8", dtype_of("O8"), SHAPE(1), 8, 63)), 0, NULL});
    assert_int_equal(verdict(dtype(d)), MATCH_REFUSED);
    d = RECORD("V0", {"a", F4, 0, NULL});
    BAD(d, "item size is not that of its code, or none");
    d = RECORD("V8", {"a", F4, 0, NULL});
    d.itemsize = 1 << 30;
    BAD(d, "item size is not that of its code, or none");
    d = RECORD("V8", {"a", F4, 0, NULL});
    d.base = V_OF(&doc, UPK_TUPLE, F4, SHAPE(2));
    BAD(d, "both fields and a sub-array");
    d = RECORD("O8", {"a", F4, 0, NULL});
    BAD(d, "fields or a sub-array in another type than void");
}

static void flags_of_records_come_from_their_fields(void **state) {
    (void)state;
    static const int64_t numbers[] = {-112, -104, 0, 8, 16, 24, 63, 127, 144, 152, 255, 16 + 256};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const int64_t n = numbers[i];
        struct spec d = RECORD("V8", {"a", F4, 0, NULL}); /* aligned or not, both are a record's */
        d.flags = n;
        d.align = n == 144 || n == -112 ? 4 : 1;
        assert_int_equal(dtype_holds(d), n == 16 || n == 144 || n == -112);
        d = RECORD("V8", {"a", dtype_of("U2"), 0, NULL});
        d.flags = n;
        d.align = n == 152 || n == -104 ? 4 : 1;
        assert_int_equal(dtype_holds(d), n == 24 || n == 152 || n == -104);
    }
    struct spec inner = RECORD("V8", {"u", dtype_of("U2"), 0, NULL});
    inner.flags = -104, inner.align = 4;
    struct spec outer = RECORD("V8", {"r", dtype(inner), 0, NULL});
    outer.flags = 24;
    GOOD(outer);
    outer = RECORD("V8", {"r", dtype(inner), 0, NULL});
    outer.flags = 16;
    BAD(outer, "flags 16 where 24 belong");
    outer = subarray("V16", dtype(inner), SHAPE(2), 4, 152);
    GOOD(outer);
}

static void aligned_records_are_aligned(void **state) {
    (void)state;
    struct spec d = RECORD("V16", {"a", dtype_of("i1"), 0, NULL}, {"b", dtype_of("f8"), 8, NULL});
    d.flags = 144, d.align = 8;
    GOOD(d);
    d = RECORD("V16", {"a", dtype_of("i1"), 0, NULL}, {"b", dtype_of("f8"), 8, NULL});
    d.flags = 144, d.align = 1;
    BAD(d, "alignment is not that of its parts");
    d = RECORD("V16", {"b", dtype_of("f8"), 4, NULL});
    d.flags = 144, d.align = 8;
    BAD(d, "a field out of alignment");
    d = RECORD("V12", {"b", dtype_of("f8"), 0, NULL});
    d.flags = 144, d.align = 8;
    BAD(d, "item size out of alignment");
    d = RECORD("V8", {"b", dtype_of("f8"), 0, NULL});
    d.align = 8;
    BAD(d, "alignment is not that of its parts");
}

static void a_field_has_one_name(void **state) {
    (void)state;
    struct spec d = RECORD("V8", {"a", F4, 0, NULL});
    add(&doc, d.names.as.cell, v_data(UPK_STR8, "a", 1)); /* as Python 2 writes it, and equal all the same */
    BAD(d, "a name without field, or two that are equal");
    d = RECORD("V8", {"a", F4, 0, NULL}, {"b", F4, 4, NULL});
    d.names.as.cell->items[1] = v_str("a");
    BAD(d, "fields that no name has");
    d = RECORD("V8", {"a", F4, 0, NULL});
    add_key(&d, "x", field((struct member){"x", dtype_of("O8"), 1 << 20, NULL}));
    BAD(d, "fields that no name has");
    d = RECORD("V8", {"a", F4, 0, NULL});
    add(&doc, d.names.as.cell, v_str("b"));
    BAD(d, "a name without field, or two that are equal");
    d = RECORD("V8", {"a", F4, 0, NULL});
    add(&doc, d.names.as.cell, v_bytes("a"));
    BAD(d, "a name without field, or two that are equal");
    d = RECORD("V8", {"a", F4, 0, NULL});
    d.names.as.cell->items[0] = v_bytes("a");
    BAD(d, "fields that no name has");
    d = RECORD("V8", {"a", F4, 0, NULL});
    add(&doc, d.fields.as.cell, v_bytes("b")),
        add(&doc, d.fields.as.cell, V_OF(&doc, UPK_TUPLE, F4, v_int(0)));
    BAD(d, "fields that no name has");
    d = RECORD("V8", {"a", F4, 0, NULL});
    d.fields.as.cell->items[1] = V_OF(&doc, UPK_LIST, F4, v_int(0));
    BAD(d, "a field that is no pair");
    d.fields.as.cell->items[1] = V_OF(&doc, UPK_TUPLE, F4);
    BAD(d, "a field that is no pair");
    d.fields.as.cell->items[1] = V_OF(&doc, UPK_TUPLE, F4, v_int(0), v_none(), v_none());
    BAD(d, "a field that is no pair");
    d.fields.as.cell->items[1] = V_OF(&doc, UPK_TUPLE, F4, v_int(0), v_none());
    GOOD(d);
}

/* What stands behind a key that is no name must be what a name was proved for: numpy reads fields by any key. */
static void a_title_is_the_same_field(void **state) {
    (void)state;
    struct upk_value type = F4;
    struct spec d = RECORD("V8", {"a", type, 0, "t"});
    add_key(&d, "t", field((struct member){"t", type, 0, "t"}));
    GOOD(d);
    type = F4, d = RECORD("V8", {"a", type, 0, "t"});
    BAD(d, "a title without its field, or that is a name");
    d = RECORD("V8", {"a", F4, 0, "t"});
    add_key(&d, "t", field((struct member){"t", F4, 0, "t"})); /* an equal dtype, but another one */
    assert_int_equal(verdict(dtype(d)), MATCH_REFUSED);
    type = F4, d = RECORD("V8", {"a", type, 0, "t"});
    add_key(&d, "t", field((struct member){"t", type, 1 << 20, "t"}));
    BAD(d, "a title that is another field");
    type = F4, d = RECORD("V8", {"a", type, 0, "a"});
    BAD(d, "a title without its field, or that is a name");
    /* Two names of one title, or a title that is another name, must not make room for a key that nobody looks at. */
    type = F4, d = RECORD("V8", {"a", type, 0, "t"}, {"b", type, 0, "t"});
    add_key(&d, "t", field((struct member){"t", type, 0, "t"}));
    add_key(&d, "x", field((struct member){"x", dtype_of("O8"), 0, NULL}));
    BAD(d, "fields that no name has");
    type = F4, d = RECORD("V8", {"a", type, 0, "t"}, {"b", type, 0, "t"});
    add_key(&d, "t", field((struct member){"t", type, 0, "t"}));
    BAD(d, "a title without its field, or that is a name");
    type = F4, d = RECORD("V8", {"a", type, 0, "b"}, {"b", type, 0, NULL});
    add_key(&d, "x", field((struct member){"x", dtype_of("O8"), 0, NULL}));
    BAD(d, "fields that no name has");
    /* Keys that have each other for a title. */
    type = F4, d = RECORD("V8", {"a", type, 0, NULL});
    add_key(&d, "x", field((struct member){"x", dtype_of("O8"), 0, "y"}));
    add_key(&d, "y", field((struct member){"y", dtype_of("O8"), 0, "x"}));
    BAD(d, "a title that is another field");
}

static struct upk_value class_name(const char *module, const char *name) {
    struct upk_value v = v_global(&doc, DTYPE_ROW);
    struct global *const g = as_global(v.as.cell);
    g->module = (const uint8_t *)module, g->module_len = (uint32_t)strlen(module);
    g->name = (const uint8_t *)name, g->name_len = (uint32_t)strlen(name);
    return v;
}

static void the_class_of_records_is_the_only_one(void **state) {
    (void)state;
    static const char *const classes[][2] = {{"numpy", "record"},  {"numpy.rec", "record"},
                                             {"numpy", "object_"}, {"numpy", "void"},
                                             {"m", "record"},      {"numpy", "recor"}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        struct spec d = RECORD("V8", {"a", F4, 0, NULL});
        d.code = class_name(classes[i][0], classes[i][1]);
        assert_int_equal(dtype_holds(d), i < 2);
    }
    struct spec d = plain("V8");
    d.code = class_name("numpy", "record");
    BAD(d, "a class without fields");
    d = RECORD("V8", {"a", F4, 0, NULL});
    d.code = class_name("numpy", "record"), d.itemsize = -1;
    BAD(d, "item size is not that of its code, or none");
    d.itemsize = INT64_C(1) << 31;
    BAD(d, "items larger than 2 GiB");
}

/* ---- dtypes within dtypes */

static void nesting_ends_at_16(void **state) {
    (void)state;
    good(nested(16));
    bad(nested(17), "dtype: more than 16 levels");
    good(array_with(SHAPE(2), nested(16), zero(8)));
    bad(array_with(SHAPE(2), nested(17), zero(8)), "dtype: more than 16 levels");
}

static struct spec four_of(struct upk_value v) {
    return RECORD("V4", {"a", v, 0, NULL}, {"b", v, 0, NULL}, {"c", v, 0, NULL}, {"d", v, 0, NULL});
}

static void a_shared_dtype_is_proved_once(void **state) {
    (void)state;
    struct upk_value v = F4;
    for (int i = 0; i < 15; i++) v = dtype(four_of(v));
    good(v);
    assert_in_range(pairs, 1, 2000);
    bad(dtype(four_of(v)), "dtype: more than 16 levels");
    /* Wrong at the bottom, it is wrong wherever it is met. */
    struct spec d = four_of(F4);
    d.itemsize = 3;
    v = dtype(d);
    for (int i = 0; i < 4; i++) v = dtype(four_of(v));
    assert_int_equal(verdict(v), MATCH_REFUSED);
}

/* More dtypes than are remembered. */
static void many_dtypes_are_proved_all_the_same(void **state) {
    (void)state;
    const struct upk_value all = v_empty(&doc, UPK_LIST);
    for (int i = 0; i < 300; i++) {
        struct upk_value one = dtype(RECORD("V4", {"a", F4, 0, NULL}));
        add(&doc, all.as.cell, array_with(SHAPE(1), one, zero(4)));
    }
    good(all);
    struct spec wrong = RECORD("V4", {"a", dtype_of("f8"), 0, NULL});
    add(&doc, all.as.cell, array_with(SHAPE(1), dtype(wrong), zero(4)));
    assert_int_equal(verdict(all), MATCH_REFUSED);
}

static void no_dtype_holds_itself(void **state) {
    (void)state;
    struct upk_value f = V_OF(&doc, UPK_TUPLE, v_none(), v_int(0));
    struct spec d = RECORD("V4", {"a", F4, 0, NULL});
    d.fields.as.cell->items[1] = f;
    struct upk_value whole = dtype(d);
    close_cycle(f, 0, whole);
    bad(whole, "dtype: it holds itself");

    f = V_OF(&doc, UPK_TUPLE, v_none(), SHAPE(1));
    d = plain("V4"), d.base = f;
    whole = dtype(d);
    close_cycle(f, 0, whole);
    bad(whole, "dtype: it holds itself");

    f = V_OF(&doc, UPK_TUPLE, v_none(), v_int(0));
    d = RECORD("V4", {"a", F4, 0, NULL});
    d.fields.as.cell->items[1] = f;
    whole = dtype(d);
    const struct upk_value around = dtype(subarray("V4", whole, SHAPE(1), 1, 16));
    close_cycle(f, 0, around);
    bad(array_with(SHAPE(1), around, zero(4)), "dtype: it holds itself");

    /* Beside a cycle of something else, dtypes and arrays are as good as ever. */
    struct upk_value list = V_OF(&doc, UPK_LIST, array_with(SHAPE(1), nested(3), zero(4)), v_none());
    close_cycle(list, 1, list);
    good(list);
    /* Also where their sizes with sharing written out are too large to tell apart. */
    struct upk_value v = F4;
    for (int i = 0; i < 15; i++) v = dtype(four_of(v));
    v = array_with(SHAPE(1), v, zero(4));
    list = V_OF(&doc, UPK_LIST, v, v_none());
    close_cycle(list, 1, list);
    good(list);
    assert_int_equal(v.as.cell->size, UINT32_MAX);
}

/* A record of many fields; `back`: its names stand the other way round, as Python 2 might write them. */
static struct spec many_fields(bool back) {
    enum { NAMES = 20000 };
    static char names[NAMES][8];
    struct spec d = RECORD("V4", {"a", F4, 0, NULL});
    const struct upk_value f = V_OF(&doc, UPK_TUPLE, F4, v_int(0));
    for (size_t i = 0; i < NAMES; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%05zu", i);
        add_key(&d, names[i], f);
    }
    for (size_t i = 0; i < NAMES; i++) add(&doc, d.names.as.cell, v_str(names[back ? NAMES - 1 - i : i]));
    return d;
}

static void many_names_are_found_in_their_order(void **state) {
    (void)state;
    struct spec d = many_fields(false);
    GOOD(d);
    assert_in_range(pairs, 20000, 300000);
}

static void many_names_out_of_order_are_paid_for(void **state) {
    (void)state;
    budget = 1000000;
    assert_int_equal(verdict(dtype(many_fields(true))), MATCH_BUDGET);
    assert_in_range(pairs, budget, budget + 20000);
}

/* Equal but for their ends, and none the memo's. */
static void long_names_are_paid_for(void **state) {
    (void)state;
    enum { LENGTH = 1 << 20 };
    static char texts[4][LENGTH + 1];
    struct spec d = RECORD("V4", {"a", F4, 0, NULL});
    const struct upk_value f = V_OF(&doc, UPK_TUPLE, F4, v_int(0));
    for (size_t i = 0; i < 4; i++) {
        memset(texts[i], 'n', LENGTH - 1);
        texts[i][LENGTH - 1] = (char)('a' + i / 2);
        if (i % 2 == 0) add(&doc, d.names.as.cell, v_str(texts[i]));
    }
    add_key(&d, texts[3], f);
    add_key(&d, texts[1], f);
    GOOD(d);
    assert_in_range(pairs, 3 * LENGTH / 128, 9 * LENGTH / 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        NUMPY_TEST(every_code_has_one_state),
        NUMPY_TEST(codes_are_a_closed_list),
        NUMPY_TEST(states_have_their_form),
        NUMPY_TEST(times_have_a_known_unit),
        NUMPY_TEST(subarrays_are_as_large_as_their_items),
        NUMPY_TEST(fields_lie_within_their_record),
        NUMPY_TEST(flags_of_records_come_from_their_fields),
        NUMPY_TEST(aligned_records_are_aligned),
        NUMPY_TEST(a_field_has_one_name),
        NUMPY_TEST(a_title_is_the_same_field),
        NUMPY_TEST(the_class_of_records_is_the_only_one),
        NUMPY_TEST(nesting_ends_at_16),
        NUMPY_TEST(a_shared_dtype_is_proved_once),
        NUMPY_TEST(many_dtypes_are_proved_all_the_same),
        NUMPY_TEST(no_dtype_holds_itself),
        NUMPY_TEST(many_names_are_found_in_their_order),
        NUMPY_TEST(many_names_out_of_order_are_paid_for),
        NUMPY_TEST(long_names_are_paid_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
