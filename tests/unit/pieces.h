/* A reader for upk_decode_from that gives bytes in pieces, and sees that it is asked as it should be.
 *
 * Included behind cmocka.h.
 *
 * Layer: tests of the runtime's public interface.
 */
#ifndef TESTS_PIECES_H
#define TESTS_PIECES_H

#include <string.h>

#include "../../runtime/upk.h"

enum how_much { LEAST, MOST, ANY /* between the two, at random */ };

struct pieces { /* starts as {.bytes, .len, .how, .seed} */
    const uint8_t *bytes;
    size_t len;
    enum how_much how;
    uint32_t seed;
    size_t given, calls;
    bool ended;
};

static inline bool pieces_read(void *ctx, void *to, size_t least, size_t most, size_t *got) {
    struct pieces *p = ctx;
    p->calls++;
    if (p->ended) fail_msg("asked behind the end");
    if (least < 1 || least > most) fail_msg("asked for %zu to %zu bytes", least, most);
    size_t n = p->how == MOST ? most : least;
    if (p->how == ANY) {
        p->seed = p->seed * 1664525 + 1013904223;
        n += (p->seed >> 8) % (most - least + 1);
    }
    if (n > p->len - p->given) n = p->len - p->given;
    p->ended = n < least;
    if (n) memcpy(to, p->bytes + p->given, n);
    p->given += n;
    *got = n;
    return true;
}

#endif
