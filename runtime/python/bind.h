/* What is decided about rows and classes before objects of them are made.
 *
 * Layer: private to bind.c, names.c, called.c, plan.c, object.c, state.c, native.c, array.c and dtype.c, over host.h.
 */
#ifndef UPK_BIND_H
#define UPK_BIND_H

#include "host.h"

/* How the state of an object is applied, by its class. */
enum state_how {
    STATE_UNKNOWN = 0,
    STATE_DICT,      /* into __dict__ and slots, as BUILD does it without a __setstate__ */
    STATE_EXCEPTION, /* BaseException.__setstate__: attributes */
    STATE_METHOD     /* another __setstate__ */
};

/* A key of a state dict, by its place: objects of one class have theirs in one order. */
struct state_key {
    PyObject *key; /* strong; NULL: none yet */
    const char *text;
    uint32_t len;
    /* Borrowed of the class: what of that name hides the instance's attribute; NULL: nothing does. */
    PyObject *member;
};
enum { STATE_KEYS = 32, STATE_KEYS_CHANGED = 256 };
struct state_keys {
    struct state_key at[STATE_KEYS];
    unsigned changed; /* how often a place got another key: beyond STATE_KEYS_CHANGED it no longer does */
    uint64_t build;   /* in this build (build.h) */
    unsigned number;  /* dicts of this number (doc.h) have just these keys; 0: none is known to */
};

/* What is decided for the class of an instance that takes a state or items. */
struct instance_plan {
    PyTypeObject *type; /* strong: of the instance; NULL: none seen yet */
    unsigned version;   /* of `type`; 0: it has none, so the plan is for one use */
    uint8_t how;        /* enum state_how */
    bool has_dict;      /* instances have a __dict__ that is their own */
    bool takes_all;     /* `take` is extend, and not append */
    PyObject *method;   /* strong: __setstate__, as the class has it */
    PyObject *take;     /* strong: what takes items, likewise; NULL: no plain method */
    struct state_keys *keys;
};

/* What is decided for a form (one alternative of a row) when it is first met; anew when the class has changed since. */
struct plan {
    PyObject *callable; /* strong: the row's object; NULL: not met yet */
    unsigned version;   /* of the class; 0: it has none, so the plan is for one use.  A function's is 1 */
    uint8_t native;     /* enum native_kind; 0: none */
    /* Strong: the last class that was made and is not `callable`, but suits; NULL: none. */
    PyTypeObject *made;
    unsigned made_version;
    /* Strong: what a function's value must be an instance of; NULL: not looked for yet. */
    PyTypeObject *result;
    PyObject *extra; /* strong: what native.c needs besides */
    struct instance_plan instance;
};

/* names.c: what stands under a name, without running any code.  A new reference, or NULL: nothing is there, and *why says so;
 * where an exception is set, *why is NULL. */
PyObject *name_find(struct upk_compat name, const char **why);
/* The loaded module, under whichever of its names; new reference.  NULL without an exception: it is not loaded. */
PyObject *module_find(struct upk_compat name);
/* What an object calls itself, as far as no code can run when it is asked. */
struct own_name {
    PyObject *module, *qualname; /* strong str, or NULL */
};
bool own_name_of(PyObject *object, struct own_name *out);
void own_name_clear(struct own_name *n);

/* called.c.  All that an object is called; the text of `at` is that of `held`.  The functions: false, an exception is set. */
struct names {
    struct upk_own_name *at;
    PyObject **held; /* strong str, two for each; NULL: a name of that file */
    size_t count, room;
    bool unsaid; /* something does not say what it is called */
};
void names_clear(struct names *n);
void names_free(struct names *n);
/* Takes the references, also on failure; what is no text that can be held against a list is `unsaid`. */
bool names_add(struct names *n, PyObject *module, PyObject *qualname);
bool names_add_own(struct names *n, PyObject *object);
bool names_add_builtin(struct names *n, const char *name);
/* Of a class its own name, and those of all that it inherits from. */
bool names_of_class(struct names *own, struct names *ancestors, PyTypeObject *type);
/* Does the policy deny the class, as it denies those that a stream names?  One that does not say what it is counts as denied. */
bool class_denied(const struct upk_policy *p, PyTypeObject *type, bool *denied);

/* bind.c.  As bind_row, whatever a find_class says. */
PyObject *bind_own_row(struct call *c, uint32_t row, const struct object *o);

