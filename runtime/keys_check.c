/* Structural validation of a look-up by perfect hash: what those of rows and those of variables have in common.
 *
 * Layer: see keys_check.h.
 */
#include "keys_check.h"

static bool check_slot(const struct upk_keys *k, uint32_t i, uint32_t most, struct table_fault *fault) {
    const struct upk_key *const s = &k->slots[i];
    TABLE_HOLDS(s->module <= k->pool_len && 16 * k->module_vectors <= k->pool_len - s->module, "slots", i,
                "module");
    TABLE_HOLDS(s->name <= k->pool_len && 16 * k->name_vectors <= k->pool_len - s->name, "slots", i, "name");
    TABLE_HOLDS(s->module_len <= 16 * k->module_vectors && s->name_len <= 16 * k->name_vectors, "slots", i,
                "length");
    TABLE_HOLDS(s->row[0] <= most && s->row[1] <= most, "slots", i, "row");
    TABLE_HOLDS(s->row[0] || s->row[1] || (s->module_len == 0 && s->name_len == 0), "slots", i,
                "a key without a row");
    return true;
}

bool key_tables_check(const struct upk_keys *k, uint32_t reading, uint32_t most, struct table_fault *fault) {
    const uint32_t vectors = UPK_NAME_PADDED / 16;
    TABLE_HOLDS(k->words && k->asso && k->base && k->slots && k->pool, "keys", reading, "a table is missing");
    TABLE_HOLDS(k->reading == reading, "keys", reading, "reading");
    TABLE_HOLDS(k->module_vectors <= vectors && k->name_vectors <= vectors, "keys", reading, "vectors");
    TABLE_HOLDS(k->module_words <= 2 * k->module_vectors && k->name_words <= 2 * k->name_vectors, "keys",
                reading, "words");
    for (uint32_t i = 0; i < k->module_words + k->name_words; i++) {
        const uint64_t bytes = 16 * (uint64_t)(i < k->module_words ? k->module_vectors : k->name_vectors);
        TABLE_HOLDS(k->words[i].at <= bytes && bytes - k->words[i].at >= 8, "words", i, "offset");
    }
    TABLE_HOLDS(k->buckets >= 1 && (k->slot_mask & (k->slot_mask + 1)) == 0, "keys", reading, "buckets");
    for (uint32_t i = 0; i < k->buckets; i++) {
        TABLE_HOLDS(k->base[i] < k->slot_count && k->slot_mask < k->slot_count - k->base[i], "base", i,
                    "slots");
    }
    uint32_t keys = 0;
    for (uint32_t i = 0; i < k->slot_count; i++) {
        if (!check_slot(k, i, most, fault)) return false;
        keys += k->slots[i].row[0] != 0 || k->slots[i].row[1] != 0;
    }
    TABLE_HOLDS(keys == k->key_count, "keys", reading, "number of keys");
    return true;
}
