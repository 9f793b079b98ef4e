/* What calls of old protocols spell (rules N2 to N9; N1 is in compat_names.c and the key tables, N11 in the key tables, N12 in
 * shape.c).  Each rule turns a call into the value or the call it stands for; a call that fits no rule stays what it is, and
 * its row (or the lack of one) decides.
 *
 * Sources: Lib/copyreg.py, save_* in Lib/pickle.py of CPython 2.7 to 3.13, Lib/functools.py (partial.__reduce__).
 * Layer: runtime, under call.c.
 */
#include <string.h>

#include "cells.h"

static bool is_text(struct upk_value v, const char *text) {
    return (v.kind == UPK_STR || v.kind == UPK_STR8) && bytes_are(v.as.bytes, v.len, text);
}

/* The cell of a value that is a name; NULL: it is none. */
static struct upk_cell *name_of(struct upk_value v) {
    v = value_resolve(v);
    return v.kind == UPK_GLOBAL ? v.as.cell : NULL;
}

/* Its row; 0: it is none. */
static uint32_t row_of(struct upk_value v) {
    const struct upk_cell *const name = name_of(v);
    return name ? name->len : 0;
}

static uint32_t special_of(const struct upk_policy *p, struct upk_value v) {
    uint32_t row = row_of(v);
    return row ? p->rows[row].special : (uint32_t)UPK_SPECIAL_NONE;
}

static bool become(struct machine *m, struct object *o, struct upk_value v) {
    struct object_more *more = object_extend(m, o);
    if (!more) return false;
    assert(v.kind != UPK_OBJECT); /* value_resolve takes one step */
    more->value = v;
    o->cell.flags |= CELL_NORMAL;
    return true;
}

/* o is `new class(args)`. */
static bool become_new(struct machine *m, struct object *o, struct upk_cell *class, struct upk_cell *args) {
    o->cell.len = class->len;
    o->cell.index = UPK_VERB_NEW;
    const bool open = row_is_open(m->policy, class->len);
    if (args == o->args && !open) return true;
    struct object_more *more = object_extend(m, o);
    if (!more) return false;
    more->args = args;
    if (open) more->class = class;
    return true;
}

static struct upk_cell *no_arguments(struct machine *m) {
    if (!m->empty_tuple) m->empty_tuple = tuple_new(m, NULL, 0);
    return m->empty_tuple;
}

/* N2: the bytes of a str whose characters are all below U+0100; *fits says so. */
static bool latin1_bytes(struct machine *m, struct upk_value s, struct upk_value *out, bool *fits) {
    *fits = true;
    *out = (struct upk_value){.kind = UPK_BYTES, .len = s.len, .as = {.bytes = s.as.bytes}};
    if (s.flags & VALUE_ASCII) return true;
    uint8_t *to = mem_alloc(&m->doc->mem, s.len);
    if (!to) return machine_fail_memory(m);
    size_t n;
    *fits = utf8_to_latin1(s.as.bytes, s.len, to, &n);
    out->as.bytes = to;
    out->len = (uint32_t)n;
    return true;
}

static bool is_latin1(struct upk_value v) { return is_text(v, "latin1") || is_text(v, "latin-1"); }

/* ---- the rules; *done says that one applied */

static bool spell_bytes(struct machine *m, struct object *o, uint32_t special, bool *done) {
    const struct upk_value *a = o->args->items;
    struct upk_value v = {.kind = UPK_BYTES, .as = {.bytes = m->start}};
    if (special == UPK_SPECIAL_ENCODE) {
        if (o->args->len != 2 || a[0].kind != UPK_STR || a[1].kind != UPK_STR || !is_latin1(a[1]))
            return true;
        if (!latin1_bytes(m, a[0], &v, done) || !*done) return !m->failed;
    } else if (o->args->len != 0) {
        return true;
    }
    *done = true;
    return become(m, o, v);
}

static bool spell_bytearray(struct machine *m, struct object *o, bool *done) {
    const struct upk_value *a = o->args->items;
    struct upk_value v = {.kind = UPK_BYTES, .as = {.bytes = m->start}};
    if (o->args->len == 1) {
        v = value_resolve(a[0]);
        if (v.kind != UPK_BYTES) return true;
    } else if (o->args->len == 2) {
        if (a[0].kind != UPK_STR || !is_latin1(a[1])) return true;
        bool fits;
        if (!latin1_bytes(m, a[0], &v, &fits) || !fits) return !m->failed;
    } else if (o->args->len > 2) {
        return true;
    }
    struct upk_cell *c = bytearray_new(m, v.as.bytes, v.len);
    if (!c) return false;
    *done = true;
    return become(m, o, value_of_cell(c));
}

