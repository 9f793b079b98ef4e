/* Questions to generated look-ups of five sizes.
 *
 *   generated probe     exactness against the oracle of find_class_probe.c, and against the same template at run time
 *   generated count     under callgrind: one dump for each size, reading and kind of question ("200 new hit")
 *
 * Layer: tests only, over tables that policyc wrote.
 */
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "../unit/find_class_probe.h"

#define SIZES(X) X(10) X(200) X(1000) X(5000) X(20000)

#define DECLARE(n) extern const struct upk_policy synthetic_rows_##n;
SIZES(DECLARE)
#undef DECLARE

static const struct {
    unsigned rows;
    const struct upk_policy *policy;
} sets[] = {
#define LIST(n) {n, &synthetic_rows_##n},
    SIZES(LIST)
#undef LIST
};
enum { SETS = sizeof sets / sizeof *sets, ROOM = 272, QUESTIONS = 500 };

static const char *const readings[] = {"old", "new"};

/* ---- probe ------------------------------------------------------------ */

static unsigned passed, failed;

static void report(bool good, unsigned rows, const char *what, const char *detail) {
    if (good) {
        passed++;
    } else {
        failed++;
        printf("%u rows: %s: %s\n", rows, what, detail);
    }
}

static void probe(void) {
    for (size_t i = 0; i < SETS; i++) {
        const struct upk_policy *const p = sets[i].policy;
        struct upk_error err = {0};
        report(upk_policy_check(p, &err), sets[i].rows, "structure", err.detail);
        for (size_t r = 0; r < 2; r++) {
            struct probe_report got;
            const bool ran =
                probe_find_class(p->keys[r], p->find_class[r], p->keys[r], upk_find_class_any, &got);
            report(ran && got.wrong == 0, sets[i].rows, readings[r], got.first_wrong);
            report(ran && got.hits >= 2 * sets[i].rows && got.misses >= 100 * (size_t)sets[i].rows,
                   sets[i].rows, readings[r], "too few questions");
        }
    }
    printf("%u passed, %u failed\n", passed, failed);
}

/* ---- count ------------------------------------------------------------ */

struct question {
    uint8_t module[ROOM], name[ROOM];
    size_t module_len, name_len;
};

static struct question questions[QUESTIONS];
static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

static void ask_key(struct question *q, const struct upk_policy *p) {
    const struct upk_keys *const k = p->keys[1];
    const struct upk_key *key;
    do key = &k->slots[next_random() % k->slot_count];
    while (key->row[1] == 0);
    memset(q, 0, sizeof *q);
    memcpy(q->module, k->pool + key->module, key->module_len);
    memcpy(q->name, k->pool + key->name, key->name_len);
    q->module_len = key->module_len;
    q->name_len = key->name_len;
}

static void ask_near(struct question *q, const struct upk_policy *p) {
    ask_key(q, p);
    q->name[next_random() % q->name_len] ^= 0x80; /* names are ASCII: never another key */
}

static void ask_random(struct question *q, const struct upk_policy *p) {
    (void)p;
    memset(q, 0, sizeof *q);
    q->module_len = next_random() % 257;
    q->name_len = next_random() % 257;
    for (size_t i = 0; i < q->module_len; i++) q->module[i] = (uint8_t)(next_random() | 0x80);
    for (size_t i = 0; i < q->name_len; i++) q->name[i] = (uint8_t)next_random();
}

static void count(void) {
    static const struct {
        const char *name;
        void (*ask)(struct question *q, const struct upk_policy *p);
        bool found;
    } kinds[] = {{"hit", ask_key, true}, {"near", ask_near, false}, {"random", ask_random, false}};
    for (size_t i = 0; i < SETS; i++) {
        const struct upk_policy *const p = sets[i].policy;
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            for (size_t j = 0; j < QUESTIONS; j++) kinds[kind].ask(&questions[j], p);
            for (size_t r = 0; r < 2; r++) {
                char label[64];
                unsigned found = 0;
                for (size_t j = 0; j < QUESTIONS; j++) {
                    const struct question *const q = &questions[j];
                    found +=
                        p->find_class[r](p->keys[r], q->module, q->module_len, q->name, q->name_len) != 0;
                }
                snprintf(label, sizeof label, "%u %s %s", sets[i].rows, readings[r], kinds[kind].name);
                CALLGRIND_DUMP_STATS_AT(label);
                if (r == 1 && found != (kinds[kind].found ? QUESTIONS : 0)) {
                    printf("%s: %u of %d found\n", label, found, QUESTIONS);
                    exit(1);
                }
            }
        }
    }
    printf("%d\n", QUESTIONS);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "probe") == 0) {
        probe();
        return failed != 0;
    }
    if (argc == 2 && strcmp(argv[1], "count") == 0) {
        count();
        return 0;
    }
    fprintf(stderr, "usage: generated probe|count\n");
    return 2;
}
