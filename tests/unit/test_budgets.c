/* Every budget: a stream that needs n passes with n and is refused as class limit, naming the budget, with n - 1.
 *
 * The figures of small streams are stated here; those of the whole corpus are what upk_scan says a stream needs.
 *
 * Layer: tests of the runtime's public interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "corpus.h"
#include "values.h"

enum { LONGEST = 5000, ALL_FAMILIES = (1 << UPK_FAMILY_COUNT) - 1 };

static const uint64_t standard[UPK_BUDGET_COUNT] = {
#define UPK_X(name, word, standard, most, unit) standard,
    UPK_BUDGETS(UPK_X)
#undef UPK_X
};

typedef bool (*judge_fn)(const void *bytes, size_t len, const uint64_t *budgets, struct upk_error *err);

static struct upk_options options_with(const uint64_t *budgets) {
    return (struct upk_options){.flags = UPK_FAMILY_FLAGS, .families = ALL_FAMILIES, .budgets = budgets};
}

static bool inspect(const void *bytes, size_t len, const uint64_t *budgets, struct upk_error *err) {
    struct upk_options options = options_with(budgets);
    struct upk_doc *doc = NULL;
    bool accepted = upk_inspect(bytes, len, &options, &doc, err);
    upk_doc_free(doc);
    return accepted;
}

/* A scan has no limit but memory. */
static bool scan(const void *bytes, size_t len, const uint64_t *budgets, struct upk_error *err) {
    struct upk_options options = options_with(budgets);
    struct upk_scan_result *result = NULL;
    bool accepted = upk_scan(bytes, len, &options, &result, err);
    upk_scan_free(result);
    return accepted;
}

static uint64_t scanned_figure(const void *bytes, size_t len, enum upk_budget budget) {
    struct upk_options options = options_with(NULL);
    struct upk_scan_result *result = NULL;
    struct upk_error err;
    assert_true(upk_scan(bytes, len, &options, &result, &err));
    uint64_t figure = result->figures[budget];
    upk_scan_free(result);
    return figure;
}

/* The shipped policy with other budgets. */
static struct upk_policy policy_with(const uint64_t *budgets) {
    struct upk_policy policy = values;
    memcpy(policy.budgets, budgets, sizeof policy.budgets);
    return policy;
}

static bool decode(const void *bytes, size_t len, const uint64_t *budgets, struct upk_error *err) {
    struct upk_policy policy = policy_with(budgets);
    struct upk_doc *doc = NULL;
    bool accepted = upk_decode(&policy, bytes, len, NULL, &doc, err);
    upk_doc_free(doc);
    return accepted;
}

static bool check(const void *bytes, size_t len, const uint64_t *budgets, struct upk_error *err) {
    struct upk_policy policy = policy_with(budgets);
    return upk_check(&policy, bytes, len, NULL, err);
}

static void passes_at_limit_and_not_below(const char *label, const void *bytes, size_t len,
                                          enum upk_budget budget, uint64_t n, judge_fn judge) {
    struct upk_error err;
    uint64_t budgets[UPK_BUDGET_COUNT];
    memcpy(budgets, standard, sizeof budgets);
    budgets[budget] = n;
    memset(&err, 0, sizeof err);
    if (!judge(bytes, len, budgets, &err))
        fail_msg("%s: budget %s %llu: %s %s", label, upk_budget_word(budget), (unsigned long long)n,
                 upk_class_word(err.cls), err.detail);
    if (n == 0) return;
    budgets[budget] = n - 1;
    memset(&err, 0, sizeof err);
    if (judge(bytes, len, budgets, &err))
        fail_msg("%s: budget %s %llu is enough, but %llu was said to be needed", label,
                 upk_budget_word(budget), (unsigned long long)(n - 1), (unsigned long long)n);
    if (err.cls != UPK_CLASS_LIMIT || err.code != UPK_ERR_BUDGET || err.budget != budget ||
        err.limit != n - 1 || (err.figure < n && budget != UPK_BUDGET_MEMORY) || err.offset > len)
        fail_msg("%s: budget %s %llu: class %s code %u budget %s limit %llu figure %llu offset %llu", label,
                 upk_budget_word(budget), (unsigned long long)(n - 1), upk_class_word(err.cls), err.code,
                 upk_budget_word(err.budget), (unsigned long long)err.limit, (unsigned long long)err.figure,
                 (unsigned long long)err.offset);
}

/* ---- small streams whose figures are known ---- */

struct known {
    enum upk_budget budget;
    uint64_t figure;
    const char *label, *bytes;
    size_t len;
};

