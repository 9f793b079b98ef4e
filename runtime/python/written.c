/* How much text an exception would be printed as.
 *
 * A stream shares by a byte or two what a print writes out each time: a short one can hold a text of gigabytes.  Whoever asks for str()
 * of such an exception pays for that, so it is counted first, as far as a bound that is above all that people read.
 *
 * Layer: see host.h.
 */
#include "host.h"

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
        if (!todo) return (void)PyErr_NoMemory(), false;
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

/* Takes the reference to an iterator of C; what it gives is held by what it goes over. */
static bool push_members(struct counting *w, PyObject *members) {
    PyObject *member;
    bool good = members != NULL;
    while (good && w->written <= WRITTEN_MOST && (member = PyIter_Next(members))) {
        good = push(w, member);
        Py_DECREF(member);
    }
    Py_XDECREF(members);
    return good && !PyErr_Occurred();
}

static bool is_deque(PyObject *object) { return strcmp(Py_TYPE(object)->tp_name, "collections.deque") == 0; }

/* Of what is none of these, what its instances keep. */
static bool push_other(struct counting *w, PyObject *object) {
    PyObject **const dict = _PyObject_GetDictPtr(object);
    w->written += OF_OTHER;
    if (is_deque(object)) return push_members(w, Py_TYPE(object)->tp_iter(object));
    if (PyExceptionInstance_Check(object) && !push(w, ((PyBaseExceptionObject *)object)->args)) return false;
    return !dict || push(w, *dict);
}

static bool push_parts(struct counting *w, PyObject *object) {
    if (PyUnicode_Check(object)) {
        w->written += (size_t)PyUnicode_GET_LENGTH(object);
    } else if (PyBytes_Check(object)) {
        w->written += (size_t)PyBytes_GET_SIZE(object);
    } else if (PyByteArray_Check(object)) {
        w->written += (size_t)PyByteArray_GET_SIZE(object);
    } else if (PyLong_Check(object)) {
        w->written += _PyLong_NumBits(object) / 3;
    } else if (PyTuple_Check(object)) {
        for (Py_ssize_t i = 0; w->written <= WRITTEN_MOST && i < PyTuple_GET_SIZE(object); i++)
            if (!push(w, PyTuple_GET_ITEM(object, i))) return false;
    } else if (PyList_Check(object)) {
        for (Py_ssize_t i = 0; w->written <= WRITTEN_MOST && i < PyList_GET_SIZE(object); i++)
            if (!push(w, PyList_GET_ITEM(object, i))) return false;
    } else if (PyDict_Check(object)) {
        return push_dict(w, object);
    } else if (PyAnySet_Check(object)) {
        return push_members(w, PySet_Type.tp_iter(object));
    } else {
        return push_other(w, object);
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
