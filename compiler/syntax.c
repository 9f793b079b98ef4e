/* Nodes for the grammar's actions.
 *
 * Layer: grammar; called by the generated parser.
 */
#include "syntax.h"

#include <string.h>

#include "parse.h"

/* Nodes */

/* Zeroed; never NULL (`spare`). */
static void *syntax_node(struct syntax *s, size_t size, struct span span) {
    struct ast_node *node = mem_alloc(s->mem, 1, size);
    if (node == NULL) {
        memset(&s->spare, 0, sizeof s->spare);
        node = &s->spare.name.node;
    }
    node->span = span;
    return node;
}

void syntax_add(struct ast_list *list, struct ast_node *node) {
    if (list->last == NULL) {
        list->first = node;
    } else {
        list->last->next = node;
    }
    list->last = node;
    list->count++;
}

struct ast_word syntax_join(struct syntax *s, struct ast_word left, struct ast_word right, struct span span) {
    struct ast_word word = {.text = left.text, .bad = left.bad || right.bad, .span = span};
    if (word.bad) {
        return word;
    }
    if (left.text.len + right.text.len >= UPK_NAME_MOST) {
        diag_error(s->diag, span, P_BAD_NAME, "a name has at most %d bytes", UPK_NAME_MOST);
        word.bad = true;
        return word;
    }
    char joined[UPK_NAME_MOST];
    memcpy(joined, left.text.at, left.text.len);
    joined[left.text.len] = '.';
    memcpy(joined + left.text.len + 1, right.text.at, right.text.len);
    if (!mem_text(s->mem, joined, left.text.len + right.text.len + 1, &word.text)) {
        word.bad = true;
    }
    return word;
}

static const char *name_fault(struct text t) {
    if (t.len == 0) {
        return "a name is not empty";
    }
    if (t.len > UPK_NAME_MOST) {
        return "a name has at most 256 bytes";
    }
    for (size_t i = 0; i < t.len;) {
        uint32_t code = 0;
        size_t len = utf8_decode(t.at + i, t.len - i, &code);
        if (len == 0 || code_is_control(code) || code_is_bidi(code)) {
            return "control characters, directional characters and surrogates stand in no name";
        }
        if (code == '.' && (i == 0 || i + 1 == t.len || t.at[i + 1] == '.')) {
            return "a name has no empty part between dots";
        }
        i += len;
    }
    return NULL;
}

struct ast_word syntax_quoted_name(struct syntax *s, struct ast_word word) {
    const char *fault = word.bad ? NULL : name_fault(word.text);
    if (fault != NULL) {
        diag_error(s->diag, word.span, P_BAD_NAME, "%s", fault);
        word.bad = true;
    }
    return word;
}

struct ast_node *syntax_name_node(struct syntax *s, struct ast_word word) {
    struct ast_name_node *n = syntax_node(s, sizeof *n, word.span);
    n->name = word;
    return &n->node;
}

struct ast_type *syntax_type(struct syntax *s, enum ast_type_kind kind, enum upk_type_kind simple,
                             struct span span) {
    struct ast_type *t = syntax_node(s, sizeof *t, span);
    t->kind = kind;
    t->simple = simple;
    return t;
}

struct ast_type *syntax_union(struct syntax *s, struct ast_type *left, struct ast_type *right,
                              struct span span) {
    /* A union that grows begins where the whole does; one in parentheses begins behind them. */
    struct ast_type *t = left;
    if (left->kind != AST_UNION || left->node.span.from != span.from) {
        t = syntax_type(s, AST_UNION, UPK_TYPE_UNION, span);
        syntax_add(&t->parts, &left->node);
    }
    syntax_add(&t->parts, &right->node);
    t->node.span = span;
    return t;
}

struct ast_type *syntax_refs(struct syntax *s, struct ast_word module, const struct ast_list *names,
                             struct span span) {
    struct ast_type *all = syntax_type(s, AST_UNION, UPK_TYPE_UNION, span);
    for (const struct ast_node *n = names->first; n != NULL && !s->mem->failed; n = n->next) {
        struct ast_type *ref = syntax_type(s, AST_REF, UPK_TYPE_REF, n->span);
        ref->module = module;
        ref->name = ((const struct ast_name_node *)n)->name;
        syntax_add(&all->parts, &ref->node);
    }
    return all;
}

struct ast_item *syntax_item(struct syntax *s, enum ast_item_kind kind, struct ast_word keyword,
                             struct span span) {
    struct ast_item *item = syntax_node(s, sizeof *item, span);
    item->kind = kind;
    item->keyword = keyword;
    return item;
}

struct ast_row *syntax_row(struct syntax *s, enum ast_row_kind kind, struct ast_word keyword,
                           struct ast_list names, struct ast_list makers, struct span span) {
    struct ast_row *row = syntax_node(s, sizeof *row, span);
    row->kind = kind;
    row->keyword = keyword;
    row->names = names;
    row->makers = makers;
    return row;
}

struct ast_maker *syntax_maker(struct syntax *s, enum ast_verb verb, struct ast_word keyword,
                               struct span span) {
    struct ast_maker *maker = syntax_node(s, sizeof *maker, span);
    maker->verb = verb;
    maker->verb_span = verb == AST_NO_VERB || verb == AST_FUNC ? span : keyword.span;
    return maker;
}

struct ast_row *syntax_template(struct syntax *s, enum ast_row_kind kind, struct ast_word keyword,
                                struct ast_word name, struct ast_list args, struct ast_list clauses,
                                struct span span) {
    struct ast_list names = {NULL, NULL, 0}, makers = {NULL, NULL, 0};
    bool called = kind == AST_ROW_ENUM || kind == AST_ROW_FLAG || kind == AST_ROW_EXCEPTION;
    struct ast_maker *maker = syntax_maker(s, called ? AST_CALL : AST_NEW, name, name.span);
    maker->args = args;
    maker->clauses = clauses;
    syntax_add(&names, syntax_name_node(s, name));
    syntax_add(&makers, &maker->node);
    return syntax_row(s, kind, keyword, names, makers, span);
}

