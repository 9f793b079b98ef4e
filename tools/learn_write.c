/* A learned policy as text: settings, types, rows.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <inttypes.h>
#include <string.h>

#include "../compiler/notation.h"
#include "../compiler/words.h"
#include "learn.h"
#include "learn_bounds.h"

/* Moves behind the word where the text begins with it. */
static bool text_skip(struct text *t, const char *word) {
    const size_t len = strlen(word);
    if (t->len < len || memcmp(t->at, word, len) != 0) return false;
    t->at += len;
    t->len -= len;
    return true;
}

static bool has(const struct text *items, size_t count, const char *word) {
    for (size_t i = 0; i < count; i++) {
        if (text_is(items[i], word)) return true;
    }
    return false;
}

/* ---- includes */

/* What the former block says that a fragment is wanted for; empty: nothing. */
static struct text former_reason(const struct learn_output *w, const struct shipped *s) {
    static const char mark[] = "\";  # ";
    struct text rest = w->former;
    while (rest.len != 0) {
        const char *const end = memchr(rest.at, '\n', rest.len);
        struct text line = {rest.at, end ? (size_t)(end - rest.at) : rest.len};
        rest.at += line.len + (end != NULL);
        rest.len -= line.len + (end != NULL);
        if (text_skip(&line, "include \"") && text_skip(&line, s->file) && text_skip(&line, mark))
            return line;
    }
    return (struct text){"", 0};
}

static bool is_reason(struct text reason, struct text name) {
    while (reason.len != 0) {
        const char *const end = memchr(reason.at, ',', reason.len);
        const size_t len = end ? (size_t)(end - reason.at) : reason.len;
        if (text_equal((struct text){reason.at, len}, name)) return true;
        reason.at += len;
        reason.len -= len;
        (void)text_skip(&reason, ", ");
    }
    return false;
}

static bool is_of_fragment(const struct learn_row *r, const struct shipped *s) {
    const struct shipped *of = shipped_of_row(r->name.module, r->name.qualname);
    while (of && of != s) of = shipped_next_of_row(r->name.module, r->name.qualname, of);
    return of != NULL;
}

/* The names that a fragment is wanted for, as a comment: the first few that were met, which stay what they are. */
static void put_reason(struct learn_output *w, const struct shipped *s) {
    enum { MOST = 3 };
    static const char more[] = " and more";
    const struct learn_rows *const rows = &w->learn->rows;
    const struct text former = former_reason(w, s);
    size_t count = former.len != 0;
    for (size_t i = 0; i < former.len; i++) count += former.at[i] == ',';
    bool is_full = former.len >= sizeof more - 1 &&
                   memcmp(former.at + former.len - (sizeof more - 1), more, sizeof more - 1) == 0;
    if (former.len != 0) output_print(w->out, " # %.*s", (int)former.len, former.at);
    for (size_t i = 0; i < rows->count && !is_full; i++) {
        const struct learn_row *const r = rows->items[i];
        struct output name;
        if (r->owner != LEARN_SHIPPED || !r->met || !is_of_fragment(r, s)) continue;
        output_init(&name, w->out->mem);
        learn_row_put(&name, r);
        if (is_reason(former, (struct text){name.bytes, name.len})) continue;
        is_full = count == MOST;
        output_text(w->out, is_full ? more : count == 0 ? " # " : ", ");
        if (!is_full) output_bytes(w->out, name.bytes, name.len);
        count++;
    }
}

/* In a file with channels a fragment stands in a channel's `use`, which is people's. */
static void put_includes(struct learn_output *w) {
    const struct learn *const l = w->learn;
    const struct learn_outer *const outer = w->outer;
    if (outer->has_channels) return;
    if (!outer->has_header && !has(outer->includes, outer->include_count, "std/dangerous.policy"))
        output_text(w->out, "include \"std/dangerous.policy\";\n");
    for (size_t i = 0; i < l->fragment_count; i++) {
        if (has(outer->includes, outer->include_count, l->fragments[i]->file)) continue;
        output_print(w->out, "include \"%s\";", l->fragments[i]->file);
        put_reason(w, l->fragments[i]);
        output_text(w->out, "\n");
    }
    output_text(w->out, "\n");
}

