#!/usr/bin/python3
"""Write runtime/print_unicode.c: the code points that Python calls printable, by the Unicode version of this Python."""
import unicodedata


def printable(code):
    """The rule of str.isprintable: not Cc Cf Cs Co Cn Zl Zp Zs, but the blank is."""
    return code == 0x20 or unicodedata.category(chr(code)) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")


edges = [code for code in range(1, 0x110000) if printable(code) != printable(code - 1)]
print("""/* Code points that Python's repr prints as they are.  Written by tools/printable.py from Unicode %s.
 *
 * Layer: private to the runtime, data.
 */
#include "print_walk.h"

/* Where printable and not printable change; U+0000 is not. */
/* clang-format off */
static const uint32_t edges[] = {""" % unicodedata.unidata_version)
for i in range(0, len(edges), 10):
    print("    " + " ".join("0x%x," % e for e in edges[i:i + 10]))
print("""};
/* clang-format on */

bool code_is_printable(uint32_t code) {
    size_t from = 0, to = sizeof edges / sizeof *edges; /* edges before `from` are at or below code */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (edges[middle] <= code) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from % 2 == 1;
}""")
