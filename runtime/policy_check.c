/* Structural validation of a policy's tables, in time linear in their size: what upk_tables.h and find_class.h state of
 * indices, order, text, null entries, forms, types and look-ups.  Nothing else in the runtime looks at these facts again.
 * What no reader can tell from the tables is not checked: the digest, and that tables are as long as they say.
 *
 * Layer: runtime, above the contract; used by hosts that load tables they did not link, by tests, and by policyc.
 */
#include <stdio.h>
#include <string.h>

#include "environment_table.h"
#include "keys_check.h"

struct check {
    const struct upk_policy *p;
    const char *what; /* the first fact that does not hold; NULL: none */
    const char *table;
    uint32_t index;
};

static bool fault(struct check *c, const char *table, uint32_t index, const char *what) {
    if (c->what) return false;
    c->what = what;
    c->table = table;
    c->index = index;
    return false;
}

#define HOLDS(condition, table, index, what)                   \
    do {                                                       \
        if (!(condition)) return fault(c, table, index, what); \
    } while (0)

static bool is_zero(const void *bytes, size_t n) {
    const uint8_t *const p = bytes;
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) return false;
    }
    return true;
}

/* ---- texts and ranges ------------------------------------------------------------ */

/* The padding belongs to no text; check_head has seen that it is there. */
static bool in_pool(const struct upk_policy *p, struct upk_text t) {
    const uint32_t len = p->pool_len - UPK_NAME_PADDED;
    return t.at <= len && t.len <= len - t.at;
}

static bool in_table(uint32_t first, uint32_t count, uint32_t size) {
    return first <= size && count <= size - first;
}

static bool is_utf8(const struct upk_policy *p, struct upk_text t) {
    bool ascii;
    return in_pool(p, t) && utf8_check((const uint8_t *)p->pool + t.at, t.len, &ascii);
}

static bool is_name(const struct upk_policy *p, struct upk_text t) { return t.len >= 1 && is_utf8(p, t); }

static int compare_texts(const struct upk_policy *p, struct upk_text a, struct upk_text b) {
    return bytes_compare(p->pool + a.at, a.len, p->pool + b.at, b.len);
}

static int compare_names(const struct upk_policy *p, struct upk_text module, struct upk_text qualname,
                         struct upk_text module2, struct upk_text qualname2) {
    const int c = compare_texts(p, module, module2);
    return c != 0 ? c : compare_texts(p, qualname, qualname2);
}

/* ---- head ------------------------------------------------------------ */

static bool check_head(struct check *c) {
    const struct upk_policy *const p = c->p;
    HOLDS(upk_policy_is_of_this_version(p), "policy", 0, "another version");
    HOLDS(p->pool && p->rows && p->forms && p->types && p->elems && p->fields && p->classes && p->bounds &&
              p->charsets && p->ranges && p->alts && p->files && p->opens && p->denies,
          "policy", 0, "a table is missing");
    HOLDS(p->keys[0] && p->keys[1] && p->find_class[0] && p->find_class[1], "policy", 0,
          "a look-up is missing");
    HOLDS(p->row_count && p->form_count && p->type_count && p->class_count && p->bound_count &&
              p->charset_count && p->open_count && p->deny_count,
          "policy", 0, "a null entry is missing");
    HOLDS(p->pool_len >= UPK_NAME_PADDED && is_zero(p->pool + p->pool_len - UPK_NAME_PADDED, UPK_NAME_PADDED),
          "pool", 0, "padding");
    HOLDS(is_zero(p->rows, sizeof *p->rows), "rows", 0, "null entry");
    HOLDS(is_zero(p->forms, sizeof *p->forms), "forms", 0, "null entry");
    HOLDS(is_zero(p->types, sizeof *p->types), "types", 0, "null entry");
    HOLDS(is_zero(p->classes, sizeof *p->classes), "classes", 0, "null entry");
    HOLDS(is_zero(p->bounds, sizeof *p->bounds), "bounds", 0, "null entry");
    HOLDS(is_zero(p->charsets, sizeof *p->charsets), "charsets", 0, "null entry");
    HOLDS(is_zero(p->opens, sizeof *p->opens), "opens", 0, "null entry");
    HOLDS(is_zero(p->denies, sizeof *p->denies), "denies", 0, "null entry");
    HOLDS((p->flags & ~(uint32_t)UPK_POLICY_FLAGS) == 0, "policy", 0, "unknown flag");
    HOLDS(is_name(p, p->name) && is_utf8(p, p->channel) && is_utf8(p, p->generator), "policy", 0, "name");
    HOLDS(p->root >= 1 && p->root < p->type_count, "policy", 0, "root");
    HOLDS(p->protocol_min <= p->protocol_max && p->protocol_max <= 5, "policy", 0, "protocols");
    for (uint32_t i = 0; i < UPK_BUDGET_COUNT; i++)
        HOLDS(p->budgets[i] <= upk_budget_most[i], "budgets", i, "larger than any may be");
    for (uint32_t i = 0; i < p->file_count; i++) HOLDS(is_utf8(p, p->files[i]), "files", i, "text");
    return true;
}

