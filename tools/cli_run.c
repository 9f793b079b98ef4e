/* Deciding files, and saying what came of each: a value, a refusal or an I/O error, for people, as TSV or as JSON.
 *
 * Layer: hosts; see cli.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/upk_tables.h"
#include "cli.h"

enum { MOST_KEPT = 64 << 20 };

struct run {
    const struct cli *cli;
    const struct upk_policy *policy;
    struct cli_bytes *buffers;
    struct upk_bytes *buffer_views;
    char *kept; /* text of a value, see struct text; kept_room bytes */
    size_t kept_room;
    bool stdin_used;
    bool refused, io;
};

/* ---- text of values */

/* A value is printed before anything is said of its file, because printing may still be refused.  Text that
 * fits is kept till then; longer text is printed a second time. */
struct text {
    struct run *run;
    size_t len;
    bool fits;
};

static bool make_room(struct run *r, size_t need) {
    if (need <= r->kept_room) return true;
    if (need > MOST_KEPT) return false;
    size_t room = r->kept_room ? r->kept_room : 1 << 16;
    while (room < need) room *= 2;
    char *kept = realloc(r->kept, room);
    if (!kept) return false;
    r->kept = kept;
    r->kept_room = room;
    return true;
}

static bool keep(void *ctx, const char *text, size_t len) {
    struct text *t = ctx;
    t->fits = t->fits && len <= MOST_KEPT && make_room(t->run, t->len + len);
    if (t->fits) {
        memcpy(t->run->kept + t->len, text, len);
        t->len += len;
    }
    return true;
}

static bool write_out(void *ctx, const char *text, size_t len) {
    (void)ctx;
    return fwrite(text, 1, len, stdout) == len;
}

static bool print_value(enum cli_print form, const struct upk_doc *doc, upk_sink sink, void *ctx,
                        struct upk_error *err) {
    switch (form) {
    case CLI_PRINT_TREE: return upk_print_tree(doc, sink, ctx, err);
    case CLI_PRINT_JSON: return upk_print_json(doc, sink, ctx, err);
    case CLI_PRINT_REPR: return upk_print_repr(doc, sink, ctx, err);
    case CLI_PRINT_NONE: break;
    }
    return true;
}

/* ---- what is said */

/* More than one file: people are told which one is spoken of. */
static void write_name(const struct run *r, const char *file) {
    if (!r->cli->run && r->cli->files.count > 1) printf("%s: ", cli_show(file).text);
}

static void say_io(struct run *r, const char *file, const char *why) {
    r->io = true;
    if (r->cli->json_lines) {
        cli_write_json_verdict(file, "io", stdout);
        fputs(", \"message\": ", stdout);
        cli_write_json_string(why, stdout);
        fputs("}\n", stdout);
    } else if (r->cli->tsv) {
        cli_write_field(file, stdout);
        fputs("\tio\t", stdout);
        cli_write_field(why, stdout);
        putchar('\n');
    } else {
        cli_complain(r->cli, "%s: %s", cli_show(file).text, why);
    }
}

static void say_refused(struct run *r, const char *file, const struct upk_error *err) {
    char shipped[400];
    const bool has_shipped = cli_find_shipped(r->policy, err, shipped, sizeof shipped);
    r->refused = true;
    if (r->cli->json_lines) {
        cli_write_json_verdict(file, "refused", stdout);
        cli_write_json_refusal(err, has_shipped ? shipped : NULL, stdout);
        fputs("}\n", stdout);
    } else if (r->cli->tsv) {
        char message[2048];
        upk_error_message(err, message, sizeof message);
        cli_write_field(file, stdout);
        printf("\trefused\t%s\tR%u\t%" PRIu64 "\t", upk_class_word(err->cls), (unsigned)err->code,
               err->offset);
        cli_write_field(message, stdout);
        putchar('\n');
    } else {
        write_name(r, file);
        if (has_shipped) {
            upk_error_write_bare(err, stdout);
            printf("    shipped: %s\n", shipped);
        } else {
            upk_error_write(err, stdout);
        }
    }
}

