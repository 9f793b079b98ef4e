/* Generated C.  Layer: see emit.h.
 *
 * Text of a policy appears in it as integers, as octal escapes of three digits, and in the identifiers that
 * symbols.c makes; in nothing else, so that no name can end a comment or a string.
 */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "depfile.h"
#include "emit_child.h"
#include "files.h"

/* One channel on its way out. */
struct emit {
    struct output *o;
    size_t number; /* of the channel: its tables are upk_NUMBER_... */
    const struct upk_policy *policy;
    const struct channel_symbols *symbols;
};

/* ---- pieces ------------------------------------------------------------ */

enum { NUMBERS_PER_LINE = 16 };

static void put_separator(struct output *o, size_t i) {
    output_bytes(o, i % NUMBERS_PER_LINE == 0 ? "\n    " : " ", i % NUMBERS_PER_LINE == 0 ? 5 : 1);
}

static void begin(struct emit *e, const char *type, const char *table, size_t count) {
    output_print(e->o, "static const %s upk_%zu_%s[%zu] = {", type, e->number, table, count);
}

static void end(struct emit *e) { output_print(e->o, "\n};\n\n"); }

static void put_words(struct emit *e, const char *table, const uint32_t *words, size_t count) {
    begin(e, "uint32_t", table, count);
    for (size_t i = 0; i < count; i++) {
        put_separator(e->o, i);
        output_print(e->o, "%" PRIu32 ",", words[i]);
    }
    end(e);
}

#define TEXT_FORMAT  "{%" PRIu32 ", %" PRIu32 "}"
#define TEXT_ARGS(t) (t).at, (t).len

/* ---- tables ------------------------------------------------------------ */

static void put_pool(struct emit *e) {
    const struct upk_policy *const p = e->policy;
    /* The padding behind the last text is zeros, which C fills in; the literal's own final NUL is part of
     * them. */
    output_print(e->o, "static const char upk_%zu_pool[%" PRIu32 "] =", e->number, p->pool_len);
    output_literal(e->o, p->pool, p->pool_len - UPK_NAME_PADDED);
    output_print(e->o, ";\n\n");
}

static void put_rows(struct emit *e) {
    begin(e, "struct upk_row", "rows", e->policy->row_count);
    for (uint32_t i = 0; i < e->policy->row_count; i++) {
        const struct upk_row *const r = &e->policy->rows[i];
        output_print(e->o,
                     "\n    {" TEXT_FORMAT ", " TEXT_FORMAT ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
                     ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "},",
                     TEXT_ARGS(r->module), TEXT_ARGS(r->qualname), r->first_form, r->form_count, r->flags,
                     r->special, r->target, r->calls, r->file, r->line);
    }
    end(e);
}

static void put_forms(struct emit *e) {
    begin(e, "struct upk_form", "forms", e->policy->form_count);
    for (uint32_t i = 0; i < e->policy->form_count; i++) {
        const struct upk_form *const f = &e->policy->forms[i];
        output_print(e->o,
                     "\n    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", ",
                     f->row, f->verb, f->flags, f->result, f->args, f->kw);
        output_print(e->o, "%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", ", f->state,
                     f->items, f->pair_key, f->pair_value, f->adds);
        output_print(e->o, "%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", " TEXT_FORMAT "},", f->check,
                     f->value, f->file, f->line, TEXT_ARGS(f->because));
    }
    end(e);
}

