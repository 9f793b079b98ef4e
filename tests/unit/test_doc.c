/* What a host reads out of a document: every accessor on values of every kind, on values that old protocols spell, and when the
 * input that was copied is gone.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "compiled.h"
#include "documents.h"
#include "values.h"

enum { ALL_FAMILIES = (1 << UPK_FAMILY_COUNT) - 1 };

/* ---- every accessor on every kind */

enum answer {
    BOOL = 1,
    INT64 = 2,
    BIGINT = 4,
    DOUBLE = 8,
    STR = 16,
    BYTES = 32,
    BUFFER = 64,
    GLOBAL = 128,
    PERSID = 256,
    EXT = 512,
    MEMBER = 1024,
    PAIR = 2048,
    KEY = 4096,
    CLASS = 8192,
    ARGS = 16384,
    KWARGS = 32768,
    STATE = 65536
};

/* Everything an accessor may write to. */
struct outputs {
    bool truth;
    uint8_t scratch[8];
    int64_t i;
    double f;
    const char *text, *name;
    size_t len, name_len;
    const uint8_t *bytes;
    struct upk_value v, key;
};

static bool ask(const struct upk_doc *doc, struct upk_value v, enum answer question, struct outputs *o) {
    switch (question) {
    case BOOL: return upk_get_bool(v, &o->truth);
    case INT64: return upk_get_int64(v, &o->i);
    case BIGINT: return upk_get_bigint(v, o->scratch, &o->bytes, &o->len);
    case DOUBLE: return upk_get_double(v, &o->f);
    case STR: return upk_get_str(v, &o->text, &o->len);
    case BYTES: return upk_get_bytes(v, &o->bytes, &o->len);
    case BUFFER: return upk_get_buffer(v, &o->len, &o->truth);
    case GLOBAL: return upk_get_global(v, &o->text, &o->len, &o->name, &o->name_len);
    case PERSID: return upk_get_persid(v, &o->v);
    case EXT: return upk_get_ext(v, &o->i);
    case MEMBER: return upk_at(v, 0, &o->v);
    case PAIR: return upk_pair_at(v, 0, &o->key, &o->v);
    case KEY: return upk_dict_get(v, "a", &o->v);
    case CLASS: return upk_object_class(doc, v, &o->text, &o->len, &o->name, &o->name_len);
    case ARGS: return upk_object_args(v, &o->v);
    case KWARGS: return upk_object_kwargs(v, &o->v);
    case STATE: return upk_object_state(v, &o->v);
    }
    return false;
}

/* Which questions have an answer; the others must leave what they are given as it was. */
static unsigned answers(const struct upk_doc *doc, struct upk_value v) {
    unsigned answered = 0;
    for (unsigned question = BOOL; question <= STATE; question *= 2) {
        struct outputs given, o;
        memset(&given, 0x5a, sizeof given);
        memcpy(&o, &given, sizeof o);
        if (ask(doc, v, (enum answer)question, &o)) {
            answered |= question;
        } else {
            assert_memory_equal(&o, &given, sizeof o);
        }
    }
    return answered;
}

#define EVERY_KIND                                                            \
    "\x80\x05("                                                               \
    "N\x88J\xff\xff\xff\xff\x8a\x09\0\0\0\0\0\0\0\0\x01G\x3f\xf8\0\0\0\0\0\0" \
    "\x8c\x02\xc3\xa9U\x02"                                                   \
    "abU\x01\xff"                                                             \
    "C\x03xyz\x96\x02\0\0\0\0\0\0\0pq\x97\x97\x98"                            \
    "cm\nC\n\x8c\x01iQ"                                                       \
    "K\x01K\x02\x86(K\x01\x91](K\x01K\x02"                                    \
    "e}(\x8c\x01"                                                             \
    "aK\x01\x8c\x01"                                                          \
    "bK\x02u\x8f(K\x01\x90"                                                   \
    "cm\nC\nK\x05\x85}\x8c\x01kK\x06s\x92}\x8c\x01sK\x07sb"

