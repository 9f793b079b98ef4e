"""How the test scripts run policyc, and what they count.

ELSEWHERE are the codes that no policy text gives, and which tests/test_policyc.py tests: limits, outputs, gperf.
"""
import os
import re
import subprocess

from tally import Tally

ERROR = re.compile(r"^(?:policyc|(.+?):(\d+):(\d+)): error: .* \[(P\d{4})\]$", re.M)
ELSEWHERE = {"P0004", "P0005", "P0006", "P0007", "P0090"}

tally = Tally()
seen_codes = set()


def check(name, good, detail=""):
    tally.check(good, "%s\n%s" % (name, detail))


class Policyc:
    def __init__(self, build):
        self.program = os.path.abspath(os.path.join(build, "policyc"))

    def run(self, *arguments, **options):
        done = subprocess.run([self.program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, **options)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


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
