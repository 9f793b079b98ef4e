/* Where in the value a refusal stands: what the opcode at fault makes or changes is followed to where it ends up, whatever it is,
 * without cost to those who do not ask, and within the budgets.  test_places.py asks the same of names in random values.
 *
 * Layer: tests over the compiler and the runtime together.
 */
#define _POSIX_C_SOURCE 200809L
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
#include "costs.h"
#include "pieces.h"

#define SLOWER (SANITIZED ? 100.0 : 1.0)

struct refused {
    const char *settings, *stream; /* of the policy */
    size_t len;
    unsigned code;
    const char *path;
};

#define CASE(settings, stream, code, path) \
    { settings, stream, sizeof(stream) - 1, UPK_ERR_##code, path }

static const char rows[] =
    "module m { class A new() state any because \"t\"; class F call(a: any) because \"t\";"
    " class K new() kw { *: any } because \"t\"; class S new() adds any because \"t\";"
    " class L new() items any because \"t\"; class D new() pairs any: any because \"t\"; } root any;";

static const struct refused all[] = {
    /* scalars, which have no identity */
    CASE("budget string 3;", "\200\4}(\x8c\1a\x8c\4longu.", BUDGET, "$.a"),
    CASE("budget string 3;", "\200\4}(NN\x8c\4longNu.", BUDGET, "$.keys[1]"),
    CASE("budget string 3;", "\200\4}\x8c\4longNs.", BUDGET, "$.keys[0]"),
    CASE("budget string 3;", "\200\4K\1\x8c\4long\x86.", BUDGET, "$[1]"),
    CASE("budget string 3;", "\200\4](K\1K\2e\x8c\4longa.", BUDGET, "$[2]"),
    CASE("budget string 3;", "\200\4\x8f(K\1\x90(K\2\x8c\4long\x90.", BUDGET, "$[2]"),
    CASE("budget string 3;", "\200\4(K\1\x8c\4long\x91\x85.", BUDGET, "$[0][1]"),
    CASE("budget string 3;", "\200\4(NN\x8c\4longNd.", BUDGET, "$.keys[1]"),
    CASE("budget string 3;", "\200\4]cm\nA\n)\x81\x8c\4longba.", BUDGET, "$[0].state"),
    CASE("budget string 3;", "\200\4(\x8c\4long\x94h\0h\0l.", BUDGET, "$[0]"),
    CASE("budget string 3;", "\200\4(h\0\x8c\4longl.", MEMO_UNSET, "$"),
    CASE("budget digits 2;", "(I1\nI123\nl.", BUDGET, "$[1]"),
    CASE("budget long 2;", "\200\2(K\1\x8a\3\0\0\1l.", BUDGET, "$[1]"),
    CASE("budget string 7;", "\200\2]c_codecs\nencode\nX\x8\0\0\0verylongX\6\0\0\0latin1\x86Ra.", BUDGET,
         "$[0]"),
    CASE("", "\200\2(K\1U\1xl.", OPCODE_REFUSED, "$[1]"),
    CASE("", "\200\2(K\1\x82\1l.", OPCODE_REFUSED, "$[1]"),
    CASE("", "\200\5(K\1\x97\x98l.", OPCODE_REFUSED, "$[1]"),
    CASE("opcodes core, buffer;", "\200\5(K\1\x97\x98\x97l.", BUFFER_MISSING, "$[1]"),
    /* one of a run of ints, a memo key, a mark, the last opcode that is allowed */
    CASE("budget nodes 4;", "\200\2](K\1K\2K\3K\4K\5e.", BUDGET, "$[3]"),
    CASE("budget opcodes 5;", "\200\2](K\1K\2K\3K\4K\5e.", BUDGET, "$[2]"),
    CASE("budget memo 1;", "\200\4]\x94(N]\x94h\0e.", BUDGET, "$[1]"),
    CASE("budget memo 1;", "\200\2]q\0(N]q\1h\0e.", BUDGET, "$[1]"),
    CASE("budget marks 1;", "\200\2](](K\1K\2ee.", BUDGET, "$[0][0]"),
    CASE("budget marks 1;", "\200\2](((K\1ttee.", BUDGET, "$"),
    CASE("budget names 1;", "\200\2(cm\nA\n)\201cm\nS\n)\x81l.", BUDGET, "$[1]"),
    CASE("budget calls 1;", "\200\2(cm\nA\n)\201cm\nS\n)\x81l.", BUDGET, "$[1]"),
    CASE("budget name 2;", "\200\2(Ncm\nLong\nl.", NAME_LENGTH, "$[1]"),
    /* what an opcode changes */
    CASE("budget items 2;", "\200\2]](K\1K\2K\3ea.", BUDGET, "$[0]"),
    CASE("budget items 2;", "\200\2K\1]q\0(K\1K\2K\3eh\0\x87.", BUDGET, "$[1]"),
    CASE("", "\200\2]}(K\1NK\1Nua.", EQUAL_KEYS, "$[0]"),
    CASE("", "\200\2]}(K\1N]Nua.", UNHASHABLE, "$"),
    CASE("", "\200\2cm\nF\n]q\0\x85Rh\0K\1a\x86.", LATE_CHANGE, "$[1]"),
    CASE("", "\200\2](Ncm\nA\n)\x81K\1ae.", STEP, "$[1]"),
    CASE("", "\200\2]cm\nA\n)\x81NbNba.", BUILD_TWICE, "$"),
    CASE("", "\200\2]cm\nF\nN\x85R)Ra.", CALLED_VALUE, "$[0]"),
    /* what takes it up */
    CASE("",
         "\200\4]cm\nK\n)}\x8c\1acm\nNo\ns\x92"
         "a.",
         GLOBAL, "$[0].kwargs.a"),
    CASE("",
         "\200\4]cm\nK\n)cm\nNo\n\x92"
         "a.",
         GLOBAL, "$"),
    CASE("",
         "\200\4]cm\nNo\n)}\x92"
         "a.",
         GLOBAL, "$[0]"),
    CASE("", "\200\4cm\nS\n)\x81(K\1\x90(K\2cm\nNo\n\x90.", GLOBAL, "$[2]"),
    CASE("", "\200\4cm\nL\n)\x81(K\1eK\2a(Ncm\nNo\ne.", GLOBAL, "$[3]"),
    CASE("", "\200\4cm\nD\n)\x81(K\1K\2u(\x8c\1bcm\nNo\nu.", GLOBAL, "$.b"),
    CASE("", "\200\4cm\nD\n)\x81(K\1K\2ucm\nNo\nNs.", GLOBAL, "$.keys[1]"),
    CASE("", "\200\2]q\0h\0cm\nNo\nacm\nF\nh\0\x85R\x87.", GLOBAL, "$[1][0]"),
    CASE("opcodes core, dup;", "\200\2]22cm\nNo\naaa.", GLOBAL, "$[2][1][0]"),
    CASE("opcodes core, persid;", "\200\2(Ncm\nNo\n\x85Ql.", GLOBAL, "$[1].id[0]"),
    CASE("opcodes core, persid;", "(NPodd\xff\nl.", PERSID_ASCII, "$"),
    /* a value that comes from the memo stands where it was first */
    CASE("", "\200\2](]cm\nNo\nq\0a(h\0)\x81h\0e.", GLOBAL, "$"),
    CASE("", "\200\2](]cm\nNo\nq\0ah\0e.", GLOBAL, "$[0][0]"),
    /* nothing is known where the rest leads nowhere */
    CASE("", "\200\2](cm\nNo\nK\1", GLOBAL, "$"),
    CASE("", "\200\2](cm\nNo\n0Ne.", GLOBAL, "$"),
    CASE("", "\200\2](N(cm\nNo\nN1e.", GLOBAL, "$"),
    CASE("", "\200\2](cm\nNo\ne\xff.", GLOBAL, "$"),
    CASE("", "\200\2](cm\nNo\neN.", GLOBAL, "$"),
    CASE("", "\200\2](cm\nNo\ne.N", GLOBAL, "$"),
    CASE("", "\200\2cm\nNo\n.", GLOBAL, "$"),
};

static const struct upk_policy *policy_of(struct trial *t, const char *settings) {
    char text[1000];
    (void)snprintf(text, sizeof text, "policy p 1; %s %s", settings, rows);
    return trial_policy(t, text);
}

static void the_path_leads_to_what_is_at_fault(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct refused *r = &all[i];
        struct trial trial;
        struct upk_error err = {0};
        trial_init(&trial);
        assert_false(upk_check(policy_of(&trial, r->settings), r->stream, r->len, NULL, &err));
        if (err.code != r->code || strcmp(err.path, r->path) != 0)
            fail_msg("%zu: R%u at %u, %s `%s'; expected R%u %s", i, err.code, (unsigned)err.offset, err.path,
                     err.detail, r->code, r->path);
        trial_free(&trial);
    }
}

