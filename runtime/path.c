/* Where a cell stands in the value, as text: the shortest path from the root.
 *
 *   $[3]                          member of a sequence or set, item of an object
 *   $.name  $["odd name"]  $[12]  value of a key; of another key $[?]
 *   .keys[2]                      the third key itself
 *   .args .kwargs .state .id      parts of an object and of a persistent id
 *
 * Layer: runtime, over children.c and scratch.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scratch.h"

enum { STEP_ROOM = 80, KEY_ROOM = 48 };

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
    if (v.kind < UPK_BYTEARRAY) return false;
    struct upk_value r = value_resolve(v);
    return v.as.cell == target || (r.kind >= UPK_BYTEARRAY && r.as.cell == target);
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
                if (v.kind < UPK_BYTEARRAY) continue;
                if (!meet(s, v.as.cell, (struct step){(uint32_t)done, span, i}, &fresh)) return false;
                if (fresh && is_target(v, target)) return true;
            }
        }
    }
    return false;
}

/* ---- text */

static bool is_plain(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') || p[i] == '_';
        if (!letter && !(i > 0 && p[i] >= '0' && p[i] <= '9')) return false;
    }
    return n > 0;
}

static void key_text(struct upk_value key, char out[STEP_ROOM]) {
    char name[KEY_ROOM];
    key = value_resolve(key);
    switch (key.kind) {
    case UPK_STR:
    case UPK_STR8:
        error_copy(name, sizeof name, key.as.bytes, key.len);
        (void)snprintf(out, STEP_ROOM, is_plain(key.as.bytes, key.len) ? ".%s" : "[\"%s\"]", name);
        break;
    case UPK_INT: (void)snprintf(out, STEP_ROOM, "[%" PRId64 "]", key.as.i); break;
    default: (void)snprintf(out, STEP_ROOM, "[?]"); break;
    }
}

static void pair_text(const struct span *pairs, size_t i, char out[STEP_ROOM]) {
    if (i % 2 == 0) {
        (void)snprintf(out, STEP_ROOM, ".keys[%zu]", i / 2);
    } else {
        key_text(pairs->at[i - 1], out);
    }
}

static void object_text(struct object *o, const struct children *kids, const struct step *s,
                        char out[STEP_ROOM]) {
    const struct span *span = &kids->spans[s->span];
    const struct object_more *more = o->more;
    if (span->at == kids->own) {
        size_t kw = object_args(o) ? 1 : 0, state = kw + (more && more->kw ? 1 : 0);
        (void)snprintf(out, STEP_ROOM, "%s", s->at < kw ? ".args" : s->at < state ? ".kwargs" : ".state");
        return;
    }
    bool base = more->base && span->at == more->base->items;
    if ((base && more->base->kind == UPK_DICT) || (more->pairs && span->at == more->pairs->items)) {
        pair_text(span, s->at, out);
    } else {
        /* items follow those of the base */
        bool items = more->items && span->at == more->items->items;
        size_t before = items && more->base && more->base->kind == UPK_LIST ? more->base->len : 0;
        (void)snprintf(out, STEP_ROOM, "[%zu]", before + s->at);
    }
}

static void step_text(struct upk_cell *parent, const struct step *s, char out[STEP_ROOM]) {
    struct children kids;
    cell_children(parent, false, &kids);
    struct upk_cell *c = value_resolve(value_of_cell(parent)).as.cell;
    switch (c->kind) {
    case UPK_OBJECT: object_text(as_object(c), &kids, s, out); break;
    case UPK_DICT: pair_text(&kids.spans[s->span], s->at, out); break;
    case UPK_PERSID: (void)snprintf(out, STEP_ROOM, ".id"); break;
    default: (void)snprintf(out, STEP_ROOM, "[%zu]", s->at); break;
    }
}

static void write_path(struct search *s, char *out, size_t size) {
    /* Turn the links round: steps[i] then says how to go down from i, and `parent` where that leads. */
    uint32_t last = (uint32_t)s->met.count - 1, at = last;
    struct step how = s->steps[at];
    while (at != 0) {
        struct step next = s->steps[how.parent];
        s->steps[how.parent] = (struct step){.parent = at, .span = how.span, .at = how.at};
        at = how.parent;
        how = next;
    }
    size_t len = strlen(out);
    while (at != last) {
        const struct step *down = &s->steps[at];
        char text[STEP_ROOM];
        step_text(s->met.entries[at].cell, down, text);
        size_t n = strlen(text);
        if (n >= size - len) {
            if (size > 4) {
                size_t dots = len < size - 4 ? len : size - 4;
                memcpy(out + dots, "...", 4);
            }
            return;
        }
        memcpy(out + len, text, n + 1);
        len += n;
        at = down->parent;
    }
}

void value_path(struct upk_doc *doc, const struct upk_cell *target, char *out, size_t size) {
    if (size < 2) return;
    memcpy(out, "$", 2);
    if (!target || doc->root.kind < UPK_BYTEARRAY || is_target(doc->root, target)) return;
    struct search s = {.mem = &doc->mem};
    if (search_for(&s, doc->root.as.cell, target)) write_path(&s, out, size);
    array_free(&doc->mem, s.steps, s.room, sizeof *s.steps);
    pair_free(&s.met, &doc->mem);
}