#define KNOWN(budget, figure, label, bytes) \
    { UPK_BUDGET_##budget, figure, label, bytes, sizeof bytes - 1 }

static const struct known known[] = {
    KNOWN(BYTES, 4, "None at protocol 2", "\x80\x02N."),
    KNOWN(OPCODES, 3, "None at protocol 2", "\x80\x02N."),
    KNOWN(OPCODES, 6, "list of two", "](K\1K\2e."),
    KNOWN(MEMO, 2, "two memo entries", "]q\0]q\1a."),
    KNOWN(MARKS, 3, "three open marks", "(((ttt."),
    KNOWN(DEPTH, 3, "[[[]]]", "]]]aa."),
    KNOWN(DEPTH, 4, "[[[1]]]", "]]]K\1aaa."),
    KNOWN(NODES, 4, "[1, 2, 3]", "](K\1K\2K\3e."),
    KNOWN(ITEMS, 3, "[1, 2, 3]", "](K\1K\2K\3e."),
    KNOWN(ITEMS, 2, "{1: 1, 2: 1}", "}(K\1K\1K\2K\1u."),
    /* A list that holds the same one-member list twice: 1 + 2 * (1 + 1) when it is written out. */
    KNOWN(EXPANDED, 5, "sharing", "]q\0]q\1K\1a0(h\1h\1e."),
    KNOWN(STRING, 5, "five bytes of text", "X\5\0\0\0abcde."),
    KNOWN(DIGITS, 7, "seven digits", "I1234567\n."),
    KNOWN(DIGITS, 7, "seven digits and a sign", "L-1234567L\n."),
    KNOWN(LONG, 9, "nine bytes of a number", "\x80\x02\x8a\x09\1\2\3\4\5\6\7\x08\x09."),
    KNOWN(CALLS, 2, "two calls", "(cdatetime\ntimedelta\np0\n(K\1K\2K\3tRg0\n(K\1K\2K\3tRt."),
    KNOWN(NAMES, 2, "two names, one of them twice", "(cdecimal\nDecimal\ncuuid\nUUID\ncdecimal\nDecimal\nt."),
};

static void stated_figures_are_the_limits_of_inspection(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct known *k = &known[i];
        passes_at_limit_and_not_below(k->label, k->bytes, k->len, k->budget, k->figure, inspect);
        assert_int_equal(scanned_figure(k->bytes, k->len, k->budget), k->figure);
    }
}

/* ---- the corpus: every figure that a scan states ---- */

struct tally {
    size_t streams;
    size_t tested[UPK_BUDGET_COUNT];
};

static void figures_are_limits(const struct corpus_file *file, void *ctx) {
    struct tally *tally = ctx;
    struct upk_options options = options_with(NULL);
    struct upk_scan_result *result = NULL;
    struct upk_error err;
    if (!upk_scan(file->bytes, file->len, &options, &result, &err)) return;
    uint64_t figures[UPK_BUDGET_COUNT];
    memcpy(figures, result->figures, sizeof figures);
    upk_scan_free(result);
    tally->streams++;
    for (enum upk_budget budget = 0; budget < UPK_BUDGET_COUNT; budget++) {
        if (budget == UPK_BUDGET_MATCHES || budget == UPK_BUDGET_MEMORY || budget == UPK_BUDGET_NAME)
            continue; /* a policy's, or the arena's; a longer name is class global */
        passes_at_limit_and_not_below(file->path, file->bytes, file->len, budget, figures[budget], inspect);
        tally->tested[budget] += figures[budget] > 0;
        uint64_t none[UPK_BUDGET_COUNT];
        memcpy(none, standard, sizeof none);
        if (!check(file->bytes, file->len, none, &err)) continue;
        none[budget] = figures[budget];
        if (budget == UPK_BUDGET_DIGITS && !check(file->bytes, file->len, none, &err) &&
            err.code == UPK_ERR_NATIVE)
            continue; /* a check holds values against it too, of which a scan knows nothing */
        passes_at_limit_and_not_below(file->path, file->bytes, file->len, budget, figures[budget], check);
        passes_at_limit_and_not_below(file->path, file->bytes, file->len, budget, figures[budget], decode);
    }
}

static void scanned_figures_are_the_limits(void **state) {
    (void)state;
    struct tally tally = {0};
    corpus_each("good", LONGEST, figures_are_limits, &tally);
    assert_in_range(tally.streams, 1000, SIZE_MAX);
    for (enum upk_budget budget = 0; budget < UPK_BUDGET_COUNT; budget++)
        if (budget != UPK_BUDGET_MATCHES && budget != UPK_BUDGET_MEMORY && budget != UPK_BUDGET_NAME)
            assert_in_range(tally.tested[budget], 10, SIZE_MAX);
}

