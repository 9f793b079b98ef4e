/* An exception by what a descriptor says of it.
 *
 * A descriptor is data of a sandbox, so nothing of the host's Python runs for it.  Its class is looked up among loaded modules, and
 * held against what the policies deny, as names without a row are.  It is made by a __new__ of C, and its members by the C of its
 * bases; a class that has Python code where an exception is made, looked at by who prints it, or forgotten, is stood in for.
 *
 * Layer: see host.h.
 */
#include "ladder.h"

/* ---- classes */

/* What would run Python code between the making of an exception and the end of its print, or be computed by some.  Those whose text
 * is Python's too are given another one (worded_class). */
static bool is_quiet(PyTypeObject *type, bool *quiet) {
    static const struct {
        PyObject **base; /* NULL: of all */
        const char *names[13];
    } parts[] = {
        {NULL,
         {"__new__", "__del__", "__getattribute__", "__getattr__", "__bool__", "__len__", "__notes__",
          "__cause__", "__context__", "__traceback__", "__suppress_context__", "__class__",
          "print_file_and_line"}},
        {&PyExc_SyntaxError, {"msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"}},
        {&PyExc_ImportError, {"name", "name_from"}},
        {&PyExc_NameError, {"name"}},
        {&PyExc_AttributeError, {"name", "obj"}},
#if PY_VERSION_HEX >= 0x030B0000
        {&PyExc_BaseExceptionGroup, {"exceptions", "message"}},
#endif
    };
    *quiet = Py_TYPE(type) == &PyType_Type; /* whoever raises an exception asks the metaclass */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].base && !is_under(type, *parts[i].base)) continue;
        for (size_t k = 0; k < sizeof parts[i].names / sizeof *parts[i].names && parts[i].names[k]; k++) {
            PyObject *member;
            bool python;
            if (!class_member(type, parts[i].names[k], &member, &python)) return false;
            /* A plain value is read as it is, where no hook is looked for. */
            if (python && (PyCallable_Check(member) || Py_TYPE(member)->tp_descr_get)) *quiet = false;
        }
    }
    return true;
}

/* Is the class denied by the policies of either form? */
static bool is_denied(const struct ladder *l, PyTypeObject *type, const struct upk_compat *name,
                      bool *denied) {
    PyObject *const policies[] = {l->by_exception, l->by_descriptor};
    *denied = false;
    for (size_t i = 0; i < sizeof policies / sizeof *policies && !*denied; i++) {
        struct denial unused;
        if (!is_policy(policies[i])) continue; /* a host's own, with lists of its own */
        const struct upk_policy *const p = ((struct guard *)policies[i])->policy;
        if (!class_denied(p, type, denied)) return false;
        *denied = *denied || denial_of(p, *name, false, &unused);
    }
    return true;
}

/* false: an exception is set. */
static bool class_suits(const struct ladder *l, PyTypeObject *type, const struct upk_compat *name,
                        bool *suits) {
    bool harmless, denied, quiet;
    if (!is_harmless(l, type, &harmless) || !is_denied(l, type, name, &denied) || !is_quiet(type, &quiet))
        return false;
    *suits = harmless && !denied && quiet;
    return true;
}

/* New reference; NULL: there is no such class, or none of its kind, or an exception is set. */
static PyTypeObject *class_find(const struct ladder *l, const struct descriptor *d) {
    const char *why;
    Py_ssize_t module_len = 0, name_len = 0;
    const char *const module = PyUnicode_AsUTF8AndSize(d->module, &module_len);
    const char *const text = module ? PyUnicode_AsUTF8AndSize(d->qualname, &name_len) : NULL;
    if (!text) {
        (void)forgiven();
        return NULL;
    }
    const struct upk_compat name = {.module = (const uint8_t *)module,
                                    .module_len = (size_t)module_len,
                                    .name = (const uint8_t *)text,
                                    .name_len = (size_t)name_len};
    PyObject *const found = name_len ? name_find(name, &why) : NULL;
    bool suits = false;
    if (found && PyType_Check(found) && class_suits(l, (PyTypeObject *)found, &name, &suits) && suits)
        return (PyTypeObject *)found;
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
        if (!PyUnicode_CheckExact(PyList_GET_ITEM(list, i))) return false;
    }
    return true;
}

/* What is printed, compared and kept without any code of a class. */
static bool all_plain(PyObject *tuple) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *const value = PyTuple_GET_ITEM(tuple, i);
        if (value != Py_None && !PyBool_Check(value) && !PyLong_CheckExact(value) &&
            !PyFloat_CheckExact(value) && !PyUnicode_CheckExact(value) && !PyBytes_CheckExact(value))
            return false;
    }
    return true;
}

bool descriptor_read(struct descriptor *d, PyObject *value) {
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
    if (d->scalars && !PyTuple_CheckExact(d->scalars)) return false;
    if (d->scalars && !all_plain(d->scalars)) d->scalars = NULL; /* they say less than the message */
    return PyUnicode_CheckExact(d->module) && PyUnicode_CheckExact(d->qualname) &&
           PyUnicode_CheckExact(d->message) && PyList_CheckExact(d->denials) && all_text(d->denials) &&
           (!d->members || PyList_CheckExact(d->members));
}

/* The exceptions of a group: new reference to a list.  NULL without an exception: these are too many, which a short stream can say
 * by sharing. */
