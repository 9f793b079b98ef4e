/* Types of single values within others.  Layer: see inclusion.h.
 *
 * All that one alternative of y takes of the values asked for is a range: of an int, of a bool, of a length.  The values are
 * taken if their own range is covered by those of the alternatives put together.  An alternative that takes only some values
 * of a length (other characters, another literal) has no range, as if it were not there.
 */
#include <string.h>

#include "inclusion.h"
#include "unicode.h"
#include "units.h"

struct ends { /* both inclusive */
    struct model_int lo, hi;
    bool open_lo, open_hi;
};

enum { SURROGATE_FIRST = 0xd800, SURROGATE_LAST = 0xdfff, CODE_LAST = 0x10ffff };

static const struct ends everything = {.open_lo = true, .open_hi = true};

static struct model_int of_number(uint64_t n) { return (struct model_int){.word = {n, 0}}; }

static struct ends of_length(uint64_t lo, uint64_t hi) {
    return (struct ends){.lo = of_number(lo), .hi = of_number(hi), .open_hi = hi == UINT64_MAX};
}

bool inclusion_is_leaf(const struct upk_type *t) {
    return t->kind < UPK_TYPE_LIST || t->kind == UPK_TYPE_OBJECT || t->kind == UPK_TYPE_INSTANCE ||
           t->kind == UPK_TYPE_REF;
}

/* ---- ints ------------------------------------------------------------ */

static struct model_int low_end(const struct upk_bound *b) {
    return (struct model_int){.word = {b->lo[0], b->lo[1]}, .negative = (b->negative & 1) != 0};
}

static struct model_int high_end(const struct upk_bound *b) {
    return (struct model_int){.word = {b->hi[0], b->hi[1]}, .negative = (b->negative & 2) != 0};
}

/* The next larger one; there is one. */
static struct model_int next_of(struct model_int n) {
    n.word[0]++;
    if (n.word[0] == 0) n.word[1]++;
    if (n.word[0] == 0 && n.word[1] == 0) n.negative = false;
    return n;
}

static struct ends bounds_of(const struct upk_policy *p, const struct upk_type *t) {
    const struct upk_bound *const b = &p->bounds[t->a];
    if (t->kind == UPK_TYPE_INT_IS) return (struct ends){.lo = low_end(b), .hi = low_end(b)};
    if (t->a == 0) return everything;
    return (struct ends){
        .lo = low_end(b), .hi = high_end(b), .open_lo = (b->open & 1) != 0, .open_hi = (b->open & 2) != 0};
}

static const uint64_t *mask_of(const struct upk_policy *p, const struct upk_type *t) {
    return t->kind == UPK_TYPE_INT && t->b != 0 ? p->bounds[t->b - 1].lo : NULL;
}

/* Of the ends, what is between 0 and the mask. */
static struct ends cut_to(struct ends e, const uint64_t mask[2]) {
    const struct model_int zero = of_number(0), most = {.word = {mask[0], mask[1]}};
    if (e.open_lo || number_compare(e.lo, zero) < 0) e.lo = zero;
    if (e.open_hi || number_compare(e.hi, most) > 0) e.hi = most;
    e.open_lo = e.open_hi = false;
    return e;
}

static struct ends ends_of_int(const struct upk_policy *p, const struct upk_type *t) {
    const uint64_t *const mask = mask_of(p, t);
    return mask ? cut_to(bounds_of(p, t), mask) : bounds_of(p, t);
}

static bool bits_within(const uint64_t bits[2], const uint64_t mask[2]) {
    return (bits[0] & ~mask[0]) == 0 && (bits[1] & ~mask[1]) == 0;
}

/* The bits of a mask below its lowest 0: every number up to that has no other bits. */
static void low_bits(const uint64_t mask[2], uint64_t low[2]) {
    low[0] = mask[0] & ~(mask[0] + 1);
    low[1] = mask[0] == UINT64_MAX ? mask[1] & ~(mask[1] + 1) : 0;
    if (mask[0] == UINT64_MAX) low[0] = UINT64_MAX;
}

static bool int_range(const struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                      struct ends *e) {
    if (alt->kind != UPK_TYPE_INT && alt->kind != UPK_TYPE_INT_IS) return false;
    const uint64_t *const mask = mask_of(i->y, alt), *const own = mask_of(i->x, t);
    *e = bounds_of(i->y, alt);
    if (!mask || (own && bits_within(own, mask))) return true;
    const struct ends asked = ends_of_int(i->x, t);
    const bool one = !asked.open_lo && !asked.open_hi && number_compare(asked.lo, asked.hi) == 0;
    if (one && !asked.lo.negative && bits_within(asked.lo.word, mask)) return true;
    uint64_t low[2];
    low_bits(mask, low);
    *e = cut_to(*e, low);
    return true;
}

/* ---- strings ------------------------------------------------------------ */

