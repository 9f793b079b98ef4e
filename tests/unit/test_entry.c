/* The entry points beside their verdict: out-of-band buffers, trailing bytes, persistent ids, memory, scans; and that upk_check
 * says what upk_decode says.
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
#include "corpus.h"
#include "documents.h"
#include "values.h"

static const struct upk_bytes two_buffers[] = {{"first", 5}, {"2nd", 3}};

static const char inert[] =
    "policy d 1; opcodes core, persid, buffer; root tuple<(persid<str> | buffer)...>;";

static void buffers_are_those_that_were_given(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, inert);
    const struct upk_options options = {.buffers = two_buffers, .buffer_count = 2};
    struct upk_doc *doc = decode(policy, "\x80\x05\x97\x85.", 5, &options);
    const uint8_t *bytes = NULL;
    size_t len = 77;
    for (size_t i = 0; i < 2; i++) {
        assert_true(upk_doc_buffer(doc, i, &bytes, &len));
        assert_ptr_equal(bytes, two_buffers[i].data);
        assert_int_equal(len, two_buffers[i].len);
    }
    assert_false(upk_doc_buffer(doc, 2, &bytes, &len));
    assert_false(upk_doc_buffer(doc, SIZE_MAX, &bytes, &len));
    assert_ptr_equal(bytes, two_buffers[1].data);
    assert_int_equal(len, two_buffers[1].len);
    upk_doc_free(doc);
}

static void trailing_bytes_are_left_alone_when_allowed(void **state) {
    (void)state;
    size_t used = 77;
    struct upk_options options = {.used = &used};
    struct upk_error err;
    assert_false(upk_check(&values, "N.N.", 4, &options, &err));
    assert_int_equal(err.code, UPK_ERR_TRAILING);
    assert_int_equal(used, 77);
    options.flags = UPK_ALLOW_TRAILING;
    assert_true(upk_check(&values, "N.N.", 4, &options, &err));
    assert_int_equal(used, 2);
    struct upk_doc *doc = decode(&values, "K\x07.junk", 7, &options);
    assert_int_equal(used, 3);
    assert_int(upk_doc_root(doc), 7);
    upk_doc_free(doc);
    used = 77;
    doc = NULL;
    assert_false(upk_decode(&values, "K", 1, &options, &doc, &err));
    assert_int_equal(used, 77);
    assert_null(doc);
}

struct asked {
    unsigned count, refuse; /* the number of the question that is refused; 0 none */
    struct upk_value last;
};

static bool answer_persid(void *ctx, struct upk_value id) {
    struct asked *asked = ctx;
    asked->last = id;
    return ++asked->count != asked->refuse;
}

static void the_host_is_asked_for_each_persistent_id(void **state) {
    const struct upk_policy *const policy = trial_policy(*state, inert);
    static const char stream[] = "(Pfirst\nX\1\0\0\0iQt.";
    struct asked asked = {0};
    const struct upk_options options = {.persid = answer_persid, .persid_ctx = &asked};
    struct upk_doc *doc = decode(policy, stream, sizeof stream - 1, &options);
    struct upk_value id;
    const char *text;
    size_t len;
    assert_int_equal(asked.count, 2);
    assert_true(upk_get_str(asked.last, &text, &len));
    assert_text(text, len, "i");
    assert_true(upk_get_persid(at(upk_doc_root(doc), 0), &id) && upk_get_str(id, &text, &len));
    assert_text(text, len, "first");
    upk_doc_free(doc);

    struct upk_error err;
    for (unsigned refuse = 1; refuse <= 2; refuse++) {
        asked = (struct asked){.refuse = refuse};
        doc = NULL;
        assert_false(upk_decode(policy, stream, sizeof stream - 1, &options, &doc, &err));
        assert_null(doc);
        assert_int_equal(err.code, UPK_ERR_PERSID_REFUSED);
        assert_int_equal(err.offset, refuse == 1 ? 1 : 14);
        assert_int_equal(asked.count, refuse);
    }
}

