/* The spellings of a name.  Layer: see names.h. */
#include "names.h"

#include <string.h>

/* Data that compiler and runtime share: what policyc undoes here is what the runtime would do. */
#include "../runtime/compat_names.h"
#include "../runtime/upk.h"

#define TEXT(literal) \
    { literal, sizeof literal - 1 }

/* None leads to another one's `from`. */
static const struct model_alias builtin_modules[] = {
#define UPK_X(from, to) {TEXT(from), TEXT(to), {0, 0, 0}},
    UPK_ALIAS_MODULES(UPK_X)
#undef UPK_X
};
enum { BUILTIN_MODULE_COUNT = sizeof builtin_modules / sizeof *builtin_modules };

static const struct {
    struct model_name from, to;
} builtin_names[] = {
#define UPK_X(from_module, from_name, module, name) \
    {{TEXT(from_module), TEXT(from_name)}, {TEXT(module), TEXT(name)}},
    UPK_ALIAS_NAMES(UPK_X)
#undef UPK_X
};
enum { BUILTIN_NAME_COUNT = sizeof builtin_names / sizeof *builtin_names };

const struct name_special name_specials[] = {
    {{TEXT("_codecs"), TEXT("encode")}, UPK_SPECIAL_ENCODE},
    {{TEXT("builtins"), TEXT("bytearray")}, UPK_SPECIAL_BYTEARRAY},
    {{TEXT("builtins"), TEXT("bytes")}, UPK_SPECIAL_BYTES},
    {{TEXT("builtins"), TEXT("complex")}, UPK_SPECIAL_COMPLEX},
    {{TEXT("builtins"), TEXT("dict")}, UPK_SPECIAL_DICT},
    {{TEXT("builtins"), TEXT("float")}, UPK_SPECIAL_FLOAT},
    {{TEXT("builtins"), TEXT("frozenset")}, UPK_SPECIAL_FROZENSET},
    {{TEXT("builtins"), TEXT("getattr")}, UPK_SPECIAL_GETATTR},
    {{TEXT("builtins"), TEXT("int")}, UPK_SPECIAL_INT},
    {{TEXT("builtins"), TEXT("list")}, UPK_SPECIAL_LIST},
    {{TEXT("builtins"), TEXT("object")}, UPK_SPECIAL_OBJECT},
    {{TEXT("builtins"), TEXT("set")}, UPK_SPECIAL_SET},
    {{TEXT("builtins"), TEXT("str")}, UPK_SPECIAL_STR},
    {{TEXT("builtins"), TEXT("tuple")}, UPK_SPECIAL_TUPLE},
    {{TEXT("copyreg"), TEXT("__newobj__")}, UPK_SPECIAL_NEWOBJ},
    {{TEXT("copyreg"), TEXT("_reconstructor")}, UPK_SPECIAL_RECONSTRUCTOR},
    {{TEXT("functools"), TEXT("partial")}, UPK_SPECIAL_PARTIAL},
    {{TEXT("operator"), TEXT("or_")}, UPK_SPECIAL_OR},
};
const size_t name_special_count = sizeof name_specials / sizeof *name_specials;

bool name_equal(struct model_name a, struct model_name b) {
    return text_equal(a.module, b.module) && text_equal(a.qualname, b.qualname);
}

int name_compare(struct model_name a, struct model_name b) {
    const int c = text_compare(a.module, b.module);
    return c != 0 ? c : text_compare(a.qualname, b.qualname);
}

bool path_is(struct text path, struct model_name name) {
    const size_t m = name.module.len, q = name.qualname.len;
    return path.len == m + 1 + q && memcmp(path.at, name.module.at, m) == 0 && path.at[m] == '.' &&
           memcmp(path.at + m + 1, name.qualname.at, q) == 0;
}

bool module_is_under(struct text module, struct text top) {
    return module.len >= top.len && text_equal((struct text){module.at, top.len}, top) &&
           (module.len == top.len || module.at[top.len] == '.');
}

/* `module`, which is under `from`, with `to` in its place. */
static bool move_module(struct mem *m, struct text module, struct text from, struct text to,
                        struct text *out) {
    const size_t rest = module.len - from.len;
    if (rest == 0) {
        *out = to;
        return true;
    }
    char *const at = mem_alloc(m, to.len + rest, 1);
    if (!at) return false;
    memcpy(at, to.at, to.len);
    memcpy(at + to.len, module.at + from.len, rest);
    *out = (struct text){at, to.len + rest};
    return true;
}

/* The longest prefix wins, once. */
static bool apply_aliases(struct mem *m, const struct model_alias *aliases, size_t count,
                          struct text *module) {
    const struct model_alias *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (module_is_under(*module, aliases[i].from) && (!best || aliases[i].from.len > best->from.len))
            best = &aliases[i];
    }
    return !best || move_module(m, *module, best->from, best->to, module);
}

static bool apply_builtins(struct mem *m, struct model_name *name) {
    if (!apply_aliases(m, builtin_modules, BUILTIN_MODULE_COUNT, &name->module)) return false;
    for (size_t i = 0; i < BUILTIN_NAME_COUNT; i++) {
        if (name_equal(*name, builtin_names[i].from)) {
            *name = builtin_names[i].to;
            return true;
        }
    }
    return true;
}

static const uint8_t *bytes_of(struct text t) { return (const uint8_t *)t.at; }

