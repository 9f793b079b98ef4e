/* Text in the making.  Layer: see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void output_init(struct output *o, struct mem *m) { *o = (struct output){.mem = m}; }

static bool output_room(struct output *o, size_t count) {
    if (count <= o->room - o->len) return true;
    const size_t room = (o->len + count) * 2 + 4096;
    char *const bytes = mem_alloc(o->mem, room, 1);
    if (!bytes) return false;
    if (o->len) memcpy(bytes, o->bytes, o->len);
    o->bytes = bytes;
    o->room = room;
    return true;
}

void output_bytes(struct output *o, const char *bytes, size_t len) {
    if (len == 0 || !output_room(o, len)) return;
    memcpy(o->bytes + o->len, bytes, len);
    o->len += len;
}

void output_print(struct output *o, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int len = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof line)
        o->mem->failed = true;
    else
        output_bytes(o, line, (size_t)len);
}

bool output_write(const struct output *o, const char *path, struct diag *d) {
    FILE *const file = fopen(path, "wb");
    int error = file ? 0 : errno;
    if (file) {
        if (fwrite(o->bytes, 1, o->len, file) != o->len) error = errno ? errno : EIO;
        if (fclose(file) != 0 && !error) error = errno;
        if (error) remove(path);
    }
    if (!error) return true;
    diag_error_nowhere(d, P_NOT_WRITTEN, "cannot write %s: %s", path, strerror(error));
    d->io = true;
    return false;
}
