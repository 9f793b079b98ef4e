#!/usr/bin/python3
"""What got past the guards that policies/agentix.policy and policies/pysandboxes.policy take the place of, what cost them too much, and
what docs/systems.md says: that each test which it names is one, and runs.

usage: test_systems.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
"""
import collections
import concurrent.futures
import copyreg
import io
import ipaddress
import os
import pathlib
import pickle
import re
import subprocess
import sys
import textwrap

import tblib_samples
import test_documents
from assemble import assemble, call, short
from guards import folder, guard, run_by_others
from scratch import environment
from test_agentix import Attack, Report, check, refusal, run, tally

GUARDS = {"agentix_guard": "policies/agentix.policy", "pysandboxes_guard": "policies/pysandboxes.policy"}


def name(of):
    return b"".join(map(short, of.split("::"))) + b"\x93"


def stream(*parts):
    """Of the opcodes that each of the policies has."""
    return b"\x80\x04" + b"".join(parts) + b"."


def fields(**pairs):
    return b"}(" + b"".join(short(key) + value for key, value in pairs.items()) + b"u"


# ---- states where none is written


def classes_are_not_changed(policies):
    """BUILD on a class, or on a function, would set attributes of the host's own."""
    targets = [("ipaddress::IPv4Address", "is_private"), ("pathlib::PosixPath", "is_symlink"), ("pathlib::PurePosixPath", "as_posix"), ("fractions::Fraction", "x"),
               ("collections::Counter", "most_common"), ("time::struct_time", "x"), ("ipaddress::IPv4Network", "is_global"), ("decimal::Decimal", "x"),
               ("datetime::date", "today"), ("collections::OrderedDict", "x"), ("collections::deque", "x"), ("uuid::UUID", "int"), ("builtins::int", "x"),
               ("builtins::ValueError", "x"), ("zoneinfo::ZoneInfo._unpickle", "x"), ("copyreg::_reconstructor", "x"), ("copyreg::__newobj__", "x"),
               ("builtins::getattr", "x"), ("tblib::Traceback", "tb_next"), ("agentix.bash::BashResult", "exit_code"), ("collections::defaultdict", "x")]
    private = ipaddress.IPv4Address.is_private
    for policy in policies:
        for target, attribute in targets:
            for state in (b"N" + fields(**{attribute: b"\x89"}) + b"\x86", fields(**{attribute: b"\x89"})):
                refusal(policy.loads, stream(name(target), state, b"b"))
                # within another value, and as an object that is no part of it
                refusal(policy.loads, stream(name("collections::deque"), b")R", name(target), state, b"ba"))
                refusal(policy.loads, stream(b"}", short("k"), name(target), state, b"bs"))
        mine = policy.with_types(Report)
        refusal(mine.loads, stream(name("test_agentix::Report"), b"N", fields(score=b"K\7"), b"\x86b"))
    check(Report.__dataclass_fields__["score"].default == Report.score == 0.5, "a class of the host has changed")
    check(ipaddress.IPv4Address.is_private is private and callable(pathlib.PosixPath.is_symlink), "a class of the host has changed")
    check(ipaddress.ip_address("10.0.0.1").is_private, "an address check is dead")


def values_have_one_face(policies):
    """BUILD on a value whose class writes none."""
    cases = [(call("pathlib::PosixPath", "/", "safe", "x"), {"_str": "/etc/hostname"}), (call("fractions::Fraction", 1, 2), {"_denominator": 0}),
             (call("ipaddress::IPv4Address", 1), {"_ip": "text"}), (call("collections::Counter", {}), {"most_common": 1}),
             (call("datetime::timedelta", 1, 0, 0), {"x": 1}), (call("decimal::Decimal", "1"), {"x": 1}), (call("collections::OrderedDict"), {"keys": 1}),
             (call("collections::deque"), {"x": 1}), (call("builtins::range", 0, 1, 1), {"x": 1}), (call("builtins::complex", 1.0, 2.0), {"x": 1})]
    for policy in policies:
        for value, state in cases:
            for form in (state, (None, state), (state, None)):
                value.state = [form]
                refusal(policy.loads, stream(assemble(value, 4)[2:-1].replace(b"(d", b"}")))
        for odd in (b"X\1\0\0\0x", b"N", b"G?\xf0\0\0\0\0\0\0", b"]"):
            refusal(policy.loads, stream(name("uuid::UUID"), b")\x81", fields(int=odd), b"b"), "R205")
        refusal(policy.loads, stream(name("time::struct_time"), b"(" + b"K\1" * 9 + b"t", fields(tm_zone=name("builtins::int")), b"\x86R"), "R205", "R201")
        refusal(policy.loads, stream(name("fractions::Fraction"), b"K\1K\0\x86R"), "R205")


