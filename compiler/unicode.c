/* UTF-8, and the code points that no text shows as they are.  Layer: see unicode.h. */
#include "unicode.h"

size_t utf8_decode(const char *p, size_t left, uint32_t *code) {
    const unsigned char *b = (const unsigned char *)p;
    if (left == 0) {
        return 0;
    }
    if (b[0] < 0x80) {
        *code = b[0];
        return 1;
    }
    size_t len = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || left < len) {
        return 0;
    }
    uint32_t c = b[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (b[i] & 0x3fu);
    }
    if (c < (len == 2   ? 0x80u
             : len == 3 ? 0x800u
                        : 0x10000u) ||
        c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return 0;
    }
    *code = c;
    return len;
}

size_t utf8_encode(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)((len == 2 ? 0xc0u : len == 3 ? 0xe0u : 0xf0u) | code);
    return len;
}

bool code_is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

bool code_is_bidi(uint32_t code) {
    return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}
