/* `policyc fmt`: policies in their canonical layout.
 *
 * Layer: a part of the program policyc, over the compiler and cli.h.
 */
#include "fmt.h"

#include <stdio.h>
#include <string.h>

#include "../compiler/files.h"
#include "../compiler/format.h"
#include "cli.h"
#include "stderr_sink.h"

static const char help[] =
    "usage: policyc fmt [--check] FILE.policy...\n"
    "       policyc fmt [--check] - <FILE.policy\n"
    "\n"
    "Writes each policy in its canonical layout, in place; one that has it already is left alone.  Words, "
    "their\n"
    "order and comments stay.  Only the syntax has to be right: nothing is included or looked up.\n"
    "\n"
    "  --check            write nothing: print the name of each file whose layout is another\n"
    "  --diagnostics FORM errors as text (the default) or as json, one object a line\n"
    "  -h, --help         print this\n"
    "\n"
    "`-` is standard input, whose canonical form goes to standard output.\n"
    "Exit status: 0 good, 1 --check named a file, 2 errors in a policy or the usage, 3 a file cannot be read "
    "or\n"
    "written; of several files the highest.\n";

struct fmt {
    bool check, json;
};

static enum cli_exit usage(const struct fmt *f, const char *message, const char *what) {
    char text[640];
    (void)snprintf(text, sizeof text, "%s%s; try --help", message, cli_show(what).text);
    if (f->json)
        stderr_json_usage(text);
    else
        fprintf(stderr, "policyc fmt: %s\n", text);
    return CLI_USAGE;
}

static enum cli_exit print_out(const char *bytes, size_t len, struct diag *d) {
    if (fwrite(bytes, 1, len, stdout) == len && fflush(stdout) == 0) return CLI_ACCEPTED;
    diag_error_nowhere(d, P_NOT_WRITTEN, "cannot write to standard output");
    return CLI_IO;
}

/* What is to be done with the canonical form. */
static enum cli_exit deliver(const struct fmt *f, const char *path, struct text old,
                             const struct output *made, struct diag *d) {
    if (strcmp(path, "-") == 0 && !f->check) return print_out(made->bytes, made->len, d);
    if (text_equal(old, (struct text){made->bytes, made->len})) return CLI_ACCEPTED;
    if (!f->check) return file_replace(path, made, d) ? CLI_ACCEPTED : d->io ? CLI_IO : CLI_USAGE;
    char line[sizeof(struct cli_shown) + 1];
    const int len = snprintf(line, sizeof line, "%s\n", cli_show(path).text);
    return print_out(line, (size_t)len, d) == CLI_ACCEPTED ? CLI_REFUSED : CLI_IO;
}

/* Standard input is read as any stream, a file only where it is a regular one. */
static bool read_policy(const char *path, struct cli_bytes *in, struct text *bytes, struct diag *d) {
    const bool standard = strcmp(path, "-") == 0;
    int error = 0;
    enum source_fault fault;
    if (!standard) {
        fault = source_read(&d->mem, path, bytes, &error);
    } else if (!cli_read(path, SOURCE_MOST_BYTES, in, &error)) {
        fault = SOURCE_NOT_READ;
    } else {
        fault = in->len > SOURCE_MOST_BYTES ? SOURCE_TOO_LARGE : SOURCE_GOOD;
        *bytes = (struct text){(const char *)in->data, in->len};
    }
    if (fault == SOURCE_GOOD) return true;
    d->io = fault == SOURCE_NOT_READ || fault == SOURCE_NOT_FILE;
    diag_error_nowhere(d, P_NOT_READ, "%s: %s", diag_quote(d, text_of(path)),
                       source_fault_text(fault, error));
    return false;
}

static enum cli_exit format_file(const struct fmt *f, const char *path) {
    enum { MOST_BYTES = 1 << 30 };
    const struct text name = text_of(strcmp(path, "-") == 0 ? "standard input" : path);
    struct cli_bytes in = {NULL, 0, false};
    struct text bytes;
    struct diag d;
    struct mem m;
    struct output made;
    diag_init(&d, stderr_sink(f->json));
    mem_init(&m, MOST_BYTES);
    output_init(&made, &m);
    enum cli_exit status;
    if (read_policy(path, &in, &bytes, &d) && format_policy(name, bytes, &d, &made))
        status = deliver(f, path, bytes, &made, &d);
    else
        status = d.io ? CLI_IO : CLI_USAGE;
    diag_flush(&d);
    mem_free(&m);
    diag_free(&d);
    cli_bytes_free(&in);
    return status;
}

/* false: there is nothing more to do, and *status is the exit status.  What is left of argv behind argv[0] is files. */
static bool parse(struct fmt *f, int *argc, char **argv, enum cli_exit *status) {
    static const char diagnostics[] = "--diagnostics";
    const size_t len = sizeof diagnostics - 1;
    int files = 1;
    bool only_names = false;
    for (int i = 1; i < *argc; i++) {
        const char *const given = argv[i];
        if (only_names || given[0] != '-' || strcmp(given, "-") == 0) {
            if (given[0] == '\0') {
                *status = usage(f, "the name of a policy is empty", "");
                return false;
            }
            argv[files++] = argv[i];
        } else if (strcmp(given, "--") == 0) {
            only_names = true;
        } else if (strcmp(given, "--check") == 0) {
            f->check = true;
        } else if (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0) {
            *status = fputs(help, stdout) == EOF || fflush(stdout) != 0 ? CLI_IO : CLI_ACCEPTED;
            return false;
        } else if (strncmp(given, diagnostics, len) == 0 && (given[len] == '\0' || given[len] == '=')) {
            const char *const value = given[len] == '=' ? given + len + 1 : i + 1 < *argc ? argv[++i] : "";
            if (!cli_read_diagnostics(value, &f->json)) {
                *status = usage(f, "--diagnostics takes text or json, not ", value);
                return false;
            }
        } else {
            *status = usage(f, "there is no option ", given);
            return false;
        }
    }
    *argc = files;
    if (files > 1) return true;
    *status = usage(f, "no policy is named", "");
    return false;
}

int fmt_main(int argc, char **argv) {
    struct fmt f = {.json = stderr_asked_json(argc, argv)};
    enum cli_exit status = CLI_ACCEPTED;
    if (!parse(&f, &argc, argv, &status)) return (int)status;
    for (int i = 1; i < argc; i++) {
        const enum cli_exit one = format_file(&f, argv[i]);
        status = one > status ? one : status;
    }
    return (int)status;
}
