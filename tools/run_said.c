/* Layer: see run_said.h. */
#include "run_said.h"

#include "cli.h"

/* Marked: it can look like a line of the parent's otherwise. */
static void show_line(struct run_said *s) {
    s->line[s->len] = 0;
    (void)fputs("child: ", s->to);
    cli_write_field(s->line, s->to);
    (void)fputc('\n', s->to);
    s->len = 0;
}

void run_said_write(void *ctx, const char *bytes, size_t len) {
    struct run_said *const s = ctx;
    for (size_t i = 0; i < len && !s->cut; i++) {
        if (s->shown++ == RUN_SAID_MOST) {
            run_said_end(s);
            (void)fprintf(s->to, "... more is not shown\n");
            s->cut = true;
        } else if (bytes[i] == '\n') {
            show_line(s);
        } else {
            s->line[s->len++] = bytes[i] ? bytes[i] : '\x01';
            if (s->len == RUN_SAID_LINE) show_line(s);
        }
    }
}

void run_said_end(struct run_said *s) {
    if (s->len) show_line(s);
}
