/* The function decode_exception of modules whose policy has channels `exception` and `descriptor`: an exception of another process,
 * by whichever of two forms can be had.
 *
 *   exception    the exception itself, or (exception, traceback)
 *   descriptor   (module, qualname, message, denials[, scalars | None[, members]]), or (that, traceback): what to say of it where the
 *                first form cannot be had, for whatever reason
 *
 * The class of a descriptor is looked up among loaded modules, without running code, and made by its __new__.  No __init__ that is
 * Python code runs.  What cannot be made, or is no Exception that a host may raise, becomes a RemoteError that says so.
 *
 * Layer: see host.h.
 */
#include "bind.h"

#include <stdio.h>

enum { GROUPS_MOST = 16 }; /* groups within groups; deeper ones are RemoteErrors */

struct descriptor { /* all borrowed */
    PyObject *module, *qualname, *message, *denials;
    PyObject *scalars, *members; /* NULL: none */
};

struct ladder {
    struct host *host;
    PyObject *rich, *words;                 /* borrowed: the two streams; NULL: not given */
    PyObject *by_exception, *by_descriptor; /* borrowed: their policies */
    PyObject *stand_in;                     /* borrowed: class for what cannot be made */
};

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

/* Forgets an Exception that is set; others (KeyboardInterrupt) stay: false. */
static bool forgiven(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_Clear();
    return true;
}

static PyObject *refused_words(const struct ladder *l, const char *words) {
    PyErr_SetString(l->host->refused_error, words);
    return NULL;
}

/* ---- classes */

static bool is_under(PyTypeObject *type, PyObject *base) {
    return base && PyType_IsSubtype(type, (PyTypeObject *)base);
}

/* May a host be given one to raise?  Not what ends a generator or a program, nor what says that a guard refused something. */
static bool is_harmless(const struct ladder *l, PyTypeObject *type) {
    return is_under(type, PyExc_Exception) && !is_under(type, PyExc_StopIteration) &&
           !is_under(type, PyExc_StopAsyncIteration) && !is_under(type, l->host->refused_error);
}

static bool is_group(PyTypeObject *type) {
#if PY_VERSION_HEX >= 0x030B0000
    return is_under(type, PyExc_BaseExceptionGroup);
#else
    (void)type;
    return false;
#endif
}

/* New reference; NULL without an exception: there is no such class, or none of its kind. */
static PyTypeObject *class_find(const struct ladder *l, const struct descriptor *d) {
    const char *why;
    Py_ssize_t module_len = 0, name_len = 0;
    const char *const module = PyUnicode_AsUTF8AndSize(d->module, &module_len);
    const char *const name = module ? PyUnicode_AsUTF8AndSize(d->qualname, &name_len) : NULL;
    if (!name) {
        PyErr_Clear();
        return NULL;
    }
    const struct upk_compat place = {.module = (const uint8_t *)module,
                                     .module_len = (size_t)module_len,
                                     .name = (const uint8_t *)name,
                                     .name_len = (size_t)name_len};
    PyObject *const found = name_len ? name_find(place, &why) : NULL;
    if (found && PyType_Check(found) && is_harmless(l, (PyTypeObject *)found)) return (PyTypeObject *)found;
    Py_XDECREF(found);
    return NULL;
}

/* ---- what only the bases of C know of an exception */

static bool base_init(PyObject *base, PyObject *error, PyObject *args) {
    return ((PyTypeObject *)base)->tp_init(error, args, NULL) == 0;
}

static bool base_member(PyObject *base, PyObject *error, const char *name, PyObject *value) {
    PyObject *member;
    if (!class_member((PyTypeObject *)base, name, &member, NULL)) return false;
    if (!member || !Py_TYPE(member)->tp_descr_set) return true;
    return Py_TYPE(member)->tp_descr_set(member, error, value) == 0;
}

static PyObject *scalar(const struct descriptor *d, Py_ssize_t i) {
    return d->scalars && i < PyTuple_GET_SIZE(d->scalars) ? PyTuple_GET_ITEM(d->scalars, i) : NULL;
}

static bool is_path(PyObject *value) { return value && (PyUnicode_Check(value) || PyBytes_Check(value)); }