static bool check_opcodes(struct check *c) {
    uint8_t real[256] = {0};
#define UPK_X(name, byte, protocol, family) real[byte] = UPK_OP_##name;
    UPK_OPCODES(UPK_X)
#undef UPK_X
    for (uint32_t i = 0; i < 256; i++) {
        const uint8_t op = c->p->opcodes[i];
        HOLDS(real[i] ? op == real[i] || op == UPK_OP_REFUSED : op == UPK_OP_UNKNOWN, "opcodes", i,
              "not the opcode of this byte");
    }
    return true;
}

/* ---- rows and forms ------------------------------------------------------------ */

static bool check_step_flags(struct check *c, uint32_t id) {
    const struct upk_row *const r = &c->p->rows[id];
    uint32_t steps = 0;
    for (uint32_t i = r->first_form; i < r->first_form + r->form_count; i++) {
        const struct upk_form *const f = &c->p->forms[i];
        steps |= (f->state ? UPK_ROW_STATE : 0u) | (f->items ? UPK_ROW_ITEMS : 0u) |
                 (f->pair_key ? UPK_ROW_PAIRS : 0u) | (f->adds ? UPK_ROW_ADDS : 0u);
    }
    const uint32_t all = UPK_ROW_STATE | UPK_ROW_ITEMS | UPK_ROW_PAIRS | UPK_ROW_ADDS;
    HOLDS((r->flags & all) == steps, "rows", id, "steps of the row are not those of its forms");
    return true;
}

static bool check_row(struct check *c, uint32_t id, uint32_t first_form) {
    const struct upk_policy *const p = c->p;
    const struct upk_row *const r = &p->rows[id];
    const uint32_t kinds = UPK_ROW_CLASS | UPK_ROW_FUNC | UPK_ROW_CONST;
    HOLDS(is_name(p, r->module) && is_name(p, r->qualname), "rows", id, "name");
    HOLDS(id == 1 || compare_names(p, r[-1].module, r[-1].qualname, r->module, r->qualname) < 0, "rows", id,
          "order");
    HOLDS(r->special < UPK_SPECIAL_COUNT, "rows", id, "special");
    HOLDS((r->special == UPK_SPECIAL_NEW_OF) == (r->target != 0) && r->target < p->row_count, "rows", id,
          "target");
    HOLDS(r->target == 0 || p->rows[r->target].flags & UPK_ROW_CLASS, "rows", id, "target is no class");
    if (r->form_count == 0) {
        HOLDS((r->flags & ~(uint32_t)UPK_ROW_PREFIX) == 0, "rows", id, "flags without forms");
        HOLDS(r->flags != 0 || r->special != UPK_SPECIAL_NONE, "rows", id, "nothing is known of it");
        return true;
    }
    HOLDS(r->first_form == first_form && in_table(r->first_form, r->form_count, p->form_count), "rows", id,
          "forms");
    HOLDS((r->flags & kinds) != 0 && (r->flags & UPK_ROW_PREFIX) == 0 && r->flags < 2 * UPK_ROW_OPEN, "rows",
          id, "flags");
    HOLDS(r->line == 0 || r->file < p->file_count, "rows", id, "file");
    return check_step_flags(c, id);
}

