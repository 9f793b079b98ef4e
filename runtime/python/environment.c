/* Policy.environment: the environment of a child as a dict.  Layer: see host.h.
 *
 * All of it is made by runtime/environment.c; here are only the mappings.  No value gets into the text of an exception.
 */
#include "host.h"

/* ---- what Python has, as bytes */

/* A name or a value: new reference to bytes without NUL, as the system has them. */
static PyObject *system_bytes(PyObject *from, const char *what) {
    if (PyUnicode_Check(from)) return PyUnicode_EncodeFSDefault(from);
    if (PyBytes_Check(from)) {
        Py_INCREF(from);
        return from;
    }
    PyErr_Format(PyExc_TypeError, "environment: %s: names and values are str", what);
    return NULL;
}

/* The pairs of a mapping: a list, of which each is a tuple of two. */
static PyObject *pairs_of(PyObject *mapping, const char *what) {
    PyObject *const items = PyMapping_Check(mapping) ? PyMapping_Items(mapping) : NULL;
    bool good = items && PyList_Check(items);
    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(items); i++) {
        PyObject *const pair = PyList_GET_ITEM(items, i);
        good = PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2;
    }
    if (good) return items;
    Py_XDECREF(items);
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Format(PyExc_TypeError, "environment: %s is no mapping", what);
    return NULL;
}

/* ---- the host */

/* NAME=VALUE; None where nothing of the kind can be in an environment; NULL: an exception is set. */
static PyObject *host_variable(PyObject *name, PyObject *value) {
    PyObject *made = NULL;
    const Py_ssize_t name_len = PyBytes_GET_SIZE(name), len = PyBytes_GET_SIZE(value);
    const char *const text = PyBytes_AS_STRING(name);
    if (!upk_env_name_is_good(text, (size_t)name_len)) Py_RETURN_NONE; /* no policy names it */
    if (memchr(PyBytes_AS_STRING(value), '\0', (size_t)len)) {
        PyErr_SetString(PyExc_ValueError, "environment: host: embedded null byte");
        return NULL;
    }
    if (len < PY_SSIZE_T_MAX - name_len - 1) made = PyBytes_FromStringAndSize(NULL, name_len + 1 + len);
    if (!made) return PyErr_NoMemory();
    char *const to = PyBytes_AS_STRING(made);
    memcpy(to, text, (size_t)name_len);
    to[name_len] = '=';
    memcpy(to + name_len + 1, PyBytes_AS_STRING(value), (size_t)len);
    return made;
}

static bool host_add(PyObject *to, PyObject *pair) {
    PyObject *const name = system_bytes(PyTuple_GET_ITEM(pair, 0), "host");
    PyObject *const value = name ? system_bytes(PyTuple_GET_ITEM(pair, 1), "host") : NULL;
    PyObject *const made = value ? host_variable(name, value) : NULL;
    const bool good = made && (made == Py_None || PyList_Append(to, made) == 0);
    Py_XDECREF(name);
    Py_XDECREF(value);
    Py_XDECREF(made);
    return good;
}

/* os.environ. */
static PyObject *own_environment(void) {
    PyObject *const os = PyImport_ImportModule("os");
    PyObject *const own = os ? PyObject_GetAttrString(os, "environ") : NULL;
    Py_XDECREF(os);
    return own;
}

/* A list of bytes, NAME=VALUE; new reference. */
static PyObject *host_list(PyObject *host) {
    PyObject *const own = host == Py_None ? own_environment() : NULL;
    PyObject *const pairs = host == Py_None && !own ? NULL : pairs_of(host == Py_None ? own : host, "host");
    PyObject *list = pairs ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(pairs); i++) {
        if (!host_add(list, PyList_GET_ITEM(pairs, i))) Py_CLEAR(list);
    }
    Py_XDECREF(pairs);
    Py_XDECREF(own);
    return list;
}

/* ---- the manifest */

static bool text_of(PyObject *kept, PyObject *from, const char *what, struct upk_bytes *out) {
    PyObject *const bytes = system_bytes(from, what);
    const bool good = bytes && PyList_Append(kept, bytes) == 0;
    if (good) *out = (struct upk_bytes){PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes)};
    Py_XDECREF(bytes);
    return good;
}

