/* A module's state, and how it is filled when it is imported.  Layer: see host.h. */
#include "host.h"

/* The module's own memory is a pointer: upk_py_module of the header says how large it is to a generated file. */
struct host *host_of(PyObject *module) {
    struct host *const *const place = PyModule_GetState(module);
    return place ? *place : NULL;
}

/* ---- types */

static PyObject *type_make(PyObject *module, const char *name, size_t size, unsigned long flags,
                           PyType_Slot *slots) {
    PyType_Spec spec = {name, (int)size, 0, (unsigned int)flags, slots};
#if PY_VERSION_HEX >= 0x03090000
    return PyType_FromModuleAndSpec(module, &spec, NULL);
#else
    (void)module;
    return PyType_FromSpec(&spec);
#endif
}

/* Where the module stands in a package its types say so too. */
static bool type_place(PyObject *type, PyObject *module) {
    return attribute_set(type, "__module__", PyModule_GetNameObject(module));
}

static bool policy_type_make(struct host *h, PyObject *module) {
    PyObject *const type = type_make(module, h->definition->policy_type, sizeof(struct guard),
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, guard_slots);
    if (!type) return false;
    h->policy_type = (PyTypeObject *)type;
    h->policy_type->tp_new = NULL; /* made here and by with_types, by nobody else */
    return type_place(type, module);
}

static bool errors_make(struct host *h, PyObject *module) {
    PyObject *const pickle = PyImport_ImportModule("pickle");
    if (!pickle) return false;
    h->unpickling_error = PyObject_GetAttrString(pickle, "UnpicklingError");
    if (h->unpickling_error) h->pickle_error = PyObject_GetAttrString(pickle, "PickleError");
    Py_DECREF(pickle);
    if (!h->pickle_error) return false;
    h->refused_error = refused_class(h->definition, h->unpickling_error);
    if (!h->refused_error || !type_place(h->refused_error, module)) return false;
    h->empty_input_error = empty_input_class(h->definition, h->refused_error);
    return h->empty_input_error && type_place(h->empty_input_error, module);
}

/* ---- names of the module */

bool attribute_set(PyObject *object, const char *name, PyObject *value) {
    const bool good = value && PyObject_SetAttrString(object, name, value) == 0;
    Py_XDECREF(value);
    return good;
}

static bool add_errors(PyObject *module, const struct host *h) {
    return PyObject_SetAttrString(module, "Policy", (PyObject *)h->policy_type) == 0 &&
           PyObject_SetAttrString(module, "RefusedError", h->refused_error) == 0 &&
           PyObject_SetAttrString(module, "EmptyInputError", h->empty_input_error) == 0 &&
           PyObject_SetAttrString(module, "UnpicklingError", h->unpickling_error) == 0 &&
           PyObject_SetAttrString(module, "PickleError", h->pickle_error) == 0;
}

/* The functions of the only channel, bound to its Policy. */
static bool add_functions(PyObject *module, PyObject *guard) {
    static const char *const names[] = {"loads",      "load",        "check", "inspect",   "scan",
                                        "with_types", "environment", "run",   "Unpickler", UPK_PY_TABLE};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!attribute_set(module, names[i], PyObject_GetAttrString(guard, names[i]))) return false;
    }
    const bool opens = ((const struct guard *)(const void *)guard)->policy->flags & UPK_POLICY_FAIL_OPEN;
    static const char consent[] = "allow_fail_open";
    return !opens || attribute_set(module, consent, PyObject_GetAttrString(guard, consent));
}

static bool table_good(const struct upk_policy *policy) {
    struct upk_error err;
    char text[512];
    if (upk_policy_check(policy, &err)) return true;
    (void)upk_error_message(&err, text, sizeof text);
    PyErr_Format(PyExc_ImportError, "the policy's table: %s", text);
    return false;
}

static bool add_channel(PyObject *module, struct host *h, const struct upk_py_channel *channel) {
    if (!table_good(channel->policy)) return false;
    struct guard *const g = guard_new(h, module, channel->name, channel->doc, channel->policy);
    if (!g) return false;
    PyObject *const object = (PyObject *)g;
    const bool good =
        bind_imports(g) && (*channel->name ? PyObject_SetAttrString(module, channel->name, object) == 0
                                           : add_functions(module, object));
    Py_DECREF(object);
    return good;
}

int upk_py_exec(PyObject *module, const struct upk_py_module *definition) {
    struct host *const h = PyMem_Calloc(1, sizeof *h);
    if (!h) {
        (void)PyErr_NoMemory();
        return -1;
    }
    *(struct host **)PyModule_GetState(module) = h;
    h->definition = definition;
    secret_draw(h->secret, h, module);
    bool good =
        errors_make(h, module) && file_words_find(h) && policy_type_make(h, module) && add_errors(module, h);
    for (size_t i = 0; i < definition->channel_count && good; i++)
        good = add_channel(module, h, &definition->channels[i]);
    return good && ladder_add(module, h) && run_add(module, h) ? 0 : -1;
}

int upk_py_traverse(PyObject *module, visitproc visit, void *arg) {
    const struct host *const h = host_of(module);
    if (!h) return 0;
    Py_VISIT(h->policy_type);
    Py_VISIT(h->refused_error);
    Py_VISIT(h->empty_input_error);
    Py_VISIT(h->remote_error);
    for (size_t i = 0; i < FILE_WORDS; i++) Py_VISIT(h->file_words[i]);
    Py_VISIT(h->unpickling_error);
    Py_VISIT(h->pickle_error);
    return 0;
}

/* A Policy holds its module, so none is left when the module goes; but those that are collected with it may still be called by
 * what is cleared after it, and find their host as it was. */
int upk_py_clear(PyObject *module) {
    (void)module;
    return 0;
}

void upk_py_free(void *module) {
    struct host *const h = host_of(module);
    if (!h) return;
    Py_XDECREF(h->policy_type);
    Py_XDECREF(h->refused_error);
    Py_XDECREF(h->empty_input_error);
    Py_XDECREF(h->remote_error);
    for (size_t i = 0; i < FILE_WORDS; i++) Py_XDECREF(h->file_words[i]);
    Py_XDECREF(h->unpickling_error);
    Py_XDECREF(h->pickle_error);
    spare_free(h->spare);
    usual_free(h->usual);
    PyMem_Free(h);
}
