/* Attacks that once worked: each is refused, and what they made work is charged.
 *
 * Layer: tests over the compiler and the runtime together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"

/* A stream as a string literal, under a policy's text. */
#define EXPECT(policy, stream, code) expect(policy, stream, sizeof(stream) - 1, code)

static void expect(const char *policy, const char *stream, size_t len, unsigned code) {
    struct trial trial;
    struct upk_error err = {0};
    trial_init(&trial);
    bool ok = upk_check(trial_policy(&trial, policy), stream, len, NULL, &err);
    if (ok != (code == UPK_OK) || (!ok && err.code != code))
        fail_msg("R%u `%s' at %u, expected R%u", ok ? 0 : err.code, ok ? "" : err.detail,
                 ok ? 0 : (unsigned)err.offset, code);
    trial_free(&trial);
}

/* ---- soundness */

static void an_object_made_by_keywords_is_judged_where_partial_is_a_row(void **state) {
    (void)state;
    EXPECT("policy p 1; module functools { class partial call(f: ref m::\"C.__new__\") because \"t\"; }"
           "module m { class C new() kw { a?: int }; class \"C.__new__\" ref because \"t\"; }",
           "\x80\x02"
           "cfunctools\npartial\ncm\nC.__new__\n\x85R(cm\nC.__new__\ncm\nC\nK\x01\x86}X\x01\0\0\0aX\x03\0\0\0"
           "badsNtb)R.",
           UPK_ERR_RECIPE);
}

static void a_list_inside_a_state_may_not_change_after_it_is_an_argument(void **state) {
    (void)state;
    EXPECT("policy p 1; module m { class L new() items any; class S new() state any because \"x\"; }",
           "\x80\x02"
           "cm\nS\n)\x81q\x01]q\x02]q\x03"
           "ab0ccopy_reg\n_reconstructor\ncm\nL\nc__builtin__\nlist\nh\x02\x87Rq\x05h\x03K\x01"
           "a0.",
           UPK_ERR_LATE_CHANGE);
}

static void a_dict_base_takes_no_more_pairs(void **state) {
    (void)state;
    EXPECT("policy p 1; module m { class D new() pairs any: any; }",
           "ccopy_reg\n_reconstructor\n(cm\nD\nc__builtin__\ndict\n(I1\nI2\ndtRI1\nI3\ns.", UPK_ERR_STEP);
}

static void frozensets_that_hold_nan_are_different_keys(void **state) {
    (void)state;
    EXPECT("policy p 1;", "\x80\x04}((G\x7f\xf8\0\0\0\0\0\0\x91K\x01(G\x7f\xf8\0\0\0\0\0\0\x91K\x02u.",
           UPK_OK);
    EXPECT("policy p 1;", "\x80\x04}((G\x3f\xf0\0\0\0\0\0\0\x91K\x01(K\x01\x91K\x02u.", UPK_ERR_EQUAL_KEYS);
}

/* A dict that SETITEM fills one by one: `n` keys k00, k01, ..., then one more member. */
static void expect_after(unsigned n, const char *more, size_t len, unsigned code) {
    char stream[1000];
    size_t at = 3;
    memcpy(stream, "\x80\x04}", at);
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(stream + at, sizeof stream - at, "\x8c\x03k%02uNs", i);
    memcpy(stream + at, more, len);
    expect("policy p 1; root any cyclic;", stream, at + len, code);
}

static void a_dict_is_never_taken_for_another_that_was_checked(void **state) {
    (void)state;
    for (unsigned n = 1; n < 70; n++) {
        expect_after(n, "\x8c\x03k00Ns.", 8, UPK_ERR_EQUAL_KEYS);
        expect_after(n, "\x8c\x03zzzNs.", 8, UPK_OK);
        expect_after(n, "]Ns.", 4, UPK_ERR_UNHASHABLE);
        expect_after(n, "(K\x01NK\x01Nu.", 9, UPK_ERR_EQUAL_KEYS);
    }
}

static void the_first_of_equal_keys_is_named(void **state) {
    (void)state;
    char stream[1000];
    struct upk_error err = {0};
    size_t at = 4;
    memcpy(stream, "\x80\x04}(", at);
    for (unsigned i = 0; i < 80; i++)
        at += (size_t)snprintf(stream + at, sizeof stream - at, "\x8c\x03k%02uN", i % 40);
    memcpy(stream + at, "u.", 2);
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *policy = trial_policy(&trial, "policy p 1;");
    for (int run = 0; run < 20; run++) { /* each under another secret */
        assert_false(upk_check(policy, stream, at + 2, NULL, &err));
        assert_string_equal(err.detail, "`k00'");
    }
    trial_free(&trial);
}

static void large_floats_equal_their_ints(void **state) {
    (void)state;
    /* 9.1e18 and -2.0**63 and 2.0**63 - 1024, with the ints of that value; 2.0**63, which no 64 bits hold */
    EXPECT("policy p 1;",
           "\x80\x04}(G\x43\xdf\x92\x6c\x72\x50\x03\x80N\x8a\x08\0\0\x0e\x40\xc9\xb1\x49\x7eNu.",
           UPK_ERR_EQUAL_KEYS);
    EXPECT("policy p 1;", "\x80\x04}(G\xc3\xe0\0\0\0\0\0\0N\x8a\x08\0\0\0\0\0\0\0\x80Nu.",
           UPK_ERR_EQUAL_KEYS);
    EXPECT("policy p 1;",
           "\x80\x04}(G\x43\xdf\xff\xff\xff\xff\xff\xffN\x8a\x08\0\xfc\xff\xff\xff\xff\xff\x7fNu.",
           UPK_ERR_EQUAL_KEYS);
    EXPECT("policy p 1;", "\x80\x04}(G\x43\xe0\0\0\0\0\0\0N\x8a\x09\0\0\0\0\0\0\0\x80\0Nu.",
           UPK_ERR_EQUAL_KEYS);
}

