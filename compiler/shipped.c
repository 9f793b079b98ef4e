/* Layer: see shipped.h.  The list is made from the fragments themselves (tools/shipped_names.awk). */
#include "shipped.h"

#include <string.h>

#include "suggest.h"

/* The table takes each macro once, and those that are not there for empty. */
static const struct shipped fragments[] = {
#define FRAGMENT(file, name) {file, name},
#include "shipped.inc"
};
enum { FRAGMENT_COUNT = sizeof fragments / sizeof fragments[0] };

static const struct shipped_class classes[] = {
#define CLASS(module, name, file) {module, name, file},
#include "shipped.inc"
};
enum { CLASS_COUNT = sizeof classes / sizeof classes[0] };

static const struct shipped_class rows[] = {
#define ROW(module, name, file) {module, name, file},
#include "shipped.inc"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const struct {
    const char *file, *other;
} needs[] = {
#define NEED(file, other) {file, other},
#include "shipped.inc"
};
enum { NEED_COUNT = sizeof needs / sizeof needs[0] };

size_t shipped_class_count(void) { return CLASS_COUNT; }

const struct shipped_class *shipped_class_at(size_t i) { return &classes[i]; }

static const struct shipped *fragment_of(const char *file) {
    size_t i = 0;
    while (i + 1 < FRAGMENT_COUNT && strcmp(fragments[i].file, file) != 0) {
        i++;
    }
    return &fragments[i];
}

const struct shipped *shipped_fragment(const struct shipped_class *class) { return fragment_of(class->file); }

const struct shipped *shipped_need(const struct shipped *s, size_t n) {
    for (size_t i = 0; i < NEED_COUNT; i++) {
        if (strcmp(needs[i].file, s->file) == 0 && n-- == 0) {
            return fragment_of(needs[i].other);
        }
    }
    return NULL;
}

const struct shipped *shipped_of_class(struct text module, struct text name) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (text_is(module, classes[i].module) && text_is(name, classes[i].name)) {
            return shipped_fragment(&classes[i]);
        }
    }
    return NULL;
}

const struct shipped *shipped_of_row(struct text module, struct text name) {
    return shipped_next_of_row(module, name, NULL);
}

/* Rows stand in the order of the fragments. */
const struct shipped *shipped_next_of_row(struct text module, struct text name,
                                          const struct shipped *before) {
    const size_t from = before == NULL ? 0 : (size_t)(before - fragments) + 1;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct shipped *const fragment = fragment_of(rows[i].file);
        if ((size_t)(fragment - fragments) >= from && text_is(module, rows[i].module) &&
            text_is(name, rows[i].name)) {
            return fragment;
        }
    }
    return NULL;
}

const struct shipped_class *shipped_named(struct text name) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (text_is(name, classes[i].name)) {
            return &classes[i];
        }
    }
    return NULL;
}

bool shipped_owns(struct text file) {
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        const size_t folder = strcspn(fragments[i].file, "/") + 1;
        if (file.len > folder && memcmp(file.at, fragments[i].file, folder) == 0) {
            return true;
        }
    }
    return false;
}

/* The part of `std.datetime', `std/datetime.policy' and the like that tells them apart: `datetime'. */
static struct text stem(struct text name) {
    static const char tail[] = ".policy";
    const size_t n = sizeof tail - 1;
    if (name.len > n && memcmp(name.at + name.len - n, tail, n) == 0) {
        name.len -= n;
    }
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        const size_t folder = strcspn(fragments[i].file, "/");
        if (name.len > folder + 1 && memcmp(name.at, fragments[i].file, folder) == 0 &&
            (name.at[folder] == '.' || name.at[folder] == '/')) {
            return (struct text){name.at + folder + 1, name.len - folder - 1};
        }
    }
    return name;
}

const struct shipped *shipped_of_name(struct text name) {
    const struct text word = stem(name);
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        if (text_equal(word, stem(text_of(fragments[i].name))) ||
            text_equal(word, stem(text_of(fragments[i].file)))) {
            return &fragments[i];
        }
    }
    return NULL;
}

const struct shipped *shipped_near(struct text name) {
    const struct text word = stem(name);
    struct suggestion near = suggestion_begin(word);
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        suggestion_offer(&near, stem(text_of(fragments[i].name)));
    }
    return suggestion_found(&near) ? shipped_of_name(near.best) : NULL;
}
