/* Policies that a host extends: what is added, what stays, and what is refused.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"
#include "corpus.h"
#include "documents.h"
#include "values.h"

#define TEXT(literal) \
    { literal, sizeof literal - 1 }
#define FIELD(literal) \
    { .name = TEXT(literal) }

static const struct upk_extra_field xy[] = {FIELD("y"), FIELD("x")};
static const struct upk_extra_field loose[] = {FIELD("a"), {.name = TEXT("b"), .optional = true}};
static const struct upk_extra_field mixed[] = {FIELD("kept"), {.name = TEXT("slot"), .slot = true}};
static const struct upk_extra_field modes[] = {
    {.name = TEXT("FAST"), .kind = UPK_STR, .text = TEXT("fast")},
    {.name = TEXT("SLOW"), .kind = UPK_INT, .number = -7},
    {.name = TEXT("NONE"), .kind = UPK_NONE},
    {.name = TEXT("YES"), .kind = UPK_BOOL, .number = 1},
    {.name = TEXT("RAW"), .kind = UPK_BYTES, .text = TEXT("raw")},
};
static const struct upk_extra_field planets[] = {{.name = TEXT("EARTH")}, FIELD("MARS")};
static const struct upk_extra_field perms[] = {
    {.name = TEXT("R"), .kind = UPK_INT, .number = 4},
    {.name = TEXT("W"), .kind = UPK_INT, .number = 2},
};

#define CLASS(name, how, list)                                                       \
    {                                                                                \
        .module = TEXT("app"), .qualname = TEXT(name), .shape = how, .fields = list, \
        .field_count = sizeof list / sizeof *list                                    \
    }
#define BARE(name, how, more) \
    { .module = TEXT("app"), .qualname = TEXT(name), .shape = how, .steps = more }

static const struct upk_extra extras[] = {
    CLASS("Point", UPK_EXTRA_RECORD, xy),
    CLASS("Loose", UPK_EXTRA_RECORD, loose),
    CLASS("Mixed", UPK_EXTRA_RECORD, mixed),
    CLASS("Pair", UPK_EXTRA_TUPLE, xy),
    CLASS("Mode", UPK_EXTRA_ENUM, modes),
    CLASS("Planet", UPK_EXTRA_ENUM, planets),
    CLASS("Perm", UPK_EXTRA_FLAG, perms),
    BARE("Plain", UPK_EXTRA_PLAIN, 0),
    BARE("Bag", UPK_EXTRA_PLAIN, UPK_STEP_ITEMS | UPK_STEP_PAIRS),
    BARE("Raw", UPK_EXTRA_PLAIN, UPK_STEP_STATE),
    BARE("Text", UPK_EXTRA_NEW, 0),
    BARE("Failure", UPK_EXTRA_CALL, 0),
    BARE("Outer.Inner.Deep", UPK_EXTRA_PLAIN, 0),
    BARE("make.<locals>.Local", UPK_EXTRA_PLAIN, 0),
    {.module = TEXT("queue"), .qualname = TEXT("Mine"), .shape = UPK_EXTRA_PLAIN},
    {.module = TEXT("numpy.core.mine"), .qualname = TEXT("Mine"), .shape = UPK_EXTRA_PLAIN},
};
enum { EXTRAS = sizeof extras / sizeof *extras };

static struct upk_policy *extend(const struct upk_policy *base, const struct upk_extra *extra, size_t count) {
    struct upk_policy *p = NULL;
    struct upk_error err;
    if (!upk_policy_extend(base, extra, count, NULL, &p, &err)) fail_msg("%s: %s", err.name, err.detail);
    if (!upk_policy_check(p, &err)) fail_msg("%s", err.detail);
    return p;
}

/* ---- streams ------------------------------------------------------------ */

#define P4              "\x80\x04"
#define SHORT(len, s)   "\x8c" len s
#define APP             SHORT("\3", "app")
#define NAME(len, name) APP SHORT(len, name) "\x93"
#define A               SHORT("\1", "a")
#define X               SHORT("\1", "x")
#define Y               SHORT("\1", "y")
#define GETATTR         SHORT("\10", "builtins") SHORT("\7", "getattr") "\x93"

struct verdict {
    const char *what, *bytes;
    size_t len;
    unsigned code;    /* 0: accepted */
    const char *rule; /* NULL: not looked at */
};
#define GOOD(what, bytes) \
    { what, bytes ".", sizeof bytes, UPK_OK, NULL }
