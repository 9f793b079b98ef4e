/* What upk_policy_check finds in damaged tables.
 *
 * Layer: tests of runtime/policy_check.c, over tables that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"

/* A policy whose tables may be written to. */
struct writable {
    struct upk_policy policy;
    struct upk_keys keys[2];
    struct upk_row *rows;
    struct upk_form *forms;
    struct upk_type *types;
    struct upk_elem *elems;
    struct upk_field *fields;
    struct upk_class *classes;
    struct upk_bound *bounds;
    struct upk_charset *charsets;
    struct upk_range *ranges;
    uint32_t *alts;
    struct upk_key *slots;
    uint8_t *asso;
    uint32_t *base;
    struct upk_word *words;
};

static void *copy(const void *from, size_t count, size_t size) {
    void *const to = test_malloc(count * size);
    memcpy(to, from, count * size);
    return to;
}

static void writable_make(struct writable *w, const struct upk_policy *p) {
    w->policy = *p;
    w->policy.rows = w->rows = copy(p->rows, p->row_count, sizeof *p->rows);
    w->policy.forms = w->forms = copy(p->forms, p->form_count, sizeof *p->forms);
    w->policy.types = w->types = copy(p->types, p->type_count, sizeof *p->types);
    w->policy.elems = w->elems = copy(p->elems, p->elem_count, sizeof *p->elems);
    w->policy.fields = w->fields = copy(p->fields, p->field_count, sizeof *p->fields);
    w->policy.classes = w->classes = copy(p->classes, p->class_count, sizeof *p->classes);
    w->policy.bounds = w->bounds = copy(p->bounds, p->bound_count, sizeof *p->bounds);
    w->policy.charsets = w->charsets = copy(p->charsets, p->charset_count, sizeof *p->charsets);
    w->policy.ranges = w->ranges = copy(p->ranges, p->range_count, sizeof *p->ranges);
    w->policy.alts = w->alts = copy(p->alts, p->alt_count, sizeof *p->alts);
    const struct upk_keys *const k = p->keys[0];
    w->slots = copy(k->slots, k->slot_count, sizeof *k->slots);
    w->asso = copy(k->asso, k->buckets, 256);
    w->base = copy(k->base, k->buckets, sizeof *k->base);
    w->words = copy(k->words, k->module_words + k->name_words, sizeof *k->words);
    for (size_t i = 0; i < 2; i++) {
        w->keys[i] = *p->keys[i];
        w->keys[i].slots = w->slots;
        w->keys[i].asso = w->asso;
        w->keys[i].base = w->base;
        w->keys[i].words = w->words;
        w->policy.keys[i] = &w->keys[i];
    }
}

static void writable_free(struct writable *w) {
    void *const all[] = {w->rows,     w->forms,  w->types, w->elems, w->fields, w->classes, w->bounds,
                         w->charsets, w->ranges, w->alts,  w->slots, w->asso,   w->base,    w->words};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) test_free(all[i]);
}

static const char everything[] =
    "policy t 1; type Json = none | list<Json> | dict<str, Json>;\n"
    "module builtins { class list ref; class Exception call(a: any...) because \"t\"; }\n"
    "module m { class A new(x: int[1..5], y?: str[..9] chars \"a-f0-9\") kw { k: int mask 6 } state { a: "
    "Json, b?: \"lit\" };\n"
    "class B.C call(x: ref builtins::list) items Json | call() pairs str: Json; func f() -> m::A because "
    "\"t\"; const D; }\n"
    "root Json | m::A | tuple<b\"bytes\", set<int>>;";

static uint32_t find_kind(const struct writable *w, enum upk_type_kind kind) {
    for (uint32_t i = 1; i < w->policy.type_count; i++) {
        if (w->types[i].kind == kind) return i;
    }
    fail_msg("no type of kind %d", (int)kind);
    return 0;
}

static uint32_t first_key(const struct writable *w) {
    uint32_t i = 0;
    while (w->slots[i].row[1] == 0) i++;
    return i;
}

