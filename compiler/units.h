/* What the passes between the parser and the models share: the files of one compile, their types and rows.
 *
 *   include.c         files are found and parsed             -> units
 *   resolve_types.c   named types, type expressions          -> model types
 *   resolve_unions.c  passes over the whole graph of types
 *   resolve_rows.c    rows of modules                        -> model rows
 *   resolve_templates.c  templates for application types     -> model rows
 *   resolve_open.c    `subclasses of`, `fail_open`           -> model rows
 *   resolve_values.c  numbers, sets of characters
 *   check_settings.c  opcodes, protocol, budgets             -> settings
 *   check_never.c     `never` against what is granted
 *   check_deny.c      what is denied of names that only a host knows
 *   check_native.c    `check NAME` against the arguments
 *   check_results.c   alternatives of different results
 *   check_spelling.c, check_references.c  with hint_names.c
 *   check_channel.c   what each channel reaches              -> models
 *   environment.c, confinement.c  the blocks about a child
 *   check_budgets.c   budgets against what all channels can spend
 *
 * Layer: private to those and compile.c.
 */
#ifndef COMPILER_UNITS_H
#define COMPILER_UNITS_H

#include "ast.h"
#include "compile.h"
#include "words.h"

enum { MOST_ALTERNATIVES = 4096 }; /* of a union; members of an enum */

struct type_def {
    struct ast_item *item;
    struct model_type *type;
};

struct row_def {
    struct model_row row;
    struct unit *unit;
    const struct ast_row *tree;
    /* Of a row that a template writes beside that of its class: the class.  What is wrong with both is said there. */
    const struct row_def *owner;
    bool joins;       /* a function that several templates may write: their forms become one row */
    struct span span; /* of the name in the row */
    size_t order;     /* in the compile: files in include order, rows in source order */
    bool refused;     /* a mistake was reported for the row as a whole; it joins no channel */
};

struct unit { /* one file */
    struct ast_file file;
    uint32_t source;
    uint32_t index;         /* in units, and of the file in the tables */
    struct text real;       /* absolute path, by which a file is included once; empty: from memory */
    struct text directory;  /* of the file with its slash, where its own includes are looked up first */
    bool broken;            /* holds no usable tree */
    bool used;              /* by the channel that is being checked */
    struct type_def *types; /* sorted by name */
    size_t type_count;
    struct row_def *rows; /* in source order */
    size_t row_count;
};

struct reference { /* to a row or a fragment, by an object, ref or instance type */
    struct model_type *type;
    const struct ast_type *tree;
    bool reported;
};

struct check_use {  /* a `check NAME` */
    uint32_t check; /* enum upk_check */
    struct span at; /* of the name */
    const struct model_type *args;
    const struct model_type *state; /* NULL: there is none, or it may be left out */
    const struct ast_list *tree;    /* of the arguments: ast_elem */
};

struct union_def {
    struct model_type *type;
    const struct ast_type *tree;
    enum { UNION_RAW, UNION_OPEN, UNION_FLAT } state;
};

struct settings { /* of a policy or a channel */
    bool opcodes[256];
    uint32_t protocol_min, protocol_max;
    uint64_t budgets[UPK_BUDGET_COUNT];
    bool budgets_bad[UPK_BUDGET_COUNT]; /* what is said there is a mistake that was reported */
    /* Where each was set; NULL: it is the default. */
    const struct ast_node *opcodes_at, *protocol_at;
    const struct ast_limit *budgets_at[UPK_BUDGET_COUNT];
    /* Of a channel: does it have any row, one that makes objects, and those of the policy itself? */
    bool grants, makes, uses_main;
};

struct compilation {
    const struct compile_options *options;
    struct diag *diag;
    struct mem *mem;
    struct compiled *compiled;
    struct unit **units; /* in include order, the main file last */
    size_t unit_count, unit_room;
    size_t bytes; /* of all files */
    /* What would only follow from another mistake is not reported: */
    bool files_lost;      /* some file could not be included */
    bool rows_lost;       /* some row, or what would bring rows into a channel, could not be understood */
    bool opcodes_unknown; /* the settings in effect are not those that were meant */

