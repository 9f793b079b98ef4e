/* `tree`: what the opcodes build, as one line of S-expressions.
 *
 * Names of Python 2 are mapped (N1) and nothing else is interpreted.  Text is ASCII, one blank between parts.
 * Back edges are `(up N)`, N values up, where every printed value is a level and `state`, `items`, `pairs`,
 * `adds` are none.
 *
 * Layer: runtime, over print_walk.h.
 */
#include <inttypes.h>
#include <string.h>

#include "print_walk.h"

static const struct print_style members = {.before = " ", .after = "", .separator = ""};
static const struct print_style sorted_members = {
    .before = "", .after = "", .separator = " ", .sorted = true};
static const struct print_style pairs = {.before = " (", .between = " ", .after = ")", .separator = ""};

static void put_bytes(struct print *p, const char *head, const uint8_t *bytes, size_t len) {
    print_string(p, head);
    if (len > 0) print_char(p, ' ');
    print_hex(p, bytes, len);
    print_char(p, ')');
}

static void leaf(struct print *p, struct upk_value v) {
    char text[40];
    switch ((enum upk_kind)v.kind) {
    case UPK_NONE: print_string(p, "none"); return;
    case UPK_BOOL: print_string(p, v.as.i ? "true" : "false"); return;
    case UPK_INT:
    case UPK_BIGINT: print_integer(p, v); return;
    case UPK_FLOAT: {
        uint64_t bits;
        memcpy(&bits, &v.as.f, sizeof bits);
        snprintf(text, sizeof text, "(f64 %016" PRIx64 ")", bits);
        print_string(p, text);
        return;
    }
    case UPK_STR: print_json_string(p, v.as.bytes, v.len); return;
    case UPK_STR8: put_bytes(p, "(str8", v.as.bytes, v.len); return;
    case UPK_BYTES: put_bytes(p, "(bytes", v.as.bytes, v.len); return;
    case UPK_BYTEARRAY: put_bytes(p, "(bytearray", as_bytearray(v.as.cell)->bytes, v.as.cell->len); return;
    case UPK_BUFFER:
    case UPK_EXT: {
        size_t index = 0;
        int64_t code = 0;
        bool readonly = false;
        if (upk_get_ext(v, &code)) {
            snprintf(text, sizeof text, "(ext %" PRId64 ")", code);
        } else {
            upk_get_buffer(v, &index, &readonly);
            snprintf(text, sizeof text, "(buffer %zu%s)", index, readonly ? " ro" : "");
        }
        print_string(p, text);
        return;
    }
    case UPK_GLOBAL: {
        struct upk_compat name = print_written_name(v.as.cell);
        print_string(p, "(global ");
        print_json_string(p, name.module, name.module_len);
        print_char(p, ' ');
        print_json_string(p, name.name, name.name_len);
        print_char(p, ')');
        return;
    }
    default: /* compound() has the others */ return;
    }
}

static void object(struct print *p, struct object *o) {
    switch (o->cell.op) {
    case UPK_OP_REDUCE: print_string(p, "(reduce "); break;
    case UPK_OP_NEWOBJ: print_string(p, "(newobj "); break;
    case UPK_OP_NEWOBJ_EX: print_string(p, "(newobj_ex "); break;
    case UPK_OP_INST: print_string(p, "(inst "); break;
    default: print_string(p, "(obj "); break;
    }
    plan_value(p, value_of_cell(o->callee));
    plan_text(p, " ");
    plan_value(p, value_of_cell(o->args));
    const struct object_more *more = o->more;
    /* `kw` of another opcode is what N8 found, which is not what was written */
    if (o->cell.op == UPK_OP_NEWOBJ_EX && more && more->kw) {
        plan_text(p, " ");
        plan_value(p, value_of_cell(more->kw));
    }
    if (o->state.kind != UPK_INVALID) {
        plan_text(p, " (state ");
        plan_value(p, o->state);
        plan_text(p, ")");
    }
    if (more && more->items && more->items->len > 0) {
        plan_text(p, " (items");
        plan_cell(p, more->items, &members);
        plan_text(p, ")");
    }
    if (more && more->pairs && more->pairs->len > 0) {
        plan_text(p, " (pairs");
        plan_cell(p, more->pairs, &pairs);
        plan_text(p, ")");
    }
    if (more && more->adds && more->adds->len > 0) {
        plan_text(p, " (adds");
        plan_cell(p, more->adds, &members);
        plan_text(p, ")");
    }
    plan_text(p, ")");
}

static void compound(struct print *p, struct upk_value v) {
    struct upk_cell *c = v.as.cell;
    switch ((enum upk_kind)v.kind) {
    case UPK_LIST:
        print_string(p, "(list");
        plan_cell(p, c, &members);
        break;
    case UPK_TUPLE:
        print_string(p, "(tuple");
        plan_cell(p, c, &members);
        break;
    case UPK_PERSID:
        print_string(p, "(persid");
        plan_span(p, c->items, 1, &members);
        break;
    case UPK_DICT:
        print_string(p, "(dict");
        plan_cell(p, c, &pairs);
        break;
    case UPK_SET:
    case UPK_FROZENSET:
        print_string(p, v.kind == UPK_SET ? "(set" : "(frozenset");
        if (c->len > 0) print_char(p, ' ');
        plan_cell(p, c, &sorted_members);
        break;
    default: object(p, as_object(c)); return;
    }
    plan_text(p, ")");
}

static void up(struct print *p, struct upk_value v, size_t levels) {
    (void)v;
    print_string(p, "(up ");
    print_unsigned(p, levels);
    print_char(p, ')');
}

bool upk_print_tree(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err) {
    static const struct print_form form = {.raw = true, .leaf = leaf, .compound = compound, .up = up};
    return print_document(doc, &form, sink, ctx, err);
}
