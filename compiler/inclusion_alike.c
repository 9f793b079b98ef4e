/* Which types look alike: a number for each, the same for types that are the same however they are written, of either policy.
 *
 * It proves nothing.  Where an alternative is looked for, those with the same number are tried first, so that policies which differ
 * little are compared in little work, as large as they may be.  Each number is made of those of the parts, some rounds over.
 *
 * Layer: see inclusion.h.
 */
#include "inclusion.h"

#include "list_type.h"

enum { ROUNDS = 8 };

static uint64_t join(uint64_t number, uint64_t more) { return hash_bytes(number, &more, sizeof more); }

static uint64_t of_text(uint64_t number, const struct upk_policy *p, struct upk_text t) {
    const struct text text = policy_text(p, t);
    return hash_bytes(join(number, text.len), text.at, text.len);
}

static uint64_t of_class(const struct upk_policy *p, uint32_t class) {
    return of_text(of_text(0, p, p->classes[class].module), p, p->classes[class].qualname);
}

static uint64_t of_bound(uint64_t number, const struct upk_policy *p, uint32_t bound) {
    const struct upk_bound *const b = &p->bounds[bound];
    number = join(join(join(number, b->open), b->negative), b->lo[0]);
    return join(join(join(number, b->lo[1]), b->hi[0]), b->hi[1]);
}

static uint64_t of_chars(uint64_t number, const struct upk_policy *p, uint32_t charset) {
    const struct upk_charset *const set = &p->charsets[charset];
    for (uint32_t k = set->first; k < set->first + set->count; k++)
        number = join(join(number, p->ranges[k].lo), p->ranges[k].hi);
    return number;
}

/* What a type says by itself. */
static uint64_t of_own(const struct upk_policy *p, const struct upk_type *t) {
    uint64_t number = join(join(join(0, t->kind), t->lo), t->hi);
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_INT: return of_bound(of_bound(number, p, t->a), p, t->b != 0 ? t->b - 1 : 0);
    case UPK_TYPE_INT_IS: return of_bound(number, p, t->a);
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT: return of_chars(number, p, t->a);
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS: return of_text(number, p, (struct upk_text){t->a, t->b});
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return join(join(number, t->b), t->c);
    case UPK_TYPE_OBJECT: return join(number, of_class(p, t->a));
    case UPK_TYPE_REF: return of_text(of_text(number, p, p->rows[t->a].module), p, p->rows[t->a].qualname);
    case UPK_TYPE_RECORD:
        for (uint32_t k = t->a; k < t->a + t->b; k++)
            number = join(of_text(number, p, p->fields[k].key), p->fields[k].optional);
        return join(number, t->c != 0);
    case UPK_TYPE_INSTANCE:
        for (uint32_t k = t->a; k < t->a + t->b; k++) number += of_class(p, p->alts[k]);
        return number;
    default: return number;
    }
}

/* Alternatives of a union have no order. */
static uint64_t with_parts(const struct upk_policy *p, uint32_t type, uint64_t own, const uint64_t *numbers) {
    const bool ordered = p->types[type].kind != UPK_TYPE_UNION;
    uint64_t number = own;
    uint32_t part;
    for (uint32_t k = 0; type_part(p, type, k, &part); k++)
        number = ordered ? join(number, numbers[part]) : number + join(own, numbers[part]);
    return number;
}

const uint64_t *inclusion_alike(const struct upk_policy *p, struct mem *m) {
    const size_t count = p->type_count;
    uint64_t *const own = mem_alloc(m, count, sizeof *own), *numbers = mem_alloc(m, count, sizeof *numbers),
                    *next = mem_alloc(m, count, sizeof *next);
    if (!own || !numbers || !next) return NULL;
    for (uint32_t t = 1; t < count; t++) own[t] = of_own(p, &p->types[t]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t t = 1; t < count; t++) next[t] = with_parts(p, t, own[t], numbers);
        uint64_t *const last = numbers;
        numbers = next;
        next = last;
    }
    return numbers;
}