static void put_types(struct emit *e) {
    begin(e, "struct upk_type", "types", e->policy->type_count);
    for (uint32_t i = 0; i < e->policy->type_count; i++) {
        const struct upk_type *const t = &e->policy->types[i];
        output_print(e->o,
                     "\n    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", UINT64_C(%" PRIu64
                     "), UINT64_C(%" PRIu64 "), " TEXT_FORMAT "},",
                     t->kind, t->a, t->b, t->c, t->lo, t->hi, TEXT_ARGS(t->name));
    }
    end(e);
}

static void put_parts(struct emit *e) {
    const struct upk_policy *const p = e->policy;
    begin(e, "struct upk_elem", "elems", p->elem_count);
    for (uint32_t i = 0; i < p->elem_count; i++) {
        output_print(e->o, "\n    {%" PRIu32 ", " TEXT_FORMAT "},", p->elems[i].type,
                     TEXT_ARGS(p->elems[i].name));
    }
    end(e);
    begin(e, "struct upk_field", "fields", p->field_count);
    for (uint32_t i = 0; i < p->field_count; i++) {
        const struct upk_field *const f = &p->fields[i];
        output_print(e->o, "\n    {" TEXT_FORMAT ", %" PRIu32 ", %" PRIu32 "},", TEXT_ARGS(f->key), f->type,
                     f->optional);
    }
    end(e);
    begin(e, "struct upk_class", "classes", p->class_count);
    for (uint32_t i = 0; i < p->class_count; i++) {
        const struct upk_class *const c = &p->classes[i];
        output_print(e->o, "\n    {" TEXT_FORMAT ", " TEXT_FORMAT "},", TEXT_ARGS(c->module),
                     TEXT_ARGS(c->qualname));
    }
    end(e);
    put_words(e, "alts", p->alts, p->alt_count);
    begin(e, "struct upk_text", "files", p->file_count);
    for (uint32_t i = 0; i < p->file_count; i++)
        output_print(e->o, "\n    " TEXT_FORMAT ",", TEXT_ARGS(p->files[i]));
    end(e);
}

static void put_sets(struct emit *e) {
    const struct upk_policy *const p = e->policy;
    begin(e, "struct upk_bound", "bounds", p->bound_count);
    for (uint32_t i = 0; i < p->bound_count; i++) {
        const struct upk_bound *const b = &p->bounds[i];
        output_print(e->o,
                     "\n    {{UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64 ")}, {UINT64_C(%" PRIu64
                     "), UINT64_C(%" PRIu64 ")}, %" PRIu32 ", %" PRIu32 "},",
                     b->lo[0], b->lo[1], b->hi[0], b->hi[1], b->open, b->negative);
    }
    end(e);
    begin(e, "struct upk_charset", "charsets", p->charset_count);
    for (uint32_t i = 0; i < p->charset_count; i++) {
        const struct upk_charset *const c = &p->charsets[i];
        output_print(e->o,
                     "\n    {{UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64 ")}, %" PRIu32 ", %" PRIu32 "},",
                     c->ascii[0], c->ascii[1], c->first, c->count);
    }
    end(e);
    begin(e, "struct upk_range", "ranges", p->range_count);
    for (uint32_t i = 0; i < p->range_count; i++) {
        output_print(e->o, "\n    {%" PRIu32 ", %" PRIu32 "},", p->ranges[i].lo, p->ranges[i].hi);
    }
    end(e);
}

static void put_opens(struct emit *e) {
    const struct upk_policy *const p = e->policy;
    begin(e, "struct upk_open", "opens", p->open_count);
    for (uint32_t i = 0; i < p->open_count; i++) {
        const struct upk_open *const o = &p->opens[i];
        output_print(e->o, "\n    {%" PRIu32 ", %" PRIu32 ", " TEXT_FORMAT ", " TEXT_FORMAT "},", o->kind,
                     o->row, TEXT_ARGS(o->module), TEXT_ARGS(o->qualname));
    }
    end(e);
    begin(e, "struct upk_deny", "denies", p->deny_count);
    for (uint32_t i = 0; i < p->deny_count; i++) {
        const struct upk_deny *const d = &p->denies[i];
        output_print(e->o, "\n    {" TEXT_FORMAT ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "},",
                     TEXT_ARGS(d->path), d->kind, d->flags, d->file, d->line);
    }
    end(e);
}

/* ---- look-up ------------------------------------------------------------ */

static void put_prefixed(struct output *o, const char *type, const char *prefix, const char *table,
                         size_t count) {
    output_print(o, "static const %s upk_%s_%s[%zu] = {", type, prefix, table, count);
}

void emit_key_tables(struct output *o, const char *prefix, const struct upk_keys *k) {
    const size_t words = k->module_words + k->name_words, asso = (size_t)k->buckets * 256;
    put_prefixed(o, "struct upk_word", prefix, "words", words ? words : 1);
    if (words == 0) output_print(o, "\n    {0, 0},");
    for (size_t i = 0; i < words; i++) {
        output_print(o, "\n    {UINT64_C(%" PRIu64 "), %" PRIu64 "},", k->words[i].factor, k->words[i].at);
    }
    output_print(o, "\n};\n\n");
    put_prefixed(o, "uint8_t", prefix, "asso", asso);
    for (size_t i = 0; i < asso; i++) {
        put_separator(o, i);
        output_print(o, "%u,", k->asso[i]);
    }
    output_print(o, "\n};\n\n");
    put_prefixed(o, "uint32_t", prefix, "base", k->buckets);
    for (size_t i = 0; i < k->buckets; i++) {
        put_separator(o, i);
        output_print(o, "%" PRIu32 ",", k->base[i]);
    }
    output_print(o, "\n};\n\n");
    put_prefixed(o, "struct upk_key", prefix, "slots", k->slot_count);
    for (uint32_t i = 0; i < k->slot_count; i++) {
        const struct upk_key *const s = &k->slots[i];
        output_print(o, "\n    {%" PRIu32 ", %" PRIu32 ", %u, %u, {%" PRIu32 ", %" PRIu32 "}},", s->module,
                     s->name, s->module_len, s->name_len, s->row[0], s->row[1]);
    }
    output_print(o, "\n};\n\n");
}

