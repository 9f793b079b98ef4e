/* What a pair of value and type asks of the values below it.
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <string.h>

#include "match.h"

#define KIND(k) (1u << UPK_##k)

/* Kinds of value that a type takes at all. */
static const uint32_t kinds_of[UPK_TYPE_COUNT] = {
    [UPK_TYPE_ANY] = KIND(NONE) | KIND(BOOL) | KIND(INT) | KIND(BIGINT) | KIND(FLOAT) | KIND(STR) |
                     KIND(STR8) | KIND(BYTES) | KIND(BYTEARRAY) | KIND(GLOBAL) | KIND(TUPLE) |
                     KIND(FROZENSET) | KIND(LIST) | KIND(DICT) | KIND(SET) | KIND(OBJECT),
    [UPK_TYPE_NONE] = KIND(NONE),
    [UPK_TYPE_BOOL] = KIND(BOOL),
    [UPK_TYPE_TRUE] = KIND(BOOL),
    [UPK_TYPE_FALSE] = KIND(BOOL),
    [UPK_TYPE_INT] = KIND(INT) | KIND(BIGINT),
    [UPK_TYPE_FLOAT] = KIND(FLOAT),
    [UPK_TYPE_FINITE] = KIND(FLOAT),
    [UPK_TYPE_STR] = KIND(STR) | KIND(STR8),
    [UPK_TYPE_TEXT] = KIND(STR) | KIND(STR8),
    [UPK_TYPE_BYTES] = KIND(BYTES) | KIND(STR8),
    [UPK_TYPE_BYTEARRAY] = KIND(BYTEARRAY),
    [UPK_TYPE_BUFFER] = KIND(BUFFER),
    [UPK_TYPE_INT_IS] = KIND(INT) | KIND(BIGINT),
    [UPK_TYPE_STR_IS] = KIND(STR) | KIND(STR8),
    [UPK_TYPE_BYTES_IS] = KIND(BYTES) | KIND(STR8),
    [UPK_TYPE_LIST] = KIND(LIST),
    [UPK_TYPE_SET] = KIND(SET),
    [UPK_TYPE_FROZENSET] = KIND(FROZENSET),
    [UPK_TYPE_DICT] = KIND(DICT),
    [UPK_TYPE_TUPLE] = KIND(TUPLE),
    [UPK_TYPE_PLACES] = KIND(LIST),
    [UPK_TYPE_RECORD] = KIND(DICT),
    [UPK_TYPE_UNION] = UINT32_MAX,
    [UPK_TYPE_OBJECT] = KIND(OBJECT) | KIND(GLOBAL),
    [UPK_TYPE_REF] = KIND(GLOBAL),
    [UPK_TYPE_PERSID] = KIND(PERSID),
    [UPK_TYPE_INSTANCE] = KIND(OBJECT) | KIND(GLOBAL),
};

bool kind_fits(const struct upk_type *t, unsigned kind) { return kinds_of[t->kind] >> kind & 1; }

/* ---- objects and names */

static uint32_t members(const struct upk_cell *c) { return c ? c->len : 0; }

/* Number of items, or of pairs. */
static uint64_t object_length(const struct object *o) {
    const struct object_more *more = o->more;
    if (!more) return 0;
    uint64_t base = members(more->base), pairs = members(more->pairs),
             n = members(more->items) + (uint64_t)members(more->adds);
    if (more->base && more->base->kind == UPK_DICT)
        pairs += base;
    else
        n += base;
    return n + pairs / 2;
}

