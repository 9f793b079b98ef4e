/* libupk: decode untrusted pickle under a compiled policy.
 *
 * A pickle is read once into an inert graph (nothing is imported, called or built), decided as a whole, and only then handed
 * out.  Conventions, for every function here:
 *
 *  - Functions that can fail return bool; false leaves out-parameters untouched, except `err`, which is filled when it is not
 *    NULL.  The library never prints, exits or keeps global state; calls on different documents may run in parallel.
 *  - Sizes are bytes unless said otherwise.  Text is {pointer, length}, UTF-8 in which lone surrogates may stand as three
 *    bytes (Python's surrogatepass), never NUL-terminated.
 *  - A document borrows the caller's input: the buffer (and out-of-band buffers) must live, unchanged, as long as the
 *    document, unless UPK_COPY is given.  What a reader has given (upk_decode_from) it owns.
 *
 * Sources: PEP 307, 3154 and 574; Lib/pickletools.py.  Layer: the public surface, over libc alone.
 */
#ifndef UPK_H
#define UPK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "upk_version.h"

#ifdef __cplusplus
extern "C" {
#endif

struct upk_policy; /* upk_tables.h; made by policyc */
struct upk_doc;
struct upk_cell; /* private */

/* ---- values --------------------------------------------------------------------------------------------------------- */

enum upk_kind {
    UPK_INVALID = 0,
    UPK_NONE,
    UPK_BOOL,
    UPK_INT,    /* fits in 64 bits */
    UPK_BIGINT, /* does not */
    UPK_FLOAT,
    UPK_STR,
    UPK_STR8, /* Python 2's str: opcodes STRING, BINSTRING, SHORT_BINSTRING */
    UPK_BYTES,
    UPK_BUFFER, /* out of band (PEP 574) */
    UPK_EXT,    /* copyreg extension code; only in inspected documents */
    UPK_BYTEARRAY,
    UPK_GLOBAL, /* a name: class, function or const */
    UPK_PERSID,
    UPK_TUPLE,
    UPK_FROZENSET,
    UPK_LIST,
    UPK_DICT,
    UPK_SET,
    UPK_OBJECT /* made by a call: REDUCE, NEWOBJ, NEWOBJ_EX, INST, OBJ */
};

/* One node, 16 bytes, passed by value.  The members are private: use the accessors. */
struct upk_value {
    uint8_t kind;    /* enum upk_kind */
    uint8_t flags;   /* private */
    uint16_t unused; /* 0 */
    uint32_t len;    /* bytes, of STR, STR8, BYTES, BIGINT */
    union {
        int64_t i;
        double f;
        const uint8_t *bytes;
        struct upk_cell *cell;
    } as;
};

/* ---- errors --------------------------------------------------------------------------------------------------------- */

/* Classes of refusal: X(NAME, word). */
#define UPK_CLASSES(X)          \
    X(OK, ok)                   \
    X(TRUNCATED, truncated)     \
    X(OPCODE, opcode)           \
    X(PROTOCOL, protocol)       \
    X(ARGUMENT, argument)       \
    X(STACK, stack)             \
    X(MEMO, memo)               \
    X(KIND, kind)               \
    X(LIMIT, limit)             \
    X(GLOBAL, global)           \
    X(RECIPE, recipe)           \
    X(ROOT, root)               \
    X(TRAILING, trailing)       \
    X(NATIVE, native)           \
    X(MEMORY, memory)           \
    X(MISUSE, misuse)           \
    X(ENVIRONMENT, environment) \
    X(CHILD, child)

enum upk_class_of_refusal {
#define UPK_X(name, word) UPK_CLASS_##name,
    UPK_CLASSES(UPK_X)
#undef UPK_X
        UPK_CLASS_COUNT
};

/* Stable codes: X(number, NAME, class, sentence).  R1xx malformed, R2xx refused by the policy, R3xx over a budget, R4xx out
 * of memory, R9xx caller misuse.  Never reused.  docs/refusals.md explains each. */
#define UPK_CODES(X)                                                                                    \
    X(101, TRUNCATED, TRUNCATED, "the stream ends inside an opcode or before STOP")                     \
    X(102, LENGTH, TRUNCATED, "a length says more bytes than the stream has left")                      \
    X(103, OPCODE_UNKNOWN, OPCODE, "no opcode has this byte")                                           \
    X(104, PROTOCOL_NUMBER, PROTOCOL, "unknown protocol")                                               \
    X(105, PROTOCOL_PLACE, PROTOCOL, "PROTO is allowed once, as the first opcode")                      \
    X(106, PROTOCOL_OPCODE, PROTOCOL, "opcode newer than the stream's protocol")                        \
    X(107, FRAME, PROTOCOL, "frame inside a frame")                                                     \
    X(108, FRAME_CROSSED, PROTOCOL, "opcode crosses the end of its frame")                              \
    X(109, NUMBER, ARGUMENT, "malformed number")                                                        \
    X(110, UTF8, ARGUMENT, "malformed UTF-8")                                                           \
    X(111, ESCAPE, ARGUMENT, "malformed escape")                                                        \
    X(112, NEGATIVE, ARGUMENT, "negative length")                                                       \
    X(113, QUOTES, ARGUMENT, "STRING is not in quotes")                                                 \
    X(114, PERSID_ASCII, ARGUMENT, "persistent id is not ASCII")                                        \
    X(115, EXT_CODE, ARGUMENT, "extension code is not positive")                                        \
    X(116, BUFFER_MISSING, ARGUMENT, "no out-of-band buffer for NEXT_BUFFER")                           \
    X(117, UNDERFLOW, STACK, "the stack has too few values")                                            \
    X(118, MARK_IN_THE_WAY, STACK, "a MARK stands in the way")                                          \
    X(119, NO_MARK, STACK, "there is no MARK")                                                          \
    X(120, ODD, STACK, "odd number of keys and values")                                                 \
    X(121, LEFT_OVER, STACK, "values are left on the stack at STOP")                                    \
    X(122, NO_CLASS, STACK, "OBJ without a class")                                                      \
    X(123, MEMO_UNSET, MEMO, "memo key is not set")                                                     \
    X(124, MEMO_TWICE, MEMO, "memo key is set twice")                                                   \
    X(125, MEMO_FAR, MEMO, "memo key is larger than the stream")                                        \
    X(126, KIND, KIND, "operation on a value it does not fit")                                          \
    X(127, UNHASHABLE, KIND, "unhashable key or member")                                                \
    X(128, CALLABLE, KIND, "only a name can be called")                                                 \
    X(129, ARGUMENTS, KIND, "arguments are not a tuple")                                                \
    X(130, KEYWORDS, KIND, "keywords are not a dict")                                                   \
    X(131, NAME_STRINGS, KIND, "STACK_GLOBAL needs two strings")                                        \
    X(132, TRAILING, TRAILING, "bytes after STOP")                                                      \
    X(201, GLOBAL, GLOBAL, "name is not granted")                                                       \
    X(202, NAME_LENGTH, GLOBAL, "empty or overlong name")                                               \
    X(203, OPCODE_REFUSED, OPCODE, "opcode is not allowed")                                             \
    X(204, PROTOCOL_REFUSED, PROTOCOL, "protocol is not allowed")                                       \
    X(205, RECIPE, RECIPE, "object is not made as its row says")                                        \
    X(206, SPELLING, RECIPE, "name only spells other things in old protocols, and does not do so here") \
    X(207, BUILD_TWICE, RECIPE, "second BUILD of one object")                                           \
    X(208, LATE_CHANGE, RECIPE, "change after use")                                                     \
    X(209, STEP, RECIPE, "the row does not permit this step")                                           \
    X(210, EQUAL_KEYS, RECIPE, "two keys or members are equal")                                         \
    X(211, INCOMPLETE, KIND, "a key, member or argument is not complete when it is used")               \
    X(212, ROOT, ROOT, "value is not of the root type")                                                 \
    X(213, CYCLE, ROOT, "value is cyclic, and the root is not")                                         \
    X(214, CALLED_VALUE, RECIPE, "a computed value is called")                                          \
    X(215, PERSID_REFUSED, KIND, "the host refuses this persistent id")                                 \
    X(216, NOT_LOADED, GLOBAL, "name is not granted, and its module is not loaded in this process")     \
    X(217, NOT_FOUND, GLOBAL, "name is not granted, and this process has nothing under it")             \
    X(218, NOT_CLASS, GLOBAL, "name is not granted, and what this process has under it is no class")    \
    X(219, NOT_SUBCLASS, GLOBAL, "name is not granted, and is of no class of which subclasses are")     \
    X(220, NATIVE, NATIVE, "a native check refuses this value")                                         \
    X(221, UNBOUND, GLOBAL, "name is granted, but this process has nothing under it")                   \
    X(222, BINDING, RECIPE, "what this process has under the name is not what the policy says")         \
    X(223, BUILDING, NATIVE, "the value cannot be built")                                               \
    X(224, DENIED, GLOBAL, "name is denied")                                                            \
    X(301, BUDGET, LIMIT, "over a budget")                                                              \
    X(302, HASHES, LIMIT, "too many keys of one hash")                                                  \
    X(401, MEMORY, MEMORY, "out of memory")                                                             \
    X(901, MISUSE, MISUSE, "wrong arguments of the caller")                                             \
    X(902, TABLE, MISUSE, "policy table of another version, or damaged")                                \
    X(903, READ, MISUSE, "the host cannot read on")                                                     \
    X(904, CONSENT, MISUSE, "the policy fails open, and the host does not say that it may")             \
    X(905, RESOLVER, MISUSE, "the policy admits classes of the host, and the host names none")          \
    X(906, RESOLVE, MISUSE, "the host cannot say what stands under a name")                             \
    X(910, ENV_NONE, ENVIRONMENT, "the policy has no environment block")                                \
    X(911, ENV_NAME, ENVIRONMENT, "this is no name of a variable")                                      \
    X(912, ENV_MANIFEST, ENVIRONMENT, "the manifest may not set this variable")                         \
    X(913, ENV_NEVER, ENVIRONMENT, "this variable reaches no child")                                    \
    X(914, ENV_VALUE, ENVIRONMENT, "the value of a variable is not as its rule says")                   \
    X(915, ENV_TWICE, ENVIRONMENT, "the manifest has a variable twice")                                 \
    X(916, ENV_SOURCE, ENVIRONMENT, "the manifest may not have this value of the host's")               \
    X(917, ENV_UNSET, ENVIRONMENT, "the host has no such variable, or has it several times")            \
    X(918, ENV_SIZE, ENVIRONMENT, "the environment is too large")                                       \
    X(919, ENV_HOME, ENVIRONMENT, "the home of the child is no absolute path")                          \
    X(920, RUN_UNCONFINED, CHILD, "nothing confines a child here")                                      \
    X(921, RUN_STATE, CHILD, "no run under this state")                                                 \
    X(922, RUN_START, CHILD, "the child cannot be started")                                             \
    X(923, RUN_TIME, CHILD, "the time of the child is over")                                            \
    X(924, RUN_CHILD, CHILD, "the child failed")                                                        \
    X(925, RUN_EMPTY, CHILD, "the child ended without a reply")                                         \
    X(926, RUN_STOPPED, CHILD, "the host stopped the child")

enum upk_code {
    UPK_OK = 0,
#define UPK_X(number, name, cls, sentence) UPK_ERR_##name = number,
    UPK_CODES(UPK_X)
#undef UPK_X
};

enum upk_step {
    UPK_STEP_STATE = 1,
    UPK_STEP_ITEMS = 2,
    UPK_STEP_PAIRS = 4,
    UPK_STEP_ADDS = 8,
    UPK_STEP_KEYWORDS = 16
};

/* A refusal.  Plain data, no ownership.  Text is NUL-terminated printable ASCII: names and keys of the stream are bounded
 * and escaped when they are stored. */
struct upk_error {
    uint16_t code;     /* enum upk_code */
    uint8_t cls;       /* enum upk_class_of_refusal */
    uint8_t opcode;    /* enum upk_op at `offset`; 0: none */
    uint8_t byte;      /* the byte at `offset`, for unknown opcodes */
    uint8_t budget;    /* enum upk_budget, for code UPK_ERR_BUDGET */
    uint8_t verb;      /* enum upk_verb that would be wanted, for the grant line; 0: unknown */
    uint8_t dangerous; /* the name is on the closed list: no grant line */
    uint8_t steps;     /* enum upk_step that are wanted, for the grant line */
    uint32_t arity;    /* number of arguments seen, for the grant line */
    uint64_t offset;   /* of the opcode in the stream */
    uint64_t limit, figure;
    char module[260], name[260]; /* the name concerned; empty: none */
    char detail[160];            /* what exactly is wrong */
    /* Place in the value: $.frames[3].pixels, $.jobs[0].state.id, $.args[1].  "$" where it is not known: where
     * the stream ends, or breaks, before the value is part of the result. */
    char path[160];
    char policy[160];   /* "channel result of policy agent.return 3" */
    char rule[120];     /* the policy's line that ruled: "std/values.policy:12"; empty: none */
    char change[400];   /* what the policy says and would have to say otherwise, in words; empty: nothing */
    char file_kind[64]; /* what the input looks like when it is no pickle: "a zip archive"; empty: a pickle */
};

const char *upk_class_word(unsigned cls); /* "truncated"; never NULL */
const char *upk_op_name(unsigned op);     /* "BININT1"; never NULL */
const char *upk_budget_word(unsigned b);  /* "depth"; never NULL */
/* By enum upk_budget: what holds where nothing else is said, and the largest figures that may be. */
extern const uint64_t upk_budget_standard[], upk_budget_most[];
const char *upk_code_sentence(unsigned code);
unsigned upk_code_class(unsigned code); /* enum upk_class_of_refusal */

/* Write one line (no newline) that says what is wrong, with names and figures, into buf; NUL-terminated, cut to size.
 * Returns the length the whole text has, as snprintf does. */
size_t upk_error_message(const struct upk_error *err, char *buf, size_t size);
/* The policy text that would grant a name that no row grants, or "" where there is none to give: dangerous and odd names, and all
 * other refusals, for which a policy would have to change (`change`).  Same return as above. */
size_t upk_error_grant(const struct upk_error *err, char *buf, size_t size);
/* The full refusal in several lines, each ended by LF: message [code], place, rule, and change or grant. */
void upk_error_write(const struct upk_error *err, FILE *to);
/* The same without the last. */
void upk_error_write_bare(const struct upk_error *err, FILE *to);

/* ---- decoding ------------------------------------------------------------------------------------------------------- */

struct upk_allocator {
    void *(*resize)(void *ctx, void *block, size_t old_size,
                    size_t new_size); /* as realloc; new_size 0 frees */
    void *ctx;
};

struct upk_bytes {
    const void *data;
    size_t len;
};

enum upk_flag {
    UPK_COPY = 1,            /* copy the input first: the document does not borrow it */
    UPK_ALLOW_TRAILING = 2,  /* bytes after STOP are left alone; *used says where the pickle ended */
    UPK_FAMILY_FLAGS = 4,    /* inspection: `families` is set (else the family core alone) */
    UPK_ALLOW_FAIL_OPEN = 8, /* decode under a policy with `fail_open`, which is refused without */
    UPK_INERT_NAMES =
        16 /* no `resolve`: a name without a row stands for a class of the kind that the policy admits.  For
                              * hosts that build nothing: whether there is such a class nobody has looked */
};

/* Names without a row, under a policy with `subclasses of` or `fail_open`.  A host is asked what it has under them, at the
 * opcode; it tells, and the library judges. */
enum upk_found {
    UPK_FOUND_NO_MODULE, /* the module is not loaded.  It is never imported for this */
    UPK_FOUND_NOTHING, /* the module has nothing under the name, as far as can be told without running code */
    UPK_FOUND_CLASS,
    UPK_FOUND_CONST, /* a member of an enum, or a singleton of the language, such as Ellipsis */
    UPK_FOUND_OTHER  /* a function, a module, a class that makes classes, any other object */
};
struct upk_own_name { /* text is read before the next question */
    const char *module, *name;
    size_t module_len, name_len;
};
struct upk_question {
    struct upk_own_name name; /* in modern spelling */
    size_t index; /* of the question in this stream, from 0 on: what a host has found it may keep by that */
    const struct upk_policy *policy; /* its `opens` hold the bases */
};
struct upk_answer { /* comes cleared */
    enum upk_found found;
    /* Of a class: index in policy->opens of the base that is nearest in its order of inheritance; 0: it is under none. */
    uint32_t base;
    /* What the object calls itself, all its names; and the classes that it inherits from. */
    const struct upk_own_name *names, *ancestors;
    size_t name_count, ancestor_count;
};
/* Returns false where the host cannot say: the stream is refused. */
typedef bool (*upk_resolve_fn)(void *ctx, const struct upk_question *question, struct upk_answer *answer);

/* Asked for each PERSID and BINPERSID; `id` is the finished value so far.  Returns false to refuse. */
typedef bool (*upk_persid_fn)(void *ctx, struct upk_value id);

struct upk_options {
    const struct upk_allocator *allocator; /* NULL: malloc */
    uint32_t flags;                        /* enum upk_flag */
    uint32_t families;                     /* inspection and scan: bits 1 << enum upk_family */
    const struct upk_bytes *buffers;       /* out-of-band buffers in the order of NEXT_BUFFER */
    size_t buffer_count;
    upk_persid_fn persid; /* NULL: inert persid nodes */
    void *persid_ctx;
    size_t *used;            /* out, may be NULL: bytes of the pickle, STOP included */
    const uint64_t *budgets; /* inspection and scan: UPK_BUDGET_COUNT figures; NULL: the defaults */
    /* NULL: under a policy that asks for names nothing is decoded, but with UPK_INERT_NAMES. */
    upk_resolve_fn resolve;
    void *resolve_ctx;
    /* Two random words for hashing, which whoever writes pickles cannot know, of a host that decodes often.  NULL: the kernel is asked
     * for them by each decode that needs them. */
    const uint64_t *secret;
};

/* Decode `len` bytes under `policy`.  On success *doc is owned by the caller (upk_doc_free). */
bool upk_decode(const struct upk_policy *policy, const void *bytes, size_t len,
                const struct upk_options *options, struct upk_doc **doc, struct upk_error *err);

/* Give `least` bytes of the stream to `to`, and up to `most` where they can be had at once; *got says how many.  Fewer than
 * `least` is the end of the stream: nothing more is asked for.  Returns false where the host cannot read. */
typedef bool (*upk_read_fn)(void *ctx, void *to, size_t least, size_t most, size_t *got);
/* Decode exactly one pickle that comes piece by piece.  `least` never reaches behind its STOP (or to what refuses it); *used tells
 * a reader that gave more how much of it belongs to the pickle.  As upk_decode with UPK_ALLOW_TRAILING, but that
 *  - the bytes read stand in the document and count for its memory;
 *  - where the stream is longer than the budget allows, that is refused when it is met, not before all else;
 *  - a memo key larger than the stream's length is refused when that is known, where nothing else was refused before. */
bool upk_decode_from(const struct upk_policy *policy, upk_read_fn read, void *read_ctx,
                     const struct upk_options *options, struct upk_doc **doc, struct upk_error *err);
/* The verdict alone; no document is kept. */
bool upk_check(const struct upk_policy *policy, const void *bytes, size_t len,
               const struct upk_options *options, struct upk_error *err);
/* Decode without a policy, everything inert: the machine's own rules and budgets only. */
bool upk_inspect(const void *bytes, size_t len, const struct upk_options *options, struct upk_doc **doc,
                 struct upk_error *err);

/* Look at how the stream uses the name that was refused (those that upk_error_grant has a row for), so that
 * upk_error_grant can write the whole row.  A second pass over the stream, without a policy, within the policy's budgets: for
 * people who will read the refusal, not for every one.  Same policy, bytes and options as in the refused call. */
void upk_error_observe(struct upk_error *err, const struct upk_policy *policy, const void *bytes, size_t len,
                       const struct upk_options *options);

/* What a stream uses, all at once and without a policy.  Names are in the order of first use. */
struct upk_scan_name {
    char module[260], name[260]; /* printable, as in errors; Python 2 names mapped */
    uint64_t offset, count;      /* of the first use; uses */
    uint8_t opcode;              /* GLOBAL, STACK_GLOBAL or INST */
    uint8_t dangerous;           /* on the closed list of names that no policy should grant */
};
struct upk_scan_result {
    uint64_t opcodes[72]; /* count, by enum upk_op */
    uint64_t figures[16]; /* by enum upk_budget: what the stream needs */
    uint32_t protocol;
    bool cyclic;
    size_t name_count;
    struct upk_scan_name *names;
    struct upk_allocator allocator; /* private */
};
/* On success the result is owned: upk_scan_free. */
bool upk_scan(const void *bytes, size_t len, const struct upk_options *options, struct upk_scan_result **scan,
              struct upk_error *err);
void upk_scan_free(struct upk_scan_result *scan);

/* Is the name, in its modern spelling, on the closed list of what reaches the system, the interpreter or another decoder? */
bool upk_name_is_dangerous(const char *module, size_t module_len, const char *name, size_t name_len);

/* Structural validation of any table, in O(n): indices, order, text, every key found under its own hash. */
bool upk_policy_check(const struct upk_policy *policy, struct upk_error *err);

/* ---- policies that a host extends ------------------------------------------------------------------------------------- */

/* How objects of a class are made, and what state they have.  All values are of the type `any`.  With "any attributes" the state,
 * where there is one, is a dict of str keys, or a pair of two, as copyreg has it for slots. */
enum upk_extra_shape {
    UPK_EXTRA_RECORD, /* as the template `dataclass` has it: `fields` are the whole state */
    UPK_EXTRA_TUPLE,  /* as `namedtuple`: `fields` are the arguments of `new` */
    UPK_EXTRA_ENUM,   /* as `enum`: `fields` are the members */
    UPK_EXTRA_FLAG,   /* as `flag` */
    UPK_EXTRA_PLAIN,  /* new(), with any attributes */
    UPK_EXTRA_NEW,    /* the same with arguments: `fields`, or any where there are none */
    UPK_EXTRA_CALL,   /* the same by a call */
    UPK_EXTRA_SHAPES
};

/* A field of the state, an argument or a member. */
struct upk_extra_field {
    struct upk_bytes name;
    bool optional; /* it may be absent; of arguments, at the end alone */
    bool slot;     /* RECORD: it is a slot; where others are not, the state may be a pair of both kinds */
    /* The value of a member: UPK_NONE, UPK_BOOL or UPK_INT (`number`), UPK_STR or UPK_BYTES (`text`); UPK_INVALID: it is none of
     * these, and any value may be given. */
    uint8_t kind;
    int64_t number;
    struct upk_bytes text;
};

/* A class that a host admits by itself.  Names are 1 to 256 bytes. */
struct upk_extra {
    struct upk_bytes module, qualname;
    uint32_t shape; /* enum upk_extra_shape */
    uint32_t steps; /* ITEMS, PAIRS: of a list or dict.  STATE: any state at all, instead of any attributes */
    uint32_t runs;  /* upk_tables.h, UPK_FORM_RUNS_*: Python code of the class that may run */
    const struct upk_extra_field *fields;
    size_t field_count;
};

enum { UPK_EXTRAS_MOST = 10000, UPK_EXTRA_FIELDS_MOST = 1000000 }; /* classes, and their fields together */

/* A new policy: `base`, with a row for each of these classes.  What `base` decides it decides alike, but that its type `any`
 * takes the new classes as well; a type that names its classes takes no others.  So where `base` has no type that could hold a
 * class, that is an error, and so are names on the closed list of what reaches the system, builtins, and two classes of one name
 * (UPK_ERR_MISUSE, with the name).  A class that `base` grants already stays as it is.  The rules of new rows are
 * "with_types:N", N the place in `extras` from 1 on.  The policy borrows `base`, or, where that was made so itself, what it borrows;
 * nothing of `extras` is kept. */
bool upk_policy_extend(const struct upk_policy *base, const struct upk_extra *extras, size_t count,
                       const struct upk_allocator *allocator, struct upk_policy **policy,
                       struct upk_error *err);
void upk_policy_free(struct upk_policy *policy); /* of upk_policy_extend; NULL is fine */

/* ---- documents ------------------------------------------------------------------------------------------------------ */

void upk_doc_free(struct upk_doc *doc); /* NULL is fine */
struct upk_value upk_doc_root(const struct upk_doc *doc);
const struct upk_policy *upk_doc_policy(const struct upk_doc *doc); /* NULL: inspected */
size_t upk_doc_memory(const struct upk_doc *doc);                   /* bytes held */

/* The kind, spellings of old protocols resolved (bytes made by _codecs.encode are BYTES). */
enum upk_kind upk_kind(struct upk_value v);
bool upk_is(struct upk_value v, enum upk_kind kind);

bool upk_get_bool(struct upk_value v, bool *out);
bool upk_get_int64(struct upk_value v, int64_t *out); /* INT only */
/* INT or BIGINT as little-endian two's complement of least length (0 is one byte).  For INT, `scratch` holds the bytes. */
bool upk_get_bigint(struct upk_value v, uint8_t scratch[8], const uint8_t **bytes, size_t *len);
bool upk_get_double(struct upk_value v, double *out);
bool upk_get_str(struct upk_value v, const char **text, size_t *len); /* STR, and STR8 that is ASCII */
bool upk_str_is(struct upk_value v, const char *text);                /* the same, and it is `text` */
/* BYTES, BYTEARRAY or STR8. */
bool upk_get_bytes(struct upk_value v, const uint8_t **bytes, size_t *len);
bool upk_get_buffer(struct upk_value v, size_t *index, bool *readonly);
/* The bytes of out-of-band buffer `index`; false: they were not given. */
bool upk_doc_buffer(const struct upk_doc *doc, size_t index, const uint8_t **bytes, size_t *len);
bool upk_get_global(struct upk_value v, const char **module, size_t *module_len, const char **name,
                    size_t *name_len);
bool upk_get_persid(struct upk_value v, struct upk_value *id);
bool upk_get_ext(struct upk_value v, int64_t *code);

/* Members: of LIST, TUPLE, SET, FROZENSET; of an OBJECT its items (or adds).  For DICT and an OBJECT's pairs, keys and
 * values by position, in the stream's order. */
size_t upk_len(struct upk_value v);
bool upk_at(struct upk_value v, size_t i, struct upk_value *out);
bool upk_pair_at(struct upk_value v, size_t i, struct upk_value *key, struct upk_value *value);
size_t upk_pair_len(struct upk_value v);
/* By str key; of equal ones, which an inspected document may have, the last, as Python does it. */
bool upk_dict_get(struct upk_value dict, const char *key, struct upk_value *out);

/* Objects.  Row ids are the generated header's enum; 0: none (inspected, or no object).  upk_object_row is the row of what was
 * called to make the object; upk_global_row that of a GLOBAL, the mention of a class or a const. */
uint32_t upk_object_row(struct upk_value v);
uint32_t upk_global_row(struct upk_value v);
/* The row of the class that an object or a const is an instance of, whatever made it: a function, the class itself, or, of the
 * member of an enum or flag, its name.  Where that class has no row it is the row of what made the value.  0: neither an object
 * nor a const. */
uint32_t upk_value_row(const struct upk_doc *doc, struct upk_value v);
bool upk_object_class(const struct upk_doc *doc, struct upk_value v, const char **module, size_t *module_len,
                      const char **name, size_t *name_len);
bool upk_object_args(struct upk_value v, struct upk_value *args);   /* a TUPLE */
bool upk_object_kwargs(struct upk_value v, struct upk_value *kw);   /* a DICT; false: none */
bool upk_object_state(struct upk_value v, struct upk_value *state); /* false: none */
/* How it was made, after normalisation: *verb is UPK_VERB_CALL or UPK_VERB_NEW of upk_tables.h (0 without a policy), *steps the
 * enum upk_step that it took. */
bool upk_object_how(struct upk_value v, unsigned *verb, unsigned *steps);
/* All objects of the document in the order in which the stream made them, also those that it dropped again: begins with
 * UPK_INVALID; false: there are no more. */
bool upk_next_object(const struct upk_doc *doc, struct upk_value *v);
/* A field by name: of an OBJECT, wherever Python keeps it: in the state (a dict; both dicts of `__slots__`; a list whose places
 * the policy names; the `__dict__` of a pydantic state), else among the keywords, else among the arguments, which have the names
 * that the policy gives them (an argument that may repeat is no field).  Of a DICT, the value of the str key.  A document that
 * was inspected knows the names that stand in the stream.  The value belongs to the document. */
bool upk_object_field(const struct upk_doc *doc, struct upk_value v, const char *name, struct upk_value *out);
/* The same, and what upk_get_* say of it; false: no such field, or of another kind.  Where a policy says the type of a field
 * that is mandatory, false has no other reason than a spelling mistake; upk_object_field tells the two apart. */
bool upk_field_bool(const struct upk_doc *doc, struct upk_value v, const char *name, bool *out);
bool upk_field_int64(const struct upk_doc *doc, struct upk_value v, const char *name, int64_t *out);
bool upk_field_double(const struct upk_doc *doc, struct upk_value v, const char *name, double *out);
bool upk_field_str(const struct upk_doc *doc, struct upk_value v, const char *name, const char **text,
                   size_t *len);
bool upk_field_bytes(const struct upk_doc *doc, struct upk_value v, const char *name, const uint8_t **bytes,
                     size_t *len);
/* The value of a member of an `enum` or `flag` of the policy, whether the stream gives it by value, by name or, of a flag, as a
 * chain of operator.or_ (64 bits).  The value belongs to the document or to the policy.  false: no such member; it is given by
 * name, and its value in the policy is no literal, or an int beyond 64 bits. */
bool upk_get_member(const struct upk_doc *doc, struct upk_value v, struct upk_value *out);
/* The name of the member, without its class; it belongs to the policy.  false: no such member; several bits of a flag; a value
 * that is given and that the policy lists as no literal, or as an int beyond 64 bits. */
bool upk_get_member_name(const struct upk_doc *doc, struct upk_value v, const char **text, size_t *len);
/* Values of the standard library, by the class that the object's row names (docs/runtime.md); false: another class, or parts that
 * the class does not have. */
struct upk_datetime {
    bool has_date, has_time; /* date, time, or both for datetime; what is not there is 0 */
    uint16_t year;           /* 1 to 9999 */
    uint8_t month, day, hour, minute, second;
    uint8_t fold; /* 1: the second of two equal times of a clock that was put back */
    uint32_t microsecond;
    struct upk_value zone; /* a timezone or ZoneInfo object; UPK_NONE: none */
};
struct upk_timedelta {
    int32_t days;
    uint32_t seconds, microseconds; /* below a day, below a second */
};
bool upk_get_datetime(const struct upk_doc *doc, struct upk_value v, struct upk_datetime *out);
bool upk_get_timedelta(const struct upk_doc *doc, struct upk_value v, struct upk_timedelta *out);
/* The text of a decimal.Decimal, ASCII; it belongs to the document. */
bool upk_get_decimal(const struct upk_doc *doc, struct upk_value v, const char **text, size_t *len);
/* The bytes of a uuid.UUID in the order in which they are written. */
bool upk_get_uuid(const struct upk_doc *doc, struct upk_value v, uint8_t out[16]);

/* An array of numpy, or a scalar: an array without dimensions.  Nothing is copied: pointers are into the input, a buffer or the
 * document.  Only rows that have one of the checks ndarray, frombuffer and npscalar make one; false: another row.  The checks
 * prove that all items which shape and strides reach are there; of no other alignment than 1. */
enum { UPK_MOST_DIMENSIONS = 64 };
struct upk_ndarray {
    char
        kind; /* as numpy's dtype.kind: b bool, i u f c numbers, S bytes, U str (UCS-4), V void, M m times, O object */
    char order;        /* of bytes: '<', '>' or, where it has none, '|' */
    uint64_t itemsize; /* bytes */
    uint32_t ndim;     /* dimensions */
    bool fortran;      /* of the data the first index varies fastest, else the last; of kind O the last */
    uint64_t shape[UPK_MOST_DIMENSIONS];
    uint64_t strides
        [UPK_MOST_DIMENSIONS]; /* from one index to the next, in bytes, of kind O in members; 0 where count is 0 */
    uint64_t count;            /* items */
    const uint8_t *data;       /* count times itemsize bytes; NULL: kind O, or there are none */
    struct upk_value objects; /* kind O: a LIST of the items; else UPK_INVALID */
    const uint8_t *
        mask; /* of a masked array, in the order of the items: a byte that is not 0 hides one; NULL: no mask */
    /* Bytes of the mask for an item: 1, of a record as many as it has values; 0 where count is 0. */
    uint64_t mask_each;
    struct upk_value dtype; /* the object, for names and fields of a record */
};
bool upk_get_ndarray(const struct upk_doc *doc, struct upk_value v, struct upk_ndarray *out);
/* Identity: two values are the same object exactly when both are nonzero and equal.  0: a plain scalar.  Members of an enum are
 * compared by upk_get_member instead: one has several spellings, and several names. */
uintptr_t upk_identity(struct upk_value v);

/* ---- printed forms -------------------------------------------------------------------------------------------------- */

/* Receives pieces of text; returns false to stop. */
typedef bool (*upk_sink)(void *ctx, const char *text, size_t len);
/* Print the root: `tree` what the opcodes build, as S-expressions; `json` lossless JSON with tagged objects; `repr` Python
 * literal syntax.  Charges the budget `expanded` while it writes; false: the sink stopped, or err says why. */
bool upk_print_tree(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);
bool upk_print_json(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);
bool upk_print_repr(const struct upk_doc *doc, upk_sink sink, void *ctx, struct upk_error *err);

#ifdef __cplusplus
}
#endif
#endif
