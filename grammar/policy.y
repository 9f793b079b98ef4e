/* Grammar of policy files: LALR(1) without conflicts.  Actions only build nodes (compiler/syntax.c);
 * nothing is looked up here.
 *
 * Layer: between the token filter (compiler/tokens.c) and the syntax tree (compiler/ast.h).
 */
%require "3.8"
%expect 0
%define api.pure full
%define api.prefix {pc_}
%define api.token.prefix {TOK_}
%define api.value.type {union syntax_value}
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%define api.header.include {"parse.h"}
%locations
%param {struct syntax *s}

%code requires {
#include "syntax.h"
}

%code {
/* Enough for what people write; deeper nesting is an ordinary error (yyerror below). */
#define YYMAXDEPTH 1000
#define YYLLOC_DEFAULT(Current, Rhs, N)                                                             \
    do {                                                                                            \
        if (N) {                                                                                    \
            (Current).file = YYRHSLOC(Rhs, 1).file;                                                 \
            (Current).from = YYRHSLOC(Rhs, 1).from;                                                 \
            (Current).to = YYRHSLOC(Rhs, N).to;                                                     \
        } else {                                                                                    \
            (Current) = YYRHSLOC(Rhs, 0);                                                           \
            (Current).from = (Current).to;                                                          \
        }                                                                                           \
    } while (0)

static void yyerror(struct span *at, struct syntax *s, const char *message);

static const struct ast_list no_list;
static const struct ast_word no_word;
static const struct ast_number no_number;

static struct ast_list list_of(struct ast_node *node)
{
    struct ast_list list = no_list;
    syntax_add(&list, node);
    return list;
}

static struct ast_list lists_joined(struct ast_list list, struct ast_list rest)
{
    if (list.first == NULL) { return rest; }
    if (rest.first == NULL) { return list; }
    list.last->next = rest.first;
    list.last = rest.last;
    list.count += rest.count;
    return list;
}

static struct ast_list list_before(struct ast_node *node, struct ast_list rest)
{
    node->next = rest.first;
    rest.first = node;
    rest.count++;
    return rest;
}
}

%token EOF 0 "end of file"
%token <word> IDENT "name" STRING "string" BYTES "bytes literal"
%token <number> INTEGER "number" SIZE "size"
%token COLON2 "::" DOTS ".." ELLIPSIS "..." ARROW "->" SEMICOLON ";" COMMA "," COLON ":" DOT "." EQUALS "="
%token BAR "|" STAR "*"
%token QUESTION "?" LEFT_PAREN "(" RIGHT_PAREN ")" LEFT_BRACE "{" RIGHT_BRACE "}" LEFT_BRACKET "["
%token RIGHT_BRACKET "]"
%token LESS "<" GREATER ">"
/* A semicolon inside braces that hold no statements: the token filter's, so that recovery does not stop at
 * it. */
%token INNER_SEMICOLON "; inside braces"

%token <word> POLICY "policy" FRAGMENT "fragment" INCLUDE "include" OPCODES "opcodes" EXCEPT "except"
%token <word> PROTOCOL "protocol"
%token <word> BUDGET "budget" NEVER "never" ALIAS "alias" TYPE "type" MODULE "module" IMPORT "import"
%token <word> CLASS "class" FUNC "func"
%token <word> CONST "const" REF "ref" CALL "call" NEW "new" KW "kw" STATE "state" ITEMS "items"
%token <word> PAIRS "pairs" ADDS "adds"
%token <word> BECAUSE "because" CHECK "check" RUNS "runs" CHANNEL "channel" USE "use" ROOT "root"
%token <word> CYCLIC "cyclic"
%token <word> INSTANCE "instance" OF "of" PERSID "persid" MASK "mask" CHARS "chars"
%token <word> DATACLASS "dataclass" NAMEDTUPLE "namedtuple" ENUM "enum" FLAG "flag" EXCEPTION "exception"
%token <word> PYDANTIC "pydantic"
%token <word> FAIL_OPEN "fail_open" UNTIL "until" DENY "deny" SUBCLASSES "subclasses"
%token <word> WITHIN "within"
%token <word> ENVIRONMENT "environment" INHERIT "inherit" MANIFEST "manifest" BASE "base" WHERE "where"
%token <word> VALUE "value" MAX "max"
%token <word> SET "set" HOME "home" CONFINEMENT "confinement" LINUX "linux" MACOS "macos" NETWORK "network"
%token <word> REQUIRE "require" OPT_IN "opt_in"
%token <word> T_NONE "none" T_BOOL "bool" T_TRUE "true" T_FALSE "false" T_INT "int" T_FLOAT "float"
%token <word> T_FINITE "finite"
%token <word> T_STR "str" T_TEXT "text" T_BYTES "bytes" T_BYTEARRAY "bytearray" T_BUFFER "buffer" T_ANY "any"
%token <word> T_LIST "list" T_FROZENSET "frozenset" T_DICT "dict" T_TUPLE "tuple"

