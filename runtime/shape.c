/* Every object against its row, then the root against its type (rules 1 and 10): the verdict on a finished
 * graph.
 *
 * Layer: runtime, over the parts of matching (match.h).
 */
#include <string.h>

#include "check.h"

/* Still to be judged here: not matched early, and no spelling that became another value or was used up by
 * one (N2 to N4, N7, N8), which is judged where it is used. */
static bool is_judged(const struct upk_doc *doc, const struct object *o) {
    bool early = doc->matcher && o->cell.cap;
    return !early && !(o->cell.flags & CELL_NORMAL) && o->cell.index != UPK_VERB_NONE;
}

/* The objects to be judged; none where all were matched early, which saves a walk through cold memory. */
static struct object *to_judge(const struct upk_doc *doc) {
    return doc->matcher && doc->unjudged == 0 ? NULL : doc->objects;
}

static struct goal form_goal(struct object *o, uint32_t form) {
    return (struct goal){.cell = &o->cell, .index = form, .what = GOAL_FORM};
}

static enum match_status refuse_object(struct matcher *m, const struct object *o, struct match_result *why) {
    explain_object(m, o, why);
    return MATCH_REFUSED;
}

static enum match_status refuse_root(struct matcher *m, struct match_result *why) {
    explain_root(m, why);
    return MATCH_REFUSED;
}

/* The form is found; say which arguments it took where a base of tuple left that open (N6).  `proved`: the tuple spread out. */
static void settle_spread(struct object *o, bool proved) {
    if (proved) o->more->args = value_resolve(o->more->args->items[0]).as.cell;
    o->cell.flags &= (uint16_t)~CELL_SPREAD;
}

static enum fit spread_fits(struct matcher *m, const struct object *o, uint32_t form, struct part *part) {
    return value_fits(m, value_resolve(o->more->args->items[0]), m->policy->forms[form].args, part);
}

/* The form is found, and the arguments with it: what its check says of them.  That waits until all types are proved, so that
 * a document is refused for its shape first. */
static enum match_status check_made(struct matcher *m, const struct object *o) {
    struct match_result *const why = &m->native;
    char first[sizeof why->detail], *detail = why->object ? first : why->detail;
    if (check_object(m, o, o->cell.cap, detail, sizeof first)) return MATCH_OK;
    if (m->pairs > m->budget) return MATCH_BUDGET;
    if (why->object) return MATCH_OK;
    why->code = UPK_ERR_NATIVE;
    why->object = o;
    why->form = o->cell.cap;
    return MATCH_OK;
}

static enum match_status what_checks_say(const struct matcher *m, struct match_result *why) {
    if (!m->native.object) return MATCH_OK;
    *why = m->native;
    return MATCH_REFUSED;
}

/* ---- without cycles: one after the other */

static enum match_status spread_by_tree(struct matcher *m, struct object *o) {
    struct part part;
    enum fit fit = spread_fits(m, o, o->cell.cap, &part);
    bool proved = fit == FIT_YES;
    enum match_status status = fit == FIT_OPEN ? tree_prove(m, &part.goal, &proved) : MATCH_OK;
    if (status == MATCH_OK) settle_spread(o, proved);
    return status;
}

static enum match_status object_by_tree(struct matcher *m, struct object *o, struct match_result *why) {
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct goal g = form_goal(o, row->first_form + i);
        struct cursor all = {0};
        struct part part;
        enum fit fit = goal_next(m, &g, &all, &part); /* decided at once as a rule */
        bool proved = fit == FIT_YES;
        enum match_status status = fit == FIT_OPEN ? tree_prove(m, &g, &proved) : MATCH_OK;
        if (status == MATCH_OK && m->pairs > m->budget) status = MATCH_BUDGET;
        if (status != MATCH_OK) return status;
        if (proved) {
            o->cell.cap = row->first_form + i;
            if (o->cell.flags & CELL_SPREAD) status = spread_by_tree(m, o);
            return status == MATCH_OK ? check_made(m, o) : status;
        }
    }
    return refuse_object(m, o, why);
}

static enum match_status match_by_tree(struct matcher *m, struct match_result *why) {
    struct part part = {0};
    enum fit fit = value_fits(m, m->doc->root, m->policy->root, &part);
    /* Proofs and reasons of a refusal need it; nothing else does. */
    if ((fit != FIT_YES || to_judge(m->doc)) && !tree_new(m)) return MATCH_MEMORY;
    enum match_status status = MATCH_OK;
    for (struct object *o = to_judge(m->doc); status == MATCH_OK && o; o = o->next)
        status = is_judged(m->doc, o) ? object_by_tree(m, o, why) : MATCH_OK;
    bool proved = fit == FIT_YES;
    if (status == MATCH_OK && fit == FIT_OPEN) status = tree_prove(m, &part.goal, &proved);
    if (status == MATCH_OK && m->pairs > m->budget) status = MATCH_BUDGET;
    if (status != MATCH_OK) return status;
    return proved ? what_checks_say(m, why) : refuse_root(m, why);
}

