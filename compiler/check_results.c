/* Alternatives of a function with different results: no call may fit two of them.
 *
 * The class of an object is the result of the alternative that its call fits, and values are matched by it.  Were it
 * of two classes, it could be proved to be one by an alternative whose check never ran, as a check runs for the first
 * alternative that fits.  So each pair of such alternatives must differ in the number of arguments, in an argument or in
 * the state by what no value fits twice.
 *
 * Classes of objects tell arguments apart by induction: arguments are complete when they are used, so that an object's class
 * depends on those of older ones alone.  A state may hold its own object, so there they tell nothing apart.  The rows that
 * flags share (operator::or_) need no look: where two of their forms differ in the result, they differ in the class of
 * both operands.
 *
 * Layer: pass, after `instance of` is filled in.
 */
#include <stdlib.h>

#include "names.h"
#include "units.h"

enum {
    MOST_LEVELS = 8, /* of types within types; what would only differ below is taken to be the same */
    MOST_WORK = 4000000
};

/* Kinds of value.  A str of Python 2 is taken for str and for bytes. */
enum {
    OF_NONE = 1,
    OF_BOOL = 2,
    OF_INT = 4,
    OF_FLOAT = 8,
    OF_TEXT = 16,
    OF_BYTEARRAY = 32,
    OF_BUFFER = 64,
    OF_LIST = 128,
    OF_SET = 256,
    OF_FROZENSET = 512,
    OF_DICT = 1024,
    OF_TUPLE = 2048,
    OF_NAME = 4096, /* that is mentioned; a const is an object */
    OF_PERSID = 8192,
    OF_OBJECT = 16384,
    OF_ALL = 32767
};

static const unsigned kinds_of[UPK_TYPE_COUNT] = {
    [UPK_TYPE_ANY] = OF_ALL & ~(unsigned)(OF_BUFFER | OF_NAME | OF_PERSID),
    [UPK_TYPE_NONE] = OF_NONE,
    [UPK_TYPE_BOOL] = OF_BOOL,
    [UPK_TYPE_TRUE] = OF_BOOL,
    [UPK_TYPE_FALSE] = OF_BOOL,
    [UPK_TYPE_INT] = OF_INT,
    [UPK_TYPE_FLOAT] = OF_FLOAT,
    [UPK_TYPE_FINITE] = OF_FLOAT,
    [UPK_TYPE_STR] = OF_TEXT,
    [UPK_TYPE_TEXT] = OF_TEXT,
    [UPK_TYPE_BYTES] = OF_TEXT,
    [UPK_TYPE_BYTEARRAY] = OF_BYTEARRAY,
    [UPK_TYPE_BUFFER] = OF_BUFFER,
    [UPK_TYPE_INT_IS] = OF_INT,
    [UPK_TYPE_STR_IS] = OF_TEXT,
    [UPK_TYPE_BYTES_IS] = OF_TEXT,
    [UPK_TYPE_LIST] = OF_LIST,
    [UPK_TYPE_SET] = OF_SET,
    [UPK_TYPE_FROZENSET] = OF_FROZENSET,
    [UPK_TYPE_DICT] = OF_DICT,
    [UPK_TYPE_TUPLE] = OF_TUPLE,
    [UPK_TYPE_PLACES] = OF_LIST,
    [UPK_TYPE_RECORD] = OF_DICT,
    [UPK_TYPE_OBJECT] = OF_OBJECT,
    [UPK_TYPE_REF] = OF_NAME,
    [UPK_TYPE_PERSID] = OF_PERSID,
    [UPK_TYPE_INSTANCE] = OF_OBJECT,
};

struct look {
    const struct compilation *c;
    bool by_class; /* classes of objects tell types apart */
    size_t work;
};

/* No value fits both. */
static bool apart(struct look *l, const struct model_type *a, const struct model_type *b, unsigned level);

static bool is_literal(const struct model_type *t) {
    return t->kind == UPK_TYPE_STR_IS || t->kind == UPK_TYPE_BYTES_IS;
}

/* ---- lengths and numbers */

struct lengths {
    uint64_t least, most;
};

static struct lengths lengths_of(const struct model_type *t) {
    struct lengths n = {t->lo, t->hi};
    switch (t->kind) {
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS:
        n.least = t->literal.len;
        for (size_t i = 0; t->kind == UPK_TYPE_STR_IS && i < t->literal.len; i++) {
            n.least -= ((unsigned char)t->literal.at[i] & 0xc0) == 0x80; /* a byte that starts no character */
        }
        n.most = n.least;
        break;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: {
        const size_t fixed = t->elem_count - (t->repeats ? 1 : 0);
        n.least = fixed - t->optional > n.least ? fixed - t->optional : n.least;
        n.most = !t->repeats && fixed < n.most ? fixed : n.most;
        break;
    }
    case UPK_TYPE_RECORD:
        n = (struct lengths){0, t->rest == NULL ? t->field_count : UINT64_MAX};
        for (size_t i = 0; i < t->field_count; i++) {
            n.least += !t->fields[i].optional;
        }
        break;
    default: break;
    }
    return n;
}

