/* str, bytes and large ints: views of the document become objects.
 *
 * Those that the stream takes from its memo are made once: a map by place and length has them, and at once those that are large,
 * so that one value of the stream costs its bytes once however often it is used.  Keys of small dicts come from a cache of the
 * module: records repeat, in a document and from one to the next.
 * Layer: see build.h.
 */
#include "build.h"

enum {
    LARGE = 512,     /* bytes from which a text is remembered when it is first met */
    KEY_MOST = 64,   /* bytes of a key that is cached */
    KEY_SHORT = 16,  /* bytes of one that is compared in line */
    PLACE_MOST = 256 /* bytes of what the module may hold on to for its place */
};

struct usual *usual_of(struct host *h) {
    if (!h->usual && !(h->usual = PyMem_Calloc(1, sizeof *h->usual))) (void)PyErr_NoMemory();
    return h->usual;
}

void usual_free(struct usual *u) {
    if (!u) return;
    for (size_t i = 0; i < USUAL_INTS; i++) Py_XDECREF(u->ints[i]);
    for (size_t i = 0; i < USUAL_KEYS; i++) Py_XDECREF(u->keys[i].made);
    for (size_t i = 0; i < USUAL_PLACES; i++) Py_XDECREF(u->places[i].made);
    PyMem_Free(u);
}

PyObject *usual_int(struct usual *u, int64_t i) {
    PyObject *const made = PyLong_FromLongLong(i);
    Py_XINCREF(made);
    u->ints[i - USUAL_INT_LEAST] = made;
    return made;
}

/* ---- making */

/* n > 0 bytes, by moves that overlap where the length allows: most text is short, and its length random to a branch predictor. */
static inline void copy_text(uint8_t *to, const uint8_t *from, size_t n) {
    uint64_t head, tail;
    bytes_vector first, second, third, last;
    if (n > 64) {
        mem_copy(to, from, n);
    } else if (n > 16) {
        const size_t inner = n > 32 ? 16 : 0;
        memcpy(&first, from, 16);
        memcpy(&second, from + inner, 16);
        memcpy(&third, from + n - 16 - inner, 16);
        memcpy(&last, from + n - 16, 16);
        memcpy(to, &first, 16);
        memcpy(to + inner, &second, 16);
        memcpy(to + n - 16 - inner, &third, 16);
        memcpy(to + n - 16, &last, 16);
    } else if (n >= 8) {
        memcpy(&head, from, 8);
        memcpy(&tail, from + n - 8, 8);
        memcpy(to, &head, 8);
        memcpy(to + n - 8, &tail, 8);
    } else if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, from, 4);
        memcpy(&high, from + n - 4, 4);
        memcpy(to, &low, 4);
        memcpy(to + n - 4, &high, 4);
    } else {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

/* CPython's decoder makes an exception of each surrogate, at which the garbage collector may run code: none may run here, for the
 * tuple that gets the text is not full yet. */
static PyObject *str_of_surrogates(struct upk_value v) {
    const uint8_t *const end = v.as.bytes + v.len;
    uint32_t most = 0;
    for (const uint8_t *p = v.as.bytes; p < end;) {
        const uint32_t code = utf8_next(&p);
        if (code > most) most = code;
    }
    PyObject *const made = PyUnicode_New((Py_ssize_t)utf8_count(v.as.bytes, v.len), most);
    if (!made) return NULL;
    const uint8_t *from = v.as.bytes;
    for (Py_ssize_t i = 0; from < end; i++)
        PyUnicode_WRITE(PyUnicode_KIND(made), PyUnicode_DATA(made), i, utf8_next(&from));
    return made;
}

static inline PyObject *str_new(struct upk_value v) {
    if (!(v.flags & VALUE_ASCII)) {
        if (utf8_has_surrogate(v.as.bytes, v.len)) return str_of_surrogates(v);
        return PyUnicode_DecodeUTF8((const char *)v.as.bytes, (Py_ssize_t)v.len, NULL);
    }
    /* CPython has one object for each character and for the empty text. */
    if (v.len <= 1) return PyUnicode_FromStringAndSize((const char *)v.as.bytes, (Py_ssize_t)v.len);
    PyObject *const made = PyUnicode_New((Py_ssize_t)v.len, 0x7f);
    if (made) copy_text(PyUnicode_1BYTE_DATA(made), v.as.bytes, v.len);
    return made;
}

static PyObject *bigint_new(struct upk_value v) {
#if PY_VERSION_HEX >= 0x030d0000
    return PyLong_FromNativeBytes(v.as.bytes, v.len, Py_ASNATIVEBYTES_LITTLE_ENDIAN);
#else
    return _PyLong_FromByteArray(v.as.bytes, v.len, 1, 1);
#endif
}

static PyObject *text_new(struct upk_value v) {
    if (v.kind == UPK_STR) return str_new(v);
    if (v.kind == UPK_BIGINT) return bigint_new(v);
    return PyBytes_FromStringAndSize((const char *)v.as.bytes, (Py_ssize_t)v.len);
}

/* ---- once for each place of the stream */

static bool is_shared(struct upk_value v) { return v.len > 1 && (v.flags & VALUE_SHARED || v.len >= LARGE); }

static void place_set(const struct builder *b, struct upk_value v, PyObject *made) {
    struct place *const p = place_of(b->usual, v);
    PyObject *const old = p->made;
    Py_INCREF(made);
    *p = (struct place){b->build, v.as.bytes, v.len, v.kind, made};
    Py_XDECREF(old); /* text or an int: nothing runs */
}

static PyObject *text_once(struct call *c, struct upk_value v) {
    struct builder *const b = c->builder;
    PyObject *made = place_find(b, b->usual, v);
    if (made) return made;
    /* Bytes that spell other bytes (N2) may stand where a str does.  The map only compares the place. */
    struct pair_map *const map = &b->texts[v.kind != UPK_STR];
    bool fresh;
    const int64_t i = pair_add(map, &c->doc->mem, (struct upk_cell *)(uintptr_t)v.as.bytes, v.len, &fresh);
    if (i == PAIR_NONE) {
        (void)refuse_memory(c);
        return NULL;
    }
    struct pair_entry *const e = &map->entries[i];
    if (fresh) {
        e->value = UINT32_MAX;
        if (b->kept_count >= UINT32_MAX) {
            (void)PyErr_NoMemory();
            return NULL;
        }
        const uint32_t at = (uint32_t)b->kept_count;
        if (!keep(c, text_new(v))) return NULL;
        e->value = at;
    }
    assert(e->value != UINT32_MAX); /* a failure ends the build */
    made = b->kept[e->value];
    if (v.len <= PLACE_MOST) place_set(b, v, made);
    Py_INCREF(made);
    return made;
}

PyObject *text_str(struct call *c, struct upk_value v) { return is_shared(v) ? text_once(c, v) : str_new(v); }

PyObject *text_other(struct call *c, struct upk_value v) {
    if (v.kind == UPK_STR8) v.kind = v.flags & VALUE_ASCII ? UPK_STR : UPK_BYTES;
    return is_shared(v) ? text_once(c, v) : text_new(v);
}

/* ---- keys */

/* How `v` would be kept, but for the str; and where. */
static inline struct usual_key key_of(struct upk_value v) {
    const uint64_t last = v.len > 8 ? text_word(v.as.bytes + v.len - 8, 8) : 0;
    return (struct usual_key){NULL, text_word(v.as.bytes, v.len), last, v.len};
}

static inline struct usual_key *key_place(const struct call *c, const struct usual_key *k) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    return &c->builder->usual->keys[(((k->first ^ k->len) * factor ^ k->last) * factor >> 54) % USUAL_KEYS];
}

