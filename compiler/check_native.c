/* `check NAME`: is there such a check, and does the alternative give it what it reads?  A check that never
 * finds it would refuse every object (runtime/check.h).
 *
 * Layer: pass; names are looked up with the rows, arguments when all types are known.
 */
#include <assert.h>

#include "suggest.h"
#include "units.h"

enum { READS_ANY = 0, READS_STR = 1, READS_BYTES = 2, READS_INT = 4, READS_LIST = 8, MOST_READ = 4 };

/* One list of arguments that a check reads: what is read of each, READS_ANY behind the last. */
struct signature {
    enum upk_check check;
    size_t count; /* of the arguments; 0: one or more */
    uint8_t reads[MOST_READ];
    bool reads_state; /* a tuple that is always there */
    const char *words;
};

static const struct signature signatures[] = {
    {UPK_CHECK_DATETIME_BYTES, 0, {READS_BYTES}, false, "(packed: bytes[4], bytes[6] or bytes[10], ...)"},
    {UPK_CHECK_DECIMAL, 0, {READS_STR}, false, "(text: str, ...)"},
    {UPK_CHECK_ARRAY, 2, {READS_STR, READS_LIST}, false, "(code: str, items: list<...>)"},
    {UPK_CHECK_ARRAY,
     4,
     {READS_ANY, READS_STR, READS_INT, READS_BYTES},
     false,
     "(cls: ref array::array, code: str, format: int, items: bytes)"},
    {UPK_CHECK_UNICODE_ERROR,
     4,
     {READS_STR, READS_INT, READS_INT},
     false,
     "(object: str, start: int, end: int, reason: str)"},
    {UPK_CHECK_UNICODE_ERROR,
     5,
     {READS_ANY, READS_STR | READS_BYTES, READS_INT, READS_INT},
     false,
     "(encoding: str, object: str or bytes, start: int, end: int, reason: str)"},
    {UPK_CHECK_ZONEINFO, 0, {READS_STR}, false, "(key: str, ...)"},
    {UPK_CHECK_NPDTYPE,
     3,
     {READS_ANY},
     true,
     "(code: str, align: false, copy: true), and the state, a tuple"},
    {UPK_CHECK_NDARRAY,
     3,
     {READS_ANY},
     true,
     "(cls: ref numpy::ndarray, shape: tuple<0>, code: bytes), and the state, a tuple"},
    {UPK_CHECK_NDARRAY,
     4,
     {READS_ANY},
     true,
     "(cls, base: ref numpy::ndarray, shape: tuple<0>, code: str), and the state, a tuple"},
    {UPK_CHECK_FROMBUFFER,
     4,
     {READS_ANY},
     false,
     "(data: bytes, dtype: numpy::dtype, shape: tuple<int...>, order: str)"},
    {UPK_CHECK_NPSCALAR, 2, {READS_ANY}, false, "(dtype: numpy::dtype, data: bytes)"},
};
enum { SIGNATURE_COUNT = sizeof signatures / sizeof signatures[0] };

void check_read(struct compilation *c, const struct ast_word *word, const struct ast_list *args,
                struct model_form *form) {
    struct suggestion near = suggestion_begin(word->text);
    uint32_t check = UPK_CHECK_NONE + 1;
    while (check < UPK_CHECK_COUNT && !text_is(word->text, check_words[check])) {
        suggestion_offer(&near, text_of(check_words[check]));
        check++;
    }
    if (check == UPK_CHECK_COUNT) {
        diag_error(c->diag, word->span, P_UNKNOWN_CHECK, "the runtime knows no check `%s'",
                   diag_quote(c->diag, word->text));
        if (suggestion_found(&near)) {
            diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
        } else {
            struct phrase words = {.len = 0};
            for (size_t i = UPK_CHECK_NONE + 1; i < UPK_CHECK_COUNT; i++) {
                phrase_separate(&words, i - 1, UPK_CHECK_COUNT - 1, " and ");
                phrase_add(&words, "%s", check_words[i]);
            }
            diag_hint(c->diag, "checks are %s", words.text);
        }
        return;
    }
    struct check_use *grown =
        mem_grow(c->mem, c->check_uses, c->check_use_count, &c->check_use_room, sizeof *grown);
    if (grown == NULL) {
        diag_memory(c);
        return;
    }
    form->check = check;
    c->check_uses = grown;
    c->check_uses[c->check_use_count++] = (struct check_use){
        .check = check,
        .at = word->span,
        .args = form->args,
        .state = (form->flags & UPK_FORM_STATE_OPTIONAL) == 0 ? form->state : NULL,
        .tree = args,
    };
}