static const char *reading_name(uint32_t reading) { return reading == 0 ? "old" : "new"; }

void emit_keys(struct output *o, const char *prefix, const char *name, const struct upk_keys *k) {
    output_print(o, "static const struct upk_keys upk_%s_%s = {\n", prefix, name);
    output_print(o, "    .seed = UINT64_C(%" PRIu64 "),\n    .module_factor = UINT64_C(%" PRIu64 "),\n",
                 k->seed, k->module_factor);
    output_print(o, "    .name_factor = UINT64_C(%" PRIu64 "),\n", k->name_factor);
    output_print(o, "    .module_vectors = %" PRIu32 ",\n    .name_vectors = %" PRIu32 ",\n",
                 k->module_vectors, k->name_vectors);
    output_print(o, "    .module_words = %" PRIu32 ",\n    .name_words = %" PRIu32 ",\n", k->module_words,
                 k->name_words);
    output_print(o, "    .buckets = %" PRIu32 ",\n    .slot_mask = %" PRIu32 ",\n", k->buckets, k->slot_mask);
    output_print(o, "    .slot_count = %" PRIu32 ",\n    .pool_len = %" PRIu32 ",\n", k->slot_count,
                 k->pool_len);
    output_print(o, "    .reading = %" PRIu32 ",\n    .key_count = %" PRIu32 ",\n", k->reading, k->key_count);
    output_print(o, "    .words = upk_%s_words,\n    .asso = upk_%s_asso,\n    .base = upk_%s_base,\n",
                 prefix, prefix, prefix);
    output_print(o, "    .slots = upk_%s_slots,\n    .pool = upk_%s_pool,\n};\n\n", prefix, prefix);
}

static void put_keys(struct emit *e) {
    char prefix[24], name[16];
    (void)snprintf(prefix, sizeof prefix, "%zu", e->number);
    emit_key_tables(e->o, prefix, e->policy->keys[0]); /* both readings share all tables */
    for (uint32_t reading = 0; reading < 2; reading++) {
        (void)snprintf(name, sizeof name, "keys_%s", reading_name(reading));
        emit_keys(e->o, prefix, name, e->policy->keys[reading]);
    }
}

/* The tables are constants of this file, so the template unrolls over them; its argument only keeps the
 * one signature. */
static void put_find_class(struct emit *e, struct text symbol, uint32_t reading) {
    output_bytes(e->o, "static uint32_t ", 16);
    output_bytes(e->o, symbol.at, symbol.len);
    output_print(e->o,
                 "(const struct upk_keys *keys, const uint8_t *module, size_t module_len,\n"
                 "    const uint8_t *name, size_t name_len)\n"
                 "{\n"
                 "    (void)keys;\n"
                 "    return upk_find_class(&upk_%zu_keys_%s, module, module_len, name, name_len);\n"
                 "}\n\n",
                 e->number, reading_name(reading));
}

/* ---- the policy ------------------------------------------------------------ */

static void put_member_numbers(struct output *o, const char *member, const uint8_t *bytes, size_t count) {
    output_print(o, "    .%s = {", member);
    for (size_t i = 0; i < count; i++) {
        put_separator(o, i);
        output_print(o, "%u,", bytes[i]);
    }
    output_print(o, "\n    },\n");
}

static void put_symbol(struct output *o, const char *before, struct text symbol, const char *after) {
    output_bytes(o, before, strlen(before));
    output_bytes(o, symbol.at, symbol.len);
    output_bytes(o, after, strlen(after));
}

