/* The compiler's messages on standard error.  Layer: a part of the programs policyc and upk-run, over diag.h. */
#ifndef TOOLS_STDERR_SINK_H
#define TOOLS_STDERR_SINK_H

#include "../compiler/diag.h"

/* In colour on a terminal, unless NO_COLOR is set and not empty; with `json` never. */
struct diag_sink stderr_sink(bool json);

/* Do the arguments ask for messages as JSON?  What is wrong with them is said so, too, wherever it stands. */
bool stderr_asked_json(int argc, char **argv);
void stderr_json_usage(const char *message);

#endif
