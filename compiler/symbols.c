/* Names of the generated C.  Layer: see symbols.h. */
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "reserved.h"

/* In whatever way. */
static bool row_is_granted(const struct upk_row *row) {
    return (row->flags & (UPK_ROW_CLASS | UPK_ROW_FUNC | UPK_ROW_CONST)) != 0;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

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
    const struct text channel = policy_text(p, p->channel);
    struct text symbol = join(m, policy_text(p, p->name), channel.len ? "_" : "", channel);
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

/* A row's name in C is what its symbol shows of channel, module and name.  Each byte of them is a unit, and so is what stands
 * between them. */
enum { UNIT_CHANNEL_END = 0x100, UNIT_MODULE_END };

static bool is_plain(unsigned unit) {
    return unit >= UNIT_CHANNEL_END || unit == '.' || is_letter((char)unit) || is_digit((char)unit);
}

static char *put_plain(char *to, unsigned unit) {
    *to++ = unit >= UNIT_CHANNEL_END || unit == '.' ? '_' : upper((char)unit);
    return to;
}

static char *put_escaped(char *to, unsigned unit) {
    static const char hex[] = "0123456789ABCDEF";
    const bool between = unit >= UNIT_CHANNEL_END;
    *to++ = '_';
    *to++ = 'X';
    *to++ = between ? '_' : hex[unit >> 4];
    *to++ = between ? (unit == UNIT_CHANNEL_END ? 'C' : 'M') : hex[unit & 15];
    return to;
}

/* How much of a symbol is escaped. */
enum level {
    LEVEL_PLAIN,  /* what C does not take */
    LEVEL_APART,  /* and what tells it from others that would have the same plain symbol */
    LEVEL_STRICT, /* all but capitals and digits: no two rows have the same */
};

struct used {
    struct text symbol;
    const struct tables *tables;
    size_t channel;
    uint32_t row; /* 0: a symbol of the channel itself */
    enum level level;
    struct span at; /* of the channel */
};

static size_t read_units(const struct channel_symbols *s, const struct used *u, uint16_t *units) {
    const struct upk_row *const row = &u->tables->policy.rows[u->row];
    const struct text parts[] = {s->symbol, policy_text(&u->tables->policy, row->module),
                                 policy_text(&u->tables->policy, row->qualname)};
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < parts[i].len; k++) units[n++] = (unsigned char)parts[i].at[k];
        if (i != 2) units[n++] = i == 0 ? UNIT_CHANNEL_END : UNIT_MODULE_END;
    }
    return n;
}

static size_t unit_count(const struct channel_symbols *s, const struct used *u) {
    const struct upk_row *const row = &u->tables->policy.rows[u->row];
    return s->symbol.len + row->module.len + row->qualname.len + 2;
}

/* `differs`: of LEVEL_APART, by place in the plain symbol. */
static bool name_row(struct mem *m, const struct channel_symbols *s, const bool *differs, struct used *u) {
    const size_t count = unit_count(s, u);
    uint16_t *const units = mem_alloc(m, count, sizeof *units);
    char *const at = mem_alloc(m, count, 4);
    char *to = at;
    size_t place = 0;
    if (!units || !at) return false;
    (void)read_units(s, u, units);
    for (size_t i = 0; i < count; i++) {
        const bool plain = is_plain(units[i]), strict = upper((char)units[i]) != (char)units[i] ||
                                                        units[i] == '_' || units[i] == '.' ||
                                                        units[i] >= UNIT_CHANNEL_END;
        /* The policy's first letter, which all rows share, stays: C keeps what begins with `_X`. */
        const bool escape = !plain || (u->level == LEVEL_APART && differs[place]) ||
                            (u->level == LEVEL_STRICT && strict && i != 0);
        to = escape ? put_escaped(to, units[i]) : put_plain(to, units[i]);
        place += plain ? 1 : 4;
    }
    u->symbol = (struct text){at, (size_t)(to - at)};
    return true;
}

/* ---- clashes ------------------------------------------------------------ */

