/* How the machine fails: the first failure stays, with its place in the stream and in the value.
 *
 * Layer: runtime, beside machine.c.
 */
#include <stdarg.h>
#include <string.h>

#include "machine.h"
#include "text.h"

const char *kind_word(unsigned kind) {
    static const char *const words[] = {
        "nothing",        "None",      "bool",         "int",           "int",
        "float",          "str",       "Python 2 str", "bytes",         "buffer",
        "extension code", "bytearray", "name",         "persistent id", "tuple",
        "frozenset",      "list",      "dict",         "set",           "made object"};
    return kind < sizeof words / sizeof *words ? words[kind] : "unknown";
}

/* ---- the path of the open containers */

/* The values below the first mark: a container that waits for one member (APPEND, SETITEM), that member a container that waits,
 * and so on; an object that waits for its state. */
static void put_chain(struct text *path, const struct upk_value *v, size_t n) {
    size_t i = 0;
    while (i + 1 < n) {
        unsigned kind = v[i].kind;
        if (kind == UPK_DICT) {
            text_add_key(path, v[i + 1]);
            i += 2;
        } else if (kind == UPK_LIST || kind == UPK_OBJECT) {
            if (kind == UPK_LIST) text_add_index(path, v[i].as.cell->len);
            i++;
        } else {
            return;
        }
    }
}

/* Each mark opens the members of the value below it; where that is no container, a tuple (or a call) is being collected. */
static void write_path(const struct machine *m, char *out, size_t size) {
    struct text path = text_in(out, size);
    text_add_whole(&path, "$");
    put_chain(&path, m->stack, (size_t)((m->mark_count ? m->stack + m->marks[0] : m->sp) - m->stack));
    for (size_t k = 0; k < m->mark_count; k++) {
        const struct upk_value *from = m->stack + m->marks[k];
        const struct upk_value *to = k + 1 < m->mark_count ? m->stack + m->marks[k + 1] : m->sp;
        size_t n = (size_t)(to - from);
        struct upk_value below = from > m->stack ? from[-1] : (struct upk_value){0};
        size_t before = below.kind == UPK_LIST ? below.as.cell->len : 0;
        if (k + 1 < m->mark_count &&
            n) { /* the value below the next mark is where that mark's path goes on */
            unsigned kind = to[-1].kind;
            if (kind == UPK_LIST || kind == UPK_DICT || kind == UPK_SET || kind == UPK_OBJECT) n--;
        }
        if (below.kind == UPK_DICT) {
            if (n % 2) text_add_key(&path, from[n - 1]);
        } else if (below.kind != UPK_SET) {
            text_add_index(&path, before + n);
        }
    }
}

/* ---- failing */

bool machine_fail(struct machine *m, unsigned code) {
    if (m->failed) return false;
    m->failed = true;
    error_set(&m->error, code, (uint64_t)(m->at - m->start), m->op < UPK_OP_END ? m->op : 0);
    m->error.byte = m->at < m->end ? *m->at : 0;
    write_path(m, m->error.path, sizeof m->error.path);
    return false;
}

bool machine_fail_detail(struct machine *m, unsigned code, const char *format, ...) {
    if (m->failed) return false;
    (void)machine_fail(m, code);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(m->error.detail, sizeof m->error.detail, format, args);
    va_end(args);
    return false;
}

bool machine_fail_memory(struct machine *m) {
    const struct mem *mem = &m->doc->mem;
    if (mem->over_cap) return machine_fail_budget(m, UPK_BUDGET_MEMORY, 0);
    return machine_fail(m, UPK_ERR_MEMORY);
}

bool machine_fail_budget(struct machine *m, enum upk_budget budget, uint64_t figure) {
    if (m->failed) return false;
    (void)machine_fail(m, UPK_ERR_BUDGET);
    m->error.budget = (uint8_t)budget;
    m->error.limit = m->budgets[budget];
    m->error.figure = figure;
    return false;
}

bool machine_fail_name(struct machine *m, unsigned code, const uint8_t *module, size_t module_len,
                       const uint8_t *name, size_t name_len) {
    if (m->failed) return false;
    (void)machine_fail(m, code);
    m->error.dangerous = name_is_dangerous(module, module_len, name, name_len);
    struct upk_compat modern = {module, module_len, name, name_len};
    if (m->protocol < 3 && upk_compat_name(module, module_len, name, name_len, &modern)) {
        m->error.dangerous |=
            name_is_dangerous(modern.module, modern.module_len, modern.name, modern.name_len);
    }
    error_copy(m->error.module, sizeof m->error.module, modern.module, modern.module_len);
    error_copy(m->error.name, sizeof m->error.name, modern.name, modern.name_len);
    return false;
}

bool machine_fail_row(struct machine *m, unsigned code, uint32_t row, const char *detail) {
    if (m->failed) return false;
    (void)machine_fail_detail(m, code, "%s", detail);
    error_row(&m->error, m->policy, row, 0);
    return false;
}
