/* `policyc learn`: observe pickles without building anything, and write the smallest readable policy that admits them.
 *
 * Layer: parts of the program policyc, over the compiler, libupk and cli.h.
 */
#ifndef TOOLS_LEARN_H
#define TOOLS_LEARN_H

#include "../compiler/channels.h"
#include "../compiler/intern.h"
#include "../compiler/shipped.h"
#include "cli.h"
#include "learn_row.h"

/* Returns the exit status. */
int learn_main(int argc, char **argv);

enum learn_fate {
    LEARN_OPEN,      /* to be observed */
    LEARN_ELSEWHERE, /* another policy admits it: nothing is to be learned of it */
    LEARN_KNOWN,     /* what is there of the policy admits it: so must the result */
    LEARN_SEEN,      /* observed: so must the result */
    LEARN_REFUSED    /* and `err` says why */
};

struct learn_input {
    const char *name;
    struct cli_bytes bytes;
    enum learn_fate fate;
    struct upk_error err;
    uint64_t looks; /* it is refused since it takes more looks than so many; 0: `err' says why */
    /* No policy of people's refused it, so that nothing is to be said of what would have to change. */
    bool unadvised;
    struct upk_scan_result *scan;
    struct learn_row **rows; /* of the scan's names; in the arena */
};

/* A policy in memory, of which one channel decides. */
struct learn_policy {
    struct channels all;
    const struct upk_policy *policy; /* NULL: there is none */
};

enum {
    LEARN_MOST_FRAGMENTS = 32,
    LEARN_MOST_NAMES = 30000,
    LEARN_MOST_IN_UNION = 1000, /* of alternatives that are written in one type; the language has a limit */
};

/* What a policy needs beside its rows. */
struct learn_settings {
    bool opcodes[72]; /* by enum upk_op */
    unsigned protocol_min, protocol_max;
    uint64_t figures[UPK_BUDGET_COUNT]; /* the most that an input needs */
    uint64_t named;                     /* the most values of an input that are objects or names */
    uint64_t budgets[UPK_BUDGET_COUNT]; /* what a former learned policy allows; 0: nothing said */
    bool cyclic;
};

/* How tight the settings are written: each step is tried when the one before does not compile. */
enum learn_looseness { LEARN_TIGHT, LEARN_WHOLE_CORE, LEARN_FEW_BUDGETS, LEARN_LOOSEST };

struct learn {
    struct cli cli; /* files, buffers, folders of includes */
    uint32_t today; /* YYYYMMDD, which no `fail_open` of a policy may have behind it */
    struct mem mem;
    struct learn_input *inputs;
    size_t input_count;
    struct cli_bytes *buffers;
    struct upk_bytes *buffer_views;
    struct learn_rows rows;
    const struct shipped *fragments[LEARN_MOST_FRAGMENTS]; /* in use, in the order of the shipped list */
    size_t fragment_count;
    const char *avoided[LEARN_MOST_FRAGMENTS]; /* files of fragments that another one takes the place of */
    size_t avoided_count;
    struct shape *root, *elsewhere; /* elsewhere: of what shipped rows hold */
    struct learn_settings settings;
    bool root_proposed, use_proposed; /* people's root or `use` do not admit what was seen */
    struct text proposals;            /* comments about that */
    bool refused_late;                /* what was observed, by the policy that was made */
    bool see_again;                   /* what was seen is partly of inputs that are refused since */
};

/* ---- inputs (learn_inputs.c) */

/* false: some file cannot be read, or there is no memory, which was said. */
bool learn_read(struct learn *l);
void learn_inputs_free(struct learn *l);
/* Reads what each open input uses; refuses those that are no pickles. */
void learn_scan(struct learn *l);
bool learn_decode(const struct learn *l, const struct upk_policy *p, const struct learn_input *in,
                  struct upk_doc **doc, struct upk_error *err);
/* Without a policy; false: the defaults of budgets do not take it. */
bool learn_inspect(const struct learn *l, const struct learn_input *in, struct upk_doc **doc);
bool learn_admits(const struct learn *l, const struct upk_policy *p, const struct learn_input *in,
                  struct upk_error *err);
/* Is it refused for a name that is denied? */
bool learn_denies(const struct learn *l, const struct upk_policy *p, const struct learn_input *in,
                  struct upk_error *err);
/* Says on stderr what was refused, and why. */
void learn_report(const struct learn *l);

