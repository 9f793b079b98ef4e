/* Observing: the names that streams use are found, a policy is made that takes all of them as they come, and under that the machine
 * itself decodes the streams, which are seen then.
 *
 * Names that a shipped fragment has rows for are judged by those rows already here: what such a row refuses is not learned, for its
 * limits and checks are there for a reason.  Names that old protocols put together (getattr) come to light when a stream is refused
 * for one; the policy is made anew until no name is missing.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "../compiler/notation.h"
#include "learn.h"

static const char reaches_system[] = "it reaches the system, the interpreter or another decoder";

/* ---- names */

static int hex_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A name as errors and scans have it: bytes that are not printable, and backslashes, as \xHH; long ones cut, which no stream that
 * a policy takes has. */
static bool unescape(struct mem *m, const char *from, struct text *out) {
    char name[300];
    size_t n = 0;
    for (; *from != '\0' && n < sizeof name; n++) {
        if (*from == '\\' && from[1] == 'x' && hex_of(from[2]) >= 0 && hex_of(from[3]) >= 0) {
            name[n] = (char)(hex_of(from[2]) << 4 | hex_of(from[3]));
            from += 4;
        } else {
            name[n] = *from++;
        }
    }
    return mem_text(m, name, n, out);
}

static const struct name_special *special_named(struct model_name name) {
    for (size_t i = 0; i < name_special_count; i++) {
        if (name_equal(name_specials[i].name, name)) return &name_specials[i];
    }
    return NULL;
}

/* Notes the name, in its one spelling; NULL: no memory. */
static struct learn_row *note(struct learn *l, struct model_name spelled) {
    const struct names names = {.mem = &l->mem};
    struct model_name canonical;
    const size_t before = l->rows.count;
    if (!name_canonical(&names, NAMES_NEW, spelled, &canonical)) return NULL;
    struct learn_row *const row = learn_row_get(&l->rows, canonical);
    if (!row || l->rows.count == before) return row;
    const struct name_special *const special = special_named(canonical);
    if (special && special->special >= UPK_SPECIAL_RECONSTRUCTOR)
        row->owner = special->special == UPK_SPECIAL_OR ? LEARN_OWN : LEARN_SPELLER;
    else if (special && (special->special == UPK_SPECIAL_ENCODE || special->special == UPK_SPECIAL_GETATTR))
        row->owner = LEARN_SPELLER;
    else if (special && special->special != UPK_SPECIAL_COMPLEX)
        row->is_special_type = true;
    else if (name_reaches_system(&l->mem, canonical))
        row->excluded = reaches_system;
    return row;
}

static struct learn_row *note_name(struct learn *l, const char *module, const char *name) {
    struct model_name spelled;
    if (!unescape(&l->mem, module, &spelled.module) || !unescape(&l->mem, name, &spelled.qualname))
        return NULL;
    return note(l, spelled);
}

/* The dotted name that a chain of getattr spells, in the arena; false: it spells none.  A guess, so that names come to light
 * together: what they are the machine says. */
static bool spelled_name(struct learn *l, const struct upk_doc *doc, struct upk_value v,
                         struct model_name *out) {
    enum { STEPS = 8 };
    struct text parts[STEPS];
    struct upk_value args, attribute;
    const char *module, *name;
    size_t module_len, name_len, count = 0;
    while (count < STEPS && upk_object_class(doc, v, &module, &module_len, &name, &name_len) &&
           text_is((struct text){module, module_len}, "builtins") &&
           text_is((struct text){name, name_len}, "getattr") && upk_object_args(v, &args) &&
           upk_len(args) == 2 && upk_at(args, 1, &attribute) &&
           upk_get_str(attribute, &parts[count].at, &parts[count].len) && upk_at(args, 0, &v))
        count++;
    if (count == 0 || !upk_get_global(v, &module, &module_len, &name, &name_len)) return false;
    struct output o;
    output_init(&o, &l->mem);
    output_bytes(&o, name, name_len);
    while (count-- > 0 && o.len < UPK_NAME_MOST) {
        output_text(&o, ".");
        output_bytes(&o, parts[count].at, parts[count].len);
    }
    *out = (struct model_name){{module, module_len}, {o.bytes, o.len}};
    return o.len <= UPK_NAME_MOST && !l->mem.failed;
}

