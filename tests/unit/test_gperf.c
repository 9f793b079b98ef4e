/* gperf is not trusted: what policyc makes of one that is missing, complains, lies or does not end.  The program that runs is a
 * shell script that each test writes.
 *
 * Layer: tests of the compiler's gperf.c.
 */
#define GPERF_PATH "./stand-in"
#include "../../compiler/gperf.c" /* with its own path; the library's copy is not linked */

#define UPK_FIND_CLASS_ANY
#include "../../compiler/perfect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "folder.h"

static char folder[FOLDER_ROOM];

static int set_up_folder(void **state) {
    (void)state;
    folder_make(folder);
    return chdir(folder);
}

static int tear_down_folder(void **state) {
    (void)state;
    return unlink("stand-in") == 0 && chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void write_stand_in(const char *commands) {
    FILE *const file = fopen("stand-in", "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", commands);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod("stand-in", 0700), 0);
}

static const uint8_t keys[2][GPERF_CHARS] = {{1, 2, 3}, {4, 5, 6}};

static enum gperf_status solve_one(struct gperf_job *job) {
    int error;
    *job = (struct gperf_job){.keys = keys, .key_count = 2};
    return gperf_solve(job, 1, &error);
}

static enum perfect_status build(void) {
    static const char pool[16 + UPK_NAME_PADDED] = "abcdefgh";
    static const struct upk_key names[2] = {{0, 1, 1, 1, {1, 1}}, {2, 3, 1, 1, {2, 2}}};
    struct upk_keys tables[2];
    struct mem m;
    int error;
    mem_init(&m, 1u << 20);
    const enum perfect_status status =
        perfect_build(&m, names, 2, (struct perfect_pool){pool, sizeof pool}, false, tables, &error);
    mem_free(&m);
    return status;
}

static void a_real_gperf_answers_under_any_directory(void **state) {
    struct gperf_job job;
    (void)state;
    write_stand_in("exec /usr/bin/env gperf \"$@\"");
    assert_int_equal(solve_one(&job), GPERF_OK);
    assert_true(job.solved);
    assert_int_equal(build(), PERFECT_OK);
}

static void the_environment_is_empty(void **state) {
    struct gperf_job job;
    (void)state;
    setenv("STRAY", "1", 1);
    write_stand_in("[ -z \"${STRAY+x}\" ] && [ -z \"${HOME+x}\" ] || echo leaked >&2; exec gperf \"$@\"");
    assert_int_equal(solve_one(&job), GPERF_OK);
}

static void a_missing_gperf_is_told_apart(void **state) {
    struct gperf_job job;
    (void)state;
    unlink("stand-in");
    assert_int_equal(solve_one(&job), GPERF_MISSING);
    assert_int_equal(build(), PERFECT_NO_GPERF);
    write_stand_in("true");
    assert_int_equal(chmod("stand-in", 0600), 0);
    assert_int_equal(solve_one(&job), GPERF_MISSING);
}

static void any_message_is_a_failure(void **state) {
    struct gperf_job job;
    (void)state;
    write_stand_in("echo warning >&2; exec gperf \"$@\"");
    assert_int_equal(solve_one(&job), GPERF_COMPLAINED);
    assert_int_equal(build(), PERFECT_GPERF);
}

static void a_bad_exit_status_is_a_failure(void **state) {
    struct gperf_job job;
    (void)state;
    write_stand_in("gperf \"$@\"; exit 1");
    assert_int_equal(solve_one(&job), GPERF_COMPLAINED);
    write_stand_in("gperf \"$@\"; kill -9 $$");
    assert_int_equal(solve_one(&job), GPERF_COMPLAINED);
}

static void output_without_end_is_a_failure(void **state) {
    struct gperf_job job;
    (void)state;
    write_stand_in("exec yes");
    assert_int_equal(solve_one(&job), GPERF_COMPLAINED);
    write_stand_in("trap '' PIPE; yes 2>/dev/null; sleep 1000");
    assert_int_equal(solve_one(&job), GPERF_COMPLAINED);
}

static void an_answer_of_another_form_is_none(void **state) {
    static const char *const forms[] = {
        "true",
        "gperf \"$@\" | head -n 40",
        "gperf \"$@\" | sed 's/str\\[2\\]/str[2]+1/'",
        "gperf \"$@\" | sed 's/^      [0-9]*,/     x,/'",
        "gperf \"$@\" | sed 's/^      [0-9]*,/      12345678901234567890,/'",
        "gperf \"$@\" | sed 's/^      [0-9]*, /      /'",
        "gperf \"$@\"; echo 'asso_values[] =\n    {'",
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct gperf_job job;
        write_stand_in(forms[i]);
        if (solve_one(&job) == GPERF_OK && job.solved) fail_msg("form %zu was taken", i);
    }
}

static void a_wrong_answer_is_never_used(void **state) {
    (void)state;
    write_stand_in(
        "gperf \"$@\" | sed 's/^      [0-9 ,]*$/      7, 7, 7, 7, 7, 7, 7, 7, 7, 7,/; s/^      7.*,$/&/' |"
        " awk '/^      7/ { if (++n == 26) $0 = \"      7, 7, 7, 7, 7, 7\" } { print }'");
    struct gperf_job job;
    assert_int_equal(solve_one(&job), GPERF_OK);
    assert_true(job.solved);
    assert_int_equal(build(), PERFECT_UNSOLVED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_gperf_answers_under_any_directory),
        cmocka_unit_test(the_environment_is_empty),
        cmocka_unit_test(a_missing_gperf_is_told_apart),
        cmocka_unit_test(any_message_is_a_failure),
        cmocka_unit_test(a_bad_exit_status_is_a_failure),
        cmocka_unit_test(output_without_end_is_a_failure),
        cmocka_unit_test(an_answer_of_another_form_is_none),
        cmocka_unit_test(a_wrong_answer_is_never_used),
    };
    return cmocka_run_group_tests(tests, set_up_folder, tear_down_folder);
}
