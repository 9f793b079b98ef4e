/* The filter between scanner and parser.  It keeps the parser's error recovery from running wild:
 *
 * - After an error the rest of the broken statement is skipped here, to its `;` at the statement's own
 *   brace depth, to the brace that closes its block, or to a keyword that can only begin the next
 *   statement; the parser then sees one `;`.
 * - Where a `;` is missing it is put in.
 * - A block that is not closed before the next item is closed here, with a message.
 *
 * Layer: grammar, between policy.l and policy.y.
 */
#include <assert.h>

#include "parse.h"
#include "syntax.h"

/* Keywords that begin an item of a file and no statement inside a block. */
static bool begins_item(int kind) {
    switch (kind) {
    case TOK_INCLUDE:
    case TOK_ALIAS:
    case TOK_TYPE:
    case TOK_MODULE:
    case TOK_CHANNEL:
    case TOK_ENVIRONMENT:
    case TOK_CONFINEMENT: return true;
    default: return false;
    }
}

bool tokens_begin_row(int kind) {
    switch (kind) {
    case TOK_CLASS:
    case TOK_FUNC:
    case TOK_CONST:
    case TOK_SUBCLASSES:
    case TOK_DATACLASS:
    case TOK_NAMEDTUPLE:
    case TOK_ENUM:
    case TOK_FLAG:
    case TOK_EXCEPTION:
    case TOK_PYDANTIC: return true;
    default: return false;
    }
}

bool tokens_begin_statement(int kind) {
    switch (kind) {
    case TOK_OPCODES:
    case TOK_PROTOCOL:
    case TOK_BUDGET:
    case TOK_NEVER:
    case TOK_USE:
    case TOK_ROOT:
    case TOK_WITHIN:
    case TOK_FAIL_OPEN: return true;
    default: return begins_item(kind) || tokens_begin_row(kind);
    }
}

/* Does a statement begin so in such a block, or in the file where that is 0? */
static bool belongs(int kind, int block) {
    if (block == TOK_MODULE) {
        return tokens_begin_row(kind);
    }
    return tokens_begin_statement(kind) && !tokens_begin_row(kind) && (block == 0 || !begins_item(kind));
}

int tokens_close(int kind) {
    switch (kind) {
    case TOK_LEFT_PAREN: return TOK_RIGHT_PAREN;
    case TOK_LEFT_BRACKET: return TOK_RIGHT_BRACKET;
    case TOK_LEFT_BRACE: return TOK_RIGHT_BRACE;
    case TOK_LESS: return TOK_GREATER;
    default: return 0;
    }
}

bool tokens_open_block(int kind) {
    return kind == TOK_MODULE || kind == TOK_CHANNEL || kind == TOK_ENVIRONMENT || kind == TOK_CONFINEMENT ||
           kind == TOK_FAIL_OPEN;
}

/* Puts `token` before whatever waits. */
static void queue_front(struct syntax *s, struct token token) {
    assert(s->queued < SYNTAX_QUEUE);
    for (size_t i = s->queued; i > 0; i--) {
        s->queue[i] = s->queue[i - 1];
    }
    s->queue[0] = token;
    s->queued++;
}

/* A token that stands nowhere in the text: zero bytes at the end of what was read last. */
static struct token token_made(const struct syntax *s, int kind) {
    return (struct token){.kind = kind, .span = {s->source, s->last.span.to, s->last.span.to}};
}

static struct token token_next(struct syntax *s) {
    struct token token = {.kind = TOK_EOF};
    if (s->queued != 0) {
        token = s->queue[0];
        s->queued--;
        for (size_t i = 0; i < s->queued; i++) {
            s->queue[i] = s->queue[i + 1];
        }
        return token;
    }
    if (s->mem->failed) {
        (void)syntax_token(s, &token, TOK_EOF);
    } else {
        (void)scan_token(&token, s->scanner);
        token.span = (struct span){s->source, s->token_from, s->token_to};
    }
    return token;
}

/* Does the token now read stand where a statement begins? */
static bool after_statement(const struct syntax *s) {
    int kind = s->last.kind;
    return kind == TOK_SEMICOLON || kind == TOK_INNER_SEMICOLON || kind == TOK_RIGHT_BRACE || kind == 0 ||
           (kind == TOK_LEFT_BRACE && s->nesting.depth == s->nesting.block_depth);
}

/* Bytes before the first word of the line. */
static size_t indentation(const struct syntax *s, uint32_t offset) {
    const char *at = s->diag->sources[s->source].bytes.at;
    size_t from = offset, n = 0;
    while (from > 0 && at[from - 1] != '\n') {
        from--;
    }
    while (at[from + n] == ' ' || at[from + n] == '\t') {
        n++;
    }
    return n;
}

