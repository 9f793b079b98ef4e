/* Rows of modules: what each name may be made by.  Types are converted, clauses and steps are checked for
 * themselves; what rows mean for each other is for check_channel.
 *
 * Layer: pass, after the types of the file are defined.
 */
#include <stdlib.h>

#include "names.h"
#include "suggest.h"
#include "units.h"

static void runs_read(struct compilation *c, const struct ast_clause *clause, struct model_form *form) {
    for (const struct ast_node *n = clause->runs.first; n != NULL; n = n->next) {
        const struct ast_word *word = &((const struct ast_name_node *)n)->name;
        struct suggestion near = suggestion_begin(word->text);
        size_t hook = 0;
        while (hook < HOOK_COUNT && !text_is(word->text, hook_words[hook].word)) {
            suggestion_offer(&near, text_of(hook_words[hook].word));
            hook++;
        }
        if (hook == HOOK_COUNT) {
            diag_error(c->diag, word->span, P_UNKNOWN_HOOK, "`%s' is no hook that a row can name",
                       diag_quote(c->diag, word->text));
            if (suggestion_found(&near)) {
                diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
            } else {
                struct phrase words = {.len = 0};
                for (size_t i = 0; i < HOOK_COUNT; i++) {
                    phrase_separate(&words, i, HOOK_COUNT, " and ");
                    phrase_add(&words, "%s", hook_words[i].word);
                }
                diag_hint(c->diag, "hooks are %s", words.text);
            }
        } else if (form->flags & hook_words[hook].flag) {
            diag_error(c->diag, word->span, P_DUPLICATE_SETTING, "hook `%s' is named twice",
                       hook_words[hook].word);
        } else {
            form->flags |= hook_words[hook].flag;
        }
    }
}

static const char *clause_name(enum ast_clause_kind kind) {
    switch (kind) {
    case AST_BECAUSE: return "because";
    case AST_CHECK: return "check";
    case AST_RUNS: return "runs";
    case AST_CALLS: return "budget calls";
    }
    return "";
}

static bool makes(enum ast_verb verb) { return verb == AST_CALL || verb == AST_NEW || verb == AST_FUNC; }

static void calls_read(struct compilation *c, const struct ast_clause *clause, struct model_row *row) {
    uint64_t calls = 0;
    if (!text_is(clause->word.text, "calls")) {
        diag_error(c->diag, clause->word.span, P_UNKNOWN_BUDGET, "a row has the budget `calls' only");
        return;
    }
    if (clause->number.bad) {
        return;
    }
    if (clause->number.unit) {
        diag_error(c->diag, clause->number.span, P_BAD_UNIT,
                   "KiB, MiB and GiB count bytes; here is nothing of bytes");
    } else if (!number_is_natural(&clause->number, UINT32_MAX - 1, &calls)) {
        diag_error(c->diag, clause->number.span, P_BUDGET_TOO_LARGE, "`calls' is at most %lu",
                   (unsigned long)UINT32_MAX - 1);
    } else if (calls == 0) {
        diag_error(c->diag, clause->number.span, P_BAD_RANGE, "a row that may never be called is no grant");
    } else {
        row->calls = (uint32_t)calls;
    }
}

void clauses_read(struct compilation *c, const struct ast_maker *maker, struct model_form *form,
                  struct model_row *row) {
    const struct ast_clause *seen[AST_CALLS + 1] = {NULL};
    for (const struct ast_node *n = maker->clauses.first; n != NULL; n = n->next) {
        const struct ast_clause *clause = (const struct ast_clause *)n;
        if (seen[clause->kind] != NULL) {
            diag_error(c->diag, clause->node.span, P_DUPLICATE_SETTING, "`%s' is given twice",
                       clause_name(clause->kind));
            diag_note(c->diag, seen[clause->kind]->node.span, "first given here");
            continue;
        }
        seen[clause->kind] = clause;
        if (clause->kind != AST_BECAUSE && !makes(maker->verb) && maker->verb != AST_NO_VERB) {
            diag_error(c->diag, clause->node.span, P_STEPS_NOT_ALLOWED,
                       "nothing is made here, so `%s' has no meaning", clause_name(clause->kind));
            continue;
        }
        switch (clause->kind) {
        case AST_BECAUSE:
            form->because = clause->word.text;
            if (clause->word.text.len == 0 && !clause->word.bad) {
                diag_error(c->diag, clause->word.span, P_NEEDS_BECAUSE, "a reason is not empty");
            }
            break;
        case AST_CHECK:
            if (form->args != NULL) {
                check_read(c, &clause->word, &maker->args, form);
            }
            break;
        case AST_RUNS: runs_read(c, clause, form); break;
        case AST_CALLS:
            if (row->calls != 0) {
                diag_error(c->diag, clause->node.span, P_DUPLICATE_SETTING,
                           "`budget calls' holds for the whole row: it is given twice");
            } else {
                calls_read(c, clause, row);
            }
            break;
        }
    }
}

