/* A pickle that comes piece by piece is decided as the same bytes at once: verdict, code, place, document, and where it ends.
 *
 * Layer: tests of the runtime's public interface.  Streams: the corpus, and some written here.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"
#include "corpus.h"
#include "costs.h"
#include "exceptions.h"
#include "pieces.h"
#include "plain.h"
#include "values.h"

#include <numpy.h> /* the policy: tests/unit has another */

static const struct upk_policy *const policies[] = {&values, &plain, &numpy, &exceptions};
enum { POLICIES = sizeof policies / sizeof *policies, PRINTED_MOST = 1 << 16 };

/* ---- two decodes of the same bytes */

static bool collect(void *ctx, const char *text, size_t len) {
    struct bytes *b = ctx;
    put(b, text, len);
    return b->len < PRINTED_MOST;
}

static void assert_same_document(const char *path, struct upk_doc *a, struct upk_doc *b) {
    struct bytes printed[2] = {{0}};
    struct upk_error err;
    for (int as_json = 0; as_json < 2; as_json++) {
        bool (*print)(const struct upk_doc *, upk_sink, void *, struct upk_error *) =
            as_json ? upk_print_json : upk_print_tree;
        (void)print(a, collect, &printed[0], &err);
        (void)print(b, collect, &printed[1], &err);
    }
    if (printed[0].len != printed[1].len || memcmp(printed[0].at, printed[1].at, printed[0].len) != 0)
        fail_msg("%s: another document", path);
    free(printed[0].at);
    free(printed[1].at);
}

static bool is_memory(const struct upk_error *e) {
    return e->code == UPK_ERR_BUDGET && e->budget == UPK_BUDGET_MEMORY;
}

static bool same_error(const struct upk_error *a, const struct upk_error *b) {
    char text[2][1000];
    upk_error_message(a, text[0], sizeof text[0]);
    upk_error_message(b, text[1], sizeof text[1]);
    /* A length beyond the budget is refused without a look at how much there is. */
    const bool same_text = strcmp(text[0], text[1]) == 0 || a->code == UPK_ERR_LENGTH;
    return a->code == b->code && a->offset == b->offset && a->opcode == b->opcode && a->byte == b->byte &&
           same_text && strcmp(a->rule, b->rule) == 0;
}

struct tally {
    size_t accepted, refused;
    bool prefixes;
};

static void compare(const char *path, const struct upk_policy *policy, const uint8_t *bytes, size_t len,
                    enum how_much how, struct tally *tally) {
    struct upk_error errs[2];
    struct upk_doc *docs[2] = {NULL, NULL};
    size_t used[2] = {len + 1, len + 1};
    struct pieces pieces = {.bytes = bytes, .len = len, .how = how, .seed = (uint32_t)len};
    struct upk_options options = corpus_options;
    memset(errs, 0, sizeof errs);
    options.flags = UPK_ALLOW_TRAILING;
    options.used = &used[0];
    const bool whole = upk_decode(policy, bytes, len, &options, &docs[0], &errs[0]);
    options.flags = 0;
    options.used = &used[1];
    const bool parts = upk_decode_from(policy, pieces_read, &pieces, &options, &docs[1], &errs[1]);
    if (how != MOST) errs[0].file_kind[0] = errs[1].file_kind[0] = 0; /* of what was read until then */
    if (is_memory(&errs[0]) || is_memory(&errs[1])) {
        if (parts) fail_msg("%s: accepted in pieces alone", path);
    } else if (whole != parts) {
        fail_msg("%s: %s at once, %s in pieces", path, upk_class_word(errs[0].cls),
                 upk_class_word(errs[1].cls));
    } else if (whole) {
        if (used[0] != used[1] || (how == LEAST && pieces.given != used[1]))
            fail_msg("%s: %zu bytes at once, %zu in pieces, %zu read", path, used[0], used[1], pieces.given);
        assert_same_document(path, docs[0], docs[1]);
    } else if (!same_error(&errs[0], &errs[1]) && errs[0].code != UPK_ERR_MEMO_FAR) {
        fail_msg("%s: %u at %llu at once, %u at %llu in pieces", path, errs[0].code,
                 (unsigned long long)errs[0].offset, errs[1].code, (unsigned long long)errs[1].offset);
    }
    tally->accepted += whole;
    tally->refused += !whole;
    upk_doc_free(docs[0]);
    upk_doc_free(docs[1]);
}

