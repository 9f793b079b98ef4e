/* The entry points: set a machine up, run it, measure and match what it built, and hand out the document or the refusal.
 *
 * Layer: runtime, top.
 */
#include <string.h>

#include "machine.h"
#include "text.h"

__attribute__((cold)) static bool refuse(struct upk_error *err, const struct upk_error *why) {
    if (err) *err = *why;
    return false;
}

__attribute__((cold)) static bool misuse(struct upk_error *err, unsigned code, const char *detail) {
    struct upk_error e;
    error_set(&e, code, 0, 0);
    (void)snprintf(e.detail, sizeof e.detail, "%s", detail);
    return refuse(err, &e);
}

/* Depth and expanded size of the value; cycles only where the root allows them. */
static bool measure(struct machine *m) {
    struct upk_doc *doc = m->doc;
    uint64_t depth = 1, size = 1;
    if (doc->stale) {
        if (!measure_graph(doc, &depth, &size)) return machine_fail_memory(m);
    } else if (kind_has_cell(doc->root.kind)) {
        depth = doc->root.as.cell->depth;
        size = doc->root.as.cell->size;
    }
    m->depth = depth;
    m->expanded = size;
    if (!fail_over(m, UPK_BUDGET_DEPTH, depth) || !fail_over(m, UPK_BUDGET_EXPANDED, size)) return false;
    if (m->policy && doc->cyclic && !(m->policy->flags & UPK_POLICY_ROOT_CYCLIC))
        return machine_fail(m, UPK_ERR_CYCLE);
    return true;
}

static bool match(struct machine *m) {
    struct match_result why;
    uint64_t matches = 0;
    assert(m->pending_len == 0); /* all keys are checked: none of a dict are equal */
    switch (match_document(m->doc, m->budgets[UPK_BUDGET_MATCHES], &matches, &why)) {
    case MATCH_OK: return true;
    case MATCH_BUDGET: return machine_fail_budget(m, UPK_BUDGET_MATCHES, matches);
    case MATCH_MEMORY: return machine_fail_memory(m);
    case MATCH_REFUSED: break;
    }
    (void)machine_fail_detail(m, why.code, "%s", why.detail);
    struct upk_error *e = &m->error;
    if (why.object) {
        e->offset = why.object->at;
        e->opcode = why.object->cell.op;
        e->verb = (uint8_t)why.object->cell.index;
        e->arity = object_args(why.object)->len;
        if (why.object->cell.len) error_made(e, m->policy, &why.object->cell, why.form);
    }
    const bool reached = value_path(m->doc, why.object ? &why.object->cell : NULL, e->path, sizeof e->path);
    struct text path = {.at = e->path, .size = sizeof e->path, .len = strlen(e->path)};
    if (reached) text_add_whole(&path, why.path);
    memcpy(m->part, why.part, sizeof why.part);
    return false;
}

static uint64_t buffer_bytes(const struct upk_options *o) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < o->buffer_count; i++) bytes = add_saturated(bytes, o->buffers[i].len);
    return bytes;
}

static bool over_bytes(const uint64_t *budgets, uint64_t bytes, struct upk_error *e) {
    if (bytes <= budgets[UPK_BUDGET_BYTES]) return false;
    error_set(e, UPK_ERR_BUDGET, 0, 0);
    e->budget = UPK_BUDGET_BYTES;
    e->limit = budgets[UPK_BUDGET_BYTES];
    e->figure = bytes;
    return true;
}

/* NULL: no memory, or not within the budget (*over_cap). */
static struct upk_doc *doc_new(const struct upk_policy *policy, const struct upk_options *o,
                               const uint64_t *budgets, bool *over_cap) {
    struct mem mem;
    mem_init(&mem, o->allocator, budgets[UPK_BUDGET_MEMORY]);
    struct upk_doc *doc = mem_alloc(&mem, sizeof *doc); /* it lives in its own arena */
    *over_cap = mem.over_cap;
    if (!doc) return NULL;
    mem_clear(doc, sizeof *doc);
    doc->mem = mem;
    doc->policy = policy;
    doc->expanded_budget = budgets[UPK_BUDGET_EXPANDED];
    doc->buffers = o->buffers;
    doc->buffer_count = o->buffer_count;
    return doc;
}

