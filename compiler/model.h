/* The resolved model: what a policy means once names are looked up and everything is checked.  One `struct
 * model` a channel; the back end lowers it to `struct upk_policy`.
 *
 * Layer: between check_channel.c (which makes it) and lower.c (which reads it).  All of it, texts included,
 * lives in the arena of its `struct compiled` (compile.h) and is borrowed by whoever reads it.  Types are
 * shared: by rows, by channels, and by themselves where they are recursive (a cycle always passes a list,
 * set, dict, tuple or record).
 *
 * Kinds, verbs and flags are those of runtime/upk_tables.h, with the same meaning.
 */
#ifndef COMPILER_MODEL_H
#define COMPILER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../runtime/upk_tables.h"
#include "source.h"

/* (module, qualname), exact, in modern spelling; each 1 to 256 bytes of UTF-8. */
struct model_name {
    struct text module, qualname;
};

/* An integer of -2^128 .. 2^128-1: the low 128 bits of its two's complement, low word first, and its sign. */
struct model_int {
    uint64_t word[2];
    bool negative;
};

struct model_elem { /* of a tuple, or an argument */
    struct model_type *type;
    struct text name; /* of an argument, or of the field that a place holds; else empty */
};

struct model_field { /* of a record */
    struct text key; /* UTF-8, a lone surrogate as three bytes */
    struct model_type *type;
    bool optional;
};

struct model_type {
    enum upk_type_kind kind;
    struct text name; /* that a `type` line gives; empty: none */
    /* Inclusive length (pairs of a dict, items or pairs of an object); hi UINT64_MAX: open.  0 and UINT64_MAX for
     * kinds without length. */
    uint64_t lo, hi;

    /* UPK_TYPE_INT: inclusive bounds; open_* says that there is none on that side.  UPK_TYPE_INT_IS: min is
     * the literal. */
    struct model_int min, max;
    bool open_min, open_max;
    bool has_mask;
    struct model_int mask;

    /* UPK_TYPE_STR, UPK_TYPE_TEXT: allowed code points, sorted, not touching; none: all. */
    bool has_chars;
    struct upk_range *chars;
    size_t char_count;

    struct text literal; /* UPK_TYPE_STR_IS, UPK_TYPE_BYTES_IS */

    struct model_type *item;        /* LIST, SET, FROZENSET; PERSID: of the id */
    struct model_type *key, *value; /* DICT */

    /* TUPLE, PLACES: required ones, then `optional` optional ones, then, if `repeats`, one that stands for zero or
     * more (not counted in `optional`). */
    struct model_elem *elems;
    size_t elem_count, optional;
    bool repeats;

    struct model_field *fields; /* RECORD: sorted bytewise by key, no key twice */
    size_t field_count;
    struct model_type *rest; /* RECORD: of keys that are no field; NULL: closed */

    struct model_type **alts; /* UNION: two or more, in the order of the policy, none of them a union */
    size_t alt_count;

    struct model_name qualified; /* OBJECT, REF */

    struct model_name *classes; /* INSTANCE: sorted, no name twice; the results of the fragment's rows */
    size_t class_count;

    uint32_t mark; /* scratch for one pass of the back end; 0 when it starts */
};

/* The i-th type that `t` holds directly, in a fixed order: elements, fields and alternatives as they stand,
 * then a record's rest.  NULL behind the last. */
struct model_type *model_type_part(const struct model_type *t, size_t i);

/* One way to make an object of a row. */
struct model_form {
    enum upk_verb verb;
    uint32_t flags;           /* enum upk_form_flag */
    struct model_name result; /* what the object is an instance of; of ref and const: the row's own name */
    struct model_type *args;  /* TUPLE with named elements; NULL: none taken (ref, const) */
    struct model_type *kw;    /* RECORD; NULL: no keywords */
    /* NULL: no such step. */
    struct model_type *state, *items, *pair_key, *pair_value, *adds;
    uint32_t check;           /* enum upk_check */
    struct model_type *value; /* of a const that is a member of an enum: its literal; NULL: not said */
    struct text because;      /* empty: none */
    uint32_t file, line;      /* index in compiled.files; from 1 */
};