/* Does the token begin a line that stands no deeper than the line of `from`?  People indent what stands in a block, so this
 * tells a brace that was forgotten from a statement in the wrong block. */
static bool stands_out(const struct syntax *s, const struct token *token, uint32_t from) {
    const char *at = s->diag->sources[s->source].bytes.at;
    uint32_t i = token->span.from;
    while (i > 0 && (at[i - 1] == ' ' || at[i - 1] == '\t')) {
        i--;
    }
    return (i == 0 || at[i - 1] == '\n') && token->span.from - i <= indentation(s, from);
}

static void brackets_count(struct syntax *s, const struct token *token, bool is_block) {
    if (s->begins) {
        s->open_count = 0;
    }
    s->closed = 0;
    if (tokens_close(token->kind) != 0 && !is_block) {
        if (s->open_count < SYNTAX_OPENS) {
            s->opens[s->open_count++] = (struct syntax_open){token->kind, token->span};
        }
    } else if (s->open_count != 0 && tokens_close(s->opens[s->open_count - 1].kind) == token->kind) {
        s->closed = s->opens[--s->open_count].kind;
    }
}

/* Counts braces; `token` becomes the one read last. */
static void token_count(struct syntax *s, struct token *token) {
    bool begins = after_statement(s);
    const size_t blocks = s->nesting.block_depth;
    s->nesting_before = s->nesting;
    if (token->kind == TOK_LEFT_BRACE) {
        if (s->nesting.block_comes && s->nesting.depth == s->nesting.block_depth &&
            s->nesting.block_depth < SYNTAX_BLOCKS) {
            s->blocks[s->nesting.block_depth++] = (struct syntax_block){token->span, s->statement, s->from};
        }
        s->nesting.block_comes = false;
        s->nesting.depth++;
    } else if (token->kind == TOK_RIGHT_BRACE) {
        s->nesting.depth -= s->nesting.depth != 0;
        s->nesting.block_depth =
            s->nesting.block_depth > s->nesting.depth ? s->nesting.depth : s->nesting.block_depth;
    } else if (token->kind == TOK_SEMICOLON && s->nesting.depth > s->nesting.block_depth) {
        token->kind = TOK_INNER_SEMICOLON;
    }
    if (begins && s->nesting.depth == s->nesting.block_depth && tokens_open_block(token->kind)) {
        s->nesting.block_comes = true;
    }
    if (begins) {
        s->statement = token->kind;
        s->from = token->span.from;
    }
    s->begins = begins;
    brackets_count(s, token, s->nesting.block_depth > blocks);
    s->before = s->last.kind;
    s->end = s->last.span.to;
    s->last = *token;
}

static void report_unclosed(struct syntax *s, struct span at) {
    diag_error(
        s->diag, (struct span){s->source, s->last.span.to, s->last.span.to}, P_SYNTAX,
        "expected `}' before `%s'",
        diag_quote(s->diag, (struct text){s->diag->sources[s->source].bytes.at + at.from, at.to - at.from}));
    diag_note(s->diag, s->blocks[s->nesting.block_depth - 1].at, "this `{' is not closed");
}

/* Closes all open blocks before `token`. */
static void close_blocks(struct syntax *s, struct token token) {
    queue_front(s, token);
    for (size_t i = 0; i < s->nesting.block_depth; i++) {
        queue_front(s, token_made(s, TOK_RIGHT_BRACE));
    }
}

/* Would the loss of this statement lose a type?  What begins with no known word may have been meant as one. */
static void statement_lost(struct syntax *s) {
    if (s->statement == TOK_TYPE || !tokens_begin_statement(s->statement)) {
        s->file->types_lost = true;
    }
}

