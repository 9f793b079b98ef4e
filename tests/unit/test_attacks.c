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
        cmocka_unit_test(a_persistent_id_does_not_change_after_the_host_was_asked),
        cmocka_unit_test(getattr_takes_one_step),
        cmocka_unit_test(a_base_needs_a_value_of_its_kind),
        cmocka_unit_test(text_met_again_in_a_key_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
