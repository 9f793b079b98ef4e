/* A host program that reads what a worker sent back: fields by name, classes by row id.
 *
 * Layer: example, over the runtime's public interface and the compiled policy `worker.result` of README.md.
 */
#include <inttypes.h>
#include <stdio.h>

#include "upk.h"
#include "worker.h"

/* The field's type is what the policy says, so only its absence is left to be asked for. */
static bool field(struct upk_value record, const char *key, struct upk_value *out) {
    return upk_dict_get(record, key, out);
}

static void report_result(struct upk_value result) {
    struct upk_value state, value;
    int64_t code = 0;
    const char *text = "";
    size_t len = 0;
    if (!upk_object_state(result, &state)) return;
    if (field(state, "exit_code", &value)) upk_get_int64(value, &code);
    if (field(state, "stdout", &value)) upk_get_str(value, &text, &len);
    printf("exit %" PRId64 ", %zu bytes of output\n", code, len);
    if (field(state, "stderr", &value)) puts("with errors");
}

static void report(struct upk_value root) {
    switch (upk_object_row(root)) {
    case WORKER_RESULT_WORKER_BASH_BASHRESULT: report_result(root); break;
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
    report(upk_doc_root(doc));
    upk_doc_free(doc);
    return 0;
}
