/* Every code of refusal, each by a smallest stream that gets it: code, class, place, opcode, and what the refusal says.
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

/* The policy that most streams are held against; the lines of its rules are in the table below. */
static const char wide[] = "policy wide 7;\n"
                           "opcodes core, python2, inst, persid, buffer, dup;\n"
                           "module m {\n"
                           "    class New new(x: int);\n"
                           "    class State new() state any because \"test\";\n"
                           "    class Call call() state any because \"test\";\n"
                           "    class List call(x: list<any>) because \"test\";\n"
                           "    class Zone call(key: str) check zoneinfo;\n"
                           "}\n"
                           "root any;\n";

static const char narrow[] = "policy narrow 2;\n"
                             "channel c {\n"
                             "    protocol 0..3;\n"
                             "    budget marks 1;\n"
                             "    root { a: list<int> };\n"
                             "}\n";

enum { ALL_FAMILIES = (1 << UPK_FAMILY_COUNT) - 1 };

struct refusal {
    const char *policy; /* its text; NULL: inspected, all opcodes allowed */
    const char *stream;
    size_t len;
    const char *cls;
    size_t offset;
    enum upk_op op; /* UPK_OP_UNKNOWN: none */
    /* NULL: "" for names, rule, change, grant and file kind, "$" for the path ("*": any), nothing looked at for the detail */
    const char *path, *module, *name, *rule, *change, *grant, *file_kind, *detail;
};

#define STREAM(literal) .stream = (literal), .len = sizeof(literal) - 1

/* One place for each code, so that a missing one shows. */
enum code_place {
#define UPK_X(number, name, cls, sentence) AT_##name,
    UPK_CODES(UPK_X)
#undef UPK_X
        PLACES
};

