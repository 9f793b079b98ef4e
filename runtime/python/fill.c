/* Containers are filled.
 *
 * An explicit stack holds those that are open, so depth costs memory only.  A list, dict or set that is found in an open tuple is
 * made empty, and filled when the outermost open tuple is full: tuples are then never met while they are open, whatever cycles
 * there are.  What the stream fills later than the point that is being built (`index` of its cell) is made empty too and waits for
 * that point; what arguments, keys and members reach never does (rule 9 of docs/runtime.md).
 * While code may run and a list, tuple or set is open, the garbage collector does not know it, so that nothing finds it half full.
 * A dict cannot be hidden: CPython shows it with the first member that the collector has to know.
 * Layer: see build.h.
 */
#include "build.h"

#define INLINE __attribute__((always_inline)) static inline

enum { SMALL_DICT = 64 /* pairs of a dict whose keys are cached */ };

enum step { STEP_FULL, STEP_OPENED, STEP_PAUSED, STEP_FAILED };

/* ---- one container, as far as it goes without another */

/* Below those that were opened.  All frames may have moved. */
static inline struct frame *frame_below(const struct builder *b) {
    return &b->frames[b->frame_count - 1 - b->opened];
}

/* What a maker's NULL means: the frame goes on at `next` when what was opened above it is full. */
static inline enum step step_inner(struct builder *b, uint32_t next) {
    if (!b->opened) return STEP_FAILED;
    frame_below(b)->next = next;
    b->opened = 0;
    return STEP_OPENED;
}

/* The frame is at its `end`: full, or at a place to look at signals. */
static inline enum step step_end(struct builder *b, struct frame *f, uint32_t at) {
    const uint32_t len = f->cell->len;
    f->next = at;
    if (at == len) return STEP_FULL;
    f->end = len - at < SIGNALS ? len : at + SIGNALS;
    b->until_signals = 0;
    return STEP_PAUSED;
}

/* Nothing but a key's code can have changed it, which is no reason to write where nothing is. */
static bool list_is_ours(struct call *c, const struct frame *f, uint32_t len) {
    const PyListObject *const list = (PyListObject *)f->into;
    if (Py_SIZE(f->into) == (Py_ssize_t)len && list->allocated >= (Py_ssize_t)f->cell->len) return true;
    return refuse_object(c, NULL, UPK_ERR_BUILDING, "code of the host changed a list that was being filled");
}

INLINE enum step fill_list(struct call *c, struct builder *b, struct frame *f) {
    struct usual *const usual = b->usual;
    PyObject *const into = f->into;
    const struct upk_value *const items = f->cell->items;
    const uint32_t end = f->end;
    if (!list_is_ours(c, f, f->next)) return STEP_FAILED;
    PyObject **const to = ((PyListObject *)into)->ob_item;
    for (uint32_t i = f->next; i < end; i++) {
        PyObject *const made = value_make(c, usual, items[i], false);
        if (!made) return step_inner(b, i + 1);
        to[i] = made;
        set_size(into, (Py_ssize_t)i + 1);
    }
    return step_end(b, f, end);
}

static enum step fill_tuple(struct call *c, struct builder *b, struct frame *f) {
    struct usual *const usual = b->usual;
    PyObject *const into = f->into;
    const struct upk_value *const items = f->cell->items;
    const uint32_t end = f->end;
    for (uint32_t i = f->next; i < end; i++) {
        PyObject *const made = value_make(c, usual, items[i], true);
        if (!made) return step_inner(b, i + 1);
        PyTuple_SET_ITEM(into, (Py_ssize_t)i, made);
    }
    return step_end(b, f, end);
}

/* The keys of a dict or members of a set, before it is filled. */
static enum step fill_keys(struct call *c, struct builder *b, struct frame *f) {
    struct usual *const usual = b->usual;
    PyObject *const into = f->keys;
    const struct upk_value *const items = f->cell->items;
    const uint32_t end = f->end, step = f->cell->kind == UPK_DICT ? 2 : 1;
    uint32_t i = f->next;
    for (; i < end; i += step) {
        PyObject *const made = value_make(c, usual, items[i], false);
        if (!made) return step_inner(b, i + step);
        PyTuple_SET_ITEM(into, (Py_ssize_t)(i / step), made);
    }
    return step_end(b, f, i);
}

/* Takes both references. */
static inline bool put_pair(struct call *c, PyObject *dict, PyObject *key, PyObject *value) {
    const bool good = PyDict_SetItem(dict, key, value) == 0;
    Py_DECREF(key);
    Py_DECREF(value);
    return good || refuse_exception(c, NULL, "hashing a key");
}

