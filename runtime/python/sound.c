/* What an exception may hold, so that to print it, or to raise it, costs no more than what was sent, and reads nothing else.
 *
 * Python prints as many carets as a SyntaxError says, reads the text of a UnicodeError where it says, takes whatever can be iterated
 * for `args' and notes, looks through the object of an AttributeError, and writes out each member of a group as often as it is in
 * there.  Rows of std/exceptions.policy bound all that by types; this bounds it where the types of a row do not.
 *
 * Source: Objects/exceptions.c, Python/pythonrun.c and Lib/traceback.py of CPython 3.8 to 3.13.
 * Layer: see host.h.
 */
#include "bind.h"

enum { PLACE_MOST = 100000 }; /* as in std/exceptions.policy */

/* What a base of C keeps under a name in its own members; new reference.  NULL without an exception: it has no such member. */
static PyObject *member_of(PyObject *base, PyObject *error, const char *name) {
    PyObject *member;
    if (!class_member((PyTypeObject *)base, name, &member, NULL) || !member) return NULL;
    return Py_TYPE(member)->tp_descr_get(member, error, (PyObject *)Py_TYPE(error));
}

/* ---- Unicode errors */

bool places_good(PyObject *object, PyObject *start, PyObject *end) {
    const Py_ssize_t most = PyUnicode_Check(object) ? PyUnicode_GET_LENGTH(object) : PyBytes_GET_SIZE(object);
    if (!PyLong_Check(start) || !PyLong_Check(end)) return false;
    const Py_ssize_t from = PyLong_AsSsize_t(start), to = PyLong_AsSsize_t(end);
    if (PyErr_Occurred()) PyErr_Clear();
    return from >= 0 && from <= to && to <= most;
}

static bool unicode_error_sound(PyObject *error, PyObject *base, const char **why) {
    PyObject *const text = member_of(base, error, "object"), *const start = member_of(base, error, "start"),
                    *const end = member_of(base, error, "end");
    const bool good = text && start && end;
    if (good && text != Py_None && /* None: nothing is set */
        !((PyUnicode_Check(text) || PyBytes_Check(text)) && places_good(text, start, end)))
        *why = "its places lie outside of its object";
    Py_XDECREF(text);
    Py_XDECREF(start);
    Py_XDECREF(end);
    return good;
}

/* ---- syntax errors */

static bool is_place(PyObject *value) {
    int overflow;
    if (value == Py_None) return true;
    if (!PyLong_CheckExact(value)) return false;
    const long place = PyLong_AsLongAndOverflow(value, &overflow);
    return !overflow && place >= -1 && place <= PLACE_MOST;
}

static bool is_text(PyObject *value) { return value == Py_None || PyUnicode_CheckExact(value); }

/* By its member of C, and by what an instance's own attribute hides of it. */
static bool syntax_error_sound(PyObject *error, const char **why) {
    static const struct {
        const char *name;
        bool (*suits)(PyObject *);
    } parts[] = {{"lineno", is_place},     {"offset", is_place},  {"end_lineno", is_place},
                 {"end_offset", is_place}, {"filename", is_text}, {"text", is_text}};
    PyObject *const own = ((PyBaseExceptionObject *)error)->dict;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        PyObject *const name = PyUnicode_InternFromString(parts[i].name);
        PyObject *const member = name ? member_of(PyExc_SyntaxError, error, parts[i].name) : NULL;
        PyObject *const hides = name && own ? PyDict_GetItemWithError(own, name) : NULL;
        if ((member && !parts[i].suits(member)) || (hides && !parts[i].suits(hides)))
            *why = "its line and its places are none that could be printed";
        Py_XDECREF(member);
        Py_XDECREF(name);
        if (PyErr_Occurred()) return false;
    }
    return true;
}

/* ---- groups */

/* Not deeper than GROUPS_MOST.  *left: how many exceptions there may be yet, each as often as it is in there. */
static bool group_fits(PyObject *group, unsigned depth, size_t *left, bool *fits) {
    PyObject *const all = member_of(group_base(), group, "exceptions");
    if (!all) return !PyErr_Occurred();
    const Py_ssize_t n = PyTuple_Check(all) ? PyTuple_GET_SIZE(all) : 0;
    bool good = true;
    *fits = (size_t)n <= *left && depth < GROUPS_MOST;
    if (*fits) *left -= (size_t)n;
    for (Py_ssize_t i = 0; i < n && good && *fits; i++) {
        PyObject *const one = PyTuple_GET_ITEM(all, i);
        if (is_group(Py_TYPE(one))) good = group_fits(one, depth + 1, left, fits);
    }
    Py_DECREF(all);
    return good;
}

static bool group_sound(PyObject *error, const char **why) {
    size_t left = GROUP_MEMBERS_MOST;
    bool fits = true;
    if (is_group(Py_TYPE(error)) && !group_fits(error, 0, &left, &fits)) return false;
    if (!fits) *why = "its groups are too deep, or hold too many exceptions";
    return true;
}

/* ---- all of them */

