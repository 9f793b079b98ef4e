#!/usr/bin/python3
"""policies/pysandboxes.policy as a guard: results of a child, at protocol 5.  docs/systems.md names these tests.

usage: test_pysandboxes.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import array
import collections
import copyreg
import datetime
import decimal
import functools
import io
import ipaddress
import json
import operator
import os
import pathlib
import pickle
import pickletools
import re
import subprocess
import sys
import tempfile
import time
import types
import uuid
from fractions import Fraction

from alike import difference
from assemble import assemble, call, ref
from guards import guard, run_by_others
from policyc import Policyc
from test_agentix import Attack, Point, Report, Mode, check, comes_back, refusal, tally

try:
    from zoneinfo import ZoneInfo
except ImportError:  # before Python 3.9
    ZoneInfo = None

GUARDS = {"pysandboxes_guard": "policies/pysandboxes.policy"}
MOST_BYTES = 384 << 10

# What its opcode scan lets through.
ALLOWED = """BININT BININT1 BININT2 LONG1 LONG4 NONE NEWTRUE NEWFALSE BINFLOAT BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8
    SHORT_BINUNICODE BINUNICODE BINUNICODE8 EMPTY_LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_DICT SETITEM SETITEMS
    EMPTY_SET ADDITEMS FROZENSET MARK BINGET LONG_BINGET BINPUT LONG_BINPUT MEMOIZE STACK_GLOBAL REDUCE BUILD NEWOBJ NEWOBJ_EX PROTO
    FRAME STOP""".split()


def dumps(value):
    return pickle.dumps(value, min(5, pickle.HIGHEST_PROTOCOL))


def opcodes_are_those_of_the_scan(g):
    """44 of 68, on each channel."""
    check(len(ALLOWED) == 44, "%d opcodes" % len(ALLOWED))
    every = {op.name: op.code.encode("latin-1") for op in pickletools.opcodes}
    check(len(every) == 68 and set(ALLOWED) < set(every), "another Python")
    for channel in ("result", "descriptor"):
        loads = getattr(g, channel).loads
        for name, code in every.items():
            # The opcode's own refusal is none about operands, which these hardly are: enough of everything.
            data = b"\x80\x05" + b"(" * (name in ("POP_MARK", "LIST", "DICT", "TUPLE")) + code + b"\x00" * 12 + b"0\n0\n."
            error = refusal(loads, data)
            check((error.code == "R203") == (name not in ALLOWED), "%s, %s: %s" % (channel, name, error.code))


CORPUS = [1, "x" * 300, b"x" * 300, list(range(300)), dict.fromkeys(range(300)), 2**500, bytearray(b"x" * 300), tuple(range(9)), {1, 2}, frozenset({1, 2})]


def honest_pickles_have_these_opcodes(g):
    for value in CORPUS:
        data = dumps(value)
        check({op.name for op, _, _ in pickletools.genops(data)} <= set(ALLOWED), "%.60r" % (value,))
        comes_back(g.result.loads, value, range(4, 6))


def budgets_end_where_they_say(g):
    around = len(dumps(b"x" * (MOST_BYTES - 100))) - (MOST_BYTES - 100)  # opcodes and a length
    fits = dumps(b"x" * (MOST_BYTES - around))
    check(len(fits) == MOST_BYTES and len(g.result.loads(fits)) == MOST_BYTES - around, "%d bytes" % len(fits))
    error = refusal(g.result.loads, dumps(b"x" * (MOST_BYTES - 2)), "R301")
    check("bytes" in str(error) and "393216" in str(error).replace(",", "").replace("_", ""), str(error))
    for n in (256, 257):
        data = b"\x80\x05" + b"(" * n + b"t" * n + b"."
        if n <= 256:
            check(g.result.check(data) is None, "%d marks" % n)
        else:
            check("mark" in str(refusal(g.result.loads, data, "R301")), "%d marks" % n)
    for n in (256, 257):
        data = b"\x80\x05" + b"]" * n + b"a" * (n - 1) + b"."
        if n <= 256:
            check(g.result.check(data) is None, "a list %d deep" % n)
        else:
            check("depth" in str(refusal(g.result.loads, data, "R301")), "a list %d deep" % n)


def dead_budgets_are_named(build):
    """Its opcode and memo budgets, put into the policy: policyc says that nothing reaches them."""
    with open("policies/pysandboxes.policy", encoding="utf-8") as file:
        text = file.read()
    policyc = Policyc(build)
    for dead in ("opcodes 5_000_000", "memo 2_000_000"):
        more, count = re.subn(r"(budget\s+bytes 384KiB), ", r"\1, %s, " % dead, text)
        with tempfile.NamedTemporaryFile("w", suffix=".policy") as file:
            file.write(more)
            file.flush()
            status, _, messages = policyc.run(file.name, "--policy-dir", "policies")
        check(count == 1 and status == 2 and "P0079" in messages and dead.split()[0] in messages, "%s: %d %s" % (dead, status, messages))


def broken_streams_are_refused(g):
    for data in (b"", b"no pickle", b"\x80\x05", b"\x80\x05]", b"\x80\x05K", b"\x80\x05.", b"\x80\x05h\x00.", b"\x80\x05N0.", dumps([1])[:-1], dumps([1]) + b"N."):
        refusal(g.result.loads, data)
        refusal(g.descriptor.loads, data)


# ---- values


def values():
    """The 24 that its tests name, and each of its classes."""
    paris = [ZoneInfo("Europe/Paris"), datetime.datetime(2024, 2, 29, tzinfo=ZoneInfo("Europe/Paris"))] if ZoneInfo else []
    return paris + [
        {"items": [1, "two", (False, b"three")], "tags": frozenset("ab")}, pathlib.Path("/tmp/a"), pathlib.PurePosixPath("a/b"),
        pathlib.PureWindowsPath("c:/a"), datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        datetime.date(2024, 2, 29), datetime.time(12, 30, fold=1), datetime.timedelta(1, 2, 3), decimal.Decimal("1.25"), uuid.UUID(int=7),
        uuid.SafeUUID.safe, [uuid.UUID(int=7), {"a": (decimal.Decimal(1), [pathlib.Path("b")])}], Fraction(1, 3), ipaddress.ip_address("10.0.0.1"),
        ipaddress.ip_address("::1"), ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::/64"), ipaddress.ip_interface("10.0.0.1/8"),
        ipaddress.ip_interface("::1/64"), collections.OrderedDict(a=[1], b=pathlib.Path("c")), collections.Counter("aab"),
        collections.deque([1, 2, 3], 3), time.gmtime(0), range(1, 10, 2), complex(1, 2), bytearray(b"ab"), 2**500, {1, 2}, None,
    ]


def data_comes_back(g):
    for value in values():
        comes_back(g.result.loads, value, range(4, 6))
    check(g.result.loads(dumps(uuid.SafeUUID.unsafe)) is uuid.SafeUUID.unsafe, "another member")


def more_honest_values_come_back(g):
    """What the data-only mode refuses for no reason of safety."""
    for value in (collections.defaultdict(list, a=[1]), slice(1, 2), collections.ChainMap({"a": 1}), array.array("d", [0.5]), Ellipsis,
                  NotImplemented, types.SimpleNamespace(a=1), io.BytesIO(b"ab"), subprocess.CompletedProcess(["true"], 0), os.stat("."),
                  os.terminal_size((80, 25)), subprocess.CalledProcessError(1, "false"), ValueError("v"), json.JSONDecodeError("m", "{", 0)):
        data = dumps(value)
        try:
            made, wanted = g.result.loads(data), pickle.loads(data)
            check(type(made) is type(wanted) and (isinstance(value, (Exception, io.BytesIO, subprocess.CompletedProcess)) or made == wanted), "%r, not %r" % (made, wanted))
        except pickle.UnpicklingError as error:
            check(False, "%r: %s" % (value, error))
    for value in (Mode.FAST, Point(1, 2), Report("a"), [Mode.FAST, Point(Report("b"), 2)]):
        comes_back(g.result.with_types(Mode, Point, Report).loads, value, range(4, 6))


def sharing_is_kept(g):
    one = [1]
    made = g.result.loads(dumps({"a": [one, one], "b": (one,), "c": collections.deque([one])}))
    check(made["a"][0] is made["a"][1] is made["b"][0] is made["c"][0], "shared lists are several")
    level = []
    for _ in range(12):
        level = [level, level]
    check(difference(g.result.loads(dumps(level)), level) is None, "an honest graph that shares")


def what_is_no_data_is_refused(g):
    for value in (Report("a"), Point(1, 2), collections.OrderedDict(a=Report("a")), Mode.FAST, [collections.deque([Report("a")])]):
        error = refusal(g.result.loads, dumps(value), "R201")
        check("with_types(" in str(error), str(error))
    refusal(g.result.loads, dumps(Attack(os.system)), "R201")


def cycles_are_refused(g):
    own, holder, queue = [], {}, collections.deque()
    own.append(own)
    holder["a"] = [holder]
    queue.append(queue)
    ordered = collections.OrderedDict()
    ordered["a"] = ordered
    for value in (own, holder, queue, ordered):
        error = refusal(g.result.loads, dumps(value), "R213")
        check("value is cyclic" in str(error), str(error))


# ---- names


def forged():
    cls = eval("type('Forged', (), {'__reduce__': lambda self: (__import__('os').system, ('true',))})")
    return cls()


def calls_of_the_system_are_refused(g):
    for value in (Attack(os.system), forged(), functools.partial(len), operator.attrgetter("x"), Attack(subprocess.Popen)):
        refusal(g.result.loads, dumps(value), "R201")
    refusal(g.result.loads, assemble(ref("subprocess::Popen"), 4), "R201")


GADGETS = [("shutil::rmtree", "/x"), ("shutil::which", "sh"), ("io::open", "/tmp/x", "w"), ("_io::FileIO", "/tmp/x", "w"), ("signal::getsignal", 2),
           ("tempfile::mkdtemp",), ("pickle::loads", b"N."), ("types::FunctionType",), ("codecs::open", "/tmp/x", "w"),
           ("logging::FileHandler", "/tmp/x"), ("builtins::exit",), ("pysandboxes.remote.tools::os.system", "true"),
           ("pysandboxes.remote.tools::shutil.rmtree", "/x"), ("pathlib::Path.unlink", "/x"), ("pathlib::Path.write_text", "/x", "y")]


def gadgets_are_refused(g):
    check(len(GADGETS) == 15, "gadgets")
    tools = types.ModuleType("pysandboxes.remote.tools")
    tools.os, tools.shutil = os, __import__("shutil")
    sys.modules[tools.__name__] = tools
    try:
        for channel in (g.result, g.descriptor):
            for name, *args in GADGETS:
                for data in (assemble(call(name, *args), 4), assemble(ref(name), 4), assemble((call(name, *args),), 4)):
                    error = refusal(channel.loads, data, "R201")
                    module, _, qualname = name.replace("_io::", "io::").partition("::")
                    check((error.module, error.name) == (module, qualname), str(error))
    finally:
        del sys.modules[tools.__name__]


def a_module_that_holds_a_gadget(g):
    """Under the name of an attribute of a module that the policy grants others of."""
    for module, name in (("pathlib", "os"), ("pathlib", "os.system"), ("collections", "_sys"), ("uuid", "os.popen"), ("datetime", "sys.modules"), ("decimal", "__dict__")):
        refusal(g.result.loads, assemble(ref("%s::%s" % (module, name)), 4), "R201")
    pathlib.rmtree = __import__("shutil").rmtree
    try:
        refusal(g.result.loads, assemble(call("pathlib::rmtree", "/x"), 4), "R201")
    finally:
        del pathlib.rmtree
    kept, pathlib.PurePosixPath = pathlib.PurePosixPath, os.system
    try:  # bound when the guard was made
        check(type(g.result.loads(assemble(call("pathlib::PurePosixPath", "true"), 4))) is kept, "what is bound has changed")
    finally:
        pathlib.PurePosixPath = kept


def names_from_the_memo(g):
    data = b"\x80\x04]\x94(\x8c\x05posix\x94\x8c\x06system\x94e0"  # POP is not among the 44
    refusal(g.result.loads, data + b"h\x01h\x02\x93\x8c\x04true\x85R.", "R203")
    refusal(g.result.loads, b"\x80\x04(\x8c\x05posix\x94\x8c\x06system\x94h\x00h\x01\x93\x8c\x04true\x85Rt.", "R201")


def getattr_gives_zones_alone(g):
    for args in ((ref("pathlib::Path"), "unlink"), (ref("zoneinfo::ZoneInfo"), "clear_cache"), (ref("builtins::str"), "format"), ("x", "__class__")):
        refusal(g.result.loads, assemble(call("builtins::getattr", *args), 4), "R201", "R206", "R205")
    refusal(g.result.loads, assemble(ref("builtins::getattr"), 4), "R206", "R212")
    error = refusal(g.result.loads, assemble(ref("pathlib::Path.unlink"), 4), "R201")
    check("pathlib::Path.unlink" in str(error), str(error))


def extension_codes_are_refused(g):
    copyreg.add_extension("posix", "system", 200)
    try:
        for channel in (g.result, g.descriptor):
            refusal(channel.loads, b"\x80\x02\x82\xc8\x8c\x04true\x85R.", "R203", "R204")
            refusal(channel.loads, b"\x80\x05\x82\xc8\x8c\x04true\x85R.", "R203")
    finally:
        copyreg.remove_extension("posix", "system", 200)


def modules_are_not_imported(g):
    for name in ("wave::Wave_read", "xml.dom.pulldom::PullDOM"):
        module = name.split("::")[0]
        sys.modules.pop(module, None)
        refusal(g.result.loads, assemble(ref(name), 4), "R201")
        check(module not in sys.modules, module + " was imported")
    refusal(g.result.loads, assemble(ref("collections::NoSuch"), 4), "R201")
    data, kept = dumps(subprocess.CompletedProcess(["true"], 0)), sys.modules.pop("subprocess")
    try:
        error = refusal(g.result.loads, data, "R221")  # so this test is the first one: no row is bound yet
        check("not loaded" in str(error) and "subprocess" not in sys.modules, str(error))
    finally:
        sys.modules["subprocess"] = kept


def objects_with_what_they_hold(g):
    """An application's object, deep and wide, when its classes are named: what is one object stays one."""
    nodes = [Report("leaf")]
    for depth in range(80):
        nodes.append(Report(nodes[-1], [Mode.FAST, Point(depth, decimal.Decimal(depth)), {1, 2}, bytearray(b"a"), collections.deque([2**500])]))
    mine = g.result.with_types(Report, Mode, Point)
    comes_back(mine.loads, nodes[-1], range(4, 6))
    comes_back(mine.loads, [Report(str(n)) for n in range(500)], range(4, 6))
    shared = Report("s")
    made = mine.loads(dumps({"a": shared, "b": [shared], "c": Report(shared, shared)}))
    check(made["a"] is made["b"][0] is made["c"].title is made["c"].score, "one object is several")


def main():
    build = sys.argv[1]
    g = guard(build, "pysandboxes_guard")
    tally.run((modules_are_not_imported, opcodes_are_those_of_the_scan, honest_pickles_have_these_opcodes, budgets_end_where_they_say, broken_streams_are_refused,
               data_comes_back, more_honest_values_come_back, sharing_is_kept, what_is_no_data_is_refused, cycles_are_refused,
               calls_of_the_system_are_refused, gadgets_are_refused, a_module_that_holds_a_gadget, names_from_the_memo,
               getattr_gives_zones_alone, extension_codes_are_refused, objects_with_what_they_hold), g)
    tally.run((dead_budgets_are_named,), build)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
