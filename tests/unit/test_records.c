/* Records in rows: what is remembered of the keys that dicts share, and of objects made alike, changes no verdict.
 *
 * Layer: tests over the compiler and the runtime together.
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

static const char *const POLICY = "policy p 1; type Inner = { a: int, b?: str, c?: int[0..9] };"
                                  "module m { class A new() state { a: int, b?: str, c: int[0..9], d?: Inner "
                                  "} | call(x: int[0..9], y: str);"
                                  "           class B new() state { a: str, b: int | Inner, *: float }; }";

struct bytes {
    uint8_t at[100000];
    size_t len;
};

static uint32_t below(uint32_t *random, uint32_t n) {
    *random = *random * 1103515245 + 12345;
    return (*random >> 12) % n;
}

static void add(struct bytes *to, const char *bytes, size_t n) {
    assert_true(to->len + n <= sizeof to->at);
    memcpy(to->at + to->len, bytes, n);
    to->len += n;
}
#define ADD(to, literal) add(to, literal, sizeof(literal) - 1)

/* The keys a to d are entries 0 to 3 of the memo. */
static void add_head(struct bytes *to) {
    ADD(to, "\x80\x02X\x01\0\0\0aq\0000X\x01\0\0\0bq\0010X\x01\0\0\0cq\0020X\x01\0\0\0dq\0030](");
}

/* Some of the keys in some order, from the memo or written again; a dict that is a value holds no other. */
static void add_dict(struct bytes *to, uint32_t *random, bool inner) {
    char keys[] = "abcd";
    const uint32_t n = below(random, 5);
    ADD(to, "}(");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = i + below(random, below(random, 3) ? 1 : 4 - i);
        const char key = keys[k], get[] = {'h', (char)(key - 'a')}, text[] = {'X', 1, 0, 0, 0, key};
        keys[k] = keys[i];
        keys[i] = key;
        if (below(random, 2)) {
            add(to, get, sizeof get);
        } else {
            add(to, text, sizeof text);
        }
        switch (below(random, inner ? 4 : 6)) {
        case 0: ADD(to, "K\x05"); break;
        case 1: ADD(to, "K\x32"); break;
        case 2: ADD(to, "X\x01\0\0\0s"); break;
        case 3: ADD(to, "G\x3f\xf0\0\0\0\0\0\0"); break;
        default: add_dict(to, random, true); break;
        }
    }
    ADD(to, "u");
}

static void add_object(struct bytes *to, uint32_t *random) {
    if (below(random, 8) == 0) {
        ADD(to, "cm\nA\n");
        if (below(random, 4)) {
            ADD(to, "K\x05");
        } else {
            ADD(to, "K\x32");
        }
        ADD(to, "X\x01\0\0\0s\x86R");
        return;
    }
    if (below(random, 2)) {
        ADD(to, "cm\nA\n)\x81");
    } else {
        ADD(to, "cm\nB\n)\x81");
    }
    add_dict(to, random, false);
    ADD(to, "b");
}

static unsigned verdict(const struct upk_policy *policy, const struct bytes *b) {
    struct upk_error err = {0};
    return upk_check(policy, b->at, b->len, NULL, &err) ? (unsigned)UPK_OK : err.code;
}

static unsigned verdict_alone(const struct upk_policy *policy, const struct bytes *object) {
    struct bytes b = {.len = 0};
    add_head(&b);
    add(&b, (const char *)object->at, object->len);
    ADD(&b, "e.");
    return verdict(policy, &b);
}

static void an_object_is_judged_behind_others_as_alone(void **state) {
    (void)state;
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *const policy = trial_policy(&trial, POLICY);
    unsigned fit = 0, refused = 0;
    for (uint32_t seed = 1; seed <= 150; seed++) {
        static struct bytes row, object;
        uint32_t random = seed * 2654435761u;
        row.len = 0;
        add_head(&row);
        for (unsigned fits = 0; fits < 60;) {
            object.len = 0;
            add_object(&object, &random);
            const unsigned code = verdict_alone(policy, &object);
            const size_t before = row.len;
            add(&row, (const char *)object.at, object.len);
            const size_t behind = row.len;
            ADD(&row, "e.");
            assert_int_equal(verdict(policy, &row), code);
            if (code == UPK_OK) {
                row.len = behind;
                fits++;
                fit++;
            } else {
                row.len = before;
                refused++;
            }
        }
    }
    assert_true(fit > 1000 && refused > 1000);
    trial_free(&trial);
}

