/* The lookup of a (module, name) pair: one hand-written template over perfect-hash tables that policyc
 * writes.
 *
 * Layer: lowest of the runtime; also part of the contract with generated C (upk_tables.h includes it).
 *
 * A generated file instantiates the template on its own constant `struct upk_keys`: every count is then known
 * to the C compiler, every loop unrolls, and no conditional jump and no call is left (tests/find_class
 * measures that for gcc and clang).  `upk_find_class_any` is the same template over tables that are known
 * only at run time; its loops depend on the table's own counts, never on the names.
 *
 * How it works:
 *   1. A length picks 16 * vectors bytes of a sliding window, 0xff for the bytes inside the string and 0
 *      behind them.
 *   2. The digest is a weighted sum of both lengths and of the few masked 8-byte words that tell the table's
 *      keys apart.
 *   3. Its high half picks a bucket, its low three bytes a slot in it, by the sum of three association values
 *      from gperf.
 *   4. Both lengths in full and all masked bytes are compared with the slot's key.  The digest decides
 *      nothing: whatever it hits, only an equal pair gets a row.
 *
 * Padding contract: of each string 16 * vectors bytes (vectors = the table's longest one / 16, rounded up;
 * never more than UPK_NAME_PADDED) are readable from its first byte on, whatever its length says.  What lies
 * behind its end has no influence. Lengths may be any size_t.
 */
#ifndef UPK_FIND_CLASS_H
#define UPK_FIND_CLASS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    UPK_NAME_MOST = 256,  /* bytes of a module or a qualname; a longer one is in no table */
    UPK_NAME_PADDED = 256 /* 16 * vectors is at most this */
};

/* A word of the digest: 8 bytes from offset `at`, read little-endian, bytes outside the string taken as 0. */
struct upk_word {
    uint64_t factor, at;
};

/* A slot: a key with its row ids, one for each way to read names (upk_tables.h: policy.keys).  An empty
 * slot has no row. */
struct upk_key {
    uint32_t module, name; /* in the pool */
    uint16_t module_len, name_len;
    uint32_t row[2];
};

/* INVARIANT (proved by upk_policy_check): buckets >= 1; slot_mask is a power of two less 1; base[b] +
 * slot_mask < slot_count; vectors <= UPK_NAME_PADDED / 16; at + 8 <= 16 * vectors of the word's string;
 * key offset + 16 * vectors <= pool_len. */
struct upk_keys {
    uint64_t seed, module_factor, name_factor;
    uint32_t module_vectors, name_vectors; /* 16 bytes each */
    uint32_t module_words, name_words;     /* of `words`, those of the module first */
    uint32_t buckets, slot_mask, slot_count, pool_len;
    uint32_t reading; /* index in upk_key.row */
    uint32_t key_count;
    const struct upk_word *words;
    const uint8_t *asso;  /* 256 association values for each bucket */
    const uint32_t *base; /* first slot of each bucket */
    const struct upk_key *slots;
    const char *pool;
};

/* Row id of the pair, 0 where the table does not hold it. */
typedef uint32_t (*upk_find_class_fn)(const struct upk_keys *keys, const uint8_t *module, size_t module_len,
                                      const uint8_t *name, size_t name_len);

uint32_t upk_find_class_any(const struct upk_keys *keys, const uint8_t *module, size_t module_len,
                            const uint8_t *name, size_t name_len);

/* Unrolling is asked for where the counts are constants; find_class.c, where they are not, asks for none. */
#if defined UPK_FIND_CLASS_ANY
#define UPK_UNROLL
#elif defined __clang__
#define UPK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define UPK_UNROLL _Pragma("GCC unroll 32")
#endif

#define UPK_INLINE static inline __attribute__((always_inline))

/* The window is a power of two longer than any key, so that a length can be cut to it without a
 * comparison; a length that aliases misses at step 4. */
enum { UPK_WINDOW = 512 };