static PyObject *members_make(struct ladder *l, const struct descriptor *d, unsigned depth) {
    const Py_ssize_t n = d->members ? PyList_GET_SIZE(d->members) : 0;
    if ((size_t)n > l->members_left) return NULL;
    l->members_left -= (size_t)n;
    PyObject *const made = PyList_New(0);
    for (Py_ssize_t i = 0; made && i < n; i++) {
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
static PyObject *arguments_of_new(struct ladder *l, PyTypeObject *type, const struct descriptor *d,
                                  unsigned depth) {
    if (!is_group(type)) return PyTuple_New(0);
    PyObject *const first = scalar(d, 0), *const members = members_make(l, d, depth);
    return members ? Py_BuildValue("(ON)", first && PyUnicode_Check(first) ? first : d->message, members)
                   : NULL;
}

/* New reference.  NULL without an exception: its class does not make one of its own. */
static PyObject *instance(struct ladder *l, PyTypeObject *type, const struct descriptor *d, unsigned depth) {
    PyObject *const args = arguments_of_new(l, type, d, depth);
    PyObject *const error = args ? type->tp_new(type, args, NULL) : NULL;
    Py_XDECREF(args);
    if (error && PyObject_TypeCheck(error, type) && set_fields(error, d)) return error;
    Py_XDECREF(error);
    return NULL;
}

/* ---- texts */

/* Is str() of its instances C, and repr()? */
static bool has_text_of_c(PyTypeObject *type, bool *of_c) {
    PyObject *member;
    bool str, repr;
    if (!class_member(type, "__str__", &member, &str) || !class_member(type, "__repr__", &member, &repr))
        return false;
    *of_c = !str && !repr;
    return true;
}

static bool says(PyObject *error, PyObject *message) {
    PyObject *const text = PyObject_Str(error);
    const bool good = text && PyUnicode_Compare(text, message) == 0;
    Py_XDECREF(text);
    return good;
}

static PyObject *own_message(PyObject *unused, PyObject *error) {
    PyObject *message;
    (void)unused;
    if (!class_member(Py_TYPE(error), "__remote_message__", &message, NULL)) return NULL;
    if (!message) return PyUnicode_FromString("");
    Py_INCREF(message);
    return message;
}

/* A class statement runs the __init_subclass__ of its bases. */
static bool may_be_inherited(PyTypeObject *type, bool *may) {
    PyObject *member;
    bool python;
    if (!class_member(type, "__init_subclass__", &member, &python)) return false;
    *may = !python;
    return true;
}

/* The last part of a dotted name: new reference. */
static PyObject *last_part(PyObject *qualname) {
    const Py_ssize_t len = PyUnicode_GET_LENGTH(qualname),
                     dot = PyUnicode_FindChar(qualname, '.', 0, len, -1);
    return dot == -2 ? NULL : PyUnicode_Substring(qualname, dot + 1, len);
}

/* A subclass of the same name whose str() is the message: for classes that make their text out of a state, which is lost.  New
 * reference; NULL: there is none, or an exception is set. */
static PyTypeObject *worded_class(PyTypeObject *type, const struct descriptor *d) {
    static PyMethodDef method = {"__str__", own_message, METH_O, NULL};
    struct own_name own;
    bool may;
    PyObject *repr, *made = NULL;
    if (!may_be_inherited(type, &may) || !may ||
        !class_member((PyTypeObject *)PyExc_BaseException, "__repr__", &repr, NULL) ||
        !own_name_of((PyObject *)type, &own))
        return NULL;
    PyObject *const function = PyCFunction_New(&method, NULL);
    PyObject *const str = function ? PyInstanceMethod_New(function) : NULL;
    PyObject *const name = str && own.module && own.qualname ? last_part(own.qualname) : NULL;
    if (name)
        made = PyObject_CallFunction((PyObject *)&PyType_Type, "O(O){sOsOsOsOsO}", name, type, "__module__",
                                     own.module, "__qualname__", own.qualname, "__str__", str, "__repr__",
                                     repr, "__remote_message__", d->message);
    Py_XDECREF(name);
    Py_XDECREF(str);
    Py_XDECREF(function);
    own_name_clear(&own);
    return (PyTypeObject *)made;
}

static PyObject *worded_instance(struct ladder *l, PyTypeObject *type, const struct descriptor *d,
                                 unsigned depth) {
    PyTypeObject *const worded = worded_class(type, d);
    PyObject *error = worded ? instance(l, worded, d, depth) : NULL;
    Py_XDECREF(worded);
    if (error && !says(error, d->message)) Py_CLEAR(error);
    return error;
}

/* New reference.  NULL: it cannot be, or an exception is set. */
static PyObject *by_its_class(struct ladder *l, const struct descriptor *d, unsigned depth) {
    PyTypeObject *const type = depth < GROUPS_MOST ? class_find(l, d) : NULL;
    bool of_c = false;
    const bool good = type && has_text_of_c(type, &of_c);
    PyObject *error = good && of_c ? instance(l, type, d, depth) : NULL;
    if (error && !is_group(type) && !says(error, d->message)) Py_CLEAR(error);
    if (good && !error && (!PyErr_Occurred() || forgiven())) error = worded_instance(l, type, d, depth);
    Py_XDECREF(type);
    return error;
}

/* ---- stand-ins */

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

PyObject *described(struct ladder *l, const struct descriptor *d, unsigned depth) {
    PyObject *const error = by_its_class(l, d, depth);
    return error || (PyErr_Occurred() && !forgiven()) ? error : stand_in(l, d);
}
