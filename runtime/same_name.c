/* When two names are one key: those of one row, members of one enum whose values are equal, and, of names that the host was asked
 * for, those that are spelled alike.
 *
 * Layer: runtime, under keys.c.
 */
#include <string.h>

#include "machine.h"

/* The form of a name that is a member of an enum and of a value that the policy says; NULL: it is none. */
static const struct upk_form *member_form(const struct machine *m, const struct global *g) {
    const struct upk_policy *const p = m->policy;
    if (!p || !(p->rows[g->cell.len].flags & UPK_ROW_CONST)) return NULL;
    const struct upk_row *const row = &p->rows[g->cell.len];
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct upk_form *const f = &p->forms[row->first_form + i];
        if (f->verb == UPK_VERB_CONST && f->value) return f;
    }
    return NULL;
}

/* A literal type as what it equals: True is 1 (enum.py: a member of an equal value is another name of the first). */
struct literal {
    uint32_t kind; /* UPK_TYPE_NONE, INT_IS, STR_IS or BYTES_IS */
    uint32_t negative, len;
    uint64_t word[2];
    const uint8_t *bytes;
};

static struct literal literal_of(const struct upk_policy *p, const struct upk_type *t) {
    struct literal l = {.kind = t->kind};
    if (t->kind == UPK_TYPE_TRUE || t->kind == UPK_TYPE_FALSE) {
        l.kind = UPK_TYPE_INT_IS;
        l.word[0] = t->kind == UPK_TYPE_TRUE;
    } else if (t->kind == UPK_TYPE_INT_IS) {
        const struct upk_bound *const b = &p->bounds[t->a];
        l.negative = b->negative & 1;
        memcpy(l.word, b->lo, sizeof l.word);
    } else if (t->kind == UPK_TYPE_STR_IS || t->kind == UPK_TYPE_BYTES_IS) {
        l.bytes = (const uint8_t *)p->pool + t->a;
        l.len = t->b;
    }
    return l;
}

static bool literals_equal(const struct literal *a, const struct literal *b) {
    return a->kind == b->kind && a->negative == b->negative && a->word[0] == b->word[0] &&
           a->word[1] == b->word[1] && a->len == b->len &&
           (a->len == 0 || memcmp(a->bytes, b->bytes, a->len) == 0);
}

/* Of names that the host was asked for those are equal that are spelled alike; others a host finds to be, when it builds. */
static bool asked_equal(const struct asked *a, const struct asked *b) {
    return a->module_len == b->module_len && a->name_len == b->name_len &&
           memcmp(a->module, b->module, a->module_len) == 0 && memcmp(a->name, b->name, a->name_len) == 0;
}

bool names_equal(const struct machine *m, const struct global *x, const struct global *y) {
    if (x == y) return true;
    if (x->asked || y->asked) return x->asked && y->asked && asked_equal(x->asked, y->asked);
    if (x->cell.len && x->cell.len == y->cell.len) return true;
    const struct upk_form *const f = member_form(m, x), *const g = member_form(m, y);
    if (!f || !g || f->result != g->result) return false;
    const struct literal value = literal_of(m->policy, &m->policy->types[f->value]),
                         other = literal_of(m->policy, &m->policy->types[g->value]);
    return literals_equal(&value, &other);
}

uint64_t hash_name(struct machine *m, const struct global *g) {
    if (g->asked)
        return hash_bytes(m, g->asked->name, g->asked->name_len,
                          hash_bytes(m, g->asked->module, g->asked->module_len, 9));
    const struct upk_form *const f = member_form(m, g);
    if (!f) return hash_number(m, g->cell.len ? g->cell.len + UINT64_C(0x700000000) : (uint64_t)(uintptr_t)g);
    const struct literal l = literal_of(m->policy, &m->policy->types[f->value]);
    const uint64_t h = hash_number(m, l.word[0] ^ hash_number(m, l.word[1] ^ f->result));
    if (l.len == 0) return h;
    m->key_work += l.len / KEY_BYTES_A_VALUE;
    return hash_bytes(m, l.bytes, l.len, h);
}
