/* Numbers of a policy as lengths and bounds, and its sets of characters.
 *
 * Layer: pass; used by resolve_types and the checks.
 */
#include <stdlib.h>

#include "units.h"

bool number_is_natural(const struct ast_number *n, uint64_t most, uint64_t *value) {
    *value = n->value.word[0];
    return !n->value.negative && n->value.word[1] == 0 && n->value.word[0] <= most;
}

int number_compare(struct model_int a, struct model_int b) {
    if (a.negative != b.negative) {
        return a.negative ? -1 : 1;
    }
    /* Two's complement: of one sign, the words order as they are. */
    for (size_t i = 2; i-- > 0;) {
        if (a.word[i] != b.word[i]) {
            return a.word[i] < b.word[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool check_unit(struct compilation *c, const struct ast_number *n, bool units) {
    if (n->unit && !units) {
        diag_error(c->diag, n->span, P_BAD_UNIT, "KiB, MiB and GiB count bytes; here is nothing of bytes");
        diag_hint(c->diag, "write the number out: `_' may group its digits");
        return false;
    }
    return true;
}

void range_of_length(struct compilation *c, const struct ast_range *r, bool units, struct model_type *t) {
    uint64_t ends[2] = {0, UINT64_MAX};
    const struct ast_number *given[2] = {&r->lo, &r->hi};
    bool has[2] = {r->has_lo, r->has_hi};
    t->lo = 0;
    t->hi = UINT64_MAX;
    bool one = r->has_lo && r->has_hi && r->lo.span.from == r->hi.span.from;
    for (size_t i = one ? 1 : 0; i < 2; i++) {
        if (!has[i]) {
            continue;
        }
        if (given[i]->bad || !check_unit(c, given[i], units)) {
            return;
        }
        if (!number_is_natural(given[i], UINT64_MAX - 1, &ends[i])) {
            diag_error(c->diag, given[i]->span, P_BAD_RANGE,
                       given[i]->value.negative ? "a length is not negative" : "no length is that large");
            return;
        }
    }
    if (one) {
        ends[0] = ends[1];
    }
    if (ends[0] > ends[1]) {
        diag_error(c->diag, r->span, P_BAD_RANGE, "the range is empty: its low end is above its high end");
        return;
    }
    t->lo = ends[0];
    t->hi = ends[1];
}

void range_of_int(struct compilation *c, const struct ast_range *r, struct model_type *t) {
    t->open_min = !r->has_lo;
    t->open_max = !r->has_hi;
    if ((r->has_lo && (r->lo.bad || !check_unit(c, &r->lo, false))) ||
        (r->has_hi && (r->hi.bad || !check_unit(c, &r->hi, false)))) {
        return;
    }
    if (r->has_lo) {
        t->min = r->lo.value;
    }
    if (r->has_hi) {
        t->max = r->hi.value;
    }
    if (r->has_lo && r->has_hi && number_compare(t->min, t->max) > 0) {
        diag_error(c->diag, r->span, P_BAD_RANGE, "the range is empty: its low end is above its high end");
    }
}

static int compare_ranges(const void *left, const void *right) {
    const struct upk_range *a = left, *b = right;
    return a->lo != b->lo ? (a->lo < b->lo ? -1 : 1) : (a->hi > b->hi) - (a->hi < b->hi);
}

/* A string of the scanner: UTF-8, but a lone surrogate has three bytes too. */
static size_t char_decode(const char *p, size_t left, uint32_t *code) {
    size_t len = utf8_decode(p, left, code);
    if (len == 0) {
        *code =
            0xd000u | ((uint32_t)(unsigned char)p[1] & 0x3f) << 6 | ((uint32_t)(unsigned char)p[2] & 0x3f);
        len = 3;
    }
    return len;
}

void chars_of(struct compilation *c, const struct ast_word *word, struct model_type *t) {
    const char *p = word->text.at, *end = p + word->text.len;
    if (word->bad) {
        return;
    }
    if (p == end) {
        diag_error(c->diag, word->span, P_BAD_CHARS, "a set of characters is not empty");
        return;
    }
    t->chars = mem_alloc(c->mem, word->text.len, sizeof *t->chars);
    if (t->chars == NULL) {
        return;
    }
    size_t count = 0;
    while (p < end) {
        struct upk_range *r = &t->chars[count++];
        p += char_decode(p, (size_t)(end - p), &r->lo);
        r->hi = r->lo;
        if (p == end || *p != '-') {
            if (r->lo == '-' && p != end) {
                diag_error(c->diag, word->span, P_BAD_CHARS, "`-' stands between two characters, or last");
                return;
            }
            continue;
        }
        if (r->lo == '-') {
            diag_error(c->diag, word->span, P_BAD_CHARS, "`-' stands between two characters, or last");
            return;
        }
        if (end - p == 1) {
            continue; /* the last `-`, read next */
        }
        p++;
        p += char_decode(p, (size_t)(end - p), &r->hi);
        if (r->hi < r->lo) {
            diag_error(c->diag, word->span, P_BAD_CHARS,
                       "a range of characters is empty: its ends are swapped");
            return;
        }
    }
    qsort(t->chars, count, sizeof *t->chars, compare_ranges);
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        if (t->chars[i].lo <= t->chars[kept].hi + 1) {
            t->chars[kept].hi = t->chars[i].hi > t->chars[kept].hi ? t->chars[i].hi : t->chars[kept].hi;
        } else {
            t->chars[++kept] = t->chars[i];
        }
    }
    t->has_chars = true;
    t->char_count = kept + 1;
}
