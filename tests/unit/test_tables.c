/* From policy text to tables: names and their spellings, types once, and what upk_policy_check finds in
 * damaged tables. */
#include "../../compiler/emit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/compat_names.h"
#include "../../runtime/upk.h"
#include "values.h" /* the shipped policy, generated */

struct fixture {
    struct diag diag;
    struct compiled *compiled;
    struct tables tables;
    char messages[4000];
    size_t len;
};

static void keep(void *context, const char *bytes, size_t len) {
    struct fixture *const f = context;
    const size_t room = sizeof f->messages - 1 - f->len;
    memcpy(f->messages + f->len, bytes, len < room ? len : room);
    f->len += len < room ? len : room;
}

static int set_up(void **state) {
    struct fixture *const f = calloc(1, sizeof *f);
    if (!f) return -1;
    diag_init(&f->diag, (struct diag_sink){keep, f, false});
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *const f = *state;
    tables_free(&f->tables);
    compiled_free(f->compiled);
    diag_free(&f->diag);
    free(f);
    return 0;
}

static bool compile(struct fixture *f, const char *text) {
    const struct compile_options options = {.path = "test.policy", .text = text, .text_len = strlen(text)};
    const bool good = policy_compile(&options, &f->diag, &f->compiled) &&
                      tables_build(f->compiled, &f->compiled->models[0], &f->diag, &f->tables);
    diag_flush(&f->diag);
    return good;
}

static const struct upk_policy *compile_good(struct fixture *f, const char *text) {
    if (!compile(f, text)) fail_msg("%s", f->messages);
    struct upk_error err;
    if (!upk_policy_check(&f->tables.policy, &err)) fail_msg("%s", err.detail);
    return &f->tables.policy;
}

static void assert_refused(struct fixture *f, const char *text, const char *code) {
    assert_false(compile(f, text));
    if (!strstr(f->messages, code)) fail_msg("expected %s in: %s", code, f->messages);
}

static uint32_t look_up(const struct upk_policy *p, unsigned reading, const char *module, const char *name) {
    uint8_t room[2][UPK_NAME_PADDED] = {{0}};
    memcpy(room[0], module, strlen(module));
    memcpy(room[1], name, strlen(name));
    return p->find_class[reading](p->keys[reading], room[0], strlen(module), room[1], strlen(name));
}

enum { OLD, NEW };

static bool text_equals(const struct upk_policy *p, struct upk_text t, const char *word) {
    return t.len == strlen(word) && memcmp(p->pool + t.at, word, t.len) == 0;
}

static bool row_is(const struct upk_policy *p, uint32_t row, const char *module, const char *name) {
    return row != 0 && text_equals(p, p->rows[row].module, module) &&
           text_equals(p, p->rows[row].qualname, name);
}

/* ---- names ---------------------------------------------------------------- */

static void a_name_is_found_under_every_spelling_of_its_protocol(void **state) {
    const struct upk_policy *const p = compile_good(
        *state,
        "policy t 1;\n"
        "module builtins { class Exception call(); class OSError call(); class range call(a: int); }\n"
        "module pathlib { class PosixPath call(parts: str...); }\n"
        "module numpy.core.multiarray { func scalar(d: bytes) -> builtins::Exception because \"t\"; }\n"
        "module collections { class OrderedDict call(); class UserDict new(); }\n"
        "module subprocess { class TimeoutExpired call(); }\n");
    static const struct {
        const char *module, *name, *row_module, *row_name;
        bool old, new;
    } spellings[] = {
        {"builtins", "Exception", "builtins", "Exception", true, true},
        {"exceptions", "Exception", "builtins", "Exception", true, false},
        {"__builtin__", "Exception", "builtins", "Exception", true, false},
        {"__builtin__", "xrange", "builtins", "range", true, false},
        {"__builtin__", "range", "builtins", "range", true, false},
        {"builtins", "xrange", "builtins", "range", false, false},
        {"builtins", "IOError", "builtins", "OSError", true, true},
        {"socket", "error", "builtins", "OSError", true, true},
        {"exceptions", "EnvironmentError", "builtins", "OSError", true, false},
        {"pathlib._local", "PosixPath", "pathlib", "PosixPath", true, true},
        {"pathlib._localx", "PosixPath", "pathlib", "PosixPath", false, false},
        {"numpy.core.multiarray", "scalar", "numpy._core.multiarray", "scalar", true, true},
        {"numpy._core.multiarray", "scalar", "numpy._core.multiarray", "scalar", true, true},
        {"numpy.corex.multiarray", "scalar", "numpy._core.multiarray", "scalar", false, false},
        {"_collections", "OrderedDict", "collections", "OrderedDict", true, true},
        {"UserDict", "UserDict", "collections", "UserDict", true, false},
        {"UserDict", "IterableUserDict", "collections", "UserDict", true, false},
        {"commands", "TimeoutExpired", "subprocess", "TimeoutExpired", true, false},
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const uint32_t old = look_up(p, OLD, spellings[i].module, spellings[i].name);
        const uint32_t new = look_up(p, NEW, spellings[i].module, spellings[i].name);
        if (spellings[i].old != row_is(p, old, spellings[i].row_module, spellings[i].row_name) ||
            spellings[i].new != row_is(p, new, spellings[i].row_module, spellings[i].row_name) ||
            (!spellings[i].old && old) || (!spellings[i].new &&new)) {
            fail_msg("%s::%s is row %u below protocol 3 and %u above", spellings[i].module, spellings[i].name,
                     old, new);
        }
    }
}

