/* policyc's command line.
 *
 * Layer: a program, over the compiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/compile.h"
#include "../compiler/emit.h"
#include "cli.h"
#include "list.h"
#include "stderr_sink.h"
#include "try.h"

struct options {
    bool list; /* policyc list */
    const char *input, *output;
    bool depfile, spellings, json;
    struct compile_options compile;
};

static const char HELP[] =
    "usage: policyc FILE.policy [-o OUT.c] [-MD] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc list FILE.policy[:CHANNEL] [--spellings] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc try FILE.policy[:CHANNEL] [OPTION]... FILE...\n"
    "\n"
    "Compiles a policy for pickles to C tables for libupk.\n"
    "\n"
    "  -o OUT.c           write OUT.c and OUT.h; without it all is compiled and nothing written\n"
    "  -MD                write OUT.d too: dependencies for make\n"
    "  -I DIR             look for included files in DIR, after the including file's own folder\n"
    "  --policy-dir DIR   where the shipped policies (std/) are\n"
    "  --diagnostics FORM errors as text (the default) or as json, one object a line\n"
    "  --version          print the version\n"
    "  -h, --help         print this\n"
    "\n"
    "`policyc list` prints what the policy grants, to be read and diffed; --help tells more.\n"
    "`policyc try --help` tells how to decide pickles under a policy without compiling C.\n"
    "Exit status: 0 good, 2 errors in the policy or the usage, 3 a file cannot be read or written.\n";

static const char HELP_LIST[] =
    "usage: policyc list FILE.policy[:CHANNEL] [--spellings] [-I DIR]... [--policy-dir DIR]\n"
    "\n"
    "Compiles a policy in memory and prints what its tables grant, of one channel or of each: a line for "
    "every\n"
    "setting, type and way to make an object, sorted, so that two listings can be compared.\n"
    "\n"
    "  --spellings        also the other names under which streams may write what is granted\n"
    "  -I DIR             look for included files in DIR, after the including file's own folder\n"
    "  --policy-dir DIR   where the shipped policies (std/) are\n"
    "  --diagnostics FORM errors as text (the default) or as json, one object a line\n"
    "  --version          print the version\n"
    "  -h, --help         print this\n"
    "\n"
    "Exit status: 0 good, 2 errors in the policy or the usage, 3 a file cannot be read.\n";

static enum cli_exit usage(const char *message, const char *what) {
    fprintf(stderr, "policyc: %s%s; try --help\n", message, cli_show(what).text);
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
    good = good && emit_files(compiled, &d, o->output, o->depfile);
    enum cli_exit status = good ? CLI_ACCEPTED : d.io ? CLI_IO : CLI_USAGE;
    diag_flush(&d);
    compiled_free(compiled);
    diag_free(&d);
    return status;
}

/* The value of an option that may be joined to it (`-oX`) or stand behind it; NULL: there is none. */
static const char *value_of(const char *option, size_t len, char **argv, int argc, int *i) {
    if (argv[*i][len] != '\0') {
        return argv[*i] + len + (option[1] == '-' ? 1 : 0);
    }
    return *i + 1 < argc ? argv[++*i] : NULL;
}

/* Is argv[i] this option, alone or with a value joined to it? */
static bool is_option(const char *given, const char *option, size_t len) {
    if (strncmp(given, option, len) != 0) {
        return false;
    }
    return option[1] != '-' || given[len] == '\0' || given[len] == '=';
}

/* Reads the command line into *o and `includes`, which has room for all of it.  false: there is nothing more
 * to do, and *status is the exit status. */
static bool parse(int argc, char **argv, struct options *o, const char **includes, enum cli_exit *status) {
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = a;
        if (options && strcmp(a, "--") == 0) {
            options = false;
        } else if (options && (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0)) {
            *status = print_out(o->list ? HELP_LIST : HELP);
            return false;
        } else if (options && strcmp(a, "--version") == 0) {
            *status = print_out("policyc " UPK_VERSION "\n");
            return false;
        } else if (options && o->list && strcmp(a, "--spellings") == 0) {
            o->spellings = true;
        } else if (options && !o->list && strcmp(a, "-MD") == 0) {
            o->depfile = true;
        } else if (options && !o->list && is_option(a, "-o", 2)) {
            value = o->output = value_of("-o", 2, argv, argc, &i);
        } else if (options && is_option(a, "-I", 2)) {
            value = includes[o->compile.include_dir_count++] = value_of("-I", 2, argv, argc, &i);
        } else if (options && is_option(a, "--policy-dir", 12)) {
            value = o->compile.policy_dir = value_of("--policy-dir", 12, argv, argc, &i);
        } else if (options && is_option(a, "--diagnostics", 13)) {
            value = value_of("--diagnostics", 13, argv, argc, &i);
            if (value != NULL && value[0] != '\0' && !cli_read_diagnostics(value, &o->json)) {
                *status = usage("--diagnostics takes text or json, not ", value);
                return false;
            }
        } else if (options && a[0] == '-') {
            *status = usage("there is no option ", a);
            return false;
        } else if (o->input != NULL) {
            *status = usage("one policy at a time", "");
            return false;
        } else {
            o->input = a;
        }
        if (value == NULL || value[0] == '\0') {
            *status = usage("a value is missing behind ", a);
            return false;
        }
    }
    if (o->input == NULL) {
        *status = usage("no policy is named", "");
        return false;
    }
    if (o->depfile && o->output == NULL) {
        *status = usage("-MD needs -o", "");
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
    if (argc > 1 && strcmp(argv[1], "list") == 0) {
        o.list = true;
        argc--;
        argv++;
    }
    const char **includes = calloc((size_t)argc + 1, sizeof *includes);
    enum cli_exit status = CLI_USAGE;
    if (includes == NULL) {
        status = usage("out of memory", "");
    } else if (parse(argc, argv, &o, includes, &status)) {
        status = o.list ? list_run(&o.compile, o.spellings, o.json) : run(&o);
    }
    free(includes);
    return (int)status;
}
