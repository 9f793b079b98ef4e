/* Matching of objects against the forms of their row: verbs, arguments, keywords, states and other steps,
 * spellings.
 *
 * Layer: tests of runtime/shape*.c over tables and documents built by hand.
 */
#include "matching.h"

static void the_verb_and_the_arguments_choose_the_form(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    t_form(&table, UPK_VERB_REF, class, 0);
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, int_type()));
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, t_plain(&table, UPK_TYPE_STR)));
    t_form(&table, UPK_VERB_NEW, class, t_no_args(&table));
    const struct {
        enum upk_verb verb;
        struct upk_value args;
        uint32_t form;
    } cases[] = {
        {UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_int(1)), 2},
        {UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_str("")), 3},
        {UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE), 4},
        {UPK_VERB_NEW, V_OF(&doc, UPK_TUPLE, v_int(1)), 0},
        {UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE), 0},
        {UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_none()), 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doc.objects = NULL;
        struct upk_value v = object(row, cases[i].verb, cases[i].args);
        assert_int_equal(fits(v, any), cases[i].form != 0);
        assert_int_equal(v.as.cell->cap, cases[i].form);
        if (cases[i].form) {
            assert_fits(v, t_of(&table, UPK_TYPE_OBJECT, class, 0));
            assert_not(v, t_of(&table, UPK_TYPE_OBJECT, class + 1, 0));
        }
    }
}

static void functions_are_called_and_result_in_their_class(void **state) {
    (void)state;
    uint32_t a = t_class(&table, "m", "A"), b = t_class(&table, "m", "B");
    uint32_t row = t_row(&table, "m", "f", UPK_ROW_FUNC, 0);
    t_form(&table, UPK_VERB_FUNC, a, T_TUPLE(&table, 0, false, int_type()));
    t_form(&table, UPK_VERB_FUNC, b, T_TUPLE(&table, 0, false, t_plain(&table, UPK_TYPE_STR)));
    uint32_t is_a = t_of(&table, UPK_TYPE_OBJECT, a, 0), is_b = t_of(&table, UPK_TYPE_OBJECT, b, 0);
    struct upk_value of_a = object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_int(1)));
    struct upk_value of_b = object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_str("")));
    /* the forms of one row differ in what they result in: the object's own form counts */
    assert_fits(of_a, is_a);
    assert_not(of_a, is_b);
    assert_fits(V_OF(&doc, UPK_TUPLE, of_a, of_b), T_TUPLE(&table, 0, false, is_a, is_b));
    assert_not(V_OF(&doc, UPK_TUPLE, of_a, of_b), T_TUPLE(&table, 0, false, is_b, is_a));
    uint32_t alts = table.policy.alt_count;
    table.alts[table.policy.alt_count++] = a;
    table.alts[table.policy.alt_count++] = b;
    assert_fits(V_OF(&doc, UPK_LIST, of_a, of_b),
                t_of(&table, UPK_TYPE_LIST, t_of(&table, UPK_TYPE_INSTANCE, alts, 2), 0));
    assert_fits(of_b, t_of(&table, UPK_TYPE_INSTANCE, alts + 1, 1));
    assert_not(of_a, t_of(&table, UPK_TYPE_INSTANCE, alts + 1, 1));
    doc.objects = NULL;
    (void)object(row, UPK_VERB_NEW, V_OF(&doc, UPK_TUPLE, v_int(1)));
    assert_not(v_none(), t_plain(&table, UPK_TYPE_ANY));
}

static void consts_are_instances_where_their_row_says_so(void **state) {
    (void)state;
    uint32_t mode = t_class(&table, "m", "Mode"), other = t_class(&table, "m", "Other");
    uint32_t row = t_row(&table, "m", "Mode.FAST", UPK_ROW_CONST, 0);
    t_form(&table, UPK_VERB_CONST, mode, 0);
    assert_fits(v_global(&doc, row), t_of(&table, UPK_TYPE_OBJECT, mode, 0));
    assert_not(v_global(&doc, row), t_of(&table, UPK_TYPE_OBJECT, other, 0));
}

