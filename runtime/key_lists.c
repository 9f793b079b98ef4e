/* Lists of keys that were seen before.  Records repeat: the same str keys in the same order; their list was checked once, and has a
 * number by which matching remembers what the keys are.
 *
 * Layer: runtime, under keys.c and grow.c.
 */
#include "machine.h"

/* The keys of a dict that was found in order are compared by place with those of an earlier one that was; members only ever get
 * more, so the earlier ones are still there. */
__attribute__((noinline)) static bool same_keys(const struct upk_cell *c, const struct upk_cell *known) {
    const struct upk_value *a = c->items, *b = known->items;
    uint64_t differ = 0;
    for (uint32_t i = 0; i < c->len; i += 2) {
        if (a[i].kind != UPK_STR || a[i].len != b[i].len) return false;
        differ |= (uint64_t)(uintptr_t)a[i].as.bytes ^ (uint64_t)(uintptr_t)b[i].as.bytes;
    }
    if (!differ) return true; /* they come from the memo */
    for (uint32_t i = 0; i < c->len; i += 2)
        if (!text_same(a[i].as.bytes, b[i].as.bytes, a[i].len)) return false;
    return true;
}

struct key_list *key_lists_of(struct machine *m, const struct upk_cell *c) {
    const struct upk_value first = c->items[0];
    const unsigned pair = (text_sign(first.as.bytes, first.len) + c->len * 3) % KEY_LISTS;
    struct key_list *const lists = &m->key_lists[2 * pair];
    if (!(m->lists_met >> pair & 1)) {
        m->lists_met |= (uint16_t)(1u << pair);
        lists[0] = lists[1] = (struct key_list){0};
    }
    return lists;
}

bool key_lists_have(struct machine *m, struct upk_cell *c, struct key_list *lists) {
    for (struct key_list *l = lists; l < lists + 2; l++) {
        if (l->len != c->len || l->dict == c || !same_keys(c, l->dict)) continue;
        key_list_number(m, c, l);
        key_list_point(m, l);
        return true;
    }
    return false;
}

void key_lists_note(struct machine *m, const struct upk_cell *c, struct key_list *lists) {
    lists[1] = lists[0];
    *lists = (struct key_list){.dict = c, .len = c->len};
    key_list_point(m, lists);
}
