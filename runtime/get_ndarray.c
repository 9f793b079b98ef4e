/* Arrays and scalars of numpy for a host that reads their memory.
 *
 * Layer: runtime, over npy.h and the accessors (doc.c).
 */
#include <string.h>

#include "npy.h"

/* The parts of an array, wherever its recipe has them. */
struct parts {
    struct upk_value dtype, shape, data, mask;
    bool fortran;
};

static bool member(struct upk_value v, size_t i, struct upk_value *out) {
    if (!upk_at(v, i, out)) return false;
    *out = value_resolve(*out);
    return true;
}

/* _reconstruct and _mareconstruct: (1, shape, dtype, is_fortran, data[, mask, fill value]) */
static bool from_state(struct upk_value v, struct parts *out) {
    struct upk_value state, fortran;
    if (!upk_object_state(v, &state) || !member(state, 1, &out->shape) || !member(state, 2, &out->dtype) ||
        !member(state, 3, &fortran) || !member(state, 4, &out->data))
        return false;
    out->fortran = (fortran.kind == UPK_BOOL || fortran.kind == UPK_INT) && fortran.as.i != 0;
    (void)member(state, 5, &out->mask);
    return true;
}

/* _frombuffer(data, dtype, shape, order) */
static bool from_buffer(struct upk_value args, struct parts *out) {
    struct upk_value order;
    if (!member(args, 0, &out->data) || !member(args, 1, &out->dtype) || !member(args, 2, &out->shape) ||
        !member(args, 3, &order))
        return false;
    out->fortran = upk_str_is(order, "F");
    return true;
}

/* What the check of the form proves is what makes the pointers safe, so it says what is an array. */
static bool parts_of(const struct upk_doc *doc, struct upk_value v, struct parts *out) {
    struct upk_value args;
    if (!doc->policy || !upk_object_args(v, &args)) return false;
    switch (doc->policy->forms[v.as.cell->cap].check) {
    case UPK_CHECK_NDARRAY: return from_state(v, out);
    case UPK_CHECK_FROMBUFFER: return from_buffer(args, out);
    case UPK_CHECK_NPSCALAR: return member(args, 0, &out->dtype) && member(args, 1, &out->data);
    default: return false;
    }
}

/* INVARIANT: count times the unit is within 63 bits. */
static void set_strides(struct upk_ndarray *a, uint64_t unit) {
    for (uint32_t i = 0; i < a->ndim; i++) {
        const uint32_t axis = a->fortran ? i : a->ndim - 1 - i;
        a->strides[axis] = a->count ? unit : 0;
        if (a->count) unit *= a->shape[axis];
    }
}

bool upk_get_ndarray(const struct upk_doc *doc, struct upk_value v, struct upk_ndarray *out) {
    struct parts parts = {0};
    struct npy_type t;
    uint64_t len, mask_len = 0;
    struct upk_ndarray a = {.count = 1};
    if (!parts_of(doc, v, &parts) || npy_read(parts.dtype, &t)) return false;
    if (parts.shape.kind == UPK_TUPLE) {
        if (!npy_count(parts.shape.as.cell, t.itemsize, &a.count)) return false;
        a.ndim = parts.shape.as.cell->len;
        for (uint32_t i = 0; i < a.ndim; i++)
            a.shape[i] = (uint64_t)value_resolve(parts.shape.as.cell->items[i]).as.i;
    }
    a.kind = t.kind;
    a.order = t.order;
    a.itemsize = t.itemsize;
    a.dtype = parts.dtype;
    if (t.kind == 'O') {
        a.objects = parts.data;
    } else {
        a.fortran = parts.fortran;
        if (!npy_bytes(doc, parts.data, &a.data, &len)) return false;
    }
    if (parts.mask.kind != UPK_INVALID) {
        if (!npy_bytes(doc, parts.mask, &a.mask, &mask_len)) return false;
        a.mask_each = a.count ? mask_len / a.count : 0;
    }
    set_strides(&a, t.kind == 'O' ? 1 : t.itemsize);
    *out = a;
    return true;
}
