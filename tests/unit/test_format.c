/* format_policy as others call it: appended to what is there, errors counted, and every amount of memory.
 *
 * Layer: tests only; the layout itself is tests/test_fmt.py's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/format.h"

static const size_t enough = (size_t)1 << 30;

struct form {
    struct diag diag;
    struct mem mem;
    struct output out;
};

static bool form_make(struct form *f, const char *text, size_t most) {
    diag_init(&f->diag, (struct diag_sink){.write = NULL});
    mem_init(&f->mem, most);
    output_init(&f->out, &f->mem);
    return format_policy(text_of("test.policy"), text_of(text), &f->diag, &f->out);
}

static void form_free(struct form *f) {
    mem_free(&f->mem);
    diag_free(&f->diag);
}

static void assert_out(const struct output *o, const char *expected) {
    assert_int_equal(o->len, strlen(expected));
    assert_memory_equal(o->bytes, expected, o->len);
}

static void a_form_is_appended(void **state) {
    (void)state;
    struct form f;
    assert_true(form_make(&f, "policy p 1;root any;", enough));
    assert_out(&f.out, "policy p 1;\nroot any;\n");
    assert_true(format_policy(text_of("other.policy"), text_of("fragment q;# c"), &f.diag, &f.out));
    assert_out(&f.out, "policy p 1;\nroot any;\nfragment q;  # c\n");
    assert_int_equal(diag_error_count(&f.diag), 0);
    form_free(&f);
}

static void what_has_errors_appends_nothing(void **state) {
    static const char *const texts[] = {"",           "x",          "policy p 1; root [;",
                                        "policy p 1", "\xff",       "policy p 1; root int[01];",
                                        "policy p;",  "# nothing.", "policy p 1; type \"a\\q\" = int;"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct form f;
        assert_false(form_make(&f, texts[i], enough));
        assert_int_equal(f.out.len, 0);
        assert_true(diag_error_count(&f.diag) > 0);
        assert_false(f.diag.io);
        form_free(&f);
    }
}

/* An error of before is none of this text. */
static void errors_of_before_do_not_count(void **state) {
    (void)state;
    struct form f;
    assert_false(form_make(&f, "policy", enough));
    const size_t errors = diag_error_count(&f.diag);
    assert_true(format_policy(text_of("good.policy"), text_of("policy p 1;"), &f.diag, &f.out));
    assert_out(&f.out, "policy p 1;\n");
    assert_int_equal(diag_error_count(&f.diag), errors);
    form_free(&f);
}

static void any_amount_of_memory_is_survived(void **state) {
    enum { STEP = 331 };
    static const char text[] = "policy p 1; # comment\n"
                               "type T = list<tuple<int, str?>[2]> | { a: none, b?: dict<str, (T | int)> };\n"
                               "module m { class { A, B } call(a: T) state any because \"x\" | ref; }\n";
    (void)state;
    size_t refused = 0;
    bool good = false;
    for (size_t most = 1; most < enough && !good; most += STEP) {
        struct form f;
        good = form_make(&f, text, most);
        assert_int_equal(good, diag_error_count(&f.diag) == 0);
        assert_int_equal(good, f.out.len != 0);
        refused += !good;
        form_free(&f);
    }
    assert_true(good);
    assert_true(refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_is_appended),
        cmocka_unit_test(what_has_errors_appends_nothing),
        cmocka_unit_test(errors_of_before_do_not_count),
        cmocka_unit_test(any_amount_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
