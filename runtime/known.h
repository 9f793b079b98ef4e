/* Objects of the standard library whose parts are known: they have a printed form, and getters, of their own.
 *
 * Layer: private to the runtime, over doc.h; under the printers of JSON and of Python syntax, and get_known.c.
 */
#ifndef UPK_KNOWN_H
#define UPK_KNOWN_H

#include "doc.h"

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
    uint8_t uuid[16]; /* high byte first */
};

/* An object made by calling `name`.  true: *out says all there is to say of it; any other shape of the same class is false. */
bool known_object(const struct upk_doc *doc, const struct object *o, struct upk_compat name,
                  struct known *out);
/* The same of its arguments alone, for one of DATE, TIME and DATETIME. */
bool known_moment(const struct object *o, enum known_kind kind, struct known *out);
/* Days of a month of 1 to 12, in a year of the Gregorian calendar. */
unsigned days_of_month(unsigned year, unsigned month);
/* The int of a UUID as bytes; false: it is none of 128 bits. */
bool known_uuid(struct upk_value n, uint8_t out[16]);

/* Made by `new` (NEWOBJ and what spells it), not by a call. */
bool object_is_new(const struct upk_doc *doc, const struct object *o);

#endif