static void a_module_that_python_2_used_for_something_else_moves_below_protocol_3(void **state) {
    const struct upk_policy *const p = compile_good(*state, "policy t 1; module dbm { class error call(); }\n"
                                                            "module dbm.ndbm { class error call(); }\n");
    assert_true(row_is(p, look_up(p, NEW, "dbm", "error"), "dbm", "error"));
    assert_true(row_is(p, look_up(p, OLD, "dbm", "error"), "dbm.ndbm", "error"));
    assert_true(row_is(p, look_up(p, OLD, "anydbm", "error"), "dbm", "error"));
    assert_int_equal(look_up(p, NEW, "anydbm", "error"), 0);
}

static void the_longest_alias_of_a_policy_applies_once(void **state) {
    const struct upk_policy *const p = compile_good(
        *state,
        "policy t 1; alias a -> x; alias a.b -> y;\n"
        "module x.c { class K call(); } module y.c { class K call(); } module x.b.c { class L call(); }\n");
    assert_true(row_is(p, look_up(p, NEW, "a.c", "K"), "x.c", "K"));
    assert_true(row_is(p, look_up(p, NEW, "a.b.c", "K"), "y.c", "K"));
    assert_true(row_is(p, look_up(p, OLD, "a.b.c", "K"), "y.c", "K"));
    assert_int_equal(look_up(p, NEW, "a.b.c", "L"), 0);
    assert_int_equal(look_up(p, NEW, "ab.c", "K"), 0);
}

static void names_that_only_spell_others_are_known_without_a_grant(void **state) {
    const struct upk_policy *const p = compile_good(*state, "policy t 1; module app { class C call(); }");
    static const struct {
        const char *old_module, *old_name, *module, *name;
        enum upk_special special;
    } specials[] = {
        {"_codecs", "encode", "_codecs", "encode", UPK_SPECIAL_ENCODE},
        {"__builtin__", "bytes", "builtins", "bytes", UPK_SPECIAL_BYTES},
        {"__builtin__", "bytearray", "builtins", "bytearray", UPK_SPECIAL_BYTEARRAY},
        {"__builtin__", "set", "builtins", "set", UPK_SPECIAL_SET},
        {"__builtin__", "frozenset", "builtins", "frozenset", UPK_SPECIAL_FROZENSET},
        {"__builtin__", "getattr", "builtins", "getattr", UPK_SPECIAL_GETATTR},
        {"__builtin__", "object", "builtins", "object", UPK_SPECIAL_OBJECT},
        {"__builtin__", "long", "builtins", "int", UPK_SPECIAL_INT},
        {"__builtin__", "unicode", "builtins", "str", UPK_SPECIAL_STR},
        {"__builtin__", "float", "builtins", "float", UPK_SPECIAL_FLOAT},
        {"__builtin__", "complex", "builtins", "complex", UPK_SPECIAL_COMPLEX},
        {"__builtin__", "list", "builtins", "list", UPK_SPECIAL_LIST},
        {"__builtin__", "tuple", "builtins", "tuple", UPK_SPECIAL_TUPLE},
        {"__builtin__", "dict", "builtins", "dict", UPK_SPECIAL_DICT},
        {"copy_reg", "_reconstructor", "copyreg", "_reconstructor", UPK_SPECIAL_RECONSTRUCTOR},
        {"copy_reg", "__newobj__", "copyreg", "__newobj__", UPK_SPECIAL_NEWOBJ},
        {"_functools", "partial", "_functools", "partial", UPK_SPECIAL_PARTIAL},
        {"_operator", "or_", "operator", "or_", UPK_SPECIAL_OR},
    };
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const uint32_t old = look_up(p, OLD, specials[i].old_module, specials[i].old_name);
        const uint32_t new = look_up(p, NEW, specials[i].module, specials[i].name);
        assert_int_not_equal(new, 0);
        assert_int_equal(old, new);
        assert_int_equal(p->rows[new].special, specials[i].special);
        assert_int_equal(p->rows[new].flags, 0);
        assert_int_equal(p->rows[new].form_count, 0);
    }
}

