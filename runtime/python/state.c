/* The state of an object, by what BUILD does with it: __setstate__ of its class, else attributes and slots.
 *
 * The class is asked, never the instance: no __getattr__ runs.  A dict of attributes is not built at all: each is set by itself,
 * which leaves them where CPython keeps attributes of instances.  Whatever a method gets is a copy of its own where others may
 * have it too.
 *
 * Source: load_build in Modules/_pickle.c; BaseException___setstate__ in Objects/exceptions.c.
 * Layer: see host.h.
 */
#include "bind.h"
#include "build.h"

/* ---- attributes, one by one */

/* A key that its place did not have the last time; kept there, unless it was another one all too often. */
static bool key_learn(struct call *c, struct instance_plan *s, struct state_key *place, struct upk_value v,
                      struct state_key *out) {
    const bool kept = place && v.flags & VALUE_ASCII && s->keys->changed < STATE_KEYS_CHANGED;
    PyObject *key = build_value(c, v);
    if (!key) return false;
    if (kept) PyUnicode_InternInPlace(&key);
    PyObject *const member = _PyType_Lookup(s->type, key);
    *out = (struct state_key){
        .key = key, .len = v.len, .member = member && Py_TYPE(member)->tp_descr_set ? member : NULL};
    if (!kept) return true;
    PyObject *const old = place->key;
    if (old) s->keys->changed++;
    s->keys->number = 0;
    Py_INCREF(key);
    *place = *out;
    place->text = (const char *)PyUnicode_DATA(key);
    Py_XDECREF(old); /* a str: nothing runs */
    return true;
}

/* Has a dict of this number (doc.h) the keys of `known` at their places?  Looked at for each key, for what makes values may have run
 * code that came here too. */
static inline bool keys_are_known(const struct call *c, const struct state_keys *known, unsigned number) {
    return number && known->number == number && known->build == c->builder->build;
}

static inline bool key_is(const struct state_key *k, struct upk_value v) {
    return k->key && k->len == v.len && text_same((const uint8_t *)k->text, v.as.bytes, v.len);
}

/* After a dict whose keys were not known: they are from now on, if they are what stands at their places. */
__attribute__((noinline)) static void keys_note(const struct call *c, struct plan *p,
                                                const struct upk_cell *dict) {
    struct state_keys *const known = p->instance.keys;
    if (!known || dict->len > 2 * STATE_KEYS || keys_are_known(c, known, dict->op)) return;
    for (uint32_t i = 0; i < dict->len; i += 2) {
        if (!key_is(&known->at[i / 2], dict->items[i])) return;
    }
    known->build = c->builder->build;
    known->number = dict->op;
}

/* The key at `place` of a dict, and what the class has of that name: the plan's own, or *fresh, which then has a reference.
 * Nothing runs between this and its use. */
static const struct state_key *key_at(struct call *c, struct plan *p, PyObject *inst, uint32_t place,
                                      const struct upk_cell *dict, struct state_key *fresh) {
    const struct upk_value v = dict->items[2 * (size_t)place];
    struct instance_plan *const s = instance_plan_of(p, inst);
    fresh->key = NULL;
    if (!s) return NULL;
    struct state_key *const known = place < STATE_KEYS ? &s->keys->at[place] : NULL;
    if (known && key_is(known, v)) return known;
    return key_learn(c, s, known, v, fresh) ? fresh : NULL;
}

static bool refuse_key(struct call *c, const struct object *o, const struct state_key *k, const char *why) {
    const char *const text = PyUnicode_AsUTF8(k->key);
    if (!text) PyErr_Clear();
    return refuse_object(c, o, UPK_ERR_BUILDING, "state key %s: %s", text ? text : "?", why);
}

/* Straight into __dict__, as BUILD does it: what the class has of that name hides it, and does not run. */
static bool set_in_dict(struct call *c, const struct object *o, PyObject *inst, const struct state_key *k,
                        PyObject *value) {
    PyObject *const dict = PyObject_GenericGetDict(inst, NULL);
    const bool good = dict && PyDict_SetItem(dict, k->key, value) == 0;
    Py_XDECREF(dict);
    return good || refuse_exception(c, o, NULL);
}

/* What few attributes need, out of the way of the others. */
__attribute__((noinline)) static bool set_hidden(struct call *c, const struct object *o, PyObject *inst,
                                                 const struct state_key *k, PyObject *value) {
    return k->member ? set_in_dict(c, o, inst, k, value) : refuse_exception(c, o, NULL);
}

static inline bool set_plain(struct call *c, const struct object *o, PyObject *inst,
                             const struct state_key *k, PyObject *value) {
    return (!k->member && PyObject_GenericSetAttr(inst, k->key, value) == 0) ||
           set_hidden(c, o, inst, k, value);
}

