/* The environment of a child: what is inherited, what a manifest may set, what is refused, and that nothing hostile breaks it.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk_environment.h"
#include "compiled.h"
#include "failing.h"

static const char agent[] = "policy agent 1;\n"
                            "environment agent.shell {\n"
                            "    inherit base standard, base locale, base proxies;\n"
                            "    inherit OWN;\n"
                            "    inherit CODE where value chars \"a-c\" max 4;\n"
                            "    manifest LC_CTYPE, WORKSPACE_ID, LEVEL where value word max 8;\n"
                            "    manifest FREE;\n"
                            "    manifest AGENT_KEY -> API_KEY because \"asks the service\";\n"
                            "    manifest FREE -> COPY because \"the host's own\";\n"
                            "    never AWS_*, *_TOKEN, *HIDDEN*, EXACT;\n"
                            "    set SET_BY_POLICY = \"yes\";\n"
                            "    home workspace;\n"
                            "}\n";

static const struct upk_policy *policy_of(void **state) { return trial_policy(*state, agent); }

static const char *value_of(const struct upk_env *env, const char *name) {
    const size_t len = strlen(name);
    for (size_t i = 0; i < env->count; i++) {
        if (strncmp(env->vars[i], name, len) == 0 && env->vars[i][len] == '=') return env->vars[i] + len + 1;
    }
    return NULL;
}

static const struct upk_env_left *left_of(const struct upk_env *env, const char *name) {
    for (size_t i = 0; i < env->left_count; i++) {
        if (strcmp(env->left[i].name, name) == 0) return &env->left[i];
    }
    return NULL;
}

/* What every result is: names once, HOME last, ended by NULL, as many bytes as it says. */
static void require_sound(const struct upk_env *env) {
    size_t bytes = 0;
    for (size_t i = 0; i < env->count; i++) {
        const char *const equals = strchr(env->vars[i], '=');
        assert_non_null(equals);
        assert_true(upk_env_name_is_good(env->vars[i], (size_t)(equals - env->vars[i])));
        bytes += strlen(env->vars[i]) + 1;
        for (size_t k = 0; k < i; k++) {
            assert_true(strncmp(env->vars[i], env->vars[k], (size_t)(equals - env->vars[i]) + 1) != 0);
        }
    }
    assert_null(env->vars[env->count]);
    assert_int_equal(bytes, env->bytes);
    assert_true(env->bytes <= UPK_ENV_BYTES_MOST);
}

static struct upk_env *filter(const struct upk_policy *p, char *const *host,
                              const struct upk_manifest *manifest) {
    struct upk_env *env = NULL;
    struct upk_error err = {0};
    if (!upk_env_filter(p, host, manifest, "/srv", NULL, &env, &err)) {
        fail_msg("R%u %s %s", err.code, err.name, err.detail);
        return NULL;
    }
    require_sound(env);
    return env;
}

static struct upk_bytes bytes_of(const char *s) { return (struct upk_bytes){s, strlen(s)}; }

static struct upk_env_entry entry_of(const char *name, const char *value) {
    return (struct upk_env_entry){.name = bytes_of(name), .value = bytes_of(value)};
}

/* One entry of a manifest that is refused. */
static struct upk_error refused(const struct upk_policy *p, char *const *host, struct upk_env_entry entry,
                                unsigned code) {
    const struct upk_manifest manifest = {&entry, 1};
    struct upk_env *env = NULL;
    struct upk_error err = {0};
    assert_false(upk_env_filter(p, host, &manifest, "/srv", NULL, &env, &err));
    assert_null(env);
    if (err.code != code) fail_msg("R%u, not R%u: %s %s", err.code, code, err.name, err.detail);
    assert_int_equal(err.cls, UPK_CLASS_ENVIRONMENT);
    return err;
}

#define HOST(...) ((char *[]){__VA_ARGS__, NULL})

