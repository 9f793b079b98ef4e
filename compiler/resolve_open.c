/* What stands for names that only a host knows: `subclasses of`, and the rows that a `fail_open` block comes to.
 *
 * Such a row has a name that no stream says: `subclasses of BASE` in the module of the base, and `class` and `const` in
 * `fail_open`.  What `subclasses of` makes is of the type of its base; what `fail_open` makes is of no type, and `any` takes it.
 *
 * Layer: pass; rows with those of resolve_rows.c, `fail_open` per channel.
 */
#include <string.h>

#include "names.h"
#include "units.h"

/* ---- subclasses of ------------------------------------------------------------ */

static const char subclasses[] = "subclasses of ";

static bool base_is(struct model_name base, const char *qualname) {
    return text_is(base.module, "builtins") && text_is(base.qualname, qualname);
}

/* Every class is one of `object`; what makes classes no host gives. */
static void base_check(struct compilation *c, const struct row_def *def) {
    const struct model_name base = def->row.base;
    if (base_is(base, "object")) {
        diag_error(c->diag, def->span, P_DANGEROUS, "every class is a subclass of `builtins::object'");
        diag_hint(c->diag, "that is a deny list: see `fail_open'");
    } else if (base_is(base, "type") || name_reaches_system(c->mem, base)) {
        diag_error(c->diag, def->span, P_DANGEROUS, "`%s::%s' reaches the system, and so do its subclasses",
                   diag_quote(c->diag, base.module), diag_quote(c->diag, base.qualname));
    }
}

static void makers_check(struct compilation *c, const struct row_def *def) {
    const struct ast_node *maker = def->tree->makers.first;
    for (size_t i = 0; i < def->row.form_count && maker != NULL; i++, maker = maker->next) {
        const struct model_form *f = &def->row.forms[i];
        if (f->verb == UPK_VERB_REF) {
            diag_error(c->diag, maker->span, P_STEPS_NOT_ALLOWED,
                       "a `ref' names one class, so `subclasses of' has no such alternative");
        }
        if (f->check != UPK_CHECK_NONE) {
            diag_error(c->diag, maker->span, P_CHECK_MISFIT,
                       "a check knows the parts of one class, not those of its subclasses");
        }
    }
}

void row_open_read(struct compilation *c, struct row_def *def) {
    const struct text base = def->row.name.qualname;
    const size_t len = base.len + sizeof subclasses - 1;
    char *at = mem_alloc(c->mem, len, 1);
    def->row.open = UPK_OPEN_SUBCLASSES;
    def->row.base = def->row.name;
    def->row.flags =
        (def->row.flags | UPK_ROW_OPEN) & ~(uint32_t)UPK_ROW_IMPORT; /* nothing is imported for it */
    if (at == NULL) {
        return;
    }
    memcpy(at, subclasses, sizeof subclasses - 1);
    memcpy(at + sizeof subclasses - 1, base.at, base.len);
    def->row.name.qualname = (struct text){at, len};
    if (!def->refused) {
        base_check(c, def);
        makers_check(c, def);
    }
}

/* ---- fail_open: what is said of it ------------------------------------------------------------ */

static uint32_t digits_of(struct text t, size_t from, size_t count) {
    uint32_t value = 0;
    for (size_t i = from; i < from + count; i++) {
        value = value * 10 + (uint32_t)(t.at[i] - '0');
    }
    return value;
}

bool date_read(struct text t, uint32_t *date) {
    static const uint32_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (t.len != 10) {
        return false;
    }
    for (size_t i = 0; i < t.len; i++) {
        if (i == 4 || i == 7 ? t.at[i] != '-' : t.at[i] < '0' || t.at[i] > '9') {
            return false;
        }
    }
    const uint32_t year = digits_of(t, 0, 4), month = digits_of(t, 5, 2), day = digits_of(t, 8, 2);
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year == 0 || month == 0 || month > 12 || day == 0 || day > days[month - 1] + (leap && month == 2)) {
        return false;
    }
    *date = (year * 100 + month) * 100 + day;
    return true;
}

