/* The walk of the printers: tasks on an explicit stack, the path for `up`, sorted sets, output and its
 * limits.
 *
 * Layer: private to the runtime, over doc.h and scratch.h.
 */
#include "print_walk.h"

#include <inttypes.h>
#include <string.h>

#include "scratch.h"

enum { FLUSH_AT = 1 << 15 };

enum task_kind { TASK_TEXT, TASK_VALUE, TASK_SPAN, TASK_LEAVE };

struct print_task {
    enum task_kind kind;
    /* TASK_SPAN: 0 before a member, 1 before a pair's value, 2 behind a member */
    uint8_t phase;
    bool started;
    union {
        const char *text;
        struct upk_value value;
        struct {
            const struct upk_value *at;
            size_t left;
            const struct print_style *style;
            size_t first; /* sorted: its first entry in `starts` */
        } span;
    } as;
};

struct print_level {
    const struct upk_cell *cell; /* NULL: free */
    size_t index;
};

/* ---- failure */

/* `figure` 0: a limit of printing, which raising the budget would not lift. */
static void fail_limit(struct print *p, uint64_t figure, const char *what) {
    if (p->failed) return;
    p->failed = true;
    if (!p->err) return;
    error_set(p->err, UPK_ERR_BUDGET, p->doc->stop_at, UPK_OP_STOP);
    error_policy(p->err, p->doc->policy);
    p->err->budget = UPK_BUDGET_EXPANDED;
    p->err->limit = p->doc->expanded_budget;
    p->err->figure = figure;
    error_copy(p->err->detail, sizeof p->err->detail, (const uint8_t *)what, strlen(what));
}

static void fail_values(struct print *p) {
    char what[80];
    if (p->value_limit == p->doc->expanded_budget) {
        fail_limit(p, p->value_limit + 1, "printed text");
    } else {
        snprintf(what, sizeof what, "a cyclic value of this size is printed up to %" PRIu64 " values",
                 p->value_limit);
        fail_limit(p, 0, what);
    }
}

void print_no_memory(struct print *p) {
    if (p->failed) return;
    p->failed = true;
    if (!p->err) return;
    error_set(p->err, p->mem.over_cap ? UPK_ERR_BUDGET : UPK_ERR_MEMORY, p->doc->stop_at, UPK_OP_STOP);
    error_policy(p->err, p->doc->policy);
    if (p->mem.over_cap) {
        p->err->budget = UPK_BUDGET_MEMORY;
        p->err->limit = p->mem.cap;
        p->err->figure = p->mem.cap + 1;
    }
}

/* As array_room, NULL also where the walk has failed before. */
static void *grow(struct print *p, void *array, size_t *room, size_t need, size_t size) {
    if (p->failed) return NULL;
    void *to = array_room(&p->mem, array, room, need, size);
    if (!to) print_no_memory(p);
    return to;
}

/* ---- output */

static void flush(struct print *p) {
    if (p->failed || p->text_len == 0) return;
    if (!p->sink(p->ctx, (const char *)p->text, p->text_len)) {
        p->failed = true;
        if (p->err) memset(p->err, 0, sizeof *p->err);
    }
    p->text_len = 0;
}

static bool charge_bytes(struct print *p, size_t len) {
    if (len > p->bytes_left) {
        fail_limit(p, 0, "the printed text is too long");
        return false;
    }
    p->bytes_left -= len;
    return true;
}

void print_bytes(struct print *p, const void *bytes, size_t len) {
    if (p->failed || len == 0 || !charge_bytes(p, len)) return;
    if (!p->sorting && p->text_len >= FLUSH_AT) flush(p);
    uint8_t *text = grow(p, p->text, &p->text_room, p->text_len + len, 1);
    if (!text) return;
    p->text = text;
    memcpy(text + p->text_len, bytes, len);
    p->text_len += len;
}

void print_string(struct print *p, const char *text) { print_bytes(p, text, strlen(text)); }

void print_char(struct print *p, char c) { print_bytes(p, &c, 1); }

/* ---- tasks */

static struct print_task *push(struct print *p, enum task_kind kind) {
    struct print_task *tasks = grow(p, p->tasks, &p->task_room, p->task_count + 1, sizeof *tasks);
    if (!tasks) return NULL;
    p->tasks = tasks;
    struct print_task *t = &tasks[p->task_count++];
    memset(t, 0, sizeof *t);
    t->kind = kind;
    return t;
}

void plan_text(struct print *p, const char *text) {
    struct print_task *t = push(p, TASK_TEXT);
    if (t) t->as.text = text;
}

void plan_value(struct print *p, struct upk_value v) {
    struct print_task *t = push(p, TASK_VALUE);
    if (t) t->as.value = v;
}

