/* The inert graph: cells, objects, the document that owns them, and memory under a hard cap.
 *
 * A value (struct upk_value) is 16 bytes and is copied freely: scalars stand in it, strings and bytes are views, everything
 * with identity points to a cell.  A cell holds its members as one array of values; a dict alternates keys and values.
 *
 * Layer: private to the runtime, over upk.h and upk_tables.h.
 */
#ifndef UPK_DOC_H
#define UPK_DOC_H

#include <assert.h>

#include "bytes.h"
#include "compat_names.h"
#include "upk.h"
#include "upk_tables.h"

/* struct upk_value.flags */
enum {
    VALUE_ASCII = 1,    /* STR, STR8: every byte is below 0x80 */
    VALUE_READONLY = 2, /* BUFFER */
    VALUE_SHARED = 4,   /* STR, STR8, BYTES, BIGINT: taken from the memo */
    VALUE_WATCHED = 8   /* in a machine that goes on after a refusal: what place.c follows */
};

enum cell_flag {
    CELL_ABSORBED = 1,    /* is a member, argument or state of something */
    CELL_SHARED = 2,      /* absorbed more than once */
    CELL_FROZEN = 4,      /* rule 2: may not change any more (used as argument or state) */
    CELL_HARD = 8,        /* rule 9: reached from a key, member or argument; may not grow any more */
    CELL_UNHASHABLE = 16, /* TUPLE that holds something unhashable */
    CELL_HAS_CELL = 32,   /* some member is a compound cell */
    CELL_ODD = 64,        /* some member, not looking into objects, is no data: global, persid, buffer, ext */
    CELL_CLOSED = 128,    /* CELL_FROZEN, and so is all that it reaches without passing an object */
    CELL_BUILT = 256,     /* OBJECT: BUILD was seen */
    CELL_DID_ITEMS = 512, /* OBJECT: APPEND(S) was seen, with or without members; the next two alike */
    CELL_DID_PAIRS = 1024,
    CELL_DID_ADDS = 2048,
    CELL_NORMAL =
        4096, /* OBJECT: more->value is what it spells (bytes, bytearray, set, frozenset, a global) */
    CELL_SPREAD =
        8192, /* OBJECT: N6 with base tuple: args is (tuple,), and the recipe may mean C(*tuple) or C(tuple) */
    CELL_LARGE = 16384, /* items stand in a block of their own (mem_large) */
    CELL_KEYED = 32768, /* TUPLE, FROZENSET: part of a key, looked through once */
    /* Of kinds that do not use these bits otherwise. */
    CELL_KEYS_WAIT = 256, /* DICT, SET, FROZENSET: its keys wait to be checked */
    CELL_HOSTED = 2048,   /* all but OBJECT: a host that builds has set `host` */
    OBJECT_HOSTED = 16,   /* OBJECT: alike */
    OBJECT_WHOLE = 32768  /* OBJECT: and what its BUILD does was done with its call */
};

/* TUPLE, FROZENSET, LIST, DICT, SET; the head of BYTEARRAY, GLOBAL, PERSID and OBJECT.  32 bytes. */
struct upk_cell {
    struct upk_value *items;
    uint32_t len, cap; /* of items; a dict of n pairs has len 2n.  OBJECT: row and form instead */
    union {
        struct { /* until the document is accepted */
            uint32_t
                size; /* values when sharing is written out, itself included; saturates at UINT32_MAX.  Exact
                                * unless the document is `stale` */
            uint32_t depth; /* levels, a leaf is 1; alike */
        };
        void *host; /* afterwards, of a host that builds from it: what it built; see CELL_HOSTED */
    };
    uint16_t flags; /* enum cell_flag */
    uint8_t kind;   /* enum upk_kind */
    uint8_t
        op; /* OBJECT, GLOBAL: enum upk_op that made it.  DICT: a number that only dicts of the same keys in the same
                     * order have, 0 none */
    uint32_t
        index; /* LIST, DICT, SET: how many calls and BUILDs the stream had done when it last put members in (UINT32_MAX: so
                * many or more).  OBJECT: enum upk_verb after normalisation */
};

struct bytearray {
    struct upk_cell cell;
    const uint8_t *bytes; /* cell.len bytes */
};

/* A name without a row of its own, which the host was asked for (resolve.c).  In its modern spelling. */
struct asked {
    const uint8_t *module, *name;
    uint32_t module_len, name_len;
    uint32_t index; /* of the question */
};