static void inherits_what_is_named_alone(void **state) {
    const struct upk_policy *const p = policy_of(state);
    char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=en_US.UTF-8", key[] = "OPENAI_API_KEY=k",
         token[] = "LC_PRIVATE_TOKEN=t", own[] = "OWN=x=y", odd[] = "NOTHING", set[] = "SET_BY_POLICY=no",
         home[] = "HOME=/root", agent_key[] = "AGENT_KEY=s3";
    struct upk_env *const env = filter(p, HOST(path, lang, key, token, own, odd, set, home, agent_key), NULL);
    assert_string_equal(value_of(env, "PATH"), "/usr/bin:/bin");
    assert_string_equal(value_of(env, "LANG"), "en_US.UTF-8");
    assert_string_equal(value_of(env, "OWN"), "x=y");
    assert_string_equal(value_of(env, "SET_BY_POLICY"), "yes");
    assert_string_equal(env->vars[env->count - 1], "HOME=/srv");
    assert_null(value_of(env, "OPENAI_API_KEY"));
    assert_null(value_of(env, "LC_PRIVATE_TOKEN"));
    assert_null(value_of(env, "AGENT_KEY"));
    assert_null(value_of(env, "TZ")); /* the host has none */
    assert_int_equal(env->count, 5);
    assert_int_equal(env->left_count, 0);
    upk_env_free(env);
}

static void later_stages_win(void **state) {
    const struct upk_policy *const p = policy_of(state);
    char ctype[] = "LC_CTYPE=de_DE", key[] = "AGENT_KEY=s3";
    struct upk_env_entry entries[] = {
        entry_of("LC_CTYPE", "C.UTF-8"),
        entry_of("LEVEL", "debug"),
        {.name = bytes_of("API_KEY"), .value = bytes_of("AGENT_KEY"), .from_host = true}};
    const struct upk_manifest manifest = {entries, 3};
    struct upk_env *const env = filter(p, HOST(ctype, key), &manifest);
    /* `where` of a line is for all its names: LC_CTYPE is a word there, and `C.UTF-8' is one of at most 8 letters. */
    assert_string_equal(value_of(env, "LC_CTYPE"), "C.UTF-8");
    assert_string_equal(value_of(env, "LEVEL"), "debug");
    assert_string_equal(value_of(env, "API_KEY"), "s3");
    assert_null(value_of(env, "AGENT_KEY"));
    upk_env_free(env);
}

static void leaves_out_what_breaks_its_rule(void **state) {
    const struct upk_policy *const p = policy_of(state);
    char path[] = "PATH=/bin:.", tz[] = "TZ=:/etc/localtime", code[] = "CODE=abcd",
         proxy[] = "HTTP_PROXY=http://me:secret@proxy:8080", lang[] = "LANG=sk_live_0123456789abcdef",
         again[] = "OWN=1", own[] = "OWN=2", term[] = "TERM=xterm", same[] = "TERM=xterm";
    struct upk_env *const env = filter(p, HOST(path, tz, code, proxy, lang, own, again, term, same), NULL);
    const char *const names[] = {"PATH", "TZ", "CODE", "HTTP_PROXY", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(value_of(env, names[i]));
        assert_non_null(left_of(env, names[i]));
        assert_int_equal(left_of(env, names[i])->reason, UPK_ENV_LEFT_VALUE);
    }
    assert_null(value_of(env, "OWN"));
    assert_int_equal(left_of(env, "OWN")->reason, UPK_ENV_LEFT_TWICE);
    assert_string_equal(value_of(env, "TERM"), "xterm"); /* twice, and the same */
    assert_int_equal(env->left_count, 6);
    upk_env_free(env);
}

