/* Layer: see shipped.h.  The list is made from the fragments themselves (tools/shipped_names.awk). */
#include "shipped.h"

#include <string.h>

#include "suggest.h"

static const struct shipped FRAGMENTS[] = {
#define FRAGMENT(file, name) {file, name},
#define CLASS(module, name, file)
#include "shipped.inc"
#undef CLASS
#undef FRAGMENT
};
enum { FRAGMENT_COUNT = sizeof FRAGMENTS / sizeof FRAGMENTS[0] };

static const struct {
    const char *module, *name, *file;
} CLASSES[] = {
#define FRAGMENT(file, name)
#define CLASS(module, name, file) {module, name, file},
#include "shipped.inc"
#undef CLASS
#undef FRAGMENT
};
enum { CLASS_COUNT = sizeof CLASSES / sizeof CLASSES[0] };

const struct shipped *shipped_of_class(struct text module, struct text name) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (!text_is(module, CLASSES[i].module) || !text_is(name, CLASSES[i].name)) {
            continue;
        }
        for (size_t k = 0; k < FRAGMENT_COUNT; k++) {
            if (strcmp(FRAGMENTS[k].file, CLASSES[i].file) == 0) {
                return &FRAGMENTS[k];
            }
        }
    }
    return NULL;
}

/* The part of `std.datetime', `std/datetime.policy' and the like that tells them apart: `datetime'. */
static struct text stem(struct text name) {
    static const char tail[] = ".policy";
    const size_t n = sizeof tail - 1;
    if (name.len > n && memcmp(name.at + name.len - n, tail, n) == 0) {
        name.len -= n;
    }
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        const size_t folder = strcspn(FRAGMENTS[i].file, "/");
        if (name.len > folder + 1 && memcmp(name.at, FRAGMENTS[i].file, folder) == 0 &&
            (name.at[folder] == '.' || name.at[folder] == '/')) {
            return (struct text){name.at + folder + 1, name.len - folder - 1};
        }
    }
    return name;
}

const struct shipped *shipped_of_name(struct text name) {
    const struct text word = stem(name);
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        if (text_equal(word, stem(text_of(FRAGMENTS[i].name))) ||
            text_equal(word, stem(text_of(FRAGMENTS[i].file)))) {
            return &FRAGMENTS[i];
        }
    }
    return NULL;
}

const struct shipped *shipped_near(struct text name) {
    const struct text word = stem(name);
    struct suggestion near = suggestion_begin(word);
    for (size_t i = 0; i < FRAGMENT_COUNT; i++) {
        suggestion_offer(&near, stem(text_of(FRAGMENTS[i].name)));
    }
    return suggestion_found(&near) ? shipped_of_name(near.best) : NULL;
}
