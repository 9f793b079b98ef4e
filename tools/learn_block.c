/* Marks and people's part.  Layer: see learn_block.h. */
#include "learn_block.h"

#include <sha256.h>
#include <string.h>

#include "../compiler/format.h"
#include "../compiler/notation.h"
#include "../compiler/source_admit.h"
#include "../compiler/syntax.h"
#include "../compiler/words.h"

static const char begin_mark[] = "# <learned>\n";
static const char end_mark[] = "# </learned "; /* DIGEST> */
static const char history[] = "# Learned ";
static const char fake_header[] = "policy p 1;\n"; /* what the layout is made of begins with one */
enum { DIGITS = 16 };

static void digest(struct text body, char out[DIGITS + 1]) {
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)body.at, body.len);
    SHA256Final(bytes, &context);
    for (int i = 0; i < DIGITS; i++) out[i] = hex[bytes[i / 2] >> 4 * (1 - i % 2) & 15];
    out[DIGITS] = '\0';
}

/* The line that begins at *at, with its end; moves behind it. */
static struct text next_line(struct text file, size_t *at) {
    const char *const from = file.at + *at;
    const char *const end = memchr(from, '\n', file.len - *at);
    const size_t len = end ? (size_t)(end - from) + 1 : file.len - *at;
    *at += len;
    return (struct text){from, len};
}

static bool begins(struct text t, const char *word) {
    const size_t len = strlen(word);
    return t.len >= len && memcmp(t.at, word, len) == 0;
}

static bool is_end_of(struct text line, struct text body) {
    char made[sizeof end_mark + DIGITS + 2], digits[DIGITS + 1];
    digest(body, digits);
    const int len = snprintf(made, sizeof made, "%s%s>\n", end_mark, digits);
    return text_equal(line, (struct text){made, (size_t)len}) ||
           text_equal(line, (struct text){made, (size_t)len - 1});
}

void learn_block_find(struct text file, struct learn_block *b) {
    size_t from = 0, body = 0;
    uint32_t line_number = 0, first = 0;
    bool open = false;
    *b = (struct learn_block){.file = file, .from = file.len, .to = file.len};
    for (size_t at = 0; at < file.len;) {
        const size_t start = at;
        const struct text line = next_line(file, &at);
        line_number++;
        if (text_is(line, begin_mark)) {
            open = true;
            from = start;
            body = at;
            first = line_number;
        } else if (open && begins(line, end_mark)) {
            open = false;
            if (!is_end_of(line, (struct text){file.at + body, start - body})) continue;
            b->from = from;
            b->to = at;
            b->body = body;
            b->body_to = start;
            b->first_line = first;
            b->last_line = line_number;
        }
    }
}

/* ---- people's part */

static bool add(struct mem *m, struct text **items, size_t *count, struct text t) {
    struct text *const grown = mem_alloc(m, *count + 1, sizeof *grown);
    if (!grown) return false;
    if (*count != 0) memcpy(grown, *items, *count * sizeof *grown);
    *items = grown;
    return mem_text(m, t.at, t.len, &grown[(*count)++]);
}

static void read_budgets(struct learn_outer *o, const struct ast_item *item) {
    for (const struct ast_node *n = item->parts.first; n; n = n->next) {
        for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
            if (text_is(((const struct ast_limit *)n)->name.text, budget_words[i].word)) o->budgets[i] = true;
        }
    }
}

static bool read_item(struct mem *m, struct learn_outer *o, const struct ast_item *item) {
    bool good = true;
    if (item->kind == AST_INCLUDE) good = add(m, &o->includes, &o->include_count, item->name.text);
    if (item->kind == AST_TYPE) good = add(m, &o->types, &o->type_count, item->name.text);
    if (item->kind == AST_BUDGET) read_budgets(o, item);
    for (const struct ast_node *n = item->names.first; n && item->kind == AST_USE && good; n = n->next)
        good = add(m, &o->uses, &o->use_count, ((const struct ast_name_node *)n)->name.text);
    o->has_root = o->has_root || item->kind == AST_ROOT;
    o->has_opcodes = o->has_opcodes || item->kind == AST_OPCODES;
    o->has_channels = o->has_channels || item->kind == AST_CHANNEL;
    return good;
}

static bool is_within(const struct learn_block *b, const struct ast_node *n) {
    return n->span.from >= b->from && n->span.from < b->to;
}

bool learn_block_read(struct mem *m, struct diag *d, const char *name, struct learn_block *b) {
    struct source source = {
        .name = text_of(name), .path = text_of(name), .table_name = text_of(name), .bytes = b->file};
    struct ast_file file;
    uint32_t index = UINT32_MAX;
    if (!source_admit(d, &source, &index) || !syntax_parse(m, d, index, &file)) return false;
    b->outer.has_header = file.name.span.from < b->from || file.name.span.from >= b->to;
    for (const struct ast_node *n = file.items.first; n; n = n->next) {
        if (!is_within(b, n) && !read_item(m, &b->outer, (const struct ast_item *)n)) return false;
    }
    return true;
}

