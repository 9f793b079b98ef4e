/* Where in the value a refusal stands.  What is on the stack when it comes does not say that: a name may be a member or what is
 * called, a few values a tuple or members of a list.  So the rest of the stream is followed, as far as it moves values, until
 * the value at fault is part of the result; nothing is decoded, checked or made.
 *
 * INVARIANT: what lies below the value on the stack was there when the refusal came, and is what it was then: an opcode that
 * reaches it takes the value first.
 * Sources: Lib/pickletools.py for what opcodes take and push.  Layer: runtime, beside machine.c; for people, never for the
 * verdict.
 */
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "text.h"

enum {
    OPCODES_MOST = 1 << 20, /* a place further up is not looked for */
    MARKS_MOST = 64,
    STEPS_MOST = 64
};

/* false, in what follows: the way of the value is not known. */

enum step_kind { STEP_INDEX, STEP_KEY, STEP_KEYS, STEP_ARGS, STEP_KWARGS, STEP_STATE, STEP_ID };

struct step {
    enum step_kind kind;
    size_t at;              /* of a member or a key */
    struct upk_value below; /* what lies below the value: of STEP_KEY the key */
};

struct ahead {
    const struct machine *m;
    const uint8_t *p;
    size_t sp;               /* values on the stack */
    size_t slot;             /* of them, the value that is followed, or holds it */
    bool following;          /* slot is set */
    size_t marks, own_marks; /* those that were there already, then new ones */
    size_t own[MARKS_MOST];
    struct step steps[STEPS_MOST]; /* the innermost first */
    size_t step_count;
};

/* ---- steps */

static void add_step(struct ahead *a, enum step_kind kind, size_t at) {
    if (a->step_count == STEPS_MOST) { /* a path is read from its beginning */
        a->step_count--;
        memmove(a->steps, a->steps + 1, a->step_count * sizeof *a->steps);
    }
    const struct upk_value none = {0};
    a->steps[a->step_count++] = (struct step){kind, at, a->slot ? a->m->stack[a->slot - 1] : none};
}

/* The last step, where it is one to a member; NULL: it is none. */
static struct step *last_index(struct ahead *a) {
    struct step *last = a->step_count ? &a->steps[a->step_count - 1] : NULL;
    return last && last->kind == STEP_INDEX ? last : NULL;
}

/* ---- the stack */

static size_t fence_at(const struct ahead *a) {
    return a->own_marks ? a->own[a->own_marks - 1] : a->marks ? a->m->marks[a->marks - 1] : 0;
}

static bool pop_mark(struct ahead *a, size_t *from) {
    if (!a->own_marks && !a->marks) return false;
    *from = fence_at(a);
    if (a->own_marks)
        a->own_marks--;
    else
        a->marks--;
    return true;
}

static bool takes(const struct ahead *a, size_t n) { return a->sp - fence_at(a) >= n; }

/* Is the value among those from `from` on? */
static bool reaches(const struct ahead *a, size_t from) { return a->following && a->slot >= from; }

/* Pairs stand from `from` on, of which `before` are in the container already. */
static void step_to_pair(struct ahead *a, size_t from, size_t before) {
    const size_t off = a->slot - from;
    if (off % 2)
        add_step(a, STEP_KEY, 0);
    else
        add_step(a, STEP_KEYS, before + off / 2);
}

static bool collect(struct ahead *a, size_t from, bool pairs) {
    if (reaches(a, from)) {
        if (pairs)
            step_to_pair(a, from, 0);
        else
            add_step(a, STEP_INDEX, a->slot - from);
        a->slot = from;
    }
    a->sp = from + 1;
    return true;
}

static size_t cell_len(const struct upk_cell *c) { return c ? c->len : 0; }

/* Members that a container, or an object of this step, has already. */
static size_t members_of(struct upk_value v, unsigned kind) {
    if (v.kind == kind) return v.as.cell->len;
    const struct object_more *more = v.kind == UPK_OBJECT ? as_object(v.as.cell)->more : NULL;
    if (!more) return 0;
    const struct upk_cell *grown = kind == UPK_LIST   ? more->items
                                   : kind == UPK_DICT ? more->pairs
                                                      : more->adds;
    return cell_len(grown) + (more->base && more->base->kind == kind ? more->base->len : 0);
}

