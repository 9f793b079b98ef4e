/* Objects of the standard library that have a printed form of their own.
 *
 * Layer: private to the runtime, between print_walk.h and the printers of JSON and of Python syntax.
 */
#ifndef UPK_PRINT_KNOWN_H
#define UPK_PRINT_KNOWN_H

#include "print_walk.h"

enum known_kind {
    KNOWN_DATE,
    KNOWN_TIME,
    KNOWN_DATETIME,
    KNOWN_TIMEDELTA,
    KNOWN_DECIMAL,
    KNOWN_FRACTION,
    KNOWN_COMPLEX,
    KNOWN_UUID
};

struct known {
    enum known_kind kind;
    unsigned year, month, day, hour, minute, second, micro, fold; /* DATE, TIME, DATETIME: in their ranges */
    struct upk_value zone;                                        /* TIME, DATETIME: UPK_INVALID none */
    struct upk_value part
        [3]; /* TIMEDELTA: days, seconds, microseconds, in their ranges; FRACTION, COMPLEX: two; DECIMAL: its
                               * text */
    char uuid[37];
};

/* true: *out says all there is to say of the object; any other shape of the same class is false. */
bool known_object(const struct print *p, const struct object *o, struct known *out);

/* Made by `new` (NEWOBJ and what spells it), not by a call. */
bool object_is_new(const struct print *p, const struct object *o);

#endif
