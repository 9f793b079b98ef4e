/* The printers: the text of every kind of value, sorted sets, names, objects.
 *
 * Layer: tests of the runtime's private graph.
 */
#include "printed.h"

/* ---- leaves */

static void scalars_have_their_text(void **state) {
    (void)state;
    expect_all(v_none(), "none", "null", "None");
    expect_all(v_bool(true), "true", "true", "True");
    expect_all(v_bool(false), "false", "false", "False");
    expect_all(v_int(-12), "-12", "-12", "-12");
    expect_all(v_int(INT64_MIN), "-9223372036854775808", "-9223372036854775808", "-9223372036854775808");
    static const uint8_t large[] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
    expect_all(v_data(UPK_BIGINT, large, sizeof large), "18446744073709551616", "18446744073709551616",
               "18446744073709551616");
    expect_all(v_float(0.5), "(f64 3fe0000000000000)", "0.5", "0.5");
    expect_all(v_data(UPK_BYTES, "a\0'\xff", 4), "(bytes 610027ff)", "{\"$bytes\": \"YQAn/w==\"}",
               "b\"a\\x00'\\xff\"");
    expect_all(v_data(UPK_BYTES, "", 0), "(bytes)", "{\"$bytes\": \"\"}", "b''");
    expect_all(v_data(UPK_STR8, "a\xe9\"", 3), "(str8 61e922)", "{\"$str8\": \"a\\u00e9\\\"\"}",
               "b'a\\xe9\"'");
    expect_all(v_data(UPK_STR8, "a", 1), "(str8 61)", "{\"$str8\": \"a\"}", "'a'");
    struct bytearray *b = as_bytearray(new_cell(&doc, UPK_BYTEARRAY, sizeof *b));
    b->bytes = (const uint8_t *)"hi";
    b->cell.len = 2;
    expect_all(value_of_cell(&b->cell), "(bytearray 6869)", "{\"$bytearray\": \"aGk=\"}", "bytearray(b'hi')");
}

static void floats_that_json_lacks_are_tagged(void **state) {
    (void)state;
    double odd_nan;
    const uint64_t bits = UINT64_C(0xfff8000000000001);
    memcpy(&odd_nan, &bits, sizeof odd_nan);
    expect_all(v_float(1.0 / 0.0), "(f64 7ff0000000000000)", "{\"$float\": \"inf\"}", "inf");
    expect_all(v_float(-1.0 / 0.0), "(f64 fff0000000000000)", "{\"$float\": \"-inf\"}", "-inf");
    expect_all(v_float(odd_nan), "(f64 fff8000000000001)",
               "{\"$float\": \"nan\", \"bits\": \"fff8000000000001\"}", "nan");
    expect_all(v_float(-0.0), "(f64 8000000000000000)", "-0.0", "-0.0");
}

