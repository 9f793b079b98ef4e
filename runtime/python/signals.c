/* Exceptions that say what to do, and not what went wrong.
 *
 * Whoever raises one of these again is steered by its sender: an iteration ends, a task is cancelled, a loop or a debugger stops, a
 * test counts as skipped.  None of them is told of an error.  Errors that Python itself looks for (AttributeError, KeyError,
 * IndexError, ImportError) are no such thing: they say what happened, and come through.
 *
 * What is no Exception (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio's CancelledError) acts in the same way, and no host is
 * given any.  Those below are Exceptions all the same.  std/host-exceptions.policy forbids the same names.
 *
 * Layer: see host.h.
 */
#include "bind.h"

static const char *const signals[][2] = {
    {"builtins", "StopIteration"},
    {"builtins", "StopAsyncIteration"},
    {"asyncore", "ExitNow"},
    {"bdb", "BdbQuit"},
    {"concurrent.futures._base", "CancelledError"}, /* asyncio makes its own CancelledError of it */
    {"inspect", "ClassFoundException"},
    {"inspect", "EndOfBlock"},
    {"lib2to3.pgen2.tokenize", "StopTokenizing"},
    {"lib2to3.refactor", "_EveryNode"},
    {"pdb", "Restart"},
    {"pickle", "_Stop"},
    {"shutil", "_GiveupOnFastCopy"},
    {"socket", "_GiveupOnSendfile"},
    {"sre_parse", "Verbose"},
    {"tokenize", "StopTokenizing"},
    {"turtle", "Terminator"},
    {"unittest.case", "SkipTest"},
    {"unittest.case", "_ShouldStop"},
    {"unittest.case", "_UnexpectedSuccess"},
    {"xml.dom.expatbuilder", "ParseEscape"},
};

static bool is_text(const struct upk_own_name *n, const char *const signal[2]) {
    return n->module_len == strlen(signal[0]) && memcmp(n->module, signal[0], n->module_len) == 0 &&
           n->name_len == strlen(signal[1]) && memcmp(n->name, signal[1], n->name_len) == 0;
}

static bool is_among(const struct names *n) {
    for (size_t i = 0; i < n->count; i++) {
        for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
            if (is_text(&n->at[i], signals[k])) return true;
    }
    return false;
}

bool exception_is_signal(PyTypeObject *type, bool *is_signal) {
    struct names own = {.count = 0}, ancestors = {.count = 0};
    const bool good = names_of_class(&own, &ancestors, type);
    *is_signal = !is_under(type, PyExc_Exception) || is_among(&own) || is_among(&ancestors);
    names_free(&own);
    names_free(&ancestors);
    return good;
}
