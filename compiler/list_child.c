/* Lines about a child.  Layer: see list_child.h. */
#include "list_child.h"

#include <inttypes.h>

#include "../runtime/upk_environment.h"
#include "environment_words.h"
#include "list.h"
#include "notation.h"

const struct child_budget child_budgets[] = {
#define UPK_X(name, word, standard, most, unit) {#word, standard, most, unit},
    UPK_RUN_BUDGETS(UPK_X)
#undef UPK_X
};

void child_put_budget(struct output *o, enum upk_run_budget b, uint64_t value) {
    if (b == UPK_RUN_BUDGET_MEMORY)
        notation_size(o, value);
    else
        notation_number(o, value);
}

struct text child_text(const struct upk_environment *e, struct upk_text t) {
    return (struct text){e->pool + t.at, t.len};
}

static void put_text(struct output *o, const struct upk_environment *e, struct upk_text t) {
    const struct text text = child_text(e, t);
    output_bytes(o, text.at, text.len);
}

/* ---- environment ------------------------------------------------------------ */

/* In quotes where it would look wrong without. */
static void put_name(struct output *o, const struct upk_environment *e, struct upk_text t) {
    const struct text name = child_text(e, t);
    if (!env_known_find(name) && env_known_alike(name))
        notation_string(o, name);
    else
        notation_name(o, name);
}

static void put_rule(struct output *o, const struct upk_environment *e, const struct upk_env_rule *r) {
    output_print(o, " where value %s", env_rule_words[r->kind]);
    if (r->count) {
        output_text(o, " chars ");
        notation_chars(o, e->ranges + r->first, r->count);
    }
    if (r->most != UPK_ENV_VALUE_MOST) {
        output_text(o, " max ");
        notation_number(o, r->most);
    }
}

void child_put_grant(struct output *o, const struct upk_environment *e, const struct upk_env_name *n,
                     uint32_t stage) {
    output_text(o, stage == UPK_ENV_INHERIT ? "inherit " : stage == UPK_ENV_SET ? "set " : "manifest ");
    if (stage == UPK_ENV_FROM) {
        put_name(o, e, e->names[n->source].name);
        output_text(o, " -> ");
    }
    put_name(o, e, n->name);
    if (stage == UPK_ENV_SET) {
        output_text(o, " = ");
        notation_string(o, child_text(e, n->value));
    } else {
        put_rule(o, e, &e->rules[stage == UPK_ENV_INHERIT ? n->inherit_rule : n->manifest_rule]);
    }
}

static void put_never(struct output *o, const struct upk_environment *e, const struct upk_env_never *v) {
    output_text(o, "never ");
    if (v->kind == UPK_ENV_NEVER_SUFFIX || v->kind == UPK_ENV_NEVER_PART) output_text(o, "*");
    put_text(o, e, v->text);
    if (v->kind == UPK_ENV_NEVER_PREFIX || v->kind == UPK_ENV_NEVER_PART) output_text(o, "*");
}

static void put_environment(struct output *o, const struct upk_policy *p, const struct upk_environment *e) {
    output_text(o, "environment ");
    notation_name(o, child_text(e, e->name));
    list_put_source(o, p, e->file, e->line);
    output_text(o, "\n");
    for (uint32_t stage = UPK_ENV_INHERIT; stage <= UPK_ENV_FROM; stage <<= 1) {
        for (uint32_t i = 1; i < e->name_count; i++) {
            const struct upk_env_name *const n = &e->names[i];
            if (!(n->flags & stage)) continue;
            child_put_grant(o, e, n, stage);
            if (n->because.len) {
                output_text(o, " because ");
                notation_prose(o, child_text(e, n->because));
            }
            const bool manifest = stage == UPK_ENV_MANIFEST || stage == UPK_ENV_FROM;
            list_put_source(o, p, n->file, manifest ? n->manifest_line : n->line);
            output_text(o, "\n");
        }
    }
    for (uint32_t i = 1; i < e->never_count; i++) {
        if (e->nevers[i].line == 0) continue; /* the same in every policy */
        put_never(o, e, &e->nevers[i]);
        list_put_source(o, p, e->nevers[i].file, e->nevers[i].line);
        output_text(o, "\n");
    }
    if (e->flags & UPK_ENV_HOME) output_text(o, "home workspace\n");
}

/* ---- confinement ------------------------------------------------------------ */

static void put_confinement(struct output *o, const struct upk_policy *p, const struct upk_confinement *c) {
    output_text(o, "confinement");
    list_put_source(o, p, c->file, c->line);
    output_print(o, "\nlinux %s\n", c->on_linux == UPK_CONFINE_OPT_IN ? "opt_in" : "require");
    output_print(o, "macos %s\n", c->on_macos == UPK_CONFINE_OPT_IN ? "opt_in" : "require");
    for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) {
        output_print(o, "budget %s ", child_budgets[i].word);
        child_put_budget(o, (enum upk_run_budget)i, c->budgets[i]);
        output_text(o, c->budgets[i] == child_budgets[i].standard ? "  # default\n" : "\n");
    }
    if (!c->network) return;
    output_text(o, "network because ");
    notation_prose(o, (struct text){c->pool + c->network_because.at, c->network_because.len});
    output_text(o, "\n");
}

bool list_child(const struct upk_policy *p, struct output *o) {
    if (p->environment) {
        output_text(o, "\n");
        put_environment(o, p, p->environment);
    }
    if (p->confinement) {
        output_text(o, "\n");
        put_confinement(o, p, p->confinement);
    }
    return !o->mem->failed;
}
