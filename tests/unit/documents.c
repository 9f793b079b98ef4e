/* Test helper: documents and their values.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#include "documents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct upk_doc *decode(const struct upk_policy *policy, const void *bytes, size_t len,
                       const struct upk_options *options) {
    struct upk_doc *doc = NULL;
    struct upk_error err;
    char text[500];
    bool ok = policy ? upk_decode(policy, bytes, len, options, &doc, &err)
                     : upk_inspect(bytes, len, options, &doc, &err);
    if (!ok) {
        (void)upk_error_message(&err, text, sizeof text);
        fail_msg("%s at %u", text, (unsigned)err.offset);
    }
    assert_non_null(doc);
    return doc;
}

void assert_int(struct upk_value v, int64_t wanted) {
    int64_t i = wanted - 1;
    assert_true(upk_get_int64(v, &i));
    assert_int_equal(i, wanted);
}

void assert_bytes(struct upk_value v, const char *wanted) {
    const uint8_t *bytes;
    size_t len;
    assert_true(upk_get_bytes(v, &bytes, &len));
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(bytes, wanted, len);
}

void assert_text(const char *text, size_t len, const char *wanted) {
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(text, wanted, len);
}

struct upk_value at(struct upk_value v, size_t i) {
    struct upk_value member;
    assert_true(upk_at(v, i, &member));
    return member;
}
