/* Objects of well-known classes that are made without a call into Python, equal to what the call would make.
 *
 * A class is known by the object itself, not by its name: what a host put in its place is called as any other.  Whatever does not
 * look as expected is left to the call.
 *
 * Layer: see host.h; over known.h.
 */
#include "bind.h"

#include <datetime.h>
#include <sys/stat.h>

#include "../known.h"

enum native_kind {
    NATIVE_NONE = 0,
    NATIVE_DATE, /* extra: the capsule of datetime's C API; this and the next four */
    NATIVE_TIME,
    NATIVE_DATETIME,
    NATIVE_DELTA,
    NATIVE_ZONE,
    NATIVE_COMPLEX,
    NATIVE_FRACTION, /* extra: (member _numerator, member _denominator) */
    NATIVE_UUID,     /* extra: (member int, member is_safe, members of SafeUUID by value) */
    NATIVE_ENUM,     /* extra: the members by value */
    NATIVE_ZONEINFO, /* extra: (class ZoneInfo, folders of zones) */
    NATIVE_ARRAY,    /* extra of this and the next: array.c */
    NATIVE_EMPTY,
    NATIVE_DTYPE /* its state alone */
};

/* ---- finding out */

static bool row_is(const struct upk_compat n, const char *module, const char *name) {
    return bytes_are(n.module, n.module_len, module) && bytes_are(n.name, n.name_len, name);
}

/* What a loaded module has under a name: new reference; NULL, perhaps with an exception. */
static PyObject *loaded_name(const char *module, const char *name) {
    const char *why;
    return name_find(
        (struct upk_compat){(const uint8_t *)module, strlen(module), (const uint8_t *)name, strlen(name)},
        &why);
}

/* Takes the references; NULL if one is. */
static PyObject *pair_of(PyObject *a, PyObject *b, PyObject *c) {
    PyObject *const made = a && b ? (c ? PyTuple_Pack(3, a, b, c) : PyTuple_Pack(2, a, b)) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(c);
    return made;
}

/* The slot `name` of this very class: new reference. */
static PyObject *slot_of(PyTypeObject *type, const char *name) {
    PyObject *member;
    if (!class_member(type, name, &member, NULL) || !member || Py_TYPE(member) != &PyMemberDescr_Type ||
        PyDescr_TYPE(member) != type)
        return NULL;
    Py_INCREF(member);
    return member;
}

static const PyDateTime_CAPI *datetime_api(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, "datetime.datetime_CAPI");
}

static unsigned find_datetime(const struct upk_form *f, struct plan *p) {
    PyObject *const capsule = loaded_name("datetime", "datetime_CAPI");
    const PyDateTime_CAPI *const api =
        capsule && PyCapsule_CheckExact(capsule) ? datetime_api(capsule) : NULL;
    const bool proved = f->check == UPK_CHECK_DATETIME_BYTES;
    unsigned kind = NATIVE_NONE;
    if (api) {
        const PyTypeObject *const type = (const PyTypeObject *)p->callable;
        if (proved && type == api->DateType) kind = NATIVE_DATE;
        if (proved && type == api->TimeType) kind = NATIVE_TIME;
        if (proved && type == api->DateTimeType) kind = NATIVE_DATETIME;
        if (type == api->DeltaType) kind = NATIVE_DELTA;
        if (type == Py_TYPE(api->TimeZone_UTC)) kind = NATIVE_ZONE;
    }
    if (kind) {
        p->extra = capsule;
    } else {
        Py_XDECREF(capsule);
    }
    return kind;
}

static unsigned find_uuid(struct plan *p) {
    PyTypeObject *const type = (PyTypeObject *)p->callable;
    PyObject *const safe = loaded_name("uuid", "SafeUUID");
    PyObject *members = NULL;
    if (safe && PyType_Check(safe))
        (void)class_member((PyTypeObject *)safe, "_value2member_map_", &members, NULL);
    if (members && PyDict_CheckExact(members) && type->tp_new == PyBaseObject_Type.tp_new) {
        Py_INCREF(members);
        p->extra = pair_of(slot_of(type, "int"), slot_of(type, "is_safe"), members);
    }
    Py_XDECREF(safe);
    return p->extra ? NATIVE_UUID : NATIVE_NONE;
}

static unsigned find_fraction(struct plan *p) {
    PyTypeObject *const type = (PyTypeObject *)p->callable;
    p->extra = pair_of(slot_of(type, "_numerator"), slot_of(type, "_denominator"), NULL);
    return p->extra ? NATIVE_FRACTION : NATIVE_NONE;
}

