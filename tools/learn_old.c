/* What a former learned policy grants, as shapes: read from its compiled tables, so that it means what the compiler says.
 *
 * Layer: a part of the program policyc; see learn_block.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "learn_block.h"
#include "learn_bounds.h"

struct old {
    struct learn *learn;
    const struct upk_policy *policy;
    const struct learn_block *block;
    const size_t *lines; /* where the lines of the file begin, from the first; NULL: no memory */
    size_t line_count;
    bool failed; /* no memory, or a type that is none of ours */
};

static void see_type(struct old *o, uint32_t type, struct shape *s, uint32_t within, struct shape *around);

static struct learn_row *row_named(struct old *o, struct upk_text module, struct upk_text qualname) {
    struct learn_row *const r =
        learn_row_get(&o->learn->rows,
                      (struct model_name){policy_text(o->policy, module), policy_text(o->policy, qualname)});
    o->failed = o->failed || !r;
    return r;
}

/* ---- types */

static void see_int(const struct upk_policy *p, const struct upk_type *t, struct shape *s) {
    const struct upk_bound *const b = &p->bounds[t->a];
    const uint32_t open = t->a ? b->open : 3;
    const bool low_negative = b->negative & 1, high_negative = b->negative & 2;
    const unsigned low = open & 1 || low_negative ? bounds_int_step_of(b->lo, low_negative, open & 1) : 0;
    const unsigned high = open & 2 || !high_negative ? bounds_int_step_of(b->hi, false, open & 2) : 0;
    shape_kind_add(s, SHAPE_INT);
    if (t->b) {
        const uint64_t *const mask = p->bounds[t->b - 1].lo;
        const unsigned step = bounds_int_step_of(mask, false, false);
        s->bits[0] |= mask[0];
        s->bits[1] |= mask[1];
        if (step > s->high) s->high = (uint8_t)step;
        return;
    }
    s->any_bits = true;
    if (low > s->low) s->low = (uint8_t)low;
    if (high > s->high) s->high = (uint8_t)high;
}

static void see_part(struct old *o, const struct upk_type *t, uint32_t part_type, struct shape *s,
                     enum shape_part part, uint32_t self) {
    if (t->hi == 0) return; /* it is empty, whatever its members would be */
    see_type(o, part_type, shape_part(&o->learn->mem, s, part), self, s);
}

static void see_tuple(struct old *o, const struct upk_type *t, struct shape *s, uint32_t self) {
    struct mem *const m = &o->learn->mem;
    const uint32_t optional = t->c & 0xffffff;
    if (t->c >> 24) {
        shape_kind_add(s, SHAPE_TUPLE);
        for (uint32_t i = 0; i < t->b; i++)
            see_type(o, o->policy->elems[t->a + i].type, shape_part(m, s, PART_REST), self, s);
        return;
    }
    shape_tuple(m, s, t->b - optional);
    shape_tuple(m, s, t->b);
    for (uint32_t i = 0; i < t->b; i++)
        see_type(o, o->policy->elems[t->a + i].type, shape_place(m, s, i), self, s);
}

static void see_record(struct old *o, const struct upk_type *t, struct shape *s, uint32_t self) {
    struct mem *const m = &o->learn->mem;
    shape_dict(s);
    shape_length(s, SHAPE_DICT, t->b);
    s->is_record = true;
    if (t->c) {
        shape_make_map(m, s);
        shape_length(s, SHAPE_DICT, SHAPE_MOST_FIELDS);
        see_type(o, t->c, shape_part(m, s, PART_VALUE), self, s);
    }
    for (uint32_t i = 0; i < t->b; i++) {
        const struct upk_field *const f = &o->policy->fields[t->a + i];
        struct shape *const field = shape_field_of(m, s, policy_text(o->policy, f->key), f->optional ? 0 : 1);
        see_type(o, f->type, field ? field : shape_part(m, s, PART_VALUE), self, s);
    }
}

static void see_class(struct old *o, uint32_t class, struct shape *s) {
    const struct upk_class *const c = &o->policy->classes[class];
    struct learn_row *const r = row_named(o, c->module, c->qualname);
    if (!r) return;
    if (r->owner == LEARN_OWN && !learn_row_is_made(r) && !r->former_const && !r->former_ref && !r->granted)
        r->owner = LEARN_CLASS;
    shape_name(&o->learn->mem, r->former_const ? &s->mentions : &s->objects, r);
}

static void see_list(struct old *o, const struct upk_type *t, struct shape *s, enum shape_kind kind,
                     enum shape_part part, uint32_t self) {
    shape_length(s, kind, t->hi);
    see_part(o, t, t->a, s, part, self);
}

static void see_dict(struct old *o, const struct upk_type *t, struct shape *s, uint32_t self) {
    shape_make_map(&o->learn->mem, s);
    shape_dict(s);
    shape_length(s, SHAPE_DICT, t->hi);
    see_part(o, t, t->a, s, PART_KEY, self);
    see_part(o, t, t->b, s, PART_VALUE, self);
}

