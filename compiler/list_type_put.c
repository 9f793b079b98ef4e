/* Types in the language of policies.  Layer: see list_type.h.
 *
 * INVARIANT: the recursion ends, because types that would nest deeper than DEPTH_MOST have names, and so has a
 * type on every cycle (list_type.c).
 */
#include <string.h>

#include "intern.h"
#include "list_type_note.h"
#include "notation.h"

void type_put_qualified(struct output *o, const struct upk_policy *p, struct upk_text module,
                        struct upk_text qualname) {
    notation_name(o, policy_text(p, module));
    output_text(o, "::");
    notation_name(o, policy_text(p, qualname));
}

static void put_class(struct output *o, const struct upk_policy *p, uint32_t class) {
    type_put_qualified(o, p, p->classes[class].module, p->classes[class].qualname);
}

/* ---- bounds ------------------------------------------------------------ */

static void put_range(struct output *o, const struct upk_type *t, void (*number)(struct output *, uint64_t)) {
    if (t->lo == 0 && t->hi == UINT64_MAX) return;
    output_text(o, "[");
    if (t->lo != 0 || t->hi == 0) number(o, t->lo);
    if (t->lo != t->hi) {
        output_text(o, "..");
        if (t->hi != UINT64_MAX) number(o, t->hi);
    }
    output_text(o, "]");
}

static void put_int(struct output *o, const struct upk_policy *p, const struct upk_type *t) {
    const struct upk_bound *const b = &p->bounds[t->a];
    output_text(o, "int");
    if (t->a != 0 && b->open != 3) {
        const bool low = !(b->open & 1), high = !(b->open & 2);
        const bool one =
            low && high && memcmp(b->lo, b->hi, sizeof b->lo) == 0 && (b->negative == 0 || b->negative == 3);
        output_text(o, "[");
        if (low) notation_int(o, b->lo, (b->negative & 1) != 0);
        if (!one) output_text(o, "..");
        if (high && !one) notation_int(o, b->hi, (b->negative & 2) != 0);
        output_text(o, "]");
    }
    if (t->b != 0) {
        output_text(o, " mask ");
        notation_int(o, p->bounds[t->b - 1].lo, false);
    }
}

static void put_str(struct output *o, const struct upk_policy *p, const struct upk_type *t) {
    output_text(o, t->kind == UPK_TYPE_STR ? "str" : "text");
    put_range(o, t, notation_number);
    if (t->a == 0) return;
    output_text(o, " chars ");
    notation_chars(o, p->ranges + p->charsets[t->a].first, p->charsets[t->a].count);
}

static void put_sized(struct output *o, const char *word, const struct upk_type *t) {
    output_text(o, word);
    put_range(o, t, notation_size);
}

/* ---- types that hold types ------------------------------------------------------------ */

static void put_around(struct type_lines *l, struct output *o, const char *word, const struct upk_type *t) {
    output_text(o, word);
    output_text(o, "<");
    type_put(l, o, t->a);
    if (t->kind == UPK_TYPE_DICT) {
        output_text(o, ", ");
        type_put(l, o, t->b);
    }
    output_text(o, ">");
    if (t->kind != UPK_TYPE_PERSID) put_range(o, t, notation_number);
}

/* How an element of a tuple is marked: `?` or `...`, or not at all. */
static const char *elem_mark(const struct upk_type *t, uint32_t i) {
    const uint32_t repeats = t->c >> 24 ? 1 : 0, fixed = t->b - repeats, optional = t->c & 0xffffff;
    return i >= fixed ? "..." : i >= fixed - optional ? "?" : "";
}

/* A list of places has two of them or more; with one it is a list of that length. */
static void put_one_place(struct type_lines *l, struct output *o, const struct upk_type *t) {
    struct upk_type list = {
        .kind = UPK_TYPE_LIST, .a = l->policy->elems[t->a].type, .lo = t->lo, .hi = t->hi};
    const char mark = elem_mark(t, 0)[0];
    if (mark != '.' && list.hi > 1) list.hi = 1;
    if (mark == '\0' && list.lo < 1) list.lo = 1;
    put_around(l, o, "list", &list);
}

static void put_tuple(struct type_lines *l, struct output *o, const struct upk_type *t) {
    if (t->kind == UPK_TYPE_PLACES && t->b == 1) {
        put_one_place(l, o, t);
        return;
    }
    output_text(o, t->kind == UPK_TYPE_PLACES ? "list<" : "tuple<");
    for (uint32_t i = 0; i < t->b; i++) {
        if (i != 0) output_text(o, ", ");
        type_put(l, o, l->policy->elems[t->a + i].type);
        output_text(o, elem_mark(t, i));
    }
    output_text(o, ">");
    put_range(o, t, notation_number);
}

