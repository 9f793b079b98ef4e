/* Matching of a finished graph against the types of a policy, and the parts it is made of.
 *
 *   shape.c          every object against its row, then the root
 *   shape_early.c    objects, while decoding, as soon as they cannot change
 *   shape_leaf.c     types of single values: bounds, lengths, characters
 *   shape_goal.c     what a pair of value and type asks of the values below it
 *   shape_record.c   records: a dict against fields
 *   shape_tree.c     proof by depth-first search, for graphs without cycles
 *   shape_cyclic.c   proof by refutation, for graphs with cycles: the greatest fixed point
 *   shape_explain.c  the reason of a refusal
 *   type_name.c      types as a policy writes them
 *   check.h          relations between the parts of an object whose form is proved
 *
 * A goal is something to be proved of one compound cell.  It asks either all of its parts (a list: each
 * member; a form: each argument, state, ...) or one of them (a union: each alternative; an object: each
 * form).  Parts that need no look below are decided at once and never become goals; a union of which one
 * alternative is left becomes that alternative.
 *
 * Proofs stop at objects.  Each object must fit some form of its row, or the document is refused; so while
 * a value is matched, an object may be taken to fit, and is of class C if the forms of its row say so.
 * Only where forms of one row result in different classes are the forms themselves asked.
 *
 * Layer: private to the runtime, over scratch.h and text.h.
 */
#ifndef UPK_MATCH_H
#define UPK_MATCH_H

#include "scratch.h"
#include "text.h"

enum fit { FIT_NO, FIT_YES, FIT_OPEN };

/* GOAL_SPREAD: arguments of an object with CELL_SPREAD, the tuple spread out or the tuple as the one
 * argument, against those of the form. */
enum goal_what {
    GOAL_TYPE,   /* cell, against the type `index` */
    GOAL_OBJECT, /* object, against any form of its row */
    GOAL_FORM,   /* object, against the form `index` */
    GOAL_SPREAD  /* object, against the form `index` */
};

struct goal {
    struct upk_cell *cell; /* normalised */
    uint32_t index;
    uint32_t what; /* enum goal_what */
};

/* The number that tells the goals of one cell apart. */
static inline uint32_t goal_key(const struct goal *g) { return g->what << 30 | g->index; }

struct part {
    struct goal goal;
    bool again; /* may be met again: its result is worth keeping */
};

struct cursor { /* how far a goal is looked at; starts as zeros */
    size_t at;
    uint32_t step;  /* of a form */
    uint32_t found; /* of a record: fields */
};

enum {
    FIELD_MEMOS = 64,
    RECORD_MEMOS = 16,
    RECORD_KEYS = 16,
    MADE_MEMOS = 16,
    SURE_MEMOS = 64,
    DTYPE_MEMOS = 64
};

/* Which field a record's key was the last time; keys of equal dicts are views of the same bytes as a rule. */
struct field_memo {
    const uint8_t *key;
    uint32_t len;
    uint32_t type, field;
};

/* What a record type asks of the values of dicts with these keys in this order: kinds that are taken without a look, else the
 * type.  Only of keys that are all fields, with all required ones among them. */
struct record_memo {
    uint32_t keys, type; /* upk_cell.op of such a dict; 0: free */
    uint32_t required;   /* bit i: key i is a required field */
    struct {
        uint32_t kinds, type;
    } of[RECORD_KEYS];
};

/* How an object was made that no bar of a form stops (form_bars). */
struct made_memo {
    uint64_t made;
    uint32_t form; /* 0: free */
};

/* Kinds of value that a type takes without a look at the value. */
struct sure_memo {
    uint32_t type, kinds;
};

/* A dtype that holds (check_npdtype.c), and how many levels of dtypes it has. */
struct dtype_memo {
    const struct upk_cell *dtype;
    uint32_t levels;
};

struct matcher {
    struct upk_doc *doc;
    const struct upk_policy *policy;
    struct mem *mem;
    uint64_t pairs, budget;
    bool any_at_once;  /* CELL_ODD is exact: a container without it is plain data */
    struct tree *tree; /* one of the two */
    struct cyclic *cyclic;
    struct sure_memo sure[SURE_MEMOS];
    struct made_memo made[MADE_MEMOS];
    unsigned ready;             /* enum rare_memos */
    struct match_result native; /* the first object whose native check failed; object NULL: none */
    struct {
        struct field_memo fields[FIELD_MEMOS];
        struct dtype_memo dtypes[DTYPE_MEMOS];
        struct record_memo records[RECORD_MEMOS];
    } rare; /* by memos_of alone */
};

enum rare_memos { MEMOS_OF_FIELDS = 1, MEMOS_OF_DTYPES = 2, MEMOS_OF_RECORDS = 4 };

/* Memos of one kind, cleared when they are first asked: 5 KB that a document of one date never needs take as long as its match. */
static inline void *memos_of(struct matcher *m, enum rare_memos which, void *memos, size_t size) {
    if (!(m->ready & which)) {
        mem_clear(memos, size);
        m->ready |= which;
    }
    return memos;
}