static bool class_fits(const struct matcher *m, uint32_t class, const struct upk_type *t) {
    if (t->kind == UPK_TYPE_OBJECT) return class == t->a;
    const uint32_t *alts = m->policy->alts + t->a;
    for (uint32_t lo = 0, hi = t->b; lo < hi;) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (alts[mid] == class) return true;
        if (alts[mid] < class)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static bool verb_fits(uint32_t form, uint32_t made) {
    return form == made || (form == UPK_VERB_FUNC && made == UPK_VERB_CALL);
}

static const struct upk_row *row_of(const struct matcher *m, const struct upk_cell *c) {
    return &m->policy->rows[c->len];
}

/* A row may have thousands of forms, so that looking through them counts. */
static void charge_forms(struct matcher *m, size_t n) {
    enum { FORMS_A_PAIR = 4 };
    m->pairs += n / FORMS_A_PAIR;
}

/* A name stands for an object where it is granted as data that results in a class (a member of an enum). */
static enum fit name_is_instance(struct matcher *m, const struct upk_cell *c, const struct upk_type *t) {
    const struct upk_row *row = row_of(m, c);
    charge_forms(m, row->form_count);
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct upk_form *f = &m->policy->forms[row->first_form + i];
        if (f->verb == UPK_VERB_CONST && class_fits(m, f->result, t) && t->lo == 0) return FIT_YES;
    }
    return FIT_NO;
}

/* Of an object whose form is found the class is known: forms of one row that differ in it take different objects
 * (upk_tables.h).  Of another one the forms are asked, unless they agree. */
static enum fit object_is_instance(struct matcher *m, struct upk_cell *c, const struct upk_type *t,
                                   struct part *part) {
    const struct upk_row *row = row_of(m, c);
    if (!length_fits(object_length(as_object(c)), t)) return FIT_NO;
    if (c->cap) return class_fits(m, m->policy->forms[c->cap].result, t) ? FIT_YES : FIT_NO;
    uint32_t fits = 0, all = 0;
    charge_forms(m, row->form_count);
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct upk_form *f = &m->policy->forms[row->first_form + i];
        if (!verb_fits(f->verb, c->index)) continue;
        all++;
        fits += class_fits(m, f->result, t);
    }
    if (fits == 0) return FIT_NO;
    if (fits == all) return FIT_YES;
    part->again = true;
    return FIT_OPEN;
}

/* ---- one value */

static enum fit next_of_type(struct matcher *m, const struct goal *g, struct cursor *c, struct part *part);

static enum fit any_fits(const struct matcher *m, struct upk_value v) {
    switch (v.kind) {
    case UPK_GLOBAL: return row_of(m, v.as.cell)->flags & UPK_ROW_CONST ? FIT_YES : FIT_NO;
    case UPK_OBJECT: return v.as.cell->index == UPK_VERB_NONE ? FIT_NO : FIT_YES;
    case UPK_TUPLE:
    case UPK_FROZENSET:
    case UPK_LIST:
    case UPK_DICT:
    case UPK_SET:
        if (v.as.cell->len == 0 || (m->any_at_once && !(v.as.cell->flags & CELL_ODD))) return FIT_YES;
        return FIT_OPEN;
    default: return FIT_YES;
    }
}

/* Members of which nothing needs to be asked. */
static bool is_any(const struct matcher *m, uint32_t type, const struct upk_cell *c) {
    return m->policy->types[type].kind == UPK_TYPE_ANY && m->any_at_once && !(c->flags & CELL_ODD);
}

static enum fit list_fits(const struct matcher *m, const struct upk_cell *c, const struct upk_type *t) {
    if (!length_fits(c->len, t)) return FIT_NO;
    return c->len == 0 || is_any(m, t->a, c) ? FIT_YES : FIT_OPEN;
}

static enum fit dict_fits(const struct matcher *m, const struct upk_cell *c, const struct upk_type *t) {
    if (!length_fits(c->len / 2, t)) return FIT_NO;
    return c->len == 0 || (is_any(m, t->a, c) && is_any(m, t->b, c)) ? FIT_YES : FIT_OPEN;
}

static bool tuple_count_fits(size_t n, const struct upk_type *t) {
    uint32_t repeats = t->c >> 24, optional = t->c & 0xffffff;
    uint32_t fixed = t->b - (repeats != 0);
    return n >= fixed - optional && (repeats || n <= fixed) && length_fits(n, t);
}

static enum fit tuple_fits(const struct upk_cell *c, const struct upk_type *t) {
    if (!tuple_count_fits(c->len, t)) return FIT_NO;
    return c->len == 0 ? FIT_YES : FIT_OPEN;
}

