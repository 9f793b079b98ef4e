/* Small streams that cost other readers memory or time: here they cost what their bytes cost.
 *
 * Times are the thread's CPU time, the least of several runs; builds with sanitizers get more.
 *
 * Layer: tests of the runtime's public interface.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "costs.h"
#include "values.h"

#define SLOWER (SANITIZED ? 200.0 : 1.0)

/* malloc keeps what is freed: a page fault costs more than what is measured here. */
static int keep_memory(void **state) {
    (void)state;
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
    return 0;
}

/* Bytes that a call asked for, all in all. */
static void *count_bytes(void *ctx, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    *(size_t *)ctx += new_size;
    return realloc(block, new_size);
}

/* Refuses a stream `runs` times under a policy; the least time of one. */
static double refuse(const struct upk_policy *policy, const void *bytes, size_t len, int runs, size_t *asked,
                     struct upk_error *err) {
    struct upk_allocator allocator = {count_bytes, asked};
    struct upk_options options = {.allocator = &allocator};
    double least = 1e30;
    for (int i = 0; i < runs; i++) {
        *asked = 0;
        double start = now_us();
        assert_false(upk_check(policy, bytes, len, &options, err));
        double took = now_us() - start;
        if (took < least) least = took;
    }
    return least;
}

struct lie {
    const char *label, *bytes;
    size_t len;
    enum upk_class_of_refusal cls;
};

#define LIE(label, bytes, cls) \
    { label, bytes, sizeof bytes - 1, UPK_CLASS_##cls }

static const struct lie lies[] = {
    LIE("BINUNICODE of 4 GiB", "\x80\x02X\xff\xff\xff\xff.", TRUNCATED),
    LIE("BINUNICODE8 of 2^63", "\x80\x04\x8d\0\0\0\0\0\0\0\x80.", TRUNCATED),
    LIE("BINBYTES of 4 GiB",
        "\x80\x03"
        "B\xff\xff\xff\xff.",
        TRUNCATED),
    LIE("BINBYTES8 of 2^64 - 1", "\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", TRUNCATED),
    LIE("BYTEARRAY8 of 2^40", "\x80\x05\x96\0\0\0\0\0\1\0\0.", TRUNCATED),
    LIE("LONG4 of 2 GiB", "\x80\x02\x8b\xff\xff\xff\x7f.", TRUNCATED),
    LIE("FRAME of 2^62", "\x80\x04\x95\0\0\0\0\0\0\0\x40N.", TRUNCATED),
    LIE("LONG_BINPUT 2^32 - 1", "\x80\x02Nr\xff\xff\xff\xff.", MEMO),
    LIE("PUT of 18 digits", "Np999999999999999999\n.", MEMO),
};

static void lies_are_refused_at_once_and_without_memory(void **state) {
    (void)state;
    struct upk_error err;
    size_t asked, least_asked;
    /* What any stream of this size takes: the same stream without a lie, refused for its last byte. */
    refuse(&values, "\x80\x04N..", 5, 3, &least_asked, &err);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memset(&err, 0, sizeof err);
        double us = refuse(&values, lies[i].bytes, lies[i].len, 50, &asked, &err);
        if (err.cls != lies[i].cls) fail_msg("%s: class %s", lies[i].label, upk_class_word(err.cls));
        if (asked > least_asked)
            fail_msg("%s: %zu bytes, %zu without the lie", lies[i].label, asked, least_asked);
        if (us > 10 * SLOWER) fail_msg("%s: %.1f us", lies[i].label, us);
    }
}

static void ten_megabytes_of_sets_stop_at_the_budget(void **state) {
    (void)state;
    enum { SIZE = 10000000 };
    uint8_t *bytes = malloc(SIZE);
    assert_non_null(bytes);
    memset(bytes, 0x8f, SIZE); /* EMPTY_SET */
    bytes[0] = 0x80;
    bytes[1] = 4;
    bytes[SIZE - 1] = '.';
    struct upk_policy policy = values;
    policy.budgets[UPK_BUDGET_NODES] = 1000000;
    struct upk_error err;
    double least = 1e30;
    for (int i = 0; i < 10 || (least > 5000 * SLOWER && i < 100); i++) {
        double start = now_us();
        assert_false(upk_check(&policy, bytes, SIZE, NULL, &err));
        double took = now_us() - start;
        if (took < least) least = took;
        assert_int_equal(err.cls, UPK_CLASS_LIMIT);
        assert_int_equal(err.budget, UPK_BUDGET_NODES);
        assert_int_equal(err.offset, 2 + 1000000);
    }
    free(bytes);
    print_message("%.2f ms\n", least / 1000);
    /* 5 ms on an idle machine, which is waited for; neighbours who fill the memory bus make it several times that, and what
     * this is to catch takes seconds. */
    if (least > 50000 * SLOWER) fail_msg("%.1f ms", least / 1000);
}

