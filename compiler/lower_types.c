/* Types of the model to type programs, equal ones once.
 *
 * Layer: see lower.h.  The walk keeps its own stack: how deep types nest is up to the policy.  A type is
 * numbered when all its parts are, and shared with an equal one that is there; a part that is still open (the
 * type is recursive) gets its number before it is finished, and such a type is not shared.
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONAL_MOST = 0xffffff, REPEATS_SHIFT = 24 };

struct visit { /* model_type.mark is its index + 1 */
    struct model_type *type;
    size_t next_part;
    uint32_t index;
    bool numbered, finished;
};

static struct visit *visit_at(struct lower *l, size_t i) { return (struct visit *)l->visits.items + i; }

static bool visit_add(struct lower *l, struct model_type *type, size_t *at) {
    const struct visit v = {.type = type};
    *at = array_add(&l->visits, &v);
    if (l->mem->failed) return false;
    type->mark = (uint32_t)*at + 1;
    return true;
}

/* The number of a part, given early where the part is still open. */
static uint32_t number_of(struct lower *l, const struct model_type *part) {
    if (!part) return 0;
    struct visit *const v = visit_at(l, part->mark - 1);
    if (!v->numbered) {
        const struct upk_type open = {.kind = UPK_TYPE_NEVER};
        v->index = array_add(&l->types, &open);
        v->numbered = true;
    }
    return v->index;
}

/* ---- entries of the tables ------------------------------------------------------------ */

static uint32_t add_bound(struct lower *l, const struct model_int *lo, const struct model_int *hi) {
    struct upk_bound b = {.open = (lo ? 0u : 1u) | (hi ? 0u : 2u)};
    if (lo) memcpy(b.lo, lo->word, sizeof b.lo);
    if (hi) memcpy(b.hi, hi->word, sizeof b.hi);
    b.negative = (lo && lo->negative ? 1u : 0u) | (hi && hi->negative ? 2u : 0u);
    return unique_add(&l->bounds, &b);
}

static uint32_t add_charset(struct lower *l, const struct model_type *t) {
    const struct upk_charset *const sets = l->charsets.items;
    const struct upk_range *const ranges = l->ranges.items;
    for (uint32_t i = 1; i < l->charsets.count; i++) {
        if (sets[i].count != t->char_count) continue;
        if (t->char_count == 0 ||
            memcmp(ranges + sets[i].first, t->chars, t->char_count * sizeof *ranges) == 0)
            return i;
    }
    struct upk_charset set = {.first = (uint32_t)l->ranges.count, .count = (uint32_t)t->char_count};
    for (size_t i = 0; i < t->char_count; i++) {
        array_add(&l->ranges, &t->chars[i]);
        for (uint32_t c = t->chars[i].lo; c <= t->chars[i].hi && c < 128; c++)
            set.ascii[c / 64] |= UINT64_C(1) << c % 64;
    }
    return array_add(&l->charsets, &set);
}

static void add_elems(struct lower *l, const struct model_type *t, struct upk_type *out) {
    out->a = (uint32_t)l->elems.count;
    out->b = (uint32_t)t->elem_count;
    out->c = (uint32_t)(t->optional & OPTIONAL_MOST) | (t->repeats ? 1u << REPEATS_SHIFT : 0u);
    for (size_t i = 0; i < t->elem_count; i++) {
        const struct upk_elem e = {number_of(l, t->elems[i].type), pool_add(&l->pool, t->elems[i].name)};
        array_add(&l->elems, &e);
    }
}

static void add_fields(struct lower *l, const struct model_type *t, struct upk_type *out) {
    out->a = (uint32_t)l->fields.count;
    out->b = (uint32_t)t->field_count;
    out->c = number_of(l, t->rest);
    for (size_t i = 0; i < t->field_count; i++) {
        const struct upk_field f = {pool_add(&l->pool, t->fields[i].key), number_of(l, t->fields[i].type),
                                    t->fields[i].optional};
        array_add(&l->fields, &f);
    }
}

static bool holds(const uint32_t *items, size_t count, uint32_t item) {
    for (size_t i = 0; i < count; i++) {
        if (items[i] == item) return true;
    }
    return false;
}

/* Alternatives that became one type are kept once. */
static void add_alts(struct lower *l, const struct model_type *t, struct upk_type *out) {
    out->a = (uint32_t)l->alts.count;
    for (size_t i = 0; i < t->alt_count; i++) {
        const uint32_t alt = number_of(l, t->alts[i]);
        if (!holds((const uint32_t *)l->alts.items + out->a, l->alts.count - out->a, alt))
            array_add(&l->alts, &alt);
    }
    out->b = (uint32_t)l->alts.count - out->a;
}