static bool refuse_odd(void *ctx, struct upk_value id) {
    (void)id;
    return ++*(int *)ctx % 2;
}

static void the_host_is_not_asked_again(void **state) {
    static const char stream[] = "\200\2(K\1QK\2QK\3QK\4Ql.";
    int asked = 0;
    const struct upk_options options = {.persid = refuse_odd, .persid_ctx = &asked};
    struct upk_error err;
    assert_false(
        upk_check(policy_of(*state, "opcodes core, persid;"), stream, sizeof stream - 1, &options, &err));
    assert_int_equal(err.code, UPK_ERR_PERSID_REFUSED);
    assert_string_equal(err.path, "$[1]");
    assert_int_equal(asked, 2);
}

static void nothing_is_read_for_it(void **state) {
    static const char stream[] = "\200\2(K\1cm\nNo\nK\2l.";
    static const char *const paths[] = {[LEAST] = "$", [MOST] = "$[1]"};
    const struct upk_policy *policy = policy_of(*state, "");
    for (enum how_much how = LEAST; how <= MOST; how++) {
        struct pieces pieces = {.bytes = (const uint8_t *)stream, .len = sizeof stream - 1, .how = how};
        struct upk_doc *doc;
        struct upk_error err;
        assert_false(upk_decode_from(policy, pieces_read, &pieces, NULL, &doc, &err));
        assert_int_equal(err.code, UPK_ERR_GLOBAL);
        assert_string_equal(err.path, paths[how]);
        if (how == LEAST) assert_int_equal(pieces.given, err.offset + sizeof "cm\nNo\n" - 1);
    }
}

