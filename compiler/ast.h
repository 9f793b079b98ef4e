/* The syntax tree of one policy file, as the parser builds it; nothing is looked up or checked here. What
 * the back end reads is the resolved model: see model.h, included below.
 *
 * Layer: between grammar/ (which builds it) and the passes include, resolve, check (which read it).  All
 * nodes and texts live in the arena of the compile (struct compiled) and are never freed singly; lists are
 * in source order.
 */
#ifndef COMPILER_AST_H
#define COMPILER_AST_H

#include "model.h"
#include "source.h"

struct ast_word {
    struct text text; /* decoded: of a quoted name without quotes and escapes */
    bool bad;         /* a mistake in it was reported: checks pass over it */
    struct span span;
};

/* An integer token. */
struct ast_number {
    struct model_int value;
    bool unit; /* written with KiB, MiB, GiB */
    bool bad;  /* as in ast_word */
    struct span span;
};

struct ast_node {
    struct ast_node *next;
    struct span span;
};

struct ast_list { /* of one node kind, linked through its first member */
    struct ast_node *first, *last;
    size_t count;
};

struct ast_range { /* after int, str, list<...>, ... */
    bool given;
    bool has_lo, has_hi; /* [n]: both, equal */
    struct ast_number lo, hi;
    struct span span;
};

enum ast_type_kind {
    AST_NAMED, /* a type of this file */
    AST_OBJECT,
    AST_REF,
    AST_INSTANCE,
    AST_PERSID,
    AST_SIMPLE, /* a keyword type; `simple` says which */
    AST_INT_IS,
    AST_STR_IS,
    AST_BYTES_IS,
    AST_LIST, /* list, set, frozenset by `simple` */
    AST_DICT,
    AST_TUPLE, /* tuple, or list with a type for each place, by `simple` */
    AST_RECORD,
    AST_UNION
};

struct ast_elem { /* of a tuple, and an argument */
    struct ast_node node;
    struct ast_word name; /* of an argument */
    struct ast_type *type;
    bool optional, repeats;
};

struct ast_field {
    struct ast_node node;
    struct ast_word key;
    struct ast_type *type;
    bool optional;
    bool rest; /* `*: T` */
};

struct ast_type {
    struct ast_node node; /* linked as alternatives of a union */
    enum ast_type_kind kind;
    enum upk_type_kind simple;
    struct ast_word name;   /* NAMED, INSTANCE; qualname of OBJECT, REF */
    struct ast_word module; /* OBJECT, REF */
    struct ast_number number;
    struct ast_word literal;
    struct ast_range range;
    bool has_mask, has_chars;
    struct ast_number mask;
    struct ast_word chars;
    struct ast_type *item, *key; /* list and the like, persid: item; dict: key and item */
    struct ast_list parts;       /* TUPLE: ast_elem; RECORD: ast_field; UNION: ast_type */
    bool of_members;             /* UNION: the values of an enum's members, of which several may be equal */
};

enum ast_verb { AST_REF_VERB, AST_CALL, AST_NEW, AST_FUNC, AST_CONST, AST_NO_VERB };

enum ast_step_kind { AST_STATE, AST_STATE_OPTIONAL, AST_ITEMS, AST_PAIRS, AST_ADDS };

struct ast_step {
    struct ast_node node;
    enum ast_step_kind kind;
    struct ast_type *type, *key; /* pairs K: V: key and type */
};

enum ast_clause_kind { AST_BECAUSE, AST_CHECK, AST_RUNS, AST_CALLS };

struct ast_clause {
    struct ast_node node;
    enum ast_clause_kind kind;
    struct ast_word word; /* because, check; the word after `budget` */
    struct ast_list runs; /* ast_name_node */
    struct ast_number number;
};

struct ast_maker {
    struct ast_node node;
    enum ast_verb verb;
    struct span verb_span;
    struct ast_list args;    /* ast_elem */
    struct ast_type *kw;     /* a record, or NULL */
    struct ast_type *result; /* func: the atom after `->` */
    struct ast_list steps, clauses;
};

struct ast_name_node {
    struct ast_node node;
    struct ast_word name;
};

enum ast_row_kind {
    AST_ROW_CLASS,
    AST_ROW_FUNC,
    AST_ROW_CONST,
    /* Templates: see resolve_templates.c. */
    AST_ROW_DATACLASS,
    AST_ROW_NAMEDTUPLE,
    AST_ROW_ENUM,
    AST_ROW_FLAG,
    AST_ROW_EXCEPTION,
    AST_ROW_PYDANTIC,
    AST_ROW_SUBCLASSES /* `names` has the base: see resolve_open.c */
};

