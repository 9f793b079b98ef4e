/* What the native checks of numpy share.
 *
 *   npy.h             what a dtype says
 *   check_npdtype.c   npdtype: the parts of a dtype belong together
 *   check_ndarray.c   ndarray, frombuffer, npscalar: shape, dtype and data belong together
 *
 * Layer: private to the runtime, part of native checks (check.h).
 */
#ifndef UPK_CHECK_NUMPY_H
#define UPK_CHECK_NUMPY_H

#include "check.h"
#include "npy.h"

enum { NPY_MOST_LEVELS = 16 }; /* of dtypes within dtypes */

/* The whole of npdtype, for any value.  On success *out is the dtype. */
bool numpy_dtype_holds(struct native *c, struct upk_value dtype, struct npy_type *out);
/* Part i of a dtype, as npy_part, paid for. */
bool numpy_part(struct native *c, const struct npy_type *t, uint32_t i, uint32_t *place,
                struct upk_value *dtype, uint64_t *offset);

#endif
