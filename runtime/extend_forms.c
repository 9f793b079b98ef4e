/* The forms and types of a class that a host admits: what the templates of a policy write (docs/language.md), with `any` for
 * each value.
 *
 * Sources: object.__reduce_ex__ and copyreg.py, Lib/dataclasses.py, Lib/enum.py, BaseException.__reduce__ and set.__reduce__ of
 * CPython 2.7 to 3.13.
 *
 * Layer: see extend.h.
 */
#include <string.h>

#include "extend.h"
#include "sort.h"

/* ---- types ------------------------------------------------------------ */

static uint32_t add_type(struct extend *e, struct upk_type t) {
    if (t.hi == 0) t.hi = UINT64_MAX;
    e->types[e->p->type_count] = t;
    return e->p->type_count++;
}

static uint32_t add_plain(struct extend *e, enum upk_type_kind kind) {
    return add_type(e, (struct upk_type){.kind = kind});
}

static void add_elem(struct extend *e, uint32_t type, struct upk_text name) {
    e->elems[e->p->elem_count++] = (struct upk_elem){type, name};
}

/* Of the `n` elements that were added last. */
static uint32_t add_tuple(struct extend *e, enum upk_type_kind kind, uint32_t n, uint32_t optional,
                          bool repeats) {
    return add_type(e, (struct upk_type){.kind = kind,
                                         .a = e->p->elem_count - n,
                                         .b = n,
                                         .c = optional | (repeats ? UINT32_C(1) << 24 : 0)});
}

static uint32_t add_pair(struct extend *e, uint32_t first, uint32_t second) {
    const struct upk_text none = {0, 0};
    add_elem(e, first, none);
    add_elem(e, second, none);
    return add_tuple(e, UPK_TYPE_TUPLE, 2, 0, false);
}

static uint32_t add_none_or(struct extend *e, uint32_t type) {
    const uint32_t first = e->p->alt_count;
    e->alts[e->p->alt_count++] = e->none;
    e->alts[e->p->alt_count++] = type;
    return add_type(e, (struct upk_type){.kind = UPK_TYPE_UNION, .a = first, .b = 2});
}

static uint32_t add_bound(struct extend *e, uint64_t low, bool negative) {
    const uint64_t high = negative ? UINT64_MAX : 0;
    e->bounds[e->p->bound_count] =
        (struct upk_bound){.lo = {low, high}, .hi = {low, high}, .negative = negative ? 3 : 0};
    return e->p->bound_count++;
}

void extend_shared_types(struct extend *e) {
    const struct upk_text none = {0, 0};
    e->any = add_plain(e, UPK_TYPE_ANY);
    e->none = add_plain(e, UPK_TYPE_NONE);
    e->open = add_type(e, (struct upk_type){.kind = UPK_TYPE_RECORD, .a = e->p->field_count, .c = e->any});
    e->open_pair = add_pair(e, add_none_or(e, e->open), e->open);
    e->no_args = add_tuple(e, UPK_TYPE_TUPLE, 0, 0, false);
    add_elem(e, e->any, none);
    e->any_args = add_tuple(e, UPK_TYPE_TUPLE, 1, 0, true);
}

/* ---- one class ------------------------------------------------------------ */

/* A form while it is written, and what it is written from. */
struct writing {
    struct extend *e;
    const struct extra_name *name;
    const struct upk_extra *extra;
    const struct extra_work *work;
    struct member_work *members; /* by field */
    struct upk_form form;        /* what all forms share */
};

static void add_form(struct writing *w, uint32_t state) {
    struct upk_form *const f = &w->e->forms[w->e->p->form_count++];
    *f = w->form;
    f->state = state;
}

enum part { PART_ALL, PART_DICT, PART_SLOTS };

static bool is_of(const struct upk_extra_field *f, enum part part) {
    return part == PART_ALL || f->slot == (part == PART_SLOTS);
}

static bool is_before(const void *a, const void *b, const void *ctx) {
    const struct upk_field *const x = a, *const y = b;
    const char *const pool = ctx;
    return bytes_compare(pool + x->key.at, x->key.len, pool + y->key.at, y->key.len) < 0;
}

/* The record of these fields. */
static uint32_t add_record(struct writing *w, enum part part) {
    struct extend *const e = w->e;
    const uint32_t first = e->p->field_count;
    for (size_t i = 0; i < w->extra->field_count; i++) {
        const struct upk_extra_field *const f = &w->extra->fields[i];
        if (!is_of(f, part)) continue;
        e->fields[e->p->field_count++] =
            (struct upk_field){.key = w->members[i].name, .type = e->any, .optional = f->optional};
    }
    const uint32_t n = e->p->field_count - first;
    heap_sort(e->fields + first, n, sizeof *e->fields, is_before, e->pool);
    return add_type(e, (struct upk_type){.kind = UPK_TYPE_RECORD, .a = first, .b = n});
}

