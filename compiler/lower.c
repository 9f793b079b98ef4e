/* Rows, forms and keys: which names a channel knows, what each may do, and how streams spell them.
 *
 * Layer: see lower.h.
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ALIASED = 20000 }; /* spellings that aliases add to the names of a channel */

struct model_name lower_name(struct lower *l, struct model_name name) {
    struct model_name out = name;
    if (!name_canonical(&l->names, NAMES_NEW, name, &out)) l->mem->failed = true;
    return out;
}

/* ---- the plan: all names, each once ------------------------------------------------------------ */

static bool is_dotted(struct text qualname) { return memchr(qualname.at, '.', qualname.len) != NULL; }

static void plan_add(struct lower *l, struct lower_row row) { array_add(&l->plan, &row); }

static void plan_prefixes(struct lower *l, struct model_name name) {
    for (size_t i = 1; i < name.qualname.len; i++) {
        if (name.qualname.at[i] != '.') continue;
        plan_add(l, (struct lower_row){.name = {name.module, {name.qualname.at, i}}, .prefix = true});
    }
}

static bool has_keywords(const struct model_row *row) {
    for (size_t i = 0; i < row->form_count; i++) {
        if (row->forms[i].verb == UPK_VERB_NEW && row->forms[i].kw) return true;
    }
    return false;
}

/* Protocols 2 and 3 spell new(...) kw {...} with C.__new__. */
static void plan_new_of(struct lower *l, struct model_name class) {
    static const char suffix[] = ".__new__";
    const size_t len = class.qualname.len + sizeof suffix - 1;
    char *const at = mem_alloc(l->mem, len, 1);
    if (!at) return;
    memcpy(at, class.qualname.at, class.qualname.len);
    memcpy(at + class.qualname.len, suffix, sizeof suffix - 1);
    plan_add(l, (struct lower_row){
                    .name = {class.module, {at, len}}, .special = UPK_SPECIAL_NEW_OF, .target = class});
}

static int compare_plans(const void *a, const void *b) {
    const struct lower_row *const x = a, *const y = b;
    const int c = name_compare(x->name, y->name);
    if (c != 0) return c;
    /* Any fixed order will do among equal names; where the last is the policy's own, so is the place of a message. */
    const struct model_row *const p = x->grant, *const q = y->grant;
    if (!p || !q) return (p != NULL) - (q != NULL);
    if (p->file != q->file) return p->file < q->file ? -1 : 1;
    return (p->at.from > q->at.from) - (p->at.from < q->at.from);
}

static void report_clash(struct lower *l, const struct model_row *a, const struct model_row *b,
                         struct model_name name) {
    diag_error(l->diag, b->at, P_ALIAS_CLASH, "`%s::%s' and `%s::%s' are two spellings of one name",
               diag_quote(l->diag, a->name.module), diag_quote(l->diag, a->name.qualname),
               diag_quote(l->diag, b->name.module), diag_quote(l->diag, b->name.qualname));
    diag_note(l->diag, a->at, "the other one is granted here");
    diag_hint(l->diag, "grant `%s::%s' once, with all alternatives", diag_quote(l->diag, name.module),
              diag_quote(l->diag, name.qualname));
}

/* Joins what is known of one name. */
static bool plan_merge(struct lower *l) {
    struct lower_row *const plan = l->plan.items;
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < l->plan.count; i++) {
        struct lower_row *const last = kept ? &plan[kept - 1] : NULL;
        if (!last || !name_equal(last->name, plan[i].name)) {
            plan[kept++] = plan[i];
            continue;
        }
        if (last->grant && plan[i].grant) {
            report_clash(l, last->grant, plan[i].grant, last->name);
            good = false;
        }
        if (plan[i].grant) last->grant = plan[i].grant;
        if (plan[i].special != UPK_SPECIAL_NONE) {
            last->special = plan[i].special;
            last->target = plan[i].target;
        }
        last->prefix = last->prefix || plan[i].prefix;
    }
    l->plan.count = kept;
    return good;
}

/* Aliases apply once: a name that they would take further could be granted but never reached. */
static bool is_reached(struct lower *l, struct model_name name, struct span at) {
    const struct model_name again = lower_name(l, name);
    if (l->mem->failed || name_equal(again, name)) return true;
    diag_error(l->diag, at, P_DEAD_ALIAS, "`%s::%s' is out of reach: an alias reads it as `%s::%s'",
               diag_quote(l->diag, name.module), diag_quote(l->diag, name.qualname),
               diag_quote(l->diag, again.module), diag_quote(l->diag, again.qualname));
    return false;
}

