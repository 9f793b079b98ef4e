/* `json`: lossless JSON.  What JSON has stands for itself, all else is an object with one key that begins
 * with `$`.
 *
 * A dict becomes a JSON object only if its keys are strings, none of them twice or beginning with `$`; so
 * data cannot look like a tag.  Output is ASCII.  docs/printed-forms.md lists the tags.
 *
 * Layer: runtime, over print_walk.h and known.h.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "known.h"
#include "print_walk.h"

static const struct print_style members = {.before = "", .after = "", .separator = ", "};
static const struct print_style entries = {.before = "", .between = ": ", .after = "", .separator = ", "};
static const struct print_style pairs = {.before = "[", .between = ", ", .after = "]", .separator = ", "};

/* ---- strings */

/* A high surrogate right before a low one, each a code point of its own: JSON has no text for that. */
static bool has_split_pair(struct upk_value v) {
    const uint8_t *at = v.as.bytes, *end = at + v.len;
    if (v.flags & VALUE_ASCII) return false;
    while ((at = memchr(at, 0xed, (size_t)(end - at)))) {
        /* valid text: ED is followed by two bytes */
        if (at[1] >= 0xa0 && at[1] <= 0xaf && end - at > 5 && at[3] == 0xed && at[4] >= 0xb0) return true;
        at += 3;
    }
    return false;
}

static void put_base64(struct print *p, const char *head, const uint8_t *bytes, size_t len) {
    print_string(p, head);
    print_base64(p, bytes, len);
    print_string(p, "\"}");
}

static void put_str(struct print *p, struct upk_value v) {
    if (has_split_pair(v)) {
        put_base64(p, "{\"$utf8\": \"", v.as.bytes, v.len);
    } else {
        print_json_string(p, v.as.bytes, v.len);
    }
}

/* Bytes as the characters U+0000 to U+00FF. */
static void put_str8(struct print *p, const uint8_t *bytes, size_t len) {
    print_string(p, "{\"$str8\": \"");
    for (size_t i = 0; i < len && !p->failed;) {
        uint8_t text[256];
        size_t n = 0;
        for (; i < len && n < sizeof text - 4; i++) n += utf8_encode(bytes[i], text + n);
        print_json_text(p, text, n);
    }
    print_string(p, "\"}");
}

static void put_name(struct print *p, struct upk_compat name) {
    bool plain = !memchr(name.module, ':', name.module_len) && !memchr(name.name, ':', name.name_len);
    struct upk_value parts[2] = {
        {.kind = UPK_STR, .len = (uint32_t)name.module_len, .as = {.bytes = name.module}},
        {.kind = UPK_STR, .len = (uint32_t)name.name_len, .as = {.bytes = name.name}},
    };
    if (!plain || has_split_pair(parts[0]) || has_split_pair(parts[1])) {
        print_char(p, '[');
        put_str(p, parts[0]);
        print_string(p, ", ");
        put_str(p, parts[1]);
        print_char(p, ']');
        return;
    }
    print_char(p, '"');
    print_json_text(p, name.module, name.module_len);
    print_string(p, "::");
    print_json_text(p, name.name, name.name_len);
    print_char(p, '"');
}

/* ---- leaves */

static void put_float(struct print *p, double d) {
    char text[64];
    uint64_t bits;
    if (isfinite(d)) {
        print_float(p, d);
    } else if (isinf(d)) {
        print_string(p, d > 0 ? "{\"$float\": \"inf\"}" : "{\"$float\": \"-inf\"}");
    } else {
        memcpy(&bits, &d, sizeof bits);
        print_string(p, "{\"$float\": \"nan\"");
        if (bits != UINT64_C(0x7ff8000000000000)) {
            snprintf(text, sizeof text, ", \"bits\": \"%016" PRIx64 "\"", bits);
            print_string(p, text);
        }
        print_char(p, '}');
    }
}

