/* The rules of values: what each takes, and what it does not.
 *
 * Layer: tests of the runtime's public interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk_environment.h"
#include "../../runtime/upk_tables.h"

static bool fits(uint32_t kind, const char *value) {
    const struct upk_env_rule rule = {.kind = kind, .most = UPK_ENV_VALUE_MOST};
    return upk_env_value_fits(&rule, NULL, value, strlen(value));
}

struct cases {
    uint32_t kind;
    const char *good[24], *bad[24];
};

static const struct cases all[] = {
    {UPK_ENV_RULE_TEXT,
     {"", "anything at all", "\xc3\xa9", "a=b", "() x", "\xf0\x9f\x98\x80"},
     {"a\nb", "\t", "\x7f", "\x1b[0m", "\xc2\x9b", "\xff", "\xed\xb0\x80", "() {", "() { :;}; x"}},
    {UPK_ENV_RULE_LOCALE,
     {"C", "POSIX", "C.UTF-8", "C.utf8", "en", "en_US", "en_US.UTF-8", "de_DE@euro", "de_DE.ISO-8859-15@euro",
      "sr_RS.UTF-8@latin", "es_419", "zh_Hans_CN", "ast_ES", "uz_UZ.UTF-8@cyrillic", "zh_HK.big5hkscs"},
     {"", "/usr/lib/x", "../x", ":en", "en_us", "e", "engl", "en_US.", "en_US.UTF-8@",
      "sk_live_0123456789abcdef", "ghp_0123456789", "C@euro", "en_US.UTF-8UTF-8UTF-8xy", "en_US.UTF-8 x",
      "en_US.8859", "CC", "en_US@abcdefghijklm", "en_U1"}},
    {UPK_ENV_RULE_LOCALES, {"en", "de_DE:en_US:C"}, {"", ":", "en:", "en::de", "en:/x"}},
    {UPK_ENV_RULE_ZONE,
     {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "America/Port-au-Prince",
      "EST5EDT", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0/2,M10.5.0/3", "<+0330>-3:30", "<-03>3", "UTC0",
      "AEST-10AEDT-11,J60,300/25:30:59", "GMT+0"},
     {"", ":UTC", ":/etc/localtime", "/etc/localtime", "../etc/x", "Europe/../x", "Europe/", "a/b/c/d",
      "abcdefghijklmno", "EST5EDT,M3", "EST5EDT,M3.2.0", "<ab>1", "X Y", "UTC0,x,y", "1UTC",
      "EST5:00:00:00"}},
    {UPK_ENV_RULE_PATH,
     {"/bin", "/usr/local/bin:/usr/bin:/bin", "/", "/a b:/c"},
     {"", ".", "bin", "/bin:", ":/bin", "/bin::/usr", "/bin:.", "/bin:usr", "/a/../b", "/..", "~/bin:/bin"}},
    {UPK_ENV_RULE_FILE,
     {"/etc/ssl/cert.pem", "/", "/a:b"},
     {"", "cert.pem", "../x", "/etc/../x", "/x/..", "~"}},
    {UPK_ENV_RULE_TERMINAL,
     {"xterm", "xterm-256color", "screen.xterm-256color", "vt100+w"},
     {"", "/etc/passwd", "../x", ".x", "-x", "a/b", "a b",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
    {UPK_ENV_RULE_NUMBER, {"0", "80", "999999999"}, {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "1000000000"}},
    {UPK_ENV_RULE_WORD,
     {"", "1", "truecolor", "a.b-c_d"},
     {"a b", "a/b", "a;b", "abcdefghijklmnopqrstuvwxyzabcdefg"}},
    {UPK_ENV_RULE_USER, {"root", "_x", "user.name-1", "host$"}, {"", "1a", "a b", "a/b", "$", "a$b", "-a"}},
    {UPK_ENV_RULE_URL,
     {"http://h", "https://proxy.example:8080", "https://pypi.example/simple/", "socks5h://h:1",
      "http://[::1]:80/", "https://h/a/b%20c"},
     {"", "h", "http://", "http://u@h", "http://u:p@h", "https://h/?token=x", "https://h/#x", "file:///x",
      "javascript:x", "http://h:x", "http://h:123456", "https://h/a@b", "HTTP://h", "http://:80",
      "http://h/a b"}},
    {UPK_ENV_RULE_URLS,
     {"http://a", "http://a https://b/c"},
     {"", " ", "http://a ", "http://a  http://b", "http://a u:p@b"}},
    {UPK_ENV_RULE_PROXY,
     {"", "http://p:1", "p", "p:8080", "[::1]:1"},
     {"u:p@h", "p:", "p:1/x", "http://u@p", "a b"}},
    {UPK_ENV_RULE_HOSTS,
     {"", "*", "localhost,127.0.0.1,.example.com", "a, b", "10.0.0.0/8,[::1]:80"},
     {"a b", "u@h", "a;b", "http://u:p@h"}},
};

static void each_rule_has_a_grammar(void **state) {
    (void)state;
    bool seen[UPK_ENV_RULE_COUNT] = {true};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        seen[all[i].kind] = true;
        for (size_t k = 0; k < 24 && all[i].good[k]; k++) {
            if (!fits(all[i].kind, all[i].good[k]))
                fail_msg("%s refuses `%s'", upk_env_rule_word(all[i].kind), all[i].good[k]);
        }
        for (size_t k = 0; k < 24 && all[i].bad[k]; k++) {
            if (fits(all[i].kind, all[i].bad[k]))
                fail_msg("%s takes `%s'", upk_env_rule_word(all[i].kind), all[i].bad[k]);
        }
    }
    for (size_t i = 0; i < UPK_ENV_RULE_COUNT; i++) assert_true(seen[i]);
}

static void lengths_and_characters_are_bounded(void **state) {
    (void)state;
    static const struct upk_range ranges[] = {{0, 0}, {'a', 'c'}, {0xe9, 0xe9}};
    struct upk_env_rule rule = {.kind = UPK_ENV_RULE_TEXT, .most = 4, .first = 1, .count = 2};
    assert_true(upk_env_value_fits(&rule, ranges, "abca", 4));
    assert_true(upk_env_value_fits(&rule, ranges, "a\xc3\xa9", 3));
    assert_false(upk_env_value_fits(&rule, ranges, "abcab", 5));
    assert_false(upk_env_value_fits(&rule, ranges, "abd", 3));
    assert_false(upk_env_value_fits(&rule, ranges, "a\xc3", 2));
    rule.kind = UPK_ENV_RULE_LOCALE; /* both hold */
    assert_false(upk_env_value_fits(&rule, ranges, "abca", 4));
    assert_true(upk_env_value_fits(&rule, ranges, "abc", 3));
    rule.kind = UPK_ENV_RULE_NONE;
    assert_false(upk_env_value_fits(&rule, ranges, "abc", 3));
    rule.kind = UPK_ENV_RULE_COUNT;
    assert_false(upk_env_value_fits(&rule, ranges, "abc", 3));
    assert_string_equal(upk_env_rule_word(UPK_ENV_RULE_COUNT), "none");
}

