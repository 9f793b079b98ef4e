/* The file that holds a policy to its runs: the first run writes it, and later ones go on only under the very same policy.
 *
 * It says what the policy is, and nothing else can stand in it.  Whoever can write it could as well take it away, so it must be the
 * user's own, and nobody else's to write.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

enum { STATE_ROOM = 1024, NAME_MOST = 200 };

/* ---- the text */

static void put_digest(char *to, const uint8_t digest[32]) {
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        to[2 * i] = hex[digest[i] >> 4];
        to[2 * i + 1] = hex[digest[i] & 15];
    }
    to[64] = 0;
}

static int cut(struct upk_text t) { return (int)(t.len < NAME_MOST ? t.len : NAME_MOST); }

/* INVARIANT: names are for people; the digests are what is held to.  Length of the text, which fits. */
static size_t state_text(const struct held *h, char out[STATE_ROOM]) {
    char own[65], rules[65];
    put_digest(own, h->policy->run_digest);
    put_digest(rules, h->rules->run_digest);
    const struct upk_policy *const p = h->policy;
    const int n = snprintf(out, STATE_ROOM, "upk-run 1\npolicy %.*s %u\nchannel %.*s\ndigest %s\nrules %s\n",
                           cut(p->name), p->pool + p->name.at, p->revision, cut(p->channel),
                           p->pool + p->channel.at, own, rules);
    return n < 0 ? 0 : (size_t)n < STATE_ROOM ? (size_t)n : STATE_ROOM - 1;
}

/* ---- reading */

static bool refuse(const char *path, const char *why, struct upk_error *err) {
    return run_fail(err, UPK_ERR_RUN_STATE, "%.90s %s", path, why);
}

static bool is_own(int fd, const char *path, struct upk_error *err) {
    struct stat s;
    if (fstat(fd, &s) != 0) return refuse(path, strerror(errno), err);
    if (!S_ISREG(s.st_mode)) return refuse(path, "is no regular file", err);
    if (s.st_uid != geteuid()) return refuse(path, "belongs to another user", err);
    if (s.st_mode & (S_IWGRP | S_IWOTH)) return refuse(path, "may be written by others", err);
    if (s.st_size >= STATE_ROOM) return refuse(path, "is too long for a state", err);
    return true;
}

static bool read_whole(int fd, char out[STATE_ROOM], size_t *len) {
    *len = 0;
    while (*len < STATE_ROOM) {
        const ssize_t n = read(fd, out + *len, STATE_ROOM - *len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        *len += (size_t)n;
    }
    return true;
}

static bool check(int fd, const char *path, const struct held *h, struct upk_error *err) {
    char found[STATE_ROOM], wanted[STATE_ROOM];
    size_t len;
    if (!is_own(fd, path, err)) return false;
    if (!read_whole(fd, found, &len)) return refuse(path, strerror(errno), err);
    const size_t n = state_text(h, wanted);
    if (len == n && memcmp(found, wanted, n) == 0) return true;
    static const char head[] = "upk-run 1\npolicy ";
    if (len <= sizeof head || memcmp(found, head, sizeof head - 1) != 0 || len > n + 2 * NAME_MOST)
        return refuse(path, "is no state", err);
    (void)refuse(path, "is of another policy, or was changed", err);
    run_remedy(err, "run under the policy that it names; or, to begin anew under this one, delete the file");
    return false;
}

bool state_read(const char *path, const struct held *h, bool *found, struct upk_error *err) {
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    *found = fd >= 0;
    if (fd < 0 && errno == ENOENT) return true;
    if (fd < 0) return refuse(path, errno == ELOOP ? "is a link" : strerror(errno), err);
    const bool good = check(fd, path, h, err);
    (void)close(fd);
    return good;
}

/* ---- writing */

/* It is there with all of its text, or not at all: a name is given to it last, which must be free. */
static bool write_as(const char *path, char *draft, const struct held *h, struct upk_error *err) {
    char text[STATE_ROOM];
    const size_t len = state_text(h, text);
    const int fd = mkostemp(draft, O_CLOEXEC);
    if (fd < 0) return refuse(path, strerror(errno), err);
    bool good = run_write(fd, text, len) && fsync(fd) == 0;
    int error = errno;
    good = close(fd) == 0 && good;
    if (good && link(draft, path) != 0) {
        good = false;
        error = errno;
    }
    (void)unlink(draft);
    return good || refuse(path, strerror(error), err);
}

bool state_write(const char *path, const struct held *h, struct upk_error *err) {
    static const char tail[] = ".XXXXXX";
    const size_t len = strlen(path);
    char *const draft = malloc(len + sizeof tail);
    if (!draft) return run_fail_memory(err);
    memcpy(draft, path, len);
    memcpy(draft + len, tail, sizeof tail);
    const bool good = write_as(path, draft, h, err);
    free(draft);
    return good;
}
