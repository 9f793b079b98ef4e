/* The lines of a listing.  Layer: see list.h. */
#define UPK_FIND_CLASS_ANY
#include "list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "intern.h"
#include "list_type.h"
#include "notation.h"
#include "unicode.h"
#include "words.h"

enum { PROTOCOL_OF_NEW_NAMES = 3, ALL_READINGS = 3 };

/* A text between the lines: what is sorted. */
struct lines {
    struct array ends; /* of size_t: where each line of `text` ends */
    struct output text;
};

struct listing {
    const struct upk_policy *policy;
    struct output *o;
    struct type_lines types;
};

/* ---- settings ------------------------------------------------------------ */

static bool mostly_allowed(const struct upk_policy *p, uint32_t family) {
    uint32_t all = 0, allowed = 0;
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        all += opcode_words[i].family == family;
        allowed += opcode_words[i].family == family && opcode_is_allowed(p, &opcode_words[i]);
    }
    return allowed > all - allowed;
}

static void put_item(struct output *o, const char *before, bool *first, const char *word) {
    output_text(o, *first ? before : ", ");
    output_text(o, word);
    *first = false;
}

/* A family of which most is allowed, less the rest; of others each opcode. */
static void put_opcodes(const struct listing *l) {
    bool first = true;
    output_text(l->o, "opcodes");
    for (uint32_t f = 0; f < UPK_FAMILY_COUNT; f++) {
        if (mostly_allowed(l->policy, f)) put_item(l->o, " ", &first, family_words[f]);
    }
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        if (!mostly_allowed(l->policy, opcode_words[i].family) &&
            opcode_is_allowed(l->policy, &opcode_words[i]))
            put_item(l->o, " ", &first, opcode_words[i].name);
    }
    first = true;
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        if (mostly_allowed(l->policy, opcode_words[i].family) &&
            !opcode_is_allowed(l->policy, &opcode_words[i]))
            put_item(l->o, " except ", &first, opcode_words[i].name);
    }
    output_text(l->o, "\n");
}

static void put_budgets(const struct listing *l) {
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        const uint64_t value = l->policy->budgets[i];
        output_print(l->o, "budget %s ", budget_words[i].word);
        notation_budget(l->o, (enum upk_budget)i, value);
        output_text(l->o, value == budget_words[i].standard ? "  # default\n" : "\n");
    }
}

static void put_settings(struct listing *l) {
    const struct upk_policy *const p = l->policy;
    output_text(l->o, "policy ");
    notation_name(l->o, policy_text(p, p->name));
    output_print(l->o, " %" PRIu32 "\n", p->revision);
    if (p->channel.len != 0) {
        output_text(l->o, "channel ");
        notation_name(l->o, policy_text(p, p->channel));
        output_text(l->o, "\n");
    }
    put_opcodes(l);
    output_print(l->o, "protocol %" PRIu32 "..%" PRIu32 "\n", p->protocol_min, p->protocol_max);
    put_budgets(l);
    output_text(l->o, "root ");
    type_put(&l->types, l->o, p->root);
    output_text(l->o, p->flags & UPK_POLICY_ROOT_CYCLIC ? " cyclic\n" : "\n");
    for (uint32_t i = 0; i < l->types.named_count; i++) {
        const struct text name = type_name(&l->types, l->types.named[i]);
        output_text(l->o, "type ");
        output_bytes(l->o, name.at, name.len);
        output_text(l->o, " = ");
        type_put_meaning(&l->types, l->o, l->types.named[i]);
        output_text(l->o, "\n");
    }
}

/* ---- names that only a host knows ------------------------------------------------------------ */

static void put_scope(const struct listing *l, const struct upk_deny *d) {
    output_text(l->o, d->flags & UPK_DENY_NEVER ? "never " : "deny ");
    if (d->kind != UPK_DENY_NAME) output_text(l->o, "module ");
    notation_name(l->o, policy_text(l->policy, d->path));
    if (d->kind == UPK_DENY_TREE) output_text(l->o, ".*");
    list_put_source(l->o, l->policy, d->file, d->line);
    output_text(l->o, d->flags & UPK_DENY_WRITTEN ? "\n" : ", by another path\n");
}