static void damaged_tables_are_refused(void **state) {
    const struct upk_policy *const p = trial_policy(*state, everything);
    struct writable w;
    size_t number = 0;
    struct upk_error err;
    writable_make(&w, p);
    assert_true(upk_policy_check(&w.policy, &err));
    writable_free(&w);
#define DAMAGE(statement)                                                            \
    do {                                                                             \
        writable_make(&w, p);                                                        \
        number++;                                                                    \
        statement;                                                                   \
        if (upk_policy_check(&w.policy, &err)) fail_msg("not seen: %s", #statement); \
        assert_int_equal(err.code, UPK_ERR_TABLE);                                   \
        assert_true(err.detail[0] != '\0');                                          \
        writable_free(&w);                                                           \
    } while (0)
    DAMAGE(w.policy.magic ^= 1);
    DAMAGE(w.policy.abi++);
    DAMAGE(w.policy.size--);
    DAMAGE(w.policy.rows = NULL);
    DAMAGE(w.policy.find_class[1] = NULL);
    DAMAGE(w.policy.flags |= 64);
    DAMAGE(w.policy.root = w.policy.type_count);
    DAMAGE(w.policy.root = 0);
    DAMAGE(w.policy.protocol_min = 6);
    DAMAGE(w.policy.budgets[UPK_BUDGET_NAME] = 257);
    DAMAGE(w.policy.name.at = w.policy.pool_len);
    DAMAGE(w.policy.opcodes['R'] = UPK_OP_BUILD);
    DAMAGE(w.policy.opcodes['R'] = UPK_OP_UNKNOWN);
    DAMAGE(w.policy.opcodes[0xff] = UPK_OP_REFUSED);
    DAMAGE(w.rows[1].module.at = UINT32_MAX);
    DAMAGE(w.rows[1].module.len = 0);
    DAMAGE(w.rows[2] = w.rows[1]);
    DAMAGE(w.rows[1].special = UPK_SPECIAL_COUNT);
    DAMAGE(w.rows[1].target = 1);
    DAMAGE(w.rows[1].flags = UPK_ROW_CLASS);
    DAMAGE(w.policy.form_count--);
    DAMAGE(w.forms[1].row++);
    DAMAGE(w.forms[1].verb = 9);
    DAMAGE(w.forms[1].flags = 2 * UPK_FORM_RUNS_EQ);
    DAMAGE(w.forms[1].value = 1);
    DAMAGE(w.forms[1].check = UPK_CHECK_COUNT);
    DAMAGE(w.forms[1].result = w.policy.class_count);
    DAMAGE(w.forms[1].args = w.policy.type_count);
    DAMAGE(w.forms[1].state = 1);
    DAMAGE(w.forms[1].pair_key = 1);
    DAMAGE(w.forms[1].because.len = UINT32_MAX);
    DAMAGE(w.types[0].kind = UPK_TYPE_ANY);
    DAMAGE(w.types[1].kind = UPK_TYPE_COUNT);
    DAMAGE(w.types[1].name.len = UINT32_MAX);
    DAMAGE(w.types[1].kind = UPK_TYPE_NEVER);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_INT)].a = w.policy.bound_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_INT)].b = 1);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_STR)].a = w.policy.charset_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_STR)].lo = UINT64_MAX; w.types[find_kind(&w, UPK_TYPE_STR)].hi = 0);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_STR_IS)].b = UINT32_MAX);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_BYTES_IS)].a = UINT32_MAX);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_LIST)].a = 0);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_DICT)].b = w.policy.type_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_TUPLE)].b = w.policy.elem_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_TUPLE)].c = 0xffffff);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_TUPLE)].c = 2u << 24);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_RECORD)].b = w.policy.field_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_RECORD)].c = w.policy.type_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_UNION)].b = 0);
    DAMAGE(w.alts[w.types[find_kind(&w, UPK_TYPE_UNION)].a] = find_kind(&w, UPK_TYPE_UNION));
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_OBJECT)].a = 0);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_REF)].a = 1);
    DAMAGE(w.elems[1].type = 0);
    DAMAGE(w.fields[1].optional = 2);
    DAMAGE(w.fields[2].key = w.fields[1].key; w.fields[3].key = w.fields[1].key);
    DAMAGE(w.classes[2] = w.classes[1]);
    DAMAGE(w.bounds[1].hi[1] = 0; w.bounds[1].hi[0] = 0; w.bounds[1].lo[0] = 1);
    DAMAGE(w.bounds[1].open = 4);
    DAMAGE(w.charsets[1].ascii[0] ^= 2);
    DAMAGE(w.charsets[1].count = w.policy.range_count);
    DAMAGE(w.ranges[1].hi = 0x110000);
    DAMAGE(w.ranges[2].lo = w.ranges[1].hi + 1);
    DAMAGE(w.keys[0].reading = 1);
    DAMAGE(w.keys[1].module_vectors = 17);
    DAMAGE(w.keys[1].name_words = 33);
    DAMAGE(w.keys[1].buckets = 0);
    DAMAGE(w.keys[1].slot_mask = 5);
    DAMAGE(w.keys[1].slot_count /= 2);
    DAMAGE(w.keys[1].key_count++);
    DAMAGE(w.keys[1].seed++);
    DAMAGE(w.base[0] = w.keys[0].slot_count);
    DAMAGE(w.words[0].at = 16 * w.keys[0].name_vectors - 7; w.keys[0].module_words = 0;
           w.keys[0].name_words = 1);
    DAMAGE(w.slots[first_key(&w)].row[1] = w.policy.row_count);
    DAMAGE(w.slots[first_key(&w)].row[1] = 0; w.slots[first_key(&w)].row[0] = 0);
    DAMAGE(w.slots[first_key(&w)].module = UINT32_MAX);
    DAMAGE(w.slots[first_key(&w)].name_len = UINT16_MAX);
    DAMAGE(w.slots[first_key(&w)].name_len--);
#undef DAMAGE
    assert_true(number > 60);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(damaged_tables_are_refused),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