/* [[..], [..]] of `levels`: each list holds the one below twice. */
static struct bytes sharing_bomb(int levels) {
    struct bytes b = {0};
    PUT(&b, "\x80\x04]\x94");
    for (int i = 1; i < levels; i++) {
        uint8_t get[5] = {'j', (uint8_t)(i - 1), (uint8_t)((i - 1) >> 8), 0, 0};
        PUT(&b, "0]\x94(");
        put(&b, get, sizeof get);
        put(&b, get, sizeof get);
        PUT(&b, "e");
    }
    PUT(&b, ".");
    return b;
}

static void a_sharing_bomb_is_counted_in_linear_time(void **state) {
    (void)state;
    double took[2];
    for (int i = 0; i < 2; i++) {
        struct bytes b = sharing_bomb(i ? 160 : 40);
        struct upk_error err;
        size_t asked;
        took[i] = refuse(&values, b.at, b.len, 50, &asked, &err);
        assert_int_equal(err.cls, UPK_CLASS_LIMIT);
        assert_int_equal(err.budget, UPK_BUDGET_EXPANDED);
        free(b.at);
    }
    if (took[0] > 100 * SLOWER) fail_msg("40 levels: %.1f us", took[0]);
    if (took[1] > 16 * took[0] + 100 * SLOWER) fail_msg("40 levels: %.1f us, 160: %.1f us", took[0], took[1]);
}

/* The sink of a printer: counts, and keeps nothing. */
static bool count_text(void *ctx, const char *text, size_t len) {
    (void)text;
    *(size_t *)ctx += len;
    return true;
}

/* Nine lists, each of which holds all nine: 9! ways to walk through them. */
static void lists_that_hold_each_other_are_not_printed_for_ever(void **state) {
    (void)state;
    enum { LISTS = 9 };
    struct bytes b = {0};
    PUT(&b, "\x80\x04");
    for (int i = 0; i < LISTS; i++) PUT(&b, "]\x94");
    for (int i = 0; i < LISTS; i++) {
        uint8_t get[2] = {'h', 0};
        get[1] = (uint8_t)i;
        put(&b, get, 2);
        PUT(&b, "(");
        for (int j = 0; j < LISTS; j++) {
            get[1] = (uint8_t)j;
            put(&b, get, 2);
        }
        PUT(&b, "e0");
    }
    for (int i = 1; i < LISTS; i++) PUT(&b, "0"); /* the first list stays */
    PUT(&b, ".");

    struct upk_error err;
    struct upk_doc *docs[2] = {NULL, NULL};
    if (!upk_inspect(b.at, b.len, NULL, &docs[0], &err)) fail_msg("inspect: %s", err.detail);
    if (!upk_decode(&values, b.at, b.len, NULL, &docs[1], &err)) fail_msg("decode: %s", err.detail);
    for (int i = 0; i < 2; i++) {
        bool (*const printers[])(const struct upk_doc *, upk_sink, void *,
                                 struct upk_error *) = {upk_print_tree, upk_print_json, upk_print_repr};
        for (size_t j = 0; j < 3; j++) {
            size_t written = 0;
            double start = now_us();
            memset(&err, 0, sizeof err);
            bool whole = printers[j](docs[i], count_text, &written, &err);
            double took = now_us() - start;
            /* Either the form is short (marks say what was met before), or it stops at the budget. */
            if (!whole) {
                assert_int_equal(err.cls, UPK_CLASS_LIMIT);
                assert_int_equal(err.budget, UPK_BUDGET_EXPANDED);
            }
            if (written > 1000000 || took > 200000 * SLOWER)
                fail_msg("document %d, form %zu: %zu bytes in %.1f ms", i, j, written, took / 1000);
        }
        upk_doc_free(docs[i]);
    }
    free(b.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_are_refused_at_once_and_without_memory),
        cmocka_unit_test(ten_megabytes_of_sets_stop_at_the_budget),
        cmocka_unit_test(a_sharing_bomb_is_counted_in_linear_time),
        cmocka_unit_test(lists_that_hold_each_other_are_not_printed_for_ever),
    };
    return cmocka_run_group_tests_name("bombs", tests, keep_memory, NULL);
}