/* No field twice. */
static bool check_record(struct writing *w, uint32_t record) {
    const struct upk_type *const t = &w->e->types[record];
    for (uint32_t i = t->a + 1; i < t->a + t->b; i++) {
        const struct upk_field *const f = &w->e->fields[i];
        if (!is_before(f - 1, f, w->e->pool))
            return extend_misuse(w->e, w->name->extra, "a field is given twice");
    }
    return true;
}

static bool all_optional(const struct writing *w, enum part part) {
    for (size_t i = 0; i < w->extra->field_count; i++)
        if (is_of(&w->extra->fields[i], part) && !w->extra->fields[i].optional) return false;
    return true;
}

static bool has_part(const struct writing *w, enum part part) {
    for (size_t i = 0; i < w->extra->field_count; i++)
        if (is_of(&w->extra->fields[i], part)) return true;
    return false;
}

/* A tuple or list of the fields' values in their order; those at the end may be missing where they are optional. */
static uint32_t add_places(struct writing *w, enum upk_type_kind kind) {
    struct extend *const e = w->e;
    const uint32_t n = (uint32_t)w->extra->field_count;
    uint32_t optional = 0;
    for (uint32_t i = 0; i < n; i++) {
        add_elem(e, e->any, w->members[i].name);
        optional = w->extra->fields[i].optional ? optional + 1 : 0;
    }
    return add_tuple(e, kind, n, optional, false);
}

static bool record_forms(struct writing *w) {
    struct extend *const e = w->e;
    const uint32_t all = add_record(w, PART_ALL);
    if (!check_record(w, all)) return false;
    w->form.flags |= UPK_FORM_TEMPLATE | (all_optional(w, PART_ALL) ? UPK_FORM_STATE_OPTIONAL : 0u);
    add_form(w, all);
    add_form(w, add_pair(e, e->none, all));
    add_form(w, add_places(w, UPK_TYPE_PLACES));
    if (has_part(w, PART_DICT) && has_part(w, PART_SLOTS)) {
        uint32_t dict = add_record(w, PART_DICT);
        if (all_optional(w, PART_DICT)) dict = add_none_or(e, dict);
        add_form(w, add_pair(e, dict, add_record(w, PART_SLOTS)));
    }
    return true;
}

static void tuple_forms(struct writing *w) {
    w->form.flags |= UPK_FORM_TEMPLATE;
    w->form.args = add_places(w, UPK_TYPE_TUPLE);
    add_form(w, 0);
}

static void open_forms(struct writing *w) {
    w->form.flags |= UPK_FORM_STATE_OPTIONAL;
    if (w->extra->steps & UPK_STEP_STATE) {
        add_form(w, w->e->any);
        return;
    }
    add_form(w, w->e->open);
    add_form(w, w->e->open_pair);
}

/* ---- members ------------------------------------------------------------ */

/* 0: no literal says the value. */
static uint32_t add_literal(struct writing *w, size_t i) {
    struct extend *const e = w->e;
    const struct upk_extra_field *const f = &w->extra->fields[i];
    const struct upk_text text = w->members[i].text;
    switch (f->kind) {
    case UPK_NONE: return add_plain(e, UPK_TYPE_NONE);
    case UPK_BOOL: return add_plain(e, f->number ? UPK_TYPE_TRUE : UPK_TYPE_FALSE);
    case UPK_INT:
        return add_type(e, (struct upk_type){.kind = UPK_TYPE_INT_IS,
                                             .a = add_bound(e, (uint64_t)f->number, f->number < 0)});
    case UPK_STR: return add_type(e, (struct upk_type){.kind = UPK_TYPE_STR_IS, .a = text.at, .b = text.len});
    case UPK_BYTES:
        return add_type(e, (struct upk_type){.kind = UPK_TYPE_BYTES_IS, .a = text.at, .b = text.len});
    default: return 0;
    }
}

static uint32_t value_of_enum(struct writing *w) {
    struct extend *const e = w->e;
    const uint32_t first = e->p->alt_count;
    bool known = true;
    for (size_t i = 0; i < w->extra->field_count; i++) {
        e->alts[e->p->alt_count++] = w->members[i].type;
        known = known && w->members[i].type;
    }
    const uint32_t n = e->p->alt_count - first;
    if (known && n > 1) return add_type(e, (struct upk_type){.kind = UPK_TYPE_UNION, .a = first, .b = n});
    e->p->alt_count = first;
    return known ? w->members[0].type : e->any;
}

/* The bits of all members; any int where one of them is no natural number. */
static uint32_t value_of_flag(struct writing *w) {
    uint64_t mask = 0;
    bool natural = true;
    for (size_t i = 0; i < w->extra->field_count; i++) {
        const struct upk_extra_field *const f = &w->extra->fields[i];
        natural = natural && f->kind == UPK_INT && f->number >= 0;
        mask |= natural ? (uint64_t)f->number : 0;
    }
    if (!natural) return add_plain(w->e, UPK_TYPE_INT);
    return add_type(w->e, (struct upk_type){.kind = UPK_TYPE_INT, .b = 1 + add_bound(w->e, mask, false)});
}