def nothing_hides_in_containers(policies):
    """Classes, functions, cycles: within those containers whose members a guard did not look at."""
    for policy, cyclic in zip(policies, (True, False)):
        for inner in (name("subprocess::Popen"), name("builtins::len"), name("builtins::type")):
            for holder in (name("collections::deque") + b")R" + inner + b"a", name("collections::OrderedDict") + b")R" + short("k") + inner + b"s",
                           name("collections::Counter") + b"}" + short("k") + inner + b"s\x85R", b"]" + inner + b"a", b"(" + inner + b"t", b"\x8f(" + inner + b"\x90"):
                refusal(policy.loads, stream(holder))
        for holder in (name("collections::deque") + b")R" + name("builtins::int") + b"a", name("collections::Counter") + b"}" + short("k") + name("builtins::int") + b"s\x85R"):
            refusal(policy.loads, stream(holder))
        for own in (name("collections::deque") + b")R\x94h\0a", name("collections::OrderedDict") + b")R\x94K\1h\0s"):
            if cyclic:
                check(policy.check(stream(own)) is None, "a value that holds itself, where the root says so")
            else:
                refusal(policy.loads, stream(own), "R213")


def extension_codes_by_every_way(policies):
    """An Unpickler looks at opcodes as loads does."""
    copyreg.add_extension("test_agentix", "run", 0xFE)
    try:
        pickle.loads(b"\x80\x02\x82\xfe.")
        for policy in policies:
            for opcode in (b"\x82\xfe", b"\x83\xfe\0", b"\x84\xfe\0\0\0"):
                for loads in (policy.loads, policy.check, lambda d, p=policy: p.Unpickler(io.BytesIO(d)).load(), lambda d, p=policy: p.load(io.BytesIO(d))):
                    refusal(loads, stream(opcode, b")R"), "R203")
    finally:
        copyreg.remove_extension("test_agentix", "run", 0xFE)


class Acting(Exception):
    def __init__(self, *args):
        run("__init__")


def constructors_of_the_host_do_not_run(policies):
    """An exception class that is loaded and not granted; fields of another type than the class has."""
    for policy in policies:
        refusal(policy.loads, stream(name("test_systems::Acting"), b"K\1\x85R"), "R201")
        refusal(policy.loads, stream(name("%s::Acting" % __name__), b"K\1\x85R"), "R201")
    for state in (fields(exit_code=short("0"), stdout=short(""), stderr=short("")), fields(exit_code=b"K\0", stdout=name("collections::deque") + b")R", stderr=short(""))):
        refusal(policies[0].loads, stream(name("agentix.bash::BashResult"), b")\x81", state, b"b"), "R205")


def ends_and_past_of_exceptions(policies):
    for policy in policies:
        for end in ("SystemExit", "KeyboardInterrupt", "GeneratorExit", "StopIteration"):
            refusal(policy.loads, stream(name("builtins::" + end), b"K\0\x85R"), "R201")
        for attribute in ("__cause__", "__context__", "__traceback__", "__class__", "__suppress_context__"):
            refusal(policy.loads, stream(name("builtins::ValueError"), b")R\x94", b"}" + short(attribute) + b"h\0sb"), "R205", "R213")


def what_may_be_named_is_bounded(policies):
    """with_types: one policy's own, without what reaches the system."""
    for policy in policies:
        mine = policy.with_types(Report)
        data = pickle.dumps(Report("a"), 4)
        check(mine.loads(data) == Report("a"), "named")
        refusal(policy.loads, data, "R201")
        for cls in (subprocess.Popen, concurrent.futures.Executor.__class__, pickle.Unpickler):
            try:
                policy.with_types(cls)
                check(False, "%r may be named" % cls)
            except ValueError:
                check(True, "")


