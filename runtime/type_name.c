/* Types as a policy writes them, and values in a word, for messages.
 *
 * Layer: runtime, part of matching (match.h).
 */
#include <inttypes.h>
#include <string.h>

#include "match.h"

enum {
    NEST_MOST = 4, /* types within types; recursive types have no end */
    LIST_MOST = 6, /* alternatives, elements, fields */
    TEXT_ROOM = 40,
    SHORT_MOST = 61 /* bytes, with the NUL, of a type that is better read than its name */
};

/* ---- parts of a type */

static void add_range(struct text *t, const struct upk_type *type) {
    if (type->lo == 0 && type->hi == UINT64_MAX) return;
    if (type->lo == type->hi)
        text_add(t, "[%" PRIu64 "]", type->lo);
    else if (type->lo == 0)
        text_add(t, "[..%" PRIu64 "]", type->hi);
    else if (type->hi == UINT64_MAX)
        text_add(t, "[%" PRIu64 "..]", type->lo);
    else
        text_add(t, "[%" PRIu64 "..%" PRIu64 "]", type->lo, type->hi);
}

static void add_number(struct text *t, const uint64_t words[2], bool negative) {
    /* Base 10^9 over 32-bit digits; bit 128 is the sign's, so -2^128 needs a fifth. */
    uint32_t digits[5];
    uint64_t carry = negative;
    for (int i = 0; i < 4; i++) {
        uint64_t w = words[i / 2] >> 32 * (i % 2) & UINT32_MAX;
        w = (negative ? ~w & UINT32_MAX : w) + carry;
        digits[i] = (uint32_t)w;
        carry = w >> 32;
    }
    digits[4] = (uint32_t)carry;
    uint32_t groups[5];
    unsigned count = 0;
    do {
        uint64_t rest = 0;
        for (int i = 5; i-- > 0;) {
            rest = rest << 32 | digits[i];
            digits[i] = (uint32_t)(rest / 1000000000);
            rest %= 1000000000;
        }
        groups[count++] = (uint32_t)rest;
    } while (count < 5 && (digits[0] | digits[1] | digits[2] | digits[3] | digits[4]));
    text_add(t, "%s%" PRIu32, negative ? "-" : "", groups[count - 1]);
    for (unsigned i = count - 1; i-- > 0;) text_add(t, "%09" PRIu32, groups[i]);
}

static void add_int(struct text *t, const struct upk_policy *p, const struct upk_type *type) {
    text_add(t, "int");
    if (type->a) {
        const struct upk_bound *b = &p->bounds[type->a];
        bool same =
            !b->open && memcmp(b->lo, b->hi, sizeof b->lo) == 0 && (b->negative == 0 || b->negative == 3);
        text_add(t, "[");
        if (!(b->open & 1)) add_number(t, b->lo, b->negative & 1);
        if (!same) {
            text_add(t, "..");
            if (!(b->open & 2)) add_number(t, b->hi, (b->negative & 2) != 0);
        }
        text_add(t, "]");
    }
    if (type->b) {
        text_add(t, " mask ");
        add_number(t, p->bounds[type->b - 1].lo, false);
    }
}

static void add_code_point(struct text *t, uint32_t c) {
    if (c == '"' || c == '\\')
        text_add(t, "\\%c", (char)c);
    else if (c >= 0x20 && c < 0x7f)
        text_add(t, "%c", (char)c);
    else
        text_add(t, "\\u{%" PRIX32 "}", c);
}

static void add_charset(struct text *t, const struct upk_policy *p, const struct upk_charset *set) {
    bool dash = false; /* the character itself stands last */
    text_add(t, " chars \"");
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t lo = p->ranges[set->first + i].lo, hi = p->ranges[set->first + i].hi;
        if (lo == '-') {
            dash = true;
            if (hi == lo++) continue;
        }
        if (hi == '-' && hi == lo + 1) {
            dash = true;
            hi = lo;
        }
        add_code_point(t, lo);
        if (hi > lo + 1) text_add(t, "-");
        if (hi > lo) add_code_point(t, hi);
    }
    text_add(t, dash ? "-\"" : "\"");
}

