/* How the machine fails: the first failure stays, with its place in the stream and (place.c) in the value.
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

bool machine_fail(struct machine *m, unsigned code) {
    if (m->failed) return false;
    m->failed = true;
    m->part[0] = 0;
    error_set(&m->error, code, offset_of(m, m->at), m->op < UPK_OP_END ? m->op : 0);
    m->error.byte = m->at < m->end ? *m->at : 0;
    m->error.path[0] = '$'; /* until more is known */
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

/* Of a member that the template of its class does not list: where that stands. */
static void find_template(struct machine *m, bool old, struct upk_compat n) {
    while (n.name_len && n.name[n.name_len - 1] != '.') n.name_len--;
    if (n.name_len < 2) return;
    const uint32_t row = find_row(m->policy, !old, n.module, n.module_len, n.name, n.name_len - 1);
    if (row && row_has_members(m->policy, row)) error_rule(&m->error, m->policy, row, 0);
}

bool machine_fail_name(struct machine *m, unsigned code, bool old, struct upk_compat spelled) {
    if (m->failed) return false;
    (void)machine_fail(m, code);
    uint8_t room[NAME_MODERN_ROOM];
    const struct upk_compat modern = name_modern(old, spelled, room);
    m->error.dangerous =
        name_is_dangerous(spelled.module, spelled.module_len, spelled.name, spelled.name_len) ||
        name_is_dangerous(modern.module, modern.module_len, modern.name, modern.name_len);
    error_copy(m->error.module, sizeof m->error.module, modern.module, modern.module_len);
    error_copy(m->error.name, sizeof m->error.name, modern.name, modern.name_len);
    if (code_lacks_row(code)) find_template(m, old, spelled);
    return false;
}

bool machine_fail_row(struct machine *m, unsigned code, uint32_t row, const char *detail) {
    if (m->failed) return false;
    (void)machine_fail_detail(m, code, "%s", detail);
    error_row(&m->error, m->policy, row, 0);
    return false;
}