/* ---- shape.c */

void matcher_init(struct matcher *m, struct upk_doc *doc);

/* ---- shape_leaf.c: single values, already normalised, of a kind that the type takes */

bool leaf_fits(struct matcher *m, struct upk_value v, const struct upk_type *t);
bool length_fits(uint64_t n, const struct upk_type *t);

/* ---- shape_goal.c */

/* v against a type.  FIT_OPEN: *part must be proved. */
enum fit value_fits_by_look(struct matcher *m, struct upk_value v, uint32_t type, struct part *part);
static inline enum fit value_fits(struct matcher *m, struct upk_value v, uint32_t type, struct part *part) {
    const struct sure_memo *sure = &m->sure[type % SURE_MEMOS];
    if (sure->type == type && sure->kinds >> v.kind & 1) {
        m->pairs++;
        return FIT_YES;
    }
    return value_fits_by_look(m, v, type, part);
}
/* The next part of a goal that must be proved (FIT_OPEN), or the verdict on what is left of it.  A goal of
 * all is proved if every part is, a goal of one if some part is (FIT_NO: none left). */
enum fit goal_next(struct matcher *m, const struct goal *g, struct cursor *c, struct part *part);
bool goal_is_one_of(const struct matcher *m, const struct goal *g);
/* Some type takes a value of this kind at all. */
bool kind_fits(const struct upk_type *t, unsigned kind);
/* Type of element i of a tuple type; 0: there is none. */
static inline uint32_t tuple_element(const struct matcher *m, const struct upk_type *t, size_t i) {
    if (i >= t->b) {
        if (!(t->c >> 24)) return 0;
        i = t->b - 1;
    }
    return m->policy->elems[t->a + i].type;
}
/* Kinds that a type takes without a look at the value. */
uint32_t sure_kinds(struct matcher *m, uint32_t type);

/* ---- shape_record.c */

/* Field of a record type, UINT32_MAX: there is none. */
uint32_t record_field(struct matcher *m, uint32_t type, struct upk_value key);
/* The next value of a dict that must be proved for a record type, or the verdict on those that are left. */
enum fit next_field(struct matcher *m, const struct upk_cell *dict, uint32_t type, struct cursor *c,
                    struct part *part);
/* Where what such a dict's keys are is noted; NULL: it is not. */
static inline const struct record_memo *record_noted(const struct matcher *m, const struct upk_cell *dict,
                                                     uint32_t type) {
    const struct record_memo *const memo = &m->rare.records[(dict->op + type) % RECORD_MEMOS];
    if (dict->op == 0 || dict->len > 2 * RECORD_KEYS || !(m->ready & MEMOS_OF_RECORDS)) return NULL;
    return memo->keys == dict->op && memo->type == type ? memo : NULL;
}
/* All values are of kinds that are taken without a look. */
static inline bool record_is_sure(const struct upk_cell *dict, const struct record_memo *memo) {
    const struct upk_value *v = dict->items;
    for (uint32_t i = 0; i < dict->len / 2; i++)
        if (!(memo->of[i].kinds >> v[2 * i + 1].kind & 1)) return false;
    return true;
}
/* The verdict on a dict of which no value can be left open. */
enum fit flat_record_fits(struct matcher *m, const struct upk_cell *dict, uint32_t type, struct part *part);

/* ---- shape_goal.c: forms */

/* Why a form cannot have made an object, before its values are looked at. */
enum form_bar {
    BAR_NONE,
    BAR_VERB,
    BAR_COUNT,    /* of arguments */
    BAR_KEYWORDS, /* none are taken */
    BAR_NO_STATE,
    BAR_STATE,
    BAR_ITEMS,
    BAR_PAIRS,
    BAR_ADDS,
    BAR_OPERAND /* what joins flags stands to the right of what joins flags */
};
enum form_bar form_bars(const struct matcher *m, const struct object *o, const struct upk_form *f);

/* ---- the two provers.  The second is told all goals first, as nothing is decided before everything is
 * known. */

bool tree_new(struct matcher *m);
enum match_status tree_prove(struct matcher *m, const struct goal *g, bool *proved);
void tree_free(struct matcher *m);

bool cyclic_new(struct matcher *m);
bool cyclic_add(struct matcher *m, const struct goal *g);
enum match_status cyclic_solve(struct matcher *m);
bool cyclic_refuted(const struct matcher *m, const struct goal *g); /* false also where it was never asked */
bool cyclic_holds(const struct matcher *m, const struct goal *g);   /* it was asked */
void cyclic_free(struct matcher *m);

/* ---- shape_explain.c, type_name.c */

void explain_object(struct matcher *m, const struct object *o, struct match_result *why);
void explain_root(struct matcher *m, struct match_result *why);

/* false: by its name, for it would be long. */
bool text_add_type(struct text *t, const struct upk_policy *p, uint32_t type);
void text_add_value(struct text *t, const struct upk_policy *p, struct upk_value v);

#endif
