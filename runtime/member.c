/* The value of an enum's or a flag's member, however Python spelled the member:
 *
 *   Mode("fast"), Perm(6)                     by value: one argument (enum.py: __reduce_ex__)
 *   Mode.FAST                                 by name, which CPython 3.11.2 writes
 *   operator.or_(operator.or_(R, W), X)       a flag of several bits, by the same version
 *
 * Layer: runtime, over the accessors (doc.c).
 */
#include "doc.h"

/* A bound is 128 bits and a sign; values of 64 bits alone are handed out. */
static bool bound_value(const struct upk_bound *b, struct upk_value *out) {
    const bool negative = b->negative & 1;
    if (b->lo[1] != (negative ? UINT64_MAX : 0) || (b->lo[0] >> 63 != 0) != negative) return false;
    *out = (struct upk_value){.kind = UPK_INT, .as = {.i = (int64_t)b->lo[0]}};
    return true;
}

static struct upk_value pool_value(const struct upk_policy *p, const struct upk_type *t, enum upk_kind kind) {
    struct upk_value v = {
        .kind = (uint8_t)kind, .len = t->b, .as = {.bytes = (const uint8_t *)p->pool + t->a}};
    bool ascii = false;
    if (kind == UPK_STR && utf8_check(v.as.bytes, v.len, &ascii) && ascii) v.flags = VALUE_ASCII;
    return v;
}

static bool literal_value(const struct upk_policy *p, uint32_t type, struct upk_value *out) {
    const struct upk_type *t = &p->types[type];
    switch (t->kind) {
    case UPK_TYPE_NONE: *out = (struct upk_value){.kind = UPK_NONE}; return true;
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
        *out = (struct upk_value){.kind = UPK_BOOL, .as = {.i = t->kind == UPK_TYPE_TRUE}};
        return true;
    case UPK_TYPE_INT_IS: return bound_value(&p->bounds[t->a], out);
    case UPK_TYPE_STR_IS: *out = pool_value(p, t, UPK_STR); return true;
    case UPK_TYPE_BYTES_IS: *out = pool_value(p, t, UPK_BYTES); return true;
    default: return false; /* NEVER: the policy does not say the value */
    }
}

/* By name: the const's own form says the value. */
static bool value_of_name(const struct upk_policy *p, uint32_t row, struct upk_value *out) {
    for (uint32_t i = 0; i < p->rows[row].form_count; i++) {
        const struct upk_form *f = &p->forms[p->rows[row].first_form + i];
        if (f->verb == UPK_VERB_CONST && literal_value(p, f->value, out)) return true;
    }
    return false;
}

/* Does the row have members: consts `NAME.X` that are instances of the class?  Rows are sorted by name: they stand behind it. */
static bool has_members(const struct upk_policy *p, uint32_t row, uint32_t class) {
    const struct upk_compat own = row_name(p, row);
    for (uint32_t i = row + 1; i < p->row_count; i++) {
        const struct upk_compat n = row_name(p, i);
        if (bytes_compare(n.module, n.module_len, own.module, own.module_len) != 0 ||
            n.name_len < own.name_len || memcmp(n.name, own.name, own.name_len) != 0)
            return false;
        for (uint32_t form = 0; form < p->rows[i].form_count; form++) {
            const struct upk_form *f = &p->forms[p->rows[i].first_form + form];
            if (f->verb == UPK_VERB_CONST && f->result == class) return true;
        }
    }
    return false;
}

/* The form that an object fits, and its arguments; NULL: no object of a policy. */
static const struct upk_form *form_of(const struct upk_policy *p, struct upk_value v,
                                      const struct upk_cell **args) {
    if (v.kind != UPK_OBJECT || v.as.cell->flags & CELL_NORMAL || !v.as.cell->cap) return NULL;
    *args = object_args(as_object(v.as.cell));
    return &p->forms[v.as.cell->cap];
}

/* One member, no chain. */
static bool single_member(const struct upk_policy *p, struct upk_value v, struct upk_value *out) {
    const struct upk_cell *args;
    v = value_resolve(v);
    if (v.kind == UPK_GLOBAL) return value_of_name(p, v.as.cell->len, out);
    const struct upk_form *f = form_of(p, v, &args);
    if (!f || f->verb != UPK_VERB_CALL || !(f->flags & UPK_FORM_TEMPLATE) || args->len != 1 ||
        !has_members(p, f->row, f->result))
        return false;
    *out = args->items[0];
    return true;
}

/* The two operands of operator.or_; NULL: it is no such call. */
static const struct upk_value *operands(const struct upk_policy *p, struct upk_value v) {
    const struct upk_cell *args;
    const struct upk_form *f = form_of(p, v, &args);
    const bool is_or =
        f && f->verb == UPK_VERB_FUNC && p->rows[f->row].special == UPK_SPECIAL_OR && args->len == 2;
    return is_or ? args->items : NULL;
}

static bool add_bits(const struct upk_policy *p, struct upk_value v, int64_t *bits) {
    int64_t more;
    if (!single_member(p, v, &v) || !upk_get_int64(v, &more)) return false;
    *bits |= more;
    return true;
}

/* A chain has a single member at one side of each step, so that it is walked without a stack and in linear time whatever is
 * shared.  INVARIANT: arguments are older than the call, so it ends. */
bool upk_get_member(const struct upk_doc *doc, struct upk_value v, struct upk_value *out) {
    const struct upk_policy *p = doc->policy;
    if (!p) return false;
    const struct upk_value *pair = operands(p, v);
    if (!pair) return single_member(p, v, out);
    int64_t bits = 0;
    for (; pair; pair = operands(p, v)) {
        const bool left = operands(p, pair[0]) != NULL;
        if (!add_bits(p, pair[left], &bits)) return false;
        v = pair[!left];
    }
    if (!add_bits(p, v, &bits)) return false;
    *out = (struct upk_value){.kind = UPK_INT, .as = {.i = bits}};
    return true;
}
