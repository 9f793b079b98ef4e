/* Where in the value a refusal stands.  What is on the stack when it comes does not say that: a name may be a member or what is
 * called, a few values a tuple or members of a list.  So the machine goes on without its policy, from the opcode that was refused
 * on: what that leaves on top of the stack is watched, then whatever takes it up, until STOP.
 *
 * Only what an opcode has just taken up is looked at, so a step costs the same however large the value is.
 * Layer: runtime, over the machine; for people, never for the verdict.
 */
#include <string.h>

#include "loop.h"
#include "text.h"

enum {
    OPCODES_MOST = 1 << 20, /* a place further up is not looked for */
    STEPS_MOST =
        sizeof((struct upk_error *)0)->path / 2 /* a path of more does not fit: none is shorter than `.a` */
};

enum step_kind { STEP_INDEX, STEP_KEY, STEP_KEYS, STEP_ARGS, STEP_KWARGS, STEP_STATE, STEP_ID };

struct step {
    enum step_kind kind;
    size_t at;            /* of a member or a key */
    struct upk_value key; /* of STEP_KEY */
};

struct place {
    struct machine *m;
    const struct upk_policy *policy;
    struct step steps[STEPS_MOST]; /* a ring: those from `first` up to `end`, the innermost first */
    size_t first, end;
};

/* ---- steps */

static void add_step(struct place *w, struct step s) {
    if (w->end - w->first == STEPS_MOST) w->first++; /* a path is read from its beginning */
    w->steps[w->end++ % STEPS_MOST] = s;
}

static void add_word(struct place *w, enum step_kind kind) { add_step(w, (struct step){.kind = kind}); }

static void add_member(struct place *w, const struct upk_cell *c, size_t before, size_t at) {
    if (c->kind != UPK_DICT)
        add_step(w, (struct step){.kind = STEP_INDEX, .at = before + at});
    else if (at % 2)
        add_step(w, (struct step){.kind = STEP_KEY, .key = c->items[at - 1]});
    else
        add_step(w, (struct step){.kind = STEP_KEYS, .at = (before + at) / 2});
}

/* The last step, where it is one to a member; NULL: it is none. */
static struct step *last_index(struct place *w) {
    struct step *last = w->end > w->first ? &w->steps[(w->end - 1) % STEPS_MOST] : NULL;
    return last && last->kind == STEP_INDEX ? last : NULL;
}

/* ---- calls.  Where the call spells something else (N2 to N9), the place is that in what it spells. */

static unsigned special_of(const struct place *w, struct upk_value v) {
    v = value_resolve(v);
    if (!w->policy || v.kind != UPK_GLOBAL) return UPK_SPECIAL_NONE;
    const struct global *g = as_global(v.as.cell);
    if (g->module_len > UPK_NAME_MOST || g->name_len > UPK_NAME_MOST) return UPK_SPECIAL_NONE;
    const uint32_t row = find_row(w->policy, !g->old, g->module, g->module_len, g->name, g->name_len);
    return row ? w->policy->rows[row].special : (unsigned)UPK_SPECIAL_NONE;
}

/* copyreg._reconstructor(class, base, value) */
static void step_of_reconstructor(struct place *w, const struct object *o, struct step *last) {
    if (last->at < 2) {
        w->end--;
        return;
    }
    switch (special_of(w, o->args->items[1])) {
    case UPK_SPECIAL_LIST:
    case UPK_SPECIAL_DICT: w->end--; return;
    case UPK_SPECIAL_TUPLE: w->end = w->first; break; /* the tuple or its members are the arguments */
    default: last->at = 0;
    }
    add_word(w, STEP_ARGS);
}

