/* Options, and what is said of each file.
 *
 * Layer: hosts; see cli.h.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/upk_tables.h"

/* ---- messages */

void cli_complain(const struct cli *c, const char *format, ...) {
    char message[2048];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fflush(stdout);
    if (c->complain)
        c->complain(message);
    else
        fprintf(stderr, "%s: %s\n", c->program, message);
}

/* ---- names and lists */

static bool add_name(const struct cli *c, struct cli_names *names, const char *name) {
    if (names->count == names->room) {
        size_t room = names->room ? names->room * 2 : 16;
        const char **at = room <= SIZE_MAX / sizeof *at / 2 ? realloc(names->at, room * sizeof *at) : NULL;
        if (!at) {
            cli_complain(c, "out of memory");
            return false;
        }
        names->at = at;
        names->room = room;
    }
    names->at[names->count++] = name;
    return true;
}

/* A name a line, ended by LF or CR LF; empty lines are none. */
static enum cli_exit add_list(struct cli *c, const char *list) {
    struct cli_bytes bytes;
    int error;
    const uint64_t most = UINT64_C(1) << 30;
    if (!cli_read(list, most, &bytes, &error)) {
        cli_complain(c, "cannot read %s: %s", cli_show(list).text, strerror(error));
        return CLI_IO;
    }
    if (bytes.mapped) {
        cli_bytes_free(&bytes);
        cli_complain(c, "%s is no list of files", cli_show(list).text);
        return CLI_USAGE;
    }
    char **lists = realloc(c->lists, (c->list_count + 1) * sizeof *lists);
    char *text = lists ? realloc(bytes.data, bytes.len + 1) : NULL;
    if (lists) c->lists = lists;
    if (!text) {
        free(bytes.data);
        cli_complain(c, "out of memory");
        return CLI_IO;
    }
    text[bytes.len] = 0;
    c->lists[c->list_count++] = text;
    if (bytes.len > most || memchr(text, 0, bytes.len)) {
        cli_complain(c, "%s is no list of files", cli_show(list).text);
        return CLI_USAGE;
    }
    for (char *at = text, *end = text + bytes.len; at < end;) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        *line_end = 0;
        if (line_end > at && line_end[-1] == '\r') line_end[-1] = 0;
        if (*at && !add_name(c, &c->files, at)) return CLI_IO;
        at = line_end + 1;
    }
    return CLI_ACCEPTED;
}

/* ---- options */

enum option_id {
    OPTION_PRINT,
    OPTION_TSV,
    OPTION_JSON_LINES,
    OPTION_FILES_FROM,
    OPTION_BUFFER,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_POLICY,
    OPTION_INTO,
    OPTION_INSPECT,
    OPTION_OPCODES,
    OPTION_LIST,
    OPTION_INCLUDE,
    OPTION_POLICY_DIR,
    OPTION_ALLOW_FAIL_OPEN,
    OPTION_TODAY,
    OPTION_DIAGNOSTICS,
    OPTION_ALLOW_UNCONFINED,
    OPTION_STATE,
    OPTION_FOLDER,
    OPTION_HOME,
    OPTION_VISIBLE,
    OPTION_SET,
    OPTION_ASK,
    OPTION_STDOUT,
    OPTION_BUBBLEWRAP
};

enum { FOR_HOST = 1, FOR_TRY = 2, FOR_BOTH = 3, FOR_LEARN = 4, FOR_ALL = 7, FOR_RUN = 8 };

