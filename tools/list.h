/* `policyc list`.  Layer: beside policyc.c, which calls it. */
#ifndef TOOLS_LIST_H
#define TOOLS_LIST_H

#include <stdbool.h>

#include "../compiler/compile.h"
#include "cli.h"

/* Prints what the channels of a policy grant; `options->path` is FILE or FILE:CHANNEL. */
enum cli_exit list_run(const struct compile_options *options, bool spellings, bool json);

#endif
