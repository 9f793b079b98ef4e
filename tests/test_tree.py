#!/usr/bin/python3
"""What the tree promises about itself: public headers stand alone, the library shows and needs no more than it says, the layers
point one way, files stay small, and docs/runtime.md says what each file of the library does.

usage: test_tree.py BUILD       (from the top folder, after `make`)
"""
import fnmatch
import glob
import os
import re
import subprocess
import sys

from tally import Tally

STRICT = ("-std=c11 -pedantic -Wall -Wextra -Wshadow -Wconversion -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes "
          "-Werror").split()

# What the C library must not be asked for by the runtime: ends of the program, its own output, its own state.
FORBIDDEN = {"abort", "exit", "_exit", "_Exit", "quick_exit", "printf", "puts", "putchar", "perror", "stdout", "stderr", "longjmp",
             "setjmp", "_setjmp", "__longjmp_chk", "getenv", "setlocale", "rand", "srand", "time", "signal", "system", "popen", "fopen",
             "open", "read", "write", "dlopen", "alloca"}

MOST_LINES = 600


def headers_stand_alone(tally):
    for header in ("runtime/upk.h", "runtime/upk_tables.h", "runtime/find_class.h"):
        for compiler in (os.environ.get("CC", "gcc"), os.environ.get("CLANG", "clang")):
            source = '#include "%s"\n#include "%s"\nextern int nothing;\n' % (header, header)
            done = subprocess.run([compiler, *STRICT, "-I.", "-fsyntax-only", "-xc", "-"], input=source.encode(),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            tally.check(done.returncode == 0, "%s alone by %s:\n%s" % (header, compiler, done.stdout.decode()))


def library_shows_and_needs_little(build, tally):
    lines = subprocess.run(["nm", "-P", build + "/libupk.a"], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    symbols = [line.split()[:2] for line in lines if len(line.split()) >= 2]
    shown = {name for name, kind in symbols if kind in "TDBRVW"}
    needed = {name for name, kind in symbols if kind == "U"}
    writable = {name for name, kind in symbols if kind in "BbDdCc" and not name.startswith(".")}
    tally.check(shown and all(name.startswith("upk_") for name in shown), "shown: %s" % sorted(shown))
    tally.check(needed and not needed & FORBIDDEN, "needed: %s" % sorted(needed & FORBIDDEN))
    # Data with pointers in it is relocated once and never written by the library.
    sections = subprocess.run(["objdump", "-h", build + "/libupk.a"], stdout=subprocess.PIPE, check=True).stdout.decode()
    sizes = {name: int(size, 16) for name, size in re.findall(r"^\s*\d+ (\.data|\.bss)\s+([0-9a-f]+)", sections, re.M)}
    tally.check(not any(sizes.values()), "writable data: %s %s" % (sizes, sorted(writable)))

    declared = set(re.findall(r"\b(upk_[a-z0-9_]+)\(", open("runtime/upk.h", encoding="utf-8").read()))
    tally.check(declared <= shown, "declared in upk.h, not in the library: %s" % sorted(declared - shown))


def layers_point_one_way(tally):
    for path in sorted(glob.glob("runtime/*.[ch]") + glob.glob("runtime/python/*.[ch]") + glob.glob("compiler/*.[ch]")
                       + glob.glob("tools/*.[ch]")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tally.check(text.startswith("/*"), "%s: no comment at its head" % path)
        tally.check(text.count("\n") < MOST_LINES, "%s: %d lines" % (path, text.count("\n")))
        included = {os.path.normpath(os.path.join(os.path.dirname(path), name)) for name in re.findall(r'#include "([^"]+)"', text)}
        folders = {os.path.dirname(name) for name in included if "/" in name}
        public = {"runtime/upk_tables.h", "runtime/compat_names.h" if path.startswith("compiler/") else "runtime/upk.h"}
        if path == "compiler/names.c":
            public.add("runtime/upk.h")  # the list of dangerous names
        private = {name for name in included if name.startswith("runtime/")} - public
        if path.startswith("runtime/python/"):
            tally.check(folders <= {"runtime", "runtime/python"}, "%s includes %s" % (path, sorted(included)))
        elif path.startswith("runtime/"):
            tally.check("Python.h" not in text, "%s includes Python.h" % path)
            tally.check(folders <= {"runtime"}, "%s includes %s" % (path, sorted(included)))
        else:
            above = {"tools"} if path.startswith("compiler/") else set()
            tally.check(not private and not folders & above, "%s includes %s" % (path, sorted(included)))


def documents_name_files(tally):
    with open("docs/runtime.md", encoding="utf-8") as file:
        cells = re.findall(r"^\| (`[^|]*\.[ch]`) \|", file.read(), re.M)
    named = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    files = [os.path.basename(path) for path in sorted(glob.glob("runtime/*.c"))]
    for file in files:
        tally.check(any(fnmatch.fnmatchcase(file, name) for name in named), "docs/runtime.md does not name %s" % file)
    for name in named:
        tally.check(glob.glob("runtime/" + name), "docs/runtime.md names %s, which is not there" % name)


def main():
    tally = Tally()
    headers_stand_alone(tally)
    library_shows_and_needs_little(sys.argv[1], tally)
    layers_point_one_way(tally)
    documents_name_files(tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
