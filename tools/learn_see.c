/* What an accepted document holds, joined into the shapes of the places where it stands.
 *
 * The document is that of a policy which takes names as they come, so spellings of old protocols are undone and nothing of the
 * stream is interpreted here.  Values are walked with a stack of their own; a container that was seen at a place is not looked at
 * there again, so that shared and cyclic values cost what they hold, times the places where they stand: which is bounded.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../compiler/intern.h"
#include "../compiler/unicode.h"
#include "learn.h"
#include "learn_bounds.h"

struct pair {
    struct upk_value value;
    struct shape *shape;
};

struct standing {
    uintptr_t identity;
    const struct shape *shape;
};

struct walk {
    struct learn *learn;
    const struct upk_policy *policy;
    const struct upk_doc *doc;
    struct learn_row **by_row; /* by row id; NULL: not asked for yet */
    struct pair *stack;
    size_t count, room;
    struct standing *seen; /* open hash table */
    size_t seen_count, seen_room;
    uint64_t named;        /* objects and names, wherever they stand */
    uint64_t looks, limit; /* at values; how many there may be */
    bool failed;           /* no memory, or more looks than that */
};

/* ---- the stack, and what was on it */

static void push(struct walk *w, struct upk_value v, struct shape *shape) {
    if (!shape || w->failed) {
        w->failed = w->failed || !shape;
        return;
    }
    if (w->count == w->room) {
        const size_t room = w->room ? 2 * w->room : 1024;
        struct pair *const grown =
            room <= SIZE_MAX / sizeof *grown / 2 ? realloc(w->stack, room * sizeof *grown) : NULL;
        if (!grown) {
            w->failed = true;
            return;
        }
        w->stack = grown;
        w->room = room;
    }
    w->stack[w->count++] = (struct pair){v, shape};
}

static struct standing *find_place(struct standing *places, size_t room, struct standing p) {
    const uintptr_t key[2] = {p.identity, (uintptr_t)p.shape};
    size_t i = (size_t)hash_bytes(1, key, sizeof key) & (room - 1);
    while (places[i].identity && (places[i].identity != p.identity || places[i].shape != p.shape))
        i = (i + 1) & (room - 1);
    return &places[i];
}

static bool grow_places(struct walk *w) {
    const size_t room = w->seen_room ? 2 * w->seen_room : 1024;
    struct standing *const grown = calloc(room, sizeof *grown);
    if (!grown) return false;
    for (size_t i = 0; i < w->seen_room; i++) {
        if (w->seen[i].identity) *find_place(grown, room, w->seen[i]) = w->seen[i];
    }
    free(w->seen);
    w->seen = grown;
    w->seen_room = room;
    return true;
}

/* Is it the first time that this container stands at this place? */
static bool is_new(struct walk *w, struct upk_value v, const struct shape *shape) {
    const struct standing p = {upk_identity(v), shape};
    if (!p.identity) return true;
    if (2 * w->seen_count >= w->seen_room && !grow_places(w)) {
        w->failed = true;
        return false;
    }
    struct standing *const at = find_place(w->seen, w->seen_room, p);
    if (at->identity) return false;
    *at = p;
    w->seen_count++;
    return true;
}

/* ---- names */

static struct learn_row *row_named(struct walk *w, struct upk_text module, struct upk_text qualname) {
    const struct model_name name = {policy_text(w->policy, module), policy_text(w->policy, qualname)};
    struct learn_row *const row = learn_row_get(&w->learn->rows, name);
    w->failed = w->failed || !row;
    return row;
}

/* A fragment in use has names that came to light in no other way: those that getattr puts together. */
static struct learn_row *row_of(struct walk *w, uint32_t id) {
    const struct upk_row *const row = &w->policy->rows[id];
    struct learn_row *const named = w->by_row[id] ? w->by_row[id] : row_named(w, row->module, row->qualname);
    if (named && !w->by_row[id] && named->owner == LEARN_OWN && !named->granted &&
        learn_is_shipped(w->policy, row)) {
        named->owner = LEARN_SHIPPED;
        named->shipped = row->flags;
    }
    if (named) named->met = true;
    return w->by_row[id] = named;
}

