/* What the parts of the CPython host share.
 *
 *   module.c     a module's state, and how it is filled
 *   guard.c      the type Policy: loads, load, check, inspect, scan, with_types of one channel
 *   phases.c     one call from its arguments to its value: read and judge, then build
 *   arguments.c  the arguments of loads and kin; out-of-band buffers
 *   looks.c      inspect and scan
 *   spare.c      memory that waits for the next call
 *   refused.c    RefusedError, and how each refusal becomes one
 *   bind.c       rows become objects of this process
 *   names.c      what stands under a name, without running code
 *   called.c     what an object is called
 *   resolve.c    names without a row: what the decoder is told of them, and what is kept for building
 *   plan.c       how objects of a form are made
 *   hooks.c      which Python code of a class its instances would run
 *   build.c      an accepted document becomes objects: constructors and BUILDs in the stream's order
 *   value.c      values: scalars; containers are opened
 *   fill.c       and filled
 *   pattern.c    dicts that have the keys of earlier ones
 *   text.c       str and bytes, shared where the stream shares them
 *   hashes.c     too many keys of one hash
 *   object.c     objects: calls, items
 *   state.c      their states
 *   exception.c  exceptions without their own __init__
 *   sound.c      what an exception may hold
 *   written.c    how much text it would be printed as
 *   native.c     objects that are made without a call into Python
 *   array.c      and arrays of numpy
 *   dtype.c      and their dtypes
 *   unpickler.c  the type Unpickler, and load from a file
 *   file.c       a Python file as the source of one pickle
 *   types.c      with_types: classes that a host admits at run time
 *   environment.c  the environment of a child
 *   ladder.c     decode_exception: an exception by the first of two forms that can be had
 *   described.c  an exception by what the second says of it
 *   signals.c    exceptions that steer whoever catches them
 *   child.c      run: a child process that replies with a pickle
 *
 * No part reads a pickle: libupk has read and judged it before the first of them runs.  All state is a module's own or a
 * call's; functions return NULL or false with a Python exception set.
 *
 * Layer: private to runtime/python, over doc.h.
 */
#ifndef UPK_HOST_H
#define UPK_HOST_H

#include "upk_python.h"

#include "../doc.h"
#include "../upk_environment.h"

#if PY_VERSION_HEX < 0x03090000
#define PyObject_VectorcallDict _PyObject_FastCallDict
#endif

enum { FILE_WORDS = 7 };

/* State of one module (PEP 489, 573). */
struct host {
    const struct upk_py_module *definition;
    PyTypeObject *policy_type;
    PyObject *refused_error;          /* class RefusedError */
    PyObject *empty_input_error;      /* a RefusedError that is an EOFError as well */
    PyObject *remote_error;           /* class RemoteError; NULL: there is no decode_exception (ladder.c) */
    PyObject *file_words[FILE_WORDS]; /* file.c */
    PyObject *unpickling_error, *pickle_error; /* pickle's */
    struct spare *spare;                       /* NULL: a call has it */
    struct usual *usual;                       /* text.c; NULL: nothing was built yet */
    uint64_t secret[2]; /* of all decodes: to ask the kernel takes longer than many do */
};
/* NULL only where the module's import has failed. */
struct host *host_of(PyObject *module);
/* Takes the reference to `value`; false where it is NULL.  (module.c) */
bool attribute_set(PyObject *object, const char *name, PyObject *value);

/* ---- memory (spare.c)
 *
 * What documents are made of is given back to the module and not to the system, so that the next call finds pages that are there.
 * The blocks belong to one call at a time: it takes them, and gives them back, under the GIL, and may use them without it. */
struct spare *spare_take(struct host *h); /* NULL: MemoryError is set */
void spare_give(struct host *h, struct spare *s);
void spare_free(struct spare *s); /* NULL is fine */
/* Give large blocks that nobody has borrowed back to the system. */
void spare_trim(struct spare *s);
/* struct upk_allocator.resize; ctx: struct spare. */
void *spare_resize(void *ctx, void *block, size_t old_size, size_t new_size);

/* ---- exceptions of other processes (ladder.c) */

#define UPK_PY_EXCEPTION  "exception" /* the channels that its two forms come by */
#define UPK_PY_DESCRIPTOR "descriptor"
/* Adds decode_exception and RemoteError to a module with these channels. */
bool ladder_add(PyObject *module, struct host *h);

/* ---- children (child.c) */

