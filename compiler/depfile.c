/* Layer: see depfile.h.
 *
 * What make reads as a name is full of traps (spaces, `$`, `#`, `%`, `:`), so only names without any of
 * them are written.
 */
#include "depfile.h"

#include <string.h>

#include "output.h"

enum { MOST_BYTES = 1 << 22 };

static bool check_name(struct diag *d, struct text name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '.' && c != '/' && c != '-') {
            diag_error_nowhere(d, P_DEPFILE_NAME, "`%s' cannot stand in a dependency file",
                               diag_quote(d, name));
            diag_hint(d, "names there are made of A-Z a-z 0-9 _ . / -");
            return false;
        }
    }
    return true;
}

static void put_text(struct output *o, struct text t) { output_bytes(o, t.at, t.len); }

bool depfile_write(const struct compiled *c, struct diag *d, const char *path) {
    struct mem m;
    struct output o;
    mem_init(&m, MOST_BYTES);
    output_init(&o, &m);
    struct text stem = {path, strlen(path)};
    if (stem.len > 2 && memcmp(path + stem.len - 2, ".c", 2) == 0) {
        stem.len -= 2;
    }
    bool good = check_name(d, (struct text){path, strlen(path)});
    output_bytes(&o, path, strlen(path));
    output_print(&o, " ");
    put_text(&o, stem);
    output_print(&o, ".h:");
    for (size_t i = 0; i < c->file_count; i++) {
        good = check_name(d, c->files[i].path) && good;
        output_print(&o, " ");
        put_text(&o, c->files[i].path);
    }
    output_print(&o, "\n");
    /* A file that is gone is no error for make, but a reason to compile anew. */
    for (size_t i = 0; i < c->file_count; i++) {
        put_text(&o, c->files[i].path);
        output_print(&o, ":\n");
    }
    struct text name = {NULL, 0};
    char *out = mem_alloc(&m, stem.len + 3, 1);
    if (out != NULL) {
        memcpy(out, stem.at, stem.len);
        memcpy(out + stem.len, ".d", 3);
        name.at = out;
    }
    if (m.failed) {
        diag_error_nowhere(d, P_MEMORY, "out of memory");
        good = false;
    }
    good = good && output_write(&o, name.at, d);
    mem_free(&m);
    return good;
}
