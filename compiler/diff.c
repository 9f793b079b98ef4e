/* A channel of two versions: settings and root; and the summary.  Layer: see diff.h. */
#include "diff.h"

#include <inttypes.h>

#include "diff_findings.h"
#include "notation.h"
#include "words.h"

/* ---- opcodes and protocols ------------------------------------------------------------ */

/* An opcode that some protocol of the channel has. */
static bool allows(const struct upk_policy *p, const struct opcode_word *op) {
    return opcode_is_allowed(p, op) && op->protocol <= p->protocol_max;
}

/* What it does: others spell plain data. */
static enum diff_grade grade_of(const struct opcode_word *op) {
    switch ((enum upk_family)op->family) {
    case UPK_FAMILY_PERSID:
    case UPK_FAMILY_INST:
    case UPK_FAMILY_EXT: return DIFF_HIGH;
    case UPK_FAMILY_BUFFER: return DIFF_MEDIUM;
    default: break;
    }
    for (size_t i = 0; i < OPCODE_POWERS; i++) {
        if (op == opcode_word(opcode_powers[i])) return DIFF_HIGH;
    }
    return DIFF_LOW;
}

static const char opcodes_less[] = "Streams that use them are refused.";
static const struct diff_words opcode_sentences[] = {
    {"Streams may spell plain data in another way.", opcodes_less},
    {"Values may hold memory that is handed over beside the stream.", opcodes_less},
    {"Objects may be made or named by opcodes that were refused.", opcodes_less}};

static void add_word(struct diff *d, const char *word) {
    if (d->scratch.len != 0) output_text(&d->scratch, ", ");
    output_text(&d->scratch, word);
}

/* Opcodes of a grade that one side allows alone. */
static struct text opcodes_text(struct diff *d, const struct upk_policy *p, const struct upk_policy *other,
                                enum diff_grade grade) {
    for (size_t i = 0; i < OPCODE_COUNT; i++) {
        const struct opcode_word *const op = &opcode_words[i];
        if (grade_of(op) == grade && allows(p, op) && !allows(other, op)) add_word(d, op->name);
    }
    return diff_kept(d);
}

static void compare_opcodes(struct diff *d) {
    const struct diff_place *const at = diff_top(d, DIFF_OF_OPCODES, 0, text_of("opcodes"));
    for (enum diff_grade grade = DIFF_LOW; grade <= DIFF_HIGH; grade++) {
        const struct text was = opcodes_text(d, d->old, d->new, grade),
                          is = opcodes_text(d, d->new, d->old, grade);
        const unsigned how = (is.len != 0 ? DIFF_WIDENED : 0u) | (was.len != 0 ? DIFF_NARROWED : 0u);
        diff_find(d, at, how, grade, was, is, opcode_sentences[grade]);
    }
}

static struct text protocol_text(struct diff *d, const struct upk_policy *p) {
    output_print(&d->scratch, "%" PRIu32 "..%" PRIu32, p->protocol_min, p->protocol_max);
    return diff_kept(d);
}

static void compare_protocols(struct diff *d) {
    const struct upk_policy *const old = d->old, *const new = d->new;
    unsigned how = 0;
    if (new->protocol_min < old->protocol_min || new->protocol_max > old->protocol_max) how |= DIFF_WIDENED;
    if (old->protocol_min < new->protocol_min || old->protocol_max > new->protocol_max) how |= DIFF_NARROWED;
    if (how == 0) return;
    diff_find(d, diff_top(d, DIFF_OF_PROTOCOL, 0, text_of("protocol")), how, DIFF_LOW, protocol_text(d, old),
              protocol_text(d, new),
              (struct diff_words){"Streams of other protocols are read.",
                                  "Streams of some protocols are not read any more."});
}

/* ---- budgets and root ------------------------------------------------------------ */

static struct text budget_text(struct diff *d, enum upk_budget budget, uint64_t value) {
    notation_budget(&d->scratch, budget, value);
    return diff_kept(d);
}

static void compare_budgets(struct diff *d) {
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        const uint64_t was = d->old->budgets[i], is = d->new->budgets[i];
        if (was == is) continue;
        output_text(&d->scratch, "budget ");
        output_text(&d->scratch, budget_words[i].word);
        const struct diff_place *const at = diff_top(d, DIFF_OF_BUDGET, (uint32_t)i, diff_kept(d));
        diff_find(d, at, is > was ? DIFF_WIDENED : DIFF_NARROWED, DIFF_LOW,
                  budget_text(d, (enum upk_budget)i, was), budget_text(d, (enum upk_budget)i, is),
                  (struct diff_words){"Streams may cost more.", "Streams may cost less."});
    }
}

