/* The contract between compiled policies and the runtime: the only header that generated C includes.
 *
 * policyc fills these structs, either as constant data in a generated C file or in memory (`policyc try`); the runtime only
 * reads them.  Everything is plain fixed-width data without pointers between tables: a table names another table's entry by
 * its index, and text by its place in one string pool.  Index 0 of rows, forms, types, classes, bounds, charsets, opens and
 * denies is a null entry of zeros, so that 0 always means "none".  `upk_policy_check` (upk.h) checks for any table what is stated here; the
 * digest, that tables are as long as they say, and that no object fits two forms of its row with different results, it must
 * take on trust.
 *
 * Layer: below everything; includes nothing of the project but find_class.h and upk_version.h.
 */
#ifndef UPK_TABLES_H
#define UPK_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "find_class.h"
#include "upk_version.h"

#define UPK_ABI   4u
#define UPK_MAGIC UINT32_C(0x314b5055) /* "UPK1" read little-endian */

/* The 68 opcodes of protocols 0 to 5: X(name, byte, first protocol, family).  The order is that of pickletools.opcodes; the
 * value UPK_OP_<name> is stable.  Source: Lib/pickletools.py, PEP 307, 3154, 574. */
#define UPK_OPCODES(X)                  \
    X(INT, 'I', 0, CORE)                \
    X(BININT, 'J', 1, CORE)             \
    X(BININT1, 'K', 1, CORE)            \
    X(BININT2, 'M', 1, CORE)            \
    X(LONG, 'L', 0, CORE)               \
    X(LONG1, 0x8a, 2, CORE)             \
    X(LONG4, 0x8b, 2, CORE)             \
    X(STRING, 'S', 0, PYTHON2)          \
    X(BINSTRING, 'T', 1, PYTHON2)       \
    X(SHORT_BINSTRING, 'U', 1, PYTHON2) \
    X(BINBYTES, 'B', 3, CORE)           \
    X(SHORT_BINBYTES, 'C', 3, CORE)     \
    X(BINBYTES8, 0x8e, 4, CORE)         \
    X(BYTEARRAY8, 0x96, 5, CORE)        \
    X(NEXT_BUFFER, 0x97, 5, BUFFER)     \
    X(READONLY_BUFFER, 0x98, 5, BUFFER) \
    X(NONE, 'N', 0, CORE)               \
    X(NEWTRUE, 0x88, 2, CORE)           \
    X(NEWFALSE, 0x89, 2, CORE)          \
    X(UNICODE, 'V', 0, CORE)            \
    X(SHORT_BINUNICODE, 0x8c, 4, CORE)  \
    X(BINUNICODE, 'X', 1, CORE)         \
    X(BINUNICODE8, 0x8d, 4, CORE)       \
    X(FLOAT, 'F', 0, CORE)              \
    X(BINFLOAT, 'G', 1, CORE)           \
    X(EMPTY_LIST, ']', 1, CORE)         \
    X(APPEND, 'a', 0, CORE)             \
    X(APPENDS, 'e', 1, CORE)            \
    X(LIST, 'l', 0, CORE)               \
    X(EMPTY_TUPLE, ')', 1, CORE)        \
    X(TUPLE, 't', 0, CORE)              \
    X(TUPLE1, 0x85, 2, CORE)            \
    X(TUPLE2, 0x86, 2, CORE)            \
    X(TUPLE3, 0x87, 2, CORE)            \
    X(EMPTY_DICT, '}', 1, CORE)         \
    X(DICT, 'd', 0, CORE)               \
    X(SETITEM, 's', 0, CORE)            \
    X(SETITEMS, 'u', 1, CORE)           \
    X(EMPTY_SET, 0x8f, 4, CORE)         \
    X(ADDITEMS, 0x90, 4, CORE)          \
    X(FROZENSET, 0x91, 4, CORE)         \
    X(POP, '0', 0, CORE)                \
    X(DUP, '2', 0, DUP)                 \
    X(MARK, '(', 0, CORE)               \
    X(POP_MARK, '1', 1, CORE)           \
    X(GET, 'g', 0, CORE)                \
    X(BINGET, 'h', 1, CORE)             \
    X(LONG_BINGET, 'j', 1, CORE)        \
    X(PUT, 'p', 0, CORE)                \
    X(BINPUT, 'q', 1, CORE)             \
    X(LONG_BINPUT, 'r', 1, CORE)        \
    X(MEMOIZE, 0x94, 4, CORE)           \
    X(EXT1, 0x82, 2, EXT)               \
    X(EXT2, 0x83, 2, EXT)               \
    X(EXT4, 0x84, 2, EXT)               \
    X(GLOBAL, 'c', 0, CORE)             \
    X(STACK_GLOBAL, 0x93, 4, CORE)      \
    X(REDUCE, 'R', 0, CORE)             \
    X(BUILD, 'b', 0, CORE)              \
    X(INST, 'i', 0, INST)               \
    X(OBJ, 'o', 1, INST)                \
    X(NEWOBJ, 0x81, 2, CORE)            \
    X(NEWOBJ_EX, 0x92, 4, CORE)         \
    X(PROTO, 0x80, 2, CORE)             \
    X(STOP, '.', 0, CORE)               \
    X(FRAME, 0x95, 4, CORE)             \
    X(PERSID, 'P', 0, PERSID)           \
    X(BINPERSID, 'Q', 1, PERSID)