static void add_instances(struct lower *l, const struct model_type *t, struct upk_type *out) {
    out->a = (uint32_t)l->alts.count;
    for (size_t i = 0; i < t->class_count; i++) {
        const uint32_t class = lower_class(l, lower_name(l, t->classes[i]));
        if (!holds((const uint32_t *)l->alts.items + out->a, l->alts.count - out->a, class))
            array_add(&l->alts, &class);
    }
    out->b = (uint32_t)l->alts.count - out->a;
}

/* Names are for messages and listings, of what is long to write out. */
static bool takes_name(enum upk_type_kind kind) {
    return kind == UPK_TYPE_LIST || kind == UPK_TYPE_SET || kind == UPK_TYPE_FROZENSET ||
           kind == UPK_TYPE_DICT || kind == UPK_TYPE_TUPLE || kind == UPK_TYPE_PLACES ||
           kind == UPK_TYPE_RECORD || kind == UPK_TYPE_UNION;
}

static struct upk_type make_type(struct lower *l, const struct model_type *t) {
    struct upk_type out = {.kind = t->kind, .lo = t->lo, .hi = t->hi};
    struct upk_text text;
    switch (t->kind) {
    case UPK_TYPE_INT:
        if (!t->open_min || !t->open_max) {
            out.a = add_bound(l, t->open_min ? NULL : &t->min, t->open_max ? NULL : &t->max);
        }
        if (t->has_mask) out.b = 1 + add_bound(l, &t->mask, &t->mask);
        break;
    case UPK_TYPE_INT_IS: out.a = add_bound(l, &t->min, &t->min); break;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
        if (t->has_chars) out.a = add_charset(l, t);
        break;
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS:
        text = pool_add(&l->pool, t->literal);
        out.a = text.at;
        out.b = text.len;
        break;
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET:
    case UPK_TYPE_PERSID: out.a = number_of(l, t->item); break;
    case UPK_TYPE_DICT:
        out.a = number_of(l, t->key);
        out.b = number_of(l, t->value);
        break;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: add_elems(l, t, &out); break;
    case UPK_TYPE_RECORD: add_fields(l, t, &out); break;
    case UPK_TYPE_UNION: add_alts(l, t, &out); break;
    case UPK_TYPE_OBJECT: out.a = lower_class(l, lower_name(l, t->qualified)); break;
    case UPK_TYPE_REF: out.a = lower_row_id(l, lower_name(l, t->qualified)); break;
    case UPK_TYPE_INSTANCE: add_instances(l, t, &out); break;
    case UPK_TYPE_NEVER:
    case UPK_TYPE_ANY:
    case UPK_TYPE_NONE:
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
    case UPK_TYPE_FLOAT:
    case UPK_TYPE_FINITE:
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER:
    case UPK_TYPE_COUNT: break;
    }
    if (takes_name(t->kind)) out.name = pool_add(&l->pool, t->name);
    return out;
}

/* ---- equal types ------------------------------------------------------------ */

/* The array that holds a type's parts from `a` on, NULL where `a` is a plain number. */
static struct array *parts_of(struct lower *l, uint32_t kind) {
    return kind == UPK_TYPE_TUPLE || kind == UPK_TYPE_PLACES     ? &l->elems
           : kind == UPK_TYPE_RECORD                             ? &l->fields
           : kind == UPK_TYPE_UNION || kind == UPK_TYPE_INSTANCE ? &l->alts
                                                                 : NULL;
}

static const char *part_bytes(const struct array *parts, const struct upk_type *t) {
    return (const char *)parts->items + t->a * parts->size;
}

struct type_look {
    struct lower *l;
    const struct upk_type *type;
};

static bool same_type(const void *context, uint32_t index) {
    const struct type_look *const look = context;
    const struct upk_type *const t = look->type, *const u =
                                                     (const struct upk_type *)look->l->types.items + index;
    if (t->kind != u->kind || t->b != u->b || t->c != u->c || t->lo != u->lo || t->hi != u->hi) return false;
    const struct array *const parts = parts_of(look->l, t->kind);
    return parts ? t->b == 0 || memcmp(part_bytes(parts, t), part_bytes(parts, u), t->b * parts->size) == 0
                 : t->a == u->a;
}

static uint64_t hash_type(struct lower *l, const struct upk_type *t) {
    const struct array *const parts = parts_of(l, t->kind);
    const uint64_t words[] = {t->kind, parts ? 0 : t->a, t->b, t->c, t->lo, t->hi};
    const uint64_t hash = hash_bytes(0, words, sizeof words);
    return parts && t->b ? hash_bytes(hash, part_bytes(parts, t), t->b * parts->size) : hash;
}

