/* Look-ups of a policy's tables, validated; and how what validates a part of the tables says what is wrong.
 *
 * Layer: private to the runtime, under policy_check.c and environment_check.c.
 */
#ifndef UPK_KEYS_CHECK_H
#define UPK_KEYS_CHECK_H

#include <stdbool.h>

#include "find_class.h"
#include "upk_tables.h"

/* The first fact that does not hold. */
struct table_fault {
    const char *what; /* NULL: none */
    const char *table;
    uint32_t index;
};

/* In a function that is given `fault`: it is that, unless the condition holds. */
#define TABLE_HOLDS(condition, table, index, what)             \
    do {                                                       \
        if (!(condition)) {                                    \
            *fault = (struct table_fault){what, table, index}; \
            return false;                                      \
        }                                                      \
    } while (0)

/* Of a look-up with entries of 1 to `most`: indices and offsets alone. */
bool key_tables_check(const struct upk_keys *k, uint32_t reading, uint32_t most, struct table_fault *fault);

#endif