static bool spell_set(struct machine *m, struct object *o, unsigned kind, bool *done) {
    if (o->args->len != 1) return true;
    struct upk_value from = o->args->items[0];
    if (from.kind != UPK_LIST && from.kind != UPK_TUPLE) return true;
    struct upk_cell *set = cell_new(m, kind);
    if (!set || !cell_extend(m, set, from.as.cell->items, from.as.cell->len) || !keys_check(m, set, 0))
        return false;
    *done = true;
    return become(m, o, value_of_cell(set));
}

static bool spell_getattr(struct machine *m, struct object *o, bool *done) {
    const struct upk_value *a = o->args->items;
    if (o->args->len != 2 || a[1].kind != UPK_STR || !row_of(a[0])) return true;
    if (memchr(a[1].as.bytes, '.', a[1].len)) return true; /* getattr takes one step */
    struct upk_value name;
    if (!name_canonical(m, as_global(name_of(a[0])), a[1].as.bytes, a[1].len, &name)) return false;
    *done = true;
    return become(m, o, name);
}

/* N5, N6: copyreg._reconstructor(class, base, value). */
static bool spell_reconstructor(struct machine *m, struct object *o, bool *done) {
    const struct upk_value *a = o->args->items;
    if (o->args->len != 3) return true;
    struct upk_cell *const class = name_of(a[0]);
    struct upk_value v = value_resolve(a[2]);
    if (!class) return true;
    struct upk_cell *args = no_arguments(m), *base = NULL;
    if (!args) return false;
    bool spread = false, fits = false;
    switch (special_of(m->policy, a[1])) {
    case UPK_SPECIAL_OBJECT: fits = v.kind == UPK_NONE; break;
    case UPK_SPECIAL_LIST:
        fits = v.kind == UPK_LIST;
        base = v.as.cell;
        break;
    case UPK_SPECIAL_DICT:
        fits = v.kind == UPK_DICT;
        base = v.as.cell;
        break;
    case UPK_SPECIAL_TUPLE: fits = spread = v.kind == UPK_TUPLE; break;
    case UPK_SPECIAL_INT: fits = v.kind == UPK_INT || v.kind == UPK_BIGINT; break;
    case UPK_SPECIAL_FLOAT: fits = v.kind == UPK_FLOAT; break;
    case UPK_SPECIAL_COMPLEX: fits = v.kind == UPK_OBJECT; break;
    case UPK_SPECIAL_STR: fits = v.kind == UPK_STR || v.kind == UPK_STR8; break;
    case UPK_SPECIAL_BYTES: fits = v.kind == UPK_BYTES || v.kind == UPK_STR8; break;
    default: break;
    }
    if (!fits) return true;
    bool value = spread || (v.kind != UPK_NONE && !base);
    if (value && !(args = tuple_new(m, &a[2], 1))) return false;
    *done = true;
    if (!become_new(m, o, class, args)) return false;
    if (spread) o->cell.flags |= CELL_SPREAD;
    if (base) o->more->base = base;
    return true;
}

/* N9: copyreg.__newobj__(class, *args). */
static bool spell_newobj(struct machine *m, struct object *o, bool *done) {
    if (o->args->len == 0 || !row_of(o->args->items[0])) return true;
    struct upk_cell *args = tuple_new(m, o->args->items + 1, o->args->len - 1);
    if (!args) return false;
    *done = true;
    return become_new(m, o, name_of(o->args->items[0]), args);
}

