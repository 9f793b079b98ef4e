/* The words of the language that are data of the tables: opcodes and their families, budgets, hooks, checks; and
 * how words stand one behind another in a message.
 *
 * Layer: data, over upk_tables.h, whose lists all of it is made from.
 */
#ifndef COMPILER_WORDS_H
#define COMPILER_WORDS_H

#include "../runtime/upk_tables.h"
#include "diag.h"

struct opcode_word {
    const char *name;
    uint8_t byte, protocol; /* the first that has it */
    enum upk_family family;
};
enum { OPCODE_COUNT = UPK_OP_END - UPK_OP_UNKNOWN - 1 };
extern const struct opcode_word opcode_words[OPCODE_COUNT];
const struct opcode_word *opcode_word(enum upk_op op);
bool opcode_is_allowed(const struct upk_policy *p, const struct opcode_word *op);
/* Those of the family core that name, make or change objects; others of it make plain data. */
enum { OPCODE_POWERS = 6 };
extern const enum upk_op opcode_powers[OPCODE_POWERS];

extern const char *const family_words[UPK_FAMILY_COUNT];

struct budget_word {
    const char *word;
    uint64_t standard, most;
    const char *unit;
};
extern const struct budget_word budget_words[UPK_BUDGET_COUNT];
/* Does it count bytes, so that KiB and the like have a meaning? */
bool budget_counts_bytes(enum upk_budget b);

struct hook_word {
    const char *word;
    uint32_t flag; /* of a form */
};
#define UPK_X(name, word, flag) +1
enum { HOOK_COUNT = 0 UPK_HOOKS(UPK_X) };
#undef UPK_X
extern const struct hook_word hook_words[HOOK_COUNT];

extern const char *const check_words[UPK_CHECK_COUNT]; /* by number; the first is empty */

/* A part of a message in the making.  What has no room is left out. */
struct phrase {
    char text[240];
    size_t len;
};

void phrase_add(struct phrase *p, const char *format, ...) DIAG_PRINTF(2, 3);
/* Before the i-th of `count` words: nothing, a comma, or `last` before the last. */
void phrase_separate(struct phrase *p, size_t i, size_t count, const char *last);

#endif