static bool grow(struct ahead *a, size_t from, unsigned kind) {
    if (from == fence_at(a)) return false;
    if (reaches(a, from)) {
        const size_t before = members_of(a->m->stack[from - 1], kind);
        if (kind == UPK_DICT)
            step_to_pair(a, from, before / 2);
        else
            add_step(a, STEP_INDEX, before + a->slot - from);
        a->slot = from - 1;
    }
    a->sp = from;
    return true;
}

/* ---- calls.  Where the call spells something else (N3 to N9), the place is that in what it spells. */

static unsigned special_of(const struct ahead *a, struct upk_value v) {
    v = value_resolve(v);
    if (v.kind == UPK_OBJECT) v = value_of_cell(as_object(v.as.cell)->callee);
    return a->m->policy && v.kind == UPK_GLOBAL ? a->m->policy->rows[v.as.cell->len].special
                                                : (unsigned)UPK_SPECIAL_NONE;
}

/* copyreg._reconstructor(class, base, value) */
static void step_of_reconstructor(struct ahead *a, struct step *last) {
    if (last->at < 2) {
        a->step_count--;
        return;
    }
    switch (special_of(a, last->below)) {
    case UPK_SPECIAL_LIST:
    case UPK_SPECIAL_DICT: a->step_count--; return;
    case UPK_SPECIAL_TUPLE: a->step_count = 0; break; /* the tuple or its members are the arguments */
    default: last->at = 0;
    }
    add_step(a, STEP_ARGS, 0);
}

/* The value is among the arguments. */
static void step_to_arguments(struct ahead *a, struct upk_value callee) {
    struct step *last = last_index(a);
    switch (last ? special_of(a, callee) : UPK_SPECIAL_NONE) {
    case UPK_SPECIAL_RECONSTRUCTOR: step_of_reconstructor(a, last); return;
    case UPK_SPECIAL_NEWOBJ:
        if (last->at == 0) { /* the class */
            a->step_count--;
            return;
        }
        last->at--;
        break;
    case UPK_SPECIAL_BYTES:
    case UPK_SPECIAL_BYTEARRAY:
    case UPK_SPECIAL_SET:
    case UPK_SPECIAL_FROZENSET:
    case UPK_SPECIAL_GETATTR:
    case UPK_SPECIAL_PARTIAL:
        if (last->at == 0) {
            a->step_count--;
            return;
        }
        break;
    default: break;
    }
    add_step(a, STEP_ARGS, 0);
}

static void step_to_state(struct ahead *a, struct upk_value target) {
    struct step *last = last_index(a);
    if (!last || special_of(a, target) != UPK_SPECIAL_PARTIAL) {
        add_step(a, STEP_STATE, 0);
        return;
    }
    /* functools.partial: (C.__new__, (C, *args), kw, None) */
    const size_t part = last->at;
    a->step_count--;
    last = last_index(a);
    if (part == 2) {
        add_step(a, STEP_KWARGS, 0);
    } else if (part == 1 && last && last->at == 0) {
        a->step_count--;
    } else if (part == 1 && last) {
        last->at--;
        add_step(a, STEP_ARGS, 0);
    }
}

/* The callee, then n parts of the call. */
static bool call(struct ahead *a, size_t n) {
    if (!takes(a, n + 1)) return false;
    const size_t callee = a->sp - n - 1;
    if (reaches(a, callee + 1)) {
        if (a->slot == callee + 2)
            add_step(a, STEP_KWARGS, 0);
        else
            step_to_arguments(a, a->m->stack[callee]);
    }
    if (reaches(a, callee)) a->slot = callee;
    a->sp = callee + 1;
    return true;
}

static bool build(struct ahead *a) {
    if (!takes(a, 2)) return false;
    if (reaches(a, a->sp - 1)) {
        step_to_state(a, a->m->stack[a->sp - 2]);
        a->slot = a->sp - 2;
    }
    a->sp--;
    return true;
}

/* INST, OBJ: what stands from `from` on, of which the first `callees` are called, is a call. */
static bool call_marked(struct ahead *a, size_t callees) {
    size_t from;
    if (!pop_mark(a, &from) || a->sp - from < callees) return false;
    if (reaches(a, from + callees)) {
        add_step(a, STEP_INDEX, a->slot - from - callees);
        add_step(a, STEP_ARGS, 0);
    }
    if (reaches(a, from)) a->slot = from;
    a->sp = from + 1;
    return true;
}

static bool pop(struct ahead *a) {
    if (a->sp > fence_at(a)) {
        a->sp--;
        return !reaches(a, a->sp);
    }
    size_t from;
    return pop_mark(a, &from);
}

