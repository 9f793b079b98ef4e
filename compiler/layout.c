/* Where lines may break, statement by statement: first what is in each bracket and each element between commas, then blanks,
 * breaks and indentation.
 *
 * Statements always begin a line, and so do the ways to make an object where a row has several.  Where there is no room, a
 * bracket breaks as a whole, an element a line, but words alone fill lines, as the lists of words of a statement do; a union
 * breaks before each `|`, a row before each of its steps and clauses.
 *
 * INVARIANT: whatever breaks lies in groups that break, so indentation is a matter of nesting alone.  What fills lines holds
 * nothing that breaks.
 *
 * Layer: see layout.h.
 */
#include "layout.h"

#include "parse.h"

/* A bracket that is open, or the statement; for both passes over it. */
struct frame {
    uint32_t open; /* LAYOUT_NONE: the statement */
    /* First pass */
    uint32_t first, member; /* of the element: its first piece, and that of its union behind `name:` or `=` */
    uint32_t bars;          /* of the element: the last, linked by `mate` */
    bool nested;            /* the element holds brackets, other than ranges */
    bool unions, complex;   /* some element is a union; is more than words */
    uint32_t commas;
    /* Second pass */
    uint32_t group;
    uint8_t inner, line, outer; /* indentation: elements, the line we are on, what closes the bracket */
    bool begins, padded;        /* the next piece begins an element; blanks stand within the braces */
};

struct arranger {
    struct layout *l;
    struct frame *frames;
    size_t depth, room;
    uint32_t from, to; /* the statement's pieces: both inclusive */
    uint32_t before;   /* the token before the one at hand */
    bool row, alternatives;
    /* Second pass over a row */
    uint32_t bar_count;
    uint32_t parts;                /* the group of a way's steps and clauses */
    bool way;                      /* the next piece begins a way */
    uint8_t base, way_in, part_in; /* indentation: of the statement, of a way, of a step */
};

static uint8_t deeper(unsigned indent, unsigned by) {
    return (uint8_t)(indent + by < LAYOUT_MOST_INDENT ? indent + by : LAYOUT_MOST_INDENT);
}

static bool opens(int kind) { return tokens_close(kind) != 0; }

static bool closes(int kind) {
    return kind == TOK_RIGHT_PAREN || kind == TOK_RIGHT_BRACKET || kind == TOK_RIGHT_BRACE ||
           kind == TOK_GREATER;
}

static struct frame *top(const struct arranger *a) { return &a->frames[a->depth - 1]; }

static struct frame *push(struct arranger *a, uint32_t open) {
    struct frame *grown = mem_grow(a->l->mem, a->frames, a->depth, &a->room, sizeof *grown);
    if (grown == NULL) return NULL;
    a->frames = grown;
    a->frames[a->depth] = (struct frame){
        .open = open, .first = LAYOUT_NONE, .member = LAYOUT_NONE, .bars = LAYOUT_NONE, .group = LAYOUT_NONE};
    return &a->frames[a->depth++];
}

/* LAYOUT_NONE: no memory. */
static uint32_t group_add(struct layout *l, uint32_t first, uint32_t last) {
    struct layout_group *grown = mem_grow(l->mem, l->groups, l->group_count, &l->group_room, sizeof *grown);
    if (grown == NULL) return LAYOUT_NONE;
    l->groups = grown;
    l->groups[l->group_count] = (struct layout_group){first, last, l->pieces[first].groups, false};
    l->pieces[first].groups = (uint32_t)l->group_count;
    return (uint32_t)l->group_count++;
}

static void break_with(struct layout *l, uint32_t piece, uint32_t group) {
    if (group == LAYOUT_NONE) return;
    l->pieces[piece].breaks = BREAK_GROUP;
    l->pieces[piece].group = group;
}

/* First pass */

