/* Exceptions made without an __init__ that is Python code, and what no exception may hold.
 *
 * An exception class of a program has often another __init__ than its instances' args would fit, and one that acts is run by
 * whoever names it in a stream.  So where any class under a base is admitted none of them runs: __new__ makes the instance, and
 * the nearest base of C fills the members that it keeps apart, as far as the arguments are its own.
 *
 * Layer: see host.h.
 */
#include "bind.h"

bool places_good(PyObject *object, PyObject *start, PyObject *end) {
    const Py_ssize_t most = PyUnicode_Check(object) ? PyUnicode_GET_LENGTH(object) : PyBytes_GET_SIZE(object);
    if (!PyLong_Check(start) || !PyLong_Check(end)) return false;
    const Py_ssize_t from = PyLong_AsSsize_t(start), to = PyLong_AsSsize_t(end);
    if (PyErr_Occurred()) PyErr_Clear();
    return from >= 0 && from <= to && to <= most;
}

/* What a base of C keeps under a name in its own members; new reference. */
static PyObject *member_of(PyObject *base, PyObject *error, const char *name) {
    PyObject *member;
    if (!class_member((PyTypeObject *)base, name, &member, NULL)) return NULL;
    return Py_TYPE(member)->tp_descr_get(member, error, (PyObject *)Py_TYPE(error));
}

bool exception_sound(PyObject *object, bool *sound) {
    PyObject *const bases[] = {PyExc_UnicodeDecodeError, PyExc_UnicodeEncodeError,
                               PyExc_UnicodeTranslateError};
    PyObject *base = NULL;
    *sound = true;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (PyObject_TypeCheck(object, (PyTypeObject *)bases[i])) base = bases[i];
    if (!base) return true;
    PyObject *const text = member_of(base, object, "object"), *const start = member_of(base, object, "start"),
                    *const end = member_of(base, object, "end");
    const bool good = text && start && end;
    if (good && text != Py_None) /* None: nothing is set */
        *sound = (PyUnicode_Check(text) || PyBytes_Check(text)) && places_good(text, start, end);
    Py_XDECREF(text);
    Py_XDECREF(start);
    Py_XDECREF(end);
    return good;
}

PyObject *exception_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    PyObject *const made = type->tp_new(type, args, kw);
    if (!made || !PyType_IsSubtype(Py_TYPE(made), type) || Py_REFCNT(made) != 1)
        return made; /* not one that was just made: it stays as it is */
    PyTypeObject *base;
    const bool found = init_of_c(Py_TYPE(made), &base);
    if (found && base && base->tp_init && base->tp_init(made, args, NULL) != 0 &&
        (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)))
        PyErr_Clear(); /* they are arguments of another __init__ */
    if (!PyErr_Occurred()) return made;
    Py_DECREF(made);
    return NULL;
}
