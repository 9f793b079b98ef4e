/* Budgets that are written down and that nothing ever reaches: each reads as a limit that is not there.
 *
 * A line is dead where no stream that the channel accepts could spend more than it allows: no allowed opcode spends it,
 * nothing is granted that does, or another budget always ends the stream before.  0 is never dead: it says what is so.
 * A line of the policy is dead where it is so in every channel that it holds for.
 *
 * Layer: pass, after the channels.
 */
#include "units.h"

/* What an opcode can spend of a budget in one go (of memo: in all); source: pickletools, and runtime/loop.c for which opcode
 * counts where.  Where it is not in the list, it spends nothing. */
static const struct spending {
    enum upk_budget budget;
    enum upk_op op;
    uint64_t most;
} spendings[] = {
#define ENDLESS UINT64_MAX
    {UPK_BUDGET_MEMO, UPK_OP_PUT, ENDLESS},
    {UPK_BUDGET_MEMO, UPK_OP_MEMOIZE, ENDLESS},
    {UPK_BUDGET_MEMO, UPK_OP_LONG_BINPUT, ENDLESS},
    {UPK_BUDGET_MEMO, UPK_OP_BINPUT, 256},
    {UPK_BUDGET_MARKS, UPK_OP_MARK, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_APPEND, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_APPENDS, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_TUPLE1, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_TUPLE2, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_TUPLE3, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_TUPLE, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_LIST, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_DICT, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_SETITEM, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_SETITEMS, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_ADDITEMS, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_FROZENSET, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_REDUCE, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_NEWOBJ, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_NEWOBJ_EX, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_INST, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_OBJ, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_PERSID, ENDLESS},
    {UPK_BUDGET_DEPTH, UPK_OP_BINPERSID, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_APPEND, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_APPENDS, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_TUPLE, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_TUPLE1, 1},
    {UPK_BUDGET_ITEMS, UPK_OP_TUPLE2, 2},
    {UPK_BUDGET_ITEMS, UPK_OP_TUPLE3, 3},
    {UPK_BUDGET_ITEMS, UPK_OP_LIST, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_DICT, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_SETITEM, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_SETITEMS, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_ADDITEMS, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_FROZENSET, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_INST, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_OBJ, ENDLESS},
    {UPK_BUDGET_ITEMS, UPK_OP_PERSID, 1},
    {UPK_BUDGET_ITEMS, UPK_OP_BINPERSID, 1},
    {UPK_BUDGET_STRING, UPK_OP_UNICODE, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_BINUNICODE, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_BINUNICODE8, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_SHORT_BINUNICODE, 255},
    {UPK_BUDGET_STRING, UPK_OP_BINBYTES, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_BINBYTES8, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_SHORT_BINBYTES, 255},
    {UPK_BUDGET_STRING, UPK_OP_BYTEARRAY8, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_STRING, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_BINSTRING, ENDLESS},
    {UPK_BUDGET_STRING, UPK_OP_SHORT_BINSTRING, 255},
    {UPK_BUDGET_STRING, UPK_OP_PERSID, ENDLESS},
    {UPK_BUDGET_DIGITS, UPK_OP_INT, ENDLESS},
    {UPK_BUDGET_DIGITS, UPK_OP_LONG, ENDLESS},
    {UPK_BUDGET_DIGITS, UPK_OP_FLOAT, ENDLESS},
    {UPK_BUDGET_DIGITS, UPK_OP_GET, ENDLESS}, /* keys of the memo are decimal numbers, too */
    {UPK_BUDGET_DIGITS, UPK_OP_PUT, ENDLESS},
    {UPK_BUDGET_LONG, UPK_OP_LONG4, ENDLESS},
    {UPK_BUDGET_LONG, UPK_OP_LONG1, 255},
    {UPK_BUDGET_CALLS, UPK_OP_REDUCE, ENDLESS},
    {UPK_BUDGET_CALLS, UPK_OP_NEWOBJ, ENDLESS},
    {UPK_BUDGET_CALLS, UPK_OP_NEWOBJ_EX, ENDLESS},
    {UPK_BUDGET_CALLS, UPK_OP_INST, ENDLESS},
    {UPK_BUDGET_CALLS, UPK_OP_OBJ, ENDLESS},
    {UPK_BUDGET_NAMES, UPK_OP_GLOBAL, ENDLESS},
    {UPK_BUDGET_NAMES, UPK_OP_STACK_GLOBAL, ENDLESS},
    {UPK_BUDGET_NAMES, UPK_OP_INST, ENDLESS},
    {UPK_BUDGET_NAME, UPK_OP_GLOBAL, ENDLESS},
    {UPK_BUDGET_NAME, UPK_OP_STACK_GLOBAL, ENDLESS},
    {UPK_BUDGET_NAME, UPK_OP_INST, ENDLESS},
#undef ENDLESS
};
enum { SPENDING_COUNT = sizeof spendings / sizeof spendings[0] };

