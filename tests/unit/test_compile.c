/* The front end of policyc: what models come of a policy's text, and that nothing breaks when memory ends.
 *
 * Which errors a text gets, and where, is for tests/run_policy_tests.py.
 *
 * Layer: tests only, over the compiler's front door.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiled.h"

static void assert_text(struct text t, const char *expected) {
    if (!text_is(t, expected)) fail_msg("got `%.*s', expected `%s'", (int)t.len, t.at, expected);
}

static const struct model_row *row_of(const struct model *m, const char *module, const char *qualname) {
    for (size_t i = 0; i < m->row_count; i++) {
        if (text_is(m->rows[i].name.module, module) && text_is(m->rows[i].name.qualname, qualname))
            return &m->rows[i];
    }
    fail_msg("no row %s::%s", module, qualname);
    return NULL;
}

static void a_policy_that_says_nothing_has_the_defaults(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy a.b 7;");
    assert_int_equal(c->model_count, 1);
    const struct model *m = &c->models[0];
    assert_text(m->policy, "a.b");
    assert_int_equal(m->channel.len, 0);
    assert_int_equal(m->revision, 7);
    assert_int_equal(m->flags, 0);
    assert_int_equal(m->root->kind, UPK_TYPE_ANY);
    assert_int_equal(m->protocol_min, 0);
    assert_int_equal(m->protocol_max, 5);
    static const uint64_t standard[] = {
#define UPK_X(name, word, default_value, most, unit) default_value,
        UPK_BUDGETS(UPK_X)
#undef UPK_X
    };
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) assert_int_equal(m->budgets[i], standard[i]);
    size_t allowed = 0;
    for (size_t i = 0; i < 256; i++) allowed += m->allowed[i];
    assert_int_equal(allowed, 55); /* core */
    assert_int_equal(m->row_count, 0);
    assert_int_equal(c->file_count, 1);
    assert_text(c->files[0].name, "test.policy");
    assert_text(c->files[0].bytes, "policy a.b 7;");
    compiled_free(c);
}

static void opcodes_are_families_and_names_less_exceptions(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy p 1; opcodes core, INST except POP, python2;");
    const struct model *m = &c->models[0];
    assert_true(m->allowed['i'] && m->allowed['.'] && m->allowed['R']);
    assert_false(m->allowed['o'] || m->allowed['0'] || m->allowed['U'] || m->allowed[0x82] || m->allowed[0]);
    compiled_free(c);
}

static void a_channel_has_its_own_rows_and_settings(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy p 1; budget depth 50, calls 9;\n"
                                        "module m { class B new(); class A new(); }\n"
                                        "channel x { use p; protocol 2; budget depth 5; root m::A cyclic; }\n"
                                        "channel y { opcodes core except REDUCE; root int; }");
    assert_int_equal(c->model_count, 2);
    const struct model *x = &c->models[0], *y = &c->models[1];
    assert_text(x->channel, "x");
    assert_int_equal(x->row_count, 2);
    assert_text(x->rows[0].name.qualname, "A"); /* sorted */
    assert_int_equal(x->budgets[UPK_BUDGET_DEPTH], 5);
    assert_int_equal(x->budgets[UPK_BUDGET_CALLS], 9);
    assert_int_equal(x->protocol_min, 2);
    assert_int_equal(x->protocol_max, 2);
    assert_int_equal(x->flags, UPK_POLICY_ROOT_CYCLIC);
    assert_true(x->allowed['R']);
    assert_text(y->channel, "y");
    assert_int_equal(y->row_count, 0);
    assert_int_equal(y->budgets[UPK_BUDGET_DEPTH], 50);
    assert_false(y->allowed['R']);
    assert_int_equal(y->flags, 0);
    compiled_free(c);
}

static const struct model_type *root_of(struct compiled *c) { return c->models[0].root; }