static const char *step_name(enum ast_step_kind kind) {
    switch (kind) {
    case AST_STATE:
    case AST_STATE_OPTIONAL: return "state";
    case AST_ITEMS: return "items";
    case AST_PAIRS: return "pairs";
    case AST_ADDS: return "adds";
    }
    return "";
}

static void steps_read(struct compilation *c, struct unit *u, const struct ast_maker *maker,
                       struct model_form *form) {
    const struct ast_step *seen[AST_ADDS + 1] = {NULL};
    for (const struct ast_node *n = maker->steps.first; n != NULL; n = n->next) {
        const struct ast_step *step = (const struct ast_step *)n;
        if (maker->verb == AST_REF_VERB || maker->verb == AST_CONST) {
            diag_error(c->diag, step->node.span, P_STEPS_NOT_ALLOWED,
                       "nothing is made here, so `%s' has no meaning", step_name(step->kind));
            continue;
        }
        enum ast_step_kind kind = step->kind == AST_STATE_OPTIONAL ? AST_STATE : step->kind;
        struct model_type *key = step->key == NULL ? NULL : type_convert(c, u, step->key);
        struct model_type *type = type_convert(c, u, step->type);
        if (seen[kind] != NULL) {
            diag_error(c->diag, step->node.span, P_DUPLICATE_SETTING, "`%s' is given twice", step_name(kind));
            diag_note(c->diag, seen[kind]->node.span, "first given here");
            continue;
        }
        seen[kind] = step;
        switch (step->kind) {
        case AST_STATE_OPTIONAL:
            form->flags |= UPK_FORM_STATE_OPTIONAL;
            form->state = type;
            break;
        case AST_STATE: form->state = type; break;
        case AST_ITEMS: form->items = type; break;
        case AST_PAIRS:
            form->pair_key = key;
            form->pair_value = type;
            break;
        case AST_ADDS: form->adds = type; break;
        }
    }
}

static void result_read(struct compilation *c, const struct ast_type *t, struct model_form *form) {
    if (t->kind != AST_OBJECT || t->range.given) {
        diag_error(c->diag, t->node.span, P_BAD_RESULT,
                   "behind `->' stands the class of the result, module::Name");
        return;
    }
    form->result = (struct model_name){t->module.text, t->name.text};
}

static enum upk_verb verb_of(enum ast_verb verb) {
    switch (verb) {
    case AST_REF_VERB: return UPK_VERB_REF;
    case AST_CALL: return UPK_VERB_CALL;
    case AST_NEW: return UPK_VERB_NEW;
    case AST_FUNC: return UPK_VERB_FUNC;
    case AST_CONST: return UPK_VERB_CONST;
    case AST_NO_VERB: break;
    }
    return UPK_VERB_NONE;
}

/* Fills the forms of a row but for results that are the row's own name. */
static void forms_read(struct compilation *c, struct unit *u, const struct ast_row *tree,
                       struct model_row *row) {
    const struct ast_maker *ref = NULL;
    row->forms = mem_alloc(c->mem, tree->makers.count, sizeof *row->forms);
    if (row->forms == NULL) {
        return;
    }
    for (const struct ast_node *n = tree->makers.first; n != NULL; n = n->next) {
        const struct ast_maker *maker = (const struct ast_maker *)n;
        struct model_form *form = &row->forms[row->form_count++];
        form->verb = verb_of(maker->verb);
        form->file = u->index;
        form->line = source_line_at(&c->diag->sources[u->source], maker->node.span.from);
        if (maker->verb == AST_NO_VERB) {
            struct span at = {maker->node.span.file, maker->node.span.from, maker->node.span.from};
            diag_error(c->diag, at, P_MISSING_MAKER,
                       "the row does not say how: `ref', `call(...)' or `new(...)'");
        }
        if (maker->verb == AST_REF_VERB) {
            if (ref != NULL) {
                diag_error(c->diag, maker->verb_span, P_DUPLICATE_ALTERNATIVE, "`ref' is given twice");
                diag_note(c->diag, ref->verb_span, "first given here");
            }
            ref = maker;
        }
        if (makes(maker->verb)) {
            form->args = type_tuple(c, u, &maker->args);
        }
        if (maker->kw != NULL) {
            form->kw = type_convert(c, u, maker->kw);
        }
        if (maker->result != NULL) {
            result_read(c, maker->result, form);
        }
        steps_read(c, u, maker, form);
        clauses_read(c, maker, form, row);
    }
}

