/* The printers: back edges, what bounds the text, failing memory.
 *
 * Layer: tests of the runtime's private graph.
 */
#include "printed.h"

/* Bytes written until it failed.  `figure` 0: raising the budget would not help. */
static size_t expect_failure(printer print, struct upk_value root, unsigned code, unsigned budget,
                             uint64_t figure) {
    struct text text = {.most = SIZE_MAX};
    struct upk_error err;
    doc.root = root;
    memset(&err, 0xff, sizeof err);
    assert_false(print(&doc, take, &text, &err));
    assert_int_equal(err.code, code);
    assert_int_equal(err.budget, budget);
    assert_int_equal(err.figure, figure);
    free(text.at);
    return text.len;
}

/* ---- cycles */

static void measure(struct upk_value root) {
    uint64_t depth, size;
    doc.root = root;
    doc.stale = true;
    assert_true(measure_graph(&doc, &depth, &size));
}

static void back_edges_say_how_many_levels_up(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST), *tuple = cell(UPK_TUPLE), *dict = cell(UPK_DICT);
    add(&doc, tuple, value_of_cell(list));
    add(&doc, tuple, value_of_cell(dict));
    add(&doc, dict, v_str("t"));
    add(&doc, dict, value_of_cell(tuple));
    add(&doc, list, value_of_cell(list));
    add(&doc, list, value_of_cell(tuple));
    measure(value_of_cell(list));
    expect_all(value_of_cell(list), "(list (up 1) (tuple (up 2) (dict (\"t\" (up 2)))))",
               "[{\"$up\": 1}, {\"$tuple\": [{\"$up\": 2}, {\"t\": {\"$up\": 2}}]}]",
               "[[...], ([...], {'t': (...)})]");
}

static void an_object_in_its_own_state_is_two_levels_up(void **state) {
    (void)state;
    struct upk_cell *dict = cell(UPK_DICT);
    struct object *o = made_by(UPK_OP_NEWOBJ, written_name("m", "C", false), cell(UPK_TUPLE));
    add(&doc, dict, v_str("me"));
    add(&doc, dict, value_of_cell(&o->cell));
    o->state = value_of_cell(dict);
    measure(value_of_cell(&o->cell));
    expect_all(value_of_cell(&o->cell),
               "(newobj (global \"m\" \"C\") (tuple) (state (dict (\"me\" (up 2)))))",
               "{\"$object\": \"m::C\", \"args\": [], \"state\": {\"me\": {\"$up\": 2}}}",
               "<m.C() state={'me': ...}>");
}

static void a_sorted_set_may_hold_a_cycle(void **state) {
    (void)state;
    struct upk_cell *set = cell(UPK_SET), *dict = cell(UPK_DICT);
    struct object *o = made_by(UPK_OP_NEWOBJ, written_name("m", "C", false), cell(UPK_TUPLE));
    add(&doc, dict, v_str("s"));
    add(&doc, dict, value_of_cell(set));
    o->state = value_of_cell(dict);
    add(&doc, set, value_of_cell(&o->cell));
    add(&doc, set, v_int(1));
    measure(value_of_cell(set));
    expect(upk_print_tree, value_of_cell(set),
           "(set (newobj (global \"m\" \"C\") (tuple) (state (dict (\"s\" (up 3))))) 1)");
}

static void long_cycles_are_found(void **state) {
    (void)state;
    enum { LONG = 5000 };
    struct upk_cell *first = cell(UPK_LIST), *last = first;
    for (int i = 1; i < LONG; i++) {
        struct upk_cell *next = cell(UPK_LIST);
        add(&doc, last, value_of_cell(next));
        last = next;
    }
    add(&doc, last, value_of_cell(first));
    measure(value_of_cell(first));
    struct text text = {.most = SIZE_MAX};
    struct upk_error err;
    assert_true(upk_print_tree(&doc, take, &text, &err));
    const char *up = strstr(text.at, "(up ");
    assert_non_null(up);
    assert_int_equal(atoi(up + 4), LONG);
    free(text.at);
}

static void lists_that_hold_each_other_stop_soon(void **state) {
    (void)state;
    static const printer all[] = {upk_print_tree, upk_print_json, upk_print_repr};
    struct upk_cell *lists[9];
    for (int i = 0; i < 9; i++) lists[i] = cell(UPK_LIST);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) add(&doc, lists[i], value_of_cell(lists[j]));
    }
    measure(value_of_cell(lists[0]));
    for (int i = 0; i < 3; i++) {
        size_t written =
            expect_failure(all[i], value_of_cell(lists[0]), UPK_ERR_BUDGET, UPK_BUDGET_EXPANDED, 0);
        assert_in_range(written, 0, 65536);
    }
}

