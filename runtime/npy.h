/* What a pickled numpy dtype says of the layout of its items: numpy.dtype(code, False, True) and its state
 * (version, order, sub-array, names, fields, itemsize, alignment, flags[, metadata]).
 *
 * Nothing here trusts that a form of some policy has fitted: what does not have this shape is said to be none.
 *
 * Source: arraydescr_reduce and arraydescr_setstate in numpy/core/src/multiarray/descriptor.c (numpy 1.24); the numbers of
 * docs/checks.md.
 *
 * Layer: private to the runtime, over doc.h; under the native checks of numpy, and get_ndarray.c.
 */
#ifndef UPK_NPY_H
#define UPK_NPY_H

#include "doc.h"

struct npy_type {
    char
        kind; /* 'b' bool, 'i' 'u' 'f' 'c' numbers, 'S' bytes, 'U' str, 'V' void, 'M' 'm' times, 'O' object */
    char order; /* '<', '>' or '|' */
    /* Bytes, within 31 bits; as its code says, of 'V' made by a class (numpy.record) as its state says. */
    uint64_t itemsize;
    uint64_t align; /* of the code; of 'V' as its state says */
    bool named;     /* made by a class instead of a code: numpy.record */

    int64_t version, state_itemsize, state_align, flags; /* of the state, as they stand */
    const struct upk_cell *names, *fields;               /* of a record: TUPLE and DICT; NULL: it is none */
    struct upk_value base;                               /* of a sub-array; UPK_INVALID: it is none */
    const struct upk_cell *shape;                        /* of a sub-array: TUPLE */
    struct upk_value metadata;                           /* UPK_INVALID: none */
    const struct object *object;
};

enum npy_flag {                   /* of the state */
                NPY_TEXT = 8,     /* 'U', and what holds one */
                NPY_RECORD = 16,  /* has fields, and what holds one that has */
                NPY_ALIGNED = 128 /* dtype(..., align=True) */
};

/* One dtype, without what it holds.  NULL: good; else what is wrong, in static storage. */
const char *npy_read(struct upk_value dtype, struct npy_type *out);
/* Items in a shape, a TUPLE of ints from 0; false: it is none, has too many dimensions, or with items of this size (the extents
 * that are 0 left out, as numpy computes it) is not within 63 bits. */
bool npy_count(const struct upk_cell *shape, uint64_t itemsize, uint64_t *out);
/* Equal names.  *looks counts one for a pair that is compared, and one for 32 bytes of its text. */
bool npy_same_name(struct upk_value a, struct upk_value b, uint64_t *looks);
/* The dtypes that it is made of: fields of a record, by name, or the one of a sub-array. */
uint32_t npy_part_count(const struct npy_type *t);
/* Part i of them; `offset` is 0 in a sub-array.  false: a name without field.  *place is where its field is looked for first,
 * and is moved behind it: fields stand in the order of names, each with its title behind it, unless Python 2 wrote them. */
bool npy_part(const struct npy_type *t, uint32_t i, uint32_t *place, uint64_t *looks, struct upk_value *dtype,
              uint64_t *offset);
/* The bytes that an array is made of; false: they are none, or a buffer that was not given. */
bool npy_bytes(const struct upk_doc *doc, struct upk_value v, const uint8_t **at, uint64_t *len);
/* a * b; false: larger than 64 bits. */
bool npy_multiply(uint64_t a, uint64_t b, uint64_t *out);

#endif