static void enum_forms(struct writing *w) {
    const struct upk_text none = {0, 0};
    for (size_t i = 0; i < w->extra->field_count; i++) w->members[i].type = add_literal(w, i);
    add_elem(w->e, w->extra->shape == UPK_EXTRA_ENUM ? value_of_enum(w) : value_of_flag(w), none);
    w->form.verb = UPK_VERB_CALL;
    w->form.flags |= UPK_FORM_TEMPLATE;
    w->form.args = add_tuple(w->e, UPK_TYPE_TUPLE, 1, 0, false);
    add_form(w, 0);
}

/* Nothing is made by a name: the class's hooks are not its own.  INVARIANT: the class stands before its members, so that their
 * values' types are there. */
static void member_form(struct writing *w) {
    w->form.verb = UPK_VERB_CONST;
    w->form.flags = UPK_FORM_TEMPLATE;
    w->form.args = 0;
    w->form.value = w->e->members[w->name->member].type;
    add_form(w, 0);
}

/* ---- rows ------------------------------------------------------------ */

static bool class_forms(struct writing *w) {
    const uint32_t steps = w->extra->steps;
    w->form.items = steps & UPK_STEP_ITEMS ? w->e->any : 0;
    w->form.pair_key = w->form.pair_value = steps & UPK_STEP_PAIRS ? w->e->any : 0;
    switch ((enum upk_extra_shape)w->extra->shape) {
    case UPK_EXTRA_RECORD: return record_forms(w);
    case UPK_EXTRA_TUPLE: tuple_forms(w); return true;
    case UPK_EXTRA_ENUM:
    case UPK_EXTRA_FLAG: enum_forms(w); return true;
    case UPK_EXTRA_CALL:
    case UPK_EXTRA_NEW:
        w->form.args = w->extra->field_count ? add_places(w, UPK_TYPE_TUPLE) : w->e->any_args;
        if (w->extra->shape == UPK_EXTRA_CALL) w->form.verb = UPK_VERB_CALL;
        open_forms(w);
        return true;
    case UPK_EXTRA_PLAIN: open_forms(w); return true;
    case UPK_EXTRA_SHAPES: break;
    }
    return false;
}

static uint32_t file_of(const struct extend *e) { return e->p->file_count - 1; }

bool extend_forms(struct extend *e, const struct extra_name *name, struct upk_row *row) {
    const struct upk_extra *const x = &e->extras[name->extra];
    const struct extra_work *const work = &e->work[name->extra];
    struct writing w = {e,
                        name,
                        x,
                        work,
                        e->members + work->first_field,
                        {.row = name->row,
                         .verb = UPK_VERB_NEW,
                         .flags = x->runs,
                         .result = work->class,
                         .args = e->no_args,
                         .file = file_of(e),
                         .line = name->extra + 1}};
    row->first_form = e->p->form_count;
    row->file = w.form.file;
    row->line = w.form.line;
    if (name->what == NAME_MEMBER) {
        row->flags = UPK_ROW_CONST;
        member_form(&w);
    } else {
        row->flags = UPK_ROW_CLASS;
        if (!class_forms(&w)) return false;
    }
    row->form_count = e->p->form_count - row->first_form;
    const struct upk_form *const f = &e->forms[row->first_form];
    row->flags |= (f->state ? UPK_ROW_STATE : 0u) | (f->items ? UPK_ROW_ITEMS : 0u) |
                  (f->pair_key ? UPK_ROW_PAIRS : 0u);
    return true;
}

/* Flag.__reduce_ex__ of CPython 3.11.2 takes a value of several bits apart. */
void extend_or(struct extend *e, uint32_t id, struct upk_row *row) {
    const struct upk_text a = extend_text(e, "a", 1), b = extend_text(e, "b", 1);
    for (size_t i = 0; i < e->count; i++) {
        const uint32_t class = e->work[i].class;
        if (e->extras[i].shape != UPK_EXTRA_FLAG || !class) continue;
        const uint32_t self = add_type(e, (struct upk_type){.kind = UPK_TYPE_OBJECT, .a = class});
        add_elem(e, self, a);
        add_elem(e, self, b);
        e->forms[e->p->form_count++] = (struct upk_form){.row = id,
                                                         .verb = UPK_VERB_FUNC,
                                                         .flags = UPK_FORM_TEMPLATE | e->extras[i].runs,
                                                         .result = class,
                                                         .args = add_tuple(e, UPK_TYPE_TUPLE, 2, 0, false),
                                                         .file = file_of(e),
                                                         .line = (uint32_t)i + 1};
        if (row->form_count++ == 0) {
            row->first_form = e->p->form_count - 1;
            row->file = file_of(e);
            row->line = (uint32_t)i + 1;
        }
        row->flags |= UPK_ROW_FUNC;
    }
}
