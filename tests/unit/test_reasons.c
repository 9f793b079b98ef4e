/* The reasons of a refusal, and types as a policy writes them.
 *
 * Layer: tests of runtime/shape_explain.c, type_name.c.
 */
#include "../../runtime/match.h"

#include "matching.h"

/* ---- types */

static void assert_type(uint32_t type, const char *want) {
    char out[300];
    struct text t = {.at = out, .size = sizeof out};
    text_add_type(&t, &table.policy, type);
    assert_string_equal(out, want);
}

static void types_are_written_as_in_a_policy(void **state) {
    (void)state;
    uint32_t i = int_type(), any = t_plain(&table, UPK_TYPE_ANY), none = t_plain(&table, UPK_TYPE_NONE);
    assert_type(any, "any");
    assert_type(none, "none");
    assert_type(i, "int");
    assert_type(t_int(&table, -255, 255), "int[-255..255]");
    assert_type(t_int(&table, 7, 7), "int[7]");
    uint32_t open = t_int(&table, 1, 0), below = t_int(&table, 0, -3);
    table.bounds[table.types[open].a].open = 2;
    table.bounds[table.types[below].a].open = 1;
    assert_type(open, "int[1..]");
    assert_type(below, "int[..-3]");
    assert_type(t_of(&table, UPK_TYPE_INT, 0, 1 + t_bound(&table, 6, 6)), "int mask 6");
    assert_type(t_int_is(&table, -9), "-9");
    assert_type(t_sized(&table, UPK_TYPE_STR, 0, 0, 1, 64), "str[1..64]");
    assert_type(t_sized(&table, UPK_TYPE_BYTES, 0, 0, 4, 4), "bytes[4]");
    assert_type(t_sized(&table, UPK_TYPE_BYTEARRAY, 0, 0, 4, UINT64_MAX), "bytearray[4..]");
    assert_type(t_sized(&table, UPK_TYPE_BUFFER, 0, 0, 0, 9), "buffer[..9]");
    assert_type(t_literal(&table, UPK_TYPE_STR_IS, "a\x1b"), "\"a\\x1b\"");
    assert_type(t_literal(&table, UPK_TYPE_BYTES_IS, "b"), "b\"b\"");
    assert_type(t_sized(&table, UPK_TYPE_LIST, i, 0, 0, 3), "list<int>[..3]");
    assert_type(t_of(&table, UPK_TYPE_DICT, i, any), "dict<int, any>");
    assert_type(t_of(&table, UPK_TYPE_PERSID, any, 0), "persid<any>");
    assert_type(T_TUPLE(&table, 1, true, i, any, none), "tuple<int, any?, none...>");
    assert_type(t_no_args(&table), "tuple<>");
    assert_type(T_RECORD(&table, any, {"a", i, false}, {"b", none, true}), "{ a: int, b?: none, *: any }");
    assert_type(T_UNION(&table, i, none), "int | none");
    uint32_t class = t_class(&table, "m.n", "C.D"), row = t_row(&table, "m", "R", UPK_ROW_REF, 0);
    assert_type(t_sized(&table, UPK_TYPE_OBJECT, class, 0, 0, 0), "m.n::C.D[0]");
    assert_type(t_of(&table, UPK_TYPE_REF, row, 0), "ref m::R");
}

static void numbers_of_129_bits_are_written(void **state) {
    (void)state;
    uint32_t type = t_int(&table, 0, 0);
    struct upk_bound *b = &table.bounds[table.types[type].a];
    *b = (struct upk_bound){.lo = {0, 0}, .hi = {UINT64_MAX, UINT64_MAX}, .negative = 1};
    assert_type(type,
                "int[-340282366920938463463374607431768211456..340282366920938463463374607431768211455]");
    *b = (struct upk_bound){.lo = {UINT64_MAX, UINT64_MAX}, .hi = {0, 1}, .negative = 1};
    assert_type(type, "int[-1..18446744073709551616]");
    *b = (struct upk_bound){.lo = {1000000000, 0}, .hi = {UINT64_C(1000000000000000000), 0}};
    assert_type(type, "int[1000000000..1000000000000000000]");
}

static void characters_are_written_with_the_dash_last(void **state) {
    (void)state;
    table.ranges[0] = (struct upk_range){'-', '-'};
    table.ranges[1] = (struct upk_range){'0', '9'};
    table.ranges[2] = (struct upk_range){'"', '"'};
    table.ranges[3] = (struct upk_range){0xe9, 0xea};
    table.charsets[1] = (struct upk_charset){.first = 0, .count = 4};
    uint32_t type = t_plain(&table, UPK_TYPE_STR);
    table.types[type].a = 1;
    assert_type(type, "str chars \"0-9\\\"\\u{E9}\\u{EA}-\"");
}

