/* The look-up template over tables made in memory: exact for any names and lengths, at any number of keys.
 *
 * Layer: tests of runtime/find_class.h and of the compiler's perfect.c.
 */
#define UPK_FIND_CLASS_ANY
#include "../../compiler/perfect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "find_class_probe.h"

struct fixture {
    struct mem mem;
    struct upk_key *keys;
    size_t count;
    char *pool;
    uint32_t pool_len;
    bool in_process; /* without gperf */
    struct upk_keys tables[2];
};

enum { MOST_KEYS = 4000, MOST_POOL = 4 << 20 };

static int set_up(void **state) {
    struct fixture *const f = calloc(1, sizeof *f);
    if (!f) return -1;
    mem_init(&f->mem, 256u << 20);
    f->keys = calloc(MOST_KEYS, sizeof *f->keys);
    f->pool = calloc(1, MOST_POOL);
    *state = f;
    return f->keys && f->pool ? 0 : -1;
}

static int set_up_in_process(void **state) {
    if (set_up(state) != 0) return -1;
    ((struct fixture *)*state)->in_process = true;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *const f = *state;
    mem_free(&f->mem);
    free(f->keys);
    free(f->pool);
    free(f);
    return 0;
}

static uint32_t add_text(struct fixture *f, const char *text, size_t len) {
    const uint32_t at = f->pool_len;
    memcpy(f->pool + at, text, len);
    f->pool_len += (uint32_t)len;
    return at;
}

static void add_key(struct fixture *f, const char *module, size_t module_len, const char *name,
                    size_t name_len) {
    struct upk_key *const k = &f->keys[f->count++];
    k->module = add_text(f, module, module_len);
    k->module_len = (uint16_t)module_len;
    k->name = add_text(f, name, name_len);
    k->name_len = (uint16_t)name_len;
    k->row[0] = (uint32_t)f->count * 2;
    k->row[1] = (uint32_t)f->count * 2 + 1;
}

static enum perfect_status build(struct fixture *f) {
    int error;
    const struct perfect_pool pool = {f->pool, f->pool_len + UPK_NAME_PADDED};
    return perfect_build(&f->mem, f->keys, f->count, pool, f->in_process, f->tables, &error);
}

static void check_answers(struct fixture *f) {
    assert_int_equal(build(f), PERFECT_OK);
    for (size_t i = 0; i < 2; i++) {
        struct probe_report report;
        assert_true(probe_find_class(&f->tables[i], upk_find_class_any, NULL, NULL, &report));
        if (report.wrong) fail_msg("%zu wrong answers, first %s", report.wrong, report.first_wrong);
        assert_true(report.hits >= 2 * f->count);
        assert_true(report.misses > 1000);
    }
}

/* Names that share long beginnings and ends, as those of real packages do. */
static void add_rows(struct fixture *f, size_t count) {
    static const char *const parts[] = {"core", "util",  "model",  "data", "io",
                                        "net",  "array", "matrix", "tree", "graph"};
    for (size_t i = 0; i < count; i++) {
        char module[80], name[80];
        const int m = snprintf(module, sizeof module, "package.%s.%s.%s%zu", parts[i % 10],
                               parts[i / 10 % 10], parts[i / 100 % 10], i / 7);
        const int n = snprintf(name, sizeof name, "Class%zuOf%s", i, parts[i % 7]);
        add_key(f, module, (size_t)m, name, (size_t)n);
    }
}

static void no_key_is_found_in_an_empty_table(void **state) {
    struct fixture *const f = *state;
    assert_int_equal(build(f), PERFECT_OK);
    struct probe_report report;
    assert_true(probe_find_class(&f->tables[1], upk_find_class_any, NULL, NULL, &report));
    assert_int_equal(report.hits, 0);
    assert_int_equal(report.wrong, 0);
}

static void a_single_key_is_found_exactly(void **state) {
    struct fixture *const f = *state;
    add_key(f, "datetime", 8, "datetime", 8);
    check_answers(f);
}

static void two_hundred_keys_are_found_exactly(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 200);
    check_answers(f);
}

static void three_thousand_keys_are_found_exactly(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 3000);
    check_answers(f);
}

