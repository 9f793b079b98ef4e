"""How the test scripts run policyc, and what they count.

ELSEWHERE are the codes that no policy text gives, and which tests/test_policyc.py tests: command lines, limits, outputs, Python modules, gperf.
"""
import os
import re
import subprocess

from tally import Tally

ERROR = re.compile(r"^(?:policyc|(.+?):(\d+):(\d+)): error: .* \[(P\d{4})\]$", re.M)
ELSEWHERE = {"P0004", "P0005", "P0006", "P0007", "P0008", "P0082", "P0090"}

tally = Tally()
seen_codes = set()


def check(name, good, detail=""):
    tally.check(good, "%s\n%s" % (name, detail))


def link(build, out, *arguments):
    """Compiles a program over the compiler as a library: (did it go well, messages)."""
    command = [*os.environ.get("CC", "gcc").split(), "-std=c11", *arguments, build + "/release/libpolicyc.a",
               build + "/release/libupk.a", "-lmd", "-ljansson", *os.environ.get("LDFLAGS", "").split(), "-o", out]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout.decode()


class Policyc:
    def __init__(self, build):
        self.program = os.path.abspath(os.path.join(build, "policyc"))

    def run_bytes(self, *arguments, **options):
        """Exit status, standard output and standard error."""
        done = subprocess.run([self.program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, **options)
        return done.returncode, done.stdout, done.stderr

    def run(self, *arguments, **options):
        status, out, err = self.run_bytes(*arguments, **options)
        return status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def try_all(self, policy, paths, **options):
        """What `policyc try` prints of each file, behind `FILE: `; where it prints nothing of one, what it says in errors."""
        _, out, err = self.run("try", policy, *paths, **options)
        if len(paths) == 1:
            out = out and paths[0] + ": " + out  # the only file is not named
        texts = {path: "" for path in paths}
        for line in out.splitlines(True):
            if not line.startswith(" "):
                path = line.partition(": ")[0]
            texts[path] += line
        return {path: text or err for path, text in texts.items()}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def errors_of(text, folder, main):
    """Errors as the expectation lines write them."""
    lines = []
    for path, line, column, code in ERROR.findall(text):
        seen_codes.add(code)
        where = ""
        if path and os.path.abspath(path) != os.path.abspath(main):
            where = " in " + os.path.relpath(path, folder)
        lines.append("error %s%s%s" % (code, where, " at %s:%s" % (line, column) if path else ""))
    return lines
