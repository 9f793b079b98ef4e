#!/usr/bin/python3
"""Time a guard's loads against pickle.loads and against the two guards that can be written in Python, on the payloads of gen.py.

usage: python.py BENCH.so bench_guard.SUFFIX PAYLOADS [--protocols 2,4,5] [--rounds N] [--only times|memory|bombs|systems] [NAME...]

  restricted   a subclass of pickle.Unpickler with a find_class that looks names up in a dict
  prescan      the same, after pickletools.genops has counted opcodes, marks and memo entries: what bounds resources in Python

All of it is one process and one run: every round times each once on a payload, the order turning; the thread's CPU time counts,
and the ratio of medians is printed.  Memory is kept warm for all, as bench.py does.  First the garbage collector is disabled for
all; then it is left alone, each run beginning after a full collection, and once more with the next young collection counted, which
a guard may have put off.  Freeing a value is timed only where calls are so short (SHORT) that many are timed as one.

Then the guards of agentix and pysandboxes as Python has them (restated.py), against the modules agentix_guard and pysandboxes_guard
beside BENCH_GUARD, by the same rounds on payloads such as their results.

Peak memory is that of one call in a fresh child.  Bombs are single calls, the middle of three.
"""
import argparse
import functools
import gc
import importlib
import io
import os
import pickle
import pickletools
import statistics
import sys

import restated
from bench import HERE, NAMES, Library, geomean, time_loads

sys.path.insert(0, os.path.dirname(HERE))
import _codecs, datetime, decimal, uuid, perf_types  # noqa: a guard looks for modules that are there
from alike import difference  # noqa: E402

try:
    import numpy.core.multiarray, numpy.core.numeric  # noqa
except ImportError:
    pass

PRESCAN_ROUNDS = 3
SHORT = 1000000  # ns of pickle.loads; many shorter ones are timed as one
BOMB_MS = 50
LEAST_GROWTH = 1 << 20  # what is below says more of pages than of values
LARGE = 500000          # bytes of a pickle; such ones are compared at one protocol alone


# ---- the guards in Python


OBJECTS = {(module, name): getattr(sys.modules[module], name) for module, name in (
    ("perf_types", "Item"), ("datetime", "datetime"), ("decimal", "Decimal"), ("uuid", "UUID"), ("_codecs", "encode"),
    ("numpy.core.multiarray", "_reconstruct"), ("numpy.core.numeric", "_frombuffer"), ("numpy", "ndarray"), ("numpy", "dtype"))
    if module in sys.modules}


class Restricted(pickle.Unpickler):
    def find_class(self, module, name):
        try:
            return OBJECTS[module, name]
        except KeyError:
            raise pickle.UnpicklingError("%s.%s is not allowed" % (module, name)) from None


def restricted(data):
    return Restricted(io.BytesIO(data)).load()


MOST = 10 ** 7
STORES = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}
CLOSES = {"APPENDS", "SETITEMS", "ADDITEMS", "TUPLE", "LIST", "DICT", "FROZENSET", "OBJ", "INST", "POP_MARK"}


def prescan(data):
    opcodes = stored = marks = 0
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        opcodes += 1
        if name == "MARK":
            marks += 1
        elif name in CLOSES:
            marks -= 1
        elif name in STORES:
            stored += 1
            if argument is not None and argument > MOST:
                raise pickle.UnpicklingError("memo index")
        if opcodes > MOST or stored > MOST or marks > 1000:
            raise pickle.UnpicklingError("too much")
    return restricted(data)


# ---- times


def with_collection(loads, data):
    value = loads(data)
    gc.collect(0)
    return value


def rounds_of(calls, data, rounds, collecting):
    """Median ns of each of the calls, {name: function}; were many timed as one?  A single short call would tell how cold the
    caches are after what was timed before, above all after a full collection, which empties CPython's lists of free objects."""
    once = {name: min(time_loads(call, data, 1) for _ in range(2)) for name, call in calls.items()}
    many = once["loads"] < SHORT
    repeats = {name: max(2, int(2 * SHORT / max(once[name], 20))) if many else 1 for name in calls}
    times, names = {name: [] for name in calls}, list(calls)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if name == "prescan" and turn >= PRESCAN_ROUNDS:
                continue
            if collecting:
                gc.collect()
            times[name].append(time_loads(calls[name], data, repeats[name]))
    return {name: statistics.median(times[name]) for name in calls}, many


