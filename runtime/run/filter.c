/* The calls of the kernel that a confined child has not: those of keys.
 *
 * A session keyring of its own is not enough.  The user's other keyrings are found by their numbers, which /proc/keys tells whoever has
 * the same user, and what is linked from them into the own one can be read (keyrings(7), `possession').
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
#include <sys/syscall.h>

#include "run.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define DENY        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

/* add_key, request_key and keyctl follow each other on every machine.  Of x86's calls one bit is no part of the number (x32). */
#define JUDGE(first)                                                                                        \
    LOAD(nr), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~0x40000000u),                                            \
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1),                                                   \
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, first + 2, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), \
        DENY

/* For calls of this kind; others are six steps on. */
#define JUDGE_OF(kind, first) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kind, 0, 6), JUDGE(first)

static const struct sock_filter filter[] = {
#if defined(__x86_64__)
    LOAD(arch), JUDGE_OF(AUDIT_ARCH_X86_64, 248), JUDGE_OF(AUDIT_ARCH_I386, 286), DENY
#elif defined(__aarch64__)
    LOAD(arch), JUDGE_OF(AUDIT_ARCH_AARCH64, 217), JUDGE_OF(AUDIT_ARCH_ARM, 309), DENY
#else
    JUDGE(SYS_add_key)
#endif
};

int bubblewrap_filter(void) {
    const int fd = memfd_create("filter", MFD_CLOEXEC);
    return fd < 0 ? fd : run_rewind(fd, run_write(fd, (const char *)filter, sizeof filter));
}
