/* Templates: one declaration of an application's type becomes the rows and forms by which the versions of Python
 * spell it at each protocol.
 *
 *   dataclass   class: new() with the state of __dict__, of __slots__, and of frozen slots
 *   namedtuple  class: new(fields)
 *   exception   class: call(args) with the state of its attributes
 *   pydantic    class: new() with the state of version 1 and of version 2
 *   enum        class: call(value); a const `NAME.MEMBER` for each member
 *   flag        the same with a mask for value; func operator.or_ of two flags
 *
 * Sources: object.__reduce_ex__ and copyreg.py, Lib/dataclasses.py, Lib/enum.py, Lib/collections/__init__.py,
 * BaseException.__reduce__ (Objects/exceptions.c) of CPython 2.7 to 3.13; BaseModel.__getstate__ of pydantic 1 and 2.
 *
 * Layer: pass, after the types of the file are defined; part of resolve_rows.
 */
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* Hooks that such classes have by their kind. */
enum {
    HOOKS_OF_DATA = UPK_FORM_RUNS_SETSTATE | UPK_FORM_RUNS_SETATTR | UPK_FORM_RUNS_HASH | UPK_FORM_RUNS_EQ,
    HOOKS_OF_ENUM = UPK_FORM_RUNS_NEW | UPK_FORM_RUNS_HASH
};

/* One template while it is written out. */
struct template {
    struct compilation *c;
    struct unit *u;
    const struct ast_row *tree;
    struct row_def *class;
    struct model_form form; /* what all its forms share */
};

bool row_is_template(const struct ast_row *tree) {
    switch (tree->kind) {
    case AST_ROW_DATACLASS:
    case AST_ROW_NAMEDTUPLE:
    case AST_ROW_ENUM:
    case AST_ROW_FLAG:
    case AST_ROW_EXCEPTION:
    case AST_ROW_PYDANTIC: return true;
    case AST_ROW_CLASS:
    case AST_ROW_FUNC:
    case AST_ROW_CONST:
    case AST_ROW_SUBCLASSES: break;
    }
    return false;
}

size_t template_row_count(const struct ast_row *tree) {
    return 1 + tree->members.count + (tree->kind == AST_ROW_FLAG);
}

/* Room for the forms of a row, which are then added one by one. */
static bool forms_begin(struct template *t, struct row_def *def, size_t most) {
    def->row.forms = mem_alloc(t->c->mem, most, sizeof *def->row.forms);
    return def->row.forms != NULL;
}

static struct model_form *form_add(struct template *t, struct row_def *def) {
    struct model_form *form = &def->row.forms[def->row.form_count++];
    *form = t->form;
    form->result = t->class->row.name;
    return form;
}

/* ---- types ------------------------------------------------------------ */

static struct model_type *tuple_of(struct compilation *c, const struct model_elem *elems, size_t count) {
    struct model_type *tuple = type_new(c, UPK_TYPE_TUPLE);
    tuple->elems = mem_alloc(c->mem, count, sizeof *elems);
    if (tuple->elems != NULL && count != 0) {
        memcpy(tuple->elems, elems, count * sizeof *elems);
        tuple->elem_count = count;
    }
    return tuple;
}

/* `fields` are in bytewise order. */
static struct model_type *record_of(struct compilation *c, const struct model_field *fields, size_t count) {
    struct model_type *record = type_new(c, UPK_TYPE_RECORD);
    record->fields = mem_alloc(c->mem, count, sizeof *fields);
    if (record->fields != NULL && count != 0) {
        memcpy(record->fields, fields, count * sizeof *fields);
        record->field_count = count;
    }
    return record;
}

/* Alternatives that are no unions. */
static struct model_type *union_of(struct compilation *c, struct model_type *const *alts, size_t count) {
    struct model_type *type = type_new(c, UPK_TYPE_UNION);
    type->alts = mem_alloc(c->mem, count, sizeof(struct model_type *));
    if (type->alts != NULL) {
        memcpy(type->alts, alts, count * sizeof(struct model_type *));
        type->alt_count = count;
    }
    return type;
}

