/* Types that name rows or fragments: each must mean something that is granted, in the whole policy and in
 * the channel where it is reached.
 *
 * Layer: pass, after all rows are known.
 */
#include <stdlib.h>

#include "names.h"
#include "shipped.h"
#include "suggest.h"
#include "units.h"

struct unit *fragment_find(const struct compilation *c, struct text name) {
    for (size_t i = 0; i < c->unit_count; i++) {
        if (!c->units[i]->broken && text_equal(c->units[i]->file.name.text, name)) {
            return c->units[i];
        }
    }
    return NULL;
}

static void hint_shipped(struct compilation *c, const struct shipped *shipped) {
    if (fragment_find(c, text_of(shipped->name)) != NULL) {
        diag_hint(c->diag, "did you mean `%s'?", shipped->name);
    } else {
        diag_hint(c->diag, "a shipped fragment: include \"%s\"; use %s;", shipped->file, shipped->name);
    }
}

void fragment_unknown(struct compilation *c, const struct ast_word *name) {
    if (c->files_lost || unit_main(c)->file.items_lost) {
        return;
    }
    diag_error(c->diag, name->span, P_UNKNOWN_FRAGMENT, "no included file is fragment `%s'",
               diag_quote(c->diag, name->text));
    struct suggestion near = suggestion_begin(name->text);
    for (size_t i = 0; i < c->unit_count; i++) {
        suggestion_offer(&near, c->units[i]->file.name.text);
    }
    const struct shipped *shipped = shipped_of_name(name->text);
    if (shipped != NULL) {
        hint_shipped(c, shipped);
    } else if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
    } else if (shipped_near(name->text) != NULL) {
        hint_shipped(c, shipped_near(name->text));
    } else {
        diag_hint(c->diag, "include \"FILE\"; comes first, then it can be used");
    }
}

