/* Perfect-hash tables over (module, name) pairs, for the template of runtime/find_class.h.
 *
 * Layer: above gperf.c and mem.c; knows keys and row ids, nothing of policies.  The result depends on the
 * keys alone.
 */
#ifndef COMPILER_PERFECT_H
#define COMPILER_PERFECT_H

#include "../runtime/upk_tables.h"
#include "mem.h"

struct perfect_pool { /* the texts of all keys */
    const char *bytes;
    uint32_t len; /* UPK_NAME_PADDED of them, at the end, belong to no key */
};

enum perfect_status {
    PERFECT_OK,
    PERFECT_MEMORY,
    PERFECT_NO_GPERF, /* GPERF_PATH cannot be run */
    PERFECT_SYSTEM,   /* pipes or processes: see `error` */
    PERFECT_GPERF,    /* gperf complained */
    PERFECT_UNSOLVED  /* no digest tells the keys apart; two keys are equal */
};

/* `keys` are borrowed, distinct pairs of 1 to UPK_NAME_MOST bytes each, with a row in one reading at
 * least.  `in_process`: for tables that live no longer than the process, without gperf, and quicker (peel.h).  out[0] and out[1] are the two readings of one set of tables, which live in `m`. */
enum perfect_status perfect_build(struct mem *m, const struct upk_key *keys, size_t count,
                                  struct perfect_pool pool, bool in_process, struct upk_keys out[2],
                                  int *error);

/* The same for keys with the texts of `from`, a result of perfect_build, with its association values.  false: other texts, or no memory
 * (m->failed). */
bool perfect_reuse(struct mem *m, const struct upk_keys from[2], const struct upk_key *keys, size_t count,
                   struct perfect_pool pool, struct upk_keys out[2]);

#endif
