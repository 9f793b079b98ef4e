/* Perfect-hash tables: choice of the digest, buckets, association values from gperf or peel.h, proof.
 *
 * Layer: see perfect.h.  One gperf run over all keys grows with their square, so keys go to buckets of about
 * KEYS_PER_BUCKET by the digest's high half, and each bucket is a run of its own over three bytes of the
 * digest.  The tables are built as one struct upk_keys, whose digest is computed by the template itself: the
 * compiler cannot hash otherwise than the lookup.
 */
#define UPK_FIND_CLASS_ANY
#include "perfect.h"

#include <string.h>

#include "gperf.h"
#include "peel.h"

enum {
    KEYS_PER_BUCKET = 48,
    MOST_ATTEMPTS = 64,
    MOST_WORDS = 2 * UPK_NAME_PADDED / 8 /* all words of a module and of a name */
};

struct builder {
    struct mem *mem;
    const struct upk_key *keys;
    size_t count;
    struct upk_keys table;
    struct upk_word words[MOST_WORDS]; /* factor is filled in for each attempt */
    uint64_t *digests;                 /* of each key */
    size_t *order;                     /* keys by bucket */
    size_t *first;                     /* of each bucket in `order`; one more at the end */
    uint8_t (*chars)[GPERF_CHARS];     /* in the order of `order` */
    struct gperf_job *jobs;            /* one for each bucket */
    bool in_process;                   /* without gperf */
};

/* splitmix64: a stream of well-mixed numbers from a counter. */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static const uint8_t *pool_at(const struct upk_keys *t, uint32_t at) { return (const uint8_t *)t->pool + at; }

static uint32_t vectors_of(size_t longest) { return (uint32_t)((longest + 15) / 16); }

static void set_widths(struct builder *b) {
    size_t module = 0, name = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->keys[i].module_len > module) module = b->keys[i].module_len;
        if (b->keys[i].name_len > name) name = b->keys[i].name_len;
    }
    b->table.module_vectors = vectors_of(module);
    b->table.name_vectors = vectors_of(name);
}

/* ---- which words tell the keys apart ------------------------------------------------------------ */

/* Word `w` of a key: the module's words first, then the name's. */
static uint64_t key_word(const struct builder *b, size_t key, uint32_t w) {
    const struct upk_key *const k = &b->keys[key];
    const uint32_t modules = 2 * b->table.module_vectors;
    const bool of_name = w >= modules;
    const uint32_t at = 8 * (of_name ? w - modules : w);
    const uint8_t *const text = pool_at(&b->table, of_name ? k->name : k->module);
    return upk_load_word(text + at) &
           upk_load_word(upk_window_of(of_name ? k->name_len : k->module_len) + at);
}

struct seen { /* open addressing; 0 is an empty place */
    uint64_t *places;
    size_t mask;
};

/* Marks a class number; true where it was there. */
static bool seen_add(struct seen *s, uint64_t class) {
    const uint64_t c = class ? class : 1;
    size_t i = (size_t)c & s->mask;
    while (s->places[i] != 0 && s->places[i] != c) i = (i + 1) & s->mask;
    const bool there = s->places[i] == c;
    s->places[i] = c;
    return there;
}

static uint64_t refined(uint64_t class, uint64_t word) { return mix(class ^ mix(word)); }

static size_t count_classes(const struct builder *b, struct seen *s, const uint64_t *classes,
                            const size_t *open, size_t count, uint32_t word) {
    memset(s->places, 0, (s->mask + 1) * sizeof *s->places);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += !seen_add(s, refined(classes[open[i]], key_word(b, open[i], word)));
    return n;
}

/* Keeps in `open` the keys whose class some other key shares; classes that occur once are done. */
static size_t keep_open(struct seen *once, struct seen *twice, const uint64_t *classes, size_t *open,
                        size_t count) {
    memset(once->places, 0, (once->mask + 1) * sizeof *once->places);
    memset(twice->places, 0, (twice->mask + 1) * sizeof *twice->places);
    for (size_t i = 0; i < count; i++) {
        if (seen_add(once, classes[open[i]])) seen_add(twice, classes[open[i]]);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (seen_add(twice, classes[open[i]])) open[kept++] = open[i];
    }
    return kept;
}

/* Greedy: the word that splits the open classes most, until each key stands alone.  The final proof does
 * not rest on this: a class number that two keys share by accident only costs a word more. */
