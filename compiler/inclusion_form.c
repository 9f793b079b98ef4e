/* Ways to make an object within those of a row.  Layer: see inclusion.h. */
#include "inclusion.h"

uint32_t inclusion_part_of(const struct upk_form *f, enum inclusion_part part) {
    switch (part) {
    case INCLUSION_ARGS: return f->args;
    case INCLUSION_KW: return f->kw;
    case INCLUSION_STATE: return f->state;
    case INCLUSION_ITEMS: return f->items;
    case INCLUSION_KEY: return f->pair_key;
    case INCLUSION_VALUE: return f->pair_value;
    case INCLUSION_ADDS: return f->adds;
    case INCLUSION_PARTS: break;
    }
    return 0;
}

/* Does a record take the empty dict?  Of no keywords nothing else is asked. */
static bool takes_none(const struct upk_policy *p, uint32_t record) {
    const struct upk_type *const t = &p->types[record];
    for (uint32_t k = 0; k < t->b; k++) {
        if (!p->fields[t->a + k].optional) return false;
    }
    return true;
}

/* A state that y's form does not have, or must have; other steps may always be left out.  Keywords let streams write a further
 * name, C.__new__, so that a form without them is never as much. */
bool inclusion_part(struct inclusion *i, const struct upk_form *x, const struct upk_form *y,
                    enum inclusion_part part) {
    const uint32_t here = inclusion_part_of(x, part), there = inclusion_part_of(y, part);
    const bool must = part == INCLUSION_STATE && there != 0 && !(y->flags & UPK_FORM_STATE_OPTIONAL);
    const bool may_lack = here == 0 || (x->flags & UPK_FORM_STATE_OPTIONAL);
    if (must && may_lack) return false;
    if (here == 0) return part != INCLUSION_KW || there == 0 || takes_none(i->y, there);
    return there != 0 && inclusion_type(i, here, there);
}

bool inclusion_check(const struct upk_form *x, const struct upk_form *y) {
    return y->check == UPK_CHECK_NONE || y->check == x->check;
}

bool inclusion_result(const struct inclusion *i, const struct upk_form *x, const struct upk_form *y) {
    return i->classes[x->result] == y->result;
}

static bool literals_equal(const struct inclusion *i, uint32_t here, uint32_t there) {
    const struct upk_type *const x = &i->x->types[here], *const y = &i->y->types[there];
    if (x->kind != y->kind) return false;
    if (x->kind == UPK_TYPE_INT_IS) {
        const struct upk_bound *const a = &i->x->bounds[x->a], *const b = &i->y->bounds[y->a];
        return a->lo[0] == b->lo[0] && a->lo[1] == b->lo[1] && ((a->negative ^ b->negative) & 1) == 0;
    }
    if (x->kind != UPK_TYPE_STR_IS && x->kind != UPK_TYPE_BYTES_IS) return true;
    return text_equal(policy_text(i->x, (struct upk_text){x->a, x->b}),
                      policy_text(i->y, (struct upk_text){y->a, y->b}));
}

bool inclusion_value(const struct inclusion *i, const struct upk_form *x, const struct upk_form *y) {
    return y->value == 0 || (x->value != 0 && literals_equal(i, x->value, y->value));
}

/* Verbs, classes, hooks, and how many arguments there are; what needs no look at types. */
static bool may_hold(const struct inclusion *i, const struct upk_form *x, const struct upk_form *y) {
    const bool joins = i->y->rows[y->row].special == UPK_SPECIAL_OR;
    if (x->verb != y->verb || !inclusion_result(i, x, y)) return false;
    if ((x->flags & ~y->flags & UPK_FORM_RUNS_ALL) != 0 || !inclusion_check(x, y) ||
        !inclusion_value(i, x, y))
        return false;
    /* Of what joins flags, what a template wrote takes less than its types say. */
    return !joins || !(y->flags & UPK_FORM_TEMPLATE) || x->flags & UPK_FORM_TEMPLATE;
}

/* Where a base of tuple leaves open which arguments there are, the runtime prefers those that are spread out, and the check sees
 * them.  More types may be taken for them under y where x's check saw the whole tuple: so x may have no such object. */
