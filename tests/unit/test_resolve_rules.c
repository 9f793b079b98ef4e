/* Names that only a host knows: which are asked for and how often, what is made of the answers, and that no spelling, no walk along
 * attributes and no shortage of memory gets past what is denied.
 *
 * Layer: tests of the runtime's resolve.c and of the rows that policyc writes for `fail_open`, over policies compiled in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiled.h"
#include "resolving.h"

static const char open_to_all[] = "policy p 1; root any;\n"
                                  "alias shown -> hidden;\n"
                                  "module app { class Own call(); enum Mode { FAST = 1 }; }\n"
                                  "fail_open until \"2030-01-01\" because \"a test\" {\n"
                                  "    deny app::Denied, module hidden, module os.*;\n"
                                  "}\n";
static const char two_bases[] = "policy p 1; root any;\n"
                                "module app {\n"
                                "    class Own call();\n"
                                "    enum Mode { FAST = 1 };\n"
                                "    subclasses of A call() because \"a test\";\n"
                                "    subclasses of B call(n: int) because \"a test\";\n"
                                "}\n";

static const struct thing things[] = {
    {"app", "Other", UPK_FOUND_CLASS, 0, {OWN("app", "Other")}, {OWN("builtins", "object")}},
    {"app", "Second", UPK_FOUND_CLASS, 0, {OWN("app", "Second")}, {{0}}},
    {"app", "A1", UPK_FOUND_CLASS, 1, {OWN("app", "A1")}, {OWN("app", "A")}},
    {"app", "B1", UPK_FOUND_CLASS, 2, {OWN("app", "B1")}, {OWN("app", "B")}},
    {"app", "Colour", UPK_FOUND_CLASS, 0, {OWN("app", "Colour")}, {OWN("enum", "Enum")}},
    {"app", "Colour.RED", UPK_FOUND_CONST, 0, {OWN("app", "Colour")}, {OWN("enum", "Enum")}},
    {"app", "Mode.SLOW", UPK_FOUND_CONST, 0, {OWN("app", "Mode")}, {OWN("enum", "Enum")}},
    {"app", "MyShell", UPK_FOUND_CLASS, 0, {OWN("app", "MyShell")}, {OWN("subprocess", "Popen")}},
    {"app", "function", UPK_FOUND_OTHER, 0, {OWN("app", "function")}, {{0}}},
    {"app", "Other.Inner", UPK_FOUND_CLASS, 0, {OWN("app", "Other.Inner")}, {{0}}},
    {"app", "Other.leak", UPK_FOUND_CLASS, 0, {OWN("hidden", "Thing")}, {{0}}},
    {"builtins", "range", UPK_FOUND_CLASS, 0, {OWN("builtins", "range")}, {{0}}},
};

/* ---- streams */

#define S(text) text, sizeof(text) - 1
#define OTHER  \
    "\x8c\x03" \
    "app\x8c\x05Other\x93"
#define GETATTR \
    "\x8c\x08"  \
    "builtins\x8c\x07getattr\x93"

static struct upk_error err;
static struct told host;

static unsigned verdict(const struct upk_policy *p, const char *stream, size_t len) {
    host = (struct told){things, sizeof things / sizeof *things, 0, false};
    memset(&err, 0, sizeof err);
    return decide(p, stream, len, UPK_ALLOW_FAIL_OPEN, &host, &err);
}

/* Of the name itself, at protocol 4. */
static unsigned mention(const struct upk_policy *p, const char *module, const char *name) {
    char stream[700];
    const int len = snprintf(stream, sizeof stream, "\x80\x04\x8c%c%s\x8c%c%s\x93.", (char)strlen(module),
                             module, (char)strlen(name), name);
    return verdict(p, stream, (size_t)len);
}

/* ---- questions */

static void each_name_is_one_question_within_the_budget(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    struct upk_policy tight = *p;
    static const char stream[] = "\x80\x04](" OTHER OTHER "\x8c\x03"
                                 "app\x8c\x06Second\x93"
                                 "e.";
    assert_int_equal(verdict(p, S(stream)), 0);
    assert_int_equal(host.questions, 2);
    tight.budgets[UPK_BUDGET_NAMES] = 1;
    assert_int_equal(verdict(&tight, S(stream)), UPK_ERR_BUDGET);
    assert_int_equal(verdict(p, S("c__builtin__\nxrange\n.")), 0); /* the modern name is asked for */
    assert_int_equal(host.questions, 1);
}

