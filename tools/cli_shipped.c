/* The shipped fragment that grants a name which was refused.
 *
 * Layer: hosts, over the compiler's list of what ships; see cli.h.
 */
#include <stdarg.h>
#include <string.h>

#include "../compiler/shipped.h"
#include "../runtime/upk_tables.h"
#include "cli.h"

static bool is_file(const struct upk_policy *policy, uint32_t index, const char *file) {
    const struct upk_text name = policy->files[index];
    return name.len == strlen(file) && memcmp(policy->pool + name.at, file, name.len) == 0;
}

static bool is_included(const struct upk_policy *policy, const char *file) {
    for (uint32_t i = 0; i < policy->file_count; i++)
        if (is_file(policy, i, file)) return true;
    return false;
}

static bool is_used(const struct upk_policy *policy, const char *file) {
    for (uint32_t i = 0; i < policy->row_count; i++)
        if (policy->rows[i].line && is_file(policy, policy->rows[i].file, file)) return true;
    return false;
}

/* The end of a text in `size` bytes. */
struct end {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct end *end, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(end->at, end->left, format, args);
    va_end(args);
    if (n < 0) return;
    const size_t written = (size_t)n < end->left ? (size_t)n : end->left - 1;
    end->at += written;
    end->left -= written;
}

static void add_include(struct end *end, const struct upk_policy *policy, const struct shipped *s) {
    if (!is_included(policy, s->file)) add(end, "include \"%s\"; ", s->file);
}

bool cli_find_shipped(const struct upk_policy *policy, const struct upk_error *err, char *out, size_t size) {
    char grant[2];
    if (!policy || upk_error_grant(err, grant, sizeof grant) == 0) return false; /* no row is lacking */
    const struct shipped *s = shipped_of_row(text_of(err->module), text_of(err->name)), *need;
    if (!s) return false;
    struct end end = {out, size};
    add_include(&end, policy, s);
    for (size_t i = 0; (need = shipped_need(s, i)) != NULL; i++) add_include(&end, policy, need);
    const struct upk_text channel = policy->channel;
    if (channel.len) add(&end, "channel %.*s { ", (int)channel.len, policy->pool + channel.at);
    add(&end, "use %s", s->name);
    for (size_t i = 0; (need = shipped_need(s, i)) != NULL; i++)
        if (!is_used(policy, need->file)) add(&end, ", %s", need->name);
    add(&end, channel.len ? "; }" : ";");
    return true;
}