/* What is spent by parts of the stream, or by its opcodes, ends with them. */
static const struct {
    enum upk_budget budget, within;
    const char *why;
} bounds[] = {
    {UPK_BUDGET_STRING, UPK_BUDGET_BYTES, "a string is a part of the input"},
    {UPK_BUDGET_DIGITS, UPK_BUDGET_BYTES, "a number is a part of the input"},
    {UPK_BUDGET_LONG, UPK_BUDGET_BYTES, "a number is a part of the input"},
    {UPK_BUDGET_OPCODES, UPK_BUDGET_BYTES, "an opcode is a byte of the input"},
    {UPK_BUDGET_MEMO, UPK_BUDGET_OPCODES, "each entry takes an opcode"},
    {UPK_BUDGET_MEMO, UPK_BUDGET_BYTES, "each entry takes an opcode of the input"},
    {UPK_BUDGET_MARKS, UPK_BUDGET_OPCODES, "each mark is an opcode"},
    {UPK_BUDGET_MARKS, UPK_BUDGET_BYTES, "each mark is a byte of the input"},
    {UPK_BUDGET_DEPTH, UPK_BUDGET_OPCODES, "each level takes an opcode"},
    {UPK_BUDGET_DEPTH, UPK_BUDGET_BYTES, "each level takes an opcode of the input"},
    {UPK_BUDGET_NAME, UPK_BUDGET_BYTES, "a name is a part of the input"},
    {UPK_BUDGET_NODES, UPK_BUDGET_OPCODES, "each value takes an opcode"},
    {UPK_BUDGET_NODES, UPK_BUDGET_BYTES, "each value takes an opcode of the input"},
    {UPK_BUDGET_ITEMS, UPK_BUDGET_OPCODES, "each member takes an opcode"},
    {UPK_BUDGET_ITEMS, UPK_BUDGET_BYTES, "each member takes an opcode of the input"},
    {UPK_BUDGET_CALLS, UPK_BUDGET_OPCODES, "each call takes an opcode"},
    {UPK_BUDGET_CALLS, UPK_BUDGET_BYTES, "each call takes an opcode of the input"},
    {UPK_BUDGET_NAMES, UPK_BUDGET_OPCODES, "each name takes an opcode"},
    {UPK_BUDGET_NAMES, UPK_BUDGET_BYTES, "each name takes an opcode of the input"},
};

/* Why a budget is dead in a channel. */
struct death {
    enum { ALIVE, NO_OPCODE, SHORT_OPCODES, NO_GRANT, BOUNDED } kind;
    enum upk_budget within; /* BOUNDED */
    const char *why;
    uint64_t most; /* SHORT_OPCODES */
};

bool budget_is_spent(enum upk_budget b) {
    for (size_t i = 0; i < SPENDING_COUNT; i++) {
        if (spendings[i].budget == b) {
            return true;
        }
    }
    return false;
}

uint64_t budget_spending(enum upk_budget b, enum upk_op op) {
    for (size_t i = 0; i < SPENDING_COUNT; i++) {
        if (spendings[i].budget == b && spendings[i].op == op) {
            return spendings[i].most;
        }
    }
    return 0;
}

bool budget_is_within(enum upk_budget b, enum upk_budget within) {
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (bounds[i].budget == b && bounds[i].within == within) {
            return true;
        }
    }
    return false;
}

