#!/usr/bin/python3
"""Each row of the shipped policies, built: what pickle.loads makes of the same stream, and nothing that a host could come to grief by.

The values are the cases of test_values_grants.py and kin, at the protocols that can write them, and what producers/values.py and kin
pickle.  Then the row fuzzer: extreme values of the right types for every row, with odd ones where `any` stands, are used as hosts use
values, in children with little memory and time.

usage: test_python_rows.py BUILD [--alone] [--rounds N]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
N rounds of the fuzzer are 1, with sanitizers 2.
"""
import contextlib
import copy
import itertools
import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings

from alike import difference
from assemble import Node, assemble, raw
from grants import lowest
from guards import guard, run_by_others, sanitized
from tally import Tally

tally = Tally()
check = tally.check

PROTOCOLS = (0, 2, 3, 4)
POLICIES = {"values_guard": "policies/values.policy", "exceptions_guard": "policies/exceptions.policy",
            "numpy_guard": "policies/numpy.policy"}
PRODUCERS = {"values_guard": "values.py", "exceptions_guard": "exceptions.py", "numpy_guard": "numpy_values.py"}

# What a host of these values has loaded.
MODULES = """array asyncio asyncio.exceptions asyncio.queues binascii collections concurrent.futures concurrent.futures.process
    concurrent.futures.thread csv datetime decimal fractions inspect io ipaddress json logging lzma os pathlib pickle queue random re
    socket sqlite3 ssl string struct subprocess time types urllib.error urllib.parse uuid xml.etree.ElementTree zipfile zlib
    zoneinfo sre_constants _pickle _suggestions""".split()

BIG = 2**4000


def rows():
    """{module: {row: accepted values}}"""
    import test_exceptions_grants
    import test_numpy_grants
    import test_values_grants
    import test_values_records
    cases = {"values_guard": {**test_values_grants.CASES, **test_values_records.TEXT, **test_values_records.MISC},
             "exceptions_guard": test_exceptions_grants.ERRORS, "numpy_guard": test_numpy_grants.ROWS}
    return {name: {row: accepted for row, (accepted, _) in of.items()} for name, of in cases.items()}


def load_modules():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in MODULES + ["numpy", "numpy.ma"]:
            try:
                __import__(name)
            except ImportError:
                pass


