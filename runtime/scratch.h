/* Working storage of the passes over a finished graph: arrays that grow, and a map from (cell, number) to
 * an index.
 *
 * All of it is taken from the document's memory under its cap, and given back by the pass that took it.
 *
 * Layer: private to the runtime, over doc.h.
 */
#ifndef UPK_SCRATCH_H
#define UPK_SCRATCH_H

#include "doc.h"

/* Room for `need` elements of `size` bytes in an array that at least doubles; NULL: out of memory, and
 * `old` stays. */
void *array_grow(struct mem *m, void *old, size_t *room, size_t need, size_t size);
static inline void *array_room(struct mem *m, void *old, size_t *room, size_t need, size_t size) {
    return need <= *room ? old : array_grow(m, old, room, need, size);
}
static inline void array_free(struct mem *m, void *array, size_t room, size_t size) {
    (void)mem_resize(m, array, room * size, 0);
}

struct pair_entry {
    struct upk_cell *cell;
    uint32_t key;
    uint32_t value; /* the user's */
};

/* Entries stand in the order in which they were added, and keep their index. */
struct pair_map {
    struct pair_entry *entries;
    size_t count, room;
    uint32_t *slots;   /* index of the entry + 1; 0 free */
    size_t slot_count; /* a power of two, at least twice `count` */
};

enum { PAIR_NONE = -1 };

/* Index of the entry, PAIR_NONE if there is none. */
int64_t pair_find(const struct pair_map *map, const struct upk_cell *cell, uint32_t key);
/* Index of the entry, made with value 0 if there was none (*fresh); PAIR_NONE: out of memory. */
int64_t pair_add(struct pair_map *map, struct mem *m, struct upk_cell *cell, uint32_t key, bool *fresh);
/* Forget all entries; linear in their number, not in what there once was room for. */
void pair_clear(struct pair_map *map);
void pair_free(struct pair_map *map, struct mem *m);

#endif
