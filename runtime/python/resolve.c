/* Names without a row, under a policy that is open to some (`subclasses of`, `fail_open`): what this process has under them.
 *
 * The decoder asks at the opcode, and judges what it is told; this tells.  Nothing is imported and no code runs: modules are looked
 * up by their dicts, classes by the attributes that C keeps (names.c), inheritance by the order in which C has it: an abstract base
 * class is not asked whom it has adopted.  What was found is kept by the number of the question, and that, and nothing that is
 * looked up later, is what objects of the document are made of.
 *
 * Layer: see host.h.
 */
#include "bind.h"

/* What was found for a question, and how objects of it are made in this call. */
struct found {
    PyObject *object;   /* strong */
    uint32_t base;      /* in policy->opens; 0: none */
    struct plan *plans; /* by form of its row; NULL: none is made of it yet */
    uint32_t plan_count;
};

struct opened {
    struct found *found;
    size_t count, room;
    struct names names, ancestors;
};

/* ---- classes */

/* The class under a base's name; new reference, NULL without an exception: none that could be one.  All inherit from `object`,
 * whatever name it goes by. */
static PyObject *base_find(const struct upk_policy *p, const struct upk_open *open) {
    const char *why;
    const struct upk_compat name = {(const uint8_t *)p->pool + open->module.at, open->module.len,
                                    (const uint8_t *)p->pool + open->qualname.at, open->qualname.len};
    PyObject *const base = name_find(name, &why);
    if (base && PyType_Check(base) && base != (PyObject *)&PyBaseObject_Type) return base;
    Py_XDECREF(base);
    return NULL;
}

/* Where in the order of inheritance of `type` the class stands; -1: nowhere.  A class has none while its metaclass's mro() makes it. */
static Py_ssize_t place_of(const PyTypeObject *type, const PyObject *class) {
    PyObject *const order = type->tp_mro;
    if (!order || !PyTuple_Check(order)) return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(order); i++)
        if (PyTuple_GET_ITEM(order, i) == class) return i;
    return -1;
}

bool opened_base(const struct upk_policy *p, const PyTypeObject *type, uint32_t *base) {
    Py_ssize_t nearest = PY_SSIZE_T_MAX;
    *base = 0;
    for (uint32_t i = 1; i < p->open_count && p->opens[i].kind == UPK_OPEN_SUBCLASSES; i++) {
        PyObject *const class = base_find(p, &p->opens[i]);
        const Py_ssize_t place = class ? place_of(type, class) : -1;
        Py_XDECREF(class);
        if (PyErr_Occurred()) return false;
        if (place < 0 || place >= nearest) continue;
        nearest = place;
        *base = i;
    }
    return true;
}

/* ---- other objects */

static const char *singleton_name(const PyObject *object) {
    if (object == Py_None) return "None";
    if (object == Py_True) return "True";
    if (object == Py_False) return "False";
    if (object == Py_Ellipsis) return "Ellipsis";
    if (object == Py_NotImplemented) return "NotImplemented";
    return NULL;
}

/* A member is called by its class and by each of its names there. */
static bool names_of_member(struct opened *o, PyObject *object, bool *is_member) {
    PyTypeObject *const type = Py_TYPE(object);
    PyObject *const members = enum_members(type), *key, *value;
    *is_member = false;
    Py_XINCREF(members);
    bool good = !PyErr_Occurred();
    for (Py_ssize_t i = 0; good && members && PyDict_Next(members, &i, &key, &value);) {
        struct own_name own;
        if (value != object || !PyUnicode_Check(key)) continue;
        if (!*is_member) good = names_of_class(&o->names, &o->ancestors, type);
        *is_member = true;
        if (!good || !(good = own_name_of((PyObject *)type, &own))) break;
        PyObject *const dotted = own.qualname ? PyUnicode_FromFormat("%U.%U", own.qualname, key) : NULL;
        Py_XDECREF(own.qualname);
        good = names_add(&o->names, own.module, dotted);
    }
    Py_XDECREF(members);
    return good;
}

/* What a refusal of it can be told by; a function of Python is also of the module whose globals it sees. */
static bool names_of_other(struct opened *o, PyObject *object) {
    if (!names_add_own(&o->names, object)) return false;
    if (!PyFunction_Check(object)) return true;
    struct own_name own;
    PyObject *const globals = PyFunction_GET_GLOBALS(object), *module = NULL;
    PyObject *const text = PyUnicode_InternFromString("__name__");
    if (text && PyDict_Check(globals)) module = PyDict_GetItemWithError(globals, text);
    Py_XINCREF(module);
    Py_XDECREF(text);
    if (PyErr_Occurred() || !own_name_of(object, &own)) {
        Py_XDECREF(module);
        return false;
    }
    Py_XDECREF(own.module);
    return names_add(&o->names, module, own.qualname);
}

/* ---- the answer */

/* What makes classes is none itself; nor is what does not say what it is. */
static bool answer_class(struct opened *o, const struct upk_policy *p, PyTypeObject *type,
                         struct upk_answer *answer) {
    if (!names_of_class(&o->names, &o->ancestors, type)) return false;
    if (PyType_IsSubtype(type, &PyType_Type) || o->names.unsaid || o->ancestors.unsaid) return true;
    answer->found = UPK_FOUND_CLASS;
    return opened_base(p, type, &answer->base);
}