static const struct refusal refusals[PLACES] = {
    [AT_TRUNCATED] = {wide, STREAM(""), "truncated", 0, UPK_OP_UNKNOWN, .file_kind = "empty"},
    [AT_LENGTH] = {wide, STREAM("U\x01"), "truncated", 0, UPK_OP_SHORT_BINSTRING},
    [AT_OPCODE_UNKNOWN] = {wide, STREAM("\xff"), "opcode", 0, UPK_OP_UNKNOWN},
    [AT_PROTOCOL_NUMBER] = {wide, STREAM("\x80\x06"), "protocol", 0, UPK_OP_PROTO},
    [AT_PROTOCOL_PLACE] = {wide, STREAM("N\x80\x02"), "protocol", 1, UPK_OP_PROTO},
    [AT_PROTOCOL_OPCODE] = {wide, STREAM("\x88"), "protocol", 0, UPK_OP_NEWTRUE},
    [AT_FRAME] = {wide, STREAM("\x80\x04\x95\x09\0\0\0\0\0\0\0\x95\0\0\0\0\0\0\0\0"), "protocol", 11,
                  UPK_OP_FRAME},
    [AT_FRAME_CROSSED] = {wide, STREAM("\x80\x04\x95\x01\0\0\0\0\0\0\0K\x01"), "protocol", 11,
                          UPK_OP_BININT1},
    [AT_NUMBER] = {wide, STREAM("I\n"), "argument", 0, UPK_OP_INT},
    [AT_UTF8] = {wide, STREAM("c\xff\n\n"), "argument", 0, UPK_OP_GLOBAL},
    [AT_ESCAPE] = {wide, STREAM("V\\u\n"), "argument", 0, UPK_OP_UNICODE},
    [AT_NEGATIVE] = {wide, STREAM("T\xff\xff\xff\xff"), "argument", 0, UPK_OP_BINSTRING},
    [AT_QUOTES] = {wide, STREAM("S\n"), "argument", 0, UPK_OP_STRING},
    [AT_PERSID_ASCII] = {wide, STREAM("P\xff\n"), "argument", 0, UPK_OP_PERSID},
    [AT_EXT_CODE] = {NULL, STREAM("\x80\x02\x82\0"), "argument", 2, UPK_OP_EXT1},
    [AT_BUFFER_MISSING] = {wide, STREAM("\x80\x05\x97"), "argument", 2, UPK_OP_NEXT_BUFFER,
                           .detail = "buffer 0 of 0"},
    [AT_UNDERFLOW] = {wide, STREAM("0"), "stack", 0, UPK_OP_POP},
    [AT_MARK_IN_THE_WAY] = {wide, STREAM("(a"), "stack", 1, UPK_OP_APPEND},
    [AT_NO_MARK] = {wide, STREAM("t"), "stack", 0, UPK_OP_TUPLE},
    [AT_ODD] = {wide, STREAM("(Nd"), "stack", 2, UPK_OP_DICT},
    [AT_LEFT_OVER] = {wide, STREAM("NN."), "stack", 2, UPK_OP_STOP, .detail = "2 values"},
    [AT_NO_CLASS] = {wide, STREAM("(o"), "stack", 1, UPK_OP_OBJ},
    [AT_MEMO_UNSET] = {wide, STREAM("h\0"), "memo", 0, UPK_OP_BINGET},
    [AT_MEMO_TWICE] = {wide, STREAM("Nq\0q\0"), "memo", 3, UPK_OP_BINPUT},
    [AT_MEMO_FAR] = {wide, STREAM("Nq\x09"), "memo", 1, UPK_OP_BINPUT},
    [AT_KIND] = {wide, STREAM("NNa"), "kind", 2, UPK_OP_APPEND, .detail = "APPEND on a None"},
    [AT_UNHASHABLE] = {wide, STREAM("(]Nd"), "kind", 3, UPK_OP_DICT, .path = "*"},
    [AT_CALLABLE] = {wide, STREAM("N)R"), "kind", 2, UPK_OP_REDUCE, .detail = "found a None"},
    [AT_ARGUMENTS] = {wide, STREAM("cm\nNew\nNR"), "kind", 8, UPK_OP_REDUCE, .detail = "found a None"},
    [AT_KEYWORDS] = {wide,
                     STREAM("\x80\x04"
                            "cm\nNew\n)N\x92"),
                     "kind", 11, UPK_OP_NEWOBJ_EX, .detail = "found a None"},
    [AT_NAME_STRINGS] = {wide, STREAM("\x80\x04NN\x93"), "kind", 4, UPK_OP_STACK_GLOBAL,
                         .detail = "found None and None"},
    [AT_TRAILING] = {wide, STREAM("N.."), "trailing", 2, UPK_OP_UNKNOWN, .detail = "1 bytes"},

    [AT_GLOBAL] = {wide, STREAM("cx\nY\n"), "global", 0, UPK_OP_GLOBAL, .module = "x", .name = "Y",
                   .grant = "module x { class Y call(args: any...) because \"TODO\"; }"},
    [AT_NAME_LENGTH] = {wide, STREAM("c\n\n"), "global", 0, UPK_OP_GLOBAL},
    [AT_OPCODE_REFUSED] = {narrow, STREAM("2"), "opcode", 0, UPK_OP_DUP, .detail = "DUP",
                           .change =
                               "allow dup in `opcodes` of channel c, and of the policy where that says less"},
    [AT_PROTOCOL_REFUSED] =
        {narrow, STREAM("\x80\x04"), "protocol", 0, UPK_OP_PROTO,
         .detail = "stream of protocol 4, policy allows 0..3",
         .change = "widen `protocol 0..3` to `0..4` of channel c, and of the policy where that says less"},
    [AT_RECIPE] = {wide, STREAM("]cm\nNew\n)Ra."), "recipe", 9, UPK_OP_REDUCE, .path = "$[0]", .module = "m",
                   .name = "New", .rule = "test.policy:4",
                   .change = "the row at test.policy:4, if this object is meant",
                   .detail = "called, which no form allows"},
    [AT_SPELLING] = {wide, STREAM("c__builtin__\ngetattr\n."), "recipe", 21, UPK_OP_STOP},
    [AT_BUILD_TWICE] = {wide,
                        STREAM("\x80\x02"
                               "cm\nState\n)\x81NbNb"),
                        "recipe", 16, UPK_OP_BUILD},
    [AT_LATE_CHANGE] = {wide, STREAM("cm\nList\n(]q\0tRh\0Na"), "recipe", 17, UPK_OP_APPEND,
                        .detail = "APPEND on a list"},
    [AT_STEP] = {wide,
                 STREAM("\x80\x02"
                        "cm\nNew\n)\x81Nb"),
                 "recipe", 12, UPK_OP_BUILD, .module = "m", .name = "New", .rule = "test.policy:4",
                 .change = "add `state` to the row at test.policy:4, if this object is meant"},
    [AT_EQUAL_KEYS] = {wide, STREAM("(NNNNd"), "recipe", 5, UPK_OP_DICT},
    [AT_INCOMPLETE] = {wide, STREAM("}cm\nCall\n)Rq\0Nsh\0Nb"), "kind", 18, UPK_OP_BUILD, .path = "*",
                       .module = "m", .name = "Call", .rule = "test.policy:6", .detail = "BUILD"},
    [AT_ROOT] = {narrow, STREAM("}Va\n](I1\nNes."), "root", 12, UPK_OP_STOP, .path = "$.a[1]",
                 .change = "`$.a[1]` in the type of `root` of channel c, if this value is meant"},
    [AT_CYCLE] = {wide, STREAM("]2a."), "root", 3, UPK_OP_STOP,
                  .change = "add `cyclic` behind the type of `root`"},
    [AT_CALLED_VALUE] = {wide, STREAM("cm\nCall\n)R)R"), "recipe", 11, UPK_OP_REDUCE},
    [AT_NATIVE] = {wide, STREAM("]cm\nZone\n(V.\ntRa."), "native", 14, UPK_OP_REDUCE, .path = "$[0]",
                   .module = "m", .name = "Zone", .rule = "test.policy:8",
                   .detail = "zone key: the byte at 0 is in no zone's name"},
    [AT_PERSID_REFUSED] = {wide, STREAM("P\n"), "kind", 0, UPK_OP_PERSID},
    [AT_BUDGET] = {narrow, STREAM("(("), "limit", 1, UPK_OP_MARK,
                   .change = "raise `budget marks` from 1 to at least 2 of channel c, and of the policy "
                             "where that says less"},
};

