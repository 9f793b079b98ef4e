/* Where in two types the difference is.  Layer: see diff_findings.h.
 *
 * A walk down both, with a stack of its own, into the parts that correspond, as long as they differ.  Whatever it concludes,
 * the verdict is that of inclusion: where no part shows why, the pair itself is the finding.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diff_findings.h"
#include "notation.h"

static struct diff_words value_words(enum diff_grade grade) {
    static const char *const more[] = {"Further values of the same kind are taken.",
                                       "Values of another kind are taken.",
                                       "Any value is taken where a type stood."};
    return (struct diff_words){more[grade], "Some values that were taken are refused."};
}

static const struct diff_words undecided = {"What is taken could not be shown to be contained in what was.",
                                            NULL};

struct step {
    uint32_t old, new;
    const struct diff_place *at;
    unsigned asked;
};

struct walk {
    struct diff *d;
    struct array steps, seen; /* struct step; uint64_t */
    struct intern ids;
    struct step at;
    unsigned shown; /* how the pair at hand differs, as far as something shows it */
};

/* Types of one Python type; their number. */
enum family {
    FAMILY_ANY,
    FAMILY_NONE,
    FAMILY_BOOL,
    FAMILY_INT,
    FAMILY_FLOAT,
    FAMILY_STR,
    FAMILY_BYTES,
    FAMILY_BYTEARRAY,
    FAMILY_BUFFER,
    FAMILY_LIST,
    FAMILY_SET,
    FAMILY_FROZENSET,
    FAMILY_DICT,
    FAMILY_TUPLE,
    FAMILY_PERSID,
    FAMILY_OTHER, /* of objects and names: each its own */
    FAMILIES
};

static enum family family_of(const struct upk_type *t) {
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_ANY: return FAMILY_ANY;
    case UPK_TYPE_NONE: return FAMILY_NONE;
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE: return FAMILY_BOOL;
    case UPK_TYPE_INT:
    case UPK_TYPE_INT_IS: return FAMILY_INT;
    case UPK_TYPE_FLOAT:
    case UPK_TYPE_FINITE: return FAMILY_FLOAT;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
    case UPK_TYPE_STR_IS: return FAMILY_STR;
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTES_IS: return FAMILY_BYTES;
    case UPK_TYPE_BYTEARRAY: return FAMILY_BYTEARRAY;
    case UPK_TYPE_BUFFER: return FAMILY_BUFFER;
    case UPK_TYPE_LIST:
    case UPK_TYPE_PLACES: return FAMILY_LIST;
    case UPK_TYPE_SET: return FAMILY_SET;
    case UPK_TYPE_FROZENSET: return FAMILY_FROZENSET;
    case UPK_TYPE_DICT:
    case UPK_TYPE_RECORD: return FAMILY_DICT;
    case UPK_TYPE_TUPLE: return FAMILY_TUPLE;
    case UPK_TYPE_PERSID: return FAMILY_PERSID;
    case UPK_TYPE_NEVER:
    case UPK_TYPE_UNION:
    case UPK_TYPE_OBJECT:
    case UPK_TYPE_REF:
    case UPK_TYPE_INSTANCE:
    case UPK_TYPE_COUNT: break;
    }
    return FAMILY_OTHER;
}

/* The alternatives of a type: itself, where it is no union. */
struct alts {
    const uint32_t *at;
    uint32_t count;
};

static struct alts alts_of(const struct upk_policy *p, const uint32_t *type) {
    const struct upk_type *const t = &p->types[*type];
    if (t->kind != UPK_TYPE_UNION) return (struct alts){type, 1};
    return (struct alts){p->alts + t->a, t->b};
}

bool diff_takes_any(const struct upk_policy *p, uint32_t type) {
    const struct alts alts = alts_of(p, &type);
    for (uint32_t i = 0; i < alts.count; i++) {
        if (p->types[alts.at[i]].kind == UPK_TYPE_ANY) return true;
    }
    return false;
}

