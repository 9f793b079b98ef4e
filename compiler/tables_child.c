/* `environment` and `confinement` as tables.  Layer: see tables_child.h. */
#include "tables_child.h"

#include <sha2.h>
#include <string.h>

#include "intern.h"

struct child {
    struct mem *mem;
    struct pool pool;
    struct array names, rules, ranges, nevers, keys;
};

static void start(struct child *t, struct mem *m) {
    const struct {
        struct array *array;
        size_t size;
    } arrays[] = {
        {&t->names, sizeof(struct upk_env_name)},
        {&t->rules, sizeof(struct upk_env_rule)},
        {&t->ranges, sizeof(struct upk_range)},
        {&t->nevers, sizeof(struct upk_env_never)},
    };
    t->mem = m;
    pool_init(&t->pool, m);
    array_init(&t->keys, m, sizeof(struct upk_key));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        array_init_from_1(arrays[i].array, m, arrays[i].size);
}

/* ---- environment ------------------------------------------------------------ */

static uint32_t add_ranges(struct child *t, const struct model_env_rule *r) {
    const uint32_t first = (uint32_t)t->ranges.count;
    for (size_t i = 0; i < r->char_count; i++) array_add(&t->ranges, &r->chars[i]);
    return first;
}

static bool same_chars(const struct child *t, const struct upk_env_rule *rule,
                       const struct model_env_rule *r) {
    const struct upk_range *const ranges = t->ranges.items;
    return rule->count == r->char_count &&
           (rule->count == 0 || memcmp(ranges + rule->first, r->chars, rule->count * sizeof *ranges) == 0);
}

/* 0: none. */
static uint32_t add_rule(struct child *t, const struct model_env_rule *r) {
    const struct upk_env_rule *const all = t->rules.items;
    if (r->kind == UPK_ENV_RULE_NONE) return 0;
    for (uint32_t i = 1; i < t->rules.count && !t->mem->failed; i++) {
        if (all[i].kind == r->kind && all[i].most == r->most && all[i].line == r->line &&
            same_chars(t, &all[i], r))
            return i;
    }
    struct upk_env_rule rule = {.kind = r->kind, .most = r->most, .file = r->file, .line = r->line};
    if (r->char_count) {
        rule.count = (uint32_t)r->char_count;
        rule.first = add_ranges(t, r);
    }
    return array_add(&t->rules, &rule);
}

/* Names are sorted. */
static uint32_t index_of(const struct model_environment *m, struct text name) {
    size_t lo = 0, hi = m->name_count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int order = text_compare(name, m->names[mid].name);
        if (order == 0) return (uint32_t)mid + 1;
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return 0;
}

static void add_names(struct child *t, const struct model_environment *m) {
    const struct upk_text module = pool_add(&t->pool, text_of("$"));
    for (size_t i = 0; i < m->name_count; i++) {
        const struct model_env_name *const n = &m->names[i];
        const struct upk_env_name name = {
            .name = pool_add(&t->pool, n->name),
            .flags = n->flags,
            .inherit_rule = add_rule(t, &n->inherit),
            .manifest_rule = add_rule(t, &n->manifest),
            .source = n->source.len ? index_of(m, n->source) : 0,
            .value = pool_add(&t->pool, n->value),
            .file = n->file,
            .line = n->line,
            .manifest_line = n->manifest_line,
            .because = pool_add(&t->pool, n->because),
        };
        const uint32_t row = array_add(&t->names, &name);
        const struct upk_key key = {
            module.at, name.name.at, (uint16_t)module.len, (uint16_t)name.name.len, {row, row}};
        array_add(&t->keys, &key);
    }
}

static void add_nevers(struct child *t, const struct model_environment *m) {
    for (size_t i = 0; i < m->never_count; i++) {
        const struct model_env_never *const v = &m->nevers[i];
        const struct upk_env_never never = {pool_add(&t->pool, v->text), v->kind, v->file, v->line};
        array_add(&t->nevers, &never);
    }
}

