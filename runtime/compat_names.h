/* Other spellings of names: what a stream below protocol 3 calls a module or a name, and what Python 3 calls it (rule N1); and
 * names that are bound to an object of another name (rule N11).
 *
 * Layer: lowest of the runtime; data and look-ups.  Key tables of a policy hold the result already (policyc inverts these
 * tables); the runtime asks here only where it prints or scans without a policy, and for names that no policy has.
 */
#ifndef UPK_COMPAT_NAMES_H
#define UPK_COMPAT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upk_compat_text { /* ends in NUL, which is not counted */
    const char *at;
    size_t len;
};

struct upk_compat_module { /* sorted by `old` */
    struct upk_compat_text old, now;
};

struct upk_compat_pair { /* sorted by (old_module, old_name) */
    struct upk_compat_text old_module, old_name, module, name;
};

extern const struct upk_compat_module upk_compat_modules[];
extern const size_t upk_compat_module_count;
extern const struct upk_compat_pair upk_compat_pairs[];
extern const size_t upk_compat_pair_count;

/* Modules whose names picklers write under another module, at dotted boundaries: the C halves of the standard library,
 * pathlib's place in 3.13, and numpy's in version 2.  X(from, to). */
#define UPK_ALIAS_MODULES(X)         \
    X("_ast", "ast")                 \
    X("_collections", "collections") \
    X("_functools", "functools")     \
    X("_io", "io")                   \
    X("_operator", "operator")       \
    X("numpy.core", "numpy._core")   \
    X("pathlib._local", "pathlib")

/* Names that are bound to an object of another name.  X(module, name, module of the object, its name). */
#define UPK_ALIAS_NAMES(X)                                   \
    X("_socket", "error", "builtins", "OSError")             \
    X("_socket", "gaierror", "socket", "gaierror")           \
    X("_socket", "herror", "socket", "herror")               \
    X("builtins", "EnvironmentError", "builtins", "OSError") \
    X("builtins", "IOError", "builtins", "OSError")          \
    X("os", "error", "builtins", "OSError")                  \
    X("select", "error", "builtins", "OSError")              \
    X("socket", "error", "builtins", "OSError")

struct upk_compat {
    const uint8_t *module;
    size_t module_len;
    const uint8_t *name;
    size_t name_len;
};

/* As Unpickler.find_class does with fix_imports: the pair's own entry, else the module's.  false: not in
 * the tables, and *out is the pair as given.  *out points into the tables or to the arguments. */
bool upk_compat_name(const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len,
                     struct upk_compat *out);

/* The one modern spelling: N1 where the stream is `old`, then N11.  A module that is put together stands in `room`; one that
 * does not fit there stays as it is. */
enum { NAME_MODERN_ROOM = 272 };
struct upk_compat name_modern(bool old, struct upk_compat spelled, uint8_t room[NAME_MODERN_ROOM]);

#endif