/* ---- limits */

static void deep_values_need_no_stack(void **state) {
    (void)state;
    enum { DEEP = 400000 };
    struct upk_cell *top = cell(UPK_LIST);
    for (int i = 1; i < DEEP; i++) {
        struct upk_cell *around = cell(UPK_FROZENSET);
        add(&doc, around, value_of_cell(top));
        top = around;
    }
    struct text text = {.most = SIZE_MAX};
    struct upk_error err;
    doc.root = value_of_cell(top);
    assert_true(upk_print_tree(&doc, take, &text, &err));
    assert_int_equal(text.len, 12 * (DEEP - 1) + 6);
    free(text.at);
}

static void values_are_counted_to_the_last_one(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST);
    for (int i = 0; i < 9; i++) add(&doc, list, v_none());
    doc.expanded_budget = 10;
    expect(upk_print_json, value_of_cell(list), "[null, null, null, null, null, null, null, null, null]");
    doc.expanded_budget = 9;
    expect_failure(upk_print_json, value_of_cell(list), UPK_ERR_BUDGET, UPK_BUDGET_EXPANDED, 10);
}

static void a_long_text_shared_often_stops(void **state) {
    (void)state;
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'x', LONG);
    struct upk_cell *list = cell(UPK_LIST);
    for (int i = 0; i < 1000; i++) add(&doc, list, v_data(UPK_STR, text, LONG));
    doc.stop_at = LONG;
    size_t written =
        expect_failure(upk_print_tree, value_of_cell(list), UPK_ERR_BUDGET, UPK_BUDGET_EXPANDED, 0);
    assert_in_range(written, 1, 64 * (size_t)LONG);
    free(text);
}

static void a_sink_that_stops_is_no_error(void **state) {
    (void)state;
    struct upk_cell *list = cell(UPK_LIST);
    for (int i = 0; i < 100000; i++) add(&doc, list, v_none());
    struct text text = {.most = 40000};
    struct upk_error err = {.code = UPK_ERR_BUDGET};
    doc.root = value_of_cell(list);
    assert_false(upk_print_json(&doc, take, &text, &err));
    assert_int_equal(err.code, UPK_OK);
    free(text.at);
}

/* Fails the nth request and, if `after`, all later ones; counts what is held. */
struct failing {
    size_t nth, count, held;
    bool after;
};

static void *failing_resize(void *ctx, void *block, size_t old_size, size_t new_size) {
    struct failing *f = ctx;
    if (new_size == 0) {
        f->held -= old_size;
        free(block);
        return NULL;
    }
    f->count++;
    if (f->count == f->nth || (f->after && f->count > f->nth)) return NULL;
    void *p = realloc(block, new_size);
    assert_non_null(p);
    f->held += new_size - old_size;
    return p;
}

static void failing_memory_is_said_and_nothing_leaks(void **state) {
    (void)state;
    static const uint8_t large[] = {0, 0, 0, 0, 0, 0, 0, 0, 1}, huge[100] = {[99] = 1};
    static const printer all[] = {upk_print_tree, upk_print_json, upk_print_repr};
    struct upk_cell *list = cell(UPK_LIST), *set = cell(UPK_SET), *dict = cell(UPK_DICT);
    for (int i = 0; i < 200; i++) {
        struct upk_cell *inner = cell(UPK_FROZENSET);
        add(&doc, inner, v_int(i));
        add(&doc, inner, v_int(-i));
        add(&doc, set, value_of_cell(inner));
    }
    add(&doc, list, value_of_cell(list));
    add(&doc, list, value_of_cell(set));
    add(&doc, dict, v_str("a"));
    add(&doc, dict, v_data(UPK_BIGINT, large, sizeof large));
    add(&doc, dict, v_str("b"));
    add(&doc, dict, v_data(UPK_BIGINT, huge, sizeof huge));
    add(&doc, list, value_of_cell(dict));
    measure(value_of_cell(list));
    for (int after = 0; after < 2; after++) {
        for (int i = 0; i < 3; i++) {
            bool good = false;
            for (size_t nth = 1; !good; nth++) {
                struct failing failing = {.nth = nth, .after = after};
                struct upk_allocator own = doc.mem.allocator;
                struct upk_error err;
                struct text text = {.most = SIZE_MAX};
                doc.mem.allocator = (struct upk_allocator){failing_resize, &failing};
                good = all[i](&doc, take, &text, &err);
                doc.mem.allocator = own;
                assert_int_equal(failing.held, 0);
                if (!good) assert_int_equal(err.code, UPK_ERR_MEMORY);
                if (good) assert_true(failing.count < nth && nth > 3);
                free(text.at);
            }
        }
    }
}

