/* Output files: written in full beside their places, then moved there, all or none.
 *
 * Layer: above output, beside emit.
 */
#ifndef COMPILER_FILES_H
#define COMPILER_FILES_H

#include "compile.h"
#include "output.h"

enum { FILES_MOST = 5 }; /* .c, .h, .d, and of a Python module two more */

struct out_file {
    const char *path;
    const struct output *text;
};

/* Writes 1 to FILES_MOST files, the .c first.  Refuses names that end in `.policy`, a first one that is no .c,
 * the files that `c` was read from, and what is there but no regular file; a link is followed, not replaced.
 * Before everything is written nothing that was there is touched, and what is left of a failure is removed.
 *
 * false: the reason is an error in `d`; d->io is set where it is the system's. */
bool files_write(const struct compiled *c, const struct out_file *files, size_t count, struct diag *d);

/* The error of a file that the system does not let be written; false. */
bool file_not_written(const char *path, int error, struct diag *d);

/* Writes one file of any name in the same way, in the place of the one that is there; its mode stays. */
bool file_replace(const char *path, const struct output *text, struct diag *d);

#endif
