/* Verdicts of written policies on written streams: spellings of old protocols, cycles, early and late matching.
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

static struct trial trial;

static void compile(const char *text) {
    trial_init(&trial);
    (void)trial_policy(&trial, text);
}

static void done(void) { trial_free(&trial); }

/* A stream as a string literal. */
#define DECIDE(stream, code, detail) decide(stream, sizeof(stream) - 1, code, detail)

static void decide(const char *stream, size_t len, unsigned code, const char *detail) {
    struct upk_error err;
    bool ok = upk_check(&trial.tables.policy, stream, len, NULL, &err);
    if (ok != (code == UPK_OK) || (!ok && err.code != code))
        fail_msg("%u `%s` at %u, expected %u", ok ? 0 : err.code, ok ? "" : err.detail,
                 ok ? 0 : (unsigned)err.offset, code);
    if (!ok && detail) assert_string_equal(err.detail, detail);
}

/* functools.partial(C.__new__, C, k=1), as protocol 2 spells `new C() kw {k: 1}` but for the call; memo 0
 * holds it */
#define PARTIAL                                                  \
    "\x80\x02"                                                   \
    "c__builtin__\ngetattr\ncm\nC\nX\x07\0\0\0__new__\x86Rq\x01" \
    "0"                                                          \
    "cfunctools\npartial\nh\x01\x85Rq\0(h\x01"                   \
    "cm\nC\n\x85}X\x01\0\0\0kK\x01sNtb"

static void a_partial_is_used_up_by_its_call_alone(void **state) {
    (void)state;
    compile("policy p 1; module m { class C new() kw { k: int }; func f(x: any) -> m::C because \"test\"; }");
    DECIDE(PARTIAL ")R.", UPK_OK, NULL);
    DECIDE(PARTIAL ".", UPK_ERR_SPELLING, NULL);
    /* it must not be handed out as data: behind the call, before it, deep in something that was matched
     * early */
    DECIDE(PARTIAL ")R0h\0.", UPK_ERR_SPELLING, "expected any, found object of functools::partial");
    DECIDE(PARTIAL ")Rh\0\x86.", UPK_ERR_SPELLING,
           "at $[1]: expected any, found object of functools::partial");
    DECIDE(PARTIAL ")R0cm\nf\nh\0\x85R.", UPK_ERR_SPELLING, NULL);
    DECIDE(PARTIAL "0cm\nf\nh\0\x85Rh\0)R\x86.", UPK_ERR_CALLED_VALUE, NULL);
    DECIDE(PARTIAL "0cm\nf\n]h\0a\x85Rh\0)R\x86.", UPK_ERR_CALLED_VALUE, NULL);
    DECIDE(PARTIAL ")R0h\0)R.", UPK_ERR_CALLED_VALUE, NULL);
    done();
}

static void keywords_of_every_spelling_are_matched(void **state) {
    (void)state;
    compile("policy p 1; module m { class C new() kw { k: int[..0] }; }");
    DECIDE(PARTIAL ")R.", UPK_ERR_RECIPE, "keywords at .kwargs.k: expected int[..0], found int 1");
    DECIDE("\x80\x04\x8c\x01m\x8c\x01"
           "C\x93)}\x8c\x01kK\x01s\x92.",
           UPK_ERR_RECIPE, "keywords at .kwargs.k: expected int[..0], found int 1");
    DECIDE("\x80\x04\x8c\x01m\x8c\x01"
           "C\x93)}\x8c\x01kK\0s\x92.",
           UPK_OK, NULL);
    DECIDE("\x80\x04\x8c\x01m\x8c\x01"
           "C\x93)}\x92.",
           UPK_ERR_RECIPE, "keywords: key `k` is missing");
    DECIDE("\x80\x04\x8c\x01m\x8c\x01"
           "C\x93)\x81.",
           UPK_ERR_RECIPE, "keywords: key `k` is missing");
    done();
}

