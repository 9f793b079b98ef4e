/* What is said of bytes that are no text of a policy, before anything scans them.
 *
 * Layer: between diag and syntax; what may be in a file is source.c's to know.
 */
#include "source_admit.h"

static const char *text_of_badness(enum source_badness bad) {
    switch (bad) {
    case SOURCE_BAD_UTF8: return "this is not UTF-8";
    case SOURCE_BAD_NUL: return "a NUL byte: this is no text";
    case SOURCE_BAD_BIDI: return "a directional control character: the text would not read as it is";
    case SOURCE_BAD_CONTROL: return "a control character";
    case SOURCE_BAD_MARK: return "a byte order mark (U+FEFF) before the text";
    case SOURCE_CLEAN: break;
    }
    return "";
}

static const char *hint_of_badness(enum source_badness bad, struct text bytes) {
    switch (bad) {
    case SOURCE_BAD_UTF8:
    case SOURCE_BAD_NUL: return source_encoding_hint(bytes);
    case SOURCE_BAD_BIDI: return "in a string it is written \\u{HEX}";
    case SOURCE_BAD_CONTROL: return "in a string it is written \\xHH or \\u{HEX}";
    case SOURCE_BAD_MARK: return "save the file as UTF-8 without it";
    case SOURCE_CLEAN: break;
    }
    return "";
}

bool source_admit(struct diag *d, struct source *source, uint32_t *index) {
    uint32_t from = 0, to = 0;
    const enum source_badness bad = source_examine(source->bytes, &from, &to);
    const bool is_policy = source_is_policy(source->bytes);
    source->quotable = bad == SOURCE_CLEAN && is_policy;
    *index = source_map_lines(&d->mem, source) ? diag_add_source(d, source) : UINT32_MAX;
    if (*index == UINT32_MAX) return false;
    if (bad != SOURCE_CLEAN) {
        diag_error(d, (struct span){*index, from, to}, P_BAD_BYTES, "%s", text_of_badness(bad));
        diag_hint(d, "%s", hint_of_badness(bad, source->bytes));
    } else if (!is_policy) {
        const uint32_t start = (uint32_t)source_start(source->bytes);
        diag_error(d, (struct span){*index, start, start}, P_NO_HEADER,
                   "a file begins with `policy NAME REVISION;' or `fragment NAME;'");
    }
    return source->quotable;
}
