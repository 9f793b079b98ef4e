/* Accessors of finished documents.  All see the graph after normalisation.
 *
 * Layer: runtime, over doc.h.
 */
#include <string.h>

#include "doc.h"

struct upk_value upk_doc_root(const struct upk_doc *doc) {
    return doc->root;
}
const struct upk_policy *upk_doc_policy(const struct upk_doc *doc) { return doc->policy; }
size_t upk_doc_memory(const struct upk_doc *doc) { return (size_t)doc->mem.used; }

enum upk_kind upk_kind(struct upk_value v) { return (enum upk_kind)value_resolve(v).kind; }
bool upk_is(struct upk_value v, enum upk_kind kind) { return upk_kind(v) == kind; }

bool upk_get_bool(struct upk_value v, bool *out) {
    if (v.kind != UPK_BOOL) return false;
    *out = v.as.i != 0;
    return true;
}

bool upk_get_int64(struct upk_value v, int64_t *out) {
    if (v.kind != UPK_INT) return false;
    *out = v.as.i;
    return true;
}

bool upk_get_bigint(struct upk_value v, uint8_t scratch[8], const uint8_t **bytes, size_t *len) {
    if (v.kind == UPK_BIGINT) {
        *bytes = v.as.bytes;
        *len = v.len;
        return true;
    }
    if (v.kind != UPK_INT) return false;
    uint64_t u = (uint64_t)v.as.i;
    for (int i = 0; i < 8; i++) scratch[i] = (uint8_t)(u >> 8 * i);
    size_t n = 8;
    while (n > 1 && scratch[n - 1] == (scratch[n - 2] & 0x80 ? 0xff : 0)) n--;
    *bytes = scratch;
    *len = n;
    return true;
}

bool upk_get_double(struct upk_value v, double *out) {
    if (v.kind != UPK_FLOAT) return false;
    *out = v.as.f;
    return true;
}

bool upk_get_str(struct upk_value v, const char **text, size_t *len) {
    if (!value_is_str(v)) return false;
    *text = (const char *)v.as.bytes;
    *len = v.len;
    return true;
}

bool upk_str_is(struct upk_value v, const char *text) {
    return value_is_str(v) && bytes_are(v.as.bytes, v.len, text);
}

bool upk_get_bytes(struct upk_value v, const uint8_t **bytes, size_t *len) {
    v = value_resolve(v);
    if (v.kind == UPK_BYTEARRAY) {
        *bytes = as_bytearray(v.as.cell)->bytes;
        *len = v.as.cell->len;
        return true;
    }
    if (v.kind != UPK_BYTES && v.kind != UPK_STR8) return false;
    *bytes = v.as.bytes;
    *len = v.len;
    return true;
}

bool upk_get_buffer(struct upk_value v, size_t *index, bool *readonly) {
    if (v.kind != UPK_BUFFER) return false;
    *index = (size_t)v.as.i;
    *readonly = (v.flags & VALUE_READONLY) != 0;
    return true;
}

bool upk_doc_buffer(const struct upk_doc *doc, size_t index, const uint8_t **bytes, size_t *len) {
    if (index >= doc->buffer_count) return false;
    *bytes = doc->buffers[index].data;
    *len = doc->buffers[index].len;
    return true;
}

static void give_name(struct upk_compat n, const char **module, size_t *module_len, const char **name,
                      size_t *name_len) {
    *module = (const char *)n.module;
    *module_len = n.module_len;
    *name = (const char *)n.name;
    *name_len = n.name_len;
}

bool upk_get_global(struct upk_value v, const char **module, size_t *module_len, const char **name,
                    size_t *name_len) {
    v = value_resolve(v);
    if (v.kind != UPK_GLOBAL) return false;
    give_name(global_name(as_global(v.as.cell)), module, module_len, name, name_len);
    return true;
}

bool upk_get_persid(struct upk_value v, struct upk_value *id) {
    if (v.kind != UPK_PERSID) return false;
    *id = v.as.cell->items[0];
    return true;
}

bool upk_get_ext(struct upk_value v, int64_t *code) {
    if (v.kind != UPK_EXT) return false;
    *code = v.as.i;
    return true;
}

/* ---- names */

struct upk_compat global_name(const struct global *g) {
    struct upk_compat name = {g->module, g->module_len, g->name, g->name_len};
    if (g->old) (void)upk_compat_name(g->module, g->module_len, g->name, g->name_len, &name);
    return name;
}

struct upk_compat row_name(const struct upk_policy *p, uint32_t row) {
    const struct upk_row *r = &p->rows[row];
    const uint8_t *pool = (const uint8_t *)p->pool;
    return (struct upk_compat){pool + r->module.at, r->module.len, pool + r->qualname.at, r->qualname.len};
}

const struct global *object_asked(const struct object *o) {
    if (o->more && o->more->class) return as_global(o->more->class);
    const struct upk_value callee = value_resolve(value_of_cell(o->callee));
    return callee.kind == UPK_GLOBAL ? as_global(callee.as.cell) : NULL;
}

struct upk_compat cell_name(const struct upk_policy *p, const struct upk_cell *c) {
    if (!row_is_open(p, c->len)) return row_name(p, c->len);
    const struct global *const g = c->kind == UPK_OBJECT
                                       ? object_asked((const struct object *)(const void *)c)
                                       : (const struct global *)(const void *)c;
    if (!g || !g->asked) return row_name(p, c->len);
    const struct asked *const a = g->asked;
    return (struct upk_compat){a->module, a->module_len, a->name, a->name_len};
}

/* ---- members */