static void what_is_known_or_denied_is_not_asked_for(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    char parts[80];
    assert_int_equal(verdict(p, S("\x80\x04\x8c\x03"
                                  "app\x8c\x03Own\x93)R.")),
                     0);
    assert_int_equal(host.questions, 0);
    static const char *const denied[][2] = {
        {"app", "Denied"},   {"app", "Denied.Inner"}, {"q", "app.Denied"},     {"hidden", "X"},
        {"shown", "X"},      {"q", "hidden.X"},       {"q.r", "s.hidden.t.X"}, {"posix", "system"},
        {"os.path", "join"}, {"q", "os.path.join"},   {"nt", "system"},        {"q", "posix.system"}};
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        if (mention(p, denied[i][0], denied[i][1]) != UPK_ERR_DENIED || host.questions != 0)
            fail_msg("%s::%s: %u", denied[i][0], denied[i][1], err.code);
    }
    assert_int_equal(mention(p, "subprocess", "Popen"), UPK_ERR_GLOBAL); /* without a line of its own */
    assert_true(err.dangerous && host.questions == 0);
    memset(parts, '.', sizeof parts);
    for (size_t i = 0; i < sizeof parts; i += 2) parts[i] = 'x';
    parts[sizeof parts - 1] = '\0';
    assert_int_equal(mention(p, "app", parts), UPK_ERR_NOT_FOUND); /* more parts than are looked through */
    assert_int_equal(host.questions, 0);
}

static void ancestors_on_the_closed_list_deny(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    assert_int_equal(mention(p, "app", "MyShell"), UPK_ERR_GLOBAL);
    assert_true(err.dangerous);
    assert_string_equal(err.detail, "it inherits from subprocess::Popen");
    /* Every enum inherits from one that makes classes, and makes none itself. */
    assert_int_equal(mention(p, "app", "Colour"), 0);
    assert_int_equal(mention(p, "app", "Colour.RED"), 0);
}

/* ---- what is made */

static void only_what_was_made_is_changed(void **state) {
    static const struct {
        const char *stream;
        size_t len;
        unsigned code;
    } cases[] = {
        {S("\x80\x04" OTHER ")R."), 0},
        {S("\x80\x04" OTHER ")\x81}b."), 0},
        {S("\x80\x04" OTHER ")}\x92."), 0},
        {S("\x80\x04" OTHER "}b."), UPK_ERR_KIND}, /* a class */
        {S("\x80\x04\x8c\x03"
           "app\x8c\x0a"
           "Colour.RED\x93}b."),
         UPK_ERR_KIND}, /* a const */
        {S("\x80\x04" OTHER "K\x01K\x02s."), UPK_ERR_KIND},
        {S("\x80\x04" OTHER ")R)R."), UPK_ERR_CALLED_VALUE},
        {S("\x80\x04\x8c\x03"
           "app\x8c\x0a"
           "Colour.RED\x93)R."),
         UPK_ERR_RECIPE},
        {S("\x80\x04" OTHER ")R}b}b."), UPK_ERR_BUILD_TWICE},
        {S("\x80\x04" OTHER ")R(K\x01"
           "e."),
         0},
    };
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (verdict(p, cases[i].stream, cases[i].len) != cases[i].code)
            fail_msg("case %zu: %u, not %u", i, err.code, cases[i].code);
    }
}

static void objects_have_the_name_that_the_stream_gives(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    static const char *const streams[] = {
        "capp\nOther\n(tR.", "ccopy_reg\n_reconstructor\n(capp\nOther\nc__builtin__\nobject\nNtR.",
        "ccopy_reg\n__newobj__\n(capp\nOther\ntR.", "(iapp\nOther\n."};
    struct upk_policy all = *p;
    all.opcodes['i'] = UPK_OP_INST;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct told asked = {things, sizeof things / sizeof *things, 0, false};
        const struct upk_options o = {.flags = UPK_ALLOW_FAIL_OPEN, .resolve = told, .resolve_ctx = &asked};
        struct upk_doc *doc;
        const char *module, *name;
        size_t module_len, len;
        assert_true(upk_decode(&all, streams[i], strlen(streams[i]), &o, &doc, &err));
        assert_true(upk_object_class(doc, upk_doc_root(doc), &module, &module_len, &name, &len));
        assert_true(len == 5 && memcmp(name, "Other", len) == 0 && module_len == 3 &&
                    memcmp(module, "app", module_len) == 0);
        upk_doc_free(doc);
    }
}