static const struct {
    enum upk_kind kind;
    unsigned answers;
    bool identity;
} every_kind[] = {
    {UPK_NONE, 0, false},
    {UPK_BOOL, BOOL, false},
    {UPK_INT, INT64 | BIGINT, false},
    {UPK_BIGINT, BIGINT, false},
    {UPK_FLOAT, DOUBLE, false},
    {UPK_STR, STR, false},
    {UPK_STR8, STR | BYTES, false},
    {UPK_STR8, BYTES, false},
    {UPK_BYTES, BYTES, false},
    {UPK_BYTEARRAY, BYTES, true},
    {UPK_BUFFER, BUFFER, false},
    {UPK_BUFFER, BUFFER, false},
    {UPK_GLOBAL, GLOBAL, true},
    {UPK_PERSID, PERSID, true},
    {UPK_TUPLE, MEMBER, true},
    {UPK_FROZENSET, MEMBER, true},
    {UPK_LIST, MEMBER, true},
    {UPK_DICT, PAIR | KEY, true},
    {UPK_SET, MEMBER, true},
    {UPK_OBJECT, CLASS | ARGS | KWARGS | STATE, true},
    {UPK_EXT, EXT, false},
};
enum { KINDS = sizeof every_kind / sizeof *every_kind };

static const char every_kind_policy[] =
    "policy d 1; opcodes core, python2, persid, buffer;"
    "module m { class C ref | new(x: int) kw { k: int } state { s: int }; }"
    "root tuple<(any | ref m::C | persid<str> | buffer)...>;";

static const struct upk_bytes two_buffers[] = {{"first", 5}, {"2nd", 3}};

static void assert_contents(struct upk_value root) {
    struct upk_value v, key;
    uint8_t scratch[8];
    const uint8_t *bytes;
    const char *text, *name;
    size_t len, name_len;
    bool truth = false;
    double f;
    assert_true(upk_get_bool(at(root, 1), &truth) && truth);
    assert_int(at(root, 2), -1);
    assert_true(upk_get_bigint(at(root, 2), scratch, &bytes, &len));
    assert_int_equal(len, 1);
    assert_int_equal(bytes[0], 0xff);
    assert_true(upk_get_bigint(at(root, 3), scratch, &bytes, &len));
    assert_int_equal(len, 9);
    assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0\x01", 9);
    assert_true(upk_get_double(at(root, 4), &f) && f > 1.4999 && f < 1.5001);
    assert_true(upk_get_str(at(root, 5), &text, &len));
    assert_text(text, len, "\xc3\xa9");
    assert_true(upk_get_str(at(root, 6), &text, &len));
    assert_text(text, len, "ab");
    assert_bytes(at(root, 7), "\xff");
    assert_bytes(at(root, 8), "xyz");
    assert_bytes(at(root, 9), "pq");
    assert_true(upk_get_buffer(at(root, 10), &len, &truth) && len == 0 && !truth);
    assert_true(upk_get_buffer(at(root, 11), &len, &truth) && len == 1 && truth);
    assert_true(upk_get_global(at(root, 12), &text, &len, &name, &name_len));
    assert_text(text, len, "m");
    assert_text(name, name_len, "C");
    assert_true(upk_get_persid(at(root, 13), &v) && upk_get_str(v, &text, &len));
    assert_text(text, len, "i");
    const size_t lens[] = {2, 1, 2, 0, 1, 0};
    for (size_t i = 0; i < 6; i++) {
        v = at(root, 14 + i);
        assert_int_equal(upk_len(v), lens[i]);
        assert_false(upk_at(v, lens[i], &key));
        assert_false(upk_at(v, SIZE_MAX, &key));
        if (lens[i]) assert_int(at(v, lens[i] - 1), (int64_t)lens[i]);
    }
    v = at(root, 17);
    assert_int_equal(upk_pair_len(v), 2);
    assert_int_equal(upk_pair_len(root), 0);
    struct upk_value value;
    assert_true(upk_pair_at(v, 1, &key, &value) && upk_get_str(key, &text, &len));
    assert_text(text, len, "b");
    assert_int(value, 2);
    assert_false(upk_pair_at(v, 2, &key, &value));
    assert_false(upk_pair_at(v, SIZE_MAX, &key, &value));
    assert_false(upk_pair_at(v, SIZE_MAX / 2, &key, &value));
    assert_true(upk_dict_get(v, "b", &value));
    assert_int(value, 2);
    assert_false(upk_dict_get(v, "c", &value));
    assert_false(upk_dict_get(v, "", &value));
    v = at(root, 19);
    assert_true(upk_object_args(v, &value) && upk_is(value, UPK_TUPLE) && upk_len(value) == 1);
    assert_int(at(value, 0), 5);
    assert_true(upk_object_kwargs(v, &value) && upk_dict_get(value, "k", &value));
    assert_int(value, 6);
    assert_true(upk_object_state(v, &value) && upk_dict_get(value, "s", &value));
    assert_int(value, 7);
}