#define BAD(what, bytes, code, rule) \
    { what, bytes ".", sizeof bytes, code, rule }

static const struct verdict verdicts[] = {
    GOOD("a record in a dict", P4 NAME("\5", "Point") ")\x81}(" X "K\1" Y "]ub"),
    GOOD("in slots", P4 NAME("\5", "Point") ")\x81N}(" X "K\1" Y "]u\x86"
                                            "b"),
    GOOD("in a list of places", P4 NAME("\5", "Point") ")\x81](K\1]eb"),
    GOOD("by copyreg._reconstructor",
         "ccopyreg\n_reconstructor\n(capp\nPoint\nc__builtin__\nobject\nNtR(dVx\nI1\nsVy\nI2\nsb"),
    BAD("without a field", P4 NAME("\5", "Point") ")\x81}" X "K\1sb", UPK_ERR_RECIPE, "with_types:1"),
    BAD("with a field too many", P4 NAME("\5", "Point") ")\x81}(" X "K\1" Y "K\1" A "K\1ub", UPK_ERR_RECIPE,
        "with_types:1"),
    BAD("without a state", P4 NAME("\5", "Point") ")\x81", UPK_ERR_RECIPE, "with_types:1"),
    BAD("with an argument", P4 NAME("\5", "Point") "N\x85\x81}(" X "K\1" Y "]ub", UPK_ERR_RECIPE,
        "with_types:1"),
    BAD("called", P4 NAME("\5", "Point") ")R}(" X "K\1" Y "]ub", UPK_ERR_RECIPE, "with_types:1"),
    BAD("too few places", P4 NAME("\5", "Point") ")\x81](K\1eb", UPK_ERR_RECIPE, "with_types:1"),
    BAD("the class as a value", P4 NAME("\5", "Point"), UPK_ERR_ROOT, NULL),
    BAD("items", P4 NAME("\5", "Point") ")\x81K\1a", UPK_ERR_STEP, "with_types:1"),
    GOOD("an optional field absent", P4 NAME("\5", "Loose") ")\x81}" A "K\1sb"),
    GOOD("at the end of a list", P4 NAME("\5", "Loose") ")\x81]K\1a"
                                                        "b"),
    GOOD("a state of both kinds",
         P4 NAME("\5", "Mixed") ")\x81}" SHORT("\4", "kept") "Ns}" SHORT("\4", "slot") "Ns\x86"
                                                                                       "b"),
    BAD("the wrong way round",
        P4 NAME("\5", "Mixed") ")\x81}" SHORT("\4", "slot") "Ns}" SHORT("\4", "kept") "Ns\x86"
                                                                                      "b",
        UPK_ERR_RECIPE, "with_types:3"),
    GOOD("a namedtuple", P4 NAME("\4", "Pair") "K\1K\2\x86\x81"),
    GOOD("by copyreg._reconstructor",
         "ccopyreg\n_reconstructor\n(capp\nPair\nc__builtin__\ntuple\n(I1\nI2\nttR"),
    BAD("of three", P4 NAME("\4", "Pair") "K\1K\2K\3\x87\x81", UPK_ERR_RECIPE, "with_types:4"),
    GOOD("a member by value", P4 NAME("\4", "Mode") SHORT("\4", "fast") "\x85R"),
    GOOD("a negative one", P4 NAME("\4", "Mode") "J\xf9\xff\xff\xff\x85R"),
    GOOD("None", P4 NAME("\4", "Mode") "N\x85R"),
    GOOD("True", P4 NAME("\4", "Mode") "\x88\x85R"),
    GOOD("bytes", P4 NAME("\4", "Mode") "C\3raw\x85R"),
    BAD("of no value", P4 NAME("\4", "Mode") SHORT("\4", "slow") "\x85R", UPK_ERR_RECIPE, "with_types:5"),
    BAD("no True by 1", P4 NAME("\4", "Mode") "K\1\x85R", UPK_ERR_RECIPE, "with_types:5"),
    GOOD("a member by name", P4 NAME("\11", "Mode.FAST")),
    GOOD("by getattr", P4 GETATTR NAME("\4", "Mode") SHORT("\4", "FAST") "\x86R"),
    BAD("of no name", P4 NAME("\11", "Mode.LAST"), UPK_ERR_GLOBAL, NULL),
    GOOD("of any value", P4 NAME("\6", "Planet") "G\0\0\0\0\0\0\0\0K\1\x86\x85R"),
    GOOD("by its name", P4 NAME("\14", "Planet.EARTH")),
    GOOD("bits of a flag", P4 NAME("\4", "Perm") "K\6\x85R"),
    BAD("one that it has not", P4 NAME("\4", "Perm") "K\1\x85R", UPK_ERR_RECIPE, "with_types:7"),
    GOOD("operator.or_", P4 SHORT("\10", "operator") SHORT("\3", "or_") "\x93" NAME("\6", "Perm.R")
                             NAME("\6", "Perm.W") "\x86R"),
    BAD("of something else",
        P4 SHORT("\10", "operator") SHORT("\3", "or_") "\x93" NAME("\6", "Perm.R") "K\1\x86R", UPK_ERR_RECIPE,
        "with_types:7"),
    GOOD("without a state", P4 NAME("\5", "Plain") ")\x81"),
    GOOD("any attributes", P4 NAME("\5", "Plain") ")\x81}" A "]sb"),
    GOOD("any slots", P4 NAME("\5", "Plain") ")\x81N}" A "]s\x86"
                                             "b"),
    BAD("keys that are no str", P4 NAME("\5", "Plain") ")\x81}K\1Nsb", UPK_ERR_RECIPE, "with_types:8"),
    BAD("a state that is no dict", P4 NAME("\5", "Plain") ")\x81K\1b", UPK_ERR_RECIPE, "with_types:8"),
    BAD("a class as an attribute", P4 NAME("\5", "Plain") ")\x81}" A NAME("\5", "Plain") "sb", UPK_ERR_RECIPE,
        "with_types:8"),
    GOOD("items and pairs", P4 NAME("\3", "Bag") ")\x81(K\1K\2e" A "Ns"),
    BAD("not those of a set", P4 NAME("\3", "Bag") ")\x81(K\1\x90", UPK_ERR_STEP, "with_types:9"),
    GOOD("any state", P4 NAME("\3", "Raw") ")\x81K\1b"),
    GOOD("any arguments of new", P4 NAME("\4", "Text") SHORT("\1", "s") "\x85\x81}b"),
    GOOD("any arguments of a call", P4 NAME("\7", "Failure") "K\1K\2\x86R}" A "Nsb"),
    BAD("but not without it", P4 NAME("\7", "Failure") "K\1\x85\x81", UPK_ERR_RECIPE, "with_types:12"),
    GOOD("a class in classes", P4 NAME("\20", "Outer.Inner.Deep") ")\x81"),
    GOOD("by getattr twice", P4 GETATTR GETATTR NAME("\5", "Outer")
                                 SHORT("\5", "Inner") "\x86R" SHORT("\4", "Deep") "\x86R)\x81"),
    BAD("what it is in", P4 NAME("\5", "Outer") ")\x81", UPK_ERR_SPELLING, NULL),
    GOOD("a local class", P4 NAME("\23", "make.<locals>.Local") ")\x81"),
    GOOD("a module that Python 2 calls otherwise", "\x80\2cQueue\nMine\n)\x81"),
    BAD("not from protocol 3 on", "\x80\3cQueue\nMine\n)\x81", UPK_ERR_GLOBAL, NULL),
    GOOD("a module of another version", "\x80\3cnumpy._core.mine\nMine\n)\x81"),
    GOOD("and as it was given", "\x80\3cnumpy.core.mine\nMine\n)\x81"),
    BAD("another name", P4 NAME("\6", "Points") ")\x81", UPK_ERR_GLOBAL, NULL),
    BAD("a part of it", P4 NAME("\4", "Poin") ")\x81", UPK_ERR_GLOBAL, NULL),
};