/* ---- budgets that no scan states: the least figure that passes is found by halving, one less is refused ---- */

static uint64_t least_that_passes(const void *bytes, size_t len, enum upk_budget budget, judge_fn judge) {
    uint64_t budgets[UPK_BUDGET_COUNT], low = 0, high = UINT64_C(1) << 24;
    struct upk_error err;
    memcpy(budgets, standard, sizeof budgets);
    while (low < high) {
        budgets[budget] = low + (high - low) / 2;
        if (judge(bytes, len, budgets, &err))
            high = budgets[budget];
        else
            low = budgets[budget] + 1;
    }
    return low;
}

static const char mixed[] = "\x80\x02](K\1K\2X\3\0\0\0abccdatetime\ntimedelta\n(K\1K\2K\3tR}X\1\0\0\0kNse.";

static void memory_is_a_hard_limit(void **state) {
    (void)state;
    const judge_fn judges[] = {inspect, scan, check, decode};
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++) {
        uint64_t least = least_that_passes(mixed, sizeof mixed - 1, UPK_BUDGET_MEMORY, judges[i]);
        assert_in_range(least, 1, (UINT64_C(1) << 24) - 1);
        passes_at_limit_and_not_below("memory", mixed, sizeof mixed - 1, UPK_BUDGET_MEMORY, least, judges[i]);
    }
}

static void matches_are_limited(void **state) {
    (void)state;
    const judge_fn judges[] = {check, decode};
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++) {
        uint64_t least = least_that_passes(mixed, sizeof mixed - 1, UPK_BUDGET_MATCHES, judges[i]);
        assert_in_range(least, 1, 1000);
        passes_at_limit_and_not_below("matches", mixed, sizeof mixed - 1, UPK_BUDGET_MATCHES, least,
                                      judges[i]);
    }
}

/* A row's own budget of calls. */
static void calls_of_one_row_are_limited(void **state) {
    (void)state;
    static const char two[] = "\x80\x02(cdatetime\ntimedelta\nq\0(K\1K\2K\3tRh\0(K\1K\2K\3tRt.";
    static struct upk_row rows[4096];
    assert_in_range(values.row_count, 1, sizeof rows / sizeof *rows);
    memcpy(rows, values.rows, values.row_count * sizeof *rows);
    struct upk_policy policy = values;
    policy.rows = rows;
    uint32_t row = 0;
    for (uint32_t i = 1; i < policy.row_count; i++)
        if (rows[i].qualname.len == 9 && memcmp(policy.pool + rows[i].qualname.at, "timedelta", 9) == 0)
            row = i;
    assert_int_not_equal(row, 0);
    struct upk_error err;
    rows[row].calls = 2;
    assert_true(upk_check(&policy, two, sizeof two - 1, NULL, &err));
    rows[row].calls = 1;
    assert_false(upk_check(&policy, two, sizeof two - 1, NULL, &err));
    assert_int_equal(err.cls, UPK_CLASS_LIMIT);
    assert_int_equal(err.budget, UPK_BUDGET_CALLS);
    assert_int_equal(err.limit, 1);
    assert_string_equal(err.name, "timedelta");
}

/* No row can have a name that is longer than 256 bytes: that is class global, at 257 and not at 256. */
static void an_overlong_name_is_class_global(void **state) {
    (void)state;
    for (size_t len = 256; len <= 257; len++) {
        char bytes[600];
        size_t at = 0;
        bytes[at++] = 'c';
        memset(bytes + at, 'm', len);
        at += len;
        memcpy(bytes + at, "\nname\n.", 7);
        at += 7;
        struct upk_error err;
        struct upk_options options = options_with(NULL);
        struct upk_doc *doc = NULL;
        assert_int_equal(upk_inspect(bytes, at, &options, &doc, &err), len == 256);
        upk_doc_free(doc);
        if (len == 257) assert_int_equal(err.cls, UPK_CLASS_GLOBAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_figures_are_the_limits_of_inspection),
        cmocka_unit_test(scanned_figures_are_the_limits),
        cmocka_unit_test(memory_is_a_hard_limit),
        cmocka_unit_test(matches_are_limited),
        cmocka_unit_test(calls_of_one_row_are_limited),
        cmocka_unit_test(an_overlong_name_is_class_global),
    };
    return cmocka_run_group_tests_name("budgets", tests, NULL, NULL);
}
