/* Names that only a host knows: what a host that tells anything at all is believed, and with which code the rest is refused.
 *
 * Layer: tests of the runtime's resolve.c, over policies compiled in memory and a host of a few names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"
#include "resolving.h"

static const char subclasses[] = "policy p 1; root any;\n"
                                 "never app::Secret, module vault.*;\n"
                                 "module app {\n"
                                 "    subclasses of Error call(text: str) because \"any of ours\";\n"
                                 "    class Exact call(n: int);\n"
                                 "}\n";
static const char fail_open[] =
    "policy p 1; root any;\n"
    "never app::Secret;\n"
    "module app {\n"
    "    subclasses of Error call(text: str) because \"any of ours\";\n"
    "    class os_like call();\n"
    "}\n"
    "fail_open until \"2030-01-01\" because \"a test\" {\n"
    "    deny module os.*, module pickle, app::Denied, thread::start_new_thread;\n"
    "    deny module app.inner;\n"
    "}\n";

static const struct thing things[] = {
    {"app", "Mine", UPK_FOUND_CLASS, 1, {OWN("app", "Mine")}, {OWN("app", "Error")}},
    {"app", "Other", UPK_FOUND_CLASS, 0, {OWN("app", "Other")}, {{0}}},
    {"app", "function", UPK_FOUND_OTHER, 0, {OWN("app", "function")}, {{0}}},
    {"app", "MEMBER", UPK_FOUND_CONST, 0, {OWN("app", "Colour.MEMBER")}, {{0}}},
    {"app", "Stolen", UPK_FOUND_CLASS, 1, {OWN("os", "_wrap_close")}, {OWN("app", "Error")}},
    {"app", "Borrowed", UPK_FOUND_CLASS, 0, {OWN("subprocess", "Popen")}, {{0}}},
    {"app", "Heir", UPK_FOUND_CLASS, 1, {OWN("app", "Heir")}, {OWN("app", "Error"), OWN("app", "Denied")}},
    {"app",
     "Child",
     UPK_FOUND_CLASS,
     1,
     {OWN("app", "Child")},
     {OWN("app", "Error"), OWN("app.inner", "Base")}},
    {"app",
     "Secrets",
     UPK_FOUND_CLASS,
     1,
     {OWN("app", "Secrets")},
     {OWN("app", "Secret"), OWN("app", "Error")}},
    {"app", "Lying", UPK_FOUND_CLASS, 77, {OWN("app", "Lying")}, {{0}}},
    {"app", "os.path.join", UPK_FOUND_CLASS, 0, {OWN("app", "x")}, {{0}}},
    {"app", "Deep.Class", UPK_FOUND_CLASS, 1, {OWN("app", "Deep.Class")}, {{0}}},
};

/* Of `module::name("x")`. */
static unsigned call(const struct upk_policy *p, const char *module, const char *name) {
    char stream[600];
    struct upk_error err;
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    const int len = snprintf(stream, sizeof stream, "c%s\n%s\n(VX\ntR.", module, name);
    return decide(p, stream, (size_t)len, UPK_ALLOW_FAIL_OPEN, &host, &err);
}

static unsigned mention(const struct upk_policy *p, const char *module, const char *name) {
    char stream[600];
    struct upk_error err;
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    const int len = snprintf(stream, sizeof stream, "c%s\n%s\n.", module, name);
    return decide(p, stream, (size_t)len, UPK_ALLOW_FAIL_OPEN, &host, &err);
}

static void answers_of_a_host_are_judged(void **state) {
    const struct upk_policy *const p = trial_policy(*state, subclasses);
    assert_int_equal(call(p, "app", "Mine"), 0);
    assert_int_equal(call(p, "app", "Deep.Class"), 0);
    assert_int_equal(call(p, "app", "Other"), UPK_ERR_NOT_SUBCLASS);
    assert_int_equal(call(p, "app", "Lying"), UPK_ERR_NOT_SUBCLASS);
    assert_int_equal(call(p, "app", "function"), UPK_ERR_NOT_CLASS);
    assert_int_equal(call(p, "app", "MEMBER"), UPK_ERR_NOT_CLASS);
    assert_int_equal(call(p, "app", "nothing"), UPK_ERR_NOT_FOUND);
    assert_int_equal(call(p, "gone", "Mine"), UPK_ERR_NOT_LOADED);
    /* A class is made, not mentioned. */
    assert_int_equal(mention(p, "app", "Mine"), UPK_ERR_ROOT);
}