static void floats_are_shortest_and_read_back(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},
        {1.0, "1.0"},
        {1e16, "1e+16"},
        {9999999999999998.0, "9999999999999998.0"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {123456.789, "123456.789"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {5.684341886080802e-14, "5.684341886080802e-14"}, /* 2 ** -44 */
        {9007199254740993.0, "9007199254740992.0"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {-2.5e-7, "-2.5e-07"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        text[float_shortest(cases[i].value, text)] = 0;
        assert_string_equal(text, cases[i].text);
        assert_true(strtod(text, NULL) == cases[i].value);
    }
    for (int e = -1074; e <= 1023; e++) {
        double d = 1;
        for (int i = e; i < 0; i++) d /= 2;
        for (int i = e; i > 0; i--) d *= 2;
        char text[32];
        text[float_shortest(d, text)] = 0;
        assert_true(strtod(text, NULL) == d);
    }
}

static void strings_are_escaped(void **state) {
    (void)state;
    expect_all(v_str("a\"b'\\\n\x7f"), "\"a\\\"b'\\\\\\u000a\\u007f\"", "\"a\\\"b'\\\\\\u000a\\u007f\"",
               "'a\"b\\'\\\\\\n\\x7f'");
    expect_all(v_str("it's"), "\"it's\"", "\"it's\"", "\"it's\"");
    /* U+00E9, U+1F600, U+202E (a bidi control), a lone surrogate */
    expect_all(v_str("\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xae\xed\xa0\x80"),
               "\"\\u00e9\\ud83d\\ude00\\u202e\\ud800\"", "\"\\u00e9\\ud83d\\ude00\\u202e\\ud800\"",
               "'\xc3\xa9\xf0\x9f\x98\x80\\u202e\\ud800'");
}

static void surrogates_that_json_would_join_stay_apart(void **state) {
    (void)state;
    struct upk_value pair = v_str("\xed\xa0\xbd\xed\xb8\x80");
    expect(upk_print_json, pair, "{\"$utf8\": \"7aC97biA\"}");
    expect(upk_print_json, v_str("\xed\xb8\x80\xed\xa0\xbd"), "\"\\ude00\\ud83d\"");
    struct upk_cell *dict = cell(UPK_DICT);
    add(&doc, dict, pair);
    add(&doc, dict, v_none());
    expect(upk_print_json, value_of_cell(dict), "{\"$dict\": [[{\"$utf8\": \"7aC97biA\"}, null]]}");
}

static void long_texts_are_whole(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG + 1), *expected = malloc(6 * LONG + 3);
    assert_non_null(text);
    assert_non_null(expected);
    memset(text, 1, LONG);
    text[LONG] = 0;
    doc.stop_at = LONG;
    char *to = expected;
    *to++ = '"';
    for (int i = 0; i < LONG; i++, to += 6) memcpy(to, "\\u0001", 6);
    strcpy(to, "\"");
    expect(upk_print_json, v_str(text), expected);
    free(text);
    free(expected);
}

/* ---- containers */

static void containers_nest(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST), *tuple = cell(UPK_TUPLE), *dict = cell(UPK_DICT),
                    *empty = cell(UPK_TUPLE);
    add(&doc, list, value_of_cell(cell(UPK_LIST)));
    add(&doc, list, value_of_cell(cell(UPK_DICT)));
    add(&doc, list, value_of_cell(cell(UPK_SET)));
    add(&doc, list, value_of_cell(cell(UPK_FROZENSET)));
    add(&doc, list, value_of_cell(empty));
    add(&doc, tuple, value_of_cell(list));
    add(&doc, dict, v_str("k"));
    add(&doc, dict, value_of_cell(tuple));
    add(&doc, dict, v_str("l"));
    add(&doc, dict, v_int(1));
    expect_all(
        value_of_cell(dict),
        "(dict (\"k\" (tuple (list (list) (dict) (set) (frozenset) (tuple)))) (\"l\" 1))",
        "{\"k\": {\"$tuple\": [[[], {}, {\"$set\": []}, {\"$frozenset\": []}, {\"$tuple\": []}]]}, \"l\": 1}",
        "{'k': ([[], {}, set(), frozenset(), ()],), 'l': 1}");
}

static void sets_are_sorted_by_text_in_trees_alone(void **state) {
    (void)state;
    struct upk_cell *outer = cell(UPK_SET), *inner = cell(UPK_FROZENSET), *one = cell(UPK_FROZENSET);
    add(&doc, inner, v_int(3));
    add(&doc, inner, v_int(20));
    add(&doc, inner, v_int(1));
    add(&doc, one, v_int(7));
    add(&doc, outer, v_str("x"));
    add(&doc, outer, value_of_cell(inner));
    add(&doc, outer, value_of_cell(one));
    add(&doc, outer, v_int(-5));
    add(&doc, outer, v_str("a"));
    expect_all(value_of_cell(outer), "(set \"a\" \"x\" (frozenset 1 20 3) (frozenset 7) -5)",
               "{\"$set\": [\"x\", {\"$frozenset\": [3, 20, 1]}, {\"$frozenset\": [7]}, -5, \"a\"]}",
               "{'x', frozenset({3, 20, 1}), frozenset({7}), -5, 'a'}");
}