class Times:
    """Ratios of all payloads, by column."""

    HEAD = "%-16s %2s %9s %9s | gc disabled: %6s %10s %8s | left alone: %6s %10s %8s %10s"
    ROW = "%-16s %2d %9d %9.2f | %19s %10.2f %8.1f | %18s %10.2f %8.1f %10s"

    def __init__(self, guard, rounds):
        self.loads, self.rounds = guard.loads, rounds
        self.columns = {}  # (collecting, column): {(payload, protocol): how many times as long as the guard}

    def mode(self, key, data, collecting):
        calls = {"guard": self.loads, "loads": pickle.loads, "restricted": restricted, "prescan": prescan}
        if collecting:
            calls["guard+gc"] = functools.partial(with_collection, self.loads)
            calls["loads+gc"] = functools.partial(with_collection, pickle.loads)
        (gc.enable if collecting else gc.disable)()
        medians, many = rounds_of(calls, data, self.rounds, collecting)
        gc.enable()
        figures = {name: medians[name] / medians["guard"] for name in ("loads", "restricted", "prescan")}
        if collecting and not many:  # of many short calls the collections are in the times already
            figures["loads+gc"] = medians["loads+gc"] / medians["guard+gc"]
        for name, figure in figures.items():
            self.columns.setdefault((collecting, name), {})[key] = figure
        return medians, figures

    def measure(self, name, protocol, data):
        medians, off = self.mode((name, protocol), data, False)
        _, on = self.mode((name, protocol), data, True)
        deferred = "%.2f" % on["loads+gc"] if "loads+gc" in on else "-"
        print(self.ROW % (name, protocol, len(data), medians["loads"] / 1000, "%.2f" % off["loads"], off["restricted"],
                          off["prescan"], "%.2f" % on["loads"], on["restricted"], on["prescan"], deferred), flush=True)

    def mean(self, collecting, column):
        return geomean(self.columns.get((collecting, column), {}).values())


# ---- peak memory


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":")) * 1024


