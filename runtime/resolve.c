/* Names without a row under a policy that is open to some (`subclasses of`, `fail_open`): the question to the host, and what its
 * answer comes to.
 *
 * The host says what it has, and judges nothing.  A name is held against what is denied (deny.c) twice: as the stream spells it,
 * before the host is asked; then by each name that the object has for itself.
 *
 * Layer: runtime, under call.c.
 */
#include <string.h>

#include "machine.h"
#include "text.h"

/* ---- refusals */

struct asking {
    struct machine *m;
    bool old;
    struct upk_compat spelled;
};

static bool fail(const struct asking *a, unsigned code) {
    return machine_fail_name(a->m, code, a->old, a->spelled);
}

/* `what`: how another name came into it; NULL: the stream's own is denied. */
static bool fail_denied(const struct asking *a, const struct denial *d, const char *what) {
    struct upk_error *const e = &a->m->error;
    char module[60], name[60];
    if (a->m->failed) return false;
    (void)fail(a, d->by ? UPK_ERR_DENIED : UPK_ERR_GLOBAL);
    e->dangerous = e->dangerous || !d->by;
    if (d->by) error_place(e, a->m->policy, d->by->file, d->by->line);
    if (!what) return false;
    error_copy(module, sizeof module, d->name.module, d->name.module_len);
    error_copy(name, sizeof name, d->name.name, d->name.name_len);
    (void)snprintf(e->detail, sizeof e->detail, "%s %s::%s", what, module, name);
    return false;
}

/* ---- the stream's name */

static bool judge_name(const struct asking *a, struct upk_compat n) {
    struct denial d;
    if (!denial_of(a->m->policy, n, false, &d)) return true;
    if (!d.unread) return fail_denied(a, &d, NULL);
    (void)fail(a, UPK_ERR_NOT_FOUND);
    (void)snprintf(a->m->error.detail, sizeof a->m->error.detail, "more than %d parts", DENY_PARTS_MOST);
    return false;
}

/* ---- the object's names */

static bool judge_own(const struct asking *a, const struct upk_answer *answer) {
    struct denial d;
    if (denial_among(a->m->policy, answer->names, answer->name_count, false, &d))
        return fail_denied(a, &d, "here it is");
    return !denial_among(a->m->policy, answer->ancestors, answer->ancestor_count, true, &d) ||
           fail_denied(a, &d, "it inherits from");
}

static uint32_t row_of_kind(const struct upk_policy *p, uint32_t kind) {
    for (uint32_t i = 1; i < p->open_count; i++) {
        if (p->opens[i].kind == kind) return p->opens[i].row;
    }
    return 0;
}

static bool judge_answer(const struct asking *a, const struct upk_answer *answer, uint32_t *row) {
    const struct upk_policy *const p = a->m->policy;
    if (!judge_own(a, answer)) return false;
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