enum { LISTS = 320, CLASSES = 60 };

/* An object of class C and a number, with a key of that list and the key z, in either order; the one's value is a str, the other's an
 * int. */
static void add_text(struct bytes *to, const char *text) {
    const char head[] = {'X', (char)strlen(text), 0, 0, 0};
    add(to, head, sizeof head);
    add(to, text, strlen(text));
}

static void add_pair(struct bytes *to, unsigned class, unsigned list, bool z_first, bool z_is_int) {
    char key[32], name[32];
    snprintf(key, sizeof key, "k%03u", list);
    add(to, name, (size_t)snprintf(name, sizeof name, "cm\nC%u\n)\x81}(", class));
    for (unsigned i = 0; i < 2; i++) {
        const bool is_z = (i == 0) == z_first;
        add_text(to, is_z ? "z" : key);
        if (is_z == z_is_int) {
            ADD(to, "K\x01");
        } else {
            add_text(to, "s");
        }
    }
    ADD(to, "ub");
}

/* Classes of which every third asks for the opposite of what the others ask for. */
static const struct upk_policy *many_classes(struct trial *trial) {
    static char text[10000];
    size_t n = (size_t)snprintf(text, sizeof text, "policy p 1; module m {");
    for (unsigned i = 0; i < CLASSES; i++)
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "class C%u new() state { z: %s, u%u?: none, *: %s };",
                             i, i % 3 ? "int" : "str", i, i % 3 ? "str" : "int");
    snprintf(text + n, sizeof text - n, "}");
    return trial_policy(trial, text);
}

/* More lists of keys than there are numbers for them, in two orders. */
static void there_may_be_any_number_of_lists_of_keys(void **state) {
    (void)state;
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *const policy = many_classes(&trial);
    for (unsigned wrong = 0; wrong <= LISTS; wrong += 40) {
        static struct bytes b;
        b.len = 0;
        ADD(&b, "\x80\x02](");
        for (unsigned i = 0; i < 3 * LISTS; i++) {
            const unsigned list = i / 3; /* no list comes back: few are remembered */
            add_pair(&b, 1, list, list / 16 % 2, i != 3 * wrong + 2);
        }
        ADD(&b, "e.");
        assert_int_equal(verdict(policy, &b), wrong == LISTS ? UPK_OK : UPK_ERR_RECIPE);
    }
    trial_free(&trial);
}

static void one_list_of_keys_may_be_that_of_any_number_of_classes(void **state) {
    (void)state;
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *const policy = many_classes(&trial);
    for (unsigned wrong = 0; wrong <= CLASSES; wrong++) {
        static struct bytes b;
        b.len = 0;
        ADD(&b, "\x80\x02](");
        for (unsigned i = 0; i < 3 * CLASSES; i++)
            add_pair(&b, i % CLASSES, 0, false,
                     (i % CLASSES % 3 != 0) == (wrong == CLASSES || i != 2 * CLASSES + wrong));
        ADD(&b, "e.");
        assert_int_equal(verdict(policy, &b), wrong == CLASSES ? UPK_OK : UPK_ERR_RECIPE);
    }
    trial_free(&trial);
}

