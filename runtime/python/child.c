/* The method run of policies: a child process whose reply is a pickle (upk_run.h), as a call that returns the child's value or raises
 * its exception.
 *
 * Layer: see host.h.
 */
#include "host.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "../upk_run.h"

enum { SHOWN_MOST = 1 << 20 }; /* bytes of what a child says that sys.stderr gets */

/* One call.  Its callbacks come without the GIL. */
struct run {
    struct guard *guard;
    PyObject *said;        /* borrowed: a binary file; NULL: sys.stderr */
    PyThreadState *thread; /* while the GIL is given up */
    size_t shown;          /* above SHOWN_MOST: that there is more is said */
    bool failed;           /* an exception is set */
};

/* ---- callbacks */

static void gil_take(struct run *r) { PyEval_RestoreThread(r->thread); }

static void gil_give(struct run *r) { r->thread = PyEval_SaveThread(); }

static int run_ask(void *ctx) {
    struct run *const r = ctx;
    if (r->failed) return -1;
    gil_take(r);
    r->failed = PyErr_CheckSignals() != 0;
    gil_give(r);
    return r->failed ? -1 : 0;
}

static bool run_warn(void *ctx, const char *line) {
    struct run *const r = ctx;
    if (r->failed) return false;
    gil_take(r);
    r->failed = PyErr_WarnEx(PyExc_RuntimeWarning, line, 1) != 0;
    gil_give(r);
    return !r->failed;
}

/* On a terminal it must not act: all but line ends, tabs and printable ASCII is escaped. */
static PyObject *escaped(const char *bytes, size_t len) {
    char text[4 * 1024 + 1];
    PyObject *made = PyUnicode_FromString("");
    while (made && len) {
        size_t n = 0, i = 0;
        for (; i < len && i < 1024; i++) {
            const unsigned char c = (unsigned char)bytes[i];
            if (c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f))
                text[n++] = (char)c;
            else
                n += (size_t)PyOS_snprintf(text + n, 5, "\\x%02x", c);
        }
        PyObject *const more = PyUnicode_DecodeASCII(text, (Py_ssize_t)n, "strict");
        if (more)
            PyUnicode_AppendAndDel(&made, more);
        else
            Py_CLEAR(made);
        bytes += i;
        len -= i;
    }
    return made;
}

/* `text` is released; NULL: an exception is set. */
static bool write_text(PyObject *to, PyObject *text) {
    PyObject *const done = text ? PyObject_CallMethod(to, "write", "O", text) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(done);
    return done != NULL;
}

static bool show(struct run *r, const char *bytes, size_t len) {
    PyObject *const to = PySys_GetObject("stderr"); /* borrowed from sys, where anybody may set another */
    if (!to || to == Py_None || r->shown > SHOWN_MOST) return true;
    const size_t left = SHOWN_MOST - r->shown;
    Py_INCREF(to);
    bool good = write_text(to, escaped(bytes, len < left ? len : left));
    if (good && len > left) good = write_text(to, PyUnicode_FromString("\n... more is not shown\n"));
    Py_DECREF(to);
    r->shown = len > left ? SHOWN_MOST + 1u : r->shown + len;
    return good;
}

static void run_said(void *ctx, const char *bytes, size_t len) {
    struct run *const r = ctx;
    if (r->failed) return;
    gil_take(r);
    if (r->said) {
        PyObject *const done = PyObject_CallMethod(r->said, "write", "y#", bytes, (Py_ssize_t)len);
        r->failed = done == NULL;
        Py_XDECREF(done);
    } else {
        r->failed = !show(r, bytes, len);
    }
    gil_give(r);
}

/* ---- arguments */

struct paths {          /* a list for C, and what its texts stand in */
    PyObject *held;     /* strong */
    const char **texts; /* ends with NULL */
};

static void paths_release(struct paths *p) {
    Py_CLEAR(p->held);
    PyMem_Free((void *)p->texts);
    p->texts = NULL;
}

/* Of a sequence of str, bytes and paths; a text alone is none. */
static bool paths_take(struct paths *p, PyObject *from, const char *what) {
    if (PyUnicode_Check(from) || PyBytes_Check(from)) {
        PyErr_Format(PyExc_TypeError, "%s is a list of words, not one text", what);
        return false;
    }
    PyObject *const all = PySequence_List(from);
    if (!all) return false;
    const Py_ssize_t n = PyList_GET_SIZE(all);
    p->held = PyList_New(0);
    p->texts = PyMem_Calloc((size_t)n + 1, sizeof *p->texts);
    bool good = p->held != NULL;
    if (!p->texts) good = PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++) {
        PyObject *text = NULL;
        good = PyUnicode_FSConverter(PyList_GET_ITEM(all, i), &text) && PyList_Append(p->held, text) == 0;
        if (good) p->texts[i] = PyBytes_AS_STRING(text);
        Py_XDECREF(text);
    }
    Py_DECREF(all);
    if (!good) paths_release(p);
    return good;
}

