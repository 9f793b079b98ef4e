/* What the parts of decode_exception share.
 *
 * Layer: private to ladder.c and described.c, over bind.h.
 */
#ifndef UPK_LADDER_H
#define UPK_LADDER_H

#include "bind.h"

struct descriptor { /* all borrowed */
    PyObject *module, *qualname, *message, *denials;
    PyObject *scalars, *members; /* NULL: none */
};

struct ladder {
    struct host *host;
    PyObject *rich, *words;                 /* borrowed: the two streams; NULL: not given */
    PyObject *by_exception, *by_descriptor; /* borrowed: their policies */
    PyObject *stand_in;                     /* borrowed: class for what cannot be made */
    size_t members_left;                    /* of groups, that may yet be made by the descriptor */
};

/* Forgets an Exception that is set; others (KeyboardInterrupt) stay: false. */
bool forgiven(void);
PyObject *refused_words(const struct ladder *l, const char *words);

/* May a host be given one to raise?  No signal, nor what says that this guard has refused something.  false: an exception is set. */
bool is_harmless(const struct ladder *l, PyTypeObject *type, bool *harmless);

/* described.c.  The policy has judged it already; this holds whatever its author wrote there. */
bool descriptor_read(struct descriptor *d, PyObject *value);
/* An exception of the class that is described, or a stand-in; NULL with an exception set. */
PyObject *described(struct ladder *l, const struct descriptor *d, unsigned depth);

#endif
