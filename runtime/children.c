/* The children of a compound value, as the opcodes built it or as it is read after normalisation.
 *
 * Layer: runtime, over doc.h alone.
 */
#include "doc.h"

static void add_span(struct children *out, const struct upk_value *at, size_t len) {
    if (len > 0) out->spans[out->count++] = (struct span){at, len};
}

static void add_members(struct children *out, const struct upk_cell *c) {
    if (c) add_span(out, c->items, c->len);
}

static size_t add_own(struct children *out, size_t n, struct upk_cell *c) {
    if (c) out->own[n++] = value_of_cell(c);
    return n;
}

static size_t add_state(struct children *out, size_t n, const struct object *o) {
    if (o->state.kind != UPK_INVALID) out->own[n++] = o->state;
    return n;
}

static void raw_object(const struct object *o, struct children *out) {
    const struct object_more *more = o->more;
    size_t n = add_own(out, 0, o->callee);
    n = add_own(out, n, o->args);
    /* Keywords that were not written by NEWOBJ_EX are reached through the partial that spells them (N8). */
    if (more && o->cell.op == UPK_OP_NEWOBJ_EX) n = add_own(out, n, more->kw);
    n = add_state(out, n, o);
    add_span(out, out->own, n);
    if (more) {
        add_members(out, more->items);
        add_members(out, more->adds);
        add_members(out, more->pairs);
    }
}

static void read_object(const struct object *o, struct children *out) {
    const struct object_more *more = o->more;
    size_t n = add_own(out, 0, object_args(o));
    if (more) n = add_own(out, n, more->kw);
    n = add_state(out, n, o);
    add_span(out, out->own, n);
    if (more) {
        add_members(out, more->base);
        add_members(out, more->items);
        add_members(out, more->pairs);
        add_members(out, more->adds);
    }
}

void cell_children(struct upk_cell *c, bool raw, struct children *out) {
    out->count = 0;
    if (!raw) {
        struct upk_value v = value_resolve(value_of_cell(c));
        if (!kind_has_cell(v.kind)) return;
        c = v.as.cell;
    }
    switch (c->kind) {
    case UPK_PERSID: add_span(out, c->items, 1); break;
    case UPK_TUPLE:
    case UPK_FROZENSET:
    case UPK_LIST:
    case UPK_DICT:
    case UPK_SET: add_span(out, c->items, c->len); break;
    case UPK_OBJECT:
        if (raw) {
            raw_object(as_object(c), out);
        } else {
            read_object(as_object(c), out);
        }
        break;
    default: break; /* BYTEARRAY, GLOBAL: none */
    }
}
