/* One hint for a syntax error: what people write who come from Python, C, JSON, or from a line that was
 * left unfinished.
 *
 * Layer: grammar, beside syntax_report.c, which is all that calls it.
 */
#include "syntax_hint.h"

#include <string.h>

#include "keywords.h"
#include "parse.h"
#include "suggest.h"
#include "words.h"

/* What stands behind the token found: a word, or else nothing, and the first character behind it. */
struct ahead {
    struct text word;
    char next; /* 0: the file ends */
};

/* Where the error is. */
struct scene {
    struct syntax *s;
    const struct syntax_expected *expected;
    int found, before; /* kinds of tokens */
    struct text word;  /* found */
    struct text left;  /* the dotted word before it, or empty */
    int open;          /* the innermost bracket of the statement that is open; 0: none */
    int block;         /* what the block is that holds the statement; 0: it stands in the file */
    bool begins;       /* found where a statement begins */
    struct ahead ahead;
};

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The dotted word that ends at `end`; empty: there is none. */
static struct text word_that_ends(const struct syntax *s, size_t end) {
    const char *at = s->diag->sources[s->source].bytes.at;
    size_t from = end;
    while (from > 0 && (is_word_byte(at[from - 1]) || at[from - 1] == '.')) {
        from--;
    }
    return (struct text){at + from, end - from};
}

static size_t skip_blanks(struct text t, size_t i) {
    while (i < t.len && (t.at[i] == ' ' || t.at[i] == '\t' || t.at[i] == '\r' || t.at[i] == '\n')) {
        i++;
    }
    return i;
}

/* Reads what stands from `from` on. */
static struct ahead look_ahead(const struct syntax *s, size_t from) {
    const struct text bytes = s->diag->sources[s->source].bytes;
    const size_t begin = skip_blanks(bytes, from);
    size_t end = begin;
    while (end < bytes.len && (is_word_byte(bytes.at[end]) || bytes.at[end] == '.')) {
        end++;
    }
    const size_t next = skip_blanks(bytes, end);
    return (struct ahead){{bytes.at + begin, end - begin}, next < bytes.len ? bytes.at[next] : '\0'};
}

/* The dotted word behind the one that begins there. */
static struct text second_word(const struct syntax *s, size_t from) {
    const struct ahead first = look_ahead(s, from);
    const char *at = s->diag->sources[s->source].bytes.at;
    return look_ahead(s, (size_t)(first.word.at - at) + first.word.len).word;
}