static void a_special_name_can_be_granted_too(void **state) {
    const struct upk_policy *const p =
        compile_good(*state, "policy t 1; module builtins { class list ref; } root ref builtins::list;");
    const struct upk_row *const row = &p->rows[look_up(p, NEW, "builtins", "list")];
    assert_int_equal(row->special, UPK_SPECIAL_LIST);
    assert_int_equal(row->flags, UPK_ROW_CLASS | UPK_ROW_REF);
    assert_int_equal(p->types[p->root].kind, UPK_TYPE_REF);
    assert_int_equal(p->types[p->root].a, look_up(p, NEW, "builtins", "list"));
}

static void prefixes_of_dotted_names_are_known_and_grant_nothing(void **state) {
    const struct upk_policy *const p = compile_good(
        *state,
        "policy t 1; module m { class A.B.C call(); class A.D call(); class E call(); class E.F call(); }");
    const uint32_t a = look_up(p, NEW, "m", "A"), ab = look_up(p, NEW, "m", "A.B"),
                   e = look_up(p, NEW, "m", "E");
    assert_int_equal(p->rows[a].flags, UPK_ROW_PREFIX);
    assert_int_equal(p->rows[ab].flags, UPK_ROW_PREFIX);
    assert_int_equal(p->rows[e].flags, UPK_ROW_CLASS);
    assert_true(row_is(p, look_up(p, NEW, "m", "A.B.C"), "m", "A.B.C"));
    assert_int_equal(look_up(p, NEW, "m", "A.B.C.D"), 0);
}

static void new_of_a_class_is_known_only_with_keywords(void **state) {
    const struct upk_policy *const p = compile_good(
        *state, "policy t 1; module m { class O.K new(a: int) kw { b: int }; class N new(a: int); }");
    const uint32_t row = look_up(p, NEW, "m", "O.K.__new__");
    assert_int_equal(p->rows[row].special, UPK_SPECIAL_NEW_OF);
    assert_int_equal(p->rows[row].target, look_up(p, NEW, "m", "O.K"));
    assert_int_equal(look_up(p, NEW, "m", "N.__new__"), 0);
}

static void names_of_256_bytes_can_be_granted(void **state) {
    char text[700], name[257];
    memset(name, 'n', 256);
    name[256] = '\0';
    snprintf(text, sizeof text, "policy t 1; module %s { class %s call(); }", name, name);
    const struct upk_policy *const p = compile_good(*state, text);
    assert_true(row_is(p, look_up(p, NEW, name, name), name, name));
    name[255] = '\0';
    assert_int_equal(look_up(p, NEW, name, name), 0);
}

static void two_grants_of_one_name_are_an_error(void **state) {
    assert_refused(
        *state,
        "policy t 1;\nmodule numpy.core { class X call(); }\nmodule numpy._core { class X call(); }\n",
        "P0078");
}

static void an_alias_that_leads_to_another_spelling_is_an_error(void **state) {
    assert_refused(*state,
                   "policy t 1;\nalias mine -> _io;\nmodule _io { class BytesIO call(); }\n"
                   "module mine { class StringIO call(); }\n",
                   "P0076");
}

