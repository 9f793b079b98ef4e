/* The lookup over tables that are known only at run time (policies compiled in memory, and checks of any
 * table).
 *
 * Layer: with find_class.h.
 */
#define UPK_FIND_CLASS_ANY
#include "find_class.h"

uint32_t upk_find_class_any(const struct upk_keys *keys, const uint8_t *module, size_t module_len,
                            const uint8_t *name, size_t name_len) {
    return upk_find_class(keys, module, module_len, name, name_len);
}
