/* Dicts that have the keys of earlier ones: records repeat.
 *
 * The machine numbers dicts whose keys are the same texts in the same order (doc.h).  When the first with a number is met, which is
 * the second of its kind, a dict with these keys is made, each with None; that one and those after it begin as copies and get their
 * values: no key is looked for one by one, and a copy's table is as CPython makes it for text, smaller than one of its final size.
 * Layer: see build.h.
 */
#include "build.h"

enum { NUMBERS = UINT8_MAX + 1 };
_Static_assert(sizeof((struct upk_cell *)NULL)->op == 1, "numbers of dicts are below NUMBERS");

static bool patterns_begin(struct call *c) {
    struct builder *const b = c->builder;
    b->patterns = mem_resize(&c->doc->mem, NULL, 0, NUMBERS * sizeof *b->patterns);
    if (!b->patterns) return refuse_memory(c);
    mem_clear(b->patterns, NUMBERS * sizeof *b->patterns);
    return true;
}

void patterns_free(struct call *c) {
    struct dict_pattern *const all = c->builder->patterns;
    for (size_t i = 0; i < NUMBERS; i++) {
        Py_XDECREF(all[i].keys);
        Py_XDECREF(all[i].dict);
    }
    array_free(&c->doc->mem, all, NUMBERS, sizeof *all);
}

static bool pattern_fill(struct call *c, const struct upk_cell *like, PyObject *keys, PyObject *dict) {
    for (uint32_t i = 0; i < like->len; i += 2) {
        PyObject *const key = value_key(c, c->builder->usual, like->items[i]);
        if (!key) return false;
        PyTuple_SET_ITEM(keys, (Py_ssize_t)(i / 2), key);
        if (PyDict_SetItem(dict, key, Py_None) != 0) return false;
    }
    return true;
}

static bool pattern_make(struct call *c, const struct upk_cell *like, struct dict_pattern *to) {
    PyObject *const dict = PyDict_New();
    PyObject *const keys = dict ? PyTuple_New((Py_ssize_t)like->len / 2) : NULL;
    if (keys) PyObject_GC_UnTrack(keys); /* nobody finds it before it has keys, and these are in no cycle */
    if (keys && pattern_fill(c, like, keys, dict)) {
        *to = (struct dict_pattern){keys, dict};
        return true;
    }
    Py_XDECREF(keys);
    Py_XDECREF(dict);
    return false;
}

/* A key that the stream uses elsewhere, too, may be another str of the same text there. */
const struct dict_pattern *pattern_find(struct call *c, const struct upk_cell *dict) {
    struct builder *const b = c->builder;
    if (!b->patterns && !patterns_begin(c)) return NULL;
    struct dict_pattern *const pattern = &b->patterns[dict->op];
    return pattern->dict || pattern_make(c, dict, pattern) ? pattern : NULL;
}
