/* The pickle machine: one pass over the opcodes of protocols 0 to 5 that builds the inert graph.
 *
 * The loop keeps the reading position and the stack pointer in locals and hands them to the struct (SAVE) before anything
 * that may fail with a place or reallocate the stack.  Rules 3 to 6 of docs/runtime.md are enforced here.
 *
 * Sources: Lib/pickletools.py, Modules/_pickle.c for the meaning of each opcode; PEP 307, 3154, 574.
 * Layer: runtime, over memo.c, reader.c, call.c.
 */
#include <string.h>

#include "machine.h"

enum { DISPATCH_NEWER = 254 }; /* a known opcode of a later protocol than the stream's */

static const uint8_t op_protocol[] = {0,
#define UPK_X(name, byte, protocol, family) protocol,
                                      UPK_OPCODES(UPK_X)
#undef UPK_X
};

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

typedef uint8_t vec16 __attribute__((vector_size(16)));

static inline vec16 vec_load(const uint8_t *p) {
    vec16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* One table answers "which opcode, allowed, and of this protocol" at once.  It is made for every pickle: by whole vectors. */
static void dispatch_fill(struct machine *m, unsigned protocol) {
    unsigned families = 1u << UPK_FAMILY_CORE;
    if (m->options->flags & UPK_FAMILY_FLAGS) families |= m->options->families;
    for (size_t b = 0; b < 256; b += 16) {
        vec16 op;
        if (m->policy) {
            op = vec_load(m->policy->opcodes + b);
        } else { /* as a policy would say that allows these families; an unknown byte has no family and stays 0 */
            vec16 family = vec_load(byte_family + b);
            op = vec_load(op_of_byte + b) | ((vec16)((family & (uint8_t)families) == 0) & (vec16)(family != 0));
        }
        vec16 newer = (vec16)(vec_load(byte_protocol + b) > (uint8_t)protocol) & (uint8_t)DISPATCH_NEWER;
        vec16 larger = (vec16)(op > newer);
        op = (op & larger) | (newer & ~larger); /* refused (255) stays refused */
        memcpy(m->dispatch + b, &op, sizeof op);
    }
}

void machine_init(struct machine *m, struct upk_doc *doc, const struct upk_options *options, const uint64_t *budgets,
                  const uint8_t *bytes, size_t len) {
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
    if (m->stack != m->stack_room) (void)mem_resize(mem, m->stack, (size_t)(m->stack_end - m->stack) * sizeof *m->stack, 0);
    if (m->marks != m->marks_room) (void)mem_resize(mem, m->marks, m->mark_cap * sizeof *m->marks, 0);
    if (m->memo != m->memo_room) (void)mem_resize(mem, m->memo, m->memo_cap * sizeof *m->memo, 0);
    (void)mem_resize(mem, m->sparse, m->sparse_cap * sizeof *m->sparse, 0);
    (void)mem_resize(mem, m->names, m->name_cap * sizeof *m->names, 0);
    (void)mem_resize(mem, m->work, m->work_cap * sizeof *m->work, 0);
    if (m->row_calls) (void)mem_resize(mem, m->row_calls, m->policy->row_count * sizeof *m->row_calls, 0);
    keys_free(m);
}

/* ---- stack and marks */

static bool stack_grow(struct machine *m) {
    size_t len = (size_t)(m->sp - m->stack), cap = (size_t)(m->stack_end - m->stack);
    bool inside = m->stack == m->stack_room;
    struct upk_value *to = mem_resize(&m->doc->mem, inside ? NULL : m->stack, inside ? 0 : cap * sizeof *to, 2 * cap * sizeof *to);
    if (!to) return machine_fail_memory(m);
    if (inside) memcpy(to, m->stack_room, sizeof m->stack_room);
    m->stack = to;
    m->sp = to + len;
    m->stack_end = to + 2 * cap;
    return true;
}

static bool mark_push(struct machine *m) {
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

/* The lowest place that may be popped: just above the newest mark. */
static inline struct upk_value *fence(const struct machine *m) {
    return m->mark_count ? m->stack + m->marks[m->mark_count - 1] : m->stack;
}

static bool fail_pop(struct machine *m) {
    return machine_fail(m, m->mark_count ? UPK_ERR_MARK_IN_THE_WAY : UPK_ERR_UNDERFLOW);
}

/* Where the values above the newest mark begin; the mark is gone.  NULL after failing. */
static struct upk_value *mark_pop(struct machine *m) {
    if (m->mark_count == 0) {
        (void)machine_fail(m, UPK_ERR_NO_MARK);
        return NULL;
    }
    return m->stack + m->marks[--m->mark_count];
}

/* ---- cells */

struct upk_cell *cell_new(struct machine *m, unsigned kind) {
    struct upk_cell *c = mem_alloc(&m->doc->mem, sizeof *c);
    if (!c) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    *c = (struct upk_cell){.size = 1, .depth = 1, .kind = (uint8_t)kind};
    return c;
}

enum {
    COMPOUND_KINDS = 1 << UPK_PERSID | 1 << UPK_TUPLE | 1 << UPK_FROZENSET | 1 << UPK_LIST | 1 << UPK_DICT | 1 << UPK_SET | 1 << UPK_OBJECT,
    ODD_KINDS = 1 << UPK_BUFFER | 1 << UPK_EXT | 1 << UPK_GLOBAL | 1 << UPK_PERSID,
    UNHASHABLE_KINDS = 1 << UPK_LIST | 1 << UPK_DICT | 1 << UPK_SET | 1 << UPK_BYTEARRAY | 1 << UPK_BUFFER | 1 << UPK_EXT | 1 << UPK_PERSID
};

bool value_hashable(struct upk_value v) {
    v = value_resolve(v);
    if (UNHASHABLE_KINDS >> v.kind & 1) return false;
    return v.kind != UPK_TUPLE || !(v.as.cell->flags & CELL_UNHASHABLE);
}

static void absorb_cell(struct machine *m, struct upk_cell *c, struct upk_value v) {
    struct upk_cell *child = v.as.cell;
    uint32_t size = c->size + (child->size - 1); /* the caller counted one for the child */
    c->size = size < c->size ? UINT32_MAX : size;
    if (child->depth >= c->depth) c->depth = child->depth + 1;
    child->flags |= (child->flags & CELL_ABSORBED) ? CELL_SHARED : CELL_ABSORBED;
    struct upk_value r = value_resolve(v);
    if (r.kind == UPK_OBJECT) return;
    if (ODD_KINDS >> r.kind & 1) {
        c->flags |= CELL_ODD;
    } else if (COMPOUND_KINDS >> r.kind & 1) {
        c->flags |= r.as.cell->flags & CELL_ODD;
    }
    (void)m;
}

/* The same for values whose kinds are known as a set of bits. */
static void absorb_kinds(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n, uint32_t kinds) {
    uint64_t size = (uint64_t)c->size + n;
    c->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    if (c->depth < 2) c->depth = 2;
    if (kinds & ODD_KINDS) c->flags |= CELL_ODD;
    if (kinds & COMPOUND_KINDS) {
        c->flags |= CELL_HAS_CELL;
        for (size_t i = 0; i < n; i++) {
            if (COMPOUND_KINDS >> v[i].kind & 1) absorb_cell(m, c, v[i]);
        }
    }
    if (c->kind == UPK_TUPLE && kinds & (UNHASHABLE_KINDS | 1 << UPK_TUPLE | 1 << UPK_OBJECT)) {
        for (size_t i = 0; i < n; i++) {
            if (!value_hashable(v[i])) c->flags |= CELL_UNHASHABLE;
        }
    }
    if (c->flags & CELL_ABSORBED) m->doc->stale = true;
}

void cell_absorb(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < n; i++) kinds |= 1u << v[i].kind;
    if (n) absorb_kinds(m, c, v, n, kinds);
}

/* Copy values; returns their kinds as a set of bits. */
static inline uint32_t values_copy(struct upk_value *to, const struct upk_value *from, size_t n) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        kinds |= 1u << from[i].kind;
    }
    return kinds;
}

