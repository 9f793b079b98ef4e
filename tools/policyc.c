/* policyc's command line.
 *
 * Layer: a program, over the compiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/compile.h"
#include "../compiler/emit.h"
#include "../compiler/emit_python.h"
#include "cli.h"
#include "diff.h"
#include "fmt.h"
#include "learn.h"
#include "list.h"
#include "stderr_sink.h"
#include "today.h"
#include "try.h"

struct options {
    bool list, diff; /* policyc list, policyc diff */
    const char *input, *output;
    const char *other;  /* of diff: the new policy */
    const char *python; /* name of a module to write into `output`; NULL: none */
    bool depfile, spellings, json;
    const char *today; /* value of --today; NULL: the clock's */
    struct compile_options compile;
};

/* Of `policyc FILE`, `policyc list` and `policyc diff`. */
#define COMMON_OPTIONS                                                                             \
    "  -I DIR             look for included files in DIR, after the including file's own folder\n" \
    "  --policy-dir DIR   where the shipped policies (std/, numpy/) are\n"                         \
    "  --allow-fail-open  agree to `fail_open`, which is refused without\n"                        \
    "  --today YYYY-MM-DD the day that `fail_open ... until` is held against; else the clock's\n"  \
    "  --diagnostics FORM errors as text (the default) or as json, one object a line\n"            \
    "  --version          print the version\n"                                                     \
    "  -h, --help         print this\n"                                                            \
    "\n"

static const char help[] =
    "usage: policyc FILE.policy [-o OUT.c] [-MD] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc FILE.policy --python NAME -o DIR [-MD] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc list FILE.policy[:CHANNEL] [--spellings] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc try FILE.policy[:CHANNEL] [OPTION]... FILE...\n"
    "       policyc diff OLD.policy[:CHANNEL] NEW.policy[:CHANNEL] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc learn [--into FILE.policy[:CHANNEL]] [-p BASE.policy[:CHANNEL]] DATA.pkl...\n"
    "       policyc fmt [--check] FILE.policy...\n"
    "\n"
    "Compiles a policy for pickles to C tables for libupk.\n"
    "\n"
    "  -o OUT.c           write OUT.c and OUT.h; without it all is compiled and nothing written\n"
    "  --python NAME      write into the folder that -o names all that is the policy's own in an extension "
    "module NAME\n"
    "                     of CPython: NAME.c, NAME.h, NAMEmodule.c and the type stubs NAME.pyi\n"
    "  -MD                write OUT.d too: dependencies for make\n" COMMON_OPTIONS
    "`policyc list` prints what the policy grants, to be read and diffed; --help tells more.\n"
    "`policyc diff` tells what a new version grants more and less; --help tells more.\n"
    "`policyc try --help` tells how to decide pickles under a policy without compiling C.\n"
    "`policyc learn` makes a policy from pickles; --help tells more.\n"
    "`policyc fmt` lays policies out as all are; --help tells more.\n"
    "Exit status: 0 good, 2 errors in the policy or the usage, 3 a file cannot be read or written.\n";

static const char help_list[] =
    "usage: policyc list FILE.policy[:CHANNEL] [--spellings] [-I DIR]... [--policy-dir DIR]\n"
    "\n"
    "Compiles a policy in memory and prints what its tables grant, of one channel or of each: a line for "
    "every\n"
    "setting, type and way to make an object, sorted, so that two listings can be compared.\n"
    "\n"
    "  --spellings        also the other names under which streams may write what is granted\n" COMMON_OPTIONS
    "Exit status: 0 good, 2 errors in the policy or the usage, 3 a file cannot be read.\n";

static const char help_diff[] =
    "usage: policyc diff OLD.policy[:CHANNEL] NEW.policy[:CHANNEL] [-I DIR]... [--policy-dir DIR]\n"
    "\n"
    "Compiles two versions of a policy in memory and prints of each channel, or of the one named, whether "
    "NEW "
    "grants\n"
    "the same as OLD, less, or more, and where: a line for each finding, graded high, medium or low.  What "
    "could "
    "not be\n"
    "shown to be contained in what OLD grants counts as more.\n"
    "\n" COMMON_OPTIONS "Exit status: 0 nothing is widened, 1 something is, 2 errors in a policy or the "
    "usage, 3 a file cannot be "
    "read.\n";

