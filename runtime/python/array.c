/* Arrays of numpy, made without _reconstruct and __setstate__.
 *
 * A pickled array is a call of _reconstruct, which gives an empty one, and a BUILD that gives it shape, dtype and data.  Where
 * nothing is done between the two, and the array is of numbers in the order of this machine, it is made at once: ndarray(shape, dtype),
 * and the data are copied to where they belong: 5,200 instructions for 8 KiB, 8,300 for the two steps.  The array owns its data then,
 * where __setstate__ gives it a bytes object to hold.  Else an empty array is made as _reconstruct makes it, with half as many
 * arguments to read.
 *
 * Layer: see host.h.
 */
#include "bind.h"
#include "build.h"

enum { CLASS, DTYPE, EMPTY, COUNT }; /* of `extra`: ndarray, dtype, arguments for ndarray(0, "b") */
enum { VERSION, SHAPE, TYPE, FORTRAN, DATA, PARTS }; /* of the state */

bool array_find(struct plan *p, PyObject *class, PyObject *dtype) {
    if (!PyCFunction_Check(p->callable)) return true;
    PyObject *const bytes = PyObject_CallFunction(dtype, "s", "b");
    PyObject *const empty = bytes ? Py_BuildValue("((i)O)", 0, bytes) : NULL;
    p->extra = empty ? PyTuple_Pack(COUNT, class, dtype, empty) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(empty);
    return p->extra != NULL;
}

static bool is_attribute(PyObject *dtype, const char *name, PyObject *wanted) {
    PyObject *const found = PyObject_GetAttrString(dtype, name);
    const bool is = found == wanted;
    Py_XDECREF(found);
    return is;
}

/* Bytes of one element of a dtype whose arrays are plain memory; 0: it is another. */
static Py_ssize_t plain_size(PyObject *dtype) {
    PyObject *const kind =
        is_attribute(dtype, "isnative", Py_True) ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *const text = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8(kind) : NULL;
    const bool plain = text && is_plain_kind(*text);
    Py_XDECREF(kind);
    PyObject *const size = plain ? PyObject_GetAttrString(dtype, "itemsize") : NULL;
    const Py_ssize_t n = size ? PyLong_AsSsize_t(size) : 0;
    Py_XDECREF(size);
    PyErr_Clear();
    return n > 0 ? n : 0;
}

/* Do so many elements, as the shape says, take just so many bytes? */
static bool shape_holds(const struct upk_cell *shape, uint64_t size, uint64_t bytes) {
    uint64_t n = size;
    for (uint32_t i = 0; i < shape->len; i++) {
        const struct upk_value v = shape->items[i];
        if (v.kind != UPK_INT || v.as.i < 0) return false;
        if (v.as.i && n > UINT64_MAX / (uint64_t)v.as.i) return false;
        n *= (uint64_t)v.as.i;
    }
    return n == bytes;
}

/* Takes the reference to the array; NULL: it is not what was asked for. */
static PyObject *data_copied(PyObject *array, struct upk_value data) {
    Py_buffer view;
    if (!array) return NULL;
    bool good = PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) == 0;
    if (good) {
        good = view.len == (Py_ssize_t)data.len;
        if (good && data.len) memcpy(view.buf, data.as.bytes, data.len);
        PyBuffer_Release(&view);
    }
    if (good) return array;
    Py_DECREF(array);
    return NULL;
}

/* The parts of the state that makes a plain array of its own; false: it is another. */
static bool state_parts(const struct object *o, struct upk_value part[PARTS]) {
    const struct upk_value state = value_resolve(o->state);
    if (state.kind != UPK_TUPLE || state.as.cell->len != PARTS || state.as.cell->flags & CELL_SHARED)
        return false;
    for (unsigned i = 0; i < PARTS; i++) part[i] = value_resolve(state.as.cell->items[i]);
    return part[VERSION].kind == UPK_INT && part[VERSION].as.i == 1 && part[SHAPE].kind == UPK_TUPLE &&
           part[TYPE].kind == UPK_OBJECT && part[TYPE].as.cell->flags & OBJECT_HOSTED &&
           part[FORTRAN].kind == UPK_BOOL && !part[FORTRAN].as.i && part[DATA].kind == UPK_BYTES &&
           part[DATA].len > 0; /* strides of what is empty are another matter */
}

static PyObject *make_whole(struct call *c, struct object *o, PyObject *extra) {
    struct builder *const b = c->builder;
    struct upk_value part[PARTS];
    if (!nothing_before_state(c, o) || !state_parts(o, part)) return NULL;
    PyObject *const dtype = part[TYPE].as.cell->host;
    if (!PyObject_TypeCheck(dtype, (PyTypeObject *)PyTuple_GET_ITEM(extra, DTYPE))) return NULL;
    if (b->dtype != dtype) { /* it is held to the end of the build */
        b->dtype_size = plain_size(dtype);
        b->dtype = dtype;
    }
    if (!b->dtype_size || !shape_holds(part[SHAPE].as.cell, (uint64_t)b->dtype_size, part[DATA].len))
        return NULL;
    PyObject *const shape = build_value(c, part[SHAPE]);
    if (!shape) return NULL;
    PyObject *const args = PyTuple_Pack(2, shape, dtype);
    PyTypeObject *const class = (PyTypeObject *)PyTuple_GET_ITEM(extra, CLASS);
    PyObject *const made = args ? data_copied(class->tp_new(class, args, NULL), part[DATA]) : NULL;
    Py_DECREF(shape);
    Py_XDECREF(args);
    if (made)
        o->cell.flags |= OBJECT_WHOLE;
    else
        PyErr_Clear(); /* whatever it was, the two steps will say it in their words */
    return made;
}

PyObject *array_make(struct call *c, struct object *o, PyObject *extra) {
    const struct upk_cell *const a = object_args(o);
    if (a->len != 3 || a->items[0].kind != UPK_GLOBAL) return NULL;
    const struct upk_value shape = value_resolve(a->items[1]), code = value_resolve(a->items[2]);
    if (shape.kind != UPK_TUPLE || !shape_holds(shape.as.cell, 1, 0) || shape.as.cell->len != 1) return NULL;
    if ((code.kind != UPK_BYTES && code.kind != UPK_STR8) || !bytes_are(code.as.bytes, code.len, "b"))
        return NULL;
    if (bind_global(c, a->items[0].as.cell) != PyTuple_GET_ITEM(extra, CLASS)) return NULL;
    PyObject *const made = make_whole(c, o, extra);
    if (made || PyErr_Occurred()) return made;
    PyTypeObject *const class = (PyTypeObject *)PyTuple_GET_ITEM(extra, CLASS);
    return class->tp_new(class, PyTuple_GET_ITEM(extra, EMPTY), NULL);
}
