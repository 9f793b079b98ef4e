/* The canonical form: parsed, laid out anew, and held against what it was made from.
 *
 * Layer: see format.h.
 */
#include "format.h"

#include <string.h>

#include "layout.h"
#include "parse.h"
#include "source_admit.h"

/* The next comment, or the next token. */
static struct text next_of(struct syntax *s, bool comment, int *kind) {
    struct token token;
    do {
        syntax_next(s, &token);
    } while (token.kind != TOK_EOF && (token.kind == SYNTAX_COMMENT) != comment);
    const char *bytes = s->diag->sources[token.span.file].bytes.at;
    const uint32_t from = token.span.from, to = token.span.to;
    *kind = token.kind;
    return (struct text){bytes + from, (comment ? layout_comment_end(bytes, from, to) : to) - from};
}

/* Have both sources the same comments, or the same tokens, each spelt alike? */
static bool are_same(struct mem *m, struct diag *d, uint32_t one, uint32_t other, bool comments) {
    struct syntax *a = syntax_scan(m, d, one), *b = syntax_scan(m, d, other);
    int kind_a = TOK_EOF, kind_b = TOK_EOF;
    if (a == NULL || b == NULL) return false;
    do {
        const struct text text_a = next_of(a, comments, &kind_a), text_b = next_of(b, comments, &kind_b);
        if (kind_a != kind_b || !text_equal(text_a, text_b)) return false;
    } while (kind_a != TOK_EOF);
    return !m->failed;
}

static bool check(struct text name, uint32_t source, struct text text, struct diag *d, struct mem *m) {
    const size_t errors = diag_error_count(d);
    struct source made = {.name = name, .path = name, .table_name = name, .bytes = text};
    uint32_t index = UINT32_MAX;
    const bool same = source_admit(d, &made, &index) && are_same(m, d, source, index, false) &&
                      are_same(m, d, source, index, true);
    if (index == UINT32_MAX || m->failed) return false;
    if (same && diag_error_count(d) == errors) return true;
    d->io = true;
    diag_error_nowhere(d, P_NOT_WRITTEN, "%s: its canonical form has other words: a mistake of this program",
                       diag_quote(d, name));
    return false;
}

static bool lay_out(struct text name, uint32_t source, const struct ast_file *file, struct diag *d,
                    struct output *out) {
    const size_t before = out->len;
    struct layout l;
    if (!layout_read(&l, out->mem, d, source, file) || !layout_arrange(&l) ||
        !layout_print(&l, out, SOURCE_MOST_BYTES))
        return false;
    if (out->len - before > SOURCE_MOST_BYTES) {
        diag_error_nowhere(d, P_TOO_MANY, "%s: its canonical form is larger than 16 MiB",
                           diag_quote(d, name));
        return false;
    }
    /* A copy: the sources are the diag's. */
    struct text made;
    return mem_text(&d->mem, out->bytes + before, out->len - before, &made) &&
           check(name, source, made, d, out->mem);
}

bool format_policy(struct text name, struct text bytes, struct diag *d, struct output *out) {
    const size_t before = out->len, errors = diag_error_count(d);
    struct source source = {.name = name, .path = name, .table_name = name, .bytes = bytes};
    struct ast_file file;
    uint32_t index = UINT32_MAX;
    if (bytes.len > SOURCE_MOST_BYTES) {
        diag_error_nowhere(d, P_TOO_MANY, "%s: larger than 16 MiB", diag_quote(d, name));
        return false;
    }
    if (source_admit(d, &source, &index) && syntax_parse(out->mem, d, index, &file) &&
        lay_out(name, index, &file, d, out))
        return true;
    out->len = before;
    if (diag_error_count(d) == errors || out->mem->failed) diag_error_nowhere(d, P_MEMORY, "out of memory");
    return false;
}
