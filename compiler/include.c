/* Finds, reads and parses the main file and what it includes.  Each file is parsed on its own and included
 * once; where an include leads is a matter of names only, and nothing outside of the tree it begins in is
 * ever opened.
 *
 * Layer: above syntax; first pass of a compile.
 */
#define _XOPEN_SOURCE 700

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shipped.h"
#include "source_admit.h"
#include "syntax.h"
#include "units.h"

enum { MOST_DEPTH = 16, MOST_FILES = 256, MOST_TOTAL_BYTES = 64 << 20, PATH_BYTES = 4096 };

struct unit *unit_main(const struct compilation *c) {
    return c->units[c->unit_count - 1];
}

/* Plain relative path: parts without `.` and `..`, printable ASCII, no backslash. */
static bool name_is_safe(struct text name) {
    size_t part = 0;
    if (name.len == 0 || name.len >= PATH_BYTES / 2) {
        return false;
    }
    for (size_t i = 0; i <= name.len; i++) {
        if (i == name.len || name.at[i] == '/') {
            struct text t = {name.at + part, i - part};
            if (t.len == 0 || text_is(t, ".") || text_is(t, "..")) {
                return false;
            }
            part = i + 1;
        } else if (name.at[i] <= ' ' || name.at[i] > '~' || name.at[i] == '\\') {
            return false;
        }
    }
    return true;
}

/* With its last slash; empty: the working folder, not named. */
static struct text directory_of(struct text path) {
    size_t len = path.len;
    while (len > 0 && path.at[len - 1] != '/') {
        len--;
    }
    return (struct text){path.at, len};
}

/* Parses the bytes of `source`, which is complete but for its lines. */
static struct unit *unit_parse(struct compilation *c, struct source *source) {
    struct unit *u = mem_alloc(c->mem, 1, sizeof *u);
    uint32_t index = UINT32_MAX;
    const bool good = u != NULL && source_admit(c->diag, source, &index);
    if (index == UINT32_MAX) {
        diag_memory(c);
        return NULL;
    }
    u->source = index;
    u->broken = true;
    c->files_lost = c->files_lost || !source->quotable;
    if (!good) {
        return u;
    }
    (void)syntax_parse(c->mem, c->diag, index, &u->file);
    c->rows_lost = c->rows_lost || u->file.items_lost || u->file.rows_lost;
    u->broken = !u->file.has_header;
    return u;
}

static bool unit_done(struct compilation *c, struct unit *u) {
    struct unit **grown = mem_grow(c->mem, c->units, c->unit_count, &c->unit_room, sizeof *grown);
    if (grown == NULL) {
        diag_memory(c);
        return false;
    }
    c->units = grown;
    c->units[c->unit_count++] = u;
    return true;
}

/* Files being included now, outermost first. */
struct chain {
    struct unit *units[MOST_DEPTH];
    size_t count;
};

struct found {
    char path[PATH_BYTES]; /* to open: without links */
    char shown[PATH_BYTES];
    const char *searched; /* the -I folder it was found in; NULL: beside the including file, or shipped */
};

enum look { LOOK_FOUND, LOOK_ABSENT, LOOK_OUTSIDE };

/* The file is shown as the including one is: with its folder as that was given. */
static enum look look_in(struct text base, struct text name, struct found *f) {
    char root[PATH_BYTES];
    const char *slash = base.len == 0 || base.at[base.len - 1] == '/' ? "" : "/";
    int n = snprintf(root, sizeof root, "%.*s%s", (int)base.len, base.at, base.len == 0 ? "." : "");
    int m = snprintf(f->shown, sizeof f->shown, "%.*s%s%.*s", (int)base.len, base.at, slash, (int)name.len,
                     name.at);
    if (n < 0 || (size_t)n >= sizeof root || m < 0 || (size_t)m >= sizeof f->shown) {
        return LOOK_ABSENT;
    }
    char *real_root = realpath(root, NULL), *real = realpath(f->shown, NULL);
    enum look look = LOOK_ABSENT;
    if (real_root != NULL && real != NULL && strlen(real) < sizeof f->path) {
        size_t len = strlen(real_root);
        bool inside = strcmp(real_root, "/") == 0 || (strncmp(real, real_root, len) == 0 && real[len] == '/');
        look = inside ? LOOK_FOUND : LOOK_OUTSIDE;
        memcpy(f->path, real, strlen(real) + 1);
    }
    free(real_root);
    free(real);
    return look;
}

