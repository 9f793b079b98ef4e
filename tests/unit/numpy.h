/* Dtypes and arrays of numpy built by hand, and what their checks say of them by both provers.
 *
 * Layer: tests of runtime/npy.c and the checks over it; a test includes it once.
 */
#ifndef TEST_NUMPY_H
#define TEST_NUMPY_H

#include "matching.h"

enum { DTYPE_ROW = 1, UNCHECKED_ROW, ARRAY_ROW, BUFFER_ROW, SCALAR_ROW };

static uint64_t budget;

static inline void add_row(const char *name, enum upk_check check) {
    const uint32_t any = t_plain(&table, UPK_TYPE_ANY), buffer = t_plain(&table, UPK_TYPE_BUFFER),
                   arg = T_UNION(&table, any, buffer, t_of(&table, UPK_TYPE_REF, DTYPE_ROW, 0));
    (void)t_row(&table, "m", name, UPK_ROW_CLASS, 0);
    struct upk_form *const f =
        t_form(&table, UPK_VERB_CALL, t_class(&table, "m", name), T_TUPLE(&table, 0, true, arg));
    f->state = any;
    f->flags = UPK_FORM_STATE_OPTIONAL;
    f->check = (uint8_t)check;
}

static inline int numpy_set_up(void **state) {
    (void)set_up(state);
    budget = 10000000;
    add_row("dtype", UPK_CHECK_NPDTYPE);
    add_row("unchecked", UPK_CHECK_NONE);
    add_row("array", UPK_CHECK_NDARRAY);
    add_row("buffer", UPK_CHECK_FROMBUFFER);
    add_row("scalar", UPK_CHECK_NPSCALAR);
    table.policy.root = t_plain(&table, UPK_TYPE_ANY);
    return 0;
}

/* ---- dtypes */

static inline struct upk_value ints(size_t n, const int64_t *extents) {
    struct upk_value v = v_empty(&doc, UPK_TUPLE);
    for (size_t i = 0; i < n; i++) add(&doc, v.as.cell, v_int(extents[i]));
    return v;
}

#define SHAPE(...) \
    ints(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

struct spec { /* a dtype; UPK_INVALID stands for None */
    struct upk_value code, order, base, names, fields;
    int64_t itemsize, align, flags;
    struct upk_value metadata; /* UPK_INVALID: a state of version 3 */
    uint32_t row;
};

static inline struct upk_value unit(const char *name, int64_t count) {
    return V_OF(&doc, UPK_TUPLE, v_empty(&doc, UPK_DICT),
                V_OF(&doc, UPK_TUPLE, v_bytes(name), v_int(count), v_int(1), v_int(1)));
}

/* A dtype of one value, as numpy writes it. */
static inline struct spec plain(const char *code) {
    const int64_t n = atoi(code + 1);
    struct spec d = {.code = v_str(code), .row = DTYPE_ROW, .itemsize = -1, .align = -1};
    const bool text = *code == 'U', sized = text || *code == 'S' || *code == 'V';
    d.order = v_str(text || (!sized && *code != 'O' && n > 1) ? "<" : "|");
    if (sized) d.itemsize = text ? 4 * n : n;
    if (sized) d.align = text ? 4 : 1;
    d.flags = text ? 8 : *code == 'O' ? 63 : 0;
    if (*code == 'M' || *code == 'm') d.metadata = unit("ns", 1);
    return d;
}

static inline struct upk_value or_none(struct upk_value v) { return v.kind == UPK_INVALID ? v_none() : v; }

static inline struct object *made(const struct spec *d) {
    struct object *const o =
        new_object(&doc, d->row, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, d->code, v_bool(false), v_bool(true)));
    const bool more = d->metadata.kind != UPK_INVALID;
    struct upk_value state =
        V_OF(&doc, UPK_TUPLE, v_int(more ? 4 : 3), d->order, or_none(d->base), or_none(d->names),
             or_none(d->fields), v_int(d->itemsize), v_int(d->align), v_int(d->flags));
    if (more) add(&doc, state.as.cell, d->metadata);
    set_state(o, state);
    return o;
}

static inline struct upk_value dtype(struct spec d) { return value_of_cell(&made(&d)->cell); }
static inline struct upk_value dtype_of(const char *code) { return dtype(plain(code)); }

static inline struct spec subarray(const char *code, struct upk_value base, struct upk_value shape,
                                   int64_t align, int64_t flags) {
    struct spec d = plain(code);
    d.base = V_OF(&doc, UPK_TUPLE, base, shape);
    d.align = align;
    d.flags = flags;
    return d;
}