static void endless_and_long_types_are_cut(void **state) {
    (void)state;
    uint32_t list = t_of(&table, UPK_TYPE_LIST, 0, 0), i = int_type();
    table.types[list].a = list;
    assert_type(list, "list<list<list<list<...>>>>");
    assert_type(T_UNION(&table, i, i, i, i, i, i, i, i), "int | int | int | int | int | int | ...");
    for (size_t size = 1; size < 30; size++) {
        char out[40];
        memset(out, '#', sizeof out);
        struct text t = {.at = out, .size = size};
        text_add_type(&t, &table.policy, list);
        assert_true(strlen(out) < size);
        assert_int_equal(out[size], '#');
        if (size > 4 && size < 27) assert_string_equal(out + size - 4, "...");
    }
}

static uint32_t named(uint32_t type, const char *name) {
    table.types[type].name = t_text(&table, name);
    return type;
}

static void long_and_inner_types_are_called_by_their_names(void **state) {
    (void)state;
    uint32_t i = int_type(), s = t_plain(&table, UPK_TYPE_STR);
    uint32_t pair = named(T_RECORD(&table, 0, {"a", i, false}, {"b", s, false}), "Pair");
    assert_type(pair, "{ a: int, b: str }");
    assert_type(t_of(&table, UPK_TYPE_LIST, pair, 0), "list<Pair>");
    assert_type(T_UNION(&table, i, pair), "int | Pair");
    uint32_t list = named(t_of(&table, UPK_TYPE_LIST, 0, 0), "Tree");
    table.types[list].a = list;
    assert_type(list, "list<Tree>");
    uint32_t text = t_sized(&table, UPK_TYPE_STR, 0, 0, 0, UINT64_C(1000000000000));
    assert_type(T_UNION(&table, text, text, text),
                "str[..1000000000000] | str[..1000000000000] | str[..1000000000000]");
    assert_type(named(T_UNION(&table, text, text, text), "Odd\x1b"), "Odd\\x1b");
}

/* ---- the root */

static void assert_root(struct upk_value root, uint32_t type, unsigned code, const char *path,
                        const char *want) {
    for (int cyclic = 0; cyclic < 2; cyclic++) {
        doc.cyclic = doc.stale = cyclic;
        assert_int_equal(match(root, type), MATCH_REFUSED);
        assert_string_equal(why.detail, want);
        assert_int_equal(why.code, code);
        assert_string_equal(why.path, path);
        assert_null(why.object);
    }
    doc.cyclic = doc.stale = false;
}

static void the_value_at_fault_is_named(void **state) {
    (void)state;
    uint32_t i = int_type(), s = t_plain(&table, UPK_TYPE_STR), li = t_of(&table, UPK_TYPE_LIST, i, 0);
    uint32_t record = T_RECORD(&table, 0, {"a", li, false}, {"b", s, true});
    uint32_t root = t_of(&table, UPK_TYPE_DICT, s, T_UNION(&table, record, i));
    assert_root(v_str("x"), i, UPK_ERR_ROOT, "", "expected int, found str \"x\"");
    assert_root(v_int(300), t_int(&table, 0, 255), UPK_ERR_ROOT, "", "expected int[0..255], found int 300");
    struct upk_value list = V_OF(&doc, UPK_LIST, v_int(1), v_none());
    struct upk_value rec = V_OF(&doc, UPK_DICT, v_str("a"), list);
    struct upk_value v = V_OF(&doc, UPK_DICT, v_str("k"), v_int(1), v_str("l"), rec);
    assert_root(list, root, UPK_ERR_ROOT, "",
                "expected dict<str, { a: list<int>, b?: str } | int>, found list of 2");
    assert_root(v, root, UPK_ERR_ROOT, ".l.a[1]", "at $.l.a[1]: expected int, found none");
    assert_string_equal(why.part, "`$.l.a[1]`");
    rec.as.cell->items[1] = v_int(1);
    assert_root(v, root, UPK_ERR_ROOT, ".l.a", "at $.l.a: expected list<int>, found int 1");
    rec.as.cell->items[0] = v_str("c\n");
    assert_root(v, root, UPK_ERR_ROOT, ".l", "at $.l: key `c\\x0a` is not allowed");
    assert_string_equal(why.part, "`$.l[\"c\\x0a\"]`");
    rec.as.cell->items[0] = v_int(1);
    assert_root(v, root, UPK_ERR_ROOT, ".l", "at $.l: key 0 is not a str");
    assert_string_equal(why.part, "`$.l.keys[0]`");
    rec.as.cell->len = 0;
    assert_root(v, root, UPK_ERR_ROOT, ".l", "at $.l: key `a` is missing");
    assert_string_equal(why.part, "`$.l.a`");
    assert_root(rec, record, UPK_ERR_ROOT, "", "key `a` is missing");
    assert_string_equal(why.part, "`$.a`");
    v.as.cell->items[0] = v_none();
    assert_root(v, root, UPK_ERR_ROOT, ".keys[0]", "at $.keys[0]: expected str, found none");
}

