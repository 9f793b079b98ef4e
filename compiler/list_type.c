/* Which types of a table get a name in its listing.  Layer: see list_type.h.
 *
 * Two walks from root and grants, with a stack of their own.  The first counts uses, and prefers as the name of
 * a cycle one that the policy gives.  The second does not go through these, names whatever still closes a cycle,
 * and decides of each type, when all its parts are decided, whether it is too deep or too long to be written out.
 */
#include "list_type.h"

#include <inttypes.h>
#include <stdlib.h>

#include "intern.h"
#include "list_type_note.h"
#include "notation.h"

enum {
    LONG_FROM = 64, /* bytes; what is shorter is written out as often as it is used */
    DEPTH_MOST = 8, /* types within types that are written out */
    OPEN = UINT32_MAX
};

struct frame {
    uint32_t type, next_part;
};

struct walk {
    struct type_lines *lines;
    struct array stack; /* struct frame */
    uint32_t *number;   /* by type: when it was met, from 1; */
    uint32_t *lowest;   /* the first one that it leads back to; OPEN: none */
    uint32_t count;
    bool deciding;         /* the second walk */
    struct output scratch; /* of its measuring */
};

bool type_part(const struct upk_policy *p, uint32_t type, uint32_t i, uint32_t *part) {
    const struct upk_type *const t = &p->types[type];
    switch ((enum upk_type_kind)t->kind) {
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET:
    case UPK_TYPE_PERSID: *part = t->a; return i < 1;
    case UPK_TYPE_DICT: *part = i == 0 ? t->a : t->b; return i < 2;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES:
        if (i >= t->b) return false;
        *part = p->elems[t->a + i].type;
        return true;
    case UPK_TYPE_RECORD:
        if (i < t->b) {
            *part = p->fields[t->a + i].type;
            return true;
        }
        *part = t->c;
        return i == t->b && t->c != 0;
    case UPK_TYPE_UNION:
        if (i >= t->b) return false;
        *part = p->alts[t->a + i];
        return true;
    case UPK_TYPE_NEVER:
    case UPK_TYPE_ANY:
    case UPK_TYPE_NONE:
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
    case UPK_TYPE_INT:
    case UPK_TYPE_FLOAT:
    case UPK_TYPE_FINITE:
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER:
    case UPK_TYPE_INT_IS:
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS:
    case UPK_TYPE_OBJECT:
    case UPK_TYPE_REF:
    case UPK_TYPE_INSTANCE:
    case UPK_TYPE_COUNT: break;
    }
    return false;
}

static struct text policy_name(const struct upk_policy *p, uint32_t type) {
    const struct text name = {p->pool + p->types[type].name.at, p->types[type].name.len};
    return notation_is_type_name(name) ? name : (struct text){"", 0};
}

/* ---- walks ------------------------------------------------------------ */

/* A name of its own would say no more than the name of a class does. */
static bool may_be_named(uint32_t kind) {
    return kind != UPK_TYPE_OBJECT && kind != UPK_TYPE_REF && kind != UPK_TYPE_INT_IS;
}

static void decide(struct walk *w, uint32_t type) {
    struct type_lines *const l = w->lines;
    struct type_note *const note = &l->notes[type];
    uint32_t part, depth = 0;
    for (uint32_t i = 0; type_part(l->policy, type, i, &part); i++) {
        if (!l->notes[part].named && l->notes[part].depth > depth) depth = l->notes[part].depth;
    }
    note->depth = depth + 1;
    if (note->depth > DEPTH_MOST) note->named = true;
    if (note->named || note->uses < 2 || !may_be_named(l->policy->types[type].kind)) return;
    w->scratch.len = 0;
    type_put_meaning(l, &w->scratch, type);
    note->named = note->only_long = w->scratch.len > LONG_FROM;
}

static void enter(struct walk *w, uint32_t type) {
    const struct frame f = {.type = type};
    w->number[type] = ++w->count;
    w->lowest[type] = OPEN;
    w->lines->notes[type].open = true;
    array_add(&w->stack, &f);
}

