/* `repr`: Python's literal syntax.  Plain values are written as CPython's repr writes them (sets in the order
 * of the stream); objects as calls, `<module.Class(args) state=... items=...>` where there is more than
 * arguments.
 *
 * Layer: runtime, over print_walk.h and known.h.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "known.h"
#include "print_walk.h"
#include "text.h"

static const struct print_style members = {.before = "", .after = "", .separator = ", "};
static const struct print_style entries = {.before = "", .between = ": ", .after = "", .separator = ", "};

/* ---- strings */

static size_t put_code(char *to, const char *format, uint32_t c) {
    return (size_t)snprintf(to, 11, format, c);
}

enum quoting { QUOTE_TEXT, QUOTE_BYTES, QUOTE_BYTEARRAY };

/* One code point, or one byte, as it stands within quotes.  CPython's bytearray escapes a single quote within
 * double ones, too. */
static size_t quoted(uint32_t c, char quote, enum quoting how, char out[12]) {
    if (c == (uint32_t)quote || c == '\\' || (c == '\'' && how == QUOTE_BYTEARRAY)) {
        out[0] = '\\';
        out[1] = (char)c;
        return 2;
    }
    if (c >= 0x20 && c < 0x7f) {
        out[0] = (char)c;
        return 1;
    }
    if (c == '\t' || c == '\n' || c == '\r') {
        out[0] = '\\';
        out[1] = c == '\t' ? 't' : c == '\n' ? 'n' : 'r';
        return 2;
    }
    if (how == QUOTE_TEXT && code_is_printable(c)) return utf8_encode(c, (uint8_t *)out);
    if (c < 0x100) return put_code(out, "\\x%02" PRIx32, c);
    return c < 0x10000 ? put_code(out, "\\u%04" PRIx32, c) : put_code(out, "\\U%08" PRIx32, c);
}

/* Double quotes only where the text holds single ones and no double one. */
static char quote_for(const uint8_t *text, size_t len) {
    return len > 0 && memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
}

static void put_quoted(struct print *p, const uint8_t *text, size_t len, enum quoting how) {
    const uint8_t *at = text, *end = text + len;
    char quote = quote_for(text, len), out[256];
    size_t n = 0;
    if (how != QUOTE_TEXT) out[n++] = 'b';
    out[n++] = quote;
    while (at < end && !p->failed) {
        if (n > sizeof out - 13) {
            print_bytes(p, out, n);
            n = 0;
        }
        uint32_t c = how != QUOTE_TEXT || *at < 0x80 ? *at++ : utf8_next(&at);
        n += quoted(c, quote, how, out + n);
    }
    out[n++] = quote;
    print_bytes(p, out, n);
}

/* ---- leaves */

static void put_float(struct print *p, double d) {
    if (isfinite(d)) {
        print_float(p, d);
    } else {
        print_string(p, isnan(d) ? "nan" : d > 0 ? "inf" : "-inf");
    }
}

/* Text that is no dotted name is quoted, so that it cannot look like something else. */
static void put_name(struct print *p, struct upk_compat name) {
    if (name_is_plain(name.module, name.module_len) && name_is_plain(name.name, name.name_len)) {
        print_bytes(p, name.module, name.module_len);
        print_char(p, '.');
        print_bytes(p, name.name, name.name_len);
        return;
    }
    print_string(p, "<global ");
    put_quoted(p, name.module, name.module_len, QUOTE_TEXT);
    print_char(p, ' ');
    put_quoted(p, name.name, name.name_len, QUOTE_TEXT);
    print_char(p, '>');
}

