/* What a file is when it is no pickle.
 *
 * Layer: runtime, for errors.
 */
#include <string.h>

#include "machine.h"

static bool starts(const uint8_t *p, size_t n, const char *with, size_t len) {
    return n >= len && memcmp(p, with, len) == 0;
}

/* Every LF is behind a CR: a text-mode transfer did that. */
static bool line_ends_damaged(const uint8_t *p, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n && i < 4096; i++) {
        if (p[i] != '\n') continue;
        if (i == 0 || p[i - 1] != '\r') return false;
        any = true;
    }
    return any;
}

const char *sniff_file(const uint8_t *p, size_t n) {
    static const struct {
        const char *magic;
        size_t len;
        const char *kind;
    } table[] = {
        {"PK\x03\x04", 4, "a zip archive"},
        {"\x1f\x8b", 2, "gzip data"},
        {"\x28\xb5\x2f\xfd", 4, "zstd data"},
        {"\xfd"
         "7zXZ",
         5, "xz data"},
        {"BZh", 3, "bzip2 data"},
        {"\x93NUMPY", 6, "a numpy .npy file"},
        {"\x89HDF", 4, "an HDF5 file"},
        {"version https://git-lfs", 23, "a git-lfs pointer to a file that git lfs pull fetches"},
        {"<", 1, "HTML or XML"},
    };
    if (n == 0) return "empty";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (starts(p, n, table[i].magic, table[i].len)) return table[i].kind;
    }
    if (n >= 10) { /* safetensors: a little-endian header length, then JSON */
        uint64_t header = 0;
        for (int i = 7; i >= 0; i--) header = header << 8 | p[i];
        if (header <= n - 8 && p[8] == '{' && (p[9] == '"' || p[9] == '}')) return "a safetensors file";
    }
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\t' || p[i] == '\r')) i++;
    if (i < n && (p[i] == '{' || p[i] == '[' || p[i] == '"')) return "JSON";
    if (line_ends_damaged(p, n)) return "damaged: its line ends were changed to CR LF";
    return NULL;
}
