#!/usr/bin/python3
"""Rows become objects of the process, and objects are made: what may be bound, which code may run, and whose objects may change.

Each rule is shown with what breaks it.  Classes: host_samples.py, under tests/policy/hosts.policy.

usage: test_python_objects.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import contextlib
import gc
import importlib
import io
import os
import pickle
import sys
import tempfile
import threading
import traceback
import types

import host_samples as samples
from assemble import assemble, call, new, ref
from guards import guard, run_by_others
from tally import Tally

tally = Tally()
check = tally.check
H = "host_samples::"


def plain(**state):
    return new(H + "Plain", state=[state] if state else None)


class Host:
    """A fresh guard, none of whose rows is bound: it is made from a copy of the module."""

    def __init__(self, module):
        self.module = module
        self.fresh()

    def fresh(self):
        """A guard that knows nothing yet."""
        class Unknown:
            pass
        self.policy = self.module.with_types(Unknown)

    def loads(self, value, protocol=4, **options):
        data = value if isinstance(value, bytes) else assemble(value, protocol)
        return self.policy.loads(data, **options)

    def refusal(self, value, code, *words, **options):
        """Is it refused with that code, saying so, and without running any hook?"""
        del samples.ran[:]
        try:
            made = self.loads(value, **options)
        except self.module.RefusedError as error:
            check(error.code == code, "%s, not %s: %s" % (error.code, code, error))
            for word in words:
                check(word in str(error), "`%s' is not said: %s" % (word, error))
            check(error.__cause__ is None and error.__context__ is None, "it comes from %r" % error.__context__)
            check(not samples.ran, "%s ran" % samples.ran)
            return error
        check(False, "%r is not refused (%s)" % (made, words))
        return None


# ---- T3.1: states are copied


def states_are_copied(h):
    def twice(name):
        """Two objects of a class with one dict as their state."""
        one = b"\x8c\x0chost_samples\x8c" + bytes([len(name)]) + name.encode() + b"\x93)\x81"
        return b"\x80\x04(" + one + b"}\x94\x8c\x01a]\x94sb" + one + b"h\x00b" + b"l."

    for name in ("Plain", "Keeps", "Other"):
        first, second = h.loads(twice(name))
        check(first.__dict__ == {"a": []} == second.__dict__, "%s: %s" % (name, first.__dict__))
        first.b = 1
        check(not hasattr(second, "b"), name + ": one dict for two objects")
        check(first.a is second.a, name + ": what is shared in a state is no longer shared")
    first, second = h.loads(b"\x80\x04(" + b"\x8c\x0chost_samples\x8c\x0aKeepsParts\x93\x94)\x81}\x94N\x86\x94b"
                            + b"h\x00)\x81h\x02b" + b"l.")
    first.parts[0]["x"] = 1
    check(second.parts == ({}, None), "a dict in two states: %r" % (second.parts,))
    listed, state = h.loads(b"\x80\x04(" + b"\x8c\x0chost_samples\x8c\x0aKeepsParts\x93)\x81](K\x01e\x94b" + b"h\x00l.")
    listed.parts.append(2)
    check(state == [1], "a list of the value is the object's: %r" % state)
    for shared in (b"\x96\x01\0\0\0\0\0\0\0x\x94", b"\x8f\x94(K\x01\x90"):
        state, holder = h.loads(b"\x80\x05(" + shared + b"\x8c\x0chost_samples\x8c\x0aKeepsParts\x93)\x81h\x00b" + b"l.")
        check(state == holder.parts and state is not holder.parts, "a %s of the value is the object's" % type(state))
    items, holder = h.loads(b"\x80\x04(" + b"\x8c\x0chost_samples\x8c\x04Pool\x93)R\x94"
                            + b"\x8c\x0chost_samples\x8c\x0aKeepsParts\x93)\x81h\x00b" + b"l.")
    check(type(items) is samples.Pool and holder.parts is items, "an object in a state is another one: %r" % holder.parts)


# ---- T3.2: objects of the host stay as they are


def others_objects_stay(h):
    live = samples.Singleton()
    live.secret = 1
    check(h.loads(new(H + "Singleton")) is live, "another singleton")
    h.refusal(new(H + "Singleton", state=[{"secret": 2}]), "R223", "others hold")
    check(vars(live) == {"secret": 1}, "the host's object has changed: %s" % vars(live))
    lists = samples.SingletonList()
    lists.append(1)
    h.refusal(new(H + "SingletonList", items=[2]), "R223", "others hold")
    check(lists == [1], "the host's list has changed: %s" % lists)
    h.refusal(call(H + "returns", "plain", state=[{"a": 1}]), "R223", "others hold")
    check(not vars(samples.RETURNED["plain"]), "the host's object has changed")
    check(h.loads(call(H + "returns", "plain")) is samples.RETURNED["plain"], "another object")
    samples.Singleton.one = samples.SingletonList.one = None


def results_are_instances(h):
    h.refusal(call(H + "returns", "int"), "R223", "returned a int")
    h.refusal(call(H + "returns", "class"), "R223", "returned a type")
    check(type(h.loads(call(H + "returns", "other"))) is samples.Other, "an instance of a subclass")
    h.refusal(new(H + "Foreign"), "R223", "returned a Plain")
    h.refusal(new(H + "Narrowed"), "R222", "runs __eq__")


# ---- T3.3: hooks


def hooks_are_named(h):
    for name, hook in (("New", "__new__"), ("Del", "__del__"), ("Setstate", "__setstate__"), ("Setattr", "__setattr__"),
                       ("Hash", "__hash__"), ("Eq", "__eq__"), ("Inherits", "__eq__"), ("Odd", "__hash__"), ("Wrapped", "__setstate__")):
        h.refusal(new(H + name), "R222", "runs " + hook)
        h.refusal(new(H + name, state=[{"a": 1}]), "R222", "runs " + hook)
    for name, method in (("Appends", "append"), ("Extends", "extend")):
        h.refusal(call(H + name, items=[1]), "R222", "its own " + method)
    h.refusal(call(H + "Items", pairs=[(1, 2)]), "R222", "its own __setitem__")
    h.refusal(call(H + "Adds"), "R222", "its own add")


def hooks_that_come_later_are_seen(h):
    """A class that was bound and gets a hook is looked at anew."""
    check(vars(h.loads(new(H + "Later", state=[{"a": 1}]))) == {"a": 1}, "Later")
    for hook in ("__setstate__", "__eq__", "__del__", "__new__"):
        setattr(samples.Later, hook, lambda self, *rest: samples.ran.append("later"))
        h.refusal(new(H + "Later", state=[{"a": 1}]), "R222", "runs " + hook)
        delattr(samples.Later, hook)
        if hook == "__eq__":
            samples.Later.__hash__ = object.__hash__
        if hook == "__new__":
            samples.Later.__new__ = object.__new__
    check(vars(h.loads(new(H + "Later", state=[{"a": 1}]))) == {"a": 1}, "Later, as it was")


def states_run_nothing(h):
    """Attributes and slots are set without code of the class."""
    del samples.ran[:]
    made = h.loads(new(H + "Slots", state=[(None, {"a": 1, "b": [2]})]))
    check((made.a, made.b) == (1, [2]), "slots")
    made = h.loads(new(H + "SlotsAndDict", state=[({"c": 3}, {"a": 1})]))
    check((made.a, vars(made)) == (1, {"c": 3}), "slots and a dict")
    made = h.loads(new(H + "Frozen", state=[{"a": 1}]))
    check(vars(made) == {"a": 1}, "frozen")
    made = h.loads(new(H + "Property", state=[({"b": 5, "c": 6}, {"a": 1})]))
    check((made.a, made.__dict__) == (1, {"b": 5, "c": 6}), "attributes that a property hides")
    made = h.loads(new(H + "Attributes", state=[{"a": 1}]))
    check(vars(made) == {"a": 1}, "__getattr__")
    check(not samples.ran, "%s ran" % samples.ran)
    h.refusal(new(H + "Property", state=[(None, {"b": 5})]), "R223", "b: it is no slot")
    h.refusal(new(H + "Property", state=[(None, {"__dict__": {}})]), "R223", "no slot")
    h.refusal(new(H + "Plain", state=[(None, {"a": 5})]), "R223", "no slot")
    h.refusal(new(H + "Plain", state=[(None, {"__class__": 5})]), "R223", "no slot")
    h.refusal(new(H + "Slots", state=[{"a": 5}]), "R223", "no __dict__")
    h.refusal(new(H + "OwnDict", state=[{"a": 5}]), "R223", "no __dict__")
    made = h.loads(plain(__class__=1, __dict__=2))
    check(type(made) is samples.Plain and made.__dict__ == {"__class__": 1, "__dict__": 2}, "what hides attributes")


def exceptions_take_attributes(h):
    made = h.loads(call(H + "Failure", 1, state=[{"note": "n", "args": (2,)}]))
    check(made.args == (2,) and made.note == "n", "attributes of an exception")
    for key in ("__class__", "__dict__", "__cause__", "__context__", "__traceback__", "__suppress_context__", "secret"):
        h.refusal(call(H + "Failure", 1, state=[{key: None}]), "R223", key)
    made = h.loads(call("builtins::ImportError", "no", state=[{"name": "a", "path": "p", "name_from": "antigravity"}]))
    check(made.name == "a" and made.path == "p" and not getattr(made, "name_from", None), "name_from: %s" % vars(made))
    before = set(sys.modules)
    text = "".join(traceback.format_exception(type(made), made, None))
    check(text.endswith("ImportError: no\n") and set(sys.modules) == before, "printing it: %s" % text)
    made = h.loads(call("builtins::UnicodeDecodeError", "utf-8", b"abc", 1, 2, "why", state=[{"__notes__": ["n"]}]))
    check(made.start == 1 and "why" in str(made), str(made))


def many_keys_of_a_state(h):
    """Places of a dict are remembered: other keys, another order, and very many of them come out right all the same."""
    for keys in ([("a", 1), ("b", 2)], [("b", 1), ("a", 2)], [("a", 1)], [("\u20ac", 1), ("\ud800", 2)], [("", 1)],
                 [("k%d" % i, i) for i in range(100)], [("a", 1), ("b", 2)]):
        made = h.loads(new(H + "Plain", state=[dict(keys)]))
        check(list(vars(made).items()) == keys, "%s" % vars(made))
    for i in range(1000):
        made = h.loads(plain(**{"x%d" % i: i}))
        check(vars(made) == {"x%d" % i: i}, "%s" % vars(made))
    cycle = h.loads(b"\x80\x04\x8c\x0chost_samples\x8c\x05Plain\x93)\x81\x94}\x8c\x02meh\x00sb.")
    check(cycle.me is cycle, "an object in its state")


# ---- T3.4: names


def names_run_nothing(h):
    for name, code, words in (("Outer.computed", "R221", "computed"), ("Dynamic.Made", "R221", "no such name"),
                              ("Computed.Inner", "R221", "computed"), ("Missing", "R221", "no such name")):
        node = call if name == "Outer.computed" else new
        h.refusal(node(H + name), code, words)
    for name in ("Outer.static", "Outer.made", "function"):
        check(type(h.loads(call(H + name))) is samples.Plain, name)
    check(type(h.loads(new(H + "Outer.Inner"))) is samples.Outer.Inner, "Outer.Inner")
    check(type(h.loads(new("host_names::Plain"))) is samples.Plain, "an alias")


def what_is_bound_is_what_the_row_says(h):
    h.refusal(call(H + "NotAFunction"), "R222", "func")
    h.refusal(new(H + "not_a_class"), "R222", "class")
    h.refusal(new(H + "Unlisted"), "R222", "argparse.Namespace")
    check(type(h.loads(new(H + "Renamed"))) is samples.Other, "another name that is granted alike")
    for name in ("execute", "run"):
        h.refusal(call(H + name, "exit 1"), "R222")
    h.refusal(call(H + "Process", "true"), "R222", "Popen")
    h.refusal(ref(H + "environment"), "R222", "dangerous")
    check(h.loads(ref(H + "plain_value")) is samples.plain_value, "a const")
    check(h.loads(call(H + "Level", 2)) is samples.Level.HIGH, "a member by its value")
    check(h.loads(ref(H + "Level.LOW")) is samples.Level.LOW, "a member by its name")


def what_is_bound_stays_bound(h):
    first = samples.Rebound
    h.loads(new(H + "Rebound"))
    h.loads(call(H + "function"))
    samples.Rebound, samples.function = os.system, os.system
    try:
        check(type(h.loads(new(H + "Rebound"))) is first, "a class that its module has replaced")
        check(type(h.loads(call(H + "function"))) is samples.Plain, "a function that its module has replaced")
        h.fresh()
        h.refusal(new(H + "Rebound"), "R222")
        h.refusal(call(H + "function"), "R222")
    finally:
        samples.Rebound, samples.function = first, FUNCTION
        h.fresh()


def nothing_is_imported(h, folder):
    with open(os.path.join(folder, "never_loaded_by_a_stream.py"), "w") as file:
        file.write("class Thing:\n    pass\n")
    h.refusal(new("never_loaded_by_a_stream::Thing"), "R221", "not loaded")
    check("never_loaded_by_a_stream" not in sys.modules, "a stream has imported a module")
    module = importlib.import_module("never_loaded_by_a_stream")
    check(type(h.loads(new("never_loaded_by_a_stream::Thing"))) is module.Thing, "a module that was loaded since")
    check("loaded_at_once" in sys.modules, "a module marked `import' is not loaded with the policy")
    check(type(h.loads(new("loaded_at_once::Thing"))) is sys.modules["loaded_at_once"].Thing, "loaded_at_once")
    h.refusal(new("not_there::Thing"), "R221", "could not be imported", "ModuleNotFoundError")
    h.refusal(new("fails_to_load::Thing"), "R221", "could not be imported", "RuntimeError: not today")
    sys.modules["fails_to_load"] = types.SimpleNamespace(Thing=samples.Plain)
    try:
        h.refusal(new("fails_to_load::Thing"), "R221", "is no module")
    finally:
        del sys.modules["fails_to_load"]


def zones_are_the_hosts_files(h):
    if sys.version_info < (3, 9):
        return
    import zoneinfo
    if not zoneinfo.available_timezones():
        return
    key = "Europe/Paris"
    for cached in (1, 0):
        made = h.loads(call("zoneinfo::ZoneInfo._unpickle", key, cached))
        check(made is zoneinfo.ZoneInfo(key), "a zone that is not from the cache")
    before = set(sys.modules)
    h.refusal(call("zoneinfo::ZoneInfo._unpickle", "Nowhere/Else", 1), "R223", "no such time zone")
    check(set(sys.modules) == before, "an unknown zone imports %s" % (set(sys.modules) - before))


# ---- T3.5: failures


def failures_are_refusals(h):
    error = h.refusal(call(H + "fail", "value"), "R223", "ValueError: bad value")
    check(error and error.cls == "native" and error.__context__ is None, "class native")
    for how in ("long", "escape", "mute", "memory", "recursion"):
        error = h.refusal(call(H + "fail", how), "R223")
        check(error and len(str(error)) < 2000 and str(error).replace("\n", "").isprintable() and str(error).isascii(),
              "%r" % str(error)[:200])
    h.refusal(call(H + "Fails", "value"), "R223", "ValueError: bad value")
    h.refusal(new(H + "FailsState", state=["value"]), "R223", "__setstate__: ValueError: bad value")
    h.refusal(call(H + "Fails", 1, 2, 3), "R223", "TypeError")
    for how, kind in (("exit", SystemExit), ("interrupt", KeyboardInterrupt)):
        try:
            h.loads(call(H + "fail", how))
            check(False, how + " passes")
        except kind:
            check(True, "")
    try:
        h.loads(call(H + "fail", "value"), cause=True)
        check(False, "no failure")
    except h.module.RefusedError as refused:
        check(type(refused.__cause__) is ValueError, "the cause: %r" % refused.__cause__)


# ---- T3.6, T3.7


def nothing_half_made_is_seen(h):
    """A constructor that looks at all objects finds none that lacks a member."""
    many = [call(H + "Watcher", *range(n)) for n in range(12)]
    check(len(h.loads(many + [new(H + "Plain", state=[{"a": (1, call(H + "Watcher", (1, 2), [3]))}])])) == 13, "Watcher")


def threads_share_a_guard(h):
    wrong = []

    def run():
        for i in range(200):
            made = h.loads([plain(a=i), new(H + "Slots", state=[(None, {"a": i})]), call(H + "returns", "plain")])
            if (made[0].a, made[1].a) != (i, i):
                wrong.append(made)

    h.fresh()
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not wrong, "%d wrong values" % len(wrong))


def nothing_leaks(h):
    """References of what is bound, made and refused."""
    def all_at_once():
        h.loads([plain(a=[1]), new(H + "Slots", state=[(None, {"a": {}})]), call(H + "Failure", 1, state=[{"x": 1}]),
                 call("decimal::Decimal", "1.5"), new("uuid::UUID", state=[{"int": 5}]), call("fractions::Fraction", 1, 3),
                 call("datetime::datetime", b"\x07\xe8\x02\x1d" + bytes(6)), call(H + "Level", 1)])
        for value in (call(H + "fail", "value"), new(H + "Eq"), new(H + "Singleton", state=[{}]), new(H + "Missing")):
            with contextlib.suppress(h.module.RefusedError):
                h.loads(value)

    def counts():
        gc.collect()
        return len(gc.get_objects()), [sys.getrefcount(x) for x in (samples.Plain, samples.Slots, samples.Failure, None, samples.Eq,
                                                                    samples.function, samples.RETURNED["plain"])]

    for _ in range(3):
        all_at_once()
    before = counts()
    for _ in range(200):
        all_at_once()
    after = counts()
    check(after[0] - before[0] < 100, "%d objects more" % (after[0] - before[0]))
    check(all(abs(x - y) < 100 for x, y in zip(before[1], after[1])), "references: %s, %s" % (before, after))


# ---- tuples


def tuples_are_granted_as_advised(h):
    """What with_types() says of a subclass of tuple that is no namedtuple is a row, by which its objects are loaded."""
    with open("tests/policy/hosts.policy") as file:
        policy = " ".join(file.read().split())
    marked = samples.Members("ab")
    marked.note = "n"
    for value in (samples.Members(), samples.Members((1, 2)), marked, samples.BareMembers((1,)), samples.NewMembers([1, None])):
        kind = type(value)
        try:
            h.policy.with_types(kind)
            check(False, "with_types takes %s" % kind)
            continue
        except ValueError as error:
            row = str(error).partition("a policy grants it: module host_samples { ")[2][:-2]
            check(row.startswith("class %s new(" % kind.__name__) and row.replace("TODO", "a test") in policy, str(error))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            made = h.loads(pickle.dumps(value, protocol))
            check(type(made) is kind and made == value and getattr(made, "__dict__", None) == getattr(value, "__dict__", None), "%r, protocol %d" % (value, protocol))
    for value in (samples.Members(((1,),)), samples.NewMembers([((),)])):  # one tuple for member: the old protocols do not say of what
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            check(h.loads(pickle.dumps(value, protocol)) == value, "%r, protocol %d" % (value, protocol))
        for protocol in range(2):
            h.refusal(pickle.dumps(value, protocol), "R223", "other members")


# ---- find_class of a host's Unpickler


def find_class_is_asked_after_the_table(h):
    asked = []

    class Mine(h.policy.Unpickler):
        def find_class(self, module, name):
            asked.append((module, name))
            if name == "Plain":
                return samples.Other
            if name == "Slots":
                return samples.function
            return super().find_class(module, name)

    def load(value):
        return Mine(io.BytesIO(assemble(value, 4))).load()

    made = load([plain(a=1), plain(b=2), call(H + "returns", "other")])
    check([type(x) for x in made] == [samples.Other] * 3 and vars(made[0]) == {"a": 1}, "what find_class gives is used: %s" % made)
    check(asked.count((H[:-2], "Plain")) == 1, "asked %s" % asked)
    del asked[:]
    for value in (new("os::system"), new("host_samples::Nothing")):
        try:
            load(value)
            check(False, "a name that is not granted")
        except h.module.RefusedError as error:
            check(error.code == "R201" and not asked, "%s %s" % (error.code, asked))
    try:
        load(new(H + "Slots"))
        check(False, "a function for a class")
    except h.module.RefusedError as error:
        check(error.code == "R222", str(error))
    check(type(h.loads(plain())) is samples.Plain, "the policy's own rows have changed")


TESTS = [states_are_copied, others_objects_stay, results_are_instances, hooks_are_named, hooks_that_come_later_are_seen,
         states_run_nothing, exceptions_take_attributes, many_keys_of_a_state, names_run_nothing, what_is_bound_is_what_the_row_says,
         what_is_bound_stays_bound, zones_are_the_hosts_files, failures_are_refusals, nothing_half_made_is_seen, threads_share_a_guard,
         nothing_leaks, tuples_are_granted_as_advised, find_class_is_asked_after_the_table]
FUNCTION = samples.function


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("loaded_at_once", "class Thing:\n    pass\n"), ("fails_to_load", "raise RuntimeError('not today')\n")):
            with open(os.path.join(folder, name + ".py"), "w") as file:
                file.write(text)
        sys.path.insert(0, folder)
        h = Host(guard(build, "hosts_guard"))
        for test in TESTS:
            h.fresh()
            test(h)
        nothing_is_imported(h, folder)
    run_by_others(check, build, __file__, {"hosts_guard": "tests/policy/hosts.policy"})
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