static void judge(const struct upk_policy *p, const struct verdict *v, unsigned code) {
    struct upk_error err;
    memset(&err, 0, sizeof err);
    const bool good = upk_check(p, v->bytes, v->len, NULL, &err);
    if (err.code != code || good != (code == UPK_OK))
        fail_msg("%s: %u (%s), not %u", v->what, (unsigned)err.code, err.detail, code);
    if (code && code == v->code && v->rule && strcmp(err.rule, v->rule) != 0)
        fail_msg("%s: by %s, not %s", v->what, err.rule, v->rule);
}

static void objects_of_new_classes_are_judged_by_their_shape(void **state) {
    (void)state;
    struct upk_policy *const p = extend(&values, extras, EXTRAS);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) judge(p, &verdicts[i], verdicts[i].code);
    upk_policy_free(p);
}

static void the_base_knows_none_of_them(void **state) {
    (void)state;
    upk_policy_free(extend(&values, extras, EXTRAS));
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (verdicts[i].code == UPK_OK) judge(&values, &verdicts[i], UPK_ERR_GLOBAL);
}

/* One class after the other, each by an extension of the last one. */
static void extensions_add_up(void **state) {
    (void)state;
    struct upk_policy *all[EXTRAS];
    for (size_t i = 0; i < EXTRAS; i++) all[i] = extend(i ? all[i - 1] : &values, &extras[i], 1);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        struct verdict v = verdicts[i];
        v.rule = v.rule ? "with_types:1" : NULL;
        judge(all[EXTRAS - 1], &v, v.code);
    }
    for (size_t i = EXTRAS; i-- > 0;) upk_policy_free(all[i]);
}

