/* Memory of one decode: an arena for what a document keeps, resizable arrays beside it, both under one hard cap.
 *
 * Layer: runtime, lowest; over the caller's allocator.
 */
#define _DEFAULT_SOURCE /* madvise */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "doc.h"

enum {
    FIRST_BLOCK = 1024, /* what allocators have at hand, and enough for a small document */
    MOST_BLOCK = 1 << 20,
    LARGE_ITEMS = 16 << 10, /* bytes from which an array of members leaves the arena */
    HUGE = 4 << 20          /* bytes from which huge pages are asked for */
};

struct mem_block {
    struct mem_block *next, *prev;
    size_t size;            /* with this header */
    struct upk_cell *owner; /* of a large array */
};

/* Page faults dominate the cost of fresh memory; transparent huge pages make them some hundred times rarer. */
void mem_advise_huge(void *block, size_t size) {
    if (size < HUGE) return;
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t)block + 4095) & ~(uintptr_t)4095;
    uintptr_t to = ((uintptr_t)block + size) & ~(uintptr_t)4095;
    if (to > from) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)block;
#endif
}

static void *resize_malloc(void *ctx, void *block, size_t old_size, size_t new_size) {
    (void)ctx, (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    void *p = realloc(block, new_size);
    if (p) mem_advise_huge(p, new_size);
    return p;
}

void mem_init(struct mem *m, const struct upk_allocator *allocator, uint64_t cap) {
    memset(m, 0, sizeof *m);
    m->cap = cap;
    if (allocator) {
        m->allocator = *allocator;
    } else {
        m->allocator.resize = resize_malloc;
    }
}

void mem_clear(void *p, size_t n) { memset(p, 0, n); }
void mem_copy(void *to, const void *from, size_t n) { memcpy(to, from, n); }

void *mem_resize(struct mem *m, void *old, size_t old_size, size_t n) {
    if (n > old_size && n - old_size > m->cap - m->used) {
        m->over_cap = true;
        return NULL;
    }
    if (n == 0) {
        if (old) (void)m->allocator.resize(m->allocator.ctx, old, old_size, 0);
        m->used -= old_size;
        return NULL;
    }
    void *p = m->allocator.resize(m->allocator.ctx, old, old_size, n);
    if (!p) {
        m->over_cap = false;
        return NULL;
    }
    m->used += n;
    m->used -= old_size;
    return p;
}

static void blocks_free(const struct mem *m, struct mem_block *b) {
    while (b) {
        struct mem_block *const next = b->next;
        (void)m->allocator.resize(m->allocator.ctx, b, b->size, 0);
        b = next;
    }
}

void mem_free(struct mem *m) {
    const struct mem own = *m; /* it may stand in one of its blocks */
    m->blocks = m->large = m->chunks = NULL;
    m->cursor = m->end = NULL;
    m->used = 0;
    if (own.large) blocks_free(&own, own.large);
    if (own.chunks) blocks_free(&own, own.chunks);
    blocks_free(&own, own.blocks);
}

void *mem_slow(struct mem *m, size_t n) {
    size_t size = m->blocks ? m->blocks->size * 2 : FIRST_BLOCK;
    if (size > MOST_BLOCK) size = MOST_BLOCK;
    if (n > SIZE_MAX - sizeof(struct mem_block)) {
        m->over_cap = true;
        return NULL;
    }
    /* A block of its own for what is large, behind the current one, so that the rest of that is not lost. */
    bool apart = n > size / 4 && m->blocks;
    if (apart || n + sizeof(struct mem_block) > size) size = n + sizeof(struct mem_block);
    struct mem_block *b = mem_resize(m, NULL, 0, size);
    if (!b) return NULL;
    b->size = size;
    b->prev = NULL;
    b->owner = NULL;
    uint8_t *p = (uint8_t *)(b + 1);
    if (apart) {
        b->next = m->blocks->next;
        m->blocks->next = b;
        return p;
    }
    b->next = m->blocks;
    m->blocks = b;
    m->cursor = p + n;
    m->end = (uint8_t *)b + size;
    return p;
}

uint8_t *mem_chunk(struct mem *m, uint8_t *last, size_t n) {
    struct mem_block *old = last ? m->chunks : NULL;
    if (n > SIZE_MAX - sizeof *old) {
        m->over_cap = true;
        return NULL;
    }
    const size_t size = n + sizeof *old;
    struct mem_block *b = mem_resize(m, old, old ? old->size : 0, size);
    if (!b) return NULL;
    if (!old) *b = (struct mem_block){.next = m->chunks};
    b->size = size;
    m->chunks = b;
    return (uint8_t *)(b + 1);
}

static void large_link(struct mem *m, struct mem_block *b) {
    b->prev = NULL;
    b->next = m->large;
    if (b->next) b->next->prev = b;
    m->large = b;
}

/* Move or resize the large array of b's owner to hold `cap` members. */
static bool large_resize(struct mem *m, struct mem_block *b, uint32_t cap) {
    size_t size = sizeof *b + (size_t)cap * sizeof(struct upk_value);
    struct mem_block *moved = mem_resize(m, b, b->size, size);
    if (!moved) return false;
    moved->size = size;
    if (moved->next) moved->next->prev = moved;
    if (moved->prev) {
        moved->prev->next = moved;
    } else {
        m->large = moved;
    }
    moved->owner->items = (struct upk_value *)(void *)(moved + 1);
    moved->owner->cap = cap;
    return true;
}

bool mem_grow_items(struct mem *m, struct upk_cell *cell, uint32_t need) {
    const size_t unit = sizeof(struct upk_value);
    if (need <= cell->cap) return true;
    if (cell->cap == 0 && need < LARGE_ITEMS / unit) { /* the first members, most often the last */
        struct upk_value *first = mem_alloc(m, need * unit);
        if (!first) return false;
        cell->items = first;
        cell->cap = need;
        return true;
    }
    /* Twice as many where the rest is given back in the end (mem_trim), else half as many more. */
    uint64_t wide = (uint64_t)cell->cap + (cell->flags & CELL_LARGE ? cell->cap : cell->cap / 2);
    if (cell->cap && wide < 8) wide = 8;
    if (wide < need) wide = need;
    uint32_t cap = wide > UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
    if (cell->flags & CELL_LARGE) return large_resize(m, (struct mem_block *)(void *)cell->items - 1, cap);
    /* The newest array of the arena grows where it stands, without loss. */
    if (cell->cap && (uint8_t *)(cell->items + cell->cap) == m->cursor &&
        (size_t)(need - cell->cap) * unit <= (size_t)(m->end - m->cursor)) {
        m->cursor += (size_t)(need - cell->cap) * unit;
        cell->cap = need;
        return true;
    }
    struct upk_value *items;
    if ((size_t)cap * unit >= LARGE_ITEMS) {
        size_t size = sizeof(struct mem_block) + (size_t)cap * unit;
        struct mem_block *b = mem_resize(m, NULL, 0, size);
        if (!b) return false;
        b->size = size;
        b->owner = cell;
        large_link(m, b);
        items = (struct upk_value *)(void *)(b + 1);
        cell->flags |= CELL_LARGE;
    } else {
        items = mem_alloc(m, (size_t)cap * unit);
        if (!items) return false;
    }
    if (cell->len) memcpy(items, cell->items, (size_t)cell->len * unit);
    cell->items = items;
    cell->cap = cap;
    return true;
}

void mem_trim_large(struct mem *m) {
    for (struct mem_block *b = m->large, *next; b; b = next) {
        next = b->next;
        if (b->owner->cap - b->owner->len > b->owner->len / 16) (void)large_resize(m, b, b->owner->len);
    }
}