/* An enum whose members are made as the library makes them, that is, never anew. */
static unsigned find_enum(struct plan *p) {
    PyTypeObject *const type = (PyTypeObject *)p->callable;
    PyObject *const meta = loaded_name("enum", "EnumMeta"), *const base = loaded_name("enum", "Enum");
    PyObject *own, *general, *members;
    if (meta && base && (PyObject *)Py_TYPE(type) == meta && PyType_Check(base) &&
        class_member(type, "__new__", &own, NULL) &&
        class_member((PyTypeObject *)base, "__new__", &general, NULL) &&
        class_member(type, "_value2member_map_", &members, NULL) && own == general && members &&
        PyDict_CheckExact(members)) {
        Py_INCREF(members);
        p->extra = members;
    }
    Py_XDECREF(meta);
    Py_XDECREF(base);
    return p->extra ? NATIVE_ENUM : NATIVE_NONE;
}

static unsigned find_zoneinfo(struct plan *p) {
    PyObject *const class = loaded_name("zoneinfo", "ZoneInfo"), *const path = loaded_name("zoneinfo._tzpath",
                                                                                           "TZPATH");
    const bool good = class && PyType_Check(class) && path && PyTuple_CheckExact(path);
    if (good) p->extra = PyTuple_Pack(2, class, path);
    Py_XDECREF(class);
    Py_XDECREF(path);
    return p->extra ? NATIVE_ZONEINFO : NATIVE_NONE;
}