static void a_row_of_its_own_wins(void **state) {
    const struct upk_policy *const p = trial_policy(*state, subclasses);
    static const char good[] = "capp\nExact\n(I1\ntR.", bad[] = "capp\nExact\n(VX\ntR.";
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    struct upk_error err;
    assert_int_equal(decide(p, good, sizeof good - 1, 0, &host, &err), 0);
    assert_int_equal(decide(p, bad, sizeof bad - 1, 0, &host, &err), UPK_ERR_RECIPE);
    assert_int_equal(host.questions, 0);
}

static void never_wins_over_all(void **state) {
    const struct upk_policy *const p = trial_policy(*state, subclasses);
    assert_int_equal(call(p, "app", "Secret"), UPK_ERR_DENIED);
    assert_int_equal(call(p, "app", "Secret.Inner"), UPK_ERR_DENIED);
    assert_int_equal(call(p, "app", "Secrets"), UPK_ERR_DENIED); /* inherits from it */
    assert_int_equal(call(p, "vault", "Any"), UPK_ERR_DENIED);
    assert_int_equal(call(p, "vault.deep", "Any"), UPK_ERR_DENIED);
    assert_int_equal(call(p, "app", "vault.Any"), UPK_ERR_DENIED); /* what is reached through it */
}

static void names_are_denied_however_they_are_written(void **state) {
    static const char *const denied[][2] = {
        {"os", "system"},
        {"os.path", "join"},
        {"posix", "system"},
        {"posixpath", "join"},
        {"app", "os.path.join"},
        {"app", "Denied"},
        {"app", "Denied.Inner"},
        {"thread", "start_new_thread"},
        {"_thread", "start_new_thread"},
        {"cPickle", "loads"},
        {"pickle", "Unpickler"},
        {"_pickle", "loads"},
        {"app.inner", "Any"},
        {"app", "inner.Any"},
    };
    const struct upk_policy *const p = trial_policy(*state, fail_open);
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        const unsigned code = call(p, denied[i][0], denied[i][1]);
        if (code != UPK_ERR_DENIED) fail_msg("%s::%s: %u", denied[i][0], denied[i][1], code);
    }
    assert_int_equal(call(p, "app.inner.deep", "Any"), UPK_ERR_NOT_FOUND); /* `module m` is no tree */
    assert_int_equal(call(p, "osmosis", "Any"), UPK_ERR_NOT_FOUND);
}

static void own_names_are_denied(void **state) {
    const struct upk_policy *const p = trial_policy(*state, fail_open);
    struct upk_error err;
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    static const char stolen[] = "capp\nStolen\n.";
    assert_int_equal(call(p, "app", "Stolen"), UPK_ERR_DENIED);
    assert_int_equal(call(p, "app", "Heir"), UPK_ERR_DENIED);
    assert_int_equal(call(p, "app", "Child"),
                     0); /* that a module is denied says nothing of heirs elsewhere */
    assert_int_equal(call(p, "app", "Borrowed"), UPK_ERR_GLOBAL);
    assert_int_equal(decide(p, stolen, sizeof stolen - 1, UPK_ALLOW_FAIL_OPEN, &host, &err), UPK_ERR_DENIED);
    assert_string_equal(err.detail, "here it is os::_wrap_close");
    assert_string_equal(err.rule, "test.policy:8");
}

static void a_policy_that_fails_open_takes_classes_and_consts(void **state) {
    const struct upk_policy *const p = trial_policy(*state, fail_open);
    assert_int_equal(call(p, "app", "Other"), 0);
    assert_int_equal(mention(p, "app", "Other"), 0);
    assert_int_equal(mention(p, "app", "MEMBER"), 0);
    assert_int_equal(call(p, "app", "MEMBER"), UPK_ERR_RECIPE);
    assert_int_equal(call(p, "app", "function"), UPK_ERR_NOT_CLASS);
    assert_int_equal(mention(p, "app", "function"), UPK_ERR_NOT_CLASS);
    assert_int_equal(call(p, "fail_open", "class"), UPK_ERR_NOT_FOUND); /* what rows are called is no name */
    assert_int_equal(call(p, "app", "subclasses of Error"), UPK_ERR_NOT_FOUND);
}

