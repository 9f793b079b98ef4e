/* The closed list of names that no policy should grant: they reach the system, the interpreter or another decoder.
 *
 * Layer: runtime, for errors and scans; over bytes.h.
 */
#include <string.h>

#include "doc.h"

/* Modules all of whose callables reach the system, the interpreter or another decoder; `keep` lists the names in them that are
 * mere data. */
static const struct {
    const char *module, *keep;
} modules[] = {
    {"os", " stat_result terminal_size "},
    {"posix", " stat_result terminal_size "},
    {"nt", " stat_result "},
    {"subprocess", " CompletedProcess CalledProcessError TimeoutExpired SubprocessError "},
    {"commands", " CompletedProcess CalledProcessError TimeoutExpired SubprocessError "},
    {"_posixsubprocess", ""},
    {"_winapi", ""},
    {"sys", ""},
    {"importlib", ""},
    {"_frozen_importlib", ""},
    {"_frozen_importlib_external", ""},
    {"imp", ""},
    {"_imp", ""},
    {"zipimport", ""},
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
    {"asyncio.subprocess", ""},
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
    /* The last are what those of `types` call themselves. */
    {"builtins",
     " eval exec compile __import__ open getattr setattr delattr globals locals vars input breakpoint type "
     "function code method module "},
    {"asyncio", " create_subprocess_exec create_subprocess_shell "},
    {"types", " FunctionType CodeType LambdaType MethodType ModuleType "},
    {"functools", " partial partialmethod reduce "},
    {"operator", " methodcaller attrgetter itemgetter mul pow "},
    {"_operator", " methodcaller attrgetter itemgetter mul pow "},
    {"collections", " namedtuple "},
    {"dataclasses", " make_dataclass "},
    {"enum", " Enum IntEnum StrEnum Flag IntFlag "},
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
    {"tblib.pickling_support", " unpickle_traceback "},
    /* Files are opened, servers called, programs started when these are made, or their subclasses. */
    {"aifc", " open Aifc_read Aifc_write "},
    {"bz2", " open BZ2File "},
    {"dbm", " open "},
    {"dbm.dumb", " open _Database "},
    {"fileinput", " input FileInput "},
    {"ftplib", " FTP "},
    {"gzip", " open GzipFile "},
    {"imaplib", " IMAP4 "},
    {"logging", " FileHandler "},
    {"logging.config", " dictConfig fileConfig listen DictConfigurator "},
    {"lzma", " open LZMAFile "},
    {"mailbox", " Mailbox "},
    {"nntplib", " NNTP "},
    {"pkgutil", " resolve_name "},
    {"poplib", " POP3 "},
    {"smtplib", " SMTP "},
    {"socketserver", " TCPServer UDPServer "},
    {"sqlite3", " connect Connection "},
    {"sunau", " open Au_read Au_write "},
    {"tarfile", " open TarFile "},
    {"telnetlib", " Telnet "},
    {"tempfile", " mkdtemp mkstemp NamedTemporaryFile TemporaryDirectory TemporaryFile "},
    {"tkinter", " Tcl Tk "},
    {"urllib.request", " urlopen urlretrieve "},
    {"wave", " open Wave_read Wave_write "},
    {"zipfile", " PyZipFile ZipFile "},
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

bool name_is_dangerous(const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len) {
    if (memchr(name, 0, name_len)) return false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        size_t n = strlen(modules[i].module);
        bool inside = module_len > n && memcmp(module, modules[i].module, n) == 0 && module[n] == '.';
        if (bytes_are(module, module_len, modules[i].module) || inside)
            return !word_in(modules[i].keep, name, name_len);
    }
    /* A dotted qualname that walks into such a module or a dunder (uuid::os.system, X.__init__.__globals__). */
    for (size_t i = 0; i + 2 < name_len; i++) {
        if (name[i] == '.' && name[i + 1] == '_' && name[i + 2] == '_') return true;
    }
    for (size_t i = 0; i < name_len; i++) {
        if (name[i] != '.') continue;
        for (size_t k = 0; k < sizeof modules / sizeof *modules; k++) {
            if (bytes_are(name, i, modules[k].module)) return true;
        }
        break;
    }
    for (size_t i = 0; i < sizeof callables / sizeof *callables; i++) {
        if (bytes_are(module, module_len, callables[i].module) && word_in(callables[i].names, name, name_len))
            return true;
    }
    return false;
}

bool upk_name_is_dangerous(const char *module, size_t module_len, const char *name, size_t name_len) {
    return name_is_dangerous((const uint8_t *)module, module_len, (const uint8_t *)name, name_len);
}