    struct model_type *plain[UPK_TYPE_COUNT]; /* types without parameters are shared */
    struct model_type *poison;                /* stands for a type that a message was given for */
    struct model_type **types;                /* all of them; types[i]->mark is i + 1 */
    size_t type_count, type_room;
    struct union_def *unions;
    size_t union_count, union_room;
    bool *reaches_any; /* by index in `types` */
    struct reference *references;
    size_t reference_count, reference_room;
    struct check_use *check_uses;
    size_t check_use_count, check_use_room;
    struct model_alias *aliases; /* of all units, used or not */
    size_t alias_count;
    struct never_scopes *never; /* of all units */
    struct row_def **rows;      /* of all units that are not refused, sorted by name, then in order */
    size_t row_count;
};

void diag_memory(struct compilation *c);

/* include.c.  false: the main file is not there or no policy at all, so nothing can be checked. */
bool units_load(struct compilation *c);
struct unit *unit_main(const struct compilation *c);

/* resolve_types.c */
void types_declare(struct compilation *c, struct unit *u);
void types_define(struct compilation *c, struct unit *u);
struct model_type *type_convert(struct compilation *c, struct unit *u, const struct ast_type *t);
struct model_type *type_new(struct compilation *c, enum upk_type_kind kind);
struct model_type *type_plain(struct compilation *c, enum upk_type_kind kind);
/* A tuple with these elements; arguments have names. */
struct model_type *type_tuple(struct compilation *c, struct unit *u, const struct ast_list *elems);

/* resolve_unions.c: after all types are defined and all rows resolved */
void unions_finish(struct compilation *c);
void types_find_any(struct compilation *c); /* fills reaches_any */

/* resolve_rows.c */
/* A new row of the file, without forms. */
struct row_def *row_add(struct compilation *c, struct unit *u, const struct ast_row *tree,
                        struct model_name name, struct span span);
/* What stands behind a maker: because, check, runs, budget. */
void clauses_read(struct compilation *c, const struct ast_maker *maker, struct model_form *form,
                  struct model_row *row);
void rows_resolve(struct compilation *c, struct unit *u);
void rows_check_because(struct compilation *c, struct unit *u);
/* Behind an error about two rows of one name. */
void hint_one_row(struct compilation *c, const struct row_def *a, const struct row_def *b);
void rows_collect(struct compilation *c); /* fills rows; refuses doubles within a unit */

/* resolve_templates.c */
bool row_is_template(const struct ast_row *tree);
size_t template_row_count(const struct ast_row *tree);
void template_read(struct compilation *c, struct unit *u, const struct ast_item *module,
                   const struct ast_row *tree);

/* resolve_open.c */
/* A row of `subclasses of`, which as it comes is called as its base is. */
void row_open_read(struct compilation *c, struct row_def *def);
/* What a `fail_open` block says for itself. */
void fail_open_check(struct compilation *c, const struct ast_item *item);
enum { FAIL_OPEN_ROWS = 2, FAIL_OPEN_KNOWN = 12 };
/* The rows that it comes to; false: no memory. */
bool fail_open_rows(struct compilation *c, const struct ast_item *item, struct row_def *out[FAIL_OPEN_ROWS]);
/* Those of classes that every table knows, so that no host is asked for them: of all that are neither granted by one of `rows`
 * nor denied.  false: no memory. */
bool fail_open_known_rows(struct compilation *c, const struct ast_item *item, const struct model *m,
                          struct row_def *const *rows, size_t count, struct row_def *out[FAIL_OPEN_KNOWN],
                          size_t *found);

/* resolve_values.c: numbers as lengths and bounds, sets of characters */
bool number_is_natural(const struct ast_number *n, uint64_t most, uint64_t *value);
int number_compare(struct model_int a, struct model_int b);
void range_of_length(struct compilation *c, const struct ast_range *r, bool units, struct model_type *t);
void range_of_int(struct compilation *c, const struct ast_range *r, struct model_type *t);
void chars_of(struct compilation *c, const struct ast_word *word, struct model_type *t);

/* check_settings.c.  `items` are those of a file or a channel; `outer` is NULL for a policy's own. */
void settings_default(struct settings *s);
void settings_read(struct compilation *c, const struct ast_list *items, const struct settings *outer,
                   struct settings *s);