/* Those that no stream gets; they have tests of their own below. */
static const enum code_place without_stream[] = {
    AT_MEMORY, AT_MISUSE, AT_TABLE, AT_READ /* test_incremental.c */,
    /* of the CPython host: tests/test_python_*.py */
    AT_UNBOUND, AT_BINDING, AT_BUILDING, AT_HASHES,
    /* of a host that is asked: test_resolve.c, test_resolve_rules.c */
    AT_NOT_LOADED, AT_NOT_FOUND, AT_NOT_CLASS, AT_NOT_SUBCLASS, AT_DENIED, AT_CONSENT, AT_RESOLVER,
    AT_RESOLVE,
    /* of a child: test_environment.c, tests/test_upk_run.py */
    AT_ENV_NONE, AT_ENV_NAME, AT_ENV_MANIFEST, AT_ENV_NEVER, AT_ENV_VALUE, AT_ENV_TWICE, AT_ENV_SOURCE,
    AT_ENV_UNSET, AT_ENV_SIZE, AT_ENV_HOME, AT_RUN_UNCONFINED, AT_RUN_STATE, AT_RUN_START, AT_RUN_TIME,
    AT_RUN_CHILD, AT_RUN_EMPTY, AT_RUN_STOPPED};

static const struct {
    unsigned code;
    const char *name;
} codes[PLACES] = {
#define UPK_X(number, name, cls, sentence) {number, #name},
    UPK_CODES(UPK_X)
#undef UPK_X
};

static bool refuse_persid(void *ctx, struct upk_value id) {
    (void)ctx;
    (void)id;
    return false;
}

static void get_refused(const struct refusal *r, const struct upk_policy *policy, struct upk_error *err) {
    struct upk_options options = {
        .flags = UPK_FAMILY_FLAGS, .families = ALL_FAMILIES, .persid = refuse_persid};
    struct upk_doc *doc = NULL;
    memset(err, 0xff, sizeof *err);
    bool ok = policy ? upk_decode(policy, r->stream, r->len, &options, &doc, err)
                     : upk_inspect(r->stream, r->len, &options, &doc, err);
    if (ok) memset(err, 0, sizeof *err);
    upk_doc_free(doc);
}

static unsigned compare(const char *code, const char *what, const char *found, const char *wanted) {
    if (strcmp(found, wanted) == 0) return 0;
    print_error("%s: %s is `%s', expected `%s'\n", code, what, found, wanted);
    return 1;
}

static unsigned compare_figures(const char *code, const char *what, size_t found, size_t wanted) {
    if (found == wanted) return 0;
    print_error("%s: %s is %zu, expected %zu\n", code, what, found, wanted);
    return 1;
}

