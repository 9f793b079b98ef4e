/* Test helper: a folder of a test's own.
 *
 * Layer: tests only, over POSIX.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

enum { FOLDER_ROOM = 4096 };

/* Makes an empty folder under the build folder (BUILD, which run_check.py sets, else "build") and writes its absolute path; the
 * test fails where that cannot be done. */
void folder_make(char path[FOLDER_ROOM]);

#endif
