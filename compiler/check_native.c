/* `check NAME`: is there such a check, and does the alternative give it what it reads?  A check that never
 * finds it would refuse every object (runtime/check.h).
 *
 * Layer: pass; names are looked up with the rows, arguments when all types are known.
 */
#include "suggest.h"
#include "units.h"

enum { READS_ANY = 0, READS_STR = 1, READS_BYTES = 2, READS_INT = 4, READS_LIST = 8, MOST_READ = 4 };

/* One list of arguments that a check reads: what is read of each, READS_ANY behind the last. */
struct signature {
    enum upk_check check;
    size_t count; /* of the arguments; 0: one or more */
    uint8_t reads[MOST_READ];
    const char *words;
};

static const struct signature SIGNATURES[] = {
    {UPK_CHECK_DATETIME_BYTES, 0, {READS_BYTES}, "(packed: bytes[4], bytes[6] or bytes[10], ...)"},
    {UPK_CHECK_DECIMAL, 0, {READS_STR}, "(text: str, ...)"},
    {UPK_CHECK_ARRAY, 2, {READS_STR, READS_LIST}, "(code: str, items: list<...>)"},
    {UPK_CHECK_ARRAY,
     4,
     {READS_ANY, READS_STR, READS_INT, READS_BYTES},
     "(cls: ref array::array, code: str, format: int, items: bytes)"},
    {UPK_CHECK_UNICODE_ERROR,
     4,
     {READS_STR, READS_INT, READS_INT},
     "(object: str, start: int, end: int, reason: str)"},
    {UPK_CHECK_UNICODE_ERROR,
     5,
     {READS_ANY, READS_STR | READS_BYTES, READS_INT, READS_INT},
     "(encoding: str, object: str or bytes, start: int, end: int, reason: str)"},
    {UPK_CHECK_ZONEINFO, 0, {READS_STR}, "(key: str, ...)"},
    {UPK_CHECK_NPDTYPE, 3, {READS_ANY}, "(code: str, align: false, copy: true), and a state"},
    {UPK_CHECK_NDARRAY,
     3,
     {READS_ANY},
     "(cls: ref numpy::ndarray, shape: tuple<0>, code: bytes), and a state"},
    {UPK_CHECK_NDARRAY,
     4,
     {READS_ANY},
     "(cls, base: ref numpy::ndarray, shape: tuple<0>, code: str), and a state"},
    {UPK_CHECK_FROMBUFFER,
     4,
     {READS_ANY},
     "(data: bytes, dtype: numpy::dtype, shape: tuple<int...>, order: str)"},
    {UPK_CHECK_NPSCALAR, 2, {READS_ANY}, "(dtype: numpy::dtype, data: bytes)"},
};
enum { SIGNATURE_COUNT = sizeof SIGNATURES / sizeof SIGNATURES[0] };

static const char *const WORDS[UPK_CHECK_COUNT] = {"none",
#define UPK_X(name, word) #word,
                                                   UPK_CHECKS(UPK_X)
#undef UPK_X
};

void check_read(struct compilation *c, const struct ast_word *word, const struct ast_list *args,
                struct model_form *form) {
    struct suggestion near = suggestion_begin(word->text);
    uint32_t check = UPK_CHECK_NONE + 1;
    while (check < UPK_CHECK_COUNT && !text_is(word->text, WORDS[check])) {
        suggestion_offer(&near, text_of(WORDS[check]));
        check++;
    }
    if (check == UPK_CHECK_COUNT) {
        diag_error(c->diag, word->span, P_UNKNOWN_CHECK, "the runtime knows no check `%s'",
                   diag_quote(c->diag, word->text));
        if (suggestion_found(&near)) {
            diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
        } else {
#define UPK_X(name, word) " " #word
            diag_hint(c->diag, "checks are" UPK_CHECKS(UPK_X));
#undef UPK_X
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
    c->check_uses[c->check_use_count++] =
        (struct check_use){.check = check, .at = word->span, .args = form->args, .tree = args};
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

static void use_check(struct compilation *c, const struct check_use *use) {
    const struct signature *near = NULL; /* of the right count, or else the first */
    for (size_t i = 0; i < SIGNATURE_COUNT; i++) {
        const struct signature *s = &SIGNATURES[i];
        if (s->check == use->check && (near == NULL || count_fits(use->args, s))) {
            near = s;
        }
    }
    bool counted = count_fits(use->args, near);
    size_t misfit = first_misfit(c, use->args, near);
    if (counted && misfit == use->args->elem_count) {
        return;
    }
    diag_error(c->diag, use->at, P_CHECK_MISFIT, "`check %s' does not read such arguments",
               WORDS[use->check]);
    if (counted) {
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