unsigned diff_types_how(struct diff *d, uint32_t old, uint32_t new, unsigned asked) {
    unsigned how = 0;
    if (asked & DIFF_WIDENED && !inclusion_type(&d->into_old, new, old)) how |= DIFF_WIDENED;
    if (asked & DIFF_NARROWED && !inclusion_type(&d->into_new, old, new)) how |= DIFF_NARROWED;
    return how;
}

/* ---- steps of the walk ------------------------------------------------------------ */

static void find(struct walk *w, const struct diff_place *at, unsigned how, enum diff_grade grade,
                 struct text was, struct text is) {
    w->shown |= how;
    diff_find(w->d, at, how, grade, was, is, value_words(grade));
}

static void find_here(struct walk *w, unsigned how, enum diff_grade grade) {
    if (how == 0) return;
    find(w, w->at.at, how, grade, diff_type_text(w->d, false, w->at.old),
         diff_type_text(w->d, true, w->at.new));
}

static bool same_pair(const void *context, uint32_t index) {
    const struct walk *const w = context;
    const uint32_t *const pair = (const uint32_t *)w->seen.items + 2 * (size_t)index;
    return pair[0] == w->at.old && pair[1] == w->at.new;
}

/* The pair at hand was not met before. */
static bool is_fresh(struct walk *w) {
    const uint32_t pair[2] = {w->at.old, w->at.new};
    const uint64_t hash = hash_bytes(0, pair, sizeof pair);
    uint32_t index;
    if (intern_find(&w->ids, hash, same_pair, w, &index)) return false;
    index = array_add(&w->seen, pair);
    intern_add(&w->ids, hash, index);
    return true;
}

/* Parts that correspond; `before` and `name` say where. */
static void go_down(struct walk *w, uint32_t old, uint32_t new, unsigned asked, const char *before,
                    struct text name) {
    const unsigned how = diff_types_how(w->d, old, new, asked & w->at.asked);
    if (how == 0) return;
    const struct diff_place *at = w->at.at;
    if (name.len != 0)
        at = diff_below_name(w->d, at, before, name);
    else if (before[0] != '\0')
        at = diff_below(w->d, at, text_of(before));
    const struct step step = {old, new, at, how};
    array_add(&w->steps, &step);
    w->shown |= how;
}

/* ---- unions ------------------------------------------------------------ */

struct families { /* of the alternatives: how many, and one of them */
    uint32_t count[FAMILIES], type[FAMILIES];
};

static struct families families_of(const struct upk_policy *p, struct alts alts) {
    struct families f = {{0}, {0}};
    for (uint32_t i = 0; i < alts.count; i++) {
        const enum family family = family_of(&p->types[alts.at[i]]);
        f.count[family]++;
        f.type[family] = alts.at[i];
    }
    return f;
}

/* The grade of an alternative of new that is not within old. */
static enum diff_grade grade_of(const struct upk_type *t, const struct families *old) {
    const enum family family = family_of(t);
    if (family == FAMILY_ANY) return DIFF_HIGH;
    const bool single = family < FAMILY_LIST;
    return single && old->count[family] != 0 ? DIFF_LOW : DIFF_MEDIUM;
}

static void add_alternative(struct diff *d, bool of_new, uint32_t type) {
    if (d->scratch.len != 0) output_text(&d->scratch, " | ");
    type_put(of_new ? &d->new_lines : &d->old_lines, &d->scratch, type);
}

/* Is this alternative neither within the other side nor of a family that both sides have once, where they correspond? */
static bool is_left(struct walk *w, bool of_new, uint32_t alt, const struct families *old,
                    const struct families *new) {
    const enum family family = family_of(&(of_new ? w->d->new : w->d->old)->types[alt]);
    if (family != FAMILY_OTHER && old->count[family] == 1 && new->count[family] == 1) return false;
    return !(of_new ? inclusion_type(&w->d->into_old, alt, w->at.old)
                    : inclusion_type(&w->d->into_new, alt, w->at.new));
}

