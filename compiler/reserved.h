/* Names that C, C++ and their libraries keep.
 *
 * Layer: above mem, below symbols.
 */
#ifndef COMPILER_RESERVED_H
#define COMPILER_RESERVED_H

#include "mem.h"

/* Would a file that includes the runtime's headers not compile, or the program mean another thing, with this
 * identifier at file scope? */
bool name_is_reserved(struct text name);

/* Each word stands between two spaces. */
extern const char reserved_by_library[];

#endif
