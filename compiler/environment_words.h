/* Variables that everybody knows: what their values may be, the base sets that they stand in, and what no environment hands on
 * without a reason.
 *
 * Layer: data, over upk_tables.h.
 */
#ifndef COMPILER_ENVIRONMENT_WORDS_H
#define COMPILER_ENVIRONMENT_WORDS_H

#include "../runtime/upk_tables.h"
#include "mem.h"

/* Base sets: X(NAME, word). */
#define ENV_BASES(X)              \
    X(STANDARD, standard)         \
    X(LOCALE, locale)             \
    X(CERTIFICATES, certificates) \
    X(PROXIES, proxies)           \
    X(TERMINAL, terminal)         \
    X(USER, user)                 \
    X(TEMPORARY, temporary)       \
    X(FOLDERS, folders)           \
    X(GIT, git)                   \
    X(INDEXES, indexes)           \
    X(PYTHON, python)

enum env_base {
#define ENV_X(name, word) ENV_BASE_##name,
    ENV_BASES(ENV_X)
#undef ENV_X
        ENV_BASE_COUNT
};
extern const char *const env_base_words[ENV_BASE_COUNT];

struct env_known {
    const char *name;
    enum upk_env_rule_kind rule;
    uint32_t bases; /* bits 1 << enum env_base */
};
extern const struct env_known env_known[];
extern const size_t env_known_count;
const struct env_known *env_known_find(struct text name); /* NULL: none */
/* The known name that differs in the case of letters alone; NULL: none. */
const struct env_known *env_known_alike(struct text name);

/* What makes a program load, run or trust something else: no child gets it, but where the policy gives a reason for the name.
 * Known names are none of these. */
struct env_never {
    const char *text;
    enum upk_env_never_kind kind;
};
extern const struct env_never env_nevers[];
extern const size_t env_never_count;

extern const char *const env_rule_words[UPK_ENV_RULE_COUNT]; /* by number; the first is empty */

#endif
