/* The figures of the budgets, of which there is one list (UPK_BUDGETS).
 *
 * Layer: runtime, over the contract alone.
 */
#include "upk.h"
#include "upk_tables.h"

const uint64_t upk_budget_standard[UPK_BUDGET_COUNT] = {
#define UPK_X(name, word, standard, most, unit) [UPK_BUDGET_##name] = standard,
    UPK_BUDGETS(UPK_X)
#undef UPK_X
};

const uint64_t upk_budget_most[UPK_BUDGET_COUNT] = {
#define UPK_X(name, word, standard, most, unit) [UPK_BUDGET_##name] = most,
    UPK_BUDGETS(UPK_X)
#undef UPK_X
};

const char *upk_budget_word(unsigned b) {
    static const char *const words[] = {
#define UPK_X(name, word, standard, most, unit) #word,
        UPK_BUDGETS(UPK_X)
#undef UPK_X
    };
    return b < UPK_BUDGET_COUNT ? words[b] : "unknown";
}
