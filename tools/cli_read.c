/* Reading files whole, under a cap.
 *
 * Layer: hosts; see cli.h.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli.h"

enum { FIRST_ROOM = 1 << 16 };

static bool read_stream(FILE *from, size_t most, struct cli_bytes *out, int *error) {
    size_t room = 0;
    while (out->len < most) {
        if (out->len == room) {
            size_t wanted = room == 0 ? FIRST_ROOM : room <= most / 2 ? room * 2 : most;
            uint8_t *data = realloc(out->data, wanted);
            if (!data) {
                *error = ENOMEM;
                return false;
            }
            out->data = data;
            room = wanted;
        }
        size_t rest = (room < most ? room : most) - out->len;
        errno = 0;
        size_t n = fread(out->data + out->len, 1, rest, from);
        out->len += n;
        if (n < rest) {
            if (!ferror(from)) return true;
            *error = errno ? errno : EIO;
            return false;
        }
    }
    return true;
}

/* A regular file of more than `most` bytes, from its beginning; false: it is none, or cannot be mapped. */
static bool map_large(FILE *from, uint64_t most, struct cli_bytes *out) {
    struct stat s;
    if (fstat(fileno(from), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size <= 0 ||
        (uint64_t)s.st_size <= most || (uint64_t)s.st_size > SIZE_MAX || ftell(from) != 0)
        return false;
    void *at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fileno(from), 0);
    if (at == MAP_FAILED) return false;
    *out = (struct cli_bytes){at, (size_t)s.st_size, true};
    return true;
}

void cli_bytes_free(struct cli_bytes *b) {
    if (b->mapped) {
        munmap(b->data, b->len);
    } else {
        free(b->data);
    }
    *b = (struct cli_bytes){NULL, 0, false};
}

bool cli_read(const char *name, uint64_t most, struct cli_bytes *out, int *error) {
    bool is_stdin = strcmp(name, "-") == 0;
    size_t cap = most < SIZE_MAX ? (size_t)most + 1 : SIZE_MAX;
    struct cli_bytes got = {NULL, 0, false};
    FILE *from = is_stdin ? stdin : fopen(name, "rb");
    if (!from) {
        *error = errno;
        return false;
    }
    bool good = map_large(from, most, &got) || read_stream(from, cap, &got, error);
    if (!is_stdin) fclose(from);
    if (!good) {
        free(got.data);
        return false;
    }
    *out = got;
    return true;
}
