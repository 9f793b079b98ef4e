/* `policyc try`: compile a policy in memory and decide pickle files under it.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/tables.h"
#include "cli.h"
#include "stderr_sink.h"
#include "try.h"

static bool can_open(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* FILE or FILE:CHANNEL.  A file of the whole name wins, because names may hold colons. */
static const char *split_channel(char *name) {
    char *colon = strrchr(name, ':');
    if (!colon || can_open(name)) return NULL;
    *colon = 0;
    return colon + 1;
}

static const struct model *find_model(const struct cli *c, const struct compiled *compiled,
                                      const char *channel) {
    if (!channel) {
        if (compiled->model_count == 1) return &compiled->models[0];
        cli_complain(c, "the policy has several channels: name one as FILE:CHANNEL");
        return NULL;
    }
    for (size_t i = 0; i < compiled->model_count; i++) {
        if (text_is(compiled->models[i].channel, channel)) return &compiled->models[i];
    }
    cli_complain(c, "the policy has no channel %s", cli_show(channel).text);
    return NULL;
}

/* CLI_ACCEPTED: *t holds tables to be freed. */
static enum cli_exit compile(const struct cli *c, const char *path, const char *channel, struct diag *d,
                             struct tables *t) {
    struct compile_options options = {
        .path = path,
        .policy_dir = c->policy_dir ? c->policy_dir : POLICY_DIR,
        .include_dirs = c->includes.at,
        .include_dir_count = c->includes.count,
    };
    struct compiled *compiled = NULL;
    enum cli_exit status = CLI_USAGE;
    if (policy_compile(&options, d, &compiled)) {
        const struct model *model = find_model(c, compiled, channel);
        if (model && tables_build(compiled, model, d, t)) status = CLI_ACCEPTED;
    }
    compiled_free(compiled);
    diag_flush(d);
    return status;
}

static enum cli_exit act(const struct cli *c) {
    if (c->help || c->version) return CLI_ACCEPTED;
    size_t len = strlen(c->policy);
    char *path = malloc(len + 1);
    if (!path) {
        cli_complain(c, "out of memory");
        return CLI_USAGE;
    }
    memcpy(path, c->policy, len + 1);
    const char *channel = split_channel(path);
    struct diag d;
    struct tables tables;
    diag_init(&d, stderr_sink());
    enum cli_exit status = compile(c, path, channel, &d, &tables);
    diag_free(&d);
    if (status == CLI_ACCEPTED) {
        status = cli_run(c, &tables.policy);
        tables_free(&tables);
    }
    free(path);
    return status;
}

int try_main(int argc, char **argv) {
    struct cli c = {.program = "policyc try"};
    enum cli_exit status = cli_parse(&c, argc > 0 ? argc - 1 : 0, argv + 1);
    if (status == CLI_ACCEPTED) status = act(&c);
    cli_free(&c);
    return (int)status;
}
