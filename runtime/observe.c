/* How a stream uses a name that was refused, so that the grant line can be the whole row and not a guess.
 *
 * The stream runs through the same machine once more, without a policy; nothing of it is interpreted here but the few spellings
 * in which old protocols hide a name (N5 to N9).
 * Layer: runtime, top; for people who read refusals, never for the verdict.
 */
#include <string.h>

#include "compat_names.h"
#include "machine.h"
#include "text.h"

enum { NAME_SIZE = sizeof((struct upk_error *)0)->name };

struct spelled { /* as in errors: bounded, escaped, ended by NUL */
    char module[NAME_SIZE], name[NAME_SIZE];
};

uint32_t policy_families(const struct upk_policy *policy) {
    uint32_t bits = 0;
    for (unsigned b = 0; b < 256; b++) {
        unsigned op = policy->opcodes[b];
        if (op && op < UPK_OP_END) bits |= 1u << op_family(op);
    }
    return bits;
}

static bool is_global(struct upk_value v, const char *module, const char *name) {
    if (v.kind != UPK_GLOBAL) return false;
    struct upk_compat n = global_name(as_global(v.as.cell));
    return n.module_len == strlen(module) && memcmp(n.module, module, n.module_len) == 0 &&
           n.name_len == strlen(name) && memcmp(n.name, name, n.name_len) == 0;
}

/* Is this call getattr(something, "attribute")? */
static bool is_getattr(struct upk_value v) {
    if (v.kind != UPK_OBJECT) return false;
    const struct object *o = as_object(v.as.cell);
    return is_global(value_of_cell(o->callee), "builtins", "getattr") && o->args->len == 2 &&
           o->args->items[1].kind == UPK_STR;
}

/* The dotted name that a value spells: a name, or a chain of getattr on one. */
static bool spell(struct upk_value v, struct spelled *out) {
    enum { STEPS = 8 };
    struct upk_value attributes[STEPS];
    size_t steps = 0;
    for (; is_getattr(v) && steps < STEPS; v = as_object(v.as.cell)->args->items[0])
        attributes[steps++] = as_object(v.as.cell)->args->items[1];
    if (v.kind != UPK_GLOBAL) return false;
    const struct global *g = as_global(v.as.cell);
    const struct upk_compat spelled = {g->module, g->module_len, g->name, g->name_len};
    uint8_t room[NAME_MODERN_ROOM];
    const struct upk_compat n = name_modern(g->old, spelled, room);
    error_copy(out->module, NAME_SIZE, n.module, n.module_len);
    error_copy(out->name, NAME_SIZE, n.name, n.name_len);
    while (steps--) {
        size_t len = strlen(out->name);
        if (len + 1 >= NAME_SIZE) return false;
        out->name[len] = '.';
        error_copy(out->name + len + 1, NAME_SIZE - len - 1, attributes[steps].as.bytes,
                   attributes[steps].len);
    }
    return true;
}

static bool is_name(struct upk_value v, const struct upk_error *e) {
    struct spelled s;
    return spell(v, &s) && strcmp(s.module, e->module) == 0 && strcmp(s.name, e->name) == 0;
}

static void see_steps(struct upk_error *e, const struct object *o) {
    if (o->state.kind != UPK_INVALID) e->steps |= UPK_STEP_STATE;
    if (o->cell.flags & CELL_DID_ITEMS) e->steps |= UPK_STEP_ITEMS;
    if (o->cell.flags & CELL_DID_PAIRS) e->steps |= UPK_STEP_PAIRS;
    if (o->cell.flags & CELL_DID_ADDS) e->steps |= UPK_STEP_ADDS;
    if (o->more && o->more->kw && o->more->kw->len) e->steps |= UPK_STEP_KEYWORDS;
}

/* N8: functools.partial(C.__new__, C, *args, **kw), whose call makes the object and takes its steps. */
static bool see_partial(struct upk_error *e, const struct object *partial) {
    if (!is_global(value_of_cell(partial->callee), "functools", "partial")) return false;
    if (partial->state.kind != UPK_TUPLE || partial->state.as.cell->len != 4) return false;
    const struct upk_value args = partial->state.as.cell->items[1], kw = partial->state.as.cell->items[2];
    if (args.kind != UPK_TUPLE || !args.as.cell->len || !is_name(args.as.cell->items[0], e)) return false;
    for (const struct object *o = partial->next; o; o = o->next)
        if (o->callee == &partial->cell) see_steps(e, o);
    if (kw.kind == UPK_DICT && kw.as.cell->len) e->steps |= UPK_STEP_KEYWORDS;
    e->verb = UPK_VERB_NEW;
    e->arity = args.as.cell->len - 1;
    return true;
}

