/* Comparisons of policies in memory: the verdict, and a shortage of memory at every place.  What is said of pairs of policies
 * tests/test_diff.py looks at.
 *
 * Layer: tests of the compiler's diff*.c and inclusion*.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/diff.h"
#include "compiled.h"

enum { ENOUGH = 1 << 24 };

static const char before[] =
    "policy p 1; type J = none | int[0..9] | list<J> | { a: J, *: str };"
    "module m { class K call(x: J) runs __hash__; class L new(x: int) state? J items J; const C; }"
    "alias o -> m; root J | m::K;";
static const char after[] = "policy p 1; opcodes core, persid; budget depth 9;"
                            "type I = none | int[1..10] | list<I> | { a: I, b?: bytes };"
                            "module m { class K call(x: I, y?: I) runs __eq__; class L call(x: int) state I; "
                            "func f() -> m::K because \"x\"; }"
                            "alias q -> m; root m::K | list<I> cyclic;";

struct version {
    struct trial trial;
    const struct upk_policy *policy;
};

struct pair {
    struct version old, new;
};

static struct pair p;

static int set_up(void **state) {
    *state = &p;
    trial_init(&p.old.trial);
    trial_init(&p.new.trial);
    p.old.policy = trial_policy(&p.old.trial, before);
    p.new.policy = trial_policy(&p.new.trial, after);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    trial_free(&p.old.trial);
    trial_free(&p.new.trial);
    return 0;
}

static bool compare(const struct upk_policy *old, const struct upk_policy *new, size_t most,
                    struct diff_verdict *v, char *text, size_t size) {
    struct mem m;
    struct output o;
    mem_init(&m, most);
    output_init(&o, &m);
    const bool good = diff_channel(old, new, &o, v);
    if (good) {
        assert_in_range(o.len, 1, size - 1);
        memcpy(text, o.bytes, o.len);
        text[o.len] = '\0';
    }
    mem_free(&m);
    return good;
}

static void a_verdict_has_two_sides(void **state) {
    char text[8000];
    struct diff_verdict v;
    (void)state;
    assert_true(compare(p.old.policy, p.new.policy, ENOUGH, &v, text, sizeof text));
    assert_true(v.widened && v.narrowed);
    assert_non_null(strstr(text, "policy p: widened and narrowed"));
    assert_true(compare(p.old.policy, p.old.policy, ENOUGH, &v, text, sizeof text));
    assert_false(v.widened || v.narrowed);
    assert_string_equal(text, "policy p: same\n");
    assert_true(compare(NULL, p.new.policy, ENOUGH, &v, text, sizeof text));
    assert_true(v.widened && !v.narrowed);
    assert_true(compare(p.old.policy, NULL, ENOUGH, &v, text, sizeof text));
    assert_true(!v.widened && v.narrowed);
}

/* With less memory there is no verdict, and never another one. */
static void without_memory_nothing_is_said(void **state) {
    enum { STEP = 488 };
    char whole[8000], text[8000];
    struct diff_verdict v;
    size_t failures = 0;
    (void)state;
    assert_true(compare(p.old.policy, p.new.policy, ENOUGH, &v, whole, sizeof whole));
    for (size_t most = 0; !compare(p.old.policy, p.new.policy, most, &v, text, sizeof text); most += STEP)
        failures++;
    assert_string_equal(text, whole);
    assert_true(failures > 50);
    failures = 0;
    for (size_t most = 0; !compare(p.old.policy, p.old.policy, most, &v, text, sizeof text); most += STEP)
        failures++;
    assert_string_equal(text, "policy p: same\n");
    assert_true(failures > 20);
}

/* A table that asks a host, as policyc makes it of `fail_open` and `subclasses of`: the names stand in the pool already. */
struct asking {
    struct upk_policy policy;
    struct upk_open opens[3];
    struct upk_deny denies[3];
};

static struct upk_text class_text(const struct upk_policy *policy, const char *qualname) {
    for (uint32_t i = 1; i < policy->class_count; i++) {
        if (policy_text_is(policy, policy->classes[i].qualname, qualname)) return policy->classes[i].qualname;
    }
    fail();
    return (struct upk_text){0, 0};
}

