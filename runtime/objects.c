/* All objects of a document, one after the other, and how each was made.
 *
 * Layer: runtime, over doc.h.
 */
#include "doc.h"

bool upk_next_object(const struct upk_doc *doc, struct upk_value *v) {
    struct object *o = v->kind == UPK_OBJECT ? as_object(v->as.cell)->next : doc->objects;
    /* What only spells something else is no object: a value, or a partial that was used up. */
    while (o && (o->cell.flags & CELL_NORMAL || (doc->policy && o->cell.index == UPK_VERB_NONE))) o = o->next;
    if (!o) return false;
    *v = value_of_cell(&o->cell);
    return true;
}

bool upk_object_how(struct upk_value v, unsigned *verb, unsigned *steps) {
    if (upk_kind(v) != UPK_OBJECT) return false;
    const struct object *const o = as_object(v.as.cell);
    const struct object_more *const more = o->more;
    const struct upk_cell *const base = more ? more->base : NULL;
    *verb = o->cell.index;
    *steps = 0;
    if (o->state.kind != UPK_INVALID) *steps |= UPK_STEP_STATE;
    if (o->cell.flags & CELL_DID_ITEMS || (base && base->kind == UPK_LIST)) *steps |= UPK_STEP_ITEMS;
    if (o->cell.flags & CELL_DID_PAIRS || (base && base->kind == UPK_DICT)) *steps |= UPK_STEP_PAIRS;
    if (o->cell.flags & CELL_DID_ADDS) *steps |= UPK_STEP_ADDS;
    if (more && more->kw && more->kw->len) *steps |= UPK_STEP_KEYWORDS;
    return true;
}
