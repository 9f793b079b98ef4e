/* Observing: the names that streams use are found, a policy is made that takes all of them as they come, and under that the machine
 * itself decodes the streams, which are seen then.
 *
 * Names that a shipped fragment has rows for are judged by those rows already here: what such a row refuses is not learned, for its
 * limits and checks are there for a reason.  Names that old protocols put together (getattr) come to light when a stream is refused
 * for one; the policy is made anew until no name is missing.
 *
 * Layer: a part of the program policyc; see learn.h.
 */
#include <string.h>

#include "../compiler/intern.h"
#include "../compiler/notation.h"
#include "learn.h"

static const char reaches_system[] = "it reaches the system, the interpreter or another decoder";

/* ---- names */

static int hex_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A name as errors and scans have it: bytes that are not printable, and backslashes, as \xHH; long ones cut, which no stream that
 * a policy takes has. */
static bool unescape(struct mem *m, const char *from, struct text *out) {
    char name[300];
    size_t n = 0;
    for (; *from != '\0' && n < sizeof name; n++) {
        if (*from == '\\' && from[1] == 'x' && hex_of(from[2]) >= 0 && hex_of(from[3]) >= 0) {
            name[n] = (char)(hex_of(from[2]) << 4 | hex_of(from[3]));
            from += 4;
        } else {
            name[n] = *from++;
        }
    }
    return mem_text(m, name, n, out);
}

static const struct name_special *special_named(struct model_name name) {
    for (size_t i = 0; i < name_special_count; i++) {
        if (name_equal(name_specials[i].name, name)) return &name_specials[i];
    }
    return NULL;
}

/* Notes the name, in its one spelling; NULL: no memory, or there are too many. */
static struct learn_row *note(struct learn *l, struct model_name spelled) {
    const struct names names = {.mem = &l->mem};
    struct model_name canonical;
    const size_t before = l->rows.count;
    if (!name_canonical(&names, NAMES_NEW, spelled, &canonical)) return NULL;
    struct learn_row *const row = learn_row_get(&l->rows, canonical);
    if (!row || l->rows.count == before) return row;
    if (l->rows.count > LEARN_MOST_NAMES) return NULL;
    const struct name_special *const special = special_named(canonical);
    if (special && special->special >= UPK_SPECIAL_RECONSTRUCTOR)
        row->owner = special->special == UPK_SPECIAL_OR ? LEARN_OWN : LEARN_SPELLER;
    else if (special && (special->special == UPK_SPECIAL_ENCODE || special->special == UPK_SPECIAL_GETATTR))
        row->owner = LEARN_SPELLER;
    else if (special && special->special != UPK_SPECIAL_COMPLEX)
        row->is_special_type = true;
    else if (name_reaches_system(&l->mem, canonical))
        row->excluded = reaches_system;
    return row;
}

static struct learn_row *note_name(struct learn *l, const char *module, const char *name) {
    struct model_name spelled;
    if (!unescape(&l->mem, module, &spelled.module) || !unescape(&l->mem, name, &spelled.qualname))
        return NULL;
    return note(l, spelled);
}

/* The dotted name that a chain of getattr spells, in the arena; false: it spells none.  A guess, so that names come to light
 * together: what they are the machine says. */
static bool spelled_name(struct learn *l, const struct upk_doc *doc, struct upk_value v,
                         struct model_name *out) {
    enum { STEPS = UPK_NAME_MOST / 2 }; /* no name has more parts */
    struct text parts[STEPS];
    struct upk_value args, attribute;
    const char *module, *name;
    size_t module_len, name_len, count = 0;
    while (count < STEPS && upk_object_class(doc, v, &module, &module_len, &name, &name_len) &&
           text_is((struct text){module, module_len}, "builtins") &&
           text_is((struct text){name, name_len}, "getattr") && upk_object_args(v, &args) &&
           upk_len(args) == 2 && upk_at(args, 1, &attribute) &&
           upk_get_str(attribute, &parts[count].at, &parts[count].len) && upk_at(args, 0, &v))
        count++;
    if (count == 0 || !upk_get_global(v, &module, &module_len, &name, &name_len)) return false;
    struct output o;
    output_init(&o, &l->mem);
    output_bytes(&o, name, name_len);
    while (count-- > 0 && o.len < UPK_NAME_MOST) {
        output_text(&o, ".");
        output_bytes(&o, parts[count].at, parts[count].len);
    }
    *out = (struct model_name){{module, module_len}, {o.bytes, o.len}};
    return o.len <= UPK_NAME_MOST && !l->mem.failed;
}

