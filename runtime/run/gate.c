/* The gate: may a child run where nothing confines it, and what holds where the policy says nothing.
 *
 * INVARIANT: the one word that lets a child run unconfined is a flag of this very call.  Neither policy, state, manifest nor
 * environment can give it.
 *
 * Layer: see run.h.
 */
#include "run.h"

/* INVARIANT: what a policy says itself is not overruled by the rules that it is run under.  NULL: neither says anything. */
static const struct upk_confinement *gate_confinement(const struct held *h) {
    return h->policy->confinement ? h->policy->confinement : h->rules->confinement;
}

static bool opts_in(const struct upk_confinement *c) { return c && c->on_linux == UPK_CONFINE_OPT_IN; }

/* Also where the block of the one is not looked at otherwise, it can require. */
static bool may_opt_in(const struct held *h) {
    return opts_in(gate_confinement(h)) && (!h->rules->confinement || opts_in(h->rules->confinement));
}

void gate_remedy(struct upk_error *err) {
    run_remedy(err, "install Debian's package bubblewrap and let processes make user namespaces");
}

bool gate_unconfined(const struct held *h, const struct upk_run_options *options, struct upk_error *err) {
    if (!may_opt_in(h)) {
        run_remedy(
            err,
            "install Debian's package bubblewrap and let processes make user namespaces; the policy requires "
            "confinement (only `linux opt_in' would let a host do without)");
        return false;
    }
    if (options->flags & UPK_RUN_ALLOW_UNCONFINED) return true;
    run_remedy(
        err, "install Debian's package bubblewrap and let processes make user namespaces; or agree, for this "
             "call, that "
             "the child runs unconfined: --allow-unconfined, allow_unconfined=True, in C the flag "
             "UPK_RUN_ALLOW_UNCONFINED");
    return false;
}

const uint64_t *gate_budgets(const struct held *h) {
    const struct upk_confinement *const c = gate_confinement(h);
    static const uint64_t standard[] = {
#define UPK_X(name, word, standard, most, unit) standard,
        UPK_RUN_BUDGETS(UPK_X)
#undef UPK_X
    };
    return c ? c->budgets : standard;
}

bool gate_network(const struct held *h) {
    const struct upk_confinement *const c = gate_confinement(h);
    return c && c->network;
}
