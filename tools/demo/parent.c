/* A host program that runs a confined command and decides its reply.
 *
 * Layer: example, over the runtime's public interface and one compiled policy.
 */
#include <stdio.h>
#include <unistd.h>

#include "job.h"
#include "upk_run.h"

static bool write_text(void *to, const char *text, size_t len) { return fwrite(text, 1, len, to) == len; }

static bool decide(const struct upk_run_reply *reply, struct upk_error *err) {
    struct upk_doc *doc = NULL;
    const bool good = upk_decode(&job, reply->forms[UPK_RUN_RESULT].data, reply->forms[UPK_RUN_RESULT].len,
                                 NULL, &doc, err) &&
                      upk_print_repr(doc, write_text, stdout, err);
    upk_doc_free(doc);
    return good;
}

int main(int argc, char **argv) {
    extern char **environ;
    char folder[4096];
    struct upk_run_reply reply;
    struct upk_error err;
    if (argc < 2 || !getcwd(folder, sizeof folder)) return 2;
    const struct upk_run_options options = {
        .command = (const char *const *)argv + 1, .folder = folder, .host_env = environ};
    bool good = upk_run(&job, &options, &reply, &err);
    if (good) {
        good = decide(&reply, &err);
        upk_run_reply_free(&reply);
    }
    if (good)
        putchar('\n');
    else
        upk_error_write(&err, stderr);
    return good ? 0 : 1;
}