static void refuses_what_no_manifest_may(void **state) {
    const struct upk_policy *const p = policy_of(state);
    static const struct {
        const char *name, *value;
        unsigned code;
    } cases[] = {
        {"", "v", UPK_ERR_ENV_NAME},
        {"A=B", "v", UPK_ERR_ENV_NAME},
        {"1A", "v", UPK_ERR_ENV_NAME},
        {"A B", "v", UPK_ERR_ENV_NAME},
        {"\xc3\xa9", "v", UPK_ERR_ENV_NAME},
        {"PATH", "/evil", UPK_ERR_ENV_MANIFEST},
        {"HOME", "/evil", UPK_ERR_ENV_MANIFEST},
        {"SET_BY_POLICY", "no", UPK_ERR_ENV_MANIFEST},
        {"AGENT_KEY", "x", UPK_ERR_ENV_MANIFEST},
        {"API_KEY", "x", UPK_ERR_ENV_MANIFEST}, /* only the host's */
        {"UNKNOWN", "x", UPK_ERR_ENV_MANIFEST},
        {"LD_PRELOAD", "/evil.so", UPK_ERR_ENV_NEVER},
        {"LD_LIBRARY_PATH", "/evil", UPK_ERR_ENV_NEVER},
        {"DYLD_INSERT_LIBRARIES", "x", UPK_ERR_ENV_NEVER},
        {"PYTHONPATH", "/evil", UPK_ERR_ENV_NEVER},
        {"PYTHONSTARTUP", "/evil", UPK_ERR_ENV_NEVER},
        {"BASH_ENV", "/evil", UPK_ERR_ENV_NEVER},
        {"ENV", "/evil", UPK_ERR_ENV_NEVER},
        {"GIT_SSH_COMMAND", "evil", UPK_ERR_ENV_NEVER},
        {"NODE_OPTIONS", "--require /evil", UPK_ERR_ENV_NEVER},
        {"GCONV_PATH", "/evil", UPK_ERR_ENV_NEVER},
        {"PERL5OPT", "-Mevil", UPK_ERR_ENV_NEVER},
        {"BASH_FUNC_ls", "() { evil; }", UPK_ERR_ENV_NEVER},
        {"AWS_SECRET", "x", UPK_ERR_ENV_NEVER},
        {"GITHUB_TOKEN", "x", UPK_ERR_ENV_NEVER},
        {"A_HIDDEN_B", "x", UPK_ERR_ENV_NEVER},
        {"EXACT", "x", UPK_ERR_ENV_NEVER},
        {"LEVEL", "a b", UPK_ERR_ENV_VALUE},
        {"LEVEL", "123456789", UPK_ERR_ENV_VALUE},
        {"FREE", "line\nline", UPK_ERR_ENV_VALUE},
        {"FREE", "\x1b[31m", UPK_ERR_ENV_VALUE},
        {"FREE", "\xff", UPK_ERR_ENV_VALUE},
        {"FREE", "\xed\xa0\x80", UPK_ERR_ENV_VALUE},
        {"FREE", "\xc2\x80", UPK_ERR_ENV_VALUE}, /* a control character of C1 */
        {"FREE", "() { :; }; evil", UPK_ERR_ENV_VALUE},
    };
    char path[] = "PATH=/bin";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct upk_error err =
            refused(p, HOST(path), entry_of(cases[i].name, cases[i].value), cases[i].code);
        char text[1024];
        (void)upk_error_message(&err, text, sizeof text);
        assert_true(strlen(cases[i].value) < 3 || !strstr(text, cases[i].value));
    }
}

static void judges_bytes_with_nul(void **state) {
    const struct upk_policy *const p = policy_of(state);
    const struct upk_env_entry name = {.name = {"FREE\0X", 6}, .value = bytes_of("v")},
                               value = {.name = bytes_of("FREE"), .value = {"a\0b", 3}},
                               nothing = {.value = bytes_of("v")};
    (void)refused(p, NULL, name, UPK_ERR_ENV_NAME);
    (void)refused(p, NULL, value, UPK_ERR_ENV_VALUE);
    (void)refused(p, NULL, nothing, UPK_ERR_ENV_NAME);
}

