/* What a policy would have to say for a refusal not to come: a row to add (grant), or what is written there and would have to be
 * another (change).
 *
 * A table does not hold where a policy sets its opcodes, protocols, budgets and root, nor what a policy allows of which a channel
 * takes less; so those are named, not quoted.  Files that ship with policyc stay as they are: of a row in one of them the advice is a
 * copy, in the place of the fragment.
 * Layer: runtime, beside error.c.
 */
#include <inttypes.h>
#include <string.h>

#include "text.h"

/* ---- grants: rows of names that have none */

static bool is_word(const char *s) { return name_is_plain((const uint8_t *)s, strlen(s)); }

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

size_t upk_error_grant(const struct upk_error *e, char *buf, size_t size) {
    struct text t = text_in(buf, size);
    t.bare = true; /* cut as snprintf cuts */
    if (code_lacks_row(e->code) && !e->dangerous && !e->change[0] && is_word(e->module) && is_word(e->name))
        add_row(&t, e);
    return t.len;
}

/* ---- changes */

static void add_channel(struct text *t, const struct upk_policy *p) {
    if (!p->channel.len) return;
    char channel[40];
    error_copy(channel, sizeof channel, (const uint8_t *)p->pool + p->channel.at, p->channel.len);
    text_add(t, " of channel %s", channel);
}

/* Whose setting it is.  A channel only narrows what the policy allows. */
static void add_owner(struct text *t, const struct upk_policy *p) {
    add_channel(t, p);
    if (p->channel.len) text_add(t, ", and of the policy where that says less");
}

/* By its family, where none of that is allowed: its opcodes come together. */
static void change_opcodes(struct text *t, const struct upk_error *e, const struct upk_policy *p) {
    static const char *const words[] = {
#define UPK_X(name, word) #word,
        UPK_FAMILIES(UPK_X)
#undef UPK_X
    };
    const unsigned family = op_family(e->opcode);
    if (family == UPK_FAMILY_EXT) return; /* never under a policy */
    const bool some = policy_families(p) >> family & 1;
    text_add(t, "allow %s in `opcodes`", some ? upk_op_name(e->opcode) : words[family]);
    add_owner(t, p);
}

static void change_protocol(struct text *t, unsigned protocol, const struct upk_policy *p) {
    const unsigned low = protocol < p->protocol_min ? protocol : p->protocol_min,
                   high = protocol > p->protocol_max ? protocol : p->protocol_max;
    text_add(t, "widen `protocol %" PRIu32 "..%" PRIu32 "` to `%u..%u`", p->protocol_min, p->protocol_max,
             low, high);
    add_owner(t, p);
}

/* ---- rows of classes that a host added */

/* What such a row says comes from the class; and a class that has a row in the policy keeps that. */
static bool is_added(const char *rule) { return strncmp(rule, EXTRA_RULES ":", sizeof EXTRA_RULES) == 0; }

/* ---- rows in files that are shipped */

enum { NAME_ROOM = 60 };

