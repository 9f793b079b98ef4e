/* What the parts of a comparison share: both sides, and what was found.
 *
 * Layer: private to diff*.c.
 */
#ifndef COMPILER_DIFF_FINDINGS_H
#define COMPILER_DIFF_FINDINGS_H

#include "diff.h"
#include "inclusion.h"
#include "list_type.h"

enum diff_grade { DIFF_LOW, DIFF_MEDIUM, DIFF_HIGH };

/* How: bits. */
enum { DIFF_WIDENED = 1, DIFF_NARROWED = 2, DIFF_BOTH = 3 };

/* A path, from its end; the first piece has no `up`. */
struct diff_place {
    const struct diff_place *up;
    struct text piece; /* with what stands before it: " state", ".code", "[]" */
    enum diff_subject subject;
    uint32_t index;
};

/* What a finding means for who reads the policy: where more is taken, and where less is; the second one is added where both are.  NULL:
 * the other one says it all. */
struct diff_words {
    const char *more, *less;
};

struct diff_finding {
    unsigned how;
    enum diff_grade grade;
    struct diff_found what;
    size_t number;
};

struct diff {
    struct mem *mem;
    const struct upk_policy *old, *new;
    struct inclusion into_old, into_new; /* of new in old: else it is widened; of old in new: else narrowed */
    struct type_lines old_lines, new_lines;
    unsigned asked;        /* of that alone there are findings */
    unsigned how;          /* of the whole channel */
    struct array findings; /* struct diff_finding */
    bool more;             /* there is more than is listed */
    struct output scratch; /* of texts in the making */
};

/* false: out of memory. */
bool diff_init(struct diff *d, const struct upk_policy *old, const struct upk_policy *new, struct mem *m);

/* So many are listed; from then on only the verdict is of interest.  So it is where inclusion is exhausted. */
bool diff_is_full(const struct diff *d);
/* Only what widens has a grade of its own: what is only narrowed is low.  An empty text is "nothing". */
void diff_find(struct diff *d, const struct diff_place *at, unsigned how, enum diff_grade grade,
               struct text was, struct text is, struct diff_words words);
void diff_put_findings(struct diff *d, struct output *o);

/* NULL: out of memory, which sticks. */
const struct diff_place *diff_top(struct diff *d, enum diff_subject subject, uint32_t index,
                                  struct text piece);
const struct diff_place *diff_below(struct diff *d, const struct diff_place *up, struct text piece);
/* A name behind `before`, as a policy writes it. */
const struct diff_place *diff_below_name(struct diff *d, const struct diff_place *up, const char *before,
                                         struct text name);

/* ---- texts, cut where they are long; of the scratch output */

struct text diff_kept(struct diff *d); /* what stands there, and forgets it */
struct text diff_type_text(struct diff *d, bool of_new, uint32_t type);

/* ---- diff_types.c */

/* How a type of new differs from one of old, of the bits of `asked`. */
unsigned diff_types_how(struct diff *d, uint32_t old, uint32_t new, unsigned asked);
/* Finds why. */
void diff_types(struct diff *d, const struct diff_place *at, uint32_t old, uint32_t new, unsigned asked);
/* The type, or an alternative of it, is `any`. */
bool diff_takes_any(const struct upk_policy *p, uint32_t type);

/* ---- diff_forms.c */

/* A form of new beside one of old of the same verb: finds why they differ. */
void diff_forms(struct diff *d, const struct diff_place *at, const struct upk_form *old,
                const struct upk_form *new, unsigned asked);

/* ---- diff_rows.c, diff_names.c, diff_open.c */

void diff_rows(struct diff *d);
void diff_names(struct diff *d);
void diff_opens(struct diff *d);
/* Streams that p reads may spell a name that is known to q alone. */
bool diff_lacks_names(const struct upk_policy *p, const struct upk_policy *q);
const struct diff_place *diff_row_place(struct diff *d, const struct upk_policy *p,
                                        const struct upk_row *row);

#endif
