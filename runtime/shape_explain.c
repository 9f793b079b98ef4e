/* The reason of a refusal: from the object or the root down to the value that does not fit, and the form
 * that came nearest.
 *
 * Asks the prover about one value after the other, with a budget of its own: on a graph that exceeds it the
 * reason stops further up.
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <inttypes.h>
#include <string.h>

#include "match.h"

enum { EXPLAIN_PAIRS = 1000000, DOWN_MOST = 64, NAME_ROOM = 40 };

struct fault {
    struct upk_value value;
    uint32_t type;
    struct upk_cell *inside; /* the compound that the value is a member of; NULL: none yet */
    char last[80], note[80]; /* the step into `value`; what is wrong where a type would not say it */
    char path_room[60];
    struct text path; /* steps below where the search began */
};

static void set_text(char *to, size_t size, const char *words, const uint8_t *name, size_t len) {
    char copy[NAME_ROOM];
    error_copy(copy, sizeof copy, name, len);
    struct text t = text_in(to, size);
    text_add(&t, words, copy);
}

/* What is not known to fail, for lack of budget or memory, counts as fitting. */
static bool goal_holds(struct matcher *m, const struct goal *g) {
    if (m->cyclic) return !cyclic_refuted(m, g);
    bool proved = true;
    return tree_prove(m, g, &proved) != MATCH_OK || proved;
}

static bool holds(struct matcher *m, struct upk_value v, uint32_t type) {
    struct part part;
    enum fit fit = value_fits(m, v, type, &part);
    return fit == FIT_OPEN ? goal_holds(m, &part.goal) : fit == FIT_YES;
}

/* A reason that stands in the value itself is better than one further down: members are asked twice, and on
 * a cycle the way down would have no end. */
enum pass { PASS_ITSELF, PASS_BELOW, PASSES };

static bool fails(struct matcher *m, struct upk_value v, uint32_t type, unsigned pass) {
    struct part part;
    enum fit fit = value_fits(m, v, type, &part);
    return pass == PASS_ITSELF ? fit == FIT_NO : fit == FIT_OPEN && !goal_holds(m, &part.goal);
}

/* ---- one step down; false: the value itself is at fault */

static bool step_to(struct fault *f, struct upk_value v, uint32_t type, const char *word, size_t number) {
    f->inside = value_resolve(f->value).as.cell;
    f->value = v;
    f->type = type;
    struct text last = text_in(f->last, sizeof f->last);
    text_add(&last, "%s %zu", word, number);
    text_add_index(&f->path, number);
    return true;
}

static bool down_members(struct matcher *m, struct fault *f, const struct upk_cell *c,
                         const struct upk_type *t) {
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < c->len; i++) {
            uint32_t type = t->kind == UPK_TYPE_TUPLE || t->kind == UPK_TYPE_PLACES ? tuple_element(m, t, i)
                            : t->kind == UPK_TYPE_ANY                               ? f->type
                                                                                    : t->a;
            if (!type) return false;
            if (fails(m, c->items[i], type, pass)) return step_to(f, c->items[i], type, "member", i);
        }
    }
    return false;
}

static bool down_pairs(struct matcher *m, struct fault *f, const struct upk_cell *c, uint32_t key,
                       uint32_t value) {
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < c->len; i++) {
            uint32_t type = i & 1 ? value : key;
            if (fails(m, c->items[i], type, pass))
                return step_to(f, c->items[i], type, i & 1 ? "value" : "key", i / 2);
        }
    }
    return false;
}

static bool step_to_key(struct fault *f, struct upk_value key, struct upk_value v, uint32_t type) {
    f->inside = value_resolve(f->value).as.cell;
    f->value = v;
    f->type = type;
    set_text(f->last, sizeof f->last, "key `%s`", key.as.bytes, key.len);
    text_add_key(&f->path, key);
    return true;
}

static bool has_key(struct matcher *m, const struct upk_cell *c, uint32_t type, uint32_t field) {
    if (m->pairs > m->budget) return true;
    m->pairs += c->len;
    for (uint32_t i = 0; i < c->len; i += 2) {
        if (record_field(m, type, value_resolve(c->items[i])) == field) return true;
    }
    return false;
}