def built(loads, data):
    """(value, None) or (None, exception)"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return loads(data), None
    except Exception as error:
        return None, error


def is_expected(label, mine, refusal, theirs, error):
    """What is meant to differ from pickle; docs/python.md says why."""
    if refusal is not None and error is None:
        return "no such time zone" in str(refusal)
    if refusal is not None:
        unknown = refusal.code == "R221" and isinstance(error, (AttributeError, ImportError))
        return unknown or refusal.code == "R223"
    if error is not None:  # old spellings are one thing here, and new ones are known to all versions
        return "is not safe" in str(error) or "pathlib._local" in str(error) or "numpy._core" in str(error)
    zones = mine if isinstance(mine, list) else [mine]  # always from the cache
    return label.startswith("zone") and all(zone is type(zone)(zone.key) for zone in zones)


def printed_is_harmless(label, error):
    """Whoever prints an exception imports nothing, and gets a text of bearable length."""
    before = set(sys.modules)
    text = "".join(traceback.format_exception(type(error), error, None))
    check(set(sys.modules) == before, "%s: printing it imports %s" % (label, set(sys.modules) - before))
    check(len(text) < 1 << 20, "%s: %d characters are printed" % (label, len(text)))


def forget_name_from(error):
    """What an ImportError, or one in a group, never gets: whoever prints it would import the module that it names."""
    if isinstance(error, ImportError):
        with contextlib.suppress(AttributeError):
            del error.name_from
    for part in getattr(error, "exceptions", ()):
        forget_name_from(part)


def compare(module, label, data):
    mine, refusal = built(module.loads, data)
    theirs, error = built(pickle.loads, data)
    if isinstance(theirs, BaseException):
        forget_name_from(theirs)
    check(refusal is None or isinstance(refusal, module.RefusedError), "%s: %r" % (label, refusal))
    found = difference(mine, theirs) if refusal is None and error is None else "%r, and pickle says %r" % (refusal, error)
    check(found is None or is_expected(label, mine, refusal, theirs, error), "%s: %s" % (label, found))
    if isinstance(mine, BaseException):
        printed_is_harmless(label, mine)


def rows_are_built(build):
    for name, of in rows().items():
        module = guard(build, name)
        for row, accepted in of.items():
            for number, value in enumerate(accepted):
                for protocol in PROTOCOLS:
                    if protocol >= lowest(value):
                        compare(module, "%s, value %d, protocol %d" % (row, number, protocol), assemble(value, protocol))


def producers_values_are_built(build):
    for name, script in PRODUCERS.items():
        module = guard(build, name)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", "tests/producers/" + script, folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            if done.returncode and b"numpy" in done.stderr:
                continue
            check(done.returncode == 0, "%s: %s" % (script, done.stderr.decode()[-500:]))
            for line in done.stdout.decode().splitlines():
                outcome, path = line.split(" ", 1)
                with open(path, "rb") as file:
                    data = file.read()
                if outcome == "accept":
                    compare(module, os.path.basename(path), data)
                else:
                    refusal = built(module.loads, data)[1]
                    check(isinstance(refusal, module.RefusedError), "%s: %r" % (path, refusal))


def arrays_have_memory_of_their_own(build):
    """Writing to an array changes nothing else that the stream made of the same bytes."""
    if "numpy" not in sys.modules:
        return
    import numpy
    module, data = guard(build, "numpy_guard"), bytes(range(256)) * 16
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        array = numpy.frombuffer(data, "u1")
        stream = pickle.dumps([array.copy(), data, array.copy(), {data: 1}], protocol)
        first, kept, second, keys = module.loads(stream)
        if first.flags.writeable:
            first[:] = 7
        check(kept == data and keys == {data: 1} and second.tobytes() == data, "protocol %d: an array's memory is shared" % protocol)


def arrays_are_as_numpy_makes_them(build):
    """Those that are made at once, and those that are not: alone, behind others, of each kind, order and shape; one dtype is
    given its order between arrays that have it."""
    if "numpy" not in sys.modules:
        return
    import numpy
    module, some = guard(build, "numpy_guard"), 0
    names = ["byteorder", "isnative", "alignment", "itemsize", "flags", "metadata", "fields", "shape", "num", "str"]

    def described(a):
        return (type(a), a.dtype, a.dtype.byteorder, a.shape, a.strides, a.flags.writeable, a.flags.aligned, a.flags.c_contiguous,
                a.flags.f_contiguous, a.tobytes())

    def filled(shape, dtype):
        a = numpy.zeros(shape, dtype)
        if dtype.kind == "U":
            a[...] = "ab"
        elif a.size:
            memory = a.reshape(-1).view("u1")
            memory[:] = numpy.arange(len(memory)) % (2 if dtype.kind == "b" else 120)
        return a

    for code in ["?", "b", "B", "<i2", ">i2", "<i8", ">u4", "<f2", "<f4", ">f8", "<c8", ">c16", "S3", "<U2", ">U2", "V4", "<M8[s]",
                 "<m8[D]", [("a", "<i4"), ("b", "S2")]]:
        shapes = [(), (0,), (1,), (3,), (2, 3), (2, 0, 3), (5, 1, 2), (400,)]
        arrays = [filled(shape, numpy.dtype(code)) for shape in shapes]
        arrays += [numpy.asfortranarray(a) for a in arrays] + [a.T for a in arrays]
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            for value in [arrays, arrays[::-1], [arrays[4], arrays[4], (arrays[4],)], [a.copy() for a in arrays]]:
                data = pickle.dumps(value, protocol)
                wanted, made = pickle.loads(data), module.loads(data)
                for want, have in zip(wanted, made):
                    if isinstance(want, tuple):
                        check(have[0] is made[0], "an array is made twice")
                    else:
                        check(described(want) == described(have), "%s, protocol %d: %s, not %s" % (
                            code, protocol, described(have), described(want)))
    made = module.loads(pickle.dumps([numpy.arange(400), numpy.arange(400)], 4))
    check(made[1].flags.owndata and made[1].base is None, "the second array was not made at once")
    over = module.loads(pickle.dumps(numpy.arange(400), 5))
    over[1] = 7
    try:
        over.base.obj.append(0)
    except BufferError:
        check(over.tolist()[:3] == [0, 7, 2], "an array over a bytearray: %r" % over[:3])
    else:
        check(False, "a bytearray moved away under its array")
    readonly = numpy.arange(400)
    readonly.flags.writeable = False
    over = module.loads(pickle.dumps([readonly, readonly[200:]], 5))
    check(type(over[0].base) is bytes and not over[0].flags.writeable, "an array over bytes: %r" % over[0].base)
    for code in b"?", b"b1", b"i1", b"u1", b"i2", b"u4", b"i8", b"f2", b"f8", b"c8", b"c16", b"f16", b"g", b"M8", b"S3":
        for order in b"<", b">", b"|", b"=":
            data = b"\x80\x02cnumpy\ndtype\n(U%c%sI00\nI01\ntR(K\x03U\x01%sNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb." % (
                len(code), code, order)
            try:
                made = module.loads(data)
            except module.RefusedError:
                continue
            want, some = pickle.loads(data, encoding="latin1"), some + 1
            check([getattr(want, n) for n in names] == [getattr(made, n) for n in names] and want.__reduce__() == made.__reduce__(),
                  "%s, order %s: %r, not %r" % (code, order, made, want))
    check(some > 12, "only %d dtypes are admitted" % some)
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR(K\x01K\x02\x85h\x00I00\nU\x04\x00\x01\x00\x02tb"
    state = b"(K\x03U\x01%sNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    for order in (b"<", b">"):
        data = b"\x80\x02(cnumpy\ndtype\n(U\x02i2I00\nI01\ntRq\x00" + 2 * array + b"h\x00" + state % order + b"0" + 2 * array + b"t."
        wanted, made = pickle.loads(data, encoding="latin1"), module.loads(data)
        check([a.tolist() for a in made[1:]] == [a.tolist() for a in wanted[1:]] and made[0] == wanted[0] and len(made) == 5,
              "%s, not %s" % (made, wanted))


# ---- the row fuzzer


def odd_values():
    """What may stand where a policy says `any`, and more that stands for ints, text and containers."""
    loop = raw(b"(lp999\ng999\na")
    return [None, True, -1, 0, 2**31, -2**63, BIG, -BIG, 0.0, -0.0, 1e308, 5e-324, float("inf"), float("-inf"), float("nan"), "", "\0",
            "\ud800", "x" * 70000, "%1000d", "{0.__class__}", b"", b"\xff" * 1000, (), ((),) * 100, [], [[[]]], {}, {"": {}}, {1: 2},
            {float("nan"): 1}, set(), {1, "a"}, loop]


def changed(value, rng):
    """The value, with other parts here and there."""
    if rng.random() < 0.15:
        return rng.choice(odd_values())
    if isinstance(value, Node) and value.verb != "raw":
        made = copy.copy(value)
        made.args = tuple(changed(x, rng) for x in value.args)
        if value.state is not None:
            made.state = [changed(x, rng) if not isinstance(x, dict) else {k: changed(v, rng) for k, v in x.items()} for x in value.state]
        if value.items is not None:
            made.items = [changed(x, rng) for x in value.items]
        return made
    if isinstance(value, int) and not isinstance(value, bool):
        return rng.choice([value, value + 1, -value, 0, 1, 2**31 - 1, 2**63 - 1, 2**64 - 1, 2**127, -1])
    if isinstance(value, str):
        return rng.choice([value, value * 2, value[:1], value[::-1]])
    if isinstance(value, bytes):
        data = bytearray(value)
        if data and rng.random() < 0.5:
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)
    if isinstance(value, (list, tuple)):
        return type(value)(changed(x, rng) for x in value)
    if isinstance(value, dict):
        return {k: changed(v, rng) for k, v in value.items()}
    return value


def use(value, path):
    """Sixteen things that hosts do; what is raised is the host's to handle."""
    limit = itertools.islice

    def raised():
        if isinstance(value, BaseException):
            traceback.format_exception(type(value), value, None)

    for name, operation in (
            ("repr", lambda: repr(value)), ("str", lambda: str(value)), ("==", lambda: (value == value, value == 1, value != [])),
            ("hash", lambda: {value: 1}), ("copy", lambda: copy.copy(value)), ("deepcopy", lambda: copy.deepcopy(value)),
            ("pickle", lambda: pickle.dumps(value, 4)), ("json", lambda: json.dumps(value, default=repr, skipkeys=True)),
            ("iterate", lambda: list(limit(iter(value), 1000))), ("len", lambda: (bool(value), len(value))),
            ("order", lambda: sorted([value, value])), ("add", lambda: (value + value, value - value)),
            ("numbers", lambda: (abs(value), -value, value * 2)), ("format", lambda: "{:>10}".format(value)),
            ("attributes", lambda: [getattr(value, n, None) for n in dir(value)]), ("raise", raised)):
        path.seek(0)
        path.write(("%-20s" % name).encode())
        try:
            operation()
        except Exception:
            pass


