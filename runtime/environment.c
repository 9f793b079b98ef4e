/* The environment of a child: one pass over the host's variables, one over the manifest, what the policy sets, HOME.
 *
 * Each variable that the policy knows has one place, its row; what is written there later wins, so no name comes twice.  The host's
 * variables are looked up and never copied before they are judged; a name that is longer than any row's is not read to its end.  What
 * is inherited and not as its rule says is left out and told by name, as whoever runs the host can seldom help it; what a manifest
 * asks for in vain is refused.  The host's names that the policy does not know, and all values, stay out of every text.
 *
 * Layer: runtime, over environment_rules.c.
 */
#include <stdio.h>
#include <string.h>

#include "environment_table.h"

struct pick { /* of a row */
    const char *value, *host;
    size_t len, host_len;
    uint32_t stage; /* enum upk_env_flag; 0: nothing yet */
    bool twice;     /* the host has it with several values */
    uint8_t left;   /* enum upk_env_reason */
};

struct filter {
    const struct upk_policy *policy;
    const struct upk_environment *table;
    struct mem mem;
    struct pick *picks; /* by row */
    const char *home;
    struct upk_error *err;
};

/* ---- refusals */

static bool refuse(struct filter *f, unsigned code) {
    if (!f->err) return false;
    error_set(f->err, code, 0, UPK_OP_UNKNOWN);
    error_policy(f->err, f->policy);
    return false;
}

/* Of a name that a manifest gives; `row` of the table, 0: none. */
static bool refuse_name(struct filter *f, unsigned code, struct upk_bytes name, uint32_t row,
                        const char *detail) {
    enum { MOST_SHOWN = 80 };
    const struct upk_env_name *const n = &f->table->names[row];
    (void)refuse(f, code);
    if (!f->err) return false;
    error_copy(f->err->name, MOST_SHOWN, name.data, name.len);
    (void)snprintf(f->err->detail, sizeof f->err->detail, "%s", detail);
    error_place(f->err, f->policy, n->file, n->manifest_line ? n->manifest_line : n->line);
    return false;
}

/* A host that meets this has taken a policy of values for one of children. */
static bool refuse_policy(struct filter *f) {
    (void)refuse(f, UPK_ERR_ENV_NONE);
    if (f->err)
        (void)snprintf(f->err->change, sizeof f->err->change, "%s",
                       "give the policy a block `environment'; or run the child by the rules of a policy "
                       "that has one: rules=, in C the member rules of upk_run_options");
    return false;
}

static bool refuse_value(struct filter *f, struct upk_bytes name, uint32_t row, uint32_t rule) {
    const struct upk_env_rule *const r = &f->table->rules[rule];
    char detail[100];
    (void)snprintf(detail, sizeof detail, "rule `%s'%s, at most %u bytes", upk_env_rule_word(r->kind),
                   r->count ? " with a set of characters" : "", (unsigned)r->most);
    return refuse_name(f, UPK_ERR_ENV_VALUE, name, row, detail);
}

/* ---- look-up */

uint32_t environment_find(const struct upk_environment *e, const char *name, size_t len) {
    static const uint8_t module[UPK_NAME_PADDED] = {'$'};
    uint8_t padded[UPK_NAME_PADDED] = {0};
    if (len == 0 || len > UPK_NAME_MOST) return 0;
    memcpy(padded, name, len);
    return e->find(e->keys, module, 1, padded, len);
}

static bool fits(const struct filter *f, uint32_t rule, const char *value, size_t len) {
    return upk_env_value_fits(&f->table->rules[rule], f->table->ranges, value, len);
}

/* ---- the host */

static void host_variable(struct filter *f, const char *entry) {
    size_t len = 0;
    while (len <= UPK_NAME_MOST && entry[len] != '\0' && entry[len] != '=') len++;
    if (len > UPK_NAME_MOST || entry[len] != '=') return;
    const uint32_t row = environment_find(f->table, entry, len);
    if (!(f->table->names[row].flags & (UPK_ENV_INHERIT | UPK_ENV_SOURCE))) return;
    struct pick *const pick = &f->picks[row];
    const char *const value = entry + len + 1;
    if (pick->host) {
        pick->twice = pick->twice || strcmp(pick->host, value) != 0;
        return;
    }
    pick->host = value;
    pick->host_len = strlen(value);
}

static void inherit(struct filter *f) {
    for (uint32_t row = 1; row < f->table->name_count; row++) {
        const struct upk_env_name *const n = &f->table->names[row];
        struct pick *const pick = &f->picks[row];
        if (!(n->flags & UPK_ENV_INHERIT) || !pick->host) continue;
        if (pick->twice) {
            pick->left = UPK_ENV_LEFT_TWICE;
        } else if (!fits(f, n->inherit_rule, pick->host, pick->host_len)) {
            pick->left = UPK_ENV_LEFT_VALUE;
        } else {
            pick->value = pick->host;
            pick->len = pick->host_len;
            pick->stage = UPK_ENV_INHERIT;
        }
    }
}

