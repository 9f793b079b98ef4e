/* Readable bounds.  Layer: see learn_bounds.h. */
#include "learn_bounds.h"

#include <string.h>

#include "../compiler/notation.h"

/* The largest magnitude of each step: what people write, and the limits of machine words.  A negative bound of a word's size is one
 * more than the positive one. */
static const struct int_bound {
    uint64_t word[2];
    bool is_word;
} int_bounds[] = {
    {{9, 0}, false},
    {{99, 0}, false},
    {{255, 0}, false},
    {{999, 0}, false},
    {{9999, 0}, false},
    {{65535, 0}, false},
    {{99999, 0}, false},
    {{999999, 0}, false},
    {{9999999, 0}, false},
    {{INT32_MAX, 0}, true},
    {{UINT32_MAX, 0}, false},
    {{INT64_MAX, 0}, true},
    {{UINT64_MAX, 0}, false},
    {{UINT64_MAX, INT64_MAX}, true},
    {{UINT64_MAX, UINT64_MAX}, false},
};
enum { INT_BOUNDS = sizeof int_bounds / sizeof *int_bounds };

static int compare_words(const uint64_t a[2], const uint64_t b[2]) {
    if (a[1] != b[1]) return a[1] < b[1] ? -1 : 1;
    return a[0] < b[0] ? -1 : a[0] > b[0];
}

static void add_one(uint64_t word[2]) {
    if (++word[0] == 0) ++word[1];
}

/* The magnitude that the i-th bound has on that side. */
static void bound_words(size_t i, bool negative, uint64_t out[2]) {
    memcpy(out, int_bounds[i].word, sizeof int_bounds[i].word);
    if (negative && int_bounds[i].is_word) add_one(out);
}

static unsigned step_of_magnitude(const uint64_t magnitude[2], bool negative) {
    for (size_t i = 0; i < INT_BOUNDS; i++) {
        uint64_t bound[2];
        bound_words(i, negative, bound);
        if (compare_words(magnitude, bound) <= 0) return (unsigned)i + 1;
    }
    return INT_BOUNDS + 1;
}

unsigned bounds_int_step_of(const uint64_t word[2], bool negative, bool open) {
    uint64_t magnitude[2] = {word[0], word[1]};
    if (open) return INT_BOUNDS + 1;
    if (negative) {
        magnitude[0] = ~magnitude[0];
        magnitude[1] = ~magnitude[1];
        add_one(magnitude);
        if (magnitude[0] == 0 && magnitude[1] == 0) return INT_BOUNDS + 1; /* -2^128 */
    }
    return step_of_magnitude(magnitude, negative);
}

static bool is_negative(const uint8_t *bytes, size_t len) { return len != 0 && bytes[len - 1] & 0x80; }

bool bounds_int_words(const uint8_t *bytes, size_t len, uint64_t word[2]) {
    const uint8_t sign = is_negative(bytes, len) ? 0xff : 0;
    word[0] = word[1] = 0;
    while (len > 16 && bytes[len - 1] == sign) len--;
    if (len > 16) return false;
    for (size_t i = 0; i < 16; i++) word[i / 8] |= (uint64_t)(i < len ? bytes[i] : sign) << 8 * (i % 8);
    return true;
}

unsigned bounds_int_step(const uint8_t *bytes, size_t len) {
    uint64_t word[2];
    if (!bounds_int_words(bytes, len, word)) return INT_BOUNDS + 1;
    return bounds_int_step_of(word, is_negative(bytes, len), false);
}

static void put_bound(struct output *o, unsigned step, bool negative) {
    uint64_t word[2];
    bound_words(step - 1, negative, word);
    if (negative) output_text(o, "-");
    notation_int(o, word, false);
}

void bounds_put_int(struct output *o, unsigned low, unsigned high) {
    output_text(o, "int");
    /* From 0, or as wide on both sides: a sign is rarely an accident. */
    if (low != 0) low = high = low > high ? low : high;
    if (low > INT_BOUNDS) return;
    output_text(o, "[");
    if (low == 0)
        output_text(o, "0");
    else
        put_bound(o, low, true);
    output_text(o, "..");
    if (high <= INT_BOUNDS) put_bound(o, high, false);
    output_text(o, "]");
}

/* ---- lengths */

/* Step 0 is nothing at all; the last one is no bound. */
static const uint64_t char_bounds[] = {0, 16, 64, 256, 1000, 10000, 65536, 1000000, 10000000, 100000000};
static const uint64_t byte_bounds[] = {0,       16,       64,      256,      1 << 10,
                                       4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
static const uint64_t member_bounds[] = {0,      10,      100,      1000,      10000,
                                         100000, 1000000, 10000000, 100000000, 1000000000};
enum { LENGTH_BOUNDS = sizeof char_bounds / sizeof *char_bounds };
_Static_assert(sizeof byte_bounds == sizeof char_bounds && sizeof member_bounds == sizeof char_bounds,
               "steps");

static const uint64_t *const length_bounds[] = {char_bounds, byte_bounds, member_bounds};

unsigned bounds_step(enum bounds_of of, uint64_t length) {
    unsigned i = 0;
    while (i < LENGTH_BOUNDS && length_bounds[of][i] < length) i++;
    return i;
}

void bounds_put(struct output *o, enum bounds_of of, unsigned step) {
    if (step >= LENGTH_BOUNDS) return;
    output_text(o, step == 0 ? "[" : "[..");
    if (of == BOUNDS_BYTES)
        notation_size(o, length_bounds[of][step]);
    else
        notation_number(o, length_bounds[of][step]);
    output_text(o, "]");
}

/* ---- budgets */

uint64_t bounds_round(uint64_t least) {
    static const uint64_t heads[] = {1, 2, 5};
    for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10) {
        for (size_t i = 0; i < 3; i++) {
            if (heads[i] * power >= least) return heads[i] * power;
        }
    }
    return least;
}

uint64_t bounds_round_size(uint64_t least) {
    uint64_t size = 1024;
    while (size < least && size <= UINT64_MAX / 2) size *= 2;
    return size;
}
