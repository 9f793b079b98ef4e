/* How much text an exception would be printed as.
 *
 * A stream shares by a byte or two what a print writes out each time: a short one can hold a text of gigabytes.  Whoever asks for str()
 * of such an exception pays for that, so it is counted first, as far as a bound that is above all that people read.
 *
 * Layer: see host.h.
 */
#include "host.h"

#include <frameobject.h>

enum { WRITTEN_MOST = 1 << 24, LEAST_OF_VALUE = 2, OF_OTHER = 64 };

/* What is still to be counted; all borrowed, for no code runs meanwhile. */
struct counting {
    PyObject **todo;
    size_t count, room, written;
};

/* false: an exception is set. */
static bool push(struct counting *w, PyObject *object) {
    w->written += LEAST_OF_VALUE;
    if (!object || w->written > WRITTEN_MOST) return true;
    if (w->count == w->room) {
        const size_t room = 2 * w->room + 64;
        PyObject **const todo = PyMem_Realloc(w->todo, room * sizeof *todo);
        if (!todo) {
            (void)PyErr_NoMemory();
            return false;
        }
        w->todo = todo;
        w->room = room;
    }
    w->todo[w->count++] = object;
    return true;
}

static bool push_dict(struct counting *w, PyObject *dict) {
    PyObject *key, *value;
    for (Py_ssize_t i = 0; w->written <= WRITTEN_MOST && PyDict_Next(dict, &i, &key, &value);)
        if (!push(w, key) || !push(w, value)) return false;
    return true;
}

/* What a print does not go into. */
static bool is_of_host(PyObject *object) {
    return PyType_Check(object) || PyModule_Check(object) || PyFunction_Check(object) ||
           PyCFunction_Check(object) || PyFrame_Check(object) || PyTraceBack_Check(object) ||
           PyCode_Check(object);
}

/* 0: go on. */
static int push_part(PyObject *object, void *to) {
    struct counting *const w = to;
    if (is_of_host(object)) return 0;
    return !push(w, object) || w->written > WRITTEN_MOST;
}

/* Of all that keeps something, in places of C too, what the garbage collector is told of: no code of Python's. */
static bool push_parts(struct counting *w, PyObject *object) {
    if (PyUnicode_Check(object)) {
        w->written += (size_t)PyUnicode_GET_LENGTH(object);
    } else if (PyBytes_Check(object)) {
        w->written += (size_t)PyBytes_GET_SIZE(object);
    } else if (PyByteArray_Check(object)) {
        w->written += (size_t)PyByteArray_GET_SIZE(object);
    } else if (PyLong_Check(object)) {
        w->written += _PyLong_NumBits(object) / 3;
    } else if (PyDict_Check(object)) {
        return push_dict(w, object); /* its own would leave out keys that are texts */
    } else if (PyObject_IS_GC(object) && Py_TYPE(object)->tp_traverse) {
        if (!PyTuple_Check(object) && !PyList_Check(object)) w->written += OF_OTHER;
        (void)Py_TYPE(object)->tp_traverse(object, push_part, w);
        return !PyErr_Occurred();
    } else {
        w->written += OF_OTHER;
    }
    return true;
}

bool exception_is_short(PyObject *error, bool *is_short) {
    struct counting w = {.count = 0};
    bool good = push(&w, error);
    while (good && w.count && w.written <= WRITTEN_MOST) good = push_parts(&w, w.todo[--w.count]);
    *is_short = w.written <= WRITTEN_MOST;
    PyMem_Free(w.todo);
    return good;
}
