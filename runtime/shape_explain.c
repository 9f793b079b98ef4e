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
    /* Of a union, the one that takes values of this kind, where there is one; else `type`. */
    uint32_t alternative;
    char note[80]; /* what is wrong where a type would not say it */
    char key[80];  /* the step to the key that is wrong or missing; empty: it is no key */
    char path_room[sizeof((struct match_result *)NULL)->path];
    struct text path;
    size_t start; /* of its length, what led to where the search began */
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

static bool step_to(struct fault *f, struct upk_value v, uint32_t type) {
    f->value = v;
    f->type = type;
    return true;
}

/* Type of member i of a container; 0: there is none. */
static uint32_t member_type(const struct matcher *m, const struct fault *f, size_t i) {
    const struct upk_type *t = &m->policy->types[f->alternative];
    switch (t->kind) {
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return tuple_element(m, t, i);
    case UPK_TYPE_ANY: return f->alternative;
    default: return t->a;
    }
}

static bool down_members(struct matcher *m, struct fault *f, const struct upk_cell *c) {
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < c->len; i++) {
            const uint32_t type = member_type(m, f, i);
            if (!type) return false;
            if (!fails(m, c->items[i], type, pass)) continue;
            text_add_index(&f->path, i);
            return step_to(f, c->items[i], type);
        }
    }
    return false;
}

static bool step_to_pair(struct fault *f, const struct upk_cell *c, uint32_t i, uint32_t type) {
    if (i & 1)
        text_add_key(&f->path, c->items[i - 1]);
    else
        text_add_key_itself(&f->path, i / 2);
    return step_to(f, c->items[i], type);
}

static bool down_pairs(struct matcher *m, struct fault *f, const struct upk_cell *c, uint32_t key,
                       uint32_t value) {
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < c->len; i++) {
            uint32_t type = i & 1 ? value : key;
            if (fails(m, c->items[i], type, pass)) return step_to_pair(f, c, i, type);
        }
    }
    return false;
}

static bool has_key(struct matcher *m, const struct upk_cell *c, uint32_t type, uint32_t field) {
    if (m->pairs > m->budget) return true;
    m->pairs += c->len;
    for (uint32_t i = 0; i < c->len; i += 2) {
        if (record_field(m, type, value_resolve(c->items[i])) == field) return true;
    }
    return false;
}

/* Keys that are wrong; fills the note and the key. */
static bool has_wrong_keys(struct matcher *m, struct fault *f, const struct upk_cell *c) {
    const struct upk_type *t = &m->policy->types[f->alternative];
    struct text step = text_in(f->key, sizeof f->key);
    for (uint32_t i = 0; i < c->len; i += 2) {
        struct upk_value key = value_resolve(c->items[i]);
        if (!value_is_str(key)) {
            struct text note = text_in(f->note, sizeof f->note);
            text_add(&note, "key %" PRIu32 " is not a str", i / 2);
            text_add_key_itself(&step, i / 2);
            return true;
        }
        if (!t->c && record_field(m, f->alternative, key) == UINT32_MAX) {
            set_text(f->note, sizeof f->note, "key `%s` is not allowed", key.as.bytes, key.len);
            text_add_key(&step, key);
            return true;
        }
    }
    for (uint32_t i = 0; i < t->b; i++) {
        const struct upk_field *field = &m->policy->fields[t->a + i];
        if (!field->optional && !has_key(m, c, f->alternative, t->a + i)) {
            const struct upk_value key = {.kind = UPK_STR,
                                          .len = field->key.len,
                                          .as = {.bytes = (const uint8_t *)m->policy->pool + field->key.at}};
            set_text(f->note, sizeof f->note, "key `%s` is missing", key.as.bytes, key.len);
            text_add_key(&step, key);
            return true;
        }
    }
    return false;
}