static void a_tuple_that_holds_nan_equals_itself_alone(void **state) {
    (void)state;
#define NAN_TUPLE "G\x7f\xf8\0\0\0\0\0\0\x85"
    EXPECT("policy p 1;", "\x80\x04}(" NAN_TUPLE "N" NAN_TUPLE "Nu.", UPK_OK);
    EXPECT("policy p 1;", "\x80\x04}(" NAN_TUPLE "\x94Nh\0Nu.", UPK_ERR_EQUAL_KEYS);
}

static void the_budget_of_matches_stops_inside_one_row(void **state) {
    (void)state;
    enum { TIMES = 20000, SIZE = 1000 };
    uint8_t *stream = malloc(SIZE + 2 * TIMES + 100), *p = stream;
    assert_non_null(stream);
    memcpy(p, "\x80\x04X\xe8\x03\0\0", 7);
    memset(p + 7, 'x', SIZE);
    p += 7 + SIZE;
    memcpy(p,
           "\x94"
           "0cm\nC\n(",
           8);
    p += 8;
    for (int i = 0; i < TIMES; i++, p += 2) memcpy(p, "h\0", 2);
    memcpy(p, "tR.", 3);
    p += 3;
    struct trial trial;
    struct upk_error err = {0};
    trial_init(&trial);
    const struct upk_policy *policy =
        trial_policy(&trial, "policy p 1; budget matches 1_000; module m { class C call(s: text...); }");
    assert_false(upk_check(policy, stream, (size_t)(p - stream), NULL, &err));
    assert_int_equal(err.code, UPK_ERR_BUDGET);
    assert_true(err.figure < 1200);
    trial_free(&trial);
    free(stream);
}

static void a_persistent_id_does_not_change_after_the_host_was_asked(void **state) {
    (void)state;
    EXPECT("policy p 1; opcodes core, persid; root persid<list<str>>;",
           "\x80\x02]q\0Qq\x01"
           "0h\0X\x01\0\0\0ea0h\x01.",
           UPK_ERR_LATE_CHANGE);
}

static void getattr_takes_one_step(void **state) {
    (void)state;
    const char *policy = "policy p 1; module m { class Outer.A.B new(); class Outer new(); }";
    EXPECT(
        policy,
        "\x80\x02"
        "c__builtin__\ngetattr\nc__builtin__\ngetattr\ncm\nOuter\nX\x01\0\0\0A\x86RX\x01\0\0\0B\x86R)\x81.",
        UPK_OK);
    EXPECT(policy,
           "\x80\x02"
           "c__builtin__\ngetattr\ncm\nOuter\nX\x03\0\0\0A.B\x86R)\x81.",
           UPK_ERR_CALLED_VALUE);
}

static void a_base_needs_a_value_of_its_kind(void **state) {
    (void)state;
    const char *policy = "policy p 1; module m { class Z new() | new(v: int); }";
    EXPECT(policy, "ccopy_reg\n_reconstructor\n(cm\nZ\nc__builtin__\nint\nI7\ntR.", UPK_OK);
    EXPECT(policy, "ccopy_reg\n_reconstructor\n(cm\nZ\nc__builtin__\nint\nNtR.", UPK_ERR_SPELLING);
}

/* ---- cost: what a byte of stream can make work is charged */

static void text_met_again_in_a_key_is_charged(void **state) {
    (void)state;
    /* a key of 50,000 times one text of 100,000 bytes: five gigabytes to hash */
    const uint32_t size = 100000, times = 50000;
    uint8_t *stream = malloc(size + 2 * times + 100), *p = stream;
    assert_non_null(stream);
    memcpy(p, "\x80\x04}B\xa0\x86\x01\0", 8);
    p += 8;
    memset(p, 'X', size);
    p += size;
    memcpy(p,
           "q\0"
           "0(",
           4);
    p += 4;
    for (uint32_t i = 0; i < times; i++, p += 2) memcpy(p, "h\0", 2);
    memcpy(p, "tNs.", 4);
    p += 4;
    expect("policy p 1; budget memory 64MiB;", (const char *)stream, (size_t)(p - stream), UPK_ERR_BUDGET);
    free(stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_made_by_keywords_is_judged_where_partial_is_a_row),
        cmocka_unit_test(a_list_inside_a_state_may_not_change_after_it_is_an_argument),
        cmocka_unit_test(a_dict_base_takes_no_more_pairs),
        cmocka_unit_test(frozensets_that_hold_nan_are_different_keys),
        cmocka_unit_test(a_dict_is_never_taken_for_another_that_was_checked),
        cmocka_unit_test(the_first_of_equal_keys_is_named),
        cmocka_unit_test(large_floats_equal_their_ints),
        cmocka_unit_test(a_tuple_that_holds_nan_equals_itself_alone),
        cmocka_unit_test(the_budget_of_matches_stops_inside_one_row),
        cmocka_unit_test(a_persistent_id_does_not_change_after_the_host_was_asked),
        cmocka_unit_test(getattr_takes_one_step),
        cmocka_unit_test(a_base_needs_a_value_of_its_kind),
        cmocka_unit_test(text_met_again_in_a_key_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