/* A path or None; *to is strong, NULL for None. */
static int path_or_none(PyObject *from, void *to) {
    if (!from) { /* clean-up */
        Py_CLEAR(*(PyObject **)to);
        return 1;
    }
    if (from == Py_None) return 1;
    return PyUnicode_FSConverter(from, to);
}

static const char *text_of(PyObject *bytes) { return bytes ? PyBytes_AS_STRING(bytes) : NULL; }

/* The table of a policy of any such module, which is there as long as *holds is; NULL: an exception is set. */
static const struct upk_policy *table_of(PyObject *policy, PyObject **holds) {
    PyObject *const capsule = *holds = PyObject_GetAttrString(policy, UPK_PY_TABLE);
    const struct upk_policy *const table = capsule ? PyCapsule_GetPointer(capsule, UPK_PY_TABLE) : NULL;
    if (!table) PyErr_Format(PyExc_TypeError, "rules is a policy, not %.100s", Py_TYPE(policy)->tp_name);
    return table;
}

static void table_release(PyObject *capsule) { Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule)); }

PyObject *guard_table(struct guard *g) {
    union {
        const struct upk_policy *read;
        void *pointer;
    } table = {g->policy};
    PyObject *const capsule = PyCapsule_New(table.pointer, UPK_PY_TABLE, table_release);
    /* A table of with_types goes with its policy.  Others stand in the module's code; a capsule in the dict of the module that held
     * it would be a cycle that nobody sees. */
    if (capsule && (g->own || g->of) && PyCapsule_SetContext(capsule, g) == 0) Py_INCREF(g);
    return capsule;
}

/* ---- the reply */

static const struct upk_policy *channel_of(const struct host *h, const char *name) {
    for (size_t i = 0; h->remote_error && i < h->definition->channel_count; i++)
        if (strcmp(h->definition->channels[i].name, name) == 0) return h->definition->channels[i].policy;
    return NULL;
}

static PyObject *form_bytes(const struct upk_run_reply *reply, int form) {
    return PyBytes_FromStringAndSize((const char *)reply->forms[form].data,
                                     (Py_ssize_t)reply->forms[form].len);
}

