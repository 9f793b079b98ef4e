/* Between the loop over opcodes (loop.c) and what it calls (steps.c).  For all: false or NULL after machine_fail.
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

bool do_proto(struct machine *m, unsigned number);
bool do_collect(struct machine *m, unsigned kind);
bool do_grow(struct machine *m, unsigned container, struct upk_value *from);
bool do_stack_global(struct machine *m);
bool do_inst(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
             size_t name_len);
bool do_obj(struct machine *m);
bool do_persid(struct machine *m, struct upk_value id, struct upk_value *out);
bool do_buffer(struct machine *m, struct upk_value *out);
bool do_readonly(struct machine *m);
bool do_stop(struct machine *m);
bool do_refused(struct machine *m);

/* Room for more values; m->sp moves along. */
bool stack_grow(struct machine *m);
bool mark_push(struct machine *m);
/* Too few values above the newest mark. */
bool fail_pop(struct machine *m);
/* Where the values above the newest mark begin; the mark is gone. */
struct upk_value *mark_pop(struct machine *m);
/* n bytes at p are not there, or not inside the frame; is_prefix: a length says so. */
bool fail_short(struct machine *m, const uint8_t *p, uint64_t n, bool is_prefix);
/* The LF of the line that starts at p. */
const uint8_t *line_end(struct machine *m, const uint8_t *p);

#endif
