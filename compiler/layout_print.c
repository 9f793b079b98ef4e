/* Lines, in one pass: a group breaks where it has no room on the line, up to the next place behind it where a line may break.
 *
 * Layer: see layout.h.
 */
#include "layout.h"

struct printer {
    const struct layout *l;
    struct output *o;
    /* Columns before each piece, were the whole text one line; one more than there are pieces. */
    uint32_t *start;
    uint32_t *next;   /* the first piece from each on before which a line may break, or that is a comment */
    uint32_t *forces; /* how many pieces that force a break stand before each */
    uint32_t column;
    uint32_t comment; /* column of the comment printed last */
};

static bool measure(struct printer *p) {
    const struct layout *l = p->l;
    p->start = mem_alloc(l->mem, (size_t)l->count + 1, sizeof *p->start);
    p->next = mem_alloc(l->mem, (size_t)l->count + 1, sizeof *p->next);
    p->forces = mem_alloc(l->mem, (size_t)l->count + 1, sizeof *p->forces);
    if (p->start == NULL || p->next == NULL || p->forces == NULL) return false;
    for (uint32_t i = 0; i < l->count; i++) {
        p->start[i + 1] = p->start[i] + l->pieces[i].width + l->pieces[i].space;
        p->forces[i + 1] = p->forces[i] + l->pieces[i].forces;
    }
    p->next[l->count] = l->count;
    for (uint32_t i = l->count; i-- > 0;) {
        const bool here = l->pieces[i].breaks != BREAK_NEVER || l->pieces[i].kind == SYNTAX_COMMENT;
        p->next[i] = here ? i : p->next[i + 1];
    }
    return true;
}

/* Have the pieces up to the next place behind `last` where a line may break room on the line?  The blank before the first is
 * there already, or still to come. */
static bool has_room(const struct printer *p, uint32_t first, uint32_t last, bool spaced) {
    const uint64_t spaces = spaced ? p->l->pieces[first].space : 0;
    return p->column + (uint64_t)p->start[p->next[last + 1]] - p->start[first] - spaces <= LAYOUT_WIDTH;
}

static void decide(const struct printer *p, struct layout_group *g, bool spaced) {
    g->broken = p->forces[g->last] != p->forces[g->first] || !has_room(p, g->first, g->last, spaced);
}

static void blanks(struct output *o, uint32_t count) {
    static const char some[] = "                                ";
    for (uint32_t n; count > 0; count -= n) {
        n = count < sizeof some - 1 ? count : (uint32_t)sizeof some - 1;
        output_bytes(o, some, n);
    }
}

static bool breaks_before(const struct printer *p, uint32_t i) {
    const struct piece *piece = &p->l->pieces[i];
    if (i == 0) return false;
    if (p->l->pieces[i - 1].kind == SYNTAX_COMMENT || piece->breaks == BREAK_ALWAYS) return true;
    return piece->breaks == BREAK_GROUP  ? p->l->groups[piece->group].broken
           : piece->breaks == BREAK_FILL ? !has_room(p, i, i, false)
                                         : false;
}

static void print_piece(struct printer *p, uint32_t i) {
    enum { BEFORE_COMMENT = 2 };
    const struct layout *l = p->l;
    const struct piece *piece = &l->pieces[i];
    const bool comment = piece->kind == SYNTAX_COMMENT;
    /* A group that begins with a break of its own is decided before that, others behind it. */
    if (piece->breaks == BREAK_GROUP && l->groups[piece->group].first == i)
        decide(p, &l->groups[piece->group], false);
    uint32_t space = comment ? BEFORE_COMMENT : piece->space;
    if (breaks_before(p, i)) {
        output_text(p->o, piece->breaks == BREAK_ALWAYS && piece->blank ? "\n\n" : "\n");
        p->column = 0;
        space = comment && piece->continues ? p->comment : piece->indent;
    } else if (i == 0) {
        space = 0;
    }
    blanks(p->o, space);
    p->column += space;
    for (uint32_t g = piece->groups; g != LAYOUT_NONE; g = l->groups[g].next) {
        if (piece->breaks != BREAK_GROUP || piece->group != g) decide(p, &l->groups[g], true);
    }
    if (comment) p->comment = p->column;
    output_bytes(p->o, l->bytes.at + piece->from, piece->to - piece->from);
    p->column += piece->width;
}

bool layout_print(const struct layout *l, struct output *o, size_t most) {
    struct printer p = {.l = l, .o = o};
    const size_t before = o->len;
    if (!measure(&p)) return false;
    for (uint32_t i = 0; i < l->count && o->len - before <= most && !o->mem->failed; i++) print_piece(&p, i);
    output_text(o, "\n");
    return !o->mem->failed;
}