struct global {
    struct upk_cell cell;         /* cell.len: row id, 0 without a policy */
    const struct asked *asked;    /* NULL: it has a row of its own, or there is no policy */
    const uint8_t *module, *name; /* as the stream spells them, before N1 */
    uint32_t module_len, name_len;
    uint32_t old;  /* 1: below protocol 3, N1 applies */
    uint32_t uses; /* how often a name opcode asked for it */
    uint64_t at;   /* offset of the first name opcode */
};

struct persid {
    struct upk_cell cell; /* items[0]: the id */
    struct persid *next;  /* the one made after it */
    uint64_t at;          /* offset of its opcode */
};

/* What few objects have. */
struct object_more {
    struct upk_cell *kw;    /* DICT as written (NEWOBJ_EX), or of N8; NULL none */
    struct upk_cell *items; /* LIST; NULL none */
    struct upk_cell *pairs; /* DICT */
    struct upk_cell *adds;  /* SET */
    struct upk_cell *args;  /* normalised arguments, TUPLE; NULL: object.args */
    struct upk_cell *base;  /* N6: LIST or DICT that stands for items or pairs; NULL none */
    struct upk_cell
        *class; /* N5, N6, N8, N9: the GLOBAL of the class, where the row is open; NULL: the callee */
    struct upk_value value; /* CELL_NORMAL */
};

struct object {
    struct upk_cell
        cell; /* items: unused; len: row id after normalisation; cap: form that matched, 0 not yet */
    struct object *next;     /* the object made after this one */
    struct upk_cell *callee; /* as written: GLOBAL, or an OBJECT that spells a name or a partial */
    struct upk_cell *args;   /* as written: TUPLE */
    struct upk_value state;  /* UPK_INVALID: none */
    struct object_more *more;
    uint64_t at, built_at; /* offsets of the opcode that made it and of its BUILD (0: none) */
};

/* ---- memory: everything a document or a decoder allocates, under one cap */

struct mem_block; /* private to mem.c */

struct mem {
    struct upk_allocator allocator;
    uint64_t used, cap;
    bool over_cap; /* the last failure was the cap, not the allocator */
    struct mem_block *blocks, *large, *chunks;
    uint8_t *cursor, *end; /* of the newest arena block */
};

/* Ask for huge pages where the block is large enough for them to pay. */
void mem_advise_huge(void *block, size_t size);
void mem_init(struct mem *m, const struct upk_allocator *allocator, uint64_t cap);
void mem_free(struct mem *m);
/* memset to 0, and memcpy, by a call: what compilers write for some hundred bytes, or for a length that is not known (`rep stos`,
 * `rep movs`), is slower by far. */
void mem_clear(void *p, size_t n);
void mem_copy(void *to, const void *from, size_t n);
/* A plain resizable array outside the arena (the caller frees with n = 0); NULL on failure, and `old` is still there. */
void *mem_resize(struct mem *m, void *old, size_t old_size, size_t n);
void *mem_slow(struct mem *m, size_t n);
/* n bytes of the arena, aligned to 8, not cleared; lives until mem_free. */
static inline void *mem_alloc(struct mem *m, size_t n) {
    n = (n + 7) & ~(size_t)7;
    if (n > (size_t)(m->end - m->cursor)) return mem_slow(m, n);
    void *p = m->cursor;
    m->cursor += n;
    return p;
}
/* The same of what is left of the newest block, n a multiple of 8; NULL: not enough.  For who has another way then, so that nothing
 * needs to be saved for a call. */
static inline void *mem_at_hand(struct mem *m, size_t n) {
    if (n > (size_t)(m->end - m->cursor)) return NULL;
    void *p = m->cursor;
    m->cursor += n;
    return p;
}
/* A chunk of input, n bytes that stay where they are until mem_free; `last` (NULL: a new one) is the newest, which is enlarged and
 * may move.  NULL on failure, and `last` is still there. */
uint8_t *mem_chunk(struct mem *m, uint8_t *last, size_t n);
/* Make room for `need` members in all; false: out of memory, the cell is unchanged. */
bool mem_grow_items(struct mem *m, struct upk_cell *cell, uint32_t need);
/* Give back what large arrays do not use. */
void mem_trim_large(struct mem *m);
static inline void mem_trim(struct mem *m) {
    if (m->large) mem_trim_large(m);
}