static enum fit plain_fits(struct matcher *m, struct upk_value v, const struct upk_type *t,
                           struct part *part) {
    m->pairs++;
    switch (t->kind) {
    case UPK_TYPE_ANY: return any_fits(m, v);
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET: return list_fits(m, v.as.cell, t);
    case UPK_TYPE_DICT: return dict_fits(m, v.as.cell, t);
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return tuple_fits(v.as.cell, t);
    case UPK_TYPE_RECORD:
    case UPK_TYPE_PERSID: return FIT_OPEN;
    case UPK_TYPE_OBJECT:
    case UPK_TYPE_INSTANCE:
        return v.kind == UPK_OBJECT ? object_is_instance(m, v.as.cell, t, part)
                                    : name_is_instance(m, v.as.cell, t);
    default: return leaf_fits(m, v, t) ? FIT_YES : FIT_NO;
    }
}

/* Returns the one alternative that is left where no other can fit; the union itself where there are
 * several. */
static enum fit union_fits(struct matcher *m, struct upk_value v, const struct upk_type *t, uint32_t *type,
                           struct part *part) {
    uint32_t open = 0, self = *type;
    for (uint32_t i = 0; i < t->b; i++) {
        uint32_t alt = m->policy->alts[t->a + i];
        const struct upk_type *a = &m->policy->types[alt];
        if (!kind_fits(a, v.kind)) continue;
        enum fit fit = plain_fits(m, v, a, part);
        if (fit == FIT_YES) return FIT_YES;
        if (fit == FIT_OPEN) {
            *type = open++ ? self : alt;
        }
    }
    return open ? FIT_OPEN : FIT_NO;
}

/* A container without compound members, against a type that looks at each member once: decided here, for no
 * member of it can open a goal (INVARIANT).  A large one with several users is better remembered. */
static bool is_flat(const struct upk_cell *c, const struct upk_type *t) {
    enum { SMALL = 32 };
    bool container = t->kind >= UPK_TYPE_LIST && t->kind <= UPK_TYPE_RECORD;
    return container && !(c->flags & CELL_HAS_CELL) && (c->len <= SMALL || !(c->flags & CELL_SHARED));
}

static uint32_t sure_of_plain(const struct upk_type *t) {
    bool bounded = t->lo > 0 || t->hi < UINT64_MAX;
    switch (t->kind) {
    case UPK_TYPE_ANY: return kinds_of[UPK_TYPE_ANY] & ((1u << UPK_GLOBAL) - 1);
    case UPK_TYPE_NONE:
    case UPK_TYPE_BOOL:
    case UPK_TYPE_FLOAT: return kinds_of[t->kind];
    case UPK_TYPE_INT: return t->a || t->b ? 0 : kinds_of[UPK_TYPE_INT];
    case UPK_TYPE_STR: return bounded || t->a ? 0 : KIND(STR);
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY: return bounded ? 0 : kinds_of[t->kind];
    default: return 0;
    }
}

uint32_t sure_kinds(struct matcher *m, uint32_t type) {
    struct sure_memo *sure = &m->sure[type % SURE_MEMOS];
    if (sure->type == type) return sure->kinds;
    const struct upk_policy *p = m->policy;
    const struct upk_type *t = &p->types[type];
    *sure = (struct sure_memo){.type = type, .kinds = sure_of_plain(t)};
    for (uint32_t i = 0; t->kind == UPK_TYPE_UNION && i < t->b; i++)
        sure->kinds |= sure_of_plain(&p->types[p->alts[t->a + i]]);
    return sure->kinds;
}