enum upk_op {
    UPK_OP_UNKNOWN = 0, /* no opcode has this byte */
#define UPK_X(name, byte, protocol, family) UPK_OP_##name,
    UPK_OPCODES(UPK_X)
#undef UPK_X
        UPK_OP_END,      /* 69 */
    UPK_OP_REFUSED = 255 /* in upk_policy.opcodes: a real opcode that the policy does not allow */
};

/* Opcode families, as a policy names them. */
#define UPK_FAMILIES(X) \
    X(CORE, core)       \
    X(PYTHON2, python2) X(INST, inst) X(PERSID, persid) X(BUFFER, buffer) X(EXT, ext) X(DUP, dup)

enum upk_family {
#define UPK_X(name, word) UPK_FAMILY_##name,
    UPK_FAMILIES(UPK_X)
#undef UPK_X
        UPK_FAMILY_COUNT
};

/* Budgets: X(NAME, word, default, largest value a policy may set, unit).  At the limit passes, limit + 1 is refused. */
#define UPK_BUDGETS(X)                                                                 \
    X(BYTES, bytes, UINT64_C(64) << 20, UINT64_C(1) << 46, "bytes")                    \
    X(OPCODES, opcodes, 10000000, UINT64_C(1) << 46, "opcodes")                        \
    X(MEMO, memo, 5000000, UINT32_MAX - 1, "memo entries")                             \
    X(MARKS, marks, 1000, 100000000, "open marks")                                     \
    X(DEPTH, depth, 200, 1000000, "levels")                                            \
    X(NODES, nodes, 5000000, UINT32_MAX - 1, "values")                                 \
    X(ITEMS, items, 5000000, UINT32_MAX / 2, "members")                                \
    X(EXPANDED, expanded, 10000000, UINT32_MAX - 1, "values with sharing written out") \
    X(MATCHES, matches, 50000000, UINT64_C(1) << 46, "matches")                        \
    X(STRING, string, UINT64_C(64) << 20, UINT32_MAX - 1, "bytes")                     \
    X(DIGITS, digits, 4300, 100000, "digits") /* conversion is quadratic */            \
    X(LONG, long, 1786, 65536, "bytes")       /* the same when it is printed */        \
    X(CALLS, calls, 1000000, UINT32_MAX - 1, "calls")                                  \
    X(NAMES, names, 10000, UINT32_MAX - 1, "names")                                    \
    X(NAME, name, 256, 256, "bytes")                                                   \
    X(MEMORY, memory, UINT64_C(512) << 20, UINT64_C(1) << 46, "bytes")

enum upk_budget {
#define UPK_X(name, word, standard, most, unit) UPK_BUDGET_##name,
    UPK_BUDGETS(UPK_X)
#undef UPK_X
        UPK_BUDGET_COUNT
};

/* A piece of the policy's string pool; bytes are UTF-8 (lone surrogates as three bytes), without a final NUL. */
struct upk_text {
    uint32_t at, len;
};

