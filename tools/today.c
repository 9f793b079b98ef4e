/* Layer: see today.h. */
#include "today.h"

#include <time.h>

#include "../compiler/compile.h"

bool today_read(const char *given, uint32_t *today) {
    if (given) return date_read(text_of(given), today);
    const time_t now = time(NULL);
    const struct tm *const day = gmtime(&now);
    if (now == (time_t)-1 || !day) return false;
    *today =
        (uint32_t)(day->tm_year + 1900) * 10000 + (uint32_t)(day->tm_mon + 1) * 100 + (uint32_t)day->tm_mday;
    return true;
}

bool today_find(const char *given, struct diag *d, uint32_t *today) {
    if (today_read(given, today)) return true;
    diag_error_nowhere(d, P_USAGE,
                       given ? "--today takes a date YYYY-MM-DD, not `%s'" : "the clock is not to be read%s",
                       given ? diag_quote(d, text_of(given)) : "");
    return false;
}
