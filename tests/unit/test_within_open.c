/* Comparisons of policies that ask a host for names, held against what a host's classes come to under both: of what is found within
 * another policy, that one accepts all streams.
 *
 * Layer: tests of the compiler's diff_open.c and inclusion.c against the runtime's decisions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/diff.h"
#include "../../runtime/upk.h"
#include "compiled.h"

/* Each policy differs from the one before in one piece; those are compared that are NEAR. */
enum { POLICIES = 300, NEAR = 5, PIECES = 6, LEAST_WITHIN = 150, MOST_MEMORY = 1 << 26 };

/* ---- a host */

struct name {
    const char *module, *name;
};

/* Classes in their order of inheritance, the class itself first. */
static const struct name classes[][5] = {
    {{"m", "A"}},
    {{"m", "A1"}, {"m", "A"}},
    {{"m", "B1"}, {"m", "B"}},
    {{"m", "AB"}, {"m", "A"}, {"m", "B"}},
    {{"m", "BA"}, {"m", "B"}, {"m", "A"}},
    {{"m", "K"}},
    {{"m", "Plain"}},
    {{"m", "Secret"}},
    {{"m", "Told"}, {"m", "A"}, {"m", "Secret"}},
    {{"m", "Mode"}, {"m", "B"}, {"enum", "Enum"}},
    {{"m", "Error"}, {"builtins", "ValueError"}, {"builtins", "Exception"}},
    {{"m", "Both"}, {"m", "A"}, {"builtins", "ValueError"}, {"builtins", "Exception"}},
    {{"os", "Thing"}, {"m", "B"}},
};

static bool text_same(struct upk_own_name n, const struct name *c) {
    return n.module_len == strlen(c->module) && memcmp(n.module, c->module, n.module_len) == 0 &&
           n.name_len == strlen(c->name) && memcmp(n.name, c->name, n.name_len) == 0;
}

static uint32_t nearest_base(const struct upk_policy *p, const struct name *order) {
    for (size_t i = 0; i < 5 && order[i].module; i++) {
        for (uint32_t k = 1; k < p->open_count; k++) {
            const struct upk_own_name base = {p->pool + p->opens[k].module.at,
                                              p->pool + p->opens[k].qualname.at, p->opens[k].module.len,
                                              p->opens[k].qualname.len};
            if (p->opens[k].kind == UPK_OPEN_SUBCLASSES && text_same(base, &order[i])) return k;
        }
    }
    return 0;
}

static bool answers(void *ctx, const struct upk_question *question, struct upk_answer *answer) {
    static struct upk_own_name names[5];
    (void)ctx;
    answer->found = UPK_FOUND_NOTHING;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (!text_same(question->name, &classes[i][0])) continue;
        size_t n = 0;
        for (; n < 5 && classes[i][n].module; n++)
            names[n] = (struct upk_own_name){classes[i][n].module, classes[i][n].name,
                                             strlen(classes[i][n].module), strlen(classes[i][n].name)};
        *answer = (struct upk_answer){.found = UPK_FOUND_CLASS,
                                      .base = nearest_base(question->policy, classes[i]),
                                      .names = names,
                                      .name_count = 1,
                                      .ancestors = names + 1,
                                      .ancestor_count = n - 1};
    }
    return true;
}

/* ---- streams */

/* What is done with the name. */
static const struct {
    const char *bytes;
    size_t len;
} uses[] = {
#define USE(text) \
    { text, sizeof(text) - 1 }
    USE("."),                       /* mentioned */
    USE(")R."),                     /* called */
    USE("K\x01\x85R."),             /* of an int */
    USE("\x8c\x01x\x85R."),         /* of a str */
    USE(")\x81."),                  /* made by new */
    USE(")\x81}\x8c\x01nK\x01sb."), /* with a state */
    USE("K\x01\x85R}\x8c\x01nK\x01sb."),
    USE(")\x81K\x01"
        "a."),                 /* with an item */
    USE(")\x81}h\x02K\x01s."), /* and no key */
#undef USE
};

static bool accepts(const struct upk_policy *p, const struct name *name, size_t use) {
    char stream[128];
    struct upk_error err;
    struct upk_doc *doc = NULL;
    const struct upk_options options = {.flags = UPK_ALLOW_FAIL_OPEN, .resolve = answers};
    const int n = snprintf(stream, sizeof stream, "\x80\x04\x8c%c%s\x94\x8c%c%s\x94\x93\x94",
                           (char)strlen(name->module), name->module, (char)strlen(name->name), name->name);
    memcpy(stream + n, uses[use].bytes, uses[use].len);
    const bool good = upk_decode(p, stream, (size_t)n + uses[use].len, &options, &doc, &err);
    upk_doc_free(doc);
    return good;
}

