#!/usr/bin/python3
"""Names without a row in CPython: consent to `fail_open`, what comes through, and what never does.

usage: test_python_open.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import collections
import copyreg
import cProfile
import csv
import datetime
import decimal
import gc
import gzip
import inspect
import io
import json
import linecache
import logging
import operator
import os
import pathlib
import pickle
import pkgutil
import pydoc
import random
import shelve
import signal
import site
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import types
import unittest.mock
import uuid
from fractions import Fraction

import open_samples as samples
import tblib_samples
from alike import difference
from assemble import assemble, call, new, ref, short
from guards import guard, run_by_others
from open_samples import RAN
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"open_guard": "tests/policy/python/open.policy", "open_alone_guard": "tests/policy/python/open_alone.policy"}
# From 3.12 on paths have an __init__ of Python, so that only rows grant them.
PATH = pathlib.PurePosixPath("/a/b") if sys.version_info < (3, 12) else "/a/b"
PROTOCOLS = (2, 4, pickle.HIGHEST_PROTOCOL)
NAME_CODES = ("R201", "R216", "R217", "R218", "R219", "R224")

# Loaded, so that nothing is refused for that it is not.
LOADED = (cProfile, csv, gzip, inspect, linecache, logging, operator, pkgutil, pydoc, random, shelve, signal, site, sqlite3, ssl, struct, subprocess, tempfile,
          unittest.mock)


def dumps(value, protocol=4):
    return pickle.dumps(value, protocol)


def refusal(policy, data, cls="global", codes=NAME_CODES):
    """The RefusedError, of that class; nothing ran, and nothing was imported."""
    before, error = dict(sys.modules), None
    del RAN[:]
    try:
        made = policy.loads(data)
        check(False, "%.200r was loaded: %.200r" % (data, made))
    except policy.RefusedError as refused:
        error = refused
        check(error.cls == cls and error.code in codes, "%s of %s, not %s of %s: %s" % (error.code, error.cls, codes, cls, error))
    check(not RAN, "%s ran for %.200r" % (RAN, data))
    check(sys.modules == before, "modules changed: %s" % (set(sys.modules) ^ set(before)))
    return error


def comes_back(policy, value):
    for protocol in PROTOCOLS:
        data = dumps(value, protocol)
        try:
            found = difference(policy.loads(data), pickle.loads(data))
        except pickle.UnpicklingError as error:
            found = error
        check(found is None, "%.200r, protocol %d: %s" % (value, protocol, found))


# ---- consent


def consent_is_said(g):
    data, small = dumps(1), dumps(samples.Bare())
    for use in (lambda p: p.loads(data), lambda p: p.load(io.BytesIO(data)), lambda p: p.check(data),
                lambda p: p.Unpickler(io.BytesIO(data)).load(), lambda p: p.loads(b"")):
        for policy in (g.objects, g.objects.with_types(samples.Node), g.bare):
            try:
                check(False, "%r without consent" % (use(policy),))
            except g.RefusedError as error:
                check(error.code == "R904" and error.cls == "misuse", "%s" % error)
    own = g.objects.allow_fail_open()
    check(own is not g.objects and type(own) is g.Policy and "fail open" in repr(own) and "fail open" not in repr(g.objects), repr(own))
    check(own.loads(data) == 1 and own.load(io.BytesIO(data)) == 1 and own.check(small) is None, "with consent")
    check(type(own.Unpickler(io.BytesIO(small)).load()) is samples.Bare, "its Unpickler")
    check(own.__name__ == "objects" and own.__doc__ == g.objects.__doc__, "its name")
    check(refusal(g.objects, data, "misuse", ("R904",)) is not None, "the other one agrees as well")
    check(type(own.allow_fail_open().loads(small)) is samples.Bare, "twice")
    for policy in (g.exception, g.descriptor, g.exception.with_types(samples.Node)):
        try:
            policy.allow_fail_open()
            check(False, "nothing to agree to")
        except ValueError as error:
            check("fail open" in str(error), str(error))
    check("allow_fail_open" in dir(g.Policy) and "R904" in g.Policy.allow_fail_open.__doc__, "help")
    check("def allow_fail_open(self)" in stub(g), "stub")


def stub(g):
    with open(os.path.join(os.path.dirname(g.__file__), g.__name__ + ".pyi"), encoding="utf-8") as file:
        return file.read()


def consent_of_a_module(g):
    """Without channels the functions stand in the module, and this one only where it can be given."""
    alone = guard(sys.argv[1], "open_alone_guard")
    refusal(alone, dumps(1), "misuse", ("R904",))
    policy = alone.allow_fail_open()
    check(type(policy.loads(dumps(samples.Bare()))) is samples.Bare, "with consent")
    refusal(policy, assemble(call("open_samples::tidy", "/nothing"), 4))
    check("\ndef allow_fail_open() -> Policy" in stub(alone) and "\ndef allow_fail_open" not in stub(g), "stub")
    check(not hasattr(g, "allow_fail_open"), "a module with channels")


def consent_and_types(g):
    """In any order; what was given keeps its row, and its Policy may go."""
    data, small = dumps(samples.Pair(1, 2)), dumps(samples.Bare())
    one = g.objects.with_types(samples.Pair).allow_fail_open()
    other = g.objects.allow_fail_open().with_types(samples.Pair)
    gc.collect()
    for policy in (one, other, one.with_types(samples.Item), other.allow_fail_open()):
        check(policy.loads(data) == (1, 2) and type(policy.loads(small)) is samples.Bare, repr(policy))
        check("with types" in repr(policy) and "fail open" in repr(policy), repr(policy))
        error = refusal(policy, assemble(call("open_samples::Pair", 1, 2, 3), 4), "recipe", ("R205",))
        check("with_types" in str(error), str(error))
    policy = g.exception.with_types(samples.Secret, samples.Node)
    check(type(policy.loads(dumps(samples.Acts("x")))) is samples.Acts, "subclasses beside types")
    kept = weak(one)
    del one, other, policy
    gc.collect()
    check(kept() is None, "a Policy is left")


def weak(policy):
    """Is it still there?"""
    number = id(policy)
    return lambda: next((p for p in gc.get_objects() if id(p) == number and type(p).__name__ == "Policy"), None)


# ---- what a deny list does not let through


class Attack:
    def __reduce__(self):
        return os.system, ("echo attacked",)


FORGED = eval("type('Forged', (), {'__reduce__': lambda self: (os.system, ('echo attacked',))})")


def reducers(g):
    policy = g.objects.allow_fail_open()
    for protocol in range(0, pickle.HIGHEST_PROTOCOL + 1):
        refusal(policy, pickle.dumps(Attack(), protocol))
        refusal(policy, pickle.dumps([1, {"deep": FORGED()}], protocol))
    for value in (samples.part(len), operator.attrgetter("x"), operator.itemgetter(1), operator.methodcaller("x")):
        refusal(policy, dumps(value))
    refusal(policy, assemble(call("subprocess::Popen", ["/bin/true"]), 4))
    refusal(policy, assemble(new("subprocess::Popen"), 4))


def attacks_by_hand(g):
    """Names that act, with the modules loaded."""
    policy = g.objects.allow_fail_open()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made")
        inner = dumps(1)
        named = [("shutil::rmtree", folder), ("shutil::which", "sh"), ("io::open", path, "w"), ("_io::FileIO", path, "w"), ("io::FileIO", path, "w"),
                 ("signal::getsignal", 2), ("tempfile::mkdtemp",), ("pickle::loads", inner), ("types::SimpleNamespace",),
                 ("codecs::open", path, "w"), ("logging::FileHandler", path), ("builtins::exit",), ("open_samples::copier.rmtree", folder),
                 ("open_samples::os.system", "true"), ("pathlib::Path.unlink", path), ("pathlib::Path.write_text", path, "x"),
                 ("open_samples::tidy", folder), ("open_samples::part", len), ("json::codecs.open", path, "w"), ("builtins::open", path, "w"),
                 ("builtins::eval", "1"), ("builtins::type", "X", (), {}), ("builtins::__build_class__",), ("builtins::memoryview", b"x"),
                 ("posix::system", "true"), ("nt::system", "true"), ("_posixsubprocess::fork_exec",), ("_frozen_importlib::_gcd_import", "this"),
                 ("importlib::import_module", "this"), ("sys::exit",), ("sys::setrecursionlimit", 10), ("open_samples::functools.partial", len)]
        for name, *args in named:
            for protocol in (0, 2, 4):
                if protocol < 4 and "." in name.split("::")[1]:
                    continue  # spelled by getattr there
                refusal(policy, assemble(call(name, *[a for a in args if a is not len]), protocol))
                refusal(policy, assemble(ref(name), protocol))
        check(os.listdir(folder) == [] and os.path.isdir(folder), "a stream did something: %s" % os.listdir(folder))


def names_from_the_memo(g):
    policy = g.objects.allow_fail_open()
    for module, name in (("os", "system"), ("posix", "system"), ("subprocess", "call")):
        stream = b"\x80\x04" + short(module) + b"\x94" + short(name) + b"\x9400h\x00h\x01\x93" + short("true") + b"\x85R."
        refusal(policy, stream)
        refusal(policy, b"\x80\x04](" + short(name) + b"\x94" + short(module) + b"\x94e0h\x01h\x00\x93)R.")


def getattr_of_the_stream(g):
    policy = g.objects.allow_fail_open()
    for outer, inner in (("pathlib::Path", "unlink"), ("zoneinfo::ZoneInfo", "clear_cache"), ("open_samples::Bare", "__init__"),
                         ("open_samples::Bare", "__subclasses__"), ("open_samples::Noticed", "trap")):
        refusal(policy, assemble(call("builtins::getattr", ref(outer), inner), 4))
        refusal(policy, assemble(call(outer + "." + inner), 4))
    inner = policy.loads(assemble(call("builtins::getattr", ref("open_samples::Outer"), "Inner"), 2))
    check(inner is samples.Outer.Inner, "a nested class by getattr: %r" % inner)


def extension_codes(g):
    copyreg.add_extension("posix", "system", 240)
    try:
        for data in (b"\x80\x02\x82\xf0.", b"\x80\x02\x83\xf0\x00.", b"\x80\x02\x84\xf0\x00\x00\x00.", pickle.dumps(os.system, 2)):
            for policy in (g.objects.allow_fail_open(), g.exception):
                refusal(policy, data, "opcode", ("R203",))
    finally:
        copyreg.remove_extension("posix", "system", 240)


def gadgets_of_the_library(g):
    """Functions and modules of modules that the list forgot."""
    policy, bare = g.objects.allow_fail_open(), g.bare.allow_fail_open()
    hidden = {"json::__dict__", "json::__builtins__", "json::__spec__", "json::__loader__", "pkgutil::resolve_name", "uuid::_get_command_stdout",
              "_frozen_importlib::_gcd_import", "pydoc::locate", "cProfile::run", "sqlite3::connect", "gzip::open", "shelve::open",
              "linecache::getlines", "gc::get_objects", "atexit::register", "site::addsitedir", "inspect::getsource", "builtins::print",
              "builtins::dir", "_codecs::lookup", "_imp::create_builtin", "zipimport::zipimporter", "builtins::__loader__",
              "open_guard::objects", "open_guard::RefusedError.__init__", "tblib_samples::sys", "json::decoder", "json::scanner"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made")
        for name in ("sqlite3::Connection", "sqlite3.dbapi2::Connection", "gzip::GzipFile", "zipfile::ZipFile", "tarfile::TarFile", "bz2::BZ2File",
                     "lzma::LZMAFile", "tempfile::TemporaryDirectory", "logging::FileHandler", "logging.handlers::RotatingFileHandler",
                     "socketserver::TCPServer", "http.server::HTTPServer", "mailbox::Maildir", "smtplib::SMTP_SSL", "wave::Wave_write"):
            __import__(name.split("::")[0])
            for of in (policy, bare):
                refusal(of, assemble(call(name, path, "w"), 4))
        check(os.listdir(folder) == [], "made: %s" % os.listdir(folder))
    before = dict(vars(json))
    for name in sorted(hidden):
        for of in (policy, bare):
            refusal(of, assemble(ref(name), 4))
            refusal(of, assemble(call(name, "os:system"), 4))
            refusal(of, assemble(call(name, pairs=[("dumps", 1)]), 4))
    for name in ("json::__dict__", "json::__builtins__", "json::decoder"):
        data = assemble(ref(name), 4)[:-1]
        refusal(policy, data + b"(" + short("dumps") + b"Nu.")
        refusal(policy, data + b"}" + short("dumps") + b"Nsb.")
    check(dict(vars(json)) == before, "json is another")
    # What they are called in one module is not what they are.
    for name in ("dataclasses::FunctionType", "unittest.mock::CodeType", "unittest.mock::MethodType", "unittest.mock::ModuleType"):
        if hasattr(sys.modules[name.split("::")[0]], name.split("::")[1]):
            refusal(policy, assemble(call(name), 4))
            refusal(bare, assemble(ref(name), 4))


def functions_as_values(g):
    policy = g.objects.allow_fail_open()
    for name in ("os::system", "json::dumps", "open_samples::tidy", "builtins::len", "open_samples::Stack.append"):
        refusal(policy, assemble(call("collections::deque", [ref(name)]), 4))
        refusal(policy, assemble(call("collections::deque", call("builtins::map", ref(name), ["true"])), 4))
        refusal(policy, assemble([ref(name)], 4))


def classes_stay(g):
    """No state, items or pairs for a class, a constant, or what others hold."""
    policy = g.objects.allow_fail_open()
    targets = ("open_samples::Bare", "pathlib::PurePosixPath", "collections::Counter", "fractions::Fraction", "open_samples::Mode.FAST", "builtins::Ellipsis")
    for name in targets:
        for state in ({"x": 1}, (None, {"x": 1})):
            refusal(policy, assemble(ref(name), 4)[:-1] + assemble(state, 4)[2:-1] + b"b.", "kind", ("R126",))
    for made in (call("open_samples::Kept", state=[{"note": "theirs"}]), new("open_samples::Kept", state=[{"note": "theirs"}]),
                 call("open_samples::Mode", "fast", state=[{"x": 1}]), call("builtins::bool", 1, state=[{}])):
        before = dict(vars(samples.Kept))
        samples.Kept()
        refusal(policy, assemble(made, 4), "native", ("R223",))
        check(samples.Kept.one.note == "ours" and not hasattr(samples.Mode.FAST, "x"), "what others hold was changed: %s" % before)
    for what in ("type", "module", "function", "int"):
        refusal(policy, assemble(call("open_samples::Turns", what), 4), "native", ("R223",))
        refusal(policy, assemble(call("open_samples::Turns", what, state=[{"x": 1}]), 4), "native", ("R223",))
    check(not hasattr(samples.Bare, "x") and not hasattr(samples.shutil, "x"), "something was changed")


def returned_classes(g):
    """A class may return an instance of another one: that is judged like one that a stream names."""
    policy = g.objects.allow_fail_open()
    for make in (call, new):
        for state in ({}, {"state": [{"x": 1}]}):
            check(type(policy.loads(assemble(make("open_samples::Front", **state), 4))) is samples.Back, "a class below it")
            for name in sorted(samples.BEHIND):
                if name != "Back":
                    gc.collect()
                    del RAN[:]
                    error = refused(policy, assemble(make("open_samples::Front", name, **state), 4))
                    check(error and error.code in ("R222", "R223"), "%s: %s" % (name, error))
                    check(name in ("ends",) or "returned" in str(error), str(error))
    # OSError makes instances of the classes below it by its number: one of them is on a `never' line.
    for number, code in ((2, None), (32, "R223"), (13, None)):
        error = refused(g.exception, assemble(call("builtins::OSError", number, "x"), 4))
        check((error.code if error else None) == code, "%d: %s" % (number, error))
    check(type(policy.loads(assemble(call("builtins::OSError", 32, "x"), 4))) is BrokenPipeError, "it is denied there alone")


def refused(policy, data):
    """The RefusedError, or None."""
    try:
        policy.loads(data)
    except policy.RefusedError as error:
        return error
    return None


def unsafe_places(g):
    """Older Pythons print these by reading where they are told."""
    for policy in (g.objects.allow_fail_open(), g.exception):
        for start, end in ((-5, 3), (2, 1), (0, 10**6), (10**6, 10**6 + 1), (-2**40, -2**40 + 1)):
            refusal(policy, assemble(call("builtins::UnicodeDecodeError", "utf-8", b"abc", start, end, "r"), 4), "native", ("R223",))
            refusal(policy, assemble(call("builtins::UnicodeEncodeError", "utf-8", "abc", start, end, "r"), 4), "native", ("R223",))
            refusal(policy, assemble(call("builtins::UnicodeTranslateError", "abc", start, end, "r"), 4), "native", ("R223",))
        honest = UnicodeDecodeError("utf-8", b"abc", 1, 2, "r")
        check(str(policy.loads(dumps(honest))) == str(honest), "an honest one")
        refusal(policy, assemble(call("builtins::UnicodeDecodeError", "utf-8", b"abc", 1, 2, "r", state=[{"start": -9}]), 4), "native", ("R223",))


def instances_are_whole(g):
    """What C has in them is set, or they would end the process when they are used."""
    policy = g.objects.allow_fail_open()
    for name in ("builtins::staticmethod", "abc::abstractstaticmethod", "_struct::Struct", "_csv::Reader", "_csv::reader", "_ssl::_SSLSocket"):
        module, attribute = name.split("::")
        if isinstance(getattr(sys.modules.get(module), attribute, None), type):
            refusal(policy, assemble(new(name), 4), "recipe", ("R222",))
    for name in ("open_samples::Stack", "open_samples::Bag", "open_samples::Acts", "open_samples::Bench", "random::Random"):
        repr(policy.loads(assemble(new(name), 4)))


# ---- what comes through


def node(depth=1, wide=2):
    utc = datetime.timezone(datetime.timedelta(hours=2))
    items = [samples.Item(decimal.Decimal(i) / 4, datetime.datetime(2024, 2, 29, i % 24, tzinfo=utc), datetime.timedelta(i, 1)) for i in range(wide)]
    return samples.Node(samples.Mode.SLOW, PATH, uuid.UUID(int=7 + depth), items, {"first": items[0]}, frozenset([1, "x"]), {2.5},
                        samples.Pair(1, [2]), b"\0x", bytearray(b"ab"), 1.5 - 2j, 2**500, collections.deque([1, 2], 3), {"a": 2},
                        collections.OrderedDict([("z", 1), ("a", [])]), samples.Bits.A, [node(depth - 1, wide)] if depth > 1 else [])


def deep_objects(g):
    policy = g.objects.allow_fail_open()
    for depth, wide in ((1, 2), (2, 2), (20, 2), (100, 1), (1, 500)):
        value = node(depth, wide)
        for protocol in PROTOCOLS:
            made = policy.loads(dumps(value, protocol))
            check(made == value, "depth %d, width %d, protocol %d" % (depth, wide, protocol))
            while made.children:
                made = made.children[0]
            check(made.mode is samples.Mode.SLOW, "identity, depth %d" % depth)
            check(made.items[0] is made.named["first"], "sharing, depth %d" % depth)
    comes_back(policy, node(3, 5))


def sharing(g):
    policy = g.objects.allow_fail_open()
    shared, own = samples.Bare(), samples.Bare()
    own.x, own.y, own.me = shared, shared, own
    for protocol in PROTOCOLS:
        made = policy.loads(dumps({"a": shared, "b": shared, "list": [shared, own], "own": own}, protocol))
        check(made["a"] is made["b"] is made["list"][0] is made["own"].x is made["own"].y, "one object, protocol %d" % protocol)
        check(made["own"].me is made["own"] is made["list"][1], "a cycle, protocol %d" % protocol)


def values_and_classes(g):
    policy = g.objects.allow_fail_open()
    shaped = [samples.Slotted(1, [2]), samples.Mixed(1, 2), samples.Stack(), samples.Bag(), samples.Mode.FAST, samples.Bits.B, Fraction(1, 3),
              Ellipsis, NotImplemented, range(3), slice(1, 2), samples.Bare, [samples.Mode, samples.Outer.Inner], ValueError("x", 1),
              decimal.Decimal("-0.5"), datetime.date(2024, 2, 29), PATH, {samples.Pair(1, 2): {samples.Mode.SLOW}}]
    for value in shaped:
        comes_back(policy, value)
    for kind, value in ((samples.Stack, [1, 2]), (samples.Bag, {1: 2})):
        made = kind(value)
        for protocol in PROTOCOLS:
            check(list(policy.loads(dumps(made, protocol))) == list(pickle.loads(dumps(made, protocol))), "its own way to take members")
    check(policy.loads(dumps(samples.Mixed(1, 2))).parts() == (1, 2), "mangled slots")
    check(policy.loads(dumps(samples.Loose())).x == 1, "a state with what is no slot")
    made = policy.loads(assemble(new("open_samples::Bare", state=[{"__class__": 1, "x": 2}]), 4))
    check(type(made) is samples.Bare and made.x == 2, "a state that names its class")


# ---- looking without touching


class Lazy(types.ModuleType):
    def __getattribute__(self, name):
        RAN.append("module attribute " + name)
        return types.ModuleType.__getattribute__(self, name)

    def __getattr__(self, name):
        RAN.append("module __getattr__ " + name)
        return samples.Bare


def nothing_runs(g):
    policy = g.objects.allow_fail_open()
    lazy = sys.modules["open_lazy"] = Lazy("open_lazy")
    lazy.__dict__["Bare"] = samples.Bare
    lazy.__dict__["__getattr__"] = lambda name: RAN.append("PEP 562") or samples.Bare
    sys.modules["open_blocked"] = None
    sys.modules["open_other"] = samples.Bare()
    try:
        check(policy.check(assemble(ref("open_lazy::Bare"), 4)) is None, "of a lazy module")
        refusal(policy, assemble(ref("open_lazy::Missing"), 4), codes=("R217",))
        refusal(policy, assemble(ref("open_blocked::x"), 4), codes=("R216",))
        refusal(policy, assemble(ref("open_other::x"), 4), codes=("R217",))
    finally:
        for name in ("open_lazy", "open_blocked", "open_other"):
            del sys.modules[name]
    for name, code in (("this::s", "R216"), ("antigravity::fly", "R216"), ("xml.nothing::x", "R216"), ("json::nothing", "R217"),
                       ("open_samples::Noticed.trap", "R217"), ("open_samples::Noticed.asked", "R217"), ("open_samples::Noticed.missing", "R217"),
                       ("open_samples::RAN", "R218"), ("open_samples::Notices", "R224"), ("open_samples::Unnamed", "R218"),
                       ("open_samples::Denied", "R224"), ("open_samples::" + "a." * 40 + "b", "R217"), ("open_samples::Mode.MISSING", "R217"),
                       ("open_samples::Mode.FAST.value", "R217"), ("open_samples::copier", "R218")):
        refusal(policy, assemble(ref(name), 4), codes=(code,))
    for name in ("open_samples::Noticed", "open_samples::Lying"):
        del RAN[:]
        check(policy.check(assemble([ref(name), call(name)], 4)) is None and not RAN, "%s: %s" % (name, RAN))
    for name in ("open_samples::NoticedError", "open_samples::Acts", "open_samples::Told"):
        del RAN[:]
        try:
            g.exception.check(assemble(call(name), 4))
        except g.RefusedError as error:
            check(name.endswith("Told") and error.code == "R224" and "Secret" in str(error), str(error))
        check(not RAN, "%s: %s" % (name, RAN))
    check("this" not in sys.modules and "antigravity" not in sys.modules, "imported")


class Rebinds:
    """Puts another class into the place of the one that was judged, while objects are made."""

    def __new__(cls):
        samples.Bare, samples.Rebound = samples.Acts, samples.Bare
        return object.__new__(cls)


def what_was_judged_is_built(g):
    policy, own = g.objects.allow_fail_open(), samples.Bare
    sys.modules["__main__"].Rebinds = Rebinds
    data = assemble([call("__main__::Rebinds"), call("open_samples::Bare"), ref("open_samples::Bare")], 4)
    try:
        made = policy.loads(data)
    finally:
        samples.Bare = own
    check(type(made[1]) is own and made[2] is own, "%s" % made)


def find_class_is_not_asked(g):
    """An override is of rows: what was judged is what is built."""
    asked = []
    policy = g.objects.allow_fail_open()

    class Own(policy.Unpickler):
        def find_class(self, module, name):
            asked.append((module, name))
            return super().find_class(module, name)

    made = Own(io.BytesIO(dumps([samples.Bare(), Fraction(1, 2)]))).load()
    check(type(made[0]) is samples.Bare and made[1] == Fraction(1, 2) and asked == [("fractions", "Fraction")], "%s" % asked)
    try:
        Own(io.BytesIO()).find_class("open_samples", "Bare")
        check(False, "a name without a row")
    except g.RefusedError as error:
        check(error.code == "R201", str(error))


def main():
    g = guard(sys.argv[1], "open_guard")
    tblib_samples.install()
    tests = [consent_is_said, consent_and_types, consent_of_a_module, reducers, attacks_by_hand, names_from_the_memo, getattr_of_the_stream, extension_codes,
             gadgets_of_the_library, functions_as_values, classes_stay, returned_classes, unsafe_places, instances_are_whole, deep_objects, sharing, values_and_classes, nothing_runs,
             what_was_judged_is_built, find_class_is_not_asked]
    tally.run(tests, g)
    run_by_others(check, sys.argv[1], __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
