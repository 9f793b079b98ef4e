/* Channels: which fragments each uses, and the model that comes of it.  A policy without `channel` blocks
 * is one channel of its own rows and what its file-level `use` names.
 *
 * Layer: last pass of the front end.
 */
#include <stdlib.h>

#include "names.h"
#include "units.h"

enum { MOST_CHANNELS = 256, PROTOCOL_OF_NEW_NAMES = 3 };

static const struct ast_item *item_find(const struct ast_list *items, enum ast_item_kind kind) {
    for (const struct ast_node *n = items->first; n != NULL; n = n->next) {
        if (((const struct ast_item *)n)->kind == kind) {
            return (const struct ast_item *)n;
        }
    }
    return NULL;
}

/* Sets unit.used. */
static void uses_read(struct compilation *c, const struct ast_list *items) {
    for (const struct ast_node *n = items->first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        for (const struct ast_node *w = item->kind == AST_USE ? item->names.first : NULL; w != NULL;
             w = w->next) {
            const struct ast_word *name = &((const struct ast_name_node *)w)->name;
            struct unit *u = name->bad ? NULL : fragment_find(c, name->text);
            if (u == NULL && !name->bad) {
                fragment_unknown(c, name);
                c->rows_lost = true;
            } else if (u != NULL && u->used) {
                diag_error(c->diag, name->span, P_DUPLICATE_SETTING, "`%s' is in use already",
                           diag_quote(c->diag, name->text));
            } else if (u != NULL) {
                u->used = true;
            }
        }
    }
}

struct phrase channel_phrase(struct compilation *c, struct text channel) {
    struct phrase p = {.len = 0};
    phrase_add(&p, channel.len == 0 ? "here" : "in channel `%s'", diag_quote(c->diag, channel));
    return p;
}

static void rows_clash(struct compilation *c, const struct row_def *a, struct row_def *b,
                       struct text channel) {
    b->refused = true;
    if (b->owner != NULL && b->owner->refused) {
        return;
    }
    diag_error(c->diag, b->span, P_DUPLICATE_ROW, "`%s::%s' has two rows %s",
               diag_quote(c->diag, b->row.name.module), diag_quote(c->diag, b->row.name.qualname),
               channel_phrase(c, channel).text);
    diag_note(c->diag, a->span, "the other row, of `%s'", diag_quote(c->diag, a->unit->file.name.text));
    if (row_is_template(a->tree) || row_is_template(b->tree)) {
        hint_one_row(c, a, b);
    }
}

/* The calls of all are counted together: a budget of some alone would bound nothing. */
static void joined_budgets_check(struct compilation *c, struct row_def *const *rows, size_t count) {
    const struct row_def *without = NULL;
    for (size_t i = 0; i < count && without == NULL; i++) {
        without = rows[i]->row.calls == 0 ? rows[i] : NULL;
    }
    for (size_t i = 0; i < count && without != NULL; i++) {
        if (rows[i]->row.calls == 0) {
            continue;
        }
        rows[i]->refused = true; /* said once */
        diag_error(c->diag, rows[i]->span, P_DEAD_BUDGET,
                   "the flag's budget `calls' does not hold for several bits put together: `%s::%s' has none",
                   diag_quote(c->diag, without->owner->row.name.module),
                   diag_quote(c->diag, without->owner->row.name.qualname));
        diag_note(c->diag, without->span, "in the same channel");
        diag_hint(c->diag, "give each flag of the channel one, or none");
    }
}

/* One row in the place of `count` that join. */
static struct row_def *rows_join(struct compilation *c, struct row_def *const *rows, size_t count) {
    joined_budgets_check(c, rows, count);
    struct row_def *all = mem_alloc(c->mem, 1, sizeof *all);
    struct model_form *forms = mem_alloc(c->mem, count, sizeof *forms);
    if (all == NULL || forms == NULL) {
        return rows[0];
    }
    *all = *rows[0];
    all->row.forms = forms;
    all->row.form_count = 0;
    all->row.calls = 0;
    uint64_t calls = 0;
    for (size_t i = 0; i < count; i++) {
        const struct model_row *row = &rows[i]->row;
        calls += row->calls;
        for (size_t k = 0; k < row->form_count; k++) {
            forms[all->row.form_count++] = row->forms[k];
        }
    }
    if (calls < UINT32_MAX) {
        all->row.calls = (uint32_t)calls;
    }
    return all;
}

