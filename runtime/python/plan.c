/* How objects of a form are made: what is decided once, when the form is first met, and anew when the class has changed since.
 *
 * A class's hooks (__new__, __setstate__, __hash__ and their like) that are Python code must be named behind `runs`; methods by
 * which it takes items, pairs or adds must be C.  `__init__`, what it calls, and the metaclass are the class's own affair: who
 * grants a call grants them.
 *
 * Layer: see host.h.
 */
#include "bind.h"

/* false: refused, or an exception is set. */
static bool hooks_are_named(struct call *c, const struct object *o, PyTypeObject *type,
                            const struct upk_form *f) {
    unsigned runs;
    char missing[100];
    if (!hooks_of(type, &runs)) return false;
    runs &= ~f->flags;
    if (!runs) return true;
    hooks_write(runs, missing, sizeof missing);
    return refuse_object(c, o, UPK_ERR_BINDING,
                         "the class has Python code that the row does not name: runs %s", missing);
}

/* Is its class one that nothing but `fail_open' admits? */
static bool by_fail_open(const struct call *c, const struct object *o, const struct upk_form *f) {
    return row_is_open(c->guard->policy, f->row) && !opened_by_base(c, o);
}

/* Steps are taken by the class's own methods.  Of them no row can say that they run Python code. */
static bool steps_are_native(struct call *c, const struct object *o, PyTypeObject *type,
                             const struct upk_form *f) {
    static const char *const methods[][3] = {
        {"append", "extend", NULL}, {"__setitem__", NULL}, {"add", "update", NULL}};
    const uint32_t steps[] = {f->items, f->pair_value, f->adds};
    if (by_fail_open(c, o, f)) return true; /* `fail_open' runs what it meets */
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        for (size_t i = 0; steps[s] && methods[s][i]; i++) {
            PyObject *member;
            bool python;
            if (!class_member(type, methods[s][i], &member, &python)) return false;
            if (python)
                return refuse_object(c, o, UPK_ERR_BINDING, "the class takes them by Python code: its own %s",
                                     methods[s][i]);
        }
    }
    return true;
}

/* ---- classes that nobody listed
 *
 * Some classes of C read what only their __init__ has set, or only the function that makes their instances. */

/* Is a class of C, in the order of inheritance, made by neither a __new__ nor an __init__ of its own, and is more than an object?  Or is
 * there no such order yet? */
static bool has_bare_parts(const struct host *h, const PyTypeObject *type) {
    const destructor of_python = ((PyTypeObject *)h->refused_error)->tp_dealloc;
    PyObject *const order = type->tp_mro;
    if (!order || !PyTuple_Check(order)) return true;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(order); i++) {
        const PyTypeObject *const at = (PyTypeObject *)PyTuple_GET_ITEM(order, i);
        const bool is_c = !(at->tp_flags & Py_TPFLAGS_HEAPTYPE) || at->tp_dealloc != of_python;
        if (is_c && at->tp_basicsize > PyBaseObject_Type.tp_basicsize &&
            at->tp_new == PyBaseObject_Type.tp_new && at->tp_init == PyBaseObject_Type.tp_init)
            return true;
    }
    return false;
}

/* Does `new` leave something out?  Not where the base is whole before its __init__, nor where the class has a __setstate__, which
 * is for objects that are made so. */
static bool new_is_whole(PyTypeObject *type, bool *whole) {
    PyTypeObject *const bases[] = {&PyDict_Type, &PyList_Type, &PySet_Type, &PyByteArray_Type,
                                   (PyTypeObject *)PyExc_BaseException};
    PyTypeObject *owner;
    PyObject *method;
    if (!init_of_c(type, &owner) || !class_member(type, "__setstate__", &method, NULL)) return false;
    *whole = !owner || owner == &PyBaseObject_Type || method;
    for (size_t i = 0; !*whole && i < sizeof bases / sizeof *bases; i++)
        *whole = PyType_IsSubtype(owner, bases[i]);
    return true;
}

static bool opened_is_whole(struct call *c, const struct object *o, PyTypeObject *type,
                            const struct upk_form *f) {
    bool whole = true;
    if (!row_is_open(c->guard->policy, f->row)) return true;
    if (f->verb == UPK_VERB_NEW && !new_is_whole(type, &whole)) return false;
    if (whole && !has_bare_parts(c->guard->host, type)) return true;
    return refuse_object(c, o, UPK_ERR_BINDING, "instances that are made this way are not whole");
}

