/* "Did you mean": the candidate nearest to a misspelt word.
 *
 * Layer: above mem.
 */
#ifndef COMPILER_SUGGEST_H
#define COMPILER_SUGGEST_H

#include "mem.h"

struct suggestion {
    struct text word, best;
    size_t distance; /* of `best`; nothing found yet: one more than is tolerated */
};

/* Tolerates one edit in words of up to four bytes, two in longer ones. */
struct suggestion suggestion_begin(struct text word);
void suggestion_offer(struct suggestion *s, struct text candidate);
bool suggestion_found(const struct suggestion *s);

/* What a type of another language or of Python's typing is called here, as a hint; NULL: the word is none. */
const char *suggestion_of_type(struct text word);

#endif
