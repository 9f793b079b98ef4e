/* Reading pickled numpy dtypes.  Layer: see npy.h. */
#include "npy.h"

#include <string.h>

#include "bytes.h"

enum { STATE_LEN = 8, STATE_LEN_WITH_METADATA = 9, MOST_DIGITS = 10 };

/* Codes of fixed size; the alignment is that of common 64-bit machines. */
static const struct {
    const char *code;
    uint8_t itemsize, align;
} fixed[] = {
    {"b1", 1, 1}, {"i1", 1, 1},   {"i2", 2, 2},    {"i4", 4, 4},    {"i8", 8, 8}, {"u1", 1, 1}, {"u2", 2, 2},
    {"u4", 4, 4}, {"u8", 8, 8},   {"f2", 2, 2},    {"f4", 4, 4},    {"f8", 8, 8}, {"c8", 8, 4}, {"M8", 8, 8},
    {"m8", 8, 8}, {"c16", 16, 8}, {"f16", 16, 16}, {"c32", 32, 16}, {"O8", 8, 8},
};

static bool read_int(struct upk_value v, int64_t *out) {
    v = value_resolve(v);
    if (v.kind != UPK_INT) return false;
    *out = v.as.i;
    return true;
}

bool npy_multiply(uint64_t a, uint64_t b, uint64_t *out) {
    if (a != 0 && b > UINT64_MAX / a) return false;
    *out = a * b;
    return true;
}

bool npy_count(const struct upk_cell *shape, uint64_t itemsize, uint64_t *out) {
    bool zero = false;
    uint64_t n = 1, size;
    if (shape->len > UPK_MOST_DIMENSIONS) return false;
    for (uint32_t i = 0; i < shape->len; i++) {
        int64_t extent;
        if (!read_int(shape->items[i], &extent) || extent < 0) return false;
        zero = zero || extent == 0;
        if (extent != 0 && !npy_multiply(n, (uint64_t)extent, &n)) return false;
    }
    *out = zero ? 0 : n;
    return npy_multiply(n, itemsize, &size) && n <= INT64_MAX && size <= INT64_MAX;
}

/* S12, U3, V8: the number, without leading zeros. */
static bool read_length(const uint8_t *p, size_t n, uint64_t *out) {
    if (n == 0 || n > MOST_DIGITS || (p[0] == '0' && n > 1)) return false;
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        *out = *out * 10 + (uint64_t)(p[i] - '0');
    }
    return true;
}

static bool read_code(struct upk_value code, struct npy_type *t) {
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (!bytes_are(code.as.bytes, code.len, fixed[i].code)) continue;
        t->kind = fixed[i].code[0];
        t->itemsize = fixed[i].itemsize;
        t->align = fixed[i].align;
        return true;
    }
    if (code.len < 2 || !memchr("SUV", code.as.bytes[0], 3)) return false;
    t->kind = (char)code.as.bytes[0];
    if (!read_length(code.as.bytes + 1, code.len - 1, &t->itemsize)) return false;
    t->align = t->kind == 'U' ? 4 : 1;
    if (t->kind == 'U') t->itemsize *= 4;
    return true;
}

static const char *read_subarray(struct upk_value v, struct npy_type *t) {
    v = value_resolve(v);
    if (v.kind == UPK_NONE) return NULL;
    if (v.kind != UPK_TUPLE || v.as.cell->len != 2) return "its sub-array is no pair";
    t->base = value_resolve(v.as.cell->items[0]);
    const struct upk_value shape = value_resolve(v.as.cell->items[1]);
    if (shape.kind != UPK_TUPLE) return "the shape of its sub-array is no tuple";
    if (shape.as.cell->len == 0) return "its sub-array has no dimension";
    t->shape = shape.as.cell;
    return NULL;
}

static const char *read_fields(struct upk_value names, struct upk_value fields, struct npy_type *t) {
    names = value_resolve(names);
    fields = value_resolve(fields);
    if (names.kind == UPK_NONE && fields.kind == UPK_NONE) return NULL;
    if (names.kind != UPK_TUPLE || fields.kind != UPK_DICT)
        return "its fields are no dict with a tuple of names";
    t->names = names.as.cell;
    t->fields = fields.as.cell;
    return NULL;
}