/* Always NULL: the exception is set, or why there is none. */
static PyObject *raise_reply(const struct guard *g, PyObject *rich, PyObject *words) {
    PyObject *const error = PyObject_CallMethod(g->module, "decode_exception", "OO", rich, words);
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

static PyObject *reply_value(struct guard *g, const struct upk_run_reply *reply) {
    PyObject *value = NULL, *const result = form_bytes(reply, UPK_RUN_RESULT),
             *const rich = form_bytes(reply, UPK_RUN_EXCEPTION),
             *const words = form_bytes(reply, UPK_RUN_DESCRIPTOR);
    if (result && rich && words)
        value = PyBytes_GET_SIZE(rich) || PyBytes_GET_SIZE(words)
                    ? raise_reply(g, rich, words)
                    : PyObject_CallMethod((PyObject *)g, "loads", "O", result);
    Py_XDECREF(result);
    Py_XDECREF(rich);
    Py_XDECREF(words);
    return value;
}

/* ---- the call */

static PyObject *run(struct run *r, const struct upk_run_options *o) {
    struct upk_run_reply reply;
    struct upk_error err;
    gil_give(r);
    const bool good = upk_run(r->guard->policy, o, &reply, &err);
    gil_take(r);
    PyObject *value = NULL;
    if (!r->failed) value = good ? reply_value(r->guard, &reply) : refused(r->guard->host, &err);
    if (good) upk_run_reply_free(&reply);
    return value;
}

/* The folder that one is in, where none is given. */
static bool folder_find(PyObject **folder) {
    char here[PATH_MAX];
    if (*folder) return true;
    if (!getcwd(here, sizeof here)) {
        (void)PyErr_SetFromErrno(PyExc_OSError);
        return false;
    }
    *folder = PyBytes_FromString(here);
    return *folder != NULL;
}

struct run_options { /* borrowed but for the paths */
    struct environment_arguments environment;
    PyObject *command, *visible, *rules, *said;
    PyObject *folder, *state, *bubblewrap; /* strong bytes; NULL: not given */
    int allow_unconfined, by_stdout;
};

static PyObject *run_with(struct guard *g, const struct run_options *a, struct upk_run_options *o) {
    struct run r = {.guard = g, .said = a->said == Py_None ? NULL : a->said};
    struct environment_inputs in;
    if (!environment_take(&in, &a->environment)) return NULL;
    const struct upk_manifest manifest = {in.entries, in.count};
    o->home = in.home;
    o->host_env = in.host;
    o->manifest = &manifest;
    o->exception = channel_of(g->host, UPK_PY_EXCEPTION);
    o->descriptor = channel_of(g->host, UPK_PY_DESCRIPTOR);
    o->flags = (a->allow_unconfined ? (uint32_t)UPK_RUN_ALLOW_UNCONFINED : 0u) |
               (a->by_stdout ? (uint32_t)UPK_RUN_STDOUT : 0u);
    o->ask = run_ask;
    o->said = run_said;
    o->warn = run_warn;
    o->ask_ctx = o->said_ctx = o->warn_ctx = &r;
    PyObject *const value = run(&r, o);
    environment_release(&in);
    return value;
}

static PyObject *run_by_options(struct guard *g, struct run_options *a) {
    struct paths command = {0}, visible = {0};
    PyObject *value = NULL;
    if (a->state && g->own) {
        PyErr_SetString(
            PyExc_ValueError,
            "run() keeps no state for a policy of with_types: no file says which classes it admits");
        return NULL;
    }
    if (folder_find(&a->folder) && paths_take(&command, a->command, "command") &&
        (a->visible == Py_None || paths_take(&visible, a->visible, "visible"))) {
        struct upk_run_options o = {.command = command.texts,
                                    .visible = visible.texts,
                                    .folder = text_of(a->folder),
                                    .state = text_of(a->state),
                                    .bubblewrap = text_of(a->bubblewrap)};
        PyObject *holds = NULL;
        if (a->rules == Py_None || (o.rules = table_of(a->rules, &holds)) != NULL) value = run_with(g, a, &o);
        Py_XDECREF(holds);
    }
    paths_release(&command);
    paths_release(&visible);
    return value;
}

PyObject *guard_run(PyObject *self, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"",           "folder",           "home",   "host",  "manifest",
                                        "from_host",  "visible",          "state",  "rules", "stderr",
                                        "bubblewrap", "allow_unconfined", "stdout", NULL};
    struct run_options a = {.environment = {Py_None, Py_None, Py_None, Py_None},
                            .visible = Py_None,
                            .rules = Py_None,
                            .said = Py_None};
    struct environment_arguments *const e = &a.environment;
    char *own[sizeof names / sizeof *names];
    memcpy(own, names, sizeof own);
    PyObject *value = NULL;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&OOOOOO&OOO&pp:run", own, &a.command, path_or_none,
                                    &a.folder, &e->home, &e->host, &e->manifest, &e->from_host, &a.visible,
                                    path_or_none, &a.state, &a.rules, &a.said, path_or_none, &a.bubblewrap,
                                    &a.allow_unconfined, &a.by_stdout))
        value = run_by_options((struct guard *)self, &a);
    Py_XDECREF(a.folder);
    Py_XDECREF(a.state);
    Py_XDECREF(a.bubblewrap);
    return value;
}

/* ---- of a module with channels */

static PyObject *module_run(PyObject *module, PyObject *args, PyObject *keywords) {
    PyObject *value = NULL, *const rest = keywords ? PyDict_Copy(keywords) : PyDict_New();
    PyObject *channel = rest ? PyDict_GetItemString(rest, "channel") : NULL; /* borrowed */
    if (!rest) return NULL;
    if (channel && PyUnicode_Check(channel)) {
        PyObject *const policy = PyObject_GetAttr(module, channel);
        if (policy && !is_policy(policy))
            PyErr_Format(PyExc_ValueError, "the policy has no channel %R", channel);
        PyObject *const function = policy && is_policy(policy) && PyDict_DelItemString(rest, "channel") == 0
                                       ? PyObject_GetAttrString(policy, "run")
                                       : NULL;
        if (function) value = PyObject_Call(function, args, rest);
        Py_XDECREF(function);
        Py_XDECREF(policy);
    } else {
        PyErr_SetString(PyExc_TypeError,
                        "run() needs channel=, the name of the channel that the result comes by");
    }
    Py_DECREF(rest);
    return value;
}

bool run_add(PyObject *module, const struct host *h) {
    static PyMethodDef functions[] = {
        {"run", (PyCFunction)(void (*)(void))module_run, METH_VARARGS | METH_KEYWORDS,
         "run($module, command, /, *, channel, **options)\n--\n\n"
         "As run of the channel of this name."},
        {NULL, NULL, 0, NULL},
    };
    return !*h->definition->channels[0].name || PyModule_AddFunctions(module, functions) == 0;
}
