/* What fuzz targets ask of one decode: see verdict.h.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#include "verdict.h"

#include <string.h>

#include "../../../runtime/upk_tables.h"
#include "../require.h"

enum { MOST_TEXT = 1 << 14, MOST_VALUES = 256 };

/* ---- the host */

static uint32_t mix(uint32_t h, const char *at, size_t len) {
    for (size_t i = 0; i < len; i++) h = (h ^ (uint8_t)at[i]) * 16777619u;
    return h ^ h >> 15;
}

static bool answer_by_name(void *ctx, const struct upk_question *q, struct upk_answer *answer) {
    static const struct upk_own_name others[] = {{"os", "x", 2, 1},      {"s", "Denied", 1, 6},
                                                 {"s", "Hidden", 1, 6},  {"subprocess", "Popen", 10, 5},
                                                 {"s.deep", "y", 6, 1},  {"builtins", "object", 8, 6},
                                                 {"enum", "Enum", 4, 4}, {"", "", 0, 0}};
    struct fuzz_host *const host = ctx;
    const uint32_t h =
        mix(mix(2166136261u, q->name.module, q->name.module_len), q->name.name, q->name.name_len);
    REQUIRE(q->name.module_len <= UPK_NAME_MOST && q->name.name_len <= UPK_NAME_MOST);
    answer->found = h % 8 < 4 ? UPK_FOUND_CLASS : (enum upk_found)(h % 8 % (UPK_FOUND_OTHER + 1));
    answer->base = h >> 3 & 3; /* also one that there is not */
    host->names[0] = q->name;
    host->names[1] = others[h >> 5 & 7];
    host->ancestors[0] = others[h >> 8 & 7];
    host->ancestors[1] = others[5];
    answer->names = host->names;
    answer->ancestors = host->ancestors;
    answer->name_count = h >> 11 & 1 ? 1 : h >> 12 & 3;
    answer->ancestor_count = h >> 14 & 3;
    if (answer->name_count > 2) answer->name_count = 0;
    if (answer->ancestor_count > 2) answer->ancestor_count = 1;
    return h >> 16 & 15; /* sometimes it cannot say */
}

struct upk_options fuzz_options(struct fuzz_host *host) {
    static const struct upk_bytes buffers[] = {{"buffer", 6}, {"", 0}};
    return (struct upk_options){.flags = UPK_ALLOW_FAIL_OPEN,
                                .buffers = buffers,
                                .buffer_count = sizeof buffers / sizeof *buffers,
                                .resolve = answer_by_name,
                                .resolve_ctx = host};
}

/* ---- printed text */

bool printed_take(void *ctx, const char *at, size_t len) {
    struct printed *text = ctx;
    REQUIRE(text->len <= text->room); /* nothing comes after the sink said stop */
    for (size_t i = 0; i < len; i++) {
        text->hash = (text->hash ^ (uint8_t)at[i]) * UINT64_C(0x100000001b3);
        if ((uint8_t)at[i] < 0x20 || (uint8_t)at[i] > 0x7e) text->ascii = false;
    }
    if (text->keep && len && len <= text->room - text->len) memcpy(text->keep + text->len, at, len);
    text->len += len;
    return text->len <= text->room;
}

/* ---- errors */

static bool is_printable(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] < 0x20 || (uint8_t)text[i] > 0x7e) return false;
    return true;
}

static void require_text(size_t (*write)(const struct upk_error *, char *, size_t),
                         const struct upk_error *err, size_t least) {
    char whole[4096], part[16];
    size_t len = write(err, whole, sizeof whole);
    REQUIRE(len >= least && len < sizeof whole && whole[len] == '\0' && is_printable(whole, len));
    REQUIRE(write(err, part, sizeof part) == len && strlen(part) < sizeof part && write(err, NULL, 0) == len);
    REQUIRE(strncmp(part, whole, sizeof part - 1) == 0);
}

