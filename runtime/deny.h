/* Names whose denial does not reach what inherits from them.
 *
 * Layer: runtime, private; over upk.h and upk_tables.h.  Also for comparisons of policies, which must say what the runtime does.
 */
#ifndef UPK_DENY_H
#define UPK_DENY_H

#include "bytes.h"
#include "upk.h"
#include "upk_tables.h"

/* What is dangerous about an enum's bases is that they make classes, which an enum with members does not.  So `never` and the closed list
 * deny the base alone, and `deny` what inherits from it, too.  `line`: the one that denies the base; NULL: only the list does. */
static inline bool deny_spares_enums(const char *module, size_t module_len, const char *name, size_t name_len,
                                     const struct upk_deny *line) {
    return bytes_are((const uint8_t *)module, module_len, "enum") &&
           (!line || line->flags & UPK_DENY_NEVER) &&
           upk_name_is_dangerous(module, module_len, name, name_len);
}

#endif
