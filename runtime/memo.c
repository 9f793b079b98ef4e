/* The memo.
 *
 * Keys that follow each other stand in an array; a key far ahead goes to a hash table, so that a stream cannot buy memory with
 * a large number.  A key beyond the stream's length is a lie: every entry costs at least one byte.
 * Layer: runtime, under machine.c; over hash.c.
 */
#include <string.h>

#include "machine.h"

static struct memo_slot *sparse_find(struct machine *m, uint64_t key) {
    size_t i = (size_t)hash_number(m, key) & (m->sparse_cap - 1);
    while (m->sparse[i].key && m->sparse[i].key != key + 1) i = (i + 1) & (m->sparse_cap - 1);
    return &m->sparse[i];
}

static bool sparse_grow(struct machine *m) {
    struct memo_slot *old = m->sparse;
    size_t old_cap = m->sparse_cap, cap = old_cap ? 2 * old_cap : 64;
    struct memo_slot *slots = mem_resize(&m->doc->mem, NULL, 0, cap * sizeof *slots);
    if (!slots) return machine_fail_memory(m);
    memset(slots, 0, cap * sizeof *slots);
    m->sparse = slots;
    m->sparse_cap = cap;
    for (size_t i = 0; i < old_cap; i++) {
        if (old[i].key) *sparse_find(m, old[i].key - 1) = old[i];
    }
    (void)mem_resize(&m->doc->mem, old, old_cap * sizeof *old, 0);
    return true;
}

static bool dense_reserve(struct machine *m, size_t need) {
    if (need <= m->memo_cap) return true;
    size_t cap = m->memo_cap;
    while (cap < need) cap *= 2;
    bool inside = m->memo == m->memo_room;
    struct upk_value *to = mem_resize(&m->doc->mem, inside ? NULL : m->memo,
                                      inside ? 0 : m->memo_cap * sizeof *to, cap * sizeof *to);
    if (!to) return machine_fail_memory(m);
    if (inside) memcpy(to, m->memo_room, m->memo_len * sizeof *to);
    m->memo = to;
    m->memo_cap = cap;
    return true;
}

bool memo_put(struct machine *m, uint64_t key, struct upk_value v) {
    const uint64_t count = memo_count(m);
    if (key > offset_of(m, m->input ? m->at : m->end) && !input_far_key(m, key)) return false;
    if (!fail_over(m, UPK_BUDGET_MEMO, count + 1)) return false;
    bool taken = (key < m->memo_len && m->memo[key].kind) || (m->sparse_count && sparse_find(m, key)->key);
    if (taken) return machine_fail_detail(m, UPK_ERR_MEMO_TWICE, "key %llu", (unsigned long long)key);
    if (key < m->memo_len) {
        m->memo[key] = v;
        m->memo_gaps--;
    } else if (key <= 2 * count + MEMO_FIRST) { /* at most half of the array is ever unused */
        if (!dense_reserve(m, (size_t)key + 1)) return false;
        for (size_t i = m->memo_len; i < key; i++) m->memo[i].kind = UPK_INVALID;
        m->memo_gaps += (size_t)key - m->memo_len;
        m->memo[key] = v;
        m->memo_len = (size_t)key + 1;
    } else {
        machine_secret(m);
        if (2 * (m->sparse_count + 1) > m->sparse_cap && !sparse_grow(m)) return false;
        struct memo_slot *slot = sparse_find(m, key);
        slot->key = key + 1;
        slot->value = v;
        m->sparse_count++;
    }
    bool in_order = m->memo_gaps == 0 && m->sparse_count == 0;
    uint64_t most = m->budgets[UPK_BUDGET_MEMO];
    m->memo_fast = !in_order ? 0 : m->memo_cap < most ? m->memo_cap : (size_t)most;
    return true;
}

bool memo_get(struct machine *m, uint64_t key, struct upk_value *out) {
    if (key < m->memo_len && m->memo[key].kind) {
        *out = m->memo[key];
        out->flags |= VALUE_SHARED;
        return true;
    }
    if (m->sparse_count) {
        const struct memo_slot *slot = sparse_find(m, key);
        if (slot->key) {
            *out = slot->value;
            out->flags |= VALUE_SHARED;
            return true;
        }
    }
    return machine_fail_detail(m, UPK_ERR_MEMO_UNSET, "key %llu", (unsigned long long)key);
}
