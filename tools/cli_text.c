/* Texts of the outside world as they may be printed.
 *
 * Layer: hosts; see cli.h.
 */
#include <string.h>

#include "../compiler/unicode.h"
#include "cli.h"

struct cli_shown cli_show(const char *name) {
    struct cli_shown shown;
    size_t n = 0;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
        if (n > sizeof shown.text - 8) {
            memcpy(shown.text + n, "...", 3);
            n += 3;
            break;
        }
        if (*at >= 0x20 && *at < 0x7f) {
            shown.text[n++] = (char)*at;
        } else {
            n += (size_t)snprintf(shown.text + n, 5, "\\x%02x", *at);
        }
    }
    shown.text[n] = 0;
    return shown;
}

/* Bytes at `at` that stand for themselves in a field: a printable character; 0: the first byte does not. */
static size_t plain_bytes(const char *at, size_t left) {
    uint32_t code;
    size_t n = utf8_decode(at, left, &code);
    return n == 0 || code_is_control(code) || code_is_bidi(code) ? 0 : n;
}

static bool is_plain(const char *text, const char *end) {
    for (size_t n; text < end; text += n) {
        n = plain_bytes(text, (size_t)(end - text));
        if (n == 0) return false;
    }
    return true;
}

void cli_write_field(const char *text, FILE *to) {
    const char *end = text + strlen(text);
    if (is_plain(text, end)) { /* as given, backslashes too */
        fputs(text, to);
        return;
    }
    while (text < end) {
        size_t n = *text == '\\' ? 0 : plain_bytes(text, (size_t)(end - text));
        if (n > 0) {
            fwrite(text, 1, n, to);
            text += n;
            continue;
        }
        switch (*text) {
        case '\t': fputs("\\t", to); break;
        case '\n': fputs("\\n", to); break;
        case '\r': fputs("\\r", to); break;
        case '\\': fputs("\\\\", to); break;
        default: fprintf(to, "\\x%02x", (unsigned char)*text);
        }
        text++;
    }
}
