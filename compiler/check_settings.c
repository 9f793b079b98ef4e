/* Opcodes, protocols and budgets of a policy and of its channels.
 *
 * Layer: pass, per channel.
 */
#include "suggest.h"
#include "units.h"

bool opcodes_named(struct text name, bool set[256]) {
    bool found = false;
    size_t family = 0;
    while (family < UPK_FAMILY_COUNT && !text_is(name, family_words[family])) {
        family++;
    }
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        if (opcode_words[i].family == family || text_is(name, opcode_words[i].name)) {
            set[opcode_words[i].byte] = true;
            found = true;
        }
    }
    return found;
}

bool settings_allow(const struct settings *s, enum upk_op op) {
    const struct opcode_word *o = opcode_word(op);
    return s->opcodes[o->byte] && o->protocol <= s->protocol_max;
}

void settings_default(struct settings *s) {
    *s = (struct settings){.protocol_min = 0, .protocol_max = 5};
    (void)opcodes_named((struct text){"core", 4}, s->opcodes);
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        s->budgets[i] = budget_words[i].standard;
    }
}

void opcode_unknown(struct compilation *c, const struct ast_word *word) {
    diag_error(c->diag, word->span, P_UNKNOWN_OPCODE, "`%s' is neither an opcode nor a family of opcodes",
               diag_quote(c->diag, word->text));
    struct suggestion near = suggestion_begin(word->text);
    for (size_t i = 0; i < UPK_FAMILY_COUNT; i++) {
        suggestion_offer(&near, text_of(family_words[i]));
    }
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        suggestion_offer(&near, text_of(opcode_words[i].name));
    }
    if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
    } else {
        struct phrase families = {.len = 0};
        for (size_t i = 0; i < UPK_FAMILY_COUNT; i++) {
            phrase_separate(&families, i, UPK_FAMILY_COUNT, " and ");
            phrase_add(&families, "%s", family_words[i]);
        }
        diag_hint(c->diag, "families are %s; opcodes are named as in pickletools", families.text);
    }
}

static bool names_ext(const bool set[256]) {
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        if (opcode_words[i].family == UPK_FAMILY_EXT && set[opcode_words[i].byte]) {
            return true;
        }
    }
    return false;
}

/* After an error about a channel: the place in the policy that it is held against. */
static void note_outer(struct compilation *c, const struct ast_node *at) {
    if (at != NULL) {
        diag_note(c->diag, at->span, "the policy sets it here");
    }
}

static void opcodes_read(struct compilation *c, const struct ast_item *item, const struct settings *outer,
                         struct settings *s) {
    bool set[256] = {false}, except[256] = {false};
    bool good = true;
    s->opcodes_at = &item->node;
    for (const struct ast_node *n = item->except.first; n != NULL; n = n->next) {
        const struct ast_word *word = &((const struct ast_name_node *)n)->name;
        if (!opcodes_named(word->text, except)) {
            opcode_unknown(c, word);
            good = false;
        }
    }
    for (const struct ast_node *n = item->names.first; n != NULL; n = n->next) {
        const struct ast_word *word = &((const struct ast_name_node *)n)->name;
        bool named[256] = {false};
        if (!opcodes_named(word->text, named)) {
            opcode_unknown(c, word);
            good = false;
            continue;
        }
        if (names_ext(named)) {
            diag_error(c->diag, word->span, P_NOTHING_ALLOWED, "a policy never allows the extension opcodes");
            diag_hint(c->diag, "what a code of the extension registry means is not in the stream");
            good = false;
        }
        bool wider = false;
        for (size_t i = 0; i < 256; i++) {
            set[i] = set[i] || named[i];
            wider = wider || (outer != NULL && named[i] && !except[i] && !outer->opcodes[i]);
        }
        if (wider && !c->opcodes_unknown) {
            diag_error(c->diag, word->span, P_WIDENED,
                       "the policy does not allow `%s', and a channel only narrows",
                       diag_quote(c->diag, word->text));
            note_outer(c, outer->opcodes_at);
            good = false;
        }
    }
    if (!good) {
        c->opcodes_unknown = true;
        return;
    }
    for (size_t i = 0; i < 256; i++) {
        s->opcodes[i] = set[i] && !except[i];
    }
    if (!s->opcodes['.']) {
        diag_error(c->diag, item->node.span, P_NOTHING_ALLOWED, "without STOP no stream is ever accepted");
        c->opcodes_unknown = true;
    }
}