/* ---- types ---------------------------------------------------------------- */

static void equal_types_are_held_once(void **state) {
    const struct upk_policy *const p =
        compile_good(*state, "policy t 1; module m {\n"
                             "class A call(x: list<tuple<str[..10], int[0..9]>>);\n"
                             "class B call(x: list<tuple<str[..10], int[0..9]>>);\n"
                             "class C call(x: list<tuple<str[..10], int[0..8]>>); }\n");
    const struct upk_form *const a = &p->forms[p->rows[look_up(p, NEW, "m", "A")].first_form];
    const struct upk_form *const b = &p->forms[p->rows[look_up(p, NEW, "m", "B")].first_form];
    const struct upk_form *const c = &p->forms[p->rows[look_up(p, NEW, "m", "C")].first_form];
    assert_int_equal(a->args, b->args);
    assert_int_not_equal(a->args, c->args);
    assert_int_equal(p->bound_count, 3);
}

static void a_recursive_type_leads_back_to_itself(void **state) {
    const struct upk_policy *const p =
        compile_good(*state, "policy t 1; type Json = none | list<Json> | dict<str, Json>; root Json;");
    const struct upk_type *const root = &p->types[p->root];
    assert_int_equal(root->kind, UPK_TYPE_UNION);
    assert_int_equal(root->b, 3);
    const struct upk_type *const list = &p->types[p->alts[root->a + 1]];
    assert_int_equal(list->kind, UPK_TYPE_LIST);
    assert_int_equal(list->a, p->root);
}

static void bounds_of_128_bits_keep_their_value(void **state) {
    const struct upk_policy *const p =
        compile_good(*state, "policy t 1; root "
                             "int[-340282366920938463463374607431768211455.."
                             "340282366920938463463374607431768211455] | int[0..0];");
    const struct upk_bound *const b = &p->bounds[1];
    assert_true(b->lo[0] == 1 && b->lo[1] == 0);
    assert_true(b->hi[0] == UINT64_MAX && b->hi[1] == UINT64_MAX);
    assert_int_equal(b->negative, 1);
    assert_int_equal(b->open, 0);
    const struct upk_type *const root = &p->types[p->root];
    assert_int_not_equal(p->types[p->alts[root->a + 1]].a, 0);
}

static void classes_are_sorted_and_types_follow(void **state) {
    const struct upk_policy *const p =
        compile_good(*state, "policy t 1; module z { class Z call(); } module a { class A call(); func f() "
                             "-> z::Z because \"t\"; }\n"
                             "root tuple<z::Z, a::A>;");
    const struct upk_type *const root = &p->types[p->root];
    const struct upk_class *const first = &p->classes[p->types[p->elems[root->a].type].a];
    assert_true(text_equals(p, first->module, "z"));
    const struct upk_form *const f = &p->forms[p->rows[look_up(p, NEW, "a", "f")].first_form];
    assert_ptr_equal(&p->classes[f->result], first);
    assert_int_equal(p->class_count, 3);
}

static void the_models_types_are_left_unmarked(void **state) {
    struct fixture *const f = *state;
    compile_good(f, "policy t 1; type Json = none | list<Json>; root Json;");
    struct tables again;
    assert_int_equal(f->compiled->models[0].root->mark, 0);
    assert_true(tables_build(f->compiled, &f->compiled->models[0], &f->diag, &again));
    assert_int_equal(again.policy.type_count, f->tables.policy.type_count);
    tables_free(&again);
}

/* ---- generated C ---------------------------------------------------------- */

static bool emit(struct fixture *f, struct mem *m, struct output *source) {
    struct output header;
    mem_init(m, 64u << 20);
    output_init(source, m);
    output_init(&header, m);
    const bool good = emit_texts(f->compiled, &f->tables, 1, &f->diag, source, &header);
    diag_flush(&f->diag);
    return good;
}

static void text_of_a_policy_reaches_generated_c_only_as_numbers(void **state) {
    struct fixture *const f = *state;
    struct mem m;
    struct output source;
    compile_good(f, "policy t 1; module hidden { class \"Hi*/den\" call(hidden: \"hi\\\"dden */ ?\?/ \\\\\") "
                    "because \"hidden */\"; }");
    assert_true(emit(f, &m, &source));
    for (size_t i = 0; i + 6 <= source.len; i++) assert_memory_not_equal(source.bytes + i, "hidden", 6);
    for (size_t i = 0; i + 3 <= source.len; i++) assert_memory_not_equal(source.bytes + i, "\?\?/", 3);
    mem_free(&m);
}