static bool answer_other(struct opened *o, PyObject *object, struct upk_answer *answer) {
    const char *const singleton = singleton_name(object);
    bool is_member;
    if (singleton) {
        answer->found = UPK_FOUND_CONST;
        return names_add_builtin(&o->names, singleton);
    }
    if (!names_of_member(o, object, &is_member)) return false;
    if (!is_member) return names_of_other(o, object);
    if (!o->names.unsaid && !o->ancestors.unsaid) answer->found = UPK_FOUND_CONST;
    return true;
}

static bool is_loaded(struct upk_compat name) {
    PyObject *const module = module_find(name);
    const bool loaded = module && module != Py_None; /* None: nobody may import it */
    Py_XDECREF(module);
    return loaded;
}

/* The place for what is found; NULL: an exception is set. */
static struct found *found_at(struct opened *o, size_t index) {
    if (index >= o->room) {
        const size_t room = 2 * index + 8;
        struct found *const wide = PyMem_Realloc(o->found, room * sizeof *wide);
        if (!wide) {
            (void)PyErr_NoMemory();
            return NULL;
        }
        o->found = wide;
        o->room = room;
    }
    while (o->count <= index) o->found[o->count++] = (struct found){.object = NULL};
    return &o->found[index];
}

static bool answer_for(struct call *c, const struct upk_question *q, struct upk_answer *answer) {
    const char *why;
    const struct upk_compat name = {(const uint8_t *)q->name.module, q->name.module_len,
                                    (const uint8_t *)q->name.name, q->name.name_len};
    if (!c->opened && !(c->opened = PyMem_Calloc(1, sizeof *c->opened))) {
        (void)PyErr_NoMemory();
        return false;
    }
    struct opened *const o = c->opened;
    names_clear(&o->names);
    names_clear(&o->ancestors);
    struct found *const at = found_at(o, q->index);
    if (!at) return false;
    answer->found = UPK_FOUND_NO_MODULE;
    if (!is_loaded(name)) return !PyErr_Occurred();
    PyObject *const object = name_find(name, &why);
    answer->found = UPK_FOUND_NOTHING;
    if (!object) return !PyErr_Occurred();
    answer->found = UPK_FOUND_OTHER;
    PyObject *const before = at->object; /* of a question that was not granted */
    at->object = object;
    Py_XDECREF(before);
    const bool good = PyType_Check(object) ? answer_class(o, q->policy, (PyTypeObject *)object, answer)
                                           : answer_other(o, object, answer);
    o->found[q->index].base = answer->base;
    answer->names = o->names.at;
    answer->name_count = o->names.count;
    answer->ancestors = o->ancestors.at;
    answer->ancestor_count = o->ancestors.count;
    return good && !PyErr_Occurred();
}

/* The thread of the call, and not any of this thread: it may be one of a sub-interpreter. */
bool opened_resolve(void *call, const struct upk_question *question, struct upk_answer *answer) {
    struct call *const c = call;
    if (c->away) PyEval_RestoreThread(c->away);
    const bool good = answer_for(c, question, answer);
    if (c->away) c->away = PyEval_SaveThread();
    return good;
}

/* ---- what objects are made of */

static struct found *found_of(const struct call *c, const struct asked *asked) {
    assert(c->opened &&
           asked->index < c->opened->count); /* no document is accepted before that is answered */
    return &c->opened->found[asked->index];
}

PyObject *opened_object(const struct call *c, const struct asked *asked) {
    return found_of(c, asked)->object;
}

bool opened_by_base(const struct call *c, const struct object *o) {
    return row_is_open(c->guard->policy, o->cell.len) && found_of(c, object_asked(o)->asked)->base != 0;
}

bool opened_base_class(const struct call *c, const struct object *o, PyTypeObject **base) {
    const struct upk_policy *const p = c->guard->policy;
    const uint32_t at = found_of(c, object_asked(o)->asked)->base;
    *base = at ? (PyTypeObject *)base_find(p, &p->opens[at]) : NULL;
    return !PyErr_Occurred();
}

bool opened_alike(struct call *c, const struct object *o, PyTypeObject *type, bool *same) {
    const struct upk_policy *const p = c->guard->policy;
    struct names own = {.count = 0};
    uint32_t base = 0, row = 0;
    const bool good = names_add_own(&own, (PyObject *)type) && opened_base(p, type, &base);
    for (size_t i = 0; good && i < own.count; i++)
        row = find_row(p, 1, (const uint8_t *)own.at[i].module, own.at[i].module_len,
                       (const uint8_t *)own.at[i].name, own.at[i].name_len);
    names_free(&own);
    *same = base == found_of(c, object_asked(o)->asked)->base && (!row || !p->rows[row].form_count);
    return good;
}

struct plan *opened_plan(struct call *c, const struct object *o, PyObject **object) {
    const struct upk_row *const row = &c->guard->policy->rows[o->cell.len];
    struct found *const f = found_of(c, object_asked(o)->asked);
    if (!f->plans) {
        f->plans = PyMem_Calloc(row->form_count, sizeof *f->plans);
        f->plan_count = row->form_count;
    }
    *object = f->object;
    if (f->plans) return &f->plans[o->cell.cap - row->first_form];
    (void)PyErr_NoMemory();
    return NULL;
}

void opened_end(struct call *c) {
    struct opened *const o = c->opened;
    c->opened = NULL;
    for (size_t i = 0; i < o->count; i++) {
        struct found *const f = &o->found[i];
        for (uint32_t k = 0; f->plans && k < f->plan_count; k++) plan_clear(&f->plans[k]);
        PyMem_Free(f->plans);
        Py_XDECREF(f->object);
    }
    names_free(&o->names);
    names_free(&o->ancestors);
    PyMem_Free(o->found);
    PyMem_Free(o);
}