static void add_quoted(struct text *t, const char *prefix, const uint8_t *p, size_t n) {
    char copy[TEXT_ROOM];
    error_copy(copy, sizeof copy, p, n);
    text_add(t, "%s\"%s\"", prefix, copy);
}

static void add_class(struct text *t, const struct upk_policy *p, struct upk_text module,
                      struct upk_text qualname) {
    char copy[2][TEXT_ROOM];
    error_copy(copy[0], TEXT_ROOM, (const uint8_t *)p->pool + module.at, module.len);
    error_copy(copy[1], TEXT_ROOM, (const uint8_t *)p->pool + qualname.at, qualname.len);
    text_add(t, "%s::%s", copy[0], copy[1]);
}

/* What a GLOBAL says, or what made an OBJECT. */
static void add_name_of(struct text *t, const struct upk_policy *p, const struct upk_cell *c) {
    const struct upk_compat n = cell_name(p, c);
    char copy[2][TEXT_ROOM];
    error_copy(copy[0], TEXT_ROOM, n.module, n.module_len);
    error_copy(copy[1], TEXT_ROOM, n.name, n.name_len);
    text_add(t, "%s::%s", copy[0], copy[1]);
}

/* ---- types; the recursion ends at NEST_MOST */

static void add_type(struct text *t, const struct upk_policy *p, uint32_t index, unsigned nest);

static void add_name(struct text *t, const struct upk_policy *p, const struct upk_type *type) {
    char copy[TEXT_ROOM];
    error_copy(copy, sizeof copy, (const uint8_t *)p->pool + type->name.at, type->name.len);
    text_add(t, "%s", copy);
}

/* A type within another one: by its name, where it has one. */
static void add_part(struct text *t, const struct upk_policy *p, uint32_t index, unsigned nest) {
    if (p->types[index].name.len)
        add_name(t, p, &p->types[index]);
    else
        add_type(t, p, index, nest);
}

static void add_tuple(struct text *t, const struct upk_policy *p, const struct upk_type *type,
                      unsigned nest) {
    uint32_t repeats = type->c >> 24 ? 1 : 0, fixed = type->b - repeats,
             required = fixed - (type->c & 0xffffff);
    bool places = type->kind == UPK_TYPE_PLACES;
    text_add(t, places ? "list<" : "tuple<");
    for (uint32_t i = 0; i < type->b; i++) {
        if (i == LIST_MOST) {
            text_add(t, ", ...");
            break;
        }
        text_add(t, i ? ", " : "");
        add_part(t, p, p->elems[type->a + i].type, nest);
        text_add(t, i >= fixed ? "..." : i >= required ? "?" : "");
    }
    text_add(t, ">");
    if (places && type->b == 1 && required == 1)
        text_add(t, "[1]"); /* else it would read as a list of any length */
    else
        add_range(t, type);
}

static void add_record(struct text *t, const struct upk_policy *p, const struct upk_type *type,
                       unsigned nest) {
    text_add(t, "{");
    for (uint32_t i = 0; i < type->b; i++) {
        if (i == LIST_MOST) {
            text_add(t, ", ...");
            break;
        }
        const struct upk_field *f = &p->fields[type->a + i];
        char key[TEXT_ROOM];
        error_copy(key, sizeof key, (const uint8_t *)p->pool + f->key.at, f->key.len);
        text_add(t, "%s%s%s: ", i ? ", " : " ", key, f->optional ? "?" : "");
        add_part(t, p, f->type, nest);
    }
    if (type->c) {
        text_add(t, type->b ? ", *: " : " *: ");
        add_part(t, p, type->c, nest);
    }
    text_add(t, " }");
}

