#!/usr/bin/python3
"""Accepted documents become values of CPython: equal to what pickle.loads makes, down to identity, cycles and the order in which
code runs; and what only building finds is refused.

usage: test_python_values.py BUILD       (from the top folder, after `make test`)
"""
import gc
import io
import pickle
import random
import resource
import signal
import struct
import sys
import threading
import time
import weakref

import builder_samples as samples
from alike import difference
from builder_samples import Bag, Key, Logged, Node, Pool, Ref, Seer, Table, log
from guards import guard, sanitized
from tally import Tally

tally = Tally()
check = tally.check

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)

class Module:
    """A guard: `both` compares it with pickle."""

    def __init__(self, module):
        self.module = module
        self.loads = module.loads
        self.RefusedError = module.RefusedError

    def both(self, name, data, **options):
        """What pickle and the guard make of a pickle, and log, are the same."""
        del log[:]
        theirs = pickle.loads(data, **options)
        their_log = list(log)
        del log[:]
        try:
            ours = self.loads(data, **options)
        except self.RefusedError as e:
            check(False, "%s: %s" % (name, e))
            return None
        found = difference(theirs, ours)
        check(found is None, "%s: %s" % (name, found))
        # Keys are hashed when their container is filled, which is not always where the stream puts them in.
        seen, their_seen = ([entry for entry in entries if entry[0] != "hash"] for entries in (log, their_log))
        check(seen == their_seen, "%s: code saw %.1000s, in pickle %.1000s" % (name, seen, their_seen))
        return ours

    def refuses(self, name, data, code, words="", **options):
        """A RefusedError of this code; returns it."""
        try:
            value = self.loads(data, **options)
        except self.RefusedError as e:
            check(e.code == code and words in str(e), "%s: not %s %s but %s" % (name, code, words, e))
            return e
        except Exception as e:
            check(False, "%s: %r" % (name, e))
        else:
            check(False, "%s: made %.200r" % (name, value))
        return None


# ---- plain values


def plain_values():
    yield from (None, True, False, 0, 1, -1, -5, -6, 255, 256, 257, 1023, 1024, 65535, 65536, 2 ** 31 - 1, 2 ** 31, -2 ** 31,
                2 ** 63 - 1, 2 ** 63, -2 ** 63, -2 ** 63 - 1, 2 ** 64, 10 ** 300, -10 ** 300, (1 << 14000) - 1)
    yield from (0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7976931348623157e308)
    yield from ("", "a", "\x00", "\x7f", "\x80", "\xe9", "\xff", "\u0100", "ab", "abc\u0000d", "\ud800", "x\udfff\ud800y", "\U0001f600",
                "\u20ac" * 5, "12345678", "1234567890123456", "12345678901234567", "k" * 511, "k" * 512, "k" * 70000, "\xe9" * 70000)
    yield from (b"", b"a", b"\x00\xff", b"q" * 511, b"q" * 512, b"q" * 70000, bytearray(), bytearray(b"\x00\xff"), bytearray(b"r" * 70000))
    yield from ([], (), {}, set(), frozenset(), [[]], [()], ((),), ({},), {"a": {}}, [set()], (frozenset(),))
    yield list(range(-10, 2000))
    yield [float(i) for i in range(3000)]
    yield tuple(range(300))
    yield {i: str(i) for i in range(300)}
    yield {str(i): i for i in range(5)}
    yield {"key%d" % i: [i] for i in range(6)}
    yield {"key%d" % i: (i, [i, {"key%d" % i: i}]) for i in range(64)}
    yield {"key%d" % i: i for i in range(65)}
    yield {(i, i + 1): i for i in range(500)}
    yield {frozenset((i, str(i))): (i,) for i in range(500)}
    yield {None: 1, True: 2, 2: 3, 2.5: 4, "": 5, b"": 6, (): 7, (None,): 8, frozenset((1,)): 9, 2 ** 100: 10}
    yield set(range(1000))
    yield {(i, (i, i)) for i in range(200)}
    yield frozenset((i, frozenset((i,))) for i in range(200))
    yield [(i, [i, (i, {"a": [i]})], {i}, {"x": (i,)}) for i in range(100)]
    yield [[[[[[1], 2], 3], 4], 5], 6]


def plain_round_trips(g):
    for value in plain_values():
        for protocol in PROTOCOLS:
            if protocol == 0 and isinstance(value, int) and value.bit_length() > 10000:
                continue
            g.both("%.60r, protocol %d" % (value, protocol), pickle.dumps(value, protocol))


def order_of_pairs(g):
    keys = list(range(500))
    random.Random(5).shuffle(keys)
    for kind in (int, str, lambda k: (k, "k")):
        made = g.both("order", pickle.dumps({kind(k): k for k in keys}, 4))
        check(made is not None and list(made.values()) == keys, "dict in another order")


def python2_texts(g):
    ascii8, high8 = b"\x80\x02U\x03abc.", b"\x80\x02U\x03a\xe9c."
    check(g.loads(ascii8) == "abc" and g.loads(high8) == b"a\xe9c", "str of Python 2")
    check(g.loads(b"\x80\x02]q\x00(U\x03a\xe9cq\x01h\x01h\x01e.") == [b"a\xe9c"] * 3, "str of Python 2, from the memo")
    big = b"T" + struct.pack("<i", 1000) + b"\xe9" * 1000
    made = g.loads(b"\x80\x02]q\x00(" + big + b"q\x01h\x01e.")
    check(made == [b"\xe9" * 1000] * 2 and made[0] is made[1], "long str of Python 2")
    g.refuses("equal keys", b"\x80\x02}(U\x01aK\x01X\x01\x00\x00\x00aK\x02u.", "R210")


