#!/usr/bin/python3
"""Which lines the tests have run, by gcovr: one line a file, a total a folder, and a failure where a total is too low.

usage: coverage.py BUILD FOLDER:PERCENT...      (from the top folder, after tests of a build that counts)
"""
import json
import subprocess
import sys


def measured(build, folder):
    """(file, lines, lines run, text of the lines not run) of each source file of a folder."""
    objects = [build + "/" + folder, build + "/tests/unit"]  # some unit tests include a source file
    done = subprocess.run(["gcovr", "--root", ".", "--filter", folder + "/", "--gcov-ignore-parse-errors", "--json", "-", *objects],
                          stdout=subprocess.PIPE, check=True)
    for file in sorted(json.loads(done.stdout)["files"], key=lambda file: file["file"]):
        counts = {}
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
        yield file["file"], len(counts), sum(1 for count in counts.values() if count), ranges(counts)


def ranges(counts):
    """Lines that were not run, as `3-5,9`: lines without code between them join."""
    found, last = [], None
    for line in sorted(counts):
        if counts[line]:
            last = None
        elif last:
            found[-1][1] = last = line
        else:
            found.append([line, line])
            last = line
    return ",".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in found)


def percent(run, lines):
    return 100.0 * run / lines if lines else 0.0


def main():
    build, failed = sys.argv[1], 0
    for demand in sys.argv[2:]:
        folder, least = demand.split(":")
        lines = run = 0
        for name, file_lines, file_run, missed in measured(build, folder):
            lines, run = lines + file_lines, run + file_run
            print("%-32s %5d lines  %5.1f %%  %s" % (name, file_lines, percent(file_run, file_lines), missed))
        low = percent(run, lines) < float(least)
        print("%-32s %5d lines  %5.1f %%  %s" % (folder + "/", lines, percent(run, lines), "less than %s %%" % least if low else ""))
        failed += low
    return failed


if __name__ == "__main__":
    sys.exit(main())
