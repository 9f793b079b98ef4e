/* Rows become objects of this process: once for a guard, by name and without running code; or what the find_class of a host's
 * Unpickler makes of them, once for a call.
 *
 * An object is taken for a row when it is of the row's kind, calls itself by the row's name or by another one that the policy
 * grants in the same ways, and is not on the closed list of dangerous names.  What is bound stays bound, whatever its module says
 * later.
 *
 * Layer: see host.h.
 */
#include "bind.h"

#include <stdio.h>

struct finding {
    PyObject *object; /* strong; NULL: refused with the rest */
    unsigned code;    /* enum upk_code */
    char why[320];
};

static bool refuses(struct finding *f, unsigned code, const char *why) {
    f->code = code;
    (void)snprintf(f->why, sizeof f->why, "%s", why);
    return false;
}

/* ---- is it what the row says? */

static const char *utf8_of(PyObject *text, size_t *len) {
    Py_ssize_t n = 0;
    const char *const at = PyUnicode_AsUTF8AndSize(text, &n);
    if (!at) PyErr_Clear(); /* a lone surrogate: no name that is granted */
    *len = (size_t)n;
    return at;
}

/* Does the policy grant that name in all ways in which it grants the row? */
static bool is_granted_alike(const struct upk_policy *p, uint32_t row, struct upk_compat own) {
    if (own.module_len > UPK_NAME_MOST || own.name_len > UPK_NAME_MOST) return false;
    const uint32_t other = find_row(p, 1, own.module, own.module_len, own.name, own.name_len);
    if (other == row) return true;
    uint32_t verbs = 0, others = 0;
    for (uint32_t i = 0; i < p->rows[row].form_count; i++)
        verbs |= 1u << p->forms[p->rows[row].first_form + i].verb;
    for (uint32_t i = 0; i < p->rows[other].form_count; i++)
        others |= 1u << p->forms[p->rows[other].first_form + i].verb;
    return other && !(verbs & ~others);
}

/* What has no name of its own is looked for under all names of loaded modules that are on the closed list.  Values that are data
 * all through are nobody's in particular. */
static bool is_dangerous_object(PyObject *object) {
    if (object == Py_None || object == Py_Ellipsis || object == Py_NotImplemented || PyBool_Check(object) ||
        PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
        PyBytes_CheckExact(object) || PyTuple_CheckExact(object))
        return false;
    PyObject *name, *module, *key, *value;
    PyObject *const modules = PyImport_GetModuleDict();
    for (Py_ssize_t i = 0; PyDict_Check(modules) && PyDict_Next(modules, &i, &name, &module);) {
        if (!PyUnicode_Check(name) || !PyModule_Check(module)) continue;
        for (Py_ssize_t k = 0; PyDict_Next(PyModule_GetDict(module), &k, &key, &value);) {
            size_t module_len, len;
            if (value != object || !PyUnicode_Check(key)) continue;
            const char *const at = utf8_of(name, &module_len), *const text = utf8_of(key, &len);
            if (at && text && upk_name_is_dangerous(at, module_len, text, len)) return true;
        }
    }
    return false;
}

static bool is_dangerous_name(const struct own_name *n) {
    size_t module_len, len;
    const char *const module = n->module ? utf8_of(n->module, &module_len) : NULL;
    const char *const name = n->qualname ? utf8_of(n->qualname, &len) : NULL;
    return module && name && upk_name_is_dangerous(module, module_len, name, len);
}

/* false: refused, or an exception is set. */
static bool name_suits(const struct upk_policy *p, uint32_t row, struct own_name *own, PyObject *object,
                       struct finding *f) {
    const struct upk_compat granted = row_name(p, row);
    const bool dangerous =
        name_is_dangerous(granted.module, granted.module_len, granted.name, granted.name_len);
    if (!own->qualname) {
        if (dangerous) return true;
        struct own_name class;
        if (!own_name_of((PyObject *)Py_TYPE(object), &class)) return false;
        /* A bound method is not for its class what a stream could make one of. */
        const bool suits =
            !is_dangerous_object(object) && (PyMethod_Check(object) || !is_dangerous_name(&class));
        own_name_clear(&class);
        return suits || refuses(f, UPK_ERR_BINDING, "this process has one of the dangerous objects there");
    }
    struct upk_compat n = granted;
    n.name = (const uint8_t *)utf8_of(own->qualname, &n.name_len);
    if (own->module) n.module = (const uint8_t *)utf8_of(own->module, &n.module_len);
    if (n.name && n.module && is_granted_alike(p, row, n)) {
        if (dangerous || !name_is_dangerous(n.module, n.module_len, n.name, n.name_len)) return true;
        return refuses(f, UPK_ERR_BINDING, "this process has one of the dangerous objects there");
    }
    f->code = UPK_ERR_BINDING;
    (void)snprintf(f->why, sizeof f->why,
                   "this process has %s.%s there, which the policy does not grant in the same way",
                   n.module ? (const char *)n.module : "?", n.name ? (const char *)n.name : "?");
    return false;
}