%type <word> dotted name word kw dotted0 key
%type <number> number
%type <range> opt_range
%type <list> names namelist constlist words dotteds limits scopes rows alts funcalts steps tail args arglist elems
%type <list> elemlist
%type <list> fields channel_items members denies envs confs variables where rules
%type <word> mode
%type <node> rule
%type <node> arg elem field step limit scope member
%type <type> type atom record literal0 opt_record
%type <item> item setting within fail_open environment
%type <line> env conf
%type <variable> variable inheritance
%type <reason> reason
%type <row> row template
%type <maker> alt make funcalt
%type <flag> opt_import opt_cyclic

%%

file
    : header items
    ;

header
    : POLICY dotted number ";"
        { s->file->has_header = true; s->file->is_policy = true; s->file->name = $2; s->file->revision = $3; }
    | FRAGMENT dotted ";"
        { s->file->has_header = true; s->file->name = $2; }
    | error ";"
        { tokens_recovered(s); yyerrok; }
    ;

/* Items are added to the file at once, not when the list is complete: they are kept when the parse gives up
 * later. */
items
    : %empty
    | items item
        { if ($2 != NULL) { syntax_add(&s->file->items, &$2->node); } }
    ;

item
    : setting
    | INCLUDE STRING ";"
        { $$ = syntax_item(s, AST_INCLUDE, $1, @$); $$->name = $2; }
    | ALIAS dotted "->" dotted ";"
        { $$ = syntax_item(s, AST_ALIAS, $1, @$); $$->name = $2; $$->to = $4; }
    | TYPE word "=" type ";"
        { $$ = syntax_item(s, AST_TYPE, $1, @$); $$->name = $2; $$->type = $4; }
    | MODULE dotted opt_import "{" rows "}"
        { $$ = syntax_item(s, AST_MODULE, $1, @$); $$->name = $2; $$->flag = $3; $$->parts = $5; }
    | CHANNEL word "{" channel_items "}"
        { $$ = syntax_item(s, AST_CHANNEL, $1, @$); $$->name = $2; $$->parts = $4; }
    | within
    | fail_open
    | environment
    | error ";"
        { $$ = NULL; s->file->items_lost = true; tokens_recovered(s); yyerrok; }
    ;

/* What a policy and a channel may both say. */
setting
    : OPCODES words ";"
        { $$ = syntax_item(s, AST_OPCODES, $1, @$); $$->names = $2; }
    | OPCODES words EXCEPT words ";"
        { $$ = syntax_item(s, AST_OPCODES, $1, @$); $$->names = $2; $$->except = $4; }
    | PROTOCOL number ";"
        { $$ = syntax_item(s, AST_PROTOCOL, $1, @$); $$->low = $2; $$->high = $2; }
    | PROTOCOL number ".." number ";"
        { $$ = syntax_item(s, AST_PROTOCOL, $1, @$); $$->low = $2; $$->high = $4; }
    | BUDGET limits ";"
        { $$ = syntax_item(s, AST_BUDGET, $1, @$); $$->parts = $2; }
    | NEVER scopes ";"
        { $$ = syntax_item(s, AST_NEVER, $1, @$); $$->parts = $2; }
    | USE dotteds ";"
        { $$ = syntax_item(s, AST_USE, $1, @$); $$->names = $2; }
    | ROOT type opt_cyclic ";"
        { $$ = syntax_item(s, AST_ROOT, $1, @$); $$->type = $2; $$->flag = $3; }
    ;

channel_items
    : %empty
        { $$ = no_list; }
    | channel_items setting
        { $$ = $1; syntax_add(&$$, &$2->node); }
    | channel_items within
        { $$ = $1; syntax_add(&$$, &$2->node); }
    | channel_items fail_open
        { $$ = $1; syntax_add(&$$, &$2->node); }
    | channel_items error ";"
        { $$ = $1; s->file->items_lost = true; tokens_recovered(s); yyerrok; }
    ;