struct ast_member { /* of an enum or a flag */
    struct ast_node node;
    struct ast_word name;
    struct ast_type *value; /* an atom, most often a literal */
};

struct ast_row {
    struct ast_node node;
    enum ast_row_kind kind;
    struct ast_list names;  /* ast_name_node; of a template: one */
    struct ast_list makers; /* ast_maker; of const: one; of a template: one, with its arguments and clauses */
    struct ast_word keyword;
    struct ast_type *type;   /* of a template: the record of its fields, or any member's value; or NULL */
    struct ast_list members; /* ast_member */
};

enum ast_scope_kind {
    AST_SCOPE_NAME,
    AST_SCOPE_ALL_OF_MODULE,
    AST_SCOPE_MODULE,
    AST_SCOPE_MODULE_TREE,
    AST_SCOPE_OPCODES
};

struct ast_scope { /* of `never` and `deny` */
    struct ast_node node;
    enum ast_scope_kind kind;
    struct ast_word module, name; /* name: qualname, or opcode or family */
};

enum ast_item_kind {
    AST_INCLUDE,
    AST_OPCODES,
    AST_PROTOCOL,
    AST_BUDGET,
    AST_NEVER,
    AST_ALIAS,
    AST_TYPE,
    AST_MODULE,
    AST_USE,
    AST_ROOT,
    AST_CHANNEL,
    AST_WITHIN,
    AST_FAIL_OPEN,
    AST_ENVIRONMENT,
    AST_CONFINEMENT,
    AST_ITEM_KINDS
};

/* ---- lines of `environment` and `confinement` */

struct ast_variable { /* one name in them */
    struct ast_node node;
    struct ast_word name;
    struct ast_word source; /* manifest SOURCE -> NAME */
    bool has_source;
    bool quoted;
    bool base;        /* the name is that of a base set */
    bool open, start; /* `NAME*`, `*NAME` */
};

enum ast_rule_kind { AST_RULE_WORD, AST_RULE_CHARS, AST_RULE_MAX };

struct ast_rule { /* of `where value` */
    struct ast_node node;
    enum ast_rule_kind kind;
    struct ast_word word;
    struct ast_number number;
};

enum ast_line_kind {
    AST_LINE_INHERIT,
    AST_LINE_MANIFEST,
    AST_LINE_NEVER,
    AST_LINE_SET,
    AST_LINE_HOME,
    AST_LINE_LINUX,
    AST_LINE_MACOS,
    AST_LINE_BUDGET,
    AST_LINE_NETWORK,
    AST_LINE_KINDS
};

struct ast_line {
    struct ast_node node;
    enum ast_line_kind kind;
    struct ast_word keyword;
    struct ast_list names; /* ast_variable; set: one; budget: ast_limit */
    struct ast_list rules; /* ast_rule */
    struct ast_word word;  /* set: the value; home: whose; linux, macos: the mode */
    struct ast_word because;
    bool has_because;
};

struct ast_limit { /* of `budget` */
    struct ast_node node;
    struct ast_word name;
    struct ast_number number;
};

struct ast_item {
    struct ast_node node;
    enum ast_item_kind kind;
    struct ast_word keyword; /* as written, for messages */
    struct ast_word name;  /* include: file; alias: from; type, module, channel: its name; fail_open: until */
    struct ast_word to;    /* alias; fail_open: because */
    struct ast_list names; /* opcodes: allowed; use: fragments; within: channels (ast_name_node) */
    struct ast_list except; /* opcodes */
    /* Of budget ast_limit; never, fail_open: ast_scope; module: ast_row; channel: ast_item; environment, confinement: ast_line. */
    struct ast_list parts;
    struct ast_number low, high; /* protocol */
    struct ast_type *type;       /* type, root */
    struct model_type *root;     /* root: what `type` is, set by resolve_types */
    bool flag;                   /* module: import; root: cyclic */
};

struct ast_file {
    bool is_policy;
    bool has_header;
    struct ast_word name;
    struct ast_number revision; /* of a policy */
    struct ast_list items;      /* ast_item */
    /* Some could not be parsed: what would only follow from their absence is not reported. */
    bool items_lost, types_lost, rows_lost;
};

#endif