static void names_of_256_bytes_are_found_exactly(void **state) {
    struct fixture *const f = *state;
    char module[256], name[256];
    memset(module, 'm', sizeof module);
    memset(name, 'n', sizeof name);
    add_key(f, module, 256, name, 256);
    add_key(f, module, 255, name, 256);
    add_key(f, module, 256, name, 255);
    add_key(f, "m", 1, name, 256);
    add_key(f, module, 256, "n", 1);
    module[255] = 'x';
    add_key(f, module, 256, name, 256);
    name[0] = 'x';
    add_key(f, module, 256, name, 256);
    check_answers(f);
}

static void bytes_of_any_value_tell_names_apart(void **state) {
    struct fixture *const f = *state;
    for (int i = 0; i < 256; i++) {
        const char module[3] = {'a', (char)i, 'b'}, name[1] = {(char)(255 - i)};
        add_key(f, module, 3, name, 1);
    }
    add_key(f, "a\0b", 3, "\0", 1);
    add_key(f, "a", 1, "\0", 1);
    add_key(f, "a\0", 2, "\0", 1);
    add_key(f, "a\0", 2, "\0\0", 2);
    check_answers(f);
}

static void keys_of_one_reading_are_unknown_to_the_other(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 20);
    for (size_t i = 0; i < f->count; i++) f->keys[i].row[i % 2] = 0;
    assert_int_equal(build(f), PERFECT_OK);
    for (size_t i = 0; i < 2; i++) {
        struct probe_report report;
        assert_true(probe_find_class(&f->tables[i], upk_find_class_any, NULL, NULL, &report));
        assert_int_equal(report.wrong, 0);
        assert_int_equal(report.hits, 2 * 10);
    }
}

static void the_same_keys_give_the_same_tables(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 500);
    assert_int_equal(build(f), PERFECT_OK);
    const struct upk_keys first = f->tables[0];
    assert_int_equal(build(f), PERFECT_OK);
    const struct upk_keys *const second = &f->tables[0];
    assert_int_equal(first.slot_count, second->slot_count);
    assert_memory_equal(first.slots, second->slots, first.slot_count * sizeof *first.slots);
    assert_memory_equal(first.asso, second->asso, first.buckets * 256);
    assert_memory_equal(first.words, second->words,
                        (first.module_words + first.name_words) * sizeof *first.words);
    assert_true(first.seed == second->seed);
}

static void tables_are_dense(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 3000);
    assert_int_equal(build(f), PERFECT_OK);
    /* Without gperf they are only for a process, and need not be. */
    assert_true(f->tables[0].slot_count < 3000 + (f->in_process ? 3000 / 2 : 3000 / 20 + 256));
}

static void a_key_given_twice_has_no_table(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 3);
    add_key(f, "twice", 5, "twice", 5);
    add_key(f, "twice", 5, "twice", 5);
    assert_int_equal(build(f), PERFECT_UNSOLVED);
}

static void every_refused_allocation_is_reported(void **state) {
    struct fixture *const f = *state;
    add_rows(f, 30);
    assert_int_equal(build(f), PERFECT_OK);
    const size_t needed = f->mem.used;
    for (size_t most = 0; most < needed; most += needed / 50 + 1) {
        mem_free(&f->mem);
        mem_init(&f->mem, most);
        assert_int_equal(build(f), PERFECT_MEMORY);
    }
}

int main(void) {
#define TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down), {            \
#name " (without gperf)", name, set_up_in_process, tear_down, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST(no_key_is_found_in_an_empty_table),
        TEST(a_single_key_is_found_exactly),
        TEST(two_hundred_keys_are_found_exactly),
        TEST(three_thousand_keys_are_found_exactly),
        TEST(names_of_256_bytes_are_found_exactly),
        TEST(bytes_of_any_value_tell_names_apart),
        TEST(keys_of_one_reading_are_unknown_to_the_other),
        TEST(the_same_keys_give_the_same_tables),
        TEST(tables_are_dense),
        TEST(a_key_given_twice_has_no_table),
        TEST(every_refused_allocation_is_reported),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
