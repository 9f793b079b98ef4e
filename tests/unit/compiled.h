/* Test helper: policies compiled from a text in memory.
 *
 * Layer: tests only, over the compiler's front door.
 */
#ifndef TEST_COMPILED_H
#define TEST_COMPILED_H

#include "../../compiler/tables.h"

/* A policy's text on its way to tables, and what was said about it.  It is agreed to `fail_open`; the day is 2029-01-01. */
struct trial {
    struct diag diag;
    struct compiled *compiled;
    struct tables tables; /* of the first channel */
    char messages[4000];
    size_t len;
};

/* Before the others; what follows until trial_free is one trial. */
void trial_init(struct trial *t);
bool trial_models(struct trial *t, const char *text);
bool trial_tables(struct trial *t, const char *text);
/* Of a text without mistakes: else the test fails with the messages.  The tables are checked as well. */
const struct upk_policy *trial_policy(struct trial *t, const char *text);
void trial_free(struct trial *t);

/* For cmocka: *state is a struct trial. */
int trial_set_up(void **state);
int trial_tear_down(void **state);

/* The models alone of a text without mistakes, freed with compiled_free.  The diag is gone by then: models own all that they
 * name. */
struct compiled *compile_models(const char *text);

/* The two readings of a table's names: below protocol 3, and from there on. */
enum { OLD, NEW };
uint32_t policy_look_up(const struct upk_policy *p, unsigned reading, const char *module, const char *name);
bool policy_text_is(const struct upk_policy *p, struct upk_text t, const char *word);

#endif
