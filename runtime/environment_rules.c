/* What the values of variables may be: a grammar for each rule, by hand, over bytes.
 *
 * A set of characters alone lets anything through that is spelt with them, a key of somebody's as well as a locale; so values of known
 * variables have grammars with bounded words.  Nothing here allocates or recurses; each grammar reads its value once.
 *
 * Sources: locale(1), ISO 639, 3166 and 15924; POSIX.1-2017 8.3 (TZ) and the theory file of tz; terminfo(5); RFC 3986.
 *
 * Layer: runtime, over upk_environment.h and doc.h.
 */
#include <string.h>

#include "doc.h"
#include "environment_table.h"

const char *upk_env_rule_word(unsigned kind) {
    static const char *const words[] = {"none",
#define UPK_X(name, word) #word,
                                        UPK_ENV_RULES(UPK_X)
#undef UPK_X
    };
    return kind < UPK_ENV_RULE_COUNT ? words[kind] : "none";
}

/* ---- pieces */

/* What is left of a value. */
struct rest {
    const char *p, *end;
};

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_letter(char c) { return is_lower(c) || is_upper(c); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alnum(char c) { return is_letter(c) || is_digit(c); }

/* Takes characters of a kind, and says how many. */
static size_t span_of(struct rest *r, bool (*is)(char)) {
    const char *const from = r->p;
    while (r->p < r->end && is(*r->p)) r->p++;
    return (size_t)(r->p - from);
}

static bool take(struct rest *r, char c) {
    if (r->p == r->end || *r->p != c) return false;
    r->p++;
    return true;
}

/* Every part between separators is as `is_part` says, and there is one. */
static bool parts_are(const char *p, size_t len, char separator, bool (*is_part)(const char *p, size_t len)) {
    const char *const end = p + len;
    for (;;) {
        const char *const stop = len ? memchr(p, separator, (size_t)(end - p)) : NULL;
        if (!is_part(p, (size_t)((stop ? stop : end) - p))) return false;
        if (!stop) return true;
        p = stop + 1;
    }
}

bool upk_env_name_is_good(const char *name, size_t len) {
    if (len == 0 || len > UPK_NAME_MOST || is_digit(name[0])) return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_alnum(name[i]) && name[i] != '_') return false;
    }
    return true;
}

bool upk_env_never_means(unsigned kind, const char *text, size_t text_len, const char *name, size_t len) {
    if (text_len > len) return false;
    switch (kind) {
    case UPK_ENV_NEVER_NAME: return len == text_len && memcmp(name, text, len) == 0;
    case UPK_ENV_NEVER_PREFIX: return memcmp(name, text, text_len) == 0;
    case UPK_ENV_NEVER_SUFFIX: return memcmp(name + (len - text_len), text, text_len) == 0;
    case UPK_ENV_NEVER_PART:
        for (size_t i = 0; i + text_len <= len; i++) {
            if (memcmp(name + i, text, text_len) == 0) return true;
        }
        return false;
    default: return false;
    }
}

/* ---- grammars */

static bool is_codeset(char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; }

/* language[_Script][_TERRITORY][.codeset][@modifier]; C and POSIX stand for a language alone or with a codeset. */
static bool is_locale(const char *p, size_t len) {
    enum { MOST_CODESET = 16, MOST_MODIFIER = 12 };
    struct rest r = {p, p + len};
    const size_t capitals = span_of(&r, is_upper);
    if (capitals) {
        if (!bytes_are((const uint8_t *)p, capitals, "C") &&
            !bytes_are((const uint8_t *)p, capitals, "POSIX"))
            return false;
    } else {
        const size_t language = span_of(&r, is_lower);
        if (language != 2 && language != 3) return false;
        if (r.end - r.p > 4 && r.p[0] == '_' && is_upper(r.p[1]) && is_lower(r.p[2])) { /* a script: Latn */
            r.p += 2;
            if (span_of(&r, is_lower) != 3) return false;
        }
        if (take(&r, '_')) {
            const size_t territory = span_of(&r, is_upper);
            if (territory != 2 && (territory != 0 || span_of(&r, is_digit) != 3)) return false;
        }
    }
    if (take(&r, '.')) {
        if (r.p == r.end || !is_letter(*r.p)) return false;
        const size_t codeset = span_of(&r, is_codeset);
        if (codeset > MOST_CODESET) return false;
    }
    if (!capitals && take(&r, '@')) {
        const size_t modifier = span_of(&r, is_lower);
        if (modifier == 0 || modifier > MOST_MODIFIER) return false;
    }
    return r.p == r.end;
}

