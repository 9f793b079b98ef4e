/* Every object against its row, then the root against its type (rules 1 and 10): the verdict on a finished graph.
 *
 * Layer: runtime, over the parts of matching (match.h).
 */
#include <string.h>

#include "match.h"

/* Spellings that became another value or were used up by one (N2 to N4, N7, N8) are judged where they are used. */
static bool is_judged(const struct object *o)
{
    return !(o->cell.flags & CELL_NORMAL) && o->cell.index != UPK_VERB_NONE;
}

static struct goal form_goal(struct object *o, uint32_t form)
{
    return (struct goal){.cell = &o->cell, .index = form, .what = GOAL_FORM};
}

static enum match_status refuse_object(struct matcher *m, const struct object *o, struct match_result *why)
{
    explain_object(m, o, why);
    return MATCH_REFUSED;
}

static enum match_status refuse_root(struct matcher *m, struct match_result *why)
{
    explain_root(m, why);
    return MATCH_REFUSED;
}

/* ---- without cycles: one after the other */

static enum match_status object_by_tree(struct matcher *m, struct object *o, struct match_result *why)
{
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct goal g = form_goal(o, row->first_form + i);
        bool proved = false;
        enum match_status status = tree_prove(m, &g, &proved);
        if (status != MATCH_OK)
            return status;
        if (proved) {
            o->cell.cap = row->first_form + i;
            return MATCH_OK;
        }
    }
    return refuse_object(m, o, why);
}

static enum match_status match_by_tree(struct matcher *m, struct match_result *why)
{
    struct part part = {0};
    enum fit fit = value_fits(m, m->doc->root, m->policy->root, &part);
    if (fit == FIT_YES && !m->doc->objects) /* plain data against `any` is decided by a look */
        return MATCH_OK;
    if (!tree_new(m))
        return MATCH_MEMORY;
    enum match_status status = MATCH_OK;
    for (struct object *o = m->doc->objects; status == MATCH_OK && o; o = o->next)
        status = is_judged(o) ? object_by_tree(m, o, why) : MATCH_OK;
    bool proved = fit == FIT_YES;
    if (status == MATCH_OK && fit == FIT_OPEN)
        status = tree_prove(m, &part.goal, &proved);
    if (status != MATCH_OK)
        return status;
    return proved ? MATCH_OK : refuse_root(m, why);
}

/* ---- with cycles: all at once */

static enum match_status object_by_refutation(struct matcher *m, struct object *o, struct match_result *why)
{
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    const struct goal any = {.cell = &o->cell, .what = GOAL_OBJECT};
    if (cyclic_refuted(m, &any))
        return refuse_object(m, o, why);
    for (uint32_t form = row->first_form; form < row->first_form + row->form_count; form++) {
        const struct goal g = form_goal(o, form);
        if (cyclic_holds(m, &g)) {
            o->cell.cap = form;
            break;
        }
    }
    return MATCH_OK;
}

static enum match_status match_by_refutation(struct matcher *m, struct match_result *why)
{
    if (!cyclic_new(m))
        return MATCH_MEMORY;
    for (struct object *o = m->doc->objects; o; o = o->next) {
        const struct goal any = {.cell = &o->cell, .what = GOAL_OBJECT};
        if (is_judged(o) && !cyclic_add(m, &any))
            return MATCH_MEMORY;
    }
    struct part part = {0};
    enum fit fit = value_fits(m, m->doc->root, m->policy->root, &part);
    if (fit == FIT_OPEN && !cyclic_add(m, &part.goal))
        return MATCH_MEMORY;
    const struct goal root = part.goal;
    enum match_status status = cyclic_solve(m);
    for (struct object *o = m->doc->objects; status == MATCH_OK && o; o = o->next)
        status = is_judged(o) ? object_by_refutation(m, o, why) : MATCH_OK;
    if (status == MATCH_OK && (fit == FIT_NO || (fit == FIT_OPEN && cyclic_refuted(m, &root))))
        status = refuse_root(m, why);
    return status;
}

enum match_status match_document(struct upk_doc *doc, uint64_t budget, uint64_t *matches, struct match_result *why)
{
    struct matcher m;
    memset(&m, 0, offsetof(struct matcher, fields));
    m.doc = doc;
    m.policy = doc->policy;
    m.mem = &doc->mem;
    m.budget = budget;
    m.any_at_once = !doc->stale && !doc->used_up;
    memset(why, 0, sizeof *why);
    /* Stale, not only cyclic: what was popped may hold a cycle that the root does not reach. */
    enum match_status status = doc->stale ? match_by_refutation(&m, why) : match_by_tree(&m, why);
    if (status == MATCH_OK && m.pairs > budget)
        status = MATCH_BUDGET;
    *matches = m.pairs;
    tree_free(&m);
    cyclic_free(&m);
    return status;
}