static void steps_must_be_allowed_and_states_must_be_there(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), i = int_type(), class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    struct upk_form *f = t_form(&table, UPK_VERB_NEW, class, t_no_args(&table));
    struct object *o = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    struct object_more *more = more_of(&doc, o);
    struct upk_value v = value_of_cell(&o->cell);
    const uint32_t flags[] = {CELL_DID_ITEMS, CELL_DID_PAIRS, CELL_DID_ADDS};
    uint32_t *const steps[] = {&f->items, &f->pair_value, &f->adds};
    f->pair_key = i;
    assert_fits(v, any);
    for (size_t k = 0; k < 3; k++) { /* also with no members */
        o->cell.flags = (uint16_t)flags[k];
        assert_not(v, any);
        *steps[k] = i;
        assert_fits(v, any);
    }
    o->cell.flags = 0;
    more->items = V_OF(&doc, UPK_LIST, v_int(1), v_int(2)).as.cell;
    more->pairs = V_OF(&doc, UPK_DICT, v_int(1), v_int(2)).as.cell;
    more->adds = V_OF(&doc, UPK_SET, v_int(1)).as.cell;
    assert_fits(v, any);
    more->items->items[1] = v_none();
    assert_not(v, any);
    more->items->items[1] = v_int(2);
    more->pairs->items[0] = v_none();
    assert_not(v, any);
    more->pairs->items[0] = v_int(1);
    more->pairs->items[1] = v_none();
    assert_not(v, any);
    more->pairs->items[1] = v_int(1);
    more->adds->items[0] = v_none();
    assert_not(v, any);
    more->adds->items[0] = v_int(1);
    assert_fits(v, any);
    f->state = i;
    assert_not(v, any); /* without its state */
    f->flags = UPK_FORM_STATE_OPTIONAL;
    assert_fits(v, any);
    set_state(o, v_int(1));
    assert_fits(v, any);
    f->flags = 0;
    assert_fits(v, any);
    o->state = v_none();
    assert_not(v, any);
    f->state = 0;
    assert_not(v, any);
}

static void keywords_are_a_record_and_empty_ones_are_none(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), i = int_type(), class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    struct upk_form *f = t_form(&table, UPK_VERB_NEW, class, t_no_args(&table));
    struct object *o = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    struct object_more *more = more_of(&doc, o);
    struct upk_value v = value_of_cell(&o->cell);
    struct upk_cell *one = V_OF(&doc, UPK_DICT, v_str("k"), v_int(1)).as.cell,
                    *none = v_empty(&doc, UPK_DICT).as.cell;
    more->kw = none;
    assert_fits(v, any);
    more->kw = one;
    assert_not(v, any);
    f->kw = T_RECORD(&table, 0, {"k", i, false});
    assert_fits(v, any);
    more->kw = none;
    assert_not(v, any);
    more->kw = NULL;
    assert_not(v, any);
    f->kw = T_RECORD(&table, 0, {"k", i, true});
    assert_fits(v, any);
    more->kw = V_OF(&doc, UPK_DICT, v_str("l"), v_int(1)).as.cell;
    assert_not(v, any);
}

static void bases_of_old_protocols_are_items_pairs_or_arguments(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), i = int_type(), class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    struct upk_form *f = t_form(&table, UPK_VERB_NEW, class, t_no_args(&table));
    struct object *o = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
    struct object_more *more = more_of(&doc, o);
    struct upk_value v = value_of_cell(&o->cell);
    more->base = v_empty(&doc, UPK_LIST).as.cell;
    assert_fits(v, any);
    more->base = V_OF(&doc, UPK_LIST, v_int(1), v_int(2)).as.cell;
    assert_not(v, any);
    f->items = i;
    assert_fits(v, any);
    more->items = V_OF(&doc, UPK_LIST, v_int(3)).as.cell;
    assert_fits(v, t_sized(&table, UPK_TYPE_OBJECT, class, 0, 3, 3));
    assert_not(v, t_sized(&table, UPK_TYPE_OBJECT, class, 0, 0, 2));
    add(&doc, more->base, v_none());
    assert_not(v, any);
    f->pair_key = f->pair_value = i;
    more->base = V_OF(&doc, UPK_DICT, v_int(1), v_int(2)).as.cell;
    more->items = NULL;
    assert_fits(v, t_sized(&table, UPK_TYPE_OBJECT, class, 0, 1, 1));
}