static void say_accepted(struct run *r, const char *file, const struct upk_doc *doc) {
    struct upk_error err = {0};
    struct text text = {r, 0, true};
    if (!print_value(r->cli->print, doc, keep, &text, &err)) {
        say_refused(r, file, &err);
        return;
    }
    const struct cli *c = r->cli;
    const char *end = "\n";
    if (c->json_lines) {
        cli_write_json_verdict(file, "accept", stdout);
        if (c->print == CLI_PRINT_JSON) fputs(", \"value\": ", stdout);
        end = "}\n";
    } else if (c->tsv) {
        cli_write_field(file, stdout);
        fputs("\taccept\t", stdout);
    } else {
        write_name(r, file);
        if (c->print == CLI_PRINT_NONE) end = "accepted\n";
    }
    if (text.fits) {
        fwrite(r->kept, 1, text.len, stdout);
    } else {
        print_value(c->print, doc, write_out, NULL, &err);
    }
    fputs(end, stdout);
}

/* ---- deciding */

/* More is not read: the decoder says by itself that it is too much. */
static uint64_t bytes_budget(const struct upk_policy *policy) {
    return (policy ? policy->budgets : upk_budget_standard)[UPK_BUDGET_BYTES];
}

static void decide_bytes(struct run *r, const char *file, const uint8_t *data, size_t len) {
    const struct cli *c = r->cli;
    struct upk_doc *doc = NULL;
    struct upk_error err;
    struct upk_options options = {.buffers = r->buffer_views, .buffer_count = c->buffers.count};
    bool good;
    if (r->policy) {
        /* Nothing is built here, so that names which only a host knows may stand for what a host would find. */
        options.flags = UPK_INERT_NAMES | (c->allow_fail_open ? UPK_ALLOW_FAIL_OPEN : 0u);
        good = upk_decode(r->policy, data, len, &options, &doc, &err);
        if (!good && !c->tsv) upk_error_observe(&err, r->policy, data, len, &options);
    } else {
        if (c->has_families) {
            options.flags = UPK_FAMILY_FLAGS;
            options.families = c->families;
        }
        good = upk_inspect(data, len, &options, &doc, &err);
    }
    if (good) {
        say_accepted(r, file, doc);
    } else {
        say_refused(r, file, &err);
    }
    upk_doc_free(doc);
}

static void decide(struct run *r, const char *file) {
    struct cli_bytes bytes;
    int error = 0;
    if (strcmp(file, "-") == 0) {
        if (r->stdin_used) {
            say_io(r, file, "standard input was read already");
            return;
        }
        r->stdin_used = true;
    }
    if (!cli_read(file, bytes_budget(r->policy), &bytes, &error)) {
        say_io(r, file, strerror(error));
        return;
    }
    decide_bytes(r, file, bytes.data, bytes.len);
    cli_bytes_free(&bytes);
}

static bool read_buffers(struct run *r) {
    const struct cli_names *names = &r->cli->buffers;
    if (names->count == 0) return true;
    r->buffers = calloc(names->count, sizeof *r->buffers);
    r->buffer_views = calloc(names->count, sizeof *r->buffer_views);
    if (!r->buffers || !r->buffer_views) {
        cli_complain(r->cli, "out of memory");
        return false;
    }
    for (size_t i = 0; i < names->count; i++) {
        int error = 0;
        if (!cli_read(names->at[i], bytes_budget(r->policy), &r->buffers[i], &error)) {
            cli_complain(r->cli, "cannot read buffer %s: %s", cli_show(names->at[i]).text, strerror(error));
            return false;
        }
        r->buffer_views[i].data = r->buffers[i].data;
        r->buffer_views[i].len = r->buffers[i].len;
    }
    return true;
}

static enum cli_exit end(const struct run *r) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_complain(r->cli, "cannot write standard output: %s", strerror(errno));
        return CLI_IO;
    }
    return r->io ? CLI_IO : r->refused ? CLI_REFUSED : CLI_ACCEPTED;
}

static enum cli_exit run_all(struct run *r) {
    if (!read_buffers(r)) return CLI_IO;
    for (size_t i = 0; i < r->cli->files.count; i++) decide(r, r->cli->files.at[i]);
    return end(r);
}

enum cli_exit cli_run(const struct cli *c, const struct upk_policy *policy) {
    struct run r = {.cli = c, .policy = policy};
    enum cli_exit status = run_all(&r);
    if (r.buffers) {
        for (size_t i = 0; i < c->buffers.count; i++) cli_bytes_free(&r.buffers[i]);
    }
    free(r.buffers);
    free(r.buffer_views);
    free(r.kept);
    return status;
}

enum cli_exit cli_run_bytes(const struct cli *c, const struct upk_policy *policy, const uint8_t *data,
                            size_t len) {
    struct run r = {.cli = c, .policy = policy};
    decide_bytes(&r, "", data, len);
    const enum cli_exit status = end(&r);
    free(r.kept);
    return status;
}