/* Skips what is left of a broken statement and returns the `;` that ends it. */
static struct token skip_statement(struct syntax *s) {
    const size_t depth = s->nesting.block_depth;
    const int block = depth == 0 ? 0 : s->blocks[depth - 1].statement;
    const uint32_t from = s->from;
    s->recovering = false;
    s->nesting.block_comes = false;
    for (;;) {
        s->skipping = true;
        struct token token = token_next(s);
        s->skipping = false;
        if (token.kind == TOK_EOF) {
            return token;
        }
        /* Braces of the statement that are not closed are taken as closed where the next statement surely
         * begins. */
        bool inside = s->nesting.depth > depth;
        bool here = belongs(token.kind, block) && (!inside || stands_out(s, &token, from));
        bool left = !belongs(token.kind, block) && belongs(token.kind, 0) &&
                    stands_out(s, &token, depth == 0 ? from : s->blocks[0].from);
        if (after_statement(s) && (here || left)) {
            s->nesting.depth = depth;
            if (left) {
                close_blocks(s, token);
            } else {
                queue_front(s, token);
            }
            return token_made(s, TOK_SEMICOLON);
        }
        if (token.kind == TOK_RIGHT_BRACE && s->nesting.depth == depth && depth != 0) {
            queue_front(s, token);
            return token_made(s, TOK_SEMICOLON);
        }
        if (token.kind == TOK_SEMICOLON && !inside) {
            return token;
        }
        if (token.kind == SYNTAX_BROKEN_END && !inside) {
            return token_made(s, TOK_SEMICOLON);
        }
        /* What would open a block is only a brace here: the statement is broken, so its rows are skipped
         * with it. */
        s->nesting.block_comes = false;
        token_count(s, &token);
    }
}

/* Does a statement of the file begin, with the block not closed before it? */
static bool block_is_left(const struct syntax *s, const struct token *token) {
    const size_t depth = s->nesting.block_depth;
    if (depth == 0 || s->nesting.depth != depth || !after_statement(s) || !belongs(token->kind, 0) ||
        belongs(token->kind, s->blocks[depth - 1].statement)) {
        return false;
    }
    /* A row goes on behind its braces: `flag F { A = 1 } budget calls 5;' */
    if (token->kind == TOK_BUDGET && s->last.kind == TOK_RIGHT_BRACE &&
        s->blocks[depth - 1].statement == TOK_MODULE) {
        return false;
    }
    return stands_out(s, token, s->blocks[0].from);
}

/* Does the first statement of a block begin, and no `{' before it? */
static bool brace_is_missing(const struct syntax *s, const struct token *token) {
    const int last = s->last.kind; /* behind these a word is a name */
    return s->nesting.block_comes && s->nesting.depth == s->nesting.block_depth && last != s->statement &&
           last != TOK_DOT && (s->statement == TOK_MODULE || s->statement == TOK_CHANNEL) &&
           belongs(token->kind, s->statement);
}

int pc_lex(union syntax_value *value, struct span *span, struct syntax *s) {
    struct token token;
    if (s->recovering) {
        token = skip_statement(s);
    } else {
        token = token_next(s);
        if (block_is_left(s, &token)) {
            report_unclosed(s, token.span);
            close_blocks(s, token);
            token = token_next(s);
        } else if (brace_is_missing(s, &token)) {
            diag_error(s->diag, (struct span){s->source, s->last.span.to, s->last.span.to}, P_SYNTAX,
                       "missing `{'");
            queue_front(s, token);
            token = token_made(s, TOK_LEFT_BRACE);
        }
    }
    if (token.kind == SYNTAX_BROKEN_END) {
        token.kind = TOK_PC_error;
        queue_front(s, token_made(s, TOK_SEMICOLON));
        statement_lost(s);
    } else if (token.kind == TOK_PC_error) {
        s->recovering = true;
        statement_lost(s);
    }
    token_count(s, &token);
    *value = token.value;
    *span = token.span;
    return token.kind;
}

/* May the token that did not fit be read again, behind what is put in before it?  Once: where the parser cannot take it even
 * then it would come back for ever. */
static bool give_back(struct syntax *s, const struct token *token) {
    const bool first = !s->gave_back || s->given_back_at != token->span.from;
    s->gave_back = true;
    s->given_back_at = token->span.from;
    return first;
}

void tokens_recover(struct syntax *s, bool missing) {
    struct token found = s->last;
    statement_lost(s);
    bool closes_block =
        found.kind == TOK_RIGHT_BRACE && s->nesting.block_depth < s->nesting_before.block_depth;
    bool again = (missing || closes_block) && !give_back(s, &found);
    if ((missing || closes_block) && !again) {
        /* `found` comes again behind the semicolon, and is counted then. */
        s->nesting = s->nesting_before;
        queue_front(s, found);
        queue_front(s, (struct token){.kind = TOK_SEMICOLON, .span = {s->source, s->end, s->end}});
    } else if (found.kind == TOK_RIGHT_BRACE && (again || s->nesting_before.depth == 0)) {
        /* A brace too many; what follows it is a statement of its own. */
        queue_front(s, token_made(s, TOK_SEMICOLON));
    } else {
        s->nesting.block_depth = s->nesting_before.block_depth; /* a block of a broken statement is none */
        s->recovering = found.kind != TOK_SEMICOLON;
    }
}

void tokens_recovered(struct syntax *s) { s->recovering = false; }
