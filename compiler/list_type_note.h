/* What the two halves of type listing share: list_type.c decides about names, list_type_put.c writes.
 *
 * Layer: private to them.
 */
#ifndef COMPILER_LIST_TYPE_NOTE_H
#define COMPILER_LIST_TYPE_NOTE_H

#include "list_type.h"

struct type_note {
    struct text name; /* given when all is decided */
    uint32_t uses;    /* up to 2 */
    uint32_t depth;   /* of what is written out */
    bool named, open; /* open: the walk is within it */
    bool only_long;   /* nothing but its length gave it a name */
    /* Unions with a name whose first alternative this type is: the first one; of such a union the next one.  0: none. */
    uint32_t first_union, next_union;
    uint32_t stamp; /* the union that is being planned and holds it */
};

#endif