/* The families of what is left of a side, a bit for each. */
static unsigned families_left(struct walk *w, bool of_new, struct alts alts, const struct families *old,
                              const struct families *new, enum diff_grade *grade) {
    unsigned left = 0;
    for (uint32_t i = 0; i < alts.count && !w->d->mem->failed; i++) {
        if (!is_left(w, of_new, alts.at[i], old, new)) continue;
        const struct upk_type *const t = &(of_new ? w->d->new : w->d->old)->types[alts.at[i]];
        const enum diff_grade own = of_new ? grade_of(t, old) : DIFF_LOW;
        left |= 1u << family_of(t);
        if (own > *grade) *grade = own;
    }
    return left;
}

/* What a side has of these families, and of objects and names what is left of them.  Where that is much: what is left of them all.
 * Beside `any` all that it has, or that. */
static struct text alternatives_text(struct walk *w, bool of_new, struct alts alts,
                                     const struct families *old, const struct families *new,
                                     unsigned families) {
    enum { MOST = 8 };
    const struct families *const own = of_new ? new : old;
    const bool any = families >> FAMILY_ANY & 1;
    uint32_t count = 0, left = 0;
    for (uint32_t i = 0; i < alts.count; i++) {
        count += families >> family_of(&(of_new ? w->d->new : w->d->old)->types[alts.at[i]]) & 1;
        left += is_left(w, of_new, alts.at[i], old, new);
    }
    const bool only_left = count > MOST && left != 0;
    for (uint32_t i = 0; i < alts.count; i++) {
        const enum family family = family_of(&(of_new ? w->d->new : w->d->old)->types[alts.at[i]]);
        bool shown = families >> family & 1;
        if (any)
            shown = own->count[FAMILY_ANY] == 0 || family == FAMILY_ANY;
        else if (only_left || family == FAMILY_OTHER)
            shown = is_left(w, of_new, alts.at[i], old, new);
        if (shown) add_alternative(w->d, of_new, alts.at[i]);
    }
    return diff_kept(w->d);
}

static void walk_unions(struct walk *w) {
    struct diff *const d = w->d;
    const struct alts olds = alts_of(d->old, &w->at.old), news = alts_of(d->new, &w->at.new);
    const struct families old = families_of(d->old, olds), new = families_of(d->new, news);
    for (unsigned f = 0; f < FAMILY_OTHER; f++) {
        if (old.count[f] != 1 || new.count[f] != 1) continue;
        unsigned asked = 0;
        if (!inclusion_type(&d->into_old, new.type[f], w->at.old)) asked |= DIFF_WIDENED;
        if (!inclusion_type(&d->into_new, old.type[f], w->at.new)) asked |= DIFF_NARROWED;
        go_down(w, old.type[f], new.type[f], asked, "", (struct text){"", 0});
    }
    enum diff_grade grade = DIFF_LOW;
    const unsigned is = families_left(w, true, news, &old, &new, &grade),
                   was = families_left(w, false, olds, &old, &new, &grade),
                   how = w->at.asked & ((is != 0 ? DIFF_WIDENED : 0u) | (was != 0 ? DIFF_NARROWED : 0u));
    if (how == 0) return;
    find(w, w->at.at, how, grade, alternatives_text(w, false, olds, &old, &new, is | was),
         alternatives_text(w, true, news, &old, &new, is | was));
}

/* ---- containers ------------------------------------------------------------ */

static void walk_counts(struct walk *w, const struct upk_type *old, const struct upk_type *new,
                        enum diff_grade grade) {
    const struct inclusion_counts was = inclusion_counts(w->d->old, old),
                                  is = inclusion_counts(w->d->new, new);
    unsigned how = 0;
    if (is.lo < was.lo || is.hi > was.hi) how |= DIFF_WIDENED;
    if (was.lo < is.lo || was.hi > is.hi) how |= DIFF_NARROWED;
    how &= w->at.asked;
    if (how == 0) return;
    static const char less[] = "Some lengths that were taken are refused.",
                      fewer[] = "Some numbers of arguments are refused.";
    static const struct diff_words lengths[] = {{"Other lengths are taken.", less},
                                                {"Another element may be there.", less},
                                                {"Another element may be there, of any value.", less}};
    static const struct diff_words arguments[] = {{"Arguments that had to be given may be missing.", fewer},
                                                  {"Another argument may be given.", fewer},
                                                  {"Another argument may be given, of any value.", fewer}};
    const bool is_args = w->at.at && text_is(w->at.at->piece, " args");
    w->shown |= how;
    diff_find(w->d, w->at.at, how, grade, diff_type_text(w->d, false, w->at.old),
              diff_type_text(w->d, true, w->at.new), (is_args ? arguments : lengths)[grade]);
}

