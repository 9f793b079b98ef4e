/* Values: what stands in the document becomes an object of Python; containers are opened here, and filled in fill.c.
 *
 * Layer: see build.h.
 */
#include "build.h"

enum {
    PRESIZE = 6,       /* pairs from which an empty dict's table is too small */
    LARGE_STEPS = 512, /* frames up to which their array grows to four times its size */
    FIXED_KINDS = 1 << UPK_TUPLE | 1 << UPK_FROZENSET,
    KEYED_KINDS = 1 << UPK_DICT | 1 << UPK_SET | 1 << UPK_FROZENSET
};

/* ---- frames */

static bool frames_grow(struct call *c) {
    struct builder *const b = c->builder;
    const bool first = b->frames == b->first_frames;
    size_t room = first ? 0 : b->frame_room;
    /* Few moves where many frames are likely to follow. */
    const size_t need = b->frame_count < LARGE_STEPS ? 4 * b->frame_count : b->frame_count + 1;
    struct frame *const to = array_room(&c->doc->mem, first ? NULL : b->frames, &room, need, sizeof *to);
    if (!to) return refuse_memory(c);
    if (first) memcpy(to, b->first_frames, sizeof b->first_frames);
    b->frames = to;
    b->frame_room = room;
    return true;
}

static PyObject *tuple_hidden(uint32_t n) {
    PyObject *const tuple = PyTuple_New((Py_ssize_t)n);
    if (tuple && n) PyObject_GC_UnTrack(tuple);
    return tuple;
}

/* Member by member: a struct that is assigned whole is written small to the stack and read back large, for which the processor
 * waits; that was a tenth of the time of nested containers. */
static inline void frame_set(struct frame *f, struct upk_cell *cell, PyObject *into) {
    f->cell = cell;
    f->into = into;
    f->key = NULL;
    f->keys = NULL;
    f->next = 0;
    f->end = cell->len < SIGNALS ? cell->len : SIGNALS;
    f->kind = cell->kind;
    f->apart = false;
}

/* Keys first, so that they can be looked at before any of them is in its place. */
static bool frame_keys(struct frame *f) {
    f->keys = tuple_hidden(f->cell->kind == UPK_DICT ? f->cell->len / 2 : f->cell->len);
    f->kind = UPK_INVALID;
    return f->keys != NULL;
}

static inline struct frame *frame_push(struct call *c, struct upk_cell *cell, PyObject *into) {
    struct builder *const b = c->builder;
    if (b->frame_count == b->frame_room && !frames_grow(c)) return NULL;
    struct frame *const f = &b->frames[b->frame_count];
    frame_set(f, cell, into);
    if (cell->len > MOST_OF_ONE_HASH && KEYED_KINDS >> cell->kind & 1 && hashes_doubtful(cell) &&
        !frame_keys(f))
        return NULL;
    b->frame_count++;
    return f;
}

struct frame *frame_open(struct call *c, struct upk_cell *cell, PyObject *into) {
    return frame_push(c, cell, into);
}

static bool later_push(struct call *c, struct upk_cell *cell, PyObject *into) {
    struct builder *const b = c->builder;
    struct frame *const to =
        array_room(&c->doc->mem, b->later, &b->later_room, b->later_count + 1, sizeof *to);
    if (!to) return refuse_memory(c);
    b->later = to;
    frame_set(&to[b->later_count++], cell, into);
    return true;
}

/* ---- containers */

static PyObject *list_new(const struct upk_cell *cell, uint32_t n) {
    PyObject *const list = PyList_New((Py_ssize_t)n);
    if (!list) return NULL;
    set_size(list, 0);
    if (n && is_hidden(cell)) PyObject_GC_UnTrack(list);
    return list;
}

static PyObject *dict_new(uint32_t n) {
#if PY_VERSION_HEX < 0x030e0000
    extern PyObject *_PyDict_NewPresized(Py_ssize_t);
    if (n >= PRESIZE) return _PyDict_NewPresized((Py_ssize_t)n);
#endif
    return PyDict_New();
}