def rests_and_equal_keys(policies):
    for policy in policies:
        refusal(policy.loads, stream(b"N") + b"N.", "R132")
        for equal in (b"K\1", b"\x88", b"G\x3f\xf0\0\0\0\0\0\0"):
            refusal(policy.loads, stream(b"}(K\1K\1", equal, b"K\2u"), "R210")
            refusal(policy.loads, stream(b"\x8f(K\1", equal, b"\x90"), "R210")


# ---- what costs too much

BOMBS = textwrap.dedent(r'''
    import pickle, resource, sys
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    sys.path[:0] = [{tests!r}, {folder!r}]
    import agentix_guard, pysandboxes_guard
    from test_systems import BIG, HONEST
    policies = {{"agentix": agentix_guard, "result": pysandboxes_guard.result}}
    for what, data in BIG.items():
        for where, policy in policies.items():
            try:
                made = policy.loads(data)
                print("made", what, where, type(made).__name__)
            except policy.RefusedError as error:
                print("refused", what, where, error.code)
    for what, (data, count) in HONEST.items():
        for where, policy in policies.items():
            assert len(policy.loads(data)) == count, what
            print("honest", what, where)
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
''')


def shared(levels):
    """A list of twice the former, as often, in a list of them all: 2**levels values in a few bytes."""
    return stream(b"](]\x94", *(b"](h" + bytes([n]) + b"h" + bytes([n]) + b"e\x94" for n in range(levels)), b"e")


def called(of, *parts):
    return stream(name(of), b"(", *parts, b"tR")


RANGE = name("builtins::range") + b"(K\0J\0\x2d\x31\x01K\1tR"  # 20 million
BIG = {
    "sharing, 40 levels": shared(40), "sharing, 60 levels": shared(60), "deque of a range": called("collections::deque", RANGE),
    "Counter of a range": called("collections::Counter", RANGE), "list of a range": called("builtins::list", RANGE), "set of a range": called("builtins::set", RANGE),
    "tuple of a range": called("builtins::tuple", RANGE), "bytes of a range": called("builtins::bytes", RANGE), "frozenset of a range": called("builtins::frozenset", RANGE),
    "bytearray of two billion": called("builtins::bytearray", b"J\0\x94\x35\x77"), "Fraction of an exponent": called("fractions::Fraction", short("1e10000000")),
    "int of a long text": called("builtins::int", b"X\x40\x0d\x03\0" + b"9" * 200000), "equal hashes": stream(
        b"}(" + b"".join(b"\x8a" + bytes([len(k)]) + k + b"N" for k in ((i * (2**61 - 1)).to_bytes(10, "little") for i in range(9000))) + b"u"),
    "equal hashes in a set": stream(
        b"\x8f(" + b"".join(b"\x8a" + bytes([len(k)]) + k for k in ((i * (2**61 - 1)).to_bytes(10, "little") for i in range(9000))) + b"\x90"),
    "a list 60,000 deep": stream(b"]" * 60000 + b"a" * 59999), "a list as long as it says": stream(b"B\xff\xff\xff\xff"), "a long as long as it says": stream(b"\x8b\xff\xff\xff\x7f"),
    "a frame as long as it says": stream(b"\x95" + b"\xff" * 7 + b"\x7f"), "deques of any length": called("collections::deque", b")", b"\x8a\x08" + b"\xff" * 7 + b"\x7f"),
}
HONEST = {"sharing, 12 levels": (shared(12), 13), "a hundred sets": (stream(b"](" + b"\x8f" * 100 + b"e"), 100),
          "300 KB of bytes": (stream(b"B\xe0\x93\4\0" + b"x" * 300000), 300000), "numbers": (stream(b"](" + b"K\7" * 150000 + b"e"), 150000)}


