#!/usr/bin/python3
"""Print what proving a root costs for each value: nanoseconds, and instructions as callgrind counts them.

usage: shapes.py SHAPES PAYLOADS [--rounds N]      (SHAPES: the program of shapes.c)
"""
import argparse
import glob
import os
import re
import subprocess
import tempfile


def instructions(program, payloads):
    """By "PAYLOAD ROOT WAY"."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=%s/out" % folder, program,
                        payloads, "1"], check=True)
        found = {}
        for path in glob.glob(folder + "/out.*"):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:totals|summary): (\d+)$", text, re.M)
            if name and total:
                found[name.group(1)] = int(total.group(1))
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("payloads")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    timed = subprocess.run([program, options.payloads, str(options.rounds)], check=True, stdout=subprocess.PIPE).stdout.decode()
    counted = instructions(program, options.payloads)
    print("matching alone, per value: ns are medians of %d rounds; by refutation: as if the graph might have cycles" % options.rounds)
    print("%-18s %-8s %9s %9s | %8s %8s | by refutation: %8s %8s"
          % ("payload", "root", "values", "matches", "ns", "instr.", "ns", "instr."))
    for line in timed.splitlines():
        payload, root, values, pairs, search, refutation = line.split()
        values = int(values)
        counts = [counted["%s %s %s" % (payload, root, way)] / values for way in ("search", "refutation")]
        print("%-18s %-8s %9d %9s | %8.2f %8.1f | %15s%8.2f %8.1f"
              % (payload, root, values, pairs, float(search) / values, counts[0], "", float(refutation) / values, counts[1]))


if __name__ == "__main__":
    main()
