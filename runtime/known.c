/* Recognises well-known objects by name and shape.  Nothing is built: wherever a field is out of its range the object is not
 * recognised.
 *
 * Sources: the __reduce_ex__ of CPython's datetime, decimal, fractions, complex and uuid.
 * Layer: runtime, over doc.h.
 */
#include "known.h"

#include <string.h>

static const struct known_name {
    const char *module, *name;
    enum known_kind kind;
} names[] = {
    {"datetime", "date", KNOWN_DATE},         {"datetime", "time", KNOWN_TIME},
    {"datetime", "datetime", KNOWN_DATETIME}, {"datetime", "timedelta", KNOWN_TIMEDELTA},
    {"decimal", "Decimal", KNOWN_DECIMAL},    {"fractions", "Fraction", KNOWN_FRACTION},
    {"builtins", "complex", KNOWN_COMPLEX},   {"uuid", "UUID", KNOWN_UUID},
};

bool object_is_new(const struct upk_doc *doc, const struct object *o) {
    if (doc->policy && o->cell.index != UPK_VERB_NONE) return o->cell.index == UPK_VERB_NEW;
    return o->cell.op == UPK_OP_NEWOBJ || o->cell.op == UPK_OP_NEWOBJ_EX;
}

static bool has_only_args(const struct object *o) {
    const struct object_more *more = o->more;
    if (!more) return true;
    return (!more->kw || more->kw->len == 0) && !more->base && (!more->items || more->items->len == 0) &&
           (!more->pairs || more->pairs->len == 0) && (!more->adds || more->adds->len == 0);
}

/* ---- date and time */

unsigned days_of_month(unsigned year, unsigned month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

static bool date_from(const uint8_t b[4], struct known *out) {
    out->year = (unsigned)b[0] << 8 | b[1];
    out->month = b[2];
    out->day = b[3];
    if (out->year < 1 || out->year > 9999 || out->month < 1 || out->month > 12) return false;
    return out->day >= 1 && out->day <= days_of_month(out->year, out->month);
}

static bool time_from(const uint8_t b[6], struct known *out) {
    out->hour = b[0];
    out->minute = b[1];
    out->second = b[2];
    out->micro = (unsigned)b[3] << 16 | (unsigned)b[4] << 8 | b[5];
    return out->hour < 24 && out->minute < 60 && out->second < 60 && out->micro < 1000000;
}

/* `fold` is the high bit of a time's first byte and of a datetime's third. */
bool known_moment(const struct object *o, enum known_kind kind, struct known *out) {
    const struct upk_value *const args = object_args(o)->items;
    const uint32_t n = object_args(o)->len, wanted = kind == KNOWN_DATE ? 4 : kind == KNOWN_TIME ? 6 : 10;
    uint8_t b[10];
    mem_clear(out, sizeof *out);
    out->kind = kind;
    if (n < 1 || n > 2) return false;
    struct upk_value packed = value_resolve(args[0]);
    if ((packed.kind != UPK_BYTES && packed.kind != UPK_STR8) || packed.len != wanted) return false;
    memcpy(b, packed.as.bytes, wanted);
    if (out->kind == KNOWN_DATE) return n == 1 && date_from(b, out);
    size_t high = out->kind == KNOWN_TIME ? 0 : 2;
    out->fold = b[high] >> 7;
    b[high] &= 0x7f;
    if (n == 2) out->zone = args[1];
    return out->kind == KNOWN_TIME ? time_from(b, out) : date_from(b, out) && time_from(b + 4, out);
}

/* ---- numbers */

static bool is_in(struct upk_value v, int64_t lo, int64_t hi) {
    return v.kind == UPK_INT && v.as.i >= lo && v.as.i <= hi;
}

static bool is_integer(struct upk_value v) { return v.kind == UPK_INT || v.kind == UPK_BIGINT; }

/* The alphabet of what Decimal writes: digits, sign, point, E, NaN, sNaN, Infinity.  Python 2 wrote it as str. */
static bool is_decimal(struct upk_value v) {
    if (!value_is_str(v) || v.len == 0) return false;
    for (size_t i = 0; i < v.len; i++) {
        uint8_t c = v.as.bytes[i];
        if (!(c >= '0' && c <= '9') && (c == 0 || !strchr("+-.ENasInfity", c))) return false;
    }
    return true;
}

bool known_uuid(struct upk_value n, uint8_t out[16]) {
    uint8_t scratch[8];
    const uint8_t *bytes;
    size_t len;
    if (!upk_get_bigint(n, scratch, &bytes, &len)) return false;
    /* two's complement: a 17th byte is there only for the sign */
    if (len == 0 || bytes[len - 1] > 0x7f || len > 17 || (len == 17 && bytes[16] != 0)) return false;
    for (size_t i = 0; i < 16; i++) out[15 - i] = i < len ? bytes[i] : 0;
    return true;
}

static bool uuid_from(const struct object *o, struct known *out) {
    struct upk_value state = value_resolve(o->state);
    if (object_args(o)->len != 0 || state.kind != UPK_DICT || state.as.cell->len != 2) return false;
    const struct upk_value key = state.as.cell->items[0];
    if (!(key.kind == UPK_STR || key.kind == UPK_STR8) || !bytes_are(key.as.bytes, key.len, "int"))
        return false;
    return known_uuid(state.as.cell->items[1], out->uuid);
}

bool known_object(const struct upk_doc *doc, const struct object *o, struct upk_compat name,
                  struct known *out) {
    if (!has_only_args(o)) return false;
    size_t k = 0, count = sizeof names / sizeof *names;
    while (k < count && !(bytes_are(name.module, name.module_len, names[k].module) &&
                          bytes_are(name.name, name.name_len, names[k].name)))
        k++;
    if (k == count) return false;
    memset(out, 0, sizeof *out);
    out->kind = names[k].kind;
    if (object_is_new(doc, o) != (out->kind == KNOWN_UUID)) return false;
    if (out->kind == KNOWN_UUID) return uuid_from(o, out);
    const struct upk_cell *args = object_args(o);
    if (o->state.kind != UPK_INVALID || args->len == 0) return false;
    for (size_t i = 0; i < 3 && i < args->len; i++) out->part[i] = value_resolve(args->items[i]);
    switch (out->kind) {
    case KNOWN_DATE:
    case KNOWN_TIME:
    case KNOWN_DATETIME: return known_moment(o, out->kind, out);
    case KNOWN_TIMEDELTA:
        return args->len == 3 && is_in(out->part[0], -999999999, 999999999) &&
               is_in(out->part[1], 0, 86399) && is_in(out->part[2], 0, 999999);
    case KNOWN_DECIMAL: return args->len == 1 && is_decimal(out->part[0]);
    case KNOWN_FRACTION: return args->len == 2 && is_integer(out->part[0]) && is_integer(out->part[1]);
    case KNOWN_COMPLEX:
        return args->len == 2 && out->part[0].kind == UPK_FLOAT && out->part[1].kind == UPK_FLOAT;
    case KNOWN_UUID: break;
    }
    return false;
}
