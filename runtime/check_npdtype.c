/* Native check of numpy dtypes: code, item size, alignment, flags, fields and sub-array of a dtype, and of all that it holds,
 * belong together.  numpy believes a state: with other flags it takes bytes for pointers, with another item size it reads
 * beyond its memory.
 *
 * Source: arraydescr_setstate in numpy/core/src/multiarray/descriptor.c.
 *
 * Layer: runtime, part of native checks (check.h), over npy.h.
 */
#include "check_numpy.h"

#include <inttypes.h>
#include <string.h>

/* A dtype on the way down, and what is known of it so far. */
struct level {
    struct npy_type type;
    uint32_t next;   /* part to look at */
    uint32_t place;  /* of its field (npy_part) */
    uint32_t levels; /* of its parts, so far */
    uint64_t align;  /* largest of its fields */
    int64_t flags;   /* that its parts hand up: NPY_TEXT, NPY_RECORD */
    bool known;      /* proved before */
};

static bool wrong(struct native *c, const char *what) { return check_fails(c, "dtype: %s", what); }

/* ---- one dtype by itself */

static bool is_unit(struct upk_value v) {
    static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                        "ms", "us", "ns", "ps", "fs", "as", "generic"};
    v = value_resolve(v);
    for (size_t i = 0; (v.kind == UPK_BYTES || v.kind == UPK_STR8) && i < sizeof units / sizeof *units; i++) {
        if (bytes_are(v.as.bytes, v.len, units[i])) return true;
    }
    return false;
}

static bool is_int(struct upk_value v, int64_t lo, int64_t hi) {
    v = value_resolve(v);
    return v.kind == UPK_INT && v.as.i >= lo && v.as.i <= hi;
}

/* ({}, (unit, count, 1, 1)) */
static bool is_time(struct upk_value metadata) {
    if (metadata.kind != UPK_TUPLE || metadata.as.cell->len != 2) return false;
    const struct upk_value none = value_resolve(metadata.as.cell->items[0]),
                           unit = value_resolve(metadata.as.cell->items[1]);
    return none.kind == UPK_DICT && none.as.cell->len == 0 && unit.kind == UPK_TUPLE &&
           unit.as.cell->len == 4 && is_unit(unit.as.cell->items[0]) &&
           is_int(unit.as.cell->items[1], 1, INT32_MAX) && is_int(unit.as.cell->items[2], 1, 1) &&
           is_int(unit.as.cell->items[3], 1, 1);
}

static bool scalar_holds(struct native *c, const struct npy_type *t) {
    const bool sized = t->kind == 'S' || t->kind == 'U' || t->kind == 'V';
    const bool time = t->kind == 'M' || t->kind == 'm';
    const int64_t flags = t->kind == 'U' ? NPY_TEXT : t->kind == 'O' ? 63 : 0;
    const bool ordered = t->kind == 'U' || (!sized && t->kind != 'O' && t->itemsize > 1);
    if (time ? !is_time(t->metadata) : t->metadata.kind != UPK_INVALID) return wrong(c, "metadata");
    if (ordered == (t->order == '|')) return wrong(c, "byte order");
    if (t->flags != flags)
        return check_fails(c, "dtype: flags %" PRId64 " where %" PRId64 " belong", t->flags, flags);
    if (!sized)
        return (t->state_itemsize == -1 && t->state_align == -1) || wrong(c, "item size or alignment");
    if ((uint64_t)t->state_itemsize != t->itemsize) return wrong(c, "item size is not that of its code");
    return t->state_align == (t->kind == 'U' ? 4 : 1) || wrong(c, "alignment");
}

/* Records and sub-arrays, before their parts are looked at. */
static bool void_opens(struct native *c, const struct npy_type *t) {
    if (t->kind != 'V') return wrong(c, "fields or a sub-array in another type than void");
    if (t->names && t->base.kind != UPK_INVALID) return wrong(c, "both fields and a sub-array");
    if (t->metadata.kind != UPK_INVALID) return wrong(c, "metadata");
    if (t->order != '|') return wrong(c, "byte order");
    if (t->itemsize == 0 || t->state_itemsize <= 0 || (uint64_t)t->state_itemsize != t->itemsize)
        return wrong(c, "item size is not that of its code, or none");
    return t->state_align > 0 || wrong(c, "alignment");
}

/* ---- records */

/* Names stand in the order of their fields, so that one is looked for at *place first. */
static bool is_name(const struct npy_type *t, struct upk_value text, uint32_t *place, uint64_t *looks) {
    for (uint32_t n = 0, at = *place; n < t->names->len; n++, at++) {
        if (at >= t->names->len) at = 0;
        if (!npy_same_name(t->names->items[at], text, looks)) continue;
        *place = at + 1;
        return true;
    }
    return false;
}

