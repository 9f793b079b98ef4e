/* All channels of a policy.  Layer: see channels.h. */
#include "channels.h"

#include "within.h"

enum { MOST_SYMBOL_BYTES = 1 << 30 };

bool channels_build(const struct compiled *c, struct diag *d, struct channels *out) {
    const size_t errors = diag_error_count(d);
    *out = (struct channels){0};
    mem_init(&out->mem, MOST_SYMBOL_BYTES);
    out->tables = mem_alloc(&out->mem, c->model_count, sizeof *out->tables);
    bool good = out->tables != NULL;
    while (good && out->count < c->model_count) {
        good = tables_build_next(c, &c->models[out->count], d, out->tables, out->count,
                                 &out->tables[out->count]);
        out->count += good;
    }
    good = good && withins_prove(c, out->tables, d);
    good = good && symbols_make(&out->mem, c, out->tables, out->count, d, &out->symbols);
    if (good) return true;
    if (diag_error_count(d) == errors) diag_error_nowhere(d, P_MEMORY, "out of memory");
    channels_free(out);
    return false;
}

void channels_free(struct channels *s) {
    for (size_t i = 0; i < s->count; i++) tables_free(&s->tables[i]);
    mem_free(&s->mem);
    *s = (struct channels){0};
}
