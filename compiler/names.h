/* The spellings of a name: from what a stream says to the one name that a row has, and back.
 *
 * A stream's (module, name) is read in three steps: Python 2 names (only below protocol 3), the aliases built
 * into every policy, the policy's own `alias` lines.  A row is named by the result, its canonical name, in
 * which no further step changes anything. policyc asks the way back: every spelling of a row becomes a key of
 * the table.
 *
 * Layer: above mem and model.h, below lower.c and the checks that compare names.  The Python 2 names are data
 * that the runtime has too: besides upk_tables.h, runtime/compat_names.h and the list of dangerous names
 * (upk.h) are all that the compiler takes of it.
 */
#ifndef COMPILER_NAMES_H
#define COMPILER_NAMES_H

#include "model.h"

enum names_reading { NAMES_OLD, NAMES_NEW }; /* below protocol 3; from 3 on.  Index of policy.keys */

struct names {
    struct mem *mem; /* of new texts; borrowed, as all of it */
    const struct model_alias *aliases;
    size_t alias_count;
};

/* false: out of memory. */
bool name_canonical(const struct names *n, enum names_reading reading, struct model_name spelled,
                    struct model_name *out);

struct name_list {
    struct model_name *items;
    size_t count, room;
};

/* Every spelling that either reading takes to the canonical name `name`, in no order, each once.
 * Spellings that are too long for a stream are left out.  `list` is overwritten.  false: out of memory. */
bool name_spellings(const struct names *n, struct model_name name, struct name_list *list);

/* Is it a name of Python 2 alone?  Then streams below protocol 3 mean *old by it and have no other name for what it is from 3
 * on; `dbm` is none, which they call `anydbm`.  false: out of memory. */
bool name_is_old(const struct names *n, struct model_name written, bool *is_old, struct model_name *old);

/* What a row of that name is known as: as it is written; what streams of either kind mean by that; and how the policy's
 * aliases let them write it.  As name_spellings. */
bool name_meanings(const struct names *n, struct model_name written, struct name_list *list);

/* Is the name, as written or as streams below protocol 3 mean it, on the runtime's closed list of what reaches
 * the system? */
bool name_reaches_system(struct mem *m, struct model_name name);

/* Is `path` the module and the name, joined by a dot? */
bool path_is(struct text path, struct model_name name);

/* Is `module` the module `top` or below it? */
bool module_is_under(struct text module, struct text top);

bool name_equal(struct model_name a, struct model_name b);
int name_compare(struct model_name a, struct model_name b); /* bytewise: module, then qualname */

/* The names that policies know without granting them, sorted. */
struct name_special {
    struct model_name name;
    enum upk_special special;
};
extern const struct name_special name_specials[];
extern const size_t name_special_count;

#endif
