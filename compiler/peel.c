/* A bucket as a hypergraph: bytes are its vertices, keys its edges.  Edges that have a vertex to themselves are peeled off until
 * none is left; put back in the opposite order, each finds that vertex without a value and takes the one that leads to the first
 * free sum.  With some 50 edges on 256 vertices a graph that cannot be peeled is rare, and another digest is tried then.
 *
 * Layer: see peel.h.
 */
#include "peel.h"

#include <string.h>

enum { BYTES = 256, MOST_VALUE = 255 };

struct graph {
    const uint8_t (*keys)[GPERF_CHARS];
    size_t count;
    uint16_t users[BYTES]; /* keys that hold the byte and are not peeled off */
    uint16_t which[BYTES]; /* the exclusive or of their indices */
};

static bool is_first_of(const uint8_t *key, size_t i) { return memchr(key, key[i], i) == NULL; }

/* Each byte of the key once. */
static void toggle(struct graph *g, size_t key, int step) {
    for (size_t i = 0; i < GPERF_CHARS; i++) {
        const uint8_t byte = g->keys[key][i];
        if (!is_first_of(g->keys[key], i)) continue;
        g->users[byte] = (uint16_t)(g->users[byte] + step);
        g->which[byte] = (uint16_t)(g->which[byte] ^ key);
    }
}

/* Keys in the order in which they are peeled off, and the byte that each had to itself; how many there are. */
static size_t peel(struct graph *g, uint16_t order[GPERF_MOST_KEYS], uint8_t own[GPERF_MOST_KEYS]) {
    uint8_t free_bytes[BYTES + GPERF_MOST_KEYS * GPERF_CHARS];
    size_t free_count = 0, count = 0;
    for (size_t i = 0; i < g->count; i++) toggle(g, i, 1);
    for (size_t c = 0; c < BYTES; c++) {
        if (g->users[c] == 1) free_bytes[free_count++] = (uint8_t)c;
    }
    while (free_count != 0) {
        const uint8_t byte = free_bytes[--free_count];
        if (g->users[byte] != 1) continue; /* its key is gone */
        const uint16_t key = g->which[byte];
        order[count] = key;
        own[count++] = byte;
        toggle(g, key, -1);
        for (size_t i = 0; i < GPERF_CHARS; i++) {
            if (g->users[g->keys[key][i]] == 1) free_bytes[free_count++] = g->keys[key][i];
        }
    }
    return count;
}

/* Gives the byte a value with which the key's sum is no other key's. */
static bool settle(uint32_t asso[BYTES], const uint8_t key[GPERF_CHARS], uint8_t own, bool *taken) {
    uint32_t rest = 0, times = 0;
    for (size_t i = 0; i < GPERF_CHARS; i++) {
        if (key[i] == own)
            times++;
        else
            rest += asso[key[i]];
    }
    uint32_t value = 0;
    while (value <= MOST_VALUE && taken[rest + times * value]) value++;
    if (value > MOST_VALUE) return false;
    asso[own] = value;
    taken[rest + times * value] = true;
    return true;
}

static bool solve(struct gperf_job *job) {
    struct graph g = {.keys = job->keys, .count = job->key_count};
    uint16_t order[GPERF_MOST_KEYS];
    uint8_t own[GPERF_MOST_KEYS];
    bool taken[GPERF_CHARS * MOST_VALUE + 1] = {false};
    memset(job->asso, 0, sizeof job->asso);
    if (g.count > GPERF_MOST_KEYS || peel(&g, order, own) != g.count) return false;
    bool good = true;
    for (size_t i = g.count; i-- > 0 && good;) good = settle(job->asso, g.keys[order[i]], own[i], taken);
    return good;
}

void peel_solve(struct gperf_job *jobs, size_t count) {
    for (size_t i = 0; i < count; i++) jobs[i].solved = solve(&jobs[i]);
}