static bool note_spelled(struct learn *l, const struct learn_input *in) {
    struct upk_doc *doc = NULL;
    struct upk_value v = {.kind = UPK_INVALID};
    struct model_name name;
    bool good = true;
    if (!learn_inspect(l, in, &doc)) return true;
    while (good && upk_next_object(doc, &v)) good = !spelled_name(l, doc, v, &name) || note(l, name);
    upk_doc_free(doc);
    return good;
}

static bool note_scanned(struct learn *l) {
    for (size_t i = 0; i < l->input_count; i++) {
        const struct learn_input *const in = &l->inputs[i];
        for (size_t k = 0; in->scan && k < in->scan->name_count; k++) {
            if (!note_name(l, in->scan->names[k].module, in->scan->names[k].name)) return false;
        }
    }
    return true;
}

/* ---- shipped fragments */

static bool is_avoided(const struct learn *l, const struct shipped *s) {
    for (size_t i = 0; i < l->avoided_count; i++) {
        if (strcmp(l->avoided[i], s->file) == 0) return true;
    }
    return false;
}

/* Members of an enum have no row of their own in the list, but their class has. */
static const struct shipped *fragment_of(const struct learn *l, const struct learn_row *r) {
    struct text name = r->name.qualname;
    for (;;) {
        const struct shipped *s = shipped_of_row(r->name.module, name);
        while (s && is_avoided(l, s)) s = shipped_next_of_row(r->name.module, name, s);
        while (name.len != 0 && name.at[name.len - 1] != '.') name.len--;
        if (s || name.len == 0) return s;
        name.len--;
    }
}

/* In the order of the list, with what it must stand beside. */
static void use_fragment(struct learn *l, const struct shipped *s) {
    const struct shipped *need;
    size_t at = 0;
    while (at < l->fragment_count && l->fragments[at] < s) at++;
    if (at < l->fragment_count && l->fragments[at] == s) return;
    if (l->fragment_count == LEARN_MOST_FRAGMENTS) return;
    memmove(&l->fragments[at + 1], &l->fragments[at],
            (l->fragment_count - at) * sizeof(const struct shipped *));
    l->fragments[at] = s;
    l->fragment_count++;
    for (size_t i = 0; (need = shipped_need(s, i)) != NULL; i++) use_fragment(l, need);
}

void learn_avoid(struct learn *l, const struct shipped *s) {
    if (!is_avoided(l, s) && l->avoided_count < LEARN_MOST_FRAGMENTS)
        l->avoided[l->avoided_count++] = s->file;
}

void learn_use(struct learn *l, const struct shipped *s) {
    if (!is_avoided(l, s)) use_fragment(l, s);
}

static void put_head(const struct learn *l, struct output *o) {
    output_text(o, "policy learned.observer 1;\ninclude \"std/dangerous.policy\";\n"
                   "opcodes core, python2, inst, persid, buffer, dup;\n");
    for (size_t i = 0; i < l->fragment_count; i++)
        output_print(o, "include \"%s\";\nuse %s;\n", l->fragments[i]->file, l->fragments[i]->name);
}

/* The row that the policy grants under that name; NULL: none. */
static const struct upk_row *granted_row(const struct upk_policy *p, struct model_name name) {
    uint32_t low = 1, high = p->row_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct upk_row *const row = &p->rows[middle];
        const int order = name_compare(
            (struct model_name){policy_text(p, row->module), policy_text(p, row->qualname)}, name);
        if (order == 0) return row->form_count ? row : NULL;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool only_mentions(const struct upk_policy *p, const struct upk_row *row) {
    for (uint32_t i = 0; i < row->form_count; i++) {
        if (p->forms[row->first_form + i].verb != UPK_VERB_REF) return false;
    }
    return true;
}

/* Which fragments are wanted.  One that has no more than a mention of a name is not wanted for that. */
static bool choose_fragments(struct learn *l) {
    struct learn_policy base;
    struct output o;
    l->fragment_count = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        const struct shipped *const s = fragment_of(l, l->rows.items[i]);
        if (s && !l->rows.items[i]->excluded) use_fragment(l, s);
    }
    output_init(&o, &l->mem);
    put_head(l, &o);
    if (l->mem.failed || !learn_compile_quietly(l, (struct text){o.bytes, o.len}, &base, NULL)) return false;
    l->fragment_count = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        struct learn_row *const r = l->rows.items[i];
        const struct upk_row *const row = granted_row(base.policy, r->name);
        const struct shipped *const s = fragment_of(l, r);
        if (r->owner == LEARN_SHIPPED) r->owner = LEARN_OWN;
        r->shipped = 0;
        if (!row || !s || r->excluded || only_mentions(base.policy, row)) continue;
        r->owner = LEARN_SHIPPED;
        r->shipped = row->flags;
        use_fragment(l, s);
    }
    learn_policy_free(&base);
    return true;
}

