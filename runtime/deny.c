/* What a policy denies of names without a row: its `never` and `deny` lines, and the closed list of dangerous names.
 *
 * A name of a stream, and each name that the host's object has for itself, is held against the same lists.  A class that inherits
 * from one that is denied or listed by its own name is denied like it; that its module is denied says nothing of classes elsewhere.
 *
 * Layer: runtime, beside resolve.c; hosts ask it of what a class's own code has returned, and of classes that a descriptor names.
 */
#include <string.h>

#include "deny.h"
#include "doc.h"

/* A dotted path: a module and a name in it.  Scopes of modules may begin at a dot of the name, too: `shutil::os.system`. */
struct path {
    char bytes[2 * UPK_NAME_MOST + 1];
    size_t module_len, len, parts;
};

static bool path_make(struct path *p, struct upk_compat n) {
    p->len = n.module_len + 1 + n.name_len;
    p->module_len = n.module_len;
    p->parts = 1;
    if (n.module_len > UPK_NAME_MOST || n.name_len > UPK_NAME_MOST) return false;
    memcpy(p->bytes, n.module, n.module_len);
    p->bytes[n.module_len] = '.';
    memcpy(p->bytes + n.module_len + 1, n.name, n.name_len);
    for (size_t i = 0; i < p->len; i++) p->parts += p->bytes[i] == '.';
    return p->parts <= DENY_PARTS_MOST;
}

/* Does a scope of this kind whose path is that of `p` between `from` and `end` mean it? */
static bool covers(uint32_t kind, const struct path *p, size_t from, size_t end) {
    switch ((enum upk_deny_kind)kind) {
    case UPK_DENY_NAME: return from != 0 || end > p->module_len;
    case UPK_DENY_MODULE: return end < p->len && (from != 0 || end >= p->module_len);
    case UPK_DENY_TREE: return end < p->len;
    case UPK_DENY_NONE: break;
    }
    return false;
}

/* The first entry of this path; deny_count where there is none. */
static uint32_t first_of(const struct upk_policy *p, const char *at, size_t len) {
    uint32_t lo = 1, hi = p->deny_count;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const struct upk_text t = p->denies[mid].path;
        if (bytes_compare(p->pool + t.at, t.len, at, len) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_path(const struct upk_policy *p, const struct upk_deny *d, const char *at, size_t len) {
    return d->path.len == len && memcmp(p->pool + d->path.at, at, len) == 0;
}

static const struct upk_deny *deny_from(const struct upk_policy *p, const struct path *path, size_t from,
                                        bool ancestor) {
    const bool fails_open = p->flags & UPK_POLICY_FAIL_OPEN;
    for (size_t end = from + 1; end <= path->len; end++) {
        if (end != path->len && path->bytes[end] != '.') continue;
        const char *const at = path->bytes + from;
        uint32_t i = first_of(p, at, end - from);
        for (; i < p->deny_count && is_path(p, &p->denies[i], at, end - from); i++) {
            const struct upk_deny *const d = &p->denies[i];
            const bool holds = (fails_open || d->flags & UPK_DENY_NEVER) &&
                               (!ancestor || (d->kind == UPK_DENY_NAME && end == path->len));
            if (holds && covers(d->kind, path, from, end)) return d;
        }
    }
    return NULL;
}

/* What denies the path; NULL: nothing.  `ancestor`: only what means this very class. */
static const struct upk_deny *deny_find(const struct upk_policy *p, const struct path *path, bool ancestor) {
    const struct upk_deny *found = deny_from(p, path, 0, ancestor);
    for (size_t from = path->module_len + 1; from < path->len && !found && !ancestor; from++)
        if (from == path->module_len + 1 || path->bytes[from - 1] == '.')
            found = deny_from(p, path, from, false);
    return found;
}

bool denial_of(const struct upk_policy *p, struct upk_compat n, bool ancestor, struct denial *out) {
    struct path path;
    *out = (struct denial){.name = n, .unread = !path_make(&path, n)};
    if (out->unread) return true;
    const struct upk_deny *const line = deny_find(p, &path, ancestor);
    if (ancestor &&
        deny_spares_enums((const char *)n.module, n.module_len, (const char *)n.name, n.name_len, line))
        return false;
    out->by = line;
    return line || name_is_dangerous(n.module, n.module_len, n.name, n.name_len);
}

bool denial_among(const struct upk_policy *p, const struct upk_own_name *names, size_t count, bool ancestor,
                  struct denial *out) {
    for (size_t i = 0; i < count; i++) {
        const struct upk_compat n = {(const uint8_t *)names[i].module, names[i].module_len,
                                     (const uint8_t *)names[i].name, names[i].name_len};
        if (denial_of(p, n, ancestor, out)) return true;
    }
    return false;
}
