/* The benchmark's C side, a shared object that bench.py loads, so that libupk and pickle.loads are timed in one process, turn
 * about.  Every function times `repeats` runs with the thread's CPU clock and returns the nanoseconds of one.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "bench.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void bench_keep_warm(void);
EXPORT void *bench_arena_new(void *ctx, size_t size);
EXPORT void bench_arena_free(void *ctx, void *block, size_t size);
EXPORT double bench_memcpy(const void *data, size_t len, size_t repeats);
EXPORT double bench_walk(const uint8_t *data, size_t len, size_t repeats, uint64_t *opcodes);
EXPORT double bench_check(const void *data, size_t len, size_t repeats, char *message, size_t room);
EXPORT double bench_decode(const void *data, size_t len, size_t repeats, size_t *memory, char *message,
                           size_t room);
EXPORT uint64_t bench_values(const void *data, size_t len);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* malloc gives nothing back to the system: on a virtual machine a page fault costs more than what is measured. */
EXPORT void bench_keep_warm(void) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
    mallopt(M_TOP_PAD, 64 << 20);
}

/* ---- the same for CPython's small objects: an arena allocator that keeps what is freed ---- */

enum { KEPT_MOST = 4096 };
static struct {
    void *block;
    size_t size;
} kept[KEPT_MOST];
static size_t kept_count;

EXPORT void *bench_arena_new(void *ctx, size_t size) {
    (void)ctx;
    for (size_t i = kept_count; i-- > 0;)
        if (kept[i].size == size) {
            void *block = kept[i].block;
            kept[i] = kept[--kept_count];
            return block;
        }
    void *block = NULL;
    return posix_memalign(&block, 1 << 20, size) == 0 ? block : NULL;
}

EXPORT void bench_arena_free(void *ctx, void *block, size_t size) {
    (void)ctx;
    if (kept_count < KEPT_MOST) {
        kept[kept_count].block = block;
        kept[kept_count++].size = size;
    } /* else it is lost: an arena from before the exchange may not be malloc's */
}

/* ---- yardsticks ---- */

EXPORT double bench_memcpy(const void *data, size_t len, size_t repeats) {
    static void *copy;
    static size_t room;
    if (room < len) {
        free(copy);
        copy = malloc(len);
        room = copy ? len : 0;
        if (!copy) return -1;
        memset(copy, 1, len);
    }
    double start = now();
    for (size_t i = 0; i < repeats; i++) {
        memcpy(copy, data, len);
        __asm__ volatile("" : : "r"(copy) : "memory");
    }
    return (now() - start) / (double)repeats;
}

/* Past the n-th line feed, or NULL. */
static const uint8_t *skip_lines(const uint8_t *p, const uint8_t *end, int n) {
    for (; p && n > 0; n--) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p) p++;
    }
    return p;
}

/* Past a length of `width` bytes and as many bytes as it says, or NULL. */
static inline const uint8_t *skip_counted(const uint8_t *p, const uint8_t *end, size_t width) {
    uint64_t n = 0;
    if (width > (size_t)(end - p)) return NULL;
    memcpy(&n, p, width); /* little-endian, as the machine that measures */
    p += width;
    return n > (size_t)(end - p) ? NULL : p + n;
}

/* The least that any reader of pickle must do: find each opcode's end.  Returns the number of opcodes. */
static uint64_t walk(const uint8_t *p, const uint8_t *end) {
    uint64_t opcodes = 0;
    while (p && p < end) {
        opcodes++;
        switch (*p++) {
        case 'K':
        case 'h':
        case 'q':
        case 0x80:
        case 0x82: p += 1; break;
        case 'M':
        case 0x83: p += 2; break;
        case 'J':
        case 'j':
        case 'r':
        case 0x84: p += 4; break;
        case 'G':
        case 0x95: p += 8; break;
        case 'C':
        case 'U':
        case 0x8a:
        case 0x8c: p = skip_counted(p, end, 1); break;
        case 'B':
        case 'T':
        case 'X':
        case 0x8b: p = skip_counted(p, end, 4); break;
        case 0x8d:
        case 0x8e:
        case 0x96: p = skip_counted(p, end, 8); break;
        case 'F':
        case 'I':
        case 'L':
        case 'P':
        case 'S':
        case 'V':
        case 'g':
        case 'p': p = skip_lines(p, end, 1); break;
        case 'c':
        case 'i': p = skip_lines(p, end, 2); break;
        default: break;
        }
    }
    return opcodes;
}

EXPORT double bench_walk(const uint8_t *data, size_t len, size_t repeats, uint64_t *opcodes) {
    double start = now();
    for (size_t i = 0; i < repeats; i++) {
        *opcodes = walk(data, data + len);
        __asm__ volatile("" : : "r"(opcodes) : "memory");
    }
    return (now() - start) / (double)repeats;
}

/* ---- libupk; a negative time and a message where the payload is refused ---- */

EXPORT double bench_check(const void *data, size_t len, size_t repeats, char *message, size_t room) {
    struct upk_error err;
    double start = now();
    for (size_t i = 0; i < repeats; i++)
        if (!upk_check(&bench, data, len, NULL, &err)) {
            upk_error_message(&err, message, room);
            return -1;
        }
    return (now() - start) / (double)repeats;
}

/* With one repeat the time is that of the decode alone, as for pickle.loads; else documents are freed in between. */
EXPORT double bench_decode(const void *data, size_t len, size_t repeats, size_t *memory, char *message,
                           size_t room) {
    struct upk_error err;
    double start = now(), end = start;
    for (size_t i = 0; i < repeats; i++) {
        struct upk_doc *doc = NULL;
        if (!upk_decode(&bench, data, len, NULL, &doc, &err)) {
            upk_error_message(&err, message, room);
            return -1;
        }
        if (repeats == 1) end = now();
        *memory = upk_doc_memory(doc);
        upk_doc_free(doc);
    }
    return ((repeats == 1 ? end : now()) - start) / (double)repeats;
}

/* Values of the tree, each counted wherever it stands: a key that ten dicts
 * share takes its sixteen bytes in each.  0: the stream could not be scanned. */
EXPORT uint64_t bench_values(const void *data, size_t len) {
    struct upk_options options = {.budgets = bench.budgets};
    struct upk_scan_result *scan = NULL;
    struct upk_error err;
    if (!upk_scan(data, len, &options, &scan, &err)) return 0;
    uint64_t values = scan->figures[UPK_BUDGET_EXPANDED];
    upk_scan_free(scan);
    return values;
}
