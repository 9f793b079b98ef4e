/* Memory that waits for the next call.  Layer: see host.h.
 *
 * Fresh pages cost more than what is written to them, so blocks that a document gives back are kept, up to a bound, and lent
 * again.  A block has its room before it, for what is asked of it may be less.
 */
#include "host.h"

#include <stdlib.h>

enum {
    MOST_BLOCKS = 24,
    SMALL = 4096,                  /* bytes of the block that a small document takes */
    MOST_WASTE = 4,                /* a block is lent for no less than this part of its room */
    LARGE = 256 << 10,             /* bytes of one that what is built has more use for */
    LARGEST_BLOCK = 4 << 20,       /* bytes of one that is kept */
    MOST_BYTES = 2 * LARGEST_BLOCK /* of all that are kept */
};

struct block {                         /* as aligned as malloc's own */
    _Alignas(max_align_t) size_t room; /* bytes behind this head */
};

struct spare {
    struct block *small; /* one such block, found without a search; NULL: there is none */
    size_t count, bytes;
    struct block *blocks[MOST_BLOCKS];
};

struct spare *spare_take(struct host *h) {
    struct spare *s = h->spare;
    h->spare = NULL;
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) (void)PyErr_NoMemory();
    return s;
}

void spare_give(struct host *h, struct spare *s) {
    if (h->spare) {
        spare_free(s); /* calls within calls, and threads: one set of blocks is enough */
    } else {
        h->spare = s;
    }
}

void spare_free(struct spare *s) {
    if (!s) return;
    free(s->small);
    for (size_t i = 0; i < s->count; i++) free(s->blocks[i]);
    free(s);
}

void spare_trim(struct spare *s) {
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct block *const b = s->blocks[i];
        if (b->room < LARGE) {
            s->blocks[left++] = b;
        } else {
            s->bytes -= b->room;
            free(b);
        }
    }
    s->count = left;
}

/* The smallest block that is kept with room for n bytes and not far more; NULL: there is none. */
static struct block *block_find(struct spare *s, size_t n) {
    struct block *best = s->small;
    size_t at = 0;
    if (best && best->room >= n && best->room / MOST_WASTE <= n) {
        s->small = NULL;
        return best;
    }
    best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct block *const b = s->blocks[i];
        if (b->room < n || b->room / MOST_WASTE > n || (best && b->room >= best->room)) continue;
        best = b;
        at = i;
    }
    if (!best) return NULL;
    s->blocks[at] = s->blocks[--s->count];
    s->bytes -= best->room;
    return best;
}

static void block_keep(struct spare *s, struct block *b) {
    if (!s->small && b->room <= SMALL) {
        s->small = b;
        return;
    }
    if (s->count == MOST_BLOCKS || b->room > LARGEST_BLOCK || b->room > MOST_BYTES - s->bytes) {
        free(b);
        return;
    }
    s->blocks[s->count++] = b;
    s->bytes += b->room;
}

static struct block *block_make(struct block *old, size_t n) {
    if (n > SIZE_MAX - sizeof *old) return NULL;
    struct block *const b = realloc(old, sizeof *b + n);
    if (!b) return NULL;
    b->room = n;
    mem_advise_huge(b, sizeof *b + n);
    return b;
}

/* INVARIANT: what a block of LARGEST_BLOCK or less holds may be less than its room; of a larger one nothing is wasted. */
static void *block_resize(struct spare *s, struct block *b, size_t old_size, size_t n) {
    if (n <= b->room && b->room <= LARGEST_BLOCK) return b + 1;
    if (n > b->room) {
        struct block *const other = block_find(s, n);
        if (other) {
            memcpy(other + 1, b + 1, old_size);
            block_keep(s, b);
            return other + 1;
        }
    }
    b = block_make(b, n);
    return b ? b + 1 : NULL;
}

void *spare_resize(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct spare *const s = ctx;
    struct block *b = block ? (struct block *)block - 1 : NULL;
    if (new_size == 0) {
        if (b) block_keep(s, b);
        return NULL;
    }
    if (b) return block_resize(s, b, old_size, new_size);
    b = block_find(s, new_size);
    if (!b) b = block_make(NULL, new_size);
    return b ? b + 1 : NULL;
}
