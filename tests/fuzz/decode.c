/* Fuzz target: any bytes as a pickle, inspected, scanned, and decided under each of several policies.
 *
 * What must hold for every input, beside not crashing and not leaking:
 *   - a verdict is the same when it is asked for again, and upk_check and UPK_COPY give the same one;
 *   - a stream that comes piece by piece gets the same verdict, with the same code and offset, and the same document;
 *   - what a policy accepts, inspection accepts under the same budgets;
 *   - what inspection accepts, a scan accepts, and the scan refuses nothing else but what is over a limit;
 *   - exactly the accessor of a value's kind answers;
 *   - printers stop where the sink says so, and write printable ASCII;
 *   - an error names a known code of its class, an offset inside the input, and has a message of one printable line, also
 *     after it was observed.
 *
 * Layer: tests only, over the runtime's public interface.
 */
#include <string.h>

#include "../../runtime/upk_tables.h"
#include "help/policies.h"
#include "help/verdict.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ALL_FAMILIES = (1 << UPK_FAMILY_COUNT) - 1 };

/* `whole`: what is accepted is looked at and printed, too. */
static bool inspect(const uint8_t *data, size_t size, const uint64_t *budgets, bool whole) {
    struct upk_options options = {.flags = UPK_FAMILY_FLAGS, .families = ALL_FAMILIES, .budgets = budgets};
    struct upk_doc *doc = NULL;
    struct upk_scan_result *scan = NULL;
    struct upk_error err, scan_err;
    bool accepted = upk_inspect(data, size, &options, &doc, &err);
    bool scanned = upk_scan(data, size, &options, &scan, &scan_err);
    REQUIRE(scanned || !accepted);
    REQUIRE(accepted || !scanned || err.cls == UPK_CLASS_LIMIT || err.code == UPK_ERR_NAME_LENGTH);
    if (accepted && whole) {
        document_walk(doc);
        document_print(doc);
    }
    if (!accepted) error_require_sound(&err, size);
    if (scanned) {
        REQUIRE(scan->opcodes[UPK_OP_STOP] == 1);
    } else {
        error_require_sound(&scan_err, size);
    }
    upk_doc_free(doc);
    upk_scan_free(scan);
    return accepted;
}

struct pieces {
    const uint8_t *at;
    size_t left, calls;
};

/* What is asked for, and sometimes up to 15 bytes more. */
static bool read_piece(void *ctx, void *to, size_t least, size_t most, size_t *got) {
    struct pieces *p = ctx;
    size_t n = least + (p->calls++ % 3 == 2 && p->left ? *p->at % 16 : 0);
    REQUIRE(least >= 1 && least <= most);
    n = n < most ? n : most;
    *got = n < p->left ? n : p->left;
    if (*got) memcpy(to, p->at, *got);
    p->at += *got;
    p->left -= *got;
    return true;
}

static bool depends_on_length(const struct upk_error *e) {
    return e->code == UPK_ERR_MEMO_FAR || (e->code == UPK_ERR_BUDGET && e->budget == UPK_BUDGET_MEMORY);
}

static void decide_in_pieces(const struct upk_policy *policy, const uint8_t *data, size_t size,
                             struct upk_options options) {
    struct upk_doc *docs[2] = {NULL, NULL};
    struct upk_error errs[2];
    size_t used[2];
    struct pieces pieces = {data, size, 0};
    options.flags |= UPK_ALLOW_TRAILING;
    options.used = &used[0];
    const bool at_once = upk_decode(policy, data, size, &options, &docs[0], &errs[0]);
    options.used = &used[1];
    const bool in_pieces = upk_decode_from(policy, read_piece, &pieces, &options, &docs[1], &errs[1]);
    if (at_once && in_pieces) {
        REQUIRE(used[0] == used[1] && document_print(docs[0]) == document_print(docs[1]));
    } else if (!at_once && !in_pieces) {
        REQUIRE(depends_on_length(&errs[0]) || depends_on_length(&errs[1]) ||
                (errs[0].code == errs[1].code && errs[0].offset == errs[1].offset));
        error_require_sound(&errs[1], size);
    } else { /* what stands behind STOP is part of the length at once, and is not in pieces */
        REQUIRE(at_once && depends_on_length(&errs[1]));
    }
    upk_doc_free(docs[0]);
    upk_doc_free(docs[1]);
}

static void decide(const struct upk_policy *policy, const uint8_t *data, size_t size) {
    struct fuzz_host host;
    struct upk_options options = fuzz_options(&host);
    const struct verdict first = verdict_of(policy, data, size, &options, true);
    struct verdict again = first;
    REQUIRE(upk_check(policy, data, size, &options, &again.err) == first.accepted);
    verdict_require_same(&first, &again);
    if (first.accepted) {
        REQUIRE(inspect(data, size, policy->budgets, false));
    } else {
        upk_error_observe(&again.err, policy, data, size, &options);
        error_require_sound(&again.err, size);
    }
    decide_in_pieces(policy, data, size, options);
    options.flags |= UPK_COPY;
    again = verdict_of(policy, data, size, &options, false);
    verdict_require_same(&first, &again);
    options.resolve = NULL;
    options.flags |= UPK_INERT_NAMES;
    const struct verdict inert = verdict_of(policy, data, size, &options, false);
    REQUIRE(inert.accepted || inert.err.code != UPK_ERR_NOT_LOADED); /* nobody was asked */
    if (policy->open_count < 2) verdict_require_same(&first, &inert);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    inspect(data, size, NULL, true);
    for (size_t i = 0; i < fuzz_policy_count; i++) decide(fuzz_policies[i].policy, data, size);
    return 0;
}
