/* Building blocks of tables: growing arrays, hash tables that find an equal entry, and a pool of texts, each
 * held once.
 *
 * Layer: above mem.  A failed allocation sticks in the arena (mem.failed); callers ask it once at the end,
 * and until then work on with index 0.
 */
#ifndef COMPILER_INTERN_H
#define COMPILER_INTERN_H

#include <stdint.h>

#include "../runtime/upk_tables.h"
#include "mem.h"

struct array {
    struct mem *mem;
    void *items;
    size_t count, room, size; /* size of one item */
};

void array_init(struct array *a, struct mem *m, size_t size);
/* With a null item at index 0, which means nothing. */
void array_init_from_1(struct array *a, struct mem *m, size_t size);
/* Adds a copy of an item and returns its index; 0 without memory. */
uint32_t array_add(struct array *a, const void *item);

struct intern_place {
    uint64_t hash;
    uint64_t index; /* + 1; 0: free */
};

/* Indices by hash, with open addressing. */
struct intern {
    struct mem *mem;
    struct intern_place *places;
    size_t mask, count;
};

void intern_init(struct intern *t, struct mem *m);
/* The entry that `same` says is equal to what `context` describes. */
bool intern_find(const struct intern *t, uint64_t hash, bool (*same)(const void *context, uint32_t index),
                 const void *context, uint32_t *index);
void intern_add(struct intern *t, uint64_t hash, uint32_t index);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t len);

/* An array of items without padding, equal ones held once. */
struct unique {
    struct array array;
    struct intern intern;
};

void unique_init(struct unique *u, struct mem *m, size_t size);
uint32_t unique_add(struct unique *u, const void *item);

/* The string pool; nothing of it moves but the whole. */
struct pool {
    struct mem *mem;
    char *bytes;
    size_t len, room;
    struct array texts; /* struct upk_text */
    struct intern intern;
};

void pool_init(struct pool *p, struct mem *m);
struct upk_text pool_add(struct pool *p, struct text t);
/* A text of a finished table. */
struct text policy_text(const struct upk_policy *p, struct upk_text t);
/* Zero bytes that belong to no text. */
void pool_pad(struct pool *p, size_t count);

#endif