static void put_uses(struct learn_output *w) {
    const struct learn *const l = w->learn;
    size_t count = 0;
    for (size_t i = 0; i < l->fragment_count && !w->outer->has_channels; i++) {
        const char *const name = l->fragments[i]->name;
        if (has(w->outer->uses, w->outer->use_count, name)) continue;
        output_print(w->out, "%s%s", count++ == 0 ? "use " : ", ", name);
    }
    if (count != 0) output_text(w->out, ";\n");
}

/* ---- settings: where people wrote the header, what they leave alone is as wide as it is by default, and is only widened */

/* What only makes plain data is allowed with its family. */
static void put_opcodes(struct learn_output *w) {
    const bool *const met = w->learn->settings.opcodes;
    bool families[UPK_FAMILY_COUNT] = {false};
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        const enum upk_op op = (enum upk_op)(i + 1);
        families[opcode_word(op)->family] = families[opcode_word(op)->family] || met[op];
    }
    bool wider = !w->outer->has_header;
    for (size_t i = 0; i < UPK_FAMILY_COUNT; i++) wider = wider || (i != UPK_FAMILY_CORE && families[i]);
    if (!wider) return;
    output_text(w->out, "opcodes core");
    for (size_t i = 0; i < UPK_FAMILY_COUNT; i++) {
        if (i != UPK_FAMILY_CORE && families[i]) output_print(w->out, ", %s", family_words[i]);
    }
    size_t count = 0;
    for (size_t i = 0; i < OPCODE_POWERS && w->looseness == LEARN_TIGHT && !w->outer->has_header; i++) {
        const enum upk_op op = opcode_powers[i];
        if (!met[op]) output_print(w->out, "%s%s", count++ == 0 ? " except " : ", ", opcode_word(op)->name);
    }
    output_text(w->out, ";\n");
}

static void put_protocol(struct learn_output *w) {
    const struct learn_settings *const s = &w->learn->settings;
    if (s->protocol_min == s->protocol_max)
        output_print(w->out, "protocol %u;\n", s->protocol_min);
    else
        output_print(w->out, "protocol %u..%u;\n", s->protocol_min, s->protocol_max);
}

/* Room above what was met: see docs/learn.md.  0: the default is enough. */
static uint64_t budget_wanted(const struct learn_output *w, enum upk_budget b) {
    const struct learn_settings *const s = &w->learn->settings;
    const enum learn_looseness looseness = w->looseness;
    enum { FACTOR = 4, TRIES = 3, LEAST_DEPTH = 16, LEAST_EXPANDED = 1000, LEAST_BYTES = 4096 };
    const uint64_t standard = upk_budget_standard[b], most = upk_budget_most[b], met = s->figures[b];
    const uint64_t room = met > most / FACTOR ? most : met * FACTOR;
    uint64_t wanted = 0;
    if (b == UPK_BUDGET_BYTES)
        wanted = bounds_round_size(room > LEAST_BYTES ? room : LEAST_BYTES);
    else if (b == UPK_BUDGET_DEPTH)
        wanted = bounds_round(room / 2 > LEAST_DEPTH ? room / 2 : LEAST_DEPTH);
    else if (b == UPK_BUDGET_EXPANDED)
        wanted = bounds_round(room > LEAST_EXPANDED ? room : LEAST_EXPANDED);
    else if (b == UPK_BUDGET_MATCHES) /* each object may be held against each class of its place */
        wanted =
            TRIES * s->named * w->most_names > standard ? bounds_round(TRIES * s->named * w->most_names) : 0;
    else if (b == UPK_BUDGET_STRING || b == UPK_BUDGET_MEMORY)
        wanted = room > standard ? bounds_round_size(room) : 0;
    else
        wanted = room > standard && b != UPK_BUDGET_NAME ? bounds_round(room) : 0;
    if (s->budgets[b] > wanted) wanted = s->budgets[b];
    if (wanted > most) wanted = most;
    if (looseness >= LEARN_FEW_BUDGETS && wanted <= standard && b != UPK_BUDGET_BYTES) return 0;
    return looseness == LEARN_LOOSEST && wanted <= standard ? 0 : wanted;
}