/* ---- the manifest */

/* Why it may not have a name that the table does not let it have. */
static bool refuse_manifest(struct filter *f, struct upk_bytes name, uint32_t row) {
    const struct upk_environment *const e = f->table;
    if (e->flags & UPK_ENV_HOME && bytes_are(name.data, name.len, "HOME"))
        return refuse_name(f, UPK_ERR_ENV_MANIFEST, name, 0, "HOME is set last, by the host");
    for (uint32_t i = 1; i < e->never_count; i++) {
        const struct upk_env_never *const v = &e->nevers[i];
        if (!upk_env_never_means(v->kind, e->pool + v->text.at, v->text.len, name.data, name.len)) continue;
        (void)refuse_name(f, UPK_ERR_ENV_NEVER, name, 0, v->line ? "`never'" : "");
        if (f->err) error_place(f->err, f->policy, v->file, v->line);
        return false;
    }
    return refuse_name(f, UPK_ERR_ENV_MANIFEST, name, row,
                       e->names[row].flags & UPK_ENV_SET ? "the policy sets it" : "");
}

/* The host's value of another name. */
static bool take_source(struct filter *f, const struct upk_env_entry *entry, uint32_t row, const char **value,
                        size_t *len) {
    const struct upk_env_name *const n = &f->table->names[row];
    const struct upk_env_name *const source = &f->table->names[n->source];
    const char *const name = f->table->pool + source->name.at;
    if (bytes_compare(name, source->name.len, entry->value.data, entry->value.len) != 0)
        return refuse_name(f, UPK_ERR_ENV_SOURCE, entry->name, row,
                           "the policy grants it from another variable");
    const struct pick *const pick = &f->picks[n->source];
    if (!pick->host || pick->twice)
        return refuse_name(f, UPK_ERR_ENV_UNSET, (struct upk_bytes){name, source->name.len}, row, "");
    *value = pick->host;
    *len = pick->host_len;
    return true;
}

static bool manifest_entry(struct filter *f, const struct upk_env_entry *entry) {
    if (!entry->name.data || !upk_env_name_is_good(entry->name.data, entry->name.len))
        return refuse_name(f, UPK_ERR_ENV_NAME, entry->name, 0, "");
    const uint32_t row = environment_find(f->table, entry->name.data, entry->name.len);
    const struct upk_env_name *const n = &f->table->names[row];
    struct pick *const pick = &f->picks[row];
    const char *value = entry->value.len ? entry->value.data : "";
    size_t len = entry->value.len;
    if (!(n->flags & (UPK_ENV_MANIFEST | UPK_ENV_FROM))) return refuse_manifest(f, entry->name, row);
    if (pick->stage == UPK_ENV_MANIFEST) return refuse_name(f, UPK_ERR_ENV_TWICE, entry->name, row, "");
    if (entry->from_host && !(n->flags & UPK_ENV_FROM))
        return refuse_name(f, UPK_ERR_ENV_SOURCE, entry->name, row, "the policy grants none for it");
    if (!entry->from_host && !(n->flags & UPK_ENV_MANIFEST))
        return refuse_name(f, UPK_ERR_ENV_MANIFEST, entry->name, row, "it may only ask for the host's value");
    if (entry->from_host && !take_source(f, entry, row, &value, &len)) return false;
    if (!fits(f, n->manifest_rule, value, len)) return refuse_value(f, entry->name, row, n->manifest_rule);
    /* What the host has stays: a later entry may ask for it in another name. */
    pick->value = value;
    pick->len = len;
    pick->stage = UPK_ENV_MANIFEST;
    pick->left = 0;
    return true;
}

static bool read_manifest(struct filter *f, const struct upk_manifest *manifest) {
    for (size_t i = 0; manifest && i < manifest->count; i++) {
        if (!manifest_entry(f, &manifest->entries[i])) return false;
    }
    return true;
}

/* ---- what the policy sets, and HOME */

static bool read_policy(struct filter *f, const char *home) {
    const struct upk_environment *const e = f->table;
    for (uint32_t row = 1; row < e->name_count; row++) {
        const struct upk_env_name *const n = &e->names[row];
        if (!(n->flags & UPK_ENV_SET)) continue;
        f->picks[row] =
            (struct pick){.value = e->pool + n->value.at, .len = n->value.len, .stage = UPK_ENV_SET};
    }
    if (!(e->flags & UPK_ENV_HOME)) return true;
    static const struct upk_env_rule file = {.kind = UPK_ENV_RULE_FILE, .most = 4096};
    if (!home || !upk_env_value_fits(&file, NULL, home, strlen(home))) return refuse(f, UPK_ERR_ENV_HOME);
    f->home = home;
    return true;
}