/* C(*tuple) or C(tuple): what the form took is what the document says afterwards. */
static void a_tuple_base_is_taken_as_the_form_has_it(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), i = int_type();
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0), spread = T_TUPLE(&table, 0, false, i, i);
    struct upk_form *f = t_form(&table, UPK_VERB_NEW, t_class(&table, "m", "C"), 0);
    struct upk_value inner = V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2)), outer = V_OF(&doc, UPK_TUPLE, inner);
    const struct {
        uint32_t args;
        const struct upk_cell *taken;
    } cases[] = {
        {t_no_args(&table), NULL},
        {spread, inner.as.cell},
        {T_TUPLE(&table, 0, false, spread), outer.as.cell},
        {T_TUPLE(&table, 0, false, i, i, i), NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int cyclic = 0; cyclic < 2; cyclic++) {
            doc.objects = NULL;
            doc.cyclic = doc.stale = cyclic;
            struct object *o = new_object(&doc, row, UPK_VERB_NEW, v_empty(&doc, UPK_TUPLE));
            more_of(&doc, o)->args = outer.as.cell;
            o->cell.flags |= CELL_SPREAD;
            f->args = cases[k].args;
            bool want = cases[k].taken != NULL;
            assert_int_equal(match(v_none(), any), want ? MATCH_OK : MATCH_REFUSED);
            if (want) {
                assert_ptr_equal(object_args(o), cases[k].taken);
                assert_false(o->cell.flags & CELL_SPREAD);
            }
        }
    }
}

static void spellings_are_what_they_spell(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), row = t_row(&table, "builtins", "set", 0, UPK_SPECIAL_SET);
    uint32_t class = t_row(&table, "m", "C.D", UPK_ROW_CLASS | UPK_ROW_REF, 0);
    struct object *o = new_object(&doc, row, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    struct upk_value v = value_of_cell(&o->cell);
    assert_not(v, any); /* it spells nothing */
    assert_int_equal(why.code, UPK_ERR_SPELLING);
    struct object_more *more = more_of(&doc, o);
    o->cell.flags |= CELL_NORMAL;
    more->value = V_OF(&doc, UPK_SET, v_int(1));
    assert_fits(v, t_of(&table, UPK_TYPE_SET, int_type(), 0));
    assert_fits(v, any);
    more->value = v_bytes("abc");
    assert_fits(V_OF(&doc, UPK_LIST, v), t_of(&table, UPK_TYPE_LIST, t_plain(&table, UPK_TYPE_BYTES), 0));
    more->value = v_global(&doc, class);
    assert_fits(v, t_of(&table, UPK_TYPE_REF, class, 0));
    assert_not(V_OF(&doc, UPK_LIST, v), any);
    /* used up by another step: judged nowhere, but no data either */
    o->cell.flags = 0;
    o->cell.index = UPK_VERB_NONE;
    doc.used_up = true;
    assert_fits(v_int(1), any);
    assert_not(v, any);
    assert_int_equal(why.code, UPK_ERR_SPELLING);
    assert_not(V_OF(&doc, UPK_LIST, v), any);
}

