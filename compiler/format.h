/* The canonical layout of a policy's text: what stands where on which line.  Words, their order and comments stay.
 *
 * Only the syntax has to be right: nothing is included or looked up.
 *
 * Layer: above syntax, beside the passes of a compile.
 */
#ifndef COMPILER_FORMAT_H
#define COMPILER_FORMAT_H

#include "output.h"

/* Appends the canonical form of `bytes` to *out, whose arena also takes what is needed on the way (some 100 bytes
 * for each token).  `name` stands in messages and is borrowed as `bytes` are, until the diag is freed.
 *
 * The result has the same tokens, each spelt as before, and the same comments: that is checked here.  Formatted again it stays
 * as it is.
 *
 * false: the reasons are errors in `d`, and nothing was appended. */
bool format_policy(struct text name, struct text bytes, struct diag *d, struct output *out);

#endif