static enum look look_up(struct compilation *c, const struct unit *from, struct text name, struct found *f) {
    const struct compile_options *o = c->options;
    if (shipped_owns(name)) {
        return o->policy_dir == NULL ? LOOK_ABSENT : look_in(text_of(o->policy_dir), name, f);
    }
    enum look look = from->real.len == 0 ? LOOK_ABSENT : look_in(from->directory, name, f);
    for (size_t i = 0; i < o->include_dir_count && look == LOOK_ABSENT; i++) {
        f->searched = o->include_dirs[i];
        look = look_in(text_of(f->searched), name, f);
    }
    return look;
}

static bool is_taken(const struct compilation *c, struct text table_name) {
    for (size_t i = 0; i < c->diag->source_count; i++) {
        if (text_equal(c->diag->sources[i].table_name, table_name)) {
            return true;
        }
    }
    return false;
}

/* Names the file as the tables do: from the folder of the main file on, or from the -I folder that it is in or below.  Where
 * another file has that name already, with the -I folder as it was given, or with a number. */
static void table_name_make(struct compilation *c, struct source *s, const struct unit *from,
                            const struct found *f, struct text name) {
    const bool beside = f->searched == NULL && !shipped_owns(name);
    const struct text folder =
        beside ? directory_of(c->diag->sources[from->source].table_name) : (struct text){"", 0};
    char at[2 * PATH_BYTES];
    for (unsigned attempt = 0; attempt <= MOST_FILES; attempt++) {
        int len = 0;
        if (attempt == 1 && f->searched != NULL) {
            len = snprintf(at, sizeof at, "%s/%.*s", f->searched, (int)name.len, name.at);
        } else if (attempt != 1) {
            len = snprintf(at, sizeof at, attempt == 0 ? "%.*s%.*s" : "%.*s%.*s (%u)", (int)folder.len,
                           folder.at, (int)name.len, name.at, attempt);
        }
        if (len > 0 && (size_t)len < sizeof at && !is_taken(c, (struct text){at, (size_t)len})) {
            (void)mem_text(&c->diag->mem, at, (size_t)len, &s->table_name);
            return;
        }
    }
}

static void hint_absent(struct compilation *c, struct text name) {
    const struct shipped *shipped =
        shipped_of_name(name) != NULL ? shipped_of_name(name) : shipped_near(name);
    const char *const folder = c->options->policy_dir;
    if (shipped != NULL && text_is(name, shipped->file)) {
        diag_hint(c->diag, "the shipped policies do not stand in %s: --policy-dir DIR",
                  folder ? diag_quote(c->diag, text_of(folder)) : "any folder that was named");
    } else if (shipped != NULL) {
        diag_hint(c->diag, "did you mean \"%s\"?", shipped->file);
    } else {
        diag_hint(c->diag, shipped_owns(name)
                               ? "what ships with policyc is looked up among the shipped policies only"
                               : "looked up beside this file, then in each -I folder");
    }
}

/* NULL where the file cannot be included; the reason was reported. */
static struct unit *include_open(struct compilation *c, const struct chain *chain,
                                 const struct ast_item *item) {
    const struct ast_word *name = &item->name;
    /* In the diag's arena, as all of a source: messages are written when the compile's own is gone. */
    struct found *f = mem_alloc(&c->diag->mem, 1, sizeof *f);
    if (f == NULL) {
        diag_memory(c);
        return NULL;
    }
    if (!name_is_safe(name->text)) {
        diag_error(c->diag, name->span, P_INCLUDE_PATH, "no name of a file to include");
        diag_hint(c->diag, "it is relative, of plain ASCII, and has no `.' or `..' among its parts");
        return NULL;
    }
    switch (look_up(c, chain->units[chain->count - 1], name->text, f)) {
    case LOOK_OUTSIDE:
        diag_error(c->diag, name->span, P_INCLUDE_PATH, "`%s' is a link that leaves its folder",
                   diag_quote(c->diag, name->text));
        return NULL;
    case LOOK_ABSENT:
        diag_error(c->diag, name->span, P_INCLUDE_NOT_FOUND, "there is no `%s'",
                   diag_quote(c->diag, name->text));
        hint_absent(c, name->text);
        return NULL;
    case LOOK_FOUND: break;
    }
    struct text real = text_of(f->path);
    for (size_t i = 0; i < chain->count; i++) {
        if (text_equal(chain->units[i]->real, real)) {
            diag_error(c->diag, name->span, P_INCLUDE_CYCLE, "`%s' includes itself",
                       diag_quote(c->diag, name->text));
            return NULL;
        }
    }
    for (size_t i = 0; i < c->unit_count; i++) {
        if (text_equal(c->units[i]->real, real)) {
            return c->units[i];
        }
    }
    if (chain->count == MOST_DEPTH || c->unit_count + chain->count >= MOST_FILES) {
        diag_error(c->diag, name->span, P_TOO_MANY, "at most %d files, included at most %d deep", MOST_FILES,
                   MOST_DEPTH);
        return NULL;
    }
    struct source source = {.name = text_of(f->shown), .path = text_of(f->shown)};
    table_name_make(c, &source, chain->units[chain->count - 1], f, name->text);
    int error = 0;
    enum source_fault fault = source_read(&c->diag->mem, f->path, &source.bytes, &error);
    if (fault == SOURCE_GOOD && source.bytes.len > MOST_TOTAL_BYTES - c->bytes) {
        fault = SOURCE_TOO_LARGE;
    }
    if (fault != SOURCE_GOOD) {
        diag_error(c->diag, name->span, P_NOT_READ, "`%s' cannot be read: %s",
                   diag_quote(c->diag, name->text), source_fault_text(fault, error));
        return NULL;
    }
    c->bytes += source.bytes.len;
    struct unit *u = unit_parse(c, &source);
    if (u != NULL) {
        u->real = real;
        u->directory = directory_of(source.path);
    }
    return u;
}