/* Does the row say `ref` alone?  That the name may be mentioned where a type says so takes nothing from another row of it. */
static bool row_is_mention(const struct row_def *def) {
    return (def->row.flags & UPK_ROW_CLASS) && def->row.form_count == 1 &&
           def->row.forms[0].verb == UPK_VERB_REF;
}

/* One row in the place of `count`, all of which but one at most are mentions. */
static struct row_def *rows_mention(struct compilation *c, struct row_def *const *rows, size_t count) {
    size_t main = 0;
    while (main + 1 < count && row_is_mention(rows[main])) {
        main++;
    }
    struct row_def *all = mem_alloc(c->mem, 1, sizeof *all);
    struct model_form *forms = mem_alloc(c->mem, rows[main]->row.form_count + 1, sizeof *forms);
    if (all == NULL || forms == NULL) {
        return rows[main];
    }
    *all = *rows[main];
    for (size_t i = 0; i < all->row.form_count; i++) {
        forms[i] = all->row.forms[i];
    }
    all->row.forms = forms;
    for (size_t i = 0; i < count; i++) {
        if (i != main && !(all->row.flags & UPK_ROW_REF)) {
            forms[all->row.form_count++] = rows[i]->row.forms[0];
        }
        all->row.flags |= rows[i]->row.flags & (UPK_ROW_REF | UPK_ROW_IMPORT);
    }
    return all;
}

static size_t rows_join_all(struct compilation *c, struct row_def **rows, size_t count) {
    size_t kept = 0;
    for (size_t at = 0, same; at < count; at += same) {
        for (same = 1; at + same < count && name_equal(rows[at]->row.name, rows[at + same]->row.name);) {
            same++;
        }
        rows[kept++] = same == 1         ? rows[at]
                       : rows[at]->joins ? rows_join(c, rows + at, same)
                                         : rows_mention(c, rows + at, same);
    }
    return kept;
}

/* The last row that the name has already and that `def` cannot stand beside; NULL: none. */
static const struct row_def *row_against(struct row_def *const *rows, size_t count,
                                         const struct row_def *def) {
    for (size_t i = count; i-- > 0 && name_equal(rows[i]->row.name, def->row.name);) {
        const bool class = (rows[i]->row.flags & def->row.flags & UPK_ROW_CLASS) != 0;
        if (!(rows[i]->joins && def->joins) && !(class && (row_is_mention(rows[i]) || row_is_mention(def)))) {
            return rows[i];
        }
    }
    return NULL;
}

/* Rows of the units in use, sorted. */
static struct row_def **rows_in_use(struct compilation *c, struct text channel, size_t *count) {
    /* With room for those of a `fail_open` block. */
    struct row_def **rows =
        mem_alloc(c->mem, c->row_count + FAIL_OPEN_ROWS + FAIL_OPEN_KNOWN, sizeof(struct row_def *));
    *count = 0;
    for (size_t i = 0; i < c->row_count && rows != NULL; i++) {
        struct row_def *def = c->rows[i];
        if (!def->unit->used || def->refused) {
            continue;
        }
        const struct row_def *other = row_against(rows, *count, def);
        if (other != NULL) {
            rows_clash(c, other, def, channel);
            continue;
        }
        rows[(*count)++] = def;
    }
    *count = rows == NULL ? 0 : rows_join_all(c, rows, *count);
    return rows;
}

static int compare_aliases(const void *left, const void *right) {
    const struct ast_item *const *a = left, *const *b = right;
    int order = text_compare((*a)->name.text, (*b)->name.text);
    if (order == 0) {
        order = ((*a)->node.span.file > (*b)->node.span.file) - ((*a)->node.span.file < (*b)->node.span.file);
    }
    return order != 0 ? order
                      : ((*a)->node.span.from > (*b)->node.span.from) -
                            ((*a)->node.span.from < (*b)->node.span.from);
}

static void alias_check(struct compilation *c, const struct ast_item *alias, struct row_def *const *rows,
                        size_t count) {
    if (module_is_under(alias->to.text, alias->name.text)) {
        diag_error(c->diag, alias->node.span, P_DEAD_ALIAS, "the alias leads to itself");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (module_is_under(rows[i]->row.name.module, alias->name.text)) {
            diag_error(c->diag, rows[i]->span, P_DEAD_ALIAS,
                       "no stream reaches this row: an alias leads away from its module");
            diag_note(c->diag, alias->node.span, "this alias");
            return;
        }
    }
}

