/* What the parts of upk_policy_extend share.
 *
 *   extend.c        the block, what is copied of the base, and look-ups
 *   extend_names.c  names of the base and new ones become rows, in one order
 *   extend_forms.c  the forms and types of a new class
 *
 * Row ids and classes are places in sorted tables: new ones in between move those of the base, and whatever names them is
 * mapped.  Texts of the base keep their places in the pool, and types, bounds and the rest theirs, for new ones stand behind
 * them.
 *
 * Layer: private to the runtime, over doc.h.
 */
#ifndef UPK_EXTEND_H
#define UPK_EXTEND_H

#include "doc.h"

/* In the order in which one of them wins where a name has several. */
enum name_what {
    NAME_CLASS,
    NAME_MEMBER,
    NAME_KNOWN, /* of a base that was extended itself: its keys do not know it */
    NAME_PREFIX
};

/* A name that the keys of the base do not know, or not as granted.  Sorted, each once. */
struct extra_name {
    struct upk_text module, qualname;
    uint32_t row;
    uint32_t extra, member; /* CLASS; MEMBER: index in `members` too */
    uint8_t what;           /* enum name_what */
    bool granted;           /* here, not by the base */
};

/* Of an extra, and of one of its fields. */
struct extra_work {
    struct upk_text module, qualname; /* in the one modern spelling */
    uint32_t first_field;             /* in `members` */
    uint32_t class;                   /* 0: the base grants it */
};

struct member_work {
    struct upk_text name, text, qualname; /* qualname: CLASS.NAME */
    uint32_t type;                        /* of its value; 0: not said */
};

struct extended_keys {
    struct upk_keys
        keys; /* of the base, with new row ids.  INVARIANT: first, so that find_class is given both */
    const struct extra_name *names;
    uint32_t count;
    const char *pool; /* of the names */
};

/* The result: one block, which begins with this. */
struct extended {
    struct upk_policy policy;
    struct upk_allocator allocator;
    size_t size;
    struct extended_keys keys[2];
};

/* How much of each table is new at most. */
struct extend_room {
    uint64_t text, names, rows, forms, types, elems, fields, classes, bounds, alts;
};

struct extend {
    const struct upk_policy *base;
    const struct upk_extra *extras;
    size_t count;
    struct upk_error *err;
    bool has_any; /* the base has the type */
    struct extend_room room;

    /* The block, and the tables in it as they are written; counts are the policy's own. */
    struct extended *block;
    struct upk_policy *p;
    char *pool;
    struct upk_row *rows;
    struct upk_form *forms;
    struct upk_type *types;
    struct upk_elem *elems;
    struct upk_field *fields;
    struct upk_class *classes;
    struct upk_bound *bounds;
    uint32_t *alts;
    struct upk_text *files;
    struct upk_open *opens;
    struct upk_key *slots[2];
    struct extra_name *names;
    uint32_t name_count;

    /* Memory of the call alone. */
    struct extra_work *work;
    struct member_work *members;
    uint32_t *row_of, *class_of; /* by the base's index */

    /* Types that all new forms share. */
    uint32_t any, none, open, open_pair, no_args, any_args;
};

/* A name against one whose texts stand in `pool`, in the order of rows and classes. */
static inline int name_compare(struct upk_compat n, const char *pool, struct upk_text module,
                               struct upk_text qualname) {
    const int order = bytes_compare(n.module, n.module_len, pool + module.at, module.len);
    return order != 0 ? order : bytes_compare(n.name, n.name_len, pool + qualname.at, qualname.len);
}
/* Fill the error: what is wrong with an extra. */
__attribute__((format(printf, 3, 4))) bool extend_misuse(struct extend *e, size_t extra, const char *format,
                                                         ...);
/* Behind what the pool holds. */
struct upk_text extend_text(struct extend *e, const void *bytes, size_t len);

/* extend_names.c.  May these classes be added?  And how much room they need. */
bool extend_check(struct extend *e);
/* Names of extras, their order, and with the base's the numbers of all rows and classes. */
bool extend_names(struct extend *e);

/* extend_forms.c. */
void extend_shared_types(struct extend *e);
/* The forms of a name at the end of `forms`, and its row but for the name; false: the error is filled. */
bool extend_forms(struct extend *e, const struct extra_name *name, struct upk_row *row);
/* The same for operator.or_: a form for each new flag. */
void extend_or(struct extend *e, uint32_t id, struct upk_row *row);

#endif
