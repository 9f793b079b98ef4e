/* Types that name rows or fragments: each must mean something that is granted, in the whole policy and in
 * the channel where it is reached.
 *
 * Layer: pass, after all rows are known.
 */
#include <stdlib.h>

#include "names.h"
#include "units.h"

struct unit *fragment_find(const struct compilation *c, struct text name) {
    for (size_t i = 0; i < c->unit_count; i++) {
        if (!c->units[i]->broken && text_equal(c->units[i]->file.name.text, name)) {
            return c->units[i];
        }
    }
    return NULL;
}

void fragment_unknown(struct compilation *c, const struct ast_word *name) {
    if (c->files_lost || unit_main(c)->file.items_lost) {
        return;
    }
    diag_error(c->diag, name->span, P_UNKNOWN_FRAGMENT, "no included file is fragment `%s'",
               diag_quote(c->diag, name->text));
    hint_fragment(c, name->text);
}

static bool rows_unsure(const struct compilation *c) { return c->files_lost || c->rows_lost; }

/* Canonical names, sorted. */
struct name_set {
    struct model_name *items;
    size_t count;
};

/* What rows grant to types: of what objects can be instances, and what may be named as a value. */
struct producers {
    struct name_set made, refs;
};

static int compare_names(const void *left, const void *right) {
    const struct model_name *a = left, *b = right;
    return name_compare(*a, *b);
}

static bool makes_object(const struct model_form *f) {
    return f->verb != UPK_VERB_NONE && f->verb != UPK_VERB_REF && f->result.qualname.len != 0;
}

static void set_add(struct compilation *c, const struct names *n, struct name_set *set,
                    struct model_name name) {
    struct model_name *const out = &set->items[set->count++];
    if (!name_canonical(n, NAMES_NEW, name, out)) {
        diag_memory(c);
    }
}

static void set_ready(struct name_set *set) {
    size_t kept = 0;
    if (set->count != 0) {
        qsort(set->items, set->count, sizeof *set->items, compare_names);
    }
    for (size_t i = 0; i < set->count; i++) {
        if (kept == 0 || !name_equal(set->items[kept - 1], set->items[i])) {
            set->items[kept++] = set->items[i];
        }
    }
    set->count = kept;
}

static bool set_has(const struct name_set *set, struct model_name name) {
    return set->count != 0 && bsearch(&name, set->items, set->count, sizeof name, compare_names) != NULL;
}

/* Of the rows that are `refused`, or of the others. */
static struct producers producers_of(struct compilation *c, const struct names *n,
                                     struct row_def *const *rows, size_t count, bool refused) {
    struct producers p = {.made = {NULL, 0}};
    size_t room = 0;
    for (size_t i = 0; i < count; i++) {
        room += rows[i]->row.form_count;
    }
    p.made.items = mem_alloc(c->mem, room, sizeof *p.made.items);
    p.refs.items = mem_alloc(c->mem, count, sizeof *p.refs.items);
    for (size_t i = 0; i < count && !c->mem->failed; i++) {
        const struct model_row *row = &rows[i]->row;
        for (size_t k = 0; k < row->form_count && rows[i]->refused == refused; k++) {
            if (makes_object(&row->forms[k])) {
                set_add(c, n, &p.made, row->forms[k].result);
            }
        }
        if ((row->flags & UPK_ROW_REF) != 0 && rows[i]->refused == refused) {
            set_add(c, n, &p.refs, row->name);
        }
    }
    set_ready(&p.made);
    set_ready(&p.refs);
    return p;
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

static bool refers(struct compilation *c, const struct names *n, const struct model_type *t,
                   const struct producers *p) {
    struct model_name name;
    if (!name_canonical(n, NAMES_NEW, t->qualified, &name)) {
        diag_memory(c);
        return true;
    }
    return set_has(t->kind == UPK_TYPE_OBJECT ? &p->made : &p->refs, name);
}

static void reference_unknown(struct compilation *c, const struct reference *r, const struct producers *p) {
    const struct model_type *t = r->type;
    const struct row_def *row = row_find(c->rows, c->row_count, t->qualified);
    const char *module = diag_quote(c->diag, t->qualified.module),
               *name = diag_quote(c->diag, t->qualified.qualname);
    if (t->kind == UPK_TYPE_REF) {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row grants `%s::%s' as `ref'", module,
                   name);
    } else {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row makes a `%s::%s'", module, name);
    }
    if (row == NULL) {
        hint_producer(c, t->qualified, p->made.items, p->made.count);
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
    const struct names names = {.mem = c->mem};
    const size_t count = rows == NULL ? 0 : u->row_count;
    const struct name_set made = producers_of(c, &names, rows, count, false).made,
                          lost = producers_of(c, &names, rows, count, true).made;
    r->type->classes = made.items;
    r->type->class_count = made.count;
    if (made.count == 0 && lost.count == 0 && !rows_unsure(c)) {
        r->reported = true;
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row of `%s' makes an object",
                   diag_quote(c->diag, r->tree->name.text));
    }
}

