/* What a file is when it is no pickle, and the closed list of names that no policy should grant: two small tables of facts.
 *
 * Layer: runtime, for errors and scans.
 */
#include <string.h>

#include "machine.h"

static bool starts(const uint8_t *p, size_t n, const char *with, size_t len) {
    return n >= len && memcmp(p, with, len) == 0;
}

/* Every LF is behind a CR: a text-mode transfer did that. */
static bool line_ends_damaged(const uint8_t *p, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n && i < 4096; i++) {
        if (p[i] != '\n') continue;
        if (i == 0 || p[i - 1] != '\r') return false;
        any = true;
    }
    return any;
}

const char *sniff_file(const uint8_t *p, size_t n) {
    static const struct {
        const char *magic;
        size_t len;
        const char *kind;
    } table[] = {
        {"PK\x03\x04", 4, "a zip archive"},
        {"\x1f\x8b", 2, "gzip data"},
        {"\x28\xb5\x2f\xfd", 4, "zstd data"},
        {"\xfd"
         "7zXZ",
         5, "xz data"},
        {"BZh", 3, "bzip2 data"},
        {"\x93NUMPY", 6, "a numpy .npy file"},
        {"\x89HDF", 4, "an HDF5 file"},
        {"version https://git-lfs", 23, "a git-lfs pointer to a file that git lfs pull fetches"},
        {"<", 1, "HTML or XML"},
    };
    if (n == 0) return "empty";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (starts(p, n, table[i].magic, table[i].len)) return table[i].kind;
    }
    if (n >= 10) { /* safetensors: a little-endian header length, then JSON */
        uint64_t header = 0;
        for (int i = 7; i >= 0; i--) header = header << 8 | p[i];
        if (header <= n - 8 && p[8] == '{' && (p[9] == '"' || p[9] == '}')) return "a safetensors file";
    }
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\t' || p[i] == '\r')) i++;
    if (i < n && (p[i] == '{' || p[i] == '[' || p[i] == '"')) return "JSON";
    if (line_ends_damaged(p, n)) return "damaged: its line ends were changed to CR LF";
    return NULL;
}

/* Modules all of whose callables reach the system, the interpreter or another decoder; `keep` lists the names in them that are
 * mere data. */
static const struct {
    const char *module, *keep;
} modules[] = {
    {"os", " stat_result terminal_size "},
    {"posix", " stat_result terminal_size "},
    {"nt", " stat_result "},
    {"subprocess", " CompletedProcess CalledProcessError TimeoutExpired SubprocessError "},
    {"commands", ""},
    {"sys", ""},
    {"importlib", ""},
    {"runpy", ""},
    {"pty", ""},
    {"code", ""},
    {"codeop", ""},
    {"pdb", ""},
    {"bdb", ""},
    {"profile", ""},
    {"cProfile", ""},
    {"timeit", ""},
    {"ctypes", ""},
    {"_ctypes", ""},
    {"marshal", ""},
    {"pickle", " PickleError PicklingError UnpicklingError "},
    {"_pickle", " PickleError PicklingError UnpicklingError "},
    {"shelve", ""},
    {"socket", " error gaierror herror timeout "},
    {"_socket", " error gaierror herror timeout "},
    {"webbrowser", ""},
    {"multiprocessing", ""},
    {"pydoc", ""},
    {"weakref", ""},
    {"atexit", ""},
    {"threading", ""},
    {"_thread", ""},
    {"cloudpickle", ""},
    {"dill", ""},
    {"joblib", ""},
    {"shutil", " Error SameFileError "},
    {"signal", ""},
};

/* Single callables of modules that are otherwise harmless. */
static const struct {
    const char *module, *names;
} callables[] = {
    {"builtins",
     " eval exec compile __import__ open getattr setattr delattr globals locals vars input breakpoint type "},
    {"asyncio", " create_subprocess_exec create_subprocess_shell "},
    {"types", " FunctionType CodeType LambdaType MethodType ModuleType "},
    {"functools", " partial partialmethod reduce "},
    {"operator", " methodcaller attrgetter itemgetter "},
    {"_operator", " methodcaller attrgetter itemgetter "},
    {"io", " open open_code FileIO "},
    {"_io", " open open_code FileIO "},
    {"_codecs", " decode lookup "},
    {"codecs", " decode open lookup "},
    {"torch", " load "},
    {"torch.storage", " _load_from_bytes "},
    {"numpy", " load vectorize memmap fromfile "},
    {"numpy.testing._private.utils", " runstring "},
    {"pandas", " eval read_pickle "},
    {"pandas.io.pickle", " read_pickle "},
    {"concurrent.futures.process", " _rebuild_exc "},
};

static bool word_in(const char *words, const uint8_t *name, size_t len) {
    const char *at = words;
    if (len == 0 || memchr(name, ' ', len)) return false;
    while ((at = strchr(at, ' ')) && at[1]) {
        at++;
        if (strncmp(at, (const char *)name, len) == 0 && at[len] == ' ') return true;
    }
    return false;
}

static bool is(const char *text, const uint8_t *p, size_t n) {
    return strlen(text) == n && memcmp(text, p, n) == 0;
}

bool name_is_dangerous(const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len) {
    if (memchr(name, 0, name_len)) return false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        size_t n = strlen(modules[i].module);
        bool inside = module_len > n && memcmp(module, modules[i].module, n) == 0 && module[n] == '.';
        if (is(modules[i].module, module, module_len) || inside)
            return !word_in(modules[i].keep, name, name_len);
    }
    /* A dotted qualname that walks into such a module or a dunder (uuid::os.system, X.__init__.__globals__). */
    for (size_t i = 0; i + 2 < name_len; i++) {
        if (name[i] == '.' && name[i + 1] == '_' && name[i + 2] == '_') return true;
    }
    for (size_t i = 0; i < name_len; i++) {
        if (name[i] != '.') continue;
        for (size_t k = 0; k < sizeof modules / sizeof *modules; k++) {
            if (is(modules[k].module, name, i)) return true;
        }
        break;
    }
    for (size_t i = 0; i < sizeof callables / sizeof *callables; i++) {
        if (is(callables[i].module, module, module_len) && word_in(callables[i].names, name, name_len))
            return true;
    }
    return false;
}