within
    : WITHIN words ";"
        { $$ = syntax_item(s, AST_WITHIN, $1, @$); $$->names = $2; }
    ;

fail_open
    : FAIL_OPEN UNTIL STRING BECAUSE STRING "{" denies "}"
        { $$ = syntax_item(s, AST_FAIL_OPEN, $1, @1); $$->name = $3; $$->to = $5; $$->parts = $7; }
    ;

denies
    : %empty { $$ = no_list; }
    | denies DENY scopes ";" { $$ = lists_joined($1, $3); }
    | denies error ";" { $$ = $1; tokens_recovered(s); yyerrok; }
    ;

opt_import : %empty { $$ = false; } | IMPORT { $$ = true; } ;
opt_cyclic : %empty { $$ = false; } | CYCLIC { $$ = true; } ;

words
    : word { $$ = list_of(syntax_name_node(s, $1)); }
    | words "," word { $$ = $1; syntax_add(&$$, syntax_name_node(s, $3)); }
    ;

dotteds
    : dotted { $$ = list_of(syntax_name_node(s, $1)); }
    | dotteds "," dotted { $$ = $1; syntax_add(&$$, syntax_name_node(s, $3)); }
    ;

limits
    : limit { $$ = list_of($1); }
    | limits "," limit { $$ = $1; syntax_add(&$$, $3); }
    ;

limit : word number { $$ = syntax_limit(s, $1, $2, @$); } ;

number : INTEGER | SIZE ;

scopes
    : scope { $$ = list_of($1); }
    | scopes "," scope { $$ = $1; syntax_add(&$$, $3); }
    ;

scope
    : dotted "::" dotted { $$ = syntax_scope(s, AST_SCOPE_NAME, $1, $3, @$); }
    | dotted "::" "*" { $$ = syntax_scope(s, AST_SCOPE_ALL_OF_MODULE, $1, no_word, @$); }
    | MODULE dotted { $$ = syntax_scope(s, AST_SCOPE_MODULE, $2, no_word, @$); }
    | MODULE dotted "." "*" { $$ = syntax_scope(s, AST_SCOPE_MODULE_TREE, $2, no_word, @$); }
    | OPCODES word { $$ = syntax_scope(s, AST_SCOPE_OPCODES, no_word, $2, @$); }
    ;

dotted
    : name
    | dotted "." name { $$ = syntax_join(s, $1, $3, @$); }
    ;

name
    : word
    | STRING { $$ = syntax_quoted_name(s, $1); }
    ;

/* Rows */

rows
    : %empty { $$ = no_list; }
    | rows row { $$ = $1; if ($2 != NULL) { syntax_add(&$$, &$2->node); } }
    ;

row
    : CLASS names alts ";"
        { $$ = syntax_row(s, AST_ROW_CLASS, $1, $2, $3, @$); }
    | FUNC names funcalts ";"
        { $$ = syntax_row(s, AST_ROW_FUNC, $1, $2, $3, @$); }
    | CONST constlist steps tail ";"
        {
            struct ast_maker *maker = syntax_maker(s, AST_CONST, $1, @1);
            maker->steps = $3;
            maker->clauses = $4;
            $$ = syntax_row(s, AST_ROW_CONST, $1, $2, list_of(&maker->node), @$);
        }
    | SUBCLASSES OF dotted alts ";"
        { $$ = syntax_row(s, AST_ROW_SUBCLASSES, $1, list_of(syntax_name_node(s, $3)), $4, @$); }
    | template
    | error ";"
        { $$ = NULL; s->file->rows_lost = true; tokens_recovered(s); yyerrok; }
    ;

names
    : dotted { $$ = list_of(syntax_name_node(s, $1)); }
    | "{" namelist "}" { $$ = $2; }
    ;

constlist
    : namelist
    | "{" namelist "}" { $$ = $2; }
    ;

namelist
    : dotted { $$ = list_of(syntax_name_node(s, $1)); }
    | namelist "," dotted { $$ = $1; syntax_add(&$$, syntax_name_node(s, $3)); }
    ;