static void the_memory_cap_is_a_budget(void **state) {
    (void)state;
    uint64_t cap = doc.mem.cap;
    doc.mem.cap = 16;
    expect_failure(upk_print_tree, v_none(), UPK_ERR_BUDGET, UPK_BUDGET_MEMORY, 17);
    doc.mem.cap = cap;
}

static void sorting_is_bytewise(void **state) {
    (void)state;
    enum { MANY = 257 };
    static char texts[MANY][8];
    struct upk_bytes views[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", i * 7919 % 1009);
        views[i] = (struct upk_bytes){texts[i], strlen(texts[i])};
    }
    bytes_sort(views, MANY);
    for (size_t i = 1; i < MANY; i++) assert_true(strcmp(views[i - 1].data, views[i].data) <= 0);
    bytes_sort(views, 0);
}

static void a_large_number_is_converted_once(void **state) {
    (void)state;
    enum { NUMBERS = 40, TIMES = 50, BYTES = 100 };
    static uint8_t numbers[NUMBERS][BYTES];
    struct upk_cell *list = cell(UPK_LIST);
    struct counting counting = {0};
    struct text once = {.most = SIZE_MAX}, often = {.most = SIZE_MAX};
    struct upk_allocator own = doc.mem.allocator;
    struct upk_error err;
    for (size_t i = 0; i < NUMBERS; i++) memset(numbers[i], (int)i + 1, BYTES);
    doc.root = value_of_cell(list);
    for (size_t i = 0; i < TIMES * NUMBERS; i++) {
        add(&doc, list, v_data(UPK_BIGINT, numbers[i % NUMBERS], BYTES));
        if (i + 1 == NUMBERS) assert_true(upk_print_repr(&doc, take, &once, &err));
    }
    doc.mem.allocator = (struct upk_allocator){counting_resize, &counting};
    assert_true(upk_print_repr(&doc, take, &often, &err));
    doc.mem.allocator = own;
    assert_int_equal(counting.bytes, 0);
    assert_true(counting.calls < 3 * NUMBERS);
    const size_t len = once.len - 2; /* without brackets */
    assert_int_equal(often.len, TIMES * (len + 2));
    for (size_t i = 0; i < TIMES; i++) assert_memory_equal(often.at + 1 + i * (len + 2), once.at + 1, len);
    free(once.at);
    free(often.at);
}

/* Where the memory may not hold the texts, each is made anew. */
static void a_large_number_needs_no_memory_that_stays(void **state) {
    (void)state;
    static uint8_t number[12000];
    struct upk_cell *list = cell(UPK_LIST);
    struct text texts[2] = {{.most = SIZE_MAX}, {.most = SIZE_MAX}};
    const uint64_t cap = doc.mem.cap;
    struct upk_error err;
    number[sizeof number - 1] = 1;
    for (size_t i = 0; i < 3; i++) add(&doc, list, v_data(UPK_BIGINT, number, sizeof number));
    doc.root = value_of_cell(list);
    assert_true(upk_print_repr(&doc, take, &texts[0], &err));
    doc.mem.cap = 4 * 3 * sizeof number; /* a quarter is just less than what it would take */
    assert_true(upk_print_repr(&doc, take, &texts[1], &err));
    doc.mem.cap = cap;
    assert_string_equal(texts[0].at, texts[1].at);
    free(texts[0].at);
    free(texts[1].at);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(back_edges_say_how_many_levels_up),    TEST(an_object_in_its_own_state_is_two_levels_up),
        TEST(a_sorted_set_may_hold_a_cycle),        TEST(long_cycles_are_found),
        TEST(lists_that_hold_each_other_stop_soon), TEST(deep_values_need_no_stack),
        TEST(values_are_counted_to_the_last_one),   TEST(a_long_text_shared_often_stops),
        TEST(a_sink_that_stops_is_no_error),        TEST(failing_memory_is_said_and_nothing_leaks),
        TEST(a_large_number_is_converted_once),     TEST(a_large_number_needs_no_memory_that_stays),
        TEST(the_memory_cap_is_a_budget),           TEST(sorting_is_bytewise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
