/* What a pickle says and uses, without a policy's verdict: inspect and scan.  Layer: see host.h. */
#include "host.h"

#include <stdlib.h>

/* ---- inspect */

struct grown { /* text in the making; it is made without the GIL */
    char *at;
    size_t len, room;
    bool failed;
};

static bool grow(void *ctx, const char *text, size_t len) {
    struct grown *const g = ctx;
    if (len > g->room - g->len) {
        const size_t room = g->room * 2 + len;
        char *const wide = room < len ? NULL : realloc(g->at, room);
        g->failed = wide == NULL;
        if (!wide) return false;
        g->at = wide;
        g->room = room;
    }
    memcpy(g->at + g->len, text, len);
    g->len += len;
    return true;
}

typedef bool (*print_fn)(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);

static print_fn printer(PyObject *form) {
    if (!form) return upk_print_repr;
    if (!PyUnicode_Check(form)) {
        PyErr_Format(PyExc_TypeError, "inspect() takes a str as form, not %.100s", Py_TYPE(form)->tp_name);
        return NULL;
    }
    if (PyUnicode_CompareWithASCIIString(form, "repr") == 0) return upk_print_repr;
    if (PyUnicode_CompareWithASCIIString(form, "tree") == 0) return upk_print_tree;
    if (PyUnicode_CompareWithASCIIString(form, "json") == 0) return upk_print_json;
    PyErr_SetString(PyExc_ValueError, "inspect() takes 'repr', 'tree' or 'json' as form");
    return NULL;
}

static bool print_all(const struct call *c, const uint8_t *bytes, size_t len, print_fn print,
                      struct grown *text, struct upk_error *err) {
    struct upk_doc *doc;
    if (!upk_inspect(bytes, len, &c->options, &doc, err)) return false;
    const bool good = print(doc, grow, text, err);
    upk_doc_free(doc);
    return good;
}

/* Every family of opcodes, persistent ids inert, the policy's budgets. */
static void look_at_all(struct call *c) {
    c->options.persid = NULL;
    c->options.flags = UPK_FAMILY_FLAGS;
    c->options.families = (1u << UPK_FAMILY_COUNT) - 1;
    c->options.budgets = c->guard->policy->budgets;
}

PyObject *inspect_data(struct guard *g, const struct arguments *a, const uint8_t *bytes, size_t len) {
    struct call c;
    struct upk_error err;
    struct grown text = {0};
    PyObject *made = NULL;
    const print_fn print = printer(a->form);
    if (!print || !call_begin(&c, g, a, len)) return NULL;
    look_at_all(&c);
    PyThreadState *const thread = len >= WITHOUT_GIL ? PyEval_SaveThread() : NULL;
    const bool good = print_all(&c, bytes, len, print, &text, &err);
    if (thread) PyEval_RestoreThread(thread);
    if (good)
        made = PyUnicode_DecodeUTF8(text.at, (Py_ssize_t)text.len, "surrogatepass");
    else if (text.failed)
        (void)PyErr_NoMemory();
    else
        (void)refused(g->host, &err);
    free(text.at);
    call_end(&c);
    return made;
}

/* ---- scan */

/* Takes the reference to `value`. */
static bool put(PyObject *dict, const char *key, PyObject *value) {
    const bool good = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return good;
}

static PyObject *scanned_name(const struct upk_scan_name *n) {
    PyObject *const d = PyDict_New();
    if (!d) return NULL;
    if (put(d, "module", PyUnicode_FromString(n->module)) &&
        put(d, "qualname", PyUnicode_FromString(n->name)) &&
        put(d, "offset", PyLong_FromUnsignedLongLong(n->offset)) &&
        put(d, "opcode", PyUnicode_FromString(upk_op_name(n->opcode))) &&
        put(d, "uses", PyLong_FromUnsignedLongLong(n->count)) &&
        put(d, "dangerous", PyBool_FromLong(n->dangerous)))
        return d;
    Py_DECREF(d);
    return NULL;
}

static PyObject *scanned_names(const struct upk_scan_result *s) {
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list && i < s->name_count; i++) {
        PyObject *const name = scanned_name(&s->names[i]);
        const bool good = name && PyList_Append(list, name) == 0;
        Py_XDECREF(name);
        if (!good) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* {word of each number that is not 0: the number}, or of all. */
static PyObject *counts(const uint64_t *numbers, size_t from, size_t to, const char *(*word)(unsigned),
                        bool all) {
    PyObject *const d = PyDict_New();
    for (size_t i = from; d && i < to; i++) {
        if (!all && !numbers[i]) continue;
        if (!put(d, word((unsigned)i), PyLong_FromUnsignedLongLong(numbers[i]))) {
            Py_DECREF(d);
            return NULL;
        }
    }
    return d;
}

static PyObject *scanned(const struct upk_scan_result *s) {
    PyObject *const d = PyDict_New();
    if (!d) return NULL;
    if (put(d, "protocol", PyLong_FromUnsignedLong(s->protocol)) &&
        put(d, "cyclic", PyBool_FromLong(s->cyclic)) && put(d, "names", scanned_names(s)) &&
        put(d, "opcodes", counts(s->opcodes, 1, UPK_OP_END, upk_op_name, false)) &&
        put(d, "budgets", counts(s->figures, 0, UPK_BUDGET_COUNT, upk_budget_word, true)))
        return d;
    Py_DECREF(d);
    return NULL;
}

PyObject *scan_data(struct guard *g, const struct arguments *a, const uint8_t *bytes, size_t len) {
    struct call c;
    struct upk_error err;
    struct upk_scan_result *s = NULL;
    if (!call_begin(&c, g, a, len)) return NULL;
    look_at_all(&c);
    PyThreadState *const thread = len >= WITHOUT_GIL ? PyEval_SaveThread() : NULL;
    const bool good = upk_scan(bytes, len, &c.options, &s, &err);
    if (thread) PyEval_RestoreThread(thread);
    PyObject *const made = good ? scanned(s) : refused(g->host, &err);
    upk_scan_free(s);
    call_end(&c);
    return made;
}
