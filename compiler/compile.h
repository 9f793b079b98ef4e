/* Front door of the compiler as a library: a policy file in, checked models out.
 *
 * Layer: top of the front end; the program policyc calls it.
 */
#ifndef COMPILER_COMPILE_H
#define COMPILER_COMPILE_H

#include "diag.h"
#include "model.h"

struct compile_options {
    const char *path; /* of the main file; with `text`: only its name in messages */
    const char *text; /* not NULL: the main file's bytes, nothing is opened for it */
    size_t text_len;
    const char *policy_dir; /* where "std/..." is looked up; NULL: nowhere */
    const char *const *include_dirs;
    size_t include_dir_count;
    bool allow_fail_open; /* else a policy with `fail_open` is refused */
    uint32_t today;       /* YYYYMMDD, which no `fail_open` may have behind it; 0: none is accepted */
    size_t most_memory;   /* bytes of the arena of the models; 0: 1 GiB */
};

/* Owns everything below it: one arena.  Freed by compiled_free. */
struct compiled {
    struct mem mem;
    /* One per channel, in the order of the policy; without channel blocks one, with an empty name. */
    struct model *models;
    size_t model_count;
    struct model_file *files;
    size_t file_count;
    struct model_environment *environment; /* NULL: the policy has no such block; the next alike */
    struct model_confinement *confinement;
    /* Its tables live no longer than the process: perfect.h.  The caller may say so before they are made. */
    bool in_process;
};

/* YYYY-MM-DD as YYYYMMDD; false: no date of the calendar. */
bool date_read(struct text t, uint32_t *date);

/* true: *out is owned by the caller.  false: *out is NULL and diag_error_count(d) > 0; d->io says whether
 * the main file could not be read.  Messages wait in `d` until diag_flush. */
bool policy_compile(const struct compile_options *options, struct diag *d, struct compiled **out);

void compiled_free(struct compiled *c); /* takes; NULL is fine */

#endif