static bool kind_suits(const struct upk_policy *p, uint32_t row, PyObject *object, struct finding *f) {
    const uint32_t flags = p->rows[row].flags;
    if (flags & UPK_ROW_CLASS && !PyType_Check(object))
        return refuses(f, UPK_ERR_BINDING, "the row says class, and this process has something else there");
    if (flags & UPK_ROW_FUNC && (PyType_Check(object) || !PyCallable_Check(object)))
        return refuses(f, UPK_ERR_BINDING, "the row says func, and this process has no function there");
    return true;
}

/* false: an exception is set. */
static bool find(struct guard *g, uint32_t row, struct finding *f) {
    const char *why;
    struct own_name own = {NULL, NULL};
    f->object = name_find(row_name(g->policy, row), &why);
    if (!f->object) {
        if (why) (void)refuses(f, UPK_ERR_UNBOUND, why);
        return why != NULL;
    }
    const bool suits = own_name_of(f->object, &own) && kind_suits(g->policy, row, f->object, f) &&
                       name_suits(g->policy, row, &own, f->object, f);
    own_name_clear(&own);
    if (!suits) Py_CLEAR(f->object);
    return !PyErr_Occurred();
}

/* ---- when a guard is made */

static bool is_imported(const struct upk_row *row) { return row->flags & UPK_ROW_IMPORT && row->form_count; }