static bool choose_words(struct builder *b, bool chosen[MOST_WORDS]) {
    size_t places = 2;
    while (places < 2 * b->count + 2) places *= 2;
    struct seen once = {mem_alloc(b->mem, places, sizeof(uint64_t)), places - 1};
    struct seen twice = {mem_alloc(b->mem, places, sizeof(uint64_t)), places - 1};
    uint64_t *const classes = mem_alloc(b->mem, b->count + 1, sizeof *classes);
    size_t *const open = mem_alloc(b->mem, b->count + 1, sizeof *open);
    if (!once.places || !twice.places || !classes || !open) return false;

    const uint32_t words = 2 * (b->table.module_vectors + b->table.name_vectors);
    for (size_t i = 0; i < b->count; i++) {
        classes[i] = mix((uint64_t)b->keys[i].module_len << 32 | b->keys[i].name_len);
        open[i] = i;
    }
    memset(chosen, 0, MOST_WORDS * sizeof *chosen);
    size_t count = keep_open(&once, &twice, classes, open, b->count);
    for (uint32_t round = 0; count > 0 && round < words; round++) {
        uint32_t best = UINT32_MAX;
        size_t best_classes = 0;
        for (uint32_t w = 0; w < words; w++) {
            if (chosen[w]) continue;
            const size_t n = count_classes(b, &once, classes, open, count, w);
            if (n > best_classes) {
                best_classes = n;
                best = w;
            }
        }
        chosen[best] = true;
        for (size_t i = 0; i < count; i++)
            classes[open[i]] = refined(classes[open[i]], key_word(b, open[i], best));
        count = keep_open(&once, &twice, classes, open, count);
    }
    return true;
}

static void list_words(struct builder *b, const bool chosen[MOST_WORDS]) {
    const uint32_t modules = 2 * b->table.module_vectors, words = modules + 2 * b->table.name_vectors;
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++) {
        if (!chosen[w]) continue;
        b->words[n++].at = 8 * (w < modules ? w : w - modules);
        *(w < modules ? &b->table.module_words : &b->table.name_words) += 1;
    }
    b->table.words = b->words;
}

/* ---- buckets ------------------------------------------------------------ */

static void set_seed(struct builder *b, uint32_t attempt) {
    uint64_t n = (uint64_t)attempt << 32;
    b->table.seed = mix(n++);
    b->table.module_factor = mix(n++) | 1;
    b->table.name_factor = mix(n++) | 1;
    for (uint32_t w = 0; w < b->table.module_words + b->table.name_words; w++)
        b->words[w].factor = mix(n++) | 1;
}

static void fill_buckets(struct builder *b) {
    memset(b->first, 0, (b->table.buckets + 1) * sizeof *b->first);
    for (size_t i = 0; i < b->count; i++) {
        const struct upk_key *const k = &b->keys[i];
        b->digests[i] = upk_digest(&b->table, pool_at(&b->table, k->module), k->module_len,
                                   pool_at(&b->table, k->name), k->name_len);
        b->first[upk_bucket_of(&b->table, b->digests[i]) + 1]++;
    }
    for (uint32_t i = 0; i < b->table.buckets; i++) b->first[i + 1] += b->first[i];
    for (size_t i = b->count;
         i-- > 0;) { /* from the end of each bucket to its start; `first` moves back where it was */
        const uint32_t bucket = upk_bucket_of(&b->table, b->digests[i]);
        b->order[--b->first[bucket + 1]] = i;
    }
    /* Now first[n + 1] is the start of bucket n. */
    memmove(b->first, b->first + 1, b->table.buckets * sizeof *b->first);
    b->first[b->table.buckets] = b->count;
    for (size_t i = 0; i < b->count; i++) {
        const uint64_t d = b->digests[b->order[i]];
        for (size_t j = 0; j < GPERF_CHARS; j++) b->chars[i][j] = (uint8_t)(d >> 8 * j);
    }
}

static bool bucket_fits(const uint8_t (*chars)[GPERF_CHARS], size_t count) {
    if (count > GPERF_MOST_KEYS) return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (memcmp(chars[i], chars[j], GPERF_CHARS) == 0) return false;
        }
    }
    return true;
}

static bool buckets_fit(const struct builder *b) {
    for (uint32_t i = 0; i < b->table.buckets; i++) {
        if (!bucket_fits((const uint8_t(*)[GPERF_CHARS])b->chars + b->first[i],
                         b->first[i + 1] - b->first[i]))
            return false;
    }
    return true;
}

static size_t list_jobs(struct builder *b) {
    size_t n = 0;
    for (uint32_t i = 0; i < b->table.buckets; i++) {
        const size_t count = b->first[i + 1] - b->first[i];
        if (count == 0) continue;
        b->jobs[n++] = (struct gperf_job){.keys = (const uint8_t(*)[GPERF_CHARS])b->chars + b->first[i],
                                          .key_count = count};
    }
    return n;
}