void upk_doc_free(struct upk_doc *doc) {
    if (doc) mem_free(&doc->mem);
}

/* Copy bytes into the document; *bytes is then the copy. */
static bool copy_bytes(struct upk_doc *doc, const uint8_t **bytes, size_t len) {
    uint8_t *copy = mem_alloc(&doc->mem, len ? len : 1);
    if (!copy) return false;
    memcpy(copy, *bytes, len);
    *bytes = copy;
    return true;
}

/* The list of buffers is always copied, their bytes where `deep` says so. */
static bool copy_buffers(struct upk_doc *doc, bool deep) {
    if (!doc->buffer_count) return true;
    struct upk_bytes *list = mem_alloc(&doc->mem, doc->buffer_count * sizeof *list);
    if (!list) return false;
    memcpy(list, doc->buffers, doc->buffer_count * sizeof *list);
    for (size_t i = 0; deep && i < doc->buffer_count; i++) {
        const uint8_t *data = list[i].data;
        if (!copy_bytes(doc, &data, list[i].len)) return false;
        list[i].data = data;
    }
    doc->buffers = list;
    return true;
}

static void complete_error(struct machine *m) {
    struct upk_error *e = &m->error;
    bool malformed =
        e->code < 200 || e->code == UPK_ERR_OPCODE_REFUSED || e->code == UPK_ERR_PROTOCOL_REFUSED;
    const char *kind = !malformed || m->protocol >= 2 ? NULL
                       : m->base                      ? sniff_file(m->input->head, m->input->head_len)
                                                      : sniff_file(m->start, (size_t)(m->end - m->start));
    if (kind) (void)snprintf(e->file_kind, sizeof e->file_kind, "%s", kind);
    error_policy(e, m->policy);
    error_advise(e, m->policy, m->protocol, m->part);
}

bool machine_decode(struct machine *m, const struct upk_policy *policy, const uint8_t *bytes, size_t len,
                    struct input *in, const struct upk_options *o, const uint64_t *budgets, bool counting,
                    bool *ran) {
    static const uint8_t nothing[1];
    bool over_cap;
    *ran = false;
    if ((!bytes && len) || (o->buffer_count && !o->buffers)) {
        error_set(&m->error, UPK_ERR_MISUSE, 0, 0);
        (void)snprintf(m->error.detail, sizeof m->error.detail, bytes ? "no buffers" : "no bytes");
        return false;
    }
    if (!bytes) bytes = nothing;
    const uint64_t beside = buffer_bytes(o);
    if (over_bytes(budgets, add_saturated(beside, len), &m->error)) {
        error_policy(&m->error, policy);
        error_advise(&m->error, policy, 0, "");
        return false;
    }
    struct upk_doc *doc = doc_new(policy, o, budgets, &over_cap);
    if (!doc) {
        error_set(&m->error, over_cap ? UPK_ERR_BUDGET : UPK_ERR_MEMORY, 0, 0);
        m->error.budget = UPK_BUDGET_MEMORY;
        m->error.limit = budgets[UPK_BUDGET_MEMORY];
        error_policy(&m->error, policy);
        return false;
    }
    bool copied = in || !(o->flags & UPK_COPY) || copy_bytes(doc, &bytes, len);
    copied = copied && copy_buffers(doc, (o->flags & UPK_COPY) != 0);
    machine_init(m, doc, o, budgets, bytes, len);
    m->counting = counting;
    m->input = in;
    if (in) {
        in->beside = beside;
        in->most = budgets[UPK_BUDGET_BYTES] - beside;
        if (in->most > SIZE_MAX / 4) in->most = SIZE_MAX / 4; /* so that lengths can be doubled */
    }
    if (counting) memset(m->op_counts, 0, sizeof m->op_counts);
    *ran = true;
    bool ok = copied ? machine_run(m) : machine_fail_memory(m);
    ok = ok && measure(m) && (!policy || (keys_finish(m) && match(m)));
    if (!ok) complete_error(m);
    if (ok && o->used) *o->used = (size_t)offset_of(m, m->p);
    return ok;
}

