/* Policies in memory, from files and from texts that were made here.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "learn.h"
#include "policy_file.h"

bool learn_compile(const struct learn *l, const struct learn_source *source, struct diag *d,
                   struct learn_policy *out) {
    enum { FOLDERS_MOST = 64 };
    const char *folders[FOLDERS_MOST];
    size_t count = 0;
    if (out) *out = (struct learn_policy){0};
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
    const struct policy_file named = {.channel = source->channel};
    const struct model *const model = policy_file_model(&named, compiled, d);
    const bool good = model && (!out || channels_build(compiled, d, &out->all));
    if (good && out) out->policy = &out->all.tables[model - compiled->models].policy;
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

/* The first line of the messages, without the name of a file that is nowhere. */
struct first_line {
    char text[400];
    size_t len;
    bool done;
};

static void take_line(void *context, const char *bytes, size_t len) {
    struct first_line *const line = context;
    for (size_t i = 0; i < len && !line->done; i++) {
        if (bytes[i] == '\n' || line->len + 1 == sizeof line->text)
            line->done = true;
        else
            line->text[line->len++] = bytes[i];
    }
}

bool learn_compile_quietly(struct learn *l, struct text text, struct learn_policy *out, const char **error) {
    static const char mark[] = ": error: ";
    struct first_line line = {.len = 0};
    struct diag d;
    diag_init(&d, (struct diag_sink){.write = take_line, .context = &line});
    const bool good = learn_compile(l, &(struct learn_source){.path = "learned", .text = text}, &d, out);
    diag_flush(&d);
    diag_free(&d);
    line.text[line.len] = '\0';
    const char *const said = strstr(line.text, mark);
    const char *const from = said ? said + sizeof mark - 1 : line.text;
    struct text kept = {"", 0};
    if (!good && error) *error = mem_text(&l->mem, from, strlen(from), &kept) ? kept.at : "out of memory";
    return good;
}