static void hands_on_granted_values_alone(void **state) {
    const struct upk_policy *const p = policy_of(state);
    char key[] = "AGENT_KEY=s3", other[] = "OTHER_KEY=secret", bad[] = "AGENT_KEY=two\nlines",
         again[] = "AGENT_KEY=4";
    struct upk_env_entry e = {.name = bytes_of("API_KEY"), .value = bytes_of("OTHER_KEY"), .from_host = true};
    (void)refused(p, HOST(key, other), e, UPK_ERR_ENV_SOURCE);
    e.name = bytes_of("FREE");
    (void)refused(p, HOST(key, other), e, UPK_ERR_ENV_SOURCE);
    e.name = bytes_of("API_KEY");
    e.value = bytes_of("AGENT_KEY");
    (void)refused(p, HOST(other), e, UPK_ERR_ENV_UNSET);
    (void)refused(p, HOST(key, again), e, UPK_ERR_ENV_UNSET);
    const struct upk_error err = refused(p, HOST(bad), e, UPK_ERR_ENV_VALUE);
    char text[1024];
    (void)upk_error_message(&err, text, sizeof text);
    assert_null(strstr(text, "lines"));
    struct upk_env_entry twice[] = {e, e};
    const struct upk_manifest manifest = {twice, 2};
    struct upk_env *env = NULL;
    struct upk_error twice_err;
    assert_false(upk_env_filter(p, HOST(key), &manifest, "/srv", NULL, &env, &twice_err));
    assert_int_equal(twice_err.code, UPK_ERR_ENV_TWICE);
}

/* A manifest sets a variable of its own, and asks for the host's value of the same name elsewhere, in whatever order. */
static void what_a_manifest_sets_leaves_the_hosts_value(void **state) {
    const struct upk_policy *const p = policy_of(state);
    char free_[] = "FREE=host", again[] = "FREE=other";
    struct upk_env_entry entries[] = {
        entry_of("FREE", "manifest"),
        {.name = bytes_of("COPY"), .value = bytes_of("FREE"), .from_host = true}};
    for (int i = 0; i < 2; i++) {
        const struct upk_manifest manifest = {entries, 2};
        struct upk_env *const env = filter(p, HOST(free_), &manifest);
        assert_string_equal(value_of(env, "FREE"), "manifest");
        assert_string_equal(value_of(env, "COPY"), "host");
        upk_env_free(env);
        struct upk_env *none = NULL;
        struct upk_error err;
        assert_false(upk_env_filter(p, HOST(free_, again), &manifest, "/srv", NULL, &none, &err));
        assert_int_equal(err.code, UPK_ERR_ENV_UNSET);
        const struct upk_env_entry first = entries[0];
        entries[0] = entries[1];
        entries[1] = first;
    }
}

static void says_what_a_caller_did_wrong(void **state) {
    const struct upk_policy *const p = policy_of(state);
    static const char *const homes[] = {NULL, "", "relative", "/a/../b", "/a\nb", "/\xff"};
    struct upk_env *env = NULL;
    struct upk_error err;
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        assert_false(upk_env_filter(p, NULL, NULL, homes[i], NULL, &env, &err));
        assert_int_equal(err.code, UPK_ERR_ENV_HOME);
    }
    assert_false(upk_env_filter(NULL, NULL, NULL, "/srv", NULL, &env, &err));
    assert_int_equal(err.code, UPK_ERR_MISUSE);
    const struct upk_manifest none = {NULL, 1};
    assert_false(upk_env_filter(p, NULL, &none, "/srv", NULL, &env, NULL));
    assert_null(env);
    upk_env_free(NULL);
}

static void needs_a_block(void **state) {
    const struct upk_policy *const p = trial_policy(*state, "policy p 1;\n");
    struct upk_env *env = NULL;
    struct upk_error err;
    assert_null(p->environment);
    assert_null(p->confinement);
    assert_false(upk_env_filter(p, NULL, NULL, NULL, NULL, &env, &err));
    assert_int_equal(err.code, UPK_ERR_ENV_NONE);
    assert_non_null(strstr(err.change, "rules="));
}

static void home_may_be_any_other_variable(void **state) {
    const struct upk_policy *const p = trial_policy(*state, "policy p 1; environment e { inherit HOME; }");
    char home[] = "HOME=/home/me";
    struct upk_env *env = NULL;
    assert_true(upk_env_filter(p, HOST(home), NULL, NULL, NULL, &env, NULL));
    assert_int_equal(env->count, 1);
    assert_string_equal(env->vars[0], "HOME=/home/me");
    upk_env_free(env);
}

