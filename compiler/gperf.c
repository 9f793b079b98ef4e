/* gperf as a child process.  Layer: see gperf.h. */
#define _POSIX_C_SOURCE 200809L

#include "gperf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef GPERF_PATH
#error "GPERF_PATH must be the absolute path of gperf"
#endif

const char gperf_path[] = GPERF_PATH;

enum {
    PARALLEL = 4,
    MOST_OUTPUT = 32 * 1024,
    LINE_LEN = 2 + 4 * GPERF_CHARS + 1 /* "\ooo\ooo\ooo" in quotes, LF */
};

/* INVARIANT: the whole input is written before the child exists, so the pipe has to hold it; POSIX
 * promises PIPE_BUF. */
_Static_assert(GPERF_MOST_KEYS *LINE_LEN <= PIPE_BUF, "input of a run must fit into an empty pipe");

struct child {
    struct gperf_job *job; /* NULL: idle */
    pid_t pid;
    int out, err; /* -1: at its end */
    bool complained;
    size_t len;
    char output[MOST_OUTPUT];
};

static void close_end(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static bool pipe_open(int ends[2]) {
    if (pipe(ends) != 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

/* Octal escapes of three digits are the only ones that gperf cannot read as something longer. */
static size_t write_keywords(const struct gperf_job *job, char *to) {
    char *p = to;
    for (size_t i = 0; i < job->key_count; i++) {
        *p++ = '"';
        for (size_t j = 0; j < GPERF_CHARS; j++) {
            const unsigned c = job->keys[i][j];
            *p++ = '\\';
            *p++ = (char)('0' + (c >> 6));
            *p++ = (char)('0' + (c >> 3 & 7));
            *p++ = (char)('0' + (c & 7));
        }
        *p++ = '"';
        *p++ = '\n';
    }
    return (size_t)(p - to);
}

/* 0, or an errno. */
static int spawn(pid_t *pid, int in, int out, int err) {
    /* -n: no length in the sum; -l: keywords may hold NUL; -j 1: the densest tables; -k: all three bytes. */
    static char name[] = "gperf", n[] = "-n", l[] = "-l", j[] = "-j", one[] = "1", k[] = "-k",
                range[] = "1-3";
    char *const arguments[] = {name, n, l, j, one, k, range, NULL};
    char *const environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_adddup2(&actions, in, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, err, 2);
    if (!error) error = posix_spawn(pid, gperf_path, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int child_start(struct child *c, struct gperf_job *job) {
    char input[GPERF_MOST_KEYS * LINE_LEN];
    const size_t len = write_keywords(job, input);
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    int error = 0;
    if (!pipe_open(in) || !pipe_open(out) || !pipe_open(err)) error = errno;
    if (!error && write(in[1], input, len) != (ssize_t)len) error = EIO;
    close_end(&in[1]);
    if (!error) error = spawn(&c->pid, in[0], out[1], err[1]);
    close_end(&in[0]);
    close_end(&out[1]);
    close_end(&err[1]);
    if (error) {
        close_end(&out[0]);
        close_end(&err[0]);
        return error;
    }
    c->job = job;
    c->out = out[0];
    c->err = err[0];
    c->complained = false;
    c->len = 0;
    return 0;
}

static const char *skip_to(const char *text, const char *word) {
    const char *p = strstr(text, word);
    return p ? p + strlen(word) : NULL;
}

/* The table and the sum of gperf's hash function; false where they are not of the plain form.  `text` ends
 * in NUL. */
static bool parse_answer(const char *text, uint32_t asso[256]) {
    static const char sum[] =
        "\n    };\n  return asso_values[(unsigned char)str[2]] + asso_values[(unsigned char)str[1]] + "
        "asso_values[(unsigned char)str[0]];\n}\n";
    const char *p = skip_to(text, "asso_values[] =\n    {");
    if (!p || strstr(p, "asso_values[] =")) return false;
    for (size_t i = 0; i < 256; i++) {
        if (i > 0 && *p++ != ',') return false;
        while (*p == ' ' || *p == '\n') p++;
        uint32_t value = 0;
        size_t digits = 0;
        for (; *p >= '0' && *p <= '9'; p++, digits++) {
            if (digits == 6) return false;
            value = value * 10 + (uint32_t)(*p - '0');
        }
        if (digits == 0) return false;
        asso[i] = value;
    }
    return strncmp(p, sum, sizeof sum - 1) == 0;
}

/* Takes what the pipe holds; at its end closes it. */
static bool drain(int *fd, char *to, size_t room, size_t *len, int *error) {
    const ssize_t n = read(*fd, to, room);
    if (n < 0 && errno != EINTR) {
        *error = errno;
        return false;
    }
    if (n == 0) close_end(fd);
    *len = n > 0 ? (size_t)n : 0;
    return true;
}

static enum gperf_status child_read(struct child *c, bool out, bool err, int *error) {
    size_t n;
    if (out) {
        const size_t room = sizeof c->output - 1 - c->len;
        if (room == 0) return GPERF_COMPLAINED; /* no answer is that long */
        if (!drain(&c->out, c->output + c->len, room, &n, error)) return GPERF_SYSTEM;
        c->len += n;
    }
    if (err) {
        char message[256];
        if (!drain(&c->err, message, sizeof message, &n, error)) return GPERF_SYSTEM;
        if (n > 0) c->complained = true;
    }
    return GPERF_OK;
}

static enum gperf_status child_finish(struct child *c, int *error) {
    int status;
    while (waitpid(c->pid, &status, 0) < 0) {
        if (errno != EINTR) {
            *error = errno;
            c->job = NULL;
            return GPERF_SYSTEM;
        }
    }
    struct gperf_job *const job = c->job;
    c->job = NULL;
    if (c->complained || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return GPERF_COMPLAINED;
    if (memchr(c->output, 0, c->len)) return GPERF_COMPLAINED;
    c->output[c->len] = '\0';
    job->solved = parse_answer(c->output, job->asso);
    return GPERF_OK;
}

static void child_abandon(struct child *c) {
    if (!c->job) return;
    kill(c->pid, SIGKILL);
    close_end(&c->out);
    close_end(&c->err);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    c->job = NULL;
}

static enum gperf_status wait_for_some(struct child *children, int *error) {
    struct pollfd fds[2 * PARALLEL];
    for (size_t i = 0; i < PARALLEL; i++) {
        struct child *const c = &children[i];
        fds[2 * i] = (struct pollfd){.fd = c->job ? c->out : -1, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = c->job ? c->err : -1, .events = POLLIN};
    }
    if (poll(fds, 2 * PARALLEL, -1) < 0) {
        *error = errno;
        return errno == EINTR ? GPERF_OK : GPERF_SYSTEM;
    }
    for (size_t i = 0; i < PARALLEL; i++) {
        struct child *const c = &children[i];
        if (!c->job) continue;
        enum gperf_status s = child_read(c, fds[2 * i].revents != 0, fds[2 * i + 1].revents != 0, error);
        if (s == GPERF_OK && c->out < 0 && c->err < 0) s = child_finish(c, error);
        if (s != GPERF_OK) return s;
    }
    return GPERF_OK;
}

enum gperf_status gperf_solve(struct gperf_job *jobs, size_t count, int *error) {
    struct child children[PARALLEL];
    for (size_t i = 0; i < PARALLEL; i++) children[i].job = NULL;
    enum gperf_status s = GPERF_OK;
    size_t next = 0;
    bool busy = true;
    while (s == GPERF_OK && busy) {
        busy = false;
        for (size_t i = 0; i < PARALLEL && s == GPERF_OK; i++) {
            if (!children[i].job && next < count) {
                *error = child_start(&children[i], &jobs[next++]);
                if (*error) s = *error == ENOENT || *error == EACCES ? GPERF_MISSING : GPERF_SYSTEM;
            }
            busy = busy || children[i].job;
        }
        if (s == GPERF_OK && busy) s = wait_for_some(children, error);
    }
    for (size_t i = 0; i < PARALLEL; i++) child_abandon(&children[i]);
    return s;
}