static void a_host_may_bring_the_secret(void **state) {
    (void)state;
    static const uint64_t secrets[][2] = {
        {0, 0}, {UINT64_MAX, UINT64_MAX}, {1, UINT64_C(0x9e3779b97f4a7c15)}};
    enum { KEYS = 100 }; /* so many are hashed */
    char stream[3 * KEYS + 4] = "}(";
    for (unsigned i = 0; i < KEYS; i++) {
        const char pair[] = {'K', (char)i, 'N'};
        memcpy(stream + 2 + 3 * i, pair, sizeof pair);
    }
    memcpy(stream + 2 + 3 * KEYS, "u.", 2);
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        const struct upk_options options = {.secret = secrets[i]};
        struct upk_error err;
        struct upk_doc *doc = decode(&values, stream, sizeof stream, &options);
        upk_doc_free(doc);
        stream[2 + 3 * 7 + 1] = KEYS - 1;
        doc = NULL;
        assert_false(upk_decode(&values, stream, sizeof stream, &options, &doc, &err));
        assert_int_equal(err.code, UPK_ERR_EQUAL_KEYS);
        stream[2 + 3 * 7 + 1] = 7;
    }
}

static void a_document_knows_what_it_holds(void **state) {
    (void)state;
    struct upk_doc *small = DECODE(&values, "N."), *copied;
    char stream[4104] = "\x80\x03"
                        "B\0\x10\0\0";
    stream[2 + 5 + 4096] = '.';
    const struct upk_options options = {.flags = UPK_COPY};
    copied = decode(&values, stream, sizeof stream, &options);
    assert_in_range(upk_doc_memory(small), 1, 65536);
    assert_true(upk_doc_memory(copied) >= upk_doc_memory(small));
    assert_true(upk_doc_memory(copied) >= 4096);
    upk_doc_free(small);
    upk_doc_free(copied);
}

/* ---- scan, check */

static void a_scan_counts_what_a_stream_needs(void **state) {
    (void)state;
    /* (os.system, datetime.date(b"..."), date again, [1, 300, "abc", 2**64]) */
    static const char stream[] =
        "\x80\x02(cos\nsystem\ncdatetime\ndate\nq\0X\x04\0\0\0abcd\x85Rh\0"
        "c__builtin__\nunicode\n](K\x01M\x2c\x01X\x03\0\0\0abc\x8a\x09\0\0\0\0\0\0\0\0\x01"
        "et.";
    struct upk_scan_result *scan = NULL;
    struct upk_error err;
    if (!upk_scan(stream, sizeof stream - 1, NULL, &scan, &err)) fail_msg("%s", err.detail);
    static const struct {
        enum upk_op op;
        uint64_t count;
    } opcodes[] = {{UPK_OP_PROTO, 1},   {UPK_OP_MARK, 2},    {UPK_OP_GLOBAL, 3},     {UPK_OP_BINPUT, 1},
                   {UPK_OP_TUPLE1, 1},  {UPK_OP_REDUCE, 1},  {UPK_OP_BINGET, 1},     {UPK_OP_EMPTY_LIST, 1},
                   {UPK_OP_BININT1, 1}, {UPK_OP_BININT2, 1}, {UPK_OP_BINUNICODE, 2}, {UPK_OP_LONG1, 1},
                   {UPK_OP_APPENDS, 1}, {UPK_OP_TUPLE, 1},   {UPK_OP_STOP, 1}};
    uint64_t wanted[UPK_OP_END] = {0}, all = 0;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        wanted[opcodes[i].op] = opcodes[i].count;
        all += opcodes[i].count;
    }
    for (unsigned op = 0; op < UPK_OP_END; op++)
        if (scan->opcodes[op] != wanted[op]) fail_msg("%s: %u", upk_op_name(op), (unsigned)scan->opcodes[op]);
    static const struct {
        enum upk_budget budget;
        uint64_t figure;
    } figures[] = {{UPK_BUDGET_BYTES, sizeof stream - 1},
                   {UPK_BUDGET_MEMO, 1},
                   {UPK_BUDGET_MARKS, 2},
                   {UPK_BUDGET_DEPTH, 4}, /* tuple, call, its arguments, the str */
                   {UPK_BUDGET_NODES, 12},
                   {UPK_BUDGET_ITEMS, 5},
                   {UPK_BUDGET_STRING, 4},
                   {UPK_BUDGET_DIGITS, 0},
                   {UPK_BUDGET_LONG, 9},
                   {UPK_BUDGET_CALLS, 1},
                   {UPK_BUDGET_NAMES, 3},
                   {UPK_BUDGET_NAME, 11}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (scan->figures[figures[i].budget] != figures[i].figure)
            fail_msg("%s: %u", upk_budget_word(figures[i].budget),
                     (unsigned)scan->figures[figures[i].budget]);
    assert_int_equal(scan->figures[UPK_BUDGET_OPCODES], all);
    assert_int_equal(scan->protocol, 2);
    assert_false(scan->cyclic);
    static const struct {
        const char *module, *name;
        unsigned offset, count, dangerous;
    } names[] = {{"os", "system", 3, 1, 1}, {"datetime", "date", 14, 1, 0}, {"builtins", "str", 44, 1, 0}};
    assert_int_equal(scan->name_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(scan->names[i].module, names[i].module);
        assert_string_equal(scan->names[i].name, names[i].name);
        assert_int_equal(scan->names[i].offset, names[i].offset);
        assert_int_equal(scan->names[i].count, names[i].count);
        assert_int_equal(scan->names[i].dangerous, names[i].dangerous);
        assert_int_equal(scan->names[i].opcode, UPK_OP_GLOBAL);
    }
    upk_scan_free(scan);
    upk_scan_free(NULL);

    scan = NULL;
    assert_true(upk_scan("]q\0h\0a.", 7, NULL, &scan, &err));
    assert_true(scan->cyclic);
    assert_int_equal(scan->protocol, 1); /* or 0: without PROTO they are one */
    upk_scan_free(scan);
    scan = NULL;
    assert_false(upk_scan("]q\0h\0a", 6, NULL, &scan, &err));
    assert_null(scan);
    assert_int_equal(err.code, UPK_ERR_TRUNCATED);
}