static bool check_rows(struct check *c) {
    uint32_t first_form = 1;
    for (uint32_t id = 1; id < c->p->row_count; id++) {
        if (!check_row(c, id, first_form)) return false;
        first_form += c->p->rows[id].form_count;
    }
    HOLDS(first_form == c->p->form_count, "forms", first_form, "belongs to no row");
    return true;
}

static bool is_type(const struct upk_policy *p, uint32_t type) { return type >= 1 && type < p->type_count; }

/* What a row must be granted as for a form of this verb. */
static uint32_t flag_of_verb(uint32_t verb) {
    switch ((enum upk_verb)verb) {
    case UPK_VERB_REF: return UPK_ROW_REF;
    case UPK_VERB_CONST: return UPK_ROW_CONST;
    case UPK_VERB_CALL:
    case UPK_VERB_NEW: return UPK_ROW_CLASS;
    case UPK_VERB_FUNC: return UPK_ROW_FUNC;
    case UPK_VERB_NONE: break;
    }
    return 0;
}

static bool is_literal(const struct upk_policy *p, uint32_t type) {
    switch (p->types[type].kind) {
    case UPK_TYPE_NONE:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
    case UPK_TYPE_INT_IS:
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS: return true;
    default: return false;
    }
}

static bool check_form(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_form *const f = &p->forms[i];
    const uint32_t steps[] = {f->state, f->items, f->pair_key, f->pair_value, f->adds};
    const bool named = f->verb == UPK_VERB_REF || f->verb == UPK_VERB_CONST;
    HOLDS(f->row >= 1 && f->row < p->row_count && i - p->rows[f->row].first_form < p->rows[f->row].form_count,
          "forms", i, "row");
    HOLDS((p->rows[f->row].flags & flag_of_verb(f->verb)) != 0, "forms", i, "verb");
    HOLDS((f->flags & ~(uint32_t)UPK_FORM_FLAGS) == 0, "forms", i, "flags");
    HOLDS(f->check < UPK_CHECK_COUNT, "forms", i, "a check that this version does not have");
    HOLDS(f->check == 0 || (f->verb != UPK_VERB_REF && f->verb != UPK_VERB_CONST), "forms", i,
          "a check where nothing is made");
    HOLDS(f->value == 0 || (f->verb == UPK_VERB_CONST && is_type(p, f->value) && is_literal(p, f->value)),
          "forms", i, "value of a member");
    HOLDS(f->result >= 1 && f->result < p->class_count, "forms", i, "result");
    HOLDS(f->kw == 0 || f->verb == UPK_VERB_NEW, "forms", i, "keywords");
    HOLDS(f->kw == 0 || (is_type(p, f->kw) && p->types[f->kw].kind == UPK_TYPE_RECORD), "forms", i,
          "keywords are no record");
    HOLDS((f->pair_key != 0) == (f->pair_value != 0), "forms", i, "half a pair");
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        HOLDS(steps[s] == 0 || (!named && is_type(p, steps[s])), "forms", i, "step");
    }
    if (named)
        HOLDS(f->args == 0, "forms", i, "arguments of a name");
    else
        HOLDS(is_type(p, f->args) && p->types[f->args].kind == UPK_TYPE_TUPLE, "forms", i,
              "arguments are no tuple");
    HOLDS(f->line == 0 || f->file < p->file_count, "forms", i, "file");
    HOLDS(is_utf8(p, f->because), "forms", i, "reason");
    return true;
}

static bool check_forms(struct check *c) {
    for (uint32_t i = 1; i < c->p->form_count; i++) {
        if (!check_form(c, i)) return false;
    }
    return true;
}

/* ---- types ------------------------------------------------------------ */

static bool check_tuple(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_type *const t = &p->types[i];
    const uint32_t optional = t->c & 0xffffff, repeats = t->c >> 24;
    HOLDS(in_table(t->a, t->b, p->elem_count), "types", i, "elements");
    HOLDS(repeats <= 1 && optional <= t->b && (!repeats || (t->b >= 1 && optional == 0)), "types", i,
          "optional elements");
    for (uint32_t e = t->a; e < t->a + t->b; e++) {
        HOLDS(is_type(p, p->elems[e].type), "elems", e, "type");
        HOLDS(is_utf8(p, p->elems[e].name), "elems", e, "name");
    }
    return true;
}