/* ---- the policy that observes */

static void put_row(struct output *o, const struct learn_row *r) {
    static const char steps[] = " state? V items V pairs V: V adds V because \"observed\"";
    const bool as_value = r->is_special_type || r->owner == LEARN_SHIPPED;
    output_text(o, "module ");
    notation_name(o, r->name.module);
    output_text(o, " { class ");
    notation_name(o, r->name.qualname);
    if (as_value)
        output_text(o, " ref; }\n");
    else
        output_print(o, " ref | call(a: V...)%s | new(a: V...) kw { *: V }%s | new(a: V...)%s; }\n", steps,
                     steps, steps);
}

/* Has it a row in the policy that observes, beside one of a fragment? */
static bool wants_row(const struct learn_row *r) {
    if (r->excluded || r->owner == LEARN_SPELLER || r->owner == LEARN_CLASS) return false;
    return r->owner == LEARN_OWN || (r->shipped & UPK_ROW_CLASS && !(r->shipped & UPK_ROW_REF));
}

static bool is_mentionable(const struct learn_row *r) {
    return wants_row(r) || (r->owner == LEARN_SHIPPED && r->shipped & UPK_ROW_REF);
}

static struct text observer_text(struct learn *l) {
    struct output o;
    output_init(&o, &l->mem);
    put_head(l, &o);
    output_text(
        &o, "type V = any | buffer | persid<V> | list<V> | tuple<V...> | dict<V, V> | set<V> | frozenset<V>");
    for (size_t i = 0; i < l->rows.count; i++) {
        struct learn_row *const r = l->rows.items[i];
        r->granted = wants_row(r) && r->owner == LEARN_OWN;
        if (!is_mentionable(r)) continue;
        output_text(&o, "\n    | ref ");
        learn_row_put(&o, r);
    }
    output_text(&o, ";\n");
    for (size_t i = 0; i < l->rows.count; i++) {
        if (wants_row(l->rows.items[i])) put_row(&o, l->rows.items[i]);
    }
    output_text(&o, "root V cyclic;\n");
    return (struct text){o.bytes, o.len};
}

static const char not_tried[] = "not tried";

static void set_excluded(struct learn *l, size_t from, size_t to, const char *old, const char *new) {
    for (size_t i = from; i < to; i++) {
        struct learn_row *const r = l->rows.items[i];
        if (r->excluded == old && (!new || wants_row(r))) r->excluded = new;
    }
}

/* Leaves out the rows among [from, to) that the compiler does not take beside those that it has taken; none of them is tried yet.
 * By halves: few are bad, as a rule. */
static void try_rows(struct learn *l, size_t from, size_t to, unsigned *tries) {
    enum { TRIES_MOST = 32 };
    const char *error = "too many names of the pickles are none that a policy may have";
    set_excluded(l, from, to, not_tried, NULL);
    if (++*tries <= TRIES_MOST && learn_compile_quietly(l, observer_text(l), NULL, &error)) return;
    if (to - from == 1 || *tries > TRIES_MOST) {
        set_excluded(l, from, to, NULL, error);
        return;
    }
    const size_t middle = from + (to - from) / 2;
    set_excluded(l, from, to, NULL, not_tried);
    try_rows(l, from, middle, tries);
    try_rows(l, middle, to, tries);
}

static bool exclude_rows(struct learn *l) {
    unsigned tries = 0;
    set_excluded(l, 0, l->rows.count, NULL, not_tried);
    try_rows(l, 0, l->rows.count, &tries);
    return !l->mem.failed;
}

