"""Pickles some values with every pickler and protocol of the Python that runs this (2.7, and 3.6 and later).

usage: values.py FOLDER         writes FOLDER/NAME.WAY.pN.pkl and prints a line `OUTCOME FILE` for each

OUTCOME is what policies/values.policy must say: accept or a class of refusal.
"""
from __future__ import print_function

import array
import collections
import datetime
import decimal
import fractions
import functools
import io
import logging
import os
import pickle
import random
import re
import string
import sys
import time
import uuid

PY2 = sys.version_info[0] == 2
D = datetime


class Local(object):
    """A class of the application: not granted."""

    def __init__(self):
        self.x = 1


class Buffer(io.BytesIO):
    """A buffer of the application: not granted."""


class Zone(D.tzinfo):
    """A tzinfo whose methods would run: not granted."""


def values():
    """(name, value, outcome); a name of one value at most, in every Python that has the classes."""
    yield "none", None, "accept"
    yield "bools", [True, False], "accept"
    yield "ints", [0, -1, 255, 256, 65536, 2**31, -2**31 - 1, 2**63, -2**63, 10**30, -10**400], "accept"
    yield "floats", [0.0, -0.0, 0.1, -1e300, 5e-324, float("inf"), float("-inf"), float("nan")], "accept"
    yield "text", [u"", u"abc", u"caf\xe9\n\\", u"\U0001f600", u"\u20ac" * 300, u"\x00"], "accept"
    yield "native_str", ["", "abc", "x" * 300], "accept"
    yield "bytes", [b"", b"abc", b"\x00\xff\n\\'\"", b"\xe9" * 300], "accept"
    yield "bytearray", [bytearray(), bytearray(b"ab\xff")], "accept"
    yield "complex", complex(1.5, -2), "accept"
    yield "tuples", [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "accept"
    yield "dict", {u"a": 1, 2: [3], (4, 5): {u"b": None}, 1.5: u"x", None: True}, "accept"
    yield "sets", [set(), set([1, 2]), frozenset(), frozenset([u"a", (1, 2)])], "accept"
    yield "long_list", list(range(3000)), "accept"
    yield "long_dict", dict((i, str(i)) for i in range(3000)), "accept"
    shared = [1, u"shared"]
    yield "shared", [shared, shared, {u"a": shared}], "accept"
    cycle = [1]
    cycle.append({u"me": cycle})
    yield "cycle", cycle, "accept"
    deep = []
    for _ in range(180):
        deep = [deep]
    yield "deep", deep, "accept"
    yield "range", range(0, 10**6, 7) if not PY2 else xrange(0, 10**6, 7), "accept"  # noqa: F821
    yield "decimals", [decimal.Decimal(t) for t in ("0", "-12.340", "1E+30", "NaN", "sNaN123", "-Infinity", "1E-400",
                                                    "0." + "1" * 300)], "accept"
    decimal.getcontext().capitals = 0
    yield "decimal_small_e", [decimal.Decimal("1E+30"), decimal.Decimal("-1.5E-30")], "accept"
    decimal.getcontext().capitals = 1
    yield "decimal_large", decimal.Decimal("1E+4300"), "native"
    yield "decimal_fine", decimal.Decimal("1E-4300"), "native"
    ints = {"b": 2**7, "h": 2**15, "i": 2**31, "l": 2**31, "B": 2**8, "H": 2**16, "I": 2**32, "L": 2**32}
    if not PY2:
        ints.update(q=2**63, Q=2**64)
    for code, beyond in sorted(ints.items()):
        low = 0 if code.isupper() else -beyond
        yield "array_" + code, [array.array(code), array.array(code, [low, 1, beyond - 1])], "accept"
    yield "array_reals", [array.array("f", [0.5, 1e300, float("nan")]), array.array("d", [-1e300, 1])], "accept"
    yield "array_text", [array.array("u", u"a\0\u20ac"), array.array("u")], "accept"
    if sys.version_info >= (3, 13):
        yield "array_points", array.array("w", u"a\U0010ffff"), "accept"
    yield "fractions", [fractions.Fraction(3, 7), fractions.Fraction(-5), fractions.Fraction(0.1),
                        fractions.Fraction(1, 10**100)], "accept"
    yield "date", [D.date.min, D.date.max, D.date(2024, 2, 29)], "accept"
    yield "time", [D.time.min, D.time.max, D.time(1, 2, 3, 4)], "accept"
    yield "datetime", [D.datetime.min, D.datetime.max, D.datetime(2024, 2, 29, 12, 34, 56, 789)], "accept"
    yield "timedelta", [D.timedelta.min, D.timedelta.max, D.timedelta(0, -1), D.timedelta(1, 2, 3)], "accept"
    yield "struct_time", [time.gmtime(0), time.localtime(0), time.strptime("2024", "%Y")], "accept"
    yield "uuid", [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1),
                   uuid.uuid5(uuid.NAMESPACE_DNS, "host.example")], "accept"
    yield "ordered", [collections.OrderedDict(), collections.OrderedDict([(u"b", 1), (u"a", [2])])], "accept"
    yield "counter", [collections.Counter(), collections.Counter(u"abca")], "accept"
    yield "deque", [collections.deque(), collections.deque([1, u"a", None])], "accept"
    yield "deque_maxlen", [collections.deque([], 5), collections.deque([1, 2], 2)], "accept"
    factories = [None, list, dict, set, frozenset, int, float, tuple, bool, bytes, type(u""), str, collections.Counter,
                 collections.OrderedDict, collections.deque]
    yield "defaultdict", [collections.defaultdict(f, {u"a": 1}) for f in factories], "accept"
    loop = collections.deque()
    loop.append([loop])
    # Python 2 writes the members as an argument, a list: it makes two deques of this one and changes the list of
    # the first one later.
    yield "deque_cycle", loop, "recipe" if PY2 else "accept"
    yield "record", {u"id": uuid.UUID(int=5), u"when": [D.datetime(2024, 2, 29), D.date(2024, 1, 1)],
                     u"price": decimal.Decimal("9.99"), u"tags": set([u"a", u"b"]),
                     u"rows": [collections.OrderedDict([(u"n", i), (u"v", (i, float(i)))]) for i in range(50)]}, "accept"

    yield "stat", [os.stat("/"), os.stat_result(range(10))], "global" if PY2 else "accept"
    yield "buffers", [io.BytesIO(), io.BytesIO(b"ab\xff"), at_end(io.BytesIO(b"abc")), io.StringIO(u"a\n"),
                      io.StringIO(u"a\r\n", newline=None), io.StringIO(u"", newline=u"")], "accept"
    yield "buffer_attribute", with_attribute(Buffer()), "global"
    yield "template", string.Template("$x"), "accept"
    yield "log_record", [logging.LogRecord("app", logging.INFO, "/a.py", 3, "%s", ("x",), None),
                         logging.makeLogRecord({"request": 7})], "accept"
    yield "log_record_class", logging.makeLogRecord({"args": (int,)}), "recipe"

    if PY2:
        import UserDict
        import UserList
        import UserString
        yield "longs", [long(5), long(2)**200], "accept"  # noqa: F821
        yield "high_str", "caf\xe9", "accept"
        yield "user", [UserList.UserList([1]), UserString.UserString("s")], "accept"
        yield "classic", UserDict.UserDict(a=1), "opcode"
    else:
        for name, value in values_of_3():
            yield name, value, "recipe" if name == "parameter_class" else "accept"
        yield "partial", functools.partial(int, "12", base=2), "recipe"
        yield "iterator", iter([1, 2]), "global"
        yield "exception", ValueError("x"), "global"
        yield "dict_class", dict, "root"
        yield "range_huge", range(10**4200), "accept"

    yield "class", collections.Counter, "root"
    yield "class_in_list", [[int]], "root"
    yield "function", len, "global"
    yield "instance", Local(), "global"
    yield "zone", D.datetime(2024, 2, 29, tzinfo=Zone()), "global"
    yield "regex", re.compile("a"), "global"
    yield "random", random.Random(1), "global"
    yield "factory", collections.defaultdict(len), "global"
    yield "factory_class", collections.defaultdict(decimal.Decimal), "recipe"
    yield "decimal_long", decimal.Decimal("1" * 513), "recipe"
    yield "deque_wide", collections.deque([], 10**7), "recipe"
    yield "ordered_attribute", with_attribute(collections.OrderedDict(a=1)), "recipe"