static enum cli_exit usage(const struct options *o, const char *message, const char *what) {
    char text[640];
    (void)snprintf(text, sizeof text, "%s%s; try --help", message, cli_show(what).text);
    if (o->json) {
        stderr_json_usage(text);
    } else {
        fprintf(stderr, "policyc: %s\n", text);
    }
    return CLI_USAGE;
}

static enum cli_exit print_out(const char *text) {
    return fputs(text, stdout) == EOF || fflush(stdout) != 0 ? CLI_IO : CLI_ACCEPTED;
}

static enum cli_exit run(const struct options *o) {
    struct diag d;
    diag_init(&d, stderr_sink(o->json));
    struct compiled *compiled = NULL;
    bool good = policy_compile(&o->compile, &d, &compiled);
    good = good && (o->python ? emit_python_files(compiled, &d, o->python, o->output, o->depfile)
                              : emit_files(compiled, &d, o->output, o->depfile));
    enum cli_exit status = good ? CLI_ACCEPTED : d.io ? CLI_IO : CLI_USAGE;
    diag_flush(&d);
    compiled_free(compiled);
    diag_free(&d);
    return status;
}

enum option_id {
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_SPELLINGS,
    OPTION_DEPFILE,
    OPTION_OUTPUT,
    OPTION_PYTHON,
    OPTION_INCLUDE,
    OPTION_POLICY_DIR,
    OPTION_ALLOW_FAIL_OPEN,
    OPTION_TODAY,
    OPTION_DIAGNOSTICS
};

enum { FOR_COMPILE = 1, FOR_LIST = 2, FOR_DIFF = 4, FOR_ALL = 7 };

static const struct option {
    const char *name;
    bool takes_value;
    unsigned for_whom;
    enum option_id id;
} options[] = {
    {"--help", false, FOR_ALL, OPTION_HELP},
    {"-h", false, FOR_ALL, OPTION_HELP},
    {"--version", false, FOR_ALL, OPTION_VERSION},
    {"--spellings", false, FOR_LIST, OPTION_SPELLINGS},
    {"-MD", false, FOR_COMPILE, OPTION_DEPFILE},
    {"-o", true, FOR_COMPILE, OPTION_OUTPUT},
    {"--python", true, FOR_COMPILE, OPTION_PYTHON},
    {"-I", true, FOR_ALL, OPTION_INCLUDE},
    {"--policy-dir", true, FOR_ALL, OPTION_POLICY_DIR},
    {"--allow-fail-open", false, FOR_ALL, OPTION_ALLOW_FAIL_OPEN},
    {"--today", true, FOR_ALL, OPTION_TODAY},
    {"--diagnostics", true, FOR_ALL, OPTION_DIAGNOSTICS},
};

/* `--name`, `--name VALUE`, `--name=VALUE`, `-x VALUE` or `-xVALUE`; *value is NULL where none is attached. */
static const struct option *option_find(const struct options *o, const char *given, const char **value) {
    const unsigned whom = o->list ? FOR_LIST : o->diff ? FOR_DIFF : FOR_COMPILE;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *option = &options[i];
        const size_t len = strlen(option->name);
        const bool is_long = option->name[1] == '-';
        *value = NULL;
        if ((option->for_whom & whom) == 0 || strncmp(given, option->name, len) != 0) {
            continue;
        }
        if (given[len] == '\0') {
            return option;
        }
        if (option->takes_value && (!is_long || given[len] == '=')) {
            *value = given + len + (is_long ? 1 : 0);
            return option;
        }
    }
    return NULL;
}

