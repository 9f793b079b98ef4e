/* Other spellings of names.  Layer: see compat_names.h.
 *
 * The two tables are NAME_MAPPING and IMPORT_MAPPING of CPython's Lib/_compat_pickle.py, together with the
 * names that it adds to them (the exceptions; the same from 3.6 to 3.13 but for Tix, which later versions
 * drop).
 */
#include "compat_names.h"

#include <string.h>

#include "bytes.h"

const struct upk_compat_module upk_compat_modules[] = {
    {{"BaseHTTPServer", 14}, {"http.server", 11}},
    {{"CGIHTTPServer", 13}, {"http.server", 11}},
    {{"ConfigParser", 12}, {"configparser", 12}},
    {{"Cookie", 6}, {"http.cookies", 12}},
    {{"Dialog", 6}, {"tkinter.dialog", 14}},
    {{"DocXMLRPCServer", 15}, {"xmlrpc.server", 13}},
    {{"FileDialog", 10}, {"tkinter.filedialog", 18}},
    {{"HTMLParser", 10}, {"html.parser", 11}},
    {{"Queue", 5}, {"queue", 5}},
    {{"ScrolledText", 12}, {"tkinter.scrolledtext", 20}},
    {{"SimpleDialog", 12}, {"tkinter.simpledialog", 20}},
    {{"SimpleHTTPServer", 16}, {"http.server", 11}},
    {{"SimpleXMLRPCServer", 18}, {"xmlrpc.server", 13}},
    {{"SocketServer", 12}, {"socketserver", 12}},
    {{"StringIO", 8}, {"io", 2}},
    {{"Tkconstants", 11}, {"tkinter.constants", 17}},
    {{"Tkdnd", 5}, {"tkinter.dnd", 11}},
    {{"Tkinter", 7}, {"tkinter", 7}},
    {{"UserDict", 8}, {"collections", 11}},
    {{"UserList", 8}, {"collections", 11}},
    {{"UserString", 10}, {"collections", 11}},
    {{"__builtin__", 11}, {"builtins", 8}},
    {{"_abcoll", 7}, {"collections.abc", 15}},
    {{"_elementtree", 12}, {"xml.etree.ElementTree", 21}},
    {{"_winreg", 7}, {"winreg", 6}},
    {{"anydbm", 6}, {"dbm", 3}},
    {{"cPickle", 7}, {"pickle", 6}},
    {{"cStringIO", 9}, {"io", 2}},
    {{"commands", 8}, {"subprocess", 10}},
    {{"cookielib", 9}, {"http.cookiejar", 14}},
    {{"copy_reg", 8}, {"copyreg", 7}},
    {{"dbhash", 6}, {"dbm.bsd", 7}},
    {{"dbm", 3}, {"dbm.ndbm", 8}},
    {{"dumbdbm", 7}, {"dbm.dumb", 8}},
    {{"dummy_thread", 12}, {"_dummy_thread", 13}},
    {{"gdbm", 4}, {"dbm.gnu", 7}},
    {{"htmlentitydefs", 14}, {"html.entities", 13}},
    {{"httplib", 7}, {"http.client", 11}},
    {{"markupbase", 10}, {"_markupbase", 11}},
    {{"repr", 4}, {"reprlib", 7}},
    {{"robotparser", 11}, {"urllib.robotparser", 18}},
    {{"test.test_support", 17}, {"test.support", 12}},
    {{"thread", 6}, {"_thread", 7}},
    {{"tkColorChooser", 14}, {"tkinter.colorchooser", 20}},
    {{"tkCommonDialog", 14}, {"tkinter.commondialog", 20}},
    {{"tkFileDialog", 12}, {"tkinter.filedialog", 18}},
    {{"tkFont", 6}, {"tkinter.font", 12}},
    {{"tkMessageBox", 12}, {"tkinter.messagebox", 18}},
    {{"tkSimpleDialog", 14}, {"tkinter.simpledialog", 20}},
    {{"ttk", 3}, {"tkinter.ttk", 11}},
    {{"urllib2", 7}, {"urllib.request", 14}},
    {{"urlparse", 8}, {"urllib.parse", 12}},
    {{"whichdb", 7}, {"dbm", 3}},
    {{"xmlrpclib", 9}, {"xmlrpc.client", 13}},
};

const size_t upk_compat_module_count = sizeof upk_compat_modules / sizeof *upk_compat_modules;

