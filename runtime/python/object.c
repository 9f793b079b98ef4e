/* Objects are made by the calls of the stream, and take their items, pairs and adds.
 *
 * What a constructor returns is an instance of what the policy says, has no hooks that the row does not name, and where something
 * will be done to it, nobody else holds it: a class may hand out one of the host's own objects.
 *
 * Source: load_reduce, load_newobj, do_append, do_setitems and load_additems in Modules/_pickle.c.
 * Layer: see host.h.
 */
#include "bind.h"
#include "build.h"

/* ---- arguments: they stand in an array until all are made, for code that runs may look at tuples */

enum { FEW = 6 };

struct given {
    PyObject *few[FEW + 1]; /* a place before the first is free, for the callee */
    PyObject **all, **args;
    size_t count;
    PyObject *kw; /* NULL: none */
};

static void given_clear(struct given *a) {
    for (size_t i = 0; i < a->count; i++) Py_DECREF(a->args[i]);
    if (a->all != a->few) PyMem_Free(a->all);
    Py_XDECREF(a->kw);
}

static bool given_build(struct call *c, const struct object *o, struct given *a) {
    const struct upk_cell *const args = object_args(o);
    a->all = args->len <= FEW ? a->few : PyMem_Malloc((args->len + (size_t)1) * sizeof *a->all);
    a->count = 0;
    a->kw = NULL;
    if (!a->all) {
        (void)PyErr_NoMemory();
        return false;
    }
    a->args = a->all + 1;
    for (; a->count < args->len; a->count++) {
        if ((a->args[a->count] = build_value(c, args->items[a->count]))) continue;
        given_clear(a);
        return false;
    }
    if (!o->more || !o->more->kw || o->more->kw->len == 0) return true;
    a->kw = build_value(c, value_of_cell(o->more->kw));
    if (a->kw) return true;
    given_clear(a);
    return false;
}

/* The arguments become a tuple; what they took stays to be cleared. */
static PyObject *given_tuple(struct given *a) {
    PyObject *const tuple = PyTuple_New((Py_ssize_t)a->count);
    for (size_t i = 0; tuple && i < a->count; i++) PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, a->args[i]);
    if (tuple) a->count = 0;
    return tuple;
}

/* ---- calls */

/* The arguments of a call of `callable`.  Exceptions take some of theirs apart before they look at them. */
static bool given_for(struct call *c, const struct object *o, PyObject *callable, struct given *a) {
    if (!given_build(c, o, a)) return false;
    const char *const why = PyExceptionClass_Check(callable)
                                ? exception_refuses_call((PyTypeObject *)callable, a->args, a->count)
                                : NULL;
    if (!why) return true;
    given_clear(a);
    return refuse_object(c, o, UPK_ERR_BUILDING, "%s", why);
}

static PyObject *make_by_call(struct call *c, const struct object *o, PyObject *callable) {
    struct given a;
    if (!given_for(c, o, callable, &a)) return NULL;
    PyObject *const made =
        PyObject_VectorcallDict(callable, a.args, a.count | PY_VECTORCALL_ARGUMENTS_OFFSET, a.kw);
    given_clear(&a);
    if (!made) (void)refuse_exception(c, o, "the constructor");
    return made;
}

/* Old protocols say which members a subclass of tuple has, and not whether its __new__ takes them one by one or as a tuple.  For a
 * tuple of one tuple the policy may have taken the wrong one. */
static bool has_its_members(struct call *c, const struct object *o, PyObject *args, PyObject *made) {
    const struct upk_cell *const members = object_base_tuple(c->guard->policy, o);
    if (!members) return true;
    PyObject *const wanted = members == object_args(o) ? args : PyTuple_GET_ITEM(args, 0);
    bool same = PyTuple_Check(made) && PyTuple_GET_SIZE(made) == PyTuple_GET_SIZE(wanted);
    for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(wanted); i++)
        same = PyTuple_GET_ITEM(made, i) == PyTuple_GET_ITEM(wanted, i);
    return same ||
           refuse_object(
               c, o, UPK_ERR_BUILDING,
               "its __new__ makes other members of it than the stream has: protocol 2 says what it takes");
}

/* By the class's __new__ alone; `make` runs it. */
static PyObject *make_by_new(struct call *c, const struct object *o, PyObject *class, newfunc make) {
    struct given a;
    if (!given_for(c, o, class, &a)) return NULL;
    PyObject *const tuple = given_tuple(&a);
    PyObject *made = tuple ? make((PyTypeObject *)class, tuple, a.kw) : NULL;
    if (tuple && !made) (void)refuse_exception(c, o, "__new__");
    if (made && !has_its_members(c, o, tuple, made)) Py_CLEAR(made);
    Py_XDECREF(tuple);
    given_clear(&a);
    return made;
}