static void nothing_is_decoded_without_consent_and_a_host(void **state) {
    static const char none[] = "N.", mine[] = "capp\nMine\n(VX\ntR.";
    const struct upk_policy *const p = trial_policy(*state, fail_open);
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    struct upk_error err;
    assert_int_equal(decide(p, none, 2, 0, &host, &err), UPK_ERR_CONSENT);
    assert_int_equal(decide(p, none, 2, UPK_INERT_NAMES, NULL, &err), UPK_ERR_CONSENT);
    assert_int_equal(decide(p, none, 2, UPK_ALLOW_FAIL_OPEN, NULL, &err), UPK_ERR_RESOLVER);
    assert_int_equal(decide(p, none, 2, UPK_ALLOW_FAIL_OPEN, &host, &err), 0);
    assert_int_equal(decide(p, mine, sizeof mine - 1, UPK_ALLOW_FAIL_OPEN | UPK_INERT_NAMES, NULL, &err), 0);
    host.dumb = true;
    assert_int_equal(decide(p, mine, sizeof mine - 1, UPK_ALLOW_FAIL_OPEN, &host, &err), UPK_ERR_RESOLVE);
}

static void subclasses_alone_need_no_consent(void **state) {
    static const char mine[] = "capp\nMine\n(VX\ntR.", secret[] = "capp\nSecret\n(VX\ntR.";
    const struct upk_policy *const p = trial_policy(*state, subclasses);
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    struct upk_error err;
    assert_int_equal(decide(p, mine, sizeof mine - 1, 0, &host, &err), 0);
    assert_int_equal(decide(p, mine, sizeof mine - 1, 0, NULL, &err), UPK_ERR_RESOLVER);
    assert_int_equal(decide(p, mine, sizeof mine - 1, UPK_INERT_NAMES, NULL, &err), 0);
    assert_int_equal(decide(p, secret, sizeof secret - 1, UPK_INERT_NAMES, NULL, &err), UPK_ERR_DENIED);
}

static void names_of_one_stream_are_asked_once_and_counted(void **state) {
    static const char twice[] = "(capp\nMine\n(VX\ntRcapp\nMine\n(VY\ntRt.";
    const struct upk_policy *const p = trial_policy(*state, subclasses);
    struct told host = {things, sizeof things / sizeof *things, 0, false};
    struct upk_error err;
    assert_int_equal(decide(p, twice, sizeof twice - 1, 0, &host, &err), 0);
    assert_int_equal(host.questions, 1);
}

static void tables_of_opens_are_checked(void **state) {
    struct upk_policy p = *trial_policy(*state, fail_open);
    struct upk_open opens[4];
    struct upk_error err;
    assert_int_equal(p.open_count, 4);
    memcpy(opens, p.opens, sizeof opens);
    p.opens = opens;
    opens[1].kind = UPK_OPEN_CONST + 1;
    assert_false(upk_policy_check(&p, &err));
    opens[1] = opens[2];
    assert_false(upk_policy_check(&p, &err));
    opens[1] = ((struct trial *)*state)->tables.policy.opens[1];
    assert_true(upk_policy_check(&p, &err));
    opens[1].row = 1;
    assert_false(upk_policy_check(&p, &err));
    opens[1] = ((struct trial *)*state)->tables.policy.opens[1];
    p.flags &= ~(uint32_t)UPK_POLICY_FAIL_OPEN;
    assert_false(upk_policy_check(&p, &err));
    p.flags |= UPK_POLICY_FAIL_OPEN;
    p.until.len = 0;
    assert_false(upk_policy_check(&p, &err));
    p.until.len = 10;
    p.deny_count = 0;
    assert_false(upk_policy_check(&p, &err));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(answers_of_a_host_are_judged),
        TEST(a_row_of_its_own_wins),
        TEST(never_wins_over_all),
        TEST(names_are_denied_however_they_are_written),
        TEST(own_names_are_denied),
        TEST(a_policy_that_fails_open_takes_classes_and_consts),
        TEST(nothing_is_decoded_without_consent_and_a_host),
        TEST(subclasses_alone_need_no_consent),
        TEST(names_of_one_stream_are_asked_once_and_counted),
        TEST(tables_of_opens_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
