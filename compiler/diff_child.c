/* The blocks about a child, of two versions: what more reaches it, what it may do more.  Layer: see diff_findings.h.
 *
 * A variable is compared stage by stage.  One rule is within another where it is the same grammar, no longer, and of no other
 * characters; what cannot be told so counts as both.  `never` has done its work when the tables are made and is not compared.
 */
#include "diff.h"
#include "diff_findings.h"
#include "list_child.h"

static const struct text none = {"", 0};

/* ---- environment ------------------------------------------------------------ */

static bool chars_within(const struct upk_environment *e, const struct upk_env_rule *r,
                         const struct upk_environment *f, const struct upk_env_rule *within) {
    if (within->count == 0) return true;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct upk_range *const range = &e->ranges[r->first + i];
        bool found = false;
        for (uint32_t k = 0; k < within->count; k++) {
            const struct upk_range *const other = &f->ranges[within->first + k];
            found = found || (other->lo <= range->lo && range->hi <= other->hi);
        }
        if (!found) return false;
    }
    return r->count != 0;
}

static bool rule_within(const struct upk_environment *e, uint32_t rule, const struct upk_environment *f,
                        uint32_t within) {
    const struct upk_env_rule *const r = &e->rules[rule], *const w = &f->rules[within];
    return (r->kind == w->kind || w->kind == UPK_ENV_RULE_TEXT) && r->most <= w->most &&
           chars_within(e, r, f, w);
}

static const struct upk_env_name *name_find(const struct upk_environment *e, const struct upk_environment *f,
                                            const struct upk_env_name *n) {
    for (uint32_t i = 1; e && i < e->name_count; i++) {
        if (text_equal(child_text(e, e->names[i].name), child_text(f, n->name))) return &e->names[i];
    }
    return NULL;
}

static struct text grant_text(struct diff *d, const struct upk_environment *e, const struct upk_env_name *n,
                              uint32_t stage) {
    child_put_grant(&d->scratch, e, n, stage);
    return diff_kept(d);
}

static const struct diff_place *name_place(struct diff *d, const struct upk_environment *e,
                                           const struct upk_env_name *n) {
    return diff_below_name(d, diff_top(d, DIFF_OF_ALL, 0, text_of("environment")), " ",
                           child_text(e, n->name));
}

/* What a reason was asked for is worse than what was not. */
static enum diff_grade grade_of(const struct upk_env_name *n, uint32_t stage) {
    return stage == UPK_ENV_FROM || (stage != UPK_ENV_SET && n->because.len) ? DIFF_HIGH : DIFF_MEDIUM;
}

/* Where both have it, with other values. */
static struct diff_words words_between(uint32_t stage) {
    static const char more[] = "Values reach the child that did not.",
                      less[] = "Some values do not reach the child any more.";
    return stage == UPK_ENV_SET ? (struct diff_words){"The child is told another value.", NULL}
                                : (struct diff_words){more, less};
}

static struct diff_words words_of(uint32_t stage) {
    switch (stage) {
    case UPK_ENV_INHERIT:
        return (struct diff_words){"A variable of the host reaches the child.",
                                   "The host's variable does not reach the child any more."};
    case UPK_ENV_FROM:
        return (struct diff_words){"A manifest may ask for a value of the host.",
                                   "No manifest may ask for this value of the host any more."};
    case UPK_ENV_SET: return (struct diff_words){"What the child is told is another.", NULL};
    default: return (struct diff_words){"A manifest may set it.", "No manifest may set it any more."};
    }
}

static void compare_stage(struct diff *d, const struct upk_env_name *was, const struct upk_env_name *is,
                          uint32_t stage) {
    const struct upk_environment *const e = d->old->environment, *const f = d->new->environment;
    const struct text old = grant_text(d, e, was, stage), new = grant_text(d, f, is, stage);
    unsigned how = 0;
    if (stage == UPK_ENV_SET) {
        how = text_equal(old, new) ? 0 : DIFF_BOTH;
    } else {
        const bool inherit = stage == UPK_ENV_INHERIT;
        const uint32_t a = inherit ? was->inherit_rule : was->manifest_rule,
                       b = inherit ? is->inherit_rule : is->manifest_rule;
        const bool source = stage != UPK_ENV_FROM || text_equal(child_text(e, e->names[was->source].name),
                                                                child_text(f, f->names[is->source].name));
        how = (rule_within(f, b, e, a) && source ? 0u : DIFF_WIDENED) |
              (rule_within(e, a, f, b) && source ? 0u : DIFF_NARROWED);
    }
    diff_find(d, name_place(d, f, is), how, grade_of(is, stage), old, new, words_between(stage));
}

