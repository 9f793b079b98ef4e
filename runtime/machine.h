/* The pickle machine's state and the parts it is made of.
 *
 *   machine.c   its life, and which opcodes are allowed
 *   loop.c      the loop over opcodes; ints.c, steps.c and grow.c what it calls
 *   input.c     more of a stream that comes piece by piece
 *   cells.c     containers: making and filling them
 *   reader.c    text arguments of protocols 0 and 1
 *   memo.c      the memo
 *   hash.c      hashing under a secret
 *   key_lists.c keys of dicts that repeat
 *   keys.c      keys of dicts and members of sets: hashable, none twice
 *   call.c      names, calls, BUILD
 *   resolve.c   names without a row, which the host is asked for
 *   normalise.c what calls of old protocols spell (N2 to N9)
 *   freeze.c    what was used does not change (rules 2 and 9)
 *   fail.c      how it fails
 *   place.c     where in the value that is
 *   sniff.c     what the input is when it is no pickle
 *   decode.c    the entry points: machine, then measure, match, document
 *
 * Every function of a part returns false after machine_fail; the first failure stays.
 *
 * Layer: private to the runtime.
 */
#ifndef UPK_MACHINE_H
#define UPK_MACHINE_H

#include "doc.h"

enum { STACK_FIRST = 64, MARKS_FIRST = 16, MEMO_FIRST = 64, KEY_LISTS = 16 /* pairs */ };
enum { RECORD_PAIRS = 32 };    /* of a dict whose keys are looked for among those of earlier ones */
enum { NAMES_LISTED = 8 };     /* so many names are looked through one by one; more are hashed */
enum { DISPATCH_NEWER = 254 }; /* in machine.dispatch: a known opcode of a later protocol than the stream's */

struct memo_slot { /* of the table of sparse keys */
    uint64_t key;  /* key + 1; 0: free */
    struct upk_value value;
};

struct far_key { /* a memo key that the stream may turn out to be too short for, and the opcode that set it */
    uint64_t key, at;
    uint8_t op, byte;
};

/* A stream that comes piece by piece.  Its bytes stand in chunks that the document owns; only the newest may move, and only while
 * no opcode of it is done. */
struct input {
    upk_read_fn read;
    void *ctx;
    uint64_t most;   /* bytes that it may have */
    uint64_t beside; /* out-of-band bytes, which count with them */
    uint8_t *chunk;  /* where m->start is; NULL: nothing was read yet */
    size_t cap;      /* of it */
    bool ended;
    const uint8_t *head; /* of the stream, once m->start is further on */
    size_t head_len;
    struct far_key *far; /* by rising keys, in the order of the stream */
    size_t far_len, far_cap;
};

struct watch { /* a value on the stack that place.c follows */
    bool on;
    size_t slot;                 /* of it; SIZE_MAX: there is none yet */
    size_t height;               /* of the stack before the opcode that was done last */
    const struct upk_cell *cell; /* of it; NULL: it has none */
};

struct name_slot { /* of the table of names met */
    uint64_t hash;
    struct global *global; /* NULL: free */
};

struct key_list {                /* of a dict of str keys that was checked */
    const struct upk_cell *dict; /* NULL: free */
    uint32_t len;                /* as it was checked */
    uint8_t number;              /* upk_cell.op of others that have its keys; 0: there is none yet */
};

struct machine {
    struct upk_doc *doc;
    const struct upk_policy *policy; /* NULL: inspection */
    const struct upk_options *options;
    const uint64_t *budgets;

    const uint8_t *start, *end; /* the stream, or what there is of it in the newest chunk */
    uint64_t base;              /* offset of `start` in the stream */
    struct input *input;        /* NULL: start .. end is the whole stream */
    const uint8_t *limit;       /* end of the open frame, else `end` */
    const uint8_t *at;          /* the opcode being done */
    const uint8_t *popped_at;   /* the last opcode that popped a mark to take what is above it */
    const uint8_t *p;           /* behind what was read; valid outside the loop's fast path */
    unsigned op;                /* enum upk_op at `at` */
    bool framed;
    bool again; /* the loop was left because more had to be read, and is to go on */
    unsigned protocol;

    struct upk_value *stack, *sp, *stack_end;
    uint32_t *marks; /* positions in the stack */
    size_t mark_count, mark_cap;

