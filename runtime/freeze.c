/* What was used does not change: marks on cells that arguments, states and keys reach (rules 2 and 9 of docs/runtime.md).
 *
 * Marking stops at what is marked already, and nothing marked may grow; so every cell is visited once in a decode, and what
 * is CLOSED, or HARD, stays closed.  A state is only frozen itself (CELL_FROZEN): what it holds may still be filled.
 * Layer: runtime, under call.c and keys.c.
 */
#include "machine.h"
#include "scratch.h"

static bool work_push(struct machine *m, struct upk_cell *c) {
    struct upk_cell **work =
        array_room(&m->doc->mem, m->work, &m->work_cap, m->work_len + 1, sizeof(struct upk_cell *));
    if (!work) return machine_fail_memory(m);
    m->work = work;
    work[m->work_len++] = c;
    return true;
}

bool freeze_members(struct machine *m, struct upk_cell *c) {
    const size_t base = m->work_len;
    for (;;) {
        for (uint32_t i = 0; i < c->len; i++) {
            if (!kind_is_container(c->items[i].kind)) continue;
            struct upk_cell *child = c->items[i].as.cell;
            if (child->flags & CELL_CLOSED) continue;
            child->flags |= CELL_FROZEN | CELL_CLOSED;
            if (child->flags & CELL_HAS_CELL && !work_push(m, child)) return false;
        }
        if (m->work_len == base) return true;
        c = m->work[--m->work_len];
    }
}

void freeze_tuple(const struct upk_cell *c) {
    for (uint32_t i = 0; i < c->len; i++) {
        if (kind_is_container(c->items[i].kind) && c->items[i].kind != UPK_TUPLE)
            c->items[i].as.cell->flags |= CELL_FROZEN;
    }
}

/* ---- rule 9 */

static bool harden_one(struct machine *m, struct upk_cell *c) {
    if (c->flags & CELL_HARD) return true;
    c->flags |= CELL_HARD;
    return !(c->flags & CELL_HAS_CELL) || work_push(m, c);
}

static bool harden_each(struct machine *m, const struct upk_value *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (kind_is_compound(v[i].kind) && !harden_one(m, v[i].as.cell)) return false;
    return true;
}

static bool harden_children(struct machine *m, struct upk_cell *c) {
    struct children children;
    cell_children(c, true, &children);
    for (unsigned s = 0; s < children.count; s++)
        if (!harden_each(m, children.spans[s].at, children.spans[s].len)) return false;
    return true;
}

bool harden_members(struct machine *m, struct upk_cell *c) {
    const size_t base = m->work_len;
    for (;;) {
        const bool done =
            kind_is_container(c->kind) ? harden_each(m, c->items, c->len) : harden_children(m, c);
        if (!done) return false;
        if (m->work_len == base) return true;
        c = m->work[--m->work_len];
    }
}

/* Made by `new` without arguments from a row whose class hashes by identity: its hash does not look at what comes later. */
static bool by_identity(const struct machine *m, const struct object *o) {
    if (o->cell.index != UPK_VERB_NEW || object_args(o)->len || (o->more && o->more->kw && o->more->kw->len))
        return false;
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    for (uint32_t i = 0; i < row->form_count; i++) {
        if (m->policy->forms[row->first_form + i].flags & (UPK_FORM_RUNS_EQUALITY | UPK_FORM_TEMPLATE))
            return false;
    }
    return true;
}

/* Through tuples and frozensets to the objects whose hash counts. */
bool harden_key(struct machine *m, struct upk_value v) {
    const size_t base = m->work_len;
    struct upk_value one = v;
    const struct upk_value *items = &one;
    uint32_t n = 1;
    for (;;) {
        for (uint32_t i = 0; i < n; i++) {
            struct upk_cell *c = items[i].as.cell;
            if (items[i].kind == UPK_OBJECT) {
                if (!by_identity(m, as_object(c)) && !harden(m, c)) return false;
            } else if ((items[i].kind == UPK_TUPLE || items[i].kind == UPK_FROZENSET) &&
                       !(c->flags & CELL_KEYED)) {
                c->flags |= CELL_KEYED;
                if (c->flags & CELL_HAS_CELL && !work_push(m, c)) return false;
            }
        }
        if (m->work_len == base) return true;
        const struct upk_cell *top = m->work[--m->work_len];
        items = top->items;
        n = top->len;
    }
}
