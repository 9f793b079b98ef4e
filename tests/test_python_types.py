#!/usr/bin/python3
"""with_types: classes that a host admits by itself, of each kind, at each protocol, and nothing beside them.

usage: test_python_types.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
"""
import datetime
import decimal
import functools
import gc
import io
import pickle
import subprocess
import sys
import threading
import typing
import weakref

import types_samples as samples
from alike import difference
from assemble import short
from guards import guard, run_by_others, sanitized
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"values_guard": "policies/values.policy", "channels_guard": "tests/policy/ok/channels.policy"}
MOST = 10000


def raised(kind, text, call, *args):
    """`call` raises exactly this, and says so."""
    try:
        got = call(*args)
    except Exception as e:
        check(type(e) is kind and text in str(e), "%s: %s, not %s: %s" % (args, type(e).__name__, kind.__name__, e))
        return e
    check(False, "%s: %r, not %s" % (args, got, kind.__name__))
    return None


def refusal(g, data, code, rule=None):
    try:
        got = g.loads(data)
    except g.RefusedError as e:
        check(e.code == code and (rule is None or e.rule == rule), "%s by %s, not %s: %s" % (e.code, e.rule, code, e))
        return str(e)
    check(False, "%r was loaded, not refused: %r" % (data, got))
    return ""


def name(module, qualname):
    return short(module) + short(qualname) + b"\x93"


def new(cls, state=None, args=b")"):
    """The stream of cls.__new__(cls) with a state, as any program could write it."""
    body = b"\x80\x04" + name(cls.__module__, cls.__qualname__) + args + b"\x81"
    return body + (b"" if state is None else pickle.dumps(state, 4)[2:-1].replace(b"\x94", b"") + b"b") + b"."


def plain(state):
    """Without frames and memo, so that it can stand within another pickle."""
    return b"".join(short(k) + b"K" + bytes([v]) for k, v in state.items())


def with_state(cls, state, how=b"}(%sub"):
    return b"\x80\x04" + name(cls.__module__, cls.__qualname__) + b")\x81" + how % plain(state) + b"."


# ---- what is admitted


def all_kinds_at_all_protocols(v):
    values = samples.values()
    g = v.with_types(*(value for value in vars(samples).values()
                       if isinstance(value, type) and value.__module__ == samples.__name__ and value not in samples.REFUSED),
                     samples.Outer.Inner)
    dumped = 0
    for value in values:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            try:
                data = pickle.dumps(value, protocol)
            except (TypeError, pickle.PicklingError):
                check(protocol < 2, "%r cannot be pickled" % (value,))  # slots
                continue
            if protocol < 2 and type(value) is samples.Newly:
                refusal(g, data, "R223")  # such streams make it without its own __new__
                continue
            dumped += 1
            try:
                made = g.loads(data)
                wanted = pickle.loads(data)
                found = difference(made, wanted)
                check(found is None, "%r, protocol %d: %s" % (value, protocol, found))
                if isinstance(value, samples.enum.Enum):
                    check(made is wanted, "%r, protocol %d: another member" % (value, protocol))
            except g.RefusedError as e:
                check(False, "%r, protocol %d: %s" % (value, protocol, e))
            refusal(v, data, "R201")
    check(dumped > 200, "only %d were looked at" % dumped)
    both = pickle.dumps([samples.Node(1), datetime.date(2024, 2, 29), {"n": samples.Mode.FAST}])
    check(difference(g.loads(both), pickle.loads(both)) is None, "beside what the policy grants")