    struct upk_value *memo; /* keys 0 .. memo_len; UPK_INVALID: not set */
    size_t memo_len, memo_cap, memo_gaps;
    size_t memo_fast; /* keys below it are appended unseen: no gaps, no sparse keys, within the budget */
    struct memo_slot *sparse;
    size_t sparse_count, sparse_cap;

    struct name_slot *names;
    size_t name_count, name_cap;
    size_t walked;       /* of the names: those that were asked for by getattr alone */
    uint32_t *row_calls; /* by row, for rows with a budget of their own */
    uint32_t asked;      /* questions to the host so far */

    struct upk_cell **pending; /* large dicts and sets whose keys are checked at STOP */
    size_t pending_len, pending_cap;
    uint16_t lists_met;            /* of key_lists, a bit for each pair that was set */
    uint8_t list_numbers;          /* given to them */
    uint8_t list_of[RECORD_PAIRS]; /* by number of pairs - 1: the place + 1 of the one met last; 0: none */
    bool shares;                   /* some value was taken from the memo, or doubled */

    struct upk_cell **work; /* scratch worklist */
    size_t work_len, work_cap;

    struct upk_cell *empty_tuple; /* NULL until needed */
    struct object *last_object;
    struct persid *last_persid;
    size_t next_buffer;
    int64_t ops_left,
        nodes_left; /* of the budgets; signed, for that makes taking one and looking a single instruction */
    uint64_t calls, key_work, depth, expanded;
    uint64_t events; /* calls and BUILDs so far */
    uint64_t most_marks, most_string, most_items, most_digits, most_long, most_name; /* figures for a scan */
    bool counting; /* count opcodes one by one, for a scan */
    struct watch watch;

    uint64_t secret[2]; /* for hashing; drawn when first needed */
    bool has_secret, failed;

    /* What follows is set as needed, not cleared. */
    uint8_t dispatch[256];
    struct upk_error error;
    char part[sizeof((struct match_result *)NULL)->part]; /* that is at fault, of an object or of the root */
    uint64_t op_counts[UPK_OP_END];
    struct upk_value stack_room[STACK_FIRST], memo_room[MEMO_FIRST];
    uint32_t marks_room[MARKS_FIRST];
    struct name_slot names_room[NAMES_LISTED];
    struct key_list key_lists[2 * KEY_LISTS];
};
_Static_assert(KEY_LISTS <= 16, "lists_met has a bit for each");

static inline uint64_t memo_count(const struct machine *m) {
    return m->memo_len - m->memo_gaps + m->sparse_count;
}

/* What ops_left and nodes_left begin with. */
static inline int64_t count_down(uint64_t budget) { return budget < INT64_MAX ? (int64_t)budget : INT64_MAX; }

/* Offset in the stream. */
static inline uint64_t offset_of(const struct machine *m, const uint8_t *p) {
    return m->base + (uint64_t)(p - m->start);
}

/* ---- failing */

bool machine_fail(struct machine *m, unsigned code);
__attribute__((format(printf, 3, 4))) bool machine_fail_detail(struct machine *m, unsigned code,
                                                               const char *format, ...);
bool machine_fail_memory(struct machine *m); /* the cap or the allocator */
bool machine_fail_budget(struct machine *m, enum upk_budget budget, uint64_t figure);
/* `old`: N1 applies to the spelling. */
bool machine_fail_name(struct machine *m, unsigned code, bool old, struct upk_compat spelled);
bool machine_fail_row(struct machine *m, unsigned code, uint32_t row, const char *detail);
/* After a refusal: m->error.path leads to what the opcode at fault makes or changes, where that can be known.  The graph is of no
 * use afterwards. */
void machine_place(struct machine *m);
const char *kind_word(unsigned kind);
const char *sniff_file(const uint8_t *p, size_t n);

/* ---- its life, and the loop */

void machine_init(struct machine *m, struct upk_doc *doc, const struct upk_options *options,
                  const uint64_t *budgets, const uint8_t *bytes, size_t len);
