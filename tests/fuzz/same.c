/* Fuzz target: any bytes as a pickle, decided twice under each policy: by tables that policyc wrote as C and a C compiler
 * compiled, and by tables made from the policy's text in memory.
 *
 * What must hold for every input: the two agree in verdict, code, offset, message, path, rule, grant line and all printed forms.
 *
 * Runs from the top folder, where the policies stand.
 *
 * Layer: tests only, over the compiler's front door and the runtime's public interface.
 */
#include <string.h>

#include "../../compiler/tables.h"
#include "help/policies.h"
#include "help/verdict.h"
#include "require.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_POLICIES = 64 };

/* Tables made in memory, by index of fuzz_policies.  libFuzzer gives a target no context: made once, freed by the end of the
 * process. */
static struct tables in_memory[MOST_POLICIES];

static void complain(void *context, const char *bytes, size_t len) {
    (void)context;
    fwrite(bytes, 1, len, stderr);
}

static bool is_channel(const struct model *model, const struct upk_policy *p) {
    return model->channel.len == p->channel.len &&
           (p->channel.len == 0 || memcmp(model->channel.at, p->pool + p->channel.at, p->channel.len) == 0);
}

/* The tables of the channel that `from` was compiled from. */
static void compile(const struct fuzz_policy *from, struct tables *to) {
    const struct compile_options options = {
        .path = from->path, .policy_dir = "policies", .allow_fail_open = true, .today = 20000101};
    struct diag d;
    struct compiled *c = NULL;
    size_t i = 0;
    diag_init(&d, (struct diag_sink){.write = complain});
    bool good = policy_compile(&options, &d, &c);
    while (good && i < c->model_count && !is_channel(&c->models[i], from->policy)) i++;
    good = good && i < c->model_count && tables_build(c, &c->models[i], &d, to);
    diag_flush(&d);
    REQUIRE(good);
    compiled_free(c);
    diag_free(&d);
    REQUIRE(memcmp(to->policy.digest, from->policy->digest, sizeof to->policy.digest) == 0);
    REQUIRE(upk_policy_check(&to->policy, NULL) && upk_policy_check(from->policy, NULL));
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    REQUIRE(fuzz_policy_count <= MOST_POLICIES);
    for (size_t i = 0; i < fuzz_policy_count; i++) compile(&fuzz_policies[i], &in_memory[i]);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_host host;
    const struct upk_options options = fuzz_options(&host);
    for (size_t i = 0; i < fuzz_policy_count; i++) {
        const struct verdict a = verdict_of(fuzz_policies[i].policy, data, size, &options, false);
        const struct verdict b = verdict_of(&in_memory[i].policy, data, size, &options, false);
        verdict_require_same(&a, &b);
    }
    return 0;
}