static void bounds_reach_128_bits_and_a_sign(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; root tuple<int[0..340282366920938463463374607431768211455], int[-1..],\n"
                       "int[..-170141183460469231731687303715884105728], int, -2, int[7]>;");
    const struct model_elem *e = root_of(c)->elems;
    assert_int_equal(root_of(c)->elem_count, 6);
    assert_true(!e[0].type->open_min && !e[0].type->open_max && !e[0].type->max.negative);
    assert_true(e[0].type->max.word[0] == UINT64_MAX && e[0].type->max.word[1] == UINT64_MAX);
    assert_true(e[1].type->min.negative && e[1].type->min.word[0] == UINT64_MAX &&
                e[1].type->min.word[1] == UINT64_MAX);
    assert_true(!e[1].type->open_min && e[1].type->open_max);
    assert_true(e[2].type->open_min && e[2].type->max.negative);
    assert_true(e[2].type->max.word[0] == 0 && e[2].type->max.word[1] == UINT64_C(1) << 63);
    assert_true(e[3].type->open_min && e[3].type->open_max);
    assert_int_equal(e[4].type->kind, UPK_TYPE_INT_IS);
    assert_true(e[4].type->min.negative && e[4].type->min.word[0] == UINT64_MAX - 1);
    assert_true(e[5].type->min.word[0] == 7 && e[5].type->max.word[0] == 7);
    compiled_free(c);
}

static void lengths_are_inclusive_and_open_ends_say_so(void **state) {
    (void)state;
    struct compiled *c = compile_models(
        "policy p 1; root tuple<str[3], bytes[2..4KiB], list<int>[1..], dict<int, str>[..9], set<int>>;");
    const uint64_t expected[][2] = {{3, 3}, {2, 4096}, {1, UINT64_MAX}, {0, 9}, {0, UINT64_MAX}};
    for (size_t i = 0; i < 5; i++) {
        assert_true(root_of(c)->elems[i].type->lo == expected[i][0]);
        assert_true(root_of(c)->elems[i].type->hi == expected[i][1]);
    }
    compiled_free(c);
}

static void sets_of_characters_are_sorted_and_merged(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy p 1; root str chars \"za-cd-f0-9b-e\\u{D800}-\\u{DFFF}-\";");
    const struct upk_range expected[] = {{'-', '-'}, {'0', '9'}, {'a', 'f'}, {'z', 'z'}, {0xd800, 0xdfff}};
    assert_true(root_of(c)->has_chars);
    assert_int_equal(root_of(c)->char_count, 5);
    assert_memory_equal(root_of(c)->chars, expected, sizeof expected);
    compiled_free(c);
}

static void strings_are_decoded(void **state) {
    (void)state;
    struct compiled *c = compile_models(
        "policy p 1; root tuple<\"a\\n\\\"\\\\\\t\\xe9\\u{1F600}\\u{D800}\", b\"\\x00\\xff\\n\">;");
    const struct model_type *text = root_of(c)->elems[0].type, *bytes = root_of(c)->elems[1].type;
    assert_int_equal(text->kind, UPK_TYPE_STR_IS);
    assert_text(text->literal, "a\n\"\\\t\xc3\xa9\xf0\x9f\x98\x80\xed\xa0\x80");
    assert_int_equal(bytes->kind, UPK_TYPE_BYTES_IS);
    assert_int_equal(bytes->literal.len, 3);
    assert_memory_equal(bytes->literal.at, "\0\xff\n", 3);
    compiled_free(c);
}

