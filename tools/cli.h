/* The command line that `policyc try` and `unpickle` share: options, files, verdicts as text, TSV or JSON, exit
 * status.
 *
 * Layer: hosts; over upk.h and libc.
 */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include "../runtime/upk.h"

enum cli_exit { CLI_ACCEPTED = 0, CLI_REFUSED = 1, CLI_USAGE = 2, CLI_IO = 3 };

enum cli_print { CLI_PRINT_REPR, CLI_PRINT_TREE, CLI_PRINT_JSON, CLI_PRINT_NONE };

/* Names, in order.  Texts are borrowed from argv but for those out of --files-from, which `lists` owns. */
struct cli_names {
    const char **at;
    size_t count, room;
};

struct cli {
    const char *program;                   /* as messages and help call it */
    void (*complain)(const char *message); /* not NULL: instead of a line on stderr */
    bool host; /* unpickle: policies compiled in, inspection; else policyc try: a policy file */
    enum cli_print print;
    bool has_print;
    bool tsv, json_lines, inspect, list_policies, help, version;
    bool json;          /* messages about the policy as JSON */
    const char *policy; /* POLICY[:CHANNEL] as given; NULL: none */
    bool learn;         /* policyc learn: */
    const char *into;   /* a file to write; NULL: none */
    bool run;           /* upk-run: `files` are a command */
    bool allow_unconfined, by_stdout;
    const char *state, *home, *folder, *bubblewrap; /* NULL: none */
    struct cli_names visible, sets, asks;           /* folders; NAME=VALUE; NAME=SOURCE */
    bool has_families;
    uint32_t families;
    const char *policy_dir; /* NULL: the one compiled in */
    bool allow_fail_open;
    const char *today; /* value of --today; NULL: none */
    struct cli_names files, buffers, includes;
    char **lists; /* bytes of the --files-from files */
    size_t list_count;
};

/* Reads the arguments behind the program's name.  CLI_ACCEPTED: go on; else a message was written and this is
 * the exit status. Either way cli_free. */
enum cli_exit cli_parse(struct cli *c, int argc, char **argv);
void cli_free(struct cli *c);

/* The value of --diagnostics: `text` or `json`.  false: neither. */
bool cli_read_diagnostics(const char *value, bool *json);

/* A message on stderr, after the program's name. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void cli_complain(const struct cli *c, const char *format, ...);

/* A file name as a message may show it: control characters and what is no ASCII escaped, bounded. */
struct cli_shown {
    char text[512];
};
struct cli_shown cli_show(const char *name);

/* A field of TSV.  Text without control characters, directional marks and broken UTF-8 is printed as it is; in other text each
 * of their bytes is `\t`, `\n`, `\r` or `\xHH`, and a backslash is two.  So a line stays one line of as many fields. */
void cli_write_field(const char *text, FILE *to);

/* ---- verdicts as JSON (cli_json.c): an object a line, ASCII */

/* A JSON string.  Bytes that are no UTF-8 stand as \udc80 to \udcff, as os.fsdecode of Python has them. */
void cli_write_json_string(const char *text, FILE *to);
/* The beginning of a line, up to the verdict; members follow, and the caller's "}\n". */
void cli_write_json_verdict(const char *file, const char *verdict, FILE *to);
/* The members of a refusal; `shipped`: the fragment that grants the name, NULL for none. */
void cli_write_json_refusal(const struct upk_error *err, const char *shipped, FILE *to);

/* What a policy has to say to grant the name that was refused by the shipped fragment that has it (cli_shipped.c).
 * false: none has it. */
bool cli_find_shipped(const struct upk_policy *policy, const struct upk_error *err, char *out, size_t size);

/* ---- deciding (cli_run.c) */

/* Decides all files under `policy` (NULL: inspects them) and writes what is to be said of each; returns the
 * exit status. */
enum cli_exit cli_run(const struct cli *c, const struct upk_policy *policy);

/* The same of one pickle that is in memory. */
enum cli_exit cli_run_bytes(const struct cli *c, const struct upk_policy *policy, const uint8_t *data,
                            size_t len);

/* ---- reading (cli_read.c) */

struct cli_bytes {
    uint8_t *data; /* owned: cli_bytes_free */
    size_t len;
    bool mapped; /* longer than asked for: not read, but mapped */
};

/* Everything in `name` ("-": standard input).  Of what is longer than `most` and no regular file, `most` + 1 bytes are
 * read, so that it is seen to be too long; a regular file is not read then, and `len` is its true size.
 * false: *error is an errno. */
bool cli_read(const char *name, uint64_t most, struct cli_bytes *out, int *error);
void cli_bytes_free(struct cli_bytes *b);

#endif
