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

const struct model *policy_file_model(const struct policy_file *f, const struct compiled *compiled,
                                      struct diag *d) {
    size_t count;
    const struct model *const models = policy_file_models(f, compiled, d, &count);
    if (!models || count == 1) return models;
    diag_error_nowhere(d, P_USAGE, "the policy has several channels: name one as FILE:CHANNEL");
    return NULL;
}

enum cli_exit policy_tables_compile(struct policy_tables *t, const struct compile_options *options,
                                    const char *name, const struct cli *as, struct diag *d) {
    struct compile_options own = *options;
    if (!policy_file_name(name, &t->file)) {
        cli_complain(as, "out of memory");
        return CLI_IO;
    }
    own.path = t->file.path;
    if (!policy_compile(&own, d, &t->compiled)) return d->io ? CLI_IO : CLI_USAGE;
    t->compiled->in_process = true;
    const struct model *const models = policy_file_models(&t->file, t->compiled, d, &t->count);
    if (!models || !channels_build(t->compiled, d, &t->all)) return CLI_USAGE;
    t->first = (size_t)(models - t->compiled->models);
    return CLI_ACCEPTED;
}

void policy_tables_free(struct policy_tables *t) {
    channels_free(&t->all);
    compiled_free(t->compiled);
    policy_file_free(&t->file);
}

const struct upk_policy *policy_tables_at(const struct policy_tables *t, size_t i) {
    return &t->all.tables[t->first + i].policy;
}