static void leaf(struct print *p, struct upk_value v) {
    size_t index = 0;
    int64_t code = 0;
    bool readonly = false;
    char text[48];
    switch ((enum upk_kind)v.kind) {
    case UPK_NONE: print_string(p, "null"); return;
    case UPK_BOOL: print_string(p, v.as.i ? "true" : "false"); return;
    case UPK_INT:
    case UPK_BIGINT: print_integer(p, v); return;
    case UPK_FLOAT: put_float(p, v.as.f); return;
    case UPK_STR: put_str(p, v); return;
    case UPK_STR8: put_str8(p, v.as.bytes, v.len); return;
    case UPK_BYTES: put_base64(p, "{\"$bytes\": \"", v.as.bytes, v.len); return;
    case UPK_BYTEARRAY:
        put_base64(p, "{\"$bytearray\": \"", as_bytearray(v.as.cell)->bytes, v.as.cell->len);
        return;
    case UPK_BUFFER:
        upk_get_buffer(v, &index, &readonly);
        snprintf(text, sizeof text, "{\"$buffer\": %zu%s}", index, readonly ? ", \"readonly\": true" : "");
        print_string(p, text);
        return;
    case UPK_EXT:
        upk_get_ext(v, &code);
        snprintf(text, sizeof text, "{\"$ext\": %" PRId64 "}", code);
        print_string(p, text);
        return;
    case UPK_GLOBAL:
        print_string(p, "{\"$global\": ");
        put_name(p, print_modern_name(p, v.as.cell));
        print_char(p, '}');
        return;
    default: /* compound() has the others */ return;
    }
}

/* ---- dicts */

/* Equal keys are possible in inspected documents alone: a policy refuses them. */
static bool has_key_twice(struct print *p, const struct upk_cell *dict) {
    size_t n = dict->len / 2;
    if (p->doc->policy || n < 2) return false;
    struct upk_bytes *keys = mem_resize(&p->mem, NULL, 0, n * sizeof *keys);
    if (!keys) {
        print_no_memory(p);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        keys[i].data = dict->items[2 * i].as.bytes;
        keys[i].len = dict->items[2 * i].len;
    }
    bytes_sort(keys, n);
    bool twice = false;
    for (size_t i = 1; i < n && !twice; i++) {
        twice = keys[i].len == keys[i - 1].len &&
                bytes_compare(keys[i].data, keys[i].len, keys[i - 1].data, keys[i - 1].len) == 0;
    }
    mem_resize(&p->mem, keys, n * sizeof *keys, 0);
    return twice;
}

static bool is_json_object(struct print *p, const struct upk_cell *dict) {
    for (size_t i = 0; i < dict->len; i += 2) {
        struct upk_value key = dict->items[i];
        if (key.kind != UPK_STR || (key.len > 0 && key.as.bytes[0] == '$') || has_split_pair(key))
            return false;
    }
    return !has_key_twice(p, dict);
}

static void put_dict(struct print *p, struct upk_cell *c) {
    if (is_json_object(p, c)) {
        print_char(p, '{');
        plan_cell(p, c, &entries);
        plan_text(p, "}");
    } else {
        print_string(p, "{\"$dict\": [");
        plan_cell(p, c, &pairs);
        plan_text(p, "]}");
    }
}

/* ---- objects */

static void put_moment(struct print *p, const struct known *k) {
    char text[64];
    int n = 0;
    if (k->kind != KNOWN_TIME) n = snprintf(text, sizeof text, "%04u-%02u-%02u", k->year, k->month, k->day);
    if (k->kind == KNOWN_DATETIME) text[n++] = 'T';
    if (k->kind != KNOWN_DATE) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%02u:%02u:%02u", k->hour, k->minute, k->second);
        if (k->micro) n += snprintf(text + n, sizeof text - (size_t)n, ".%06u", k->micro);
    }
    print_string(p, k->kind == KNOWN_DATE   ? "{\"$date\": \""
                    : k->kind == KNOWN_TIME ? "{\"$time\": \""
                                            : "{\"$datetime\": \"");
    print_bytes(p, text, (size_t)n);
    print_string(p, k->fold ? "\", \"fold\": 1" : "\"");
    if (k->zone.kind != UPK_INVALID) {
        print_string(p, ", \"tz\": ");
        plan_value(p, k->zone);
    }
    plan_text(p, "}");
}

