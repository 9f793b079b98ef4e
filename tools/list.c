/* `policyc list`: compile a policy in memory and print what its tables grant.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "list.h"

#include <stdio.h>

#include "../compiler/channels.h"
#include "../compiler/list.h"
#include "policy_file.h"
#include "stderr_sink.h"

static const struct cli as_cli = {.program = "policyc list"};

static bool add_listings(const struct tables *tables, size_t count, bool spellings, struct output *o) {
    for (size_t i = 0; i < count; i++) {
        if (i != 0) output_text(o, "\n");
        if (!list_policy(&tables[i].policy, spellings, o)) return false;
    }
    return true;
}

/* All or nothing: the listing is printed when it is complete. */
static enum cli_exit print_listing(const struct policy_file *file, const struct compiled *compiled,
                                   bool spellings, struct diag *d) {
    enum { MOST_BYTES = 1 << 30 };
    struct mem m;
    struct output o;
    size_t count = 0;
    struct channels all;
    const struct model *const models = policy_file_models(file, compiled, d, &count);
    if (models == NULL || !channels_build(compiled, d, &all)) return CLI_USAGE;
    mem_init(&m, MOST_BYTES);
    output_init(&o, &m);
    const bool good = add_listings(all.tables + (models - compiled->models), count, spellings, &o);
    if (!good) diag_error_nowhere(d, P_MEMORY, "out of memory");
    enum cli_exit status = good ? CLI_ACCEPTED : CLI_USAGE;
    if (good && (fwrite(o.bytes, 1, o.len, stdout) != o.len || fflush(stdout) != 0)) {
        cli_complain(&as_cli, "cannot write to standard output");
        status = CLI_IO;
    }
    mem_free(&m);
    channels_free(&all);
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