static void assert_every_kind(const struct upk_doc *doc, size_t count) {
    const struct upk_value root = upk_doc_root(doc);
    assert_int_equal(upk_len(root), count);
    for (size_t i = 0; i < count; i++) {
        const struct upk_value v = at(root, i);
        assert_int_equal(upk_kind(v), every_kind[i].kind);
        for (enum upk_kind kind = UPK_INVALID; kind <= UPK_OBJECT; kind++)
            assert_int_equal(upk_is(v, kind), kind == every_kind[i].kind);
        if (answers(doc, v) != every_kind[i].answers)
            fail_msg("value %zu answers %x, expected %x", i, answers(doc, v), every_kind[i].answers);
        assert_int_equal(upk_identity(v) != 0, every_kind[i].identity);
    }
    assert_contents(root);
}

static void accessors_answer_for_their_kinds_alone(void **state) {
    struct trial *const t = *state;
    const struct upk_policy *const policy = trial_policy(t, every_kind_policy);
    const struct upk_options options = {.buffers = two_buffers, .buffer_count = 2};
    struct upk_doc *doc = decode(policy, EVERY_KIND "t.", sizeof EVERY_KIND + 1, &options);
    assert_every_kind(doc, KINDS - 1);
    assert_ptr_equal(upk_doc_policy(doc), policy);
    struct upk_value v = at(upk_doc_root(doc), 19);
    assert_int_equal(upk_object_row(v), policy_look_up(policy, NEW, "m", "C"));
    assert_int_equal(upk_object_row(upk_doc_root(doc)), 0);
    upk_doc_free(doc);
}

/* A policy refuses them; without one the value is what Python would have. */
static void the_last_of_equal_keys_counts(void **state) {
    (void)state;
    struct upk_value v;
    struct upk_doc *doc = DECODE(NULL, "\x80\x04}(\x8c\x01xK\x01\x8c\x01yK\x02\x8c\x01xK\x03u.");
    assert_int_equal(upk_pair_len(upk_doc_root(doc)), 3);
    assert_true(upk_dict_get(upk_doc_root(doc), "x", &v));
    assert_int(v, 3);
    assert_true(upk_object_field(doc, upk_doc_root(doc), "x", &v));
    assert_int(v, 3);
    upk_doc_free(doc);
}

static void inspected_values_answer_alike(void **state) {
    (void)state;
    const struct upk_options options = {.flags = UPK_FAMILY_FLAGS, .families = ALL_FAMILIES};
    struct upk_doc *doc = decode(NULL, EVERY_KIND "\x82\x05t.", sizeof EVERY_KIND + 3, &options);
    assert_every_kind(doc, KINDS);
    assert_null(upk_doc_policy(doc));
    const struct upk_value object = at(upk_doc_root(doc), 19);
    const char *module, *name;
    size_t module_len, name_len;
    int64_t code = 0;
    assert_int_equal(upk_object_row(object), 0);
    assert_true(upk_object_class(doc, object, &module, &module_len, &name, &name_len));
    assert_text(module, module_len, "m");
    assert_text(name, name_len, "C");
    assert_true(upk_get_ext(at(upk_doc_root(doc), 20), &code));
    assert_int_equal(code, 5);
    upk_doc_free(doc);
    upk_doc_free(NULL);
}

static void identity_tells_shared_from_equal(void **state) {
    (void)state;
    struct upk_doc *doc = DECODE(&values, "(]q\0h\0]t.");
    const struct upk_value root = upk_doc_root(doc);
    assert_true(upk_identity(at(root, 0)) == upk_identity(at(root, 1)));
    assert_true(upk_identity(at(root, 0)) != upk_identity(at(root, 2)));
    assert_true(upk_identity(root) != upk_identity(at(root, 2)));
    upk_doc_free(doc);
}

