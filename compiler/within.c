/* `within`, proved.  Layer: see within.h. */
#include "within.h"

#include "diff.h"
#include "intern.h"

enum { MOST_PROOF_BYTES = 1 << 30, MOST_PROOFS = 64 };

struct proof {
    const struct model *inner, *outer;
    const struct tables *inner_tables, *outer_tables;
    const struct model_within *said;
    struct diag *d;
};

static bool is_somewhere(struct span s) { return s.from < s.to; }

/* Where a channel says what the finding is about; its own name, where it is a default, or is nothing there. */
static struct span place_in(const struct model *m, enum diff_subject subject, uint32_t index,
                            const struct tables *t) {
    struct span at = {0, 0, 0};
    switch (subject) {
    case DIFF_OF_ALL: break;
    case DIFF_OF_OPCODES: at = m->places.opcodes; break;
    case DIFF_OF_PROTOCOL: at = m->places.protocol; break;
    case DIFF_OF_BUDGET: at = m->places.budgets[index]; break;
    case DIFF_OF_ROOT: at = m->places.root; break;
    case DIFF_OF_ROW: at = t->places[index]; break;
    }
    return is_somewhere(at) ? at : m->at;
}

/* The row of outer that has the name of a row of inner; 0: there is none. */
static uint32_t row_like(const struct proof *p, uint32_t row) {
    const struct upk_policy *const x = &p->inner_tables->policy, *const y = &p->outer_tables->policy;
    const struct text module = policy_text(x, x->rows[row].module),
                      name = policy_text(x, x->rows[row].qualname);
    for (uint32_t k = 1; k < y->row_count; k++) {
        if (y->rows[k].form_count != 0 && text_equal(policy_text(y, y->rows[k].module), module) &&
            text_equal(policy_text(y, y->rows[k].qualname), name))
            return k;
    }
    return 0;
}

static const char *shown(struct diag *d, struct text t) { return t.len == 0 ? "nothing" : diag_quote(d, t); }

static void report(const struct proof *p, const struct diff_found *f) {
    struct diag *const d = p->d;
    const uint32_t row = f->subject == DIFF_OF_ROW ? row_like(p, f->index) : 0;
    const char *const inner = diag_quote(d, p->inner->channel), *const outer =
                                                                    diag_quote(d, p->outer->channel);
    const struct span here = place_in(p->inner, f->subject, f->index, p->inner_tables);
    const bool says = f->old.len != 0 || f->new.len != 0;
    if (says)
        diag_error(d, here, P_NOT_WITHIN, "channel `%s' is not within `%s': %s: here %s, there %s", inner,
                   outer, diag_quote(d, f->place), shown(d, f->new), shown(d, f->old));
    else
        diag_error(d, here, P_NOT_WITHIN, "channel `%s' is not within `%s': %s: %s", inner, outer,
                   diag_quote(d, f->place), f->sentence);
    const bool absent = f->subject == DIFF_OF_ROW && row == 0;
    const struct span there =
        absent ? p->outer->at : place_in(p->outer, f->subject, row != 0 ? row : f->index, p->outer_tables);
    diag_note(d, there, absent ? "`%s' has no such row" : "`%s' has this", outer);
    if (absent && p->outer_tables->policy.open_count > 1)
        diag_hint(d, "there the host is asked for it, and what a host has loaded is not known here: grant it "
                     "there, too");
    else
        diag_hint(d, "`within %s' asks that it accepts all that this channel does", outer);
}

static bool prove(const struct proof *p) {
    struct mem m;
    struct diff_found *all;
    size_t count;
    mem_init(&m, MOST_PROOF_BYTES);
    const bool good = diff_widened(&p->outer_tables->policy, &p->inner_tables->policy, &m, &all, &count);
    if (!good)
        diag_error(p->d, p->said->at, P_MEMORY, "out of memory in the proof that `%s' is within `%s'",
                   diag_quote(p->d, p->inner->channel), diag_quote(p->d, p->outer->channel));
    for (size_t i = 0; good && i < count; i++) report(p, &all[i]);
    mem_free(&m);
    return good && count == 0;
}

bool withins_prove(const struct compiled *c, const struct tables *tables, struct diag *d) {
    size_t proofs = 0;
    bool good = true;
    for (size_t i = 0; i < c->model_count; i++) {
        const struct model *const m = &c->models[i];
        for (size_t k = 0; k < m->within_count; k++) {
            const struct model_within *const said = &m->withins[k];
            const struct proof p = {m, &c->models[said->other], &tables[i], &tables[said->other], said, d};
            if (++proofs > MOST_PROOFS) {
                diag_error(d, said->at, P_TOO_MANY, "`within' is said of at most %d pairs of channels",
                           MOST_PROOFS);
                return false;
            }
            good = prove(&p) && good;
        }
    }
    return good;
}