void type_put_arguments(struct type_lines *l, struct output *o, uint32_t tuple) {
    const struct upk_type *const t = &l->policy->types[tuple];
    for (uint32_t i = 0; i < t->b; i++) {
        const struct upk_elem *const e = &l->policy->elems[t->a + i];
        const char *const mark = elem_mark(t, i);
        if (i != 0) output_text(o, ", ");
        notation_name(o, policy_text(l->policy, e->name));
        output_text(o, mark[0] == '?' ? "?: " : ": ");
        type_put(l, o, e->type);
        if (mark[0] == '.') output_text(o, mark);
    }
}

void type_put_record(struct type_lines *l, struct output *o, uint32_t record) {
    const struct upk_type *const t = &l->policy->types[record];
    output_text(o, "{");
    for (uint32_t i = 0; i < t->b; i++) {
        const struct upk_field *const f = &l->policy->fields[t->a + i];
        const struct text key = policy_text(l->policy, f->key);
        output_text(o, i == 0 ? " " : ", ");
        if (memchr(key.at, '.', key.len))
            notation_string(o, key); /* a key is one word */
        else
            notation_name(o, key);
        output_text(o, f->optional ? "?: " : ": ");
        type_put(l, o, f->type);
    }
    if (t->c != 0) {
        output_text(o, t->b == 0 ? " *: " : ", *: ");
        type_put(l, o, t->c);
    }
    output_text(o, t->b == 0 && t->c == 0 ? "}" : " }");
}

static bool is_any_object(const struct upk_type *t) {
    return t->kind == UPK_TYPE_OBJECT && t->lo == 0 && t->hi == UINT64_MAX;
}

/* Classes of an `instance of` that this union does not hold yet; *written says whether anything stands before. */
static void put_instances(struct type_lines *l, struct output *o, const struct upk_type *t, bool *written) {
    const struct upk_policy *const p = l->policy;
    for (uint32_t i = 0; i < t->b; i++) {
        const uint32_t class = p->alts[t->a + i];
        if (l->stamps[class] == l->stamp) continue;
        l->stamps[class] = l->stamp;
        if (*written) output_text(o, " | ");
        *written = true;
        put_class(o, p, class);
    }
}

/* Is every alternative of a union one that is still to be planned? */
static bool is_within(const struct type_lines *l, const struct upk_type *t) {
    for (uint32_t i = 0; i < t->b; i++) {
        const uint32_t alt = l->policy->alts[t->a + i];
        if (l->notes[alt].stamp != l->stamp || l->policy->types[alt].kind == UPK_TYPE_INSTANCE) return false;
    }
    return true;
}

/* The largest union with a name that begins with this alternative and is a part of the one being planned; 0: none. */
static uint32_t part_with_name(const struct type_lines *l, const struct upk_type *t, uint32_t alt) {
    enum { TRIES = 64 };
    uint32_t best = 0, tries = 0;
    for (uint32_t i = l->notes[alt].first_union; i != 0 && tries < TRIES;
         i = l->notes[i].next_union, tries++) {
        const struct upk_type *const part = &l->policy->types[i];
        if (part != t && l->notes[i].named && (best == 0 || part->b > l->policy->types[best].b) &&
            is_within(l, part))
            best = i;
    }
    return best;
}

/* What is written in the place of each alternative: itself, a union with a name that holds it and others, or, where such a
 * one was written before, nothing (0).  Tables hold unions flat; `Json | none` reads better.  NULL: no memory. */
static const uint32_t *plan_union(struct type_lines *l, const struct upk_type *t) {
    const uint32_t *const alts = l->policy->alts + t->a;
    uint32_t *const plan = mem_alloc(l->mem, t->b, sizeof *plan);
    l->stamp++;
    for (uint32_t i = 0; i < t->b; i++) l->notes[alts[i]].stamp = l->stamp;
    for (uint32_t i = 0; plan && i < t->b; i++) {
        if (l->notes[alts[i]].stamp != l->stamp) continue;
        const uint32_t part = part_with_name(l, t, alts[i]);
        const struct upk_type *const taken = &l->policy->types[part];
        for (uint32_t k = 0; part != 0 && k < taken->b; k++)
            l->notes[l->policy->alts[taken->a + k]].stamp = 0;
        plan[i] = part != 0 ? part : alts[i];
    }
    return plan;
}

/* Tables say `instance of` by its classes.  They come last, less those that are alternatives by themselves, so
 * that none is written twice. */
