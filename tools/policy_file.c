/* Layer: see policy_file.h. */
#include "policy_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool can_open(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* A file of the whole name wins, because names may hold colons. */
bool policy_file_name(const char *name, struct policy_file *f) {
    size_t len = strlen(name);
    f->channel = NULL;
    f->path = malloc(len + 1);
    if (!f->path) return false;
    memcpy(f->path, name, len + 1);
    char *colon = strrchr(f->path, ':');
    if (colon && !can_open(f->path)) {
        *colon = 0;
        f->channel = colon + 1;
    }
    return true;
}

void policy_file_free(struct policy_file *f) { free(f->path); }

const struct model *policy_file_models(const struct policy_file *f, const struct compiled *compiled,
                                       struct diag *d, size_t *count) {
    if (!f->channel) {
        *count = compiled->model_count;
        return compiled->models;
    }
    *count = 1;
    for (size_t i = 0; i < compiled->model_count; i++) {
        if (text_is(compiled->models[i].channel, f->channel)) return &compiled->models[i];
    }
    diag_error_nowhere(d, P_USAGE, "the policy has no channel `%s'", diag_quote(d, text_of(f->channel)));
    return NULL;
}