/* ---- code that nobody has read
 *
 * Of classes that only `fail_open' admits none runs by a call: instances are made by `new', and by the calls that pickles of enums,
 * exceptions and containers have; nor has anybody looked at what such a class does when its instances end.  A state that C takes as
 * it is (dtypes of numpy are pointers and offsets) goes to no class that nobody listed; whoever wrote a row of subclasses knew its
 * base. */

/* Is the __setstate__ of the class one of C that nobody has looked at? */
static bool state_is_unknown(struct call *c, const struct object *o, PyTypeObject *type, bool *unknown) {
    PyObject *own, *known;
    bool python;
    PyTypeObject *base;
    *unknown = false;
    if (!class_member(type, "__setstate__", &own, &python)) return false;
    if (!own || python) return true;
    if (!class_member((PyTypeObject *)PyExc_BaseException, "__setstate__", &known, NULL)) return false;
    if (own == known) return true;
    if (!opened_base_class(c, o, &base) || (base && !class_member(base, "__setstate__", &known, NULL)))
        return false;
    *unknown = own != known;
    Py_XDECREF(base);
    return true;
}

static bool code_is_known(struct call *c, const struct object *o, PyTypeObject *type,
                          const struct upk_form *f) {
    PyObject *init, *end, *call;
    bool runs, ends, calls, unknown;
    if (!row_is_open(c->guard->policy, f->row)) return true;
    if (f->state) {
        if (!state_is_unknown(c, o, type, &unknown)) return false;
        if (unknown)
            return refuse_object(c, o, UPK_ERR_BINDING,
                                 "its __setstate__ is of C, and takes what no row describes");
    }
    if (opened_by_base(c, o)) return true;
    if (!class_member(type, "__init__", &init, &runs) || !class_member(type, "__del__", &end, &ends) ||
        !class_member(Py_TYPE(type), "__call__", &call, &calls))
        return false;
    if (ends) return refuse_object(c, o, UPK_ERR_BINDING, "its own __del__ would run");
    if (f->verb != UPK_VERB_CALL || (!runs && !calls) || PyExceptionClass_Check((PyObject *)type))
        return true;
    const PyObject *const members = enum_members(type);
    if (members || PyErr_Occurred()) return members != NULL;
    return refuse_object(c, o, UPK_ERR_BINDING, "its own __init__ would run, or its metaclass's __call__");
}

static bool class_suits(struct call *c, const struct object *o, PyTypeObject *type) {
    const struct upk_form *const f = &c->guard->policy->forms[o->cell.cap];
    return hooks_are_named(c, o, type, f) && steps_are_native(c, o, type, f) &&
           opened_is_whole(c, o, type, f) && code_is_known(c, o, type, f);
}

/* A class may return an instance of another one below it, which no stream has named: it is judged as if one had.  Where the host is
 * asked for names, `never' and `deny' are about all of them; and of what nobody listed the row is that of the class itself. */
static bool returned_is_granted(struct call *c, const struct object *o, const struct plan *p,
                                PyTypeObject *type) {
    const struct upk_policy *const policy = c->guard->policy;
    bool denied, same = true;
    if (policy->open_count < 2 || type == p->result) return true;
    if (!class_denied(policy, type, &denied)) return false;
    if (denied)
        return refuse_object(c, o, UPK_ERR_BUILDING, "what was returned is a %s, which is denied",
                             type->tp_name);
    if (row_is_open(policy, o->cell.len) && !opened_alike(c, o, type, &same)) return false;
    return same || refuse_object(c, o, UPK_ERR_BUILDING, "what was returned is a %s, which has another row",
                                 type->tp_name);
}

bool plan_fits(struct call *c, const struct object *o, struct plan *p, PyTypeObject *type) {
    if (p->made == type && p->made_version && p->made_version == type_version(type)) return true;
    if ((PyObject *)type == p->callable) return true; /* looked at by plan_of */
    if (!returned_is_granted(c, o, p, type) || !class_suits(c, o, type)) return false;
    PyTypeObject *const old = p->made;
    Py_INCREF(type);
    p->made = type;
    p->made_version = type_version(type);
    Py_XDECREF(old);
    return true;
}