static void compare_root(struct diff *d) {
    const struct diff_place *const at = diff_top(d, DIFF_OF_ROOT, 0, text_of("root"));
    const uint32_t was = d->old->flags & UPK_POLICY_ROOT_CYCLIC, is = d->new->flags &UPK_POLICY_ROOT_CYCLIC;
    diff_types(d, at, d->old->root, d->new->root, DIFF_BOTH);
    if (was == is) return;
    diff_find(d, at, is ? DIFF_WIDENED : DIFF_NARROWED, DIFF_MEDIUM, text_of(was ? "cyclic" : "acyclic"),
              text_of(is ? "cyclic" : "acyclic"),
              (struct diff_words){"Values may hold themselves.", "Values that hold themselves are refused."});
}

/* ---- all of it ------------------------------------------------------------ */

static void put_head(const struct upk_policy *p, struct output *o) {
    output_text(o, p->channel.len != 0 ? "channel " : "policy ");
    notation_name(o, policy_text(p, p->channel.len != 0 ? p->channel : p->name));
    output_text(o, ": ");
}

/* A side that ran out of work shows nothing any more: what it would say next is not true of anything. */
static void find_exhausted(struct diff *d) {
    const struct text none = {"", 0};
    const unsigned how =
        (d->into_old.exhausted ? DIFF_WIDENED : 0u) | (d->into_new.exhausted ? DIFF_NARROWED : 0u);
    if (how == 0) return;
    d->findings.count = 0;
    d->more = false;
    diff_find(
        d, diff_top(d, DIFF_OF_ALL, 0, text_of("types")), DIFF_BOTH, DIFF_HIGH, none, none,
        (struct diff_words){
            "What is taken could not be shown to be contained in what was: there is too much to compare.",
            NULL});
}

static void compare_all(struct diff *d) {
    compare_opcodes(d);
    compare_protocols(d);
    compare_budgets(d);
    compare_root(d);
    diff_rows(d);
    diff_names(d);
    diff_opens(d);
    find_exhausted(d);
}

static bool compare(const struct upk_policy *old, const struct upk_policy *new, struct output *o,
                    unsigned *how) {
    struct diff d;
    if (!diff_init(&d, old, new, o->mem)) return false;
    compare_all(&d);
    put_head(new, o);
    diff_put_findings(&d, o);
    *how = d.how;
    return !o->mem->failed;
}

bool diff_channel(const struct upk_policy *old, const struct upk_policy *new, struct output *o,
                  struct diff_verdict *verdict) {
    unsigned how = old ? DIFF_NARROWED : DIFF_WIDENED;
    if (old && new) {
        if (!compare(old, new, o, &how)) return false;
    } else {
        put_head(old ? old : new, o);
        output_text(o, old ? "narrowed\n  low narrowed channel: was there, is nothing. It is there no more.\n"
                           : "widened, 1 high\n  high widened channel: was nothing, is there. "
                             "All that the channel grants is new.\n");
    }
    *verdict = (struct diff_verdict){(how & DIFF_WIDENED) != 0, (how & DIFF_NARROWED) != 0};
    return !o->mem->failed;
}

bool diff_widened(const struct upk_policy *old, const struct upk_policy *new, struct mem *m,
                  struct diff_found **all, size_t *count) {
    struct diff d;
    *all = NULL;
    *count = 0;
    if (!diff_init(&d, old, new, m)) return false;
    d.asked = DIFF_WIDENED;
    compare_all(&d);
    /* The verdict counts: something may widen for which no place is known. */
    if (d.how & DIFF_WIDENED && d.findings.count == 0)
        diff_find(&d, diff_top(&d, DIFF_OF_ALL, 0, text_of("types")), DIFF_WIDENED, DIFF_HIGH,
                  (struct text){"", 0}, (struct text){"", 0},
                  (struct diff_words){"What is taken could not be shown to be contained in what was.", NULL});
    *all = mem_alloc(m, d.findings.count, sizeof **all);
    const struct diff_finding *const findings = d.findings.items;
    for (; *all && *count < d.findings.count; ++*count) (*all)[*count] = findings[*count].what;
    return !m->failed;
}
