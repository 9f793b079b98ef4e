/* Scan: what a stream uses (every name, opcode and budget figure), without a policy and without limits but memory.
 *
 * The same machine as for decoding runs over the stream, so a scan cannot see another pickle than a decode would.
 * Layer: runtime, top.
 */
#include <string.h>

#include "machine.h"

static void fill_name(struct upk_scan_name *to, const struct global *g) {
    struct upk_compat modern = global_name(g);
    error_copy(to->module, sizeof to->module, modern.module, modern.module_len);
    error_copy(to->name, sizeof to->name, modern.name, modern.name_len);
    to->offset = g->at;
    to->count = g->uses;
    to->opcode = g->cell.op;
    to->dangerous = name_is_dangerous(g->module, g->module_len, g->name, g->name_len) ||
                    name_is_dangerous(modern.module, modern.module_len, modern.name, modern.name_len);
}

/* Move the names met, an open hash table, to the front; sort by first use. */
static void fill_names(struct machine *m, struct upk_scan_result *scan) {
    size_t n = 0;
    for (size_t i = 0; i < m->name_cap; i++) {
        if (m->names[i].global) m->names[n++].global = m->names[i].global;
    }
    for (size_t gap = n / 2; gap; gap /= 2) { /* Shell's sort: in place, and names are few */
        for (size_t i = gap; i < n; i++) {
            struct name_slot moved = m->names[i];
            size_t k = i;
            for (; k >= gap && m->names[k - gap].global->at > moved.global->at; k -= gap)
                m->names[k] = m->names[k - gap];
            m->names[k] = moved;
        }
    }
    for (size_t i = 0; i < n; i++) fill_name(&scan->names[i], m->names[i].global);
}

static size_t scan_size(size_t names) {
    return sizeof(struct upk_scan_result) + names * sizeof(struct upk_scan_name);
}

static struct upk_scan_result *scan_make(struct machine *m) {
    struct mem *mem = &m->doc->mem;
    size_t size = scan_size(m->name_count);
    struct upk_scan_result *scan = mem_resize(mem, NULL, 0, size);
    if (!scan) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    memset(scan, 0, size);
    scan->name_count = m->name_count;
    scan->names = (struct upk_scan_name *)(void *)(scan + 1);
    scan->allocator = mem->allocator;
    scan->protocol = m->protocol;
    scan->cyclic = m->doc->cyclic;
    memcpy(scan->opcodes, m->op_counts, sizeof m->op_counts);
    uint64_t *f = scan->figures;
    f[UPK_BUDGET_BYTES] = offset_of(m, m->p);
    f[UPK_BUDGET_OPCODES] = (uint64_t)(count_down(m->budgets[UPK_BUDGET_OPCODES]) - m->ops_left);
    f[UPK_BUDGET_MEMO] = memo_count(m);
    f[UPK_BUDGET_MARKS] = m->most_marks;
    f[UPK_BUDGET_DEPTH] = m->depth;
    f[UPK_BUDGET_NODES] = (uint64_t)(count_down(m->budgets[UPK_BUDGET_NODES]) - m->nodes_left);
    f[UPK_BUDGET_ITEMS] = m->most_items;
    f[UPK_BUDGET_EXPANDED] = m->expanded;
    f[UPK_BUDGET_STRING] = m->most_string;
    f[UPK_BUDGET_DIGITS] = m->most_digits;
    f[UPK_BUDGET_LONG] = m->most_long;
    f[UPK_BUDGET_CALLS] = m->calls;
    f[UPK_BUDGET_NAMES] = m->name_count;
    f[UPK_BUDGET_NAME] = m->most_name;
    f[UPK_BUDGET_MEMORY] = mem->used;
    fill_names(m, scan);
    return scan;
}

bool upk_scan(const void *bytes, size_t len, const struct upk_options *options, struct upk_scan_result **scan,
              struct upk_error *err) {
    _Static_assert(sizeof(((struct upk_scan_result *)0)->opcodes) >= sizeof(((struct machine *)0)->op_counts),
                   "opcodes");
    _Static_assert(sizeof(((struct upk_scan_result *)0)->figures) == UPK_BUDGET_COUNT * sizeof(uint64_t),
                   "figures");
    struct upk_options o = {.flags = UPK_FAMILY_FLAGS, .families = (1u << UPK_FAMILY_COUNT) - 1};
    uint64_t budgets[UPK_BUDGET_COUNT];
    struct machine m;
    if (options) {
        uint32_t families = options->flags & UPK_FAMILY_FLAGS ? options->families : o.families;
        o = *options;
        o.flags |= UPK_FAMILY_FLAGS;
        o.families = families;
    }
    memcpy(budgets, upk_budget_most, sizeof budgets);
    budgets[UPK_BUDGET_EXPANDED] = UINT64_MAX; /* its figure saturates */
    budgets[UPK_BUDGET_NAME] = UINT32_MAX;
    budgets[UPK_BUDGET_MEMORY] = (o.budgets ? o.budgets : upk_budget_standard)[UPK_BUDGET_MEMORY];
    bool ran = false, ok = scan && machine_decode(&m, NULL, bytes, len, NULL, &o, budgets, true, &ran);
    if (!scan) error_set(&m.error, UPK_ERR_MISUSE, 0, 0);
    struct upk_scan_result *made = ok ? scan_make(&m) : NULL;
    if (ran) {
        machine_free(&m);
        struct upk_doc *doc = m.doc;
        upk_doc_free(doc);
    }
    if (!made) {
        if (err) *err = m.error;
        return false;
    }
    *scan = made;
    return true;
}

void upk_scan_free(struct upk_scan_result *scan) {
    if (!scan) return;
    struct upk_allocator a = scan->allocator;
    (void)a.resize(a.ctx, scan, scan_size(scan->name_count), 0);
}
