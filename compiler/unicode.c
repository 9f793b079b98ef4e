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

size_t utf8_length(const char *text, size_t len) {
    size_t codes = 0;
    for (size_t i = 0; i < len; i++) codes += ((unsigned char)text[i] & 0xc0) != 0x80;
    return codes;
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

bool code_is_legible(uint32_t code) {
    static const struct {
        uint32_t lo, hi;
    } legible[] = {
        {0x20, 0x7e},     {0xa1, 0xac},     {0xae, 0x24f},    {0x376, 0x377},   {0x37b, 0x37d},
        {0x37f, 0x37f},   {0x386, 0x386},   {0x388, 0x38a},   {0x38c, 0x38c},   {0x38e, 0x3a1},
        {0x3a3, 0x482},   {0x48a, 0x52f},   {0x2010, 0x2027}, {0x2030, 0x205e}, {0x20ac, 0x20ac},
        {0x3001, 0x3003}, {0x3005, 0x3011}, {0x3041, 0x3096}, {0x30a1, 0x30fa}, {0x30fc, 0x30fc},
        {0x3400, 0x4dbf}, {0x4e00, 0x9ffc}, {0xac00, 0xd7a3},
    };
    for (size_t i = 0; i < sizeof legible / sizeof *legible; i++) {
        if (code >= legible[i].lo && code <= legible[i].hi) {
            return true;
        }
    }
    return false;
}