/* How much of the refusal differs. */
static unsigned compare_refusal(size_t place, const struct upk_policy *policy) {
    const struct refusal *r = &refusals[place];
    const char *code = codes[place].name;
    struct upk_error err;
    char grant[400];
    get_refused(r, policy, &err);
    unsigned wrong = compare_figures(code, "code", err.code, codes[place].code);
    if (wrong) {
        print_error("%s: %s\n", code, err.code ? err.detail : "accepted");
        return wrong;
    }
    (void)upk_error_grant(&err, grant, sizeof grant);
    wrong += compare(code, "class", upk_class_word(err.cls), r->cls);
    wrong += compare_figures(code, "offset", (size_t)err.offset, r->offset);
    wrong += compare(code, "opcode", upk_op_name(err.opcode), upk_op_name(r->op));
    const char *path = r->path ? r->path : "$";
    wrong += compare(code, "path", err.path, strcmp(path, "*") == 0 ? err.path : path);
    wrong += compare(code, "module", err.module, r->module ? r->module : "");
    wrong += compare(code, "name", err.name, r->name ? r->name : "");
    wrong += compare(code, "rule", err.rule, r->rule ? r->rule : "");
    wrong += compare(code, "change", err.change, r->change ? r->change : "");
    wrong += compare(code, "grant", grant, r->grant ? r->grant : "");
    wrong += compare(code, "file kind", err.file_kind, r->file_kind ? r->file_kind : "");
    if (r->detail) wrong += compare(code, "detail", err.detail, r->detail);
    wrong += compare(code, "policy", err.policy,
                     r->policy == wide     ? "policy wide 7"
                     : r->policy == narrow ? "channel c of policy narrow 2"
                                           : "");
    return wrong;
}

static void streams_get_the_refusal_that_is_theirs(void **state) {
    (void)state;
    const char *const texts[] = {wide, narrow, NULL};
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct trial trial;
        trial_init(&trial);
        const struct upk_policy *policy = texts[i] ? trial_policy(&trial, texts[i]) : NULL;
        for (size_t place = 0; place < PLACES; place++)
            if (refusals[place].stream && refusals[place].policy == texts[i])
                wrong += compare_refusal(place, policy);
        trial_free(&trial);
    }
    assert_int_equal(wrong, 0);
}

static void every_code_has_a_stream_or_a_reason_to_have_none(void **state) {
    (void)state;
    for (size_t place = 0; place < PLACES; place++) {
        bool excused = false;
        for (size_t i = 0; i < sizeof without_stream / sizeof *without_stream; i++)
            excused |= without_stream[i] == place;
        if (excused == (refusals[place].stream != NULL)) fail_msg("%s", codes[place].name);
    }
}

/* A dangerous name gets no grant line, and the message says why; a name of 256 bytes can be asked for, one more not. */
static void names_are_refused_with_reasons(void **state) {
    const struct upk_policy *policy = trial_policy(*state, "policy p 1;");
    struct upk_error err;
    char text[400];
    assert_false(upk_check(policy, "cos\nsystem\n", 11, NULL, &err));
    assert_int_equal(err.code, UPK_ERR_GLOBAL);
    assert_int_equal(err.dangerous, 1);
    assert_int_equal(upk_error_grant(&err, text, sizeof text), 0);
    assert_string_equal(text, "");
    (void)upk_error_message(&err, text, sizeof text);
    assert_string_equal(text, "global os::system is not granted, and no policy should grant it");

    char stream[300] = "c";
    memset(stream + 1, 'm', 257);
    memcpy(stream + 1 + 256, "\nn\n", 3);
    assert_false(upk_check(policy, stream, 260, NULL, &err));
    assert_int_equal(err.code, UPK_ERR_GLOBAL);
    memcpy(stream + 1 + 256, "m\nn\n", 4);
    assert_false(upk_check(policy, stream, 261, NULL, &err));
    assert_int_equal(err.code, UPK_ERR_NAME_LENGTH);
}