/* Names that only spell something else in old protocols, known to every policy without being granted (rule numbers: N1 to
 * N12 of docs/runtime.md).  Where they do not normalise away they are class recipe. */
enum upk_special {
    UPK_SPECIAL_NONE = 0,
    UPK_SPECIAL_ENCODE,    /* N2  _codecs.encode */
    UPK_SPECIAL_BYTES,     /* N2, N6 */
    UPK_SPECIAL_BYTEARRAY, /* N3 */
    UPK_SPECIAL_SET,       /* N4 */
    UPK_SPECIAL_FROZENSET, /* N4 */
    UPK_SPECIAL_GETATTR,   /* N7 */
    UPK_SPECIAL_OBJECT,    /* N5 */
    UPK_SPECIAL_INT,       /* N6, this and the next six: bases of copyreg._reconstructor */
    UPK_SPECIAL_STR,
    UPK_SPECIAL_FLOAT,
    UPK_SPECIAL_COMPLEX,
    UPK_SPECIAL_LIST,
    UPK_SPECIAL_TUPLE,
    UPK_SPECIAL_DICT,
    UPK_SPECIAL_RECONSTRUCTOR, /* N5, N6  copyreg._reconstructor */
    UPK_SPECIAL_NEWOBJ,        /* N9  copyreg.__newobj__ */
    UPK_SPECIAL_PARTIAL,       /* N8  functools.partial */
    UPK_SPECIAL_OR,            /* flags: operator.or_ */
    UPK_SPECIAL_NEW_OF,        /* N8  C.__new__ of a class row with keywords; `target` is C's row */
    UPK_SPECIAL_COUNT
};

enum upk_row_flag {
    UPK_ROW_CLASS = 1,   /* granted as a class */
    UPK_ROW_FUNC = 2,    /* granted as a function */
    UPK_ROW_CONST = 4,   /* granted as data */
    UPK_ROW_REF = 8,     /* may stand as a value where a `ref` type asks for it */
    UPK_ROW_PREFIX = 16, /* a proper prefix of a granted dotted qualname; nothing by itself */
    UPK_ROW_IMPORT = 32, /* may be imported when a Python host binds the policy */
    UPK_ROW_STATE = 64,  /* some form takes BUILD; the next three alike */
    UPK_ROW_ITEMS = 128,
    UPK_ROW_PAIRS = 256,
    UPK_ROW_ADDS = 512,
    UPK_ROW_OPEN = 1024 /* for names that only the host knows (`opens`): no stream spells its own */
};

/* One (module, qualname) that the policy knows, in its one modern spelling.  Sorted by (module, qualname) bytewise; the index
 * is the row id that find_class returns and that the generated header's enum names. */
struct upk_row {
    struct upk_text module, qualname;
    uint32_t first_form, form_count; /* contiguous in `forms`, in the order of the policy */
    uint32_t flags;                  /* enum upk_row_flag */
    uint32_t special;                /* enum upk_special */
    uint32_t target;                 /* UPK_SPECIAL_NEW_OF: row of the class; else 0 */
    uint32_t calls;                  /* budget of calls of this row; 0: only the policy's */
    uint32_t file, line;             /* where it is granted: index in `files`, line from 1; 0 line: nowhere */
};

enum upk_verb { UPK_VERB_NONE = 0, UPK_VERB_REF, UPK_VERB_CONST, UPK_VERB_CALL, UPK_VERB_NEW, UPK_VERB_FUNC };

/* Python hooks of a class that may run when its instances are made and used: X(NAME, word, flag of a form). */
#define UPK_HOOKS(X)              \
    X(NEW, __new__, 4)            \
    X(DEL, __del__, 8)            \
    X(SETSTATE, __setstate__, 16) \
    X(SETATTR, __setattr__, 32)   \
    X(HASH, __hash__, 64)         \
    X(EQ, __eq__, 128)

