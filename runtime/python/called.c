/* What an object is called: all the names that are held against a policy's lists.
 *
 * A class by its own name and by those of all that it inherits from.  Only what C keeps is asked (names.c).
 *
 * Layer: see host.h.
 */
#include "bind.h"

static bool names_room(struct names *n) {
    if (n->count < n->room) return true;
    const size_t room = 2 * n->room + 8;
    struct upk_own_name *const at = PyMem_Realloc(n->at, room * sizeof *at);
    if (at) n->at = at;
    PyObject **const held = at ? PyMem_Realloc(n->held, 2 * room * sizeof(PyObject *)) : NULL;
    if (held) n->held = held;
    if (!held) {
        (void)PyErr_NoMemory();
        return false;
    }
    n->room = room;
    return true;
}

void names_clear(struct names *n) {
    for (size_t i = 0; i < 2 * n->count; i++) Py_XDECREF(n->held[i]);
    n->count = 0;
    n->unsaid = false;
}

void names_free(struct names *n) {
    names_clear(n);
    PyMem_Free(n->at);
    PyMem_Free(n->held);
}

bool names_add(struct names *n, PyObject *module, PyObject *qualname) {
    Py_ssize_t module_len = 0, len = 0;
    const char *const at =
        module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, &module_len) : NULL;
    const char *const text =
        at && qualname && PyUnicode_Check(qualname) ? PyUnicode_AsUTF8AndSize(qualname, &len) : NULL;
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_UnicodeError)) PyErr_Clear(); /* a lone surrogate */
    if (text && names_room(n)) {
        n->held[2 * n->count] = module;
        n->held[2 * n->count + 1] = qualname;
        n->at[n->count++] = (struct upk_own_name){at, text, (size_t)module_len, (size_t)len};
        return true;
    }
    if (!text) n->unsaid = true;
    Py_XDECREF(module);
    Py_XDECREF(qualname);
    return !PyErr_Occurred();
}

bool names_add_own(struct names *n, PyObject *object) {
    struct own_name own;
    return own_name_of(object, &own) && names_add(n, own.module, own.qualname);
}

bool names_add_builtin(struct names *n, const char *name) {
    static const char builtins[] = "builtins";
    if (!names_room(n)) return false;
    n->held[2 * n->count] = n->held[2 * n->count + 1] = NULL;
    n->at[n->count++] = (struct upk_own_name){builtins, name, sizeof builtins - 1, strlen(name)};
    return true;
}

bool names_of_class(struct names *own, struct names *ancestors, PyTypeObject *type) {
    PyObject *const order = type->tp_mro;
    if (!names_add_own(own, (PyObject *)type)) return false;
    if (!order || !PyTuple_Check(order)) {
        ancestors->unsaid = true;
        return true;
    }
    Py_INCREF(order);
    bool good = true;
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(order); i++) {
        PyObject *const class = PyTuple_GET_ITEM(order, i);
        if (class == (PyObject *)type) continue;
        if (PyType_Check(class))
            good = names_add_own(ancestors, class);
        else
            ancestors->unsaid = true;
    }
    Py_DECREF(order);
    return good;
}

bool class_denied(const struct upk_policy *p, PyTypeObject *type, bool *denied) {
    struct names own = {.count = 0}, ancestors = {.count = 0};
    struct denial unused;
    const bool good = names_of_class(&own, &ancestors, type);
    *denied = !good || own.unsaid || ancestors.unsaid || denial_among(p, own.at, own.count, false, &unused) ||
              denial_among(p, ancestors.at, ancestors.count, true, &unused);
    names_free(&own);
    names_free(&ancestors);
    return good;
}
