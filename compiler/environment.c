/* The `environment` block: which variables of the host a child gets, which a manifest may set, which the policy sets.
 *
 * Names that the policy writes are exact: an entry that could never match, or would match more than it says, is a mistake.  A name
 * that `never` means is a mistake where it is written, and left out where a base set brings it.
 *
 * Layer: pass, after the header of the policy is checked; environment_lines.c reads single lines.
 */
#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "../runtime/upk_environment.h"

const struct ast_item *block_find(struct compilation *c, enum ast_item_kind kind) {
    const struct ast_item *found = NULL;
    const struct unit *main = unit_main(c);
    for (const struct ast_node *n = main->file.is_policy ? main->file.items.first : NULL; n; n = n->next) {
        const struct ast_item *const item = (const struct ast_item *)n;
        if (item->kind != kind) continue;
        if (found) {
            diag_error(c->diag, item->node.span, P_DUPLICATE_SETTING, "`%s' is given twice",
                       diag_quote(c->diag, item->keyword.text));
            diag_note(c->diag, found->node.span, "first given here");
        } else {
            found = item;
        }
    }
    return found;
}

/* ---- what `never` means ------------------------------------------------------------ */

static const struct model_env_never *never_of(const struct env_block *b, struct text name, bool of_policy) {
    for (size_t i = 0; i < b->never_count; i++) {
        const struct model_env_never *const v = &b->nevers[i].model;
        if ((v->line != 0) == of_policy &&
            upk_env_never_means(v->kind, v->text.at, v->text.len, name.at, name.len)) {
            return v;
        }
    }
    return NULL;
}

static void entry_check(struct env_block *b, struct env_entry *e, struct text name) {
    struct compilation *const c = b->c;
    const struct model_env_never *const never = never_of(b, name, true);
    if (never && e->by_base) {
        e->refused = true;
    } else if (never && e->stage != UPK_ENV_SET) {
        e->refused = true;
        diag_error(c->diag, e->at, P_GRANTED_AND_NEVER, "`%s' is granted, and `never' means it too",
                   diag_quote(c->diag, name));
        diag_note(c->diag, ((const struct env_never_def *)never)->at, "by this");
        diag_hint(c->diag, "`never' wins over the host and over a manifest; one of both must go");
    }
    if (e->refused || env_known_find(name) || !never_of(b, name, false)) return;
    const bool manifest = e->stage == UPK_ENV_MANIFEST || e->stage == UPK_ENV_FROM;
    if (e->has_because && !(manifest && text_equal(name, e->name))) return;
    e->refused = true;
    diag_error(c->diag, e->at, P_DANGEROUS, "`%s' makes programs load, run or trust what its value says%s",
               diag_quote(c->diag, name), manifest ? ": no manifest may have it" : "");
    if (!manifest) diag_hint(c->diag, "if the child needs it, give the reason: because \"...\"");
}

/* ---- one name, several times ------------------------------------------------------------ */

static int compare_entries(const void *a, const void *b) {
    const struct env_entry *const x = a, *const y = b;
    const int order = text_compare(x->name, y->name);
    if (order) return order;
    if (x->by_base != y->by_base) return x->by_base ? 1 : -1;
    if (x->at.file != y->at.file) return x->at.file < y->at.file ? -1 : 1;
    return (x->at.from > y->at.from) - (x->at.from < y->at.from);
}

static bool of_manifest(const struct env_entry *e) {
    return e->stage == UPK_ENV_MANIFEST || e->stage == UPK_ENV_FROM;
}

/* Two lines about one name; those of base sets yield in silence. */
static bool entries_clash(const struct env_entry *a, const struct env_entry *b) {
    if (a->stage == UPK_ENV_SET || b->stage == UPK_ENV_SET) return true;
    return a->stage == b->stage || (of_manifest(a) && of_manifest(b));
}

static void doubles_check(struct env_block *b) {
    struct env_entry *const all = b->entries;
    for (size_t i = 0; i < b->entry_count; i++) {
        for (size_t k = i; k-- > 0 && text_equal(all[k].name, all[i].name);) {
            if (all[i].refused || all[k].refused || !entries_clash(&all[k], &all[i])) continue;
            all[i].refused = true;
            if (all[i].by_base) break;
            const bool set = (all[i].stage == UPK_ENV_SET) != (all[k].stage == UPK_ENV_SET);
            diag_error(b->c->diag, all[i].at, P_DUPLICATE_VARIABLE,
                       set ? "`%s' is set, and what else is granted of it is lost" : "`%s' is named twice",
                       diag_quote(b->c->diag, all[i].name));
            diag_note(b->c->diag, all[k].at, "also named here");
            break;
        }
    }
}