alts
    : alt { $$ = list_of(&$1->node); }
    | alts "|" alt { $$ = $1; syntax_add(&$$, &$3->node); }
    ;

alt
    : make steps tail { $$ = $1; $$->node.span = @$; $$->steps = $2; $$->clauses = $3; }
    ;

make
    : %empty { $$ = syntax_maker(s, AST_NO_VERB, no_word, @$); }
    | REF { $$ = syntax_maker(s, AST_REF_VERB, $1, @1); }
    | CALL "(" args ")" { $$ = syntax_maker(s, AST_CALL, $1, @1); $$->args = $3; }
    | NEW "(" args ")" { $$ = syntax_maker(s, AST_NEW, $1, @1); $$->args = $3; }
    | NEW "(" args ")" KW record { $$ = syntax_maker(s, AST_NEW, $1, @1); $$->args = $3; $$->kw = $6; }
    ;

funcalts
    : funcalt { $$ = list_of(&$1->node); }
    | funcalts "|" funcalt { $$ = $1; syntax_add(&$$, &$3->node); }
    ;

funcalt
    : "(" args ")" "->" atom steps tail
        {
            $$ = syntax_maker(s, AST_FUNC, no_word, @1);
            $$->node.span = @$; $$->args = $2; $$->result = $5; $$->steps = $6; $$->clauses = $7;
        }
    ;

steps
    : %empty { $$ = no_list; }
    | steps step { $$ = $1; syntax_add(&$$, $2); }
    ;

step
    : STATE atom { $$ = syntax_step(s, AST_STATE, NULL, $2, @$); }
    | STATE "?" atom { $$ = syntax_step(s, AST_STATE_OPTIONAL, NULL, $3, @$); }
    | ITEMS atom { $$ = syntax_step(s, AST_ITEMS, NULL, $2, @$); }
    | ADDS atom { $$ = syntax_step(s, AST_ADDS, NULL, $2, @$); }
    | PAIRS atom ":" atom { $$ = syntax_step(s, AST_PAIRS, $2, $4, @$); }
    ;

tail
    : %empty { $$ = no_list; }
    | tail BECAUSE STRING { $$ = $1; syntax_add(&$$, &syntax_clause(s, AST_BECAUSE, $3, @2)->node); }
    | tail CHECK word { $$ = $1; syntax_add(&$$, &syntax_clause(s, AST_CHECK, $3, @2)->node); }
    | tail RUNS words
        {
            struct ast_clause *clause = syntax_clause(s, AST_RUNS, no_word, @2);
            clause->runs = $3;
            $$ = $1;
            syntax_add(&$$, &clause->node);
        }
    | tail BUDGET word number
        {
            struct ast_clause *clause = syntax_clause(s, AST_CALLS, $3, @2);
            clause->number = $4;
            $$ = $1;
            syntax_add(&$$, &clause->node);
        }
    ;

args
    : %empty { $$ = no_list; }
    | arglist
    ;

arglist
    : arg { $$ = list_of($1); }
    | arglist "," arg { $$ = $1; syntax_add(&$$, $3); }
    ;

arg
    : word ":" type { $$ = syntax_elem(s, $1, $3, false, false, @$); }
    | word "?" ":" type { $$ = syntax_elem(s, $1, $4, true, false, @$); }
    | word ":" type "..." { $$ = syntax_elem(s, $1, $3, false, true, @$); }
    ;

template
    : DATACLASS dotted record tail ";"
        { $$ = syntax_template(s, AST_ROW_DATACLASS, $1, $2, no_list, $4, @$); $$->type = $3; }
    | PYDANTIC dotted record tail ";"
        { $$ = syntax_template(s, AST_ROW_PYDANTIC, $1, $2, no_list, $4, @$); $$->type = $3; }
    | NAMEDTUPLE dotted "(" args ")" tail ";"
        { $$ = syntax_template(s, AST_ROW_NAMEDTUPLE, $1, $2, $4, $6, @$); }
    | EXCEPTION dotted "(" args ")" opt_record tail ";"
        { $$ = syntax_template(s, AST_ROW_EXCEPTION, $1, $2, $4, $7, @$); $$->type = $6; }
    | ENUM dotted "{" members opt_comma "}" tail ";"
        {
            $$ = syntax_template(s, AST_ROW_ENUM, $1, $2, no_list, $7, @$);
            $$->type = syntax_member_values(s, &$4, @4); $$->members = $4;
        }
    | FLAG dotted "{" members opt_comma "}" tail ";"
        { $$ = syntax_template(s, AST_ROW_FLAG, $1, $2, no_list, $7, @$); $$->members = $4; }
    ;

