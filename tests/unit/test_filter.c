/* What the kernel would answer a confined child, call by call: the program of runtime/run/filter.c, run by an interpreter of our own, on
 * the numbers of this machine, of the other kind that its kernel runs, and of kinds that it does not.
 *
 * The numbers stand here as the kernel's tables have them, and not as the filter's.  What is denied tells docs/confinement.md.
 *
 * Layer: tests of runtime/run/filter.c.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../runtime/run/run.h"

/* ---- the interpreter */

struct bpf {
    struct sock_filter at[BPF_MAXINSNS];
    size_t count;
};

static struct bpf with_network, without_network;

static void read_program(struct bpf *p, bool network) {
    const int fd = bubblewrap_filter(network);
    assert_true(fd >= 0);
    const ssize_t n = read(fd, p->at, sizeof p->at);
    (void)close(fd);
    assert_true(n > 0 && (size_t)n % sizeof *p->at == 0);
    p->count = (size_t)n / sizeof *p->at;
}

static uint32_t word_at(const struct seccomp_data *d, uint32_t offset) {
    uint32_t word;
    assert_true(offset % sizeof word == 0 && offset <= sizeof *d - sizeof word);
    memcpy(&word, (const char *)d + offset, sizeof word);
    return word;
}

/* What it answers.  Jumps go forward, so that it ends. */
static uint32_t run(const struct bpf *p, const struct seccomp_data *d) {
    uint32_t a = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct sock_filter f = p->at[i];
        bool yes = false;
        switch (f.code) {
        case BPF_LD | BPF_W | BPF_ABS: a = word_at(d, f.k); continue;
        case BPF_ALU | BPF_AND | BPF_K: a &= f.k; continue;
        case BPF_RET | BPF_K: return f.k;
        case BPF_JMP | BPF_JEQ | BPF_K: yes = a == f.k; break;
        case BPF_JMP | BPF_JGE | BPF_K: yes = a >= f.k; break;
        case BPF_JMP | BPF_JGT | BPF_K: yes = a > f.k; break;
        default: fail_msg("instruction %zu is %#x", i, f.code);
        }
        i += yes ? f.jt : f.jf;
    }
    fail_msg("it goes on behind its end");
    return 0;
}

/* ---- what is expected */

enum { ALLOWED = SECCOMP_RET_ALLOW };
#define UNKNOWN   (SECCOMP_RET_ERRNO | ENOSYS)
#define NO_FAMILY (SECCOMP_RET_ERRNO | EAFNOSUPPORT)

struct calls {
    uint32_t arch;
    uint32_t bit;         /* that stands in all of its numbers */
    uint32_t denied[12];  /* always; 0 behind the last one, whose call is allowed */
    uint32_t networks[2]; /* without a network; the same */
    uint32_t socket, socketpair;
};

enum { X32 = 0x40000000, PIDFD_GETFD = 438, IO_URING_SETUP = 425 };

static const struct calls all[] = {
#if defined(__x86_64__)
    /* add_key, request_key, keyctl, ptrace, process_vm_readv, process_vm_writev; x32 has the last three twice. */
    {AUDIT_ARCH_X86_64,
     0,
     {248, 249, 250, 101, 310, 311, PIDFD_GETFD, 521, 539, 540},
     {IO_URING_SETUP},
     41,
     53},
    {AUDIT_ARCH_X86_64,
     X32,
     {248, 249, 250, 101, 310, 311, PIDFD_GETFD, 521, 539, 540},
     {IO_URING_SETUP},
     41,
     53},
    {AUDIT_ARCH_I386, 0, {286, 287, 288, 26, 347, 348, PIDFD_GETFD}, {IO_URING_SETUP, 102}, 359, 360},
#elif defined(__aarch64__)
    {AUDIT_ARCH_AARCH64, 0, {217, 218, 219, 117, 270, 271, PIDFD_GETFD}, {IO_URING_SETUP}, 198, 199},
    {AUDIT_ARCH_ARM, 0, {309, 310, 311, 26, 376, 377, PIDFD_GETFD}, {IO_URING_SETUP}, 281, 288},
#endif
    {0, 0, {0}, {0}, 0, 0}};

static bool is_among(uint32_t number, const uint32_t *list, size_t most) {
    for (size_t i = 0; i < most && list[i]; i++)
        if (list[i] == number) return true;
    return false;
}

