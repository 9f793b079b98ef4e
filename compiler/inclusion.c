/* The graph of pairs, and types that hold types.  Layer: see inclusion.h.
 *
 * A node asks all of its parts, or, where an alternative is looked for in a union, one of them.  Parts that need no look below are
 * decided at once and become no nodes.  All that a question leads to is written down before anything is concluded; what
 * earlier questions wrote down never asks what later ones do, so that their answers stand.
 *
 * Of a union those alternatives are asked first that look the same; the others when these have fallen.
 */
#include "inclusion.h"

#include <string.h>

#include "list_type.h"

enum { MOST_NODES = 1 << 19, MOST_EDGES = 1 << 21, MOST_WORK = 1 << 28 };

enum look { LOOK_NO, LOOK_YES, LOOK_OPEN };

struct pair {
    uint32_t x, y;
};

struct node {
    struct pair pair;
    uint32_t edges; /* index + 1 of the newest edge from here to what asks it */
    uint32_t left;  /* one_of: parts that have not fallen */
    bool one_of, proved, fallen;
    bool asked, whole; /* one_of: those that look the same; all */
};

struct edge {
    uint32_t asks; /* node */
    uint32_t next; /* index + 1 of the next edge of the same part */
};

/* ---- names of both sides ------------------------------------------------------------ */

static int compare_names(const struct upk_policy *p, struct upk_text module, struct upk_text qualname,
                         const struct upk_policy *q, struct upk_text module2, struct upk_text qualname2) {
    const int c = text_compare(policy_text(p, module), policy_text(q, module2));
    return c != 0 ? c : text_compare(policy_text(p, qualname), policy_text(q, qualname2));
}

/* Both are sorted by name; index 0 is none. */
static void map_classes(struct inclusion *i) {
    const struct upk_class *const xs = i->x->classes, *const ys = i->y->classes;
    for (uint32_t x = 1, y = 1; x < i->x->class_count && y < i->y->class_count;) {
        const int c = compare_names(i->x, xs[x].module, xs[x].qualname, i->y, ys[y].module, ys[y].qualname);
        if (c == 0) i->classes[x] = y;
        x += c <= 0;
        y += c >= 0;
    }
}

static void map_rows(struct inclusion *i) {
    const struct upk_row *const xs = i->x->rows, *const ys = i->y->rows;
    for (uint32_t x = 1, y = 1; x < i->x->row_count && y < i->y->row_count;) {
        const int c = compare_names(i->x, xs[x].module, xs[x].qualname, i->y, ys[y].module, ys[y].qualname);
        if (c == 0) i->rows[x] = y;
        x += c <= 0;
        y += c >= 0;
    }
}

static uint32_t class_row_of(const struct upk_policy *p) {
    for (uint32_t k = 1; k < p->open_count; k++) {
        if (p->opens[k].kind == UPK_OPEN_CLASS) return p->opens[k].row;
    }
    return 0;
}

static bool has_bases(const struct upk_policy *p) {
    for (uint32_t k = 1; k < p->open_count; k++) {
        if (p->opens[k].kind == UPK_OPEN_SUBCLASSES) return true;
    }
    return false;
}

static bool ends_in(struct text t, const char *end) {
    const size_t len = strlen(end);
    return t.len >= len && memcmp(t.at + t.len - len, end, len) == 0;
}

/* One of Python's own classes of exceptions, by its name. */
static bool is_exception(const struct upk_policy *p, const struct upk_open *base) {
    const struct text name = policy_text(p, base->qualname);
    return text_is(policy_text(p, base->module), "builtins") &&
           (ends_in(name, "Error") || ends_in(name, "Exception") || ends_in(name, "Warning") ||
            ends_in(name, "ExceptionGroup"));
}

/* Would the classes of such a row be made in the same way where only `fail_open' admits them?  There no class has a __del__ of Python,
 * and but for exceptions no __init__ of Python runs by a call, and no __setstate__ of C (runtime/python/plan.c). */
