/* Policy tables built by hand.  Index 0 of rows, forms, types, classes and bounds is the null entry.
 *
 * Layer: tests over runtime/upk_tables.h; a test includes it once.
 */
#ifndef TEST_TABLE_H
#define TEST_TABLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/upk_tables.h"

enum { TABLE_ROOM = 400, POOL_ROOM = 8000 };

struct table {
    struct upk_policy policy;
    char pool[POOL_ROOM];
    struct upk_row rows[TABLE_ROOM];
    struct upk_form forms[TABLE_ROOM];
    struct upk_type types[TABLE_ROOM];
    struct upk_elem elems[TABLE_ROOM];
    struct upk_field fields[TABLE_ROOM];
    struct upk_class classes[TABLE_ROOM];
    struct upk_bound bounds[TABLE_ROOM];
    struct upk_charset charsets[TABLE_ROOM];
    struct upk_range ranges[TABLE_ROOM];
    uint32_t alts[TABLE_ROOM];
    struct upk_open opens[4];
    struct upk_deny denies[4];
};

static inline void table_clear(struct table *t) {
    memset(t, 0, sizeof *t);
    struct upk_policy *p = &t->policy;
    p->pool = t->pool;
    p->rows = t->rows;
    p->forms = t->forms;
    p->types = t->types;
    p->elems = t->elems;
    p->fields = t->fields;
    p->classes = t->classes;
    p->bounds = t->bounds;
    p->charsets = t->charsets;
    p->ranges = t->ranges;
    p->alts = t->alts;
    p->opens = t->opens;
    p->denies = t->denies;
    p->open_count = p->deny_count = 1;
    p->row_count = p->form_count = p->type_count = p->class_count = p->bound_count = p->charset_count = 1;
}

static inline struct upk_text t_text(struct table *t, const char *text) {
    struct upk_text out = {t->policy.pool_len, (uint32_t)strlen(text)};
    memcpy(t->pool + out.at, text, out.len);
    t->policy.pool_len += out.len;
    return out;
}

static inline uint32_t t_type(struct table *t, struct upk_type type) {
    t->types[t->policy.type_count] = type;
    return t->policy.type_count++;
}

static inline uint32_t t_plain(struct table *t, enum upk_type_kind kind) {
    return t_type(t, (struct upk_type){.kind = kind, .hi = UINT64_MAX});
}

/* With a length lo..hi; of LIST, SET, FROZENSET, PERSID the item is `a`; of DICT `a` and `b` are key and
 * value. */
static inline uint32_t t_sized(struct table *t, enum upk_type_kind kind, uint32_t a, uint32_t b, uint64_t lo,
                               uint64_t hi) {
    return t_type(t, (struct upk_type){.kind = kind, .a = a, .b = b, .lo = lo, .hi = hi});
}

static inline uint32_t t_of(struct table *t, enum upk_type_kind kind, uint32_t a, uint32_t b) {
    return t_sized(t, kind, a, b, 0, UINT64_MAX);
}

static inline uint32_t t_bound(struct table *t, int64_t lo, int64_t hi) {
    struct upk_bound *b = &t->bounds[t->policy.bound_count];
    b->lo[0] = (uint64_t)lo;
    b->lo[1] = lo < 0 ? UINT64_MAX : 0;
    b->hi[0] = (uint64_t)hi;
    b->hi[1] = hi < 0 ? UINT64_MAX : 0;
    b->negative = (lo < 0 ? 1u : 0u) | (hi < 0 ? 2u : 0u);
    return t->policy.bound_count++;
}

static inline uint32_t t_int(struct table *t, int64_t lo, int64_t hi) {
    return t_of(t, UPK_TYPE_INT, t_bound(t, lo, hi), 0);
}

static inline uint32_t t_int_is(struct table *t, int64_t i) {
    return t_of(t, UPK_TYPE_INT_IS, t_bound(t, i, i), 0);
}

static inline uint32_t t_literal(struct table *t, enum upk_type_kind kind, const char *text) {
    struct upk_text at = t_text(t, text);
    return t_of(t, kind, at.at, at.len);
}

static inline uint32_t t_union(struct table *t, size_t n, const uint32_t *alts) {
    uint32_t first = t->policy.alt_count;
    memcpy(t->alts + first, alts, n * sizeof *alts);
    t->policy.alt_count += (uint32_t)n;
    return t_of(t, UPK_TYPE_UNION, first, (uint32_t)n);
}

#define T_UNION(t, ...) \
    t_union(t, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

/* Elements are named x0, x1, ... */
static inline uint32_t t_tuple(struct table *t, size_t n, const uint32_t *elems, uint32_t optional,
                               bool repeats) {
    uint32_t first = t->policy.elem_count;
    for (size_t i = 0; i < n; i++) {
        char name[3] = {'x', (char)('0' + i), 0};
        t->elems[first + i] = (struct upk_elem){elems[i], t_text(t, name)};
    }
    t->policy.elem_count += (uint32_t)n;
    return t_type(t, (struct upk_type){.kind = UPK_TYPE_TUPLE,
                                       .a = first,
                                       .b = (uint32_t)n,
                                       .c = optional | (uint32_t)repeats << 24,
                                       .hi = UINT64_MAX});
}

#define T_TUPLE(t, optional, repeats, ...)                                                                  \
    t_tuple(t, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__}, \
            optional, repeats)

static inline uint32_t t_no_args(struct table *t) { return t_tuple(t, 0, NULL, 0, false); }

struct field {
    const char *key;
    uint32_t type;
    bool optional;
};

/* Fields must be given in the order of their keys. */
static inline uint32_t t_record(struct table *t, size_t n, const struct field *fields, uint32_t others) {
    uint32_t first = t->policy.field_count;
    for (size_t i = 0; i < n; i++)
        t->fields[first + i] =
            (struct upk_field){t_text(t, fields[i].key), fields[i].type, fields[i].optional};
    t->policy.field_count += (uint32_t)n;
    return t_type(t,
                  (struct upk_type){
                      .kind = UPK_TYPE_RECORD, .a = first, .b = (uint32_t)n, .c = others, .hi = UINT64_MAX});
}

#define T_RECORD(t, others, ...)                                                    \
    t_record(t, sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field), \
             (const struct field[]){__VA_ARGS__}, others)

static inline uint32_t t_class(struct table *t, const char *module, const char *qualname) {
    t->classes[t->policy.class_count] = (struct upk_class){t_text(t, module), t_text(t, qualname)};
    return t->policy.class_count++;
}

static inline uint32_t t_row(struct table *t, const char *module, const char *qualname, uint32_t flags,
                             uint32_t special) {
    t->rows[t->policy.row_count] = (struct upk_row){
        .module = t_text(t, module), .qualname = t_text(t, qualname), .flags = flags, .special = special};
    return t->policy.row_count++;
}

/* A form of the newest row, which all forms of that row follow.  Returns it, to be completed. */
static inline struct upk_form *t_form(struct table *t, enum upk_verb verb, uint32_t result, uint32_t args) {
    uint32_t row = t->policy.row_count - 1;
    struct upk_form *f = &t->forms[t->policy.form_count++];
    f->row = row;
    f->verb = verb;
    f->result = result;
    f->args = args;
    if (t->rows[row].form_count++ == 0) t->rows[row].first_form = t->policy.form_count - 1;
    return f;
}

#endif