static void leaf(struct print *p, struct upk_value v) {
    size_t index = 0;
    int64_t code = 0;
    bool readonly = false;
    char text[48];
    switch ((enum upk_kind)v.kind) {
    case UPK_NONE: print_string(p, "None"); return;
    case UPK_BOOL: print_string(p, v.as.i ? "True" : "False"); return;
    case UPK_INT:
    case UPK_BIGINT: print_integer(p, v); return;
    case UPK_FLOAT: put_float(p, v.as.f); return;
    case UPK_STR: put_quoted(p, v.as.bytes, v.len, QUOTE_TEXT); return;
    case UPK_STR8: put_quoted(p, v.as.bytes, v.len, v.flags & VALUE_ASCII ? QUOTE_TEXT : QUOTE_BYTES); return;
    case UPK_BYTES: put_quoted(p, v.as.bytes, v.len, QUOTE_BYTES); return;
    case UPK_BYTEARRAY:
        print_string(p, "bytearray(");
        put_quoted(p, as_bytearray(v.as.cell)->bytes, v.as.cell->len, QUOTE_BYTEARRAY);
        print_char(p, ')');
        return;
    case UPK_BUFFER:
        upk_get_buffer(v, &index, &readonly);
        snprintf(text, sizeof text, "<buffer %zu%s>", index, readonly ? " read-only" : "");
        print_string(p, text);
        return;
    case UPK_EXT:
        upk_get_ext(v, &code);
        snprintf(text, sizeof text, "<extension %" PRId64 ">", code);
        print_string(p, text);
        return;
    case UPK_GLOBAL: put_name(p, print_modern_name(p, v.as.cell)); return;
    default: /* compound() has the others */ return;
    }
}

/* ---- objects with a form of their own */

static void put_moment(struct print *p, const struct known *k) {
    char text[96];
    int n = 0;
    const size_t room = sizeof text;
    if (k->kind == KNOWN_DATE) {
        n = snprintf(text, room, "datetime.date(%u, %u, %u", k->year, k->month, k->day);
    } else if (k->kind == KNOWN_TIME) {
        n = snprintf(text, room, "datetime.time(%u, %u", k->hour, k->minute);
    } else {
        n = snprintf(text, room, "datetime.datetime(%u, %u, %u, %u, %u", k->year, k->month, k->day, k->hour,
                     k->minute);
    }
    if (k->second || k->micro) n += snprintf(text + n, room - (size_t)n, ", %u", k->second);
    if (k->micro) n += snprintf(text + n, room - (size_t)n, ", %u", k->micro);
    print_bytes(p, text, (size_t)n);
    if (k->fold) print_string(p, ", fold=1");
    if (k->zone.kind != UPK_INVALID && k->zone.kind != UPK_NONE) {
        plan_text(p, ", tzinfo=");
        plan_value(p, k->zone);
    }
    plan_text(p, ")");
}

static void put_timedelta(struct print *p, const struct known *k) {
    static const char *const units[] = {"days=", "seconds=", "microseconds="};
    const char *comma = "";
    print_string(p, "datetime.timedelta(");
    for (size_t i = 0; i < 3; i++) {
        if (k->part[i].as.i == 0) continue;
        print_string(p, comma);
        print_string(p, units[i]);
        print_integer(p, k->part[i]);
        comma = ", ";
    }
    print_string(p, *comma ? ")" : "0)");
}

/* Within a complex number an integral float loses its ".0". */
static void put_complex_part(struct print *p, double d) {
    char text[32];
    if (!isfinite(d)) {
        put_float(p, d);
        return;
    }
    size_t n = float_shortest(d, text);
    if (n > 2 && text[n - 1] == '0' && text[n - 2] == '.') n -= 2;
    print_bytes(p, text, n);
}

static void put_complex(struct print *p, double real, double imaginary) {
    bool alone = real == 0 && !signbit(real);
    if (!alone) {
        print_char(p, '(');
        put_complex_part(p, real);
        if (isnan(imaginary) || !signbit(imaginary)) print_char(p, '+');
    }
    put_complex_part(p, imaginary);
    print_string(p, alone ? "j" : "j)");
}

