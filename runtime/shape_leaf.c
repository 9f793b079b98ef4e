/* Types of single values: bounds, lengths, characters, literals.
 *
 * A string may stand in a million places for two bytes of stream each, so looking through it counts: one
 * pair for as many bytes as take about the time of one.
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <math.h>
#include <string.h>

#include "match.h"

enum { COUNTED_A_PAIR = 64, LOOKED_UP_A_PAIR = 16 };

static void charge_bytes(struct matcher *m, size_t n, size_t a_pair) { m->pairs += n / a_pair; }

bool length_fits(uint64_t n, const struct upk_type *t) { return n >= t->lo && n <= t->hi; }

/* Length in code points.  A code point takes one to four bytes, which settles most cases without a look at
 * the text. */
static bool str_length_fits(struct matcher *m, struct upk_value v, const struct upk_type *t) {
    if (v.flags & VALUE_ASCII) return length_fits(v.len, t);
    uint64_t least = ((uint64_t)v.len + 3) / 4;
    if (least > t->hi || v.len < t->lo) return false;
    if (v.len <= t->hi && least >= t->lo) return true;
    charge_bytes(m, v.len, COUNTED_A_PAIR);
    return length_fits(utf8_count(v.as.bytes, v.len), t);
}

static bool charset_has(const struct upk_policy *p, const struct upk_charset *set, uint32_t c) {
    uint32_t lo = set->first, hi = set->first + set->count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c > p->ranges[mid].hi) {
            lo = mid + 1;
        } else if (c < p->ranges[mid].lo) {
            hi = mid;
        } else {
            return true;
        }
    }
    return false;
}

/* No branch on what the text says: where it fits, all of it is looked at anyway. */
static bool ascii_in_charset(const uint8_t *p, size_t n, const struct upk_charset *set) {
    const uint64_t low = set->ascii[0], high = set->ascii[1];
    uint64_t in = 1;
    for (size_t i = 0; i < n; i++) in &= (p[i] & 64 ? high : low) >> (p[i] & 63);
    return in;
}

static bool all_in_charset(struct matcher *m, struct upk_value v, const struct upk_charset *set) {
    charge_bytes(m, v.len, LOOKED_UP_A_PAIR);
    if (v.flags & VALUE_ASCII) return ascii_in_charset(v.as.bytes, v.len, set);
    const uint8_t *p = v.as.bytes, *end = p + v.len;
    while (p < end) {
        if (*p < 0x80) {
            if (!(set->ascii[*p >> 6] >> (*p & 63) & 1)) return false;
            p++;
        } else if (!charset_has(m->policy, set, utf8_next(&p))) {
            return false;
        }
    }
    return true;
}

/* Neither a lone surrogate nor NUL. */
static bool is_text(struct matcher *m, struct upk_value v) {
    charge_bytes(m, v.len, COUNTED_A_PAIR);
    if (memchr(v.as.bytes, 0, v.len)) return false;
    return v.flags & VALUE_ASCII || !utf8_has_surrogate(v.as.bytes, v.len);
}

static bool str_fits(struct matcher *m, struct upk_value v, const struct upk_type *t) {
    if (!value_is_str(v) || !str_length_fits(m, v, t)) return false;
    if (v.len == 0) return true;
    if (t->kind == UPK_TYPE_TEXT && !is_text(m, v)) return false;
    return t->a == 0 || all_in_charset(m, v, &m->policy->charsets[t->a]);
}

static bool text_is(const struct upk_policy *p, struct upk_value v, uint32_t at, uint32_t len) {
    return v.len == len && (len == 0 || memcmp(v.as.bytes, p->pool + at, len) == 0);
}

static bool literal_fits(struct matcher *m, struct upk_value v, const struct upk_type *t) {
    if (v.len == t->b) charge_bytes(m, v.len, COUNTED_A_PAIR);
    return text_is(m->policy, v, t->a, t->b);
}

/* int_compare; by far the most common values and bounds are small. */
static inline int compare_ints(struct upk_value v, const uint64_t bound[2], bool negative) {
    const bool small = bound[1] == (negative ? UINT64_MAX : 0) && bound[0] >> 63 == (uint64_t)negative;
    if (!small) return int_compare(v, bound, negative);
    if (v.kind != UPK_INT) return v.as.bytes[v.len - 1] & 0x80 ? -1 : 1; /* beyond any of 64 bits */
    const int64_t b = (int64_t)bound[0];
    return (v.as.i > b) - (v.as.i < b);
}

static bool int_fits(const struct matcher *m, struct upk_value v, const struct upk_type *t) {
    if (t->a) {
        const struct upk_bound *b = &m->policy->bounds[t->a];
        if (!(b->open & 1) && compare_ints(v, b->lo, b->negative & 1) < 0) return false;
        if (!(b->open & 2) && compare_ints(v, b->hi, (b->negative & 2) != 0) > 0) return false;
    }
    return t->b == 0 || int_within_mask(v, m->policy->bounds[t->b - 1].lo);
}

static uint64_t buffer_length(const struct matcher *m, struct upk_value v) {
    uint64_t i = (uint64_t)v.as.i;
    return i < m->doc->buffer_count ? m->doc->buffers[i].len : 0;
}

bool leaf_fits(struct matcher *m, struct upk_value v, const struct upk_type *t) {
    switch (t->kind) {
    case UPK_TYPE_ANY:
    case UPK_TYPE_NONE:
    case UPK_TYPE_BOOL:
    case UPK_TYPE_FLOAT: return true;
    case UPK_TYPE_TRUE: return v.as.i != 0;
    case UPK_TYPE_FALSE: return v.as.i == 0;
    case UPK_TYPE_INT: return int_fits(m, v, t);
    case UPK_TYPE_FINITE: return isfinite(v.as.f);
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT: return str_fits(m, v, t);
    case UPK_TYPE_BYTES: return length_fits(v.len, t);
    case UPK_TYPE_BYTEARRAY: return length_fits(v.as.cell->len, t);
    case UPK_TYPE_BUFFER: return length_fits(buffer_length(m, v), t);
    case UPK_TYPE_INT_IS: {
        const struct upk_bound *b = &m->policy->bounds[t->a];
        return compare_ints(v, b->lo, b->negative & 1) == 0;
    }
    case UPK_TYPE_STR_IS: return value_is_str(v) && literal_fits(m, v, t);
    case UPK_TYPE_BYTES_IS: return literal_fits(m, v, t);
    case UPK_TYPE_REF: return v.as.cell->len == t->a;
    default: return false; /* a compound type: shape_goal.c */
    }
}
