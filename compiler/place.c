/* Places of lines.  Layer: see place.h. */
#include "place.h"

static struct span first_word(const struct source *s, uint32_t source, uint32_t line) {
    uint32_t from = s->lines[line - 1];
    const uint32_t end = line < s->line_count ? s->lines[line] : (uint32_t)s->bytes.len;
    while (from < end && (s->bytes.at[from] == ' ' || s->bytes.at[from] == '\t')) from++;
    uint32_t to = from;
    while (to < end && s->bytes.at[to] != ' ' && s->bytes.at[to] != '\t' && s->bytes.at[to] != '\n') to++;
    return (struct span){source, from, to};
}

struct span place_of_line(const struct compiled *c, const struct diag *d, uint32_t file, uint32_t line) {
    if (file < c->file_count && c->files[file].source < d->source_count) {
        const uint32_t source = c->files[file].source;
        if (line >= 1 && line <= d->sources[source].line_count)
            return first_word(&d->sources[source], source, line);
    }
    return (struct span){0, 0, 0};
}
