/* Native check of array.array: type code, machine format and items agree.
 *
 * Source: array__array_reconstructor, array_array___reduce_ex__ and the table `descriptors` in Modules/arraymodule.c of CPython.
 *
 * Layer: runtime, part of native checks (check.h).
 */
#include <inttypes.h>

#include "check.h"

enum item_kind { ITEM_UNSIGNED, ITEM_SIGNED, ITEM_FLOAT, ITEM_TEXT };

enum { LIST_ARGUMENTS = 2, BYTES_ARGUMENTS = 4, CODE_POINTS_A_PAIR = 16, MOST_CODE_POINT = 0x10ffff };

/* `sizes`: a bit for each size in bytes that an item has on some machine, which is that size itself. */
struct type_code {
    uint8_t code, kind, sizes;
};

struct machine_format {
    uint8_t kind, size;
    bool big_endian;
};

static const struct type_code *find_type_code(uint8_t code) {
    static const struct type_code codes[] = {
        {'b', ITEM_SIGNED, 1},     {'B', ITEM_UNSIGNED, 1},     {'h', ITEM_SIGNED, 2},
        {'H', ITEM_UNSIGNED, 2},   {'i', ITEM_SIGNED, 4},       {'I', ITEM_UNSIGNED, 4},
        {'l', ITEM_SIGNED, 4 | 8}, {'L', ITEM_UNSIGNED, 4 | 8}, {'q', ITEM_SIGNED, 8},
        {'Q', ITEM_UNSIGNED, 8},   {'f', ITEM_FLOAT, 4},        {'d', ITEM_FLOAT, 8},
        {'u', ITEM_TEXT, 2 | 4},   {'w', ITEM_TEXT, 4}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return &codes[i];
    return NULL;
}

static const struct type_code *type_code(struct native *c, uint32_t i) {
    struct upk_value v;
    if (!argument_str(c, i, &v)) return NULL;
    const struct type_code *code = v.len == 1 ? find_type_code(v.as.bytes[0]) : NULL;
    if (!code) (void)check_fails(c, "array: unknown type code");
    return code;
}

/* ---- items as bytes */

static bool code_points_hold(struct native *c, struct upk_value v, bool big_endian) {
    if (!check_pays(c, v.len / 4, CODE_POINTS_A_PAIR)) return false;
    for (uint32_t i = 0; i < v.len; i += 4) {
        const uint8_t *p = v.as.bytes + i;
        const uint32_t point = big_endian ? be32(p) : le32(p);
        if (point > MOST_CODE_POINT)
            return check_fails(c, "array: item %u is 0x%" PRIx32 ", no code point", i / 4, point);
    }
    return true;
}

static bool bytes_hold(struct native *c) {
    /* By number: little-endian formats are even where there are two. */
    static const struct machine_format formats[] = {
        {ITEM_UNSIGNED, 1, false}, {ITEM_SIGNED, 1, false},   {ITEM_UNSIGNED, 2, false},
        {ITEM_UNSIGNED, 2, true},  {ITEM_SIGNED, 2, false},   {ITEM_SIGNED, 2, true},
        {ITEM_UNSIGNED, 4, false}, {ITEM_UNSIGNED, 4, true},  {ITEM_SIGNED, 4, false},
        {ITEM_SIGNED, 4, true},    {ITEM_UNSIGNED, 8, false}, {ITEM_UNSIGNED, 8, true},
        {ITEM_SIGNED, 8, false},   {ITEM_SIGNED, 8, true},    {ITEM_FLOAT, 4, false},
        {ITEM_FLOAT, 4, true},     {ITEM_FLOAT, 8, false},    {ITEM_FLOAT, 8, true},
        {ITEM_TEXT, 2, false},     {ITEM_TEXT, 2, true},      {ITEM_TEXT, 4, false},
        {ITEM_TEXT, 4, true}};
    const int64_t count = sizeof formats / sizeof *formats;
    const struct type_code *code = type_code(c, 1);
    int64_t number = 0;
    struct upk_value v;
    if (!code || !argument_int(c, 2, &number) || !argument_bytes(c, 3, &v)) return false;
    if (number < 0 || number >= count) return check_fails(c, "array: machine format %" PRId64, number);
    const struct machine_format *f = &formats[number];
    if (f->kind != code->kind || !(f->size & code->sizes))
        return check_fails(c, "array: machine format %" PRId64 " for type code `%c'", number, code->code);
    if (v.len % f->size != 0)
        return check_fails(c, "array: %" PRIu32 " bytes of items of %u", v.len, f->size);
    return f->kind != ITEM_TEXT || f->size != 4 || code_points_hold(c, v, f->big_endian);
}

/* ---- items as a list */

/* Within the widest integers that the type code has. */
static bool int_holds(struct upk_value v, const struct type_code *code) {
    const bool is_signed = code->kind == ITEM_SIGNED;
    const unsigned bits = code->sizes >= 8 ? 64 : 8u * code->sizes;
    const uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    const uint64_t lo[2] = {is_signed ? ~most : 0, is_signed ? UINT64_MAX : 0}, hi[2] = {most, 0};
    return (v.kind == UPK_INT || v.kind == UPK_BIGINT) && int_compare(v, lo, is_signed) >= 0 &&
           int_compare(v, hi, false) <= 0;
}

/* Every int of so many bytes becomes a float, being smaller than 2^1023. */
enum { FLOAT_INT_BYTES = 128 };

static bool item_holds(struct upk_value v, const struct type_code *code) {
    switch ((enum item_kind)code->kind) {
    case ITEM_UNSIGNED:
    case ITEM_SIGNED: return int_holds(v, code);
    case ITEM_FLOAT:
        return v.kind == UPK_FLOAT || v.kind == UPK_INT || (v.kind == UPK_BIGINT && v.len <= FLOAT_INT_BYTES);
    case ITEM_TEXT: return value_is_str(v) && v.len <= 4 && utf8_count(v.as.bytes, v.len) == 1;
    }
    return false;
}

static bool list_holds(struct native *c) {
    const struct type_code *code = type_code(c, 0);
    const struct upk_cell *list = NULL;
    if (!code || !argument_list(c, 1, &list) || !check_pays(c, list->len, 1)) return false;
    for (uint32_t i = 0; i < list->len; i++) {
        if (!item_holds(value_resolve(list->items[i]), code))
            return check_fails(c, "array: item %" PRIu32 " does not fit type code `%c'", i, code->code);
    }
    return true;
}

bool check_array(struct native *c) {
    switch (argument_count(c)) {
    case LIST_ARGUMENTS: return list_holds(c);
    case BYTES_ARGUMENTS: return bytes_hold(c);
    default: return check_fails(c, "array: %" PRIu32 " arguments, not 2 or 4", argument_count(c));
    }
}