static uint64_t most_spent(const struct settings *s, enum upk_budget b) {
    uint64_t most = 0;
    for (size_t i = 0; i < SPENDING_COUNT; i++) {
        if (spendings[i].budget == b && spendings[i].most > most && settings_allow(s, spendings[i].op)) {
            most = spendings[i].most;
        }
    }
    return most;
}

static struct death death_of(const struct settings *s, enum upk_budget b) {
    const uint64_t value = s->budgets[b];
    struct death d = {.kind = ALIVE};
    if (value == 0) {
        return d;
    }
    if (budget_is_spent(b)) {
        d.most = most_spent(s, b);
        /* A value that holds nothing is a level deep. */
        if (d.most == 0 && (b != UPK_BUDGET_DEPTH || value > 1)) {
            d.kind = NO_OPCODE;
            return d;
        }
        if (d.most != 0 && value > d.most) {
            d.kind = SHORT_OPCODES;
            return d;
        }
    }
    /* Without any row, REDUCE still calls what only spells plain values (`_codecs.encode'). */
    const bool named = b == UPK_BUDGET_CALLS || b == UPK_BUDGET_NAMES || b == UPK_BUDGET_NAME;
    const bool granted = b == UPK_BUDGET_CALLS ? s->makes : s->grants;
    if (named && (most_spent(s, UPK_BUDGET_NAMES) == 0 || (!granted && !settings_allow(s, UPK_OP_REDUCE)))) {
        d.kind = NO_GRANT;
        return d;
    }
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const enum upk_budget within = bounds[i].within;
        if (bounds[i].budget == b && !s->budgets_bad[within] && value > s->budgets[within]) {
            d.kind = BOUNDED;
            d.within = within;
            d.why = bounds[i].why;
            return d;
        }
    }
    return d;
}

/* The line that decides which opcodes are read; of the protocols where a later one would have the opcode. */
static const struct ast_node *opcodes_place(const struct settings *s, enum upk_budget b) {
    struct settings every = *s;
    every.protocol_max = 5;
    return most_spent(&every, b) > most_spent(s, b) ? s->protocol_at : s->opcodes_at;
}

static void hint_opcodes(struct compilation *c, const struct settings *s, enum upk_budget b) {
    enum { MOST_NAMED = 4 };
    const char *found[MOST_NAMED];
    struct phrase names = {.len = 0};
    size_t count = 0;
    const uint64_t most = most_spent(s, b);
    for (size_t i = 0; i < SPENDING_COUNT && count < MOST_NAMED; i++) {
        if (spendings[i].budget == b && spendings[i].most > most) {
            found[count++] = opcode_word(spendings[i].op)->name;
        }
    }
    for (size_t i = 0; i < count; i++) {
        phrase_separate(&names, i, count, " or ");
        phrase_add(&names, "%s", found[i]);
    }
    diag_hint(c->diag, "drop it, or allow what spends it, such as %s", names.text);
}

static void report(struct compilation *c, const struct settings *s, enum upk_budget b, struct death d) {
    const struct ast_limit *limit = s->budgets_at[b];
    const char *word = diag_quote(c->diag, limit->name.text);
    const struct ast_node *at = NULL;
    switch (d.kind) {
    case ALIVE: break;
    case NO_OPCODE:
        at = opcodes_place(s, b);
        diag_error(c->diag, limit->node.span, P_DEAD_BUDGET,
                   "budget `%s' is never reached: no allowed opcode spends it", word);
        break;
    case SHORT_OPCODES:
        at = opcodes_place(s, b);
        diag_error(c->diag, limit->node.span, P_DEAD_BUDGET,
                   "budget `%s' is never reached: the allowed opcodes spend at most %llu", word,
                   (unsigned long long)d.most);
        break;
    case NO_GRANT:
        at = s->opcodes_at;
        diag_error(c->diag, limit->node.span, P_DEAD_BUDGET,
                   "budget `%s' is never reached: nothing is granted that spends it", word);
        break;
    case BOUNDED:
        at = s->budgets_at[d.within] == NULL ? NULL : &s->budgets_at[d.within]->node;
        diag_error(c->diag, limit->node.span, P_DEAD_BUDGET,
                   "budget `%s' is never reached: budget `%s' is %llu%s", word, budget_words[d.within].word,
                   (unsigned long long)s->budgets[d.within], at == NULL ? " by default" : "");
        break;
    }
    if (at != NULL) {
        diag_note(c->diag, at->span, d.kind == BOUNDED ? "set here" : "what is allowed here");
    }
    if (d.kind == BOUNDED) {
        diag_hint(c->diag, "%s", d.why);
    } else if (d.kind == NO_GRANT) {
        diag_hint(c->diag, "drop it, or say 0");
    } else {
        hint_opcodes(c, s, b);
    }
}

