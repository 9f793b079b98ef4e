#!/usr/bin/python3
"""The path of a refusal leads to the value: checked on random values that hold one thing which is not granted.

usage: test_places.py BUILD       (from the top folder)

A stream that is cut off says no more than `$`.
Last line: N passed, N failed.
"""
import copyreg
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import types

from tally import Tally

VALUES, DEPTH = 150, 6

POLICY = """policy places 1;
opcodes core, inst, persid;
module places {
    class { Plain, Slots } new() state any because "test";
    class Call call(a: any, b?: any) state? any because "test";
    class Keywords new() kw { *: any } because "test";
    class List new() items any state? any because "test";
    class Dict new() pairs any: any state? any because "test";
    class Tuple new(of: any) because "test";
}
root any;
"""

# What no pickler of today writes: opcodes of Python 2, persistent ids, and a value that does not become part of the result.
STREAMS = [
    (b"(cplaces\nCall\n(cplaces\nNo\noo.", "$.args[0]"),
    (b"((iplaces\nNo\niplaces\nCall\n.", "$.args[0]"),
    (b"\x80\x02cplaces\nNo\nQ.", "$.id"),
    (b"]q\0(h\0cplaces\nNo\ne.", "$[1]"),
    (b"(]q\0(K\1K\2ecplaces\nNo\nt.", "$[1]"),
    (b"N(K\1cplaces\nNo\n1.", "$"),
    (b"Ncplaces\nNo\n0.", "$"),
    (b"Ncplaces\nNo\n.", "$"),
]

places = sys.modules["places"] = types.ModuleType("places")


def public(cls):
    cls.__module__, cls.__qualname__ = "places", cls.__name__
    setattr(places, cls.__name__, cls)
    return cls


@public
class Plain:
    pass


@public
class Slots:
    __slots__ = ("a",)

    def __reduce_ex__(self, protocol):
        return copyreg.__newobj__, (Slots,), (None, {"a": self.a})


@public
class Call:
    def __init__(self, *arguments):
        self.arguments = arguments

    def __reduce__(self):
        return Call, self.arguments


@public
class Keywords:
    def __new__(cls, **keywords):
        return super().__new__(cls)

    def __getnewargs_ex__(self):
        return (), self.keywords

    def __getstate__(self):
        return None


@public
class List(list):
    pass


@public
class Dict(dict):
    pass


@public
class Tuple(tuple):
    pass


@public
class No:
    """Not granted."""

    def __getstate__(self):
        return None


@public
class NoCall:
    def __reduce__(self):
        return NoCall, (1, [2])


@public
class Outer:
    pass


class Inner:
    pass


Inner.__module__, Inner.__qualname__ = "places", "Outer.Inner"
Outer.Inner = Inner


def wrap_list(r, inner, fill):
    before = fill()
    return before + [inner] + fill(), "[%d]" % len(before)


def wrap_tuple(r, inner, fill):
    value, step = wrap_list(r, inner, fill)
    return tuple(value), step


def wrap_dict(r, inner, fill):
    value = {"k%d" % i: v for i, v in enumerate(fill())}
    key, step = r.choice([("name", ".name"), ("odd name", '["odd name"]'), (12, "[12]"), ((1, 2), "[?]")])
    value[key] = inner
    value.update(("m%d" % i, v) for i, v in enumerate(fill()))
    return value, step


def wrap_key(r, inner, fill):
    value = {"k%d" % i: v for i, v in enumerate(fill())}
    step = ".keys[%d]" % len(value)
    value[inner] = 1
    return value, step


def wrap_set(kind):
    def wrap(r, inner, fill):
        value = kind([inner, 1, "two", (3, 4)])
        return value, "[%d]" % list(value).index(inner)
    return wrap


def wrap_plain(r, inner, fill):
    value = Plain()
    value.__dict__.update(wrap_dict(r, inner, fill)[0])
    names = [n for n in value.__dict__ if value.__dict__[n] is inner]
    if not isinstance(names[0], str):
        value.__dict__ = {"x": fill(), "attribute": inner}
        names = ["attribute"]
    return value, ".state" + ("." + names[0] if " " not in names[0] else '["%s"]' % names[0])