static bool units_open(struct compilation *c, struct chain *chain, struct unit *u);

static bool include_all(struct compilation *c, struct chain *chain, const struct unit *u) {
    for (const struct ast_node *n = u->file.items.first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        if (item->kind != AST_INCLUDE || item->name.bad) {
            continue;
        }
        size_t done = c->unit_count;
        struct unit *included = include_open(c, chain, item);
        if (included == NULL) {
            c->files_lost = true;
            continue;
        }
        if (included->file.has_header && included->file.is_policy) {
            diag_error(c->diag, item->name.span, P_INCLUDE_POLICY,
                       "`%s' is a policy; only fragments are included", diag_quote(c->diag, item->name.text));
            diag_note(c->diag, included->file.name.span, "its header");
            included->broken = true;
            c->files_lost = true;
            continue;
        }
        bool old = false;
        for (size_t i = 0; i < done; i++) {
            old = old || c->units[i] == included;
        }
        if (!old && !units_open(c, chain, included)) {
            return false;
        }
    }
    return !c->mem->failed;
}

/* Recursion is bounded by MOST_DEPTH. */
static bool units_open(struct compilation *c, struct chain *chain, struct unit *u) {
    chain->units[chain->count++] = u;
    bool good = include_all(c, chain, u);
    chain->count--;
    return good && unit_done(c, u);
}

bool units_load(struct compilation *c) {
    const struct compile_options *o = c->options;
    const char *path = o->path == NULL ? "policy" : o->path;
    struct source source = {.name = text_of(path), .path = text_of(path), .table_name = text_of(path)};
    for (size_t i = 0; path[i] != '\0'; i++) {
        if (path[i] == '/') {
            source.table_name = text_of(path + i + 1);
        }
    }
    int error = 0;
    enum source_fault fault = SOURCE_GOOD;
    if (o->text == NULL) {
        fault = source_read(&c->diag->mem, path, &source.bytes, &error);
    } else if (o->text_len > SOURCE_MOST_BYTES) {
        fault = SOURCE_TOO_LARGE;
    } else if (!mem_text(&c->diag->mem, o->text, o->text_len, &source.bytes)) {
        fault = SOURCE_NO_MEMORY;
    }
    if (fault != SOURCE_GOOD) {
        c->diag->io = fault == SOURCE_NOT_READ || fault == SOURCE_NOT_FILE;
        diag_error_nowhere(c->diag, P_NOT_READ, "%s: %s", diag_quote(c->diag, text_of(path)),
                           source_fault_text(fault, error));
        return false;
    }
    c->bytes = source.bytes.len;
    struct unit *u = unit_parse(c, &source);
    if (u == NULL) {
        return false;
    }
    char *real = o->text == NULL ? realpath(path, NULL) : NULL;
    if (real != NULL) {
        (void)mem_text(c->mem, real, strlen(real), &u->real);
        free(real);
        u->directory = directory_of(source.path);
    }
    struct chain chain = {.count = 0};
    return units_open(c, &chain, u) && !u->broken;
}
