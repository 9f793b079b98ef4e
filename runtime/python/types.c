/* with_types: classes that a host admits at run time, as a policy's templates would grant them.
 *
 * Only the class itself says how its objects are pickled, by attributes that are read when the host names it:
 *
 *   Enum, Flag        _member_map_, and _value_ of each member
 *   exceptions        any arguments and attributes
 *   namedtuples       _fields
 *   dataclasses       __dataclass_fields__, and which of them are slots
 *   list, dict        items or pairs besides
 *   str, int, set...  what the base is made of, besides
 *   all others        any attributes; any state where there is a __setstate__
 *
 * A class that says by itself how it is reduced is for a policy to grant.
 *
 * Layer: see host.h.
 */
#include "host.h"

/* What is read of the classes of one call. */
struct reading {
    struct upk_extra *extras;
    PyObject *classes; /* list, one for each extra */
    PyObject *keep;    /* list of objects whose bytes the extras point to */
    PyObject *enum_meta, *enum_base, *flag_base, *field_mark, *missing; /* NULL: not needed yet */
};

static bool reading_init(struct reading *r, Py_ssize_t n) {
    *r = (struct reading){.extras = PyMem_Calloc((size_t)n + 1, sizeof *r->extras),
                          .classes = PyList_New(0),
                          .keep = PyList_New(0)};
    if (!r->extras) (void)PyErr_NoMemory();
    return r->extras && r->classes && r->keep;
}

/* Fields are const where they are read; here they are given back. */
static void reading_free(struct reading *r) {
    const Py_ssize_t n = r->classes ? PyList_GET_SIZE(r->classes) : 0;
    for (Py_ssize_t i = 0; r->extras && i <= n; i++) PyMem_Free((void *)(uintptr_t)r->extras[i].fields);
    PyMem_Free(r->extras);
    Py_XDECREF(r->classes);
    Py_XDECREF(r->keep);
    Py_XDECREF(r->enum_meta);
    Py_XDECREF(r->enum_base);
    Py_XDECREF(r->flag_base);
    Py_XDECREF(r->field_mark);
    Py_XDECREF(r->missing);
}

static bool cannot(const PyTypeObject *type, const char *why) {
    PyErr_Format(PyExc_ValueError, "with_types() cannot admit %.200s: %s", type->tp_name, why);
    return false;
}

/* ---- attributes */

/* Takes the reference to `object`, and keeps it until the reading is over. */
static bool keep(struct reading *r, PyObject *object) {
    const bool good = object && PyList_Append(r->keep, object) == 0;
    Py_XDECREF(object);
    return good;
}

static bool text_of(struct reading *r, PyObject *object, struct upk_bytes *out) {
    Py_ssize_t len = 0;
    const char *const at = PyUnicode_AsUTF8AndSize(object, &len);
    *out = (struct upk_bytes){at, (size_t)len};
    if (!at) return false;
    Py_INCREF(object);
    return keep(r, object);
}

static bool name_attribute(struct reading *r, PyTypeObject *type, const char *name, struct upk_bytes *out) {
    PyObject *const value = PyObject_GetAttrString((PyObject *)type, name);
    const bool is_text = value && PyUnicode_Check(value);
    const bool good = is_text && text_of(r, value, out);
    if (value && !is_text) (void)cannot(type, "its name is no str");
    Py_XDECREF(value);
    return good;
}

/* Attribute of a module, imported for the host, which asks for a class of its kind. */
static bool module_attribute(const char *module, const char *name, PyObject **out) {
    if (*out) return true;
    PyObject *const m = PyImport_ImportModule(module);
    *out = m ? PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return *out != NULL;
}

static bool fields_begin(struct upk_extra *x, Py_ssize_t n, struct upk_extra_field **fields) {
    *fields = PyMem_Calloc((size_t)n + 1, sizeof **fields);
    if (!*fields) return (void)PyErr_NoMemory(), false;
    x->fields = *fields;
    return true;
}

/* A snapshot of a dict's items, kept. */
static PyObject *items_of(struct reading *r, PyObject *dict) {
    PyObject *const items = PyDict_Items(dict);
    return keep(r, items) ? items : NULL;
}

/* ---- enums and flags */

