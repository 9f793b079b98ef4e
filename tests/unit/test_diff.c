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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_has_two_sides),
        cmocka_unit_test(without_memory_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
