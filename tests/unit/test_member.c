/* The value of an enum's or flag's member, in every spelling, and fields whose places a table names.
 *
 * Layer: tests of runtime/member.c and runtime/field.c over tables and documents built by hand.
 */
#include "matching.h"

/* An enum m::Mode { FAST = "fast", RAW = b"r", NONE = none, YES = true, SIX = 6, LOW = -3, BIG = 2^64, PAIR = not said } and
 * a flag m::Perm { R = 4, W = 2, TOP = 2^62 }; operator::or_ of two of Perm; an exception m::ModeError(message), a class of an
 * enum's form that no template wrote, and a dataclass whose state is a list by place. */
struct rows {
    uint32_t mode, plain, error, or_, perm, point;
    uint32_t fast, raw, none, yes, six, low, big, pair, r, w, top;
};
static struct rows rows;

static uint32_t member_row(const char *name, uint32_t class, uint32_t value) {
    const uint32_t row = t_row(&table, "m", name, UPK_ROW_CONST, 0);
    t_form(&table, UPK_VERB_CONST, class, 0)->value = value;
    return row;
}

static uint32_t called_row(const char *module, const char *name, uint32_t special, uint32_t verb,
                           uint32_t class, uint32_t args, uint32_t flags) {
    const uint32_t row = t_row(&table, module, name, UPK_ROW_CLASS, special);
    t_form(&table, verb, class, args)->flags = flags;
    return row;
}

static uint32_t two_places(void) {
    const uint32_t first = table.policy.elem_count;
    const uint32_t i = int_type();
    table.elems[first] = (struct upk_elem){i, t_text(&table, "x")};
    table.elems[first + 1] = (struct upk_elem){i, t_text(&table, "y")};
    table.policy.elem_count += 2;
    return t_type(&table, (struct upk_type){.kind = UPK_TYPE_PLACES, .a = first, .b = 2, .hi = UINT64_MAX});
}

/* Rows in the order of their names, as in every table. */
static void build_rows(void) {
    const uint32_t any = t_plain(&table, UPK_TYPE_ANY), one = T_TUPLE(&table, 0, false, any);
    const uint32_t mode = t_class(&table, "m", "Mode"), error = t_class(&table, "m", "ModeError");
    const uint32_t perm = t_class(&table, "m", "Perm"), plain = t_class(&table, "m", "Plain");
    const uint32_t big = t_int_is(&table, 0);
    table.bounds[table.types[big].a] = (struct upk_bound){.lo = {0, 1}, .hi = {0, 1}};
    rows.mode = called_row("m", "Mode", 0, UPK_VERB_CALL, mode, one, UPK_FORM_TEMPLATE);
    /* '-' is less than '.': a name between the class and its members. */
    (void)called_row("m", "Mode-odd", 0, UPK_VERB_CALL, plain, one, 0);
    rows.big = member_row("Mode.BIG", mode, big);
    rows.fast = member_row("Mode.FAST", mode, t_literal(&table, UPK_TYPE_STR_IS, "fast"));
    rows.low = member_row("Mode.LOW", mode, t_int_is(&table, -3));
    rows.none = member_row("Mode.NONE", mode, t_plain(&table, UPK_TYPE_NONE));
    rows.pair = member_row("Mode.PAIR", mode, 0);
    rows.raw = member_row("Mode.RAW", mode, t_literal(&table, UPK_TYPE_BYTES_IS, "r"));
    rows.six = member_row("Mode.SIX", mode, t_int_is(&table, 6));
    rows.yes = member_row("Mode.YES", mode, t_plain(&table, UPK_TYPE_TRUE));
    rows.error = called_row("m", "ModeError", 0, UPK_VERB_CALL, error, one, UPK_FORM_TEMPLATE);
    rows.perm = called_row("m", "Perm", 0, UPK_VERB_CALL, perm, one, UPK_FORM_TEMPLATE);
    rows.r = member_row("Perm.R", perm, t_int_is(&table, 4));
    rows.top = member_row("Perm.TOP", perm, t_int_is(&table, INT64_C(1) << 62));
    rows.w = member_row("Perm.W", perm, t_int_is(&table, 2));
    rows.plain = called_row("m", "Plain", 0, UPK_VERB_CALL, plain, one, 0);
    rows.point =
        called_row("m", "Point", 0, UPK_VERB_NEW, t_class(&table, "m", "Point"), t_no_args(&table), 0);
    table.forms[table.policy.form_count - 1].state = two_places();
    const uint32_t either = t_of(&table, UPK_TYPE_OBJECT, perm, 0);
    rows.or_ = called_row("operator", "or_", UPK_SPECIAL_OR, UPK_VERB_FUNC, perm,
                          T_TUPLE(&table, 0, false, either, either), UPK_FORM_TEMPLATE);
}

