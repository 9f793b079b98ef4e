/* The printers, on documents built by hand: the text of every kind, sorted sets, back edges, limits, failing memory.
 *
 * Layer: tests of the runtime's private graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/print_walk.h"

/* ---- documents */

static struct upk_doc doc;

static int set_up(void **state) {
    (void)state;
    memset(&doc, 0, sizeof doc);
    mem_init(&doc.mem, NULL, UINT64_C(1) << 30);
    doc.expanded_budget = 1000000;
    doc.protocol = 4;
    doc.stop_at = 100;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mem_free(&doc.mem);
    return 0;
}

static struct upk_cell *cell_of_size(enum upk_kind kind, size_t size) {
    struct upk_cell *c = mem_alloc(&doc.mem, size);
    assert_non_null(c);
    memset(c, 0, size);
    c->kind = (uint8_t)kind;
    return c;
}

static struct upk_cell *cell(enum upk_kind kind) {
    return cell_of_size(kind, sizeof(struct upk_cell));
}

static void add(struct upk_cell *c, struct upk_value v) {
    assert_true(mem_grow_items(&doc.mem, c, c->len + 1));
    c->items[c->len++] = v;
}

static struct upk_value integer(int64_t i) {
    return (struct upk_value){.kind = UPK_INT, .as = {.i = i}};
}

static struct upk_value boolean(bool b) {
    return (struct upk_value){.kind = UPK_BOOL, .as = {.i = b}};
}

static struct upk_value number(double f) {
    return (struct upk_value){.kind = UPK_FLOAT, .as = {.f = f}};
}

static struct upk_value data(enum upk_kind kind, const void *bytes, size_t len) {
    const uint8_t *p = bytes;
    bool ascii = true;
    for (size_t i = 0; i < len; i++) ascii = ascii && p[i] < 0x80;
    return (struct upk_value){.kind = (uint8_t)kind, .flags = ascii ? VALUE_ASCII : 0, .len = (uint32_t)len, .as = {.bytes = p}};
}

static struct upk_value str(const char *text) {
    return data(UPK_STR, text, strlen(text));
}

static const struct upk_value none = {.kind = UPK_NONE};

static struct upk_value global(const char *module, const char *name, bool old) {
    struct global *g = (void *)cell_of_size(UPK_GLOBAL, sizeof *g);
    g->module = (const uint8_t *)module;
    g->module_len = (uint32_t)strlen(module);
    g->name = (const uint8_t *)name;
    g->name_len = (uint32_t)strlen(name);
    g->old = old;
    return value_of_cell(&g->cell);
}

static struct object *object(enum upk_op op, struct upk_value callee, struct upk_cell *args) {
    struct object *o = (void *)cell_of_size(UPK_OBJECT, sizeof *o);
    o->cell.op = (uint8_t)op;
    o->callee = callee.as.cell;
    o->args = args;
    return o;
}

static struct object_more *more_of(struct object *o) {
    if (!o->more) {
        o->more = mem_alloc(&doc.mem, sizeof *o->more);
        assert_non_null(o->more);
        memset(o->more, 0, sizeof *o->more);
        o->cell.flags |= CELL_MORE;
    }
    return o->more;
}

static struct upk_value of(struct upk_cell *c) {
    return value_of_cell(c);
}

/* ---- printing */

typedef bool (*printer)(const struct upk_doc *, upk_sink, void *, struct upk_error *);

struct text {
    char *at;
    size_t len, most, room;
};

