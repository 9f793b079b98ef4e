"""The extension modules that make builds for the tests (GUARDS of the Makefile), and where they stand.

With GUARDS=python-asan in the environment those with sanitizers, whose runtime must be preloaded then (run_check.py does it).
"""
import fcntl
import glob
import importlib
import os
import subprocess
import sys

from scratch import environment

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tools"))
from python_config import tag  # noqa: E402

OLDEST = (3, 8)


def sanitized():
    return os.environ.get("GUARDS") == "python-asan"


def folder(build):
    """Of this interpreter's modules."""
    return os.path.abspath(os.path.join(build, os.environ.get("GUARDS", "python"), tag()))


def guard(build, name):
    """The module NAME, imported from there."""
    if folder(build) not in sys.path:
        sys.path.insert(0, folder(build))
    return importlib.import_module(name)


def interpreters():
    """The other CPythons of this machine that modules are made for: those of pyenv, {(3, 8, 18): path}."""
    found = {}
    for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")):
        version = tuple(int(part) for part in path.split(os.sep)[-3].split(".") if part.isdigit())
        if version >= OLDEST:
            found[version] = path
    return dict(sorted(found.items()))


def make_guards(build, python, names):
    """Builds these modules for another interpreter, into the same build folder: (did it go well, what make printed).  Tests that
    want the same take turns."""
    with open(os.path.join(build, "python", "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, policy in names.items():
            done = subprocess.run(["make", "BUILD=" + build, "PYTHON=" + python, "POLICY=" + policy, "NAME=" + name, "python"],
                                  env=environment(NEED_INSTALL="no"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                return False, done.stdout.decode("utf-8", "replace")
    return True, ""


def run_by(check, build, python, what, script, names):
    """Checks that a script of tests passes, with --alone, by another interpreter and its modules NAME=POLICY."""
    good, printed = make_guards(build, python, names)
    check(good, "%s: no modules\n%s" % (what, printed[-2000:]))
    if good:
        done = subprocess.run([python, "-B", os.path.abspath(script), build, "--alone"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment())
        printed = done.stdout.decode("utf-8", "replace")
        check(done.returncode == 0, "%s: %d\n%s" % (what, done.returncode, printed[-4000:]))
        print("%s: %s" % (what, printed.strip().split("\n")[-1]))


def run_by_others(check, build, script, names):
    """The same by each CPython of this machine, unless --alone is given or the modules are those with sanitizers."""
    if "--alone" in sys.argv or sanitized():
        return
    for version, python in interpreters().items():
        run_by(check, build, python, "CPython %d.%d.%d" % version, script, names)
