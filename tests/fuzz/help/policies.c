/* The list of policies that pickles are fuzzed under: see policies.h.
 *
 * Layer: tests only, over compiled policies.
 */
#include "policies.h"

#include "fuzz_open.h"
#include "fuzz_shapes.h"

#define X(name, symbol) extern const struct upk_policy symbol;
#include "shipped.inc"
#undef X

const struct fuzz_policy fuzz_policies[] = {
#define X(name, symbol) {"policies/" name ".policy", &symbol},
#include "shipped.inc"
#undef X
    {"tests/fuzz/fuzz_shapes.policy", &fuzz_shapes},
    {"tests/fuzz/fuzz_open.policy", &fuzz_open_errors},
    {"tests/fuzz/fuzz_open.policy", &fuzz_open_all},
};
const size_t fuzz_policy_count = sizeof fuzz_policies / sizeof *fuzz_policies;
