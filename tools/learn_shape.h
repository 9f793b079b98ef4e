/* The lattice that `policyc learn` infers types in: what was met at one place, joined.
 *
 * A shape only grows.  It is a tree of bounded depth and size; where more would be needed a node is tied: its children become the
 * node itself, which reads as a recursive named type.  So no join recurses deeper than SHAPE_MOST_DEPTH.
 *
 * Layer: parts of the program policyc, over the compiler's arena alone.
 */
#ifndef TOOLS_LEARN_SHAPE_H
#define TOOLS_LEARN_SHAPE_H

#include <stdint.h>

#include "../compiler/mem.h"

enum {
    SHAPE_MOST_DEPTH = 5,
    SHAPE_MOST_NODES = 4000, /* of one place */
    SHAPE_MOST_FIELDS = 64,  /* of a record; what has more is a map */
    SHAPE_MOST_PLACES = 16,  /* of a tuple; alike */
    SHAPE_MOST_KEY = 64      /* bytes of a field's key */
};

/* Kinds that a shape may have met.  Those with a length come first: they index `steps`. */
enum shape_kind {
    SHAPE_STR,
    SHAPE_BYTES,
    SHAPE_BYTEARRAY,
    SHAPE_BUFFER,
    SHAPE_LIST,
    SHAPE_SET,
    SHAPE_FROZENSET,
    SHAPE_DICT,
    SHAPE_SIZED, /* how many those are */
    SHAPE_TUPLE = SHAPE_SIZED,
    SHAPE_NONE,
    SHAPE_BOOL,
    SHAPE_INT,
    SHAPE_FLOAT,
    SHAPE_PERSID
};

enum shape_part {
    PART_LIST,
    PART_SET,
    PART_FROZENSET,
    PART_KEY,
    PART_VALUE,
    PART_REST,
    PART_PERSID,
    SHAPE_PARTS
};

struct learn_row;

/* Rows, each once, in the order of their names. */
struct shape_names {
    struct learn_row **items;
    size_t count, room;
};

struct shape_field {
    struct text key;
    struct shape *shape;
    uint64_t met; /* in how many of the dicts */
};

struct shape {
    uint32_t kinds;             /* bits 1 << enum shape_kind */
    uint8_t steps[SHAPE_SIZED]; /* lengths: index of the bound (learn_bounds.h) */
    uint8_t low, high;          /* ints: the same, of negative ones and of others; 0: none was met */
    uint64_t bits[2];           /* of the ints that are not negative, low word first */
    bool any_bits;              /* others may be set as well */
    bool as_mask;               /* settled: ints are told by their bits, where those are all there are */
    bool tied;                  /* parts lead back here */
    bool is_map;                /* dicts are told by PART_KEY and PART_VALUE, else by `fields` */
    bool is_record;             /* they stay a record as long as they can */
    uint16_t depth;
    struct shape *top; /* the root of the place, which counts: */
    uint32_t nodes;
    struct shape *parts[SHAPE_PARTS]; /* NULL: nothing met */
    struct shape_field *fields;       /* in the order in which they were met; settled: by key */
    size_t field_count, field_room;
    uint64_t dicts;
    struct shape *places[SHAPE_MOST_PLACES]; /* tuples, unless PART_REST is there */
    uint8_t least, most;                     /* elements; most 0: none but empty ones */
    bool any_tuple;                          /* least and most are set */
    struct shape_names objects, mentions;    /* made by, or instances of; named as values */
};

struct shape *shape_new(struct mem *m); /* the root of a place; NULL: no memory, as m->failed says */

/* The shape of what `parent` holds there: never NULL while there is memory. */
struct shape *shape_part(struct mem *m, struct shape *parent, enum shape_part part);
/* Counts a tuple of `count` elements; of its elements then shape_place. */
void shape_tuple(struct mem *m, struct shape *s, size_t count);
struct shape *shape_place(struct mem *m, struct shape *s, size_t i);
/* Counts a dict; of its members then shape_field_of for str keys, while shape_is_fields says that this tells them. */
void shape_dict(struct shape *s);
struct shape *shape_field_of(struct mem *m, struct shape *s, struct text key, uint64_t met);
void shape_make_map(struct mem *m, struct shape *s);

void shape_kind_add(struct shape *s, enum shape_kind kind);
void shape_length(struct shape *s, enum shape_kind kind, uint64_t length);
void shape_name(struct mem *m, struct shape_names *names, struct learn_row *row);

/* What `s` holds becomes `s` itself. */
void shape_tie(struct mem *m, struct shape *s);

/* Everything that `from` has met, `to` has met then. */
void shape_join(struct mem *m, struct shape *to, const struct shape *from);
/* Dicts that do not look like records become maps, all the way down; those that do have their fields in order. */
void shape_settle(struct mem *m, struct shape *s);

#endif