enum upk_form_flag {
    UPK_FORM_STATE_OPTIONAL = 1, /* `state? T` */
    UPK_FORM_TEMPLATE = 2,       /* written by a template */
#define UPK_X(name, word, flag) UPK_FORM_RUNS_##name = flag,
    UPK_HOOKS(UPK_X)
#undef UPK_X
        UPK_FORM_FLAGS = 255,
    UPK_FORM_RUNS_ALL = 252, /* the bits of all hooks */
    /* Equality runs code: such an object is never compared by its identity. */
    UPK_FORM_RUNS_EQUALITY = UPK_FORM_RUNS_HASH | UPK_FORM_RUNS_EQ
};

/* Native checks: relations between the parts of an object that no type can say; docs/checks.md explains each.  X(NAME, word);
 * numbers are those of the list, from 1. */
#define UPK_CHECKS(X)                 \
    X(DATETIME_BYTES, datetime_bytes) \
    X(DECIMAL, decimal)               \
    X(ARRAY, array)                   \
    X(UNICODE_ERROR, unicode_error)   \
    X(ZONEINFO, zoneinfo)             \
    X(NPDTYPE, npdtype)               \
    X(NDARRAY, ndarray)               \
    X(FROMBUFFER, frombuffer)         \
    X(NPSCALAR, npscalar)

enum upk_check {
    UPK_CHECK_NONE = 0,
#define UPK_X(name, word) UPK_CHECK_##name,
    UPK_CHECKS(UPK_X)
#undef UPK_X
        UPK_CHECK_COUNT
};

/* One alternative of a row: how an object of that name may be made, and the steps it takes then.  Type indices; 0: no such
 * step (for args: none, only REF and CONST). */
struct upk_form {
    uint32_t row;
    uint32_t verb;   /* enum upk_verb */
    uint32_t flags;  /* enum upk_form_flag */
    uint32_t result; /* index in `classes`: what the object is an instance of */
    uint32_t args;   /* a TUPLE type; its elements carry the argument names */
    uint32_t kw;     /* a RECORD type; 0: no keywords (an empty dict counts as none) */
    uint32_t state, items, pair_key, pair_value, adds;
    uint32_t check; /* enum upk_check */
    uint32_t value; /* of a CONST that is a member of an enum: the literal type of its value; 0: not said */
    uint32_t file, line;
    struct upk_text because;
};

/* Kinds of types.  `a`, `b`, `c` are used as said; lo and hi are inclusive bounds of a length (or of an int that fits). */
enum upk_type_kind {
    UPK_TYPE_NEVER = 0, /* index 0 */
    UPK_TYPE_ANY,       /* plain data, consts, objects; no ref, persid, buffer */
    UPK_TYPE_NONE,
    UPK_TYPE_BOOL,
    UPK_TYPE_TRUE,
    UPK_TYPE_FALSE,
    UPK_TYPE_INT, /* a: index in `bounds`, 0 none.  b: 1 + index of a mask in `bounds` (its lo), 0 none */
    UPK_TYPE_FLOAT,
    UPK_TYPE_FINITE, /* a float, neither NaN nor infinite */
    UPK_TYPE_STR,    /* length in code points lo..hi; a: index in `charsets`, 0 none */
    UPK_TYPE_TEXT,   /* the same without surrogates and NUL */
    UPK_TYPE_BYTES,  /* length lo..hi; the next two alike */
    UPK_TYPE_BYTEARRAY,
    UPK_TYPE_BUFFER,
    UPK_TYPE_INT_IS,   /* literal: bounds[a].lo */
    UPK_TYPE_STR_IS,   /* literal: pool text at a, length b */
    UPK_TYPE_BYTES_IS, /* the same */
    UPK_TYPE_LIST,     /* a: item type; length lo..hi */
    UPK_TYPE_SET,
    UPK_TYPE_FROZENSET,
    UPK_TYPE_DICT, /* a: key type, b: value type; pairs lo..hi */
    UPK_TYPE_TUPLE, /* elems[a .. a+b): required ones first; the last `c & 0xffffff` are optional; if c >> 24, the last
                          * element repeats (zero or more).  lo..hi: a further bound on the length */
    UPK_TYPE_PLACES, /* a list with a type for each place: as TUPLE.  Its elements may have names: the fields that they hold */
    UPK_TYPE_RECORD,   /* fields[a .. a+b) sorted by key; c: type of the other values (`*: T`), 0: closed */
    UPK_TYPE_UNION,    /* alts[a .. a+b): type indices, none of them a union */
    UPK_TYPE_OBJECT,   /* a: index in `classes`; lo..hi: number of items or pairs */
    UPK_TYPE_REF,      /* a: row id */
    UPK_TYPE_PERSID,   /* a: type of the id */
    UPK_TYPE_INSTANCE, /* alts[a .. a+b): indices in `classes`, sorted: `instance of FRAGMENT` */
    UPK_TYPE_COUNT
};

