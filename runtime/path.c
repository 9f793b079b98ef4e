/* Where a cell stands in the value, as text: the shortest path from the root.
 *
 *   $[3]                          member of a sequence or set, item of an object
 *   $.name  $["odd name"]  $[12]  value of a key; of another key $[?]
 *   .keys[2]                      the third key itself
 *   .args .kwargs .state .id      parts of an object and of a persistent id
 *
 * Layer: runtime, over children.c, scratch.c and text.c.
 */
#include "scratch.h"
#include "text.h"

struct step {        /* how a cell was first reached */
    uint32_t parent; /* index of its entry; of the root itself */
    uint32_t span;
    size_t at; /* in that span */
};

struct search {
    struct mem *mem;
    struct pair_map met;
    struct step *steps; /* alongside met.entries */
    size_t room;
};

static bool meet(struct search *s, struct upk_cell *c, struct step how, bool *fresh) {
    int64_t i = pair_add(&s->met, s->mem, c, 0, fresh);
    if (i == PAIR_NONE) return false;
    if (*fresh) {
        struct step *steps = array_room(s->mem, s->steps, &s->room, s->met.count, sizeof *steps);
        if (!steps) return false;
        s->steps = steps;
        steps[i] = how;
    }
    return true;
}

static bool is_target(struct upk_value v, const struct upk_cell *target) {
    if (!kind_has_cell(v.kind)) return false;
    struct upk_value r = value_resolve(v);
    return v.as.cell == target || (kind_has_cell(r.kind) && r.as.cell == target);
}

/* Breadth first until `target` is met, which is then the last entry; false: not reached, or out of memory. */
static bool search_for(struct search *s, struct upk_cell *root, const struct upk_cell *target) {
    bool fresh;
    if (!meet(s, root, (struct step){0}, &fresh)) return false;
    for (size_t done = 0; done < s->met.count; done++) {
        struct children kids;
        cell_children(s->met.entries[done].cell, false, &kids);
        for (uint32_t span = 0; span < kids.count; span++) {
            for (size_t i = 0; i < kids.spans[span].len; i++) {
                struct upk_value v = kids.spans[span].at[i];
                if (!kind_has_cell(v.kind)) continue;
                if (!meet(s, v.as.cell, (struct step){(uint32_t)done, span, i}, &fresh)) return false;
                if (fresh && is_target(v, target)) return true;
            }
        }
    }
    return false;
}

/* ---- text */

static void add_pair(struct text *t, const struct span *pairs, size_t i) {
    if (i % 2 == 0) {
        text_add_key_itself(t, i / 2);
    } else {
        text_add_key(t, pairs->at[i - 1]);
    }
}

static void add_object(struct text *t, struct object *o, const struct children *kids, const struct step *s) {
    const struct span *span = &kids->spans[s->span];
    const struct object_more *more = o->more;
    if (span->at == kids->own) {
        size_t kw = object_args(o) ? 1 : 0, state = kw + (more && more->kw ? 1 : 0);
        text_add_whole(t, s->at < kw ? ".args" : s->at < state ? ".kwargs" : ".state");
        return;
    }
    bool base = more->base && span->at == more->base->items;
    if ((base && more->base->kind == UPK_DICT) || (more->pairs && span->at == more->pairs->items)) {
        add_pair(t, span, s->at);
    } else {
        /* items follow those of the base */
        bool items = more->items && span->at == more->items->items;
        size_t before = items && more->base && more->base->kind == UPK_LIST ? more->base->len : 0;
        text_add_index(t, before + s->at);
    }
}

static void add_step(struct text *t, struct upk_cell *parent, const struct step *s) {
    struct children kids;
    cell_children(parent, false, &kids);
    struct upk_cell *c = value_resolve(value_of_cell(parent)).as.cell;
    switch (c->kind) {
    case UPK_OBJECT: add_object(t, as_object(c), &kids, s); break;
    case UPK_DICT: add_pair(t, &kids.spans[s->span], s->at); break;
    case UPK_PERSID: text_add_whole(t, ".id"); break;
    default: text_add_index(t, s->at); break;
    }
}

static void add_path(struct search *s, struct text *t) {
    /* Turn the links round: steps[i] then says how to go down from i, and `parent` where that leads. */
    uint32_t last = (uint32_t)s->met.count - 1, at = last;
    struct step how = s->steps[at];
    while (at != 0) {
        struct step next = s->steps[how.parent];
        s->steps[how.parent] = (struct step){.parent = at, .span = how.span, .at = how.at};
        at = how.parent;
        how = next;
    }
    while (at != last && t->len < t->size) {
        const struct step *down = &s->steps[at];
        add_step(t, s->met.entries[at].cell, down);
        at = down->parent;
    }
}

bool value_path(struct upk_doc *doc, const struct upk_cell *target, char *out, size_t size) {
    struct text t = text_in(out, size);
    text_add_whole(&t, "$");
    if (!target || is_target(doc->root, target)) return true;
    if (!kind_has_cell(doc->root.kind)) return false;
    struct search s = {.mem = &doc->mem};
    const bool reached = search_for(&s, doc->root.as.cell, target);
    if (reached) add_path(&s, &t);
    array_free(&doc->mem, s.steps, s.room, sizeof *s.steps);
    pair_free(&s.met, &doc->mem);
    return reached;
}
