/* All channels of a policy as the back end has them: their tables, and their names in C.  Whatever is done with one channel, all
 * are built, so that each command refuses the same policies.
 *
 * Layer: above tables and symbols, below emit and the commands.
 */
#ifndef COMPILER_CHANNELS_H
#define COMPILER_CHANNELS_H

#include "symbols.h"

struct channels {
    struct mem mem;
    struct tables *tables; /* as many, in the order of compiled.models */
    size_t count;
    struct channel_symbols *symbols;
};

/* true: *out is owned by the caller, who frees it with channels_free; it does not need `c` any more.  false: the reasons are
 * errors in `d`, *out holds nothing. */
bool channels_build(const struct compiled *c, struct diag *d, struct channels *out);
void channels_free(struct channels *s);

#endif