static void an_object_deep_down_has_the_beginning_of_its_path(void **state) {
    struct bytes b = {0};
    struct upk_error err;
    PUT(&b, "\200\2");
    for (int i = 0; i < 300; i++) PUT(&b, "K\1");
    PUT(&b, "cm\nNo\n");
    for (int i = 0; i < 300; i++) PUT(&b, "\x86");
    PUT(&b, ".");
    assert_false(upk_check(policy_of(*state, ""), b.at, b.len, NULL, &err));
    assert_int_equal(strlen(err.path), sizeof err.path - 1);
    assert_memory_equal(err.path, "$[1][1][1]", 10);
    assert_string_equal(err.path + strlen(err.path) - 3, "...");
    free(b.at);
}

/* ---- what it costs */

/* A list of a name that is not granted, then of what `put_rest` writes. */
static struct bytes followed_by(size_t count, const char *rest) {
    struct bytes b = {0};
    PUT(&b, "\200\2](cm\nNo\n");
    for (size_t i = 0; i < count; i++) put(&b, rest, strlen(rest));
    PUT(&b, "e.");
    return b;
}

static void a_place_very_far_up_is_not_looked_for(void **state) {
    const struct upk_policy *policy = policy_of(*state, "");
    for (int far = 0; far < 2; far++) {
        struct bytes b = followed_by(far ? 1 << 20 : (1 << 20) - 10, "N");
        struct upk_error err;
        const double start = now_us();
        assert_false(upk_check(policy, b.at, b.len, NULL, &err));
        const double took = now_us() - start;
        assert_int_equal(err.code, UPK_ERR_GLOBAL);
        assert_string_equal(err.path, far ? "$" : "$[0]");
        if (took > 1e6 * SLOWER) fail_msg("%.0f us", took);
        free(b.at);
    }
}

