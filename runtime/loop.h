/* Between the loop over opcodes (loop.c) and what it calls (ints.c, steps.c, grow.c).  For all: false or NULL after machine_fail.
 *
 * Layer: private to the runtime.
 */
#ifndef UPK_LOOP_H
#define UPK_LOOP_H

#include "bytes.h"
#include "machine.h"

/* The lowest place that may be popped: just above the newest mark. */
static inline struct upk_value *fence(const struct machine *m) {
    return m->mark_count ? m->stack + m->marks[m->mark_count - 1] : m->stack;
}

/* Is the value that is watched no longer in its place? */
static inline bool watch_lost(const struct machine *m, const struct upk_value *sp) {
    const size_t slot = m->watch.slot;
    return (size_t)(sp - m->stack) <= slot || !(m->stack[slot].flags & VALUE_WATCHED);
}

/* A value as two words: its members before the union, and the union. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HEAD(kind, flags, len) ((uint64_t)(kind) << 56 | (uint64_t)(flags) << 48 | (uint64_t)(uint32_t)(len))
#define HEAD_KIND(head)        ((unsigned)((head) >> 56))
#else
#define HEAD(kind, flags, len) ((uint64_t)(kind) | (uint64_t)(flags) << 8 | (uint64_t)(uint32_t)(len) << 32)
#define HEAD_KIND(head)        ((unsigned)((head)&0xff))
#endif
_Static_assert(sizeof(struct upk_value) == 16 && offsetof(struct upk_value, len) == 4 &&
                   offsetof(struct upk_value, as) == 8,
               "two words");

static inline void value_store(struct upk_value *to, uint64_t head, uint64_t payload) {
    const uint64_t words[2] = {head, payload};
    memcpy(to, words, sizeof words);
}

/* ---- ints.c */

static inline bool is_short_int(unsigned op) { return op - UPK_OP_BININT <= UPK_OP_BININT2 - UPK_OP_BININT; }
struct ends { /* of what was read, and of the stack */
    const uint8_t *p;
    struct upk_value *sp;
};
/* A run of BININT, BININT1 and BININT2, as much of it as there is room for. */
struct ends read_ints(struct machine *m, const uint8_t *p, struct upk_value *sp, bool counting);

/* ---- steps.c */

bool do_proto(struct machine *m, unsigned number);
bool do_collect(struct machine *m, unsigned kind);
bool do_stack_global(struct machine *m);
bool do_inst(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
             size_t name_len);
bool do_obj(struct machine *m);
bool do_persid(struct machine *m, struct upk_value id, struct upk_value *out);
bool do_buffer(struct machine *m, struct upk_value *out);
bool do_readonly(struct machine *m);
bool do_stop(struct machine *m);
bool do_refused(struct machine *m);

/* ---- grow.c */

/* Those of one value and of one pair, which the loop takes off the stack, and has seen that something stands below. */
bool do_append(struct machine *m);
bool do_setitem(struct machine *m);
/* With all that stands above the newest mark. */
bool do_grow_marked(struct machine *m, unsigned container);

/* ---- steps.c: stack and marks */

/* Room for more values; m->sp moves along. */
bool stack_grow(struct machine *m);
bool mark_push(struct machine *m);
/* Too few values above the newest mark. */
bool fail_pop(struct machine *m);
/* Where the values above the newest mark begin; the mark is gone.  NULL after failing. */
static inline struct upk_value *mark_pop(struct machine *m) {
    if (m->mark_count == 0) {
        (void)machine_fail(m, UPK_ERR_NO_MARK);
        return NULL;
    }
    m->popped_at = m->at;
    return m->stack + m->marks[--m->mark_count];
}
/* n bytes at p are not there, or not inside the frame; is_prefix: a length says so. */
bool fail_short(struct machine *m, const uint8_t *p, uint64_t n, bool is_prefix);

#endif
