/* Source files: loading under a cap, refusing bytes that no policy may hold, byte spans and their lines.
 *
 * Layer: above mem, below everything that reads text.
 */
#ifndef COMPILER_SOURCE_H
#define COMPILER_SOURCE_H

#include <stdint.h>

#include "mem.h"
#include "unicode.h"

enum { SOURCE_MOST_BYTES = 16 << 20 }; /* of one file; far below the int that flex counts in */

/* Bytes [from, to) of a file.  Cheap to carry; line and column are computed only for a message. */
struct span {
    uint32_t file, from, to;
};

struct source {
    struct text name;       /* in messages */
    struct text path;       /* as opened */
    struct text table_name; /* as model_file.name */
    struct text bytes;      /* a NUL behind them is not counted */
    uint32_t *lines;        /* offset of each line's first byte */
    size_t line_count;
    bool quotable; /* source_is_policy: excerpts may be printed */
};

/* From 1 each; columns count characters, not bytes. */
struct place {
    uint32_t line, column;
};

enum source_fault { SOURCE_GOOD, SOURCE_NOT_READ, SOURCE_NOT_FILE, SOURCE_TOO_LARGE, SOURCE_NO_MEMORY };

/* Opens and reads; `error` is an errno where SOURCE_NOT_READ. */
enum source_fault source_read(struct mem *m, const char *path, struct text *bytes, int *error);

const char *source_fault_text(enum source_fault fault, int error);

bool source_map_lines(struct mem *m, struct source *s);
uint32_t source_line_at(const struct source *s, uint32_t offset);
/* Counts the characters of the line up to there: for messages that are printed. */
struct place source_place(const struct source *s, uint32_t offset);
struct text source_line(const struct source *s, uint32_t line); /* without its end */

/* The first byte sequence that no policy may hold. */
enum source_badness {
    SOURCE_CLEAN,
    SOURCE_BAD_UTF8,
    SOURCE_BAD_NUL,
    SOURCE_BAD_BIDI,
    SOURCE_BAD_CONTROL,
    SOURCE_BAD_MARK /* U+FEFF before everything else */
};
enum source_badness source_examine(struct text bytes, uint32_t *from, uint32_t *to);

/* What to do about bytes that are no text. */
const char *source_encoding_hint(struct text bytes);
/* Where the first token is. */
size_t source_start(struct text bytes);
/* Does the first word say that it is a policy or a fragment?  Nothing of other files is ever printed: an
 * include might name any file that policyc can read. */
bool source_is_policy(struct text bytes);

#endif