def members_have_each_spelling(v):
    """Whichever version of Python wrote them."""
    g = v.with_types(samples.Mode, samples.Perm, samples.Planet, samples.Level)
    mode, perm = name(samples.__name__, "Mode"), name(samples.__name__, "Perm")
    four = b"\x80\x04"
    red, write = name(samples.__name__, "Perm.R"), name(samples.__name__, "Perm.W")
    for data, wanted in ((mode + short("fast") + b"\x85R", samples.Mode.FAST), (mode + b"N\x85R", samples.Mode.NOTHING),
                         (name(samples.__name__, "Mode.QUICK"), samples.Mode.FAST),
                         (name("builtins", "getattr") + mode + short("SLOW") + b"\x86R", samples.Mode.SLOW),
                         (perm + b"K\x06\x85R", samples.Perm.R | samples.Perm.W), (perm + b"K\x00\x85R", samples.Perm(0)),
                         (name("_operator", "or_") + red + write + b"\x86R", samples.Perm.R | samples.Perm.W),
                         (name("operator", "or_") + name("operator", "or_") + red + write + b"\x86R" + perm + b"K\x01\x85R\x86R",
                          samples.Perm(7))):
        check(g.loads(four + data + b".") is wanted, "%r" % data)
    for member in (name(samples.__name__, "Mode.FAST"), name(samples.__name__, "Mode.slower"), name("builtins", "getattr") + mode + short("SLOW") + b"\x86R"):
        text = refusal(v, four + member + b".", "R201")
        check("with_types(%s.Mode) gives a Policy that admits its members" % samples.__name__ in text and "{ const Mode." in text, text)
    refusal(g, four + mode + short("slow") + b"\x85R.", "R205", "with_types:1")
    refusal(g, four + perm + b"K\x08\x85R.", "R205", "with_types:2")
    refusal(g, four + mode + b"K\x02K\x03\x86R.", "R205", "with_types:1")
    text = refusal(g, four + name(samples.__name__, "Mode.name") + b".", "R201")
    check("change: give with_types a `types_samples::Mode` that has the member `name`, if it is one" in text and "grant:" not in text, text)
    refusal(g, four + name(samples.__name__, "Planet") + b"K\x01\x85R.", "R223", "with_types:3")
    refusal(g, four + name("operator", "or_") + red + b"K\x01\x86R.", "R205", "with_types:2")


def fields_are_the_state(v):
    g = v.with_types(samples.Node, samples.Point, samples.Plain)
    check(g.loads(with_state(samples.Node, {"next": 1})) == samples.Node(1), "the field")
    refusal(g, with_state(samples.Node, {"next": 1, "more": 2}), "R205", "with_types:1")
    refusal(g, with_state(samples.Node, {"Next": 1}), "R205", "with_types:1")
    refusal(g, with_state(samples.Node, {}), "R205", "with_types:1")
    refusal(g, with_state(samples.Node, {"next": 1, "__class__": 2}), "R205", "with_types:1")
    refusal(g, new(samples.Node), "R205", "with_types:1")
    refusal(g, new(samples.Node, args=b"K\x01\x85"), "R205", "with_types:1")
    refusal(g, b"\x80\x04" + name(samples.__name__, "Node") + b")R.", "R205", "with_types:1")
    point = g.loads(with_state(samples.Point, {"x": 1, "y": 2, "made": 3}))
    check(vars(point) == {"x": 1, "y": 2, "made": 3}, "what __init__ leaves out may be absent")
    check(g.loads(with_state(samples.Point, {"x": 1, "y": 2, "made": 3, "late": 4})).late == 4, "and may be there")
    refusal(g, with_state(samples.Point, {"x": 1, "y": 2}), "R205", "with_types:2")
    refusal(g, with_state(samples.Point, {"x": 1, "y": 2, "made": 3, "COUNT": 4}), "R205", "with_types:2")
    refusal(g, with_state(samples.Point, {"x": 1, "y": 2, "made": 3, "scale": 4}), "R205", "with_types:2")
    check(vars(g.loads(with_state(samples.Plain, {"any": 1}))) == {"any": 1}, "any attributes")
    refusal(g, b"\x80\x04" + name(samples.__name__, "Plain") + b")\x81}K\x01K\x02sb.", "R205", "with_types:3")
    refusal(g, b"\x80\x04" + name(samples.__name__, "Plain") + b")\x81K\x01b.", "R205", "with_types:3")
    hostile = with_state(samples.Plain, {"__class__": 1, "__dict__": 2})
    try:
        check(type(g.loads(hostile)) is samples.Plain, "another class")
    except g.RefusedError:
        pass


def shared_and_cyclic(v):
    g = v.with_types(samples.Node, samples.List)
    one, many = samples.Node(), samples.List()
    one.next = one
    many += [many, one, one]
    data = pickle.dumps([many, many])
    check(difference(g.loads(data), pickle.loads(data)) is None, "cycles")


