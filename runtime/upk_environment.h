/* The environment of a child process, as the `environment` block of a policy has it: what of the host's own variables reaches the
 * child, what a manifest may add, and what is set whatever both say.
 *
 * A pure function of what it is given: nothing is read from the process, nothing is started.  Conventions are those of upk.h.  No
 * value of a variable ever stands in an error, nor the name of one of the host's that the policy does not name.
 *
 * Layer: public, over upk.h.
 */
#ifndef UPK_ENVIRONMENT_H
#define UPK_ENVIRONMENT_H

#include "upk.h"

struct upk_env_rule; /* upk_tables.h */
struct upk_range;

#ifdef __cplusplus
extern "C" {
#endif

/* One entry of a manifest: a variable, with a value, or with the name of one of the host's variables whose value it asks for (which
 * the policy grants for exactly this pair, `manifest SOURCE -> NAME`). */
struct upk_env_entry {
    struct upk_bytes name;
    struct upk_bytes value;
    bool from_host; /* `value` is the name of the host's variable */
};
struct upk_manifest {
    const struct upk_env_entry *entries;
    size_t count;
};

/* Why a variable that the policy inherits is not there though the host has it. */
enum upk_env_reason {
    UPK_ENV_LEFT_VALUE = 1, /* its value is not as its rule says */
    UPK_ENV_LEFT_TWICE      /* the host has it several times, with different values */
};
struct upk_env_left {
    const char *name; /* lives as long as the result */
    uint32_t reason;  /* enum upk_env_reason */
    uint32_t rule;    /* enum upk_env_rule_kind of upk_tables.h */
};

/* One block of memory, with all that is in it. */
struct upk_env {
    char **
        vars; /* "NAME=value", ended by NULL: what execve takes.  Each name once; HOME, where it is set, last */
    size_t count;
    size_t bytes;                    /* of the texts with their NULs */
    const struct upk_env_left *left; /* inherited variables that were left out */
    size_t left_count;
    struct upk_allocator allocator; /* private */
    size_t size;                    /* private */
};

enum {
    UPK_ENV_VALUE_MOST = 32767,  /* bytes of a value where no rule says less */
    UPK_ENV_BYTES_MOST = 1 << 20 /* of all texts together */
};

/* `host_env`: as `environ`; NULL: empty.  `manifest`: NULL: empty.  `home`: an absolute path; needed where the policy says `home
 * workspace` and looked at only there.  On success *out is owned by the caller: upk_env_free. */
bool upk_env_filter(const struct upk_policy *policy, char *const *host_env,
                    const struct upk_manifest *manifest, const char *home,
                    const struct upk_allocator *allocator, struct upk_env **out, struct upk_error *err);
void upk_env_free(struct upk_env *env); /* NULL is fine */

/* "locale"; never NULL */
const char *upk_env_rule_word(unsigned kind);
/* Is a value as a rule says?  `ranges` are those of the rule's table. */
bool upk_env_value_fits(const struct upk_env_rule *rule, const struct upk_range *ranges, const char *value,
                        size_t len);
/* Letters, digits and underscores, not a digit first; 1 to 256 of them. */
bool upk_env_name_is_good(const char *name, size_t len);
/* `kind`: enum upk_env_never_kind of upk_tables.h. */
bool upk_env_never_means(unsigned kind, const char *text, size_t text_len, const char *name, size_t len);

#ifdef __cplusplus
}
#endif
#endif
