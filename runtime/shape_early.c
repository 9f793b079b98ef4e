/* Objects that are matched while decoding, as soon as they cannot change and their parts are still in the caches.
 *
 * Records of the same class come in rows: what the last one of its kind has shown is asked again by a compare or two.  Whatever
 * that does not settle goes the way of all goals, and then nothing counts of what was tried.
 * Layer: runtime, part of matching (match.h).
 */
#include <string.h>

#include "check.h"

static struct matcher *matcher_new(struct upk_doc *doc) {
    struct matcher *m = mem_resize(&doc->mem, NULL, 0, sizeof *m);
    if (!m) return NULL;
    matcher_init(m, doc);
    m->budget = m->policy->budgets[UPK_BUDGET_MATCHES];
    return doc->matcher = m;
}

/* How an object was made, as far as bars of forms look at that where it has no `more`. */
static inline uint64_t how_made(const struct object *o) {
    const uint32_t steps = CELL_BUILT | CELL_DID_ITEMS | CELL_DID_PAIRS | CELL_DID_ADDS;
    return (uint64_t)o->args->len << 32 | (o->cell.flags & steps) << 8 | o->cell.index;
}

/* No bar of the form stops this object, which has no `more`. */
static inline bool no_bar(struct matcher *m, const struct object *o, uint32_t form,
                          const struct upk_form *f) {
    const uint64_t made = how_made(o);
    struct made_memo *const memo = &m->made[form % MADE_MEMOS];
    if (memo->form == form && memo->made == made) return true;
    if (form_bars(m, o, f) != BAR_NONE) return false;
    if (m->policy->rows[o->cell.len].special == UPK_SPECIAL_OR) return true; /* operands count too */
    *memo = (struct made_memo){.made = made, .form = form};
    return true;
}

static inline bool one_fits(struct matcher *m, struct upk_value v, uint32_t type) {
    struct part part;
    return value_fits(m, v, type, &part) == FIT_YES && m->pairs <= m->budget;
}

/* A state of a few members, each of which is decided by a look, as those of an array are: without a goal for it, which would begin
 * with the arguments again.  Where that was in vain it counts all the same, for nothing else bounds it. */
static bool few_members_fit(struct matcher *m, struct upk_value state, uint32_t type, uint64_t *in_vain) {
    struct part whole, part;
    enum fit fit = value_fits(m, state, type, &whole);
    if (fit == FIT_OPEN && whole.goal.what == GOAL_TYPE) {
        struct cursor all = {0};
        const uint64_t before = m->pairs;
        fit = goal_next(m, &whole.goal, &all, &part);
        if (fit != FIT_YES) *in_vain = m->pairs - before;
    }
    return fit == FIT_YES && m->pairs <= m->budget;
}

/* Arguments and a state that are decided at once, as a rule.  False says nothing. */
__attribute__((always_inline)) static inline bool plainly_fits(struct matcher *m, const struct object *o,
                                                               uint32_t form, uint64_t *in_vain) {
    const struct upk_form *f = &m->policy->forms[form];
    if (o->more || f->kw || !no_bar(m, o, form, f)) return false;
    m->pairs++;
    const struct upk_type *t = &m->policy->types[f->args];
    for (uint32_t i = 0; i < o->args->len; i++)
        if (!one_fits(m, o->args->items[i], tuple_element(m, t, i))) return false;
    if (o->state.kind == UPK_INVALID) return true;
    if (kind_is_container(o->state.kind) && o->state.as.cell->flags & CELL_HAS_CELL)
        return few_members_fit(m, o->state, f->state, in_vain);
    if (o->state.kind != UPK_DICT || m->policy->types[f->state].kind != UPK_TYPE_RECORD)
        return one_fits(m, o->state, f->state);
    struct part part;
    m->pairs++;
    return flat_record_fits(m, o->state.as.cell, f->state, &part) == FIT_YES && m->pairs <= m->budget;
}

/* The form fits, and its check holds, if it has one; else the document is refused at STOP. */
static inline void settle(struct matcher *m, struct object *o, uint32_t form) {
    if (m->policy->forms[form].check && !check_object(m, o, form, NULL, 0)) return;
    o->cell.cap = form;
    m->doc->unjudged--;
}

/* Where that says nothing, nothing counts of what was tried but what was in vain. */
__attribute__((always_inline)) static inline bool plain_fit(struct matcher *m, const struct object *o,
                                                            uint32_t form) {
    const uint64_t pairs = m->pairs;
    uint64_t in_vain = 0;
    if (plainly_fits(m, o, form, &in_vain)) return true;
    m->pairs = pairs + in_vain;
    return false;
}

static enum fit goal_fit(struct matcher *m, struct object *o, uint32_t form) {
    const struct goal g = {.cell = &o->cell, .index = form, .what = GOAL_FORM};
    struct cursor all = {0};
    struct part part;
    return goal_next(m, &g, &all, &part);
}

/* The first form did not fit plainly. */
__attribute__((noinline)) static void match_forms(struct matcher *m, struct object *o,
                                                  const struct upk_row *row) {
    uint32_t form = row->first_form;
    enum fit fit = goal_fit(m, o, form);
    while (fit == FIT_NO && ++form < row->first_form + row->form_count)
        fit = plain_fit(m, o, form) ? FIT_YES : goal_fit(m, o, form);
    if (fit == FIT_YES) settle(m, o, form);
}

/* Apart, so that what comes before needs nothing of what is saved for it. */
__attribute__((noinline)) static bool match_first(struct matcher *m, struct object *o,
                                                  const struct upk_row *row) {
    m->any_at_once = !m->doc->stale && !m->doc->used_up;
    if (plain_fit(m, o, row->first_form)) {
        settle(m, o, row->first_form);
    } else {
        match_forms(m, o, row);
    }
    return true;
}

/* An object made like one before, without arguments and with a state of single values under keys that are known, by a
 * form without a check: what plainly_fits says of it, in half as many instructions. */
static inline bool is_sure_record(struct matcher *m, const struct object *o, uint32_t form) {
    if (o->state.kind != UPK_DICT || o->args->len) return false;
    const struct upk_form *const f = &m->policy->forms[form];
    const struct made_memo *const made = &m->made[form % MADE_MEMOS];
    if (f->kw | f->check) return false;
    if (made->form != form || made->made != how_made(o)) return false;
    const struct upk_cell *const state = o->state.as.cell;
    const struct record_memo *const memo = record_noted(m, state, f->state);
    const uint64_t pairs = 2 + state->len / 2;
    if (!memo || state->flags & CELL_HAS_CELL || pairs > m->budget - m->pairs) return false;
    if (!record_is_sure(state, memo)) return false;
    m->pairs += pairs;
    return true;
}

/* The first object of a document. */
__attribute__((noinline)) static bool match_at_first(struct upk_doc *doc, struct object *o) {
    return matcher_new(doc) && match_early(doc, o);
}

bool match_early(struct upk_doc *doc, struct object *o) {
    struct matcher *const m = doc->matcher;
    if (!m) return match_at_first(doc, o);
    if (m->pairs > m->budget) return true; /* match_document says so */
    const struct upk_row *const row = &m->policy->rows[o->cell.len];
    if (!is_sure_record(m, o, row->first_form)) return match_first(m, o, row);
    o->cell.cap = row->first_form;
    doc->unjudged--;
    return true;
}
