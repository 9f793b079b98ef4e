/* The policy that observes: it takes every name of the pickles as it comes, used in any way, but for those that no policy may have,
 * and those of shipped fragments, whose rows decide.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "../compiler/notation.h"
#include "learn.h"

/* Where the text begins to be about which row; NULL: about none. */
struct about {
    size_t from;
    struct learn_row *row;
};

struct observer {
    struct learn *learn;
    struct output text;
    struct about *abouts; /* ascending */
    size_t about_count, about_room;
    const char *error; /* of the last compilation, the first one that is about no row */
    size_t excluded;   /* rows, because of errors about them */
    size_t errors;
    bool no_memory;
};

/* ---- what the compiler says */

static struct learn_row *row_at(const struct observer *v, size_t at) {
    size_t low = 0, high = v->about_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (v->abouts[middle].from <= at)
            low = middle;
        else
            high = middle;
    }
    return v->about_count ? v->abouts[low].row : NULL;
}

/* What the compiler says of a row is why there is none of that name. */
static void exclude(void *context, bool is_placed, size_t at, const char *message) {
    struct observer *const v = context;
    struct learn_row *const r = is_placed ? row_at(v, at) : NULL;
    struct text kept;
    v->errors++;
    v->no_memory = v->no_memory || !message;
    if (!message || !mem_text(&v->learn->mem, message, strlen(message), &kept)) return;
    if (r && !r->excluded) {
        r->excluded = kept.at;
        v->excluded++;
    } else if (!r && !v->error) {
        v->error = kept.at;
    }
}

static bool compile(struct observer *v, struct learn_policy *p) {
    const struct learn_errors errors = {exclude, v};
    v->error = NULL;
    v->excluded = v->errors = 0;
    return !v->learn->mem.failed &&
           learn_compile_own(v->learn, (struct text){v->text.bytes, v->text.len}, &errors, p);
}

/* ---- which fragments */

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

static bool is_in_use(const struct learn *l, const struct shipped *s) {
    for (size_t i = 0; i < l->fragment_count; i++) {
        if (l->fragments[i] == s) return true;
    }
    return false;
}

/* Names that the fragments in use grant as values alone. */
static void note_mentions(struct learn *l, const struct upk_policy *base) {
    for (size_t i = 0; i < l->rows.count; i++) {
        struct learn_row *const r = l->rows.items[i];
        const struct upk_row *const row = r->owner == LEARN_OWN ? granted_row(base, r->name) : NULL;
        if (!row || !only_mentions(base, row)) continue;
        const struct shipped *s = shipped_of_row(r->name.module, r->name.qualname);
        while (s && !is_in_use(l, s)) s = shipped_next_of_row(r->name.module, r->name.qualname, s);
        if (s) r->shipped = row->flags;
    }
}

/* Which fragments are wanted.  One that has no more than a mention of a name is not wanted for that. */
static bool choose_fragments(struct observer *v) {
    struct learn *const l = v->learn;
    struct learn_policy base;
    l->fragment_count = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        const struct shipped *const s = learn_fragment_of(l, l->rows.items[i]);
        if (s && !l->rows.items[i]->excluded) learn_use(l, s);
    }
    v->about_count = 0;
    output_init(&v->text, &l->mem);
    put_head(l, &v->text);
    if (!compile(v, &base)) return false;
    l->fragment_count = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        struct learn_row *const r = l->rows.items[i];
        const struct upk_row *const row = granted_row(base.policy, r->name);
        const struct shipped *const s = learn_fragment_of(l, r);
        if (r->owner == LEARN_SHIPPED) r->owner = LEARN_OWN;
        r->shipped = 0;
        if (!row || !s || r->excluded || only_mentions(base.policy, row)) continue;
        r->owner = LEARN_SHIPPED;
        r->shipped = row->flags;
        learn_use(l, s);
    }
    note_mentions(l, base.policy);
    learn_policy_free(&base);
    return true;
}

/* ---- the text */

static void begin(struct observer *v, struct learn_row *row) {
    struct about *const grown =
        mem_grow(&v->learn->mem, v->abouts, v->about_count, &v->about_room, sizeof *grown);
    if (!grown) return;
    v->abouts = grown;
    grown[v->about_count++] = (struct about){v->text.len, row};
}

/* Has it a row in the policy that observes, beside one of a fragment? */
static bool wants_row(const struct learn_row *r) {
    if (r->excluded || r->owner == LEARN_SPELLER || r->owner == LEARN_CLASS) return false;
    return r->owner == LEARN_OWN || (r->shipped & UPK_ROW_CLASS && !(r->shipped & UPK_ROW_REF));
}

static bool is_mentionable(const struct learn_row *r) {
    return wants_row(r) || (r->owner == LEARN_SHIPPED && r->shipped & UPK_ROW_REF);
}