static void add_class(struct walk *w, struct shape *s, const struct upk_form *form) {
    const struct upk_class *const c = &w->policy->classes[form->result];
    struct learn_row *const row = row_named(w, c->module, c->qualname);
    if (!row) return;
    if (row->owner == LEARN_OWN && !row->granted) row->owner = LEARN_CLASS;
    shape_name(&w->learn->mem, &s->objects, row);
}

/* An instance of what any alternative of that row which is no mention has for its result. */
static void see_object(struct walk *w, struct upk_value v, struct shape *s) {
    const struct upk_row *const row = &w->policy->rows[upk_object_row(v)];
    for (uint32_t i = 0; i < row->form_count; i++) {
        const struct upk_form *const form = &w->policy->forms[row->first_form + i];
        if (form->verb != UPK_VERB_REF) add_class(w, s, form);
    }
}

static void see_name(struct walk *w, struct upk_value v, struct shape *s) {
    const uint32_t id = upk_global_row(v);
    const struct upk_row *const row = &w->policy->rows[id];
    struct learn_row *const named = row_of(w, id);
    if (!named) return;
    named->mentions++;
    if (named->owner == LEARN_SHIPPED && row->flags & UPK_ROW_CONST)
        add_class(w, s, &w->policy->forms[row->first_form]);
    else
        shape_name(&w->learn->mem, &s->mentions, named);
}

/* ---- values */

static void see_members(struct walk *w, struct upk_value v, struct shape *s, enum shape_kind kind,
                        enum shape_part part) {
    const size_t n = upk_len(v);
    struct upk_value member;
    shape_length(s, kind, n);
    for (size_t i = 0; i < n && upk_at(v, i, &member); i++)
        push(w, member, shape_part(&w->learn->mem, s, part));
}

static void see_tuple(struct walk *w, struct upk_value v, struct shape *s) {
    const size_t n = upk_len(v);
    struct upk_value member;
    shape_tuple(&w->learn->mem, s, n);
    for (size_t i = 0; i < n && upk_at(v, i, &member); i++)
        push(w, member, shape_place(&w->learn->mem, s, i));
}

static bool text_key(struct upk_value v, struct text *key) {
    const char *at;
    size_t len;
    if (!upk_get_str(v, &at, &len)) return false;
    *key = (struct text){at, len};
    return true;
}

static void see_pairs(struct walk *w, struct upk_value v, struct shape *s) {
    struct mem *const m = &w->learn->mem;
    const size_t n = upk_pair_len(v);
    struct upk_value key, value;
    struct text name;
    shape_dict(s);
    shape_length(s, SHAPE_DICT, n);
    bool only_text = n <= SHAPE_MOST_FIELDS;
    for (size_t i = 0; i < n && only_text && upk_pair_at(v, i, &key, &value); i++)
        only_text = text_key(key, &name);
    if (!only_text) shape_make_map(m, s);
    for (size_t i = 0; i < n && upk_pair_at(v, i, &key, &value); i++) {
        struct shape *field = !s->is_map && text_key(key, &name) ? shape_field_of(m, s, name, 1) : NULL;
        if (!field) {
            shape_make_map(m, s);
            push(w, key, shape_part(m, s, PART_KEY));
            field = shape_part(m, s, PART_VALUE);
        }
        push(w, value, field);
    }
}

static void see_bytes(struct upk_value v, struct shape *s, enum shape_kind kind) {
    const uint8_t *bytes;
    size_t len;
    if (upk_get_bytes(v, &bytes, &len)) shape_length(s, kind, len);
}

static void see_text(struct upk_value v, struct shape *s) {
    const char *text;
    size_t len;
    if (upk_get_str(v, &text, &len))
        shape_length(s, SHAPE_STR, utf8_length(text, len));
    else
        see_bytes(v, s, SHAPE_BYTES); /* Python 2's str, and no ASCII */
}