/* The name of a zone of tz: up to three parts of at most 14 characters, as its authors have it. */
static bool is_zone_part(const char *p, size_t len) {
    enum { MOST_PART = 14 };
    if (len == 0 || len > MOST_PART || !is_letter(p[0])) return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_alnum(p[i]) && p[i] != '_' && p[i] != '-' && p[i] != '+') return false;
    }
    return true;
}

static bool is_zone_name(const char *p, size_t len) {
    size_t slashes = 0;
    for (size_t i = 0; i < len; i++) slashes += p[i] == '/';
    return slashes <= 2 && parts_are(p, len, '/', is_zone_part);
}

/* At most `most` digits in each of up to three numbers between colons, a sign before them. */
static bool take_time(struct rest *r, size_t most) {
    if (!take(r, '+')) (void)take(r, '-');
    for (int part = 0; part < 3; part++) {
        const size_t digits = span_of(r, is_digit);
        if (digits == 0 || digits > (part == 0 ? most : 2)) return false;
        if (!take(r, ':')) return true;
        if (part == 2) return false;
    }
    return false;
}

static bool is_quoted_name(char c) { return is_alnum(c) || c == '+' || c == '-'; }

static bool take_zone_word(struct rest *r) {
    enum { LEAST = 3, MOST = 6 };
    const bool quoted = take(r, '<');
    const size_t len = span_of(r, quoted ? is_quoted_name : is_letter);
    return len >= LEAST && len <= MOST && (!quoted || take(r, '>'));
}

/* J60, 60 or M3.2.0, and a time. */
static bool take_change(struct rest *r) {
    if (!take(r, ',')) return false;
    if (take(r, 'M')) {
        for (int part = 0; part < 3; part++) {
            const size_t digits = span_of(r, is_digit);
            if (digits == 0 || digits > 2 || (part < 2 && !take(r, '.'))) return false;
        }
    } else {
        (void)take(r, 'J');
        const size_t digits = span_of(r, is_digit);
        if (digits == 0 || digits > 3) return false;
    }
    return !take(r, '/') || take_time(r, 3);
}

/* std offset [dst [offset] [, change, change]] */
static bool is_zone_rule(const char *p, size_t len) {
    struct rest r = {p, p + len};
    if (!take_zone_word(&r) || !take_time(&r, 2)) return false;
    if (r.p == r.end) return true;
    if (!take_zone_word(&r)) return false;
    if (r.p < r.end && *r.p != ',' && !take_time(&r, 2)) return false;
    return r.p == r.end || (take_change(&r) && take_change(&r) && r.p == r.end);
}

static bool is_zone(const char *p, size_t len) { return is_zone_name(p, len) || is_zone_rule(p, len); }

static bool is_no_step_up(const char *p, size_t len) { return !(len == 2 && p[0] == '.' && p[1] == '.'); }

static bool is_file(const char *p, size_t len) {
    return len != 0 && p[0] == '/' && parts_are(p, len, '/', is_no_step_up);
}

static bool is_path(const char *p, size_t len) { return parts_are(p, len, ':', is_file); }

static bool is_terminal(const char *p, size_t len) {
    enum { MOST = 64 };
    if (len == 0 || len > MOST || !is_alnum(p[0])) return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_alnum(p[i]) && !strchr("+-_.", p[i])) return false;
    }
    return true;
}

static bool is_number(const char *p, size_t len) {
    enum { MOST = 9 };
    struct rest r = {p, p + len};
    return len != 0 && len <= MOST && span_of(&r, is_digit) == len;
}

static bool is_word_char(char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; }

static bool is_word(const char *p, size_t len) { /* may be empty: of NO_COLOR alone its presence counts */
    enum { MOST = 32 };
    struct rest r = {p, p + len};
    return len <= MOST && span_of(&r, is_word_char) == len;
}

static bool is_user(const char *p, size_t len) {
    enum { MOST = 32 };
    struct rest r = {p, p + len};
    if (len == 0 || len > MOST || !(is_letter(p[0]) || p[0] == '_')) return false;
    (void)span_of(&r, is_word_char);
    (void)take(&r, '$');
    return r.p == r.end;
}

static bool is_host_char(char c) { return is_alnum(c) || c == '-' || c == '.' || c == '_'; }
static bool is_address_char(char c) { return is_alnum(c) || c == ':' || c == '.'; }

/* host, [address], either with a port; nothing else: no `user:secret@'. */
static bool take_authority(struct rest *r) {
    enum { MOST_HOST = 255, MOST_PORT = 5 };
    if (take(r, '[')) {
        const size_t len = span_of(r, is_address_char);
        if (len < 2 || len > MOST_HOST || !take(r, ']')) return false;
    } else {
        const size_t len = span_of(r, is_host_char);
        if (len == 0 || len > MOST_HOST) return false;
    }
    if (!take(r, ':')) return true;
    const size_t port = span_of(r, is_digit);
    return port != 0 && port <= MOST_PORT;
}

