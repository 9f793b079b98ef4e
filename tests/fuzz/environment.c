/* Fuzz target: any bytes as the environment of a host, a manifest and a home.
 *
 * Lines are variables of the host; those that begin with `+` are entries of the manifest, with `?` such that ask for a value of the
 * host's, with `~` the home.  A line may hold NUL.  What must hold for every input, beside not crashing and not leaking:
 *   - the same outcome twice; where an allocation fails, R401 and nothing left behind;
 *   - what comes out are variables that the policy names, each once, with text without control characters, HOME last and as given;
 *   - nothing comes out that the policy has never heard of, and a value of the host's under another name where a manifest asked alone;
 *   - the text of an error is printable, and no value is in it.
 *
 * Layer: tests only, over the compiler's front door and the runtime's public interface.
 */
#include <string.h>

#include "../../compiler/tables.h"
#include "../../runtime/upk_environment.h"
#include "../unit/failing.h"
#include "require.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_LINES = 200 };

static const char policy_text[] =
    "policy fuzz 1;\n"
    "environment fuzz {\n"
    "    inherit base standard, base locale, base proxies, base terminal, base user, base git;\n"
    "    inherit base certificates, base temporary, base folders, base indexes, base python;\n"
    "    inherit A, B where value chars \"a-z\\u{e9}\" max 8;\n"
    "    inherit LD_LIBRARY_PATH where value path because \"fuzzing\";\n"
    "    manifest A, M, LANG, TZ, PATH;\n"
    "    manifest S -> T because \"fuzzing\";\n"
    "    manifest A -> U where value word because \"fuzzing\";\n"
    "    never *_TOKEN, AWS_*, *SECRET*;\n"
    "    set X = \"set\";\n"
    "    home workspace;\n"
    "}\n";

/* libFuzzer gives a target no context: made once, freed by the end of the process. */
static struct tables tables;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    const struct compile_options options = {
        .path = "fuzz.policy", .text = policy_text, .text_len = sizeof policy_text - 1};
    struct diag d;
    struct compiled *c = NULL;
    (void)argc, (void)argv;
    diag_init(&d, (struct diag_sink){0});
    REQUIRE(policy_compile(&options, &d, &c) && tables_build(c, &c->models[0], &d, &tables));
    REQUIRE(upk_policy_check(&tables.policy, NULL));
    compiled_free(c);
    diag_free(&d);
    return 0;
}

/* ---- the input */

struct input {
    char *host[MOST_LINES + 1]; /* owned */
    struct upk_env_entry entries[MOST_LINES];
    size_t host_count, entry_count;
    char *home; /* owned; NULL: none */
};

static char *text_copy(const uint8_t *p, size_t len) {
    char *const copy = malloc(len + 1);
    REQUIRE(copy != NULL);
    if (len) memcpy(copy, p, len);
    copy[len] = '\0';
    return copy;
}

static void take_entry(struct input *in, const uint8_t *p, size_t len, bool from_host) {
    const uint8_t *const equals = len ? memchr(p, '=', len) : NULL;
    const size_t name = equals ? (size_t)(equals - p) : len;
    in->entries[in->entry_count++] = (struct upk_env_entry){
        .name = {p, name},
        .value = {equals ? equals + 1 : p, equals ? len - name - 1 : 0},
        .from_host = from_host,
    };
}

static void take_line(struct input *in, const uint8_t *p, size_t len) {
    if (len && (p[0] == '+' || p[0] == '?')) {
        take_entry(in, p + 1, len - 1, p[0] == '?');
    } else if (len && p[0] == '~') {
        free(in->home);
        in->home = text_copy(p + 1, len - 1);
    } else {
        in->host[in->host_count++] = text_copy(p, len);
    }
}

static void take_input(struct input *in, const uint8_t *data, size_t size) {
    const uint8_t *p = data, *const end = data + size;
    for (size_t lines = 0; lines < MOST_LINES && p < end; lines++) {
        const uint8_t *const stop = memchr(p, '\n', (size_t)(end - p));
        const size_t len = (size_t)((stop ? stop : end) - p);
        take_line(in, p, len);
        p += len + (stop != NULL);
    }
}

static void free_input(struct input *in) {
    for (size_t i = 0; i < in->host_count; i++) free(in->host[i]);
    free(in->home);
}

/* ---- what must hold */

static bool is_named(const struct upk_env_entry *e, const char *name, size_t len) {
    return e->name.len == len && memcmp(e->name.data, name, len) == 0;
}