static bool member_value(struct reading *r, PyObject *member, struct upk_extra_field *f) {
    PyObject *const value = PyObject_GetAttrString(member, "_value_");
    if (!keep(r, value)) return false;
    int overflow = 0;
    if (value == Py_None) {
        f->kind = UPK_NONE;
    } else if (PyBool_Check(value)) {
        f->kind = UPK_BOOL;
        f->number = value == Py_True;
    } else if (PyLong_CheckExact(value)) {
        f->number = PyLong_AsLongLongAndOverflow(value, &overflow);
        f->kind = overflow ? UPK_INVALID : UPK_INT;
    } else if (PyBytes_CheckExact(value)) {
        f->kind = UPK_BYTES;
        f->text = (struct upk_bytes){PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value)};
    } else if (PyUnicode_CheckExact(value)) {
        f->kind = text_of(r, value, &f->text) ? UPK_STR : UPK_INVALID;
        if (f->kind == UPK_INVALID && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Clear(); /* a lone surrogate */
    }
    return !PyErr_Occurred();
}

static bool read_members(struct reading *r, PyTypeObject *type, struct upk_extra *x) {
    struct upk_extra_field *fields;
    PyObject *const map = PyObject_GetAttrString((PyObject *)type, "_member_map_");
    if (!keep(r, map)) return false;
    if (!PyDict_Check(map)) return cannot(type, "its _member_map_ is no dict");
    PyObject *const items = items_of(r, map);
    if (!items || !fields_begin(x, PyList_GET_SIZE(items), &fields)) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++) {
        PyObject *const name = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 0);
        if (!PyUnicode_Check(name)) return cannot(type, "the name of a member is no str");
        if (!text_of(r, name, &fields[i].name) ||
            !member_value(r, PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 1), &fields[i]))
            return false;
        x->field_count++;
    }
    return true;
}

/* The same method as some other class has, whatever class gave it to them. */
static bool has_method_of(PyTypeObject *type, PyObject *other, const char *name, bool *same) {
    PyObject *own, *its;
    if (!class_member(type, name, &own, NULL) || !class_member((PyTypeObject *)other, name, &its, NULL))
        return false;
    *same = own == its;
    return true;
}

static bool read_enum(struct reading *r, PyTypeObject *type, struct upk_extra *x) {
    bool by_value = false, as_flag = false;
    if (!module_attribute("enum", "Enum", &r->enum_base) ||
        !module_attribute("enum", "Flag", &r->flag_base) ||
        !has_method_of(type, r->enum_base, "__reduce_ex__", &by_value) ||
        !has_method_of(type, r->flag_base, "__reduce_ex__", &as_flag))
        return false;
    if (!by_value && !as_flag)
        return cannot(type, "its own __reduce_ex__ says how it is pickled; a policy grants it");
    const bool is_flag = PyType_IsSubtype(type, (PyTypeObject *)r->flag_base);
    x->shape = is_flag ? UPK_EXTRA_FLAG : UPK_EXTRA_ENUM;
    return read_members(r, type, x);
}

/* ---- named fields */

static bool read_namedtuple(struct reading *r, PyTypeObject *type, PyObject *names, struct upk_extra *x) {
    struct upk_extra_field *fields;
    Py_INCREF(names);
    if (!keep(r, names) || !fields_begin(x, PyTuple_GET_SIZE(names), &fields)) return false;
    x->shape = UPK_EXTRA_TUPLE;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (!PyUnicode_Check(PyTuple_GET_ITEM(names, i))) return cannot(type, "its _fields are no names");
        if (!text_of(r, PyTuple_GET_ITEM(names, i), &fields[i].name)) return false;
        x->field_count++;
    }
    return true;
}

/* Is the attribute of a dataclass's Field this object?  -1: an exception is set. */
static int attribute_is(PyObject *field, const char *name, const PyObject *object) {
    PyObject *const value = PyObject_GetAttrString(field, name);
    Py_XDECREF(value);
    return value ? value == object : -1;
}

/* *counts: a field of instances, no ClassVar or InitVar.  What __init__ neither takes nor makes may be absent. */
static bool read_field(struct reading *r, PyTypeObject *type, PyObject *item, struct upk_extra_field *f,
                       bool *counts) {
    PyObject *const name = PyTuple_GET_ITEM(item, 0), *const field = PyTuple_GET_ITEM(item, 1);
    if (!PyUnicode_Check(name)) return cannot(type, "the name of a field is no str");
    const int is_field = attribute_is(field, "_field_type", r->field_mark),
              absent = is_field < 0 ? -1 : attribute_is(field, "init", Py_False),
              made = absent < 0 ? -1 : attribute_is(field, "default_factory", r->missing);
    if (made < 0 || !text_of(r, name, &f->name)) return false;
    PyObject *const member = _PyType_Lookup(type, name);
    f->slot = member && Py_TYPE(member) == &PyMemberDescr_Type;
    f->optional = absent && made;
    *counts = is_field;
    return true;
}