static bool check_record(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_type *const t = &p->types[i];
    HOLDS(in_table(t->a, t->b, p->field_count), "types", i, "fields");
    HOLDS(t->c < p->type_count, "types", i, "other values");
    for (uint32_t f = t->a; f < t->a + t->b; f++) {
        const struct upk_field *const field = &p->fields[f];
        HOLDS(is_type(p, field->type) && field->optional <= 1, "fields", f, "type");
        HOLDS(is_utf8(p, field->key), "fields", f, "key");
        HOLDS(f == t->a || compare_texts(p, field[-1].key, field->key) < 0, "fields", f, "order");
    }
    return true;
}

static bool check_union(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_type *const t = &p->types[i];
    HOLDS(t->b >= 1 && in_table(t->a, t->b, p->alt_count), "types", i, "alternatives");
    for (uint32_t a = t->a; a < t->a + t->b; a++) {
        HOLDS(is_type(p, p->alts[a]) && p->types[p->alts[a]].kind != UPK_TYPE_UNION, "alts", a, "type");
    }
    return true;
}

static bool check_instance(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_type *const t = &p->types[i];
    HOLDS(in_table(t->a, t->b, p->alt_count), "types", i, "classes");
    for (uint32_t a = t->a; a < t->a + t->b; a++) {
        HOLDS(p->alts[a] >= 1 && p->alts[a] < p->class_count, "alts", a, "class");
        HOLDS(a == t->a || p->alts[a - 1] < p->alts[a], "alts", a, "order");
    }
    return true;
}

static bool check_type(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_type *const t = &p->types[i];
    HOLDS(t->lo <= t->hi, "types", i, "range");
    HOLDS(is_utf8(p, t->name), "types", i, "name");
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_ANY:
    case UPK_TYPE_NONE:
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
    case UPK_TYPE_FLOAT:
    case UPK_TYPE_FINITE:
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER: return true;
    case UPK_TYPE_INT:
        HOLDS(t->a < p->bound_count && (t->b == 0 || (t->b >= 2 && t->b - 1 < p->bound_count)), "types", i,
              "bounds");
        return true;
    case UPK_TYPE_INT_IS: HOLDS(t->a >= 1 && t->a < p->bound_count, "types", i, "literal"); return true;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT: HOLDS(t->a < p->charset_count, "types", i, "characters"); return true;
    case UPK_TYPE_STR_IS:
        HOLDS(is_utf8(p, (struct upk_text){t->a, t->b}), "types", i, "literal");
        return true;
    case UPK_TYPE_BYTES_IS:
        HOLDS(in_pool(p, (struct upk_text){t->a, t->b}), "types", i, "literal");
        return true;
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET:
    case UPK_TYPE_PERSID: HOLDS(is_type(p, t->a), "types", i, "part"); return true;
    case UPK_TYPE_DICT: HOLDS(is_type(p, t->a) && is_type(p, t->b), "types", i, "part"); return true;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return check_tuple(c, i);
    case UPK_TYPE_RECORD: return check_record(c, i);
    case UPK_TYPE_UNION: return check_union(c, i);
    case UPK_TYPE_OBJECT: HOLDS(t->a >= 1 && t->a < p->class_count, "types", i, "class"); return true;
    case UPK_TYPE_REF:
        HOLDS(t->a >= 1 && t->a < p->row_count && p->rows[t->a].flags & UPK_ROW_REF, "types", i,
              "not a row for `ref'");
        return true;
    case UPK_TYPE_INSTANCE: return check_instance(c, i);
    case UPK_TYPE_NEVER:
    case UPK_TYPE_COUNT: break;
    }
    return fault(c, "types", i, "kind");
}

static bool check_types(struct check *c) {
    for (uint32_t i = 1; i < c->p->type_count; i++) {
        if (!check_type(c, i)) return false;
    }
    return true;
}

/* ---- classes, bounds, characters ------------------------------------------------------------ */

static bool check_classes(struct check *c) {
    const struct upk_policy *const p = c->p;
    for (uint32_t i = 1; i < p->class_count; i++) {
        const struct upk_class *const k = &p->classes[i];
        HOLDS(is_name(p, k->module) && is_name(p, k->qualname), "classes", i, "name");
        HOLDS(i == 1 || compare_names(p, k[-1].module, k[-1].qualname, k->module, k->qualname) < 0, "classes",
              i, "order");
    }
    return true;
}

