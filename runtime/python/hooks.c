/* Which of a class's methods are Python code: hooks that would run when its instances are made and used.
 *
 * What is C needs no word in a policy; all else counts as Python code, also what cannot be told.
 *
 * Layer: see host.h.
 */
#include "host.h"

#include <stdio.h>

/* Would a call of what the class has under some name run Python code? */
static bool is_python(PyObject *member) {
    const PyTypeObject *const kind = Py_TYPE(member);
    if (kind == &PyStaticMethod_Type || kind == &PyClassMethod_Type) {
        PyObject *const function = PyObject_GetAttrString(member, "__func__");
        const bool python = !function || !PyCFunction_Check(function);
        if (!function) PyErr_Clear();
        Py_XDECREF(function);
        return python;
    }
    return member != Py_None && kind != &PyWrapperDescr_Type && kind != &PyMethodDescr_Type &&
           kind != &PyClassMethodDescr_Type && kind != &PyGetSetDescr_Type && kind != &PyMemberDescr_Type &&
           !PyCFunction_Check(member);
}

bool class_member(PyTypeObject *type, const char *name, PyObject **member, bool *python) {
    PyObject *const text = PyUnicode_InternFromString(name);
    if (!text) return false;
    *member = _PyType_Lookup(type, text);
    if (python) *python = *member && is_python(*member);
    Py_DECREF(text);
    return true;
}

static const struct {
    const char *name;
    unsigned flag;
} hooks[] = {
#define UPK_X(name, word, flag) {#word, flag},
    UPK_HOOKS(UPK_X)
#undef UPK_X
};

bool hooks_of(PyTypeObject *type, unsigned *runs) {
    *runs = 0;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        PyObject *member;
        bool python;
        if (!class_member(type, hooks[i].name, &member, &python)) return false;
        if (python) *runs |= hooks[i].flag;
    }
    return true;
}

bool init_of_c(PyTypeObject *type, PyTypeObject **owner) {
    PyObject *const order = type->tp_mro;
    *owner = NULL;
    for (Py_ssize_t i = 0; order && !*owner && i < PyTuple_GET_SIZE(order); i++) {
        PyObject *init;
        if (!class_member((PyTypeObject *)PyTuple_GET_ITEM(order, i), "__init__", &init, NULL)) return false;
        if (init && Py_TYPE(init) == &PyWrapperDescr_Type && PyType_IsSubtype(type, PyDescr_TYPE(init)))
            *owner = PyDescr_TYPE(init);
    }
    return true;
}

void hooks_write(unsigned runs, char *out, size_t size) {
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (!(runs & hooks[i].flag)) continue;
        const int n = snprintf(out + len, size - len, "%s%s", len ? ", " : "", hooks[i].name);
        if (n > 0 && (size_t)n < size - len) len += (size_t)n;
    }
}
