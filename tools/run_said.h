/* What a child says, as it may be shown on a terminal: lines, marked as the child's, without control
 * characters, and not without end.
 *
 * Layer: parts of the program upk-run, over cli.h.
 */
#ifndef TOOLS_RUN_SAID_H
#define TOOLS_RUN_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { RUN_SAID_LINE = 4096, RUN_SAID_MOST = 1 << 20 };

struct run_said { /* zeros but for `to` */
    FILE *to;
    size_t len, shown; /* of the line; bytes in all */
    bool cut;
    char line[RUN_SAID_LINE + 1];
};

/* upk_run_said_fn; ctx: struct run_said. */
void run_said_write(void *ctx, const char *bytes, size_t len);
/* A last line without its end. */
void run_said_end(struct run_said *s);

#endif