static void put_opens(const struct listing *l) {
    const struct upk_policy *const p = l->policy;
    if (p->flags & UPK_POLICY_FAIL_OPEN) {
        output_text(l->o, "fail_open until ");
        notation_string(l->o, policy_text(p, p->until));
        output_text(l->o, " because ");
        notation_prose(l->o, policy_text(p, p->because));
        list_put_source(l->o, p, p->until_file, p->until_line);
        output_text(l->o, "\n");
    }
    for (uint32_t i = 1; i < p->deny_count; i++) put_scope(l, &p->denies[i]);
}

/* ---- grants ------------------------------------------------------------ */

static void put_class(const struct listing *l, struct output *o, uint32_t class) {
    const struct upk_class *const c = &l->policy->classes[class];
    type_put_qualified(o, l->policy, c->module, c->qualname);
}

static bool names_itself(const struct listing *l, const struct upk_row *row, const struct upk_form *f) {
    const struct upk_class *const c = &l->policy->classes[f->result];
    return text_equal(policy_text(l->policy, c->module), policy_text(l->policy, row->module)) &&
           text_equal(policy_text(l->policy, c->qualname), policy_text(l->policy, row->qualname));
}

static void put_signature(struct listing *l, struct output *o, const char *verb, const struct upk_form *f) {
    output_text(o, verb);
    output_text(o, "(");
    type_put_arguments(&l->types, o, f->args);
    output_text(o, ")");
}

static void put_maker(struct listing *l, struct output *o, const struct upk_row *row,
                      const struct upk_form *f) {
    switch ((enum upk_verb)f->verb) {
    case UPK_VERB_NONE: break;
    case UPK_VERB_REF: output_text(o, "ref"); break;
    case UPK_VERB_CONST:
        output_text(o, "const");
        if (!names_itself(l, row, f)) {
            output_text(o, " -> ");
            put_class(l, o, f->result);
        }
        if (f->value == 0) break;
        output_text(o, " = ");
        type_put_meaning(&l->types, o, f->value);
        break;
    case UPK_VERB_CALL: put_signature(l, o, "call", f); break;
    case UPK_VERB_NEW:
        put_signature(l, o, "new", f);
        if (f->kw == 0) break;
        output_text(o, " kw ");
        type_put_record(&l->types, o, f->kw);
        break;
    case UPK_VERB_FUNC:
        put_signature(l, o, "func", f);
        output_text(o, " -> ");
        put_class(l, o, f->result);
        break;
    }
}

static void put_step(struct listing *l, struct output *o, const char *word, uint32_t type) {
    if (type == 0) return;
    output_text(o, word);
    type_put_atom(&l->types, o, type);
}

static void put_steps(struct listing *l, struct output *o, const struct upk_form *f) {
    put_step(l, o, f->flags & UPK_FORM_STATE_OPTIONAL ? " state? " : " state ", f->state);
    put_step(l, o, " items ", f->items);
    put_step(l, o, " pairs ", f->pair_key);
    put_step(l, o, ": ", f->pair_value);
    put_step(l, o, " adds ", f->adds);
}

static void put_clauses(const struct listing *l, struct output *o, const struct upk_row *row,
                        const struct upk_form *f) {
    bool first = true;
    for (size_t i = 0; i < HOOK_COUNT; i++) {
        if (f->flags & hook_words[i].flag) put_item(o, " runs ", &first, hook_words[i].word);
    }
    if (f->check != UPK_CHECK_NONE && f->check < UPK_CHECK_COUNT) {
        output_text(o, " check ");
        output_text(o, check_words[f->check]);
    }
    if (row->flags & UPK_ROW_IMPORT) output_text(o, " import");
    if (row->calls != 0) {
        output_text(o, " budget calls ");
        notation_number(o, row->calls);
    }
    if (f->because.len != 0) {
        output_text(o, " because ");
        notation_prose(o, policy_text(l->policy, f->because));
    }
}