def costs_are_bounded(policies, build):
    """Each is refused, in a child of little memory and time; an honest graph that shares is not."""
    script = BOMBS.format(tests=os.path.abspath("tests"), folder=folder(build))
    done = subprocess.run([sys.executable, "-B", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(PYTHONHASHSEED="0"))
    lines = done.stdout.decode().splitlines()
    check(done.returncode == 0, "%d: %s" % (done.returncode, "\n".join(lines[-10:])))
    for what in BIG:
        for where in ("agentix", "result"):
            found = [line for line in lines if line.split(" ", 1)[1].startswith("%s %s" % (what, where))]
            code = "R301" if "sharing" in what or "deep" in what else "R302" if "hashes" in what else "R"
            check(len(found) == 1 and found[0].startswith("refused %s %s %s" % (what, where, code)), "%s, %s: %s" % (what, where, found))
    check(sum(line.startswith("honest") for line in lines) == 2 * len(HONEST), "honest values")
    check(int(re.findall(r"^peak (\d+)$", "\n".join(lines), re.M)[0]) < 600, lines[-1])


# ---- leaks


def nothing_is_imported_by_a_refusal(policies):
    before = set(sys.modules)
    for policy in policies:
        for data in (called("builtins::str", b"C\1x", short("cp1140")), stream(name("concurrent.futures::ProcessPoolExecutor")), stream(name("xml.sax::make_parser")),
                     called("zoneinfo::ZoneInfo._unpickle", short("No/Such"), b"K\1"), called("zoneinfo::ZoneInfo._unpickle", short("../../etc/passwd"), b"K\1"),
                     called("zoneinfo::ZoneInfo._unpickle", short("tzdata"), b"K\0"), stream(name("encodings.cp1140::Codec")), stream(name("distutils.core::setup"))):
            refusal(policy.loads, data)
    check(not {m for m in set(sys.modules) - before if not m.startswith("zoneinfo")}, "imported: %s" % (set(sys.modules) - before))


def errors_are_of_one_type(policies):
    """Whatever is wrong: the caller catches one class."""
    broken = [b"", b"\x80", b"R.", stream(b"h\x07"), stream(b"b"), stream(b"0"), stream(b"K\1K\2s"), stream(b"K\1Q"), b"Pid\n.", stream(b"(e"), stream(b"K\1K\2a"),
              stream(name("builtins::NoSuch")), stream(name("pathlib._local::PosixPath"), b"K\1\x85R"), stream(name("numpy::NoSuch")), stream(name("sys::path")),
              stream(name("sys::modules")), called("datetime::date", b"C\4\xff\xff\xff\xff"), called("datetime::timezone", called("datetime::timedelta", b"K\7K\0K\0")[2:-1]),
              called("ipaddress::IPv4Network", short("999.1.1.1/8")), called("decimal::Decimal", short("no number")), called("zoneinfo::ZoneInfo._unpickle", short("No/Such"), b"K\1"),
              called("uuid::UUID", short("x")), stream(b"\x8c\x01\xff"), stream(b"\x97"), b"\x80\xff.", b"\xff" * 40, stream(b"K\1") [:-1], stream(b"\x95\xff\xff\xff\xff\xff\xff\xff\xff")]
    for policy in policies:
        for data in broken:
            error = refusal(policy.loads, data)
            check(error is not None and error.code and error.offset is not None, "%r: %r" % (data, error))


def refusals_say_where(policies):
    for policy, words in zip(policies, ("policy agentix 1", "channel result of policy pysandboxes 1")):
        error = refusal(policy.loads, stream(b"}", short("jobs"), b"]", name("app::Job"), b"as"), "R201")
        check((error.offset, error.opcode, error.path, error.module, error.name) == (20, "STACK_GLOBAL", "$.jobs[0]", "app", "Job"), str(error))
        check(words in str(error) and error.grant.startswith("module app {"), str(error))
        error = refusal(policy.loads, called("datetime::date", b"K\1"), "R205")
        check(error.rule.startswith("std/datetime.policy:"), str(error))


def helpers_are_spellings_alone(policies):
    """copyreg's three stand for other things, and are no values."""
    for policy in policies:
        for helper in ("_reconstructor", "__newobj__", "__newobj_ex__"):
            refusal(policy.loads, stream(name("copyreg::" + helper)), "R201", "R206", "R212")
            refusal(policy.loads, called("copyreg::" + helper, name("subprocess::Popen"), name("builtins::object"), b"N"), "R201", "R205", "R206")
    data = pickle.dumps(collections.OrderedDict(a=1), 0)
    check(policies[0].loads(data) == {"a": 1}, "an old protocol")
    check(policies[0].loads(pickle.dumps({1, 2}, 2)) == {1, 2} and policies[0].loads(pickle.dumps(bytearray(b"a"), 1)) == b"a", "names of Python 2")


def the_environment_turns_nothing_off(policies):
    kept = dict(os.environ)
    try:
        for variable in ("AGENTIX_PICKLE_TRUST", "PYSANDBOXES_GUARD", "UPK_TRUST"):
            os.environ[variable] = "1"
        for policy in policies:
            refusal(policy.loads, pickle.dumps(Attack(), 4), "R201")
    finally:
        os.environ.clear()
        os.environ.update(kept)


def verdicts_do_not_hang_on_what_is_loaded(policies):
    """The same stream is judged alike in a process that has loaded nothing of it."""
    for policy in policies:
        codes = []
        for kept in (None, sys.modules.pop("ipaddress")):
            try:
                policy.check(called("ipaddress::IPv4Address", b"K\1"))
                codes.append(refusal(policy.loads, stream(name("ipaddress::ip_address"))).code)
            finally:
                if kept is not None:
                    sys.modules["ipaddress"] = kept
        check(codes == ["R201", "R201"], str(codes))


def states_do_not_come_twice(policies):
    for policy in policies:
        refusal(policy.loads, stream(name("uuid::UUID"), b")\x81", fields(int=b"K\1"), b"b", fields(int=b"K\2"), b"b"), "R207")
        mine = policy.with_types(Report)
        one = name("test_agentix::Report") + b")\x81\x94"
        refusal(mine.loads, stream(one, b"}(" + short("title") + b"h\0" + fields(score=b"K\1") + b"b" + short("score") + b"K\1ub"), "R207", "R213", "R205")


# ---- the page


def the_page_names_tests():
    """Every row has tests; each is one, and its script runs it."""
    with open("docs/systems.md", encoding="utf-8") as file:
        page = file.read()
    rows = re.findall(r"^\| (\d\.\d+) \|(.*)\|$", page, re.M)
    wanted = ["%d.%d" % (part, n) for part, most in ((1, 18), (2, 44), (3, 22), (4, 13), (5, 14)) for n in range(1, most + 1)]
    check([number for number, _ in rows] == wanted, "docs/systems.md: not the rows in order: %s" % [number for number, _ in rows])
    for number, text in rows:
        named = re.findall(r"`((?:unit/)?test_\w+\.(?:py|c))` ((?:`\w+`(?:, )?)+)", text)
        check(named, "row %s has no test" % number)
        for script, functions in named:
            path = "tests/" + script
            check(os.path.isfile(path), "row %s: no file %s" % (number, path))
            body = test_documents.read(path) if os.path.isfile(path) else ""
            for function in re.findall(r"`(\w+)`", functions):
                check(function in test_documents.tests_in(path), "row %s: %s has no test %s" % (number, script, function))
                check(len(re.findall(r"\b%s\b" % function, body)) > 1, "row %s: %s does not run %s" % (number, script, function))


def main():
    build = sys.argv[1]
    tblib_samples.install()
    policies = guard(build, "agentix_guard"), guard(build, "pysandboxes_guard").result
    tally.run((classes_are_not_changed, values_have_one_face, nothing_hides_in_containers, extension_codes_by_every_way,
               constructors_of_the_host_do_not_run, ends_and_past_of_exceptions, what_may_be_named_is_bounded, rests_and_equal_keys,
               nothing_is_imported_by_a_refusal, errors_are_of_one_type, refusals_say_where, helpers_are_spellings_alone,
               the_environment_turns_nothing_off, verdicts_do_not_hang_on_what_is_loaded, states_do_not_come_twice), policies)
    tally.run((costs_are_bounded,), policies, build)
    tally.run((the_page_names_tests,))
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
