/* unpickle: a host of libupk with the shipped policies compiled in.
 *
 * Layer: a program, over cli.h and shipped_policies.h.
 */
#include "cli.h"
#include "shipped_policies.h"

static enum cli_exit act(const struct cli *c) {
    if (c->help || c->version) return CLI_ACCEPTED;
    if (c->list_policies) {
        shipped_policies_list();
        return CLI_ACCEPTED;
    }
    if (c->inspect) return cli_run(c, NULL);
    const struct upk_policy *policy = shipped_policies_find(c, c->policy);
    return policy ? cli_run(c, policy) : CLI_USAGE;
}

int main(int argc, char **argv) {
    struct cli c = {.program = "unpickle", .host = true};
    enum cli_exit status = cli_parse(&c, argc > 0 ? argc - 1 : 0, argv + 1);
    if (status == CLI_ACCEPTED) status = act(&c);
    cli_free(&c);
    return (int)status;
}
