/* `policyc list`: compile a policy in memory and print what its tables grant.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "list.h"

#include <stdio.h>

#include "../compiler/list_child.h"
#include "../compiler/list.h"
#include "policy_file.h"
#include "stderr_sink.h"

static const struct cli as_cli = {.program = "policyc list"};

static bool add_listings(const struct policy_tables *t, bool spellings, struct output *o) {
    for (size_t i = 0; i < t->count; i++) {
        if (i != 0) output_text(o, "\n");
        if (!list_policy(policy_tables_at(t, i), spellings, o)) return false;
    }
    return list_child(policy_tables_at(t, 0), o);
}

/* All or nothing: the listing is printed when it is complete. */
static enum cli_exit print_listing(const struct policy_tables *t, bool spellings, struct diag *d) {
    enum { MOST_BYTES = 1 << 30 };
    struct mem m;
    struct output o;
    mem_init(&m, MOST_BYTES);
    output_init(&o, &m);
    const bool good = add_listings(t, spellings, &o);
    if (!good) diag_error_nowhere(d, P_MEMORY, "out of memory");
    enum cli_exit status = good ? CLI_ACCEPTED : CLI_USAGE;
    if (good && (fwrite(o.bytes, 1, o.len, stdout) != o.len || fflush(stdout) != 0)) {
        cli_complain(&as_cli, "cannot write to standard output");
        status = CLI_IO;
    }
    mem_free(&m);
    return status;
}

enum cli_exit list_run(const struct compile_options *options, bool spellings, bool json) {
    struct policy_tables t = {0};
    struct diag d;
    diag_init(&d, stderr_sink(json));
    enum cli_exit status = policy_tables_compile(&t, options, options->path, &as_cli, &d);
    if (status == CLI_ACCEPTED) status = print_listing(&t, spellings, &d);
    diag_flush(&d);
    policy_tables_free(&t);
    diag_free(&d);
    return status;
}