/* A `call` of an exception that nobody listed runs no __init__. */
static PyObject *make_as_said(struct call *c, const struct object *o, PyObject *callable) {
    if (c->guard->policy->forms[o->cell.cap].verb == UPK_VERB_NEW)
        return make_by_new(c, o, callable, ((PyTypeObject *)callable)->tp_new);
    if (PyExceptionClass_Check(callable) && row_is_open(c->guard->policy, o->cell.len))
        return make_by_new(c, o, callable, exception_new);
    return make_by_call(c, o, callable);
}

/* ---- what was made */

static bool result_learn(struct call *c, const struct object *o, struct plan *p) {
    const struct upk_policy *const policy = c->guard->policy;
    const struct upk_class *const class = &policy->classes[policy->forms[o->cell.cap].result];
    const struct upk_compat name = {(const uint8_t *)policy->pool + class->module.at, class->module.len,
                                    (const uint8_t *)policy->pool + class->qualname.at, class->qualname.len};
    const uint32_t row = find_row(policy, 1, name.module, name.module_len, name.name, name.name_len);
    const char *why = NULL;
    PyObject *found;
    if (row && policy->rows[row].form_count) {
        found = bind_own_row(c, row, o);
        Py_XINCREF(found);
    } else {
        found = name_find(name, &why);
    }
    if (!found) return why && refuse_object(c, o, UPK_ERR_UNBOUND, "the class of its result: %s", why);
    if (PyType_Check(found)) {
        Py_XDECREF(p->result);
        p->result = (PyTypeObject *)found;
        return true;
    }
    Py_DECREF(found);
    return refuse_object(c, o, UPK_ERR_BINDING, "the class of its result is no class in this process");
}

/* Is what a function returned an instance of what stands behind its `->`? */
static bool result_fits(struct call *c, const struct object *o, struct plan *p, PyObject *made) {
    if (!p->result && !result_learn(c, o, p)) return false;
    if (PyType_IsSubtype(Py_TYPE(made), p->result)) return true;
    int fits = 0;
    if (Py_TYPE(p->result) != &PyType_Type) { /* an abstract base class says itself what belongs to it */
        PyObject *const class = (PyObject *)p->result;
        Py_INCREF(class);
        fits = PyObject_IsInstance(made, class);
        Py_DECREF(class);
    }
    if (fits > 0) return true;
    if (fits < 0) return refuse_exception(c, o, "the class of its result");
    return refuse_object(c, o, UPK_ERR_BUILDING, "the function returned a %s", Py_TYPE(made)->tp_name);
}

static bool will_change(const struct object *o) {
    const struct object_more *const more = o->more;
    return o->state.kind != UPK_INVALID || (more && (more->base || more->items || more->pairs || more->adds));
}

bool exception_suits(struct call *c, const struct object *o, PyObject *made) {
    const char *why;
    if (!exception_sound(made, &why)) return refuse_exception(c, o, NULL);
    return !why || refuse_object(c, o, UPK_ERR_BUILDING, "%s", why);
}

/* Of a class that nobody listed: nothing that is called, or whose state is that of a program; and nothing unsafe to print. */
static bool opened_suits(struct call *c, const struct object *o, PyObject *made) {
    if (PyType_Check(made) || PyModule_Check(made) || PyFunction_Check(made) || PyCFunction_Check(made))
        return refuse_object(c, o, UPK_ERR_BUILDING, "the class returned a %s", Py_TYPE(made)->tp_name);
    return exception_suits(c, o, made);
}

static bool judge(struct call *c, const struct object *o, struct plan *p, PyObject *callable,
                  PyObject *made) {
    PyTypeObject *const type = Py_TYPE(made);
    if ((PyObject *)type != callable) {
        if (c->guard->policy->forms[o->cell.cap].verb == UPK_VERB_FUNC) {
            if (!result_fits(c, o, p, made)) return false;
        } else if (!PyType_IsSubtype(type, (PyTypeObject *)callable)) {
            return refuse_object(c, o, UPK_ERR_BUILDING, "the class returned a %s", type->tp_name);
        }
        if (!plan_fits(c, o, p, type)) return false;
    }
    if (row_is_open(c->guard->policy, o->cell.len) && !opened_suits(c, o, made)) return false;
    if (!will_change(o) || Py_REFCNT(made) == 1) return true;
    return refuse_object(c, o, UPK_ERR_BUILDING,
                         "the constructor returned an object that others hold: it stays as it is");
}

PyObject *object_make(struct call *c, struct object *o) {
    struct plan *const p = plan_of(c, o);
    if (!p) return NULL;
    PyObject *const callable = p->callable; /* the plan may be made anew while code runs */
    Py_INCREF(callable);
    PyObject *made = p->native ? native_make(c, o, p) : NULL;
    if (!made && !PyErr_Occurred()) made = make_as_said(c, o, callable);
    if (made && !judge(c, o, p, callable, made)) Py_CLEAR(made);
    Py_DECREF(callable);
    return made;
}

/* ---- items, pairs, adds */