static bool set_slot(struct call *c, const struct object *o, PyObject *inst, const struct state_key *k,
                     PyObject *value) {
    const bool has_no_row = row_is_open(c->guard->policy, o->cell.len);
    if (!k->member && has_no_row) return set_plain(c, o, inst, k, value); /* as BUILD does it */
    if (!k->member || Py_TYPE(k->member) != &PyMemberDescr_Type)
        return refuse_key(c, o, k, "it is no slot of the class");
    return Py_TYPE(k->member)->tp_descr_set(k->member, inst, value) == 0 || refuse_exception(c, o, NULL);
}

/* As BaseException.__setstate__, which sets whatever it is given, but for what sound.c says. */
static bool set_of_exception(struct call *c, const struct object *o, PyObject *inst,
                             const struct state_key *k, PyObject *value) {
    if (exception_leaves_out(inst, k->key)) return true;
    const char *const why = exception_refuses(inst, k->key, k->member, value);
    if (why) return refuse_key(c, o, k, why);
    return PyObject_SetAttr(inst, k->key, value) == 0 || refuse_exception(c, o, "setting an attribute");
}

typedef bool set_fn(struct call *c, const struct object *o, PyObject *inst, const struct state_key *k,
                    PyObject *value);

__attribute__((always_inline)) static inline bool set_all(struct call *c, const struct object *o,
                                                          struct plan *p, PyObject *inst,
                                                          const struct upk_cell *dict, set_fn *set) {
    bool known = true;
    for (uint32_t i = 0; i < dict->len; i += 2) {
        /* Of keys without a number: those that are known are all str. */
        if (!dict->op && !value_is_str(dict->items[i]))
            return refuse_object(c, o, UPK_ERR_BUILDING, "a state key is no str");
        PyObject *const value = value_whole(c, dict->items[i + 1]);
        if (!value) return false;
        bool good;
        const struct instance_plan *const s = instance_plan_if(p, inst);
        if (s && keys_are_known(c, s->keys, dict->op)) {
            good = set(c, o, inst, &s->keys->at[i / 2], value);
        } else {
            struct state_key fresh;
            known = false;
            const struct state_key *const k = key_at(c, p, inst, i / 2, dict, &fresh);
            good = k && set(c, o, inst, k, value);
            Py_XDECREF(fresh.key);
        }
        Py_DECREF(value);
        if (!good) return false;
    }
    if (!known && dict->op) keys_note(c, p, dict);
    return true;
}

/* ---- without __setstate__ */

static bool set_attributes(struct call *c, const struct object *o, struct plan *p, PyObject *inst,
                           struct upk_value v) {
    v = value_resolve(v);
    if (v.kind == UPK_NONE) return true;
    if (v.kind != UPK_DICT) return refuse_object(c, o, UPK_ERR_BUILDING, "the state is no dict");
    if (v.as.cell->len == 0) return true;
    const struct instance_plan *const s = instance_plan_of(p, inst);
    if (!s) return false;
    if (!s->has_dict || PyType_Check(inst))
        return refuse_object(c, o, UPK_ERR_BUILDING, "instances of its class have no __dict__ of their own");
    return set_all(c, o, p, inst, v.as.cell, set_plain);
}

static bool set_slots(struct call *c, const struct object *o, struct plan *p, PyObject *inst,
                      struct upk_value v) {
    v = value_resolve(v);
    if (v.kind == UPK_NONE) return true;
    if (v.kind != UPK_DICT) return refuse_object(c, o, UPK_ERR_BUILDING, "the state's slots are no dict");
    return set_all(c, o, p, inst, v.as.cell, set_slot);
}

static bool apply_dict(struct call *c, const struct object *o, struct plan *p, PyObject *inst,
                       struct upk_value v) {
    if (v.kind == UPK_TUPLE && v.as.cell->len == 2) {
        const struct upk_value *const part = v.as.cell->items;
        return set_attributes(c, o, p, inst, part[0]) && set_slots(c, o, p, inst, part[1]);
    }
    return set_attributes(c, o, p, inst, v);
}

/* Of a class that nobody listed, members that are only safe together are looked at again. */
static bool apply_exception(struct call *c, const struct object *o, struct plan *p, PyObject *inst,
                            struct upk_value v) {
    if (v.kind == UPK_NONE) return true;
    if (v.kind != UPK_DICT) return refuse_object(c, o, UPK_ERR_BUILDING, "the state is no dict");
    return set_all(c, o, p, inst, v.as.cell, set_of_exception) &&
           (!row_is_open(c->guard->policy, o->cell.len) || exception_suits(c, o, inst));
}

/* ---- __setstate__ */

