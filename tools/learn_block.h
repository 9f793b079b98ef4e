/* The part of a policy file that `policyc learn` wrote, and all else in the file, which is people's.
 *
 * It stands between two lines of marks, of which the second has a digest of what is between: where that does not fit any more,
 * people have written there, and it is theirs.
 *
 * Layer: parts of the program policyc; see learn.h.
 */
#ifndef TOOLS_LEARN_BLOCK_H
#define TOOLS_LEARN_BLOCK_H

#include "learn.h"

struct learn_block {
    struct text file;     /* all of it */
    size_t from, to;      /* the block with its marks; equal: there is none, and a new one goes there */
    size_t body, body_to; /* what is between */
    uint32_t first_line, last_line;
    struct learn_outer outer;
};

/* Finds the last block that is as it was written. */
void learn_block_find(struct text file, struct learn_block *b);
/* What people's part of the file says.  false: errors are in `d`, or there is no memory. */
bool learn_block_read(struct mem *m, struct diag *d, const char *name, struct learn_block *b);

/* Rows, root and settings of the block, out of its compiled tables, beside what was observed; which names people's rows have;
 * and which fragments are in use.  false: no memory, or the block says what none of ours says. */
bool learn_old(struct learn *l, const struct learn_block *b, const struct upk_policy *p);

/* Of fragments that take each other's place, those that the policy uses are to be used. */
void learn_prefer(struct learn *l, const struct upk_policy *p);

/* The file with the block anew.  `date` is of today; `count` pickles were learned from.  false: errors are in `d`. */
bool learn_block_put(struct learn_output *w, const struct learn_block *b, const char *date, size_t count,
                     struct diag *d, struct output *file);
/* Do both say the same but for counts and dates? */
bool learn_block_same(struct text one, struct text other);

/* Writes the file; what was there is kept as PATH.old, PATH.old_1 and so on. */
bool learn_save(const char *path, bool exists, const struct output *text, struct diag *d);

#endif
