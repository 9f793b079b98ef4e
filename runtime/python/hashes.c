/* Too many keys of one hash: a dict or set of n of them takes n * n steps to fill, so they are looked at before.
 *
 * Layer: see build.h.
 */
#include "build.h"
#include "../sort.h"

enum {
    BUCKETS_FIRST = 256,
    HASH_BITS = sizeof(void *) >= 8 ? 61 : 31 /* an int below 2**HASH_BITS - 1 is its own hash, but for -1 */
};

/* The hash of text has a secret, and that of such an int is shared by one other at most. */
static bool is_plain(struct upk_value v) {
    switch (v.kind) {
    case UPK_NONE:
    case UPK_BOOL:
    case UPK_STR:
    case UPK_STR8:
    case UPK_BYTES: return true;
    case UPK_INT: {
        const int64_t most = (INT64_C(1) << HASH_BITS) - 2;
        return v.as.i >= -most && v.as.i <= most;
    }
    default: return false;
    }
}

bool hashes_doubtful(const struct upk_cell *cell) {
    const uint32_t step = cell->kind == UPK_DICT ? 2 : 1;
    if (cell->len / step <= MOST_OF_ONE_HASH) return false;
    for (uint32_t i = 0; i < cell->len; i += step) {
        if (!is_plain(cell->items[i])) return true;
    }
    return false;
}

/* Does some bucket of hashes hold too many?  If none does, no hash has too many keys either.  A stream that aims at the buckets
 * only has its keys sorted. */
static bool is_crowded(const Py_hash_t *hashes, size_t n, uint8_t *counts, size_t buckets) {
    memset(counts, 0, buckets);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = (uint64_t)hashes[i] * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ h >> 32) & (buckets - 1);
        if (++counts[h] > MOST_OF_ONE_HASH) return true;
    }
    return false;
}

static bool hash_less(const void *a, const void *b, const void *ctx) {
    (void)ctx;
    return *(const Py_hash_t *)a < *(const Py_hash_t *)b;
}

/* The longest run of one hash. */
static size_t most_of_one(Py_hash_t *hashes, size_t n) {
    size_t most = 0, run = 0;
    heap_sort(hashes, n, sizeof *hashes, hash_less, NULL);
    for (size_t i = 0; i < n; i++) {
        run = i && hashes[i] == hashes[i - 1] ? run + 1 : 1;
        if (run > most) most = run;
    }
    return most;
}

static bool hash_all(struct call *c, PyObject *keys, Py_hash_t *hashes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        hashes[i] = PyObject_Hash(PyTuple_GET_ITEM(keys, i));
        if (hashes[i] == -1) return refuse_exception(c, NULL, "hashing a key");
    }
    return true;
}

bool hashes_check(struct call *c, PyObject *keys) {
    const size_t n = (size_t)PyTuple_GET_SIZE(keys);
    size_t buckets = BUCKETS_FIRST;
    while (buckets < n / 2) buckets *= 2;
    const size_t size = n * sizeof(Py_hash_t) + buckets;
    Py_hash_t *const hashes = mem_resize(&c->doc->mem, NULL, 0, size);
    if (!hashes) return refuse_memory(c);
    bool good = hash_all(c, keys, hashes, n);
    if (good && is_crowded(hashes, n, (uint8_t *)(hashes + n), buckets)) {
        const size_t most = most_of_one(hashes, n);
        if (most > MOST_OF_ONE_HASH)
            good = refuse_object(c, NULL, UPK_ERR_HASHES, "%zu of %zu keys have one hash", most, n);
    }
    (void)mem_resize(&c->doc->mem, hashes, size, 0);
    return good;
}