static void put_budgets(struct learn_output *w) {
    size_t count = 0;
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        const enum upk_budget b = (enum upk_budget)i;
        const uint64_t n = budget_wanted(w, b);
        if (n == 0 || w->outer->budgets[i] || (w->outer->has_header && n <= upk_budget_standard[i])) continue;
        output_print(w->out, "%s%s ", count++ == 0 ? "budget " : ", ", budget_words[i].word);
        notation_budget(w->out, b, n);
    }
    if (count != 0) output_text(w->out, ";\n");
}

/* ---- rows */

static bool is_written(const struct learn_row *r) {
    if (r->excluded || r->keep_out) return false;
    if (r->owner == LEARN_SHIPPED)
        return learn_row_is_mentioned(r) && r->shipped & UPK_ROW_CLASS && !(r->shipped & UPK_ROW_REF);
    return r->owner == LEARN_OWN && (learn_row_is_mentioned(r) || r->former_const || learn_row_is_made(r));
}

static void put_form(struct learn_output *w, struct output *o, const struct learn_form *f,
                     enum learn_form_kind kind, bool is_func) {
    if (!is_func) output_text(o, kind == LEARN_CALL ? " call" : " new");
    learn_put_arguments(w, o, f->args);
    if (f->kw) {
        output_text(o, " kw ");
        learn_put_record(w, o, f->kw);
    }
    if (is_func) output_text(o, " -> builtins::object");
    if (f->state) {
        output_text(o, f->no_state ? " state? " : " state ");
        learn_put_atom(w, o, f->state);
    }
    if (f->items) {
        output_text(o, " items ");
        learn_put_atom(w, o, f->items);
    }
    if (f->key) {
        output_text(o, " pairs ");
        learn_put_atom(w, o, f->key);
        output_text(o, ": ");
        learn_put_atom(w, o, f->value);
    }
    if (f->adds) {
        output_text(o, " adds ");
        learn_put_atom(w, o, f->adds);
    }
    if (is_func) output_text(o, " because \"TODO\"");
}

static void put_row(struct learn_output *w, struct output *o, const struct learn_row *r) {
    const bool is_func = r->owner == LEARN_OWN && learn_row_is_func(r);
    output_text(o, learn_row_is_const(r) ? "const " : is_func ? "func " : "class ");
    notation_name(o, r->name.qualname);
    size_t count = 0;
    for (int i = 0; i < LEARN_FORMS && r->owner == LEARN_OWN; i++) {
        const struct learn_form *const f = &r->forms[i];
        if (!f->seen && !f->known) continue;
        if (count++ != 0) output_text(o, " |");
        put_form(w, o, f, (enum learn_form_kind)i, is_func);
    }
    if (!learn_row_is_const(r) && (learn_row_is_mentioned(r) || count == 0))
        output_text(o, count != 0 ? " | ref" : " ref");
    output_text(o, ";");
}

static void put_count(struct output *o, const struct learn_row *r) {
    output_text(o, "# ");
    notation_number(o, learn_row_is_made(r) ? r->seen : r->mentions);
    output_text(o, " seen\n");
}

static void put_rows(struct learn_output *w, struct output *o) {
    const struct learn_rows *const rows = &w->learn->rows;
    const struct learn_row *last = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct learn_row *const r = rows->items[i];
        if (!is_written(r)) continue;
        if (!last || !text_equal(last->name.module, r->name.module)) {
            output_text(o, last ? "}\nmodule " : "module ");
            notation_name(o, r->name.module);
            output_text(o, " {\n");
        }
        put_count(o, r);
        put_row(w, o, r);
        output_text(o, "\n");
        last = r;
    }
    if (last) output_text(o, "}\n");
}

/* ---- types, written after what uses them and put before it */