static bool is_made_alike(const struct upk_policy *p, const struct upk_open *base) {
    const struct upk_row *const row = &p->rows[base->row];
    const bool exception = is_exception(p, base);
    for (uint32_t k = row->first_form; k < row->first_form + row->form_count; k++) {
        const struct upk_form *const f = &p->forms[k];
        if (f->flags & UPK_FORM_RUNS_DEL || (!exception && (f->verb == UPK_VERB_CALL || f->state != 0)))
            return false;
    }
    return true;
}

/* Where y has no row for the subclasses of a base, but takes whatever class there is, they are made by that row, and are of its
 * class, which y's types do not say; neither do they say the base, or it would be among its classes.  Nor has y a row for another
 * base, which could be the nearest of a class that inherits from both. */
static void map_opens(struct inclusion *i) {
    const uint32_t row = has_bases(i->y) ? 0 : class_row_of(i->y);
    for (uint32_t k = 1; k < i->x->open_count && row != 0; k++) {
        const struct upk_open *const open = &i->x->opens[k];
        if (open->kind != UPK_OPEN_SUBCLASSES || i->rows[open->row] != 0 || !is_made_alike(i->x, open))
            continue;
        const uint32_t class = i->x->forms[i->x->rows[open->row].first_form].result;
        if (i->classes[class] != 0) continue;
        i->rows[open->row] = row;
        i->classes[class] = i->y->forms[i->y->rows[row].first_form].result;
    }
}

bool inclusion_init(struct inclusion *i, const struct upk_policy *x, const struct upk_policy *y,
                    struct mem *m) {
    *i = (struct inclusion){.x = x, .y = y, .mem = m};
    array_init(&i->nodes, m, sizeof(struct node));
    array_init(&i->edges, m, sizeof(struct edge));
    array_init(&i->fallen, m, sizeof(uint32_t));
    intern_init(&i->ids, m);
    i->classes = mem_alloc(m, x->class_count, sizeof *i->classes);
    i->rows = mem_alloc(m, x->row_count, sizeof *i->rows);
    i->x_alike = inclusion_alike(x, m);
    i->y_alike = inclusion_alike(y, m);
    if (!i->classes || !i->rows || !i->x_alike || !i->y_alike) return false;
    map_classes(i);
    map_rows(i);
    map_opens(i);
    return true;
}

bool inclusion_spend(struct inclusion *i, size_t n) {
    i->exhausted = i->exhausted || i->mem->failed || n > MOST_WORK - i->work;
    if (!i->exhausted) i->work += n;
    return !i->exhausted;
}

/* ---- the graph ------------------------------------------------------------ */

static struct node *node_at(const struct inclusion *i, uint32_t n) {
    return (struct node *)i->nodes.items + n;
}

struct pair_look {
    const struct inclusion *i;
    struct pair pair;
};

static bool same_pair(const void *context, uint32_t index) {
    const struct pair_look *const look = context;
    const struct pair *const p = &node_at(look->i, index)->pair;
    return p->x == look->pair.x && p->y == look->pair.y;
}

/* The node of a pair, made if there was none.  0 and exhausted: there is no room, so ask. */
static uint32_t node_of(struct inclusion *i, struct pair pair) {
    const struct pair_look look = {i, pair};
    const uint64_t hash = hash_bytes(0, &pair, sizeof pair);
    uint32_t n = 0;
    if (intern_find(&i->ids, hash, same_pair, &look, &n)) return n;
    if (i->nodes.count >= MOST_NODES) i->exhausted = true;
    if (!inclusion_spend(i, 1)) return 0;
    const struct node node = {.pair = pair,
                              .one_of = i->x->types[pair.x].kind != UPK_TYPE_UNION &&
                                        i->y->types[pair.y].kind == UPK_TYPE_UNION};
    n = array_add(&i->nodes, &node);
    intern_add(&i->ids, hash, n);
    return n;
}

static void fall(struct inclusion *i, uint32_t n) {
    struct node *const node = node_at(i, n);
    if (node->fallen || node->proved) return;
    node->fallen = true;
    array_add(&i->fallen, &n);
}

