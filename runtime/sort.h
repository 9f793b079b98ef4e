/* Heap sort: libc's qsort may allocate past the caller's allocator.
 *
 * Layer: lowest of the runtime; includes nothing of it.
 */
#ifndef UPK_SORT_H
#define UPK_SORT_H

#include <stdbool.h>
#include <stddef.h>

enum { SORT_SIZE_MOST = 64 }; /* bytes of an item */

typedef bool (*sort_less_fn)(const void *a, const void *b, const void *ctx);

/* `n` items of `size` bytes, smallest first; equal ones in no order.  In place, n log n. */
void heap_sort(void *items, size_t n, size_t size, sort_less_fn less, const void *ctx);

#endif
