/* The text of integers.  Decimal text takes time with the square of the length, and a stream may refer to one
 * number as often as it likes: a large number is converted once and its text kept.
 *
 * Layer: private to the runtime, over print_walk.h and scratch.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print_walk.h"
#include "scratch.h"

enum {
    KEEP_FROM = 64, /* bytes: what is smaller is converted as fast as it is written */
    KEEP_SHARE = 4  /* texts take at most this part of the memory that a print may take */
};

/* Equal bytes at another place are another number; what the numbers of a stream may cost is bounded by its
 * length and the budget `long`. */
struct print_number {
    const uint8_t *bytes; /* NULL: free */
    const char *text;
    size_t len;
};

static struct print_number *number_slot(const struct print *p, const uint8_t *bytes) {
    uint64_t h = (uint64_t)(uintptr_t)bytes * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(h >> 20) & (p->number_room - 1);
    while (p->numbers[i].bytes && p->numbers[i].bytes != bytes) i = (i + 1) & (p->number_room - 1);
    return &p->numbers[i];
}

/* A table of at least twice the numbers in it, and one more. */
static bool numbers_make_room(struct print *p) {
    if (2 * (p->number_count + 1) <= p->number_room) return true;
    size_t old_room = p->number_room, room = old_room ? 2 * old_room : 16;
    struct print_number *old = p->numbers, *numbers = mem_resize(&p->mem, NULL, 0, room * sizeof *numbers);
    if (!numbers) return false;
    memset(numbers, 0, room * sizeof *numbers);
    p->numbers = numbers;
    p->number_room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].bytes) *number_slot(p, old[i].bytes) = old[i];
    }
    array_free(&p->mem, old, old_room, sizeof *old);
    return true;
}

/* For the text at most what int_to_decimal takes, and four places in the table, which is at least a quarter
 * full. */
static uint64_t kept_bytes(struct upk_value v) {
    return (uint64_t)v.len * 3 + 4 * sizeof(struct print_number);
}

static bool is_kept(const struct print *p, struct upk_value v) {
    uint64_t most = p->mem.cap / KEEP_SHARE;
    return v.len >= KEEP_FROM && p->number_bytes <= most && kept_bytes(v) <= most - p->number_bytes;
}

/* NULL: no memory. */
static const struct print_number *number_kept(struct print *p, struct upk_value v) {
    if (!numbers_make_room(p)) return NULL;
    struct print_number *n = number_slot(p, v.as.bytes);
    if (!n->bytes) {
        if (!int_to_decimal(&p->mem, v, &n->text, &n->len)) return NULL;
        n->bytes = v.as.bytes;
        p->number_count++;
        p->number_bytes += kept_bytes(v);
    }
    return n;
}

static void print_once(struct print *p, struct upk_value v) {
    /* A memory of its own: an arena gives back only the whole. */
    struct mem mem;
    const char *text;
    size_t len;
    mem_init(&mem, &p->mem.allocator, p->mem.cap - p->mem.used);
    if (int_to_decimal(&mem, v, &text, &len)) {
        print_bytes(p, text, len);
    } else {
        p->mem.over_cap = mem.over_cap;
        print_no_memory(p);
    }
    mem_free(&mem);
}

void print_integer(struct print *p, struct upk_value v) {
    if (v.kind == UPK_INT) {
        char text[24];
        print_bytes(p, text, (size_t)snprintf(text, sizeof text, "%" PRId64, v.as.i));
        return;
    }
    const struct print_number *n = p->number_room ? number_slot(p, v.as.bytes) : NULL;
    if (!(n && n->bytes)) {
        if (!is_kept(p, v)) {
            print_once(p, v);
            return;
        }
        n = number_kept(p, v);
    }
    if (n) {
        print_bytes(p, n->text, n->len);
    } else {
        print_no_memory(p);
    }
}

void print_numbers_free(struct print *p) {
    array_free(&p->mem, p->numbers, p->number_room, sizeof *p->numbers);
}
