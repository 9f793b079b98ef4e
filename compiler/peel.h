/* Association values of a bucket of keys, found without gperf: for tables that live no longer than the process.
 *
 * Layer: beside gperf.h, whose jobs it solves; below perfect.c, which proves these answers as it proves gperf's.
 */
#ifndef COMPILER_PEEL_H
#define COMPILER_PEEL_H

#include "gperf.h"

/* Sets `asso` and `solved` of each job.  Linear in the keys. */
void peel_solve(struct gperf_job *jobs, size_t count);

#endif