/* All but a single value against a type of such.  Apart, so that those need none of what is saved for this. */
__attribute__((noinline)) static enum fit compound_fits(struct matcher *m, struct upk_value v, uint32_t type,
                                                        const struct upk_type *t, struct part *part) {
    if (v.kind == UPK_DICT && t->kind == UPK_TYPE_RECORD && is_flat(v.as.cell, t)) {
        m->pairs++;
        return flat_record_fits(m, v.as.cell, type, part);
    }
    part->again = false;
    if (v.kind == UPK_OBJECT) {
        part->again = v.as.cell->flags & CELL_SHARED;
        v = value_resolve(v);
    }
    if (!kind_fits(t, v.kind)) return FIT_NO;
    enum fit fit = t->kind == UPK_TYPE_UNION ? union_fits(m, v, t, &type, part) : plain_fits(m, v, t, part);
    if (fit == FIT_OPEN) {
        part->again = part->again || v.as.cell->flags & CELL_SHARED;
        part->goal = (struct goal){.cell = v.as.cell, .index = type, .what = GOAL_TYPE};
        if (is_flat(v.as.cell, &m->policy->types[type])) {
            struct cursor all = {0};
            struct part none;
            fit = next_of_type(m, &part->goal, &all, &none);
            assert(fit != FIT_OPEN);
        }
    }
    return fit;
}

/* Of a type that was not met lately. */
__attribute__((noinline)) static enum fit fits_at_first(struct matcher *m, struct upk_value v, uint32_t type,
                                                        struct part *part) {
    (void)sure_kinds(m, type);
    return value_fits_by_look(m, v, type, part);
}

_Static_assert(FIT_NO == false && FIT_YES == true, "a verdict on a leaf is one on its fit");

/* All calls are the last thing done: nothing is saved for them. */
enum fit value_fits_by_look(struct matcher *m, struct upk_value v, uint32_t type, struct part *part) {
    const struct upk_type *t = &m->policy->types[type];
    if (m->sure[type % SURE_MEMOS].type != type) return fits_at_first(m, v, type, part);
    if (v.kind >= UPK_BUFFER || t->kind >= UPK_TYPE_LIST) return compound_fits(m, v, type, t, part);
    if (!kind_fits(t, v.kind)) return FIT_NO;
    m->pairs++;
    return (enum fit)leaf_fits(m, v, t);
}

/* ---- parts of a compound */

/* Values that take two types in turn: keys and values of a dict; members of anything else, twice the same. */
static enum fit next_of(struct matcher *m, const struct upk_value *v, size_t n, uint32_t even, uint32_t odd,
                        struct cursor *c, struct part *part) {
    while (c->at < n) {
        uint32_t type = c->at & 1 ? odd : even;
        enum fit fit = value_fits(m, v[c->at], type, part);
        if (fit == FIT_NO || m->pairs > m->budget) return FIT_NO; /* the prover looks at the budget first */
        c->at++;
        if (fit == FIT_OPEN) return FIT_OPEN;
    }
    return FIT_YES;
}

static enum fit next_element(struct matcher *m, const struct upk_cell *tuple, const struct upk_type *t,
                             struct cursor *c, struct part *part) {
    while (c->at < tuple->len) {
        enum fit fit = value_fits(m, tuple->items[c->at], tuple_element(m, t, c->at), part);
        if (fit == FIT_NO || m->pairs > m->budget) return FIT_NO; /* the prover looks at the budget first */
        c->at++;
        if (fit == FIT_OPEN) {
            part->again = part->again || tuple->flags & CELL_SHARED; /* arguments of many calls */
            return FIT_OPEN;
        }
    }
    return FIT_YES;
}

/* ---- forms */

enum form_step { STEP_ARGS, STEP_KW, STEP_STATE, STEP_BASE, STEP_ITEMS, STEP_PAIRS, STEP_ADDS, STEP_END };

static bool base_is(const struct object *o, unsigned kind) {
    return o->more && o->more->base && o->more->base->kind == kind && o->more->base->len > 0;
}

/* Python takes a flag of several bits apart from one side: of two operands the second is a member, made by no such call
 * (enum.py, Flag.__reduce_ex__ of CPython 3.11.2). */
static bool joins_on_the_right(const struct matcher *m, const struct object *o, const struct upk_form *f) {
    const struct upk_row *const rows = m->policy->rows;
    if (rows[o->cell.len].special != UPK_SPECIAL_OR || !(f->flags & UPK_FORM_TEMPLATE)) return false;
    const struct upk_cell *const args = object_args(o);
    if (args->len != 2) return false;
    const struct upk_value right = value_resolve(args->items[1]);
    return right.kind == UPK_OBJECT && rows[right.as.cell->len].special == UPK_SPECIAL_OR;
}

