/* Mutations that know opcodes: most of what they make gets past the stack and the memo, to names, shapes and printers.
 *
 * One input in six is left to libFuzzer's own mutations of bytes, and one in eight is not repaired.
 *
 * Layer: tests only, over libFuzzer.
 */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#include "../../../runtime/upk_tables.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);

enum { PIECES = 4096, FRESH = 1 << 16, MOST_MOVED = 24 };

/* What one mutation works in. */
struct work {
    struct piece pieces[PIECES];
    size_t count;
    uint8_t fresh[FRESH]; /* bytes of pieces that did not come with the input */
    size_t fresh_len;
};

static void cut_out(struct work *w, size_t at, size_t n) {
    memmove(w->pieces + at, w->pieces + at + n, (w->count - at - n) * sizeof *w->pieces);
    w->count -= n;
}

static void insert(struct work *w, size_t at, const struct piece *from, size_t n) {
    struct piece moved[MOST_MOVED];
    if (n > MOST_MOVED) n = MOST_MOVED;
    if (n > PIECES - w->count) return;
    memcpy(moved, from, n * sizeof *from); /* `from` may be a part of what moves */
    memmove(w->pieces + at + n, w->pieces + at, (w->count - at) * sizeof *w->pieces);
    memcpy(w->pieces + at, moved, n * sizeof *moved);
    w->count += n;
}

static size_t some(struct dice *d, size_t most) {
    size_t n = 1 + dice_roll(d, dice_roll(d, 3) ? 3 : MOST_MOVED);
    return n < most ? n : most;
}

static void insert_value(struct work *w, size_t at, struct dice *d) {
    struct piece pieces[MOST_MOVED];
    struct made made = {w->fresh + w->fresh_len, 0, FRESH - w->fresh_len};
    value_make(d, pieces_protocol(w->pieces, w->count), 0, &made);
    insert(w, at, pieces, pieces_cut(made.at, made.len, pieces, MOST_MOVED));
    w->fresh_len += made.len;
}

/* Another opcode without an argument, or another that takes the same one. */
static void exchange_opcode(struct work *w, size_t at, struct dice *d) {
    static const char *const alike[] = {"]}\x8f)N\x88\x89",
                                        "te0l1d",
                                        "eu\x90",
                                        "R\x81",
                                        "as",
                                        "hq",
                                        "ci",
                                        "XTB",
                                        "\x8cUC",
                                        "VSIL",
                                        "gp",
                                        "\x85\x86\x87\x91t",
                                        "R\x81o",
                                        "b2\x94\x98",
                                        "PV",
                                        "\x97N",
                                        "Q\x85"};
    struct piece *piece = &w->pieces[at];
    if (piece->len > FRESH - w->fresh_len) return;
    for (size_t i = 0, first = dice_roll(d, sizeof alike / sizeof *alike); i < sizeof alike / sizeof *alike;
         i++) {
        const char *set = alike[(first + i) % (sizeof alike / sizeof *alike)];
        if (!strchr(set, piece->at[0]) || !piece->at[0]) continue;
        uint8_t *to = w->fresh + w->fresh_len;
        w->fresh_len += piece->len;
        memcpy(to, piece->at, piece->len);
        to[0] = (uint8_t)set[dice_roll(d, strlen(set))];
        (void)pieces_cut(to, piece->len, piece, 1);
        return;
    }
}

static void change_argument(struct work *w, size_t at, struct dice *d) {
    struct made made = {w->fresh + w->fresh_len, 0, FRESH - w->fresh_len};
    argument_make(d, &w->pieces[at], &made);
    w->fresh_len += made.len;
    if (made.len) (void)pieces_cut(made.at, made.len, &w->pieces[at], 1);
}

static void change_protocol(struct work *w, struct dice *d) {
    uint8_t *to = w->fresh + w->fresh_len;
    if (FRESH - w->fresh_len < 2) return;
    to[0] = 0x80;
    to[1] = (uint8_t)(2 + dice_roll(d, 4));
    w->fresh_len += 2;
    struct piece proto = {to, 2, UPK_OP_PROTO};
    if (w->count && w->pieces[0].op == UPK_OP_PROTO) {
        w->pieces[0] = proto;
    } else {
        insert(w, 0, &proto, 1);
    }
}

static void mutate(struct work *w, struct dice *d) {
    size_t at = dice_roll(d, w->count + 1), to = dice_roll(d, w->count + 1), n;
    if (at == w->count) {
        insert_value(w, at, d);
        return;
    }
    switch (dice_roll(d, 12)) {
    case 0: cut_out(w, at, some(d, w->count - at)); return;
    case 1:
    case 2: /* copied elsewhere */ insert(w, to, w->pieces + at, some(d, w->count - at)); return;
    case 3: { /* moved */
        struct piece moved[MOST_MOVED];
        n = some(d, w->count - at);
        memcpy(moved, w->pieces + at, n * sizeof *moved);
        cut_out(w, at, n);
        insert(w, to <= w->count ? to : at, moved, n);
        return;
    }
    case 4:
    case 5: insert_value(w, at, d); return;
    case 6: /* in place of what is there */
        insert_value(w, at, d);
        if (at < w->count) cut_out(w, at, 1);
        return;
    case 7:
    case 8: exchange_opcode(w, at, d); return;
    case 9:
    case 10: change_argument(w, at, d); return;
    default:
        if (dice_roll(d, 8)) {
            change_argument(w, at, d);
        } else {
            change_protocol(w, d);
        }
    }
}

/* Writes the stream; `data` is read until then.  Returns its length. */
static size_t finish(struct work *w, struct dice *d, uint8_t *data, size_t most) {
    uint8_t *bytes = malloc(most ? most : 1);
    struct made out = {bytes, 0, most};
    if (!bytes) return 0;
    if (dice_roll(d, 8)) {
        pieces_mend(w->pieces, w->count, d, &out);
    } else {
        for (size_t i = 0; i < w->count; i++) made_add(&out, w->pieces[i].at, w->pieces[i].len);
    }
    memcpy(data, bytes, out.len);
    free(bytes);
    return out.len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    struct dice d = {seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
    struct work *w = dice_roll(&d, 6) ? malloc(sizeof *w) : NULL;
    if (!w) return LLVMFuzzerMutate(data, size, most);
    w->count = pieces_cut(data, size, w->pieces, PIECES);
    w->fresh_len = 0;
    for (unsigned n = 1 + dice_roll(&d, 4); n > 0; n--) mutate(w, &d);
    size_t len = finish(w, &d, data, most);
    free(w);
    return len;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed) {
    struct dice d = {seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
    struct work *w = malloc(2 * sizeof *w);
    if (!w) return 0;
    struct work *other = w + 1;
    w->count = pieces_cut(a, a_size, w->pieces, PIECES);
    other->count = pieces_cut(b, b_size, other->pieces, PIECES);
    w->fresh_len = 0;
    if (other->count) {
        size_t from = dice_roll(&d, other->count);
        insert(w, dice_roll(&d, w->count + 1), other->pieces + from, some(&d, other->count - from));
    }
    size_t len = finish(w, &d, out, most);
    free(w);
    return len;
}