static bool is_str(const struct upk_type *t) {
    return t->kind == UPK_TYPE_STR || t->kind == UPK_TYPE_TEXT || t->kind == UPK_TYPE_STR_IS;
}

static bool is_bytes(const struct upk_type *t) {
    return t->kind == UPK_TYPE_BYTES || t->kind == UPK_TYPE_BYTES_IS;
}

/* Are all of these code points among the characters of a str or text of y? */
static bool codes_within(struct inclusion *i, const struct upk_type *alt, uint32_t lo, uint32_t hi) {
    if (alt->kind == UPK_TYPE_TEXT && (lo == 0 || (lo <= SURROGATE_LAST && hi >= SURROGATE_FIRST)))
        return false;
    if (alt->a == 0) return true;
    const struct upk_charset *const set = &i->y->charsets[alt->a];
    uint32_t from = set->first, to = set->first + set->count;
    while (from < to) {
        const uint32_t mid = from + (to - from) / 2;
        const struct upk_range *const r = &i->y->ranges[mid];
        if (lo >= r->lo && lo <= r->hi) return hi <= r->hi; /* ranges do not touch */
        if (lo < r->lo)
            to = mid;
        else
            from = mid + 1;
    }
    return false;
}

/* Of a text of a table, which is UTF-8, with surrogates as three bytes. */
static uint32_t next_code(const unsigned char **p) {
    static const unsigned char first[] = {0x7f, 0, 0x1f, 0x0f, 0x07};
    const unsigned char lead = *(*p)++;
    const unsigned more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t code = lead & first[more == 0 ? 0 : more + 1];
    for (unsigned k = 0; k < more; k++) code = code << 6 | (*(*p)++ & 0x3fu);
    return code;
}

static uint64_t literal_length(const struct upk_policy *p, const struct upk_type *t) {
    return t->kind == UPK_TYPE_STR_IS ? utf8_length(p->pool + t->a, t->b) : t->b;
}

static bool literal_within(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt) {
    const unsigned char *p = (const unsigned char *)i->x->pool + t->a, *const end = p + t->b;
    if (alt->kind == UPK_TYPE_STR && alt->a == 0) return true;
    if (!inclusion_spend(i, t->b)) return false;
    while (p < end) {
        const uint32_t code = next_code(&p);
        if (!codes_within(i, alt, code, code)) return false;
    }
    return true;
}

static bool range_within(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                         uint32_t lo, uint32_t hi) {
    if (t->kind != UPK_TYPE_TEXT) return codes_within(i, alt, lo, hi);
    if (lo == 0) lo = 1;
    const uint32_t below = hi < SURROGATE_FIRST ? hi : SURROGATE_FIRST - 1,
                   above = lo > SURROGATE_LAST ? lo : SURROGATE_LAST + 1;
    return (lo > below || codes_within(i, alt, lo, below)) && (above > hi || codes_within(i, alt, above, hi));
}

static bool chars_within(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt) {
    if (t->kind == UPK_TYPE_STR_IS) return literal_within(i, t, alt);
    if (t->a == 0) return range_within(i, t, alt, 0, CODE_LAST);
    const struct upk_charset *const set = &i->x->charsets[t->a];
    if (!inclusion_spend(i, set->count)) return false;
    for (uint32_t k = set->first; k < set->first + set->count; k++) {
        if (!range_within(i, t, alt, i->x->ranges[k].lo, i->x->ranges[k].hi)) return false;
    }
    return true;
}

static bool literals_equal(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt) {
    return t->b == alt->b && inclusion_spend(i, t->b) &&
           text_equal(policy_text(i->x, (struct upk_text){t->a, t->b}),
                      policy_text(i->y, (struct upk_text){alt->a, alt->b}));
}

/* The length of a literal of y that t may be; of others the empty one alone is a range. */
static bool literal_range(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                          struct ends *e) {
    const uint64_t length = literal_length(i->y, alt);
    *e = of_length(length, length);
    return length == 0 || (t->kind == alt->kind && literals_equal(i, t, alt));
}

static bool str_range(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                      struct ends *e) {
    if (!is_str(alt)) return false;
    if (alt->kind == UPK_TYPE_STR_IS) return literal_range(i, t, alt, e);
    *e = of_length(alt->lo, alt->hi);
    if (chars_within(i, t, alt)) return true;
    *e = of_length(0, 0); /* no character is the wrong one */
    return alt->lo == 0;
}

static bool bytes_range(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                        struct ends *e) {
    if (!is_bytes(alt)) return false;
    if (alt->kind == UPK_TYPE_BYTES_IS) return literal_range(i, t, alt, e);
    *e = of_length(alt->lo, alt->hi);
    return true;
}

/* ---- objects and names ------------------------------------------------------------ */

