/* `never`: what a file forbids, whoever grants it, and under whatever name.
 *
 * What a scope names becomes dotted paths: as it is written, as streams of either kind mean it, and all other paths to the
 * same object (identity.h).  Of a row, each of its names (names.h: name_meanings) is held against them from its module on, and
 * from each dot within its own name on, because what stands there may be a module, too: `shutil::os.system`.
 *
 * Layer: pass; without a policy's aliases after all rows are known, with them in each channel.
 */
#include <stdlib.h>
#include <string.h>

#include "identity.h"
#include "names.h"
#include "units.h"

struct scope_path {
    struct path at;
    const struct ast_scope *scope;
    bool written; /* as the policy writes it */
    size_t order;
};

struct never_scopes {
    struct scope_path *paths; /* sorted, each path of each kind once */
    size_t count, room;
};

/* ---- scopes ------------------------------------------------------------ */

static enum path_kind kind_of(const struct ast_scope *scope) {
    switch (scope->kind) {
    case AST_SCOPE_MODULE_TREE: return PATH_TREE;
    case AST_SCOPE_ALL_OF_MODULE:
    case AST_SCOPE_MODULE: return PATH_MODULE;
    case AST_SCOPE_NAME:
    case AST_SCOPE_OPCODES: break;
    }
    return PATH_NAME;
}

static struct text path_join(struct mem *m, struct model_name name) {
    char *at = mem_alloc(m, name.module.len + 1 + name.qualname.len, 1);
    if (at == NULL) {
        return name.module;
    }
    memcpy(at, name.module.at, name.module.len);
    at[name.module.len] = '.';
    memcpy(at + name.module.len + 1, name.qualname.at, name.qualname.len);
    return (struct text){at, name.module.len + 1 + name.qualname.len};
}

static void scope_add(struct compilation *c, struct never_scopes *all, const struct ast_scope *scope) {
    const struct names names = {.mem = c->mem};
    const enum path_kind kind = kind_of(scope);
    struct path_list list = {.mem = c->mem};
    struct model_name readings[3];
    /* Any name stands for the contents of a module. */
    readings[0] =
        (struct model_name){scope->module.text, kind == PATH_NAME ? scope->name.text : (struct text){"*", 1}};
    bool good = name_canonical(&names, NAMES_NEW, readings[0], &readings[1]) &&
                name_canonical(&names, NAMES_OLD, readings[0], &readings[2]);
    for (size_t i = 0; i < 3 && good; i++) {
        good = path_add(&list, kind == PATH_NAME ? path_join(c->mem, readings[i]) : readings[i].module, kind);
    }
    good = good && paths_of_same(&list);
    for (size_t i = 0; i < list.count && good; i++) {
        struct scope_path *paths = mem_grow(c->mem, all->paths, all->count, &all->room, sizeof *paths);
        good = paths != NULL;
        if (good) {
            all->paths = paths;
            paths[all->count] = (struct scope_path){list.items[i], scope, i == 0, all->count};
            all->count++;
        }
    }
    if (!good) {
        diag_memory(c);
    }
}

struct never_scopes *never_begin(struct compilation *c) {
    return mem_alloc(c->mem, 1, sizeof(struct never_scopes));
}

void never_add_scopes(struct compilation *c, struct never_scopes *all, const struct ast_list *scopes) {
    for (const struct ast_node *s = scopes->first; s != NULL && !c->mem->failed; s = s->next) {
        const struct ast_scope *scope = (const struct ast_scope *)s;
        if (scope->kind != AST_SCOPE_OPCODES && !scope->module.bad && !scope->name.bad) {
            scope_add(c, all, scope);
        }
    }
}

void never_add(struct compilation *c, struct never_scopes *all, const struct ast_list *items) {
    for (const struct ast_node *n = items->first; n != NULL && !c->mem->failed; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        if (item->kind == AST_NEVER) {
            never_add_scopes(c, all, &item->parts);
        }
    }
}

