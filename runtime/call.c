/* Names, calls, BUILD and the steps that grow what a call made (rules 1 to 4 of docs/runtime.md).
 *
 * Under a policy a name is looked up at once, by find_class; arguments and states are matched on the finished graph.
 * Layer: runtime, under machine.c; over normalise.c and freeze.c.
 */
#include <string.h>

#include "cells.h"

/* ---- names */

static struct global *global_new(struct machine *m, const uint8_t *module, size_t module_len,
                                 const uint8_t *name, size_t name_len, uint32_t row,
                                 const struct asked *asked, bool old) {
    struct global *g = mem_alloc(&m->doc->mem, sizeof *g);
    if (!g) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    *g = (struct global){
        .cell = {.len = row, .size = 1, .depth = 1, .kind = UPK_GLOBAL, .op = (uint8_t)m->op},
        .asked = asked,
        .module = module,
        .name = name,
        .module_len = (uint32_t)module_len,
        .name_len = (uint32_t)name_len,
        .old = old,
        .at = offset_of(m, m->at),
    };
    return g;
}

static bool is_name(const struct global *g, const uint8_t *module, size_t module_len, const uint8_t *name,
                    size_t name_len, bool old) {
    return g->old == old && g->module_len == module_len && g->name_len == name_len &&
           memcmp(g->module, module, module_len) == 0 && memcmp(g->name, name, name_len) == 0;
}

static uint64_t name_hash(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
                          size_t name_len) {
    return hash_bytes(m, name, name_len, hash_bytes(m, module, module_len, 7));
}

/* The slot of a name: where it is, or where it would go (global NULL); NULL: the list is full and must grow. */
static struct name_slot *name_slot(struct machine *m, const uint8_t *module, size_t module_len,
                                   const uint8_t *name, size_t name_len, bool old) {
    if (m->name_cap <= NAMES_LISTED) {
        for (size_t i = 0; i < m->name_count; i++) {
            if (is_name(m->names[i].global, module, module_len, name, name_len, old)) return &m->names[i];
        }
        return m->name_count < m->name_cap ? &m->names[m->name_count] : NULL;
    }
    uint64_t hash = name_hash(m, module, module_len, name, name_len);
    size_t i = (size_t)hash & (m->name_cap - 1);
    for (; m->names[i].global; i = (i + 1) & (m->name_cap - 1)) {
        if (m->names[i].hash == hash && is_name(m->names[i].global, module, module_len, name, name_len, old))
            break;
    }
    m->names[i].hash = hash;
    return &m->names[i];
}

/* The first few stand in the machine. */
static bool names_grow(struct machine *m) {
    const size_t old_cap = m->name_cap, cap = old_cap ? 4 * old_cap : NAMES_LISTED;
    struct name_slot *old = m->names, *slots = m->names_room;
    if (old_cap) slots = mem_resize(&m->doc->mem, NULL, 0, cap * sizeof *slots);
    if (!slots) return machine_fail_memory(m);
    memset(slots, 0, cap * sizeof *slots);
    m->names = slots;
    m->name_cap = cap;
    if (old_cap == 0) return true;
    machine_secret(m);
    for (size_t i = 0; i < old_cap; i++) {
        struct global *g = old[i].global;
        if (g) name_slot(m, g->module, g->module_len, g->name, g->name_len, g->old)->global = g;
    }
    if (old != m->names_room) (void)mem_resize(&m->doc->mem, old, old_cap * sizeof *old, 0);
    return true;
}

/* The slot of a name, free where it is new; NULL: no memory. */
static struct name_slot *name_place(struct machine *m, struct upk_compat n, bool old) {
    const bool full = m->name_cap > NAMES_LISTED && 2 * m->name_count >= m->name_cap;
    struct name_slot *const slot =
        full ? NULL : name_slot(m, n.module, n.module_len, n.name, n.name_len, old);
    if (slot) return slot;
    return names_grow(m) ? name_slot(m, n.module, n.module_len, n.name, n.name_len, old) : NULL;
}

