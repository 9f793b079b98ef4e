/* A process between the host and what it starts, a command or bubblewrap: it stays the parent of all that this leaves behind, ends that
 * with it or with the host, and ends as it did.
 *
 * A namespace alone does not end with a host that is killed: bubblewrap asks the kernel to end it with its parent, but not before it has
 * begun, when that parent may be gone.  Where nothing confines the command, it proves nothing: one that means harm can end
 * this process first.
 *
 * INVARIANT: as in exec.c, only what is safe in a signal handler is called here.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

/* fork() may wait for a lock that another thread of the host holds. */
static pid_t fork_alone(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

/* The first child of this process, by the kernel's list; 0: it has none, or there is no such list. */
static pid_t first_child(void) {
    static const char path[] = "/proc/thread-self/children";
    char text[16];
    pid_t pid = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t n = read(fd, text, sizeof text);
    (void)close(fd);
    for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++) pid = pid * 10 + (text[i] - '0');
    return pid;
}

/* What loses its parent becomes a child of this process, and its turn comes. */
static void end_children(pid_t command) {
    pid_t pid = command;
    while (pid > 0) {
        (void)kill(pid, SIGKILL);
        if (waitpid(pid, NULL, 0) < 0 && errno != EINTR && pid != command) return;
        pid = first_child();
    }
}

/* true: the command has ended, as *status says. */
static bool reap(pid_t command, int *status) {
    pid_t pid;
    int how;
    bool ended = false;
    while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
        if (pid != command) continue;
        *status = how;
        ended = true;
    }
    return ended;
}

_Noreturn static void end_as(int status) {
    if (WIFSIGNALED(status)) {
        const struct rlimit none = {0, 0};
        sigset_t all;
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)sigemptyset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, NULL);
        (void)kill(getpid(), WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

_Noreturn static void supervise(pid_t command) {
    sigset_t wanted;
    int status = SIGTERM; /* as if it had ended by that */
    bool ended = false;
    for (int i = 0; i < CHILD_DESCRIPTORS; i++) (void)close(i);
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGCHLD);
    (void)sigaddset(&wanted, SIGTERM);
    while (!ended) {
        siginfo_t info;
        if (sigwaitinfo(&wanted, &info) == SIGTERM) break;
        ended = reap(command, &status);
    }
    end_children(ended ? first_child() : command);
    end_as(status);
}

/* INVARIANT: all signals are blocked, and have their default meaning. */
bool supervise_begin(void) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return false;
    const pid_t self = getpid(), pid = fork_alone();
    if (pid < 0) return false;
    if (pid > 0) supervise(pid);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self && setsid() >= 0;
}