/* A list or a set without members. */
static struct model_type *empty_of(struct compilation *c, enum upk_type_kind kind) {
    struct model_type *type = type_new(c, kind);
    type->item = type_plain(c, UPK_TYPE_NONE);
    type->hi = 0;
    return type;
}

/* A set of names of these fields. */
static struct model_type *set_of_names(struct compilation *c, const struct model_type *record) {
    struct model_type **names = mem_alloc(c->mem, record->field_count, sizeof(struct model_type *));
    if (record->field_count == 0 || names == NULL) {
        return empty_of(c, UPK_TYPE_SET);
    }
    struct model_type *set = type_new(c, UPK_TYPE_SET);
    for (size_t i = 0; i < record->field_count; i++) {
        names[i] = type_new(c, UPK_TYPE_STR_IS);
        names[i]->literal = record->fields[i].key;
    }
    set->item = record->field_count == 1 ? names[0] : union_of(c, names, record->field_count);
    return set;
}

static int compare_fields(const void *left, const void *right) {
    const struct model_field *a = left, *b = right;
    return text_compare(a->key, b->key);
}

/* A list of the fields' values, in the order in which they are written.  Fields at its end may be missing where
 * they are optional. */
static struct model_type *places_of(struct template *t, const struct model_type *record) {
    if (record->field_count == 0) {
        return empty_of(t->c, UPK_TYPE_LIST);
    }
    struct model_type *places = type_new(t->c, UPK_TYPE_PLACES);
    places->elems = mem_alloc(t->c->mem, t->tree->type->parts.count, sizeof *places->elems);
    for (const struct ast_node *n = t->tree->type->parts.first; n != NULL && places->elems != NULL;
         n = n->next) {
        const struct ast_field *field = (const struct ast_field *)n;
        const struct model_field key = {.key = field->key.text};
        const struct model_field *found =
            field->rest ? NULL
                        : bsearch(&key, record->fields, record->field_count, sizeof key, compare_fields);
        if (found != NULL) {
            places->elems[places->elem_count++] = (struct model_elem){found->type, found->key};
            places->optional = found->optional ? places->optional + 1 : 0;
        }
    }
    return places;
}

/* ---- fields ------------------------------------------------------------ */

/* Setting such an attribute gives the object another class, or what Python calls by itself.  The notes of an exception are
 * data. */
static bool is_hook(const struct template *t, struct text name) {
    return name.len > 4 && memcmp(name.at, "__", 2) == 0 && memcmp(name.at + name.len - 2, "__", 2) == 0 &&
           !(t->tree->kind == AST_ROW_EXCEPTION && text_is(name, "__notes__"));
}

static void hooks_check(struct template *t) {
    for (const struct ast_node *n = t->tree->type->parts.first; n != NULL; n = n->next) {
        const struct ast_field *field = (const struct ast_field *)n;
        if (!field->rest && !field->key.bad && is_hook(t, field->key.text)) {
            diag_error(t->c->diag, field->key.span, P_BAD_TEMPLATE,
                       "`%s' is no field: Python itself goes by that attribute",
                       diag_quote(t->c->diag, field->key.text));
            diag_hint(t->c->diag, "where it is pickled all the same, a `class' row grants it");
        }
    }
}

/* The record of a template's fields. */
static struct model_type *record_read(struct template *t) {
    hooks_check(t);
    for (const struct ast_node *n = t->tree->type->parts.first; n != NULL; n = n->next) {
        if (((const struct ast_field *)n)->rest) {
            diag_error(t->c->diag, n->span, P_BAD_TEMPLATE,
                       "each field of such a class is named: `*' is none");
            diag_hint(t->c->diag,
                      "a class with any attributes is granted by a `class' row, with `state { *: T }'");
            break;
        }
    }
    return type_convert(t->c, t->u, t->tree->type);
}

/* BUILD is left out where there is nothing to say. */
static uint32_t state_flag(const struct model_type *record) {
    for (size_t i = 0; i < record->field_count; i++) {
        if (!record->fields[i].optional) {
            return 0;
        }
    }
    return UPK_FORM_STATE_OPTIONAL;
}