/* A union of words fills lines; another has a line for each member. */
static void end_element(struct layout *l, struct frame *f, uint32_t last) {
    if (f->bars != LAYOUT_NONE) {
        const uint32_t group = f->nested ? group_add(l, f->first, last) : LAYOUT_NONE;
        for (uint32_t bar = f->bars; bar != LAYOUT_NONE; bar = l->pieces[bar].mate) {
            l->pieces[bar].breaks = BREAK_FILL;
            break_with(l, bar, group);
        }
        if (f->nested && f->member != LAYOUT_NONE) {
            break_with(l, f->member, group);
            l->pieces[f->member].member = true;
        }
    }
    f->bars = f->first = f->member = LAYOUT_NONE;
    f->nested = false;
}

static void end_bracket(struct arranger *a, uint32_t i, uint32_t last) {
    struct frame *f = top(a);
    struct piece *open = &a->l->pieces[f->open];
    end_element(a->l, f, last);
    if (a->l->pieces[last].kind == TOK_COMMA) a->l->pieces[last].forces = true;
    open->mate = i;
    open->lone = f->commas == 0 && !f->unions;
    open->packed = !f->complex;
    a->depth--;
}

static bool measure_piece(struct arranger *a, uint32_t i, uint32_t last) {
    struct piece *p = &a->l->pieces[i];
    struct frame *f = top(a);
    if (a->depth > 1 && closes(p->kind)) {
        end_bracket(a, i, last);
        return true;
    }
    if (p->kind == TOK_COMMA) {
        end_element(a->l, f, last);
        f->commas++;
        return true;
    }
    if (f->first == LAYOUT_NONE) f->first = i;
    const int statement = a->l->pieces[a->from].kind;
    const int prefix = a->l->pieces[last].kind;
    if (i != a->from &&
        (prefix == TOK_COLON || prefix == TOK_EQUALS || (statement == TOK_ROOT && last == a->from)))
        f->member = i;
    if (p->kind == TOK_COLON || p->kind == TOK_EQUALS) f->complex = true;
    if (p->kind == TOK_BAR) {
        f->unions = f->complex = true;
        if (a->depth > 1 || !a->row) {
            p->mate = f->bars;
            f->bars = i;
        } else {
            a->bar_count++;
        }
    }
    if (opens(p->kind)) {
        if (p->kind != TOK_LEFT_BRACKET) f->nested = f->complex = true;
        return push(a, i) != NULL;
    }
    return true;
}

/* What stands in brackets and elements. */
static bool measure(struct arranger *a) {
    uint32_t last = a->from;
    a->depth = 0;
    a->bar_count = 0;
    if (push(a, LAYOUT_NONE) == NULL) return false;
    for (uint32_t i = a->from; i < a->to; i++) {
        if (a->l->pieces[i].kind == SYNTAX_COMMENT) continue;
        if (!measure_piece(a, i, last)) return false;
        last = i;
    }
    end_element(a->l, top(a), last);
    return !a->l->mem->failed;
}

/* Second pass */

/* Is `(` that of arguments?  It is when a name or verb stands before it, or the braces of names. */
static bool opens_arguments(const struct arranger *a, const struct piece *before) {
    switch (before->kind) {
    case TOK_COMMA:
    case TOK_COLON:
    case TOK_EQUALS:
    case TOK_BAR:
    case TOK_QUESTION:
    case TOK_ARROW: return false;
    default: return !before->part && before != &a->l->pieces[a->from];
    }
}

static bool space_before(const struct arranger *a, const struct piece *p) {
    if (a->before == LAYOUT_NONE) return false;
    const struct piece *before = &a->l->pieces[a->before];
    switch (p->kind) {
    case TOK_COMMA:
    case TOK_SEMICOLON:
    case TOK_COLON:
    case TOK_QUESTION:
    case TOK_ELLIPSIS:
    case TOK_DOT:
    case TOK_DOTS:
    case TOK_COLON2:
    case TOK_RIGHT_PAREN:
    case TOK_RIGHT_BRACKET:
    case TOK_GREATER:
    case TOK_LEFT_BRACKET:
    case TOK_LESS: return false;
    case TOK_RIGHT_BRACE: return top(a)->padded && before->kind != TOK_LEFT_BRACE;
    default: break;
    }
    switch (before->kind) {
    case TOK_LEFT_PAREN:
    case TOK_LEFT_BRACKET:
    case TOK_LESS:
    case TOK_DOT:
    case TOK_DOTS:
    case TOK_COLON2:
    case TOK_STAR: return false; /* `*` in front is that of a pattern: *_TOKEN */
    case TOK_LEFT_BRACE: return top(a)->padded;
    default: break;
    }
    if (p->kind == TOK_LEFT_PAREN) return !opens_arguments(a, before);
    if (p->kind == TOK_STAR) return before->kind == TOK_COMMA || before == &a->l->pieces[a->from];
    return true;
}