static int set_up_rows(void **state) {
    if (set_up(state) != 0) return -1;
    build_rows();
    return 0;
}

/* ---- documents */

static struct upk_value by_name(uint32_t row) { return v_global(&doc, row); }

static struct upk_value called(uint32_t row, struct upk_value arg) {
    return object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, arg));
}

static struct upk_value or_of(struct upk_value a, struct upk_value b) {
    return object(rows.or_, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, a, b));
}

/* Every object gets the form that fits it, as in a decoded document. */
static bool member_of(struct upk_value v, struct upk_value *out) {
    assert_int_equal(match(v, T_UNION(&table, t_plain(&table, UPK_TYPE_ANY))), MATCH_OK);
    return upk_get_member(&doc, v, out);
}

static void assert_no_member(struct upk_value v) {
    struct upk_value out = {.kind = UPK_EXT};
    assert_false(member_of(v, &out));
    assert_int_equal(out.kind, UPK_EXT);
}

static void assert_member_int(struct upk_value v, int64_t wanted) {
    struct upk_value out;
    int64_t i;
    assert_true(member_of(v, &out));
    assert_true(upk_get_int64(out, &i));
    assert_int_equal(i, wanted);
}

/* ---- single members */

static void a_member_by_value_is_its_argument(void **state) {
    (void)state;
    struct upk_value out;
    assert_true(member_of(called(rows.mode, v_str("fast")), &out));
    assert_true(upk_str_is(out, "fast"));
    assert_member_int(called(rows.perm, v_int(6)), 6);
    const struct upk_value pair = V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2));
    assert_true(member_of(called(rows.mode, pair), &out));
    assert_ptr_equal(out.as.cell, pair.as.cell);
}

static void a_member_by_name_has_the_value_that_the_policy_says(void **state) {
    (void)state;
    struct upk_value out;
    const uint8_t *bytes;
    size_t len;
    bool truth = false;
    assert_true(member_of(by_name(rows.fast), &out));
    assert_true(upk_str_is(out, "fast"));
    assert_true(out.flags & VALUE_ASCII);
    assert_true(member_of(by_name(rows.raw), &out));
    assert_true(upk_get_bytes(out, &bytes, &len) && len == 1 && *bytes == 'r');
    assert_true(member_of(by_name(rows.none), &out) && upk_is(out, UPK_NONE));
    assert_true(member_of(by_name(rows.yes), &out) && upk_get_bool(out, &truth) && truth);
    assert_member_int(by_name(rows.six), 6);
    assert_member_int(by_name(rows.low), -3);
    assert_member_int(by_name(rows.top), INT64_C(1) << 62);
    assert_no_member(by_name(rows.big));
    assert_no_member(by_name(rows.pair));
}