struct member {
    const char *name;
    struct upk_value type;
    int64_t at;
    const char *title; /* NULL: none */
};

static inline struct upk_value field(struct member f) {
    if (!f.title) return V_OF(&doc, UPK_TUPLE, f.type, v_int(f.at));
    return V_OF(&doc, UPK_TUPLE, f.type, v_int(f.at), v_str(f.title));
}

/* A record; titles get no key of their own. */
static inline struct spec record_of(const char *code, size_t n, const struct member *f) {
    struct spec d = plain(code);
    d.names = v_empty(&doc, UPK_TUPLE);
    d.fields = v_empty(&doc, UPK_DICT);
    d.flags = 16;
    for (size_t i = 0; i < n; i++) {
        add(&doc, d.names.as.cell, v_str(f[i].name));
        add(&doc, d.fields.as.cell, v_str(f[i].name));
        add(&doc, d.fields.as.cell, field(f[i]));
    }
    return d;
}

#define RECORD(code, ...)                                                                 \
    record_of(code, sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member), \
              (const struct member[]){__VA_ARGS__})

static inline void add_key(struct spec *d, const char *key, struct upk_value value) {
    add(&doc, d->fields.as.cell, v_str(key));
    add(&doc, d->fields.as.cell, value);
}

/* ---- arrays */

static inline struct upk_value array_with(struct upk_value shape, struct upk_value type,
                                          struct upk_value data) {
    struct object *const o = new_object(&doc, ARRAY_ROW, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    set_state(o, V_OF(&doc, UPK_TUPLE, v_int(1), shape, type, v_bool(false), data));
    return value_of_cell(&o->cell);
}

static inline struct upk_value masked(struct upk_value shape, struct upk_value type, struct upk_value data,
                                      struct upk_value mask) {
    struct upk_value v = array_with(shape, type, data);
    struct upk_cell *const state = as_object(v.as.cell)->state.as.cell;
    add(&doc, state, mask);
    add(&doc, state, v_none());
    return v;
}

static inline struct upk_value func(uint32_t row, struct upk_value args) {
    return value_of_cell(&new_object(&doc, row, UPK_VERB_CALL, args)->cell);
}

static const uint8_t zeros[4096];
static inline struct upk_value zero(size_t n) { return v_data(UPK_BYTES, zeros, n); }

/* ---- verdicts */

static inline enum match_status decide(struct upk_value root, bool refuting) {
    for (struct object *o = doc.objects; o; o = o->next) o->cell.cap = 0;
    doc.stale = refuting;
    const enum match_status status = match_document(&doc, budget, &pairs, &why);
    doc.stale = false;
    doc.root = root;
    return status;
}

static inline enum match_status verdict(struct upk_value root) {
    uint64_t depth, size;
    doc.root = root;
    assert_true(measure_graph(&doc, &depth, &size));
    const enum match_status status = decide(root, true);
    if (!doc.cyclic) assert_int_equal(decide(root, false), status);
    doc.objects = NULL;
    doc.cyclic = false;
    return status;
}

static inline void good(struct upk_value v) {
    if (verdict(v) != MATCH_OK) fail_msg("refused: %s", why.detail);
}

static inline void bad(struct upk_value v, const char *words) {
    assert_int_equal(verdict(v), MATCH_REFUSED);
    assert_int_equal(why.code, UPK_ERR_NATIVE);
    assert_string_equal(why.detail, words);
}

/* ---- what both tests use */

static const char *const codes[] = {"b1", "i1", "i2", "i4", "i8",  "u1", "u2",  "u4",
                                    "u8", "f2", "f4", "f8", "f16", "c8", "c16", "c32",
                                    "M8", "m8", "O8", "S0", "S5",  "U0", "U3",  "V7"};

#define F4 dtype_of("f4")

static inline struct upk_value nested(int levels) {
    struct upk_value v = F4;
    for (int i = 1; i < levels; i++) v = dtype(RECORD("V4", {"a", v, 0, NULL}));
    return v;
}

/* The part of a dtype that is not there yet is put in when both are made. */
static inline void close_cycle(struct upk_value tuple, size_t at, struct upk_value whole) {
    tuple.as.cell->items[at] = whole;
    doc.stale = true;
}

#define NUMPY_TEST(name) cmocka_unit_test_setup_teardown(name, numpy_set_up, tear_down)

#endif