# ---- sharing and cycles


def shared_values(g):
    inner = {"list": [1], "dict": {1: 2}, "set": {1}, "tuple": ([],), "frozenset": frozenset(((1, 2),)), "bytearray": bytearray(b"x"),
             "node": Node(a=1), "str": "s" * 600, "bytes": b"b" * 600, "int": 1 << 8000, "empty": [], "nothing": {}}
    for name, value in inner.items():
        for protocol in (0, 2, 4, 5):
            if protocol == 0 and name == "int":
                continue
            for holder in ([value, value], (value, [value]), {"a": value, "b": (value, value)}, [[value], (value,), {"k": value}]):
                g.both("shared %s, protocol %d" % (name, protocol), pickle.dumps(holder, protocol))
            if name in ("str", "bytes") and protocol >= 4:
                made = g.loads(pickle.dumps([value, value, (value,)], protocol))
                check(made[0] is made[1] is made[2][0], "shared %s" % name)


def loops():
    one = []
    one.append(one)
    yield "list", one
    one = {}
    one["self"] = one
    yield "dict", one
    one = ([],)
    one[0].append(one)
    yield "tuple", one
    yield "list of tuple", one[0]
    one = ({}, [])
    one[0]["t"] = one
    one[1].append(one[0])
    yield "tuple of dict", one
    one = (([],),)
    one[0][0].append(one)
    one[0][0].append(one[0])
    yield "tuple of tuple", one
    one = Node()
    one.me = one
    yield "object", one
    one = Node(all=[])
    one.all.extend((one, Node(up=one), (Node(up=one), one)))
    yield "object in its list", one
    nodes = [Node(number=i) for i in range(20)]
    for node in nodes:
        node.all = nodes
        node.others = tuple(nodes)
        node.by_number = {n.number: n for n in nodes}
    yield "all know all", nodes
    yield "a tuple of all", tuple(nodes)
    nodes = [Node() for _ in range(20)]
    table = {node: i for i, node in enumerate(nodes)}
    for node in nodes:
        node.table = table
    yield "keys that hold their dict", table
    pool = {Node(name=i) for i in range(5)}
    for node in pool:
        node.pool = pool
    yield "members that hold their set", pool
    bag = Bag()
    bag.extend((bag, [bag], Node(bag=bag)))
    yield "object that holds itself by items", bag
    table = Table()
    table["me"] = table
    table["node"] = Node(table=table, view=[table])
    yield "object that holds itself by pairs", table


def cycles(g):
    for name, value in loops():
        for protocol in PROTOCOLS:
            if protocol < 2 and name.startswith(("members", "keys with")):
                continue  # sets of old protocols are made by a call, keys with code cannot be incomplete then
            g.both("%s, protocol %d" % (name, protocol), pickle.dumps(value, protocol))


class Graphs:
    """Random graphs, always the same of one seed."""

    def __init__(self, seed, acyclic):
        self.random = random.Random(seed)
        self.acyclic = acyclic
        self.made, self.count = [], 0

    def scalar(self):
        return self.random.choice((None, True, 7, 300, -1, 2.5, "text", "t\xe9xt", "l" * 600, b"bytes", b"B" * 600, 1 << 70))

    def key(self, depth):
        kind = self.random.randrange(6)
        self.count += 1
        if kind < 3 or depth <= 0:
            return self.random.choice((self.count, "k%d" % self.count, float(self.count) + 0.5, b"k%d" % self.count))
        if kind == 3:
            return tuple(self.key(depth - 1) for _ in range(self.random.randrange(1, 4)))
        if kind == 4:
            return frozenset(self.key(depth - 1) for _ in range(self.random.randrange(1, 3)))
        return Key("n%d" % self.count)

    def value(self, depth):
        choice = self.random.randrange(16)
        if self.made and choice < 5:
            return self.random.choice(self.made)
        if depth <= 0 or choice < 6:
            return self.scalar()
        n = self.random.randrange(5)
        if choice in (6, 7):
            made = []
            self.add(made)
            made.extend(self.value(depth - 1) for _ in range(n))
        elif choice in (8, 9):
            made = {}
            self.add(made)
            for _ in range(n):
                made[self.key(2)] = self.value(depth - 1)
        elif choice in (10, 11):
            made = tuple(self.value(depth - 1) for _ in range(n))
        elif choice == 12:
            made = {self.key(2) for _ in range(n)}
        elif choice == 13:
            made = Node()
            self.add(made)
            made.__dict__.update(("a%d" % i, self.value(depth - 1)) for i in range(n))
        elif choice == 14:
            made = Seer()
            self.add(made)
            made.state = {"s%d" % i: self.value(depth - 1) for i in range(n + 1)}
        elif self.acyclic:
            made = Logged(*(self.value(depth - 1) for _ in range(n)))
        else:
            made = self.random.choice((Bag, list))()
            self.add(made)
            made.extend(self.value(depth - 1) for _ in range(n))
        if self.acyclic or choice in (10, 11, 12):
            self.made.append(made)
        return made

    def add(self, made):
        if not self.acyclic:
            self.made.append(made)


