/* The shipped policies.  shipped.inc is written by the Makefile: X("name", symbol) for each channel of each policy.
 *
 * Layer: hosts; see shipped_policies.h.
 */
#include "shipped_policies.h"

#include <string.h>

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

void shipped_policies_list(void) {
    for (const struct shipped *s = shipped; s->name; s++) {
        struct upk_text channel = s->policy->channel;
        printf("%s%s%.*s\n", s->name, channel.len ? ":" : "", (int)channel.len, s->policy->pool + channel.at);
    }
}

static bool names_file(const char *name, size_t len) {
    return memchr(name, '/', len) || (len > 7 && memcmp(name + len - 7, ".policy", 7) == 0);
}

static size_t name_len(const char *name) { return strcspn(name, ":"); }

bool shipped_policies_is_file(const char *name) { return names_file(name, name_len(name)); }

const struct upk_policy *shipped_policies_find(const struct cli *c, const char *name) {
    const char *colon = strchr(name, ':');
    size_t len = name_len(name);
    const struct upk_policy *found = NULL;
    size_t named = 0;
    for (const struct shipped *s = shipped; s->name; s++) {
        if (strlen(s->name) != len || memcmp(s->name, name, len) != 0) continue;
        if (colon && !has_channel(s, colon + 1)) continue;
        named++;
        found = s->policy;
    }
    if (named == 1) return found;
    cli_complain(c,
                 named ? "policy %s has several channels: see --list-policies"
                       : "no policy %s: see --list-policies",
                 cli_show(name).text);
    if (!named && !c->run && names_file(name, len)) cli_complain(c, "for a policy file: policyc try");
    return NULL;
}

const struct upk_policy *shipped_policies_beside(const struct upk_policy *policy, const char *channel) {
    const struct shipped *own = shipped;
    while (own->name && own->policy != policy) own++;
    for (const struct shipped *s = shipped; own->name && s->name; s++) {
        if (strcmp(s->name, own->name) == 0 && has_channel(s, channel)) return s->policy;
    }
    return NULL;
}
