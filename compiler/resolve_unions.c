/* Passes over the whole graph of types: unions are made flat, recursion without a constructor is found, and
 * which types may hold `any` is computed.  All are linear and without recursion: definitions may be chained
 * as long as a file.
 *
 * Layer: pass, after all types are defined.
 */
#include <stdlib.h>

#include "units.h"

enum { MOST_FLAT = 4000000 };

static int order_of(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_chars(const struct model_type *a, const struct model_type *b) {
    int order = order_of(a->char_count, b->char_count);
    for (size_t i = 0; order == 0 && i < a->char_count; i++) {
        order = order_of(a->chars[i].lo, b->chars[i].lo);
        order = order != 0 ? order : order_of(a->chars[i].hi, b->chars[i].hi);
    }
    return order;
}

/* What a type says beside the types that it holds. */
static uint64_t type_flags(const struct model_type *t) {
    return (uint64_t)t->open_min | (uint64_t)t->open_max << 1 | (uint64_t)t->has_mask << 2 |
           (uint64_t)t->has_chars << 3 | (uint64_t)t->repeats << 4 | (uint64_t)(t->rest != NULL) << 5 |
           (uint64_t)t->kind << 8;
}

/* Some total order in which equal means: two alternatives say the same.  Types within are compared as
 * nodes: plain and named ones are one node. */
static int compare_types(const struct model_type *a, const struct model_type *b) {
    const uint64_t numbers[][2] = {{type_flags(a), type_flags(b)},
                                   {a->lo, b->lo},
                                   {a->hi, b->hi},
                                   {a->elem_count, b->elem_count},
                                   {a->optional, b->optional},
                                   {a->field_count, b->field_count}};
    int order = 0;
    if (a == b) {
        return 0;
    }
    for (size_t i = 0; order == 0 && i < sizeof numbers / sizeof numbers[0]; i++) {
        order = order_of(numbers[i][0], numbers[i][1]);
    }
    if (order == 0 && (a->kind == UPK_TYPE_UNION || a->kind == UPK_TYPE_INSTANCE)) {
        return order_of(a->mark, b->mark);
    }
    const struct model_int ints[][2] = {{a->min, b->min}, {a->max, b->max}, {a->mask, b->mask}};
    for (size_t i = 0; order == 0 && i < 3; i++) {
        order = number_compare(ints[i][0], ints[i][1]);
    }
    const struct text texts[][2] = {{a->literal, b->literal},
                                    {a->qualified.module, b->qualified.module},
                                    {a->qualified.qualname, b->qualified.qualname}};
    for (size_t i = 0; order == 0 && i < 3; i++) {
        order = text_compare(texts[i][0], texts[i][1]);
    }
    order = order != 0 ? order : compare_chars(a, b);
    for (size_t i = 0; order == 0 && i < a->field_count; i++) {
        order = text_compare(a->fields[i].key, b->fields[i].key);
        order = order != 0 ? order : order_of(a->fields[i].optional, b->fields[i].optional);
    }
    /* Both have as many parts: their kinds and numbers are equal. */
    const struct model_type *x = NULL;
    for (size_t i = 0; order == 0 && (x = model_type_part(a, i)) != NULL; i++) {
        order = order_of(x->mark, model_type_part(b, i)->mark);
    }
    return order;
}

struct alternative {
    const struct model_type *type;
    struct span span;
};

static int compare_alternatives(const void *left, const void *right) {
    const struct alternative *a = left, *b = right;
    int order = compare_types(a->type, b->type);
    return order != 0 ? order : order_of(a->span.from, b->span.from);
}

static void check_doubles(struct compilation *c, const struct union_def *def) {
    const struct model_type *t = def->type;
    if (t->alt_count > MOST_ALTERNATIVES) {
        diag_error(c->diag, def->tree->node.span, P_TOO_MANY,
                   def->tree->of_members ? "an enum has at most %d members"
                                         : "a union has at most %d alternatives",
                   MOST_ALTERNATIVES);
        return;
    }
    if (def->tree->of_members) {
        return; /* equal ones are two names of one member */
    }
    struct alternative *sorted = mem_alloc(c->mem, t->alt_count, sizeof *sorted);
    const struct ast_node *tree = def->tree->parts.first;
    for (size_t i = 0; i < t->alt_count && sorted != NULL; i++, tree = tree->next) {
        sorted[i] = (struct alternative){t->alts[i], tree->span};
    }
    if (sorted == NULL || t->alt_count == 0) {
        return;
    }
    qsort(sorted, t->alt_count, sizeof *sorted, compare_alternatives);
    for (size_t i = 1; i < t->alt_count; i++) {
        if (sorted[i].type != c->poison && compare_types(sorted[i - 1].type, sorted[i].type) == 0) {
            diag_error(c->diag, sorted[i].span, P_DUPLICATE_ALTERNATIVE,
                       "this alternative stands twice in the union");
            diag_note(c->diag, sorted[i - 1].span, "first here");
        }
    }
}

struct flat {
    size_t *of;    /* by type index: index of its union_def + 1, 0 none */
    size_t *stamp; /* by type index: union that holds it already + 1 */
    size_t *stack; /* unions being flattened */
    size_t *next;  /* by union: alternative to look at next */
    size_t total;
};

static bool flatten_one(struct compilation *c, struct flat *f, size_t index) {
    struct model_type *t = c->unions[index].type;
    size_t room = 0;
    for (size_t i = 0; i < t->alt_count; i++) {
        room += t->alts[i]->kind == UPK_TYPE_UNION ? t->alts[i]->alt_count : 1;
    }
    f->total += room;
    struct model_type **alts =
        f->total > MOST_FLAT ? NULL : mem_alloc(c->mem, room, sizeof(struct model_type *));
    if (alts == NULL) {
        diag_error(c->diag, c->unions[index].tree->node.span, P_TOO_MANY,
                   "the unions of this policy are too large");
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < t->alt_count; i++) {
        struct model_type *alt = t->alts[i];
        bool nested = alt->kind == UPK_TYPE_UNION;
        if (nested && c->unions[f->of[alt->mark - 1] - 1].state != UNION_FLAT) {
            continue; /* of a cycle, reported */
        }
        size_t inner = nested ? alt->alt_count : 1;
        for (size_t j = 0; j < inner; j++) {
            struct model_type *leaf = nested ? alt->alts[j] : alt;
            if (f->stamp[leaf->mark - 1] != index + 1) {
                f->stamp[leaf->mark - 1] = index + 1;
                alts[count++] = leaf;
            }
        }
    }
    t->alts = alts;
    t->alt_count = count;
    return true;
}

/* Depth first: the unions within a union are flat before it is. */
static bool flatten_from(struct compilation *c, struct flat *f, size_t root) {
    size_t depth = 0;
    f->stack[depth++] = root;
    c->unions[root].state = UNION_OPEN;
    while (depth != 0) {
        size_t index = f->stack[depth - 1];
        struct model_type *t = c->unions[index].type;
        if (f->next[index] == t->alt_count) {
            if (!flatten_one(c, f, index)) {
                return false;
            }
            c->unions[index].state = UNION_FLAT;
            depth--;
            continue;
        }
        const struct model_type *alt = t->alts[f->next[index]++];
        size_t inner = alt->kind == UPK_TYPE_UNION ? f->of[alt->mark - 1] : 0;
        if (inner == 0) {
            continue;
        }
        if (c->unions[inner - 1].state == UNION_RAW) {
            c->unions[inner - 1].state = UNION_OPEN;
            f->stack[depth++] = inner - 1;
        } else if (c->unions[inner - 1].state == UNION_OPEN) {
            diag_error(c->diag, c->unions[index].tree->node.span, P_RECURSIVE_TYPE,
                       "the type is an alternative of itself, with no list, dict, tuple or record between");
            if (inner - 1 != index) {
                diag_note(c->diag, c->unions[inner - 1].tree->node.span, "through this one");
            }
        }
    }
    return true;
}

void unions_finish(struct compilation *c) {
    struct flat f = {.of = mem_alloc(c->mem, c->type_count, sizeof *f.of),
                     .stamp = mem_alloc(c->mem, c->type_count, sizeof *f.stamp),
                     .stack = mem_alloc(c->mem, c->union_count, sizeof *f.stack),
                     .next = mem_alloc(c->mem, c->union_count, sizeof *f.next)};
    if (c->mem->failed) {
        return;
    }
    for (size_t i = 0; i < c->union_count; i++) {
        check_doubles(c, &c->unions[i]);
        f.of[c->unions[i].type->mark - 1] = i + 1;
    }
    for (size_t i = 0; i < c->union_count; i++) {
        if (c->unions[i].state == UNION_RAW && !flatten_from(c, &f, i)) {
            return;
        }
    }
}

void types_find_any(struct compilation *c) {
    /* Edges turned round, then everything that an `any` is reached from. */
    size_t n = c->type_count;
    size_t *start = mem_alloc(c->mem, n + 1, sizeof *start);
    size_t *stack = mem_alloc(c->mem, n, sizeof *stack);
    c->reaches_any = mem_alloc(c->mem, n, sizeof *c->reaches_any);
    if (c->mem->failed) {
        return;
    }
    const struct model_type *child = NULL;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; (child = model_type_part(c->types[i], k)) != NULL; k++) {
            start[child->mark]++;
        }
    }
    for (size_t i = 0; i < n; i++) {
        start[i + 1] += start[i];
    }
    size_t *parents = mem_alloc(c->mem, start[n], sizeof *parents);
    size_t *used = mem_alloc(c->mem, n, sizeof *used);
    if (c->mem->failed) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; (child = model_type_part(c->types[i], k)) != NULL; k++) {
            size_t to = child->mark - 1;
            parents[start[to] + used[to]++] = i;
        }
    }
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (c->types[i]->kind == UPK_TYPE_ANY) {
            c->reaches_any[i] = true;
            stack[depth++] = i;
        }
    }
    while (depth != 0) {
        size_t at = stack[--depth];
        for (size_t k = start[at]; k < start[at + 1]; k++) {
            if (!c->reaches_any[parents[k]]) {
                c->reaches_any[parents[k]] = true;
                stack[depth++] = parents[k];
            }
        }
    }
}