static bool take(void *ctx, const char *bytes, size_t len) {
    struct text *t = ctx;
    if (len > t->most - t->len) return false;
    if (len >= t->room - t->len) {
        t->room = 2 * (t->len + len + 1);
        t->at = realloc(t->at, t->room);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = 0;
    return true;
}

static void expect(printer print, struct upk_value root, const char *expected) {
    struct text text = {NULL, 0, SIZE_MAX, 0};
    struct upk_error err;
    doc.root = root;
    assert_true(print(&doc, take, &text, &err));
    assert_string_equal(text.at, expected);
    free(text.at);
}

static void expect_all(struct upk_value root, const char *tree, const char *json, const char *repr) {
    expect(upk_print_tree, root, tree);
    expect(upk_print_json, root, json);
    expect(upk_print_repr, root, repr);
}

/* Bytes written until it failed. */
static size_t expect_failure(printer print, struct upk_value root, unsigned code, unsigned budget) {
    struct text text = {NULL, 0, SIZE_MAX, 0};
    struct upk_error err;
    doc.root = root;
    memset(&err, 0xff, sizeof err);
    assert_false(print(&doc, take, &text, &err));
    assert_int_equal(err.code, code);
    if (code == UPK_ERR_BUDGET) assert_int_equal(err.budget, budget);
    free(text.at);
    return text.len;
}

/* ---- leaves */

static void scalars_have_their_text(void **state) {
    (void)state;
    expect_all(none, "none", "null", "None");
    expect_all(boolean(true), "true", "true", "True");
    expect_all(boolean(false), "false", "false", "False");
    expect_all(integer(-12), "-12", "-12", "-12");
    expect_all(integer(INT64_MIN), "-9223372036854775808", "-9223372036854775808", "-9223372036854775808");
    static const uint8_t large[] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
    expect_all(data(UPK_BIGINT, large, sizeof large), "18446744073709551616", "18446744073709551616", "18446744073709551616");
    expect_all(number(0.5), "(f64 3fe0000000000000)", "0.5", "0.5");
    expect_all(data(UPK_BYTES, "a\0'\xff", 4), "(bytes 610027ff)", "{\"$bytes\": \"YQAn/w==\"}", "b\"a\\x00'\\xff\"");
    expect_all(data(UPK_BYTES, "", 0), "(bytes)", "{\"$bytes\": \"\"}", "b''");
    expect_all(data(UPK_STR8, "a\xe9\"", 3), "(str8 61e922)", "{\"$str8\": \"a\\u00e9\\\"\"}", "b'a\\xe9\"'");
    expect_all(data(UPK_STR8, "a", 1), "(str8 61)", "{\"$str8\": \"a\"}", "'a'");
    struct bytearray *b = (void *)cell_of_size(UPK_BYTEARRAY, sizeof *b);
    b->bytes = (const uint8_t *)"hi";
    b->cell.len = 2;
    expect_all(of(&b->cell), "(bytearray 6869)", "{\"$bytearray\": \"aGk=\"}", "bytearray(b'hi')");
}

static void floats_that_json_lacks_are_tagged(void **state) {
    (void)state;
    double odd_nan;
    const uint64_t bits = UINT64_C(0xfff8000000000001);
    memcpy(&odd_nan, &bits, sizeof odd_nan);
    expect_all(number(1.0 / 0.0), "(f64 7ff0000000000000)", "{\"$float\": \"inf\"}", "inf");
    expect_all(number(-1.0 / 0.0), "(f64 fff0000000000000)", "{\"$float\": \"-inf\"}", "-inf");
    expect_all(number(odd_nan), "(f64 fff8000000000001)", "{\"$float\": \"nan\", \"bits\": \"fff8000000000001\"}", "nan");
    expect_all(number(-0.0), "(f64 8000000000000000)", "-0.0", "-0.0");
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
    expect_all(str("a\"b'\\\n\x7f"), "\"a\\\"b'\\\\\\u000a\\u007f\"", "\"a\\\"b'\\\\\\u000a\\u007f\"", "'a\"b\\'\\\\\\n\\x7f'");
    expect_all(str("it's"), "\"it's\"", "\"it's\"", "\"it's\"");
    /* U+00E9, U+1F600, U+202E (a bidi control), a lone surrogate */
    expect_all(str("\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xae\xed\xa0\x80"), "\"\\u00e9\\ud83d\\ude00\\u202e\\ud800\"",
               "\"\\u00e9\\ud83d\\ude00\\u202e\\ud800\"", "'\xc3\xa9\xf0\x9f\x98\x80\\u202e\\ud800'");
}

static void surrogates_that_json_would_join_stay_apart(void **state) {
    (void)state;
    struct upk_value pair = str("\xed\xa0\xbd\xed\xb8\x80");
    expect(upk_print_json, pair, "{\"$utf8\": \"7aC97biA\"}");
    expect(upk_print_json, str("\xed\xb8\x80\xed\xa0\xbd"), "\"\\ude00\\ud83d\"");
    struct upk_cell *dict = cell(UPK_DICT);
    add(dict, pair);
    add(dict, none);
    expect(upk_print_json, of(dict), "{\"$dict\": [[{\"$utf8\": \"7aC97biA\"}, null]]}");
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
    expect(upk_print_json, str(text), expected);
    free(text);
    free(expected);
}

/* ---- containers */

static void containers_nest(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST), *tuple = cell(UPK_TUPLE), *dict = cell(UPK_DICT), *empty = cell(UPK_TUPLE);
    add(list, of(cell(UPK_LIST)));
    add(list, of(cell(UPK_DICT)));
    add(list, of(cell(UPK_SET)));
    add(list, of(cell(UPK_FROZENSET)));
    add(list, of(empty));
    add(tuple, of(list));
    add(dict, str("k"));
    add(dict, of(tuple));
    add(dict, str("l"));
    add(dict, integer(1));
    expect_all(of(dict), "(dict (\"k\" (tuple (list (list) (dict) (set) (frozenset) (tuple)))) (\"l\" 1))",
               "{\"k\": {\"$tuple\": [[[], {}, {\"$set\": []}, {\"$frozenset\": []}, {\"$tuple\": []}]]}, \"l\": 1}",
               "{'k': ([[], {}, set(), frozenset(), ()],), 'l': 1}");
}

