/* The lines of an `environment` block, one by one: names, base sets, patterns, rules of values.
 *
 * Layer: see environment.h.
 */
#include "environment.h"

#include <string.h>

#include "../runtime/upk_environment.h"
#include "suggest.h"

enum { MOST_ENTRIES = 10000, MOST_NEVERS = 1000, RULE_WORDS = UPK_ENV_RULE_COUNT - 1 };

uint32_t env_line_of(const struct env_block *b, struct span at) {
    return source_line_at(&b->c->diag->sources[at.file], at.from);
}

/* ---- names ------------------------------------------------------------ */

static bool name_fails(struct env_block *b, struct span at, const char *what) {
    diag_error(b->c->diag, at, P_BAD_VARIABLE, "%s", what);
    return false;
}

/* Is it the name of a variable?  Else that was said. */
static bool name_check(struct env_block *b, struct text name, bool bad, bool quoted, struct span at) {
    if (bad) return false;
    if (name.len == 0) return name_fails(b, at, "the name of a variable is not empty");
    if (memchr(name.at, '=', name.len)) return name_fails(b, at, "no name of a variable has `=' in it");
    if (memchr(name.at, '\0', name.len)) return name_fails(b, at, "no name of a variable has NUL in it");
    if (!upk_env_name_is_good(name.at, name.len)) {
        (void)name_fails(b, at, "a variable is named by letters, digits and `_', the first no digit");
        diag_hint(b->c->diag, "at most %d of them, of ASCII", UPK_NAME_MOST);
        return false;
    }
    const struct env_known *const other = env_known_find(name) ? NULL : env_known_alike(name);
    if (!other || quoted) return true;
    diag_error(b->c->diag, at, P_ODD_VARIABLE, "`%s' looks wrong: upper and lower case are told apart",
               diag_quote(b->c->diag, name));
    diag_hint(b->c->diag, "did you mean `%s'?  Where this name is meant, write \"%s\"", other->name,
              diag_quote(b->c->diag, name));
    return false;
}

/* ---- rules of values ------------------------------------------------------------ */

static void rule_unknown(struct env_block *b, const struct ast_word *word) {
    diag_error(b->c->diag, word->span, P_UNKNOWN_RULE, "values have no rule `%s'",
               diag_quote(b->c->diag, word->text));
    struct suggestion near = suggestion_begin(word->text);
    struct phrase words = {.len = 0};
    for (size_t i = 1; i < UPK_ENV_RULE_COUNT; i++) {
        suggestion_offer(&near, text_of(env_rule_words[i]));
        phrase_separate(&words, i - 1, RULE_WORDS, " and ");
        phrase_add(&words, "%s", env_rule_words[i]);
    }
    if (suggestion_found(&near)) {
        diag_hint(b->c->diag, "did you mean `%s'?", diag_quote(b->c->diag, near.best));
    } else {
        diag_hint(b->c->diag, "rules are %s, chars \"...\" and max N", words.text);
    }
}

static void rule_word(struct env_block *b, const struct ast_rule *r, struct model_env_rule *out) {
    for (size_t i = 1; i < UPK_ENV_RULE_COUNT; i++) {
        if (text_is(r->word.text, env_rule_words[i])) {
            out->kind = (enum upk_env_rule_kind)i;
            return;
        }
    }
    rule_unknown(b, &r->word);
}

static void rule_max(struct env_block *b, const struct ast_rule *r, struct model_env_rule *out) {
    uint64_t most;
    if (r->number.bad) return;
    if (!number_is_natural(&r->number, UPK_ENV_VALUE_MOST, &most) || most == 0) {
        diag_error(b->c->diag, r->node.span, P_BAD_RANGE, "a value has at most 1 to %d bytes",
                   UPK_ENV_VALUE_MOST);
        return;
    }
    out->most = (uint32_t)most;
}