static inline PyObject *make_key(struct call *c, struct usual *usual, const struct frame *f, uint32_t i) {
    if (f->keys) {
        PyObject *const made = PyTuple_GET_ITEM(f->keys, (Py_ssize_t)(i / 2));
        Py_INCREF(made);
        return made;
    }
    const struct upk_value v = f->cell->items[i];
    if (v.kind != UPK_STR || f->cell->len > 2 * SMALL_DICT) return value_make(c, usual, v, false);
    return value_key(c, usual, v);
}

INLINE enum step fill_dict(struct call *c, struct builder *b, struct frame *f) {
    struct usual *const usual = b->usual;
    PyObject *const into = f->into;
    PyObject *key = f->key;
    const struct upk_value *const items = f->cell->items;
    const uint32_t end = f->end;
    uint32_t i = f->next;
    f->key = NULL;
    while (i < end || key) { /* a pair is not torn apart */
        if (!key) {
            key = make_key(c, usual, f, i++);
            if (!key) return step_inner(b, i);
        }
        PyObject *const value = value_make(c, usual, items[i++], false);
        if (!value) {
            if (b->opened) {
                frame_below(b)->key = key;
            } else {
                Py_DECREF(key);
            }
            return step_inner(b, i);
        }
        if (!put_pair(c, into, key, value)) return STEP_FAILED;
        key = NULL;
    }
    return step_end(b, f, i);
}

/* Takes the reference. */
static bool put_member(struct call *c, PyObject *set, PyObject *member) {
    const bool good = PySet_Add(set, member) == 0;
    Py_DECREF(member);
    return good || refuse_exception(c, NULL, "hashing a member");
}

static enum step fill_set(struct call *c, struct builder *b, struct frame *f) {
    struct usual *const usual = b->usual;
    PyObject *const into = f->into;
    const struct upk_value *const items = f->cell->items;
    const uint32_t end = f->end;
    for (uint32_t i = f->next; i < end; i++) {
        PyObject *made;
        if (f->keys) {
            made = PyTuple_GET_ITEM(f->keys, (Py_ssize_t)i);
            Py_INCREF(made);
        } else {
            made = value_make(c, usual, items[i], false);
            if (!made) return step_inner(b, i + 1);
        }
        if (!put_member(c, into, made)) return STEP_FAILED;
    }
    return step_end(b, f, end);
}

INLINE enum step fill(struct call *c, struct builder *b, struct frame *f) {
    switch (f->kind) {
    case UPK_DICT: return fill_dict(c, b, f);
    case UPK_LIST: return fill_list(c, b, f);
    case UPK_TUPLE: return fill_tuple(c, b, f);
    case UPK_INVALID: return fill_keys(c, b, f);
    case CHAIN: return STEP_FULL;
    default: return fill_set(c, b, f);
    }
}

/* ---- when a container is full */

/* What was made for the innermost open container, of which its frame's `next` is past.  Takes the reference. */
INLINE bool deliver(struct call *c, struct frame *f, PyObject *made) {
    const uint32_t i = f->next - 1;
    switch (f->kind) {
    case UPK_DICT: {
        PyObject *const key = f->key;
        f->key = key ? NULL : made;
        return !key || put_pair(c, f->into, key, made);
    }
    case UPK_LIST:
        if (!list_is_ours(c, f, i)) {
            Py_DECREF(made);
            return false;
        }
        ((PyListObject *)f->into)->ob_item[i] = made;
        set_size(f->into, (Py_ssize_t)i + 1);
        return true;
    case UPK_TUPLE: PyTuple_SET_ITEM(f->into, (Py_ssize_t)i, made); return true;
    case CHAIN: f->into = chain_close(c, f->cell, made); return f->into != NULL;
    case UPK_INVALID:
        PyTuple_SET_ITEM(f->keys, (Py_ssize_t)(f->cell->kind == UPK_DICT ? i / 2 : i), made);
        return true;
    default: return put_member(c, f->into, made);
    }
}

/* Has a dict or set as many members more as the stream says? */
static bool check_members(struct call *c, const struct upk_cell *cell, Py_ssize_t more) {
    const bool is_dict = cell->kind == UPK_DICT;
    if (more == (Py_ssize_t)(is_dict ? cell->len / 2 : cell->len)) return true;
    return refuse_object(c, NULL, UPK_ERR_BUILDING, "two %s are equal",
                         is_dict ? "keys of a dict" : "members of a set");
}

/* The keys are there: go on with the container itself. */
static bool keys_full(struct call *c, struct frame *f) {
    PyObject_GC_Track(f->keys);
    f->kind = f->cell->kind;
    f->next = 0;
    f->end = f->cell->len < SIGNALS ? f->cell->len : SIGNALS;
    return hashes_check(c, f->keys);
}

