/* The type Unpickler, a class for each Policy, and load from a file.
 *
 * A class knows its Policy by an entry of its own dict, which its subclasses find through their bases: no version of CPython from
 * 3.8 on has another way to a type's module that works for all of them.
 *
 * Layer: see host.h.
 */
#include "host.h"

struct unpickler {
    PyObject_HEAD struct guard *guard; /* strong */
    struct file file;
    PyObject *buffers;         /* strong list: those that no pickle has taken yet; NULL: none were given */
    PyObject *persistent_load; /* strong; NULL: not set */
    struct call *call;         /* while it builds; borrowed */
    bool begun, busy, cause;
};

static const char policy_entry[] = "__policy__";

/* ---- one pickle of a file */

/* *running is the call while values are built; *taken: how many buffers the pickle has. */
static PyObject *load_one(struct guard *g, struct file *f, const struct arguments *a, PyObject *find_class,
                          struct call **running, size_t *taken) {
    struct call c;
    struct upk_doc *doc = NULL;
    struct upk_error err;
    size_t used = 0;
    /* A buffer is a node of the value. */
    if (!file_begin(f) || !call_begin(&c, g, a, (size_t)g->policy->budgets[UPK_BUDGET_NODES])) {
        file_rest(f);
        return NULL;
    }
    c.find_class = find_class;
    c.options.used = &used;
    bool good = upk_decode_from(g->policy, file_read, f, &c.options, &doc, &err);
    if (!good && !PyErr_Occurred()) {
        file_observe(f, &c, &err);
        (void)refused(g->host, &err);
    }
    if (good && !file_end(f, used)) {
        upk_doc_free(doc);
        good = false;
    }
    file_rest(f);
    PyObject *made = NULL;
    if (good) {
        *taken = doc->buffers_taken;
        *running = &c;
        made = call_finish(&c, doc);
        *running = NULL;
    }
    call_end(&c);
    return made;
}

PyObject *guard_load(struct guard *g, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    struct arguments a;
    struct file f;
    struct call *running;
    size_t taken;
    if (!arguments_read(&a, "load", TAKES_PICKLE | TAKES_CAUSE, args, n, kwnames)) return NULL;
    if (!file_open(&f, g->host, a.first)) return NULL;
    PyObject *const made = load_one(g, &f, &a, NULL, &running, &taken);
    file_close(&f);
    return made;
}

/* ---- methods that a subclass may override */

static PyObject *unpickler_find_class(PyObject *self, PyObject *const *args, Py_ssize_t n);
static PyObject *unpickler_persistent_load(PyObject *self, PyObject *id);

#define METHOD(function) (PyCFunction)(void (*)(void))(function)

/* Is this attribute of `self` the very method of ours? */
static bool is_own(PyObject *attribute, PyObject *self, PyCFunction function) {
    return PyCFunction_Check(attribute) && PyCFunction_GET_SELF(attribute) == self &&
           PyCFunction_GET_FUNCTION(attribute) == function;
}

/* What overrides our method; new reference.  *own: nothing does.  NULL otherwise: an exception is set. */
static PyObject *overriding(PyObject *self, const char *name, PyCFunction function, bool *own) {
    PyObject *const attribute = PyObject_GetAttrString(self, name);
    *own = attribute && is_own(attribute, self, function);
    if (*own) {
        Py_DECREF(attribute);
        return NULL;
    }
    return attribute;
}

static bool text_of_name(PyObject *text, const char **at, size_t *len) {
    Py_ssize_t n = 0;
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "find_class() takes two str, not %.100s", Py_TYPE(text)->tp_name);
        return false;
    }
    *at = PyUnicode_AsUTF8AndSize(text, &n);
    *len = (size_t)n;
    return *at != NULL;
}

static void refuse_name(struct guard *g, const char *module, size_t module_len, const char *name,
                        size_t len) {
    struct upk_error err;
    error_set(&err, UPK_ERR_GLOBAL, 0, 0);
    error_copy(err.module, sizeof err.module, (const uint8_t *)module, module_len);
    error_copy(err.name, sizeof err.name, (const uint8_t *)name, len);
    err.dangerous = upk_name_is_dangerous(module, module_len, name, len);
    error_policy(&err, g->policy);
    (void)refused(g->host, &err);
}

/* The object of a granted name, as a stream of protocol 3 or later gets it. */
static PyObject *unpickler_find_class(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    struct unpickler *const u = (struct unpickler *)self;
    const char *module, *name;
    size_t module_len, len;
    if (n != 2) {
        PyErr_Format(PyExc_TypeError, "find_class() takes exactly 2 arguments (%zd given)", n);
        return NULL;
    }
    if (!text_of_name(args[0], &module, &module_len) || !text_of_name(args[1], &name, &len)) return NULL;
    uint32_t row = 0;
    if (module_len <= UPK_NAME_MOST && len <= UPK_NAME_MOST)
        row = find_row(u->guard->policy, 1, module, module_len, name, len);
    if (!row) {
        refuse_name(u->guard, module, module_len, name, len);
        return NULL;
    }
    /* A call of its own, so that the override that asks is not asked itself. */
    struct call c = {.guard = u->guard, .doc = u->call ? u->call->doc : NULL};
    PyObject *const found = bind_row(&c, row, NULL);
    Py_XINCREF(found);
    return found;
}

