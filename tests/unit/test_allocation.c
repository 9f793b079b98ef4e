/* Allocation failure: whichever allocation fails, alone or with all that follow, the call ends with class memory (or does
 * without), nothing leaks, and the sizes told to the allocator are true.
 *
 * Layer: tests of the runtime's public interface.
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
#include "pieces.h"
#include "values.h"

enum { LONGEST = 600, HEADER = 16 };

/* An allocator that keeps books and fails on request. */
struct books {
    size_t calls;    /* that ask for memory */
    size_t fail_at;  /* the number of the call that fails; 0: none */
    bool fail_later; /* those after it fail as well */
    size_t blocks;   /* not freed */
    bool lied;       /* a wrong old size */
};

static void *keep_books(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct books *books = ctx;
    uint8_t *base = block ? (uint8_t *)block - HEADER : NULL;
    size_t known = 0;
    if (base) memcpy(&known, base, sizeof known);
    if (known != old_size) books->lied = true;
    if (new_size == 0) {
        if (base) books->blocks--;
        free(base);
        return NULL;
    }
    books->calls++;
    if (books->fail_at &&
        (books->calls == books->fail_at || (books->fail_later && books->calls > books->fail_at)))
        return NULL;
    uint8_t *fresh = realloc(base, HEADER + new_size);
    if (!fresh) return NULL;
    if (!base) books->blocks++;
    memcpy(fresh, &new_size, sizeof new_size);
    return fresh + HEADER;
}

static bool throw_away(void *ctx, const char *text, size_t len) {
    (void)text;
    *(size_t *)ctx += len;
    return true;
}

typedef bool (*print_fn)(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);

/* Every operation that allocates: true accepted, else err says why. */
enum operation { CHECK, DECODE, COPY, PIECES, INSPECT, SCAN, PRINT_TREE, PRINT_JSON, PRINT_REPR, OPERATIONS };

static bool operate(enum operation operation, const struct corpus_file *file, struct books *books,
                    struct upk_error *err) {
    static const print_fn printers[] = {upk_print_tree, upk_print_json, upk_print_repr};
    struct upk_allocator allocator = {keep_books, books};
    struct upk_options options = corpus_options;
    options.allocator = &allocator;
    struct upk_doc *doc = NULL;
    struct upk_scan_result *scan = NULL;
    struct pieces pieces = {.bytes = file->bytes, .len = file->len, .how = ANY};
    size_t written = 0;
    bool accepted = false;
    switch (operation) {
    case CHECK: accepted = upk_check(&values, file->bytes, file->len, &options, err); break;
    case COPY:
        options.flags |= UPK_COPY;
        accepted = upk_decode(&values, file->bytes, file->len, &options, &doc, err);
        break;
    case PIECES: accepted = upk_decode_from(&values, pieces_read, &pieces, &options, &doc, err); break;
    case DECODE: accepted = upk_decode(&values, file->bytes, file->len, &options, &doc, err); break;
    case INSPECT: accepted = upk_inspect(file->bytes, file->len, &options, &doc, err); break;
    case SCAN: accepted = upk_scan(file->bytes, file->len, &options, &scan, err); break;
    case PRINT_TREE:
    case PRINT_JSON:
    case PRINT_REPR:
        accepted = upk_inspect(file->bytes, file->len, &options, &doc, err) &&
                   printers[operation - PRINT_TREE](doc, throw_away, &written, err);
        break;
    case OPERATIONS: break;
    }
    upk_scan_free(scan);
    upk_doc_free(doc);
    return accepted;
}

struct tally {
    enum operation operation;
    size_t files, failures;
};