static void put_head(struct emit *e) {
    const struct upk_policy *const p = e->policy;
    struct output *const o = e->o;
    output_print(
        o,
        "    .magic = UPK_MAGIC,\n    .abi = UPK_ABI,\n    .size = (uint32_t)sizeof(struct upk_policy),\n");
    output_print(o, "    .flags = %" PRIu32 ",\n    .name = " TEXT_FORMAT ",\n", p->flags,
                 TEXT_ARGS(p->name));
    output_print(o, "    .channel = " TEXT_FORMAT ",\n    .generator = " TEXT_FORMAT ",\n",
                 TEXT_ARGS(p->channel), TEXT_ARGS(p->generator));
    output_print(o, "    .revision = %" PRIu32 ",\n    .root = %" PRIu32 ",\n", p->revision, p->root);
    output_print(o, "    .protocol_min = %" PRIu32 ",\n    .protocol_max = %" PRIu32 ",\n", p->protocol_min,
                 p->protocol_max);
    put_member_numbers(o, "digest", p->digest, sizeof p->digest);
    output_print(o, "    .budgets = {");
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        output_print(o, "%sUINT64_C(%" PRIu64 "),", i % 4 == 0 ? "\n    " : " ", p->budgets[i]);
    }
    output_print(o, "\n    },\n");
    put_member_numbers(o, "opcodes", p->opcodes, sizeof p->opcodes);
    output_print(o, "    .until = " TEXT_FORMAT ",\n    .because = " TEXT_FORMAT ",\n", TEXT_ARGS(p->until),
                 TEXT_ARGS(p->because));
    output_print(o, "    .until_file = %" PRIu32 ",\n    .until_line = %" PRIu32 ",\n", p->until_file,
                 p->until_line);
}

static void put_counts(struct emit *e) {
    const struct upk_policy *const p = e->policy;
    const struct {
        const char *count, *table;
        uint32_t number;
    } members[] = {
        {"row_count", "rows", p->row_count},       {"form_count", "forms", p->form_count},
        {"type_count", "types", p->type_count},    {"elem_count", "elems", p->elem_count},
        {"field_count", "fields", p->field_count}, {"class_count", "classes", p->class_count},
        {"bound_count", "bounds", p->bound_count}, {"charset_count", "charsets", p->charset_count},
        {"range_count", "ranges", p->range_count}, {"alt_count", "alts", p->alt_count},
        {"file_count", "files", p->file_count},    {"pool_len", "pool", p->pool_len},
        {"open_count", "opens", p->open_count},    {"deny_count", "denies", p->deny_count},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        output_print(e->o, "    .%s = %" PRIu32 ",\n    .%s = upk_%zu_%s,\n", members[i].count,
                     members[i].number, members[i].table, e->number, members[i].table);
    }
}

static void put_policy(struct emit *e) {
    put_symbol(e->o, "extern const struct upk_policy ", e->symbols->symbol, ";\n\n");
    put_symbol(e->o, "const struct upk_policy ", e->symbols->symbol, " = {\n");
    put_head(e);
    put_counts(e);
    output_print(e->o, "    .keys = {&upk_%zu_keys_old, &upk_%zu_keys_new},\n", e->number, e->number);
    put_symbol(e->o, "    .find_class = {", e->symbols->find_class_old, ", ");
    put_symbol(e->o, "", e->symbols->find_class, "},\n");
    emit_child_members(e->o, e->policy);
    put_member_numbers(e->o, "run_digest", e->policy->run_digest, sizeof e->policy->run_digest);
    output_print(e->o, "};\n");
}

static void put_channel(struct emit *e) {
    output_print(e->o, "\n");
    put_pool(e);
    put_rows(e);
    put_forms(e);
    put_types(e);
    put_parts(e);
    put_sets(e);
    put_opens(e);
    put_keys(e);
    put_find_class(e, e->symbols->find_class_old, 0);
    put_find_class(e, e->symbols->find_class, 1);
    put_policy(e);
}

/* ---- files ------------------------------------------------------------ */

void emit_banner(const struct channels *all, struct output *o) {
    const struct upk_policy *const p = &all->tables[0].policy;
    output_print(o, "/* Generated by ");
    output_bytes(o, p->pool + p->generator.at, p->generator.len);
    output_print(o, ".  Do not edit. */\n");
}

/* What this file takes for granted of upk_tables.h: a compiler that sees another layout must not get as
 * far as linking. */
