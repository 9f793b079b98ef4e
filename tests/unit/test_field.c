/* Fields by name: where each kind of class keeps them, which place comes first, and what is no field; members of enums.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"
#include "documents.h"

static const char policy_text[] =
    "policy f 1; opcodes core, python2; protocol 0..5;\n"
    "module m {\n"
    "    class Plain new() state { i: int, f?: float, t?: bool, s?: str, b?: bytes, n?: { i: int } };\n"
    "    class Slots new() state tuple<(none | { a: int, b: int }), { a: int, c?: int }>;\n"
    "    class Model new() state { __dict__: { x: int }, __pydantic_extra__: none };\n"
    "    class Either new() state (tuple<none, { x: int }> | { __dict__: { x: int } });\n"
    "    class Open new() state { x?: int, *: any } because \"test\";\n"
    "    class Any new() state any because \"test\";\n"
    "    class Key new(first: int, rest: int...) kw { key: int, first?: int };\n"
    "    class Error call(message: str, code?: int) state? { code?: int };\n"
    "    class List call() items int | new() state list<int, int>;\n"
    "}\n"
    "root any;";

#define STREAM(literal) literal, sizeof(literal) - 1
#define KEY(c)          "\x8c\x01" c
#define NEW_OF(name) \
    "cm\n" name "\n" \
    ")\x81"
#define SCOPE "\x80\x04"

/* What says that there is the field: both the stream and the policy, the policy, or the stream without one. */
enum says { NEITHER, BOTH, POLICY, STREAM_ALONE };

static const struct {
    const char *stream;
    size_t len;
    const char *name;
    int64_t value;
    unsigned says; /* enum says */
} places[] = {
    {STREAM(SCOPE NEW_OF("Plain") "}" KEY("i") "K\x01sb."), "i", 1, BOTH},
    {STREAM(SCOPE NEW_OF("Plain") "}" KEY("i") "K\x01sb."), "f", 0, NEITHER},
    {STREAM(SCOPE NEW_OF("Plain") "}" KEY("i") "K\x01sb."), "", 0, NEITHER},
    {STREAM(SCOPE NEW_OF("Plain") "}" KEY("i") "K\x01sb."), "ii", 0, NEITHER},
    {STREAM("\x80\x02" NEW_OF("Plain") "}U\x01iK\x01sb."), "i", 1, BOTH}, /* a str of Python 2 */
    /* Slots hide what the dict has. */
    {STREAM(SCOPE NEW_OF("Slots") "N}" KEY("a") "K\x01s\x86"
                                                "b."),
     "a", 1, BOTH},
    {STREAM(SCOPE NEW_OF("Slots") "}(" KEY("a") "K\x02" KEY("b") "K\x03u}" KEY("a") "K\x01s\x86"
                                                                                    "b."),
     "a", 1, BOTH},
    {STREAM(SCOPE NEW_OF("Slots") "}(" KEY("a") "K\x02" KEY("b") "K\x03u}" KEY("a") "K\x01s\x86"
                                                                                    "b."),
     "b", 3, BOTH},
    {STREAM(SCOPE NEW_OF("Slots") "}(" KEY("a") "K\x02" KEY("b") "K\x03u}" KEY("a") "K\x01s\x86"
                                                                                    "b."),
     "c", 0, NEITHER},
    {STREAM(SCOPE NEW_OF("Model") "}(\x8c\x08__dict__}" KEY("x") "K\x05s\x8c\x12__pydantic_extra__Nub."), "x",
     5, BOTH},
    {STREAM(SCOPE NEW_OF("Either") "}\x8c\x08__dict__}" KEY("x") "K\x05ssb."), "x", 5, BOTH},
    {STREAM(SCOPE NEW_OF("Either") "N}" KEY("x") "K\x06s\x86"
                                                 "b."),
     "x", 6, BOTH},
    {STREAM(SCOPE NEW_OF("Any") "}\x8c\x08__dict__}" KEY("x") "K\x05ssb."), "x", 5, BOTH},
    {STREAM(SCOPE NEW_OF("Any") "]K\x05"
                                "ab."),
     "x", 0, NEITHER},
    {STREAM(SCOPE NEW_OF("Any") "K\x05"
                                "b."),
     "x", 0, NEITHER},
    {STREAM(SCOPE NEW_OF("Any") "}" KEY("x") "K\x05s\x85"
                                             "b."),
     "x", 0, NEITHER},
    /* A key "__dict__" that only came in under `*` does not stand for fields. */
    {STREAM(SCOPE NEW_OF("Open") "}\x8c\x08__dict__}" KEY("x") "K\x05ssb."), "x", 0, STREAM_ALONE},
    {STREAM(SCOPE NEW_OF("Open") "}" KEY("x") "K\x05sb."), "x", 5, BOTH},
    /* Keywords come before arguments; one that repeats is no field. */
    {STREAM(SCOPE "cm\nKey\nK\x01\x85}\x8c\x03keyK\x02s\x92."), "first", 1, POLICY},
    {STREAM(SCOPE "cm\nKey\nK\x01\x85}\x8c\x03keyK\x02s\x92."), "key", 2, BOTH},
    {STREAM(SCOPE "cm\nKey\nK\x01\x85}(\x8c\x03keyK\x02\x8c\x05"
                  "firstK\x03u\x92."),
     "first", 3, BOTH},
    {STREAM(SCOPE "cm\nKey\nK\x01K\x04\x86}\x8c\x03keyK\x02s\x92."), "rest", 0, NEITHER},
    /* The state comes before arguments; an optional argument may be absent. */
    {STREAM(SCOPE "cm\nError\n" KEY("m") "K\x07\x86R."), "code", 7, POLICY},
    {STREAM(SCOPE "cm\nError\n" KEY("m") "\x85R."), "code", 0, NEITHER},
    {STREAM(SCOPE "cm\nError\n" KEY("m") "K\x07\x86R}\x8c\x04"
                                         "codeK\x08sb."),
     "code", 8, BOTH},
    /* Places of a list that have no names. */
    {STREAM(SCOPE NEW_OF("List") "](K\x01K\x02"
                                 "eb."),
     "", 0, NEITHER},
    {STREAM(SCOPE NEW_OF("List") "](K\x01K\x02"
                                 "eb."),
     "x", 0, NEITHER},
    /* What is no object: a record is one of fields, nothing else is. */
    {STREAM(SCOPE "}" KEY("x") "K\x05s."), "x", 5, BOTH},
    {STREAM(SCOPE "}" KEY("x") "K\x05s."), "y", 0, NEITHER},
    {STREAM(SCOPE "}K\x05"
                  "K\x05s."),
     "5", 0, NEITHER},
    {STREAM(SCOPE "]K\x05"
                  "a."),
     "0", 0, NEITHER},
    {STREAM(SCOPE "K\x05."), "real", 0, NEITHER},
};

