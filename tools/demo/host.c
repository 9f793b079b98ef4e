/* A host program: decides pickle files under a compiled policy, and prints the value or the refusal.
 *
 * Layer: example, over the runtime's public interface and one compiled policy.
 */
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"
#include "upk.h"

static bool write_text(void *to, const char *text, size_t len) { return fwrite(text, 1, len, to) == len; }

static bool decide(const char *path, const void *bytes, size_t len) {
    struct upk_doc *doc = NULL;
    struct upk_error err;
    printf("%s\n", path);
    if (!upk_decode(&demo, bytes, len, NULL, &doc, &err)) {
        upk_error_write(&err, stdout);
        return false;
    }
    bool printed = upk_print_repr(doc, write_text, stdout, &err);
    putchar('\n');
    upk_doc_free(doc);
    return printed;
}

int main(int argc, char **argv) {
    static unsigned char bytes[1 << 16];
    int refused = 0;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return EXIT_FAILURE;
        }
        size_t len = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        refused += !decide(argv[i], bytes, len);
    }
    return refused ? 2 : EXIT_SUCCESS;
}