static void dataclass_read(struct template *t) {
    struct model_type *record = record_read(t);
    if (!forms_begin(t, t->class, 3)) {
        return;
    }
    t->form.flags |= HOOKS_OF_DATA;
    struct model_form *dict = form_add(t, t->class), *slots = form_add(t, t->class),
                      *frozen = form_add(t, t->class);
    const struct model_elem pair[] = {{.type = type_plain(t->c, UPK_TYPE_NONE)}, {.type = record}};
    dict->state = record;
    dict->flags |= state_flag(record);
    slots->state = tuple_of(t->c, pair, 2);
    slots->flags |= state_flag(record);
    frozen->state = places_of(t, record);
    t->class->row.flags |= UPK_ROW_STATE;
}

static void pydantic_read(struct template *t) {
    struct compilation *c = t->c;
    struct model_type *record = record_read(t);
    if (record->field_count > MOST_ALTERNATIVES) {
        diag_error(c->diag, t->class->span, P_TOO_MANY, "a pydantic class has at most %d fields",
                   MOST_ALTERNATIVES);
        c->rows_lost = true;
        return;
    }
    struct model_type *empty = record_of(c, NULL, 0), *set = set_of_names(c, record);
    struct model_type *const none_or_empty[] = {type_plain(c, UPK_TYPE_NONE), empty};
    struct model_type *nothing = union_of(c, none_or_empty, 2);
    const struct model_field version_1[] = {{.key = text_of("__dict__"), .type = record},
                                            {.key = text_of("__fields_set__"), .type = set},
                                            {.key = text_of("__private_attribute_values__"), .type = empty}};
    const struct model_field version_2[] = {{.key = text_of("__dict__"), .type = record},
                                            {.key = text_of("__pydantic_extra__"), .type = nothing},
                                            {.key = text_of("__pydantic_fields_set__"), .type = set},
                                            {.key = text_of("__pydantic_private__"), .type = nothing}};
    if (!forms_begin(t, t->class, 2)) {
        return;
    }
    t->form.flags |= HOOKS_OF_DATA;
    form_add(t, t->class)->state = record_of(c, version_1, 3);
    form_add(t, t->class)->state = record_of(c, version_2, 4);
    t->class->row.flags |= UPK_ROW_STATE;
}

static void namedtuple_read(struct template *t) {
    t->form.flags |= UPK_FORM_RUNS_NEW;
    if (forms_begin(t, t->class, 1)) {
        (void)form_add(t, t->class);
    }
}

static void exception_read(struct template *t) {
    struct model_type *record = t->tree->type == NULL ? NULL : record_read(t);
    if (!forms_begin(t, t->class, 1)) {
        return;
    }
    struct model_form *form = form_add(t, t->class);
    if (record != NULL) {
        form->state = record;
        form->flags |= state_flag(record);
        t->class->row.flags |= UPK_ROW_STATE;
    }
}

/* ---- members ------------------------------------------------------------ */

struct placed_member {
    const struct ast_member *member;
    size_t index;
};