bool name_push(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
               size_t name_len, struct upk_value *out) {
    const struct upk_compat n = {module, module_len, name, name_len};
    const bool old = m->protocol < 3;
    size_t longest = module_len > name_len ? module_len : name_len;
    if (longest > m->most_name) m->most_name = longest;
    if (module_len == 0 || name_len == 0 || longest > m->budgets[UPK_BUDGET_NAME])
        return machine_fail_name(m, UPK_ERR_NAME_LENGTH, old, n);
    struct name_slot *const slot = name_place(m, n, old);
    if (!slot) return false;
    if (!slot->global) {
        uint32_t row = 0;
        const struct asked *asked = NULL;
        if (m->policy) {
            row = find_row(m->policy, !old, module, module_len, name, name_len);
            if (row_asks(m->policy, row) && !name_ask(m, old, n, &row, &asked)) return false;
        }
        if (!fail_over(m, UPK_BUDGET_NAMES, m->name_count - m->walked + 1)) return false;
        slot->global = global_new(m, module, module_len, name, name_len, row, asked, old);
        if (!slot->global) return false;
        m->name_count++;
    }
    slot->global->uses++;
    *out = value_of_cell(&slot->global->cell);
    return true;
}

bool name_canonical(struct machine *m, const struct global *of, const uint8_t *attribute, size_t len,
                    struct upk_value *out) {
    struct upk_compat n = cell_name(m->policy, &of->cell);
    const size_t outer = n.name_len + 1;
    if (len > UPK_NAME_MOST || outer + len > UPK_NAME_MOST) {
        n.name = attribute;
        n.name_len = len;
        return machine_fail_name(m, UPK_ERR_NAME_LENGTH, false, n);
    }
    uint8_t *name = mem_alloc(&m->doc->mem, outer + len);
    if (!name) return machine_fail_memory(m);
    memcpy(name, n.name, n.name_len);
    name[n.name_len] = '.';
    memcpy(name + outer, attribute, len);
    n.name = name;
    n.name_len = outer + len;
    uint32_t found = find_row(m->policy, 1, n.module, n.module_len, n.name, n.name_len);
    const bool asks = row_asks(m->policy, found);
    struct name_slot *const slot = asks ? name_place(m, n, false) : NULL;
    const struct asked *asked = NULL;
    if (asks && !slot) return false;
    struct global *g = asks ? slot->global : NULL;
    if (!g) {
        if (asks && !name_ask(m, false, n, &found, &asked)) return false;
        g = global_new(m, n.module, n.module_len, n.name, n.name_len, found, asked, false);
        if (!g) return false;
        if (asks) {
            slot->global = g;
            m->name_count++;
            m->walked++;
        }
    }
    *out = value_of_cell(&g->cell);
    return true;
}

/* ---- calls */

/* A member of a state that cannot change: an object that was matched already, a value that was spelled, a container of single
 * values that is closed to more of them. */
static bool member_is_final(struct upk_value v) {
    if (v.kind == UPK_OBJECT) return v.as.cell->cap != 0 || value_resolve(v).kind < UPK_BUFFER;
    if (!kind_is_compound(v.kind)) return true;
    const bool closed = v.kind == UPK_TUPLE || v.kind == UPK_FROZENSET || v.as.cell->flags & CELL_FROZEN;
    return closed && v.kind != UPK_PERSID && !(v.as.cell->flags & CELL_HAS_CELL);
}

/* A state with compound members is looked into as far as that costs little: an array has its shape and its dtype there.  What
 * many objects share is better judged at STOP, where it is remembered. */