static void link_part(struct inclusion *i, uint32_t part, uint32_t asks) {
    struct node *const node = node_at(i, part), *const asking = node_at(i, asks);
    if (node->fallen) { /* it may have carried on already what is carried along edges */
        if (!asking->one_of) fall(i, asks);
        return;
    }
    if (i->edges.count >= MOST_EDGES) i->exhausted = true;
    if (!inclusion_spend(i, 1)) return;
    const struct edge edge = {.asks = asks, .next = node->edges};
    node->edges = array_add(&i->edges, &edge) + 1;
    asking->left++;
}

/* ---- what a pair says by itself ------------------------------------------------------------ */

static bool is_places(const struct upk_type *t) {
    return t->kind == UPK_TYPE_TUPLE || t->kind == UPK_TYPE_PLACES;
}

struct inclusion_counts inclusion_counts(const struct upk_policy *p, const struct upk_type *t) {
    struct inclusion_counts c = {t->lo, t->hi};
    if (is_places(t)) {
        const uint32_t repeats = t->c >> 24 ? 1 : 0, fixed = t->b - repeats,
                       least = fixed - (t->c & 0xffffff);
        if (c.lo < least) c.lo = least;
        if (!repeats && c.hi > fixed) c.hi = fixed;
    } else if (t->kind == UPK_TYPE_RECORD) {
        c = (struct inclusion_counts){0, t->c != 0 ? UINT64_MAX : t->b};
        for (uint32_t k = 0; k < t->b; k++) c.lo += p->fields[t->a + k].optional == 0;
    }
    return c;
}

uint32_t inclusion_member_at(const struct upk_policy *p, const struct upk_type *t, uint32_t place) {
    if (!is_places(t)) return t->a;
    if (place < t->b) return p->elems[t->a + place].type;
    return t->c >> 24 ? p->elems[t->a + t->b - 1].type : 0;
}

/* Kinds that take the same Python type; PERSID and ANY are none of them. */
static uint32_t python_type(const struct upk_type *t) {
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_PLACES: return UPK_TYPE_LIST;
    case UPK_TYPE_RECORD: return UPK_TYPE_DICT;
    default: return t->kind;
    }
}

static bool is_dict(const struct upk_type *t) { return python_type(t) == UPK_TYPE_DICT; }

/* Two types that are no unions, the first with members. */
static enum look look_at_compounds(const struct inclusion *i, const struct upk_type *x,
                                   const struct upk_type *y) {
    if (x->kind == UPK_TYPE_PERSID) return y->kind == UPK_TYPE_PERSID ? LOOK_OPEN : LOOK_NO;
    const struct inclusion_counts cx = inclusion_counts(i->x, x);
    if (cx.lo > cx.hi) return LOOK_YES; /* there is no such value */
    if (y->kind == UPK_TYPE_ANY) return cx.hi == 0 ? LOOK_YES : LOOK_OPEN;
    if (python_type(x) != python_type(y)) return LOOK_NO;
    const struct inclusion_counts cy = inclusion_counts(i->y, y);
    if (cx.lo < cy.lo || cx.hi > cy.hi) {
        /* Lengths say nothing of records: a key that is too much has a field or none. */
        if (!(x->kind == UPK_TYPE_RECORD && y->kind == UPK_TYPE_RECORD)) return LOOK_NO;
    }
    return cx.hi == 0 && cy.lo == 0 ? LOOK_YES : LOOK_OPEN;
}

static enum look look_at(struct inclusion *i, struct pair p) {
    const struct upk_type *const x = &i->x->types[p.x], *const y = &i->y->types[p.y];
    if (inclusion_is_leaf(x)) return inclusion_leaf(i, x, p.y) ? LOOK_YES : LOOK_NO;
    if (x->kind == UPK_TYPE_UNION || y->kind == UPK_TYPE_UNION) return LOOK_OPEN;
    return look_at_compounds(i, x, y);
}

/* ---- parts of a pair ------------------------------------------------------------ */

static void ask(struct inclusion *i, uint32_t n, uint32_t x, uint32_t y) {
    const struct pair pair = {x, y};
    const enum look look = look_at(i, pair);
    struct node *const node = node_at(i, n);
    if (look == LOOK_OPEN) {
        const uint32_t part = node_of(i, pair); /* moves the nodes */
        if (!i->exhausted) link_part(i, part, n);
    } else if (look == LOOK_YES) {
        node->proved = node->proved || node->one_of;
    } else if (!node->one_of) {
        fall(i, n);
    }
}

