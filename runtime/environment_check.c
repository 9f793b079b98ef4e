/* Structural validation of the tables of `environment` and `confinement`, as policy_check.c does it for the others.
 *
 * Layer: runtime, with policy_check.c; over keys_check.h.
 */
#include <string.h>

#include "environment_table.h"

/* ---- environment ------------------------------------------------------------ */

static bool in_pool(uint32_t pool_len, struct upk_text t) {
    const uint32_t len = pool_len - UPK_NAME_PADDED;
    return t.at <= len && t.len <= len - t.at;
}

static bool check_head(const struct upk_environment *e, uint32_t files, struct table_fault *fault) {
    TABLE_HOLDS(e->pool && e->names && e->rules && e->ranges && e->nevers && e->keys && e->find,
                "environment", 0, "a table is missing");
    TABLE_HOLDS(e->name_count && e->rule_count && e->range_count && e->never_count, "environment", 0,
                "no null entry");
    TABLE_HOLDS(e->pool_len >= UPK_NAME_PADDED && in_pool(e->pool_len, e->name) && e->file < files,
                "environment", 0, "pool");
    TABLE_HOLDS(!(e->flags & ~(uint32_t)UPK_ENV_HOME), "environment", 0, "flags");
    TABLE_HOLDS(e->names[0].flags == 0 && e->rules[0].kind == UPK_ENV_RULE_NONE, "environment", 0,
                "null entry");
    TABLE_HOLDS(e->keys->pool == e->pool && e->keys->pool_len == e->pool_len, "environment", 0,
                "pool of the look-up");
    return key_tables_check(e->keys, 1, e->name_count - 1, fault);
}

static bool check_rule(const struct upk_environment *e, uint32_t i, uint32_t files,
                       struct table_fault *fault) {
    const struct upk_env_rule *const r = &e->rules[i];
    TABLE_HOLDS(r->kind > UPK_ENV_RULE_NONE && r->kind < UPK_ENV_RULE_COUNT, "rules", i, "kind");
    TABLE_HOLDS(r->most >= 1 && r->most <= UPK_ENV_VALUE_MOST && r->file < files, "rules", i, "length");
    TABLE_HOLDS(r->first <= e->range_count && r->count <= e->range_count - r->first, "rules", i, "ranges");
    for (uint32_t k = r->first; k < r->first + r->count; k++) {
        TABLE_HOLDS(e->ranges[k].lo <= e->ranges[k].hi &&
                        (k == r->first || e->ranges[k - 1].hi < e->ranges[k].lo),
                    "ranges", k, "order");
    }
    return true;
}

static bool check_name(const struct upk_environment *e, uint32_t i, uint32_t files,
                       struct table_fault *fault) {
    const struct upk_env_name *const n = &e->names[i];
    const uint32_t manifest = n->flags & (UPK_ENV_MANIFEST | UPK_ENV_FROM);
    TABLE_HOLDS(in_pool(e->pool_len, n->name) && upk_env_name_is_good(e->pool + n->name.at, n->name.len),
                "names", i, "name");
    TABLE_HOLDS(i == 1 || bytes_compare(e->pool + n[-1].name.at, n[-1].name.len, e->pool + n->name.at,
                                        n->name.len) < 0,
                "names", i, "order");
    TABLE_HOLDS(environment_find(e, e->pool + n->name.at, n->name.len) == i, "names", i,
                "not found by its name");
    TABLE_HOLDS(n->flags && !(n->flags & ~(uint32_t)UPK_ENV_FLAGS) && !(n->flags & UPK_ENV_HOME), "names", i,
                "flags");
    TABLE_HOLDS(n->inherit_rule < e->rule_count &&
                    (n->inherit_rule != 0) == ((n->flags & UPK_ENV_INHERIT) != 0),
                "names", i, "rule");
    TABLE_HOLDS(n->manifest_rule < e->rule_count && (n->manifest_rule != 0) == (manifest != 0), "names", i,
                "rule");
    TABLE_HOLDS(n->source < e->name_count && (n->source != 0) == ((n->flags & UPK_ENV_FROM) != 0), "names", i,
                "source");
    TABLE_HOLDS(n->source == 0 || e->names[n->source].flags & UPK_ENV_SOURCE, "names", i, "source");
    TABLE_HOLDS(in_pool(e->pool_len, n->value) && in_pool(e->pool_len, n->because), "names", i, "text");
    TABLE_HOLDS(n->flags & UPK_ENV_SET
                    ? n->value.len <= UPK_ENV_VALUE_MOST && !memchr(e->pool + n->value.at, '\0', n->value.len)
                    : n->value.len == 0,
                "names", i, "value");
    TABLE_HOLDS(n->file < files, "names", i, "place");
    return true;
}

static bool check_environment(const struct upk_environment *e, uint32_t files, struct table_fault *fault) {
    if (!check_head(e, files, fault)) return false;
    for (uint32_t i = 1; i < e->rule_count; i++) {
        if (!check_rule(e, i, files, fault)) return false;
    }
    for (uint32_t i = 1; i < e->name_count; i++) {
        if (!check_name(e, i, files, fault)) return false;
    }
    for (uint32_t i = 1; i < e->never_count; i++) {
        const struct upk_env_never *const v = &e->nevers[i];
        TABLE_HOLDS(v->kind >= UPK_ENV_NEVER_NAME && v->kind <= UPK_ENV_NEVER_PART, "nevers", i, "kind");
        TABLE_HOLDS(v->text.len && in_pool(e->pool_len, v->text) && v->file < files, "nevers", i, "text");
    }
    return true;
}

/* ---- confinement ------------------------------------------------------------ */

static bool check_confinement(const struct upk_confinement *c, uint32_t files, struct table_fault *fault) {
    static const uint64_t most[] = {
#define UPK_X(name, word, standard, most, unit) most,
        UPK_RUN_BUDGETS(UPK_X)
#undef UPK_X
    };
    TABLE_HOLDS(c->on_linux <= UPK_CONFINE_OPT_IN && c->on_macos <= UPK_CONFINE_OPT_IN, "confinement", 0,
                "mode");
    TABLE_HOLDS(c->pool && c->pool_len >= UPK_NAME_PADDED && in_pool(c->pool_len, c->network_because),
                "confinement", 0, "pool");
    TABLE_HOLDS(c->network == (c->network_because.len != 0) && c->file < files, "confinement", 0, "network");
    for (uint32_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) {
        TABLE_HOLDS(c->budgets[i] >= 1 && c->budgets[i] <= most[i], "confinement", i, "budget");
    }
    return true;
}

bool environment_check(const struct upk_policy *p, struct table_fault *fault) {
    return (!p->environment || check_environment(p->environment, p->file_count, fault)) &&
           (!p->confinement || check_confinement(p->confinement, p->file_count, fault));
}