/* As many types as names are to be split among: a union has its limit. */
static size_t put_value_type(struct observer *v) {
    const struct learn *const l = v->learn;
    size_t count = 0;
    output_text(
        &v->text,
        "type V = any | buffer | persid<V> | list<V> | tuple<V...> | dict<V, V> | set<V> | frozenset<V>");
    for (size_t i = 0; i < l->rows.count; i++) count += is_mentionable(l->rows.items[i]);
    const size_t parts = (count + LEARN_MOST_IN_UNION - 1) / LEARN_MOST_IN_UNION;
    for (size_t i = 0; i < parts; i++) output_print(&v->text, " | R%zu", i);
    output_text(&v->text, ";\n");
    return count;
}

static void put_mentions(struct observer *v) {
    const struct learn *const l = v->learn;
    const size_t count = put_value_type(v);
    size_t n = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        struct learn_row *const r = l->rows.items[i];
        if (!is_mentionable(r)) continue;
        begin(v, r);
        if (n % LEARN_MOST_IN_UNION == 0)
            output_print(&v->text, "type R%zu = ref ", n / LEARN_MOST_IN_UNION);
        else
            output_text(&v->text, " | ref ");
        learn_row_put(&v->text, r);
        if (++n % LEARN_MOST_IN_UNION == 0 || n == count) output_text(&v->text, ";");
        output_text(&v->text, "\n");
    }
}

static bool is_only_mentioned(const struct learn_row *r) {
    return r->is_special_type || r->owner == LEARN_SHIPPED;
}

/* The rows among [from, to), which are of one module, that are used in this way: as one row with many names, which is read faster. */
static void put_rows_of(struct observer *v, size_t from, size_t to, bool only_mentioned, const char *forms) {
    struct learn_row *const *const rows = v->learn->rows.items;
    size_t count = 0;
    for (size_t i = from; i < to; i++) {
        if (!wants_row(rows[i]) || is_only_mentioned(rows[i]) != only_mentioned) continue;
        begin(v, rows[i]);
        if (count++ == 0) {
            output_text(&v->text, "module ");
            notation_name(&v->text, rows[i]->name.module);
            output_text(&v->text, " { class { ");
        } else {
            output_text(&v->text, ",\n");
        }
        notation_name(&v->text, rows[i]->name.qualname);
    }
    begin(v, NULL);
    if (count != 0) output_print(&v->text, " } %s; }\n", forms);
}

static void put_rows(struct observer *v) {
#define STEPS " state? V items V pairs V: V adds V because \"observed\""
    static const char all_forms[] =
        "ref | call(a: V...)" STEPS " | new(a: V...) kw { *: V }" STEPS " | new(a: V...)" STEPS;
#undef STEPS
    const struct learn_rows *const rows = &v->learn->rows;
    for (size_t from = 0, to = 0; from < rows->count; from = to) {
        while (to < rows->count && text_equal(rows->items[to]->name.module, rows->items[from]->name.module))
            to++;
        put_rows_of(v, from, to, true, "ref");
        put_rows_of(v, from, to, false, all_forms);
    }
}

static void put_text(struct observer *v) {
    const struct learn *const l = v->learn;
    v->about_count = 0;
    output_init(&v->text, &v->learn->mem);
    begin(v, NULL);
    put_head(l, &v->text);
    put_mentions(v);
    for (size_t i = 0; i < l->rows.count; i++) {
        struct learn_row *const r = l->rows.items[i];
        r->granted = wants_row(r) && r->owner == LEARN_OWN;
    }
    put_rows(v);
    output_text(&v->text, "root V cyclic;\n");
}

/* ---- names that no policy may have */

/* Nothing tells which ones the compiler does not take. */
static bool exclude_all(struct observer *v) {
    size_t count = 0;
    for (size_t i = 0; i < v->learn->rows.count; i++) {
        struct learn_row *const r = v->learn->rows.items[i];
        if (!wants_row(r)) continue;
        r->excluded = v->error ? v->error : "the names of these pickles cannot be rows of one policy";
        count++;
    }
    return count != 0;
}

/* Whatever a stream may need: it is what streams of which something is to be learned do need. */
static void raise_budgets(struct learn_policy *p) {
    struct upk_policy *const policy = &p->all.tables[p->policy - &p->all.tables[0].policy].policy;
    const uint64_t memory = UINT64_C(4) << 30;
    memcpy(policy->budgets, upk_budget_most, sizeof policy->budgets);
    policy->budgets[UPK_BUDGET_MEMORY] = memory;
}

static bool make(struct observer *v, struct learn_policy *p) {
    enum { ROUNDS = 8 }; /* some errors hide others */
    if (!choose_fragments(v)) return false;
    for (unsigned round = 0; !v->learn->mem.failed; round++) {
        put_text(v);
        if (compile(v, p)) return true;
        if (v->no_memory || ((v->excluded == 0 || round >= ROUNDS) && !exclude_all(v))) return false;
    }
    return false;
}

bool learn_make_observer(struct learn *l, struct diag *d, struct learn_policy *p) {
    struct observer v = {.learn = l};
    if (make(&v, p)) {
        raise_budgets(p);
        return true;
    }
    if (v.errors && !v.no_memory && !l->mem.failed)
        learn_complain_of(l, (struct text){v.text.bytes, v.text.len}, d);
    return false;
}
