/* What fuzz targets ask of one decode, and what two decodes of the same bytes must agree on.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#ifndef FUZZ_VERDICT_H
#define FUZZ_VERDICT_H

#include "../../../runtime/upk.h"

/* Text that a printer writes: hashed, and cut off at `room`.  `keep`, if not NULL, has `room` bytes and gets the text. */
struct printed {
    size_t room, len;
    uint64_t hash;
    bool ascii;
    char *keep;
};

bool printed_take(void *text, const char *at, size_t len); /* a upk_sink */

struct verdict {
    bool accepted;
    struct upk_error err; /* where it is not */
    uint64_t printed;     /* hash of tree, json and repr, each as far as it is printed */
};

/* A host that answers by the name alone, the same each time: some are classes under some base, some lie about themselves. */
struct fuzz_host {
    struct upk_own_name names[2], ancestors[2];
};
struct upk_options fuzz_options(struct fuzz_host *host);

/* The hash of all that the printers write; stops every printer half way, too. */
uint64_t document_print(const struct upk_doc *doc);
/* Every accessor on every value, as far as some hundred of them go. */
void document_walk(const struct upk_doc *doc);

/* Decode, print, and walk if `walk`.  A refusal is looked at by error_require_sound. */
struct verdict verdict_of(const struct upk_policy *policy, const uint8_t *data, size_t size,
                          const struct upk_options *options, bool walk);
void verdict_require_same(const struct verdict *a, const struct verdict *b);

/* A code of its class, an offset inside the input, one printable line. */
void error_require_sound(const struct upk_error *err, size_t size);
void error_require_same(const struct upk_error *a, const struct upk_error *b);

#endif
