/* An accepted document becomes objects.
 *
 * Calls, BUILDs and persistent ids are done in the order in which they stand in the stream, also those whose object is not part of
 * the value.  Between two of them nothing is done but what they and the rules below ask for:
 *
 *  - What a stream puts into an object (items, pairs, adds) goes in at once, where it puts in the last of them.  Of several objects
 *    that are grown between the same two steps the one that was made last comes first: it is inside the others.
 *  - Containers are made when something needs them (value.c): complete, if the stream had filled them by then.  Else they are
 *    empty until it has; no code is shown them half full.
 *
 * So code of a class finds what it would find in CPython, but for containers and objects that are still growing.
 * Layer: see build.h.
 */
#include "build.h"

enum { OBJECT_BYTES = 160 }; /* about what an instance takes */

/* ---- refusals */

bool refuse_too_large(struct call *c) {
    struct upk_error err;
    error_set(&err, UPK_ERR_BUDGET, 0, 0);
    err.budget = UPK_BUDGET_MEMORY;
    err.limit = c->guard->policy->budgets[UPK_BUDGET_MEMORY];
    err.figure = c->builder->memory;
    error_policy(&err, c->guard->policy);
    (void)refused(c->guard->host, &err);
    return false;
}

bool refuse_memory(struct call *c) {
    if (c->doc->mem.over_cap) return refuse_too_large(c);
    (void)PyErr_NoMemory();
    return false;
}

/* ---- what is held until the end */

bool keep(struct call *c, PyObject *object) {
    struct builder *const b = c->builder;
    if (!object) return false;
    PyObject **const to =
        array_room(&c->doc->mem, b->kept, &b->kept_room, b->kept_count + 1, sizeof(PyObject *));
    if (!to) {
        Py_DECREF(object);
        return refuse_memory(c);
    }
    b->kept = to;
    b->kept[b->kept_count++] = object;
    return true;
}

/* ---- the heap */

static bool entry_less(const struct entry *a, const struct entry *b) {
    return a->when != b->when ? a->when < b->when : a->then > b->then;
}

bool heap_push(struct call *c, struct heap *h, struct entry e) {
    struct entry *const at = array_room(&c->doc->mem, h->entries, &h->room, h->count + 1, sizeof *at);
    if (!at) {
        Py_XDECREF(e.into);
        return refuse_memory(c);
    }
    h->entries = at;
    size_t i = h->count++;
    for (; i && entry_less(&e, &at[(i - 1) / 2]); i = (i - 1) / 2) at[i] = at[(i - 1) / 2];
    at[i] = e;
    return true;
}

static struct entry heap_pop(struct heap *h) {
    struct entry *const at = h->entries, top = at[0], last = at[--h->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && entry_less(&at[child + 1], &at[child])) child++;
        if (!entry_less(&at[child], &last)) break;
        at[i] = at[child];
    }
    at[i] = last;
    return top;
}

static void heap_free(struct call *c, struct heap *h) {
    for (size_t i = 0; i < h->count; i++) Py_XDECREF(h->entries[i].into);
    array_free(&c->doc->mem, h->entries, h->room, sizeof *h->entries);
}

/* ---- the garbage collector
 *
 * Very many containers at once would be looked through again and again while they are made, and none of them is garbage. */

void gc_stop(struct builder *b) {
#if PY_VERSION_HEX >= 0x030a0000
    if (!b->gc_stopped) b->gc_stopped = PyGC_Disable();
#else
    (void)b;
#endif
}

static void gc_restore(const struct builder *b) {
#if PY_VERSION_HEX >= 0x030a0000
    if (b->gc_stopped) (void)PyGC_Enable();
#else
    (void)b;
#endif
}

/* ---- steps */

/* When it is to be grown; 0: it has nothing to grow by. */
static bool grows(const struct object *o, uint64_t *when) {
    const struct object_more *const more = o->more;
    *when = 0;
    if (!more) return false;
    const struct upk_cell *const cells[] = {more->items, more->pairs, more->adds};
    bool some = more->base && more->base->len;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        if (!cells[i] || !cells[i]->len) continue;
        some = true;
        if (cells[i]->index > *when) *when = cells[i]->index;
    }
    return some;
}