static void until_check(struct compilation *c, const struct ast_word *until) {
    const uint32_t today = c->options->today;
    uint32_t date = 0;
    if (until->bad) {
        return;
    }
    if (!date_read(until->text, &date)) {
        diag_error(c->diag, until->span, P_BAD_DATE, "`%s' is no date", diag_quote(c->diag, until->text));
        diag_hint(c->diag, "a date is written YYYY-MM-DD");
    } else if (today == 0) { /* a library's caller that names no day has not looked */
        diag_error(c->diag, until->span, P_EXPIRED,
                   "whether this has ended is not known: no day is given to hold it against");
        diag_hint(c->diag, "whoever calls the compiler says which day it is: `today' of its options");
    } else if (date < today) {
        diag_error(c->diag, until->span, P_EXPIRED, "this ended on %s, and today is %04lu-%02lu-%02lu",
                   diag_quote(c->diag, until->text), (unsigned long)(today / 10000),
                   (unsigned long)(today / 100 % 100), (unsigned long)(today % 100));
        diag_hint(c->diag, "grant what is still needed by rows, or decide anew, until when");
    }
}

void fail_open_check(struct compilation *c, const struct ast_item *item) {
    if (!c->options->allow_fail_open) {
        diag_error(c->diag, item->node.span, P_FAIL_OPEN,
                   "`fail_open' admits names that nobody listed: whoever compiles it has to agree");
        diag_hint(c->diag, "to agree, compile with --allow-fail-open");
    }
    until_check(c, &item->name);
    if (item->to.text.len == 0 && !item->to.bad) {
        diag_error(c->diag, item->to.span, P_NEEDS_BECAUSE, "a reason is not empty");
    }
    for (const struct ast_node *n = item->parts.first; n != NULL; n = n->next) {
        if (((const struct ast_scope *)n)->kind == AST_SCOPE_OPCODES) {
            diag_error(c->diag, n->span, P_MISPLACED, "`deny' is of names: opcodes have a line of their own");
        }
    }
}

/* ---- fail_open: its rows ------------------------------------------------------------ */

static struct model_type *any_more(struct compilation *c, const char *name) {
    struct model_type *tuple = type_new(c, UPK_TYPE_TUPLE);
    struct model_elem *elem = mem_alloc(c->mem, 1, sizeof *elem);
    if (tuple == NULL || elem == NULL) {
        return NULL;
    }
    *elem = (struct model_elem){type_plain(c, UPK_TYPE_ANY), text_of(name)};
    tuple->elems = elem;
    tuple->elem_count = 1;
    tuple->repeats = true;
    return tuple;
}

static struct model_type *any_record(struct compilation *c) {
    struct model_type *record = type_new(c, UPK_TYPE_RECORD);
    if (record != NULL) {
        record->rest = type_plain(c, UPK_TYPE_ANY);
    }
    return record;
}

/* A row of the block.  One that makes something has the forms of `made`, called and by `new`. */
static struct row_def *block_row(struct compilation *c, const struct ast_item *item, struct model_name name,
                                 const struct model_form *made) {
    struct unit *u = unit_main(c);
    const size_t forms = made == NULL ? 1 : 3;
    struct row_def *def = mem_alloc(c->mem, 1, sizeof *def);
    struct model_form *all = mem_alloc(c->mem, forms, sizeof *all);
    if (def == NULL || all == NULL) {
        return NULL;
    }
    def->unit = u;
    def->span = item->keyword.span;
    def->row.name = name;
    def->row.flags = UPK_ROW_CONST;
    def->row.file = u->index;
    def->row.line = source_line_at(&c->diag->sources[u->source], item->keyword.span.from);
    def->row.at = def->span;
    def->row.forms = all;
    def->row.form_count = forms;
    all[0] = (struct model_form){.verb = UPK_VERB_CONST};
    if (made != NULL) {
        def->row.flags |= UPK_ROW_CLASS | UPK_ROW_STATE | UPK_ROW_ITEMS | UPK_ROW_PAIRS | UPK_ROW_ADDS;
        all[1] = all[2] = *made;
        all[2].verb = UPK_VERB_NEW;
    }
    for (size_t i = 0; i < forms; i++) {
        all[i].result = name;
        all[i].because = item->to.text;
        all[i].file = def->row.file;
        all[i].line = def->row.line;
    }
    return def;
}

