/* Test helper: the good and hostile pickles of the unpacked corpus, one after the other.
 *
 * Layer: tests only, over POSIX directories and the runtime's public headers.
 */
#ifndef TESTS_CORPUS_H
#define TESTS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../runtime/upk.h"

/* What the good pickles need: all families of opcodes, and two out-of-band buffers. */
extern const struct upk_options corpus_options;

/* The bytes are a heap block of exactly `len` bytes, so that a sanitizer sees every read beyond them. */
struct corpus_file {
    const char *path;
    uint8_t *bytes;
    size_t len;
};

typedef void (*corpus_fn)(const struct corpus_file *file, void *ctx);

/* Calls `each` for every pickle of at most `most` bytes under the corpus's folder `part` ("good", "hostile"), in the order of
 * their paths, and returns how many there were.  A corpus that is not there ends the test program. */
size_t corpus_each(const char *part, size_t most, corpus_fn each, void *ctx);

#endif
