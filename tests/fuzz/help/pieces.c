/* Streams as pieces, one for each opcode, and their repair after a mutation.
 *
 * The repair runs the pieces over a stack of kinds.  It knows less than the machine (objects take any step), and need not: a
 * wrong guess costs one input.
 *
 * Source: Lib/pickletools.py.  Layer: tests only.
 */
#include <string.h>

#include "../../../runtime/upk_tables.h"
#include "mutate.h"

enum { STACK = 4096, MARKS = 256, MEMO = 1024, FRAME_SIZE = 9 };

void made_add(struct made *to, const void *bytes, size_t len) {
    if (len > to->cap - to->len) len = to->cap - to->len;
    if (len) memcpy(to->at + to->len, bytes, len);
    to->len += len;
}

void made_byte(struct made *to, unsigned byte) {
    uint8_t b = (uint8_t)byte;
    made_add(to, &b, 1);
}

uint32_t dice_roll(struct dice *d, size_t sides) {
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (uint32_t)((d->state >> 16) % sides);
}

/* ---- opcodes and their arguments */

static const struct {
    uint8_t op, protocol;
} opcodes[256] = {
#define UPK_X(name, byte, protocol, family) [byte] = {UPK_OP_##name, protocol},
    UPK_OPCODES(UPK_X)
#undef UPK_X
};

/* Bytes of a fixed argument, or of the length that stands before one. */
static const uint8_t fixed[UPK_OP_END] = {
    [UPK_OP_BININT] = 4,      [UPK_OP_BININT1] = 1,     [UPK_OP_BININT2] = 2, [UPK_OP_BINFLOAT] = 8,
    [UPK_OP_BINGET] = 1,      [UPK_OP_BINPUT] = 1,      [UPK_OP_EXT1] = 1,    [UPK_OP_EXT2] = 2,
    [UPK_OP_LONG_BINGET] = 4, [UPK_OP_LONG_BINPUT] = 4, [UPK_OP_EXT4] = 4,    [UPK_OP_PROTO] = 1,
    [UPK_OP_FRAME] = 8};
static const uint8_t prefix[UPK_OP_END] = {[UPK_OP_LONG1] = 1,          [UPK_OP_SHORT_BINSTRING] = 1,
                                           [UPK_OP_SHORT_BINBYTES] = 1, [UPK_OP_SHORT_BINUNICODE] = 1,
                                           [UPK_OP_LONG4] = 4,          [UPK_OP_BINSTRING] = 4,
                                           [UPK_OP_BINBYTES] = 4,       [UPK_OP_BINUNICODE] = 4,
                                           [UPK_OP_BINBYTES8] = 8,      [UPK_OP_BINUNICODE8] = 8,
                                           [UPK_OP_BYTEARRAY8] = 8};
static const uint8_t lines[UPK_OP_END] = {
    [UPK_OP_INT] = 1, [UPK_OP_LONG] = 1, [UPK_OP_FLOAT] = 1,  [UPK_OP_STRING] = 1, [UPK_OP_UNICODE] = 1,
    [UPK_OP_PUT] = 1, [UPK_OP_GET] = 1,  [UPK_OP_PERSID] = 1, [UPK_OP_GLOBAL] = 2, [UPK_OP_INST] = 2};

static uint64_t little_endian(const uint8_t *p, size_t n) {
    uint64_t v = 0;
    while (n-- > 0) v = v << 8 | p[n];
    return v;
}

/* Bytes of the opcode at p; all that is left where its argument is cut off. */
static size_t piece_length(const uint8_t *p, size_t left, unsigned op) {
    size_t len = 1 + fixed[op] + prefix[op];
    if (len > left) return left;
    if (prefix[op]) {
        uint64_t more = little_endian(p + 1, prefix[op]);
        return more > left - len ? left : len + (size_t)more;
    }
    for (unsigned i = 0; i < lines[op]; i++) {
        const uint8_t *lf = memchr(p + len, '\n', left - len);
        if (!lf) return left;
        len = (size_t)(lf - p) + 1;
    }
    return len;
}

size_t pieces_cut(const uint8_t *data, size_t size, struct piece *pieces, size_t most) {
    size_t count = 0, at = 0;
    while (at < size && count < most) {
        unsigned op = opcodes[data[at]].op;
        size_t len = piece_length(data + at, size - at, op);
        pieces[count++] = (struct piece){data + at, len, (uint8_t)op};
        at += len;
    }
    return count;
}

unsigned pieces_protocol(const struct piece *pieces, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (pieces[i].op == UPK_OP_PROTO && pieces[i].len == 2) return pieces[i].at[1];
    return 0;
}

/* ---- repair */

