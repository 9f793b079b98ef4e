/* The calls of the kernel that a confined child has not.
 *
 * Keys: a session keyring of its own is not enough.  The user's other keyrings are found by their numbers, which /proc/keys tells whoever
 * has the same user, and what is linked from them into the own one can be read (keyrings(7), `possession').
 * Other processes: the first one of its namespace is bubblewrap's, and is the same user's.
 * Sockets, where there is no network: a folder that it sees may hold one where a daemon listens (unix(7)), and a virtual machine has
 * others of its host (vsock(7)), which no namespace hides.  Those of the Internet lead nowhere, and connected pairs only to itself.
 * io_uring makes sockets, too, and no filter sees them.
 *
 * Layer: see run.h.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "run.h"

/* Since 5.1 new calls have the same number on every machine. */
enum { IO_URING_SETUP = 425, PIDFD_GETFD = 438, NONE = 0xffffff };

/* x32, which has the numbers of x86-64 with one bit more, but numbers of its own for these. */
enum { X32 = 0x40000000, X32_PTRACE = 521, X32_READV = 539 };

/* Numbers of one kind of machine. */
enum { ANY = 0 };
struct numbers {
    uint32_t arch; /* ANY: it is not asked */
    uint32_t keys; /* add_key; request_key and keyctl follow */
    uint32_t ptrace;
    uint32_t readv; /* process_vm_readv; process_vm_writev follows */
    uint32_t socket, socketpair;
    uint32_t socketcall; /* NONE: it has none */
};

static const struct numbers machines[] = {
#if defined(__x86_64__)
    {AUDIT_ARCH_X86_64, 248, 101, 310, 41, 53, NONE}, {AUDIT_ARCH_I386, 286, 26, 347, 359, 360, 102}
#elif defined(__aarch64__)
    {AUDIT_ARCH_AARCH64, 217, 117, 270, 198, 199, NONE}, {AUDIT_ARCH_ARM, 309, 26, 376, 281, 288, NONE}
#else
    {ANY, SYS_add_key, SYS_ptrace, SYS_process_vm_readv, SYS_socket, SYS_socketpair,
#ifdef SYS_socketcall
     SYS_socketcall}
#else
     NONE}
#endif
#endif
};

enum { PROGRAM_MOST = 128 };

struct filter {
    struct sock_filter at[PROGRAM_MOST];
    size_t count;
};

static void put(struct filter *p, unsigned code, unsigned yes, unsigned no, uint32_t k) {
    p->at[p->count++] = (struct sock_filter){(uint16_t)code, (uint8_t)yes, (uint8_t)no, k};
}

static void load(struct filter *p, size_t offset) {
    put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}
static void end(struct filter *p, uint32_t with) { put(p, BPF_RET | BPF_K, 0, 0, with); }

/* `first' and as many more. */
static void deny(struct filter *p, uint32_t first, uint32_t more) {
    put(p, BPF_JMP | BPF_JGE | BPF_K, 0, 2, first);
    put(p, BPF_JMP | BPF_JGT | BPF_K, 1, 0, first + more);
    end(p, SECCOMP_RET_ERRNO | ENOSYS);
}

/* The lower half of an argument, which is an int. */
static void load_argument(struct filter *p, unsigned i) {
    load(p, offsetof(struct seccomp_data, args) + 8 * i + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0));
}

/* What is loaded is one of them, or the call fails. */
static void require(struct filter *p, const uint32_t *values, unsigned count) {
    for (unsigned i = 0; i < count; i++) put(p, BPF_JMP | BPF_JEQ | BPF_K, count - i, 0, values[i]);
    end(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
}

/* What leads nowhere: sockets of the Internet and of the kernel.  It is the last but one that is asked of a call. */
static void judge_socket(struct filter *p, uint32_t number) {
    static const uint32_t families[] = {AF_INET, AF_INET6, AF_NETLINK};
    enum { COUNT = sizeof families / sizeof *families };
    put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, COUNT + 2, number);
    load_argument(p, 0);
    require(p, families, COUNT);
}

/* Pairs that stay with each other.  A datagram socket of a pair can send to any name. */
static void judge_socketpair(struct filter *p, uint32_t number) {
    static const uint32_t family = AF_UNIX, types[] = {SOCK_STREAM, SOCK_SEQPACKET};
    enum { COUNT = sizeof types / sizeof *types };
    put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, COUNT + 6, number);
    load_argument(p, 0);
    require(p, &family, 1);
    load_argument(p, 1);
    put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf); /* the rest are flags */
    require(p, types, COUNT);
}

/* Of x32 as of the machine itself. */
static void load_number(struct filter *p, const struct numbers *n) {
    load(p, offsetof(struct seccomp_data, nr));
    if (n->arch == AUDIT_ARCH_X86_64) put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, ~(uint32_t)X32);
}

static void judge_calls(struct filter *p, const struct numbers *n, bool network) {
    load_number(p, n);
    if (n->arch == AUDIT_ARCH_X86_64) {
        deny(p, X32_PTRACE, 0);
        deny(p, X32_READV, 1);
    }
    deny(p, n->keys, 2);
    deny(p, n->ptrace, 0);
    deny(p, n->readv, 1);
    deny(p, PIDFD_GETFD, 0);
    if (!network) {
        deny(p, IO_URING_SETUP, 0);
        if (n->socketcall != NONE) deny(p, n->socketcall, 0);
        judge_socketpair(p, n->socketpair);
        load_number(p, n);
        judge_socket(p, n->socket);
    }
    end(p, SECCOMP_RET_ALLOW);
}

/* Calls of other kinds of machines go on behind it. */
static void judge(struct filter *p, const struct numbers *n, bool network) {
    const size_t first = p->count + 2;
    if (n->arch != ANY) {
        load(p, offsetof(struct seccomp_data, arch));
        put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, n->arch);
    }
    judge_calls(p, n, network);
    if (n->arch != ANY) p->at[first - 1].jf = (uint8_t)(p->count - first);
}

int bubblewrap_filter(bool network) {
    struct filter p = {.count = 0};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) judge(&p, &machines[i], network);
    end(&p, SECCOMP_RET_ERRNO | ENOSYS);
    const int fd = memfd_create("filter", MFD_CLOEXEC);
    return fd < 0 ? fd : run_rewind(fd, run_write(fd, (const char *)p.at, p.count * sizeof *p.at));
}
