/* Opcodes and keys at their edges: escapes, far memo keys, many marks, ends of frames, keys inside keys, bases of old objects.
 *
 * Layer: tests of the whole, policies from text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"
#include "documents.h"

enum { MOST = 1 << 17 };

/* A stream that is being put together. */
struct stream {
    uint8_t *at;
    size_t len;
};

static void add(struct stream *s, const void *bytes, size_t len) {
    assert_true(len <= MOST - s->len);
    memcpy(s->at + s->len, bytes, len);
    s->len += len;
}

/* An opcode with a little-endian argument of `bytes` bytes. */
static void add_op(struct stream *s, unsigned op, uint32_t argument, size_t bytes) {
    uint8_t b = (uint8_t)op;
    add(s, &b, 1);
    for (size_t i = 0; i < bytes; i++) {
        b = (uint8_t)(argument >> 8 * i);
        add(s, &b, 1);
    }
}

static struct stream stream_new(void) {
    struct stream s = {malloc(MOST), 0};
    assert_non_null(s.at);
    return s;
}

/* Refused with this code; `detail`, unless NULL, is a part of the message. */
static void assert_refused(const struct upk_policy *policy, const void *bytes, size_t len, uint32_t flags,
                           unsigned code, const char *detail) {
    const struct upk_options options = {.flags = flags};
    struct upk_doc *doc = NULL;
    struct upk_error err;
    char message[500];
    bool ok = policy ? upk_decode(policy, bytes, len, &options, &doc, &err)
                     : upk_inspect(bytes, len, &options, &doc, &err);
    assert_false(ok);
    upk_error_message(&err, message, sizeof message);
    if (err.code != code || (detail && !strstr(message, detail)))
        fail_msg("R%u: %s", (unsigned)err.code, message);
}
#define REFUSED(policy, literal, code, detail) \
    assert_refused(policy, literal, sizeof(literal) - 1, 0, code, detail)

static void assert_accepted(const struct upk_policy *policy, const void *bytes, size_t len) {
    upk_doc_free(decode(policy, bytes, len, NULL));
}
#define ACCEPTED(policy, literal) assert_accepted(policy, literal, sizeof(literal) - 1)