struct upk_type {
    uint32_t kind; /* enum upk_type_kind */
    uint32_t a, b, c;
    uint64_t lo, hi; /* hi UINT64_MAX: no upper bound */
    /* Of a container, record or union, that the policy gives it; empty: none.  For messages only. */
    struct upk_text name;
};

struct upk_elem { /* of a TUPLE or PLACES */
    uint32_t type;
    struct upk_text name; /* of an argument, or of the field that a place holds; else empty */
};

struct upk_field { /* of a RECORD */
    struct upk_text key;
    uint32_t type;
    uint32_t optional; /* 0 or 1 */
};

struct upk_class { /* sorted by (module, qualname) */
    struct upk_text module, qualname;
};

/* A pair of inclusive bounds of -2^128 .. 2^128-1 (a UUID needs all 128 bits unsigned): the low 128 bits of each one's two's
 * complement, low word first, its sign in `negative` (bit 1: lo is below 0, bit 2: hi is).  An open end has `open` bit 1 (lo)
 * or 2 (hi) set, its words and sign are 0: then any int passes on that side. */
struct upk_bound {
    uint64_t lo[2], hi[2];
    uint32_t open, negative;
};

struct upk_charset { /* ranges[first .. first+count), sorted, not touching; ASCII also as a bitmap */
    uint64_t ascii[2];
    uint32_t first, count;
};

struct upk_range { /* of code points, inclusive */
    uint32_t lo, hi;
};

enum upk_open_kind {
    UPK_OPEN_NONE = 0,
    /* `subclasses of`: a class that the host has loaded, and that is `module::qualname` or a subclass of it. */
    UPK_OPEN_SUBCLASSES,
    UPK_OPEN_CLASS, /* `fail_open`: another class that the host has loaded */
    UPK_OPEN_CONST  /* `fail_open`: a member of an enum, or one of Python's own singletons */
};

/* Names without a row of their own that a host may be asked for.  Those of `subclasses of` first, in the order of rows. */
struct upk_open {
    uint32_t kind;                    /* enum upk_open_kind */
    uint32_t row;                     /* what such an object is matched against; it has UPK_ROW_OPEN */
    struct upk_text module, qualname; /* of the base, in modern spelling; else empty */
};

enum upk_deny_kind {
    UPK_DENY_NONE = 0,
    UPK_DENY_NAME,   /* module and name, joined by a dot: that object, and what is reached through it */
    UPK_DENY_MODULE, /* a module: all that is in it */
    UPK_DENY_TREE    /* and in the modules below it */
};

enum upk_deny_flag {
    UPK_DENY_NEVER = 1,  /* of a `never`: for every name without a row; else of `fail_open`, for its alone */
    UPK_DENY_WRITTEN = 2 /* as the policy has it; else another path to the same */
};

/* What no host's answer makes a grant of.  Sorted by (path, kind), each once. */
struct upk_deny {
    struct upk_text path;
    uint32_t kind, flags; /* enum upk_deny_kind, enum upk_deny_flag */
    uint32_t file, line;
};

/* ---- the environment of a child --------------------------------------------------------------------------------------- */

/* What the value of a variable may be; docs/environment.md has the grammars.  Whatever the rule: well-formed UTF-8 without
 * control characters, not the start of a function that a shell would import.  X(NAME, word). */