/* The same list holds itself again and again: each step costs as much as the first. */
static void what_takes_it_up_is_not_searched(void **state) {
    enum { TIMES = 200000 };
    struct bytes b = {0};
    struct upk_error err;
    PUT(&b, "\200\2]");
    for (int i = 0; i < TIMES; i++) PUT(&b, "2");
    PUT(&b, "cm\nNo\n");
    for (int i = 0; i <= TIMES; i++) PUT(&b, "a");
    PUT(&b, ".");
    const double start = now_us();
    assert_false(upk_check(policy_of(*state, "opcodes core, dup;"), b.at, b.len, NULL, &err));
    const double took = now_us() - start;
    assert_string_equal(err.path + strlen(err.path) - 3, "...");
    if (took > 1e6 * SLOWER) fail_msg("%.0f us", took);
    free(b.at);
}

struct use {
    size_t held, most, calls, fail_at; /* 0: never; that call and all later ones fail */
};

static void *count_use(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct use *use = ctx;
    if (new_size && ++use->calls >= use->fail_at && use->fail_at) return NULL;
    use->held += new_size - old_size;
    if (use->held > use->most) use->most = use->held;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

static void it_stays_within_the_budget_of_memory(void **state) {
    enum { MEMORY = 1 << 20 };
    const struct upk_policy *policy = policy_of(*state, "budget memory 1048576;");
    for (int much = 0; much < 2; much++) {
        struct bytes b = followed_by(much ? 100000 : 100, "]");
        struct use use = {0};
        const struct upk_allocator allocator = {count_use, &use};
        const struct upk_options options = {.allocator = &allocator};
        struct upk_error err;
        assert_false(upk_check(policy, b.at, b.len, &options, &err));
        assert_int_equal(err.code, UPK_ERR_GLOBAL);
        assert_string_equal(err.path, much ? "$" : "$[0]");
        assert_in_range(use.most, much ? MEMORY / 4 : 0, MEMORY);
        assert_int_equal(use.held, 0);
        /* Who does not ask pays nothing. */
        const size_t most = use.most;
        use = (struct use){0};
        assert_false(upk_check(policy, b.at, b.len, &options, NULL));
        assert_true(use.most < most);
        assert_int_equal(use.held, 0);
        free(b.at);
    }
}

static void without_memory_the_refusal_stays(void **state) {
    const struct upk_policy *policy = policy_of(*state, "");
    struct bytes b = followed_by(1000, "]");
    bool was_cut = false, done = false;
    for (size_t i = 1; !done; i++) {
        struct use use = {.fail_at = i};
        const struct upk_allocator allocator = {count_use, &use};
        const struct upk_options options = {.allocator = &allocator};
        struct upk_error err;
        assert_false(upk_check(policy, b.at, b.len, &options, &err));
        assert_int_equal(use.held, 0);
        if (err.code == UPK_ERR_MEMORY) continue;
        assert_int_equal(err.code, UPK_ERR_GLOBAL);
        assert_int_equal(err.offset, 4);
        assert_string_equal(err.name, "No");
        done = use.calls < i;
        assert_string_equal(err.path, done ? "$[0]" : "$");
        was_cut = was_cut || !done;
    }
    assert_true(was_cut);
    free(b.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_leads_to_what_is_at_fault),
        cmocka_unit_test_setup_teardown(the_host_is_not_asked_again, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_read_for_it, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(an_object_deep_down_has_the_beginning_of_its_path, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test_setup_teardown(a_place_very_far_up_is_not_looked_for, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(what_takes_it_up_is_not_searched, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(it_stays_within_the_budget_of_memory, trial_set_up, trial_tear_down),
        cmocka_unit_test_setup_teardown(without_memory_the_refusal_stays, trial_set_up, trial_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