const struct upk_compat_pair upk_compat_pairs[] = {
    {{"UserDict", 8}, {"IterableUserDict", 16}, {"collections", 11}, {"UserDict", 8}},
    {{"UserDict", 8}, {"UserDict", 8}, {"collections", 11}, {"UserDict", 8}},
    {{"UserList", 8}, {"UserList", 8}, {"collections", 11}, {"UserList", 8}},
    {{"UserString", 10}, {"UserString", 10}, {"collections", 11}, {"UserString", 10}},
    {{"__builtin__", 11}, {"basestring", 10}, {"builtins", 8}, {"str", 3}},
    {{"__builtin__", 11}, {"intern", 6}, {"sys", 3}, {"intern", 6}},
    {{"__builtin__", 11}, {"long", 4}, {"builtins", 8}, {"int", 3}},
    {{"__builtin__", 11}, {"reduce", 6}, {"functools", 9}, {"reduce", 6}},
    {{"__builtin__", 11}, {"unichr", 6}, {"builtins", 8}, {"chr", 3}},
    {{"__builtin__", 11}, {"unicode", 7}, {"builtins", 8}, {"str", 3}},
    {{"__builtin__", 11}, {"xrange", 6}, {"builtins", 8}, {"range", 5}},
    {{"_multiprocessing", 16}, {"Connection", 10}, {"multiprocessing.connection", 26}, {"Connection", 10}},
    {{"_socket", 7}, {"fromfd", 6}, {"socket", 6}, {"fromfd", 6}},
    {{"exceptions", 10}, {"ArithmeticError", 15}, {"builtins", 8}, {"ArithmeticError", 15}},
    {{"exceptions", 10}, {"AssertionError", 14}, {"builtins", 8}, {"AssertionError", 14}},
    {{"exceptions", 10}, {"AttributeError", 14}, {"builtins", 8}, {"AttributeError", 14}},
    {{"exceptions", 10}, {"BaseException", 13}, {"builtins", 8}, {"BaseException", 13}},
    {{"exceptions", 10}, {"BufferError", 11}, {"builtins", 8}, {"BufferError", 11}},
    {{"exceptions", 10}, {"BytesWarning", 12}, {"builtins", 8}, {"BytesWarning", 12}},
    {{"exceptions", 10}, {"DeprecationWarning", 18}, {"builtins", 8}, {"DeprecationWarning", 18}},
    {{"exceptions", 10}, {"EOFError", 8}, {"builtins", 8}, {"EOFError", 8}},
    {{"exceptions", 10}, {"EnvironmentError", 16}, {"builtins", 8}, {"EnvironmentError", 16}},
    {{"exceptions", 10}, {"Exception", 9}, {"builtins", 8}, {"Exception", 9}},
    {{"exceptions", 10}, {"FloatingPointError", 18}, {"builtins", 8}, {"FloatingPointError", 18}},
    {{"exceptions", 10}, {"FutureWarning", 13}, {"builtins", 8}, {"FutureWarning", 13}},
    {{"exceptions", 10}, {"GeneratorExit", 13}, {"builtins", 8}, {"GeneratorExit", 13}},
    {{"exceptions", 10}, {"IOError", 7}, {"builtins", 8}, {"IOError", 7}},
    {{"exceptions", 10}, {"ImportError", 11}, {"builtins", 8}, {"ImportError", 11}},
    {{"exceptions", 10}, {"ImportWarning", 13}, {"builtins", 8}, {"ImportWarning", 13}},
    {{"exceptions", 10}, {"IndentationError", 16}, {"builtins", 8}, {"IndentationError", 16}},
    {{"exceptions", 10}, {"IndexError", 10}, {"builtins", 8}, {"IndexError", 10}},
    {{"exceptions", 10}, {"KeyError", 8}, {"builtins", 8}, {"KeyError", 8}},
    {{"exceptions", 10}, {"KeyboardInterrupt", 17}, {"builtins", 8}, {"KeyboardInterrupt", 17}},
    {{"exceptions", 10}, {"LookupError", 11}, {"builtins", 8}, {"LookupError", 11}},
    {{"exceptions", 10}, {"MemoryError", 11}, {"builtins", 8}, {"MemoryError", 11}},
    {{"exceptions", 10}, {"NameError", 9}, {"builtins", 8}, {"NameError", 9}},
    {{"exceptions", 10}, {"NotImplementedError", 19}, {"builtins", 8}, {"NotImplementedError", 19}},
    {{"exceptions", 10}, {"OSError", 7}, {"builtins", 8}, {"OSError", 7}},
    {{"exceptions", 10}, {"OverflowError", 13}, {"builtins", 8}, {"OverflowError", 13}},
    {{"exceptions", 10},
     {"PendingDeprecationWarning", 25},
     {"builtins", 8},
     {"PendingDeprecationWarning", 25}},
    {{"exceptions", 10}, {"ReferenceError", 14}, {"builtins", 8}, {"ReferenceError", 14}},
    {{"exceptions", 10}, {"RuntimeError", 12}, {"builtins", 8}, {"RuntimeError", 12}},
    {{"exceptions", 10}, {"RuntimeWarning", 14}, {"builtins", 8}, {"RuntimeWarning", 14}},
    {{"exceptions", 10}, {"StandardError", 13}, {"builtins", 8}, {"Exception", 9}},
    {{"exceptions", 10}, {"StopIteration", 13}, {"builtins", 8}, {"StopIteration", 13}},
    {{"exceptions", 10}, {"SyntaxError", 11}, {"builtins", 8}, {"SyntaxError", 11}},
    {{"exceptions", 10}, {"SyntaxWarning", 13}, {"builtins", 8}, {"SyntaxWarning", 13}},
    {{"exceptions", 10}, {"SystemError", 11}, {"builtins", 8}, {"SystemError", 11}},
    {{"exceptions", 10}, {"SystemExit", 10}, {"builtins", 8}, {"SystemExit", 10}},
    {{"exceptions", 10}, {"TabError", 8}, {"builtins", 8}, {"TabError", 8}},
    {{"exceptions", 10}, {"TypeError", 9}, {"builtins", 8}, {"TypeError", 9}},
    {{"exceptions", 10}, {"UnboundLocalError", 17}, {"builtins", 8}, {"UnboundLocalError", 17}},
    {{"exceptions", 10}, {"UnicodeDecodeError", 18}, {"builtins", 8}, {"UnicodeDecodeError", 18}},
    {{"exceptions", 10}, {"UnicodeEncodeError", 18}, {"builtins", 8}, {"UnicodeEncodeError", 18}},
    {{"exceptions", 10}, {"UnicodeError", 12}, {"builtins", 8}, {"UnicodeError", 12}},
    {{"exceptions", 10}, {"UnicodeTranslateError", 21}, {"builtins", 8}, {"UnicodeTranslateError", 21}},
    {{"exceptions", 10}, {"UnicodeWarning", 14}, {"builtins", 8}, {"UnicodeWarning", 14}},
    {{"exceptions", 10}, {"UserWarning", 11}, {"builtins", 8}, {"UserWarning", 11}},
    {{"exceptions", 10}, {"ValueError", 10}, {"builtins", 8}, {"ValueError", 10}},
    {{"exceptions", 10}, {"Warning", 7}, {"builtins", 8}, {"Warning", 7}},
    {{"exceptions", 10}, {"ZeroDivisionError", 17}, {"builtins", 8}, {"ZeroDivisionError", 17}},
    {{"itertools", 9}, {"ifilter", 7}, {"builtins", 8}, {"filter", 6}},
    {{"itertools", 9}, {"ifilterfalse", 12}, {"itertools", 9}, {"filterfalse", 11}},
    {{"itertools", 9}, {"imap", 4}, {"builtins", 8}, {"map", 3}},
    {{"itertools", 9}, {"izip", 4}, {"builtins", 8}, {"zip", 3}},
    {{"itertools", 9}, {"izip_longest", 12}, {"itertools", 9}, {"zip_longest", 11}},
    {{"multiprocessing", 15},
     {"AuthenticationError", 19},
     {"multiprocessing.context", 23},
     {"AuthenticationError", 19}},
    {{"multiprocessing", 15},
     {"BufferTooShort", 14},
     {"multiprocessing.context", 23},
     {"BufferTooShort", 14}},
    {{"multiprocessing", 15}, {"ProcessError", 12}, {"multiprocessing.context", 23}, {"ProcessError", 12}},
    {{"multiprocessing", 15}, {"TimeoutError", 12}, {"multiprocessing.context", 23}, {"TimeoutError", 12}},
    {{"multiprocessing.forking", 23}, {"Popen", 5}, {"multiprocessing.popen_fork", 26}, {"Popen", 5}},
    {{"multiprocessing.process", 23}, {"Process", 7}, {"multiprocessing.context", 23}, {"Process", 7}},
    {{"socket", 6}, {"_socketobject", 13}, {"socket", 6}, {"SocketType", 10}},
    {{"urllib", 6}, {"ContentTooShortError", 20}, {"urllib.error", 12}, {"ContentTooShortError", 20}},
    {{"urllib", 6}, {"getproxies", 10}, {"urllib.request", 14}, {"getproxies", 10}},
    {{"urllib", 6}, {"pathname2url", 12}, {"urllib.request", 14}, {"pathname2url", 12}},
    {{"urllib", 6}, {"quote", 5}, {"urllib.parse", 12}, {"quote", 5}},
    {{"urllib", 6}, {"quote_plus", 10}, {"urllib.parse", 12}, {"quote_plus", 10}},
    {{"urllib", 6}, {"unquote", 7}, {"urllib.parse", 12}, {"unquote", 7}},
    {{"urllib", 6}, {"unquote_plus", 12}, {"urllib.parse", 12}, {"unquote_plus", 12}},
    {{"urllib", 6}, {"url2pathname", 12}, {"urllib.request", 14}, {"url2pathname", 12}},
    {{"urllib", 6}, {"urlcleanup", 10}, {"urllib.request", 14}, {"urlcleanup", 10}},
    {{"urllib", 6}, {"urlencode", 9}, {"urllib.parse", 12}, {"urlencode", 9}},
    {{"urllib", 6}, {"urlopen", 7}, {"urllib.request", 14}, {"urlopen", 7}},
    {{"urllib", 6}, {"urlretrieve", 11}, {"urllib.request", 14}, {"urlretrieve", 11}},
    {{"urllib2", 7}, {"HTTPError", 9}, {"urllib.error", 12}, {"HTTPError", 9}},
    {{"urllib2", 7}, {"URLError", 8}, {"urllib.error", 12}, {"URLError", 8}},
    {{"whichdb", 7}, {"whichdb", 7}, {"dbm", 3}, {"whichdb", 7}},
};

