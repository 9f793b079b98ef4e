/* unpickle: a host of libupk with the shipped policies compiled in.
 *
 * Layer: a program, over cli.h.  shipped.inc is written by the Makefile: X("name", symbol) for each channel
 * of each policy.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "upk_tables.h"

#define X(name, symbol) extern const struct upk_policy symbol;
#include "shipped.inc"
#undef X

static const struct shipped {
    const char *name; /* stem of the policy's file */
    const struct upk_policy *policy;
} shipped[] = {
#define X(name, symbol) {name, &symbol},
#include "shipped.inc"
#undef X
    {NULL, NULL},
};

static bool has_channel(const struct shipped *s, const char *channel) {
    struct upk_text own = s->policy->channel;
    return own.len == strlen(channel) && memcmp(s->policy->pool + own.at, channel, own.len) == 0;
}

static void list_policies(void) {
    for (const struct shipped *s = shipped; s->name; s++) {
        struct upk_text channel = s->policy->channel;
        printf("%s%s%.*s\n", s->name, channel.len ? ":" : "", (int)channel.len, s->policy->pool + channel.at);
    }
}

static bool names_file(const char *name, size_t len) {
    return memchr(name, '/', len) || (len > 7 && memcmp(name + len - 7, ".policy", 7) == 0);
}

/* `name` or `name:channel`; the name alone stands for the only channel there is. */
static const struct upk_policy *find_policy(const struct cli *c) {
    const char *colon = strchr(c->policy, ':');
    size_t len = colon ? (size_t)(colon - c->policy) : strlen(c->policy);
    const struct upk_policy *found = NULL;
    size_t named = 0;
    for (const struct shipped *s = shipped; s->name; s++) {
        if (strlen(s->name) != len || memcmp(s->name, c->policy, len) != 0) continue;
        if (colon && !has_channel(s, colon + 1)) continue;
        named++;
        found = s->policy;
    }
    if (named == 1) return found;
    cli_complain(c,
                 named ? "policy %s has several channels: see --list-policies"
                       : "no policy %s: see --list-policies",
                 cli_show(c->policy).text);
    if (!named && names_file(c->policy, len)) cli_complain(c, "for a policy file: policyc try");
    return NULL;
}

static enum cli_exit act(const struct cli *c) {
    if (c->help || c->version) return CLI_ACCEPTED;
    if (c->list_policies) {
        list_policies();
        return CLI_ACCEPTED;
    }
    if (c->inspect) return cli_run(c, NULL);
    const struct upk_policy *policy = find_policy(c);
    return policy ? cli_run(c, policy) : CLI_USAGE;
}

int main(int argc, char **argv) {
    struct cli c = {.program = "unpickle", .host = true};
    enum cli_exit status = cli_parse(&c, argc > 0 ? argc - 1 : 0, argv + 1);
    if (status == CLI_ACCEPTED) status = act(&c);
    cli_free(&c);
    return (int)status;
}
