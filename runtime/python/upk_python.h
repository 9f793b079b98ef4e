/* The contract between the C that `policyc --python` writes and the shared glue of this folder: what a generated module is
 * made of.  A generated file defines one struct upk_py_module and says UPK_PY_MODULE(NAME, ...); nothing else.
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
    const char *name, *doc; /* UTF-8 */
    const struct upk_py_channel *channels;
    size_t channel_count;
};

/* Fill a module that is being imported: types, the functions of each channel, rows marked `import` bound.  0, or -1 with an
 * exception set. */
int upk_py_exec(PyObject *module, const struct upk_py_module *definition);
PyObject *upk_py_create(PyModuleDef *def, const struct upk_py_module *definition);
extern const size_t upk_py_state_size;
int upk_py_traverse(PyObject *module, visitproc visit, void *arg);
int upk_py_clear(PyObject *module);
void upk_py_free(void *module);

#endif