def random_graphs(g):
    done = 0
    for seed in range(700):
        acyclic = seed % 2 == 0
        value = Graphs(seed, acyclic).value(6)
        protocol = seed % 6 if acyclic else 2 + seed % 4
        try:
            data = pickle.dumps(value, protocol)
            theirs = pickle.loads(data)
        except (RecursionError, AttributeError):  # a key with code was met before its attributes were
            continue
        if acyclic:
            g.both("graph %d" % seed, data)
            done += 1
            continue
        try:
            ours = g.loads(data)
        except g.RefusedError as e:
            check(e.code in ("R208", "R211"), "graph %d: %s" % (seed, e))
            continue
        found = difference(theirs, ours)
        check(found is None, "graph %d: %s" % (seed, found))
        done += 1
    check(done > 500, "only %d graphs were built" % done)


# ---- order, and what code sees


def items_go_in_together(g):
    name = b"cbuilder_samples\nPool\n"
    made = g.loads(b"\x80\x04" + name + b")R\x94(K\x01K\x02\x90h\x00(K\x03\x90\x86.")
    check(type(made[0]) is Pool and made[0] is made[1] and made[0] == {1, 2, 3}, "a set that grows twice: %r" % (made,))
    g.refuses("equal members of a pool", b"\x80\x04" + name + b")R(K\x01K\x02K\x01\x90.", "R210")
    check(g.loads(b"\x80\x02]cbuilder_samples\nRef\na.") == [Ref], "a class as a value")
    # A bag whose members are made between its steps, and a call that is given it in between.
    logged, bag = b"cbuilder_samples\nLogged\n", b"cbuilder_samples\nBag\n"
    data = b"\x80\x04" + bag + b")R\x94" + logged + b"(K\x01tRa0" + logged + b"(h\x00tR0h\x00."
    g.both("a bag that is complete when it is used", data)


def order_of_calls(g):
    seer = Seer([1, 2])
    values = [Logged(1, Logged(2)), Seer({"a": Logged(3)}), Logged(Seer([4]), Logged(5)), Seer((Seer(6), Seer([Seer(7)]))), seer, [seer],
              Logged([[[Logged(8)]]], {"k": {"l": Logged(9)}}), Logged({Key("a"): [Logged(10)]}), Bag([Logged(11), Bag([Seer(12)])]),
              Table({"x": Logged(13), Key("y"): Seer(14)})]
    for protocol in PROTOCOLS:
        g.both("order, protocol %d" % protocol, pickle.dumps(values, protocol))


def popped_objects_are_made_too(g):
    name = b"cbuilder_samples\nLogged\n"
    g.both("popped", b"\x80\x02" + name + b"(K\x01tR0" + name + b"(K\x02tRq\x000K\x07.")


def growing_containers(g):
    """A state that holds a list which the stream fills later: it is filled where the stream does that, not before all is there."""
    seer = b"cbuilder_samples\nSeer\n)\x81"
    logged = b"cbuilder_samples\nLogged\n"
    for after, seen in ((b"K\x01a", ["list", "1"]), (b"(K\x01K\x02e", ["list", "1", "2"])):
        # [] -> memo 0; a Seer whose state is ([],) of it; then the list grows, then somebody looks again by a call
        data = b"\x80\x02]q\x00" + seer + b"}X\x01\x00\x00\x00lh\x00sb0" + after + seer + b"}X\x01\x00\x00\x00lh\x00sb0."
        del log[:]
        made = g.loads(data)
        check(made == list(range(1, len(seen))), "the list was not filled: %r" % made)
        check(log == [("Seer", ["dict", ("'l'", ["list"])]), ("Seer", ["dict", ("'l'", seen)])], "seen: %r" % log)
    # The same with a member that is made later, and with one that was pushed before.
    data = b"\x80\x02]q\x00" + seer + b"}X\x01\x00\x00\x00lh\x00sb0" + logged + b")Ra" + seer + b"}X\x01\x00\x00\x00lh\x00sb0."
    made = g.both("grows by an object", data)
    check(made is not None and len(made) == 1, "grows by an object: %r" % made)
    # A dict and a set that grow, which a state holds.
    data = (b"\x80\x04}\x940\x8f\x940" + seer + b"]\x94(h\x00h\x01eb0" b"h\x00K\x01K\x02s0" b"h\x01(K\x03\x900" + seer +
            b"h\x02b0h\x02.")
    del log[:]
    made = g.loads(data)
    check(made == [{1: 2}, {3}], "dict and set that grow: %r" % made)
    check(log == [("Seer", ["list", ["dict"], ["set"]]), ("Seer", ["list", ["dict", ("1", "2")], ["set", "'3'"]])], "seen: %r" % log)


def host_appends_meanwhile(g):
    """Code of the host that puts something into a list which the stream still fills: both are kept."""

    def setstate(self, state):
        if not state[0]:
            state[0].append("host's")

    data = b"\x80\x02]q\x00cbuilder_samples\nSeer\n)\x81]q\x01h\x00ab0(K\x01K\x02e."
    kept, Seer.__setstate__ = Seer.__setstate__, setstate
    try:
        check(pickle.loads(data) == ["host's", 1, 2], "pickle does it differently")
        check(g.loads(data) == ["host's", 1, 2], "a list that the host changed")
    finally:
        Seer.__setstate__ = kept