#define UPK_PY_TABLE "__table__" /* attribute and capsule: the table of a policy, for other such modules */
struct guard;
/* Of the type Policy. */
PyObject *guard_run(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *guard_table(struct guard *g); /* new reference */
/* Adds run(channel=...) to a module with channels. */
bool run_add(PyObject *module, const struct host *h);

/* ---- rows (bind.c) */

struct plan; /* bind.h */

struct binding {
    PyObject *object; /* strong; NULL: not met yet */
    PyObject *reason; /* strong str: why its module could not be imported; NULL: nobody tried, or it could */
};

/* The type Policy: one channel of a policy, or one that was widened by with_types.  Immutable but for rows that are bound when
 * first met. */
struct guard {
    PyObject_HEAD PyObject *module; /* strong */
    struct host *host;
    const struct upk_policy *policy;
    struct upk_policy *own; /* of with_types: freed with the object; else NULL */
    const char *name, *doc; /* of the channel */
    PyObject *unpickler;    /* class Unpickler of this policy; NULL: nobody asked for it yet (unpickler.c) */
    PyObject *types;        /* of with_types: tuple of the classes; else NULL */
    PyObject *of;  /* strong: the Policy that this one was made of, whose `policy` it has; NULL: none */
    bool consents; /* it may fail open (allow_fail_open) */
    struct binding *rows; /* by row id; those of `types` are bound from the beginning */
    struct plan *plans;   /* by form id */
};

/* Is it one of this module's policies?  (guard.c) */
bool is_policy(PyObject *object);
/* A guard over `policy` with no row bound yet; new reference.  (guard.c) */
struct guard *guard_new(struct host *h, PyObject *module, const char *name, const char *doc,
                        const struct upk_policy *policy);
/* with_types(*args): a new guard that admits these classes as well, bound to the very objects, and all else as `g` does.  Owns
 * its policy and its rows' objects: guard.c frees `own`, `types` and `rows` of any guard alike.  (types.c) */
PyObject *guard_with_types(struct guard *g, PyObject *const *args, Py_ssize_t n);

struct arguments;
extern PyType_Slot guard_slots[]; /* of the type Policy (guard.c) */

/* Methods of the type Policy that stand elsewhere. */
PyObject *guard_load(struct guard *g, PyObject *const *args, Py_ssize_t n,
                     PyObject *kwnames);    /* unpickler.c */
PyObject *guard_unpickler(struct guard *g); /* the same: its class Unpickler, new reference */

/* Arguments of environment and of what starts a child; borrowed, Py_None: not given. */
struct environment_arguments {
    PyObject *home, *manifest, *from_host, *host;
};
/* The same for C; the texts are those of what is kept. */
struct environment_inputs {
    PyObject *list, *kept,
        *path;   /* strong: of the host's variables, of a manifest, home; the last may be NULL */
    char **host; /* ends with NULL */
    struct upk_env_entry *entries;
    size_t count;
    const char *home; /* NULL: not given */
};
/* false: an exception is set, and there is nothing to release.  (environment.c) */
bool environment_take(struct environment_inputs *in, const struct environment_arguments *a);
void environment_release(struct environment_inputs *in);
PyObject *guard_environment(struct guard *g, PyObject *args, PyObject *kwargs);

PyObject *inspect_data(struct guard *g, const struct arguments *a, const uint8_t *bytes,
                       size_t len); /* looks.c */
PyObject *scan_data(struct guard *g, const struct arguments *a, const uint8_t *bytes,
                    size_t len); /* looks.c */

/* ---- arguments (arguments.c) */

enum takes { TAKES_PICKLE = 1, TAKES_CAUSE = 2, TAKES_FORM = 4 }; /* buffers are always taken */

struct arguments {                       /* all borrowed */
    PyObject *first;                     /* data, file */
    PyObject *buffers, *persistent_load; /* NULL: none */
    PyObject *form;                      /* of inspect; NULL: not given */
    bool cause;
};
/* Of a call of `function` (METH_FASTCALL | METH_KEYWORDS): one positional argument and keywords, of which `takes` says. */
bool arguments_read(struct arguments *a, const char *function, unsigned takes, PyObject *const *args,
                    Py_ssize_t n, PyObject *kwnames);
/* One keyword of them. */
bool argument_set(struct arguments *a, const char *function, unsigned takes, PyObject *name, PyObject *value);

/* Out-of-band buffers of a call. */
struct buffers {
    PyObject **objects;
    Py_buffer *views; /* as many */
    struct upk_bytes *bytes;
    size_t count;
};
/* At most `most` of an iterable. */
bool buffers_take(struct buffers *b, PyObject *iterable, size_t most);
void buffers_release(struct buffers *b);

/* ---- files (file.c) */

bool file_words_find(struct host *h); /* when the module is made */

struct file { /* starts as zeros */
    struct host *host;
    PyObject *object, *read; /* strong */
    PyObject *peek;          /* strong; NULL: it has none */
    bool in_memory;          /* a BytesIO: not read by its methods */
    PyObject *memory;        /* its bytes while they are read, strong */
    size_t began, at;        /* places in them */
    size_t given;            /* to the decoder, of this pickle */
    size_t ahead;            /* of them, bytes that were shown by peek, and are not consumed */
};
bool file_open(struct file *f, struct host *h, PyObject *object);
void file_close(struct file *f);
int file_traverse(struct file *f, visitproc visit, void *arg);
/* Before a pickle; behind it, `used` bytes long, so that the file stands there; at last in any case. */
bool file_begin(struct file *f);
bool file_end(struct file *f, size_t used);
void file_rest(struct file *f);
/* After a refusal: make the grant line whole, where the rest of the pickle is at hand without reading on. */
struct call;
void file_observe(const struct file *f, struct call *c, struct upk_error *err);
bool file_read(void *file, void *to, size_t least, size_t most, size_t *got); /* upk_read_fn */

/* ---- one call (phases.c)
 *
 * call_begin; then a document, by call_decode or by upk_decode_from with call.options; then call_finish, which takes it; then
 * call_end, whatever went well. */

struct call {
    struct guard *guard;
    struct upk_doc *doc;       /* accepted; NULL while it is not */
    PyObject *persistent_load; /* borrowed; NULL: none */
    PyObject *find_class;      /* borrowed: an overriding find_class of a subclass; NULL: none */
    PyObject **buffers;        /* borrowed: the objects of `buffers`, buffer_count of them */
    size_t buffer_count;
    bool cause;           /* the host asks for the cause of a failed construction */
    struct buffers taken; /* owned: what `buffers` is of */
    struct spare *spare;
    struct upk_allocator allocator; /* over `spare` */
    struct upk_options options;     /* for the decoder; points to the above */

    struct opened *opened; /* resolve.c; NULL: nothing was asked */
    PyThreadState *away;   /* while the GIL is let go: of this thread */

    struct builder *builder; /* of build.c, build.h; NULL while nothing is built */
    PyObject **found;        /* by row id: what find_class gave, strong; NULL: not asked */
};

enum { WITHOUT_GIL = 64 << 10 }; /* bytes of input from which other threads may run while it is read */

/* At most `most_buffers` buffers are taken.  false: an exception is set, and call_end is not needed. */
bool call_begin(struct call *c, struct guard *g, const struct arguments *a, size_t most_buffers);
void call_end(struct call *c);
/* Read and judge; without the GIL where that takes a while.  NULL: RefusedError or MemoryError is set. */
struct upk_doc *call_decode(struct call *c, const uint8_t *bytes, size_t len);
/* Build the value of an accepted document, which is freed.  New reference. */
PyObject *call_finish(struct call *c, struct upk_doc *doc);

/* The whole second phase: new reference to the root, or NULL with an exception set. */
PyObject *build_document(struct call *c);
/* A value: new reference.  Objects inside it have been made before (build.c sees to the order).  Its containers come out filled,
 * but those that the stream itself fills later: they are filled where it has filled them.  Not recursive.
 * Arguments, a state and the parts of a state tuple may be taken apart instead and built member by member: the members are the
 * same objects then, should the whole be needed elsewhere too. */
PyObject *build_value(struct call *c, struct upk_value v);
/* The container that is being filled; NULL: none. */
const struct upk_cell *build_at(const struct call *c);
/* What was made of an object that stands before the current one in the stream, borrowed. */
static inline PyObject *object_built(const struct object *o) { return o->cell.host; }
/* A module's usual keys and ints, when it goes; NULL is fine.  (text.c) */
void usual_free(struct usual *u);

/* object.c.  Make `o` (its call); new reference. */
PyObject *object_make(struct call *c, struct object *o);
/* Its items, pairs and adds: all that it has at once, where the stream puts in the last of them; only called if there are some. */
bool object_grow(struct call *c, struct object *o);
/* state.c.  Its BUILD. */
bool object_set_state(struct call *c, struct object *o);

/* exception.c.  An exception of this class by its __new__ and without an __init__ that is Python code; new reference. */
PyObject *exception_new(PyTypeObject *type, PyObject *args, PyObject *kw);

/* sound.c.  Is it safe to raise and to print?  *why: what is wrong with it, NULL nothing.  false: an exception is set. */
bool exception_sound(PyObject *object, const char **why);
/* Groups within groups; and members of all of them, each as often as it is in there. */
enum { GROUPS_MOST = 16, GROUP_MEMBERS_MOST = 4096 };
/* INVARIANT: 0 <= start <= end <= length of a str or bytes: printing reads it there, in some versions without looking. */
bool places_good(PyObject *object, PyObject *start, PyObject *end);
/* signals.c.  Does the class tell whoever catches its instances what to do, and not what went wrong?  Also what is no Exception.  false:
 * an exception is set. */
bool exception_is_signal(PyTypeObject *type, bool *is_signal);
/* written.c.  Is it short enough to be printed, with all that it shares written out?  false: an exception is set. */
bool exception_is_short(PyObject *error, bool *is_short);
/* sound.c.  Why an exception is not made of these arguments; NULL: it may be. */
const char *exception_refuses_call(PyTypeObject *type, PyObject *const *args, size_t n);
/* Why a stream may not set this attribute of an exception; NULL: it may.  `member`: what its class has of that name and sets, or NULL. */
const char *exception_refuses(PyObject *error, PyObject *key, PyObject *member, PyObject *value);
/* Is the attribute left out instead? */
bool exception_leaves_out(PyObject *error, PyObject *key);

/* bind.c.  The object of a row, borrowed from the guard or the call; NULL: refused (err of object `o`, NULL where a name stands
 * alone). */
PyObject *bind_row(struct call *c, uint32_t row, const struct object *o);
/* The same of a GLOBAL of the document. */
PyObject *bind_global(struct call *c, struct upk_cell *cell);
/* When a guard is made: room for what is bound; then rows of modules marked `import`. */
bool rows_new(struct guard *g);
bool bind_imports(struct guard *g);
/* What is bound stays bound in a guard that grants all that `from` grants. */
void rows_copy(struct guard *to, const struct guard *from);
/* When a call ends: what its find_class gave. */
void bind_end(struct call *c);
/* For a guard's tp_traverse and tp_dealloc. */
int rows_traverse(struct guard *g, visitproc visit, void *arg);
void rows_free(struct guard *g);

/* resolve.c.  What stands under names without a row, which the decoder asks for (upk_resolve_fn; the context is the call). */
bool opened_resolve(void *call, const struct upk_question *question, struct upk_answer *answer);
/* What was found then, borrowed. */
PyObject *opened_object(const struct call *c, const struct asked *asked);
/* Is the class of `o` admitted as a subclass (`subclasses of`)? */
bool opened_by_base(const struct call *c, const struct object *o);
/* Does the class inherit from bases of rows of subclasses?  *base: the place of the nearest in policy->opens; 0: from none.  false: an
 * exception is set. */
bool opened_base(const struct upk_policy *p, const PyTypeObject *type, uint32_t *base);
void opened_end(struct call *c);

/* hooks.c.  Bits enum upk_form_flag UPK_FORM_RUNS_*: hooks of the class that are Python code; false: an exception is set. */
bool hooks_of(PyTypeObject *type, unsigned *runs);
/* Their names, as a policy has them behind `runs`. */
void hooks_write(unsigned runs, char *out, size_t size);
/* What a class has under a name, borrowed, NULL nothing; and, where it is asked for, is it Python code? */
bool class_member(PyTypeObject *type, const char *name, PyObject **member, bool *python);
static inline bool is_under(PyTypeObject *type, PyObject *base) {
    return PyType_IsSubtype(type, (PyTypeObject *)base);
}

/* NULL: this CPython has none, before 3.11. */
static inline PyObject *group_base(void) {
#if PY_VERSION_HEX >= 0x030B0000
    return PyExc_BaseExceptionGroup;
#else
    return NULL;
#endif
}

static inline bool is_group(PyTypeObject *type) { return group_base() && is_under(type, group_base()); }
/* names.c.  The members of an enum by their names, borrowed; NULL without an exception: the class is no enum. */
PyObject *enum_members(PyTypeObject *type);
/* hooks.c.  Of the classes in the order of inheritance the nearest whose __init__ is C; false: an exception is set. */
bool init_of_c(PyTypeObject *type, PyTypeObject **owner);

/* ---- refusals (refused.c); all return NULL or false with RefusedError set */

PyObject *refused(struct host *h, const struct upk_error *err);
/* The class RefusedError of a module; new reference. */
PyObject *refused_class(const struct upk_py_module *definition, PyObject *base);
/* The class EmptyInputError: loops over a file's pickles end with EOFError, but must not take a pickle that was cut off for the end. */
PyObject *empty_input_class(const struct upk_py_module *definition, PyObject *refused_error);
/* An accepted document that cannot be built: `code` (UPK_ERR_UNBOUND and kin), the place of `o` (NULL: of the container that is being filled, else the root), its row's
 * names and rule, and what exactly is wrong. */
__attribute__((format(printf, 4, 5))) bool refuse_object(struct call *c, const struct object *o,
                                                         unsigned code, const char *format, ...);
/* A Python exception is set: turn it into RefusedError (class native), bounded and escaped, `from None` unless c->cause.
 * `doing` says what the host's code was doing; NULL: none ran, so a MemoryError is one of our own and stays.  What is no Exception
 * (KeyboardInterrupt) and a RefusedError of this module stay too. */
bool refuse_exception(struct call *c, const struct object *o, const char *doing);

#endif
