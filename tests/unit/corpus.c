/* Test helper: walks the unpacked corpus.
 *
 * Layer: tests only.  CORPUS_DIR is where make unpacks it.
 */
#define _XOPEN_SOURCE 700
#include "corpus.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/upk_tables.h"

static const uint8_t buffer_bytes[64];
static const struct upk_bytes buffers[2] = {{buffer_bytes, sizeof buffer_bytes},
                                            {buffer_bytes, sizeof buffer_bytes}};
const struct upk_options corpus_options = {.flags = UPK_FAMILY_FLAGS,
                                           .families = (1 << UPK_FAMILY_COUNT) - 1,
                                           .buffers = buffers,
                                           .buffer_count = 2};

/* nftw has no context argument. */
static char **paths;
static size_t path_count, path_room;

static void give_up(const char *what) {
    perror(what);
    exit(EXIT_FAILURE);
}

static int note_path(const char *path, const struct stat *status, int type, struct FTW *where) {
    (void)where;
    size_t len = strlen(path);
    if (type != FTW_F || len < 4 || strcmp(path + len - 4, ".pkl") != 0 || !S_ISREG(status->st_mode))
        return 0;
    if (path_count == path_room) {
        path_room = path_room ? 2 * path_room : 1024;
        paths = realloc(paths, path_room * sizeof *paths);
        if (!paths) give_up("realloc");
    }
    paths[path_count] = strdup(path);
    if (!paths[path_count++]) give_up("strdup");
    return 0;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* false: longer than `most`. */
static bool read_file(struct corpus_file *file, size_t most) {
    FILE *from = fopen(file->path, "rb");
    if (!from || fseek(from, 0, SEEK_END) != 0) give_up(file->path);
    long end = ftell(from);
    if (end < 0) give_up(file->path);
    file->len = (size_t)end;
    file->bytes = NULL;
    if (file->len <= most) {
        rewind(from);
        file->bytes = malloc(file->len ? file->len : 1);
        if (!file->bytes || fread(file->bytes, 1, file->len, from) != file->len) give_up(file->path);
    }
    fclose(from);
    return file->bytes != NULL;
}

size_t corpus_each(const char *part, size_t most, corpus_fn each, void *ctx) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/%s", CORPUS_DIR, part);
    paths = NULL;
    path_count = path_room = 0;
    if (nftw(folder, note_path, 16, FTW_PHYS) != 0) give_up(folder);
    if (path_count > 1) qsort(paths, path_count, sizeof *paths, compare_paths);
    size_t seen = 0;
    for (size_t i = 0; i < path_count; i++) {
        struct corpus_file file = {.path = paths[i]};
        if (read_file(&file, most)) {
            each(&file, ctx);
            free(file.bytes);
            seen++;
        }
        free(paths[i]);
    }
    free(paths);
    return seen;
}