/* Is there a protocol within the settings in which the opcode is read? */
bool settings_allow(const struct settings *s, enum upk_op op);
/* Adds the bytes that the name of an opcode or a family means; false: it is neither. */
bool opcodes_named(struct text name, bool set[256]);
void opcode_unknown(struct compilation *c, const struct ast_word *word);

/* check_native.c */
void check_read(struct compilation *c, const struct ast_word *word, const struct ast_list *args,
                struct model_form *form);
void checks_check(struct compilation *c); /* after unions are finished */
/* Is it known what the check reads?  True of each. */
bool check_has_signature(enum upk_check check);
/* Some row has a check that holds values against the budget `digits'. */
bool checks_count_digits(const struct compilation *c);

/* check_within.c: what `within` names, of the blocks that the models are of, in their order; the proof comes with the tables
 * (within.h). */
void withins_check(struct compilation *c, const struct ast_item *const *channels);

/* check_results.c: after references_check */
void results_check(struct compilation *c);

/* check_never.c */
struct names;
struct never_scopes *never_begin(struct compilation *c); /* NULL: no memory */
void never_add(struct compilation *c, struct never_scopes *all, const struct ast_list *items);
void never_add_scopes(struct compilation *c, struct never_scopes *all, const struct ast_list *scopes);
void never_ready(struct never_scopes *all); /* after the last of these */
/* The i-th path of a scope; false: there are no more. */
struct scope_found {
    struct text path;
    enum upk_deny_kind kind;
    bool written; /* as the policy writes it */
    const struct ast_scope *scope;
};
bool never_item(const struct never_scopes *all, size_t i, struct scope_found *out);
/* Refuses rows that a scope means.  `names`: with the aliases that hold where the rows are granted. */
void never_check(struct compilation *c, const struct never_scopes *all, const struct names *names,
                 struct row_def *const *rows, size_t count);
void never_check_opcodes(struct compilation *c, const struct ast_item *never, const struct settings *s);

/* check_deny.c: fills the denies of a channel that is open to some names.  `own`: of its own `never` lines; NULL: none;
 * `fail_open` likewise. */
void denies_fill(struct compilation *c, struct model *m, const struct never_scopes *own,
                 const struct ast_item *fail_open, struct row_def *const *rows, size_t count);

/* check_spelling.c: is there an opcode for everything that a channel grants? */
void spelling_check(struct compilation *c, const struct settings *s, struct row_def *const *rows,
                    size_t count, struct text channel);

/* check_references.c */
void references_check(struct compilation *c); /* against all rows; fills in the classes of `instance of` */
/* What the root and the rows of one channel reach, against its rows. */
void references_check_channel(struct compilation *c, const struct model *m, struct row_def *const *rows,
                              size_t count);
struct unit *fragment_find(const struct compilation *c, struct text name);
void fragment_unknown(struct compilation *c, const struct ast_word *name);

/* hint_names.c: what else was meant? */
void hint_fragment(struct compilation *c, struct text name);
/* For a type that is no type: is it the name of a class?  Then a hint says how that is written. */
bool hint_class(struct compilation *c, struct text name);
/* For a class of which nothing makes instances; `names` are those of which something does. */
void hint_producer(struct compilation *c, struct model_name name, const struct model_name *names,
                   size_t count);

/* check_budgets.c: lines that no channel can ever reach.  `own` are the policy's. */
void budgets_check(struct compilation *c, const struct settings *own, const struct settings *channels,
                   size_t count);

/* What it goes by.  Is the budget spent by some opcodes alone, and how much of it by one of them? */
bool budget_is_spent(enum upk_budget b);
uint64_t budget_spending(enum upk_budget b, enum upk_op op);
/* Does one budget never exceed another in a stream? */
bool budget_is_within(enum upk_budget b, enum upk_budget within);

/* environment.c, confinement.c: fill compiled.environment and compiled.confinement */
void environment_read(struct compilation *c);
void confinement_read(struct compilation *c);
/* The one block of a kind; another one is an error. */
const struct ast_item *block_find(struct compilation *c, enum ast_item_kind kind);

/* check_channel.c */
void channels_check(struct compilation *c);
/* "in channel `x'" for messages; of a policy without channels "here". */
struct phrase channel_phrase(struct compilation *c, struct text channel);

#endif
