/* What the three printers share: an iterative walk over a document, buffered output, limits, and
 * (print_text.c) the text of single values.
 *
 * A printer gives two functions: one writes a leaf, one plans a compound value as a list of tasks in the
 * order of the text. The walk carries the tasks out with an explicit stack, so that nesting costs memory and
 * no C stack.
 *
 * What is written is bounded.  Every value written counts against the budget `expanded`; of a cyclic document
 * at most four times the values that it has when sharing is written out (a set of values that hold each other
 * counts once there), and PRINT_CYCLIC_SLACK more.  Text may take PRINT_VALUE_BYTES for every value of that
 * limit and PRINT_INPUT_FACTOR times the bytes of input; text that is moved to sort a set counts again.
 *
 * Layer: private to the runtime, over doc.h.
 */
#ifndef UPK_PRINT_WALK_H
#define UPK_PRINT_WALK_H

#include "doc.h"

enum { PRINT_CYCLIC_SLACK = 1000, PRINT_VALUE_BYTES = 32, PRINT_INPUT_FACTOR = 16 };

struct print_task;
struct print_level;
struct print_number;
struct print;

/* Texts around the members of a span.  `between` not NULL: members are pairs. */
struct print_style {
    const char *before, *between, *after; /* of each member or pair */
    const char *separator;                /* from the second one on */
    bool sorted;                          /* the texts of the members are sorted bytewise */
};

struct print_form {
    bool raw; /* as the opcodes built it; else spellings of old protocols are resolved */
    void (*leaf)(struct print *p, struct upk_value v);
    void (*compound)(struct print *p, struct upk_value v);
    void (*up)(struct print *p, struct upk_value v, size_t levels); /* v is met again inside itself */
};

struct print {
    const struct upk_doc *doc;
    const struct print_form *form;
    upk_sink sink;
    void *ctx;
    struct upk_error *err;
    bool failed;    /* sticks; everything after it writes nothing */
    struct mem mem; /* of this walk alone: a document may be printed by two threads */

    uint8_t *text; /* not yet given to the sink */
    size_t text_len, text_room;
    uint64_t value_limit, values_left, bytes_left;

    struct print_task *tasks;
    size_t task_count, task_room;
    struct upk_cell **path; /* the compound values around, outermost first */
    size_t path_len, path_room;
    struct print_level *levels; /* hash table of `path`, only for cyclic documents */
    size_t level_room;
    size_t *starts; /* where the members of the sets being sorted start in `text` */
    size_t start_count, start_room;
    size_t sorting;               /* sets being sorted */
    struct print_number *numbers; /* hash table of the texts of large integers (print_number.c) */
    size_t number_count, number_room;
    uint64_t number_bytes;
};

/* Print the root.  false: the sink stopped, or *err says why. */
bool print_document(const struct upk_doc *doc, const struct print_form *form, upk_sink sink, void *ctx,
                    struct upk_error *err);

/* Text at once, in order: from leaf(), and from compound() before its first task. */
void print_bytes(struct print *p, const void *bytes, size_t len);
void print_string(struct print *p, const char *text);
void print_char(struct print *p, char c);

/* Tasks, in order, from compound() alone.  Texts, styles and the values of a span must outlive the walk
 * (literals, cells). */
void plan_text(struct print *p, const char *text);
void plan_value(struct print *p, struct upk_value v);
void plan_span(struct print *p, const struct upk_value *at, size_t len, const struct print_style *style);
void plan_cell(struct print *p, struct upk_cell *c,
               const struct print_style *style); /* its members or pairs */
/* The members of both, each may be NULL, between two texts; nothing where there are none. */
void plan_parts(struct print *p, const char *head, struct upk_cell *first, struct upk_cell *second,
                const struct print_style *style, const char *tail);

void print_no_memory(struct print *p);

/* ---- names and texts (print_text.c) */

/* A GLOBAL's name with Python 2 names mapped where the stream is old (N1), and nothing else interpreted. */
struct upk_compat print_written_name(const struct upk_cell *global);
/* The name in its one modern spelling: that of its row, or where there is none as above. */
struct upk_compat print_modern_name(const struct print *p, const struct upk_cell *global);
/* What an object is made by.  false: by no name but by a value. */
bool print_object_name(const struct print *p, const struct object *o, struct upk_compat *name);

void print_hex(struct print *p, const uint8_t *bytes, size_t len);
void print_uuid(struct print *p, const uint8_t bytes[16]); /* with hyphens */
void print_base64(struct print *p, const uint8_t *bytes, size_t len);
void print_unsigned(struct print *p, uint64_t n);
/* Text within a JSON string, ASCII: `"` and `\` by a backslash, all else outside 20-7e as \uXXXX, above
 * U+FFFF as a pair; lone surrogates stay.  The second one writes the quotes, too. */
void print_json_text(struct print *p, const uint8_t *text, size_t len);
void print_json_string(struct print *p, const uint8_t *text, size_t len);
/* The shortest decimal that reads back as `d`, as Python writes it; `d` is finite. */
void print_float(struct print *p, double d);
size_t float_shortest(double d, char out[32]);

/* ---- integers (print_number.c) */

void print_integer(struct print *p, struct upk_value v); /* INT or BIGINT, exact */
void print_numbers_free(struct print *p);

/* Sorts in place by bytes_compare, without recursion. */
void bytes_sort(struct upk_bytes *a, size_t n);

/* Printable in Python's sense (str.isprintable), Unicode 14.0 (print_unicode.c). */
bool code_is_printable(uint32_t code);

#endif
