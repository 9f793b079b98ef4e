/* What is granted: rows that one side has alone, and rows that both have.  Layer: see diff_findings.h. */
#include <string.h>

#include "diff_findings.h"
#include "list.h"
#include "names.h"
#include "notation.h"

enum { MOST_TRIES = 64 }; /* forms that are tried as the one that was changed */

static const char *const verb_words[] = {"", "ref", "const", "call", "new", "func"};

const struct diff_place *diff_row_place(struct diff *d, const struct upk_policy *p,
                                        const struct upk_row *row) {
    type_put_qualified(&d->scratch, p, row->module, row->qualname);
    const uint32_t index = p == d->new ? (uint32_t)(row - p->rows) : 0;
    return diff_top(d, index != 0 ? DIFF_OF_ROW : DIFF_OF_ALL, index, diff_kept(d));
}

/* ---- rows of one side ------------------------------------------------------------ */

static struct text row_text(struct diff *d, bool of_new, const struct upk_row *row) {
    enum { MOST_FORMS = 8 };
    const struct upk_policy *const p = of_new ? d->new : d->old;
    for (uint32_t k = 0; k < row->form_count && k < MOST_FORMS; k++) {
        if (k != 0) output_text(&d->scratch, " | ");
        list_put_form(of_new ? &d->new_lines : &d->old_lines, &d->scratch, row,
                      &p->forms[row->first_form + k]);
    }
    if (row->form_count > MOST_FORMS) output_text(&d->scratch, " | ...");
    return diff_kept(d);
}

static bool form_takes_any(const struct upk_policy *p, const struct upk_form *f) {
    const struct upk_type *const args = &p->types[f->args];
    for (uint32_t k = 0; f->args != 0 && k < args->b; k++) {
        if (diff_takes_any(p, p->elems[args->a + k].type)) return true;
    }
    return (f->state != 0 && diff_takes_any(p, f->state)) ||
           (f->kw != 0 && p->types[f->kw].c != 0 && diff_takes_any(p, p->types[f->kw].c));
}

static bool is_dangerous(struct diff *d, const struct upk_policy *p, const struct upk_row *row) {
    const struct model_name name = {policy_text(p, row->module), policy_text(p, row->qualname)};
    return name_reaches_system(d->mem, name);
}

struct judgement {
    enum diff_grade grade;
    struct diff_words words;
};

static struct judgement judge_row(struct diff *d, const struct upk_policy *p, const struct upk_row *row) {
    static const char gone[] = "The name is not granted any more.",
                      not_made[] = "The class may not be made any more.";
    bool any = false, made = false;
    for (uint32_t k = row->first_form; k < row->first_form + row->form_count; k++) {
        any = any || form_takes_any(p, &p->forms[k]);
        made = made || p->forms[k].verb == UPK_VERB_CALL || p->forms[k].verb == UPK_VERB_NEW;
    }
    if (is_dangerous(d, p, row))
        return (struct judgement){DIFF_HIGH,
                                  {"The name reaches the system, the interpreter or another decoder.", gone}};
    if (row->flags & UPK_ROW_OPEN)
        return (struct judgement){
            DIFF_HIGH,
            {"Objects of names that no row lists may be made.", "Such objects may not be made any more."}};
    if (row->flags & UPK_ROW_FUNC)
        return (struct judgement){
            DIFF_HIGH, {"Another function may be called.", "The function may not be called any more."}};
    if (row->flags & UPK_ROW_IMPORT)
        return (struct judgement){DIFF_HIGH,
                                  {"Another name is granted, whose module a Python host imports.", gone}};
    if (any) return (struct judgement){DIFF_HIGH, {"Another class may be made, of any value.", not_made}};
    if (made) return (struct judgement){DIFF_MEDIUM, {"Another class may be made.", not_made}};
    return (struct judgement){
        DIFF_MEDIUM, {"Another name may stand as a value.", "The name may not stand as a value any more."}};
}

