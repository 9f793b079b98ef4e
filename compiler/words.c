/* The words of the tables' lists.  Layer: see words.h. */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct opcode_word opcode_words[] = {
#define UPK_X(name, byte, protocol, family) {#name, byte, protocol, UPK_FAMILY_##family},
    UPK_OPCODES(UPK_X)
#undef UPK_X
};

const struct opcode_word *opcode_word(enum upk_op op) { return &opcode_words[op - UPK_OP_UNKNOWN - 1]; }

bool opcode_is_allowed(const struct upk_policy *p, const struct opcode_word *op) {
    return p->opcodes[op->byte] != UPK_OP_UNKNOWN && p->opcodes[op->byte] != UPK_OP_REFUSED;
}

const enum upk_op opcode_powers[OPCODE_POWERS] = {UPK_OP_GLOBAL, UPK_OP_STACK_GLOBAL, UPK_OP_REDUCE,
                                                  UPK_OP_NEWOBJ, UPK_OP_NEWOBJ_EX,    UPK_OP_BUILD};

const char *const family_words[] = {
#define UPK_X(name, word) #word,
    UPK_FAMILIES(UPK_X)
#undef UPK_X
};

const struct budget_word budget_words[] = {
#define UPK_X(name, word, standard, most, unit) {#word, standard, most, unit},
    UPK_BUDGETS(UPK_X)
#undef UPK_X
};

bool budget_counts_bytes(enum upk_budget b) { return strcmp(budget_words[b].unit, "bytes") == 0; }

const struct hook_word hook_words[] = {
#define UPK_X(name, word, flag) {#word, flag},
    UPK_HOOKS(UPK_X)
#undef UPK_X
};

const char *const check_words[] = {"",
#define UPK_X(name, word) #word,
                                   UPK_CHECKS(UPK_X)
#undef UPK_X
};

void phrase_add(struct phrase *p, const char *format, ...) {
    const size_t room = sizeof p->text - p->len;
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(p->text + p->len, room, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= room) {
        p->text[p->len] = '\0';
    } else {
        p->len += (size_t)n;
    }
}

void phrase_separate(struct phrase *p, size_t i, size_t count, const char *last) {
    if (i != 0) {
        phrase_add(p, "%s", i + 1 == count ? last : ", ");
    }
}