static int compare_used(const void *a, const void *b) {
    const struct used *const x = a, *const y = b;
    const int c = text_compare(x->symbol, y->symbol);
    if (c != 0) return c;
    if ((x->row == 0) != (y->row == 0)) return x->row == 0 ? -1 : 1;
    if (x->channel != y->channel) return x->channel < y->channel ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Where the rows of a group, which have one plain symbol, do not have the same unit. */
static bool *differences(struct mem *m, const struct channel_symbols *symbols, const struct used *group,
                         size_t count) {
    const size_t len = group->symbol.len;
    bool *const differs = mem_alloc(m, len, sizeof *differs);
    uint16_t *const first = mem_alloc(m, len, sizeof *first), *const units = mem_alloc(m, len, sizeof *units),
                    *const now = mem_alloc(m, len, sizeof *now);
    for (size_t i = 0; i < count && !m->failed; i++) {
        const size_t n = read_units(&symbols[group[i].channel], &group[i], units);
        memset(now, 0, len * sizeof *now);
        for (size_t k = 0, place = 0; k < n; place += is_plain(units[k++]) ? 1 : 4) now[place] = units[k];
        if (i == 0) memcpy(first, now, len * sizeof *now);
        for (size_t k = 0; k < len; k++) differs[k] = differs[k] || now[k] != first[k];
    }
    return m->failed ? NULL : differs;
}

/* Tells the rows of a group apart.  *more: some symbol is another now. */
static bool group_settle(struct mem *m, const struct channel_symbols *symbols, struct used *group,
                         size_t count, bool *more) {
    enum level level = LEVEL_APART;
    for (size_t i = 0; i < count; i++) {
        if (group[i].row == 0 || group[i].level != LEVEL_PLAIN) level = LEVEL_STRICT;
    }
    const bool *const differs = level == LEVEL_APART ? differences(m, symbols, group, count) : NULL;
    for (size_t i = 0; i < count && !m->failed; i++) {
        if (group[i].row == 0 || group[i].level == LEVEL_STRICT) continue;
        group[i].level = level;
        *more = true;
        if (!name_row(m, &symbols[group[i].channel], differs, &group[i])) return false;
    }
    return !m->failed;
}

static size_t group_size(const struct used *all, size_t n, size_t at) {
    size_t count = 1;
    while (at + count < n && text_equal(all[at].symbol, all[at + count].symbol)) count++;
    return count;
}

/* Ends: every round takes some row to a higher level, or is the last. */
static bool settle(struct mem *m, const struct channel_symbols *symbols, struct used *all, size_t n) {
    bool more = true;
    while (more) {
        more = false;
        qsort(all, n, sizeof *all, compare_used);
        for (size_t at = 0, count; at < n; at += count) {
            count = group_size(all, n, at);
            if (count > 1 && !group_settle(m, symbols, all + at, count, &more)) return false;
        }
    }
    return true;
}

static const char *describe(struct diag *d, const struct used *u, char *buffer, size_t size) {
    const struct upk_policy *const p = &u->tables->policy;
    snprintf(buffer, size, "`%s::%s'", diag_quote(d, policy_text(p, p->rows[u->row].module)),
             diag_quote(d, policy_text(p, p->rows[u->row].qualname)));
    return buffer;
}

static void report_clash(struct diag *d, const struct used *a, const struct used *b) {
    char row[400];
    if (b->row == 0) {
        diag_error(d, b->at, P_SYMBOL_CLASH, "two channels are `%s' in C", diag_quote(d, b->symbol));
        diag_note(d, a->at, "the other one");
        diag_hint(d, "give one of them another name");
        return;
    }
    diag_error(d, b->tables->places[b->row], P_SYMBOL_CLASH, "%s is `%s' in C, and so is a channel",
               describe(d, b, row, sizeof row), diag_quote(d, b->symbol));
    diag_note(d, a->at, "the channel");
    diag_hint(d, "give the policy or the channel another name");
}

/* Such as UINT_FAST8_MAX, of policy `uint', module `fast8' and class `max'. */
static void report_reserved(struct diag *d, const struct used *u) {
    char row[400];
    diag_error(d, u->tables->places[u->row], P_SYMBOL_RESERVED,
               "%s would be `%s' in C, which a header defines", describe(d, u, row, sizeof row),
               diag_quote(d, u->symbol));
    diag_hint(d, "give the policy or the channel another name");
}

static bool report_all(const struct used *all, size_t n, struct diag *d) {
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        if (all[i].row == 0 || !name_is_reserved(all[i].symbol)) continue;
        report_reserved(d, &all[i]);
        good = false;
    }
    for (size_t i = 1; i < n; i++) {
        if (!text_equal(all[i - 1].symbol, all[i].symbol)) continue;
        report_clash(d, &all[i - 1], &all[i]);
        good = false;
    }
    return good;
}

static bool name_rows(struct mem *m, const struct compiled *c, const struct tables *tables, size_t count,
                      struct channel_symbols *symbols, struct diag *d) {
    size_t most = 0, n = 0;
    for (size_t i = 0; i < count; i++) most += 3 + tables[i].policy.row_count;
    struct used *const all = mem_alloc(m, most, sizeof *all);
    for (size_t i = 0; i < count && !m->failed; i++) {
        const struct upk_policy *const p = &tables[i].policy;
        const struct text own[] = {symbols[i].symbol, symbols[i].find_class, symbols[i].find_class_old};
        for (size_t k = 0; k < 3; k++)
            all[n++] =
                (struct used){.symbol = own[k], .tables = &tables[i], .channel = i, .at = c->models[i].at};
        for (uint32_t id = 1; id < p->row_count; id++) {
            if (!row_is_granted(&p->rows[id])) continue;
            all[n] = (struct used){.tables = &tables[i], .channel = i, .row = id, .at = c->models[i].at};
            if (!name_row(m, &symbols[i], NULL, &all[n++])) return false;
        }
        symbols[i].rows = mem_alloc(m, p->row_count, sizeof *symbols[i].rows);
    }
    if (m->failed || !settle(m, symbols, all, n) || !report_all(all, n, d)) return false;
    for (size_t i = 0; i < n; i++) {
        if (all[i].row != 0) symbols[all[i].channel].rows[all[i].row] = all[i].symbol;
    }
    return true;
}

bool symbols_make(struct mem *m, const struct compiled *c, const struct tables *tables, size_t count,
                  struct diag *d, struct channel_symbols **out) {
    struct channel_symbols *const all = mem_alloc(m, count, sizeof *all);
    if (!all) return false;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = name_channel(m, &tables[i].policy, c->models[i].at, d, &all[i]) && good;
    }
    if (!good || m->failed || !name_rows(m, c, tables, count, all, d)) return false;
    *out = all;
    return true;
}