static bool state_is_final(struct upk_value state) {
    enum { FEW_MEMBERS = 16 };
    if (!kind_has_cell(state.kind)) return true;
    const struct upk_cell *const c = state.as.cell;
    if (!(c->flags & CELL_HAS_CELL)) return state.kind != UPK_OBJECT;
    if (c->len > FEW_MEMBERS || c->flags & CELL_SHARED || !kind_is_container(state.kind)) return false;
    for (uint32_t i = 0; i < c->len; i++)
        if (!member_is_final(c->items[i])) return false;
    return true;
}

/* Before its BUILD, where its row permits a step. */
static inline bool waits_for_steps(const struct object *o, const struct upk_row *row) {
    const uint32_t steps = UPK_ROW_STATE | UPK_ROW_ITEMS | UPK_ROW_PAIRS | UPK_ROW_ADDS;
    return !(o->cell.flags & CELL_BUILT) && row->flags & steps;
}

/* Nothing may change any more in such a state, nor in arguments (rules 2 and 9); nothing may be added to an object after its
 * BUILD, or when its row permits no step.  Then it can be matched at once. */
static bool match_if_final(struct machine *m, struct object *o, const struct upk_row *row) {
    if (o->more || row->form_count == 0 || !state_is_final(o->state)) return true;
    if (row->special == UPK_SPECIAL_PARTIAL) return true; /* it may still be used up by a call of it (N8) */
    return match_early(m->doc, o) || machine_fail_memory(m);
}

struct object_more *object_extend(struct machine *m, struct object *o) {
    if (o->more) return o->more;
    struct object_more *more = mem_alloc(&m->doc->mem, sizeof *more);
    if (!more) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    memset(more, 0, sizeof *more);
    o->more = more;
    return more;
}

static bool count_call(struct machine *m, uint32_t row) {
    const uint32_t most = m->policy->rows[row].calls;
    if (!m->row_calls) {
        size_t size = m->policy->row_count * sizeof *m->row_calls;
        m->row_calls = mem_resize(&m->doc->mem, NULL, 0, size);
        if (!m->row_calls) return machine_fail_memory(m);
        memset(m->row_calls, 0, size);
    }
    if (++m->row_calls[row] <= most) return true;
    (void)machine_fail_row(m, UPK_ERR_BUDGET, row, "calls of this row");
    m->error.budget = UPK_BUDGET_CALLS;
    m->error.limit = most;
    m->error.figure = m->row_calls[row];
    return false;
}

/* A call of a name that spells nothing: as a rule. */
static bool is_plain_call(const struct machine *m, struct upk_value callee, const struct upk_value *kw) {
    return callee.kind == UPK_GLOBAL && !kw &&
           (m->op == UPK_OP_NEWOBJ ||
            (m->op == UPK_OP_REDUCE && m->policy->rows[callee.as.cell->len].special == UPK_SPECIAL_NONE));
}

static bool is_call(struct machine *m, struct upk_value callee, struct upk_value args,
                    const struct upk_value *kw) {
    if (callee.kind != UPK_GLOBAL && callee.kind != UPK_OBJECT)
        return machine_fail_detail(m, UPK_ERR_CALLABLE, "found a %s", kind_word(callee.kind));
    if (args.kind != UPK_TUPLE)
        return machine_fail_detail(m, UPK_ERR_ARGUMENTS, "found a %s", kind_word(args.kind));
    if (kw && kw->kind != UPK_DICT)
        return machine_fail_detail(m, UPK_ERR_KEYWORDS, "found a %s", kind_word(kw->kind));
    return true;
}

/* Written member by member: what compilers make of a whole one takes as long as all the rest of a call. */
static struct object *object_new(struct machine *m, struct upk_value callee, struct upk_value args) {
    struct object *const o = mem_alloc(&m->doc->mem, sizeof *o);
    if (!o) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    o->cell = (struct upk_cell){.size = 1, .depth = 1, .kind = UPK_OBJECT, .op = (uint8_t)m->op};
    o->next = NULL;
    o->callee = callee.as.cell;
    o->args = args.as.cell;
    o->state = (struct upk_value){.kind = UPK_INVALID};
    o->more = NULL;
    o->at = offset_of(m, m->at);
    o->built_at = 0;
    object_absorb(m, o, callee);
    object_absorb(m, o, args);
    return o;
}