static void put_named(struct learn_output *w) {
    for (size_t i = w->named_count; i-- > 0;) {
        const struct learn_named_type *const t = &w->named[i];
        output_print(w->out, "type %.*s = ", (int)t->name.len, t->name.at);
        for (size_t k = 0; k < t->meaning.len; k++) {
            if (t->meaning.at[k] == '\1')
                output_bytes(w->out, t->name.at, t->name.len);
            else
                output_bytes(w->out, &t->meaning.at[k], 1);
        }
        output_text(w->out, ";\n");
    }
    if (w->named_count != 0) output_text(w->out, "\n");
}

/* ---- what only people may write */

/* Each line of the text as a comment. */
static void put_comment(struct output *o, struct text text) {
    bool fresh = true;
    for (size_t i = 0; i < text.len; i++) {
        if (fresh) output_text(o, "#   | ");
        output_bytes(o, &text.at[i], 1);
        fresh = text.at[i] == '\n';
    }
}

/* Fragments that the channel would have to use. */
static void propose_uses(struct learn_output *w, struct output *o) {
    const struct learn *const l = w->learn;
    for (size_t i = 0; i < l->fragment_count && l->use_proposed; i++)
        output_print(o, "include \"%s\";\nuse %s;\n", l->fragments[i]->file, l->fragments[i]->name);
}

struct text learn_proposals(struct learn_output *w) {
    const struct learn *const l = w->learn;
    struct output made, text;
    output_init(&made, l->rows.mem);
    output_init(&text, made.mem);
    w->out = &made;
    propose_uses(w, &text);
    for (size_t i = 0; i < l->rows.count; i++) {
        const struct learn_row *const r = l->rows.items[i];
        if (!r->proposed) continue;
        output_text(&text, "module ");
        notation_name(&text, r->name.module);
        output_text(&text, " { ");
        put_row(w, &text, r);
        output_text(&text, " }\n");
    }
    if (l->root_proposed) {
        output_text(&text, "root ");
        learn_put_type(w, &text, l->root);
        output_text(&text, ";\n");
    }
    put_named(w);
    w->out = NULL;
    output_bytes(&made, text.bytes, text.len);
    if (made.len == 0) return (struct text){"", 0};
    struct output comment;
    output_init(&comment, made.mem);
    output_text(&comment,
                "\n# What is written outside of this block does not admit all that was seen.  This would:\n");
    put_comment(&comment, (struct text){made.bytes, made.len});
    return (struct text){comment.bytes, comment.len};
}

/* ---- names that are not granted */

const char learn_excluded_head[] = "# Not granted, and what names them is not admitted:\n";

static void put_excluded(struct learn_output *w) {
    const struct learn_rows *const rows = &w->learn->rows;
    bool first = true;
    for (size_t i = 0; i < rows->count; i++) {
        const struct learn_row *const r = rows->items[i];
        if (!r->excluded) continue;
        if (first) output_print(w->out, "\n%s", learn_excluded_head);
        first = false;
        output_text(w->out, "#     ");
        learn_row_put(w->out, r);
        output_print(w->out, ": %s\n", r->excluded);
    }
}

void learn_put(struct learn_output *w) {
    const struct learn *const l = w->learn;
    struct output rows, root;
    output_init(&rows, w->out->mem);
    output_init(&root, w->out->mem);
    put_rows(w, &rows);
    learn_put_type(w, &root, l->root);
    if (!w->outer->has_header) {
        output_print(w->out, "policy %.*s %" PRIu64 ";\n\n", (int)w->name.len, w->name.at, w->revision);
    }
    put_includes(w);
    if (!w->outer->has_opcodes) put_opcodes(w);
    if (!w->outer->has_header) put_protocol(w);
    put_budgets(w);
    output_text(w->out, "\n");
    put_named(w);
    output_bytes(w->out, rows.bytes, rows.len);
    output_text(w->out, "\n");
    put_uses(w);
    if (!w->outer->has_header) {
        output_text(w->out, "root ");
        output_bytes(w->out, root.bytes, root.len);
        output_text(w->out, l->settings.cyclic ? " cyclic;\n" : ";\n");
    }
    output_bytes(w->out, l->proposals.at, l->proposals.len);
    put_excluded(w);
}
