/* Hashing under a secret, for the memo, the names and the keys.
 *
 * Layer: runtime, under memo.c, call.c and keys.c.
 */
#include <string.h>
#include <sys/random.h>

#include "machine.h"

void secret_draw(uint64_t secret[2], const void *here, const void *there) {
    if (getrandom(secret, 2 * sizeof *secret, GRND_NONBLOCK) == (ssize_t)(2 * sizeof *secret)) return;
    secret[0] = (uint64_t)(uintptr_t)here * UINT64_C(0x9e3779b97f4a7c15);
    secret[1] = (uint64_t)(uintptr_t)there;
}

void machine_secret(struct machine *m) {
    if (m->has_secret) return;
    if (m->options->secret) {
        memcpy(m->secret, m->options->secret, sizeof m->secret);
    } else {
        secret_draw(m->secret, m, m->doc->mem.blocks);
    }
    m->secret[1] |= 1;
    m->has_secret = true;
}

uint64_t hash_long_bytes(struct machine *m, const uint8_t *p, size_t n, uint64_t seed) {
    uint64_t h = seed ^ m->secret[0];
    size_t at = 0;
    for (; n - at > 8; at += 8)
        h = hash_mix(h ^ text_word(p + at, 8), m->secret[1] ^ UINT64_C(0xe7037ed1a0b428db));
    /* The last word may overlap the one before: together with the length, no two texts look alike. */
    h = hash_mix(h ^ text_word(p + n - 8, 8), m->secret[1] ^ UINT64_C(0x8ebc6af09c88c6e3));
    return hash_mix(h ^ n, m->secret[1] ^ UINT64_C(0x589965cc75374cc3));
}