/* No alternative is named alone: not even the only one that takes this kind, where that is a class. */
static void of_a_union_all_alternatives_are_named(void **state) {
    (void)state;
    uint32_t job = t_class(&table, "m", "Job"), none = t_plain(&table, UPK_TYPE_NONE);
    uint32_t row = t_row(&table, "m", "make", UPK_ROW_FUNC, 0);
    t_form(&table, UPK_VERB_FUNC, t_class(&table, "m", "Thing"), t_no_args(&table));
    uint32_t either = T_UNION(&table, t_of(&table, UPK_TYPE_OBJECT, job, 0), none);
    struct object *o = new_object(&doc, row, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    assert_root(value_of_cell(&o->cell), either, UPK_ERR_ROOT, "",
                "expected m::Job | none, found object of m::Thing");
    assert_root(v_int(7), T_UNION(&table, t_int(&table, 0, 5), none), UPK_ERR_ROOT, "",
                "expected int[0..5] | none, found int 7");
    uint32_t text = t_sized(&table, UPK_TYPE_STR, 0, 0, 0, UINT64_C(1000000000000)),
             short_text = t_int(&table, 1, 2);
    uint32_t many =
        named(T_UNION(&table, text, t_literal(&table, UPK_TYPE_BYTES_IS, "a long literal of bytes"), none,
                      short_text),
              "Json");
    /* by its name alone, what bounds the int would be hidden */
    assert_root(v_int(7), many, UPK_ERR_ROOT, "", "expected int[1..2], found int 7");
    assert_root(value_of_cell(&o->cell), many, UPK_ERR_ROOT, "", "expected Json, found object of m::Thing");
}

static void a_name_left_over_is_a_spelling(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY);
    uint32_t encode = t_row(&table, "_codecs", "encode", 0, UPK_SPECIAL_ENCODE),
             ref = t_row(&table, "m", "C", UPK_ROW_REF, 0);
    uint32_t prefix = t_row(&table, "m", "Outer", UPK_ROW_PREFIX, 0);
    struct upk_value v = V_OF(&doc, UPK_LIST, v_int(1), v_global(&doc, encode));
    assert_root(v, any, UPK_ERR_SPELLING, "[1]", "at $[1]: expected any, found the name _codecs::encode");
    v.as.cell->items[1] = v_global(&doc, prefix);
    assert_root(v, any, UPK_ERR_SPELLING, "[1]", "at $[1]: expected any, found the name m::Outer");
    v.as.cell->items[1] = v_global(&doc, ref);
    assert_root(v, any, UPK_ERR_ROOT, "[1]", "at $[1]: expected any, found the name m::C");
}

/* ---- objects */

static void assert_object(const struct object *o, uint32_t form, const char *path, const char *want) {
    for (int cyclic = 0; cyclic < 2; cyclic++) {
        doc.cyclic = doc.stale = cyclic;
        assert_int_equal(match(v_none(), t_plain(&table, UPK_TYPE_ANY)), MATCH_REFUSED);
        assert_string_equal(why.detail, want);
        assert_string_equal(why.path, path);
        assert_int_equal(why.code, UPK_ERR_RECIPE);
        assert_ptr_equal(why.object, o);
        assert_int_equal(why.form, form);
    }
    doc.cyclic = doc.stale = false;
}

static void the_nearest_form_gives_the_reason(void **state) {
    (void)state;
    uint32_t i = int_type(), bytes = t_sized(&table, UPK_TYPE_BYTES, 0, 0, 4, 4),
             class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, i));
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, i, bytes));
    struct object *o =
        new_object(&doc, row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_int(1), v_bytes("123456789")));
    assert_object(o, 2, ".args[1]", "argument 2 (`x1`): expected bytes[4], found bytes of 9");
    o->args = V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2), v_int(3)).as.cell;
    assert_object(o, 1, "", "no form takes 3 arguments");
    o->args = V_OF(&doc, UPK_TUPLE, v_none()).as.cell;
    assert_object(o, 1, ".args[0]", "argument 1 (`x0`): expected int, found none");
    o->args = V_OF(&doc, UPK_TUPLE, v_int(1)).as.cell;
    set_state(o, v_int(1));
    assert_object(o, 1, "", "state is not allowed");
    o->cell.index = UPK_VERB_NEW;
    assert_object(o, 1, "", "made by `new`, which no form allows");
}