bool machine_run(struct machine *m);
void machine_free(struct machine *m);
/* Make the table of what is allowed, for a stream of this protocol. */
void machine_dispatch(struct machine *m, unsigned protocol);
unsigned machine_op(uint8_t byte);          /* enum upk_op, whether allowed or not */
unsigned machine_op_protocol(uint8_t byte); /* its first protocol */
/* False and m->again where it is to go on, for more of m->input was read. */
bool loop(struct machine *m);
/* The same where no more is to come, and what there is has no more bytes than opcodes, values and a string's bytes are allowed. */
bool loop_uncapped(struct machine *m);
/* Also fills the figures of a scan; while m->watch is on it stops (true, and no root) before the opcode that comes after the value
 * has left its place, but behind one opcode at least. */
bool loop_counting(struct machine *m);
/* A whole decode: run `m` over the stream (len bytes, or what `in` reads), measure, and with a policy match.  When *ran is set
 * (also on failure) m->doc exists, and the caller frees first the machine, then the document.  On failure m->error is complete. */
bool machine_decode(struct machine *m, const struct upk_policy *policy, const uint8_t *bytes, size_t len,
                    struct input *in, const struct upk_options *o, const uint64_t *budgets, bool counting,
                    bool *ran);

/* ---- parts */

/* The opcode at hand lacks some of the n bytes at p (is_prefix: a length says how many), or the end of the line that starts at
 * p.  True: there is more now; all of it may stand elsewhere, and the opcode is done anew from m->p on. */
__attribute__((cold)) bool input_more(struct machine *m, const uint8_t *p, uint64_t n, bool is_prefix);
__attribute__((cold)) bool input_line(struct machine *m, const uint8_t *p);
/* A memo key larger than what is sure of the stream's length. */
bool input_far_key(struct machine *m, uint64_t key);
/* At STOP, m->p behind it: the length is known. */
bool input_stop(struct machine *m);
void input_free(struct machine *m);

static inline struct upk_cell *cell_new(struct machine *m, unsigned kind) {
    struct upk_cell *c = mem_alloc(&m->doc->mem, sizeof *c);
    if (!c) {
        (void)machine_fail_memory(m);
        return NULL;
    }
    *c = (struct upk_cell){.size = 1, .depth = 1, .kind = (uint8_t)kind};
    return c;
}
struct upk_cell *bytearray_new(struct machine *m, const uint8_t *p, size_t n);
struct upk_cell *tuple_new(struct machine *m, const struct upk_value *items, size_t n);

bool read_int_text(struct machine *m, const uint8_t *p, size_t n, bool is_long, struct upk_value *out);
bool read_key_text(struct machine *m, const uint8_t *p, size_t n, uint64_t *out);
bool read_float_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);
bool read_string_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);
bool read_unicode_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);
bool read_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);

bool memo_put(struct machine *m, uint64_t key, struct upk_value v);
bool memo_get(struct machine *m, uint64_t key, struct upk_value *out);