static void add_alternatives(struct text *t, const struct upk_policy *p, const struct upk_type *type,
                             unsigned nest) {
    for (uint32_t i = 0; i < type->b; i++) {
        if (i == LIST_MOST) {
            text_add(t, " | ...");
            break;
        }
        text_add(t, i ? " | " : "");
        add_part(t, p, p->alts[type->a + i], nest);
    }
}

static void add_around(struct text *t, const struct upk_policy *p, const char *word,
                       const struct upk_type *type, unsigned nest) {
    text_add(t, "%s<", word);
    add_part(t, p, type->a, nest);
    if (type->kind == UPK_TYPE_DICT) {
        text_add(t, ", ");
        add_part(t, p, type->b, nest);
    }
    text_add(t, ">");
    add_range(t, type);
}

static void add_str(struct text *t, const struct upk_policy *p, const struct upk_type *type) {
    text_add(t, type->kind == UPK_TYPE_STR ? "str" : "text");
    add_range(t, type);
    if (type->a) add_charset(t, p, &p->charsets[type->a]);
}

static void add_instance(struct text *t, const struct upk_policy *p, const struct upk_type *type) {
    for (uint32_t i = 0; i < type->b; i++) {
        if (i == LIST_MOST) {
            text_add(t, " | ...");
            break;
        }
        const struct upk_class *c = &p->classes[p->alts[type->a + i]];
        text_add(t, i ? " | " : "");
        add_class(t, p, c->module, c->qualname);
    }
}

static void add_type(struct text *t, const struct upk_policy *p, uint32_t index, unsigned nest) {
    const struct upk_type *type = &p->types[index];
    if (nest++ == NEST_MOST) {
        text_add(t, "...");
        return;
    }
    const uint8_t *literal = (const uint8_t *)p->pool + type->a;
    switch ((enum upk_type_kind)type->kind) {
    case UPK_TYPE_NEVER:
    case UPK_TYPE_COUNT: text_add(t, "nothing"); break;
    case UPK_TYPE_ANY: text_add(t, "any"); break;
    case UPK_TYPE_NONE: text_add(t, "none"); break;
    case UPK_TYPE_BOOL: text_add(t, "bool"); break;
    case UPK_TYPE_TRUE: text_add(t, "true"); break;
    case UPK_TYPE_FALSE: text_add(t, "false"); break;
    case UPK_TYPE_INT: add_int(t, p, type); break;
    case UPK_TYPE_FLOAT: text_add(t, "float"); break;
    case UPK_TYPE_FINITE: text_add(t, "finite"); break;
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT: add_str(t, p, type); break;
    case UPK_TYPE_BYTES:
        text_add(t, "bytes");
        add_range(t, type);
        break;
    case UPK_TYPE_BYTEARRAY:
        text_add(t, "bytearray");
        add_range(t, type);
        break;
    case UPK_TYPE_BUFFER:
        text_add(t, "buffer");
        add_range(t, type);
        break;
    case UPK_TYPE_INT_IS: add_number(t, p->bounds[type->a].lo, p->bounds[type->a].negative & 1); break;
    case UPK_TYPE_STR_IS: add_quoted(t, "", literal, type->b); break;
    case UPK_TYPE_BYTES_IS: add_quoted(t, "b", literal, type->b); break;
    case UPK_TYPE_LIST: add_around(t, p, "list", type, nest); break;
    case UPK_TYPE_SET: add_around(t, p, "set", type, nest); break;
    case UPK_TYPE_FROZENSET: add_around(t, p, "frozenset", type, nest); break;
    case UPK_TYPE_DICT: add_around(t, p, "dict", type, nest); break;
    case UPK_TYPE_PERSID: add_around(t, p, "persid", type, nest); break;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: add_tuple(t, p, type, nest); break;
    case UPK_TYPE_RECORD: add_record(t, p, type, nest); break;
    case UPK_TYPE_UNION: add_alternatives(t, p, type, nest - 1); break;
    case UPK_TYPE_OBJECT:
        add_class(t, p, p->classes[type->a].module, p->classes[type->a].qualname);
        add_range(t, type);
        break;
    case UPK_TYPE_INSTANCE: add_instance(t, p, type); break;
    case UPK_TYPE_REF:
        text_add(t, "ref ");
        add_class(t, p, p->rows[type->a].module, p->rows[type->a].qualname);
        break;
    }
}