static void put_known(struct print *p, const struct known *k) {
    switch (k->kind) {
    case KNOWN_DATE:
    case KNOWN_TIME:
    case KNOWN_DATETIME: put_moment(p, k); return;
    case KNOWN_TIMEDELTA: put_timedelta(p, k); return;
    case KNOWN_DECIMAL:
        print_string(p, "Decimal(");
        leaf(p, k->part[0]);
        print_char(p, ')');
        return;
    case KNOWN_FRACTION:
        print_string(p, "Fraction(");
        leaf(p, k->part[0]);
        print_string(p, ", ");
        leaf(p, k->part[1]);
        print_char(p, ')');
        return;
    case KNOWN_COMPLEX: put_complex(p, k->part[0].as.f, k->part[1].as.f); return;
    case KNOWN_UUID:
        print_string(p, "UUID('");
        print_uuid(p, k->uuid);
        print_string(p, "')");
        return;
    }
}

/* ---- objects */

static void put_object(struct print *p, struct object *o) {
    struct known known;
    struct upk_compat name;
    const struct object_more *more = o->more;
    const bool named = print_object_name(p, o, &name);
    if (named && known_object(p->doc, o, name, &known)) {
        put_known(p, &known);
        return;
    }
    struct upk_cell *kw = more && more->kw && more->kw->len > 0 ? more->kw : NULL;
    bool grown =
        o->state.kind != UPK_INVALID || (more && (more->base || more->items || more->pairs || more->adds));
    if (grown) print_char(p, '<');
    if (named) {
        put_name(p, name);
    } else {
        plan_value(p, value_of_cell(o->callee));
    }
    plan_text(p, "(");
    plan_cell(p, object_args(o), &members);
    if (kw) {
        plan_text(p, object_args(o)->len > 0 ? ", **" : "**");
        plan_value(p, value_of_cell(kw));
    }
    plan_text(p, ")");
    if (!grown) return;
    if (o->state.kind != UPK_INVALID) {
        plan_text(p, " state=");
        plan_value(p, o->state);
    }
    if (more) {
        struct upk_cell *base = more->base;
        bool keyed = base && base->kind == UPK_DICT;
        plan_parts(p, " items=[", keyed ? NULL : base, more->items, &members, "]");
        plan_parts(p, " pairs={", keyed ? base : NULL, more->pairs, &entries, "}");
        plan_parts(p, " adds={", NULL, more->adds, &members, "}");
    }
    plan_text(p, ">");
}

static void compound(struct print *p, struct upk_value v) {
    struct upk_cell *c = v.as.cell;
    const char *tail = NULL;
    switch ((enum upk_kind)v.kind) {
    case UPK_LIST:
        print_char(p, '[');
        tail = "]";
        break;
    case UPK_TUPLE:
        print_char(p, '(');
        tail = c->len == 1 ? ",)" : ")";
        break;
    case UPK_SET:
        print_string(p, c->len > 0 ? "{" : "set(");
        tail = c->len > 0 ? "}" : ")";
        break;
    case UPK_FROZENSET:
        print_string(p, c->len > 0 ? "frozenset({" : "frozenset(");
        tail = c->len > 0 ? "})" : ")";
        break;
    case UPK_DICT:
        print_char(p, '{');
        plan_cell(p, c, &entries);
        plan_text(p, "}");
        return;
    case UPK_PERSID:
        print_string(p, "<persistent ");
        plan_value(p, c->items[0]);
        plan_text(p, ">");
        return;
    default: put_object(p, as_object(c)); return;
    }
    plan_cell(p, c, &members);
    plan_text(p, tail);
}

/* As CPython marks what repr meets again. */
static void up(struct print *p, struct upk_value v, size_t levels) {
    (void)levels;
    const char *text = "...";
    if (v.kind == UPK_LIST) text = "[...]";
    if (v.kind == UPK_DICT) text = "{...}";
    if (v.kind == UPK_TUPLE) text = "(...)";
    if (v.kind == UPK_SET) text = "set(...)";
    if (v.kind == UPK_FROZENSET) text = "frozenset(...)";
    print_string(p, text);
}

bool upk_print_repr(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err) {
    static const struct print_form form = {.raw = false, .leaf = leaf, .compound = compound, .up = up};
    return print_document(doc, &form, sink, ctx, err);
}