static bool is_path_char(char c) { return is_alnum(c) || (c != '\0' && strchr("-._~!$&'()*+,;=:%/", c)); }

static bool is_url(const char *p, size_t len) {
    static const char *const schemes[] = {"http://",   "https://",   "socks4://", "socks4a://",
                                          "socks5://", "socks5h://", "ftp://"};
    struct rest r = {p, p + len};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const size_t n = strlen(schemes[i]);
        if (len <= n || memcmp(p, schemes[i], n) != 0) continue;
        r.p += n;
        if (!take_authority(&r)) return false;
        if (r.p == r.end) return true;
        return *r.p == '/' && span_of(&r, is_path_char) != 0 && r.p == r.end; /* neither `?', `#' nor `@' */
    }
    return false;
}

static bool is_urls(const char *p, size_t len) { return parts_are(p, len, ' ', is_url); }

static bool is_proxy(const char *p, size_t len) {
    struct rest r = {p, p + len};
    return len == 0 || is_url(p, len) || (take_authority(&r) && r.p == r.end);
}

static bool is_hosts_char(char c) { return is_alnum(c) || (c != '\0' && strchr("-._*:/[]", c)); }

static bool is_hosts_part(const char *p, size_t len) {
    enum { MOST = 262 }; /* a host with its port, or a network */
    while (len && *p == ' ') p++, len--;
    struct rest r = {p, p + len};
    return len <= MOST && span_of(&r, is_hosts_char) == len;
}

static bool is_hosts(const char *p, size_t len) { return parts_are(p, len, ',', is_hosts_part); }

/* ---- any value */

/* The code point that starts at p, of well-formed text without surrogates. */
static uint32_t code_at(const uint8_t *p, size_t *len) {
    if (p[0] < 0x80) {
        *len = 1;
        return p[0];
    }
    *len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t code = p[0] & (0xffu >> (*len + 1));
    for (size_t i = 1; i < *len; i++) code = code << 6 | (p[i] & 0x3fu);
    return code;
}

static bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

static bool in_ranges(const struct upk_env_rule *rule, const struct upk_range *ranges, uint32_t code) {
    for (uint32_t i = 0; i < rule->count; i++) {
        const struct upk_range *const r = &ranges[rule->first + i];
        if (code >= r->lo && code <= r->hi) return true;
    }
    return rule->count == 0;
}

static bool is_text(const struct upk_env_rule *rule, const struct upk_range *ranges, const char *value,
                    size_t len) {
    static const char function[] = "() {"; /* what bash reads as a function that is exported */
    const uint8_t *p = (const uint8_t *)value, *const end = p + len;
    bool ascii;
    if (len >= sizeof function - 1 && memcmp(value, function, sizeof function - 1) == 0) return false;
    if (!utf8_check(p, len, &ascii) || (!ascii && utf8_has_surrogate(p, len))) return false;
    while (p < end) {
        size_t step;
        const uint32_t code = code_at(p, &step);
        if (is_control(code) || !in_ranges(rule, ranges, code)) return false;
        p += step;
    }
    return true;
}

bool upk_env_value_fits(const struct upk_env_rule *rule, const struct upk_range *ranges, const char *value,
                        size_t len) {
    static bool (*const grammars[])(const char *, size_t) = {
        [UPK_ENV_RULE_LOCALE] = is_locale,     [UPK_ENV_RULE_ZONE] = is_zone,
        [UPK_ENV_RULE_PATH] = is_path,         [UPK_ENV_RULE_FILE] = is_file,
        [UPK_ENV_RULE_TERMINAL] = is_terminal, [UPK_ENV_RULE_NUMBER] = is_number,
        [UPK_ENV_RULE_WORD] = is_word,         [UPK_ENV_RULE_USER] = is_user,
        [UPK_ENV_RULE_URL] = is_url,           [UPK_ENV_RULE_URLS] = is_urls,
        [UPK_ENV_RULE_PROXY] = is_proxy,       [UPK_ENV_RULE_HOSTS] = is_hosts,
    };
    if (rule->kind == UPK_ENV_RULE_NONE || rule->kind >= UPK_ENV_RULE_COUNT || len > rule->most) return false;
    if (!is_text(rule, ranges, value, len)) return false;
    if (rule->kind == UPK_ENV_RULE_LOCALES) return parts_are(value, len, ':', is_locale);
    return rule->kind == UPK_ENV_RULE_TEXT || grammars[rule->kind](value, len);
}
