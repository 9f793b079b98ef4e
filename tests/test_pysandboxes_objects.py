#!/usr/bin/python3
"""tools/examples/objects/objects.policy as a guard: results of a child as objects of any class that is not denied.  docs/systems.md names
these tests.  test_python_open.py has more of what comes through such channels, and of what does not.

usage: test_pysandboxes_objects.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import argparse  # noqa: F401: loaded, so that nothing is refused for that it is not
import collections
import contextlib  # noqa: F401: the same
import functools
import io
import itertools
import json
import operator
import os
import pkgutil  # noqa: F401: the same
import pydoc  # noqa: F401: the same
import random
import shutil
import subprocess
import sys
import tempfile
import types
import uuid
import xml.etree.ElementTree  # noqa: F401: the same

from assemble import assemble, call, ref
from guards import guard, run_by_others
from policyc import Policyc
from test_agentix import RAN, Attack, Mode, Point, Report, check, comes_back, refusal, tally
from test_pysandboxes import GADGETS, dumps, forged, values

GUARDS = {"objects_guard": "tools/examples/objects/objects.policy"}
POLICY = GUARDS["objects_guard"]
NOT_GRANTED = ("R201", "R206", "R212", "R216", "R217", "R218", "R224")


class Plain:
    """Without __eq__."""

    def __init__(self):
        self.me = self


def a_host_agrees_first(g):
    for data in (dumps(1), dumps(Report("a"))):
        refusal(g.result_objects.loads, data, "R904")
    check(g.result_objects.allow_fail_open().loads(dumps(1)) == 1, "agreed")


def policyc_is_told(build):
    policyc = Policyc(build)
    for options, code in (((), "P0083"), (("--allow-fail-open", "--today", "2031-01-01"), "P0085")):
        status, _, messages = policyc.run(POLICY, "--policy-dir", "policies", *options)
        check(status == 2 and code in messages, "%s: %d %s" % (options, status, messages))


def objects_hold_data_and_more(build):
    """What the channel for data takes, this one takes too."""
    policyc, shared = Policyc(build), ("--policy-dir", "policies", "--allow-fail-open", "--today", "2026-12-01")
    status, out, messages = policyc.run("diff", "policies/pysandboxes.policy:result", POLICY + ":result_objects", *shared)
    check(status == 1 and "narrowed" not in out and not messages, out + messages)
    status, out, messages = policyc.run("diff", "policies/pysandboxes.policy:result", POLICY + ":result", *shared)
    check(status == 0 and out.strip().endswith("same"), out + messages)
    with open(POLICY, encoding="utf-8") as file:
        text = file.read()
    for before, after, lost in (("any cyclic", "str", "root"), ("use pysandboxes_objects, std.plain,", "use pysandboxes_objects,", "range"),
                                ("marks 256", "marks 300", None), ("root any cyclic;", "root any cyclic;\n    budget marks 100;", "marks")):
        with tempfile.NamedTemporaryFile("w", suffix=".policy") as file:
            file.write(text.replace(before, after, 1))
            file.flush()
            status, _, messages = policyc.run(file.name, *shared)
        check(before in text and (status, "P0087" in messages) == ((2, True) if lost else (0, False)), "%s: %d %s" % (after, status, messages))
        check(not lost or lost in messages, messages)


def objects_come_whole(objects):
    for value in values() + [Mode.FAST, Point(1, 2), collections.OrderedDict(a=Report("a")), Report, ValueError("x")]:
        comes_back(objects.loads, value, (4, 5))
    nodes = [Report("leaf")]
    for depth in range(100):
        nodes.append(Report(nodes[-1], [Mode.FAST, Point(depth, 2**500), {1, 2}, bytearray(b"a"), uuid.UUID(int=depth)]))
    comes_back(objects.loads, nodes[-1], (4, 5))
    comes_back(objects.loads, [Report(str(n)) for n in range(500)], (4, 5))
    shared = Report("s")
    made = objects.loads(dumps({"a": shared, "b": [shared], "c": Report(shared, shared)}))
    check(made["a"] is made["b"][0] is made["c"].title is made["c"].score, "one object is several")
    made = objects.loads(dumps(Plain()))
    check(type(made) is Plain and made.me is made, "an object that holds itself")


def attacks_are_refused(objects):
    for value in (Attack(os.system), forged(), functools.partial(len), operator.attrgetter("x"), Attack(subprocess.Popen), Attack(eval),
                  itertools.count(), len, json.dumps, json.JSONEncoder().encode):
        refusal(objects.loads, dumps(value), *NOT_GRANTED)
    tools = types.ModuleType("pysandboxes.remote.tools")
    tools.os, tools.shutil, tools.rmtree = os, shutil, shutil.rmtree
    sys.modules[tools.__name__] = tools
    try:
        for name, *args in GADGETS + [("pysandboxes.remote.tools::rmtree", "/x"), ("pysandboxes.remote.tools::os",)]:
            for data in (assemble(call(name, *args), 4), assemble(ref(name), 4), assemble((call(name, *args),), 4)):
                refusal(objects.loads, data, *NOT_GRANTED)
    finally:
        del sys.modules[tools.__name__]


def names_from_the_memo(objects):
    refusal(objects.loads, b"\x80\x04(\x8c\x05posix\x94\x8c\x06system\x94h\x00h\x01\x93\x8c\x04true\x85Rt.", "R224")


# What gets past its 40 modules and 18 functions.
PAST_THE_LIST = [("pkgutil::resolve_name", "os:system"), ("uuid::_get_command_stdout", "id"), ("_frozen_importlib::_gcd_import", "antigravity"),
                 ("pydoc::locate", "os.system"), ("json::__dict__",), ("json::__builtins__",), ("_codecs::lookup", "utf-8"),
                 ("builtins::map", ref("builtins::eval"), ["1"]), ("builtins::super",), ("builtins::property", ref("builtins::eval")),
                 ("itertools::starmap", ref("builtins::eval"), [("1",)]), ("collections::defaultdict", ref("builtins::eval"))]


def what_gets_past_the_list_is_refused(objects):
    before = dict(vars(json))
    for name, *args in PAST_THE_LIST:
        for data in (assemble(call(name, *args), 4), assemble(ref(name), 4)):
            refusal(objects.loads, data[:-1] + b"\x8c\x05dumpsNs.", *NOT_GRANTED, "R126", "R131")
        if args:
            refusal(objects.loads, assemble(call(name, *args), 4), *NOT_GRANTED)
    check(dict(vars(json)) == before, "json has changed")


class Ends:
    def __del__(self):
        RAN.append("__del__")


class Acts:
    def __init__(self, *args):
        RAN.append("__init__")


class Pretends(type):
    """Makes classes that look like enums."""


class Looks(metaclass=Pretends):
    _member_map_ = {"A": 1}

    def __init__(self, *args):
        RAN.append("__init__")


class Loud(Exception):
    def __init__(self, *args):
        RAN.append("__init__")


def code_that_nobody_read_does_not_run(objects):
    """No __init__ by a call, no __del__, no state that C takes as it is; of an exception no __init__ either."""
    for name, *args in (("contextlib::_GeneratorContextManager", "x", (), None), ("argparse::FileType", "w"), 
                        ("_sitebuiltins::Quitter", "a", "b"), (__name__ + "::Acts", 1), (__name__ + "::Looks", 1), ("xml.etree.ElementTree::ElementTree", None, "/etc/passwd")):
        refusal(objects.loads, assemble(call(name, *args), 4), "R222")
    for data in (dumps(Ends()), dumps(random.Random(1))):
        refusal(objects.loads, data, "R222")
    made = objects.loads(assemble(call(__name__ + "::Loud", 1), 4))
    check(type(made) is Loud and made.args == (1,) and not RAN, "%r %s" % (made, RAN))
    data = dumps(Acts())
    del RAN[:]
    check(type(objects.loads(data)) is Acts and not RAN, str(RAN))


def main():
    build = sys.argv[1]
    g = guard(build, "objects_guard")
    objects = g.result_objects.allow_fail_open()
    tally.run((a_host_agrees_first,), g)
    tally.run((objects_come_whole, attacks_are_refused, names_from_the_memo, code_that_nobody_read_does_not_run, what_gets_past_the_list_is_refused), objects)
    tally.run((policyc_is_told, objects_hold_data_and_more), build)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