def child(build, name, seed, rounds, path):
    """Runs until it is killed or done; the file at `path` says how far it came."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    sys.setrecursionlimit(1000)
    warnings.simplefilter("ignore")
    load_modules()
    module, rng, of = guard(build, name), random.Random(seed), rows()[name]
    used = 0
    with open(path, "wb", buffering=0) as file:
        for row in sorted(of):
            if not of[row]:
                continue
            tried = list(of[row]) if rounds > 1 else rng.sample(of[row], min(4, len(of[row])))
            for value in tried + [changed(rng.choice(of[row]), rng) for _ in range(8 * rounds)]:
                file.seek(20)
                file.truncate()
                file.write(row.encode() + b" ")
                try:
                    data = assemble(value, 4)
                except (TypeError, ValueError, OverflowError, UnicodeError, RecursionError):
                    continue
                file.write(data[:3000])
                signal.alarm(20)
                try:
                    made = module.loads(data)
                except module.RefusedError:
                    continue
                use(made, file)
                used += 1
                del made
    print(used)


def rows_are_fuzzed(build, rounds):
    with tempfile.TemporaryDirectory() as folder:
        for name in POLICIES:
            if name == "numpy_guard" and "numpy" not in sys.modules:
                continue
            path = os.path.join(folder, name)
            command = [sys.executable, "-B", __file__, build, "--child", name, str(rounds), path]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, PYTHONHASHSEED="0"))
            with open(path, "rb") as file:
                at = file.read()
            check(done.returncode == 0, "%s: a child ended with %s at %r\n%s" % (name, done.returncode, at[:3000], done.stderr[-800:]))
            check(done.returncode != 0 or int(done.stdout) > 100, "%s: only %s values were used" % (name, done.stdout))


def main():
    build = sys.argv[1]
    if "--child" in sys.argv:
        name, rounds, path = sys.argv[3:6]
        return child(build, name, 1, int(rounds), path)
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 2 if sanitized() else 1
    load_modules()
    traceback.format_exception(ValueError, ValueError(), None)  # what that loads
    rows_are_built(build)
    producers_values_are_built(build)
    arrays_have_memory_of_their_own(build)
    arrays_are_as_numpy_makes_them(build)
    rows_are_fuzzed(build, rounds)
    run_by_others(check, build, __file__, POLICIES)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