opt_record : %empty { $$ = NULL; } | record ;

members
    : member { $$ = list_of($1); }
    | members "," member { $$ = $1; syntax_add(&$$, $3); }
    ;

member : name "=" atom { $$ = syntax_member(s, $1, $3, @$); } ;

/* Types */

type
    : atom
    | type "|" atom { $$ = syntax_union(s, $1, $3, @$); }
    ;

atom
    : T_NONE { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_NONE, @$); }
    | T_BOOL { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_BOOL, @$); }
    | T_TRUE { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_TRUE, @$); }
    | T_FALSE { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_FALSE, @$); }
    | T_FLOAT { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_FLOAT, @$); }
    | T_FINITE { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_FINITE, @$); }
    | T_ANY { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_ANY, @$); }
    | T_INT opt_range { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_INT, @$); $$->range = $2; }
    | T_INT opt_range MASK INTEGER
        {
            $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_INT, @$);
            $$->range = $2; $$->has_mask = true; $$->mask = $4;
        }
    | T_STR opt_range { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_STR, @$); $$->range = $2; }
    | T_STR opt_range CHARS STRING
        {
            $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_STR, @$);
            $$->range = $2; $$->has_chars = true; $$->chars = $4;
        }
    | T_TEXT opt_range { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_TEXT, @$); $$->range = $2; }
    | T_BYTES opt_range { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_BYTES, @$); $$->range = $2; }
    | T_BYTEARRAY opt_range { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_BYTEARRAY, @$); $$->range = $2; }
    | T_BUFFER opt_range { $$ = syntax_type(s, AST_SIMPLE, UPK_TYPE_BUFFER, @$); $$->range = $2; }
    | literal0
    | T_LIST "<" type ">" opt_range
        { $$ = syntax_type(s, AST_LIST, UPK_TYPE_LIST, @$); $$->item = $3; $$->range = $5; }
    | T_LIST "<" elem "," elemlist ">" opt_range
        {
            $$ = syntax_type(s, AST_TUPLE, UPK_TYPE_PLACES, @$);
            $$->parts = list_before($3, $5); $$->range = $7;
        }
    | SET "<" type ">" opt_range
        { $$ = syntax_type(s, AST_LIST, UPK_TYPE_SET, @$); $$->item = $3; $$->range = $5; }
    | T_FROZENSET "<" type ">" opt_range
        { $$ = syntax_type(s, AST_LIST, UPK_TYPE_FROZENSET, @$); $$->item = $3; $$->range = $5; }
    | T_DICT "<" type "," type ">" opt_range
        { $$ = syntax_type(s, AST_DICT, UPK_TYPE_DICT, @$); $$->key = $3; $$->item = $5; $$->range = $7; }
    | T_TUPLE "<" elems ">" opt_range
        { $$ = syntax_type(s, AST_TUPLE, UPK_TYPE_TUPLE, @$); $$->parts = $3; $$->range = $5; }
    | record
    | dotted0 "::" dotted opt_range
        {
            $$ = syntax_type(s, AST_OBJECT, UPK_TYPE_OBJECT, @$);
            $$->module = $1; $$->name = $3; $$->range = $4;
        }
    | INSTANCE OF dotted
        { $$ = syntax_type(s, AST_INSTANCE, UPK_TYPE_INSTANCE, @$); $$->name = $3; }
    | REF dotted "::" dotted
        { $$ = syntax_type(s, AST_REF, UPK_TYPE_REF, @$); $$->module = $2; $$->name = $4; }
    | REF dotted "::" "{" namelist "}"
        { $$ = syntax_refs(s, $2, &$5, @$); }
    | PERSID "<" type ">"
        { $$ = syntax_type(s, AST_PERSID, UPK_TYPE_PERSID, @$); $$->item = $3; }
    | IDENT
        { $$ = syntax_type(s, AST_NAMED, UPK_TYPE_NEVER, @$); $$->name = $1; }
    | "(" type ")"
        { $$ = $2; }
    ;

/* The module of an object type: a word that is also a type counts as a module where `.' or `::' follows. */
dotted0
    : name
    | dotted0 "." name { $$ = syntax_join(s, $1, $3, @$); }
    ;

