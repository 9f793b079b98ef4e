/* The host of a build farm: prints what its workers sent back, as far as farm.policy grants it.
 *
 * usage: farm FILE...          exit status 0: all accepted; 1: some refused; 2: a file cannot be read
 *
 * Layer: example, over an installed libupk and the compiled policy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <upk.h>

#include "farm.h"

/* The policy says that a mandatory field is there and of its type: false means that this program asks for another one. */
static bool print_step(const struct upk_doc *doc, struct upk_value step) {
    const char *text;
    size_t len;
    int64_t code;
    double seconds;
    struct upk_value warnings, warning;
    if (!upk_field_str(doc, step, "name", &text, &len) || !upk_field_int64(doc, step, "exit_code", &code) ||
        !upk_field_double(doc, step, "seconds", &seconds))
        return false;
    printf("  %.*s: exit %" PRId64 " after %.1f s\n", (int)len, text, code, seconds);
    if (!upk_object_field(doc, step, "warnings", &warnings)) return true;
    for (size_t i = 0; upk_at(warnings, i, &warning); i++) {
        if (!upk_get_str(warning, &text, &len)) return false;
        printf("    warning: %.*s\n", (int)len, text);
    }
    return true;
}

/* A member of an enum, which some versions of Python pickle by value and others by name. */
static bool print_mode(const struct upk_doc *doc, struct upk_value report) {
    struct upk_value mode, value;
    if (!upk_object_field(doc, report, "mode", &mode) || !upk_get_member(doc, mode, &value)) return false;
    printf("%s build\n", upk_str_is(value, "full") ? "full" : "quick");
    return true;
}

static bool print_report(const struct upk_doc *doc, struct upk_value report) {
    const char *job;
    size_t len;
    struct upk_value steps, step;
    if (!upk_field_str(doc, report, "job", &job, &len) || !upk_object_field(doc, report, "steps", &steps))
        return false;
    printf("%.*s: ", (int)len, job);
    if (!print_mode(doc, report)) return false;
    for (size_t i = 0; upk_at(steps, i, &step); i++)
        if (!print_step(doc, step)) return false;
    return true;
}

static bool print_failure(const struct upk_doc *doc, struct upk_value error) {
    const char *message;
    size_t len;
    int64_t step;
    if (!upk_field_str(doc, error, "message", &message, &len) || !upk_field_int64(doc, error, "step", &step))
        return false;
    printf("failed at step %" PRId64 ": %.*s\n", step, (int)len, message);
    return true;
}

static bool print_result(const struct upk_doc *doc) {
    const struct upk_value root = upk_doc_root(doc);
    switch (upk_value_row(doc, root)) {
    case FARM_RESULTS_FARM_REPORT: return print_report(doc, root);
    case FARM_RESULTS_FARM_BUILDERROR: return print_failure(doc, root);
    default: return false;
    }
}

static bool decide(const void *bytes, size_t len) {
    struct upk_doc *doc = NULL;
    struct upk_error err;
    if (!upk_decode(&farm_results, bytes, len, NULL, &doc, &err)) {
        upk_error_observe(&err, &farm_results, bytes, len, NULL);
        upk_error_write(&err, stdout);
        return false;
    }
    if (!print_result(doc)) {
        fputs("farm: host.c and farm.policy disagree\n", stderr);
        abort();
    }
    upk_doc_free(doc);
    return true;
}

int main(int argc, char **argv) {
    static unsigned char
        bytes[(1 << 20) + 1]; /* one more than the policy's budget: what is larger is refused */
    int refused = 0;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 2;
        }
        const size_t len = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        refused += !decide(bytes, len);
    }
    return refused ? 1 : 0;
}
