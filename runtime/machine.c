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

/* As a policy would say that allows these families; an unknown byte has no family and stays 0. */
static void allow_families(uint8_t *dispatch, unsigned families) {
    for (size_t b = 0; b < 256; b += 16) {
        vec16 family = vec_load(byte_family + b);
        vec16 op = vec_load(op_of_byte + b) | (((family & (int8_t)families) == 0) & (family != 0));
        memcpy(dispatch + b, &op, sizeof op);
    }
}

static inline void forbid_newer(uint8_t *op) {
    if (*op != UPK_OP_REFUSED) *op = DISPATCH_NEWER; /* refused stays refused */
}

static void forbid_newer_than(uint8_t *dispatch, unsigned protocol) {
    for (size_t b = 0; b < 256; b += 16) {
        vec16 op = vec_load(dispatch + b);
        vec16 newer = vec_load(byte_protocol + b) > (int8_t)protocol, refused = op == (int8_t)UPK_OP_REFUSED;
        op = (op & ~newer) | (newer & (int8_t)DISPATCH_NEWER) | refused;
        memcpy(dispatch + b, &op, sizeof op);
    }
}

/* One table answers "which opcode, allowed, and of this protocol" at once.  It is made for every pickle: by a copy, and what the
 * last protocol brought is three bytes. */
void machine_dispatch(struct machine *m, unsigned protocol) {
    if (m->policy) {
        mem_copy(m->dispatch, m->policy->opcodes, sizeof m->dispatch);
    } else {
        unsigned families = 1u << UPK_FAMILY_CORE;
        if (m->options->flags & UPK_FAMILY_FLAGS) families |= m->options->families;
        allow_families(m->dispatch, families);
    }
    if (protocol < 4) {
        forbid_newer_than(m->dispatch, protocol);
    } else if (protocol == 4) {
#define UPK_X(name, byte, since, family) \
    if ((since) > 4) forbid_newer(&m->dispatch[byte]);
        UPK_OPCODES(UPK_X)
#undef UPK_X
    }
}

void machine_init(struct machine *m, struct upk_doc *doc, const struct upk_options *options,
                  const uint64_t *budgets, const uint8_t *bytes, size_t len) {
    mem_clear(m, offsetof(struct machine, dispatch));
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
    m->ops_left = count_down(budgets[UPK_BUDGET_OPCODES]);
    m->nodes_left = count_down(budgets[UPK_BUDGET_NODES]);
    m->protocol = 1;
    if (m->policy && m->policy->protocol_max == 0) m->protocol = 0;
}

/* Give back an array of the machine's, if there is one. */
static void give_back(struct machine *m, void *array, size_t count, size_t size) {
    if (array) (void)mem_resize(&m->doc->mem, array, count * size, 0);
}

void machine_free(struct machine *m) {
    if (m->stack != m->stack_room)
        give_back(m, m->stack, (size_t)(m->stack_end - m->stack), sizeof *m->stack);
    if (m->marks != m->marks_room) give_back(m, m->marks, m->mark_cap, sizeof *m->marks);
    if (m->memo != m->memo_room) give_back(m, m->memo, m->memo_cap, sizeof *m->memo);
    give_back(m, m->sparse, m->sparse_cap, sizeof *m->sparse);
    if (m->names != m->names_room) give_back(m, m->names, m->name_cap, sizeof *m->names);
    give_back(m, m->work, m->work_cap, sizeof(struct upk_cell *));
    if (m->row_calls) give_back(m, m->row_calls, m->policy->row_count, sizeof *m->row_calls);
    if (m->input) input_free(m);
    if (m->pending) keys_free(m);
    if (m->doc->matcher) match_free(m->doc);
}

unsigned machine_op(uint8_t byte) { return op_of_byte[byte]; }
unsigned machine_op_protocol(uint8_t byte) { return byte_protocol[byte]; }

/* Each opcode, value and byte of a string takes a byte of the stream: so these budgets may be more than there is. */
static bool may_exceed(const struct machine *m) {
    const uint64_t *const most = m->budgets, len = (uint64_t)(m->end - m->start);
    return m->input || len > most[UPK_BUDGET_OPCODES] || len > most[UPK_BUDGET_NODES] ||
           len > most[UPK_BUDGET_STRING];
}

bool machine_run(struct machine *m) {
    if (m->p == m->end && !input_more(m, m->p, 1, false)) return false;
    if (m->policy && m->policy->protocol_min > 1 && *m->start != 0x80) {
        m->op = machine_op(*m->start);
        if (m->op == UPK_OP_UNKNOWN) return machine_fail(m, UPK_ERR_OPCODE_UNKNOWN);
        return machine_fail_detail(m, UPK_ERR_PROTOCOL_REFUSED, "stream without PROTO, policy allows %u..%u",
                                   m->policy->protocol_min, m->policy->protocol_max);
    }
    /* Where PROTO comes first it fills the table; until then only its own entry is asked. */
    m->dispatch[0x80] = m->policy ? m->policy->opcodes[0x80] : (uint8_t)UPK_OP_PROTO;
    if (*m->start != 0x80) machine_dispatch(m, m->protocol);
    if (m->counting) return loop_counting(m);
    if (!may_exceed(m)) return loop_uncapped(m);
    bool stopped;
    do {
        m->again = false;
        stopped = loop(m);
        if (m->again) m->ops_left++; /* the opcode is begun anew */
    } while (m->again);
    return stopped;
}
