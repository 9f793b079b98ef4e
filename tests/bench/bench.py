#!/usr/bin/python3
"""Time memcpy, an opcode walk, upk_check, upk_decode and CPython's pickle.loads on the payloads of gen.py.

usage: bench.py BENCH.so PAYLOADS [--protocols 2,4,5] [--rounds N] [NAME...]

All of it is one process and one run: every round times each of the five once on a payload, the order turning; the thread's
CPU time counts, and the median over the rounds is printed.  The garbage collector is off, memory is kept warm for both
sides, and freeing the result is not timed (but for the two payloads that take less than a microsecond or so, where many
runs are timed as one, frees included on both sides).
"""
import argparse
import ctypes
import gc
import math
import os
import pickle
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import datetime, decimal, uuid, perf_types  # noqa: imported before they are timed

NAMES = ("a_api", "a2_api_unshared", "b_ints", "c_strs", "d_dict", "e_objs", "f_std", "g_numpy", "h_bytes", "i_deep", "j_tiny")
COLUMNS = ("memcpy", "walk", "check", "decode", "loads")


class Refused(Exception):
    pass


class Library:
    def __init__(self, path):
        self.so = ctypes.CDLL(path)
        for name in COLUMNS[:4]:
            getattr(self.so, "bench_" + name).restype = ctypes.c_double
        self.so.bench_values.restype = ctypes.c_uint64
        self.opcodes = ctypes.c_uint64()
        self.memory = ctypes.c_size_t()
        self.message = ctypes.create_string_buffer(500)

    def keep_warm(self):
        """malloc gives nothing back, and CPython's arenas are kept by the library's own allocator."""
        self.so.bench_keep_warm()

        class ArenaAllocator(ctypes.Structure):
            _fields_ = [("ctx", ctypes.c_void_p), ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p)]

        warm = ArenaAllocator(None, ctypes.cast(self.so.bench_arena_new, ctypes.c_void_p),
                              ctypes.cast(self.so.bench_arena_free, ctypes.c_void_p))
        ctypes.pythonapi.PyObject_SetArenaAllocator(ctypes.byref(warm))

    def timed(self, seconds):
        if seconds < 0:
            raise Refused(self.message.value.decode())
        return seconds

    def run(self, column, data, repeats):
        """Nanoseconds of one run."""
        size, count = ctypes.c_size_t(len(data)), ctypes.c_size_t(repeats)
        if column == "memcpy":
            return self.timed(self.so.bench_memcpy(data, size, count))
        if column == "walk":
            return self.timed(self.so.bench_walk(data, size, count, ctypes.byref(self.opcodes)))
        if column == "check":
            return self.timed(self.so.bench_check(data, size, count, self.message, ctypes.c_size_t(500)))
        if column == "decode":
            return self.timed(self.so.bench_decode(data, size, count, ctypes.byref(self.memory), self.message,
                                                   ctypes.c_size_t(500)))
        return time_loads(pickle.loads, data, repeats)

    def values(self, data):
        return self.so.bench_values(data, ctypes.c_size_t(len(data)))


def time_loads(loads, data, repeats):
    clock = time.thread_time_ns
    if repeats == 1:
        start = clock()
        value = loads(data)
        elapsed = clock() - start
        del value
        return elapsed
    start = clock()
    for _ in range(repeats):
        loads(data)
    return (clock() - start) / repeats


def measure(library, data, rounds):
    """Medians by column."""
    repeats = {}
    for column in COLUMNS:
        once = library.run(column, data, 1)
        once = min(once, library.run(column, data, 1))
        repeats[column] = 1 if once > 20000 else max(2, int(2000000 / max(once, 20)))
    times = {column: [] for column in COLUMNS}
    for turn in range(rounds):
        first = turn % len(COLUMNS)
        for column in COLUMNS[first:] + COLUMNS[:first]:
            times[column].append(library.run(column, data, repeats[column]))
    return {column: statistics.median(times[column]) for column in COLUMNS}


def geomean(figures):
    return math.exp(sum(map(math.log, figures)) / len(figures)) if figures else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("so")
    parser.add_argument("payloads")
    parser.add_argument("--protocols", default="2,4,5")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_args()

    sys.setrecursionlimit(20000)
    library = Library(options.so)
    library.keep_warm()
    gc.disable()

    print("CPython %s, thread CPU time, medians of %d rounds, memory warm, gc off; decode and check by libupk"
          % (sys.version.split()[0], options.rounds))
    print("%-18s %2s %10s %9s | ns per opcode: %6s %6s %6s %6s %6s | %9s %9s | %8s %8s"
          % ("payload", "p", "bytes", "opcodes", *COLUMNS, "MB/s", "loads", "x loads", "B/value"))
    figures = {key: [] for key in COLUMNS + ("ratio", "check ratio", "memory")}
    with open(os.path.join(options.payloads, "a_api.p4.pkl"), "rb") as file:
        measure(library, file.read(), 3)  # the first to run pays for memory that later ones find warm
    api = []
    for protocol in map(int, options.protocols.split(",")):
        for name in options.names:
            path = os.path.join(options.payloads, "%s.p%d.pkl" % (name, protocol))
            if not os.path.exists(path) or (name == "h_bytes" and protocol == 2):
                continue  # no numpy; bytes at protocol 2 are text, which says nothing about bytes
            with open(path, "rb") as file:
                data = file.read()
            try:
                medians = measure(library, data, options.rounds)
            except Refused as refusal:
                print("%-18s %2d refused: %s" % (name, protocol, refusal))
                return 1
            opcodes, values = library.opcodes.value, library.values(data)
            per_opcode = [medians[column] / opcodes for column in COLUMNS]
            bulk = len(data) > 200 * opcodes  # copies of large bytes: no figure for one opcode or value
            ratio = medians["loads"] / medians["decode"]
            per_value = library.memory.value / values
            print("%-18s %2d %10d %9d | %14s %s | %9.0f %9.0f | %8.2f %8.1f"
                  % (name, protocol, len(data), opcodes, "",
                     " ".join("%6s" % ("-" if bulk else "%.2f" % figure) for figure in per_opcode),
                     len(data) / medians["decode"] * 1e3, len(data) / medians["loads"] * 1e3, ratio, per_value), flush=True)
            if name == "a_api":
                api.append(ratio)
            if name != "h_bytes":  # a view of 64 MiB against a copy of them: no ratio
                figures["ratio"].append(ratio)
                figures["check ratio"].append(medians["loads"] / medians["check"])
            if not bulk:
                for column, figure in zip(COLUMNS, per_opcode):
                    figures[column].append(figure)
                figures["memory"].append(per_value)
    print("geometric means; ns per opcode and bytes per value without payloads of large bytes, ratios without h_bytes:")
    print("  ns per opcode: " + "  ".join("%s %.2f" % (column, geomean(figures[column])) for column in COLUMNS))
    print("  pickle.loads takes %.2f times as long as upk_decode, %.2f times as long as upk_check"
          % (geomean(figures["ratio"]), geomean(figures["check ratio"])))
    if api:
        print("  a_api: %s times" % ", ".join("%.2f" % ratio for ratio in api))
    print("  bytes per value: %.1f" % geomean(figures["memory"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
