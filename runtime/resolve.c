/* Names without a row under a policy that is open to some (`subclasses of`, `fail_open`): what the policy denies, the question to
 * the host, and what its answer comes to.
 *
 * The host says what it has, and judges nothing.  A name is held against the `denies` of the tables and the closed list of
 * dangerous names twice: as the stream spells it, before the host is asked; then by each name that the object has for itself.  A
 * class that inherits from one that is denied or listed by its own name is denied like it; that its module is denied says nothing
 * of classes elsewhere.
 *
 * Layer: runtime, under call.c.
 */
#include <string.h>

#include "machine.h"
#include "text.h"

/* More dots than people nest; and what bounds the work of one name. */
enum { PARTS_MOST = 32 };

/* ---- deny */

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
    return p->parts <= PARTS_MOST;
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

/* ---- refusals */

struct asking {
    struct machine *m;
    bool old;
    struct upk_compat spelled;
};

static bool fail(const struct asking *a, unsigned code) {
    return machine_fail_name(a->m, code, a->old, a->spelled);
}

/* `by`: the other name that is denied; of the stream's own name nothing. */
static bool fail_denied(const struct asking *a, const struct upk_deny *d, const char *what,
                        const struct upk_compat *by) {
    struct upk_error *const e = &a->m->error;
    char module[60], name[60];
    if (a->m->failed) return false;
    (void)fail(a, d ? UPK_ERR_DENIED : UPK_ERR_GLOBAL);
    e->dangerous = e->dangerous || !d;
    if (d) error_place(e, a->m->policy, d->file, d->line);
    if (!by) return false;
    error_copy(module, sizeof module, by->module, by->module_len);
    error_copy(name, sizeof name, by->name, by->name_len);
    (void)snprintf(e->detail, sizeof e->detail, "%s %s::%s", what, module, name);
    return false;
}

/* ---- the stream's name */

static bool judge_name(const struct asking *a, struct upk_compat n) {
    struct path path;
    if (!path_make(&path, n)) {
        (void)fail(a, UPK_ERR_NOT_FOUND);
        (void)snprintf(a->m->error.detail, sizeof a->m->error.detail, "more than %d parts", PARTS_MOST);
        return false;
    }
    const struct upk_deny *const d = deny_find(a->m->policy, &path, false);
    if (d) return fail_denied(a, d, "", NULL);
    if (name_is_dangerous(n.module, n.module_len, n.name, n.name_len)) return fail_denied(a, NULL, "", NULL);
    return true;
}

/* ---- the object's names */

static bool judge_own(const struct asking *a, const struct upk_own_name *names, size_t count, bool ancestor) {
    for (size_t i = 0; i < count; i++) {
        const struct upk_compat n = {(const uint8_t *)names[i].module, names[i].module_len,
                                     (const uint8_t *)names[i].name, names[i].name_len};
        const char *const what = ancestor ? "it inherits from" : "here it is";
        struct path path;
        if (!path_make(&path, n)) return fail_denied(a, NULL, what, &n);
        const struct upk_deny *const d = deny_find(a->m->policy, &path, ancestor);
        const bool listed = name_is_dangerous(n.module, n.module_len, n.name, n.name_len);
        /* What is dangerous about an enum's bases is that they make classes, which an enum with members does not. */
        if (ancestor && listed && bytes_are(n.module, n.module_len, "enum") &&
            (!d || d->flags & UPK_DENY_NEVER))
            continue;
        if (d || listed) return fail_denied(a, d, what, &n);
    }
    return true;
}

static uint32_t row_of_kind(const struct upk_policy *p, uint32_t kind) {
    for (uint32_t i = 1; i < p->open_count; i++) {
        if (p->opens[i].kind == kind) return p->opens[i].row;
    }
    return 0;
}

static bool judge_answer(const struct asking *a, const struct upk_answer *answer, uint32_t *row) {
    const struct upk_policy *const p = a->m->policy;
    if (!judge_own(a, answer->names, answer->name_count, false) ||
        !judge_own(a, answer->ancestors, answer->ancestor_count, true))
        return false;
    *row = 0;
    switch (answer->found) {
    case UPK_FOUND_NO_MODULE: return fail(a, UPK_ERR_NOT_LOADED);
    case UPK_FOUND_NOTHING: return fail(a, UPK_ERR_NOT_FOUND);
    case UPK_FOUND_CLASS: {
        const uint32_t base = answer->base;
        if (base && base < p->open_count && p->opens[base].kind == UPK_OPEN_SUBCLASSES)
            *row = p->opens[base].row;
        else
            *row = row_of_kind(p, UPK_OPEN_CLASS);
        return *row || fail(a, UPK_ERR_NOT_SUBCLASS);
    }
    case UPK_FOUND_CONST: *row = row_of_kind(p, UPK_OPEN_CONST); break;
    case UPK_FOUND_OTHER: break;
    }
    return *row || fail(a, UPK_ERR_NOT_CLASS);
}

/* ---- the question */

static bool ask(const struct asking *a, const struct asked *q, uint32_t *row) {
    const struct upk_options *const o = a->m->options;
    const struct upk_policy *const p = a->m->policy;
    const struct upk_question question = {
        .name = {(const char *)q->module, (const char *)q->name, q->module_len, q->name_len},
        .index = q->index,
        .policy = p,
    };
    struct upk_answer answer = {.found = UPK_FOUND_OTHER};
    if (!o->resolve) {
        const uint32_t any = row_of_kind(p, UPK_OPEN_CLASS);
        *row = any ? any : p->opens[1].row;
        /* Of several bases it could be under any, and each object has one row, by which it is judged at once: which one, nobody
         * here can say, and to take the first would refuse what a host accepts. */
        return any || p->open_count == 2 || fail(a, UPK_ERR_RESOLVER);
    }
    if (!o->resolve(o->resolve_ctx, &question, &answer)) return fail(a, UPK_ERR_RESOLVE);
    return judge_answer(a, &answer, row);
}

/* A text that the document owns. */
static const uint8_t *own(struct machine *m, const uint8_t *text, size_t len) {
    uint8_t *const to = mem_alloc(&m->doc->mem, len ? len : 1);
    if (to) memcpy(to, text, len);
    return to;
}

bool name_ask(struct machine *m, bool old, struct upk_compat spelled, uint32_t *row,
              const struct asked **asked) {
    const struct asking a = {m, old, spelled};
    uint8_t room[NAME_MODERN_ROOM];
    if (m->policy->open_count < 2) return fail(&a, UPK_ERR_GLOBAL);
    const struct upk_compat modern = name_modern(old, spelled, room);
    if (!judge_name(&a, spelled) || !judge_name(&a, modern)) return false;
    if (!fail_over(m, UPK_BUDGET_NAMES, (uint64_t)m->asked + 1)) return false;
    struct asked *const q = mem_alloc(&m->doc->mem, sizeof *q);
    if (!q) return machine_fail_memory(m);
    *q = (struct asked){own(m, modern.module, modern.module_len), own(m, modern.name, modern.name_len),
                        (uint32_t)modern.module_len, (uint32_t)modern.name_len, m->asked};
    if (!q->module || !q->name) return machine_fail_memory(m);
    if (!ask(&a, q, row)) return false;
    m->asked++;
    *asked = q;
    return true;
}
