/* The arguments of loads and kin, and out-of-band buffers.  Layer: see host.h. */
#include "host.h"

enum keyword {
    KEYWORD_BUFFERS,
    KEYWORD_PERSISTENT_LOAD,
    KEYWORD_FIX_IMPORTS,
    KEYWORD_ENCODING,
    KEYWORD_ERRORS,
    KEYWORD_CAUSE,
    KEYWORD_FORM
};

static const struct {
    const char *name;
    enum keyword id;
    unsigned takes; /* 0: every function */
} keywords[] = {
    {"buffers", KEYWORD_BUFFERS, 0},
    {"persistent_load", KEYWORD_PERSISTENT_LOAD, TAKES_PICKLE},
    {"fix_imports", KEYWORD_FIX_IMPORTS, TAKES_PICKLE},
    {"encoding", KEYWORD_ENCODING, TAKES_PICKLE},
    {"errors", KEYWORD_ERRORS, TAKES_PICKLE},
    {"cause", KEYWORD_CAUSE, TAKES_CAUSE},
    {"form", KEYWORD_FORM, TAKES_FORM},
};

static bool set_flag(bool *to, PyObject *value) {
    const int truth = PyObject_IsTrue(value);
    *to = truth > 0;
    return truth >= 0;
}

/* What pickle has as default is what a policy means; another reading of the same stream would be another verdict. */
static bool only(const char *function, PyObject *name, PyObject *value, const char *what) {
    if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, what) == 0) return true;
    PyErr_Format(
        PyExc_TypeError,
        "%s() takes %U=\"%s\" alone: str of Python 2 is read as the policy says, not as the caller does",
        function, name, what);
    return false;
}

static bool only_true(const char *function, PyObject *value) {
    bool truth;
    if (!set_flag(&truth, value)) return false;
    if (truth) return true;
    PyErr_Format(PyExc_TypeError,
                 "%s() takes fix_imports=True alone: below protocol 3 names of Python 2 are always read as "
                 "those of Python 3",
                 function);
    return false;
}

static bool set_callable(PyObject **to, const char *function, PyObject *name, PyObject *value) {
    *to = value == Py_None ? NULL : value;
    if (!*to || PyCallable_Check(value)) return true;
    PyErr_Format(PyExc_TypeError, "%s() takes a callable or None as %U, not %.100s", function, name,
                 Py_TYPE(value)->tp_name);
    return false;
}

bool argument_set(struct arguments *a, const char *function, unsigned takes, PyObject *name,
                  PyObject *value) {
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (PyUnicode_CompareWithASCIIString(name, keywords[i].name) != 0) continue;
        if (keywords[i].takes & ~takes) break;
        switch (keywords[i].id) {
        case KEYWORD_BUFFERS: a->buffers = value == Py_None ? NULL : value; return true;
        case KEYWORD_PERSISTENT_LOAD: return set_callable(&a->persistent_load, function, name, value);
        case KEYWORD_FIX_IMPORTS: return only_true(function, value);
        case KEYWORD_ENCODING: return only(function, name, value, "ASCII");
        case KEYWORD_ERRORS: return only(function, name, value, "strict");
        case KEYWORD_CAUSE: return set_flag(&a->cause, value);
        case KEYWORD_FORM: a->form = value; return true;
        }
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
    return false;
}

bool arguments_read(struct arguments *a, const char *function, unsigned takes, PyObject *const *args,
                    Py_ssize_t n, PyObject *kwnames) {
    *a = (struct arguments){0};
    if (n != 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes exactly 1 positional argument (%zd given)", function, n);
        return false;
    }
    a->first = args[0];
    const Py_ssize_t count = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!argument_set(a, function, takes, PyTuple_GET_ITEM(kwnames, i), args[1 + i])) return false;
    }
    return true;
}

/* ---- out-of-band buffers */

static bool objects_take(struct buffers *b, PyObject *iterator, size_t most) {
    size_t room = 0;
    while (b->count < most) {
        PyObject *const object = PyIter_Next(iterator);
        if (!object) break;
        if (b->count == room) {
            room = room ? room * 2 : 8;
            PyObject **const wide = PyMem_Realloc(b->objects, room * sizeof *wide);
            if (!wide) {
                Py_DECREF(object);
                (void)PyErr_NoMemory();
                return false;
            }
            b->objects = wide;
        }
        b->objects[b->count++] = object;
    }
    return !PyErr_Occurred();
}

/* A Py_buffer may point into itself, so each is filled where it stays. */
static bool views_take(struct buffers *b) {
    b->views = PyMem_Calloc(b->count + 1, sizeof *b->views);
    b->bytes = PyMem_Calloc(b->count + 1, sizeof *b->bytes);
    if (!b->views || !b->bytes) {
        (void)PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < b->count; i++) {
        Py_buffer *const view = &b->views[i];
        if (PyObject_GetBuffer(b->objects[i], view, PyBUF_ANY_CONTIGUOUS) != 0) return false;
        b->bytes[i] = (struct upk_bytes){view->buf, (size_t)view->len};
    }
    return true;
}

bool buffers_take(struct buffers *b, PyObject *iterable, size_t most) {
    *b = (struct buffers){0};
    PyObject *const iterator = PyObject_GetIter(iterable);
    if (!iterator) return false;
    const bool good = objects_take(b, iterator, most) && views_take(b);
    Py_DECREF(iterator);
    if (!good) buffers_release(b);
    return good;
}

/* A view that was not taken has no object, and is nothing to release. */
void buffers_release(struct buffers *b) {
    for (size_t i = 0; i < b->count; i++) {
        if (b->views) PyBuffer_Release(&b->views[i]);
        Py_DECREF(b->objects[i]);
    }
    PyMem_Free(b->objects);
    PyMem_Free(b->views);
    PyMem_Free(b->bytes);
    *b = (struct buffers){0};
}
