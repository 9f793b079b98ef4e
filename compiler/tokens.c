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

/* Keywords that begin any statement. */
bool tokens_begin_statement(int kind) {
    switch (kind) {
    case TOK_OPCODES:
    case TOK_PROTOCOL:
    case TOK_BUDGET:
    case TOK_NEVER:
    case TOK_USE:
    case TOK_ROOT:
    case TOK_CLASS:
    case TOK_FUNC:
    case TOK_CONST:
    case TOK_SUBCLASSES:
    case TOK_DATACLASS:
    case TOK_NAMEDTUPLE:
    case TOK_ENUM:
    case TOK_FLAG:
    case TOK_EXCEPTION:
    case TOK_PYDANTIC:
    case TOK_FAIL_OPEN: return true;
    default: return begins_item(kind);
    }
}

static bool opens_block(int kind) {
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

/* Counts braces; `token` becomes the one read last. */
static void token_count(struct syntax *s, struct token *token) {
    bool begins = after_statement(s);
    s->nesting_before = s->nesting;
    if (token->kind == TOK_LEFT_BRACE) {
        if (s->nesting.block_comes && s->nesting.depth == s->nesting.block_depth &&
            s->nesting.block_depth < SYNTAX_BLOCKS) {
            s->blocks[s->nesting.block_depth++] = token->span;
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
    if (begins && s->nesting.depth == s->nesting.block_depth && opens_block(token->kind)) {
        s->nesting.block_comes = true;
    }
    if (begins) {
        s->statement = token->kind;
    }
    s->end = s->last.span.to;
    s->last = *token;
}

static void report_unclosed(struct syntax *s, struct span at) {
    diag_error(
        s->diag, (struct span){s->source, s->last.span.to, s->last.span.to}, P_SYNTAX,
        "expected `}' before `%s'",
        diag_quote(s->diag, (struct text){s->diag->sources[s->source].bytes.at + at.from, at.to - at.from}));
    diag_note(s->diag, s->blocks[s->nesting.block_depth - 1], "this `{' is not closed");
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
    s->recovering = false;
    s->nesting.block_comes = false;
    for (;;) {
        struct token token = token_next(s);
        if (token.kind == TOK_EOF) {
            return token;
        }
        /* Braces of the statement that are not closed are taken as closed where the next statement surely
         * begins. */
        if (after_statement(s) &&
            (depth == 0 ? begins_item(token.kind) : tokens_begin_statement(token.kind))) {
            s->nesting.depth = depth;
            if (depth != 0 && begins_item(token.kind)) {
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
        if (token.kind == TOK_SEMICOLON && s->nesting.depth <= depth) {
            return token;
        }
        /* What would open a block is only a brace here: the statement is broken, so its rows are skipped
         * with it. */
        s->nesting.block_comes = false;
        token_count(s, &token);
    }
}

int pc_lex(union syntax_value *value, struct span *span, struct syntax *s) {
    struct token token;
    if (s->recovering) {
        token = skip_statement(s);
    } else {
        token = token_next(s);
        if (s->nesting.block_depth != 0 && s->nesting.depth == s->nesting.block_depth && after_statement(s) &&
            begins_item(token.kind)) {
            report_unclosed(s, token.span);
            close_blocks(s, token);
            token = token_next(s);
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

void tokens_recover(struct syntax *s, bool missing) {
    struct token found = s->last;
    statement_lost(s);
    bool closes_block =
        found.kind == TOK_RIGHT_BRACE && s->nesting.block_depth < s->nesting_before.block_depth;
    if (missing || closes_block) {
        /* `found` comes again behind the semicolon, and is counted then. */
        s->nesting = s->nesting_before;
        queue_front(s, found);
        queue_front(s, (struct token){.kind = TOK_SEMICOLON, .span = {s->source, s->end, s->end}});
    } else if (found.kind == TOK_RIGHT_BRACE && s->nesting_before.depth == 0) {
        /* A brace too many; what follows it is a statement of its own. */
        queue_front(s, token_made(s, TOK_SEMICOLON));
    } else {
        s->nesting.block_depth = s->nesting_before.block_depth; /* a block of a broken statement is none */
        s->recovering = found.kind != TOK_SEMICOLON;
    }
}

void tokens_recovered(struct syntax *s) { s->recovering = false; }
