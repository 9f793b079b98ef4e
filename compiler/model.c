/* Ways through the model.  Layer: see model.h. */
#include "model.h"

struct model_type *model_type_part(const struct model_type *t, size_t i) {
    switch (t->kind) {
    case UPK_TYPE_LIST:
    case UPK_TYPE_SET:
    case UPK_TYPE_FROZENSET:
    case UPK_TYPE_PERSID: return i == 0 ? t->item : NULL;
    case UPK_TYPE_DICT: return i == 0 ? t->key : i == 1 ? t->value : NULL;
    case UPK_TYPE_TUPLE:
    case UPK_TYPE_PLACES: return i < t->elem_count ? t->elems[i].type : NULL;
    case UPK_TYPE_RECORD:
        return i < t->field_count ? t->fields[i].type : i == t->field_count ? t->rest : NULL;
    case UPK_TYPE_UNION: return i < t->alt_count ? t->alts[i] : NULL;
    case UPK_TYPE_NEVER:
    case UPK_TYPE_ANY:
    case UPK_TYPE_NONE:
    case UPK_TYPE_BOOL:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
    case UPK_TYPE_INT:
    case UPK_TYPE_FLOAT:
    case UPK_TYPE_FINITE:
    case UPK_TYPE_STR:
    case UPK_TYPE_TEXT:
    case UPK_TYPE_BYTES:
    case UPK_TYPE_BYTEARRAY:
    case UPK_TYPE_BUFFER:
    case UPK_TYPE_INT_IS:
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS:
    case UPK_TYPE_OBJECT:
    case UPK_TYPE_REF:
    case UPK_TYPE_INSTANCE:
    case UPK_TYPE_COUNT: return NULL;
    }
    return NULL;
}

bool channel_describes(struct text channel) { return text_is(channel, "descriptor"); }