static void a_name_that_getattr_spells_is_that_name(void **state) {
    (void)state;
    struct object *o = new_object(&doc, 0, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    more_of(&doc, o)->value = by_name(rows.six);
    o->cell.flags |= CELL_NORMAL;
    assert_member_int(value_of_cell(&o->cell), 6);
}

static void what_is_no_member_has_no_value(void **state) {
    (void)state;
    assert_no_member(v_int(6));
    assert_no_member(V_OF(&doc, UPK_LIST, v_int(6)));
    assert_no_member(called(rows.error, v_str("message")));
    assert_no_member(called(rows.plain, v_int(6)));
    const struct upk_value v = called(rows.mode, v_int(6));
    struct upk_value out;
    assert_true(member_of(v, &out));
    doc.policy = NULL; /* as if it were inspected */
    assert_false(upk_get_member(&doc, v, &out));
    assert_false(upk_get_member(&doc, by_name(rows.six), &out));
}

/* ---- chains */

static void a_chain_of_or_is_the_bits_of_its_members(void **state) {
    (void)state;
    const struct upk_value r = by_name(rows.r), w = by_name(rows.w), top = by_name(rows.top);
    assert_member_int(or_of(r, w), 6);
    assert_member_int(or_of(or_of(r, w), top), (INT64_C(1) << 62) + 6);
    assert_member_int(or_of(or_of(w, called(rows.perm, v_int(1))), r), 7);
    assert_member_int(or_of(r, r), 4);
    assert_member_int(or_of(called(rows.perm, v_int(-1)), r), -1);
}

static void a_long_chain_needs_no_stack(void **state) {
    (void)state;
    struct upk_value v = by_name(rows.r);
    for (int i = 0; i < 3000; i++) v = or_of(v, by_name(rows.w));
    assert_member_int(v, 6);
}

/* Python puts a chain to the left alone; trees could mean 2^n members. */
static void a_tree_of_or_is_refused(void **state) {
    (void)state;
    const uint32_t any = t_plain(&table, UPK_TYPE_ANY);
    struct upk_value v = or_of(by_name(rows.r), by_name(rows.w));
    assert_int_equal(match(or_of(v, v), any), MATCH_REFUSED);
    assert_string_equal(why.detail, "the second operand is joined itself, which Python never writes");
    doc.objects = NULL;
    v = or_of(by_name(rows.top), or_of(by_name(rows.w), by_name(rows.r)));
    assert_int_equal(match(v, any), MATCH_REFUSED);
}

static void a_chain_of_what_is_no_int_of_64_bits_has_no_value(void **state) {
    (void)state;
    static const uint8_t two_to_64[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
    const struct upk_value big = called(rows.perm, v_data(UPK_BIGINT, two_to_64, 9)), r = by_name(rows.r);
    struct upk_value out;
    assert_no_member(or_of(big, r));
    assert_no_member(or_of(r, big));
    assert_no_member(or_of(called(rows.perm, v_str("x")), r));
    assert_true(member_of(big, &out) && upk_is(out, UPK_BIGINT));
}

/* ---- fields */

static void a_list_by_place_has_the_fields_that_the_table_names(void **state) {
    (void)state;
    struct object *o = new_object(&doc, rows.point, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    set_state(o, V_OF(&doc, UPK_LIST, v_int(8), v_int(9)));
    const struct upk_value v = value_of_cell(&o->cell);
    int64_t i = 0;
    assert_int_equal(match(v, t_plain(&table, UPK_TYPE_ANY)), MATCH_OK);
    assert_true(upk_field_int64(&doc, v, "x", &i) && i == 8);
    assert_true(upk_field_int64(&doc, v, "y", &i) && i == 9);
    assert_false(upk_field_int64(&doc, v, "z", &i));
    assert_false(upk_field_int64(&doc, v, "", &i));
    doc.policy = NULL;
    assert_false(upk_field_int64(&doc, v, "x", &i));
}

#define TEST_ROWS(name) cmocka_unit_test_setup_teardown(name, set_up_rows, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ROWS(a_member_by_value_is_its_argument),
        TEST_ROWS(a_member_by_name_has_the_value_that_the_policy_says),
        TEST_ROWS(a_name_that_getattr_spells_is_that_name),
        TEST_ROWS(what_is_no_member_has_no_value),
        TEST_ROWS(a_chain_of_or_is_the_bits_of_its_members),
        TEST_ROWS(a_long_chain_needs_no_stack),
        TEST_ROWS(a_tree_of_or_is_refused),
        TEST_ROWS(a_chain_of_what_is_no_int_of_64_bits_has_no_value),
        TEST_ROWS(a_list_by_place_has_the_fields_that_the_table_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
