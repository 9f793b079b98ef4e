/* The pickle machine's life: its state, and the table of opcodes that the policy and the stream's protocol allow.
 *
 * Layer: runtime, over loop.c.
 */
#include <string.h>

#include "machine.h"

static const uint8_t op_of_byte[256] = {
#define UPK_X(name, byte, protocol, family) [byte] = UPK_OP_##name,
    UPK_OPCODES(UPK_X)
#undef UPK_X
};

/* By byte: the first protocol of its opcode (PROTO itself is always looked at), and the bit of its family. */
static const uint8_t byte_protocol[256] = {
#define UPK_X(name, byte, protocol, family) [byte] = UPK_OP_##name == UPK_OP_PROTO ? 0 : protocol,
    UPK_OPCODES(UPK_X)
#undef UPK_X
};

static const uint8_t byte_family[256] = {
#define UPK_X(name, byte, protocol, family) [byte] = 1 << UPK_FAMILY_##family,
    UPK_OPCODES(UPK_X)
#undef UPK_X
};

_Static_assert(UPK_FAMILY_COUNT <= 8, "a family is a bit of a byte");

typedef int8_t vec16
    __attribute__((vector_size(16))); /* signed: that is what every machine compares at once */

static inline vec16 vec_load(const uint8_t *p) {
    vec16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* One table answers "which opcode, allowed, and of this protocol" at once.  It is made for every pickle: by whole vectors. */
void machine_dispatch(struct machine *m, unsigned protocol) {
    unsigned families = 1u << UPK_FAMILY_CORE;
    if (m->options->flags & UPK_FAMILY_FLAGS) families |= m->options->families;
    for (size_t b = 0; b < 256; b += 16) {
        vec16 op;
        if (m->policy) {
            op = vec_load(m->policy->opcodes + b);
        } else { /* as a policy would say that allows these families; an unknown byte has no family and stays 0 */
            vec16 family = vec_load(byte_family + b);
            op = vec_load(op_of_byte + b) | (((family & (int8_t)families) == 0) & (family != 0));
        }
        vec16 newer = vec_load(byte_protocol + b) > (int8_t)protocol, refused = op == (int8_t)UPK_OP_REFUSED;
        op = (op & ~newer) | (newer & (int8_t)DISPATCH_NEWER) | refused; /* refused stays refused */
        memcpy(m->dispatch + b, &op, sizeof op);
    }
}

void machine_init(struct machine *m, struct upk_doc *doc, const struct upk_options *options,
                  const uint64_t *budgets, const uint8_t *bytes, size_t len) {
    memset(m, 0, offsetof(struct machine, dispatch));
    m->doc = doc;
    m->policy = doc->policy;
    m->options = options;
    m->budgets = budgets;
    m->start = m->p = m->at = bytes;
    m->end = m->limit = bytes + len;
    m->stack = m->sp = m->stack_room;
    m->stack_end = m->stack + STACK_FIRST;
    m->marks = m->marks_room;
    m->mark_cap = MARKS_FIRST;
    m->memo = m->memo_room;
    m->memo_cap = MEMO_FIRST;
    m->memo_fast = MEMO_FIRST < budgets[UPK_BUDGET_MEMO] ? MEMO_FIRST : (size_t)budgets[UPK_BUDGET_MEMO];
    m->protocol = 1;
    if (m->policy && m->policy->protocol_max == 0) m->protocol = 0;
}

void machine_free(struct machine *m) {
    struct mem *mem = &m->doc->mem;
    if (m->stack != m->stack_room)
        (void)mem_resize(mem, m->stack, (size_t)(m->stack_end - m->stack) * sizeof *m->stack, 0);
    if (m->marks != m->marks_room) (void)mem_resize(mem, m->marks, m->mark_cap * sizeof *m->marks, 0);
    if (m->memo != m->memo_room) (void)mem_resize(mem, m->memo, m->memo_cap * sizeof *m->memo, 0);
    (void)mem_resize(mem, m->sparse, m->sparse_cap * sizeof *m->sparse, 0);
    (void)mem_resize(mem, m->names, m->name_cap * sizeof *m->names, 0);
    (void)mem_resize(mem, m->work, m->work_cap * sizeof *m->work, 0);
    if (m->row_calls) (void)mem_resize(mem, m->row_calls, m->policy->row_count * sizeof *m->row_calls, 0);
    keys_free(m);
    match_free(m->doc);
}

unsigned machine_op(uint8_t byte) { return op_of_byte[byte]; }
unsigned machine_op_protocol(uint8_t byte) { return byte_protocol[byte]; }

bool machine_run(struct machine *m) {
    if (m->end == m->start) return machine_fail(m, UPK_ERR_TRUNCATED);
    if (m->policy && m->policy->protocol_min > 1 && *m->start != 0x80) {
        m->op = machine_op(*m->start);
        if (m->op == UPK_OP_UNKNOWN) return machine_fail(m, UPK_ERR_OPCODE_UNKNOWN);
        return machine_fail_detail(m, UPK_ERR_PROTOCOL_REFUSED, "stream without PROTO, policy allows %u..%u",
                                   m->policy->protocol_min, m->policy->protocol_max);
    }
    /* Where PROTO comes first it fills the table; until then only its own entry is asked. */
    m->dispatch[0x80] = m->policy ? m->policy->opcodes[0x80] : (uint8_t)UPK_OP_PROTO;
    if (*m->start != 0x80) machine_dispatch(m, m->protocol);
    return m->counting ? loop_counting(m) : loop(m);
}