static void assert_not_emitted(struct fixture *f, const char *text, const char *code) {
    struct mem m;
    struct output source;
    compile_good(f, text);
    assert_false(emit(f, &m, &source));
    mem_free(&m);
    if (!strstr(f->messages, code)) fail_msg("expected %s in: %s", code, f->messages);
}

static void names_that_are_one_symbol_in_c_are_an_error(void **state) {
    assert_not_emitted(
        *state, "policy t 1; module a.b { class c_d call(); } module a.b_c { class d call(); }", "P0080");
}

static void a_policy_named_like_a_keyword_is_an_error(void **state) {
    assert_not_emitted(*state, "policy int 1; module a { class b call(); }", "P0081");
}

static void a_policy_in_the_librarys_namespace_is_an_error(void **state) {
    assert_not_emitted(*state, "policy upk_decode 1; module a { class b call(); }", "P0081");
}

static void assert_same_keys(const struct upk_keys *a, const struct upk_keys *b) {
    assert_true(a->seed == b->seed && a->module_factor == b->module_factor &&
                a->name_factor == b->name_factor);
    assert_int_equal(a->module_vectors, b->module_vectors);
    assert_int_equal(a->name_vectors, b->name_vectors);
    assert_int_equal(a->module_words, b->module_words);
    assert_int_equal(a->name_words, b->name_words);
    assert_int_equal(a->buckets, b->buckets);
    assert_int_equal(a->slot_mask, b->slot_mask);
    assert_int_equal(a->slot_count, b->slot_count);
    assert_int_equal(a->reading, b->reading);
    assert_memory_equal(a->words, b->words, (a->module_words + a->name_words) * sizeof *a->words);
    assert_memory_equal(a->asso, b->asso, (size_t)a->buckets * 256);
    assert_memory_equal(a->base, b->base, a->buckets * sizeof *a->base);
    assert_memory_equal(a->slots, b->slots, a->slot_count * sizeof *a->slots);
}

static void generated_tables_are_those_in_memory(void **state) {
    struct fixture *const f = *state;
    const struct compile_options options = {.path = "policies/values.policy", .policy_dir = "policies"};
    assert_true(policy_compile(&options, &f->diag, &f->compiled));
    assert_true(tables_build(f->compiled, &f->compiled->models[0], &f->diag, &f->tables));
    const struct upk_policy *const a = &values, *const b = &f->tables.policy;
    struct upk_error err;
    if (!upk_policy_check(a, &err)) fail_msg("%s", err.detail);
    assert_memory_equal(a, b, offsetof(struct upk_policy, pool)); /* head and counts */
#define SAME(table, count) assert_memory_equal(a->table, b->table, a->count * sizeof *a->table)
    SAME(pool, pool_len);
    SAME(rows, row_count);
    SAME(forms, form_count);
    SAME(types, type_count);
    SAME(elems, elem_count);
    SAME(fields, field_count);
    SAME(classes, class_count);
    SAME(bounds, bound_count);
    SAME(charsets, charset_count);
    SAME(ranges, range_count);
    SAME(alts, alt_count);
    SAME(files, file_count);
#undef SAME
    for (size_t i = 0; i < 2; i++) assert_same_keys(a->keys[i], b->keys[i]);
}

/* ---- damaged tables ------------------------------------------------------- */

/* A policy whose tables may be written to. */
struct writable {
    struct upk_policy policy;
    struct upk_keys keys[2];
    struct upk_row *rows;
    struct upk_form *forms;
    struct upk_type *types;
    struct upk_elem *elems;
    struct upk_field *fields;
    struct upk_class *classes;
    struct upk_bound *bounds;
    struct upk_charset *charsets;
    struct upk_range *ranges;
    uint32_t *alts;
    struct upk_key *slots;
    uint8_t *asso;
    uint32_t *base;
    struct upk_word *words;
};