/* Changes when the class, or one that it inherits from, changes; 0: not known. */
static inline unsigned type_version(const PyTypeObject *type) {
    return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
}

/* resolve.c.  The plan of an object of an open row, which is of this call, and the class that was found; NULL: an exception is
 * set. */
struct plan *opened_plan(struct call *c, const struct object *o, PyObject **object);
/* The base of the row of subclasses by which `o` is admitted; new reference, or NULL: it is not by one, or the base is gone. */
bool opened_base_class(const struct call *c, const struct object *o, PyTypeObject **base);
/* Would a class that nobody listed be admitted by the row of `o`, too?  false: an exception is set. */
bool opened_alike(struct call *c, const struct object *o, PyTypeObject *type, bool *same);

/* May it be called with the instance as its first argument?  What may be Python code plan.c has seen to. */
static inline bool method_is_plain(PyObject *method) {
    return Py_TYPE(method) == &PyMethodDescr_Type || PyFunction_Check(method);
}

/* plan.c.  The plan of the form that `o` matched, its row bound and its class looked at; NULL: refused. */
struct plan *plan_find(struct call *c, const struct object *o);
static inline bool plan_holds(const struct plan *p, const PyObject *object, unsigned verb) {
    if (p->callable != object) return false;
    return verb == UPK_VERB_FUNC ||
           (p->version && p->version == type_version((const PyTypeObject *)p->callable));
}
/* In line for what is bound and has not changed: an object asks when it is made and again for its state. */
static inline struct plan *plan_of(struct call *c, const struct object *o) {
    struct plan *const p = &c->guard->plans[o->cell.cap];
    const PyObject *const object = c->guard->rows[o->cell.len].object;
    const bool good =
        object && !c->find_class && plan_holds(p, object, c->guard->policy->forms[o->cell.cap].verb);
    return good ? p : plan_find(c, o);
}
/* May objects of this class stand for `o`: has it no Python code but what the form names?  false: refused. */
bool plan_fits(struct call *c, const struct object *o, struct plan *p, PyTypeObject *type);
struct instance_plan *instance_plan_make(struct plan *p, PyTypeObject *type);
/* What is decided for the class of `inst`; NULL: nothing yet that is still so. */
static inline struct instance_plan *instance_plan_if(struct plan *p, PyObject *inst) {
    struct instance_plan *const s = &p->instance;
    const PyTypeObject *const type = Py_TYPE(inst);
    return s->type == type && s->version && s->version == type_version(type) ? s : NULL;
}
/* The same, decided now if need be; NULL: an exception is set.  Asked for again after whatever may have run code. */
static inline struct instance_plan *instance_plan_of(struct plan *p, PyObject *inst) {
    struct instance_plan *const s = instance_plan_if(p, inst);
    return s ? s : instance_plan_make(p, Py_TYPE(inst));
}
/* object.c.  Is it, if it is an exception, safe to raise and to print (sound.c)?  false: refused. */
bool exception_suits(struct call *c, const struct object *o, PyObject *made);
void plan_clear(struct plan *p);
int plan_traverse(struct plan *p, visitproc visit, void *arg);

/* native.c.  Which native constructor this form has, once its row is bound: sets native and extra. */
bool native_find(struct call *c, uint32_t form, struct plan *p);
/* Make `o` natively: new reference; NULL without an exception: make it the other way. */
PyObject *native_make(struct call *c, struct object *o, const struct plan *p);
/* array.c.  What the next two need: sets p->extra.  `table`: the capsule of numpy's C functions, NULL none.  false: an exception is
 * set. */
bool array_find(struct plan *p, PyObject *class, PyObject *dtype, PyObject *table);
/* An array by _reconstruct; whole, state included, where that can be (OBJECT_WHOLE).  As native_make. */
PyObject *array_make(struct call *c, struct object *o, PyObject *extra);
/* An array by _frombuffer, whose check has proved the arguments.  As native_make. */
PyObject *array_over(struct call *c, const struct object *o, PyObject *extra);
/* dtype.c.  Of dtype.kind: numbers, which hold no objects. */
bool is_plain_kind(char kind);
/* A dtype: does its state say what it is already? */
bool dtype_is_so(const struct object *o);
/* native.c.  Set its state natively.  *done: it was; else do it the other way. */
bool native_set_state(struct call *c, struct object *o, const struct plan *p, bool *done);

#endif
