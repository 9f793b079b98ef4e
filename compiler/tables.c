/* Assembly of a struct upk_policy.  Layer: see tables.h. */
#define UPK_FIND_CLASS_ANY
#include "tables.h"

#include <sha2.h>
#include <string.h>

#include "gperf.h"
#include "lower.h"
#include "tables_child.h"

enum { MOST_TABLE_BYTES = 1 << 30 };

/* Merged source: of each file its length in eight bytes, low first, and its bytes. */
static void digest_sources(const struct compiled *c, uint8_t out[32]) {
    SHA2_CTX context;
    SHA256Init(&context);
    for (size_t i = 0; i < c->file_count; i++) {
        const struct text bytes = c->files[i].bytes;
        uint8_t len[8];
        for (size_t j = 0; j < sizeof len; j++) len[j] = (uint8_t)((uint64_t)bytes.len >> 8 * j);
        SHA256Update(&context, len, sizeof len);
        SHA256Update(&context, (const uint8_t *)bytes.at, bytes.len);
    }
    SHA256Final(out, &context);
}

static void fill_opcodes(const struct model *model, uint8_t opcodes[256]) {
    static const uint8_t bytes[] = {
#define UPK_X(name, byte, protocol, family) byte,
        UPK_OPCODES(UPK_X)
#undef UPK_X
    };
    memset(opcodes, UPK_OP_UNKNOWN, 256);
    for (size_t i = 0; i < sizeof bytes; i++) {
        opcodes[bytes[i]] = model->allowed[bytes[i]] ? (uint8_t)(UPK_OP_UNKNOWN + 1 + i) : UPK_OP_REFUSED;
    }
}

/* Every array starts with a null entry, so that index 0 is nothing in all of them and none is empty. */
static void start(struct lower *l) {
    const struct {
        struct array *array;
        size_t size;
    } arrays[] = {
        {&l->places, sizeof(struct span)},
        {&l->rows, sizeof(struct upk_row)},
        {&l->forms, sizeof(struct upk_form)},
        {&l->types, sizeof(struct upk_type)},
        {&l->elems, sizeof(struct upk_elem)},
        {&l->fields, sizeof(struct upk_field)},
        {&l->alts, sizeof(uint32_t)},
        {&l->ranges, sizeof(struct upk_range)},
        {&l->classes, sizeof(struct upk_class)},
        {&l->bounds.array, sizeof(struct upk_bound)},
        {&l->charsets, sizeof(struct upk_charset)},
        {&l->opens, sizeof(struct upk_open)},
        {&l->denies, sizeof(struct upk_deny)},
    };
    pool_init(&l->pool, l->mem);
    unique_init(&l->bounds, l->mem, sizeof(struct upk_bound));
    array_init(&l->plan, l->mem, sizeof(struct lower_row));
    array_init(&l->keys, l->mem, sizeof(struct upk_key));
    intern_init(&l->class_ids, l->mem);
    intern_init(&l->key_ids, l->mem);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        array_init_from_1(arrays[i].array, l->mem, arrays[i].size);
}

static void report_perfect(struct diag *d, enum perfect_status status, int error) {
    switch (status) {
    case PERFECT_OK: return;
    case PERFECT_MEMORY: diag_error_nowhere(d, P_MEMORY, "out of memory"); return;
    case PERFECT_NO_GPERF:
        diag_error_nowhere(d, P_GPERF, "cannot run %s: %s", gperf_path, strerror(error));
        diag_hint(d, "install the Debian package `gperf'");
        return;
    case PERFECT_SYSTEM:
        diag_error_nowhere(d, P_GPERF, "cannot run %s: %s", gperf_path, strerror(error));
        return;
    case PERFECT_GPERF: diag_error_nowhere(d, P_GPERF, "%s failed or printed a message", gperf_path); return;
    case PERFECT_UNSOLVED:
        diag_error_nowhere(d, P_GPERF, "no perfect hash was found for the names of this policy");
        return;
    }
}

static bool make_keys(struct lower *l, const struct tables *others, size_t count, struct tables *out) {
    const struct perfect_pool pool = {l->pool.bytes, (uint32_t)l->pool.len};
    int error;
    for (size_t i = 0; i < count; i++) {
        if (perfect_reuse(&out->mem, others[i].keys, l->keys.items, l->keys.count, pool, out->keys))
            return true;
    }
    const enum perfect_status status = perfect_build(&out->mem, l->keys.items, l->keys.count, pool,
                                                     l->compiled->in_process, out->keys, &error);
    report_perfect(l->diag, status, error);
    return status == PERFECT_OK;
}