static inline bool key_ends_alike(const struct usual_key *a, const struct usual_key *b) {
    return ((a->first ^ b->first) | (a->last ^ b->last) | (a->len ^ b->len)) == 0;
}

/* What is not in its place yet. */
__attribute__((noinline)) static PyObject *key_make(struct call *c, struct upk_value v,
                                                    struct usual_key *place) {
    PyObject *const made = text_str(c, v);
    if (!made) return NULL;
    Py_INCREF(made);
    PyObject *const old = place->made;
    *place = key_of(v);
    place->made = made;
    Py_XDECREF(old);
    if (c->doc->shares) place_set(c->builder, v, made);
    return made;
}

/* A key that the stream may refer to later. */
__attribute__((noinline)) static PyObject *key_shared(struct call *c, struct upk_value v, PyObject *key) {
    place_set(c->builder, v, key);
    return key;
}

/* What calls others stands apart, so that a key which is there costs no saving of registers. */
__attribute__((noinline)) static PyObject *key_long(struct call *c, struct upk_value v) {
    if (v.len > KEY_MOST) return text_str(c, v);
    const struct usual_key k = key_of(v);
    struct usual_key *const place = key_place(c, &k);
    if (!place->made || !key_ends_alike(place, &k) ||
        memcmp(PyUnicode_1BYTE_DATA(place->made), v.as.bytes, v.len) != 0)
        return key_make(c, v, place);
    Py_INCREF(place->made);
    return c->doc->shares ? key_shared(c, v, place->made) : place->made;
}

PyObject *text_key(struct call *c, struct upk_value v) {
    if (!(v.flags & VALUE_ASCII)) return text_str(c, v);
    if (v.len > KEY_SHORT) return key_long(c, v);
    const struct usual_key k = key_of(v);
    struct usual_key *const place = key_place(c, &k);
    PyObject *const made = place->made;
    if (!made || !key_ends_alike(place, &k)) return key_make(c, v, place);
    Py_INCREF(made);
    return c->doc->shares ? key_shared(c, v, made) : made;
}
