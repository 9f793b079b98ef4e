/* What is asked of many objects costs what their number costs: flags put together, scalars of one record.
 *
 * Times are the thread's CPU time; builds with sanitizers get more.
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

#define SLOWER (SANITIZED ? 100.0 : 1.0)

extern const struct upk_policy numpy; /* shipped; a helper beside this file has the name of its header */

/* SHORT_BINUNICODE */
static void put_str(struct bytes *b, const char *text) {
    const uint8_t head[2] = {0x8c, (uint8_t)strlen(text)};
    put(b, head, 2);
    put(b, text, strlen(text));
}

/* BININT */
static void put_int(struct bytes *b, int32_t i) {
    const uint32_t n = (uint32_t)i;
    const uint8_t code[5] = {'J', (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
    put(b, code, 5);
}

/* LONG_BINPUT or LONG_BINGET */
static void put_memo(struct bytes *b, char op, uint32_t key) {
    const uint8_t code[5] = {(uint8_t)op, (uint8_t)key, (uint8_t)(key >> 8), (uint8_t)(key >> 16),
                             (uint8_t)(key >> 24)};
    put(b, code, 5);
}

/* Seconds that a policy takes for a stream. */
static double seconds(const struct upk_policy *policy, const struct bytes *b, bool *accepted,
                      struct upk_error *err) {
    const double start = now_us();
    *accepted = upk_check(policy, b->at, b->len, NULL, err);
    return (now_us() - start) / 1e6;
}

enum { FLAGS = 400 };

static const struct upk_policy *many_flags(struct trial *t) {
    struct bytes text = {0};
    PUT(&text, "policy p 1; module app {\n");
    for (int i = 0; i < FLAGS; i++) {
        char row[60];
        const int len = snprintf(row, sizeof row, "flag F%03d { A = 1, B = 2 };\n", i);
        put(&text, row, (size_t)len);
    }
    put(&text, "} root any;", sizeof "} root any;");
    const struct upk_policy *policy = trial_policy(t, (const char *)text.at);
    free(text.at);
    return policy;
}

/* or_(or_(or_(A, B), B), B) ... of the last flag, in chains of `length`. */
static struct bytes chains(int count, int length) {
    struct bytes b = {0};
    char name[20];
    PUT(&b, "\x80\x04](");
    put_str(&b, "operator"), put_str(&b, "or_"), PUT(&b, "\x93"), put_memo(&b, 'r', 0), PUT(&b, "0");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "F%03d.%c", FLAGS - 1, 'A' + i);
        put_str(&b, "app"), put_str(&b, name), PUT(&b, "\x93"), put_memo(&b, 'r', (uint32_t)i + 1),
            PUT(&b, "0");
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < length; k++) put_memo(&b, 'j', 0);
        put_memo(&b, 'j', 1);
        for (int k = 0; k < length; k++) put_memo(&b, 'j', 2), PUT(&b, "\x86R");
    }
    PUT(&b, "e.");
    return b;
}

static void chains_of_flags_are_linear(void **state) {
    const struct upk_policy *const policy = many_flags(*state);
    struct upk_error err;
    bool accepted;
    struct bytes b = chains(100, 60);
    const double few = seconds(policy, &b, &accepted, &err);
    assert_true(accepted);
    assert_true(few < 0.3 * SLOWER);
    free(b.at);
    /* What costs more is refused before it does. */
    b = chains(600, 60);
    const double many = seconds(policy, &b, &accepted, &err);
    assert_true(accepted || (err.code == UPK_ERR_BUDGET && err.budget == UPK_BUDGET_MATCHES));
    assert_true(many < 2 * SLOWER);
    free(b.at);
}

enum { FIELDS = 1000, SCALARS = 200 };

static void put_field_names(struct bytes *b, bool with_fields) {
    char name[12];
    for (int i = 0; i < FIELDS; i++) {
        (void)snprintf(name, sizeof name, "field%04d", i);
        put_str(b, name);
        if (with_fields) put_memo(b, 'j', 1), put_int(b, i), PUT(b, "\x86");
    }
}