/* Whatever a stream may need: it is what streams of which something is to be learned do need. */
static void raise_budgets(struct learn_policy *p) {
    struct upk_policy *const policy = &p->all.tables[p->policy - &p->all.tables[0].policy].policy;
    const uint64_t memory = UINT64_C(4) << 30;
    memcpy(policy->budgets, upk_budget_most, sizeof policy->budgets);
    policy->budgets[UPK_BUDGET_MEMORY] = memory;
}

static bool make_observer(struct learn *l, struct learn_policy *p) {
    if (!choose_fragments(l)) return false;
    const char *error = NULL;
    if (!learn_compile_quietly(l, observer_text(l), p, &error) &&
        (!exclude_rows(l) || !learn_compile_quietly(l, observer_text(l), p, &error)))
        return false;
    raise_budgets(p);
    return true;
}

/* ---- deciding under it */

/* A fragment that another one may take the place of: arrays of numbers, and arrays of objects. */
static bool change_fragment(struct learn *l, const struct upk_error *err) {
    const size_t file = strcspn(err->rule, ":");
    const struct model_name name = {text_of(err->module), text_of(err->name)};
    const struct shipped *s = shipped_of_row(name.module, name.qualname);
    while (s && (strlen(s->file) != file || memcmp(s->file, err->rule, file) != 0))
        s = shipped_next_of_row(name.module, name.qualname, s);
    if (s && is_avoided(l, s)) return true; /* since a moment ago */
    if (!s || l->avoided_count == LEARN_MOST_FRAGMENTS || !shipped_next_of_row(name.module, name.qualname, s))
        return false;
    learn_avoid(l, s);
    return true;
}

/* false: no memory.  *again: something is known now that was not. */
static bool learn_from_refusal(struct learn *l, struct learn_input *in, const struct upk_error *err,
                               bool *again) {
    const struct learn_row *row = NULL;
    if (err->code == UPK_ERR_GLOBAL && !err->dangerous &&
        (!(row = note_name(l, err->module, err->name)) || !note_spelled(l, in)))
        return false;
    const bool is_new = row && row->owner == LEARN_OWN && !row->granted && !row->excluded;
    if (is_new || (err->rule[0] && change_fragment(l, err))) {
        *again = true;
    } else {
        in->fate = LEARN_REFUSED;
        in->err = *err;
    }
    return true;
}

static bool decide_all(struct learn *l, const struct upk_policy *p, bool *again) {
    struct upk_error err;
    *again = false;
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        if (in->fate == LEARN_OPEN && !learn_admits(l, p, in, &err) &&
            !learn_from_refusal(l, in, &err, again))
            return false;
    }
    return true;
}

static void need_settings(struct learn_settings *s, const struct upk_scan_result *scan) {
    for (size_t i = 0; i < 72; i++) s->opcodes[i] = s->opcodes[i] || scan->opcodes[i] != 0;
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        if (scan->figures[i] > s->figures[i]) s->figures[i] = scan->figures[i];
    }
    const unsigned low = scan->protocol < 2 ? 0 : scan->protocol,
                   high = scan->protocol < 2 ? 1 : scan->protocol;
    if (low < s->protocol_min) s->protocol_min = low;
    if (high > s->protocol_max) s->protocol_max = high;
    s->cyclic = s->cyclic || scan->cyclic;
}

static bool see_all(struct learn *l, const struct upk_policy *p) {
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        struct upk_doc *doc = NULL;
        if (in->fate != LEARN_OPEN) continue;
        in->fate = LEARN_REFUSED;
        if (!learn_decode(l, p, in, &doc, &in->err)) continue;
        in->fate = LEARN_SEEN;
        const bool good = learn_see(l, p, doc);
        upk_doc_free(doc);
        if (!good) return false;
        need_settings(&l->settings, in->scan);
    }
    return true;
}

bool learn_observe(struct learn *l) {
    struct learn_policy observer = {0};
    bool again = true, good = note_scanned(l);
    while (good && again) {
        learn_policy_free(&observer);
        good = make_observer(l, &observer) && decide_all(l, observer.policy, &again);
    }
    good = good && see_all(l, observer.policy);
    learn_policy_free(&observer);
    return good;
}
