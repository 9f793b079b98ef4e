/* Templates: which rows and forms each becomes.
 *
 * What real classes write under them is for tests/test_templates.py.
 *
 * Layer: tests only, over the compiler's front door.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiled.h"

enum {
    DATA = UPK_FORM_TEMPLATE | UPK_FORM_RUNS_SETSTATE | UPK_FORM_RUNS_SETATTR | UPK_FORM_RUNS_HASH |
           UPK_FORM_RUNS_EQ,
    MEMBERS = UPK_FORM_TEMPLATE | UPK_FORM_RUNS_NEW | UPK_FORM_RUNS_HASH
};

static const struct model_row *row_of(const struct model *m, const char *qualname) {
    for (size_t i = 0; i < m->row_count; i++) {
        if (text_is(m->rows[i].name.qualname, qualname)) return &m->rows[i];
    }
    fail_msg("no row %s", qualname);
    return NULL;
}

static void assert_text(struct text t, const char *expected) {
    if (!text_is(t, expected)) fail_msg("got `%.*s', expected `%s'", (int)t.len, t.at, expected);
}

static void a_dataclass_has_three_states(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; module m import {\n dataclass D { b: int, a: str, c?: none }\n"
                       "because \"why\" runs __del__, __eq__ budget calls 7; }");
    const struct model_row *d = row_of(&c->models[0], "D");
    assert_int_equal(c->models[0].row_count, 1);
    assert_int_equal(d->flags, UPK_ROW_CLASS | UPK_ROW_IMPORT | UPK_ROW_STATE);
    assert_int_equal(d->calls, 7);
    assert_int_equal(d->form_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(d->forms[i].verb, UPK_VERB_NEW);
        assert_int_equal(d->forms[i].flags, DATA | UPK_FORM_RUNS_DEL);
        assert_int_equal(d->forms[i].args->elem_count, 0);
        assert_int_equal(d->forms[i].line, 2);
        assert_text(d->forms[i].because, "why");
        assert_text(d->forms[i].result.qualname, "D");
    }
    const struct model_type *dict = d->forms[0].state, *slots = d->forms[1].state, *list = d->forms[2].state;
    assert_int_equal(dict->kind, UPK_TYPE_RECORD);
    assert_int_equal(dict->field_count, 3);
    assert_int_equal(slots->kind, UPK_TYPE_TUPLE);
    assert_int_equal(slots->elem_count, 2);
    assert_int_equal(slots->elems[0].type->kind, UPK_TYPE_NONE);
    assert_ptr_equal(slots->elems[1].type, dict);
    assert_int_equal(list->kind, UPK_TYPE_PLACES);
    assert_int_equal(list->elem_count, 3);
    assert_text(list->elems[0].name, "b");
    assert_text(list->elems[1].name, "a");
    assert_int_equal(list->elems[0].type->kind, UPK_TYPE_INT);
    assert_int_equal(list->elems[1].type->kind, UPK_TYPE_STR);
    assert_int_equal(list->optional, 1);
    compiled_free(c);
}

static void a_state_may_be_absent_where_no_field_is_required(void **state) {
    (void)state;
    struct compiled *c = compile_models("policy p 1; module m { dataclass D { a?: int, b?: int };\n"
                                        "dataclass O { a?: int, b: int }; exception E() { a?: int };\n"
                                        "exception F() { a: int }; exception G(x: int); }");
    const struct model *m = &c->models[0];
    const struct model_row *d = row_of(m, "D");
    assert_int_equal(d->forms[0].flags, DATA | UPK_FORM_STATE_OPTIONAL);
    assert_int_equal(d->forms[1].flags, DATA | UPK_FORM_STATE_OPTIONAL);
    assert_int_equal(d->forms[2].flags, DATA);
    assert_int_equal(d->forms[2].state->optional, 2);
    assert_int_equal(row_of(m, "O")->forms[2].state->optional, 0); /* the first is no end */
    assert_int_equal(row_of(m, "E")->forms[0].flags, UPK_FORM_TEMPLATE | UPK_FORM_STATE_OPTIONAL);
    assert_int_equal(row_of(m, "F")->forms[0].flags, UPK_FORM_TEMPLATE);
    assert_int_equal(row_of(m, "G")->forms[0].verb, UPK_VERB_CALL);
    assert_null(row_of(m, "G")->forms[0].state);
    assert_int_equal(row_of(m, "G")->flags, UPK_ROW_CLASS);
    compiled_free(c);
}

