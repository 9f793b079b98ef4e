/* A channel's model as the tables that the runtime reads: the same data in memory (policyc try) and in
 * generated C (emit).
 *
 * Layer: top of the back end, with emit.h.
 */
#ifndef COMPILER_TABLES_H
#define COMPILER_TABLES_H

#include "compile.h"
#include "perfect.h"

/* Owns everything that `policy` points to. */
struct tables {
    struct mem mem;
    struct upk_policy policy;
    struct upk_keys keys[2];
    struct upk_environment environment; /* where policy.environment leads; the next two alike */
    struct upk_keys environment_keys[2];
    struct upk_confinement confinement;
    struct span *places; /* of the granted name, by row id; zeros: it is not granted */
};

/* true: *out is owned by the caller, who frees it with tables_free.  false: the reasons are errors in `d`,
 * *out holds nothing. Uses the scratch marks of the model's types, so the models of one compile are
 * lowered one after another. */
bool tables_build(const struct compiled *c, const struct model *model, struct diag *d, struct tables *out);

/* The same after `count` other channels: from one with the same names it takes how they are looked up. */
bool tables_build_next(const struct compiled *c, const struct model *model, struct diag *d,
                       const struct tables *others, size_t count, struct tables *out);

void tables_free(struct tables *t);

#endif
