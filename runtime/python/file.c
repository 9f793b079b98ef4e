/* A Python file as the source of one pickle: read as pickle reads it, and left right behind its STOP.
 *
 * What a buffered file shows by peek() is given to the decoder before it is consumed, and consumed afterwards as far as the pickle
 * goes; of any other file only what the opcode at hand needs is read.
 *
 * Layer: see host.h.
 */
#include "host.h"

enum { PIECE = 256 << 10 /* bytes that are read at most by one call */ };

/* ---- words that every call needs: names of methods, and those methods of BytesIO that no instance can hide */

enum word { PEEK, READ, READLINE, BYTES_IO, TELL, GETVALUE, SEEK };

bool file_words_find(struct host *h) {
    static const char *const names[] = {"peek", "read", "readline"}, *const methods[] = {"tell", "getvalue",
                                                                                         "seek"};
    _Static_assert(SEEK + 1 == FILE_WORDS, "words");
    PyObject *const io = PyImport_ImportModule("io");
    bool good = io && (h->file_words[BYTES_IO] = PyObject_GetAttrString(io, "BytesIO"));
    for (size_t i = 0; i < BYTES_IO && good; i++)
        good = (h->file_words[i] = PyUnicode_InternFromString(names[i])) != NULL;
    for (size_t i = 0; TELL + i < FILE_WORDS && good; i++)
        good =
            (h->file_words[TELL + i] = PyObject_GetAttrString(h->file_words[BYTES_IO], methods[i])) != NULL;
    Py_XDECREF(io);
    return good;
}

static PyObject *call_bytes_io(struct file *f, enum word method, PyObject *argument) {
    return PyObject_CallFunctionObjArgs(f->host->file_words[method], f->object, argument, NULL);
}

/* ---- what the file has */

/* NULL without an exception: there is none. */
static PyObject *attribute_or_null(struct host *h, PyObject *object, enum word name) {
    PyObject *const found = PyObject_GetAttr(object, h->file_words[name]);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return found;
}

static bool methods_find(struct file *f, struct host *h, PyObject *object) {
    if (!(f->peek = attribute_or_null(h, object, PEEK)) && PyErr_Occurred()) return false;
    if (!(f->read = attribute_or_null(h, object, READ)) && PyErr_Occurred()) return false;
    PyObject *const readline = attribute_or_null(h, object, READLINE);
    if (!readline && PyErr_Occurred()) return false;
    Py_XDECREF(readline);
    if (!f->read || !readline)
        PyErr_SetString(PyExc_TypeError, "file must have 'read' and 'readline' attributes");
    return f->read && readline;
}

bool file_open(struct file *f, struct host *h, PyObject *object) {
    *f = (struct file){.host = h, .in_memory = (PyObject *)Py_TYPE(object) == h->file_words[BYTES_IO]};
    if (f->in_memory || methods_find(f, h, object)) {
        Py_INCREF(object);
        f->object = object;
        return true;
    }
    file_close(f);
    return false;
}

void file_close(struct file *f) {
    struct file old = *f;
    *f = (struct file){.object = NULL};
    Py_XDECREF(old.object);
    Py_XDECREF(old.read);
    Py_XDECREF(old.peek);
    Py_XDECREF(old.memory);
}

int file_traverse(struct file *f, visitproc visit, void *arg) {
    Py_VISIT(f->object);
    Py_VISIT(f->read);
    Py_VISIT(f->peek);
    return 0;
}

/* ---- reading.  All of it is host code: its exceptions are its own. */

/* Bytes that a method gave for `most` that were asked for; NULL: an exception is set. */
static PyObject *call_for_bytes(PyObject *method, const char *name, size_t most) {
    PyObject *const wanted = PyLong_FromSize_t(most);
    PyObject *const got = wanted ? PyObject_CallFunctionObjArgs(method, wanted, NULL) : NULL;
    Py_XDECREF(wanted);
    if (!got || PyBytes_Check(got)) return got;
    PyErr_Format(PyExc_TypeError, "%s() returned non-bytes object (%.200s)", name, Py_TYPE(got)->tp_name);
    Py_DECREF(got);
    return NULL;
}

static bool too_many(const char *name) {
    PyErr_Format(PyExc_ValueError, "%s() returned more than it was asked for", name);
    return false;
}