/* What was due when as many calls and BUILDs were done as are now.  Few streams have any: not in line. */
__attribute__((noinline)) static bool do_waiting(struct call *c) {
    struct builder *const b = c->builder;
    while (b->waiting.count && b->waiting.entries[0].when <= b->done) {
        const struct entry e = heap_pop(&b->waiting);
        const bool good = e.into ? fill_waiting(c, e.cell, e.into) : object_grow(c, as_object(e.cell));
        Py_XDECREF(e.into);
        if (!good) return false;
    }
    return true;
}

static inline bool step_done(struct call *c) {
    struct builder *const b = c->builder;
    b->done++;
    if (b->until_signals) b->until_signals--;
    return (b->until_signals || look_at_signals(b)) && (!b->waiting.count || do_waiting(c));
}

/* What is taken apart for one object and used elsewhere has the same members in both places. */
static void share_parts(struct upk_cell *cell) {
    if (cell && cell->flags & CELL_SHARED) share_members(cell);
}

static void share_state(struct upk_value v) {
    v = value_resolve(v);
    if (!kind_is_container(v.kind)) return;
    share_parts(v.as.cell);
    for (uint32_t i = 0; v.kind == UPK_TUPLE && i < v.as.cell->len; i++) {
        const struct upk_value part = value_resolve(v.as.cell->items[i]);
        if (kind_is_container(part.kind)) share_parts(part.as.cell);
    }
}

static bool do_state(struct call *c, struct object *o) {
    /* A partial that N8 used up has a state that nothing is to get. */
    if (o->cell.index == UPK_VERB_NONE || o->cell.flags & OBJECT_WHOLE) return step_done(c);
    c->builder->dtype = NULL;
    share_state(o->state);
    return object_set_state(c, o) && step_done(c);
}

static uint64_t state_at(const struct builder *b) {
    return b->states.count ? b->states.entries[0].when : UINT64_MAX;
}

/* Of the objects in between those that spell values do nothing. */
bool nothing_before_state(const struct call *c, const struct object *o) {
    const struct builder *const b = c->builder;
    const struct object *next = o->next;
    while (next && next->at < o->built_at && next->cell.flags & CELL_NORMAL) next = next->next;
    return o->built_at && o->built_at < state_at(b) && (!next || o->built_at < next->at) &&
           (!b->persids || o->built_at < b->persids->at);
}

/* A call; its BUILD too, where that is the next step of the stream. */
static bool do_call(struct call *c, struct object *o, uint64_t next_at) {
    struct builder *const b = c->builder;
    const bool spells = o->cell.flags & CELL_NORMAL;
    if (!spells && o->cell.index != UPK_VERB_NONE) {
        b->memory += OBJECT_BYTES;
        if (b->memory > b->most_memory) return refuse_too_large(c);
        share_parts(object_args(o));
        if (o->more) share_parts(o->more->base);
        PyObject *const made = object_make(c, o);
        if (!made) return false;
        o->cell.host = made;
        o->cell.flags |= OBJECT_HOSTED;
        b->held++;
        uint64_t when;
        if (grows(o, &when) && !heap_push(c, &b->waiting, (struct entry){when, o->at, &o->cell, NULL}))
            return false;
    }
    if (!step_done(c)) return false;
    if (!o->built_at) return true;
    if (o->built_at < next_at && o->built_at < state_at(b)) return do_state(c, o);
    return heap_push(c, &b->states, (struct entry){o->built_at, 0, &o->cell, NULL});
}

