/* Fuzz target: any bytes as a pickle, inspected, scanned, and decided under a shipped policy.
 *
 * What must hold for every input, beside not crashing and not leaking:
 *   - a verdict is the same when it is asked for again, and upk_check and UPK_COPY give the same one;
 *   - what the policy accepts, inspection accepts under the same budgets;
 *   - what inspection accepts, a scan accepts, and the scan refuses nothing else but what is over a limit;
 *   - printers stop where the sink says so, and write printable ASCII;
 *   - an error names a known code of its class, an offset inside the input, and has a message of one printable line.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#include <string.h>

#include "../../runtime/upk.h"
#include "../../runtime/upk_tables.h"
#include "require.h"
#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ALL_FAMILIES = (1 << UPK_FAMILY_COUNT) - 1, MOST_TEXT = 1 << 16 };

/* Text that a printer writes: hashed, and cut off at `room`. */
struct text {
    size_t room, len;
    uint64_t hash;
    bool ascii;
};

static bool take_text(void *ctx, const char *at, size_t len) {
    struct text *text = ctx;
    REQUIRE(text->len <= text->room); /* nothing comes after the sink said stop */
    for (size_t i = 0; i < len; i++) {
        text->hash = (text->hash ^ (uint8_t)at[i]) * UINT64_C(0x100000001b3);
        if ((uint8_t)at[i] < 0x20 || (uint8_t)at[i] > 0x7e) text->ascii = false;
    }
    text->len += len;
    return text->len <= text->room;
}

static bool printable(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] < 0x20 || (uint8_t)text[i] > 0x7e) return false;
    return true;
}

static unsigned class_of_code(unsigned code) {
    switch (code) {
#define UPK_X(number, name, cls, sentence) \
    case number: return UPK_CLASS_##cls;
        UPK_CODES(UPK_X)
#undef UPK_X
    }
    return UPK_CLASS_COUNT;
}

static void require_sound_error(const struct upk_error *err, size_t size) {
    char message[2048], grant[2048];
    REQUIRE(err->code != UPK_OK && class_of_code(err->code) == err->cls);
    REQUIRE(err->cls != UPK_CLASS_MISUSE && err->cls != UPK_CLASS_MEMORY);
    REQUIRE(err->offset <= size);
    size_t len = upk_error_message(err, message, sizeof message);
    REQUIRE(len > 0 && len < sizeof message && message[len] == '\0' && printable(message, len));
    len = upk_error_grant(err, grant, sizeof grant);
    REQUIRE(len < sizeof grant && grant[len] == '\0' && printable(grant, len));
    REQUIRE(!(err->dangerous && len > 0));
    const char *words[] = {err->module, err->name, err->detail,   err->path,
                           err->policy, err->rule, err->file_kind};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) REQUIRE(printable(words[i], strlen(words[i])));
    if (err->code == UPK_ERR_BUDGET)
        REQUIRE(err->budget < UPK_BUDGET_COUNT &&
                (err->figure > err->limit || err->budget == UPK_BUDGET_MEMORY));
}

static void require_same_error(const struct upk_error *a, const struct upk_error *b) {
    char one[2048], other[2048];
    REQUIRE(a->code == b->code && a->cls == b->cls && a->offset == b->offset && a->opcode == b->opcode);
    upk_error_message(a, one, sizeof one);
    upk_error_message(b, other, sizeof other);
    REQUIRE(strcmp(one, other) == 0 && strcmp(a->path, b->path) == 0);
}

typedef bool (*print_fn)(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);

/* Returns the hash of the whole of what is printed, as far as MOST_TEXT goes. */
static uint64_t print(print_fn printer, const struct upk_doc *doc, bool ascii) {
    struct text all = {.room = MOST_TEXT, .ascii = true}, half;
    struct upk_error err;
    bool whole = printer(doc, take_text, &all, &err);
    REQUIRE(all.ascii || !ascii);
    if (whole && all.len > 1) {
        half = (struct text){.room = all.len / 2, .ascii = true};
        REQUIRE(!printer(doc, take_text, &half, &err));
    }
    return all.hash;
}

static uint64_t print_all(const struct upk_doc *doc) {
    return print(upk_print_tree, doc, true) ^ 3 * print(upk_print_json, doc, true) ^
           5 * print(upk_print_repr, doc, false);
}

/* Decode once; 0 and an error, or a hash of what the document prints. */
static uint64_t decode(const uint8_t *data, size_t size, uint32_t flags, struct upk_error *err) {
    struct upk_options options = {.flags = flags};
    struct upk_doc *doc = NULL;
    if (!upk_decode(&values, data, size, &options, &doc, err)) {
        REQUIRE(doc == NULL);
        return 0;
    }
    uint64_t hash = print_all(doc) | 1;
    upk_doc_free(doc);
    return hash;
}

static bool inspect(const uint8_t *data, size_t size, const uint64_t *budgets, struct upk_error *err) {
    struct upk_options options = {.flags = UPK_FAMILY_FLAGS, .families = ALL_FAMILIES, .budgets = budgets};
    struct upk_doc *doc = NULL;
    struct upk_scan *scan = NULL;
    struct upk_error scan_err;
    bool accepted = upk_inspect(data, size, &options, &doc, err);
    bool scanned = upk_scan(data, size, &options, &scan, &scan_err);
    REQUIRE(scanned || !accepted);
    REQUIRE(accepted || !scanned || err->cls == UPK_CLASS_LIMIT || err->code == UPK_ERR_NAME_LENGTH);
    if (accepted)
        print_all(doc);
    else
        require_sound_error(err, size);
    if (scanned)
        REQUIRE(scan->opcodes[UPK_OP_STOP] == 1);
    else
        require_sound_error(&scan_err, size);
    upk_doc_free(doc);
    upk_scan_free(scan);
    return accepted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct upk_error first, again;
    inspect(data, size, NULL, &first);

    uint64_t hash = decode(data, size, 0, &first);
    REQUIRE(decode(data, size, UPK_COPY, &again) == hash);
    if (!hash) {
        require_sound_error(&first, size);
        require_same_error(&first, &again);
    }
    bool accepted = upk_check(&values, data, size, NULL, &again);
    REQUIRE(accepted == (hash != 0));
    if (accepted)
        REQUIRE(inspect(data, size, values.budgets, &again));
    else
        require_same_error(&first, &again);
    return 0;
}
