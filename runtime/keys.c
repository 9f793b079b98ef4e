/* Keys of dicts and members of sets: hashable ones only, and under a policy none equal in Python twice.
 *
 * Numbers are equal across types (1, True, 1.0); NaN equals nothing; str and bytes are never equal, and a Python 2 str counts
 * as both; tuples and frozensets are equal by their members; names by what they name, where two names of an enum name one member
 * if its policy says one value for both; objects and the rest by identity.
 * Small containers are looked through as they grow: those of scalars by a bitmap of short hashes.  Large ones wait for STOP and
 * are then hashed under a secret.  Hashing a tuple visits all of it, so its size with sharing written out is charged to the
 * budget `expanded`, and so are the bytes of its texts.
 * Layer: runtime, under machine.c.
 */
#include <math.h>
#include <string.h>

#include "cells.h"
#include "scratch.h"

enum {
    FEW = 8,
    SMALL = RECORD_PAIRS,
    SCALAR_KINDS = 1 << UPK_NONE | 1 << UPK_BOOL | 1 << UPK_INT | 1 << UPK_FLOAT | 1 << UPK_STR |
                   1 << UPK_STR8 | 1 << UPK_BYTES
};

struct key { /* eight bytes: checking many is as slow as the memory it goes through */
    uint32_t hash;
    uint32_t at; /* position in items + 1; 0: none */
};

void keys_free(struct machine *m) {
    array_free(&m->doc->mem, m->pending, m->pending_cap, sizeof(struct upk_cell *));
}

/* ---- equality of scalars */

/* A finite float without fraction is magnitude << shift. */
static bool float_is_whole(double f, uint64_t *magnitude, unsigned *shift) {
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
    const uint64_t fraction = bits & (UINT64_MAX >> 12);
    if (exponent == 0x7ff - 1075) return false; /* infinite or NaN */
    *shift = exponent > 0 ? (unsigned)exponent : 0;
    *magnitude = exponent == -1075 ? fraction : fraction | UINT64_C(1) << 52;
    if (exponent >= 0 || *magnitude == 0) return true;
    if (exponent <= -64 || *magnitude << (64 + exponent)) return false;
    *magnitude >>= -exponent;
    return true;
}

enum { FLOAT_BYTES = 136 }; /* of the largest one as an int, and its sign */

/* That float as the int it equals: little-endian two's complement in `bytes`. */
static struct upk_value int_of_float(double f, uint64_t magnitude, unsigned shift,
                                     uint8_t bytes[FLOAT_BYTES]) {
    memset(bytes, 0, FLOAT_BYTES);
    for (unsigned i = 0; i < 64; i++) {
        unsigned to = i + shift;
        if (magnitude >> i & 1) bytes[to / 8] |= (uint8_t)(1u << to % 8);
    }
    unsigned carry = f < 0;
    for (size_t i = 0; f < 0 && i < FLOAT_BYTES; i++) {
        carry += (uint8_t)~bytes[i];
        bytes[i] = (uint8_t)carry;
        carry >>= 8;
    }
    return int_from_bytes(bytes, FLOAT_BYTES);
}

/* A number as the int it equals; false: it equals none. */
static bool int_of_number(struct upk_value *v, uint8_t room[FLOAT_BYTES]) {
    uint64_t magnitude;
    unsigned shift;
    if (v->kind != UPK_FLOAT) return true;
    if (!float_is_whole(v->as.f, &magnitude, &shift)) return false;
    *v = int_of_float(v->as.f, magnitude, shift, room);
    return true;
}

static bool is_number(struct upk_value v) {
    return v.kind == UPK_BOOL || v.kind == UPK_INT || v.kind == UPK_BIGINT || v.kind == UPK_FLOAT;
}