/* The title of a field, (dtype, offset[, title]); UPK_INVALID: it has none. */
static struct upk_value title_of(struct upk_value field) {
    const struct upk_value none = {.kind = UPK_INVALID};
    field = value_resolve(field);
    if (field.kind != UPK_TUPLE || field.as.cell->len < 3) return none;
    const struct upk_value title = value_resolve(field.as.cell->items[2]);
    return title.kind == UPK_NONE ? none : title;
}

/* The same dtype, not an equal one: what is proved of one holds for the other. */
static bool is_same_field(struct upk_value a, struct upk_value b) {
    const struct upk_cell *const x = value_resolve(a).as.cell, *const y = value_resolve(b).as.cell;
    const struct upk_value dtype = value_resolve(x->items[0]), other = value_resolve(y->items[0]),
                           at = value_resolve(x->items[1]), other_at = value_resolve(y->items[1]);
    return dtype.kind == UPK_OBJECT && other.kind == UPK_OBJECT && dtype.as.cell == other.as.cell &&
           at.kind == UPK_INT && other_at.kind == UPK_INT && at.as.i == other_at.as.i;
}

static bool is_field(struct upk_value v) {
    v = value_resolve(v);
    return v.kind == UPK_TUPLE && (v.as.cell->len == 2 || v.as.cell->len == 3);
}

static bool is_title_of(const struct npy_type *t, uint32_t at, struct upk_value title, uint64_t *looks) {
    return npy_same_name(title_of(t->fields->items[at + 1]), title, looks);
}

/* What stands under a key that is no name is the field of the one name that has this title: the one before it, as a rule. */
static bool title_holds(struct native *c, const struct npy_type *t, uint32_t at, uint64_t *looks) {
    const struct upk_cell *const fields = t->fields;
    uint32_t place = 0, k = at ? at - 2 : 0;
    for (uint32_t n = 0; n < fields->len; n += 2, k = k + 2 < fields->len ? k + 2 : 0) {
        if (k == at || !is_title_of(t, k, fields->items[at], looks)) continue;
        return (is_field(fields->items[k + 1]) &&
                is_same_field(fields->items[k + 1], fields->items[at + 1]) &&
                is_name(t, fields->items[k], &place, looks)) ||
               wrong(c, "a title that is another field");
    }
    return wrong(c, "fields that no name has");
}

/* Each name once and with its field, and no field but those of the names and titles.
 * INVARIANT: no two keys of a dict are equal.  So if as many keys are names as there are names, no two of those are equal
 * either, and each has its field. */
static bool names_hold(struct native *c, const struct npy_type *t) {
    uint32_t names = 0, titles = 0, others = 0, place = 0;
    for (uint32_t k = 0; k < t->fields->len; k += 2) {
        uint64_t looks = 1;
        if (!is_field(t->fields->items[k + 1])) return wrong(c, "a field that is no pair");
        if (is_name(t, t->fields->items[k], &place, &looks)) {
            names++;
            titles += title_of(t->fields->items[k + 1]).kind != UPK_INVALID;
        } else if (title_holds(c, t, k, &looks)) {
            others++;
        } else {
            return false;
        }
        if (!check_pays(c, looks, 4)) return false;
    }
    if (titles != others) return wrong(c, "a title without its field, or that is a name");
    return names == t->names->len || wrong(c, "a name without field, or two that are equal");
}

/* ---- the walk: parts first */

static bool part_joins(struct native *c, struct level *l, const struct npy_type *part, uint64_t offset) {
    uint64_t n = 1, size;
    if (part->itemsize == 0) return wrong(c, "a part of no size");
    if (l->type.shape && !npy_count(l->type.shape, part->itemsize, &n))
        return wrong(c, "the shape of a sub-array");
    if (!npy_multiply(n, part->itemsize, &size)) return wrong(c, "a sub-array larger than memory");
    if (l->type.shape) {
        if (size != l->type.itemsize) return wrong(c, "a sub-array of another size than its item");
    } else if (offset > l->type.itemsize || size > l->type.itemsize - offset) {
        return check_fails(c, "dtype: a field of %" PRIu64 " bytes at %" PRIu64 " in an item of %" PRIu64,
                           size, offset, l->type.itemsize);
    }
    if (part->kind == 'O') return wrong(c, "objects within a record or sub-array");
    if (l->type.names && l->type.flags & NPY_ALIGNED && offset % part->align != 0)
        return wrong(c, "a field out of alignment");
    if (part->align > l->align) l->align = part->align;
    l->flags |= part->flags & (NPY_TEXT | NPY_RECORD | (l->type.shape ? NPY_ALIGNED : 0));
    return true;
}

