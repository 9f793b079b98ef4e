/* Names of a policy that is extended: what may be added, and where it stands among the base's rows and classes.
 *
 * Layer: see extend.h.
 */
#include <string.h>

#include "extend.h"
#include "sort.h"

enum { MOST_TEXT = 1 << 30 };

/* ---- what an extra may be ------------------------------------------------------------ */

static bool is_utf8(struct upk_bytes b) {
    bool ascii;
    return b.len == 0 || utf8_check(b.data, b.len, &ascii);
}

static bool is_name(struct upk_bytes b) { return b.len >= 1 && b.len <= UPK_NAME_MOST && is_utf8(b); }

static struct upk_compat modern(const struct upk_extra *x, uint8_t room[NAME_MODERN_ROOM]) {
    return name_modern(
        false, (struct upk_compat){x->module.data, x->module.len, x->qualname.data, x->qualname.len}, room);
}

/* Python itself goes by such attributes. */
static bool is_hook(struct upk_bytes name) {
    const char *const at = name.data;
    return name.len > 4 && memcmp(at, "__", 2) == 0 && memcmp(at + name.len - 2, "__", 2) == 0;
}

static bool check_field(struct extend *e, size_t i, const struct upk_extra_field *f) {
    const struct upk_extra *const x = &e->extras[i];
    if (f->name.len > MOST_TEXT - e->room.text || f->text.len > MOST_TEXT - e->room.text - f->name.len)
        return extend_misuse(e, i, "names and values of its fields are too long");
    e->room.text += f->name.len + f->text.len;
    if (!is_utf8(f->name) || (f->kind == UPK_STR && !is_utf8(f->text)))
        return extend_misuse(e, i, "the name or value of a field is no UTF-8");
    if (x->shape != UPK_EXTRA_RECORD || !is_hook(f->name)) return true;
    char name[80];
    error_copy(name, sizeof name, f->name.data, f->name.len);
    return extend_misuse(e, i, "`%s' is no field: Python itself goes by that attribute", name);
}

static bool check_fields(struct extend *e, size_t i) {
    const struct upk_extra *const x = &e->extras[i];
    const bool has_members = x->shape == UPK_EXTRA_ENUM || x->shape == UPK_EXTRA_FLAG;
    if (x->field_count > UPK_EXTRA_FIELDS_MOST - e->room.fields)
        return extend_misuse(e, i, "more than %d fields together", UPK_EXTRA_FIELDS_MOST);
    e->room.fields += x->field_count;
    if (has_members && x->field_count == 0) return extend_misuse(e, i, "an enum without members");
    for (size_t f = 0; f < x->field_count; f++)
        if (!check_field(e, i, &x->fields[f])) return false;
    return true;
}

/* Does some type of the base take objects of the class? */
static bool is_of_use(const struct extend *e, const struct upk_compat *name) {
    const struct upk_policy *const p = e->base;
    uint32_t low = 1, high = p->class_count; /* they are in order, which policy_check.c demands */
    while (low < high && !e->has_any) {
        const uint32_t at = low + (high - low) / 2;
        const int order = name_compare(*name, p->pool, p->classes[at].module, p->classes[at].qualname);
        if (order == 0) return true;
        if (order < 0) {
            high = at;
        } else {
            low = at + 1;
        }
    }
    return e->has_any;
}

static const struct upk_row *base_row(const struct extend *e, const struct upk_compat *name) {
    const uint32_t id = find_row(e->base, 1, name->module, name->module_len, name->name, name->name_len);
    return &e->base->rows[id];
}

/* May the name get a row, or has it one that makes its objects? */
static bool check_row(struct extend *e, size_t i, const struct upk_compat *name) {
    const struct upk_row *const row = base_row(e, name);
    for (uint32_t f = row->first_form; f < row->first_form + row->form_count; f++)
        if (e->base->forms[f].verb == UPK_VERB_CALL || e->base->forms[f].verb == UPK_VERB_NEW) return true;
    if (row->form_count)
        return extend_misuse(e, i, "the policy grants the name, but no objects of such a class");
    if (row->special)
        return extend_misuse(e, i, "streams of old protocols spell other things with this name");
    if (!is_of_use(e, name))
        return extend_misuse(e, i,
                             "the policy has no type `any', so that no value could hold such an object");
    return true;
}

