/* Proof by refutation, for graphs with cycles.
 *
 * A value that holds itself has a type if assuming so leads to no contradiction: matching is a greatest
 * fixed point.  Taking an assumption for a proof and remembering it would be unsound, since what was proved
 * under it must fall with it.  So all goals are written down first, with an edge from each part back to
 * what asks it; then refutations alone are carried along the edges.  A goal of all falls with any part, a
 * goal of one with its last.  What never falls holds.  Linear in the edges.
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <string.h>

#include "match.h"

struct node { /* alongside goals.entries */
    struct goal goal;
    uint32_t edges; /* index + 1 of the newest edge from here to what asks it */
    uint32_t left;  /* one_of: parts not refuted */
    bool one_of, proved, refuted;
};

struct edge {
    uint32_t asks; /* node */
    uint32_t next; /* index + 1 of the next edge of the same part */
};

struct cyclic {
    struct pair_map goals;
    struct node *nodes;
    size_t node_room;
    struct edge *edges;
    size_t edge_count, edge_room;
    size_t expanded;  /* nodes before this have their edges */
    uint32_t *fallen; /* refuted, and not yet carried on */
    size_t fallen_count, fallen_room;
};

bool cyclic_new(struct matcher *m) {
    m->cyclic = mem_resize(m->mem, NULL, 0, sizeof *m->cyclic);
    if (!m->cyclic) return false;
    memset(m->cyclic, 0, sizeof *m->cyclic);
    return true;
}

void cyclic_free(struct matcher *m) {
    struct cyclic *c = m->cyclic;
    if (!c) return;
    pair_free(&c->goals, m->mem);
    array_free(m->mem, c->nodes, c->node_room, sizeof *c->nodes);
    array_free(m->mem, c->edges, c->edge_room, sizeof *c->edges);
    array_free(m->mem, c->fallen, c->fallen_room, sizeof *c->fallen);
    (void)mem_resize(m->mem, c, sizeof *c, 0);
    m->cyclic = NULL;
}

/* The node of a goal, made if there was none; PAIR_NONE: out of memory. */
static int64_t node_of(struct matcher *m, const struct goal *g) {
    struct cyclic *c = m->cyclic;
    bool fresh;
    int64_t i = pair_add(&c->goals, m->mem, g->cell, goal_key(g), &fresh);
    if (i == PAIR_NONE || !fresh) return i;
    struct node *nodes = array_room(m->mem, c->nodes, &c->node_room, c->goals.count, sizeof *nodes);
    if (!nodes) return PAIR_NONE;
    c->nodes = nodes;
    nodes[i] = (struct node){.goal = *g, .one_of = goal_is_one_of(m, g)};
    return i;
}

bool cyclic_add(struct matcher *m, const struct goal *g) { return node_of(m, g) != PAIR_NONE; }

static bool fall(struct matcher *m, uint32_t n) {
    struct cyclic *c = m->cyclic;
    if (c->nodes[n].refuted || c->nodes[n].proved) return true;
    uint32_t *fallen = array_room(m->mem, c->fallen, &c->fallen_room, c->fallen_count + 1, sizeof *fallen);
    if (!fallen) return false;
    c->fallen = fallen;
    fallen[c->fallen_count++] = n;
    c->nodes[n].refuted = true;
    return true;
}

static bool add_edge(struct matcher *m, uint32_t part, uint32_t asks) {
    struct cyclic *c = m->cyclic;
    if (c->edge_count >= UINT32_MAX - 1) {
        m->mem->over_cap = true;
        return false;
    }
    struct edge *edges = array_room(m->mem, c->edges, &c->edge_room, c->edge_count + 1, sizeof *edges);
    if (!edges) return false;
    c->edges = edges;
    edges[c->edge_count++] = (struct edge){.asks = asks, .next = c->nodes[part].edges};
    c->nodes[part].edges = (uint32_t)c->edge_count;
    c->nodes[asks].left++;
    return true;
}

/* Write down the parts of one goal. */
static enum match_status expand(struct matcher *m, uint32_t n) {
    const struct goal goal = m->cyclic->nodes[n].goal;
    struct cursor cursor = {0};
    struct part part;
    enum fit fit;
    while ((fit = goal_next(m, &goal, &cursor, &part)) == FIT_OPEN) {
        if (m->pairs > m->budget) return MATCH_BUDGET;
        int64_t to = node_of(m, &part.goal);
        if (to == PAIR_NONE || !add_edge(m, (uint32_t)to, n)) return MATCH_MEMORY;
    }
    if (m->pairs > m->budget) return MATCH_BUDGET;
    struct node *node = &m->cyclic->nodes[n];
    if (node->one_of) {
        node->proved = fit == FIT_YES;
        if (!node->proved && node->left == 0 && !fall(m, n)) return MATCH_MEMORY;
    } else if (fit == FIT_NO && !fall(m, n)) {
        return MATCH_MEMORY;
    }
    return MATCH_OK;
}

/* Nothing falls before all is written down, so that the count of parts left is whole. */
static bool carry(struct matcher *m) {
    struct cyclic *c = m->cyclic;
    while (c->fallen_count > 0) {
        const struct node *part = &c->nodes[c->fallen[--c->fallen_count]];
        for (uint32_t e = part->edges; e; e = c->edges[e - 1].next) {
            uint32_t n = c->edges[e - 1].asks;
            struct node *asks = &c->nodes[n];
            if (asks->one_of && --asks->left > 0) continue;
            if (!fall(m, n)) return false;
        }
    }
    return true;
}

enum match_status cyclic_solve(struct matcher *m) {
    struct cyclic *c = m->cyclic;
    for (; c->expanded < c->goals.count; c->expanded++) {
        enum match_status status = expand(m, (uint32_t)c->expanded);
        if (status != MATCH_OK) return status;
    }
    return carry(m) ? MATCH_OK : MATCH_MEMORY;
}

bool cyclic_refuted(const struct matcher *m, const struct goal *g) {
    int64_t i = pair_find(&m->cyclic->goals, g->cell, goal_key(g));
    return i != PAIR_NONE && m->cyclic->nodes[i].refuted;
}

bool cyclic_holds(const struct matcher *m, const struct goal *g) {
    int64_t i = pair_find(&m->cyclic->goals, g->cell, goal_key(g));
    return i != PAIR_NONE && !m->cyclic->nodes[i].refuted;
}