static void end_parts(struct arranger *a) {
    if (a->parts != LAYOUT_NONE) a->l->groups[a->parts].last = a->before;
    a->parts = LAYOUT_NONE;
}

static void begin_line(struct piece *p) {
    p->breaks = BREAK_ALWAYS;
    p->blank = false;
}

static void begin_parts(struct arranger *a, uint32_t i) {
    if (a->parts == LAYOUT_NONE) a->parts = group_add(a->l, i, i);
}

/* Breaks of a row's own: before each way to make an object where there are several, before its steps and clauses. */
static bool break_in_row(struct arranger *a, uint32_t i) {
    struct piece *p = &a->l->pieces[i];
    struct frame *f = top(a);
    const bool several = a->bar_count != 0 && a->alternatives;
    if (p->kind == TOK_BAR) {
        end_parts(a);
        begin_line(p);
        p->indent = (uint8_t)(a->way_in - LAYOUT_INDENT / 2);
        f->line = a->way_in;
        a->way = true;
        return true;
    }
    bool breaks = false;
    if (p->alternative && a->alternatives && p->kind != TOK_SEMICOLON) {
        if (several) {
            begin_line(p);
            f->line = p->indent = a->way_in;
            breaks = true;
        }
        a->way = true;
    }
    if (a->way) begin_parts(a, i);
    a->way = false;
    if (p->part) {
        begin_parts(a, i);
        if (!breaks) {
            break_with(a->l, i, a->parts);
            f->line = p->indent = a->part_in;
        }
        breaks = true;
    }
    return breaks;
}

static void break_in_element(struct arranger *a, uint32_t i) {
    struct piece *p = &a->l->pieces[i];
    struct frame *f = top(a);
    const int statement = a->l->pieces[a->from].kind;
    const int before = a->before == LAYOUT_NONE ? 0 : a->l->pieces[a->before].kind;
    if (i == a->from) {
        p->breaks = BREAK_ALWAYS;
        p->indent = a->base;
    } else if (f->begins && f->open != LAYOUT_NONE) {
        p->indent = f->line = f->inner;
        break_with(a->l, i, f->group);
        if (a->l->pieces[f->open].packed && before == TOK_COMMA) p->breaks = BREAK_FILL;
    } else if (a->row && a->depth == 1 && break_in_row(a, i)) {
        /* done there */
    } else if (p->kind == TOK_BAR) {
        p->indent = p->breaks == BREAK_FILL
                        ? deeper(f->line, LAYOUT_INDENT)
                        : (uint8_t)(f->line - (f->line < 2 ? f->line : LAYOUT_INDENT / 2));
    } else if (p->member) {
        f->line = p->indent = deeper(f->line, LAYOUT_INDENT);
    } else if (a->depth == 1 && (before == TOK_COMMA || p->kind == TOK_WHERE || p->kind == TOK_BECAUSE ||
                                 (statement == TOK_ALIAS && p->kind == TOK_ARROW))) {
        p->breaks = BREAK_FILL;
    }
    f->begins = p->kind == TOK_COMMA;
}

static bool open_bracket(struct arranger *a, uint32_t i) {
    struct piece *p = &a->l->pieces[i];
    const struct frame outer = *top(a);
    struct frame *f = push(a, i);
    if (f == NULL) return false;
    const bool flat =
        p->kind == TOK_LEFT_BRACKET || (p->lone && p->kind != TOK_LEFT_BRACE) || p->mate == i + 1;
    f->outer = outer.line;
    f->inner = flat ? outer.line : deeper(outer.line, LAYOUT_INDENT);
    f->line = f->inner;
    f->begins = true;
    f->padded =
        p->kind == TOK_LEFT_BRACE && (a->before == LAYOUT_NONE || a->l->pieces[a->before].kind != TOK_COLON2);
    if (!flat) f->group = group_add(a->l, i, p->mate);
    return flat || f->group != LAYOUT_NONE;
}

