/* Test helper: a folder of a test's own.
 *
 * Layer: tests only, over POSIX.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp, realpath */
#include "folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void folder_make(char path[FOLDER_ROOM]) {
    const char *build = getenv("BUILD");
    char *top = realpath(build ? build : "build", NULL);
    if (!top) fail_msg("no build folder: run by make, or set BUILD");
    const int len = snprintf(path, FOLDER_ROOM, "%s/test.XXXXXX", top);
    free(top);
    assert_in_range(len, 1, FOLDER_ROOM - 1);
    assert_non_null(mkdtemp(path));
}
