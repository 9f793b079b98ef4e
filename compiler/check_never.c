/* `never`: what a file forbids, whoever grants it.  Both sides are compared in their canonical spelling,
 * and as written.
 *
 * Layer: pass, after all rows are known.
 */
#include <string.h>

#include "names.h"
#include "units.h"

void never_prepare(struct compilation *c) {
    const struct names names = {.mem = c->mem, .aliases = c->aliases, .alias_count = c->alias_count};
    for (size_t i = 0; i < c->row_count; i++) {
        c->rows[i]->canonical = c->rows[i]->row.name;
        if (!name_canonical(&names, NAMES_NEW, c->rows[i]->row.name, &c->rows[i]->canonical)) {
            diag_memory(c);
        }
    }
}

/* The ways to read the scope's name: as written, and as streams of either kind mean it. */
struct readings {
    struct model_name names[3];
};

static struct readings read_scope(struct compilation *c, const struct ast_scope *scope) {
    const struct names names = {.mem = c->mem, .aliases = c->aliases, .alias_count = c->alias_count};
    /* A scope without a name is about a module; any name stands for its contents. */
    struct model_name name = {scope->module.text,
                              scope->name.text.len != 0 ? scope->name.text : (struct text){"*", 1}};
    struct readings r = {{name, name, name}};
    if (!name_canonical(&names, NAMES_NEW, name, &r.names[1]) ||
        !name_canonical(&names, NAMES_OLD, name, &r.names[2])) {
        diag_memory(c);
    }
    return r;
}

static bool is_below(struct text module, struct text top) {
    return module.len > top.len && module.at[top.len] == '.' && memcmp(module.at, top.at, top.len) == 0;
}

static bool scope_covers(const struct ast_scope *scope, struct model_name reading, struct model_name row) {
    bool same = text_equal(reading.module, row.module);
    switch (scope->kind) {
    case AST_SCOPE_NAME: return same && text_equal(reading.qualname, row.qualname);
    case AST_SCOPE_ALL_OF_MODULE:
    case AST_SCOPE_MODULE: return same;
    case AST_SCOPE_MODULE_TREE: return same || is_below(row.module, reading.module);
    case AST_SCOPE_OPCODES: break;
    }
    return false;
}

void never_check(struct compilation *c, const struct ast_item *never, struct row_def *const *rows,
                 size_t count) {
    for (const struct ast_node *n = never->parts.first; n != NULL; n = n->next) {
        const struct ast_scope *scope = (const struct ast_scope *)n;
        if (scope->kind == AST_SCOPE_OPCODES || scope->module.bad || scope->name.bad) {
            continue;
        }
        struct readings r = read_scope(c, scope);
        for (size_t i = 0; i < count; i++) {
            bool covered = false;
            for (size_t k = 0; k < 3; k++) {
                covered = covered || scope_covers(scope, r.names[k], rows[i]->row.name) ||
                          scope_covers(scope, r.names[k], rows[i]->canonical);
            }
            if (covered && !rows[i]->refused) {
                rows[i]->refused = true; /* said once */
                if (rows[i]->owner != NULL && rows[i]->owner->refused) {
                    continue;
                }
                diag_error(c->diag, rows[i]->span, P_NEVER_VIOLATED,
                           "`%s::%s' is granted, which `never' forbids",
                           diag_quote(c->diag, rows[i]->row.name.module),
                           diag_quote(c->diag, rows[i]->row.name.qualname));
                diag_note(c->diag, scope->node.span, "forbidden here");
            }
        }
    }
}

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