static void fail_each_allocation(const struct corpus_file *file, struct tally *tally, bool fail_later) {
    struct upk_error wanted, err;
    struct books books = {0};
    memset(&wanted, 0, sizeof wanted);
    bool accepted = operate(tally->operation, file, &books, &wanted);
    size_t calls = books.calls;
    if (books.blocks != 0 || books.lied)
        fail_msg("%s: %zu blocks leak without any failure, sizes %s", file->path, books.blocks,
                 books.lied ? "wrong" : "right");
    tally->files++;
    for (size_t n = 1; n <= calls; n++) {
        books = (struct books){.fail_at = n, .fail_later = fail_later};
        memset(&err, 0, sizeof err);
        bool again = operate(tally->operation, file, &books, &err);
        if (books.blocks != 0 || books.lied)
            fail_msg("%s: allocation %zu of %zu fails: %zu blocks leak, sizes %s", file->path, n, calls,
                     books.blocks, books.lied ? "wrong" : "right");
        /* A refusal for want of memory, or the same verdict: giving back memory may fail without harm. */
        bool same = again == accepted && (again || (err.code == wanted.code && err.offset == wanted.offset));
        if (!same && (again || err.cls != UPK_CLASS_MEMORY || err.code != UPK_ERR_MEMORY))
            fail_msg("%s: allocation %zu of %zu fails: class %s", file->path, n, calls,
                     again ? "ok" : upk_class_word(err.cls));
        tally->failures += !same;
    }
}

static void fail_one(const struct corpus_file *file, void *ctx) { fail_each_allocation(file, ctx, false); }

static void fail_it_and_all_later(const struct corpus_file *file, void *ctx) {
    fail_each_allocation(file, ctx, true);
}

static void over_all_streams(corpus_fn each) {
    for (enum operation operation = CHECK; operation < OPERATIONS; operation++) {
        struct tally tally = {.operation = operation};
        corpus_each("good", LONGEST, each, &tally);
        corpus_each("hostile", LONGEST, each, &tally);
        assert_in_range(tally.files, 1000, SIZE_MAX);
        /* At least one allocation of nearly every stream is one that matters. */
        assert_in_range(tally.failures, tally.files / 2, SIZE_MAX);
    }
}

static void one_failed_allocation_is_class_memory_and_leaks_nothing(void **state) {
    (void)state;
    over_all_streams(fail_one);
}

static void lasting_failure_is_class_memory_and_leaks_nothing(void **state) {
    (void)state;
    over_all_streams(fail_it_and_all_later);
}

/* A stream that makes every growing array grow: many values on the stack, in the memo, in one list, one dict and one set. */
static void growing_arrays_survive_failure(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    size_t room = 64 + (size_t)COUNT * 40, len = 0;
    uint8_t *bytes = malloc(room);
    assert_non_null(bytes);
    bytes[len++] = 0x80; /* PROTO 4 */
    bytes[len++] = 4;
    bytes[len++] = '('; /* MARK, for the tuple of all three */
    for (int part = 0; part < 3; part++) {
        static const uint8_t empty[3] = {']', '}', 0x8f}, add[3] = {'e', 'u', 0x90};
        bytes[len++] = empty[part];
        bytes[len++] = '(';
        for (unsigned i = 0; i < COUNT; i++) {
            bytes[len++] = 'M'; /* BININT2 */
            bytes[len++] = (uint8_t)i;
            bytes[len++] = (uint8_t)(i >> 8);
            if (part == 1) {
                bytes[len++] = 'G'; /* BINFLOAT */
                memset(bytes + len, 0, 8);
                len += 8;
            }
        }
        bytes[len++] = add[part];
    }
    bytes[len++] = 't';
    for (unsigned i = 0; i < COUNT; i++) {
        bytes[len++] = 'K'; /* BININT1, MEMOIZE, POP */
        bytes[len++] = 7;
        bytes[len++] = 0x94;
        bytes[len++] = '0';
    }
    bytes[len++] = '.';
    assert_in_range(len, 1, room);
    struct corpus_file file = {.path = "growing arrays", .bytes = bytes, .len = len};
    for (enum operation operation = CHECK; operation < OPERATIONS; operation++) {
        struct tally tally = {.operation = operation};
        struct upk_error err = {0};
        struct books books = {0};
        if (!operate(operation, &file, &books, &err))
            fail_msg("growing arrays: %s: %s", upk_class_word(err.cls), err.detail);
        fail_each_allocation(&file, &tally, false);
        fail_each_allocation(&file, &tally, true);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_failed_allocation_is_class_memory_and_leaks_nothing),
        cmocka_unit_test(lasting_failure_is_class_memory_and_leaks_nothing),
        cmocka_unit_test(growing_arrays_survive_failure),
    };
    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