static bool read_dataclass(struct reading *r, PyTypeObject *type, PyObject *all, struct upk_extra *x) {
    struct upk_extra_field *fields;
    if (!module_attribute("dataclasses", "_FIELD", &r->field_mark) ||
        !module_attribute("dataclasses", "MISSING", &r->missing))
        return false;
    PyObject *const items = items_of(r, all);
    if (!items || !fields_begin(x, PyList_GET_SIZE(items), &fields)) return false;
    x->shape = UPK_EXTRA_RECORD;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++) {
        bool counts;
        if (!read_field(r, type, PyList_GET_ITEM(items, i), &fields[x->field_count], &counts)) return false;
        x->field_count += counts;
    }
    return true;
}

/* ---- classes */

/* Exceptions that mislead who prints or re-raises them, unless their values are looked at (std/exceptions.policy). */
static bool check_exception(PyTypeObject *type) {
    PyObject *const others[] = {PyExc_UnicodeDecodeError, PyExc_UnicodeEncodeError,
                                PyExc_UnicodeTranslateError, PyExc_ImportError, PyExc_SyntaxError};
    bool is_signal;
    if (!exception_is_signal(type, &is_signal)) return false;
    bool good = !is_signal;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        good = good && !PyType_IsSubtype(type, (PyTypeObject *)others[i]);
    return good || cannot(type, "an exception of that kind is granted by a policy");
}

/* How copyreg and object.__reduce_ex__ take the class apart, it may not say otherwise. */
static bool check_reduce(PyTypeObject *type, bool by_base) {
    bool plain = false, same = false, python;
    PyObject *reduce;
    if (!has_method_of(type, (PyObject *)&PyBaseObject_Type, "__reduce_ex__", &plain) ||
        !has_method_of(type, (PyObject *)&PyBaseObject_Type, "__reduce__", &same) ||
        !class_member(type, "__reduce__", &reduce, &python))
        return false;
    if (plain && (same || (by_base && !python))) return true;
    return cannot(type, "it says itself how it is pickled (__reduce__); a policy grants it");
}

/* What an instance is made of, by the base's own __getnewargs__; 0: of nothing, or of what a list or dict holds. */
static Py_ssize_t value_count(PyTypeObject *type) {
    const unsigned long bases =
        Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS;
    if (PyType_FastSubclass(type, bases) || PyType_IsSubtype(type, &PyFloat_Type)) return 1;
    return PyType_IsSubtype(type, &PyComplex_Type) ? 2 : 0;
}

/* At protocols 0 and 1 a complex is the one argument. */
static bool read_value(struct upk_extra *x, Py_ssize_t n) {
    static const struct upk_bytes names[] = {{"value", 5}, {"imag", 4}};
    struct upk_extra_field *fields;
    if (!fields_begin(x, n, &fields)) return false;
    for (; (Py_ssize_t)x->field_count < n; x->field_count++) {
        fields[x->field_count].name = names[x->field_count];
        fields[x->field_count].optional = x->field_count > 0;
    }
    return true;
}

/* Neither an enum nor a class with named fields alone. */
static bool read_open(PyTypeObject *type, struct upk_extra *x, bool called) {
    const Py_ssize_t values = value_count(type);
    PyObject *arguments, *keywords, *setstate;
    bool own = false;
    if (!class_member(type, "__getnewargs__", &arguments, &own) ||
        !class_member(type, "__getnewargs_ex__", &keywords, NULL) ||
        !class_member(type, "__setstate__", &setstate, NULL))
        return false;
    if (keywords) return cannot(type, "its __getnewargs_ex__ gives keywords; a policy grants it");
    x->shape = called ? UPK_EXTRA_CALL : arguments ? UPK_EXTRA_NEW : UPK_EXTRA_PLAIN;
    if (setstate && setstate != Py_None && !PyExceptionClass_Check(type)) x->steps |= UPK_STEP_STATE;
    return called || own || !values || read_value(x, values);
}