static void sets_are_sorted_by_text_in_trees_alone(void **state) {
    (void)state;
    struct upk_cell *outer = cell(UPK_SET), *inner = cell(UPK_FROZENSET), *one = cell(UPK_FROZENSET);
    add(inner, integer(3));
    add(inner, integer(20));
    add(inner, integer(1));
    add(one, integer(7));
    add(outer, str("x"));
    add(outer, of(inner));
    add(outer, of(one));
    add(outer, integer(-5));
    add(outer, str("a"));
    expect_all(of(outer), "(set \"a\" \"x\" (frozenset 1 20 3) (frozenset 7) -5)",
               "{\"$set\": [\"x\", {\"$frozenset\": [3, 20, 1]}, {\"$frozenset\": [7]}, -5, \"a\"]}",
               "{'x', frozenset({3, 20, 1}), frozenset({7}), -5, 'a'}");
}

static void data_cannot_look_like_a_tag(void **state) {
    (void)state;
    struct upk_cell *dict = cell(UPK_DICT), *keyed = cell(UPK_DICT), *twice = cell(UPK_DICT);
    add(dict, str("$bytes"));
    add(dict, str(""));
    expect(upk_print_json, of(dict), "{\"$dict\": [[\"$bytes\", \"\"]]}");
    add(keyed, integer(1));
    add(keyed, none);
    expect(upk_print_json, of(keyed), "{\"$dict\": [[1, null]]}");
    add(twice, str("b"));
    add(twice, none);
    add(twice, str("a"));
    add(twice, none);
    add(twice, str("b"));
    add(twice, none);
    expect(upk_print_json, of(twice), "{\"$dict\": [[\"b\", null], [\"a\", null], [\"b\", null]]}");
}

/* ---- names and objects */

static void names_of_old_protocols_are_mapped(void **state) {
    (void)state;
    expect_all(global("__builtin__", "xrange", true), "(global \"builtins\" \"range\")", "{\"$global\": \"builtins::range\"}",
               "builtins.range");
    expect(upk_print_tree, global("__builtin__", "xrange", false), "(global \"__builtin__\" \"xrange\")");
}

static void odd_names_are_quoted(void **state) {
    (void)state;
    expect_all(global("a:", "b\n", false), "(global \"a:\" \"b\\u000a\")", "{\"$global\": [\"a:\", \"b\\u000a\"]}",
               "<global 'a:' 'b\\n'>");
    expect(upk_print_repr, global("a", "f()", false), "<global 'a' 'f()'>");
    expect(upk_print_repr, global("a..b", "f", false), "<global 'a..b' 'f'>");
    expect(upk_print_repr, global("a", "", false), "<global 'a' ''>");
}