static bool plan_rows(struct lower *l) {
    bool good = true;
    for (size_t i = 0; i < l->model->row_count; i++) {
        const struct model_row *const row = &l->model->rows[i];
        const struct model_name name = lower_name(l, row->name);
        if (row->open != UPK_OPEN_NONE) { /* no stream says its name */
            plan_add(l, (struct lower_row){.name = name, .grant = row});
            continue;
        }
        good = is_reached(l, name, row->at) && good;
        plan_add(l, (struct lower_row){.name = name, .grant = row});
        if (is_dotted(name.qualname)) plan_prefixes(l, name);
        if (has_keywords(row)) plan_new_of(l, name);
    }
    for (size_t i = 0; i < name_special_count; i++) {
        good = is_reached(l, name_specials[i].name, (struct span){0, 0, 0}) && good;
        plan_add(l, (struct lower_row){.name = name_specials[i].name, .special = name_specials[i].special});
    }
    if (l->mem->failed) return false;
    qsort(l->plan.items, l->plan.count, sizeof(struct lower_row), compare_plans);
    return plan_merge(l) && good;
}

uint32_t lower_row_id(const struct lower *l, struct model_name name) {
    const struct lower_row *const plan = l->plan.items;
    size_t lo = 0, hi = l->plan.count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int c = name_compare(name, plan[mid].name);
        if (c == 0) return (uint32_t)mid + 1;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return 0;
}

/* ---- rows and forms ------------------------------------------------------------ */

struct class_look {
    const struct lower *l;
    struct upk_class class;
};

static bool same_class(const void *context, uint32_t index) {
    const struct class_look *const look = context;
    return memcmp((const struct upk_class *)look->l->classes.items + index, &look->class,
                  sizeof look->class) == 0;
}

uint32_t lower_class(struct lower *l, struct model_name name) {
    const struct class_look look = {l, {pool_add(&l->pool, name.module), pool_add(&l->pool, name.qualname)}};
    const uint64_t hash = hash_bytes(0, &look.class, sizeof look.class);
    uint32_t index;
    if (intern_find(&l->class_ids, hash, same_class, &look, &index)) return index;
    index = array_add(&l->classes, &look.class);
    intern_add(&l->class_ids, hash, index);
    return index;
}

static void add_form(struct lower *l, uint32_t row, const struct model_form *f) {
    const struct upk_form form = {
        .row = row,
        .verb = f->verb,
        .flags = f->flags,
        .result = lower_class(l, lower_name(l, f->result)),
        .args = lower_type(l, f->args),
        .kw = lower_type(l, f->kw),
        .state = lower_type(l, f->state),
        .items = lower_type(l, f->items),
        .pair_key = lower_type(l, f->pair_key),
        .pair_value = lower_type(l, f->pair_value),
        .adds = lower_type(l, f->adds),
        .check = f->check,
        .value = lower_type(l, f->value),
        .file = f->file,
        .line = f->line,
        .because = pool_add(&l->pool, f->because),
    };
    array_add(&l->forms, &form);
}

static void add_row(struct lower *l, uint32_t id, const struct lower_row *plan) {
    struct upk_row row = {
        .module = pool_add(&l->pool, plan->name.module),
        .qualname = pool_add(&l->pool, plan->name.qualname),
        .special = plan->special,
        .target = plan->special == UPK_SPECIAL_NEW_OF ? lower_row_id(l, plan->target) : 0,
    };
    const struct model_row *const grant = plan->grant;
    if (grant) {
        row.first_form = (uint32_t)l->forms.count;
        row.form_count = (uint32_t)grant->form_count;
        row.flags = grant->flags;
        row.calls = grant->calls;
        row.file = grant->file;
        row.line = grant->line;
        for (size_t i = 0; i < grant->form_count; i++) add_form(l, id, &grant->forms[i]);
    } else if (plan->prefix) {
        row.flags = UPK_ROW_PREFIX;
    }
    const struct span at = grant ? grant->at : (struct span){0, 0, 0};
    array_add(&l->places, &at);
    array_add(&l->rows, &row);
}

bool lower_rows(struct lower *l) {
    if (!plan_rows(l)) return false;
    const struct lower_row *const plan = l->plan.items;
    for (size_t i = 0; i < l->plan.count; i++) add_row(l, (uint32_t)i + 1, &plan[i]);
    return !l->mem->failed;
}