static bool is_read(const struct compilation *c, const struct model_type *t, uint8_t reads) {
    if (t == c->poison || reads == READS_ANY) {
        return true;
    }
    switch (t->kind) {
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
    case UPK_TYPE_STR_IS: return (reads & READS_STR) != 0;
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTES_IS: return (reads & READS_BYTES) != 0;
    case UPK_TYPE_INT:
    case UPK_TYPE_INT_IS: return (reads & READS_INT) != 0;
    case UPK_TYPE_LIST:
    case UPK_TYPE_PLACES: return (reads & READS_LIST) != 0;
    case UPK_TYPE_UNION: break;
    default: return false;
    }
    for (size_t i = 0; i < t->alt_count; i++) {
        if (!is_read(c, t->alts[i], reads)) { /* none of them is a union */
            return false;
        }
    }
    return true;
}

/* Some tuple is of the type. */
static bool takes_tuple(const struct model_type *t) {
    bool takes = t->kind == UPK_TYPE_TUPLE || t->kind == UPK_TYPE_ANY;
    for (size_t i = 0; t->kind == UPK_TYPE_UNION && i < t->alt_count && !takes; i++) {
        takes = t->alts[i]->kind == UPK_TYPE_TUPLE || t->alts[i]->kind == UPK_TYPE_ANY;
    }
    return takes;
}

static bool state_fits(const struct compilation *c, const struct model_type *state,
                       const struct signature *s) {
    return !s->reads_state || (state != NULL && (state == c->poison || takes_tuple(state)));
}

/* The first argument that is not what the check reads; as many as there are: all fit. */
static size_t first_misfit(const struct compilation *c, const struct model_type *args,
                           const struct signature *s) {
    for (size_t i = 0; i < args->elem_count && i < MOST_READ; i++) {
        if (!is_read(c, args->elems[i].type, s->reads[i])) {
            return i;
        }
    }
    return args->elem_count;
}

static bool count_fits(const struct model_type *args, const struct signature *s) {
    size_t required = args->elem_count - args->optional - (args->repeats ? 1 : 0);
    return s->count == 0 ? required > 0 : required == s->count && args->elem_count == s->count;
}

bool check_has_signature(enum upk_check check) {
    for (size_t i = 0; i < SIGNATURE_COUNT; i++) {
        if (signatures[i].check == check) {
            return true;
        }
    }
    return false;
}

static void use_check(struct compilation *c, const struct check_use *use) {
    const struct signature *near = NULL; /* of the right count, or else the first */
    for (size_t i = 0; i < SIGNATURE_COUNT; i++) {
        const struct signature *s = &signatures[i];
        if (s->check == use->check && (near == NULL || count_fits(use->args, s))) {
            near = s;
        }
    }
    assert(near != NULL); /* check_has_signature holds for every check */
    bool counted = count_fits(use->args, near);
    size_t misfit = first_misfit(c, use->args, near);
    const bool read = counted && misfit == use->args->elem_count;
    if (read && state_fits(c, use->state, near)) {
        return;
    }
    diag_error(c->diag, use->at, P_CHECK_MISFIT,
               read ? "`check %s' reads a state, a tuple that is always there"
                    : "`check %s' does not read such arguments",
               check_words[use->check]);
    if (counted && !read) {
        const struct ast_node *elem = use->tree->first;
        for (size_t i = 0; i < misfit; i++) {
            elem = elem->next;
        }
        diag_note(c->diag, elem->span, "this may be something else than it reads here");
    }
    diag_hint(c->diag, "it reads %s", near->words);
}

void checks_check(struct compilation *c) {
    for (size_t i = 0; i < c->check_use_count; i++) {
        use_check(c, &c->check_uses[i]);
    }
}

bool checks_count_digits(const struct compilation *c) {
    for (size_t i = 0; i < c->check_use_count; i++) {
        if (c->check_uses[i].check == UPK_CHECK_DECIMAL) {
            return true;
        }
    }
    return false;
}
