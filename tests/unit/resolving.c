/* Layer: see resolving.h. */
#include "resolving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool is(struct upk_own_name n, const struct thing *t) {
    return n.module_len == strlen(t->module) && memcmp(n.module, t->module, n.module_len) == 0 &&
           n.name_len == strlen(t->name) && memcmp(n.name, t->name, n.name_len) == 0;
}

static bool is_gone(struct upk_own_name n) { return n.module_len == 4 && memcmp(n.module, "gone", 4) == 0; }

bool told(void *ctx, const struct upk_question *question, struct upk_answer *answer) {
    struct told *const host = ctx;
    assert_true(question->index <= host->questions); /* one that was refused has no number */
    host->questions++;
    if (host->dumb) return false;
    answer->found = is_gone(question->name) ? UPK_FOUND_NO_MODULE : UPK_FOUND_NOTHING;
    for (size_t i = 0; i < host->count; i++) {
        const struct thing *const t = &host->things[i];
        if (!is(question->name, t)) continue;
        answer->found = t->found;
        answer->base = t->base;
        answer->names = t->names;
        answer->ancestors = t->ancestors;
        answer->name_count = 1;
        while (answer->ancestor_count < 2 && t->ancestors[answer->ancestor_count].module)
            answer->ancestor_count++;
    }
    return true;
}

unsigned decide(const struct upk_policy *p, const void *stream, size_t len, uint32_t flags, struct told *host,
                struct upk_error *err) {
    struct upk_doc *doc = NULL;
    const struct upk_options options = {.flags = flags, .resolve = host ? told : NULL, .resolve_ctx = host};
    const bool good = upk_decode(p, stream, len, &options, &doc, err);
    upk_doc_free(doc);
    return good ? 0 : err->code;
}