literal0
    : INTEGER { $$ = syntax_type(s, AST_INT_IS, UPK_TYPE_INT_IS, @$); $$->number = $1; }
    | STRING { $$ = syntax_type(s, AST_STR_IS, UPK_TYPE_STR_IS, @$); $$->literal = $1; }
    | BYTES { $$ = syntax_type(s, AST_BYTES_IS, UPK_TYPE_BYTES_IS, @$); $$->literal = $1; }
    ;

elems
    : %empty { $$ = no_list; }
    | elemlist
    ;

elemlist
    : elem { $$ = list_of($1); }
    | elemlist "," elem { $$ = $1; syntax_add(&$$, $3); }
    ;

elem
    : type { $$ = syntax_elem(s, no_word, $1, false, false, @$); }
    | type "?" { $$ = syntax_elem(s, no_word, $1, true, false, @$); }
    | type "..." { $$ = syntax_elem(s, no_word, $1, false, true, @$); }
    ;

record
    : "{" "}" { $$ = syntax_type(s, AST_RECORD, UPK_TYPE_RECORD, @$); }
    | "{" fields opt_comma "}" { $$ = syntax_type(s, AST_RECORD, UPK_TYPE_RECORD, @$); $$->parts = $2; }
    ;

opt_comma : %empty | "," ;

fields
    : field { $$ = list_of($1); }
    | fields "," field { $$ = $1; syntax_add(&$$, $3); }
    ;

field
    : key ":" type { $$ = syntax_field(s, $1, $3, false, false, @$); }
    | key "?" ":" type { $$ = syntax_field(s, $1, $4, true, false, @$); }
    | "*" ":" type { $$ = syntax_field(s, no_word, $3, true, true, @$); }
    ;

key : word | STRING ;

opt_range
    : %empty { $$ = (struct ast_range){.given = false}; }
    | "[" number "]"
        {
            $$ = (struct ast_range){.given = true, .has_lo = true, .has_hi = true,
                                   .lo = $2, .hi = $2, .span = @$};
        }
    | "[" number ".." "]"
        { $$ = (struct ast_range){.given = true, .has_lo = true, .lo = $2, .span = @$}; }
    | "[" ".." number "]"
        { $$ = (struct ast_range){.given = true, .has_hi = true, .hi = $3, .span = @$}; }
    | "[" number ".." number "]"
        {
            $$ = (struct ast_range){.given = true, .has_lo = true, .has_hi = true,
                                   .lo = $2, .hi = $4, .span = @$};
        }
    ;

/* The environment and the confinement of a child */

environment
    : ENVIRONMENT dotted "{" envs "}"
        { $$ = syntax_item(s, AST_ENVIRONMENT, $1, @1); $$->name = $2; $$->parts = $4; }
    | CONFINEMENT "{" confs "}"
        { $$ = syntax_item(s, AST_CONFINEMENT, $1, @1); $$->parts = $3; }
    ;

envs
    : %empty { $$ = no_list; }
    | envs env reason ";"
        { $2->has_because = $3.given; $2->because = $3.word; $$ = $1; syntax_add(&$$, &$2->node); }
    | envs error ";" { $$ = $1; s->file->items_lost = true; tokens_recovered(s); yyerrok; }
    ;

env
    : INHERIT variables where { $$ = syntax_line(s, AST_LINE_INHERIT, $1, @$); $$->names = $2; $$->rules = $3; }
    | MANIFEST variables where
        { $$ = syntax_line(s, AST_LINE_MANIFEST, $1, @$); $$->names = $2; $$->rules = $3; }
    | NEVER variables { $$ = syntax_line(s, AST_LINE_NEVER, $1, @$); $$->names = $2; }
    | SET variable "=" STRING
        { $$ = syntax_line(s, AST_LINE_SET, $1, @$); $$->names = list_of(&$2->node); $$->word = $4; }
    | HOME word { $$ = syntax_line(s, AST_LINE_HOME, $1, @$); $$->word = $2; }
    ;

reason
    : %empty { $$ = (struct syntax_reason){.given = false}; }
    | BECAUSE STRING { $$ = (struct syntax_reason){.given = true, .word = $2}; }
    ;

variables
    : inheritance { $$ = list_of(&$1->node); }
    | variables "," inheritance { $$ = $1; syntax_add(&$$, &$3->node); }
    ;