static PyObject *unpickler_persistent_load(PyObject *self, PyObject *id) {
    (void)id;
    PyErr_SetString(((struct unpickler *)self)->guard->host->unpickling_error,
                    "a persistent id, and no persistent_load");
    return NULL;
}

static PyMethodDef persistent_load_method = {
    "persistent_load", unpickler_persistent_load, METH_O,
    "persistent_load($self, pid, /)\n--\n\nThe object of a persistent id: to be overridden, or set."};

static PyObject *get_persistent_load(PyObject *self, void *unused) {
    (void)unused;
    PyObject *const set = ((struct unpickler *)self)->persistent_load;
    Py_XINCREF(set);
    return set ? set : PyCFunction_New(&persistent_load_method, self);
}

static int set_persistent_load(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    struct unpickler *const u = (struct unpickler *)self;
    if (value && !PyCallable_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "persistent_load must be a callable taking one argument");
        return -1;
    }
    PyObject *const old = u->persistent_load;
    Py_XINCREF(value);
    u->persistent_load = value;
    Py_XDECREF(old);
    return 0;
}

/* ---- load */

static bool enter(struct unpickler *u) {
    if (u->busy)
        PyErr_SetString(PyExc_RuntimeError, "this Unpickler is loading already");
    else
        u->busy = true;
    return !PyErr_Occurred();
}

static PyObject *load_busy(struct unpickler *u) {
    PyObject *const self = (PyObject *)u;
    bool own;
    PyObject *const find_class = overriding(self, "find_class", METHOD(unpickler_find_class), &own);
    if (!find_class && !own) return NULL;
    PyObject *const persistent_load = overriding(self, "persistent_load", unpickler_persistent_load, &own);
    PyObject *made = NULL;
    if (persistent_load || own) {
        const struct arguments a = {
            .buffers = u->buffers, .persistent_load = persistent_load, .cause = u->cause};
        size_t taken = 0;
        made = load_one(u->guard, &u->file, &a, find_class, &u->call, &taken);
        if (taken && PyList_SetSlice(u->buffers, 0, (Py_ssize_t)taken, NULL) != 0) Py_CLEAR(made);
    }
    Py_XDECREF(persistent_load);
    Py_XDECREF(find_class);
    return made;
}

static PyObject *unpickler_load(PyObject *self, PyObject *unused) {
    (void)unused;
    struct unpickler *const u = (struct unpickler *)self;
    if (!enter(u)) return NULL;
    PyObject *made = NULL;
    if (u->begun)
        made = load_busy(u);
    else
        PyErr_Format(u->guard->host->unpickling_error,
                     "Unpickler.__init__() was not called by %.200s.__init__()", Py_TYPE(self)->tp_name);
    u->busy = false;
    return made;
}

/* ---- the object */

/* The Policy of a class of ours, borrowed; NULL: an exception is set. */
static struct guard *guard_of(PyTypeObject *type) {
    PyObject *const entry = PyUnicode_InternFromString(policy_entry);
    struct guard *g = NULL;
    for (; entry && type && !g && !PyErr_Occurred(); type = type->tp_base) {
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) break;
        PyObject *const found = PyDict_GetItemWithError(type->tp_dict, entry);
        if (found && is_policy(found)) g = (struct guard *)found;
    }
    Py_XDECREF(entry);
    if (!g && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "this class is no Unpickler of a policy");
    return g;
}

static PyObject *unpickler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    struct guard *const g = guard_of(type);
    struct unpickler *const u = g ? (struct unpickler *)type->tp_alloc(type, 0) : NULL; /* cleared */
    if (!u) return NULL;
    Py_INCREF(g);
    u->guard = g;
    return (PyObject *)u;
}

/* As many as a pickle could take, so that an endless iterable ends. */
static PyObject *buffers_list(PyObject *iterable, uint64_t most) {
    PyObject *const iterator = PyObject_GetIter(iterable), *list = iterator ? PyList_New(0) : NULL;
    for (uint64_t i = 0; list && i < most; i++) {
        PyObject *const buffer = PyIter_Next(iterator);
        if (!buffer) break;
        if (PyList_Append(list, buffer) != 0) i = most;
        Py_DECREF(buffer);
    }
    Py_XDECREF(iterator);
    if (PyErr_Occurred()) Py_CLEAR(list);
    return list;
}