static void *copy(const void *from, size_t count, size_t size) {
    void *const to = test_malloc(count * size);
    memcpy(to, from, count * size);
    return to;
}

static void writable_make(struct writable *w, const struct upk_policy *p) {
    w->policy = *p;
    w->policy.rows = w->rows = copy(p->rows, p->row_count, sizeof *p->rows);
    w->policy.forms = w->forms = copy(p->forms, p->form_count, sizeof *p->forms);
    w->policy.types = w->types = copy(p->types, p->type_count, sizeof *p->types);
    w->policy.elems = w->elems = copy(p->elems, p->elem_count, sizeof *p->elems);
    w->policy.fields = w->fields = copy(p->fields, p->field_count, sizeof *p->fields);
    w->policy.classes = w->classes = copy(p->classes, p->class_count, sizeof *p->classes);
    w->policy.bounds = w->bounds = copy(p->bounds, p->bound_count, sizeof *p->bounds);
    w->policy.charsets = w->charsets = copy(p->charsets, p->charset_count, sizeof *p->charsets);
    w->policy.ranges = w->ranges = copy(p->ranges, p->range_count, sizeof *p->ranges);
    w->policy.alts = w->alts = copy(p->alts, p->alt_count, sizeof *p->alts);
    const struct upk_keys *const k = p->keys[0];
    w->slots = copy(k->slots, k->slot_count, sizeof *k->slots);
    w->asso = copy(k->asso, k->buckets, 256);
    w->base = copy(k->base, k->buckets, sizeof *k->base);
    w->words = copy(k->words, k->module_words + k->name_words, sizeof *k->words);
    for (size_t i = 0; i < 2; i++) {
        w->keys[i] = *p->keys[i];
        w->keys[i].slots = w->slots;
        w->keys[i].asso = w->asso;
        w->keys[i].base = w->base;
        w->keys[i].words = w->words;
        w->policy.keys[i] = &w->keys[i];
    }
}

static void writable_free(struct writable *w) {
    void *const all[] = {w->rows,     w->forms,  w->types, w->elems, w->fields, w->classes, w->bounds,
                         w->charsets, w->ranges, w->alts,  w->slots, w->asso,   w->base,    w->words};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) test_free(all[i]);
}

static const char everything[] =
    "policy t 1; type Json = none | list<Json> | dict<str, Json>;\n"
    "module builtins { class list ref; class Exception call(a: any...) because \"t\"; }\n"
    "module m { class A new(x: int[1..5], y?: str[..9] chars \"a-f0-9\") kw { k: int mask 6 } state { a: "
    "Json, b?: \"lit\" };\n"
    "class B.C call(x: ref builtins::list) items Json | call() pairs str: Json; func f() -> m::A because "
    "\"t\"; const D; }\n"
    "root Json | m::A | tuple<b\"bytes\", set<int>>;";

static uint32_t find_kind(const struct writable *w, enum upk_type_kind kind) {
    for (uint32_t i = 1; i < w->policy.type_count; i++) {
        if (w->types[i].kind == kind) return i;
    }
    fail_msg("no type of kind %d", (int)kind);
    return 0;
}

static uint32_t first_key(const struct writable *w) {
    uint32_t i = 0;
    while (w->slots[i].row[1] == 0) i++;
    return i;
}