/* The value is among the arguments. */
static void step_to_arguments(struct place *w, const struct object *o) {
    struct step *last = last_index(w);
    switch (last ? special_of(w, value_of_cell(o->callee)) : UPK_SPECIAL_NONE) {
    case UPK_SPECIAL_RECONSTRUCTOR: step_of_reconstructor(w, o, last); return;
    case UPK_SPECIAL_NEWOBJ:
        if (last->at == 0) { /* the class */
            w->end--;
            return;
        }
        last->at--;
        break;
    case UPK_SPECIAL_ENCODE:
    case UPK_SPECIAL_BYTES:
    case UPK_SPECIAL_BYTEARRAY:
    case UPK_SPECIAL_SET:
    case UPK_SPECIAL_FROZENSET:
    case UPK_SPECIAL_GETATTR:
    case UPK_SPECIAL_PARTIAL:
        if (last->at == 0) {
            w->end--;
            return;
        }
        break;
    default: break;
    }
    add_word(w, STEP_ARGS);
}

static void step_to_state(struct place *w, const struct object *o) {
    struct step *last = last_index(w);
    if (!last || special_of(w, value_of_cell(o->callee)) != UPK_SPECIAL_PARTIAL) {
        add_word(w, STEP_STATE);
        return;
    }
    /* functools.partial: (C.__new__, (C, *args), kw, None) */
    const size_t part = last->at;
    w->end--;
    last = last_index(w);
    if (part == 2) {
        add_word(w, STEP_KWARGS);
    } else if (part == 1 && last && last->at == 0) {
        w->end--;
    } else if (part == 1 && last) {
        last->at--;
        add_word(w, STEP_ARGS);
    }
}

/* ---- what takes a value up.  The opcode took the last `taken` values of the stack, of which that one was number `off`; what it
 * changes or calls is the first of them. */

/* A new container has as many members as were taken; one that grew has those but the first behind what it had. */
static bool find_member(const struct upk_cell *c, size_t taken, size_t off, size_t *at) {
    if (!c || c->len + off < taken) return false;
    *at = c->len + off - taken;
    return *at < c->len && c->items[*at].flags & VALUE_WATCHED;
}

static bool step_to_grown(struct place *w, const struct object_more *more, const struct upk_cell *grown,
                          size_t taken, size_t off) {
    size_t at;
    if (!find_member(grown, taken, off, &at)) return false;
    add_member(w, grown, more->base && more->base->kind == grown->kind ? more->base->len : 0, at);
    return true;
}

static bool step_to_part(struct place *w, const struct object *o, const struct upk_cell *value, size_t taken,
                         size_t off) {
    const struct object_more *more = o->more;
    size_t at;
    if (off == 1 && o->state.flags & VALUE_WATCHED) {
        step_to_state(w, o);
    } else if (off == 1 && o->args == value) {
        step_to_arguments(w, o);
    } else if (off == 2 && more && more->kw && more->kw == value) {
        add_word(w, STEP_KWARGS);
    } else if (find_member(o->args, taken, off, &at)) { /* INST, OBJ */
        add_member(w, o->args, 0, at);
        add_word(w, STEP_ARGS);
    } else if (!more || !(step_to_grown(w, more, more->items, taken, off) ||
                          step_to_grown(w, more, more->pairs, taken, off) ||
                          step_to_grown(w, more, more->adds, taken, off))) {
        return off == 0 && o->callee == value; /* an object stands where its name does */
    }
    return true;
}

/* The value that was watched is gone from its place, or there is none yet: is it, in what is now on top? */
static bool take_up(struct place *w) {
    struct machine *m = w->m;
    struct watch *watch = &m->watch;
    if (m->sp == fence(m)) return watch->slot == SIZE_MAX; /* the next value will do */
    struct upk_value *top = m->sp - 1;
    const size_t slot = (size_t)(top - m->stack);
    if (watch->slot != SIZE_MAX) {
        size_t at;
        if (watch->slot < slot || watch->height <= slot) return false;
        const size_t taken = watch->height - slot, off = watch->slot - slot;
        if (top->kind == UPK_OBJECT) {
            if (!step_to_part(w, as_object(top->as.cell), watch->cell, taken, off)) return false;
        } else if (!kind_is_compound(top->kind) || !find_member(top->as.cell, taken, off, &at)) {
            return false;
        } else if (top->kind == UPK_PERSID) {
            add_word(w, STEP_ID);
        } else {
            add_member(w, top->as.cell, 0, at);
        }
    }
    top->flags |= VALUE_WATCHED;
    watch->slot = slot;
    watch->cell = kind_has_cell(top->kind) ? top->as.cell : NULL;
    return true;
}

