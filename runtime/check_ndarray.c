/* Native checks of numpy arrays and scalars: shape times item size is the length of the data, str data are code points, and
 * objects come as a list.
 *
 * Each proves the dtype too, so that it holds whatever row made the dtype; what is proved of one is remembered.
 *
 * Source: array_setstate in numpy/core/src/multiarray/methods.c, scalar in multiarraymodule.c, _frombuffer in
 * numpy/core/numeric.py, __setstate__ in numpy/ma/core.py.
 *
 * Layer: runtime, part of native checks (check.h).
 */
#include "check_numpy.h"

#include <inttypes.h>
#include <string.h>

enum {
    STATE_LEN = 5,        /* 1, shape, dtype, is_fortran, data */
    MASKED_STATE_LEN = 7, /* and mask, fill value */
    LOOKED_AT_A_PAIR = 4  /* code points */
};

static bool wrong(struct native *c, const char *what) { return check_fails(c, "array: %s", what); }

/* ---- data of type str: UCS-4, which numpy turns into str without a look */

struct text_level {
    struct npy_type type;
    uint64_t base;        /* of the item, in the outermost item */
    uint64_t repeat;      /* items of a sub-array still to come, this one included */
    uint32_t next, place; /* part to look at, and where (npy_part) */
};

struct data {
    const uint8_t *at;
    uint64_t items, itemsize;
};

static bool is_code_point(const uint8_t *p, char order) {
    return (order == '<' ? le32(p) : be32(p)) <= 0x10ffff;
}

static bool text_holds(struct native *c, const struct data *d, const struct npy_type *t, uint64_t base) {
    const uint64_t n = t->itemsize / 4;
    uint64_t looks;
    if (!npy_multiply(d->items, n, &looks)) return wrong(c, "larger than memory");
    if (!check_pays(c, looks, LOOKED_AT_A_PAIR)) return false;
    for (uint64_t i = 0; i < d->items; i++) {
        const uint8_t *const p = d->at + i * d->itemsize + base;
        for (uint64_t k = 0; k < n; k++) {
            if (!is_code_point(p + 4 * k, t->order))
                return check_fails(c, "array: no code point at byte %" PRIu64,
                                   i * d->itemsize + base + 4 * k);
        }
    }
    return true;
}

/* Items of a part: of a sub-array all, else one. */
static uint64_t repeats(const struct npy_type *t) {
    uint64_t n = 1;
    return t->shape && !npy_count(t->shape, 1, &n) ? 0 : n;
}

/* INVARIANT: numpy_dtype_holds, and the data are as long as it says. */
static bool texts_hold(struct native *c, const struct data *d, struct upk_value dtype) {
    struct text_level levels[NPY_MOST_LEVELS];
    size_t n = 1;
    levels[0] = (struct text_level){.repeat = 1};
    if (npy_read(dtype, &levels[0].type)) return wrong(c, "dtype");
    while (n > 0) {
        struct text_level *const l = &levels[n - 1];
        struct upk_value part;
        uint64_t offset;
        if (!check_pays(c, 1, 1)) return false;
        if (l->type.kind == 'U' && !text_holds(c, d, &l->type, l->base)) return false;
        if (n < NPY_MOST_LEVELS && l->next < npy_part_count(&l->type)) {
            struct text_level *const below = &levels[n];
            if (!numpy_part(c, &l->type, l->next++, &l->place, &part, &offset)) return false;
            *below = (struct text_level){.base = l->base + offset, .repeat = repeats(&l->type)};
            if (npy_read(part, &below->type)) return wrong(c, "dtype");
            n += (below->type.flags & NPY_TEXT) != 0;
        } else if (--l->repeat > 0) {
            l->base += l->type.itemsize;
            l->next = 0;
        } else {
            n--;
        }
    }
    return true;
}

/* ---- arrays */

/* A shape and a dtype that go together, and the number of items.  Items of no size would take any shape: no arrays of them. */
static bool array_opens(struct native *c, struct upk_value shape, struct upk_value dtype, struct npy_type *t,
                        uint64_t *items) {
    shape = value_resolve(shape);
    if (!numpy_dtype_holds(c, dtype, t)) return false;
    if (t->itemsize == 0) return wrong(c, "its items have no size");
    if (shape.kind != UPK_TUPLE) return wrong(c, "its shape is no tuple");
    return npy_count(shape.as.cell, t->itemsize, items) ||
           wrong(c, "its shape is no tuple of sizes, has too many of them, or is larger than memory");
}

