/* Names that were met.  Layer: see learn_row.h. */
#include "learn_row.h"

#include <string.h>

#include "../compiler/notation.h"

/* Where it stands, or would stand. */
static bool find(const struct learn_rows *rows, struct model_name name, size_t *at) {
    size_t low = 0, high = rows->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = name_compare(rows->items[middle]->name, name);
        *at = middle;
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return false;
}

struct learn_row *learn_row_find(const struct learn_rows *rows, struct model_name name) {
    size_t at;
    return find(rows, name, &at) ? rows->items[at] : NULL;
}

struct learn_row *learn_row_get(struct learn_rows *rows, struct model_name name) {
    size_t at;
    if (find(rows, name, &at)) return rows->items[at];
    struct learn_row **grown =
        mem_grow(rows->mem, rows->items, rows->count, &rows->room, sizeof(struct learn_row *));
    struct learn_row *const row = mem_alloc(rows->mem, 1, sizeof *row);
    if (grown == NULL || row == NULL) return NULL;
    rows->items = grown;
    if (!mem_text(rows->mem, name.module.at, name.module.len, &row->name.module) ||
        !mem_text(rows->mem, name.qualname.at, name.qualname.len, &row->name.qualname))
        return NULL;
    memmove(&grown[at + 1], &grown[at], (rows->count - at) * sizeof(struct learn_row *));
    grown[at] = row;
    rows->count++;
    return row;
}

struct learn_form *learn_row_form(struct learn_row *r, unsigned verb, bool has_kw) {
    return &r->forms[verb != UPK_VERB_NEW ? LEARN_CALL : has_kw ? LEARN_NEW_KW : LEARN_NEW];
}

bool learn_row_is_mentioned(const struct learn_row *r) {
    return (r->mentions && !(r->shipped & UPK_ROW_REF)) || r->former_ref;
}

bool learn_row_is_made(const struct learn_row *r) {
    for (int i = 0; i < LEARN_FORMS; i++) {
        if (r->forms[i].seen != 0 || r->forms[i].known) return true;
    }
    return false;
}

static struct text last_part(struct text name) {
    size_t at = name.len;
    while (at > 0 && name.at[at - 1] != '.') at--;
    return (struct text){name.at + at, name.len - at};
}

/* By its name, as far as a name can say that: classes begin with a capital. */
static bool looks_like_class(struct text name) {
    struct text last = last_part(name);
    while (last.len != 0 && last.at[0] == '_') {
        last.at++;
        last.len--;
    }
    return last.len != 0 && last.at[0] >= 'A' && last.at[0] <= 'Z';
}

static bool has_small_letter(struct text name) {
    for (size_t i = 0; i < name.len; i++) {
        if (name.at[i] >= 'a' && name.at[i] <= 'z') return true;
    }
    return false;
}

bool learn_row_is_const(const struct learn_row *r) {
    if (r->owner == LEARN_SHIPPED) return (r->shipped & UPK_ROW_CONST) != 0;
    if (learn_row_is_made(r) || r->is_special_type || r->former_ref) return false;
    if (r->former_const) return true;
    /* What nobody calls: RED, Mode.FAST and Mode.fast are data, Outer.Inner and int32 are not. */
    const struct text last = last_part(r->name.qualname);
    const bool nested = last.len < r->name.qualname.len;
    return has_small_letter(last) ? nested && !looks_like_class(r->name.qualname) : last.len > 1 || nested;
}

/* Is there a const whose name is this one, a dot and a word?  Names that begin so stand together. */
static bool has_members(const struct learn_rows *rows, const struct learn_row *r) {
    const struct text class = r->name.qualname;
    struct output first;
    size_t at;
    output_init(&first, rows->mem);
    output_bytes(&first, class.at, class.len);
    output_text(&first, ".");
    if (rows->mem->failed) return false;
    (void)find(rows, (struct model_name){r->name.module, {first.bytes, first.len}}, &at);
    for (; at < rows->count; at++) {
        const struct model_name name = rows->items[at]->name;
        if (!text_equal(name.module, r->name.module) || name.qualname.len <= first.len ||
            memcmp(name.qualname.at, first.bytes, first.len) != 0)
            return false;
        if (class.len + 1 + last_part(name.qualname).len == name.qualname.len &&
            learn_row_is_const(rows->items[at]))
            return true;
    }
    return false;
}

struct shape *learn_row_member_value(const struct learn_rows *rows, const struct learn_row *r) {
    const struct learn_form *const f = &r->forms[LEARN_CALL];
    const struct shape *const args = f->args;
    for (int i = 0; i < LEARN_FORMS; i++) {
        if (i != LEARN_CALL && (r->forms[i].seen || r->forms[i].known)) return NULL;
    }
    const bool one =
        args && args->least == 1 && args->most == 1 && !args->parts[PART_REST] && args->places[0];
    if (!one || f->state || f->items || f->key || f->adds || r->owner != LEARN_OWN) return NULL;
    return has_members(rows, r) ? args->places[0] : NULL;
}

/* A function has no other form, and cannot be mentioned as well. */
bool learn_row_is_func(const struct learn_row *r) {
    const bool only_call = !r->forms[LEARN_NEW].seen && !r->forms[LEARN_NEW].known &&
                           !r->forms[LEARN_NEW_KW].seen && !r->forms[LEARN_NEW_KW].known &&
                           learn_row_is_made(r);
    return only_call && !r->mentions && !r->former_ref && !looks_like_class(r->name.qualname);
}

void learn_row_put(struct output *o, const struct learn_row *r) {
    notation_name(o, r->name.module);
    output_text(o, "::");
    notation_name(o, r->name.qualname);
}