static void aliases_read(struct compilation *c, struct model *m, struct row_def *const *rows, size_t count) {
    size_t room = 0, found = 0;
    for (size_t i = 0; i < c->unit_count; i++) {
        room += c->units[i]->used ? c->units[i]->file.items.count : 0;
    }
    const struct ast_item **items = mem_alloc(c->mem, room, sizeof(const struct ast_item *));
    m->aliases = mem_alloc(c->mem, room, sizeof *m->aliases);
    if (c->mem->failed) {
        return;
    }
    for (size_t i = 0; i < c->unit_count; i++) {
        for (const struct ast_node *n = c->units[i]->used ? c->units[i]->file.items.first : NULL; n != NULL;
             n = n->next) {
            const struct ast_item *item = (const struct ast_item *)n;
            if (item->kind == AST_ALIAS && !item->name.bad && !item->to.bad) {
                items[found++] = item;
            }
        }
    }
    if (found != 0) {
        qsort(items, found, sizeof *items, compare_aliases);
    }
    for (size_t i = 0; i < found; i++) {
        if (i != 0 && text_equal(items[i - 1]->name.text, items[i]->name.text)) {
            bool same = text_equal(items[i - 1]->to.text, items[i]->to.text);
            if (!same || items[i - 1]->node.span.file == items[i]->node.span.file) {
                diag_error(c->diag, items[i]->node.span, P_DUPLICATE_ALIAS, "module `%s' has two aliases",
                           diag_quote(c->diag, items[i]->name.text));
                diag_note(c->diag, items[i - 1]->node.span, "first given here");
            }
            continue;
        }
        alias_check(c, items[i], rows, count);
        m->aliases[m->alias_count++] =
            (struct model_alias){items[i]->name.text, items[i]->to.text, items[i]->node.span};
    }
}

static void places_fill(struct model_places *p, const struct settings *s, const struct ast_item *root) {
    const struct span none = {0, 0, 0};
    p->opcodes = s->opcodes_at == NULL ? none : s->opcodes_at->span;
    p->protocol = s->protocol_at == NULL ? none : s->protocol_at->span;
    p->root = root == NULL ? none : root->node.span;
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        p->budgets[i] = s->budgets_at[i] == NULL ? none : s->budgets_at[i]->node.span;
    }
}

static void model_fill(struct compilation *c, struct model *m, const struct settings *s,
                       struct row_def *const *rows, size_t count) {
    m->protocol_min = s->protocol_min;
    m->protocol_max = s->protocol_max;
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        m->budgets[i] = s->budgets[i];
    }
    for (size_t i = 0; i < 256; i++) {
        m->allowed[i] = s->opcodes[i];
    }
    m->rows = mem_alloc(c->mem, count, sizeof *m->rows);
    for (size_t i = 0; i < count && m->rows != NULL; i++) {
        m->rows[m->row_count++] = rows[i]->row;
    }
}

/* A row is named as Python 3 names it.  By a name of Python 2 streams below protocol 3 mean another one, so that it would
 * grant less than it says, and `never` would be held against a name that nothing has. */
static void old_names_check(struct compilation *c, const struct settings *s, struct row_def *const *rows,
                            size_t count) {
    const struct names names = {.mem = c->mem};
    for (size_t i = 0; i < count && s->protocol_min < PROTOCOL_OF_NEW_NAMES; i++) {
        const struct model_name *name = &rows[i]->row.name;
        struct model_name old;
        bool is_old;
        if (!name_is_old(&names, *name, &is_old, &old)) {
            diag_memory(c);
            return;
        }
        if (!is_old || rows[i]->refused) {
            continue;
        }
        rows[i]->refused = true;
        if (rows[i]->owner != NULL && rows[i]->owner->refused) {
            continue;
        }
        diag_error(c->diag, rows[i]->span, P_OLD_NAME,
                   "`%s::%s' is a name of Python 2: streams below protocol 3 mean `%s::%s' by it",
                   diag_quote(c->diag, name->module), diag_quote(c->diag, name->qualname),
                   diag_quote(c->diag, old.module), diag_quote(c->diag, old.qualname));
        diag_hint(c->diag, "write `%s::%s'; for a module of your own of that name: protocol %d..%lu;",
                  diag_quote(c->diag, old.module), diag_quote(c->diag, old.qualname), PROTOCOL_OF_NEW_NAMES,
                  (unsigned long)(s->protocol_max < PROTOCOL_OF_NEW_NAMES ? 5 : s->protocol_max));
    }
}

