#!/usr/bin/python3
"""Arrays, scalars and dtypes from every Python found on this machine that has numpy, under policies/numpy.policy and
tests/policy/objects.policy; out-of-band buffers with `--buffer`.

usage: test_numpy_producers.py BUILD       (from the top folder)
"""
import subprocess
import sys
import tempfile

from run_corpus import run
from tally import Tally
from test_values_producers import decide_all, produce, pythons


def has_numpy(python):
    return subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def decide_buffers(build, python, tally):
    """Whole buffers are accepted, one that is a byte short is not, nor is a pickle without them."""
    command = [build + "/policyc", "try", "policies/numpy.policy", "--print", "none"]
    with tempfile.TemporaryDirectory() as folder:
        lines, reason = produce(python, "tests/producers/numpy_buffers.py", folder)
        tally.check(lines, "%s: %s" % (python, reason))
        for path, buffers in ((path, names.split()) for path, names in lines or []):
            def outcome():
                options = [word for name in buffers for word in ("--buffer", name)]
                return run(command + options, [path])[0][path]
            tally.check(outcome()[0] == "accept", "%s: %s: %s" % (python, path, outcome()))
            with open(buffers[0], "rb+") as file:
                file.truncate(len(file.read()) - 1)
            tally.check(outcome()[:2] == ["refused", "native"], "%s: %s: %s" % (python, path, outcome()))
            buffers.clear()
            tally.check(outcome()[:2] == ["refused", "argument"], "%s: %s: %s" % (python, path, outcome()))


def main():
    build, tally = sys.argv[1], Tally()
    found = [python for python in pythons() if has_numpy(python)]
    tally.check(found, "no Python has numpy")
    if found:
        for python in found:
            decide_buffers(build, python, tally)
        decide_all(build, "tests/policy/objects.policy", "tests/producers/numpy_objects.py", tally, found)
        return decide_all(build, "policies/numpy.policy", "tests/producers/numpy_values.py", tally, found)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