static const struct option {
    const char *name, *brief; /* with their dashes; brief may be NULL */
    bool takes_value;
    unsigned for_whom;
    enum option_id id;
} options[] = {
    {"--print", NULL, true, FOR_BOTH | FOR_RUN, OPTION_PRINT},
    {"--tsv", NULL, false, FOR_BOTH, OPTION_TSV},
    {"--json-lines", NULL, false, FOR_BOTH, OPTION_JSON_LINES},
    {"--files-from", NULL, true, FOR_ALL, OPTION_FILES_FROM},
    {"--buffer", NULL, true, FOR_ALL, OPTION_BUFFER},
    {"--help", "-h", false, FOR_ALL | FOR_RUN, OPTION_HELP},
    {"--version", NULL, false, FOR_ALL | FOR_RUN, OPTION_VERSION},
    {"--policy", "-p", true, FOR_HOST | FOR_LEARN | FOR_RUN, OPTION_POLICY},
    {"--into", NULL, true, FOR_LEARN, OPTION_INTO},
    {"--inspect", NULL, false, FOR_HOST, OPTION_INSPECT},
    {"--opcodes", NULL, true, FOR_HOST, OPTION_OPCODES},
    {"--list-policies", NULL, false, FOR_HOST | FOR_RUN, OPTION_LIST},
    {"--include", "-I", true, FOR_TRY | FOR_LEARN | FOR_RUN, OPTION_INCLUDE},
    {"--policy-dir", NULL, true, FOR_TRY | FOR_LEARN | FOR_RUN, OPTION_POLICY_DIR},
    {"--allow-fail-open", NULL, false, FOR_TRY | FOR_LEARN | FOR_RUN, OPTION_ALLOW_FAIL_OPEN},
    {"--today", NULL, true, FOR_TRY | FOR_LEARN | FOR_RUN, OPTION_TODAY},
    {"--diagnostics", NULL, true, FOR_TRY | FOR_LEARN | FOR_RUN, OPTION_DIAGNOSTICS},
    {"--allow-unconfined", NULL, false, FOR_RUN, OPTION_ALLOW_UNCONFINED},
    {"--state", NULL, true, FOR_RUN, OPTION_STATE},
    {"--folder", NULL, true, FOR_RUN, OPTION_FOLDER},
    {"--home", NULL, true, FOR_RUN, OPTION_HOME},
    {"--visible", NULL, true, FOR_RUN, OPTION_VISIBLE},
    {"--set", NULL, true, FOR_RUN, OPTION_SET},
    {"--from-host", NULL, true, FOR_RUN, OPTION_ASK},
    {"--stdout", NULL, false, FOR_RUN, OPTION_STDOUT},
    {"--bubblewrap", NULL, true, FOR_RUN, OPTION_BUBBLEWRAP},
};

static const char help_host[] =
    "usage: unpickle -p POLICY[:CHANNEL] [options] FILE...\n"
    "       unpickle --inspect [--opcodes FAMILY,...] [options] FILE...\n"
    "       unpickle --list-policies\n"
    "\n"
    "Decide pickle files under a policy compiled into this program, or show what they hold without one.\n"
    "\n"
    "  -p, --policy POLICY[:CHANNEL]  one of --list-policies\n"
    "  --inspect                      decode under the machine's own rules, everything inert\n"
    "  --opcodes FAMILY,...           families to inspect: core (the default), python2, inst, persid, "
    "buffer, ext, dup\n"
    "  --list-policies                names of the policies\n";

static const char help_try[] = "usage: policyc try POLICYFILE[:CHANNEL] [options] FILE...\n"
                               "\n"
                               "Compile a policy in memory and decide pickle files under it.\n"
                               "\n"
                               "  -I, --include DIR    look for included files there, too (repeatable)\n"
                               "  --policy-dir DIR     where the shipped policies stand\n"
                               "  --allow-fail-open    agree to `fail_open`, which is refused without\n"
                               "  --today YYYY-MM-DD   the day that it is held against; else the clock's\n"
                               "  --diagnostics FORM   errors of the policy as text (the default) or json\n";