static void keys_are_told_apart_by_their_names(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    assert_int_equal(verdict(p, S("\x80\x04}(" OTHER "K\x01\x8c\x03"
                                  "app\x8c\x06SecondK\x02\x93K\x02u.")),
                     UPK_ERR_NAME_STRINGS);
    assert_int_equal(verdict(p, S("\x80\x04}(" OTHER "K\x01\x8c\x03"
                                  "app\x8c\x06Second\x93K\x02u.")),
                     0);
    assert_int_equal(verdict(p, S("\x80\x04}(" OTHER "K\x01" OTHER "K\x02u.")), UPK_ERR_EQUAL_KEYS);
}

/* getattr(app.Other, "...") is the dotted name, with all that is said of it. */
static void attributes_are_names(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
#define INNER                GETATTR OTHER "\x8c\x05Inner\x86R"
#define WALK(len, attribute) S("\x80\x04" GETATTR OTHER "\x8c" len attribute "\x86R.")
    assert_int_equal(verdict(p, WALK("\x05", "Inner")), 0);
    assert_int_equal(host.questions, 2);
    struct upk_policy tight = *p; /* each is one question, however the stream gets there */
    tight.budgets[UPK_BUDGET_NAMES] = 3;
    static const char again[] = "\x80\x04(" INNER INNER "\x8c\x03"
                                "app\x8c\x0bOther.Inner\x93t.";
    assert_int_equal(verdict(&tight, S(again)), 0);
    assert_int_equal(host.questions, 2);
    assert_int_equal(verdict(p, WALK("\x04", "leak")), UPK_ERR_DENIED);           /* by its own name */
    assert_int_equal(verdict(p, WALK("\x0e", "__subclasses__")), UPK_ERR_GLOBAL); /* on the closed list */
    assert_int_equal(verdict(p, WALK("\x09", "hidden.X1")), UPK_ERR_SPELLING);    /* getattr takes one step */
    assert_int_equal(verdict(p, WALK("\x00", "")), UPK_ERR_NOT_FOUND);
    /* Step by step into what is denied. */
    assert_int_equal(verdict(p, S("\x80\x04" GETATTR GETATTR OTHER "\x8c\x02os\x86R\x8c\x06system\x86R.")),
                     UPK_ERR_NOT_FOUND);
    assert_int_equal(mention(p, "app", "Other.os.system"), UPK_ERR_DENIED);
#undef WALK
#undef INNER
}

/* ---- rows of classes that every table knows */

static void known_classes_are_made_or_mentioned(void **state) {
    static const struct {
        const char *stream;
        size_t len;
        unsigned code;
    } cases[] = {
        {S("c__builtin__\ncomplex\n(F1\nF2\ntR."), 0},
        {S("c__builtin__\nobject\n(tR."), 0},
        {S("ccopy_reg\n_reconstructor\n(c__builtin__\nobject\nc__builtin__\nobject\nNtR."), 0},
        {S("\x80\x04\x8c\x08"
           "builtins\x8c\x06object\x93)\x81."),
         0},
        {S("(lc__builtin__\nint\nac__builtin__\nlong\nac__builtin__\nunicode\na."), 0},
        {S("c__builtin__\nint\n(tR."), UPK_ERR_RECIPE}, /* mentioned alone */
        {S("c__builtin__\nset\n((ltR."), 0},            /* data, as ever */
        {S("c__builtin__\nint\n}b."), UPK_ERR_KIND},
        {S("c__builtin__\ngetattr\n."), UPK_ERR_SPELLING}, /* a function: it only spells other things */
        {S("ccopy_reg\n_reconstructor\n."), UPK_ERR_SPELLING},
    };
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned code = verdict(p, cases[i].stream, cases[i].len);
        if (code != cases[i].code || host.questions != 0)
            fail_msg("case %zu: %u, %zu questions", i, code, host.questions);
    }
}

/* ---- grant lines */