/* ---- going on */

/* False: the value does not become part of the result, or it is not known where. */
static bool follow(struct place *w) {
    struct machine *m = w->m;
    struct upk_options options = *m->options;
    const struct upk_options *const given = m->options;
    const uint64_t *const limits = m->budgets;
    uint64_t budgets[UPK_BUDGET_COUNT];
    memcpy(budgets, upk_budget_most, sizeof budgets); /* memory stays under its cap */
    budgets[UPK_BUDGET_OPCODES] = OPCODES_MOST;
    budgets[UPK_BUDGET_NAME] = UINT32_MAX;
    options.flags |= UPK_FAMILY_FLAGS;
    options.families = (1u << UPK_FAMILY_COUNT) - 1;
    options.persid = NULL;
    if (m->input) m->input->ended = true;       /* nothing is read for this */
    if (m->popped_at == m->at) m->mark_count++; /* the mark still stands in the array */
    m->policy = NULL;
    m->options = &options;
    m->budgets = budgets;
    m->ops_left = count_down(budgets[UPK_BUDGET_OPCODES]);
    m->nodes_left = count_down(budgets[UPK_BUDGET_NODES]);
    memset(m->op_counts, 0, sizeof m->op_counts);
    m->p = m->at;
    m->watch = (struct watch){.on = true, .slot = SIZE_MAX};
    machine_dispatch(m, m->protocol);
    bool known = loop_counting(m);
    while (known && m->doc->root.kind == UPK_INVALID) known = take_up(w) && loop_counting(m);
    m->policy = w->policy;
    m->options = given;
    m->budgets = limits;
    return known && m->watch.slot != SIZE_MAX;
}

static void write_path(const struct place *w, char *out, size_t size) {
    struct text path = text_in(out, size);
    text_add_whole(&path, "$");
    for (size_t i = w->end; i > w->first && path.len < path.size; i--) {
        const struct step *s = &w->steps[(i - 1) % STEPS_MOST];
        switch (s->kind) {
        case STEP_INDEX: text_add_index(&path, s->at); break;
        case STEP_KEY: text_add_key(&path, s->key); break;
        case STEP_KEYS: text_add_key_itself(&path, s->at); break;
        case STEP_ARGS: text_add_whole(&path, ".args"); break;
        case STEP_KWARGS: text_add_whole(&path, ".kwargs"); break;
        case STEP_STATE: text_add_whole(&path, ".state"); break;
        case STEP_ID: text_add_whole(&path, ".id"); break;
        }
    }
}

void machine_place(struct machine *m) {
    struct place w = {.m = m, .policy = m->policy};
    if (m->doc->root.kind != UPK_INVALID) return; /* refused behind STOP: whoever did it has said where */
    if (m->error.code == UPK_ERR_BUDGET && m->error.budget == UPK_BUDGET_MEMORY) return;
    switch ((enum upk_class_of_refusal)m->error.cls) {
    case UPK_CLASS_OPCODE:
    case UPK_CLASS_ARGUMENT:
    case UPK_CLASS_KIND:
    case UPK_CLASS_LIMIT:
    case UPK_CLASS_GLOBAL:
    case UPK_CLASS_RECIPE: break;
    default: return; /* no memory, or the stream as such: nothing to go on with */
    }
    struct upk_error error = m->error; /* whatever the machine meets on its way */
    if (follow(&w)) write_path(&w, error.path, sizeof error.path);
    m->error = error;
}