/* What the classes of `extras` are in the language, with the policy that knows none of them. */
static const char nothing[] = "policy t 1; root any;";
static const char written[] =
    "policy t 1; root any;\n"
    "type Open = { *: any }; type Slots = tuple<none | { *: any }, { *: any }>;\n"
    "module app {\n"
    "  dataclass Point { y: any, x: any } because \"t\"; dataclass Loose { a: any, b?: any } because \"t\";\n"
    "  class Mixed new() state { kept: any, slot: any } because \"t\"\n"
    "    | new() state tuple<none, { kept: any, slot: any }> because \"t\" | new() state list<any, any> "
    "because \"t\"\n"
    "    | new() state tuple<{ kept: any }, { slot: any }> because \"t\";\n"
    "  namedtuple Pair(y: any, x: any) because \"t\";\n"
    "  enum Mode { FAST = \"fast\", SLOW = -7, NONE = none, YES = true, RAW = b\"raw\" };\n"
    "  class Planet call(value: any) because \"t\"; const Planet.EARTH, Planet.MARS; flag Perm { R = 4, W = "
    "2 };\n"
    "  class Plain new() state? Open because \"t\" | new() state? Slots because \"t\";\n"
    "  class Bag new() state? Open items any pairs any: any because \"t\"\n"
    "    | new() state? Slots items any pairs any: any because \"t\";\n"
    "  class Raw new() state? any because \"t\";\n"
    "  class Text new(a: any...) state? Open because \"t\" | new(a: any...) state? Slots because \"t\";\n"
    "  class Failure call(a: any...) state? Open because \"t\" | call(a: any...) state? Slots because "
    "\"t\";\n"
    "  class Outer.Inner.Deep new() state? Open because \"t\" | new() state? Slots because \"t\";\n"
    "  class \"make.<locals>.Local\" new() state? Open because \"t\" | new() state? Slots because \"t\";\n"
    "}\n"
    "module queue { class Mine new() state? Open because \"t\" | new() state? Slots because \"t\"; }\n"
    "module numpy._core.mine { class Mine new() state? Open because \"t\" | new() state? Slots because "
    "\"t\"; }\n";

static bool same_verdict(const struct upk_policy *one, const struct upk_policy *other,
                         const struct verdict *v, const char *bytes) {
    struct upk_error a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    const bool good = upk_check(one, bytes, v->len, NULL, &a),
               again = upk_check(other, bytes, v->len, NULL, &b);
    if (good != again || a.code != b.code || a.offset != b.offset || strcmp(a.path, b.path) != 0)
        fail_msg("%s, changed: %u at %zu (%s), written down %u at %zu (%s)", v->what, (unsigned)a.code,
                 (size_t)a.offset, a.detail, (unsigned)b.code, (size_t)b.offset, b.detail);
    return good;
}

/* Each stream, and each one that differs from it in a byte. */
static void a_policy_that_names_them_says_the_same(void **state) {
    static const char others[] = "\0\1.()N}]tuabeRK\x81\x85\x86\x93\xff";
    struct upk_policy *const p = extend(trial_policy(*state, nothing), extras, EXTRAS);
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *const q = trial_policy(&trial, written);
    size_t accepted = 0;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        const struct verdict *const v = &verdicts[i];
        char *const bytes = test_malloc(v->len);
        memcpy(bytes, v->bytes, v->len);
        accepted += same_verdict(p, q, v, bytes);
        for (size_t at = 0; at < v->len; at++) {
            for (size_t o = 0; o < sizeof others - 1; o++) {
                bytes[at] = others[o];
                (void)same_verdict(p, q, v, bytes);
            }
            bytes[at] = v->bytes[at];
        }
        test_free(bytes);
    }
    assert_in_range(accepted, 30, SIZE_MAX);
    trial_free(&trial);
    upk_policy_free(p);
}