/* ---- names that only a host knows ------------------------------------------------------------ */

static void add_opens(struct lower *l, enum upk_open_kind kind) {
    const struct lower_row *const plan = l->plan.items;
    for (size_t i = 0; i < l->plan.count; i++) {
        const struct model_row *const row = plan[i].grant;
        if (!row || row->open != kind) continue;
        struct upk_open open = {.kind = kind, .row = (uint32_t)i + 1};
        if (kind == UPK_OPEN_SUBCLASSES) {
            const struct model_name base = lower_name(l, row->base);
            open.module = pool_add(&l->pool, base.module);
            open.qualname = pool_add(&l->pool, base.qualname);
        }
        array_add(&l->opens, &open);
    }
}

void lower_opens(struct lower *l) {
    for (enum upk_open_kind kind = UPK_OPEN_SUBCLASSES; kind <= UPK_OPEN_CONST; kind++) add_opens(l, kind);
    for (size_t i = 0; i < l->model->deny_count; i++) {
        const struct model_deny *const d = &l->model->denies[i];
        const struct upk_deny deny = {pool_add(&l->pool, d->path), d->kind, d->flags, d->file, d->line};
        array_add(&l->denies, &deny);
    }
}

/* ---- keys ------------------------------------------------------------ */

struct key_look {
    const struct lower *l;
    struct upk_key key;
};

static bool same_key(const void *context, uint32_t index) {
    const struct key_look *const look = context;
    const struct upk_key *const k = (const struct upk_key *)look->l->keys.items + index, *const sought =
                                                                                             &look->key;
    return k->module == sought->module && k->module_len == sought->module_len && k->name == sought->name &&
           k->name_len == sought->name_len;
}

/* The key of a spelling, made where it is new.  The pool holds each text once, so equal texts have equal
 * places. */
static struct upk_key *key_of(struct lower *l, struct model_name spelled) {
    const struct upk_text module = pool_add(&l->pool, spelled.module),
                          name = pool_add(&l->pool, spelled.qualname);
    const struct key_look look = {l, {module.at, name.at, (uint16_t)module.len, (uint16_t)name.len, {0, 0}}};
    const uint64_t hash = hash_bytes(0, &look.key, sizeof look.key);
    uint32_t index;
    if (!intern_find(&l->key_ids, hash, same_key, &look, &index)) {
        index = array_add(&l->keys, &look.key);
        intern_add(&l->key_ids, hash, index);
    }
    return l->mem->failed ? NULL : (struct upk_key *)l->keys.items + index;
}

/* Rows times aliases: a short policy could ask for millions of keys.  They are counted before any is made; an
 * alias that no spelling of a row survives (names too long, a longer alias) counts as well. */
static bool aliases_fit(struct lower *l) {
    const struct lower_row *const plan = l->plan.items;
    size_t spellings = 0;
    for (size_t i = 0; i < l->names.alias_count; i++) {
        const struct model_alias *const alias = &l->names.aliases[i];
        for (size_t j = 0; j < l->plan.count; j++) {
            if (!module_is_under(plan[j].name.module, alias->to) || ++spellings <= MOST_ALIASED) continue;
            diag_error(l->diag, alias->at, P_TOO_MANY,
                       "with the alias of `%s', aliases give the names of a channel more than %d spellings",
                       diag_quote(l->diag, alias->from), MOST_ALIASED);
            return false;
        }
    }
    return true;
}

bool lower_keys(struct lower *l) {
    if (!aliases_fit(l)) return false;
    const struct lower_row *const plan = l->plan.items;
    struct name_list spellings = {0};
    for (size_t i = 0; i < l->plan.count; i++) {
        if (plan[i].grant && plan[i].grant->open != UPK_OPEN_NONE) continue;
        if (!name_spellings(&l->names, plan[i].name, &spellings)) return false;
        for (size_t j = 0; j < spellings.count; j++) {
            struct upk_key *const key = key_of(l, spellings.items[j]);
            if (!key) return false;
            for (uint32_t reading = 0; reading < 2; reading++) {
                struct model_name name;
                if (!name_canonical(&l->names, reading, spellings.items[j], &name)) return false;
                if (name_equal(name, plan[i].name)) key->row[reading] = (uint32_t)i + 1;
            }
        }
    }
    return true;
}
