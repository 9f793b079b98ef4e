/* Runs of small ints, as a list of numbers has them.
 *
 * Their widths are random to a branch predictor, and where one opcode ends is where the next begins: so they are read without a
 * branch on the width, two from one word, and the widths come from the opcodes' own bits.
 * Layer: runtime, under loop.c.
 */
#include <string.h>

#include "loop.h"

/* By op: bytes of the argument, and the bits of four bytes that are its own. */
static const uint8_t int_len[] = {[UPK_OP_BININT] = 4, [UPK_OP_BININT1] = 1, [UPK_OP_BININT2] = 2};
static const uint32_t int_mask[] = {
    [UPK_OP_BININT] = 0xffffffff, [UPK_OP_BININT1] = 0xff, [UPK_OP_BININT2] = 0xffff};

/* Bits of the opcode and its argument, of a word that begins with it: by the lowest three bits of the opcode's byte, for a look-up
 * in memory would take longer than all the rest.  Of another opcode nothing that counts. */
static inline unsigned int_bits(uint64_t word) {
    const uint64_t bits =
        UINT64_C(40) << 8 * ('J' & 7) | UINT64_C(16) << 8 * ('K' & 7) | UINT64_C(24) << 8 * ('M' & 7);
    return (unsigned)(bits >> 8 * (word & 7)) & 63;
}

static inline uint64_t int_after(uint64_t word, unsigned op) {
    return (uint64_t)(int64_t)(int32_t)((uint32_t)(word >> 8) & int_mask[op]);
}

struct ends read_ints(struct machine *m, const uint8_t *p, struct upk_value *sp, bool counting) {
    /* Room on the stack, in the stream (five bytes each) and in both budgets. */
    size_t most = (size_t)(m->stack_end - sp), bytes = (size_t)(m->limit - p) / 5;
    most = bytes < most ? bytes : most;
    most = (uint64_t)m->nodes_left < most ? (size_t)m->nodes_left : most;
    most = (uint64_t)m->ops_left < most ? (size_t)m->ops_left : most;
    size_t n = most;
    for (; n >= 2; n -= 2, sp += 2) {
        const uint64_t w = le64(p), next = w >> int_bits(w);
        const unsigned op = m->dispatch[w & 0xff], second = m->dispatch[next & 0xff];
        /* Two of the longest are more than a word. */
        if (!is_short_int(op) || !is_short_int(second) || (op | second) == UPK_OP_BININT) break;
        value_store(sp, HEAD(UPK_INT, 0, 0), int_after(w, op));
        value_store(sp + 1, HEAD(UPK_INT, 0, 0), int_after(next, second));
        p += (int_bits(w) + int_bits(next)) / 8;
        if (counting) {
            m->op_counts[op]++;
            m->op_counts[second]++;
        }
    }
    for (; n; n--, sp++) {
        const unsigned op = m->dispatch[*p];
        if (!is_short_int(op)) break;
        value_store(sp, HEAD(UPK_INT, 0, 0), (uint64_t)(int64_t)(int32_t)(le32(p + 1) & int_mask[op]));
        p += 1 + int_len[op];
        if (counting) m->op_counts[op]++;
    }
    m->nodes_left -= (int64_t)(most - n);
    m->ops_left -= (int64_t)(most - n);
    return (struct ends){p, sp};
}
