/* What the files about the environment of a child share.
 *
 * Layer: private to the runtime, over doc.h, keys_check.h and upk_environment.h.
 */
#ifndef UPK_ENVIRONMENT_TABLE_H
#define UPK_ENVIRONMENT_TABLE_H

#include "doc.h"
#include "keys_check.h"
#include "upk_environment.h"

/* Index in `names`; 0: the table does not know it.  Any length. */
uint32_t environment_find(const struct upk_environment *e, const char *name, size_t len);

/* Of the tables of both blocks. */
bool environment_check(const struct upk_policy *policy, struct table_fault *fault);

#endif