static bool is_places(const struct upk_type *t) {
    return t->kind == UPK_TYPE_TUPLE || t->kind == UPK_TYPE_PLACES;
}

/* Some place that only new has takes anything. */
static enum diff_grade grade_of_places(const struct upk_policy *p, const struct upk_type *t, uint32_t from) {
    for (uint32_t k = from; k < t->b; k++) {
        if (diff_takes_any(p, p->elems[t->a + k].type)) return DIFF_HIGH;
    }
    return from < t->b ? DIFF_MEDIUM : DIFF_LOW;
}

static void walk_places(struct walk *w, const struct upk_type *old, const struct upk_type *new) {
    const struct upk_policy *const p = w->d->old, *const q = w->d->new;
    const uint32_t most = old->b > new->b ? old->b : new->b;
    walk_counts(w, old, new, grade_of_places(q, new, old->b));
    for (uint32_t k = 0; k < most && !diff_is_full(w->d); k++) {
        const uint32_t a = inclusion_member_at(p, old, k), b = inclusion_member_at(q, new, k);
        if (a == 0 || b == 0) continue;
        const struct text name =
            k < new->b ? policy_text(q, q->elems[new->a + k].name) : (struct text){"", 0};
        char place[16];
        (void)snprintf(place, sizeof place, "[%" PRIu32 "]", k);
        struct text kept = {"", 0};
        (void)mem_text(w->d->mem, place, strlen(place), &kept);
        go_down(w, a, b, DIFF_BOTH, name.len != 0 ? "." : kept.at, name);
    }
}

/* A key that one of the records has a field for, and the other has not, or both. */
static void walk_field(struct walk *w, const struct upk_type *old, const struct upk_type *new,
                       const struct upk_field *was, const struct upk_field *is) {
    struct diff *const d = w->d;
    const struct text key = was ? policy_text(d->old, was->key) : policy_text(d->new, is->key);
    const uint32_t a = was ? was->type : old->c, b = is ? is->type : new->c;
    const bool may_lack = !was || was->optional, may_now = !is || is->optional;
    unsigned how = 0;
    if (a != 0 && b != 0) go_down(w, a, b, DIFF_BOTH, ".", key);
    if ((b != 0 && a == 0) || (may_now && !may_lack)) how |= DIFF_WIDENED;
    if ((a != 0 && b == 0) || (may_lack && !may_now)) how |= DIFF_NARROWED;
    how &= w->at.asked;
    if (how == 0) return;
    const bool added = a == 0, removed = b == 0;
    const struct text text_was = diff_type_text(d, false, a), text_is = diff_type_text(d, true, b);
    const struct diff_place *const at = diff_below_name(d, w->at.at, ".", key);
    w->shown |= how;
    if (added)
        diff_find(d, at, how, diff_takes_any(d->new, b) ? DIFF_HIGH : DIFF_MEDIUM, text_was, text_is,
                  (struct diff_words){"Another key may be there.", "The key has to be there."});
    else if (removed)
        diff_find(d, at, how, DIFF_MEDIUM, text_was, text_is,
                  (struct diff_words){"A key that had to be there may be absent.", "The key is refused."});
    else
        diff_find(d, at, how, DIFF_MEDIUM, text_of(may_lack ? "optional" : "mandatory"),
                  text_of(may_now ? "optional" : "mandatory"),
                  (struct diff_words){"A key that had to be there may be absent.",
                                      "A key that could be absent has to be there."});
}

