#!/usr/bin/python3
"""Pickles of numpy with some bytes changed: what tests/policy/objects.policy accepts of them must not crash numpy.

The changes are the same in each run; they aim at what dtypes and arrays are made of: small numbers, codes, byte orders, what the
memo names.  A hostile pickle that is known to crash numpy 1.24 shows that a crash would be seen.

usage: test_numpy_mutants.py BUILD       (from the top folder)
"""
import os
import random
import subprocess
import sys
import tempfile

from run_corpus import run
from tally import Tally
from test_numpy_producers import has_numpy
from test_values_producers import produce, pythons

MUTANTS, LONGEST = 6000, 3000
NUMBERS = (0, 1, 2, 3, 4, 8, 9, 12, 16, 24, 27, 63, 128, 144, 152, 255)
LONG_NUMBERS = (-1, 0, -112, -104, 1 << 20, -2, 16)
CODES = [code.encode() for code in "b1 i1 i2 i4 i8 f2 f4 f8 c8 M8 m8 O8 S0 S5 U1 U3 V1 V4 V7 V8".split()]
ORDERS = b"<>|"


def places(data, patterns):
    return [(at, len(p)) for p in patterns for at in range(len(data)) if data[at:at + len(p)] == p]


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.random()
        if kind < .45:
            found, new = [(at + 1, 1) for at, _ in places(data, [b"K"])], bytes([rng.choice(NUMBERS)])
        elif kind < .6:
            found, new = places(data, CODES), rng.choice(CODES)
        elif kind < .7:
            found, new = places(data, [b"<", b">", b"|"]), bytes([rng.choice(ORDERS)])
        elif kind < .8:
            found, new = [(at + 1, 4) for at, _ in places(data, [b"J"])], rng.choice(LONG_NUMBERS).to_bytes(4, "little", signed=True)
        elif kind < .9:
            found, new = [(at + 1, 1) for at, _ in places(data, [b"h"])], bytes([rng.randrange(20)])
        else:
            found, new = [(rng.randrange(len(data)), 1)], bytes([rng.randrange(256)])
        if found:
            at, length = rng.choice(found)
            data[at:at + length] = new
    return bytes(data)


def small_pickles(python, script, folder):
    """Those of protocols 2 and 5, by the pickler in C."""
    for _, path in produce(python, script, folder)[0] or []:
        if path.endswith((".c.p2.pkl", ".c.p5.pkl")) and os.path.getsize(path) <= LONGEST:
            with open(path, "rb") as file:
                yield file.read()


def crashes(python, paths):
    """The files whose use ends the process."""
    found = []
    while paths:
        done = subprocess.run([python, "tests/producers/numpy_use.py"], input="\n".join(paths).encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=300, check=False)
        if done.returncode == 0:
            break
        seen = done.stdout.decode().splitlines()
        if not seen:
            return paths  # it did not even start
        found.append(seen[-1])
        paths = paths[paths.index(seen[-1]) + 1:]
    return found


def check_mutants(build, python, tally, top):
    rng = random.Random(1)
    honest = []
    for script in ("values", "objects"):
        folder = os.path.join(top, script)
        os.mkdir(folder)
        honest += small_pickles(python, "tests/producers/numpy_%s.py" % script, folder)
    paths = []
    for number in range(MUTANTS):
        paths.append(os.path.join(top, "%d.pkl" % number))
        with open(paths[-1], "wb") as file:
            file.write(mutate(rng.choice(honest), rng))
    verdicts, _ = run([build + "/policyc", "try", "tests/policy/objects.policy", "--print", "none"], paths)
    accepted = [path for path in paths if verdicts[path][0] == "accept"]
    tally.check(MUTANTS // 50 < len(accepted) < MUTANTS, "%d of %d are accepted" % (len(accepted), MUTANTS))
    bad = crashes(python, accepted)
    for path in accepted:
        if path in bad:
            with open(path, "rb") as file:
                tally.check(False, "%s crashes on %r" % (python, file.read()))
        else:
            tally.check(True, "")


def main():
    build, tally = sys.argv[1], Tally()
    python = next((python for python in pythons() if has_numpy(python)), None)
    tally.check(python, "no Python has numpy")
    if python:
        tally.check(crashes(python, [build + "/corpus/hostile/recipe_np_flags.pkl"]), "a crash is not seen")
        with tempfile.TemporaryDirectory() as top:
            check_mutants(build, python, tally, top)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
