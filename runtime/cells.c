/* Cells: making them, and putting values into them.  Sizes, depths and what kinds of members there are is kept up to date as
 * values go in, so that a finished graph that grew only from below needs no pass to be measured.
 *
 * Layer: runtime, under machine.c.
 */
#include <string.h>

#include "machine.h"

struct upk_cell *bytearray_new(struct machine *m, const uint8_t *p, size_t n) {
    struct bytearray *b = mem_alloc(&m->doc->mem, sizeof *b);
    if (!b) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    b->cell = (struct upk_cell){.len = (uint32_t)n, .size = 1, .depth = 1, .kind = UPK_BYTEARRAY};
    b->bytes = p;
    return &b->cell;
}

enum {
    ODD_KINDS = 1 << UPK_BUFFER | 1 << UPK_EXT | 1 << UPK_GLOBAL | 1 << UPK_PERSID,
    UNHASHABLE_KINDS = 1 << UPK_LIST | 1 << UPK_DICT | 1 << UPK_SET | 1 << UPK_BYTEARRAY | 1 << UPK_BUFFER |
                       1 << UPK_EXT | 1 << UPK_PERSID
};

bool value_hashable(struct upk_value v) {
    v = value_resolve(v);
    if (UNHASHABLE_KINDS >> v.kind & 1) return false;
    return v.kind != UPK_TUPLE || !(v.as.cell->flags & CELL_UNHASHABLE);
}

static void absorb_cell(struct upk_cell *c, struct upk_value v) {
    struct upk_cell *child = v.as.cell;
    uint32_t size = c->size + (child->size - 1); /* the caller counted one for the child */
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

/* The same for values whose kinds are known as a set of bits. */
static void absorb_kinds(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n,
                         uint32_t kinds) {
    uint64_t size = (uint64_t)c->size + n;
    c->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    if (c->depth < 2) c->depth = 2;
    if (kinds & ODD_KINDS) c->flags |= CELL_ODD;
    if (kinds & COMPOUND_KINDS) {
        c->flags |= CELL_HAS_CELL;
        for (size_t i = 0; i < n; i++) {
            if (COMPOUND_KINDS >> v[i].kind & 1) absorb_cell(c, v[i]);
        }
    }
    if (c->kind == UPK_TUPLE && kinds & (UNHASHABLE_KINDS | 1 << UPK_TUPLE | 1 << UPK_OBJECT)) {
        for (size_t i = 0; i < n; i++) {
            if (!value_hashable(v[i])) c->flags |= CELL_UNHASHABLE;
        }
    }
    if (c->flags & CELL_ABSORBED) m->doc->stale = true;
}

void cell_absorb(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < n; i++) kinds |= 1u << v[i].kind;
    if (n) absorb_kinds(m, c, v, n, kinds);
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

bool cell_extend(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    uint64_t len = (uint64_t)c->len + n;
    uint64_t members = c->kind == UPK_DICT ? len / 2 : len;
    if (members > m->most_items) m->most_items = members;
    if (!fail_over(m, UPK_BUDGET_ITEMS, members)) return false;
    if (n == 0) return true;
    if (!mem_grow_items(&m->doc->mem, c, (uint32_t)len)) return machine_fail_memory(m);
    assert(len <= c->cap);
    uint32_t kinds = values_copy(c->items + c->len, v, n);
    c->len = (uint32_t)len;
    absorb_kinds(m, c, v, n, kinds);
    return true;
}

struct upk_cell *tuple_new(struct machine *m, const struct upk_value *items, size_t n) {
    if (n > m->most_items) m->most_items = n;
    if (!fail_over(m, UPK_BUDGET_ITEMS, n)) return NULL;
    struct upk_cell *c = mem_alloc(&m->doc->mem, sizeof *c + n * sizeof *items);
    if (!c) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    *c = (struct upk_cell){.items = (struct upk_value *)(void *)(c + 1),
                           .len = (uint32_t)n,
                           .cap = (uint32_t)n,
                           .size = 1,
                           .depth = 1,
                           .kind = UPK_TUPLE};
    uint32_t kinds = values_copy(c->items, items, n);
    if (n) absorb_kinds(m, c, items, n, kinds);
    return c;
}
