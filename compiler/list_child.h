/* The blocks about a child as lines of a listing: of `policyc list`, and in the findings of `policyc diff`.
 *
 * Layer: above notation, beside list.c.
 */
#ifndef COMPILER_LIST_CHILD_H
#define COMPILER_LIST_CHILD_H

#include "../runtime/upk_tables.h"
#include "output.h"

struct child_budget {
    const char *word;
    uint64_t standard, most;
    const char *unit;
};
extern const struct child_budget child_budgets[UPK_RUN_BUDGET_COUNT];
void child_put_budget(struct output *o, enum upk_run_budget b, uint64_t value);

/* What a listing of the whole file ends in; nothing where the policy has no such blocks.  false: out of memory. */
bool list_child(const struct upk_policy *p, struct output *o);

/* One stage of a variable, UPK_ENV_INHERIT, MANIFEST, FROM or SET, as a policy has it, without what stands behind. */
void child_put_grant(struct output *o, const struct upk_environment *e, const struct upk_env_name *n,
                     uint32_t stage);
struct text child_text(const struct upk_environment *e, struct upk_text t);

#endif