static bool make_child(struct lower *l, const struct tables *others, size_t count, struct tables *out) {
    enum perfect_status status;
    int error = 0;
    if (tables_child(l->compiled, count ? others : NULL, out, &status, &error)) return true;
    report_perfect(l->diag, out->mem.failed ? PERFECT_MEMORY : status, error);
    return false;
}

static void fill_policy(struct lower *l, struct upk_policy *p) {
    static const char generator[] = "policyc " UPK_VERSION;
    const struct model *const model = l->model;
    p->magic = UPK_MAGIC;
    p->abi = UPK_ABI;
    p->size = sizeof *p;
    p->flags = model->flags;
    p->name = pool_add(&l->pool, model->policy);
    p->channel = pool_add(&l->pool, model->channel);
    p->generator = pool_add(&l->pool, (struct text){generator, sizeof generator - 1});
    p->revision = model->revision;
    p->root = lower_type(l, model->root);
    p->protocol_min = model->protocol_min;
    p->protocol_max = model->protocol_max;
    digest_sources(l->compiled, p->digest);
    memcpy(p->budgets, model->budgets, sizeof p->budgets);
    fill_opcodes(model, p->opcodes);
    p->until = pool_add(&l->pool, model->until);
    p->because = pool_add(&l->pool, model->because);
    p->until_file = model->until_file;
    p->until_line = model->until_line;
    lower_opens(l);
}

static void fill_files(struct lower *l, struct upk_policy *p) {
    struct array files;
    array_init(&files, l->mem, sizeof(struct upk_text));
    for (size_t i = 0; i < l->compiled->file_count; i++) {
        const struct upk_text name = pool_add(&l->pool, l->compiled->files[i].name);
        array_add(&files, &name);
    }
    p->files = files.items;
    p->file_count = (uint32_t)files.count;
}

/* Last, when nothing moves any more. */
static void point(const struct lower *l, struct upk_policy *p) {
    p->pool = l->pool.bytes;
    p->pool_len = (uint32_t)l->pool.len;
    p->rows = l->rows.items;
    p->row_count = (uint32_t)l->rows.count;
    p->forms = l->forms.items;
    p->form_count = (uint32_t)l->forms.count;
    p->types = l->types.items;
    p->type_count = (uint32_t)l->types.count;
    p->elems = l->elems.items;
    p->elem_count = (uint32_t)l->elems.count;
    p->fields = l->fields.items;
    p->field_count = (uint32_t)l->fields.count;
    p->classes = l->classes.items;
    p->class_count = (uint32_t)l->classes.count;
    p->bounds = l->bounds.array.items;
    p->bound_count = (uint32_t)l->bounds.array.count;
    p->charsets = l->charsets.items;
    p->charset_count = (uint32_t)l->charsets.count;
    p->ranges = l->ranges.items;
    p->range_count = (uint32_t)l->ranges.count;
    p->alts = l->alts.items;
    p->alt_count = (uint32_t)l->alts.count;
    p->opens = l->opens.items;
    p->open_count = (uint32_t)l->opens.count;
    p->denies = l->denies.items;
    p->deny_count = (uint32_t)l->denies.count;
}

static bool lower_all(struct lower *l, const struct tables *others, size_t count, struct tables *out) {
    struct upk_policy *const p = &out->policy;
    start(l);
    lower_types_start(l);
    bool good = lower_rows(l);
    if (good) fill_policy(l, p);
    lower_types_end(l);
    good = good && lower_keys(l);
    if (!good) return false;
    lower_sort_classes(l);
    fill_files(l, p);
    pool_pad(&l->pool, UPK_NAME_PADDED);
    if (l->mem->failed || !make_keys(l, others, count, out) || !make_child(l, others, count, out))
        return false;
    point(l, p);
    out->places = l->places.items;
    return true;
}

bool tables_build(const struct compiled *c, const struct model *model, struct diag *d, struct tables *out) {
    return tables_build_next(c, model, d, NULL, 0, out);
}

bool tables_build_next(const struct compiled *c, const struct model *model, struct diag *d,
                       const struct tables *others, size_t count, struct tables *out) {
    *out = (struct tables){0};
    mem_init(&out->mem, MOST_TABLE_BYTES);
    struct lower l = {.mem = &out->mem, .compiled = c, .model = model, .diag = d};
    l.names = (struct names){&out->mem, model->aliases, model->alias_count};
    const size_t errors = diag_error_count(d);
    if (lower_all(&l, others, count, out)) {
        for (size_t i = 0; i < 2; i++) {
            out->policy.keys[i] = &out->keys[i];
            out->policy.find_class[i] = upk_find_class_any;
        }
        return true;
    }
    if (diag_error_count(d) == errors) diag_error_nowhere(d, P_MEMORY, "out of memory");
    tables_free(out);
    return false;
}

void tables_free(struct tables *t) {
    mem_free(&t->mem);
    *t = (struct tables){0};
}