/* Keys that are wrong; fills the note. */
static bool has_wrong_keys(struct matcher *m, struct fault *f, const struct upk_cell *c) {
    const struct upk_type *t = &m->policy->types[f->type];
    for (uint32_t i = 0; i < c->len; i += 2) {
        struct upk_value key = value_resolve(c->items[i]);
        if (!value_is_str(key)) {
            struct text note = text_in(f->note, sizeof f->note);
            text_add(&note, "key %" PRIu32 " is not a str", i / 2);
            return true;
        }
        if (!t->c && record_field(m, f->type, key) == UINT32_MAX) {
            set_text(f->note, sizeof f->note, "key `%s` is not allowed", key.as.bytes, key.len);
            return true;
        }
    }
    for (uint32_t i = 0; i < t->b; i++) {
        const struct upk_field *field = &m->policy->fields[t->a + i];
        if (!field->optional && !has_key(m, c, f->type, t->a + i)) {
            const uint8_t *pool = (const uint8_t *)m->policy->pool;
            set_text(f->note, sizeof f->note, "key `%s` is missing", pool + field->key.at, field->key.len);
            return true;
        }
    }
    return false;
}

static bool down_record(struct matcher *m, struct fault *f, const struct upk_cell *c) {
    const struct upk_type *t = &m->policy->types[f->type];
    if (has_wrong_keys(m, f, c)) return false;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < c->len; i += 2) {
            struct upk_value key = value_resolve(c->items[i]);
            uint32_t field = record_field(m, f->type, key);
            uint32_t type = field == UINT32_MAX ? t->c : m->policy->fields[field].type;
            if (fails(m, c->items[i + 1], type, pass)) return step_to_key(f, key, c->items[i + 1], type);
        }
    }
    return false;
}

/* Of a union that has one alternative for this kind of value, that one. */
static void narrow(const struct matcher *m, struct fault *f) {
    const struct upk_type *t = &m->policy->types[f->type];
    uint32_t only = 0, fitting = 0, kind = value_resolve(f->value).kind;
    if (t->kind != UPK_TYPE_UNION) return;
    for (uint32_t i = 0; i < t->b; i++) {
        uint32_t alt = m->policy->alts[t->a + i];
        if (kind_fits(&m->policy->types[alt], kind)) {
            only = alt;
            fitting++;
        }
    }
    if (fitting == 1) f->type = only;
}

static bool down(struct matcher *m, struct fault *f) {
    narrow(m, f);
    const struct upk_type *t = &m->policy->types[f->type];
    struct upk_value v = value_resolve(f->value);
    if (!kind_fits(t, v.kind) || !kind_is_compound(v.kind) || v.kind == UPK_OBJECT) return false;
    const struct upk_cell *c = v.as.cell;
    switch (t->kind) {
    case UPK_TYPE_ANY:
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return down_members(m, f, c, t);
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET: return length_fits(c->len, t) && down_members(m, f, c, t);
    case UPK_TYPE_DICT: return length_fits(c->len / 2, t) && down_pairs(m, f, c, t->a, t->b);
    case UPK_TYPE_RECORD: return down_record(m, f, c);
    case UPK_TYPE_PERSID: return step_to(f, c->items[0], t->a, "id", 0);
    default: return false;
    }
}

static void search(struct matcher *m, struct fault *f, struct upk_value v, uint32_t type) {
    memset(f, 0, sizeof *f);
    f->value = v;
    f->type = type;
    f->path = text_in(f->path_room, sizeof f->path_room);
    for (int i = 0; i < DOWN_MOST && down(m, f); i++) {
    }
}

/* A name that old protocols only spell other things with, or a call of one. */
static bool is_spelling(const struct matcher *m, struct upk_value v) {
    v = value_resolve(v);
    if (v.kind == UPK_OBJECT) return v.as.cell->index == UPK_VERB_NONE;
    if (v.kind != UPK_GLOBAL) return false;
    const struct upk_row *row = &m->policy->rows[v.as.cell->len];
    const uint32_t granted = UPK_ROW_CLASS | UPK_ROW_FUNC | UPK_ROW_CONST | UPK_ROW_REF;
    return (row->special || row->flags & UPK_ROW_PREFIX) && !(row->flags & granted);
}

static void say_fault(const struct matcher *m, const struct fault *f, struct text *t) {
    if (f->note[0]) {
        text_add(t, "%s", f->note);
        return;
    }
    char room[80]; /* what was found matters more than all of a long type */
    struct text type = text_in(room, sizeof room);
    text_add_type(&type, m->policy, f->type);
    text_add(t, "expected %s, found ", room);
    text_add_value(t, m->policy, f->value);
}

