/* Layer: grammar; see syntax_hint.c. */
#ifndef COMPILER_SYNTAX_HINT_H
#define COMPILER_SYNTAX_HINT_H

#include "syntax.h"

/* Adds a hint to the error reported last, which is about the token delivered last.  false: there is none. */
bool syntax_hint(struct syntax *s, const struct syntax_expected *expected);

#endif
