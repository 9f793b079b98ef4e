/* The state of one build, shared by build.c, value.c, pattern.c, fill.c, text.c and hashes.c.
 *
 * Working storage is the document's, under its cap.
 * Layer: private to runtime/python, over host.h and scratch.h.
 */
#ifndef UPK_BUILD_H
#define UPK_BUILD_H

#include "../scratch.h"
#include "host.h"

/* What a module keeps from one build to the next: ints and keys that many documents have, and what was made of which place of the
 * stream, which is only good within the build that made it. */
enum { USUAL_INT_LEAST = -5, USUAL_INTS = 1024 + 5, USUAL_KEYS = 1024, USUAL_PLACES = 512 };
struct place {
    uint64_t build;
    const uint8_t *at;
    uint32_t len, kind;
    PyObject *made; /* strong; NULL: free */
};
/* A key of ASCII; with its length, `first` and `last` are all of one of up to 16 bytes. */
struct usual_key {
    PyObject *made; /* strong; NULL: free */
    uint64_t first, last;
    size_t len;
};
struct usual {
    uint64_t builds; /* so far */
    PyObject *ints[USUAL_INTS];
    struct usual_key keys[USUAL_KEYS];
    struct place places[USUAL_PLACES];
};

/* A container that is being filled. */
struct frame {
    struct upk_cell *cell;
    PyObject *into;     /* strong; what is filled */
    PyObject *key;      /* strong; of DICT the key whose value is being made, else NULL */
    PyObject *keys;     /* strong; of those that hash: their keys, a tuple, where they were made first */
    uint32_t next, end; /* positions in cell->items: what comes next, and where signals are looked at */
    uint8_t kind;       /* the cell's; UPK_INVALID: `keys` is being filled; CHAIN: as chain_close has it */
    bool apart;         /* it stands where it belongs: nothing takes it when it is full */
};

enum { CHAIN = 0xff }; /* frame.kind */

/* What dicts of one number begin as. */
struct dict_pattern {
    PyObject *keys; /* strong; a tuple of str.  NULL: free */
    PyObject *dict; /* strong; it has these keys, each with None.  NULL alike */
};

/* What is done later: the smallest `when` first, of equal ones the largest `then`. */
struct entry {
    uint64_t when, then;
    struct upk_cell *cell;
    PyObject *into; /* strong, or NULL */
};
struct heap {
    struct entry *entries;
    size_t count, room;
};

enum {
    FIRST_FRAMES = 8,
    SIGNALS = 65536,         /* values between looks at signals */
    MANY_CONTAINERS = 100000 /* from which the garbage collector pauses */
};

struct builder {
    struct usual *usual;    /* of the module */
    uint64_t build;         /* the number of this one */
    uint64_t done;          /* calls and BUILDs that were done, as the stream counts them */
    struct heap waiting;    /* when: `done` that is reached.  Containers to fill, objects to grow */
    struct heap states;     /* when: offset of the BUILD */
    struct persid *persids; /* of the document, from the next one on */
    struct frame *frames;   /* the containers that are open, the innermost last */
    size_t frame_count, frame_room;
    struct frame *later; /* found in an open tuple: filled when that is full */
    size_t later_count, later_room;
    unsigned opened; /* NULL of a maker means that it has opened so many frames */
    PyObject **kept; /* strong; what cells and the maps below refer to */
    size_t kept_count, kept_room;
    struct dict_pattern *patterns; /* by number; NULL: none was met yet */
    struct pair_map texts[2];      /* of view and length to an index in `kept`: str; bytes and ints */
    PyObject **readonly;           /* strong; by index of buffer; NULL: not asked for yet */
    uint64_t memory, most_memory;  /* an estimate of what the objects take, in bytes; the budget */
    size_t containers;
    size_t held;  /* objects of the document that have OBJECT_HOSTED: it holds a reference to each */
    bool stepped; /* all calls and BUILDs are done, what is left is to put things where they belong */
    uint32_t until_signals; /* values until signals are looked at */
    PyObject *dtype;        /* array.c: the last one, borrowed; NULL: none since a BUILD */
    Py_ssize_t dtype_size;
    bool gc_stopped;
    struct frame first_frames[FIRST_FRAMES];
};

/* Into the caches: what a document holds stands in it as the stream has it, so what is needed soon stands behind the container or
 * object at hand.  It may be that nothing does, which a prefetch does not mind. */
static inline void fetch_ahead(const void *at) {
    enum { LINE = 64, LINES = 4, AHEAD = 512 };
    for (uintptr_t i = 0; i < LINES; i++) {
        const uintptr_t line = (uintptr_t)at + AHEAD + i * LINE;
        __builtin_prefetch((const void *)line);
    }
}

/* No room for working storage: RefusedError of the budget, or MemoryError. */
bool refuse_memory(struct call *c);
/* What is built would take more memory than the policy allows. */
bool refuse_too_large(struct call *c);
/* Hold a reference (taken, also on failure) until the build ends. */
bool keep(struct call *c, PyObject *object);

/* build.c */
bool heap_push(struct call *c, struct heap *h, struct entry e); /* takes e.into, also on failure */
void gc_stop(struct builder *b);                                /* until the build ends */
/* Is nothing done between the call of `o`, which is being done, and its BUILD? */
bool nothing_before_state(const struct call *c, const struct object *o);

/* value.c.  Make what is no scalar: a new reference, or NULL, and builder->opened says how many frames were
 * opened for it; 0: an exception is set. */
