/* Test helper: documents and their values.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#ifndef TEST_DOCUMENTS_H
#define TEST_DOCUMENTS_H

#include "../../runtime/upk.h"

/* Decodes (inspects, without a policy); the test fails where that is refused.  DECODE takes a string literal. */
struct upk_doc *decode(const struct upk_policy *policy, const void *bytes, size_t len,
                       const struct upk_options *options);
#define DECODE(policy, literal) decode(policy, literal, sizeof(literal) - 1, NULL)

/* `wanted` ends at its NUL. */
void assert_int(struct upk_value v, int64_t wanted);
void assert_bytes(struct upk_value v, const char *wanted);
void assert_text(const char *text, size_t len, const char *wanted);

/* The member at i, which must be there. */
struct upk_value at(struct upk_value v, size_t i);

#endif