struct upk_doc {
    struct mem mem;
    const struct upk_policy *policy; /* NULL: inspected */
    struct upk_value root;
    struct object *objects; /* all that were made, oldest first, also those popped later */
    struct persid *persids; /* alike */
    bool
        stale; /* something grew after it was absorbed: sizes, depths and CELL_ODD are not exact, cycles are possible */
    bool cyclic; /* set by measure when stale */
    bool
        used_up; /* some spelling (N8) was used up after it may have become a member: CELL_ODD is not exact for it */
    struct matcher *
        matcher; /* while decoding: matches objects as soon as they cannot change (shape.c); NULL not needed yet */
    bool shares;     /* some value has VALUE_SHARED */
    size_t unjudged; /* objects that are neither matched yet nor a spelling */
    uint64_t expanded_budget;
    uint64_t stop_at; /* offset of STOP */
    uint64_t events;  /* calls and BUILDs */
    const struct upk_bytes *buffers;
    size_t buffer_count;
    size_t buffers_taken; /* by NEXT_BUFFER */
};

/* ---- kinds */

enum { /* sets of kinds, a bit for each */
       CONTAINER_KINDS = 1 << UPK_TUPLE | 1 << UPK_FROZENSET | 1 << UPK_LIST | 1 << UPK_DICT | 1 << UPK_SET,
       COMPOUND_KINDS = CONTAINER_KINDS | 1 << UPK_PERSID | 1 << UPK_OBJECT
};

static inline bool kind_is_container(unsigned kind) { return CONTAINER_KINDS >> kind & 1; }
/* Holds other values. */
static inline bool kind_is_compound(unsigned kind) { return COMPOUND_KINDS >> kind & 1; }
/* Points to a cell: the compound kinds, and BYTEARRAY and GLOBAL. */
static inline bool kind_has_cell(unsigned kind) { return kind >= UPK_BYTEARRAY; }
/* Reads as str: also a Python 2 str that is ASCII (N12). */
static inline bool value_is_str(struct upk_value v) {
    return v.kind == UPK_STR || (v.kind == UPK_STR8 && v.flags & VALUE_ASCII);
}

/* ---- cells */

/* What `v` is after normalisation: of a call that spells a value, that value.  One step is enough, for no spelling stands for
 * another. */
static inline struct upk_value value_resolve(struct upk_value v) {
    if (v.kind == UPK_OBJECT && (v.as.cell->flags & CELL_NORMAL))
        return ((const struct object *)(const void *)v.as.cell)->more->value;
    return v;
}
/* INVARIANT: a cell's kind says what it is the head of. */
static inline struct object *as_object(struct upk_cell *c) {
    assert(c->kind == UPK_OBJECT);
    return (struct object *)(void *)c;
}
static inline struct global *as_global(struct upk_cell *c) {
    assert(c->kind == UPK_GLOBAL);
    return (struct global *)(void *)c;
}
static inline struct persid *as_persid(struct upk_cell *c) {
    assert(c->kind == UPK_PERSID);
    return (struct persid *)(void *)c;
}
static inline struct bytearray *as_bytearray(struct upk_cell *c) {
    assert(c->kind == UPK_BYTEARRAY);
    return (struct bytearray *)(void *)c;
}
static inline struct upk_cell *object_args(const struct object *o) {
    return o->more && o->more->args ? o->more->args : o->args;
}
static inline struct upk_value value_of_cell(struct upk_cell *c) {
    struct upk_value v = {.kind = c->kind, .as = {.cell = c}};
    return v;
}

/* The children of a compound cell as up to eight spans of values.  Single ones (callee, args, kw, state) share the first span.
 * raw: as the opcodes built it (callee, args, kw, state, items, adds, pairs); else after normalisation (args, kw, state, base
 * and items, pairs, adds; no callee). */
struct span {
    const struct upk_value *at;
    size_t len;
};
struct children {
    struct span spans[8];
    struct upk_value own[4]; /* storage for single values */
    unsigned count;
};
void cell_children(struct upk_cell *c, bool raw, struct children *out);

/* ---- names */

/* Row of a name of at most UPK_NAME_MOST bytes for module and qualname, as a stream spells it: below protocol 3 (reading 0) or
 * from 3 on (1); 0: not in the table.  find_class reads whole vectors, so it is given padded copies. */