static void find_row(struct diff *d, bool of_new, const struct upk_row *row) {
    const struct upk_policy *const p = of_new ? d->new : d->old;
    const struct judgement j = judge_row(d, p, row);
    const struct text text = row_text(d, of_new, row), none = {"", 0};
    diff_find(d, diff_row_place(d, p, row), of_new ? DIFF_WIDENED : DIFF_NARROWED, j.grade,
              of_new ? none : text, of_new ? text : none, j.words);
}

/* ---- forms of a row that both have ------------------------------------------------------------ */

struct side { /* forms of one row; `within`: in the row of the other side */
    const struct upk_policy *p;
    const struct upk_row *row;
    bool *within, *shown;
};

struct rows {
    struct diff *d;
    const struct diff_place *at;
    struct side old, new;
};

static const struct upk_form *form_at(const struct side *s, uint32_t k) {
    return &s->p->forms[s->row->first_form + k];
}

static bool side_init(struct rows *r, struct side *s, bool of_new, uint32_t row, uint32_t other) {
    struct diff *const d = r->d;
    struct inclusion *const into = of_new ? &d->into_old : &d->into_new;
    bool all = true;
    s->p = of_new ? d->new : d->old;
    s->row = &s->p->rows[row];
    s->within = mem_alloc(d->mem, s->row->form_count, sizeof *s->within);
    s->shown = mem_alloc(d->mem, s->row->form_count, sizeof *s->shown);
    if (!s->within || !s->shown) return false;
    for (uint32_t k = 0; k < s->row->form_count; k++) {
        s->within[k] = inclusion_form(into, s->row->first_form + k, other);
        all = all && s->within[k];
    }
    if (!all) d->how |= of_new ? DIFF_WIDENED : DIFF_NARROWED;
    return true;
}

/* How many parts differ. */
static unsigned distance(struct diff *d, const struct upk_form *old, const struct upk_form *new) {
    unsigned parts = (old->flags ^ new->flags) != 0;
    parts += old->check != new->check;
    parts += !inclusion_result(&d->into_old, new, old);
    for (enum inclusion_part part = 0; part < INCLUSION_PARTS; part++) {
        parts += !inclusion_part(&d->into_old, new, old, part);
        parts += !inclusion_part(&d->into_new, old, new, part);
    }
    return parts;
}

/* The form of `other` that is most like form `k`, of the same verb; form_count: there is none.  `spare`: those are preferred that
 * nothing of this side takes in, for they may be what was changed. */
static uint32_t nearest(struct rows *r, const struct side *side, uint32_t k, const struct side *other) {
    const uint32_t count = other->row->form_count;
    uint32_t best = count, tries = 0;
    unsigned least = 0;
    for (uint32_t l = 0; l < count && tries < MOST_TRIES; l++) {
        if (form_at(other, l)->verb != form_at(side, k)->verb) continue;
        const bool is_new = side == &r->new;
        const unsigned parts = 2 * distance(r->d, form_at(is_new ? other : side, is_new ? l : k),
                                            form_at(is_new ? side : other, is_new ? k : l)) +
                               (other->within[l] || other->shown[l]);
        if (best == count || parts < least) {
            best = l;
            least = parts;
        }
        tries++;
    }
    return best;
}

static const struct diff_place *form_place(struct rows *r, const struct upk_form *f) {
    output_text(&r->d->scratch, " ");
    output_text(&r->d->scratch, f->verb < sizeof verb_words / sizeof *verb_words ? verb_words[f->verb] : "");
    return diff_below(r->d, r->at, diff_kept(r->d));
}