/* 129 bits: the sign, then both words. */
static bool bound_at_most(const struct upk_bound *b) {
    const bool lo_negative = b->negative & 1, hi_negative = (b->negative & 2) != 0;
    if (lo_negative != hi_negative) return lo_negative;
    return b->lo[1] != b->hi[1] ? b->lo[1] < b->hi[1] : b->lo[0] <= b->hi[0];
}

static bool check_bounds(struct check *c) {
    for (uint32_t i = 1; i < c->p->bound_count; i++) {
        const struct upk_bound *const b = &c->p->bounds[i];
        HOLDS(b->open <= 3 && b->negative <= 3 && (b->open & b->negative) == 0, "bounds", i, "flags");
        HOLDS(!(b->open & 1) || (b->lo[0] == 0 && b->lo[1] == 0), "bounds", i, "open end");
        HOLDS(!(b->open & 2) || (b->hi[0] == 0 && b->hi[1] == 0), "bounds", i, "open end");
        HOLDS(b->open || bound_at_most(b), "bounds", i, "order");
    }
    return true;
}

static bool check_charsets(struct check *c) {
    const struct upk_policy *const p = c->p;
    for (uint32_t i = 1; i < p->charset_count; i++) {
        const struct upk_charset *const s = &p->charsets[i];
        uint64_t ascii[2] = {0, 0};
        HOLDS(in_table(s->first, s->count, p->range_count), "charsets", i, "ranges");
        for (uint32_t r = s->first; r < s->first + s->count; r++) {
            const struct upk_range *const range = &p->ranges[r];
            HOLDS(range->lo <= range->hi && range->hi <= 0x10ffff, "ranges", r, "code points");
            HOLDS(r == s->first || (range[-1].hi < range->lo && range->lo - range[-1].hi > 1), "ranges", r,
                  "order");
            for (uint32_t code = range->lo; code <= range->hi && code < 128; code++)
                ascii[code / 64] |= UINT64_C(1) << code % 64;
        }
        HOLDS(ascii[0] == s->ascii[0] && ascii[1] == s->ascii[1], "charsets", i, "bitmap");
    }
    return true;
}

/* ---- keys ------------------------------------------------------------ */

/* What another file has found. */
static bool took(struct check *c, bool good, const struct table_fault *f) {
    return good || fault(c, f->table, f->index, f->what);
}

static bool check_slot(struct check *c, uint32_t reading, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_keys *const k = p->keys[reading];
    const struct upk_key *const s = &k->slots[i];
    if (s->row[0] == 0 && s->row[1] == 0) return true;
    HOLDS(((p->rows[s->row[0]].flags | p->rows[s->row[1]].flags) & UPK_ROW_OPEN) == 0, "slots", i,
          "a stream says the name of an open row");
    HOLDS(find_row(p, reading, k->pool + s->module, s->module_len, k->pool + s->name, s->name_len) ==
              s->row[reading],
          "slots", i, "not found under its own hash");
    return true;
}

static bool check_keys(struct check *c, uint32_t reading) {
    const struct upk_keys *const k = c->p->keys[reading];
    struct table_fault fault;
    if (!took(c, key_tables_check(k, reading, c->p->row_count - 1, &fault), &fault)) return false;
    for (uint32_t i = 0; i < k->slot_count; i++) {
        if (!check_slot(c, reading, i)) return false;
    }
    return true;
}

static bool check_blocks(struct check *c) {
    struct table_fault fault;
    return took(c, environment_check(c->p, &fault), &fault);
}

/* From protocol 3 on each name that is granted, or spells something, is found under its one modern
 * spelling. */
static bool check_reachable(struct check *c) {
    const struct upk_policy *const p = c->p;
    for (uint32_t id = 1; id < p->row_count; id++) {
        const struct upk_row *const r = &p->rows[id];
        if (r->form_count == 0 && r->special == UPK_SPECIAL_NONE) continue;
        if (r->flags & UPK_ROW_OPEN) continue; /* no stream says it */
        if (r->module.len > UPK_NAME_MOST || r->qualname.len > UPK_NAME_MOST)
            continue; /* no stream can say it */
        HOLDS(find_row(p, 1, p->pool + r->module.at, r->module.len, p->pool + r->qualname.at,
                       r->qualname.len) == id,
              "rows", id, "not found by its name");
    }
    return true;
}