/* A list of scalars of one record of bytes, whose names are written out each time. */
static struct bytes scalars(void) {
    static const char zeros[FIELDS];
    struct bytes b = {0};
    PUT(&b, "\x80\x04](");
    put_str(&b, "numpy"), put_str(&b, "dtype"), PUT(&b, "\x93"), put_memo(&b, 'r', 0);
    put_str(&b, "u1"), PUT(&b, "\x89\x88\x87R(K\3"), put_str(&b, "|"), PUT(&b, "NNN");
    put_int(&b, -1), put_int(&b, -1), PUT(&b, "K\0tb"), put_memo(&b, 'r', 1), PUT(&b, "0");
    put_memo(&b, 'j', 0), put_str(&b, "V1000"), PUT(&b, "\x89\x88\x87R(K\3"), put_str(&b, "|"), PUT(&b, "N(");
    put_field_names(&b, false);
    PUT(&b, "t}(");
    put_field_names(&b, true);
    PUT(&b, "u"), put_int(&b, FIELDS), PUT(&b, "K\1K\20tb"), put_memo(&b, 'r', 2), PUT(&b, "0");
    put_str(&b, "numpy._core.multiarray"), put_str(&b, "scalar"), PUT(&b, "\x93"), put_memo(&b, 'r', 3);
    PUT(&b, "0B\xe8\3\0\0"), put(&b, zeros, FIELDS), put_memo(&b, 'r', 4), PUT(&b, "0");
    for (int i = 0; i < SCALARS; i++)
        put_memo(&b, 'j', 3), put_memo(&b, 'j', 2), put_memo(&b, 'j', 4), PUT(&b, "\x86R");
    PUT(&b, "e.");
    return b;
}

static void a_record_is_proved_once_for_all_its_scalars(void **state) {
    (void)state;
    struct bytes b = scalars();
    struct upk_error err;
    bool accepted;
    const double took = seconds(&numpy, &b, &accepted, &err);
    if (!accepted) fail_msg("%u %s", err.code, err.detail);
    assert_true(took < 0.1 * SLOWER);
    free(b.at);
}

enum { TEXTS = 14, TEXT = 20000, SHARERS = 3000 };

/* A state of long texts that many objects share, and whose last member two alternatives of a union may take. */
static void a_state_is_looked_through_once_for_all_that_share_it(void **state) {
    static const uint8_t text_head[] = {'X', TEXT & 255, TEXT >> 8, 0, 0};
    const struct upk_policy *const policy = trial_policy(
        *state, "policy p 1; type L = str chars \"a-z\"; module m { class T call() state tuple<"
                "L, L, L, L, L, L, L, L, L, L, L, L, L, L, tuple<int> | tuple<str>>; } root any;");
    static char text[TEXT];
    struct bytes b = {0};
    struct upk_error err;
    bool accepted;
    memset(text, 'x', sizeof text);
    PUT(&b, "\x80\x04](cm\nT\n"), put_memo(&b, 'r', 0), PUT(&b, "0(");
    for (int i = 0; i < TEXTS; i++) put(&b, text_head, sizeof text_head), put(&b, text, sizeof text);
    PUT(&b, "K\1\x85t"), put_memo(&b, 'r', 1), PUT(&b, "0");
    for (int i = 0; i < SHARERS; i++) put_memo(&b, 'j', 0), PUT(&b, ")R"), put_memo(&b, 'j', 1), PUT(&b, "b");
    PUT(&b, "e.");
    const double took = seconds(policy, &b, &accepted, &err);
    if (!accepted) fail_msg("%u %s", err.code, err.detail);
    assert_true(took < 0.1 * SLOWER);
    free(b.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_state_is_looked_through_once_for_all_that_share_it, trial_set_up,
                                        trial_tear_down),
        cmocka_unit_test_setup_teardown(chains_of_flags_are_linear, trial_set_up, trial_tear_down),
        cmocka_unit_test(a_record_is_proved_once_for_all_its_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