static void leave(struct walk *w, uint32_t type, uint32_t parent) {
    struct type_note *const note = &w->lines->notes[type];
    note->open = false;
    if (parent != 0 && w->lowest[type] < w->lowest[parent]) w->lowest[parent] = w->lowest[type];
    if (w->deciding)
        decide(w, type);
    else if (w->lowest[type] <= w->number[type] && policy_name(w->lines->policy, type).len != 0)
        note->named = true;
}

static void meet(struct walk *w, uint32_t type, uint32_t part) {
    struct type_note *const note = &w->lines->notes[part];
    if (!w->deciding) {
        note->uses += note->uses < 2;
    } else if (note->named) {
        return;
    }
    if (w->number[part] == 0) {
        enter(w, part);
    } else if (note->open) {
        if (w->number[part] < w->lowest[type]) w->lowest[type] = w->number[part];
        if (w->deciding) note->named = true;
    }
}

static void walk_from(struct walk *w, uint32_t type) {
    if (type == 0) return;
    if (!w->deciding) w->lines->notes[type].uses += w->lines->notes[type].uses < 2;
    if (w->number[type] != 0) return;
    enter(w, type);
    while (w->stack.count > 0 && !w->lines->mem->failed) {
        struct frame *const top = (struct frame *)w->stack.items + w->stack.count - 1;
        const uint32_t at = top->type;
        uint32_t part;
        if (type_part(w->lines->policy, at, top->next_part++, &part)) {
            meet(w, at, part);
        } else {
            w->stack.count--;
            leave(w, at, w->stack.count > 0 ? top[-1].type : 0);
        }
    }
}

/* Arguments and keywords are written in the grant itself, so what they hold begins the walk. */
static void walk_from_parts(struct walk *w, uint32_t type) {
    uint32_t part;
    for (uint32_t i = 0; type != 0 && type_part(w->lines->policy, type, i, &part); i++) walk_from(w, part);
}

static void walk_all(struct walk *w) {
    const struct upk_policy *const p = w->lines->policy;
    walk_from(w, p->root);
    for (uint32_t i = 1; i < p->form_count; i++) {
        const struct upk_form *const f = &p->forms[i];
        const uint32_t held[] = {f->state, f->items, f->pair_key, f->pair_value, f->adds, f->value};
        walk_from_parts(w, f->args);
        walk_from_parts(w, f->kw);
        for (size_t k = 0; k < sizeof held / sizeof *held; k++) walk_from(w, held[k]);
    }
    for (uint32_t i = 1; w->deciding && i < p->type_count; i++) {
        if (w->lines->notes[i].named) walk_from(w, i);
    }
}

static bool walk_types(struct type_lines *l, bool deciding) {
    struct walk w = {.lines = l, .deciding = deciding};
    array_init(&w.stack, l->mem, sizeof(struct frame));
    output_init(&w.scratch, l->mem);
    w.number = mem_alloc(l->mem, l->policy->type_count, sizeof *w.number);
    w.lowest = mem_alloc(l->mem, l->policy->type_count, sizeof *w.lowest);
    if (w.number && w.lowest) walk_all(&w);
    return !l->mem->failed;
}

/* ---- unions within unions ------------------------------------------------------------ */

/* Finds unions with a name by their first alternative. */
static void index_unions(struct type_lines *l) {
    const struct upk_policy *const p = l->policy;
    for (uint32_t i = p->type_count; i-- > 1;) {
        const struct upk_type *const t = &p->types[i];
        if (!l->notes[i].named || t->kind != UPK_TYPE_UNION || t->b == 0) continue;
        struct type_note *const first = &l->notes[p->alts[t->a]];
        l->notes[i].next_union = first->first_union;
        first->first_union = i;
    }
}

/* A union that was long with all its alternatives written out may be short with others within it by their names.
 * It nests no deeper than its few bytes can say. */