static void an_empty_block_grants_nothing(void **state) {
    const struct upk_policy *const p = trial_policy(*state, "policy p 1; environment e { }");
    char path[] = "PATH=/bin";
    struct upk_env *const env = filter(p, HOST(path), NULL);
    assert_int_equal(env->count, 0);
    assert_null(env->vars[0]);
    upk_env_free(env);
}

/* Two values of most bytes each fit; together all are bounded. */
static void bounds_the_whole(void **state) {
    enum { NAMES = 40 };
    char text[4000] = "policy p 1; environment e { inherit A0";
    for (int i = 1; i < NAMES; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), ", A%d", i);
    strcat(text, "; }");
    const struct upk_policy *const p = trial_policy(*state, text);
    char *host[NAMES + 1] = {NULL};
    for (int i = 0; i < NAMES; i++) {
        host[i] = malloc(UPK_ENV_VALUE_MOST + 8);
        const int n = snprintf(host[i], 8, "A%d=", i);
        memset(host[i] + n, 'x', UPK_ENV_VALUE_MOST);
        host[i][n + UPK_ENV_VALUE_MOST] = '\0';
    }
    struct upk_env *env = NULL;
    struct upk_error err;
    assert_false(upk_env_filter(p, host, NULL, NULL, NULL, &env, &err));
    assert_int_equal(err.code, UPK_ERR_ENV_SIZE);
    char *const kept = host[30];
    host[30] = NULL;
    env = filter(p, host, NULL);
    assert_int_equal(env->count, 30);
    upk_env_free(env);
    host[30] = kept;
    for (int i = 0; i < NAMES; i++) free(host[i]);
}

/* ---- tables */

/* Nothing of them is read: it stands elsewhere there. */
static void tables_of_another_version_are_refused(void **state) {
    const struct upk_policy *const good = policy_of(state);
    struct upk_policy tables[3];
    for (size_t i = 0; i < 3; i++) {
        tables[i] = *good;
        tables[i].pool = NULL;
        tables[i].environment = NULL;
    }
    tables[0].magic ^= 1;
    tables[1].abi++;
    tables[2].size--;
    for (size_t i = 0; i < 3; i++) {
        struct upk_env *env = NULL;
        struct upk_error err;
        assert_false(upk_env_filter(&tables[i], NULL, NULL, "/srv", NULL, &env, NULL));
        assert_false(upk_env_filter(&tables[i], NULL, NULL, "/srv", NULL, &env, &err));
        assert_null(env);
        assert_int_equal(err.code, UPK_ERR_TABLE);
        assert_non_null(strstr(err.detail, "compile the policy again"));
    }
}

static bool passes(const struct upk_policy *p, const struct upk_environment *e,
                   const struct upk_confinement *c) {
    struct upk_policy copy = *p;
    copy.environment = e;
    copy.confinement = c;
    return upk_policy_check(&copy, NULL);
}

