/* Names of the generated C.  Layer: see symbols.h. */
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "reserved.h"

/* In whatever way. */
static bool row_is_granted(const struct upk_row *row) {
    return (row->flags & (UPK_ROW_CLASS | UPK_ROW_FUNC | UPK_ROW_CONST)) != 0;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

static struct text pool_text(const struct upk_policy *p, struct upk_text t) {
    return (struct text){p->pool + t.at, t.len};
}

static struct text join(struct mem *m, struct text a, const char *between, struct text b) {
    const size_t middle = strlen(between);
    char *const at = mem_alloc(m, a.len + middle + b.len + 1, 1);
    if (!at) return (struct text){"", 0};
    memcpy(at, a.at, a.len);
    memcpy(at + a.len, between, middle);
    if (b.len) memcpy(at + a.len + middle, b.at, b.len);
    return (struct text){at, a.len + middle + b.len};
}

/* ---- channels ------------------------------------------------------------ */

static bool is_symbol(struct text symbol) {
    if (symbol.len == 0 || !is_letter(symbol.at[0])) return false;
    for (size_t i = 0; i < symbol.len; i++) {
        if (!is_letter(symbol.at[i]) && !is_digit(symbol.at[i])) return false;
    }
    return !name_is_reserved(symbol);
}

static bool name_channel(struct mem *m, const struct upk_policy *p, struct span where, struct diag *d,
                         struct channel_symbols *out) {
    const struct text channel = pool_text(p, p->channel);
    struct text symbol = join(m, pool_text(p, p->name), channel.len ? "_" : "", channel);
    if (m->failed) return false;
    char *const at = mem_alloc(m, symbol.len + 1, 1);
    if (!at) return false;
    for (size_t i = 0; i < symbol.len; i++) at[i] = symbol.at[i] == '.' ? '_' : symbol.at[i];
    out->symbol = (struct text){at, symbol.len};
    out->find_class = join(m, out->symbol, "_find_class", (struct text){"", 0});
    out->find_class_old = join(m, out->find_class, "_old", (struct text){"", 0});
    if (is_symbol(out->symbol)) return true;
    diag_error(d, where, P_SYMBOL_RESERVED, "the generated C cannot be named `%s'",
               diag_quote(d, out->symbol));
    diag_hint(d, name_is_reserved(out->symbol)
                     ? "C, C++, their libraries and libupk keep this name, `_...' and `upk...': take another"
                     : "policy and channel make the symbol: ASCII letters, digits and `_'");
    return false;
}

/* ---- rows ------------------------------------------------------------ */

static char *put_upper(char *to, struct text t) {
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < t.len; i++) {
        const char c = t.at[i];
        if (is_letter(c) || is_digit(c)) {
            *to++ = upper(c);
        } else if (c == '.') {
            *to++ = '_';
        } else {
            *to++ = '_';
            *to++ = 'X';
            *to++ = hex[(unsigned char)c >> 4];
            *to++ = hex[(unsigned char)c & 15];
        }
    }
    return to;
}

static bool name_rows(struct mem *m, const struct upk_policy *p, struct channel_symbols *out) {
    out->rows = mem_alloc(m, p->row_count, sizeof *out->rows);
    if (!out->rows) return false;
    for (uint32_t id = 1; id < p->row_count; id++) {
        if (!row_is_granted(&p->rows[id])) continue;
        const struct text module = pool_text(p, p->rows[id].module),
                          qualname = pool_text(p, p->rows[id].qualname);
        char *const at = mem_alloc(m, out->symbol.len + 4 * (module.len + qualname.len) + 3, 1);
        if (!at) return false;
        char *to = put_upper(at, out->symbol);
        *to++ = '_';
        to = put_upper(to, module);
        *to++ = '_';
        to = put_upper(to, qualname);
        out->rows[id] = (struct text){at, (size_t)(to - at)};
    }
    return true;
}

/* ---- clashes ------------------------------------------------------------ */

struct used {
    struct text symbol;
    const struct upk_policy *policy;
    uint32_t row;   /* 0: a symbol of the channel itself */
    struct span at; /* of the channel */
};

