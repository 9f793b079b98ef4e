/* From the bytes of one file to its syntax tree: what the generated scanner and parser and their
 * hand-written parts share.
 *
 *   policy.l   with literal.c: words, numbers, strings     bytes -> tokens
 *   tokens.c   recovery after errors                       tokens -> tokens
 *   policy.y   with syntax.c: nodes, messages              tokens -> tree
 *
 * Layer: grammar, between source/diag and the passes over the tree.
 */
#ifndef COMPILER_SYNTAX_H
#define COMPILER_SYNTAX_H

#include "ast.h"
#include "diag.h"

struct syntax_reason { /* because "...", where it may be left out */
    bool given;
    struct ast_word word;
};

/* Semantic values of the grammar's symbols. */
union syntax_value {
    struct ast_word word;
    struct ast_number number;
    struct ast_range range;
    struct ast_list list;
    struct ast_node *node;
    struct ast_type *type;
    struct ast_item *item;
    struct ast_row *row;
    struct ast_maker *maker;
    struct ast_line *line;
    struct ast_variable *variable;
    struct syntax_reason reason;
    bool flag;
};

struct token {
    int kind; /* TOK_... of the generated parse.h */
    union syntax_value value;
    struct span span;
};

enum { SYNTAX_QUEUE = 8, SYNTAX_BLOCKS = 4, SYNTAX_OPENS = 16 };

struct syntax_block {
    struct span at; /* of its brace */
    int statement;  /* kind of the token that its statement begins with, and where that stands */
    uint32_t from;
};

struct syntax_open { /* a bracket within a statement */
    int kind;
    struct span at;
};

/* A kind beside those of parse.h: an error was reported, and the statement's `;' was swallowed by it. */
enum { SYNTAX_BROKEN_END = -3 };
/* And one that only syntax_scan hands on: a comment, up to the end of its line. */
enum { SYNTAX_COMMENT = -4 };

struct syntax_nesting {
    size_t depth;       /* open braces */
    size_t block_depth; /* of them, those of blocks of statements: always the outer ones */
    bool block_comes;   /* the next brace opens a block */
};

struct syntax {
    struct mem *mem;
    struct diag *diag;
    uint32_t source;
    struct ast_file *file;

    /* Scanner */
    void *scanner;
    char *scan_room;
    size_t scan_left;
    uint32_t token_from, token_to;
    bool comments; /* they are tokens, too */

    /* Token filter: see tokens.c.  What is queued is delivered before anything new is scanned, first in, first out. */
    struct token queue[SYNTAX_QUEUE];
    size_t queued;
    int statement;     /* kind of the token that the current statement begins with */
    uint32_t from;     /* where that stands */
    bool begins;       /* `last` is that token */
    int before;        /* kind of the token before `last` */
    struct token last; /* delivered last */
    uint32_t end;      /* where the token before `last` ends */
    struct syntax_nesting nesting, nesting_before; /* with and without `last` */
    struct syntax_block blocks[SYNTAX_BLOCKS];     /* those that are open */
    struct syntax_open opens[SYNTAX_OPENS];        /* of the current statement; what is deeper is not kept */
    size_t open_count;
    int closed;      /* the kind of bracket that `last` closes; 0: it closes none */
    bool recovering; /* skip to the end of the broken statement */
    bool gave_back;  /* some token was read again after an error (tokens.c); the last one stands at: */
    uint32_t given_back_at;
    bool skipping; /* this is done now: what begins no word is said once */

    /* Takes what grammar actions write when the arena is full; mem->failed then stops the compile after the
     * parse. */
    union {
        struct ast_item item;
        struct ast_row row;
        struct ast_member member;
        struct ast_maker maker;
        struct ast_type type;
        struct ast_elem elem;
        struct ast_field field;
        struct ast_step step;
        struct ast_clause clause;
        struct ast_scope scope;
        struct ast_limit limit;
        struct ast_line line;
        struct ast_variable variable;
        struct ast_rule rule;
        struct ast_name_node name;
    } spare;
};

/* Parses source `source` of the diag.  false: errors were reported, or mem->failed; what could be parsed is
 * in *file anyway. */
bool syntax_parse(struct mem *m, struct diag *d, uint32_t source, struct ast_file *file);

/* For a source that syntax_parse found to be good: its tokens one by one, with its comments among them.  NULL: no memory. */
struct syntax *syntax_scan(struct mem *m, struct diag *d, uint32_t source);
/* At the end, and without memory (mem->failed), the token is that of the end. */
void syntax_next(struct syntax *s, struct token *token);

/* Of the scanner (policy.l) */
bool scan_begin(struct syntax *s, struct text bytes);
int scan_token(struct token *token, void *scanner);

