/* One call from its arguments to its value: read and judge, then build.  Layer: see host.h. */
#include "host.h"

/* A persistent id is inert until the value is built; whether anybody will be asked for it is known before. */
static bool persid_allowed(void *ctx, struct upk_value id) {
    (void)id;
    return ((const struct call *)ctx)->persistent_load != NULL;
}

bool call_begin(struct call *c, struct guard *g, const struct arguments *a, size_t most_buffers) {
    mem_clear(c, sizeof *c);
    c->guard = g;
    c->persistent_load = a->persistent_load;
    c->cause = a->cause;
    if (a->buffers && !buffers_take(&c->taken, a->buffers, most_buffers)) return false;
    c->spare = spare_take(g->host);
    if (!c->spare) {
        buffers_release(&c->taken);
        return false;
    }
    c->buffers = c->taken.objects;
    c->buffer_count = c->taken.count;
    c->allocator = (struct upk_allocator){spare_resize, c->spare};
    c->options.allocator = &c->allocator;
    c->options.buffers = c->taken.bytes;
    c->options.buffer_count = c->taken.count;
    c->options.secret = g->host->secret;
    c->options.persid = persid_allowed;
    c->options.persid_ctx = c;
    if (g->policy->open_count > 1) {
        c->options.resolve = opened_resolve;
        c->options.resolve_ctx = c;
    }
    if (g->consents) c->options.flags = UPK_ALLOW_FAIL_OPEN;
    return true;
}

void call_end(struct call *c) {
    if (c->found) bind_end(c);
    if (c->opened) opened_end(c);
    upk_doc_free(c->doc);
    spare_give(c->guard->host, c->spare);
    if (c->taken.objects) buffers_release(&c->taken);
}

struct upk_doc *call_decode(struct call *c, const uint8_t *bytes, size_t len) {
    struct upk_doc *doc = NULL;
    struct upk_error err;
    c->away = len >= WITHOUT_GIL ? PyEval_SaveThread() : NULL;
    const bool good = upk_decode(c->guard->policy, bytes, len, &c->options, &doc, &err);
    /* The second look makes the grant line whole, which a dangerous name has not. */
    if (!good && !err.dangerous) upk_error_observe(&err, c->guard->policy, bytes, len, &c->options);
    if (c->away) PyEval_RestoreThread(c->away);
    c->away = NULL;
    if (good) return doc;
    if (!PyErr_Occurred())
        (void)refused(c->guard->host, &err); /* what names stand for could not be looked up */
    return NULL;
}

PyObject *call_finish(struct call *c, struct upk_doc *doc) {
    c->doc = doc;
    spare_trim(c->spare);
    return build_document(c);
}
