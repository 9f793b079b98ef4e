/* The lattice of shapes.  Layer: see learn_shape.h. */
#include "learn_shape.h"

#include <string.h>

#include "learn_bounds.h"
#include "learn_row.h"

struct shape *shape_new(struct mem *m) {
    struct shape *s = mem_alloc(m, 1, sizeof *s);
    if (s != NULL) s->top = s;
    return s;
}

void shape_kind_add(struct shape *s, enum shape_kind kind) {
    if (s != NULL) s->kinds |= 1u << kind;
}

void shape_length(struct shape *s, enum shape_kind kind, uint64_t length) {
    if (s == NULL) return;
    const enum bounds_of of = kind == SHAPE_STR      ? BOUNDS_CHARS
                              : kind <= SHAPE_BUFFER ? BOUNDS_BYTES
                                                     : BOUNDS_MEMBERS;
    unsigned step = bounds_step(of, length);
    if (step == 0 && kind <= SHAPE_BUFFER) step = 1; /* empty text is text */
    shape_kind_add(s, kind);
    if (step > s->steps[kind]) s->steps[kind] = (uint8_t)step;
}

void shape_name(struct mem *m, struct shape_names *names, struct learn_row *row) {
    size_t low = 0, high = names->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = name_compare(names->items[middle]->name, row->name);
        if (order == 0) return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct learn_row **grown =
        mem_grow(m, names->items, names->count, &names->room, sizeof(struct learn_row *));
    if (grown == NULL) return;
    names->items = grown;
    memmove(&grown[low + 1], &grown[low], (names->count - low) * sizeof(struct learn_row *));
    grown[low] = row;
    names->count++;
}

/* ---- what a shape holds */

static void fold(struct mem *m, struct shape *s, struct shape **slot) {
    struct shape *const child = *slot;
    *slot = s;
    if (child != NULL && child != s) shape_join(m, s, child);
}

static void places_to_rest(struct mem *m, struct shape *s);

/* Keys stay by themselves: they are of few kinds. */
void shape_tie(struct mem *m, struct shape *s) {
    if (s == NULL || s->tied) return;
    s->tied = true;
    for (int i = 0; i < SHAPE_PARTS; i++) {
        if (i != PART_KEY && s->parts[i] != NULL) fold(m, s, &s->parts[i]);
    }
    if (s->field_count != 0) shape_make_map(m, s);
    if (s->most != 0) places_to_rest(m, s);
}

static struct shape *child_at(struct mem *m, struct shape *parent, struct shape **slot, bool is_key) {
    if (parent == NULL) return NULL;
    if (*slot != NULL) return *slot;
    const bool full = parent->depth >= SHAPE_MOST_DEPTH || parent->top->nodes >= SHAPE_MOST_NODES;
    if (full && !is_key) shape_tie(m, parent);
    if (parent->tied && !is_key) {
        *slot = parent;
        return parent;
    }
    struct shape *child = mem_alloc(m, 1, sizeof *child);
    if (child == NULL) return NULL;
    child->top = parent->top;
    child->depth = (uint16_t)(parent->depth + 1);
    parent->top->nodes++;
    *slot = child;
    return child;
}

struct shape *shape_part(struct mem *m, struct shape *parent, enum shape_part part) {
    return parent == NULL ? NULL : child_at(m, parent, &parent->parts[part], part == PART_KEY);
}

/* ---- tuples */

static void places_to_rest(struct mem *m, struct shape *s) {
    const unsigned count = s->most;
    s->most = 0;
    for (unsigned i = 0; i < count; i++) {
        struct shape *const place = s->places[i];
        s->places[i] = NULL;
        struct shape *const rest = shape_part(m, s, PART_REST);
        if (place != NULL && rest != NULL && place != rest) shape_join(m, rest, place);
    }
}

void shape_tuple(struct mem *m, struct shape *s, size_t count) {
    if (s == NULL) return;
    shape_kind_add(s, SHAPE_TUPLE);
    if (s->parts[PART_REST] != NULL) return;
    if (count > SHAPE_MOST_PLACES || (s->tied && count != 0)) {
        (void)shape_part(m, s, PART_REST);
        places_to_rest(m, s);
        return;
    }
    if (!s->any_tuple || count < s->least) s->least = (uint8_t)count;
    if (count > s->most) s->most = (uint8_t)count;
    s->any_tuple = true;
}

struct shape *shape_place(struct mem *m, struct shape *s, size_t i) {
    if (s == NULL) return NULL;
    if (s->parts[PART_REST] != NULL) return s->parts[PART_REST];
    struct shape *const place = child_at(m, s, &s->places[i], false);
    if (s->tied && s->parts[PART_REST] == NULL) { /* this place was one too many */
        s->places[i] = NULL;
        (void)shape_part(m, s, PART_REST);
        places_to_rest(m, s);
    }
    return place;
}

/* ---- dicts */

void shape_dict(struct shape *s) {
    if (s == NULL) return;
    shape_kind_add(s, SHAPE_DICT);
    s->dicts++;
}

void shape_make_map(struct mem *m, struct shape *s) {
    if (s == NULL || s->is_map) return;
    const size_t count = s->field_count;
    s->is_map = true;
    s->field_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct shape *const key = shape_part(m, s, PART_KEY), *const value = shape_part(m, s, PART_VALUE);
        shape_length(key, SHAPE_STR, s->fields[i].key.len); /* bytes: no fewer than characters */
        if (value != NULL && value != s->fields[i].shape) shape_join(m, value, s->fields[i].shape);
    }
}

