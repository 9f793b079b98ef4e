/* The pickle machine's loop: one pass over the opcodes of protocols 0 to 5 that builds the inert graph.
 *
 * The reading position and the stack pointer stand in locals and go back to the struct (SAVE) before anything that may fail
 * with a place or move the stack.  What an opcode pushes is kept as two words until it is known whether it is memoised at
 * once, as nearly all is: reading a value back that was stored a moment ago in other pieces costs more than all the rest.
 * Rules 5 and 6 of docs/runtime.md are enforced here and in steps.c; call.c has rules 1 to 4.
 *
 * Sources: Lib/pickletools.py, Modules/_pickle.c for the meaning of each opcode; PEP 307, 3154, 574.
 * Layer: runtime, over steps.c, memo.c, reader.c, call.c.
 */
#include <string.h>

#include "loop.h"

#define INLINE __attribute__((always_inline)) static inline

/* As CPython reads the lines of GLOBAL and INST: UTF-8 without surrogates, and ASCII. */
static bool is_name_line(const uint8_t *p, size_t n, unsigned op) {
    bool ascii;
    if (!utf8_check(p, n, &ascii)) return false;
    return ascii || (op == UPK_OP_GLOBAL && !utf8_has_surrogate(p, n));
}

/* Local copies of the hot state, and how they go back. */
#define SAVE() (m->p = p, m->sp = sp, m->op = op)
#define LOAD() (sp = m->sp, floor = fence(m))
#define FAIL(call)    \
    do {              \
        SAVE();       \
        (void)(call); \
        return false; \
    } while (0)
/* Leave it for what the call reads.  Nothing is done of an opcode before all of it is there, so it can begin anew. */
#define SHORT(call)        \
    do {                   \
        SAVE();            \
        m->again = (call); \
        return false;      \
    } while (0)
#define HAVE(n, is_prefix)                                                                      \
    do {                                                                                        \
        if ((size_t)(n) > (size_t)(limit - p)) SHORT(input_more(m, p, (size_t)(n), is_prefix)); \
    } while (0)
#define NEED(n)    HAVE(n, false)
#define PAYLOAD(n) HAVE(n, true)
#define STRING_BUDGET(n)                                            \
    do {                                                            \
        if (counting && (n) > m->most_string) m->most_string = (n); \
        if (capped && (n) > m->budgets[UPK_BUDGET_STRING])          \
            FAIL(machine_fail_budget(m, UPK_BUDGET_STRING, (n)));   \
    } while (0)
#define NODE()                                                                                \
    do {                                                                                      \
        if (capped && --m->nodes_left < 0)                                                    \
            FAIL(machine_fail_budget(m, UPK_BUDGET_NODES, m->budgets[UPK_BUDGET_NODES] + 1)); \
    } while (0)
#define ROOM()                                \
    do {                                      \
        if (sp == m->stack_end) {             \
            SAVE();                           \
            if (!stack_grow(m)) return false; \
            LOAD();                           \
        }                                     \
    } while (0)
#define CALL(call)                 \
    do {                           \
        SAVE();                    \
        if (!(call)) return false; \
        LOAD();                    \
    } while (0)
/* A step that leaves stack and marks where they are. */
#define STEP(call)                 \
    do {                           \
        SAVE();                    \
        if (!(call)) return false; \
    } while (0)
#define POPS(n)                                  \
    do {                                         \
        if (sp - floor < (n)) FAIL(fail_pop(m)); \
    } while (0)
#define LINE(lf)                                     \
    do {                                             \
        (lf) = memchr(p, '\n', (size_t)(limit - p)); \
        if (!(lf)) SHORT(input_line(m, p));          \
    } while (0)

/* A length of eight bytes, which may be more than a size_t. */
#define LENGTH8(n)                                                            \
    do {                                                                      \
        NEED(8);                                                              \
        const uint64_t wide = le64(p);                                        \
        p += 8;                                                               \
        if (wide > (size_t)(m->end - p)) SHORT(input_more(m, p, wide, true)); \
        (n) = (size_t)wide;                                                   \
    } while (0)

/* Two constants at each call.  `counting`: a scan pays for its figures, and who watches a value for a turn of the loop with each
 * opcode; a decode pays for neither.  `capped`: some budget of opcodes, values or a string's bytes may be exceeded; a stream that
 * has fewer bytes than any of these does not pay for counting. */