static void fields_are_found_where_python_keeps_them(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, policy_text);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct upk_doc *doc = decode(policy, places[i].stream, places[i].len, NULL);
        struct upk_value v = {.kind = UPK_BOOL};
        const bool found = upk_object_field(doc, upk_doc_root(doc), places[i].name, &v);
        if (found != (places[i].says == BOTH || places[i].says == POLICY))
            fail_msg("stream %zu, field %s", i, places[i].name);
        if (found) {
            assert_int(v, places[i].value);
        } else {
            assert_int_equal(v.kind, UPK_BOOL);
        }
        upk_doc_free(doc);
    }
}

/* Without a policy arguments have no names. */
static void inspected_objects_have_the_fields_that_the_stream_names(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct upk_doc *doc = decode(NULL, places[i].stream, places[i].len,
                                     &(struct upk_options){.flags = UPK_FAMILY_FLAGS, .families = 3});
        struct upk_value v;
        const bool found = upk_object_field(doc, upk_doc_root(doc), places[i].name, &v);
        if (found != (places[i].says == BOTH || places[i].says == STREAM_ALONE))
            fail_msg("stream %zu, field %s", i, places[i].name);
        upk_doc_free(doc);
    }
}

/* ---- typed getters */

#define EVERY_FIELD                                                                                       \
    SCOPE NEW_OF("Plain") "}(" KEY("i") "K\x01" KEY("f") "G\x3f\xf8\0\0\0\0\0\0" KEY("t") "\x88" KEY("s") \
        KEY("x") KEY("b") "C\x02\0\xff" KEY("n") "}" KEY("i") "K\x02sub."