struct shape *shape_field_of(struct mem *m, struct shape *s, struct text key, uint64_t met) {
    if (s == NULL || s->is_map) return NULL;
    for (size_t i = 0; i < s->field_count; i++) {
        if (text_equal(s->fields[i].key, key)) {
            s->fields[i].met += met;
            return s->fields[i].shape;
        }
    }
    if (s->tied || s->field_count == SHAPE_MOST_FIELDS || key.len > SHAPE_MOST_KEY) {
        shape_make_map(m, s);
        return NULL;
    }
    struct shape_field *grown = mem_grow(m, s->fields, s->field_count, &s->field_room, sizeof *grown);
    if (grown == NULL) return NULL;
    s->fields = grown;
    struct shape_field *const f = &grown[s->field_count];
    *f = (struct shape_field){.met = met};
    if (!mem_text(m, key.at, key.len, &f->key) || child_at(m, s, &f->shape, false) == NULL) return NULL;
    if (s->tied) return NULL; /* that was one too many: it is a map now */
    s->field_count++;
    return f->shape;
}

/* ---- joins */

static void join_child(struct mem *m, struct shape *to_parent, struct shape *to,
                       const struct shape *from_parent, const struct shape *from) {
    if (from == from_parent)
        shape_tie(m, to_parent);
    else if (to != NULL)
        shape_join(m, to, from);
}

static void join_tuples(struct mem *m, struct shape *to, const struct shape *from) {
    if (from->parts[PART_REST] != NULL) {
        (void)shape_part(m, to, PART_REST);
        places_to_rest(m, to);
    } else if (from->any_tuple) {
        shape_tuple(m, to, from->least);
        shape_tuple(m, to, from->most);
    }
    for (unsigned i = 0; i < from->most; i++) {
        if (from->places[i] != NULL) join_child(m, to, shape_place(m, to, i), from, from->places[i]);
    }
}

/* What is not in both is optional in what they make together: a field counts the dicts that have it. */
static void join_dicts(struct mem *m, struct shape *to, const struct shape *from) {
    to->dicts += from->dicts;
    to->is_record = to->is_record || from->is_record;
    if (from->is_map) shape_make_map(m, to);
    for (size_t i = 0; i < from->field_count; i++) {
        const struct shape_field *const f = &from->fields[i];
        struct shape *field = to->is_map ? NULL : shape_field_of(m, to, f->key, f->met);
        if (field == NULL) {
            shape_make_map(m, to);
            shape_length(shape_part(m, to, PART_KEY), SHAPE_STR, f->key.len);
            field = shape_part(m, to, PART_VALUE);
        }
        join_child(m, to, field, from, f->shape);
    }
}

void shape_join(struct mem *m, struct shape *to, const struct shape *from) {
    if (to == NULL || from == NULL || to == from) return;
    to->kinds |= from->kinds;
    for (int i = 0; i < SHAPE_SIZED; i++) {
        if (from->steps[i] > to->steps[i]) to->steps[i] = from->steps[i];
    }
    for (int i = 0; i < 2; i++) to->bits[i] |= from->bits[i];
    to->any_bits = to->any_bits || from->any_bits;
    if (from->low > to->low) to->low = from->low;
    if (from->high > to->high) to->high = from->high;
    for (size_t i = 0; i < from->objects.count; i++) shape_name(m, &to->objects, from->objects.items[i]);
    for (size_t i = 0; i < from->mentions.count; i++) shape_name(m, &to->mentions, from->mentions.items[i]);
    if (from->kinds & 1u << SHAPE_DICT) join_dicts(m, to, from);
    if (from->kinds & 1u << SHAPE_TUPLE) join_tuples(m, to, from);
    for (int i = 0; i < SHAPE_PARTS; i++) {
        if (from->parts[i] != NULL)
            join_child(m, to, shape_part(m, to, (enum shape_part)i), from, from->parts[i]);
    }
}

/* ---- records or maps */

static bool is_word(struct text t) {
    for (size_t i = 0; i < t.len; i++) {
        const char c = t.at[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return t.len != 0;
}

/* Keys that are words, the same in all dicts or most of them; of a single dict, values of more than one kind: else its keys may be
 * data as well as names. */
static bool looks_like_record(const struct shape *s) {
    enum { MOST = 24 };
    size_t always = 0;
    bool mixed = false;
    for (size_t i = 0; i < s->field_count; i++) {
        const struct shape_field *const f = &s->fields[i];
        if (!is_word(f->key)) return false;
        always += f->met == s->dicts;
        mixed = mixed || f->shape->kinds != s->fields[0].shape->kinds;
    }
    if (s->field_count > MOST) return false;
    return s->dicts > 1 ? 2 * always >= s->field_count : mixed || s->field_count == 0;
}

/* By key: so the text does not depend on the order in which pickles were seen. */
static void sort_fields(struct shape *s) {
    for (size_t i = 1; i < s->field_count; i++) {
        const struct shape_field moved = s->fields[i];
        size_t k = i;
        for (; k > 0 && text_compare(s->fields[k - 1].key, moved.key) > 0; k--)
            s->fields[k] = s->fields[k - 1];
        s->fields[k] = moved;
    }
}

void shape_settle(struct mem *m, struct shape *s) {
    if (s == NULL) return;
    sort_fields(s);
    if (s->kinds & 1u << SHAPE_DICT && !s->is_map && !s->is_record && !looks_like_record(s))
        shape_make_map(m, s);
    for (int i = 0; i < SHAPE_PARTS; i++) {
        if (s->parts[i] != s) shape_settle(m, s->parts[i]);
    }
    for (size_t i = 0; i < s->field_count; i++) shape_settle(m, s->fields[i].shape);
    for (unsigned i = 0; i < s->most; i++) shape_settle(m, s->places[i]);
}
