/* Native check of the text of a Decimal: that it is a number, and how long it is when it is written out.
 *
 *   [+-] ( digits [. [digits]] | . digits ) [ (E|e) [+-] digits ]
 *   [+-] ( Inf | Infinity )
 *   [+-] ( NaN | sNaN ) [digits]
 *
 * Source: what Decimal's constructor reads and its __str__ writes, Lib/_pydecimal.py of CPython, less what only the first
 * takes: blanks, underscores, digits beyond ASCII, the words in other case.  `e` is written under a context with capitals=0.
 *
 * Layer: runtime, part of native checks (check.h).
 */
#include <inttypes.h>

#include "check.h"

enum { READ_A_PAIR = 16 };

#define EXPONENT_MOST INT64_C(1000000000000000000) /* far beyond any budget; larger ones count as this */

struct cursor_text {
    const uint8_t *at, *end;
};

static bool take(struct cursor_text *t, const char *word) {
    const size_t n = strlen(word);
    if (n > (size_t)(t->end - t->at) || memcmp(t->at, word, n) != 0) return false;
    t->at += n;
    return true;
}

static bool take_sign(struct cursor_text *t) {
    if (take(t, "-")) return true;
    (void)take(t, "+");
    return false;
}

/* How many digits there are; *value, where asked for, is their number, saturated. */
static int64_t take_digits(struct cursor_text *t, int64_t *value) {
    const uint8_t *from = t->at;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (value) *value = *value < EXPONENT_MOST / 10 ? *value * 10 + (*t->at - '0') : EXPONENT_MOST;
    }
    return t->at - from;
}

/* At most as many as int() and format `f` would have to write. */
static bool within_budget(struct native *c, int64_t whole, int64_t fraction) {
    const uint64_t most = c->m->policy->budgets[UPK_BUDGET_DIGITS];
    const uint64_t digits = (uint64_t)(whole > 1 ? whole : 1) + (uint64_t)(fraction > 0 ? fraction : 0);
    if (digits <= most) return true;
    return check_fails(c, "decimal: %" PRIu64 " digits when written out, budget digits is %" PRIu64, digits,
                       most);
}

bool check_decimal(struct native *c) {
    struct upk_value v;
    if (!argument_str(c, 0, &v) || !check_pays(c, v.len, READ_A_PAIR)) return false;
    struct cursor_text t = {v.as.bytes, v.as.bytes + v.len};
    (void)take_sign(&t);
    int64_t whole = 0, fraction = 0, exponent = 0;
    bool good = true;
    if (take(&t, "Infinity") || take(&t, "Inf")) {
        whole = 1;
    } else if (take(&t, "NaN") || take(&t, "sNaN")) {
        whole = take_digits(&t, NULL);
    } else {
        whole = take_digits(&t, NULL);
        fraction = take(&t, ".") ? take_digits(&t, NULL) : 0;
        good = whole + fraction > 0;
        if (take(&t, "E") || take(&t, "e")) {
            const bool negative = take_sign(&t);
            good = good && take_digits(&t, &exponent) > 0;
            if (negative) exponent = -exponent;
        }
    }
    if (!good || t.at != t.end)
        return check_fails(c, "decimal: no number from byte %u on", (unsigned)(t.at - v.as.bytes));
    return within_budget(c, whole + exponent, fraction - exponent);
}