static void objects_show_their_parts(void **state) {
    (void)state;
    struct upk_cell *args = cell(UPK_TUPLE), *kw = cell(UPK_DICT), *items = cell(UPK_LIST), *pairs = cell(UPK_DICT),
                    *adds = cell(UPK_SET);
    add(args, integer(1));
    add(kw, str("n"));
    add(kw, integer(2));
    add(items, integer(3));
    add(items, integer(4));
    add(pairs, integer(5));
    add(pairs, integer(6));
    add(adds, integer(8));
    add(adds, integer(7));
    struct object *o = object(UPK_OP_NEWOBJ_EX, global("m", "C.D", false), args);
    struct object_more *more = more_of(o);
    more->kw = kw;
    expect_all(of(&o->cell), "(newobj_ex (global \"m\" \"C.D\") (tuple 1) (dict (\"n\" 2)))",
               "{\"$object\": \"m::C.D\", \"args\": [1], \"kwargs\": {\"n\": 2}}", "m.C.D(1, **{'n': 2})");
    o->state = none;
    more->items = items;
    more->pairs = pairs;
    more->adds = adds;
    expect_all(of(&o->cell),
               "(newobj_ex (global \"m\" \"C.D\") (tuple 1) (dict (\"n\" 2)) (state none) (items 3 4) (pairs (5 6)) (adds 8 7))",
               "{\"$object\": \"m::C.D\", \"args\": [1], \"kwargs\": {\"n\": 2}, \"state\": null, \"items\": [3, 4], "
               "\"pairs\": [[5, 6]], \"adds\": [8, 7]}",
               "<m.C.D(1, **{'n': 2}) state=None items=[3, 4] pairs={5: 6} adds={8, 7}>");
}

static void each_call_has_its_word(void **state) {
    (void)state;
    struct upk_value f = global("m", "f", false);
    struct object *call = object(UPK_OP_REDUCE, f, cell(UPK_TUPLE));
    expect_all(of(&call->cell), "(reduce (global \"m\" \"f\") (tuple))", "{\"$call\": \"m::f\", \"args\": []}", "m.f()");
    struct object *again = object(UPK_OP_REDUCE, of(&call->cell), cell(UPK_TUPLE));
    expect_all(of(&again->cell), "(reduce (reduce (global \"m\" \"f\") (tuple)) (tuple))",
               "{\"$call\": {\"$call\": \"m::f\", \"args\": []}, \"args\": []}", "m.f()()");
    expect_all(of(&object(UPK_OP_NEWOBJ, f, cell(UPK_TUPLE))->cell), "(newobj (global \"m\" \"f\") (tuple))",
               "{\"$object\": \"m::f\", \"args\": []}", "m.f()");
    expect_all(of(&object(UPK_OP_INST, f, cell(UPK_TUPLE))->cell), "(inst (global \"m\" \"f\") (tuple))",
               "{\"$inst\": \"m::f\", \"args\": []}", "m.f()");
    expect(upk_print_tree, of(&object(UPK_OP_OBJ, f, cell(UPK_TUPLE))->cell), "(obj (global \"m\" \"f\") (tuple))");
    struct upk_cell *persid = cell(UPK_PERSID);
    add(persid, str("id"));
    expect_all(of(persid), "(persid \"id\")", "{\"$persid\": \"id\"}", "<persistent 'id'>");
}

static struct upk_value call(const char *module, const char *name, const struct upk_value *args, size_t n) {
    struct upk_cell *tuple = cell(UPK_TUPLE);
    for (size_t i = 0; i < n; i++) add(tuple, args[i]);
    return of(&object(UPK_OP_REDUCE, global(module, name, false), tuple)->cell);
}

