/* Native check of UnicodeEncodeError, UnicodeDecodeError and UnicodeTranslateError: start and end lie within the object.
 *
 * Source: UnicodeEncodeError_init and the two after it in Objects/exceptions.c of CPython, whose __str__ reads the object from
 * start to end and trusts both.
 *
 * Layer: runtime, part of native checks (check.h).
 */
#include <inttypes.h>

#include "check.h"

enum {
    TRANSLATE_ARGUMENTS = 4, /* object, start, end, reason */
    CODEC_ARGUMENTS = 5,     /* encoding, and the same */
    COUNTED_A_PAIR = 64
};

/* A str counts in code points; a Python 2 str is ASCII or bytes. */
static bool object_length(struct native *c, uint32_t i, bool bytes, int64_t *out) {
    struct upk_value v;
    bool is_bytes = bytes && argument_bytes(c, i, &v);
    if (!is_bytes && !argument_str(c, i, &v)) return false;
    *out = v.len;
    if (v.kind != UPK_STR || v.flags & VALUE_ASCII) return true;
    if (!check_pays(c, v.len, COUNTED_A_PAIR)) return false;
    *out = (int64_t)utf8_count(v.as.bytes, v.len);
    return true;
}

bool check_unicode_error(struct native *c) {
    const uint32_t n = argument_count(c);
    int64_t length = 0, start = 0, end = 0;
    if (n != TRANSLATE_ARGUMENTS && n != CODEC_ARGUMENTS)
        return check_fails(c, "unicode error: %u arguments, not 4 or 5", n);
    const uint32_t at = n - TRANSLATE_ARGUMENTS;
    if (!object_length(c, at, n == CODEC_ARGUMENTS, &length) || !argument_int(c, at + 1, &start) ||
        !argument_int(c, at + 2, &end))
        return false;
    if (start >= 0 && start <= end && end <= length) return true;
    return check_fails(c, "unicode error: start %" PRId64 ", end %" PRId64 " of an object of length %" PRId64,
                       start, end, length);
}