static int compare_used(const void *a, const void *b) {
    const struct used *const x = a, *const y = b;
    const int c = text_compare(x->symbol, y->symbol);
    if (c != 0) return c;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return text_compare(pool_text(x->policy, x->policy->channel), pool_text(y->policy, y->policy->channel));
}

static struct span place_of(const struct compiled *c, const struct diag *d, const struct used *u) {
    const struct upk_row *const row = &u->policy->rows[u->row];
    return place_of_line(c, d, row->file, row->line);
}

static const char *describe(struct diag *d, const struct used *u, char *buffer, size_t size) {
    const struct upk_row *const row = &u->policy->rows[u->row];
    if (u->row == 0) return "a channel";
    snprintf(buffer, size, "`%s::%s'", diag_quote(d, pool_text(u->policy, row->module)),
             diag_quote(d, pool_text(u->policy, row->qualname)));
    return buffer;
}

static void report_clash(const struct compiled *c, struct diag *d, const struct used *a,
                         const struct used *b) {
    char first[400], second[400];
    const char *const x = describe(d, a, first, sizeof first), *const y =
                                                                   describe(d, b, second, sizeof second);
    if (b->row == 0) {
        diag_error(d, b->at, P_SYMBOL_CLASH, "two channels are `%s' in C", diag_quote(d, b->symbol));
        diag_note(d, a->at, "the other one");
        return;
    }
    diag_error(d, place_of(c, d, b), P_SYMBOL_CLASH, "%s and %s are both `%s' in C", x, y,
               diag_quote(d, b->symbol));
    if (a->row != 0) diag_note(d, place_of(c, d, a), "the other one is granted here");
    diag_hint(d, "use them in two channels");
}

/* Such as UINT_FAST8_MAX, of policy `uint', module `fast8' and class `max'. */
static void report_reserved(const struct compiled *c, struct diag *d, const struct used *u) {
    char row[400];
    diag_error(d, place_of(c, d, u), P_SYMBOL_RESERVED, "%s would be `%s' in C, which a header defines",
               describe(d, u, row, sizeof row), diag_quote(d, u->symbol));
    diag_hint(d, "give the policy or the channel another name");
}

static bool check_clashes(struct mem *m, const struct compiled *c, const struct tables *tables, size_t count,
                          const struct channel_symbols *symbols, struct diag *d) {
    size_t most = 0, n = 0;
    for (size_t i = 0; i < count; i++) most += 3 + tables[i].policy.row_count;
    struct used *const all = mem_alloc(m, most, sizeof *all);
    if (!all) return false;
    for (size_t i = 0; i < count; i++) {
        const struct upk_policy *const p = &tables[i].policy;
        const struct span at = c->models[i].at;
        all[n++] = (struct used){symbols[i].symbol, p, 0, at};
        all[n++] = (struct used){symbols[i].find_class, p, 0, at};
        all[n++] = (struct used){symbols[i].find_class_old, p, 0, at};
        for (uint32_t id = 1; id < p->row_count; id++) {
            if (symbols[i].rows[id].len) all[n++] = (struct used){symbols[i].rows[id], p, id, at};
        }
    }
    qsort(all, n, sizeof *all, compare_used);
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        if (all[i].row == 0 || !name_is_reserved(all[i].symbol)) continue;
        report_reserved(c, d, &all[i]);
        good = false;
    }
    for (size_t i = 1; i < n; i++) {
        if (!text_equal(all[i - 1].symbol, all[i].symbol)) continue;
        report_clash(c, d, &all[i - 1], &all[i]);
        good = false;
    }
    return good;
}

bool symbols_make(struct mem *m, const struct compiled *c, const struct tables *tables, size_t count,
                  struct diag *d, struct channel_symbols **out) {
    struct channel_symbols *const all = mem_alloc(m, count, sizeof *all);
    if (!all) return false;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        if (!name_channel(m, &tables[i].policy, c->models[i].at, d, &all[i]))
            good = false;
        else if (!name_rows(m, &tables[i].policy, &all[i]))
            good = false;
    }
    if (!good || m->failed || !check_clashes(m, c, tables, count, all, d)) return false;
    *out = all;
    return true;
}