static void known_objects_have_their_form(void **state) {
    (void)state;
    struct upk_value leap = data(UPK_BYTES, "\x07\xe8\x02\x1d\x0c\x22\x38\0\0\1", 10);
    struct upk_value delta[] = {integer(-1), integer(3600), integer(0)};
    struct upk_value zone = call("datetime", "timedelta", delta, 3);
    expect_all(zone, "(reduce (global \"datetime\" \"timedelta\") (tuple -1 3600 0))", "{\"$timedelta\": [-1, 3600, 0]}",
               "datetime.timedelta(days=-1, seconds=3600)");
    struct upk_value zoned[] = {data(UPK_BYTES, "\x07\xe8\x82\x1d\x0c\x22\0\0\0\0", 10), zone};
    expect(upk_print_json, call("datetime", "datetime", &leap, 1), "{\"$datetime\": \"2024-02-29T12:34:56.000001\"}");
    expect(upk_print_repr, call("datetime", "datetime", &leap, 1), "datetime.datetime(2024, 2, 29, 12, 34, 56, 1)");
    expect(upk_print_json, call("datetime", "datetime", zoned, 2),
           "{\"$datetime\": \"2024-02-29T12:34:00\", \"fold\": 1, \"tz\": {\"$timedelta\": [-1, 3600, 0]}}");
    expect(upk_print_repr, call("datetime", "datetime", zoned, 2),
           "datetime.datetime(2024, 2, 29, 12, 34, fold=1, tzinfo=datetime.timedelta(days=-1, seconds=3600))");
    struct upk_value text = str("1.50"), parts[] = {number(0), number(-2.5)}, ratio[] = {integer(1), integer(3)};
    expect_all(call("decimal", "Decimal", &text, 1), "(reduce (global \"decimal\" \"Decimal\") (tuple \"1.50\"))",
               "{\"$decimal\": \"1.50\"}", "Decimal('1.50')");
    expect(upk_print_json, call("builtins", "complex", parts, 2), "{\"$complex\": [0.0, -2.5]}");
    expect(upk_print_repr, call("builtins", "complex", parts, 2), "-2.5j");
    parts[0] = number(1);
    parts[1] = number(2);
    expect(upk_print_repr, call("builtins", "complex", parts, 2), "(1+2j)");
    expect(upk_print_repr, call("fractions", "Fraction", ratio, 2), "Fraction(1, 3)");
}

static void uuids_are_read_from_their_state(void **state) {
    (void)state;
    static const uint8_t n[17] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0xff, 0};
    struct upk_cell *dict = cell(UPK_DICT);
    add(dict, str("int"));
    add(dict, data(UPK_BIGINT, n, sizeof n));
    struct object *o = object(UPK_OP_NEWOBJ, global("uuid", "UUID", false), cell(UPK_TUPLE));
    o->state = of(dict);
    expect(upk_print_json, of(&o->cell), "{\"$uuid\": \"ff000000-0000-0000-fedc-ba9876543210\"}");
    expect(upk_print_repr, of(&o->cell), "UUID('ff000000-0000-0000-fedc-ba9876543210')");
    dict->items[1] = integer(-1);
    expect(upk_print_json, of(&o->cell), "{\"$object\": \"uuid::UUID\", \"args\": [], \"state\": {\"int\": -1}}");
}

static void what_no_date_can_be_shows_its_parts(void **state) {
    (void)state;
    struct upk_value bad = data(UPK_BYTES, "\x07\xe7\x02\x1d", 4), good = data(UPK_BYTES, "\x07\xe8\x02\x1d", 4);
    expect(upk_print_json, call("datetime", "date", &good, 1), "{\"$date\": \"2024-02-29\"}");
    expect(upk_print_json, call("datetime", "date", &bad, 1),
           "{\"$call\": \"datetime::date\", \"args\": [{\"$bytes\": \"B+cCHQ==\"}]}");
    expect(upk_print_repr, call("datetime", "date", &bad, 1), "datetime.date(b'\\x07\\xe7\\x02\\x1d')");
    struct upk_value text = str("__import__('os')");
    expect(upk_print_json, call("decimal", "Decimal", &text, 1), "{\"$call\": \"decimal::Decimal\", \"args\": [\"__import__('os')\"]}");
}

static void spellings_are_resolved_but_for_trees(void **state) {
    (void)state;
    struct upk_cell *args = cell(UPK_TUPLE);
    add(args, str("A"));
    add(args, str("latin1"));
    struct object *o = object(UPK_OP_REDUCE, global("_codecs", "encode", false), args);
    more_of(o)->value = data(UPK_BYTES, "A", 1);
    o->cell.flags |= CELL_NORMAL;
    expect_all(of(&o->cell), "(reduce (global \"_codecs\" \"encode\") (tuple \"A\" \"latin1\"))", "{\"$bytes\": \"QQ==\"}", "b'A'");
}

/* ---- cycles */

static void measure(struct upk_value root) {
    uint64_t depth, size;
    doc.root = root;
    doc.stale = true;
    assert_true(measure_graph(&doc, &depth, &size));
}

