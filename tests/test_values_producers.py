#!/usr/bin/python3
"""Pickles from every Python found on this machine under policies/values.policy.

The Python that runs this, and where they are there those of pyenv, and pypy: each pickles the values of
producers/values.py with its C and Python picklers at every protocol.

usage: test_values_producers.py BUILD       (from the top folder)
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

from run_corpus import run
from tally import Tally

def pythons():
    found = [sys.executable]
    for program in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))):
        found.append(program)
    found += [program for program in map(shutil.which, ("pypy", "pypy3")) if program]
    return found


def produce(python, script, folder):
    """[(outcome, file)], or the reason why this Python cannot."""
    done = subprocess.run([python, script, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={"PATH": os.environ.get("PATH", ""), "PYTHONDONTWRITEBYTECODE": "1"}, check=False)
    if done.returncode:
        return None, done.stderr.decode(errors="replace").strip().split("\n")[-1]
    return [line.split(" ", 1) for line in done.stdout.decode().splitlines()], ""


def decide_all(build, policy, script, tally, found=None):
    """Each Python found runs the script, whose pickles are decided under the policy; returns the exit status."""
    with tempfile.TemporaryDirectory() as top:
        wanted = {}
        for number, python in enumerate(found or pythons()):
            folder = os.path.join(top, str(number))
            os.mkdir(folder)
            lines, reason = produce(python, script, folder)
            tally.check(lines, "%s: %s" % (python, reason))
            for expected, path in lines or []:
                wanted[path] = (expected, python)
        verdicts, _ = run([build + "/policyc", "try", policy, "--print", "none"], list(wanted))
        for path, (expected, python) in wanted.items():
            got = verdicts[path]
            tally.check((got[1] if got[0] == "refused" else got[0]) == expected,
                        "%s: %s: expected %s, got %s" % (python, os.path.basename(path), expected, got))
    return tally.finish()


def main():
    return decide_all(sys.argv[1], "policies/values.policy", "tests/producers/values.py", Tally())


if __name__ == "__main__":
    sys.exit(main())