static void apply_compat(struct model_name *name) {
    struct upk_compat now;
    upk_compat_name(bytes_of(name->module), name->module.len, bytes_of(name->qualname), name->qualname.len,
                    &now);
    name->module = (struct text){(const char *)now.module, now.module_len};
    name->qualname = (struct text){(const char *)now.name, now.name_len};
}

bool name_canonical(const struct names *n, enum names_reading reading, struct model_name spelled,
                    struct model_name *out) {
    *out = spelled;
    if (reading == NAMES_OLD) apply_compat(out);
    return apply_builtins(n->mem, out) && apply_aliases(n->mem, n->aliases, n->alias_count, &out->module);
}

static bool is_dangerous(struct model_name n) {
    return upk_name_is_dangerous(n.module.at, n.module.len, n.qualname.at, n.qualname.len);
}

bool name_reaches_system(struct mem *m, struct model_name name) {
    const struct names names = {.mem = m};
    struct model_name modern = name;
    return is_dangerous(name) || (name_canonical(&names, NAMES_OLD, name, &modern) && is_dangerous(modern));
}

/* Adds what a stream could say, unless it is there already. */
static bool add(const struct names *n, struct name_list *list, struct model_name name) {
    if (name.module.len > UPK_NAME_MOST || name.qualname.len > UPK_NAME_MOST) return true;
    for (size_t i = 0; i < list->count; i++) {
        if (name_equal(list->items[i], name)) return true;
    }
    struct model_name *const items = mem_grow(n->mem, list->items, list->count, &list->room, sizeof *items);
    if (!items) return false;
    list->items = items;
    items[list->count++] = name;
    return true;
}

/* Undoes module aliases on the first `count` names of the list. */
static bool undo_aliases(const struct names *n, const struct model_alias *aliases, size_t alias_count,
                         struct name_list *list) {
    const size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < alias_count; j++) {
            struct model_name name = list->items[i];
            if (!module_is_under(name.module, aliases[j].to)) continue;
            if (!move_module(n->mem, name.module, aliases[j].to, aliases[j].from, &name.module) ||
                !add(n, list, name))
                return false;
        }
    }
    return true;
}

static bool undo_names(const struct names *n, struct name_list *list) {
    const size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < BUILTIN_NAME_COUNT; j++) {
            if (name_equal(list->items[i], builtin_names[j].to) && !add(n, list, builtin_names[j].from))
                return false;
        }
    }
    return true;
}

static struct text compat_text(struct upk_compat_text t) { return (struct text){t.at, t.len}; }

static bool undo_compat(const struct names *n, struct name_list *list) {
    const size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        const struct model_name name = list->items[i];
        for (size_t j = 0; j < upk_compat_module_count; j++) {
            const struct upk_compat_module *const m = &upk_compat_modules[j];
            if (text_equal(name.module, compat_text(m->now)) &&
                !add(n, list, (struct model_name){compat_text(m->old), name.qualname}))
                return false;
        }
        for (size_t j = 0; j < upk_compat_pair_count; j++) {
            const struct upk_compat_pair *const p = &upk_compat_pairs[j];
            if (text_equal(name.module, compat_text(p->module)) &&
                text_equal(name.qualname, compat_text(p->name)) &&
                !add(n, list, (struct model_name){compat_text(p->old_module), compat_text(p->old_name)}))
                return false;
        }
    }
    return true;
}

/* The steps are undone backwards, each on all that came before, which finds more than is true where a step
 * would have gone elsewhere (a longer alias, a pair that leaves its module); reading them again keeps what
 * is true. */
bool name_spellings(const struct names *n, struct model_name name, struct name_list *list) {
    list->count = 0;
    if (!add(n, list, name) || !undo_aliases(n, n->aliases, n->alias_count, list) || !undo_names(n, list) ||
        !undo_aliases(n, builtin_modules, BUILTIN_MODULE_COUNT, list) || !undo_compat(n, list))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct model_name old, now;
        if (!name_canonical(n, NAMES_OLD, list->items[i], &old) ||
            !name_canonical(n, NAMES_NEW, list->items[i], &now))
            return false;
        if (name_equal(old, name) || name_equal(now, name)) list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return true;
}

bool name_is_old(const struct names *n, struct model_name written, bool *is_old, struct model_name *old) {
    struct model_name now;
    struct name_list list = {0};
    if (!name_canonical(n, NAMES_NEW, written, &now) || !name_canonical(n, NAMES_OLD, written, old))
        return false;
    *is_old = !name_equal(now, *old);
    if (!*is_old) return true;
    if (!name_spellings(n, now, &list)) return false;
    for (size_t i = 0; i < list.count && *is_old; i++) {
        struct model_name meant;
        if (!name_canonical(n, NAMES_OLD, list.items[i], &meant)) return false;
        *is_old = !name_equal(meant, now);
    }
    return true;
}

bool name_meanings(const struct names *n, struct model_name written, struct name_list *list) {
    struct model_name now, old;
    bool is_old;
    list->count = 0;
    if (!name_is_old(n, written, &is_old, &old) || !name_canonical(n, NAMES_NEW, written, &now) ||
        !add(n, list, now) || !undo_aliases(n, n->aliases, n->alias_count, list))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct model_name again;
        if (!name_canonical(n, NAMES_NEW, list->items[i], &again)) return false;
        if (name_equal(again, now)) list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return add(n, list, now) && add(n, list, written) && (!is_old || add(n, list, old));
}