static const char *read_state(const struct upk_cell *state, struct npy_type *t) {
    const struct upk_value *s = state->items;
    const struct upk_value order = value_resolve(s[1]);
    if (!read_int(s[0], &t->version) || t->version != (state->len == STATE_LEN ? 3 : 4))
        return "the version of its state";
    if (!value_is_str(order) || order.len != 1 || !memchr("<>|", order.as.bytes[0], 3))
        return "its byte order";
    t->order = (char)order.as.bytes[0];
    if (!read_int(s[5], &t->state_itemsize) || !read_int(s[6], &t->state_align) || !read_int(s[7], &t->flags))
        return "item size, alignment or flags";
    if (state->len == STATE_LEN_WITH_METADATA) t->metadata = value_resolve(s[8]);
    const char *wrong = read_subarray(s[2], t);
    return wrong ? wrong : read_fields(s[3], s[4], t);
}

/* numpy.record; its place from version 2 on is numpy.rec.  Of other classes numpy makes other dtypes. */
static bool is_record_class(struct upk_value v) {
    if (v.kind != UPK_GLOBAL) return false;
    const struct upk_compat class = global_name(as_global(v.as.cell));
    return bytes_are(class.name, class.name_len, "record") &&
           (bytes_are(class.module, class.module_len, "numpy") ||
            bytes_are(class.module, class.module_len, "numpy.rec"));
}

const char *npy_read(struct upk_value dtype, struct npy_type *out) {
    dtype = value_resolve(dtype);
    memset(out, 0, sizeof *out);
    if (dtype.kind != UPK_OBJECT) return "not made by a call";
    const struct object *const o = as_object(dtype.as.cell);
    const struct upk_cell *const args = object_args(o);
    const struct upk_value state = value_resolve(o->state);
    out->object = o;
    if (args->len == 0) return "no code";
    if (state.kind != UPK_TUPLE || state.as.cell->len < STATE_LEN ||
        state.as.cell->len > STATE_LEN_WITH_METADATA)
        return "its state is no tuple of 8 or 9";
    const char *const wrong = read_state(state.as.cell, out);
    if (wrong) return wrong;
    const struct upk_value code = value_resolve(args->items[0]);
    if (is_record_class(code)) {
        out->kind = 'V';
        out->named = true;
        out->align = 1;
        out->itemsize = out->state_itemsize < 0 ? 0 : (uint64_t)out->state_itemsize;
    } else if (!value_is_str(code) || !read_code(code, out)) {
        return "its code";
    }
    if (out->itemsize > INT32_MAX) return "items larger than 2 GiB";
    if (out->kind == 'V' && out->state_align > 0) out->align = (uint64_t)out->state_align;
    return NULL;
}

bool npy_same_name(struct upk_value a, struct upk_value b, uint64_t *looks) {
    enum { LOOK_BYTES = 32 };
    a = value_resolve(a);
    b = value_resolve(b);
    ++*looks;
    if (!value_is_str(a) || !value_is_str(b) || a.len != b.len) return false;
    if (a.as.bytes == b.as.bytes) return true; /* the memo's, as a rule */
    *looks += a.len / LOOK_BYTES;
    return memcmp(a.as.bytes, b.as.bytes, a.len) == 0;
}

/* A field, (dtype, offset[, title]). */
static bool read_field(struct upk_value field, struct upk_value *dtype, uint64_t *offset) {
    int64_t at;
    field = value_resolve(field);
    if (field.kind != UPK_TUPLE || field.as.cell->len < 2 || !read_int(field.as.cell->items[1], &at) ||
        at < 0)
        return false;
    *dtype = value_resolve(field.as.cell->items[0]);
    *offset = (uint64_t)at;
    return true;
}

uint32_t npy_part_count(const struct npy_type *t) { return t->names ? t->names->len : t->shape ? 1 : 0; }

bool npy_part(const struct npy_type *t, uint32_t i, uint32_t *place, uint64_t *looks, struct upk_value *dtype,
              uint64_t *offset) {
    if (!t->names) {
        *dtype = t->base;
        *offset = 0;
        return true;
    }
    const struct upk_cell *const fields = t->fields;
    for (uint32_t n = 0, at = *place; n < fields->len; n += 2, at += 2) {
        if (at >= fields->len) at = 0;
        if (!npy_same_name(fields->items[at], t->names->items[i], looks)) continue;
        *place = at + 2;
        return read_field(fields->items[at + 1], dtype, offset);
    }
    return false;
}

bool npy_bytes(const struct upk_doc *doc, struct upk_value v, const uint8_t **at, uint64_t *len) {
    size_t n = 0;
    v = value_resolve(v);
    if (v.kind == UPK_BUFFER) {
        if (!upk_doc_buffer(doc, (size_t)v.as.i, at, &n)) return false;
    } else if (!upk_get_bytes(v, at, &n)) {
        return false;
    }
    *len = n;
    return true;
}