INLINE bool finish(struct call *c, struct frame *f) {
    const unsigned flags = f->cell->flags;
    switch (f->kind) {
    case UPK_DICT: return check_members(c, f->cell, PyDict_GET_SIZE(f->into));
    case UPK_LIST:
        if (is_hidden(f->cell)) PyObject_GC_Track(f->into);
        return true;
    case UPK_TUPLE:
        if (is_hidden(f->cell)) PyObject_GC_Track(f->into);
        return !(flags & CELL_SHARED) || remember(c, f->cell, f->into);
    case CHAIN: return true;
    default:
        if (is_hidden(f->cell)) PyObject_GC_Track(f->into);
        if (!check_members(c, f->cell, PySet_GET_SIZE(f->into))) return false;
        return f->kind == UPK_SET || !(flags & CELL_SHARED) || remember(c, f->cell, f->into);
    }
}

/* Open what stood in tuples that are full now, the first of them innermost. */
static bool open_later(struct call *c, struct builder *b) {
    while (b->later_count) {
        const struct frame *const from = &b->later[b->later_count - 1];
        struct frame *const to = frame_open(c, from->cell, from->into);
        if (!to) return false;
        to->apart = true;
        b->later_count--;
    }
    return true;
}

/* The innermost frame is full, and with it perhaps the next. */
INLINE bool close_frames(struct call *c, struct builder *b, size_t base, PyObject **root) {
    struct frame *f = &b->frames[b->frame_count - 1];
    do {
        if (f->kind == UPK_INVALID) return keys_full(c, f);
        if (!finish(c, f)) return false;
        PyObject *const made = f->into, *const keys = f->keys;
        const uint32_t len = f->cell->len;
        b->until_signals -= len < b->until_signals ? len : b->until_signals;
        b->frame_count--;
        Py_XDECREF(keys);
        if (f->apart) {
            Py_DECREF(made);
        } else if (b->frame_count == base) {
            *root = made;
        } else if (!deliver(c, f - 1, made)) {
            return false;
        }
        if (b->later_count && (b->frame_count == base || f[-1].kind != UPK_TUPLE)) return open_later(c, b);
        f--;
    } while (b->frame_count > base && f->next == f->cell->len);
    return true;
}

static void frame_release(struct frame *f) {
    Py_XDECREF(f->into);
    Py_XDECREF(f->key);
    Py_XDECREF(f->keys);
}

bool look_at_signals(struct builder *b) {
    b->until_signals = SIGNALS;
    return PyErr_CheckSignals() == 0;
}

bool fill_open(struct call *c, size_t base, PyObject **root) {
    struct builder *const b = c->builder;
    bool good = true;
    *root = NULL;
    while (good && b->frame_count > base) {
        const enum step step = fill(c, b, &b->frames[b->frame_count - 1]);
        if (step == STEP_FULL) {
            good = close_frames(c, b, base, root);
        } else {
            good = step != STEP_FAILED;
        }
        if (!b->until_signals) good = good && look_at_signals(b);
    }
    if (good) return true;
    while (b->later_count) frame_release(&b->later[--b->later_count]);
    while (b->frame_count > base) frame_release(&b->frames[--b->frame_count]);
    Py_CLEAR(*root);
    return false;
}

bool fill_flat(struct call *c, struct frame *f) {
    struct builder *const b = c->builder;
    b->until_signals -= f->end < b->until_signals ? f->end : b->until_signals;
    return fill(c, b, f) == STEP_FULL && finish(c, f);
}

/* All members of `whole`, which was filled, go into what was made empty; code may have put something there. */
static bool take_members(struct call *c, const struct upk_cell *cell, PyObject *into, PyObject *whole) {
    if (cell->kind == UPK_LIST) {
        const Py_ssize_t end = PyList_GET_SIZE(into);
        return PyList_SetSlice(into, end, end, whole) == 0;
    }
    if (cell->kind == UPK_DICT) {
        const Py_ssize_t before = PyDict_GET_SIZE(into);
        if (PyDict_Update(into, whole) != 0) return refuse_exception(c, NULL, "hashing a key");
        return check_members(c, cell, PyDict_GET_SIZE(into) - before);
    }
    const Py_ssize_t before = PySet_GET_SIZE(into);
    PyObject *const same = PyNumber_InPlaceOr(into, whole);
    if (!same) return refuse_exception(c, NULL, "hashing a member");
    Py_DECREF(same);
    return check_members(c, cell, PySet_GET_SIZE(into) - before);
}

bool fill_waiting(struct call *c, struct upk_cell *cell, PyObject *into) {
    PyObject *root, *const whole = container_apart(cell);
    if (!whole) return false;
    if (!frame_open(c, cell, whole)) {
        Py_DECREF(whole);
        return false;
    }
    if (!fill_open(c, c->builder->frame_count - 1, &root)) return false;
    const bool good = take_members(c, cell, into, root);
    Py_DECREF(root);
    return good;
}
