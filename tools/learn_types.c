/* Shapes as types of the language.
 *
 * INVARIANT: the recursion is bounded by SHAPE_MOST_DEPTH: a shape that is tied to itself is written once, by name.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "../compiler/notation.h"
#include "learn.h"
#include "learn_bounds.h"

enum { OBJECTS_MOST = 6 }; /* classes that a union names where it stands */
static const char self[] = "\1";

/* ---- types with a name */

static const char *const words[LEARN_TYPE_WORDS] = {"Objects", "Nested"};

static bool is_taken(const struct learn_output *w, struct text name) {
    for (size_t i = 0; i < w->outer->type_count; i++) {
        if (text_equal(w->outer->types[i], name)) return true;
    }
    return false;
}

/* Objects, Objects2, Objects3 and on, but for those that people's types have. */
static struct text next_name(struct learn_output *w, enum learn_type_word word) {
    struct output name;
    do {
        const unsigned number = ++w->numbers[word];
        output_init(&name, w->out->mem);
        output_text(&name, words[word]);
        if (number > 1) output_print(&name, "%u", number);
    } while (!w->out->mem->failed && is_taken(w, (struct text){name.bytes, name.len}));
    return (struct text){name.bytes, name.len};
}

struct wanted {
    const struct learn_output *w;
    struct text meaning;
};

static bool means(const void *context, uint32_t index) {
    const struct wanted *const wanted = context;
    return text_equal(wanted->w->named[index].meaning, wanted->meaning);
}

/* The name of what has that meaning, which may be there already. */
static struct text name_for(struct learn_output *w, enum learn_type_word word, struct text meaning) {
    struct mem *const m = w->out->mem;
    const struct wanted wanted = {w, meaning};
    const uint64_t hash = hash_bytes(word, meaning.at, meaning.len);
    uint32_t index;
    if (intern_find(&w->meanings, hash, means, &wanted, &index)) return w->named[index].name;
    if (!w->meanings.mem) intern_init(&w->meanings, m);
    struct learn_named_type *const grown =
        mem_grow(m, w->named, w->named_count, &w->named_room, sizeof *grown);
    if (!grown) return text_of(words[word]);
    const struct text name = next_name(w, word);
    w->named = grown;
    grown[w->named_count] = (struct learn_named_type){name, meaning};
    intern_add(&w->meanings, hash, (uint32_t)w->named_count++);
    return name;
}

/* ---- unions in the making */

struct alternatives {
    struct learn_output *w;
    struct output *o;
    const struct shape *within; /* the tied shape whose meaning is written */
    size_t count;
    bool has_object;
};

static void put_any(struct learn_output *w, struct output *o, const struct shape *s,
                    const struct shape *within, bool atom);

static struct output *next(struct alternatives *a) {
    if (a->count++ != 0) output_text(a->o, " | ");
    return a->o;
}

static void put_part(struct alternatives *a, const struct shape *s) {
    put_any(a->w, a->o, s, a->within, false);
}

/* ---- names */

static void put_instance(struct alternatives *a, const struct learn_row *r) {
    const bool is_object = text_is(r->name.module, "builtins") && text_is(r->name.qualname, "object");
    if (is_object || (r->owner != LEARN_SHIPPED && learn_row_is_func(r))) {
        if (!a->has_object) output_text(next(a), "builtins::object"); /* what a function makes is not known */
        a->has_object = true;
    } else {
        learn_row_put(next(a), r);
    }
}

static void put_mention(struct alternatives *a, const struct learn_row *r) {
    if (!learn_row_is_const(r)) output_text(next(a), "ref ");
    learn_row_put(learn_row_is_const(r) ? next(a) : a->o, r);
}

static void put_each_name(struct alternatives *a, const struct shape *s, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (i < s->objects.count)
            put_instance(a, s->objects.items[i]);
        else
            put_mention(a, s->mentions.items[i - s->objects.count]);
    }
}