static bool note_spelled(struct learn *l, const struct learn_input *in) {
    struct upk_doc *doc = NULL;
    struct upk_value v = {.kind = UPK_INVALID};
    struct model_name name;
    bool good = true;
    if (!learn_inspect(l, in, &doc)) return true;
    while (good && upk_next_object(doc, &v)) good = !spelled_name(l, doc, v, &name) || note(l, name);
    upk_doc_free(doc);
    return good;
}

static bool note_scanned(struct learn *l) {
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        if (!in->scan || in->scan->name_count == 0) continue;
        in->rows = mem_alloc(&l->mem, in->scan->name_count, sizeof(struct learn_row *));
        if (!in->rows) return false;
        for (size_t k = 0; k < in->scan->name_count; k++) {
            in->rows[k] = note_name(l, in->scan->names[k].module, in->scan->names[k].name);
            if (!in->rows[k]) return false;
        }
    }
    return true;
}

/* ---- shipped fragments */

static bool is_avoided(const struct learn *l, const struct shipped *s) {
    for (size_t i = 0; i < l->avoided_count; i++) {
        if (strcmp(l->avoided[i], s->file) == 0) return true;
    }
    return false;
}

/* Members of an enum have no row of their own in the list, but their class has. */
const struct shipped *learn_fragment_of(const struct learn *l, const struct learn_row *r) {
    struct text name = r->name.qualname;
    for (;;) {
        const struct shipped *s = shipped_of_row(r->name.module, name);
        while (s && is_avoided(l, s)) s = shipped_next_of_row(r->name.module, name, s);
        while (name.len != 0 && name.at[name.len - 1] != '.') name.len--;
        if (s || name.len == 0) return s;
        name.len--;
    }
}

/* In the order of the list, with what it must stand beside. */
static void use_fragment(struct learn *l, const struct shipped *s) {
    const struct shipped *need;
    size_t at = 0;
    while (at < l->fragment_count && l->fragments[at] < s) at++;
    if (at < l->fragment_count && l->fragments[at] == s) return;
    if (l->fragment_count == LEARN_MOST_FRAGMENTS) return;
    memmove(&l->fragments[at + 1], &l->fragments[at],
            (l->fragment_count - at) * sizeof(const struct shipped *));
    l->fragments[at] = s;
    l->fragment_count++;
    for (size_t i = 0; (need = shipped_need(s, i)) != NULL; i++) use_fragment(l, need);
}

void learn_avoid(struct learn *l, const struct shipped *s) {
    if (!is_avoided(l, s) && l->avoided_count < LEARN_MOST_FRAGMENTS)
        l->avoided[l->avoided_count++] = s->file;
}

void learn_use(struct learn *l, const struct shipped *s) {
    if (!is_avoided(l, s)) use_fragment(l, s);
}

/* ---- deciding under it */

/* A fragment that another one may take the place of: arrays of numbers, and arrays of objects. */
static bool change_fragment(struct learn *l, const struct upk_error *err) {
    const size_t file = strcspn(err->rule, ":");
    const struct model_name name = {text_of(err->module), text_of(err->name)};
    const struct shipped *s = shipped_of_row(name.module, name.qualname);
    while (s && (strlen(s->file) != file || memcmp(s->file, err->rule, file) != 0))
        s = shipped_next_of_row(name.module, name.qualname, s);
    if (s && is_avoided(l, s)) return true; /* since a moment ago */
    if (!s || l->avoided_count == LEARN_MOST_FRAGMENTS || !shipped_next_of_row(name.module, name.qualname, s))
        return false;
    learn_avoid(l, s);
    return true;
}

/* By the policy that observes, which is nobody's. */
static void refuse(struct learn_input *in, const struct upk_error *err) {
    in->fate = LEARN_REFUSED;
    in->err = *err;
    in->err.policy[0] = '\0';
    in->unadvised = true;
}