static void see_int(struct upk_value v, struct shape *s) {
    uint8_t scratch[8];
    const uint8_t *bytes;
    size_t len;
    if (!upk_get_bigint(v, scratch, &bytes, &len)) return;
    const unsigned step = bounds_int_step(bytes, len);
    uint64_t word[2];
    if (bytes[len - 1] & 0x80 || !bounds_int_words(bytes, len, word)) {
        s->any_bits = true;
    } else {
        s->bits[0] |= word[0];
        s->bits[1] |= word[1];
    }
    uint8_t *const side = bytes[len - 1] & 0x80 ? &s->low : &s->high;
    if (step > *side) *side = (uint8_t)step;
    shape_kind_add(s, SHAPE_INT);
}

static void see_buffer(struct walk *w, struct upk_value v, struct shape *s) {
    size_t index, len;
    const uint8_t *bytes;
    bool readonly;
    if (upk_get_buffer(v, &index, &readonly) && upk_doc_buffer(w->doc, index, &bytes, &len))
        shape_length(s, SHAPE_BUFFER, len);
}

static void see_value(struct walk *w, struct upk_value v, struct shape *s) {
    struct upk_value id;
    const enum upk_kind kind = upk_kind(v);
    w->named += kind == UPK_GLOBAL || kind == UPK_OBJECT;
    if (kind >= UPK_BYTEARRAY && !is_new(w, v, s)) return;
    switch (kind) {
    case UPK_NONE: shape_kind_add(s, SHAPE_NONE); break;
    case UPK_BOOL: shape_kind_add(s, SHAPE_BOOL); break;
    case UPK_INT:
    case UPK_BIGINT: see_int(v, s); break;
    case UPK_FLOAT: shape_kind_add(s, SHAPE_FLOAT); break;
    case UPK_STR:
    case UPK_STR8: see_text(v, s); break;
    case UPK_BYTES: see_bytes(v, s, SHAPE_BYTES); break;
    case UPK_BYTEARRAY: see_bytes(v, s, SHAPE_BYTEARRAY); break;
    case UPK_BUFFER: see_buffer(w, v, s); break;
    case UPK_GLOBAL: see_name(w, v, s); break;
    case UPK_PERSID:
        shape_kind_add(s, SHAPE_PERSID);
        if (upk_get_persid(v, &id)) push(w, id, shape_part(&w->learn->mem, s, PART_PERSID));
        break;
    case UPK_TUPLE: see_tuple(w, v, s); break;
    case UPK_LIST: see_members(w, v, s, SHAPE_LIST, PART_LIST); break;
    case UPK_SET: see_members(w, v, s, SHAPE_SET, PART_SET); break;
    case UPK_FROZENSET: see_members(w, v, s, SHAPE_FROZENSET, PART_FROZENSET); break;
    case UPK_DICT: see_pairs(w, v, s); break;
    case UPK_OBJECT: see_object(w, v, s); break;
    case UPK_INVALID:
    case UPK_EXT: break; /* in no document of a policy */
    }
}

static void see_all(struct walk *w, struct upk_value v, struct shape *s) {
    push(w, v, s);
    while (w->count != 0 && !w->failed) {
        w->failed = ++w->looks > w->limit;
        const struct pair top = w->stack[--w->count];
        see_value(w, top.value, top.shape);
    }
}

/* ---- objects: each by itself, whatever holds it */

static struct shape *shape_at(struct walk *w, struct shape **at) {
    if (!*at) *at = shape_new(&w->learn->mem);
    w->failed = w->failed || !*at;
    return *at;
}

