/* Layer: see depfile.h.
 *
 * What make reads as a name is full of traps (spaces, `$`, `#`, `%`, `:`), so only names without any of
 * them are written.
 */
#include "depfile.h"

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

bool depfile_text(const struct compiled *c, struct diag *d, const struct out_file *outputs, size_t count,
                  struct output *o) {
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = good && check_name(d, text_of(outputs[i].path)); /* all are named alike */
        if (i != 0) output_text(o, " ");
        put_text(o, text_of(outputs[i].path));
    }
    output_print(o, ":");
    for (size_t i = 0; i < c->file_count; i++) {
        good = check_name(d, c->files[i].path) && good;
        output_print(o, " ");
        put_text(o, c->files[i].path);
    }
    output_print(o, "\n");
    /* A file that is gone is no error for make, but a reason to compile anew. */
    for (size_t i = 0; i < c->file_count; i++) {
        put_text(o, c->files[i].path);
        output_print(o, ":\n");
    }
    return good && !o->mem->failed;
}