static void see_ref(struct old *o, uint32_t row, struct shape *s) {
    struct learn_row *const r = row_named(o, o->policy->rows[row].module, o->policy->rows[row].qualname);
    if (r) shape_name(&o->learn->mem, &s->mentions, r);
}

/* No union; `self` is the type that it is an alternative of, or itself. */
static void see_alternative(struct old *o, uint32_t type, struct shape *s, uint32_t self) {
    const struct upk_type *const t = &o->policy->types[type];
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_NONE: shape_kind_add(s, SHAPE_NONE); break;
    case UPK_TYPE_BOOL: shape_kind_add(s, SHAPE_BOOL); break;
    case UPK_TYPE_INT: see_int(o->policy, t, s); break;
    case UPK_TYPE_FLOAT: shape_kind_add(s, SHAPE_FLOAT); break;
    case UPK_TYPE_STR: shape_length(s, SHAPE_STR, t->hi); break;
    case UPK_TYPE_BYTES: shape_length(s, SHAPE_BYTES, t->hi); break;
    case UPK_TYPE_BYTEARRAY: shape_length(s, SHAPE_BYTEARRAY, t->hi); break;
    case UPK_TYPE_BUFFER: shape_length(s, SHAPE_BUFFER, t->hi); break;
    case UPK_TYPE_LIST: see_list(o, t, s, SHAPE_LIST, PART_LIST, self); break;
    case UPK_TYPE_SET: see_list(o, t, s, SHAPE_SET, PART_SET, self); break;
    case UPK_TYPE_FROZENSET: see_list(o, t, s, SHAPE_FROZENSET, PART_FROZENSET, self); break;
    case UPK_TYPE_DICT: see_dict(o, t, s, self); break;
    case UPK_TYPE_TUPLE: see_tuple(o, t, s, self); break;
    case UPK_TYPE_RECORD: see_record(o, t, s, self); break;
    case UPK_TYPE_OBJECT: see_class(o, t->a, s); break;
    case UPK_TYPE_REF: see_ref(o, t->a, s); break;
    case UPK_TYPE_PERSID:
        shape_kind_add(s, SHAPE_PERSID);
        see_type(o, t->a, shape_part(&o->learn->mem, s, PART_PERSID), self, s);
        break;
    default: o->failed = true; /* nothing that is learned says so */
    }
}

/* `within` is the type that is being read into `around`: where it stands in itself, that shape is tied. */
static void see_type(struct old *o, uint32_t type, struct shape *s, uint32_t within, struct shape *around) {
    const struct upk_type *const t = &o->policy->types[type];
    if (!s || s->depth > SHAPE_MOST_DEPTH + 2) o->failed = true;
    if (o->failed) return;
    if (type == within) {
        shape_tie(&o->learn->mem, around);
    } else if (t->kind == UPK_TYPE_UNION) {
        for (uint32_t i = 0; i < t->b; i++) see_alternative(o, o->policy->alts[t->a + i], s, type);
    } else {
        see_alternative(o, type, s, type);
    }
}

static void see_optional(struct old *o, uint32_t type, struct shape **at) {
    if (!type) return;
    if (!*at) *at = shape_new(&o->learn->mem);
    see_type(o, type, *at, 0, NULL);
}

/* ---- rows */

static void find_lines(struct old *o) {
    const struct text file = o->block->file;
    size_t count = 1;
    for (size_t i = 0; i < file.len; i++) count += file.at[i] == '\n';
    size_t *const lines = mem_alloc(&o->learn->mem, count, sizeof *lines);
    if (!lines) return;
    for (size_t i = 0; i < file.len; i++) {
        if (file.at[i] == '\n') lines[++o->line_count] = i + 1;
    }
    o->line_count++;
    o->lines = lines;
}

/* `# 1_240 seen` on the line before the row. */
static uint64_t count_before(const struct old *o, uint32_t line) {
    const struct learn_block *const b = o->block;
    if (!o->lines || line < 2 || line - 2 >= o->line_count) return 0;
    size_t at = o->lines[line - 2];
    while (at < b->file.len && b->file.at[at] == ' ') at++;
    if (b->file.len - at < 2 || memcmp(b->file.at + at, "# ", 2) != 0) return 0;
    uint64_t n = 0;
    for (at += 2;
         at < b->file.len && (b->file.at[at] == '_' || (b->file.at[at] >= '0' && b->file.at[at] <= '9'));
         at++) {
        if (b->file.at[at] != '_' && n < UINT64_MAX / 100) n = 10 * n + (uint64_t)(b->file.at[at] - '0');
    }
    return n;
}

static void see_form(struct old *o, struct learn_row *r, const struct upk_form *form) {
    if (form->verb == UPK_VERB_REF) {
        r->former_ref = true;
        return;
    }
    if (form->verb == UPK_VERB_CONST) {
        r->former_const = true;
        return;
    }
    struct learn_form *const f = learn_row_form(r, form->verb, form->kw != 0);
    f->known = true;
    f->no_state = f->no_state || !form->state || form->flags & UPK_FORM_STATE_OPTIONAL;
    see_optional(o, form->args, &f->args);
    see_optional(o, form->kw, &f->kw);
    see_optional(o, form->state, &f->state);
    see_optional(o, form->items, &f->items);
    see_optional(o, form->pair_key, &f->key);
    see_optional(o, form->pair_value, &f->value);
    see_optional(o, form->adds, &f->adds);
}