static void members_have_their_values_and_names(void **state) {
    (void)state;
    struct upk_policy *const p = extend(&values, extras, EXTRAS);
    struct upk_doc *const doc =
        DECODE(p, P4 "(" NAME("\11", "Mode.FAST") NAME("\4", "Mode") "J\xf9\xff\xff\xff\x85R" NAME(
                      "\4", "Perm") "K\4\x85R" SHORT("\10", "operator")
                      SHORT("\3", "or_") "\x93" NAME("\6", "Perm.R") NAME("\6", "Perm.W") "\x86Rt.");
    const struct upk_value root = upk_doc_root(doc);
    const char *text;
    size_t len;
    struct upk_value v;
    assert_true(upk_get_member(doc, at(root, 0), &v) && upk_str_is(v, "fast"));
    assert_true(upk_get_member(doc, at(root, 1), &v));
    assert_int(v, -7);
    assert_true(upk_get_member_name(doc, at(root, 1), &text, &len));
    assert_text(text, len, "SLOW");
    assert_true(upk_get_member_name(doc, at(root, 2), &text, &len));
    assert_text(text, len, "R");
    assert_true(upk_get_member(doc, at(root, 3), &v));
    assert_int(v, 6);
    upk_doc_free(doc);
    upk_policy_free(p);
}

/* ---- the base ------------------------------------------------------------ */

static const char rich[] =
    "policy rich 7; opcodes core, persid except FLOAT; budget depth 77;\n"
    "module app { class A.B new(x: int[1..5]) kw { k: int mask 6 } state { a: any } because \"t\" | ref;\n"
    "  class Known call(x: ref app::A.B) items any | ref; class Mention ref; func f() -> app::Made because "
    "\"t\";\n"
    "  flag Perms { A = 1, B = 2 }; const D; enum E { ONE = 1, TWO = 2 }; class Z new(); }\n"
    "root any cyclic;";

struct comparison {
    const struct upk_policy *base, *extended;
    size_t accepted, refused;
};

static void compare(const struct corpus_file *file, void *ctx) {
    struct comparison *const c = ctx;
    struct upk_error was, is;
    memset(&was, 0, sizeof was);
    memset(&is, 0, sizeof is);
    const bool good = upk_check(c->base, file->bytes, file->len, &corpus_options, &was);
    const bool again = upk_check(c->extended, file->bytes, file->len, &corpus_options, &is);
    if (good != again || memcmp(&was, &is, sizeof was) != 0)
        fail_msg("%s: %u %s at %zu, then %u %s at %zu", file->path, (unsigned)was.code, was.detail,
                 (size_t)was.offset, (unsigned)is.code, is.detail, (size_t)is.offset);
    c->accepted += good;
    c->refused += !good;
}

static void streams_of_the_base_are_decided_alike(void **state) {
    (void)state;
    struct upk_policy *const p = extend(&values, extras, EXTRAS), *const again = extend(p, extras, 3);
    struct comparison c = {&values, p, 0, 0}, d = {&values, again, 0, 0};
    corpus_each("good", 100000, compare, &c);
    corpus_each("hostile", 100000, compare, &c);
    corpus_each("hostile", 2000, compare, &d);
    assert_in_range(c.accepted, 500, SIZE_MAX);
    assert_in_range(c.refused, 300, SIZE_MAX);
    upk_policy_free(again);
    upk_policy_free(p);
}