/* Nothing else is ever found in their folders, so that a name of a file tells. */
static bool is_shipped(const char *file) {
    static const char *const folders[] = {"std/", "numpy/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(file, folders[i], strlen(folders[i])) == 0) return true;
    return false;
}

/* The policy's own file: the last, but for those of classes that a host added. */
static struct upk_text main_file(const struct upk_policy *p) {
    uint32_t n = p->file_count;
    while (n > 1 && bytes_compare(p->pool + p->files[n - 1].at, p->files[n - 1].len, EXTRA_RULES,
                                  sizeof EXTRA_RULES - 1) == 0)
        n--;
    return p->files[n - 1];
}

/* Behind what would have to change in the row at e->rule.  The copy is the same fragment, so that whatever uses it stays as it is. */
static void add_copy(struct text *t, const struct upk_error *e, const struct upk_policy *p) {
    if (!is_shipped(e->rule) || p->file_count == 0) return;
    const int len = (int)strcspn(e->rule, ":");
    const struct upk_text main = main_file(p);
    char file[NAME_ROOM];
    error_copy(file, sizeof file, (const uint8_t *)p->pool + main.at, main.len);
    const char *const copy = strchr(e->rule, '/') + 1;
    const int copy_len = len - (int)(copy - e->rule);
    if (bytes_compare(file, strlen(file), copy, (size_t)copy_len) == 0) {
        text_add(t, "; %.*s is shipped: change a copy under another name, and include that in its place", len,
                 e->rule);
        return;
    }
    text_add(t, "; %.*s is shipped: change a copy, and in %s say `include \"%.*s\";` for `include \"%.*s\";`",
             len, e->rule, file, copy_len, copy, len, e->rule);
}

static void change_budget(struct text *t, const struct upk_error *e, const struct upk_policy *p) {
    const char *word = upk_budget_word(e->budget);
    if (!e->figure || e->figure > upk_budget_most[e->budget]) return; /* not known, or no policy may */
    /* The figure is where counting stopped: of what is counted to the end it is all, of other things the least. */
    text_add(t, "raise `budget %s` from %" PRIu64 " to at least %" PRIu64, word, e->limit, e->figure);
    if (e->rule[0])
        text_add(t, " in the row at %s", e->rule);
    else
        add_owner(t, p);
    add_copy(t, e, p);
}

/* The name is that of a member which the template of its class does not list. */
static void change_member(struct text *t, const struct upk_error *e, const struct upk_policy *p) {
    const char *last = strrchr(e->name, '.');
    const int len = (int)(last - e->name);
    if (is_added(e->rule)) {
        text_add(t, "give with_types a `%s::%.*s` that has the member `%s`, if it is one", e->module, len,
                 e->name, last + 1);
        return;
    }
    text_add(t, "add `%s` to the members of `%s::%.*s` at %s, if it is one", last + 1, e->module, len,
             e->name, e->rule);
    add_copy(t, e, p);
}

/* A name of Python 2 from a later protocol: a row of it is no row of the modern name, so a policy of old streams has none. */
static void change_range(struct text *t, const struct upk_error *e, unsigned protocol,
                         const struct upk_policy *p) {
    const uint8_t *module = (const uint8_t *)e->module, *name = (const uint8_t *)e->name;
    struct upk_compat now;
    if (protocol < 3 || p->protocol_min >= 3) return;
    if (!upk_compat_name(module, strlen(e->module), name, strlen(e->name), &now)) return;
    text_add(t, "`protocol 3..%" PRIu32 "`", p->protocol_max);
    add_channel(t, p);
    text_add(t, " for a row of this name, by which older streams mean `%.*s::%.*s`", (int)now.module_len,
             (const char *)now.module, (int)now.name_len, (const char *)now.name);
}

/* What a row lacks that does not permit the opcode. */
const char *step_of(unsigned op) {
    switch (op) {
    case UPK_OP_BUILD: return "state";
    case UPK_OP_APPEND:
    case UPK_OP_APPENDS: return "items";
    case UPK_OP_SETITEM:
    case UPK_OP_SETITEMS: return "pairs";
    default: return "adds";
    }
}

static void change_row(struct text *t, const struct upk_error *e, const struct upk_policy *p,
                       const char *part) {
    if (is_added(e->rule))
        text_add(
            t, "a row for `%s::%s` in the policy, which goes before that of with_types, if this %s is meant",
            e->module, e->name, e->code != UPK_ERR_STEP && part[0] ? "value" : "object");
    else if (e->code == UPK_ERR_STEP && part[0])
        text_add(t, "%s at %s, if this object is meant", part, e->rule);
    else if (e->code == UPK_ERR_STEP)
        text_add(t, "add `%s` to the row at %s, if this object is meant", step_of(e->opcode), e->rule);
    else if (part[0])
        text_add(t, "%s in the row at %s, if this value is meant", part, e->rule);
    else
        text_add(t, "the row at %s, if this object is meant", e->rule);
    add_copy(t, e, p);
}

static void change_root(struct text *t, const struct upk_policy *p, const char *part) {
    text_add(t, "%s%sthe type of `root`", part, part[0] ? " in " : "");
    add_channel(t, p);
    text_add(t, ", if this value is meant");
}

void error_advise(struct upk_error *e, const struct upk_policy *policy, unsigned protocol, const char *part) {
    struct text t = text_in(e->change, sizeof e->change);
    if (!policy || e->file_kind[0]) return;
    switch (e->code) {
    case UPK_ERR_GLOBAL:
    case UPK_ERR_NOT_LOADED:
    case UPK_ERR_NOT_FOUND:
    case UPK_ERR_NOT_CLASS:
    case UPK_ERR_NOT_SUBCLASS:
        if (e->dangerous) break;
        if (e->rule[0])
            change_member(&t, e, policy);
        else
            change_range(&t, e, protocol, policy);
        break;
    case UPK_ERR_RECIPE:
    case UPK_ERR_SPELLING:
    case UPK_ERR_STEP:
        if (e->rule[0]) change_row(&t, e, policy, part);
        break;
    case UPK_ERR_OPCODE_REFUSED: change_opcodes(&t, e, policy); break;
    case UPK_ERR_PROTOCOL_REFUSED: change_protocol(&t, protocol, policy); break;
    case UPK_ERR_BUDGET: change_budget(&t, e, policy); break;
    case UPK_ERR_ROOT: change_root(&t, policy, part); break;
    case UPK_ERR_CYCLE:
        text_add(&t, "add `cyclic` behind the type of `root`");
        add_channel(&t, policy);
        break;
    default: break;
    }
}
