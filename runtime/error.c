/* Errors: words for their parts, filling with bounded and escaped text, and the three texts made of them.  Detection happens
 * elsewhere; this file only says it.
 *
 * Layer: runtime, beside everything.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "doc.h"

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

const char *upk_budget_word(unsigned b) {
    static const char *const words[] = {
#define UPK_X(name, word, standard, most, unit) #word,
        UPK_BUDGETS(UPK_X)
#undef UPK_X
    };
    return b < UPK_BUDGET_COUNT ? words[b] : "unknown";
}

static const char *budget_unit(unsigned b) {
    static const char *const units[] = {
#define UPK_X(name, word, standard, most, unit) unit,
        UPK_BUDGETS(UPK_X)
#undef UPK_X
    };
    return b < UPK_BUDGET_COUNT ? units[b] : "";
}

/* The largest figure that a policy may set; measuring stops above it. */
static uint64_t budget_most(unsigned b) {
    static const uint64_t most[] = {
#define UPK_X(name, word, standard, largest, unit) largest,
        UPK_BUDGETS(UPK_X)
#undef UPK_X
    };
    return b < UPK_BUDGET_COUNT ? most[b] : 0;
}

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

void error_copy(char *to, size_t size, const uint8_t *from, size_t len) {
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        bool plain = from[i] >= 0x20 && from[i] < 0x7f && from[i] != '\\';
        size_t want = plain ? 1 : 4;
        size_t rest = i + 1 < len ? 3 : 0; /* room for "..." unless this is the end */
        if (want + rest > size - 1 - n) {
            for (int dot = 0; dot < 3 && n < size - 1; dot++) to[n++] = '.';
            break;
        }
        if (plain) {
            to[n++] = (char)from[i];
        } else {
            to[n++] = '\\';
            to[n++] = 'x';
            to[n++] = hex[from[i] >> 4];
            to[n++] = hex[from[i] & 15];
        }
    }
    to[n] = 0;
}

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

struct text { /* counts like snprintf while it fills */
    char *buf;
    size_t size, len;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(struct text *t, const char *format, ...) {
    char *at = t->buf && t->len < t->size ? t->buf + t->len : NULL;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(at, at ? t->size - t->len : 0, format, args);
    va_end(args);
    if (n > 0) t->len += (size_t)n;
}

static void text_init(struct text *t, char *buf, size_t size) {
    t->buf = size ? buf : NULL;
    t->size = size;
    t->len = 0;
    if (size) buf[0] = 0;
}

static void put_name(struct text *t, const struct upk_error *e) { put(t, "%s::%s", e->module, e->name); }

size_t upk_error_message(const struct upk_error *e, char *buf, size_t size) {
    struct text t;
    text_init(&t, buf, size);
    switch (e->code) {
    case UPK_ERR_GLOBAL:
        put(&t, "global ");
        put_name(&t, e);
        put(&t, e->dangerous ? " is not granted, and no policy should grant it" : " is not granted");
        break;
    case UPK_ERR_OPCODE_UNKNOWN: put(&t, "byte 0x%02x is no opcode", e->byte); break;
    case UPK_ERR_BUDGET:
        put(&t, "%s: budget %s is %" PRIu64, upk_code_sentence(e->code), upk_budget_word(e->budget),
            e->limit);
        bool more = e->figure > budget_most(e->budget);
        if (e->figure) put(&t, ", found %s%" PRIu64, more ? "more than " : "", e->figure - more);
        put(&t, " %s", budget_unit(e->budget));
        break;
    default:
        if (e->module[0]) {
            put_name(&t, e);
            put(&t, ": ");
        }
        put(&t, "%s", upk_code_sentence(e->code));
    }
    if (e->detail[0]) put(&t, ": %s", e->detail);
    if (e->file_kind[0]) put(&t, " (this is %s, not a pickle)", e->file_kind);
    return t.len;
}

/* An ASCII word that a policy may hold without quotes. */
static bool is_word(const char *s) {
    bool start = true;
    if (!*s) return false;
    for (; *s; s++) {
        bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_';
        bool digit = *s >= '0' && *s <= '9';
        if (*s == '.' && !start) {
            start = true;
        } else if (letter || (digit && !start)) {
            start = false;
        } else {
            return false;
        }
    }
    return !start;
}

static const char *family_of(unsigned op) {
    static const char *const words[] = {
#define UPK_X(name, word) #word,
        UPK_FAMILIES(UPK_X)
#undef UPK_X
    };
    static const uint8_t families[] = {0,
#define UPK_X(name, byte, protocol, family) UPK_FAMILY_##family,
                                       UPK_OPCODES(UPK_X)
#undef UPK_X
    };
    return op < UPK_OP_END ? words[families[op]] : "";
}

size_t upk_error_grant(const struct upk_error *e, char *buf, size_t size) {
    struct text t;
    text_init(&t, buf, size);
    switch (e->code) {
    case UPK_ERR_GLOBAL: {
        if (e->dangerous || !is_word(e->module) || !is_word(e->name)) break;
        const char *last = strrchr(e->name, '.');
        last = last ? last + 1 : e->name;
        while (*last == '_') last++;
        if (*last >= 'A' && *last <= 'Z') {
            put(&t, "module %s { class %s call(args: any...) because \"TODO\"; }", e->module, e->name);
        } else {
            put(&t, "module %s { func %s(args: any...) -> builtins::object because \"TODO\"; }", e->module,
                e->name);
        }
        break;
    }
    case UPK_ERR_OPCODE_REFUSED:
        if (strcmp(family_of(e->opcode), "ext") != 0) put(&t, "opcodes core, %s;", family_of(e->opcode));
        break;
    case UPK_ERR_BUDGET:
        if (e->figure && e->figure <= budget_most(e->budget))
            put(&t, "budget %s %" PRIu64 ";", upk_budget_word(e->budget), e->figure);
        break;
    case UPK_ERR_CYCLE: put(&t, "root any cyclic;"); break;
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