bool hint_class(struct compilation *c, struct text name) {
    for (size_t i = 0; i < c->unit_count; i++) {
        for (const struct ast_node *n = c->units[i]->file.items.first; n != NULL; n = n->next) {
            const struct ast_item *item = (const struct ast_item *)n;
            for (const struct ast_node *r = item->kind == AST_MODULE ? item->parts.first : NULL; r != NULL;
                 r = r->next) {
                const struct ast_list *names = &((const struct ast_row *)r)->names;
                for (const struct ast_node *w = names->first; w != NULL; w = w->next) {
                    if (text_equal(((const struct ast_name_node *)w)->name.text, name)) {
                        diag_hint(c->diag, "a class is written with its module: `%s::%s'",
                                  diag_quote(c->diag, item->name.text), diag_quote(c->diag, name));
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

static bool rows_unsure(const struct compilation *c) { return c->files_lost || c->rows_lost; }

/* Names of what objects can be instances of, sorted. */
struct producers {
    struct model_name *names;
    size_t count;
};

static int compare_names(const void *left, const void *right) {
    const struct model_name *a = left, *b = right;
    return name_compare(*a, *b);
}

static bool makes_object(const struct model_form *f) {
    return (f->verb == UPK_VERB_CALL || f->verb == UPK_VERB_NEW || f->verb == UPK_VERB_FUNC) &&
           f->result.qualname.len != 0;
}

static struct producers producers_of(struct mem *m, struct row_def *const *rows, size_t count) {
    struct producers p = {NULL, 0};
    size_t room = 0;
    for (size_t i = 0; i < count; i++) {
        room += rows[i]->row.form_count;
    }
    p.names = mem_alloc(m, room, sizeof *p.names);
    for (size_t i = 0; i < count && p.names != NULL; i++) {
        for (size_t k = 0; k < rows[i]->row.form_count; k++) {
            if (makes_object(&rows[i]->row.forms[k])) {
                p.names[p.count++] = rows[i]->row.forms[k].result;
            }
        }
    }
    if (p.count != 0) {
        qsort(p.names, p.count, sizeof *p.names, compare_names);
    }
    size_t kept = 0;
    for (size_t i = 0; i < p.count; i++) {
        if (kept == 0 || !name_equal(p.names[kept - 1], p.names[i])) {
            p.names[kept++] = p.names[i];
        }
    }
    p.count = kept;
    return p;
}

static bool produced(const struct producers *p, struct model_name name) {
    return p->count != 0 && bsearch(&name, p->names, p->count, sizeof name, compare_names) != NULL;
}

/* First row of that name among sorted rows. */
static const struct row_def *row_find(struct row_def *const *rows, size_t count, struct model_name name) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (name_compare(rows[middle]->row.name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && name_equal(rows[low]->row.name, name) ? rows[low] : NULL;
}

static bool refers(const struct model_type *t, const struct producers *p, struct row_def *const *rows,
                   size_t count) {
    if (t->kind == UPK_TYPE_OBJECT) {
        return produced(p, t->name);
    }
    const struct row_def *row = row_find(rows, count, t->name);
    return row != NULL && (row->row.flags & UPK_ROW_REF) != 0;
}

static void suggest_name(struct compilation *c, const struct model_type *t, const struct producers *p) {
    /* The search is long, and beyond the cap nobody reads its result. */
    struct suggestion near = suggestion_begin(t->name.qualname), module = suggestion_begin(t->name.module);
    for (size_t i = 0; i < p->count && diag_error_count(c->diag) <= DIAG_MOST_ERRORS; i++) {
        if (text_equal(p->names[i].module, t->name.module)) {
            suggestion_offer(&near, p->names[i].qualname);
        } else if (text_equal(p->names[i].qualname, t->name.qualname)) {
            suggestion_offer(&module, p->names[i].module);
        }
    }
    if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s::%s'?", diag_quote(c->diag, t->name.module),
                  diag_quote(c->diag, near.best));
    } else if (suggestion_found(&module)) {
        diag_hint(c->diag, "did you mean `%s::%s'?", diag_quote(c->diag, module.best),
                  diag_quote(c->diag, t->name.qualname));
    } else {
        const struct shipped *shipped = shipped_of_class(t->name.module, t->name.qualname);
        if (shipped != NULL && fragment_find(c, text_of(shipped->name)) == NULL) {
            hint_shipped(c, shipped);
        }
    }
}

static void reference_unknown(struct compilation *c, const struct reference *r, const struct producers *p) {
    const struct model_type *t = r->type;
    const struct row_def *row = row_find(c->rows, c->row_count, t->name);
    const char *module = diag_quote(c->diag, t->name.module), *name = diag_quote(c->diag, t->name.qualname);
    if (t->kind == UPK_TYPE_REF) {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row grants `%s::%s' as `ref'", module,
                   name);
    } else {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row makes a `%s::%s'", module, name);
    }
    if (row == NULL) {
        suggest_name(c, t, p);
        return;
    }
    diag_note(c->diag, row->span, "its row");
    if (t->kind != UPK_TYPE_REF && (row->row.flags & UPK_ROW_REF) != 0) {
        diag_hint(c->diag, "`ref' mentions it: what makes one is the alternative `new(...)' or `call(...)'");
    } else if (t->kind == UPK_TYPE_REF) {
        diag_hint(c->diag, "a row that may be named as a value has the alternative `ref'");
    } else if (row->owner != NULL && (row->row.flags & UPK_ROW_CONST) != 0) {
        diag_hint(c->diag, "a member is of the type of its class: `%s::%s'", module,
                  diag_quote(c->diag, row->owner->row.name.qualname));
    } else if ((row->row.flags & UPK_ROW_CONST) != 0) {
        diag_hint(c->diag, "a const is no object of its own type; `any' takes it");
    } else if ((row->row.flags & UPK_ROW_FUNC) != 0) {
        diag_hint(c->diag, "the type of what a function makes is the class behind its `->'");
    }
}

static void instances_fill(struct compilation *c, struct reference *r) {
    struct unit *u = fragment_find(c, r->tree->name.text);
    if (u == NULL) {
        r->reported = true;
        fragment_unknown(c, &r->tree->name);
        return;
    }
    struct row_def **rows = mem_alloc(c->mem, u->row_count, sizeof(struct row_def *));
    for (size_t i = 0; i < u->row_count && rows != NULL; i++) {
        rows[i] = &u->rows[i];
    }
    struct producers p = producers_of(c->mem, rows, rows == NULL ? 0 : u->row_count);
    r->type->classes = p.names;
    r->type->class_count = p.count;
    if (p.count == 0 && !rows_unsure(c)) {
        r->reported = true;
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row of `%s' makes an object",
                   diag_quote(c->diag, r->tree->name.text));
    }
}

void references_check(struct compilation *c) {
    struct producers p = producers_of(c->mem, c->rows, c->row_count);
    for (size_t i = 0; i < c->reference_count && !c->mem->failed; i++) {
        struct reference *r = &c->references[i];
        if (r->type->kind == UPK_TYPE_INSTANCE) {
            instances_fill(c, r);
        } else if (!rows_unsure(c) && !refers(r->type, &p, c->rows, c->row_count)) {
            r->reported = true;
            reference_unknown(c, r, &p);
        }
    }
}

/* Types reached so far, each once. */
struct reach {
    bool *seen; /* by type index */
    struct model_type **stack;
    size_t depth;
};

static void reach_add(struct reach *r, struct model_type *t) {
    if (t != NULL && !r->seen[t->mark - 1]) {
        r->seen[t->mark - 1] = true;
        r->stack[r->depth++] = t;
    }
}

static bool *types_reached(struct compilation *c, const struct model *m, struct row_def *const *rows,
                           size_t count) {
    struct reach r = {.seen = mem_alloc(c->mem, c->type_count, sizeof *r.seen),
                      .stack = mem_alloc(c->mem, c->type_count, sizeof(struct model_type *))};
    if (c->mem->failed) {
        return NULL;
    }
    reach_add(&r, m->root);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < rows[i]->row.form_count; k++) {
            const struct model_form *f = &rows[i]->row.forms[k];
            struct model_type *const held[] = {f->args,     f->kw,         f->state, f->items,
                                               f->pair_key, f->pair_value, f->adds};
            for (size_t h = 0; h < sizeof held / sizeof held[0]; h++) {
                reach_add(&r, held[h]);
            }
        }
    }
    while (r.depth != 0) {
        const struct model_type *t = r.stack[--r.depth];
        struct model_type *child = NULL;
        for (size_t i = 0; (child = model_type_part(t, i)) != NULL; i++) {
            reach_add(&r, child);
        }
    }
    return r.seen;
}

/* `said`, by unit: its `use' was asked for. */
static void not_in_channel(struct compilation *c, struct reference *r, struct text channel, bool *said) {
    const struct model_type *t = r->type;
    const struct row_def *row =
        t->kind == UPK_TYPE_INSTANCE ? NULL : row_find(c->rows, c->row_count, t->name);
    const struct unit *lacking = row != NULL ? row->unit : fragment_find(c, r->tree->name.text);
    if (lacking != NULL && lacking->used) {
        lacking = NULL;
    }
    r->reported = true;
    if (lacking != NULL && said[lacking->index]) {
        return;
    }
    if (t->kind == UPK_TYPE_INSTANCE) {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "fragment `%s' is not in use here",
                   diag_quote(c->diag, r->tree->name.text));
    } else {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row in use here %s `%s::%s'",
                   t->kind == UPK_TYPE_REF ? "grants as `ref'" : "makes a",
                   diag_quote(c->diag, t->name.module), diag_quote(c->diag, t->name.qualname));
    }
    if (row != NULL) {
        diag_note(c->diag, row->span, "its row is in `%s'", diag_quote(c->diag, row->unit->file.name.text));
    }
    if (lacking == NULL) {
        diag_hint(c->diag, "what a `use' names is reached, and nothing else");
        return;
    }
    said[lacking->index] = true;
    const char *use = diag_quote(c->diag, lacking->file.name.text);
    if (channel.len != 0) {
        diag_hint(c->diag, "add to channel `%s': use %s;", diag_quote(c->diag, channel), use);
    } else {
        diag_hint(c->diag, "add: use %s;", use);
    }
}

void references_check_channel(struct compilation *c, const struct model *m, struct row_def *const *rows,
                              size_t count, struct text channel) {
    bool *seen = types_reached(c, m, rows, count);
    bool *said = mem_alloc(c->mem, c->unit_count, sizeof *said); /* a `use' that is missing is said once */
    struct producers p = producers_of(c->mem, rows, count);
    for (size_t i = 0; i < c->reference_count && !c->mem->failed && !rows_unsure(c); i++) {
        struct reference *r = &c->references[i];
        if (r->reported || !seen[r->type->mark - 1]) {
            continue;
        }
        if (r->type->kind == UPK_TYPE_INSTANCE) {
            const struct unit *u = fragment_find(c, r->tree->name.text);
            if (u != NULL && !u->used) {
                not_in_channel(c, r, channel, said);
            }
        } else if (!refers(r->type, &p, rows, count)) {
            not_in_channel(c, r, channel, said);
        }
    }
}
