/* Depth and size of graphs with and without cycles, children, and the path to a cell.
 *
 * Layer: tests of runtime/measure.c, children.c, path.c.
 */
#include <stdio.h>

#include "cells.h"

static struct upk_doc doc;

static int set_up(void **state) {
    (void)state;
    memset(&doc, 0, sizeof doc);
    mem_init(&doc.mem, NULL, UINT64_C(1) << 32);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mem_free(&doc.mem);
    return 0;
}

static void assert_measure(struct upk_value root, uint64_t depth, uint64_t size, bool cyclic) {
    uint64_t d = 0, s = 0;
    doc.root = root;
    assert_true(measure_graph(&doc, &d, &s));
    assert_int_equal(d, depth);
    assert_int_equal(s, size);
    assert_int_equal(doc.cyclic, cyclic);
}

/* ---- measures */

static void leaves_are_one_level(void **state) {
    (void)state;
    assert_measure(v_int(1), 1, 1, false);
    assert_measure(v_bytearray(&doc, "abc"), 1, 1, false);
    assert_measure(v_global(&doc, 0), 1, 1, false);
    assert_measure(v_empty(&doc, UPK_LIST), 1, 1, false);
    assert_measure(V_OF(&doc, UPK_TUPLE, v_int(1), v_int(2)), 2, 3, false);
    assert_measure(V_OF(&doc, UPK_PERSID, V_OF(&doc, UPK_TUPLE, v_int(1))), 3, 3, false);
}

static void sharing_is_written_out_and_saturates(void **state) {
    (void)state;
    struct upk_value v = v_int(0);
    for (int i = 0; i < 40; i++) v = V_OF(&doc, UPK_LIST, v, v);
    assert_measure(v, 41, (UINT64_C(1) << 41) - 1, false);
    for (int i = 0; i < 60; i++) v = V_OF(&doc, UPK_LIST, v, v);
    assert_measure(v, 101, UINT64_MAX, false);
    assert_int_equal(v.as.cell->size, UINT32_MAX);
    assert_int_equal(v.as.cell->depth, 101);
}

static void a_component_counts_its_own_once(void **state) {
    (void)state;
    struct upk_value self = V_OF(&doc, UPK_LIST, v_int(1));
    add(&doc, self.as.cell, self);
    assert_measure(self, 2, 3, true);
    /* four users of a component of two lists and one int */
    struct upk_value a = v_empty(&doc, UPK_LIST), b = V_OF(&doc, UPK_LIST, a, v_int(1));
    add(&doc, a.as.cell, b);
    assert_measure(a, 3, 4, true);
    assert_measure(V_OF(&doc, UPK_TUPLE, a, b, a, b), 4, 17, true);
}

static void lists_that_hold_each_other_stay_small(void **state) {
    (void)state;
    struct upk_value lists[9];
    for (int i = 0; i < 9; i++) lists[i] = v_empty(&doc, UPK_LIST);
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 9; k++) add(&doc, lists[i].as.cell, lists[k]);
    }
    assert_measure(lists[0], 9, 9 + 81 - 8, true);
}

static void a_million_levels_need_no_stack(void **state) {
    (void)state;
    enum { LEVELS = 1000000 };
    struct upk_value first = v_empty(&doc, UPK_LIST), v = first;
    for (int i = 1; i < LEVELS; i++) v = V_OF(&doc, UPK_LIST, v);
    assert_measure(v, LEVELS, LEVELS, false);
    add(&doc, first.as.cell, v);
    assert_measure(v, LEVELS, LEVELS + 1, true);
}

static void popped_objects_make_a_document_cyclic(void **state) {
    (void)state;
    struct object *o = new_object(&doc, 0, UPK_VERB_CALL, v_empty(&doc, UPK_TUPLE));
    set_state(o, V_OF(&doc, UPK_DICT, v_str("me"), value_of_cell(&o->cell)));
    assert_measure(v_int(1), 1, 1, true);
}

/* ---- random graphs against the definition */

enum { MOST = 9 };

struct graph {
    size_t n;
    struct upk_value cells[MOST];
    unsigned edges[MOST][MOST], leaves[MOST];
    bool reach[MOST][MOST]; /* by one edge or more */
};

static void random_graph(struct graph *g, bool cycles) {
    memset(g, 0, sizeof *g);
    g->n = 1 + random_below(MOST);
    for (size_t i = 0; i < g->n; i++) g->cells[i] = v_empty(&doc, UPK_LIST);
    for (size_t i = 0; i < g->n; i++) {
        for (uint32_t k = random_below(4); k > 0; k--) {
            size_t to = random_below((uint32_t)g->n);
            if (to > i || (cycles && random_below(3) == 0)) {
                g->edges[i][to]++;
                add(&doc, g->cells[i].as.cell, g->cells[to]);
            } else {
                g->leaves[i]++;
                add(&doc, g->cells[i].as.cell, v_int(1));
            }
        }
    }
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->n; k++) g->reach[i][k] = g->edges[i][k] > 0;
    }
    for (size_t via = 0; via < g->n; via++) {
        for (size_t i = 0; i < g->n; i++) {
            for (size_t k = 0; k < g->n; k++)
                g->reach[i][k] = g->reach[i][k] || (g->reach[i][via] && g->reach[via][k]);
        }
    }
}

