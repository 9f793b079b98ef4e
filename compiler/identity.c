/* Other paths to one object.  Layer: see identity.h.
 *
 * Sources: the `from _x import *` of Lib/x.py, Lib/os.py, Lib/io.py and Lib/types.py of CPython 3.8 to 3.13.  What picklers
 * write for a class is not in question here: any path that an import finds is.
 */
#include "identity.h"

#include <string.h>

#include "../runtime/compat_names.h"

static const struct {
    const char *paths[2];
    bool is_name; /* else a module, with all that is in it */
} same[] = {
#define UPK_X(from, to) {{from, to}, false},
    UPK_ALIAS_MODULES(UPK_X)
#undef UPK_X
        {{"__builtins__", "builtins"}, false}, /* of any module */
    {{"_bisect", "bisect"}, false},
    {{"_codecs", "codecs"}, false},
    {{"_csv", "csv"}, false},
    {{"_ctypes", "ctypes"}, false},
    {{"_datetime", "datetime"}, false},
    {{"_decimal", "decimal"}, false},
    {{"_frozen_importlib", "importlib._bootstrap"}, false},
    {{"_frozen_importlib_external", "importlib._bootstrap_external"}, false},
    {{"_heapq", "heapq"}, false},
    {{"_pickle", "pickle"}, false},
    {{"_signal", "signal"}, false},
    {{"_socket", "socket"}, false},
    {{"_sqlite3", "sqlite3"}, false},
    {{"_struct", "struct"}, false},
    {{"_weakref", "weakref"}, false},
    {{"nt", "os"}, false},
    {{"ntpath", "os.path"}, false},
    {{"posix", "os"}, false},
    {{"posixpath", "os.path"}, false},
    {{"io.open", "builtins.open"}, true},
    {{"importlib.__import__", "importlib._bootstrap.__import__"}, true},
    {{"threading._start_new_thread", "_thread.start_new_thread"}, true},
    {{"types.LambdaType", "types.FunctionType"}, true},
};
enum { SAME_COUNT = sizeof same / sizeof *same };

bool path_add(struct path_list *list, struct text text, enum path_kind kind) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind == kind && text_equal(list->items[i].text, text)) {
            return true;
        }
    }
    struct path *items = mem_grow(list->mem, list->items, list->count, &list->room, sizeof *items);
    if (items == NULL) {
        return false;
    }
    list->items = items;
    items[list->count++] = (struct path){text, kind};
    return true;
}

/* Is `path` what `top` leads to, or reached through it? */
static bool is_at_or_below(struct text path, struct text top) {
    return path.len >= top.len && memcmp(path.at, top.at, top.len) == 0 &&
           (path.len == top.len || path.at[top.len] == '.');
}

/* Is `name` a path to something right in the module? */
static bool is_in(struct text name, struct text module) {
    return name.len > module.len && is_at_or_below(name, module) &&
           memchr(name.at + module.len + 1, '.', name.len - module.len - 1) == NULL;
}

static bool add_moved(struct path_list *list, struct path path, struct text from, struct text to) {
    const size_t rest = path.text.len - from.len;
    char *const at = mem_alloc(list->mem, to.len + rest, 1);
    if (at == NULL) {
        return false;
    }
    memcpy(at, to.at, to.len);
    memcpy(at + to.len, path.text.at + from.len, rest);
    return path_add(list, (struct text){at, to.len + rest}, path.kind);
}

static bool apply(struct path_list *list, struct path path, struct text from, struct text to, bool is_name) {
    if (is_at_or_below(path.text, from)) {
        /* `pathlib._local` is below `pathlib` itself: it is not moved once more. */
        return is_at_or_below(path.text, to) || add_moved(list, path, from, to);
    }
    const bool holds = path.kind == PATH_TREE ? is_at_or_below(from, path.text)
                                              : path.kind == PATH_MODULE && is_name && is_in(from, path.text);
    return !holds || path_add(list, to, is_name ? PATH_NAME : PATH_TREE);
}

bool paths_of_same(struct path_list *list) {
    /* The list grows while it is read, by each rule once for each path. */
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < SAME_COUNT; k++) {
            const struct text a = text_of(same[k].paths[0]), b = text_of(same[k].paths[1]);
            if (!apply(list, list->items[i], a, b, same[k].is_name) ||
                !apply(list, list->items[i], b, a, same[k].is_name)) {
                return false;
            }
        }
    }
    return true;
}