static inline uint32_t find_row(const struct upk_policy *p, unsigned reading, const void *module,
                                size_t module_len, const void *name, size_t name_len) {
    uint8_t room[2][UPK_NAME_PADDED] = {{0}};
    assert(module_len <= UPK_NAME_PADDED && name_len <= UPK_NAME_PADDED);
    memcpy(room[0], module, module_len);
    memcpy(room[1], name, name_len);
    return p->find_class[reading](p->keys[reading], room[0], module_len, room[1], name_len);
}
/* As the stream spells it, Python 2 names mapped where the stream is old (N1), and nothing else interpreted.  (doc.c) */
struct upk_compat global_name(const struct global *g);
/* In its one modern spelling.  (doc.c) */
struct upk_compat row_name(const struct upk_policy *p, uint32_t row);
/* Under a policy: of a GLOBAL; of the class or function that made an OBJECT.  Of an open row the name in the stream.  (doc.c) */
struct upk_compat cell_name(const struct upk_policy *p, const struct upk_cell *c);
/* The GLOBAL that says which class made an object of an open row.  (doc.c) */
const struct global *object_asked(const struct object *o);
/* N6 with base tuple: what has the members of `o`.  It was taken for all arguments of a `new`, or for its one; NULL: another call.
 * (normalise.c) */
const struct upk_cell *object_base_tuple(const struct upk_policy *p, const struct object *o);
static inline bool row_is_open(const struct upk_policy *p, uint32_t row) {
    return (p->rows[row].flags & UPK_ROW_OPEN) != 0;
}
/* Is it the class of an `enum` or `flag`, whose members have rows of their own?  (member.c) */
bool row_has_members(const struct upk_policy *p, uint32_t row);
/* On the closed list of callables that no policy should grant.  (dangerous.c) */
bool name_is_dangerous(const uint8_t *module, size_t module_len, const uint8_t *name, size_t name_len);

/* ---- what is denied of names without a row (deny.c) */

enum { DENY_PARTS_MOST = 32 }; /* more dots than people nest; and what bounds the work of one name */
struct denial {
    struct upk_compat name;
    const struct upk_deny *by; /* the line; NULL: the closed list, or `unread` */
    bool unread;               /* it has too many parts to be held against any list */
};
/* Is the name denied?  `ancestor`: it is of a class that the object inherits from, and only what means this very class counts. */
bool denial_of(const struct upk_policy *p, struct upk_compat n, bool ancestor, struct denial *out);
/* Is one of the names? */
bool denial_among(const struct upk_policy *p, const struct upk_own_name *names, size_t count, bool ancestor,
                  struct denial *out);

/* ---- error filling (error.c; error_copy in text.c) */

/* Copy bytes into a bounded, printable, NUL-terminated field: non-printing and non-ASCII bytes as \xHH, "..." when cut. */
void error_copy(char *to, size_t size, const uint8_t *from, size_t len);
unsigned op_family(unsigned op); /* enum upk_family */
/* The families of which some opcode is allowed: bits 1 << enum upk_family. */
uint32_t policy_families(const struct upk_policy *policy);
void error_set(struct upk_error *err, unsigned code, uint64_t offset, unsigned op);
void error_policy(struct upk_error *err, const struct upk_policy *policy);

/* The file of rows for classes that a host adds (upk_policy_extend): behind those of the policy. */
#define EXTRA_RULES "with_types"

void error_version(struct upk_error *err);
/* "FILE:LINE"; nothing where line is 0. */
void error_place(struct upk_error *err, const struct upk_policy *policy, uint32_t file, uint32_t line);
/* The policy's line: of `form` where it is not 0, else of the row. */
void error_rule(struct upk_error *err, const struct upk_policy *policy, uint32_t row, uint32_t form);
/* The names of a row, and that. */
void error_row(struct upk_error *err, const struct upk_policy *policy, uint32_t row, uint32_t form);
/* The same of an object; where its row is open, the name in the stream. */
void error_made(struct upk_error *err, const struct upk_policy *policy, const struct upk_cell *object,
                uint32_t form);
/* `state`, `items`, `pairs` or `adds`: what a row lacks that does not permit the opcode.  (grant.c) */
const char *step_of(unsigned op);
/* What the policy would have to say, once all else is known of the refusal; `part` of an object is at fault, "" none.  (grant.c) */
void error_advise(struct upk_error *err, const struct upk_policy *policy, unsigned protocol,
                  const char *part);

/* ---- a secret for hashing (hash.c) */

/* Who cannot know it cannot aim for collisions.  Where the kernel has none to give, two addresses must do. */
void secret_draw(uint64_t secret[2], const void *here, const void *there);