static void compare_file(const struct corpus_file *file, void *ctx) {
    struct tally *tally = ctx;
    const size_t first = tally->prefixes ? 0 : file->len;
    for (size_t len = first; len <= file->len; len++) {
        /* A block of its own, so that a sanitizer sees a read beyond it. */
        uint8_t *bytes = malloc(len ? len : 1);
        assert_non_null(bytes);
        memcpy(bytes, file->bytes, len);
        for (size_t i = 0; i < (tally->prefixes ? 1 : POLICIES); i++) {
            for (enum how_much how = LEAST; how <= ANY; how++)
                compare(file->path, policies[i], bytes, len, how, tally);
        }
        free(bytes);
    }
}

static void corpus_is_decided_alike(void **state) {
    (void)state;
    struct tally tally = {.prefixes = false};
    corpus_each("good", SIZE_MAX, compare_file, &tally);
    corpus_each("hostile", SIZE_MAX, compare_file, &tally);
    assert_in_range(tally.accepted, 1000, SIZE_MAX);
    assert_in_range(tally.refused, 1000, SIZE_MAX);
}

static void prefixes_are_decided_alike(void **state) {
    (void)state;
    struct tally tally = {.prefixes = true};
    corpus_each("good", 200, compare_file, &tally);
    corpus_each("hostile", 200, compare_file, &tally);
    assert_in_range(tally.refused, 10000, SIZE_MAX);
}

/* ---- streams written here */

static void put_le(struct bytes *b, uint64_t n, int size) {
    for (int i = 0; i < size; i++, n >>= 8) {
        const uint8_t byte = (uint8_t)n;
        put(b, &byte, 1);
    }
}

static void put_many(struct bytes *b, char c, size_t n) {
    uint8_t *text = malloc(n);
    assert_non_null(text);
    memset(text, c, n);
    put(b, text, n);
    free(text);
}

static void assert_accepted_in_pieces(const struct upk_policy *policy, struct bytes *b) {
    struct tally tally = {0};
    for (enum how_much how = LEAST; how <= ANY; how++)
        compare("a stream", policy, b->at, b->len, how, &tally);
    assert_int_equal(tally.accepted, 3);
    free(b->at);
}

enum { LARGE = 3 << 20 };

/* Larger than any chunk, and read with what stands behind it. */
static void large_strings_are_fetched_whole(void **state) {
    (void)state;
    for (int framed = 0; framed < 2; framed++) {
        struct bytes b = {0};
        PUT(&b, "\x80\x04");
        if (framed) {
            PUT(&b, "\x95");
            put_le(&b, 1 + 2 * (5 + LARGE + 2) + 1, 8);
        }
        PUT(&b, "]");
        for (int i = 0; i < 2; i++) {
            PUT(&b, "X");
            put_le(&b, LARGE, 4);
            put_many(&b, 'x', LARGE);
            PUT(&b, "\x94\x61");
        }
        PUT(&b, ".and more");
        assert_accepted_in_pieces(&values, &b);
    }
}

struct held {
    size_t now, most, moved;
};

