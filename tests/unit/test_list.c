/* Listings and what they are made of: numbers, names and sets of characters as the language writes them, types by name, and a
 * shortage of memory at every place.
 *
 * Layer: tests of the compiler's list.c, list_type.c, notation.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/list.h"
#include "../../compiler/notation.h"
#include "compiled.h"

enum { MOST = 1 << 24 };

struct written {
    struct mem mem;
    struct output o;
};

static void begin(struct written *w, size_t most) {
    mem_init(&w->mem, most);
    output_init(&w->o, &w->mem);
}

static void assert_written(struct written *w, const char *want) {
    output_bytes(&w->o, "", 1);
    assert_false(w->mem.failed);
    assert_string_equal(w->o.bytes, want);
    mem_free(&w->mem);
}

static void assert_int(uint64_t low, uint64_t high, bool negative, const char *want) {
    struct written w;
    begin(&w, MOST);
    notation_int(&w.o, (const uint64_t[2]){low, high}, negative);
    assert_written(&w, want);
}

static void numbers_have_up_to_129_bits(void **state) {
    (void)state;
    assert_int(0, 0, false, "0");
    assert_int(999, 0, false, "999");
    assert_int(1000, 0, false, "1_000");
    assert_int(UINT64_MAX, UINT64_MAX, true, "-1");
    assert_int(0, 1, false, "18_446_744_073_709_551_616");
    assert_int(UINT64_MAX, UINT64_MAX, false, "340_282_366_920_938_463_463_374_607_431_768_211_455");
    assert_int(0, 0, true, "-340_282_366_920_938_463_463_374_607_431_768_211_456");
}

static void sizes_have_the_largest_unit_that_is_exact(void **state) {
    static const struct {
        uint64_t bytes;
        const char *want;
    } sizes[] = {{0, "0"},
                 {1000, "1_000"},
                 {1024, "1KiB"},
                 {1025, "1_025"},
                 {UINT64_C(3) << 20, "3MiB"},
                 {UINT64_C(1) << 46, "65_536GiB"}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct written w;
        begin(&w, MOST);
        notation_size(&w.o, sizes[i].bytes);
        assert_written(&w, sizes[i].want);
    }
}

static void names_are_quoted_where_words_do_not_say_them(void **state) {
    static const char *const names[][2] = {{"a.b", "a.b"},
                                           {"class", "class"},
                                           {"ref", "\"ref\""},
                                           {"a.where", "\"a.where\""},
                                           {"a..b", "\"a..b\""},
                                           {"", "\"\""},
                                           {"1a", "\"1a\""},
                                           {"_1", "_1"},
                                           {"\xed\xa0\x80", "\"\\u{D800}\""}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct written w;
        begin(&w, MOST);
        notation_name(&w.o, text_of(names[i][0]));
        assert_written(&w, names[i][1]);
    }
}

static void assert_chars(const struct upk_range *ranges, uint32_t count, const char *want) {
    struct written w;
    begin(&w, MOST);
    notation_chars(&w.o, ranges, count);
    assert_written(&w, want);
}

static void a_dash_stands_last_in_a_set(void **state) {
    (void)state;
    assert_chars((const struct upk_range[]){{'-', '-'}}, 1, "\"-\"");
    assert_chars((const struct upk_range[]){{'-', '9'}, {'a', 'z'}}, 2, "\"./0-9a-z-\"");
    assert_chars((const struct upk_range[]){{',', '-'}, {'a', 'b'}}, 2, "\",ab-\"");
    assert_chars((const struct upk_range[]){{'!', '-'}}, 1, "\"!--\"");
    assert_chars((const struct upk_range[]){{'"', '"'}, {'\\', '\\'}}, 2, "\"\\\"\\\\\"");
    assert_chars((const struct upk_range[]){{' ', '~'}}, 1, "\" -~\"");
}

/* ---- names of types ------------------------------------------------------------ */