/* true: go on; else *status is the exit status. */
static bool option_set(struct options *o, enum option_id id, const char *value, const char **includes,
                       enum cli_exit *status) {
    switch (id) {
    case OPTION_HELP: *status = print_out(o->list ? help_list : o->diff ? help_diff : help); return false;
    case OPTION_VERSION: *status = print_out("policyc " UPK_VERSION "\n"); return false;
    case OPTION_SPELLINGS: o->spellings = true; break;
    case OPTION_DEPFILE: o->depfile = true; break;
    case OPTION_OUTPUT: o->output = value; break;
    case OPTION_PYTHON:
        o->python = value;
        if (!python_name_good(text_of(value))) {
            *status = usage(o, "--python takes a Python identifier, not ", value);
            return false;
        }
        break;
    case OPTION_INCLUDE: includes[o->compile.include_dir_count++] = value; break;
    case OPTION_POLICY_DIR: o->compile.policy_dir = value; break;
    case OPTION_ALLOW_FAIL_OPEN: o->compile.allow_fail_open = true; break;
    case OPTION_TODAY: o->today = value; break;
    case OPTION_DIAGNOSTICS:
        if (!cli_read_diagnostics(value, &o->json)) {
            *status = usage(o, "--diagnostics takes text or json, not ", value);
            return false;
        }
        break;
    }
    return true;
}

/* argv[*i] and perhaps the next are an option.  true: go on; else *status is the exit status. */
static bool option_read(struct options *o, char **argv, int argc, int *i, const char **includes,
                        enum cli_exit *status) {
    const char *given = argv[*i], *value = NULL;
    const struct option *option = option_find(o, given, &value);
    if (option == NULL) {
        *status = usage(o, "there is no option ", given);
        return false;
    }
    if (option->takes_value && value == NULL && *i + 1 < argc) {
        value = argv[++*i];
    }
    if (option->takes_value && (value == NULL || value[0] == '\0')) {
        *status = usage(o, "a value is missing behind ", given);
        return false;
    }
    return option_set(o, option->id, value, includes, status);
}

/* Reads the command line into *o and `includes`, which has room for all of it.  false: there is nothing more
 * to do, and *status is the exit status. */
static bool parse(int argc, char **argv, struct options *o, const char **includes, enum cli_exit *status) {
    bool only_names = false;
    for (int i = 1; i < argc; i++) {
        if (!only_names && strcmp(argv[i], "--") == 0) {
            only_names = true;
        } else if (!only_names && argv[i][0] == '-') {
            if (!option_read(o, argv, argc, &i, includes, status)) {
                return false;
            }
        } else if (o->input != NULL && (!o->diff || o->other != NULL)) {
            *status = usage(o, o->diff ? "two policies at a time" : "one policy at a time", "");
            return false;
        } else if (argv[i][0] == '\0') {
            *status = usage(o, "the policy's name is empty", "");
            return false;
        } else if (o->input != NULL) {
            o->other = argv[i];
        } else {
            o->input = argv[i];
        }
    }
    if (o->input == NULL) {
        *status = usage(o, "no policy is named", "");
        return false;
    }
    if (o->diff && o->other == NULL) {
        *status = usage(o, "only one policy is named", "");
        return false;
    }
    if (o->depfile && o->output == NULL) {
        *status = usage(o, "-MD needs -o", "");
        return false;
    }
    if (o->python && o->output == NULL) {
        *status = usage(o, "--python needs -o", "");
        return false;
    }
    if (!today_read(o->today, &o->compile.today)) {
        *status = usage(o, o->today ? "--today takes a date YYYY-MM-DD, not " : "the clock is not to be read",
                        o->today ? o->today : "");
        return false;
    }
    o->compile.path = o->input;
    o->compile.include_dirs = includes;
    return true;
}

int main(int argc, char **argv) {
    struct options o = {.compile = {.policy_dir = POLICY_DIR}};
    if (argc > 1 && strcmp(argv[1], "try") == 0) {
        return try_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "learn") == 0) {
        return learn_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "fmt") == 0) {
        return fmt_main(argc - 1, argv + 1);
    }
    if (argc > 1 && (strcmp(argv[1], "list") == 0 || strcmp(argv[1], "diff") == 0)) {
        o.list = argv[1][0] == 'l';
        o.diff = !o.list;
        argc--;
        argv++;
    }
    o.json = stderr_asked_json(argc, argv);
    const char **includes = calloc((size_t)argc + 1, sizeof *includes);
    enum cli_exit status = CLI_USAGE;
    if (includes == NULL) {
        status = usage(&o, "out of memory", "");
    } else if (parse(argc, argv, &o, includes, &status)) {
        status = o.list   ? list_run(&o.compile, o.spellings, o.json)
                 : o.diff ? diff_run(&o.compile, o.other, o.json)
                          : run(&o);
    }
    free(includes);
    return (int)status;
}