static void compare_names(struct diff *d) {
    const struct upk_environment *const e = d->old->environment, *const f = d->new->environment;
    for (uint32_t stage = UPK_ENV_INHERIT; stage <= UPK_ENV_FROM; stage <<= 1) {
        for (uint32_t i = 1; f && i < f->name_count && !diff_is_full(d); i++) {
            const struct upk_env_name *const is = &f->names[i], *const was = name_find(e, f, is);
            if (!(is->flags & stage)) continue;
            if (was && was->flags & stage) {
                compare_stage(d, was, is, stage);
                continue;
            }
            diff_find(d, name_place(d, f, is), stage == UPK_ENV_SET ? DIFF_BOTH : DIFF_WIDENED,
                      grade_of(is, stage), none, grant_text(d, f, is, stage), words_of(stage));
        }
        for (uint32_t i = 1; e && i < e->name_count && !diff_is_full(d); i++) {
            const struct upk_env_name *const was = &e->names[i], *const is = name_find(f, e, was);
            if (!(was->flags & stage) || (is && is->flags & stage)) continue;
            diff_find(d, name_place(d, e, was), stage == UPK_ENV_SET ? DIFF_BOTH : DIFF_NARROWED, DIFF_MEDIUM,
                      grant_text(d, e, was, stage), none, words_of(stage));
        }
    }
}

static void compare_environments(struct diff *d) {
    const struct upk_environment *const e = d->old->environment, *const f = d->new->environment;
    const bool was = e && e->flags & UPK_ENV_HOME, is = f && f->flags & UPK_ENV_HOME;
    if (!e != !f) {
        diff_find(d, diff_top(d, DIFF_OF_ALL, 0, text_of("environment")), f ? DIFF_WIDENED : DIFF_NARROWED,
                  DIFF_MEDIUM, e ? text_of("there") : none, f ? text_of("there") : none,
                  (struct diff_words){"A child may be given an environment at all.",
                                      "No child is given an environment any more."});
    } else if (was != is) {
        diff_find(d, diff_top(d, DIFF_OF_ALL, 0, text_of("environment home")), DIFF_BOTH, DIFF_MEDIUM,
                  was ? text_of("workspace") : none, is ? text_of("workspace") : none,
                  (struct diff_words){"HOME is another.", NULL});
    }
    compare_names(d);
}

/* ---- confinement ------------------------------------------------------------ */

/* Without a block the defaults hold. */
static struct upk_confinement confinement_of(const struct upk_policy *p) {
    struct upk_confinement c = {.on_linux = UPK_CONFINE_REQUIRE, .on_macos = UPK_CONFINE_REQUIRE};
    for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) c.budgets[i] = child_budgets[i].standard;
    return p->confinement ? *p->confinement : c;
}

static void compare_words(struct diff *d, const char *place, uint32_t was, uint32_t is,
                          const char *const words[2], struct diff_words sentences) {
    if (was == is) return;
    diff_find(d, diff_top(d, DIFF_OF_ALL, 0, text_of(place)), is > was ? DIFF_WIDENED : DIFF_NARROWED,
              DIFF_HIGH, text_of(words[was]), text_of(words[is]), sentences);
}

static struct text budget_text(struct diff *d, enum upk_run_budget b, uint64_t value) {
    child_put_budget(&d->scratch, b, value);
    return diff_kept(d);
}

static void compare_confinements(struct diff *d) {
    static const char *const modes[] = {"require", "opt_in"}, *const networks[] = {"none", "granted"};
    static const struct diff_words unconfined = {"A host may start the child unconfined.",
                                                 "No host may start the child unconfined any more."};
    const struct upk_confinement was = confinement_of(d->old), is = confinement_of(d->new);
    compare_words(d, "confinement linux", was.on_linux, is.on_linux, modes, unconfined);
    compare_words(d, "confinement macos", was.on_macos, is.on_macos, modes, unconfined);
    compare_words(d, "confinement network", was.network, is.network, networks,
                  (struct diff_words){"The child has a network.", "The child has no network any more."});
    for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) {
        if (was.budgets[i] == is.budgets[i]) continue;
        output_print(&d->scratch, "confinement budget %s", child_budgets[i].word);
        const struct diff_place *const at = diff_top(d, DIFF_OF_ALL, 0, diff_kept(d));
        diff_find(d, at, is.budgets[i] > was.budgets[i] ? DIFF_WIDENED : DIFF_NARROWED, DIFF_LOW,
                  budget_text(d, (enum upk_run_budget)i, was.budgets[i]),
                  budget_text(d, (enum upk_run_budget)i, is.budgets[i]),
                  (struct diff_words){"A child may cost more.", "A child may cost less."});
    }
}

bool diff_child(const struct upk_policy *old, const struct upk_policy *new, struct output *o,
                struct diff_verdict *verdict) {
    struct diff d;
    *verdict = (struct diff_verdict){false, false};
    if (!old->environment && !new->environment && !old->confinement && !new->confinement) return true;
    if (!diff_init(&d, old, new, o->mem)) return false;
    compare_environments(&d);
    compare_confinements(&d);
    output_text(o, "child: ");
    diff_put_findings(&d, o);
    *verdict = (struct diff_verdict){(d.how & DIFF_WIDENED) != 0, (d.how & DIFF_NARROWED) != 0};
    return !o->mem->failed;
}
