/* Findings: collected, sorted by grade and place, written a line each.  Layer: see diff_findings.h. */
#include "diff_findings.h"

#include <stdlib.h>
#include <string.h>

#include "notation.h"

enum { MOST_FINDINGS = 1000, MOST_TEXT = 160, MOST_PIECES = 24 };

static const char *const grade_words[] = {"low", "medium", "high"};

bool diff_init(struct diff *d, const struct upk_policy *old, const struct upk_policy *new, struct mem *m) {
    *d = (struct diff){.mem = m, .old = old, .new = new, .asked = DIFF_BOTH};
    array_init(&d->findings, m, sizeof(struct diff_finding));
    output_init(&d->scratch, m);
    return inclusion_init(&d->into_old, new, old, m) && inclusion_init(&d->into_new, old, new, m) &&
           type_lines_init(&d->old_lines, old, m) && type_lines_init(&d->new_lines, new, m);
}

bool diff_is_full(const struct diff *d) {
    return d->findings.count >= MOST_FINDINGS || d->mem->failed || d->into_old.exhausted ||
           d->into_new.exhausted;
}

/* ---- texts ------------------------------------------------------------ */

struct text diff_kept(struct diff *d) {
    struct text t = {"", 0};
    if (d->scratch.len > MOST_TEXT) {
        d->scratch.len = MOST_TEXT - 3;
        output_text(&d->scratch, "...");
    }
    if (d->scratch.len != 0) (void)mem_text(d->mem, d->scratch.bytes, d->scratch.len, &t);
    d->scratch.len = 0;
    return t;
}

struct text diff_type_text(struct diff *d, bool of_new, uint32_t type) {
    if (type == 0) return (struct text){"", 0};
    type_put_meaning(of_new ? &d->new_lines : &d->old_lines, &d->scratch, type);
    return diff_kept(d);
}

static const struct diff_place *place_new(struct diff *d, struct diff_place at) {
    struct diff_place *const place = mem_alloc(d->mem, 1, sizeof *place);
    if (place) *place = at;
    return place;
}

const struct diff_place *diff_top(struct diff *d, enum diff_subject subject, uint32_t index,
                                  struct text piece) {
    return place_new(d, (struct diff_place){NULL, piece, subject, index});
}

const struct diff_place *diff_below(struct diff *d, const struct diff_place *up, struct text piece) {
    if (!up) return NULL;
    return place_new(d, (struct diff_place){up, piece, up->subject, up->index});
}

const struct diff_place *diff_below_name(struct diff *d, const struct diff_place *up, const char *before,
                                         struct text name) {
    output_text(&d->scratch, before);
    notation_name(&d->scratch, name);
    return diff_below(d, up, diff_kept(d));
}

/* Of a long path the first piece and the last ones. */
static struct text place_text(struct diff *d, const struct diff_place *at) {
    struct text pieces[MOST_PIECES];
    size_t count = 0;
    const struct diff_place *p = at;
    for (; p && p->up && count < MOST_PIECES; p = p->up) pieces[count++] = p->piece;
    const bool whole = !p || !p->up;
    for (; p && p->up; p = p->up) {
    }
    if (p) output_bytes(&d->scratch, p->piece.at, p->piece.len);
    if (!whole) output_text(&d->scratch, " ... ");
    while (count > 0) {
        count--;
        output_bytes(&d->scratch, pieces[count].at, pieces[count].len);
    }
    struct text t = {"", 0};
    (void)mem_text(d->mem, d->scratch.bytes, d->scratch.len, &t);
    d->scratch.len = 0;
    return t;
}

/* ---- findings ------------------------------------------------------------ */

static const char *sentence_of(struct diff *d, unsigned how, struct diff_words words) {
    if (!words.less || !words.more) return words.more ? words.more : words.less;
    if (how != DIFF_BOTH) return how == DIFF_WIDENED ? words.more : words.less;
    output_print(&d->scratch, "%s %s", words.more, words.less);
    struct text t = {"", 0};
    (void)mem_text(d->mem, d->scratch.bytes, d->scratch.len, &t);
    d->scratch.len = 0;
    return t.at;
}

void diff_find(struct diff *d, const struct diff_place *at, unsigned how, enum diff_grade grade,
               struct text was, struct text is, struct diff_words words) {
    how &= d->asked;
    d->how |= how;
    if (how == 0 || d->mem->failed || !at) return;
    if (d->findings.count >= MOST_FINDINGS) {
        d->more = true;
        return;
    }
    const struct diff_found what = {.subject = at->subject,
                                    .index = at->index,
                                    .place = place_text(d, at),
                                    .old = was,
                                    .new = is,
                                    .sentence = sentence_of(d, how, words)};
    const struct diff_finding f = {.how = how,
                                   .grade = how & DIFF_WIDENED ? grade : DIFF_LOW,
                                   .what = what,
                                   .number = d->findings.count};
    array_add(&d->findings, &f);
}

static int compare_findings(const void *a, const void *b) {
    const struct diff_finding *const x = a, *const y = b;
    if (x->grade != y->grade) return x->grade > y->grade ? -1 : 1;
    const int c = text_compare(x->what.place, y->what.place);
    return c != 0 ? c : (x->number > y->number) - (x->number < y->number);
}

/* Alternatives of a row that change alike are one line. */
static bool is_said(const struct diff_finding *before, const struct diff_finding *f) {
    return before->how == f->how && before->grade == f->grade &&
           text_equal(before->what.place, f->what.place) && text_equal(before->what.old, f->what.old) &&
           text_equal(before->what.new, f->what.new) && strcmp(before->what.sentence, f->what.sentence) == 0;
}

static void put_text(struct output *o, const char *before, struct text t) {
    output_text(o, before);
    if (t.len == 0)
        output_text(o, "nothing");
    else
        output_bytes(o, t.at, t.len);
}

static const char *word_of(unsigned how) {
    return how == DIFF_WIDENED ? "widened" : how == DIFF_NARROWED ? "narrowed" : "changed";
}

static void put_counts(const struct diff_finding *all, size_t count, struct output *o) {
    size_t counts[DIFF_HIGH + 1] = {0};
    for (size_t i = 0; i < count; i++) counts[all[i].grade] += (all[i].how & DIFF_WIDENED) != 0;
    for (size_t g = DIFF_HIGH + 1; g-- > 0;) {
        if (counts[g] != 0) output_print(o, ", %zu %s", counts[g], grade_words[g]);
    }
}

/* Sorted, each once; how many there are. */
static size_t settle(struct diff_finding *all, size_t count) {
    size_t kept = 0;
    if (count > 1) qsort(all, count, sizeof *all, compare_findings);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !is_said(&all[kept - 1], &all[i])) all[kept++] = all[i];
    }
    return kept;
}

void diff_put_findings(struct diff *d, struct output *o) {
    struct diff_finding *const all = d->findings.items;
    const size_t count = settle(all, d->findings.count);
    output_text(o, d->how == 0 ? "same" : d->how == DIFF_BOTH ? "widened and narrowed" : word_of(d->how));
    put_counts(all, count, o);
    output_text(o, "\n");
    for (size_t i = 0; i < count; i++) {
        output_print(o, "  %s %s ", grade_words[all[i].grade], word_of(all[i].how));
        output_bytes(o, all[i].what.place.at, all[i].what.place.len);
        put_text(o, ": was ", all[i].what.old);
        put_text(o, ", is ", all[i].what.new);
        output_text(o, ". ");
        output_text(o, all[i].what.sentence);
        output_text(o, "\n");
    }
    if (d->more) output_print(o, "  and more than these %d\n", MOST_FINDINGS);
}
