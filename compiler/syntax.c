/* Nodes for the grammar's actions, and the words for syntax errors.
 *
 * Layer: grammar; called by the generated parser.
 */
#include "syntax.h"

#include <stdio.h>
#include <string.h>

#include "keywords.h"
#include "parse.h"
#include "suggest.h"

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

/* Errors */

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
static void list_expected(const struct syntax_expected *expected, char *out, size_t room) {
    enum { MOST = 5 };
    const char *names[MOST];
    size_t count = 0;
    if (expected->name) {
        names[count++] = "name";
    }
    for (size_t i = 0; i < expected->count; i++) {
        /* Where a name fits, so does nearly every keyword: those are no news. */
        if (expected->name && keyword_find(expected->names[i], strlen(expected->names[i])) != 0) {
            continue;
        }
        if (count == MOST) {
            out[0] = '\0';
            return;
        }
        names[count++] = expected->names[i];
    }
    size_t used = 0;
    for (size_t i = 0; i < count && used < room; i++) {
        const char *before = i == 0 ? "expected " : i + 1 == count ? " or " : ", ";
        const char *open = is_word_token(names[i]) ? "" : "`";
        int n =
            snprintf(out + used, room - used, "%s%s%s%s", before, open, names[i], *open == '\0' ? "" : "'");
        used += n < 0 ? 0 : (size_t)n;
    }
}

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The dotted word that ends before the token read last; empty: there is none. */
static struct text word_before(const struct syntax *s) {
    const char *at = s->diag->sources[s->source].bytes.at;
    size_t from = s->end;
    while (from > 0 && (is_word_byte(at[from - 1]) || at[from - 1] == '.')) {
        from--;
    }
    return (struct text){at + from, s->end - from};
}

static bool expects(const struct syntax_expected *expected, const char *name) {
    for (size_t i = 0; i < expected->count; i++) {
        if (strcmp(expected->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* What people write who come from other languages. */
static void hint_habit(struct syntax *s, const struct syntax_expected *expected) {
    const int found = s->last.kind;
    struct text word = word_before(s);
    const char *type = suggestion_of_type(word);
    size_t dot = word.len;
    while (dot > 0 && word.at[dot - 1] != '.') {
        dot--;
    }
    if (s->statement == TOK_POLICY && !s->file->has_header && expects(expected, "number")) {
        diag_hint(s->diag, "the revision is missing: policy NAME 1;");
    } else if ((found == TOK_LESS || found == TOK_LEFT_BRACKET) && type != NULL) {
        diag_hint(s->diag, "%s", type);
    } else if (found == TOK_LEFT_BRACKET && expects(expected, "<")) {
        diag_hint(s->diag,
                  "what it holds stands between `<' and `>', as in list<int>; [..100] behind it is a length");
    } else if (found == TOK_COLON2 && s->statement == TOK_MODULE) {
        diag_hint(s->diag, "a module's name is joined by dots; its classes stand in the block");
    } else if (dot > 1 && expects(expected, "::") && !expected->semicolon) {
        diag_hint(s->diag, "a class is written module::Name: `%s::%s'?",
                  diag_quote(s->diag, (struct text){word.at, dot - 1}),
                  diag_quote(s->diag, (struct text){word.at + dot, word.len - dot}));
    }
}

static void report_plain(struct syntax *s, const struct syntax_expected *expected) {
    char wanted[160] = "";
    char what[400];
    const struct token *found = &s->last;
    if (found->kind == TOK_EOF) {
        snprintf(what, sizeof what, "end of file");
    } else {
        snprintf(what, sizeof what, "`%s'", diag_quote(s->diag, span_text(s, found->span)));
    }
    list_expected(expected, wanted, sizeof wanted);
    if (wanted[0] == '\0') {
        diag_error(s->diag, found->span, P_SYNTAX, "unexpected %s", what);
    } else {
        diag_error(s->diag, found->span, P_SYNTAX, "%s, found %s", wanted, what);
    }
    hint_habit(s, expected);
    if (found->kind == TOK_EOF && s->nesting.block_depth != 0) {
        diag_note(s->diag, s->blocks[s->nesting.block_depth - 1], "this `{' is not closed");
    } else if (found->kind == TOK_INNER_SEMICOLON) {
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

bool syntax_parse(struct mem *m, struct diag *d, uint32_t source, struct ast_file *file) {
    *file = (struct ast_file){.is_policy = false};
    size_t errors = diag_error_count(d);
    struct syntax *s = mem_alloc(m, 1, sizeof *s);
    if (s == NULL) {
        return false;
    }
    s->mem = m;
    s->diag = d;
    s->source = source;
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