/* What `where value` says; of what it does not say, kind NONE and the largest length. */
static struct model_env_rule rule_read(struct env_block *b, const struct ast_line *line) {
    struct model_env_rule out = {.most = UPK_ENV_VALUE_MOST};
    const struct ast_node *seen[AST_RULE_MAX + 1] = {NULL};
    for (const struct ast_node *n = line->rules.first; n; n = n->next) {
        const struct ast_rule *const r = (const struct ast_rule *)n;
        out.line = env_line_of(b, n->span);
        if (seen[r->kind]) {
            diag_error(b->c->diag, n->span, P_DUPLICATE_SETTING, "the rule says this twice");
            diag_note(b->c->diag, seen[r->kind]->span, "first said here");
            continue;
        }
        seen[r->kind] = n;
        if (r->kind == AST_RULE_WORD) rule_word(b, r, &out);
        if (r->kind == AST_RULE_MAX) rule_max(b, r, &out);
        if (r->kind == AST_RULE_CHARS) {
            struct model_type set = {.kind = UPK_TYPE_STR};
            chars_of(b->c, &r->word, &set);
            out.chars = set.chars;
            out.char_count = set.char_count;
        }
    }
    out.file = out.line ? unit_main(b->c)->index : 0;
    return out;
}

/* For one name: a variable that everybody knows has a rule of its own, which only another one takes away. */
static struct model_env_rule rule_for(struct model_env_rule said, struct text name) {
    const struct env_known *const known = env_known_find(name);
    if (said.kind == UPK_ENV_RULE_NONE) said.kind = known ? known->rule : UPK_ENV_RULE_TEXT;
    return said;
}

/* ---- lines ------------------------------------------------------------ */

static void entry_add(struct env_block *b, struct env_entry e) {
    struct compilation *const c = b->c;
    if (b->entry_count == MOST_ENTRIES) {
        if (!b->full)
            diag_error(c->diag, e.at, P_TOO_MANY, "an environment names at most %d variables", MOST_ENTRIES);
        b->full = true;
        return;
    }
    struct env_entry *const all =
        mem_grow(c->mem, b->entries, b->entry_count, &b->entry_room, sizeof *b->entries);
    if (!all) return;
    b->entries = all;
    b->entries[b->entry_count++] = e;
}

static void base_unknown(struct env_block *b, const struct ast_variable *v) {
    struct suggestion near = suggestion_begin(v->name.text);
    struct phrase words = {.len = 0};
    for (size_t i = 0; i < ENV_BASE_COUNT; i++) {
        suggestion_offer(&near, text_of(env_base_words[i]));
        phrase_separate(&words, i, ENV_BASE_COUNT, " and ");
        phrase_add(&words, "%s", env_base_words[i]);
    }
    diag_error(b->c->diag, v->name.span, P_UNKNOWN_BASE, "there is no base set `%s'",
               diag_quote(b->c->diag, v->name.text));
    if (suggestion_found(&near)) {
        diag_hint(b->c->diag, "did you mean `%s'?", diag_quote(b->c->diag, near.best));
    } else {
        diag_hint(b->c->diag, "base sets are %s", words.text);
    }
}

static void base_read(struct env_block *b, const struct ast_variable *v, struct env_entry like,
                      struct model_env_rule rule) {
    size_t base = 0;
    while (base < ENV_BASE_COUNT && !text_is(v->name.text, env_base_words[base])) base++;
    if (base == ENV_BASE_COUNT) {
        base_unknown(b, v);
        return;
    }
    if (b->bases[base].to != 0) {
        diag_error(b->c->diag, v->node.span, P_DUPLICATE_VARIABLE, "this base set is inherited already");
        diag_note(b->c->diag, b->bases[base], "first named here");
        return;
    }
    b->bases[base] = v->node.span;
    like.by_base = true;
    for (size_t i = 0; i < env_known_count; i++) {
        if (!(env_known[i].bases & 1u << base)) continue;
        like.name = text_of(env_known[i].name);
        like.rule = rule_for(rule, like.name);
        entry_add(b, like);
    }
}

/* `LC_*` where names are wanted. */
static void pattern_refuse(struct env_block *b, const struct ast_line *line, const struct ast_variable *v) {
    struct compilation *const c = b->c;
    const uint32_t kind = v->open && v->start ? UPK_ENV_NEVER_PART
                          : v->open           ? UPK_ENV_NEVER_PREFIX
                                              : UPK_ENV_NEVER_SUFFIX;
    diag_error(c->diag, v->node.span, P_VARIABLE_FORM,
               "`%s' names variables one by one: patterns stand in `never' alone",
               diag_quote(c->diag, line->keyword.text));
    struct phrase names = {.len = 0};
    uint32_t bases = UINT32_MAX;
    for (size_t i = 0; i < env_known_count; i++) {
        const struct env_known *const k = &env_known[i];
        if (!upk_env_never_means(kind, v->name.text.at, v->name.text.len, k->name, strlen(k->name))) continue;
        phrase_add(&names, names.len ? ", %s" : "%s", k->name);
        bases &= k->bases;
    }
    if (names.len == 0) return;
    for (size_t i = 1; i < ENV_BASE_COUNT && line->kind == AST_LINE_INHERIT; i++) {
        if (!(bases & 1u << i)) continue;
        diag_hint(c->diag, "did you mean `base %s'?", env_base_words[i]);
        return;
    }
    diag_hint(c->diag, "names that it would mean: %s", names.text);
}