static uint32_t form_row_flags(const struct model_form *f) {
    uint32_t flags = f->verb == UPK_VERB_REF ? UPK_ROW_REF : 0;
    flags |= f->state != NULL ? UPK_ROW_STATE : 0;
    flags |= f->items != NULL ? UPK_ROW_ITEMS : 0;
    flags |= f->pair_key != NULL ? UPK_ROW_PAIRS : 0;
    flags |= f->adds != NULL ? UPK_ROW_ADDS : 0;
    return flags;
}

struct row_def *row_add(struct compilation *c, struct unit *u, const struct ast_row *tree,
                        struct model_name name, struct span span) {
    struct row_def *def = &u->rows[u->row_count++];
    def->unit = u;
    def->tree = tree;
    def->span = span;
    def->row.name = name;
    def->row.file = u->index;
    def->row.at = span;
    def->row.line = source_line_at(&c->diag->sources[u->source], span.from);
    return def;
}

/* Templates have their rows from resolve_templates.c. */
static uint32_t flag_of(enum ast_row_kind kind) {
    return kind == AST_ROW_FUNC ? UPK_ROW_FUNC : kind == AST_ROW_CONST ? UPK_ROW_CONST : UPK_ROW_CLASS;
}

static void row_read(struct compilation *c, struct unit *u, const struct ast_item *module,
                     const struct ast_row *tree) {
    struct model_row shared = {.flags = flag_of(tree->kind) | (module->flag ? UPK_ROW_IMPORT : 0)};
    forms_read(c, u, tree, &shared);
    for (size_t i = 0; i < shared.form_count; i++) {
        shared.flags |= form_row_flags(&shared.forms[i]);
    }
    for (const struct ast_node *n = tree->names.first; n != NULL; n = n->next) {
        const struct ast_word *name = &((const struct ast_name_node *)n)->name;
        struct row_def *def =
            row_add(c, u, tree, (struct model_name){module->name.text, name->text}, name->span);
        def->refused = name->bad || module->name.bad;
        def->row.flags = shared.flags;
        def->row.calls = shared.calls;
        def->row.forms = mem_alloc(c->mem, shared.form_count, sizeof *def->row.forms);
        for (size_t i = 0; i < shared.form_count && def->row.forms != NULL; i++) {
            struct model_form *form = &def->row.forms[def->row.form_count++];
            *form = shared.forms[i];
            if (form->verb != UPK_VERB_FUNC) {
                form->result = def->row.name;
            }
        }
        if (tree->kind == AST_ROW_SUBCLASSES) {
            row_open_read(c, def);
        }
    }
}

void rows_resolve(struct compilation *c, struct unit *u) {
    size_t count = 0;
    for (const struct ast_node *n = u->file.items.first; n != NULL; n = n->next) {
        const struct ast_item *module = (const struct ast_item *)n;
        for (const struct ast_node *r = module->kind == AST_MODULE ? module->parts.first : NULL; r != NULL;
             r = r->next) {
            const struct ast_row *tree = (const struct ast_row *)r;
            count += row_is_template(tree) ? template_row_count(tree) : tree->names.count;
        }
    }
    u->rows = mem_alloc(c->mem, count, sizeof *u->rows);
    if (u->rows == NULL) {
        return;
    }
    for (const struct ast_node *n = u->file.items.first; n != NULL && !c->mem->failed; n = n->next) {
        const struct ast_item *module = (const struct ast_item *)n;
        for (const struct ast_node *r = module->kind == AST_MODULE ? module->parts.first : NULL; r != NULL;
             r = r->next) {
            const struct ast_row *row = (const struct ast_row *)r;
            if (row_is_template(row)) {
                template_read(c, u, module, row);
            } else {
                row_read(c, u, module, row);
            }
        }
    }
}

/* Reports the names of one row that reach the system; true: there are some. */
static bool check_dangerous(struct compilation *c, const struct row_def *defs, size_t count, bool each) {
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        const struct model_name name = defs[i].row.name;
        if (defs[i].refused || !name_reaches_system(c->mem, name)) {
            continue;
        }
        found = true;
        diag_error(c->diag, defs[i].span, P_DANGEROUS,
                   "`%s::%s' reaches the system: it is granted only with a reason",
                   diag_quote(c->diag, name.module), diag_quote(c->diag, name.qualname));
        diag_hint(c->diag, "to grant it all the same, add: because \"...\"%s",
                  each ? "; each alternative has its own" : "");
    }
    return found;
}