/* ---- the block anew */

/* When it was learned from what, so far. */
static void put_history(const struct learn_block *b, const char *date, size_t count, struct output *o) {
    for (size_t at = b->body; at < b->body_to;) {
        const struct text line = next_line((struct text){b->file.at, b->body_to}, &at);
        if (begins(line, history)) output_bytes(o, line.at, line.len);
    }
    if (count == 0) return;
    output_print(o, "%s%s from ", history, date);
    notation_number(o, count);
    output_text(o, count == 1 ? " pickle.\n" : " pickles.\n");
}

/* Names that were left out. */
static bool is_left_out(struct text line) { return begins(line, "#     "); }

/* Behind those that are left out now, where there are such: those that were left out before. */
static void put_left_out(const struct learn_block *b, struct output *o) {
    const struct text made = {o->bytes, o->len};
    struct pool there;
    bool has_head = false;
    pool_init(&there, o->mem);
    for (size_t at = 0; at < made.len;) {
        const struct text line = next_line(made, &at);
        has_head = has_head || text_is(line, learn_excluded_head);
        if (is_left_out(line)) pool_add(&there, line);
    }
    for (size_t at = b->body; at < b->body_to;) {
        const struct text line = next_line((struct text){b->file.at, b->body_to}, &at);
        const size_t count = there.texts.count;
        if (is_left_out(line)) pool_add(&there, line);
        if (there.texts.count == count) continue;
        if (!has_head) output_print(o, "\n%s", learn_excluded_head);
        has_head = true;
        output_bytes(o, line.at, line.len);
    }
}

/* Laid out as all policies are.  Without a header of its own the text gets one for that. */
static bool lay_out(struct text text, bool has_header, struct diag *d, struct output *out) {
    struct output whole, made;
    output_init(&whole, out->mem);
    output_init(&made, out->mem);
    if (!has_header) output_text(&whole, fake_header);
    output_bytes(&whole, text.at, text.len);
    if (out->mem->failed ||
        !format_policy(text_of("learned"), (struct text){whole.bytes, whole.len}, d, &made))
        return false;
    size_t from = has_header ? 0 : sizeof fake_header - 1;
    while (from < made.len && made.bytes[from] == '\n') from++;
    output_bytes(out, made.bytes + from, made.len - from);
    return !out->mem->failed;
}

bool learn_block_put(struct learn_output *w, const struct learn_block *b, const char *date, size_t count,
                     struct diag *d, struct output *file) {
    struct output rough, body;
    char digits[DIGITS + 1];
    output_init(&rough, file->mem);
    output_init(&body, file->mem);
    w->out = &rough;
    put_history(b, date, count, &rough);
    learn_put(w);
    put_left_out(b, &rough);
    if (!lay_out((struct text){rough.bytes, rough.len}, !b->outer.has_header, d, &body)) return false;
    digest((struct text){body.bytes, body.len}, digits);
    output_bytes(file, b->file.at, b->from);
    if (b->from != 0 && b->from == b->to) {
        if (b->file.at[b->from - 1] != '\n') output_text(file, "\n");
        output_text(file, "\n");
    }
    output_text(file, begin_mark);
    output_bytes(file, body.bytes, body.len);
    output_print(file, "%s%s>\n", end_mark, digits);
    output_bytes(file, b->file.at + b->to, b->file.len - b->to);
    return !file->mem->failed;
}

/* ---- comparing */

/* A line that says how much was seen, or when. */
static bool is_count(struct text line) {
    while (line.len != 0 && line.at[0] == ' ') {
        line.at++;
        line.len--;
    }
    static const char seen[] = " seen\n";
    const size_t tail = sizeof seen - 1;
    return begins(line, history) || begins(line, end_mark) ||
           (begins(line, "# ") && line.len > tail && memcmp(line.at + line.len - tail, seen, tail) == 0);
}

static struct text next_that_counts(struct text file, size_t *at) {
    while (*at < file.len) {
        const struct text line = next_line(file, at);
        if (!is_count(line)) return line;
    }
    return (struct text){"", 0};
}

/* Revisions count blocks that differ, so they are no difference by themselves. */
static bool is_revision(struct text a, struct text b) { return begins(a, "policy ") && begins(b, "policy "); }

bool learn_block_same(struct text one, struct text other) {
    size_t i = 0, k = 0;
    while (i < one.len || k < other.len) {
        const struct text a = next_that_counts(one, &i), b = next_that_counts(other, &k);
        if (!text_equal(a, b) && !is_revision(a, b)) return false;
    }
    return true;
}
