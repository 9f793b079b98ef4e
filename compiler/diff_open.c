/* Names that only a host knows: `subclasses of`, `fail_open`, and what is denied of them.  Layer: see diff_findings.h.
 *
 * What a host answers is unknown here.  So one side is within the other only where it asks for nothing, or where both ask for the
 * same: another base may take a class away from the row that it had, and a name that has a row on one side alone is the host's on
 * the other.  Rows that stand for such names are compared as all are.
 */
#include "diff_findings.h"
#include "notation.h"

/* ---- what is asked for ------------------------------------------------------------ */

static bool same_text(const struct upk_policy *p, struct upk_text a, const struct upk_policy *q,
                      struct upk_text b) {
    return text_equal(policy_text(p, a), policy_text(q, b));
}

static bool asks_for(const struct upk_policy *p, const struct upk_policy *q, const struct upk_open *open) {
    for (uint32_t k = 1; k < p->open_count; k++) {
        const struct upk_open *const own = &p->opens[k];
        if (own->kind == open->kind && same_text(p, own->module, q, open->module) &&
            same_text(p, own->qualname, q, open->qualname))
            return true;
    }
    return false;
}

static struct text open_text(struct diff *d, const struct upk_policy *p, const struct upk_open *open) {
    if (open->kind == UPK_OPEN_SUBCLASSES) {
        output_text(&d->scratch, "subclasses of ");
        type_put_qualified(&d->scratch, p, open->module, open->qualname);
    } else {
        output_text(&d->scratch,
                    open->kind == UPK_OPEN_CONST ? "fail_open of members of enums" : "fail_open of classes");
    }
    return diff_kept(d);
}

/* What p asks for and q does not. */
static bool find_opens(struct diff *d, const struct upk_policy *p, const struct upk_policy *q, unsigned how) {
    bool found = false;
    for (uint32_t k = 1; k < p->open_count && !diff_is_full(d); k++) {
        if (asks_for(q, p, &p->opens[k])) continue;
        const struct text text = open_text(d, p, &p->opens[k]), none = {"", 0};
        const bool added = how == DIFF_WIDENED;
        diff_find(d, diff_below(d, NULL, text_of("names without a row")), how, DIFF_HIGH, added ? none : text,
                  added ? text : none, "The host may be asked for names that no row lists.");
        found = true;
    }
    return found;
}

/* ---- what is denied ------------------------------------------------------------ */

/* An exact path, or below one whose whole tree is denied; a `never` covers what a `fail_open` denies. */
static bool covers(const struct upk_policy *p, const struct upk_deny *a, const struct upk_policy *q,
                   const struct upk_deny *b) {
    const struct text path = policy_text(p, a->path), other = policy_text(q, b->path);
    if (b->flags & UPK_DENY_NEVER && !(a->flags & UPK_DENY_NEVER)) return false;
    if (text_equal(path, other)) return a->kind == b->kind || a->kind == UPK_DENY_TREE;
    return a->kind == UPK_DENY_TREE && other.len > path.len && other.at[path.len] == '.' &&
           text_equal((struct text){other.at, path.len}, path);
}

static bool denies(const struct upk_policy *p, const struct upk_policy *q, const struct upk_deny *deny) {
    for (uint32_t k = 1; k < p->deny_count; k++) {
        if (covers(p, &p->denies[k], q, deny)) return true;
    }
    return false;
}

static struct text deny_text(struct diff *d, const struct upk_policy *p, const struct upk_deny *deny) {
    output_text(&d->scratch, deny->flags & UPK_DENY_NEVER ? "never " : "deny ");
    if (deny->kind != UPK_DENY_NAME) output_text(&d->scratch, "module ");
    notation_name(&d->scratch, policy_text(p, deny->path));
    if (deny->kind == UPK_DENY_TREE) output_text(&d->scratch, ".*");
    return diff_kept(d);
}

/* What p, where it asks, denies no more. */
static void find_denies(struct diff *d, const struct upk_policy *p, const struct upk_policy *q,
                        unsigned how) {
    for (uint32_t k = 1; k < q->deny_count && p->open_count > 1 && !diff_is_full(d); k++) {
        if (denies(p, q, &q->denies[k])) continue;
        const struct text text = deny_text(d, q, &q->denies[k]), none = {"", 0};
        const bool gone = how == DIFF_WIDENED;
        diff_find(d, diff_below(d, NULL, text_of("names without a row")), how, DIFF_HIGH, gone ? text : none,
                  gone ? none : text, "Less is denied of the names that no row lists.");
    }
}

/* ---- both ------------------------------------------------------------ */

/* Why p is not within q though all that p lists is: `other` is where q asks for more. */
static void find_others(struct diff *d, const struct upk_policy *p, const struct upk_policy *q, bool other,
                        unsigned how) {
    const struct text none = {"", 0};
    if (p->open_count <= 1 || (!other && !diff_lacks_names(p, q))) return;
    diff_find(d, diff_below(d, NULL, text_of("names without a row")), how, DIFF_MEDIUM, none, none,
              "Names that had a row of their own, or another one, are the host's to know.");
}

static void find_until(struct diff *d) {
    const struct text was = policy_text(d->old, d->old->until), is = policy_text(d->new, d->new->until);
    if (was.len == 0 || is.len == 0 || text_equal(was, is)) return;
    diff_find(d, diff_below(d, NULL, text_of("fail_open until")),
              text_compare(is, was) > 0 ? DIFF_WIDENED : DIFF_NARROWED, DIFF_MEDIUM, was, is,
              "It may be compiled for longer.");
}

void diff_opens(struct diff *d) {
    const bool more = find_opens(d, d->new, d->old, DIFF_WIDENED),
               less = find_opens(d, d->old, d->new, DIFF_NARROWED);
    find_denies(d, d->new, d->old, DIFF_WIDENED);
    find_denies(d, d->old, d->new, DIFF_NARROWED);
    find_others(d, d->new, d->old, less, DIFF_WIDENED);
    find_others(d, d->old, d->new, more, DIFF_NARROWED);
    find_until(d);
}
