/* Probes of a look-up function: the oracle, the walls and the questions.
 *
 * Layer: tests only, over runtime/find_class.h.
 */
#define _DEFAULT_SOURCE

#include "find_class_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct wall { /* a page that may be written, then one that may not be touched */
    uint8_t *base, *end;
    size_t size;
};

struct probe {
    const struct upk_keys *keys, *other_keys;
    upk_find_class_fn find, other;
    const struct upk_key **sorted; /* the oracle */
    size_t count;
    struct wall module_wall, name_wall;
    struct probe_report *report;
    uint8_t padding;
};

struct bytes {
    const uint8_t *at;
    size_t len;
};

static bool wall_build(struct wall *w) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    w->size = 2 * page;
    w->base = mmap(NULL, w->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->base == MAP_FAILED) return false;
    w->end = w->base + page;
    return mprotect(w->end, page, PROT_NONE) == 0;
}

static void wall_tear_down(struct wall *w) {
    if (w->base && w->base != MAP_FAILED) munmap(w->base, w->size);
}

/* The string with exactly `room` readable bytes from its start. */
static const uint8_t *wall_place(const struct wall *w, struct bytes s, size_t room, uint8_t padding) {
    uint8_t *const at = w->end - room;
    memset(at, padding, room);
    if (s.len && room) memcpy(at, s.at, s.len < room ? s.len : room);
    return at;
}

static int compare_bytes(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len) {
    const size_t least = a_len < b_len ? a_len : b_len;
    const int c = least ? memcmp(a, b, least) : 0;
    return c != 0 ? c : (a_len > b_len) - (a_len < b_len);
}

static const uint8_t *pool_at(const struct upk_keys *keys, uint32_t at) {
    return (const uint8_t *)keys->pool + at;
}

static int compare_pair(const struct probe *p, struct bytes module, struct bytes name,
                        const struct upk_key *k) {
    const int c = compare_bytes(module.at, module.len, pool_at(p->keys, k->module), k->module_len);
    return c != 0 ? c : compare_bytes(name.at, name.len, pool_at(p->keys, k->name), k->name_len);
}

static uint32_t oracle(const struct probe *p, struct bytes module, struct bytes name) {
    size_t lo = 0, hi = p->count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int c = compare_pair(p, module, name, p->sorted[mid]);
        if (c == 0) return p->sorted[mid]->row[p->keys->reading];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return 0;
}

/* Lengths are given apart: they may lie. */
static void ask(struct probe *p, struct bytes module, size_t module_len, struct bytes name, size_t name_len,
                uint32_t expected, const char *what) {
    const uint8_t *const m = wall_place(&p->module_wall, module, 16 * p->keys->module_vectors, p->padding);
    const uint8_t *const n = wall_place(&p->name_wall, name, 16 * p->keys->name_vectors, p->padding);
    const uint32_t row = p->find(p->keys, m, module_len, n, name_len);
    const bool same = !p->other || p->other(p->other_keys, m, module_len, n, name_len) == row;
    if (row)
        p->report->hits++;
    else
        p->report->misses++;
    if (row == expected && same) return;
    if (p->report->wrong++ == 0) {
        snprintf(p->report->first_wrong, sizeof p->report->first_wrong,
                 "%s: (%.80s, %.80s) lengths %zu %zu: row %u, expected %u%s", what, (const char *)module.at,
                 (const char *)name.at, module_len, name_len, (unsigned)row, (unsigned)expected,
                 same ? "" : ", the other one differs");
    }
}

static void ask_honestly(struct probe *p, struct bytes module, struct bytes name, const char *what) {
    ask(p, module, module.len, name, name.len, oracle(p, module, name), what);
}

static void ask_lies(struct probe *p, struct bytes module, struct bytes name) {
    const size_t added[] = {UPK_WINDOW, (size_t)1 << 16, (size_t)1 << 31, (size_t)((uint64_t)1 << 32),
                            (size_t)((uint64_t)1 << 63)};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        if (added[i] == 0) continue; /* not that wide here */
        ask(p, module, module.len + added[i], name, name.len, 0, "module length aliased");
        ask(p, module, module.len, name, name.len + added[i], 0, "name length aliased");
        ask(p, module, module.len + added[i], name, name.len + added[i], 0, "both lengths aliased");
    }
    ask(p, module, SIZE_MAX, name, name.len, 0, "greatest length");
}