static const char help_learn[] =
    "usage: policyc learn [--into FILE.policy[:CHANNEL]] [-p BASE.policy[:CHANNEL]] [options] DATA.pkl...\n"
    "\n"
    "Observes pickles without building anything and writes the smallest policy that admits them, to standard "
    "output\n"
    "or into a file.  What is written was compiled, and has decided every pickle again.\n"
    "\n"
    "  --into FILE.policy add what is missing to this file, in a block that learn keeps; what people wrote "
    "stays.\n"
    "                     The former file is kept as FILE.policy.old, .old_1 and so on\n"
    "  -p, --policy BASE.policy\n"
    "                     learn nothing of pickles that this policy admits; without --into print what it "
    "lacks\n"
    "  --files-from LIST  also learn from the files named in LIST, one a line; `-` reads it from standard "
    "input\n"
    "  --buffer FILE      an out-of-band buffer (PEP 574); repeat in the order of the stream\n"
    "  -I, --include DIR  look for included files in DIR, after the including file's own folder\n"
    "  --policy-dir DIR   where the shipped policies (std/, numpy/) are\n"
    "  --allow-fail-open  agree to `fail_open` of a policy, which is refused without; it admits nothing "
    "here\n"
    "  --today YYYY-MM-DD the day that it is held against; else the clock's\n"
    "  --diagnostics FORM errors in a policy as text (the default) or as json, one object a line\n"
    "  -h, --help         print this\n"
    "      --version      print the version\n"
    "\n"
    "Exit status: 0 all pickles are admitted, 1 some are not, 2 errors in the usage or a policy, 3 a file "
    "cannot "
    "be\n"
    "read or written.\n";

static const char help_run[] =
    "usage: upk-run -p POLICY[:CHANNEL] [options] -- COMMAND...\n"
    "       upk-run --list-policies\n"
    "\n"
    "Run a command with the environment that a policy gives it, confined by bubblewrap, and decide the "
    "pickle "
    "that it\n"
    "writes to the descriptor whose number is in UPK_RESULT_FD.\n"
    "\n"
    "  -p, --policy POLICY[:CHANNEL]\n"
    "                       a file, or one of --list-policies.  Without a block environment it has that of\n"
    "                       the policy environment; without a block confinement, too, its confinement\n"
    "  --folder DIR         where the command works; it sees it read-only (the current folder)\n"
    "  --home DIR           its HOME, where the policy lets the host say it (the folder)\n"
    "  --visible DIR        what else it sees, read-only (repeatable)\n"
    "  --set NAME=VALUE     the manifest: a variable that the policy lets it set (repeatable)\n"
    "  --from-host NAME=SOURCE\n"
    "                       the same, with the value of the variable SOURCE here (repeatable)\n"
    "  --stdout             the pickle comes by the command's standard output\n"
    "  --state FILE         hold later runs to the policy of the first, which writes FILE\n"
    "  --allow-unconfined   run unconfined where nothing can confine, and the policy says opt_in\n"
    "  --bubblewrap FILE    instead of /usr/bin/bwrap\n"
    "  --print FORM         how to print the value: repr (the default), tree, json, none\n"
    "  --list-policies      names of the policies compiled in\n"
    "  -I, --include DIR    look for included files there, too (repeatable)\n"
    "  --policy-dir DIR     where the shipped policies stand\n"
    "  --allow-fail-open    agree to fail_open, which is refused without\n"
    "  --today YYYY-MM-DD   the day that it is held against; else the clock's\n"
    "  --diagnostics FORM   errors of the policy as text (the default) or json\n"
    "  -h, --help; --version\n"
    "\n"
    "Exit status: 0 accepted, 1 refused, 2 wrong command line or policy, 3 the command cannot be started, 4 "
    "it "
    "failed,\n"
    "raised an exception or gave nothing, 5 its time is over, 6 nothing confines it, or the state is another "
    "policy's.\n";

static const char help_both[] =
    "  --print FORM         how to print values: repr (the default), tree, json, none\n"
    "  --tsv                one line a file, its fields separated by TAB\n"
    "  --json-lines         one line a file, a JSON object; with --print json it has the value, too\n"
    "  --files-from LIST    also the files that LIST names, one a line\n"
    "  --buffer FILE        an out-of-band buffer, in the order of use (repeatable)\n"
    "  -h, --help; --version\n"
    "\n"
    "FILE or LIST `-` is standard input; behind `--` nothing is an option.  Exit status: 0 all accepted, 1 "
    "some refused,\n"
    "2 wrong command line or policy, 3 some file could not be read.\n";

