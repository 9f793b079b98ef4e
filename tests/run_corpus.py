#!/usr/bin/python3
"""Compare what the tools say about every pickle of the corpus with what the corpus expects.

usage: run_corpus.py BUILD PART...      (from the top folder)

parts:
    inspect     `unpickle --inspect`: the tree of every good file; the class of every hostile stream that needs no policy
    same        `unpickle -p values` and `policyc try policies/values.policy`, one by compiled tables, the other by tables made
                in memory: not one byte of difference, whatever form is printed

The corpus stands unpacked in BUILD/corpus.  One line is printed for each failure, and at the end `N passed, N failed`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from tally import Tally

# Classes that need no policy, in the order of the machine's checks; the rest is decided by tables.
MACHINE_CLASSES = ("truncated", "opcode", "protocol", "argument", "stack", "memo", "kind", "limit", "trailing")


class Corpus:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)

    def path(self, name):
        return os.path.join(self.folder, name)

    def good(self):
        """(path, entry, file, expected tree) of every good file."""
        for entry in self.manifest["good"]:
            for file in entry["files"]:
                yield self.path(file["file"]), entry, file, entry["trees"][file["tree"]]

    def hostile(self):
        for entry in self.manifest["hostile"]:
            yield self.path(entry["file"]), entry

    def all_paths(self):
        return [path for path, *_ in self.good()] + [path for path, *_ in self.hostile()]


def run(command, paths):
    """Verdicts by path, each the fields behind FILE, and the whole output.  One line a file, in order, or it is an error."""
    with tempfile.NamedTemporaryFile("w", suffix=".list", encoding="utf-8") as names:
        names.write("".join(path + "\n" for path in paths))
        names.flush()
        done = subprocess.run(command + ["--tsv", "--files-from", names.name], stdout=subprocess.PIPE, timeout=900)
    lines = done.stdout.decode("utf-8").split("\n")
    if lines.pop() != "":
        sys.exit("%s: the last line has no end" % command)
    verdicts = {}
    if len(lines) != len(paths):
        sys.exit("%s: exit %d, %d lines for %d files" % (command, done.returncode, len(lines), len(paths)))
    for path, line in zip(paths, lines):
        fields = line.split("\t")
        if fields[0] != path:
            sys.exit("%s: line for %s says %r" % (command, path, line[:200]))
        shapes = {"accept": 3, "refused": 6, "io": 3}
        if len(fields) < 2 or shapes.get(fields[1]) != len(fields):
            sys.exit("%s: malformed line %r" % (command, line[:200]))
        verdicts[path] = fields[1:]
    wanted = max([{"accept": 0, "refused": 1, "io": 3}[fields[0]] for fields in verdicts.values()])
    if done.returncode != wanted:
        sys.exit("%s: exit %d, expected %d" % (command, done.returncode, wanted))
    return verdicts, done.stdout


def inspect(build, corpus, tally):
    expected = {}
    batches = {}
    for path, entry, file, tree in corpus.good():
        expected[path] = ["refused", file["inspect"]] if "inspect" in file else ["accept", tree]
        batches.setdefault(tuple(entry["families"]), []).append(path)
    for path, entry in corpus.hostile():
        expected[path] = ["refused", entry["class"]] if entry["class"] in MACHINE_CLASSES else None
        batches.setdefault(tuple(entry["families"]), []).append(path)
    for families, paths in sorted(batches.items()):
        command = [build + "/unpickle", "--inspect", "--print", "tree", "--opcodes", ",".join(families)]
        verdicts, _ = run(command, paths)
        for path in paths:
            got = verdicts[path][:2]
            if expected[path]:
                tally.check(got == expected[path], "%s: expected %s, got %s" % (path, expected[path], verdicts[path]))
            else:
                tally.check(got[0] != "io", "%s: %s" % (path, verdicts[path]))
            if got[0] == "refused":
                sound = re.fullmatch(r"R[12349]\d\d", verdicts[path][2]) and verdicts[path][3].isdigit() and verdicts[path][4]
                tally.check(sound, "%s: no sound refusal: %s" % (path, verdicts[path]))


def same(build, corpus, tally):
    paths = corpus.all_paths()
    for form in ("tree", "json", "repr", "none"):
        compiled, text = run([build + "/unpickle", "-p", "values", "--print", form], paths)
        tried, other = run([build + "/policyc", "try", "policies/values.policy", "--print", form], paths)
        for path in paths:
            tally.check(compiled[path] == tried[path], "%s: %s: compiled %s, tried %s" % (path, form, compiled[path], tried[path]))
        tally.check(text == other, "the outputs differ in some byte")


def main():
    build, parts = sys.argv[1], sys.argv[2:]
    corpus = Corpus(build + "/corpus")
    tally = Tally()
    for part in parts:
        {"inspect": inspect, "same": same}[part](build, corpus, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