def nothing_is_seen_half_full(g):
    """Hashing a key looks at all containers that the garbage collector knows: none is partly filled."""
    found = []

    def hash_and_look(self):
        for thing in gc.get_objects():
            if type(thing) in (list, tuple) and thing and thing[0] == "mark" and len(thing) != 4:
                found.append(len(thing))
            elif type(thing) in (set, frozenset) and "mark" in thing and len(thing) != 4:
                found.append(thing)
        return hash(self.name)

    value = ["mark", {Key("a"): ("mark", {Key("b"): 1}, 2, 3)}, [1], {Key("c"): 2}]
    data = pickle.dumps(value, 4)
    sets = b"\x80\x04" + b"".join(begin + b"X\x04\0\0\0mark" + b"".join(
        b"cbuilder_samples\nKey\n)\x81}X\x04\0\0\0nameX\x01\0\0\0%dsb" % i for i in range(3)) + end for begin, end in ((b"(", b"\x91"), (b"\x8f(", b"\x90"))) + b"\x86."
    kept, Key.__hash__ = Key.__hash__, hash_and_look
    try:
        made = g.loads(data)
        pair = g.loads(sets)
    finally:
        Key.__hash__ = kept
    check([len(members) for members in pair] == [4, 4] and all(map(gc.is_tracked, pair)), "sets: %r" % (pair,))
    check(not found and len(made) == 4 and gc.is_tracked(made), "half full: %s" % found)


def waiting_containers_are_filled_at_once(g):
    """What the stream fills later is empty for code that runs meanwhile, and full thereafter."""
    def text(words):
        return b"X" + struct.pack("<I", len(words)) + words.encode()

    key = b"cbuilder_samples\nKey\n)\x81}" + text("name") + text("k") + b"sb"
    keys = b"\x8f(" + key + b"\x90"
    record = b"}(" + text("a") + b"K\x01" + text("b") + b"%su"
    for empty, fill in ((b"}", b"(" + text("p") + b"K\x01" + text("s") + keys + text("q") + b"K\x02u"),
                        (b"}", b"(" + text("t") + record % keys + b"\x85" + text("q") + b"K\x02u"),
                        (b"]", b"(K\x01" + keys + b"](K\x02" + keys + b"e\x85e"),
                        (b"\x8f", b"(K\x01" + key + b"(K\x02" + key + b"t\x90")):
        seen = []

        def hash_and_look(self):
            seen.extend(len(o.__dict__["w"]) for o in gc.get_objects() if type(o) is Node and "w" in o.__dict__)
            return 1

        data = (b"\x80\x04](" + record % b"]" * 3 + b"cbuilder_samples\nNode\n)\x81\x94}" + text("w") + empty + b"\x94sbh\x01" + fill + b"0e.")
        kept, Key.__hash__ = Key.__hash__, hash_and_look
        try:
            g.loads(data)
        finally:
            Key.__hash__ = kept
        g.both("filled later: %r" % fill, data)
        check(seen and not any(seen), "filled later: code saw %s members: %r" % (seen, fill))


def nothing_is_seen_without_members(g):
    """Code that runs at any moment meets no tuple without its members and no list that is being filled."""
    found = []

    def look(*_):
        for thing in gc.get_objects():
            if type(thing) is tuple and len(thing) in (17, 70001) and "NULL" in repr(thing):
                found.append(repr(thing)[:60])
            elif type(thing) is list and thing and thing[0] == "mark" and len(thing) != 17:
                found.append(len(thing))
                thing.extend(range(5000))

    def collecting(name, data):
        del found[:]
        gc.callbacks.append(look)
        kept, full = gc.get_threshold(), []
        try:
            for n in range(1, 40):  # the collector runs in CPython's code that makes objects, until 3.12
                full += [{} for _ in range(100)]  # none is left in its store
                gc.set_threshold(n)
                g.loads(data)
                gc.set_threshold(*kept)
        finally:
            gc.set_threshold(*kept)
            gc.callbacks.remove(look)
        check(not found, "%s: the collector found %s" % (name, found[:3]))

    collecting("records", pickle.dumps([{"%d of %d" % (k, kind): i for k in range(17)} for kind in range(20) for i in range(3)], 4))
    collecting("text", pickle.dumps([("\ud800x",) * 17, ["mark"] + ["\ud800%d" % i for i in range(16)]], 4))

    class Unpickler(g.module.Unpickler):
        def find_class(self, module, name):
            look()
            return Ref

    del found[:]
    name = b"cbuilder_samples\nRef\n"
    made = Unpickler(io.BytesIO(b"\x80\x04](X\x04\0\0\0mark" + name + b"K\x01" * 15 + b"e.")).load()
    check(not found and made == ["mark", Ref] + [1] * 15, "find_class: found %s, made %.60r" % (found, made))

    del found[:]
    large = pickle.dumps([tuple(range(i, i + 70001)) for i in range(5)], 4)
    old = signal.signal(signal.SIGALRM, look)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        g.loads(large)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    check(not found, "a handler found %s" % found)


# ---- text