/* Used by the scanner: each returns the token's kind. */
int syntax_token(struct syntax *s, struct token *token, int kind);
int syntax_word(struct syntax *s, struct token *token, const char *at, size_t len);
int syntax_number(struct syntax *s, struct token *token, const char *at, size_t len);
int syntax_string(struct syntax *s, struct token *token, int kind, const char *at, size_t len);
int syntax_open_string(struct syntax *s, const char *at, size_t len);
int syntax_bad_character(struct syntax *s);
void syntax_other_comment(struct syntax *s);

/* Of the token filter */
int pc_lex(union syntax_value *value, struct span *span, struct syntax *s);
/* After an error at the token delivered last.  `missing`: a semicolon should have stood before it, and is
 * put there. */
void tokens_recover(struct syntax *s, bool missing);
/* Does a token of this kind begin a statement, wherever it stands? */
bool tokens_begin_statement(int kind);
/* Does it begin a row of a module? */
bool tokens_begin_row(int kind);
/* Does a statement that begins so end in a block of statements? */
bool tokens_open_block(int kind);
/* The bracket that closes another; 0: it opens none. */
int tokens_close(int kind);
void tokens_recovered(struct syntax *s); /* the parser found its place again */

/* Used by the grammar's actions.  Nodes are never NULL (`spare`). */
void syntax_add(struct ast_list *list, struct ast_node *node);
struct ast_word syntax_join(struct syntax *s, struct ast_word left, struct ast_word right, struct span span);
struct ast_word syntax_quoted_name(struct syntax *s, struct ast_word word);
struct ast_node *syntax_name_node(struct syntax *s, struct ast_word word);
struct ast_type *syntax_type(struct syntax *s, enum ast_type_kind kind, enum upk_type_kind simple,
                             struct span span);
struct ast_type *syntax_union(struct syntax *s, struct ast_type *left, struct ast_type *right,
                              struct span span);
/* `ref module::{A, B}`: a union of one type for each name. */
struct ast_type *syntax_refs(struct syntax *s, struct ast_word module, const struct ast_list *names,
                             struct span span);
struct ast_item *syntax_item(struct syntax *s, enum ast_item_kind kind, struct ast_word keyword,
                             struct span span);
struct ast_row *syntax_row(struct syntax *s, enum ast_row_kind kind, struct ast_word keyword,
                           struct ast_list names, struct ast_list makers, struct span span);
/* A template is a row of one name and one maker. */
struct ast_row *syntax_template(struct syntax *s, enum ast_row_kind kind, struct ast_word keyword,
                                struct ast_word name, struct ast_list args, struct ast_list clauses,
                                struct span span);
/* What any member's value is. */
struct ast_type *syntax_member_values(struct syntax *s, const struct ast_list *members, struct span span);
struct ast_node *syntax_member(struct syntax *s, struct ast_word name, struct ast_type *value,
                               struct span span);
struct ast_maker *syntax_maker(struct syntax *s, enum ast_verb verb, struct ast_word keyword,
                               struct span span);
struct ast_node *syntax_elem(struct syntax *s, struct ast_word name, struct ast_type *type, bool optional,
                             bool repeats, struct span span);
struct ast_node *syntax_field(struct syntax *s, struct ast_word key, struct ast_type *type, bool optional,
                              bool rest, struct span span);
struct ast_node *syntax_step(struct syntax *s, enum ast_step_kind kind, struct ast_type *key,
                             struct ast_type *type, struct span span);
struct ast_clause *syntax_clause(struct syntax *s, enum ast_clause_kind kind, struct ast_word word,
                                 struct span span);
struct ast_node *syntax_scope(struct syntax *s, enum ast_scope_kind kind, struct ast_word module,
                              struct ast_word name, struct span span);
struct ast_node *syntax_limit(struct syntax *s, struct ast_word name, struct ast_number number,
                              struct span span);

struct ast_line *syntax_line(struct syntax *s, enum ast_line_kind kind, struct ast_word keyword,
                             struct span span);
struct ast_variable *syntax_variable(struct syntax *s, struct ast_word name, struct span span);
struct ast_node *syntax_rule(struct syntax *s, enum ast_rule_kind kind, struct ast_word word,
                             struct ast_number number, struct span span);

/* What the parser knows when it meets a token that does not fit. */
struct syntax_expected {
    const char *const *names; /* of the tokens that would fit, without the next */
    size_t count;
    bool name, semicolon; /* a name would fit; `;' is among the tokens */
};
void syntax_unexpected(struct syntax *s, const struct syntax_expected *expected);
void syntax_too_deep(struct syntax *s, struct span at);

#endif