static void unions_are_flat_and_without_doubles(void **state) {
    (void)state;
    struct compiled *c = compile_models(
        "policy p 1; type A = B | (C | none); type B = int | str; type C = str | float; root A | bytes;");
    const uint32_t kinds[] = {UPK_TYPE_INT, UPK_TYPE_STR, UPK_TYPE_FLOAT, UPK_TYPE_NONE, UPK_TYPE_BYTES};
    assert_int_equal(root_of(c)->kind, UPK_TYPE_UNION);
    assert_int_equal(root_of(c)->alt_count, 5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(root_of(c)->alts[i]->kind, kinds[i]);
    compiled_free(c);
}

static void recursive_types_are_cycles_of_one_node(void **state) {
    (void)state;
    struct compiled *c = compile_models(
        "policy p 1; type Loop = list<Loop>; type Same = Loop; type Tree = none | dict<str, Tree>;\n"
        "root tuple<Loop, Same, Tree>;");
    const struct model_elem *e = root_of(c)->elems;
    assert_ptr_equal(e[0].type, e[1].type);
    assert_ptr_equal(e[0].type->item, e[0].type);
    assert_int_equal(e[2].type->kind, UPK_TYPE_UNION);
    assert_ptr_equal(e[2].type->alts[1]->value, e[2].type);
    compiled_free(c);
}

static void records_are_sorted_by_key(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy p 1; root { b: int, \"B\"?: str, a: bool, *: none };");
    const struct model_type *t = root_of(c);
    assert_int_equal(t->field_count, 3);
    assert_text(t->fields[0].key, "B");
    assert_true(t->fields[0].optional);
    assert_text(t->fields[1].key, "a");
    assert_text(t->fields[2].key, "b");
    assert_false(t->fields[2].optional);
    assert_int_equal(t->rest->kind, UPK_TYPE_NONE);
    compiled_free(c);
}

static void tuples_know_what_is_optional_and_what_repeats(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy p 1; root tuple<int, str?, float?, any...>[..9];");
    assert_int_equal(root_of(c)->elem_count, 4);
    assert_int_equal(root_of(c)->optional, 2);
    assert_true(root_of(c)->repeats);
    assert_true(root_of(c)->hi == 9);
    compiled_free(c);
}

static void a_row_has_the_steps_and_clauses_of_each_alternative(void **state) {
    (void)state;
    struct compiled *c = compile_models(
        "policy p 1; module m import {\n"
        "class A ref | call(x: int, y?: any) items str because \"why\" runs __new__, __eq__ budget calls 5\n"
        "        | new(x: int) kw { k: int } state? str;\n"
        "func { f, g }() -> other::B adds int because \"two\"; const K; }");
    const struct model *m = &c->models[0];
    const struct model_row *a = row_of(m, "m", "A"), *f = row_of(m, "m", "f"), *g = row_of(m, "m", "g"),
                           *k = row_of(m, "m", "K");
    assert_int_equal(a->flags, UPK_ROW_CLASS | UPK_ROW_REF | UPK_ROW_IMPORT | UPK_ROW_ITEMS | UPK_ROW_STATE);
    assert_int_equal(a->calls, 5);
    assert_int_equal(a->form_count, 3);
    assert_int_equal(a->line, 2);
    assert_int_equal(a->forms[0].verb, UPK_VERB_REF);
    assert_null(a->forms[0].args);
    assert_int_equal(a->forms[1].verb, UPK_VERB_CALL);
    assert_int_equal(a->forms[1].args->elem_count, 2);
    assert_int_equal(a->forms[1].args->optional, 1);
    assert_text(a->forms[1].args->elems[1].name, "y");
    assert_int_equal(a->forms[1].items->kind, UPK_TYPE_STR);
    assert_text(a->forms[1].because, "why");
    assert_int_equal(a->forms[1].flags, UPK_FORM_RUNS_NEW | UPK_FORM_RUNS_EQ);
    assert_text(a->forms[1].result.module, "m");
    assert_text(a->forms[1].result.qualname, "A");
    assert_int_equal(a->forms[2].verb, UPK_VERB_NEW);
    assert_int_equal(a->forms[2].kw->field_count, 1);
    assert_int_equal(a->forms[2].flags, UPK_FORM_STATE_OPTIONAL);
    assert_int_equal(a->forms[2].line, 3);
    assert_int_equal(f->flags, UPK_ROW_FUNC | UPK_ROW_IMPORT | UPK_ROW_ADDS);
    assert_text(f->forms[0].result.module, "other");
    assert_int_equal(f->forms[0].args->elem_count, 0);
    assert_ptr_equal(f->forms[0].adds, g->forms[0].adds);
    assert_int_equal(k->forms[0].verb, UPK_VERB_CONST);
    compiled_free(c);
}

static void aliases_and_instances_are_sorted(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; alias z -> b; alias a.b -> c; root instance of p;\n"
                       "module n { class A new(); func f() -> m::Z because \"x\"; class R ref; } "
                       "module m { class B new(); }");
    const struct model *m = &c->models[0];
    assert_int_equal(m->alias_count, 2);
    assert_text(m->aliases[0].from, "a.b");
    assert_text(m->aliases[1].to, "b");
    assert_int_equal(m->root->kind, UPK_TYPE_INSTANCE);
    assert_int_equal(m->root->class_count, 3);
    assert_text(m->root->classes[0].qualname, "B");
    assert_text(m->root->classes[1].qualname, "Z");
    assert_text(m->root->classes[2].qualname, "A");
    compiled_free(c);
}