static void escapes_of_string_are_those_of_bytes_literals(void **state) {
    (void)state;
    const struct upk_options options = {.flags = UPK_FAMILY_FLAGS, .families = 3};
    static const struct {
        const char *stream, *wanted;
    } cases[] = {
        {"S'\\x41\\101\\1018'\n.", "AAA8"}, {"S'\\777\\12x'\n.", "\xff\nx"},
        {"S'\\'\\\"\\\\'\n.", "'\"\\"},     {"S'\\b\\f\\t\\n\\r\\v\\a'\n.", "\b\f\t\n\r\v\a"},
        {"S\"\\q\\-\"\n.", "\\q\\-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct upk_doc *doc = decode(NULL, cases[i].stream, strlen(cases[i].stream), &options);
        assert_bytes(upk_doc_root(doc), cases[i].wanted);
        upk_doc_free(doc);
    }
}

/* Keys far from each other, more of them than the first table holds. */
static void far_memo_keys_are_found_again(void **state) {
    (void)state;
    enum { KEYS = 60, STEP = 1000 };
    struct stream s = stream_new();
    uint8_t *padding = calloc(1, KEYS * STEP);
    assert_non_null(padding);
    add_op(&s, 0x80, 3, 1);
    add_op(&s, 'B', KEYS * STEP, 4);
    add(&s, padding, KEYS * STEP);
    add_op(&s, '0', 0, 0);
    for (uint32_t i = 1; i <= KEYS; i++) {
        add_op(&s, 'K', i, 1);
        add_op(&s, 'r', i * STEP, 4);
        add_op(&s, '0', 0, 0);
    }
    add_op(&s, '(', 0, 0);
    for (uint32_t i = 1; i <= KEYS; i++) add_op(&s, 'j', i * STEP, 4);
    add(&s, "l.", 2);
    struct upk_doc *doc = decode(NULL, s.at, s.len, NULL);
    for (uint32_t i = 1; i <= KEYS; i++) assert_int(at(upk_doc_root(doc), i - 1), i);
    upk_doc_free(doc);
    s.len -= 2;
    add_op(&s, 'j', STEP + 1, 4);
    assert_refused(NULL, s.at, s.len, 0, UPK_ERR_MEMO_UNSET, NULL);
    free(padding);
    free(s.at);
}

static void many_marks_may_be_open(void **state) {
    (void)state;
    enum { MARKS = 1000 };
    struct stream s = stream_new();
    for (size_t i = 0; i < MARKS; i++) add(&s, "(", 1);
    for (size_t i = 0; i < MARKS; i++) add(&s, "1", 1);
    add(&s, "N.", 2);
    assert_accepted(NULL, s.at, s.len);
    memmove(s.at + 1, s.at, s.len++);
    assert_refused(NULL, s.at, s.len, 0, UPK_ERR_BUDGET, "open marks");
    free(s.at);
}

static void a_frame_ends_where_the_stream_does(void **state) {
    (void)state;
    static const char early[] = "\x80\x04\x95\x03\0\0\0\0\0\0\0N.N",
                      exact[] = "\x80\x04\x95\x02\0\0\0\0\0\0\0N.N";
    const struct upk_options options = {.flags = UPK_ALLOW_TRAILING};
    assert_refused(NULL, early, sizeof early - 1, UPK_ALLOW_TRAILING, UPK_ERR_FRAME_CROSSED, NULL);
    upk_doc_free(decode(NULL, exact, sizeof exact - 1, &options));
}

static void a_stream_without_proto_is_of_protocol_0_or_1(void **state) {
    const struct upk_policy *p = trial_policy(*state, "policy p 1; protocol 2..5; root any;");
    REFUSED(p, "N.", UPK_ERR_PROTOCOL_REFUSED, "without PROTO");
    REFUSED(p, "", UPK_ERR_TRUNCATED, NULL);
    ACCEPTED(p, "\x80\x02N.");
}

/* `u` of two keys, each followed by None. */
#define TWO_KEYS(one, other) "\x80\x04}(" one "N" other "Nu."

static void keys_are_equal_member_by_member(void **state) {
    const struct upk_policy *p =
        trial_policy(*state, "policy p 1; module builtins { const Ellipsis, NotImplemented; } root any;");
    REFUSED(p,
            TWO_KEYS("K\x01K\x02\x8c\x01"
                     "a\x86\x86",
                     "K\x01K\x02\x8c\x01"
                     "a\x86\x86"),
            UPK_ERR_EQUAL_KEYS, NULL);
    REFUSED(p, TWO_KEYS("K\x01K\x02\x86\x85", "\x88G\x40\0\0\0\0\0\0\0\x86\x85"), UPK_ERR_EQUAL_KEYS, NULL);
    ACCEPTED(p, TWO_KEYS("K\x01K\x02\x86\x85", "K\x01K\x03\x86\x85"));
    ACCEPTED(p, TWO_KEYS("K\x01K\x02\x86\x85", "K\x02K\x02\x86\x85"));
    ACCEPTED(p, TWO_KEYS("K\x01\x85\x85", "K\x01K\x01\x86\x85"));
    ACCEPTED(p, TWO_KEYS("C\x01"
                         "a\x85",
                         "\x8c\x01"
                         "a\x85"));
    REFUSED(p, TWO_KEYS(")\x85", ")\x85"), UPK_ERR_EQUAL_KEYS, NULL);
    /* frozensets, whatever the order of their members */
    REFUSED(p, TWO_KEYS("(K\x01K\x02\x91\x85", "(K\x02K\x01\x91\x85"), UPK_ERR_EQUAL_KEYS, NULL);
    ACCEPTED(p, TWO_KEYS("(K\x01K\x02\x91\x85", "(K\x03K\x01\x91\x85"));
    /* texts too long for the short hash */
    REFUSED(p,
            TWO_KEYS("\x8c\x1e"
                     "a key of more than four words.",
                     "\x8c\x1e"
                     "a key of more than four words."),
            UPK_ERR_EQUAL_KEYS, NULL);
    ACCEPTED(p, TWO_KEYS("\x8c\x1e"
                         "a key of more than four words.",
                         "\x8c\x1e"
                         "a key of more than four words!"));
    /* one name in two spellings */
    REFUSED(p, "\x80\x02}(cbuiltins\nEllipsis\nNc__builtin__\nEllipsis\nNu.", UPK_ERR_EQUAL_KEYS, NULL);
    ACCEPTED(p, "\x80\x02}(cbuiltins\nEllipsis\nNc__builtin__\nNotImplemented\nNu.");
}

static void a_key_may_not_reach_its_own_dict(void **state) {
    const struct upk_policy *p = trial_policy(*state, "policy p 1; module m { class C new() state { a: any } "
                                                      "runs __hash__ because \"x\"; } root any cyclic;");
    REFUSED(p,
            "\x80\x02}q\x00"
            "cm\nC\n)\x81}X\x01\0\0\0ah\x00sbNs.",
            UPK_ERR_INCOMPLETE, "from its own key");
    ACCEPTED(p, "\x80\x02}q\x00"
                "cm\nC\n)\x81}X\x01\0\0\0aNsbNs.");
}

/* copyreg._reconstructor(C, base, value) at protocols 0 and 1 is new C(value). */
static void old_objects_have_builtin_bases(void **state) {
    const struct upk_policy *p = trial_policy(
        *state,
        "policy p 1; opcodes core, python2; module builtins { class complex call(re: float, im: float); }"
        "module m { class C new(value: int | float | str | bytes | builtins::complex) because \"any base\"; "
        "} root any;");
#define OLD(base, value) "ccopy_reg\n_reconstructor\n(cm\nC\nc__builtin__\n" base "\n" value "tR."
    ACCEPTED(p, OLD("int", "I5\n"));
    ACCEPTED(p, OLD("int", "L36893488147419103232L\n"));
    ACCEPTED(p, OLD("float", "F1.5\n"));
    ACCEPTED(p, OLD("str", "S'a'\n"));
    ACCEPTED(p, OLD("unicode", "Va\n"));
    ACCEPTED(p, OLD("bytes", "S'a'\n"));
    ACCEPTED(p, OLD("complex", "c__builtin__\ncomplex\n(F1.0\nF2.0\ntR"));
    REFUSED(p, OLD("int", "F1.5\n"), UPK_ERR_SPELLING, NULL);
    REFUSED(p, OLD("float", "I1\n"), UPK_ERR_SPELLING, NULL);
    REFUSED(p, OLD("str", "I1\n"), UPK_ERR_SPELLING, NULL);
    REFUSED(p, OLD("complex", "F1.5\n"), UPK_ERR_SPELLING, NULL);
#undef OLD
}

static void bytes_of_old_protocols_are_latin1(void **state) {
    const struct upk_policy *p = trial_policy(*state, "policy p 1; root bytes;");
    struct upk_doc *doc = DECODE(p, "\x80\x02"
                                    "c_codecs\nencode\nX\x02\0\0\0\xc3\xbfX\x06\0\0\0latin1\x86R.");
    assert_bytes(upk_doc_root(doc), "\xff");
    upk_doc_free(doc);
    REFUSED(p,
            "\x80\x02"
            "c_codecs\nencode\nX\x02\0\0\0\xc4\x80X\x06\0\0\0latin1\x86R.",
            UPK_ERR_SPELLING, NULL);
}

/* CPython reads INT 010 as eight, INT -0 and +0 as False, INT +1 as True, and no pickler writes them. */
static void numbers_have_one_spelling(void **state) {
    static const char *const good[] = {"I0\n.",  "I1\n.",  "I-1\n.",   "I00\n.",
                                       "I01\n.", "L0L\n.", "L-12L\n.", "L7\n."};
    static const char *const bad[] = {"I-0\n.",   "I+0\n.", "I+1\n.",  "I 1\n.",  "I010\n.", "I02\n.",
                                      "I-01\n.",  "I\n.",   "I-\n.",   "I1L\n.",  "L-0L\n.", "L-0\n.",
                                      "L007L\n.", "LL\n.",  "L1LL\n.", "I0x1\n.", "I1_0\n."};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct upk_doc *doc = NULL;
        struct upk_error err;
        assert_true(upk_inspect(good[i], strlen(good[i]), NULL, &doc, &err));
        upk_doc_free(doc);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(NULL, bad[i], strlen(bad[i]), 0, UPK_ERR_NUMBER, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_one_spelling),
        cmocka_unit_test(escapes_of_string_are_those_of_bytes_literals),
        cmocka_unit_test(far_memo_keys_are_found_again),
        cmocka_unit_test(many_marks_may_be_open),
        cmocka_unit_test(a_frame_ends_where_the_stream_does),
        cmocka_unit_test_setup_teardown(a_stream_without_proto_is_of_protocol_0_or_1, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test_setup_teardown(keys_are_equal_member_by_member, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(a_key_may_not_reach_its_own_dict, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(old_objects_have_builtin_bases, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_old_protocols_are_latin1, trial_set_up, trial_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
