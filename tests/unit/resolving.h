/* Test helper: a host that answers from a list what it has under names without a row.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#ifndef TEST_RESOLVING_H
#define TEST_RESOLVING_H

#include "../../runtime/upk.h"

/* What the host has. */
struct thing {
    const char *module, *name; /* as asked for */
    enum upk_found found;
    uint32_t base;
    struct upk_own_name names[2], ancestors[2];
};

#define OWN(module, name) \
    { module, name, sizeof(module) - 1, sizeof(name) - 1 }

struct told {
    const struct thing *things;
    size_t count, questions;
    bool dumb; /* it cannot say */
};

/* The module `gone` is not loaded, others are. */
bool told(void *ctx, const struct upk_question *question, struct upk_answer *answer);

/* The code that the stream is refused with, 0: it is not.  NULL: nobody is asked. */
unsigned decide(const struct upk_policy *p, const void *stream, size_t len, uint32_t flags, struct told *host,
                struct upk_error *err);

#endif
