/* The names of a table: a name is found under every spelling that its protocol gives it, and under no other.
 *
 * Layer: tests of the compiler's names and key tables, and of runtime/compat_names.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/compat_names.h"
#include "compiled.h"

static void assert_refused(struct trial *f, const char *text, const char *code) {
    assert_false(trial_tables(f, text));
    if (!strstr(f->messages, code)) fail_msg("expected %s in: %s", code, f->messages);
}

static bool row_is(const struct upk_policy *p, uint32_t row, const char *module, const char *name) {
    return row != 0 && policy_text_is(p, p->rows[row].module, module) &&
           policy_text_is(p, p->rows[row].qualname, name);
}

static void a_name_is_found_under_every_spelling_of_its_protocol(void **state) {
    const struct upk_policy *const p = trial_policy(
        *state,
        "policy t 1;\n"
        "module builtins { class Exception call(); class OSError call(); class range call(a: int); }\n"
        "module pathlib { class PosixPath call(parts: str...); }\n"
        "module numpy.core.multiarray { func scalar(d: bytes) -> builtins::Exception because \"t\"; }\n"
        "module collections { class OrderedDict call(); class UserDict new(); }\n"
        "module subprocess { class TimeoutExpired call(); }\n");
    static const struct {
        const char *module, *name, *row_module, *row_name;
        bool old, new;
    } spellings[] = {
        {"builtins", "Exception", "builtins", "Exception", true, true},
        {"exceptions", "Exception", "builtins", "Exception", true, false},
        {"__builtin__", "Exception", "builtins", "Exception", true, false},
        {"__builtin__", "xrange", "builtins", "range", true, false},
        {"__builtin__", "range", "builtins", "range", true, false},
        {"builtins", "xrange", "builtins", "range", false, false},
        {"builtins", "IOError", "builtins", "OSError", true, true},
        {"socket", "error", "builtins", "OSError", true, true},
        {"exceptions", "EnvironmentError", "builtins", "OSError", true, false},
        {"pathlib._local", "PosixPath", "pathlib", "PosixPath", true, true},
        {"pathlib._localx", "PosixPath", "pathlib", "PosixPath", false, false},
        {"numpy.core.multiarray", "scalar", "numpy._core.multiarray", "scalar", true, true},
        {"numpy._core.multiarray", "scalar", "numpy._core.multiarray", "scalar", true, true},
        {"numpy.corex.multiarray", "scalar", "numpy._core.multiarray", "scalar", false, false},
        {"_collections", "OrderedDict", "collections", "OrderedDict", true, true},
        {"UserDict", "UserDict", "collections", "UserDict", true, false},
        {"UserDict", "IterableUserDict", "collections", "UserDict", true, false},
        {"commands", "TimeoutExpired", "subprocess", "TimeoutExpired", true, false},
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const uint32_t old = policy_look_up(p, OLD, spellings[i].module, spellings[i].name);
        const uint32_t new = policy_look_up(p, NEW, spellings[i].module, spellings[i].name);
        if (spellings[i].old != row_is(p, old, spellings[i].row_module, spellings[i].row_name) ||
            spellings[i].new != row_is(p, new, spellings[i].row_module, spellings[i].row_name) ||
            (!spellings[i].old && old) || (!spellings[i].new &&new)) {
            fail_msg("%s::%s is row %u below protocol 3 and %u above", spellings[i].module, spellings[i].name,
                     old, new);
        }
    }
}

static void a_module_that_python_2_used_for_something_else_moves_below_protocol_3(void **state) {
    const struct upk_policy *const p = trial_policy(*state, "policy t 1; module dbm { class error call(); }\n"
                                                            "module dbm.ndbm { class error call(); }\n");
    assert_true(row_is(p, policy_look_up(p, NEW, "dbm", "error"), "dbm", "error"));
    assert_true(row_is(p, policy_look_up(p, OLD, "dbm", "error"), "dbm.ndbm", "error"));
    assert_true(row_is(p, policy_look_up(p, OLD, "anydbm", "error"), "dbm", "error"));
    assert_int_equal(policy_look_up(p, NEW, "anydbm", "error"), 0);
}

static void the_longest_alias_of_a_policy_applies_once(void **state) {
    const struct upk_policy *const p = trial_policy(
        *state,
        "policy t 1; alias a -> x; alias a.b -> y;\n"
        "module x.c { class K call(); } module y.c { class K call(); } module x.b.c { class L call(); }\n");
    assert_true(row_is(p, policy_look_up(p, NEW, "a.c", "K"), "x.c", "K"));
    assert_true(row_is(p, policy_look_up(p, NEW, "a.b.c", "K"), "y.c", "K"));
    assert_true(row_is(p, policy_look_up(p, OLD, "a.b.c", "K"), "y.c", "K"));
    assert_int_equal(policy_look_up(p, NEW, "a.b.c", "L"), 0);
    assert_int_equal(policy_look_up(p, NEW, "ab.c", "K"), 0);
}

static void names_that_only_spell_others_are_known_without_a_grant(void **state) {
    const struct upk_policy *const p = trial_policy(*state, "policy t 1; module app { class C call(); }");
    static const struct {
        const char *old_module, *old_name, *module, *name;
        enum upk_special special;
    } specials[] = {
        {"_codecs", "encode", "_codecs", "encode", UPK_SPECIAL_ENCODE},
        {"__builtin__", "bytes", "builtins", "bytes", UPK_SPECIAL_BYTES},
        {"__builtin__", "bytearray", "builtins", "bytearray", UPK_SPECIAL_BYTEARRAY},
        {"__builtin__", "set", "builtins", "set", UPK_SPECIAL_SET},
        {"__builtin__", "frozenset", "builtins", "frozenset", UPK_SPECIAL_FROZENSET},
        {"__builtin__", "getattr", "builtins", "getattr", UPK_SPECIAL_GETATTR},
        {"__builtin__", "object", "builtins", "object", UPK_SPECIAL_OBJECT},
        {"__builtin__", "long", "builtins", "int", UPK_SPECIAL_INT},
        {"__builtin__", "unicode", "builtins", "str", UPK_SPECIAL_STR},
        {"__builtin__", "float", "builtins", "float", UPK_SPECIAL_FLOAT},
        {"__builtin__", "complex", "builtins", "complex", UPK_SPECIAL_COMPLEX},
        {"__builtin__", "list", "builtins", "list", UPK_SPECIAL_LIST},
        {"__builtin__", "tuple", "builtins", "tuple", UPK_SPECIAL_TUPLE},
        {"__builtin__", "dict", "builtins", "dict", UPK_SPECIAL_DICT},
        {"copy_reg", "_reconstructor", "copyreg", "_reconstructor", UPK_SPECIAL_RECONSTRUCTOR},
        {"copy_reg", "__newobj__", "copyreg", "__newobj__", UPK_SPECIAL_NEWOBJ},
        {"_functools", "partial", "_functools", "partial", UPK_SPECIAL_PARTIAL},
        {"_operator", "or_", "operator", "or_", UPK_SPECIAL_OR},
    };
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const uint32_t old = policy_look_up(p, OLD, specials[i].old_module, specials[i].old_name);
        const uint32_t new = policy_look_up(p, NEW, specials[i].module, specials[i].name);
        assert_int_not_equal(new, 0);
        assert_int_equal(old, new);
        assert_int_equal(p->rows[new].special, specials[i].special);
        assert_int_equal(p->rows[new].flags, 0);
        assert_int_equal(p->rows[new].form_count, 0);
    }
}

static void a_special_name_can_be_granted_too(void **state) {
    const struct upk_policy *const p =
        trial_policy(*state, "policy t 1; module builtins { class list ref; } root ref builtins::list;");
    const struct upk_row *const row = &p->rows[policy_look_up(p, NEW, "builtins", "list")];
    assert_int_equal(row->special, UPK_SPECIAL_LIST);
    assert_int_equal(row->flags, UPK_ROW_CLASS | UPK_ROW_REF);
    assert_int_equal(p->types[p->root].kind, UPK_TYPE_REF);
    assert_int_equal(p->types[p->root].a, policy_look_up(p, NEW, "builtins", "list"));
}

static void prefixes_of_dotted_names_are_known_and_grant_nothing(void **state) {
    const struct upk_policy *const p = trial_policy(
        *state,
        "policy t 1; module m { class A.B.C call(); class A.D call(); class E call(); class E.F call(); }");
    const uint32_t a = policy_look_up(p, NEW, "m", "A"), ab = policy_look_up(p, NEW, "m", "A.B"),
                   e = policy_look_up(p, NEW, "m", "E");
    assert_int_equal(p->rows[a].flags, UPK_ROW_PREFIX);
    assert_int_equal(p->rows[ab].flags, UPK_ROW_PREFIX);
    assert_int_equal(p->rows[e].flags, UPK_ROW_CLASS);
    assert_true(row_is(p, policy_look_up(p, NEW, "m", "A.B.C"), "m", "A.B.C"));
    assert_int_equal(policy_look_up(p, NEW, "m", "A.B.C.D"), 0);
}

static void new_of_a_class_is_known_only_with_keywords(void **state) {
    const struct upk_policy *const p = trial_policy(
        *state, "policy t 1; module m { class O.K new(a: int) kw { b: int }; class N new(a: int); }");
    const uint32_t row = policy_look_up(p, NEW, "m", "O.K.__new__");
    assert_int_equal(p->rows[row].special, UPK_SPECIAL_NEW_OF);
    assert_int_equal(p->rows[row].target, policy_look_up(p, NEW, "m", "O.K"));
    assert_int_equal(policy_look_up(p, NEW, "m", "N.__new__"), 0);
}

static void names_of_256_bytes_can_be_granted(void **state) {
    char text[700], name[257];
    memset(name, 'n', 256);
    name[256] = '\0';
    snprintf(text, sizeof text, "policy t 1; module %s { class %s call(); }", name, name);
    const struct upk_policy *const p = trial_policy(*state, text);
    assert_true(row_is(p, policy_look_up(p, NEW, name, name), name, name));
    name[255] = '\0';
    assert_int_equal(policy_look_up(p, NEW, name, name), 0);
}

static void two_grants_of_one_name_are_an_error(void **state) {
    assert_refused(
        *state,
        "policy t 1;\nmodule numpy.core { class X call(); }\nmodule numpy._core { class X call(); }\n",
        "P0078");
}

static void an_alias_that_leads_to_another_spelling_is_an_error(void **state) {
    assert_refused(*state,
                   "policy t 1;\nalias mine -> _io;\nmodule _io { class BytesIO call(); }\n"
                   "module mine { class StringIO call(); }\n",
                   "P0076");
}

/* ---- Python 2 names */

