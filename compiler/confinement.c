/* The `confinement` block: where a child may run unconfined, what it may use, and whether it has a network.
 *
 * Layer: pass, with environment.c.
 */
#include "list_child.h"
#include "suggest.h"
#include "units.h"

static void budget_unknown(struct compilation *c, const struct ast_word *word) {
    struct suggestion near = suggestion_begin(word->text);
    struct phrase words = {.len = 0};
    for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) {
        suggestion_offer(&near, text_of(child_budgets[i].word));
        phrase_separate(&words, i, UPK_RUN_BUDGET_COUNT, " and ");
        phrase_add(&words, "%s", child_budgets[i].word);
    }
    diag_error(c->diag, word->span, P_UNKNOWN_BUDGET, "a child has no budget `%s'",
               diag_quote(c->diag, word->text));
    if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
    } else {
        diag_hint(c->diag, "budgets of a child are %s", words.text);
    }
}

static void limit_read(struct compilation *c, const struct ast_limit *limit, const struct ast_limit **seen,
                       struct model_confinement *m) {
    size_t b = 0;
    while (b < UPK_RUN_BUDGET_COUNT && !text_is(limit->name.text, child_budgets[b].word)) b++;
    if (b == UPK_RUN_BUDGET_COUNT) {
        budget_unknown(c, &limit->name);
        return;
    }
    if (seen[b]) {
        diag_error(c->diag, limit->node.span, P_DUPLICATE_SETTING, "budget `%s' is set twice",
                   child_budgets[b].word);
        diag_note(c->diag, seen[b]->node.span, "first set here");
        return;
    }
    seen[b] = limit;
    if (limit->number.bad) return;
    if (limit->number.unit && b != UPK_RUN_BUDGET_MEMORY) {
        diag_error(c->diag, limit->number.span, P_BAD_UNIT, "budget `%s' counts %s, no bytes",
                   child_budgets[b].word, child_budgets[b].unit);
        diag_hint(c->diag, "write the number out: `_' may group its digits");
        return;
    }
    uint64_t value;
    if (!number_is_natural(&limit->number, child_budgets[b].most, &value) || value == 0) {
        diag_error(c->diag, limit->number.span, P_BUDGET_TOO_LARGE, "budget `%s' is a number from 1 to %llu",
                   child_budgets[b].word, (unsigned long long)child_budgets[b].most);
        return;
    }
    m->budgets[b] = value;
}

static void line_read(struct compilation *c, const struct ast_line *line, struct model_confinement *m) {
    const bool opt_in = text_is(line->word.text, "opt_in");
    if (line->kind == AST_LINE_LINUX) m->on_linux = opt_in ? UPK_CONFINE_OPT_IN : UPK_CONFINE_REQUIRE;
    if (line->kind == AST_LINE_MACOS) m->on_macos = opt_in ? UPK_CONFINE_OPT_IN : UPK_CONFINE_REQUIRE;
    if (line->kind != AST_LINE_NETWORK || line->because.bad) return;
    if (line->because.text.len == 0) {
        diag_error(c->diag, line->because.span, P_NEEDS_BECAUSE, "the reason is empty");
        return;
    }
    m->network = true;
    m->network_because = line->because.text;
}

void confinement_read(struct compilation *c) {
    const struct ast_item *const item = block_find(c, AST_CONFINEMENT);
    const struct ast_line *lines[AST_LINE_KINDS] = {NULL};
    const struct ast_limit *limits[UPK_RUN_BUDGET_COUNT] = {NULL};
    struct model_confinement *const m = item ? mem_alloc(c->mem, 1, sizeof *m) : NULL;
    if (!m) return;
    m->file = unit_main(c)->index;
    m->line = source_line_at(&c->diag->sources[item->node.span.file], item->node.span.from);
    for (size_t i = 0; i < UPK_RUN_BUDGET_COUNT; i++) m->budgets[i] = child_budgets[i].standard;
    for (const struct ast_node *n = item->parts.first; n; n = n->next) {
        const struct ast_line *const line = (const struct ast_line *)n;
        for (const struct ast_node *l = line->kind == AST_LINE_BUDGET ? line->names.first : NULL; l;
             l = l->next) {
            limit_read(c, (const struct ast_limit *)l, limits, m);
        }
        if (line->kind != AST_LINE_BUDGET && lines[line->kind]) {
            diag_error(c->diag, n->span, P_DUPLICATE_SETTING, "`%s' is given twice",
                       diag_quote(c->diag, line->keyword.text));
            diag_note(c->diag, lines[line->kind]->node.span, "first given here");
            continue;
        }
        lines[line->kind] = line;
        line_read(c, line, m);
    }
    c->compiled->confinement = m;
}
