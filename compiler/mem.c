/* The compiler's arena: blocks in a chain, under a cap on what is handed out.
 *
 * Layer: lowest of compiler/.
 */
#include "mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct mem_block {
    struct mem_block *next;
    size_t size, used;
    max_align_t data[];
};

enum { BLOCK_BYTES = 64 * 1024 };

void mem_init(struct mem *m, size_t most) { *m = (struct mem){.most = most}; }

void mem_free(struct mem *m) {
    struct mem_block *b = m->blocks;
    while (b != NULL) {
        struct mem_block *next = b->next;
        free(b);
        b = next;
    }
    m->blocks = NULL;
    m->used = 0;
}

static struct mem_block *block_add(struct mem *m, size_t need) {
    size_t size = need > BLOCK_BYTES / 4 ? need : BLOCK_BYTES;
    struct mem_block *b = malloc(sizeof *b + size);
    if (b == NULL) {
        return NULL;
    }
    b->size = size;
    b->used = 0;
    /* A large request gets a block of its own behind the current one, whose room stays in use. */
    if (size != BLOCK_BYTES && m->blocks != NULL) {
        b->next = m->blocks->next;
        m->blocks->next = b;
    } else {
        b->next = m->blocks;
        m->blocks = b;
    }
    return b;
}

void *mem_alloc(struct mem *m, size_t count, size_t size) {
    const size_t align = sizeof(max_align_t);
    if (m->failed || (size != 0 && count > (SIZE_MAX - align) / size)) {
        m->failed = true;
        return NULL;
    }
    size_t need = (count * size + align - 1) / align * align;
    if (need == 0) {
        need = align;
    }
    struct mem_block *b = m->blocks;
    if (need > m->most - m->used) {
        b = NULL;
    } else if (b == NULL || need > b->size - b->used) {
        b = block_add(m, need);
    }
    if (b == NULL) {
        m->failed = true;
        return NULL;
    }
    m->used += need;
    void *p = (char *)b->data + b->used;
    b->used += need;
    return memset(p, 0, need);
}

bool mem_text(struct mem *m, const char *at, size_t len, struct text *out) {
    char *copy = len == SIZE_MAX ? NULL : mem_alloc(m, len + 1, 1);
    if (copy == NULL) {
        *out = (struct text){"", 0};
        return false;
    }
    if (len != 0) {
        memcpy(copy, at, len);
    }
    *out = (struct text){copy, len};
    return true;
}

void *mem_grow(struct mem *m, void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) {
        return array;
    }
    size_t wanted = *room == 0 ? 8 : *room * 2;
    void *bigger = mem_alloc(m, wanted, size);
    if (bigger == NULL) {
        return NULL;
    }
    if (count != 0) {
        memcpy(bigger, array, count * size);
    }
    *room = wanted;
    return bigger;
}

struct text text_of(const char *string) {
    return (struct text){string, strlen(string)};
}

bool text_equal(struct text a, struct text b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool text_is(struct text a, const char *word) { return text_equal(a, (struct text){word, strlen(word)}); }

int text_compare(struct text a, struct text b) {
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    if (order != 0) {
        return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}
