/* Documents built by hand: values and cells as the machine would leave them.
 *
 * Layer: tests of the runtime's private graph; a test includes it once.
 */
#ifndef TEST_CELLS_H
#define TEST_CELLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/doc.h"

/* ---- an allocator that counts, and fails when it is told to */

struct counting {
    uint64_t calls, fail_at, bytes; /* fail_at 0: never; that call and all later ones fail */
};

static inline void *counting_resize(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct counting *c = ctx;
    if (new_size > 0) {
        c->calls++;
        if (c->fail_at && c->calls >= c->fail_at) return NULL;
    }
    c->bytes += new_size;
    c->bytes -= old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

/* ---- single values */

static inline struct upk_value v_int(int64_t i) {
    return (struct upk_value){.kind = UPK_INT, .as = {.i = i}};
}

static inline struct upk_value v_bool(bool b) { return (struct upk_value){.kind = UPK_BOOL, .as = {.i = b}}; }

static inline struct upk_value v_none(void) { return (struct upk_value){.kind = UPK_NONE}; }

static inline struct upk_value v_float(double f) {
    return (struct upk_value){.kind = UPK_FLOAT, .as = {.f = f}};
}

static inline struct upk_value v_data(enum upk_kind kind, const void *bytes, size_t len) {
    bool ascii = false;
    if (kind == UPK_STR || kind == UPK_STR8) (void)utf8_check(bytes, len, &ascii);
    struct upk_value v = {.kind = (uint8_t)kind, .len = (uint32_t)len, .as = {.bytes = bytes}};
    v.flags = ascii ? VALUE_ASCII : 0;
    return v;
}

static inline struct upk_value v_str(const char *text) { return v_data(UPK_STR, text, strlen(text)); }

static inline struct upk_value v_bytes(const char *text) { return v_data(UPK_BYTES, text, strlen(text)); }

/* ---- cells */

static inline struct upk_cell *new_cell(struct upk_doc *doc, enum upk_kind kind, size_t size) {
    struct upk_cell *c = mem_alloc(&doc->mem, size);
    assert_non_null(c);
    memset(c, 0, size);
    c->kind = (uint8_t)kind;
    c->size = c->depth = 1;
    return c;
}

static inline void add(struct upk_doc *doc, struct upk_cell *c, struct upk_value v) {
    assert_true(mem_grow_items(&doc->mem, c, c->len + 1));
    c->items[c->len++] = v;
    c->size++;
    if (v.kind < UPK_BYTEARRAY) {
        c->flags |= v.kind == UPK_BUFFER || v.kind == UPK_EXT ? CELL_ODD : 0;
        return;
    }
    struct upk_cell *child = v.as.cell;
    if (v.kind >= UPK_PERSID) c->flags |= CELL_HAS_CELL;
    c->size += child->size - 1;
    child->flags |= child->flags & CELL_ABSORBED ? CELL_SHARED : CELL_ABSORBED;
    struct upk_value r = value_resolve(v);
    if (r.kind == UPK_GLOBAL || r.kind == UPK_PERSID)
        c->flags |= CELL_ODD;
    else if (r.kind > UPK_BYTEARRAY && r.kind != UPK_OBJECT)
        c->flags |= r.as.cell->flags & CELL_ODD;
    if (c->flags & CELL_ABSORBED) doc->stale = true;
}

static inline struct upk_value compound(struct upk_doc *doc, enum upk_kind kind, size_t n,
                                        const struct upk_value *v) {
    struct upk_cell *c = new_cell(doc, kind, sizeof *c);
    for (size_t i = 0; i < n; i++) add(doc, c, v[i]);
    return value_of_cell(c);
}

/* A compound of the values that follow. */
#define V_OF(doc, kind, ...)                                                                        \
    compound(doc, kind, sizeof((const struct upk_value[]){__VA_ARGS__}) / sizeof(struct upk_value), \
             (const struct upk_value[]){__VA_ARGS__})

static inline struct upk_value v_empty(struct upk_doc *doc, enum upk_kind kind) {
    return compound(doc, kind, 0, NULL);
}

static inline struct upk_value v_bytearray(struct upk_doc *doc, const char *text) {
    struct bytearray *b = as_bytearray(new_cell(doc, UPK_BYTEARRAY, sizeof *b));
    b->bytes = (const uint8_t *)text;
    b->cell.len = (uint32_t)strlen(text);
    return value_of_cell(&b->cell);
}

static inline struct upk_value v_global(struct upk_doc *doc, uint32_t row) {
    struct upk_cell *c = new_cell(doc, UPK_GLOBAL, sizeof(struct global));
    c->len = row;
    return value_of_cell(c);
}

/* An object of a row, made by `verb` with the arguments `args` (a TUPLE). */
static inline struct object *new_object(struct upk_doc *doc, uint32_t row, enum upk_verb verb,
                                        struct upk_value args) {
    struct object *o = as_object(new_cell(doc, UPK_OBJECT, sizeof *o));
    o->cell.len = row;
    o->cell.index = verb;
    o->cell.op = UPK_OP_REDUCE;
    o->args = args.as.cell;
    struct object **end = &doc->objects;
    while (*end) end = &(*end)->next;
    *end = o;
    return o;
}

static inline struct object_more *more_of(struct upk_doc *doc, struct object *o) {
    if (!o->more) {
        o->more = mem_alloc(&doc->mem, sizeof *o->more);
        assert_non_null(o->more);
        memset(o->more, 0, sizeof *o->more);
    }
    return o->more;
}

static inline void set_state(struct object *o, struct upk_value state) {
    o->state = state;
    o->cell.flags |= CELL_BUILT;
}

/* ---- random numbers that are the same everywhere (xorshift64*) */

static uint64_t random_state = 1;

static inline uint32_t random_below(uint32_t n) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * UINT64_C(2685821657736338717)) >> 32) % n;
}

#endif
