/* Messages as JSON: each is one line, and is said even where there is no memory to say it well.
 *
 * Layer: tests of the compiler's diag_json.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "compiled.h"

static long allocations_left = -1; /* of jansson; below 0: no end */

static void *allocate(size_t size) {
    if (allocations_left == 0) return NULL;
    allocations_left -= allocations_left > 0;
    return malloc(size);
}

static size_t count_lines(const struct trial *t) {
    size_t lines = 0;
    for (const char *at = t->messages; (at = strchr(at, '\n')) != NULL; at++) lines++;
    return lines;
}

static void compile(struct trial *t, const char *text) {
    trial_init(t);
    t->diag.sink.json = true;
    assert_false(trial_models(t, text));
}

static void a_message_is_an_object_on_a_line(void **state) {
    struct trial t;
    (void)state;
    compile(&t, "policy p 1;\ntype A = int;\ntype A = str;\nroot Nothin | \"\x01\";\n");
    for (char *line = t.messages, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        json_t *const object = json_loads(line, 0, NULL);
        assert_true(json_is_object(object));
        assert_string_equal(json_string_value(json_object_get(object, "severity")), "error");
        json_decref(object);
    }
    trial_free(&t);
}

static void a_shortage_of_memory_is_a_message(void **state) {
    static const char text[] = "policy p 1;\ntype A = int;\ntype A = str;\nroot Nothin;\n";
    struct trial t;
    size_t short_lines = 0;
    (void)state;
    json_set_alloc_funcs(allocate, free);
    for (long most = 0; most < 2000; most++) {
        allocations_left = most;
        compile(&t, text);
        assert_int_equal(count_lines(&t), 2);
        assert_int_equal(t.messages[0], '{');
        const bool whole = strstr(t.messages, "\"P0003\"") == NULL;
        short_lines += !whole;
        trial_free(&t);
        if (whole) break;
    }
    json_set_alloc_funcs(malloc, free);
    assert_in_range(short_lines, 10, 1999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_an_object_on_a_line),
        cmocka_unit_test(a_shortage_of_memory_is_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
