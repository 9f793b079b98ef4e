/* How streams may spell what both sides know.  Layer: see diff_findings.h.
 *
 * A spelling counts in the protocols that its side reads: names below protocol 3 and from it on are two readings.  Rows that only
 * one side has are found by themselves, with all their spellings; and so are those that other rows bring along.
 */
#include "diff_findings.h"

#include "notation.h"

enum { READINGS = 2, PROTOCOL_OF_NEW_NAMES = 3 };

struct spelling { /* one that the other side does not have, or reads as something else */
    uint32_t row;
    const struct upk_key *key;
    bool known; /* it is read as something else */
};

static bool reads(const struct upk_policy *p, unsigned reading) {
    return reading == 0 ? p->protocol_min < PROTOCOL_OF_NEW_NAMES : p->protocol_max >= PROTOCOL_OF_NEW_NAMES;
}

static struct text key_module(const struct upk_keys *k, const struct upk_key *key) {
    return (struct text){k->pool + key->module, key->module_len};
}

static struct text key_name(const struct upk_keys *k, const struct upk_key *key) {
    return (struct text){k->pool + key->name, key->name_len};
}

/* What y reads by a spelling of x; names are padded in x's pool, as look-ups want them. */
static uint32_t row_in(const struct upk_policy *y, unsigned reading, const struct upk_keys *k,
                       const struct upk_key *key) {
    const struct text module = key_module(k, key), name = key_name(k, key);
    return y->find_class[reading](y->keys[reading], (const uint8_t *)module.at, module.len,
                                  (const uint8_t *)name.at, name.len);
}

/* It is granted by x alone. */
static bool is_found_by_itself(const struct inclusion *i, uint32_t row) {
    const uint32_t other = i->rows[row];
    return i->x->rows[row].form_count != 0 && (other == 0 || i->y->rows[other].form_count == 0);
}

/* Spellings of x that y lacks, in the order of x's table. */
static void collect(const struct inclusion *i, struct array *all) {
    const struct upk_keys *const k = i->x->keys[0]; /* both readings share all tables */
    for (uint32_t s = 0; s < k->slot_count; s++) {
        for (unsigned reading = 0; reading < READINGS; reading++) {
            const struct upk_key *const key = &k->slots[s];
            const uint32_t row = key->row[reading], other = row != 0 ? i->rows[row] : 0;
            if (row == 0 || !reads(i->x, reading) || is_found_by_itself(i, row)) continue;
            const uint32_t there = reads(i->y, reading) ? row_in(i->y, reading, k, key) : 0;
            if (there == other) continue; /* also where neither is known: the row itself is missing */
            if (there == 0 && !reads(i->y, reading)) continue; /* the range of protocols says it */
            const struct spelling spelling = {row, key, there != 0};
            array_add(all, &spelling);
            break;
        }
    }
}

bool diff_lacks_names(const struct upk_policy *p, const struct upk_policy *q) {
    const struct upk_keys *const k = q->keys[0];
    for (uint32_t s = 0; s < k->slot_count; s++) {
        for (unsigned reading = 0; reading < READINGS; reading++) {
            if (k->slots[s].row[reading] != 0 && reads(p, reading) && reads(q, reading) &&
                row_in(p, reading, k, &k->slots[s]) == 0)
                return true;
        }
    }
    return false;
}

static struct text spelling_text(struct diff *d, const struct upk_policy *p, const struct upk_key *key,
                                 size_t more) {
    if (!key) return (struct text){"", 0};
    output_text(&d->scratch, "spelled ");
    notation_name(&d->scratch, key_module(p->keys[0], key));
    output_text(&d->scratch, "::");
    notation_name(&d->scratch, key_name(p->keys[0], key));
    if (more != 0) output_print(&d->scratch, " and in %zu more ways", more);
    return diff_kept(d);
}

/* One finding for a row, however many spellings of it there are. */
static void find_spellings(struct diff *d, const struct upk_policy *p, const struct array *all,
                           unsigned how) {
    struct row_spellings {
        const struct spelling *first;
        size_t count;
        bool known;
    } *const rows = mem_alloc(d->mem, p->row_count, sizeof *rows);
    if (!rows) return;
    for (size_t s = 0; s < all->count; s++) {
        const struct spelling *const spelling = (const struct spelling *)all->items + s;
        struct row_spellings *const row = &rows[spelling->row];
        if (!row->first) row->first = spelling;
        row->count++;
        row->known = row->known || spelling->known;
    }
    for (uint32_t r = 1; r < p->row_count; r++) {
        if (!rows[r].first) continue;
        const struct text text = spelling_text(d, p, rows[r].first->key, rows[r].count - 1), none = {"", 0};
        const bool added = how == DIFF_WIDENED;
        diff_find(d, diff_row_place(d, p, &p->rows[r]), how, rows[r].known ? DIFF_MEDIUM : DIFF_LOW,
                  added ? none : text, added ? text : none,
                  (struct diff_words){rows[r].known ? "Streams mean it by a name that meant something else."
                                                    : "Streams may spell the name in another way.",
                                      "Streams do not mean it by that name any more."});
    }
}

void diff_names(struct diff *d) {
    struct array added, removed;
    array_init(&added, d->mem, sizeof(struct spelling));
    array_init(&removed, d->mem, sizeof(struct spelling));
    collect(&d->into_old, &added);
    collect(&d->into_new, &removed);
    if (d->mem->failed) return;
    find_spellings(d, d->new, &added, DIFF_WIDENED);
    find_spellings(d, d->old, &removed, DIFF_NARROWED);
}