#define UPK_FF4   0xff, 0xff, 0xff, 0xff
#define UPK_FF16  UPK_FF4, UPK_FF4, UPK_FF4, UPK_FF4
#define UPK_FF64  UPK_FF16, UPK_FF16, UPK_FF16, UPK_FF16
#define UPK_FF256 UPK_FF64, UPK_FF64, UPK_FF64, UPK_FF64
static const uint8_t upk_window[UPK_WINDOW + UPK_NAME_PADDED] = {UPK_FF256, UPK_FF256};

typedef uint64_t upk_vector __attribute__((vector_size(16)));

UPK_INLINE upk_vector upk_load_vector(const void *p) {
    upk_vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

UPK_INLINE uint64_t upk_load_word(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

UPK_INLINE const uint8_t *upk_window_of(size_t len) {
    return upk_window + UPK_WINDOW - (len & (UPK_WINDOW - 1));
}

/* Steps 1 and 2. */
UPK_INLINE uint64_t upk_digest(const struct upk_keys *keys, const uint8_t *module, size_t module_len,
                               const uint8_t *name, size_t name_len) {
    const uint8_t *const module_window = upk_window_of(module_len);
    const uint8_t *const name_window = upk_window_of(name_len);
    const struct upk_word *const words = keys->words;
    uint64_t d =
        keys->seed + (uint64_t)module_len * keys->module_factor + (uint64_t)name_len * keys->name_factor;
    UPK_UNROLL
    for (uint32_t i = 0; i < keys->module_words; i++) {
        d += (upk_load_word(module + words[i].at) & upk_load_word(module_window + words[i].at)) *
             words[i].factor;
    }
    UPK_UNROLL
    for (uint32_t i = 0; i < keys->name_words; i++) {
        const struct upk_word *const w = words + keys->module_words + i;
        d += (upk_load_word(name + w->at) & upk_load_word(name_window + w->at)) * w->factor;
    }
    /* A sum of products is weak in its low bits; fold, multiply, fold lets every byte of d reach every
     * byte of the result. */
    d ^= d >> 32;
    d *= UINT64_C(0x9e3779b97f4a7c15);
    return d ^ (d >> 29);
}

UPK_INLINE uint32_t upk_bucket_of(const struct upk_keys *keys, uint64_t digest) {
    return (uint32_t)(((digest >> 32) * keys->buckets) >> 32);
}

UPK_INLINE uint32_t upk_find_class(const struct upk_keys *keys, const uint8_t *module, size_t module_len,
                                   const uint8_t *name, size_t name_len) {
    const uint8_t *const module_window = upk_window_of(module_len);
    const uint8_t *const name_window = upk_window_of(name_len);
    const uint64_t digest = upk_digest(keys, module, module_len, name, name_len);

    /* Step 3.  Slots behind the last bucket fill the table up to the mask, so that no sum leads out of it. */
    const uint32_t bucket = upk_bucket_of(keys, digest);
    const uint8_t *const asso = keys->asso + (size_t)bucket * 256;
    const uint32_t sum = (uint32_t)asso[digest & 0xff] + asso[digest >> 8 & 0xff] + asso[digest >> 16 & 0xff];
    const struct upk_key *const key = keys->slots + keys->base[bucket] + (sum & keys->slot_mask);

    /* Step 4. */
    upk_vector differ = {0, 0};
    UPK_UNROLL
    for (uint32_t i = 0; i < keys->module_vectors; i++) {
        differ |= (upk_load_vector(module + 16 * i) ^ upk_load_vector(keys->pool + key->module + 16 * i)) &
                  upk_load_vector(module_window + 16 * i);
    }
    UPK_UNROLL
    for (uint32_t i = 0; i < keys->name_vectors; i++) {
        differ |= (upk_load_vector(name + 16 * i) ^ upk_load_vector(keys->pool + key->name + 16 * i)) &
                  upk_load_vector(name_window + 16 * i);
    }
    const uint64_t wrong =
        differ[0] | differ[1] | (module_len ^ key->module_len) | (name_len ^ key->name_len);
    uint64_t keep = ((wrong | (0 - wrong)) >> 63) - 1;
    /* Without the barrier clang 14 turns the mask into a jump around the load of the row. */
    __asm__("" : "+r"(keep));
    return key->row[keys->reading] & (uint32_t)keep;
}

#endif