static void *hold(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct held *h = ctx;
    h->now += new_size;
    h->now -= old_size;
    h->moved += old_size < new_size ? old_size : new_size;
    if (h->now > h->most) h->most = h->now;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

/* In pieces of one byte, too: what was read is not moved again and again. */
static void long_lines_are_read_once(void **state) {
    (void)state;
    struct bytes b = {0};
    PUT(&b, "(V");
    put_many(&b, 'x', LARGE);
    PUT(&b, "\nI5\nt.");
    struct held held = {0};
    const struct upk_allocator allocator = {hold, &held};
    const struct upk_options options = {.allocator = &allocator};
    struct pieces pieces = {.bytes = b.at, .len = b.len, .how = LEAST};
    struct upk_doc *doc = NULL;
    assert_true(upk_decode_from(&values, pieces_read, &pieces, &options, &doc, NULL));
    upk_doc_free(doc);
    assert_in_range(held.moved, 0, 4 * b.len);
    assert_in_range(held.most, b.len, 4 * b.len);
    assert_accepted_in_pieces(&values, &b);
}

/* Values of the first chunk are there when many others were made. */
static void small_opcodes_fill_many_chunks(void **state) {
    (void)state;
    struct bytes b = {0};
    PUT(&b, "\x80\x04](");
    for (unsigned i = 0; i < 200000; i++) {
        PUT(&b, "\x8c\x05");
        const char digits[5] = {(char)('0' + i / 10000 % 10), (char)('0' + i / 1000 % 10),
                                (char)('0' + i / 100 % 10), (char)('0' + i / 10 % 10), (char)('0' + i % 10)};
        put(&b, digits, sizeof digits);
    }
    PUT(&b, "e.");
    assert_accepted_in_pieces(&values, &b);
}

static struct upk_error refusal(const struct upk_policy *policy, const void *bytes, size_t len,
                                enum how_much how) {
    struct pieces pieces = {.bytes = bytes, .len = len, .how = how};
    struct upk_doc *doc = NULL;
    struct upk_error err = {0};
    if (upk_decode_from(policy, pieces_read, &pieces, NULL, &doc, &err)) fail_msg("accepted");
    assert_null(doc);
    return err;
}

static size_t length_of(const struct upk_policy *policy, const void *bytes, size_t len, enum how_much how) {
    struct pieces pieces = {.bytes = bytes, .len = len, .how = how};
    size_t used = 0;
    const struct upk_options options = {.used = &used};
    struct upk_doc *doc = NULL;
    if (!upk_decode_from(policy, pieces_read, &pieces, &options, &doc, NULL)) fail_msg("refused");
    upk_doc_free(doc);
    return used;
}

/* Whatever of the next pickle was read along: it is not part of the length. */
static void far_memo_keys_are_judged_by_the_pickle_alone(void **state) {
    (void)state;
    for (enum how_much how = LEAST; how <= ANY; how++) {
        assert_int_equal(length_of(&values, "Nq\x04.N.", 6, how), 4);
        struct upk_error err = refusal(&values, "Nq\x05.N.", 6, how);
        assert_int_equal(err.code, UPK_ERR_MEMO_FAR);
        assert_int_equal(err.offset, 1);
        assert_string_equal(upk_op_name(err.opcode), "BINPUT");
        /* The first of them that is too large, also where it is no larger than a later one. */
        err = refusal(&values,
                      "Nq\x0a"
                      "Nq\x0b"
                      "0q\x0c"
                      "0Nq\x08"
                      "p14\np15\np900\n.",
                      27, how);
        assert_int_equal(err.code, UPK_ERR_MEMO_FAR);
        assert_string_equal(upk_op_name(err.opcode), "PUT");
        assert_int_equal(err.byte, 'p');
        assert_int_equal(err.offset, 21);
        /* The end of the stream says the length, too. */
        err = refusal(&values, "Nq\x05", 3, how);
        assert_int_equal(err.code, UPK_ERR_MEMO_FAR);
        /* What no stream within the budget is long enough for is refused at once. */
        err = refusal(&values, "Nr\xff\xff\xff\xff*", 7, how);
        assert_int_equal(err.code, UPK_ERR_MEMO_FAR);
        assert_int_equal(err.offset, 1);
    }
}

static void the_budget_counts_the_pickle_alone(void **state) {
    const struct upk_policy *const policy =
        trial_policy(*state, "policy d 1; opcodes core; budget bytes 10; root str;");
    for (enum how_much how = LEAST; how <= ANY; how++) {
        assert_int_equal(length_of(policy, "X\4\0\0\0four.more", 14, how), 10);
        struct upk_error err = refusal(policy, "X\5\0\0\0fiver.", 11, how);
        assert_int_equal(err.code, UPK_ERR_BUDGET);
        assert_int_equal(err.budget, UPK_BUDGET_BYTES);
        assert_int_equal(err.limit, 10);
        assert_int_equal(err.figure, 11);
        /* As long as is allowed, but not at its end. */
        err = refusal(policy, "X\5\0\0\0fiver", 10, how);
        assert_int_equal(err.code, UPK_ERR_TRUNCATED);
        err = refusal(policy, "X\6\0\0\0", 5, how);
        assert_int_equal(err.code, UPK_ERR_LENGTH);
    }
}

/* ---- hosts */

static void a_length_alone_buys_no_memory(void **state) {
    (void)state;
    static const char *const claims[] = {"X\xff\xff\xff\x07some", "\x80\x04\x95\xff\xff\xff\x07\0\0\0\0some"};
    static const size_t lengths[] = {9, 15};
    for (size_t i = 0; i < 2; i++) {
        struct held held = {0};
        const struct upk_allocator allocator = {hold, &held};
        const struct upk_options options = {.allocator = &allocator};
        struct pieces pieces = {.bytes = (const uint8_t *)claims[i], .len = lengths[i], .how = MOST};
        struct upk_doc *doc;
        struct upk_error err;
        assert_false(upk_decode_from(&values, pieces_read, &pieces, &options, &doc, &err));
        assert_int_equal(err.code, UPK_ERR_LENGTH);
        assert_in_range(held.most, 1, 3 << 20);
        assert_int_equal(held.now, 0);
    }
}

static void pickles_that_follow_each_other_are_read_one_by_one(void **state) {
    (void)state;
    static const char stream[] = "K\x01.\x80\x04K\x02.(I3\nt.\x80\x04\x95\x03\0\0\0\0\0\0\0K\x04.";
    struct pieces pieces = {.bytes = (const uint8_t *)stream, .len = sizeof stream - 1, .how = LEAST};
    static const size_t ends[] = {3, 8, 14, 28};
    for (size_t i = 0; i < 4; i++) {
        struct upk_doc *doc = NULL;
        assert_true(upk_decode_from(&values, pieces_read, &pieces, NULL, &doc, NULL));
        assert_int_equal(pieces.given, ends[i]);
        upk_doc_free(doc);
    }
    struct upk_doc *doc = NULL;
    struct upk_error err;
    assert_false(upk_decode_from(&values, pieces_read, &pieces, NULL, &doc, &err));
    assert_int_equal(err.code, UPK_ERR_TRUNCATED);
    assert_int_equal(err.offset, 0);
    assert_string_equal(err.file_kind, "empty");
}

/* Gives K 7 and then nothing but trouble. */
static bool read_trouble(void *ctx, void *to, size_t least, size_t most, size_t *got) {
    (void)least;
    int *calls = ctx;
    if ((*calls)++ == 0) {
        memcpy(to, "K\x07", 2);
        *got = 2;
        return true;
    }
    *got = most + 1;
    return *calls == 3;
}

static void trouble_of_the_reader_is_the_hosts(void **state) {
    (void)state;
    struct upk_doc *doc = NULL;
    struct upk_error err = {0};
    int calls = 0;
    assert_false(upk_decode_from(&values, read_trouble, &calls, NULL, &doc, &err));
    assert_int_equal(err.code, UPK_ERR_READ);
    assert_int_equal(err.cls, UPK_CLASS_MISUSE);
    assert_int_equal(err.offset, 2);
    calls = 2; /* it says more than it was asked for */
    assert_false(upk_decode_from(&values, read_trouble, &calls, NULL, &doc, &err));
    assert_int_equal(err.code, UPK_ERR_MISUSE);
    assert_false(upk_decode_from(&values, NULL, NULL, NULL, &doc, &err));
    assert_int_equal(err.code, UPK_ERR_MISUSE);
    assert_false(upk_decode_from(&values, read_trouble, &calls, NULL, NULL, &err));
    assert_int_equal(err.code, UPK_ERR_MISUSE);
    assert_null(doc);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(corpus_is_decided_alike),
        TEST(prefixes_are_decided_alike),
        TEST(large_strings_are_fetched_whole),
        TEST(long_lines_are_read_once),
        TEST(small_opcodes_fill_many_chunks),
        TEST(far_memo_keys_are_judged_by_the_pickle_alone),
        TEST(the_budget_counts_the_pickle_alone),
        TEST(a_length_alone_buys_no_memory),
        TEST(pickles_that_follow_each_other_are_read_one_by_one),
        TEST(trouble_of_the_reader_is_the_hosts),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