static void see_record(struct walk *w, struct upk_value v, struct shape **at) {
    struct shape *const s = shape_at(w, at);
    if (!s) return;
    struct upk_value part;
    if (upk_is(v, UPK_DICT)) s->is_record = true;
    /* Of `__slots__` the state is a pair of two. */
    for (size_t i = 0; upk_is(v, UPK_TUPLE) && upk_len(v) == 2 && upk_at(v, i, &part); i++) {
        shape_tuple(&w->learn->mem, s, 2);
        struct shape *const place = shape_place(&w->learn->mem, s, i);
        if (place && upk_is(part, UPK_DICT)) place->is_record = true;
    }
    see_all(w, v, s);
}

static void see_each(struct walk *w, struct upk_value v, struct shape **at) {
    struct shape *const s = shape_at(w, at);
    const size_t n = upk_len(v);
    struct upk_value member;
    for (size_t i = 0; s && i < n && upk_at(v, i, &member); i++) see_all(w, member, s);
}

static void see_steps(struct walk *w, struct upk_value v, unsigned steps, struct learn_form *f) {
    struct upk_value key, value;
    if (steps & UPK_STEP_ITEMS)
        see_each(w, v, &f->items);
    else if (steps & UPK_STEP_ADDS)
        see_each(w, v, &f->adds);
    if (!(steps & UPK_STEP_PAIRS)) return;
    struct shape *const keys = shape_at(w, &f->key), *const values = shape_at(w, &f->value);
    const size_t n = upk_pair_len(v);
    for (size_t i = 0; keys && values && i < n && upk_pair_at(v, i, &key, &value); i++) {
        see_all(w, key, keys);
        see_all(w, value, values);
    }
}

static void see_made(struct walk *w, struct upk_value v, struct learn_row *row) {
    struct upk_value args, kw, state;
    unsigned verb = 0, steps = 0;
    if (!upk_object_how(v, &verb, &steps) || !upk_object_args(v, &args)) return;
    const bool has_kw = upk_object_kwargs(v, &kw) && upk_pair_len(kw) != 0;
    struct learn_form *const f = learn_row_form(row, verb, has_kw);
    row->seen++;
    f->seen++;
    see_all(w, args, shape_at(w, &f->args));
    if (has_kw) see_record(w, kw, &f->kw);
    if (upk_object_state(v, &state))
        see_record(w, state, &f->state);
    else
        f->no_state = true;
    see_steps(w, v, steps, f);
}

/* Of shipped rows: what is in their objects only counts for the names in it. */
static void see_shipped(struct walk *w, struct upk_value v) {
    struct upk_value part, key;
    struct shape *const s = w->learn->elsewhere;
    if (upk_object_args(v, &part)) see_all(w, part, s);
    if (upk_object_kwargs(v, &part)) see_all(w, part, s);
    if (upk_object_state(v, &part)) see_all(w, part, s);
    for (size_t i = 0; upk_at(v, i, &part); i++) see_all(w, part, s);
    for (size_t i = 0; upk_pair_at(v, i, &key, &part); i++) {
        see_all(w, key, s);
        see_all(w, part, s);
    }
}

bool learn_see(struct learn *l, const struct upk_policy *p, const struct upk_doc *doc, uint64_t most,
               bool *too_much) {
    struct walk w = {.learn = l, .policy = p, .doc = doc, .limit = most};
    w.by_row = calloc(p->row_count, sizeof *w.by_row);
    w.failed = !w.by_row || !l->root || !l->elsewhere;
    struct upk_value v = {.kind = UPK_INVALID};
    while (!w.failed && upk_next_object(doc, &v)) {
        struct learn_row *const row = row_of(&w, upk_object_row(v));
        if (row && row->owner == LEARN_SHIPPED)
            see_shipped(&w, v);
        else if (row)
            see_made(&w, v, row);
    }
    if (!w.failed) see_all(&w, upk_doc_root(doc), l->root);
    if (w.named > l->settings.named) l->settings.named = w.named;
    free(w.by_row);
    free(w.stack);
    free(w.seen);
    *too_much = w.looks > w.limit;
    return (!w.failed || *too_much) && !l->mem.failed;
}