static void an_enum_has_a_const_for_each_member(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; module m { enum O.M { A = 5, B = \"b\", C = tuple<float>, D = 5,\n"
                       "E = true }; namedtuple N(x: int, y: m::O.M); }");
    const struct model *m = &c->models[0];
    assert_int_equal(m->row_count, 7);
    const struct model_row *class = row_of(m, "O.M"), *a = row_of(m, "O.M.A"), *e = row_of(m, "O.M.E");
    assert_int_equal(class->form_count, 1);
    assert_int_equal(class->forms[0].verb, UPK_VERB_CALL);
    assert_int_equal(class->forms[0].flags, MEMBERS);
    assert_text(class->forms[0].args->elems[0].name, "value");
    assert_int_equal(class->forms[0].args->elems[0].type->kind, UPK_TYPE_UNION);
    assert_int_equal(a->flags, UPK_ROW_CONST);
    assert_int_equal(a->forms[0].verb, UPK_VERB_CONST);
    assert_int_equal(a->forms[0].flags, UPK_FORM_TEMPLATE);
    assert_text(a->forms[0].result.qualname, "O.M");
    assert_int_equal(a->forms[0].value->kind, UPK_TYPE_INT_IS);
    assert_int_equal(a->forms[0].value->min.word[0], 5);
    assert_text(row_of(m, "O.M.B")->forms[0].value->literal, "b");
    assert_null(row_of(m, "O.M.C")->forms[0].value);
    assert_int_equal(e->forms[0].value->kind, UPK_TYPE_TRUE);
    assert_int_equal(e->line, 2);
    assert_int_equal(row_of(m, "N")->forms[0].flags, UPK_FORM_TEMPLATE | UPK_FORM_RUNS_NEW);
    compiled_free(c);
}

static void flags_of_a_channel_share_one_function(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; module m { flag A { R = 1, W = 4 } budget calls 3;\n"
                       "flag B { X = 18_446_744_073_709_551_616 } budget calls 4 because \"why\"; }\n"
                       "module n { flag C { Z = 0 } budget calls 5; enum One { ONLY = 1 }; }");
    const struct model *m = &c->models[0];
    const struct model_row *or_row = row_of(m, "or_");
    assert_text(or_row->name.module, "operator");
    assert_int_equal(or_row->flags, UPK_ROW_FUNC);
    assert_int_equal(or_row->form_count, 3);
    assert_int_equal(or_row->calls, 12);
    static const char *const classes[] = {"A", "B", "C"};
    for (size_t i = 0; i < 3; i++) {
        const struct model_form *f = &or_row->forms[i];
        assert_int_equal(f->verb, UPK_VERB_FUNC);
        assert_text(f->result.qualname, classes[i]);
        assert_int_equal(f->args->elem_count, 2);
        assert_int_equal(f->args->elems[0].type->kind, UPK_TYPE_OBJECT);
        assert_text(f->args->elems[1].type->qualified.qualname, classes[i]);
        assert_true(f->because.len != 0);
    }
    assert_text(or_row->forms[1].because, "why");
    const struct model_type *a = row_of(m, "A")->forms[0].args->elems[0].type,
                            *b = row_of(m, "B")->forms[0].args->elems[0].type;
    assert_true(a->kind == UPK_TYPE_INT && a->has_mask);
    assert_int_equal(a->mask.word[0], 5);
    assert_int_equal(b->mask.word[1], 1);
    assert_int_equal(row_of(m, "A.W")->forms[0].value->min.word[0], 4);
    assert_int_equal(row_of(m, "One")->forms[0].args->elems[0].type->kind, UPK_TYPE_INT_IS);
    compiled_free(c);
}

static void limits_of_flags_add_up_where_each_has_one(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; module m { flag A { R = 1 } budget calls 3;\n"
                       "flag B { X = 1 } budget calls 4; } channel c { use p; } channel d { root int; }");
    assert_int_equal(row_of(&c->models[0], "or_")->calls, 7);
    assert_int_equal(row_of(&c->models[0], "A")->calls, 3);
    assert_int_equal(c->models[1].row_count, 0);
    compiled_free(c);
}

static void pydantic_has_the_states_of_two_versions(void **state) {
    (void)state;
    struct compiled *c =
        compile_models("policy p 1; module m { pydantic P { b: int, a?: str }; pydantic Q { a: int };\n"
                       "pydantic N {}; }");
    const struct model *m = &c->models[0];
    const struct model_row *p = row_of(m, "P");
    assert_int_equal(p->form_count, 2);
    const struct model_type *one = p->forms[0].state, *two = p->forms[1].state;
    static const char *const ones[] = {"__dict__", "__fields_set__", "__private_attribute_values__"};
    static const char *const twos[] = {"__dict__", "__pydantic_extra__", "__pydantic_fields_set__",
                                       "__pydantic_private__"};
    assert_int_equal(one->field_count, 3);
    assert_int_equal(two->field_count, 4);
    for (size_t i = 0; i < 3; i++) assert_text(one->fields[i].key, ones[i]);
    for (size_t i = 0; i < 4; i++) assert_text(two->fields[i].key, twos[i]);
    assert_ptr_equal(one->fields[0].type, two->fields[0].type);
    assert_int_equal(two->fields[2].type->kind, UPK_TYPE_SET);
    assert_int_equal(two->fields[2].type->item->alt_count, 2);
    assert_text(row_of(m, "Q")->forms[0].state->fields[1].type->item->literal, "a");
    assert_int_equal(row_of(m, "N")->forms[0].state->fields[1].type->hi, 0);
    compiled_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dataclass_has_three_states),
        cmocka_unit_test(a_state_may_be_absent_where_no_field_is_required),
        cmocka_unit_test(an_enum_has_a_const_for_each_member),
        cmocka_unit_test(flags_of_a_channel_share_one_function),
        cmocka_unit_test(limits_of_flags_add_up_where_each_has_one),
        cmocka_unit_test(pydantic_has_the_states_of_two_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