static void back_edges_say_how_many_levels_up(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST), *tuple = cell(UPK_TUPLE), *dict = cell(UPK_DICT);
    add(tuple, of(list));
    add(tuple, of(dict));
    add(dict, str("t"));
    add(dict, of(tuple));
    add(list, of(list));
    add(list, of(tuple));
    measure(of(list));
    expect_all(of(list), "(list (up 1) (tuple (up 2) (dict (\"t\" (up 2)))))",
               "[{\"$up\": 1}, {\"$tuple\": [{\"$up\": 2}, {\"t\": {\"$up\": 2}}]}]", "[[...], ([...], {'t': (...)})]");
}

static void an_object_in_its_own_state_is_two_levels_up(void **state) {
    (void)state;
    struct upk_cell *dict = cell(UPK_DICT);
    struct object *o = object(UPK_OP_NEWOBJ, global("m", "C", false), cell(UPK_TUPLE));
    add(dict, str("me"));
    add(dict, of(&o->cell));
    o->state = of(dict);
    measure(of(&o->cell));
    expect_all(of(&o->cell), "(newobj (global \"m\" \"C\") (tuple) (state (dict (\"me\" (up 2)))))",
               "{\"$object\": \"m::C\", \"args\": [], \"state\": {\"me\": {\"$up\": 2}}}", "<m.C() state={'me': ...}>");
}

static void a_sorted_set_may_hold_a_cycle(void **state) {
    (void)state;
    struct upk_cell *set = cell(UPK_SET), *dict = cell(UPK_DICT);
    struct object *o = object(UPK_OP_NEWOBJ, global("m", "C", false), cell(UPK_TUPLE));
    add(dict, str("s"));
    add(dict, of(set));
    o->state = of(dict);
    add(set, of(&o->cell));
    add(set, integer(1));
    measure(of(set));
    expect(upk_print_tree, of(set), "(set (newobj (global \"m\" \"C\") (tuple) (state (dict (\"s\" (up 3))))) 1)");
}

static void long_cycles_are_found(void **state) {
    (void)state;
    enum { LONG = 5000 };
    struct upk_cell *first = cell(UPK_LIST), *last = first;
    for (int i = 1; i < LONG; i++) {
        struct upk_cell *next = cell(UPK_LIST);
        add(last, of(next));
        last = next;
    }
    add(last, of(first));
    measure(of(first));
    struct text text = {NULL, 0, SIZE_MAX, 0};
    struct upk_error err;
    assert_true(upk_print_tree(&doc, take, &text, &err));
    const char *up = strstr(text.at, "(up ");
    assert_non_null(up);
    assert_int_equal(atoi(up + 4), LONG);
    free(text.at);
}

static void lists_that_hold_each_other_stop_soon(void **state) {
    (void)state;
    static const printer all[] = {upk_print_tree, upk_print_json, upk_print_repr};
    struct upk_cell *lists[9];
    for (int i = 0; i < 9; i++) lists[i] = cell(UPK_LIST);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) add(lists[i], of(lists[j]));
    }
    measure(of(lists[0]));
    for (int i = 0; i < 3; i++) {
        size_t written = expect_failure(all[i], of(lists[0]), UPK_ERR_BUDGET, UPK_BUDGET_EXPANDED);
        assert_in_range(written, 0, 65536);
    }
}

/* ---- limits */

static void deep_values_need_no_stack(void **state) {
    (void)state;
    enum { DEEP = 400000 };
    struct upk_cell *top = cell(UPK_LIST);
    for (int i = 1; i < DEEP; i++) {
        struct upk_cell *around = cell(UPK_FROZENSET);
        add(around, of(top));
        top = around;
    }
    struct text text = {NULL, 0, SIZE_MAX, 0};
    struct upk_error err;
    doc.root = of(top);
    assert_true(upk_print_tree(&doc, take, &text, &err));
    assert_int_equal(text.len, 12 * (DEEP - 1) + 6);
    free(text.at);
}

static void values_are_counted_to_the_last_one(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST);
    for (int i = 0; i < 9; i++) add(list, none);
    doc.expanded_budget = 10;
    expect(upk_print_json, of(list), "[null, null, null, null, null, null, null, null, null]");
    doc.expanded_budget = 9;
    expect_failure(upk_print_json, of(list), UPK_ERR_BUDGET, UPK_BUDGET_EXPANDED);
}