/* The row by which a policy grants it. */
static bool cannot_tuple(const PyTypeObject *type, const struct upk_extra *x) {
    char hooks[200];
    hooks_write(x->runs, hooks, sizeof hooks);
    PyErr_Format(PyExc_ValueError,
                 "with_types() cannot admit %.200s: a tuple, but no namedtuple; a policy grants it: "
                 "module %.200s { class %.200s new(members: tuple<any...>)%s%s%s because \"TODO\"; }",
                 type->tp_name, (const char *)x->module.data, (const char *)x->qualname.data,
                 type->tp_dictoffset ? " state? { *: any }" : "", x->runs ? " runs " : "", hooks);
    return false;
}

/* INVARIANT: its __getnewargs__ gives its members, for protocols 0 and 1 do not tell C(value) from C(*value). */
static bool read_tuple(struct reading *r, PyTypeObject *type, PyObject *names, struct upk_extra *x) {
    PyObject *keywords;
    bool whole;
    if (!has_method_of(type, (PyObject *)&PyTuple_Type, "__getnewargs__", &whole) ||
        !class_member(type, "__getnewargs_ex__", &keywords, NULL))
        return false;
    if (!keywords && whole) return cannot_tuple(type, x);
    if (keywords || !names || !PyTuple_CheckExact(names))
        return cannot(type, "a tuple that says itself what makes it; a policy grants it");
    return read_namedtuple(r, type, names, x);
}

static bool read_shape(struct reading *r, PyTypeObject *type, struct upk_extra *x) {
    PyObject *fields, *names;
    if (!module_attribute("enum", "EnumMeta", &r->enum_meta)) return false;
    if (PyObject_TypeCheck(type, (PyTypeObject *)r->enum_meta)) return read_enum(r, type, x);
    const bool is_set = PyType_IsSubtype(type, &PySet_Type) || PyType_IsSubtype(type, &PyFrozenSet_Type);
    const bool is_exception = PyExceptionClass_Check(type), called = is_exception || is_set;
    if (!check_reduce(type, called) || (is_exception && !check_exception(type)) ||
        !class_member(type, "__dataclass_fields__", &fields, NULL) ||
        !class_member(type, "_fields", &names, NULL))
        return false;
    if (PyType_FastSubclass(type, Py_TPFLAGS_LIST_SUBCLASS)) x->steps |= UPK_STEP_ITEMS;
    if (PyType_FastSubclass(type, Py_TPFLAGS_DICT_SUBCLASS)) x->steps |= UPK_STEP_PAIRS;
    if (PyType_FastSubclass(type, Py_TPFLAGS_TUPLE_SUBCLASS)) return read_tuple(r, type, names, x);
    if (fields && PyDict_Check(fields) && !called && !value_count(type))
        return read_dataclass(r, type, fields, x);
    return read_open(type, x, called);
}

/* Made by a class statement, as `other` was: such classes share what frees their instances. */
static bool is_python_class(const PyTypeObject *type, const PyTypeObject *other) {
    return type->tp_flags & Py_TPFLAGS_HEAPTYPE && type->tp_dealloc == other->tp_dealloc;
}

static bool read_class(struct reading *r, PyObject *class) {
    PyTypeObject *const type = (PyTypeObject *)class;
    struct upk_extra *const x = &r->extras[PyList_GET_SIZE(r->classes)];
    unsigned runs;
    if (!type->tp_mro || !PyTuple_Check(type->tp_mro)) return cannot(type, "it is not made yet");
    if (!module_attribute("enum", "Enum", &r->enum_base)) return false;
    if (!is_python_class(type, (const PyTypeObject *)r->enum_base))
        return cannot(type, "it is a class of C; a policy grants it");
    if (!name_attribute(r, type, "__module__", &x->module) ||
        !name_attribute(r, type, "__qualname__", &x->qualname) || !hooks_of(type, &runs))
        return false;
    x->runs = runs;
    return read_shape(r, type, x) && PyList_Append(r->classes, class) == 0;
}

static bool stands_in(PyObject *const *items, Py_ssize_t n, const PyObject *class) {
    for (Py_ssize_t i = 0; i < n; i++)
        if (items[i] == class) return true;
    return false;
}

static bool read_classes(struct reading *r, const struct guard *g, PyObject *const *args, Py_ssize_t n) {
    const Py_ssize_t before = g->types ? PyTuple_GET_SIZE(g->types) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyType_Check(args[i])) {
            PyErr_Format(PyExc_TypeError, "with_types() takes classes, not %.100s",
                         Py_TYPE(args[i])->tp_name);
            return false;
        }
        if (stands_in(args, i, args[i]) ||
            stands_in(before ? &PyTuple_GET_ITEM(g->types, 0) : NULL, before, args[i]))
            continue;
        if (before + PyList_GET_SIZE(r->classes) >= UPK_EXTRAS_MOST) {
            PyErr_Format(PyExc_ValueError, "with_types() takes at most %d classes", UPK_EXTRAS_MOST);
            return false;
        }
        uint32_t base; /* what rows of subclasses grant stays as it is */
        if (!opened_base(g->policy, (const PyTypeObject *)args[i], &base)) return false;
        if (!base && !read_class(r, args[i])) return false;
    }
    return true;
}