void machine_secret(struct machine *m); /* before the first hash: the host's, or a new one */
static inline uint64_t hash_mix(uint64_t a, uint64_t b) {
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t hash_number(struct machine *m, uint64_t n) {
    return hash_mix(n ^ m->secret[0], m->secret[1] ^ UINT64_C(0x9e3779b97f4a7c15));
}
uint64_t hash_long_bytes(struct machine *m, const uint8_t *p, size_t n, uint64_t seed);
static inline uint64_t hash_bytes(struct machine *m, const uint8_t *p, size_t n, uint64_t seed) {
    if (n > 16) return hash_long_bytes(m, p, n, seed);
    /* Both ends: together with the length, all of it. */
    const uint64_t first = text_word(p, n), last = n > 8 ? text_word(p + n - 8, 8) : 0;
    const uint64_t h = hash_mix(first ^ seed ^ m->secret[0], last ^ m->secret[1]);
    return hash_mix(h ^ n, m->secret[1] ^ UINT64_C(0x589965cc75374cc3));
}

/* The members c.items[from .. len) are new (every second one of a dict): refuse unhashable ones, and with a policy equal ones. */
bool keys_check(struct machine *m, struct upk_cell *c, uint32_t from);
/* The same, under a policy, of a dict whose members are all new: 1 to RECORD_PAIRS pairs, and all keys STR. */
bool keys_check_record(struct machine *m, struct upk_cell *c);
bool keys_check_pending(struct machine *m);
/* At STOP: those that were put off. */
static inline bool keys_finish(struct machine *m) { return m->pending_len == 0 || keys_check_pending(m); }
void keys_free(struct machine *m);

/* Lists of keys: where that of such a dict would be, in one of two places.  The dict is of 1 to RECORD_PAIRS pairs, the first key a
 * STR, under a policy. */
struct key_list *key_lists_of(struct machine *m, const struct upk_cell *c);
/* Are its keys on either list?  Then no two are equal, and it has the list's number. */
bool key_lists_have(struct machine *m, struct upk_cell *c, struct key_list *lists);
/* They are not, and were checked: all are STR. */
void key_lists_note(struct machine *m, const struct upk_cell *c, struct key_list *lists);
static inline void key_list_point(struct machine *m, const struct key_list *l) {
    m->list_of[l->len / 2 - 1] = (uint8_t)(l - m->key_lists + 1);
}
/* The list of n / 2 keys that was met last; NULL: none. */
static inline struct key_list *key_list_of_length(struct machine *m, size_t n) {
    const unsigned place = m->list_of[n / 2 - 1];
    return place && m->key_lists[place - 1].len == n ? &m->key_lists[place - 1] : NULL;
}
static inline void key_list_number(struct machine *m, struct upk_cell *c, struct key_list *l) {
    if (!l->number && m->list_numbers < UINT8_MAX) l->number = ++m->list_numbers;
    c->op = l->number;
}
enum { KEY_BYTES_A_VALUE = 64 }; /* so many bytes of text in a key cost as much as a value */
/* Names as keys: same_name.c. */
bool names_equal(const struct machine *m, const struct global *x, const struct global *y);
uint64_t hash_name(struct machine *m, const struct global *g);

bool name_push(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
               size_t name_len, struct upk_value *out);
/* A canonical name by look-up in the table (policy only): dotted names of getattr chains.  What the host is asked for is kept
 * among the names met. */
bool name_canonical(struct machine *m, const struct global *of, const uint8_t *attribute, size_t len,
                    struct upk_value *out);
/* A name that no row grants.  Where the policy is open to it: its row, and what was asked; else it is refused. */
bool name_ask(struct machine *m, bool old, struct upk_compat spelled, uint32_t *row,
              const struct asked **asked);
/* Is a row of this kind no answer, so that the host is asked all the same? */
static inline bool row_asks(const struct upk_policy *p, uint32_t row) {
    if (row == 0) return true;
    return p->open_count > 1 && p->rows[row].form_count == 0 && p->rows[row].special == UPK_SPECIAL_NONE;
}
struct upk_cell *call_make(struct machine *m, struct upk_value callee, struct upk_value args,
                           const struct upk_value *kw);
bool call_build(struct machine *m, struct upk_value target, struct upk_value state);
/* Steps that grow a container or an object: n values (a multiple of two for pairs). */
bool call_grow(struct machine *m, struct upk_value target, unsigned container, const struct upk_value *v,
               size_t n);
bool normalise_call(struct machine *m, struct object *o);
struct object_more *object_extend(struct machine *m, struct object *o);

/* Rule 2, through containers. */
bool freeze_members(struct machine *m, struct upk_cell *c);
static inline bool freeze_arguments(struct machine *m, struct upk_cell *c) {
    if (c->flags & CELL_CLOSED) return true;
    c->flags |= CELL_FROZEN | CELL_CLOSED;
    return !(c->flags & CELL_HAS_CELL) || freeze_members(m, c);
}
void freeze_tuple(const struct upk_cell *c);
/* Rule 2, the state and a state tuple's members; a tuple that many objects share is looked through once. */
static inline void freeze_state(struct upk_value state) {
    if (!kind_is_container(state.kind) || state.as.cell->flags & CELL_FROZEN) return;
    state.as.cell->flags |= CELL_FROZEN;
    if (state.kind == UPK_TUPLE) freeze_tuple(state.as.cell);
}
/* Rule 9: what arguments and keywords, or a key, reach. */
bool harden_members(struct machine *m, struct upk_cell *c);
static inline bool harden(struct machine *m, struct upk_cell *c) {
    if (c->flags & CELL_HARD) return true;
    c->flags |= CELL_HARD;
    return !(c->flags & CELL_HAS_CELL) || harden_members(m, c);
}
bool harden_key(struct machine *m, struct upk_value v);

static inline bool fail_over(struct machine *m, enum upk_budget budget, uint64_t figure) {
    return figure <= m->budgets[budget] || machine_fail_budget(m, budget, figure);
}

#endif