static bool read_arguments(struct arguments *a, PyObject *args, PyObject *kwargs) {
    PyObject *name, *value;
    *a = (struct arguments){.first = NULL};
    if (PyTuple_GET_SIZE(args) > 1) {
        PyErr_Format(PyExc_TypeError, "Unpickler() takes exactly 1 positional argument (%zd given)",
                     PyTuple_GET_SIZE(args));
        return false;
    }
    if (PyTuple_GET_SIZE(args)) a->first = PyTuple_GET_ITEM(args, 0);
    for (Py_ssize_t i = 0; kwargs && PyDict_Next(kwargs, &i, &name, &value);) {
        if (!a->first && PyUnicode_CompareWithASCIIString(name, "file") == 0)
            a->first = value;
        else if (!argument_set(a, "Unpickler", TAKES_PICKLE | TAKES_CAUSE, name, value))
            return false;
    }
    if (!a->first) PyErr_SetString(PyExc_TypeError, "Unpickler() missing required argument 'file'");
    return a->first != NULL;
}

static int unpickler_clear(PyObject *self) {
    struct unpickler *const u = (struct unpickler *)self;
    u->begun = false;
    file_close(&u->file);
    Py_CLEAR(u->buffers);
    Py_CLEAR(u->persistent_load);
    return 0;
}

static bool begin(struct unpickler *u, const struct arguments *a) {
    struct file file;
    (void)unpickler_clear((PyObject *)u);
    if (!file_open(&file, u->guard->host, a->first)) return false;
    u->file = file;
    if (a->buffers && !(u->buffers = buffers_list(a->buffers, u->guard->policy->budgets[UPK_BUDGET_NODES])))
        return false;
    Py_XINCREF(a->persistent_load);
    u->persistent_load = a->persistent_load;
    u->cause = a->cause;
    u->begun = true;
    return true;
}

static int unpickler_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    struct unpickler *const u = (struct unpickler *)self;
    struct arguments a;
    if (!enter(u)) return -1;
    const bool good = read_arguments(&a, args, kwargs) && begin(u, &a);
    u->busy = false;
    return good ? 0 : -1;
}

static int unpickler_traverse(PyObject *self, visitproc visit, void *arg) {
    struct unpickler *const u = (struct unpickler *)self;
#if PY_VERSION_HEX >= 0x03090000
    Py_VISIT(Py_TYPE(self));
#endif
    Py_VISIT(u->guard);
    Py_VISIT(u->buffers);
    Py_VISIT(u->persistent_load);
    return file_traverse(&u->file, visit, arg);
}

static void unpickler_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)unpickler_clear(self);
    Py_XDECREF(((struct unpickler *)self)->guard);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- the class of a Policy */

static PyMethodDef methods[] = {
    {"load", unpickler_load, METH_NOARGS,
     "load($self, /)\n--\n\nThe value of the next pickle of the file, as the Policy's load has it."},
    {"find_class", METHOD(unpickler_find_class), METH_FASTCALL,
     "find_class($self, module, name, /)\n--\n\n"
     "The object that a name of the policy is bound to.  An override is asked for the names of accepted "
     "pickles alone, and may give\n"
     "another object of the kind that the policy says."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"persistent_load", get_persistent_load, set_persistent_load,
     "gives the object of a persistent id: to be overridden, or set", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char doc[] = "Unpickler(file, *, buffers=None, persistent_load=None, fix_imports=True, "
                    "encoding='ASCII', errors='strict', cause=False)\n"
                    "--\n\n"
                    "Loads the pickles of a binary file one by one, if the policy admits them.  The memo is "
                    "each pickle's own.";

static PyType_Slot slots[] = {
    {Py_tp_new, unpickler_new},
    {Py_tp_init, unpickler_init},
    {Py_tp_dealloc, unpickler_dealloc},
    {Py_tp_traverse, unpickler_traverse},
    {Py_tp_clear, unpickler_clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_tp_doc, doc},
    {0, NULL},
};

static bool set_names(PyObject *type, struct guard *g) {
    PyObject *const module = PyModule_GetNameObject(g->module);
    bool good = module && PyObject_SetAttrString(type, "__module__", module) == 0;
    Py_XDECREF(module);
    if (good && *g->name) {
        PyObject *const name = PyUnicode_FromFormat("%s.Unpickler", g->name);
        good = name && PyObject_SetAttrString(type, "__qualname__", name) == 0;
        Py_XDECREF(name);
    }
    return good && PyObject_SetAttrString(type, policy_entry, (PyObject *)g) == 0;
}

PyObject *guard_unpickler(struct guard *g) {
    if (!g->unpickler) {
        PyType_Spec spec = {g->host->definition->unpickler_type, sizeof(struct unpickler), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
#if PY_VERSION_HEX >= 0x03090000
        PyObject *const type = PyType_FromModuleAndSpec(g->module, &spec, NULL);
#else
        PyObject *const type = PyType_FromSpec(&spec);
#endif
        if (type && !set_names(type, g))
            Py_DECREF(type);
        else
            g->unpickler = type;
        if (!g->unpickler) return NULL;
    }
    Py_INCREF(g->unpickler);
    return g->unpickler;
}
