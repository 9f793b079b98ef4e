/* The program that a command names.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool is_program(const char *path) { return is_file(path) && access(path, X_OK) == 0; }

/* `folder` (len bytes; "" is the working one), a slash, `name`; owned. */
static char *join(const char *folder, size_t len, const char *name) {
    const size_t n = strlen(name);
    char *const path = malloc(len + n + 2);
    if (!path) return NULL;
    memcpy(path, folder, len);
    path[len] = '/';
    memcpy(path + len + 1, name, n + 1);
    return path;
}

static const char *path_of(char *const *env) {
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0) return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

/* Also what a link leads to. */
static bool is_seen(const struct upk_run_options *o, const char *path) {
    char real[PATH_MAX];
    return bubblewrap_shows(o, path) && realpath(path, real) && bubblewrap_shows(o, real);
}

/* `path`, which is owned, is the program, or passed by, or neither. */
static void take(struct program *p, const struct upk_run_options *o, bool confined, char *path) {
    if (!is_program(path))
        free(path);
    else if (!confined || is_seen(o, path))
        p->path = path;
    else if (!p->passed)
        p->passed = path;
    else
        free(path);
}

/* On the child's own path; folders that are not absolute are none.  false: out of memory. */
static bool search(struct program *p, const struct upk_run_options *o, const char *path, bool confined) {
    for (;; path++) {
        const size_t len = strcspn(path, ":");
        if (len && *path == '/') {
            char *const next = join(path, len, o->command[0]);
            if (!next) return false;
            take(p, o, confined, next);
        }
        path += len;
        if (p->path || !*path) return true;
    }
}

static bool fail_hidden(const char *path, struct upk_error *err) {
    char real[PATH_MAX];
    if (realpath(path, real) && strcmp(path, real) != 0)
        (void)run_fail(err, UPK_ERR_RUN_START, "the confined child does not see %.90s, which is %.90s", path,
                       real);
    else
        (void)run_fail(err, UPK_ERR_RUN_START, "the confined child does not see %.100s", path);
    run_remedy(err, "show the folder of the program: --visible DIR, visible=[DIR]");
    return false;
}

bool program_find(struct program *p, const struct upk_run_options *o, char *const *env, bool confined,
                  struct upk_error *err) {
    const char *const name = o->command[0];
    *p = (struct program){.path = NULL};
    if (!strchr(name, '/')) {
        if (!search(p, o, path_of(env), confined)) return run_fail_memory(err);
        if (p->path) return true;
        return p->passed
                   ? fail_hidden(p->passed, err)
                   : run_fail(err, UPK_ERR_RUN_START, "there is no program %.100s on the child's PATH", name);
    }
    p->path = *name == '/' ? strdup(name) : join(o->folder, strlen(o->folder), name);
    if (!p->path) return run_fail_memory(err);
    if (!is_file(p->path)) return run_fail(err, UPK_ERR_RUN_START, "there is no program %.100s", p->path);
    if (!is_program(p->path)) return run_fail(err, UPK_ERR_RUN_START, "%.100s may not be executed", p->path);
    return !confined || is_seen(o, p->path) || fail_hidden(p->path, err);
}

void program_free(struct program *p) {
    free(p->path);
    free(p->passed);
    *p = (struct program){.path = NULL};
}
