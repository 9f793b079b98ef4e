/* Exact depth and size of a graph in which something grew after it was used, so that the figures kept while
 * reading are not exact and cycles are possible: strongly connected components (Tarjan, with an explicit
 * stack), then one value each.
 *
 * A cell's `size` holds its number while this runs.  The number is believed only if the vertex of that
 * number is the cell, so that what stood in `size` before does no harm, and no table is needed.
 *
 * Layer: runtime, over children.c and scratch.c.
 */
#include "scratch.h"

struct vertex {
    struct upk_cell *cell;
    uint64_t size;
    uint32_t depth;
    uint32_t low; /* least number on the open path that it reaches; DONE: its component is complete */
};

enum { DONE = UINT32_MAX };

struct frame {
    uint32_t vertex;
    size_t next; /* ordinal of the child to look at */
};

struct measure {
    struct mem *mem;
    struct vertex *vertices; /* in the order in which they are met */
    size_t count, room;
    struct frame *frames;
    size_t frame_count, frame_room;
    uint32_t *open; /* vertices whose component is not complete, in order */
    size_t open_count, open_room;
    bool cyclic;
};

static struct vertex *known(const struct measure *m, const struct upk_cell *c) {
    if (c->size >= m->count || m->vertices[c->size].cell != c) return NULL;
    return &m->vertices[c->size];
}

static bool enter(struct measure *m, struct upk_cell *c) {
    if (m->count >= DONE) {
        m->mem->over_cap = true;
        return false;
    }
    struct vertex *v = array_room(m->mem, m->vertices, &m->room, m->count + 1, sizeof *v);
    if (!v) return false;
    m->vertices = v;
    uint32_t number = (uint32_t)m->count;
    v[m->count++] = (struct vertex){.cell = c, .low = number};
    c->size = number;
    struct frame *f = array_room(m->mem, m->frames, &m->frame_room, m->frame_count + 1, sizeof *f);
    if (!f) return false;
    m->frames = f;
    f[m->frame_count++] = (struct frame){.vertex = number};
    uint32_t *open = array_room(m->mem, m->open, &m->open_room, m->open_count + 1, sizeof *open);
    if (!open) return false;
    m->open = open;
    open[m->open_count++] = number;
    return true;
}

/* Look at the children of the newest frame until one is met for the first time (*child), else *child is
 * NULL. */
static void advance(struct measure *m, struct upk_cell **child) {
    struct frame *f = &m->frames[m->frame_count - 1];
    struct vertex *v = &m->vertices[f->vertex];
    struct children kids;
    cell_children(v->cell, true, &kids);
    size_t skip = f->next;
    for (unsigned s = 0; s < kids.count; s++) {
        size_t i = skip < kids.spans[s].len ? skip : kids.spans[s].len;
        skip -= i;
        for (; i < kids.spans[s].len; i++) {
            struct upk_value w = kids.spans[s].at[i];
            if (kind_is_compound(w.kind)) {
                const struct vertex *k = known(m, w.as.cell);
                if (!k) {
                    *child = w.as.cell;
                    return;
                }
                if (k->low != DONE && k->low < v->low) v->low = k->low;
            }
            f->next++;
        }
    }
    *child = NULL;
}

/* What one cell of a component adds: leaves and complete components outside, edges within. */
static void sum_up(struct measure *m, const struct vertex *v, uint64_t *size, uint32_t *depth,
                   uint64_t *within) {
    struct children kids;
    cell_children(v->cell, true, &kids);
    for (unsigned s = 0; s < kids.count; s++) {
        for (size_t i = 0; i < kids.spans[s].len; i++) {
            struct upk_value w = kids.spans[s].at[i];
            uint32_t below = 1;
            if (!kind_is_compound(w.kind)) {
                *size = add_saturated(*size, 1);
            } else {
                const struct vertex *k = known(m, w.as.cell);
                if (k->low != DONE) {
                    ++*within;
                    continue;
                }
                *size = add_saturated(*size, k->size);
                below = k->depth;
            }
            if (below > *depth) *depth = below;
        }
    }
}

/* The newest open vertices, from `at` on, are one component.  Of its edges within, one less than it has
 * cells reach a cell for the first time; each of the others counts as a value. */
static void complete(struct measure *m, size_t at) {
    uint64_t cells = m->open_count - at, size = cells, within = 0;
    uint32_t below = 0;
    for (size_t i = at; i < m->open_count; i++) sum_up(m, &m->vertices[m->open[i]], &size, &below, &within);
    if (within > 0) {
        m->cyclic = true;
        size = add_saturated(size, within - (cells - 1));
    }
    uint64_t depth = cells + below;
    for (size_t i = at; i < m->open_count; i++) {
        struct vertex *v = &m->vertices[m->open[i]];
        v->size = size;
        v->depth = depth > UINT32_MAX ? UINT32_MAX : (uint32_t)depth;
        v->low = DONE;
    }
    m->open_count = at;
}

/* The newest frame has no child left. */
static void leave(struct measure *m) {
    uint32_t number = m->frames[--m->frame_count].vertex;
    uint32_t low = m->vertices[number].low;
    if (low == number) {
        size_t at = m->open_count;
        while (m->open[at - 1] != number) at--;
        complete(m, at - 1);
    } else {
        struct vertex *parent = &m->vertices[m->frames[m->frame_count - 1].vertex];
        if (low < parent->low) parent->low = low;
    }
}

static bool explore(struct measure *m, struct upk_cell *from) {
    if (known(m, from)) return true;
    if (!enter(m, from)) return false;
    while (m->frame_count > 0) {
        struct upk_cell *child;
        advance(m, &child);
        if (!child) {
            leave(m);
        } else if (!enter(m, child)) {
            return false;
        }
    }
    return true;
}

bool measure_graph(struct upk_doc *doc, uint64_t *depth, uint64_t *size) {
    struct measure m = {.mem = &doc->mem};
    bool ok = !kind_is_compound(doc->root.kind) || explore(&m, doc->root.as.cell);
    /* Objects that were popped are matched too, so a cycle among them counts. */
    for (struct object *o = doc->objects; ok && o; o = o->next) ok = explore(&m, &o->cell);
    if (ok) {
        const struct vertex *root = kind_is_compound(doc->root.kind) ? known(&m, doc->root.as.cell) : NULL;
        *size = root ? root->size : 1;
        *depth = root ? root->depth : 1;
        doc->cyclic = m.cyclic;
        for (size_t i = 0; i < m.count; i++) {
            struct vertex *v = &m.vertices[i];
            v->cell->size = v->size > UINT32_MAX ? UINT32_MAX : (uint32_t)v->size;
            v->cell->depth = v->depth;
        }
    }
    array_free(&doc->mem, m.vertices, m.room, sizeof *m.vertices);
    array_free(&doc->mem, m.frames, m.frame_room, sizeof *m.frames);
    array_free(&doc->mem, m.open, m.open_room, sizeof *m.open);
    return ok;
}