static void put_union(struct type_lines *l, struct output *o, const struct upk_type *t) {
    const struct upk_policy *const p = l->policy;
    const uint32_t *const alts = p->alts + t->a;
    const uint32_t *const plan = plan_union(l, t);
    bool written = false;
    for (uint32_t i = 0; plan && i < t->b; i++) {
        if (plan[i] == 0 || (p->types[alts[i]].kind == UPK_TYPE_INSTANCE && !l->notes[alts[i]].named))
            continue;
        if (written) output_text(o, " | ");
        written = true;
        type_put(l, o, plan[i]);
    }
    l->stamp++;
    for (uint32_t i = 0; i < t->b; i++) {
        if (is_any_object(&p->types[alts[i]])) l->stamps[p->types[alts[i]].a] = l->stamp;
    }
    for (uint32_t i = 0; i < t->b; i++) {
        if (p->types[alts[i]].kind == UPK_TYPE_INSTANCE && !l->notes[alts[i]].named)
            put_instances(l, o, &p->types[alts[i]], &written);
    }
}

/* ---- any type ------------------------------------------------------------ */

void type_put_meaning(struct type_lines *l, struct output *o, uint32_t type) {
    const struct upk_policy *const p = l->policy;
    const struct upk_type *const t = &p->types[type];
    bool written = false;
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_NEVER:
    case UPK_TYPE_COUNT: break; /* no type of a policy */
    case UPK_TYPE_ANY: output_text(o, "any"); break;
    case UPK_TYPE_NONE: output_text(o, "none"); break;
    case UPK_TYPE_BOOL: output_text(o, "bool"); break;
    case UPK_TYPE_TRUE: output_text(o, "true"); break;
    case UPK_TYPE_FALSE: output_text(o, "false"); break;
    case UPK_TYPE_INT: put_int(o, p, t); break;
    case UPK_TYPE_FLOAT: output_text(o, "float"); break;
    case UPK_TYPE_FINITE: output_text(o, "finite"); break;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT: put_str(o, p, t); break;
    case UPK_TYPE_BYTES: put_sized(o, "bytes", t); break;
    case UPK_TYPE_BYTEARRAY: put_sized(o, "bytearray", t); break;
    case UPK_TYPE_BUFFER: put_sized(o, "buffer", t); break;
    case UPK_TYPE_INT_IS: notation_int(o, p->bounds[t->a].lo, (p->bounds[t->a].negative & 1) != 0); break;
    case UPK_TYPE_STR_IS: notation_string(o, (struct text){p->pool + t->a, t->b}); break;
    case UPK_TYPE_BYTES_IS: notation_bytes(o, (struct text){p->pool + t->a, t->b}); break;
    case UPK_TYPE_LIST: put_around(l, o, "list", t); break;
    case UPK_TYPE_SET: put_around(l, o, "set", t); break;
    case UPK_TYPE_FROZENSET: put_around(l, o, "frozenset", t); break;
    case UPK_TYPE_DICT: put_around(l, o, "dict", t); break;
    case UPK_TYPE_PERSID: put_around(l, o, "persid", t); break;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: put_tuple(l, o, t); break;
    case UPK_TYPE_RECORD: type_put_record(l, o, type); break;
    case UPK_TYPE_UNION: put_union(l, o, t); break;
    case UPK_TYPE_OBJECT:
        put_class(o, p, t->a);
        put_range(o, t, notation_number);
        break;
    case UPK_TYPE_INSTANCE:
        l->stamp++;
        put_instances(l, o, t, &written);
        break;
    case UPK_TYPE_REF:
        output_text(o, "ref ");
        type_put_qualified(o, p, p->rows[t->a].module, p->rows[t->a].qualname);
        break;
    }
}

void type_put(struct type_lines *l, struct output *o, uint32_t type) {
    const struct type_note *const note = &l->notes[type];
    if (!note->named)
        type_put_meaning(l, o, type);
    else if (note->name.len != 0)
        output_bytes(o, note->name.at, note->name.len);
    else
        output_text(o, "T1"); /* while lengths are measured, any name will do */
}

static bool is_bare_union(const struct upk_type *t) {
    return (t->kind == UPK_TYPE_UNION || t->kind == UPK_TYPE_INSTANCE) && t->b > 1;
}

void type_put_atom(struct type_lines *l, struct output *o, uint32_t type) {
    const bool bare = !l->notes[type].named && is_bare_union(&l->policy->types[type]);
    if (bare) output_text(o, "(");
    type_put(l, o, type);
    if (bare) output_text(o, ")");
}
