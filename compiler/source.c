/* Loading of source files and the way from byte offsets to lines.
 *
 * Layer: above mem.
 */
#define _POSIX_C_SOURCE 200809L

#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum source_fault source_read(struct mem *m, const char *path, struct text *bytes, int *error) {
    *error = 0;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer; it is refused below. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        *error = errno;
        return SOURCE_NOT_READ;
    }
    enum source_fault fault = SOURCE_GOOD;
    struct stat st;
    char *buffer = NULL;
    size_t len = 0;
    if (fstat(fd, &st) != 0) {
        *error = errno;
        fault = SOURCE_NOT_READ;
    } else if (!S_ISREG(st.st_mode)) {
        fault = SOURCE_NOT_FILE;
    } else if (st.st_size < 0 || st.st_size > SOURCE_MOST_BYTES) {
        fault = SOURCE_TOO_LARGE;
    } else if ((buffer = mem_alloc(m, (size_t)st.st_size + 1, 1)) == NULL) {
        fault = SOURCE_NO_MEMORY;
    }
    while (fault == SOURCE_GOOD && len < (size_t)st.st_size) {
        ssize_t got = read(fd, buffer + len, (size_t)st.st_size - len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            *error = errno;
            fault = SOURCE_NOT_READ;
        } else if (got == 0) {
            break; /* it shrank while it was read */
        } else {
            len += (size_t)got;
        }
    }
    close(fd);
    *bytes = (struct text){buffer, len};
    return fault;
}

const char *source_fault_text(enum source_fault fault, int error) {
    switch (fault) {
    case SOURCE_NOT_READ: return strerror(error);
    case SOURCE_NOT_FILE: return "not a regular file";
    case SOURCE_TOO_LARGE: return "larger than 16 MiB";
    case SOURCE_NO_MEMORY: return "out of memory";
    case SOURCE_GOOD: break;
    }
    return "";
}

bool source_map_lines(struct mem *m, struct source *s) {
    size_t count = 1;
    for (size_t i = 0; i < s->bytes.len; i++) {
        count += s->bytes.at[i] == '\n';
    }
    s->lines = mem_alloc(m, count, sizeof *s->lines);
    if (s->lines == NULL) {
        return false;
    }
    s->line_count = 1;
    for (size_t i = 0; i < s->bytes.len; i++) {
        if (s->bytes.at[i] == '\n') {
            s->lines[s->line_count++] = (uint32_t)(i + 1);
        }
    }
    return true;
}

uint32_t source_line_at(const struct source *s, uint32_t offset) {
    size_t low = 0, high = s->line_count; /* INVARIANT: lines[low] <= offset < lines[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->lines[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (uint32_t)(low + 1);
}

struct place source_place(const struct source *s, uint32_t offset) {
    struct place place = {source_line_at(s, offset), 1};
    for (size_t i = s->lines[place.line - 1]; i < offset && i < s->bytes.len; i++) {
        place.column += ((unsigned char)s->bytes.at[i] & 0xc0) != 0x80;
    }
    return place;
}

struct text source_line(const struct source *s, uint32_t line) {
    size_t from = s->lines[line - 1];
    size_t to = line < s->line_count ? s->lines[line] - 1u : s->bytes.len;
    if (to > from && s->bytes.at[to - 1] == '\r') {
        to--;
    }
    return (struct text){s->bytes.at + from, to - from};
}

enum source_badness source_examine(struct text bytes, uint32_t *from, uint32_t *to) {
    for (size_t i = 0; i < bytes.len;) {
        uint32_t code = 0;
        size_t len = utf8_decode(bytes.at + i, bytes.len - i, &code);
        enum source_badness bad = SOURCE_CLEAN;
        if (len == 0) {
            bad = SOURCE_BAD_UTF8;
            len = 1;
        } else if (code == 0xfeff && i == 0) {
            bad = SOURCE_BAD_MARK;
        } else if (code == 0) {
            bad = SOURCE_BAD_NUL;
        } else if (code_is_bidi(code)) {
            bad = SOURCE_BAD_BIDI;
        } else if (code == '\r') {
            if (bytes.len - i < 2 || bytes.at[i + 1] != '\n') {
                bad = SOURCE_BAD_CONTROL;
            }
        } else if (code_is_control(code) && code != '\t' && code != '\n') {
            bad = SOURCE_BAD_CONTROL;
        }
        if (bad != SOURCE_CLEAN) {
            *from = (uint32_t)i;
            *to = (uint32_t)(i + len);
            return bad;
        }
        i += len;
    }
    return SOURCE_CLEAN;
}

const char *source_encoding_hint(struct text bytes) {
    /* Two bytes of UTF-16: its mark, or an ASCII character and a zero. */
    const unsigned char a = bytes.len < 2 ? 1 : (unsigned char)bytes.at[0],
                        b = bytes.len < 2 ? 1 : (unsigned char)bytes.at[1];
    bool utf16 = (a == 0xff && b == 0xfe) || (a == 0xfe && b == 0xff) || (a == 0) != (b == 0);
    return utf16 ? "this looks like UTF-16: save the file as UTF-8" : "save the file as UTF-8";
}

size_t source_start(struct text bytes) {
    size_t i = 0;
    while (i < bytes.len) {
        char c = bytes.at[i];
        if (c == '#') {
            while (i < bytes.len && bytes.at[i] != '\n') {
                i++;
            }
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            i++;
        } else {
            break;
        }
    }
    return i;
}

bool source_is_policy(struct text bytes) {
    size_t i = source_start(bytes);
    static const char *const first_words[] = {"policy", "fragment"};
    for (size_t w = 0; w < 2; w++) {
        size_t len = strlen(first_words[w]);
        if (bytes.len - i > len && memcmp(bytes.at + i, first_words[w], len) == 0) {
            char after = bytes.at[i + len];
            return after == ' ' || after == '\t' || after == '\r' || after == '\n' || after == '#';
        }
    }
    return false;
}
