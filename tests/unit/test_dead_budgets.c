/* What policyc says no stream can spend, no stream of the corpus spends: each figure of a scan is within what the opcodes that
 * the stream has can spend, and within the budgets that are said to end it before.
 *
 * Layer: tests of the compiler, against the runtime's public interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../compiler/units.h"
#include "corpus.h"

enum { LONGEST = 20000 };

struct tally {
    size_t streams;
    size_t spent[UPK_BUDGET_COUNT]; /* streams in which the budget is spent by an opcode of the list */
};

static void spendings_cover(const struct corpus_file *file, void *ctx) {
    struct tally *tally = ctx;
    struct upk_scan_result *scan = NULL;
    struct upk_error err;
    if (!upk_scan(file->bytes, file->len, &corpus_options, &scan, &err)) return;
    tally->streams++;
    for (enum upk_budget b = 0; b < UPK_BUDGET_COUNT; b++) {
        /* A value that holds nothing is a level deep. */
        const uint64_t figure = b == UPK_BUDGET_DEPTH ? scan->figures[b] - 1 : scan->figures[b];
        uint64_t most = 0;
        for (enum upk_op op = UPK_OP_UNKNOWN + 1; op < UPK_OP_END; op++)
            if (scan->opcodes[op] != 0 && budget_spending(b, op) > most) most = budget_spending(b, op);
        if (budget_is_spent(b) && figure > most)
            fail_msg("%s: budget %s: %llu are spent, but the opcodes there spend at most %llu", file->path,
                     upk_budget_word(b), (unsigned long long)figure, (unsigned long long)most);
        tally->spent[b] += budget_is_spent(b) && figure != 0;
        for (enum upk_budget within = 0; within < UPK_BUDGET_COUNT; within++)
            if (budget_is_within(b, within) && scan->figures[b] > scan->figures[within])
                fail_msg("%s: budget %s: %llu, and of %s only %llu", file->path, upk_budget_word(b),
                         (unsigned long long)scan->figures[b], upk_budget_word(within),
                         (unsigned long long)scan->figures[within]);
    }
    upk_scan_free(scan);
}

static void no_stream_spends_what_is_called_dead(void **state) {
    (void)state;
    struct tally tally = {0};
    corpus_each("good", LONGEST, spendings_cover, &tally);
    corpus_each("hostile", LONGEST, spendings_cover, &tally);
    assert_in_range(tally.streams, 1000, SIZE_MAX);
    for (enum upk_budget b = 0; b < UPK_BUDGET_COUNT; b++)
        if (budget_is_spent(b)) assert_in_range(tally.spent[b], 10, SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_stream_spends_what_is_called_dead)};
    return cmocka_run_group_tests_name("dead budgets", tests, NULL, NULL);
}
