/* Records: a dict against fields, and what is remembered of the keys that dicts share.
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <string.h>

#include "match.h"

uint32_t record_field(struct matcher *m, uint32_t type, struct upk_value key) {
    /* No two strings of one length start at the same place, but for the empty ones, which are equal. */
    size_t slot = ((uintptr_t)key.as.bytes ^ (uintptr_t)type * 7) % FIELD_MEMOS;
    struct field_memo *memo = memos_of(m, MEMOS_OF_FIELDS, m->rare.fields, sizeof m->rare.fields);
    memo += slot;
    if (memo->key == key.as.bytes && memo->len == key.len && memo->type == type && key.as.bytes)
        return memo->field;
    const struct upk_policy *p = m->policy;
    const struct upk_type *t = &p->types[type];
    uint32_t lo = t->a, hi = t->a + t->b, found = UINT32_MAX;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct upk_text text = p->fields[mid].key;
        int order = bytes_compare(p->pool + text.at, text.len, key.as.bytes, key.len);
        if (order == 0) {
            found = mid;
            break;
        }
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *memo = (struct field_memo){.key = key.as.bytes, .len = key.len, .type = type, .field = found};
    return found;
}

/* Where what such a dict's keys are may be noted; NULL: nowhere. */
static struct record_memo *memo_of(struct matcher *m, const struct upk_cell *dict, uint32_t type) {
    if (dict->op == 0 || dict->len > 2 * RECORD_KEYS) return NULL;
    struct record_memo *const memos = memos_of(m, MEMOS_OF_RECORDS, m->rare.records, sizeof m->rare.records);
    return &memos[(dict->op + type) % RECORD_MEMOS];
}

/* What was found for a dict that fits. */
static void record_note(struct matcher *m, const struct upk_cell *dict, uint32_t type,
                        struct record_memo *memo) {
    const struct upk_policy *p = m->policy;
    *memo = (struct record_memo){.keys = dict->op, .type = type};
    for (uint32_t i = 0; i < dict->len; i += 2) {
        const uint32_t field = record_field(m, type, dict->items[i]);
        const uint32_t of_value = field == UINT32_MAX ? p->types[type].c : p->fields[field].type;
        if (field != UINT32_MAX && !p->fields[field].optional) memo->required |= UINT32_C(1) << i / 2;
        memo->of[i / 2].kinds = sure_kinds(m, of_value);
        memo->of[i / 2].type = of_value;
    }
}

static uint32_t required_fields(const struct matcher *m, const struct upk_type *t) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->b; i++) n += !m->policy->fields[t->a + i].optional;
    return n;
}

/* Field of a dict's key, and what its value must be (0: it may not be there).  What the memo says is asked anew for each key: a
 * value may be a record too. */
static uint32_t type_of_value(struct matcher *m, const struct upk_cell *dict, uint32_t type, size_t at,
                              bool *required) {
    const struct record_memo *const memo = record_noted(m, dict, type);
    *required = false;
    if (memo) {
        *required = memo->required >> at / 2 & 1;
        return memo->of[at / 2].type;
    }
    const struct upk_value key = value_resolve(dict->items[at]);
    if (!value_is_str(key)) return 0;
    const uint32_t field = record_field(m, type, key);
    if (field == UINT32_MAX) return m->policy->types[type].c;
    *required = !m->policy->fields[field].optional;
    return m->policy->fields[field].type;
}

/* As no two keys of a dict are equal, the required fields are all there if as many were found. */
enum fit next_field(struct matcher *m, const struct upk_cell *dict, uint32_t type, struct cursor *c,
                    struct part *part) {
    while (c->at < dict->len) {
        bool required;
        const uint32_t of_value = type_of_value(m, dict, type, c->at, &required);
        if (!of_value) return FIT_NO;
        c->found += required;
        enum fit fit = value_fits(m, dict->items[c->at + 1], of_value, part);
        if (fit == FIT_NO || m->pairs > m->budget) return FIT_NO; /* the prover looks at the budget first */
        c->at += 2;
        if (fit == FIT_OPEN) return FIT_OPEN;
    }
    if (record_noted(m, dict, type)) return FIT_YES;
    if (c->found != required_fields(m, &m->policy->types[type])) return FIT_NO;
    struct record_memo *const memo = memo_of(m, dict, type);
    if (memo) record_note(m, dict, type, memo);
    return FIT_YES;
}

enum fit flat_record_fits(struct matcher *m, const struct upk_cell *dict, uint32_t type, struct part *part) {
    const struct record_memo *const memo = record_noted(m, dict, type);
    const uint64_t pairs = dict->len / 2;
    if (memo && add_saturated(m->pairs, pairs) <= m->budget && record_is_sure(dict, memo)) {
        m->pairs += pairs;
        return FIT_YES;
    }
    struct cursor all = {0};
    const enum fit fit = next_field(m, dict, type, &all, part);
    assert(fit != FIT_OPEN);
    return fit;
}
