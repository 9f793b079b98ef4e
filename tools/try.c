/* `policyc try`: compile a policy in memory and decide pickle files under it.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "try.h"

#include "../compiler/channels.h"
#include "cli.h"
#include "policy_file.h"
#include "stderr_sink.h"
#include "today.h"

/* CLI_ACCEPTED: *all are to be freed, and *policy is one of them. */
static enum cli_exit compile(const struct cli *c, const struct policy_file *file, struct diag *d,
                             struct channels *all, const struct upk_policy **policy) {
    struct compile_options options = {
        .path = file->path,
        .policy_dir = c->policy_dir ? c->policy_dir : POLICY_DIR,
        .include_dirs = c->includes.at,
        .include_dir_count = c->includes.count,
        .allow_fail_open = c->allow_fail_open,
    };
    struct compiled *compiled = NULL;
    enum cli_exit status = CLI_USAGE;
    if (today_find(c->today, d, &options.today) && policy_compile(&options, d, &compiled)) {
        compiled->in_process = true;
        const struct model *const model = policy_file_model(file, compiled, d);
        if (model && channels_build(compiled, d, all)) {
            *policy = &all->tables[model - compiled->models].policy;
            status = CLI_ACCEPTED;
        }
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
        return CLI_IO;
    }
    struct diag d;
    struct channels all;
    const struct upk_policy *policy = NULL;
    diag_init(&d, stderr_sink(c->json));
    enum cli_exit status = compile(c, &file, &d, &all, &policy);
    diag_free(&d);
    if (status == CLI_ACCEPTED) {
        status = cli_run(c, policy);
        channels_free(&all);
    }
    policy_file_free(&file);
    return status;
}

int try_main(int argc, char **argv) {
    /* Of the command line; what is said of pickle files is text. */
    struct cli c = {.program = "policyc try",
                    .complain = stderr_asked_json(argc, argv) ? stderr_json_usage : NULL};
    enum cli_exit status = cli_parse(&c, argc > 0 ? argc - 1 : 0, argv + 1);
    c.complain = NULL;
    if (status == CLI_ACCEPTED) status = act(&c);
    cli_free(&c);
    return (int)status;
}