void plan_span(struct print *p, const struct upk_value *at, size_t len, const struct print_style *style) {
    if (len == 0) return;
    struct print_task *t = push(p, TASK_SPAN);
    if (!t) return;
    t->as.span.at = at;
    t->as.span.left = len;
    t->as.span.style = style;
}

void plan_cell(struct print *p, struct upk_cell *c, const struct print_style *style) {
    plan_span(p, c->items, c->len, style);
}

void plan_parts(struct print *p, const char *head, struct upk_cell *first, struct upk_cell *second,
                const struct print_style *style, const char *tail) {
    bool has_first = first && first->len > 0, has_second = second && second->len > 0;
    if (!has_first && !has_second) return;
    plan_text(p, head);
    if (has_first) plan_cell(p, first, style);
    if (has_first && has_second) plan_text(p, style->separator);
    if (has_second) plan_cell(p, second, style);
    plan_text(p, tail);
}

/* ---- the path */

static size_t level_slot(const struct print *p, const struct upk_cell *c) {
    uint64_t h = (uint64_t)(uintptr_t)c * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(h >> 20) & (p->level_room - 1);
    while (p->levels[i].cell && p->levels[i].cell != c) i = (i + 1) & (p->level_room - 1);
    return i;
}

static void level_add(struct print *p, const struct upk_cell *c, size_t index) {
    size_t i = level_slot(p, c);
    p->levels[i].cell = c;
    p->levels[i].index = index;
}

/* A table of at least twice the path.  The path is entered in its order, so that the last entry is always the
 * one that may be removed without breaking the probe sequence of another. */
static bool levels_make_room(struct print *p) {
    if (2 * (p->path_len + 1) <= p->level_room) return true;
    size_t room = p->level_room ? 2 * p->level_room : 256;
    struct print_level *levels = mem_resize(&p->mem, NULL, 0, room * sizeof *levels);
    if (!levels) {
        print_no_memory(p);
        return false;
    }
    memset(levels, 0, room * sizeof *levels);
    mem_resize(&p->mem, p->levels, p->level_room * sizeof *p->levels, 0);
    p->levels = levels;
    p->level_room = room;
    for (size_t i = 0; i < p->path_len; i++) level_add(p, p->path[i], i);
    return true;
}

static void enter(struct print *p, struct upk_value v) {
    struct upk_cell *c = v.as.cell;
    if (p->doc->cyclic) {
        if (!levels_make_room(p)) return;
        size_t slot = level_slot(p, c);
        if (p->levels[slot].cell) {
            p->form->up(p, v, p->path_len - p->levels[slot].index);
            return;
        }
        level_add(p, c, p->path_len);
    }
    struct upk_cell **path = grow(p, p->path, &p->path_room, p->path_len + 1, sizeof(struct upk_cell *));
    if (!path) return;
    p->path = path;
    path[p->path_len++] = c;
    if (!push(p, TASK_LEAVE)) return;
    size_t first = p->task_count;
    p->form->compound(p, v);
    if (p->failed || p->task_count == first) return;
    for (size_t i = first, j = p->task_count - 1; i < j; i++, j--) {
        struct print_task t = p->tasks[i];
        p->tasks[i] = p->tasks[j];
        p->tasks[j] = t;
    }
}

static void leave(struct print *p) {
    struct upk_cell *c = p->path[--p->path_len];
    if (p->doc->cyclic) p->levels[level_slot(p, c)].cell = NULL;
}

/* ---- values and spans */

static void visit(struct print *p, struct upk_value v) {
    if (p->values_left == 0) {
        fail_values(p);
        return;
    }
    p->values_left--;
    if (!p->form->raw) v = value_resolve(v);
    if (kind_is_compound(v.kind)) {
        enter(p, v);
    } else {
        p->form->leaf(p, v);
    }
}

static void sort_member_texts(struct print *p, size_t first, const char *separator);

static void span_end(struct print *p, const struct print_task *t) {
    if (!t->as.span.style->sorted) return;
    size_t first = t->as.span.first;
    sort_member_texts(p, first, t->as.span.style->separator);
    p->start_count = first;
    p->sorting--;
}

/* One step of the span on top of the stack.  What a member plans comes to lie above it. */
static void span_step(struct print *p) {
    struct print_task *t = &p->tasks[p->task_count - 1];
    const struct print_style *style = t->as.span.style;
    struct upk_value v;
    switch (t->phase) {
    case 0:
        if (t->as.span.left == 0) {
            struct print_task done = *t;
            p->task_count--;
            span_end(p, &done);
            return;
        }
        if (style->sorted) {
            if (!t->started) {
                t->as.span.first = p->start_count;
                p->sorting++;
            }
            size_t *starts = grow(p, p->starts, &p->start_room, p->start_count + 1, sizeof *starts);
            if (!starts) return;
            p->starts = starts;
            starts[p->start_count++] = p->text_len;
        } else if (t->started) {
            print_string(p, style->separator);
        }
        t->started = true;
        t->phase = style->between ? 1 : 2;
        v = *t->as.span.at++;
        t->as.span.left--;
        print_string(p, style->before);
        visit(p, v);
        return;
    case 1:
        t->phase = 2;
        v = *t->as.span.at++;
        t->as.span.left--;
        print_string(p, style->between);
        visit(p, v);
        return;
    default:
        t->phase = 0;
        print_string(p, style->after);
        return;
    }
}