static void data_cannot_look_like_a_tag(void **state) {
    (void)state;
    struct upk_cell *dict = cell(UPK_DICT), *keyed = cell(UPK_DICT), *twice = cell(UPK_DICT);
    add(&doc, dict, v_str("$bytes"));
    add(&doc, dict, v_str(""));
    expect(upk_print_json, value_of_cell(dict), "{\"$dict\": [[\"$bytes\", \"\"]]}");
    add(&doc, keyed, v_int(1));
    add(&doc, keyed, v_none());
    expect(upk_print_json, value_of_cell(keyed), "{\"$dict\": [[1, null]]}");
    add(&doc, twice, v_str("b"));
    add(&doc, twice, v_none());
    add(&doc, twice, v_str("a"));
    add(&doc, twice, v_none());
    add(&doc, twice, v_str("b"));
    add(&doc, twice, v_none());
    expect(upk_print_json, value_of_cell(twice),
           "{\"$dict\": [[\"b\", null], [\"a\", null], [\"b\", null]]}");
}

/* ---- names and objects */

static void names_of_old_protocols_are_mapped(void **state) {
    (void)state;
    expect_all(written_name("__builtin__", "xrange", true), "(global \"builtins\" \"range\")",
               "{\"$global\": \"builtins::range\"}", "builtins.range");
    expect(upk_print_tree, written_name("__builtin__", "xrange", false),
           "(global \"__builtin__\" \"xrange\")");
}

static void odd_names_are_quoted(void **state) {
    (void)state;
    expect_all(written_name("a:", "b\n", false), "(global \"a:\" \"b\\u000a\")",
               "{\"$global\": [\"a:\", \"b\\u000a\"]}", "<global 'a:' 'b\\n'>");
    expect(upk_print_repr, written_name("a", "f()", false), "<global 'a' 'f()'>");
    expect(upk_print_repr, written_name("a..b", "f", false), "<global 'a..b' 'f'>");
    expect(upk_print_repr, written_name("a", "", false), "<global 'a' ''>");
}

static void objects_show_their_parts(void **state) {
    (void)state;
    struct upk_cell *args = cell(UPK_TUPLE), *kw = cell(UPK_DICT), *items = cell(UPK_LIST),
                    *pairs = cell(UPK_DICT), *adds = cell(UPK_SET);
    add(&doc, args, v_int(1));
    add(&doc, kw, v_str("n"));
    add(&doc, kw, v_int(2));
    add(&doc, items, v_int(3));
    add(&doc, items, v_int(4));
    add(&doc, pairs, v_int(5));
    add(&doc, pairs, v_int(6));
    add(&doc, adds, v_int(8));
    add(&doc, adds, v_int(7));
    struct object *o = made_by(UPK_OP_NEWOBJ_EX, written_name("m", "C.D", false), args);
    struct object_more *more = more_of(&doc, o);
    more->kw = kw;
    expect_all(value_of_cell(&o->cell), "(newobj_ex (global \"m\" \"C.D\") (tuple 1) (dict (\"n\" 2)))",
               "{\"$object\": \"m::C.D\", \"args\": [1], \"kwargs\": {\"n\": 2}}", "m.C.D(1, **{'n': 2})");
    o->state = v_none();
    more->items = items;
    more->pairs = pairs;
    more->adds = adds;
    expect_all(value_of_cell(&o->cell),
               "(newobj_ex (global \"m\" \"C.D\") (tuple 1) (dict (\"n\" 2)) (state none) (items 3 4) (pairs "
               "(5 6)) (adds 8 7))",
               "{\"$object\": \"m::C.D\", \"args\": [1], \"kwargs\": {\"n\": 2}, \"state\": null, \"items\": "
               "[3, 4], "
               "\"pairs\": [[5, 6]], \"adds\": [8, 7]}",
               "<m.C.D(1, **{'n': 2}) state=None items=[3, 4] pairs={5: 6} adds={8, 7}>");
}