struct ast_type *syntax_member_values(struct syntax *s, const struct ast_list *members, struct span span) {
    /* A list that holds the spare node may lead back to itself. */
    if (members->count == 1 && !s->mem->failed) {
        return ((struct ast_member *)members->first)->value;
    }
    struct ast_type *values = syntax_type(s, AST_UNION, UPK_TYPE_UNION, span);
    values->of_members = true;
    for (struct ast_node *n = s->mem->failed ? NULL : members->first; n != NULL; n = n->next) {
        syntax_add(&values->parts, &((struct ast_member *)n)->value->node);
    }
    return values;
}

struct ast_node *syntax_member(struct syntax *s, struct ast_word name, struct ast_type *value,
                               struct span span) {
    struct ast_member *member = syntax_node(s, sizeof *member, span);
    member->name = name;
    member->value = value;
    return &member->node;
}

struct ast_node *syntax_elem(struct syntax *s, struct ast_word name, struct ast_type *type, bool optional,
                             bool repeats, struct span span) {
    struct ast_elem *e = syntax_node(s, sizeof *e, span);
    e->name = name;
    e->type = type;
    e->optional = optional;
    e->repeats = repeats;
    return &e->node;
}

struct ast_node *syntax_field(struct syntax *s, struct ast_word key, struct ast_type *type, bool optional,
                              bool rest, struct span span) {
    struct ast_field *f = syntax_node(s, sizeof *f, span);
    f->key = key;
    f->type = type;
    f->optional = optional;
    f->rest = rest;
    return &f->node;
}

struct ast_node *syntax_step(struct syntax *s, enum ast_step_kind kind, struct ast_type *key,
                             struct ast_type *type, struct span span) {
    struct ast_step *step = syntax_node(s, sizeof *step, span);
    step->kind = kind;
    step->key = key;
    step->type = type;
    return &step->node;
}

struct ast_clause *syntax_clause(struct syntax *s, enum ast_clause_kind kind, struct ast_word word,
                                 struct span span) {
    struct ast_clause *clause = syntax_node(s, sizeof *clause, span);
    clause->kind = kind;
    clause->word = word;
    return clause;
}

struct ast_node *syntax_scope(struct syntax *s, enum ast_scope_kind kind, struct ast_word module,
                              struct ast_word name, struct span span) {
    struct ast_scope *scope = syntax_node(s, sizeof *scope, span);
    scope->kind = kind;
    scope->module = module;
    scope->name = name;
    return &scope->node;
}

struct ast_node *syntax_limit(struct syntax *s, struct ast_word name, struct ast_number number,
                              struct span span) {
    struct ast_limit *limit = syntax_node(s, sizeof *limit, span);
    limit->name = name;
    limit->number = number;
    return &limit->node;
}

struct ast_line *syntax_line(struct syntax *s, enum ast_line_kind kind, struct ast_word keyword,
                             struct span span) {
    struct ast_line *line = syntax_node(s, sizeof *line, span);
    line->kind = kind;
    line->keyword = keyword;
    return line;
}

struct ast_variable *syntax_variable(struct syntax *s, struct ast_word name, struct span span) {
    struct ast_variable *v = syntax_node(s, sizeof *v, span);
    v->name = name;
    return v;
}

struct ast_node *syntax_rule(struct syntax *s, enum ast_rule_kind kind, struct ast_word word,
                             struct ast_number number, struct span span) {
    struct ast_rule *rule = syntax_node(s, sizeof *rule, span);
    rule->kind = kind;
    rule->word = word;
    rule->number = number;
    return &rule->node;
}

/* The parse */

/* NULL: no memory. */
static struct syntax *syntax_new(struct mem *m, struct diag *d, uint32_t source) {
    struct syntax *s = mem_alloc(m, 1, sizeof *s);
    if (s != NULL) {
        s->mem = m;
        s->diag = d;
        s->source = source;
    }
    return s;
}

bool syntax_parse(struct mem *m, struct diag *d, uint32_t source, struct ast_file *file) {
    *file = (struct ast_file){.is_policy = false};
    size_t errors = diag_error_count(d);
    struct syntax *s = syntax_new(m, d, source);
    if (s == NULL) {
        return false;
    }
    s->file = file;
    int outcome = scan_begin(s, d->sources[source].bytes) ? pc_parse(s) : 2;
    if (m->failed) {
        return false;
    }
    file->items_lost = file->items_lost || outcome != 0;
    file->types_lost = file->types_lost || (outcome != 0 && s->last.kind != TOK_EOF);
    if (outcome != 0 && diag_error_count(d) == errors) {
        syntax_too_deep(s, s->last.span);
    }
    return diag_error_count(d) == errors;
}

struct syntax *syntax_scan(struct mem *m, struct diag *d, uint32_t source) {
    struct syntax *s = syntax_new(m, d, source);
    if (s == NULL) {
        return NULL;
    }
    s->comments = true;
    m->failed = !scan_begin(s, d->sources[source].bytes) || m->failed;
    return m->failed ? NULL : s;
}

void syntax_next(struct syntax *s, struct token *token) {
    *token = (struct token){.kind = TOK_EOF};
    if (!s->mem->failed) {
        (void)scan_token(token, s->scanner);
    }
    if (s->mem->failed) {
        token->kind = TOK_EOF;
    }
    token->span = (struct span){s->source, s->token_from, s->token_to};
}