static bool holds_class(const struct upk_policy *p, const struct upk_type *t, uint32_t class) {
    uint32_t lo = t->a, hi = t->a + t->b;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (p->alts[mid] == class) return true;
        if (p->alts[mid] < class)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static bool object_range(const struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                         struct ends *e) {
    const uint32_t class = i->classes[t->a];
    if (class == 0) return false;
    *e = of_length(alt->lo, alt->hi);
    return (alt->kind == UPK_TYPE_OBJECT && alt->a == class) ||
           (alt->kind == UPK_TYPE_INSTANCE && holds_class(i->y, alt, class));
}

/* ---- all of them ------------------------------------------------------------ */

static bool bool_range(const struct upk_type *t, struct ends *e) {
    *e = of_length(t->kind == UPK_TYPE_TRUE, t->kind != UPK_TYPE_FALSE);
    return t->kind == UPK_TYPE_BOOL || t->kind == UPK_TYPE_TRUE || t->kind == UPK_TYPE_FALSE;
}

/* What is asked for. */
static struct ends ends_of(const struct upk_policy *p, const struct upk_type *t) {
    struct ends e = everything;
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_INT:
    case UPK_TYPE_INT_IS: return ends_of_int(p, t);
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS: return of_length(literal_length(p, t), literal_length(p, t));
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER:
    case UPK_TYPE_OBJECT: return of_length(t->lo, t->hi);
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE: (void)bool_range(t, &e); return e;
    default: return everything; /* one value, or no range */
    }
}

/* The range that an alternative of y takes of what is asked for; false: none. */
static bool range_of(struct inclusion *i, const struct upk_type *t, const struct upk_type *alt,
                     struct ends *e) {
    *e = everything;
    if (alt->kind == UPK_TYPE_ANY) return t->kind != UPK_TYPE_REF && t->kind != UPK_TYPE_BUFFER;
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_NONE: return alt->kind == UPK_TYPE_NONE;
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE: return bool_range(alt, e);
    case UPK_TYPE_INT:
    case UPK_TYPE_INT_IS: return int_range(i, t, alt, e);
    case UPK_TYPE_FLOAT: return alt->kind == UPK_TYPE_FLOAT;
    case UPK_TYPE_FINITE: return alt->kind == UPK_TYPE_FLOAT || alt->kind == UPK_TYPE_FINITE;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
    case UPK_TYPE_STR_IS: return str_range(i, t, alt, e);
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTES_IS: return bytes_range(i, t, alt, e);
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER: *e = of_length(alt->lo, alt->hi); return alt->kind == t->kind;
    case UPK_TYPE_OBJECT: return object_range(i, t, alt, e);
    case UPK_TYPE_REF: return alt->kind == UPK_TYPE_REF && i->rows[t->a] == alt->a;
    default: return false;
    }
}

/* `from` is -infinity where it is open. */
static bool reaches_down(const struct ends *e, struct model_int from, bool open) {
    return (e->open_lo || (!open && number_compare(e->lo, from) <= 0)) &&
           (open || e->open_hi || number_compare(e->hi, from) >= 0);
}

static bool reaches_up(const struct ends *e, const struct ends *asked) {
    return e->open_hi || (!asked->open_hi && number_compare(e->hi, asked->hi) >= 0);
}

/* From the low end upwards, each time by the alternative that leads furthest. */
static bool is_covered(struct inclusion *i, const struct upk_type *t, uint32_t y) {
    const struct upk_type *const type = &i->y->types[y];
    const bool is_union = type->kind == UPK_TYPE_UNION;
    const uint32_t *const alts = is_union ? i->y->alts + type->a : &y, count = is_union ? type->b : 1;
    const struct ends asked = ends_of(i->x, t);
    struct model_int from = asked.lo;
    bool open = asked.open_lo;
    if (!open && !asked.open_hi && number_compare(asked.lo, asked.hi) > 0) return true;
    for (;;) {
        struct model_int furthest = from;
        bool found = false;
        if (!inclusion_spend(i, count)) return false;
        for (uint32_t k = 0; k < count; k++) {
            struct ends e;
            if (!range_of(i, t, &i->y->types[alts[k]], &e) || !reaches_down(&e, from, open)) continue;
            if (reaches_up(&e, &asked)) return true;
            if (!found || number_compare(e.hi, furthest) > 0) furthest = e.hi;
            found = true;
        }
        if (!found) return false;
        from = next_of(furthest);
        if (number_compare(from, furthest) < 0)
            return false; /* it was the largest that can be said, and more is asked */
        open = false;
    }
}

bool inclusion_leaf(struct inclusion *i, const struct upk_type *t, uint32_t y) {
    if (t->kind != UPK_TYPE_INSTANCE) return is_covered(i, t, y);
    for (uint32_t k = 0; k < t->b; k++) {
        const struct upk_type one = {
            .kind = UPK_TYPE_OBJECT, .a = i->x->alts[t->a + k], .lo = t->lo, .hi = t->hi};
        if (!is_covered(i, &one, y)) return false;
    }
    return true;
}