/* In line: a call and what is saved for it are 25 instructions, which a tiny pickle feels. */
__attribute__((always_inline)) static inline bool decode(const struct upk_policy *policy, const void *bytes,
                                                         size_t len, struct input *in,
                                                         const struct upk_options *options,
                                                         struct upk_doc **out, struct upk_error *err) {
    static const struct upk_options none;
    const struct upk_options *o = options ? options : &none;
    const uint64_t *budgets = policy ? policy->budgets : o->budgets ? o->budgets : upk_budget_standard;
    struct machine m;
    bool ran, ok = machine_decode(&m, policy, bytes, len, in, o, budgets, false, &ran);
    if (ran) {
        if (!ok && err) machine_place(&m);
        machine_free(&m);
        if (ok && out) {
            mem_trim(&m.doc->mem);
            *out = m.doc;
        } else {
            upk_doc_free(m.doc);
        }
    }
    return ok || refuse(err, &m.error);
}

__attribute__((cold)) static bool version_misfits(struct upk_error *err) {
    struct upk_error e;
    error_version(&e);
    return refuse(err, &e);
}

static inline bool table_fits(const struct upk_policy *policy, struct upk_error *err) {
    if (!policy) return misuse(err, UPK_ERR_MISUSE, "no policy");
    const bool fits = upk_policy_is_of_this_version(policy) &&
                      !(policy->flags & ~(uint32_t)UPK_POLICY_FLAGS) &&
                      policy->budgets[UPK_BUDGET_NAME] <= UPK_NAME_MOST;
    return fits || version_misfits(err);
}

static bool host_agrees(const struct upk_policy *policy, const struct upk_options *o, struct upk_error *err) {
    char who[sizeof err->policy + 8] = "";
    const uint32_t flags = o ? o->flags : 0;
    const bool asks = o && o->resolve;
    struct upk_error e;
    error_set(&e, 0, 0, 0);
    error_policy(&e, policy);
    (void)snprintf(who, sizeof who, "%s", e.policy);
    if (policy->flags & UPK_POLICY_FAIL_OPEN && !(flags & UPK_ALLOW_FAIL_OPEN))
        return misuse(err, UPK_ERR_CONSENT, who);
    if (asks || flags & UPK_INERT_NAMES) return true;
    return misuse(err, UPK_ERR_RESOLVER, who);
}

/* A policy is not read under that a host did not agree to, or could not decide. */
static inline bool host_suits(const struct upk_policy *policy, const struct upk_options *o,
                              struct upk_error *err) {
    return policy->open_count < 2 || host_agrees(policy, o, err);
}

bool upk_decode(const struct upk_policy *policy, const void *bytes, size_t len,
                const struct upk_options *options, struct upk_doc **doc, struct upk_error *err) {
    if (!table_fits(policy, err) || !host_suits(policy, options, err)) return false;
    if (!doc) return misuse(err, UPK_ERR_MISUSE, "no place for the document");
    return decode(policy, bytes, len, NULL, options, doc, err);
}

bool upk_decode_from(const struct upk_policy *policy, upk_read_fn read, void *read_ctx,
                     const struct upk_options *options, struct upk_doc **doc, struct upk_error *err) {
    if (!table_fits(policy, err) || !host_suits(policy, options, err)) return false;
    if (!doc) return misuse(err, UPK_ERR_MISUSE, "no place for the document");
    if (!read) return misuse(err, UPK_ERR_MISUSE, "no reader");
    struct upk_options o = options ? *options : (struct upk_options){0};
    o.flags |= UPK_ALLOW_TRAILING;
    struct input in = {.read = read, .ctx = read_ctx};
    return decode(policy, NULL, 0, &in, &o, doc, err);
}

bool upk_check(const struct upk_policy *policy, const void *bytes, size_t len,
               const struct upk_options *options, struct upk_error *err) {
    return table_fits(policy, err) && host_suits(policy, options, err) &&
           decode(policy, bytes, len, NULL, options, NULL, err);
}

bool upk_inspect(const void *bytes, size_t len, const struct upk_options *options, struct upk_doc **doc,
                 struct upk_error *err) {
    if (!doc) return misuse(err, UPK_ERR_MISUSE, "no place for the document");
    return decode(NULL, bytes, len, NULL, options, doc, err);
}