/* Every name of the base has its row, in both readings, and the row says what it did. */
static void rows_of_the_base_stay(void **state) {
    const struct upk_policy *const base = trial_policy(*state, rich);
    struct upk_policy *const p = extend(base, extras, EXTRAS);
    for (uint32_t i = 1; i < base->row_count; i++) {
        const struct upk_row *const was = &base->rows[i];
        char module[UPK_NAME_PADDED + 1], name[UPK_NAME_PADDED + 1];
        (void)snprintf(module, sizeof module, "%.*s", (int)was->module.len, base->pool + was->module.at);
        (void)snprintf(name, sizeof name, "%.*s", (int)was->qualname.len, base->pool + was->qualname.at);
        for (unsigned reading = 0; reading < 2; reading++) {
            const uint32_t before = policy_look_up(base, reading, module, name),
                           now = policy_look_up(p, reading, module, name);
            if (!before) continue;
            const struct upk_row *const is = &p->rows[now];
            const struct upk_row *const had = &base->rows[before];
            assert_memory_equal(&is->module, &had->module, sizeof is->module);
            assert_memory_equal(&is->qualname, &had->qualname, sizeof is->qualname);
            assert_int_equal(is->special, had->special);
            assert_int_equal(is->calls, had->calls);
            assert_int_equal(is->line, had->line);
            assert_true((is->target != 0) == (had->target != 0));
            if (had->special != UPK_SPECIAL_OR) assert_int_equal(is->form_count, had->form_count);
        }
    }
    assert_int_equal(p->revision, 7);
    assert_memory_equal(p->digest, base->digest, sizeof p->digest);
    assert_memory_equal(p->budgets, base->budgets, sizeof p->budgets);
    assert_memory_equal(p->opcodes, base->opcodes, sizeof p->opcodes);
    upk_policy_free(p);
}

/* The class of a row that has none yet, and those that have one. */
static void what_the_base_grants_stays_as_it_is(void **state) {
    const struct upk_policy *const base = trial_policy(*state, rich);
    static const struct upk_extra known[] = {
        BARE("A", UPK_EXTRA_PLAIN, 0), BARE("A.B", UPK_EXTRA_PLAIN, UPK_STEP_ITEMS),
        BARE("Known", UPK_EXTRA_PLAIN, 0), CLASS("E", UPK_EXTRA_ENUM, modes),
        CLASS("More", UPK_EXTRA_FLAG, perms)};
    struct upk_policy *const p = extend(base, known, sizeof known / sizeof *known);
    static const struct verdict expected[] = {
        GOOD("a prefix became a class", P4 NAME("\1", "A") ")\x81"),
        GOOD("as it was", P4 NAME("\3", "A.B") "K\1\x85}" SHORT("\1", "k") "K\2s\x92}" A "Nsb"),
        BAD("not otherwise", P4 NAME("\3", "A.B") ")\x81", UPK_ERR_RECIPE, "test.policy:2"),
        BAD("without items", P4 NAME("\3", "A.B") "K\1\x85\x81K\1a", UPK_ERR_STEP, "test.policy:2"),
        GOOD("the reference of a type", P4 NAME("\5", "Known") NAME("\3", "A.B") "\x85RK\1a"),
        BAD("to another row", P4 NAME("\5", "Known") NAME("\5", "Known") "\x85R", UPK_ERR_RECIPE,
            "test.policy:3"),
        GOOD("a member", P4 NAME("\5", "E.TWO")),
        BAD("no further ones", P4 NAME("\6", "E.FAST"), UPK_ERR_GLOBAL, NULL),
        BAD("nor their values", P4 NAME("\1", "E") SHORT("\4", "fast") "\x85R", UPK_ERR_RECIPE,
            "test.policy:4"),
        GOOD("two flags", P4 SHORT("\10", "operator") SHORT("\3", "or_") "\x93" NAME("\6", "More.R")
                              NAME("\6", "More.W") "\x86R"),
        GOOD("and the old one", P4 SHORT("\10", "operator") SHORT("\3", "or_") "\x93" NAME("\7", "Perms.A")
                                    NAME("\7", "Perms.B") "\x86R"),
        BAD("not of both",
            P4 SHORT("\10", "operator") SHORT("\3", "or_") "\x93" NAME("\7", "Perms.A")
                NAME("\6", "More.R") "\x86R",
            UPK_ERR_RECIPE, NULL),
        GOOD("keywords of protocol 2", "\x80\2cfunctools\npartial\ncapp\nA.B.__new__\n\x85R(capp\nA.B.__new__"
                                       "\n(capp\nA.B\nK\1t}X\1\0\0\0kK\2sNtb)R}X\1\0\0\0aNsb"),
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) judge(p, &expected[i], expected[i].code);
    upk_policy_free(p);
}

