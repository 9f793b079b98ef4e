"""Are two values of Python alike: of the same types, members, order and identities, as pickle would take them apart?"""
import copyreg
import struct

SCALARS = (type(None), bool, int, str, bytes, complex, type, type(Ellipsis), type(NotImplemented), range)
HOOKS = (type(len), type(lambda: 0), type({}.keys), type(dict.keys))


def parts_of(value):
    """What pickle would write of an object, and in which order."""
    reduced = copyreg.dispatch_table[type(value)](value) if type(value) in copyreg.dispatch_table else value.__reduce_ex__(4)
    if isinstance(reduced, str):
        return [reduced]
    if isinstance(value, BaseException) and reduced[2:] == ({},):
        reduced = reduced[:2]  # a dict that was looked at
    return [list(part) if place > 2 and part is not None else part for place, part in enumerate(reduced)]


def difference(a, b):
    """Where they differ, or None."""
    there, back, work, alive = {}, {}, [(a, b, "$")], []
    while work:
        x, y, path = work.pop()
        if type(x) is not type(y):
            return "%s: %s and %s" % (path, type(x), type(y))
        if isinstance(x, float) and type(x) is float:
            if struct.pack("d", x) != struct.pack("d", y):
                return "%s: %r and %r" % (path, x, y)
            continue
        if type(x) is complex:
            work += [(x.real, y.real, path + ".real"), (x.imag, y.imag, path + ".imag")]
            continue
        if type(x) in SCALARS or isinstance(x, type) or isinstance(x, HOOKS):
            if x is not y and x != y:
                return "%s: %.80r and %.80r" % (path, x, y)
            continue
        if x is y:
            continue  # an object of the host
        if id(x) in there or id(y) in back:
            if there.get(id(x)) != id(y) or back.get(id(y)) != id(x):
                return "%s: shared with something else" % path
            continue
        if not (type(x) in (tuple, frozenset) and len(x) == 0):
            there[id(x)], back[id(y)] = id(y), id(x)
        alive += [x, y]
        if type(x) in (list, tuple):
            left, right = list(x), list(y)
        elif type(x) is dict:
            left, right = [p for kv in x.items() for p in kv], [p for kv in y.items() for p in kv]
        elif type(x) in (set, frozenset):
            left, right = sorted(x, key=repr), sorted(y, key=repr)
        elif type(x) is bytearray:
            left, right = [bytes(x)], [bytes(y)]
        elif type(x).__name__ in ("ndarray", "void") and x.dtype.names:
            left, right = [x.dtype, x.tolist()], [y.dtype, y.tolist()]  # numpy leaves what is between fields to chance
        else:
            left, right = parts_of(x), parts_of(y)
        if len(left) != len(right):
            return "%s: %d and %d parts: %.200r and %.200r" % (path, len(left), len(right), x, y)
        work += [(l, r, "%s[%d]" % (path, i)) for i, (l, r) in reversed(list(enumerate(zip(left, right))))]
        alive += [left, right]
    return None
