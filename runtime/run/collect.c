/* What a child sends: read as it comes, within the bytes of each channel and the time of the whole.
 *
 * The end is the child's own: whoever else still holds a descriptor of it is not waited for.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { GRACE = 2000 }; /* milliseconds, of a child that was sent a signal */
enum { FIRST_ROOM = 64 << 10, SAID_AT_ONCE = 4096 };

struct collecting {
    struct child *child;
    const struct collect *k;
    struct upk_run_reply *reply;
    size_t room[UPK_RUN_FORM_COUNT];
    bool over;  /* some form is longer than it may be */
    int signal; /* that was handed on; 0: none */
};

/* Room for one byte more than may be, so that it is seen to be too much. */
static bool make_room(struct collecting *s, int form) {
    const uint64_t most = s->k->most[form];
    const size_t cap = most < SIZE_MAX ? (size_t)most + 1 : SIZE_MAX;
    size_t room = s->room[form] ? s->room[form] <= cap / 2 ? s->room[form] * 2 : cap : FIRST_ROOM;
    if (room > cap) room = cap;
    uint8_t *const data = realloc(s->reply->forms[form].data, room);
    if (!data) return false;
    s->reply->forms[form].data = data;
    s->room[form] = room;
    return true;
}

/* All that is there of a form.  false: out of memory. */
static bool take_form(struct collecting *s, int form) {
    int *const fd = &s->child->forms[form];
    size_t *const len = &s->reply->forms[form].len;
    while (!s->over) {
        if (*len == s->room[form] && !make_room(s, form)) return false;
        const ssize_t n = read(*fd, s->reply->forms[form].data + *len, s->room[form] - *len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        if (n <= 0) {
            close_end(fd);
            return true;
        }
        *len += (size_t)n;
        s->over = *len > s->k->most[form];
    }
    return true;
}

/* A piece of what it says; it may say more than anybody wants to hear, so that the rest waits for its turn. */
static void take_said(struct collecting *s) {
    char bytes[SAID_AT_ONCE];
    const ssize_t n = read(s->child->said, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        close_end(&s->child->said);
        return;
    }
    child_heard(s->child, s->k->waiting, bytes, (size_t)n);
}

static bool take_forms(struct collecting *s, const struct pollfd *fds, struct upk_error *err) {
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++) {
        if (s->child->forms[i] >= 0 && (!fds || fds[i].revents) && !take_form(s, i))
            return run_fail_memory(err);
    }
    return true;
}

/* The host is asked; false: it wants an end. */
static bool ask(struct collecting *s) {
    struct waiting *const w = s->k->waiting;
    const int answer = wait_ask(w);
    if (answer <= 0 || s->signal) return answer >= 0;
    s->signal = answer;
    child_signal(s->child, answer);
    const int64_t latest = run_now() + GRACE;
    if (w->until > latest) w->until = latest;
    return true;
}

static bool time_over(const struct collecting *s, struct upk_error *err) {
    return s->signal ? wait_stopped(s->signal, err)
                     : run_fail(err, UPK_ERR_RUN_TIME, "budget wall is %llu seconds",
                                (unsigned long long)s->k->wall);
}

/* false: it must not go on, and *err says why. */
static bool wait_for_more(struct collecting *s, struct upk_error *err) {
    struct child *const c = s->child;
    struct pollfd fds[UPK_RUN_FORM_COUNT + 2];
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++)
        fds[i] = (struct pollfd){.fd = c->forms[i], .events = POLLIN};
    fds[UPK_RUN_FORM_COUNT] = (struct pollfd){.fd = c->said, .events = POLLIN};
    fds[UPK_RUN_FORM_COUNT + 1] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
    const int most = wait_most(s->k->waiting);
    if (most == 0) return time_over(s, err);
    const int n = poll(fds, sizeof fds / sizeof *fds, most);
    if (!ask(s)) return wait_stopped(s->signal, err);
    if (n <= 0) return true;
    if (fds[UPK_RUN_FORM_COUNT].revents) take_said(s);
    return take_forms(s, fds, err);
}

/* What it wrote before its end is in the pipes. */
static bool take_rest(struct collecting *s, struct upk_error *err) {
    for (int i = 0; i < 64 && s->child->said >= 0; i++) take_said(s);
    return take_forms(s, NULL, err);
}

/* bubblewrap ends as its command does, and tells by the status alone that it was a signal. */
static bool fail_status(int status, bool bubblewrap, struct upk_error *err) {
    const int code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return run_fail(err, UPK_ERR_RUN_CHILD, "signal %d", WTERMSIG(status));
    if (bubblewrap && code > 128 && code < 128 + NSIG)
        return run_fail(err, UPK_ERR_RUN_CHILD, "exit status %d, as of signal %d", code, code - 128);
    return run_fail(err, UPK_ERR_RUN_CHILD, "exit status %d", code);
}

static bool judge(struct collecting *s, struct upk_error *err) {
    const int status = s->child->status;
    if (!child_launched(s->child, err)) return false;
    const struct upk_run_reply *const r = s->reply;
    s->reply->status = status;
    if (s->over || r->forms[UPK_RUN_EXCEPTION].len || r->forms[UPK_RUN_DESCRIPTOR].len) return true;
    if (s->signal) return wait_stopped(s->signal, err);
    if (status == -1)
        return run_fail(err, UPK_ERR_RUN_CHILD, "how it ended is not known: the host ignores SIGCHLD");
    if (status && !child_began(s->child)) return child_fail(s->child, UPK_ERR_RUN_START, err);
    if (status) return fail_status(status, s->child->report >= 0, err);
    return r->forms[UPK_RUN_RESULT].len > 0 || run_fail(err, UPK_ERR_RUN_EMPTY, "%s", "");
}

static bool collect_all(struct collecting *s, struct upk_error *err) {
    while (!s->over && !child_ended(s->child)) {
        if (!wait_for_more(s, err)) return false;
    }
    return (s->over || take_rest(s, err)) && judge(s, err);
}

bool collect_reply(struct child *c, const struct collect *k, struct upk_run_reply *reply,
                   struct upk_error *err) {
    struct collecting s = {.child = c, .k = k, .reply = reply};
    const bool good = collect_all(&s, err);
    child_release(c, k->waiting);
    return good;
}