static void refusals_say_which_row_would_do(void **state) {
    static const struct {
        const char *module, *name, *grant;
        unsigned code;
    } cases[] = {
        {"gone", "Thing", "module gone { class Thing call(args: any...) because \"TODO\"; }",
         UPK_ERR_NOT_LOADED},
        {"app", "Missing", "module app { class Missing call(args: any...) because \"TODO\"; }",
         UPK_ERR_NOT_FOUND},
        {"app", "Other", "module app { class Other call(args: any...) because \"TODO\"; }",
         UPK_ERR_NOT_SUBCLASS},
        {"app", "function",
         "module app { func function(args: any...) -> builtins::object because \"TODO\"; }",
         UPK_ERR_NOT_CLASS},
        {"app", "Mode.SLOW", "", UPK_ERR_NOT_CLASS},
        {"posix", "system", "", UPK_ERR_GLOBAL},
    };
    const struct upk_policy *const p = trial_policy(*state, two_bases);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char grant[300];
        assert_int_equal(mention(p, cases[i].module, cases[i].name), cases[i].code);
        (void)upk_error_grant(&err, grant, sizeof grant);
        assert_string_equal(grant, cases[i].grant);
    }
    assert_int_equal(mention(p, "app", "Mode.SLOW"), UPK_ERR_NOT_CLASS);
    assert_non_null(strstr(err.change, "add `SLOW` to the members of `app::Mode` at test.policy:4"));
    /* The row is the whole one where the stream was looked at. */
    static const char stream[] = "\x80\x04\x8c\x03"
                                 "app\x8c\x05Other\x93K\x01\x85R}b.";
    char grant[300];
    assert_int_equal(verdict(p, S(stream)), UPK_ERR_NOT_SUBCLASS);
    upk_error_observe(&err, p, S(stream), NULL);
    (void)upk_error_grant(&err, grant, sizeof grant);
    assert_string_equal(grant, "module app { class Other call(a: any) state any because \"TODO\"; }");
}

/* ---- hosts that build nothing */

static void an_inert_name_of_several_bases_is_refused(void **state) {
    static const char own[] = "capp\nOwn\n(tR.", one[] = "capp\nA1\n(tR.";
    const struct upk_policy *const p = trial_policy(*state, two_bases);
    assert_int_equal(decide(p, S(own), 0, NULL, &err), UPK_ERR_RESOLVER);
    assert_int_equal(decide(p, S(own), UPK_INERT_NAMES, NULL, &err), 0);
    assert_int_equal(decide(p, S(one), UPK_INERT_NAMES, NULL, &err), UPK_ERR_RESOLVER);
    assert_string_equal(err.name, "A1");
    /* A host that tells which has no such doubt. */
    assert_int_equal(verdict(p, S(one)), 0);
    assert_int_equal(verdict(p, S("capp\nB1\n(I1\ntR.")), 0);
    assert_int_equal(verdict(p, S("capp\nA1\n(I1\ntR.")), UPK_ERR_RECIPE);
}

/* ---- shortage */

struct allowance {
    size_t left;
};

static void *resize(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct allowance *const a = ctx;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (a->left == 0) return NULL;
    a->left--;
    return realloc(block, new_size);
}

static void every_shortage_of_memory_is_a_refusal(void **state) {
    const struct upk_policy *const p = trial_policy(*state, open_to_all);
    static const char good[] = "\x80\x04(" OTHER ")R}b" GETATTR OTHER "\x8c\x05Inner\x86R\x8c\x03"
                               "app\x8c\x06Second\x93)\x81t.";
    size_t refused = 0;
    for (size_t most = 0;; most++) {
        struct allowance allowance = {most};
        const struct upk_allocator allocator = {resize, &allowance};
        struct told asked = {things, sizeof things / sizeof *things, 0, false};
        const struct upk_options o = {
            .allocator = &allocator, .flags = UPK_ALLOW_FAIL_OPEN, .resolve = told, .resolve_ctx = &asked};
        struct upk_doc *doc = NULL;
        const bool accepted = upk_decode(p, S(good), &o, &doc, &err);
        upk_doc_free(doc);
        if (accepted) break;
        assert_int_equal(err.code, UPK_ERR_MEMORY);
        refused++;
    }
    assert_true(refused > 3);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_name_is_one_question_within_the_budget),
        TEST(what_is_known_or_denied_is_not_asked_for),
        TEST(ancestors_on_the_closed_list_deny),
        TEST(only_what_was_made_is_changed),
        TEST(objects_have_the_name_that_the_stream_gives),
        TEST(keys_are_told_apart_by_their_names),
        TEST(attributes_are_names),
        TEST(known_classes_are_made_or_mentioned),
        TEST(refusals_say_which_row_would_do),
        TEST(an_inert_name_of_several_bases_is_refused),
        TEST(every_shortage_of_memory_is_a_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