/* ---- policies */

#define FAIL_OPEN(denies)     "fail_open until \"2030-01-01\" because \"x\" { " denies " }"
#define SUBCLASSES(of, makes) "subclasses of " of " " makes " because \"x\";"

static const char *const pieces[PIECES][6] = {
    {"", "never m::Secret;", "never module os.*;", "never enum::Enum;",
     "never enum::Enum, m::Secret, module os;"},
    {"", FAIL_OPEN(""), FAIL_OPEN("deny m::Secret;"), FAIL_OPEN("deny module os;"),
     FAIL_OPEN("deny enum::Enum;")},
    {"", SUBCLASSES("A", "call(n: int)"), SUBCLASSES("A", "new() state? { n: int }"),
     SUBCLASSES("A", "new() runs __hash__, __eq__")},
    {"", SUBCLASSES("B", "call(n: str)"), SUBCLASSES("B", "new() runs __hash__, __eq__"),
     SUBCLASSES("B", "call(n: int | str)")},
    {"", "class K call(n: int);", "class Plain new();", "class AB call(n: int | str);"},
    {"", SUBCLASSES("ValueError", "call(n: int)"), SUBCLASSES("ValueError", "call(n: int) state? { n: int }"),
     SUBCLASSES("Exception", "call(args: any...)")},
};

static struct trial trials[POLICIES];
static const struct upk_policy *policies[POLICIES];
static char texts[POLICIES][800];

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static size_t kinds_of(size_t piece) {
    size_t n = 0;
    while (n < 6 && pieces[piece][n]) n++;
    return n;
}

static int set_up(void **state) {
    uint32_t seed = 7;
    const char *now[PIECES];
    (void)state;
    for (size_t k = 0; k < PIECES; k++) now[k] = pieces[k][0];
    for (size_t i = 0; i < POLICIES; i++) {
        const size_t piece = next(&seed) % PIECES;
        now[piece] = pieces[piece][next(&seed) % kinds_of(piece)];
        (void)snprintf(texts[i], sizeof texts[i],
                       "policy p 1; root any; %s %s module m { %s %s %s } module builtins { %s }", now[0],
                       now[1], now[2], now[3], now[4], now[5]);
        trial_init(&trials[i]);
        policies[i] = trial_policy(&trials[i], texts[i]);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) trial_free(&trials[i]);
    return 0;
}

static bool is_within(const struct upk_policy *inner, const struct upk_policy *outer) {
    struct mem m;
    struct diff_found *all;
    size_t count = 0;
    mem_init(&m, MOST_MEMORY);
    assert_true(diff_widened(outer, inner, &m, &all, &count));
    mem_free(&m);
    return count == 0;
}

static void look_for_a_counter_example(size_t inner, size_t outer) {
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        for (size_t use = 0; use < sizeof uses / sizeof *uses; use++) {
            if (!accepts(policies[inner], &classes[c][0], use) ||
                accepts(policies[outer], &classes[c][0], use))
                continue;
            fail_msg("%s::%s, use %zu:\n%s\nis not within\n%s", classes[c][0].module, classes[c][0].name, use,
                     texts[inner], texts[outer]);
        }
    }
}

static void what_is_within_is_accepted_there(void **state) {
    size_t within = 0;
    (void)state;
    for (size_t inner = 0; inner < POLICIES; inner++) {
        for (size_t outer = inner < NEAR ? 0 : inner - NEAR; outer < POLICIES && outer <= inner + NEAR;
             outer++) {
            if (strcmp(texts[inner], texts[outer]) == 0 || !is_within(policies[inner], policies[outer]))
                continue;
            within++;
            look_for_a_counter_example(inner, outer);
        }
    }
    assert_in_range(within, LEAST_WITHIN, POLICIES * 2 * NEAR);
}

/* Streams tell the policies apart: were all refused, or all alike, the test above would say nothing. */
static void streams_are_decided_in_many_ways(void **state) {
    size_t accepted = 0, refused = 0;
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) {
        for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
            for (size_t use = 0; use < sizeof uses / sizeof *uses; use++) {
                const bool good = accepts(policies[i], &classes[c][0], use);
                accepted += good;
                refused += !good;
            }
        }
    }
    assert_in_range(accepted, 2000, 1000000);
    assert_in_range(refused, 2000, 1000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_within_is_accepted_there),
        cmocka_unit_test(streams_are_decided_in_many_ways),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
