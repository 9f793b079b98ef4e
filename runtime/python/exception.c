/* Exceptions made without an __init__ that is Python code.
 *
 * An exception class of a program has often another __init__ than its instances' args would fit, and one that acts is run by
 * whoever names it in a stream.  So where any class under a base is admitted none of them runs: __new__ makes the instance, and
 * the nearest base of C fills the members that it keeps apart, as far as the arguments are its own.
 *
 * Layer: see host.h.
 */
#include "bind.h"

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
