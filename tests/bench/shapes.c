/* What matching costs, apart from decoding: match_document, called again and again on documents that were decoded before.
 *
 * usage: shapes PAYLOADS ROUNDS
 *
 * Writes a line for each payload and root: payload, root, values, pairs of value and type, nanoseconds of one proof by search
 * (the median over the rounds, in each of which every proof is timed once), and of one by refutation, which is how graphs are
 * proved that may have cycles.  Under callgrind each proof is made once, and its instructions are a dump of that name.
 *
 * Layer: tests only, over the runtime's private matching.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "../../runtime/doc.h"
#include "shapes.h"

struct proof {
    const char *payload;
    const struct upk_policy *policy;
    void *bytes;
    struct upk_doc *doc;
    uint64_t values, pairs[2];
    double *times[2]; /* of each round */
};

enum { BY_SEARCH, BY_REFUTATION, LEAST_NANOSECONDS = 1000000 };

static struct proof proofs[] = {
    {.payload = "a_api", .policy = &shapes_any},
    {.payload = "a_api", .policy = &shapes_json},
    {.payload = "a_api", .policy = &shapes_page},
    {.payload = "a2_api_unshared", .policy = &shapes_json},
    {.payload = "a2_api_unshared", .policy = &shapes_page},
    {.payload = "b_ints", .policy = &shapes_any},
    {.payload = "b_ints", .policy = &shapes_json},
    {.payload = "b_ints", .policy = &shapes_ints},
    {.payload = "c_strs", .policy = &shapes_any},
    {.payload = "c_strs", .policy = &shapes_json},
    {.payload = "c_strs", .policy = &shapes_strs},
    {.payload = "d_dict", .policy = &shapes_any},
    {.payload = "d_dict", .policy = &shapes_json},
    {.payload = "d_dict", .policy = &shapes_table},
    {.payload = "e_objs", .policy = &shapes_any},
    {.payload = "e_objs", .policy = &shapes_items},
    {.payload = "f_std", .policy = &shapes_any},
    {.payload = "f_std", .policy = &shapes_std},
    {.payload = "i_deep", .policy = &shapes_any},
    {.payload = "i_deep", .policy = &shapes_json},
    {.payload = "j_tiny", .policy = &shapes_any},
    {.payload = "j_tiny", .policy = &shapes_json},
};
enum { PROOFS = sizeof proofs / sizeof *proofs };

static void check(bool good, const char *what, const struct proof *p) {
    if (good) return;
    fprintf(stderr, "shapes: %s %s: %s\n", p->payload, p->policy->pool + p->policy->channel.at, what);
    exit(1);
}

static void load(struct proof *p, const char *folder, size_t rounds) {
    char path[500];
    (void)snprintf(path, sizeof path, "%s/%s.p4.pkl", folder, p->payload);
    FILE *file = fopen(path, "rb");
    check(file && fseek(file, 0, SEEK_END) == 0, "cannot be read", p);
    const size_t len = (size_t)ftell(file);
    rewind(file);
    p->bytes = malloc(len);
    check(p->bytes && fread(p->bytes, 1, len, file) == len, "cannot be read", p);
    (void)fclose(file);
    struct upk_scan_result *scan;
    struct upk_error err;
    check(upk_decode(p->policy, p->bytes, len, NULL, &p->doc, &err), err.detail, p);
    check(upk_scan(p->bytes, len, &(struct upk_options){.budgets = p->policy->budgets}, &scan, &err),
          err.detail, p);
    p->values = scan->figures[UPK_BUDGET_EXPANDED];
    upk_scan_free(scan);
    for (int way = 0; way < 2; way++) {
        p->times[way] = calloc(rounds, sizeof(double));
        check(p->times[way] != NULL, "out of memory", p);
    }
}

static void prove(struct proof *p, int way) {
    struct match_result why;
    p->doc->stale = way == BY_REFUTATION;
    check(match_document(p->doc, UINT64_MAX, &p->pairs[way], &why) == MATCH_OK, "refused", p);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds of one proof; what takes little is repeated. */
static double time_proof(struct proof *p, int way) {
    const double start = now();
    double end = start;
    size_t n = 0;
    for (size_t most = 1; end - start < LEAST_NANOSECONDS; most *= 2) {
        for (; n < most; n++) prove(p, way);
        end = now();
    }
    return (end - start) / (double)n;
}

static int compare_times(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t n) {
    qsort(times, n, sizeof *times, compare_times);
    return times[n / 2];
}

static void count(struct proof *p, int way) {
    char name[300];
    (void)snprintf(name, sizeof name, "%s %.*s %s", p->payload, (int)p->policy->channel.len,
                   p->policy->pool + p->policy->channel.at, way == BY_SEARCH ? "search" : "refutation");
    CALLGRIND_TOGGLE_COLLECT;
    prove(p, way);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
}

int main(int argc, char **argv) {
    const size_t rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (rounds == 0) {
        fputs("usage: shapes PAYLOADS ROUNDS\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < PROOFS; i++) load(&proofs[i], argv[1], rounds);
    if (RUNNING_ON_VALGRIND) {
        for (size_t i = 0; i < 2 * PROOFS; i++) count(&proofs[i / 2], (int)(i % 2));
        return 0;
    }
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < 2 * PROOFS; i++)
            proofs[i / 2].times[i % 2][round] = time_proof(&proofs[i / 2], (int)(i % 2));
    for (size_t i = 0; i < PROOFS; i++) {
        struct proof *p = &proofs[i];
        printf("%s %.*s %llu %llu %.1f %.1f\n", p->payload, (int)p->policy->channel.len,
               p->policy->pool + p->policy->channel.at, (unsigned long long)p->values,
               (unsigned long long)p->pairs[BY_SEARCH], median(p->times[BY_SEARCH], rounds),
               median(p->times[BY_REFUTATION], rounds));
        upk_doc_free(p->doc);
        free(p->bytes);
        free(p->times[BY_SEARCH]);
        free(p->times[BY_REFUTATION]);
    }
    return 0;
}
