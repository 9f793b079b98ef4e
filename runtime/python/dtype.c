/* Dtypes of numpy, without a __setstate__ that changes nothing.
 *
 * Layer: see host.h.
 */
#include "bind.h"

bool is_plain_kind(char kind) {
    static const char plain[] = "biufc";
    return kind && strchr(plain, kind);
}

/* A dtype of numbers that numpy.dtype(code) has made: is it already what the state says, of version 3, in the order of this machine
 * and without fields?  That is what most pickles say; for numpy to read it takes 2,000 instructions, a tenth of a whole scalar. */
bool dtype_is_so(const struct object *o) {
    static const char orders[] = {'|', __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>'};
    const struct upk_value state = value_resolve(o->state);
    if (object_args(o)->len == 0 || state.kind != UPK_TUPLE || state.as.cell->len != 8) return false;
    const struct upk_value code = value_resolve(object_args(o)->items[0]);
    const struct upk_value *const part = state.as.cell->items;
    if (!value_is_str(code) || code.len != 2 || !is_plain_kind((char)code.as.bytes[0]) ||
        !value_is_str(part[1]) || part[1].len != 1)
        return false;
    const uint8_t size = code.as.bytes[1];
    if (size < '1' || size > '9' || part[1].as.bytes[0] != (uint8_t)orders[size > '1']) return false;
    static const int64_t numbers[] = {[0] = 3, [5] = -1, [6] = -1, [7] = 0};
    for (unsigned i = 0; i < 8; i++) {
        if (i == 1) continue;
        if (i > 1 && i < 5 ? part[i].kind != UPK_NONE : part[i].kind != UPK_INT || part[i].as.i != numbers[i])
            return false;
    }
    return true;
}
