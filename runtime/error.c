/* Errors: words for their parts, filling them, and the three texts made of them.  Detection happens
 * elsewhere; this file only says it.
 *
 * Layer: runtime, beside everything.
 */
#include <inttypes.h>
#include <string.h>

#include "text.h"

const char *upk_class_word(unsigned cls) {
    static const char *const words[] = {
#define UPK_X(name, word) #word,
        UPK_CLASSES(UPK_X)
#undef UPK_X
    };
    return cls < UPK_CLASS_COUNT ? words[cls] : "unknown";
}

const char *upk_op_name(unsigned op) {
    static const char *const names[] = {"unknown",
#define UPK_X(name, byte, protocol, family) #name,
                                        UPK_OPCODES(UPK_X)
#undef UPK_X
    };
    return op < UPK_OP_END ? names[op] : "unknown";
}

static const char *budget_unit(unsigned b) {
    static const char *const units[] = {
#define UPK_X(name, word, standard, most, unit) unit,
        UPK_BUDGETS(UPK_X)
#undef UPK_X
    };
    return b < UPK_BUDGET_COUNT ? units[b] : "";
}

static uint64_t budget_most(unsigned b) { return b < UPK_BUDGET_COUNT ? upk_budget_most[b] : 0; }

const char *upk_code_sentence(unsigned code) {
    switch (code) {
#define UPK_X(number, name, cls, sentence) \
    case number: return sentence;
        UPK_CODES(UPK_X)
#undef UPK_X
    }
    return "no error";
}

static unsigned class_of_code(unsigned code) {
    switch (code) {
#define UPK_X(number, name, cls, sentence) \
    case number: return UPK_CLASS_##cls;
        UPK_CODES(UPK_X)
#undef UPK_X
    }
    return UPK_CLASS_OK;
}

/* ---- filling */

void error_set(struct upk_error *err, unsigned code, uint64_t offset, unsigned op) {
    memset(err, 0, sizeof *err);
    err->code = (uint16_t)code;
    err->cls = (uint8_t)class_of_code(code);
    err->offset = offset;
    err->opcode = (uint8_t)op;
}

void error_policy(struct upk_error *err, const struct upk_policy *policy) {
    if (!policy) return;
    char name[64], channel[40];
    error_copy(name, sizeof name, (const uint8_t *)policy->pool + policy->name.at, policy->name.len);
    error_copy(channel, sizeof channel, (const uint8_t *)policy->pool + policy->channel.at,
               policy->channel.len);
    (void)snprintf(err->policy, sizeof err->policy, "%s%s%spolicy %s %" PRIu32, channel[0] ? "channel " : "",
                   channel, channel[0] ? " of " : "", name, policy->revision);
}

void error_row(struct upk_error *err, const struct upk_policy *policy, uint32_t row, uint32_t form) {
    const struct upk_row *r = &policy->rows[row];
    const uint8_t *pool = (const uint8_t *)policy->pool;
    uint32_t file = form ? policy->forms[form].file : r->file,
             line = form ? policy->forms[form].line : r->line;
    error_copy(err->module, sizeof err->module, pool + r->module.at, r->module.len);
    error_copy(err->name, sizeof err->name, pool + r->qualname.at, r->qualname.len);
    if (!line) return;
    char name[100];
    error_copy(name, sizeof name, pool + policy->files[file].at, policy->files[file].len);
    (void)snprintf(err->rule, sizeof err->rule, "%s:%" PRIu32, name, line);
}

/* ---- writing */

static void put_name(struct text *t, const struct upk_error *e) { text_add(t, "%s::%s", e->module, e->name); }

size_t upk_error_message(const struct upk_error *e, char *buf, size_t size) {
    struct text t = text_in(buf, size);
    t.bare = true; /* cut as snprintf cuts */
    switch (e->code) {
    case UPK_ERR_GLOBAL:
        text_add(&t, "global ");
        put_name(&t, e);
        text_add(&t, e->dangerous ? " is not granted, and no policy should grant it" : " is not granted");
        break;
    case UPK_ERR_OPCODE_UNKNOWN: text_add(&t, "byte 0x%02x is no opcode", e->byte); break;
    case UPK_ERR_BUDGET:
        text_add(&t, "%s: budget %s is %" PRIu64, upk_code_sentence(e->code), upk_budget_word(e->budget),
                 e->limit);
        bool more = e->figure > budget_most(e->budget);
        if (e->figure) text_add(&t, ", found %s%" PRIu64, more ? "more than " : "", e->figure - more);
        text_add(&t, " %s", budget_unit(e->budget));
        break;
    default:
        if (e->module[0]) {
            put_name(&t, e);
            text_add(&t, ": ");
        }
        text_add(&t, "%s", upk_code_sentence(e->code));
    }
    if (e->detail[0]) text_add(&t, ": %s", e->detail);
    if (e->file_kind[0]) text_add(&t, " (this is %s, not a pickle)", e->file_kind);
    return t.len;
}

static bool is_word(const char *s) { return name_is_plain((const uint8_t *)s, strlen(s)); }

static const char *const family_words[] = {
#define UPK_X(name, word) #word,
    UPK_FAMILIES(UPK_X)
#undef UPK_X
};

unsigned op_family(unsigned op) {
    static const uint8_t families[] = {0,
#define UPK_X(name, byte, protocol, family) UPK_FAMILY_##family,
                                       UPK_OPCODES(UPK_X)
#undef UPK_X
    };
    return op < UPK_OP_END ? families[op] : 0u;
}

