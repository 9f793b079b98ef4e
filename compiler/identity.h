/* Other paths to one object of Python: modules that are one module or hold the same objects, and functions that two
 * modules have.
 *
 * A path is a module and a name within it joined by a dot, as an import and attributes lead to it: `os.path.join`.
 *
 * Layer: above mem; for check_never.c.
 */
#ifndef COMPILER_IDENTITY_H
#define COMPILER_IDENTITY_H

#include "mem.h"

enum path_kind {
    PATH_NAME,   /* the object, and what is reached through it */
    PATH_MODULE, /* all that is in the module */
    PATH_TREE    /* and in the modules below it */
};

struct path {
    struct text text;
    enum path_kind kind;
};

struct path_list {
    struct mem *mem;
    struct path *items;
    size_t count, room;
};

/* Adds a path that the list does not have yet.  false: out of memory; so below. */
bool path_add(struct path_list *list, struct text text, enum path_kind kind);
/* Adds all other paths to what the paths of the list lead to. */
bool paths_of_same(struct path_list *list);

#endif
