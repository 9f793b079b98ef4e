/* The type Policy: the functions of one channel.  Layer: see host.h. */
#include "host.h"

/* ---- data */

/* The bytes of a call's `data`.  Out of what is no `bytes` they are copied, so that nobody changes them while they are judged, and
 * values may stay views of them. */
struct data {
    const uint8_t *bytes;
    size_t len;
    void *copy;     /* NULL: none */
    Py_buffer view; /* obj NULL: none */
};

/* INVARIANT: what is over the budget is refused before a byte of it is read, so it need not be copied. */
static bool data_take(struct data *d, struct guard *g, PyObject *from) {
    d->copy = NULL;
    d->view.obj = NULL;
    if (PyBytes_CheckExact(from)) {
        d->bytes = (const uint8_t *)PyBytes_AS_STRING(from);
        d->len = (size_t)PyBytes_GET_SIZE(from);
        return true;
    }
    if (PyObject_GetBuffer(from, &d->view, PyBUF_SIMPLE) != 0) return false;
    d->bytes = d->view.buf;
    d->len = (size_t)d->view.len;
    if (d->len > g->policy->budgets[UPK_BUDGET_BYTES]) return true;
    d->copy = PyMem_RawMalloc(d->len + 1);
    if (d->copy && d->len) memcpy(d->copy, d->bytes, d->len);
    PyBuffer_Release(&d->view);
    d->bytes = d->copy;
    if (!d->copy) (void)PyErr_NoMemory();
    return d->copy != NULL;
}

static void data_release(struct data *d) {
    if (d->copy) PyMem_RawFree(d->copy);
    if (d->view.obj) PyBuffer_Release(&d->view);
}

/* ---- loads, check */

/* NULL: an exception is set; else call_end and data_release are due. */
static struct upk_doc *decode(struct call *c, struct data *d, struct guard *g, const struct arguments *a) {
    if (!data_take(d, g, a->first)) return NULL;
    if (call_begin(c, g, a, d->len)) {
        struct upk_doc *const doc = call_decode(c, d->bytes, d->len);
        if (doc) return doc;
        call_end(c);
    }
    data_release(d);
    return NULL;
}

static PyObject *guard_loads(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    struct arguments a;
    struct data d;
    struct call c;
    struct guard *const g = (struct guard *)self;
    if (!arguments_read(&a, "loads", TAKES_PICKLE | TAKES_CAUSE, args, n, kwnames)) return NULL;
    struct upk_doc *const doc = decode(&c, &d, g, &a);
    if (!doc) return NULL;
    PyObject *const made = call_finish(&c, doc);
    call_end(&c);
    data_release(&d);
    return made;
}

static PyObject *guard_check(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    struct arguments a;
    struct data d;
    struct call c;
    if (!arguments_read(&a, "check", TAKES_PICKLE, args, n, kwnames)) return NULL;
    struct upk_doc *const doc = decode(&c, &d, (struct guard *)self, &a);
    if (!doc) return NULL;
    upk_doc_free(doc);
    call_end(&c);
    data_release(&d);
    Py_RETURN_NONE;
}

static PyObject *guard_load_method(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    return guard_load((struct guard *)self, args, n, kwnames);
}

static PyObject *guard_with_types_method(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return guard_with_types((struct guard *)self, args, n);
}

/* The consent is this object's, not the module's: who is given the other one cannot decode under it. */
static PyObject *guard_allow_fail_open(PyObject *self, PyObject *unused) {
    (void)unused;
    struct guard *const g = (struct guard *)self;
    if (!(g->policy->flags & UPK_POLICY_FAIL_OPEN)) {
        PyErr_SetString(PyExc_ValueError, "allow_fail_open(): this policy does not fail open");
        return NULL;
    }
    struct guard *const made = guard_new(g->host, g->module, g->name, g->doc, g->policy);
    if (!made) return NULL;
    Py_INCREF(self);
    made->of = self;
    Py_XINCREF(g->types);
    made->types = g->types;
    made->consents = true;
    rows_copy(made, g);
    return (PyObject *)made;
}

static PyObject *guard_inspect(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    struct arguments a;
    struct data d;
    struct guard *const g = (struct guard *)self;
    if (!arguments_read(&a, "inspect", TAKES_FORM, args, n, kwnames) || !data_take(&d, g, a.first))
        return NULL;
    PyObject *const text = inspect_data(g, &a, d.bytes, d.len);
    data_release(&d);
    return text;
}

static PyObject *guard_scan(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    struct arguments a;
    struct data d;
    struct guard *const g = (struct guard *)self;
    if (!arguments_read(&a, "scan", 0, args, n, kwnames) || !data_take(&d, g, a.first)) return NULL;
    PyObject *const found = scan_data(g, &a, d.bytes, d.len);
    data_release(&d);
    return found;
}