static bool check_extra(struct extend *e, size_t i) {
    const struct upk_extra *const x = &e->extras[i];
    const uint32_t runs = UPK_FORM_FLAGS & ~(uint32_t)(UPK_FORM_STATE_OPTIONAL | UPK_FORM_TEMPLATE);
    uint8_t room[NAME_MODERN_ROOM];
    if (!is_name(x->module) || !is_name(x->qualname))
        return extend_misuse(e, i, "a name of a class is UTF-8 of 1 to %d bytes", UPK_NAME_MOST);
    if (x->shape >= UPK_EXTRA_SHAPES || x->runs & ~runs ||
        x->steps & ~(uint32_t)(UPK_STEP_STATE | UPK_STEP_ITEMS | UPK_STEP_PAIRS))
        return extend_misuse(e, i, "unknown shape, step or hook");
    const struct upk_compat name = modern(x, room);
    if (name.module_len > UPK_NAME_MOST) return extend_misuse(e, i, "the module's name is too long");
    if (bytes_are(name.module, name.module_len, "builtins"))
        return extend_misuse(e, i, "a builtin is granted by a policy, or not at all");
    if (name_is_dangerous(x->module.data, x->module.len, x->qualname.data, x->qualname.len) ||
        name_is_dangerous(name.module, name.module_len, name.name, name.name_len))
        return extend_misuse(e, i, "the name reaches the system, the interpreter or another decoder");
    return check_fields(e, i) && check_row(e, i, &name);
}

/* A name of so many bytes has no more prefixes, and so many fields no more parts, than are counted here. */
static void count_extra(struct extend *e, const struct upk_extra *x) {
    const uint64_t fields = x->field_count;
    struct extend_room *const r = &e->room;
    const uint8_t *const name = x->qualname.data;
    r->names += 1 + fields;
    for (size_t k = 0; k < x->qualname.len; k++) r->names += name[k] == '.';
    r->text += NAME_MODERN_ROOM + UPK_NAME_MOST + fields * UPK_NAME_MOST;
    r->forms += 5 + fields;
    r->types += 8 + fields;
    r->elems += 8 + 2 * fields;
    r->bounds += 1 + fields;
    r->alts += 2 + fields;
}

bool extend_check(struct extend *e) {
    for (uint32_t i = 1; i < e->base->type_count; i++)
        e->has_any = e->has_any || e->base->types[i].kind == UPK_TYPE_ANY;
    for (size_t i = 0; i < e->count; i++) {
        if (!check_extra(e, i)) return false;
        count_extra(e, &e->extras[i]);
    }
    e->room.fields *= 2; /* a record of all, and one each of slots and others */
    e->room.rows = e->room.names;
    e->room.classes = e->count;
    return true;
}

/* ---- names ------------------------------------------------------------ */

static void add_name(struct extend *e, struct extra_name name) { e->names[e->name_count++] = name; }

static void add_prefixes(struct extend *e, struct upk_text module, struct upk_text qualname) {
    for (uint32_t k = 1; k < qualname.len; k++) {
        if (e->pool[qualname.at + k] != '.') continue;
        add_name(e, (struct extra_name){.module = module, .qualname = {qualname.at, k}, .what = NAME_PREFIX});
    }
}

/* `CLASS.NAME` of a member, where streams could say it and nobody means something else by it. */
static struct upk_text member_name(struct extend *e, const struct extra_work *w, struct upk_text member) {
    const struct upk_text none = {0, 0};
    if (w->qualname.len + 1 + (uint64_t)member.len > UPK_NAME_MOST || member.len == 0) return none;
    if (memchr(e->pool + member.at, '.', member.len)) return none;
    char name[UPK_NAME_MOST];
    const uint32_t len = w->qualname.len + 1 + member.len;
    memcpy(name, e->pool + w->qualname.at, w->qualname.len);
    name[w->qualname.len] = '.';
    memcpy(name + w->qualname.len + 1, e->pool + member.at, member.len);
    if (upk_name_is_dangerous(e->pool + w->module.at, w->module.len, name, len)) return none;
    return extend_text(e, name, len);
}

static void add_members(struct extend *e, size_t i) {
    const struct extra_work *const w = &e->work[i];
    const struct upk_extra *const x = &e->extras[i];
    for (size_t f = 0; f < x->field_count; f++) {
        struct member_work *const m = &e->members[w->first_field + f];
        m->name = extend_text(e, x->fields[f].name.data, x->fields[f].name.len);
        m->text = extend_text(e, x->fields[f].text.data, x->fields[f].text.len);
        if (x->shape != UPK_EXTRA_ENUM && x->shape != UPK_EXTRA_FLAG) continue;
        m->qualname = member_name(e, w, m->name);
        if (m->qualname.len == 0) continue;
        add_name(e, (struct extra_name){.module = w->module,
                                        .qualname = m->qualname,
                                        .extra = (uint32_t)i,
                                        .member = w->first_field + (uint32_t)f,
                                        .what = NAME_MEMBER});
    }
}