#define UPK_ENV_RULES(X)                                                                    \
    X(TEXT, text)         /* anything else */                                               \
    X(LOCALE, locale)     /* C, POSIX, language[_TERRITORY][.codeset][@modifier] */         \
    X(LOCALES, locales)   /* the same, several joined by colons */                          \
    X(ZONE, zone)         /* Area/City, or POSIX's form; no file, no leading colon */       \
    X(PATH, path)         /* absolute folders joined by colons; none empty, no `..' */      \
    X(FILE, file)         /* one absolute path */                                           \
    X(TERMINAL, terminal) /* a name of terminfo */                                          \
    X(NUMBER, number)     /* up to nine digits */                                           \
    X(WORD, word)         /* letters, digits, and `-', `_', `.'; at most 32 */              \
    X(USER, user)         /* a login name */                                                \
    X(URL, url)           /* http, https, ftp, socks; no credentials, no query or anchor */ \
    X(URLS, urls)         /* the same, several joined by spaces */                          \
    X(PROXY, proxy)       /* a URL, or host:port */                                         \
    X(HOSTS, hosts)       /* names, addresses, networks joined by commas */

enum upk_env_rule_kind {
    UPK_ENV_RULE_NONE = 0,
#define UPK_X(name, word) UPK_ENV_RULE_##name,
    UPK_ENV_RULES(UPK_X)
#undef UPK_X
        UPK_ENV_RULE_COUNT
};

struct upk_env_rule {
    uint32_t kind; /* enum upk_env_rule_kind */
    uint32_t most; /* bytes of a value */
    uint32_t first,
        count; /* code points of which alone it is made: ranges[first .. first+count), sorted; count 0: any */
    uint32_t file, line; /* where it is said, as of a row; line 0: it comes with the name */
};

enum upk_env_flag {
    UPK_ENV_INHERIT = 1,  /* the host's own value */
    UPK_ENV_MANIFEST = 2, /* a manifest may set it */
    UPK_ENV_SET = 4,      /* the policy sets it, over both */
    UPK_ENV_FROM = 8,     /* a manifest may ask for the host's value of `source` in it */
    UPK_ENV_SOURCE = 16,  /* it is such a source: by itself nothing of it reaches a child */
    UPK_ENV_HOME = 32,    /* HOME: set last, to what the host says */
    UPK_ENV_FLAGS = 63
};

/* One variable that the policy knows.  Sorted bytewise by name; the index is what `find` returns. */
struct upk_env_name {
    struct upk_text name;
    uint32_t flags; /* enum upk_env_flag */
    /* By which the host's value is judged, and a manifest's (or what it asks for): indices in `rules`; 0: neither. */
    uint32_t inherit_rule, manifest_rule;
    uint32_t source;       /* FROM: index in `names` */
    struct upk_text value; /* SET */
    /* Where it is inherited or set (or asked for, of SOURCE), and where a manifest is granted it; 0 line: it is not. */
    uint32_t file, line, manifest_line;
    struct upk_text because;
};

enum upk_env_never_kind {
    UPK_ENV_NEVER_NAME = 1, /* `text` itself */
    UPK_ENV_NEVER_PREFIX,   /* what begins with it */
    UPK_ENV_NEVER_SUFFIX,   /* what ends in it */
    UPK_ENV_NEVER_PART      /* what has it anywhere */
};

/* What reaches no child whoever asks for it.  The compiler has proved that no name above is one of these, but where a reason is
 * given or the policy itself sets it; the runtime only says why. */
struct upk_env_never {
    struct upk_text text;
    uint32_t kind;       /* enum upk_env_never_kind */
    uint32_t file, line; /* line 0: it holds in every policy */
};

/* An `environment` block.  Stands by itself: its texts are in its own pool; files are those of the policy.  Index 0 of names,
 * rules, ranges and nevers is a null entry. */
struct upk_environment {
    struct upk_text name; /* as written (dots) */
    uint32_t flags;       /* UPK_ENV_HOME or 0 */
    uint32_t pool_len, name_count, rule_count, range_count, never_count;
    uint32_t file, line;
    const char *pool; /* its last UPK_NAME_PADDED bytes are zeros and belong to no text */
    const struct upk_env_name *names;
    const struct upk_env_rule *rules;
    const struct upk_range *ranges;
    const struct upk_env_never *nevers;
    const struct upk_keys *keys; /* of pairs ("$", name) */
    upk_find_class_fn find;
};

/* ---- the confinement of a child --------------------------------------------------------------------------------------- */