def texts_from_the_memo(g):
    text = "long " * 20000
    for value in ([text] * 1000, [text.encode()] * 1000, [text + "\xe9"] * 1000):
        made = g.loads(pickle.dumps(value, 4))
        check(len({id(v) for v in made}) == 1 and made == value, "%.20r is not one object" % value[0])
    made = g.loads(b"\x80\x04](\x8a\xc8" + b"\x01" * 200 + b"\x94h\x00h\x00h\x00e.")
    check(made == [int.from_bytes(b"\x01" * 200, "little")] * 4 and len({id(v) for v in made[1:]}) == 1, "large ints from the memo")
    short = "short text"
    made = g.loads(pickle.dumps([short] * 1000, 4))
    check(len({id(v) for v in made}) <= 2 and made == [short] * 1000, "short text from the memo: %d objects" % len({id(v) for v in made}))
    names = ["name %d" % i for i in range(3000)]
    made = g.loads(pickle.dumps([{name: name for name in names[i:i + 50]} for i in range(0, 3000, 10)], 4))
    check(len({id(v) for d in made for v in d.values()}) <= 2 * len(names), "values from the memo are copied")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    big = b"\x80\x04]\x94(X" + struct.pack("<I", 8 << 20) + b"x" * (8 << 20) + b"\x94" + b"h\x01" * 1000 + b"e."
    made = g.loads(big)
    check(len(made) == 1001 and len({id(v) for v in made}) == 1, "8 MiB of text, 1,000 times")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    check(grown < 200000 or sanitized(), "8 MiB of text, 1,000 times, take %d KiB" % grown)


def records_repeat(g):
    """Dicts that have the keys of earlier ones are dicts like any other."""
    def record(i, **more):
        return dict({"id": i, "na\xefve": [i], "none": None, "by": {"name": "n%d" % i, "at": (i, {"x": i, "y": {"z": []}})}}, **more)

    wide = [{"k%d" % k: (i, k) for k in range(n)} for n in (1, 5, 6, 10, 11, 31, 32, 33, 64, 65) for i in range(4)]
    orders = [dict(pairs) for pairs in ([("a", 1), ("b", 2)], [("b", 1), ("a", 2)]) * 3]
    many = [{"kind %d" % kind: kind, "n": n} for n in range(3) for kind in range(300)]  # more than there are numbers
    ring = [{"at": None, "next": None} for _ in range(5)]
    for i, item in enumerate(ring):
        item["at"], item["next"] = ring, ring[i - 1]
    once = record(9)
    for i, value in enumerate(([record(i) for i in range(5)], [record(i, extra=i) for i in range(3)] + [record(i) for i in range(3)], wide, orders,
                               many, ring, [once, once, record(1), once], tuple(record(i) for i in range(4)), [({"a": i},) for i in range(4)],
                               {"all": [record(i) for i in range(3)], "keys": list(record(0))}, [{"a": Node(of={"a": i})} for i in range(4)])):
        for protocol in PROTOCOLS:
            g.both("records %d, protocol %d" % (i, protocol), pickle.dumps(value, protocol))
    apart = io.BytesIO()  # no memo: each has its keys anew
    pickler = pickle.Pickler(apart, 4)
    pickler.fast = True
    pickler.dump([record(i) for i in range(5)])
    g.both("records without a memo", apart.getvalue())
    made = g.loads(pickle.dumps([record(i) for i in range(4)], 4))
    made[1]["id"], made[1]["more"] = "changed", 1
    del made[2]["none"]
    check([made[0], made[3]] == [record(0), record(3)] and list(made[2]) == ["id", "na\xefve", "by"], "records are not apart: %r" % made)
    check(sys.getsizeof(made[3]) <= sys.getsizeof(record(0)), "a record takes %d bytes" % sys.getsizeof(made[3]))
    state = g.loads(pickle.dumps([Node(**record(i)) for i in range(4)], 4))
    check([vars(node) for node in state] == [record(i) for i in range(4)], "states that repeat")


# ---- buffers and persistent ids


def out_of_band(g):
    writable, fixed = bytearray(b"writable"), b"fixed"
    buffers = []
    data = pickle.dumps([pickle.PickleBuffer(writable), pickle.PickleBuffer(fixed)], 5, buffer_callback=buffers.append)
    made = g.loads(data, buffers=[writable, fixed])
    check(made[0] is writable and made[1] is fixed, "buffers: %r" % made)
    both = b"\x80\x05]\x94(\x97\x94\x98\x94h\x02h\x01e."
    made = g.loads(both, buffers=[writable])
    theirs = pickle.loads(both, buffers=[writable])
    check([type(v) for v in made] == [type(v) for v in theirs] == [memoryview, memoryview, bytearray], "views: %r" % made)
    check(made[0] is made[1] and made[0].readonly and made[2] is writable, "views")
    check(len(buffers) == 2, "buffers")


def persistent_ids(g):
    asked = []

    def persistent_load(pid):
        asked.append(pid)
        log.append(("pid", pid))
        return [pid]

    logged = b"cbuilder_samples\nLogged\n"
    data = b"\x80\x04](\x8c\x03oneQ\x94" + logged + b"(K\x05tRK\x01K\x02\x86Qh\x00e."
    del log[:]
    made = g.loads(data, persistent_load=persistent_load)
    check(asked == ["one", (1, 2)] and made[0] is made[3] and made[2] == [(1, 2)], "persistent ids: %r %r" % (asked, made))
    check([what for what, _ in log] == ["pid", "Logged", "pid"], "order of persistent ids: %r" % log)
    g.refuses("no persistent_load", data, "R215")

    def fails(pid):
        raise KeyError(pid)

    g.refuses("failing persistent_load", data, "R223", "KeyError", persistent_load=fails)


