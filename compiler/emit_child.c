/* The blocks about a child in generated C.  Layer: see emit_child.h. */
#include "emit_child.h"

#include <inttypes.h>

#define TEXT_FORMAT  "{%" PRIu32 ", %" PRIu32 "}"
#define TEXT_ARGS(t) (t).at, (t).len

static void put_pool(struct output *o, const char *name, const char *bytes, uint32_t len) {
    output_print(o, "static const char upk_%s_pool[%" PRIu32 "] =", name, len);
    output_literal(o, bytes, len - UPK_NAME_PADDED);
    output_print(o, ";\n\n");
}

static void put_names(struct output *o, const struct upk_environment *e) {
    output_print(o, "static const struct upk_env_name upk_environment_names[%" PRIu32 "] = {", e->name_count);
    for (uint32_t i = 0; i < e->name_count; i++) {
        const struct upk_env_name *const n = &e->names[i];
        output_print(
            o, "\n    {" TEXT_FORMAT ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", " TEXT_FORMAT,
            TEXT_ARGS(n->name), n->flags, n->inherit_rule, n->manifest_rule, n->source, TEXT_ARGS(n->value));
        output_print(o, ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", " TEXT_FORMAT "},", n->file, n->line,
                     n->manifest_line, TEXT_ARGS(n->because));
    }
    output_print(o, "\n};\n\n");
}

static void put_rules(struct output *o, const struct upk_environment *e) {
    output_print(o, "static const struct upk_env_rule upk_environment_rules[%" PRIu32 "] = {", e->rule_count);
    for (uint32_t i = 0; i < e->rule_count; i++) {
        const struct upk_env_rule *const r = &e->rules[i];
        output_print(o,
                     "\n    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "},",
                     r->kind, r->most, r->first, r->count, r->file, r->line);
    }
    output_print(o, "\n};\n\nstatic const struct upk_range upk_environment_ranges[%" PRIu32 "] = {",
                 e->range_count);
    for (uint32_t i = 0; i < e->range_count; i++) {
        output_print(o, "\n    {%" PRIu32 ", %" PRIu32 "},", e->ranges[i].lo, e->ranges[i].hi);
    }
    output_print(o, "\n};\n\nstatic const struct upk_env_never upk_environment_nevers[%" PRIu32 "] = {",
                 e->never_count);
    for (uint32_t i = 0; i < e->never_count; i++) {
        const struct upk_env_never *const v = &e->nevers[i];
        output_print(o, "\n    {" TEXT_FORMAT ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "},", TEXT_ARGS(v->text),
                     v->kind, v->file, v->line);
    }
    output_print(o, "\n};\n\n");
}

static void put_environment(struct output *o, const struct upk_environment *e) {
    put_pool(o, "environment", e->pool, e->pool_len);
    put_names(o, e);
    put_rules(o, e);
    emit_key_tables(o, "environment", e->keys);
    emit_keys(o, "environment", "keys", e->keys);
    output_print(o,
                 "static uint32_t upk_environment_find(const struct upk_keys *keys, const uint8_t *module,\n"
                 "    size_t module_len, const uint8_t *name, size_t name_len)\n"
                 "{\n"
                 "    (void)keys;\n"
                 "    return upk_find_class(&upk_environment_keys, module, module_len, name, name_len);\n"
                 "}\n\n");
    output_print(o, "static const struct upk_environment upk_environment = {\n");
    output_print(o, "    .name = " TEXT_FORMAT ",\n    .flags = %" PRIu32 ",\n", TEXT_ARGS(e->name),
                 e->flags);
    output_print(
        o, "    .pool_len = %" PRIu32 ",\n    .name_count = %" PRIu32 ",\n    .rule_count = %" PRIu32 ",\n",
        e->pool_len, e->name_count, e->rule_count);
    output_print(o, "    .range_count = %" PRIu32 ",\n    .never_count = %" PRIu32 ",\n", e->range_count,
                 e->never_count);
    output_print(o, "    .file = %" PRIu32 ",\n    .line = %" PRIu32 ",\n", e->file, e->line);
    output_print(o, "    .pool = upk_environment_pool,\n    .names = upk_environment_names,\n"
                    "    .rules = upk_environment_rules,\n    .ranges = upk_environment_ranges,\n"
                    "    .nevers = upk_environment_nevers,\n    .keys = &upk_environment_keys,\n"
                    "    .find = upk_environment_find,\n};\n");
}

static void put_confinement(struct output *o, const struct upk_confinement *c) {
    put_pool(o, "confinement", c->pool, c->pool_len);
    output_print(o, "static const struct upk_confinement upk_confinement = {\n");
    output_print(o,
                 "    .on_linux = %" PRIu32 ",\n    .on_macos = %" PRIu32 ",\n    .network = %" PRIu32 ",\n",
                 c->on_linux, c->on_macos, c->network);
    output_print(o, "    .network_because = " TEXT_FORMAT ",\n    .budgets = {",
                 TEXT_ARGS(c->network_because));
    for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++)
        output_print(o, "UINT64_C(%" PRIu64 "), ", c->budgets[i]);
    output_print(o, "},\n    .file = %" PRIu32 ",\n    .line = %" PRIu32 ",\n    .pool_len = %" PRIu32 ",\n",
                 c->file, c->line, c->pool_len);
    output_print(o, "    .pool = upk_confinement_pool,\n};\n");
}

void emit_child(struct output *o, const struct upk_policy *p) {
    if (p->environment) {
        output_print(o, "\n");
        put_environment(o, p->environment);
    }
    if (p->confinement) {
        output_print(o, "\n");
        put_confinement(o, p->confinement);
    }
}

void emit_child_members(struct output *o, const struct upk_policy *p) {
    if (p->environment) output_print(o, "    .environment = &upk_environment,\n");
    if (p->confinement) output_print(o, "    .confinement = &upk_confinement,\n");
}
