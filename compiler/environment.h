/* What the two halves of the pass over an `environment` block share.
 *
 * Layer: private to environment.c and environment_lines.c.
 */
#ifndef COMPILER_ENVIRONMENT_H
#define COMPILER_ENVIRONMENT_H

#include "environment_words.h"
#include "units.h"

/* A name as one line grants it. */
struct env_entry {
    struct text name;
    struct span at;
    uint32_t stage; /* UPK_ENV_INHERIT, MANIFEST, FROM or SET */
    bool by_base;   /* a base set brings it; `at` is that of the set */
    bool has_because;
    bool refused; /* a mistake was reported, or `never` takes it out of its set */
    struct text because, source, value;
    struct model_env_rule rule;
};

struct env_never_def {
    struct model_env_never model; /* first: what is found by it */
    struct span at;
};

struct env_block {
    struct compilation *c;
    struct env_entry *entries; /* as written, then sorted by name */
    size_t entry_count, entry_room;
    struct env_never_def *nevers;
    size_t never_count, never_room;
    struct span bases[ENV_BASE_COUNT]; /* where each set is named; zeros: nowhere */
    bool full;                         /* said: there are too many names */
    const struct ast_line *home;
};

/* environment_lines.c */
void env_lines_read(struct env_block *b, const struct ast_item *item);
uint32_t env_line_of(const struct env_block *b, struct span at);

#endif
