/* Native checks: relations between the parts of one object that no type can say.  docs/checks.md says what each proves.
 *
 *   check.c                which check a form has, and what checks share
 *   check_datetime.c       datetime_bytes, zoneinfo
 *   check_decimal.c        decimal
 *   check_array.c          array
 *   check_unicode_error.c  unicode_error
 *   check_npdtype.c        npdtype, over npy.h
 *   check_ndarray.c        ndarray, frombuffer, npscalar
 *
 * A further one is a word of UPK_CHECKS, its function check_WORD, its signature in compiler/check_native.c, and a section of
 * docs/checks.md.
 *
 * A check runs when the form of an object is proved.  That says nothing of what the check reads, for a table may give a check
 * to any form: it looks at kinds and counts itself, and what it cannot read does not hold.  Where it fails the document is
 * refused; no other form is tried.
 *
 * Layer: private to the runtime, over match.h.
 */
#ifndef UPK_CHECK_H
#define UPK_CHECK_H

#include "match.h"

struct native { /* one run of a check */
    struct matcher *m;
    const struct object *object;
    char *why; /* the relation that does not hold */
    size_t why_size;
};

/* Does the check of this form, if it has one, hold for the object?  Where it does not, `why` says what does not hold; or the
 * budget is exceeded (m->pairs), which the caller looks at first. */
bool check_object(struct matcher *m, const struct object *o, uint32_t form, char *why, size_t why_size);

/* The checks themselves. */
#define UPK_X(name, word) bool check_##word(struct native *c);
UPK_CHECKS(UPK_X)
#undef UPK_X

/* ---- for checks.  Each returns false where the check is to return false. */

/* Says why; always false. */
__attribute__((format(printf, 2, 3))) bool check_fails(struct native *c, const char *format, ...);
/* Before a look at n bytes or members, of which `a_pair` take about the time of one match. */
bool check_pays(struct native *c, size_t n, size_t a_pair);
/* Number of arguments. */
uint32_t argument_count(const struct native *c);
/* Argument i, as what the check reads; arguments count from 0 here, and from 1 in messages. */
bool argument_str(struct native *c, uint32_t i, struct upk_value *out);
bool argument_bytes(struct native *c, uint32_t i, struct upk_value *out);
bool argument_list(struct native *c, uint32_t i, const struct upk_cell **out);
/* An int of 64 bits. */
bool argument_int(struct native *c, uint32_t i, int64_t *out);

#endif
