/* Writing of output files.  Layer: see files.h.
 *
 * rename() is the only step that touches what was there, and it comes last: a full disk or a signal leaves
 * the files of the last run.  Only between two renames can a failure leave new files beside old ones.
 *
 * A file in the making is PLACE.N.tmp, and locked.  One that is there and not locked is what a killed run left: the next run
 * removes it, so that none is left for good, and makes its own, whose mode is that of a new file.
 */
#define _XOPEN_SOURCE 700

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 100, EXTRA_BYTES = 48 };

struct target {
    const char *path; /* as given, for messages */
    char *place;      /* without links; owned */
    char *made;       /* the file being written, beside it; owned, NULL: none that is there */
    int fd;           /* of it, locked; -1: none */
    bool exists;
    struct stat old; /* where it exists */
};

static bool refuse(struct diag *d, const char *path, const char *why) {
    diag_error_nowhere(d, P_OUTPUT_NAME, "`%s' is not written: %s", diag_quote(d, text_of(path)), why);
    return false;
}

bool file_not_written(const char *path, int error, struct diag *d) {
    d->io = true;
    diag_error_nowhere(d, P_NOT_WRITTEN, "cannot write %s: %s", diag_quote(d, text_of(path)),
                       strerror(error));
    return false;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_source(const struct compiled *c, const struct stat *file) {
    for (size_t i = 0; i < c->file_count; i++) {
        struct stat source;
        if (stat(c->files[i].path.at, &source) == 0 && same_file(&source, file)) return true;
    }
    return false;
}

static bool ends_in(const char *path, const char *ending) {
    const size_t len = strlen(path), n = strlen(ending);
    return len >= n && memcmp(path + len - n, ending, n) == 0;
}

/* What is there. */
static bool target_look(const char *path, struct target *t, struct diag *d) {
    struct stat link;
    t->path = path;
    t->exists = stat(path, &t->old) == 0;
    if (!t->exists && errno != ENOENT) return file_not_written(path, errno, d);
    if (!t->exists && lstat(path, &link) == 0) return refuse(d, path, "it is a link that leads nowhere");
    if (t->exists && !S_ISREG(t->old.st_mode)) return refuse(d, path, "it is no regular file");
    return true;
}

/* Where the file goes. */
static bool target_place(struct target *t, struct diag *d) {
    if (t->exists && access(t->path, W_OK) != 0) return file_not_written(t->path, errno, d);
    t->place = t->exists ? realpath(t->path, NULL) : strdup(t->path);
    return t->place || file_not_written(t->path, errno, d);
}

/* Where an output goes, and whether it may. */
static bool target_find(const struct compiled *c, const char *path, struct target *t, struct diag *d) {
    if (ends_in(path, ".policy")) return refuse(d, path, "its name is that of a policy");
    if (!target_look(path, t, d)) return false;
    if (t->exists && is_source(c, &t->old)) return refuse(d, path, "the policy was read from it");
    return target_place(t, d);
}

static bool targets_differ(const struct target *targets, size_t count, struct diag *d) {
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (targets[i].exists && targets[j].exists && same_file(&targets[i].old, &targets[j].old))
                return refuse(d, targets[i].path, "another output is the same file");
        }
    }
    return true;
}

/* Locks the file; false: another run has it, or had it and has given it its name, or it is no file of ours. */
static bool take(int fd, const char *path, bool fresh) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat open_file, named;
    if (fcntl(fd, F_SETLK, &all) != 0) {
        /* Where there are no locks, no run removes what it did not make. */
        if (!fresh || errno == EACCES || errno == EAGAIN) return false;
    }
    return fstat(fd, &open_file) == 0 && lstat(path, &named) == 0 && same_file(&open_file, &named) &&
           S_ISREG(named.st_mode) && named.st_nlink == 1 && (fresh || named.st_uid == geteuid());
}

/* Removes what a killed run left there, under its lock: who opened it before finds that it is gone. */
static void remove_left_over(const char *path) {
    const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && take(fd, path, false)) (void)unlink(path);
    if (fd >= 0) (void)close(fd);
}

/* A new file, locked; -1 and EEXIST: something else is there and stays. */
static int make_file(const char *path) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0 || take(fd, path, true)) return fd;
    (void)close(fd);
    errno = EEXIST;
    return -1;
}

/* Opens an empty file of our own in the folder of the target: rename() does not cross file systems. */
static int target_open(struct target *t) {
    const size_t size = strlen(t->place) + EXTRA_BYTES;
    t->made = malloc(size);
    if (!t->made) {
        errno = ENOMEM;
        return -1;
    }
    for (int i = 0; i < MOST_TRIES; i++) {
        (void)snprintf(t->made, size, "%s.%d.tmp", t->place, i);
        int fd = make_file(t->made);
        if (fd < 0 && errno == EEXIST) {
            remove_left_over(t->made);
            fd = make_file(t->made);
        }
        if (fd >= 0) return fd;
        if (errno != EEXIST) break;
    }
    const int error = errno;
    free(t->made);
    t->made = NULL;
    errno = error;
    return -1;
}

static int write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        const ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static bool target_make(struct target *t, const struct output *text, struct diag *d) {
    t->fd = target_open(t);
    if (t->fd < 0) return file_not_written(t->path, errno, d);
    int error = write_all(t->fd, text->bytes, text->len);
    if (t->exists && !error && fchmod(t->fd, t->old.st_mode & 0777) != 0) error = errno;
    return !error || file_not_written(t->path, error, d);
}

/* The file stays locked until it has its name. */
static bool target_move(struct target *t, struct diag *d) {
    if (rename(t->made, t->place) != 0) return file_not_written(t->path, errno, d);
    free(t->made);
    t->made = NULL;
    const int fd = t->fd;
    t->fd = -1;
    return close(fd) == 0 || file_not_written(t->path, errno, d);
}

static void target_free(struct target *t) {
    if (t->made) (void)unlink(t->made);
    if (t->fd >= 0) (void)close(t->fd);
    free(t->made);
    free(t->place);
}

bool files_write(const struct compiled *c, const struct out_file *files, size_t count, struct diag *d) {
    struct target targets[FILES_MOST] = {0};
    bool good = true;
    for (size_t i = 0; i < FILES_MOST; i++) targets[i].fd = -1;
    for (size_t i = 0; i < count && good; i++) good = target_find(c, files[i].path, &targets[i], d);
    good = good && targets_differ(targets, count, d);
    if (good && !ends_in(files[0].path, ".c")) good = refuse(d, files[0].path, "its name does not end in .c");
    for (size_t i = 0; i < count && good; i++) good = target_make(&targets[i], files[i].text, d);
    for (size_t i = 0; i < count && good; i++) good = target_move(&targets[i], d);
    for (size_t i = 0; i < count; i++) target_free(&targets[i]);
    return good;
}

bool file_replace(const char *path, const struct output *text, struct diag *d) {
    struct target t = {.fd = -1};
    const bool good =
        target_look(path, &t, d) && target_place(&t, d) && target_make(&t, text, d) && target_move(&t, d);
    target_free(&t);
    return good;
}
