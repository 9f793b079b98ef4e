/* A document, a table, and matching of one against the other in every way there is.
 *
 * Layer: tests of runtime/shape*.c; a test includes it once.
 */
#ifndef TEST_MATCHING_H
#define TEST_MATCHING_H

#include "cells.h"
#include "table.h"

static struct upk_doc doc;
static struct table table;
static struct match_result why;
static uint64_t pairs;

static inline int set_up(void **state) {
    (void)state;
    memset(&doc, 0, sizeof doc);
    mem_init(&doc.mem, NULL, UINT64_C(1) << 30);
    table_clear(&table);
    doc.policy = &table.policy;
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    mem_free(&doc.mem);
    return 0;
}

static inline enum match_status match(struct upk_value root, uint32_t type) {
    doc.root = root;
    table.policy.root = type;
    uint64_t before = doc.mem.used;
    struct mem_block *blocks = doc.mem.blocks;
    enum match_status status = match_document(&doc, UINT64_C(1) << 40, &pairs, &why);
    assert_int_equal(doc.mem.used, before);
    assert_ptr_equal(doc.mem.blocks, blocks);
    return status;
}

/* Once more from the start. */
static inline enum match_status match_again(struct upk_value root, uint32_t type) {
    for (struct object *o = doc.objects; o; o = o->next) o->cell.cap = 0;
    return match(root, type);
}

/* By search, without relying on CELL_ODD, and by refutation as for a graph with cycles: the verdicts must
 * be the same. */
static inline bool fits(struct upk_value root, uint32_t type) {
    enum match_status by_tree = match_again(root, type);
    bool used_up = doc.used_up;
    doc.used_up = true;
    assert_int_equal(match_again(root, type), by_tree);
    doc.used_up = used_up;
    doc.cyclic = doc.stale = true;
    assert_int_equal(match_again(root, type), by_tree);
    doc.cyclic = doc.stale = false;
    assert_true(by_tree == MATCH_OK || by_tree == MATCH_REFUSED);
    return by_tree == MATCH_OK;
}

#define assert_fits(v, type) assert_true(fits(v, type))
#define assert_not(v, type)  assert_false(fits(v, type))

static inline uint32_t int_type(void) { return t_plain(&table, UPK_TYPE_INT); }

static inline struct upk_value object(uint32_t row, enum upk_verb verb, struct upk_value args) {
    return value_of_cell(&new_object(&doc, row, verb, args)->cell);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