/* The lines of GLOBAL and INST are read as strictly as CPython reads them; STACK_GLOBAL takes any str. */
static void names_in_lines_are_proper_text(void **state) {
    (void)state;
    const struct upk_options o = {.flags = UPK_FAMILY_FLAGS, .families = 1u << UPK_FAMILY_INST};
    static const struct {
        struct upk_bytes stream;
        bool good;
    } cases[] = {
        {{"cm\n\xc3\xa9\n.", 7}, true},
        {{"cm\n\xed\x9f\xbf\n.", 8}, true},
        {{"cm\n\xed\xa0\x80\n.", 8}, false},
        {{"c\xed\xbf\xbf\nn\n.", 8}, false},
        {{"(im\nn\n.", 7}, true},
        {{"(im\n\xc3\xa9\n.", 8}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct upk_error err;
        struct upk_doc *doc = NULL;
        const bool good = upk_inspect(cases[i].stream.data, cases[i].stream.len, &o, &doc, &err);
        assert_int_equal(good, cases[i].good);
        if (!good) assert_int_equal(err.code, UPK_ERR_UTF8);
        upk_doc_free(doc);
    }
}

static void *no_memory(void *ctx, void *block, size_t old_size, size_t new_size) {
    (void)ctx;
    (void)block;
    (void)old_size;
    (void)new_size;
    return NULL;
}

static void without_memory_the_class_is_memory(void **state) {
    const struct upk_policy *policy = trial_policy(*state, "policy p 1;");
    const struct upk_allocator allocator = {no_memory, NULL};
    const struct upk_options options = {.allocator = &allocator};
    struct upk_error err;
    struct upk_doc *doc = NULL;
    assert_false(upk_decode(policy, "N.", 2, &options, &doc, &err));
    assert_null(doc);
    assert_int_equal(err.code, UPK_ERR_MEMORY);
    assert_string_equal(upk_class_word(err.cls), "memory");
}

static void assert_misused(bool ok, const struct upk_error *err) {
    assert_false(ok);
    assert_int_equal(err->code, UPK_ERR_MISUSE);
    assert_string_equal(upk_class_word(err->cls), "misuse");
    assert_true(err->detail[0] != '\0');
}

static void arguments_without_sense_are_misuse(void **state) {
    const struct upk_policy *policy = trial_policy(*state, "policy p 1;");
    const struct upk_options no_list = {.buffer_count = 1};
    struct upk_error err;
    struct upk_doc *doc = NULL;
    assert_misused(upk_decode(NULL, "N.", 2, NULL, &doc, &err), &err);
    assert_misused(upk_check(NULL, "N.", 2, NULL, &err), &err);
    assert_misused(upk_decode(policy, "N.", 2, NULL, NULL, &err), &err);
    assert_misused(upk_inspect("N.", 2, NULL, NULL, &err), &err);
    assert_misused(upk_check(policy, NULL, 2, NULL, &err), &err);
    assert_misused(upk_check(policy, "N.", 2, &no_list, &err), &err);
    assert_false(upk_scan("N.", 2, NULL, NULL, &err));
    assert_int_equal(err.code, UPK_ERR_MISUSE);
    assert_false(upk_check(NULL, "N.", 2, NULL, NULL)); /* no place for the error either */
    assert_null(doc);
}

static void tables_of_another_version_are_refused(void **state) {
    const struct upk_policy *good = trial_policy(*state, "policy p 1;");
    struct upk_policy tables[5];
    for (size_t i = 0; i < 5; i++) tables[i] = *good;
    tables[0].magic ^= 1;
    tables[1].abi++;
    tables[2].size--;
    tables[3].flags |= UPK_POLICY_FLAGS + 1;
    tables[4].budgets[UPK_BUDGET_NAME] = 257;
    for (size_t i = 0; i < 5; i++) {
        struct upk_error err;
        struct upk_doc *doc = NULL;
        assert_false(upk_decode(&tables[i], "N.", 2, NULL, &doc, &err));
        assert_null(doc);
        assert_int_equal(err.code, UPK_ERR_TABLE);
        assert_string_equal(upk_class_word(err.cls), "misuse");
        assert_false(upk_check(&tables[i], "N.", 2, NULL, &err));
        assert_int_equal(err.code, UPK_ERR_TABLE);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(streams_get_the_refusal_that_is_theirs), TEST(every_code_has_a_stream_or_a_reason_to_have_none),
        TEST(names_are_refused_with_reasons),         TEST(names_in_lines_are_proper_text),
        TEST(without_memory_the_class_is_memory),     TEST(arguments_without_sense_are_misuse),
        TEST(tables_of_another_version_are_refused),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
