/* The pieces of a text: its tokens and comments as the scanner finds them, with what stands between them, and the places that
 * only the parser knows.
 *
 * Layer: see layout.h.
 */
#include "layout.h"

#include <string.h>

#include "parse.h"
#include "unicode.h"

uint32_t layout_comment_end(const char *bytes, uint32_t from, uint32_t to) {
    while (to > from && (bytes[to - 1] == ' ' || bytes[to - 1] == '\t' || bytes[to - 1] == '\r')) to--;
    return to;
}

static uint32_t chars_between(const struct layout *l, uint32_t from, uint32_t to) {
    return (uint32_t)utf8_length(l->bytes.at + from, to - from);
}

/* INVARIANT: linear in sum, because only comments are asked for and each ends its line. */
static uint32_t column_of(const struct layout *l, uint32_t offset) {
    uint32_t from = offset;
    while (from > 0 && l->bytes.at[from - 1] != '\n') from--;
    return chars_between(l, from, offset);
}

/* What stands between a piece and the one before is blanks and line ends. */
static void read_gap(const struct layout *l, struct piece *p, const struct piece *before) {
    uint32_t lines = 0;
    for (uint32_t i = before == NULL ? 0 : before->to; i < p->from; i++) lines += l->bytes.at[i] == '\n';
    p->blank = lines > 1;
    if (p->kind != SYNTAX_COMMENT) return;
    p->own_line = before == NULL || lines != 0;
    p->continues = before != NULL && before->kind == SYNTAX_COMMENT && lines == 1 &&
                   (!before->own_line || before->continues) &&
                   column_of(l, p->from) == column_of(l, before->from);
}

static bool count_pieces(struct layout *l, struct mem *m, struct diag *d, uint32_t source) {
    struct token token;
    struct syntax *s = syntax_scan(m, d, source);
    if (s == NULL) return false;
    for (syntax_next(s, &token); token.kind != TOK_EOF; syntax_next(s, &token)) l->count++;
    l->pieces = mem_alloc(m, l->count, sizeof *l->pieces);
    return l->pieces != NULL;
}

static bool read_pieces(struct layout *l, struct mem *m, struct diag *d, uint32_t source) {
    struct token token;
    struct syntax *s = syntax_scan(m, d, source);
    if (s == NULL) return false;
    for (uint32_t i = 0; i < l->count; i++) {
        struct piece *p = &l->pieces[i];
        syntax_next(s, &token);
        *p = (struct piece){.from = token.span.from,
                            .to = token.span.to,
                            .kind = (int16_t)token.kind,
                            .group = LAYOUT_NONE,
                            .groups = LAYOUT_NONE,
                            .mate = LAYOUT_NONE};
        read_gap(l, p, i == 0 ? NULL : p - 1);
        p->forces = p->kind == SYNTAX_COMMENT;
        if (p->forces)
            p->to = layout_comment_end(l->bytes.at, p->from, p->to);
        else
            p->width = chars_between(l, p->from, p->to);
    }
    return !m->failed;
}

/* The first token at or behind the offset; LAYOUT_NONE: there is none. */
static uint32_t token_at(const struct layout *l, uint32_t offset) {
    uint32_t low = 0, high = l->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (l->pieces[middle].from < offset)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < l->count && l->pieces[low].kind == SYNTAX_COMMENT) low++;
    return low < l->count ? low : LAYOUT_NONE;
}

static void mark_parts(struct layout *l, const struct ast_list *parts) {
    for (const struct ast_node *n = parts->first; n != NULL; n = n->next) {
        const uint32_t i = token_at(l, n->span.from);
        if (i != LAYOUT_NONE) l->pieces[i].part = true;
    }
}

static void mark_row(struct layout *l, const struct ast_row *row) {
    for (const struct ast_node *n = row->makers.first; n != NULL; n = n->next) {
        const struct ast_maker *maker = (const struct ast_maker *)n;
        const uint32_t first = token_at(l, maker->node.span.from);
        if (n == row->makers.first && first != LAYOUT_NONE) l->pieces[first].alternative = true;
        mark_parts(l, &maker->steps);
        mark_parts(l, &maker->clauses);
        if (maker->kw != NULL) {
            uint32_t i = token_at(l, maker->kw->node.span.from);
            while (i != LAYOUT_NONE && i > 0 && l->pieces[i].kind != TOK_KW) i--;
            if (i != LAYOUT_NONE) l->pieces[i].part = true;
        }
    }
}

static void mark_rows(struct layout *l, const struct ast_file *file) {
    for (const struct ast_node *n = file->items.first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        if (item->kind != AST_MODULE) continue;
        for (const struct ast_node *row = item->parts.first; row != NULL; row = row->next)
            mark_row(l, (const struct ast_row *)row);
    }
}

/* Comments behind `|` go before it, and those before `,` and `;` behind them: lines begin with the one and end in the others.
 * Neither tokens nor comments change their order. */
static void move_comments(struct layout *l) {
    for (uint32_t i = 0, run = 0; i < l->count; i++) { /* run: comments right before i */
        struct piece *p = &l->pieces[i];
        const struct piece token = *p;
        if (token.kind == SYNTAX_COMMENT) {
            run++;
            continue;
        }
        if (run != 0 && (token.kind == TOK_COMMA || token.kind == TOK_SEMICOLON)) {
            memmove(p - run + 1, p - run, run * sizeof *p);
            p[-(ptrdiff_t)run] = token;
        } else if (run != 0 && i > run && p[-(ptrdiff_t)run - 1].kind == TOK_BAR) {
            struct piece *bar = p - run - 1;
            const struct piece moved = *bar;
            memmove(bar, bar + 1, run * sizeof *bar);
            bar[run] = moved;
        }
        run = 0;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        struct piece *p = &l->pieces[i];
        const struct piece *before = i == 0 ? NULL : p - 1;
        if (p->kind != SYNTAX_COMMENT) continue;
        const bool behind = before != NULL && before->kind == SYNTAX_COMMENT;
        p->own_line = p->own_line || behind;
        p->continues = p->continues && behind && (!before->own_line || before->continues);
    }
}

bool layout_read(struct layout *l, struct mem *m, struct diag *d, uint32_t source,
                 const struct ast_file *file) {
    *l = (struct layout){.mem = m, .bytes = d->sources[source].bytes};
    if (!count_pieces(l, m, d, source) || !read_pieces(l, m, d, source)) return false;
    mark_rows(l, file);
    move_comments(l);
    return true;
}
