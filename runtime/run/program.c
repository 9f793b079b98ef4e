/* The program that a command names.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static bool is_program(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* `folder` (len bytes), a slash, `name` without what only says that it is in there; owned. */
static char *join(const char *folder, size_t len, const char *name) {
    while (strncmp(name, "./", 2) == 0) name += 2;
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

/* As the child will find it from its working folder; owned. */
static char *from_folder(const struct upk_run_options *o, const char *name) {
    return *name == '/' ? strdup(name) : join(o->folder, strlen(o->folder), name);
}

/* ---- may it be run? */

/* A file that is to be run, and its name in words. */
struct wanted {
    const char *path, *name;
    const char *script; /* whose interpreter it is; NULL: the program itself is meant */
};

/* The name, between what is wrong with it. */
static bool fail(const struct wanted *f, const char *before, const char *after, struct upk_error *err) {
    if (f->script)
        return run_fail(err, UPK_ERR_RUN_START, "the interpreter of %.40s: %s%.40s%s", f->script, before,
                        f->name, after);
    return run_fail(err, UPK_ERR_RUN_START, "%s%.90s%s", before, f->name, after);
}

static bool fail_hidden(const struct wanted *f, struct upk_error *err) {
    char real[PATH_MAX], after[PATH_MAX + 16] = "";
    if (realpath(f->path, real) && strcmp(f->path, real) != 0)
        (void)snprintf(after, sizeof after, ", which is %s", real);
    (void)fail(f, "the confined child does not see ", after, err);
    run_remedy(err, "show the folder of the program: --visible DIR, visible=[DIR]");
    return false;
}

static bool fail_missing(const struct wanted *f, struct upk_error *err) {
    char why[100];
    if (errno == ENOENT || errno == ENOTDIR) return fail(f, "there is no program ", "", err);
    (void)snprintf(why, sizeof why, ": %s", strerror(errno));
    return fail(f, "", why, err);
}

static bool may_be_run(const struct wanted *f, const struct upk_run_options *o, bool confined,
                       struct upk_error *err) {
    struct stat s;
    if (stat(f->path, &s) != 0) return fail_missing(f, err);
    if (S_ISDIR(s.st_mode)) return fail(f, "", " is a folder", err);
    if (!is_program(f->path)) return fail(f, "", " may not be executed", err);
    return !confined || is_seen(o, f->path) || fail_hidden(f, err);
}

/* ---- scripts */

enum { LINE_MOST = 255 }; /* the kernel reads no more of a script */

/* What a script's first line names, in `line`; NULL: it is no script, or cannot be read. */
static const char *interpreter_of(const char *path, char line[LINE_MOST + 1]) {
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return NULL;
    const ssize_t n = read(fd, line, LINE_MOST);
    (void)close(fd);
    if (n < 2 || memcmp(line, "#!", 2) != 0) return NULL;
    line[n] = 0;
    char *const name = line + 2 + strspn(line + 2, " \t");
    const size_t len = strcspn(name, " \t\n");
    if (len == 0 || name + len == line + LINE_MOST) return NULL;
    name[len] = 0;
    return name;
}

/* The kernel tells of one that is not there as if it was the script. */
static bool interpreter_check(const struct wanted *script, const struct upk_run_options *o, bool confined,
                              struct upk_error *err) {
    char line[LINE_MOST + 1];
    const char *const name = interpreter_of(script->path, line);
    if (!name) return true;
    char *const path = from_folder(o, name);
    if (!path) return run_fail_memory(err);
    const struct wanted interpreter = {path, name, script->name};
    const bool good = may_be_run(&interpreter, o, confined, err);
    free(path);
    return good;
}

/* ---- */

/* One that may be run: by a path, or on the child's own PATH. */
static bool find(struct program *p, const struct upk_run_options *o, char *const *env, bool confined,
                 struct upk_error *err) {
    const char *const name = o->command[0];
    if (strchr(name, '/')) {
        p->path = from_folder(o, name);
        const struct wanted given = {p->path, name, NULL};
        return p->path ? may_be_run(&given, o, confined, err) : run_fail_memory(err);
    }
    if (!search(p, o, path_of(env), confined)) return run_fail_memory(err);
    if (p->path) return true;
    const struct wanted hidden = {p->passed, p->passed, NULL};
    return p->passed
               ? fail_hidden(&hidden, err)
               : run_fail(err, UPK_ERR_RUN_START, "there is no program %.100s on the child's PATH", name);
}

bool program_find(struct program *p, const struct upk_run_options *o, char *const *env, bool confined,
                  struct upk_error *err) {
    *p = (struct program){.path = NULL};
    if (!find(p, o, env, confined, err)) return false;
    const struct wanted program = {p->path, strchr(o->command[0], '/') ? o->command[0] : p->path, NULL};
    return interpreter_check(&program, o, confined, err);
}

void program_free(struct program *p) {
    free(p->path);
    free(p->passed);
    *p = (struct program){.path = NULL};
}