bool cell_extend(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n) {
    uint64_t len = (uint64_t)c->len + n;
    uint64_t members = c->kind == UPK_DICT ? len / 2 : len;
    if (members > m->most_items) m->most_items = members;
    if (!fail_over(m, UPK_BUDGET_ITEMS, members)) return false;
    if (n == 0) return true;
    if (!mem_grow_items(&m->doc->mem, c, (uint32_t)len)) return machine_fail_memory(m);
    uint32_t kinds = values_copy(c->items + c->len, v, n);
    c->len = (uint32_t)len;
    absorb_kinds(m, c, v, n, kinds);
    return true;
}

struct upk_cell *tuple_new(struct machine *m, const struct upk_value *items, size_t n) {
    if (n > m->most_items) m->most_items = n;
    if (!fail_over(m, UPK_BUDGET_ITEMS, n)) return NULL;
    struct upk_cell *c = mem_alloc(&m->doc->mem, sizeof *c + n * sizeof *items);
    if (!c) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    *c = (struct upk_cell){.items = (struct upk_value *)(void *)(c + 1), .len = (uint32_t)n, .cap = (uint32_t)n, .size = 1, .depth = 1, .kind = UPK_TUPLE};
    uint32_t kinds = values_copy(c->items, items, n);
    if (n) absorb_kinds(m, c, items, n, kinds);
    return c;
}