/* Proves one answer: values of bytes, sums all different.  Values of bytes that no key has say nothing and
 * become 0. */
static bool answer_holds(struct gperf_job *job, uint32_t *most) {
    bool used[256] = {false}, taken[3 * 255 + 1] = {false};
    if (!job->solved) return false;
    for (size_t i = 0; i < job->key_count; i++) {
        uint32_t sum = 0;
        for (size_t j = 0; j < GPERF_CHARS; j++) {
            const uint8_t c = job->keys[i][j];
            used[c] = true;
            if (job->asso[c] > 255) return false;
            sum += job->asso[c];
        }
        if (taken[sum]) return false;
        taken[sum] = true;
        if (sum > *most) *most = sum;
    }
    for (size_t c = 0; c < 256; c++) {
        if (!used[c]) job->asso[c] = 0;
    }
    return true;
}

static bool answers_hold(struct builder *b, size_t jobs) {
    uint32_t most = 0;
    for (size_t i = 0; i < jobs; i++) {
        if (!answer_holds(&b->jobs[i], &most)) return false;
    }
    b->table.slot_mask = 0;
    while (b->table.slot_mask < most) b->table.slot_mask = b->table.slot_mask * 2 + 1;
    return true;
}

/* ---- the result ------------------------------------------------------------ */

static uint32_t sum_of(const uint8_t *asso, const uint8_t chars[GPERF_CHARS]) {
    uint32_t sum = 0;
    for (size_t j = 0; j < GPERF_CHARS; j++) sum += asso[chars[j]];
    return sum;
}

/* Each bucket takes as many slots as its largest sum needs; behind the last one the mask's width stays
 * empty. */
static bool place_keys(struct builder *b) {
    struct upk_keys *const t = &b->table;
    uint8_t *const asso = mem_alloc(b->mem, t->buckets, 256);
    uint32_t *const base = mem_alloc(b->mem, t->buckets, sizeof *base);
    struct upk_word *const words = mem_alloc(b->mem, MOST_WORDS, sizeof *words);
    if (!asso || !base || !words) return false;
    uint32_t slots = 0;
    const struct gperf_job *job = b->jobs;
    for (uint32_t i = 0; i < t->buckets; i++) {
        base[i] = slots;
        if (b->first[i] == b->first[i + 1]) continue;
        for (size_t c = 0; c < 256; c++) asso[(size_t)i * 256 + c] = (uint8_t)job->asso[c];
        job++;
        uint32_t most = 0;
        for (size_t k = b->first[i]; k < b->first[i + 1]; k++) {
            const uint32_t sum = sum_of(asso + (size_t)i * 256, b->chars[k]);
            if (sum > most) most = sum;
        }
        slots += most + 1;
    }
    slots += t->slot_mask + 1;

    struct upk_key *const all = mem_alloc(b->mem, slots, sizeof *all);
    if (!all) return false;
    for (uint32_t i = 0; i < t->buckets; i++) {
        for (size_t k = b->first[i]; k < b->first[i + 1]; k++) {
            all[base[i] + sum_of(asso + (size_t)i * 256, b->chars[k])] = b->keys[b->order[k]];
        }
    }
    memcpy(words, b->words, sizeof b->words);
    t->words = words;
    t->asso = asso;
    t->base = base;
    t->slots = all;
    t->slot_count = slots;
    return true;
}

static bool every_key_is_found(const struct builder *b, const struct upk_keys *t) {
    for (size_t i = 0; i < b->count; i++) {
        const struct upk_key *const k = &b->keys[i];
        if (upk_find_class(t, pool_at(t, k->module), k->module_len, pool_at(t, k->name), k->name_len) !=
            k->row[t->reading])
            return false;
    }
    return true;
}

static enum gperf_status find_values(const struct builder *b, size_t jobs, int *error) {
    if (!b->in_process) return gperf_solve(b->jobs, jobs, error);
    peel_solve(b->jobs, jobs);
    return GPERF_OK;
}

static enum perfect_status solve(struct builder *b, int *error) {
    for (uint32_t attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        set_seed(b, attempt);
        fill_buckets(b);
        if (!buckets_fit(b)) continue;
        const size_t jobs = list_jobs(b);
        switch (find_values(b, jobs, error)) {
        case GPERF_OK: break;
        case GPERF_MISSING: return PERFECT_NO_GPERF;
        case GPERF_SYSTEM: return PERFECT_SYSTEM;
        case GPERF_COMPLAINED: return PERFECT_GPERF;
        }
        if (!answers_hold(b, jobs)) continue;
        return place_keys(b) ? PERFECT_OK : PERFECT_MEMORY;
    }
    return PERFECT_UNSOLVED;
}