def ways_to_load(v):
    g = v.with_types(samples.Node)
    data = pickle.dumps(samples.Node(5))
    check(g.check(data) is None, "check")
    check(g.load(io.BytesIO(data)) == samples.Node(5), "load")
    check(g.Unpickler(io.BytesIO(data)).load() == samples.Node(5), "Unpickler")
    raised(v.RefusedError, "Node", v.Unpickler(io.BytesIO(data)).load)
    check("with types" in repr(g) and "with types" not in repr(v.with_types.__self__), "%r" % g)
    check(type(g) is type(v.with_types.__self__), "another type")


# ---- what is not


def no_classes(v):
    for wrong in (1, "types_samples.Node", None, samples.Node(), len, lambda: 0, typing.List[int], [samples.Node]):
        raised(TypeError, "takes classes", v.with_types, wrong)
        raised(TypeError, "takes classes", v.with_types, samples.Node, wrong)
    raised(TypeError, "at least one", v.with_types)
    try:
        v.with_types(samples.Node, types=[samples.Plain])
        check(False, "a keyword was taken")
    except TypeError:
        check(True, "")


def classes_for_a_policy(v):
    for cls in samples.REFUSED:
        raised(ValueError, "with_types() cannot admit", v.with_types, samples.Node, cls)
    for cls in (int, object, dict, type, Exception, decimal.Decimal, datetime.datetime, functools.partial, type(len)):
        raised(ValueError, "class of C", v.with_types, cls)
    for cls in (subprocess.Popen, threading.Thread, pickle._Unpickler):
        raised(ValueError, "cannot admit", v.with_types, cls)
    raised(ValueError, "at most", v.with_types, *(type("C%d" % i, (), {}) for i in range(MOST + 1)))
    many = [type("C%d" % i, (), {"__module__": "many"}) for i in range(MOST)]
    g = v.with_types(*many)
    check(type(g.loads(new(many[-1]))) is many[-1], "the last of many")
    check(g.with_types(many[5]).check(new(many[5])) is None, "none is new")
    raised(ValueError, "at most", g.with_types, samples.Node)


def typed_roots(v, channels):
    raised(ValueError, "no type `any'", channels.other.with_types, samples.Node)
    g = channels.values.with_types(samples.Node)
    data = pickle.dumps(samples.Node(1), 4)
    check(g.loads(data) == samples.Node(1), "a channel")
    refusal(channels.values, data, "R201")
    refusal(channels.own, data, "R201")


def exactly_these(v):
    """Neither what they are made of, nor what is made of them, nor what stands in them."""
    g = v.with_types(samples.Point, samples.Outer.Inner)
    refusal(g, pickle.dumps(samples.Derived(1), 4), "R201")
    for qualname in ("Point.__init__", "Point.__init__.__globals__", "Outer", "Outer.Inner.__class__", "Poin", "Points", "ran"):
        data = b"\x80\x04" + name(samples.__name__, qualname)
        for use in (b"", b")R", b")\x81"):
            try:
                g.loads(data + use + b".")
                check(False, "%s was taken" % qualname)
            except v.RefusedError:
                check(True, "")
    refusal(g, b"\x80\x04" + name(samples.__name__, "Point") + b".", "R212")  # the class as a value
    refusal(g, with_state(samples.Point, {"x": 1, "y": 2, "made": 3})[:-1].replace(b"K\x01", name(samples.__name__, "Point")) + b".", "R205")
    before = dict(vars(samples.Point))
    check(g.loads(pickle.dumps(samples.Point(1))) == samples.Point(1) and dict(vars(samples.Point)) == before, "the class has changed")


def two_of_one_name(v):
    def make():
        class Twin:
            pass
        return Twin

    one, other = make(), make()
    raised(ValueError, "two classes", v.with_types, one, other)
    g = v.with_types(one, one)
    raised(ValueError, "another class of that name", g.with_types, other)
    check(g.with_types(one).loads(new(one)).__class__ is one, "the same again")
    check(type(g.loads(new(one))) is one and type(v.with_types(other).loads(new(one))) is other, "a local class")


