/* What the scanner's words, numbers and strings mean.
 *
 * Layer: grammar; called by the scanner.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keywords.h"
#include "parse.h"
#include "syntax.h"
#include "words.h"

/* Relative to the current token. */
static struct span syntax_span(const struct syntax *s, size_t from, size_t to) {
    return (struct span){s->source, s->token_from + (uint32_t)from, s->token_from + (uint32_t)to};
}

static struct span token_span(const struct syntax *s) {
    return (struct span){s->source, s->token_from, s->token_to};
}

int syntax_token(struct syntax *s, struct token *token, int kind) {
    token->kind = kind;
    token->span = token_span(s);
    return kind;
}

int syntax_word(struct syntax *s, struct token *token, const char *at, size_t len) {
    /* The scanner's copy of the file is in the arena, so plain words need no copy of their own. */
    token->value.word = (struct ast_word){.text = {at, len}, .span = token_span(s)};
    int keyword = keyword_find(at, len);
    return keyword != 0 ? keyword : TOK_IDENT;
}

/* 128-bit magnitude times `by` plus `add`; false where it does not fit. */
static bool magnitude_push(uint64_t word[2], uint32_t by, uint32_t add) {
    uint64_t carry = add;
    for (size_t i = 0; i < 2; i++) {
        uint64_t low = (word[i] & 0xffffffff) * by + carry;
        uint64_t high = (word[i] >> 32) * by + (low >> 32);
        word[i] = (high << 32) | (low & 0xffffffff);
        carry = high >> 32;
    }
    return carry == 0;
}

static int number_bad(struct syntax *s, struct token *token, const char *message, const char *hint) {
    diag_error(s->diag, token_span(s), P_BAD_NUMBER, "%s", message);
    if (hint != NULL) {
        diag_hint(s->diag, "%s", hint);
    }
    token->value.number.bad = true;
    return TOK_INTEGER;
}

static const char *const units[] = {"KiB", "MiB", "GiB"};

/* Does the number that is scanned count bytes: as a length of bytes, or as a budget of them? */
static bool counts_bytes(const struct syntax *s) {
    static const char *const sized[] = {"bytes", "bytearray", "buffer"};
    const char *bytes = s->diag->sources[s->source].bytes.at;
    struct text word = {bytes + s->last.span.from, s->last.span.to - s->last.span.from};
    bool counts = false;
    if (s->open_count != 0 && s->opens[s->open_count - 1].kind == TOK_LEFT_BRACKET) {
        const uint32_t end = s->opens[s->open_count - 1].at.from;
        for (size_t i = 0; i < sizeof sized / sizeof *sized; i++) {
            const size_t len = strlen(sized[i]);
            counts = counts || (end >= len && memcmp(bytes + end - len, sized[i], len) == 0);
        }
        return counts;
    }
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        counts = counts || (text_is(word, budget_words[i].word) && budget_counts_bytes((enum upk_budget)i));
    }
    return counts;
}

static const char *unit_hint(const struct syntax *s, struct text tail) {
    if (tail.len == 0 || tail.len > 2 || (tail.len == 2 && tail.at[1] != 'B' && tail.at[1] != 'b')) {
        return NULL;
    }
    if (strchr("kKmMgG", tail.at[0]) != NULL && !counts_bytes(s)) {
        return "units count bytes, which are not counted here: write the number out";
    }
    switch (tail.at[0]) {
    case 'k':
    case 'K': return "units are KiB, MiB and GiB (powers of 1,024): write KiB";
    case 'm':
    case 'M': return "units are KiB, MiB and GiB (powers of 1,024): write MiB";
    case 'g':
    case 'G': return "units are KiB, MiB and GiB (powers of 1,024): write GiB";
    default: return NULL;
    }
}