static bool entries_add(struct environment_inputs *e, PyObject *mapping, const char *what, bool from_host) {
    PyObject *const pairs = mapping == Py_None ? NULL : pairs_of(mapping, what);
    if (!pairs) return mapping == Py_None;
    const size_t count = (size_t)PyList_GET_SIZE(pairs);
    struct upk_env_entry *const all = PyMem_Realloc(e->entries, (e->count + count + 1) * sizeof *all);
    bool good = all != NULL;
    if (good)
        e->entries = all;
    else
        (void)PyErr_NoMemory();
    for (size_t i = 0; good && i < count; i++) {
        PyObject *const pair = PyList_GET_ITEM(pairs, (Py_ssize_t)i);
        struct upk_env_entry *const entry = &all[e->count++];
        *entry = (struct upk_env_entry){.from_host = from_host};
        good = text_of(e->kept, PyTuple_GET_ITEM(pair, 0), what, &entry->name) &&
               text_of(e->kept, PyTuple_GET_ITEM(pair, 1), what, &entry->value);
    }
    Py_DECREF(pairs);
    return good;
}

/* ---- the result */

/* Names alone, and no more of them than people read. */
static bool warn_of_left(const struct upk_env *env) {
    enum { MOST = 400 };
    char names[MOST] = "";
    size_t len = 0;
    for (size_t i = 0; i < env->left_count && len < MOST; i++) {
        const int n = snprintf(names + len, MOST - len, "%s%s", i ? ", " : "", env->left[i].name);
        len += n > 0 ? (size_t)n : 0;
    }
    return env->left_count == 0 ||
           PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                            "left out of the environment, as their values are not what the policy admits: %s",
                            names) == 0;
}

static bool put_variable(PyObject *dict, const char *variable) {
    const char *const equals = strchr(variable, '=');
    PyObject *const name = PyUnicode_DecodeFSDefaultAndSize(variable, equals - variable),
                    *const value = PyUnicode_DecodeFSDefault(equals + 1);
    const bool good = name && value && PyDict_SetItem(dict, name, value) == 0;
    Py_XDECREF(name);
    Py_XDECREF(value);
    return good;
}

static PyObject *dict_of(const struct upk_env *env) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < env->count; i++) {
        if (!put_variable(dict, env->vars[i])) Py_CLEAR(dict);
    }
    return dict;
}

/* What is left out is told by a warning. */
static struct upk_env *filter(struct guard *g, const struct environment_inputs *in) {
    const struct upk_manifest manifest = {in->entries, in->count};
    struct upk_env *env = NULL;
    struct upk_error err;
    if (!upk_env_filter(g->policy, in->host, &manifest, in->home, NULL, &env, &err))
        (void)refused(g->host, &err);
    if (env && warn_of_left(env)) return env;
    upk_env_free(env);
    return NULL;
}

/* ---- both, for C */

static bool host_take(struct environment_inputs *in) {
    const size_t count = (size_t)PyList_GET_SIZE(in->list);
    in->host = PyMem_New(char *, count + 1);
    if (!in->host) {
        (void)PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < count; i++)
        in->host[i] = PyBytes_AS_STRING(PyList_GET_ITEM(in->list, (Py_ssize_t)i));
    in->host[count] = NULL;
    return true;
}

bool environment_take(struct environment_inputs *in, const struct environment_arguments *a) {
    *in = (struct environment_inputs){0};
    if (a->home != Py_None && !PyUnicode_FSConverter(a->home, &in->path)) return false;
    in->home = in->path ? PyBytes_AS_STRING(in->path) : NULL;
    in->list = host_list(a->host);
    in->kept = in->list ? PyList_New(0) : NULL;
    if (in->kept && host_take(in) && entries_add(in, a->manifest, "manifest", false) &&
        entries_add(in, a->from_host, "from_host", true))
        return true;
    environment_release(in);
    return false;
}

void environment_release(struct environment_inputs *in) {
    PyMem_Free(in->entries);
    PyMem_Free(in->host);
    Py_XDECREF(in->kept);
    Py_XDECREF(in->list);
    Py_XDECREF(in->path);
}

PyObject *guard_environment(struct guard *g, PyObject *args, PyObject *kwargs) {
    static char home[] = "home", manifest[] = "manifest", from_host[] = "from_host", host[] = "host",
                *words[] = {home, manifest, from_host, host, NULL};
    struct environment_arguments a = {Py_None, Py_None, Py_None, Py_None};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:environment", words, &a.home, &a.manifest,
                                     &a.from_host, &a.host))
        return NULL;
    struct environment_inputs in;
    if (!environment_take(&in, &a)) return NULL;
    struct upk_env *const env = filter(g, &in);
    environment_release(&in);
    PyObject *const made = env ? dict_of(env) : NULL;
    upk_env_free(env);
    return made;
}