/* ---- spellings of old protocols */

static const char spelled_policy[] =
    "policy d 1; opcodes core, python2;\n"
    "module m { class L new() items int; class D new() pairs str: int; class A new() adds int;\n"
    "class P new(x: int, y: int); class T new(t: tuple<int...>); class K new(x: int) kw { k: int };\n"
    "class Outer.Inner ref; class S new() state? any because \"test\"; }\n"
    "root any | ref m::Outer.Inner;";

static void spelled_values_are_what_they_spell(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, spelled_policy);
    static const struct {
        const char *stream;
        size_t len;
        enum upk_kind kind;
        const char *bytes;
        size_t members;
        unsigned answers;
    } spelled[] = {
#define SPELLED(literal) literal, sizeof(literal) - 1
        {SPELLED("\x80\x02"
                 "c_codecs\nencode\nX\x03\0\0\0a\xc3\xa9X\x06\0\0\0latin1\x86R."),
         UPK_BYTES, "a\xe9", 0, BYTES},
        {SPELLED("c__builtin__\nbytes\n)R."), UPK_BYTES, "", 0, BYTES},
        {SPELLED("\x80\x02"
                 "c__builtin__\nbytearray\nX\x02\0\0\0\xc3\xa9X\x07\0\0\0latin-1\x86R."),
         UPK_BYTEARRAY, "\xe9", 0, BYTES},
        {SPELLED("\x80\x02"
                 "c__builtin__\nset\n](K\x01K\x02"
                 "e\x85R."),
         UPK_SET, NULL, 2, MEMBER},
        {SPELLED("\x80\x03"
                 "cbuiltins\nfrozenset\n](K\x01K\x02K\x03"
                 "e\x85R."),
         UPK_FROZENSET, NULL, 3, MEMBER},
        {SPELLED("\x80\x02"
                 "c__builtin__\ngetattr\ncm\nOuter\nX\x05\0\0\0Inner\x86R."),
         UPK_GLOBAL, NULL, 0, GLOBAL},
#undef SPELLED
    };
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        struct upk_doc *doc = decode(policy, spelled[i].stream, spelled[i].len, NULL);
        const struct upk_value root = upk_doc_root(doc);
        assert_int_equal(upk_kind(root), spelled[i].kind);
        assert_true(upk_is(root, spelled[i].kind) && !upk_is(root, UPK_OBJECT));
        assert_int_equal(answers(doc, root), spelled[i].answers);
        assert_int_equal(upk_object_row(root), 0);
        assert_int_equal(upk_len(root), spelled[i].members);
        for (size_t k = 0; k < spelled[i].members; k++) assert_int(at(root, k), (int64_t)k + 1);
        if (spelled[i].bytes) assert_bytes(root, spelled[i].bytes);
        assert_int_equal(upk_identity(root) != 0, spelled[i].kind != UPK_BYTES);
        if (spelled[i].kind == UPK_GLOBAL) {
            const char *module, *name;
            size_t module_len, name_len;
            assert_true(upk_get_global(root, &module, &module_len, &name, &name_len));
            assert_text(module, module_len, "m");
            assert_text(name, name_len, "Outer.Inner");
        }
        upk_doc_free(doc);
    }
}

/* An object of class m::NAME, in whatever way the stream made it. */
static void assert_object(const struct upk_doc *doc, const char *name, size_t arguments,
                          struct upk_value *args) {
    const struct upk_value root = upk_doc_root(doc);
    const char *module, *qualname;
    size_t module_len, qualname_len;
    assert_true(upk_is(root, UPK_OBJECT));
    assert_int_equal(upk_object_row(root), policy_look_up(upk_doc_policy(doc), NEW, "m", name));
    assert_true(upk_object_class(doc, root, &module, &module_len, &qualname, &qualname_len));
    assert_text(module, module_len, "m");
    assert_text(qualname, qualname_len, name);
    assert_true(upk_object_args(root, args));
    assert_true(upk_is(*args, UPK_TUPLE));
    assert_int_equal(upk_len(*args), arguments);
}

