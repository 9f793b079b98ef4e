/* The front end, pass by pass.
 *
 * Layer: top of the front end.
 */
#include "compile.h"

#include <stdlib.h>

#include "names.h"
#include "units.h"

static const size_t default_memory = (size_t)1 << 30;

/* Every name is held against every alias. */
enum { MOST_ALIASES = 1000 };

static bool is_plain_word(struct text t) {
    for (size_t i = 0; i < t.len; i++) {
        char ch = t.at[i];
        if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch == '.' ||
              (ch >= '0' && ch <= '9'))) {
            return false;
        }
    }
    return t.len != 0;
}

/* Names of policies become names in C, and those of fragments stand in `use`. */
static void check_header(struct compilation *c, const struct unit *u) {
    const struct ast_word *name = &u->file.name;
    if (!u->broken && !name->bad && !is_plain_word(name->text)) {
        diag_error(c->diag, name->span, P_BAD_NAME,
                   "the name of a policy or fragment is made of plain ASCII words");
    }
    for (size_t i = 0; i < u->index && !u->broken; i++) {
        const struct unit *other = c->units[i];
        if (!other->broken && text_equal(other->file.name.text, name->text)) {
            diag_error(c->diag, name->span, P_DUPLICATE_FRAGMENT, "two files are `%s'",
                       diag_quote(c->diag, name->text));
            diag_note(c->diag, other->file.name.span, "the other one");
            break;
        }
    }
}

static void check_items(struct compilation *c, const struct unit *u, const struct ast_list *items) {
    for (const struct ast_node *n = items->first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        switch (item->kind) {
        case AST_OPCODES:
        case AST_PROTOCOL:
        case AST_BUDGET:
        case AST_USE:
        case AST_ROOT:
        case AST_CHANNEL:
        case AST_WITHIN:
        case AST_FAIL_OPEN:
        case AST_ENVIRONMENT:
        case AST_CONFINEMENT:
            if (!u->file.is_policy) {
                diag_error(c->diag, item->node.span, P_FRAGMENT_SETS,
                           "a fragment only offers rows: `%s' belongs in a policy",
                           diag_quote(c->diag, item->keyword.text));
            }
            break;
        case AST_INCLUDE:
        case AST_NEVER:
        case AST_ALIAS:
        case AST_TYPE:
        case AST_MODULE:
        case AST_ITEM_KINDS: break;
        }
        if (item->kind == AST_WITHIN && u->file.is_policy && items == &u->file.items) {
            diag_error(c->diag, item->node.span, P_MISPLACED, "`within' is said of a channel, in its block");
        } else if (item->kind == AST_FAIL_OPEN && u->file.is_policy) {
            fail_open_check(c, item);
        } else if (item->kind == AST_CHANNEL) {
            check_items(c, u, &item->parts); /* channels hold no channels */
        }
    }
}

/* false: there are too many, or no memory. */
static bool aliases_collect(struct compilation *c) {
    size_t room = 0;
    for (size_t i = 0; i < c->unit_count; i++) {
        room += c->units[i]->file.items.count;
    }
    c->aliases = mem_alloc(c->mem, room, sizeof *c->aliases);
    for (size_t i = 0; i < c->unit_count && c->aliases != NULL; i++) {
        for (const struct ast_node *n = c->units[i]->file.items.first; n != NULL; n = n->next) {
            const struct ast_item *item = (const struct ast_item *)n;
            if (item->kind != AST_ALIAS || item->name.bad || item->to.bad) {
                continue;
            }
            if (c->alias_count == MOST_ALIASES) {
                diag_error(c->diag, item->node.span, P_TOO_MANY, "a policy has at most %d aliases",
                           MOST_ALIASES);
                return false;
            }
            c->aliases[c->alias_count++] =
                (struct model_alias){item->name.text, item->to.text, item->node.span};
        }
    }
    return !c->mem->failed;
}

static void files_fill(struct compilation *c) {
    struct compiled *out = c->compiled;
    out->files = mem_alloc(c->mem, c->unit_count, sizeof *out->files);
    for (size_t i = 0; i < c->unit_count && out->files != NULL; i++) {
        const struct source *s = &c->diag->sources[c->units[i]->source];
        struct model_file *f = &out->files[out->file_count++];
        f->source = c->units[i]->source;
        /* Copies: the sources belong to the diag. */
        (void)mem_text(c->mem, s->table_name.at, s->table_name.len, &f->name);
        (void)mem_text(c->mem, s->path.at, s->path.len, &f->path);
        (void)mem_text(c->mem, s->bytes.at, s->bytes.len, &f->bytes);
    }
}

/* Also rows that no channel uses; what aliases make of those in use is seen in the channels. */
static void check_nevers(struct compilation *c) {
    const struct names names = {.mem = c->mem};
    c->never = never_begin(c);
    for (size_t i = 0; i < c->unit_count && c->never != NULL; i++) {
        never_add(c, c->never, &c->units[i]->file.items);
    }
    if (c->never != NULL) {
        never_ready(c->never);
        never_check(c, c->never, &names, c->rows, c->row_count);
    }
}

static void run_passes(struct compilation *c) {
    if (!units_load(c)) {
        return;
    }
    c->poison = type_new(c, UPK_TYPE_NONE);
    if (c->poison == NULL) {
        return;
    }
    (void)type_plain(c, UPK_TYPE_ANY); /* the root of a policy that names none */
    for (size_t i = 0; i < c->unit_count; i++) {
        c->units[i]->index = (uint32_t)i;
        check_header(c, c->units[i]);
        check_items(c, c->units[i], &c->units[i]->file.items);
        types_declare(c, c->units[i]);
        types_define(c, c->units[i]);
        rows_resolve(c, c->units[i]);
        if (c->mem->failed) {
            return;
        }
    }
    unions_finish(c);
    types_find_any(c);
    checks_check(c);
    for (size_t i = 0; i < c->unit_count && !c->mem->failed; i++) {
        rows_check_because(c, c->units[i]);
    }
    rows_collect(c);
    if (!aliases_collect(c)) {
        return;
    }
    check_nevers(c);
    if (c->mem->failed) {
        return;
    }
    references_check(c);
    results_check(c);
    environment_read(c);
    confinement_read(c);
    const struct unit *main = unit_main(c);
    if (main->file.is_policy && !c->mem->failed) {
        channels_check(c);
    } else if (!c->mem->failed) {
        diag_error(c->diag, main->file.name.span, P_INCLUDE_POLICY,
                   "a fragment is no policy: include it in one");
    }
    for (size_t i = 0; i < c->type_count; i++) {
        c->types[i]->mark = 0;
    }
    files_fill(c);
}

bool policy_compile(const struct compile_options *options, struct diag *d, struct compiled **out) {
    size_t errors = diag_error_count(d);
    *out = NULL;
    struct compiled *compiled = calloc(1, sizeof *compiled);
    struct compilation c = {.options = options, .diag = d, .compiled = compiled};
    if (compiled == NULL) {
        diag_error_nowhere(d, P_MEMORY, "out of memory");
        return false;
    }
    mem_init(&compiled->mem, options->most_memory != 0 ? options->most_memory : default_memory);
    c.mem = &compiled->mem;
    run_passes(&c);
    if (c.mem->failed || d->mem.failed) {
        diag_error_nowhere(d, P_MEMORY, "out of memory");
    }
    if (diag_error_count(d) != errors) {
        compiled_free(compiled);
        return false;
    }
    *out = compiled;
    return true;
}

void compiled_free(struct compiled *c) {
    if (c != NULL) {
        mem_free(&c->mem);
        free(c);
    }
}