void error_require_sound(const struct upk_error *err, size_t size) {
    REQUIRE(err->code != UPK_OK && err->cls != UPK_CLASS_OK && upk_code_class(err->code) == err->cls);
    const bool of_host = err->code == UPK_ERR_RESOLVE || err->code == UPK_ERR_RESOLVER;
    REQUIRE((err->cls != UPK_CLASS_MISUSE || of_host) && err->cls != UPK_CLASS_MEMORY);
    REQUIRE(err->offset <= size);
    require_text(upk_error_message, err, 1);
    require_text(upk_error_grant, err, 0);
    REQUIRE(!((err->dangerous || err->change[0]) && upk_error_grant(err, NULL, 0) > 0));
    const char *words[] = {err->module, err->name, err->detail, err->path,
                           err->policy, err->rule, err->change, err->file_kind};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        REQUIRE(is_printable(words[i], strlen(words[i])));
    if (err->code == UPK_ERR_BUDGET)
        REQUIRE(err->budget < UPK_BUDGET_COUNT &&
                (err->figure > err->limit || err->budget == UPK_BUDGET_MEMORY));
}

void error_require_same(const struct upk_error *a, const struct upk_error *b) {
    char one[4096], other[4096];
    REQUIRE(a->code == b->code && a->cls == b->cls && a->offset == b->offset && a->opcode == b->opcode);
    upk_error_message(a, one, sizeof one);
    upk_error_message(b, other, sizeof other);
    REQUIRE(strcmp(one, other) == 0);
    upk_error_grant(a, one, sizeof one);
    upk_error_grant(b, other, sizeof other);
    REQUIRE(strcmp(one, other) == 0);
    REQUIRE(strcmp(a->path, b->path) == 0 && strcmp(a->policy, b->policy) == 0 &&
            strcmp(a->rule, b->rule) == 0 && strcmp(a->change, b->change) == 0);
}

/* ---- documents */

/* Is it so that exactly the accessor of the value's kind answers? */
static void require_one_kind(struct upk_value v) {
    const enum upk_kind kind = upk_kind(v);
    uint8_t scratch[8];
    const uint8_t *bytes;
    const char *text, *module, *name;
    size_t len, name_len;
    int64_t i;
    double f;
    bool b;
    struct upk_value id;
    REQUIRE(kind != UPK_INVALID && upk_is(v, kind));
    REQUIRE(upk_get_bool(v, &b) == (kind == UPK_BOOL));
    REQUIRE(upk_get_int64(v, &i) == (kind == UPK_INT));
    REQUIRE(upk_get_bigint(v, scratch, &bytes, &len) == (kind == UPK_INT || kind == UPK_BIGINT));
    REQUIRE(upk_get_double(v, &f) == (kind == UPK_FLOAT));
    REQUIRE(upk_get_str(v, &text, &len) ? kind == UPK_STR || kind == UPK_STR8 : kind != UPK_STR);
    REQUIRE(upk_get_bytes(v, &bytes, &len) ==
            (kind == UPK_BYTES || kind == UPK_BYTEARRAY || kind == UPK_STR8));
    REQUIRE(upk_get_buffer(v, &len, &b) == (kind == UPK_BUFFER));
    REQUIRE(upk_get_global(v, &module, &len, &name, &name_len) == (kind == UPK_GLOBAL));
    REQUIRE(upk_get_persid(v, &id) == (kind == UPK_PERSID));
    REQUIRE(upk_get_ext(v, &i) == (kind == UPK_EXT));
}

/* Values that wait to be looked at; when it is full the rest is left out. */
struct heap {
    struct upk_value at[MOST_VALUES];
    size_t len;
};

static void later(struct heap *heap, struct upk_value v) {
    if (heap->len < MOST_VALUES) heap->at[heap->len++] = v;
}

/* What a field's getters say is what the accessor says of the field. */
static void require_fields(const struct upk_doc *doc, struct upk_value v) {
    static const char *const names[] = {"a", "x", "__dict__"};
    struct upk_value field;
    const uint8_t *bytes;
    const char *text;
    size_t len;
    int64_t i;
    double f;
    bool b;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        bool found = upk_object_field(doc, v, names[n], &field);
        if (found) require_one_kind(field);
        REQUIRE(upk_field_bool(doc, v, names[n], &b) == (found && upk_get_bool(field, &b)));
        REQUIRE(upk_field_int64(doc, v, names[n], &i) == (found && upk_get_int64(field, &i)));
        REQUIRE(upk_field_double(doc, v, names[n], &f) == (found && upk_get_double(field, &f)));
        REQUIRE(upk_field_str(doc, v, names[n], &text, &len) == (found && upk_get_str(field, &text, &len)));
        REQUIRE(upk_field_bytes(doc, v, names[n], &bytes, &len) ==
                (found && upk_get_bytes(field, &bytes, &len)));
    }
}

