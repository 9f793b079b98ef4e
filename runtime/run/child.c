/* A process: started with its descriptors, limited, confirmed where bubblewrap starts it, and ended with all that it started.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { CONFIRM_MOST = 10000, LEAVE_MOST = 2000 }; /* milliseconds */
enum { AT_ONCE = 256 };                           /* bytes */

void close_end(int *fd) {
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

void child_clear(struct child *c) {
    *c = (struct child){
        .pidfd = -1, .init = -1, .exec = -1, .go = -1, .go_unread = -1, .report = -1, .said = -1};
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++) c->forms[i] = -1;
}

static int pidfd_of(pid_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0u);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

static void send_signal(int pidfd, int signal) {
#ifdef SYS_pidfd_send_signal
    (void)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0u);
#else
    (void)pidfd;
    (void)signal;
#endif
}

/* ---- starting */

static bool fail_system(struct upk_error *err, const char *doing) {
    return run_fail(err, UPK_ERR_RUN_START, "%s: %s", doing, strerror(errno));
}

/* *mine is what is read here, and never blocks; *theirs what the child writes. */
static bool channel(int *mine, int *theirs, struct upk_error *err) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail_system(err, "no pipe");
    *mine = ends[0];
    *theirs = ends[1];
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 || fail_system(err, "no pipe");
}

/* The reader is kept here, too: a pipe that has none would end the host, and what is unread tells how far bubblewrap is. */
static bool go_channel(struct child *c, struct launch *l, struct upk_error *err) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail_system(err, "no pipe");
    l->ends[CHILD_GO] = ends[0];
    c->go = ends[1];
    c->go_unread = fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
    if (c->go_unread < 0) return fail_system(err, "no pipe");
    return channel(&c->report, &l->ends[CHILD_REPORT], err);
}

static bool channels(struct child *c, struct launch *l, unsigned offered, bool by_stdout, bool bubblewrap,
                     struct upk_error *err) {
    l->ends[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (l->ends[0] < 0) return fail_system(err, "/dev/null");
    if (!channel(&c->said, &l->ends[2], err)) return false;
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++) {
        if (!(offered & 1u << i)) continue;
        const int place = by_stdout && i == UPK_RUN_RESULT ? 1 : CHILD_FORMS + i;
        if (!channel(&c->forms[i], &l->ends[place], err)) return false;
    }
    if (l->settings) {
        l->ends[CHILD_SETTINGS] = bubblewrap_settings(l->settings);
        l->ends[CHILD_FILTER] = bubblewrap_filter(l->network);
        if (l->ends[CHILD_SETTINGS] < 0 || l->ends[CHILD_FILTER] < 0)
            return fail_system(err, "no file in memory");
    }
    return !bubblewrap || go_channel(c, l, err);
}

/* INVARIANT: nobody waits for the end of this pipe.  A copy of the host that another thread makes just now holds it as long as it
 * lives. */
bool child_launched(const struct child *c, struct upk_error *err) {
    int error = 0;
    ssize_t n;
    do n = read(c->exec, &error, sizeof error);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof error) return true;
    return run_fail(err, UPK_ERR_RUN_START, "%.100s: %s", c->program, strerror(error));
}

/* Signals wait: a handler of the host's must not run in the copy. */
static pid_t fork_quietly(const struct launch *l) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) exec_launch(l);
    const int error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

static bool launch(struct child *c, struct launch *l, struct upk_error *err) {
    if (!channel(&c->exec, &l->ends[CHILD_EXEC], err)) return false;
    l->parent = getpid();
    const pid_t pid = fork_quietly(l);
    if (pid <= 0) return fail_system(err, "no process");
    c->pid = pid;
    c->pidfd = pidfd_of(pid);
    c->program = l->program;
    return true;
}

bool child_start(struct child *c, struct launch *l, unsigned offered, bool by_stdout, bool bubblewrap,
                 struct upk_error *err) {
    child_clear(c);
    for (int i = 0; i < CHILD_DESCRIPTORS; i++) l->ends[i] = -1;
    bool good = channels(c, l, offered, by_stdout, bubblewrap, err);
    if (good) {
        const bool shares = l->ends[1] < 0; /* its output goes where its errors go */
        if (shares) l->ends[1] = l->ends[2];
        good = launch(c, l, err);
        if (shares) l->ends[1] = -1;
    }
    for (int i = 0; i < CHILD_DESCRIPTORS; i++) close_end(&l->ends[i]);
    if (!good) child_end(c);
    return good;
}

/* ---- what bubblewrap reports */

/* Of the line `{ "child-pid": 123, ...}'; 0: it is not there yet. */
static pid_t pid_in(const char *text) {
    static const char key[] = "\"child-pid\": ";
    const char *const at = strstr(text, key);
    if (!at || !strchr(at, '\n')) return 0;
    const long pid = strtol(at + sizeof key - 1, NULL, 10);
    return pid > 0 && pid < INT32_MAX ? (pid_t)pid : 0;
}