static int compare_texts(struct upk_compat_text a, struct upk_compat_text b) { return strcmp(a.at, b.at); }

static void python_2_names_are_sorted_and_map_as_the_unpickler_does(void **state) {
    (void)state;
    for (size_t i = 0; i < upk_compat_module_count; i++) {
        const struct upk_compat_module *const m = &upk_compat_modules[i];
        assert_int_equal(m->old.len, strlen(m->old.at));
        assert_int_equal(m->now.len, strlen(m->now.at));
        assert_true(i == 0 || compare_texts(m[-1].old, m->old) < 0);
    }
    for (size_t i = 0; i < upk_compat_pair_count; i++) {
        const struct upk_compat_pair *const p = &upk_compat_pairs[i];
        assert_int_equal(p->name.len, strlen(p->name.at));
        if (i == 0) continue;
        const int c = compare_texts(p[-1].old_module, p->old_module);
        assert_true(c < 0 || (c == 0 && compare_texts(p[-1].old_name, p->old_name) < 0));
    }
    static const struct {
        const char *module, *name, *now_module, *now_name;
    } names[] = {
        {"__builtin__", "unicode", "builtins", "str"},
        {"__builtin__", "frobnicate", "builtins", "frobnicate"},
        {"copy_reg", "_reconstructor", "copyreg", "_reconstructor"},
        {"itertools", "imap", "builtins", "map"},
        {"itertools", "chain", "itertools", "chain"},
        {"datetime", "date", "datetime", "date"},
        {"", "", "", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct upk_compat now;
        const bool mapped = upk_compat_name((const uint8_t *)names[i].module, strlen(names[i].module),
                                            (const uint8_t *)names[i].name, strlen(names[i].name), &now);
        assert_int_equal(now.module_len, strlen(names[i].now_module));
        assert_memory_equal(now.module, names[i].now_module, now.module_len);
        assert_int_equal(now.name_len, strlen(names[i].now_name));
        assert_memory_equal(now.name, names[i].now_name, now.name_len);
        assert_int_equal(mapped, strcmp(names[i].module, names[i].now_module) != 0 ||
                                     strcmp(names[i].name, names[i].now_name) != 0);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_name_is_found_under_every_spelling_of_its_protocol),
        TEST(a_module_that_python_2_used_for_something_else_moves_below_protocol_3),
        TEST(the_longest_alias_of_a_policy_applies_once),
        TEST(names_that_only_spell_others_are_known_without_a_grant),
        TEST(a_special_name_can_be_granted_too),
        TEST(prefixes_of_dotted_names_are_known_and_grant_nothing),
        TEST(new_of_a_class_is_known_only_with_keywords),
        TEST(names_of_256_bytes_can_be_granted),
        TEST(two_grants_of_one_name_are_an_error),
        TEST(an_alias_that_leads_to_another_spelling_is_an_error),
        TEST(python_2_names_are_sorted_and_map_as_the_unpickler_does),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