static bool lengths_apart(const struct model_type *a, const struct model_type *b) {
    const struct lengths x = lengths_of(a), y = lengths_of(b);
    return x.most < y.least || y.most < x.least;
}

static bool is_below(const struct model_type *a, const struct model_type *b) {
    const bool open = a->kind == UPK_TYPE_INT && a->open_max;
    const struct model_int *most = a->kind == UPK_TYPE_INT ? &a->max : &a->min;
    return !open && !(b->kind == UPK_TYPE_INT && b->open_min) && number_compare(*most, b->min) < 0;
}

static bool ints_apart(const struct model_type *a, const struct model_type *b) {
    return is_below(a, b) || is_below(b, a);
}

static bool texts_apart(const struct model_type *a, const struct model_type *b) {
    return lengths_apart(a, b) || (is_literal(a) && is_literal(b) && !text_equal(a->literal, b->literal));
}

/* ---- objects */

static int compare_names(const void *left, const void *right) {
    const struct model_name *a = left, *b = right;
    return name_compare(*a, *b);
}

static bool objects_apart(struct look *l, const struct model_type *a, const struct model_type *b) {
    const bool one = a->kind == UPK_TYPE_OBJECT;
    const struct model_name *names = one ? &a->qualified : a->classes;
    const size_t count = one ? 1 : a->class_count;
    if (!l->by_class) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        l->work++;
        if (b->kind == UPK_TYPE_OBJECT
                ? name_equal(names[i], b->qualified)
                : b->class_count != 0 && bsearch(&names[i], b->classes, b->class_count, sizeof names[i],
                                                 compare_names) != NULL) {
            return false;
        }
    }
    return true;
}

/* ---- compounds */

static const struct model_type *element_at(const struct model_type *t, size_t i) {
    return t->elems[i < t->elem_count ? i : t->elem_count - 1].type;
}

static bool elements_apart(struct look *l, const struct model_type *a, const struct model_type *b,
                           unsigned level) {
    const uint64_t x = lengths_of(a).least, y = lengths_of(b).least;
    const size_t both = (size_t)(x > y ? x : y); /* INVARIANT: either may have so many */
    if (a->elem_count == 0 || b->elem_count == 0) {
        return false;
    }
    for (size_t i = 0; i < both && (i < a->elem_count || i < b->elem_count); i++) {
        if (apart(l, element_at(a, i), element_at(b, i), level)) {
            return true;
        }
    }
    return false;
}

static int compare_fields(const void *left, const void *right) {
    const struct model_field *a = left, *b = right;
    return text_compare(a->key, b->key);
}

/* Some field that a value of `a` must have is another thing in `b`, or nothing. */
static bool fields_apart(struct look *l, const struct model_type *a, const struct model_type *b,
                         unsigned level) {
    for (size_t i = 0; i < a->field_count; i++) {
        const struct model_field *field = &a->fields[i];
        if (field->optional) {
            continue;
        }
        const struct model_field *other =
            b->field_count == 0 ? NULL
                                : bsearch(field, b->fields, b->field_count, sizeof *field, compare_fields);
        const struct model_type *there = other != NULL ? other->type : b->rest;
        l->work++;
        if (there == NULL || apart(l, field->type, there, level)) {
            return true;
        }
    }
    return false;
}

static bool containers_apart(struct look *l, const struct model_type *a, const struct model_type *b,
                             unsigned level) {
    const bool places = a->kind == UPK_TYPE_TUPLE || a->kind == UPK_TYPE_PLACES;
    if (lengths_apart(a, b)) {
        return true;
    }
    if (places && a->kind == b->kind) {
        return elements_apart(l, a, b, level);
    }
    return a->kind == UPK_TYPE_RECORD && b->kind == UPK_TYPE_RECORD &&
           (fields_apart(l, a, b, level) || fields_apart(l, b, a, level));
}

/* ---- any two */

static bool alternatives_apart(struct look *l, const struct model_type *u, const struct model_type *t,
                               unsigned level) {
    for (size_t i = 0; i < u->alt_count; i++) {
        if (!apart(l, u->alts[i], t, level)) {
            return false;
        }
    }
    return true;
}