static bool down_record(struct matcher *m, struct fault *f, const struct upk_cell *c) {
    const struct upk_type *t = &m->policy->types[f->alternative];
    if (has_wrong_keys(m, f, c)) return false;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < c->len; i += 2) {
            uint32_t field = record_field(m, f->alternative, value_resolve(c->items[i]));
            uint32_t type = field == UINT32_MAX ? t->c : m->policy->fields[field].type;
            if (fails(m, c->items[i + 1], type, pass)) return step_to_pair(f, c, i + 1, type);
        }
    }
    return false;
}

static uint32_t only_alternative(const struct matcher *m, const struct fault *f) {
    const struct upk_type *t = &m->policy->types[f->type];
    uint32_t only = 0, fitting = 0, kind = value_resolve(f->value).kind;
    if (t->kind != UPK_TYPE_UNION) return f->type;
    for (uint32_t i = 0; i < t->b; i++) {
        uint32_t alt = m->policy->alts[t->a + i];
        if (kind_fits(&m->policy->types[alt], kind)) {
            only = alt;
            fitting++;
        }
    }
    return fitting == 1 ? only : f->type;
}

static bool down(struct matcher *m, struct fault *f) {
    f->alternative = only_alternative(m, f);
    const struct upk_type *t = &m->policy->types[f->alternative];
    struct upk_value v = value_resolve(f->value);
    if (!kind_fits(t, v.kind) || !kind_is_compound(v.kind) || v.kind == UPK_OBJECT) return false;
    const struct upk_cell *c = v.as.cell;
    switch (t->kind) {
    case UPK_TYPE_ANY:
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return down_members(m, f, c);
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET: return length_fits(c->len, t) && down_members(m, f, c);
    case UPK_TYPE_DICT: return length_fits(c->len / 2, t) && down_pairs(m, f, c, t->a, t->b);
    case UPK_TYPE_RECORD: return down_record(m, f, c);
    case UPK_TYPE_PERSID: text_add_whole(&f->path, ".id"); return step_to(f, c->items[0], t->a);
    default: return false;
    }
}

/* `start`: the path to v. */
static void search(struct matcher *m, struct fault *f, const char *start, struct upk_value v, uint32_t type) {
    memset(f, 0, sizeof *f);
    f->value = v;
    f->type = f->alternative = type;
    f->path = text_in(f->path_room, sizeof f->path_room);
    text_add_whole(&f->path, start);
    f->start = f->path.len;
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
    const bool full = text_add_type(&type, m->policy, f->type);
    if ((!full || type.len >= sizeof room) && value_resolve(f->value).kind != UPK_OBJECT) {
        /* the bounds of this kind of value say more than the union's name, or its first alternatives */
        type = text_in(room, sizeof room);
        (void)text_add_type(&type, m->policy, f->alternative);
    }
    text_add(t, "expected %s, found ", room);
    text_add_value(t, m->policy, f->value);
}

/* ---- the root */

void explain_root(struct matcher *m, struct match_result *why) {
    struct fault f;
    struct text t = text_in(why->detail, sizeof why->detail), part = text_in(why->part, sizeof why->part);
    m->budget = m->pairs + EXPLAIN_PAIRS;
    search(m, &f, "", m->doc->root, m->policy->root);
    why->code = is_spelling(m, f.value) ? UPK_ERR_SPELLING : UPK_ERR_ROOT;
    memcpy(why->path, f.path_room, sizeof why->path);
    if (f.path.len) text_add(&t, "at $%s: ", f.path_room);
    if (f.path.len || f.key[0]) text_add(&part, "`$%s%s`", f.path_room, f.key);
    say_fault(m, &f, &t);
}

/* ---- objects */