static bool numbers_equal(struct upk_value a, struct upk_value b) {
    uint8_t room[2][FLOAT_BYTES];
    if (a.kind == UPK_FLOAT && b.kind == UPK_FLOAT) return a.as.f == b.as.f;
    if (!int_of_number(&a, room[0]) || !int_of_number(&b, room[1])) return false;
    if ((a.kind == UPK_BIGINT) != (b.kind == UPK_BIGINT)) return false;
    if (a.kind != UPK_BIGINT) return a.as.i == b.as.i;
    return a.len == b.len && memcmp(a.as.bytes, b.as.bytes, a.len) == 0;
}

static bool is_text(unsigned kind) { return kind == UPK_STR || kind == UPK_STR8 || kind == UPK_BYTES; }

static bool texts_equal(struct upk_value a, struct upk_value b) {
    if (a.len != b.len) return false;
    bool both = (a.kind == UPK_STR && b.kind == UPK_BYTES) || (a.kind == UPK_BYTES && b.kind == UPK_STR);
    return !both && (a.as.bytes == b.as.bytes || memcmp(a.as.bytes, b.as.bytes, a.len) == 0);
}

/* Equal, for all but tuples and frozensets of equal length, whose members decide (*inner). */
static bool shallow_equal(const struct machine *m, struct upk_value a, struct upk_value b, bool *inner) {
    *inner = false;
    if (is_number(a)) return is_number(b) && numbers_equal(a, b);
    if (is_text(a.kind)) return is_text(b.kind) && texts_equal(a, b);
    if (a.kind != b.kind) return false;
    if (a.kind == UPK_NONE) return true;
    if (a.kind == UPK_GLOBAL) return names_equal(m, as_global(a.as.cell), as_global(b.as.cell));
    if (a.as.cell == b.as.cell) return true;
    *inner = (a.kind == UPK_TUPLE || a.kind == UPK_FROZENSET) && a.as.cell->len == b.as.cell->len;
    return *inner;
}

/* ---- hashing */

static uint64_t hash_int(struct machine *m, struct upk_value v) {
    if (v.kind != UPK_BIGINT) return hash_number(m, (uint64_t)v.as.i);
    m->key_work += v.len / KEY_BYTES_A_VALUE;
    return hash_bytes(m, v.as.bytes, v.len, 3);
}

static uint64_t hash_text(struct machine *m, struct upk_value v) {
    return hash_bytes(m, v.as.bytes, v.len, 5);
}

static uint64_t hash_leaf(struct machine *m, struct upk_value v) {
    switch ((enum upk_kind)v.kind) {
    case UPK_BOOL:
    case UPK_INT:
    case UPK_BIGINT: return hash_int(m, v);
    case UPK_FLOAT: {
        uint8_t room[FLOAT_BYTES];
        uint64_t bits;
        memcpy(&bits, &v.as.f, sizeof bits);
        return int_of_number(&v, room) ? hash_int(m, v) : hash_number(m, bits ^ UINT64_C(0x5bf03635));
    }
    case UPK_STR:
    case UPK_STR8:
    case UPK_BYTES: m->key_work += v.len / KEY_BYTES_A_VALUE; return hash_text(m, v);
    case UPK_GLOBAL: return hash_name(m, as_global(v.as.cell));
    case UPK_NONE: return hash_number(m, UINT64_C(0x100000000));
    case UPK_INVALID:
    case UPK_BUFFER:
    case UPK_EXT:
    case UPK_BYTEARRAY:
    case UPK_PERSID:
    case UPK_TUPLE:
    case UPK_FROZENSET:
    case UPK_LIST:
    case UPK_DICT:
    case UPK_SET:
    case UPK_OBJECT: break;
    }
    return hash_number(m, (uint64_t)(uintptr_t)v.as.cell);
}

static bool is_nan(struct upk_value v) { return v.kind == UPK_FLOAT && isnan(v.as.f); }
static bool is_nested(struct upk_value v) { return v.kind == UPK_TUPLE || v.kind == UPK_FROZENSET; }

/* An open tuple or frozenset while its hash is being made. */
struct open {
    const struct upk_cell *cell;
    uint32_t next;
    uint64_t hash;
    bool has_nan; /* among its own members: then it is like itself alone, for a NaN equals nothing */
};

