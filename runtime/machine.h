/* The pickle machine's state and the parts it is made of.
 *
 *   machine.c   its life, and which opcodes are allowed
 *   loop.c      the loop over opcodes; steps.c what it calls
 *   cells.c     containers: making and filling them
 *   reader.c    text arguments of protocols 0 and 1
 *   memo.c      the memo
 *   hash.c      hashing under a secret
 *   keys.c      keys of dicts and members of sets: hashable, none twice
 *   call.c      names, calls, BUILD
 *   normalise.c what calls of old protocols spell (N2 to N9)
 *   freeze.c    what was used does not change (rules 2 and 9)
 *   fail.c      how it fails
 *   ahead.c     where in the value that is
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

enum { STACK_FIRST = 64, MARKS_FIRST = 16, MEMO_FIRST = 64, KNOWN_KEYS = 32 };
enum { DISPATCH_NEWER = 254 }; /* in machine.dispatch: a known opcode of a later protocol than the stream's */

struct memo_slot { /* of the table of sparse keys */
    uint64_t key;  /* key + 1; 0: free */
    struct upk_value value;
};

struct name_slot { /* of the table of names met */
    uint64_t hash;
    struct global *global; /* NULL: free */
};

struct machine {
    struct upk_doc *doc;
    const struct upk_policy *policy; /* NULL: inspection */
    const struct upk_options *options;
    const uint64_t *budgets;

    const uint8_t *start, *end; /* the stream */
    const uint8_t *limit;       /* end of the open frame, else `end` */
    const uint8_t *at;          /* the opcode being done */
    const uint8_t *popped_at;   /* the last opcode that popped a mark to take what is above it */
    const uint8_t *p;           /* behind what was read; valid outside the loop's fast path */
    unsigned op;                /* enum upk_op at `at` */
    bool framed;
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
    uint32_t *row_calls; /* by row, for rows with a budget of their own */

    struct upk_cell **pending; /* large dicts and sets whose keys are checked at STOP */
    size_t pending_len, pending_cap;
    const struct upk_cell *known_keys[KNOWN_KEYS]; /* dicts of str keys that were checked; NULL: free */

    struct upk_cell **work; /* scratch worklist */
    size_t work_len, work_cap;

    struct upk_cell *empty_tuple; /* NULL until needed */
    struct object *last_object;
    struct persid *last_persid;
    size_t next_buffer;
    uint64_t ops, nodes, calls, key_work, depth, expanded;
    uint64_t most_marks, most_string, most_items, most_digits, most_long, most_name; /* figures for a scan */
    bool counting; /* count opcodes one by one, for a scan */

    uint64_t secret[2]; /* for hashing; drawn when first needed */
    bool has_secret, failed;

    /* What follows is set as needed, not cleared. */
    uint8_t dispatch[256];
    struct upk_error error;
    char part[sizeof((struct match_result *)NULL)->part]; /* of an object, that is at fault */
    uint64_t op_counts[UPK_OP_END];
    struct upk_value stack_room[STACK_FIRST], memo_room[MEMO_FIRST];
    uint32_t marks_room[MARKS_FIRST];
};

static inline uint64_t memo_count(const struct machine *m) {
    return m->memo_len - m->memo_gaps + m->sparse_count;
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
/* The path of what the opcode at fault makes or changes; "$" where that is not known. */
void machine_place(const struct machine *m, char *out, size_t size);
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
bool loop(struct machine *m);
bool loop_counting(struct machine *m); /* also fills the figures of a scan */
/* A whole decode: run `m` over the stream, measure, and with a policy match.  When *ran is set (also on failure) m->doc exists,
 * and the caller frees first the machine, then the document.  On failure m->error is complete. */
bool machine_decode(struct machine *m, const struct upk_policy *policy, const uint8_t *bytes, size_t len,
                    const struct upk_options *o, const uint64_t *budgets, bool counting, bool *ran);

/* ---- parts */

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
/* Put n values into a compound: sizes, depths and flags of both sides. */
void cell_absorb(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n);
/* Append values to c's members. */
bool cell_extend(struct machine *m, struct upk_cell *c, const struct upk_value *v, size_t n);
bool value_hashable(struct upk_value v);

bool read_int_text(struct machine *m, const uint8_t *p, size_t n, bool is_long, struct upk_value *out);
bool read_key_text(struct machine *m, const uint8_t *p, size_t n, uint64_t *out);
bool read_float_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);
bool read_string_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);
bool read_unicode_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);
bool read_text(struct machine *m, const uint8_t *p, size_t n, struct upk_value *out);

bool memo_put(struct machine *m, uint64_t key, struct upk_value v);
bool memo_get(struct machine *m, uint64_t key, struct upk_value *out);

uint64_t hash_number(struct machine *m, uint64_t n);
uint64_t hash_bytes(struct machine *m, const uint8_t *p, size_t n, uint64_t seed);
void machine_secret(struct machine *m); /* draw the secret; before the first hash */

/* The members c.items[from .. len) are new (every second one of a dict): refuse unhashable ones, and with a policy equal ones. */
bool keys_check(struct machine *m, struct upk_cell *c, uint32_t from);
bool keys_finish(struct machine *m); /* at STOP: those that were put off */
void keys_free(struct machine *m);

bool name_push(struct machine *m, const uint8_t *module, size_t module_len, const uint8_t *name,
               size_t name_len, struct upk_value *out);
/* A canonical name by look-up in the table (policy only): dotted names of getattr chains. */
bool name_canonical(struct machine *m, uint32_t row, const uint8_t *attribute, size_t len,
                    struct upk_value *out);
bool call_make(struct machine *m, struct upk_value callee, struct upk_value args, const struct upk_value *kw,
               struct upk_value *out);
bool call_build(struct machine *m, struct upk_value target, struct upk_value state);
/* Steps that grow a container or an object: n values (a multiple of two for pairs). */
bool call_grow(struct machine *m, struct upk_value target, unsigned container, const struct upk_value *v,
               size_t n);
bool normalise_call(struct machine *m, struct object *o);
struct object_more *object_extend(struct machine *m, struct object *o);

bool freeze_arguments(struct machine *m, struct upk_cell *c); /* rule 2, through containers */
void freeze_state(struct upk_value state); /* rule 2, the state and a state tuple's members */
bool harden(struct machine *m, struct upk_value v, bool is_key); /* rule 9 */

static inline bool fail_over(struct machine *m, enum upk_budget budget, uint64_t figure) {
    return figure <= m->budgets[budget] || machine_fail_budget(m, budget, figure);
}

#endif