static void each_step_gives_its_reason(void **state) {
    (void)state;
    uint32_t i = int_type(), class = t_class(&table, "m", "C"),
             row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    struct upk_form *f = t_form(&table, UPK_VERB_NEW, class, t_no_args(&table));
    struct object *o = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    struct object_more *more = more_of(&doc, o);
    f->state = T_RECORD(&table, 0, {"x", t_of(&table, UPK_TYPE_LIST, i, 0), true});
    assert_object(o, 1, "", "state is missing");
    set_state(o, V_OF(&doc, UPK_DICT, v_str("hex"), v_int(1)));
    assert_object(o, 1, ".state", "state: key `hex` is not allowed");
    assert_string_equal(why.part, "`.state.hex`");
    o->state.as.cell->items[0] = v_str("x");
    o->state.as.cell->items[1] = V_OF(&doc, UPK_LIST, v_int(1), v_str("no"));
    assert_object(o, 1, ".state.x[1]", "state at .state.x[1]: expected int, found str \"no\"");
    o->state.as.cell->items[1].as.cell->items[1] = v_int(2);
    more->kw = V_OF(&doc, UPK_DICT, v_str("k"), v_int(1)).as.cell;
    assert_object(o, 1, "", "keywords are not allowed");
    f->kw = T_RECORD(&table, 0, {"k", t_plain(&table, UPK_TYPE_NONE), false});
    assert_object(o, 1, ".kwargs.k", "keywords at .kwargs.k: expected none, found int 1");
    more->kw->items[1] = v_none();
    more->items = V_OF(&doc, UPK_LIST, v_int(1), v_none()).as.cell;
    o->cell.flags |= CELL_DID_ITEMS;
    assert_object(o, 1, "", "items are not allowed");
    f->items = i;
    assert_object(o, 1, "[1]", "item 1: expected int, found none");
    more->items->items[1] = v_int(1);
    more->pairs = V_OF(&doc, UPK_DICT, v_int(1), v_none()).as.cell;
    o->cell.flags |= CELL_DID_PAIRS;
    assert_object(o, 1, "", "pairs are not allowed");
    f->pair_key = f->pair_value = i;
    assert_object(o, 1, "[1]", "pairs, value 0: expected int, found none");
    more->pairs->items[1] = v_int(1);
    more->adds = V_OF(&doc, UPK_SET, v_none()).as.cell;
    o->cell.flags |= CELL_DID_ADDS;
    assert_object(o, 1, "", "members are not allowed");
    f->adds = i;
    assert_object(o, 1, "[0]", "member 0: expected int, found none");
}

static void rows_that_may_not_be_called_say_so(void **state) {
    (void)state;
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_REF, 0);
    struct object *o = new_object(&doc, row, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    assert_object(o, 0, "", "called, which no form allows");
    t_form(&table, UPK_VERB_REF, 0, 0);
    assert_object(o, 1, "", "called, which no form allows");
}

/* The search for a reason may not cost more than the refusal: here each question takes a walk of the rest. */
static void reasons_of_large_values_are_found_in_time(void **state) {
    (void)state;
    uint32_t list = t_of(&table, UPK_TYPE_LIST, 0, 0), i = int_type(), u = T_UNION(&table, i, list);
    table.types[list].a = u;
    struct upk_value v = v_none();
    for (int level = 0; level < 200; level++) {
        struct upk_value wide = v_empty(&doc, UPK_LIST);
        for (int k = 0; k < 2000; k++) add(&doc, wide.as.cell, v_int(k));
        add(&doc, wide.as.cell, v);
        v = wide;
    }
    assert_int_equal(match(v, list), MATCH_REFUSED);
    assert_int_equal(why.code, UPK_ERR_ROOT);
    assert_true(pairs < 4000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(types_are_written_as_in_a_policy),
        TEST(numbers_of_129_bits_are_written),
        TEST(characters_are_written_with_the_dash_last),
        TEST(endless_and_long_types_are_cut),
        TEST(long_and_inner_types_are_called_by_their_names),
        TEST(the_value_at_fault_is_named),
        TEST(of_a_union_all_alternatives_are_named),
        TEST(a_name_left_over_is_a_spelling),
        TEST(the_nearest_form_gives_the_reason),
        TEST(each_step_gives_its_reason),
        TEST(rows_that_may_not_be_called_say_so),
        TEST(reasons_of_large_values_are_found_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