static struct asking asking(uint32_t opens, uint32_t denies, uint32_t deny_kind, uint32_t deny_flags) {
    const struct upk_policy *const policy = p.old.policy;
    const struct upk_text k = class_text(policy, "K"), l = class_text(policy, "L");
    struct asking a = {
        .policy = *policy,
        .opens = {{0}, {UPK_OPEN_SUBCLASSES, 1, k, k}, {UPK_OPEN_CLASS, 1, {0, 0}, {0, 0}}},
        .denies = {{{0, 0}, 0, 0, 0, 0}, {k, deny_kind, deny_flags, 0, 0}, {l, deny_kind, 0, 0, 0}}};
    a.policy.open_count = opens + 1;
    a.policy.deny_count = denies + 1;
    return a;
}

static void assert_verdict(struct asking old, struct asking new, bool widened, bool narrowed) {
    char text[8000];
    struct diff_verdict v;
    old.policy.opens = old.opens;
    old.policy.denies = old.denies;
    new.policy.opens = new.opens;
    new.policy.denies = new.denies;
    assert_true(compare(&old.policy, &new.policy, ENOUGH, &v, text, sizeof text));
    assert_int_equal(v.widened, widened);
    assert_int_equal(v.narrowed, narrowed);
}

static void names_of_the_host_are_compared(void **state) {
    enum { NAME = UPK_DENY_NAME, TREE = UPK_DENY_TREE, NEVER = UPK_DENY_NEVER };
    (void)state;
    assert_verdict(asking(2, 2, NAME, 0), asking(2, 2, NAME, 0), false, false);
    assert_verdict(asking(0, 0, NAME, 0), asking(1, 0, NAME, 0), true, false);
    assert_verdict(asking(1, 0, NAME, 0), asking(0, 0, NAME, 0), false, true);
    /* A class of both kinds has the row of the first. */
    assert_verdict(asking(1, 0, NAME, 0), asking(2, 0, NAME, 0), true, false);
    assert_verdict(asking(2, 2, NAME, 0), asking(2, 1, NAME, 0), true, false);
    assert_verdict(asking(2, 1, NAME, 0), asking(2, 2, NAME, 0), false, true);
    /* With a name what inherits from it is denied, wherever that is; with a tree only what is in it. */
    assert_verdict(asking(2, 1, TREE, 0), asking(2, 1, NAME, 0), true, true);
    assert_verdict(asking(2, 1, NAME, 0), asking(2, 1, TREE, 0), true, true);
    assert_verdict(asking(2, 1, NAME, NEVER), asking(2, 1, NAME, 0), true, false);
    /* Where nobody is asked, it makes no difference what is denied. */
    assert_verdict(asking(0, 2, NAME, 0), asking(0, 1, NAME, 0), false, false);
}

static void a_row_that_goes_is_the_hosts(void **state) {
    static const char both[] = "policy p 1; module m { class K call(); class L call(); } root any;",
                      one[] = "policy p 1; module m { class K call(); } root any;";
    struct version old, new;
    struct diff_verdict v;
    struct upk_open opens[2] = {{0}, {UPK_OPEN_CLASS, 1, {0, 0}, {0, 0}}};
    char text[8000];
    (void)state;
    trial_init(&old.trial);
    trial_init(&new.trial);
    struct upk_policy was = *trial_policy(&old.trial, both), is = *trial_policy(&new.trial, one);
    assert_true(compare(&was, &is, ENOUGH, &v, text, sizeof text));
    assert_true(!v.widened && v.narrowed);
    was.opens = is.opens = opens;
    was.open_count = is.open_count = 2;
    assert_true(compare(&was, &is, ENOUGH, &v, text, sizeof text));
    assert_true(v.widened && v.narrowed);
    trial_free(&old.trial);
    trial_free(&new.trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_has_two_sides),
        cmocka_unit_test(without_memory_nothing_is_said),
        cmocka_unit_test(names_of_the_host_are_compared),
        cmocka_unit_test(a_row_that_goes_is_the_hosts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