static bool open_push(struct machine *m, struct open **stack, size_t *len, size_t *cap,
                      const struct upk_cell *c) {
    struct open *to = array_room(&m->doc->mem, *stack, cap, *len + 1, sizeof *to);
    if (!to) return machine_fail_memory(m);
    *stack = to;
    (*stack)[(*len)++] = (struct open){.cell = c, .hash = c->kind == UPK_TUPLE ? 11 : 13};
    return true;
}

static bool hash_value(struct machine *m, struct upk_value v, uint64_t *out) {
    v = value_resolve(v);
    if (!is_nested(v)) {
        *out = hash_leaf(m, v);
        return fail_over(m, UPK_BUDGET_EXPANDED, m->key_work);
    }
    m->key_work += v.as.cell->size;
    if (!fail_over(m, UPK_BUDGET_EXPANDED, m->key_work)) return false;
    struct open *stack = NULL;
    size_t len = 0, cap = 0;
    bool ok = open_push(m, &stack, &len, &cap, v.as.cell);
    uint64_t done = 0;
    while (ok && len) {
        struct open *top = &stack[len - 1];
        if (top->next < top->cell->len) {
            struct upk_value item = value_resolve(top->cell->items[top->next++]);
            if (is_nested(item)) {
                ok = open_push(m, &stack, &len, &cap, item.as.cell);
                continue;
            }
            done = hash_leaf(m, item);
            top->has_nan = top->has_nan || is_nan(item);
            ok = fail_over(m, UPK_BUDGET_EXPANDED, m->key_work);
        } else {
            done = hash_number(m, top->has_nan ? (uint64_t)(uintptr_t)top->cell : top->hash + top->cell->len);
            if (--len == 0) break;
            top = &stack[len - 1];
        }
        /* A frozenset's hash must not depend on the order of its members. */
        top->hash = top->cell->kind == UPK_TUPLE ? hash_number(m, top->hash * 3 ^ done)
                                                 : top->hash + hash_number(m, done);
    }
    array_free(&m->doc->mem, stack, cap, sizeof *stack);
    *out = done;
    return ok;
}

/* Deep equality of two values that may be keys.  The members of frozensets have no order: there the 64-bit hashes decide. */
static bool nested_equal(struct machine *m, struct upk_value a, struct upk_value b, bool *equal) {
    struct pair {
        struct upk_value a, b;
    } *stack = NULL;
    size_t len = 0, cap = 0;
    bool ok = true;
    *equal = true;
    for (;;) {
        bool inner;
        a = value_resolve(a), b = value_resolve(b);
        *equal = shallow_equal(m, a, b, &inner);
        if (*equal && inner && a.kind == UPK_FROZENSET) {
            uint64_t hashes[2];
            ok = hash_value(m, a, &hashes[0]) && hash_value(m, b, &hashes[1]);
            *equal = ok && hashes[0] == hashes[1];
        } else if (*equal && inner) {
            uint32_t n = a.as.cell->len;
            if (n > 0) {
                struct pair *to = array_room(&m->doc->mem, stack, &cap, len + n, sizeof *to);
                ok = to || machine_fail_memory(m);
                if (!ok) break;
                stack = to;
            }
            for (uint32_t i = 0; i < n; i++)
                stack[len++] = (struct pair){a.as.cell->items[i], b.as.cell->items[i]};
        }
        if (!ok || !*equal || len == 0) break;
        len--;
        a = stack[len].a, b = stack[len].b;
    }
    array_free(&m->doc->mem, stack, cap, sizeof *stack);
    return ok;
}

static bool fail_equal(struct machine *m, struct upk_value v) {
    v = value_resolve(v);
    if (is_text(v.kind)) {
        char text[64];
        error_copy(text, sizeof text, v.as.bytes, v.len);
        return machine_fail_detail(m, UPK_ERR_EQUAL_KEYS, "`%s'", text);
    }
    return machine_fail(m, UPK_ERR_EQUAL_KEYS);
}

