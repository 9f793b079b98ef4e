/* The value and the name of an enum's or a flag's member, however Python spelled the member:
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

/* The next row after `from` that is a member of the class `row`: a const `NAME.X` that is an instance of it.  Rows are sorted
 * by name: they stand behind it.  0: there is none. */
static uint32_t next_member(const struct upk_policy *p, uint32_t row, uint32_t class, uint32_t from) {
    const struct upk_compat own = row_name(p, row);
    for (uint32_t i = from + 1; i < p->row_count; i++) {
        const struct upk_compat n = row_name(p, i);
        if (bytes_compare(n.module, n.module_len, own.module, own.module_len) != 0 ||
            n.name_len < own.name_len || memcmp(n.name, own.name, own.name_len) != 0)
            return 0;
        for (uint32_t form = 0; form < p->rows[i].form_count; form++) {
            const struct upk_form *f = &p->forms[p->rows[i].first_form + form];
            if (f->verb == UPK_VERB_CONST && f->result == class) return i;
        }
    }
    return 0;
}

/* Does the form make members of an enum or flag by their values? */
static bool is_by_value(const struct upk_policy *p, const struct upk_form *f) {
    return f->verb == UPK_VERB_CALL && f->flags & UPK_FORM_TEMPLATE &&
           next_member(p, f->row, f->result, f->row);
}

bool row_has_members(const struct upk_policy *p, uint32_t row) {
    for (uint32_t i = 0; i < p->rows[row].form_count; i++)
        if (is_by_value(p, &p->forms[p->rows[row].first_form + i])) return true;
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
    if (!f || args->len != 1 || !is_by_value(p, f)) return false;
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

/* The second operand of a flag's chain is a single member (BAR_OPERAND), so that it is walked without a stack and in linear
 * time whatever is shared.  INVARIANT: arguments are older than the call, so it ends. */
bool upk_get_member(const struct upk_doc *doc, struct upk_value v, struct upk_value *out) {
    const struct upk_policy *p = doc->policy;
    if (!p) return false;
    const struct upk_value *pair = operands(p, v);
    if (!pair) return single_member(p, v, out);
    int64_t bits = 0;
    for (; pair; pair = operands(p, v)) {
        if (!add_bits(p, pair[1], &bits)) return false;
        v = pair[0];
    }
    if (!add_bits(p, v, &bits)) return false;
    *out = (struct upk_value){.kind = UPK_INT, .as = {.i = bits}};
    return true;
}

/* ---- names */

/* Is `v` the literal value?  Of one kind and equal: a policy tells true from 1. */
static bool is_literal(const struct upk_policy *p, uint32_t type, struct upk_value v) {
    struct upk_value literal;
    if (!literal_value(p, type, &literal)) return false;
    switch (literal.kind) {
    case UPK_NONE: return v.kind == UPK_NONE;
    case UPK_STR:
        return value_is_str(v) && bytes_compare(v.as.bytes, v.len, literal.as.bytes, literal.len) == 0;
    case UPK_BYTES:
        return (v.kind == UPK_BYTES || v.kind == UPK_STR8) &&
               bytes_compare(v.as.bytes, v.len, literal.as.bytes, literal.len) == 0;
    default: return v.kind == literal.kind && v.as.i == literal.as.i; /* BOOL, INT */
    }
}

static uint32_t row_of_value(const struct upk_policy *p, const struct upk_form *made, struct upk_value v) {
    uint32_t row = made->row;
    while ((row = next_member(p, made->row, made->result, row)) != 0) {
        const struct upk_form *f = &p->forms[p->rows[row].first_form];
        if (is_literal(p, f->value, value_resolve(v))) return row;
    }
    return 0;
}

bool upk_get_member_name(const struct upk_doc *doc, struct upk_value v, const char **text, size_t *len) {
    const struct upk_policy *p = doc->policy;
    const struct upk_cell *args;
    uint32_t row = 0;
    v = value_resolve(v);
    if (!p) return false;
    if (v.kind == UPK_GLOBAL) {
        row = v.as.cell->len;
        const struct upk_row *r = &p->rows[row];
        if (!r->form_count || p->forms[r->first_form].verb != UPK_VERB_CONST ||
            !(p->forms[r->first_form].flags & UPK_FORM_TEMPLATE))
            return false;
    } else {
        const struct upk_form *f = form_of(p, v, &args);
        if (f && args->len == 1 && is_by_value(p, f)) row = row_of_value(p, f, args->items[0]);
    }
    if (!row) return false;
    const struct upk_compat n = row_name(p, row);
    size_t at = n.name_len;
    while (at && n.name[at - 1] != '.') at--;
    *text = (const char *)n.name + at;
    *len = n.name_len - at;
    return true;
}
