/* What `within` names: other channels of the policy, each once.
 *
 * Layer: pass, after all channels.
 */
#include "suggest.h"
#include "units.h"

static const struct model *model_of(const struct compiled *all, struct text channel) {
    for (size_t i = 0; i < all->model_count; i++) {
        if (text_equal(all->models[i].channel, channel)) {
            return &all->models[i];
        }
    }
    return NULL;
}

static void channel_unknown(struct compilation *c, const struct ast_word *word) {
    struct suggestion near = suggestion_begin(word->text);
    diag_error(c->diag, word->span, P_BAD_CHANNEL, "the policy has no channel `%s'",
               diag_quote(c->diag, word->text));
    for (size_t i = 0; i < c->compiled->model_count; i++) {
        suggestion_offer(&near, c->compiled->models[i].channel);
    }
    if (suggestion_found(&near)) {
        diag_hint(c->diag, "did you mean `%s'?", diag_quote(c->diag, near.best));
    }
}

static void name_read(struct compilation *c, const struct ast_word *word, struct model *m) {
    const struct model *other = model_of(c->compiled, word->text);
    if (word->bad) {
        return;
    }
    if (other == NULL) {
        channel_unknown(c, word);
        return;
    }
    if (other == m) {
        diag_error(c->diag, word->span, P_BAD_CHANNEL, "every channel is within itself: this says nothing");
        return;
    }
    const size_t index = (size_t)(other - c->compiled->models);
    for (size_t i = 0; i < m->within_count; i++) {
        if (m->withins[i].other == index) {
            diag_error(c->diag, word->span, P_DUPLICATE_SETTING, "channel `%s' is named twice",
                       diag_quote(c->diag, word->text));
            diag_note(c->diag, m->withins[i].at, "first named here");
            return;
        }
    }
    m->withins[m->within_count++] = (struct model_within){index, word->span};
}

static void block_read(struct compilation *c, const struct ast_item *block, struct model *m) {
    size_t room = 0;
    for (const struct ast_node *n = block->parts.first; n != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        room += item->kind == AST_WITHIN ? item->names.count : 0;
    }
    m->withins = mem_alloc(c->mem, room, sizeof *m->withins);
    for (const struct ast_node *n = block->parts.first; n != NULL && m->withins != NULL; n = n->next) {
        const struct ast_item *item = (const struct ast_item *)n;
        for (const struct ast_node *name = item->kind == AST_WITHIN ? item->names.first : NULL; name != NULL;
             name = name->next) {
            name_read(c, &((const struct ast_name_node *)name)->name, m);
        }
    }
}

void withins_check(struct compilation *c, const struct ast_item *const *channels) {
    for (size_t i = 0; i < c->compiled->model_count; i++) {
        block_read(c, channels[i], &c->compiled->models[i]);
    }
}