#define BASE(class, base) "ccopy_reg\n_reconstructor\n(cm\n" class "\nc__builtin__\n" base "\n"

static void bases_give_the_members(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, spelled_policy);
    struct upk_value args, v, key;
    struct upk_doc *doc = DECODE(policy, BASE("L", "list") "(I1\nI2\nltR.");
    assert_object(doc, "L", 0, &args);
    assert_int_equal(upk_len(upk_doc_root(doc)), 2);
    for (size_t i = 0; i < 2; i++) assert_int(at(upk_doc_root(doc), i), (int64_t)i + 1);
    assert_false(upk_at(upk_doc_root(doc), 2, &v));
    assert_int_equal(upk_pair_len(upk_doc_root(doc)), 0);
    upk_doc_free(doc);

    doc = DECODE(policy, BASE("D", "dict") "(Va\nI1\nVb\nI2\ndtR.");
    assert_object(doc, "D", 0, &args);
    assert_int_equal(upk_pair_len(upk_doc_root(doc)), 2);
    assert_int_equal(upk_len(upk_doc_root(doc)), 0);
    assert_true(upk_dict_get(upk_doc_root(doc), "a", &v));
    assert_int(v, 1);
    assert_true(upk_dict_get(upk_doc_root(doc), "b", &v));
    assert_int(v, 2);
    assert_true(upk_pair_at(upk_doc_root(doc), 1, &key, &v));
    assert_false(upk_pair_at(upk_doc_root(doc), 2, &key, &v));
    upk_doc_free(doc);
}

static void steps_give_the_members_too(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, spelled_policy);
    struct upk_value args, v;
    struct upk_doc *doc = DECODE(policy, "\x80\x04"
                                         "cm\nA\n)\x81(K\x01K\x02\x90(K\x03\x90.");
    assert_object(doc, "A", 0, &args);
    assert_int_equal(upk_len(upk_doc_root(doc)), 3);
    assert_int(at(upk_doc_root(doc), 2), 3);
    assert_false(upk_at(upk_doc_root(doc), 3, &v));
    upk_doc_free(doc);

    doc = DECODE(policy, "\x80\x04"
                         "cm\nL\n)\x81(K\x01K\x02"
                         "eK\x03"
                         "a.");
    assert_object(doc, "L", 0, &args);
    assert_int_equal(upk_len(upk_doc_root(doc)), 3);
    assert_int(at(upk_doc_root(doc), 2), 3);
    upk_doc_free(doc);

    doc = DECODE(policy, "\x80\x04"
                         "cm\nD\n)\x81(\x8c\x01"
                         "aK\x01\x8c\x01"
                         "bK\x02u.");
    assert_object(doc, "D", 0, &args);
    assert_int_equal(upk_pair_len(upk_doc_root(doc)), 2);
    assert_int_equal(upk_len(upk_doc_root(doc)), 0);
    assert_true(upk_dict_get(upk_doc_root(doc), "b", &v));
    assert_int(v, 2);
    upk_doc_free(doc);
}

static void a_tuple_subclass_has_the_arguments_that_its_row_took(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, spelled_policy);
    struct upk_value args;
    struct upk_doc *doc = DECODE(policy, BASE("P", "tuple") "(I1\nI2\nttR.");
    assert_object(doc, "P", 2, &args);
    assert_int(at(args, 0), 1);
    assert_int(at(args, 1), 2);
    upk_doc_free(doc);
    doc = DECODE(policy, BASE("T", "tuple") "(I1\nI2\nttR.");
    assert_object(doc, "T", 1, &args);
    assert_int_equal(upk_len(at(args, 0)), 2);
    upk_doc_free(doc);
}

static void keywords_of_a_partial_are_keywords(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, spelled_policy);
    struct upk_value args, kw, k;
    struct upk_doc *doc = DECODE(policy, "\x80\x02"
                                         "c__builtin__\ngetattr\ncm\nK\nX\x07\0\0\0__new__\x86Rq\x01"
                                         "0"
                                         "cfunctools\npartial\nh\x01\x85R(h\x01"
                                         "cm\nK\nK\x05\x86}X\x01\0\0\0kK\x06sNtb)R.");
    assert_object(doc, "K", 1, &args);
    assert_int(at(args, 0), 5);
    assert_true(upk_object_kwargs(upk_doc_root(doc), &kw));
    assert_int_equal(upk_pair_len(kw), 1);
    assert_true(upk_dict_get(kw, "k", &k));
    assert_int(k, 6);
    assert_false(upk_object_state(upk_doc_root(doc), &k));
    upk_doc_free(doc);
}

