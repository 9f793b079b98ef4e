/* The layout of a policy's text, in three steps over one array of pieces:
 *
 *   layout_read.c   the tokens and comments of a source; what the syntax tree says of them
 *   layout.c        where a line may break, what breaks together, how far a line is indented
 *   layout_print.c  which of these breaks are made, so that lines keep to LAYOUT_WIDTH
 *
 * Layer: between syntax and format.c.
 */
#ifndef COMPILER_LAYOUT_H
#define COMPILER_LAYOUT_H

#include "output.h"
#include "syntax.h"

enum {
    LAYOUT_WIDTH = 120,      /* of a line but for its comment; what cannot be broken may be longer */
    LAYOUT_INDENT = 4,       /* a level */
    LAYOUT_MOST_INDENT = 60, /* deeper levels share it, so that the text grows by no more than a factor */
    LAYOUT_NONE = UINT32_MAX /* no piece, no group */
};

enum layout_break {
    BREAK_NEVER,
    BREAK_FILL,  /* where what follows, up to the next place for a break, has no room on the line */
    BREAK_GROUP, /* where its group has no room on the line as a whole */
    BREAK_ALWAYS
};

/* A token or a comment.  A line breaks after every comment, whatever its next piece says. */
struct piece {
    uint32_t from, to; /* bytes of the source */
    uint32_t width;    /* columns; of a comment 0, as it never makes a line break */
    uint32_t group;    /* of BREAK_GROUP */
    uint32_t groups;   /* the groups that begin here, linked by `next` */
    uint32_t mate;     /* of what opens a bracket: what closes it */
    int16_t kind;      /* TOK_... or SYNTAX_COMMENT */
    uint8_t breaks;    /* before it: enum layout_break */
    uint8_t indent;    /* of a line that it begins */
    bool space;        /* before it, within a line */
    /* As written: */
    bool own_line;  /* a comment: nothing stands before it on its line */
    bool blank;     /* an empty line stands before it; later: one is wanted */
    bool continues; /* a comment: goes on, right below it, with one at the end of a line */
    /* Of the syntax tree: */
    bool part;        /* begins a step or clause of a row */
    bool alternative; /* the first way to make an object begins here */
    /* Of the brackets: */
    bool forces; /* those around it break: a comment, or the comma behind the last of a list */
    bool lone;   /* opens a bracket around one element that is no union */
    bool packed; /* opens a bracket around words only */
    bool member; /* begins the members of a union that has a line for each */
};

/* Pieces first to last: the breaks of one group are made all or none. */
struct layout_group {
    uint32_t first, last, next;
    bool broken;
};

struct layout {
    struct mem *mem;
    struct text bytes;
    struct piece *pieces;
    uint32_t count;
    struct layout_group *groups;
    size_t group_count, group_room;
};

/* Each is false without memory (mem->failed).  `file` is what syntax_parse made of the source. */
bool layout_read(struct layout *l, struct mem *m, struct diag *d, uint32_t source,
                 const struct ast_file *file);
bool layout_arrange(struct layout *l);
/* Appends to *o.  `most`: stops behind so many bytes. */
bool layout_print(const struct layout *l, struct output *o, size_t most);

/* A comment's end without blanks behind it. */
uint32_t layout_comment_end(const char *bytes, uint32_t from, uint32_t to);

#endif
