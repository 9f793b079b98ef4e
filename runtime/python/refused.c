/* RefusedError, and how each refusal becomes one.  Layer: see host.h. */
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const attributes[] = {"code", "cls",  "offset", "opcode", "module",
                                         "name", "path", "rule",   "change", "grant"};

PyObject *refused_class(const struct upk_py_module *definition, PyObject *base) {
    static const char doc[] = "A pickle, or what it says, is refused.  str() is the whole refusal in several "
                              "lines; its parts, None where there is none:\n"
                              "\n"
                              "code     stable code, \"R201\"; docs/refusals.md explains each\n"
                              "cls      class of the refusal, \"global\"\n"
                              "offset   of the opcode in the stream\n"
                              "opcode   its name, \"STACK_GLOBAL\"\n"
                              "module   module of the name that is concerned, as the stream has it, escaped\n"
                              "name     the name in it\n"
                              "path     place in the value, \"$.jobs[0].state\"\n"
                              "rule     line of the policy that rules, \"jobs.policy:12\"\n"
                              "change   what the policy would have to say, in words\n"
                              "grant    policy text that would grant the name: look before it is pasted";
    PyObject *const members = PyDict_New();
    PyObject *made = NULL;
    bool good = members != NULL;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes && good; i++)
        good = PyDict_SetItemString(members, attributes[i], Py_None) == 0;
    if (good) made = PyErr_NewExceptionWithDoc(definition->refused_error, doc, base, members);
    Py_XDECREF(members);
    return made;
}

PyObject *empty_input_class(const struct upk_py_module *definition, PyObject *refused_error) {
    char name[160];
    (void)snprintf(name, sizeof name, "%s.EmptyInputError", definition->name);
    PyObject *const bases = PyTuple_Pack(2, refused_error, PyExc_EOFError);
    PyObject *const made =
        bases
            ? PyErr_NewExceptionWithDoc(name, "No pickle: the input ends where one would begin.", bases, NULL)
            : NULL;
    Py_XDECREF(bases);
    return made;
}

static PyObject *class_of(const struct host *h, const struct upk_error *err) {
    const bool empty = err->code == UPK_ERR_TRUNCATED && strcmp(err->file_kind, "empty") == 0;
    return empty ? h->empty_input_error : h->refused_error;
}

/* What a host can do about a name that has no row: nothing where none could be granted either, where it is data of a module, or where
 * the class itself is the value.  A member comes with its class. */
static void write_opt_in(const struct upk_error *err, FILE *to) {
    char grant[2];
    const char *const dot = strrchr(err->name, '.');
    const bool data = err->verb == UPK_VERB_CONST;
    if (err->code != UPK_ERR_GLOBAL || err->verb == UPK_VERB_REF ||
        !upk_error_grant(err, grant, sizeof grant) || (data && !dot))
        return;
    const int len = (int)(data ? (size_t)(dot - err->name) : strlen(err->name));
    (void)fprintf(to,
                  "    in Python: if %s.%.*s is a class of yours, with_types(%s.%.*s) gives a Policy that "
                  "admits %s, or says why not\n",
                  err->module, len, err->name, err->module, len, err->name, data ? "its members" : "it");
}

/* The text of upk_error_write and the above, without the last line end. */
static PyObject *whole_text(const struct upk_error *err) {
    char *text = NULL;
    size_t len = 0;
    FILE *const to = open_memstream(&text, &len);
    if (!to) return PyErr_NoMemory();
    upk_error_write(err, to);
    write_opt_in(err, to);
    const bool good = fclose(to) == 0;
    if (good && len && text[len - 1] == '\n') len--;
    PyObject *const made = good ? PyUnicode_DecodeASCII(text, (Py_ssize_t)len, "replace") : PyErr_NoMemory();
    free(text);
    return made;
}

static PyObject *text_or_none(const char *text) {
    if (*text) return PyUnicode_DecodeASCII(text, (Py_ssize_t)strlen(text), "replace");
    Py_RETURN_NONE;
}

static bool set_parts(PyObject *e, const struct upk_error *err) {
    char grant[1024] = "";
    const bool opcode = err->opcode && err->opcode < UPK_OP_END;
    (void)upk_error_grant(err, grant, sizeof grant);
    return attribute_set(e, "code", PyUnicode_FromFormat("R%u", err->code)) &&
           attribute_set(e, "cls", text_or_none(upk_class_word(err->cls))) &&
           attribute_set(e, "offset", PyLong_FromUnsignedLongLong(err->offset)) &&
           attribute_set(e, "opcode", text_or_none(opcode ? upk_op_name(err->opcode) : "")) &&
           attribute_set(e, "module", text_or_none(err->module)) &&
           attribute_set(e, "name", text_or_none(err->name)) &&
           attribute_set(e, "path", text_or_none(err->path)) &&
           attribute_set(e, "rule", text_or_none(err->rule)) &&
           attribute_set(e, "change", text_or_none(err->change)) &&
           attribute_set(e, "grant", text_or_none(grant));
}

