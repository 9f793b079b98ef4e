/* The types of a table: each once, with its bounds, its classes, and the ways back to itself.
 *
 * Layer: tests of the compiler's lower*.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiled.h"

static void equal_types_are_held_once(void **state) {
    const struct upk_policy *const p =
        trial_policy(*state, "policy t 1; module m {\n"
                             "class A call(x: list<tuple<str[..10], int[0..9]>>);\n"
                             "class B call(x: list<tuple<str[..10], int[0..9]>>);\n"
                             "class C call(x: list<tuple<str[..10], int[0..8]>>); }\n");
    const struct upk_form *const a = &p->forms[p->rows[policy_look_up(p, NEW, "m", "A")].first_form];
    const struct upk_form *const b = &p->forms[p->rows[policy_look_up(p, NEW, "m", "B")].first_form];
    const struct upk_form *const c = &p->forms[p->rows[policy_look_up(p, NEW, "m", "C")].first_form];
    assert_int_equal(a->args, b->args);
    assert_int_not_equal(a->args, c->args);
    assert_int_equal(p->bound_count, 3);
}

static void a_recursive_type_leads_back_to_itself(void **state) {
    const struct upk_policy *const p =
        trial_policy(*state, "policy t 1; type Json = none | list<Json> | dict<str, Json>; root Json;");
    const struct upk_type *const root = &p->types[p->root];
    assert_int_equal(root->kind, UPK_TYPE_UNION);
    assert_int_equal(root->b, 3);
    const struct upk_type *const list = &p->types[p->alts[root->a + 1]];
    assert_int_equal(list->kind, UPK_TYPE_LIST);
    assert_int_equal(list->a, p->root);
}

static void bounds_of_128_bits_keep_their_value(void **state) {
    const struct upk_policy *const p =
        trial_policy(*state, "policy t 1; root "
                             "int[-340282366920938463463374607431768211455.."
                             "340282366920938463463374607431768211455] | int[0..0];");
    const struct upk_bound *const b = &p->bounds[1];
    assert_true(b->lo[0] == 1 && b->lo[1] == 0);
    assert_true(b->hi[0] == UINT64_MAX && b->hi[1] == UINT64_MAX);
    assert_int_equal(b->negative, 1);
    assert_int_equal(b->open, 0);
    const struct upk_type *const root = &p->types[p->root];
    assert_int_not_equal(p->types[p->alts[root->a + 1]].a, 0);
}

static void classes_are_sorted_and_types_follow(void **state) {
    const struct upk_policy *const p =
        trial_policy(*state, "policy t 1; module z { class Z call(); } module a { class A call(); func f() "
                             "-> z::Z because \"t\"; }\n"
                             "root tuple<z::Z, a::A>;");
    const struct upk_type *const root = &p->types[p->root];
    const struct upk_class *const first = &p->classes[p->types[p->elems[root->a].type].a];
    assert_true(policy_text_is(p, first->module, "z"));
    const struct upk_form *const f = &p->forms[p->rows[policy_look_up(p, NEW, "a", "f")].first_form];
    assert_ptr_equal(&p->classes[f->result], first);
    assert_int_equal(p->class_count, 3);
}

static void the_models_types_are_left_unmarked(void **state) {
    struct trial *const f = *state;
    trial_policy(f, "policy t 1; type Json = none | list<Json>; root Json;");
    struct tables again;
    assert_int_equal(f->compiled->models[0].root->mark, 0);
    assert_true(tables_build(f->compiled, &f->compiled->models[0], &f->diag, &again));
    assert_int_equal(again.policy.type_count, f->tables.policy.type_count);
    tables_free(&again);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(equal_types_are_held_once),           TEST(a_recursive_type_leads_back_to_itself),
        TEST(bounds_of_128_bits_keep_their_value), TEST(classes_are_sorted_and_types_follow),
        TEST(the_models_types_are_left_unmarked),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
