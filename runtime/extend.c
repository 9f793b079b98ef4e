/* A policy with rows for classes that a host admits at run time.
 *
 * The new policy is one block: copies of the base's tables with what is new between and behind, mapped to the new row ids and
 * classes.  Key tables stay those of the base, so that its names are found as before; new names are few and not in them: they
 * are searched in a sorted array when the keys do not know a name.  What does not change is borrowed.
 *
 * Layer: see extend.h.
 */
#define UPK_FIND_CLASS_ANY
#include "extend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char rules_file[] = EXTRA_RULES;

/* ---- look-up ------------------------------------------------------------ */

static const struct extended_keys *extended_of(const struct upk_keys *keys) {
    return (const struct extended_keys *)(const void *)keys;
}

/* As upk_find_class_fn. */
static uint32_t extended_find(const struct upk_keys *keys, const uint8_t *module, size_t module_len,
                              const uint8_t *name, size_t name_len) {
    const struct extended_keys *const k = extended_of(keys);
    const uint32_t row = upk_find_class_any(keys, module, module_len, name, name_len);
    uint8_t room[NAME_MODERN_ROOM];
    if (row || module_len > UPK_NAME_MOST || name_len > UPK_NAME_MOST) return row;
    const struct upk_compat n =
        name_modern(keys->reading == 0, (struct upk_compat){module, module_len, name, name_len}, room);
    for (uint32_t lo = 0, hi = k->count; lo < hi;) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const struct extra_name *const e = &k->names[mid];
        const int order = name_compare(n, k->pool, e->module, e->qualname);
        if (order == 0) return e->row;
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return 0;
}

/* ---- the block ------------------------------------------------------------ */

/* A part of the block being laid out; NULL while it is only measured. */
static void *take(const struct extend *e, uint64_t *at, uint64_t count, size_t size) {
    const uint64_t from = *at;
    *at += (count * size + 7) & ~UINT64_C(7);
    return e->block ? (uint8_t *)e->block + from : NULL;
}

/* The size of the block, its parts placed in it where it is there.  INVARIANT: every count is below 2^32, so sums do not
 * overflow. */
static uint64_t lay_out(struct extend *e) {
    const struct upk_policy *const b = e->base;
    const struct extend_room *const r = &e->room;
    uint64_t at = 0;
    (void)take(e, &at, 1, sizeof(struct extended));
    e->pool = take(e, &at, b->pool_len + r->text, 1);
    e->rows = take(e, &at, b->row_count + r->rows, sizeof *e->rows);
    e->forms = take(e, &at, b->form_count + r->forms, sizeof *e->forms);
    e->types = take(e, &at, b->type_count + r->types, sizeof *e->types);
    e->elems = take(e, &at, b->elem_count + r->elems, sizeof *e->elems);
    e->fields = take(e, &at, b->field_count + r->fields, sizeof *e->fields);
    e->classes = take(e, &at, b->class_count + r->classes, sizeof *e->classes);
    e->bounds = take(e, &at, b->bound_count + r->bounds, sizeof *e->bounds);
    e->alts = take(e, &at, b->alt_count + r->alts, sizeof *e->alts);
    e->files = take(e, &at, (uint64_t)b->file_count + 1, sizeof *e->files);
    e->opens = take(e, &at, b->open_count, sizeof *e->opens);
    for (unsigned i = 0; i < 2; i++) e->slots[i] = take(e, &at, b->keys[i]->slot_count, sizeof *e->slots[i]);
    e->names = take(e, &at, r->names, sizeof *e->names);
    return at;
}

/* ---- what is copied ------------------------------------------------------------ */

struct upk_text extend_text(struct extend *e, const void *bytes, size_t len) {
    const struct upk_text t = {e->p->pool_len, (uint32_t)len};
    if (len) memcpy(e->pool + t.at, bytes, len);
    e->p->pool_len += t.len;
    return t;
}

static void copy(void *to, const void *from, uint32_t count, size_t size) {
    if (count) memcpy(to, from, count * size);
}

/* Tables whose entries stay as they are and where they are; the counts of those that are merged begin at their null entries. */
static void copy_tables(struct extend *e) {
    const struct upk_policy *const b = e->base;
    struct upk_policy *const p = e->p;
    *p = *b;
    p->pool_len = b->pool_len - UPK_NAME_PADDED;
    p->row_count = p->form_count = p->class_count = 1;
    copy(e->pool, b->pool, p->pool_len, 1);
    copy(e->types, b->types, b->type_count, sizeof *e->types);
    copy(e->elems, b->elems, b->elem_count, sizeof *e->elems);
    copy(e->fields, b->fields, b->field_count, sizeof *e->fields);
    copy(e->bounds, b->bounds, b->bound_count, sizeof *e->bounds);
    copy(e->alts, b->alts, b->alt_count, sizeof *e->alts);
    copy(e->files, b->files, b->file_count, sizeof *e->files);
    e->files[p->file_count++] = extend_text(e, rules_file, sizeof rules_file - 1);
    memset(e->rows, 0, sizeof *e->rows);
    memset(e->forms, 0, sizeof *e->forms);
    memset(e->classes, 0, sizeof *e->classes);
}

