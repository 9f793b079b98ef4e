/* Values, names and arguments for mutations: honest and odd ones, as opcodes of one protocol.
 *
 * Names are those that the fuzzed policies grant, and those that only spell something else in old protocols.
 *
 * Layer: tests only.
 */
#include <stdio.h>
#include <string.h>

#include "mutate.h"
#include "policies.h"

enum { DEEPEST = 4 };

static const char *const words[] = {
    "",        "a",     "x",        "name",          "Z\xc3\xbcrich", "\xed\xa0\x80",
    "latin1",  "utf-8", "__dict__", "__new__",       "Inner",         "1E+5",
    "NaN",     "-12",   "12/7",     "Europe/Berlin", "127.0.0.1/8",   "\xf0\x9f\x98\x80",
    "tm_zone", "int",   "data"};
static const char *const spellings[][2] = {
    {"_codecs", "encode"},        {"__builtin__", "bytes"},       {"__builtin__", "set"},
    {"__builtin__", "frozenset"}, {"__builtin__", "bytearray"},   {"__builtin__", "getattr"},
    {"__builtin__", "object"},    {"copy_reg", "_reconstructor"}, {"copyreg", "__newobj__"},
    {"functools", "partial"},     {"__builtin__", "xrange"},      {"__builtin__", "dict"},
    {"__builtin__", "list"},      {"__builtin__", "tuple"},       {"__builtin__", "int"},
    {"builtins", "set"},          {"builtins", "bytearray"},      {"operator", "or_"}};
static const uint64_t numbers[] = {0,
                                   1,
                                   2,
                                   5,
                                   7,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x3ff0000000000000,
                                   0x7ff0000000000000,
                                   0x7ff8000000000001,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff};

static uint64_t number(struct dice *d) {
    uint64_t n = numbers[dice_roll(d, sizeof numbers / sizeof *numbers)];
    return dice_roll(d, 4) ? n : n + dice_roll(d, 5) - 2;
}

static const char *word(struct dice *d) { return words[dice_roll(d, sizeof words / sizeof *words)]; }

static void little_endian(struct made *out, uint64_t n, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) made_byte(out, (unsigned)(n >> 8 * i) & 0xff);
}

static void text(struct dice *d, unsigned protocol, const char *s, size_t len, struct made *out) {
    if (protocol == 0) {
        made_byte(out, 'V');
        made_add(out, s, len);
        made_byte(out, '\n');
        return;
    }
    bool is_short = protocol >= 4 && dice_roll(d, 4);
    made_byte(out, is_short ? 0x8c : 'X');
    little_endian(out, len, is_short ? 1 : 4);
    made_add(out, s, len);
}

static void integer(struct dice *d, unsigned protocol, struct made *out) {
    uint64_t n = number(d);
    char line[32];
    switch (dice_roll(d, protocol == 0 ? 1 : protocol < 2 ? 4 : 5)) {
    case 0: {
        int len = snprintf(line, sizeof line, "%c%lld\n", dice_roll(d, 2) ? 'I' : 'L', (long long)n);
        made_add(out, line, (size_t)len);
        return;
    }
    case 1:
        made_byte(out, 'K');
        little_endian(out, n, 1);
        return;
    case 2:
        made_byte(out, 'M');
        little_endian(out, n, 2);
        return;
    case 3:
        made_byte(out, 'J');
        little_endian(out, n, 4);
        return;
    default: {
        size_t bytes = dice_roll(d, 18);
        made_byte(out, 0x8a);
        made_byte(out, (unsigned)bytes);
        little_endian(out, n, bytes < 8 ? bytes : 8);
        for (size_t i = 8; i < bytes; i++) made_byte(out, dice_roll(d, 256));
    }
    }
}

static void pool_name(struct dice *d, unsigned protocol, const char *module, size_t module_len,
                      const char *name, size_t name_len, struct made *out) {
    if (protocol >= 4) {
        text(d, protocol, module, module_len, out);
        text(d, protocol, name, name_len, out);
        made_byte(out, 0x93);
        return;
    }
    made_byte(out, 'c');
    made_add(out, module, module_len);
    made_byte(out, '\n');
    made_add(out, name, name_len);
    made_byte(out, '\n');
}

static void name(struct dice *d, unsigned protocol, struct made *out) {
    if (dice_roll(d, 4) == 0) {
        const char *const *s = spellings[dice_roll(d, sizeof spellings / sizeof *spellings)];
        pool_name(d, protocol, s[0], strlen(s[0]), s[1], strlen(s[1]), out);
        return;
    }
    const struct upk_policy *p = fuzz_policies[dice_roll(d, fuzz_policy_count)].policy;
    const struct upk_row *row = &p->rows[p->row_count > 1 ? 1 + dice_roll(d, p->row_count - 1) : 0];
    pool_name(d, protocol, p->pool + row->module.at, row->module.len, p->pool + row->qualname.at,
              row->qualname.len, out);
}