/* What the getters find under a name, a letter each; those that find nothing must leave what they are given as it was. */
static void assert_getters(const struct upk_doc *doc, struct upk_value v, const char *name,
                           const char *expected) {
    char found[6] = "";
    size_t n = 0, len = 77;
    bool truth = false;
    int64_t i = 77;
    double f = 0.25;
    const char *text = "unset";
    const uint8_t *bytes = (const uint8_t *)"unset";
    if (upk_field_bool(doc, v, name, &truth)) found[n++] = 't';
    if (upk_field_int64(doc, v, name, &i)) found[n++] = 'i';
    if (upk_field_double(doc, v, name, &f)) found[n++] = 'f';
    if (upk_field_str(doc, v, name, &text, &len)) found[n++] = 's';
    if (upk_field_bytes(doc, v, name, &bytes, &len)) found[n++] = 'b';
    assert_string_equal(found, expected);
    assert_int_equal(truth, *expected == 't');
    assert_int_equal(i, *expected == 'i' ? 1 : 77);
    assert_true(f > 1.4 ? *expected == 'f' : *expected != 'f' && f < 0.3);
    assert_memory_equal(text, *expected == 's' ? "x" : "unset", 1);
    assert_memory_equal(bytes, *expected == 'b' ? "\0\xff" : "unset", 2);
    assert_int_equal(len, *expected == 's' ? 1 : *expected == 'b' ? 2 : 77);
}

static void typed_getters_give_their_kind_alone(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, policy_text);
    struct upk_doc *doc = DECODE(policy, EVERY_FIELD);
    const struct upk_value root = upk_doc_root(doc);
    assert_getters(doc, root, "t", "t");
    assert_getters(doc, root, "i", "i");
    assert_getters(doc, root, "f", "f");
    assert_getters(doc, root, "s", "s");
    assert_getters(doc, root, "b", "b");
    assert_getters(doc, root, "n", "");
    assert_getters(doc, root, "none", "");
    struct upk_value inner;
    assert_true(upk_object_field(doc, root, "n", &inner));
    int64_t i = 0;
    assert_true(upk_field_int64(doc, inner, "i", &i));
    assert_int_equal(i, 2);
    assert_getters(doc, inner, "t", "");
    upk_doc_free(doc);
}

static void text_is_compared_in_full(void **state) {
    (void)state;
    struct upk_doc *doc = DECODE(NULL, SCOPE "(\x8c\x04"
                                             "fast\x8c\x00\x8c\x03"
                                             "a\0bC\x04"
                                             "fastt.");
    const struct upk_value root = upk_doc_root(doc);
    assert_true(upk_str_is(at(root, 0), "fast"));
    assert_false(upk_str_is(at(root, 0), "fas"));
    assert_false(upk_str_is(at(root, 0), "faster"));
    assert_false(upk_str_is(at(root, 0), "Fast"));
    assert_true(upk_str_is(at(root, 1), ""));
    assert_false(upk_str_is(at(root, 2), "a"));
    assert_false(upk_str_is(at(root, 3), "fast"));
    assert_false(upk_str_is(root, ""));
    upk_doc_free(doc);
}

/* ---- templates: every form that Python writes has the same fields, every spelling the same member */

static const char templates[] = "policy t 1;\n"
                                "module m {\n"
                                "    dataclass D { x: int, y?: int };\n"
                                "    namedtuple N(x: int, y: int);\n"
                                "    exception E(x: int) { y?: int };\n"
                                "    pydantic P { x: int, y?: int };\n"
                                "    enum Mode { FAST = \"fast\", FULL = \"full\" };\n"
                                "    flag Perm { R = 4, W = 2, X = 1 };\n"
                                "}\n"
                                "root any;";

#define PYDANTIC_2(fields)                                          \
    NEW_OF("P")                                                     \
    "}(\x8c\x08__dict__" fields "\x8c\x12__pydantic_extra__N"       \
    "\x8c\x17__pydantic_fields_set__\x8f(" KEY("x") KEY("y") "\x90" \
                                                             "\x8c\x14__pydantic_private__Nub."
#define BOTH_FIELDS "}(" KEY("x") "K\x08" KEY("y") "K\x09u"