enum kind { ANY, TEXT, LIST, DICT, SET, TUPLE, OBJECT, NAME };

struct stack {
    uint8_t kinds[STACK];
    size_t depth;
    size_t marks[MARKS], mark_count;
    uint8_t memo[MEMO]; /* 1 + kind; 0: not set */
    size_t memo_count;
};

static size_t floor_of(const struct stack *s) { return s->mark_count ? s->marks[s->mark_count - 1] : 0; }
static size_t free_depth(const struct stack *s) { return s->depth - floor_of(s); }
static enum kind kind_at(const struct stack *s, size_t below) { return s->kinds[s->depth - 1 - below]; }

static bool push(struct stack *s, enum kind kind) {
    if (s->depth == STACK) return false;
    s->kinds[s->depth++] = (uint8_t)kind;
    return true;
}

/* Takes n values and pushes one. */
static bool take(struct stack *s, size_t n, enum kind kind) {
    if (free_depth(s) < n) return false;
    s->depth -= n;
    return push(s, kind);
}

/* Takes what stands above the newest mark, of which there are at least `least`; pushes one. */
static bool collect(struct stack *s, enum kind kind, size_t least, bool even) {
    if (!s->mark_count || free_depth(s) < least || (even && free_depth(s) % 2)) return false;
    s->depth = s->marks[--s->mark_count];
    return push(s, kind);
}

/* n values go into the container below them. */
static bool grow(struct stack *s, enum kind container, size_t n) {
    if (free_depth(s) < n + 1) return false;
    enum kind found = kind_at(s, n);
    if (found != container && found != OBJECT) return false;
    s->depth -= n;
    return true;
}

static bool grow_many(struct stack *s, enum kind container, bool even) {
    if (!s->mark_count || (even && free_depth(s) % 2)) return false;
    size_t mark = s->marks[s->mark_count - 1], below = s->mark_count > 1 ? s->marks[s->mark_count - 2] : 0;
    if (mark == below) return false;
    enum kind found = s->kinds[mark - 1];
    if (found != container && found != OBJECT) return false;
    s->mark_count--;
    s->depth = mark;
    return true;
}

static bool put(struct stack *s, uint64_t key) {
    if (!free_depth(s) || key >= MEMO || s->memo[key]) return false;
    s->memo[key] = (uint8_t)(1 + kind_at(s, 0));
    s->memo_count++;
    return true;
}

static uint64_t key_of(const struct piece *piece) {
    uint64_t v = 0;
    if (!lines[piece->op]) return little_endian(piece->at + 1, piece->len - 1);
    for (size_t i = 1; i + 1 < piece->len && v < MEMO; i++) v = v * 10 + (uint64_t)(piece->at[i] - '0');
    return v;
}

static bool mark(struct stack *s) {
    if (s->mark_count == MARKS) return false;
    s->marks[s->mark_count++] = s->depth;
    return true;
}

static bool pop(struct stack *s) {
    if (!free_depth(s) && !s->mark_count) return false;
    if (free_depth(s)) {
        s->depth--;
    } else {
        s->mark_count--;
    }
    return true;
}

static bool pop_mark(struct stack *s) {
    if (!s->mark_count) return false;
    s->depth = s->marks[--s->mark_count];
    return true;
}

static bool get(struct stack *s, uint64_t key) {
    return key < MEMO && s->memo[key] && push(s, (enum kind)(s->memo[key] - 1));
}

/* A name, its arguments above it, and where `n` is 3 keywords above those. */
static bool call(struct stack *s, size_t n) {
    if (free_depth(s) < n || kind_at(s, n - 2) != TUPLE) return false;
    if (kind_at(s, n - 1) != NAME && kind_at(s, n - 1) != OBJECT) return false;
    return (n == 2 || kind_at(s, 0) == DICT) && take(s, n, OBJECT);
}

static bool build(struct stack *s) {
    if (free_depth(s) < 2 || kind_at(s, 1) != OBJECT) return false;
    s->depth--;
    return true;
}