enum form_bar form_bars(const struct matcher *m, const struct object *o, const struct upk_form *f) {
    const uint32_t flags = o->cell.flags;
    if (!verb_fits(f->verb, o->cell.index)) return BAR_VERB;
    if (!(flags & CELL_SPREAD) && !tuple_count_fits(object_args(o)->len, &m->policy->types[f->args]))
        return BAR_COUNT;
    if (!f->kw && o->more && members(o->more->kw)) return BAR_KEYWORDS;
    if (f->state && !(flags & CELL_BUILT) && !(f->flags & UPK_FORM_STATE_OPTIONAL)) return BAR_NO_STATE;
    if (!f->state && flags & CELL_BUILT) return BAR_STATE;
    if (!f->items && (flags & CELL_DID_ITEMS || base_is(o, UPK_LIST))) return BAR_ITEMS;
    if (!f->pair_value && (flags & CELL_DID_PAIRS || base_is(o, UPK_DICT))) return BAR_PAIRS;
    if (!f->adds && flags & CELL_DID_ADDS) return BAR_ADDS;
    return joins_on_the_right(m, o, f) ? BAR_OPERAND : BAR_NONE;
}

static enum fit next_members(struct matcher *m, const struct upk_cell *of, uint32_t even, uint32_t odd,
                             struct cursor *c, struct part *part) {
    return of ? next_of(m, of->items, of->len, even, odd, c, part) : FIT_YES;
}

static enum fit next_argument(struct matcher *m, const struct goal *g, const struct upk_form *f,
                              struct cursor *c, struct part *part) {
    if (!(g->cell->flags & CELL_SPREAD))
        return next_element(m, object_args(as_object(g->cell)), &m->policy->types[f->args], c, part);
    if (c->at++ > 0) return FIT_YES;
    *part = (struct part){.goal = {.cell = g->cell, .index = g->index, .what = GOAL_SPREAD}};
    return FIT_OPEN;
}

/* No keywords at all are an empty record. */
static enum fit next_keyword(struct matcher *m, const struct object *o, uint32_t type, struct cursor *c,
                             struct part *part) {
    static const struct upk_cell none = {.kind = UPK_DICT};
    const struct upk_cell *kw = o->more && o->more->kw ? o->more->kw : &none;
    return type ? next_field(m, kw, type, c, part) : FIT_YES;
}

static enum fit next_state(struct matcher *m, const struct object *o, uint32_t type, struct cursor *c,
                           struct part *part) {
    return o->state.kind == UPK_INVALID ? FIT_YES : next_of(m, &o->state, 1, type, type, c, part);
}

static enum fit next_step(struct matcher *m, const struct goal *g, const struct upk_form *f, struct cursor *c,
                          struct part *part) {
    static const struct object_more nothing = {0};
    const struct object *o = as_object(g->cell);
    const struct object_more *more = o->more ? o->more : &nothing;
    switch ((enum form_step)c->step) {
    case STEP_ARGS: return next_argument(m, g, f, c, part);
    case STEP_KW: return next_keyword(m, o, f->kw, c, part);
    case STEP_STATE: return next_state(m, o, f->state, c, part);
    case STEP_BASE:
        if (base_is(o, UPK_LIST)) return next_members(m, more->base, f->items, f->items, c, part);
        return base_is(o, UPK_DICT) ? next_members(m, more->base, f->pair_key, f->pair_value, c, part)
                                    : FIT_YES;
    case STEP_ITEMS: return next_members(m, more->items, f->items, f->items, c, part);
    case STEP_PAIRS: return next_members(m, more->pairs, f->pair_key, f->pair_value, c, part);
    case STEP_ADDS: return next_members(m, more->adds, f->adds, f->adds, c, part);
    case STEP_END: break;
    }
    return FIT_YES;
}

