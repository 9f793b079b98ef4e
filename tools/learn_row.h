/* Names that `policyc learn` met, and how each was used.
 *
 * Layer: parts of the program policyc, over learn_shape and the compiler's names.
 */
#ifndef TOOLS_LEARN_ROW_H
#define TOOLS_LEARN_ROW_H

#include "../compiler/names.h"
#include "../compiler/output.h"
#include "learn_shape.h"

enum learn_form_kind { LEARN_CALL, LEARN_NEW, LEARN_NEW_KW, LEARN_FORMS };

/* One way in which objects of a row were made; NULL shapes: no such part was met. */
struct learn_form {
    uint64_t seen; /* objects; 0: and nothing was learned of it either, unless `known` */
    bool known;    /* a former policy has it */
    bool no_state; /* some object had none */
    struct shape *args, *kw, *state, *items, *key, *value, *adds;
};

enum learn_owner {
    LEARN_OWN,     /* to be learned */
    LEARN_SPELLER, /* what old protocols spell other values with: known to each policy, never granted */
    LEARN_SHIPPED, /* a shipped fragment that is in use has the row */
    LEARN_CLASS    /* no row: what a function makes */
};

struct learn_row {
    struct model_name name; /* canonical */
    enum learn_owner owner;
    uint32_t shipped;     /* enum upk_row_flag of the shipped row; of LEARN_OWN one that only mentions it */
    bool granted;         /* has a row in the policy that observes */
    const char *excluded; /* not NULL: why the compiler takes no row for it */
    uint64_t mentions, seen;       /* as a value; objects, of a former policy too */
    bool is_special_type;          /* `list` and its like: mentioned at most */
    bool former_const, former_ref; /* what a former learned policy has it as */
    bool met;                      /* some value was made by it, or is it */
    bool needed;                   /* something that was learned has the name */
    bool keep_out;                 /* people have a row of that name */
    bool proposed;                 /* and it does not admit what was seen */
    struct learn_form forms[LEARN_FORMS];
};

struct learn_rows {
    struct mem *mem;
    struct learn_row **items; /* sorted by name */
    size_t count, room;
};

/* The row of that name; NULL: there is none. */
struct learn_row *learn_row_find(const struct learn_rows *rows, struct model_name name);
/* The row of that name, made where it is not there; NULL: no memory. */
struct learn_row *learn_row_get(struct learn_rows *rows, struct model_name name);
/* Of objects that were made so: `verb` is that of a form which makes. */
struct learn_form *learn_row_form(struct learn_row *r, unsigned verb, bool has_kw);
/* Is it to be granted as a value, here or in a former policy, and not by a fragment? */
bool learn_row_is_mentioned(const struct learn_row *r);
/* Was it called, or made otherwise, here or in a former policy? */
bool learn_row_is_made(const struct learn_row *r);
/* The one argument of an enum or flag, which is the value of a member: it was made in no other way, and members of it were met by
 * name.  NULL: it is no such class. */
struct shape *learn_row_member_value(const struct learn_rows *rows, const struct learn_row *r);
/* As what a policy grants it. */
bool learn_row_is_const(const struct learn_row *r); /* data, not a class or function */
bool learn_row_is_func(const struct learn_row *r);
/* `module::Name` */
void learn_row_put(struct output *o, const struct learn_row *r);

#endif
