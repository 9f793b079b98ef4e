/* The compiler's messages on standard error.  Layer: a part of the program policyc, over diag.h. */
#ifndef TOOLS_STDERR_SINK_H
#define TOOLS_STDERR_SINK_H

#include "../compiler/diag.h"

/* In colour on a terminal, unless NO_COLOR is set and not empty; with `json` never. */
struct diag_sink stderr_sink(bool json);

#endif
