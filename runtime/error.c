/* Errors: words for their parts, filling them, and the texts made of them but for what would have to change (grant.c).
 * Detection happens elsewhere; this file only says it.
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

unsigned upk_code_class(unsigned code) {
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
    err->cls = (uint8_t)upk_code_class(code);
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

void error_version(struct upk_error *err) {
    error_set(err, UPK_ERR_TABLE, 0, 0);
    (void)snprintf(err->detail, sizeof err->detail, "compile the policy again with this version's policyc");
}

void error_place(struct upk_error *err, const struct upk_policy *policy, uint32_t file, uint32_t line) {
    if (!line) return;
    char name[100];
    error_copy(name, sizeof name, (const uint8_t *)policy->pool + policy->files[file].at,
               policy->files[file].len);
    (void)snprintf(err->rule, sizeof err->rule, "%s:%" PRIu32, name, line);
}

void error_rule(struct upk_error *err, const struct upk_policy *policy, uint32_t row, uint32_t form) {
    const struct upk_row *r = &policy->rows[row];
    const uint32_t file = form ? policy->forms[form].file : r->file,
                   line = form ? policy->forms[form].line : r->line;
    error_place(err, policy, file, line);
}

static void put_names(struct upk_error *err, struct upk_compat n) {
    error_copy(err->module, sizeof err->module, n.module, n.module_len);
    error_copy(err->name, sizeof err->name, n.name, n.name_len);
}

void error_row(struct upk_error *err, const struct upk_policy *policy, uint32_t row, uint32_t form) {
    put_names(err, row_name(policy, row));
    error_rule(err, policy, row, form);
}

void error_made(struct upk_error *err, const struct upk_policy *policy, const struct upk_cell *object,
                uint32_t form) {
    put_names(err, cell_name(policy, object));
    error_rule(err, policy, object->len, form);
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
        } else if (e->cls == UPK_CLASS_ENVIRONMENT && e->name[0]) {
            text_add(&t, "variable %s: ", e->name);
        }
        text_add(&t, "%s", upk_code_sentence(e->code));
    }
    if (e->detail[0]) text_add(&t, ": %s", e->detail);
    if (e->file_kind[0]) text_add(&t, " (this is %s, not a pickle)", e->file_kind);
    return t.len;
}

unsigned op_family(unsigned op) {
    static const uint8_t families[] = {0,
#define UPK_X(name, byte, protocol, family) UPK_FAMILY_##family,
                                       UPK_OPCODES(UPK_X)
#undef UPK_X
    };
    return op < UPK_OP_END ? families[op] : 0u;
}

void upk_error_write_bare(const struct upk_error *e, FILE *to) {
    char text[1024];
    (void)upk_error_message(e, text, sizeof text);
    (void)fprintf(to, "refused: %s [R%u]\n", text, e->code);
    if (e->cls == UPK_CLASS_MISUSE) return;
    if (e->cls == UPK_CLASS_ENVIRONMENT || e->cls == UPK_CLASS_CHILD) { /* there is no stream */
        if (e->policy[0]) (void)fprintf(to, "    under %s\n", e->policy);
        if (e->rule[0]) (void)fprintf(to, "    rule: %s\n", e->rule);
        return;
    }
    (void)fprintf(to, "    at byte %" PRIu64, e->offset);
    if (e->opcode && e->opcode < UPK_OP_END) (void)fprintf(to, ", %s", upk_op_name(e->opcode));
    if (e->path[0]) (void)fprintf(to, ", at %s", e->path);
    if (e->policy[0]) (void)fprintf(to, ", %s", e->policy);
    (void)fprintf(to, "\n");
    if (e->rule[0]) (void)fprintf(to, "    rule: %s\n", e->rule);
}

void upk_error_write(const struct upk_error *e, FILE *to) {
    char grant[1024];
    upk_error_write_bare(e, to);
    if (e->change[0]) (void)fprintf(to, "    change: %s\n", e->change);
    if (upk_error_grant(e, grant, sizeof grant)) (void)fprintf(to, "    grant: %s\n", grant);
}
