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

bool stderr_asked_json(int argc, char **argv) {
    static const char option[] = "--diagnostics";
    const size_t len = sizeof option - 1;
    bool json = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], option, len) != 0) continue;
        const char *const value = argv[i][len] == '=' ? argv[i] + len + 1 : i + 1 < argc ? argv[i + 1] : "";
        json = strcmp(value, "json") == 0;
    }
    return json;
}

void stderr_json_usage(const char *message) {
    struct diag d;
    diag_init(&d, stderr_sink(true));
    diag_error_nowhere(&d, P_USAGE, "%s", message);
    diag_flush(&d);
    diag_free(&d);
}