/* The lines of all files, and those of the channel, which it returns. */
static const struct never_scopes *nevers_check(struct compilation *c, const struct model *m,
                                               const struct ast_list *items, const struct settings *s,
                                               struct row_def *const *rows, size_t count) {
    const struct names names = {.mem = c->mem, .aliases = m->aliases, .alias_count = m->alias_count};
    struct never_scopes *own = m->channel.len == 0 ? NULL : never_begin(c);
    never_check(c, c->never, &names, rows, count);
    if (own == NULL) {
        return NULL;
    }
    never_add(c, own, items);
    never_ready(own);
    never_check(c, own, &names, rows, count);
    for (const struct ast_node *n = items->first; n != NULL; n = n->next) {
        if (((const struct ast_item *)n)->kind == AST_NEVER) {
            never_check_opcodes(c, (const struct ast_item *)n, s);
        }
    }
    return own;
}

static bool rows_make(struct row_def *const *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < rows[i]->row.form_count; k++) {
            const enum upk_verb verb = rows[i]->row.forms[k].verb;
            if (verb == UPK_VERB_CALL || verb == UPK_VERB_NEW || verb == UPK_VERB_FUNC) {
                return true;
            }
        }
    }
    return false;
}

/* Puts rows of the block among the others. */
static void rows_insert(struct row_def **rows, size_t *count, struct row_def *const *more, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t at = (*count)++;
        for (; at > 0 && name_compare(rows[at - 1]->row.name, more[i]->row.name) > 0; at--) {
            rows[at] = rows[at - 1];
        }
        rows[at] = more[i];
    }
}

static void fail_open_add(struct compilation *c, struct model *m, const struct ast_item *item,
                          struct row_def **rows, size_t *count) {
    struct row_def *own[FAIL_OPEN_ROWS];
    if (!fail_open_rows(c, item, own)) {
        diag_memory(c);
        return;
    }
    rows_insert(rows, count, own, FAIL_OPEN_ROWS);
    m->flags |= UPK_POLICY_FAIL_OPEN;
    m->until = item->name.text;
    m->because = item->to.text;
    m->until_file = own[0]->row.file;
    m->until_line = own[0]->row.line;
}

/* Behind all checks: these nobody wrote. */
static void fail_open_add_known(struct compilation *c, const struct model *m, const struct ast_item *item,
                                struct row_def **rows, size_t *count) {
    struct row_def *known[FAIL_OPEN_KNOWN];
    size_t found;
    if (!fail_open_known_rows(c, item, m, rows, *count, known, &found)) {
        diag_memory(c);
        return;
    }
    rows_insert(rows, count, known, found);
}

static bool rows_open(struct row_def *const *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (rows[i]->row.open != UPK_OPEN_NONE) {
            return true;
        }
    }
    return false;
}

/* `items`: of the channel block, or of the file.  unit.used is set. */
static void channel_check(struct compilation *c, const struct ast_list *items, struct settings *s,
                          struct model *m) {
    size_t count = 0;
    struct row_def **rows = rows_in_use(c, m->channel, &count);
    const struct ast_item *root = item_find(items, AST_ROOT), *fail_open = item_find(items, AST_FAIL_OPEN);
    if (rows == NULL) {
        return;
    }
    m->flags = root != NULL && root->flag ? UPK_POLICY_ROOT_CYCLIC : 0;
    if (fail_open != NULL) {
        fail_open_add(c, m, fail_open, rows, &count);
    }
    s->grants = count != 0;
    s->makes = rows_make(rows, count);
    s->uses_main = unit_main(c)->used;
    m->root = root == NULL || root->root == NULL ? type_plain(c, UPK_TYPE_ANY) : root->root;
    aliases_read(c, m, rows, count);
    old_names_check(c, s, rows, count);
    const struct never_scopes *own = nevers_check(c, m, items, s, rows, count);
    if (rows_open(rows, count) || channel_describes(m->channel)) {
        denies_fill(c, m, own, fail_open, rows, count);
    }
    if (!c->opcodes_unknown && !unit_main(c)->file.items_lost) {
        spelling_check(c, s, rows, count, m->channel);
    }
    references_check_channel(c, m, rows, count);
    if (fail_open != NULL) {
        fail_open_add_known(c, m, fail_open, rows, &count);
    }
    places_fill(&m->places, s, root);
    model_fill(c, m, s, rows, count);
}

static void units_unuse(struct compilation *c) {
    for (size_t i = 0; i < c->unit_count; i++) {
        c->units[i]->used = false;
    }
}

