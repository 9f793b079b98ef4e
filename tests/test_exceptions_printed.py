#!/usr/bin/python3
"""What policies/exceptions.policy accepts is harmless to print: every Python found on this machine loads each accepted case of
test_exceptions_grants.py, raises it and prints it with traceback.

usage: test_exceptions_printed.py BUILD       (from the top folder)

None crashes it, none makes a text that is longer than what was sent by more than LONGEST, and none imports a module that the stream
names.  That both would be seen is shown with exceptions that the policy refuses, or that a host has to change.
"""
import os
import subprocess
import sys
import tempfile

from assemble import assemble, call
from tally import Tally
from test_exceptions_grants import ERRORS, FLOW, syntax_details
from test_values_producers import pythons

LONGEST = 1 << 19  # carets up to column 100,000, below a line indented as far, and a traceback
LEAST = 100  # pickles that every Python loads: 2.7 knows the names of few
PROTOCOLS = (2, 4)
VICTIM = "victim_of_traceback"


def write(folder, name, value, protocol):
    path = os.path.join(folder, "%s.p%d.pkl" % (name, protocol))
    with open(path, "wb") as file:
        file.write(assemble(value, protocol))
    return path


def printed(python, folder, paths, *options):
    """{path: length, or None where it was not loaded}, all of them unless the process ended early."""
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "tests/producers/exceptions_print.py", *options], input="\n".join(paths).encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=300, check=False)
    lines = [line.split(" ", 1) for line in done.stdout.decode().splitlines()]
    return {path: int(said) if said.isdigit() else None for path, said in lines}, done.stderr.decode(errors="replace")


def version(python):
    return eval(subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], stdout=subprocess.PIPE, check=True).stdout)


def check_harm_is_seen(tally, python, folder):
    """A column far to the right writes as many carets; a module that is named is imported by the print."""
    far = write(folder, "far", call("builtins::SyntaxError", "m", syntax_details(1, 1, "x" * 10, 1, 10**7)), 4)
    named = write(folder, "named", call("builtins::ImportError", "m", state=[{"name": VICTIM, "name_from": "x"}]), 4)
    if (3, 10) <= version(python) < (3, 13):  # later ones stop at the end of the line
        tally.check((printed(python, folder, [far])[0].get(far) or LONGEST + 1) > LONGEST, python + ": a long text is not seen")
    if version(python) >= (3, 12):
        printed(python, folder, [named], "keep")
        tally.check(os.path.exists(folder + "/imported"), python + ": an import is not seen")
        if os.path.exists(folder + "/imported"):
            os.unlink(folder + "/imported")
    printed(python, folder, [named])
    tally.check(not os.path.exists(folder + "/imported"), python + ": the print imports what the stream names")


def main():
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        with open("%s/%s.py" % (folder, VICTIM), "w", encoding="ascii") as file:
            file.write("open(%r, 'w').close()\n" % (folder + "/imported"))
        accepted = [value for rows in (ERRORS, FLOW) for values, _ in rows.values() for value in values]
        paths = [write(folder, str(number), value, protocol) for number, value in enumerate(accepted) for protocol in PROTOCOLS]
        for python in pythons():
            check_harm_is_seen(tally, python, folder)
            lengths, messages = printed(python, folder, paths)
            tally.check(list(lengths) == paths, "%s: ends at %s: %s" % (python, [*lengths, "the first"][-1], messages[-2000:]))
            loaded = [path for path in lengths if lengths[path] is not None]
            tally.check(len(loaded) > LEAST, "%s: only %d of %d are loaded" % (python, len(loaded), len(paths)))
            for path in loaded:
                tally.check(lengths[path] <= LONGEST + os.path.getsize(path), "%s: %s: %d characters" % (python, path, lengths[path]))
            tally.check(not os.path.exists(folder + "/imported"), python + ": a print imports what the stream names")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