static void put_guards(struct output *o) {
    static const struct {
        const char *what;
        size_t value;
    } facts[] = {
        {"sizeof(struct upk_row)", sizeof(struct upk_row)},
        {"sizeof(struct upk_form)", sizeof(struct upk_form)},
        {"sizeof(struct upk_type)", sizeof(struct upk_type)},
        {"sizeof(struct upk_elem)", sizeof(struct upk_elem)},
        {"sizeof(struct upk_field)", sizeof(struct upk_field)},
        {"sizeof(struct upk_class)", sizeof(struct upk_class)},
        {"sizeof(struct upk_bound)", sizeof(struct upk_bound)},
        {"sizeof(struct upk_charset)", sizeof(struct upk_charset)},
        {"sizeof(struct upk_open)", sizeof(struct upk_open)},
        {"sizeof(struct upk_deny)", sizeof(struct upk_deny)},
        {"sizeof(struct upk_env_name)", sizeof(struct upk_env_name)},
        {"sizeof(struct upk_env_rule)", sizeof(struct upk_env_rule)},
        {"sizeof(struct upk_env_never)", sizeof(struct upk_env_never)},
        {"sizeof(struct upk_environment)", sizeof(struct upk_environment)},
        {"sizeof(struct upk_confinement)", sizeof(struct upk_confinement)},
        {"sizeof(struct upk_key)", sizeof(struct upk_key)},
        {"sizeof(struct upk_word)", sizeof(struct upk_word)},
        {"(int)UPK_OP_END", UPK_OP_END},
        {"(int)UPK_BUDGET_COUNT", UPK_BUDGET_COUNT},
        {"(int)UPK_TYPE_COUNT", UPK_TYPE_COUNT},
        {"(int)UPK_SPECIAL_COUNT", UPK_SPECIAL_COUNT},
        {"(int)UPK_NAME_PADDED", UPK_NAME_PADDED},
    };
    output_print(o, "#include \"upk_tables.h\"\n\n#if UPK_ABI != %u\n", UPK_ABI);
    output_print(o, "#error \"made for another version of upk_tables.h: run policyc again\"\n#endif\n\n");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        output_print(o, "_Static_assert(%s == %zu, \"layout of upk_tables.h\");\n", facts[i].what,
                     facts[i].value);
    }
}

static void put_header_channel(struct output *o, const struct upk_policy *p,
                               const struct channel_symbols *s) {
    put_symbol(o, "\nextern const struct upk_policy ", s->symbol, ";\n");
    bool open = false;
    for (uint32_t id = 1; id < p->row_count; id++) {
        if (s->rows[id].len == 0) continue;
        if (!open) put_symbol(o, "\nenum ", s->symbol, "_row {\n");
        open = true;
        put_symbol(o, "    ", s->rows[id], "");
        output_print(o, " = %" PRIu32 ",\n", id);
    }
    if (open) output_print(o, "};\n");
}

bool emit_texts(const struct channels *all, struct output *source, struct output *header) {
    const struct text symbol = all->symbols[0].symbol;
    emit_banner(all, source);
    put_guards(source);
    emit_banner(all, header);
    put_symbol(header, "#ifndef UPK_GENERATED_", symbol, "_H\n");
    put_symbol(header, "#define UPK_GENERATED_", symbol, "_H\n\n#include \"upk_tables.h\"\n");
    emit_child(source, &all->tables[0].policy);
    for (size_t i = 0; i < all->count; i++) {
        struct emit e = {source, i, &all->tables[i].policy, &all->symbols[i]};
        put_channel(&e);
        put_header_channel(header, e.policy, e.symbols);
    }
    output_print(header, "\n#endif\n");
    return !source->mem->failed && !header->mem->failed;
}

/* What is written where; `path` NULL: nothing. */
static bool write_texts(const struct compiled *c, const struct output *source, const struct output *header,
                        const char *path, bool depfile, struct diag *d) {
    struct mem *const m = source->mem;
    struct output dependencies;
    output_init(&dependencies, m);
    if (!path) return true;
    const struct out_file files[] = {{path, source},
                                     {output_beside(m, path, ".h"), header},
                                     {output_beside(m, path, ".d"), &dependencies}};
    if (m->failed || (depfile && !depfile_text(c, d, files, 2, &dependencies))) return false;
    return files_write(c, files, depfile ? 3 : 2, d);
}

bool emit_files(const struct compiled *c, struct diag *d, const char *path, bool depfile) {
    struct channels all;
    struct mem m;
    struct output source, header;
    if (!channels_build(c, d, &all)) return false;
    const size_t errors = diag_error_count(d);
    mem_init(&m, EMIT_MOST_BYTES);
    output_init(&source, &m);
    output_init(&header, &m);
    const bool good =
        emit_texts(&all, &source, &header) && write_texts(c, &source, &header, path, depfile, d);
    if (!good && diag_error_count(d) == errors) diag_error_nowhere(d, P_MEMORY, "out of memory");
    mem_free(&m);
    channels_free(&all);
    return good;
}