static void keep_short_unions(struct type_lines *l) {
    struct output scratch;
    output_init(&scratch, l->mem);
    for (uint32_t i = 1; i < l->policy->type_count; i++) {
        struct type_note *const note = &l->notes[i];
        if (!note->only_long || l->policy->types[i].kind != UPK_TYPE_UNION ||
            policy_name(l->policy, i).len != 0)
            continue;
        scratch.len = 0;
        type_put_meaning(l, &scratch, i);
        note->named = scratch.len > LONG_FROM;
    }
}

/* ---- names ------------------------------------------------------------ */

struct name_look {
    const struct type_lines *lines;
    struct text name;
};

static bool same_name(const void *context, uint32_t index) {
    const struct name_look *const look = context;
    return text_equal(look->lines->notes[index].name, look->name);
}

/* Gives the type this name, unless another one has it. */
static bool take_name(struct type_lines *l, struct intern *taken, uint32_t type, struct text name) {
    const struct name_look look = {l, name};
    const uint64_t hash = hash_bytes(0, name.at, name.len);
    uint32_t other;
    if (intern_find(taken, hash, same_name, &look, &other)) return false;
    l->notes[type].name = name;
    intern_add(taken, hash, type);
    return true;
}

/* The stem, what joins, and the first number from *number on that is free. */
static void take_numbered(struct type_lines *l, struct intern *taken, uint32_t type, struct text stem,
                          const char *joint, uint32_t *number) {
    bool done = false;
    while (!done && !l->mem->failed) {
        struct output name;
        output_init(&name, l->mem);
        output_bytes(&name, stem.at, stem.len);
        output_print(&name, "%s%" PRIu32, joint, (*number)++);
        done = take_name(l, taken, type, (struct text){name.bytes, name.len});
    }
}

struct line {
    struct text name;
    uint32_t type;
};

static int compare_lines(const void *a, const void *b) {
    return text_compare(((const struct line *)a)->name, ((const struct line *)b)->name);
}

/* The policy's own names first: no made one is to look like another type's. */
static void give_names(struct type_lines *l) {
    const struct upk_policy *const p = l->policy;
    struct intern taken;
    intern_init(&taken, l->mem);
    for (uint32_t i = 1; i < p->type_count; i++) {
        const struct text name = policy_name(p, i);
        if (l->notes[i].named && name.len != 0) (void)take_name(l, &taken, i, name);
    }
    uint32_t number = 1;
    for (uint32_t i = 1; i < p->type_count; i++) {
        const struct text stem = policy_name(p, i);
        uint32_t again = 2; /* files may each have a type of that name */
        if (!l->notes[i].named || l->notes[i].name.len != 0) continue;
        if (stem.len == 0)
            take_numbered(l, &taken, i, text_of("T"), "", &number);
        else
            take_numbered(l, &taken, i, stem, "_", &again);
    }
}

static bool sort_names(struct type_lines *l) {
    const uint32_t count = l->policy->type_count;
    struct line *const lines = mem_alloc(l->mem, count, sizeof *lines);
    l->named = mem_alloc(l->mem, count, sizeof *l->named);
    if (!lines || !l->named) return false;
    uint32_t n = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (l->notes[i].named) lines[n++] = (struct line){l->notes[i].name, i};
    }
    if (n != 0) qsort(lines, n, sizeof *lines, compare_lines);
    for (uint32_t i = 0; i < n; i++) l->named[i] = lines[i].type;
    l->named_count = n;
    return true;
}

bool type_lines_init(struct type_lines *l, const struct upk_policy *p, struct mem *m) {
    *l = (struct type_lines){.mem = m, .policy = p};
    l->notes = mem_alloc(m, p->type_count, sizeof *l->notes);
    l->stamps = mem_alloc(m, p->class_count, sizeof *l->stamps);
    if (!l->notes || !l->stamps || !walk_types(l, false) || !walk_types(l, true)) return false;
    index_unions(l);
    keep_short_unions(l);
    give_names(l);
    return sort_names(l) && !m->failed;
}

struct text type_name(const struct type_lines *l, uint32_t type) {
    return l->notes[type].name;
}
