/* The function decode_exception of modules whose policy has channels `exception` and `descriptor`: an exception of another process,
 * by whichever of two forms can be had.
 *
 *   exception    the exception itself, or (exception, traceback)
 *   descriptor   (module, qualname, message, denials[, scalars | None[, members]]), or (that, traceback): what to say of it where the
 *                first form cannot be had, for whatever reason
 *
 * What the second form names and this process cannot make (described.c), or what no host is given to raise (signals.c), becomes a
 * RemoteError that says so.
 *
 * Layer: see host.h.
 */
#include "ladder.h"

#include <stdio.h>

static PyObject *remote_error_class(const struct upk_py_module *definition) {
    static const char doc[] = "An exception of another process whose class this one cannot make: it is not "
                              "loaded, is no Exception, or acts on whoever\n"
                              "raises it.  str() is `module.qualname: message'; its parts are attributes.";
    char name[160];
    (void)snprintf(name, sizeof name, "%s.RemoteError", definition->name);
    PyObject *const members =
        Py_BuildValue("{sOsOsO}", "module", Py_None, "qualname", Py_None, "message", Py_None);
    PyObject *const made = members ? PyErr_NewExceptionWithDoc(name, doc, PyExc_Exception, members) : NULL;
    Py_XDECREF(members);
    return made;
}

bool forgiven(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_Clear();
    return true;
}

PyObject *refused_words(const struct ladder *l, const char *words) {
    PyErr_SetString(l->host->refused_error, words);
    return NULL;
}

bool is_harmless(const struct ladder *l, PyTypeObject *type, bool *harmless) {
    bool is_signal;
    if (!exception_is_signal(type, &is_signal)) return false;
    *harmless = !is_signal && !is_under(type, l->host->refused_error);
    return true;
}

/* ---- the two forms */

/* The members of a pair, or the value and None: borrowed. */
static void take_apart(PyObject *value, bool is_pair, PyObject **first, PyObject **traceback) {
    *first = is_pair ? PyTuple_GET_ITEM(value, 0) : value;
    *traceback = is_pair ? PyTuple_GET_ITEM(value, 1) : Py_None;
}

static bool is_pair(PyObject *value) { return PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2; }

static PyObject *load(PyObject *policy, PyObject *data) {
    return PyObject_CallMethod(policy, "loads", "O", data);
}

/* Can it be printed?  str(), repr() and a look for notes are the class's own.  false: an exception is set, which may be theirs. */
static bool is_printable(PyObject *error) {
    PyObject *const text = PyObject_Str(error);
    PyObject *const shown = text ? PyObject_Repr(error) : NULL;
    PyObject *const notes = shown ? PyObject_GetAttrString(error, "__notes__") : NULL;
    const bool none = shown && !notes && PyErr_ExceptionMatches(PyExc_AttributeError);
    if (none) PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(shown);
    Py_XDECREF(notes);
    return notes || none;
}

/* false: an exception is set. */
static bool rich_suits(const struct ladder *l, PyObject *error) {
    const char *why = NULL;
    bool harmless = false, is_short = true;
    if (PyExceptionInstance_Check(error) && !is_harmless(l, Py_TYPE(error), &harmless)) return false;
    if (!harmless) why = "what the channel `exception' admits is no Exception that a host may raise";
    if (!why && (!exception_sound(error, &why) || !exception_is_short(error, &is_short))) return false;
    if (!why && !is_short) why = "what the channel `exception' admits is too long to be printed";
    if (!why && !is_printable(error)) {
        if (!forgiven()) return false;
        why = "what the channel `exception' admits cannot be printed";
    }
    if (why) (void)refused_words(l, why);
    return !why;
}

/* New references; NULL with an exception set. */
static PyObject *rich_form(const struct ladder *l, PyObject **traceback) {
    PyObject *first, *const value = load(l->by_exception, l->rich);
    if (!value) return NULL;
    take_apart(value, is_pair(value), &first, traceback);
    if (rich_suits(l, first)) {
        Py_INCREF(first);
        Py_INCREF(*traceback);
    } else {
        first = NULL;
    }
    Py_DECREF(value);
    return first;
}

/* What was loaded of the descriptor, which keeps `d` and `traceback` alive; NULL with an exception set. */
static PyObject *words_form(const struct ladder *l, struct descriptor *d, PyObject **traceback) {
    PyObject *first, *const value = load(l->by_descriptor, l->words);
    if (!value) return NULL;
    take_apart(value, is_pair(value), &first, traceback);
    if (descriptor_read(d, first)) return value;
    Py_DECREF(value);
    return refused_words(l, "what the channel `descriptor' admits is no descriptor");
}

/* In the dict that all exceptions have, whatever the class does with attributes. */
static bool set_origin(PyObject *error, const struct descriptor *d, PyObject *traceback, PyObject *refusal) {
    PyObject **const own = &((PyBaseExceptionObject *)error)->dict;
    PyObject *const denials = d->denials ? PyList_AsTuple(d->denials) : PyTuple_New(0);
    if (!*own) *own = PyDict_New();
    const bool good = denials && *own && PyDict_SetItemString(*own, "__remote_denials__", denials) == 0 &&
                      PyDict_SetItemString(*own, "__remote_traceback__", traceback) == 0 &&
                      PyDict_SetItemString(*own, "__remote_refusal__", refusal) == 0;
    Py_XDECREF(denials);
    return good;
}

