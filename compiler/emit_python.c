/* Generated Python modules.  Layer: see emit_python.h.
 *
 * Of a policy's text the documentation alone is in them, in octal escapes; and the names of channels, which are words of ASCII.
 */
#include "emit_python.h"

#include <stdio.h>
#include <string.h>

#include "depfile.h"
#include "emit.h"
#include "files.h"
#include "list.h"

/* ---- names ------------------------------------------------------------ */

static bool is_one_of(struct text name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (text_is(name, words[i])) return true;
    }
    return false;
}

static bool is_keyword(struct text name) {
    static const char *const words[] = {
        "False",   "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class",   "continue", "def",   "del",    "elif", "else",   "except", "for",      "from",
        "finally", "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",      "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
    return is_one_of(name, words, sizeof words / sizeof *words);
}

bool python_name_good(struct text name) {
    enum { MOST = 100 };
    if (name.len == 0 || name.len > MOST || is_keyword(name)) return false;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.at[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return true;
}

/* Names that each module has of its own. */
static bool is_taken(struct text name) {
    static const char *const words[] = {"EmptyInputError",  "Policy",      "PickleError",
                                        "RefusedError",     "RemoteError", "UnpicklingError",
                                        "decode_exception", "run"};
    return is_one_of(name, words, sizeof words / sizeof *words) ||
           (name.len > 1 && name.at[0] == '_' && name.at[1] == '_');
}

static bool channels_check(const struct compiled *c, struct diag *d) {
    bool good = true;
    for (size_t i = 0; i < c->model_count; i++) {
        const struct text channel = c->models[i].channel;
        if (channel.len == 0 || (python_name_good(channel) && !is_taken(channel))) continue;
        diag_error(d, c->models[i].at, P_PYTHON_NAME, "channel `%s' cannot be a name in a Python module",
                   diag_quote(d, channel));
        good = false;
    }
    return good;
}

/* ---- documentation ------------------------------------------------------------ */

/* What fits of the listing; a line is whole or is not there. */
static void put_bounded(struct output *o, const char *text, size_t len) {
    enum { MOST_LINES = 400, MOST_BYTES = 32 << 10 };
    size_t at = 0, lines = 0, left = 0;
    while (at < len && lines < MOST_LINES) {
        const char *const end = memchr(text + at, '\n', len - at);
        const size_t next = end ? (size_t)(end - text) + 1 : len;
        if (next > MOST_BYTES) break;
        at = next;
        lines++;
    }
    output_bytes(o, text, at);
    for (size_t i = at; i < len; i++) left += text[i] == '\n';
    if (left) output_print(o, "... and %zu lines more, which `policyc list` prints\n", left);
}

/* What a channel admits. */
static bool put_admits(const struct upk_policy *p, struct output *o) {
    struct output listing;
    output_init(&listing, o->mem);
    output_text(o, "Loads the pickles that this policy grants, and refuses all others:\n\n");
    if (!list_policy(p, false, &listing)) return false;
    put_bounded(o, listing.bytes, listing.len);
    return true;
}

static struct text channel_of(const struct upk_policy *p) {
    return (struct text){p->pool + p->channel.at, p->channel.len};
}

/* Of the module: its only channel's, or each channel's behind its name. */
static bool put_module_doc(const struct channels *all, struct output *o) {
    for (size_t i = 0; i < all->count; i++) {
        const struct upk_policy *const p = &all->tables[i].policy;
        if (p->channel.len != 0) {
            output_text(o, i == 0 ? "" : "\n");
            output_bytes(o, channel_of(p).at, p->channel.len);
            output_text(o, ": ");
        }
        if (!put_admits(p, o)) return false;
    }
    return true;
}

static bool put_doc(struct output *o, const char *symbol, const struct output *doc) {
    output_print(o, "static const char %s[] =", symbol);
    output_literal(o, doc->bytes, doc->len);
    output_text(o, ";\n\n");
    return !doc->mem->failed;
}

/* ---- the module ------------------------------------------------------------ */

static bool put_docs(const struct channels *all, struct output *o) {
    struct output doc;
    output_init(&doc, o->mem);
    if (!put_module_doc(all, &doc) || !put_doc(o, "upk_doc", &doc)) return false;
    for (size_t i = 0; i < all->count && all->tables[0].policy.channel.len != 0; i++) {
        char symbol[40];
        (void)snprintf(symbol, sizeof symbol, "upk_doc_%zu", i);
        doc.len = 0;
        if (!put_admits(&all->tables[i].policy, &doc) || !put_doc(o, symbol, &doc)) return false;
    }
    return true;
}

static void put_channels(const struct channels *all, struct output *o) {
    output_text(o, "static const struct upk_py_channel upk_channels[] = {\n");
    for (size_t i = 0; i < all->count; i++) {
        const struct text name = channel_of(&all->tables[i].policy), symbol = all->symbols[i].symbol;
        output_text(o, "    {\"");
        output_bytes(o, name.at, name.len);
        if (name.len != 0)
            output_print(o, "\", upk_doc_%zu, &", i);
        else
            output_text(o, "\", upk_doc, &");
        output_bytes(o, symbol.at, symbol.len);
        output_text(o, "},\n");
    }
    output_text(o, "};\n\n");
}

static bool put_module(const struct channels *all, const char *name, struct output *o) {
    emit_banner(all, o);
    output_print(o, "#include \"upk_python.h\"\n\n#include \"%s.h\"\n\n", name);
    if (!put_docs(all, o)) return false;
    put_channels(all, o);
    output_print(o, "UPK_PY_MODULE(%s, upk_doc, upk_channels);\n", name);
    return true;
}

/* ---- stubs ------------------------------------------------------------ */

static const char stubs_head[] = "import pickle\n"
                                 "from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Type\n"
                                 "\n"
                                 "class RefusedError(pickle.UnpicklingError):\n"
                                 "    code: str\n"
                                 "    cls: str\n"
                                 "    offset: int\n"
                                 "    opcode: Optional[str]\n"
                                 "    module: Optional[str]\n"
                                 "    name: Optional[str]\n"
                                 "    path: Optional[str]\n"
                                 "    rule: Optional[str]\n"
                                 "    change: Optional[str]\n"
                                 "    grant: Optional[str]\n"
                                 "\n"
                                 "class EmptyInputError(RefusedError, EOFError): ...\n"
                                 "\n"
                                 "UnpicklingError = pickle.UnpicklingError\n"
                                 "PickleError = pickle.PickleError\n";

/* The functions, `indent` deep, with `self` as first parameter where they are methods; `consents`: one may agree to `fail_open`. */
static void put_functions(struct output *o, const char *indent, const char *self, bool consents) {
    static const char buffers[] = "buffers: Optional[Iterable[Any]] = ...";
    static const char as_pickle[] =
        "persistent_load: Optional[Callable[[Any], Any]] = ..., fix_imports: bool = ..., "
        "encoding: str = ..., errors: str = ...";
    static const char cause[] = "cause: bool = ...";
    static const char run[] =
        "folder: Any = ..., home: Any = ..., host: Optional[Mapping[str, str]] = ..., "
        "manifest: Optional[Mapping[str, str]] = ..., from_host: Optional[Mapping[str, str]] = ..., "
        "visible: Optional[Iterable[Any]] = ..., state: Any = ..., rules: Any = ..., stderr: Any = ..., "
        "bubblewrap: Any = ..., allow_unconfined: bool = ..., stdout: bool = ...";
    output_print(o, "%sdef loads(%sdata: Any, /, *, %s, %s, %s) -> Any: ...\n", indent, self, buffers,
                 as_pickle, cause);
    output_print(o, "%sdef load(%sfile: Any, /, *, %s, %s, %s) -> Any: ...\n", indent, self, buffers,
                 as_pickle, cause);
    output_print(o, "%sdef check(%sdata: Any, /, *, %s, %s) -> None: ...\n", indent, self, buffers,
                 as_pickle);
    output_print(o, "%sdef inspect(%sdata: Any, /, *, form: str = ..., %s) -> str: ...\n", indent, self,
                 buffers);
    output_print(o, "%sdef scan(%sdata: Any, /, *, %s) -> Dict[str, Any]: ...\n", indent, self, buffers);
    output_print(o, "%sdef run(%scommand: Iterable[Any], /, *, %s) -> Any: ...\n", indent, self, run);
    output_print(o, "%sdef with_types(%s*classes: type) -> %s: ...\n", indent, self,
                 *self ? "\"Policy\"" : "Policy");
    if (consents)
        output_print(o, "%sdef allow_fail_open(%s) -> %s: ...\n", indent, *self ? "self" : "",
                     *self ? "\"Policy\"" : "Policy");
    output_print(o,
                 "%sdef environment(%s*, home: Any = ..., manifest: Optional[Mapping[str, str]] = ...,\n"
                 "%s                from_host: Optional[Mapping[str, str]] = ...,\n"
                 "%s                host: Optional[Mapping[str, str]] = ...) -> Dict[str, str]: ...\n",
                 indent, self, indent, indent);
}

static const char stubs_unpickler[] =
    "class Unpickler:\n"
    "    def __init__(self, file: Any, *, buffers: Optional[Iterable[Any]] = ...,\n"
    "                 persistent_load: Optional[Callable[[Any], Any]] = ..., fix_imports: bool = ...,\n"
    "                 encoding: str = ..., errors: str = ..., cause: bool = ...) -> None: ...\n"
    "    def load(self) -> Any: ...\n"
    "    def persistent_load(self, pid: Any, /) -> Any: ...\n"
    "    def find_class(self, module: str, name: str, /) -> Any: ...\n"
    "\n"
    "# Within Policy those names are its own.\n"
    "_Unpickler = Unpickler\n"
    "_RefusedError = RefusedError\n"
    "_EmptyInputError = EmptyInputError\n";

static const char stubs_policy[] = "class Policy:\n"
                                   "    Unpickler: Type[_Unpickler]\n"
                                   "    RefusedError: Type[_RefusedError]\n"
                                   "    EmptyInputError: Type[_EmptyInputError]\n"
                                   "    UnpicklingError: Type[pickle.UnpicklingError]\n"
                                   "    PickleError: Type[pickle.PickleError]\n";

/* Of modules with both channels (runtime/python/ladder.c). */
static bool has_ladder(const struct channels *all) {
    size_t found = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct text channel = channel_of(&all->tables[i].policy);
        found += text_is(channel, "exception") || channel_describes(channel);
    }
    return found == 2;
}

static const char stubs_ladder[] =
    "\n"
    "class RemoteError(Exception):\n"
    "    module: Optional[str]\n"
    "    qualname: Optional[str]\n"
    "    message: Optional[str]\n"
    "\n"
    "def decode_exception(rich: Any, descriptor: Any = ..., /, *, exception: Optional[Policy] = ...,\n"
    "                     stand_in: Optional[Type[Exception]] = ...) -> Exception: ...\n";

static void put_stubs(const struct channels *all, struct output *o) {
    const struct upk_policy *const first = &all->tables[0].policy;
    const bool alone = first->channel.len == 0;
    output_text(o, "# Generated by ");
    output_bytes(o, first->pool + first->generator.at, first->generator.len);
    output_text(o, ".  Do not edit.\n");
    output_text(o, stubs_head);
    output_text(o, "\n");
    output_text(o, stubs_unpickler);
    output_text(o, "\n");
    output_text(o, stubs_policy);
    put_functions(o, "    ", "self, ", true);
    output_text(o, "\n");
    if (alone) put_functions(o, "", "", (first->flags & UPK_POLICY_FAIL_OPEN) != 0);
    for (size_t i = 0; i < all->count && !alone; i++) {
        const struct text name = channel_of(&all->tables[i].policy);
        output_bytes(o, name.at, name.len);
        output_text(o, ": Policy\n");
    }
    if (!alone)
        output_text(o, "\ndef run(command: Iterable[Any], /, *, channel: str, **options: Any) -> Any: ...\n");
    if (has_ladder(all)) output_text(o, stubs_ladder);
}

/* ---- files ------------------------------------------------------------ */

bool emit_python_texts(const struct channels *all, const char *name, struct output *module,
                       struct output *stubs) {
    if (!put_module(all, name, module)) return false;
    put_stubs(all, stubs);
    return !module->mem->failed && !stubs->mem->failed;
}

/* DIR/NAME and the ending, in the arena. */
static const char *place(struct mem *m, const char *dir, const char *name, const char *ending) {
    struct output o;
    output_init(&o, m);
    output_text(&o, dir);
    output_text(&o, "/");
    output_text(&o, name);
    output_text(&o, ending);
    output_bytes(&o, "", 1);
    return m->failed ? NULL : o.bytes;
}

static bool emit_all(const struct compiled *c, struct diag *d, const struct channels *all, struct mem *m,
                     const char *name, const char *dir, bool depfile) {
    enum { SOURCE, HEADER, MODULE, STUBS, DEPENDENCIES, COUNT };
    static const char *const endings[] = {".c", ".h", "module.c", ".pyi", ".d"};
    struct output texts[COUNT];
    struct out_file files[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        output_init(&texts[i], m);
        files[i] = (struct out_file){place(m, dir, name, endings[i]), &texts[i]};
    }
    if (m->failed || !emit_texts(all, &texts[SOURCE], &texts[HEADER]) ||
        !emit_python_texts(all, name, &texts[MODULE], &texts[STUBS]))
        return false;
    if (depfile && !depfile_text(c, d, files, DEPENDENCIES, &texts[DEPENDENCIES])) return false;
    return files_write(c, files, depfile ? COUNT : DEPENDENCIES, d);
}

bool emit_python_files(const struct compiled *c, struct diag *d, const char *name, const char *dir,
                       bool depfile) {
    struct channels all;
    struct mem m;
    if (!channels_check(c, d) || !channels_build(c, d, &all)) return false;
    const size_t errors = diag_error_count(d);
    mem_init(&m, EMIT_MOST_BYTES);
    const bool good = emit_all(c, d, &all, &m, name, dir, depfile);
    if (!good && diag_error_count(d) == errors) diag_error_nowhere(d, P_MEMORY, "out of memory");
    mem_free(&m);
    channels_free(&all);
    return good;
}