static enum perfect_status add_environment(const struct compiled *c, const struct tables *other,
                                           struct tables *out, int *error) {
    const struct model_environment *const m = c->environment;
    struct child t;
    start(&t, &out->mem);
    add_names(&t, m);
    add_nevers(&t, m);
    const struct upk_text name = pool_add(&t.pool, m->name);
    pool_pad(&t.pool, UPK_NAME_PADDED);
    if (t.mem->failed) return PERFECT_MEMORY;
    const struct perfect_pool pool = {t.pool.bytes, (uint32_t)t.pool.len};
    if (!other || !perfect_reuse(t.mem, other->environment_keys, t.keys.items, t.keys.count, pool,
                                 out->environment_keys)) {
        const enum perfect_status status = perfect_build(t.mem, t.keys.items, t.keys.count, pool,
                                                         c->in_process, out->environment_keys, error);
        if (status != PERFECT_OK) return status;
    }
    out->environment = (struct upk_environment){
        .name = name,
        .flags = m->home ? UPK_ENV_HOME : 0,
        .pool_len = pool.len,
        .name_count = (uint32_t)t.names.count,
        .rule_count = (uint32_t)t.rules.count,
        .range_count = (uint32_t)t.ranges.count,
        .never_count = (uint32_t)t.nevers.count,
        .file = m->file,
        .line = m->line,
        .pool = pool.bytes,
        .names = t.names.items,
        .rules = t.rules.items,
        .ranges = t.ranges.items,
        .nevers = t.nevers.items,
        .keys = &out->environment_keys[1],
        .find = upk_find_class_any,
    };
    out->policy.environment = &out->environment;
    return PERFECT_OK;
}

/* ---- confinement ------------------------------------------------------------ */

static void add_confinement(const struct model_confinement *m, struct tables *out) {
    struct pool pool;
    pool_init(&pool, &out->mem);
    out->confinement = (struct upk_confinement){
        .on_linux = m->on_linux,
        .on_macos = m->on_macos,
        .network = m->network,
        .network_because = pool_add(&pool, m->network_because),
        .file = m->file,
        .line = m->line,
    };
    pool_pad(&pool, UPK_NAME_PADDED);
    memcpy(out->confinement.budgets, m->budgets, sizeof m->budgets);
    out->confinement.pool = pool.bytes;
    out->confinement.pool_len = (uint32_t)pool.len;
    out->policy.confinement = &out->confinement;
}

/* ---- digest ------------------------------------------------------------ */

static void digest_number(SHA2_CTX *context, uint64_t n) {
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(n >> 8 * i);
    SHA256Update(context, bytes, sizeof bytes);
}

static void digest_text(SHA2_CTX *context, struct text t) {
    digest_number(context, t.len);
    SHA256Update(context, (const uint8_t *)t.at, t.len);
}

static void digest_rule(SHA2_CTX *context, const struct model_env_rule *r) {
    digest_number(context, r->kind);
    digest_number(context, r->most);
    digest_number(context, r->char_count);
    for (size_t i = 0; i < r->char_count; i++) {
        digest_number(context, r->chars[i].lo);
        digest_number(context, r->chars[i].hi);
    }
}

/* What base sets bring and what holds in every policy is no text of the policy, and may be another in another version of policyc. */
static void digest_environment(SHA2_CTX *context, const struct model_environment *m) {
    digest_number(context, m->home);
    digest_number(context, m->name_count);
    for (size_t i = 0; i < m->name_count; i++) {
        const struct model_env_name *const n = &m->names[i];
        digest_text(context, n->name);
        digest_number(context, n->flags);
        digest_rule(context, &n->inherit);
        digest_rule(context, &n->manifest);
        digest_text(context, n->source);
        digest_text(context, n->value);
    }
}

static void digest_run(const struct compiled *c, struct upk_policy *p) {
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, p->digest, sizeof p->digest);
    digest_number(&context, c->environment != NULL);
    if (c->environment) digest_environment(&context, c->environment);
    digest_number(&context, c->confinement != NULL);
    if (c->confinement) {
        digest_number(&context, c->confinement->on_linux);
        digest_number(&context, c->confinement->on_macos);
        digest_number(&context, c->confinement->network);
        for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) digest_number(&context, c->confinement->budgets[i]);
    }
    SHA256Final(p->run_digest, &context);
}

bool tables_child(const struct compiled *c, const struct tables *other, struct tables *out,
                  enum perfect_status *status, int *error) {
    *status = PERFECT_OK;
    if (c->environment) *status = add_environment(c, other, out, error);
    if (c->confinement) add_confinement(c->confinement, out);
    digest_run(c, &out->policy);
    return *status == PERFECT_OK && !out->mem.failed;
}
