/* Types of a file: named types are declared first, then every type expression becomes a model type.
 *
 * A name resolves to the one node of its definition, so recursion needs no special care here; that each
 * cycle passes a constructor is checked when unions are finished.
 *
 * Layer: pass, after include.
 */
#include <stdlib.h>

#include "keywords.h"
#include "suggest.h"
#include "units.h"

enum { MOST_TYPES = 4000000 };

void diag_memory(struct compilation *c) { c->mem->failed = true; /* reported once, at the end */ }

struct model_type *type_new(struct compilation *c, enum upk_type_kind kind) {
    struct model_type **grown = mem_grow(c->mem, c->types, c->type_count, &c->type_room, sizeof *grown);
    struct model_type *t = c->type_count < MOST_TYPES ? mem_alloc(c->mem, 1, sizeof *t) : NULL;
    if (grown == NULL || t == NULL) {
        diag_memory(c);
        return c->poison;
    }
    c->types = grown;
    c->types[c->type_count++] = t;
    t->mark = (uint32_t)c->type_count;
    t->kind = kind;
    t->hi = UINT64_MAX;
    t->open_min = t->open_max = kind == UPK_TYPE_INT;
    return t;
}

struct model_type *type_plain(struct compilation *c, enum upk_type_kind kind) {
    if (c->plain[kind] == NULL) {
        c->plain[kind] = type_new(c, kind);
    }
    return c->plain[kind];
}

/* Named types */

static int compare_defs(const void *left, const void *right) {
    const struct type_def *a = left, *b = right;
    int order = text_compare(a->item->name.text, b->item->name.text);
    if (order != 0) {
        return order;
    }
    return (a->item->node.span.from > b->item->node.span.from) -
           (a->item->node.span.from < b->item->node.span.from);
}

static void type_fill(struct compilation *c, struct unit *u, const struct ast_type *t,
                      struct model_type *own);

static struct type_def *def_find(const struct unit *u, struct text name) {
    size_t low = 0, high = u->type_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = text_compare(u->types[middle].item->name.text, name);
        if (order == 0) {
            return &u->types[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static const char *const reserved[] = {"none",   "bool", "true",    "false",     "int",       "float",
                                       "finite", "str",  "text",    "bytes",     "bytearray", "buffer",
                                       "any",    "list", "set",     "frozenset", "dict",      "tuple",
                                       "persid", "ref",  "instance"};

static bool name_is_reserved(struct text name) {
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (text_is(name, reserved[i])) {
            return true;
        }
    }
    return false;
}

void types_declare(struct compilation *c, struct unit *u) {
    size_t count = 0;
    for (struct ast_node *n = u->file.items.first; n != NULL; n = n->next) {
        count += ((struct ast_item *)n)->kind == AST_TYPE;
    }
    u->types = mem_alloc(c->mem, count, sizeof *u->types);
    if (u->types == NULL) {
        diag_memory(c);
        return;
    }
    for (struct ast_node *n = u->file.items.first; n != NULL; n = n->next) {
        struct ast_item *item = (struct ast_item *)n;
        if (item->kind != AST_TYPE) {
            continue;
        }
        if (name_is_reserved(item->name.text)) {
            diag_error(c->diag, item->name.span, P_RESERVED_TYPE_NAME, "`%s' is a type of the language",
                       diag_quote(c->diag, item->name.text));
            continue;
        }
        if (keyword_find(item->name.text.at, item->name.text.len) != 0) {
            diag_error(c->diag, item->name.span, P_RESERVED_TYPE_NAME,
                       "`%s' is a word of the language, and no type is named so",
                       diag_quote(c->diag, item->name.text));
            continue;
        }
        u->types[u->type_count++].item = item;
    }
    if (u->type_count == 0) {
        return;
    }
    qsort(u->types, u->type_count, sizeof *u->types, compare_defs);
    size_t kept = 0;
    for (size_t i = 0; i < u->type_count; i++) {
        struct ast_item *item = u->types[i].item;
        if (kept != 0 && text_equal(u->types[kept - 1].item->name.text, item->name.text)) {
            diag_error(c->diag, item->name.span, P_DUPLICATE_TYPE, "type `%s' is defined twice",
                       diag_quote(c->diag, item->name.text));
            diag_note(c->diag, u->types[kept - 1].item->name.span, "first defined here");
            continue;
        }
        u->types[kept++].item = item;
    }
    u->type_count = kept;
}

static void unknown_type(struct compilation *c, const struct unit *u, const struct ast_word *name) {
    if (u->file.types_lost) {
        return;
    }
    diag_error(c->diag, name->span, P_UNKNOWN_TYPE, "unknown type `%s'", diag_quote(c->diag, name->text));
    struct suggestion near = suggestion_begin(name->text);
    /* The search is long, and beyond the cap nobody reads its result. */
    for (size_t i = 0; i < u->type_count && diag_error_count(c->diag) <= DIAG_MOST_ERRORS; i++) {
        suggestion_offer(&near, u->types[i].item->name.text);
    }
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        suggestion_offer(&near, text_of(reserved[i]));
    }
    const char *elsewhere = suggestion_of_type(name->text);
    if (hint_class(c, name->text)) {
        return;
    }
    if (elsewhere != NULL && (!suggestion_found(&near) || near.distance > 1)) {
        diag_hint(c->diag, "%s", elsewhere);
    } else if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
    } else {
        diag_hint(c->diag, "types belong to their file; a class is written module::Name");
    }
}