static void damaged_tables_are_refused(void **state) {
    const struct upk_policy *const p = compile_good(*state, everything);
    struct writable w;
    size_t number = 0;
    struct upk_error err;
    writable_make(&w, p);
    assert_true(upk_policy_check(&w.policy, &err));
    writable_free(&w);
#define DAMAGE(statement)                                                            \
    do {                                                                             \
        writable_make(&w, p);                                                        \
        number++;                                                                    \
        statement;                                                                   \
        if (upk_policy_check(&w.policy, &err)) fail_msg("not seen: %s", #statement); \
        assert_int_equal(err.code, UPK_ERR_TABLE);                                   \
        assert_true(err.detail[0] != '\0');                                          \
        writable_free(&w);                                                           \
    } while (0)
    DAMAGE(w.policy.magic ^= 1);
    DAMAGE(w.policy.abi++);
    DAMAGE(w.policy.size--);
    DAMAGE(w.policy.rows = NULL);
    DAMAGE(w.policy.find_class[1] = NULL);
    DAMAGE(w.policy.flags |= 64);
    DAMAGE(w.policy.root = w.policy.type_count);
    DAMAGE(w.policy.root = 0);
    DAMAGE(w.policy.protocol_min = 6);
    DAMAGE(w.policy.budgets[UPK_BUDGET_NAME] = 257);
    DAMAGE(w.policy.name.at = w.policy.pool_len);
    DAMAGE(w.policy.opcodes['R'] = UPK_OP_BUILD);
    DAMAGE(w.policy.opcodes['R'] = UPK_OP_UNKNOWN);
    DAMAGE(w.policy.opcodes[0xff] = UPK_OP_REFUSED);
    DAMAGE(w.rows[1].module.at = UINT32_MAX);
    DAMAGE(w.rows[1].module.len = 0);
    DAMAGE(w.rows[2] = w.rows[1]);
    DAMAGE(w.rows[1].special = UPK_SPECIAL_COUNT);
    DAMAGE(w.rows[1].target = 1);
    DAMAGE(w.rows[1].flags = UPK_ROW_CLASS);
    DAMAGE(w.policy.form_count--);
    DAMAGE(w.forms[1].row++);
    DAMAGE(w.forms[1].verb = 9);
    DAMAGE(w.forms[1].flags = 64);
    DAMAGE(w.forms[1].result = w.policy.class_count);
    DAMAGE(w.forms[1].args = w.policy.type_count);
    DAMAGE(w.forms[1].state = 1);
    DAMAGE(w.forms[1].pair_key = 1);
    DAMAGE(w.forms[1].because.len = UINT32_MAX);
    DAMAGE(w.types[0].kind = UPK_TYPE_ANY);
    DAMAGE(w.types[1].kind = UPK_TYPE_COUNT);
    DAMAGE(w.types[1].kind = UPK_TYPE_NEVER);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_INT)].a = w.policy.bound_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_INT)].b = 1);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_STR)].a = w.policy.charset_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_STR)].lo = UINT64_MAX; w.types[find_kind(&w, UPK_TYPE_STR)].hi = 0);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_STR_IS)].b = UINT32_MAX);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_BYTES_IS)].a = UINT32_MAX);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_LIST)].a = 0);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_DICT)].b = w.policy.type_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_TUPLE)].b = w.policy.elem_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_TUPLE)].c = 0xffffff);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_TUPLE)].c = 2u << 24);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_RECORD)].b = w.policy.field_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_RECORD)].c = w.policy.type_count);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_UNION)].b = 0);
    DAMAGE(w.alts[w.types[find_kind(&w, UPK_TYPE_UNION)].a] = find_kind(&w, UPK_TYPE_UNION));
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_OBJECT)].a = 0);
    DAMAGE(w.types[find_kind(&w, UPK_TYPE_REF)].a = 1);
    DAMAGE(w.elems[1].type = 0);
    DAMAGE(w.fields[1].optional = 2);
    DAMAGE(w.fields[2].key = w.fields[1].key; w.fields[3].key = w.fields[1].key);
    DAMAGE(w.classes[2] = w.classes[1]);
    DAMAGE(w.bounds[1].hi[1] = 0; w.bounds[1].hi[0] = 0; w.bounds[1].lo[0] = 1);
    DAMAGE(w.bounds[1].open = 4);
    DAMAGE(w.charsets[1].ascii[0] ^= 2);
    DAMAGE(w.charsets[1].count = w.policy.range_count);
    DAMAGE(w.ranges[1].hi = 0x110000);
    DAMAGE(w.ranges[2].lo = w.ranges[1].hi + 1);
    DAMAGE(w.keys[0].reading = 1);
    DAMAGE(w.keys[1].module_vectors = 17);
    DAMAGE(w.keys[1].name_words = 33);
    DAMAGE(w.keys[1].buckets = 0);
    DAMAGE(w.keys[1].slot_mask = 5);
    DAMAGE(w.keys[1].slot_count /= 2);
    DAMAGE(w.keys[1].key_count++);
    DAMAGE(w.keys[1].seed++);
    DAMAGE(w.base[0] = w.keys[0].slot_count);
    DAMAGE(w.words[0].at = 16 * w.keys[0].name_vectors - 7; w.keys[0].module_words = 0;
           w.keys[0].name_words = 1);
    DAMAGE(w.slots[first_key(&w)].row[1] = w.policy.row_count);
    DAMAGE(w.slots[first_key(&w)].row[1] = 0; w.slots[first_key(&w)].row[0] = 0);
    DAMAGE(w.slots[first_key(&w)].module = UINT32_MAX);
    DAMAGE(w.slots[first_key(&w)].name_len = UINT16_MAX);
    DAMAGE(w.slots[first_key(&w)].name_len--);