static bool together(const struct graph *g, size_t i, size_t k) {
    return i == k || (g->reach[i][k] && g->reach[k][i]);
}

/* Recursion over components. */
static void define(const struct graph *g, size_t of, uint64_t *depth, uint64_t *size) {
    uint64_t cells = 0, within = 0, below = 0, sum = 0;
    for (size_t i = 0; i < g->n; i++) {
        if (!together(g, of, i)) continue;
        cells++;
        sum += g->leaves[i];
        if (g->leaves[i] && below < 1) below = 1;
        for (size_t k = 0; k < g->n; k++) {
            if (!g->edges[i][k]) continue;
            if (together(g, of, k)) {
                within += g->edges[i][k];
                continue;
            }
            uint64_t d, s;
            define(g, k, &d, &s);
            sum += g->edges[i][k] * s;
            below = d > below ? d : below;
        }
    }
    *depth = cells + below;
    *size = cells + sum + (within ? within - (cells - 1) : 0);
}

static void random_graphs_measure_as_defined(void **state) {
    (void)state;
    random_state = 17;
    for (int round = 0; round < 8000; round++) {
        struct graph g;
        random_graph(&g, round % 2);
        uint64_t depth, size;
        bool cyclic = false;
        define(&g, 0, &depth, &size);
        for (size_t i = 0; i < g.n; i++) cyclic = cyclic || (g.reach[i][i] && (i == 0 || g.reach[0][i]));
        assert_measure(g.cells[0], depth, size, cyclic);
        for (size_t i = 1; i < g.n; i++) {
            if (!g.reach[0][i]) continue;
            define(&g, i, &depth, &size);
            assert_int_equal(g.cells[i].as.cell->size, size);
            assert_int_equal(g.cells[i].as.cell->depth, depth);
        }
    }
}

static void failing_memory_is_reported_and_given_back(void **state) {
    (void)state;
    struct upk_value v = v_int(0);
    for (int i = 0; i < 100; i++) v = V_OF(&doc, UPK_LIST, v, v);
    struct counting counting = {0};
    const struct upk_allocator failing = {.resize = counting_resize, .ctx = &counting};
    struct upk_doc head = doc;
    head.root = v;
    uint64_t d, s;
    for (uint64_t at = 1;; at++) {
        mem_init(&head.mem, &failing, UINT64_MAX);
        counting.calls = 0;
        counting.fail_at = at;
        bool ok = measure_graph(&head, &d, &s);
        assert_int_equal(counting.bytes, 0);
        assert_int_equal(head.mem.used, 0);
        assert_int_equal(ok, counting.calls < at);
        if (ok) break;
        assert_true(at < 100);
    }
}

/* ---- children */

static void assert_children(struct upk_cell *c, bool raw, size_t n, const int64_t *want) {
    struct children kids;
    size_t i = 0;
    cell_children(c, raw, &kids);
    for (unsigned s = 0; s < kids.count; s++) {
        for (size_t k = 0; k < kids.spans[s].len; k++, i++) {
            struct upk_value v = kids.spans[s].at[k];
            assert_true(i < n);
            if (v.kind == UPK_INT)
                assert_int_equal(v.as.i, want[i]);
            else
                assert_int_equal(v.as.cell->index, want[i]); /* the cells are numbered */
        }
    }
    assert_int_equal(i, n);
}

static struct upk_cell *numbered(enum upk_kind kind, uint32_t number, int64_t member) {
    struct upk_cell *c = V_OF(&doc, kind, v_int(member)).as.cell;
    c->index = number;
    return c;
}

static void objects_have_children_as_written_and_as_read(void **state) {
    (void)state;
    struct object *o = new_object(&doc, 0, UPK_VERB_NEW, value_of_cell(numbered(UPK_TUPLE, 101, 0)));
    o->callee = v_global(&doc, 0).as.cell;
    o->callee->index = 100;
    set_state(o, v_int(3));
    struct object_more *more = more_of(&doc, o);
    more->kw = numbered(UPK_DICT, 102, 0);
    more->items = numbered(UPK_LIST, 103, 5);
    more->adds = numbered(UPK_SET, 104, 6);
    more->pairs = numbered(UPK_DICT, 105, 7);
    more->args = numbered(UPK_TUPLE, 106, 0);
    more->base = numbered(UPK_LIST, 107, 4);
    assert_children(&o->cell, true, 6, (const int64_t[]){100, 101, 3, 5, 6, 7});
    o->cell.op = UPK_OP_NEWOBJ_EX;
    assert_children(&o->cell, true, 7, (const int64_t[]){100, 101, 102, 3, 5, 6, 7});
    assert_children(&o->cell, false, 7, (const int64_t[]){106, 102, 3, 4, 5, 7, 6});
    o->cell.flags |= CELL_NORMAL;
    more->value = value_of_cell(numbered(UPK_SET, 108, 9));
    assert_children(&o->cell, false, 1, (const int64_t[]){9});
    more->value = v_bytes("abc");
    assert_children(&o->cell, false, 0, NULL);
    assert_children(v_global(&doc, 0).as.cell, true, 0, NULL);
    assert_children(v_bytearray(&doc, "x").as.cell, false, 0, NULL);
}