/* What to write for a number of another base, or with an exponent. */
static bool decimal_of(const char *at, size_t len, struct phrase *hint) {
    char digits[24] = "";
    const size_t sign = at[0] == '-' ? 1 : 0;
    const char mark = len - sign > 1 ? (char)(at[sign + 1] | 0x20) : '\0';
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    char *end = digits;
    unsigned long long value = 0;
    if (at[sign] == '0' && base != 0 && len - sign > 2 && len - sign < sizeof digits) {
        memcpy(digits, at + sign + 2, len - sign - 2);
        errno = 0;
        value = strtoull(digits, &end, base);
        if (*end == '\0' && errno == 0) {
            phrase_add(hint, "numbers are decimal: write %s%llu", sign != 0 ? "-" : "", value);
            return true;
        }
    }
    if (at[sign] == '0' && base != 0) {
        phrase_add(hint, "numbers are decimal");
    } else if (memchr(at, 'e', len) != NULL || memchr(at, 'E', len) != NULL) {
        phrase_add(hint, "numbers are written out: `_' may group the digits");
    }
    return hint->len != 0;
}

int syntax_number(struct syntax *s, struct token *token, const char *at, size_t len) {
    struct ast_number *n = &token->value.number;
    *n = (struct ast_number){.span = token_span(s)};
    size_t i = at[0] == '-' ? 1 : 0;
    bool fits = true;
    if (len - i > 1 && at[i] == '0' && at[i + 1] >= '0' && at[i + 1] <= '9') {
        return number_bad(s, token, "a number does not begin with 0", NULL);
    }
    for (; i < len && ((at[i] >= '0' && at[i] <= '9') || at[i] == '_'); i++) {
        if (at[i] == '_') {
            if (i + 1 == len || at[i - 1] == '_' || at[i + 1] < '0' || at[i + 1] > '9') {
                return number_bad(s, token, "`_' stands between two digits only", NULL);
            }
        } else if (fits) {
            fits = magnitude_push(n->value.word, 10, (uint32_t)(at[i] - '0'));
        }
    }
    struct text tail = {at + i, len - i};
    for (uint32_t u = 0; u < 3 && tail.len != 0; u++) {
        if (text_is(tail, units[u])) {
            n->unit = true;
            for (uint32_t shift = 0; shift <= u && fits; shift++) {
                fits = magnitude_push(n->value.word, 1024, 0);
            }
        }
    }
    if (tail.len != 0 && !n->unit) {
        struct phrase decimal = {.len = 0};
        const char *hint = unit_hint(s, tail);
        if (hint == NULL && decimal_of(at, len, &decimal)) {
            hint = decimal.text;
        }
        return number_bad(s, token, "no number: letters follow the digits", hint);
    }
    if (!fits) {
        return number_bad(s, token, "the number does not fit 128 bits", NULL);
    }
    if (at[0] == '-' && (n->value.word[0] | n->value.word[1]) != 0) {
        n->value.word[0] = ~n->value.word[0] + 1;
        n->value.word[1] = ~n->value.word[1] + (n->value.word[0] == 0);
        n->value.negative = true;
    }
    return n->unit ? TOK_SIZE : TOK_INTEGER;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct escape {
    size_t len; /* of the whole escape; 0: it is none */
    uint32_t code;
};

/* `\xHH` is a byte of a bytes literal and the character U+00HH of a string; `\u{HEX}` is for strings. */
static struct escape escape_read(const char *p, size_t left, bool bytes) {
    struct escape none = {0, 0};
    switch (p[1]) {
    case '"':
    case '\\': return (struct escape){2, (unsigned char)p[1]};
    case 'n': return (struct escape){2, '\n'};
    case 't': return (struct escape){2, '\t'};
    case 'x':
        if (left < 4 || hex_digit(p[2]) < 0 || hex_digit(p[3]) < 0) {
            return none;
        }
        return (struct escape){4, (uint32_t)(hex_digit(p[2]) * 16 + hex_digit(p[3]))};
    case 'u': {
        struct escape e = {3, 0};
        if (bytes || left < 5 || p[2] != '{') {
            return none;
        }
        for (; e.len < left && hex_digit(p[e.len]) >= 0; e.len++) {
            if (e.len >= 9) {
                return none;
            }
            e.code = e.code << 4 | (uint32_t)hex_digit(p[e.len]);
        }
        if (e.len == 3 || e.len >= left || p[e.len] != '}' || e.code > 0x10ffff) {
            return none;
        }
        e.len++;
        return e;
    }
    default: return none;
    }
}

int syntax_string(struct syntax *s, struct token *token, int kind, const char *at, size_t len) {
    bool bytes = kind == TOK_BYTES;
    size_t prefix = bytes ? 2 : 1;
    struct ast_word *word = &token->value.word;
    *word = (struct ast_word){.span = token_span(s)};
    /* INVARIANT: no escape is shorter than what it stands for. */
    char *out = mem_alloc(s->mem, len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; out != NULL && i < len;) {
        struct escape e = {1, 0};
        if (at[i] == '\\') {
            e = escape_read(at + i, len - i, bytes);
            if (e.len == 0) {
                diag_error(s->diag, syntax_span(s, prefix + i, prefix + i + 2), P_BAD_STRING,
                           "unknown escape in a %s", bytes ? "bytes literal" : "string");
                diag_hint(s->diag, bytes ? "escapes are \\\" \\\\ \\n \\t \\xHH"
                                         : "escapes are \\\" \\\\ \\n \\t \\xHH \\u{HEX}");
                word->bad = true;
                e.len = 2;
            } else if (bytes) {
                out[n++] = (char)e.code;
            } else {
                n += utf8_encode(e.code, out + n);
            }
        } else if (at[i] == '\t' || (bytes && (unsigned char)at[i] >= 0x80)) {
            diag_error(s->diag, syntax_span(s, prefix + i, prefix + i + 1), P_BAD_STRING,
                       bytes ? "a bytes literal holds plain ASCII and escapes only"
                             : "a control character in a string");
            diag_hint(s->diag, bytes ? "write \\xHH" : "write \\t");
            word->bad = true;
        } else {
            out[n++] = at[i];
        }
        /* One message a literal is enough. */
        i = word->bad ? len : i + e.len;
    }
    word->text = (struct text){out == NULL ? "" : out, n};
    return kind;
}

int syntax_open_string(struct syntax *s, const char *at, size_t len) {
    diag_error(s->diag, token_span(s), P_BAD_STRING, "the string does not end on its line");
    diag_hint(s->diag, "close it with `\"'; a newline is written \\n");
    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t' || at[len - 1] == '\r')) {
        len--;
    }
    /* The string swallowed the statement's end where the line ends in one. */
    return at[len - 1] == ';' ? SYNTAX_BROKEN_END : TOK_PC_error;
}