/* Up to n bytes, 0 at the end. */
static bool read_some(struct file *f, uint8_t *to, size_t n, size_t *got) {
    PyObject *const bytes = call_for_bytes(f->read, "read", n);
    if (!bytes) return false;
    *got = (size_t)PyBytes_GET_SIZE(bytes);
    const bool fits = *got <= n;
    if (fits && *got) memcpy(to, PyBytes_AS_STRING(bytes), *got);
    Py_DECREF(bytes);
    return fits || too_many("read");
}

/* All n bytes, or those up to the end.  A file never gets at the document's own memory, which it might keep (readinto): pieces that
 * stay in the cache are as fast. */
static bool read_all(struct file *f, uint8_t *to, size_t n, size_t *got) {
    for (*got = 0; *got < n;) {
        size_t some;
        if (!read_some(f, to + *got, n - *got < PIECE ? n - *got : PIECE, &some)) return false;
        if (some == 0) break;
        *got += some;
    }
    return true;
}

/* What was shown and used is now consumed. */
static bool skip(struct file *f, size_t n) {
    while (n) {
        PyObject *const bytes = call_for_bytes(f->read, "read", n);
        if (!bytes) return false;
        const size_t some = (size_t)PyBytes_GET_SIZE(bytes);
        Py_DECREF(bytes);
        if (some > n) return too_many("read");
        if (some == 0) break;
        n -= some;
    }
    return true;
}

/* A file that cannot peek after all is read like one without. */
static bool show(struct file *f, uint8_t *to, size_t least, size_t most, size_t *got) {
    PyObject *const bytes = call_for_bytes(f->peek, "peek", most);
    *got = 0;
    if (!bytes) {
        if (!PyErr_ExceptionMatches(PyExc_NotImplementedError)) return false;
        PyErr_Clear();
        Py_CLEAR(f->peek);
        return true;
    }
    const size_t shown = (size_t)PyBytes_GET_SIZE(bytes);
    if (shown >= least) {
        *got = shown < most ? shown : most;
        memcpy(to, PyBytes_AS_STRING(bytes), *got);
        f->ahead = *got;
    }
    Py_DECREF(bytes);
    return true;
}

bool file_read(void *ctx, void *to, size_t least, size_t most, size_t *got) {
    struct file *const f = ctx;
    if (f->in_memory) {
        const size_t len = (size_t)PyBytes_GET_SIZE(f->memory), left = f->at < len ? len - f->at : 0;
        *got = left < most ? left : most;
        if (*got) memcpy(to, PyBytes_AS_STRING(f->memory) + f->at, *got);
        f->at += *got;
        return true;
    }
    const size_t before = f->ahead;
    f->ahead = 0;
    if (!skip(f, before)) return false;
    *got = 0;
    if (f->peek && !show(f, to, least, most, got)) return false;
    if (*got == 0 && !read_all(f, to, least, got)) return false;
    f->given += *got;
    return true;
}

/* ---- from where one pickle begins to where it ends */

bool file_begin(struct file *f) {
    f->given = f->ahead = 0;
    if (!f->in_memory) return true;
    PyObject *const at = call_bytes_io(f, TELL, NULL);
    f->at = at ? PyLong_AsSize_t(at) : 0;
    Py_XDECREF(at);
    f->began = f->at;
    if (PyErr_Occurred()) return false;
    f->memory = call_bytes_io(f, GETVALUE, NULL);
    return f->memory != NULL;
}

bool file_end(struct file *f, size_t used) {
    if (!f->in_memory) {
        const size_t consumed = f->given - f->ahead;
        f->ahead = 0;
        return skip(f, used - consumed);
    }
    PyObject *const to = PyLong_FromSize_t(f->began + used), *const at =
                                                                 to ? call_bytes_io(f, SEEK, to) : NULL;
    Py_XDECREF(to);
    Py_XDECREF(at);
    return at != NULL;
}

void file_observe(const struct file *f, struct call *c, struct upk_error *err) {
    if (!f->in_memory || err->dangerous) return;
    const size_t len = (size_t)PyBytes_GET_SIZE(f->memory), at = f->began < len ? f->began : len;
    c->options.flags |= UPK_ALLOW_TRAILING;
    upk_error_observe(err, c->guard->policy, PyBytes_AS_STRING(f->memory) + at, len - at, &c->options);
}

void file_rest(struct file *f) {
    Py_CLEAR(f->memory);
    f->ahead = 0;
}