/* Many of them stand by themselves, so that types stay legible and what is the same is said once. */
static void put_names(struct alternatives *a, const struct shape *s) {
    const size_t count = s->objects.count + s->mentions.count;
    if (count > a->w->most_names) a->w->most_names = count;
    if (count <= OBJECTS_MOST) {
        put_each_name(a, s, 0, count);
        return;
    }
    struct output meaning;
    struct alternatives apart = {.w = a->w, .o = &meaning};
    for (size_t i = 0; i < count; i += LEARN_MOST_IN_UNION) {
        const size_t end = count - i > LEARN_MOST_IN_UNION ? i + LEARN_MOST_IN_UNION : count;
        output_init(&meaning, a->o->mem);
        apart.count = 0;
        put_each_name(&apart, s, i, end);
        if (apart.count == 0) continue; /* what functions make, which stands in another part */
        const struct text name =
            name_for(a->w, LEARN_TYPE_OBJECTS, (struct text){meaning.bytes, meaning.len});
        output_bytes(next(a), name.at, name.len);
    }
}

/* ---- containers */

static void put_around(struct alternatives *a, const struct shape *s, const char *word, enum shape_kind kind,
                       enum shape_part part) {
    output_print(next(a), "%s<", word);
    if (s->parts[part] != NULL)
        put_part(a, s->parts[part]);
    else
        output_text(a->o, "none");
    output_text(a->o, ">");
    bounds_put(a->o, BOUNDS_MEMBERS, s->steps[kind]);
}

static void put_key(struct output *o, struct text key) {
    if (memchr(key.at, '.', key.len) != NULL)
        notation_string(o, key);
    else
        notation_name(o, key);
}

static void put_record(struct learn_output *w, struct output *o, const struct shape *s,
                       const struct shape *within) {
    output_text(o, "{");
    for (size_t i = 0; i < s->field_count; i++) {
        const struct shape_field *const f = &s->fields[i];
        output_text(o, i == 0 ? " " : ", ");
        put_key(o, f->key);
        output_text(o, f->met < s->dicts ? "?: " : ": ");
        put_any(w, o, f->shape, within, false);
    }
    output_text(o, s->field_count != 0 ? " }" : "}");
}

static void put_dict(struct alternatives *a, const struct shape *s) {
    struct output *const o = next(a);
    if (!s->is_map || s->steps[SHAPE_DICT] == 0) {
        put_record(a->w, o, s, a->within);
        return;
    }
    output_text(o, "dict<");
    put_part(a, s->parts[PART_KEY]);
    output_text(o, ", ");
    put_part(a, s->parts[PART_VALUE]);
    output_text(o, ">");
    bounds_put(o, BOUNDS_MEMBERS, s->steps[SHAPE_DICT]);
}

static void put_tuple(struct alternatives *a, const struct shape *s) {
    output_text(next(a), "tuple<");
    if (s->parts[PART_REST] != NULL) {
        put_part(a, s->parts[PART_REST]);
        output_text(a->o, "...");
    }
    for (unsigned i = 0; i < s->most && s->parts[PART_REST] == NULL; i++) {
        if (i != 0) output_text(a->o, ", ");
        put_part(a, s->places[i]);
        if (i >= s->least) output_text(a->o, "?");
    }
    output_text(a->o, ">");
}

/* ---- any type */

static void put_sized(struct alternatives *a, const struct shape *s, const char *word, enum shape_kind kind) {
    output_text(next(a), word);
    bounds_put(a->o, kind == SHAPE_STR ? BOUNDS_CHARS : BOUNDS_BYTES, s->steps[kind]);
}

static void put_int(struct alternatives *a, const struct shape *s) {
    if (!s->as_mask || s->any_bits) {
        bounds_put_int(next(a), s->low, s->high);
        return;
    }
    output_text(next(a), "int mask ");
    notation_int(a->o, s->bits, false);
}