static void ask_members(struct inclusion *i, uint32_t n, const struct upk_type *x, const struct upk_type *y) {
    const uint32_t here = is_places(x) ? x->b : 1, there = is_places(y) ? y->b : 1;
    const uint64_t most = inclusion_counts(i->x, x).hi;
    for (uint32_t k = 0; k < (here > there ? here : there) && k < most && !i->exhausted; k++) {
        const uint32_t a = inclusion_member_at(i->x, x, k), b = inclusion_member_at(i->y, y, k);
        if (a == 0 || b == 0) {
            fall(i, n);
            return;
        }
        ask(i, n, a, b);
    }
}

static const struct upk_type any_str = {.kind = UPK_TYPE_STR, .hi = UINT64_MAX};

static struct upk_type literal_of(const struct upk_field *f) {
    return (struct upk_type){.kind = UPK_TYPE_STR_IS, .a = f->key.at, .b = f->key.len};
}

static void ask_record_in_dict(struct inclusion *i, uint32_t n, const struct upk_type *x,
                               const struct upk_type *y) {
    for (uint32_t k = 0; k < x->b && !i->exhausted; k++) {
        const struct upk_field *const f = &i->x->fields[x->a + k];
        const struct upk_type key = literal_of(f);
        if (!inclusion_leaf(i, &key, y->a)) fall(i, n);
        ask(i, n, f->type, y->b);
    }
    if (x->c == 0) return;
    if (!inclusion_leaf(i, &any_str, y->a)) fall(i, n);
    ask(i, n, x->c, y->b);
}

static bool is_str(const struct upk_type *t) {
    return t->kind == UPK_TYPE_STR || t->kind == UPK_TYPE_TEXT || t->kind == UPK_TYPE_STR_IS;
}

static bool takes_str_alone(const struct upk_policy *p, uint32_t type) {
    const struct upk_type *const t = &p->types[type];
    for (uint32_t k = 0; t->kind == UPK_TYPE_UNION && k < t->b; k++) {
        if (!is_str(&p->types[p->alts[t->a + k]])) return false;
    }
    return t->kind == UPK_TYPE_UNION || is_str(t);
}

/* Which keys are there is not known. */
static void ask_dict_in_record(struct inclusion *i, uint32_t n, const struct upk_type *x,
                               const struct upk_type *y) {
    if (!takes_str_alone(i->x, x->a) || y->c == 0 || inclusion_counts(i->y, y).lo != 0) {
        fall(i, n);
        return;
    }
    for (uint32_t k = 0; k < y->b && !i->exhausted; k++) ask(i, n, x->b, i->y->fields[y->a + k].type);
    ask(i, n, x->b, y->c);
}

/* A field of one record or the other, or both. */
static void ask_field(struct inclusion *i, uint32_t n, const struct upk_type *x, const struct upk_type *y,
                      const struct upk_field *here, const struct upk_field *there) {
    if (there && !there->optional && (!here || here->optional)) {
        fall(i, n);
    } else if (here && (there || y->c != 0)) {
        ask(i, n, here->type, there ? there->type : y->c);
    } else if (here) {
        fall(i, n);
    } else if (x->c != 0) {
        ask(i, n, x->c, there->type);
    }
}

static void ask_fields(struct inclusion *i, uint32_t n, const struct upk_type *x, const struct upk_type *y) {
    const struct upk_field *const xs = i->x->fields + x->a, *const ys = i->y->fields + y->a;
    for (uint32_t k = 0, l = 0; (k < x->b || l < y->b) && !i->exhausted;) {
        const int c = k == x->b   ? 1
                      : l == y->b ? -1
                                  : text_compare(policy_text(i->x, xs[k].key), policy_text(i->y, ys[l].key));
        ask_field(i, n, x, y, c <= 0 ? &xs[k] : NULL, c >= 0 ? &ys[l] : NULL);
        k += c <= 0;
        l += c >= 0;
    }
    if (x->c == 0) return;
    if (y->c == 0)
        fall(i, n);
    else
        ask(i, n, x->c, y->c);
}

