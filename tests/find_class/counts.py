#!/usr/bin/python3
"""Reads the dumps of `generated count` under callgrind: counts.py QUESTIONS DUMP...

For each size: instructions a look-up and conditional branches, for hit, near miss and random miss.  They must be the same, and
no branch at all.  Last line: N passed, N failed.
"""
import re
import sys


def read_dump(path):
    text = open(path, encoding="utf-8").read()
    label = re.search(r"^desc: Trigger: Client Request: (\d+) (\w+) (\w+)$", text, re.M)
    if not label:
        return None
    events = re.search(r"^events: (.*)$", text, re.M).group(1).split()
    totals = re.search(r"^(?:totals|summary): (.*)$", text, re.M).group(1).split()
    counts = dict(zip(events, map(int, totals)))
    return (int(label.group(1)), label.group(2), label.group(3)), counts.get("Ir", 0), counts.get("Bc", 0) + counts.get("Bi", 0)


def main():
    questions = int(sys.argv[1])
    found = {}
    for path in sys.argv[2:]:
        dump = read_dump(path)
        if dump:
            found[dump[0]] = dump[1:]
    passed = failed = 0
    for rows in sorted({key[0] for key in found}):
        for reading in ("old", "new"):
            kinds = [found.get((rows, reading, kind)) for kind in ("hit", "near", "random")]
            good = None not in kinds and len(set(kinds)) == 1 and kinds[0][0] > 0 and kinds[0][1] == 0
            passed, failed = passed + good, failed + (not good)
            shown = " ".join("%s" % (kind[0] / questions if kind else "none") for kind in kinds)
            branches = " ".join("%s" % (kind[1] if kind else "none") for kind in kinds)
            print("%s%5d rows, %s names: instructions %s; branches %s" % ("" if good else "FAILED: ", rows, reading, shown, branches))
    if len(found) != 30:
        print("FAILED: %d dumps of 30" % len(found))
        failed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