static bool check_sees_the_same(const struct inclusion *i, const struct upk_form *x,
                                const struct upk_form *y) {
    if (y->check == UPK_CHECK_NONE || x->verb != UPK_VERB_NEW || i->x->types[x->args].b == 0) return true;
    const uint32_t first = i->x->elems[i->x->types[x->args].a].type;
    const struct upk_type *const t = &i->x->types[first];
    const bool is_union = t->kind == UPK_TYPE_UNION;
    for (uint32_t k = 0; k < (is_union ? t->b : 1); k++) {
        const uint32_t kind = is_union ? i->x->types[i->x->alts[t->a + k]].kind : t->kind;
        if (kind == UPK_TYPE_TUPLE || kind == UPK_TYPE_ANY) return false;
    }
    return true;
}

static bool holds(struct inclusion *i, const struct upk_form *x, const struct upk_form *y) {
    if (!may_hold(i, x, y) || !check_sees_the_same(i, x, y)) return false;
    for (enum inclusion_part part = 0; part < INCLUSION_PARTS; part++) {
        if (!inclusion_part(i, x, y, part)) return false;
    }
    return true;
}

static bool is_alike(const struct inclusion *i, const struct upk_form *x, const struct upk_form *y) {
    bool alike = x->verb == y->verb;
    for (enum inclusion_part part = 0; part < INCLUSION_PARTS; part++) {
        const uint32_t here = inclusion_part_of(x, part), there = inclusion_part_of(y, part);
        alike = alike && i->x_alike[here] == i->y_alike[there];
    }
    return alike;
}

/* The first form that an object fits is its form, and where that one's check fails no other is tried.  So each that
 * stands before the one that holds must be without a check that x's form does not make, or be of another verb or class, for then no
 * object fits both (upk_tables.h). */
static bool is_reached(const struct inclusion *i, const struct upk_form *x, const struct upk_row *row,
                       uint32_t form) {
    for (uint32_t k = row->first_form; k < form; k++) {
        const struct upk_form *const y = &i->y->forms[k];
        if (x->verb == y->verb && inclusion_result(i, x, y) && !inclusion_check(x, y)) return false;
    }
    return true;
}

static bool some_holds(struct inclusion *i, const struct upk_form *x, const struct upk_row *row, bool alike) {
    for (uint32_t k = row->first_form; k < row->first_form + row->form_count; k++) {
        const struct upk_form *const y = &i->y->forms[k];
        if (!inclusion_spend(i, 1)) return false;
        if (is_alike(i, x, y) == alike && holds(i, x, y)) return is_reached(i, x, row, k);
    }
    return false;
}

bool inclusion_form(struct inclusion *i, uint32_t form, uint32_t row) {
    const struct upk_form *const x = &i->x->forms[form];
    const struct upk_row *const r = &i->y->rows[row];
    return some_holds(i, x, r, true) || some_holds(i, x, r, false);
}

/* Does a dict look at what is in such an object, as soon as it is a key?  (freeze.c of the runtime) */
static bool is_looked_into(const struct upk_policy *p, const struct upk_row *row) {
    for (uint32_t k = row->first_form; k < row->first_form + row->form_count; k++) {
        if (p->forms[k].flags & (UPK_FORM_RUNS_EQUALITY | UPK_FORM_TEMPLATE)) return true;
    }
    return false;
}

static bool makes_from_nothing(const struct upk_policy *p, const struct upk_row *row) {
    for (uint32_t k = row->first_form; k < row->first_form + row->form_count; k++) {
        const struct upk_type *const args = &p->types[p->forms[k].args];
        if (p->forms[k].verb == UPK_VERB_NEW && (args->b == (args->c & 0xffffff) || args->c >> 24))
            return true;
    }
    return false;
}

bool inclusion_frozen(const struct inclusion *i, uint32_t x, uint32_t y) {
    const struct upk_row *const here = &i->x->rows[x], *const there = &i->y->rows[y];
    return !makes_from_nothing(i->x, here) || is_looked_into(i->x, here) || !is_looked_into(i->y, there);
}

static uint64_t most_calls(const struct upk_policy *p, const struct upk_row *row) {
    const uint64_t all = p->budgets[UPK_BUDGET_CALLS];
    return row->calls != 0 && row->calls < all ? row->calls : all;
}

bool inclusion_calls(const struct inclusion *i, uint32_t x, uint32_t y) {
    const struct upk_row *const there = &i->y->rows[y];
    return there->calls == 0 || most_calls(i->x, &i->x->rows[x]) <= there->calls;
}
