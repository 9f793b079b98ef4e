/* An allocator that fails once, and counts what it has given.
 *
 * Layer: tests only; under units and fuzz targets.
 */
#ifndef TEST_FAILING_H
#define TEST_FAILING_H

#include <stddef.h>
#include <stdlib.h>

struct failing {
    size_t left; /* requests before the one that fails */
    size_t live; /* bytes that were not given back */
};

/* upk_allocator.resize; ctx: struct failing. */
static inline void *failing_resize(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct failing *const f = ctx;
    if (new_size == 0) {
        f->live -= old_size;
        free(block);
        return NULL;
    }
    if (f->left-- == 0) return NULL;
    void *const p = realloc(block, new_size);
    if (!p) abort(); /* a test cannot go on */
    f->live += new_size - old_size;
    return p;
}

#endif