PyObject *value_other(struct call *c, struct upk_value v, bool in_tuple);
/* A container, as value_other. */
PyObject *value_container(struct call *c, struct upk_cell *cell, bool in_tuple);
/* What was opened, filled. */
PyObject *value_fill(struct call *c);
/* A frame for a container that is there and empty; NULL: an exception is set. */
struct frame *frame_open(struct call *c, struct upk_cell *cell, PyObject *into);
/* Containers of one member each: the innermost, whose member is made (taken), and those around it, by way of `host`. */
PyObject *chain_close(struct call *c, const struct upk_cell *innermost, PyObject *member);
PyObject *container_apart(const struct upk_cell *cell); /* empty, with room for its members */
/* May code run while this list, tuple or set is filled?  Then it is hidden from the garbage collector meanwhile.  Members that hold others
 * may have keys to hash, find_class is asked for a global and `__buffer__` for a view of a buffer, and in the midst of large ones
 * signals are looked at. */
static inline bool is_hidden(const struct upk_cell *cell) {
    return cell->flags & (CELL_HAS_CELL | CELL_ODD) || cell->len >= SIGNALS;
}
static inline void set_size(PyObject *object, Py_ssize_t n) { ((PyVarObject *)object)->ob_size = n; }
bool remember(struct call *c, struct upk_cell *cell, PyObject *made);
void share_members(struct upk_cell *cell);

/* pattern.c.  What a dict that has a number begins as; NULL: an exception is set. */
const struct dict_pattern *pattern_find(struct call *c, const struct upk_cell *dict);
void patterns_free(struct call *c);

/* fill.c.  Fill all that is open above `base`.  *root is what the outermost frame made, a new reference, unless that stands where
 * it belongs. */
bool fill_open(struct call *c, size_t base, PyObject **root);
/* Fill a container of few members, none of which holds others.  Its frame is nowhere else. */
bool fill_flat(struct call *c, struct frame *f);
bool look_at_signals(struct builder *b); /* when `until_signals` is 0 */
/* Fill a container that was made empty because the stream filled it later: at once, code that runs meanwhile finds it empty. */
bool fill_waiting(struct call *c, struct upk_cell *cell, PyObject *into);

/* text.c.  Each gives a new reference. */
struct usual *usual_of(struct host *h); /* NULL: MemoryError is set */
PyObject *usual_int(struct usual *u, int64_t i);
PyObject *text_str(struct call *c, struct upk_value v); /* STR */
/* STR, of a dict that is small enough to be one of many alike; not found by place_find */
PyObject *text_key(struct call *c, struct upk_value v);
/* Where what was made of this place lately would stand. */
static inline struct place *place_of(struct usual *u, struct upk_value v) {
    const uint64_t h = (uint64_t)(uintptr_t)v.as.bytes * UINT64_C(0x9e3779b97f4a7c15);
    return &u->places[(h >> 55) % USUAL_PLACES];
}
/* What was made of it, a new reference; NULL: it is not there. */
static inline PyObject *place_find(const struct builder *b, struct usual *u, struct upk_value v) {
    const struct place *const p = place_of(u, v);
    if (p->at != v.as.bytes || p->build != b->build || p->len != v.len || p->kind != v.kind) return NULL;
    Py_INCREF(p->made);
    return p->made;
}
PyObject *text_other(struct call *c, struct upk_value v); /* STR8, BYTES, BIGINT */

static inline PyObject *value_int(struct usual *usual, int64_t i) {
    const uint64_t place = (uint64_t)i - (uint64_t)USUAL_INT_LEAST;
    if (place >= USUAL_INTS) return PyLong_FromLongLong(i);
    PyObject *const made = usual->ints[place];
    if (!made) return usual_int(usual, i);
    Py_INCREF(made);
    return made;
}

/* STR, as text_key. */
static inline PyObject *value_key(struct call *c, struct usual *usual, struct upk_value v) {
    PyObject *const made = v.flags & VALUE_SHARED ? place_find(c->builder, usual, v) : NULL;
    return made ? made : text_key(c, v);
}

/* Any value; scalars in line.  As value_other. */
static inline PyObject *value_make(struct call *c, struct usual *usual, struct upk_value v, bool in_tuple) {
    PyObject *made;
    switch (v.kind) {
    case UPK_STR: return text_str(c, v);
    case UPK_INT: return value_int(usual, v.as.i);
    case UPK_FLOAT: return PyFloat_FromDouble(v.as.f);
    case UPK_NONE: made = Py_None; break;
    case UPK_BOOL: made = v.as.i ? Py_True : Py_False; break;
    default:
        return kind_is_container(v.kind) ? value_container(c, v.as.cell, in_tuple)
                                         : value_other(c, v, in_tuple);
    }
    Py_INCREF(made);
    return made;
}

/* As build_value, in line. */
static inline PyObject *value_whole(struct call *c, struct upk_value v) {
    struct builder *const b = c->builder;
    PyObject *const made = value_make(c, b->usual, v, false);
    return made || !b->opened ? made : value_fill(c);
}

/* hashes.c.  So many keys of a dict or members of a set may have one hash, no more. */
enum { MOST_OF_ONE_HASH = 64 };
/* May keys of this dict or members of this set have many times one hash?  (object.c asks too.) */
bool hashes_doubtful(const struct upk_cell *cell);
/* Refuse where more than 64 of the members of a tuple have. */
bool hashes_check(struct call *c, PyObject *keys);

#endif