static bool is_of_c(PyObject *class) {
    return PyType_Check(class) && !(((PyTypeObject *)class)->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* What makes arrays; _reconstruct only where it is numpy's own, of C. */
static unsigned find_array(struct plan *p, unsigned kind) {
    PyObject *const class = loaded_name("numpy", "ndarray"), *const dtype = loaded_name("numpy", "dtype");
    PyObject *const table = loaded_name("numpy._core._multiarray_umath", "_ARRAY_API");
    if (class && dtype && is_of_c(class) && is_of_c(dtype) &&
        (kind == NATIVE_ARRAY || PyCFunction_Check(p->callable)))
        (void)array_find(p, class, dtype, table);
    Py_XDECREF(class);
    Py_XDECREF(dtype);
    Py_XDECREF(table);
    return p->extra ? kind : NATIVE_NONE;
}

bool native_find(struct call *c, uint32_t form, struct plan *p) {
    const struct upk_form *const f = &c->guard->policy->forms[form];
    const struct upk_compat n = row_name(c->guard->policy, f->row);
    unsigned kind = NATIVE_NONE;
    if (row_is_open(c->guard->policy, f->row)) return true; /* its name is not that of the class */
    if (f->verb == UPK_VERB_CALL && bytes_are(n.module, n.module_len, "datetime")) {
        kind = find_datetime(f, p);
    } else if (f->verb == UPK_VERB_CALL && p->callable == (PyObject *)&PyComplex_Type) {
        kind = NATIVE_COMPLEX;
    } else if (f->verb == UPK_VERB_CALL && row_is(n, "fractions", "Fraction")) {
        kind = find_fraction(p);
    } else if (f->verb == UPK_VERB_NEW && row_is(n, "uuid", "UUID")) {
        kind = find_uuid(p);
    } else if (f->verb == UPK_VERB_CALL && row_is(n, "numpy", "dtype")) {
        kind = is_of_c(p->callable) ? NATIVE_DTYPE : NATIVE_NONE;
    } else if (f->verb == UPK_VERB_CALL && f->flags & UPK_FORM_TEMPLATE) {
        kind = find_enum(p);
    } else if (f->verb == UPK_VERB_FUNC && f->check == UPK_CHECK_ZONEINFO) {
        kind = find_zoneinfo(p);
    } else if (f->verb == UPK_VERB_FUNC && f->check == UPK_CHECK_FROMBUFFER) {
        kind = find_array(p, NATIVE_ARRAY);
    } else if (f->verb == UPK_VERB_FUNC && row_is(n, "numpy._core.multiarray", "_reconstruct")) {
        kind = find_array(p, NATIVE_EMPTY);
    }
    p->native = (uint8_t)kind;
    return !PyErr_Occurred();
}

/* ---- making */

static PyObject *make_moment(struct call *c, const struct object *o, const struct plan *p) {
    const PyDateTime_CAPI *const api = datetime_api(p->extra);
    static const enum known_kind kinds[] = {
        [NATIVE_DATE] = KNOWN_DATE, [NATIVE_TIME] = KNOWN_TIME, [NATIVE_DATETIME] = KNOWN_DATETIME};
    struct known k;
    if (!api || !known_moment(o, kinds[p->native], &k)) return NULL;
    if (p->native == NATIVE_DATE)
        return api->Date_FromDate((int)k.year, (int)k.month, (int)k.day, api->DateType);
    PyObject *zone = NULL, *made;
    if (k.zone.kind != UPK_INVALID && !(zone = build_value(c, k.zone))) return NULL;
    PyObject *const tz = zone ? zone : Py_None;
    if (p->native == NATIVE_TIME) {
        made = api->Time_FromTimeAndFold((int)k.hour, (int)k.minute, (int)k.second, (int)k.micro, tz,
                                         (int)k.fold, api->TimeType);
    } else {
        made = api->DateTime_FromDateAndTimeAndFold((int)k.year, (int)k.month, (int)k.day, (int)k.hour,
                                                    (int)k.minute, (int)k.second, (int)k.micro, tz,
                                                    (int)k.fold, api->DateTimeType);
    }
    Py_XDECREF(zone);
    return made;
}

static bool is_small(struct upk_value v) {
    return v.kind == UPK_INT && v.as.i >= INT_MIN && v.as.i <= INT_MAX;
}

static PyObject *make_delta(const struct object *o, const struct plan *p) {
    const PyDateTime_CAPI *const api = datetime_api(p->extra);
    const struct upk_cell *const a = object_args(o);
    if (!api || a->len != 3 || !is_small(a->items[0]) || !is_small(a->items[1]) || !is_small(a->items[2]))
        return NULL;
    return api->Delta_FromDelta((int)a->items[0].as.i, (int)a->items[1].as.i, (int)a->items[2].as.i, 1,
                                api->DeltaType);
}

static PyObject *make_zone(struct call *c, const struct object *o, const struct plan *p) {
    const PyDateTime_CAPI *const api = datetime_api(p->extra);
    const struct upk_cell *const a = object_args(o);
    if (!api || a->len < 1 || a->len > 2) return NULL;
    PyObject *const offset = build_value(c, a->items[0]), *name = NULL, *made = NULL;
    if (offset && a->len == 2) name = build_value(c, a->items[1]);
    const bool typed = offset && Py_TYPE(offset) == api->DeltaType && (!name || PyUnicode_CheckExact(name));
    if (typed && !PyErr_Occurred()) made = api->TimeZone_FromTimeZone(offset, name);
    Py_XDECREF(offset);
    Py_XDECREF(name);
    return made;
}

static PyObject *make_complex(const struct object *o) {
    const struct upk_cell *const a = object_args(o);
    if (a->len != 2 || a->items[0].kind != UPK_FLOAT || a->items[1].kind != UPK_FLOAT) return NULL;
    return PyComplex_FromDoubles(a->items[0].as.f, a->items[1].as.f);
}

static bool in_lowest_terms(int64_t n, int64_t d) {
    uint64_t a = n < 0 ? 0 - (uint64_t)n : (uint64_t)n, b = (uint64_t)d;
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a == 1;
}

/* Into a slot; takes the reference, false where it is NULL. */
static bool put(PyObject *members, Py_ssize_t which, PyObject *into, PyObject *value) {
    PyObject *const slot = PyTuple_GET_ITEM(members, which);
    const bool good = value && Py_TYPE(slot)->tp_descr_set(slot, into, value) == 0;
    Py_XDECREF(value);
    return good;
}

static PyObject *make_fraction(const struct object *o, const struct plan *p) {
    const struct upk_cell *const a = object_args(o);
    if (a->len != 2 || a->items[0].kind != UPK_INT || a->items[1].kind != UPK_INT || a->items[1].as.i <= 0 ||
        !in_lowest_terms(a->items[0].as.i, a->items[1].as.i))
        return NULL;
    PyObject *const none = PyTuple_New(0);
    PyObject *const made = none ? PyBaseObject_Type.tp_new((PyTypeObject *)p->callable, none, NULL) : NULL;
    Py_XDECREF(none);
    if (made && put(p->extra, 0, made, PyLong_FromLongLong(a->items[0].as.i)) &&
        put(p->extra, 1, made, PyLong_FromLongLong(a->items[1].as.i)))
        return made;
    Py_XDECREF(made);
    return NULL;
}

/* The member of this value; what is no member, or of more bits than one, is left to the class. */
static PyObject *make_member(struct call *c, const struct object *o, const struct plan *p) {
    const struct upk_cell *const a = object_args(o);
    if (a->len != 1 || kind_has_cell(value_resolve(a->items[0]).kind)) return NULL;
    PyObject *const value = build_value(c, a->items[0]);
    PyObject *const member = value ? PyDict_GetItemWithError(p->extra, value) : NULL;
    Py_XDECREF(value);
    Py_XINCREF(member);
    return member;
}

/* A zone of the host's own files.  Without this an unknown key would import a package, and one that is not to come from the cache
 * would be read anew each time. */
static PyObject *make_zoneinfo(struct call *c, const struct object *o, const struct plan *p) {
    const struct upk_cell *const a = object_args(o);
    if (a->len < 1 || !value_is_str(a->items[0])) return NULL;
    PyObject *const key = build_value(c, a->items[0]), *const path = PyTuple_GET_ITEM(p->extra, 1);
    bool found = false;
    for (Py_ssize_t i = 0; key && !found && !PyErr_Occurred() && i < PyTuple_GET_SIZE(path); i++) {
        struct stat st;
        PyObject *const file = PyUnicode_FromFormat("%S/%U", PyTuple_GET_ITEM(path, i), key);
        PyObject *const bytes = file ? PyUnicode_EncodeFSDefault(file) : NULL;
        found = bytes && stat(PyBytes_AS_STRING(bytes), &st) == 0 && S_ISREG(st.st_mode);
        Py_XDECREF(file);
        Py_XDECREF(bytes);
    }
    PyObject *const made =
        found ? PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(p->extra, 0), key, NULL) : NULL;
    Py_XDECREF(key);
    if (!made && !PyErr_Occurred())
        (void)refuse_object(c, o, UPK_ERR_BUILDING, "this host's zoneinfo.TZPATH has no such time zone");
    return made;
}

static PyObject *make(struct call *c, struct object *o, const struct plan *p) {
    switch ((enum native_kind)p->native) {
    case NATIVE_DATE:
    case NATIVE_TIME:
    case NATIVE_DATETIME: return make_moment(c, o, p);
    case NATIVE_DELTA: return make_delta(o, p);
    case NATIVE_ZONE: return make_zone(c, o, p);
    case NATIVE_COMPLEX: return make_complex(o);
    case NATIVE_FRACTION: return make_fraction(o, p);
    case NATIVE_ENUM: return make_member(c, o, p);
    case NATIVE_ZONEINFO: return make_zoneinfo(c, o, p);
    case NATIVE_ARRAY: return array_over(c, o, p->extra);
    case NATIVE_EMPTY: return array_make(c, o, p->extra);
    case NATIVE_UUID: /* their states alone */
    case NATIVE_DTYPE:
    case NATIVE_NONE: break;
    }
    return NULL;
}

PyObject *native_make(struct call *c, struct object *o, const struct plan *p) {
    if (o->more && o->more->kw) return NULL;
    PyObject *const extra = p->extra; /* the plan may be made anew while values are built */
    Py_XINCREF(extra);
    struct plan now = *p;
    PyObject *const made = make(c, o, &now);
    Py_XDECREF(extra);
    if (!made && PyErr_Occurred()) (void)refuse_exception(c, o, "the constructor");
    return made;
}

/* ---- states */

/* {"int": n} or {"int": n, "is_safe": m}, as UUID.__setstate__ takes them apart. */
bool native_set_state(struct call *c, struct object *o, const struct plan *p, bool *done) {
    const struct upk_value v = value_resolve(o->state);
    *done = p->native == NATIVE_DTYPE && dtype_is_so(o);
    if (p->native != NATIVE_UUID || Py_TYPE(object_built(o)) != (PyTypeObject *)p->callable) return true;
    if (v.kind != UPK_DICT || (v.as.cell->len != 2 && v.as.cell->len != 4)) return true;
    const struct upk_value *const items = v.as.cell->items;
    const struct upk_value n = items[1],
                           safe = v.as.cell->len == 4 ? items[3] : (struct upk_value){.kind = UPK_NONE};
    if (!upk_str_is(items[0], "int") || (n.kind != UPK_INT && n.kind != UPK_BIGINT)) return true;
    if (v.as.cell->len == 4 && (!upk_str_is(items[2], "is_safe") || safe.kind != UPK_INT)) return true;
    PyObject *const value = build_value(c, safe);
    PyObject *const member = value ? PyDict_GetItemWithError(PyTuple_GET_ITEM(p->extra, 2), value) : NULL;
    Py_XDECREF(value);
    if (!member) return !PyErr_Occurred();
    Py_INCREF(member);
    *done = true;
    const bool good =
        put(p->extra, 1, object_built(o), member) && put(p->extra, 0, object_built(o), build_value(c, n));
    return good || refuse_exception(c, o, NULL);
}