INLINE bool run(struct machine *m, const bool counting, const bool capped) {
    const uint8_t *p = m->p, *limit = m->limit;
    struct upk_value *sp = m->sp, *floor = fence(m); /* what stands below `floor` is behind a mark */
    const bool watching = counting && m->watch.on;
    bool begun = false;
    unsigned op = 0;
    uint64_t head, payload; /* of the value being pushed */

    for (;;) {
        if (watching) {
            if (begun && watch_lost(m, sp)) {
                SAVE();
                return true;
            }
            m->watch.height = (size_t)(sp - m->stack);
            begun = true;
        }
        if (p >= limit) {
            limit = m->limit = m->end;
            m->framed = false;
            m->at = p;
            op = 0;
            if (p >= limit) {
                m->ops_left--; /* of the opcode that is to come */
                SHORT(input_more(m, p, 1, false));
            }
        }
        m->at = p;
        op = m->dispatch[*p++];
        if (capped && --m->ops_left < 0)
            FAIL(machine_fail_budget(m, UPK_BUDGET_OPCODES, m->budgets[UPK_BUDGET_OPCODES] + 1));
        if (counting && op < UPK_OP_END) m->op_counts[op]++;
        size_t n;
        const uint8_t *lf;
        switch (op) {
        case UPK_OP_MARK:
            if (m->mark_count < m->mark_cap && m->mark_count < m->budgets[UPK_BUDGET_MARKS]) {
                m->marks[m->mark_count++] = (uint32_t)(sp - m->stack);
                if (counting && m->mark_count > m->most_marks) m->most_marks = m->mark_count;
            } else {
                SAVE();
                if (!mark_push(m)) return false;
            }
            floor = sp;
            continue;
        case UPK_OP_NONE:
            NODE();
            ROOM();
            value_store(sp++, HEAD(UPK_NONE, 0, 0), 0);
            continue;
        case UPK_OP_NEWTRUE:
        case UPK_OP_NEWFALSE:
            NODE();
            ROOM();
            value_store(sp++, HEAD(UPK_BOOL, 0, 0), op == UPK_OP_NEWTRUE);
            continue;

        case UPK_OP_BININT1:
            NEED(1);
            payload = *p++;
            goto integer;
        case UPK_OP_BININT2:
            NEED(2);
            payload = (uint64_t)p[0] | (uint64_t)p[1] << 8;
            p += 2;
            goto integer;
        case UPK_OP_BININT:
            NEED(4);
            payload = (uint64_t)(int64_t)(int32_t)le32(p);
            p += 4;
        integer:
            NODE();
            ROOM();
            value_store(sp++, HEAD(UPK_INT, 0, 0), payload);
            if (p < limit && is_short_int(m->dispatch[*p]) && !watching) {
                const struct ends ends = read_ints(m, p, sp, counting);
                p = ends.p;
                sp = ends.sp;
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
            value_store(sp++, HEAD(UPK_FLOAT, 0, 0), be64(p));
            p += 8;
            continue;

        case UPK_OP_SHORT_BINUNICODE:
            NEED(1);
            n = *p++;
            goto unicode;
        case UPK_OP_BINUNICODE:
            NEED(4);
            n = le32(p);
            p += 4;
            goto unicode;
        case UPK_OP_BINUNICODE8:
            LENGTH8(n);
        unicode : {
            PAYLOAD(n);
            STRING_BUDGET(n);
            head = HEAD(UPK_STR, VALUE_ASCII, n);
            if (!ascii_short(p, n, m->end)) {
                bool ascii;
                if (!utf8_check(p, n, &ascii)) FAIL(machine_fail(m, UPK_ERR_UTF8));
                if (!ascii) head = HEAD(UPK_STR, 0, n);
            }
            NODE();
            ROOM();
            payload = (uintptr_t)p;
            p += n;
            goto push;
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
        case UPK_OP_BYTEARRAY8:
            LENGTH8(n);
        bytes : {
            PAYLOAD(n);
            STRING_BUDGET(n);
            NODE();
            ROOM();
            head = HEAD(UPK_BYTES, 0, n);
            payload = (uintptr_t)p;
            if (op == UPK_OP_BYTEARRAY8) {
                SAVE();
                struct upk_cell *c = bytearray_new(m, p, n);
                if (!c) return false;
                head = HEAD(UPK_BYTEARRAY, 0, 0);
                payload = (uintptr_t)c;
            } else if (op != UPK_OP_SHORT_BINBYTES && op != UPK_OP_BINBYTES && op != UPK_OP_BINBYTES8) {
                bool ascii = false;
                (void)utf8_check(p, n, &ascii);
                head = HEAD(UPK_STR8, ascii ? VALUE_ASCII : 0, n);
            }
            p += n;
            goto push;
        }

        case UPK_OP_EMPTY_LIST: head = HEAD(UPK_LIST, 0, 0); goto empty;
        case UPK_OP_EMPTY_DICT: head = HEAD(UPK_DICT, 0, 0); goto empty;
        case UPK_OP_EMPTY_SET:
            head = HEAD(UPK_SET, 0, 0);
        empty : {
            NODE();
            ROOM();
            SAVE();
            struct upk_cell *c = cell_new(m, HEAD_KIND(head));
            if (!c) return false;
            payload = (uintptr_t)c;
            goto push;
        }
        case UPK_OP_EMPTY_TUPLE:
            NODE();
            ROOM();
            SAVE();
            if (!m->empty_tuple && !(m->empty_tuple = tuple_new(m, NULL, 0))) return false;
            value_store(sp++, HEAD(UPK_TUPLE, 0, 0), (uintptr_t)m->empty_tuple);
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
            head = HEAD(UPK_TUPLE, 0, 0);
            payload = (uintptr_t)c;
            goto push;
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
            POPS(2);
            STEP(do_append(m));
            sp--;
            continue;
        case UPK_OP_SETITEM:
            POPS(3);
            STEP(do_setitem(m));
            sp -= 2;
            continue;
        case UPK_OP_APPENDS: CALL(do_grow_marked(m, UPK_LIST)); continue;
        case UPK_OP_SETITEMS: CALL(do_grow_marked(m, UPK_DICT)); continue;
        case UPK_OP_ADDITEMS: CALL(do_grow_marked(m, UPK_SET)); continue;

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
            sp++->flags |= VALUE_SHARED;
            m->shares = true;
            continue;

        case UPK_OP_MEMOIZE:
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
            m->shares = true;
            if (n < m->memo_len) {
                uint64_t words[2];
                memcpy(words, &m->memo[n], sizeof words);
                value_store(sp, words[0] | HEAD(0, VALUE_SHARED, 0), words[1]);
                if (HEAD_KIND(words[0])) {
                    sp++;
                    continue;
                }
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
                m->shares = true;
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
        case UPK_OP_READONLY_BUFFER: CALL(do_readonly(m)); continue;
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
            if (!is_name_line(module, module_len, op) || !is_name_line(name, name_len, op))
                FAIL(machine_fail(m, UPK_ERR_UTF8));
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
            SAVE();
            payload = (uintptr_t)call_make(m, sp[-2], sp[-1], NULL);
            sp -= 2;
            goto object;
        case UPK_OP_NEWOBJ_EX:
            POPS(3);
            NODE();
            SAVE();
            payload = (uintptr_t)call_make(m, sp[-3], sp[-2], sp - 1);
            sp -= 3;
        object:
            if (!payload) return false;
            head = HEAD(UPK_OBJECT, 0, 0);
            goto push;
        case UPK_OP_OBJ:
            NODE();
            ROOM();
            CALL(do_obj(m));
            continue;
        case UPK_OP_BUILD:
            POPS(2);
            STEP(call_build(m, sp[-2], sp[-1]));
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
            if (size > (size_t)(m->end - p)) SHORT(input_more(m, p, size, true));
            m->framed = true;
            limit = m->limit = p + size;
            continue;
        }
        case UPK_OP_STOP: CALL(do_stop(m)); return true;
        default: /* unknown, refused, or newer than the stream */ FAIL(do_refused(m));
        }
        continue; /* what a step has pushed */

    push:
        value_store(sp++, head, payload);
        /* Is it memoised at once, under the next key?  Then that is done here, without another turn of the loop. */
        if (p >= limit || m->memo_len >= m->memo_fast || (capped && m->ops_left == 0) || watching) continue;
        op = m->dispatch[*p];
        n = 1;
        if (op == UPK_OP_MEMOIZE) {
            /* as the newest protocols write it */
        } else if (op == UPK_OP_BINPUT && limit - p >= 2 && p[1] == m->memo_len) {
            n = 2;
        } else if (op == UPK_OP_LONG_BINPUT && limit - p >= 5 && le32(p + 1) == m->memo_len) {
            n = 5;
        } else {
            continue;
        }
        if (counting) m->op_counts[op]++;
        if (capped) m->ops_left--;
        p += n;
        value_store(&m->memo[m->memo_len++], head, payload);
    }
}

bool loop(struct machine *m) { return run(m, false, true); }
bool loop_uncapped(struct machine *m) { return run(m, false, false); }
bool loop_counting(struct machine *m) { return run(m, true, true); }