static bool level_closes(struct native *c, struct level *l) {
    struct npy_type *const t = &l->type;
    if (l->known) return true;
    l->levels++;
    const bool record = t->names != NULL, aligned = t->flags & NPY_ALIGNED;
    const int64_t flags = l->flags | (record ? NPY_RECORD : 0) | (record && aligned ? NPY_ALIGNED : 0);
    if (!record && t->base.kind == UPK_INVALID) return scalar_holds(c, t);
    /* Version 1 writes the flags as one byte with a sign. */
    if (t->flags != flags && !(flags & NPY_ALIGNED && t->flags == flags - 256)) {
        return check_fails(c, "dtype: flags %" PRId64 " where %" PRId64 " belong", t->flags, flags);
    }
    t->flags = flags;
    const uint64_t align = record && !aligned ? 1 : l->align ? l->align : 1;
    if ((uint64_t)t->state_align != align) return wrong(c, "alignment is not that of its parts");
    return !record || t->itemsize % align == 0 || wrong(c, "item size out of alignment");
}

bool numpy_part(struct native *c, const struct npy_type *t, uint32_t i, uint32_t *place,
                struct upk_value *dtype, uint64_t *offset) {
    uint64_t looks = 0;
    const bool found = npy_part(t, i, place, &looks, dtype, offset);
    return check_pays(c, looks, 4) && (found || wrong(c, "a name without field"));
}

/* A dtype of which many things are made is proved once.  What it is made of does not change any more: what was an argument is
 * hard (freeze.c), and all else is judged at STOP. */
static struct dtype_memo *memo_of(struct native *c, const struct object *dtype) {
    const uint64_t h = (uint64_t)(uintptr_t)dtype * UINT64_C(0x9e3779b97f4a7c15);
    struct matcher *const m = c->m;
    struct dtype_memo *const memos = memos_of(m, MEMOS_OF_DTYPES, m->rare.dtypes, sizeof m->rare.dtypes);
    return &memos[(h >> 32) % DTYPE_MEMOS];
}

static bool level_opens(struct native *c, struct level *l, struct upk_value dtype) {
    memset(l, 0, sizeof *l);
    const char *const fault = npy_read(dtype, &l->type);
    if (fault) return wrong(c, fault);
    if (!check_pays(c, 1, 1)) return false;
    const struct object *const o = l->type.object;
    const struct dtype_memo *const memo = memo_of(c, o);
    if (memo->dtype == &o->cell) {
        l->known = true;
        l->levels = memo->levels;
        l->next = npy_part_count(&l->type);
        return true;
    }
    /* All cells of a cycle have one depth, and a cell is deeper than what it holds elsewhere (measure.c). */
    if (c->m->doc->cyclic && value_resolve(o->state).as.cell->depth >= o->cell.depth)
        return wrong(c, "it holds itself");
    if (!l->type.names && l->type.base.kind == UPK_INVALID)
        return !l->type.named || wrong(c, "a class without fields");
    return void_opens(c, &l->type) && (!l->type.names || names_hold(c, &l->type));
}

bool numpy_dtype_holds(struct native *c, struct upk_value dtype, struct npy_type *out) {
    struct level levels[NPY_MOST_LEVELS];
    uint64_t offsets[NPY_MOST_LEVELS];
    size_t n = 1;
    if (!level_opens(c, &levels[0], dtype)) return false;
    for (;;) {
        struct level *const l = &levels[n - 1];
        struct upk_value part;
        uint64_t offset;
        if (l->next < npy_part_count(&l->type)) {
            if (!numpy_part(c, &l->type, l->next++, &l->place, &part, &offset)) return false;
            if (n == NPY_MOST_LEVELS) return check_fails(c, "dtype: more than %d levels", NPY_MOST_LEVELS);
            offsets[n] = offset;
            if (!level_opens(c, &levels[n++], part)) return false;
            continue;
        }
        if (!level_closes(c, l)) return false;
        if (n - 1 + l->levels > NPY_MOST_LEVELS)
            return check_fails(c, "dtype: more than %d levels", NPY_MOST_LEVELS);
        *memo_of(c, l->type.object) = (struct dtype_memo){&l->type.object->cell, l->levels};
        if (--n == 0) {
            *out = l->type;
            return true;
        }
        struct level *const above = &levels[n - 1];
        if (!part_joins(c, above, &l->type, offsets[n])) return false;
        if (l->levels > above->levels) above->levels = l->levels;
    }
}

bool check_npdtype(struct native *c) {
    struct npy_type t;
    struct upk_value self = {.kind = UPK_OBJECT,
                             .as = {.cell = (struct upk_cell *)(uintptr_t)&c->object->cell}};
    return numpy_dtype_holds(c, self, &t);
}