/* A file's name is quoted where a reader could take it for something else. */
static bool is_plain_file(struct text name) {
    for (size_t i = 0; i < name.len; i++) {
        if (name.at[i] <= ' ' || name.at[i] > '~' || name.at[i] == '"' || name.at[i] == '\\') return false;
    }
    return name.len != 0;
}

static bool is_utf8(struct text t) {
    uint32_t code;
    for (size_t i = 0, len; i < t.len; i += len) {
        len = utf8_decode(t.at + i, t.len - i, &code);
        if (len == 0) return false;
    }
    return true;
}

void list_put_source(struct output *o, const struct upk_policy *p, uint32_t number, uint32_t line) {
    if (line == 0 || number >= p->file_count) return;
    const struct text file = policy_text(p, p->files[number]);
    output_text(o, "  # ");
    if (is_plain_file(file))
        output_bytes(o, file.at, file.len);
    else if (is_utf8(file))
        notation_string(o, file);
    else
        notation_bytes(o, file);
    output_print(o, ":%" PRIu32, line);
}

static void put_place(const struct listing *l, struct output *o, const struct upk_form *f) {
    list_put_source(o, l->policy, f->file, f->line);
    if (f->line != 0 && f->flags & UPK_FORM_TEMPLATE) output_text(o, ", by a template");
}

/* ---- lines in order ------------------------------------------------------------ */

static void line_end(struct lines *s) {
    output_bytes(&s->text, "\n", 1);
    array_add(&s->ends, &s->text.len);
}

static int compare_texts(const void *a, const void *b) {
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* Adds the lines, sorted, to `o`, and forgets them. */
static void lines_flush(struct lines *s, struct output *o) {
    const size_t *const ends = s->ends.items;
    struct text *const sorted = mem_alloc(o->mem, s->ends.count, sizeof *sorted);
    if (o->mem->failed || !sorted) return;
    for (size_t i = 0; i < s->ends.count; i++) {
        const size_t from = i == 0 ? 0 : ends[i - 1];
        sorted[i] = (struct text){s->text.bytes + from, ends[i] - from};
    }
    if (s->ends.count > 1) qsort(sorted, s->ends.count, sizeof *sorted, compare_texts);
    for (size_t i = 0; i < s->ends.count; i++) output_bytes(o, sorted[i].at, sorted[i].len);
    s->text.len = 0;
    s->ends.count = 0;
}

/* Of a row that is open: what it stands for. */
static const struct upk_open *open_of(const struct upk_policy *p, const struct upk_row *row) {
    for (uint32_t i = 1; i < p->open_count && row->flags & UPK_ROW_OPEN; i++) {
        if (&p->rows[p->opens[i].row] == row) return &p->opens[i];
    }
    return NULL;
}

static void put_name(const struct listing *l, struct output *o, const struct upk_row *row) {
    const struct upk_open *const open = open_of(l->policy, row);
    if (open) {
        output_text(o, open->kind == UPK_OPEN_SUBCLASSES ? "subclasses of " : "fail_open ");
        if (open->kind == UPK_OPEN_SUBCLASSES)
            type_put_qualified(o, l->policy, open->module, open->qualname);
        else
            output_text(o, open->kind == UPK_OPEN_CLASS ? "class" : "const");
        output_text(o, " ");
        return;
    }
    type_put_qualified(o, l->policy, row->module, row->qualname);
    output_text(o, " ");
}

static void add_grants(struct listing *l, struct lines *s, const struct upk_row *row) {
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct upk_form *const f = &l->policy->forms[row->first_form + i];
        put_name(l, &s->text, row);
        put_maker(l, &s->text, row, f);
        put_steps(l, &s->text, f);
        put_clauses(l, &s->text, row, f);
        put_place(l, &s->text, f);
        line_end(s);
    }
}

/* ---- spellings ------------------------------------------------------------ */

struct spelling {
    uint32_t row, slot, readings; /* bits: 1 names below protocol 3, 2 from it on */
};

