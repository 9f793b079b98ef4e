/* Test helper: policies compiled from a text in memory.
 *
 * Layer: tests only, over the compiler's front door.
 */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"

static void keep_message(void *context, const char *bytes, size_t len) {
    struct trial *const t = context;
    const size_t room = sizeof t->messages - 1 - t->len;
    memcpy(t->messages + t->len, bytes, len < room ? len : room);
    t->len += len < room ? len : room;
}

void trial_init(struct trial *t) {
    memset(t, 0, sizeof *t);
    diag_init(&t->diag, (struct diag_sink){.write = keep_message, .context = t});
}

bool trial_models(struct trial *t, const char *text) {
    const struct compile_options options = {.path = "test.policy",
                                            .text = text,
                                            .text_len = strlen(text),
                                            .allow_fail_open = true,
                                            .today = 20290101};
    const bool good = policy_compile(&options, &t->diag, &t->compiled);
    diag_flush(&t->diag);
    return good;
}

bool trial_tables(struct trial *t, const char *text) {
    const bool good =
        trial_models(t, text) && tables_build(t->compiled, &t->compiled->models[0], &t->diag, &t->tables);
    diag_flush(&t->diag);
    return good;
}

const struct upk_policy *trial_policy(struct trial *t, const char *text) {
    struct upk_error err;
    if (!trial_tables(t, text)) fail_msg("%s", t->messages);
    if (!upk_policy_check(&t->tables.policy, &err)) fail_msg("%s", err.detail);
    return &t->tables.policy;
}

void trial_free(struct trial *t) {
    tables_free(&t->tables);
    compiled_free(t->compiled);
    diag_free(&t->diag);
}

int trial_set_up(void **state) {
    struct trial *const t = malloc(sizeof *t);
    if (!t) return -1;
    trial_init(t);
    *state = t;
    return 0;
}

int trial_tear_down(void **state) {
    trial_free(*state);
    free(*state);
    return 0;
}

struct compiled *compile_models(const char *text) {
    struct trial t;
    trial_init(&t);
    if (!trial_models(&t, text)) fail_msg("%s", t.messages);
    diag_free(&t.diag);
    return t.compiled;
}

uint32_t policy_look_up(const struct upk_policy *p, unsigned reading, const char *module, const char *name) {
    uint8_t room[2][UPK_NAME_PADDED] = {{0}};
    memcpy(room[0], module, strlen(module));
    memcpy(room[1], name, strlen(name));
    return p->find_class[reading](p->keys[reading], room[0], strlen(module), room[1], strlen(name));
}

bool policy_text_is(const struct upk_policy *p, struct upk_text t, const char *word) {
    return t.len == strlen(word) && memcmp(p->pool + t.at, word, t.len) == 0;
}