static struct row_def *open_row(struct compilation *c, const struct ast_item *item, enum upk_open_kind open,
                                const char *name, const struct model_form *made) {
    struct row_def *def = block_row(c, item, (struct model_name){text_of("fail_open"), text_of(name)}, made);
    if (def != NULL) {
        def->row.open = open;
        def->row.flags |= UPK_ROW_OPEN;
        if (made != NULL) {
            def->row.forms[2].kw = any_record(c);
        }
    }
    return def;
}

static struct model_form form_of_any(struct compilation *c) {
    struct model_type *const any = type_plain(c, UPK_TYPE_ANY);
    return (struct model_form){.verb = UPK_VERB_CALL,
                               .flags = UPK_FORM_STATE_OPTIONAL | UPK_FORM_RUNS_ALL,
                               .args = any_more(c, "args"),
                               .state = any,
                               .items = any,
                               .pair_key = any,
                               .pair_value = any,
                               .adds = any};
}

bool fail_open_rows(struct compilation *c, const struct ast_item *item, struct row_def *out[2]) {
    const struct model_form made = form_of_any(c);
    out[0] = open_row(c, item, UPK_OPEN_CLASS, "class", &made);
    out[1] = open_row(c, item, UPK_OPEN_CONST, "const", NULL);
    return out[0] != NULL && out[1] != NULL && !c->mem->failed;
}

/* ---- fail_open: classes that every policy knows ------------------------------------------------------------ */

/* What the machine makes of them by itself, as of `set', is no object; they are mentioned alone. */
static bool is_class(enum upk_special special) {
    switch (special) {
    case UPK_SPECIAL_BYTES:
    case UPK_SPECIAL_BYTEARRAY:
    case UPK_SPECIAL_SET:
    case UPK_SPECIAL_FROZENSET:
    case UPK_SPECIAL_OBJECT:
    case UPK_SPECIAL_INT:
    case UPK_SPECIAL_STR:
    case UPK_SPECIAL_FLOAT:
    case UPK_SPECIAL_COMPLEX:
    case UPK_SPECIAL_LIST:
    case UPK_SPECIAL_TUPLE:
    case UPK_SPECIAL_DICT: return true;
    case UPK_SPECIAL_NONE:
    case UPK_SPECIAL_ENCODE:
    case UPK_SPECIAL_GETATTR:
    case UPK_SPECIAL_RECONSTRUCTOR:
    case UPK_SPECIAL_NEWOBJ:
    case UPK_SPECIAL_PARTIAL:
    case UPK_SPECIAL_OR:
    case UPK_SPECIAL_NEW_OF:
    case UPK_SPECIAL_COUNT: break;
    }
    return false;
}

/* These have no dots. */
static bool is_denied(const struct model *m, struct model_name name) {
    for (size_t i = 0; i < m->deny_count; i++) {
        const struct model_deny *d = &m->denies[i];
        if (d->kind == UPK_DENY_NAME ? path_is(d->path, name) : text_equal(d->path, name.module)) {
            return true;
        }
    }
    return false;
}

static bool is_granted(const struct names *names, struct row_def *const *rows, size_t count,
                       struct model_name name, bool *granted) {
    *granted = false;
    for (size_t i = 0; i < count && !*granted; i++) {
        struct model_name own;
        if (!name_canonical(names, NAMES_NEW, rows[i]->row.name, &own)) {
            return false;
        }
        *granted = name_equal(own, name);
    }
    return true;
}

bool fail_open_known_rows(struct compilation *c, const struct ast_item *item, const struct model *m,
                          struct row_def *const *rows, size_t count, struct row_def *out[FAIL_OPEN_KNOWN],
                          size_t *found) {
    const struct names names = {.mem = c->mem, .aliases = m->aliases, .alias_count = m->alias_count};
    const struct model_form made = form_of_any(c);
    *found = 0;
    for (size_t i = 0; i < name_special_count; i++) {
        const struct name_special *known = &name_specials[i];
        const bool makes = known->special == UPK_SPECIAL_COMPLEX || known->special == UPK_SPECIAL_OBJECT;
        bool granted;
        if (!is_class(known->special) || is_denied(m, known->name)) {
            continue;
        }
        if (!is_granted(&names, rows, count, known->name, &granted)) {
            return false;
        }
        if (!granted && (out[(*found)++] = block_row(c, item, known->name, makes ? &made : NULL)) == NULL) {
            return false;
        }
    }
    return !c->mem->failed;
}