static void look_at(const struct upk_doc *doc, struct upk_value v, struct heap *heap) {
    struct upk_value key, value;
    const char *module, *name;
    size_t len, name_len;
    require_one_kind(v);
    for (size_t i = 0; i < upk_len(v) && upk_at(v, i, &value); i++) later(heap, value);
    REQUIRE(!upk_at(v, upk_len(v), &value) || upk_kind(v) == UPK_DICT);
    for (size_t i = 0; i < upk_pair_len(v); i++) {
        REQUIRE(upk_pair_at(v, i, &key, &value));
        later(heap, key);
        later(heap, value);
    }
    REQUIRE(!upk_pair_at(v, upk_pair_len(v), &key, &value));
    if (upk_dict_get(v, "a", &value)) later(heap, value);
    if (upk_get_persid(v, &value)) later(heap, value);
    if (upk_get_member(doc, v, &value)) require_one_kind(value);
    if (upk_get_member_name(doc, v, &name, &len)) REQUIRE(len > 0 && upk_value_row(doc, v) != 0);
    require_fields(doc, v);
    if (upk_kind(v) != UPK_OBJECT) return;
    REQUIRE(upk_object_class(doc, v, &module, &len, &name, &name_len) || !upk_doc_policy(doc));
    REQUIRE((upk_object_row(v) != 0) == (upk_doc_policy(doc) != NULL));
    REQUIRE((upk_value_row(doc, v) != 0) == (upk_doc_policy(doc) != NULL));
    if (upk_object_args(v, &value)) later(heap, value);
    if (upk_object_kwargs(v, &value)) later(heap, value);
    if (upk_object_state(v, &value)) later(heap, value);
}

void document_walk(const struct upk_doc *doc) {
    struct heap heap;
    heap.len = 0;
    later(&heap, upk_doc_root(doc));
    for (size_t n = 0; n < MOST_VALUES && heap.len; n++) look_at(doc, heap.at[--heap.len], &heap);
    REQUIRE(upk_doc_memory(doc) > 0);
}

typedef bool (*print_fn)(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);

static uint64_t print(print_fn printer, const struct upk_doc *doc, bool ascii) {
    struct printed all = {.room = MOST_TEXT, .ascii = true}, half;
    struct upk_error err;
    bool whole = printer(doc, printed_take, &all, &err);
    REQUIRE(all.ascii || !ascii);
    if (whole && all.len > 1) {
        half = (struct printed){.room = all.len / 2, .ascii = true};
        REQUIRE(!printer(doc, printed_take, &half, &err));
    }
    return all.hash ^ whole;
}

uint64_t document_print(const struct upk_doc *doc) {
    return print(upk_print_tree, doc, true) ^ 3 * print(upk_print_json, doc, true) ^
           5 * print(upk_print_repr, doc, false);
}

struct verdict verdict_of(const struct upk_policy *policy, const uint8_t *data, size_t size,
                          const struct upk_options *options, bool walk) {
    struct verdict v;
    struct upk_doc *doc = NULL;
    memset(&v, 0, sizeof v);
    v.accepted = upk_decode(policy, data, size, options, &doc, &v.err);
    REQUIRE(v.accepted == (doc != NULL));
    if (doc) {
        if (walk) document_walk(doc);
        v.printed = document_print(doc);
    } else {
        error_require_sound(&v.err, size);
    }
    upk_doc_free(doc);
    return v;
}

void verdict_require_same(const struct verdict *a, const struct verdict *b) {
    REQUIRE(a->accepted == b->accepted);
    if (a->accepted) {
        REQUIRE(a->printed == b->printed);
    } else {
        error_require_same(&a->err, &b->err);
    }
}
