/* Native checks: which one a form has, and how they read arguments.
 *
 * Layer: runtime, part of native checks (check.h).
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>

bool check_object(struct matcher *m, const struct object *o, uint32_t form, char *why, size_t why_size) {
    struct native c = {.m = m, .object = o, .why = why, .why_size = why_size};
    switch ((enum upk_check)m->policy->forms[form].check) {
#define UPK_X(name, word) \
    case UPK_CHECK_##name: return check_pays(&c, 1, 1) && check_##word(&c);
        UPK_CHECKS(UPK_X)
#undef UPK_X
    case UPK_CHECK_NONE: return true;
    case UPK_CHECK_COUNT: break;
    }
    return check_fails(&c, "a check that this version does not have");
}

bool check_fails(struct native *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->why, c->why_size, format, args);
    va_end(args);
    return false;
}

bool check_pays(struct native *c, size_t n, size_t a_pair) {
    c->m->pairs += n / a_pair;
    return c->m->pairs <= c->m->budget;
}

uint32_t argument_count(const struct native *c) { return object_args(c->object)->len; }

static struct upk_value argument_value(const struct native *c, uint32_t i) {
    const struct upk_cell *args = object_args(c->object);
    return i < args->len ? value_resolve(args->items[i]) : (struct upk_value){.kind = UPK_INVALID};
}

static bool is_not(struct native *c, uint32_t i, const char *kind) {
    return check_fails(c, "argument %u is no %s", (unsigned)i + 1, kind);
}

bool argument_str(struct native *c, uint32_t i, struct upk_value *out) {
    *out = argument_value(c, i);
    return value_is_str(*out) || is_not(c, i, "str");
}

bool argument_bytes(struct native *c, uint32_t i, struct upk_value *out) {
    *out = argument_value(c, i);
    return out->kind == UPK_BYTES || out->kind == UPK_STR8 || is_not(c, i, "bytes");
}

bool argument_list(struct native *c, uint32_t i, const struct upk_cell **out) {
    const struct upk_value v = argument_value(c, i);
    if (v.kind != UPK_LIST) return is_not(c, i, "list");
    *out = v.as.cell;
    return true;
}

bool argument_int(struct native *c, uint32_t i, int64_t *out) {
    const struct upk_value v = argument_value(c, i);
    if (v.kind != UPK_INT) return is_not(c, i, "int of 64 bits");
    *out = v.as.i;
    return true;
}
