/* What a wait for a child goes by: the time of the whole, and what the host says meanwhile.  Layer: see run.h. */
#include "run.h"

enum { TICK = 50 }; /* milliseconds: to ask the host */

int wait_most(const struct waiting *w) {
    const int64_t left = w->until - run_now();
    return left < 0 ? 0 : left < TICK ? (int)left : TICK;
}

int wait_ask(struct waiting *w) {
    const struct upk_run_options *const o = w->options;
    const int64_t now = run_now();
    if (!o || !o->ask || now < w->next) return 0;
    w->next = now + TICK;
    return o->ask(o->ask_ctx);
}

bool wait_stopped(int answer, struct upk_error *err) {
    return answer > 0 ? run_fail(err, UPK_ERR_RUN_STOPPED, "signal %d", answer)
                      : run_fail(err, UPK_ERR_RUN_STOPPED, "%s", "");
}