static struct judgement judge_form(const struct side *s, const struct side *other, const struct upk_form *f) {
    static const char not_so[] = "It may not be made in this way any more.";
    bool made = false;
    for (uint32_t k = 0; k < other->row->form_count; k++)
        made = made || form_at(other, k)->verb == UPK_VERB_CALL || form_at(other, k)->verb == UPK_VERB_FUNC;
    if (form_takes_any(s->p, f))
        return (struct judgement){DIFF_HIGH, {"It may be made in another way, of any value.", not_so}};
    if ((f->verb == UPK_VERB_CALL || f->verb == UPK_VERB_FUNC) && !made)
        return (struct judgement){DIFF_HIGH,
                                  {"It may be called, which it was not: code of its own runs.", not_so}};
    if (f->verb == UPK_VERB_REF || f->verb == UPK_VERB_CONST)
        return (struct judgement){
            DIFF_MEDIUM, {"The name may stand as a value.", "The name may not stand as a value any more."}};
    return (struct judgement){DIFF_MEDIUM, {"It may be made in another way.", not_so}};
}

static void find_form(struct rows *r, bool of_new, uint32_t k) {
    const struct side *const s = of_new ? &r->new : &r->old, *const other = of_new ? &r->old : &r->new;
    const struct upk_form *const f = form_at(s, k);
    const struct judgement j = judge_form(s, other, f);
    list_put_form(of_new ? &r->d->new_lines : &r->d->old_lines, &r->d->scratch, s->row, f);
    const struct text text = diff_kept(r->d), none = {"", 0};
    diff_find(r->d, form_place(r, f), of_new ? DIFF_WIDENED : DIFF_NARROWED, j.grade, of_new ? none : text,
              of_new ? text : none, j.words);
}

/* Is form `l` of the other side there still, as another form of this side than `k`? */
static bool is_kept(struct rows *r, const struct side *s, uint32_t k, const struct side *other, uint32_t l) {
    const bool of_new = s == &r->new;
    for (uint32_t i = 0; i < s->row->form_count && i < MOST_TRIES; i++) {
        if (i == k || form_at(s, i)->verb != form_at(other, l)->verb) continue;
        if (distance(r->d, form_at(of_new ? other : s, of_new ? l : i),
                     form_at(of_new ? s : other, of_new ? i : l)) == 0)
            return true;
    }
    return false;
}

/* Several former alternatives that are in the new row as this one, as far as anybody can see. */
static bool find_joined(struct rows *r, uint32_t k) {
    const struct upk_form *const f = form_at(&r->new, k);
    uint32_t count = 0;
    bool any = false;
    for (uint32_t l = 0; l < r->old.row->form_count && l < MOST_TRIES; l++) {
        if (form_at(&r->old, l)->verb != f->verb || !r->old.within[l] || is_kept(r, &r->new, k, &r->old, l))
            continue;
        any = any || form_takes_any(r->old.p, form_at(&r->old, l));
        if (count++ != 0) output_text(&r->d->scratch, " | ");
        list_put_form(&r->d->old_lines, &r->d->scratch, r->old.row, form_at(&r->old, l));
    }
    const struct text was = diff_kept(r->d);
    if (count < 2) return false;
    list_put_form(&r->d->new_lines, &r->d->scratch, r->new.row, f);
    const struct text is = diff_kept(r->d); /* before form_place writes there */
    const bool is_any = !any && form_takes_any(r->new.p, f);
    diff_find(r->d, form_place(r, f), DIFF_WIDENED, is_any ? DIFF_HIGH : DIFF_MEDIUM, was, is,
              (struct diff_words){
                  "Alternatives became one: that it takes no more than they did could not be shown.", NULL});
    return true;
}