/* ---- numbers and text (number.c, utf8.c) */

static inline uint64_t add_saturated(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Strict UTF-8 with surrogates allowed, overlong forms and beyond U+10FFFF refused (Python's surrogatepass).  *ascii says that
 * every byte is below 0x80. */
bool utf8_check(const uint8_t *p, size_t n, bool *ascii);
bool utf8_has_surrogate(const uint8_t *p, size_t n); /* in valid text */
/* The same by vectors, without a word on ASCII; false: this machine has none of the kind.  (utf8_x86.c) */
bool utf8_check_fast(const uint8_t *p, size_t n, bool *valid);
/* Valid text as Latin-1, into room for n bytes; false: some character has no place there. */
bool utf8_to_latin1(const uint8_t *p, size_t n, uint8_t *to, size_t *written);
/* The same of some bytes at the start, by vectors; returns how many that are, 0 on other machines.  (utf8_x86.c) */
size_t utf8_to_latin1_fast(const uint8_t *p, size_t n, uint8_t *to, size_t *written);
size_t utf8_count(const uint8_t *p, size_t n); /* code points of valid text */
/* The next code point of valid text; advances *p. */
uint32_t utf8_next(const uint8_t **p);
unsigned utf8_encode(uint32_t c, uint8_t out[4]);

/* Little-endian two's complement of n bytes into a value: INT where it fits, else BIGINT, a view of the least length. */
struct upk_value int_from_bytes(const uint8_t *p, size_t n);
/* Decimal digits with an optional leading '-', already validated: into a value; false: out of memory. */
bool int_from_decimal(struct mem *m, const uint8_t *p, size_t n, struct upk_value *out);
/* Decimal text of INT or BIGINT into mem-owned storage (*text, *len). */
bool int_to_decimal(struct mem *m, struct upk_value v, const char **text, size_t *len);
/* [-+]?digits[.digits][e[-+]digits] | inf | -inf | nan, no locale; a finite overflow is refused. */
bool float_from_text(const uint8_t *p, size_t n, double *out);
/* Three-way compare of INT or BIGINT with a number as struct upk_bound has it: 128 bits, low word first, and the sign. */
int int_compare(struct upk_value v, const uint64_t bound[2], bool bound_negative);
/* 0 <= v, and no bit outside the mask. */
bool int_within_mask(struct upk_value v, const uint64_t mask[2]);

/* ---- after the stack machine (measure.c, shape.c) */

struct match_result { /* where and why matching failed */
    unsigned code;
    const struct object *object; /* the object that fits no form; NULL: the root type */
    char detail[160];
    char path[160]; /* of what is at fault, from the object or the root on: ".state.id", "[3]" */
    char part[80];  /* of the object: "argument 2 (`x`)"; empty: as a whole */
    uint32_t form;  /* the form that came nearest; 0 none */
};

/* Exact depth and expanded size of a stale document on the condensation of its graph, as the opcodes built it: a component of
 * k cells is k levels, and counts its own values and what they refer to outside, an edge within as one.  Writes `size` and
 * `depth` of every cell that the root or an object reaches, and doc->cyclic.  Iterative, linear.
 * Returns false when memory ran out; *depth and *size are the root's and saturate. */
bool measure_graph(struct upk_doc *doc, uint64_t *depth, uint64_t *size);
/* Every object against its row, then the root type.  *matches counts (node, type) pairs against `budget`.  Writes the form that
 * fits into each object.  *why is filled on MATCH_REFUSED.
 * INVARIANT: no dict of the document has two equal keys (R210; a STR8 that is ASCII equals the same STR). */
enum match_status { MATCH_OK, MATCH_REFUSED, MATCH_BUDGET, MATCH_MEMORY };
/* While decoding: try an object that cannot change any more, whose parts are in the caches now.  What fits is done with; what
 * does not is left to match_document, so that the verdict comes at STOP all the same.  The keys of a large dict may still wait
 * for their check then: where two are equal that refuses the document, whatever was matched.  False: out of memory. */
bool match_early(struct upk_doc *doc, struct object *o);
void match_free(struct upk_doc *doc);
enum match_status match_document(struct upk_doc *doc, uint64_t budget, uint64_t *matches,
                                 struct match_result *why);
/* Path from the root to `target` as text ($.a[3]); "$" when it is the root (NULL too).  false: not reached, and "$" again. */
bool value_path(struct upk_doc *doc, const struct upk_cell *target, char *out, size_t size);

#endif