struct model_row {
    struct model_name name;
    uint32_t flags; /* enum upk_row_flag, all but PREFIX */
    struct model_form *forms;
    size_t form_count; /* one or more, in the order of the policy */
    uint32_t calls;    /* budget of calls of this row; 0: only the policy's */
    uint32_t file, line;
    struct span at; /* of the name, for messages */
    /* Of a row that stands for names that only a host knows; its own name is no name of any stream then. */
    enum upk_open_kind open;
    struct model_name base; /* of `subclasses of` */
};

/* The dotted module prefix `from` of a stream is read as `to`; the longest that fits, applied once. */
struct model_alias {
    struct text from, to;
    struct span at; /* the line that says it; of built-in ones zeros */
};

/* What no answer of a host makes a grant of: a dotted path, as import and attributes lead to the object. */
struct model_deny {
    struct text path;
    enum upk_deny_kind kind;
    uint32_t flags;      /* enum upk_deny_flag */
    uint32_t file, line; /* as of a form */
};

/* Another channel of the policy, which is to accept all that this one accepts (within.h). */
struct model_within {
    size_t other;   /* index among the models */
    struct span at; /* its name behind `within` */
};

/* Where settings in effect are said, for messages; zeros: they are the default. */
struct model_places {
    struct span opcodes, protocol, root, budgets[UPK_BUDGET_COUNT];
};

struct model {
    struct text policy;  /* dotted, as written */
    struct text channel; /* empty: the policy has no channel blocks */
    struct span at;      /* where the channel gets its name, or else the policy */
    uint32_t revision;
    uint32_t flags; /* enum upk_policy_flag */
    struct model_type *root;
    uint32_t protocol_min, protocol_max;
    uint64_t budgets[UPK_BUDGET_COUNT]; /* in effect */
    bool allowed[256];                  /* by opcode byte; only real opcodes are ever set */
    struct model_row *rows;             /* sorted bytewise by (module, qualname), no name twice */
    size_t row_count;
    struct model_alias *aliases; /* sorted by `from`, none twice; of the policy and of the fragments in use */
    size_t alias_count;
    /* Where a host is asked for names (some row is open, or channel_describes): `never` of all files and of the channel, and
     * `deny`; sorted by (path, kind), none twice. */
    struct model_deny *denies;
    size_t deny_count;
    /* Of `fail_open`; empty: there is none. */
    struct text until, because;
    uint32_t until_file, until_line;
    struct model_within *withins;
    size_t within_count;
    struct model_places places;
};

/* Does a host make exceptions of what values of this channel name (runtime/python/described.c)?  Then what is denied of names without
 * a row is denied of these, too. */
bool channel_describes(struct text channel);

/* What the value of a variable may be. */
struct model_env_rule {
    enum upk_env_rule_kind kind; /* UPK_ENV_RULE_NONE: no rule at all */
    uint32_t most;
    const struct upk_range *chars; /* sorted, not touching; none: any */
    size_t char_count;
    uint32_t file, line; /* where it is said; line 0: it comes with the name */
};

struct model_env_name {
    struct text name;
    uint32_t flags;                          /* enum upk_env_flag, all but HOME's row */
    struct model_env_rule inherit, manifest; /* as the flags say */
    struct text source;                      /* UPK_ENV_FROM */
    struct text value;                       /* UPK_ENV_SET */
    struct text because;
    uint32_t file, line, manifest_line; /* as in struct upk_env_name */
};

struct model_env_never {
    struct text text;
    enum upk_env_never_kind kind;
    uint32_t file, line; /* line 0: of every policy */
};

struct model_environment {
    struct text name;
    bool home;                    /* HOME is set last */
    struct model_env_name *names; /* sorted by name, none twice */
    size_t name_count;
    struct model_env_never *nevers; /* those of the policy as written, then those of every policy */
    size_t never_count;
    uint32_t file, line;
};

struct model_confinement {
    enum upk_confine_mode on_linux, on_macos;
    bool network;
    struct text network_because;
    uint64_t budgets[UPK_RUN_BUDGET_COUNT]; /* in effect */
    uint32_t file, line;
};

/* In include order: a file comes after those that it includes.  The digest is over `bytes` in this order. */
struct model_file {
    /* "std/plain.policy"; of the main file the last part of its path.  No two files have one. */
    struct text name;
    struct text bytes;
    struct text path; /* as opened, for depfiles only */
    uint32_t source;  /* index among the sources of the diag */
};

#endif