# ---- what only building finds


HASH_BITS = 61 if sys.maxsize > 1 << 32 else 31
M = (1 << HASH_BITS) - 1


def floods(g):
    def tuples(n):
        """Tuples of -1 and -2, which have one hash."""
        return [tuple(-1 if i >> bit & 1 else -2 for bit in range(20)) for i in range(n)]

    ints = [i * M for i in range(1, 20001)]
    nested = [((t,), frozenset((t,))) for t in tuples(20000)]
    floats = [2.0 ** (HASH_BITS * (i + 1)) for i in range(16)] + [i * M + 1 for i in range(1, 100)]  # all have the hash 1
    for name, keys in (("ints", ints), ("tuples", tuples(20000)), ("nested", nested), ("floats and ints", floats)):
        for value in ({k: None for k in keys[:300]}, set(keys[:300]), frozenset(keys[:300])):
            g.refuses("%d %s" % (len(value), name), pickle.dumps(value, 4), "R302")
    # Built by hand: making them in Python takes minutes.
    for name, body in (("ints", b"".join(b"\x8a\x0a" + k.to_bytes(10, "little") for k in ints)),
                       ("tuples", b"".join(b"(" + b"".join(b"J" + struct.pack("<i", v) for v in t) + b"t" for t in tuples(20000)))):
        best = 10.0
        for _ in range(3):
            start = time.thread_time()
            g.refuses("20,000 " + name, b"\x80\x04\x8f(" + body + b"\x90.", "R302")
            best = min(best, time.thread_time() - start)
        check(best < (1 if sanitized() else 0.1), "20,000 %s took %.3f s" % (name, best))
    keys = {k: None for k in ints[:64]}
    check(g.loads(pickle.dumps(keys, 4)) == keys, "64 keys of one hash are too many")
    keys.update((i, None) for i in range(1, 1001))
    check(g.loads(pickle.dumps(keys, 4)) == keys, "64 keys of one hash among others are too many")
    keys[65 * M] = None
    e = g.refuses("65 among others", pickle.dumps([1, {"x": keys}], 4), "R302", "65 of 1065")
    check(e is None or e.path == "$[1].x", "place of a flood: %s" % (e and e.path))
    many = {(i, str(i)): i for i in range(20000)}
    check(g.loads(pickle.dumps(many, 4)) == many, "20,000 tuples")
    kept, Key.__hash__ = Key.__hash__, lambda self: 5
    try:
        data = pickle.dumps({Key("k%d" % i): i for i in range(70)}, 4)
        g.refuses("objects of one hash", data, "R302")
    finally:
        Key.__hash__ = kept


def equal_keys(g):
    one, other = Key("same"), Key("other")
    for value in ({one: 1, other: 2}, {one, other}, frozenset((one, other)), [{(one, 1): 1, (other, 1): 2}]):
        data = pickle.dumps(value, 4).replace(b"\x8c\x05other", b"\x8c\x04same").replace(b"\x95", b"\x95")
        data = data[:3] + struct.pack("<Q", len(data) - 11) + data[11:]
        e = g.refuses("equal keys in %s" % type(value).__name__, data, "R223", "equal")
        check(e is None or e.__cause__ is None, "equal keys have a cause")


def failing_code(g):
    def fails(self):
        raise ValueError("no \x1b hash")

    data = pickle.dumps([{Key("a"): [1]}, {Key("b")}], 4)
    kept, Key.__hash__ = Key.__hash__, fails
    try:
        e = g.refuses("failing hash", data, "R223", "ValueError")
        check(e is None or (e.__cause__ is None and e.__suppress_context__), "its cause shows")
        check(e is None or "\x1b" not in str(e), "its text is not escaped")
        def interrupts(self):
            raise KeyboardInterrupt

        Key.__hash__ = interrupts
        try:
            g.loads(data)
            check(False, "KeyboardInterrupt was lost")
        except KeyboardInterrupt:
            check(True, "")
    finally:
        Key.__hash__ = kept


def unhashable_objects(g):
    kept, Key.__hash__ = Key.__hash__, None
    try:
        g.refuses("unhashable", pickle.dumps(1, 2)[:2] + b"}cbuilder_samples\nKey\n)\x81}X\x04\x00\x00\x00nameK\x01sbK\x02s.", "R223")
    except TypeError as e:
        check(False, str(e))
    finally:
        Key.__hash__ = kept


def memory_budget(g):
    """An empty set costs 216 bytes for a byte of the stream: what is built has a budget too."""
    e = g.refuses("sets", b"\x80\x04](" + b"\x8f" * 4990000 + b"e.", "R301", "memory")
    check(e is None or e.cls == "limit", "class of a memory budget")


# ---- depth, signals, threads