def growth(loads, path):
    """Bytes by which one call raises the resident set of a child at most."""
    end, child_end = os.pipe()
    child = os.fork()
    if child == 0:
        with open(path, "rb") as file:
            data = file.read()
        loads(pickle.dumps(None))
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak begins anew
        before = status("VmRSS")
        value = loads(data)
        os.write(child_end, b"%d" % (status("VmHWM") - before))
        del value
        os._exit(0)
    os.close(child_end)
    with os.fdopen(end, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    return int(answer)


def measure_memory(guard, files):
    print("peak memory of one call, MiB")
    ratios = {}
    for name, protocol, path in files:
        theirs, ours = growth(pickle.loads, path), growth(guard.loads, path)
        if theirs >= LEAST_GROWTH:
            ratios[name, protocol] = ours / theirs
            print("%-16s %2d  pickle.loads %7.1f  guard %7.1f  %5.2f times"
                  % (name, protocol, theirs / 2 ** 20, ours / 2 ** 20, ours / theirs), flush=True)
    return ratios


# ---- bombs


def length(opcode, size, claimed):
    return opcode + claimed.to_bytes(size, "little") + b"x."


def bombs():
    prime = 2 ** 61 - 1  # ints are hashed modulo this
    colliding = [k * prime for k in range(1, 20001)]
    keys = b"".join(b"h\x00M" + k.to_bytes(2, "little") + b"\x86N" for k in range(20000))
    return {
        "20,000 int keys that collide": pickle.dumps(dict.fromkeys(colliding), 4),
        "20,000 members of a set that collide": pickle.dumps(set(colliding), 4),
        "20,000 tuple keys that collide": pickle.dumps({(k,): None for k in colliding}, 4),
        "a key of pairs, each twice the one below, 50 levels": b"\x80\x04}K\x01" + b"2\x86" * 50 + b"Ns.",
        "20,000 keys that share a tuple 900 deep": b"\x80\x04}(" + b")" + b"\x85" * 900 + b"\x940"
                                                   + keys + b"u.",
        "lists, a million deep": b"\x80\x04" + b"]" * 10 ** 6 + b"a" * (10 ** 6 - 1) + b".",
        "tuples, a million deep": b"\x80\x04)" + b"\x85" * 10 ** 6 + b".",
        "a million marks": b"\x80\x04" + b"(" * 10 ** 6 + b".",
        "bytes of 2^62": length(b"\x80\x04\x8e", 8, 2 ** 62),
        "text of 2^62": length(b"\x80\x04\x8d", 8, 2 ** 62),
        "a bytearray of 2^62": length(b"\x80\x05\x96", 8, 2 ** 62),
        "a frame of 2^62": length(b"\x80\x04\x95", 8, 2 ** 62),
        "an int of 2^31 - 1 bytes": length(b"\x80\x04\x8b", 4, 2 ** 31 - 1),
        "memo entry 2^31 - 1": b"\x80\x04Nr" + (2 ** 31 - 1).to_bytes(4, "little") + b".",
    }


def measure_bombs(guard):
    print("bombs: ms of one call, the garbage collector left alone")
    longest = 0
    for name, data in bombs().items():
        verdict = []

        def attempt(bomb):
            try:
                guard.loads(bomb)
                verdict.append("loaded")
            except guard.RefusedError as error:
                verdict.append("refused, " + error.code)
            except MemoryError:
                verdict.append("MEMORY ERROR")

        ms = statistics.median(time_loads(attempt, data, 1) for _ in range(3)) / 1e6
        longest = max(longest, ms)
        print("%-52s %8d bytes  %8.3f  %s" % (name, len(data), ms, verdict[0]), flush=True)
    return longest


# ---- the guards of two systems


def measure_systems(rounds):
    """On each payload: pickle.loads, and for both systems its guard in Python and the compiled one, in the same rounds."""
    guards = {"allowlist": importlib.import_module("agentix_guard").loads, "data_only": importlib.import_module("pysandboxes_guard").result.loads}
    print("guards of two systems, the garbage collector left alone: us of pickle.loads and of the guard, and how many times as long the one in Python takes")
    print("%-20s %8s %10s | %10s %8s | %10s %8s" % ("payload", "bytes", "loads", "agentix", "times", "result", "times"))
    ratios = {name: [] for name in guards}
    for what, value in restated.payloads().items():
        data = pickle.dumps(value, 5)
        calls = {"loads": pickle.loads}
        for name, loads in guards.items():
            calls.update({name + " compiled": loads, name: getattr(restated, name)})
            if difference(loads(data), value):
                print("%s: another value: %s" % (what, difference(loads(data), value)))
        medians, _ = rounds_of(calls, data, rounds, True)
        for name in guards:
            ratios[name].append(medians[name] / medians[name + " compiled"])
        print("%-20s %8d %10.1f | %10.1f %8.1f | %10.1f %8.1f" % (what, len(data), medians["loads"] / 1000, *(
            figure for name in guards for figure in (medians[name + " compiled"] / 1000, medians[name] / medians[name + " compiled"]))), flush=True)
    return {name: geomean(figures) for name, figures in ratios.items()}


# ---- all


def target(text, figure, bound, at_least):
    reached = figure >= bound if at_least else figure <= bound
    print("  %-7s %-70s %6.2f, at %s %.2f"
          % ("reached" if reached else "MISSED", text, figure, "least" if at_least else "most", bound))


def print_times(times):
    for collecting, text, least in ((False, "gc disabled", 1.5), (True, "gc left alone", 1.4)):
        print("geometric means, %s: pickle.loads takes %.2f times as long as the guard, restricted %.2f, prescan %.1f"
              % (text, *(times.mean(collecting, name) for name in ("loads", "restricted", "prescan"))))
        if (True, "loads+gc") in times.columns and collecting:
            print("  with the next young collection: %.2f" % times.mean(True, "loads+gc"))
        by_payload = times.columns[collecting, "loads"]
        target("pickle.loads / guard, geometric mean", times.mean(collecting, "loads"), least, True)
        worst = min(by_payload, key=by_payload.get)
        target("pickle.loads / guard, the least: %s, protocol %d" % worst, by_payload[worst], 0.95, True)
        tiny = [1 / figure for (name, _), figure in by_payload.items() if name == "j_tiny"]
        if tiny:
            target("guard / pickle.loads, j_tiny, the most", max(tiny), 0.65, False)
        target("prescan / guard, geometric mean", times.mean(collecting, "prescan"), 15, True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("so")
    parser.add_argument("guard")
    parser.add_argument("payloads")
    parser.add_argument("--protocols", default="2,4,5")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", choices=("times", "memory", "bombs", "systems"))
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_intermixed_args()

    sys.setrecursionlimit(20000)
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.guard)))
    guard = importlib.import_module(os.path.basename(options.guard).split(".")[0])
    files = []
    for protocol in map(int, options.protocols.split(",")):
        for name in options.names:
            path = os.path.join(options.payloads, "%s.p%d.pkl" % (name, protocol))
            if os.path.exists(path) and (name, protocol) != ("h_bytes", 2):  # bytes at protocol 2 are text
                files.append((name, protocol, path))
    wanted = {options.only} if options.only else {"times", "memory", "bombs", "systems"}
    print("CPython %s; thread CPU time, medians of %d rounds, %d of prescan"
          % (sys.version.split()[0], options.rounds, min(options.rounds, PRESCAN_ROUNDS)))

    memory = measure_memory(guard, files) if "memory" in wanted else {}  # while this process is small
    library = Library(options.so)
    library.keep_warm()
    times = Times(guard, options.rounds)
    if "times" in wanted:
        print("how many times as long as the guard's loads each takes; + gc: with the next young collection on both sides")
        others = ("loads", "restricted", "prescan")
        print(Times.HEAD % ("payload", "p", "bytes", "loads us", *others, *others, "loads + gc"))
        compared = set()
        for name, protocol, path in files:
            with open(path, "rb") as file:
                data = file.read()
            if name not in compared or len(data) < LARGE:
                compared.add(name)
                unlike = difference(guard.loads(data), pickle.loads(data))
                if unlike:
                    print("%s, protocol %d: another value than that of pickle.loads: %s" % (name, protocol, unlike))
                    return 1
            times.measure(name, protocol, data)
    longest = measure_bombs(guard) if "bombs" in wanted else None
    systems = measure_systems(options.rounds) if "systems" in wanted else {}

    if "times" in wanted:
        print_times(times)
    if memory:
        most = max(memory, key=memory.get)
        target("peak memory, guard / pickle.loads, the most: %s, protocol %d" % most, memory[most], 1.35, False)
    for name, figure in systems.items():
        print("geometric mean: %s in Python takes %.1f times as long as its compiled policy" % (name, figure))
    if longest is not None:
        target("ms of the slowest bomb", longest, BOMB_MS, False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
