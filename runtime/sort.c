/* Heap sort.  Layer: see sort.h. */
#include "sort.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

struct sort {
    uint8_t *items;
    size_t size;
    sort_less_fn less;
    const void *ctx;
};

static uint8_t *item(const struct sort *s, size_t i) { return s->items + i * s->size; }

/* `sunk` takes its place in the heap of n items, at `at` or below. */
static void sift(const struct sort *s, const uint8_t *sunk, size_t at, size_t n) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && s->less(item(s, child), item(s, child + 1), s->ctx)) child++;
        if (!s->less(sunk, item(s, child), s->ctx)) break;
        memcpy(item(s, at), item(s, child), s->size);
    }
    memcpy(item(s, at), sunk, s->size);
}

void heap_sort(void *items, size_t n, size_t size, sort_less_fn less, const void *ctx) {
    const struct sort s = {items, size, less, ctx};
    _Alignas(max_align_t) uint8_t sunk[SORT_SIZE_MOST];
    assert(size <= sizeof sunk);
    for (size_t i = n / 2; i-- > 0;) {
        memcpy(sunk, item(&s, i), size);
        sift(&s, sunk, i, n);
    }
    while (n-- > 1) {
        memcpy(sunk, item(&s, n), size);
        memcpy(item(&s, n), item(&s, 0), size);
        sift(&s, sunk, 0, n);
    }
}
