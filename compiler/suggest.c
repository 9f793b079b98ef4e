/* Edit distance with transpositions, bounded: words longer than the table are never suggested.
 *
 * Layer: above mem.
 */
#include "suggest.h"

enum { LONGEST = 64 };

struct suggestion suggestion_begin(struct text word) {
    return (struct suggestion){.word = word, .distance = word.len <= 4 ? 2 : 3};
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Restricted Damerau-Levenshtein: insert, delete, replace, swap of neighbours.  Case is no difference: words that differ in
 * nothing else are the nearest of all. */
static size_t distance(struct text a, struct text b) {
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    size_t *before = rows[2], *above = rows[0], *row = rows[1];
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t cost = small(a.at[i - 1]) == small(b.at[j - 1]) ? 0 : 1;
            size_t best = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + cost);
            if (i > 1 && j > 1 && small(a.at[i - 1]) == small(b.at[j - 2]) &&
                small(a.at[i - 2]) == small(b.at[j - 1])) {
                best = least(best, before[j - 2] + 1);
            }
            row[j] = best;
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b.len];
}

void suggestion_offer(struct suggestion *s, struct text candidate) {
    size_t a = s->word.len, b = candidate.len;
    size_t gap = a > b ? a - b : b - a;
    if (a > LONGEST || b > LONGEST || b == 0 || gap >= s->distance) {
        return;
    }
    size_t found = distance(s->word, candidate);
    /* A word that shares nothing with the candidate is no misspelling of it. */
    if (found < s->distance && found < a && found < b) {
        s->distance = found;
        s->best = candidate;
    }
}

bool suggestion_found(const struct suggestion *s) { return s->best.len != 0; }

static const struct {
    const char *word, *hint;
} types_elsewhere[] = {
    {"integer", "did you mean `int'?"},
    {"Integer", "did you mean `int'?"},
    {"long", "did you mean `int'?"},
    {"number", "did you mean `int | float'?"},
    {"double", "did you mean `float'?"},
    {"float32", "did you mean `float'?"},
    {"float64", "did you mean `float'?"},
    {"uint8", "bounds are a range: int[0..255]"},
    {"int32", "bounds are a range: int[-2_147_483_648..2_147_483_647]"},
    {"uint32", "bounds are a range: int[0..4_294_967_295]"},
    {"int64", "bounds are a range: int[-9_223_372_036_854_775_808..9_223_372_036_854_775_807]"},
    {"uint64", "bounds are a range: int[0..18_446_744_073_709_551_615]"},
    {"real", "did you mean `float'?"},
    {"string", "did you mean `str'?"},
    {"String", "did you mean `str'?"},
    {"unicode", "did you mean `str'?"},
    {"boolean", "did you mean `bool'?"},
    {"Boolean", "did you mean `bool'?"},
    {"Bool", "did you mean `bool'?"},
    {"null", "did you mean `none'?"},
    {"nil", "did you mean `none'?"},
    {"None", "did you mean `none'?"},
    {"NoneType", "did you mean `none'?"},
    {"True", "did you mean `true'?"},
    {"False", "did you mean `false'?"},
    {"Any", "did you mean `any'?"},
    {"object", "did you mean `any'?"},
    {"List", "did you mean `list<T>'?"},
    {"Sequence", "did you mean `list<T>'?"},
    {"array", "did you mean `list<T>'?"},
    {"Dict", "did you mean `dict<K, V>'?"},
    {"Mapping", "did you mean `dict<K, V>'?"},
    {"map", "did you mean `dict<K, V>'?"},
    {"Set", "did you mean `set<T>'?"},
    {"FrozenSet", "did you mean `frozenset<T>'?"},
    {"Tuple", "did you mean `tuple<A, B>'?"},
    {"Optional", "an optional value is written `T | none'"},
    {"Union", "alternatives are written `A | B'"},
    {"Literal", "a literal stands for itself: `12 | \"text\"'"},
};

const char *suggestion_of_type(struct text word) {
    for (size_t i = 0; i < sizeof types_elsewhere / sizeof types_elsewhere[0]; i++) {
        if (text_is(word, types_elsewhere[i].word)) {
            return types_elsewhere[i].hint;
        }
    }
    return NULL;
}