/* One string of the pair is changed, the other one kept. */
static void ask_changed(struct probe *p, struct bytes module, struct bytes name, bool of_name) {
    uint8_t room[UPK_WINDOW];
    const struct bytes whole = of_name ? name : module;
    memset(room, 0, sizeof room);
    memcpy(room, whole.at, whole.len);
#define ASK(length, what)                                                            \
    do {                                                                             \
        const struct bytes changed = {room, length};                                 \
        ask_honestly(p, of_name ? module : changed, of_name ? changed : name, what); \
    } while (0)
    for (size_t i = 0; i < whole.len; i++) {
        static const uint8_t changes[] = {1, 0x20, 0x80};
        for (size_t j = 0; j < sizeof changes; j++) {
            room[i] ^= changes[j];
            ASK(whole.len, "neighbour");
            room[i] ^= changes[j];
        }
        ASK(i, "prefix");
    }
    room[whole.len] = 0;
    ASK(whole.len + 1, "extended by NUL");
    room[whole.len] = 'x';
    ASK(whole.len + 1, "extended");
    memmove(room + 1, room, whole.len);
    ASK(whole.len + 1, "shifted");
#undef ASK
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void ask_random(struct probe *p, uint64_t *state) {
    uint8_t module[64], name[64];
    for (size_t i = 0; i < sizeof module; i++) {
        module[i] = (uint8_t)(next_random(state) >> 32);
        name[i] = (uint8_t)(next_random(state) >> 32);
    }
    const struct bytes m = {module, next_random(state) >> 32 & 63}, n = {name, next_random(state) >> 32 & 63};
    ask_honestly(p, m, n, "random bytes");
}

static void ask_about(struct probe *p, const struct upk_key *k, uint64_t *state) {
    const struct bytes module = {pool_at(p->keys, k->module), k->module_len},
                       name = {pool_at(p->keys, k->name), k->name_len};
    for (unsigned round = 0; round < 2; round++) {
        p->padding = round ? 0xa5 : 0;
        ask(p, module, module.len, name, name.len, k->row[p->keys->reading], "key");
    }
    ask_lies(p, module, name);
    ask_changed(p, module, name, false);
    ask_changed(p, module, name, true);
    ask_honestly(p, name, module, "swapped");
    const struct upk_key *const other = p->sorted[(next_random(state) >> 32) % p->count];
    const struct bytes other_name = {pool_at(p->keys, other->name), other->name_len};
    ask_honestly(p, module, other_name, "another key's name");
    ask_random(p, state);
}

static const struct upk_keys *sort_keys; /* qsort has no context; set only while it runs */

static int compare_keys(const void *a, const void *b) {
    const struct upk_key *const x = *(const struct upk_key *const *)a, *const y =
                                                                           *(const struct upk_key *const *)b;
    const int c = compare_bytes(pool_at(sort_keys, x->module), x->module_len, pool_at(sort_keys, y->module),
                                y->module_len);
    return c != 0 ? c
                  : compare_bytes(pool_at(sort_keys, x->name), x->name_len, pool_at(sort_keys, y->name),
                                  y->name_len);
}

static bool list_keys(struct probe *p) {
    p->sorted = malloc((p->keys->slot_count + 1) * sizeof *p->sorted);
    if (!p->sorted) return false;
    for (uint32_t i = 0; i < p->keys->slot_count; i++) {
        const struct upk_key *const k = &p->keys->slots[i];
        if (k->row[0] || k->row[1]) p->sorted[p->count++] = k;
    }
    sort_keys = p->keys;
    qsort(p->sorted, p->count, sizeof *p->sorted, compare_keys);
    return true;
}

bool probe_find_class(const struct upk_keys *keys, upk_find_class_fn find, const struct upk_keys *other_keys,
                      upk_find_class_fn other, struct probe_report *report) {
    struct probe p = {.keys = keys, .find = find, .other_keys = other_keys, .other = other, .report = report};
    uint64_t state = UINT64_C(0x2545f4914f6cdd1d);
    *report = (struct probe_report){0};
    const bool ready = wall_build(&p.module_wall) && wall_build(&p.name_wall) && list_keys(&p);
    if (ready) {
        for (size_t i = 0; i < p.count; i++) ask_about(&p, p.sorted[i], &state);
        for (size_t i = 0; i < 1000; i++) ask_random(&p, &state);
        const struct bytes nothing = {(const uint8_t *)"", 0};
        ask_honestly(&p, nothing, nothing, "empty");
    }
    free(p.sorted);
    wall_tear_down(&p.module_wall);
    wall_tear_down(&p.name_wall);
    return ready;
}
