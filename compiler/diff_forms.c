/* Why one way to make an object is not another.  Layer: see diff_findings.h. */
#include <string.h>

#include "diff_findings.h"
#include "words.h"

static const char *const part_pieces[INCLUSION_PARTS] = {
    [INCLUSION_ARGS] = " args",     [INCLUSION_KW] = " kw",          [INCLUSION_STATE] = " state",
    [INCLUSION_ITEMS] = " items[]", [INCLUSION_KEY] = " pairs{key}", [INCLUSION_VALUE] = " pairs{}",
    [INCLUSION_ADDS] = " adds[]"};

struct beside { /* two forms */
    struct diff *d;
    const struct diff_place *at;
    const struct upk_form *old, *new;
    unsigned asked, shown;
};

static void find(struct beside *b, const char *piece, unsigned how, enum diff_grade grade, struct text was,
                 struct text is, struct diff_words words) {
    how &= b->asked;
    if (how == 0) return;
    b->shown |= how;
    diff_find(b->d, diff_below(b->d, b->at, text_of(piece)), how, grade, was, is, words);
}

/* ---- hooks, checks, results ------------------------------------------------------------ */

static struct text hooks_text(struct diff *d, uint32_t flags) {
    for (size_t i = 0; i < HOOK_COUNT; i++) {
        if (!(flags & hook_words[i].flag)) continue;
        if (d->scratch.len != 0) output_text(&d->scratch, ", ");
        output_text(&d->scratch, hook_words[i].word);
    }
    return diff_kept(d);
}

static void look_at_hooks(struct beside *b) {
    const uint32_t old = b->old->flags & UPK_FORM_RUNS_ALL, new = b->new->flags &UPK_FORM_RUNS_ALL;
    const unsigned how = (new & ~old ? DIFF_WIDENED : 0u) | (old & ~new ? DIFF_NARROWED : 0u);
    find(b, " runs", how, DIFF_HIGH, hooks_text(b->d, old), hooks_text(b->d, new),
         (struct diff_words){"Code of the class may run that could not.",
                             "A Python host refuses the class where it has such a hook."});
}

static void look_at_check(struct beside *b) {
    unsigned how = 0;
    if (!inclusion_check(b->new, b->old)) how |= DIFF_WIDENED;
    if (!inclusion_check(b->old, b->new)) how |= DIFF_NARROWED;
    find(b, " check", how, DIFF_HIGH, text_of(check_words[b->old->check]),
         text_of(check_words[b->new->check]),
         (struct diff_words){"What the check proved is no longer proved.",
                             "Values that the check does not take are refused."});
}

static struct text result_text(struct diff *d, bool of_new, const struct upk_form *f) {
    const struct upk_policy *const p = of_new ? d->new : d->old;
    type_put_qualified(&d->scratch, p, p->classes[f->result].module, p->classes[f->result].qualname);
    return diff_kept(d);
}

static void look_at_result(struct beside *b) {
    if (inclusion_result(&b->d->into_old, b->new, b->old)) return;
    find(b, " result", DIFF_BOTH, DIFF_MEDIUM, result_text(b->d, false, b->old),
         result_text(b->d, true, b->new),
         (struct diff_words){b->new->verb == UPK_VERB_CONST ? "It counts as an object of another class."
                                                            : "What is made is of another class.",
                             NULL});
}

static void look_at_value(struct beside *b) {
    unsigned how = 0;
    if (!inclusion_value(&b->d->into_old, b->new, b->old)) how |= DIFF_WIDENED;
    if (!inclusion_value(&b->d->into_new, b->old, b->new)) how |= DIFF_NARROWED;
    find(b, " value", how, DIFF_LOW, diff_type_text(b->d, false, b->old->value),
         diff_type_text(b->d, true, b->new->value),
         (struct diff_words){"The member has another value, so that other keys are equal to it.", NULL});
}

/* ---- parts that are types ------------------------------------------------------------ */