def additions_chain(v):
    first = v.with_types(samples.Node)
    second = first.with_types(samples.Mode, samples.Node)
    third = second.with_types(samples.Plain)
    node, mode, other = (pickle.dumps(value, 4) for value in (samples.Node(1), samples.Mode.FAST, samples.Plain(a=1)))
    check(third.loads(node) == samples.Node(1) and third.loads(mode) is samples.Mode.FAST and third.loads(other).a == 1, "all of them")
    check(second.loads(node) == samples.Node(1) and second.loads(mode) is samples.Mode.FAST, "two of them")
    refusal(second, other, "R201")
    refusal(first, mode, "R201")
    refusal(v, node, "R201")
    del first, second
    gc.collect()
    check(third.loads(node) == samples.Node(1) and third.loads(mode) is samples.Mode.FAST, "without those before")


def what_a_policy_grants_stays(v):
    """A class that has a row keeps it."""
    import fractions

    g = v.with_types(fractions.Fraction) if fractions.Fraction.__reduce__ is object.__reduce__ else v.with_types(samples.Node)
    data = pickle.dumps([fractions.Fraction(1, 3), datetime.timedelta(1)])
    check(g.loads(data) == v.loads(data) == pickle.loads(data), "what the policy grants")

    # So it is what is advised where objects are made otherwise than the class says.
    marked = samples.Marked(1, 2)
    check(v.with_types(samples.Marked).loads(pickle.dumps(marked)) == marked, "a namedtuple without attributes")
    marked.note = "n"
    for data, code in ((pickle.dumps(marked), "R209"), (b"\x80\x04" + name(samples.__name__, "Planet") + b"K\x01K\x02\x86\x81.", "R205"),
                       (b"\x80\x04" + name(samples.__name__, "Marked") + b"K\x01\x85\x81.", "R205")):
        text = refusal(v.with_types(samples.Marked, samples.Planet), data, code)
        check("change: a row for `types_samples::" in text and "in the policy, which goes before that of with_types, if this" in text, text)

    class Impostor:
        pass

    Impostor.__module__, Impostor.__qualname__ = "collections", "UserDict"
    v.loads(pickle.dumps(__import__("collections").UserDict(a=1)))
    raised(ValueError, "another class of that name", v.with_types, Impostor)


# ---- the class itself


def the_object_itself_is_bound(v):
    kept, modes = samples.Node, samples.Mode
    g = v.with_types(kept, modes)
    node, mode = pickle.dumps(kept(1), 4), b"\x80\x04" + name(samples.__name__, "Mode.FAST") + b"."
    try:
        samples.Node, samples.Mode = samples.Plain, samples.Perm
        check(type(g.loads(node)) is kept and g.loads(mode) is modes.FAST, "bound anew")
        del samples.Node, samples.Mode
        check(type(g.loads(node)) is kept and g.loads(mode) is modes.FAST, "looked for")
        module = sys.modules.pop(samples.__name__)
        check(type(g.loads(node)) is kept and g.loads(mode) is modes.FAST, "its module was looked for")
        sys.modules[samples.__name__] = module
    finally:
        samples.Node, samples.Mode = kept, modes


def hooks_are_those_it_had(v):
    class Later:
        pass

    g = v.with_types(samples.Hooked, Later)
    del samples.ran[:]
    made = g.loads(pickle.dumps(samples.hooked("s"), 4))
    check(made.given == "s" and "Hooked.__setstate__" in samples.ran, "its hooks: %s" % samples.ran)
    check(len(g.loads(pickle.dumps({samples.hooked("s")}, 4))) == 1, "in a set")
    check(type(g.loads(new(Later))) is Later, "without hooks")
    Later.__setstate__ = lambda self, state: samples.ran.append("Later.__setstate__")
    refusal(g, new(Later), "R222", "with_types:2")
    check("Later.__setstate__" not in samples.ran, "a hook that was not there has run")


def members_of_its_own(v):
    """Items by Python code have no word in a policy."""
    class Appends(list):
        def append(self, item):
            samples.ran.append("Appends.append")

        def extend(self, items):
            samples.ran.append("Appends.extend")

    del samples.ran[:]
    refusal(v.with_types(Appends), b"\x80\x04" + name(Appends.__module__, Appends.__qualname__) + b")\x81K\x01a.", "R222")
    check(not samples.ran, "%s" % samples.ran)