enum upk_confine_mode {
    UPK_CONFINE_REQUIRE = 0, /* never unconfined, whatever a host says */
    UPK_CONFINE_OPT_IN = 1 /* unconfined where there is no way to confine and the host says that it may be */
};

/* Budgets of a run: X(NAME, word, default, largest, unit). */
#define UPK_RUN_BUDGETS(X)                                                                                \
    X(WALL, wall, 60, 31 * 86400, "seconds")                         /* from start to the end of all */   \
    X(MEMORY, memory, UINT64_C(1) << 30, UINT64_C(1) << 46, "bytes") /* of address space, each process */ \
    X(PROCESSES, processes, 64, 1000000, "processes")                                                     \
    X(FILES, files, 256, 1000000, "open files") /* each process */

enum upk_run_budget {
#define UPK_X(name, word, standard, most, unit) UPK_RUN_BUDGET_##name,
    UPK_RUN_BUDGETS(UPK_X)
#undef UPK_X
        UPK_RUN_BUDGET_COUNT
};

/* A `confinement` block. */
struct upk_confinement {
    uint32_t on_linux, on_macos;     /* enum upk_confine_mode */
    uint32_t network;                /* 1: granted */
    struct upk_text network_because; /* in its own pool; empty: no network */
    uint64_t budgets[UPK_RUN_BUDGET_COUNT];
    uint32_t file, line;
    uint32_t pool_len;
    const char *pool;
};

/* A table with another one is refused. */
enum upk_policy_flag {
    UPK_POLICY_ROOT_CYCLIC = 1,
    UPK_POLICY_FAIL_OPEN = 2, /* a host decodes under it only where it says UPK_ALLOW_FAIL_OPEN */
    UPK_POLICY_FLAGS = 3      /* all of them */
};

/* One channel of a policy. */
struct upk_policy {
    uint32_t magic, abi;
    uint32_t size;             /* sizeof (struct upk_policy) */
    uint32_t flags;            /* enum upk_policy_flag */
    struct upk_text name;      /* of the policy, as written (dots) */
    struct upk_text channel;   /* empty where the policy has no channel blocks */
    struct upk_text generator; /* "policyc VERSION" */
    uint32_t revision;
    uint32_t root; /* type */
    uint32_t protocol_min, protocol_max;
    uint8_t digest[32]; /* SHA-256 of the merged source */
    uint64_t budgets[UPK_BUDGET_COUNT];
    uint8_t opcodes[256]; /* enum upk_op of the byte, UPK_OP_UNKNOWN, or UPK_OP_REFUSED */
    uint32_t pool_len, row_count, form_count, type_count, elem_count, field_count, class_count, bound_count,
        charset_count, range_count, alt_count, file_count, open_count, deny_count;
    const char *pool; /* its last UPK_NAME_PADDED bytes are zeros and belong to no text */
    const struct upk_row *rows;
    const struct upk_form *forms;
    const struct upk_type *types;
    const struct upk_elem *elems;
    const struct upk_field *fields;
    const struct upk_class *classes;
    const struct upk_bound *bounds;
    const struct upk_charset *charsets;
    const struct upk_range *ranges;
    const uint32_t *alts;
    const struct upk_text *files;
    const struct upk_open *opens;
    const struct upk_deny *denies;
    /* Of `fail_open`, else empty: the last day, YYYY-MM-DD, the reason, and where it stands. */
    struct upk_text until, because;
    uint32_t until_file, until_line;
    /* Names as a stream below protocol 3 spells them (Python 2 names, N1), and from protocol 3 on: two readings of the same
     * tables. */
    const struct upk_keys *keys[2];
    upk_find_class_fn find_class[2];
    /* Of the whole file, the same for all channels; NULL: it has no such block.  Without `confinement` a child is confined by the
     * defaults: as `require`, without network. */
    const struct upk_environment *environment;
    const struct upk_confinement *confinement;
    /* SHA-256 of `digest` and of what the two blocks come to, base sets included: what a run is held to. */
    uint8_t run_digest[32];
};

/* Nothing else of tables is read before (rule 16). */
static inline bool upk_policy_is_of_this_version(const struct upk_policy *p) {
    return p->magic == UPK_MAGIC && p->abi == UPK_ABI && p->size == sizeof *p;
}

#endif