/* The members of v as up to two runs: what N6 gave, then what steps added. */
static void member_runs(struct upk_value v, unsigned kind, const struct upk_cell *runs[2]) {
    runs[0] = runs[1] = NULL;
    v = value_resolve(v);
    if (v.kind != UPK_OBJECT) {
        runs[0] = v.kind == kind ? v.as.cell : NULL;
        return;
    }
    const struct object_more *more = as_object(v.as.cell)->more;
    if (!more) return;
    if (more->base && more->base->kind == kind) runs[0] = more->base;
    runs[1] = kind == UPK_LIST ? more->items : kind == UPK_DICT ? more->pairs : more->adds;
}

static unsigned member_kind(struct upk_value v) {
    unsigned kind = value_resolve(v).kind;
    if (kind == UPK_LIST || kind == UPK_TUPLE || kind == UPK_SET || kind == UPK_FROZENSET) return kind;
    if (kind != UPK_OBJECT) return UPK_INVALID;
    const struct object_more *more = as_object(v.as.cell)->more;
    return more && more->adds && !more->items ? UPK_SET : UPK_LIST;
}

static size_t runs_len(const struct upk_cell *const runs[2]) {
    return (runs[0] ? runs[0]->len : 0u) + (size_t)(runs[1] ? runs[1]->len : 0u);
}

static bool runs_at(const struct upk_cell *const runs[2], size_t i, struct upk_value *out) {
    size_t first = runs[0] ? runs[0]->len : 0;
    if (i < first) {
        *out = runs[0]->items[i];
        return true;
    }
    if (!runs[1] || i - first >= runs[1]->len) return false;
    *out = runs[1]->items[i - first];
    return true;
}

size_t upk_len(struct upk_value v) {
    const struct upk_cell *runs[2];
    member_runs(v, member_kind(v), runs);
    return runs_len(runs);
}

bool upk_at(struct upk_value v, size_t i, struct upk_value *out) {
    const struct upk_cell *runs[2];
    member_runs(v, member_kind(v), runs);
    return runs_at(runs, i, out);
}

size_t upk_pair_len(struct upk_value v) {
    const struct upk_cell *runs[2];
    member_runs(v, UPK_DICT, runs);
    return runs_len(runs) / 2;
}

bool upk_pair_at(struct upk_value v, size_t i, struct upk_value *key, struct upk_value *value) {
    const struct upk_cell *runs[2];
    member_runs(v, UPK_DICT, runs);
    return i <= SIZE_MAX / 2 - 1 && runs_at(runs, 2 * i, key) && runs_at(runs, 2 * i + 1, value);
}

bool upk_dict_get(struct upk_value dict, const char *key, struct upk_value *out) {
    struct upk_value k, v;
    /* From the end: of equal keys, which an inspected document may have, Python keeps the last value. */
    for (size_t i = upk_pair_len(dict); i-- > 0 && upk_pair_at(dict, i, &k, &v);) {
        const char *text;
        size_t n;
        if (upk_get_str(k, &text, &n) && bytes_are((const uint8_t *)text, n, key)) {
            *out = v;
            return true;
        }
    }
    return false;
}

/* ---- objects */

static const struct object *object_of(struct upk_value v) {
    return v.kind == UPK_OBJECT && !(v.as.cell->flags & CELL_NORMAL) ? as_object(v.as.cell) : NULL;
}

uint32_t upk_object_row(struct upk_value v) {
    const struct object *o = object_of(v);
    return o ? o->cell.len : 0;
}

uint32_t upk_global_row(struct upk_value v) {
    v = value_resolve(v);
    return v.kind == UPK_GLOBAL ? v.as.cell->len : 0;
}

/* The row of a class; 0: it has none, or one that grants nothing. */
static uint32_t class_row(const struct upk_policy *p, uint32_t class) {
    const struct upk_class *c = &p->classes[class];
    const uint32_t row =
        find_row(p, 1, p->pool + c->module.at, c->module.len, p->pool + c->qualname.at, c->qualname.len);
    return row && p->rows[row].form_count ? row : 0;
}

uint32_t upk_value_row(const struct upk_doc *doc, struct upk_value v) {
    const struct upk_policy *p = doc->policy;
    uint32_t row = 0, form = 0;
    v = value_resolve(v);
    if (!p) return 0;
    if (v.kind == UPK_OBJECT) {
        row = v.as.cell->len;
        form = v.as.cell->cap;
    } else if (v.kind == UPK_GLOBAL && p->rows[v.as.cell->len].flags & UPK_ROW_CONST) {
        row = v.as.cell->len;
        form = p->rows[row].first_form;
    }
    const uint32_t class = form ? class_row(p, p->forms[form].result) : 0;
    return class ? class : row;
}

bool upk_object_class(const struct upk_doc *doc, struct upk_value v, const char **module, size_t *module_len,
                      const char **name, size_t *name_len) {
    const struct object *o = object_of(v);
    if (!o) return false;
    if (!doc->policy) return upk_get_global(value_of_cell(o->callee), module, module_len, name, name_len);
    give_name(cell_name(doc->policy, &o->cell), module, module_len, name, name_len);
    return true;
}

bool upk_object_args(struct upk_value v, struct upk_value *args) {
    const struct object *o = object_of(v);
    if (!o) return false;
    *args = value_of_cell(object_args(o));
    return true;
}

bool upk_object_kwargs(struct upk_value v, struct upk_value *kw) {
    const struct object *o = object_of(v);
    if (!o || !o->more || !o->more->kw) return false;
    *kw = value_of_cell(o->more->kw);
    return true;
}

bool upk_object_state(struct upk_value v, struct upk_value *state) {
    const struct object *o = object_of(v);
    if (!o || o->state.kind == UPK_INVALID) return false;
    *state = o->state;
    return true;
}

uintptr_t upk_identity(struct upk_value v) {
    v = value_resolve(v);
    return kind_has_cell(v.kind) ? (uintptr_t)v.as.cell : 0;
}