/* A type that the policy names is written out where that is short. */
bool text_add_type(struct text *t, const struct upk_policy *p, uint32_t type) {
    char room[SHORT_MOST];
    struct text full = text_in(room, sizeof room);
    if (p->types[type].name.len) add_type(&full, p, type, 0);
    const bool fits = full.len < sizeof room;
    if (fits)
        add_type(t, p, type, 0);
    else
        add_name(t, p, &p->types[type]);
    return fits;
}

/* ---- values */

static void add_str_value(struct text *t, const char *word, struct upk_value v) {
    if (v.len < TEXT_ROOM / 2)
        add_quoted(t, word, v.as.bytes, v.len);
    else
        text_add(t, "%sof %zu", word, utf8_count(v.as.bytes, v.len));
}

/* By its class, where all that it may have been made by agrees on one; else by the row. */
static void add_object(struct text *t, const struct upk_policy *p, const struct upk_cell *c) {
    const struct upk_row *row = &p->rows[c->len];
    uint32_t class = c->cap ? p->forms[c->cap].result : 0;
    for (uint32_t i = 0; !c->cap && i < row->form_count; i++) {
        const uint32_t other = p->forms[row->first_form + i].result;
        if (i > 0 && other != class) {
            class = 0;
            break;
        }
        class = other;
    }
    text_add(t, "object of ");
    if (class)
        add_class(t, p, p->classes[class].module, p->classes[class].qualname);
    else
        add_name_of(t, p, c);
}

void text_add_value(struct text *t, const struct upk_policy *p, struct upk_value v) {
    v = value_resolve(v);
    switch ((enum upk_kind)v.kind) {
    case UPK_INVALID: text_add(t, "nothing"); break;
    case UPK_NONE: text_add(t, "none"); break;
    case UPK_BOOL: text_add(t, v.as.i ? "true" : "false"); break;
    case UPK_INT: text_add(t, "int %" PRId64, v.as.i); break;
    case UPK_BIGINT: text_add(t, "int of %" PRIu32 " bytes", v.len); break;
    case UPK_FLOAT: text_add(t, "float"); break;
    case UPK_STR: add_str_value(t, "str ", v); break;
    case UPK_STR8: text_add(t, "Python 2 str of %" PRIu32, v.len); break;
    case UPK_BYTES: text_add(t, "bytes of %" PRIu32, v.len); break;
    case UPK_BUFFER: text_add(t, "buffer"); break;
    case UPK_EXT: text_add(t, "extension code"); break;
    case UPK_BYTEARRAY: text_add(t, "bytearray of %" PRIu32, v.as.cell->len); break;
    case UPK_PERSID: text_add(t, "persistent id"); break;
    case UPK_TUPLE: text_add(t, "tuple of %" PRIu32, v.as.cell->len); break;
    case UPK_FROZENSET: text_add(t, "frozenset of %" PRIu32, v.as.cell->len); break;
    case UPK_LIST: text_add(t, "list of %" PRIu32, v.as.cell->len); break;
    case UPK_DICT: text_add(t, "dict of %" PRIu32, v.as.cell->len / 2); break;
    case UPK_SET: text_add(t, "set of %" PRIu32, v.as.cell->len); break;
    case UPK_GLOBAL:
        text_add(t, "the name ");
        add_name_of(t, p, v.as.cell);
        break;
    case UPK_OBJECT: add_object(t, p, v.as.cell); break;
    }
}