struct reason { /* why one form does not fit; the larger the rank, the nearer it came */
    uint32_t rank;
    bool kind; /* the part that does not fit is of a kind that its type takes: nearer, of the same rank */
    bool spelling;
    char detail[sizeof((struct match_result *)NULL)->detail], path[sizeof((struct match_result *)NULL)->path],
        part[sizeof((struct match_result *)NULL)->part];
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

/* The value at fault below `v`, to which `path` leads from the object; `label` is that in words. */
static void say_value(struct matcher *m, struct reason *r, uint32_t rank, const char *label, const char *path,
                      struct upk_value v, uint32_t type) {
    struct fault f;
    search(m, &f, path, v, type);
    r->rank = rank;
    r->kind = kind_fits(&m->policy->types[type], v.kind);
    r->spelling = is_spelling(m, f.value);
    struct text t = text_in(r->detail, sizeof r->detail), part = text_in(r->part, sizeof r->part);
    const bool below = f.path.len > f.start;
    text_add(&t, below ? "%s at %s: " : "%s: ", label, f.path_room);
    if (below || f.key[0])
        text_add(&part, "`%s%s`", f.path_room, f.key);
    else
        text_add(&part, "%s", label);
    memcpy(r->path, f.path_room, sizeof r->path);
    say_fault(m, &f, &t);
}

/* `before`: members that stand before those of `c`. */
static bool say_members(struct matcher *m, struct reason *r, uint32_t rank, const char *word,
                        const struct upk_cell *c, uint32_t before, uint32_t even, uint32_t odd) {
    for (uint32_t i = 0; c && i < c->len; i++) {
        uint32_t type = i & 1 ? odd : even;
        if (holds(m, c->items[i], type)) continue;
        char label[40], path[80];
        struct text t = text_in(label, sizeof label), to = text_in(path, sizeof path);
        if (c->kind != UPK_DICT) {
            text_add(&t, "%s %" PRIu32, word, before + i);
            text_add_index(&to, before + i);
        } else if (i & 1) {
            text_add(&t, "%s value %" PRIu32, word, i / 2);
            text_add_key(&to, c->items[i - 1]);
        } else {
            text_add(&t, "%s key %" PRIu32, word, i / 2);
            text_add_key_itself(&to, i / 2);
        }
        say_value(m, r, rank, label, path, c->items[i], type);
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
        char label[80], name[NAME_ROOM], path[32];
        struct text words = text_in(label, sizeof label), to = text_in(path, sizeof path);
        text_add(&words, "argument %" PRIu32, i + 1);
        if (e->name.len) {
            error_copy(name, sizeof name, (const uint8_t *)m->policy->pool + e->name.at, e->name.len);
            text_add(&words, " (`%s`)", name);
        }
        text_add_whole(&to, ".args");
        text_add_index(&to, i);
        say_value(m, r, RANK_ARGS + (i < 900 ? i : 900), label, path, args->items[i], type);
        if (row_has_members(m->policy, f->row)) (void)snprintf(r->part, sizeof r->part, "the members");
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
    say_value(m, r, RANK_KW, "keywords", ".kwargs", v, f->kw);
    return true;
}

static bool say_steps(struct matcher *m, struct reason *r, const struct object *o, const struct upk_form *f) {
    const struct object_more *more = o->more;
    if (o->state.kind != UPK_INVALID && !holds(m, o->state, f->state)) {
        say_value(m, r, RANK_STATE, "state", ".state", o->state, f->state);
        return true;
    }
    if (!more) return false;
    const struct upk_cell *base = more->base, *list = base && base->kind == UPK_LIST ? base : NULL,
                          *dict = base && base->kind == UPK_DICT ? base : NULL;
    return say_members(m, r, RANK_ITEMS, "item", list, 0, f->items, f->items) ||
           say_members(m, r, RANK_ITEMS, "item", more->items, list ? list->len : 0, f->items, f->items) ||
           say_members(m, r, RANK_PAIRS, "pairs,", dict, 0, f->pair_key, f->pair_value) ||
           say_members(m, r, RANK_PAIRS, "pairs,", more->pairs, 0, f->pair_key, f->pair_value) ||
           say_members(m, r, RANK_ADDS, "member", more->adds, 0, f->adds, f->adds);
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
    case BAR_OPERAND:
        say(r, RANK_OTHER, "the second operand is joined itself, which Python never writes");
        return;
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
    memcpy(why->path, best.path, sizeof best.path);
    memcpy(why->part, best.part, sizeof best.part);
}