static bool read_families(struct cli *c, const char *value) {
    static const char *const words[] = {
#define UPK_X(name, word) #word,
        UPK_FAMILIES(UPK_X)
#undef UPK_X
    };
    c->has_families = true;
    for (const char *at = value;;) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < UPK_FAMILY_COUNT && !(strlen(words[i]) == n && memcmp(words[i], at, n) == 0)) i++;
        if (i == UPK_FAMILY_COUNT) {
            cli_complain(c, "unknown family of opcodes in `%s'", cli_show(value).text);
            return false;
        }
        c->families |= UINT32_C(1) << i;
        if (!at[n]) return true;
        at += n + 1;
    }
}

static bool read_print(struct cli *c, const char *value) {
    static const char *const words[] = {"repr", "tree", "json", "none"};
    static const enum cli_print forms[] = {CLI_PRINT_REPR, CLI_PRINT_TREE, CLI_PRINT_JSON, CLI_PRINT_NONE};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(value, words[i]) == 0) {
            c->print = forms[i];
            c->has_print = true;
            return true;
        }
    }
    cli_complain(c, "--print takes tree, json, repr or none, not `%s'", cli_show(value).text);
    return false;
}

bool cli_read_diagnostics(const char *value, bool *json) {
    *json = strcmp(value, "json") == 0;
    return *json || strcmp(value, "text") == 0;
}

static bool read_diagnostics(struct cli *c, const char *value) {
    if (cli_read_diagnostics(value, &c->json)) return true;
    cli_complain(c, "--diagnostics takes text or json, not `%s'", cli_show(value).text);
    return false;
}

/* An option given twice: the last one counts, but for those that collect. */
static enum cli_exit set_option(struct cli *c, enum option_id id, const char *value) {
    switch (id) {
    case OPTION_PRINT: return read_print(c, value) ? CLI_ACCEPTED : CLI_USAGE;
    case OPTION_TSV: c->tsv = true; break;
    case OPTION_JSON_LINES: c->json_lines = true; break;
    case OPTION_FILES_FROM: return add_list(c, value);
    case OPTION_BUFFER: return add_name(c, &c->buffers, value) ? CLI_ACCEPTED : CLI_IO;
    case OPTION_HELP: c->help = true; break;
    case OPTION_VERSION: c->version = true; break;
    case OPTION_POLICY: c->policy = value; break;
    case OPTION_INTO: c->into = value; break;
    case OPTION_INSPECT: c->inspect = true; break;
    case OPTION_OPCODES: return read_families(c, value) ? CLI_ACCEPTED : CLI_USAGE;
    case OPTION_LIST: c->list_policies = true; break;
    case OPTION_INCLUDE: return add_name(c, &c->includes, value) ? CLI_ACCEPTED : CLI_IO;
    case OPTION_POLICY_DIR: c->policy_dir = value; break;
    case OPTION_ALLOW_FAIL_OPEN: c->allow_fail_open = true; break;
    case OPTION_TODAY: c->today = value; break;
    case OPTION_DIAGNOSTICS: return read_diagnostics(c, value) ? CLI_ACCEPTED : CLI_USAGE;
    case OPTION_ALLOW_UNCONFINED: c->allow_unconfined = true; break;
    case OPTION_STATE: c->state = value; break;
    case OPTION_FOLDER: c->folder = value; break;
    case OPTION_HOME: c->home = value; break;
    case OPTION_VISIBLE: return add_name(c, &c->visible, value) ? CLI_ACCEPTED : CLI_IO;
    case OPTION_SET: return add_name(c, &c->sets, value) ? CLI_ACCEPTED : CLI_IO;
    case OPTION_ASK: return add_name(c, &c->asks, value) ? CLI_ACCEPTED : CLI_IO;
    case OPTION_STDOUT: c->by_stdout = true; break;
    case OPTION_BUBBLEWRAP: c->bubblewrap = value; break;
    }
    return CLI_ACCEPTED;
}