/* The host's or the manifest's own value, or what the policy sets. */
static void require_source(const struct input *in, const char *variable, size_t name) {
    bool found = strcmp(variable, "X=set") == 0;
    for (size_t i = 0; i < in->host_count; i++) found = found || strcmp(in->host[i], variable) == 0;
    for (size_t i = 0; i < in->entry_count; i++) {
        const struct upk_env_entry *const e = &in->entries[i];
        const char *const value = variable + name + 1;
        if (!is_named(e, variable, name)) continue;
        found = found || e->from_host ||
                (e->value.len == strlen(value) && memcmp(e->value.data, value, e->value.len) == 0);
    }
    REQUIRE(found);
}

static void require_env(const struct input *in, const struct upk_env *env) {
    size_t bytes = 0;
    REQUIRE(env->count > 0 && env->vars[env->count] == NULL && env->bytes <= UPK_ENV_BYTES_MOST);
    for (size_t i = 0; i < env->count; i++) {
        const char *const variable = env->vars[i], *const equals = strchr(variable, '=');
        REQUIRE(equals != NULL && upk_env_name_is_good(variable, (size_t)(equals - variable)));
        for (const char *p = equals; *p; p++) REQUIRE((unsigned char)*p >= 0x20 && *p != 0x7f);
        REQUIRE(strncmp(equals + 1, "() {", 4) != 0);
        const size_t name = (size_t)(equals - variable);
        REQUIRE(strncmp(variable, "S=", 2) != 0 && (name < 6 || strncmp(equals - 6, "_TOKEN", 6) != 0));
        REQUIRE(strncmp(variable, "LD_", 3) != 0 || strncmp(variable, "LD_LIBRARY_PATH=", 16) == 0);
        for (size_t k = 0; k < i; k++) REQUIRE(strncmp(variable, env->vars[k], name + 1) != 0);
        if (i + 1 != env->count) require_source(in, variable, name);
        bytes += strlen(variable) + 1;
    }
    REQUIRE(bytes == env->bytes);
    REQUIRE(strncmp(env->vars[env->count - 1], "HOME=/", 6) == 0);
    REQUIRE(strcmp(env->vars[env->count - 1] + 5, in->home) == 0);
    for (size_t i = 0; i < env->left_count; i++)
        REQUIRE(upk_env_name_is_good(env->left[i].name, strlen(env->left[i].name)));
}

/* Values of eight bytes and more, whose names do not hold them. */
static void require_no_value(const char *text, const struct input *in) {
    enum { LEAST = 8 };
    for (size_t i = 0; i < in->entry_count; i++) {
        const struct upk_env_entry *const e = &in->entries[i];
        if (e->from_host || e->value.len < LEAST || memchr(e->value.data, '\0', e->value.len)) continue;
        char *const value = text_copy(e->value.data, e->value.len);
        bool named = false;
        for (size_t k = 0; k < in->entry_count; k++) {
            char *const name = text_copy(in->entries[k].name.data, in->entries[k].name.len);
            named = named || strstr(name, value) != NULL;
            free(name);
        }
        /* Texts of the library itself are no leak: rules, grants, the policy. */
        REQUIRE(named ||
                strstr("rule `proxy' with a set of characters, at most 32767 bytes", value) != NULL ||
                strstr(upk_code_sentence(UPK_ERR_ENV_VALUE), value) != NULL || strstr(text, value) == NULL);
        free(value);
    }
}

static void require_error(const struct input *in, const struct upk_error *err) {
    char text[1024];
    REQUIRE(err->cls == UPK_CLASS_ENVIRONMENT);
    (void)upk_error_message(err, text, sizeof text);
    for (const char *p = text; *p; p++) REQUIRE(*p >= 0x20 && *p < 0x7f);
    if (err->code == UPK_ERR_ENV_VALUE) require_no_value(text, in);
}

static void require_same(const struct upk_env *a, const struct upk_env *b) {
    REQUIRE(a->count == b->count && a->left_count == b->left_count);
    for (size_t i = 0; i < a->count; i++) REQUIRE(strcmp(a->vars[i], b->vars[i]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {.home = NULL};
    struct upk_env *env = NULL, *again = NULL;
    struct upk_error err = {0}, err_again = {0};
    take_input(&in, data, size);
    const struct upk_manifest manifest = {in.entries, in.entry_count};
    const bool good = upk_env_filter(&tables.policy, in.host, &manifest, in.home, NULL, &env, &err);
    struct failing f = {.left = size % 4};
    const struct upk_allocator allocator = {failing_resize, &f};
    const bool good_again =
        upk_env_filter(&tables.policy, in.host, &manifest, in.home, &allocator, &again, &err_again);
    if (good) {
        require_env(&in, env);
        REQUIRE(good_again || err_again.code == UPK_ERR_MEMORY);
        if (good_again) require_same(env, again);
    } else {
        require_error(&in, &err);
        REQUIRE(!good_again && (err_again.code == err.code || err_again.code == UPK_ERR_MEMORY));
    }
    upk_env_free(again);
    REQUIRE(f.live == 0);
    upk_env_free(env);
    free_input(&in);
    return 0;
}
