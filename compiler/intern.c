/* Building blocks of tables.  Layer: see intern.h. */
#include "intern.h"

#include <string.h>

void array_init(struct array *a, struct mem *m, size_t size) { *a = (struct array){.mem = m, .size = size}; }

/* Room at the end for one more; NULL without memory. */
static void *array_more(struct array *a) {
    void *const items =
        a->count < UINT32_MAX ? mem_grow(a->mem, a->items, a->count, &a->room, a->size) : NULL;
    if (!items) {
        a->mem->failed = true;
        return NULL;
    }
    a->items = items;
    return (char *)items + a->count++ * a->size;
}

void array_init_from_1(struct array *a, struct mem *m, size_t size) {
    array_init(a, m, size);
    void *const first = array_more(a);
    if (first) memset(first, 0, size);
}

uint32_t array_add(struct array *a, const void *item) {
    void *const added = array_more(a);
    if (!added) return 0;
    memcpy(added, item, a->size);
    return (uint32_t)a->count - 1;
}

void intern_init(struct intern *t, struct mem *m) { *t = (struct intern){.mem = m}; }

bool intern_find(const struct intern *t, uint64_t hash, bool (*same)(const void *context, uint32_t index),
                 const void *context, uint32_t *index) {
    if (!t->places) return false;
    for (size_t i = (size_t)hash & t->mask; t->places[i].index != 0; i = (i + 1) & t->mask) {
        const uint32_t found = (uint32_t)(t->places[i].index - 1);
        if (t->places[i].hash == hash && same(context, found)) {
            *index = found;
            return true;
        }
    }
    return false;
}

static void put(struct intern_place *places, size_t mask, struct intern_place place) {
    size_t i = (size_t)place.hash & mask;
    while (places[i].index != 0) i = (i + 1) & mask;
    places[i] = place;
}

/* At most half of the places are taken, so that a search ends. */
static bool make_room(struct intern *t) {
    const size_t size = t->places ? t->mask + 1 : 0;
    if (t->count < size / 2) return true;
    const size_t larger = size ? 2 * size : 64;
    struct intern_place *const places = mem_alloc(t->mem, larger, sizeof *places);
    if (!places) return false;
    for (size_t i = 0; i < size; i++) {
        if (t->places[i].index != 0) put(places, larger - 1, t->places[i]);
    }
    t->places = places;
    t->mask = larger - 1;
    return true;
}

void intern_add(struct intern *t, uint64_t hash, uint32_t index) {
    if (!make_room(t)) return;
    put(t->places, t->mask, (struct intern_place){hash, (uint64_t)index + 1});
    t->count++;
}

/* FNV-1a with a last fold: entries are few and short, and whoever writes the policy may slow down only
 * themselves. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t len) {
    const unsigned char *const p = bytes;
    uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

void unique_init(struct unique *u, struct mem *m, size_t size) {
    array_init(&u->array, m, size);
    intern_init(&u->intern, m);
}

struct item_look {
    const struct array *array;
    const void *item;
};

static bool same_item(const void *context, uint32_t index) {
    const struct item_look *const look = context;
    return memcmp((const char *)look->array->items + index * look->array->size, look->item,
                  look->array->size) == 0;
}

uint32_t unique_add(struct unique *u, const void *item) {
    const uint64_t hash = hash_bytes(0, item, u->array.size);
    const struct item_look look = {&u->array, item};
    uint32_t index;
    if (intern_find(&u->intern, hash, same_item, &look, &index)) return index;
    index = array_add(&u->array, item);
    intern_add(&u->intern, hash, index);
    return index;
}

void pool_init(struct pool *p, struct mem *m) {
    *p = (struct pool){.mem = m};
    array_init(&p->texts, m, sizeof(struct upk_text));
    intern_init(&p->intern, m);
}

static bool pool_room(struct pool *p, size_t count) {
    if (count > UINT32_MAX - p->len) {
        p->mem->failed = true;
        return false;
    }
    if (count <= p->room - p->len) return true;
    const size_t room = (p->len + count) * 2 + 1024;
    char *const bytes = mem_alloc(p->mem, room, 1);
    if (!bytes) return false;
    if (p->len) memcpy(bytes, p->bytes, p->len);
    p->bytes = bytes;
    p->room = room;
    return true;
}

struct text_look {
    const struct pool *pool;
    struct text text;
};

static bool same_text(const void *context, uint32_t index) {
    const struct text_look *const look = context;
    const struct upk_text t = ((const struct upk_text *)look->pool->texts.items)[index];
    return t.len == look->text.len && memcmp(look->pool->bytes + t.at, look->text.at, t.len) == 0;
}

struct upk_text pool_add(struct pool *p, struct text t) {
    if (t.len == 0) return (struct upk_text){0, 0};
    const uint64_t hash = hash_bytes(0, t.at, t.len);
    const struct text_look look = {p, t};
    uint32_t index;
    if (intern_find(&p->intern, hash, same_text, &look, &index))
        return ((const struct upk_text *)p->texts.items)[index];
    if (!pool_room(p, t.len)) return (struct upk_text){0, 0};
    const struct upk_text added = {(uint32_t)p->len, (uint32_t)t.len};
    memcpy(p->bytes + p->len, t.at, t.len);
    p->len += t.len;
    index = array_add(&p->texts, &added);
    intern_add(&p->intern, hash, index);
    return added;
}

struct text policy_text(const struct upk_policy *p, struct upk_text t) {
    return (struct text){p->pool + t.at, t.len};
}

void pool_pad(struct pool *p, size_t count) {
    if (!pool_room(p, count)) return;
    memset(p->bytes + p->len, 0, count);
    p->len += count;
}