/* ---- opcodes outside the fast path; each leaves the stack as it should be */

static bool do_proto(struct machine *m, unsigned number) {
    if (m->at != m->start) return machine_fail(m, UPK_ERR_PROTOCOL_PLACE);
    if (number < 2 || number > 5) return machine_fail_detail(m, UPK_ERR_PROTOCOL_NUMBER, "%u", number);
    if (m->policy && (number < m->policy->protocol_min || number > m->policy->protocol_max)) {
        return machine_fail_detail(m, UPK_ERR_PROTOCOL_REFUSED, "stream of protocol %u, policy allows %u..%u", number,
                                   m->policy->protocol_min, m->policy->protocol_max);
    }
    m->protocol = number;
    dispatch_fill(m, number);
    return true;
}

/* A container of all that stands above the newest mark. */
static bool do_collect(struct machine *m, unsigned kind) {
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

static bool do_grow(struct machine *m, unsigned container, struct upk_value *from) {
    size_t n = (size_t)(m->sp - from);
    if (from == fence(m)) return fail_pop(m);
    if (container == UPK_DICT && n % 2) return machine_fail(m, UPK_ERR_ODD);
    if (!call_grow(m, from[-1], container, from, n)) return false;
    m->sp = from;
    return true;
}

static bool do_stack_global(struct machine *m) {
    if (m->sp - fence(m) < 2) return fail_pop(m);
    struct upk_value module = m->sp[-2], name = m->sp[-1];
    if (module.kind != UPK_STR || name.kind != UPK_STR) {
        return machine_fail_detail(m, UPK_ERR_NAME_STRINGS, "found %s and %s", kind_word(module.kind), kind_word(name.kind));
    }
    m->sp -= 2;
    return name_push(m, module.as.bytes, module.len, name.as.bytes, name.len, m->sp) && m->sp++;
}

static bool do_inst(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len) {
    struct upk_value callee, made;
    if (!name_push(m, module, module_len, name, name_len, &callee)) return false;
    struct upk_value *from = mark_pop(m);
    if (!from) return false;
    struct upk_cell *args = tuple_new(m, from, (size_t)(m->sp - from));
    if (!args || !call_make(m, callee, value_of_cell(args), NULL, &made)) return false;
    m->sp = from;
    *m->sp++ = made;
    return true;
}

static bool do_obj(struct machine *m) {
    struct upk_value *from = mark_pop(m), made;
    if (!from) return false;
    if (from == m->sp) return machine_fail(m, UPK_ERR_NO_CLASS);
    struct upk_cell *args = tuple_new(m, from + 1, (size_t)(m->sp - from - 1));
    if (!args || !call_make(m, *from, value_of_cell(args), NULL, &made)) return false;
    m->sp = from;
    *m->sp++ = made;
    return true;
}

static bool do_persid(struct machine *m, struct upk_value id, struct upk_value *out) {
    struct upk_cell *c = cell_new(m, UPK_PERSID);
    if (!c || !cell_extend(m, c, &id, 1)) return false;
    if (m->options->persid && !m->options->persid(m->options->persid_ctx, id)) return machine_fail(m, UPK_ERR_PERSID_REFUSED);
    *out = value_of_cell(c);
    return true;
}

static bool do_buffer(struct machine *m, struct upk_value *out) {
    size_t i = m->next_buffer++;
    struct upk_value v = {.kind = UPK_BUFFER, .as = {.i = (int64_t)i}};
    /* Under inspection a buffer that was not given stays inert. */
    if (i >= m->options->buffer_count && m->policy) {
        return machine_fail_detail(m, UPK_ERR_BUFFER_MISSING, "buffer %zu of %zu", i, m->options->buffer_count);
    }
    *out = v;
    return true;
}

static bool do_readonly(struct machine *m) {
    if (m->sp == fence(m)) return fail_pop(m);
    struct upk_value *top = m->sp - 1;
    bool fits = top->kind == UPK_BUFFER || top->kind == UPK_BYTES || (top->kind == UPK_BYTEARRAY && !m->policy);
    if (!fits) return machine_fail_detail(m, UPK_ERR_KIND, "READONLY_BUFFER on a %s", kind_word(top->kind));
    top->flags |= VALUE_READONLY;
    return true;
}

static bool do_bytearray(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out) {
    struct bytearray *b = mem_alloc(&m->doc->mem, sizeof *b);
    if (!b) return machine_fail_memory(m);
    b->cell = (struct upk_cell){.len = (uint32_t)n, .size = 1, .depth = 1, .kind = UPK_BYTEARRAY};
    b->bytes = p;
    *out = value_of_cell(&b->cell);
    return true;
}

static bool do_stop(struct machine *m) {
    if (m->sp == fence(m)) return fail_pop(m);
    if (m->sp - m->stack != 1) return machine_fail_detail(m, UPK_ERR_LEFT_OVER, "%zu values", (size_t)(m->sp - m->stack));
    size_t used = (size_t)(m->p - m->start);
    if (!(m->options->flags & UPK_ALLOW_TRAILING) && m->p != m->end) {
        size_t rest = (size_t)(m->end - m->p);
        m->at = m->p;
        m->op = 0;
        return machine_fail_detail(m, UPK_ERR_TRAILING, "%zu bytes", rest);
    }
    if (m->framed && m->p != m->limit) return machine_fail_detail(m, UPK_ERR_FRAME_CROSSED, "STOP before the frame's end");
    if (m->options->used) *m->options->used = used;
    m->doc->root = m->stack[0];
    m->doc->stop_at = (uint64_t)(m->at - m->start);
    return true;
}

static bool do_refused(struct machine *m) {
    unsigned op = op_of_byte[*m->at];
    m->op = op;
    if (op == UPK_OP_UNKNOWN) return machine_fail(m, UPK_ERR_OPCODE_UNKNOWN);
    if (m->dispatch[*m->at] == UPK_OP_REFUSED) return machine_fail_detail(m, UPK_ERR_OPCODE_REFUSED, "%s", upk_op_name(op));
    return machine_fail_detail(m, UPK_ERR_PROTOCOL_OPCODE, "%s is of protocol %u", upk_op_name(op), op_protocol[op]);
}

static bool fail_short(struct machine *m, const uint8_t *p, size_t n, bool is_prefix) {
    if (n > (size_t)(m->end - p)) {
        if (!is_prefix) return machine_fail(m, UPK_ERR_TRUNCATED);
        return machine_fail_detail(m, UPK_ERR_LENGTH, "%zu bytes wanted, %zu left", n, (size_t)(m->end - p));
    }
    return machine_fail(m, UPK_ERR_FRAME_CROSSED);
}

/* The end of the line that starts at p (its LF), or NULL after failing. */
static const uint8_t *line_end(struct machine *m, const uint8_t *p) {
    const uint8_t *lf = memchr(p, '\n', (size_t)(m->end - p));
    if (!lf) {
        (void)machine_fail(m, UPK_ERR_TRUNCATED);
    } else if (lf >= m->limit) {
        (void)machine_fail(m, UPK_ERR_FRAME_CROSSED);
        lf = NULL;
    }
    return lf;
}

static inline uint32_t le32(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }
static inline uint64_t le64(const uint8_t *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }

/* Are these n bytes ASCII?  Sure when it says yes; long text and what stands at the stream's end is left to utf8_check. */
static inline bool ascii_short(const uint8_t *p, size_t n, const uint8_t *end) {
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t a, b = 0;
    if (n <= 8) {
        if (end - p < 8) return false;
        a = le64(p) & (n ? UINT64_MAX >> (64 - 8 * n) : 0);
    } else if (n <= 16) {
        a = le64(p);
        b = le64(p + n - 8);
    } else if (n <= 32) {
        a = le64(p) | le64(p + 8);
        b = le64(p + n - 16) | le64(p + n - 8);
    } else {
        return false;
    }
    return !((a | b) & high);
}

static inline double be_double(const uint8_t *p) {
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) bits = bits << 8 | p[i];
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* BININT, BININT1, BININT2: bytes of the argument, and the bits of four bytes that are its own. */
static const uint8_t int_len[] = {[UPK_OP_BININT] = 4, [UPK_OP_BININT1] = 1, [UPK_OP_BININT2] = 2};
static const uint32_t int_mask[] = {[UPK_OP_BININT] = 0xffffffff, [UPK_OP_BININT1] = 0xff, [UPK_OP_BININT2] = 0xffff};

/* Four bytes must be readable at p: in a run; a single int near the end is read byte by byte. */
static inline struct upk_value int_of_word(uint32_t w, unsigned op) {
    return (struct upk_value){.kind = UPK_INT, .as = {.i = (int32_t)(w & int_mask[op])}};
}

static inline struct upk_value int_short(const uint8_t *p, unsigned op) {
    return int_of_word(op == UPK_OP_BININT ? le32(p) : op == UPK_OP_BININT2 ? (uint32_t)p[0] | (uint32_t)p[1] << 8 : p[0], op);
}

/* How many ints may follow in a run: room on the stack, in the stream (five bytes each) and in both budgets. */
static inline size_t int_run(const struct upk_value *sp, const struct upk_value *stack_end, const uint8_t *limit, const uint8_t *p,
                             uint64_t nodes, uint64_t ops) {
    size_t n = (size_t)(stack_end - sp), bytes = (size_t)(limit - p) / 5;
    n = bytes < n ? bytes : n;
    n = nodes < n ? (size_t)nodes : n;
    return ops < n ? (size_t)ops : n;
}

/* Local copies of the hot state, and how they go back. */
#define SAVE() (m->p = p, m->sp = sp, m->at = at, m->op = op)
#define LOAD() (sp = m->sp, floor = fence(m))
#define FAIL(call) \
    do {           \
        SAVE();    \
        (void)(call); \
        return false; \
    } while (0)
#define NEED(n)                                                                        \
    do {                                                                               \
        if ((size_t)(n) > (size_t)(limit - p)) FAIL(fail_short(m, p, (size_t)(n), false)); \
    } while (0)
#define PAYLOAD(n)                                                                    \
    do {                                                                              \
        if ((size_t)(n) > (size_t)(limit - p)) FAIL(fail_short(m, p, (size_t)(n), true)); \
    } while (0)
#define STRING_BUDGET(n)                                                              \
    do {                                                                              \
        if (counting && (n) > m->most_string) m->most_string = (n);                   \
        if ((n) > string_budget) FAIL(machine_fail_budget(m, UPK_BUDGET_STRING, (n))); \
    } while (0)
#define NODE()                                                                                  \
    do {                                                                                        \
        if (++nodes > node_budget) FAIL(machine_fail_budget(m, UPK_BUDGET_NODES, nodes));       \
    } while (0)
#define ROOM()                             \
    do {                                   \
        if (sp == m->stack_end) {          \
            SAVE();                        \
            if (!stack_grow(m)) return false; \
            LOAD();                        \
        }                                  \
    } while (0)
#define CALL(call)                \
    do {                          \
        SAVE();                   \
        if (!(call)) return false; \
        LOAD();                   \
    } while (0)
#define POPS(n)                                              \
    do {                                                     \
        if (sp - floor < (n)) FAIL(fail_pop(m)); \
    } while (0)
#define LINE(lf)                          \
    do {                                  \
        SAVE();                           \
        (lf) = line_end(m, p);            \
        if (!(lf)) return false;          \
    } while (0)

/* `counting` is a constant at each call: a scan pays for its figures, a decode does not. */
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline bool run(struct machine *m, const bool counting) {
    const uint8_t *p = m->p, *at = p, *limit = m->limit;
    const uint8_t *const end = m->end;
    struct upk_value *sp = m->sp, *floor = sp; /* what stands below `floor` is behind a mark */
    const uint64_t op_budget = m->budgets[UPK_BUDGET_OPCODES], node_budget = m->budgets[UPK_BUDGET_NODES];
    const uint64_t string_budget = m->budgets[UPK_BUDGET_STRING];
    uint64_t ops = 0, nodes = 0;
    unsigned op = 0;

    for (;;) {
        if (p >= limit) {
            limit = m->limit = end;
            m->framed = false;
            at = p;
            op = 0;
            if (p >= end) FAIL(machine_fail(m, UPK_ERR_TRUNCATED));
        }
        at = p;
        op = m->dispatch[*p++];
        if (++ops > op_budget) FAIL(machine_fail_budget(m, UPK_BUDGET_OPCODES, ops));
        if (counting && op < UPK_OP_END) m->op_counts[op]++;
        size_t n;
        const uint8_t *lf;
        switch (op) {
        case UPK_OP_MARK:
            SAVE();
            if (!mark_push(m)) return false;
            floor = sp;
            continue;
        case UPK_OP_NONE:
            NODE();
            ROOM();
            *sp++ = (struct upk_value){.kind = UPK_NONE};
            continue;
        case UPK_OP_NEWTRUE:
        case UPK_OP_NEWFALSE:
            NODE();
            ROOM();
            *sp++ = (struct upk_value){.kind = UPK_BOOL, .as = {.i = op == UPK_OP_NEWTRUE}};
            continue;

        case UPK_OP_BININT1:
        case UPK_OP_BININT2:
        case UPK_OP_BININT:
            NEED(int_len[op]);
            NODE();
            ROOM();
            *sp++ = int_short(p, op);
            p += int_len[op];
            /* Ints come in runs whose widths no branch predictor knows: read on without a branch on the width. */
            for (n = int_run(sp, m->stack_end, limit, p, node_budget - nodes, op_budget - ops); n; n--) {
                op = m->dispatch[*p];
                if (op - UPK_OP_BININT > UPK_OP_BININT2 - UPK_OP_BININT) break;
                *sp++ = int_of_word(le32(p + 1), op);
                p += 1 + int_len[op];
                nodes++;
                ops++;
                if (counting) m->op_counts[op]++;
                at = p;
            }
            continue;
        case UPK_OP_LONG1:
        case UPK_OP_LONG4:
            if (op == UPK_OP_LONG1) {
                NEED(1);
                n = *p++;
            } else {
                NEED(4);
                n = le32(p);
                p += 4;
                if (n > INT32_MAX) FAIL(machine_fail(m, UPK_ERR_NEGATIVE));
            }
            PAYLOAD(n);
            if (n > m->most_long) m->most_long = n;
            if (n > m->budgets[UPK_BUDGET_LONG]) FAIL(machine_fail_budget(m, UPK_BUDGET_LONG, n));
            NODE();
            ROOM();
            *sp++ = int_from_bytes(p, n);
            p += n;
            continue;
        case UPK_OP_BINFLOAT:
            NEED(8);
            NODE();
            ROOM();
            *sp++ = (struct upk_value){.kind = UPK_FLOAT, .as = {.f = be_double(p)}};
            p += 8;
            break;

        case UPK_OP_SHORT_BINUNICODE:
            NEED(1);
            n = *p++;
            goto unicode;
        case UPK_OP_BINUNICODE:
            NEED(4);
            n = le32(p);
            p += 4;
            goto unicode;
        case UPK_OP_BINUNICODE8: {
            NEED(8);
            uint64_t wide = le64(p);
            p += 8;
            if (wide > (size_t)(end - p)) FAIL(fail_short(m, p, wide > SIZE_MAX ? SIZE_MAX : (size_t)wide, true));
            n = (size_t)wide;
        }
        unicode: {
            PAYLOAD(n);
            STRING_BUDGET(n);
            bool ascii = ascii_short(p, n, end);
            if (!ascii && !utf8_check(p, n, &ascii)) FAIL(machine_fail(m, UPK_ERR_UTF8));
            NODE();
            ROOM();
            *sp++ = (struct upk_value){.kind = UPK_STR, .flags = ascii ? VALUE_ASCII : 0, .len = (uint32_t)n, .as = {.bytes = p}};
            p += n;
            break;
        }

        case UPK_OP_SHORT_BINBYTES:
        case UPK_OP_SHORT_BINSTRING:
            NEED(1);
            n = *p++;
            goto bytes;
        case UPK_OP_BINBYTES:
        case UPK_OP_BINSTRING:
            NEED(4);
            n = le32(p);
            p += 4;
            if (op == UPK_OP_BINSTRING && n > INT32_MAX) FAIL(machine_fail(m, UPK_ERR_NEGATIVE));
            goto bytes;
        case UPK_OP_BINBYTES8:
        case UPK_OP_BYTEARRAY8: {
            NEED(8);
            uint64_t wide = le64(p);
            p += 8;
            if (wide > (size_t)(end - p)) FAIL(fail_short(m, p, wide > SIZE_MAX ? SIZE_MAX : (size_t)wide, true));
            n = (size_t)wide;
        }
        bytes: {
            PAYLOAD(n);
            STRING_BUDGET(n);
            NODE();
            ROOM();
            struct upk_value v = {.kind = UPK_BYTES, .len = (uint32_t)n, .as = {.bytes = p}};
            if (op == UPK_OP_BYTEARRAY8) {
                CALL(do_bytearray(m, p, n, &v));
            } else if (op != UPK_OP_SHORT_BINBYTES && op != UPK_OP_BINBYTES && op != UPK_OP_BINBYTES8) {
                bool ascii = false;
                v.kind = UPK_STR8;
                (void)utf8_check(p, n, &ascii);
                if (ascii) v.flags = VALUE_ASCII;
            }
            *sp++ = v;
            p += n;
            break;
        }

        case UPK_OP_EMPTY_LIST:
        case UPK_OP_EMPTY_DICT:
        case UPK_OP_EMPTY_SET: {
            NODE();
            ROOM();
            SAVE();
            struct upk_cell *c = cell_new(m, op == UPK_OP_EMPTY_LIST ? UPK_LIST : op == UPK_OP_EMPTY_DICT ? UPK_DICT : UPK_SET);
            if (!c) return false;
            *sp++ = value_of_cell(c);
            break;
        }
        case UPK_OP_EMPTY_TUPLE:
            NODE();
            ROOM();
            SAVE();
            if (!m->empty_tuple && !(m->empty_tuple = tuple_new(m, NULL, 0))) return false;
            *sp++ = value_of_cell(m->empty_tuple);
            continue;
        case UPK_OP_TUPLE1:
        case UPK_OP_TUPLE2:
        case UPK_OP_TUPLE3: {
            n = op - UPK_OP_TUPLE1 + 1u;
            POPS((ptrdiff_t)n);
            NODE();
            SAVE();
            struct upk_cell *c = tuple_new(m, sp - n, n);
            if (!c) return false;
            sp -= n;
            *sp++ = value_of_cell(c);
            break;
        }
        case UPK_OP_TUPLE:
            NODE();
            ROOM();
            CALL(do_collect(m, UPK_TUPLE));
            break;
        case UPK_OP_LIST:
            NODE();
            ROOM();
            CALL(do_collect(m, UPK_LIST));
            break;
        case UPK_OP_DICT:
            NODE();
            ROOM();
            CALL(do_collect(m, UPK_DICT));
            break;
        case UPK_OP_FROZENSET:
            NODE();
            ROOM();
            CALL(do_collect(m, UPK_FROZENSET));
            break;

        case UPK_OP_APPEND:
            POPS(1);
            CALL(do_grow(m, UPK_LIST, m->sp - 1));
            continue;
        case UPK_OP_SETITEM:
            POPS(2);
            CALL(do_grow(m, UPK_DICT, m->sp - 2));
            continue;
        case UPK_OP_APPENDS:
        case UPK_OP_SETITEMS:
        case UPK_OP_ADDITEMS: {
            struct upk_value *from;
            unsigned kind = op == UPK_OP_APPENDS ? UPK_LIST : op == UPK_OP_SETITEMS ? UPK_DICT : UPK_SET;
            CALL((from = mark_pop(m)) && do_grow(m, kind, from));
            continue;
        }

        case UPK_OP_POP: /* a mark too: picklers write that for recursive tuples at protocol 0 */
            if (sp > floor) {
                sp--;
            } else if (m->mark_count) {
                m->mark_count--;
                floor = fence(m);
            } else {
                FAIL(machine_fail(m, UPK_ERR_UNDERFLOW));
            }
            continue;
        case UPK_OP_POP_MARK: {
            struct upk_value *from;
            CALL((from = mark_pop(m)));
            sp = from; /* the floor is the next mark's: LOAD saw to that */
            continue;
        }
        case UPK_OP_DUP:
            POPS(1);
            ROOM();
            *sp = sp[-1];
            sp++;
            continue;

        case UPK_OP_MEMOIZE:
        memoize:
            POPS(1);
            if (m->memo_len < m->memo_fast) {
                m->memo[m->memo_len++] = sp[-1];
                continue;
            }
            CALL(memo_put(m, memo_count(m), sp[-1]));
            continue;
        case UPK_OP_BINPUT:
            NEED(1);
            n = *p++;
            POPS(1);
            CALL(memo_put(m, n, sp[-1]));
            continue;
        case UPK_OP_LONG_BINPUT:
            NEED(4);
            n = le32(p);
            p += 4;
            POPS(1);
            CALL(memo_put(m, n, sp[-1]));
            continue;
        case UPK_OP_BINGET:
            NEED(1);
            n = *p++;
            goto get;
        case UPK_OP_LONG_BINGET:
            NEED(4);
            n = le32(p);
            p += 4;
        get:
            ROOM();
            if (n < m->memo_len && m->memo[n].kind) {
                *sp++ = m->memo[n];
                continue;
            }
            CALL(memo_get(m, n, m->sp));
            sp++;
            continue;
        case UPK_OP_PUT:
        case UPK_OP_GET: {
            uint64_t key;
            LINE(lf);
            CALL(read_key_text(m, p, (size_t)(lf - p), &key));
            p = lf + 1;
            if (op == UPK_OP_PUT) {
                POPS(1);
                CALL(memo_put(m, key, sp[-1]));
            } else {
                ROOM();
                CALL(memo_get(m, key, m->sp));
                sp++;
            }
            continue;
        }

        case UPK_OP_INT:
        case UPK_OP_LONG:
        case UPK_OP_FLOAT:
        case UPK_OP_STRING:
        case UPK_OP_UNICODE:
        case UPK_OP_PERSID: {
            LINE(lf);
            n = (size_t)(lf - p);
            NODE();
            ROOM();
            SAVE();
            bool read;
            if (op == UPK_OP_FLOAT) {
                read = read_float_text(m, p, n, sp);
            } else if (op == UPK_OP_INT || op == UPK_OP_LONG) {
                read = read_int_text(m, p, n, op == UPK_OP_LONG, sp);
            } else if (op == UPK_OP_STRING) {
                read = read_string_text(m, p, n, sp);
            } else if (op == UPK_OP_UNICODE) {
                read = read_unicode_text(m, p, n, sp);
            } else {
                struct upk_value id = {0};
                read = read_text(m, p, n, &id) && do_persid(m, id, sp);
            }
            if (!read) return false;
            sp++;
            p = lf + 1;
            continue;
        }
        case UPK_OP_BINPERSID:
            POPS(1);
            NODE();
            CALL(do_persid(m, sp[-1], sp - 1));
            continue;
        case UPK_OP_NEXT_BUFFER:
            NODE();
            ROOM();
            CALL(do_buffer(m, m->sp));
            sp++;
            continue;
        case UPK_OP_READONLY_BUFFER:
            CALL(do_readonly(m));
            continue;
        case UPK_OP_EXT1:
        case UPK_OP_EXT2:
        case UPK_OP_EXT4: {
            n = op == UPK_OP_EXT1 ? 1 : op == UPK_OP_EXT2 ? 2 : 4;
            NEED(n);
            int64_t code = n == 1 ? p[0] : n == 2 ? p[0] | p[1] << 8 : (int32_t)le32(p);
            p += n;
            if (code <= 0) FAIL(machine_fail(m, UPK_ERR_EXT_CODE));
            NODE();
            ROOM();
            *sp++ = (struct upk_value){.kind = UPK_EXT, .as = {.i = code}};
            continue;
        }

        case UPK_OP_GLOBAL:
        case UPK_OP_INST: {
            LINE(lf);
            const uint8_t *module = p, *name = lf + 1;
            size_t module_len = (size_t)(lf - module);
            p = name;
            LINE(lf);
            size_t name_len = (size_t)(lf - name);
            p = lf + 1;
            NODE();
            ROOM();
            bool ascii;
            if (!utf8_check(module, module_len, &ascii) || !utf8_check(name, name_len, &ascii)) FAIL(machine_fail(m, UPK_ERR_UTF8));
            if (op == UPK_OP_INST) {
                CALL(do_inst(m, module, module_len, name, name_len));
            } else {
                CALL(name_push(m, module, module_len, name, name_len, m->sp));
                sp++;
            }
            continue;
        }
        case UPK_OP_STACK_GLOBAL:
            NODE();
            CALL(do_stack_global(m));
            continue;
        case UPK_OP_REDUCE:
        case UPK_OP_NEWOBJ:
            POPS(2);
            NODE();
            CALL(call_make(m, sp[-2], sp[-1], NULL, m->sp - 2));
            sp--;
            break;
        case UPK_OP_NEWOBJ_EX:
            POPS(3);
            NODE();
            CALL(call_make(m, sp[-3], sp[-2], sp - 1, m->sp - 3));
            sp -= 2;
            break;
        case UPK_OP_OBJ:
            NODE();
            ROOM();
            CALL(do_obj(m));
            continue;
        case UPK_OP_BUILD:
            POPS(2);
            CALL(call_build(m, sp[-2], sp[-1]));
            sp--;
            continue;

        case UPK_OP_PROTO:
            NEED(1);
            n = *p++;
            CALL(do_proto(m, (unsigned)n));
            continue;
        case UPK_OP_FRAME: {
            NEED(8);
            uint64_t size = le64(p);
            p += 8;
            if (m->framed) FAIL(machine_fail(m, UPK_ERR_FRAME));
            if (size > (size_t)(end - p)) FAIL(fail_short(m, p, size > SIZE_MAX ? SIZE_MAX : (size_t)size, true));
            m->framed = true;
            limit = m->limit = p + size;
            continue;
        }
        case UPK_OP_STOP:
            CALL(do_stop(m));
            m->ops = ops;
            m->nodes = nodes;
            return true;
        default: /* unknown, refused, or newer than the stream */
            FAIL(do_refused(m));
        }
        /* What was pushed is memoised as a rule: look once before the loop dispatches again. */
        if (p < limit && m->dispatch[*p] == UPK_OP_MEMOIZE && ops < op_budget) {
            at = p++;
            op = UPK_OP_MEMOIZE;
            ops++;
            if (counting) m->op_counts[op]++;
            goto memoize;
        }
    }
}

bool machine_run(struct machine *m) {
    if (m->end == m->start) return machine_fail(m, UPK_ERR_TRUNCATED);
    if (m->policy && m->policy->protocol_min > 1 && *m->start != 0x80) {
        m->op = op_of_byte[*m->start];
        return machine_fail_detail(m, UPK_ERR_PROTOCOL_REFUSED, "stream without PROTO, policy allows %u..%u", m->policy->protocol_min,
                                   m->policy->protocol_max);
    }
    /* Where PROTO comes first it fills the table; until then only its own entry is asked. */
    m->dispatch[0x80] = m->policy ? m->policy->opcodes[0x80] : (uint8_t)UPK_OP_PROTO;
    if (*m->start != 0x80) dispatch_fill(m, m->protocol);
    return m->counting ? run(m, true) : run(m, false);
}