static int compare_paths(const void *left, const void *right) {
    const struct scope_path *a = left, *b = right;
    int order = text_compare(a->at.text, b->at.text);
    if (order == 0) {
        order = (a->at.kind > b->at.kind) - (a->at.kind < b->at.kind);
    }
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

void never_ready(struct never_scopes *all) {
    size_t kept = 0;
    if (all->count != 0) {
        qsort(all->paths, all->count, sizeof *all->paths, compare_paths);
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct path *last = kept == 0 ? NULL : &all->paths[kept - 1].at;
        if (last == NULL || last->kind != all->paths[i].at.kind ||
            !text_equal(last->text, all->paths[i].at.text)) {
            all->paths[kept++] = all->paths[i];
        }
    }
    all->count = kept;
}

bool never_item(const struct never_scopes *all, size_t i, struct scope_found *out) {
    static const enum upk_deny_kind kinds[] = {
        [PATH_NAME] = UPK_DENY_NAME, [PATH_MODULE] = UPK_DENY_MODULE, [PATH_TREE] = UPK_DENY_TREE};
    if (i >= all->count) {
        return false;
    }
    const struct scope_path *p = &all->paths[i];
    *out = (struct scope_found){p->at.text, kinds[p->at.kind], p->written, p->scope};
    return true;
}

/* ---- rows ------------------------------------------------------------ */

/* A range of scopes whose paths begin alike. */
struct range {
    size_t lo, hi;
};

/* The part of the range whose paths begin with the bytes. */
static struct range narrow(const struct never_scopes *all, struct range in, struct text begin) {
    struct range out = in;
    for (int end = 0; end < 2; end++) {
        size_t lo = out.lo, hi = in.hi;
        while (lo < hi) {
            const size_t middle = lo + (hi - lo) / 2;
            struct text path = all->paths[middle].at.text;
            path.len = path.len < begin.len ? path.len : begin.len;
            const int order = text_compare(path, begin);
            if (order < 0 || (order == 0 && end == 1)) {
                lo = middle + 1;
            } else {
                hi = middle;
            }
        }
        *(end == 0 ? &out.lo : &out.hi) = lo;
    }
    return out;
}

/* A row's name while it is held against scopes. */
struct look {
    struct text path;
    size_t module_len;
    size_t from; /* where in it the scope's path begins */
};

/* Does a scope that is the path up to `end` mean the row? */
static bool covers(enum path_kind kind, const struct look *l, size_t end) {
    switch (kind) {
    case PATH_NAME: return l->from != 0 || end > l->module_len;
    case PATH_MODULE: return end < l->path.len && (l->from != 0 || end >= l->module_len);
    case PATH_TREE: return end < l->path.len;
    }
    return false;
}

static const struct scope_path *find_from(const struct never_scopes *all, const struct look *l) {
    struct range r = {0, all->count};
    for (size_t end = l->from + 1; end <= l->path.len && r.lo < r.hi; end++) {
        if (end != l->path.len && l->path.at[end] != '.') {
            continue;
        }
        const struct text begin = {l->path.at + l->from, end - l->from};
        r = narrow(all, r, begin);
        for (size_t i = r.lo; i < r.hi && all->paths[i].at.text.len == begin.len; i++) {
            if (covers(all->paths[i].at.kind, l, end)) {
                return &all->paths[i];
            }
        }
    }
    return NULL;
}

/* The first scope that means the name, however it gets there; *direct: by no other name of either. */
static const struct scope_path *find(const struct never_scopes *all, struct model_name name, bool *direct) {
    char bytes[2 * UPK_NAME_MOST + 1];
    struct look l = {.module_len = name.module.len};
    if (name.module.len > UPK_NAME_MOST || name.qualname.len > UPK_NAME_MOST) {
        return NULL; /* no stream can say it */
    }
    memcpy(bytes, name.module.at, name.module.len);
    bytes[name.module.len] = '.';
    memcpy(bytes + name.module.len + 1, name.qualname.at, name.qualname.len);
    l.path = (struct text){bytes, name.module.len + 1 + name.qualname.len};
    while (l.from < l.path.len) {
        const struct scope_path *found = find_from(all, &l);
        if (found != NULL) {
            *direct = found->written && l.from == 0;
            return found;
        }
        l.from = l.from == 0 ? l.module_len + 1 : l.from + 1;
        while (l.from < l.path.len && l.path.at[l.from - 1] != '.') {
            l.from++;
        }
    }
    return NULL;
}

static void row_check(struct compilation *c, const struct never_scopes *all, const struct names *names,
                      struct row_def *row, struct name_list *list) {
    const struct scope_path *found = NULL;
    bool direct = false;
    if (!name_meanings(names, row->row.name, list)) {
        diag_memory(c);
        return;
    }
    for (size_t i = 0; i < list->count && found == NULL; i++) {
        found = find(all, list->items[i], &direct);
        direct = direct && name_equal(list->items[i], row->row.name);
    }
    if (found == NULL) {
        return;
    }
    row->refused = true; /* said once */
    if (row->owner != NULL && row->owner->refused) {
        return;
    }
    diag_error(c->diag, row->span, P_NEVER_VIOLATED, "`%s::%s' is granted, which `never' forbids",
               diag_quote(c->diag, row->row.name.module), diag_quote(c->diag, row->row.name.qualname));
    if (direct) {
        diag_note(c->diag, found->scope->node.span, "forbidden here");
    } else {
        diag_note(c->diag, found->scope->node.span, "forbidden here by another name, `%s'",
                  diag_quote(c->diag, found->at.text));
    }
}

void never_check(struct compilation *c, const struct never_scopes *all, const struct names *names,
                 struct row_def *const *rows, size_t count) {
    struct name_list list = {0};
    for (size_t i = 0; i < count && all->count != 0 && !c->mem->failed; i++) {
        if (!rows[i]->refused && rows[i]->row.open == UPK_OPEN_NONE) {
            row_check(c, all, names, rows[i], &list);
        }
    }
}

/* ---- opcodes ------------------------------------------------------------ */

void never_check_opcodes(struct compilation *c, const struct ast_item *never, const struct settings *s) {
    for (const struct ast_node *n = never->parts.first; n != NULL; n = n->next) {
        const struct ast_scope *scope = (const struct ast_scope *)n;
        bool named[256] = {false};
        if (scope->kind != AST_SCOPE_OPCODES) {
            continue;
        }
        if (!opcodes_named(scope->name.text, named)) {
            opcode_unknown(c, &scope->name);
            continue;
        }
        for (size_t i = 0; i < 256; i++) {
            if (named[i] && s->opcodes[i]) {
                diag_error(c->diag, scope->node.span, P_NEVER_VIOLATED,
                           "opcodes of `%s' are allowed, which this forbids",
                           diag_quote(c->diag, scope->name.text));
                if (s->opcodes_at != NULL) {
                    diag_note(c->diag, s->opcodes_at->span, "allowed here");
                }
                break;
            }
        }
    }
}
