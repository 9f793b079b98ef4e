/* A host program that reads what a worker sent back: classes by row id, fields by name.
 *
 * Layer: example, over the runtime's public interface and the compiled policy `worker.result` of README.md.
 */
#include <inttypes.h>
#include <stdio.h>

#include "upk.h"
#include "worker.h"

/* The policy says that these fields are there and what they are. */
static void report_result(const struct upk_doc *doc, struct upk_value result) {
    struct upk_value errors;
    int64_t code = 0;
    const char *text = "";
    size_t len = 0;
    upk_field_int64(doc, result, "exit_code", &code);
    upk_field_str(doc, result, "stdout", &text, &len);
    printf("exit %" PRId64 ", %zu bytes of output\n", code, len);
    if (upk_object_field(doc, result, "stderr", &errors)) puts("with errors"); /* may be absent */
}

static void report(const struct upk_doc *doc) {
    const struct upk_value root = upk_doc_root(doc);
    switch (upk_value_row(doc, root)) {
    case WORKER_RESULT_WORKER_BASH_BASHRESULT: report_result(doc, root); break;
    default: puts("plain data"); break;
    }
}

int main(int argc, char **argv) {
    static unsigned char bytes[1 << 16];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct upk_doc *doc = NULL;
    struct upk_error err;
    if (!upk_decode(&worker_result, bytes, len, NULL, &doc, &err)) {
        upk_error_observe(&err, &worker_result, bytes, len, NULL);
        upk_error_write(&err, stderr);
        return 1;
    }
    report(doc);
    upk_doc_free(doc);
    return 0;
}
