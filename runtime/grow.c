/* Opcodes that put members into what stands below them: APPEND(S), SETITEM(S), ADDITEMS.
 *
 * Most containers get all of their members at once, and nested ones a single one; for both there is a way of their own that does
 * what the general way does.
 * Layer: runtime, under loop.c; over cells.h, keys.c, key_lists.c and call.c.
 */
#include <string.h>

#include "cells.h"
#include "loop.h"

static bool grow_cell(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    if (c->flags & (CELL_FROZEN | CELL_HARD) && m->policy) {
        return machine_fail_detail(m, c->flags & CELL_FROZEN ? UPK_ERR_LATE_CHANGE : UPK_ERR_INCOMPLETE,
                                   "%s on a %s", upk_op_name(m->op), kind_word(c->kind));
    }
    const uint32_t from = c->len;
    return cell_extend(m, c, v, n) && (c->kind == UPK_LIST || keys_check(m, c, from));
}

/* The general way. */
__attribute__((noinline)) static bool grow(struct machine *m, unsigned container, const struct upk_value *v,
                                           size_t n) {
    const struct upk_value target = v[-1];
    return target.kind == container ? grow_cell(m, target.as.cell, v, n)
                                    : call_grow(m, target, container, v, n);
}

/* Members for a container that has none yet; NULL: their number, or the memory at hand, leaves that to the general way. */
static inline struct upk_value *first_items(struct machine *m, struct upk_cell *c, size_t n,
                                            uint64_t members) {
    if (members > m->budgets[UPK_BUDGET_ITEMS]) return NULL;
    struct upk_value *const items = mem_at_hand(&m->doc->mem, n * sizeof *items);
    if (!items) return NULL;
    if (members > m->most_items) m->most_items = members;
    c->items = items;
    c->len = c->cap = (uint32_t)n;
    c->index = index_now(m);
    c->size = 1 + (uint32_t)n;
    c->depth = 2;
    return items;
}

/* One value for a list, or one pair with a str for key for a dict: no key to compare with.  Nested containers come so. */
static inline bool grow_by_one(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    struct upk_value *const items = first_items(m, c, n, 1);
    if (!items) return grow(m, c->kind, v, n);
    const struct upk_value last = v[n - 1];
    if (n == 2) items[0] = v[0];
    items[n - 1] = last;
    if (ODD_KINDS >> last.kind & 1) c->flags |= CELL_ODD;
    if (!kind_is_compound(last.kind)) return true;
    c->flags |= CELL_HAS_CELL;
    absorb_cell(c, last);
    if (c->flags & CELL_ABSORBED) m->doc->stale = true; /* by itself */
    return true;
}

/* Copy pairs; returns the kinds of their values as a set of bits.  *alike: their keys are those of a list, by address. */
static inline uint32_t pairs_copy(struct upk_value *to, const struct upk_value *from, size_t n,
                                  const struct upk_value *list, bool *alike) {
    uint32_t values = 0;
    uint64_t heads = 0, places = 0, a[2], b[2];
    for (size_t i = 0; i < n; i += 2) {
        memcpy(a, &from[i], sizeof a);
        memcpy(b, &list[i], sizeof b);
        heads |= a[0] ^ b[0];
        places |= a[1] ^ b[1];
        to[i] = from[i];
        to[i + 1] = from[i + 1];
        values |= 1u << from[i + 1].kind;
    }
    *alike = !((heads & HEAD(0xff, 0, UINT32_MAX)) | places);
    return values;
}

static inline uint32_t key_kinds(const struct upk_value *v, size_t n) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < n; i += 2) kinds |= 1u << v[i].kind;
    return kinds;
}

/* The container below v, if it has nothing yet and was used nowhere. */
static inline struct upk_cell *fresh(unsigned container, const struct upk_value *v) {
    const struct upk_value target = v[-1];
    return target.kind == container && !(target.as.cell->cap | target.as.cell->flags) ? target.as.cell : NULL;
}

/* The pairs of a dict, as records come: their keys are most often those of an earlier dict. */
static inline bool grow_record(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    struct upk_value *const items = first_items(m, c, n, n / 2);
    if (!items) return grow(m, UPK_DICT, v, n);
    struct key_list *const like = key_list_of_length(m, n);
    bool alike = false;
    uint32_t kinds = like ? pairs_copy(items, v, n, like->dict->items, &alike) : values_copy(items, v, n);
    const uint32_t keys = alike ? 1 << UPK_STR : key_kinds(items, n);
    kinds |= keys;
    if (kinds & (ODD_KINDS | COMPOUND_KINDS)) {
        absorb_each(c, items, n, kinds);
        if (c->flags & CELL_ABSORBED) m->doc->stale = true;
    }
    if (alike) {
        key_list_number(m, c, like);
        return true;
    }
    return m->policy && keys == 1 << UPK_STR ? keys_check_record(m, c) : keys_check(m, c, 0);
}

bool do_append(struct machine *m) {
    const struct upk_value *const v = m->sp - 1;
    struct upk_cell *const c = fresh(UPK_LIST, v);
    return c ? grow_by_one(m, c, v, 1) : grow(m, UPK_LIST, v, 1);
}

bool do_setitem(struct machine *m) {
    const struct upk_value *const v = m->sp - 2;
    struct upk_cell *const c = v->kind == UPK_STR ? fresh(UPK_DICT, v) : NULL;
    return c ? grow_by_one(m, c, v, 2) : grow(m, UPK_DICT, v, 2);
}

static bool grow_marked(struct machine *m, unsigned container, const struct upk_value *v) {
    const size_t n = (size_t)(m->sp - v);
    if (v == fence(m)) return fail_pop(m);
    if (container != UPK_DICT) return grow(m, container, v, n);
    if (n % 2) return machine_fail(m, UPK_ERR_ODD);
    struct upk_cell *const c = v->kind == UPK_STR && n - 1 < 2 * RECORD_PAIRS ? fresh(UPK_DICT, v) : NULL;
    return c ? grow_record(m, c, v, n) : grow(m, UPK_DICT, v, n);
}

bool do_grow_marked(struct machine *m, unsigned container) {
    struct upk_value *const v = mark_pop(m);
    if (!v || !grow_marked(m, container, v)) return false;
    m->sp = v;
    return true;
}
