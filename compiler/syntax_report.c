/* The words for syntax errors: what was found, what would fit, where it was opened.
 *
 * Layer: grammar; called by the generated parser.
 */
#include <stdio.h>
#include <string.h>

#include "keywords.h"
#include "parse.h"
#include "suggest.h"
#include "syntax_hint.h"
#include "words.h"

static struct text span_text(const struct syntax *s, struct span span) {
    return (struct text){s->diag->sources[span.file].bytes.at + span.from, span.to - span.from};
}

static bool line_between(const struct syntax *s, uint32_t from, uint32_t to) {
    const char *at = s->diag->sources[s->source].bytes.at;
    return to > from && memchr(at + from, '\n', to - from) != NULL;
}

static bool is_word_token(const char *name) {
    return strcmp(name, "name") == 0 || strcmp(name, "string") == 0 || strcmp(name, "bytes literal") == 0 ||
           strcmp(name, "number") == 0 || strcmp(name, "size") == 0 || strcmp(name, "end of file") == 0;
}

/* "expected A, B or C"; where more would fit, nothing is listed. */
static void list_expected(const struct syntax_expected *expected, struct phrase *out) {
    enum { MOST = 5 };
    const char *names[MOST];
    size_t count = 0;
    if (expected->name) {
        names[count++] = "name";
    }
    for (size_t i = 0; i < expected->count; i++) {
        /* Where a name fits, so does nearly every keyword: those are no news.  A size is a number with a unit. */
        if ((expected->name && keyword_find(expected->names[i], strlen(expected->names[i])) != 0) ||
            strcmp(expected->names[i], "size") == 0) {
            continue;
        }
        if (count == MOST) {
            return;
        }
        names[count++] = expected->names[i];
    }
    phrase_add(out, "%s", count == 0 ? "" : "expected ");
    for (size_t i = 0; i < count; i++) {
        phrase_separate(out, i, count, " or ");
        phrase_add(out, is_word_token(names[i]) ? "%s" : "`%s'", names[i]);
    }
}

/* The bracket that would have to be closed first. */
static void note_open(struct syntax *s) {
    const int found = s->last.kind;
    /* What closes a bracket of its own says nothing of the one around. */
    if (s->open_count != 0 && s->closed == 0 &&
        (found == TOK_EOF || found == TOK_SEMICOLON || found == TOK_INNER_SEMICOLON ||
         found == TOK_RIGHT_BRACE || found == TOK_RIGHT_BRACKET || found == TOK_RIGHT_PAREN ||
         found == TOK_GREATER)) {
        const struct syntax_open *open = &s->opens[s->open_count - 1];
        diag_note(s->diag, open->at,
                  found == TOK_INNER_SEMICOLON ? "within this `%.1s'" : "this `%.1s' is not closed",
                  span_text(s, open->at).at);
    } else if (found == TOK_EOF && s->nesting.block_depth != 0) {
        diag_note(s->diag, s->blocks[s->nesting.block_depth - 1].at, "this `{' is not closed");
    }
}

static void report_plain(struct syntax *s, const struct syntax_expected *expected) {
    struct phrase wanted = {.len = 0};
    char what[400];
    const struct token *found = &s->last;
    if (found->kind == TOK_EOF) {
        snprintf(what, sizeof what, "end of file");
    } else {
        snprintf(what, sizeof what, "`%s'", diag_quote(s->diag, span_text(s, found->span)));
    }
    list_expected(expected, &wanted);
    if (wanted.len == 0) {
        diag_error(s->diag, found->span, P_SYNTAX, "unexpected %s", what);
    } else {
        diag_error(s->diag, found->span, P_SYNTAX, "%s, found %s", wanted.text, what);
    }
    note_open(s);
    if (syntax_hint(s, expected)) {
        return;
    }
    if (found->kind == TOK_INNER_SEMICOLON) {
        diag_hint(s->diag, "a `{' or `(' before is not closed, or `,' was meant");
    } else if (expected->name &&
               keyword_find(span_text(s, found->span).at, found->span.to - found->span.from) != 0) {
        bool quotable = false;
        for (size_t i = 0; i < expected->count; i++) {
            quotable = quotable || strcmp(expected->names[i], "string") == 0;
        }
        diag_hint(s->diag, quotable ? "this word belongs to the language: as a name it is written in quotes"
                                    : "this word belongs to the language: take another name");
    }
}

void syntax_unexpected(struct syntax *s, const struct syntax_expected *expected) {
    const struct token *found = &s->last;
    struct suggestion near = suggestion_begin(span_text(s, found->span));
    for (size_t i = 0; found->kind == TOK_IDENT && i < expected->count; i++) {
        if (keyword_find(expected->names[i], strlen(expected->names[i])) != 0) {
            suggestion_offer(&near, text_of(expected->names[i]));
        }
    }
    bool missing = false;
    if (suggestion_found(&near)) {
        int len = (int)near.best.len;
        diag_error(s->diag, found->span, P_SYNTAX, "expected `%.*s', found `%s'", len, near.best.at,
                   diag_quote(s->diag, near.word));
        diag_hint(s->diag, "did you mean `%.*s'?", len, near.best.at);
    } else if (expected->semicolon &&
               (found->kind == TOK_EOF || found->kind == TOK_RIGHT_BRACE ||
                tokens_begin_statement(found->kind) || line_between(s, s->end, found->span.from))) {
        missing = true;
        diag_error(s->diag, (struct span){s->source, s->end, s->end}, P_MISSING_SEMICOLON, "missing `;'");
    } else {
        report_plain(s, expected);
    }
    tokens_recover(s, missing);
}

void syntax_too_deep(struct syntax *s, struct span at) {
    diag_error(s->diag, at, P_TOO_DEEP, "nested too deep");
}
