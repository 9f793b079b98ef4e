/* The class that a value is an instance of, and the name of a member, in every spelling of old and new interpreters.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "compiled.h"

static const char text[] =
    "policy rows 1;\n"
    "module m {\n"
    "    enum Mode { FAST = \"fast\", SLOW = \"slow\", ONE = 1, YES = true, NIL = none };\n"
    "    flag Perm { R = 4, W = 2, X = 1 };\n"
    "    class Plain new();\n"
    "    class Kind ref;\n"
    "    class Loud call(x: int) because \"test\";\n"
    "    const LIMIT;\n"
    "    func make(x: int) -> m::Plain because \"test\";\n"
    "    func other(x: int) -> elsewhere::Thing because \"test\";\n"
    "}\n"
    "root any | ref m::Kind;\n";

static struct upk_doc *decoded(const struct upk_policy *policy, const char *stream, size_t len) {
    struct upk_doc *doc = NULL;
    struct upk_error err;
    if (!upk_decode(policy, stream, len, NULL, &doc, &err)) fail_msg("%s: %s", stream, err.detail);
    return doc;
}

#define PROTO "\x80\x04"

static uint32_t row_named(const struct upk_policy *p, const char *name) {
    return name ? policy_look_up(p, NEW, "m", name) : 0;
}

static void assert_row(const struct upk_policy *p, const char *stream, size_t len, const char *name) {
    struct upk_doc *doc = decoded(p, stream, len);
    assert_int_equal(upk_value_row(doc, upk_doc_root(doc)), row_named(p, name));
    assert_true(!name || row_named(p, name) != 0);
    upk_doc_free(doc);
}
#define ROW(stream, name) assert_row(p, stream, sizeof(stream) - 1, name)

static void a_value_has_the_row_of_its_class(void **state) {
    const struct upk_policy *p = trial_policy(*state, text);
    ROW(PROTO "cm\nPlain\n)\x81.", "Plain");
    ROW("ccopy_reg\n_reconstructor\n(cm\nPlain\nc__builtin__\nobject\nNtR.", "Plain");
    ROW(PROTO "cm\nmake\nK\x01\x85R.", "Plain");
    ROW(PROTO "cm\nLoud\nK\x01\x85R.", "Loud");
    ROW(PROTO "cm\nother\nK\x01\x85R.", "other"); /* its class has no row */
    ROW(PROTO "cm\nMode\n\x8c\x04"
              "fast\x85R.",
        "Mode");
    ROW(PROTO "cm\nMode.FAST\n.", "Mode");
    ROW("cbuiltins\ngetattr\n(cm\nMode\nVFAST\ntR.", "Mode");
    ROW(PROTO "cm\nPerm\nK\x06\x85R.", "Perm");
    ROW(PROTO "coperator\nor_\ncm\nPerm.R\ncm\nPerm.W\n\x86R.", "Perm");
    ROW(PROTO "c_operator\nor_\ncm\nPerm.R\ncm\nPerm\nK\x02\x85R\x86R.", "Perm");
    ROW(PROTO "cm\nLIMIT\n.", "LIMIT");
    ROW(PROTO "cm\nKind\n.", NULL); /* the class itself is no instance of it */
    ROW(PROTO "]K\x01"
              "a.",
        NULL);
    ROW(PROTO "N.", NULL);
}

static void an_inspected_value_has_no_row(void **state) {
    (void)state;
    static const char stream[] = PROTO "cm\nPlain\n)\x81.";
    struct upk_doc *doc = NULL;
    assert_true(upk_inspect(stream, sizeof stream - 1, NULL, &doc, NULL));
    const char *name;
    size_t len;
    assert_int_equal(upk_value_row(doc, upk_doc_root(doc)), 0);
    assert_false(upk_get_member_name(doc, upk_doc_root(doc), &name, &len));
    upk_doc_free(doc);
}

static void assert_name(const struct upk_policy *p, const char *stream, size_t size, const char *wanted) {
    struct upk_doc *doc = decoded(p, stream, size);
    const char *name = NULL;
    size_t len = 0;
    bool found = upk_get_member_name(doc, upk_doc_root(doc), &name, &len);
    assert_int_equal(found, wanted != NULL);
    if (wanted) {
        assert_int_equal(len, strlen(wanted));
        assert_memory_equal(name, wanted, len);
    }
    upk_doc_free(doc);
}
#define NAME(stream, name) assert_name(p, stream, sizeof(stream) - 1, name)

static void a_member_has_the_name_that_the_policy_gives_its_value(void **state) {
    const struct upk_policy *p = trial_policy(*state, text);
    NAME(PROTO "cm\nMode\n\x8c\x04"
               "slow\x85R.",
         "SLOW");
    NAME(PROTO "cm\nMode.SLOW\n.", "SLOW");
    NAME("cbuiltins\ngetattr\n(cm\nMode\nVSLOW\ntR.", "SLOW");
    NAME(PROTO "cm\nMode\nK\x01\x85R.", "ONE");
    NAME(PROTO "cm\nMode\n\x88\x85R.", "YES");
    NAME(PROTO "cm\nMode\nN\x85R.", "NIL");
    NAME(PROTO "cm\nPerm\nK\x02\x85R.", "W");
    NAME(PROTO "cm\nPerm\nK\x06\x85R.", NULL);
    NAME(PROTO "coperator\nor_\ncm\nPerm.R\ncm\nPerm.W\n\x86R.", NULL);
    NAME(PROTO "cm\nLIMIT\n.", NULL);
    NAME(PROTO "cm\nPlain\n)\x81.", NULL);
    NAME(PROTO "cm\nLoud\nK\x01\x85R.", NULL);
    NAME(PROTO "K\x01.", NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_value_has_the_row_of_its_class),
        TEST(an_inspected_value_has_no_row),
        TEST(a_member_has_the_name_that_the_policy_gives_its_value),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
