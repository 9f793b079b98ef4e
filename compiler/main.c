/* policyc's command line.
 *
 * Layer: top; the only part of policyc that knows of stdio, the environment and exit statuses (with try.c).
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/upk.h"
#include "compile.h"
#include "depfile.h"
#include "emit.h"
#include "try.h"

enum { EXIT_GOOD = 0, EXIT_ERRORS = 2, EXIT_IO = 3 };

struct options {
    const char *input, *output;
    bool depfile;
    struct compile_options compile;
};

static const char HELP[] =
    "Usage: policyc FILE.policy [-o OUT.c] [-MD] [-I DIR]... [--policy-dir DIR]\n"
    "       policyc try FILE.policy[:CHANNEL] [OPTION]... FILE...\n"
    "\n"
    "Compiles a policy for pickles to C tables for libupk.\n"
    "\n"
    "  -o OUT.c           write OUT.c and OUT.h; without it the policy is only checked\n"
    "  -MD                write OUT.d too: dependencies for make\n"
    "  -I DIR             look for included files in DIR, after the including file's own folder\n"
    "  --policy-dir DIR   where the shipped policies (std/, numpy/) are\n"
    "  --version          print the version\n"
    "  --help             print this\n"
    "\n"
    "`policyc try --help` tells how to decide pickles under a policy without compiling C.\n"
    "Exit status: 0 good, 2 errors in the policy or the usage, 3 a file cannot be read or written.\n";

static void write_stderr(void *context, const char *bytes, size_t len) {
    (void)context;
    (void)fwrite(bytes, 1, len, stderr);
}

static int usage(const char *message, const char *what) {
    fprintf(stderr, "policyc: %s%s\nTry `policyc --help'.\n", message, what);
    return EXIT_ERRORS;
}

static int print_out(const char *text) {
    return fputs(text, stdout) == EOF || fflush(stdout) != 0 ? EXIT_IO : EXIT_GOOD;
}

static int run(const struct options *o) {
    struct diag d;
    bool colour = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
    diag_init(&d, (struct diag_sink){.write = write_stderr, .colour = colour});
    struct compiled *compiled = NULL;
    bool good = policy_compile(&o->compile, &d, &compiled);
    good = good && emit_files(compiled, &d, o->output) &&
           (!o->depfile || depfile_write(compiled, &d, o->output));
    int status = good ? EXIT_GOOD : d.io ? EXIT_IO : EXIT_ERRORS;
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

int main(int argc, char **argv) {
    struct options o = {.compile = {.policy_dir = POLICY_DIR}};
    if (argc > 1 && strcmp(argv[1], "try") == 0) {
        return try_main(argc - 1, argv + 1);
    }
    const char **includes = calloc((size_t)argc + 1, sizeof *includes);
    if (includes == NULL) {
        return usage("out of memory", "");
    }
    int status = -1;
    bool options = true;
    for (int i = 1; i < argc && status < 0; i++) {
        const char *a = argv[i], *value = a;
        if (options && strcmp(a, "--") == 0) {
            options = false;
        } else if (options && strcmp(a, "--help") == 0) {
            status = print_out(HELP);
        } else if (options && strcmp(a, "--version") == 0) {
            status = print_out("policyc " UPK_VERSION "\n");
        } else if (options && strcmp(a, "-MD") == 0) {
            o.depfile = true;
        } else if (options && is_option(a, "-o", 2)) {
            value = o.output = value_of("-o", 2, argv, argc, &i);
        } else if (options && is_option(a, "-I", 2)) {
            value = includes[o.compile.include_dir_count++] = value_of("-I", 2, argv, argc, &i);
        } else if (options && is_option(a, "--policy-dir", 12)) {
            value = o.compile.policy_dir = value_of("--policy-dir", 12, argv, argc, &i);
        } else if (options && a[0] == '-') {
            status = usage("there is no option ", a);
        } else if (o.input != NULL) {
            status = usage("one policy at a time", "");
        } else {
            o.input = a;
        }
        if (status < 0 && (value == NULL || value[0] == '\0')) {
            status = usage("a value is missing behind ", a);
        }
    }
    if (status < 0 && o.input == NULL) {
        status = usage("no policy is named", "");
    }
    if (status < 0 && o.depfile && o.output == NULL) {
        status = usage("-MD needs -o", "");
    }
    if (status < 0) {
        o.compile.path = o.input;
        o.compile.include_dirs = includes;
        status = run(&o);
    }
    free(includes);
    return status;
}
