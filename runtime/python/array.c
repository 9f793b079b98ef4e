/* Arrays of numpy, made without _reconstruct and __setstate__, and without _frombuffer.
 *
 * A pickled array is a call of _reconstruct, which gives an empty one, and a BUILD that gives it shape, dtype and data.  Where
 * nothing is done between the two, and the array is of numbers in the order of this machine, it is made at once, and the data are
 * copied to where they belong: 8,300 instructions for 8 KiB by the two steps, 2,600 by this.  The array owns its data then, where
 * __setstate__ gives it a bytes object to hold.  Else an empty array is made as _reconstruct makes it, with half as many arguments to
 * read.  Protocol 5 has a call of _frombuffer instead: an array over bytes.
 *
 * numpy's table of C functions is read by place, for a host is built without numpy: the places are its ABI.
 *
 * Source: numpy/__multiarray_api.h, PyArrayObject_fields in numpy/ndarraytypes.h; the same in versions 1 and 2.
 * Layer: see host.h.
 */
#include "bind.h"
#include "build.h"

enum {
    CLASS,
    DTYPE,
    EMPTY,
    TABLE,
    COUNT
}; /* of `extra`: ndarray, dtype, arguments for ndarray(0, "b"), a capsule or None */
enum { VERSION, SHAPE, TYPE, FORTRAN, DATA, PARTS };                     /* of the state */
enum { GIVEN_DATA, GIVEN_DTYPE, GIVEN_SHAPE, GIVEN_ORDER, GIVEN_COUNT }; /* to _frombuffer */

/* ---- numpy's table */

enum { AT_ABI = 0, AT_ARRAY_TYPE = 2, AT_UPDATE_FLAGS = 92, AT_NEW_FROM_DESCR = 94, AT_SET_BASE = 282 };
enum { FLAG_C_CONTIGUOUS = 1, FLAG_ALIGNED = 0x100, FLAG_WRITABLE = 0x400, MOST_DIMENSIONS = 32 };

typedef unsigned abi_fn(void);
typedef void update_flags_fn(PyObject *array, int flags);
typedef PyObject *new_from_descr_fn(PyTypeObject *class, PyObject *dtype, int n, const Py_ssize_t *shape,
                                    const Py_ssize_t *strides, void *data, int flags, PyObject *like);
typedef int set_base_fn(PyObject *array, PyObject *base);

struct array_head {
    PyObject_HEAD char *data;
};

static void **table_of(PyObject *capsule) {
    return capsule && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
}

/* Is it one whose places are known, and of this class? */
static bool table_suits(void **table, const PyObject *class) {
    const unsigned abi = table ? ((abi_fn *)table[AT_ABI])() >> 24 : 0;
    return (abi == 1 || abi == 2) && table[AT_ARRAY_TYPE] == class;
}

bool array_find(struct plan *p, PyObject *class, PyObject *dtype, PyObject *capsule) {
    PyObject *const table = table_suits(table_of(capsule), class) ? capsule : Py_None;
    if (PyErr_Occurred()) return false;
    PyObject *const bytes = PyObject_CallFunction(dtype, "s", "b");
    PyObject *const empty = bytes ? Py_BuildValue("((i)O)", 0, bytes) : NULL;
    p->extra = empty ? PyTuple_Pack(COUNT, class, dtype, empty, table) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(empty);
    return p->extra != NULL;
}

/* ---- arrays of numbers */

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

/* What an array of numbers is made of. */
struct parts {
    PyObject *dtype;
    const struct upk_cell *shape;
    const uint8_t *data; /* in the document */
    size_t len;
};

/* Are these the parts of one, as many bytes as it has?  Strides of what is empty are another matter. */
static bool parts_take(struct builder *b, PyObject *extra, struct upk_value dtype, struct upk_value shape,
                       struct upk_value data, struct parts *out) {
    if (dtype.kind != UPK_OBJECT || !(dtype.as.cell->flags & OBJECT_HOSTED) || shape.kind != UPK_TUPLE ||
        shape.as.cell->len > MOST_DIMENSIONS)
        return false;
    *out = (struct parts){.dtype = dtype.as.cell->host, .shape = shape.as.cell};
    if (data.kind == UPK_BYTES) {
        out->data = data.as.bytes;
        out->len = data.len;
    } else if (data.kind == UPK_BYTEARRAY) {
        out->data = as_bytearray(data.as.cell)->bytes;
        out->len = data.as.cell->len;
    }
    if (out->len == 0) return false;
    if (!PyObject_TypeCheck(out->dtype, (PyTypeObject *)PyTuple_GET_ITEM(extra, DTYPE))) return false;
    if (b->dtype != out->dtype) { /* it is held to the end of the build */
        b->dtype_size = plain_size(out->dtype);
        b->dtype = out->dtype;
    }
    return b->dtype_size && shape_holds(out->shape, (uint64_t)b->dtype_size, out->len);
}

