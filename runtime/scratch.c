/* Growing arrays and the map from (cell, number) to an index.
 *
 * Layer: private to the runtime, over mem.c.
 */
#include <string.h>

#include "scratch.h"

enum { FIRST_ROOM = 32, FIRST_SLOTS = 64 };

void *array_grow(struct mem *m, void *old, size_t *room, size_t need, size_t size) {
    size_t wide = *room ? *room : FIRST_ROOM;
    while (wide < need) {
        if (wide > SIZE_MAX / 2 / size) {
            m->over_cap = true;
            return NULL;
        }
        wide *= 2;
    }
    void *p = mem_resize(m, old, *room * size, wide * size);
    if (p) *room = wide;
    return p;
}

/* Not linear in the address, so that a stream cannot place its cells for collisions without knowing where
 * the heap is. */
static size_t slot_of(const struct pair_map *map, const struct upk_cell *cell, uint32_t key) {
    uint64_t h = (uint64_t)(uintptr_t)cell ^ (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h ^ h >> 32) & (map->slot_count - 1);
}

/* The slot of the pair, or the free one where it belongs. */
static size_t probe(const struct pair_map *map, const struct upk_cell *cell, uint32_t key) {
    size_t i = slot_of(map, cell, key);
    for (; map->slots[i]; i = (i + 1) & (map->slot_count - 1)) {
        const struct pair_entry *e = &map->entries[map->slots[i] - 1];
        if (e->cell == cell && e->key == key) break;
    }
    return i;
}

int64_t pair_find(const struct pair_map *map, const struct upk_cell *cell, uint32_t key) {
    if (map->count == 0) return PAIR_NONE;
    return (int64_t)map->slots[probe(map, cell, key)] - 1;
}

static bool rehash(struct pair_map *map, struct mem *m) {
    size_t wide = map->slot_count ? 2 * map->slot_count : FIRST_SLOTS;
    uint32_t *slots = mem_resize(m, NULL, 0, wide * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0, wide * sizeof *slots);
    (void)mem_resize(m, map->slots, map->slot_count * sizeof *slots, 0);
    map->slots = slots;
    map->slot_count = wide;
    for (size_t i = 0; i < map->count; i++)
        slots[probe(map, map->entries[i].cell, map->entries[i].key)] = (uint32_t)i + 1;
    return true;
}

int64_t pair_add(struct pair_map *map, struct mem *m, struct upk_cell *cell, uint32_t key, bool *fresh) {
    if (2 * (map->count + 1) > map->slot_count && !rehash(map, m)) return PAIR_NONE;
    size_t slot = probe(map, cell, key);
    *fresh = map->slots[slot] == 0;
    if (!*fresh) return (int64_t)map->slots[slot] - 1;
    if (map->count >= UINT32_MAX - 1) {
        m->over_cap = true;
        return PAIR_NONE;
    }
    struct pair_entry *entries = array_room(m, map->entries, &map->room, map->count + 1, sizeof *entries);
    if (!entries) return PAIR_NONE;
    map->entries = entries;
    entries[map->count] = (struct pair_entry){.cell = cell, .key = key};
    map->slots[slot] = (uint32_t)++map->count;
    return (int64_t)map->count - 1;
}

void pair_clear(struct pair_map *map) {
    /* The last entry is at the end of its probe sequence: taking them back in order breaks no other's. */
    while (map->count > 0) {
        const struct pair_entry *e = &map->entries[map->count - 1];
        map->slots[probe(map, e->cell, e->key)] = 0;
        map->count--;
    }
}

void pair_free(struct pair_map *map, struct mem *m) {
    array_free(m, map->entries, map->room, sizeof *map->entries);
    (void)mem_resize(m, map->slots, map->slot_count * sizeof *map->slots, 0);
    memset(map, 0, sizeof *map);
}
