/* gperf as a child process: one run for each bucket of a key table.
 *
 * Layer: below perfect.c; knows nothing of policies.  The program runs by its absolute path (GPERF_PATH,
 * found when policyc was built) without a shell, with an empty environment, over pipes.  It is a solver that
 * is not trusted: whatever it prints on its error output is a failure, its answer is parsed strictly, and
 * perfect.c proves every answer before it uses it.
 */
#ifndef COMPILER_GPERF_H
#define COMPILER_GPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GPERF_CHARS = 3,      /* bytes of a keyword */
    GPERF_MOST_KEYS = 250 /* of one run: its input fits into an empty pipe */
};

extern const char gperf_path[];

struct gperf_job {
    const uint8_t (*keys)[GPERF_CHARS]; /* distinct; borrowed */
    size_t key_count;                   /* 1 .. GPERF_MOST_KEYS */
    uint32_t asso[256];                 /* out */
    bool solved; /* out: false where the answer is not a plain sum of association values */
};

enum gperf_status { GPERF_OK, GPERF_MISSING, GPERF_SYSTEM, GPERF_COMPLAINED };

/* Runs all jobs, some at a time; the answers do not depend on their order.  `error`: errno where
 * GPERF_SYSTEM. */
enum gperf_status gperf_solve(struct gperf_job *jobs, size_t count, int *error);

#endif