static void many(struct dice *d, unsigned protocol, unsigned depth, size_t step, struct made *out) {
    made_byte(out, '(');
    for (size_t n = step * dice_roll(d, 4); n > 0; n--) value_make(d, protocol, depth + 1, out);
}

static void object(struct dice *d, unsigned protocol, unsigned depth, struct made *out) {
    name(d, protocol, out);
    many(d, protocol, depth, 1, out);
    made_byte(out, 't');
    if (protocol >= 4 && dice_roll(d, 8) == 0) {
        made_byte(out, '}');
        made_byte(out, 0x92);
    } else {
        made_byte(out, protocol >= 2 && dice_roll(d, 2) ? 0x81 : 'R');
    }
    if (protocol == 0) return;
    switch (dice_roll(d, 6)) {
    case 0:
        many(d, protocol, depth, 1, out);
        made_byte(out, 'e');
        return;
    case 1:
        many(d, protocol, depth, 2, out);
        made_byte(out, 'u');
        return;
    case 2:
    case 3:
        value_make(d, protocol, depth + 1, out);
        made_byte(out, 'b');
        return;
    default: return;
    }
}

static void compound(struct dice *d, unsigned protocol, unsigned depth, struct made *out) {
    static const char open[] = "])})", each[] = "eu";
    unsigned which = dice_roll(d, protocol >= 4 ? 7 : protocol ? 5 : 3);
    if (which == 6) made_byte(out, 0x8f);
    if (which == 3 || which == 4) made_byte(out, (unsigned)open[2 * (which - 3)]);
    many(d, protocol, depth, which == 2 || which == 4 ? 2 : 1, out);
    switch (which) {
    case 0: made_byte(out, 't'); return;
    case 1: made_byte(out, 'l'); return;
    case 2: made_byte(out, 'd'); return;
    case 3:
    case 4: made_byte(out, (unsigned)each[which - 3]); return;
    case 5: made_byte(out, 0x91); return;
    default: made_byte(out, 0x90); return;
    }
}

void value_make(struct dice *d, unsigned protocol, unsigned depth, struct made *out) {
    const char *s = word(d);
    switch (dice_roll(d, depth >= DEEPEST ? 8 : 13)) {
    case 0: made_byte(out, 'N'); return;
    case 1: made_add(out, protocol < 2 ? "I01\n" : "\x88", protocol < 2 ? 4 : 1); return;
    case 2:
    case 3: integer(d, protocol, out); return;
    case 4: made_add(out, protocol ? "G\x3f\xf8\0\0\0\0\0\0" : "F-1.5\n", protocol ? 9 : 6); return;
    case 5: text(d, protocol, s, strlen(s), out); return;
    case 6:
        made_byte(out, protocol < 3 ? 'U' : 'C');
        made_byte(out, (unsigned)strlen(s));
        made_add(out, s, strlen(s));
        return;
    case 7:
        made_byte(out, protocol ? 'h' : 'g');
        if (protocol) {
            made_byte(out, dice_roll(d, 12));
        } else {
            made_byte(out, '0' + dice_roll(d, 10));
            made_byte(out, '\n');
        }
        return;
    case 8: name(d, protocol, out); return;
    case 9:
    case 10: object(d, protocol, depth, out); return;
    default: compound(d, protocol, depth, out); return;
    }
}

void argument_make(struct dice *d, const struct piece *piece, struct made *out) {
    const char *s = word(d);
    char line[64];
    int len;
    made_byte(out, piece->at[0]);
    switch (piece->op) {
    case UPK_OP_SHORT_BINUNICODE:
    case UPK_OP_SHORT_BINBYTES:
    case UPK_OP_SHORT_BINSTRING: little_endian(out, strlen(s), 1); break;
    case UPK_OP_BINUNICODE:
    case UPK_OP_BINBYTES:
    case UPK_OP_BINSTRING: little_endian(out, strlen(s), 4); break;
    case UPK_OP_BINUNICODE8:
    case UPK_OP_BINBYTES8:
    case UPK_OP_BYTEARRAY8: little_endian(out, strlen(s), 8); break;
    case UPK_OP_BININT1: little_endian(out, number(d), 1); return;
    case UPK_OP_BININT2: little_endian(out, number(d), 2); return;
    case UPK_OP_BININT: little_endian(out, number(d), 4); return;
    case UPK_OP_BINFLOAT: little_endian(out, number(d), 8); return;
    case UPK_OP_BINGET:
    case UPK_OP_BINPUT: made_byte(out, dice_roll(d, 16)); return;
    case UPK_OP_INT:
    case UPK_OP_LONG:
        len = snprintf(line, sizeof line, "%lld\n", (long long)number(d));
        made_add(out, line, (size_t)len);
        return;
    case UPK_OP_UNICODE:
        made_add(out, s, strlen(s));
        made_byte(out, '\n');
        return;
    case UPK_OP_STRING:
        len = snprintf(line, sizeof line, "'%s'\n", s);
        made_add(out, line, (size_t)len);
        return;
    default: made_add(out, piece->at + 1, piece->len - 1); return;
    }
    made_add(out, s, strlen(s));
}