static bool arrange_piece(struct arranger *a, uint32_t i) {
    struct piece *p = &a->l->pieces[i];
    p->indent = deeper(top(a)->line, LAYOUT_INDENT);
    p->space = space_before(a, p);
    if (a->depth > 1 && i == a->l->pieces[top(a)->open].mate) {
        p->indent = top(a)->outer;
        break_with(a->l, i, top(a)->group);
        a->depth--;
    } else {
        break_in_element(a, i);
    }
    return i == a->to || !opens(p->kind) || open_bracket(a, i);
}

/* A comment on a line of its own stands as deep as what it precedes. */
static void arrange_comments(const struct arranger *a) {
    const struct piece *next = &a->l->pieces[a->to];
    for (uint32_t i = a->to; i-- > a->from;) {
        struct piece *p = &a->l->pieces[i];
        if (p->kind != SYNTAX_COMMENT) {
            next = p;
            continue;
        }
        const unsigned more = closes(next->kind)      ? LAYOUT_INDENT
                              : next->kind == TOK_BAR ? LAYOUT_INDENT / 2
                                                      : 0;
        p->indent = deeper(next->indent, more);
        if (p->own_line) p->breaks = BREAK_ALWAYS;
        if (opens(a->l->pieces[i - 1].kind)) p->blank = false;
    }
}

static bool arrange_statement(struct arranger *a) {
    const int kind = a->l->pieces[a->from].kind;
    a->row = tokens_begin_row(kind);
    a->alternatives = kind == TOK_CLASS || kind == TOK_FUNC || kind == TOK_SUBCLASSES;
    if (!measure(a)) return false;
    const bool several = a->bar_count != 0 && a->alternatives;
    a->parts = LAYOUT_NONE;
    a->way = false;
    a->way_in = deeper(a->base, several ? LAYOUT_INDENT : 0);
    a->part_in = deeper(a->way_in, LAYOUT_INDENT);
    a->before = LAYOUT_NONE;
    a->depth = 0;
    struct frame *f = push(a, LAYOUT_NONE);
    if (f == NULL) return false;
    f->line = a->base;
    for (uint32_t i = a->from; i <= a->to; i++) {
        if (a->l->pieces[i].kind == SYNTAX_COMMENT) continue;
        if (i == a->to) end_parts(a);
        if (!arrange_piece(a, i)) return false;
        a->before = i;
    }
    arrange_comments(a);
    return !a->l->mem->failed;
}

/* The last piece of the statement: its `;`, or the brace that opens its block. */
static uint32_t statement_end(const struct layout *l, uint32_t i) {
    const int end = tokens_open_block(l->pieces[i].kind) ? TOK_LEFT_BRACE : TOK_SEMICOLON;
    while (i + 1 < l->count && l->pieces[i].kind != end) i++;
    return i;
}

bool layout_arrange(struct layout *l) {
    struct arranger a = {.l = l};
    unsigned blocks = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct piece *p = &l->pieces[i];
        const int before = i == 0 ? TOK_LEFT_BRACE : l->pieces[i - 1].kind;
        if (before == TOK_LEFT_BRACE || p->kind == TOK_RIGHT_BRACE) p->blank = false;
        if (p->kind == TOK_RIGHT_BRACE) {
            blocks -= blocks != 0;
            p->indent = deeper(0, blocks * LAYOUT_INDENT);
            p->breaks = before == TOK_LEFT_BRACE ? BREAK_NEVER : BREAK_ALWAYS;
        } else if (p->kind == SYNTAX_COMMENT) {
            p->indent = deeper(0, blocks * LAYOUT_INDENT);
            p->breaks = p->own_line ? BREAK_ALWAYS : BREAK_NEVER;
        } else {
            a.base = deeper(0, blocks * LAYOUT_INDENT);
            a.from = i;
            a.to = i = statement_end(l, i);
            if (!arrange_statement(&a)) return false;
            blocks += l->pieces[i].kind == TOK_LEFT_BRACE;
        }
    }
    return !l->mem->failed;
}