bool exception_sound(PyObject *object, const char **why) {
    PyObject *const coded[] = {PyExc_UnicodeDecodeError, PyExc_UnicodeEncodeError,
                               PyExc_UnicodeTranslateError};
    *why = NULL;
    if (!PyExceptionInstance_Check(object)) return true;
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++)
        if (is_under(Py_TYPE(object), coded[i]) && !unicode_error_sound(object, coded[i], why)) return false;
    if (is_under(Py_TYPE(object), PyExc_SyntaxError) && !syntax_error_sound(object, why)) return false;
    return group_sound(object, why);
}

/* ---- arguments
 *
 * Some constructors of C make a tuple of whatever they are given, or a number, a hash or bytes, and look at it afterwards.  That
 * could be a long range, or an object of a class with code for it. */

static bool is_bytes(PyObject *value) {
    return !PyObject_CheckBuffer(value) || PyBytes_CheckExact(value) || PyByteArray_CheckExact(value);
}
static bool is_number(PyObject *value) {
    return !PyIndex_Check(value) || PyLong_CheckExact(value) || PyBool_Check(value);
}
static bool is_key(PyObject *value) { return !PyLong_Check(value) || is_number(value); }
/* Has it as many members as were sent for it, or none? */
static bool is_counted(PyObject *value) {
    return PyTuple_CheckExact(value) || PyList_CheckExact(value) || PyUnicode_CheckExact(value) ||
           PyBytes_CheckExact(value) || PyByteArray_CheckExact(value) || PyDict_CheckExact(value) ||
           PyAnySet_CheckExact(value) || (!Py_TYPE(value)->tp_iter && !PySequence_Check(value));
}

/* Others than these the constructor itself refuses, or keeps. */
const char *exception_refuses_call(PyTypeObject *type, PyObject *const *args, size_t n) {
    static const char iterated[] = "what it is made of is no tuple or list",
                      counted[] = "its number is no int", read[] = "its object is no bytes";
    static const struct {
        PyObject **base;
        size_t place;
        bool (*suits)(PyObject *);
        const char *why;
    } arguments[] = {
        {&PyExc_SyntaxError, 1, is_counted, iterated},
        {&PyExc_OSError, 0, is_key, counted},
        {&PyExc_OSError, 2, is_number, counted},
        {&PyExc_UnicodeDecodeError, 1, is_bytes, read},
        {&PyExc_UnicodeDecodeError, 2, is_number, counted},
        {&PyExc_UnicodeDecodeError, 3, is_number, counted},
        {&PyExc_UnicodeEncodeError, 2, is_number, counted},
        {&PyExc_UnicodeEncodeError, 3, is_number, counted},
        {&PyExc_UnicodeTranslateError, 1, is_number, counted},
        {&PyExc_UnicodeTranslateError, 2, is_number, counted},
#if PY_VERSION_HEX >= 0x030B0000
        {&PyExc_BaseExceptionGroup, 1, is_counted, iterated},
#endif
    };
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (arguments[i].place < n && is_under(type, *arguments[i].base) &&
            !arguments[i].suits(args[arguments[i].place]))
            return arguments[i].why;
    return NULL;
}

/* ---- attributes */

static bool is_c_attribute(PyObject *member) {
    return Py_TYPE(member) == &PyGetSetDescr_Type || Py_TYPE(member) == &PyMemberDescr_Type;
}

static bool key_is(PyObject *key, const char *name) {
    return PyUnicode_CompareWithASCIIString(key, name) == 0;
}

/* What Python itself goes by, also where a class hides it. */
static bool is_internal(PyObject *key, PyObject *member) {
    if (PyUnicode_GET_LENGTH(key) < 2 || PyUnicode_READ_CHAR(key, 0) != '_' ||
        PyUnicode_READ_CHAR(key, 1) != '_')
        return false;
    PyObject *const of_all = _PyType_Lookup((PyTypeObject *)PyExc_BaseException, key);
    return member || (of_all && Py_TYPE(of_all)->tp_descr_set);
}

const char *exception_refuses(PyObject *error, PyObject *key, PyObject *member, PyObject *value) {
    if (is_internal(key, member) ||
        (member && (!is_c_attribute(member) || is_under(Py_TYPE(error), PyExc_UnicodeError))))
        return "the class computes it";
    if (key_is(key, "args")) return PyTuple_CheckExact(value) ? NULL : "it is no tuple";
    if (key_is(key, "__notes__"))
        return PyList_CheckExact(value) || PyTuple_CheckExact(value) ? NULL : "notes are no list";
    if (key_is(key, "characters_written") && member) return PyLong_CheckExact(value) ? NULL : "it is no int";
    const bool is_name = key_is(key, "name") && (is_under(Py_TYPE(error), PyExc_NameError) ||
                                                 is_under(Py_TYPE(error), PyExc_AttributeError) ||
                                                 is_under(Py_TYPE(error), PyExc_ImportError));
    return is_name && !is_text(value) ? "it is no str" : NULL;
}

/* Whoever prints such exceptions would import the module, or ask the object for all that it has. */
bool exception_leaves_out(PyObject *error, PyObject *key) {
    return (is_under(Py_TYPE(error), PyExc_ImportError) && key_is(key, "name_from")) ||
           (is_under(Py_TYPE(error), PyExc_AttributeError) && key_is(key, "obj"));
}