/* ---- many members, or nested ones: by hash */

/* The hashes of all members.  A NaN equals nothing, so any hash will do. */
static bool keys_hash(struct machine *m, const struct upk_cell *c, uint32_t step, uint32_t *hashes) {
    machine_secret(m);
    for (uint32_t i = 0, n = 0; i < c->len; i += step) {
        struct upk_value v = c->items[i];
        uint64_t hash;
        if (v.kind == UPK_STR && v.len < KEY_BYTES_A_VALUE) { /* as a rule; costs nothing of the budget */
            hash = hash_text(m, v);
        } else if (!hash_value(m, v, &hash)) {
            return false;
        }
        hashes[n++] = (uint32_t)hash;
    }
    return true;
}

/* Look for two equal members among these, which stand in the order of c.  *twin is the place + 1 of the first that equals one
 * before it, 0: none.  `table` has room for a power of two of at least 2n. */
static bool keys_compare(struct machine *m, const struct upk_cell *c, const struct key *keys, uint32_t n,
                         struct key *table, uint32_t *twin) {
    uint32_t room = 2;
    while (room < 2 * n) room *= 2;
    memset(table, 0, room * sizeof *table);
    *twin = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = keys[i].hash & (room - 1);
        for (; table[at].at; at = (at + 1) & (room - 1)) {
            bool equal;
            if (table[at].hash != keys[i].hash) continue;
            if (!nested_equal(m, c->items[keys[i].at - 1], c->items[table[at].at - 1], &equal)) return false;
            if (equal) {
                *twin = keys[i].at;
                return true;
            }
        }
        table[at] = keys[i];
    }
    return true;
}

/* Which hashes are there, and which more than once: a bit for each value of their upper bits. */
struct seen {
    unsigned shift;
    uint64_t *once, *again;
};

/* Returns how many hashes are like one before. */
static uint32_t hashes_see(const struct seen *seen, const uint32_t *hashes, uint32_t n) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t h = hashes[i] >> seen->shift;
        const uint64_t bit = UINT64_C(1) << (h & 63);
        uint64_t *const word = &seen->once[h >> 6];
        if (*word & bit) {
            seen->again[h >> 6] |= bit;
            found++;
        }
        *word |= bit;
    }
    return found;
}

/* Those of n members that are like another, in the order of c. */
static uint32_t keys_seen_again(const struct seen *seen, const uint32_t *hashes, uint32_t n, uint32_t step,
                                struct key *keys) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t h = hashes[i] >> seen->shift;
        if (seen->again[h >> 6] >> (h & 63) & 1)
            keys[count++] = (struct key){.hash = hashes[i], .at = i * step + 1};
    }
    return count;
}

/* Compare those that may be equal: at most twice as many as are like one before. */
static bool alike_distinct(struct machine *m, const struct upk_cell *c, uint32_t step,
                           const struct seen *seen, const uint32_t *hashes, uint32_t found) {
    enum { TABLE = 4 }; /* a power of two of at least twice as many */
    const size_t most = 2 * (size_t)found, size = (1 + TABLE) * most * sizeof(struct key);
    struct key *keys = mem_resize(&m->doc->mem, NULL, 0, size);
    if (!keys) return machine_fail_memory(m);
    const uint32_t n = keys_seen_again(seen, hashes, c->len / step, step, keys);
    uint32_t twin;
    const bool ok = keys_compare(m, c, keys, n, keys + most, &twin);
    (void)mem_resize(&m->doc->mem, keys, size, 0);
    return ok && (!twin || fail_equal(m, c->items[twin - 1]));
}

