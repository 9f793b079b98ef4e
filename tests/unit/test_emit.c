/* Generated C: the same tables as in memory, and nothing of a policy's text but as numbers.
 *
 * Layer: tests of the compiler's emit.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/emit.h"
#include "../../runtime/upk.h"
#include "compiled.h"
#include "values.h" /* the shipped policy, generated */

static bool emit(struct trial *f, struct mem *m, struct output *source) {
    struct output header;
    mem_init(m, 64u << 20);
    output_init(source, m);
    output_init(&header, m);
    struct channels all;
    bool good = channels_build(f->compiled, &f->diag, &all);
    diag_flush(&f->diag);
    if (!good) return false;
    good = emit_texts(&all, source, &header);
    channels_free(&all);
    return good;
}

static void text_of_a_policy_reaches_generated_c_only_as_numbers(void **state) {
    struct trial *const f = *state;
    struct mem m;
    struct output source;
    trial_policy(f, "policy t 1; module hidden { class \"Hi*/den\" call(hidden: \"hi\\\"dden */ ?\?/ \\\\\") "
                    "because \"hidden */\"; }");
    assert_true(emit(f, &m, &source));
    for (size_t i = 0; i + 6 <= source.len; i++) assert_memory_not_equal(source.bytes + i, "hidden", 6);
    for (size_t i = 0; i + 3 <= source.len; i++) assert_memory_not_equal(source.bytes + i, "\?\?/", 3);
    mem_free(&m);
}

static void assert_not_emitted(struct trial *f, const char *text, const char *code) {
    struct mem m;
    struct output source;
    trial_policy(f, text);
    assert_false(emit(f, &m, &source));
    mem_free(&m);
    if (!strstr(f->messages, code)) fail_msg("expected %s in: %s", code, f->messages);
}

/* The constants of the header, in order, each with a space behind it. */
static void constants_of(struct trial *f, const char *text, char *out, size_t size) {
    struct channels all;
    assert_true(trial_models(f, text));
    if (!channels_build(f->compiled, &f->diag, &all)) fail();
    size_t len = 0;
    for (size_t i = 0; i < all.count; i++) {
        for (uint32_t row = 1; row < all.tables[i].policy.row_count; row++) {
            const struct text symbol = all.symbols[i].rows[row];
            if (symbol.len != 0)
                len += (size_t)snprintf(out + len, size - len, "%.*s ", (int)symbol.len, symbol.at);
        }
    }
    channels_free(&all);
}

static void names_that_would_be_one_symbol_in_c_tell_themselves_apart(void **state) {
    char names[1000];
    constants_of(
        *state,
        "policy t 1; module a.b { class c_d call(); class x call(); } module a.b_c { class d call(); } "
        "module m { enum K { A = 1, a = 2 }; class \"K._X61\" new(); }",
        names, sizeof names);
    assert_string_equal(names, "T_A_B_X_MC_X5FD T_A_B_X T_A_B_X5FC_X_MD T_M_K T_M_K__X41 "
                               "T_X_C_X6D_X_MK_X2E_X5FX61 T_X_C_X6D_X_MK_X2E_X61 ");
}

static void channels_that_differ_in_capitals_alone_have_constants_of_their_own(void **state) {
    char names[1000];
    constants_of(*state,
                 "policy t 1; module m { class B new(); } channel a { use t; root any; } channel A { use t; "
                 "root any; }",
                 names, sizeof names);
    assert_string_equal(names, "T__X61_M_B T__X41_M_B ");
}

static void channels_that_are_one_symbol_in_c_are_an_error(void **state) {
    assert_not_emitted(*state, "policy t 1; channel a { root any; } channel a_find_class { root any; }",
                       "P0080");
}

