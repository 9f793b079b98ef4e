/* What the parts of runtime/run share.
 *
 *   run.c      one call, from the policy's word to the reply
 *   gate.c     may it start here, and under this policy?
 *   state.c    the file that holds a policy to its runs
 *   program.c  the program that is meant
 *   command.c  bubblewrap's command line
 *   filter.c   the calls of the kernel that a confined child has not
 *   child.c    a process: started, limited, confirmed, ended
 *   exec.c     what a new process does before it is another program
 *   supervise.c   and what stays between it and the host
 *   collect.c  what it sends, within bytes and time
 *   wait.c     the time of a call, and what the host says meanwhile
 *   words.c    errors, lists of words, what is written, the clock
 *
 * Layer: private to runtime/run; over upk.h, upk_tables.h and POSIX with what Linux has beyond it.
 */
#ifndef UPK_RUN_PRIVATE_H
#define UPK_RUN_PRIVATE_H

#include <sys/types.h>

#include "../upk_tables.h"
#include "../upk_run.h"

#define RUN_BUBBLEWRAP "/usr/bin/bwrap"

/* ---- words.c */

/* Sets *err and returns false.  What is not printable ASCII stands as `?'. */
__attribute__((format(printf, 3, 4))) bool run_fail(struct upk_error *err, unsigned code, const char *format,
                                                    ...);
/* The same, and what to do about it. */
void run_remedy(struct upk_error *err, const char *words);
bool run_fail_memory(struct upk_error *err);

/* A list for execve: ends with NULL whenever it is looked at.  Texts that are made are owned. */
struct words {
    char **at;
    size_t count, room;
    bool failed; /* out of memory */
};
void words_add(struct words *w, const char *text);
/* Of two texts, one. */
void words_join(struct words *w, const char *first, const char *second);
void words_free(struct words *w);

/* All of it; false: errno says why not. */
bool run_write(int fd, const char *text, size_t len);
/* A file that was written, at its beginning; where that was not `good', -1 with errno as it was, and it is closed. */
int run_rewind(int fd, bool good);

/* Milliseconds of a clock that nobody sets. */
int64_t run_now(void);

/* ---- wait.c */

struct waiting {
    const struct upk_run_options *options; /* of the host; NULL: it is neither asked nor told */
    int64_t until;                         /* the latest end, on run_now's clock */
    int64_t next;                          /* when the host is asked again */
};
/* How long to sleep at a time, in milliseconds. */
int wait_most(const struct waiting *w);
/* The host's answer (upk_run_ask_fn) where it is its turn to be asked; else 0. */
int wait_ask(struct waiting *w);
/* The error of a host that answered this; returns false. */
bool wait_stopped(int answer, struct upk_error *err);

/* ---- state.c, gate.c */

/* What a run is held to: the policy of its reply, and that of its environment, which may be the same. */
struct held {
    const struct upk_policy *policy, *rules;
};
/* Is there a state, and is it of these?  *found: it is there.  false: it is of others, or no state at all. */
bool state_read(const char *path, const struct held *held, bool *found, struct upk_error *err);
/* A new one.  false also where there is one by now. */
bool state_write(const char *path, const struct held *held, struct upk_error *err);

/* Nothing confines a child: may it run nevertheless?  `err` has the reason, and gets what to do about it. */
bool gate_unconfined(const struct held *held, const struct upk_run_options *options, struct upk_error *err);
/* What to do where nothing confines a child. */
void gate_remedy(struct upk_error *err);
/* The budgets, and is there a network? */
const uint64_t *gate_budgets(const struct held *held);
bool gate_network(const struct held *held);

/* ---- program.c */

struct program {
    char *path;   /* absolute; owned */
    char *passed; /* owned: what stands before it on PATH, but a confined child does not see; NULL: nothing */
};
/* Also where it is false, for program_free: there is none, or a confined child would not see it. */
bool program_find(struct program *p, const struct upk_run_options *options, char *const *env, bool confined,
                  struct upk_error *err);
void program_free(struct program *p);

/* ---- command.c */

/* Is this path among what a confined child sees, by its name? */
bool bubblewrap_shows(const struct upk_run_options *options, const char *path);
/* Options of bubblewrap up to the command: what is seen, and that nothing else is shared. */
void bubblewrap_words(struct words *w, const struct upk_run_options *options, bool network, uint64_t memory);
/* The same where nothing will be run. */
void bubblewrap_words_bare(struct words *w);
/* A file of its options that set the child's variables, as bubblewrap reads it from CHILD_SETTINGS.  -1: errno says why not.
 *
 * INVARIANT: bubblewrap itself has no variables: the loader would follow some of them before there is a namespace.  They stand in no
 * command line either, which every user may read. */
