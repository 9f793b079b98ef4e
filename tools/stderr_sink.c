/* Layer: see stderr_sink.h. */
#define _POSIX_C_SOURCE 200809L

#include "stderr_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_stderr(void *context, const char *bytes, size_t len) {
    (void)context;
    (void)fwrite(bytes, 1, len, stderr);
}

struct diag_sink stderr_sink(bool json) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    /* no-color.org: present and not empty. */
    bool colour = isatty(STDERR_FILENO) && (no_colour == NULL || no_colour[0] == '\0') && terminal != NULL &&
                  terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
    return (struct diag_sink){.write = write_stderr, .colour = colour && !json, .json = json};
}