/* About what CPython 3.11 takes for the cell's members. */
static inline uint64_t container_bytes(const struct upk_cell *cell) {
    const uint64_t n = cell->len;
    switch (cell->kind) {
    case UPK_DICT: return n == 0 ? 64 : n < 2 * PRESIZE ? 232 : 64 + 28 * n;
    case UPK_LIST: return 56 + 8 * n;
    case UPK_TUPLE: return 40 + 8 * n;
    default: return n < 5 ? 216 : 216 + 64 * n;
    }
}

/* Empty; n of its members will go in. */
static inline PyObject *set_new(const struct upk_cell *cell, uint32_t n) {
    PyObject *const set = cell->kind == UPK_SET ? PySet_New(NULL) : PyFrozenSet_New(NULL);
    if (set && n && is_hidden(cell)) PyObject_GC_UnTrack(set);
    return set;
}

/* With room for n of the cell's `items`. */
static inline PyObject *container_new(const struct upk_cell *cell, uint32_t n) {
    switch (cell->kind) {
    case UPK_DICT: return dict_new(n / 2);
    case UPK_LIST: return list_new(cell, n);
    case UPK_TUPLE: return is_hidden(cell) ? tuple_hidden(n) : PyTuple_New((Py_ssize_t)n);
    default: return set_new(cell, n);
    }
}

PyObject *container_apart(const struct upk_cell *cell) { return container_new(cell, cell->len); }

/* One more container, as large as it will be. */
static inline bool container_count(struct call *c, const struct upk_cell *cell) {
    struct builder *const b = c->builder;
    b->memory += container_bytes(cell);
    if (++b->containers == MANY_CONTAINERS) gc_stop(b);
    return b->memory <= b->most_memory || refuse_too_large(c);
}

bool remember(struct call *c, struct upk_cell *cell, PyObject *made) {
    Py_INCREF(made);
    if (!keep(c, made)) return false;
    cell->host = made;
    cell->flags |= CELL_HOSTED;
    return true;
}

/* One container for all that refer to it, and what it holds too: `cell` may be taken apart as well as made. */
void share_members(struct upk_cell *cell) {
    if (!(cell->flags & CELL_HAS_CELL)) return;
    for (uint32_t i = 0; i < cell->len; i++) {
        if (kind_has_cell(cell->items[i].kind)) cell->items[i].as.cell->flags |= CELL_SHARED;
    }
}

static PyObject *hosted(const struct upk_cell *cell) {
    PyObject *const made = cell->host;
    Py_INCREF(made);
    return made;
}

/* A container that the stream fills later: empty until then. */
static PyObject *container_waiting(struct call *c, struct upk_cell *cell) {
    if (!container_count(c, cell)) return NULL;
    PyObject *const made = container_new(cell, 0);
    if (!made) return NULL;
    Py_INCREF(made);
    const struct entry e = {cell->index, UINT64_MAX, cell, made};
    if (heap_push(c, &c->builder->waiting, e) && remember(c, cell, made)) return made;
    Py_DECREF(made);
    return NULL;
}

/* ---- chains
 *
 * A list or dict of one member is made when that is there, so those that stand one within the other need one frame together, or
 * none.  None of them is ever found empty. */

static inline bool is_single(const struct builder *b, const struct upk_cell *cell) {
    if ((cell->flags & (CELL_HOSTED | CELL_SHARED | CELL_HAS_CELL)) != CELL_HAS_CELL || cell->index > b->done)
        return false;
    if (cell->kind == UPK_LIST) return cell->len == 1;
    return cell->kind == UPK_DICT && cell->len == 2 && cell->items[0].kind == UPK_STR;
}

/* Takes the reference to the member. */
static inline PyObject *single_new(struct call *c, const struct upk_cell *cell, PyObject *member) {
    struct builder *const b = c->builder;
    const bool is_list = cell->kind == UPK_LIST;
    b->until_signals -= b->until_signals != 0;
    PyObject *const made = !container_count(c, cell) ? NULL : is_list ? PyList_New(1) : PyDict_New();
    if (made && is_list) {
        PyList_SET_ITEM(made, 0, member);
        return made;
    }
    PyObject *const key = made ? value_key(c, b->usual, cell->items[0]) : NULL;
    const bool good = key && (PyDict_SetItem(made, key, member) == 0 || refuse_exception(c, NULL, NULL));
    Py_XDECREF(key);
    Py_DECREF(member);
    if (good) return made;
    Py_XDECREF(made);
    return NULL;
}