static PyObject *guard_environment_method(PyObject *self, PyObject *args, PyObject *kwargs) {
    return guard_environment((struct guard *)self, args, kwargs);
}

/* ---- the object */

struct guard *guard_new(struct host *h, PyObject *module, const char *name, const char *doc,
                        const struct upk_policy *policy) {
    struct guard *const g = PyObject_GC_New(struct guard, h->policy_type);
    if (!g) return NULL;
    memset((char *)g + offsetof(struct guard, module), 0, sizeof *g - offsetof(struct guard, module));
    Py_INCREF(module);
    g->module = module;
    g->host = h;
    g->name = name;
    g->doc = doc;
    g->policy = policy;
    const bool good = rows_new(g);
    PyObject_GC_Track(g);
    if (good) return g;
    Py_DECREF(g);
    return NULL;
}

static int guard_traverse(PyObject *self, visitproc visit, void *arg) {
    struct guard *const g = (struct guard *)self;
#if PY_VERSION_HEX >= 0x03090000
    Py_VISIT(Py_TYPE(self));
#endif
    Py_VISIT(g->module);
    Py_VISIT(g->unpickler);
    Py_VISIT(g->types);
    Py_VISIT(g->of);
    return rows_traverse(g, visit, arg);
}

/* Rows and plans stay: a method that is running may use them, and goes on to do so.  Cycles through them are broken by what they
 * bind, and by the module. */
static int guard_clear(PyObject *self) {
    struct guard *const g = (struct guard *)self;
    Py_CLEAR(g->unpickler);
    return 0;
}

static void guard_dealloc(PyObject *self) {
    struct guard *const g = (struct guard *)self;
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)guard_clear(self);
    rows_free(g);
    Py_XDECREF(g->types);
    upk_policy_free(g->own);
    Py_XDECREF(g->of);
    Py_XDECREF(g->module);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

bool is_policy(PyObject *object) { return Py_TYPE(object)->tp_dealloc == guard_dealloc; }

static PyObject *policy_text(const struct guard *g, struct upk_text t) {
    return PyUnicode_DecodeUTF8(g->policy->pool + t.at, t.len, "surrogatepass");
}

static PyObject *guard_repr(PyObject *self) {
    const struct guard *const g = (const struct guard *)self;
    PyObject *const name = policy_text(g, g->policy->name), *made = NULL;
    if (name)
        made = PyUnicode_FromFormat("<Policy %U %u%s%s%s%s>", name, g->policy->revision,
                                    *g->name ? ", channel " : "", g->name, g->types ? ", with types" : "",
                                    g->consents ? ", may fail open" : "");
    Py_XDECREF(name);
    return made;
}

static PyObject *get_doc(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((const struct guard *)self)->doc);
}

/* What takes a module in the place of pickle may ask for its name. */
static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    const struct guard *const g = (const struct guard *)self;
    return *g->name ? PyUnicode_FromString(g->name) : policy_text(g, g->policy->name);
}

static PyObject *get_unpickler(PyObject *self, void *unused) {
    (void)unused;
    return guard_unpickler((struct guard *)self);
}

/* Classes of errors: `closure` is the place in struct host. */
static PyObject *get_error(PyObject *self, void *closure) {
    const char *const host = (const char *)((const struct guard *)self)->host;
    PyObject *const e = *(PyObject *const *)(const void *)(host + (size_t)closure);
    Py_INCREF(e);
    return e;
}