/* A line that grants names to the host's side or to a manifest. */
static void grants_read(struct env_block *b, const struct ast_line *line, uint32_t stage) {
    struct compilation *const c = b->c;
    const struct model_env_rule rule = rule_read(b, line);
    struct env_entry like = {.stage = stage, .has_because = line->has_because, .because = line->because.text};
    for (const struct ast_node *n = line->names.first; n; n = n->next) {
        const struct ast_variable *const v = (const struct ast_variable *)n;
        struct env_entry e = like;
        e.at = n->span;
        if (v->open || v->start) {
            pattern_refuse(b, line, v);
        } else if (v->base && stage == UPK_ENV_INHERIT) {
            base_read(b, v, e, rule);
        } else if (v->base || (v->has_source && stage == UPK_ENV_INHERIT)) {
            diag_error(c->diag, n->span, P_VARIABLE_FORM,
                       v->base ? "a manifest's variables are named one by one"
                               : "what is inherited keeps its name");
            if (!v->base)
                diag_hint(c->diag, "manifest SOURCE -> NAME lets a manifest ask for the host's value");
        } else if (name_check(b, v->name.text, v->name.bad, v->quoted, n->span) &&
                   (!v->has_source || name_check(b, v->source.text, v->source.bad, v->quoted, n->span))) {
            e.name = v->name.text;
            e.rule = rule_for(rule, e.name);
            if (v->has_source) {
                e.stage = UPK_ENV_FROM;
                e.source = v->source.text;
            }
            if (v->has_source && !line->has_because) {
                diag_error(c->diag, n->span, P_NEEDS_BECAUSE,
                           "a value of the host's that a manifest may ask for needs a reason");
                diag_hint(c->diag, "because \"...\"");
            }
            entry_add(b, e);
        }
    }
}

static void block_never(struct env_block *b, struct model_env_never never, struct span at) {
    struct env_never_def *const all =
        mem_grow(b->c->mem, b->nevers, b->never_count, &b->never_room, sizeof *b->nevers);
    if (!all) return;
    b->nevers = all;
    b->nevers[b->never_count++] = (struct env_never_def){never, at};
}

/* What is said of variables by name or pattern; .text is empty where it is none, and a message says so. */
static struct model_env_never never_of(struct env_block *b, const struct ast_variable *v) {
    const struct model_env_never none = {.text = {NULL, 0}};
    const struct text text = v->name.text;
    const bool part = v->open || v->start;
    if (v->base || v->has_source) {
        diag_error(b->c->diag, v->node.span, P_VARIABLE_FORM, "`never' takes names and patterns");
        return none;
    }
    if (!part && !name_check(b, text, v->name.bad, v->quoted, v->node.span)) return none;
    if (part) {
        char whole[UPK_NAME_MOST + 1] = "_"; /* a pattern may be part of a name, which begins with a digit */
        if (v->name.bad || text.len > UPK_NAME_MOST - 1) return none;
        if (text.len) memcpy(whole + 1, text.at, text.len);
        if (text.len == 0 || !upk_env_name_is_good(whole, text.len + 1)) {
            (void)name_fails(b, v->node.span,
                             "a pattern is made of letters, digits and `_', and a `*' at an end or both");
            return none;
        }
    }
    return (struct model_env_never){.text = text,
                                    .kind = !part                 ? UPK_ENV_NEVER_NAME
                                            : v->open && v->start ? UPK_ENV_NEVER_PART
                                            : v->open             ? UPK_ENV_NEVER_PREFIX
                                                                  : UPK_ENV_NEVER_SUFFIX,
                                    .file = unit_main(b->c)->index,
                                    .line = env_line_of(b, v->node.span)};
}

/* The same, said before; NULL: it was not. */
static const struct env_never_def *never_same(const struct env_block *b, struct model_env_never never) {
    for (size_t i = 0; i < b->never_count; i++) {
        const struct model_env_never *const m = &b->nevers[i].model;
        if (m->line && m->kind == never.kind && text_equal(m->text, never.text)) return &b->nevers[i];
    }
    return NULL;
}