/* Does this call make something of the name?  Then how. */
static bool see_call(struct upk_error *e, const struct object *o) {
    const struct upk_value callee = value_of_cell(o->callee);
    const struct upk_value *a = o->args->items;
    const uint32_t n = o->args->len;
    if (is_name(callee, e)) {
        bool is_new = o->cell.op == UPK_OP_NEWOBJ || o->cell.op == UPK_OP_NEWOBJ_EX ||
                      (o->cell.op != UPK_OP_REDUCE && n == 0);
        e->verb = is_new ? UPK_VERB_NEW : UPK_VERB_CALL;
        e->arity = n;
    } else if (n && is_global(callee, "copyreg", "__newobj__") && is_name(a[0], e)) {
        e->verb = UPK_VERB_NEW;
        e->arity = n - 1;
    } else if (n == 3 && is_global(callee, "copyreg", "_reconstructor") && is_name(a[0], e)) {
        e->verb = UPK_VERB_NEW;
        e->arity = 0;
        if (is_global(a[1], "builtins", "list")) {
            e->steps |= UPK_STEP_ITEMS;
        } else if (is_global(a[1], "builtins", "dict")) {
            e->steps |= UPK_STEP_PAIRS;
        } else if (!is_global(a[1], "builtins", "object")) {
            bool spread = is_global(a[1], "builtins", "tuple") && a[2].kind == UPK_TUPLE;
            e->arity = spread ? a[2].as.cell->len : 1;
        }
    } else {
        return see_partial(e, o);
    }
    see_steps(e, o);
    return true;
}

/* The name is only ever taken apart by getattr: what is wanted is the member, by its dotted name. */
static bool see_member(struct upk_error *e, const struct object *o) {
    struct spelled s;
    struct upk_value v = value_of_cell((struct upk_cell *)(uintptr_t)&o->cell);
    if (!is_getattr(v) || !is_name(o->args->items[0], e) || !spell(v, &s)) return false;
    memcpy(e->name, s.name, NAME_SIZE);
    e->dangerous = name_is_dangerous((const uint8_t *)e->module, strlen(e->module), (const uint8_t *)e->name,
                                     strlen(e->name));
    return true;
}

/* What nobody calls: `Mode.FAST` and `Mode.fast` are members by their names, `Outer.Inner` is a class. */
static bool looks_like_member(const char *name) {
    const char *last = strrchr(name, '.');
    if (!last) return false;
    last += 1 + strspn(last + 1, "_");
    return !(*last >= 'A' && *last <= 'Z') || last[strcspn(last, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

static bool see_any(struct upk_error *e, const struct upk_doc *doc,
                    bool (*see)(struct upk_error *, const struct object *)) {
    for (const struct object *o = doc->objects; o; o = o->next)
        if (see(e, o)) return true;
    return false;
}

void upk_error_observe(struct upk_error *err, const struct upk_policy *policy, const void *bytes, size_t len,
                       const struct upk_options *options) {
    if (!code_lacks_row(err->code) || err->change[0] || !policy) return;
    struct upk_options o = options ? *options : (struct upk_options){0};
    struct upk_doc *doc;
    o.flags |= UPK_FAMILY_FLAGS;
    o.families = policy_families(policy);
    o.budgets = policy->budgets;
    o.persid = NULL;
    o.used = NULL;
    if (!upk_inspect(bytes, len, &o, &doc, NULL)) return;
    err->verb = UPK_VERB_NONE; /* until some call is found */
    err->steps = 0;
    if (!see_any(err, doc, see_call) && (!see_any(err, doc, see_member) || !see_any(err, doc, see_call)))
        err->verb = looks_like_member(err->name) ? UPK_VERB_CONST : UPK_VERB_REF;
    upk_doc_free(doc);
}