static void each_call_has_its_word(void **state) {
    (void)state;
    struct upk_value f = written_name("m", "f", false);
    struct object *call = made_by(UPK_OP_REDUCE, f, cell(UPK_TUPLE));
    expect_all(value_of_cell(&call->cell), "(reduce (global \"m\" \"f\") (tuple))",
               "{\"$call\": \"m::f\", \"args\": []}", "m.f()");
    struct object *again = made_by(UPK_OP_REDUCE, value_of_cell(&call->cell), cell(UPK_TUPLE));
    expect_all(value_of_cell(&again->cell), "(reduce (reduce (global \"m\" \"f\") (tuple)) (tuple))",
               "{\"$call\": {\"$call\": \"m::f\", \"args\": []}, \"args\": []}", "m.f()()");
    expect_all(value_of_cell(&made_by(UPK_OP_NEWOBJ, f, cell(UPK_TUPLE))->cell),
               "(newobj (global \"m\" \"f\") (tuple))", "{\"$object\": \"m::f\", \"args\": []}", "m.f()");
    expect_all(value_of_cell(&made_by(UPK_OP_INST, f, cell(UPK_TUPLE))->cell),
               "(inst (global \"m\" \"f\") (tuple))", "{\"$inst\": \"m::f\", \"args\": []}", "m.f()");
    expect(upk_print_tree, value_of_cell(&made_by(UPK_OP_OBJ, f, cell(UPK_TUPLE))->cell),
           "(obj (global \"m\" \"f\") (tuple))");
    struct upk_cell *persid = cell(UPK_PERSID);
    add(&doc, persid, v_str("id"));
    expect_all(value_of_cell(persid), "(persid \"id\")", "{\"$persid\": \"id\"}", "<persistent 'id'>");
}

static struct upk_value call(const char *module, const char *name, const struct upk_value *args, size_t n) {
    struct upk_cell *tuple = cell(UPK_TUPLE);
    for (size_t i = 0; i < n; i++) add(&doc, tuple, args[i]);
    return value_of_cell(&made_by(UPK_OP_REDUCE, written_name(module, name, false), tuple)->cell);
}

static void known_objects_have_their_form(void **state) {
    (void)state;
    struct upk_value leap = v_data(UPK_BYTES, "\x07\xe8\x02\x1d\x0c\x22\x38\0\0\1", 10);
    struct upk_value delta[] = {v_int(-1), v_int(3600), v_int(0)};
    struct upk_value zone = call("datetime", "timedelta", delta, 3);
    expect_all(zone, "(reduce (global \"datetime\" \"timedelta\") (tuple -1 3600 0))",
               "{\"$timedelta\": [-1, 3600, 0]}", "datetime.timedelta(days=-1, seconds=3600)");
    struct upk_value zoned[] = {v_data(UPK_BYTES, "\x07\xe8\x82\x1d\x0c\x22\0\0\0\0", 10), zone};
    expect(upk_print_json, call("datetime", "datetime", &leap, 1),
           "{\"$datetime\": \"2024-02-29T12:34:56.000001\"}");
    expect(upk_print_repr, call("datetime", "datetime", &leap, 1),
           "datetime.datetime(2024, 2, 29, 12, 34, 56, 1)");
    expect(upk_print_json, call("datetime", "datetime", zoned, 2),
           "{\"$datetime\": \"2024-02-29T12:34:00\", \"fold\": 1, \"tz\": {\"$timedelta\": [-1, 3600, 0]}}");
    expect(
        upk_print_repr, call("datetime", "datetime", zoned, 2),
        "datetime.datetime(2024, 2, 29, 12, 34, fold=1, tzinfo=datetime.timedelta(days=-1, seconds=3600))");
    struct upk_value text = v_str("1.50"), parts[] = {v_float(0), v_float(-2.5)},
                     ratio[] = {v_int(1), v_int(3)};
    expect_all(call("decimal", "Decimal", &text, 1),
               "(reduce (global \"decimal\" \"Decimal\") (tuple \"1.50\"))", "{\"$decimal\": \"1.50\"}",
               "Decimal('1.50')");
    text = v_data(UPK_STR8, "-0", 2);
    expect_all(call("decimal", "Decimal", &text, 1),
               "(reduce (global \"decimal\" \"Decimal\") (tuple (str8 2d30)))", "{\"$decimal\": \"-0\"}",
               "Decimal('-0')");
    expect(upk_print_json, call("builtins", "complex", parts, 2), "{\"$complex\": [0.0, -2.5]}");
    expect(upk_print_repr, call("builtins", "complex", parts, 2), "-2.5j");
    parts[0] = v_float(1);
    parts[1] = v_float(2);
    expect(upk_print_repr, call("builtins", "complex", parts, 2), "(1+2j)");
    expect(upk_print_repr, call("fractions", "Fraction", ratio, 2), "Fraction(1, 3)");
}