static void walk_records(struct walk *w, const struct upk_type *old, const struct upk_type *new) {
    const struct upk_policy *const p = w->d->old, *const q = w->d->new;
    const struct upk_field *const olds = p->fields + old->a, *const news = q->fields + new->a;
    for (uint32_t k = 0, l = 0; (k < old->b || l < new->b) && !diff_is_full(w->d);) {
        const int c = k == old->b   ? 1
                      : l == new->b ? -1
                                    : text_compare(policy_text(p, olds[k].key), policy_text(q, news[l].key));
        walk_field(w, old, new, c <= 0 ? &olds[k] : NULL, c >= 0 ? &news[l] : NULL);
        k += c <= 0;
        l += c >= 0;
    }
    if (old->c != 0 && new->c != 0) {
        go_down(w, old->c, new->c, DIFF_BOTH, ".*", (struct text){"", 0});
    } else if (old->c != 0 || new->c != 0) {
        const unsigned how = (new->c != 0 ? DIFF_WIDENED : DIFF_NARROWED) & w->at.asked;
        w->shown |= how;
        diff_find(w->d, diff_below(w->d, w->at.at, text_of(".*")), how,
                  new->c != 0 && diff_takes_any(q, new->c) ? DIFF_HIGH : DIFF_MEDIUM,
                  diff_type_text(w->d, false, old->c), diff_type_text(w->d, true, new->c),
                  (struct diff_words){"Keys of any name may be there.", "Keys of other names are refused."});
    }
}

static void walk_alike(struct walk *w, const struct upk_type *old, const struct upk_type *new) {
    static const struct text none = {"", 0};
    switch ((enum upk_type_kind)old->kind) {
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET:
        walk_counts(w, old, new, DIFF_LOW);
        go_down(w, old->a, new->a, DIFF_BOTH, "[]", none);
        break;
    case UPK_TYPE_DICT:
        walk_counts(w, old, new, DIFF_LOW);
        go_down(w, old->a, new->a, DIFF_BOTH, "{key}", none);
        go_down(w, old->b, new->b, DIFF_BOTH, "{}", none);
        break;
    case UPK_TYPE_PERSID: go_down(w, old->a, new->a, DIFF_BOTH, "{id}", none); break;
    case UPK_TYPE_RECORD: walk_records(w, old, new); break;
    default:
        if (is_places(old)) walk_places(w, old, new);
        break;
    }
}

/* ---- the walk ------------------------------------------------------------ */

static void walk_pair(struct walk *w) {
    const struct upk_type *const old = &w->d->old->types[w->at.old], *const new =
                                                                         &w->d->new->types[w->at.new];
    w->shown = 0;
    if (old->kind == UPK_TYPE_UNION || new->kind == UPK_TYPE_UNION) {
        walk_unions(w);
    } else if (old->kind == new->kind && !inclusion_is_leaf(old)) {
        walk_alike(w, old, new);
    } else {
        const struct families was = families_of(w->d->old, alts_of(w->d->old, &w->at.old));
        const bool same_class = old->kind == UPK_TYPE_OBJECT && new->kind == UPK_TYPE_OBJECT &&
                                w->d->into_new.classes[old->a] == new->a;
        find_here(w, w->at.asked, same_class ? DIFF_LOW : grade_of(new, &was));
    }
    const unsigned left = w->at.asked & ~w->shown;
    if (left != 0)
        diff_find(w->d, w->at.at, left, DIFF_MEDIUM, diff_type_text(w->d, false, w->at.old),
                  diff_type_text(w->d, true, w->at.new), undecided);
}

void diff_types(struct diff *d, const struct diff_place *at, uint32_t old, uint32_t new, unsigned asked) {
    struct walk w = {.d = d};
    array_init(&w.steps, d->mem, sizeof(struct step));
    array_init(&w.seen, d->mem, 2 * sizeof(uint32_t));
    intern_init(&w.ids, d->mem);
    const struct step first = {old, new, at, diff_types_how(d, old, new, asked)};
    if (first.asked != 0) array_add(&w.steps, &first);
    d->how |= first.asked;
    while (w.steps.count > 0 && !d->mem->failed) {
        w.at = ((const struct step *)w.steps.items)[--w.steps.count];
        if (diff_is_full(d)) {
            d->more = true;
            return;
        }
        if (is_fresh(&w)) walk_pair(&w);
    }
}