/* ---- the root */

void explain_root(struct matcher *m, struct match_result *why) {
    struct fault f;
    struct text t = text_in(why->detail, sizeof why->detail);
    m->budget = m->pairs + EXPLAIN_PAIRS;
    search(m, &f, m->doc->root, m->policy->root);
    struct upk_value v = f.value;
    why->code = is_spelling(m, v) ? UPK_ERR_SPELLING : UPK_ERR_ROOT;
    /* The path leads to the value where it is a cell of its own, else to what it is a member of. */
    if (kind_has_cell(v.kind) && v.kind != UPK_GLOBAL) {
        why->cell = v.as.cell;
    } else {
        why->cell = f.inside;
        if (f.last[0]) text_add(&t, "%s: ", f.last);
    }
    say_fault(m, &f, &t);
}

/* ---- objects */

struct reason { /* why one form does not fit; the larger the rank, the nearer it came */
    uint32_t rank;
    bool kind; /* the part that does not fit is of a kind that its type takes: nearer, of the same rank */
    bool spelling;
    char detail[sizeof((struct match_result *)NULL)->detail];
};

enum rank {
    RANK_VERB,
    RANK_COUNT,
    RANK_ARGS,
    RANK_KW = 1000,
    RANK_STATE,
    RANK_ITEMS,
    RANK_PAIRS,
    RANK_ADDS,
    RANK_OTHER
};

static void say(struct reason *r, uint32_t rank, const char *words) {
    r->rank = rank;
    struct text t = text_in(r->detail, sizeof r->detail);
    text_add(&t, "%s", words);
}

/* The value at fault below `v`, which is what `label` says. */
static void say_value(struct matcher *m, struct reason *r, uint32_t rank, const char *label,
                      struct upk_value v, uint32_t type) {
    struct fault f;
    search(m, &f, v, type);
    r->rank = rank;
    r->kind = kind_fits(&m->policy->types[type], v.kind);
    r->spelling = is_spelling(m, f.value);
    struct text t = text_in(r->detail, sizeof r->detail);
    text_add(&t, "%s", label);
    if (f.path.len) text_add(&t, " at %s", f.path_room);
    text_add(&t, ": ");
    say_fault(m, &f, &t);
}

static bool say_members(struct matcher *m, struct reason *r, uint32_t rank, const char *word,
                        const struct upk_cell *c, uint32_t even, uint32_t odd) {
    for (uint32_t i = 0; c && i < c->len; i++) {
        uint32_t type = i & 1 ? odd : even;
        if (holds(m, c->items[i], type)) continue;
        char label[40];
        struct text t = text_in(label, sizeof label);
        bool pairs = c->kind == UPK_DICT;
        text_add(&t, "%s%s %" PRIu32, word, !pairs ? "" : i & 1 ? " value" : " key", pairs ? i / 2 : i);
        say_value(m, r, rank, label, c->items[i], type);
        return true;
    }
    return false;
}

static bool say_arguments(struct matcher *m, struct reason *r, const struct object *o,
                          const struct upk_form *f) {
    const struct upk_cell *args = object_args(o);
    const struct upk_type *t = &m->policy->types[f->args];
    if (o->cell.flags & CELL_SPREAD) {
        struct upk_cell *c = (struct upk_cell *)(uintptr_t)&o->cell;
        const struct goal spread = {
            .cell = c, .index = (uint32_t)(f - m->policy->forms), .what = GOAL_SPREAD};
        if (goal_holds(m, &spread)) return false;
        say(r, RANK_ARGS, "neither the tuple's members nor the tuple are the arguments");
        return true;
    }
    for (uint32_t i = 0; i < args->len; i++) {
        uint32_t type = tuple_element(m, t, i);
        if (!type || holds(m, args->items[i], type)) continue;
        const struct upk_elem *e = &m->policy->elems[t->a + (i < t->b ? i : t->b - 1)];
        char label[80], name[NAME_ROOM];
        struct text to = text_in(label, sizeof label);
        text_add(&to, "argument %" PRIu32, i + 1);
        if (e->name.len) {
            error_copy(name, sizeof name, (const uint8_t *)m->policy->pool + e->name.at, e->name.len);
            text_add(&to, " (`%s`)", name);
        }
        say_value(m, r, RANK_ARGS + (i < 900 ? i : 900), label, args->items[i], type);
        return true;
    }
    return false;
}