static void uuids_are_read_from_their_state(void **state) {
    (void)state;
    static const uint8_t n[17] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0,
                                  0,    0,    0,    0,    0,    0,    0xff, 0};
    struct upk_cell *dict = cell(UPK_DICT);
    add(&doc, dict, v_str("int"));
    add(&doc, dict, v_data(UPK_BIGINT, n, sizeof n));
    struct object *o = made_by(UPK_OP_NEWOBJ, written_name("uuid", "UUID", false), cell(UPK_TUPLE));
    o->state = value_of_cell(dict);
    expect(upk_print_json, value_of_cell(&o->cell), "{\"$uuid\": \"ff000000-0000-0000-fedc-ba9876543210\"}");
    expect(upk_print_repr, value_of_cell(&o->cell), "UUID('ff000000-0000-0000-fedc-ba9876543210')");
    dict->items[1] = v_int(-1);
    expect(upk_print_json, value_of_cell(&o->cell),
           "{\"$object\": \"uuid::UUID\", \"args\": [], \"state\": {\"int\": -1}}");
}

static void what_no_date_can_be_shows_its_parts(void **state) {
    (void)state;
    struct upk_value bad = v_data(UPK_BYTES, "\x07\xe7\x02\x1d", 4),
                     good = v_data(UPK_BYTES, "\x07\xe8\x02\x1d", 4);
    expect(upk_print_json, call("datetime", "date", &good, 1), "{\"$date\": \"2024-02-29\"}");
    expect(upk_print_json, call("datetime", "date", &bad, 1),
           "{\"$call\": \"datetime::date\", \"args\": [{\"$bytes\": \"B+cCHQ==\"}]}");
    expect(upk_print_repr, call("datetime", "date", &bad, 1), "datetime.date(b'\\x07\\xe7\\x02\\x1d')");
    struct upk_value text = v_str("__import__('os')");
    expect(upk_print_json, call("decimal", "Decimal", &text, 1),
           "{\"$call\": \"decimal::Decimal\", \"args\": [\"__import__('os')\"]}");
}

static void spellings_are_resolved_but_for_trees(void **state) {
    (void)state;
    struct upk_cell *args = cell(UPK_TUPLE);
    add(&doc, args, v_str("A"));
    add(&doc, args, v_str("latin1"));
    struct object *o = made_by(UPK_OP_REDUCE, written_name("_codecs", "encode", false), args);
    more_of(&doc, o)->value = v_data(UPK_BYTES, "A", 1);
    o->cell.flags |= CELL_NORMAL;
    expect_all(value_of_cell(&o->cell), "(reduce (global \"_codecs\" \"encode\") (tuple \"A\" \"latin1\"))",
               "{\"$bytes\": \"QQ==\"}", "b'A'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(scalars_have_their_text),
        TEST(floats_that_json_lacks_are_tagged),
        TEST(floats_are_shortest_and_read_back),
        TEST(strings_are_escaped),
        TEST(surrogates_that_json_would_join_stay_apart),
        TEST(long_texts_are_whole),
        TEST(containers_nest),
        TEST(sets_are_sorted_by_text_in_trees_alone),
        TEST(data_cannot_look_like_a_tag),
        TEST(names_of_old_protocols_are_mapped),
        TEST(odd_names_are_quoted),
        TEST(objects_show_their_parts),
        TEST(each_call_has_its_word),
        TEST(known_objects_have_their_form),
        TEST(uuids_are_read_from_their_state),
        TEST(what_no_date_can_be_shows_its_parts),
        TEST(spellings_are_resolved_but_for_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
