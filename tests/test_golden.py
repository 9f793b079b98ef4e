#!/usr/bin/python3
"""Generated C against what is kept of it: test_golden.py BUILD [--update]

Every tests/golden/NAME.policy that is a policy must give NAME.c and NAME.h byte for byte, wherever it is written and as often as
it is run; both compile without a warning by gcc and clang, the header also included twice; and only
the symbols of the channels are visible.  `make golden-update` writes the kept files anew.  Last line: N passed, N failed.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tally import Tally

GOLDEN = "tests/golden"
WARNINGS = ("-std=c11 -Wall -Wextra -Wshadow -Wconversion -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes "
            "-Wimplicit-fallthrough -Werror").split()
tally = Tally()


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode or done.stdout:
        print(done.stdout)
    return done.returncode == 0 and not done.stdout


def policies():
    for path in sorted(glob.glob(GOLDEN + "/*.policy")):
        with open(path, encoding="utf-8") as file:
            if re.search(r"^policy ", file.read(), re.M):
                yield os.path.splitext(os.path.basename(path))[0]


def generate(build, name, folder):
    return run(build + "/policyc", "%s/%s.policy" % (GOLDEN, name), "-o", "%s/%s.c" % (folder, name))


def check_installed(compiler):
    found = shutil.which(compiler) is not None
    tally.check(found, "no compiler `%s'" % compiler)
    return found


def compile_all(name, folder):
    source, header = "%s/%s.c" % (folder, name), "%s/%s.h" % (folder, name)
    for compiler in (os.environ.get("CC", "gcc"), os.environ.get("CLANG", "clang")):
        if check_installed(compiler):
            tally.check(run(compiler, *WARNINGS, "-O2", "-Iruntime", "-c", source, "-o", folder + "/out.o"), compiler + " " + source)
    twice = folder + "/twice.c"
    with open(twice, "w", encoding="ascii") as file:
        file.write('#include "%s.h"\n#include "%s.h"\nint used;\n' % (name, name))
    tally.check(run(os.environ.get("CC", "gcc"), *WARNINGS, "-Iruntime", "-I" + folder, "-c", twice, "-o", folder + "/twice.o"), header)
    exported = set(re.findall(r"^[0-9a-f]+ [A-Z] (\w+)$", subprocess.run(
        ["nm", folder + "/out.o"], stdout=subprocess.PIPE, text=True, check=False).stdout, re.M))
    with open(header, encoding="ascii") as file:
        declared = set(re.findall(r"^extern const struct upk_policy (\w+);$", file.read(), re.M))
    tally.check(exported == declared and declared, "symbols of %s: %s" % (name, sorted(exported)))


def main():
    build, update = sys.argv[1], "--update" in sys.argv[2:]
    for name in policies():
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            if not (generate(build, name, one) and generate(build, name, two)):
                tally.check(False, "policyc %s.policy" % name)
                continue
            for end in (".c", ".h"):
                made, kept = read(one + "/" + name + end), GOLDEN + "/" + name + end
                tally.check(made == read(two + "/" + name + end), name + end + " differs from run to run")
                tally.check(made and max(made) < 0x80, name + end + " is not ASCII")
                if update:
                    shutil.copyfile(one + "/" + name + end, kept)
                tally.check(made == read(kept), "%s is not what policyc writes (make golden-update, then look at the difference)" % kept)
            compile_all(name, one)
    return tally.finish()


sys.exit(main())
