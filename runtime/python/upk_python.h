/* The contract between the C that `policyc --python` writes and the shared glue of this folder: what a generated module is
 * made of.  A generated file has one array of struct upk_py_channel and says UPK_PY_MODULE(NAME, ...); nothing else.
 *
 * Layer: runtime/python, its surface; over upk_tables.h and CPython (3.8 to 3.13).
 */
#ifndef UPK_PYTHON_H
#define UPK_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "upk_tables.h"

struct upk_py_channel {
    const char *name; /* "": the policy has no channel blocks, and the functions stand in the module itself */
    const char *doc;  /* what it admits, for help(); UTF-8 */
    const struct upk_policy *policy;
};

struct upk_py_module {
    const char *name;
    const char *policy_type, *unpickler_type,
        *refused_error; /* names of its types, "NAME.Policy" and so on */
    const struct upk_py_channel *channels;
    size_t channel_count;
};

/* Fill a module that is being imported: types, the functions of each channel, rows marked `import` bound.  0, or -1 with an
 * exception set. */
int upk_py_exec(PyObject *module, const struct upk_py_module *definition);
int upk_py_traverse(PyObject *module, visitproc visit, void *arg);
int upk_py_clear(PyObject *module);
void upk_py_free(void *module);

#ifdef Py_mod_multiple_interpreters
#define UPK_PY_INTERPRETERS {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#else
#define UPK_PY_INTERPRETERS
#endif

/* The module NAME, whose channels are the array CHANNELS; DOC is its documentation.  Its own state is a pointer. */
#define UPK_PY_MODULE(NAME, DOC, CHANNELS)                                                          \
    static int upk_py_exec_##NAME(PyObject *module) {                                               \
        static const struct upk_py_module definition = {.name = #NAME,                              \
                                                        .policy_type = #NAME ".Policy",             \
                                                        .unpickler_type = #NAME ".Unpickler",       \
                                                        .refused_error = #NAME ".RefusedError",     \
                                                        .channels = CHANNELS,                       \
                                                        .channel_count =                            \
                                                            sizeof(CHANNELS) / sizeof *(CHANNELS)}; \
        return upk_py_exec(module, &definition);                                                    \
    }                                                                                               \
    static PyModuleDef_Slot upk_py_slots_##NAME[] = {{Py_mod_exec, (void *)upk_py_exec_##NAME},     \
                                                     UPK_PY_INTERPRETERS{0, NULL}};                 \
    static PyModuleDef upk_py_def_##NAME = {.m_base = PyModuleDef_HEAD_INIT,                        \
                                            .m_name = #NAME,                                        \
                                            .m_doc = DOC,                                           \
                                            .m_size = sizeof(void *),                               \
                                            .m_slots = upk_py_slots_##NAME,                         \
                                            .m_traverse = upk_py_traverse,                          \
                                            .m_clear = upk_py_clear,                                \
                                            .m_free = upk_py_free};                                 \
    __attribute__((visibility("default"))) PyObject *PyInit_##NAME(void);                           \
    PyObject *PyInit_##NAME(void) { return PyModuleDef_Init(&upk_py_def_##NAME); }                  \
    extern const struct upk_py_module upk_py_end_##NAME

#endif