/* ---- the result */

struct sizes {
    size_t count, bytes, left, left_bytes;
};

static bool measure(struct filter *f, struct sizes *s) {
    static const size_t home = sizeof "HOME=";
    *s = (struct sizes){0};
    for (uint32_t row = 1; row < f->table->name_count; row++) {
        const struct pick *const pick = &f->picks[row];
        const size_t name = f->table->names[row].name.len;
        if (pick->left) {
            s->left++;
            s->left_bytes += name + 1;
        }
        if (!pick->stage) continue;
        s->count++;
        s->bytes += name + pick->len + 2; /* one such is small enough: rules bound values */
        if (s->bytes > UPK_ENV_BYTES_MOST) return refuse(f, UPK_ERR_ENV_SIZE);
    }
    if (f->home) {
        s->count++;
        s->bytes += home + strlen(f->home);
    }
    return s->bytes <= UPK_ENV_BYTES_MOST || refuse(f, UPK_ERR_ENV_SIZE);
}

static char *put(char *to, const char *bytes, size_t len) {
    if (len) memcpy(to, bytes, len);
    return to + len;
}

static void fill(const struct filter *f, struct upk_env *env, const struct sizes *s) {
    const struct upk_environment *const e = f->table;
    struct upk_env_left *const left = (struct upk_env_left *)(void *)(env->vars + s->count + 1);
    char *p = (char *)(left + s->left);
    for (uint32_t row = 1; row < e->name_count; row++) {
        const struct pick *const pick = &f->picks[row];
        const struct upk_env_name *const n = &e->names[row];
        if (pick->left) {
            left[env->left_count++] = (struct upk_env_left){p, pick->left, e->rules[n->inherit_rule].kind};
            p = put(p, e->pool + n->name.at, n->name.len);
            *p++ = '\0';
        }
        if (!pick->stage) continue;
        env->vars[env->count++] = p;
        p = put(p, e->pool + n->name.at, n->name.len);
        *p++ = '=';
        p = put(p, pick->value, pick->len);
        *p++ = '\0';
    }
    if (f->home) {
        env->vars[env->count++] = p;
        p = put(p, "HOME=", sizeof "HOME=" - 1);
        (void)put(p, f->home, strlen(f->home) + 1);
    }
    env->vars[env->count] = NULL;
    env->left = left;
}

static bool make(struct filter *f, struct upk_env **out) {
    struct sizes s;
    if (!measure(f, &s)) return false;
    const size_t size = sizeof(struct upk_env) + (s.count + 1) * sizeof(char *) +
                        s.left * sizeof(struct upk_env_left) + s.bytes + s.left_bytes;
    struct upk_env *const env = mem_resize(&f->mem, NULL, 0, size);
    if (!env) return refuse(f, UPK_ERR_MEMORY);
    *env = (struct upk_env){
        .vars = (char **)(env + 1), .bytes = s.bytes, .allocator = f->mem.allocator, .size = size};
    fill(f, env, &s);
    *out = env;
    return true;
}

static bool run(struct filter *f, char *const *host, const struct upk_manifest *manifest, const char *home,
                struct upk_env **out) {
    for (; host && *host; host++) host_variable(f, *host);
    inherit(f);
    return read_manifest(f, manifest) && read_policy(f, home) && make(f, out);
}

bool upk_env_filter(const struct upk_policy *policy, char *const *host_env,
                    const struct upk_manifest *manifest, const char *home,
                    const struct upk_allocator *allocator, struct upk_env **out, struct upk_error *err) {
    struct filter f = {.err = err};
    if (!policy || !out || (manifest && manifest->count && !manifest->entries))
        return refuse(&f, UPK_ERR_MISUSE);
    if (!upk_policy_is_of_this_version(policy)) {
        if (err) error_version(err);
        return false;
    }
    f.policy = policy;
    f.table = policy->environment;
    if (!f.table) return refuse_policy(&f);
    mem_init(&f.mem, allocator, SIZE_MAX);
    const size_t size = f.table->name_count * sizeof *f.picks;
    f.picks = mem_resize(&f.mem, NULL, 0, size);
    if (!f.picks) return refuse(&f, UPK_ERR_MEMORY);
    mem_clear(f.picks, size);
    const bool good = run(&f, host_env, manifest, home, out);
    (void)mem_resize(&f.mem, f.picks, size, 0);
    return good;
}

void upk_env_free(struct upk_env *env) {
    if (!env) return;
    const struct upk_allocator allocator = env->allocator;
    (void)allocator.resize(allocator.ctx, env, env->size, 0);
}