static void popped_objects_are_judged(void **state) {
    (void)state;
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    t_form(&table, UPK_VERB_CALL, t_class(&table, "m", "C"), T_TUPLE(&table, 0, false, int_type()));
    (void)object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_int(1)));
    assert_fits(v_none(), t_plain(&table, UPK_TYPE_ANY));
    (void)object(row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_str("")));
    assert_not(v_none(), t_plain(&table, UPK_TYPE_ANY));
    assert_int_equal(why.code, UPK_ERR_RECIPE);
    assert_ptr_equal(why.object, doc.objects->next);
}

/* While reading, what cannot change any more is matched at once; the rest, and every refusal, is left to
 * the end. */
static void early_matching_changes_no_verdict(void **state) {
    (void)state;
    uint32_t any = t_plain(&table, UPK_TYPE_ANY), i = int_type(), class = t_class(&table, "m", "C");
    uint32_t row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0), list = t_of(&table, UPK_TYPE_LIST, i, 0);
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, t_plain(&table, UPK_TYPE_STR)));
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, i));
    t_form(&table, UPK_VERB_CALL, class, T_TUPLE(&table, 0, false, t_of(&table, UPK_TYPE_LIST, list, 0)));
    table.policy.budgets[UPK_BUDGET_MATCHES] = 1000000;
    struct upk_value deep = V_OF(&doc, UPK_LIST, V_OF(&doc, UPK_LIST, v_int(1)));
    const struct upk_value args[] = {v_int(1), deep, v_none()};
    const uint32_t early[] = {2, 0, 0}, final[] = {2, 3, 0};
    for (size_t k = 0; k < 3; k++) {
        doc.objects = NULL;
        struct object *o = new_object(&doc, row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, args[k]));
        doc.unjudged = 1;
        assert_true(match_early(&doc, o));
        assert_int_equal(o->cell.cap, early[k]);
        assert_int_equal(doc.unjudged, early[k] == 0);
        assert_int_equal(match(v_none(), any), final[k] ? MATCH_OK : MATCH_REFUSED);
        assert_int_equal(o->cell.cap, final[k]);
        match_free(&doc);
    }
}

static void early_matching_keeps_to_the_budget(void **state) {
    (void)state;
    enum { LEN = 160000 };
    static char text[LEN];
    memset(text, 'a', LEN);
    uint32_t str = t_plain(&table, UPK_TYPE_TEXT), row = t_row(&table, "m", "C", UPK_ROW_CLASS, 0);
    t_form(&table, UPK_VERB_CALL, t_class(&table, "m", "C"), T_TUPLE(&table, 0, false, str));
    struct upk_value args = V_OF(&doc, UPK_TUPLE, v_data(UPK_STR, text, LEN));
    table.policy.root = t_plain(&table, UPK_TYPE_ANY);
    doc.root = v_none();
    const uint64_t each = 2 + LEN / 64;
    for (uint64_t calls = 1; calls < 20; calls++) {
        table.policy.budgets[UPK_BUDGET_MATCHES] = 10 * each + 1;
        struct object *o = new_object(&doc, row, UPK_VERB_CALL, args);
        doc.unjudged++;
        assert_true(match_early(&doc, o));
        assert_int_equal(o->cell.cap != 0, calls <= 10); /* what goes over it proves nothing */
    }
    assert_int_equal(match_document(&doc, 10 * each + 1, &pairs, &why), MATCH_BUDGET);
    match_free(&doc);
    assert_true(pairs < 13 * each);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_verb_and_the_arguments_choose_the_form),
        TEST(functions_are_called_and_result_in_their_class),
        TEST(consts_are_instances_where_their_row_says_so),
        TEST(steps_must_be_allowed_and_states_must_be_there),
        TEST(keywords_are_a_record_and_empty_ones_are_none),
        TEST(bases_of_old_protocols_are_items_pairs_or_arguments),
        TEST(a_tuple_base_is_taken_as_the_form_has_it),
        TEST(spellings_are_what_they_spell),
        TEST(popped_objects_are_judged),
        TEST(early_matching_changes_no_verdict),
        TEST(early_matching_keeps_to_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