def at_end(buffer):
    buffer.seek(0, 2)
    return buffer


def with_attribute(value):
    value.note = 1
    return value


def values_of_3():
    import inspect
    import ipaddress
    import pathlib
    import subprocess
    import types
    import urllib.parse
    utc, east = D.timezone.utc, D.timezone(D.timedelta(hours=5, minutes=45), "NPT")
    yield "surrogate", ["\udcff", "a\ud800b"]
    yield "singletons", [Ellipsis, NotImplemented]
    yield "slice", [slice(1, None, 2), slice("a", [1], 1.5)]
    yield "context", [decimal.Context(), decimal.getcontext(), decimal.Context(prec=9, rounding=decimal.ROUND_05UP,
                                                                               flags=[decimal.Inexact])]
    yield "timezone", [utc, east, D.timezone(-D.timedelta(hours=23, minutes=59)), D.timezone.max]
    yield "aware", [D.datetime(2024, 2, 29, tzinfo=utc), D.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=east),
                    D.time(1, 2, tzinfo=east, fold=1)]
    yield "uuid_safe", uuid.UUID(int=5, **({"is_safe": uuid.SafeUUID.safe} if hasattr(uuid, "SafeUUID") else {}))
    yield "paths", [pathlib.PurePosixPath(), pathlib.PurePosixPath("/a", "../b.txt"), pathlib.PureWindowsPath("c:\\a", "b"),
                    pathlib.Path("a", "b"), pathlib.Path(b"/\xff".decode("utf-8", "surrogateescape"))]
    yield "addresses", [ipaddress.ip_address(t) for t in ("192.0.2.1", "0.0.0.0", "2001:db8::1", "::")]
    yield "networks", [ipaddress.ip_network(t) for t in ("192.0.2.0/24", "0.0.0.0/0", "2001:db8::/32", "::/0")]
    yield "interfaces", [ipaddress.ip_interface(t) for t in ("192.0.2.1/24", "255.255.255.255/32", "2001:db8::1/64")]
    if sys.version_info >= (3, 9):
        yield "scoped", [ipaddress.ip_address("fe80::1%eth0"), ipaddress.ip_interface("fe80::1%wlan-0.1/64")]
        import zoneinfo
        keys = sorted(zoneinfo.available_timezones())
        yield "zones", [zoneinfo.ZoneInfo(k) for k in keys] + [zoneinfo.ZoneInfo.no_cache(k) for k in keys[:3]]
    yield "chainmap", collections.ChainMap({"a": 1}, collections.OrderedDict(b=2), collections.defaultdict(int))
    yield "chainmap_empty", collections.ChainMap()
    yield "user", [collections.UserDict(a=1), collections.UserList([1]), collections.UserString("s")]
    yield "namespace", [types.SimpleNamespace(), types.SimpleNamespace(a=1, b=[types.SimpleNamespace(c=None)])]
    yield "completed", [subprocess.run(["true"]), subprocess.run("echo x", shell=True, stdout=subprocess.PIPE),
                        subprocess.CompletedProcess([pathlib.PurePosixPath("a"), b"b"], -9, "out", None)]
    yield "urls", [f("https://h.example/p;a?q=1#top") for f in (urllib.parse.urlparse, urllib.parse.urlsplit,
                                                                urllib.parse.urldefrag)]
    yield "terminal", os.terminal_size((80, 24))
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY
    yield "parameters", [inspect.Parameter("a", kind) for kind in kinds] + [
        inspect.Parameter("b", inspect.Parameter.KEYWORD_ONLY, default=1, annotation="int")]
    yield "parameter_class", inspect.Parameter("a", inspect.Parameter.KEYWORD_ONLY, annotation=int)
    yield "keys", {v: i for i, v in enumerate([
        decimal.Decimal("1.5"), fractions.Fraction(1, 3), D.date(2024, 1, 1), D.timedelta(1), uuid.UUID(int=1),
        uuid.UUID(int=2), pathlib.PurePosixPath("a"), ipaddress.ip_address("::1"), frozenset([1]), (1, (2, 3)),
        b"x", "x", range(3), 2j])}


def ways():
    """(name, dumps) of each pickler that this Python has."""
    if PY2:
        import cPickle
        return [("py", pickle.dumps), ("c", cPickle.dumps)]
    found = [("c", pickle.dumps), ("modern", lambda v, p: pickle.dumps(v, p, fix_imports=False))]
    if pickle.dumps is not pickle._dumps:
        found.append(("py", pickle._dumps))
    return found


def write(folder, named):
    """Writes each (name, value, outcome) in every way, and prints what is to be said about the file."""
    for name, value, outcome in named:
        for way, dumps in ways():
            for protocol in range(2 if name.startswith("buffer") else 0, pickle.HIGHEST_PROTOCOL + 1):
                if way == "modern" and protocol > 2:
                    continue  # fix_imports means nothing there
                data = dumps(value, protocol)
                path = os.path.join(folder, "%s.%s.p%d.pkl" % (name, way, protocol))
                with open(path, "wb") as out:
                    out.write(data)
                print(outcome, path)


def main():
    sys.setrecursionlimit(5000)  # for `deep` and the pickler in Python
    write(sys.argv[1], values())


if __name__ == "__main__":
    main()