/* data NULL: memory of its own. */
static PyObject *array_new(void **table, PyObject *class, const struct parts *p, void *data, int flags) {
    Py_ssize_t shape[MOST_DIMENSIONS];
    for (uint32_t i = 0; i < p->shape->len; i++) shape[i] = (Py_ssize_t)p->shape->items[i].as.i;
    Py_INCREF(p->dtype); /* which is taken */
    return ((new_from_descr_fn *)table[AT_NEW_FROM_DESCR])(
        (PyTypeObject *)class, p->dtype, (int)p->shape->len, shape, NULL, data, flags, NULL);
}

/* ---- by _reconstruct */

static bool state_parts(struct builder *b, const struct object *o, PyObject *extra, struct parts *out) {
    const struct upk_value state = value_resolve(o->state);
    if (state.kind != UPK_TUPLE || state.as.cell->len != PARTS || state.as.cell->flags & CELL_SHARED)
        return false;
    struct upk_value part[PARTS];
    for (unsigned i = 0; i < PARTS; i++) part[i] = value_resolve(state.as.cell->items[i]);
    return part[VERSION].kind == UPK_INT && part[VERSION].as.i == 1 && part[FORTRAN].kind == UPK_BOOL &&
           !part[FORTRAN].as.i && part[DATA].kind == UPK_BYTES &&
           parts_take(b, extra, part[TYPE], part[SHAPE], part[DATA], out);
}

static PyObject *make_whole(struct call *c, struct object *o, PyObject *extra) {
    struct parts p;
    void **const table = table_of(PyTuple_GET_ITEM(extra, TABLE));
    if (!table || !nothing_before_state(c, o) || !state_parts(c->builder, o, extra, &p)) return NULL;
    PyObject *const made = array_new(table, PyTuple_GET_ITEM(extra, CLASS), &p, NULL, 0);
    if (!made) {
        PyErr_Clear(); /* whatever it was, the two steps will say it in their words */
        return NULL;
    }
    memcpy(((struct array_head *)made)->data, p.data, p.len);
    o->cell.flags |= OBJECT_WHOLE;
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

/* ---- by _frombuffer */

static PyObject *make_over(struct call *c, const struct upk_cell *args, PyObject *extra) {
    const struct upk_value *const given = args->items;
    struct parts p;
    void **const table = table_of(PyTuple_GET_ITEM(extra, TABLE));
    if (!table || !upk_str_is(given[GIVEN_ORDER], "C") ||
        !parts_take(c->builder, extra, value_resolve(given[GIVEN_DTYPE]), value_resolve(given[GIVEN_SHAPE]),
                    value_resolve(given[GIVEN_DATA]), &p))
        return NULL;
    const bool writable = value_resolve(given[GIVEN_DATA]).kind == UPK_BYTEARRAY;
    PyObject *const data = build_value(c, given[GIVEN_DATA]);
    if (!data) return NULL;
    char *const at = writable ? PyByteArray_AS_STRING(data) : PyBytes_AS_STRING(data);
    const int flags = FLAG_C_CONTIGUOUS | (writable ? FLAG_WRITABLE : 0);
    PyObject *const base =
        writable ? PyMemoryView_FromObject(data) : data; /* a view: so that nobody moves it */
    if (writable) Py_DECREF(data);
    PyObject *const made = base ? array_new(table, PyTuple_GET_ITEM(extra, CLASS), &p, at, flags) : NULL;
    if (!made) {
        Py_XDECREF(base);
        return NULL;
    }
    if (((set_base_fn *)table[AT_SET_BASE])(made, base) != 0) { /* which has taken the reference */
        Py_DECREF(made);
        return NULL;
    }
    ((update_flags_fn *)table[AT_UPDATE_FLAGS])(made, FLAG_ALIGNED);
    return made;
}

PyObject *array_over(struct call *c, const struct object *o, PyObject *extra) {
    enum { AS_SHAPE, AS_DTYPE, AS_BUFFER, AS_OFFSET, AS_STRIDES, AS_ORDER, AS_COUNT };
    static const unsigned from[AS_COUNT] = {[AS_BUFFER] = GIVEN_DATA,
                                            [AS_DTYPE] = GIVEN_DTYPE,
                                            [AS_SHAPE] = GIVEN_SHAPE,
                                            [AS_ORDER] = GIVEN_ORDER};
    const struct upk_cell *const a = object_args(o);
    PyObject *given[AS_COUNT + 1] = {NULL}, **const args = given + 1;
    if (a->len != GIVEN_COUNT) return NULL;
    PyObject *made = make_over(c, a, extra);
    if (made || PyErr_Occurred()) return made;
    bool good = true;
    for (unsigned i = 0; i < AS_COUNT && good; i++) {
        struct upk_value v = {.kind = i == AS_OFFSET ? UPK_INT : UPK_NONE};
        if (i != AS_OFFSET && i != AS_STRIDES) v = a->items[from[i]];
        args[i] = build_value(c, v);
        good = args[i] != NULL;
    }
    if (good)
        made = PyObject_VectorcallDict(PyTuple_GET_ITEM(extra, CLASS), args,
                                       AS_COUNT | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    for (unsigned i = 0; i < AS_COUNT; i++) Py_XDECREF(args[i]);
    return made;
}
