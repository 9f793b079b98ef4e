/* `policyc diff`.  Layer: beside policyc.c, which calls it. */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stdbool.h>

#include "../compiler/compile.h"
#include "cli.h"

/* Compares the channels of two policies, each FILE or FILE:CHANNEL; `options->path` is the old one.  CLI_REFUSED: something is
 * widened. */
enum cli_exit diff_run(const struct compile_options *options, const char *new, bool json);

#endif