/* A dotted name as a policy writes it: in quotes where a part of it is one of the words that are no names
 * there (docs/language.md). */
static void add_name_of_policy(struct text *t, const char *name) {
    static const char *const words[] = {"because", "fail_open", "instance", "ref", "where"};
    const char *quote = "";
    for (const char *part = name;; part++) {
        size_t len = strcspn(part, ".");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strlen(words[i]) == len && memcmp(part, words[i], len) == 0) quote = "\"";
        part += len;
        if (!*part) break;
    }
    text_add(t, "%s%s%s", quote, name, quote);
}

/* A class by its name, as far as a name can say that. */
static bool looks_like_class(const char *name) {
    const char *last = strrchr(name, '.');
    last = last ? last + 1 : name;
    while (*last == '_') last++;
    return *last >= 'A' && *last <= 'Z';
}

static void add_arguments(struct text *t, uint32_t n) {
    text_add(t, "(");
    for (uint32_t i = 0; i < n && n <= 26; i++) text_add(t, "%s%c: any", i ? ", " : "", (char)('a' + (int)i));
    text_add(t, n > 26 ? "args: any...)" : ")");
}

/* The row that would grant what was seen of the name (upk_error_observe); what is not known is `any`. */
static void add_row(struct text *t, const struct upk_error *e) {
    const bool is_func = e->verb == UPK_VERB_CALL && !looks_like_class(e->name);
    if (!e->verb && e->code != UPK_ERR_GLOBAL) return;
    text_add(t, "module ");
    add_name_of_policy(t, e->module);
    text_add(t, e->verb == UPK_VERB_CONST                             ? " { const "
                : is_func || (!e->verb && !looks_like_class(e->name)) ? " { func "
                                                                      : " { class ");
    add_name_of_policy(t, e->name);
    switch ((enum upk_verb)e->verb) {
    case UPK_VERB_NONE: /* nothing was seen */
        text_add(t, looks_like_class(e->name) ? " call(args: any...)" : "(args: any...) -> builtins::object");
        break;
    case UPK_VERB_CONST: text_add(t, "; }"); return;
    case UPK_VERB_REF: text_add(t, " ref; }"); return;
    case UPK_VERB_CALL:
    case UPK_VERB_FUNC:
        if (!is_func) text_add(t, " call");
        add_arguments(t, e->arity);
        if (is_func) text_add(t, " -> builtins::object");
        break;
    case UPK_VERB_NEW:
        text_add(t, " new");
        add_arguments(t, e->arity);
        break;
    }
    if (e->steps & UPK_STEP_KEYWORDS) text_add(t, " kw { *: any }");
    if (e->steps & UPK_STEP_STATE) text_add(t, " state any");
    if (e->steps & UPK_STEP_ITEMS) text_add(t, " items any");
    if (e->steps & UPK_STEP_PAIRS) text_add(t, " pairs any: any");
    if (e->steps & UPK_STEP_ADDS) text_add(t, " adds any");
    text_add(t, " because \"TODO\"; }");
}

/* The families that are allowed, and the one that is wanted. */
static void add_families(struct text *t, const struct upk_error *e) {
    const unsigned wanted = op_family(e->opcode);
    if (wanted == UPK_FAMILY_EXT) return; /* never under a policy */
    text_add(t, "opcodes ");
    for (unsigned f = 0; f < UPK_FAMILY_COUNT; f++)
        if (e->families >> f & 1 && f != wanted) text_add(t, "%s, ", family_words[f]);
    text_add(t, "%s;", family_words[wanted]);
}

size_t upk_error_grant(const struct upk_error *e, char *buf, size_t size) {
    struct text t = text_in(buf, size);
    t.bare = true; /* cut as snprintf cuts */
    switch (e->code) {
    case UPK_ERR_GLOBAL:
    case UPK_ERR_STEP:
    case UPK_ERR_RECIPE:
        if (!e->dangerous && is_word(e->module) && is_word(e->name)) add_row(&t, e);
        break;
    case UPK_ERR_OPCODE_REFUSED: add_families(&t, e); break;
    case UPK_ERR_BUDGET:
        if (e->figure && e->figure <= budget_most(e->budget))
            text_add(&t, "budget %s %" PRIu64 ";", upk_budget_word(e->budget), e->figure);
        break;
    case UPK_ERR_CYCLE: text_add(&t, "root any cyclic;"); break;
    default: break;
    }
    return t.len;
}

void upk_error_write(const struct upk_error *e, FILE *to) {
    char text[1024];
    (void)upk_error_message(e, text, sizeof text);
    (void)fprintf(to, "refused: %s [R%u]\n", text, e->code);
    if (e->cls == UPK_CLASS_MISUSE) return;
    (void)fprintf(to, "    at byte %" PRIu64, e->offset);
    if (e->opcode && e->opcode < UPK_OP_END) (void)fprintf(to, ", %s", upk_op_name(e->opcode));
    if (e->path[0]) (void)fprintf(to, ", at %s", e->path);
    if (e->policy[0]) (void)fprintf(to, ", %s", e->policy);
    (void)fprintf(to, "\n");
    if (e->rule[0]) (void)fprintf(to, "    rule: %s\n", e->rule);
    if (upk_error_grant(e, text, sizeof text)) (void)fprintf(to, "    grant: %s\n", text);
}