/* Call a plain method with one argument; its result is of no interest. */
static bool call_method(struct call *c, const struct object *o, PyObject *method, PyObject *argument) {
    PyObject *given[] = {NULL, object_built(o), argument};
    Py_INCREF(method);
    PyObject *const done =
        PyObject_VectorcallDict(method, given + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(method);
    Py_XDECREF(done);
    return done || refuse_exception(c, o, "taking its items");
}

static bool add_items(struct call *c, const struct object *o, struct plan *p, struct upk_cell *items) {
    PyObject *const list = build_value(c, value_of_cell(items));
    bool good = list != NULL;
    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(list); i++) {
        const struct instance_plan *const s = instance_plan_of(p, object_built(o));
        if (s && !s->take)
            (void)refuse_object(c, o, UPK_ERR_BINDING,
                                "its class has no extend or append that could be called");
        const bool all = s && s->takes_all;
        good = s && s->take && call_method(c, o, s->take, all ? list : PyList_GET_ITEM(list, i));
        if (all) break;
    }
    Py_XDECREF(list);
    return good;
}

/* Members that turn out to be equal to others make fewer than the stream says. */
static bool has_grown(struct call *c, const struct object *o, Py_ssize_t before, Py_ssize_t after,
                      uint32_t by) {
    return after - before == (Py_ssize_t)by ||
           refuse_object(c, o, UPK_ERR_BUILDING, "two of its keys or members are equal");
}

/* Takes the references. */
static bool set_item(struct call *c, const struct object *o, PyObject *key, PyObject *value) {
    const bool good = key && value && PyObject_SetItem(object_built(o), key, value) == 0;
    if (key && value && !good) (void)refuse_exception(c, o, "taking its pairs");
    Py_XDECREF(key);
    Py_XDECREF(value);
    return good;
}

static bool add_pairs_singly(struct call *c, const struct object *o, const struct upk_cell *pairs) {
    for (uint32_t i = 0; i < pairs->len; i += 2) {
        PyObject *const key = build_value(c, pairs->items[i]);
        if (!set_item(c, o, key, key ? build_value(c, pairs->items[i + 1]) : NULL)) return false;
    }
    return true;
}

/* As a dict first, which finds what no dict may have: too many keys of one hash, and equal ones. */
static bool add_pairs_of_dict(struct call *c, const struct object *o, struct upk_cell *pairs) {
    PyObject *const dict = build_value(c, value_of_cell(pairs)), *key, *value;
    bool good = dict != NULL;
    for (Py_ssize_t i = 0; good && PyDict_Next(dict, &i, &key, &value);) {
        Py_INCREF(key);
        Py_INCREF(value);
        good = set_item(c, o, key, value);
    }
    Py_XDECREF(dict);
    return good;
}

static bool add_pairs(struct call *c, const struct object *o, struct upk_cell *pairs) {
    PyObject *const inst = object_built(o);
    const bool is_dict = PyDict_Check(inst);
    const Py_ssize_t before = is_dict ? PyDict_GET_SIZE(inst) : 0;
    if (!(hashes_doubtful(pairs) ? add_pairs_of_dict(c, o, pairs) : add_pairs_singly(c, o, pairs)))
        return false;
    return !is_dict || has_grown(c, o, before, PyDict_GET_SIZE(inst), pairs->len / 2);
}

/* A set first, as above; of what is no set, one after the other by its own `add`. */
static bool add_members(struct call *c, const struct object *o, struct upk_cell *adds) {
    PyObject *const inst = object_built(o), *method;
    const bool is_set = PySet_Check(inst);
    const Py_ssize_t before = is_set ? PySet_GET_SIZE(inst) : 0;
    if (!class_member(Py_TYPE(inst), "add", &method, NULL)) return false;
    if (!method || !method_is_plain(method))
        return refuse_object(c, o, UPK_ERR_BINDING, "its class has no add that could be called");
    PyObject *const set = build_value(c, value_of_cell(adds));
    Py_XDECREF(set);
    bool good = set != NULL;
    Py_INCREF(method);
    for (uint32_t i = 0; good && i < adds->len; i++) {
        PyObject *const member = build_value(c, adds->items[i]);
        good = member && call_method(c, o, method, member);
        Py_XDECREF(member);
    }
    Py_DECREF(method);
    return good && (!is_set || has_grown(c, o, before, PySet_GET_SIZE(inst), adds->len));
}

bool object_grow(struct call *c, struct object *o) {
    const struct object_more *const more = o->more;
    struct plan *const p = more ? plan_of(c, o) : NULL;
    if (!p) return !more;
    if (!plan_fits(c, o, p, Py_TYPE(object_built(o)))) return false;
    if (more->base &&
        !(more->base->kind == UPK_LIST ? add_items(c, o, p, more->base) : add_pairs(c, o, more->base)))
        return false;
    return (!more->items || add_items(c, o, p, more->items)) &&
           (!more->pairs || add_pairs(c, o, more->pairs)) && (!more->adds || add_members(c, o, more->adds));
}