static bool say_keywords(struct matcher *m, struct reason *r, const struct object *o,
                         const struct upk_form *f) {
    static const struct upk_cell none = {.kind = UPK_DICT};
    if (!f->kw) return false;
    const struct upk_cell *kw = o->more && o->more->kw ? o->more->kw : &none;
    struct upk_value v = {.kind = UPK_DICT, .as = {.cell = (struct upk_cell *)(uintptr_t)kw}};
    if (holds(m, v, f->kw)) return false;
    say_value(m, r, RANK_KW, "keywords", v, f->kw);
    return true;
}

static bool say_steps(struct matcher *m, struct reason *r, const struct object *o, const struct upk_form *f) {
    const struct object_more *more = o->more;
    if (o->state.kind != UPK_INVALID && !holds(m, o->state, f->state)) {
        say_value(m, r, RANK_STATE, "state", o->state, f->state);
        return true;
    }
    if (!more) return false;
    bool pairs = more->base && more->base->kind == UPK_DICT;
    return say_members(m, r, RANK_ITEMS, "item", pairs ? NULL : more->base, f->items, f->items) ||
           say_members(m, r, RANK_ITEMS, "item", more->items, f->items, f->items) ||
           say_members(m, r, RANK_PAIRS, "pairs,", pairs ? more->base : NULL, f->pair_key, f->pair_value) ||
           say_members(m, r, RANK_PAIRS, "pairs,", more->pairs, f->pair_key, f->pair_value) ||
           say_members(m, r, RANK_ADDS, "member", more->adds, f->adds, f->adds);
}

static void say_form(struct matcher *m, struct reason *r, const struct object *o, const struct upk_form *f) {
    enum form_bar bar = form_bars(m, o, f);
    memset(r, 0, sizeof *r);
    if (bar != BAR_VERB && bar != BAR_COUNT) {
        if (say_arguments(m, r, o, f)) return;
        if (bar != BAR_KEYWORDS && say_keywords(m, r, o, f)) return;
    }
    switch (bar) {
    case BAR_VERB:
        say(r, RANK_VERB,
            o->cell.index == UPK_VERB_NEW ? "made by `new`, which no form allows"
                                          : "called, which no form allows");
        return;
    case BAR_COUNT: {
        struct text t = text_in(r->detail, sizeof r->detail);
        r->rank = RANK_COUNT;
        text_add(&t, "no form takes %" PRIu32 " argument%s", object_args(o)->len,
                 object_args(o)->len == 1 ? "" : "s");
        return;
    }
    case BAR_KEYWORDS: say(r, RANK_KW, "keywords are not allowed"); return;
    case BAR_NO_STATE: say(r, RANK_STATE, "state is missing"); return;
    case BAR_STATE: say(r, RANK_STATE, "state is not allowed"); return;
    case BAR_ITEMS: say(r, RANK_ITEMS, "items are not allowed"); return;
    case BAR_PAIRS: say(r, RANK_PAIRS, "pairs are not allowed"); return;
    case BAR_ADDS: say(r, RANK_ADDS, "members are not allowed"); return;
    case BAR_NONE: break;
    }
    if (!say_steps(m, r, o, f)) say(r, RANK_OTHER, "its values do not fit");
}

void explain_object(struct matcher *m, const struct object *o, struct match_result *why) {
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    struct reason best = {0};
    m->budget = m->pairs + EXPLAIN_PAIRS;
    why->object = o;
    why->code = UPK_ERR_RECIPE;
    if (row->form_count == 0) {
        bool spelling = row->special || row->flags & UPK_ROW_PREFIX;
        why->code = spelling ? UPK_ERR_SPELLING : UPK_ERR_RECIPE;
        if (!spelling) say(&best, RANK_VERB, "called, which no form allows");
    }
    for (uint32_t i = 0; i < row->form_count; i++) {
        struct reason r;
        say_form(m, &r, o, &m->policy->forms[row->first_form + i]);
        if (i == 0 || r.rank > best.rank || (r.rank == best.rank && r.kind && !best.kind)) {
            best = r;
            why->form = row->first_form + i;
        }
    }
    if (best.spelling) why->code = UPK_ERR_SPELLING;
    memcpy(why->detail, best.detail, sizeof best.detail);
}