/* A part of a state that nobody else has; takes the reference. */
static PyObject *own_copy(PyObject *part) {
    PyObject *copy;
    if (!part) return NULL;
    if (PyDict_CheckExact(part)) {
        copy = PyDict_Copy(part);
    } else if (PyList_CheckExact(part)) {
        copy = PyList_GetSlice(part, 0, PyList_GET_SIZE(part));
    } else if (Py_TYPE(part) == &PySet_Type) {
        copy = PySet_New(part);
    } else {
        return part;
    }
    Py_DECREF(part);
    return copy;
}

static bool is_shared(struct upk_value v) { return kind_has_cell(v.kind) && v.as.cell->flags & CELL_SHARED; }

/* Bytes, which numpy keeps as memory to write to, are made anew as well; bytearrays in any case, for nobody counts their uses. */
static PyObject *own_part(struct call *c, struct upk_value v) {
    const struct upk_value r = value_resolve(v);
    if (r.kind == UPK_BYTES) return PyBytes_FromStringAndSize((const char *)r.as.bytes, (Py_ssize_t)r.len);
    if (r.kind == UPK_BYTEARRAY) {
        const char *const bytes = (const char *)as_bytearray(r.as.cell)->bytes;
        return PyByteArray_FromStringAndSize(bytes, (Py_ssize_t)r.as.cell->len);
    }
    PyObject *const made = build_value(c, v);
    return is_shared(v) ? own_copy(made) : made;
}

static bool has_own_parts(const struct upk_cell *tuple) {
    for (uint32_t i = 0; i < tuple->len; i++) {
        const unsigned kind = value_resolve(tuple->items[i]).kind;
        const bool copied = kind == UPK_LIST || kind == UPK_DICT || kind == UPK_SET;
        if (kind == UPK_BYTES || kind == UPK_BYTEARRAY || (copied && is_shared(tuple->items[i]))) return true;
    }
    return false;
}

/* The state as a method gets it: a new reference to what nobody else has, but for a tuple of nothing that changes. */
static PyObject *state_for_method(struct call *c, struct upk_value v) {
    if (v.kind != UPK_TUPLE) return own_part(c, v);
    const struct upk_cell *const tuple = v.as.cell;
    if (!has_own_parts(tuple)) return build_value(c, v);
    PyObject **const parts = PyMem_Calloc(tuple->len + 1u, sizeof *parts);
    if (!parts) return PyErr_NoMemory();
    bool good = true;
    for (uint32_t i = 0; i < tuple->len && good; i++) {
        parts[i] = own_part(c, tuple->items[i]);
        good = parts[i] != NULL;
    }
    PyObject *const made = good ? PyTuple_New((Py_ssize_t)tuple->len) : NULL;
    for (uint32_t i = 0; i < tuple->len; i++) {
        if (made) {
            PyTuple_SET_ITEM(made, (Py_ssize_t)i, parts[i]);
        } else {
            Py_XDECREF(parts[i]);
        }
    }
    PyMem_Free(parts);
    return made;
}

static bool apply_method(struct call *c, const struct object *o, struct plan *p, PyObject *inst,
                         struct upk_value v) {
    PyObject *const state = state_for_method(c, v);
    if (!state) return false;
    const struct instance_plan *const s = instance_plan_of(p, inst);
    PyObject *const method = s ? s->method : NULL;
    PyObject *done = NULL;
    if (method && method_is_plain(method)) {
        Py_INCREF(method);
        done = PyObject_CallFunctionObjArgs(method, inst, state, NULL);
        Py_DECREF(method);
    } else if (method) {
        PyObject *const bound = PyObject_GetAttrString(inst, "__setstate__");
        done = bound ? PyObject_CallFunctionObjArgs(bound, state, NULL) : NULL;
        Py_XDECREF(bound);
    }
    Py_DECREF(state);
    Py_XDECREF(done);
    return done || refuse_exception(c, o, "__setstate__");
}

bool object_set_state(struct call *c, struct object *o) {
    struct plan *const p = plan_of(c, o);
    PyObject *const inst = object_built(o);
    if (!p || !plan_fits(c, o, p, Py_TYPE(inst))) return false;
    bool done = false;
    if (p->native && !native_set_state(c, o, p, &done)) return false;
    const struct instance_plan *const s = done ? NULL : instance_plan_of(p, inst);
    if (!s) return done;
    const struct upk_value v = value_resolve(o->state);
    switch ((enum state_how)s->how) {
    case STATE_DICT: return apply_dict(c, o, p, inst, v);
    case STATE_EXCEPTION: return apply_exception(c, o, p, inst, v);
    case STATE_METHOD: return apply_method(c, o, p, inst, v);
    case STATE_UNKNOWN: break;
    }
    return false;
}
