/* What the tests of cost share: streams as they are written, the thread's CPU time, and whether sanitizers slow it down.
 *
 * Included behind cmocka.h, with _POSIX_C_SOURCE of 200809L.
 *
 * Layer: tests.
 */
#ifndef TESTS_COSTS_H
#define TESTS_COSTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SANITIZED 0
#if defined(__SANITIZE_ADDRESS__)
#undef SANITIZED
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef SANITIZED
#define SANITIZED 1
#endif
#endif

struct bytes { /* starts as zeros; `at` is freed by who wrote it */
    uint8_t *at;
    size_t len, room;
};

static inline void put(struct bytes *b, const void *data, size_t len) {
    if (len > b->room - b->len) {
        b->room = 2 * b->room + len;
        b->at = realloc(b->at, b->room);
        assert_non_null(b->at);
    }
    memcpy(b->at + b->len, data, len);
    b->len += len;
}

#define PUT(b, literal) put(b, literal, sizeof literal - 1)

static inline double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#endif
