/* What the printers make of documents built by hand.
 *
 * Layer: tests of the runtime's private graph; a test includes it once.
 */
#ifndef TEST_PRINTED_H
#define TEST_PRINTED_H

#include "cells.h"

#include "../../runtime/print_walk.h"

/* The document of a test, from set_up to tear_down. */
static struct upk_doc doc;

static inline int set_up(void **state) {
    (void)state;
    memset(&doc, 0, sizeof doc);
    mem_init(&doc.mem, NULL, UINT64_C(1) << 30);
    doc.expanded_budget = 1000000;
    doc.stop_at = 100;
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    mem_free(&doc.mem);
    return 0;
}

static inline struct upk_cell *cell(enum upk_kind kind) {
    return new_cell(&doc, kind, sizeof(struct upk_cell));
}

/* A name as the stream spells it; `old`: below protocol 3. */
static inline struct upk_value written_name(const char *module, const char *name, bool old) {
    struct global *g = as_global(new_cell(&doc, UPK_GLOBAL, sizeof *g));
    g->module = (const uint8_t *)module;
    g->module_len = (uint32_t)strlen(module);
    g->name = (const uint8_t *)name;
    g->name_len = (uint32_t)strlen(name);
    g->old = old;
    return value_of_cell(&g->cell);
}

/* An object of an inspected document. */
static inline struct object *made_by(enum upk_op op, struct upk_value callee, struct upk_cell *args) {
    struct object *o = as_object(new_cell(&doc, UPK_OBJECT, sizeof *o));
    o->cell.op = (uint8_t)op;
    o->callee = callee.as.cell;
    o->args = args;
    return o;
}

typedef bool (*printer)(const struct upk_doc *, upk_sink, void *, struct upk_error *);

struct text { /* starts as {.most = ..} */
    char *at;
    size_t len, most, room;
};

static inline bool take(void *ctx, const char *bytes, size_t len) {
    struct text *t = ctx;
    if (len > t->most - t->len) return false;
    if (len >= t->room - t->len) {
        t->room = 2 * (t->len + len + 1);
        t->at = realloc(t->at, t->room);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = 0;
    return true;
}

static inline void expect(printer print, struct upk_value root, const char *expected) {
    struct text text = {.most = SIZE_MAX};
    struct upk_error err;
    doc.root = root;
    assert_true(print(&doc, take, &text, &err));
    assert_string_equal(text.at, expected);
    free(text.at);
}

static inline void expect_all(struct upk_value root, const char *tree, const char *json, const char *repr) {
    expect(upk_print_tree, root, tree);
    expect(upk_print_json, root, json);
    expect(upk_print_repr, root, repr);
}

#endif