/* ---- names that only a host knows ------------------------------------------------------------ */

static bool check_open(struct check *c, uint32_t i) {
    const struct upk_policy *const p = c->p;
    const struct upk_open *const o = &p->opens[i];
    const bool base = o->kind == UPK_OPEN_SUBCLASSES, first = i == 1;
    const uint32_t flag = o->kind == UPK_OPEN_CONST ? UPK_ROW_CONST : UPK_ROW_CLASS;
    HOLDS(o->kind >= UPK_OPEN_SUBCLASSES && o->kind <= UPK_OPEN_CONST, "opens", i, "kind");
    HOLDS(o->row >= 1 && o->row < p->row_count && p->rows[o->row].flags & UPK_ROW_OPEN &&
              p->rows[o->row].flags & flag,
          "opens", i, "row");
    HOLDS(base ? is_name(p, o->module) && is_name(p, o->qualname) : !o->module.len && !o->qualname.len,
          "opens", i, "base");
    HOLDS(base || p->flags & UPK_POLICY_FAIL_OPEN, "opens", i, "the policy does not fail open");
    HOLDS(first || o[-1].kind < o->kind || (base && o[-1].kind == o->kind && o[-1].row < o->row), "opens", i,
          "order");
    return true;
}

static bool check_opens(struct check *c) {
    const struct upk_policy *const p = c->p;
    uint32_t rows = 0, kinds = 0;
    for (uint32_t i = 1; i < p->open_count; i++) {
        if (!check_open(c, i)) return false;
        kinds |= UINT32_C(1) << p->opens[i].kind;
    }
    for (uint32_t id = 1; id < p->row_count; id++) rows += (p->rows[id].flags & UPK_ROW_OPEN) != 0;
    HOLDS(rows == p->open_count - 1, "opens", 0, "not as many as open rows");
    if (p->flags & UPK_POLICY_FAIL_OPEN) {
        HOLDS(kinds >> UPK_OPEN_CLASS == 3, "opens", 0, "a kind is missing");
        HOLDS(is_name(p, p->until) && is_name(p, p->because) && p->until_file < p->file_count, "policy", 0,
              "fails open without a date or a reason");
    } else {
        HOLDS(!p->until.len && !p->because.len && !p->until_file && !p->until_line, "policy", 0,
              "a date without `fail_open'");
    }
    return true;
}

static bool check_denies(struct check *c) {
    const struct upk_policy *const p = c->p;
    for (uint32_t i = 1; i < p->deny_count; i++) {
        const struct upk_deny *const d = &p->denies[i];
        HOLDS(d->kind >= UPK_DENY_NAME && d->kind <= UPK_DENY_TREE, "denies", i, "kind");
        HOLDS((d->flags & ~(uint32_t)(UPK_DENY_NEVER | UPK_DENY_WRITTEN)) == 0, "denies", i, "flags");
        HOLDS(is_name(p, d->path) && d->file < p->file_count, "denies", i, "place");
        if (i == 1) continue;
        const int order = compare_texts(p, d[-1].path, d->path);
        HOLDS(order < 0 || (order == 0 && d[-1].kind < d->kind), "denies", i, "order");
    }
    return true;
}

static bool check_all(struct check *c) {
    return check_head(c) && check_opcodes(c) && check_rows(c) && check_forms(c) && check_types(c) &&
           check_classes(c) && check_bounds(c) && check_charsets(c) && check_keys(c, 0) && check_keys(c, 1) &&
           check_reachable(c) && check_opens(c) && check_denies(c) && check_blocks(c);
}

bool upk_policy_check(const struct upk_policy *policy, struct upk_error *err) {
    struct check c = {.p = policy};
    if (policy ? check_all(&c) : fault(&c, "policy", 0, "missing")) return true;
    if (err) {
        error_set(err, UPK_ERR_TABLE, 0, UPK_OP_UNKNOWN);
        (void)snprintf(err->detail, sizeof err->detail, "%s[%u]: %s", c.table, (unsigned)c.index, c.what);
    }
    return false;
}