/* ---- opcodes */

/* Past the argument of the opcode at a->p. */
static bool skip(struct ahead *a, size_t bytes) {
    if (bytes > (size_t)(a->m->end - a->p)) return false;
    a->p += bytes;
    return true;
}

static bool skip_line(struct ahead *a) {
    const uint8_t *lf = memchr(a->p, '\n', (size_t)(a->m->end - a->p));
    if (!lf) return false;
    a->p = lf + 1;
    return true;
}

static bool skip_counted(struct ahead *a, size_t width) {
    const uint8_t *p = a->p;
    if (!skip(a, width)) return false;
    const uint64_t n = width == 1 ? p[0] : width == 4 ? le32(p) : le64(p);
    return n <= SIZE_MAX && skip(a, (size_t)n);
}

static bool skip_argument(struct ahead *a, unsigned op) {
    switch (op) {
    case UPK_OP_BININT1:
    case UPK_OP_BINGET:
    case UPK_OP_BINPUT:
    case UPK_OP_EXT1:
    case UPK_OP_PROTO: return skip(a, 1);
    case UPK_OP_BININT2:
    case UPK_OP_EXT2: return skip(a, 2);
    case UPK_OP_BININT:
    case UPK_OP_LONG_BINGET:
    case UPK_OP_LONG_BINPUT:
    case UPK_OP_EXT4: return skip(a, 4);
    case UPK_OP_BINFLOAT:
    case UPK_OP_FRAME: return skip(a, 8);
    case UPK_OP_LONG1:
    case UPK_OP_SHORT_BINSTRING:
    case UPK_OP_SHORT_BINBYTES:
    case UPK_OP_SHORT_BINUNICODE: return skip_counted(a, 1);
    case UPK_OP_LONG4:
    case UPK_OP_BINSTRING:
    case UPK_OP_BINBYTES:
    case UPK_OP_BINUNICODE: return skip_counted(a, 4);
    case UPK_OP_BINBYTES8:
    case UPK_OP_BINUNICODE8:
    case UPK_OP_BYTEARRAY8: return skip_counted(a, 8);
    case UPK_OP_INT:
    case UPK_OP_LONG:
    case UPK_OP_FLOAT:
    case UPK_OP_STRING:
    case UPK_OP_UNICODE:
    case UPK_OP_PERSID:
    case UPK_OP_GET:
    case UPK_OP_PUT: return skip_line(a);
    case UPK_OP_GLOBAL:
    case UPK_OP_INST: return skip_line(a) && skip_line(a);
    default: return true;
    }
}

/* What the opcode takes and pushes. */
static bool move(struct ahead *a, unsigned op) {
    size_t from, n;
    switch (op) {
    case UPK_OP_MARK:
        if (a->own_marks == MARKS_MOST) return false;
        a->own[a->own_marks++] = a->sp;
        return true;
    case UPK_OP_PUT:
    case UPK_OP_BINPUT:
    case UPK_OP_LONG_BINPUT:
    case UPK_OP_MEMOIZE:
    case UPK_OP_PROTO:
    case UPK_OP_FRAME:
    case UPK_OP_READONLY_BUFFER: return true;
    case UPK_OP_POP: return pop(a);
    case UPK_OP_POP_MARK:
        if (!pop_mark(a, &from)) return false;
        a->sp = from;
        return !reaches(a, from);
    case UPK_OP_TUPLE1:
    case UPK_OP_TUPLE2:
    case UPK_OP_TUPLE3: n = op - UPK_OP_TUPLE1 + 1u; return takes(a, n) && collect(a, a->sp - n, false);
    case UPK_OP_TUPLE:
    case UPK_OP_LIST:
    case UPK_OP_FROZENSET:
    case UPK_OP_DICT: return pop_mark(a, &from) && collect(a, from, op == UPK_OP_DICT);
    case UPK_OP_APPEND: return takes(a, 2) && grow(a, a->sp - 1, UPK_LIST);
    case UPK_OP_SETITEM: return takes(a, 3) && grow(a, a->sp - 2, UPK_DICT);
    case UPK_OP_APPENDS: return pop_mark(a, &from) && grow(a, from, UPK_LIST);
    case UPK_OP_SETITEMS: return pop_mark(a, &from) && grow(a, from, UPK_DICT);
    case UPK_OP_ADDITEMS: return pop_mark(a, &from) && grow(a, from, UPK_SET);
    case UPK_OP_BUILD: return build(a);
    case UPK_OP_REDUCE:
    case UPK_OP_NEWOBJ: return call(a, 1);
    case UPK_OP_NEWOBJ_EX: return call(a, 2);
    case UPK_OP_INST: return call_marked(a, 0);
    case UPK_OP_OBJ: return call_marked(a, 1);
    case UPK_OP_STACK_GLOBAL:
        if (!takes(a, 2) || reaches(a, a->sp - 2)) return false;
        a->sp--;
        return true;
    case UPK_OP_BINPERSID:
        if (!takes(a, 1)) return false;
        if (reaches(a, a->sp - 1)) add_step(a, STEP_ID, 0);
        return true;
    case UPK_OP_UNKNOWN: return false;
    default: a->sp++; return true; /* pushes a value */
    }
}