/* `type A = B;`: both names mean one node. */
static void def_follow(struct compilation *c, struct unit *u, struct type_def *def) {
    struct type_def *d = def;
    size_t steps = 0;
    while (d != NULL && d->type == NULL && d->item->type->kind == AST_NAMED && steps++ < u->type_count) {
        d = def_find(u, d->item->type->name.text);
    }
    if (d != NULL && d->type != NULL) {
        def->type = d->type;
    } else if (d != NULL) {
        diag_error(c->diag, def->item->name.span, P_RECURSIVE_TYPE,
                   "type `%s' is only another name for itself", diag_quote(c->diag, def->item->name.text));
        def->type = c->poison;
    } else {
        def->type = c->poison; /* an unknown name on the way, reported where it stands */
    }
}

static bool is_plain(const struct ast_type *t) {
    return t->kind == AST_SIMPLE && !t->range.given && !t->has_mask && !t->has_chars;
}

/* Roots are converted with the definitions: what comes later expects that no type is added. */
static void roots_convert(struct compilation *c, struct unit *u, const struct ast_list *items) {
    for (struct ast_node *n = items->first; n != NULL; n = n->next) {
        struct ast_item *item = (struct ast_item *)n;
        if (item->kind == AST_ROOT) {
            item->root = type_convert(c, u, item->type);
        } else if (item->kind == AST_CHANNEL) {
            roots_convert(c, u, &item->parts);
        }
    }
}

void types_define(struct compilation *c, struct unit *u) {
    for (size_t i = 0; i < u->type_count; i++) {
        const struct ast_type *body = u->types[i].item->type;
        if (is_plain(body)) {
            u->types[i].type = type_plain(c, body->simple);
        } else if (body->kind != AST_NAMED) {
            u->types[i].type = type_new(c, body->simple);
            if (u->types[i].type != c->poison) {
                u->types[i].type->name = u->types[i].item->name.text;
            }
        }
    }
    for (size_t i = 0; i < u->type_count; i++) {
        if (u->types[i].type == NULL) {
            const struct ast_word *name = &u->types[i].item->type->name;
            if (def_find(u, name->text) == NULL) {
                unknown_type(c, u, name);
            }
            def_follow(c, u, &u->types[i]);
        }
    }
    for (size_t i = 0; i < u->type_count; i++) {
        const struct ast_type *body = u->types[i].item->type;
        if (!is_plain(body) && body->kind != AST_NAMED && u->types[i].type != c->poison) {
            type_fill(c, u, body, u->types[i].type);
        }
    }
    roots_convert(c, u, &u->file.items);
}

/* Type expressions */

