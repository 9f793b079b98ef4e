/* Fields of objects and records, by name.
 *
 * Where a pickle keeps an attribute depends on the kind of class and on how it was pickled (PEP 307, copyreg.py):
 *   the state, a dict              the instance's __dict__
 *   the state, (None or dict, dict)  __slots__ behind the __dict__; a slot hides an attribute of its name
 *   the state, a list by place     dataclasses(frozen, slots): the form's type names the places
 *   the state's key "__dict__"     pydantic
 *   keywords, arguments            __getnewargs_ex__, namedtuples, exceptions: the form's type names arguments
 *
 * Layer: runtime, over the accessors (doc.c).
 */
#include "doc.h"

/* The member that stands where a TUPLE or PLACES type has an element of this name.  One that repeats names no single place. */
static bool by_place(const struct upk_policy *p, uint32_t type, struct upk_value members, const char *name,
                     struct upk_value *out) {
    const struct upk_type *t = &p->types[type];
    const uint32_t places = t->b - (t->c >> 24 != 0);
    for (uint32_t i = 0; i < places; i++) {
        const struct upk_text text = p->elems[t->a + i].name;
        if (text.len && bytes_are((const uint8_t *)p->pool + text.at, text.len, name))
            return upk_at(members, i, out);
    }
    return false;
}

static bool in_dict(struct upk_value v, const char *name, struct upk_value *out) {
    return upk_is(v, UPK_DICT) && upk_dict_get(v, name, out);
}

static bool record_names_dict(const struct upk_policy *p, const struct upk_type *t) {
    if (t->kind == UPK_TYPE_ANY) return true;
    for (uint32_t i = 0; t->kind == UPK_TYPE_RECORD && i < t->b; i++) {
        const struct upk_text key = p->fields[t->a + i].key;
        if (bytes_are((const uint8_t *)p->pool + key.at, key.len, "__dict__")) return true;
    }
    return false;
}

/* Does the key "__dict__" of such a state hold the fields?  Only where the policy says so: under `*: T` it is a key like any
 * other, whose value may have come to stand for a field that is absent. */
static bool keeps_dict(const struct upk_policy *p, const struct upk_form *form) {
    if (!form) return true;
    const struct upk_type *t = &p->types[form->state];
    if (t->kind != UPK_TYPE_UNION) return record_names_dict(p, t);
    for (uint32_t i = 0; i < t->b; i++)
        if (record_names_dict(p, &p->types[p->alts[t->a + i]])) return true;
    return false;
}

static bool in_state(const struct upk_policy *p, const struct upk_form *form, struct upk_value state,
                     const char *name, struct upk_value *out) {
    struct upk_value part;
    switch (upk_kind(state)) {
    case UPK_DICT:
        if (upk_dict_get(state, name, out)) return true;
        return keeps_dict(p, form) && upk_dict_get(state, "__dict__", &part) && in_dict(part, name, out);
    case UPK_TUPLE:
        if (upk_len(state) != 2) return false;
        return (upk_at(state, 1, &part) && in_dict(part, name, out)) ||
               (upk_at(state, 0, &part) && in_dict(part, name, out));
    case UPK_LIST:
        return form && p->types[form->state].kind == UPK_TYPE_PLACES &&
               by_place(p, form->state, state, name, out);
    default: return false;
    }
}

bool upk_object_field(const struct upk_doc *doc, struct upk_value v, const char *name,
                      struct upk_value *out) {
    struct upk_value part;
    if (in_dict(v, name, out)) return true;
    if (!upk_object_args(v, &part)) return false;
    const struct upk_policy *p = doc->policy;
    const uint32_t index = p ? as_object(v.as.cell)->cell.cap : 0;
    const struct upk_form *form = index ? &p->forms[index] : NULL;
    struct upk_value state, keywords;
    if (upk_object_state(v, &state) && in_state(p, form, state, name, out)) return true;
    if (upk_object_kwargs(v, &keywords) && in_dict(keywords, name, out)) return true;
    return form && by_place(p, form->args, part, name, out);
}

bool upk_field_bool(const struct upk_doc *doc, struct upk_value v, const char *name, bool *out) {
    struct upk_value field;
    return upk_object_field(doc, v, name, &field) && upk_get_bool(field, out);
}

bool upk_field_int64(const struct upk_doc *doc, struct upk_value v, const char *name, int64_t *out) {
    struct upk_value field;
    return upk_object_field(doc, v, name, &field) && upk_get_int64(field, out);
}

bool upk_field_double(const struct upk_doc *doc, struct upk_value v, const char *name, double *out) {
    struct upk_value field;
    return upk_object_field(doc, v, name, &field) && upk_get_double(field, out);
}

bool upk_field_str(const struct upk_doc *doc, struct upk_value v, const char *name, const char **text,
                   size_t *len) {
    struct upk_value field;
    return upk_object_field(doc, v, name, &field) && upk_get_str(field, text, len);
}

bool upk_field_bytes(const struct upk_doc *doc, struct upk_value v, const char *name, const uint8_t **bytes,
                     size_t *len) {
    struct upk_value field;
    return upk_object_field(doc, v, name, &field) && upk_get_bytes(field, bytes, len);
}