/* A large container: sixteen times as many bits as members, so that few are like another. */
static bool large_distinct(struct machine *m, const struct upk_cell *c, uint32_t step) {
    const uint32_t n = c->len / step;
    unsigned bits = 6;
    while (bits < 32 && UINT64_C(1) << bits < 16 * (uint64_t)n) bits++;
    const size_t words = (size_t)1 << (bits - 6), size = 2 * words * sizeof(uint64_t) + n * sizeof(uint32_t);
    uint64_t *room = mem_resize(&m->doc->mem, NULL, 0, size);
    if (!room) return machine_fail_memory(m);
    const struct seen seen = {.shift = 32 - bits, .once = room, .again = room + words};
    uint32_t *hashes = (uint32_t *)(void *)(room + 2 * words), found = 0;
    memset(room, 0, 2 * words * sizeof *room);
    bool ok = keys_hash(m, c, step, hashes);
    if (ok) found = hashes_see(&seen, hashes, n);
    if (found) ok = alike_distinct(m, c, step, &seen, hashes, found);
    (void)mem_resize(&m->doc->mem, room, size, 0);
    return ok;
}

/* Large containers are checked when they are finished, at STOP. */
static bool keys_defer(struct machine *m, struct upk_cell *c) {
    if (c->flags & CELL_KEYS_WAIT) return true;
    struct upk_cell **to =
        array_room(&m->doc->mem, m->pending, &m->pending_cap, m->pending_len + 1, sizeof(struct upk_cell *));
    if (!to) return machine_fail_memory(m);
    m->pending = to;
    m->pending[m->pending_len++] = c;
    c->flags |= CELL_KEYS_WAIT;
    return true;
}

bool keys_check_pending(struct machine *m) {
    for (size_t i = 0; i < m->pending_len; i++) {
        const struct upk_cell *c = m->pending[i];
        if (large_distinct(m, c, c->kind == UPK_DICT ? 2 : 1)) continue;
        value_path(m->doc, c, m->error.path, sizeof m->error.path);
        return false;
    }
    m->pending_len = 0;
    return true;
}

static bool nested_distinct(struct machine *m, const struct upk_cell *c, uint32_t step) {
    struct key keys[SMALL], table[4 * SMALL];
    uint32_t hashes[SMALL], twin, n = c->len / step;
    if (!keys_hash(m, c, step, hashes)) return false;
    for (uint32_t i = 0; i < n; i++) keys[i] = (struct key){.hash = hashes[i], .at = i * step + 1};
    if (!keys_compare(m, c, keys, n, table, &twin)) return false;
    return !twin || fail_equal(m, c->items[twin - 1]);
}

/* ---- small containers of scalars */

/* Eight bits that equal values share.  Every byte of a text counts; what is short has no secret, and a collision costs one look
 * through at most SMALL members. */
static unsigned short_hash(struct machine *m, struct upk_value v) {
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h;
    if (is_text(v.kind)) {
        if (v.len > 24) {
            machine_secret(m);
            return (unsigned)(hash_leaf(m, v) >> 56);
        }
        h = (text_word(v.as.bytes, v.len) ^ v.len) * k;
        if (v.len > 16) h = (h ^ text_word(v.as.bytes + 8, 8)) * k;
        if (v.len > 8) h = (h ^ text_word(v.as.bytes + v.len - 8, 8)) * k;
    } else if (v.kind == UPK_FLOAT) {
        int64_t i = v.as.f >= -0x1p63 && v.as.f < 0x1p63 ? (int64_t)v.as.f : 0; /* no int64 equals another */
        h = (uint64_t)i * k; /* an integral float shares with its int; any other with its whole part */
    } else if (v.kind == UPK_NONE) {
        h = 0;
    } else {
        h = (uint64_t)v.as.i * k;
    }
    return (unsigned)(h >> 56);
}

static bool texts_compare(struct machine *m, const struct upk_cell *c, uint32_t from, uint32_t step) {
    for (uint32_t i = from; i < c->len; i += step) {
        const struct upk_value v = c->items[i];
        for (uint32_t k = 0; k < i; k += step) {
            if (c->items[k].len == v.len && text_same(c->items[k].as.bytes, v.as.bytes, v.len))
                return fail_equal(m, v);
        }
    }
    return true;
}