static bool values_apart(struct look *l, const struct model_type *a, const struct model_type *b,
                         unsigned level) {
    const unsigned kinds = kinds_of[a->kind] & kinds_of[b->kind];
    if (kinds == 0) {
        return true;
    }
    if (a->kind == UPK_TYPE_ANY || b->kind == UPK_TYPE_ANY) {
        return false;
    }
    switch (kinds) {
    case OF_BOOL: return a->kind != b->kind && a->kind != UPK_TYPE_BOOL && b->kind != UPK_TYPE_BOOL;
    case OF_INT: return ints_apart(a, b);
    case OF_TEXT: return texts_apart(a, b);
    case OF_NAME: return !name_equal(a->qualified, b->qualified);
    case OF_PERSID: return apart(l, a->item, b->item, level);
    case OF_OBJECT: return objects_apart(l, a, b);
    case OF_BYTEARRAY:
    case OF_BUFFER:
    case OF_LIST:
    case OF_SET:
    case OF_FROZENSET:
    case OF_DICT:
    case OF_TUPLE: return containers_apart(l, a, b, level);
    default: return false; /* none, floats */
    }
}

static bool apart(struct look *l, const struct model_type *a, const struct model_type *b, unsigned level) {
    if (++l->work > MOST_WORK || level == MOST_LEVELS) {
        return false;
    }
    if (a == l->c->poison || b == l->c->poison) {
        return true; /* reported */
    }
    if (a->kind == UPK_TYPE_UNION) {
        return alternatives_apart(l, a, b, level + 1);
    }
    return b->kind == UPK_TYPE_UNION ? alternatives_apart(l, b, a, level + 1)
                                     : values_apart(l, a, b, level + 1);
}

/* ---- alternatives of a row */

static bool needs_state(const struct model_form *f) {
    return f->state != NULL && (f->flags & UPK_FORM_STATE_OPTIONAL) == 0;
}

static bool states_apart(struct look *l, const struct model_form *f, const struct model_form *g) {
    if (!needs_state(f) && !needs_state(g)) {
        return false;
    }
    l->by_class = false;
    return f->state == NULL || g->state == NULL || apart(l, f->state, g->state, 0);
}

static bool forms_apart(struct look *l, const struct model_form *f, const struct model_form *g) {
    l->by_class = true;
    return f->args == NULL || g->args == NULL || apart(l, f->args, g->args, 0) || states_apart(l, f, g);
}

static const struct ast_maker *maker_at(const struct ast_row *tree, size_t i) {
    const struct ast_node *n = tree->makers.first;
    for (; i > 0; i--) {
        n = n->next;
    }
    return (const struct ast_maker *)n;
}

static void report(struct compilation *c, const struct row_def *def, size_t first, size_t second) {
    const struct ast_maker *a = maker_at(def->tree, first), *b = maker_at(def->tree, second);
    const struct model_name result = def->row.forms[second].result, other = def->row.forms[first].result;
    diag_error(c->diag, b->node.span, P_TWO_RESULTS, "a call may make a `%s::%s' and a `%s::%s'",
               diag_quote(c->diag, result.module), diag_quote(c->diag, result.qualname),
               diag_quote(c->diag, other.module), diag_quote(c->diag, other.qualname));
    diag_note(c->diag, a->node.span, "the same call fits this alternative");
    diag_hint(
        c->diag,
        "alternatives with different results differ in their number of arguments, or in the kind, range, "
        "literal or class of one");
}

/* The first pair of which a call fits both. */
static void row_check(struct compilation *c, struct look *l, const struct row_def *def) {
    for (size_t i = 1; i < def->row.form_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct model_form *f = &def->row.forms[k], *g = &def->row.forms[i];
            l->work++;
            if (name_equal(f->result, g->result) || forms_apart(l, f, g)) {
                continue;
            }
            if (l->work > MOST_WORK) {
                diag_error(c->diag, def->span, P_TOO_MANY, "there are too many alternatives to tell apart");
            } else {
                report(c, def, k, i);
            }
            return;
        }
    }
}

void results_check(struct compilation *c) {
    for (size_t i = 0; i < c->unit_count; i++) {
        const struct unit *u = c->units[i];
        const struct ast_row *seen = NULL; /* several names of one row are alike */
        for (size_t k = 0; k < u->row_count; k++) {
            const struct row_def *def = &u->rows[k];
            struct look l = {.c = c};
            if (def->tree->kind == AST_ROW_FUNC && def->tree != seen && !def->refused) {
                seen = def->tree;
                row_check(c, &l, def);
            }
        }
    }
}