/* What a state holds may change after its BUILD: a list, an object that waits for its own. */
static void a_state_is_judged_as_it_is_in_the_end(void **state) {
    (void)state;
    static const struct {
        const char *build, *later;
        size_t build_len, later_len;
        unsigned code;
    } cases[] = {
#define CASE(build, later, code) {build, later, sizeof(build) - 1, sizeof(later) - 1, code}
#define P                        "cm\nP\n)\x81}(X\1\0\0\0xh\0"
#define Q                        "X\1\0\0\0oh\1"
#define T                        "cm\nT\n)R(h\0K\1"
        CASE(P "ub", "", UPK_OK),
        CASE(P "ub", "h\0K\1a", UPK_OK),
        CASE(P "ub", "h\0X\1\0\0\0sa", UPK_ERR_RECIPE),
        CASE(P Q "ub", "", UPK_OK),
        CASE(P Q "ub", "h\1}X\1\0\0\0nK\1sb", UPK_OK),
        CASE(P Q "ub", "h\1}X\1\0\0\0nX\1\0\0\0ssb", UPK_ERR_RECIPE),
        CASE(P Q "ub", "h\0h\1a", UPK_ERR_RECIPE),
        CASE(T "\x86h\1tb", "", UPK_OK),
        CASE(T "\x86h\1tb", "h\1}X\1\0\0\0nX\1\0\0\0ssb", UPK_ERR_RECIPE),
        CASE(T "X\1\0\0\0s\x86h\1tb", "", UPK_ERR_RECIPE),
        CASE(T "\x86h\0tb", "", UPK_ERR_RECIPE),
        CASE(T "\x86h\1tb", "h\0K\1a", UPK_OK),
        CASE(T "\x86h\1tb", "h\0X\1\0\0\0sa", UPK_ERR_RECIPE),
#undef CASE
#undef P
#undef Q
#undef T
    };
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *const policy = trial_policy(
        &trial,
        "policy p 1; module m { class P new() state { x: list<int>, o?: m::Q };"
        "  class Q new() state? { n: int }; class T call() state tuple<tuple<list<int>, int>, m::Q>; }");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct bytes b;
        b.len = 0;
        ADD(&b, "\x80\x02](]q\0cm\nQ\n)\x81q\1");
        add(&b, cases[i].build, cases[i].build_len);
        add(&b, cases[i].later, cases[i].later_len);
        ADD(&b, "e.");
        const unsigned code = verdict(policy, &b);
        if (code != cases[i].code) fail_msg("case %zu: %u", i, code);
    }
    trial_free(&trial);
}

/* Dicts of as many pairs as those before, whose first key is theirs. */
static void keys_are_compared_where_only_some_are_those_of_a_list(void **state) {
    (void)state;
    static const struct {
        const char *dict;
        size_t len;
        unsigned code;
    } cases[] = {
#define CASE(dict, code) {dict, sizeof(dict) - 1, code}
        CASE("}(h\0K\1h\1K\1u", UPK_OK),
        CASE("}(h\0K\1X\1\0\0\0bK\1u", UPK_OK),
        CASE("}(h\1K\1h\0K\1u", UPK_OK),
        CASE("}(h\0K\1h\2K\1u", UPK_OK),
        CASE("}(h\0K\1K\1K\1u", UPK_OK),
        CASE("}(h\0K\1h\0K\1u", UPK_ERR_EQUAL_KEYS),
        CASE("}(h\1K\1h\1K\1u", UPK_ERR_EQUAL_KEYS),
        CASE("}(h\0K\1X\1\0\0\0aK\1u", UPK_ERR_EQUAL_KEYS),
        CASE("}(h\0K\1]K\1u", UPK_ERR_UNHASHABLE),
        CASE("}(h\0K\1h\1K\1u(h\0K\1h\2K\1u", UPK_ERR_EQUAL_KEYS),
        CASE("}(h\0K\1h\1K\1uh\1K\1s", UPK_ERR_EQUAL_KEYS),
#undef CASE
    };
    struct trial trial;
    trial_init(&trial);
    const struct upk_policy *const policy = trial_policy(&trial, "policy p 1; root any;");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned before = 0; before < 4; before++) {
            static struct bytes b;
            b.len = 0;
            add_head(&b);
            for (unsigned k = 0; k < before; k++) ADD(&b, "}(h\0K\1h\1K\1u");
            add(&b, cases[i].dict, cases[i].len);
            ADD(&b, "e.");
            const unsigned code = verdict(policy, &b);
            if (code != cases[i].code) fail_msg("case %zu behind %u: %u", i, before, code);
        }
    }
    trial_free(&trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_compared_where_only_some_are_those_of_a_list),
        cmocka_unit_test(a_state_is_judged_as_it_is_in_the_end),
        cmocka_unit_test(an_object_is_judged_behind_others_as_alone),
        cmocka_unit_test(there_may_be_any_number_of_lists_of_keys),
        cmocka_unit_test(one_list_of_keys_may_be_that_of_any_number_of_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