static void ask_any(struct inclusion *i, uint32_t n, uint32_t x, uint32_t y) {
    uint32_t part;
    for (uint32_t k = 0; type_part(i->x, x, k, &part) && !i->exhausted; k++) ask(i, n, part, y);
}

static void ask_dicts(struct inclusion *i, uint32_t n, const struct upk_type *x, const struct upk_type *y) {
    if (x->kind == UPK_TYPE_RECORD) {
        if (y->kind == UPK_TYPE_RECORD)
            ask_fields(i, n, x, y);
        else
            ask_record_in_dict(i, n, x, y);
    } else if (y->kind == UPK_TYPE_RECORD) {
        ask_dict_in_record(i, n, x, y);
    } else {
        ask(i, n, x->a, y->a);
        ask(i, n, x->b, y->b);
    }
}

static void ask_those(struct inclusion *i, uint32_t n, bool alike) {
    const struct pair p = node_at(i, n)->pair;
    const struct upk_type *const y = &i->y->types[p.y];
    if (!inclusion_spend(i, y->b)) return;
    for (uint32_t k = 0; k < y->b && !i->exhausted && !node_at(i, n)->proved; k++) {
        const uint32_t alt = i->y->alts[y->a + k];
        if ((i->y_alike[alt] == i->x_alike[p.x]) == alike) ask(i, n, p.x, alt);
    }
}

/* As many alternatives as it takes until one is left that has not fallen. */
static void ask_alternatives(struct inclusion *i, uint32_t n) {
    struct node *node = node_at(i, n);
    if (!node->asked) {
        node->asked = true;
        ask_those(i, n, true);
    }
    node = node_at(i, n);
    if (node->left == 0 && !node->proved && !node->whole) {
        node->whole = true;
        ask_those(i, n, false);
    }
    node = node_at(i, n);
    if (node->left == 0) fall(i, n);
}

static void ask_parts(struct inclusion *i, uint32_t n) {
    const struct pair p = node_at(i, n)->pair;
    const struct upk_type *const x = &i->x->types[p.x], *const y = &i->y->types[p.y];
    if (x->kind == UPK_TYPE_UNION) {
        for (uint32_t k = 0; k < x->b && !i->exhausted; k++) ask(i, n, i->x->alts[x->a + k], p.y);
    } else if (y->kind == UPK_TYPE_UNION) {
        ask_alternatives(i, n);
    } else if (y->kind == UPK_TYPE_ANY) {
        ask_any(i, n, p.x, p.y);
    } else if (is_dict(x)) {
        ask_dicts(i, n, x, y);
    } else {
        ask_members(i, n, x, y); /* of a PERSID the one below it */
    }
}

/* ---- solving ------------------------------------------------------------ */

/* Carries refutations on.  An alternative that is asked only now is a new part, or one that stands. */
static void carry(struct inclusion *i) {
    while (i->fallen.count > 0 && !i->exhausted) {
        const uint32_t *const fallen = i->fallen.items;
        const uint32_t part = fallen[--i->fallen.count];
        for (uint32_t e = node_at(i, part)->edges; e != 0;) {
            const struct edge edge = ((const struct edge *)i->edges.items)[e - 1];
            struct node *const asks = node_at(i, edge.asks);
            e = edge.next;
            if (!asks->one_of)
                fall(i, edge.asks);
            else if (--asks->left == 0)
                ask_alternatives(i, edge.asks);
        }
    }
}

static void solve(struct inclusion *i) {
    do {
        for (; i->expanded < i->nodes.count && inclusion_spend(i, 1); i->expanded++)
            ask_parts(i, (uint32_t)i->expanded);
        carry(i);
    } while (i->expanded < i->nodes.count && !i->exhausted);
}

bool inclusion_type(struct inclusion *i, uint32_t x, uint32_t y) {
    const struct pair pair = {x, y};
    const enum look look = look_at(i, pair);
    if (look != LOOK_OPEN) return look == LOOK_YES && !i->exhausted;
    const uint32_t n = node_of(i, pair);
    if (i->exhausted) return false;
    solve(i);
    return !i->exhausted && !i->mem->failed && !node_at(i, n)->fallen;
}