static bool may_lack(const struct upk_form *f) {
    return f->state == 0 || (f->flags & UPK_FORM_STATE_OPTIONAL) != 0;
}

static void look_at_optional(struct beside *b) {
    const bool could = may_lack(b->old), can = may_lack(b->new);
    if (could == can || b->old->state == 0 || b->new->state == 0) return;
    find(b, " state", can ? DIFF_WIDENED : DIFF_NARROWED, DIFF_MEDIUM,
         text_of(could ? "optional" : "mandatory"), text_of(can ? "optional" : "mandatory"),
         (struct diff_words){"The object may be left without a state.", "The object has to have its state."});
}

/* Of a part that one of the two forms has, the new one or the old one. */
static struct diff_words words_of_part(enum inclusion_part part, bool of_new) {
    static const struct diff_words added[INCLUSION_PARTS] = {
        [INCLUSION_ARGS] = {"Arguments may be given.", "Arguments have to be given."},
        [INCLUSION_KW] = {"Keywords may be given.", "Keywords have to be given."},
        [INCLUSION_STATE] = {"The object may have a state.", "The object has to have a state."},
        [INCLUSION_ITEMS] = {"Items may be appended to the object.", NULL},
        [INCLUSION_KEY] = {"Pairs may be set in the object.", NULL},
        [INCLUSION_VALUE] = {"Pairs may be set in the object.", NULL},
        [INCLUSION_ADDS] = {"Members may be added to the object.", NULL},
    };
    static const struct diff_words removed[INCLUSION_PARTS] = {
        [INCLUSION_ARGS] = {"Arguments that had to be given may be missing.", "Arguments are refused."},
        [INCLUSION_KW] = {"Keywords that had to be given may be missing.", "Keywords are refused."},
        [INCLUSION_STATE] = {"The object may be left without a state.", "A state is refused."},
        [INCLUSION_ITEMS] = {NULL, "Items are refused."},
        [INCLUSION_KEY] = {NULL, "Pairs are refused."},
        [INCLUSION_VALUE] = {NULL, "Pairs are refused."},
        [INCLUSION_ADDS] = {NULL, "Members are refused."},
    };
    return of_new ? added[part] : removed[part];
}

static void look_at_part(struct beside *b, enum inclusion_part part) {
    const uint32_t old = inclusion_part_of(b->old, part), new = inclusion_part_of(b->new, part);
    unsigned how = 0;
    if (!inclusion_part(&b->d->into_old, b->new, b->old, part)) how |= DIFF_WIDENED;
    if (!inclusion_part(&b->d->into_new, b->old, b->new, part)) how |= DIFF_NARROWED;
    how &= b->asked;
    if (how == 0) return;
    if (old != 0 && new != 0) {
        const unsigned types = diff_types_how(b->d, old, new, how);
        b->shown |= types;
        diff_types(b->d, diff_below(b->d, b->at, text_of(part_pieces[part])), old, new, types);
        return;
    }
    const enum diff_grade grade = new != 0 && diff_takes_any(b->d->new, new) ? DIFF_HIGH : DIFF_MEDIUM;
    find(b, part_pieces[part], how, grade, diff_type_text(b->d, false, old), diff_type_text(b->d, true, new),
         words_of_part(part, new != 0));
}

void diff_forms(struct diff *d, const struct diff_place *at, const struct upk_form *old,
                const struct upk_form *new, unsigned asked) {
    struct beside b = {.d = d, .at = at, .old = old, .new = new, .asked = asked};
    look_at_hooks(&b);
    look_at_check(&b);
    look_at_result(&b);
    look_at_value(&b);
    look_at_optional(&b);
    for (enum inclusion_part part = 0; part < INCLUSION_PARTS; part++) look_at_part(&b, part);
    const unsigned left = asked & ~b.shown;
    const struct text none = {"", 0};
    if (left != 0)
        diff_find(
            d, at, left, DIFF_HIGH, none, none,
            (struct diff_words){"This way to make it could not be shown to be contained in what was.", NULL});
}
