/* Names, strings and numbers of the language.  Layer: see notation.h. */
#include "notation.h"

#include <inttypes.h>
#include <string.h>

#include "keywords.h"
#include "unicode.h"
#include "words.h"

enum { GROUPED_FROM = 4, WORD_BITS = 32, LIMBS = 5 };

/* ---- text ------------------------------------------------------------ */

/* A code point, a lone surrogate too, that is ASCII or escaped: so two texts that differ are never listed alike, whatever
 * letters look like others, compose, or are not seen. */
static void put_char(struct output *o, uint32_t code) {
    if (code == '"' || code == '\\')
        output_print(o, "\\%c", (char)code);
    else if (code == '\n' || code == '\t')
        output_text(o, code == '\n' ? "\\n" : "\\t");
    else if (code < 0x20 || code == 0x7f)
        output_print(o, "\\x%02" PRIX32, code);
    else if (code > 0x7f)
        output_print(o, "\\u{%" PRIX32 "}", code);
    else
        output_print(o, "%c", (char)code);
}

/* Strings of a table are UTF-8 in which a lone surrogate has three bytes, too. */
static size_t char_at(const char *p, size_t left, uint32_t *code) {
    const size_t len = utf8_decode(p, left, code);
    if (len != 0) return len;
    if (left >= 3 && (unsigned char)p[0] == 0xed) {
        *code =
            0xd000u | ((uint32_t)(unsigned char)p[1] & 0x3f) << 6 | ((uint32_t)(unsigned char)p[2] & 0x3f);
        return 3;
    }
    *code = (unsigned char)p[0];
    return 1;
}

void notation_string(struct output *o, struct text t) {
    output_text(o, "\"");
    for (size_t i = 0; i < t.len;) {
        uint32_t code;
        i += char_at(t.at + i, t.len - i, &code);
        put_char(o, code);
    }
    output_text(o, "\"");
}

void notation_prose(struct output *o, struct text t) {
    output_text(o, "\"");
    for (size_t i = 0; i < t.len;) {
        uint32_t code;
        const size_t len = char_at(t.at + i, t.len - i, &code);
        if (code > 0x7f && code_is_legible(code))
            output_bytes(o, t.at + i, len);
        else
            put_char(o, code);
        i += len;
    }
    output_text(o, "\"");
}

void notation_bytes(struct output *o, struct text t) {
    output_text(o, "b\"");
    for (size_t i = 0; i < t.len; i++) {
        const unsigned char c = (unsigned char)t.at[i];
        if (c >= 0x80)
            output_print(o, "\\x%02X", c);
        else
            put_char(o, c);
    }
    output_text(o, "\"");
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_word(struct text t) {
    for (size_t i = 0; i < t.len; i++) {
        if (!is_letter(t.at[i]) && (i == 0 || t.at[i] < '0' || t.at[i] > '9')) return false;
    }
    return t.len != 0;
}

/* The keywords that are no names (policy.y: word). */
static bool is_reserved(struct text t) {
    static const char *const words[] = {"because", "fail_open", "instance", "ref", "where"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (text_is(t, words[i])) return true;
    }
    return false;
}

static bool is_dotted_words(struct text t) {
    for (;;) {
        const char *const dot = t.len ? memchr(t.at, '.', t.len) : NULL;
        const struct text part = {t.at, dot ? (size_t)(dot - t.at) : t.len};
        if (!is_word(part) || is_reserved(part)) return false;
        if (!dot) return true;
        t = (struct text){dot + 1, t.len - part.len - 1};
    }
}

void notation_name(struct output *o, struct text t) {
    if (is_dotted_words(t))
        output_bytes(o, t.at, t.len);
    else
        notation_string(o, t);
}

bool notation_is_type_name(struct text t) { return is_word(t) && keyword_find(t.at, t.len) == 0; }

/* ---- numbers ------------------------------------------------------------ */

static void put_digits(struct output *o, const char *digits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && count >= GROUPED_FROM && (count - i) % 3 == 0) output_text(o, "_");
        output_bytes(o, digits + i, 1);
    }
}

void notation_int(struct output *o, const uint64_t word[2], bool negative) {
    /* Bit 128 is the sign's, so that the magnitude of -2^128 needs a fifth limb. */
    uint32_t limbs[LIMBS];
    uint64_t carry = negative;
    for (int i = 0; i < LIMBS - 1; i++) {
        const uint64_t bits = word[i / 2] >> WORD_BITS * (i % 2) & UINT32_MAX;
        carry += negative ? ~bits & UINT32_MAX : bits;
        limbs[i] = (uint32_t)carry;
        carry >>= WORD_BITS;
    }
    limbs[LIMBS - 1] = (uint32_t)carry;
    char digits[40];
    size_t at = sizeof digits;
    bool more = true;
    while (more && at > 0) {
        uint64_t rest = 0;
        more = false;
        for (int i = LIMBS; i-- > 0;) {
            rest = rest << WORD_BITS | limbs[i];
            limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
            more = more || limbs[i] != 0;
        }
        digits[--at] = (char)('0' + rest);
    }
    if (negative) output_text(o, "-");
    put_digits(o, digits + at, sizeof digits - at);
}

void notation_number(struct output *o, uint64_t n) { notation_int(o, (const uint64_t[2]){n, 0}, false); }

void notation_size(struct output *o, uint64_t bytes) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    for (; bytes != 0 && bytes % 1024 == 0 && unit < 3; unit++) bytes /= 1024;
    notation_number(o, bytes);
    output_text(o, units[unit]);
}

void notation_budget(struct output *o, enum upk_budget b, uint64_t value) {
    if (budget_counts_bytes(b))
        notation_size(o, value);
    else
        notation_number(o, value);
}

/* ---- sets of characters ------------------------------------------------------------ */

/* Adds [lo, hi]; *dash: `-` is in the set.  It makes a range of what stands around it, and stands last for itself. */
static void put_span(struct output *o, uint32_t lo, uint32_t hi, bool *dash) {
    if (lo == '-') {
        *dash = true;
        if (hi == lo++) return;
    }
    if (hi == '-' && hi == lo + 1) {
        *dash = true;
        hi = lo;
    }
    put_char(o, lo);
    if (hi > lo + 1) output_text(o, "-");
    if (hi > lo) put_char(o, hi);
}

/* `./0-9` reads better than `.-9`: a few marks before and behind digits or letters stand for themselves. */
static void put_marked_span(struct output *o, struct upk_range r, bool *dash) {
    static const struct upk_range blocks[] = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};
    enum { MARKS_MOST = 6 };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const uint32_t lo = blocks[i].lo, hi = blocks[i].hi;
        const uint32_t before = r.lo < lo ? lo - r.lo : 0, behind = r.hi > hi ? r.hi - hi : 0;
        if (r.hi < lo || r.lo > hi || before > MARKS_MOST || behind > MARKS_MOST) continue;
        for (uint32_t c = lo - before; c < lo; c++) put_span(o, c, c, dash);
        put_span(o, before ? lo : r.lo, behind ? hi : r.hi, dash);
        for (uint32_t c = hi + 1; c <= hi + behind; c++) put_span(o, c, c, dash);
        return;
    }
    put_span(o, r.lo, r.hi, dash);
}

void notation_chars(struct output *o, const struct upk_range *ranges, uint32_t count) {
    bool dash = false;
    output_text(o, "\"");
    for (uint32_t i = 0; i < count; i++) put_marked_span(o, ranges[i], &dash);
    output_text(o, dash ? "-\"" : "\"");
}
