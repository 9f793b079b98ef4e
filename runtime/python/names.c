/* What stands under a name in this process, without running any code: no import, no getattr, no module's __getattr__.
 *
 * A dotted name is walked through classes alone, as their methods resolution order has them; what a descriptor would make when it
 * is asked for is taken only of staticmethod, classmethod and the methods of C.
 *
 * Layer: see host.h.
 */
#include "bind.h"

#include "../compat_names.h"

static PyObject *text_of(const uint8_t *at, size_t len) {
    return PyUnicode_DecodeUTF8((const char *)at, (Py_ssize_t)len, "surrogatepass");
}

/* ---- modules */

/* The module of this very name; NULL without an exception: it is not loaded. */
static PyObject *loaded(const uint8_t *name, size_t len) {
    PyObject *const text = text_of(name, len);
    PyObject *const modules = PyImport_GetModuleDict();
    PyObject *const module = text && PyDict_Check(modules) ? PyDict_GetItemWithError(modules, text) : NULL;
    Py_XDECREF(text);
    Py_XINCREF(module);
    return module;
}

PyObject *module_find(struct upk_compat name) {
    static const struct {
        const char *from, *to;
    } places[] = {
#define UPK_X(from, to) {from, to},
        UPK_ALIAS_MODULES(UPK_X)
#undef UPK_X
    };
    PyObject *found = loaded(name.module, name.module_len);
    for (size_t i = 0; i < sizeof places / sizeof *places && !found && !PyErr_Occurred(); i++) {
        uint8_t room[NAME_MODERN_ROOM];
        const size_t from = strlen(places[i].from), to = strlen(places[i].to);
        const bool below = name.module_len >= to && memcmp(name.module, places[i].to, to) == 0 &&
                           (name.module_len == to || name.module[to] == '.');
        if (!below || name.module_len - to > sizeof room - from) continue;
        memcpy(room, places[i].from, from);
        memcpy(room + from, name.module + to, name.module_len - to);
        found = loaded(room, name.module_len - to + from);
    }
    return found;
}

/* ---- a dotted name */

PyObject *enum_members(PyTypeObject *type) {
    if (Py_TYPE(type) == &PyType_Type) return NULL;
    PyObject *const module = loaded((const uint8_t *)"enum", 4), *members = NULL;
    PyObject *const text = module && PyModule_Check(module) ? PyUnicode_InternFromString("EnumMeta") : NULL;
    if (text) {
        PyObject *const class = PyDict_GetItemWithError(PyModule_GetDict(module), text);
        if (class && PyType_Check(class) && PyType_IsSubtype(Py_TYPE(type), (PyTypeObject *)class))
            (void)class_member(type, "_member_map_", &members, NULL);
    }
    Py_XDECREF(text);
    Py_XDECREF(module);
    return members && PyDict_CheckExact(members) ? members : NULL;
}

/* They are no attributes of their own in every version. */
static PyObject *member_of_enum(PyTypeObject *type, PyObject *name) {
    PyObject *const members = enum_members(type);
    PyObject *const found = members ? PyDict_GetItemWithError(members, name) : NULL;
    Py_XINCREF(found);
    return found;
}

/* What `type.NAME` is, given what the class has under that name: new reference. */
static PyObject *taken_from_class(PyTypeObject *type, PyObject *member, const char **why) {
    PyObject *function = NULL, *taken = NULL;
    if (Py_TYPE(member) == &PyClassMethodDescr_Type)
        return Py_TYPE(member)->tp_descr_get(member, NULL, (PyObject *)type);
    if (Py_TYPE(member) == &PyStaticMethod_Type || Py_TYPE(member) == &PyClassMethod_Type) {
        function = PyObject_GetAttrString(member, "__func__"); /* of these two types a plain member */
        if (!function) return NULL;
        const bool plain = PyFunction_Check(function) || PyCFunction_Check(function);
        if (plain && Py_TYPE(member) == &PyClassMethod_Type) {
            taken = PyMethod_New(function, (PyObject *)type);
            Py_DECREF(function);
            return taken;
        }
        if (plain) return function;
        Py_DECREF(function);
    } else if (PyFunction_Check(member) || PyCFunction_Check(member) ||
               Py_TYPE(member) == &PyMethodDescr_Type || !Py_TYPE(member)->tp_descr_get) {
        Py_INCREF(member);
        return member;
    }
    *why = "what the class has there is computed when it is asked for";
    return NULL;
}

/* One step into a class: new reference. */
static PyObject *step(PyObject *from, PyObject *name, const char **why) {
    if (!PyType_Check(from)) {
        *why = "it is reached through something that is no class";
        return NULL;
    }
    PyTypeObject *const type = (PyTypeObject *)from;
    PyObject *const member = member_of_enum(type, name);
    if (member || PyErr_Occurred()) return member;
    PyObject *const found = _PyType_Lookup(type, name);
    if (found) return taken_from_class(type, found, why);
    *why = "its class has no such name";
    return NULL;
}

PyObject *name_find(struct upk_compat name, const char **why) {
    *why = NULL;
    PyObject *at = module_find(name);
    if (!at) {
        if (!PyErr_Occurred()) *why = "its module is not loaded in this process";
        return NULL;
    }
    bool inside = false; /* a class */
    while (at && name.name_len) {
        const uint8_t *const dot = memchr(name.name, '.', name.name_len);
        const size_t len = dot ? (size_t)(dot - name.name) : name.name_len;
        PyObject *next = NULL, *const text = text_of(name.name, len);
        if (text && inside) {
            next = step(at, text, why);
        } else if (text && PyModule_Check(at)) {
            next = PyDict_GetItemWithError(PyModule_GetDict(at), text);
            Py_XINCREF(next);
            if (!next && !PyErr_Occurred()) *why = "its module has no such name";
        } else if (text) {
            *why = "what is loaded in the place of its module is no module";
        }
        Py_XDECREF(text);
        Py_DECREF(at);
        at = next;
        inside = true;
        name.name += dot ? len + 1 : len;
        name.name_len -= dot ? len + 1 : len;
    }
    if (PyErr_Occurred()) *why = NULL;
    return at;
}

/* ---- what an object says of itself */

/* `name` of the object by the descriptor that its type has for it, where that is C; NULL without an exception: it has none. */
static PyObject *by_descriptor(PyTypeObject *type, PyObject *object, const char *name) {
    PyObject *member;
    if (!class_member(type, name, &member, NULL) || !member) return NULL;
    if (Py_TYPE(member) != &PyGetSetDescr_Type && Py_TYPE(member) != &PyMemberDescr_Type) return NULL;
    PyObject *const text = Py_TYPE(member)->tp_descr_get(member, object, (PyObject *)type);
    if (text && PyUnicode_Check(text)) return text;
    Py_XDECREF(text);
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return NULL;
}

bool own_name_of(PyObject *object, struct own_name *out) {
    PyTypeObject *const type = PyType_Check(object) ? &PyType_Type : Py_TYPE(object);
    out->module = by_descriptor(type, object, "__module__");
    out->qualname = PyErr_Occurred() ? NULL : by_descriptor(type, object, "__qualname__");
    if (!PyErr_Occurred()) return true;
    own_name_clear(out);
    return false;
}

void own_name_clear(struct own_name *n) {
    Py_CLEAR(n->module);
    Py_CLEAR(n->qualname);
}
