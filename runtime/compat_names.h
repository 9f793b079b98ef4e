/* Python 2 names (rule N1): what a stream below protocol 3 calls a module or a name, and what Python 3 calls
 * it.
 *
 * Layer: lowest of the runtime; data and a look-up.  Key tables of a policy hold the result already (policyc
 * inverts these tables); the runtime asks here only where it prints or scans without a policy.
 */
#ifndef UPK_COMPAT_NAMES_H
#define UPK_COMPAT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upk_compat_text { /* ends in NUL, which is not counted */
    const char *at;
    size_t len;
};

struct upk_compat_module { /* sorted by `old` */
    struct upk_compat_text old, now;
};

struct upk_compat_pair { /* sorted by (old_module, old_name) */
    struct upk_compat_text old_module, old_name, module, name;
};

extern const struct upk_compat_module upk_compat_modules[];
extern const size_t upk_compat_module_count;
extern const struct upk_compat_pair upk_compat_pairs[];
extern const size_t upk_compat_pair_count;

struct upk_compat {
    const uint8_t *module;
    size_t module_len;
    const uint8_t *name;
    size_t name_len;
};

/* As Unpickler.find_class does with fix_imports: the pair's own entry, else the module's.  false: not in
 * the tables, and *out is the pair as given.  *out points into the tables or to the arguments. */
bool upk_compat_name(const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len,
                     struct upk_compat *out);

#endif
