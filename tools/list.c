/* `policyc list`: compile a policy in memory and print what its tables grant.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "list.h"

#include <stdio.h>

#include "../compiler/list.h"
#include "../compiler/tables.h"
#include "policy_file.h"
#include "stderr_sink.h"

static const struct cli as_cli = {.program = "policyc list"};

static bool add_listing(const struct compiled *compiled, const struct model *model, bool spellings,
                        struct diag *d, struct output *o) {
    struct tables tables;
    if (!tables_build(compiled, model, d, &tables)) return false;
    const bool good = list_policy(&tables.policy, spellings, o);
    if (!good) diag_error_nowhere(d, P_MEMORY, "out of memory");
    tables_free(&tables);
    return good;
}

/* All or nothing: the listing is printed when it is complete. */
static enum cli_exit print_listing(const struct policy_file *file, const struct compiled *compiled,
                                   bool spellings, struct diag *d) {
    enum { MOST_BYTES = 1 << 30 };
    struct mem m;
    struct output o;
    size_t count = 0;
    const struct model *const models = policy_file_models(&as_cli, file, compiled, &count);
    bool good = models != NULL;
    mem_init(&m, MOST_BYTES);
    output_init(&o, &m);
    for (size_t i = 0; good && i < count; i++) {
        if (i != 0) output_bytes(&o, "\n", 1);
        good = add_listing(compiled, &models[i], spellings, d, &o);
    }
    enum cli_exit status = good ? CLI_ACCEPTED : CLI_USAGE;
    if (good && (fwrite(o.bytes, 1, o.len, stdout) != o.len || fflush(stdout) != 0)) {
        cli_complain(&as_cli, "cannot write to standard output");
        status = CLI_IO;
    }
    mem_free(&m);
    return status;
}

enum cli_exit list_run(const struct compile_options *options, bool spellings, bool json) {
    struct policy_file file;
    struct compile_options own = *options;
    struct compiled *compiled = NULL;
    struct diag d;
    if (!policy_file_name(options->path, &file)) {
        cli_complain(&as_cli, "out of memory");
        return CLI_IO;
    }
    own.path = file.path;
    diag_init(&d, stderr_sink(json));
    enum cli_exit status = CLI_USAGE;
    if (policy_compile(&own, &d, &compiled))
        status = print_listing(&file, compiled, spellings, &d);
    else if (d.io)
        status = CLI_IO;
    diag_flush(&d);
    compiled_free(compiled);
    diag_free(&d);
    policy_file_free(&file);
    return status;
}