static const char *name_of_root(struct trial *t, const char *text) {
    static char name[64];
    const struct upk_policy *const p = trial_policy(t, text);
    const struct upk_text at = p->types[p->root].name;
    assert_true(at.len < sizeof name);
    memcpy(name, p->pool + at.at, at.len);
    name[at.len] = '\0';
    return name;
}

static void assert_root_name(const char *text, const char *want) {
    struct trial t;
    trial_init(&t);
    assert_string_equal(name_of_root(&t, text), want);
    trial_free(&t);
}

static void tables_keep_the_names_of_what_holds_types(void **state) {
    (void)state;
    assert_root_name("policy p 1; type A = list<int>; root A;", "A");
    assert_root_name("policy p 1; root list<int>;", "");
    assert_root_name("policy p 1; type A = { a: int }; type B = A; root B;", "A");
    assert_root_name("policy p 1; type A = int | str; root A;", "A");
    assert_root_name("policy p 1; type A = int[0..7]; root A;", "");
    assert_root_name("policy p 1; type A = list<A>; root A;", "A");
    /* Equal types are one entry, and the first name that it meets is kept. */
    assert_root_name("policy p 1; type B = list<int>; module m { class C new() state list<int>; } root B;",
                     "B");
    assert_root_name(
        "policy p 1; type A = list<int>; type B = list<int>; module m { class C new() state B; } "
        "root A;",
        "B");
}

static void names_make_no_types(void **state) {
    const struct upk_policy *const named = trial_policy(
        *state, "policy p 1; type A = list<int>; type B = list<int>; root tuple<A, B, list<int>>;");
    assert_int_equal(named->type_count, 4); /* nothing, int, the list, the tuple */
}

/* ---- listings ------------------------------------------------------------ */

static const char whole[] =
    "policy p 1; alias a -> b;\n"
    "type Json = none | int | list<Json>[..9] | { a: Json, b?: str chars \"a-z\" } | tuple<bytes, any...>;\n"
    "type Long = \"0123456789\" | \"1123456789\" | \"2123456789\" | \"3123456789\" | \"4123456789\" | "
    "\"5123456789\";\n"
    "module m { class A new(x: Long, y: Long) kw { k: int mask 6 } state Json because \"x\" | ref;\n"
    "func f(x: Json) -> m::A items (int | none) because \"x\" budget calls 5; const K; }\n"
    "module b { class B call() pairs str: any; }\n"
    "root m::A | ref m::A | instance of p cyclic;\n";

static void every_shortage_of_memory_is_said(void **state) {
    enum { STEP = 16, ENOUGH = 1 << 20 };
    const struct upk_policy *const p = trial_policy(*state, whole);
    bool good = false;
    size_t refused = 0;
    for (size_t most = 1; most < ENOUGH && !good; most += STEP) {
        struct written w;
        begin(&w, most);
        good = list_policy(p, true, &w.o);
        refused += !good;
        mem_free(&w.mem);
    }
    assert_true(good);
    assert_true(refused > 0);
}

static void a_listing_is_appended(void **state) {
    const struct upk_policy *const p = trial_policy(*state, whole);
    struct written w, twice;
    begin(&w, MOST);
    begin(&twice, MOST);
    assert_true(list_policy(p, false, &w.o));
    assert_true(list_policy(p, false, &twice.o) && list_policy(p, false, &twice.o));
    assert_int_equal(twice.o.len, 2 * w.o.len);
    assert_memory_equal(twice.o.bytes + w.o.len, w.o.bytes, w.o.len);
    mem_free(&w.mem);
    mem_free(&twice.mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_up_to_129_bits),
        cmocka_unit_test(sizes_have_the_largest_unit_that_is_exact),
        cmocka_unit_test(names_are_quoted_where_words_do_not_say_them),
        cmocka_unit_test(a_dash_stands_last_in_a_set),
        cmocka_unit_test(tables_keep_the_names_of_what_holds_types),
        cmocka_unit_test_setup_teardown(names_make_no_types, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(every_shortage_of_memory_is_said, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(a_listing_is_appended, trial_set_up, trial_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