/* What the exception that is set says; new reference.  Of what is no Exception (KeyboardInterrupt): NULL, and it stays. */
static PyObject *reason_of_failure(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = PyUnicode_FromFormat("%s: %S", Py_TYPE(value)->tp_name, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    if (text || !PyErr_ExceptionMatches(PyExc_Exception)) return text;
    PyErr_Clear();
    return PyUnicode_FromString("an exception without words");
}

/* Load the module of a row, if it is not; where that fails *reason says why.  false: an exception is set. */
static bool load_module(struct upk_compat name, PyObject **reason) {
    PyObject *module = module_find(name);
    if (!module && !PyErr_Occurred()) {
        PyObject *const text =
            PyUnicode_DecodeUTF8((const char *)name.module, (Py_ssize_t)name.module_len, "surrogatepass");
        module = text ? PyImport_Import(text) : NULL;
        Py_XDECREF(text);
        if (!module && !(*reason = reason_of_failure())) return false;
        /* It may have loaded the place that the module has in this process. */
    }
    Py_XDECREF(module);
    return !PyErr_Occurred();
}

bool bind_imports(struct guard *g) {
    const struct upk_policy *const p = g->policy;
    for (uint32_t row = 1; row < p->row_count; row++) {
        struct binding *const b = &g->rows[row];
        if (!is_imported(&p->rows[row]) || b->object) continue;
        const struct upk_text module = p->rows[row].module;
        const struct upk_text before = p->rows[row - 1].module; /* the null row's is empty */
        const bool again =
            module.len == before.len && memcmp(p->pool + module.at, p->pool + before.at, module.len) == 0;
        if (again && g->rows[row - 1].reason) {
            b->reason = g->rows[row - 1].reason;
            Py_INCREF(b->reason);
        } else if (!load_module(row_name(p, row), &b->reason)) {
            return false;
        }
        /* A name that is not there, or not as the row says, is refused when a stream asks for it. */
        struct finding f;
        if (!find(g, row, &f)) return false;
        b->object = f.object;
    }
    return true;
}

/* ---- when a row is met */

static PyObject *refuse_row(struct call *c, uint32_t row, const struct object *o, unsigned code,
                            const char *why) {
    const struct upk_compat n = row_name(c->guard->policy, row);
    if (o && o->cell.len == row) {
        (void)refuse_object(c, o, code, "%s", why);
    } else { /* the refusal's own names are not this row's */
        (void)refuse_object(c, o, code, "%.*s::%.*s: %s", (int)n.module_len, (const char *)n.module,
                            (int)n.name_len, (const char *)n.name, why);
    }
    return NULL;
}

static PyObject *bind_slow(struct call *c, uint32_t row, const struct object *o) {
    struct binding *const b = &c->guard->rows[row];
    struct finding f;
    if (!find(c->guard, row, &f)) return NULL;
    if (f.object) {
        Py_CLEAR(b->reason);
        return b->object = f.object;
    }
    PyObject *const module = b->reason ? module_find(row_name(c->guard->policy, row)) : NULL;
    size_t len;
    const char *const reason = b->reason && !module ? utf8_of(b->reason, &len) : NULL;
    Py_XDECREF(module);
    if (reason) (void)snprintf(f.why, sizeof f.why, "its module could not be imported: %s", reason);
    return refuse_row(c, row, o, f.code, f.why);
}

/* What the host's find_class makes of the row, borrowed from the call.  Its exceptions are the host's own. */
static PyObject *ask_host(struct call *c, uint32_t row, const struct object *o) {
    const struct upk_policy *const p = c->guard->policy;
    if (!c->found && !(c->found = PyMem_Calloc(p->row_count, sizeof *c->found))) return PyErr_NoMemory();
    if (c->found[row]) return c->found[row];
    const struct upk_compat n = row_name(p, row);
    PyObject *const module =
        PyUnicode_DecodeUTF8((const char *)n.module, (Py_ssize_t)n.module_len, "surrogatepass");
    PyObject *const name =
        PyUnicode_DecodeUTF8((const char *)n.name, (Py_ssize_t)n.name_len, "surrogatepass");
    PyObject *const found =
        module && name ? PyObject_CallFunctionObjArgs(c->find_class, module, name, NULL) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(name);
    struct finding f;
    if (!found) return NULL;
    if (!kind_suits(p, row, found, &f)) {
        Py_DECREF(found);
        return refuse_row(c, row, o, f.code, f.why);
    }
    return c->found[row] = found;
}

PyObject *bind_own_row(struct call *c, uint32_t row, const struct object *o) {
    PyObject *const object = c->guard->rows[row].object;
    return object ? object : bind_slow(c, row, o);
}

PyObject *bind_row(struct call *c, uint32_t row, const struct object *o) {
    return c->find_class ? ask_host(c, row, o) : bind_own_row(c, row, o);
}

PyObject *bind_global(struct call *c, struct upk_cell *cell) {
    const struct global *const g = as_global(cell);
    return g->asked ? opened_object(c, g->asked) : bind_row(c, cell->len, NULL);
}

void bind_end(struct call *c) {
    for (uint32_t row = 0; row < c->guard->policy->row_count; row++) Py_XDECREF(c->found[row]);
    PyMem_Free(c->found);
    c->found = NULL;
}

bool rows_new(struct guard *g) {
    g->rows = PyMem_Calloc(g->policy->row_count, sizeof *g->rows);
    g->plans = PyMem_Calloc(g->policy->form_count, sizeof *g->plans);
    if (g->rows && g->plans) return true;
    (void)PyErr_NoMemory();
    return false;
}

static int compare_rows(const struct upk_policy *p, uint32_t i, const struct upk_policy *q, uint32_t j) {
    const struct upk_compat a = row_name(p, i), b = row_name(q, j);
    const int order = bytes_compare(a.module, a.module_len, b.module, b.module_len);
    return order != 0 ? order : bytes_compare(a.name, a.name_len, b.name, b.name_len);
}

/* Both are in one order, and the new rows hold all the old ones. */
void rows_copy(struct guard *to, const struct guard *from) {
    uint32_t j = 1;
    for (uint32_t i = 1; i < from->policy->row_count; i++, j++) {
        while (compare_rows(from->policy, i, to->policy, j) != 0) j++;
        to->rows[j] = from->rows[i];
        Py_XINCREF(to->rows[j].object);
        Py_XINCREF(to->rows[j].reason);
    }
}

int rows_traverse(struct guard *g, visitproc visit, void *arg) {
    for (uint32_t row = 0; g->rows && row < g->policy->row_count; row++) Py_VISIT(g->rows[row].object);
    for (uint32_t form = 0; g->plans && form < g->policy->form_count; form++) {
        const int stop = plan_traverse(&g->plans[form], visit, arg);
        if (stop) return stop;
    }
    return 0;
}

void rows_free(struct guard *g) {
    for (uint32_t row = 0; g->rows && row < g->policy->row_count; row++) {
        Py_XDECREF(g->rows[row].object);
        Py_XDECREF(g->rows[row].reason);
    }
    for (uint32_t form = 0; g->plans && form < g->policy->form_count; form++) plan_clear(&g->plans[form]);
    PyMem_Free(g->rows);
    PyMem_Free(g->plans);
}
