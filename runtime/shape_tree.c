/* Proof by depth-first search, for graphs without cycles.
 *
 * What may be met again is remembered, so that the work is linear in the pairs of cell and type: cells with
 * more than one user for the whole document (`lasting`), and everything below a union of which several
 * alternatives are tried until the outermost such union is decided (`passing`; without it nested unions
 * would double the work at each level).
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <string.h>

#include "match.h"

enum { UNDECIDED, PROVED, REFUTED };

struct frame {
    struct goal goal;
    struct cursor cursor;
    bool one_of, trying, lasting, passing;
};

struct tree {
    struct frame *frames;
    size_t count, room;
    size_t trying; /* frames that try several alternatives */
    struct pair_map lasting, passing;
};

bool tree_new(struct matcher *m) {
    m->tree = mem_resize(m->mem, NULL, 0, sizeof *m->tree);
    if (!m->tree) return false;
    memset(m->tree, 0, sizeof *m->tree);
    return true;
}

void tree_free(struct matcher *m) {
    struct tree *t = m->tree;
    if (!t) return;
    array_free(m->mem, t->frames, t->room, sizeof *t->frames);
    pair_free(&t->lasting, m->mem);
    pair_free(&t->passing, m->mem);
    (void)mem_resize(m->mem, t, sizeof *t, 0);
    m->tree = NULL;
}

static uint32_t recall(const struct pair_map *map, const struct goal *g) {
    int64_t i = pair_find(map, g->cell, goal_key(g));
    return i == PAIR_NONE ? UNDECIDED : map->entries[i].value;
}

static bool remember(struct matcher *m, struct pair_map *map, const struct goal *g, bool proved) {
    bool fresh;
    int64_t i = pair_add(map, m->mem, g->cell, goal_key(g), &fresh);
    if (i == PAIR_NONE) return false;
    map->entries[i].value = proved ? PROVED : REFUTED;
    return true;
}

static bool push(struct matcher *m, const struct goal *g, bool again) {
    struct tree *t = m->tree;
    struct frame *f = array_room(m->mem, t->frames, &t->room, t->count + 1, sizeof *f);
    if (!f) return false;
    t->frames = f;
    f += t->count++;
    *f = (struct frame){
        .goal = *g, .one_of = goal_is_one_of(m, g), .lasting = again, .passing = t->trying > 0};
    f->trying = f->one_of && g->what == GOAL_TYPE;
    t->trying += f->trying;
    return true;
}

static bool pop(struct matcher *m, bool proved) {
    struct tree *t = m->tree;
    const struct frame *f = &t->frames[--t->count];
    if (f->trying && --t->trying == 0) pair_clear(&t->passing);
    if (f->lasting) return remember(m, &t->lasting, &f->goal, proved);
    return !f->passing || remember(m, &t->passing, &f->goal, proved);
}

static uint32_t known(const struct tree *t, const struct part *part) {
    if (part->again) return recall(&t->lasting, &part->goal);
    return t->trying ? recall(&t->passing, &part->goal) : UNDECIDED;
}

/* Ends frames as long as the verdict on the newest decides the one before.  False: out of memory. */
static bool settle(struct matcher *m, bool proved) {
    struct tree *t = m->tree;
    do {
        if (!pop(m, proved)) return false;
    } while (t->count > 0 && t->frames[t->count - 1].one_of == proved);
    return true;
}

static enum match_status prove(struct matcher *m, const struct goal *g, bool *proved) {
    struct tree *t = m->tree;
    if (!push(m, g, false)) return MATCH_MEMORY;
    while (t->count > 0) {
        struct frame *f = &t->frames[t->count - 1];
        struct part part;
        enum fit fit = goal_next(m, &f->goal, &f->cursor, &part);
        if (m->pairs > m->budget) return MATCH_BUDGET;
        if (fit == FIT_OPEN) {
            uint32_t verdict = known(t, &part);
            if (verdict == UNDECIDED) {
                if (!push(m, &part.goal, part.again)) return MATCH_MEMORY;
                continue;
            }
            if (f->one_of != (verdict == PROVED)) continue;
            fit = verdict == PROVED ? FIT_YES : FIT_NO;
        }
        *proved = fit == FIT_YES;
        if (!settle(m, *proved)) return MATCH_MEMORY;
    }
    return MATCH_OK;
}

enum match_status tree_prove(struct matcher *m, const struct goal *g, bool *proved) {
    enum match_status status = prove(m, g, proved);
    if (status != MATCH_OK) { /* ready for another goal */
        m->tree->count = m->tree->trying = 0;
        pair_clear(&m->tree->passing);
    }
    return status;
}