#undef DAMAGE
    assert_true(number > 60);
}

/* ---- Python 2 names ------------------------------------------------------- */

static int compare_texts(struct upk_compat_text a, struct upk_compat_text b) { return strcmp(a.at, b.at); }

static void python_2_names_are_sorted_and_map_as_the_unpickler_does(void **state) {
    (void)state;
    for (size_t i = 0; i < upk_compat_module_count; i++) {
        const struct upk_compat_module *const m = &upk_compat_modules[i];
        assert_int_equal(m->old.len, strlen(m->old.at));
        assert_int_equal(m->now.len, strlen(m->now.at));
        assert_true(i == 0 || compare_texts(m[-1].old, m->old) < 0);
    }
    for (size_t i = 0; i < upk_compat_pair_count; i++) {
        const struct upk_compat_pair *const p = &upk_compat_pairs[i];
        assert_int_equal(p->name.len, strlen(p->name.at));
        if (i == 0) continue;
        const int c = compare_texts(p[-1].old_module, p->old_module);
        assert_true(c < 0 || (c == 0 && compare_texts(p[-1].old_name, p->old_name) < 0));
    }
    static const struct {
        const char *module, *name, *now_module, *now_name;
    } names[] = {
        {"__builtin__", "unicode", "builtins", "str"},
        {"__builtin__", "frobnicate", "builtins", "frobnicate"},
        {"copy_reg", "_reconstructor", "copyreg", "_reconstructor"},
        {"itertools", "imap", "builtins", "map"},
        {"itertools", "chain", "itertools", "chain"},
        {"datetime", "date", "datetime", "date"},
        {"", "", "", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct upk_compat now;
        const bool mapped = upk_compat_name((const uint8_t *)names[i].module, strlen(names[i].module),
                                            (const uint8_t *)names[i].name, strlen(names[i].name), &now);
        assert_int_equal(now.module_len, strlen(names[i].now_module));
        assert_memory_equal(now.module, names[i].now_module, now.module_len);
        assert_int_equal(now.name_len, strlen(names[i].now_name));
        assert_memory_equal(now.name, names[i].now_name, now.name_len);
        assert_int_equal(mapped, strcmp(names[i].module, names[i].now_module) != 0 ||
                                     strcmp(names[i].name, names[i].now_name) != 0);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_name_is_found_under_every_spelling_of_its_protocol),
        TEST(a_module_that_python_2_used_for_something_else_moves_below_protocol_3),
        TEST(the_longest_alias_of_a_policy_applies_once),
        TEST(names_that_only_spell_others_are_known_without_a_grant),
        TEST(a_special_name_can_be_granted_too),
        TEST(prefixes_of_dotted_names_are_known_and_grant_nothing),
        TEST(new_of_a_class_is_known_only_with_keywords),
        TEST(names_of_256_bytes_can_be_granted),
        TEST(two_grants_of_one_name_are_an_error),
        TEST(an_alias_that_leads_to_another_spelling_is_an_error),
        TEST(equal_types_are_held_once),
        TEST(a_recursive_type_leads_back_to_itself),
        TEST(bounds_of_128_bits_keep_their_value),
        TEST(classes_are_sorted_and_types_follow),
        TEST(the_models_types_are_left_unmarked),
        TEST(text_of_a_policy_reaches_generated_c_only_as_numbers),
        TEST(names_that_are_one_symbol_in_c_are_an_error),
        TEST(a_policy_named_like_a_keyword_is_an_error),
        TEST(a_policy_in_the_librarys_namespace_is_an_error),
        TEST(generated_tables_are_those_in_memory),
        TEST(damaged_tables_are_refused),
        TEST(python_2_names_are_sorted_and_map_as_the_unpickler_does),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
