/* Main program of a fuzz target without libFuzzer: runs it over the files and folders named on the command line, so that any
 * compiler can replay seeds and crashes.
 *
 * Layer: tests only, over POSIX directories.
 */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv); /* some targets have one */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long replayed, failed; /* nftw has no context argument */

static int replay_file(const char *path, const struct stat *status, int type, struct FTW *where) {
    (void)where;
    if (type != FTW_F || !S_ISREG(status->st_mode)) return 0;
    FILE *file = fopen(path, "rb");
    size_t size = (size_t)status->st_size, got = 0;
    uint8_t *data = malloc(size ? size : 1);
    if (file && data) got = fread(data, 1, size, file);
    if (file) fclose(file);
    if (!file || !data || got != size) {
        fprintf(stderr, "%s: cannot read\n", path);
        failed++;
    } else {
        LLVMFuzzerTestOneInput(data, size); /* aborts where a property does not hold */
        replayed++;
    }
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    if (LLVMFuzzerInitialize && LLVMFuzzerInitialize(&argc, &argv) != 0) return 1;
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], replay_file, 16, FTW_PHYS) != 0) {
            perror(argv[i]);
            failed++;
        }
    printf("%lu passed, %lu failed\n", replayed, failed + (replayed == 0));
    return failed || !replayed;
}
