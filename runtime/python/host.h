/* What the parts of the CPython host share.
 *
 *   module.c     a module's state, and how it is filled
 *   guard.c      the type Policy: loads, load, check, inspect, scan, with_types of one channel
 *   arguments.c  the arguments of loads and kin; bytes and out-of-band buffers
 *   refused.c    RefusedError, and how each refusal becomes one
 *   bind.c       rows become objects of this process, and what may be done with them
 *   hooks.c      which Python code of a class its instances would run
 *   build.c      an accepted document becomes objects: constructors and BUILDs in the stream's order
 *   value.c      values: scalars, containers
 *   text.c       str and bytes, shared where the stream shares them
 *   hashes.c     too many keys of one hash
 *   object.c     objects: calls, states, items
 *   native.c     objects that are made without a call into Python
 *   unpickler.c  the type Unpickler, and load from a file
 *   types.c      with_types: classes that a host admits at run time
 *
 * No part reads a pickle: libupk has read and judged it before the first of them runs.  All state is a module's own or a
 * call's; functions return NULL or false with a Python exception set.
 *
 * Layer: private to runtime/python, over doc.h.
 */
#ifndef UPK_HOST_H
#define UPK_HOST_H

#include "upk_python.h"

#include "../doc.h"

/* State of one module (PEP 489, 573). */
struct host {
    PyTypeObject *policy_type, *unpickler_type;
    PyObject *refused_error; /* class RefusedError */
    PyObject *spare;         /* see arguments.c: memory that waits for the next call */
};
struct host *host_of(PyObject *module); /* never NULL for a module of ours */

/* ---- rows (bind.c) */

enum plan_kind { /* how an object of a form is made */
    PLAN_UNBOUND = 0,
    PLAN_CALL,   /* callable(*args, **kw) */
    PLAN_NEW,    /* cls.__new__(cls, *args, **kw) */
    PLAN_OBJECT, /* the same where __new__ is object's, without arguments */
    PLAN_NATIVE  /* native.c knows it; falls back to PLAN_CALL or PLAN_NEW where it says so */
};

/* What is decided once for a form (one alternative of a row), when it is first met. */
struct plan {
    uint8_t kind;         /* enum plan_kind */
    uint8_t native;       /* which of native.c; 0: none */
    bool state_by_method; /* the class has __setstate__ */
    bool state_fast;      /* plain attributes may be set one by one, without a dict between */
    PyTypeObject *result; /* strong: what a function's value must be an instance of; NULL: nothing to look at */
};

struct binding {
    PyObject *object; /* strong; NULL: not met yet */
};

/* The type Policy: one channel of a policy, or one that was widened by with_types.  Immutable but for rows that are bound when
 * first met. */
struct guard {
    PyObject_HEAD PyObject *module; /* strong */
    struct host *host;
    const struct upk_policy *policy;
    struct upk_policy *own; /* of with_types: freed with the object; else NULL */
    const char *name, *doc; /* of the channel */
    PyObject *types;        /* of with_types: tuple of classes, by row `types_first` on; else NULL */
    struct binding *rows;   /* by row id */
    struct plan *plans;     /* by form id */
};

/* ---- one call */

struct call {
    struct guard *guard;
    struct upk_doc *doc;       /* accepted; NULL while it is not */
    PyObject *persistent_load; /* borrowed; NULL: none */
    PyObject *find_class;      /* borrowed: an overriding find_class of a subclass; NULL: none */
    PyObject **buffers;        /* borrowed: the objects of `buffers`, buffer_count of them */
    size_t buffer_count;
    bool cause; /* the host asks for the cause of a failed construction */

    /* Of build.c. */
    struct texts *texts;
    PyObject **found; /* by row id: what find_class gave, strong; NULL: not asked */
    uint64_t built;   /* values so far, for signals */
};

/* The whole second phase: new reference to the root, or NULL with an exception set. */
PyObject *build_document(struct call *c);
/* A value: new reference.  Objects inside it have been made before (build.c sees to the order); containers come out filled,
 * but those that hold an object which is not made yet: they are filled as soon as it is.  Not recursive. */
PyObject *build_value(struct call *c, struct upk_value v);
/* What was made of an object, borrowed. */
static inline PyObject *object_built(const struct object *o) { return o->cell.host; }

/* object.c.  Make `o` (its call); new reference. */
PyObject *object_make(struct call *c, struct object *o);
/* Its items, pairs and adds: all that it has at once, before its BUILD. */
bool object_grow(struct call *c, struct object *o);
/* Its BUILD. */
bool object_set_state(struct call *c, struct object *o);

/* bind.c.  The object of a row, borrowed from the guard or the call, for use as `verb`; NULL: refused (err of object `o`, NULL
 * where a name stands alone). */
PyObject *bind_row(struct call *c, uint32_t row, unsigned verb, const struct object *o);
/* The plan of the form that `o` matched, its row bound. */
const struct plan *bind_form(struct call *c, const struct object *o);
/* When a guard is made: rows of modules marked `import`. */
bool bind_imports(struct guard *g);

/* native.c.  Which native constructor this form has (0: none), once its row is bound. */
unsigned native_find(struct guard *g, uint32_t form);
/* Make `o` natively, state included (*state_done): new reference; NULL without an exception: make it the other way. */
PyObject *native_make(struct call *c, struct object *o, const struct plan *p, bool *state_done);

/* hooks.c.  Bits enum upk_form_flag UPK_FORM_RUNS_*: hooks of the class that are Python code; false: an exception is set. */
bool hooks_of(PyTypeObject *type, unsigned *runs);

/* hashes.c.  Refuse a dict or set more than 64 of whose n keys (the others `step` apart) have one Python hash. */
bool hashes_check(struct call *c, const struct upk_cell *cell, PyObject *const *keys, size_t n);

/* ---- refusals (refused.c); all return NULL or false with RefusedError set */

PyObject *refused(struct host *h, const struct upk_error *err);
/* An accepted document that cannot be built: `code` (UPK_ERR_UNBOUND and kin), the place of `o` (NULL: the root), its row's
 * names and rule, and what exactly is wrong. */
__attribute__((format(printf, 4, 5))) bool refuse_object(struct call *c, const struct object *o, unsigned code,
                                                         const char *format, ...);
/* A Python exception is set: turn it into RefusedError (class native), bounded and escaped, `from None` unless c->cause.
 * KeyboardInterrupt stays, and so does MemoryError of our own allocations. */
bool refuse_exception(struct call *c, const struct object *o, const char *doing);

#endif