/* false: no memory.  *again: something is known now that was not, and it is not the last time. */
static bool learn_from_refusal(struct learn *l, struct learn_input *in, const struct upk_error *err,
                               bool last, bool *again) {
    const struct learn_row *row = NULL;
    if (err->code == UPK_ERR_GLOBAL && !err->dangerous &&
        (!(row = note_name(l, err->module, err->name)) || !note_spelled(l, in)))
        return false;
    const bool is_new = row && row->owner == LEARN_OWN && !row->granted && !row->excluded;
    if (!last && (is_new || (err->rule[0] && change_fragment(l, err)))) {
        *again = true;
    } else {
        refuse(in, err);
    }
    return true;
}

static bool decide_all(struct learn *l, const struct upk_policy *p, bool last, bool *again) {
    struct upk_error err;
    *again = false;
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        if (in->fate == LEARN_OPEN && !learn_admits(l, p, in, &err) &&
            !learn_from_refusal(l, in, &err, last, again))
            return false;
    }
    return true;
}

static void need_settings(struct learn_settings *s, const struct upk_scan_result *scan) {
    for (size_t i = 0; i < 72; i++) s->opcodes[i] = s->opcodes[i] || scan->opcodes[i] != 0;
    for (size_t i = 0; i < UPK_BUDGET_COUNT; i++) {
        if (scan->figures[i] > s->figures[i]) s->figures[i] = scan->figures[i];
    }
    const unsigned low = scan->protocol < 2 ? 0 : scan->protocol,
                   high = scan->protocol < 2 ? 1 : scan->protocol;
    if (low < s->protocol_min) s->protocol_min = low;
    if (high > s->protocol_max) s->protocol_max = high;
    s->cyclic = s->cyclic || scan->cyclic;
}

static bool see_all(struct learn *l, const struct upk_policy *p) {
    /* Shared values count at each place where they stand; honest pickles share little but objects, which are looked at once. */
    enum { LOOKS_PER_BYTE = 16, LOOKS_LEAST = 1000000 };
    for (size_t i = 0; i < l->input_count; i++) {
        struct learn_input *const in = &l->inputs[i];
        struct upk_doc *doc = NULL;
        if (in->fate != LEARN_OPEN) continue;
        struct upk_error err;
        if (!learn_decode(l, p, in, &doc, &err)) {
            refuse(in, &err);
            continue;
        }
        in->fate = LEARN_SEEN;
        const uint64_t most = LOOKS_LEAST + (uint64_t)in->bytes.len * LOOKS_PER_BYTE;
        bool too_much = false;
        const bool good = learn_see(l, p, doc, most, &too_much);
        upk_doc_free(doc);
        if (!good) return false;
        if (too_much) {
            in->fate = LEARN_REFUSED;
            in->looks = most;
            l->see_again = true; /* without all that are like it */
        } else {
            need_settings(&l->settings, in->scan);
        }
    }
    return true;
}

/* Names of what was refused have been noted, too: they grant nothing. */
static void keep_fragments(struct learn *l) {
    for (size_t i = 0; i < l->input_count; i++) {
        const struct learn_input *const in = &l->inputs[i];
        for (size_t k = 0; in->fate == LEARN_SEEN && k < in->scan->name_count; k++)
            in->rows[k]->needed = true;
    }
    l->fragment_count = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        const struct learn_row *const r = l->rows.items[i];
        const struct shipped *const s = r->owner == LEARN_SHIPPED && (r->met || r->needed) && !r->excluded
                                            ? learn_fragment_of(l, r)
                                            : NULL;
        if (s) learn_use(l, s);
    }
}

bool learn_observe(struct learn *l, struct diag *d) {
    enum { ROUNDS = 8 }; /* each names what the one before could not */
    struct learn_policy observer = {0};
    bool again = true, good = note_scanned(l);
    for (unsigned round = 1; good && again; round++) {
        learn_policy_free(&observer);
        good =
            learn_make_observer(l, d, &observer) && decide_all(l, observer.policy, round == ROUNDS, &again);
    }
    good = good && see_all(l, observer.policy);
    if (good) keep_fragments(l);
    learn_policy_free(&observer);
    return good;
}
