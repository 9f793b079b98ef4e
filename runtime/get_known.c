/* Getters of values of the standard library: dates and times, durations, decimals, UUIDs.
 *
 * Layer: runtime, over known.h and the accessors (doc.c).
 */
#include <string.h>

#include "known.h"

static bool known_value(const struct upk_doc *doc, struct upk_value v, struct known *out) {
    const char *module, *name;
    size_t module_len, name_len;
    if (!upk_object_class(doc, v, &module, &module_len, &name, &name_len)) return false;
    const struct upk_compat class = {(const uint8_t *)module, module_len, (const uint8_t *)name, name_len};
    return known_object(doc, as_object(v.as.cell), class, out);
}

bool upk_get_datetime(const struct upk_doc *doc, struct upk_value v, struct upk_datetime *out) {
    struct known k;
    if (!known_value(doc, v, &k) ||
        (k.kind != KNOWN_DATE && k.kind != KNOWN_TIME && k.kind != KNOWN_DATETIME))
        return false;
    *out = (struct upk_datetime){
        .has_date = k.kind != KNOWN_TIME,
        .has_time = k.kind != KNOWN_DATE,
        .year = (uint16_t)k.year,
        .month = (uint8_t)k.month,
        .day = (uint8_t)k.day,
        .hour = (uint8_t)k.hour,
        .minute = (uint8_t)k.minute,
        .second = (uint8_t)k.second,
        .fold = (uint8_t)k.fold,
        .microsecond = k.micro,
        .zone = k.zone.kind == UPK_INVALID ? (struct upk_value){.kind = UPK_NONE} : value_resolve(k.zone),
    };
    return true;
}

bool upk_get_timedelta(const struct upk_doc *doc, struct upk_value v, struct upk_timedelta *out) {
    struct known k;
    if (!known_value(doc, v, &k) || k.kind != KNOWN_TIMEDELTA) return false;
    *out =
        (struct upk_timedelta){(int32_t)k.part[0].as.i, (uint32_t)k.part[1].as.i, (uint32_t)k.part[2].as.i};
    return true;
}

bool upk_get_decimal(const struct upk_doc *doc, struct upk_value v, const char **text, size_t *len) {
    struct known k;
    return known_value(doc, v, &k) && k.kind == KNOWN_DECIMAL && upk_get_str(k.part[0], text, len);
}

/* Its state may say more than the number: how safe it was to make (is_safe). */
bool upk_get_uuid(const struct upk_doc *doc, struct upk_value v, uint8_t out[16]) {
    const char *module, *name;
    size_t module_len, name_len;
    struct upk_value state, n;
    return upk_object_class(doc, v, &module, &module_len, &name, &name_len) &&
           bytes_are((const uint8_t *)module, module_len, "uuid") &&
           bytes_are((const uint8_t *)name, name_len, "UUID") && upk_object_state(v, &state) &&
           upk_is(state, UPK_DICT) && upk_dict_get(state, "int", &n) && known_uuid(n, out);
}