static void nevers_read(struct env_block *b, const struct ast_line *line) {
    struct diag *const d = b->c->diag;
    for (const struct ast_node *n = line->names.first; n; n = n->next) {
        const struct model_env_never never = never_of(b, (const struct ast_variable *)n);
        if (never.text.len == 0) continue;
        const struct env_never_def *const same = never_same(b, never);
        if (same) {
            diag_error(d, n->span, P_DUPLICATE_VARIABLE, "`never' has this already");
            diag_note(d, same->at, "first said here");
        } else if (b->never_count < MOST_NEVERS) {
            block_never(b, never, n->span);
        } else {
            diag_error(d, n->span, P_TOO_MANY, "`never' has at most %d names and patterns", MOST_NEVERS);
            return;
        }
    }
}

static void set_read(struct env_block *b, const struct ast_line *line) {
    struct compilation *const c = b->c;
    const struct ast_variable *const v = (const struct ast_variable *)line->names.first;
    if (!name_check(b, v->name.text, v->name.bad, v->quoted, v->node.span) || line->word.bad) return;
    const struct model_env_rule rule =
        rule_for((struct model_env_rule){.most = UPK_ENV_VALUE_MOST}, v->name.text);
    const struct upk_env_rule as_table = {.kind = rule.kind, .most = rule.most};
    if (!upk_env_value_fits(&as_table, NULL, line->word.text.at, line->word.text.len)) {
        diag_error(c->diag, line->word.span, P_BAD_VALUE, "this is no value for `%s'",
                   diag_quote(c->diag, v->name.text));
        diag_hint(c->diag, "its rule is `%s': see `Rules of values' in docs/environment.md",
                  env_rule_words[rule.kind]);
        return;
    }
    entry_add(b, (struct env_entry){.stage = UPK_ENV_SET,
                                    .name = v->name.text,
                                    .at = v->node.span,
                                    .has_because = line->has_because,
                                    .because = line->because.text,
                                    .value = line->word.text});
}

static void home_read(struct env_block *b, const struct ast_line *line) {
    struct compilation *const c = b->c;
    if (!text_is(line->word.text, "workspace")) {
        diag_error(c->diag, line->word.span, P_BAD_HOME, "the child's home is its `workspace'");
        diag_hint(c->diag, "write `home workspace;': where that is, the host says");
    } else if (b->home) {
        diag_error(c->diag, line->node.span, P_DUPLICATE_SETTING, "`home' is given twice");
        diag_note(c->diag, b->home->node.span, "first given here");
    } else {
        b->home = line;
    }
}

static void reason_check(struct env_block *b, const struct ast_line *line) {
    if (!line->has_because) return;
    if (line->kind == AST_LINE_NEVER || line->kind == AST_LINE_HOME) {
        diag_error(b->c->diag, line->because.span, P_MISPLACED, "`%s' needs no reason",
                   diag_quote(b->c->diag, line->keyword.text));
    } else if (!line->because.bad && line->because.text.len == 0) {
        diag_error(b->c->diag, line->because.span, P_NEEDS_BECAUSE, "the reason is empty");
    }
}

void env_lines_read(struct env_block *b, const struct ast_item *item) {
    for (const struct ast_node *n = item->parts.first; n; n = n->next) {
        const struct ast_line *const line = (const struct ast_line *)n;
        reason_check(b, line);
        switch (line->kind) {
        case AST_LINE_INHERIT: grants_read(b, line, UPK_ENV_INHERIT); break;
        case AST_LINE_MANIFEST: grants_read(b, line, UPK_ENV_MANIFEST); break;
        case AST_LINE_NEVER: nevers_read(b, line); break;
        case AST_LINE_SET: set_read(b, line); break;
        case AST_LINE_HOME: home_read(b, line); break;
        case AST_LINE_LINUX:
        case AST_LINE_MACOS:
        case AST_LINE_BUDGET:
        case AST_LINE_NETWORK:
        case AST_LINE_KINDS: break; /* of `confinement` */
        }
    }
    for (size_t i = 0; i < env_never_count; i++) {
        block_never(b,
                    (struct model_env_never){.text = text_of(env_nevers[i].text), .kind = env_nevers[i].kind},
                    (struct span){0, 0, 0});
    }
}
