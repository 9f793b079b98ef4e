/* What a channel of a policy grants more, and what less, than that of another version.
 *
 * It is made of the compiled tables alone, so that text which means the same makes no difference.  What is said to be the same or
 * narrower is proved (inclusion.h); whatever could not be proved counts as widened.  docs/diff.md has the rules.
 *
 *   diff.c            a channel: settings and root
 *   diff_rows.c       what is granted
 *   diff_forms.c      ways to make an object
 *   diff_types.c      where in two types the difference is
 *   diff_names.c      how streams may spell names
 *   diff_open.c       names that only a host knows
 *   diff_child.c      environment and confinement of a child
 *   diff_findings.c   what was found, sorted and written
 *
 * Layer: above inclusion and list_type.
 */
#ifndef COMPILER_DIFF_H
#define COMPILER_DIFF_H

#include "../runtime/upk_tables.h"
#include "output.h"

struct diff_verdict {
    bool widened, narrowed;
};

/* Appends a summary line and a line for each finding.  One of the two may be NULL: a channel that the other policy does not have.
 * false: out of memory. */
bool diff_channel(const struct upk_policy *old, const struct upk_policy *new, struct output *o,
                  struct diff_verdict *verdict);

/* What a finding is about. */
enum diff_subject {
    DIFF_OF_ALL, /* nothing by itself */
    DIFF_OF_OPCODES,
    DIFF_OF_PROTOCOL,
    DIFF_OF_BUDGET, /* index: enum upk_budget */
    DIFF_OF_ROOT,
    DIFF_OF_ROW /* index: row of new */
};

struct diff_found { /* texts live as long as the arena */
    enum diff_subject subject;
    uint32_t index;
    struct text place, old, new; /* an empty one: nothing */
    const char *sentence;
};

/* What new may grant more, and nothing else: *all, in the arena.  *count is 0 where it is proved that there is nothing.  false: out
 * of memory. */
bool diff_widened(const struct upk_policy *old, const struct upk_policy *new, struct mem *m,
                  struct diff_found **all, size_t *count);
/* The same of the blocks about a child, which all channels share; nothing where neither policy has one. */
bool diff_child(const struct upk_policy *old, const struct upk_policy *new, struct output *o,
                struct diff_verdict *verdict);

#endif