/* One line, in all channels. */
static void limit_check(struct compilation *c, const struct settings *own, const struct settings *channels,
                        size_t count, enum upk_budget b, const struct settings *from) {
    const struct ast_limit *limit = from->budgets_at[b];
    const struct settings *in = NULL;
    struct death first = {.kind = ALIVE};
    if (b == UPK_BUDGET_DIGITS && checks_count_digits(c)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (from == own && channels[i].budgets_bad[b]) {
            return; /* the policy's holds where the channel's was refused */
        }
        if (channels[i].budgets_at[b] != limit) {
            continue;
        }
        const struct death d = death_of(&channels[i], b);
        if (d.kind == ALIVE) {
            return;
        }
        if (in == NULL) {
            in = &channels[i];
            first = d;
        }
    }
    if (in != NULL) {
        report(c, in, b, first);
    } else if (from == own && count != 0) {
        diag_error(c->diag, limit->node.span, P_DEAD_BUDGET,
                   "budget `%s' holds nowhere: every channel sets its own",
                   diag_quote(c->diag, limit->name.text));
        diag_note(c->diag, channels[0].budgets_at[b]->node.span, "as here");
        diag_hint(c->diag, "drop it here, or there where it shall hold");
    }
}

/* Budgets of rows: those of this file; a fragment is written for more policies than this one. */
static void rows_check(struct compilation *c, const struct settings *channels, size_t count) {
    const struct unit *main = unit_main(c);
    bool used = false;
    for (size_t i = 0; i < count; i++) {
        used = used || channels[i].uses_main;
    }
    for (size_t i = 0; i < c->row_count; i++) {
        const struct row_def *def = c->rows[i];
        const struct settings *tight = NULL;
        bool alive = false;
        for (size_t k = 0; k < count; k++) {
            if (channels[k].uses_main) {
                const bool dead = def->row.calls > channels[k].budgets[UPK_BUDGET_CALLS];
                alive = alive || !dead || channels[k].budgets_bad[UPK_BUDGET_CALLS];
                tight = dead && tight == NULL ? &channels[k] : tight;
            }
        }
        if (def->unit != main || def->owner != NULL || def->row.calls == 0 || def->refused || alive) {
            continue;
        }
        if (!used) {
            diag_error(c->diag, def->span, P_DEAD_BUDGET,
                       "the row's budget `calls' is never reached: no channel uses the policy's own rows");
            diag_hint(c->diag, "a channel uses them by: use %s;", diag_quote(c->diag, main->file.name.text));
        } else {
            const struct ast_limit *at = tight->budgets_at[UPK_BUDGET_CALLS];
            diag_error(c->diag, def->span, P_DEAD_BUDGET,
                       "the row's budget `calls' is never reached: all rows together have %llu%s",
                       (unsigned long long)tight->budgets[UPK_BUDGET_CALLS], at == NULL ? " by default" : "");
            if (at != NULL) {
                diag_note(c->diag, at->node.span, "set here");
            }
        }
    }
}

void budgets_check(struct compilation *c, const struct settings *own, const struct settings *channels,
                   size_t count) {
    if (c->opcodes_unknown || c->files_lost || c->rows_lost || unit_main(c)->file.items_lost) {
        return;
    }
    for (enum upk_budget b = 0; b < UPK_BUDGET_COUNT; b++) {
        if (own->budgets_at[b] != NULL && !own->budgets_bad[b]) {
            limit_check(c, own, channels, count, b, own);
        }
        for (size_t i = 0; i < count; i++) {
            if (channels[i].budgets_at[b] != own->budgets_at[b] && !channels[i].budgets_bad[b]) {
                limit_check(c, own, channels, count, b, &channels[i]);
            }
        }
    }
    rows_check(c, channels, count);
}
