/* Fuzz target: any bytes as a pickle, decided by libupk and loaded by CPython's own unpickler, in another process.
 *
 * What must hold for every input:
 *   - what inspection accepts, CPython's machine loads, and to the same tree;
 *   - what CPython refuses, inspection refuses; where it is the other way round, the code is one of a strictness that the
 *     documents name (STRICT in cpython.py);
 *   - what policy `values` accepts, CPython loads to the value that the form `json` describes, but for errors of constructors.
 *
 * Runs from the top folder.  The process that loads is cpython.py, which looks up no name that a stream chooses; it gives
 * itself little of the processor for an answer (SIGPROF ends it), and is started again when it has ended.
 *
 * A request is four little-endian int32 (code of the refusal or 0; lengths of stream, tree, json, -1: none) and the three
 * texts; an answer is an int32 length and a text, empty when all holds.
 *
 * Layer: tests only, over the runtime's public interface and POSIX.
 */
#define _XOPEN_SOURCE 700
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../runtime/upk_tables.h"
#include "help/verdict.h"
#include "require.h"
#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FAMILIES = ((1 << UPK_FAMILY_COUNT) - 1) & ~(1 << UPK_FAMILY_EXT), /* a code is in nobody's registry */
    MOST_TEXT = 1 << 16,
    ANSWER_MS = 50 * 1000 /* on the clock: a busy machine, two of them are less than a run may take */
};

extern char **environ;

/* libFuzzer gives a target no context. */
static struct child {
    pid_t pid; /* 0: none */
    int to, from;
    bool late; /* it was waited for in vain, or took too long */
} child;

static void child_start(void) {
    int to[2], from[2];
    posix_spawn_file_actions_t actions;
    char python[] = PYTHON, script[] = "tests/fuzz/cpython.py", no_bytecode[] = "-B", isolated[] = "-I";
    char *argv[] = {python, no_bytecode, isolated, script, NULL};
    REQUIRE(pipe(to) == 0 && pipe(from) == 0);
    REQUIRE(posix_spawn_file_actions_init(&actions) == 0);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    const int ends[] = {to[0], to[1], from[0], from[1]};
    for (size_t i = 0; i < 4; i++) posix_spawn_file_actions_addclose(&actions, ends[i]);
    REQUIRE(posix_spawn(&child.pid, python, &actions, NULL, argv, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    child.to = to[1];
    child.from = from[0];
    signal(SIGPIPE, SIG_IGN);
}

static void child_end(void) {
    int status = 0;
    kill(child.pid, SIGKILL);
    if (waitpid(child.pid, &status, 0) == child.pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        child.late = true;
    close(child.to);
    close(child.from);
    child.pid = 0;
}

enum answer { ANSWERED, LATE, DIED };

static bool ready(int fd, short what) {
    struct pollfd p = {.fd = fd, .events = what};
    const int n = poll(&p, 1, ANSWER_MS);
    if (n == 0) child.late = true;
    return n == 1 && p.revents & what;
}

static bool send_all(const void *bytes, size_t len) {
    const char *p = bytes;
    while (len) {
        ssize_t n = ready(child.to, POLLOUT) ? write(child.to, p, len) : -1;
        if (n <= 0) return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool receive_all(void *bytes, size_t len) {
    char *p = bytes;
    while (len) {
        ssize_t n = ready(child.from, POLLIN) ? read(child.from, p, len) : -1;
        if (n <= 0) return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

struct form {
    char text[MOST_TEXT];
    int32_t len; /* -1: none */
};

static void print(bool (*printer)(const struct upk_doc *, upk_sink, void *, struct upk_error *),
                  const struct upk_doc *doc, struct form *out) {
    struct printed text = {.room = sizeof out->text, .keep = out->text};
    out->len = printer(doc, printed_take, &text, NULL) ? (int32_t)text.len : -1;
}

/* Asks the other process.  Where it does not answer it is ended, and the next question goes to a new one. */
static enum answer ask(const uint8_t *data, size_t size, int32_t code, const struct form *tree,
                       const struct form *json, char *answer, size_t room) {
    const int32_t head[4] = {code, (int32_t)size, tree->len, json->len};
    int32_t len;
    child.late = false;
    if (!child.pid) child_start();
    bool sent = send_all(head, sizeof head) && send_all(data, size) &&
                send_all(tree->text, tree->len > 0 ? (size_t)tree->len : 0) &&
                send_all(json->text, json->len > 0 ? (size_t)json->len : 0);
    if (!sent || !receive_all(&len, sizeof len) || len < 0 || (size_t)len >= room ||
        !receive_all(answer, (size_t)len)) {
        child_end();
        return child.late ? LATE : DIED;
    }
    answer[len] = '\0';
    return ANSWERED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct form tree, json;
    static char answer[MOST_TEXT + 1];
    const struct upk_options options = {.flags = UPK_FAMILY_FLAGS, .families = FAMILIES};
    struct upk_error err = {0};
    struct upk_doc *doc = NULL;
    tree.len = json.len = -1;
    if (size > INT32_MAX) return 0;
    const bool accepted = upk_inspect(data, size, &options, &doc, &err);
    if (accepted) print(upk_print_tree, doc, &tree);
    upk_doc_free(doc);
    doc = NULL;
    const bool granted = upk_decode(&values, data, size, NULL, &doc, NULL);
    if (granted) print(upk_print_json, doc, &json);
    upk_doc_free(doc);
    const int32_t code = accepted ? 0 : err.code;
    enum answer got = ask(data, size, code, &tree, &json, answer, sizeof answer);
    /* What it was asked before may have worn it out: only a fresh process says something by not answering. */
    if (got == DIED || (got == LATE && granted))
        got = ask(data, size, code, &tree, &json, answer, sizeof answer);
    REQUIRE(got != DIED || !accepted);
    /* Inspection does not weigh what CPython hashes: a tuple that is shared a million times. */
    REQUIRE(got != LATE || !granted);
    if (got != ANSWERED) return 0;
    if (answer[0]) fprintf(stderr, "%s\n", answer);
    REQUIRE(answer[0] == '\0'); /* libupk and CPython agree */
    return 0;
}