def wrap_slots(r, inner, fill):
    value = Slots()
    value.a = inner
    return value, ".state[1].a"


def wrap_call(r, inner, fill):
    return (Call(inner), ".args[0]") if r.random() < 0.5 else (Call(fill(), inner), ".args[1]")


def wrap_keywords(r, inner, fill):
    value = Keywords()
    value.keywords = {"size": fill(), "of": inner}
    return value, ".kwargs.of"


def wrap_own_list(r, inner, fill):
    value, step = wrap_list(r, inner, fill)
    return List(value), step


def wrap_own_dict(r, inner, fill):
    value, step = r.choice((wrap_dict, wrap_key))(r, inner, fill) if is_hashable(inner) else wrap_dict(r, inner, fill)
    return Dict(value), step


def wrap_own_tuple(r, inner, fill):
    value, step = wrap_list(r, inner, fill)
    return Tuple(value), ".args[0]" + step


ANY = (wrap_list, wrap_tuple, wrap_dict, wrap_plain, wrap_slots, wrap_call, wrap_keywords, wrap_own_list, wrap_own_dict,
       wrap_own_tuple)
HASHABLE = (wrap_key, wrap_set(set), wrap_set(frozenset))


def is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def shared(r):
    """Values to stand beside: fresh ones, and one that comes again from the memo."""
    known = [[1, 2], {"a": 1}, (5, 6), "text", Call(1, {2: 3}), Plain()]

    def fill():
        fresh = [7, None, 1.5, "word", (1, 2, 3), [], {}, b"bytes", [[4]], 1 << 70, Call([8]), List([9]), Keywords]
        fresh.pop()  # a class is no value of `any`
        return [r.choice(known + fresh) for _ in range(r.choice((0, 0, 1, 2, 3, 5)))]
    return fill


def make(r, protocol):
    """(value, path)"""
    value = r.choice((No, No(), NoCall(), Inner, Inner()))
    path, fill = "", shared(r)
    for _ in range(r.randrange(DEPTH + 1)):
        wraps = [w for w in ANY + (HASHABLE if is_hashable(value) else ())
                 if not (protocol < 2 and w in (wrap_keywords, wrap_slots))]
        value, step = r.choice(wraps)(r, value, fill)
        path = step + path
    return value, "$" + path


def refusals(build, folder, streams):
    """Path of each refusal, as one run says them."""
    paths = []
    with open(os.path.join(folder, "places.policy"), "w", encoding="ascii") as file:
        file.write(POLICY)
    for i, stream in enumerate(streams):
        paths.append(os.path.join(folder, "%05d.pkl" % i))
        with open(paths[-1], "wb") as file:
            file.write(stream)
    done = subprocess.run([os.path.join(build, "policyc"), "try", os.path.join(folder, "places.policy"), "--json-lines",
                           "--files-from", "-"], input="\n".join(paths).encode(), stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(found, path, protocol):
    """Below protocol 2 the members of a tuple's subclass may be its arguments or its one argument: only the object is named."""
    return found == path or (protocol < 2 and found.endswith(".args") and path.startswith(found + "[0]["))


def main():
    build, tally, r = sys.argv[1], Tally(), random.Random(2811)
    cases = [(protocol, *make(r, protocol)) for protocol in range(6) for _ in range(VALUES)]
    streams = [pickle.dumps(value, protocol) for protocol, value, _ in cases] + [stream for stream, _ in STREAMS]
    cases += [(2, None, path) for _, path in STREAMS]
    with tempfile.TemporaryDirectory(dir=build) as folder:
        cut = [s[:-1] for s in streams[::7] if s[2:3] != b"\x95"]  # a frame would say that it is cut
        verdicts = refusals(build, folder, streams + cut)
    tally.check(len(verdicts) == len(streams) + len(cut) and cut, "%d verdicts" % len(verdicts))
    for (protocol, value, path), stream, verdict in zip(cases, streams, verdicts):
        tally.check(verdict.get("code") == "R201" and same(verdict["path"], path, protocol),
                    "protocol %d, %r: expected %s, found %r" % (protocol, stream, path, verdict))
    for verdict in verdicts[len(streams):]:
        tally.check(verdict.get("code") == "R201" and verdict["path"] == "$", "cut: %r" % verdict)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