/* Names that the base itself was extended by stand in its pool, and so in the new one, at the same places. */
static void copy_names(struct extend *e) {
    if (e->base->find_class[0] != extended_find) return;
    const struct extended_keys *const k = extended_of(e->base->keys[0]);
    for (uint32_t i = 0; i < k->count; i++) {
        struct extra_name *const n = &e->names[e->name_count++];
        *n = k->names[i];
        n->what = NAME_KNOWN;
        n->granted = false;
    }
}

/* Alternatives of `instance of` are classes; they may share their places with another type's, so each gets new ones.  Classes
 * keep their order, so that these stay sorted. */
static void map_types(struct extend *e) {
    for (uint32_t i = 1; i < e->base->type_count; i++) {
        struct upk_type *const t = &e->types[i];
        if (t->kind == UPK_TYPE_OBJECT) t->a = e->class_of[t->a];
        if (t->kind == UPK_TYPE_REF) t->a = e->row_of[t->a];
        if (t->kind != UPK_TYPE_INSTANCE) continue;
        const uint32_t first = e->p->alt_count;
        for (uint32_t a = t->a; a < t->a + t->b; a++)
            e->alts[e->p->alt_count++] = e->class_of[e->base->alts[a]];
        t->a = first;
    }
}

/* Rows keep their order, so that these stay sorted. */
static void map_opens(struct extend *e) {
    copy(e->opens, e->base->opens, e->base->open_count, sizeof *e->opens);
    for (uint32_t i = 1; i < e->base->open_count; i++) e->opens[i].row = e->row_of[e->opens[i].row];
}

static void map_keys(struct extend *e, unsigned reading) {
    struct extended_keys *const k = &e->block->keys[reading];
    const struct upk_keys *const from = e->base->keys[reading];
    for (uint32_t i = 0; i < from->slot_count; i++) {
        struct upk_key *const s = &e->slots[reading][i];
        *s = from->slots[i];
        s->row[0] = e->row_of[s->row[0]];
        s->row[1] = e->row_of[s->row[1]];
    }
    k->keys = *from;
    k->keys.slots = e->slots[reading];
    k->names = e->names;
    k->count = e->name_count;
    k->pool = e->pool;
    e->p->keys[reading] = &k->keys;
    e->p->find_class[reading] = extended_find;
}

/* ---- rows ------------------------------------------------------------ */

static void copy_row(struct extend *e, uint32_t old) {
    const struct upk_row *const from = &e->base->rows[old];
    const uint32_t id = e->row_of[old];
    struct upk_row *const row = &e->rows[id];
    *row = *from;
    row->target = e->row_of[from->target];
    row->first_form = e->p->form_count;
    for (uint32_t i = 0; i < from->form_count; i++) {
        struct upk_form *const f = &e->forms[e->p->form_count++];
        *f = e->base->forms[from->first_form + i];
        f->row = id;
        f->result = e->class_of[f->result];
    }
    const bool joins = from->form_count == 0 || e->base->forms[from->first_form].flags & UPK_FORM_TEMPLATE;
    if (from->special == UPK_SPECIAL_OR && joins) extend_or(e, id, row);
}

/* In the order of their ids, as forms must be.  A name of both is granted anew, or the base's row is all there is. */
static bool write_rows(struct extend *e) {
    uint32_t old = 1, new = 0;
    for (uint32_t id = 1; id < e->p->row_count; id++) {
        const bool in_base = old < e->base->row_count && e->row_of[old] == id;
        const struct extra_name *const n =
            new < e->name_count && e->names[new].row == id ? &e->names[new ++] : NULL;
        if (n && (n->granted || !in_base)) {
            struct upk_row *const row = &e->rows[id];
            *row = (struct upk_row){.module = n->module, .qualname = n->qualname, .flags = UPK_ROW_PREFIX};
            if (n->granted && !extend_forms(e, n, row)) return false;
        } else {
            copy_row(e, old);
        }
        old += in_base;
    }
    return true;
}

static bool write_all(struct extend *e) {
    copy_tables(e);
    copy_names(e);
    if (!extend_names(e)) return false;
    map_types(e);
    extend_shared_types(e);
    if (!write_rows(e)) return false;
    map_keys(e, 0);
    map_keys(e, 1);
    map_opens(e);
    struct upk_policy *const p = e->p;
    memset(e->pool + p->pool_len, 0, UPK_NAME_PADDED);
    p->pool_len += UPK_NAME_PADDED;
    p->pool = e->pool;
    p->rows = e->rows;
    p->forms = e->forms;
    p->types = e->types;
    p->elems = e->elems;
    p->fields = e->fields;
    p->classes = e->classes;
    p->bounds = e->bounds;
    p->alts = e->alts;
    p->files = e->files;
    p->opens = e->opens;
    return true;
}