static void keep(struct heard *h, const char *bytes, size_t len) {
    const size_t room = sizeof h->text - 1 - h->len;
    if (len > room) len = room;
    memcpy(h->text + h->len, bytes, len);
    h->len += len;
    h->text[h->len] = 0;
}

/* false: the other side has ended it. */
static bool take(int fd, struct heard *h) {
    char more[AT_ONCE];
    const ssize_t n = read(fd, more, sizeof more);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    keep(h, more, (size_t)n);
    return true;
}

/* All that is there and has room. */
static void take_all(int fd, struct heard *h) {
    size_t before = SIZE_MAX;
    while (h->len != before) {
        before = h->len;
        if (!take(fd, h)) return;
    }
}

/* Of what is said before its command begins; the rest waits. */
static bool wants_more(const struct child *c) { return c->heard.len <= sizeof c->heard.text - 1 - AT_ONCE; }

static void tell(const struct waiting *w, const char *bytes, size_t len) {
    if (len && w->options && w->options->said) w->options->said(w->options->said_ctx, bytes, len);
}

/* One line alone, that fits into an error: so bubblewrap tells why it does not begin the command. */
static bool may_be_last_words(const struct heard *h) {
    static const char mark[] = "bwrap: ";
    const size_t known = h->len < sizeof mark - 1 ? h->len : sizeof mark - 1, line = strcspn(h->text, "\n");
    return memcmp(h->text, mark, known) == 0 && line + 1 >= h->len &&
           line < sizeof((struct upk_error *)0)->detail;
}

void child_release(struct child *c, const struct waiting *w) {
    tell(w, c->heard.text, c->held);
    c->held = 0;
}

void child_heard(struct child *c, const struct waiting *w, const char *bytes, size_t len) {
    const bool all_held = c->held == c->heard.len;
    keep(&c->heard, bytes, len);
    if (all_held && may_be_last_words(&c->heard)) {
        c->held = c->heard.len;
        return;
    }
    child_release(c, w);
    tell(w, bytes, len);
}

bool child_fail(struct child *c, unsigned code, struct upk_error *err) {
    struct heard *const h = &c->heard;
    c->held = 0;
    h->text[strcspn(h->text, "\n")] = 0;
    return run_fail(err, code, "%s", h->len ? h->text : "bubblewrap ended before it had set the child up");
}

static bool fail_confine(struct child *c, struct upk_error *err) {
    if (!child_launched(c, err)) return false;
    if (c->said >= 0) take_all(c->said, &c->heard);
    return child_fail(c, UPK_ERR_RUN_UNCONFINED, err);
}

/* What does not fit waits in the pipe. */
static bool wait_for_report(struct child *c, struct heard *report, const struct waiting *w,
                            struct upk_error *err) {
    struct pollfd fds[] = {{.fd = c->report, .events = POLLIN},
                           {.fd = wants_more(c) ? c->said : -1, .events = POLLIN},
                           {.fd = c->pidfd, .events = POLLIN}};
    (void)poll(fds, sizeof fds / sizeof *fds, wait_most(w));
    if (fds[1].revents && !take(c->said, &c->heard)) close_end(&c->said);
    if (fds[0].revents ? take(c->report, report) : !child_ended(c)) return true;
    return fail_confine(c, err);
}

/* false: the host wants an end, or it takes too long, as `late` says. */
static bool may_wait(struct waiting *w, int64_t latest, const char *late, struct upk_error *err) {
    const int answer = wait_ask(w);
    if (answer) return wait_stopped(answer, err);
    return run_now() < (w->until < latest ? w->until : latest) ||
           run_fail(err, UPK_ERR_RUN_UNCONFINED, "%s", late);
}

static bool report_read(struct child *c, struct waiting *w, struct upk_error *err) {
    struct heard report = {.len = 0};
    const int64_t latest = run_now() + CONFIRM_MOST;
    while ((c->init_pid = pid_in(report.text)) == 0) {
        if (!may_wait(w, latest, "bubblewrap does not make its namespaces", err)) return false;
        if (!wait_for_report(c, &report, w, err)) return false;
    }
    return true;
}

bool child_confirm(struct child *c, const uint64_t *budgets, struct waiting *w, struct upk_error *err) {
    if (!report_read(c, w, err)) return false;
    c->init = pidfd_of(c->init_pid);
    /* In the namespaces that it has by now: its processes are counted there, not with the host's, but with the first one, which is
     * bubblewrap's.  One that has ended needs none: child_go, which it never hears, finds out why. */
    return !budgets || exec_limit(c->init_pid, budgets, 1) || errno == ESRCH || fail_system(err, "no limits");
}