/* A few texts are compared with each other where not all of them are told apart by their signs: most differ in length, or in the
 * first of their bytes. */
static inline bool few_distinct(struct machine *m, const struct upk_cell *c, uint32_t from, uint32_t step) {
    uint64_t seen = 0, again = 0;
    for (uint32_t i = 0; i < c->len; i += step) {
        const uint64_t bit = UINT64_C(1) << text_sign(c->items[i].as.bytes, c->items[i].len);
        again |= seen & bit;
        seen |= bit;
    }
    return !again || texts_compare(m, c, from, step);
}

/* The members from `from` on are new: each differs from all before it. */
static bool small_check(struct machine *m, const struct upk_cell *c, uint32_t from, uint32_t step) {
    uint64_t seen[4] = {0};
    for (uint32_t i = 0; i < c->len; i += step) {
        struct upk_value v = c->items[i];
        unsigned h = short_hash(m, v);
        uint64_t bit = UINT64_C(1) << (h & 63);
        if (i >= from && seen[h >> 6] & bit) {
            m->key_work += i / step;
            if (!fail_over(m, UPK_BUDGET_EXPANDED, m->key_work)) return false;
            for (uint32_t k = 0; k < i; k += step) {
                bool inner;
                if (shallow_equal(m, v, c->items[k], &inner)) return fail_equal(m, v);
            }
        }
        seen[h >> 6] |= bit;
    }
    return fail_over(m, UPK_BUDGET_EXPANDED, m->key_work);
}

/* The same of strs alone; those of a dict that may have a list of them are put on it. */
static inline bool texts_check(struct machine *m, const struct upk_cell *c, uint32_t from, uint32_t step,
                               struct key_list *lists) {
    const bool few = c->len <= FEW * step;
    const bool distinct = few ? few_distinct(m, c, from, step) : small_check(m, c, from, step);
    if (distinct && lists) key_lists_note(m, c, lists);
    return distinct;
}

bool keys_check_record(struct machine *m, struct upk_cell *c) {
    struct key_list *const lists = key_lists_of(m, c);
    return key_lists_have(m, c, lists) || texts_check(m, c, 0, 2, lists);
}

bool keys_check(struct machine *m, struct upk_cell *c, uint32_t from) {
    const uint32_t step = c->kind == UPK_DICT ? 2 : 1;
    uint32_t kinds = 0;
    struct key_list *lists = NULL;
    if (step == 2) c->op = 0; /* its keys are others now */
    if (m->policy && step == 2 && c->len && c->len <= 2 * RECORD_PAIRS && c->items[0].kind == UPK_STR) {
        lists = key_lists_of(m, c);
        if (key_lists_have(m, c, lists)) return true;
    }
    for (uint32_t i = from; i < c->len; i += step) kinds |= 1u << c->items[i].kind;
    if (kinds & ~(uint32_t)SCALAR_KINDS) {
        for (uint32_t i = from; i < c->len; i += step) {
            if (!value_hashable(c->items[i])) {
                return machine_fail_detail(m, UPK_ERR_UNHASHABLE, "a %s",
                                           kind_word(value_resolve(c->items[i]).kind));
            }
            if (m->policy && !harden_key(m, c->items[i])) return false;
        }
        if (m->policy && c->flags & CELL_HARD)
            return machine_fail_detail(m, UPK_ERR_INCOMPLETE, "a %s is reached from its own key",
                                       kind_word(c->kind));
    }
    if (!m->policy) return true;
    if (c->len > SMALL * step) return keys_defer(m, c);
    for (uint32_t i = 0; i < from; i += step) kinds |= 1u << c->items[i].kind;
    if (kinds & ~(uint32_t)SCALAR_KINDS) return nested_distinct(m, c, step);
    return kinds == 1 << UPK_STR ? texts_check(m, c, from, step, lists) : small_check(m, c, from, step);
}
