/* Writing a policy in the place of a former one, which is kept.
 *
 * Layer: a part of the program policyc; see learn_block.h.
 */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../compiler/files.h"
#include "learn_block.h"

/* The former file under another name: the same file, so that nothing of it is lost on the way.  The name is a new one: link()
 * replaces nothing. */
static bool keep_former(const char *path, char **kept, struct diag *d) {
    enum { MOST = 10000, EXTRA = 24 };
    char *const real = realpath(path, NULL);
    const size_t size = real ? strlen(real) + EXTRA : 0;
    char *const name = real ? malloc(size) : NULL;
    int error = name ? EEXIST : errno;
    for (int i = 0; name && i < MOST && error == EEXIST; i++) {
        (void)snprintf(name, size, i == 0 ? "%s.old" : "%s.old_%d", real, i);
        error = link(real, name) == 0 ? 0 : errno;
    }
    free(real);
    if (error == 0) {
        *kept = name;
        return true;
    }
    free(name);
    return file_not_written(path, error, d);
}

bool learn_save(const char *path, bool exists, const struct output *text, struct diag *d) {
    char *kept = NULL;
    if (exists && access(path, W_OK) != 0) return file_not_written(path, errno, d);
    if (exists && !keep_former(path, &kept, d)) return false;
    const bool good = file_replace(path, text, d);
    if (!good && kept) (void)unlink(kept);
    free(kept);
    return good;
}