PyObject *chain_close(struct call *c, const struct upk_cell *innermost, PyObject *member) {
    struct builder *const b = c->builder;
    for (const struct upk_cell *cell = innermost; cell && member; cell = cell->host) {
        member = single_new(c, cell, member);
        if (!b->until_signals && member && !look_at_signals(b)) Py_CLEAR(member);
    }
    return member;
}

static PyObject *container_make(struct call *c, struct upk_cell *cell, bool in_tuple);

static PyObject *chain_make(struct call *c, struct upk_cell *outermost) {
    struct builder *const b = c->builder;
    struct upk_cell *cell = outermost;
    struct upk_value member = cell->items[cell->len - 1];
    cell->host = NULL;
    while (kind_is_container(member.kind) && is_single(b, member.as.cell)) {
        member.as.cell->host = cell;
        cell = member.as.cell;
        member = cell->items[cell->len - 1];
    }
    struct frame *f = frame_push(c, cell, NULL);
    if (!f) return NULL;
    f->kind = CHAIN;
    f->next = f->end = cell->len;
    /* A spelling may stand for a container, but for none of these. */
    PyObject *const made = kind_is_container(member.kind) ? container_make(c, member.as.cell, false)
                                                          : value_other(c, member, false);
    if (b->opened) {
        b->opened++;
        return NULL;
    }
    b->frame_count--;
    return made ? chain_close(c, cell, made) : NULL;
}

PyObject *value_container(struct call *c, struct upk_cell *cell, bool in_tuple) {
    return !in_tuple && is_single(c->builder, cell) ? chain_make(c, cell) : container_make(c, cell, in_tuple);
}

/* ---- one container */

static PyObject *container_make(struct call *c, struct upk_cell *cell, bool in_tuple) {
    struct builder *const b = c->builder;
    const unsigned flags = cell->flags;
    if (flags & CELL_HOSTED) return hosted(cell);
    fetch_ahead(cell);
    const bool changes = !(FIXED_KINDS >> cell->kind & 1);
    if (flags & CELL_SHARED && flags & CELL_FROZEN) share_members(cell);
    if (changes && cell->index > b->done && cell->len) return container_waiting(c, cell);
    /* While it is not there yet: a refusal makes an exception, at which the collector may run code. */
    if (!container_count(c, cell)) return NULL;
    const struct dict_pattern *pattern = NULL;
    if (cell->kind == UPK_DICT && cell->op && !(pattern = pattern_find(c, cell))) return NULL;
    PyObject *const made = pattern ? PyDict_Copy(pattern->dict) : container_new(cell, cell->len);
    if (!made) return NULL;
    struct frame *f;
    bool good = !(flags & CELL_SHARED) || !changes || remember(c, cell, made);
    if (good && cell->len <= MOST_OF_ONE_HASH && !(flags & CELL_HAS_CELL)) {
        if (!cell->len) return made;
        struct frame flat;
        frame_set(&flat, cell, made);
        if (pattern) flat.keys = pattern->keys; /* borrowed: the builder has them until the build ends */
        if (fill_flat(c, &flat)) return made;
        good = false;
    }
    if (changes && in_tuple) {
        if (good && later_push(c, cell, made)) {
            Py_INCREF(made);
            return made;
        }
    } else if (good && (f = frame_push(c, cell, made))) {
        if (pattern) {
            Py_INCREF(pattern->keys);
            f->keys = pattern->keys;
        }
        b->opened = 1;
        return NULL;
    }
    Py_DECREF(made);
    return NULL;
}

/* ---- what is no container */

