/* A CPython extension module: beside the tables of all channels the C that makes a module of them, and type stubs.
 *
 * Layer: top of the back end, over emit.h and list.h.  What is written depends on the tables and the module's name alone.
 */
#ifndef COMPILER_EMIT_PYTHON_H
#define COMPILER_EMIT_PYTHON_H

#include "channels.h"
#include "output.h"

/* Can it be the name of a module: an identifier of ASCII, no keyword of any Python 3? */
bool python_name_good(struct text name);

/* The module's C and its stubs, in the arenas of the outputs.  false: out of memory. */
bool emit_python_texts(const struct channels *all, const char *name, struct output *module,
                       struct output *stubs);

/* Writes into the folder DIR: NAME.c and NAME.h, the tables; NAMEmodule.c; NAME.pyi; and with `depfile` NAME.d.  false: the
 * reasons are errors in `d`; d->io says whether a file could not be written. */
bool emit_python_files(const struct compiled *c, struct diag *d, const char *name, const char *dir,
                       bool depfile);

#endif