/* ---- with cycles: all at once */

static void spread_by_refutation(struct matcher *m, struct object *o) {
    struct part part;
    if (!(o->cell.flags & CELL_SPREAD)) return;
    enum fit fit = spread_fits(m, o, o->cell.cap, &part);
    settle_spread(o, fit == FIT_YES || (fit == FIT_OPEN && cyclic_holds(m, &part.goal)));
}

static enum match_status object_by_refutation(struct matcher *m, struct object *o, struct match_result *why) {
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    const struct goal any = {.cell = &o->cell, .what = GOAL_OBJECT};
    if (cyclic_refuted(m, &any)) return refuse_object(m, o, why);
    for (uint32_t form = row->first_form; form < row->first_form + row->form_count; form++) {
        const struct goal g = form_goal(o, form);
        if (cyclic_holds(m, &g)) {
            o->cell.cap = form;
            spread_by_refutation(m, o);
            return check_made(m, o);
        }
    }
    return MATCH_OK;
}

static enum match_status match_by_refutation(struct matcher *m, struct match_result *why) {
    if (!cyclic_new(m)) return MATCH_MEMORY;
    for (struct object *o = to_judge(m->doc); o; o = o->next) {
        const struct goal any = {.cell = &o->cell, .what = GOAL_OBJECT};
        if (is_judged(m->doc, o) && !cyclic_add(m, &any)) return MATCH_MEMORY;
    }
    struct part part = {0};
    enum fit fit = value_fits(m, m->doc->root, m->policy->root, &part);
    if (fit == FIT_OPEN && !cyclic_add(m, &part.goal)) return MATCH_MEMORY;
    const struct goal root = part.goal;
    enum match_status status = cyclic_solve(m);
    for (struct object *o = to_judge(m->doc); status == MATCH_OK && o; o = o->next)
        status = is_judged(m->doc, o) ? object_by_refutation(m, o, why) : MATCH_OK;
    if (status == MATCH_OK && (fit == FIT_NO || (fit == FIT_OPEN && cyclic_refuted(m, &root))))
        status = refuse_root(m, why);
    return status == MATCH_OK ? what_checks_say(m, why) : status;
}

/* ---- */

void matcher_init(struct matcher *m, struct upk_doc *doc) {
    mem_clear(m, offsetof(struct matcher, native));
    m->native.object = NULL;
    m->native.detail[0] = m->native.path[0] = m->native.part[0] = 0;
    m->doc = doc;
    m->policy = doc->policy;
    m->mem = &doc->mem;
}

void match_free(struct upk_doc *doc) {
    if (doc->matcher) (void)mem_resize(&doc->mem, doc->matcher, sizeof *doc->matcher, 0);
    doc->matcher = NULL;
}

/* Nothing left to judge, and a root that is `any`, which plain data and objects are by a look: the common case, without a
 * matcher. */
static bool is_plain(const struct upk_doc *doc) {
    if (doc->policy->types[doc->policy->root].kind != UPK_TYPE_ANY || doc->stale || doc->used_up ||
        to_judge(doc))
        return false;
    const struct upk_value v = value_resolve(doc->root);
    if (kind_is_container(v.kind)) return v.as.cell->len == 0 || !(v.as.cell->flags & CELL_ODD);
    return v.kind < UPK_BUFFER || v.kind == UPK_BYTEARRAY || v.kind == UPK_OBJECT;
}

/* Apart, so that a plain document needs no room for a matcher. */
__attribute__((noinline)) static enum match_status match_values(struct upk_doc *doc, uint64_t budget,
                                                                uint64_t *matches, struct match_result *why) {
    struct matcher own, *m = doc->matcher;
    if (!m) {
        m = &own;
        matcher_init(m, doc);
    }
    m->budget = budget;
    m->any_at_once = !doc->stale && !doc->used_up;
    mem_clear(why, sizeof *why);
    /* Stale, not only cyclic: what was popped may hold a cycle that the root does not reach. */
    enum match_status status = doc->stale ? match_by_refutation(m, why) : match_by_tree(m, why);
    if (status == MATCH_OK && m->pairs > budget) status = MATCH_BUDGET;
    *matches = m->pairs;
    tree_free(m);
    cyclic_free(m);
    return status;
}

enum match_status match_document(struct upk_doc *doc, uint64_t budget, uint64_t *matches,
                                 struct match_result *why) {
    if (!is_plain(doc)) return match_values(doc, budget, matches, why);
    *matches = (doc->matcher ? doc->matcher->pairs : 0) + 1;
    return *matches > budget ? MATCH_BUDGET : MATCH_OK;
}