static bool channel_name_new(struct compilation *c, const struct ast_item *channel) {
    for (const struct ast_node *n = unit_main(c)->file.items.first; n != &channel->node; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        if (item->kind == AST_CHANNEL && text_equal(item->name.text, channel->name.text)) {
            diag_error(c->diag, channel->name.span, P_DUPLICATE_CHANNEL, "channel `%s' is given twice",
                       diag_quote(c->diag, channel->name.text));
            diag_note(c->diag, item->name.span, "first given here");
            return false;
        }
    }
    return true;
}

/* `use`, `root`, `fail_open` at file level say nothing where channels say it. */
static void check_misplaced(struct compilation *c, const struct ast_list *items) {
    for (const struct ast_node *n = items->first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        if (item->kind == AST_USE || item->kind == AST_ROOT || item->kind == AST_FAIL_OPEN) {
            diag_error(c->diag, item->node.span, P_MISPLACED, "a policy with channels has its `%s' in them",
                       diag_quote(c->diag, item->keyword.text));
        }
    }
}

static uint32_t revision_read(struct compilation *c, const struct ast_number *given) {
    uint64_t revision = 0;
    if (number_is_natural(given, UINT32_MAX, &revision) && !given->unit && revision != 0) {
        return (uint32_t)revision;
    }
    if (!given->bad) {
        diag_error(c->diag, given->span, P_BAD_REVISION, "a revision is a number from 1 to %lu",
                   (unsigned long)UINT32_MAX);
    }
    return 0;
}

/* `never opcodes` of all files, against the policy's own settings. */
static void nevers_check_opcodes(struct compilation *c, const struct settings *own) {
    for (size_t i = 0; i < c->unit_count; i++) {
        for (const struct ast_node *n = c->units[i]->file.items.first; n != NULL; n = n->next) {
            if (((const struct ast_item *)n)->kind == AST_NEVER) {
                never_check_opcodes(c, (const struct ast_item *)n, own);
            }
        }
    }
}

/* A policy without channel blocks. */
static void whole_check(struct compilation *c, struct settings *own, const struct model *empty) {
    struct model *m = &c->compiled->models[c->compiled->model_count++];
    *m = *empty;
    units_unuse(c);
    unit_main(c)->used = true;
    uses_read(c, &unit_main(c)->file.items);
    channel_check(c, &unit_main(c)->file.items, own, m);
    budgets_check(c, own, own, 1);
}

static void blocks_check(struct compilation *c, const struct settings *own, const struct model *empty,
                         size_t channels) {
    struct compiled *out = c->compiled;
    struct settings *all = mem_alloc(c->mem, channels, sizeof *all);
    const struct ast_item **blocks = mem_alloc(c->mem, channels, sizeof(const struct ast_item *));
    for (const struct ast_node *n = unit_main(c)->file.items.first;
         n != NULL && all != NULL && blocks != NULL; n = n->next) {
        const struct ast_item *channel = (const struct ast_item *)n;
        if (channel->kind != AST_CHANNEL || !channel_name_new(c, channel)) {
            continue;
        }
        blocks[out->model_count] = channel;
        struct settings *s = &all[out->model_count];
        struct model *m = &out->models[out->model_count++];
        *s = *own;
        *m = *empty;
        m->channel = channel->name.text;
        m->at = channel->name.span;
        settings_read(c, &channel->parts, own, s);
        units_unuse(c);
        uses_read(c, &channel->parts);
        channel_check(c, &channel->parts, s, m);
    }
    if (all != NULL && blocks != NULL) {
        budgets_check(c, own, all, out->model_count);
        withins_check(c, blocks);
    }
}

void channels_check(struct compilation *c) {
    const struct ast_file *file = &unit_main(c)->file;
    size_t channels = 0;
    for (const struct ast_node *n = file->items.first; n != NULL; n = n->next) {
        channels += ((const struct ast_item *)n)->kind == AST_CHANNEL;
    }
    if (channels > MOST_CHANNELS) {
        diag_error(c->diag, file->name.span, P_TOO_MANY, "a policy has at most %d channels", MOST_CHANNELS);
        return;
    }
    c->compiled->models = mem_alloc(c->mem, channels == 0 ? 1 : channels, sizeof *c->compiled->models);
    if (c->compiled->models == NULL) {
        return;
    }
    const struct model empty = {
        .policy = file->name.text, .at = file->name.span, .revision = revision_read(c, &file->revision)};
    struct settings own;
    settings_default(&own);
    settings_read(c, &file->items, NULL, &own);
    nevers_check_opcodes(c, &own);
    if (channels == 0) {
        whole_check(c, &own, &empty);
    } else {
        check_misplaced(c, &file->items);
        blocks_check(c, &own, &empty, channels);
    }
}