static PyObject *make_bytearray(struct call *c, struct upk_cell *cell) {
    if (cell->flags & CELL_HOSTED) return hosted(cell);
    PyObject *const made =
        PyByteArray_FromStringAndSize((const char *)as_bytearray(cell)->bytes, (Py_ssize_t)cell->len);
    if (made && !remember(c, cell, made)) { /* nobody counts how often it is used */
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

/* The object that the host gave; behind READONLY_BUFFER a view of it, unless nobody can write to it anyway. */
static PyObject *readonly_view(PyObject *given) {
    PyObject *const view = PyMemoryView_FromObject(given);
    if (!view) return NULL;
    PyObject *made = given;
    if (PyMemoryView_GET_BUFFER(view)->readonly) {
        Py_INCREF(made);
    } else {
        made = PyObject_CallMethod(view, "toreadonly", NULL);
    }
    Py_DECREF(view);
    return made;
}

static PyObject *make_buffer(struct call *c, struct upk_value v) {
    struct builder *const b = c->builder;
    const size_t i = (size_t)v.as.i;
    PyObject *made = c->buffers[i];
    if (v.flags & VALUE_READONLY) {
        const size_t size = c->buffer_count * sizeof(PyObject *);
        if (!b->readonly) {
            b->readonly = mem_resize(&c->doc->mem, NULL, 0, size);
            if (!b->readonly) {
                (void)refuse_memory(c);
                return NULL;
            }
            memset(b->readonly, 0, size);
        }
        if (!b->readonly[i] && !(b->readonly[i] = readonly_view(made))) {
            (void)refuse_exception(c, NULL, "a view of a buffer");
            return NULL;
        }
        made = b->readonly[i];
    }
    Py_INCREF(made);
    return made;
}

/* The machine and the order of build.c rule that out. */
__attribute__((cold)) static PyObject *refuse_order(struct call *c) {
    (void)refuse_object(c, NULL, UPK_ERR_BUILDING, "an object is used before it is made");
    return NULL;
}

static PyObject *make_persid(struct call *c, const struct upk_cell *cell) {
    return cell->flags & CELL_HOSTED ? hosted(cell) : refuse_order(c);
}

/* In the end the document's own reference goes to the only one that asks: many objects are far from the caches by then, and are
 * not touched again. */
static PyObject *make_object(struct call *c, struct upk_cell *cell) {
    if (!(cell->flags & OBJECT_HOSTED)) return refuse_order(c);
    if (cell->flags & CELL_SHARED || !c->builder->stepped) return hosted(cell);
    cell->flags &= (uint16_t)~OBJECT_HOSTED;
    c->builder->held--;
    return cell->host;
}

/* A spelling that is used more than once is one object, but only its call knows. */
static struct upk_value resolve(struct upk_value v) {
    struct upk_value r = value_resolve(v);
    if (v.as.cell->flags & CELL_SHARED) {
        if (kind_has_cell(r.kind)) {
            r.as.cell->flags |= CELL_SHARED;
        } else {
            r.flags |= VALUE_SHARED;
        }
    }
    return r;
}

PyObject *value_other(struct call *c, struct upk_value v, bool in_tuple) {
    if (v.kind == UPK_OBJECT) {
        if (!(v.as.cell->flags & CELL_NORMAL)) return make_object(c, v.as.cell);
        v = resolve(v);
    }
    switch ((enum upk_kind)v.kind) {
    case UPK_TUPLE:
    case UPK_FROZENSET:
    case UPK_LIST:
    case UPK_DICT:
    case UPK_SET: return value_container(c, v.as.cell, in_tuple);
    case UPK_STR8:
    case UPK_BYTES:
    case UPK_BIGINT: return text_other(c, v);
    case UPK_BYTEARRAY: return make_bytearray(c, v.as.cell);
    case UPK_BUFFER: return make_buffer(c, v);
    case UPK_PERSID: return make_persid(c, v.as.cell);
    case UPK_GLOBAL: {
        PyObject *const named = bind_global(c, v.as.cell);
        Py_XINCREF(named);
        return named;
    }
    case UPK_INVALID:
    case UPK_NONE:
    case UPK_BOOL:
    case UPK_INT:
    case UPK_FLOAT:
    case UPK_STR:
    case UPK_EXT:
    case UPK_OBJECT: break; /* in line above; EXT is not under a policy */
    }
    (void)refuse_object(c, NULL, UPK_ERR_BUILDING, "no value of kind %u", (unsigned)v.kind);
    return NULL;
}

PyObject *value_fill(struct call *c) {
    PyObject *made;
    const size_t base = c->builder->frame_count - c->builder->opened;
    c->builder->opened = 0;
    (void)fill_open(c, base, &made);
    return made;
}

PyObject *build_value(struct call *c, struct upk_value v) { return value_whole(c, v); }
