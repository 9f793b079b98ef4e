/* `policyc try`: compile a policy in memory and decide pickle files under it.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "try.h"

#include "../compiler/tables.h"
#include "cli.h"
#include "policy_file.h"
#include "stderr_sink.h"

/* CLI_ACCEPTED: *t holds tables to be freed. */
static enum cli_exit compile(const struct cli *c, const struct policy_file *file, struct diag *d,
                             struct tables *t) {
    struct compile_options options = {
        .path = file->path,
        .policy_dir = c->policy_dir ? c->policy_dir : POLICY_DIR,
        .include_dirs = c->includes.at,
        .include_dir_count = c->includes.count,
    };
    struct compiled *compiled = NULL;
    enum cli_exit status = CLI_USAGE;
    if (policy_compile(&options, d, &compiled)) {
        size_t count;
        const struct model *models = policy_file_models(c, file, compiled, &count);
        if (models && count > 1)
            cli_complain(c, "the policy has several channels: name one as FILE:CHANNEL");
        else if (models && tables_build(compiled, models, d, t))
            status = CLI_ACCEPTED;
    }
    compiled_free(compiled);
    diag_flush(d);
    return status;
}

static enum cli_exit act(const struct cli *c) {
    if (c->help || c->version) return CLI_ACCEPTED;
    struct policy_file file;
    if (!policy_file_name(c->policy, &file)) {
        cli_complain(c, "out of memory");
        return CLI_USAGE;
    }
    struct diag d;
    struct tables tables;
    diag_init(&d, stderr_sink(c->json));
    enum cli_exit status = compile(c, &file, &d, &tables);
    diag_free(&d);
    if (status == CLI_ACCEPTED) {
        status = cli_run(c, &tables.policy);
        tables_free(&tables);
    }
    policy_file_free(&file);
    return status;
}

int try_main(int argc, char **argv) {
    struct cli c = {.program = "policyc try"};
    enum cli_exit status = cli_parse(&c, argc > 0 ? argc - 1 : 0, argv + 1);
    if (status == CLI_ACCEPTED) status = act(&c);
    cli_free(&c);
    return (int)status;
}