static int compare_members(const void *left, const void *right) {
    const struct placed_member *a = left, *b = right;
    int order = text_compare(a->member->name.text, b->member->name.text);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* By place: is the member's name a mistake?  NULL: no memory. */
static bool *members_check(struct template *t) {
    const size_t count = t->tree->members.count;
    struct diag *d = t->c->diag;
    struct placed_member *sorted = mem_alloc(t->c->mem, count, sizeof *sorted);
    bool *bad = mem_alloc(t->c->mem, count, sizeof *bad);
    if (sorted == NULL || bad == NULL) {
        return NULL;
    }
    size_t at = 0;
    for (const struct ast_node *n = t->tree->members.first; n != NULL; n = n->next, at++) {
        const struct ast_word *name = &((const struct ast_member *)n)->name;
        sorted[at] = (struct placed_member){(const struct ast_member *)n, at};
        bad[at] = name->bad;
        if (!name->bad && memchr(name->text.at, '.', name->text.len) != NULL) {
            bad[at] = true;
            diag_error(d, name->span, P_BAD_NAME, "the name of a member has no dot");
        } else if (!name->bad && name->text.len >= UPK_NAME_MOST - t->class->row.name.qualname.len) {
            bad[at] = true;
            diag_error(d, name->span, P_BAD_NAME, "a name has at most %d bytes", UPK_NAME_MOST);
        }
    }
    qsort(sorted, count, sizeof *sorted, compare_members);
    for (size_t i = 1; i < count; i++) {
        const struct ast_word *name = &sorted[i].member->name, *before = &sorted[i - 1].member->name;
        if (text_equal(name->text, before->text) && !name->bad && !before->bad) {
            bad[sorted[i].index] = true;
            diag_error(d, name->span, P_DUPLICATE_FIELD, "member `%s' is given twice",
                       diag_quote(d, name->text));
            diag_note(d, before->span, "first given here");
        }
    }
    return bad;
}

static struct text member_name(struct template *t, struct text member) {
    const struct text class = t->class->row.name.qualname;
    char *at = mem_alloc(t->c->mem, class.len + 1 + member.len, 1);
    if (at == NULL) {
        return class;
    }
    memcpy(at, class.at, class.len);
    at[class.len] = '.';
    memcpy(at + class.len + 1, member.at, member.len);
    return (struct text){at, class.len + 1 + member.len};
}

static bool is_literal(const struct model_type *type) {
    switch (type->kind) {
    case UPK_TYPE_NONE:
    case UPK_TYPE_TRUE:
    case UPK_TYPE_FALSE:
    case UPK_TYPE_INT_IS:
    case UPK_TYPE_STR_IS:
    case UPK_TYPE_BYTES_IS: return true;
    default: return false;
    }
}

/* A row that the template writes beside its class. */
static struct row_def *part_add(struct template *t, struct model_name name, struct span span,
                                uint32_t flags) {
    struct row_def *part = row_add(t->c, t->u, t->tree, name, span);
    part->owner = t->class;
    part->refused = t->class->refused;
    part->row.flags = flags;
    if (!forms_begin(t, part, 1)) {
        part->refused = true;
    }
    return part;
}

/* Nothing is made by a name: the hooks, the check and the arguments of the class are not its. */
static void member_add(struct template *t, const struct ast_member *member, struct model_type *value) {
    const struct model_name name = {t->class->row.name.module, member_name(t, member->name.text)};
    struct row_def *part =
        part_add(t, name, member->name.span, UPK_ROW_CONST | (t->class->row.flags & UPK_ROW_IMPORT));
    if (part->row.forms == NULL) {
        return;
    }
    *form_add(t, part) = (struct model_form){
        .verb = UPK_VERB_CONST,
        .flags = UPK_FORM_TEMPLATE,
        .result = t->class->row.name,
        .value = is_literal(value) ? value : NULL,
        .because = t->form.because,
        .file = t->form.file,
        .line = part->row.line,
    };
}

/* The class, made by its one argument. */
static void class_of_value(struct template *t, struct model_type *value) {
    const struct model_elem argument = {.type = value, .name = text_of("value")};
    t->form.flags |= HOOKS_OF_ENUM;
    t->form.args = tuple_of(t->c, &argument, 1);
    if (forms_begin(t, t->class, 1)) {
        (void)form_add(t, t->class);
    }
}

static void enum_read(struct template *t) {
    const bool *bad = members_check(t);
    struct model_type *value = type_convert(t->c, t->u, t->tree->type);
    if (bad == NULL) {
        return;
    }
    class_of_value(t, value);
    /* The alternatives are still as they are written: unions are made flat later. */
    const bool one = t->tree->members.count == 1;
    size_t at = 0;
    for (const struct ast_node *n = t->tree->members.first; n != NULL && !t->c->mem->failed;
         n = n->next, at++) {
        if (!bad[at]) {
            member_add(t, (const struct ast_member *)n, one ? value : value->alts[at]);
        }
    }
}

static bool is_natural(const struct ast_type *value) {
    return value->kind == AST_INT_IS && !value->number.value.negative;
}

static void flag_read(struct template *t) {
    const bool *bad = members_check(t);
    struct model_type *mask = type_new(t->c, UPK_TYPE_INT);
    mask->has_mask = true;
    for (const struct ast_node *n = t->tree->members.first; n != NULL; n = n->next) {
        const struct ast_type *value = ((const struct ast_member *)n)->value;
        if (!is_natural(value)) {
            diag_error(t->c->diag, value->node.span, P_BAD_TEMPLATE,
                       "a flag's member is an int of 0 or more");
            diag_hint(t->c->diag, "members of other values make an `enum'");
            continue;
        }
        mask->mask.word[0] |= value->number.value.word[0];
        mask->mask.word[1] |= value->number.value.word[1];
    }
    if (bad == NULL) {
        return;
    }
    class_of_value(t, mask);
    size_t at = 0;
    for (const struct ast_node *n = t->tree->members.first; n != NULL && !t->c->mem->failed;
         n = n->next, at++) {
        const struct ast_type *value = ((const struct ast_member *)n)->value;
        if (!bad[at] && is_natural(value)) {
            member_add(t, (const struct ast_member *)n, type_convert(t->c, t->u, value));
        }
    }
    /* Flag.__reduce_ex__ of CPython 3.11.2 takes a value of several bits apart. */
    const struct model_name or_name = {text_of("operator"), text_of("or_")};
    struct row_def *part = part_add(t, or_name, t->class->span, UPK_ROW_FUNC);
    part->joins = true;
    part->row.calls = t->class->row.calls;
    if (part->row.forms == NULL) {
        return;
    }
    struct model_type *self = type_new(t->c, UPK_TYPE_OBJECT);
    self->qualified = t->class->row.name;
    const struct model_elem operands[] = {{.type = self, .name = text_of("a")},
                                          {.type = self, .name = text_of("b")}};
    struct model_form *form = form_add(t, part);
    form->verb = UPK_VERB_FUNC;
    form->check = UPK_CHECK_NONE;
    form->args = tuple_of(t->c, operands, 2);
    if (form->because.len == 0) {
        form->because = text_of("two members of one flag, as CPython 3.11.2 pickles them");
    }
}

/* ---- all ------------------------------------------------------------ */

void template_read(struct compilation *c, struct unit *u, const struct ast_item *module,
                   const struct ast_row *tree) {
    const struct ast_word *name = &((const struct ast_name_node *)tree->names.first)->name;
    const struct ast_maker *maker = (const struct ast_maker *)tree->makers.first;
    struct template t = {.c = c, .u = u, .tree = tree};
    t.class = row_add(c, u, tree, (struct model_name){module->name.text, name->text}, name->span);
    t.class->refused = name->bad || module->name.bad;
    t.class->row.flags = UPK_ROW_CLASS | (module->flag ? UPK_ROW_IMPORT : 0);
    t.form.verb = maker->verb == AST_CALL ? UPK_VERB_CALL : UPK_VERB_NEW;
    t.form.flags = UPK_FORM_TEMPLATE;
    t.form.file = u->index;
    t.form.line = t.class->row.line;
    t.form.args = type_tuple(c, u, &maker->args);
    clauses_read(c, maker, &t.form, &t.class->row);
    switch (tree->kind) {
    case AST_ROW_DATACLASS: dataclass_read(&t); break;
    case AST_ROW_NAMEDTUPLE: namedtuple_read(&t); break;
    case AST_ROW_ENUM: enum_read(&t); break;
    case AST_ROW_FLAG: flag_read(&t); break;
    case AST_ROW_EXCEPTION: exception_read(&t); break;
    case AST_ROW_PYDANTIC: pydantic_read(&t); break;
    case AST_ROW_CLASS:
    case AST_ROW_FUNC:
    case AST_ROW_CONST:
    case AST_ROW_SUBCLASSES: break;
    }
}
