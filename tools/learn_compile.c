/* Policies in memory, from files and from texts that were made here.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "learn.h"
#include "policy_file.h"

static const char own_name[] = "learned"; /* of a text that is made here, in messages */

bool learn_compile(const struct learn *l, const struct learn_source *source, struct diag *d,
                   struct learn_policy *out) {
    enum { FOLDERS_MOST = 64 };
    const char *folders[FOLDERS_MOST];
    size_t count = 0;
    *out = (struct learn_policy){0};
    if (source->folder) folders[count++] = source->folder;
    for (size_t i = 0; i < l->cli.includes.count && count < FOLDERS_MOST; i++)
        folders[count++] = l->cli.includes.at[i];
    const struct compile_options options = {
        .path = source->path,
        .text = source->text.at,
        .text_len = source->text.len,
        .policy_dir = l->cli.policy_dir ? l->cli.policy_dir : POLICY_DIR,
        .include_dirs = folders,
        .include_dir_count = count,
        .allow_fail_open = l->cli.allow_fail_open,
        .today = l->today,
    };
    struct compiled *compiled = NULL;
    if (!policy_compile(&options, d, &compiled)) return false;
    compiled->in_process = true;
    const struct policy_file named = {.channel = source->channel};
    const struct model *const model = policy_file_model(&named, compiled, d);
    const bool good = model && channels_build(compiled, d, &out->all);
    if (good) out->policy = &out->all.tables[model - compiled->models].policy;
    compiled_free(compiled);
    return good;
}

void learn_policy_free(struct learn_policy *p) {
    if (p->policy) channels_free(&p->all);
    *p = (struct learn_policy){0};
}

bool learn_is_shipped(const struct upk_policy *p, const struct upk_row *row) {
    return row->line && shipped_owns(policy_text(p, p->files[row->file]));
}

struct own {
    const struct learn_errors *errors;
    const struct diag *diag;
};

/* Errors in files that the text includes are about no place of it. */
static void pass_on(void *context, struct span at, enum diag_code code, const char *message) {
    const struct own *const own = context;
    const struct diag *const d = own->diag;
    const bool is_placed = at.file < d->source_count && text_is(d->sources[at.file].name, own_name);
    own->errors->see(own->errors->context, is_placed, at.from, code == P_MEMORY ? NULL : message);
}

static struct learn_source source_of(struct text text) {
    return (struct learn_source){.path = own_name, .text = text};
}

bool learn_compile_own(const struct learn *l, struct text text, const struct learn_errors *errors,
                       struct learn_policy *out) {
    struct diag d;
    struct own own = {errors, &d};
    diag_init(&d, (struct diag_sink){.see = pass_on, .context = &own});
    const struct learn_source source = source_of(text);
    const bool good = learn_compile(l, &source, &d, out);
    diag_free(&d);
    return good;
}

void learn_complain_of(const struct learn *l, struct text text, struct diag *d) {
    struct learn_policy none;
    const struct learn_source source = source_of(text);
    if (learn_compile(l, &source, d, &none)) learn_policy_free(&none);
}