static bool plan_make(struct call *c, const struct object *o, struct plan *p, PyObject *object) {
    const struct upk_form *const f = &c->guard->policy->forms[o->cell.cap];
    plan_clear(p);
    if (f->verb != UPK_VERB_FUNC) {
        PyTypeObject *const type = (PyTypeObject *)object;
        if (!PyType_Check(object)) return refuse_object(c, o, UPK_ERR_BINDING, "it is no class");
        if (f->verb == UPK_VERB_NEW && !type->tp_new)
            return refuse_object(c, o, UPK_ERR_BINDING, "the class has no __new__");
        if (!class_suits(c, o, type)) return false;
        p->version = type_version(type);
    }
    Py_INCREF(object);
    p->callable = object;
    if (native_find(c, o->cell.cap, p)) return true;
    plan_clear(p);
    return false;
}

struct plan *plan_find(struct call *c, const struct object *o) {
    const bool open = row_is_open(c->guard->policy, o->cell.len);
    PyObject *object = open ? NULL : bind_row(c, o->cell.len, o);
    struct plan *const p = open ? opened_plan(c, o, &object) : &c->guard->plans[o->cell.cap];
    if (!p || !object) return NULL;
    if (plan_holds(p, object, c->guard->policy->forms[o->cell.cap].verb)) return p;
    return plan_make(c, o, p, object) ? p : NULL;
}

/* ---- instances */

static void instance_plan_clear(struct instance_plan *s) {
    const struct instance_plan old = *s;
    *s = (struct instance_plan){
        .how = STATE_UNKNOWN}; /* first, for what is let go may run code that comes here again */
    for (size_t i = 0; old.keys && i < STATE_KEYS; i++) Py_XDECREF(old.keys->at[i].key);
    PyMem_Free(old.keys);
    Py_XDECREF(old.type);
    Py_XDECREF(old.method);
    Py_XDECREF(old.take);
}

struct instance_plan *instance_plan_make(struct plan *p, PyTypeObject *type) {
    PyObject *method, *from_exception, *dict, *extend, *append;
    if (!class_member(type, "__setstate__", &method, NULL) || !class_member(type, "__dict__", &dict, NULL) ||
        !class_member((PyTypeObject *)PyExc_BaseException, "__setstate__", &from_exception, NULL) ||
        !class_member(type, "extend", &extend, NULL) || !class_member(type, "append", &append, NULL))
        return NULL;
    struct state_keys *const keys = PyMem_Calloc(1, sizeof *keys);
    if (!keys) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    PyObject *const take = extend ? extend : append;
    const bool computed =
        dict && Py_TYPE(dict) != &PyGetSetDescr_Type && Py_TYPE(dict) != &PyMemberDescr_Type;
    const struct instance_plan made = {
        .type = type,
        .version = type_version(type),
        .how = !method                    ? STATE_DICT
               : method == from_exception ? STATE_EXCEPTION
                                          : STATE_METHOD,
        .has_dict = type->tp_dictoffset != 0 && !computed,
        .takes_all = extend != NULL,
        .method = method,
        .take = take && method_is_plain(take) ? take : NULL,
        .keys = keys,
    };
    Py_INCREF(type);
    Py_XINCREF(made.method);
    Py_XINCREF(made.take);
    instance_plan_clear(&p->instance);
    p->instance = made;
    return &p->instance;
}

/* ---- references */

void plan_clear(struct plan *p) {
    struct plan old = *p;
    *p = (struct plan){.native = 0}; /* as above */
    instance_plan_clear(&old.instance);
    Py_XDECREF(old.callable);
    Py_XDECREF(old.made);
    Py_XDECREF(old.result);
    Py_XDECREF(old.extra);
}

int plan_traverse(struct plan *p, visitproc visit, void *arg) {
    Py_VISIT(p->callable);
    Py_VISIT(p->made);
    Py_VISIT(p->result);
    Py_VISIT(p->extra);
    Py_VISIT(p->instance.type);
    Py_VISIT(p->instance.method);
    return 0;
}