/* What a name means under an alias is known in the channels that have it. */
static bool is_aliased(const struct compilation *c, struct model_name name) {
    for (size_t i = 0; i < c->alias_count; i++) {
        if (module_is_under(name.module, c->aliases[i].from)) {
            return true;
        }
    }
    return false;
}

void references_check(struct compilation *c) {
    const struct names names = {.mem = c->mem};
    const struct producers p = producers_of(c, &names, c->rows, c->row_count, false),
                           lost = producers_of(c, &names, c->rows, c->row_count, true);
    for (size_t i = 0; i < c->reference_count && !c->mem->failed; i++) {
        struct reference *r = &c->references[i];
        if (r->type->kind == UPK_TYPE_INSTANCE) {
            instances_fill(c, r);
        } else if (!rows_unsure(c) && !is_aliased(c, r->type->qualified) && !refers(c, &names, r->type, &p)) {
            r->reported = true;
            if (!refers(c, &names, r->type, &lost)) {
                reference_unknown(c, r, &p);
            }
        }
    }
}

/* Types reached so far, each once. */
struct reach {
    bool *seen; /* by type index */
    struct model_type **stack;
    size_t depth;
};

static bool reach_begin(struct compilation *c, struct reach *r, const struct model *m) {
    *r = (struct reach){.seen = mem_alloc(c->mem, c->type_count, sizeof *r->seen),
                        .stack = mem_alloc(c->mem, c->type_count, sizeof(struct model_type *))};
    if (c->mem->failed) {
        return false;
    }
    r->seen[m->root->mark - 1] = true;
    r->stack[r->depth++] = m->root;
    return true;
}

static void reach_add(struct reach *r, struct model_type *t) {
    if (t != NULL && !r->seen[t->mark - 1]) {
        r->seen[t->mark - 1] = true;
        r->stack[r->depth++] = t;
    }
}

static void reach_row(struct reach *r, const struct row_def *row) {
    for (size_t k = 0; k < row->row.form_count; k++) {
        const struct model_form *f = &row->row.forms[k];
        struct model_type *const held[] = {f->args,     f->kw,         f->state, f->items,
                                           f->pair_key, f->pair_value, f->adds};
        for (size_t h = 0; h < sizeof held / sizeof held[0]; h++) {
            reach_add(r, held[h]);
        }
    }
}

/* The next type whose parts were not looked at yet, NULL: none.  They are reached now. */
static const struct model_type *reach_next(struct reach *r) {
    const struct model_type *t = r->depth == 0 ? NULL : r->stack[--r->depth];
    struct model_type *child = NULL;
    for (size_t i = 0; t != NULL && (child = model_type_part(t, i)) != NULL; i++) {
        reach_add(r, child);
    }
    return t;
}

static bool *types_reached(struct compilation *c, const struct model *m, struct row_def *const *rows,
                           size_t count) {
    struct reach r;
    if (!reach_begin(c, &r, m)) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        reach_row(&r, rows[i]);
    }
    while (reach_next(&r) != NULL) {
    }
    return r.seen;
}

/* Can an object of this row stand where the type does? */
static bool row_serves(const struct row_def *row, const struct model_type *t) {
    /* Of an instance, whichever class: what it holds may be needed. */
    if (t->kind == UPK_TYPE_ANY || t->kind == UPK_TYPE_INSTANCE) {
        return true;
    }
    for (size_t k = 0; k < row->row.form_count; k++) {
        if (t->kind == UPK_TYPE_OBJECT && makes_object(&row->row.forms[k]) &&
            name_equal(row->row.forms[k].result, t->qualified)) {
            return true;
        }
    }
    return false;
}

/* Types that the root needs: those it reaches through the rows that make what it holds, and no others. */
static bool *types_needed(struct compilation *c, const struct model *m, struct row_def *const *rows,
                          size_t count) {
    struct reach r;
    bool *taken = mem_alloc(c->mem, count, sizeof *taken);
    if (taken == NULL || !reach_begin(c, &r, m)) {
        return NULL;
    }
    for (const struct model_type *t = reach_next(&r); t != NULL; t = reach_next(&r)) {
        for (size_t i = 0; i < count; i++) {
            if (!taken[i] && row_serves(rows[i], t)) {
                taken[i] = true;
                reach_row(&r, rows[i]);
            }
        }
    }
    return r.seen;
}

