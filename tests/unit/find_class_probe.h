/* Questions that every look-up function must answer as an exact comparison does.  Used by test_find_class.c on tables made in
 * memory and by tests/find_class on generated ones.
 *
 * Layer: tests only, over runtime/find_class.h.
 */
#ifndef TESTS_FIND_CLASS_PROBE_H
#define TESTS_FIND_CLASS_PROBE_H

#include <stdbool.h>

#include "../../runtime/find_class.h"

struct probe_report {
    size_t hits, misses, wrong;
    char first_wrong[400]; /* the first wrong answer, in words */
};

/* Asks for every key; for each of its one-byte neighbours, prefixes and extensions; for lengths that alias
 * in 16 or 32 bits or in the window; for pairs put together from two keys and for random bytes.  Each
 * string stands against a page that cannot be read, with no more than the promised padding before it; the
 * padding is zeros and then other bytes.  The answers of `other` (may be NULL), another function over
 * equal tables, must be the same.  false: no memory. */
bool probe_find_class(const struct upk_keys *keys, upk_find_class_fn find, const struct upk_keys *other_keys,
                      upk_find_class_fn other, struct probe_report *report);

#endif