/* The rest: opcodes of containers and their items; all others push a value of no kind that matters. */
static bool apply_to_container(struct stack *s, const struct piece *piece) {
    switch (piece->op) {
    case UPK_OP_EMPTY_LIST: return push(s, LIST);
    case UPK_OP_EMPTY_DICT: return push(s, DICT);
    case UPK_OP_EMPTY_SET: return push(s, SET);
    case UPK_OP_EMPTY_TUPLE: return push(s, TUPLE);
    case UPK_OP_TUPLE1:
    case UPK_OP_TUPLE2:
    case UPK_OP_TUPLE3: return take(s, piece->op - UPK_OP_TUPLE1 + 1u, TUPLE);
    case UPK_OP_TUPLE: return collect(s, TUPLE, 0, false);
    case UPK_OP_LIST: return collect(s, LIST, 0, false);
    case UPK_OP_FROZENSET: return collect(s, ANY, 0, false);
    case UPK_OP_DICT: return collect(s, DICT, 0, true);
    case UPK_OP_APPEND: return grow(s, LIST, 1);
    case UPK_OP_SETITEM: return grow(s, DICT, 2);
    case UPK_OP_APPENDS: return grow_many(s, LIST, false);
    case UPK_OP_SETITEMS: return grow_many(s, DICT, true);
    case UPK_OP_ADDITEMS: return grow_many(s, SET, false);
    default: return push(s, ANY);
    }
}

/* Does the opcode go with what is on the stack?  If so, the stack is as after it. */
static bool apply(struct stack *s, const struct piece *piece) {
    switch (piece->op) {
    case UPK_OP_UNKNOWN:
    case UPK_OP_PROTO:
    case UPK_OP_FRAME:
    case UPK_OP_STOP: return false;
    case UPK_OP_MARK: return mark(s);
    case UPK_OP_POP: return pop(s);
    case UPK_OP_POP_MARK: return pop_mark(s);
    case UPK_OP_DUP: return free_depth(s) && push(s, kind_at(s, 0));
    case UPK_OP_MEMOIZE: return put(s, s->memo_count);
    case UPK_OP_PUT:
    case UPK_OP_BINPUT:
    case UPK_OP_LONG_BINPUT: return put(s, key_of(piece));
    case UPK_OP_GET:
    case UPK_OP_BINGET:
    case UPK_OP_LONG_BINGET: return get(s, key_of(piece));
    case UPK_OP_GLOBAL: return push(s, NAME);
    case UPK_OP_STACK_GLOBAL:
        return free_depth(s) >= 2 && kind_at(s, 0) == TEXT && kind_at(s, 1) == TEXT && take(s, 2, NAME);
    case UPK_OP_REDUCE:
    case UPK_OP_NEWOBJ: return call(s, 2);
    case UPK_OP_NEWOBJ_EX: return call(s, 3);
    case UPK_OP_BUILD: return build(s);
    case UPK_OP_INST: return collect(s, OBJECT, 0, false);
    case UPK_OP_OBJ:
        return s->mark_count && free_depth(s) && s->kinds[floor_of(s)] == NAME &&
               collect(s, OBJECT, 1, false);
    case UPK_OP_UNICODE:
    case UPK_OP_BINUNICODE:
    case UPK_OP_BINUNICODE8:
    case UPK_OP_SHORT_BINUNICODE: return push(s, TEXT);
    case UPK_OP_BINPERSID: return take(s, 1, ANY);
    case UPK_OP_READONLY_BUFFER: return free_depth(s) > 0;
    default: return apply_to_container(s, piece);
    }
}

/* Mostly one value is left: what is open is closed, and what is too much is put into tuples or dropped. */
static void finish(struct stack *s, unsigned protocol, struct dice *d, struct made *out) {
    while (s->mark_count && collect(s, TUPLE, 0, false)) made_byte(out, 't');
    if (!s->depth && push(s, ANY)) made_byte(out, 'N');
    for (; s->depth > 1; s->depth--) {
        bool list = kind_at(s, 1) == LIST;
        made_byte(out, list ? 'a' : protocol >= 2 && dice_roll(d, 2) ? 0x86 : '0');
    }
    made_byte(out, '.');
}

void pieces_mend(const struct piece *pieces, size_t count, struct dice *d, struct made *out) {
    struct stack s;
    memset(&s, 0, sizeof s);
    unsigned protocol = pieces_protocol(pieces, count);
    bool framed = protocol >= 4 && dice_roll(d, 2);
    if (protocol > 0) {
        made_byte(out, 0x80);
        made_byte(out, protocol);
    }
    size_t frame_at = out->len;
    if (framed) made_add(out, "\x95\0\0\0\0\0\0\0\0", FRAME_SIZE);
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        if (piece->op && opcodes[piece->at[0]].protocol > (protocol < 2 ? 1 : protocol)) continue;
        if (piece->len > out->cap - out->len) break;
        if (apply(&s, piece)) made_add(out, piece->at, piece->len);
    }
    finish(&s, protocol, d, out);
    if (framed && frame_at + FRAME_SIZE <= out->len) {
        uint64_t size = out->len - frame_at - FRAME_SIZE;
        for (size_t i = 0; i < 8; i++) out->at[frame_at + 1 + i] = (uint8_t)(size >> 8 * i);
    }
}