/* New reference.  BaseException.__reduce__ gives the text and the parts, so copies and pickles of it are whole. */
static PyObject *refusal(struct host *h, const struct upk_error *err) {
    PyObject *const text = whole_text(err);
    if (!text) return NULL;
    PyObject *const e = PyObject_CallFunctionObjArgs(class_of(h, err), text, NULL);
    Py_DECREF(text);
    if (e && set_parts(e, err)) return e;
    Py_XDECREF(e);
    return NULL;
}

PyObject *refused(struct host *h, const struct upk_error *err) {
    if (err->cls == UPK_CLASS_MEMORY) return PyErr_NoMemory();
    PyObject *const e = refusal(h, err);
    if (!e) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_DECREF(e);
    return NULL;
}

/* ---- while building */

/* All of the error but its detail. */
static void fill(struct upk_error *err, struct call *c, const struct object *o, unsigned code) {
    const struct upk_cell *const at = o ? &o->cell : build_at(c);
    error_set(err, code, o ? o->at : 0, o ? o->cell.op : 0);
    if (o && o->cell.len) error_made(err, c->guard->policy, &o->cell, o->cell.cap);
    (void)value_path(c->doc, at, err->path, sizeof err->path);
    error_policy(err, c->guard->policy);
}

bool refuse_object(struct call *c, const struct object *o, unsigned code, const char *format, ...) {
    struct upk_error err;
    char detail[2 * sizeof err.detail]; /* error_copy marks what it cuts */
    va_list arguments;
    va_start(arguments, format);
    const int len = vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    fill(&err, c, o, code);
    const size_t held = len < 0 ? 0 : (size_t)len < sizeof detail ? (size_t)len : sizeof detail - 1;
    error_copy(err.detail, sizeof err.detail, (const uint8_t *)detail, held);
    (void)refused(c->guard->host, &err);
    return false;
}

/* The exception that is set, and no longer is; new reference, NULL: none was. */
static PyObject *take_exception(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback) (void)PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

static void put_back(PyObject *exception) {
    Py_INCREF(Py_TYPE(exception));
    PyErr_Restore((PyObject *)Py_TYPE(exception), exception, PyException_GetTraceback(exception));
}

/* What it says of itself, in UTF-8; "" where it cannot. */
static PyObject *own_words(PyObject *exception) {
    PyObject *const text = PyObject_Str(exception);
    PyObject *const bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass") : NULL;
    Py_XDECREF(text);
    if (!bytes) PyErr_Clear();
    return bytes;
}

static bool passes(struct call *c, PyObject *exception, const char *doing) {
    return !PyErr_GivenExceptionMatches(exception, PyExc_Exception) ||
           PyErr_GivenExceptionMatches(exception, c->guard->host->refused_error) ||
           (!doing && PyErr_GivenExceptionMatches(exception, PyExc_MemoryError));
}

/* `from None`, or from the exception where the host asks: then it has the host's objects and words unabridged. */
static void set_origin(PyObject *e, PyObject *exception, bool cause) {
    PyException_SetContext(e, NULL);
    if (cause) Py_INCREF(exception);
    PyException_SetCause(e, cause ? exception : NULL); /* sets __suppress_context__ */
}

bool refuse_exception(struct call *c, const struct object *o, const char *doing) {
    PyObject *const exception = take_exception();
    if (!exception) return refuse_object(c, o, UPK_ERR_BUILDING, "%s failed", doing ? doing : "building");
    if (passes(c, exception, doing)) {
        put_back(exception);
        return false;
    }
    PyObject *const words = own_words(exception);
    const char *const said = words ? PyBytes_AS_STRING(words) : "";
    (void)refuse_object(c, o, UPK_ERR_BUILDING, "%s%s%s%s%s", doing ? doing : "", doing ? ": " : "",
                        Py_TYPE(exception)->tp_name, *said ? ": " : "", said);
    Py_XDECREF(words);
    PyObject *const e = take_exception();
    if (e) {
        set_origin(e, exception, c->cause);
        put_back(e);
    }
    Py_DECREF(exception);
    return false;
}