/* The exception that is set, if it is an Exception, and no longer is; new reference. */
static PyObject *take_refusal(void) {
    PyObject *type, *value, *traceback;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

/* By the descriptor, or where there is none, or it is refused as well, an exception is set. */
static PyObject *second_form(struct ladder *l, PyObject *refusal) {
    struct descriptor d;
    PyObject *traceback;
    if (!l->words && refusal != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(refusal), refusal);
        return NULL;
    }
    if (!l->words) return refused_words(l, "the sender gave neither an exception nor a descriptor");
    PyObject *const value = words_form(l, &d, &traceback);
    PyObject *error = value ? described(l, &d, 0) : NULL;
    if (error && !set_origin(error, &d, traceback, refusal)) Py_CLEAR(error);
    Py_XDECREF(value);
    return error;
}

/* The exception that came whole: what was denied is in the descriptor alone. */
static bool set_denials(const struct ladder *l, PyObject *error, PyObject *traceback) {
    struct descriptor d = {0};
    PyObject *unused, *const value = l->words ? words_form(l, &d, &unused) : NULL;
    if (!value) d.denials = NULL;
    const bool good = (value || !PyErr_Occurred() || forgiven()) && set_origin(error, &d, traceback, Py_None);
    Py_XDECREF(value);
    return good;
}

static PyObject *decode(struct ladder *l) {
    PyObject *traceback = NULL;
    PyObject *error = l->rich ? rich_form(l, &traceback) : NULL;
    if (error) {
        if (!set_denials(l, error, traceback)) Py_CLEAR(error);
        Py_DECREF(traceback);
        return error;
    }
    PyObject *refusal = Py_None;
    if (l->rich) {
        refusal = take_refusal();
        if (!refusal) return NULL;
    } else {
        Py_INCREF(refusal);
    }
    error = second_form(l, refusal);
    Py_DECREF(refusal);
    return error;
}

/* ---- the function */

/* None and what is empty are not given. */
static bool take_stream(PyObject **to, PyObject *value, const char *what) {
    *to = NULL;
    if (value == Py_None) return true;
    if (PyUnicode_Check(value) || !PyObject_CheckBuffer(value)) {
        PyErr_Format(PyExc_TypeError, "decode_exception() takes bytes or None as %s, not %.100s", what,
                     Py_TYPE(value)->tp_name);
        return false;
    }
    const Py_ssize_t len = PyObject_Size(value);
    if (len) *to = value;
    return len >= 0;
}

static bool take_options(struct ladder *l, PyObject *exception, PyObject *class) {
    l->by_exception = exception;
    l->stand_in = class == Py_None ? l->host->remote_error : class;
    if (!is_policy(exception)) {
        PyErr_Format(PyExc_TypeError, "decode_exception() takes a Policy as exception, not %.100s",
                     Py_TYPE(exception)->tp_name);
        return false;
    }
    bool harmless = false;
    if (PyType_Check(l->stand_in) && !is_harmless(l, (PyTypeObject *)l->stand_in, &harmless)) return false;
    if (harmless) return true;
    PyErr_SetString(PyExc_TypeError, "decode_exception() takes a class of exceptions as stand_in");
    return false;
}

static PyObject *decode_exception(PyObject *module, PyObject *args, PyObject *keywords) {
    char none[] = "", own_exception[] = "exception", own_stand_in[] = "stand_in";
    char *names[] = {none, none, own_exception, own_stand_in, NULL};
    struct ladder l = {.host = host_of(module), .members_left = GROUP_MEMBERS_MOST};
    PyObject *rich, *words = Py_None, *exception = Py_None, *class = Py_None, *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$OO:decode_exception", names, &rich, &words,
                                     &exception, &class))
        return NULL;
    /* What stands in the module under the channels' names is its host's to replace, and then it counts. */
    PyObject *const by_exception = PyObject_GetAttrString(module, UPK_PY_EXCEPTION);
    PyObject *const by_descriptor = by_exception ? PyObject_GetAttrString(module, UPK_PY_DESCRIPTOR) : NULL;
    l.by_descriptor = by_descriptor;
    if (by_descriptor && take_stream(&l.rich, rich, "the first form") &&
        take_stream(&l.words, words, "the descriptor") &&
        take_options(&l, exception == Py_None ? by_exception : exception, class))
        made = decode(&l);
    Py_XDECREF(by_exception);
    Py_XDECREF(by_descriptor);
    return made;
}

bool ladder_add(PyObject *module, struct host *h) {
    static PyMethodDef functions[] = {
        {"decode_exception", (PyCFunction)(void (*)(void))decode_exception, METH_VARARGS | METH_KEYWORDS,
         "decode_exception($module, rich, descriptor=None, /, *, exception=None, "
         "stand_in=RemoteError)\n--\n\n"
         "An exception of another process, to be raised: by the pickle `rich` under the channel `exception`, "
         "or if that fails\n"
         "for any reason by the pickle `descriptor` under the channel `descriptor`; None or b'' is a form "
         "that was not sent.\n"
         "Where neither can be had: RefusedError.  Its attributes __remote_denials__, __remote_traceback__ "
         "and\n"
         "__remote_refusal__ say what the descriptor says was denied, the traceback, and why the first form "
         "was not taken."},
        {NULL, NULL, 0, NULL},
    };
    size_t found = 0;
    for (size_t i = 0; i < h->definition->channel_count; i++) {
        const char *const name = h->definition->channels[i].name;
        found += strcmp(name, UPK_PY_EXCEPTION) == 0 || strcmp(name, UPK_PY_DESCRIPTOR) == 0;
    }
    if (found != 2) return true;
    h->remote_error = remote_error_class(h->definition);
    return h->remote_error && attribute_set(h->remote_error, "__module__", PyModule_GetNameObject(module)) &&
           PyObject_SetAttrString(module, "RemoteError", h->remote_error) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}