def attributes_alone_are_read(v):
    """Nothing of the class is called when it is named."""
    called = []

    class Meta(type):
        def __call__(cls, *args):
            called.append("__call__")
            return super().__call__(*args)

        def __hash__(cls):
            called.append("__hash__")
            return 1

        def __eq__(cls, other):
            called.append("__eq__")
            return True

    class Named(metaclass=Meta):
        def __init__(self):
            called.append("__init__")

        def __init_subclass__(cls):
            called.append("__init_subclass__")

    class Other(metaclass=Meta):
        pass

    g = v.with_types(Named, Other).with_types(samples.Node, Named)
    check(type(g.loads(new(Named))) is Named and type(g.loads(new(Other))) is Other, "two classes that say they are equal")
    check(not called, "%s" % called)

    class Raises(type):
        @property
        def __module__(cls):
            raise RuntimeError("not this one")

    raised(RuntimeError, "not this one", v.with_types, Raises("Broken", (), {}))


# ---- what stays behind


def nothing_stays_behind(v):
    class Gone:
        pass

    g, data = v.with_types(Gone, samples.Mode), new(Gone)
    Gone.guard = g
    check(type(g.loads(data)) is Gone, "it is there")
    seen = weakref.ref(Gone)
    del g, Gone
    gc.collect()
    check(seen() is None, "a cycle of class and policy stays")

    def once():
        v.with_types(samples.Node, samples.Point, samples.Mode, samples.Plain).loads(pickle.dumps(samples.Node(1)))
        for wrong in (samples.Reduces, 1):
            try:
                v.with_types(samples.Node, samples.Mode, wrong)
            except (TypeError, ValueError):
                pass

    def grown():
        blocks = sys.getallocatedblocks()
        for _ in range(100):
            once()
        gc.collect()
        return sys.getallocatedblocks() - blocks

    grown()
    watched = [samples.Node, samples.Mode, samples.Mode.FAST, samples.Mode._member_map_, samples.Point.__dataclass_fields__, v]
    before = [sys.getrefcount(o) for o in watched]
    # Python's own free lists grow at times; what leaks grows each time.
    least = min(grown() for _ in range(5))
    after = [sys.getrefcount(o) for o in watched]
    check(before == after, "references: %s, then %s" % (before, after))
    check(least < 50, "%d blocks stay of a hundred calls" % least)


def threads_do_not_meet(v):
    data = [pickle.dumps(value, 4) for value in (samples.Node(1), samples.Plain(a=1), samples.Mode.SLOW)]
    classes = [samples.Node, samples.Plain, samples.Mode]
    wrong = []

    def work(seed):
        for i in range(200):
            mine = (seed + i) % 3
            g = v.with_types(classes[mine])
            for j in range(3):
                try:
                    made = g.loads(data[j])
                    if j != mine or type(made) is not classes[mine]:
                        wrong.append((mine, j, made))
                except v.RefusedError as e:
                    if j == mine or e.code != "R201":
                        wrong.append((mine, j, e))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not wrong, "%d: %s" % (len(wrong), wrong[:3]))


def memory_may_end(v):
    """At each allocation in turn, where this Python can say so."""
    try:
        import _testcapi
        fail, end = _testcapi.set_nomemory, _testcapi.remove_mem_hooks
    except (ImportError, AttributeError):
        return
    if sanitized():
        return
    classes = (samples.Node, samples.Mode, samples.Pair, samples.Complex)
    data = pickle.dumps(samples.Node(1))
    for start in range(2000):
        g = None
        fail(start, start + 1)
        try:
            g = v.with_types(*classes)
        except MemoryError:
            pass
        finally:
            end()
        if g is not None:
            check(g.loads(data) == samples.Node(1), "allocation %d" % start)
            if start > 400:
                break
    check(start > 20, "only %d allocations" % start)


def main():
    build = sys.argv[1]
    v, channels = guard(build, "values_guard"), guard(build, "channels_guard")
    tally.run((all_kinds_at_all_protocols, members_have_each_spelling, fields_are_the_state, shared_and_cyclic, ways_to_load, no_classes,
               classes_for_a_policy, functools.partial(typed_roots, channels=channels), exactly_these, two_of_one_name, additions_chain,
               what_a_policy_grants_stays, the_object_itself_is_bound, hooks_are_those_it_had, members_of_its_own,
               attributes_alone_are_read, nothing_stays_behind, threads_do_not_meet, memory_may_end), v)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