static void every_form_of_a_template_has_its_fields(void **state) {
    static const struct {
        const char *stream;
        size_t len;
    } forms[] = {
        {STREAM(SCOPE NEW_OF("D") BOTH_FIELDS "b.")},
        {STREAM(SCOPE NEW_OF("D") "N" BOTH_FIELDS "\x86"
                                  "b.")},
        {STREAM(SCOPE NEW_OF("D") "](K\x08K\x09"
                                  "eb.")},
        {STREAM(SCOPE "cm\nN\nK\x08K\x09\x86\x81.")},
        {STREAM(SCOPE "cm\nE\nK\x08\x85R}" KEY("y") "K\x09sb.")},
        {STREAM(SCOPE PYDANTIC_2(BOTH_FIELDS))},
    };
    const struct upk_policy *const policy = trial_policy(*state, templates);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct upk_doc *doc = decode(policy, forms[i].stream, forms[i].len, NULL);
        int64_t x = 0, y = 0;
        const struct upk_value root = upk_doc_root(doc);
        if (!upk_field_int64(doc, root, "x", &x) || x != 8) fail_msg("form %zu has no x", i);
        if (!upk_field_int64(doc, root, "y", &y) || y != 9) fail_msg("form %zu has no y", i);
        upk_doc_free(doc);
    }
}

#define MEMBER(class, name) "cbuiltins\ngetattr\ncm\n" class "\n" name "\x86R"
#define PERM_R              MEMBER("Perm", KEY("R"))
#define PERM_W              MEMBER("Perm", KEY("W"))
#define OR(a, b)            "c_operator\nor_\n" a b "\x86R"

static void every_spelling_of_a_member_has_its_value(void **state) {
    static const char stream[] =
        SCOPE "("
              "cm\nMode\n\x8c\x04"
              "fast\x85R" MEMBER("Mode", "\x8c\x04"
                                         "FAST") "cm\nPerm\nK\x06\x85R" OR(PERM_R, PERM_W)
                  OR(OR(PERM_R, PERM_W), PERM_W) "cm\nPerm\nK\0\x85R" PERM_R "t.";
    static const int64_t flags[] = {6, 6, 6, 0, 4};
    struct upk_doc *doc = DECODE(trial_policy(*state, templates), stream);
    const struct upk_value root = upk_doc_root(doc);
    struct upk_value value;
    for (size_t i = 0; i < 2; i++)
        assert_true(upk_get_member(doc, at(root, i), &value) && upk_str_is(value, "fast"));
    for (size_t i = 0; i < 5; i++) {
        assert_true(upk_get_member(doc, at(root, 2 + i), &value));
        assert_int(value, flags[i]);
    }
    upk_doc_free(doc);
}

/* ---- rows, for a switch */

static void rows_tell_instances_from_mentions(void **state) {
    const struct upk_policy *const policy =
        trial_policy(*state, "policy r 1;\n"
                             "module m { class C call() | ref; const X; class Outer.In ref; }\n"
                             "root list<any | ref m::C | ref m::Outer.In>;");
    struct upk_doc *doc = DECODE(policy, SCOPE "](cm\nC\n)Rcm\nC\ncm\nX\n"
                                               "cbuiltins\ngetattr\ncm\nOuter\n\x8c\x02In\x86RK\x01"
                                               "e.");
    const struct upk_value root = upk_doc_root(doc);
    const uint32_t class = policy_look_up(policy, NEW, "m", "C");
    assert_int_equal(upk_object_row(at(root, 0)), class);
    assert_int_equal(upk_global_row(at(root, 0)), 0);
    assert_int_equal(upk_object_row(at(root, 1)), 0);
    assert_int_equal(upk_global_row(at(root, 1)), class);
    assert_int_equal(upk_global_row(at(root, 2)), policy_look_up(policy, NEW, "m", "X"));
    assert_int_equal(upk_object_row(at(root, 3)), 0);
    assert_int_equal(upk_global_row(at(root, 3)), policy_look_up(policy, NEW, "m", "Outer.In"));
    assert_int_equal(upk_global_row(at(root, 4)), 0);
    upk_doc_free(doc);
    doc = DECODE(NULL, "cm\nC\n.");
    assert_int_equal(upk_global_row(upk_doc_root(doc)), 0);
    upk_doc_free(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_found_where_python_keeps_them, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test(inspected_objects_have_the_fields_that_the_stream_names),
        cmocka_unit_test_setup_teardown(typed_getters_give_their_kind_alone, trial_set_up, trial_tear_down),
        cmocka_unit_test(text_is_compared_in_full),
        cmocka_unit_test_setup_teardown(every_form_of_a_template_has_its_fields, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test_setup_teardown(every_spelling_of_a_member_has_its_value, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test_setup_teardown(rows_tell_instances_from_mentions, trial_set_up, trial_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