static void patterns_mean_what_they_say(void **state) {
    (void)state;
    static const struct {
        uint32_t kind;
        const char *text, *name;
        bool means;
    } cases[] = {
        {UPK_ENV_NEVER_NAME, "AB", "AB", true},
        {UPK_ENV_NEVER_NAME, "AB", "ABC", false},
        {UPK_ENV_NEVER_PREFIX, "LD_", "LD_X", true},
        {UPK_ENV_NEVER_PREFIX, "LD_", "LD_", true},
        {UPK_ENV_NEVER_PREFIX, "LD_", "XLD_", false},
        {UPK_ENV_NEVER_SUFFIX, "_KEY", "A_KEY", true},
        {UPK_ENV_NEVER_SUFFIX, "_KEY", "A_KEYS", false},
        {UPK_ENV_NEVER_PART, "KEY", "AKEYS", true},
        {UPK_ENV_NEVER_PART, "KEY", "KE", false},
        {UPK_ENV_NEVER_PART, "KEY", "KEKEY", true},
        {0, "A", "A", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(upk_env_never_means(cases[i].kind, cases[i].text, strlen(cases[i].text),
                                             cases[i].name, strlen(cases[i].name)),
                         cases[i].means);
    }
}

static void names_are_portable(void **state) {
    (void)state;
    char longest[UPK_NAME_MOST + 1];
    memset(longest, 'A', sizeof longest);
    assert_true(upk_env_name_is_good("_a1", 3));
    assert_true(upk_env_name_is_good(longest, UPK_NAME_MOST));
    assert_false(upk_env_name_is_good(longest, UPK_NAME_MOST + 1));
    assert_false(upk_env_name_is_good("", 0));
    assert_false(upk_env_name_is_good("1a", 2));
    assert_false(upk_env_name_is_good("a=", 2));
    assert_false(upk_env_name_is_good("a\0b", 3));
    assert_false(upk_env_name_is_good("a-b", 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_a_grammar),
        cmocka_unit_test(lengths_and_characters_are_bounded),
        cmocka_unit_test(patterns_mean_what_they_say),
        cmocka_unit_test(names_are_portable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