static void damaged_tables_are_refused(void **state) {
    const struct upk_policy *const p = policy_of(state);
    struct upk_environment e = *p->environment;
    struct upk_env_name *const names = calloc(e.name_count, sizeof *names);
    struct upk_env_rule rules[64];
    assert_true(names && e.rule_count <= 64);
    assert_true(passes(p, &e, NULL));
#define BREAKS(member, value)              \
    do {                                   \
        e = *p->environment;               \
        e.member = value;                  \
        assert_false(passes(p, &e, NULL)); \
    } while (0)
    BREAKS(pool_len, 3);
    BREAKS(flags, 64);
    BREAKS(name_count, e.name_count - 1);
    BREAKS(never_count, 0);
    BREAKS(file, 99);
    BREAKS(find, NULL);
    BREAKS(ranges, NULL);
    e = *p->environment;
    e.names = names;
#define BREAKS_NAME(member, value)                                          \
    do {                                                                    \
        memcpy(names, p->environment->names, e.name_count * sizeof *names); \
        names[1].member = value;                                            \
        assert_false(passes(p, &e, NULL));                                  \
    } while (0)
    BREAKS_NAME(name.len, 0);
    BREAKS_NAME(name.at, UINT32_MAX);
    BREAKS_NAME(flags, 0);
    BREAKS_NAME(flags, UPK_ENV_HOME);
    BREAKS_NAME(inherit_rule, UINT32_MAX);
    BREAKS_NAME(source, 1);
    BREAKS_NAME(value.len, UINT32_MAX);
    BREAKS_NAME(file, 99);
    e = *p->environment;
    e.rules = rules;
#define BREAKS_RULE(member, value)                                          \
    do {                                                                    \
        memcpy(rules, p->environment->rules, e.rule_count * sizeof *rules); \
        rules[1].member = value;                                            \
        assert_false(passes(p, &e, NULL));                                  \
    } while (0)
    BREAKS_RULE(kind, UPK_ENV_RULE_COUNT);
    BREAKS_RULE(most, 0);
    BREAKS_RULE(count, UINT32_MAX);
    BREAKS_RULE(first, UINT32_MAX);
    free(names);
    const char zeros[UPK_NAME_PADDED] = "";
    struct upk_confinement c = {.budgets = {1, 1, 1, 1}, .pool = zeros, .pool_len = sizeof zeros};
    assert_true(passes(p, NULL, &c));
    c.network = 1;
    assert_false(passes(p, NULL, &c));
    c.network = 0;
    c.on_linux = 2;
    assert_false(passes(p, NULL, &c));
    c.on_linux = 1;
    c.budgets[UPK_RUN_BUDGET_WALL] = 0;
    assert_false(passes(p, NULL, &c));
}

/* ---- every allocation fails once */

static void survives_every_failing_allocation(void **state) {
    const struct upk_policy *const p = policy_of(state);
    char path[] = "PATH=/bin";
    bool good = false;
    size_t n = 0;
    for (; !good; n++) {
        struct failing f = {.left = n};
        const struct upk_allocator allocator = {failing_resize, &f};
        struct upk_env *env = NULL;
        struct upk_error err = {0};
        good = upk_env_filter(p, HOST(path), NULL, "/srv", &allocator, &env, &err);
        if (!good) assert_int_equal(err.code, UPK_ERR_MEMORY);
        upk_env_free(env);
        assert_int_equal(f.live, 0);
    }
    assert_true(n > 2);
}

/* ---- hostile environments */

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

/* Names of the policy and others, whole and broken, with values of any bytes. */
static char *hostile_variable(uint32_t *seed) {
    static const char *const names[] = {"PATH",
                                        "LANG",
                                        "LC_ALL",
                                        "TZ",
                                        "TERM",
                                        "HTTP_PROXY",
                                        "NO_PROXY",
                                        "OWN",
                                        "CODE",
                                        "AGENT_KEY",
                                        "LD_PRELOAD",
                                        "",
                                        "=",
                                        "A\xff",
                                        "SET_BY_POLICY",
                                        "HOME",
                                        "LANGUAGE",
                                        "SSL_CERT_FILE",
                                        "P",
                                        "PATHPATHPATHPATHPATHPATH"};
    static const char *const values[] = {"/bin:/usr/bin",
                                         "C",
                                         "en_US.UTF-8@euro",
                                         "Europe/Berlin",
                                         "EST5EDT,M3.2.0/2,M11.1.0",
                                         "http://u:p@h",
                                         "() { :; }",
                                         "\xed\xa0\x80",
                                         "a,b, c",
                                         "",
                                         "x=y",
                                         ":",
                                         "//",
                                         "%s%n"};
    const size_t extra = next(seed) >> 16 & 63;
    char *const v = malloc(600);
    assert_non_null(v);
    size_t n = (size_t)snprintf(v, 300, "%s%s%s", names[(next(seed) >> 16) % 20], next(seed) >> 30 ? "=" : "",
                                values[(next(seed) >> 16) % 14]);
    for (size_t i = 0; i < extra && next(seed) >> 31; i++) {
        v[n] = (char)(next(seed) >> 24);
        if (v[n] == '\0') v[n] = '\x7f';
        n++;
    }
    v[n] = '\0';
    return v;
}