static void dangerous_names_are_those_of_the_list(void **state) {
    (void)state;
    static const struct {
        const char *module, *name;
        bool dangerous;
    } names[] = {{"posix", "system", true},     {"os.path", "join", true},   {"os", "stat_result", false},
                 {"builtins", "eval", true},    {"builtins", "list", false}, {"uuid", "os.system", true},
                 {"m", "C.__init__", true},     {"osx", "system", false},    {"builtins", "eva", false},
                 {"subprocess", "Popen", true}, {"subprocess", "", true},    {"", "", false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool got = upk_name_is_dangerous(names[i].module, strlen(names[i].module), names[i].name,
                                         strlen(names[i].name));
        if (got != names[i].dangerous) fail_msg("%s::%s", names[i].module, names[i].name);
    }
}

struct verdicts {
    size_t accepted, refused;
};

static void check_as_decode(const struct corpus_file *file, void *ctx) {
    struct verdicts *verdicts = ctx;
    struct upk_doc *doc = NULL;
    struct upk_error decoded, checked;
    const bool accepted = upk_decode(&values, file->bytes, file->len, NULL, &doc, &decoded);
    if (upk_check(&values, file->bytes, file->len, NULL, &checked) != accepted) fail_msg("%s", file->path);
    if (accepted) {
        verdicts->accepted++;
    } else {
        assert_null(doc);
        assert_int_equal(decoded.code, checked.code);
        assert_int_equal(decoded.offset, checked.offset);
        assert_string_equal(decoded.detail, checked.detail);
        assert_string_equal(decoded.path, checked.path);
        verdicts->refused++;
    }
    upk_doc_free(doc);
}

static void check_and_decode_agree(void **state) {
    (void)state;
    struct verdicts verdicts = {0};
    corpus_each("good", 5000, check_as_decode, &verdicts);
    corpus_each("hostile", 5000, check_as_decode, &verdicts);
    assert_in_range(verdicts.accepted, 100, SIZE_MAX);
    assert_in_range(verdicts.refused, 100, SIZE_MAX);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(buffers_are_those_that_were_given),
        TEST(trailing_bytes_are_left_alone_when_allowed),
        TEST(the_host_is_asked_for_each_persistent_id),
        TEST(a_host_may_bring_the_secret),
        TEST(a_document_knows_what_it_holds),
        TEST(a_scan_counts_what_a_stream_needs),
        TEST(check_and_decode_agree),
        TEST(dangerous_names_are_those_of_the_list),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
