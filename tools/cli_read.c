/* Reading files whole, under a cap.
 *
 * Layer: hosts; see cli.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

bool cli_read(const char *name, uint64_t most, struct cli_bytes *out, int *error) {
    bool is_stdin = strcmp(name, "-") == 0;
    size_t cap = most < SIZE_MAX ? (size_t)most + 1 : SIZE_MAX;
    struct cli_bytes got = {NULL, 0};
    FILE *from = is_stdin ? stdin : fopen(name, "rb");
    if (!from) {
        *error = errno;
        return false;
    }
    bool good = read_stream(from, cap, &got, error);
    if (!is_stdin) fclose(from);
    if (!good) {
        free(got.data);
        return false;
    }
    *out = got;
    return true;
}