/* Where the opcode that is refused leaves what it makes or changes; `a` is as it was before that opcode.  A mark that the
 * opcode has popped still stands in the array. */
static bool place_of_result(struct ahead *a, unsigned op, size_t *slot) {
    const size_t sp = a->sp, mark = a->marks ? a->m->marks[a->marks - 1] : SIZE_MAX;
    size_t back;
    switch (op) {
    case UPK_OP_TUPLE:
    case UPK_OP_LIST:
    case UPK_OP_DICT:
    case UPK_OP_FROZENSET:
    case UPK_OP_INST:
    case UPK_OP_OBJ: *slot = mark; return mark != SIZE_MAX;
    case UPK_OP_APPENDS:
    case UPK_OP_SETITEMS:
    case UPK_OP_ADDITEMS: *slot = mark - 1; return mark != SIZE_MAX && mark > 0;
    case UPK_OP_TUPLE3:
    case UPK_OP_SETITEM:
    case UPK_OP_NEWOBJ_EX: back = 3; break;
    case UPK_OP_TUPLE2:
    case UPK_OP_APPEND:
    case UPK_OP_BUILD:
    case UPK_OP_REDUCE:
    case UPK_OP_NEWOBJ:
    case UPK_OP_STACK_GLOBAL: back = 2; break;
    case UPK_OP_TUPLE1:
    case UPK_OP_PUT:
    case UPK_OP_BINPUT:
    case UPK_OP_LONG_BINPUT:
    case UPK_OP_MEMOIZE:
    case UPK_OP_BINPERSID:
    case UPK_OP_READONLY_BUFFER:
    case UPK_OP_STOP: back = 1; break;
    default: back = 0; break;
    }
    *slot = sp - back;
    return sp >= back;
}

static bool next(struct ahead *a, unsigned *op) {
    if (a->p >= a->m->end) return false;
    *op = machine_op(*a->p++);
    return skip_argument(a, *op);
}

/* false: the value does not become part of the result, or it is not known where. */
static bool follow(struct ahead *a) {
    unsigned op;
    size_t slot;
    const size_t popped = a->m->popped_at == a->m->at;
    a->p = a->m->at;
    a->sp = (size_t)(a->m->sp - a->m->stack);
    a->marks = a->m->mark_count + popped;
    if (!next(a, &op) || !place_of_result(a, op, &slot) || !move(a, op)) return false;
    a->following = true;
    a->slot = slot;
    for (size_t i = 0; i < OPCODES_MOST && op != UPK_OP_STOP; i++)
        if (!next(a, &op) || !move(a, op)) return false;
    return op == UPK_OP_STOP;
}

void machine_place(const struct machine *m, char *out, size_t size) {
    struct text path = text_in(out, size);
    struct ahead a;
    memset(&a, 0, sizeof a);
    a.m = m;
    text_add_whole(&path, "$");
    if (!follow(&a)) return;
    while (a.step_count && path.len < path.size) {
        const struct step *s = &a.steps[--a.step_count];
        switch (s->kind) {
        case STEP_INDEX: text_add_index(&path, s->at); break;
        case STEP_KEY: text_add_key(&path, s->below); break;
        case STEP_KEYS: text_add_key_itself(&path, s->at); break;
        case STEP_ARGS: text_add_whole(&path, ".args"); break;
        case STEP_KWARGS: text_add_whole(&path, ".kwargs"); break;
        case STEP_STATE: text_add_whole(&path, ".state"); break;
        case STEP_ID: text_add_whole(&path, ".id"); break;
        }
    }
}