/* ---- the new guard */

/* New rows say in their line which class they are of. */
static PyObject *class_of_row(const struct guard *g, const struct reading *r, uint32_t row) {
    const struct upk_row *const at = &g->policy->rows[row];
    const bool is_new =
        at->line && at->file == g->policy->file_count - 1 && at->flags & (UPK_ROW_CLASS | UPK_ROW_CONST);
    return is_new ? PyList_GET_ITEM(r->classes, at->line - 1) : NULL;
}

static PyObject *member_of(const struct guard *g, uint32_t row, PyObject *class) {
    struct upk_compat n = row_name(g->policy, row);
    size_t at = n.name_len;
    while (at && n.name[at - 1] != '.') at--;
    PyObject *const map = PyObject_GetAttrString(class, "_member_map_");
    PyObject *const name =
        PyUnicode_DecodeUTF8((const char *)n.name + at, (Py_ssize_t)(n.name_len - at), NULL);
    PyObject *const member = map && name ? PyObject_GetItem(map, name) : NULL;
    Py_XDECREF(map);
    Py_XDECREF(name);
    return member;
}

static bool bind_classes(struct guard *g, const struct reading *r) {
    for (uint32_t row = 1; row < g->policy->row_count; row++) {
        PyObject *const class = class_of_row(g, r, row);
        if (!class) continue;
        if (g->policy->rows[row].flags & UPK_ROW_CONST) {
            if (!(g->rows[row].object = member_of(g, row, class))) return false;
        } else {
            Py_INCREF(class);
            g->rows[row].object = class;
        }
    }
    return true;
}

/* A class that was granted before is the one that is bound, if any is. */
static bool check_classes(const struct guard *g, const struct reading *r) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(r->classes); i++) {
        const struct upk_extra *const x = &r->extras[i];
        const uint32_t row =
            find_row(g->policy, 1, x->module.data, x->module.len, x->qualname.data, x->qualname.len);
        const PyObject *const class = PyList_GET_ITEM(r->classes, i), *const bound = g->rows[row].object;
        if (bound && bound != class)
            return cannot((const PyTypeObject *)class, "another class of that name is bound already");
    }
    return true;
}

static PyObject *all_types(const struct guard *g, const struct reading *r) {
    PyObject *const new = PyList_AsTuple(r->classes);
    PyObject *const all = new && g->types ? PySequence_Concat(g->types, new) : new;
    if (all != new) Py_XDECREF(new);
    return all;
}

static PyObject *guard_over(struct guard *g, struct upk_policy *policy, const struct reading *r) {
    struct guard *const made = guard_new(g->host, g->module, g->name, g->doc, policy);
    if (!made) {
        upk_policy_free(policy);
        return NULL;
    }
    made->own = policy;
    made->consents = g->consents;
    rows_copy(made, g);
    made->types = all_types(g, r);
    if (made->types && bind_classes(made, r) && check_classes(made, r)) return (PyObject *)made;
    Py_DECREF(made);
    return NULL;
}

PyObject *guard_with_types(struct guard *g, PyObject *const *args, Py_ssize_t n) {
    struct reading r;
    struct upk_policy *policy;
    struct upk_error err;
    PyObject *made = NULL;
    if (n == 0) {
        PyErr_SetString(PyExc_TypeError, "with_types() takes at least one class");
        return NULL;
    }
    if (!reading_init(&r, n) || !read_classes(&r, g, args, n)) {
        reading_free(&r);
        return NULL;
    }
    if (upk_policy_extend(g->policy, r.extras, (size_t)PyList_GET_SIZE(r.classes), NULL, &policy, &err))
        made = guard_over(g, policy, &r);
    else if (err.code == UPK_ERR_MEMORY)
        (void)PyErr_NoMemory();
    else
        PyErr_Format(PyExc_ValueError, "with_types() cannot admit %s::%s: %s", err.module, err.name,
                     err.detail);
    reading_free(&r);
    return made;
}