static void put_known(struct print *p, const struct known *k) {
    const char *head = NULL;
    size_t parts = 2;
    switch (k->kind) {
    case KNOWN_DATE:
    case KNOWN_TIME:
    case KNOWN_DATETIME: put_moment(p, k); return;
    case KNOWN_UUID:
        print_string(p, "{\"$uuid\": \"");
        print_uuid(p, k->uuid);
        print_string(p, "\"}");
        return;
    case KNOWN_DECIMAL:
        print_string(p, "{\"$decimal\": ");
        put_str(p, k->part[0]);
        print_char(p, '}');
        return;
    case KNOWN_TIMEDELTA:
        head = "{\"$timedelta\": [";
        parts = 3;
        break;
    case KNOWN_FRACTION: head = "{\"$fraction\": ["; break;
    case KNOWN_COMPLEX: head = "{\"$complex\": ["; break;
    }
    print_string(p, head);
    for (size_t i = 0; i < parts; i++) {
        if (i > 0) print_string(p, ", ");
        leaf(p, k->part[i]);
    }
    print_string(p, "]}");
}

static void put_object(struct print *p, struct object *o) {
    struct known known;
    struct upk_compat name;
    const struct object_more *more = o->more;
    const bool named = print_object_name(p, o, &name);
    if (named && known_object(p->doc, o, name, &known)) {
        put_known(p, &known);
        return;
    }
    bool instance = o->cell.op == UPK_OP_INST || o->cell.op == UPK_OP_OBJ;
    print_string(p, object_is_new(p->doc, o) ? "{\"$object\": " : instance ? "{\"$inst\": " : "{\"$call\": ");
    if (named) {
        put_name(p, name);
    } else {
        plan_value(p, value_of_cell(o->callee));
    }
    plan_text(p, ", \"args\": [");
    plan_cell(p, object_args(o), &members);
    plan_text(p, "]");
    if (more && more->kw && more->kw->len > 0) {
        plan_text(p, ", \"kwargs\": ");
        plan_value(p, value_of_cell(more->kw));
    }
    if (o->state.kind != UPK_INVALID) {
        plan_text(p, ", \"state\": ");
        plan_value(p, o->state);
    }
    if (more) {
        struct upk_cell *base = more->base;
        bool keyed = base && base->kind == UPK_DICT;
        plan_parts(p, ", \"items\": [", keyed ? NULL : base, more->items, &members, "]");
        plan_parts(p, ", \"pairs\": [", keyed ? base : NULL, more->pairs, &pairs, "]");
        plan_parts(p, ", \"adds\": [", NULL, more->adds, &members, "]");
    }
    plan_text(p, "}");
}

static void compound(struct print *p, struct upk_value v) {
    struct upk_cell *c = v.as.cell;
    switch ((enum upk_kind)v.kind) {
    case UPK_LIST:
        print_char(p, '[');
        plan_cell(p, c, &members);
        plan_text(p, "]");
        return;
    case UPK_TUPLE: print_string(p, "{\"$tuple\": ["); break;
    case UPK_SET: print_string(p, "{\"$set\": ["); break;
    case UPK_FROZENSET: print_string(p, "{\"$frozenset\": ["); break;
    case UPK_PERSID:
        print_string(p, "{\"$persid\": ");
        plan_value(p, c->items[0]);
        plan_text(p, "}");
        return;
    case UPK_DICT: put_dict(p, c); return;
    default: put_object(p, as_object(c)); return;
    }
    plan_cell(p, c, &members);
    plan_text(p, "]}");
}

static void up(struct print *p, struct upk_value v, size_t levels) {
    (void)v;
    print_string(p, "{\"$up\": ");
    print_unsigned(p, levels);
    print_char(p, '}');
}

bool upk_print_json(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err) {
    static const struct print_form form = {.raw = false, .leaf = leaf, .compound = compound, .up = up};
    return print_document(doc, &form, sink, ctx, err);
}
