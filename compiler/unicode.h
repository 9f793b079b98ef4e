/* UTF-8, and which code points a text shows as they are.
 *
 * Layer: lowest of compiler/, beside mem; the tools use it, too.
 */
#ifndef COMPILER_UNICODE_H
#define COMPILER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 sequence at p, 0 where it is none; *code its code point.  Surrogates and overlong
 * forms are none. */
size_t utf8_decode(const char *p, size_t left, uint32_t *code);
/* How many code points a valid text has. */
size_t utf8_length(const char *text, size_t len);
/* Writes 1 to 4 bytes; surrogates as three. */
size_t utf8_encode(uint32_t code, char out[4]);
/* C0 and C1, tab and line ends among them, and the separators of lines and paragraphs (U+2028, U+2029): some
 * editors break the line there, so that a comment would seem to end. */
bool code_is_control(uint32_t code);
/* Directional marks, embeddings, overrides and isolates (Unicode, Bidi_Control). */
bool code_is_bidi(uint32_t code);
/* Does a reader see the code point, and where it stands?  ASCII, and letters and marks of Latin, Greek, Cyrillic, kana, Han and
 * Hangul that are one character: no other space than U+0020, nothing that combines with its neighbours or is left to a font
 * to show, nothing that runs from right to left.  Letters of two scripts may still look alike. */
bool code_is_legible(uint32_t code);

#endif