static void put_kind(struct alternatives *a, const struct shape *s, enum shape_kind kind) {
    switch (kind) {
    case SHAPE_NONE: output_text(next(a), "none"); break;
    case SHAPE_BOOL: output_text(next(a), "bool"); break;
    case SHAPE_INT: put_int(a, s); break;
    case SHAPE_FLOAT: output_text(next(a), "float"); break;
    case SHAPE_STR: put_sized(a, s, "str", kind); break;
    case SHAPE_BYTES: put_sized(a, s, "bytes", kind); break;
    case SHAPE_BYTEARRAY: put_sized(a, s, "bytearray", kind); break;
    case SHAPE_BUFFER: put_sized(a, s, "buffer", kind); break;
    case SHAPE_TUPLE: put_tuple(a, s); break;
    case SHAPE_LIST: put_around(a, s, "list", kind, PART_LIST); break;
    case SHAPE_SET: put_around(a, s, "set", kind, PART_SET); break;
    case SHAPE_FROZENSET: put_around(a, s, "frozenset", kind, PART_FROZENSET); break;
    case SHAPE_DICT: put_dict(a, s); break;
    case SHAPE_PERSID:
        output_text(next(a), "persid<");
        put_part(a, s->parts[PART_PERSID]);
        output_text(a->o, ">");
        break;
    }
}

static void put_meaning(struct alternatives *a, const struct shape *s) {
    static const enum shape_kind order[] = {
        SHAPE_NONE,   SHAPE_BOOL,  SHAPE_INT,  SHAPE_FLOAT, SHAPE_STR,       SHAPE_BYTES, SHAPE_BYTEARRAY,
        SHAPE_BUFFER, SHAPE_TUPLE, SHAPE_LIST, SHAPE_SET,   SHAPE_FROZENSET, SHAPE_DICT,  SHAPE_PERSID};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (s->kinds & 1u << order[i]) put_kind(a, s, order[i]);
    }
    put_names(a, s);
    if (a->count == 0) output_text(next(a), "none"); /* nothing was met there */
}

static void put_any(struct learn_output *w, struct output *o, const struct shape *s,
                    const struct shape *within, bool atom) {
    struct output text;
    output_init(&text, o->mem);
    struct alternatives a = {.w = w, .o = &text, .within = within};
    if (s == NULL) {
        output_text(o, "none");
    } else if (s == within) {
        output_text(o, self);
    } else if (s->tied) {
        a.within = s;
        put_meaning(&a, s);
        const struct text name = name_for(w, LEARN_TYPE_NESTED, (struct text){text.bytes, text.len});
        output_bytes(o, name.at, name.len);
    } else {
        put_meaning(&a, s);
        if (atom && a.count > 1) output_text(o, "(");
        output_bytes(o, text.bytes, text.len);
        if (atom && a.count > 1) output_text(o, ")");
    }
}

void learn_put_type(struct learn_output *w, struct output *o, const struct shape *s) {
    put_any(w, o, s, NULL, false);
}

void learn_put_atom(struct learn_output *w, struct output *o, const struct shape *s) {
    put_any(w, o, s, NULL, true);
}

void learn_put_record(struct learn_output *w, struct output *o, const struct shape *s) {
    if (s->is_map) { /* keywords, and too many */
        output_text(o, "{ *: ");
        put_any(w, o, s->parts[PART_VALUE], NULL, false);
        output_text(o, " }");
        return;
    }
    put_record(w, o, s, NULL);
}

void learn_put_arguments(struct learn_output *w, struct output *o, const struct shape *s) {
    output_text(o, "(");
    if (s != NULL && s->parts[PART_REST] != NULL) {
        output_text(o, "args: ");
        put_any(w, o, s->parts[PART_REST], NULL, false);
        output_text(o, "...");
    }
    for (unsigned i = 0; s != NULL && i < s->most && s->parts[PART_REST] == NULL; i++) {
        output_print(o, "%s%c%s: ", i == 0 ? "" : ", ", (char)('a' + (int)i), i >= s->least ? "?" : "");
        put_any(w, o, s->places[i], NULL, false);
    }
    output_text(o, ")");
}
