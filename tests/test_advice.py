#!/usr/bin/python3
"""What refusals advise, over the corpus: carried out, the policy compiles, and the refusal is gone or is another one.

usage: test_advice.py BUILD     (from the top folder; the corpus stands unpacked in BUILD/corpus)

A row is pasted, a fragment included, a setting changed; of a row that is to change any value is let in (advice.py).  Advice is about
the user's own files and never about one that ships.
Last line: N passed, N failed.
"""
import os
import re
import sys
import tempfile

from advice import CannotError, Files, carry_out
from assemble import assemble, call, new, raw
from policyc import Policyc, check, tally, write
from run_corpus import Corpus

STD = ("plain", "numbers", "datetime", "ids", "collections", "text", "regex", "iterators", "misc", "exceptions")

OWN = """module samples {
    class Plain new() state { a: int };
    class Slots new();
    namedtuple Point(x: int, y: int);
    enum Colour { RED = 1 };
    exception AppError(text: str);
    flag Perm { R = 4, W = 2 };
}
module app {
    exception Failed(text: str);
    enum Mode { A = 1 };
    namedtuple Pair(a: int, b: int);
    dataclass Data { a: int };
    class Few new() budget calls 1;
}
"""
INCLUDES = "".join('include "std/%s.policy";\n' % name for name in STD) + 'include "numpy/arrays.policy";\ninclude "numpy/dtypes.policy";\n'
USES = ", ".join(["std." + name for name in STD] + ["numpy.arrays", "numpy.dtypes"])
TIGHT = "opcodes core except LONG4;\nprotocol 1..4;\nbudget depth 40, long 20, digits 40, calls 200;\n"

POLICIES = {
    "own": 'policy own 1;\ninclude "std/dangerous.policy";\nprotocol 0..4;\nopcodes core, python2;\n' + OWN + "root any;\n",
    "tight": "policy tight 1;\n" + INCLUDES + TIGHT + OWN + "use " + USES + ";\nroot any;\n",
    "channels": "policy channels 1;\n" + INCLUDES + TIGHT + OWN +
                "channel main {\n    budget nodes 100;\n    opcodes core except LONG4;\n    protocol 2..4;\n    use channels, " + USES + ";\n    root any;\n}\n"
                "channel other { root int; }\n",
}

# Beside the corpus: steps on what templates stand for, and rows with limits.
EXTRA = {
    "exception with attributes": call("app::Failed", "x", state=[{"note": 1}]),
    "exception with a state that is no dict": call("app::Failed", "x", state=[(None, {"note": 1})]),
    "enum with a state": call("app::Mode", 1, state=[{"x": 1}]),
    "named tuple with a state": new("app::Pair", 1, 2, state=[{"x": 1}]),
    "dataclass with items": new("app::Data", state=None, items=[1]),
    "row with items": new("samples::Slots", items=[1]),
    "calls of a row": [new("app::Few"), new("app::Few")],
    "member that is none": raw(b"capp\nMode.B\n"),
    "uuid with items": new("uuid::UUID", items=[1]),
    "shipped enum": raw(b"cuuid\nSafeUUID.other\n"),
    "shipped exception": call("builtins::ValueError", "x", pairs=[(1, 2)]),
}

ADVICE = re.compile(r"^ *(grant|shipped|change): (.*)$", re.M)
OF_A_GROUP = 2  # streams that are tried for each kind of advice


def streams(build, folder):
    c = Corpus(build + "/corpus")
    paths = [path for path, _ in c.hostile()] + [path for path, _, file, _ in c.good() if file["protocol"] in (0, 2, 4, 5)]
    for number, value in enumerate(EXTRA.values()):
        for protocol in (2, 4):
            path = os.path.join(folder, "extra%d.p%d.pkl" % (number, protocol))
            write(path, assemble(value, protocol))
            paths.append(path)
    return paths


def kind_of(refusal, kind, advice):
    """Advice of one kind is the same but for names and numbers."""
    return (re.search(r"\[(R\d+)\]", refusal).group(1), kind,
            re.sub(r"\d+", "0", advice) if kind == "change" else re.sub(r"[\w.]*(?=::|[;:,(])|\b(?:[a-z_]+\.)*[A-Z]\w*", "", advice))


def try_one(policyc, build, name, path, refusal, kind, advice):
    files = Files("main.policy", {"main.policy": POLICIES[name]})
    what = "%s: %s: %s: %s" % (name, os.path.basename(path), kind, advice)
    try:
        carry_out(files, kind, advice, refusal)
    except CannotError as error:
        check(what, False, "cannot be carried out: %s\n%s" % (error, refusal))
        return
    with tempfile.TemporaryDirectory() as folder:
        files.write(folder)
        text = policyc.try_all("main.policy" + (":main" if name == "channels" else ""), [path], cwd=folder)[path]
        check(what, text.startswith(path + ": ") and ("%s: %s" % (kind, advice)) not in text,
              "%s\n%s\n%s" % (refusal, text, "\n".join("%s:\n%s" % item for item in files.texts.items())[:6000]))


def is_of_users(advice, kind):
    """No file that ships is to be changed in its place."""
    return kind != "change" or " is shipped: change a copy, and in main.policy say " in advice or not re.search(r"\b(std|numpy)/", advice)


def judge(policyc, build, name, paths):
    with tempfile.TemporaryDirectory() as folder:
        write(os.path.join(folder, "main.policy"), POLICIES[name])
        texts = policyc.try_all("main.policy" + (":main" if name == "channels" else ""), [os.path.abspath(path) for path in paths], cwd=folder)
    groups = {}
    for path, refusal in texts.items():
        for kind, advice in ADVICE.findall(refusal):
            check("%s: %s" % (name, path), is_of_users(advice, kind), refusal)
            groups.setdefault(kind_of(refusal, kind, advice), []).append((path, refusal, kind, advice))
    check(name + ": kinds", len(groups) > 15, sorted(groups))
    for group in groups.values():
        for case in group[:OF_A_GROUP]:
            try_one(policyc, build, name, *case)


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        paths = streams(sys.argv[1], folder)
        for name in POLICIES:
            judge(policyc, sys.argv[1], name, paths)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