def deep_values(g):
    n = 100000
    for name, data in (("lists", b"]" * n + b"a" * (n - 1)), ("tuples", b"K\x01" + b"\x85" * n), ("dicts", b"}K\x01" * n + b"N" + b"s" * n),
                       ("tuples of lists", b"](" * (n // 2) + b"K\x01" + b"\x85e" * (n // 2))):
        data = b"\x80\x02" + data + b"."
        try:
            made = g.loads(data)
        except g.RefusedError as e:
            check(False, "deep %s: %s" % (name, e))
            continue
        depth, at = 0, made
        while isinstance(at, (list, tuple, dict)) and at:
            at = at[1] if isinstance(at, dict) else at[0]
            depth += 1
        check(depth in (n, n - 1), "deep %s: %d levels" % (name, depth))
        del made, at


def deepest(g):
    n = 999000
    made = g.loads(b"\x80\x02" + b"]" * n + b"a" * (n - 1) + b".")
    check(isinstance(made, list), "a million levels")
    del made
    check(True, "")


def chains(g):
    """Lists and dicts of one member each, one within the other, around anything."""
    def around(value, kinds):
        for kind in kinds:
            value = [value] if kind == "l" else {"key of a dict" if kind == "D" else "k": value}
        return value

    shared, cyclic = ["s"], []
    cyclic.append([{"k": cyclic}])
    ends = [7, "x", "k", None, 2.5, b"b", [], {}, (), [1, 2], {"a": 1, "b": 2}, {1: 2}, {(1, 2): [[3]]}, ([1],), ([[1]], 2), {1, 2},
            frozenset((1,)), Node(a=[[1]]), Node(a={"k": [{"k": 1}]}), shared, [shared, shared], [[1], [2]], [[[1]], [[2]]],
            {"k": [{"k": [1, [2]]}], "m": [[{"n": 1}]]}, cyclic, [Node(a=1), [[Node(b=[[2]])]]]]
    for end in ends:
        for kinds in ("l", "d", "ll", "dl", "ld", "lldd", "DdDl", "l" * 20):
            for value in (around(end, kinds), [around(end, kinds), shared, 1], (around(end, kinds),), Node(a=around(end, kinds))):
                for protocol in range(2, 6):
                    data = pickle.dumps(value, protocol)
                    said = difference(pickle.loads(data), g.loads(data))
                    check(said is None, "%s around %r, protocol %d: %s" % (kinds, end, protocol, said))
    later = b"\x80\x02]q\x00cbuilder_samples\nNode\n)\x81q\x01}X\x01\x00\x00\x00ah\x00sb0]}X\x01\x00\x00\x00k]K\x01asaah\x01\x86."
    made = g.loads(later)
    check(made[0] == [[{"k": [1]}]] and made[1].a is made[0], "a chain that is filled later: %r" % (made,))


def signals_are_looked_at(g):
    data = pickle.dumps([[i] for i in range(400000)] + [{Key("last"): 1}], 4)

    class Stop(Exception):
        pass

    def stop(number, frame):
        raise Stop

    old = signal.signal(signal.SIGALRM, stop)
    del log[:]
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        g.loads(data)
        check(False, "a handler could not stop the build")
    except Stop:
        check(("hash", "last") not in log, "a handler ran when all was built")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def threads_build_at_once(g):
    value = [Node(a=[i], b={"k%d" % i: (i,)}) for i in range(300)]
    data = pickle.dumps([value, {Key("k%d" % i): i for i in range(50)}], 4)
    expected = pickle.loads(data)
    wrong = []

    def work():
        for _ in range(20):
            if difference(expected, g.loads(data)) is not None:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not wrong, "threads made other values")


def loads_within_loads(g):
    inner = pickle.dumps({"inner": [1, (2, {3: 4})]}, 4)
    seen = []

    def hash_by_loads(self):
        seen.append(g.loads(inner))
        return hash(self.name)

    kept, Key.__hash__ = Key.__hash__, hash_by_loads
    try:
        made = g.loads(pickle.dumps([1, {Key("a"): [(Key("b"), 2)]}, {Key("c"), (Key("d"),)}], 4))
    finally:
        Key.__hash__ = kept
    check(len(made) == 3 and seen and all(s == {"inner": [1, (2, {3: 4})]} for s in seen), "loads within loads")


# ---- the garbage collector, and what is left behind


def collector_is_left_alone(g):
    data = pickle.dumps([[i] for i in range(120000)], 4)
    broken = pickle.dumps([[i] for i in range(120000)] + [Logged(1)], 4)

    def fails(*arguments):
        raise ValueError("no")

    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            g.loads(data)
            check(gc.isenabled() == enabled, "gc.isenabled() changed")
            kept, samples.describe = samples.describe, fails
            try:
                g.refuses("failing constructor", broken, "R223")
            finally:
                samples.describe = kept
            check(gc.isenabled() == enabled, "gc.isenabled() changed by a failure")
        finally:
            gc.enable()


def nothing_is_left(g):
    good = pickle.dumps([dict(loops())["all know all"], [{"k": i, "l": [i]} for i in range(5)], {"k": ("x" * 600, b"y" * 600)}, {(i, i) for i in range(100)}, bytearray(b"z")], 4)
    bad = [pickle.dumps({i * M: [i] for i in range(1, 80)}, 4), pickle.dumps([[1, (2, [3])], {Key("a"): ["x" * 600]}], 4)]

    def fails(self):
        raise ValueError

    def once():
        g.loads(good)
        for data in bad:
            try:
                g.loads(data)
            except g.RefusedError:
                pass

    kept, Key.__hash__ = Key.__hash__, fails
    try:
        for _ in range(20):
            once()
        grown = []
        for _ in range(3):  # after other tests CPython fills lists of its own at first: that comes to an end, a leak does not
            gc.collect()
            before = sys.getallocatedblocks()
            for _ in range(1000):
                once()
            gc.collect()
            grown.append(sys.getallocatedblocks() - before)
    finally:
        Key.__hash__ = kept
    check(min(grown) < 50, "blocks are left: %s" % grown)
    made = g.loads(pickle.dumps([Node(), [Node()]], 4))
    gone = weakref.ref(made[0])
    del made
    check(gone() is None, "an object outlives its value")
    data = pickle.dumps(["some longer text", ("a", 1), [bytearray(b"x")] * 2, Node()], 4)
    ours, theirs = ([sys.getrefcount(v) for v in [made] + made + made[2]] for made in (g.loads(data), pickle.loads(data)))
    check(ours == theirs, "references are left: %s, not %s" % (ours, theirs))


def references_are_handed_over(g):
    """An object that one place refers to is that place's alone, one of several has a reference of each, and one of none is gone."""
    def nodes(made):
        seen, todo = [], [made]
        while todo:
            value = todo.pop()
            if isinstance(value, (Node, Key)):
                if any(value is other for other in seen):
                    continue
                seen.append(value)
                todo.extend(value.__dict__.values())
            elif isinstance(value, dict):
                todo.extend(value)
                todo.extend(value.values())
            elif isinstance(value, (list, tuple, set, frozenset)):
                todo.extend(value)
        return seen

    twice, inner = Node(name="twice"), Node(name="inner")
    for value in (Node(), [Node() for _ in range(40)], [twice, twice], (twice, [twice, {"k": twice}]), Node(inner=inner, of=Node()),
                  [Node(inner=inner), inner], {Key("a"): Node(), Key("b"): [Node()]}, {Key("a"), Key("b")}, [(Node(),), frozenset([Key("c")])],
                  Node(a=[Node(), (Node(), Node())], b=[inner, inner])):
        for protocol in PROTOCOLS[2:]:
            data = pickle.dumps(value, protocol)
            counts = []
            for load in (pickle.loads, g.loads):
                found = nodes(load(data))
                gc.collect()
                counts.append(sorted((o.__dict__.get("name", ""), sys.getrefcount(o)) for o in found))
            check(counts[0] and counts[0] == counts[1], "%r: references %s, not %s" % (value, counts[1], counts[0]))

    def count():
        gc.collect()
        return sum(type(o) in (Node, Key) for o in gc.get_objects())

    node = b"\x80\x04cbuilder_samples\nNode\n)\x81"
    key = b"cbuilder_samples\nKey\n)\x81}X\x04\0\0\0nameX\x01\0\0\0asb"
    before = count()
    g.loads(node + b"0" + node[2:] + b"0N.")
    check(count() == before, "objects outlive a stream that popped them")
    g.refuses("keys that are equal, between objects", node + b"0(" + node[2:] * 3 + b"}(" + key + b"K\x01" + key + b"K\x02u" + node[2:] * 3 + b"l.",
              "R223", "equal")
    check(count() == before, "objects outlive a refusal, or were released twice")


def every_allocation_fails_once(g):
    try:
        import _testcapi
    except ImportError:
        print("no _testcapi: allocations do not fail")
        return
    # No bytearray: when CPython has no memory for its bytes, it looks at a count that it has not set.
    values = [[1, 2.5, "abc", 1 << 70, b"xyz"], {"k%d" % i: [i, (i, [i])] for i in range(12)}, dict(loops())["all know all"][:3],
              {(i, str(i)): i for i in range(70)}, {Key("a"), Key("b")}, ["x" * 600] * 3, Bag([1, Bag([2])]),
              Table({"a": Table()}), Logged(1, [2]), [[[[[[[[[[1]]]]]]]]]], [{"k": [{"m": [[1, [2]]]}]}], [{"k": i, "l": [i, {"m": []}]} for i in range(4)], frozenset([(1,), frozenset([2])]), [([[]],)]]
    for value in values:
        data = pickle.dumps(value, 4)
        g.loads(data)
        fails, good = 0, 0
        while good < 30 and fails < 2000:
            del log[:]
            _testcapi.set_nomemory(fails, fails + 1)
            try:
                g.loads(data)
                good += 1
            except MemoryError:
                good = 0
            except g.RefusedError as e:  # the host's own code had no memory
                good = 0
                if "MemoryError" not in str(e):
                    check(False, "allocation %d of %.60r: %s" % (fails, value, e))
            finally:
                _testcapi.remove_mem_hooks()
            fails += 1
        check(fails < 2000, "%.60r fails without end" % value)
    check(difference(values[1], g.loads(pickle.dumps(values[1], 4))) is None, "after failures")


TESTS = (plain_round_trips, order_of_pairs, chains, python2_texts, shared_values, records_repeat, cycles, random_graphs, order_of_calls,
         items_go_in_together, popped_objects_are_made_too, growing_containers, host_appends_meanwhile, nothing_is_seen_half_full, waiting_containers_are_filled_at_once,
         nothing_is_seen_without_members, texts_from_the_memo,
         out_of_band, persistent_ids, floods, equal_keys, failing_code, unhashable_objects, memory_budget, deep_values, deepest,
         signals_are_looked_at, threads_build_at_once, loads_within_loads, collector_is_left_alone, nothing_is_left, references_are_handed_over, every_allocation_fails_once)


def main():
    g = Module(guard(sys.argv[1], "builder_guard"))
    g.build = sys.argv[1]
    only = sys.argv[2:]
    for test in TESTS:
        if only and test.__name__ not in only:
            continue
        before = tally.failed
        test(g)
        if tally.failed > before:
            print("    in " + test.__name__)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