/* N8: the call of functools.partial(C.__new__, C, *args, **kw) with its state (C.__new__, (C, *args), kw, None). */
static bool spell_partial(struct machine *m, struct object *o, struct object *partial, bool *done) {
    const struct upk_value state = partial->state;
    if (o->args->len || o->cell.op != UPK_OP_REDUCE ||
        m->policy->rows[partial->cell.len].special != UPK_SPECIAL_PARTIAL)
        return true;
    if (partial->cell.flags & CELL_SHARED)
        return true; /* a member of something else too, which may have been judged already */
    if (partial->cell.op != UPK_OP_REDUCE || state.kind != UPK_TUPLE || state.as.cell->len != 4) return true;
    const struct upk_value *part = state.as.cell->items;
    if (special_of(m->policy, part[0]) != UPK_SPECIAL_NEW_OF || part[1].kind != UPK_TUPLE ||
        part[1].as.cell->len == 0)
        return true;
    const uint32_t row = m->policy->rows[row_of(part[0])].target; /* never an open one */
    struct upk_cell *const class = name_of(part[1].as.cell->items[0]);
    bool same = partial->args->len == 1 && row_of(partial->args->items[0]) == row_of(part[0]);
    if (!same || !class || class->len != row || part[3].kind != UPK_NONE) return true;
    if (part[2].kind != UPK_DICT && part[2].kind != UPK_NONE) return true;
    struct upk_cell *args = tuple_new(m, part[1].as.cell->items + 1, part[1].as.cell->len - 1);
    if (!args || !become_new(m, o, class, args) || !object_extend(m, o)) return false;
    o->more->kw = part[2].kind == UPK_DICT ? part[2].as.cell : NULL;
    if (o->more->kw && !freeze_arguments(m, o->more->kw)) return false;
    partial->cell.index = UPK_VERB_NONE;
    if (partial->cell.cap == 0) m->doc->unjudged--; /* it is no more to be judged */
    m->doc->used_up = true;
    *done = true;
    return true;
}

static bool spell(struct machine *m, struct object *o, uint32_t special, bool *done) {
    switch ((enum upk_special)special) {
    case UPK_SPECIAL_ENCODE:
    case UPK_SPECIAL_BYTES: return spell_bytes(m, o, special, done);
    case UPK_SPECIAL_BYTEARRAY: return spell_bytearray(m, o, done);
    case UPK_SPECIAL_SET: return spell_set(m, o, UPK_SET, done);
    case UPK_SPECIAL_FROZENSET: return spell_set(m, o, UPK_FROZENSET, done);
    case UPK_SPECIAL_GETATTR: return spell_getattr(m, o, done);
    case UPK_SPECIAL_RECONSTRUCTOR: return spell_reconstructor(m, o, done);
    case UPK_SPECIAL_NEWOBJ: return spell_newobj(m, o, done);
    case UPK_SPECIAL_NONE:
    case UPK_SPECIAL_OBJECT:
    case UPK_SPECIAL_INT:
    case UPK_SPECIAL_STR:
    case UPK_SPECIAL_FLOAT:
    case UPK_SPECIAL_COMPLEX:
    case UPK_SPECIAL_LIST:
    case UPK_SPECIAL_TUPLE:
    case UPK_SPECIAL_DICT:
    case UPK_SPECIAL_PARTIAL:
    case UPK_SPECIAL_OR:
    case UPK_SPECIAL_NEW_OF:
    case UPK_SPECIAL_COUNT: break;
    }
    return true;
}

static enum upk_verb verb_of(const struct object *o) {
    if (o->cell.op == UPK_OP_NEWOBJ || o->cell.op == UPK_OP_NEWOBJ_EX) return UPK_VERB_NEW;
    if (o->cell.op == UPK_OP_REDUCE || o->args->len) return UPK_VERB_CALL;
    return UPK_VERB_NEW; /* INST and OBJ without arguments */
}

bool normalise_call(struct machine *m, struct object *o) {
    bool done = false;
    uint32_t row = o->callee->kind == UPK_GLOBAL ? o->callee->len : row_of(value_of_cell(o->callee));
    if (!row) {
        struct object *callee = as_object(o->callee);
        if (!(callee->cell.flags & CELL_NORMAL) && !spell_partial(m, o, callee, &done)) return false;
        if (!done) return machine_fail_detail(m, UPK_ERR_CALLED_VALUE, "the result of an earlier call");
    } else {
        o->cell.len = row;
        o->cell.index = verb_of(o);
        uint32_t special = m->policy->rows[row].special;
        if (special && o->cell.op == UPK_OP_REDUCE && !spell(m, o, special, &done)) return false;
    }
    if (o->cell.flags & CELL_NORMAL) return true; /* a value: its members were hardened as members */
    struct upk_cell *args = object_args(o), *kw = o->more ? o->more->kw : NULL;
    return harden(m, args) && (!kw || harden(m, kw));
}

const struct upk_cell *object_base_tuple(const struct upk_policy *p, const struct object *o) {
    const struct upk_value *const a = o->args->items;
    if (o->args->len != 3 || !o->more || !o->more->args) return NULL;
    if (special_of(p, value_of_cell(o->callee)) != UPK_SPECIAL_RECONSTRUCTOR ||
        special_of(p, a[1]) != UPK_SPECIAL_TUPLE)
        return NULL;
    const struct upk_value v = value_resolve(a[2]);
    return v.kind == UPK_TUPLE ? v.as.cell : NULL;
}