/* ---- all ------------------------------------------------------------ */

bool extend_misuse(struct extend *e, size_t extra, const char *format, ...) {
    const struct upk_extra *const x = &e->extras[extra];
    struct upk_error *const err = e->err;
    va_list args;
    if (!err) return false;
    error_set(err, UPK_ERR_MISUSE, 0, UPK_OP_UNKNOWN);
    error_policy(err, e->base);
    error_copy(err->module, sizeof err->module, x->module.data, x->module.len);
    error_copy(err->name, sizeof err->name, x->qualname.data, x->qualname.len);
    va_start(args, format);
    (void)vsnprintf(err->detail, sizeof err->detail, format, args);
    va_end(args);
    return false;
}

static bool fail(struct extend *e, unsigned code, const char *detail) {
    if (!e->err) return false;
    error_set(e->err, code, 0, UPK_OP_UNKNOWN);
    error_policy(e->err, e->base);
    (void)snprintf(e->err->detail, sizeof e->err->detail, "%s", detail);
    return false;
}

/* Room for what the base has that grows: names of an earlier extension, and what map_types writes. */
static void count_base(struct extend *e) {
    const struct upk_policy *const b = e->base;
    e->room.text += sizeof rules_file + 2;
    e->room.types += 8;
    e->room.elems += 4;
    e->room.alts += 2;
    if (b->find_class[0] == extended_find) e->room.names += extended_of(b->keys[0])->count;
    for (uint32_t i = 1; i < b->type_count; i++)
        if (b->types[i].kind == UPK_TYPE_INSTANCE && e->room.alts <= UINT32_MAX)
            e->room.alts += b->types[i].b;
}

/* Indices have 32 bits. */
static bool fits(const struct extend *e) {
    const struct upk_policy *const b = e->base;
    const struct extend_room *const r = &e->room;
    const uint64_t sums[] = {b->pool_len + r->text,       b->row_count + r->rows,
                             b->form_count + r->forms,    b->type_count + r->types,
                             b->elem_count + r->elems,    b->field_count + r->fields,
                             b->class_count + r->classes, b->alt_count + r->alts,
                             b->bound_count + r->bounds,  r->names,
                             (uint64_t)b->file_count + 1};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i] > UINT32_MAX) return false;
    return true;
}

/* Never of no bytes, so that NULL is want of memory. */
static void *cleared(struct mem *m, uint64_t count, size_t size) {
    void *const at = count < SIZE_MAX / 2 / size ? mem_alloc(m, ((size_t)count + 1) * size) : NULL;
    if (at) memset(at, 0, (size_t)count * size);
    return at;
}

static bool allocate(struct extend *e, struct mem *m, uint64_t fields) {
    const uint64_t size = lay_out(e);
    e->work = cleared(m, e->count, sizeof *e->work);
    e->members = cleared(m, fields, sizeof *e->members);
    e->row_of = cleared(m, e->base->row_count, sizeof *e->row_of);
    e->class_of = cleared(m, e->base->class_count, sizeof *e->class_of);
    if (!e->work || !e->members || !e->row_of || !e->class_of || size > SIZE_MAX / 2) return false;
    e->block = mem_resize(m, NULL, 0, (size_t)size);
    if (!e->block) return false;
    e->block->allocator = m->allocator;
    e->block->size = (size_t)size;
    e->p = &e->block->policy;
    (void)lay_out(e);
    return true;
}

bool upk_policy_extend(const struct upk_policy *base, const struct upk_extra *extras, size_t count,
                       const struct upk_allocator *allocator, struct upk_policy **policy,
                       struct upk_error *err) {
    struct extend e = {.base = base, .extras = extras, .count = count, .err = err};
    struct mem m;
    if (!base || (count && !extras) || count > UPK_EXTRAS_MOST || !policy) {
        if (err) {
            error_set(err, UPK_ERR_MISUSE, 0, UPK_OP_UNKNOWN);
            (void)snprintf(err->detail, sizeof err->detail, "no policy, or more than %d classes",
                           UPK_EXTRAS_MOST);
        }
        return false;
    }
    mem_init(&m, allocator, UINT64_MAX);
    if (!extend_check(&e)) return false;
    const uint64_t fields = e.room.fields / 2;
    count_base(&e);
    if (!fits(&e)) return fail(&e, UPK_ERR_MISUSE, "the policy would be too large");
    const bool good = allocate(&e, &m, fields) ? write_all(&e) : fail(&e, UPK_ERR_MEMORY, "");
    mem_free(&m);
    if (good)
        *policy = e.p;
    else
        upk_policy_free(e.p);
    return good;
}

void upk_policy_free(struct upk_policy *policy) {
    if (!policy) return;
    /* INVARIANT: the policy is the first member of its block. */
    struct extended *const block = (struct extended *)(void *)policy;
    const struct upk_allocator a = block->allocator;
    (void)a.resize(a.ctx, block, block->size, 0);
}