/* A base set of which `never` leaves nothing. */
static void bases_check(struct env_block *b) {
    for (size_t i = 0; i < ENV_BASE_COUNT; i++) {
        size_t left = b->bases[i].to == 0;
        for (size_t k = 0; k < b->entry_count; k++) {
            const struct env_entry *const e = &b->entries[k];
            left += e->by_base && e->at.from == b->bases[i].from && !never_of(b, e->name, true);
        }
        if (left != 0) continue;
        diag_error(b->c->diag, b->bases[i], P_GRANTED_AND_NEVER, "`never' leaves nothing of this base set");
    }
}

static void home_check(struct env_block *b) {
    for (size_t i = 0; i < b->entry_count && b->home; i++) {
        struct env_entry *const e = &b->entries[i];
        if (!text_is(e->name, "HOME") || e->refused) continue;
        e->refused = true;
        diag_error(b->c->diag, e->at, P_BAD_HOME,
                   "HOME is set last, to the child's own: nothing else reaches it");
        diag_note(b->c->diag, b->home->node.span, "by this");
    }
}

/* ---- the model ------------------------------------------------------------ */

static int compare_names(const void *a, const void *b) {
    return text_compare(((const struct model_env_name *)a)->name, ((const struct model_env_name *)b)->name);
}

static struct model_env_name name_of(const struct env_block *b, const struct env_entry *e) {
    const uint32_t line = env_line_of(b, e->at);
    struct model_env_name n = {.name = e->name,
                               .flags = e->stage,
                               .because = e->because,
                               .file = unit_main(b->c)->index,
                               .line = of_manifest(e) ? 0 : line,
                               .manifest_line = of_manifest(e) ? line : 0};
    if (e->stage == UPK_ENV_INHERIT) n.inherit = e->rule;
    if (of_manifest(e)) n.manifest = e->rule;
    if (e->stage == UPK_ENV_FROM) n.source = e->source;
    if (e->stage == UPK_ENV_SET) n.value = e->value;
    return n;
}

/* Joins what is said of one name by the host's and by a manifest's side. */
static void names_fill(struct env_block *b, struct model_environment *m) {
    struct compilation *const c = b->c;
    m->names = mem_alloc(c->mem, 2 * b->entry_count + 1, sizeof *m->names);
    if (!m->names) return;
    size_t count = 0;
    for (size_t i = 0; i < b->entry_count; i++) {
        const struct env_entry *const e = &b->entries[i];
        if (e->refused) continue;
        m->names[count++] = name_of(b, e);
        if (e->stage == UPK_ENV_FROM) {
            m->names[count] = name_of(b, e);
            m->names[count].name = e->source;
            m->names[count].flags = UPK_ENV_SOURCE;
            m->names[count].line = m->names[count].manifest_line;
            m->names[count].manifest_line = 0;
            m->names[count].because = (struct text){NULL, 0};
            m->names[count].manifest = (struct model_env_rule){.kind = UPK_ENV_RULE_NONE};
            m->names[count++].source = (struct text){NULL, 0};
        }
    }
    qsort(m->names, count, sizeof *m->names, compare_names);
    for (size_t i = 0; i < count; i++) {
        struct model_env_name *const last = m->name_count ? &m->names[m->name_count - 1] : NULL;
        const struct model_env_name *const n = &m->names[i];
        if (!last || !text_equal(last->name, n->name)) {
            m->names[m->name_count++] = *n;
            continue;
        }
        last->flags |= n->flags;
        if (n->inherit.kind) last->inherit = n->inherit;
        if (n->manifest.kind) last->manifest = n->manifest;
        if (n->source.len) last->source = n->source;
        if (n->value.at) last->value = n->value;
        if (!last->because.len) last->because = n->because;
        if (!last->line) last->line = n->line;
        if (!last->manifest_line) last->manifest_line = n->manifest_line;
    }
}

static void nevers_fill(struct env_block *b, struct model_environment *m) {
    m->nevers = mem_alloc(b->c->mem, b->never_count, sizeof *m->nevers);
    for (size_t i = 0; i < b->never_count && m->nevers; i++) {
        m->nevers[m->never_count++] = b->nevers[i].model;
    }
}

void environment_read(struct compilation *c) {
    const struct ast_item *const item = block_find(c, AST_ENVIRONMENT);
    struct env_block b = {.c = c};
    if (!item) return;
    env_lines_read(&b, item);
    if (c->mem->failed) return;
    for (size_t i = 0; i < b.entry_count; i++) {
        struct env_entry *const e = &b.entries[i];
        entry_check(&b, e, e->name);
        if (e->stage == UPK_ENV_FROM && !e->refused) entry_check(&b, e, e->source);
    }
    if (b.entry_count != 0) qsort(b.entries, b.entry_count, sizeof *b.entries, compare_entries);
    doubles_check(&b);
    bases_check(&b);
    home_check(&b);
    struct model_environment *const m = mem_alloc(c->mem, 1, sizeof *m);
    if (!m) return;
    m->name = item->name.text;
    m->home = b.home != NULL;
    m->file = unit_main(c)->index;
    m->line = env_line_of(&b, item->node.span);
    names_fill(&b, m);
    nevers_fill(&b, m);
    c->compiled->environment = m;
}