/* ---- paths */

static void assert_path(struct upk_value root, struct upk_value target, size_t size, const char *want) {
    char out[200];
    memset(out, 'x', sizeof out);
    doc.root = root;
    value_path(&doc, target.as.cell, out, size);
    assert_string_equal(out, want);
    assert_int_equal(out[size], 'x');
}

static void paths_lead_from_the_root(void **state) {
    (void)state;
    struct upk_value t = V_OF(&doc, UPK_LIST, v_int(1)), key = V_OF(&doc, UPK_TUPLE, v_int(1));
    assert_path(t, t, 160, "$");
    assert_path(v_int(1), t, 160, "$");
    assert_path(V_OF(&doc, UPK_LIST, v_int(0), t), t, 160, "$[1]");
    struct upk_value dict = V_OF(&doc, UPK_DICT, v_str("a_1"), V_OF(&doc, UPK_TUPLE, v_none(), t));
    assert_path(dict, t, 160, "$.a_1[1]");
    assert_path(V_OF(&doc, UPK_DICT, v_str("odd \x1b key"), t), t, 160, "$[\"odd \\x1b key\"]");
    assert_path(V_OF(&doc, UPK_DICT, v_str("1a"), t), t, 160, "$[\"1a\"]");
    assert_path(V_OF(&doc, UPK_DICT, v_str(""), t), t, 160, "$[\"\"]");
    assert_path(V_OF(&doc, UPK_DICT, v_int(-12), t), t, 160, "$[-12]");
    assert_path(V_OF(&doc, UPK_DICT, v_none(), t), t, 160, "$[?]");
    assert_path(V_OF(&doc, UPK_DICT, v_int(1), v_int(2), key, t), key, 160, "$.keys[1]");
    assert_path(V_OF(&doc, UPK_PERSID, V_OF(&doc, UPK_TUPLE, t)), t, 160, "$.id[0]");
    /* the shortest */
    assert_path(V_OF(&doc, UPK_LIST, V_OF(&doc, UPK_LIST, V_OF(&doc, UPK_LIST, t)), t), t, 160, "$[1]");
    /* not reached */
    assert_path(V_OF(&doc, UPK_LIST, v_int(0)), t, 160, "$");
}

static void paths_pass_through_objects(void **state) {
    (void)state;
    struct upk_value t[6];
    for (int i = 0; i < 6; i++) t[i] = V_OF(&doc, UPK_LIST, v_int(i));
    struct object *o = new_object(&doc, 0, UPK_VERB_CALL, V_OF(&doc, UPK_TUPLE, v_int(1), t[0]));
    struct object_more *more = more_of(&doc, o);
    more->kw = V_OF(&doc, UPK_DICT, v_str("k"), t[1]).as.cell;
    set_state(o, t[2]);
    more->base = V_OF(&doc, UPK_LIST, v_int(1), v_int(2)).as.cell;
    more->items = V_OF(&doc, UPK_LIST, t[3]).as.cell;
    more->pairs = V_OF(&doc, UPK_DICT, v_str("p"), t[4]).as.cell;
    more->adds = V_OF(&doc, UPK_SET, v_int(1), t[5]).as.cell;
    struct upk_value root = V_OF(&doc, UPK_LIST, value_of_cell(&o->cell));
    assert_path(root, value_of_cell(&o->cell), 160, "$[0]");
    assert_path(root, t[0], 160, "$[0].args[1]");
    assert_path(root, t[1], 160, "$[0].kwargs.k");
    assert_path(root, t[2], 160, "$[0].state");
    assert_path(root, t[3], 160, "$[0][2]");
    assert_path(root, t[4], 160, "$[0].p");
    assert_path(root, t[5], 160, "$[0][1]");
    o->cell.flags |= CELL_NORMAL;
    more->value = V_OF(&doc, UPK_SET, v_int(1), v_int(2), t[0]);
    assert_path(root, t[0], 160, "$[0][2]");
    assert_path(root, more->value, 160, "$[0]");
}

static void long_paths_are_cut(void **state) {
    (void)state;
    struct upk_value t = V_OF(&doc, UPK_LIST, v_int(1)), v = t;
    for (int i = 0; i < 100; i++) v = V_OF(&doc, UPK_LIST, v);
    assert_path(v, t, 20, "$[0][0][0][0][0]...");
    assert_path(v, t, 5, "$...");
    assert_path(v, t, 4, "$");
    assert_path(v, t, 2, "$");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leaves_are_one_level, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sharing_is_written_out_and_saturates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_component_counts_its_own_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_that_hold_each_other_stay_small, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_million_levels_need_no_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(popped_objects_make_a_document_cyclic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_graphs_measure_as_defined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failing_memory_is_reported_and_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(objects_have_children_as_written_and_as_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_lead_from_the_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_pass_through_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_paths_are_cut, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
