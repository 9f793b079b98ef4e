/* What opcodes do that the loop does not do in line: stack and marks, collecting, names and calls, the ends.
 *
 * Each leaves the stack as it should be, and returns false after failing.
 * Sources: Lib/pickletools.py, Modules/_pickle.c for the meaning of each opcode; PEP 307, 3154, 574.
 * Layer: runtime, under loop.c.
 */
#include <inttypes.h>
#include <string.h>

#include "cells.h"
#include "loop.h"

/* ---- stack and marks */

/* By four: honest stacks are short, and a hostile one is copied less often. */
bool stack_grow(struct machine *m) {
    size_t len = (size_t)(m->sp - m->stack), cap = (size_t)(m->stack_end - m->stack);
    bool inside = m->stack == m->stack_room;
    struct upk_value *to = mem_resize(&m->doc->mem, inside ? NULL : m->stack, inside ? 0 : cap * sizeof *to,
                                      4 * cap * sizeof *to);
    if (!to) return machine_fail_memory(m);
    if (inside) memcpy(to, m->stack_room, sizeof m->stack_room);
    m->stack = to;
    m->sp = to + len;
    m->stack_end = to + 4 * cap;
    return true;
}

bool mark_push(struct machine *m) {
    if (!fail_over(m, UPK_BUDGET_MARKS, m->mark_count + 1)) return false;
    if (m->mark_count == m->mark_cap) {
        bool inside = m->marks == m->marks_room;
        size_t size = m->mark_cap * sizeof *m->marks;
        uint32_t *to = mem_resize(&m->doc->mem, inside ? NULL : m->marks, inside ? 0 : size, 2 * size);
        if (!to) return machine_fail_memory(m);
        if (inside) memcpy(to, m->marks_room, sizeof m->marks_room);
        m->marks = to;
        m->mark_cap *= 2;
    }
    m->marks[m->mark_count++] = (uint32_t)(m->sp - m->stack);
    if (m->mark_count > m->most_marks) m->most_marks = m->mark_count;
    return true;
}

bool fail_pop(struct machine *m) {
    return machine_fail(m, m->mark_count ? UPK_ERR_MARK_IN_THE_WAY : UPK_ERR_UNDERFLOW);
}

/* ---- opcodes */

bool do_proto(struct machine *m, unsigned number) {
    if (offset_of(m, m->at) != 0) return machine_fail(m, UPK_ERR_PROTOCOL_PLACE);
    if (number < 2 || number > 5) return machine_fail_detail(m, UPK_ERR_PROTOCOL_NUMBER, "%u", number);
    m->protocol = number;
    if (m->policy && (number < m->policy->protocol_min || number > m->policy->protocol_max)) {
        return machine_fail_detail(m, UPK_ERR_PROTOCOL_REFUSED, "stream of protocol %u, policy allows %u..%u",
                                   number, m->policy->protocol_min, m->policy->protocol_max);
    }
    machine_dispatch(m, number);
    return true;
}

/* A container of all that stands above the newest mark. */
bool do_collect(struct machine *m, unsigned kind) {
    struct upk_value *from = mark_pop(m);
    if (!from) return false;
    size_t n = (size_t)(m->sp - from);
    struct upk_cell *c;
    if (kind == UPK_TUPLE) {
        c = tuple_new(m, from, n);
        if (!c) return false;
    } else {
        if (kind == UPK_DICT && n % 2) return machine_fail(m, UPK_ERR_ODD);
        c = cell_new(m, kind);
        if (!c || !cell_extend(m, c, from, n)) return false;
        if (kind != UPK_LIST && !keys_check(m, c, 0)) return false;
    }
    m->sp = from;
    *m->sp++ = value_of_cell(c);
    return true;
}

bool do_stack_global(struct machine *m) {
    if (m->sp - fence(m) < 2) return fail_pop(m);
    struct upk_value module = m->sp[-2], name = m->sp[-1];
    if (module.kind != UPK_STR || name.kind != UPK_STR) {
        return machine_fail_detail(m, UPK_ERR_NAME_STRINGS, "found %s and %s", kind_word(module.kind),
                                   kind_word(name.kind));
    }
    if (!name_push(m, module.as.bytes, module.len, name.as.bytes, name.len, m->sp - 2)) return false;
    m->sp--;
    return true;
}

bool do_inst(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
             size_t name_len) {
    struct upk_value callee;
    if (!name_push(m, module, module_len, name, name_len, &callee)) return false;
    struct upk_value *from = mark_pop(m);
    if (!from) return false;
    struct upk_cell *args = tuple_new(m, from, (size_t)(m->sp - from));
    struct upk_cell *const made = args ? call_make(m, callee, value_of_cell(args), NULL) : NULL;
    if (!made) return false;
    m->sp = from;
    *m->sp++ = value_of_cell(made);
    return true;
}