static void a_tuple_base_is_spread_or_whole(void **state) {
    (void)state;
    compile("policy p 1; module m { class P new(x: int, y: int); class T new(t: tuple<int...>); class N "
            "new(); }");
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nP\nc__builtin__\ntuple\n(I1\nI2\nttR.", UPK_OK, NULL);
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nP\nc__builtin__\ntuple\n(I1\nttR.", UPK_ERR_RECIPE, NULL);
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nT\nc__builtin__\ntuple\n(I1\nttR.", UPK_OK, NULL);
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nT\nc__builtin__\ntuple\n(V1\nttR.", UPK_ERR_RECIPE,
           "neither the tuple's members nor the tuple are the arguments");
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nN\nc__builtin__\nobject\nNtR.", UPK_OK, NULL);
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nN\nc__builtin__\nlist\n(ltR.", UPK_OK, NULL);
    DECIDE("ccopy_reg\n_reconstructor\n(cm\nN\nc__builtin__\nlist\n(I1\nltR.", UPK_ERR_RECIPE,
           "items are not allowed");
    done();
}

static void python2_keys_equal_text_keys(void **state) {
    (void)state;
    compile("policy p 1; opcodes core, python2; root { a: int };");
    DECIDE("(dS'a'\nI1\ns.", UPK_OK, NULL);
    DECIDE("(dS'a'\nI1\nsVa\nI2\ns.", UPK_ERR_EQUAL_KEYS, NULL);
    DECIDE("(dS'b'\nI1\ns.", UPK_ERR_ROOT, "key `b` is not allowed");
    done();
}

#define MEMBER(len, name) "\x8c\x03\x61pp\x8c" len name "\x93"

static void two_names_of_a_member_are_one_key(void **state) {
    (void)state;
    compile("policy p 1; module app { enum M { FAST = \"fast\", SAFE = \"safe\", QUICK = \"fast\", ONE = 1, "
            "YES = true, MANY = 36_893_488_147_419_103_232, LOTS = 36_893_488_147_419_103_232,"
            " MORE = 36_893_488_147_419_103_233, B = b\"fast\", PAIR = tuple<1>, PAIR2 = tuple<1> };"
            " enum N { FAST = \"fast\" }; }"
            " root dict<app::M | app::N | tuple<app::M>, int> | set<app::M>;");
    static const struct {
        const char *first, *second;
        bool one;
    } pairs[] = {
        {MEMBER("\6", "M.FAST"), MEMBER("\7", "M.QUICK"), true},
        {MEMBER("\6", "M.FAST"), MEMBER("\6", "M.SAFE"), false},
        {MEMBER("\6", "M.FAST"), MEMBER("\3", "M.B"), false},
        {MEMBER("\6", "M.FAST"), MEMBER("\6", "N.FAST"), false},
        {MEMBER("\5", "M.ONE"), MEMBER("\5", "M.YES"), true},
        {MEMBER("\6", "M.MANY"), MEMBER("\6", "M.LOTS"), true},
        {MEMBER("\6", "M.MANY"), MEMBER("\6", "M.MORE"), false},
        {MEMBER("\6", "M.PAIR"), MEMBER("\7", "M.PAIR2"), false}, /* the policy does not say the values */
        {MEMBER("\6", "M.FAST") "\x85", MEMBER("\7", "M.QUICK") "\x85", true},
        {MEMBER("\6", "M.FAST") "\x85", MEMBER("\7", "M.QUICK"), false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char stream[80];
        int len =
            snprintf(stream, sizeof stream, "\x80\x04}(%sK\x01%sK\x02u.", pairs[i].first, pairs[i].second);
        decide(stream, (size_t)len, pairs[i].one ? UPK_ERR_EQUAL_KEYS : UPK_OK, NULL);
    }
    DECIDE("\x80\x04\x8f(" MEMBER("\6", "M.FAST") MEMBER("\7", "M.QUICK") "\x90.", UPK_ERR_EQUAL_KEYS, NULL);
    done();
}

/* A = {x: B, y: int}; B = {back: A}: see shape_cyclic.c */
static void assumptions_prove_nothing(void **state) {
    (void)state;
    compile("policy p 1; type A = { x: B, y: int }; type B = { back: A }; root tuple<A | dict<str, any>, B> "
            "cyclic;");
    DECIDE("\x80\x02}q\0X\x01\0\0\0x}X\x04\0\0\0backh\0sq\x01sX\x01\0\0\0yK\x01sh\x01\x86.", UPK_OK, NULL);
    DECIDE("\x80\x02}q\0X\x01\0\0\0x}X\x04\0\0\0backh\0sq\x01sX\x01\0\0\0yX\x01\0\0\0ssh\x01\x86.",
           UPK_ERR_ROOT, NULL);
    done();
    compile("policy p 1; type P = { a: list<P>, b: int } | { a: list<P>, b: str }; root P cyclic;");
    DECIDE("\x80\x02}q\0X\x01\0\0\0a]h\0asX\x01\0\0\0bX\x01\0\0\0xs.", UPK_OK, NULL);
    DECIDE("\x80\x02}q\0X\x01\0\0\0a]h\0asX\x01\0\0\0bNs.", UPK_ERR_ROOT, NULL);
    done();
    compile("policy p 1; type P = { a: list<P>, b: int }; root P cyclic;");
    DECIDE("\x80\x02}q\0X\x01\0\0\0a]h\0asX\x01\0\0\0bX\x01\0\0\0xs.", UPK_ERR_ROOT,
           "at $.b: expected int, found str \"x\"");
    done();
}

/* A state may hold what is filled later: it is matched as it ends up. */
static void states_are_matched_as_they_end_up(void **state) {
    (void)state;
    compile("policy p 1; module m { class C new() state { a: list<int> }; }");
#define OBJECT \
    "\x80\x02" \
    "cm\nC\n)\x81}X\x01\0\0\0a]q\0sb"
    DECIDE(OBJECT ".", UPK_OK, NULL);
    DECIDE(OBJECT "h\0K\x01"
                  "a0.",
           UPK_OK, NULL);
    DECIDE(OBJECT "h\0Na0.", UPK_ERR_RECIPE, "state at .state.a[0]: expected int, found none");
    done();
}

/* Of the states that a class may have, the one that the stream seems to mean. */
static void the_form_that_takes_the_kind_is_the_nearest(void **state) {
    (void)state;
    compile("policy p 1; module m { class C new() state { x: int } | new() state tuple<none, { x: int }> "
            "| new() state list<int>; }");
#define STATE(build) \
    "\x80\x02"       \
    "cm\nC\n)\x81" build "b."
    DECIDE(STATE("}X\x01\0\0\0xNs"), UPK_ERR_RECIPE, "state at .state.x: expected int, found none");
    DECIDE(STATE("N}X\x01\0\0\0xNs\x86"), UPK_ERR_RECIPE, "state at .state[1].x: expected int, found none");
    DECIDE(STATE("]Na"), UPK_ERR_RECIPE, "state at .state[0]: expected int, found none");
    DECIDE(STATE("N"), UPK_ERR_RECIPE, "state: expected { x: int }, found none");
    done();
}

/* As a policy can hold it: `-` between two characters would be a range, so it stands last. */
static void a_set_of_characters_is_shown_as_it_is_written(void **state) {
    (void)state;
    compile("policy p 1; root str chars \"%+./0-9-\";");
    DECIDE("N.", UPK_ERR_ROOT, "expected str chars \"%+.-9-\", found none");
    done();
    compile("policy p 1; root str chars \"A,-\";");
    DECIDE("N.", UPK_ERR_ROOT, "expected str chars \",A-\", found none");
    done();
    compile("policy p 1; root str chars \"+-.\";");
    DECIDE("N.", UPK_ERR_ROOT, "expected str chars \"+-.\", found none");
    done();
}

static void the_budget_of_matches_is_exact(void **state) {
    (void)state;
    static const char stream[] = "\x80\x02]((K\x01K\x02tcm\nf\nX\x02\0\0\0ab\x85R]K\x01"
                                 "ae.";
    unsigned passed = 0;
    for (unsigned budget = 1; budget < 40; budget++) {
        char text[300];
        (void)snprintf(text, sizeof text,
                       "policy p 1; budget matches %u; root list<tuple<int, int> | m::C | list<int>>;"
                       "module m { func f(x: str chars \"a-z\") -> m::C because \"test\"; }",
                       budget);
        compile(text);
        struct upk_error err;
        if (upk_check(&trial.tables.policy, stream, sizeof stream - 1, NULL, &err)) {
            passed++;
        } else {
            assert_int_equal(passed, 0);
            assert_int_equal(err.code, UPK_ERR_BUDGET);
            assert_int_equal(err.budget, UPK_BUDGET_MATCHES);
            assert_int_equal(err.limit, budget);
            assert_true(err.figure > budget);
        }
        done();
    }
    assert_in_range(passed, 20, 35);
}

/* A long text under a hundred thousand calls: the budget ends it, and soon. */
static void texts_looked_through_again_and_again_are_refused(void **state) {
    (void)state;
    enum { LEN = 1 << 20, CALLS = 100000 };
    compile("policy p 1; module m { func f(x: str chars \"a-z\") -> m::C because \"test\"; }");
    char *stream = malloc(LEN + 64 + CALLS * 7u), *p = stream;
    assert_non_null(stream);
    memcpy(p, "\x80\x02X\0\0\x10\0", 7);
    p += 7;
    memset(p, 'a', LEN);
    p += LEN;
    memcpy(p,
           "q\0"
           "0cm\nf\nq\x01"
           "0(",
           12);
    p += 12;
    for (unsigned i = 0; i < CALLS; i++, p += 6) memcpy(p, "h\x01h\0\x85R", 6);
    memcpy(p, "t.", 2);
    p += 2;
    decide(stream, (size_t)(p - stream), UPK_ERR_BUDGET, NULL);
    free(stream);
    done();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partial_is_used_up_by_its_call_alone),
        cmocka_unit_test(keywords_of_every_spelling_are_matched),
        cmocka_unit_test(a_tuple_base_is_spread_or_whole),
        cmocka_unit_test(python2_keys_equal_text_keys),
        cmocka_unit_test(two_names_of_a_member_are_one_key),
        cmocka_unit_test(assumptions_prove_nothing),
        cmocka_unit_test(states_are_matched_as_they_end_up),
        cmocka_unit_test(the_form_that_takes_the_kind_is_the_nearest),
        cmocka_unit_test(a_set_of_characters_is_shown_as_it_is_written),
        cmocka_unit_test(the_budget_of_matches_is_exact),
        cmocka_unit_test(texts_looked_through_again_and_again_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