static void add_extra(struct extend *e, size_t i, const struct upk_compat *name) {
    struct extra_work *const w = &e->work[i];
    w->module = extend_text(e, name->module, name->module_len);
    w->qualname = extend_text(e, name->name, name->name_len);
    add_name(e, (struct extra_name){
                    .module = w->module, .qualname = w->qualname, .extra = (uint32_t)i, .what = NAME_CLASS});
    add_prefixes(e, w->module, w->qualname);
    add_members(e, i);
}

/* ---- order ------------------------------------------------------------ */

static int compare(const struct extend *e, struct upk_text module, struct upk_text name,
                   struct upk_text module2, struct upk_text name2) {
    const uint8_t *const pool = (const uint8_t *)e->pool;
    const struct upk_compat first = {pool + module.at, module.len, pool + name.at, name.len};
    return name_compare(first, e->pool, module2, name2);
}

static bool is_before(const void *a, const void *b, const void *ctx) {
    const struct extra_name *const x = a, *const y = b;
    const int order = compare(ctx, x->module, x->qualname, y->module, y->qualname);
    return order != 0 ? order < 0 : x->what < y->what;
}

/* Each name once. */
static bool merge_names(struct extend *e) {
    uint32_t kept = 0;
    heap_sort(e->names, e->name_count, sizeof *e->names, is_before, e);
    for (uint32_t i = 0; i < e->name_count; i++) {
        const struct extra_name *const n = &e->names[i], *const last = kept ? &e->names[kept - 1] : NULL;
        if (!last || compare(e, last->module, last->qualname, n->module, n->qualname) != 0) {
            e->names[kept++] = *n;
        } else if (n->what <= NAME_MEMBER) {
            return extend_misuse(e, n->extra, "two classes or members have this name");
        }
    }
    e->name_count = kept;
    return true;
}

/* A name that the base knows as well: is it granted anew?  Not a member that the base grants as a const. */
static bool is_granted(const struct extend *e, const struct extra_name *n, uint32_t id) {
    const struct upk_row *const row = &e->base->rows[id];
    return n->what <= NAME_MEMBER && row->form_count == 0 && row->special == UPK_SPECIAL_NONE;
}

/* Ids in the order of both. */
static void number_rows(struct extend *e) {
    const struct upk_policy *const base = e->base;
    uint32_t old = 1, new = 0, id = 1;
    for (; old < base->row_count || new < e->name_count; id++) {
        struct extra_name *const n = new < e->name_count ? &e->names[new] : NULL;
        const struct upk_row *const row = old < base->row_count ? &base->rows[old] : NULL;
        const int order = !n ? -1 : !row ? 1 : compare(e, row->module, row->qualname, n->module, n->qualname);
        if (order >= 0) {
            n->row = id;
            n->granted = order == 0 ? is_granted(e, n, old) : n->what <= NAME_MEMBER;
            new ++;
        }
        if (order <= 0) e->row_of[old++] = id;
    }
    e->p->row_count = id;
}

static void number_classes(struct extend *e) {
    const struct upk_policy *const base = e->base;
    uint32_t old = 1, new = 0;
    for (;;) {
        while (new < e->name_count && !(e->names[new].granted && e->names[new].what == NAME_CLASS)) new ++;
        const struct extra_name *const n = new < e->name_count ? &e->names[new] : NULL;
        const struct upk_class *const c = old < base->class_count ? &base->classes[old] : NULL;
        if (!n && !c) return;
        const int order = !n ? -1 : !c ? 1 : compare(e, c->module, c->qualname, n->module, n->qualname);
        const uint32_t id = e->p->class_count++;
        if (order >= 0) {
            e->classes[id] = (struct upk_class){n->module, n->qualname};
            e->work[n->extra].class = id;
            new ++;
        }
        if (order <= 0) {
            e->classes[id] = *c;
            e->class_of[old++] = id;
        }
    }
}

bool extend_names(struct extend *e) {
    uint32_t first_field = 0;
    for (size_t i = 0; i < e->count; i++) {
        uint8_t room[NAME_MODERN_ROOM];
        const struct upk_compat name = modern(&e->extras[i], room);
        e->work[i].first_field = first_field;
        first_field += (uint32_t)e->extras[i].field_count;
        if (base_row(e, &name)->form_count == 0) add_extra(e, i, &name);
    }
    if (!merge_names(e)) return false;
    number_rows(e);
    number_classes(e);
    return true;
}