const size_t upk_compat_pair_count = sizeof upk_compat_pairs / sizeof *upk_compat_pairs;

static int compare(const uint8_t *bytes, size_t len, struct upk_compat_text t) {
    return bytes_compare(bytes, len, t.at, t.len);
}

static const struct upk_compat_module *find_module(const uint8_t *module, size_t len) {
    size_t lo = 0, hi = upk_compat_module_count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int c = compare(module, len, upk_compat_modules[mid].old);
        if (c == 0) return &upk_compat_modules[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

static const struct upk_compat_pair *find_pair(const uint8_t *module, size_t module_len, const uint8_t *name,
                                               size_t name_len) {
    size_t lo = 0, hi = upk_compat_pair_count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const struct upk_compat_pair *const pair = &upk_compat_pairs[mid];
        int c = compare(module, module_len, pair->old_module);
        if (c == 0) c = compare(name, name_len, pair->old_name);
        if (c == 0) return pair;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

static void set_text(const uint8_t **at, size_t *len, struct upk_compat_text t) {
    *at = (const uint8_t *)t.at;
    *len = t.len;
}

bool upk_compat_name(const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len,
                     struct upk_compat *out) {
    *out = (struct upk_compat){module, module_len, name, name_len};
    const struct upk_compat_pair *const pair = find_pair(module, module_len, name, name_len);
    if (pair) {
        set_text(&out->module, &out->module_len, pair->module);
        set_text(&out->name, &out->name_len, pair->name);
        return true;
    }
    const struct upk_compat_module *const m = find_module(module, module_len);
    if (m) set_text(&out->module, &out->module_len, m->now);
    return m != NULL;
}

static bool is_pair(const struct upk_compat *n, const char *module, const char *name) {
    return bytes_are(n->module, n->module_len, module) && bytes_are(n->name, n->name_len, name);
}

/* `n`, if its module is `from` or below it, with `to` in the place of that. */
static bool move_module(struct upk_compat *n, const char *from, const char *to,
                        uint8_t room[NAME_MODERN_ROOM]) {
    const size_t from_len = strlen(from), to_len = strlen(to);
    if (n->module_len < from_len || memcmp(n->module, from, from_len) != 0) return false;
    const size_t rest = n->module_len - from_len;
    if ((rest && n->module[from_len] != '.') || rest > NAME_MODERN_ROOM - to_len) return false;
    memcpy(room, to, to_len);
    memcpy(room + to_len, n->module + from_len, rest);
    n->module = room;
    n->module_len = to_len + rest;
    return true;
}

struct upk_compat name_modern(bool old, struct upk_compat spelled, uint8_t room[NAME_MODERN_ROOM]) {
    static const char *const modules[][2] = {
#define UPK_X(from, to) {from, to},
        UPK_ALIAS_MODULES(UPK_X)
#undef UPK_X
    };
    static const char *const names[][4] = {
#define UPK_X(from_module, from_name, module, name) {from_module, from_name, module, name},
        UPK_ALIAS_NAMES(UPK_X)
#undef UPK_X
    };
    struct upk_compat n = spelled;
    if (old) (void)upk_compat_name(spelled.module, spelled.module_len, spelled.name, spelled.name_len, &n);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (move_module(&n, modules[i][0], modules[i][1], room)) break;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!is_pair(&n, names[i][0], names[i][1])) continue;
        return (struct upk_compat){(const uint8_t *)names[i][2], strlen(names[i][2]),
                                   (const uint8_t *)names[i][3], strlen(names[i][3])};
    }
    return n;
}