/* An OSError keeps its number, its text and its files in places of its own, which its __new__ alone fills, or its __init__. */
static bool set_os_error(PyObject *error, const struct descriptor *d) {
    PyObject *const number = scalar(d, 0), *const text = scalar(d, 1), *const file = scalar(d, 2),
                    *const second = scalar(d, 4);
    if (!text) return true;
    if (file && PyLong_Check(file) && is_under(Py_TYPE(error), PyExc_BlockingIOError))
        return base_member(PyExc_OSError, error, "errno", number) &&
               base_member(PyExc_OSError, error, "strerror", text) &&
               base_member(PyExc_OSError, error, "characters_written", file);
    PyObject *const args = PyTuple_Pack(2, number, text);
    const bool good = args && base_init(PyExc_BaseException, error, args) &&
                      base_member(PyExc_OSError, error, "errno", number) &&
                      base_member(PyExc_OSError, error, "strerror", text) &&
                      (!is_path(file) || base_member(PyExc_OSError, error, "filename", file)) &&
                      (!is_path(second) || base_member(PyExc_OSError, error, "filename2", second));
    Py_XDECREF(args);
    return good;
}

/* The arguments of a UnicodeDecodeError (of bytes) or UnicodeEncodeError, or without the encoding of a UnicodeTranslateError. */
static bool set_unicode_error(PyObject *error, const struct descriptor *d, PyObject *base) {
    const Py_ssize_t at = base == PyExc_UnicodeTranslateError ? 0 : 1;
    if (!scalar(d, at + 3) || PyTuple_GET_SIZE(d->scalars) != at + 4) return true;
    PyObject *const object = scalar(d, at);
    const bool kind = base == PyExc_UnicodeDecodeError ? PyBytes_Check(object) : PyUnicode_Check(object);
    if (!kind || !PyUnicode_Check(scalar(d, at + 3)) || (at && !PyUnicode_Check(scalar(d, 0)))) return true;
    return !places_good(object, scalar(d, at + 1), scalar(d, at + 2)) || base_init(base, error, d->scalars);
}

static bool set_message(PyObject *error, const struct descriptor *d, PyObject *base) {
    PyObject *const args = PyTuple_Pack(1, d->message);
    const bool good = args && base_init(base, error, args);
    Py_XDECREF(args);
    return good;
}

static bool set_fields(PyObject *error, const struct descriptor *d) {
    PyObject *const coded[] = {PyExc_UnicodeDecodeError, PyExc_UnicodeEncodeError,
                               PyExc_UnicodeTranslateError};
    PyTypeObject *const type = Py_TYPE(error);
    if (is_group(type)) return true; /* by its __new__ */
    if (is_under(type, PyExc_SyntaxError)) return set_message(error, d, PyExc_SyntaxError);
    if (is_under(type, PyExc_ImportError)) return set_message(error, d, PyExc_ImportError);
    const bool good = d->scalars ? base_init(PyExc_BaseException, error, d->scalars)
                                 : set_message(error, d, PyExc_BaseException);
    if (!good) return false;
    if (is_under(type, PyExc_OSError)) return set_os_error(error, d);
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++) {
        if (is_under(type, coded[i])) return set_unicode_error(error, d, coded[i]);
    }
    return true;
}

/* ---- descriptors */

static bool all_text(PyObject *list) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (!PyUnicode_Check(PyList_GET_ITEM(list, i))) return false;
    }
    return true;
}

/* The policy has judged it already; this holds whatever its author wrote there. */
static bool descriptor_read(struct descriptor *d, PyObject *value) {
    *d = (struct descriptor){0};
    if (!PyTuple_Check(value)) return false;
    const Py_ssize_t n = PyTuple_GET_SIZE(value);
    if (n < 4 || n > 6) return false;
    d->module = PyTuple_GET_ITEM(value, 0);
    d->qualname = PyTuple_GET_ITEM(value, 1);
    d->message = PyTuple_GET_ITEM(value, 2);
    d->denials = PyTuple_GET_ITEM(value, 3);
    if (n > 4 && PyTuple_GET_ITEM(value, 4) != Py_None) d->scalars = PyTuple_GET_ITEM(value, 4);
    if (n > 5) d->members = PyTuple_GET_ITEM(value, 5);
    return PyUnicode_Check(d->module) && PyUnicode_Check(d->qualname) && PyUnicode_Check(d->message) &&
           PyList_Check(d->denials) && all_text(d->denials) && (!d->scalars || PyTuple_Check(d->scalars)) &&
           (!d->members || PyList_Check(d->members));
}

