/* Names, strings and numbers as a policy writes them: what is written here, the scanner reads as the same.
 *
 * Layer: above output, unicode and words; the listing (list.c) is made of it.
 */
#ifndef COMPILER_NOTATION_H
#define COMPILER_NOTATION_H

#include "../runtime/upk_tables.h"
#include "output.h"

void notation_string(struct output *o, struct text t); /* in quotes; plain ASCII, as all of it but prose */
void notation_prose(struct output *o, struct text t);  /* for readers: what is legible stands as it is */
void notation_bytes(struct output *o, struct text t);  /* b"..." */
/* A dotted name, a name of an argument or a key: in quotes where words alone do not say it. */
void notation_name(struct output *o, struct text t);
/* Can it be a type's name?  A word that is no keyword. */
bool notation_is_type_name(struct text t);

/* Digits in groups of three where there are four or more. */
void notation_number(struct output *o, uint64_t n);
/* With KiB, MiB or GiB where that is exact. */
void notation_size(struct output *o, uint64_t bytes);
/* What stands behind the word of a budget. */
void notation_budget(struct output *o, enum upk_budget b, uint64_t value);
/* The low 128 bits of a two's complement, low word first, and its sign. */
void notation_int(struct output *o, const uint64_t word[2], bool negative);

/* What stands behind `chars`.  Ranges are sorted and do not touch. */
void notation_chars(struct output *o, const struct upk_range *ranges, uint32_t count);

#endif