/* It reads that it may go on when all is mounted, and nothing is left that could be forbidden here. */
static bool has_gone(const struct child *c) {
    int unread = 0;
    return ioctl(c->go_unread, FIONREAD, &unread) == 0 && unread == 0;
}

static bool wait_until_gone(struct child *c, struct waiting *w, struct upk_error *err) {
    const int64_t latest = run_now() + CONFIRM_MOST;
    for (bool ended = false; !has_gone(c); ended = child_ended(c)) {
        if (!may_wait(w, latest, "bubblewrap does not end its set-up", err)) return false;
        if (ended) return fail_confine(c, err);
        struct pollfd fds[] = {{.fd = wants_more(c) ? c->said : -1, .events = POLLIN},
                               {.fd = c->pidfd, .events = POLLIN}};
        (void)poll(fds, sizeof fds / sizeof *fds, 1);
        if (fds[0].revents && !take(c->said, &c->heard)) close_end(&c->said);
    }
    return true;
}

bool child_go(struct child *c, struct waiting *w, struct upk_error *err) {
    ssize_t n;
    do n = write(c->go, "", 1);
    while (n < 0 && errno == EINTR);
    if (n != 1) return fail_system(err, "bubblewrap cannot be told to go on");
    if (!wait_until_gone(c, w, err)) return false;
    c->held = c->heard.len;
    if (!may_be_last_words(&c->heard)) child_release(c, w);
    close_end(&c->go);
    close_end(&c->go_unread);
    return true;
}

bool child_began(struct child *c) {
    struct heard report = {.len = 0};
    if (c->report < 0) return true;
    take_all(c->report, &report);
    return strstr(report.text, "\"exit-code\": ") != NULL;
}

/* ---- ending */

bool child_ended(struct child *c) {
    siginfo_t info = {0};
    if (c->exited || c->pid == 0) return true;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno == EINTR) return false;
        /* A host that ignores SIGCHLD, or waits for any child, has it reaped: nobody can know how it ended, and its number may be
         * another's. */
        c->exited = true;
        c->status = -1;
        c->pid = 0;
    } else if (info.si_pid == c->pid) {
        c->exited = true;
        c->status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
    }
    return c->exited;
}

/* Waits no longer than to `until`, nor than a moment. */
static bool has_ended(int pidfd, int64_t until) {
    const struct waiting w = {.until = until};
    struct pollfd fd = {.fd = pidfd, .events = POLLIN};
    return poll(&fd, 1, wait_most(&w)) > 0;
}

/* The command itself, child of the first process of its namespace. */
static pid_t command_of(const struct child *c) {
    const pid_t init = c->init_pid ? c->init_pid : c->pid;
    char path[64], text[32] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)init, (int)init);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

void child_signal(const struct child *c, int signal) {
    if (c->pid == 0 || c->exited) return;
    const pid_t command = command_of(c);
    int pidfd = command > 0 ? pidfd_of(command) : -1;
    /* It is what the number meant: it is in the list still, and the list is of whom it was. */
    if (pidfd >= 0 && command_of(c) == command && !has_ended(c->init >= 0 ? c->init : c->pidfd, 0))
        send_signal(pidfd, signal);
    close_end(&pidfd);
}

/* INVARIANT: `c` is not known to have been reaped.  Its number is used only where the kernel gave no descriptor. */
static void signal_leader(const struct child *c, int signal) {
    if (c->pidfd >= 0)
        send_signal(c->pidfd, signal);
    else
        (void)kill(c->pid, signal);
}

/* supervise.c ends what is left, and then itself. */
static void end_supervised(struct child *c) {
    const int64_t until = run_now() + LEAVE_MOST;
    if (!child_ended(c)) signal_leader(c, SIGTERM);
    while (run_now() < until && !child_ended(c)) (void)has_ended(c->pidfd, until);
}

/* INVARIANT: the leader of a group is reaped after the group is ended: as long as it is there no other can have its number. */
static void reap(struct child *c) {
    siginfo_t info;
    int n;
    signal_leader(c, SIGKILL);
    do n = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT);
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        (void)kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    c->pid = 0;
}

/* With the first process of a namespace the kernel ends all others. */
void child_end(struct child *c) {
    close_end(&c->go);
    close_end(&c->go_unread);
    if (c->init >= 0) send_signal(c->init, SIGKILL);
    if (c->pid > 0) end_supervised(c);
    if (c->pid > 0) reap(c);
    close_end(&c->pidfd);
    close_end(&c->init);
    close_end(&c->exec);
    close_end(&c->report);
    close_end(&c->said);
    for (int i = 0; i < UPK_RUN_FORM_COUNT; i++) close_end(&c->forms[i]);
}