static bool has_reason(const struct ast_maker *maker) {
    for (const struct ast_node *n = maker->clauses.first; n != NULL; n = n->next) {
        if (((const struct ast_clause *)n)->kind == AST_BECAUSE) {
            return true;
        }
    }
    return false;
}

static bool takes_any(const struct compilation *c, const struct model_form *f) {
    const struct model_type *const held[] = {f->args, f->kw, f->state};
    for (size_t i = 0; i < 3; i++) {
        if (held[i] != NULL && c->reaches_any[held[i]->mark - 1]) {
            return true;
        }
    }
    return false;
}

/* `defs`: the rows of one tree; of a template the class alone, for whose forms one reason is enough. */
static void reasons_check(struct compilation *c, const struct row_def *defs, size_t count) {
    const struct model_row *row = &defs->row;
    const bool template = row_is_template(defs->tree);
    const bool each = !template && row->form_count > 1;
    const struct ast_node *maker = defs->tree->makers.first;
    bool dangerous = false; /* reported for the row */
    for (size_t i = 0; i < row->form_count; i++, maker = template ? maker : maker->next) {
        const struct model_form *f = &row->forms[i];
        const bool has = has_reason((const struct ast_maker *)maker);
        dangerous = dangerous || (!has && check_dangerous(c, defs, count, each));
        const bool open = row->open != UPK_OPEN_NONE;
        if (has || dangerous || (f->verb != UPK_VERB_FUNC && !open && !takes_any(c, f))) {
            continue;
        }
        diag_error(c->diag, maker->span, P_NEEDS_BECAUSE,
                   open ? "which subclasses there are the host knows: they are granted with a reason"
                   : f->verb == UPK_VERB_FUNC ? "a function is granted with a reason"
                                              : "`any' in arguments or state is granted with a reason");
        diag_hint(c->diag, "add: because \"...\"%s", each ? "; each alternative has its own" : "");
        if (template) {
            return;
        }
    }
}

/* Which forms owe a reason: names that are dangerous, functions, and what takes `any` where constructors and
 * hooks see it. */
void rows_check_because(struct compilation *c, struct unit *u) {
    for (size_t at = 0, count; at < u->row_count; at += count) {
        const struct row_def *defs = &u->rows[at];
        for (count = 1; at + count < u->row_count && defs[count].tree == defs->tree;) {
            count++;
        }
        reasons_check(c, defs, row_is_template(defs->tree) ? 1 : count);
    }
}

void hint_one_row(struct compilation *c, const struct row_def *a, const struct row_def *b) {
    if (a->joins || b->joins) {
        diag_hint(c->diag, "a flag writes the row of `operator::or_' itself");
    } else if (row_is_template(a->tree) || row_is_template(b->tree)) {
        diag_hint(c->diag, "a template writes all rows of its class, one for each member too");
    } else {
        diag_hint(c->diag, "ways to make one name are alternatives of one row, joined by `|'");
    }
}

static int compare_rows(const void *left, const void *right) {
    const struct row_def *const *a = left, *const *b = right;
    int order = name_compare((*a)->row.name, (*b)->row.name);
    return order != 0 ? order : ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

void rows_collect(struct compilation *c) {
    size_t count = 0;
    for (size_t i = 0; i < c->unit_count; i++) {
        count += c->units[i]->row_count;
    }
    c->rows = mem_alloc(c->mem, count, sizeof(struct row_def *));
    if (c->rows == NULL) {
        return;
    }
    for (size_t i = 0; i < c->unit_count; i++) {
        for (size_t r = 0; r < c->units[i]->row_count; r++) {
            struct row_def *def = &c->units[i]->rows[r];
            def->order = c->row_count;
            if (!def->refused) {
                c->rows[c->row_count++] = def;
            }
        }
    }
    if (c->row_count != 0) {
        qsort(c->rows, c->row_count, sizeof *c->rows, compare_rows);
    }
    for (size_t i = 1; i < c->row_count; i++) {
        struct row_def *a = c->rows[i - 1], *b = c->rows[i];
        if (a->unit != b->unit || !name_equal(a->row.name, b->row.name) || (a->joins && b->joins)) {
            continue;
        }
        b->refused = true;
        if (b->owner == NULL || !b->owner->refused) {
            diag_error(c->diag, b->span, P_DUPLICATE_ROW, "`%s::%s' has two rows",
                       diag_quote(c->diag, b->row.name.module), diag_quote(c->diag, b->row.name.qualname));
            diag_note(c->diag, a->span, "first given here");
            hint_one_row(c, a, b);
        }
    }
}
