/* Grants that no stream could ever use, because every opcode that would spell them is refused.  Such a row
 * is a mistake: it reads as authority that is not there.
 *
 * Layer: pass, per channel.
 */
#include "units.h"

static bool allow_any(const struct settings *s, const enum upk_op *ops, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (settings_allow(s, ops[i])) {
            return true;
        }
    }
    return false;
}

#define ALLOW(s, ...)                                \
    allow_any(s, (const enum upk_op[]){__VA_ARGS__}, \
              sizeof((const enum upk_op[]){__VA_ARGS__}) / sizeof(enum upk_op))

/* What is missing, or NULL.  Which opcodes serve which step: PEP 307, and the normalised forms of old
 * protocols. */
static const char *form_fault(const struct settings *s, const struct model_form *f) {
    switch (f->verb) {
    case UPK_VERB_CALL:
        if (!ALLOW(s, UPK_OP_REDUCE, UPK_OP_INST, UPK_OP_OBJ)) {
            return "`call' is spelt by REDUCE, INST or OBJ";
        }
        break;
    case UPK_VERB_NEW:
        if (!ALLOW(s, UPK_OP_NEWOBJ, UPK_OP_NEWOBJ_EX, UPK_OP_REDUCE, UPK_OP_INST, UPK_OP_OBJ)) {
            return "`new' is spelt by NEWOBJ, NEWOBJ_EX, REDUCE, INST or OBJ";
        }
        break;
    case UPK_VERB_FUNC:
        if (!ALLOW(s, UPK_OP_REDUCE)) {
            return "a function is called by REDUCE";
        }
        break;
    case UPK_VERB_NONE:
    case UPK_VERB_REF:
    case UPK_VERB_CONST: break;
    }
    if (f->state != NULL && !ALLOW(s, UPK_OP_BUILD)) {
        return "`state' is spelt by BUILD";
    }
    if (f->items != NULL && !ALLOW(s, UPK_OP_APPEND, UPK_OP_APPENDS)) {
        return "`items' is spelt by APPEND or APPENDS";
    }
    if (f->pair_key != NULL && !ALLOW(s, UPK_OP_SETITEM, UPK_OP_SETITEMS)) {
        return "`pairs' is spelt by SETITEM or SETITEMS";
    }
    if (f->adds != NULL && !ALLOW(s, UPK_OP_ADDITEMS)) {
        return "`adds' is spelt by ADDITEMS, of protocol 4";
    }
    return NULL;
}

void spelling_check(struct compilation *c, const struct settings *s, struct row_def *const *rows,
                    size_t count, struct text channel) {
    const char *names = NULL;
    if (!ALLOW(s, UPK_OP_GLOBAL, UPK_OP_STACK_GLOBAL, UPK_OP_INST)) {
        names = "a name is spelt by GLOBAL, STACK_GLOBAL or INST";
    }
    for (size_t i = 0; i < count; i++) {
        /* A template's class is made by all that its other rows need; where it can be spelt, they may be spare. */
        if (rows[i]->owner != NULL) {
            continue;
        }
        const char *fault = names;
        for (size_t k = 0; k < rows[i]->row.form_count && fault == NULL; k++) {
            fault = form_fault(s, &rows[i]->row.forms[k]);
        }
        if (fault != NULL && !rows[i]->refused) {
            rows[i]->refused = true; /* said once, not in every channel */
            diag_error(c->diag, rows[i]->span, P_CANNOT_SPELL, "no opcode allowed %s spells this grant: %s",
                       channel_phrase(c, channel).text, fault);
            diag_hint(c->diag, "see the `opcodes' and `protocol' of the policy and of the channel");
        }
    }
}
