#!/usr/bin/python3
"""The `grant:` line of a refusal, pasted into a policy, compiles, and what it was for is refused no more.

usage: test_grant_lines.py BUILD       (from the top folder)

Words of the language (grammar/keywords.gperf) are tried as modules and as names, alone and as parts.
Last line: N passed, N failed.
"""
import os
import re
import subprocess
import sys
import tempfile

from tally import Tally

# Refuses in many ways that WIDE with one line more does not.
TIGHT = "policy t 1;\nopcodes core;\nbudget depth 5, nodes 30, names 2, string 9, memo 3, items 4, marks 2, calls 1;\n"
WIDE = "policy t 1;\n"


def name(module, qualname, proto=b"\x80\x04"):
    return proto + b"c" + module.encode() + b"\n" + qualname.encode() + b"\n."


def streams():
    """(stream, does its refusal have a grant line?)"""
    with open("grammar/keywords.gperf", encoding="ascii") as file:
        words = re.findall(r"^([a-z_]+), ", file.read(), re.M)
    assert len(words) > 50
    for word in words:
        yield name(word, "C"), True
        yield name("m", word), True
    for word in ("ref", "because", "class", "any"):
        for module, qualname in (("m." + word, "f"), (word + ".m", "f"), ("m", "C." + word), ("m", word + ".C")):
            yield name(module, qualname), True
    for proto in (b"", b"\x80\x02", b"\x80\x04"):
        for module, qualname in (("__builtin__", "Foo"), ("copy_reg", "Foo"), ("numpy.core.multiarray", "_reconstruct"),
                                 ("_io", "Foo"), ("Queue", "Full"), ("exceptions", "ValueError"), ("socket", "error"),
                                 ("itertools", "imap"), ("pathlib._local", "Path"), ("_", "_X"), ("T9", "x.y.Z")):
            yield name(module, qualname, proto), True
        yield name("posix", "system", proto), False
        yield name("m", "9x", proto), False
    yield b"S'a'\n.", True
    yield b"P1\n.", True
    yield b"\x80\x05\x97.", True
    yield b"N20.", True
    yield b"\x80\x02\x82\x01.", False
    yield b"\x80\x04" + b"]" * 6 + b"a" * 5 + b".", True
    yield b"\x80\x04]" + b"(K\x01e" * 30 + b".", True
    yield b"\x80\x04]K\x00aK\x01aK\x02aK\x03aK\x04a.", True
    yield b"\x80\x04\x8c\x0a0123456789.", True
    yield b"\x80\x04]\x94\x94\x94\x94.", True
    yield b"\x80\x04N\x940N\x940N\x940N\x94.", True
    yield b"\x80\x04(((ttt.", True
    yield b"\x80\x04]\x94h\x00a.", True


def run(policyc, folder, policy, stream):
    for path, data in (("p.policy", policy.encode()), ("s.pkl", stream)):
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)
    done = subprocess.run([policyc, "try", "p.policy", "s.pkl"], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode()


def main():
    policyc = os.path.abspath(os.path.join(sys.argv[1], "policyc"))
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for stream, has_grant in streams():
            status, refusal = run(policyc, folder, TIGHT, stream)
            grant = re.search(r"^ *grant: (.*)$", refusal, re.M)
            tally.check(status == 1 and bool(grant) == has_grant, "%r: %s" % (stream, refusal))
            if grant:
                first = refusal.split("\n", maxsplit=1)[0]
                status, text = run(policyc, folder, WIDE + grant.group(1) + "\n", stream)
                tally.check(status in (0, 1) and first not in text.split("\n"), "%r: %s\n%s" % (stream, grant.group(1), text))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