static bool is_in_block(const struct old *o, uint32_t file, uint32_t line) {
    return file + 1 == o->policy->file_count && line > o->block->first_line && line < o->block->last_line;
}

/* A mention of its own may stand beside the row of a fragment. */
static void see_shipped(struct old *o, struct learn_row *r, const struct upk_row *row) {
    r->shipped = row->flags & ~(uint32_t)UPK_ROW_REF;
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct upk_form *const form = &o->policy->forms[row->first_form + i];
        if (form->verb != UPK_VERB_REF)
            r->owner = LEARN_SHIPPED;
        else if (is_in_block(o, form->file, form->line))
            r->former_ref = true;
        else
            r->shipped |= UPK_ROW_REF;
    }
}

static void see_row(struct old *o, const struct upk_row *row) {
    struct learn_row *const r = row_named(o, row->module, row->qualname);
    if (!r) return;
    if (learn_is_shipped(o->policy, row)) {
        see_shipped(o, r, row);
    } else if (!is_in_block(o, row->file, row->line)) {
        r->keep_out = true;
    } else {
        const uint64_t count = count_before(o, row->line);
        for (uint32_t i = 0; i < row->form_count; i++) see_form(o, r, &o->policy->forms[row->first_form + i]);
        if (learn_row_is_made(r))
            r->seen += count;
        else
            r->mentions += count;
    }
}

/* Consts and classes have to be told apart before types name them. */
static void see_kinds(struct old *o, const struct upk_row *row) {
    struct learn_row *const r = row_named(o, row->module, row->qualname);
    if (!r || !is_in_block(o, row->file, row->line)) return;
    if (r->owner == LEARN_CLASS) r->owner = LEARN_OWN;
    r->excluded = NULL; /* it was granted, so there it stays */
    r->granted = true;
    r->former_const = (row->flags & UPK_ROW_CONST) != 0;
}

/* ---- settings */

static void see_settings(struct old *o) {
    struct learn_settings *const s = &o->learn->settings;
    const struct upk_policy *const p = o->policy;
    for (size_t i = 0; i < 256; i++) {
        if (p->opcodes[i] && p->opcodes[i] < UPK_OP_END) s->opcodes[p->opcodes[i]] = true;
    }
    if (p->protocol_min < s->protocol_min) s->protocol_min = p->protocol_min;
    if (p->protocol_max > s->protocol_max) s->protocol_max = p->protocol_max;
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        if (p->budgets[i] != upk_budget_standard[i]) s->budgets[i] = p->budgets[i];
    }
    s->cyclic = s->cyclic || p->flags & UPK_POLICY_ROOT_CYCLIC;
}

static void use_fragments(struct old *o) {
    struct learn *const l = o->learn;
    for (uint32_t i = 0; i < o->policy->row_count; i++) {
        const struct upk_row *const row = &o->policy->rows[i];
        if (!learn_is_shipped(o->policy, row)) continue;
        const struct shipped *const s = shipped_of_name(policy_text(o->policy, o->policy->files[row->file]));
        if (s) learn_use(l, s);
    }
}

static bool has_file(const struct upk_policy *p, const char *file) {
    for (uint32_t i = 0; i < p->file_count; i++) {
        if (text_is(policy_text(p, p->files[i]), file)) return true;
    }
    return false;
}

void learn_prefer(struct learn *l, const struct upk_policy *p) {
    for (uint32_t i = 1; i < p->row_count; i++) {
        const struct upk_row *const row = &p->rows[i];
        const struct text module = policy_text(p, row->module), name = policy_text(p, row->qualname);
        const struct text file = row->line ? policy_text(p, p->files[row->file]) : (struct text){"", 0};
        if (!shipped_owns(file)) continue;
        for (const struct shipped *s = shipped_of_row(module, name); s && !text_is(file, s->file);
             s = shipped_next_of_row(module, name, s)) {
            if (!has_file(p, s->file)) learn_avoid(l, s);
        }
    }
}

bool learn_old(struct learn *l, const struct learn_block *b, const struct upk_policy *p) {
    struct old o = {.learn = l, .policy = p, .block = b};
    find_lines(&o);
    for (uint32_t i = 1; i < p->row_count; i++) {
        if (p->rows[i].line) see_kinds(&o, &p->rows[i]);
    }
    for (uint32_t i = 1; i < p->row_count && !o.failed; i++) {
        if (p->rows[i].line) see_row(&o, &p->rows[i]);
    }
    if (b->from != b->to) {
        if (!b->outer.has_header) see_optional(&o, p->root, &l->root);
        see_settings(&o);
    }
    use_fragments(&o);
    return !o.failed && !l->mem.failed;
}
