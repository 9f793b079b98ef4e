/* More of a stream that comes piece by piece.
 *
 * The machine asks when an opcode lacks something; what it asked for is fetched whole, and the opcode begins anew.  Values are
 * views into the stream, so bytes that were read do not move: when a chunk is full a larger one is made, and only the opcode at
 * hand is copied over.  Every byte is so copied a bounded number of times, and memory grows with what came, never with what a
 * length promises.
 * Without a source there never is more: what lacks something is refused.
 * Layer: runtime, under loop.c; over mem.c.
 */
#include <inttypes.h>
#include <string.h>

#include "loop.h"

enum { FIRST_CHUNK = 4096, MOST_CHUNK = 1 << 20 /* of one that no opcode asks for */ };

/* ---- memo keys against a length that is not known yet */

bool input_far_key(struct machine *m, uint64_t key) {
    struct input *in = m->input;
    if (!in || key > in->most) return machine_fail(m, UPK_ERR_MEMO_FAR);
    /* One that is no larger than some key before it is not the first to be refused. */
    if (in->far_len && key <= in->far[in->far_len - 1].key) return true;
    if (in->far_len == in->far_cap) {
        const size_t cap = in->far_cap ? 2 * in->far_cap : 16, unit = sizeof *in->far;
        struct far_key *to = mem_resize(&m->doc->mem, in->far, in->far_cap * unit, cap * unit);
        if (!to) return machine_fail_memory(m);
        in->far = to;
        in->far_cap = cap;
    }
    in->far[in->far_len++] = (struct far_key){key, offset_of(m, m->at), (uint8_t)m->op, *m->at};
    return true;
}

/* The stream has `len` bytes. */
static bool check_far_keys(struct machine *m, uint64_t len) {
    const struct input *in = m->input;
    size_t i = 0;
    while (i < in->far_len && in->far[i].key <= len) i++;
    if (i == in->far_len) return true;
    if (m->failed) return false;
    (void)machine_fail(m, UPK_ERR_MEMO_FAR);
    m->error.offset = in->far[i].at;
    m->error.opcode = in->far[i].op;
    m->error.byte = in->far[i].byte;
    return false;
}

bool input_stop(struct machine *m) {
    const uint64_t len = offset_of(m, m->p);
    if (len > m->input->most) return machine_fail_budget(m, UPK_BUDGET_BYTES, len + m->input->beside);
    return check_far_keys(m, len);
}

void input_free(struct machine *m) {
    struct input *in = m->input;
    (void)mem_resize(&m->doc->mem, in->far, in->far_cap * sizeof *in->far, 0);
}

/* ---- chunks */

/* A chunk in which more stands from m->at on than there is: all `want` bytes, unless they are very many. */
static bool chunk_grow(struct machine *m, size_t want) {
    struct input *in = m->input;
    const size_t have = (size_t)(m->end - m->at), frame = (size_t)(m->limit - m->at);
    const bool whole = m->at == m->start; /* no value points into it */
    size_t cap = in->cap ? 2 * in->cap : FIRST_CHUNK;
    if (cap > MOST_CHUNK) cap = MOST_CHUNK;
    if (cap < want) cap = want;
    if (cap > MOST_CHUNK && cap / 2 > have) cap = have > MOST_CHUNK / 2 ? 2 * have : MOST_CHUNK;
    uint8_t *chunk = mem_chunk(&m->doc->mem, whole ? in->chunk : NULL, cap);
    if (!chunk) return machine_fail_memory(m);
    if (!whole) {
        memcpy(chunk, m->at, have);
        if (!m->base) {
            in->head = m->start;
            in->head_len = (size_t)(m->end - m->start);
        }
        m->base += (uint64_t)(m->at - m->start);
    }
    in->chunk = chunk;
    in->cap = cap;
    m->start = m->at = chunk;
    m->end = chunk + have;
    m->limit = chunk + frame;
    return true;
}

/* Read until `need` bytes stand from m->at on, or the stream has ended; there may be as many as `want` in the end. */
static bool fetch(struct machine *m, size_t need, size_t want) {
    struct input *in = m->input;
    for (size_t have; (have = (size_t)(m->end - m->at)) < need && !in->ended;) {
        const uint64_t sum = offset_of(m, m->end);
        if (sum > in->most) return machine_fail_budget(m, UPK_BUDGET_BYTES, sum + in->beside);
        size_t used = (size_t)(m->end - m->start);
        if (used == in->cap || need - have > in->cap - used) {
            if (!chunk_grow(m, want)) return false;
            used = have;
        }
        /* One byte more than is allowed tells the end of the stream from too much of it. */
        size_t most = in->cap - used, least = need - have, got = 0;
        if (most > in->most - sum) most = (size_t)(in->most - sum) + 1;
        if (least > most) least = most;
        if (!in->read(in->ctx, in->chunk + used, least, most, &got)) return machine_fail(m, UPK_ERR_READ);
        if (got > most)
            return machine_fail_detail(m, UPK_ERR_MISUSE, "the reader gave more than was asked for");
        in->ended = got < least;
        m->end += got;
        if (!m->framed) m->limit = m->end;
    }
    return true;
}

/* The stream is too short, or the frame. */
static bool fail_cut(struct machine *m, const uint8_t *p, uint64_t n, bool is_prefix) {
    if (m->input && n > (size_t)(m->end - p) && !check_far_keys(m, offset_of(m, m->end))) return false;
    return fail_short(m, p, n, is_prefix);
}

bool input_more(struct machine *m, const uint8_t *p, uint64_t n, bool is_prefix) {
    const size_t before = (size_t)(p - m->at);
    if (m->input && n > (size_t)(m->end - p)) {
        const uint64_t at = offset_of(m, p), most = m->input->most, rest = most > at ? most - at : 0;
        if (is_prefix && n > rest) {
            return machine_fail_detail(m, UPK_ERR_LENGTH,
                                       "%" PRIu64 " bytes wanted, at most %" PRIu64 " left", n, rest);
        }
        if (!fetch(m, before + (size_t)n, before + (size_t)n)) return false;
        p = m->at + before;
    }
    if (n > (size_t)(m->limit - p)) return fail_cut(m, p, n, is_prefix);
    m->p = m->at;
    return true;
}

bool input_line(struct machine *m, const uint8_t *p) {
    const size_t before = (size_t)(p - m->at);
    for (size_t seen = (size_t)(m->limit - p);;) { /* without an LF */
        const size_t len = (size_t)(m->end - p);
        if (memchr(p + seen, '\n', len - seen)) break;
        if (!m->input || m->input->ended) return fail_cut(m, p, (uint64_t)len + 1, false);
        seen = len;
        if (!fetch(m, before + len + 1, 2 * (before + len))) return false;
        p = m->at + before;
    }
    if (m->framed) return machine_fail(m, UPK_ERR_FRAME_CROSSED);
    m->p = m->at;
    return true;
}
