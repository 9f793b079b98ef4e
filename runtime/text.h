/* Short texts for people: bounded, printable, put together piece by piece.
 *
 * Layer: private to the runtime, over doc.h.
 */
#ifndef UPK_TEXT_H
#define UPK_TEXT_H

#include "doc.h"

/* NUL-terminated text in `size` bytes at `at` (which may be NULL where size is 0).  `len` is the length that the whole text has:
 * what does not fit is cut off, and counted. */
struct text {
    char *at;
    size_t size, len;
    bool bare; /* text that is cut does not end in "..." */
};

/* An empty text. */
struct text text_in(char *at, size_t size);
__attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *format, ...);
/* A piece that stands as a whole or not at all; where it does not fit, nothing after it does. */
void text_add_whole(struct text *t, const char *piece);
/* The step of a path to the value of a key: `.name`, `["odd \"name\""]`, `[12]`; `[?]` for another key. */
void text_add_key(struct text *t, struct upk_value key);
/* The step to a key itself, by its number: `.keys[12]`. */
void text_add_key_itself(struct text *t, size_t i);
/* The step to a member: `[12]`. */
void text_add_index(struct text *t, size_t i);

/* Is it the refusal of a name that a row would grant?  What is denied stays so, whatever rows there are. */
static inline bool code_lacks_row(unsigned code) {
    return code == UPK_ERR_GLOBAL || code == UPK_ERR_NOT_LOADED || code == UPK_ERR_NOT_FOUND ||
           code == UPK_ERR_NOT_CLASS || code == UPK_ERR_NOT_SUBCLASS;
}

/* Only ASCII letters, digits, `_` and (not at an end, not twice) dots; no part begins with a digit. */
bool name_is_plain(const uint8_t *p, size_t n);

#endif
