/* The words of the language that are data, what is known of each, and how they stand in a message.
 *
 * Layer: tests of the compiler's words.c and of check_native.c's table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/units.h"

static void it_is_known_what_each_check_reads(void **state) {
    (void)state;
    for (uint32_t check = UPK_CHECK_NONE + 1; check < UPK_CHECK_COUNT; check++) {
        if (!check_has_signature((enum upk_check)check)) {
            fail_msg("check %s has no signature", check_words[check]);
        }
    }
    assert_false(check_has_signature(UPK_CHECK_NONE));
}

static void words_stand_where_their_numbers_say(void **state) {
    (void)state;
    assert_string_equal(opcode_word(UPK_OP_STOP)->name, "STOP");
    assert_int_equal(opcode_word(UPK_OP_STOP)->byte, '.');
    assert_string_equal(opcode_word(UPK_OP_INT)->name, "INT");
    assert_string_equal(budget_words[UPK_BUDGET_DEPTH].word, "depth");
    assert_true(budget_counts_bytes(UPK_BUDGET_STRING));
    assert_false(budget_counts_bytes(UPK_BUDGET_DEPTH));
    assert_string_equal(family_words[UPK_FAMILY_DUP], "dup");
    assert_string_equal(check_words[UPK_CHECK_DECIMAL], "decimal");
    for (size_t i = 0; i < HOOK_COUNT; i++) {
        if (hook_words[i].flag == UPK_FORM_RUNS_HASH) assert_string_equal(hook_words[i].word, "__hash__");
    }
}

static void a_phrase_lists_words(void **state) {
    (void)state;
    static const char *const want[] = {"", "a", "a or b", "a, b or c"};
    for (size_t count = 0; count < 4; count++) {
        struct phrase p = {.len = 0};
        for (size_t i = 0; i < count; i++) {
            phrase_separate(&p, i, count, " or ");
            phrase_add(&p, "%c", (int)('a' + (int)i));
        }
        assert_string_equal(p.text, want[count]);
    }
}

static void what_has_no_room_in_a_phrase_is_left_out(void **state) {
    (void)state;
    struct phrase p = {.len = 0};
    for (size_t i = 0; i < sizeof p.text; i++) phrase_add(&p, "ab");
    assert_int_equal(p.len, (sizeof p.text - 1) / 2 * 2);
    assert_int_equal(strlen(p.text), p.len);
    phrase_add(&p, "%s", "longer");
    assert_int_equal(strlen(p.text), p.len);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_known_what_each_check_reads),
        cmocka_unit_test(words_stand_where_their_numbers_say),
        cmocka_unit_test(a_phrase_lists_words),
        cmocka_unit_test(what_has_no_room_in_a_phrase_is_left_out),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
