/* The policies that pickles are fuzzed under: all shipped ones, each channel, fuzz_shapes.policy and fuzz_open.policy.
 *
 * Layer: tests only, over compiled policies.
 */
#ifndef FUZZ_POLICIES_H
#define FUZZ_POLICIES_H

#include "../../../runtime/upk_tables.h"

struct fuzz_policy {
    const char *path; /* from the top folder, as policyc was given it */
    const struct upk_policy *policy;
};

extern const struct fuzz_policy fuzz_policies[];
extern const size_t fuzz_policy_count;

#endif
