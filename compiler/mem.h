/* The compiler's arena: everything that one compile makes lives in one `struct mem` and is freed with it.
 *
 * Layer: lowest of compiler/.  A failed allocation sticks (`failed`), so that passes may go on to their
 * next check.
 */
#ifndef COMPILER_MEM_H
#define COMPILER_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that somebody else owns; no final NUL is promised. */
struct text {
    const char *at;
    size_t len;
};

struct mem_block;

struct mem {
    struct mem_block *blocks;
    size_t used, most; /* bytes handed out; the cap */
    bool failed;       /* some allocation was refused: nothing may be concluded from the result */
};

void mem_init(struct mem *m, size_t most);
void mem_free(struct mem *m);

/* Zeroed, aligned for any object; NULL (and `failed`) where there is no room.  The arena owns it. */
void *mem_alloc(struct mem *m, size_t count, size_t size);

/* A copy in the arena, with a NUL behind it that is not counted. */
bool mem_text(struct mem *m, const char *at, size_t len, struct text *out);

/* Room for one more element in an arena array; the old array is left behind.  NULL where there is no room. */
void *mem_grow(struct mem *m, void *array, size_t count, size_t *room, size_t size);

/* A string with its NUL left off; borrowed. */
struct text text_of(const char *string);

bool text_equal(struct text a, struct text b);
bool text_is(struct text a, const char *word);
int text_compare(struct text a, struct text b); /* bytewise, a prefix first */

#endif