static bool keywords_take(struct machine *m, struct object *o, struct upk_value kw) {
    object_absorb(m, o, kw);
    struct object_more *const more = object_extend(m, o);
    if (!more) return false;
    more->kw = kw.as.cell;
    return true;
}

/* What the policy says of it. */
static bool call_judge(struct machine *m, struct object *o, struct upk_value callee,
                       const struct upk_value *kw) {
    if (!freeze_arguments(m, o->args) || (kw && !freeze_arguments(m, kw->as.cell))) return false;
    if (is_plain_call(m, callee, kw)) {
        o->cell.len = callee.as.cell->len;
        o->cell.index = m->op == UPK_OP_NEWOBJ ? UPK_VERB_NEW : UPK_VERB_CALL;
        if (!harden(m, o->args)) return false;
    } else if (!normalise_call(m, o)) {
        return false;
    }
    const struct upk_row *const row = &m->policy->rows[o->cell.len];
    if (row->calls && !count_call(m, o->cell.len)) return false;
    if (o->cell.flags & CELL_NORMAL) return true;
    m->doc->unjudged++;
    return waits_for_steps(o, row) || match_if_final(m, o, row);
}

struct upk_cell *call_make(struct machine *m, struct upk_value callee, struct upk_value args,
                           const struct upk_value *kw) {
    m->events++;
    if (!fail_over(m, UPK_BUDGET_CALLS, ++m->calls) || !is_call(m, callee, args, kw)) return NULL;
    struct object *const o = object_new(m, callee, args);
    if (!o || (kw && !keywords_take(m, o, *kw))) return NULL;
    if (m->last_object) {
        m->last_object->next = o;
    } else {
        m->doc->objects = o;
    }
    m->last_object = o;
    return m->policy && !call_judge(m, o, callee, kw) ? NULL : &o->cell;
}

/* ---- steps on what was made */

static bool fail_step(struct machine *m, const char *what, struct upk_value target) {
    return machine_fail_detail(m, UPK_ERR_KIND, "%s on a %s", what, kind_word(value_resolve(target).kind));
}

/* A template is no row that a step is added to: what may be written there. */
static void say_template(struct machine *m, uint32_t row, uint32_t row_flag) {
    const struct upk_row *const r = &m->policy->rows[row];
    const struct upk_form *const form = &m->policy->forms[r->first_form];
    if (r->form_count == 0 || !(form->flags & UPK_FORM_TEMPLATE)) return;
    const bool exception = form->verb == UPK_VERB_CALL && !row_has_members(m->policy, row);
    if (exception && row_flag == UPK_ROW_STATE)
        (void)snprintf(m->part, sizeof m->part, "add the attributes, `{ name: T }`, to the template");
    else
        (void)snprintf(m->part, sizeof m->part, "write a `class` row with `%s` for the template",
                       step_of(m->op));
}

static bool fail_row_step(struct machine *m, uint32_t row, uint32_t row_flag, const char *what) {
    (void)machine_fail_row(m, UPK_ERR_STEP, row, what);
    say_template(m, row, row_flag);
    return false;
}

/* May this object take the step now?  (policy only) */
__attribute__((cold)) static bool may_step_now(struct machine *m, const struct object *o, uint32_t row_flag,
                                               const char *what) {
    if (o->cell.flags & CELL_NORMAL) {
        struct upk_value v = value_of_cell((struct upk_cell *)(uintptr_t)&o->cell);
        if (o->more->value.kind == UPK_GLOBAL) return fail_step(m, what, v);
        return machine_fail_detail(m, UPK_ERR_STEP, "%s on a %s", what, kind_word(o->more->value.kind));
    }
    const struct upk_row *row = &m->policy->rows[o->cell.len];
    bool spelling = row_flag == UPK_ROW_STATE && row->special == UPK_SPECIAL_PARTIAL;
    if (!(row->flags & row_flag) && !spelling) return fail_row_step(m, o->cell.len, row_flag, what);
    if (o->cell.flags & CELL_BUILT) return machine_fail_row(m, UPK_ERR_LATE_CHANGE, o->cell.len, what);
    if (o->cell.flags & CELL_HARD) return machine_fail_row(m, UPK_ERR_INCOMPLETE, o->cell.len, what);
    return true;
}