static void finish(struct lower *l, size_t at) {
    const struct upk_type t = make_type(l, visit_at(l, at)->type);
    if (l->mem->failed) return;
    struct visit *const v = visit_at(l, at);
    v->finished = true;
    if (v->numbered) {
        ((struct upk_type *)l->types.items)[v->index] = t;
        return;
    }
    const uint64_t hash = hash_type(l, &t);
    const struct type_look look = {l, &t};
    v->numbered = true;
    if (intern_find(&l->type_ids, hash, same_type, &look, &v->index)) {
        struct array *const parts = parts_of(l, t.kind);
        struct upk_type *const same = (struct upk_type *)l->types.items + v->index;
        if (parts) parts->count -= t.b;
        if (same->name.len == 0) same->name = t.name;
        return;
    }
    v->index = array_add(&l->types, &t);
    intern_add(&l->type_ids, hash, v->index);
}

uint32_t lower_type(struct lower *l, struct model_type *type) {
    struct array stack; /* of size_t: open visits */
    size_t at;
    if (!type || l->mem->failed) return 0;
    if (type->mark != 0) return visit_at(l, type->mark - 1)->index;
    array_init(&stack, l->mem, sizeof at);
    if (!visit_add(l, type, &at)) return 0;
    array_add(&stack, &at);
    while (stack.count > 0 && !l->mem->failed) {
        const size_t top = ((const size_t *)stack.items)[stack.count - 1];
        struct visit *const v = visit_at(l, top);
        struct model_type *const part = model_type_part(v->type, v->next_part++);
        if (!part) {
            finish(l, top);
            stack.count--;
        } else if (part->mark == 0 && visit_add(l, part, &at)) {
            array_add(&stack, &at);
        }
    }
    return l->mem->failed ? 0 : visit_at(l, type->mark - 1)->index;
}

void lower_types_start(struct lower *l) {
    array_init(&l->visits, l->mem, sizeof(struct visit));
    intern_init(&l->type_ids, l->mem);
}

void lower_types_end(struct lower *l) {
    for (size_t i = 0; i < l->visits.count; i++) visit_at(l, i)->type->mark = 0;
    l->visits.count = 0;
}

/* ---- classes ------------------------------------------------------------ */

struct class_place {
    struct model_name name;
    uint32_t before;
};

static int compare_places(const void *a, const void *b) {
    return name_compare(((const struct class_place *)a)->name, ((const struct class_place *)b)->name);
}

static int compare_numbers(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct text pool_text(const struct lower *l, struct upk_text t) {
    return (struct text){l->pool.bytes + t.at, t.len};
}

static void renumber(struct lower *l, const uint32_t *now) {
    struct upk_type *const types = l->types.items;
    for (size_t i = 0; i < l->types.count; i++) {
        if (types[i].kind == UPK_TYPE_OBJECT) types[i].a = now[types[i].a];
        if (types[i].kind != UPK_TYPE_INSTANCE || types[i].b == 0) continue;
        uint32_t *const alts = (uint32_t *)l->alts.items + types[i].a;
        for (uint32_t j = 0; j < types[i].b; j++) alts[j] = now[alts[j]];
        qsort(alts, types[i].b, sizeof *alts, compare_numbers);
    }
    struct upk_form *const forms = l->forms.items;
    for (size_t i = 0; i < l->forms.count; i++) forms[i].result = now[forms[i].result];
}

void lower_sort_classes(struct lower *l) {
    const size_t count = l->classes.count - 1; /* without the null entry */
    struct class_place *const places = mem_alloc(l->mem, count + 1, sizeof *places);
    uint32_t *const now = mem_alloc(l->mem, count + 1, sizeof *now);
    struct upk_class *const sorted = mem_alloc(l->mem, count + 1, sizeof *sorted);
    if (!places || !now || !sorted) return;
    const struct upk_class *const classes = l->classes.items;
    for (size_t i = 0; i < count; i++) {
        const struct upk_class c = classes[i + 1];
        places[i] = (struct class_place){{pool_text(l, c.module), pool_text(l, c.qualname)}, (uint32_t)i + 1};
    }
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) {
        now[places[i].before] = (uint32_t)i + 1;
        sorted[i + 1] = classes[places[i].before];
    }
    memcpy(l->classes.items, sorted, (count + 1) * sizeof *sorted);
    renumber(l, now);
}