static void expect(const struct calls *c, uint32_t number, uint64_t first, uint64_t second, bool network,
                   uint32_t answer) {
    const struct seccomp_data d = {.nr = (int)(c->bit | number), .arch = c->arch, .args = {first, second, 0}};
    const uint32_t found = run(network ? &with_network : &without_network, &d);
    if (found == answer) return;
    fail_msg("machine %#x, call %#x(%llu, %llu), %s network: %#x instead of %#x", c->arch, c->bit | number,
             (unsigned long long)first, (unsigned long long)second, network ? "with" : "without", found,
             answer);
}

/* ---- tests */

static int set_up(void **state) {
    (void)state;
    read_program(&with_network, true);
    read_program(&without_network, false);
    return 0;
}

/* All numbers that any machine has, and those at the ends. */
static void calls_are_denied_and_no_others(void **state) {
    static const uint32_t far[] = {0x3fffffff, 0x20000029, 0x0fffffff, 0x00ffffff};
    (void)state;
    for (const struct calls *c = all; c->arch; c++) {
        for (uint32_t i = 0; i < 2000 + sizeof far / sizeof *far; i++) {
            const uint32_t number = i < 2000 ? i : far[i - 2000];
            const bool always = is_among(number, c->denied, 12);
            if (number == c->socket || number == c->socketpair) continue;
            expect(c, number, 0, 0, true, always ? UNKNOWN : ALLOWED);
            expect(c, number, 0, 0, false, always || is_among(number, c->networks, 2) ? UNKNOWN : ALLOWED);
        }
    }
}

/* The kernel takes the family and the kind as ints: what stands above them is not looked at. */
static const uint64_t above[] = {0, UINT64_C(1) << 32, UINT64_C(0xffffffff) << 32};

static void sockets_lead_nowhere(void **state) {
    (void)state;
    for (const struct calls *c = all; c->arch; c++) {
        for (uint64_t family = 0; family < 100; family++) {
            const bool good = family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
            for (size_t i = 0; i < 3; i++) {
                expect(c, c->socket, above[i] | family, SOCK_STREAM, false, good ? ALLOWED : NO_FAMILY);
                expect(c, c->socket, above[i] | family, SOCK_DGRAM | SOCK_CLOEXEC, false,
                       good ? ALLOWED : NO_FAMILY);
                expect(c, c->socket, above[i] | family, SOCK_STREAM, true, ALLOWED);
            }
        }
        expect(c, c->socket, 0xffffffff, SOCK_STREAM, false, NO_FAMILY);
    }
}

static void pairs_stay_with_each_other(void **state) {
    static const uint64_t flags[] = {0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK};
    (void)state;
    for (const struct calls *c = all; c->arch; c++) {
        for (uint64_t i = 0; i < 100 * 16 * 4 * 3; i++) {
            const uint64_t family = i % 100, kind = i / 100 % 16, flag = flags[i / 1600 % 4];
            const uint64_t high = above[i / 6400];
            const bool good = family == AF_UNIX && (kind == SOCK_STREAM || kind == SOCK_SEQPACKET);
            expect(c, c->socketpair, high | family, high | flag | kind, false, good ? ALLOWED : NO_FAMILY);
            expect(c, c->socketpair, high | family, high | flag | kind, true, ALLOWED);
        }
    }
}

/* A kernel that runs such programs, too, would understand its calls by numbers that nobody looked at. */
static void other_machines_have_no_calls(void **state) {
    static const uint32_t machines[] = {AUDIT_ARCH_RISCV64, AUDIT_ARCH_PPC64LE, AUDIT_ARCH_S390X, 0,
                                        UINT32_MAX};
    (void)state;
    if (!all[0].arch) skip(); /* of which the filter does not ask for the machine */
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct calls c = {.arch = machines[i]};
        for (uint32_t number = 0; number < 600; number++) {
            expect(&c, number, 0, 0, false, UNKNOWN);
            expect(&c, number, 0, 0, true, UNKNOWN);
        }
    }
}

/* The kernel takes no program whose jumps lead behind its end, or that ends without an answer. */
static void programs_are_whole(void **state) {
    const struct bpf *const both[] = {&with_network, &without_network};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct bpf *const p = both[i];
        assert_int_equal(p->at[p->count - 1].code, BPF_RET | BPF_K);
        for (size_t at = 0; at < p->count; at++) {
            const struct sock_filter f = p->at[at];
            if (BPF_CLASS(f.code) == BPF_JMP) assert_true(at + 1 + (f.jt > f.jf ? f.jt : f.jf) < p->count);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_denied_and_no_others),
        cmocka_unit_test(sockets_lead_nowhere),
        cmocka_unit_test(pairs_stay_with_each_other),
        cmocka_unit_test(other_machines_have_no_calls),
        cmocka_unit_test(programs_are_whole),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