static enum fit next_of_form(struct matcher *m, const struct goal *g, struct cursor *c, struct part *part) {
    const struct upk_form *f = &m->policy->forms[g->index];
    if (c->step == STEP_ARGS && c->at == 0) {
        m->pairs++;
        if (form_bars(m, as_object(g->cell), f) != BAR_NONE) return FIT_NO;
    }
    for (; c->step < STEP_END; c->step++, c->at = 0, c->found = 0) {
        enum fit fit = next_step(m, g, f, c, part);
        if (fit != FIT_YES) return fit;
    }
    return FIT_YES;
}

/* ---- goals of one */

static enum fit next_alternative(struct matcher *m, const struct goal *g, const struct upk_type *t,
                                 struct cursor *c, struct part *part) {
    struct upk_value v = value_of_cell(g->cell);
    while (c->at < t->b) {
        uint32_t alt = m->policy->alts[t->a + c->at++];
        if (!kind_fits(&m->policy->types[alt], v.kind)) continue;
        enum fit fit = value_fits(m, v, alt, part);
        if (fit != FIT_NO) return fit;
    }
    return FIT_NO;
}

/* Forms of the object's row that result in a class of t; all of them where t is NULL. */
static enum fit next_form(struct matcher *m, const struct goal *g, const struct upk_type *t, struct cursor *c,
                          struct part *part) {
    const struct upk_row *row = row_of(m, g->cell);
    if (c->at == 0) charge_forms(m, row->form_count);
    while (c->at < row->form_count) {
        uint32_t form = row->first_form + (uint32_t)c->at++;
        const struct upk_form *f = &m->policy->forms[form];
        if (!verb_fits(f->verb, g->cell->index) || (t && !class_fits(m, f->result, t))) continue;
        *part =
            (struct part){.goal = {.cell = g->cell, .index = form, .what = GOAL_FORM}, .again = t != NULL};
        return FIT_OPEN;
    }
    return FIT_NO;
}

static enum fit next_spread(struct matcher *m, const struct goal *g, struct cursor *c, struct part *part) {
    struct upk_cell *whole = object_args(as_object(g->cell));
    uint32_t args = m->policy->forms[g->index].args;
    while (c->at < 2) {
        struct upk_value v = c->at++ == 0 ? value_resolve(whole->items[0]) : value_of_cell(whole);
        enum fit fit = value_fits(m, v, args, part);
        if (fit != FIT_NO) return fit;
    }
    return FIT_NO;
}

bool goal_is_one_of(const struct matcher *m, const struct goal *g) {
    if (g->what != GOAL_TYPE) return g->what != GOAL_FORM;
    uint32_t kind = m->policy->types[g->index].kind;
    return kind == UPK_TYPE_UNION || kind == UPK_TYPE_OBJECT || kind == UPK_TYPE_INSTANCE;
}

static enum fit next_of_type(struct matcher *m, const struct goal *g, struct cursor *c, struct part *part) {
    const struct upk_type *t = &m->policy->types[g->index];
    const struct upk_cell *cell = g->cell;
    switch (t->kind) {
    case UPK_TYPE_ANY: return next_of(m, cell->items, cell->len, g->index, g->index, c, part);
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET: return next_of(m, cell->items, cell->len, t->a, t->a, c, part);
    case UPK_TYPE_DICT: return next_of(m, cell->items, cell->len, t->a, t->b, c, part);
    case UPK_TYPE_PERSID: return next_of(m, cell->items, 1, t->a, t->a, c, part);
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return next_element(m, cell, t, c, part);
    case UPK_TYPE_RECORD: return next_field(m, cell, g->index, c, part);
    case UPK_TYPE_UNION: return next_alternative(m, g, t, c, part);
    case UPK_TYPE_OBJECT:
    case UPK_TYPE_INSTANCE: return next_form(m, g, t, c, part);
    default: return FIT_NO; /* single values are never goals */
    }
}

enum fit goal_next(struct matcher *m, const struct goal *g, struct cursor *c, struct part *part) {
    switch ((enum goal_what)g->what) {
    case GOAL_TYPE: return next_of_type(m, g, c, part);
    case GOAL_OBJECT: return next_form(m, g, NULL, c, part);
    case GOAL_FORM: return next_of_form(m, g, c, part);
    case GOAL_SPREAD: return next_spread(m, g, c, part);
    }
    return FIT_NO;
}