inheritance
    : variable
    | variable "*" { $$ = $1; $$->node.span = @$; $$->open = true; }
    | "*" variable { $$ = $2; $$->node.span = @$; $$->start = true; }
    | "*" variable "*" { $$ = $2; $$->node.span = @$; $$->open = $$->start = true; }
    | BASE word { $$ = syntax_variable(s, $2, @$); $$->base = true; }
    | variable "->" variable
        { $$ = $3; $$->node.span = @$; $$->source = $1->name; $$->has_source = true; }
    ;

variable
    : word { $$ = syntax_variable(s, $1, @$); }
    | STRING { $$ = syntax_variable(s, $1, @$); $$->quoted = true; }
    ;

where : %empty { $$ = no_list; } | WHERE VALUE rules { $$ = $3; } ;

rules
    : rule { $$ = list_of($1); }
    | rules rule { $$ = $1; syntax_add(&$$, $2); }
    ;

rule
    : IDENT { $$ = syntax_rule(s, AST_RULE_WORD, $1, no_number, @$); }
    | T_TEXT { $$ = syntax_rule(s, AST_RULE_WORD, $1, no_number, @$); }
    | CHARS STRING { $$ = syntax_rule(s, AST_RULE_CHARS, $2, no_number, @$); }
    | MAX number { $$ = syntax_rule(s, AST_RULE_MAX, $1, $2, @$); }
    ;

confs
    : %empty { $$ = no_list; }
    | confs conf ";" { $$ = $1; syntax_add(&$$, &$2->node); }
    | confs error ";" { $$ = $1; s->file->items_lost = true; tokens_recovered(s); yyerrok; }
    ;

conf
    : LINUX mode { $$ = syntax_line(s, AST_LINE_LINUX, $1, @$); $$->word = $2; }
    | MACOS mode { $$ = syntax_line(s, AST_LINE_MACOS, $1, @$); $$->word = $2; }
    | BUDGET limits { $$ = syntax_line(s, AST_LINE_BUDGET, $1, @$); $$->names = $2; }
    | NETWORK BECAUSE STRING
        { $$ = syntax_line(s, AST_LINE_NETWORK, $1, @$); $$->because = $3; $$->has_because = true; }
    ;

mode : REQUIRE | OPT_IN ;

/* Names may equal keywords, all but because, ref, instance, where and fail_open. */
word : IDENT | kw ;
kw
    : POLICY | FRAGMENT | INCLUDE | OPCODES | EXCEPT | PROTOCOL | BUDGET | NEVER | ALIAS | TYPE | MODULE
    | CLASS | FUNC | CONST | CALL | NEW | KW | STATE | ITEMS | PAIRS | ADDS | CHECK | CHANNEL | USE | ROOT
    | OF | BASE | IMPORT | NETWORK | PERSID | MASK | CHARS | DATACLASS | NAMEDTUPLE | ENUM | FLAG
    | EXCEPTION | PYDANTIC | RUNS | CYCLIC | MANIFEST | UNTIL | DENY | SUBCLASSES | WITHIN | ENVIRONMENT | INHERIT
    | VALUE | MAX | SET | HOME | CONFINEMENT | LINUX | MACOS | REQUIRE | OPT_IN | T_NONE | T_BOOL | T_TRUE
    | T_FALSE | T_INT | T_FLOAT | T_FINITE | T_STR | T_TEXT | T_BYTES | T_BYTEARRAY | T_BUFFER | T_ANY
    | T_LIST | T_FROZENSET | T_DICT | T_TUPLE
    ;

%%

static void yyerror(struct span *at, struct syntax *s, const char *message)
{
    /* With custom errors, bison itself only ever reports that its stack is full. */
    (void)message;
    syntax_too_deep(s, *at);
}

static int yyreport_syntax_error(const yypcontext_t *context, struct syntax *s)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    struct syntax_expected expected = {.names = names};
    int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
    for (int i = 0; i < count; i++) {
        if (kinds[i] == YYSYMBOL_IDENT) {
            expected.name = true;
        } else {
            expected.semicolon = expected.semicolon || kinds[i] == YYSYMBOL_SEMICOLON;
            names[expected.count++] = yysymbol_name(kinds[i]);
        }
    }
    syntax_unexpected(s, &expected);
    return 0;
}
