/* Fuzz target: any bytes as a policy file.
 *
 * What must hold for every input, beside not crashing and not leaking:
 *   - a compile that fails has reported an error, and one that succeeds none;
 *   - with and without a writer of messages the outcome and the number of errors are the same;
 *   - messages are printable, whatever the bytes; as JSON each is a valid line, and there are as many errors;
 *   - at most one hint belongs to an error;
 *   - a model's rows, aliases, fields and classes are sorted and none is there twice; types are well formed;
 *   - what compiles has a canonical form; a canonical form is one itself, and has as many errors as the input;
 *   - of some inputs, because gperf is slow: its tables are what the runtime takes, can be listed, and are the same as they are.
 *
 * Includes of shipped fragments are found where it runs in the top folder.
 *
 * Layer: tests only, over the compiler's front door.
 */

#include <jansson.h>
#include <string.h>

#include "../../compiler/channels.h"
#include "../../compiler/compile.h"
#include "../../compiler/diff.h"
#include "../../compiler/format.h"
#include "../../compiler/list.h"
#include "../../compiler/tables.h"
#include "../../runtime/upk.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LISTED_OF = 32, MOST_MEMORY = 256 << 20 };

enum how { QUIET, TEXT, JSON };

struct messages {
    char *bytes;
    size_t len;
};

static void take_message(void *context, const char *bytes, size_t len) {
    struct messages *m = context;
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        REQUIRE((c >= 0x20 || c == '\n') && c != 0x7f);
    }
    m->bytes = realloc(m->bytes, m->len + len + 1);
    REQUIRE(m->bytes != NULL);
    memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
    m->bytes[m->len] = '\0';
}

/* Hints stand behind the error that they belong to. */
static void require_text(const struct messages *m) {
    size_t hints = 0;
    for (const char *line = m->bytes; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "      = hint: ", 14) == 0)
            REQUIRE(++hints == 1);
        else if (strncmp(line, "fuzz.policy:", 12) == 0 && strstr(line, ": error: ") != NULL)
            hints = 0;
        if (strchr(line, '\n') == NULL) break;
    }
}

static void require_json(const struct messages *m, size_t errors) {
    size_t count = 0;
    for (const char *line = m->bytes, *end; line != NULL && *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        REQUIRE(end != NULL);
        json_t *object = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, NULL);
        REQUIRE(object != NULL && json_is_object(object));
        json_decref(object);
        count++;
    }
    REQUIRE(count == (errors > DIAG_MOST_ERRORS ? DIAG_MOST_ERRORS + 1 : errors));
}

static int compare_names(struct model_name a, struct model_name b) {
    const int order = text_compare(a.module, b.module);
    return order != 0 ? order : text_compare(a.qualname, b.qualname);
}

static void require_type(const struct model_type *t) {
    REQUIRE(t->kind < UPK_TYPE_COUNT);
    REQUIRE(t->mark == 0);
    REQUIRE(t->lo <= t->hi);
    REQUIRE(t->optional + t->repeats <= t->elem_count);
    for (size_t i = 1; i < t->char_count; i++) REQUIRE(t->chars[i].lo > t->chars[i - 1].hi + 1);
    for (size_t i = 1; i < t->field_count; i++)
        REQUIRE(text_compare(t->fields[i - 1].key, t->fields[i].key) < 0);
    for (size_t i = 1; i < t->class_count; i++) REQUIRE(compare_names(t->classes[i - 1], t->classes[i]) < 0);
    for (size_t i = 0; i < t->alt_count; i++) REQUIRE(t->alts[i]->kind != UPK_TYPE_UNION);
    if (t->kind == UPK_TYPE_UNION) REQUIRE(t->alt_count >= 2);
    if (t->kind == UPK_TYPE_LIST) REQUIRE(t->item != NULL);
    if (t->kind == UPK_TYPE_DICT) REQUIRE(t->key != NULL && t->value != NULL);
}

static void require_form(const struct model_form *f) {
    const struct model_type *const held[] = {f->args,     f->kw,         f->state, f->items,
                                             f->pair_key, f->pair_value, f->adds};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        if (held[i] != NULL) require_type(held[i]);
    }
    REQUIRE(f->verb != UPK_VERB_NONE);
    REQUIRE((f->args == NULL) == (f->verb == UPK_VERB_REF || f->verb == UPK_VERB_CONST));
    REQUIRE(f->verb != UPK_VERB_FUNC || f->because.len != 0);
    REQUIRE(f->result.module.len != 0 && f->result.qualname.len != 0);
}