/* Through a pointer to a function without a prototype no cast says what it is not. */
#define METHOD(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef methods[] = {
    {"loads", METHOD(guard_loads), METH_FASTCALL | METH_KEYWORDS,
     "loads($self, data, /, *, buffers=None, persistent_load=None, fix_imports=True, encoding='ASCII', "
     "errors='strict', cause=False)\n--\n\n"
     "The value of a pickle, if the policy admits all of it; else RefusedError.  Nothing of it is\n"
     "imported, called or built before the last byte is judged.  The keywords are pickle.loads';\n"
     "fix_imports, encoding and errors only as they are.  cause=True: the exception of a constructor\n"
     "that failed becomes the cause of the RefusedError."},
    {"load", METHOD(guard_load_method), METH_FASTCALL | METH_KEYWORDS,
     "load($self, file, /, *, buffers=None, persistent_load=None, fix_imports=True, encoding='ASCII', "
     "errors='strict', cause=False)\n--\n\n"
     "As loads, of exactly one pickle in a binary file; nothing behind it is consumed."},
    {"check", METHOD(guard_check), METH_FASTCALL | METH_KEYWORDS,
     "check($self, data, /, *, buffers=None, persistent_load=None, fix_imports=True, encoding='ASCII', "
     "errors='strict')\n--\n\n"
     "The verdict alone: None, or RefusedError.  Nothing is built, so what only building would refuse\n"
     "passes."},
    {"inspect", METHOD(guard_inspect), METH_FASTCALL | METH_KEYWORDS,
     "inspect($self, data, /, *, form='repr', buffers=None)\n--\n\n"
     "What a pickle says, as text, whether the policy admits it or not: 'repr', 'tree' or 'json'.\n"
     "Nothing is built.  The policy's budgets hold, and a malformed pickle is a RefusedError."},
    {"scan", METHOD(guard_scan), METH_FASTCALL | METH_KEYWORDS,
     "scan($self, data, /, *, buffers=None)\n--\n\n"
     "What a pickle uses, as a dict: protocol, cyclic, opcodes and budgets (counts by name), names (a\n"
     "dict each: module, qualname, offset, opcode, uses, dangerous).  Nothing is built; a malformed\n"
     "pickle is a RefusedError."},
    {"with_types", METHOD(guard_with_types_method), METH_FASTCALL,
     "with_types($self, /, *classes)\n--\n\n"
     "A new Policy that admits exactly these classes too.  This one stays as it is."},
    {"allow_fail_open", guard_allow_fail_open, METH_NOARGS,
     "allow_fail_open($self, /)\n--\n\n"
     "A new Policy that decodes although the policy has `fail_open', which this one refuses (R904): it\n"
     "runs code of classes that nobody listed."},
    {"environment", METHOD(guard_environment_method), METH_VARARGS | METH_KEYWORDS,
     "environment($self, /, *, home=None, manifest=None, from_host=None, host=None)\n--\n\n"
     "The environment of a child process, as a dict: what the policy's environment block lets through\n"
     "of host (os.environ), what manifest sets, what the policy sets, and HOME.  from_host: {name:\n"
     "name of the host's variable} for values that the policy lets a manifest ask for.  RefusedError\n"
     "for what the manifest may not; of host, values that are not as the policy says are left out,\n"
     "with a RuntimeWarning that names the variables."},
    {"run", METHOD(guard_run), METH_VARARGS | METH_KEYWORDS,
     "run($self, command, /, *, folder=None, home=None, host=None, manifest=None, from_host=None, "
     "visible=None, state=None, rules=None,\n"
     "    stderr=None, bubblewrap=None, allow_unconfined=False, stdout=False)\n--\n\n"
     "Run a command, a list of words, with the environment that the policy gives it, confined, and\n"
     "return the value of the pickle that it writes to the descriptor UPK_RESULT_FD; raise the\n"
     "exception that it sends instead, where the policy has channels for them; else RefusedError.  The\n"
     "policy's budgets hold, and nothing that the command starts outlives the call.\n"
     "\n"
     "folder   where it works, which it sees and cannot change; the current one\n"
     "home     its HOME; the folder\n"
     "host     dict that its variables are taken from; os.environ\n"
     "manifest dict of variables that the policy lets it set\n"
     "from_host dict of variables to names of the host's, whose values they get\n"
     "visible  list of folders that it sees besides\n"
     "state    file that holds later runs to this policy\n"
     "rules    policy whose environment holds, and whose confinement where this one has none; this one\n"
     "stderr   binary file for what it says; sys.stderr, escaped\n"
     "stdout   True: the pickle comes by its standard output\n"
     "allow_unconfined  True: where nothing can confine it, and the policy says `opt_in',\n"
     "                  it runs unconfined, with a RuntimeWarning"},
    {NULL, NULL, 0, NULL},
};

static PyObject *get_table(PyObject *self, void *unused) {
    (void)unused;
    return guard_table((struct guard *)self);
}

#define HOST(member) (void *)offsetof(struct host, member)

static PyGetSetDef members[] = {
    {"__doc__", get_doc, NULL, NULL, NULL},
    {"__name__", get_name, NULL, "name of the channel, or of the policy", NULL},
    {UPK_PY_TABLE, get_table, NULL, NULL, NULL},
    {"Unpickler", get_unpickler, NULL, "class Unpickler of this policy", NULL},
    {"RefusedError", get_error, NULL, "class RefusedError of the module", HOST(refused_error)},
    {"EmptyInputError", get_error, NULL, "class EmptyInputError of the module", HOST(empty_input_error)},
    {"UnpicklingError", get_error, NULL, "pickle.UnpicklingError", HOST(unpickling_error)},
    {"PickleError", get_error, NULL, "pickle.PickleError", HOST(pickle_error)},
    {NULL, NULL, NULL, NULL, NULL},
};

PyType_Slot guard_slots[] = {
    {Py_tp_dealloc, guard_dealloc},
    {Py_tp_traverse, guard_traverse},
    {Py_tp_clear, guard_clear},
    {Py_tp_repr, guard_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL},
};
