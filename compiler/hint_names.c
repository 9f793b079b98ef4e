/* Hints for names that mean nothing: the class, type or fragment that was most likely meant, of this policy or of
 * what ships with policyc.
 *
 * Layer: beside the passes check_references and check_channel, which report such names.
 */
#include <string.h>

#include "shipped.h"
#include "suggest.h"
#include "units.h"

static bool is_included(const struct compilation *c, const struct shipped *shipped) {
    return fragment_find(c, text_of(shipped->name)) != NULL;
}

static void hint_shipped(struct compilation *c, const struct shipped *shipped) {
    if (is_included(c, shipped)) {
        diag_hint(c->diag, "did you mean `%s'?", shipped->name);
    } else {
        diag_hint(c->diag, "a shipped fragment: include \"%s\"; use %s;", shipped->file, shipped->name);
    }
}

void hint_fragment(struct compilation *c, struct text name) {
    struct suggestion near = suggestion_begin(name);
    for (size_t i = 0; i < c->unit_count; i++) {
        suggestion_offer(&near, c->units[i]->file.name.text);
    }
    const struct shipped *shipped = shipped_of_name(name);
    if (shipped == NULL && !suggestion_found(&near)) {
        shipped = shipped_near(name);
    }
    if (shipped != NULL) {
        hint_shipped(c, shipped);
    } else if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
    } else {
        diag_hint(c->diag, "include \"FILE\"; comes first, then it can be used");
    }
}

/* The module in whose block of this compile a row of that name stands, or NULL. */
static const struct ast_item *module_with(const struct unit *u, struct text name) {
    for (const struct ast_node *n = u->file.items.first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        for (const struct ast_node *r = item->kind == AST_MODULE ? item->parts.first : NULL; r != NULL;
             r = r->next) {
            for (const struct ast_node *w = ((const struct ast_row *)r)->names.first; w != NULL;
                 w = w->next) {
                if (text_equal(((const struct ast_name_node *)w)->name.text, name)) {
                    return item;
                }
            }
        }
    }
    return NULL;
}

bool hint_class(struct compilation *c, struct text name) {
    if (diag_error_count(c->diag) > DIAG_MOST_ERRORS) {
        return true; /* the search is long, and nobody reads its result */
    }
    for (size_t i = 0; i < c->unit_count; i++) {
        const struct ast_item *module = module_with(c->units[i], name);
        if (module != NULL) {
            diag_hint(c->diag, "a class is written with its module: `%s::%s'",
                      diag_quote(c->diag, module->name.text), diag_quote(c->diag, name));
            return true;
        }
    }
    const struct shipped_class *class = shipped_named(name);
    if (class != NULL) {
        diag_hint(c->diag,
                  "a class is written with its module: `%s::%s'; a shipped fragment: include \"%s\"; use %s;",
                  class->module, class->name, class->file, shipped_fragment(class)->name);
    }
    return class != NULL;
}

/* Another name of which streams know more: Python calls `pathlib.Path`, and a PosixPath results. */
static const struct shipped_class *shipped_that_ends(struct model_name name) {
    const struct shipped_class *best = NULL;
    for (size_t i = 0; i < shipped_class_count(); i++) {
        const struct shipped_class *s = shipped_class_at(i);
        const size_t len = strlen(s->name);
        if (text_is(name.module, s->module) && len > name.qualname.len && name.qualname.len != 0 &&
            memcmp(s->name + len - name.qualname.len, name.qualname.at, name.qualname.len) == 0 &&
            (best == NULL || len < strlen(best->name))) {
            best = s;
        }
    }
    return best;
}

static void hint_shipped_class(struct compilation *c, struct model_name name) {
    const struct shipped *shipped = shipped_of_class(name.module, name.qualname);
    const struct shipped_class *class = shipped != NULL ? NULL : shipped_that_ends(name);
    if (shipped != NULL && !is_included(c, shipped)) {
        hint_shipped(c, shipped);
    } else if (class != NULL) {
        diag_hint(c->diag, "streams say `%s::%s': include \"%s\"; use %s;", class->module, class->name,
                  class->file, shipped_fragment(class)->name);
    }
}

void hint_producer(struct compilation *c, struct model_name name, const struct model_name *names,
                   size_t count) {
    struct suggestion near = suggestion_begin(name.qualname), module = suggestion_begin(name.module);
    const struct model_name *same = NULL; /* of another module, and the only one */
    size_t same_count = 0;
    /* The search is long, and beyond the cap nobody reads its result. */
    for (size_t i = 0; i < count && diag_error_count(c->diag) <= DIAG_MOST_ERRORS; i++) {
        if (text_equal(names[i].module, name.module)) {
            suggestion_offer(&near, names[i].qualname);
        } else if (text_equal(names[i].qualname, name.qualname)) {
            suggestion_offer(&module, names[i].module);
            same = &names[i];
            same_count++;
        }
    }
    if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s::%s'?", diag_quote(c->diag, name.module),
                  diag_quote(c->diag, near.best));
    } else if (suggestion_found(&module) || same_count == 1) {
        diag_hint(c->diag, "did you mean `%s::%s'?",
                  diag_quote(c->diag, suggestion_found(&module) ? module.best : same->module),
                  diag_quote(c->diag, name.qualname));
    } else {
        hint_shipped_class(c, name);
    }
}