/* ---- policies in memory (learn_compile.c) */

struct learn_source {
    const char *path; /* as messages call it; where it stands, for includes beside it, or NULL */
    const char *folder;
    struct text text;
    const char *channel; /* NULL: the only one */
};
/* true: learn_policy_free.  false: the errors are in `d`, or there is no memory. */
bool learn_compile(const struct learn *l, const struct learn_source *source, struct diag *d,
                   struct learn_policy *out);
/* Who is told of errors; `at`: the byte of the text that one is at, where it is at one.  `message` is gone after the call; NULL: there
 * is no memory. */
struct learn_errors {
    void (*see)(void *context, bool is_placed, size_t at, const char *message);
    void *context;
};
/* The same, of a text that the program made itself. */
bool learn_compile_own(const struct learn *l, struct text text, const struct learn_errors *errors,
                       struct learn_policy *out);
/* One that did not compile: why not, for people. */
void learn_complain_of(const struct learn *l, struct text text, struct diag *d);
void learn_policy_free(struct learn_policy *p);
/* Does the row stand in a shipped fragment? */
bool learn_is_shipped(const struct upk_policy *p, const struct upk_row *row);

/* ---- observing (learn_observe.c, learn_observer.c, learn_see.c) */

/* Decodes all open inputs under a policy that takes every name as it comes, and sees what they hold; `see_again`: to be forgotten and
 * done again.  false: no memory, more than LEARN_MOST_NAMES rows, or errors in `d`. */
bool learn_observe(struct learn *l, struct diag *d);
/* Not this fragment: another one takes its place. */
void learn_avoid(struct learn *l, const struct shipped *s);
/* The learned policy uses the fragment, unless another one takes its place. */
void learn_use(struct learn *l, const struct shipped *s);
/* The fragment that has rows for the name; NULL: none that may be used. */
const struct shipped *learn_fragment_of(const struct learn *l, const struct learn_row *r);
/* A policy that takes every name as it comes.  false: no memory, or errors in `d`: the shipped policies are not as they should be. */
bool learn_make_observer(struct learn *l, struct diag *d, struct learn_policy *p);
/* What an accepted document holds, under that policy, in no more than `most` looks at values.  *too_much: they are not enough, and
 * what was seen is of no use.  false: no memory. */
bool learn_see(struct learn *l, const struct upk_policy *p, const struct upk_doc *doc, uint64_t most,
               bool *too_much);

/* ---- the text (learn_write.c, learn_types.c) */

/* What is there already of a file that is merged into. */
struct learn_outer {
    bool has_header, has_root, has_opcodes, has_channels;
    bool budgets[UPK_BUDGET_COUNT];
    struct text *includes, *uses, *types; /* files, fragments, names of types */
    size_t include_count, use_count, type_count;
};

/* What types that stand by themselves are called, with a number behind it. */
enum learn_type_word { LEARN_TYPE_OBJECTS, LEARN_TYPE_NESTED, LEARN_TYPE_WORDS };

struct learn_output {
    const struct learn *learn;
    const struct learn_outer *outer;
    struct text former; /* what the block says so far */
    struct output *out;
    enum learn_looseness looseness;
    struct text name;               /* of the policy, when it has no header yet */
    uint64_t revision;              /* alike */
    struct learn_named_type *named; /* types that stand by themselves */
    size_t named_count, named_room;
    struct intern meanings;             /* of them; of no memory: there are none yet */
    unsigned numbers[LEARN_TYPE_WORDS]; /* that were given */
    uint64_t most_names;                /* classes and names at one place */
};

/* What people would have to write for all to be admitted that was observed, as comments. */
struct text learn_proposals(struct learn_output *w);
/* The line before names that are left out. */
extern const char learn_excluded_head[];
/* Everything but the marks of the block. */
void learn_put(struct learn_output *w);
/* learn_types.c: a type in the language, bare or fit to stand where no union may; types that got a name wait in w->named. */
void learn_put_type(struct learn_output *w, struct output *o, const struct shape *s);
void learn_put_atom(struct learn_output *w, struct output *o, const struct shape *s);
void learn_put_arguments(struct learn_output *w, struct output *o, const struct shape *s);
void learn_put_record(struct learn_output *w, struct output *o, const struct shape *s);

struct learn_named_type {
    struct text name, meaning; /* the name within is `\1` */
};

#endif
