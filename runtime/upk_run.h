/* A child process whose reply is a pickle: started with the environment that the policy gives it, confined by bubblewrap, held to
 * the policy's budgets, and ended with all that it started.
 *
 * Unlike the rest of libupk this starts processes, reads the clock and, where it is asked to, writes a file: it is an object of its
 * own in the archive, which no other part needs.  Linux only.  Conventions are those of upk.h; a call keeps no state behind, and
 * calls may run in parallel.  docs/confinement.md tells what a child sees and what it does not.
 *
 * Layer: public, the surface of runtime/run; over upk.h.
 */
#ifndef UPK_RUN_H
#define UPK_RUN_H

#include "upk_environment.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a child may send, each by a descriptor of its own, whose number an environment variable has.  X(NAME, variable) */
#define UPK_RUN_FORMS(X)                                                                            \
    X(RESULT, "UPK_RESULT_FD")                                                                      \
    X(EXCEPTION, "UPK_EXCEPTION_FD")   /* an exception itself, as the channel `exception' has it */ \
    X(DESCRIPTOR, "UPK_DESCRIPTOR_FD") /* the same in words */

enum upk_run_form {
#define UPK_X(name, variable) UPK_RUN_##name,
    UPK_RUN_FORMS(UPK_X)
#undef UPK_X
        UPK_RUN_FORM_COUNT
};

enum upk_run_flag {
    /* The child may run unconfined where nothing can confine it, and the policy says `opt_in'.  For this call alone: no policy, state
     * or environment can say it. */
    UPK_RUN_ALLOW_UNCONFINED = 1,
    UPK_RUN_STDOUT = 2 /* the result comes by the child's standard output */
};

/* Asked several times a second while the child is started and runs.  0: go on; a signal's number: hand it on to the child, once, and end it soon
 * after; -1: end it now. */
typedef int (*upk_run_ask_fn)(void *ctx);
/* What the child wrote to its standard error, and to its standard output where that is not its result.  Bytes of a stranger.  Why
 * bubblewrap did not begin the command the error says alone. */
typedef void (*upk_run_said_fn)(void *ctx, const char *bytes, size_t len);
/* One line, printable ASCII, without line end, before the child is started: it will run unconfined, or a variable is left out.  false:
 * then it shall not be. */
typedef bool (*upk_run_warn_fn)(void *ctx, const char *line);

struct upk_run_options {
    const char *const *command; /* ends with NULL; [0] is a path, or looked for in the child's own PATH */
    const char *folder;         /* absolute: where the child works; it sees it, and cannot write there */
    /* Absolute; NULL: the folder.  What it does not see otherwise is an empty folder of its own. */
    const char *home;
    char *const *host_env;               /* `environ'; NULL: empty */
    const struct upk_manifest *manifest; /* NULL: empty */
    /* Absolute; ends with NULL: what else it sees, and cannot write.  NULL: nothing. */
    const char *const *visible;
    /* The file that holds one policy to its runs: made by the first, asked by the others.  NULL: none. */
    const char *state;
    /* Whose environment holds, and whose confinement where the policy itself has none; NULL: those of the policy.  Whichever of the two
     * requires confinement, it is required. */
    const struct upk_policy *rules;
    /* The channels by which an exception comes; NULL: that form is not offered. */
    const struct upk_policy *exception, *descriptor;
    const char *bubblewrap; /* absolute; NULL: /usr/bin/bwrap */
    uint32_t flags;         /* enum upk_run_flag */
    upk_run_ask_fn ask;     /* each may be NULL */
    void *ask_ctx;
    upk_run_said_fn said;
    void *said_ctx;
    upk_run_warn_fn warn;
    void *warn_ctx;
};

struct upk_run_reply {
    /* By enum upk_run_form, as sent: not judged.  What is longer than its channel's budget of bytes is one byte longer than that. */
    struct {
        uint8_t *data; /* owned: upk_run_reply_free */
        size_t len;    /* 0: nothing was sent */
    } forms[UPK_RUN_FORM_COUNT];
    int status;    /* of the child, as of waitpid; of no meaning where it was ended for an overlong form */
    bool confined; /* false: it ran unconfined */
};

/* Start the command, wait for its end and its reply, and end whatever it left behind.  True means that there is a reply to decode
 * under `policy` (or an exception): a child that gave none, or failed, is UPK_ERR_RUN_*.  On success the reply is owned by the
 * caller. */
bool upk_run(const struct upk_policy *policy, const struct upk_run_options *options,
             struct upk_run_reply *reply, struct upk_error *err);
void upk_run_reply_free(struct upk_run_reply *reply);

/* Can a child be confined on this machine?  Starts bubblewrap with /bin/true; `err` says why not, and what to do about it.
 * `bubblewrap` as in the options. */
bool upk_run_can_confine(const char *bubblewrap, struct upk_error *err);

#ifdef __cplusplus
}
#endif
#endif