/* The texts of the members of a set stand one behind the other at the end of `text`: put them in order,
 * separated. */
static void sort_member_texts(struct print *p, size_t first, const char *separator) {
    size_t n = p->start_count - first, gap = strlen(separator);
    if (p->failed || n < 2) return;
    size_t begin = p->starts[first], size = p->text_len - begin;
    if (n - 1 > (SIZE_MAX - size) / (gap + 1)) {
        print_no_memory(p);
        return;
    }
    size_t whole = size + (n - 1) * gap;
    if (!charge_bytes(p, whole)) return;
    uint8_t *copy = mem_resize(&p->mem, NULL, 0, size + 1);
    struct upk_bytes *members = copy ? mem_resize(&p->mem, NULL, 0, n * sizeof *members) : NULL;
    if (!members) {
        if (copy) mem_resize(&p->mem, copy, size + 1, 0);
        print_no_memory(p);
        return;
    }
    uint8_t *text = grow(p, p->text, &p->text_room, begin + whole, 1);
    if (text) {
        p->text = text;
        memcpy(copy, p->text + begin, size);
        for (size_t i = 0; i < n; i++) {
            size_t from = p->starts[first + i], to = i + 1 < n ? p->starts[first + i + 1] : p->text_len;
            members[i].data = copy + (from - begin);
            members[i].len = to - from;
        }
        bytes_sort(members, n);
        uint8_t *to = p->text + begin;
        for (size_t i = 0; i < n; i++) {
            if (i > 0) {
                memcpy(to, separator, gap);
                to += gap;
            }
            memcpy(to, members[i].data, members[i].len);
            to += members[i].len;
        }
        p->text_len = begin + whole;
    }
    mem_resize(&p->mem, members, n * sizeof *members, 0);
    mem_resize(&p->mem, copy, size + 1, 0);
}

/* ---- the whole */

static uint64_t multiply_saturated(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static void set_limits(struct print *p) {
    const struct upk_doc *doc = p->doc;
    p->value_limit = doc->expanded_budget;
    if (doc->cyclic) { /* then sizes were measured */
        uint64_t size = kind_is_compound(doc->root.kind) ? doc->root.as.cell->size : 1,
                 most = 4 * size + PRINT_CYCLIC_SLACK;
        if (most < p->value_limit) p->value_limit = most;
    }
    uint64_t input = doc->stop_at;
    for (size_t i = 0; i < doc->buffer_count; i++) input = add_saturated(input, doc->buffers[i].len);
    p->values_left = p->value_limit;
    p->bytes_left = add_saturated(multiply_saturated(p->value_limit, PRINT_VALUE_BYTES),
                                  multiply_saturated(input, PRINT_INPUT_FACTOR));
}

static void run(struct print *p) {
    visit(p, p->doc->root);
    while (p->task_count > 0 && !p->failed) {
        struct print_task *t = &p->tasks[p->task_count - 1];
        switch (t->kind) {
        case TASK_TEXT: {
            const char *text = t->as.text;
            p->task_count--;
            print_string(p, text);
            break;
        }
        case TASK_VALUE: {
            struct upk_value v = t->as.value;
            p->task_count--;
            visit(p, v);
            break;
        }
        case TASK_SPAN: span_step(p); break;
        case TASK_LEAVE:
            p->task_count--;
            leave(p);
            break;
        }
    }
    flush(p);
}

bool print_document(const struct upk_doc *doc, const struct print_form *form, upk_sink sink, void *ctx,
                    struct upk_error *err) {
    struct print p = {.doc = doc, .form = form, .sink = sink, .ctx = ctx, .err = err};
    if (!doc || !sink) {
        if (err) error_set(err, UPK_ERR_MISUSE, 0, UPK_OP_UNKNOWN);
        return false;
    }
    mem_init(&p.mem, &doc->mem.allocator, doc->mem.cap);
    set_limits(&p);
    run(&p);
    array_free(&p.mem, p.text, p.text_room, 1);
    array_free(&p.mem, p.tasks, p.task_room, sizeof *p.tasks);
    array_free(&p.mem, p.path, p.path_room, sizeof *p.path);
    array_free(&p.mem, p.levels, p.level_room, sizeof *p.levels);
    array_free(&p.mem, p.starts, p.start_room, sizeof *p.starts);
    print_numbers_free(&p);
    mem_free(&p.mem);
    return !p.failed;
}
