/* Putting values into cells, in line: what every opcode that fills something does.
 *
 * Layer: private to the runtime, between machine.h and the parts that fill cells.
 */
#ifndef UPK_CELLS_H
#define UPK_CELLS_H

#include "machine.h"

enum {
    ODD_KINDS = 1 << UPK_BUFFER | 1 << UPK_EXT | 1 << UPK_GLOBAL | 1 << UPK_PERSID,
    UNHASHABLE_KINDS = 1 << UPK_LIST | 1 << UPK_DICT | 1 << UPK_SET | 1 << UPK_BYTEARRAY | 1 << UPK_BUFFER |
                       1 << UPK_EXT | 1 << UPK_PERSID
};

static inline bool value_hashable(struct upk_value v) {
    v = value_resolve(v);
    if (UNHASHABLE_KINDS >> v.kind & 1) return false;
    return v.kind != UPK_TUPLE || !(v.as.cell->flags & CELL_UNHASHABLE);
}

/* Copy values; returns their kinds as a set of bits. */
static inline uint32_t values_copy(struct upk_value *to, const struct upk_value *from, size_t n) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        kinds |= 1u << from[i].kind;
    }
    return kinds;
}

/* c holds a compound value; who calls has counted one for it in c->size. */
static inline void absorb_cell(struct upk_cell *c, struct upk_value v) {
    struct upk_cell *child = v.as.cell;
    uint32_t size = c->size + (child->size - 1);
    c->size = size < c->size ? UINT32_MAX : size;
    if (child->depth >= c->depth) c->depth = child->depth + 1;
    child->flags |= (child->flags & CELL_ABSORBED) ? CELL_SHARED : CELL_ABSORBED;
    struct upk_value r = value_resolve(v);
    if (r.kind == UPK_OBJECT) return;
    if (ODD_KINDS >> r.kind & 1) {
        c->flags |= CELL_ODD;
    } else if (COMPOUND_KINDS >> r.kind & 1) {
        c->flags |= r.as.cell->flags & CELL_ODD;
    }
}

/* The part of absorb_kinds that looks at each value. */
void absorb_each(struct upk_cell *c, const struct upk_value *v, size_t n, uint32_t kinds);

/* c holds n more values, whose kinds are known as a set of bits: sizes, depths and flags of both sides. */
static inline void absorb_kinds(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n,
                                uint32_t kinds) {
    uint64_t size = (uint64_t)c->size + n;
    c->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    if (c->depth < 2) c->depth = 2;
    if (kinds & (ODD_KINDS | COMPOUND_KINDS | UNHASHABLE_KINDS)) absorb_each(c, v, n, kinds);
    if (c->flags & CELL_ABSORBED) m->doc->stale = true;
}

/* upk_cell.index of what gets members now. */
static inline uint32_t index_now(const struct machine *m) {
    return m->events < UINT32_MAX ? (uint32_t)m->events : UINT32_MAX;
}

/* Append values to c's members. */
static inline bool cell_extend(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    uint64_t len = (uint64_t)c->len + n;
    uint64_t members = c->kind == UPK_DICT ? len / 2 : len;
    if (members > m->most_items) m->most_items = members;
    if (!fail_over(m, UPK_BUDGET_ITEMS, members)) return false;
    if (n == 0) return true;
    if (len > c->cap && !mem_grow_items(&m->doc->mem, c, (uint32_t)len)) return machine_fail_memory(m);
    assert(len <= c->cap);
    uint32_t kinds = values_copy(c->items + c->len, v, n);
    c->len = (uint32_t)len;
    c->index = index_now(m);
    absorb_kinds(m, c, v, n, kinds);
    return true;
}

/* An object holds one more value.  What is odd in that is for the object's row to judge. */
static inline void object_absorb(struct machine *m, struct object *o, struct upk_value v) {
    struct upk_cell *c = &o->cell;
    uint32_t size = 1, depth = 2;
    if (kind_is_compound(v.kind)) {
        struct upk_cell *child = v.as.cell;
        size = child->size;
        depth = child->depth + 1;
        child->flags |= child->flags & CELL_ABSORBED ? CELL_SHARED : CELL_ABSORBED;
        c->flags |= CELL_HAS_CELL;
    }
    c->size = c->size > UINT32_MAX - size ? UINT32_MAX : c->size + size;
    if (c->depth < depth) c->depth = depth;
    if (c->flags & CELL_ABSORBED) m->doc->stale = true;
}

#endif