static int compare_spellings(const void *a, const void *b) {
    const struct spelling *const x = a, *const y = b;
    return x->row != y->row ? (x->row < y->row ? -1 : 1) : (x->slot > y->slot) - (x->slot < y->slot);
}

/* The protocols of the policy in which these readings hold; false: none. */
static bool protocols_of(const struct upk_policy *p, uint32_t readings, uint32_t *lo, uint32_t *hi) {
    *lo = readings & 1 ? 0 : PROTOCOL_OF_NEW_NAMES;
    *hi = readings & 2 ? p->protocol_max : PROTOCOL_OF_NEW_NAMES - 1;
    if (*lo < p->protocol_min) *lo = p->protocol_min;
    if (*hi > p->protocol_max) *hi = p->protocol_max;
    return *lo <= *hi;
}

static void spelling_add(struct array *all, uint32_t row, uint32_t slot, uint32_t readings) {
    const struct spelling s = {row, slot, readings};
    if (row != 0 && readings != 0) array_add(all, &s);
}

/* All keys of rows that are granted, by row. */
static void spellings_collect(const struct upk_policy *p, struct array *all) {
    const struct upk_keys *const k = p->keys[0]; /* both readings share all tables */
    for (uint32_t i = 0; i < k->slot_count; i++) {
        const uint32_t *const row = k->slots[i].row;
        if (row[0] == row[1]) {
            spelling_add(all, row[0], i, ALL_READINGS);
        } else {
            spelling_add(all, row[0], i, 1);
            spelling_add(all, row[1], i, 2);
        }
    }
    if (all->count > 1) qsort(all->items, all->count, sizeof(struct spelling), compare_spellings);
}

static void add_spelling(const struct listing *l, struct lines *s, const struct spelling *sp) {
    const struct upk_policy *const p = l->policy;
    const struct upk_row *const row = &p->rows[sp->row];
    const struct upk_keys *const k = p->keys[0];
    const struct upk_key *const key = &k->slots[sp->slot];
    const struct text module = {k->pool + key->module, key->module_len},
                      name = {k->pool + key->name, key->name_len};
    uint32_t lo, hi;
    if (!protocols_of(p, sp->readings, &lo, &hi)) return;
    const bool whole = lo == p->protocol_min && hi == p->protocol_max;
    if (whole && text_equal(module, policy_text(p, row->module)) &&
        text_equal(name, policy_text(p, row->qualname)))
        return;
    put_name(l, &s->text, row);
    output_text(&s->text, "spelled ");
    notation_name(&s->text, module);
    output_text(&s->text, "::");
    notation_name(&s->text, name);
    output_print(&s->text, " protocol %" PRIu32 "..%" PRIu32, lo, hi);
    line_end(s);
}

bool list_policy(const struct upk_policy *p, bool spellings, struct output *o) {
    struct listing l = {.policy = p, .o = o};
    struct lines s;
    struct array all; /* struct spelling */
    size_t next = 0;
    if (!type_lines_init(&l.types, p, o->mem)) return false;
    put_settings(&l);
    output_init(&s.text, o->mem);
    array_init(&s.ends, o->mem, sizeof(size_t));
    array_init(&all, o->mem, sizeof(struct spelling));
    if (spellings) spellings_collect(p, &all);
    put_opens(&l);
    for (uint32_t row = 1; row < p->row_count && !o->mem->failed; row++) {
        const struct spelling *const at = all.items;
        const bool granted = p->rows[row].form_count != 0;
        add_grants(&l, &s, &p->rows[row]);
        lines_flush(&s, o);
        for (; next < all.count && at[next].row <= row; next++) {
            if (granted && at[next].row == row) add_spelling(&l, &s, &at[next]);
        }
        lines_flush(&s, o);
    }
    return !o->mem->failed;
}

void list_put_form(struct type_lines *types, struct output *o, const struct upk_row *row,
                   const struct upk_form *f) {
    struct listing l = {.policy = types->policy, .o = o, .types = *types};
    put_maker(&l, o, row, f);
    put_steps(&l, o, f);
    *types = l.types;
}