/* The arena's cap grows by its alignment, so each allocation is refused in turn, with all that follow it. */
static void every_shortage_of_memory_is_an_error(void **state) {
    (void)state;
    static const char text[] =
        "policy p 1; alias a -> b; never os::*;\n"
        "type T = int | U | list<T>; type U = { a: int, b?: str chars \"a-z\" } | tuple<str, any...>;\n"
        "module m { class A new() state T because \"x\" | ref; func f(x: T) -> m::A because \"x\"; }\n"
        "module n { dataclass D { a: int, b?: n::D }; pydantic P { a: int, b: int }; exception E(a: int) "
        "{};\n"
        "    namedtuple N(a: int); enum M { A = 1, B = true }; flag F { A = 1 }; flag G { A = 1, B = 2 }; }\n"
        "module o { subclasses of S call() because \"x\"; }\n"
        "channel c { use p; root m::A | ref m::A | instance of p; }\n"
        "channel d { within c; fail_open until \"2030-01-01\" because \"x\" { deny module os.*, q::r; } }\n";
    enum { STEP = 16, ENOUGH = 1 << 20 };
    size_t refused = 0;
    bool good = false;
    for (size_t most = 1; most < ENOUGH && !good; most += STEP) {
        struct diag d;
        struct compiled *compiled = NULL;
        const struct compile_options options = {.text = text,
                                                .text_len = sizeof text - 1,
                                                .allow_fail_open = true,
                                                .today = 20291231,
                                                .most_memory = most};
        diag_init(&d, (struct diag_sink){.write = NULL});
        good = policy_compile(&options, &d, &compiled);
        assert_int_equal(good, diag_error_count(&d) == 0);
        assert_int_equal(good, compiled != NULL);
        refused += !good;
        compiled_free(compiled);
        diag_free(&d);
    }
    assert_true(good);
    assert_true(refused > 0);
}

/* Nothing is assumed of a date that nobody looked at. */
static void a_last_day_needs_a_day_to_be_held_against(void **state) {
    static const struct {
        uint32_t today;
        bool agreed, good;
    } cases[] = {{20300101, true, true}, {20291231, true, true},   {20300102, true, false},
                 {0, true, false},       {20300101, false, false}, {UINT32_MAX, true, false}};
    static const char text[] = "policy p 1; fail_open until \"2030-01-01\" because \"x\" { }";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag d;
        struct compiled *compiled = NULL;
        const struct compile_options options = {.text = text,
                                                .text_len = sizeof text - 1,
                                                .allow_fail_open = cases[i].agreed,
                                                .today = cases[i].today};
        diag_init(&d, (struct diag_sink){.write = NULL});
        assert_int_equal(policy_compile(&options, &d, &compiled), cases[i].good);
        assert_int_equal(diag_error_count(&d), !cases[i].good);
        compiled_free(compiled);
        diag_free(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_says_nothing_has_the_defaults),
        cmocka_unit_test(opcodes_are_families_and_names_less_exceptions),
        cmocka_unit_test(a_channel_has_its_own_rows_and_settings),
        cmocka_unit_test(bounds_reach_128_bits_and_a_sign),
        cmocka_unit_test(lengths_are_inclusive_and_open_ends_say_so),
        cmocka_unit_test(sets_of_characters_are_sorted_and_merged),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(unions_are_flat_and_without_doubles),
        cmocka_unit_test(recursive_types_are_cycles_of_one_node),
        cmocka_unit_test(records_are_sorted_by_key),
        cmocka_unit_test(tuples_know_what_is_optional_and_what_repeats),
        cmocka_unit_test(a_row_has_the_steps_and_clauses_of_each_alternative),
        cmocka_unit_test(aliases_and_instances_are_sorted),
        cmocka_unit_test(a_last_day_needs_a_day_to_be_held_against),
        cmocka_unit_test(every_shortage_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