static void protocol_read(struct compilation *c, const struct ast_item *item, const struct settings *outer,
                          struct settings *s) {
    uint64_t ends[2] = {0, 0};
    const struct ast_number *given[2] = {&item->low, &item->high};
    for (size_t i = 0; i < 2; i++) {
        if (given[i]->bad) {
            return;
        }
        if (given[i]->unit || !number_is_natural(given[i], 5, &ends[i])) {
            diag_error(c->diag, given[i]->span, P_BAD_PROTOCOL, "protocols are 0 to 5");
            return;
        }
    }
    if (ends[0] > ends[1]) {
        diag_error(c->diag, item->node.span, P_BAD_PROTOCOL, "the range of protocols is empty");
        return;
    }
    if (outer != NULL && (ends[0] < outer->protocol_min || ends[1] > outer->protocol_max)) {
        diag_error(c->diag, item->node.span, P_WIDENED,
                   "the policy's protocols are %lu..%lu, and a channel only narrows",
                   (unsigned long)outer->protocol_min, (unsigned long)outer->protocol_max);
        note_outer(c, outer->protocol_at);
        return;
    }
    s->protocol_at = &item->node;
    s->protocol_min = (uint32_t)ends[0];
    s->protocol_max = (uint32_t)ends[1];
}

static void budget_unknown(struct compilation *c, const struct ast_word *word) {
    diag_error(c->diag, word->span, P_UNKNOWN_BUDGET, "there is no budget `%s'",
               diag_quote(c->diag, word->text));
    struct suggestion near = suggestion_begin(word->text);
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        suggestion_offer(&near, text_of(budget_words[i].word));
    }
    if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
        return;
    }
    struct phrase words = {.len = 0};
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        phrase_separate(&words, i, UPK_BUDGET_COUNT, " and ");
        phrase_add(&words, "%s", budget_words[i].word);
    }
    diag_hint(c->diag, "budgets are %s", words.text);
}

static void limit_read(struct compilation *c, const struct ast_limit *limit, const struct settings *outer,
                       const struct ast_limit *seen[UPK_BUDGET_COUNT], struct settings *s) {
    size_t b = 0;
    while (b < UPK_BUDGET_COUNT && !text_is(limit->name.text, budget_words[b].word)) {
        b++;
    }
    if (b == UPK_BUDGET_COUNT) {
        budget_unknown(c, &limit->name);
        return;
    }
    if (seen[b] != NULL) {
        diag_error(c->diag, limit->node.span, P_DUPLICATE_SETTING, "budget `%s' is set twice",
                   budget_words[b].word);
        diag_note(c->diag, seen[b]->node.span, "first set here");
        return;
    }
    seen[b] = limit;
    uint64_t value = 0;
    s->budgets_at[b] = limit;
    s->budgets_bad[b] = true;
    if (outer == NULL) {
        /* Where the value turns out to be a mistake, no channel and no row is held against the default. */
        s->budgets[b] = budget_words[b].most;
    }
    if (limit->number.bad) {
        return;
    }
    if (limit->number.unit && !budget_counts_bytes((enum upk_budget)b)) {
        diag_error(c->diag, limit->number.span, P_BAD_UNIT, "budget `%s' counts %s, no bytes",
                   budget_words[b].word, budget_words[b].unit);
        diag_hint(c->diag, "write the number out: `_' may group its digits");
        return;
    }
    if (!number_is_natural(&limit->number, budget_words[b].most, &value)) {
        diag_error(c->diag, limit->number.span, P_BUDGET_TOO_LARGE, "budget `%s' is a number from 0 to %llu",
                   budget_words[b].word, (unsigned long long)budget_words[b].most);
        return;
    }
    if (outer != NULL && value > outer->budgets[b]) {
        diag_error(c->diag, limit->number.span, P_WIDENED,
                   "the policy's budget `%s' is %llu, and a channel only narrows", budget_words[b].word,
                   (unsigned long long)outer->budgets[b]);
        note_outer(c, outer->budgets_at[b] == NULL ? NULL : &outer->budgets_at[b]->node);
        return;
    }
    s->budgets[b] = value;
    s->budgets_bad[b] = false;
}

void settings_read(struct compilation *c, const struct ast_list *items, const struct settings *outer,
                   struct settings *s) {
    const struct ast_limit *limits[UPK_BUDGET_COUNT] = {NULL};
    const struct ast_item *first[AST_ITEM_KINDS] = {NULL};
    for (const struct ast_node *n = items->first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        bool once = item->kind == AST_OPCODES || item->kind == AST_PROTOCOL || item->kind == AST_ROOT ||
                    item->kind == AST_FAIL_OPEN;
        if (once && first[item->kind] != NULL) {
            diag_error(c->diag, item->node.span, P_DUPLICATE_SETTING, "`%s' is given twice",
                       diag_quote(c->diag, item->keyword.text));
            diag_note(c->diag, first[item->kind]->node.span, "first given here");
            continue;
        }
        first[item->kind] = item;
        if (item->kind == AST_OPCODES) {
            opcodes_read(c, item, outer, s);
        } else if (item->kind == AST_PROTOCOL) {
            protocol_read(c, item, outer, s);
        } else if (item->kind == AST_BUDGET) {
            for (const struct ast_node *l = item->parts.first; l != NULL; l = l->next) {
                limit_read(c, (const struct ast_limit *)l, outer, limits, s);
            }
        }
    }
}