/* Their tables are one after another in memory: what the second takes of the first is a copy. */
static void channels_of_the_same_rows_share_how_names_are_found(void **state) {
    struct trial *const f = *state;
    struct channels all;
    assert_true(trial_models(
        f, "policy t 1; module m { class A new(); class B new(); } channel a { use t; root any; } "
           "channel longer { use t; root int; } channel none { root int; }"));
    assert_true(channels_build(f->compiled, &f->diag, &all));
    tables_free(&all.tables[0]);
    const struct upk_policy *const p = &all.tables[1].policy;
    struct upk_error err;
    if (!upk_policy_check(p, &err)) fail_msg("%s", err.detail);
    for (unsigned reading = 0; reading < 2; reading++) {
        const uint32_t a = policy_look_up(p, reading, "m", "A"), b = policy_look_up(p, reading, "m", "B");
        assert_true(policy_text_is(p, p->rows[a].qualname, "A") &&
                    policy_text_is(p, p->rows[b].qualname, "B"));
        assert_int_equal(policy_look_up(p, reading, "m", "C"), 0);
        assert_int_equal(policy_look_up(&all.tables[2].policy, reading, "m", "A"), 0);
    }
    channels_free(&all);
}

static void a_policy_named_like_a_keyword_is_an_error(void **state) {
    assert_not_emitted(*state, "policy int 1; module a { class b call(); }", "P0081");
}

static void a_policy_in_the_librarys_namespace_is_an_error(void **state) {
    assert_not_emitted(*state, "policy upk_decode 1; module a { class b call(); }", "P0081");
}

static void assert_same_keys(const struct upk_keys *a, const struct upk_keys *b) {
    assert_true(a->seed == b->seed && a->module_factor == b->module_factor &&
                a->name_factor == b->name_factor);
    assert_int_equal(a->module_vectors, b->module_vectors);
    assert_int_equal(a->name_vectors, b->name_vectors);
    assert_int_equal(a->module_words, b->module_words);
    assert_int_equal(a->name_words, b->name_words);
    assert_int_equal(a->buckets, b->buckets);
    assert_int_equal(a->slot_mask, b->slot_mask);
    assert_int_equal(a->slot_count, b->slot_count);
    assert_int_equal(a->reading, b->reading);
    assert_memory_equal(a->words, b->words, (a->module_words + a->name_words) * sizeof *a->words);
    assert_memory_equal(a->asso, b->asso, (size_t)a->buckets * 256);
    assert_memory_equal(a->base, b->base, a->buckets * sizeof *a->base);
    assert_memory_equal(a->slots, b->slots, a->slot_count * sizeof *a->slots);
}

static void generated_tables_are_those_in_memory(void **state) {
    struct trial *const f = *state;
    const struct compile_options options = {.path = "policies/values.policy", .policy_dir = "policies"};
    assert_true(policy_compile(&options, &f->diag, &f->compiled));
    assert_true(tables_build(f->compiled, &f->compiled->models[0], &f->diag, &f->tables));
    const struct upk_policy *const a = &values, *const b = &f->tables.policy;
    struct upk_error err;
    if (!upk_policy_check(a, &err)) fail_msg("%s", err.detail);
    assert_memory_equal(a, b, offsetof(struct upk_policy, pool)); /* head and counts */
#define SAME(table, count) assert_memory_equal(a->table, b->table, a->count * sizeof *a->table)
    SAME(pool, pool_len);
    SAME(rows, row_count);
    SAME(forms, form_count);
    SAME(types, type_count);
    SAME(elems, elem_count);
    SAME(fields, field_count);
    SAME(classes, class_count);
    SAME(bounds, bound_count);
    SAME(charsets, charset_count);
    SAME(ranges, range_count);
    SAME(alts, alt_count);
    SAME(files, file_count);
#undef SAME
    for (size_t i = 0; i < 2; i++) assert_same_keys(a->keys[i], b->keys[i]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(text_of_a_policy_reaches_generated_c_only_as_numbers),
        TEST(names_that_would_be_one_symbol_in_c_tell_themselves_apart),
        TEST(channels_that_differ_in_capitals_alone_have_constants_of_their_own),
        TEST(channels_that_are_one_symbol_in_c_are_an_error),
        TEST(channels_of_the_same_rows_share_how_names_are_found),
        TEST(a_policy_named_like_a_keyword_is_an_error),
        TEST(a_policy_in_the_librarys_namespace_is_an_error),
        TEST(generated_tables_are_those_in_memory),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