/* Each form that is not within the other row, beside the one that it may have been. */
static void compare_side(struct rows *r, bool of_new) {
    struct side *const s = of_new ? &r->new : &r->old, *const other = of_new ? &r->old : &r->new;
    for (uint32_t k = 0; k < s->row->form_count && !diff_is_full(r->d); k++) {
        if (s->within[k] || s->shown[k]) continue;
        s->shown[k] = true;
        if (of_new && find_joined(r, k)) continue;
        const uint32_t l = nearest(r, s, k, other);
        const bool is_none = l == other->row->form_count || (other->shown[l] && !other->within[l]);
        if (is_none || (other->within[l] && is_kept(r, s, k, other, l))) {
            find_form(r, of_new, k);
            continue;
        }
        const unsigned here = of_new ? DIFF_WIDENED : DIFF_NARROWED;
        const unsigned asked = other->within[l] ? here : DIFF_BOTH;
        other->shown[l] = true;
        diff_forms(r->d, form_place(r, form_at(s, k)), form_at(of_new ? other : s, of_new ? l : k),
                   form_at(of_new ? s : other, of_new ? k : l), asked);
    }
}

/* ---- rows that both have ------------------------------------------------------------ */

static struct text calls_text(struct diff *d, const struct upk_row *row) {
    if (row->calls == 0) return text_of("the policy's");
    notation_number(&d->scratch, row->calls);
    return diff_kept(d);
}

static void compare_marks(struct rows *r, uint32_t old_id, uint32_t new_id) {
    struct diff *const d = r->d;
    const struct upk_row *const old = r->old.row, *const new = r->new.row;
    const struct text none = {"", 0};
    unsigned how = 0;
    if ((old->flags ^ new->flags) & UPK_ROW_IMPORT) {
        const bool added = (new->flags &UPK_ROW_IMPORT) != 0;
        diff_find(d, diff_below(d, r->at, text_of(" import")), added ? DIFF_WIDENED : DIFF_NARROWED,
                  DIFF_HIGH, added ? none : text_of("import"), added ? text_of("import") : none,
                  (struct diff_words){"A Python host imports the module of the name.",
                                      "A Python host does not import the module of the name any more."});
    }
    if (!inclusion_calls(&d->into_old, new_id, old_id)) how |= DIFF_WIDENED;
    if (!inclusion_calls(&d->into_new, old_id, new_id)) how |= DIFF_NARROWED;
    diff_find(d, diff_below(d, r->at, text_of(" budget calls")), how, DIFF_LOW, calls_text(d, old),
              calls_text(d, new),
              (struct diff_words){"More of them may be made.", "Fewer of them may be made."});
    how = 0;
    if (!inclusion_frozen(&d->into_old, new_id, old_id)) how |= DIFF_WIDENED;
    if (!inclusion_frozen(&d->into_new, old_id, new_id)) how |= DIFF_NARROWED;
    diff_find(d, diff_below(d, r->at, text_of(" as a key")), how, DIFF_LOW,
              text_of(how & DIFF_WIDENED ? "compared by what it holds" : "compared by identity"),
              text_of(how & DIFF_WIDENED ? "compared by identity" : "compared by what it holds"),
              (struct diff_words){"It may be changed after it is a key.",
                                  "It may not be changed any more after it is a key."});
}

static void compare_rows(struct diff *d, uint32_t old, uint32_t new) {
    struct rows r = {.d = d, .at = diff_row_place(d, d->new, &d->new->rows[new])};
    if (!side_init(&r, &r.new, true, new, old) || !side_init(&r, &r.old, false, old, new)) return;
    compare_marks(&r, old, new);
    compare_side(&r, true);
    compare_side(&r, false);
}

void diff_rows(struct diff *d) {
    for (uint32_t k = 1; k < d->new->row_count && !d->mem->failed; k++) {
        const uint32_t old = d->into_old.rows[k];
        if (d->new->rows[k].form_count == 0) continue;
        if (old == 0 || d->old->rows[old].form_count == 0)
            find_row(d, true, &d->new->rows[k]);
        else
            compare_rows(d, old, k);
    }
    for (uint32_t k = 1; k < d->old->row_count && !d->mem->failed; k++) {
        const uint32_t new = d->into_new.rows[k];
        if (d->old->rows[k].form_count != 0 && (new == 0 || d->new->rows[new].form_count == 0))
            find_row(d, false, &d->old->rows[k]);
    }
}
