/* No proper prefix of an acceptable stream is accepted: each is refused as truncated, at a place inside it.
 *
 * Layer: tests of the runtime's public interface.  Streams: the good files of the corpus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "corpus.h"
#include "values.h"

enum { LONGEST = 1500 };

struct counts {
    size_t files, prefixes;
};

static bool inspect(const void *bytes, size_t len, struct upk_error *err) {
    struct upk_doc *doc = NULL;
    bool accepted = upk_inspect(bytes, len, &corpus_options, &doc, err);
    upk_doc_free(doc);
    return accepted;
}

static bool check(const void *bytes, size_t len, struct upk_error *err) {
    return upk_check(&values, bytes, len, &corpus_options, err);
}

static bool decode(const void *bytes, size_t len, struct upk_error *err) {
    struct upk_doc *doc = NULL;
    bool accepted = upk_decode(&values, bytes, len, &corpus_options, &doc, err);
    upk_doc_free(doc);
    return accepted;
}

typedef bool (*judge_fn)(const void *bytes, size_t len, struct upk_error *err);

static void cut_everywhere(const struct corpus_file *file, judge_fn judge, struct counts *counts) {
    struct upk_error err;
    if (!judge(file->bytes, file->len, &err)) return;
    counts->files++;
    for (size_t len = 0; len < file->len; len++) {
        /* A block of its own, so that a sanitizer sees a read beyond the cut. */
        uint8_t *prefix = malloc(len ? len : 1);
        assert_non_null(prefix);
        memcpy(prefix, file->bytes, len);
        memset(&err, 0, sizeof err);
        if (judge(prefix, len, &err))
            fail_msg("%s: the first %zu of %zu bytes are accepted", file->path, len, file->len);
        if (err.cls != UPK_CLASS_TRUNCATED || err.offset > len)
            fail_msg("%s: the first %zu bytes: class %s at %llu", file->path, len, upk_class_word(err.cls),
                     (unsigned long long)err.offset);
        free(prefix);
        counts->prefixes++;
    }
}

static void cut_for_inspect(const struct corpus_file *file, void *ctx) { cut_everywhere(file, inspect, ctx); }

static void cut_for_check(const struct corpus_file *file, void *ctx) { cut_everywhere(file, check, ctx); }

static void cut_for_decode(const struct corpus_file *file, void *ctx) { cut_everywhere(file, decode, ctx); }

static void every_prefix_is_truncated(corpus_fn each) {
    struct counts counts = {0, 0};
    corpus_each("good", LONGEST, each, &counts);
    assert_in_range(counts.files, 500, SIZE_MAX);
    assert_in_range(counts.prefixes, 20 * counts.files, SIZE_MAX);
}

static void every_prefix_is_truncated_for_inspect(void **state) {
    (void)state;
    every_prefix_is_truncated(cut_for_inspect);
}

static void every_prefix_is_truncated_for_check(void **state) {
    (void)state;
    every_prefix_is_truncated(cut_for_check);
}

static void every_prefix_is_truncated_for_decode(void **state) {
    (void)state;
    every_prefix_is_truncated(cut_for_decode);
}

/* What makes a stream longer makes it no prefix either. */
static void one_byte_more_is_trailing(const struct corpus_file *file, void *ctx) {
    size_t *count = ctx;
    struct upk_error err;
    if (!inspect(file->bytes, file->len, &err)) return;
    uint8_t *longer = malloc(file->len + 1);
    assert_non_null(longer);
    memcpy(longer, file->bytes, file->len);
    longer[file->len] = '.';
    assert_false(inspect(longer, file->len + 1, &err));
    assert_int_equal(err.cls, UPK_CLASS_TRAILING);
    assert_int_equal(err.offset, file->len);

    size_t used = 0;
    struct upk_options lenient = corpus_options;
    lenient.flags |= UPK_ALLOW_TRAILING;
    lenient.used = &used;
    struct upk_doc *doc = NULL;
    assert_true(upk_inspect(longer, file->len + 1, &lenient, &doc, &err));
    assert_int_equal(used, file->len);
    upk_doc_free(doc);
    free(longer);
    ++*count;
}

static void bytes_after_stop_are_refused_unless_allowed(void **state) {
    (void)state;
    size_t count = 0;
    corpus_each("good", LONGEST, one_byte_more_is_trailing, &count);
    assert_in_range(count, 1000, SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_truncated_for_inspect),
        cmocka_unit_test(every_prefix_is_truncated_for_check),
        cmocka_unit_test(every_prefix_is_truncated_for_decode),
        cmocka_unit_test(bytes_after_stop_are_refused_unless_allowed),
    };
    return cmocka_run_group_tests_name("prefixes", tests, NULL, NULL);
}
