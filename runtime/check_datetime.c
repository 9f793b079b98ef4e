/* Native checks of dates, times and time zones.
 *
 * Source: __reduce__ and the constructors from packed bytes in Modules/_datetimemodule.c of CPython, and Lib/zoneinfo.
 *
 * Layer: runtime, part of native checks (check.h).
 */
#include "check.h"
#include "known.h"

enum {
    DATE_BYTES = 4, /* year (2, high byte first), month, day */
    TIME_BYTES = 6, /* hour, minute, second, microsecond (3, high byte first) */
    DATETIME_BYTES = DATE_BYTES + TIME_BYTES,
    FOLD = 0x80, /* of a time's hour, of a datetime's month */
    ZONE_MOST = 64
};

static bool date_holds(struct native *c, const uint8_t *p, unsigned month) {
    const unsigned year = (unsigned)p[0] << 8 | p[1], day = p[3];
    if (year < 1 || year > 9999) return check_fails(c, "date bytes: year %u", year);
    if (month < 1 || month > 12) return check_fails(c, "date bytes: month %u", month);
    if (day >= 1 && day <= days_of_month(year, month)) return true;
    return check_fails(c, "date bytes: day %u of month %u of year %u", day, month, year);
}

static bool time_holds(struct native *c, const uint8_t *p, unsigned hour) {
    const unsigned microsecond = (unsigned)p[3] << 16 | (unsigned)p[4] << 8 | p[5];
    if (hour > 23) return check_fails(c, "time bytes: hour %u", hour);
    if (p[1] > 59) return check_fails(c, "time bytes: minute %u", p[1]);
    if (p[2] > 59) return check_fails(c, "time bytes: second %u", p[2]);
    return microsecond < 1000000 || check_fails(c, "time bytes: microsecond %u", microsecond);
}

bool check_datetime_bytes(struct native *c) {
    struct upk_value v;
    if (!argument_bytes(c, 0, &v)) return false;
    const uint8_t *p = v.as.bytes;
    switch (v.len) {
    case DATE_BYTES: return date_holds(c, p, p[2]);
    case TIME_BYTES: return time_holds(c, p, p[0] & ~(unsigned)FOLD);
    case DATETIME_BYTES:
        return date_holds(c, p, p[2] & ~(unsigned)FOLD) && time_holds(c, p + DATE_BYTES, p[DATE_BYTES]);
    default: return check_fails(c, "%u bytes are neither a date nor a time", v.len);
    }
}

static bool is_zone_letter(uint8_t b) {
    return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '_' ||
           b == '+' || b == '-';
}

bool check_zoneinfo(struct native *c) {
    struct upk_value v;
    if (!argument_str(c, 0, &v)) return false;
    if (v.len > ZONE_MOST) return check_fails(c, "zone key: more than %d bytes", ZONE_MOST);
    bool empty = true; /* the part so far */
    for (uint32_t i = 0; i < v.len; i++) {
        const uint8_t b = v.as.bytes[i];
        if (b == '/' ? empty : !is_zone_letter(b))
            return check_fails(c,
                               b == '/' ? "zone key: nothing before the `/' at %u"
                                        : "zone key: the byte at %u is in no zone's name",
                               i);
        empty = b == '/';
    }
    return !empty || check_fails(c, "zone key: the last part is empty");
}