static void fill_union(struct compilation *c, struct unit *u, const struct ast_type *t,
                       struct model_type *own) {
    struct union_def *grown = mem_grow(c->mem, c->unions, c->union_count, &c->union_room, sizeof *grown);
    own->alts = mem_alloc(c->mem, t->parts.count, sizeof *own->alts);
    if (grown == NULL || own->alts == NULL) {
        diag_memory(c);
        return;
    }
    c->unions = grown;
    c->unions[c->union_count++] = (struct union_def){.type = own, .tree = t};
    for (const struct ast_node *n = t->parts.first; n != NULL; n = n->next) {
        own->alts[own->alt_count++] = type_convert(c, u, (const struct ast_type *)n);
    }
}

static int compare_elem_names(const void *left, const void *right) {
    const struct ast_elem *const *a = left, *const *b = right;
    int order = text_compare((*a)->name.text, (*b)->name.text);
    return order != 0 ? order
                      : ((*a)->node.span.from > (*b)->node.span.from) -
                            ((*a)->node.span.from < (*b)->node.span.from);
}

static void check_argument_names(struct compilation *c, const struct ast_list *elems) {
    const struct ast_elem **sorted = mem_alloc(c->mem, elems->count, sizeof(struct ast_elem *));
    size_t count = 0;
    for (const struct ast_node *n = elems->first; n != NULL && sorted != NULL; n = n->next) {
        if (((const struct ast_elem *)n)->name.text.len != 0) {
            sorted[count++] = (const struct ast_elem *)n;
        }
    }
    if (count != 0) {
        qsort(sorted, count, sizeof *sorted, compare_elem_names);
    }
    for (size_t i = 1; i < count; i++) {
        if (text_equal(sorted[i - 1]->name.text, sorted[i]->name.text)) {
            diag_error(c->diag, sorted[i]->name.span, P_DUPLICATE_FIELD, "argument `%s' is named twice",
                       diag_quote(c->diag, sorted[i]->name.text));
            diag_note(c->diag, sorted[i - 1]->name.span, "first named here");
        }
    }
}

static void fill_tuple(struct compilation *c, struct unit *u, const struct ast_list *elems,
                       struct model_type *own) {
    own->elems = mem_alloc(c->mem, elems->count, sizeof *own->elems);
    if (own->elems == NULL) {
        diag_memory(c);
        return;
    }
    check_argument_names(c, elems);
    bool ordered = true;
    for (const struct ast_node *n = elems->first; n != NULL; n = n->next) {
        const struct ast_elem *e = (const struct ast_elem *)n;
        struct model_type *type = type_convert(c, u, e->type);
        own->elems[own->elem_count++] = (struct model_elem){.type = type, .name = e->name.text};
        if (ordered && own->repeats) {
            diag_error(c->diag, e->node.span, P_BAD_ORDER, "nothing follows what repeats");
            ordered = false;
        } else if (ordered && own->optional != 0 && !e->optional && !e->repeats) {
            diag_error(c->diag, e->node.span, P_BAD_ORDER, "what is required stands before what is optional");
            ordered = false;
        }
        own->optional += e->optional;
        own->repeats = own->repeats || e->repeats;
    }
}

struct model_type *type_tuple(struct compilation *c, struct unit *u, const struct ast_list *elems) {
    struct model_type *t = type_new(c, UPK_TYPE_TUPLE);
    if (t != c->poison) {
        fill_tuple(c, u, elems, t);
    }
    return t;
}

struct keyed { /* a field with its place */
    struct model_field field;
    struct span span;
};

static int compare_keyed(const void *left, const void *right) {
    const struct keyed *a = left, *b = right;
    int order = text_compare(a->field.key, b->field.key);
    return order != 0 ? order : (a->span.from > b->span.from) - (a->span.from < b->span.from);
}

static void fill_record(struct compilation *c, struct unit *u, const struct ast_list *parts,
                        struct model_type *own) {
    struct keyed *keyed = mem_alloc(c->mem, parts->count, sizeof *keyed);
    own->fields = mem_alloc(c->mem, parts->count, sizeof *own->fields);
    if (keyed == NULL || own->fields == NULL) {
        diag_memory(c);
        return;
    }
    size_t count = 0;
    for (const struct ast_node *n = parts->first; n != NULL; n = n->next) {
        const struct ast_field *f = (const struct ast_field *)n;
        struct model_type *type = type_convert(c, u, f->type);
        if (!f->rest) {
            struct model_field field = {.key = f->key.text, .type = type, .optional = f->optional};
            keyed[count++] = (struct keyed){field, f->key.span};
        } else if (own->rest == NULL) {
            own->rest = type;
        } else {
            diag_error(c->diag, f->node.span, P_DUPLICATE_FIELD, "`*' is given twice");
        }
    }
    if (count != 0) {
        qsort(keyed, count, sizeof *keyed, compare_keyed);
    }
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && text_equal(keyed[i - 1].field.key, keyed[i].field.key)) {
            diag_error(c->diag, keyed[i].span, P_DUPLICATE_FIELD, "field `%s' is given twice",
                       diag_quote(c->diag, keyed[i].field.key));
            diag_note(c->diag, keyed[i - 1].span, "first given here");
            continue;
        }
        own->fields[own->field_count++] = keyed[i].field;
    }
}

