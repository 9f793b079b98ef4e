#!/usr/bin/python3
"""What a refusal says would have to change: with it the policy compiles, and what it was for is refused no more.

A `grant:` or `shipped:` line is pasted, a `change:` line carried out.

usage: test_grant_lines.py BUILD       (from the top folder)

Words of the language (grammar/keywords.gperf) are tried as modules and as names, alone and as parts.
Last line: N passed, N failed.
"""
import os
import re
import sys
import tempfile

from policyc import Policyc, tally, write

# Refuses in many ways.
TIGHT = """policy t 1;
opcodes core except LONG4;
protocol 0..4;
budget depth 5, nodes 30, names 2, string 9, memo 3, items 4, marks 2, calls 1;
root any;
module m {
    enum Colour { RED = 1 };
    class Few new() budget calls 1;
    class Bag new();
}
"""

CHANGES = [  # what the line says, and what that is in the text
    (r"raise `budget (\w+)` from (\d+) to at least (\d+)$", r"\b{0} {1}\b", "{0} {2}"),
    (r"raise `budget calls` from (\d+) to at least (\d+) in the row at p\.policy:8$", r"(Few .*) {0};", r"\1 {1};"),
    (r"allow LONG4 in `opcodes`$", r" except LONG4", ""),
    (r"allow (\w+) in `opcodes`$", r"opcodes core", "opcodes core, {0}"),
    (r"widen `protocol (\d\.\.\d)` to `(\d\.\.\d)`$", r"protocol {0}", "protocol {1}"),
    (r"add `cyclic` behind the type of `root`$", r"root any", "root any cyclic"),
    (r"add `(\w+)` to the members of `m::Colour` at p\.policy:7, if it is one$", r"RED = 1", "RED = 1, {0} = 2"),
    (r"add `(state|items|adds)` to the row at p\.policy:9, if this object is meant$", r"Bag new\(\)",
     'Bag new() {0} any because "test"'),
    (r"add `pairs` to the row at p\.policy:9, if this object is meant$", r"Bag new\(\)",
     'Bag new() pairs any: any because "test"'),
    (r"`protocol (3\.\.4)` for a row of this name, by which older streams mean `\w+::\w+`$", r"protocol 0\.\.4", "protocol {0}"),
]
PYTHON2 = {"__builtin__", "copy_reg", "Queue", "exceptions", "itertools"}  # of the names below


def carry_out(kind, line):
    """The policy after it."""
    if kind != "change":
        return TIGHT + line + "\n"
    for says, found, instead in CHANGES:
        match = re.match(says, line)
        if match:
            return re.sub(found.format(*match.groups()), instead.format(*match.groups()), TIGHT, count=1)
    return TIGHT


def name(module, qualname, proto=b"\x80\x04"):
    return proto + b"c" + module.encode() + b"\n" + qualname.encode() + b"\n."


def streams():
    """(stream, the line that its refusal has: "grant" (or `shipped:`), "change" or None)"""
    with open("grammar/keywords.gperf", encoding="ascii") as file:
        words = re.findall(r"^([a-z_]+), ", file.read(), re.M)
    assert len(words) > 50
    for word in words:
        yield name(word, "C"), "grant"
        yield name("m", word), "grant"
    for word in ("ref", "because", "class", "any"):
        for module, qualname in (("m." + word, "f"), (word + ".m", "f"), ("m", "C." + word), ("m", word + ".C")):
            yield name(module, qualname), "grant"
    for proto in (b"", b"\x80\x02", b"\x80\x04"):
        for module, qualname in (("__builtin__", "Foo"), ("copy_reg", "Foo"), ("numpy.core.multiarray", "_reconstruct"),
                                 ("_io", "Foo"), ("Queue", "Full"), ("exceptions", "ValueError"), ("socket", "error"),
                                 ("itertools", "imap"), ("pathlib._local", "Path"), ("_", "_X"), ("T9", "x.y.Z")):
            yield name(module, qualname, proto), "change" if proto == b"\x80\x04" and module in PYTHON2 else "grant"
        yield name("posix", "system", proto), None
        yield name("m", "9x", proto), None
    yield b"S'a'\n.", "change"
    yield b"P1\n.", "change"
    yield b"\x80\x05\x97.", "change"
    yield b"N20.", "change"
    yield b"\x80\x02\x82\x01.", None
    yield b"\x80\x04" + b"]" * 6 + b"a" * 5 + b".", "change"
    yield b"\x80\x04]" + b"(K\x01e" * 30 + b".", "change"
    yield b"\x80\x04]K\x00aK\x01aK\x02aK\x03aK\x04a.", "change"
    yield b"\x80\x04\x8c\x0a0123456789.", "change"
    yield b"\x80\x04]\x94\x94\x94\x94.", "change"
    yield b"\x80\x04N\x940N\x940N\x940N\x94.", "change"
    yield b"\x80\x04(((ttt.", "change"
    yield b"\x80\x04]\x94h\x00a.", "change"
    yield b"\x80\x02\x8b\x01\0\0\0\x01.", "change"
    yield name("m", "Colour.BLUE"), "change"
    yield b"\x80\x04](cm\nFew\n)\x81cm\nFew\n)\x81e.", "change"
    for step in (b"}b", b"Na", b"(Ne", b"NNs", b"(NNu", b"(N\x90"):
        yield b"\x80\x04cm\nBag\n)\x81" + step + b".", "change"


def decide(policyc, folder, policy, paths):
    """What is said of each file under the policy's text."""
    write(os.path.join(folder, "p.policy"), policy)
    return policyc.try_all("p.policy", paths, cwd=folder)


def main():
    policyc, under = Policyc(sys.argv[1]), {}
    with tempfile.TemporaryDirectory() as folder:
        cases = {"%d.pkl" % number: case for number, case in enumerate(streams())}
        for path, (stream, _) in cases.items():
            write(os.path.join(folder, path), stream)
        refusals = decide(policyc, folder, TIGHT, list(cases))
        for path, (stream, wanted) in cases.items():
            line = re.search(r"^ *(grant|shipped|change): (.*)$", refusals[path], re.M)
            tally.check(": refused: " in refusals[path] and (line.group(1).replace("shipped", "grant") if line else None) == wanted,
                        "%r: %s" % (stream, refusals[path]))
            if line:
                under.setdefault(carry_out(*line.groups()), []).append(path)
        for policy, paths in under.items():
            for path, text in decide(policyc, folder, policy, paths).items():
                advice = [line for line in refusals[path].split("\n") if re.match(" *(grant|shipped|change): ", line)]
                tally.check(text.startswith(path + ": ") and not set(advice) & set(text.split("\n")),
                            "%r: %s\n%s" % (cases[path][0], refusals[path], text))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