static PyObject *described(const struct ladder *l, const struct descriptor *d, unsigned depth);

/* The exceptions of a group: new reference to a list. */
static PyObject *members_make(const struct ladder *l, const struct descriptor *d, unsigned depth) {
    PyObject *const made = PyList_New(0);
    for (Py_ssize_t i = 0; made && d->members && i < PyList_GET_SIZE(d->members); i++) {
        struct descriptor one;
        PyObject *const member = descriptor_read(&one, PyList_GET_ITEM(d->members, i))
                                     ? described(l, &one, depth + 1)
                                     : refused_words(l, "a member of a group is no descriptor");
        const bool good = member && PyList_Append(made, member) == 0;
        Py_XDECREF(member);
        if (good) continue;
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

/* What its __new__ takes. */
static PyObject *arguments_of_new(const struct ladder *l, PyTypeObject *type, const struct descriptor *d,
                                  unsigned depth) {
    if (!is_group(type)) return PyTuple_New(0);
    PyObject *const first = scalar(d, 0), *const members = members_make(l, d, depth);
    return members ? Py_BuildValue("(ON)", first && PyUnicode_Check(first) ? first : d->message, members)
                   : NULL;
}

/* New reference.  NULL without an exception: its class does not make one of its own that nobody else holds. */
static PyObject *instance(const struct ladder *l, PyTypeObject *type, const struct descriptor *d,
                          unsigned depth) {
    PyObject *const args = arguments_of_new(l, type, d, depth);
    PyObject *const error = args ? type->tp_new(type, args, NULL) : NULL;
    Py_XDECREF(args);
    const bool good =
        error && PyObject_TypeCheck(error, type) && Py_REFCNT(error) == 1 && set_fields(error, d);
    if (good) return error;
    Py_XDECREF(error);
    return NULL;
}

/* What str() gives.  NULL with an exception: it cannot be printed, for str(), repr() or a look for notes fails.  No other code of its
 * class runs here. */
static PyObject *text_of(PyObject *error) {
    PyObject *text = PyObject_Str(error);
    PyObject *const shown = text ? PyObject_Repr(error) : NULL;
    PyObject *const notes = shown ? PyObject_GetAttrString(error, "__notes__") : NULL;
    const bool none = shown && !notes && PyErr_ExceptionMatches(PyExc_AttributeError);
    if (none) PyErr_Clear();
    if (!notes && !none) Py_CLEAR(text);
    Py_XDECREF(shown);
    Py_XDECREF(notes);
    return text;
}

/* Can it be printed, and is that the message? */
static bool says(PyObject *error, PyObject *message) {
    PyObject *const text = text_of(error);
    const bool good = text && PyUnicode_Compare(text, message) == 0;
    Py_XDECREF(text);
    return good;
}

static PyObject *own_message(PyObject *unused, PyObject *error) {
    (void)unused;
    return PyObject_GetAttrString(error, "__remote_message__");
}

/* A subclass of the same name whose str() is the message: for classes that make their text out of a state, which is lost.  New
 * reference. */
static PyTypeObject *worded_class(PyTypeObject *type, const struct descriptor *d) {
    static PyMethodDef method = {"__str__", own_message, METH_O, NULL};
    PyObject *repr, *made = NULL;
    if (!class_member((PyTypeObject *)PyExc_BaseException, "__repr__", &repr, NULL)) return NULL;
    PyObject *const function = PyCFunction_New(&method, NULL);
    PyObject *const str = function ? PyInstanceMethod_New(function) : NULL;
    PyObject *const name = PyObject_GetAttrString((PyObject *)type, "__name__");
    if (str && name)
        made = PyObject_CallFunction((PyObject *)&PyType_Type, "O(O){sOsOsOsOsO}", name, type, "__module__",
                                     d->module, "__qualname__", d->qualname, "__str__", str, "__repr__", repr,
                                     "__remote_message__", d->message);
    Py_XDECREF(name);
    Py_XDECREF(str);
    Py_XDECREF(function);
    if (made && PyType_Check(made)) return (PyTypeObject *)made;
    Py_XDECREF(made);
    return NULL;
}

static PyObject *worded_instance(const struct ladder *l, PyTypeObject *type, const struct descriptor *d,
                                 unsigned depth) {
    PyTypeObject *const worded = worded_class(type, d);
    PyObject *error = worded ? instance(l, worded, d, depth) : NULL;
    Py_XDECREF(worded);
    if (error && !says(error, d->message)) Py_CLEAR(error);
    return error;
}

/* New reference.  NULL: it cannot be; with an exception set where that is to go on. */
static PyObject *by_its_class(const struct ladder *l, const struct descriptor *d, unsigned depth) {
    PyTypeObject *const type = depth < GROUPS_MOST ? class_find(l, d) : NULL;
    PyObject *error = type ? instance(l, type, d, depth) : NULL;
    if (error && !is_group(type) && !says(error, d->message)) {
        Py_CLEAR(error);
        if (!PyErr_Occurred() || forgiven()) error = worded_instance(l, type, d, depth);
    }
    Py_XDECREF(type);
    if (!error && PyErr_Occurred()) (void)forgiven();
    return error;
}

static PyObject *stand_in(const struct ladder *l, const struct descriptor *d) {
    PyObject *const text = PyUnicode_FromFormat("%U.%U: %U", d->module, d->qualname, d->message);
    PyObject *const error = text ? PyObject_CallFunctionObjArgs(l->stand_in, text, NULL) : NULL;
    Py_XDECREF(text);
    if (!error) return NULL;
    const bool own = l->stand_in == l->host->remote_error;
    if (PyExceptionInstance_Check(error) &&
        (!own || (PyObject_SetAttrString(error, "module", d->module) == 0 &&
                  PyObject_SetAttrString(error, "qualname", d->qualname) == 0 &&
                  PyObject_SetAttrString(error, "message", d->message) == 0)))
        return error;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "decode_exception() takes a class of exceptions as stand_in");
    Py_DECREF(error);
    return NULL;
}

static PyObject *described(const struct ladder *l, const struct descriptor *d, unsigned depth) {
    PyObject *const error = by_its_class(l, d, depth);
    return error || PyErr_Occurred() ? error : stand_in(l, d);
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

/* New references; NULL with an exception set. */
static PyObject *rich_form(const struct ladder *l, PyObject **traceback) {
    PyObject *first, *const value = load(l->by_exception, l->rich), *text = NULL;
    if (!value) return NULL;
    take_apart(value, is_pair(value), &first, traceback);
    const bool harmless = PyExceptionInstance_Check(first) && is_harmless(l, Py_TYPE(first));
    if (harmless) text = text_of(first);
    if (text) {
        Py_INCREF(first);
        Py_INCREF(*traceback);
    } else {
        first = NULL;
        if (!harmless)
            (void)refused_words(l,
                                "what the channel `exception' admits is no Exception that a host may raise");
        else if (forgiven())
            (void)refused_words(l, "what the channel `exception' admits cannot be printed");
    }
    Py_XDECREF(text);
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

/* An attribute of the exception, past whatever its class does with attributes. */
static bool set_remote(PyObject *error, const char *name, PyObject *value) {
    PyObject *const text = PyUnicode_InternFromString(name);
    const bool good = text && PyObject_GenericSetAttr(error, text, value) == 0;
    Py_XDECREF(text);
    return good || forgiven();
}

static bool set_origin(PyObject *error, const struct descriptor *d, PyObject *traceback, PyObject *refusal) {
    PyObject *const denials = d->denials ? PyList_AsTuple(d->denials) : PyTuple_New(0);
    const bool good = denials && set_remote(error, "__remote_denials__", denials) &&
                      set_remote(error, "__remote_traceback__", traceback) &&
                      set_remote(error, "__remote_refusal__", refusal);
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
static PyObject *second_form(const struct ladder *l, PyObject *refusal) {
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

static PyObject *decode(const struct ladder *l) {
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
    if (PyType_Check(l->stand_in) && is_harmless(l, (PyTypeObject *)l->stand_in)) return true;
    PyErr_SetString(PyExc_TypeError, "decode_exception() takes a class of exceptions as stand_in");
    return false;
}

static PyObject *decode_exception(PyObject *module, PyObject *args, PyObject *keywords) {
    char none[] = "", own_exception[] = "exception", own_stand_in[] = "stand_in";
    char *names[] = {none, none, own_exception, own_stand_in, NULL};
    struct ladder l = {.host = host_of(module)};
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