static void require_model(const struct model *m) {
    REQUIRE(m->root != NULL);
    require_type(m->root);
    REQUIRE(m->protocol_min <= m->protocol_max && m->protocol_max <= 5);
    REQUIRE(m->allowed['.'] && !m->allowed[0x82] && !m->allowed[0x83] && !m->allowed[0x84]);
    for (size_t i = 1; i < m->alias_count; i++)
        REQUIRE(text_compare(m->aliases[i - 1].from, m->aliases[i].from) < 0);
    for (size_t i = 0; i < m->row_count; i++) {
        REQUIRE(m->rows[i].form_count != 0);
        REQUIRE(m->rows[i].name.module.len - 1 < 256 && m->rows[i].name.qualname.len - 1 < 256);
        if (i != 0) REQUIRE(compare_names(m->rows[i - 1].name, m->rows[i].name) < 0);
        for (size_t k = 0; k < m->rows[i].form_count; k++) require_form(&m->rows[i].forms[k]);
    }
}

/* What is proved of channels leaves them as they are; what is not is an error. */
static void require_withins(const struct compiled *compiled, struct diag *d) {
    const size_t errors = diag_error_count(d);
    size_t withins = 0;
    struct channels all;
    for (size_t i = 0; i < compiled->model_count; i++) withins += compiled->models[i].within_count;
    if (withins == 0) return;
    if (channels_build(compiled, d, &all)) {
        REQUIRE(diag_error_count(d) == errors);
        channels_free(&all);
    } else {
        REQUIRE(diag_error_count(d) > errors);
    }
}

/* The tables may be refused (two names that are one in a reading, ...), but not made wrongly. */
static void require_tables(const struct compiled *compiled, struct diag *d) {
    struct mem mem;
    struct output listing;
    mem_init(&mem, MOST_MEMORY);
    output_init(&listing, &mem);
    for (size_t i = 0; i < compiled->model_count; i++) {
        struct tables tables;
        struct upk_error err;
        struct diff_verdict verdict;
        if (!tables_build(compiled, &compiled->models[i], d, &tables)) continue;
        REQUIRE(upk_policy_check(&tables.policy, &err));
        REQUIRE(list_policy(&tables.policy, true, &listing));
        REQUIRE(diff_channel(&tables.policy, &tables.policy, &listing, &verdict));
        REQUIRE(!verdict.widened && !verdict.narrowed);
        tables_free(&tables);
    }
    require_withins(compiled, d);
    for (size_t i = 0; i < listing.len; i++) {
        const unsigned char c = (unsigned char)listing.bytes[i];
        REQUIRE((c >= 0x20 || c == '\n') && c != 0x7f);
    }
    mem_free(&mem);
}

static size_t compile(const uint8_t *data, size_t size, enum how how, bool tables) {
    struct messages messages = {NULL, 0};
    struct diag d;
    struct compiled *compiled = NULL;
    const struct compile_options options = {.path = "fuzz.policy",
                                            .policy_dir = "policies",
                                            .text = (const char *)data,
                                            .text_len = size,
                                            .allow_fail_open = true,
                                            .today = 20000101};
    diag_init(&d, (struct diag_sink){.write = how == QUIET ? NULL : take_message,
                                     .context = &messages,
                                     .json = how == JSON});
    const bool good = policy_compile(&options, &d, &compiled);
    const size_t errors = diag_error_count(&d);
    REQUIRE(good == (errors == 0));
    REQUIRE(good == (compiled != NULL));
    diag_flush(&d);
    REQUIRE(how == QUIET || (messages.len == 0) == good);
    if (how == TEXT) require_text(&messages);
    if (how == JSON) require_json(&messages, errors);
    if (good && tables) require_tables(compiled, &d);
    diag_free(&d); /* models outlive it */
    free(messages.bytes);
    for (size_t i = 0; good && i < compiled->model_count; i++) require_model(&compiled->models[i]);
    compiled_free(compiled);
    return errors;
}

static bool format(struct text bytes, struct output *out) {
    struct diag d;
    diag_init(&d, (struct diag_sink){.write = NULL});
    const bool good = format_policy(text_of("fuzz.policy"), bytes, &d, out);
    REQUIRE(good == (diag_error_count(&d) == 0));
    REQUIRE(!d.io); /* a form with other words */
    diag_free(&d);
    return good;
}

static void require_format(struct text bytes, size_t errors) {
    struct mem mem;
    struct output once, twice;
    mem_init(&mem, MOST_MEMORY);
    output_init(&once, &mem);
    output_init(&twice, &mem);
    if (format(bytes, &once)) {
        const struct text made = {once.bytes, once.len};
        REQUIRE(format(made, &twice));
        REQUIRE(text_equal(made, (struct text){twice.bytes, twice.len}));
        REQUIRE(compile((const uint8_t *)made.at, made.len, QUIET, false) == errors);
    } else {
        REQUIRE(errors != 0 || mem.failed);
    }
    mem_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *const text = size == 0 ? (const uint8_t *)"" : data;
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++) sum = sum * 31 + text[i];
    const size_t errors = compile(text, size, QUIET, sum % LISTED_OF == 0);
    REQUIRE(compile(text, size, TEXT, false) == errors);
    REQUIRE(compile(text, size, JSON, false) == errors);
    require_format((struct text){(const char *)text, size}, errors);
    return 0;
}