/* The next object and how it was made; verb 0: there is none. */
static unsigned next_made(const struct upk_doc *doc, struct upk_value *v, unsigned *steps) {
    unsigned verb = 0;
    if (!upk_next_object(doc, v)) return 0;
    assert_true(upk_object_how(*v, &verb, steps));
    return verb;
}

static void all_objects_are_found_and_how_they_were_made(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, spelled_policy);
    struct upk_value v = {.kind = UPK_INVALID};
    unsigned steps = 0;
    /* The getattr spells a name, and the partial is used up. */
    struct upk_doc *doc = DECODE(policy, "\x80\x02"
                                         "c__builtin__\ngetattr\ncm\nK\nX\x07\0\0\0__new__\x86Rq\x01"
                                         "0"
                                         "cfunctools\npartial\nh\x01\x85R(h\x01"
                                         "cm\nK\nK\x05\x86}X\x01\0\0\0kK\x06sNtb)R.");
    assert_int_equal(next_made(doc, &v, &steps), UPK_VERB_NEW);
    assert_int_equal(steps, UPK_STEP_KEYWORDS);
    assert_int_equal(next_made(doc, &v, &steps), 0);
    upk_doc_free(doc);

    /* Dropped ones too; items by steps, and with the call. */
    v.kind = UPK_INVALID;
    doc = DECODE(policy, "\x80\x02"
                         "cm\nL\n)\x81(K\x01K\x02"
                         "e0" BASE("L", "list") "(I1\nltR.");
    assert_int_equal(next_made(doc, &v, &steps), UPK_VERB_NEW);
    assert_int_equal(steps, UPK_STEP_ITEMS);
    assert_int_equal(upk_len(v), 2);
    assert_int_equal(next_made(doc, &v, &steps), UPK_VERB_NEW);
    assert_int_equal(steps, UPK_STEP_ITEMS);
    assert_int_equal(upk_len(v), 1);
    assert_int_equal(next_made(doc, &v, &steps), 0);
    upk_doc_free(doc);

    doc = DECODE(policy, "\x80\x02K\x01.");
    v.kind = UPK_INVALID;
    assert_false(upk_next_object(doc, &v));
    assert_false(upk_object_how(upk_doc_root(doc), &steps, &steps));
    upk_doc_free(doc);
}

/* ---- what the document stands on */

static void a_copied_input_may_be_overwritten(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, every_kind_policy);
    const size_t len = sizeof EVERY_KIND + 1;
    char *stream = malloc(len), *buffer = malloc(5);
    assert_true(stream && buffer);
    memcpy(stream, EVERY_KIND "t.", len);
    memcpy(buffer, "first", 5);
    struct upk_bytes both[2] = {{buffer, 5}, two_buffers[1]};
    const struct upk_options options = {.flags = UPK_COPY, .buffers = both, .buffer_count = 2};
    struct upk_doc *doc = decode(policy, stream, len, &options);
    memset(stream, 0, len);
    memset(buffer, 0, 5);
    memset(both, 0, sizeof both);
    free(stream);
    free(buffer);
    assert_every_kind(doc, KINDS - 1);
    const uint8_t *bytes;
    size_t n;
    assert_true(upk_doc_buffer(doc, 0, &bytes, &n));
    assert_text((const char *)bytes, n, "first");
    upk_doc_free(doc);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(accessors_answer_for_their_kinds_alone),
        TEST(the_last_of_equal_keys_counts),
        TEST(inspected_values_answer_alike),
        TEST(identity_tells_shared_from_equal),
        TEST(spelled_values_are_what_they_spell),
        TEST(bases_give_the_members),
        TEST(steps_give_the_members_too),
        TEST(a_tuple_subclass_has_the_arguments_that_its_row_took),
        TEST(keywords_of_a_partial_are_keywords),
        TEST(all_objects_are_found_and_how_they_were_made),
        TEST(a_copied_input_may_be_overwritten),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