/* `items` of this dtype, as bytes. */
static bool data_hold(struct native *c, struct upk_value dtype, const struct npy_type *t, uint64_t items,
                      struct upk_value v) {
    struct data d = {.items = items, .itemsize = t->itemsize};
    uint64_t size, len;
    if (t->kind == 'O') return wrong(c, "objects as bytes");
    if (t->base.kind != UPK_INVALID) return wrong(c, "its dtype is a sub-array");
    if (!npy_multiply(items, t->itemsize, &size)) return wrong(c, "larger than memory");
    if (!npy_bytes(c->m->doc, v, &d.at, &len)) return wrong(c, "its data are no bytes");
    if (len != size) {
        return check_fails(c, "array: %" PRIu64 " items of %" PRIu64 " bytes, and %" PRIu64 " bytes of data",
                           items, t->itemsize, len);
    }
    return items == 0 || !(t->flags & NPY_TEXT) || texts_hold(c, &d, dtype);
}

static bool objects_hold(struct native *c, uint64_t items, struct upk_value v) {
    v = value_resolve(v);
    if (v.kind != UPK_LIST) return wrong(c, "objects that are no list");
    if (v.as.cell->len != items)
        return check_fails(c, "array: %" PRIu64 " items, and a list of %u", items, v.as.cell->len);
    return true;
}

/* Bytes that a mask has for each item: one, or one for each value in the fields of a record. */
static bool mask_size(struct native *c, struct upk_value dtype, uint64_t *out) {
    struct text_level levels[NPY_MOST_LEVELS];
    uint64_t size[NPY_MOST_LEVELS] = {0};
    size_t n = 1;
    levels[0] = (struct text_level){.repeat = 1};
    if (npy_read(dtype, &levels[0].type)) return wrong(c, "dtype");
    for (;;) {
        struct text_level *const l = &levels[n - 1];
        struct upk_value part;
        uint64_t offset;
        if (!check_pays(c, 1, 1)) return false;
        if (n < NPY_MOST_LEVELS && l->next < npy_part_count(&l->type)) {
            if (!numpy_part(c, &l->type, l->next++, &l->place, &part, &offset)) return false;
            size[n] = 0;
            levels[n] = (struct text_level){.repeat = repeats(&l->type)};
            if (npy_read(part, &levels[n++].type)) return wrong(c, "dtype");
            continue;
        }
        const bool leaf = npy_part_count(&l->type) == 0;
        if (!npy_multiply(leaf ? 1 : size[n - 1], l->repeat, &size[n - 1])) return wrong(c, "mask");
        if (--n == 0) break;
        size[n - 1] = add_saturated(size[n - 1], size[n]);
    }
    *out = size[0];
    return true;
}

static bool mask_holds(struct native *c, struct upk_value dtype, uint64_t items, struct upk_value v) {
    const uint8_t *at;
    uint64_t each, size, len;
    if (!mask_size(c, dtype, &each)) return false;
    if (!npy_bytes(c->m->doc, v, &at, &len)) return wrong(c, "its mask is no bytes");
    return (npy_multiply(items, each, &size) && size == len) || wrong(c, "its mask is of another length");
}

/* State of _reconstruct and _mareconstruct. */
bool check_ndarray(struct native *c) {
    const struct upk_value state = value_resolve(c->object->state);
    struct npy_type t;
    uint64_t items;
    if (state.kind != UPK_TUPLE ||
        (state.as.cell->len != STATE_LEN && state.as.cell->len != MASKED_STATE_LEN))
        return wrong(c, "its state is no tuple of 5 or 7");
    /* All cells of a cycle have one depth, and a cell is deeper than what it holds elsewhere (measure.c). */
    if (c->m->doc->cyclic && state.as.cell->depth >= c->object->cell.depth)
        return wrong(c, "it holds itself");
    const struct upk_value *const s = state.as.cell->items;
    if (!array_opens(c, s[1], s[2], &t, &items)) return false;
    if (!(t.kind == 'O' ? objects_hold(c, items, s[4]) : data_hold(c, s[2], &t, items, s[4]))) return false;
    return state.as.cell->len == STATE_LEN || mask_holds(c, s[2], items, s[5]);
}

/* _frombuffer(data, dtype, shape, order) */
bool check_frombuffer(struct native *c) {
    const struct upk_cell *const args = object_args(c->object);
    struct npy_type t;
    uint64_t items;
    if (args->len != 4) return wrong(c, "not made of data, dtype, shape and order");
    return array_opens(c, args->items[2], args->items[1], &t, &items) &&
           data_hold(c, args->items[1], &t, items, args->items[0]);
}

/* scalar(dtype, data) */
bool check_npscalar(struct native *c) {
    const struct upk_cell *const args = object_args(c->object);
    struct npy_type t;
    if (args->len != 2) return wrong(c, "a scalar not made of dtype and data");
    return numpy_dtype_holds(c, args->items[0], &t) && data_hold(c, args->items[0], &t, 1, args->items[1]);
}