/* A channel while it is held against its rows. */
struct view {
    const struct model *model;
    struct row_def *const *rows;
    size_t count;
    bool *said;   /* by unit: a `use' that is missing is said once */
    bool *needed; /* types_needed, when it was first asked for */
};

/* The name of the file that a type stands in. */
static struct text fragment_of(const struct compilation *c, const struct ast_type *t) {
    size_t i = 0;
    while (i + 1 < c->unit_count && c->units[i]->source != t->node.span.file) {
        i++;
    }
    return c->units[i]->file.name.text;
}

static void hint_use(struct compilation *c, struct view *v, const struct reference *r, struct unit *lacking) {
    const struct text channel = v->model->channel;
    const char *use = diag_quote(c->diag, lacking->file.name.text);
    if (channel.len != 0 && v->needed == NULL) {
        v->needed = types_needed(c, v->model, v->rows, v->count);
    }
    if (channel.len == 0) {
        v->said[lacking->index] = true;
        diag_hint(c->diag, "add: use %s;", use);
    } else if (v->needed == NULL || v->needed[r->type->mark - 1]) {
        v->said[lacking->index] = true;
        diag_hint(c->diag, "add to channel `%s': use %s;", diag_quote(c->diag, channel), use);
    } else {
        diag_hint(
            c->diag,
            "nothing that the root of `%s' holds needs it: put the rows of `%s' that it does need into a "
            "fragment of their own",
            diag_quote(c->diag, channel), diag_quote(c->diag, fragment_of(c, r->tree)));
    }
}

static void not_in_channel(struct compilation *c, struct view *v, struct reference *r) {
    const struct model_type *t = r->type;
    const struct row_def *row =
        t->kind == UPK_TYPE_INSTANCE ? NULL : row_find(c->rows, c->row_count, t->qualified);
    struct unit *lacking = row != NULL ? row->unit : fragment_find(c, r->tree->name.text);
    if (lacking != NULL && lacking->used) {
        lacking = NULL;
    }
    r->reported = true;
    if (lacking != NULL && v->said[lacking->index]) {
        return;
    }
    const struct phrase where = channel_phrase(c, v->model->channel);
    if (t->kind == UPK_TYPE_INSTANCE) {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "fragment `%s' is not in use %s",
                   diag_quote(c->diag, r->tree->name.text), where.text);
    } else {
        diag_error(c->diag, r->tree->node.span, P_UNKNOWN_CLASS, "no row in use %s %s `%s::%s'", where.text,
                   t->kind == UPK_TYPE_REF ? "grants as `ref'" : "makes a",
                   diag_quote(c->diag, t->qualified.module), diag_quote(c->diag, t->qualified.qualname));
    }
    if (row != NULL) {
        diag_note(c->diag, row->span, "its row is in `%s'", diag_quote(c->diag, row->unit->file.name.text));
    }
    if (lacking == NULL) {
        diag_hint(c->diag, "what a `use' names is reached, and nothing else");
    } else {
        hint_use(c, v, r, lacking);
    }
}

void references_check_channel(struct compilation *c, const struct model *m, struct row_def *const *rows,
                              size_t count) {
    bool *seen = types_reached(c, m, rows, count);
    struct view v = {m, rows, count, mem_alloc(c->mem, c->unit_count, sizeof *v.said), NULL};
    const struct names names = {.mem = c->mem, .aliases = m->aliases, .alias_count = m->alias_count};
    const struct producers p = producers_of(c, &names, rows, count, false),
                           lost = producers_of(c, &names, c->rows, c->row_count, true);
    for (size_t i = 0; i < c->reference_count && !c->mem->failed && !rows_unsure(c); i++) {
        struct reference *r = &c->references[i];
        if (r->reported || !seen[r->type->mark - 1]) {
            continue;
        }
        if (r->type->kind == UPK_TYPE_INSTANCE) {
            const struct unit *u = fragment_find(c, r->tree->name.text);
            if (u != NULL && !u->used) {
                not_in_channel(c, &v, r);
            }
        } else if (!refers(c, &names, r->type, &p) && !refers(c, &names, r->type, &lost)) {
            not_in_channel(c, &v, r);
        }
    }
}
