/* Keyword look-up, by gperf (grammar/keywords.gperf).
 *
 * Layer: beside the scanner.
 */
#ifndef COMPILER_KEYWORDS_H
#define COMPILER_KEYWORDS_H

#include <stddef.h>

/* The keyword's token, or 0. */
int keyword_find(const char *word, size_t len);

#endif