int bubblewrap_settings(char *const *vars);
/* The same of the program by which the kernel judges calls, for CHILD_FILTER.  (filter.c) */
int bubblewrap_filter(bool network);

/* ---- exec.c, child.c */

/* Descriptors of a new process. */
enum {
    CHILD_FORMS = 3,                             /* and behind it, one for each form */
    CHILD_GO = CHILD_FORMS + UPK_RUN_FORM_COUNT, /* bubblewrap waits for it */
    CHILD_REPORT,                                /* and tells there what it did */
    CHILD_SETTINGS,                              /* has more of its options (command.c) */
    CHILD_FILTER,                                /* and what the child may not call (filter.c) */
    CHILD_EXEC,                                  /* an errno, where there is no other program */
    CHILD_DESCRIPTORS
};

struct launch {
    const char *program;
    char *const *argv, *const *env;
    char *const *settings;       /* the child's variables, which bubblewrap sets; NULL: `env' has them */
    bool network;                /* it has that of the host; where there are `settings' */
    const char *folder;          /* NULL: bubblewrap sees to it */
    const uint64_t *budgets;     /* NULL: they are set from outside */
    int ends[CHILD_DESCRIPTORS]; /* what becomes each descriptor; -1: none does */
    pid_t parent;
};
/* In the new process, which may be one of a program with threads: nothing here takes a lock.  Does not return. */
_Noreturn void exec_launch(const struct launch *l);
/* Goes on in a further process, whose parent ends all that it leaves behind.  false: errno says why not.  (supervise.c) */
bool supervise_begin(void);
/* Limits of a process, 0 oneself; `others`: processes that are counted with those of the command, but are not its own.  false: errno
 * says why not. */
bool exec_limit(pid_t pid, const uint64_t *budgets, unsigned others);

/* The beginning of what a process says; ends with NUL. */
struct heard {
    char text[512];
    size_t len;
};

struct child {
    pid_t pid;                     /* 0: none, or reaped */
    int pidfd;                     /* of it; -1: none */
    int init;                      /* pidfd of the first process of its namespace; -1: none */
    pid_t init_pid;                /* of it; 0: none */
    int exec;                      /* an errno comes here where there is no other program; -1: closed */
    const char *program;           /* for words; borrowed */
    int go, go_unread, report;     /* written, what of it is unread, read; -1: closed */
    int forms[UPK_RUN_FORM_COUNT]; /* where they are read; -1: closed */
    int said;                      /* the same */
    int status;
    bool exited; /* and not yet reaped, or so; `status` says how */
    struct heard heard;
    size_t held; /* of what was heard, that the host has not got yet */
};
/* Where it is open; -1 from then on. */
void close_end(int *fd);
void child_clear(struct child *c);
/* Starts what `l` says, which is not waited for, whose `ends` are filled here; `offered`: bits 1 << enum upk_run_form. */
bool child_start(struct child *c, struct launch *l, unsigned offered, bool by_stdout, bool bubblewrap,
                 struct upk_error *err);
/* false: it is known by now that there is no such program. */
bool child_launched(const struct child *c, struct upk_error *err);
/* Waits until bubblewrap has made its namespaces, and limits what will run in them; the host gets to hear what it said.  false: it
 * could not, and *err says what it said, or the host wants an end. */
bool child_confirm(struct child *c, const uint64_t *budgets, struct waiting *w, struct upk_error *err);
/* Lets what bubblewrap prepares begin, and waits until it does.  false: as child_confirm. */
bool child_go(struct child *c, struct waiting *w, struct upk_error *err);
/* It says something: it is kept, and handed on to the host, but for what may be bubblewrap's last words. */
void child_heard(struct child *c, const struct waiting *w, const char *bytes, size_t len);
/* They were none: the host gets them. */
void child_release(struct child *c, const struct waiting *w);
/* What nobody began ends with words of bubblewrap alone: an error with the first line of them, which the host gets by that alone.
 * Returns false. */
bool child_fail(struct child *c, unsigned code, struct upk_error *err);
/* Did bubblewrap begin the command?  For a child that has ended. */
bool child_began(struct child *c);
/* Is it at its end?  It is not reaped by this. */
bool child_ended(struct child *c);
void child_signal(const struct child *c, int signal);
/* Ends the child and all that is left of it, waits for that, and closes all descriptors. */
void child_end(struct child *c);

/* ---- collect.c */

struct collect {
    struct waiting *waiting;
    uint64_t most[UPK_RUN_FORM_COUNT]; /* bytes */
    uint64_t wall;                     /* seconds, for words */
};
/* Until the child has ended, or has to be. */
bool collect_reply(struct child *c, const struct collect *k, struct upk_run_reply *reply,
                   struct upk_error *err);

#endif