enum perfect_status perfect_build(struct mem *m, const struct upk_key *keys, size_t count,
                                  struct perfect_pool pool, bool in_process, struct upk_keys out[2],
                                  int *error) {
    struct builder *const b = mem_alloc(m, 1, sizeof *b);
    bool chosen[MOST_WORDS];
    *error = 0;
    if (!b) return PERFECT_MEMORY;
    b->mem = m;
    b->keys = keys;
    b->count = count;
    b->in_process = in_process;
    b->table.key_count = (uint32_t)count;
    b->table.pool = pool.bytes;
    b->table.pool_len = pool.len;
    b->table.buckets = count ? (uint32_t)((count + KEYS_PER_BUCKET - 1) / KEYS_PER_BUCKET) : 1;
    set_widths(b);
    b->digests = mem_alloc(m, count + 1, sizeof *b->digests);
    b->order = mem_alloc(m, count + 1, sizeof *b->order);
    b->first = mem_alloc(m, (size_t)b->table.buckets + 2, sizeof *b->first);
    b->chars = mem_alloc(m, count + 1, sizeof *b->chars);
    b->jobs = mem_alloc(m, b->table.buckets, sizeof *b->jobs);
    if (!b->digests || !b->order || !b->first || !b->chars || !b->jobs || !choose_words(b, chosen))
        return PERFECT_MEMORY;
    list_words(b, chosen);

    const enum perfect_status s = solve(b, error);
    if (s != PERFECT_OK) return s;
    for (uint32_t reading = 0; reading < 2; reading++) {
        out[reading] = b->table;
        out[reading].reading = reading;
        if (!every_key_is_found(b, &out[reading])) return PERFECT_UNSOLVED;
    }
    return PERFECT_OK;
}

/* Where the tables look for a key. */
static uint32_t slot_of(const struct upk_keys *t, const struct upk_key *key) {
    const uint64_t digest =
        upk_digest(t, pool_at(t, key->module), key->module_len, pool_at(t, key->name), key->name_len);
    const uint32_t bucket = upk_bucket_of(t, digest);
    uint8_t chars[GPERF_CHARS];
    for (size_t i = 0; i < GPERF_CHARS; i++) chars[i] = (uint8_t)(digest >> 8 * i);
    return t->base[bucket] + sum_of(t->asso + (size_t)bucket * 256, chars);
}

static bool same_texts(const struct upk_keys *a, const struct upk_key *x, const struct upk_keys *b,
                       const struct upk_key *y) {
    return x->module_len == y->module_len && x->name_len == y->name_len &&
           memcmp(pool_at(a, x->module), pool_at(b, y->module), x->module_len) == 0 &&
           memcmp(pool_at(a, x->name), pool_at(b, y->name), x->name_len) == 0;
}

static void *copy(struct mem *m, const void *items, size_t count, size_t size) {
    void *const to = mem_alloc(m, count, size);
    if (to) memcpy(to, items, count * size);
    return to;
}

bool perfect_reuse(struct mem *m, const struct upk_keys from[2], const struct upk_key *keys, size_t count,
                   struct perfect_pool pool, struct upk_keys out[2]) {
    struct upk_keys t = from[0];
    t.pool = pool.bytes;
    t.pool_len = pool.len;
    if (from[0].key_count != count) return false;
    for (size_t i = 0; i < count; i++) {
        const uint32_t slot = slot_of(&t, &keys[i]);
        if (slot >= t.slot_count || !same_texts(&t, &keys[i], &from[0], &from[0].slots[slot])) return false;
    }
    /* As many keys, all different, each at its place: all of them. */
    struct upk_key *const slots = mem_alloc(m, t.slot_count, sizeof *slots);
    t.words = copy(m, t.words, MOST_WORDS, sizeof *t.words);
    t.asso = copy(m, t.asso, t.buckets, 256);
    t.base = copy(m, t.base, t.buckets, sizeof *t.base);
    if (m->failed) return false;
    for (size_t i = 0; i < count; i++) slots[slot_of(&t, &keys[i])] = keys[i];
    t.slots = slots;
    for (uint32_t reading = 0; reading < 2; reading++) {
        out[reading] = t;
        out[reading].reading = reading;
    }
    return true;
}
