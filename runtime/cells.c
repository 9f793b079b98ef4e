/* Cells: making them, and putting values into them.  Sizes, depths and what kinds of members there are is kept up to date as
 * values go in, so that a finished graph that grew only from below needs no pass to be measured.
 *
 * Layer: runtime, under machine.c.
 */
#include <string.h>

#include "cells.h"

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

void absorb_each(struct upk_cell *c, const struct upk_value *v, size_t n, uint32_t kinds) {
    if (kinds & ODD_KINDS) c->flags |= CELL_ODD;
    if (kinds & COMPOUND_KINDS) c->flags |= CELL_HAS_CELL;
    const bool tuple = c->kind == UPK_TUPLE;
    for (size_t i = 0; i < n; i++) {
        if (v[i].kind < UPK_BUFFER) continue; /* a scalar */
        if (COMPOUND_KINDS >> v[i].kind & 1) absorb_cell(c, v[i]);
        if (tuple && !value_hashable(v[i])) c->flags |= CELL_UNHASHABLE;
    }
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