static void typed_places_take_no_new_class(void **state) {
    static const char text[] = "policy t 1; module app { class Old new(); }\n"
                               "root { old: app::Old | none, free: any, one: instance of t };";
    struct upk_policy *const p = extend(trial_policy(*state, text), extras, EXTRAS);
#define ROOT(old, free, one) \
    P4 "}(" SHORT("\3", "old") old SHORT("\4", "free") free SHORT("\3", "one") one "u"
#define OLD_ONE NAME("\3", "Old") ")\x81"
#define NEW_ONE NAME("\5", "Plain") ")\x81"
    static const struct verdict expected[] = {
        GOOD("the old class everywhere", ROOT(OLD_ONE, OLD_ONE, OLD_ONE)),
        GOOD("the new one as any", ROOT("N", NEW_ONE, OLD_ONE)),
        BAD("not as an old one", ROOT(NEW_ONE, "N", OLD_ONE), UPK_ERR_ROOT, NULL),
        BAD("nor as one of the policy", ROOT("N", "N", NEW_ONE), UPK_ERR_ROOT, NULL),
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) judge(p, &expected[i], expected[i].code);
    upk_policy_free(p);
}

/* ---- what may not be added ------------------------------------------------------------ */

static void refuse(const struct upk_policy *base, const struct upk_extra *extra, size_t count,
                   const char *why) {
    struct upk_policy *p = NULL;
    struct upk_error err;
    memset(&err, 0, sizeof err);
    if (upk_policy_extend(base, extra, count, NULL, &p, &err)) fail_msg("%s: accepted", why);
    assert_int_equal(err.code, UPK_ERR_MISUSE);
    if (!strstr(err.detail, why)) fail_msg("%s, not: %s", err.detail, why);
    assert_null(p);
    assert_false(upk_policy_extend(base, extra, count, NULL, &p, NULL));
}