static bool do_persid(struct call *c, struct persid *p) {
    if (!c->persistent_load)
        return refuse_object(c, NULL, UPK_ERR_PERSID_REFUSED, "no persistent_load is given");
    PyObject *const id = build_value(c, p->cell.items[0]);
    if (!id) return false;
    PyObject *const made = PyObject_CallFunctionObjArgs(c->persistent_load, id, NULL);
    Py_DECREF(id);
    if (!made) return refuse_exception(c, NULL, "persistent_load");
    if (!keep(c, made)) return false;
    p->cell.host = made;
    p->cell.flags |= CELL_HOSTED;
    return true;
}

static bool do_steps(struct call *c) {
    struct builder *const b = c->builder;
    struct object *o = c->doc->objects;
    b->persids = c->doc->persids;
    while (o || b->persids || b->states.count) {
        struct persid *const p = b->persids;
        const uint64_t call_at = o ? o->at : UINT64_MAX, persid_at = p ? p->at : UINT64_MAX;
        if (state_at(b) < call_at && state_at(b) < persid_at) {
            if (!do_state(c, as_object(heap_pop(&b->states).cell))) return false;
        } else if (persid_at < call_at) {
            if (!do_persid(c, p)) return false;
            b->persids = p->next;
        } else {
            struct object *const next = o->next;
            fetch_ahead(next);
            const uint64_t next_at = next && next->at < persid_at ? next->at : persid_at;
            if (!do_call(c, o, next_at)) return false;
            o = next;
        }
    }
    return true;
}

/* ---- the whole */

const struct upk_cell *build_at(const struct call *c) {
    const struct builder *const b = c->builder;
    return b && b->frame_count ? b->frames[b->frame_count - 1].cell : NULL;
}

static void release(struct call *c) {
    struct builder *const b = c->builder;
    struct mem *const mem = &c->doc->mem;
    gc_restore(b);
    if (b->waiting.room) heap_free(c, &b->waiting);
    if (b->states.room) heap_free(c, &b->states);
    for (struct object *o = c->doc->objects; b->held; o = o->next) {
        if (!(o->cell.flags & OBJECT_HOSTED)) continue;
        b->held--;
        Py_DECREF((PyObject *)o->cell.host);
    }
    for (size_t i = 0; i < b->kept_count; i++) Py_DECREF(b->kept[i]);
    for (size_t i = 0; b->readonly && i < c->buffer_count; i++) Py_XDECREF(b->readonly[i]);
    if (b->patterns) patterns_free(c);
    if (b->kept) array_free(mem, b->kept, b->kept_room, sizeof(PyObject *));
    if (b->readonly) array_free(mem, b->readonly, c->buffer_count, sizeof(PyObject *));
    if (b->later) array_free(mem, b->later, b->later_room, sizeof *b->later);
    if (b->frames != b->first_frames) array_free(mem, b->frames, b->frame_room, sizeof *b->frames);
    for (size_t i = 0; i < sizeof b->texts / sizeof *b->texts; i++) {
        if (b->texts[i].slots) pair_free(&b->texts[i], mem);
    }
    c->builder = NULL;
}

PyObject *build_document(struct call *c) {
    struct upk_doc *const doc = c->doc;
    struct builder b;
    mem_clear(&b, offsetof(struct builder, first_frames));
    b.usual = usual_of(c->guard->host);
    if (!b.usual) return NULL;
    b.build = ++b.usual->builds;
    b.frames = b.first_frames;
    b.frame_room = FIRST_FRAMES;
    b.until_signals = SIGNALS;
    b.most_memory = c->guard->policy->budgets[UPK_BUDGET_MEMORY];
    c->builder = &b;
    /* The root may be what others hold, or it itself; also where it stands there as a call. */
    if (kind_has_cell(doc->root.kind) && doc->root.as.cell->flags & CELL_ABSORBED)
        doc->root.as.cell->flags |= CELL_SHARED;
    if (doc->events >= MANY_CONTAINERS) gc_stop(&b);
    b.stepped = do_steps(c);
    PyObject *const root = b.stepped ? build_value(c, doc->root) : NULL;
    assert(!root || !b.waiting.count); /* at the end of the stream nothing waits */
    release(c);
    return root;
}