void syntax_other_comment(struct syntax *s) {
    if (!s->skipping) {
        diag_error(s->diag, (struct span){s->source, s->token_from, s->token_from + 2}, P_BAD_CHARACTER,
                   "no comment of this language");
        diag_hint(s->diag, "a comment begins with `#' and goes to the end of its line");
    }
}

int syntax_bad_character(struct syntax *s) {
    struct text t = {s->diag->sources[s->source].bytes.at + s->token_from, s->token_to - s->token_from};
    if (s->skipping) {
        return TOK_PC_error;
    }
    diag_error(s->diag, token_span(s), P_BAD_CHARACTER, "`%s' begins no word of the language",
               diag_quote(s->diag, t));
    if (text_is(t, "-") && s->last.span.to == s->token_from) {
        const bool plain =
            s->statement == TOK_POLICY || s->statement == TOK_FRAGMENT || s->statement == TOK_USE;
        diag_hint(s->diag, plain ? "words of such a name are joined by `.' or `_'"
                                 : "a name with `-' in it is written in quotes");
    } else if (t.len > 1 && t.at[0] != '\'') {
        diag_hint(s->diag, "a name that is not plain ASCII is written in quotes");
    } else if (t.at[0] == '\'') {
        diag_hint(s->diag, "strings are written in double quotes");
    }
    return TOK_PC_error;
}
