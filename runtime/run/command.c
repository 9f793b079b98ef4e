/* What bubblewrap is told: what the child sees of this machine.
 *
 * A list of what is shown, not of what is hidden: programs and libraries, of /etc the files that programs of any kind read, the
 * working folder and what the host names.  No home, no /run with the sockets of daemons, no /sys.  All of it read-only.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"

/* On merged systems all but the first are links into it. */
static const char *const systems[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* No private keys, no passwords. */
static const char *const files_of_etc[] = {
    "/etc/alternatives",    "/etc/ca-certificates", "/etc/debian_version", "/etc/fonts",
    "/etc/group",           "/etc/inputrc",         "/etc/ld.so.cache",    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",    "/etc/locale.alias",    "/etc/localtime",      "/etc/magic",
    "/etc/mime.types",      "/etc/os-release",      "/etc/passwd",         "/etc/pki/tls/certs",
    "/etc/protocols",       "/etc/services",        "/etc/shells",         "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf", "/etc/terminfo",        "/etc/timezone",       "/etc/xattr.conf"};

/* Where there is a network. */
static const char *const files_of_network[] = {"/etc/gai.conf", "/etc/host.conf", "/etc/hosts",
                                               "/etc/nsswitch.conf", "/etc/resolv.conf"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- what is seen */

/* Is `path` the folder `above`, or below it? */
static bool is_below(const char *path, const char *above) {
    size_t n = strlen(above);
    while (n > 1 && above[n - 1] == '/') n--;
    if (strncmp(path, above, n) != 0) return false;
    return n == 1 || path[n] == '/' || path[n] == 0;
}

bool bubblewrap_shows(const struct upk_run_options *o, const char *path) {
    for (size_t i = 0; i < COUNT(systems); i++)
        if (is_below(path, systems[i])) return true;
    for (size_t i = 0; o->visible && o->visible[i]; i++)
        if (is_below(path, o->visible[i])) return true;
    return is_below(path, o->folder);
}

static void show(struct words *w, const char *option, const char *path) {
    words_add(w, option);
    words_add(w, path);
    words_add(w, path);
}

static void show_systems(struct words *w) {
    for (size_t i = 0; i < COUNT(systems); i++) {
        char target[PATH_MAX];
        const ssize_t n = readlink(systems[i], target, sizeof target - 1);
        if (n > 0) {
            target[n] = 0;
            words_add(w, "--symlink");
            words_add(w, target);
            words_add(w, systems[i]);
        } else {
            show(w, "--ro-bind-try", systems[i]);
        }
    }
}

/* A folder of the child's own, that it may fill up to `memory`. */
static void own_folder(struct words *w, const char *path, uint64_t memory) {
    char size[24];
    (void)snprintf(size, sizeof size, "%llu", (unsigned long long)memory);
    words_add(w, "--size");
    words_add(w, size);
    words_add(w, "--tmpfs");
    words_add(w, path);
}

static void own_places(struct words *w, const struct upk_run_options *o, uint64_t memory) {
    own_folder(w, "/tmp", memory);
    words_add(w, "--dir");
    words_add(w, "/run");
    own_folder(w, "/var/tmp", memory);
    const char *const home = o->home ? o->home : o->folder;
    if (bubblewrap_shows(o, home)) return;
    if (is_below(home, "/tmp") || is_below(home, "/var/tmp")) {
        words_add(w, "--dir");
        words_add(w, home);
    } else if (!is_below("/", home)) {
        own_folder(w, home, memory);
    }
}

/* Last, so that nothing which a host shows stands over them.  INVARIANT: /proc is read-only, for a child that root started is the
 * owner of all in /proc/sys, capabilities or not. */
static void system_places(struct words *w, uint64_t memory) {
    words_add(w, "--proc");
    words_add(w, "/proc");
    words_add(w, "--remount-ro");
    words_add(w, "/proc");
    words_add(w, "--dev");
    words_add(w, "/dev");
    own_folder(w, "/dev/shm", memory);
    words_add(w, "--remount-ro");
    words_add(w, "/dev");
    words_add(w, "--remount-ro");
    words_add(w, "/");
}

/* ---- bubblewrap */

/* Capabilities are named, for root would keep them; no namespaces within, which would have others. */
static void alone(struct words *w, bool network) {
    static const char *const options[] = {
        "--unshare-user",   "--unshare-ipc", "--unshare-pid",     "--unshare-uts", "--unshare-cgroup-try",
        "--disable-userns", "--new-session", "--die-with-parent", "--cap-drop",    "ALL"};
    words_add(w, "bwrap");
    for (size_t i = 0; i < COUNT(options); i++) words_add(w, options[i]);
    if (!network) words_add(w, "--unshare-net");
}

static void descriptor(struct words *w, const char *option, int number) {
    char text[16];
    (void)snprintf(text, sizeof text, "%d", number);
    words_add(w, option);
    words_add(w, text);
}

static void reports(struct words *w) {
    descriptor(w, "--block-fd", CHILD_GO);
    descriptor(w, "--json-status-fd", CHILD_REPORT);
}

void bubblewrap_words(struct words *w, const struct upk_run_options *o, bool network, uint64_t memory) {
    alone(w, network);
    show_systems(w);
    for (size_t i = 0; i < COUNT(files_of_etc); i++) show(w, "--ro-bind-try", files_of_etc[i]);
    for (size_t i = 0; network && i < COUNT(files_of_network); i++)
        show(w, "--ro-bind-try", files_of_network[i]);
    own_places(w, o, memory);
    for (size_t i = 0; o->visible && o->visible[i]; i++) show(w, "--ro-bind", o->visible[i]);
    show(w, "--ro-bind", o->folder);
    system_places(w, memory);
    descriptor(w, "--args", CHILD_SETTINGS);
    descriptor(w, "--seccomp", CHILD_FILTER);
    words_add(w, "--chdir");
    words_add(w, o->folder);
    reports(w);
    words_add(w, "--");
}

void bubblewrap_words_bare(struct words *w) {
    alone(w, false);
    show_systems(w);
    system_places(w, 1 << 20);
    reports(w);
    words_add(w, "--");
    words_add(w, "/bin/true");
}

/* With its NUL: so the words of such a file are ended. */
static bool setting_write(int fd, const char *text, size_t len) {
    return run_write(fd, text, len) && run_write(fd, "", 1);
}

static bool settings_write(int fd, char *const *vars) {
    static const char option[] = "--setenv";
    for (; *vars; vars++) {
        const size_t name = strcspn(*vars, "=");
        const char *const value = *vars + name + 1;
        if (!setting_write(fd, option, sizeof option - 1) || !setting_write(fd, *vars, name) ||
            !setting_write(fd, value, strlen(value)))
            return false;
    }
    return true;
}

int bubblewrap_settings(char *const *vars) {
    const int fd = memfd_create("settings", MFD_CLOEXEC);
    return fd < 0 ? fd : run_rewind(fd, settings_write(fd, vars));
}