bool do_obj(struct machine *m) {
    struct upk_value *from = mark_pop(m);
    if (!from) return false;
    if (from == m->sp) return machine_fail(m, UPK_ERR_NO_CLASS);
    struct upk_cell *args = tuple_new(m, from + 1, (size_t)(m->sp - from - 1));
    struct upk_cell *const made = args ? call_make(m, *from, value_of_cell(args), NULL) : NULL;
    if (!made) return false;
    m->sp = from;
    *m->sp++ = value_of_cell(made);
    return true;
}

bool do_persid(struct machine *m, struct upk_value id, struct upk_value *out) {
    struct persid *persid = mem_alloc(&m->doc->mem, sizeof *persid);
    if (!persid) return machine_fail_memory(m);
    *persid = (struct persid){.cell = {.size = 1, .depth = 1, .kind = UPK_PERSID}, .at = offset_of(m, m->at)};
    struct upk_cell *c = &persid->cell;
    if (!cell_extend(m, c, &id, 1)) return false;
    if (m->last_persid) {
        m->last_persid->next = persid;
    } else {
        m->doc->persids = persid;
    }
    m->last_persid = persid;
    /* What the host was asked about is what it gets: the id is as good as an argument. */
    if (m->policy && (!freeze_arguments(m, c) || !harden(m, c))) return false;
    if (m->options->persid && !m->options->persid(m->options->persid_ctx, id))
        return machine_fail(m, UPK_ERR_PERSID_REFUSED);
    *out = value_of_cell(c);
    return true;
}

bool do_buffer(struct machine *m, struct upk_value *out) {
    size_t i = m->next_buffer++;
    struct upk_value v = {.kind = UPK_BUFFER, .as = {.i = (int64_t)i}};
    /* Under inspection a buffer that was not given stays inert. */
    if (i >= m->options->buffer_count && m->policy) {
        return machine_fail_detail(m, UPK_ERR_BUFFER_MISSING, "buffer %zu of %zu", i,
                                   m->options->buffer_count);
    }
    *out = v;
    return true;
}

bool do_readonly(struct machine *m) {
    if (m->sp == fence(m)) return fail_pop(m);
    struct upk_value *top = m->sp - 1;
    bool fits =
        top->kind == UPK_BUFFER || top->kind == UPK_BYTES || (top->kind == UPK_BYTEARRAY && !m->policy);
    if (!fits) return machine_fail_detail(m, UPK_ERR_KIND, "READONLY_BUFFER on a %s", kind_word(top->kind));
    top->flags |= VALUE_READONLY;
    return true;
}

bool do_stop(struct machine *m) {
    if (m->input && !input_stop(m)) return false;
    if (m->sp == fence(m)) return fail_pop(m);
    if (m->sp - m->stack != 1)
        return machine_fail_detail(m, UPK_ERR_LEFT_OVER, "%zu values", (size_t)(m->sp - m->stack));
    if (!(m->options->flags & UPK_ALLOW_TRAILING) && m->p != m->end) {
        size_t rest = (size_t)(m->end - m->p);
        m->at = m->p;
        m->op = 0;
        return machine_fail_detail(m, UPK_ERR_TRAILING, "%zu bytes", rest);
    }
    if (m->framed && m->p != m->limit)
        return machine_fail_detail(m, UPK_ERR_FRAME_CROSSED, "STOP before the frame's end");
    m->doc->root = m->stack[0];
    m->doc->buffers_taken = m->next_buffer;
    m->doc->stop_at = offset_of(m, m->at);
    m->doc->events = m->events;
    m->doc->shares = m->shares;
    return true;
}

bool do_refused(struct machine *m) {
    unsigned op = machine_op(*m->at);
    m->op = op;
    if (op == UPK_OP_UNKNOWN) return machine_fail(m, UPK_ERR_OPCODE_UNKNOWN);
    if (m->dispatch[*m->at] == UPK_OP_REFUSED)
        return machine_fail_detail(m, UPK_ERR_OPCODE_REFUSED, "%s", upk_op_name(op));
    return machine_fail_detail(m, UPK_ERR_PROTOCOL_OPCODE, "%s is of protocol %u", upk_op_name(op),
                               machine_op_protocol(*m->at));
}

bool fail_short(struct machine *m, const uint8_t *p, uint64_t n, bool is_prefix) {
    if (n > (size_t)(m->end - p)) {
        if (!is_prefix) return machine_fail(m, UPK_ERR_TRUNCATED);
        return machine_fail_detail(m, UPK_ERR_LENGTH, "%" PRIu64 " bytes wanted, %zu left", n,
                                   (size_t)(m->end - p));
    }
    return machine_fail(m, UPK_ERR_FRAME_CROSSED);
}