static void survives_hostile_environments(void **state) {
    enum { ENVIRONMENTS = 200, MOST = 40 };
    const struct upk_policy *const p = policy_of(state);
    uint32_t seed = 7;
    for (int i = 0; i < ENVIRONMENTS; i++) {
        char *host[MOST + 1] = {NULL};
        const size_t count = next(&seed) >> 16 & 31;
        for (size_t k = 0; k < count; k++) host[k] = hostile_variable(&seed);
        struct upk_env *const env = filter(p, host, NULL);
        for (size_t k = 0; k < env->count; k++) assert_null(strstr(env->vars[k], "() {"));
        assert_null(value_of(env, "LD_PRELOAD"));
        assert_null(value_of(env, "AGENT_KEY"));
        assert_string_equal(value_of(env, "HOME"), "/srv");
        upk_env_free(env);
        for (size_t k = 0; k < count; k++) {
            const char *const equals = strchr(host[k], '=');
            if (equals) {
                const struct upk_env_entry e = {.name = {host[k], (size_t)(equals - host[k])},
                                                .value = bytes_of(equals + 1),
                                                .from_host = k % 2};
                const struct upk_manifest manifest = {&e, 1};
                struct upk_env *made = NULL;
                struct upk_error err;
                if (upk_env_filter(p, host, &manifest, "/srv", NULL, &made, &err)) require_sound(made);
                upk_env_free(made);
            }
        }
        for (size_t k = 0; k < count; k++) free(host[k]);
    }
}

static void survives_a_hundred_thousand_variables(void **state) {
    enum { COUNT = 100000, LONG = 1 << 20 };
    const struct upk_policy *const p = policy_of(state);
    char **const host = calloc(COUNT + 3, sizeof *host);
    char *const names = malloc((size_t)COUNT * 16), *const large = malloc(LONG + 1),
                *const tail = malloc(LONG + 6);
    assert_true(host && names && large && tail);
    for (int i = 0; i < COUNT; i++) {
        host[i] = names + (size_t)i * 16;
        (void)snprintf(host[i], 16, i % 2 ? "OWN=%d" : "V%d=x", i);
    }
    memset(large, 'N', LONG); /* a name without an end */
    large[LONG] = '\0';
    memcpy(tail, "CODE=", 5);
    memset(tail + 5, 'a', LONG);
    tail[LONG + 5] = '\0';
    host[COUNT] = large;
    host[COUNT + 1] = tail;
    struct upk_env *const env = filter(p, host, NULL);
    assert_int_equal(left_of(env, "OWN")->reason, UPK_ENV_LEFT_TWICE);
    assert_int_equal(left_of(env, "CODE")->reason, UPK_ENV_LEFT_VALUE);
    assert_int_equal(env->count, 2);
    upk_env_free(env);
    free(host);
    free(names);
    free(large);
    free(tail);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, trial_set_up, trial_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(inherits_what_is_named_alone),
        TEST(later_stages_win),
        TEST(leaves_out_what_breaks_its_rule),
        TEST(refuses_what_no_manifest_may),
        TEST(judges_bytes_with_nul),
        TEST(hands_on_granted_values_alone),
        TEST(what_a_manifest_sets_leaves_the_hosts_value),
        TEST(says_what_a_caller_did_wrong),
        TEST(needs_a_block),
        TEST(home_may_be_any_other_variable),
        TEST(an_empty_block_grants_nothing),
        TEST(bounds_the_whole),
        TEST(tables_of_another_version_are_refused),
        TEST(damaged_tables_are_refused),
        TEST(survives_every_failing_allocation),
        TEST(survives_hostile_environments),
        TEST(survives_a_hundred_thousand_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