static bool expects(const struct scene *x, const char *name) {
    for (size_t i = 0; i < x->expected->count; i++) {
        if (strcmp(x->expected->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_word(const struct scene *x) {
    return x->found == TOK_IDENT || keyword_find(x->word.at, x->word.len) != 0;
}

static bool is_one_of(struct text word, const char *const *words) {
    for (; *words != NULL; words++) {
        if (text_is(word, *words)) {
            return true;
        }
    }
    return false;
}

static bool is_budget(struct text word) {
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        if (text_is(word, budget_words[i].word)) {
            return true;
        }
    }
    return false;
}

/* A statement that begins with no word of the language, or in the wrong place. */
static const char *hint_of_statement(const struct scene *x) {
    static const char *const imports[] = {"import", "from", "require", "using", NULL};
    static const char *const grants[] = {"allow",  "grant",  "permit", "accept", "deny",
                                         "forbid", "refuse", "reject", "block",  NULL};
    if (x->found == TOK_SEMICOLON) {
        return x->before == TOK_RIGHT_BRACE ? "a block ends in its `}', without `;'" : "one `;' is enough";
    }
    if (x->found == TOK_LEFT_BRACE) {
        return x->before == TOK_LEFT_BRACE ? "one `{' opens a block" : NULL;
    }
    if (is_one_of(x->word, imports)) {
        return "include \"FILE\"; makes a fragment known, use NAME; grants what is in it";
    }
    if (is_one_of(x->word, grants)) {
        return "what has a row in `module NAME { ... }' is granted, nothing else; `never' asserts that "
               "something is not";
    }
    if (tokens_begin_row(x->found) && x->block != TOK_MODULE) {
        return "rows stand in the block of their module: module NAME { ... }";
    }
    if (is_budget(x->word)) {
        return "a budget is set by: budget WORD NUMBER;";
    }
    if (x->found == TOK_POLICY || x->found == TOK_FRAGMENT) {
        return "a file has one header; another file is included";
    }
    if (x->block == TOK_CHANNEL) {
        return "a channel holds opcodes, protocol, budget, never, use, root, within and fail_open; all else "
               "stands in "
               "the file";
    }
    if (x->block == TOK_MODULE && tokens_begin_statement(x->found)) {
        return "the block of a module holds its rows; all else stands in the file";
    }
    if (!is_word(x)) {
        return NULL;
    }
    return x->block == TOK_MODULE
               ? "rows begin with class, func, const, or with the word of a template"
               : "statements begin with include, opcodes, protocol, budget, never, alias, type, module, "
                 "channel, use or root";
}

/* Types of other languages, and types that are not finished. */
static const char *hint_of_type(const struct scene *x) {
    static const char *const rangeless[] = {"float", "finite", "bool", "none", "any", "true", "false", NULL};
    const bool opens = x->found == TOK_LESS || x->found == TOK_LEFT_BRACKET || x->found == TOK_LEFT_PAREN ||
                       x->found == TOK_LEFT_BRACE;
    const char *elsewhere = suggestion_of_type(x->left);
    if (opens && elsewhere != NULL) {
        return elsewhere;
    }
    if (x->found == TOK_QUESTION || x->before == TOK_QUESTION) {
        return "what may be absent is written `name?: T', what may be none `T | none'";
    }
    if ((opens || x->found == TOK_SEMICOLON || x->found == TOK_GREATER || x->found == TOK_COMMA) &&
        expects(x, "<")) {
        return "what it holds stands between `<' and `>', as in list<int>; [..100] behind it is a length";
    }
    if (x->found == TOK_LEFT_BRACKET && expects(x, "list")) {
        return "a list is written list<T>, with a type for each place list<A, B>";
    }
    if (opens && expects(x, "[")) {
        return "a length or a range stands in brackets: [lo..hi]";
    }
    if (x->found == TOK_LEFT_BRACKET && is_one_of(x->left, rangeless)) {
        return "this type has no range";
    }
    if (text_is(x->word, "or") || (x->found == TOK_COMMA && x->open == 0 && expects(x, "|"))) {
        return "alternatives are written `A | B'";
    }
    if (x->before == TOK_BAR) {
        return x->found == TOK_SEMICOLON ? "no `|' stands behind the last alternative"
               : is_word(x) && x->block == TOK_MODULE && x->open == 0
                   ? "where one type is wanted, a union stands in parentheses: (A | B)"
                   : NULL;
    }
    if (x->found == TOK_BAR && (x->before == TOK_EQUALS || x->before == TOK_ROOT)) {
        return "no `|' stands before the first alternative";
    }
    if (x->found == TOK_GREATER && expects(x, ",") && x->before != TOK_COMMA) {
        return "a dict has two types: dict<K, V>";
    }
    if ((x->found == TOK_DOTS || (x->found == TOK_ELLIPSIS && x->before == TOK_COMMA)) &&
        x->open == TOK_LESS) {
        return "an element that repeats has three dots behind its type: T...";
    }
    if (x->found == TOK_LESS && x->s->statement == TOK_TYPE && expects(x, "=")) {
        return "a type takes no parameters: each one is written out";
    }
    return NULL;
}

/* `ref' and perhaps a name before the token found. */
static bool is_behind_ref(const struct scene *x) {
    const char *at = x->s->diag->sources[x->s->source].bytes.at;
    const size_t marks = x->before == TOK_COLON2 ? 2 : 0;
    size_t from = x->s->end < marks ? 0 : x->s->end - marks;
    from -= word_that_ends(x->s, from).len;
    while (from > 0 && at[from - 1] == ' ') {
        from--;
    }
    return x->before == TOK_REF || text_is(word_that_ends(x->s, from), "ref");
}

/* Punctuation within a statement. */
static const char *hint_of_place(const struct scene *x) {
    if (x->found == TOK_STAR && x->open == TOK_LEFT_PAREN) {
        return "arguments that repeat are written `name: T...'";
    }
    if (x->open == TOK_LEFT_BRACKET && (x->found == TOK_STAR || x->found == TOK_LESS)) {
        return "a bound is a number written out, as 4_294_967_296 for 2 to the power of 32";
    }
    if (x->found == TOK_STAR) {
        return "a grant names one thing exactly: only `never' takes `*'";
    }
    if (x->found == TOK_COLON2 && x->s->statement == TOK_MODULE) {
        return "a module's name is joined by dots; its classes stand in the block";
    }
    if (x->found == TOK_EQUALS && expects(x, ":")) {
        return "a type stands behind `:'";
    }
    if (x->found == TOK_EQUALS && x->open == TOK_LEFT_PAREN) {
        return "a type says nothing of defaults: an argument that may be left out is written `name?: T'";
    }
    if (x->before == TOK_COMMA &&
        (x->found == TOK_RIGHT_PAREN || x->found == TOK_GREATER || x->found == TOK_RIGHT_BRACE)) {
        return "no `,' stands behind the last";
    }
    if (x->found == TOK_DOT && x->before == TOK_INTEGER) {
        return "numbers are whole";
    }
    if (x->open == TOK_LEFT_BRACKET && x->found != TOK_SEMICOLON) {
        return "a range is written [lo..hi], [lo..], [..hi] or [n]";
    }
    if (x->s->statement == TOK_PROTOCOL && expects(x, "..")) {
        return "a range of protocols is written 2..4";
    }
    if ((x->found == TOK_COMMA || x->found == TOK_RIGHT_PAREN) && x->open == TOK_LEFT_PAREN &&
        expects(x, ":")) {
        return "an argument has a name and a type: `name: T'";
    }
    if (x->found == TOK_COMMA && x->open == 0 && expects(x, ":")) {
        return "key and value are written K: V";
    }
    if (x->found == TOK_COMMA && x->open == 0 && x->block == TOK_MODULE &&
        (x->s->statement == TOK_CLASS || x->s->statement == TOK_FUNC) && !expects(x, ",")) {
        return "several names of one row stand in braces: class { A, B } ref;";
    }
    if ((x->found == TOK_LEFT_BRACE || x->found == TOK_LEFT_PAREN) && is_behind_ref(x)) {
        return "several names of one module are written ref module::{A, B}";
    }
    if ((x->found == TOK_LEFT_BRACE || x->found == TOK_LEFT_PAREN) && x->before == TOK_COLON2) {
        return "each class is written in full: m::A | m::B";
    }
    return NULL;
}

/* What stands behind a template's name, and within it. */
static const char *hint_of_template(const struct scene *x) {
    const int kind = x->s->statement;
    const bool members = kind == TOK_ENUM || kind == TOK_FLAG;
    const bool fields = kind == TOK_DATACLASS || kind == TOK_PYDANTIC;
    const bool behind_name = expects(x, ".") && !expects(x, "::");
    if (kind == TOK_FLAG && x->found == TOK_BAR) {
        return "a member's value is one number: 2 | 4 is 6";
    }
    if ((members || fields) && behind_name && x->found == TOK_LEFT_PAREN && x->ahead.word.len != 0 &&
        x->ahead.next != ':' && x->ahead.next != '?' && x->ahead.next != '=') {
        return "no bases are named: what a class inherits is written as its own";
    }
    if (members && (expects(x, "=") || x->before == TOK_EQUALS || x->found == TOK_RIGHT_BRACE)) {
        return "a member has a name and a value: FAST = 1, SAFE = \"safe\"";
    }
    if (members && behind_name) {
        return "members stand in braces, each with its value: { FAST = 1 }";
    }
    if (fields && behind_name) {
        return "fields stand in braces: { name: T, other?: T }";
    }
    if (kind == TOK_NAMEDTUPLE && behind_name) {
        return "the fields of a tuple stand in parentheses: (name: T, other: T)";
    }
    if (kind == TOK_EXCEPTION && behind_name) {
        return "arguments come first, in parentheses, then attributes: (name: T) { other?: T }";
    }
    if (x->found == TOK_EQUALS && !expects(x, ":") &&
        (fields || kind == TOK_NAMEDTUPLE || kind == TOK_EXCEPTION)) {
        return "a type says nothing of defaults: a field that may be absent is written `name?: T'";
    }
    return NULL;
}

/* The comma that ends the line before, where `;' was meant: `budget depth 10,' and the next statement. */
static bool comma_before_statement(const struct scene *x, struct text *statement) {
    const char *at = x->s->diag->sources[x->s->source].bytes.at;
    size_t i = x->s->end - x->left.len;
    bool line = false;
    while (i > 0 && (at[i - 1] == ' ' || at[i - 1] == '\t' || at[i - 1] == '\r' || at[i - 1] == '\n')) {
        i--;
        line = line || at[i] == '\n';
    }
    *statement = x->left;
    return line && i > 0 && at[i - 1] == ',' && tokens_begin_statement(keyword_find(x->left.at, x->left.len));
}

/* Is the dotted word a class within a class that has a row in this block? */
static bool is_inner_class(const struct scene *x) {
    const char *at = x->s->diag->sources[x->s->source].bytes.at;
    const struct text outer = {x->left.at, strcspn(x->left.at, ".")};
    const size_t end = (size_t)(x->left.at - at);
    for (size_t i = x->block == TOK_MODULE ? x->s->blocks[0].at.to : end; i < end;) {
        const struct ahead word = look_ahead(x->s, i);
        const struct text name = second_word(x->s, i);
        if (tokens_begin_row(keyword_find(word.word.at, word.word.len)) && name.len >= outer.len &&
            text_equal((struct text){name.at, outer.len}, outer) &&
            (name.len == outer.len || name.at[outer.len] == '.')) {
            return true;
        }
        i = (size_t)(word.word.at - at) + (word.word.len != 0 ? word.word.len : 1);
    }
    return false;
}

/* A class written as Python does: with its fields, or with classes in it. */
static bool hint_row(const struct scene *x) {
    struct diag *d = x->s->diag;
    const struct text name = second_word(x->s, x->s->from);
    const bool behind_class =
        x->s->statement == TOK_CLASS && x->found == TOK_LEFT_BRACE && expects(x, "call");
    const bool opens_row = tokens_begin_row(keyword_find(x->ahead.word.at, x->ahead.word.len));
    if (x->block != TOK_MODULE || name.len == 0) {
        return false;
    }
    if ((behind_class && opens_row && is_word_byte(x->ahead.next)) ||
        (tokens_begin_row(x->before) && x->open == TOK_LEFT_BRACE && is_word(x))) {
        diag_hint(d, "a class within a class is a row beside it: `%s.%s'", diag_quote(d, name),
                  diag_quote(d, behind_class ? second_word(x->s, x->s->last.span.to) : x->word));
        return true;
    }
    if (behind_class) {
        diag_hint(d, "a class with fields of its own is a template: dataclass %s { name: T }",
                  diag_quote(d, name));
    }
    return behind_class;
}

static bool hint_with_words(const struct scene *x) {
    struct diag *d = x->s->diag;
    struct text statement;
    size_t dot = x->left.len;
    while (dot > 0 && x->left.at[dot - 1] != '.') {
        dot--;
    }
    if (x->s->statement == TOK_POLICY && !x->s->file->has_header && expects(x, "number")) {
        diag_hint(d, "the revision is missing: policy NAME 1;");
    } else if (dot > 1 && expects(x, "::") && !x->expected->semicolon && is_inner_class(x)) {
        diag_hint(d, "a class is written with its module: `%s::%s'",
                  diag_quote(d, second_word(x->s, x->s->blocks[0].from)), diag_quote(d, x->left));
    } else if (dot == 0 && expects(x, "::") && expects(x, ".") && x->expected->count == 2 &&
               keyword_find(x->left.at, x->left.len) != 0) {
        diag_hint(d, "`%s' is a word of the language and no type; a class is written module::Name",
                  diag_quote(d, x->left));
    } else if (hint_row(x)) {
        return true;
    } else if (dot > 1 && expects(x, "::") && !x->expected->semicolon) {
        diag_hint(d, "a class is written module::Name: `%s::%s'?",
                  diag_quote(d, (struct text){x->left.at, dot - 1}),
                  diag_quote(d, (struct text){x->left.at + dot, x->left.len - dot}));
    } else if (comma_before_statement(x, &statement)) {
        diag_hint(d, "the `,' before `%s' goes on with the list: a statement ends in `;'",
                  diag_quote(d, statement));
    } else {
        return false;
    }
    return true;
}

/* The innermost open bracket that stands before the token found. */
static int open_around(const struct syntax *s) {
    size_t n = s->open_count;
    if (s->closed != 0) {
        return s->closed;
    }
    if (n != 0 && s->opens[n - 1].at.from == s->last.span.from) {
        n--;
    }
    return n == 0 ? 0 : s->opens[n - 1].kind;
}

bool syntax_hint(struct syntax *s, const struct syntax_expected *expected) {
    const struct span at = s->last.span;
    const struct scene x = {
        .s = s,
        .expected = expected,
        .found = s->last.kind,
        .before = s->before,
        .word = {s->diag->sources[s->source].bytes.at + at.from, at.to - at.from},
        .left = word_that_ends(s, s->end),
        .open = open_around(s),
        .block = s->nesting.block_depth == 0 ? 0 : s->blocks[s->nesting.block_depth - 1].statement,
        .begins = s->begins,
        .ahead = look_ahead(s, at.to),
    };
    if (hint_with_words(&x)) {
        return true;
    }
    const char *hint = x.begins ? hint_of_statement(&x) : hint_of_template(&x);
    if (hint == NULL && !x.begins) {
        hint = hint_of_place(&x);
    }
    if (hint == NULL && !x.begins) {
        hint = hint_of_type(&x);
    }
    if (hint != NULL) {
        diag_hint(s->diag, "%s", hint);
    } else if (!x.begins && is_word(&x) && expects(&x, ",")) {
        diag_hint(s->diag, "a `,' is missing before `%s'", diag_quote(s->diag, x.word));
    } else {
        return false;
    }
    return true;
}
