/* What is denied of the names that only a host knows: of `never` and of `deny` the paths, all that lead to one object, as the
 * tables have them; and denials that nothing would come of.
 *
 * A row wins over `deny`: of a module all but some names may be denied by saying that all is.  Of one name nobody means both.
 *
 * Layer: pass, per channel, behind check_never.c.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "units.h"

struct denial {
    struct model_deny deny;
    const struct ast_scope *scope;
};

struct denials {
    struct denial *items;
    size_t count, room;
};

static bool denial_add(struct compilation *c, struct denials *all, struct denial d) {
    struct denial *items = mem_grow(c->mem, all->items, all->count, &all->room, sizeof *items);
    if (items == NULL) {
        return false;
    }
    all->items = items;
    items[all->count++] = d;
    return true;
}

/* The path with another module for `from`, which it is under; what is longer than any name is none. */
static bool moved_add(struct compilation *c, struct denials *all, struct denial d, struct text from,
                      struct text to) {
    const struct text path = d.deny.path;
    if (!module_is_under(path, from)) {
        return true;
    }
    const size_t rest = path.len - from.len;
    char *at = mem_alloc(c->mem, to.len + rest, 1);
    if (at == NULL) {
        return false;
    }
    memcpy(at, to.at, to.len);
    memcpy(at + to.len, path.at + from.len, rest);
    d.deny.path = (struct text){at, to.len + rest};
    d.deny.flags &= ~(uint32_t)UPK_DENY_WRITTEN;
    return denial_add(c, all, d);
}

static void place(const struct compilation *c, const struct ast_scope *scope, struct model_deny *d) {
    for (size_t i = 0; i < c->unit_count; i++) {
        if (c->units[i]->source == scope->node.span.file) {
            d->file = c->units[i]->index;
        }
    }
    d->line = source_line_at(&c->diag->sources[scope->node.span.file], scope->node.span.from);
}

/* Each path, and where the channel's aliases lead to and from. */
static bool scopes_take(struct compilation *c, const struct model *m, const struct never_scopes *scopes,
                        uint32_t flags, struct denials *all) {
    struct scope_found s;
    for (size_t i = 0; never_item(scopes, i, &s); i++) {
        struct denial d = {{.path = s.path, .kind = s.kind, .flags = flags}, s.scope};
        d.deny.flags |= s.written ? UPK_DENY_WRITTEN : 0u;
        place(c, s.scope, &d.deny);
        if (!denial_add(c, all, d)) {
            return false;
        }
        for (size_t k = 0; k < m->alias_count; k++) {
            const struct model_alias *alias = &m->aliases[k];
            if (!moved_add(c, all, d, alias->from, alias->to) ||
                !moved_add(c, all, d, alias->to, alias->from)) {
                return false;
            }
        }
    }
    return true;
}

/* Of equal ones `never` comes first, then what is written. */
static int compare_denials(const void *left, const void *right) {
    const struct model_deny *a = &((const struct denial *)left)->deny,
                            *b = &((const struct denial *)right)->deny;
    int order = text_compare(a->path, b->path);
    if (order == 0) {
        order = (a->kind > b->kind) - (a->kind < b->kind);
    }
    for (uint32_t flag = 1; order == 0 && flag <= UPK_DENY_WRITTEN; flag *= 2) {
        order = (int)((b->flags & flag) != 0) - (int)((a->flags & flag) != 0);
    }
    if (order == 0) {
        order = (a->file > b->file) - (a->file < b->file);
    }
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static bool same_place(const struct model_deny *a, const struct model_deny *b) {
    return a->kind == b->kind && text_equal(a->path, b->path);
}

static void denials_ready(struct denials *all) {
    size_t kept = 0;
    if (all->count != 0) {
        qsort(all->items, all->count, sizeof *all->items, compare_denials);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (kept == 0 || !same_place(&all->items[kept - 1].deny, &all->items[i].deny)) {
            all->items[kept++] = all->items[i];
        }
    }
    all->count = kept;
}

/* ---- denials of nothing ------------------------------------------------------------ */

static const struct denial *denial_of(const struct denials *all, const struct name_list *names) {
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < names->count && all->items[i].deny.kind == UPK_DENY_NAME; k++) {
            if (path_is(all->items[i].deny.path, names->items[k])) {
                return &all->items[i];
            }
        }
    }
    return NULL;
}

static void row_denied(struct compilation *c, const struct denials *all, const struct names *names,
                       const struct row_def *row, struct name_list *list) {
    const bool open = row->row.open == UPK_OPEN_SUBCLASSES;
    const struct model_name name = open ? row->row.base : row->row.name;
    if (!name_meanings(names, name, list)) {
        diag_memory(c);
        return;
    }
    const struct denial *found = denial_of(all, list);
    if (found == NULL || (!open && (found->deny.flags & UPK_DENY_NEVER))) {
        return; /* check_never.c says so */
    }
    if (open) {
        diag_error(c->diag, row->span, P_DEAD_DENY,
                   "`%s::%s' is denied, and with it each of its subclasses: the row grants nothing",
                   diag_quote(c->diag, name.module), diag_quote(c->diag, name.qualname));
        diag_note(c->diag, found->scope->node.span, "denied here");
        return;
    }
    diag_error(c->diag, found->scope->node.span, P_DEAD_DENY, "`%s::%s' is denied, and a row grants it",
               diag_quote(c->diag, name.module), diag_quote(c->diag, name.qualname));
    diag_note(c->diag, row->span, "granted here");
    diag_hint(c->diag, "a row wins over `deny': take one of both away; `never' forbids rows, too");
}

void denies_fill(struct compilation *c, struct model *m, const struct never_scopes *own,
                 const struct ast_item *fail_open, struct row_def *const *rows, size_t count) {
    const struct names names = {.mem = c->mem, .aliases = m->aliases, .alias_count = m->alias_count};
    struct denials all = {0};
    struct name_list list = {0};
    struct never_scopes *denied = never_begin(c);
    bool good = denied != NULL;
    if (good && fail_open != NULL) {
        never_add_scopes(c, denied, &fail_open->parts);
        never_ready(denied);
    }
    good = good && scopes_take(c, m, c->never, UPK_DENY_NEVER, &all) &&
           (own == NULL || scopes_take(c, m, own, UPK_DENY_NEVER, &all)) &&
           scopes_take(c, m, denied, 0, &all);
    if (!good) {
        diag_memory(c);
        return;
    }
    denials_ready(&all);
    for (size_t i = 0; i < count && !c->mem->failed; i++) {
        if (!rows[i]->refused &&
            (rows[i]->row.open == UPK_OPEN_NONE || rows[i]->row.open == UPK_OPEN_SUBCLASSES)) {
            row_denied(c, &all, &names, rows[i], &list);
        }
    }
    m->denies = mem_alloc(c->mem, all.count, sizeof *m->denies);
    for (size_t i = 0; i < all.count && m->denies != NULL; i++) {
        m->denies[m->deny_count++] = all.items[i].deny;
    }
}