static void a_long_text_shared_often_stops(void **state) {
    (void)state;
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'x', LONG);
    struct upk_cell *list = cell(UPK_LIST);
    for (int i = 0; i < 1000; i++) add(list, data(UPK_STR, text, LONG));
    doc.stop_at = LONG;
    size_t written = expect_failure(upk_print_tree, of(list), UPK_ERR_BUDGET, UPK_BUDGET_EXPANDED);
    assert_in_range(written, 1, 64 * (size_t)LONG);
    free(text);
}

static void a_sink_that_stops_is_no_error(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST);
    for (int i = 0; i < 100000; i++) add(list, none);
    struct text text = {NULL, 0, 40000, 0};
    struct upk_error err = {.code = UPK_ERR_BUDGET};
    doc.root = of(list);
    assert_false(upk_print_json(&doc, take, &text, &err));
    assert_int_equal(err.code, UPK_OK);
    free(text.at);
}

/* Fails the nth request and, if `after`, all later ones; counts what is held. */
struct failing {
    size_t nth, count, held;
    bool after;
};

static void *failing_resize(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct failing *f = ctx;
    if (new_size == 0) {
        f->held -= old_size;
        free(block);
        return NULL;
    }
    f->count++;
    if (f->count == f->nth || (f->after && f->count > f->nth)) return NULL;
    void *p = realloc(block, new_size);
    assert_non_null(p);
    f->held += new_size - old_size;
    return p;
}

static void failing_memory_is_said_and_nothing_leaks(void **state) {
    (void)state;
    static const uint8_t large[] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const printer all[] = {upk_print_tree, upk_print_json, upk_print_repr};
    struct upk_cell *list = cell(UPK_LIST), *set = cell(UPK_SET), *dict = cell(UPK_DICT);
    for (int i = 0; i < 200; i++) {
        struct upk_cell *inner = cell(UPK_FROZENSET);
        add(inner, integer(i));
        add(inner, integer(-i));
        add(set, of(inner));
    }
    add(list, of(list));
    add(list, of(set));
    add(dict, str("a"));
    add(dict, data(UPK_BIGINT, large, sizeof large));
    add(dict, str("b"));
    add(dict, none);
    add(list, of(dict));
    measure(of(list));
    for (int after = 0; after < 2; after++) {
        for (int i = 0; i < 3; i++) {
            bool good = false;
            for (size_t nth = 1; !good; nth++) {
                struct failing failing = {.nth = nth, .after = after};
                struct upk_allocator own = doc.mem.allocator;
                struct upk_error err;
                struct text text = {NULL, 0, SIZE_MAX, 0};
                doc.mem.allocator = (struct upk_allocator){failing_resize, &failing};
                good = all[i](&doc, take, &text, &err);
                doc.mem.allocator = own;
                assert_int_equal(failing.held, 0);
                if (!good) assert_int_equal(err.code, UPK_ERR_MEMORY);
                if (good) assert_true(failing.count < nth && nth > 3);
                free(text.at);
            }
        }
    }
}

static void the_memory_cap_is_a_budget(void **state) {
    (void)state;
    uint64_t cap = doc.mem.cap;
    doc.mem.cap = 16;
    expect_failure(upk_print_tree, none, UPK_ERR_BUDGET, UPK_BUDGET_MEMORY);
    doc.mem.cap = cap;
}

static void sorting_is_bytewise(void **state) {
    (void)state;
    enum { MANY = 257 };
    static char texts[MANY][8];
    struct upk_bytes views[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", i * 7919 % 1009);
        views[i] = (struct upk_bytes){texts[i], strlen(texts[i])};
    }
    bytes_sort(views, MANY);
    for (size_t i = 1; i < MANY; i++) assert_true(strcmp(views[i - 1].data, views[i].data) <= 0);
    bytes_sort(views, 0);
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
        TEST(back_edges_say_how_many_levels_up),
        TEST(an_object_in_its_own_state_is_two_levels_up),
        TEST(a_sorted_set_may_hold_a_cycle),
        TEST(long_cycles_are_found),
        TEST(lists_that_hold_each_other_stop_soon),
        TEST(deep_values_need_no_stack),
        TEST(values_are_counted_to_the_last_one),
        TEST(a_long_text_shared_often_stops),
        TEST(a_sink_that_stops_is_no_error),
        TEST(failing_memory_is_said_and_nothing_leaks),
        TEST(the_memory_cap_is_a_budget),
        TEST(sorting_is_bytewise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