static void fill_simple(struct compilation *c, const struct ast_type *t, struct model_type *own) {
    switch (own->kind) {
    case UPK_TYPE_INT:
        range_of_int(c, &t->range, own);
        if (t->has_mask && !t->mask.bad) {
            if (t->mask.value.negative) {
                diag_error(c->diag, t->mask.span, P_BAD_RANGE, "a mask is not negative");
            }
            own->has_mask = true;
            own->mask = t->mask.value;
        }
        break;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
        range_of_length(c, &t->range, false, own);
        if (t->has_chars) {
            chars_of(c, &t->chars, own);
        }
        break;
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER: range_of_length(c, &t->range, true, own); break;
    default: /* the grammar gives no other kind a range */ break;
    }
}

static void add_reference(struct compilation *c, const struct ast_type *t, struct model_type *own) {
    struct reference *grown =
        mem_grow(c->mem, c->references, c->reference_count, &c->reference_room, sizeof *grown);
    if (grown == NULL) {
        diag_memory(c);
        return;
    }
    c->references = grown;
    c->references[c->reference_count++] = (struct reference){.type = own, .tree = t};
}

/* Recursion is bounded by the nesting that the parser's stack holds (YYMAXDEPTH). */
static void type_fill(struct compilation *c, struct unit *u, const struct ast_type *t,
                      struct model_type *own) {
    switch (t->kind) {
    case AST_OBJECT:
        range_of_length(c, &t->range, false, own);
        own->qualified = (struct model_name){t->module.text, t->name.text};
        if (!t->module.bad && !t->name.bad) {
            add_reference(c, t, own);
        }
        break;
    case AST_REF:
        own->qualified = (struct model_name){t->module.text, t->name.text};
        if (!t->module.bad && !t->name.bad) {
            add_reference(c, t, own);
        }
        break;
    case AST_INSTANCE:
        if (!t->name.bad) {
            add_reference(c, t, own);
        }
        break;
    case AST_PERSID: own->item = type_convert(c, u, t->item); break;
    case AST_SIMPLE: fill_simple(c, t, own); break;
    case AST_INT_IS: own->min = own->max = t->number.value; break;
    case AST_STR_IS:
    case AST_BYTES_IS: own->literal = t->literal.text; break;
    case AST_LIST:
        range_of_length(c, &t->range, false, own);
        own->item = type_convert(c, u, t->item);
        break;
    case AST_DICT:
        range_of_length(c, &t->range, false, own);
        own->key = type_convert(c, u, t->key);
        own->value = type_convert(c, u, t->item);
        break;
    case AST_TUPLE:
        range_of_length(c, &t->range, false, own);
        fill_tuple(c, u, &t->parts, own);
        break;
    case AST_RECORD: fill_record(c, u, &t->parts, own); break;
    case AST_UNION: fill_union(c, u, t, own); break;
    case AST_NAMED: /* type_convert */ break;
    }
}

struct model_type *type_convert(struct compilation *c, struct unit *u, const struct ast_type *t) {
    if (t->kind == AST_NAMED) {
        const struct type_def *def = def_find(u, t->name.text);
        if (def == NULL) {
            unknown_type(c, u, &t->name);
            return c->poison;
        }
        return def->type == NULL ? c->poison : def->type;
    }
    if (is_plain(t)) {
        return type_plain(c, t->simple);
    }
    struct model_type *own = type_new(c, t->simple);
    if (own != c->poison) {
        type_fill(c, u, t, own);
    }
    return own;
}