static inline bool may_step(struct machine *m, const struct object *o, uint32_t row_flag, const char *what) {
    const bool may = !(o->cell.flags & (CELL_NORMAL | CELL_BUILT | CELL_HARD)) &&
                     m->policy->rows[o->cell.len].flags & row_flag;
    return may || may_step_now(m, o, row_flag, what);
}

bool call_build(struct machine *m, struct upk_value target, struct upk_value state) {
    if (target.kind != UPK_OBJECT) return fail_step(m, "BUILD", target);
    struct object *o = as_object(target.as.cell);
    if (o->cell.flags & CELL_BUILT) return machine_fail(m, UPK_ERR_BUILD_TWICE);
    if (m->policy && !may_step(m, o, UPK_ROW_STATE, "BUILD")) return false;
    if (m->policy) freeze_state(state);
    o->state = state;
    m->events++;
    o->built_at = offset_of(m, m->at);
    object_absorb(m, o, state);
    o->cell.flags |= CELL_BUILT;
    return !m->policy || match_if_final(m, o, &m->policy->rows[o->cell.len]);
}

static bool object_grow(struct machine *m, struct object *o, unsigned container, const struct upk_value *v,
                        size_t n) {
    const char *what = upk_op_name(m->op);
    uint32_t row_flag = container == UPK_LIST   ? UPK_ROW_ITEMS
                        : container == UPK_DICT ? UPK_ROW_PAIRS
                                                : UPK_ROW_ADDS;
    if (m->policy && !may_step(m, o, row_flag, what)) return false;
    /* N6 gives all items or pairs with the call; more of them would need to be looked at as one with those. */
    if (m->policy && o->more && o->more->base)
        return machine_fail_detail(m, UPK_ERR_STEP, "%s on an object whose items came with the call", what);
    o->cell.flags |= container == UPK_LIST   ? CELL_DID_ITEMS
                     : container == UPK_DICT ? CELL_DID_PAIRS
                                             : CELL_DID_ADDS;
    if (n == 0) return true;
    struct object_more *more = object_extend(m, o);
    if (!more) return false;
    struct upk_cell **slot = container == UPK_LIST   ? &more->items
                             : container == UPK_DICT ? &more->pairs
                                                     : &more->adds;
    if (!*slot && !(*slot = cell_new(m, container))) return false;
    struct upk_cell *c = *slot;
    uint32_t from = c->len, before = c->size;
    if (!cell_extend(m, c, v, n)) return false;
    uint32_t size = o->cell.size + (c->size - before);
    o->cell.size = size < o->cell.size ? UINT32_MAX : size;
    if (c->depth > o->cell.depth) o->cell.depth = c->depth;
    o->cell.flags |= c->flags & CELL_HAS_CELL;
    if (o->cell.flags & CELL_ABSORBED) m->doc->stale = true;
    if (container != UPK_LIST && !keys_check(m, c, from)) return false;
    if (o->cell.flags & CELL_HARD) return machine_fail_row(m, UPK_ERR_INCOMPLETE, o->cell.len, what);
    return true;
}

bool call_grow(struct machine *m, struct upk_value target, unsigned container, const struct upk_value *v,
               size_t n) {
    if (target.kind != UPK_OBJECT) return fail_step(m, upk_op_name(m->op), target);
    return object_grow(m, as_object(target.as.cell), container, v, n);
}