/* `--name`, `--name=value`, `-x` or `-xvalue`; *value is NULL where none is attached. */
static const struct option *find_option(const struct cli *c, const char *arg, const char **value) {
    unsigned whom = c->host ? FOR_HOST : c->learn ? FOR_LEARN : c->run ? FOR_RUN : FOR_TRY;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *o = &options[i];
        size_t n = strlen(o->name);
        *value = NULL;
        if (!(o->for_whom & whom)) continue;
        if (strcmp(arg, o->name) == 0 || (o->brief && strcmp(arg, o->brief) == 0)) return o;
        if (strncmp(arg, o->name, n) == 0 && arg[n] == '=') {
            *value = arg + n + 1;
            return o;
        }
        if (o->brief && o->takes_value && strncmp(arg, o->brief, 2) == 0) {
            *value = arg + 2;
            return o;
        }
    }
    return NULL;
}

/* The first name of `policyc try` is the policy's, wherever it stands. */
static bool add_operand(struct cli *c, const char *arg) {
    if (c->host || c->learn || c->run || c->policy) return add_name(c, &c->files, arg);
    c->policy = arg;
    return true;
}

static enum cli_exit wrong(const struct cli *c, const char *why) {
    cli_complain(c, "%s; try --help", why);
    return CLI_USAGE;
}

static enum cli_exit parse_arguments(struct cli *c, int argc, char **argv, bool *lists) {
    bool only_names = false;
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i], *value;
        if (only_names || arg[0] != '-' || !arg[1]) {
            if (c->run && !only_names) return wrong(c, "the command stands behind `--'");
            if (!add_operand(c, arg)) return CLI_IO;
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            only_names = true;
            continue;
        }
        const struct option *o = find_option(c, arg, &value);
        if (!o || (value && !o->takes_value)) {
            cli_complain(c, "unknown option `%s'; try --help", cli_show(arg).text);
            return CLI_USAGE;
        }
        if (o->takes_value && !value) {
            if (i + 1 == argc) {
                cli_complain(c, "option %s needs a value", o->name);
                return CLI_USAGE;
            }
            value = argv[++i];
        }
        if (o->id == OPTION_FILES_FROM) *lists = true;
        enum cli_exit status = set_option(c, o->id, value);
        if (status != CLI_ACCEPTED) return status;
    }
    return CLI_ACCEPTED;
}

enum cli_exit cli_parse(struct cli *c, int argc, char **argv) {
    bool lists = false;
    enum cli_exit status = parse_arguments(c, argc, argv, &lists);
    if (status != CLI_ACCEPTED) return status;
    if (c->help) {
        const bool own = c->learn || c->run;
        printf("%s%s",
               c->host    ? help_host
               : c->learn ? help_learn
               : c->run   ? help_run
                          : help_try,
               own ? "" : help_both);
        return CLI_ACCEPTED;
    }
    if (c->version) {
        printf("%s %s\n", c->program, UPK_VERSION);
        return CLI_ACCEPTED;
    }
    if (c->list_policies) return CLI_ACCEPTED;
    if (!c->learn && !c->inspect && !c->policy)
        return wrong(c, c->host  ? "name a policy (-p) or --inspect"
                        : c->run ? "name a policy (-p)"
                                 : "name a policy file");
    if (c->inspect && c->policy) return wrong(c, "-p and --inspect exclude each other");
    if (c->has_families && !c->inspect)
        return wrong(c, "--opcodes is for --inspect; a policy says which opcodes it allows");
    if (c->tsv && c->json_lines) return wrong(c, "--tsv and --json-lines exclude each other");
    if (c->json_lines && !c->has_print) c->print = CLI_PRINT_NONE;
    if (c->json_lines && c->print != CLI_PRINT_JSON && c->print != CLI_PRINT_NONE)
        return wrong(c, "with --json-lines values are printed as json or none");
    if (c->run && c->files.count == 0) return wrong(c, "name a command behind `--'");
    if (c->files.count == 0 && !lists) return wrong(c, "name a pickle file, or `-' for standard input");
    return CLI_ACCEPTED;
}

void cli_free(struct cli *c) {
    free(c->files.at);
    free(c->buffers.at);
    free(c->includes.at);
    free(c->visible.at);
    free(c->sets.at);
    free(c->asks.at);
    for (size_t i = 0; i < c->list_count; i++) free(c->lists[i]);
    free(c->lists);
}
