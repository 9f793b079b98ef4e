/* Names that only a host knows: `subclasses of`, `fail_open`, and what is denied of them.  Layer: see diff_findings.h.
 *
 * What a host answers is unknown here.  So one side is within the other only where it asks for nothing, or where both ask for the
 * same: another base may take a class away from the row that it had, and a name that has a row on one side alone is the host's on
 * the other.  Rows that stand for such names are compared as all are.
 */
#include "../runtime/deny.h"
#include "diff_findings.h"
#include "model.h"
#include "notation.h"

/* ---- what is asked for ------------------------------------------------------------ */

static bool same_text(const struct upk_policy *p, struct upk_text a, const struct upk_policy *q,
                      struct upk_text b) {
    return text_equal(policy_text(p, a), policy_text(q, b));
}

/* Does y ask for what x asks for? */
static bool asks_alike(const struct upk_policy *y, const struct upk_policy *x, const struct upk_open *open) {
    for (uint32_t k = 1; k < y->open_count; k++) {
        const struct upk_open *const there = &y->opens[k];
        if (there->kind == open->kind && same_text(y, there->module, x, open->module) &&
            same_text(y, there->qualname, x, open->qualname))
            return true;
    }
    return false;
}

/* Of `subclasses of` also where the other side's `fail_open` takes its place: then the rows are compared (inclusion.c). */
static bool asks_for(const struct inclusion *i, const struct upk_open *open) {
    const uint32_t row = i->rows[open->row];
    for (uint32_t k = 1; k < i->y->open_count && open->kind == UPK_OPEN_SUBCLASSES && row != 0; k++) {
        if (i->y->opens[k].kind == UPK_OPEN_CLASS && i->y->opens[k].row == row) return true;
    }
    return asks_alike(i->y, i->x, open);
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

/* What x asks for and y does not. */
static void find_opens(struct diff *d, const struct inclusion *i, unsigned how) {
    for (uint32_t k = 1; k < i->x->open_count; k++) {
        if (asks_for(i, &i->x->opens[k])) continue;
        const struct text text = open_text(d, i->x, &i->x->opens[k]), none = {"", 0};
        const bool added = how == DIFF_WIDENED;
        diff_find(d, diff_top(d, DIFF_OF_ALL, 0, text_of("names without a row")), how, DIFF_HIGH,
                  added ? none : text, added ? text : none,
                  (struct diff_words){"The host may be asked for names that no row lists.",
                                      "The host is not asked for such names any more."});
    }
}

/* ---- what is denied ------------------------------------------------------------ */

/* The first entry that is not before the path. */
static uint32_t first_of(const struct upk_policy *p, struct text path) {
    uint32_t lo = 1, hi = p->deny_count;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (text_compare(policy_text(p, p->denies[mid].path), path) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Is it such a base of enums?  Their module has a name of one part. */
static bool spares_enums(struct text path, const struct upk_deny *own) {
    size_t module = 0;
    while (module < path.len && path.at[module] != '.') module++;
    return own->kind == UPK_DENY_NAME && module < path.len &&
           deny_spares_enums(path.at, module, path.at + module + 1, path.len - module - 1, own);
}

/* This path, or a module below one whose whole tree is denied; a `never` covers what a `fail_open` denies.  A name is denied with
 * what inherits from it, wherever that is: so it is by this name alone. */
static bool denies(const struct upk_policy *p, const struct upk_policy *q, const struct upk_deny *deny) {
    const struct text path = policy_text(q, deny->path);
    for (size_t end = 1; end <= path.len; end++) {
        if (end != path.len && path.at[end] != '.') continue;
        const struct text top = {path.at, end};
        for (uint32_t k = first_of(p, top);
             k < p->deny_count && text_equal(policy_text(p, p->denies[k].path), top); k++) {
            const struct upk_deny *const own = &p->denies[k];
            const bool same = end == path.len && own->kind == deny->kind,
                       tree = own->kind == UPK_DENY_TREE && deny->kind != UPK_DENY_NAME;
            if ((same || tree) &&
                (deny->flags & UPK_DENY_NEVER ? own->flags & UPK_DENY_NEVER : !spares_enums(path, own)))
                return true;
        }
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

/* Of one line, what is written tells of its other paths. */
static bool is_said(const struct array *said, const struct upk_deny *deny) {
    const struct upk_deny *const all = said->items;
    for (size_t i = 0; i < said->count; i++) {
        if (all[i].file == deny->file && all[i].line == deny->line) return true;
    }
    return false;
}

static void find_denies_of(struct diff *d, const struct upk_policy *p, const struct upk_policy *q,
                           uint32_t written, struct array *said, unsigned how) {
    for (uint32_t k = 1; k < q->deny_count; k++) {
        const struct upk_deny *const deny = &q->denies[k];
        if ((deny->flags & UPK_DENY_WRITTEN) != written || denies(p, q, deny)) continue;
        if (written == 0 && is_said(said, deny)) continue;
        if (written != 0 && !diff_is_full(d)) array_add(said, deny);
        const struct text text = deny_text(d, q, deny), none = {"", 0};
        const bool gone = how == DIFF_WIDENED;
        diff_find(d, diff_top(d, DIFF_OF_ALL, 0, text_of("names without a row")), how, DIFF_HIGH,
                  gone ? text : none, gone ? none : text,
                  (struct diff_words){"Less is denied of the names that no row lists.",
                                      "More is denied of the names that no row lists."});
    }
}

/* Between versions also what a host makes of the values: of channels of one file that is the same host's to say. */
static bool asks(const struct diff *d, const struct upk_policy *p) {
    return p->open_count > 1 || (d->asked == DIFF_BOTH && channel_describes(policy_text(p, p->channel)));
}

/* What p, where it asks, denies no more. */
static void find_denies(struct diff *d, const struct upk_policy *p, const struct upk_policy *q,
                        unsigned how) {
    struct array said; /* struct upk_deny */
    array_init(&said, d->mem, sizeof(struct upk_deny));
    if (!asks(d, p)) return;
    find_denies_of(d, p, q, UPK_DENY_WRITTEN, &said, how);
    find_denies_of(d, p, q, 0, &said, how);
}

/* ---- both ------------------------------------------------------------ */

/* Names that are asked for here, and have a row of their own there, or that of a base that is none here. */
static void find_others(struct diff *d, const struct inclusion *i, unsigned how) {
    const struct text here = text_of("the host's to know"), there = text_of("rows that say them");
    bool other = diff_lacks_names(i->x, i->y);
    for (uint32_t k = 1; k < i->y->open_count && !other; k++)
        other = i->y->opens[k].kind == UPK_OPEN_SUBCLASSES && !asks_alike(i->x, i->y, &i->y->opens[k]);
    if (i->x->open_count <= 1 || !other) return;
    const bool of_new = how == DIFF_WIDENED;
    diff_find(d, diff_top(d, DIFF_OF_ALL, 0, text_of("names without a row")), how, DIFF_MEDIUM,
              of_new ? there : here, of_new ? here : there,
              (struct diff_words){
                  "Names that had a row of their own, or another one, are the host's to know.",
                  "Names that were the host's to know have rows of their own, or others, or none."});
}

/* Between versions alone: of channels of one file both end with what ends first. */
static void find_until(struct diff *d) {
    const struct text was = policy_text(d->old, d->old->until), is = policy_text(d->new, d->new->until);
    if (was.len == 0 || is.len == 0 || text_equal(was, is) || d->asked != DIFF_BOTH) return;
    diff_find(
        d, diff_top(d, DIFF_OF_ALL, 0, text_of("fail_open until")),
        text_compare(is, was) > 0 ? DIFF_WIDENED : DIFF_NARROWED, DIFF_MEDIUM, was, is,
        (struct diff_words){"It may be compiled for longer.", "It may be compiled for a shorter time."});
}

void diff_opens(struct diff *d) {
    find_opens(d, &d->into_old, DIFF_WIDENED);
    find_opens(d, &d->into_new, DIFF_NARROWED);
    find_denies(d, d->new, d->old, DIFF_WIDENED);
    find_denies(d, d->old, d->new, DIFF_NARROWED);
    find_others(d, &d->into_old, DIFF_WIDENED);
    find_others(d, &d->into_new, DIFF_NARROWED);
    find_until(d);
}
