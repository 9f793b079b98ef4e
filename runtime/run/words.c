/* Errors, lists of words for execve, what is written, and the clock.  Layer: see run.h. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

static void make_printable(char *text) {
    for (; *text; text++) {
        if (*text < 0x20 || *text > 0x7e) *text = '?';
    }
}

bool run_fail(struct upk_error *err, unsigned code, const char *format, ...) {
    if (!err) return false;
    memset(err, 0, sizeof *err);
    err->code = (uint16_t)code;
    err->cls = (uint8_t)upk_code_class(code);
    va_list arguments;
    va_start(arguments, format);
    const int len = vsnprintf(err->detail, sizeof err->detail, format, arguments);
    va_end(arguments);
    if (len >= (int)sizeof err->detail) memset(err->detail + sizeof err->detail - 4, '.', 3);
    make_printable(err->detail);
    return false;
}

void run_remedy(struct upk_error *err, const char *words) {
    if (err) (void)snprintf(err->change, sizeof err->change, "%s", words);
}

bool run_fail_memory(struct upk_error *err) { return run_fail(err, UPK_ERR_MEMORY, "%s", ""); }

/* ---- lists */

/* Takes `text`, which is owned by the list then; NULL: there was no memory for it. */
static void put(struct words *w, char *text) {
    if (text && w->count + 1 >= w->room) {
        const size_t room = w->room ? w->room * 2 : 64;
        char **const at = realloc(w->at, room * sizeof *at);
        if (at) {
            w->at = at;
            w->room = room;
        } else {
            free(text);
            text = NULL;
        }
    }
    if (!text) {
        w->failed = true;
        return;
    }
    w->at[w->count++] = text;
    w->at[w->count] = NULL;
}

void words_add(struct words *w, const char *text) { put(w, strdup(text)); }

void words_join(struct words *w, const char *first, const char *second) {
    const size_t n = strlen(first), m = strlen(second);
    char *const text = malloc(n + m + 1);
    if (text) {
        memcpy(text, first, n);
        memcpy(text + n, second, m + 1);
    }
    put(w, text);
}

void words_free(struct words *w) {
    for (size_t i = 0; i < w->count; i++) free(w->at[i]);
    free(w->at);
    *w = (struct words){0};
}

bool run_write(int fd, const char *text, size_t len) {
    while (len) {
        const ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

int run_rewind(int fd, bool good) {
    if (good && lseek(fd, 0, SEEK_SET) == 0) return fd;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

int64_t run_now(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