static void misuse_is_refused(void **state) {
    const struct upk_policy *const base = trial_policy(*state, rich);
    static char longest[300];
    memset(longest, 'n', sizeof longest);
#define OF(of, name) .module = TEXT(of), .qualname = TEXT(name)
    static const struct upk_extra_field twice[] = {FIELD("a"), FIELD("b"), FIELD("a")},
                                        hook[] = {FIELD("__class__")}, odd[] = {FIELD("\x80")};
    const struct {
        const char *why;
        struct upk_extra extra;
    } wrong[] = {
        {"1 to 256", {OF("app", "")}},
        {"1 to 256", {.module = {longest, 257}, .qualname = TEXT("New")}},
        {"1 to 256", {OF("app", "\xff")}},
        {"unknown", {OF("app", "New"), .shape = UPK_EXTRA_SHAPES}},
        {"unknown", {OF("app", "New"), .steps = UPK_STEP_ADDS}},
        {"unknown", {OF("app", "New"), .runs = UPK_FORM_TEMPLATE}},
        {"builtin", {OF("builtins", "New"), .shape = UPK_EXTRA_PLAIN}},
        {"reaches the system", {OF("os", "New")}},
        {"reaches the system", {OF("posix", "New")}},
        {"reaches the system", {OF("app", "New.__init__")}},
        {"no objects", {OF("app", "Mention")}},
        {"no objects", {OF("app", "D")}},
        {"no objects", {OF("app", "f")}},
        {"spell", {OF("copyreg", "_reconstructor")}},
        {"no objects", {OF("operator", "or_")}},
        {"without members", {OF("app", "New"), .shape = UPK_EXTRA_ENUM}},
        {"twice", {OF("app", "New"), .fields = twice, .field_count = 3}},
        {"Python itself", {OF("app", "New"), .fields = hook, .field_count = 1}},
        {"UTF-8", {OF("app", "New"), .fields = odd, .field_count = 1}},
        {"two classes", {OF("app", "New"), .shape = UPK_EXTRA_ENUM, .fields = twice, .field_count = 3}},
        {"more than", {OF("app", "New"), .fields = twice, .field_count = UPK_EXTRA_FIELDS_MOST + 1}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(base, &wrong[i].extra, 1, wrong[i].why);
    static const struct upk_extra same[] = {BARE("Same", UPK_EXTRA_PLAIN, 0),
                                            BARE("Same", UPK_EXTRA_CALL, 0)};
    refuse(base, same, 2, "two classes");
    static const struct upk_extra inside[] = {CLASS("Mode", UPK_EXTRA_ENUM, modes),
                                              BARE("Mode.FAST", UPK_EXTRA_PLAIN, 0)};
    refuse(base, inside, 2, "two classes");
    refuse(base, same, UPK_EXTRAS_MOST + 1, "10000");
    refuse(NULL, same, 1, "no policy");
}

static void a_policy_without_any_takes_none(void **state) {
    const struct upk_policy *const base = trial_policy(
        *state, "policy t 1; module app { func f() -> app::Made because \"t\"; } root list<app::Made>;");
    static const struct upk_extra made = BARE("Made", UPK_EXTRA_PLAIN, 0);
    refuse(base, extras, 1, "no type `any'");
    struct upk_policy *const p = extend(base, &made, 1);
    static const struct verdict expected = GOOD("its class has a type", P4 "]" NAME("\4", "Made") ")\x81"
                                                                                                  "a");
    judge(p, &expected, UPK_OK);
    upk_policy_free(p);
}

/* ---- memory ------------------------------------------------------------ */

struct account {
    size_t calls, fail_at, blocks;
};

static void *account(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct account *const a = ctx;
    (void)old_size;
    if (new_size == 0) {
        a->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (++a->calls == a->fail_at) return NULL;
    void *const p = realloc(block, new_size);
    a->blocks += p && !block;
    return p;
}

static void no_allocation_is_missed(void **state) {
    (void)state;
    struct account a = {0, 0, 0};
    const struct upk_allocator allocator = {account, &a};
    struct upk_policy *p = NULL;
    struct upk_error err;
    assert_true(upk_policy_extend(&values, extras, EXTRAS, &allocator, &p, &err));
    assert_int_equal(a.blocks, 1);
    upk_policy_free(p);
    assert_int_equal(a.blocks, 0);
    const size_t calls = a.calls;
    assert_in_range(calls, 2, 20);
    for (size_t n = 1; n <= calls; n++) {
        a = (struct account){0, n, 0};
        p = NULL;
        assert_false(upk_policy_extend(&values, extras, EXTRAS, &allocator, &p, &err));
        assert_int_equal(err.code, UPK_ERR_MEMORY);
        assert_null(p);
        assert_int_equal(a.blocks, 0);
    }
    a = (struct account){0, 0, 0};
    static const struct upk_extra twice[] = {BARE("Same", UPK_EXTRA_PLAIN, 0),
                                             BARE("Same", UPK_EXTRA_PLAIN, 0)};
    assert_false(upk_policy_extend(&values, twice, 2, &allocator, &p, &err));
    assert_int_equal(a.blocks, 0);
    upk_policy_free(NULL);
}

static void ten_thousand_classes_are_added(void **state) {
    (void)state;
    struct upk_extra *const many = test_calloc(UPK_EXTRAS_MOST, sizeof *many);
    char(*const names)[24] = test_calloc(UPK_EXTRAS_MOST, sizeof *names);
    for (size_t i = 0; i < UPK_EXTRAS_MOST; i++) {
        /* In no order. */
        const int len = snprintf(names[i], sizeof names[i], "Outer%zu.Class", i * 7919 % UPK_EXTRAS_MOST);
        many[i] = (struct upk_extra){
            .module = TEXT("app"), .qualname = {names[i], (size_t)len}, .fields = xy, .field_count = 2};
    }
    struct upk_policy *const p = extend(&values, many, UPK_EXTRAS_MOST);
    for (size_t i = 0; i < UPK_EXTRAS_MOST; i++) {
        const uint32_t row = policy_look_up(p, NEW, "app", names[i]);
        assert_int_equal(p->rows[row].line, i + 1);
        assert_int_equal(policy_look_up(p, OLD, "app", names[i]), row);
    }
    upk_policy_free(p);
    test_free(names);
    test_free(many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_of_new_classes_are_judged_by_their_shape),
        cmocka_unit_test(the_base_knows_none_of_them),
        cmocka_unit_test(extensions_add_up),
        cmocka_unit_test_setup_teardown(a_policy_that_names_them_says_the_same, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test(members_have_their_values_and_names),
        cmocka_unit_test(streams_of_the_base_are_decided_alike),
        cmocka_unit_test_setup_teardown(rows_of_the_base_stay, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(what_the_base_grants_stays_as_it_is, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(typed_places_take_no_new_class, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(misuse_is_refused, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(a_policy_without_any_takes_none, trial_set_up, trial_tear_down),
        cmocka_unit_test(no_allocation_is_missed),
        cmocka_unit_test(ten_thousand_classes_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
